/* SPDX-License-Identifier: Apache-2.0 */
/* model_file.h - a model as somebody else's tool describes it, in JSON, turned into an entry of `models`.
 *
 * JSON is read by the YAML reader, so that what is wrong is shown at its place in that file. `model: path/config.json`
 * anywhere in a scenario becomes the name of an entry that is added to it, and the resolved scenario holds the entry.
 */
#pragma once

#include "sim/registry.h"
#include "sim/scenario/yaml_doc.h"

/* An entry while it is being made. */
typedef struct _FabModelFile FabModelFile;

struct _FabModelFileFormat {
  const char *name; /* for messages: "config.json of Hugging Face transformers" */
  /* Sets the shape's keys. What is wrong or missing is a diagnostic. */
  void (*read) (const FabYamlNode *root, FabModelFile *file);
};

/* `key` is of the shape, "experts.count" for a nested one; `from` is where the value was written. Setting it again
 * replaces it. */
void fab_model_file_set (FabModelFile *self, const char *key, const char *text, const FabYamlNode *from);
void fab_model_file_set_count (FabModelFile *self, const char *key, gint64 value, const FabYamlNode *from);
/* What the entry does not say of the model; for whoever reads the entry. */
void fab_model_file_note (FabModelFile *self, const char *format, ...) G_GNUC_PRINTF (2, 3);
void fab_model_file_fail (FabModelFile *self, const FabYamlNode *at, const char *format, ...)
    G_GNUC_PRINTF (3, 4);
const char *fab_model_file_nearest (const FabModelFile *self, const char *word,
                                    const char *const *candidates);

/* Replaces every `model: *.json` of the document. */
void fab_model_files_read (FabYamlDoc *doc, const FabRegistry *registry, FabDiagnostics *diagnostics);

/* A section `models` with the entry, YAML with comments, checked like a scenario's. `file` is what messages call it;
 * `name` NULL: from the path. NULL and *error with all messages. (transfer full) */
char *fab_model_file_fragment (const char *file, const char *name, const char *text, gsize size,
                               const FabRegistry *registry, GError **error);
