/* SPDX-License-Identifier: Apache-2.0 */
/* products.h - which product of the catalogue serves a need: a GPU, a port, a cable so long. */
#pragma once

#include "sim/scenario/catalog.h"

typedef struct {
  FabProductKind kind;
  const char *name;       /* the accelerator, node or link entry that is wanted */
  const char *technology; /* the rest, of links: "InfiniBand" */
  FabBytesPerS rate_bytes_per_s;
  gint64 length_mm; /* of a cable */
} FabNeed;

/* Of an accelerator or a node: its own product. Of a link: that of the link's own name when the rate is the entry's;
 * else the slowest of its technology that is as fast. Of equal ones a scenario's own before shipped ones, then the
 * cheapest, a cable with the transceivers that it needs. NULL: there is none. O(products). */
const FabProductSpec *fab_product_find (const FabCatalog *catalog, const FabNeed *need);

/* The price of a cable with its transceivers; 0: one of them has none. */
double fab_product_cable_usd (const FabCatalog *catalog, const FabProductSpec *cable);
