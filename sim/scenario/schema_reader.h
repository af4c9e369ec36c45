/* SPDX-License-Identifier: Apache-2.0 */
/* schema_reader.h - what the parts of the schema reader share: private to schema_*.c.
 *
 * The arena is a list of heap blocks that die with the reader. Marks are keyed by the address
 * of the field; a nested table's first field shares its address and overwrites it.
 */
#pragma once

#include "sim/scenario/schema.h"

struct _FabSchemaReader {
  const FabRegistry *registry;
  FabDiagnostics *diagnostics;
  GPtrArray *arena;
  GHashTable *marks; /* address of a field -> FabMark */
};

/* Zeroed memory that lives as long as the reader; NULL for 0 bytes. */
gpointer fab_schema_reader_alloc (FabSchemaReader *self, gsize size);
const char *fab_schema_reader_text (FabSchemaReader *self, const char *text);
void fab_schema_reader_note (FabSchemaReader *self, gconstpointer field, const FabMark *mark);

static inline gpointer
fab_schema_field (gconstpointer record, const FabParam *row)
{
  return (gpointer) ((const char *) record + row->offset);
}

/* Reads one scalar row: numbers, BOOL, TEXT, CHOICE. FALSE and *message: what is wrong with `text`. */
gboolean fab_schema_parse_scalar (FabSchemaReader *self, const FabParam *row, const char *text,
                                  gpointer field, char **message);
/* The same of a typed value. */
gboolean fab_schema_take_value (FabSchemaReader *self, const FabParam *row, const FabValue *value,
                                gpointer field, char **message);

/* What a field of a filled struct holds; NULL: an absent text or model. (transfer full) */
FabValue *fab_schema_field_value (const FabParam *row, gconstpointer field);

/* Reads the value of one row into the struct `out`, as fab_schema_read does. */
void fab_schema_read_row (FabSchemaReader *self, const FabYamlNode *node, const FabParam *row, gpointer out);

/* The row of a key; NULL when the table has none. */
const FabParam *fab_schema_find_row (const FabParam *table, const char *key);
/* Says so at `mark`, with the nearest key; `extra` is allowed beside those of the table, or NULL. */
void fab_schema_report_unknown (FabSchemaReader *self, const FabParam *table, const char *extra,
                                const char *key, const FabMark *mark);

/* The model that this node chooses; NULL: a diagnostic was added. */
const FabModelInfo *fab_schema_named_model (FabSchemaReader *self, const FabYamlNode *node,
                                            const FabParam *row);
