/* SPDX-License-Identifier: Apache-2.0 */
/* ring_pack.h - finds several Hamiltonian cycles at once in a graph whose links have limited capacity.
 *
 * The cycles start as permutations: a subgraph in which every vertex has as many links out and in as there are cycles
 * is split into perfect matchings (Koenig: such a split always exists). Two permutations that exchange links along an
 * alternating cycle stay permutations, and so do one permutation and the unused links. A local search over such
 * exchanges merges the cycles of each permutation until it has one. It finds exact decompositions of complete graphs,
 * tori and cube meshes in milliseconds. Where there is none, it ends when its budget is spent.
 */
#pragma once

#include <glib.h>

enum { FAB_PACK_MOST_VERTICES = 64 };

typedef struct {
  guint from, to;
} FabPackArc;

typedef struct {
  guint n; /* vertices, from 2 to 64 */
  guint n_cycles;
  /* [n * n], from x n + to: number of cycles that may use the arc; 0 on the diagonal */
  const guint *capacity;
  const FabPackArc *closers; /* [n_cycles]: an arc that each cycle must contain; NULL: any cycle will do */
} FabPackProblem;

/* Writes next[cycle x n + vertex], with the cycles that meet the request first, and returns their number. `n_moves` is
 * the budget. */
guint fab_pack_cycles (const FabPackProblem *problem, guint n_moves, guint *next);
