/* SPDX-License-Identifier: Apache-2.0 */
/* products.h - finds the product of the catalogue that meets a need: a GPU, a port, or a cable of some length. */
#pragma once

#include "sim/scenario/catalog.h"

typedef struct {
  FabProductKind kind;
  const char *name;       /* the required accelerator, node or link entry */
  const char *technology; /* from here on for links: "InfiniBand" */
  FabBytesPerS rate_bytes_per_s;
  gint64 length_mm; /* of a cable */
} FabNeed;

/* Returns the product that meets the need. For an accelerator or a node it is the entry's own product. For a link it
 * is the product of the link's own name when the rate is the entry's; otherwise the slowest product of its technology
 * that is fast enough. Of equal products a scenario's own come first, then the cheapest; a cable counts with the
 * transceivers that it needs. NULL: there is none. O(products). */
const FabProductSpec *fab_product_find (const FabCatalog *catalog, const FabNeed *need);

/* Returns the price of a cable with its transceivers; 0: one of the prices is unknown. */
double fab_product_cable_usd (const FabCatalog *catalog, const FabProductSpec *cable);
