/* SPDX-License-Identifier: Apache-2.0 */
/* ring_search.h - rings and paths through accelerators that are wired to each other directly.
 *
 * Of all sets of Hamiltonian cycles (paths) with equal shares the one whose busiest link carries least: as many as the
 * links allow, each link used once; or where that is more, twice as many that use each link twice. The search is
 * bounded and always has the same answer (ring_pack.h).
 */
#pragma once

#include "sim/solve/ring_pack.h"

typedef struct {
  guint n_orders; /* 0: none was found */
  guint load;     /* orders over one link, at most; the set moves n_orders / load links' worth */
  guint *orders;  /* [n_orders * n]: vertices in their order */
} FabRingSet;

void fab_ring_set_clear (FabRingSet *self);

/* Whether `a` moves more at once than `b`. */
gboolean fab_ring_set_is_better (const FabRingSet *a, const FabRingSet *b);

/* Directed cycles over n vertices, 2 to 64 of them; counts[from x n + to] links. */
FabRingSet fab_ring_search_cycles (const guint *counts, guint n);

/* Paths over all vertices, `n_paths` or a multiple k of it: the path k x i + j goes from ends[i].from to
 * ends[i].to. */
FabRingSet fab_ring_search_paths (const guint *counts, guint n, const FabPackArc *ends, guint n_paths);

/* Where there is no cycle: an order of all vertices that takes direct links where a greedy walk finds them, round to
 * its first again; and one between two ends. Without links both are ascending. */
void fab_ring_search_order (const guint *counts, guint n, guint *order);
void fab_ring_search_way (const guint *counts, guint n, FabPackArc ends, guint *order);
