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
