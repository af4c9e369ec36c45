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

/* Lanes of one class feed at the same times: one feed of each class and offset is enough. Feeds are sorted by lane. */
static void
keep_feeds (FabSchedule *self, const guint *played, const guint *kept)
{
  GArray *feeds = g_array_new (FALSE, FALSE, sizeof (FabFeed));
  guint start = 0;

  for (guint i = 0; i < self->feeds->len; i++) {
    FabFeed feed = *fab_schedule_feed_at (self, i);
    gboolean is_known = FALSE;

    if (played[feed.lane] != feed.lane)
      continue;
    feed.lane = kept[feed.lane];
    feed.from = kept[played[feed.from]];
    if (start < feeds->len && g_array_index (feeds, FabFeed, start).lane != feed.lane)
      start = feeds->len;
    for (guint k = start; k < feeds->len && !is_known; k++)
      is_known = g_array_index (feeds, FabFeed, k).from == feed.from
              && g_array_index (feeds, FabFeed, k).offset == feed.offset
              && g_array_index (feeds, FabFeed, k).is_left == feed.is_left;
    if (!is_known)
      g_array_append_val (feeds, feed);
  }
  g_array_unref (self->feeds);
  self->feeds = feeds;
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
  keep_feeds (self, lanes, kept);
  fab_schedule_freeze_again (self);
}
