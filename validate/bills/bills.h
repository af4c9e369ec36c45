/* SPDX-License-Identifier: Apache-2.0 */
/* bills.h - published counts of switches, cables and transceivers of designs, beside those of the graph that is built
 * of each design.
 *
 * All *_to_* return a new text that ends its last line: docs/reference/validation-bills.md is kept equal to one.
 */
#pragma once

#include "sim/registry.h"
#include "sim/scenario/catalog.h"

/* A number of one row of one table. */
typedef struct {
  const FabDesignSpec *design;
  const FabDesignCounts *row;
  const char *what; /* "leaves", "leaf_cables": the key of the row */
  gint64 published, ours;
} FabBillCell;

/* `designs`: FabDesignSpec. One fabric is built for each row. NULL and *error: a design cannot be built. (transfer
 * full): FabBillCell, in the order of designs, rows and keys. */
GArray *fab_bills_compare (const GPtrArray *designs, const FabCatalog *catalog, const FabRegistry *registry,
                           GError **error);

/* A line for each checked number that differs, NULL-ended. (transfer full) */
char **fab_bills_exceeded (const GArray *cells);

char *fab_bills_to_text (const GArray *cells);
char *fab_bills_to_markdown (const GArray *cells);
char *fab_bills_to_csv (const GArray *cells);
char *fab_bills_to_json (const GArray *cells);
