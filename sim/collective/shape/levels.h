/* SPDX-License-Identifier: Apache-2.0 */
/* levels.h - phases inside nodes and phases between them, of algorithms that take these two levels one by one.
 *
 * Inside a node all pairs of GPUs send at once where a wire joins every pair; else it is a ring in the order of the
 * GPUs. Between nodes it is a ring of the GPUs of the same number.
 *
 * The buffer is cut into as many parts as there are ranks. A reduce-scatter at the first level leaves each rank with
 * the sums of as many parts as the second level has members, and one at the second level with one of these. An
 * all-gather takes the levels in the reverse order.
 */
#pragma once

#include "sim/collective/shape/phases.h"

typedef enum { FAB_LEVEL_INSIDE, FAB_LEVEL_BETWEEN, FAB_N_LEVELS } FabLevel;

typedef struct {
  const FabGroup *group;
  FabPhases *phases; /* to which sends are added */
  FabLevel first;    /* of a reduce-scatter */
  gboolean is_mesh;
} FabLevels;

/* `phases` stays the caller's. */
FabLevels fab_levels_of (const FabGroup *group, FabPhases *phases, FabLevel first);

/* Ranks that a level joins: the GPUs of a node, or the nodes. */
guint fab_levels_members (const FabGroup *group, FabLevel level);

/* Phases that a reduce-scatter or an all-gather takes at a level. */
guint fab_levels_phases (const FabLevels *self, FabLevel level);

/* Adds to the present phase the sends of one of them, `step` from 1 on. Each rank has `share` bytes per byte of size
 * before a reduce-scatter, or after an all-gather (`gathers`). */
void fab_levels_step (FabLevels *self, FabLevel level, gboolean gathers, double share, guint step);

/* Adds all phases of a reduce-scatter or an all-gather at a level. */
void fab_levels_go (FabLevels *self, FabLevel level, gboolean gathers, double share);
