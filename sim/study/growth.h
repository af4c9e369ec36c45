/* SPDX-License-Identifier: Apache-2.0 */
/* growth.h - a machine that grows: what is bought today, what later, and what of today's fabric survives.
 *
 * A path is a way to build the machine of the scenario today so that it can have more nodes later: extended as it is,
 * with room for all nodes from the start (`cluster.places`), or as another fabric whose nodes share leaves. Both phases
 * are simulated, with as much work for each GPU unless the study holds the global batch, and counted as built
 * (sim/cost/bill.h). What the second phase needs beyond the first is bought then; what it does not need any more is
 * left over.
 */
#pragma once

#include "sim/cost/purchase.h"
#include "sim/study/study.h"

typedef struct {
  FabEdits *edits;
  FabTry trial;
  FabScenario *scenario; /* to which the bill points; NULL: it cannot be built */
  FabBill *bill;
} FabGrowthPhase;

typedef struct {
  char *name;
  FabGrowthPhase today, later;
  FabPurchase *purchase;   /* of the second phase; NULL: one of the phases cannot be built */
  guint64 n_links, n_kept; /* cables of today's fabric, and those of them that survive */
  guint64 n_left;          /* pieces of the network that are left over */
  gboolean is_priced;      /* whether everything of both phases has a price */
  FabMoney total;          /* of both phases */
} FabGrowthPath;

/* The paths (FabGrowthPath) from the scenario's nodes to `nodes`; those with prices by their total, then the others.
 * NULL and *error when `nodes` is not more than there are, or when no path can be built. (transfer full) */
GPtrArray *fab_growth_find (const FabStudy *study, guint nodes, GError **error);
