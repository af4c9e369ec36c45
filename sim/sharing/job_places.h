/* SPDX-License-Identifier: Apache-2.0 */
/* job_places.h - which nodes a job is given: how many of each group. */
#pragma once

#include "sim/sharing/job_mix_spec.h"

/* Nodes of one job in one group. */
typedef struct {
  guint group, n;
  double
      load; /* of the group's uplinks, when nothing but its places slow the job; set by who knows the job */
} FabMixPart;

/* Takes `n` of the free nodes away, of which there are enough, and appends a part for each group. `draw` counts the
 * numbers that were drawn from the seed. */
void fab_mix_place (FabMixPlacement placement, guint n_groups, guint *free_nodes, guint n, guint64 seed,
                    guint64 *draw, GArray *parts);
