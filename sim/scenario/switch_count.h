/* SPDX-License-Identifier: Apache-2.0 */
/* switch_count.h - counts the real switches that a switch of a fabric consists of.
 *
 * A fabric's switch may have more ports than any product: a spine layer drawn as one vertex, or a `switch` that
 * connects everything. It stands for a network that never blocks, so it is counted as such a network. That network has
 * parallel planes, at most as many as the links that each neighbour can distribute over them. Each plane is a folded
 * Clos network
 *
 *   1 tier    P <= k                1 switch
 *   t tiers   P <= 2 (k / 2)^t      (t - 1) e + ceil (e / 2) switches, e = ceil (P / (k / 2))
 *                                   (t - 1) e k / 2 cables between them
 *
 * of P ports, with switches of k ports (C. Clos, Bell System Technical Journal 32(2), 1953; C. Leiserson, IEEE Trans.
 * Computers C-34(10), 1985). The number of planes is the one that needs the fewest switches.
 */
#pragma once

#include <glib.h>

/* Neighbours with equal links. */
typedef struct {
  guint n;              /* number of neighbours */
  guint n_links;        /* links of each neighbour to the vertex */
  guint links_per_port; /* of the product: a port may be split into slower links */
} FabPortGroup;

typedef struct {
  guint64 n_switches, n_cables; /* cables between the switches */
} FabSwitchCount;

/* `can_deal`: each neighbour is a switch itself, so its links may end at several planes. O(n_groups x most links). */
FabSwitchCount fab_switch_count (const FabPortGroup *groups, guint n_groups, gboolean can_deal,
                                 guint ports_per_switch);
