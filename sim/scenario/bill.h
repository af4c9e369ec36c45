/* SPDX-License-Identifier: Apache-2.0 */
/* bill.h - what a scenario's machine is made of, counted, with prices and watts: a bill of materials.
 *
 *   accelerators, nodes  those of the scenario
 *   NICs                 those joined to the fabric
 *   switches             of the fabric; one with more ports than any product is counted as several (switch_count.h)
 *   cables, optics       one cable per link; the kind that reaches, and the transceivers that it needs
 *
 * A machine alone has no network. What is broken was bought all the same.
 */
#pragma once

#include "sim/scenario/products.h"
#include "sim/scenario/scenario.h"

typedef struct {
  FabProductKind kind;
  const char *what;              /* the accelerator, node or link entry that is needed */
  const FabProductSpec *product; /* NULL: the catalogue has none */
  guint64 count;
  double usd_each, low_usd_each, high_usd_each; /* 0: no price is known, or it is in that of the node */
  double watts_each;                            /* 0: not known, or of cables none */
  gboolean is_included;                         /* in the price of the node */
} FabBillRow;

typedef struct {
  double usd, low_usd, high_usd;
} FabMoney;

typedef struct {
  GArray *rows;             /* FabBillRow: accelerators, nodes, NICs, switches, cables, optics */
  FabMoney total, network;  /* of the rows that have a price */
  double accelerator_watts; /* of all, at full load */
  double node_watts, network_watts;
  guint64 n_accelerators, n_switches;
  gboolean is_priced, is_powered; /* every row is */
} FabBill;

/* NULL and *error when the machine cannot be built. Points into the scenario and its catalogue. */
FabBill *fab_bill_new (const FabScenario *scenario, GError **error);
/* The same, of the graph of a plant of this scenario from which no link was taken. */
FabBill *fab_bill_of_graph (const FabScenario *scenario, const FabGraph *graph);
void fab_bill_free (FabBill *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (FabBill, fab_bill_free)

gboolean fab_bill_row_is_network (const FabBillRow *row);
