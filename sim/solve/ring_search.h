/* SPDX-License-Identifier: Apache-2.0 */
/* ring_search.h - finds rings and paths through accelerators that are wired to each other directly.
 *
 * Of all sets of Hamiltonian cycles (or paths) with equal shares, it looks for the set whose busiest link carries
 * least: as many orders as the links allow with each link used once, or, where that moves more, twice as many with
 * each link used twice. The search is bounded and deterministic.
 */
#pragma once

#include <glib.h>

typedef struct {
  guint from, to;
} FabPackArc;

typedef struct {
  guint n_orders; /* number of orders; 0: none was found */
  guint load;     /* most orders over one link; the set moves n_orders / load links' worth of data */
  guint *orders;  /* [n_orders * n]: vertices in the order of each ring or path */
} FabRingSet;

void fab_ring_set_clear (FabRingSet *self);

/* Whether `a` moves more at once than `b`. */
gboolean fab_ring_set_is_better (const FabRingSet *a, const FabRingSet *b);

/* Returns directed cycles over n vertices, 2 or more; over more than 64 it finds none. counts[from x n + to] is the
 * number of links, 0 where both are the same vertex. */
FabRingSet fab_ring_search_cycles (const guint *counts, guint n);

/* Returns paths over all vertices, likewise: `n_paths`, or a multiple k of it. Path k x i + j goes from ends[i].from to
 * ends[i].to. */
FabRingSet fab_ring_search_paths (const guint *counts, guint n, const FabPackArc *ends, guint n_paths);

/* For graphs without a cycle. The first writes an order of all vertices, closed to a ring, that uses direct links
 * where a greedy walk finds them; the second does so between two ends. Without links both orders are ascending. */
void fab_ring_search_order (const guint *counts, guint n, guint *order);
void fab_ring_search_way (const guint *counts, guint n, FabPackArc ends, guint *order);
