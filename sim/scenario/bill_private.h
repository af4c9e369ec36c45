/* SPDX-License-Identifier: Apache-2.0 */
/* bill_private.h - a bill while it is being counted, shared by bill.c and bill_network.c. */
#pragma once

#include "sim/scenario/bill.h"

typedef struct {
  const FabScenario *scenario;
  const FabCatalog *catalog;
  const FabCostSpec *cost;
  const FabGraph *graph;
  const FabProductSpec *node; /* NULL: the catalogue has none */
  FabBill *bill;
} FabBillCount;

/* Adds `count` of a product, which may be NULL. */
void fab_bill_add (FabBillCount *self, const FabNeed *need, const FabProductSpec *product, guint64 count);
/* Adds `count` of the product that meets the need. */
void fab_bill_add_found (FabBillCount *self, const FabNeed *need, guint64 count);

/* Adds NICs, switches, cables and optics. O(vertices + links). */
void fab_bill_add_network (FabBillCount *self);
