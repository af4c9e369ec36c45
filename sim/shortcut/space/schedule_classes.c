/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/shortcut/space/schedule_classes.h"

#include <string.h>

/* What all lanes carry per byte of the collective. (transfer full) */
static FabFootprint *
count_total (const FabSchedule *schedule)
{
  guint n_links = fab_graph_n_links (schedule->cluster->graph);
  g_autofree double *weights = g_new0 (double, n_links + 1), *line_weights = g_new0 (double, n_links + 1);
  guint n = 0;

  for (guint l = 0; l < schedule->lanes->len; l++) {
    const FabScheduleLane *lane = fab_schedule_lane_at (schedule, l);

    for (guint i = 0; i < lane->footprint->n; i++) {
      weights[lane->footprint->links[i]] += lane->footprint->weights[i] * lane->weight * lane->n_messages;
      line_weights[lane->footprint->links[i]] += lane->footprint->line_weights[i] * lane->weight
                                               * lane->n_messages;
    }
  }
  for (FabLinkId link = 0; link < n_links; link++)
    n += weights[link] > 0;
  FabFootprint *total = fab_footprint_new (n);
  for (FabLinkId link = 0; link < n_links; link++)
    if (weights[link] > 0) {
      total->links[total->n] = link;
      total->weights[total->n] = weights[link];
      total->line_weights[total->n++] = line_weights[link];
    }
  return total;
}

/* `kept` gets the new index of each lane that is played. */
static void
keep_lanes (FabSchedule *self, const guint *played, FabFootprint **footprints, guint *kept)
{
  GArray *lanes = fab_schedule_lanes_new ();

  self->n_messages = 0;
  for (guint l = 0; l < self->lanes->len; l++) {
    FabScheduleLane *lane = fab_schedule_lane_at (self, l);
    FabScheduleLane moved = *lane;

    if (played[l] != l)
      continue;
    kept[l] = lanes->len;
    memset (lane, 0, sizeof *lane);
    if (footprints != NULL) {
      fab_footprint_free (moved.footprint);
      moved.footprint = g_steal_pointer (&footprints[l]);
    }
    g_array_append_val (lanes, moved);
    self->n_messages += moved.n_messages;
  }
  g_array_unref (self->lanes);
  self->lanes = lanes;
}

/* Lanes of one class send at the same times: one dependency of each class and offset is enough. Dependencies are sorted
 * by lane. */
static void
keep_dependencies (FabSchedule *self, const guint *played, const guint *kept)
{
  GArray *dependencies = g_array_new (FALSE, FALSE, sizeof (FabDependency));
  guint start = 0;

  for (guint i = 0; i < self->dependencies->len; i++) {
    FabDependency dependency = *fab_schedule_dependency_at (self, i);
    gboolean is_known = FALSE;

    if (played[dependency.lane] != dependency.lane)
      continue;
    dependency.lane = kept[dependency.lane];
    dependency.from = kept[played[dependency.from]];
    if (start < dependencies->len
        && g_array_index (dependencies, FabDependency, start).lane != dependency.lane)
      start = dependencies->len;
    for (guint k = start; k < dependencies->len && !is_known; k++)
      is_known = g_array_index (dependencies, FabDependency, k).from == dependency.from
              && g_array_index (dependencies, FabDependency, k).offset == dependency.offset
              && g_array_index (dependencies, FabDependency, k).is_departure == dependency.is_departure;
    if (!is_known)
      g_array_append_val (dependencies, dependency);
  }
  g_array_unref (self->dependencies);
  self->dependencies = dependencies;
}

void
fab_schedule_keep (FabSchedule *self, const guint *lanes, FabFootprint **footprints)
{
  g_autofree guint *kept = g_new (guint, self->lanes->len);

  if (self->total == NULL)
    self->total = count_total (self);
  guint n_before = self->lanes->len;
  keep_lanes (self, lanes, footprints, kept);
  self->n_alike += n_before - self->lanes->len;
  keep_dependencies (self, lanes, kept);
  fab_schedule_freeze_again (self);
}
