/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/work/schedule.h"

#include "sim/work/schedule_private.h"

static void
lane_clear (gpointer data)
{
  FabLane *lane = data;

  fab_hop_clear (&lane->hop);
  fab_footprint_free (lane->footprint);
  fab_footprint_free (lane->whole_footprint);
}

FabSchedule *
fab_schedule_new (const FabCluster *cluster)
{
  FabSchedule *self = g_new0 (FabSchedule, 1);

  self->cluster = cluster;
  self->lanes = g_array_new (FALSE, FALSE, sizeof (FabLane));
  g_array_set_clear_func (self->lanes, lane_clear);
  self->feeds = g_array_new (FALSE, FALSE, sizeof (FabFeed));
  return self;
}

void
fab_schedule_free (FabSchedule *self)
{
  if (self == NULL)
    return;
  g_array_unref (self->lanes);
  g_array_unref (self->feeds);
  g_clear_pointer (&self->ways, g_array_unref);
  g_free (self->feed_starts);
  g_free (self->fed_starts);
  g_free (self->fed);
  g_free (self);
}

guint
fab_schedule_n_lanes (const FabSchedule *self)
{
  return self->lanes->len;
}

guint64
fab_schedule_n_messages (const FabSchedule *self)
{
  return self->n_messages;
}

guint
fab_schedule_lane (FabSchedule *self, FabHop *hop, double net_stretch, double weight, guint n_messages)
{
  FabLane lane = { .hop = *hop, .net_stretch = net_stretch, .weight = weight, .n_messages = n_messages };

  g_assert (!self->is_frozen && hop->shares->len > 0 && weight > 0 && n_messages > 0);
  hop->shares = NULL;
  g_array_append_val (self->lanes, lane);
  self->n_messages += n_messages;
  return self->lanes->len - 1;
}

void
fab_schedule_feed (FabSchedule *self, guint lane, guint from, guint offset)
{
  FabFeed feed = { lane, from, offset };

  g_assert (!self->is_frozen && offset <= 1 && (offset == 1 || from < lane));
  g_assert (fab_schedule_lane_at (self, lane)->n_messages
            <= fab_schedule_lane_at (self, from)->n_messages + offset);
  g_array_append_val (self->feeds, feed);
  self->has_offsets |= offset > 0;
}

/* --- indices --- */

/* Where those of each key begin, of `n` keys. */
static guint *
count_starts (const FabSchedule *self, gboolean is_by_lane)
{
  guint n = self->lanes->len;
  guint *starts = g_new0 (guint, n + 1);

  for (guint i = 0; i < self->feeds->len; i++) {
    const FabFeed *feed = fab_schedule_feed_at (self, i);

    starts[(is_by_lane ? feed->lane : feed->from) + 1]++;
  }
  for (guint i = 0; i < n; i++)
    starts[i + 1] += starts[i];
  return starts;
}

static void
sort_feeds (FabSchedule *self)
{
  g_autofree guint *next = NULL;
  g_autoptr (GArray) sorted = g_array_sized_new (FALSE, FALSE, sizeof (FabFeed), self->feeds->len);

  self->feed_starts = count_starts (self, TRUE);
  next = g_memdup2 (self->feed_starts, (self->lanes->len + 1) * sizeof (guint));
  g_array_set_size (sorted, self->feeds->len);
  for (guint i = 0; i < self->feeds->len; i++) {
    const FabFeed *feed = fab_schedule_feed_at (self, i);

    g_array_index (sorted, FabFeed, next[feed->lane]++) = *feed;
  }
  g_array_unref (self->feeds);
  self->feeds = g_steal_pointer (&sorted);
}

void
fab_schedule_freeze (FabSchedule *self)
{
  g_autofree guint *next = NULL;

  if (self->is_frozen)
    return;
  sort_feeds (self);
  self->fed_starts = count_starts (self, FALSE);
  next = g_memdup2 (self->fed_starts, (self->lanes->len + 1) * sizeof (guint));
  self->fed = g_new (guint, self->feeds->len + 1);
  for (guint i = 0; i < self->feeds->len; i++)
    self->fed[next[fab_schedule_feed_at (self, i)->from]++] = i;
  self->is_frozen = TRUE;
}

void
fab_schedule_make_footprints (FabSchedule *self, gboolean is_whole)
{
  g_autoptr (FabFootprintBuilder) builder = fab_footprint_builder_new (self->cluster->graph);

  /* Messages both ways over a link are as slow together as one footprint both ways is. */
  for (guint i = 0; i < self->lanes->len; i++) {
    const FabLane *lane = fab_schedule_lane_at (self, i);

    if ((is_whole ? lane->whole_footprint : lane->footprint) != NULL)
      return;
    fab_hop_use (&lane->hop, 1, lane->net_stretch, builder);
  }
  fab_footprint_builder_keep_duplex (builder);
  for (guint i = 0; i < self->lanes->len; i++) {
    FabLane *lane = fab_schedule_lane_at (self, i);

    fab_hop_use (&lane->hop, is_whole ? lane->weight : 1, lane->net_stretch, builder);
    *(is_whole ? &lane->whole_footprint : &lane->footprint) = fab_footprint_builder_finish (builder);
  }
}
