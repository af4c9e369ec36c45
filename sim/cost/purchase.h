/* SPDX-License-Identifier: Apache-2.0 */
/* purchase.h - what has to be bought to make one machine into another, and what of the first one is kept.
 *
 * Parts are compared by product. A product that both bills have is kept as far as both have it; what only the second
 * one has is bought; what only the first one has is left over. Nothing is assumed of what is left over: it is worth
 * nothing here.
 *
 * Parts that are included in the price of a node are bought with it. NICs that are included in the price of a node
 * that is kept are there already when they are of the same product; those of another product have to be paid for.
 */
#pragma once

#include "sim/cost/bill.h"

typedef struct {
  FabProductKind kind;
  const char *what;              /* the accelerator, node or link entry */
  const FabProductSpec *product; /* NULL: the catalogue has no such product */
  guint64 n_bought, n_kept, n_left;
  double usd_each, low_usd_each, high_usd_each; /* of what is bought; 0: unknown, or included */
  gboolean is_included;                         /* in the price of a node, or in the machine already */
} FabPurchaseRow;

typedef struct {
  GArray *rows;       /* FabPurchaseRow, in the order of kinds */
  FabMoney money;     /* of all rows that have a price */
  gboolean is_priced; /* whether everything that is bought has a price */
  guint64 n_bought;   /* pieces */
} FabPurchase;

/* The purchase points into the bills' scenarios, which must outlive it. (transfer full) */
FabPurchase *fab_purchase_new (const FabBill *before, const FabBill *after);
void fab_purchase_free (FabPurchase *self); /* accepts NULL */
G_DEFINE_AUTOPTR_CLEANUP_FUNC (FabPurchase, fab_purchase_free)
