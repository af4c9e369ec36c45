/* SPDX-License-Identifier: Apache-2.0 */
/* switch_count.h - how many switches that one can buy a switch of a fabric is made of.
 *
 * A fabric's switch may have more ports than any product: a spine layer that is one vertex, a `switch` that joins
 * everything. It stands for a network that never blocks, so it is counted as one: planes side by side, as many as the
 * links that all its neighbours have to it can be dealt out to, each a folded Clos network,
 *
 *   1 tier    P <= k                1 switch
 *   t tiers   P <= 2 (k / 2)^t      (t - 1) e + ceil (e / 2) switches, e = ceil (P / (k / 2))
 *                                   (t - 1) e k / 2 cables between them
 *
 * of P ports, with switches of k ports (C. Clos, Bell System Technical Journal 32(2), 1953; C. Leiserson, IEEE Trans.
 * Computers C-34(10), 1985), with the number of planes that needs fewest.
 */
#pragma once

#include <glib.h>

/* Neighbours that are alike. */
typedef struct {
  guint n;              /* how many */
  guint n_links;        /* that each has to the vertex */
  guint links_per_port; /* of the product: a port may be split for slower links */
} FabPortGroup;

typedef struct {
  guint64 n_switches, n_cables; /* cables between them */
} FabSwitchCount;

/* `can_deal`: each neighbour is a switch itself, so its links may end at several planes. O(n_groups x most links). */
FabSwitchCount fab_switch_count (const FabPortGroup *groups, guint n_groups, gboolean can_deal,
                                 guint ports_per_switch);
