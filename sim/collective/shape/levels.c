/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/collective/shape/levels.h"

static gboolean
has_wire (const FabGroup *group, guint from, guint to)
{
  const FabGraph *graph = group->cluster->graph;
  FabLinkId first;
  guint n_links = fab_graph_out_links (graph, fab_group_gpu (group, 0, from), &first);

  for (FabLinkId link = first; link < first + n_links; link++)
    if (fab_graph_link (graph, link)->dst == fab_group_gpu (group, 0, to))
      return TRUE;
  return FALSE;
}

static gboolean
is_full_mesh (const FabGroup *group)
{
  for (guint from = 0; from < group->gpus_per_node; from++)
    for (guint to = 0; to < from; to++) /* every wire goes both ways */
      if (!has_wire (group, from, to))
        return FALSE;
  return TRUE;
}

FabLevels
fab_levels_of (const FabGroup *group, FabPhases *phases, FabLevel first)
{
  return (FabLevels){ group, phases, first, is_full_mesh (group) };
}

guint
fab_levels_members (const FabGroup *group, FabLevel level)
{
  return level == FAB_LEVEL_INSIDE ? group->gpus_per_node : group->n_nodes;
}

static gboolean
is_at_once (const FabLevels *self, FabLevel level)
{
  return level == FAB_LEVEL_INSIDE && self->is_mesh;
}

guint
fab_levels_phases (const FabLevels *self, FabLevel level)
{
  return is_at_once (self, level) ? 1 : fab_levels_members (self->group, level) - 1;
}

/* The parts that end up with the member `block` of a level, and of those at the second level the sender's own. */
static FabParts
parts_of (const FabLevels *self, FabLevel level, guint node, guint local, guint block, gboolean replaces)
{
  guint n_second = fab_levels_members (self->group, self->first == FAB_LEVEL_INSIDE ? FAB_LEVEL_BETWEEN
                                                                                    : FAB_LEVEL_INSIDE);
  guint own = self->first == FAB_LEVEL_INSIDE ? local : node;

  return level == self->first ? (FabParts){ block * n_second, n_second, replaces }
                              : (FabParts){ own * n_second + block, 1, replaces };
}

/* Each rank sends to the member of its level whose number is larger by `distance`, counted round the level: the parts
 * of the member whose number is smaller by `back`. */
static void
send_on (FabLevels *self, FabLevel level, guint distance, guint back, gboolean replaces, double weight)
{
  guint g = self->group->gpus_per_node, n = fab_levels_members (self->group, level);

  for (guint node = 0; node < self->group->n_nodes; node++)
    for (guint local = 0; local < g; local++) {
      guint at = level == FAB_LEVEL_INSIDE ? local : node, to = (at + distance) % n;

      fab_phases_send (self->phases, node * g + local,
                       level == FAB_LEVEL_INSIDE ? node * g + to : to * g + local, weight,
                       parts_of (self, level, node, local, (at + n - back) % n, replaces));
    }
}

/* In a ring a reduce-scatter begins with the parts of the member before, so that they end up with it; an all-gather
 * begins with the own ones. At once each rank sends the parts of the receiver, or the own ones. */
void
fab_levels_step (FabLevels *self, FabLevel level, gboolean gathers, double share, guint step)
{
  guint n = fab_levels_members (self->group, level);
  double weight = share / n;

  if (!is_at_once (self, level)) {
    send_on (self, level, 1, gathers ? step - 1 : step, gathers, weight);
    return;
  }
  for (guint distance = 1; distance < n; distance++)
    send_on (self, level, distance, gathers ? 0 : n - distance, gathers, weight);
}

void
fab_levels_go (FabLevels *self, FabLevel level, gboolean gathers, double share)
{
  for (guint step = 1; step <= fab_levels_phases (self, level); step++) {
    fab_phases_next (self->phases);
    fab_levels_step (self, level, gathers, share, step);
  }
}
