/* SPDX-License-Identifier: Apache-2.0 */
/* ring_pack.h - as many Hamiltonian cycles at once as are asked for, over links of limited number.
 *
 * The cycles start as permutations: a subgraph in which every vertex has as many links out and in as there are
 * cycles, split into perfect matchings (there always is such a split: Koenig). Two permutations that exchange their
 * links on an alternating cycle stay permutations, and so do one and the links that none uses. A local search
 * over such exchanges merges their cycles, until each has one. Exact decompositions of complete graphs, tori
 * and cube meshes are found in milliseconds; where there is none the search ends with its budget.
 */
#pragma once

#include <glib.h>

enum { FAB_PACK_MOST_VERTICES = 64 };

typedef struct {
  guint from, to;
} FabPackArc;

typedef struct {
  guint n; /* vertices, 2 to 64 */
  guint n_cycles;
  const guint *capacity;     /* [n * n], from x n + to: cycles that may use the arc; 0 on the diagonal */
  const FabPackArc *closers; /* [n_cycles]: an arc that each is to contain; NULL: any */
} FabPackProblem;

/* Writes next[cycle x n + vertex]; the cycles that are as asked come first. Returns their number. */
guint fab_pack_cycles (const FabPackProblem *problem, guint n_moves, guint *next);
