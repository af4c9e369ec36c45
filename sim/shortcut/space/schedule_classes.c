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

/* Adds what a list has, for a new one: of lanes of one class, which send at the same times, one dependency is
 * enough. */
static void
add_list (const FabSchedule *self, guint list, guint made, const guint *played, const guint *kept,
          GArray *dependencies)
{
  guint start = dependencies->len;

  for (guint i = self->lists[list].start; i < self->lists[list].end; i++) {
    FabDependency dependency = *fab_schedule_dependency_at (self, i);
    gboolean is_known = FALSE;

    dependency.list = made;
    dependency.from = kept[played[dependency.from]];
    for (guint k = start; k < dependencies->len && !is_known; k++)
      is_known = g_array_index (dependencies, FabDependency, k).from == dependency.from
              && g_array_index (dependencies, FabDependency, k).offset == dependency.offset
              && g_array_index (dependencies, FabDependency, k).is_departure == dependency.is_departure;
    if (!is_known)
      g_array_append_val (dependencies, dependency);
  }
}

/* Keeps the lists of the lanes that were kept. */
static void
keep_dependencies (FabSchedule *self, const guint *played, const guint *kept)
{
  GArray *dependencies = g_array_new (FALSE, FALSE, sizeof (FabDependency));
  g_autofree guint *numbers = g_new (guint, self->n_lists + 1);
  guint n_lists = 0;

  memset (numbers, 0xff, (self->n_lists + 1) * sizeof *numbers); /* FAB_NO_LIST */
  for (guint l = 0; l < self->lanes->len; l++) {
    guint *list = &fab_schedule_lane_at (self, l)->list;

    if (*list == FAB_NO_LIST)
      continue;
    if (numbers[*list] == FAB_NO_LIST) {
      numbers[*list] = n_lists++;
      add_list (self, *list, numbers[*list], played, kept, dependencies);
    }
    *list = numbers[*list];
  }
  g_array_unref (self->dependencies);
  self->dependencies = dependencies;
  self->n_lists = n_lists;
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
