/* SPDX-License-Identifier: Apache-2.0 */
/* bill.h - the bill of materials of a scenario's machine, with prices and watts.
 *
 *   accelerators, nodes  those of the scenario
 *   NICs                 those connected to the fabric
 *   switches             of the fabric; one with more ports than any product counts as several (switch_count.h)
 *   cables, optics       one cable per link: the kind that is long enough, and the transceivers that it needs
 *
 * A single machine has no network. Broken parts were bought too, so they count.
 */
#pragma once

#include "sim/scenario/products.h"
#include "sim/scenario/scenario.h"

typedef struct {
  FabProductKind kind;
  const char *what;              /* the required accelerator, node or link entry */
  const FabProductSpec *product; /* NULL: the catalogue has no such product */
  guint64 count;
  double usd_each, low_usd_each, high_usd_each; /* 0: the price is unknown, or included in that of the node */
  double watts_each;                            /* 0: unknown; for cables: none */
  gboolean is_included;                         /* included in the price of the node */
} FabBillRow;

typedef struct {
  double usd, low_usd, high_usd;
} FabMoney;

typedef struct {
  GArray *rows;             /* FabBillRow: accelerators, nodes, NICs, switches, cables, optics */
  FabMoney total, network;  /* sums over the rows that have a price */
  double accelerator_watts; /* of all accelerators, at full load */
  double node_watts, network_watts;
  guint64 n_accelerators, n_switches;
  gboolean is_priced, is_powered; /* whether every row has a price, and whether every row has watts */
} FabBill;

/* Returns NULL with *error when the machine cannot be built. The bill points into the scenario and its catalogue,
 * which must outlive it. (transfer full) */
FabBill *fab_bill_new (const FabScenario *scenario, GError **error);
/* As fab_bill_new, for the graph of a plant of this scenario from which no link was removed. (transfer full) */
FabBill *fab_bill_of_graph (const FabScenario *scenario, const FabGraph *graph);
void fab_bill_free (FabBill *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (FabBill, fab_bill_free)

gboolean fab_bill_row_is_network (const FabBillRow *row);
