/* SPDX-License-Identifier: Apache-2.0 */
#include "answer/mix_losses.h"

static const double hour_s = 3600;

FabMixLosses
fab_mix_losses (const FabMixAnswer *answer)
{
  const double little = 0.01;
  const FabMixFigures *all = &answer->all, *worst = &answer->worst;
  double machine_s = answer->n_nodes * answer->span_s;
  double uplink_s = all->places_lost_s + all->sharing_lost_s;
  double worst_busy_fraction = (worst->places_lost_s + worst->sharing_lost_s) / worst->busy_s;

  return (FabMixLosses){
    .places_fraction = all->places_lost_s / machine_s,
    .sharing_fraction = all->sharing_lost_s / machine_s,
    .undone_fraction = all->undone_s / machine_s,
    .down_fraction = all->down_s / machine_s,
    .checkpoint_fraction = all->checkpoint_s / machine_s,
    .slowed_fraction = all->slowed_s / machine_s,
    .worst_sharing_fraction = worst->sharing_lost_s / (answer->n_nodes * answer->worst_span_s),
    .stopped_gpu_hours = (all->undone_s + all->down_s) / hour_s * answer->gpus_per_node,
    .uplink_node_hours = uplink_s / hour_s,
    .uplink_busy_fraction = uplink_s / all->busy_s,
    .worst_uplink_busy_fraction = worst_busy_fraction,
    .has_uplink_gain = worst_busy_fraction >= little,
  };
}

void
fab_mix_group_sizes (const FabMixAnswer *answer, guint *smallest, guint *largest)
{
  *smallest = G_MAXUINT;
  *largest = 0;
  for (guint g = 0; g < answer->machine.n_groups; g++) {
    *smallest = MIN (*smallest, answer->machine.group_nodes[g]);
    *largest = MAX (*largest, answer->machine.group_nodes[g]);
  }
}

const FabVerdict *
fab_mix_verdict (const FabMixAnswer *answer)
{
  for (guint i = 0; i < answer->kinds->len; i++) {
    const FabPoint *point = g_array_index (answer->kinds, FabMixedKind, i).point;

    if (!fab_point_fits (point))
      return point->verdict;
  }
  return g_array_index (answer->kinds, FabMixedKind, 0).point->verdict;
}
