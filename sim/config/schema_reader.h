/* SPDX-License-Identifier: Apache-2.0 */
/* schema_reader.h - what the parts of the schema reader share: private to schema_*.c.
 *
 * The arena is a list of heap blocks that die with the reader. Marks are keyed by the address
 * of the field; a nested table's first field shares its address and overwrites it.
 */
#pragma once

#include "sim/config/schema.h"

struct _FabSchemaReader {
  const FabRegistry *registry;
  FabDiagnostics *diagnostics;
  const FabParam *top; /* the table of the file; NULL: nothing was read yet */
  GPtrArray *arena;
  GHashTable *marks;    /* address of a field -> FabMark */
  FabSchemaSaidFn said; /* NULL: names are suggested by their letters alone */
};

/* Zeroed memory that lives as long as the reader; NULL for 0 bytes. */
gpointer fab_schema_reader_alloc (FabSchemaReader *self, gsize size);

static inline gpointer
fab_schema_field (gconstpointer record, const FabParam *row)
{
  return (gpointer) ((const char *) record + row->offset);
}

/* Reads the value of one row into the struct `out`, as fab_schema_read does. */
void fab_schema_read_row (FabSchemaReader *self, const FabYamlNode *node, const FabParam *row, gpointer out);

/* Makes a path that stands in a file, and is relative to it, absolute; NULL stays NULL. */
void fab_schema_resolve_path (FabSchemaReader *self, const FabYamlNode *node, const char **path);

/* The row of a key; NULL when the table has none. */
const FabParam *fab_schema_find_row (const FabParam *table, const char *key);
/* Says so at `mark`, with the nearest key; `extra` is allowed beside those of the table, or NULL. */
void fab_schema_report_unknown (FabSchemaReader *self, const FabParam *table, const char *extra,
                                const char *key, const FabMark *mark);
/* What to say of a list that has `value` in its place, when a mapping of the table has a key of the same name; NULL:
 * none has. (transfer full) */
char *fab_schema_namesake (const FabSchemaReader *self, const FabParam *table, const char *key,
                           const FabMark *value);

/* The model that this node chooses; NULL: a diagnostic was added. */
const FabModelInfo *fab_schema_named_model (FabSchemaReader *self, const FabYamlNode *node,
                                            const FabParam *row);
