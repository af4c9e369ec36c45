/* SPDX-License-Identifier: Apache-2.0 */
/* mix_losses.h - what of the node hours of a mix of jobs (job_mix.h) is lost, and whether wider uplinks would help. */
#pragma once

#include "answer/job_mix.h"

typedef struct {
  /* Of all node hours from the first arrival to the last end. */
  double places_fraction, sharing_fraction, undone_fraction, down_fraction, checkpoint_fraction,
      slowed_fraction;
  double worst_sharing_fraction; /* where jobs that send take the same uplinks */
  double stopped_gpu_hours;      /* undone and down */
  /* Between leaf switches: places and sharing together. */
  double uplink_node_hours, uplink_busy_fraction; /* of the node hours that jobs have */
  double worst_uplink_busy_fraction;
  gboolean has_uplink_gain; /* wider uplinks may gain a hundredth of these or more */
} FabMixLosses;

FabMixLosses fab_mix_losses (const FabMixAnswer *answer);

/* The nodes of the smallest and of the largest group of the machine. */
void fab_mix_group_sizes (const FabMixAnswer *answer, guint *smallest, guint *largest);

/* The verdict that the mix has: of a kind that does not fit into memory, or else of the first one. */
const FabVerdict *fab_mix_verdict (const FabMixAnswer *answer);
