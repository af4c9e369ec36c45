/* SPDX-License-Identifier: Apache-2.0 */
/* schema.h - parameter tables (sim/base/param.h) at work: YAML to structs and back.
 *
 * One reader fills one struct tree. Everything it allocates (texts, lists, model
 * parameters) lives in the reader's arena and dies with it. Every mistake becomes a
 * diagnostic at its place and reading goes on, so that all are reported at once:
 * unknown key (with the nearest one), wrong type, missing unit, value out of range,
 * missing required key, unknown model or choice, duplicate.
 *
 * MODEL rows read either a mapping {kind: name, ...parameters} or the bare name; a mapping without
 * `kind` means the fallback's model. A null value reads as an absent key. A model's own check
 * (FabModelInfo.check) runs when its parameters read well.
 */
#pragma once

#include "sim/config/yaml_doc.h"
#include "sim/registry.h"

typedef struct _FabSchemaReader FabSchemaReader;

FabSchemaReader *fab_schema_reader_new (const FabRegistry *registry, FabDiagnostics *diagnostics);
void fab_schema_reader_free (FabSchemaReader *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (FabSchemaReader, fab_schema_reader_free)

/* Fills `out` (sizeof the table's struct) from `mapping`; NULL reads as an empty mapping.
 * `out` is always fully set, with fallbacks where the input was wrong. FALSE: diagnostics were added. */
gboolean fab_schema_read (FabSchemaReader *self, const FabYamlNode *mapping, const FabParam *table,
                          gpointer out);

/* Where the field at this address was written; NULL when it came from a fallback. */
const FabMark *fab_schema_mark (const FabSchemaReader *self, gconstpointer field);

/* Fallback parameters of a model, allocated in the reader's arena; NULL when it has none. */
gpointer fab_schema_model_defaults (FabSchemaReader *self, const FabModelInfo *info);

/* The names that a reference may have, NULL-ended. (transfer container) */
typedef const char **(*FabSchemaNamesFn) (gpointer user, FabRefers refers);

/* Names whose summaries say a word that is no name, "ib-ndr, roce-400" of connectx-7; NULL: none. (transfer full) */
typedef char *(*FabSchemaSaidFn) (gpointer user, FabRefers refers, const char *word);
/* Has fab_schema_check_references () add them to its messages where no name is near. */
void fab_schema_reader_set_said (FabSchemaReader *self, FabSchemaSaidFn said);

/* Walks the filled struct, models' parameters included, and reports every TEXT with `refers` whose name is
 * unknown, with the nearest one, where it was written. */
void fab_schema_check_references (FabSchemaReader *self, const FabParam *table, gconstpointer in,
                                  FabSchemaNamesFn names, gpointer user);

/* Reports at the field's mark; at no place when the field came from a fallback. */
void fab_schema_report (FabSchemaReader *self, gconstpointer field, const char *format, ...)
    G_GNUC_PRINTF (3, 4);

/* --- one key at a time ---
 *
 * A key is a path from the table: "cluster.nodes", "job.compute.mfu", "job.kind" (the name of a model),
 * "faults.0.rail" (an item by its number), "links.wire.latency" (by its `name`). */

/* The typed value of a key of a filled struct, with the defaults; *value is NULL for an absent text or model, and is
 * the caller's. FALSE and *error, with the nearest key, when there is no such key. */
gboolean fab_schema_get (const FabParam *table, gconstpointer in, const char *key, FabValue **value,
                         GError **error);

/* What was written of the struct: a mapping without the keys that came from fallbacks, nor those of `but`
 * (NULL-ended, or NULL). (transfer full) */
FabValue *fab_schema_written (const FabSchemaReader *self, const FabParam *table, gconstpointer in,
                              const char *const *but);

/* Whether two filled structs hold the same values, wherever they were written. */
gboolean fab_schema_equal (const FabParam *table, gconstpointer a, gconstpointer b);

/* Reads what stands at a key of the tree and nothing else; FALSE: diagnostics were added, as fab_schema_read
 * would. */
gboolean fab_schema_check_key (FabSchemaReader *self, const FabParam *table, const FabYamlNode *root,
                               const char *key);

/* The struct as YAML text that reads back to the same values: the resolved scenario. */
char *fab_schema_write (const FabParam *table, gconstpointer in);
/* The same with comments that say what each 0 stands for, as the help of its row does. */
char *fab_schema_explain (const FabParam *table, gconstpointer in);

/* Appends the paths (char *) of the files and folders that the struct names, models' parameters included. */
void fab_schema_list_files (const FabParam *table, gconstpointer in, GPtrArray *paths);

/* SHA-256 of what a file holds, as hexadecimal text. Of a folder it is that of the names and contents of its files; of
 * NAME.0.et, that of the files of all ranks. NULL when one of them cannot be read. (transfer full) */
char *fab_schema_file_sum (const char *path);

/* JSON Schema (draft 2020-12) of a scenario file with this root table: every key with help,
 * unit pattern, default and range; models as oneOf over `kind` and their bare names;
 * additionalProperties false. `id` becomes $id, `title` its title. */
char *fab_schema_json (const FabParam *table, const FabRegistry *registry, const char *id, const char *title);
