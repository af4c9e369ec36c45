/* SPDX-License-Identifier: Apache-2.0 */
/* huggingface.c - turns a model's config.json into an entry of `models`, with the registry's reader of such files. */
#include <string.h>

#include "models/models.h"
#include "validate/import/format.h"

static gboolean
recognises (const char *text)
{
  return text[strspn (text, " \t\r\n")] == '{'
      && (strstr (text, "\"model_type\"") != NULL || strstr (text, "\"architectures\"") != NULL);
}

static char *
fragment (const FabImportRequest *request, GError **error)
{
  return fab_model_file_fragment (request->file, request->name, request->text, request->size, &fab_models,
                                  error);
}

const FabImportFormat fab_import_huggingface = {
  .name = "huggingface",
  .tool = "config.json of a model",
  .recognises = recognises,
  .fragment = fragment,
};
