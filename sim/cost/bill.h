/* SPDX-License-Identifier: Apache-2.0 */
/* bill.h - the bill of materials of a scenario's machine, with prices and watts.
 *
 *   accelerators, nodes  those of the scenario
 *   NICs                 those connected to the fabric
 *   switches             of the fabric; one with more ports than any product counts as several
 *   cables, optics       one cable per link: the kind that is long enough, and the transceivers that it needs
 *
 * A single machine has no network. Broken parts were bought too, so they count.
 */
#pragma once

#include <glib.h>

#include "sim/scenario/catalog.h"
#include "sim/scenario/scenario.h"

typedef struct {
  FabProductKind kind;
  const char *name;       /* the required accelerator, node or link entry */
  const char *technology; /* from here on for links: "InfiniBand" */
  FabBytesPerS rate_bytes_per_s;
  gint64 length_mm; /* of a cable */
  guint n_ports;    /* of a NIC; 0: one */
} FabNeed;

/* Returns the product that meets the need. For an accelerator or a node it is the entry's own product. For a link it
 * is the product of the link's own name when the rate is the entry's; otherwise the slowest product of its technology
 * that is fast enough. Of equal products a scenario's own come first, then the cheapest; a cable counts with the
 * transceivers that it needs. NULL: there is none. O(products). */
const FabProductSpec *fab_product_find (const FabCatalog *catalog, const FabNeed *need);

typedef struct {
  double usd, low_usd, high_usd;
} FabMoney;

/* The price of one piece, and its ends; all 0 where it is not known. */
FabMoney fab_product_price (const FabProductSpec *self);

/* Returns the price of a cable with its transceivers; 0: one of the prices is unknown. */
double fab_product_cable_usd (const FabCatalog *catalog, const FabProductSpec *cable);

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
  GArray *rows;             /* FabBillRow: accelerators, nodes, NICs, switches, cables, optics */
  FabMoney total, network;  /* sums over the rows that have a price */
  double accelerator_watts; /* of all accelerators, at full load and without a power cap */
  double cap_fraction;      /* of those watts, that a power cap leaves; 1: there is none */
  double node_watts, network_watts;
  guint64 n_accelerators, n_switches;
  guint64 n_replaced; /* switches of the fabric in whose place a single product is counted; 0: none is */
  double
      replaced_ratio; /* the largest of theirs: rate to nodes over rate to other switches; 0: none has both */
  gboolean is_priced, is_powered; /* whether every row has a price, and whether every row has watts */
  const FabProductSpec
      *rent;              /* by which the machine is rented; NULL: it is bought, or has usd_per_gpu_hour */
  FabMoney rent_per_hour; /* of the whole machine by that product */
} FabBill;

/* The switches of a design (cluster.design) are those that it draws: none is shared, left out or thinned.
 *
 * Returns NULL with *error when the machine cannot be built. The bill points into the scenario and its catalogue,
 * which must outlive it. (transfer full) */
FabBill *fab_bill_new (const FabScenario *scenario, GError **error);

/* The same of a machine that exists: its switches are counted one by one as the fabric has them, also where a single
 * product would do for all of its NICs. (transfer full) */
FabBill *fab_bill_as_built (const FabScenario *scenario, GError **error);

/* As fab_bill_new, for the graph of a plant of this scenario from which no link was removed. (transfer full) */
FabBill *fab_bill_of_graph (const FabScenario *scenario, const FabGraph *graph);
void fab_bill_free (FabBill *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (FabBill, fab_bill_free)

gboolean fab_bill_row_is_network (const FabBillRow *row);

/* Counts the real switches that a switch of a fabric consists of.
 *
 * A fabric's switch may have more ports than any product: a spine layer drawn as one vertex, or a `switch` that
 * connects everything. It stands for a network that never blocks, so it is counted as such a network. That network
 * has parallel planes, at most as many as the links that each neighbour can distribute over them. Each plane is a
 * folded Clos network
 *
 *   1 tier    P <= k                1 switch
 *   t tiers   P <= 2 (k / 2)^t      (t - 1) e + ceil (e / 2) switches, e = ceil (P / (k / 2))
 *                                   (t - 1) e k / 2 cables between them
 *
 * of P ports, with switches of k ports (C. Clos, Bell System Technical Journal 32(2), 1953; C. Leiserson, IEEE Trans.
 * Computers C-34(10), 1985). The number of planes is the one that needs the fewest switches.
 */

/* Neighbours with equal links. */
typedef struct {
  guint n;              /* number of neighbours */
  guint n_links;        /* links of each neighbour to the vertex */
  guint links_per_port; /* of the product: a port may be split into slower links */
} FabPortGroup;

typedef struct {
  guint64 n_switches, n_cables; /* cables between the switches */
} FabBillSwitchCount;

/* `can_deal`: each neighbour is a switch itself, so its links may end at several planes. O(n_groups x most links). */
FabBillSwitchCount fab_bill_switch_count (const FabPortGroup *groups, guint n_groups, gboolean can_deal,
                                          guint ports_per_switch);

/* The cost and the power of a job, from the bill of its machine and the time of a step (spending.c).
 *
 *   watts         accelerators x (busy x computing + waiting x the rest of the step) + nodes + network, x PUE;
 *                 under a power cap, busy and waiting are at most its share
 *   $ per hour    (price / years + price x maintenance + staff + site) / (8766 h x utilisation) + kW x $/kWh
 *   rented        $ per GPU and hour, or of a product of kind rent, which includes everything
 *   $ per step    $ per hour x step
 *   $ per token   $ per hour / tokens per hour
 *
 * A job on part of a machine pays the share of its accelerators.
 *
 * An hour has a range: every price and every number of `cost` is taken at its low and at its high end, one after
 * another, and the changes are added in quadrature, separately above and below, as for times (sim/run/band.h). All
 * prices of the bill go together.
 */

/* One iteration, as means over ranks; 0: there is none. */
typedef struct {
  guint64 n_accelerators; /* accelerators of the job */
  double step_s, compute_s, tokens_per_s, train_s;
} FabWork;

/* Unknown values are 0, and so is the cost per token of a job without tokens. */
typedef struct {
  double capex_usd, network_usd;                   /* of the whole machine */
  double power_watts, network_watts;               /* at the site's meter, the job's share */
  double bought_usd_per_hour, energy_usd_per_hour; /* 0 for rented machines */
  double maintenance_usd_per_hour, staff_usd_per_hour, site_usd_per_hour; /* likewise */
  double usd_per_hour, usd_per_step, usd_per_million_tokens, train_usd;
  double low_usd_per_hour, high_usd_per_hour; /* the range of usd_per_hour */
  double step_joules, train_joules;
} FabSpending;

FabSpending fab_spending_of (const FabBill *bill, const FabCostSpec *cost, const FabWork *use);

/* The range of `usd`, which is proportional to usd_per_hour and to the time of a step, when that time is between
 * low_s and high_s: what is uncertain of money and of time, added in quadrature. */
FabMoney fab_spending_range (const FabSpending *self, double usd, double step_s, double low_s, double high_s);
