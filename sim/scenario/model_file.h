/* SPDX-License-Identifier: Apache-2.0 */
/* model_file.h - turns a model that another project describes in JSON into an entry of `models`.
 *
 * The YAML reader reads the JSON, so that mistakes are shown at their position in that file. `model:
 * path/config.json` anywhere in a scenario becomes the name of an entry that is added to the scenario, so the resolved
 * scenario holds the entry.
 */
#pragma once

#include "sim/config/yaml_doc.h"
#include "sim/registry.h"

/* An entry that is being made. */
typedef struct _FabModelFile FabModelFile;

struct _FabModelFileFormat {
  const char *key;  /* that every such file has: of one without it nothing is shown */
  const char *name; /* for messages: "config.json of Hugging Face transformers" */
  /* Sets the keys of the shape. Wrong or missing values are diagnostics. */
  void (*read) (const FabYamlNode *root, FabModelFile *file);
};

/* Sets a key of the shape, "experts.count" for a nested one. `from` is where the value was written. Setting a key
 * again replaces its value. */
void fab_model_file_set (FabModelFile *self, const char *key, const char *text, const FabYamlNode *from);
void fab_model_file_set_count (FabModelFile *self, const char *key, gint64 value, const FabYamlNode *from);
/* Notes something about the model that the entry cannot express, for readers of the entry. */
void fab_model_file_note (FabModelFile *self, const char *format, ...) G_GNUC_PRINTF (2, 3);
void fab_model_file_fail (FabModelFile *self, const FabYamlNode *at, const char *format, ...)
    G_GNUC_PRINTF (3, 4);
const char *fab_model_file_nearest (const FabModelFile *self, const char *word,
                                    const char *const *candidates);

/* Replaces every `model: *.json` of the document. */
void fab_model_files_read (FabYamlDoc *doc, const FabRegistry *registry, FabDiagnostics *diagnostics);

/* Returns a section `models` with the entry, as YAML with comments, checked like a scenario's. Messages call the file
 * `file`; `name` NULL: derived from the path. NULL and *error with all messages. (transfer full) */
char *fab_model_file_fragment (const char *file, const char *name, const char *text, gsize size,
                               const FabRegistry *registry, GError **error);
