/* SPDX-License-Identifier: Apache-2.0 */
/* schedule.c - builds a schedule, and finds its duration without a network, when a function gives the time of each
 * message.
 *
 * Message i of every lane, then message i + 1 of every lane, is an order in which no message waits for a later one. So
 * one walk through them finds the longest path. O(messages + waits) time and memory. The rounds of a ring are all
 * alike, so that one of them is enough. O(lanes).
 */
#include "sim/collective/play/schedule.h"

#include <string.h>

#include "sim/collective/play/schedule_parts.h"

static void
lane_clear (gpointer data)
{
  FabScheduleLane *lane = data;

  fab_hop_clear (&lane->hop);
  fab_footprint_free (lane->footprint);
  fab_footprint_free (lane->whole_footprint);
}

GArray *
fab_schedule_lanes_new (void)
{
  GArray *lanes = g_array_new (FALSE, FALSE, sizeof (FabScheduleLane));

  g_array_set_clear_func (lanes, lane_clear);
  return lanes;
}

FabSchedule *
fab_schedule_new (const FabCluster *cluster)
{
  FabSchedule *self = g_new0 (FabSchedule, 1);

  self->cluster = cluster;
  self->lanes = fab_schedule_lanes_new ();
  self->dependencies = g_array_new (FALSE, FALSE, sizeof (FabDependency));
  return self;
}

void
fab_schedule_free (FabSchedule *self)
{
  if (self == NULL)
    return;
  g_array_unref (self->lanes);
  g_array_unref (self->dependencies);
  g_clear_pointer (&self->ways, g_array_unref);
  g_clear_pointer (&self->measured, g_array_unref);
  g_clear_pointer (&self->step_costs, g_array_unref);
  g_free (self->lists);
  g_free (self->waiters);
  g_free (self->dependent_starts);
  g_free (self->dependents);
  fab_footprint_free (self->total);
  fab_rotation_unref (self->rotation);
  g_free (self);
}

guint
fab_schedule_n_alike (const FabSchedule *self)
{
  return self->n_alike;
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
  FabScheduleLane lane = {
    .hop = *hop, .net_stretch = net_stretch, .weight = weight, .n_messages = n_messages, .list = FAB_NO_LIST
  };

  g_assert (!self->is_frozen && hop->shares->len > 0 && weight > 0 && n_messages > 0);
  hop->shares = NULL;
  g_array_append_val (self->lanes, lane);
  self->n_messages += n_messages;
  return self->lanes->len - 1;
}

static void
add_dependency (FabSchedule *self, guint lane, FabDependency dependency)
{
  guint *list = &fab_schedule_lane_at (self, lane)->list;

  if (*list == FAB_NO_LIST)
    *list = self->n_lists++;
  dependency.list = *list;
  g_array_append_val (self->dependencies, dependency);
}

void
fab_schedule_depend (FabSchedule *self, guint lane, guint from, guint offset)
{
  g_assert (!self->is_frozen && offset <= 1 && (offset == 1 || from < lane));
  g_assert (fab_schedule_lane_at (self, lane)->n_messages
            <= fab_schedule_lane_at (self, from)->n_messages + offset);
  add_dependency (self, lane, (FabDependency){ .from = from, .offset = offset });
  self->has_offsets |= offset > 0;
}

void
fab_schedule_depend_like (FabSchedule *self, guint lane, guint other)
{
  FabScheduleLane *like = fab_schedule_lane_at (self, other), *made = fab_schedule_lane_at (self, lane);

  g_assert (!self->is_frozen && other < lane && made->list == FAB_NO_LIST);
  g_assert (like->n_messages == 1 && made->n_messages == 1 && !self->has_offsets);
  made->list = like->list;
}

void
fab_schedule_depend_on_departure (FabSchedule *self, guint lane, guint from)
{
  g_assert (!self->is_frozen && from < lane && fab_schedule_lane_at (self, lane)->n_messages == 1
            && fab_schedule_lane_at (self, from)->n_messages == 1);
  add_dependency (self, lane, (FabDependency){ .from = from, .is_departure = TRUE });
  self->has_departures = TRUE;
}

/* --- indices --- */

/* Numbers lists by their first lanes, and lists the lanes of each. */
static void
number_lists (FabSchedule *self)
{
  g_autofree guint *numbers = g_new (guint, self->n_lists + 1), *counts = g_new0 (guint, self->n_lists + 1);
  guint n = 0, start = 0;

  memset (numbers, 0xff, (self->n_lists + 1) * sizeof *numbers); /* FAB_NO_LIST */
  for (guint l = 0; l < self->lanes->len; l++) {
    guint *list = &fab_schedule_lane_at (self, l)->list;

    if (*list == FAB_NO_LIST)
      continue;
    if (numbers[*list] == FAB_NO_LIST)
      numbers[*list] = n++;
    *list = numbers[*list];
    counts[*list]++;
  }
  for (guint i = 0; i < self->dependencies->len; i++) {
    guint *list = &g_array_index (self->dependencies, FabDependency, i).list;

    *list = numbers[*list];
  }
  self->n_lists = n;
  self->lists = g_new0 (FabWaitList, n + 1);
  self->waiters = g_new (guint, self->lanes->len + 1);
  for (guint i = 0; i < n; i++) {
    self->lists[i].first = self->lists[i].after = start;
    start += counts[i];
  }
  for (guint l = 0; l < self->lanes->len; l++) {
    guint list = fab_schedule_lane_at (self, l)->list;

    if (list != FAB_NO_LIST)
      self->waiters[self->lists[list].after++] = l;
  }
}

static void
sort_dependencies (FabSchedule *self)
{
  guint n = self->dependencies->len, start = 0;
  g_autoptr (GArray) sorted = g_array_sized_new (FALSE, FALSE, sizeof (FabDependency), n);

  for (guint i = 0; i < n; i++) {
    const FabDependency *dependency = fab_schedule_dependency_at (self, i);

    self->lists[dependency->list].end++;
    self->lists[dependency->list].hands_on |= dependency->offset == 0;
  }
  for (guint i = 0; i < self->n_lists; i++) {
    guint count = self->lists[i].end;

    self->lists[i].start = self->lists[i].end = start;
    start += count;
  }
  g_array_set_size (sorted, n);
  for (guint i = 0; i < n; i++) {
    const FabDependency *dependency = fab_schedule_dependency_at (self, i);

    g_array_index (sorted, FabDependency, self->lists[dependency->list].end++) = *dependency;
  }
  g_array_unref (self->dependencies);
  self->dependencies = g_steal_pointer (&sorted);
}

/* Sorts the dependencies by the lane from which they come. */
static void
list_dependents (FabSchedule *self)
{
  guint n = self->dependencies->len, n_lanes = self->lanes->len;
  guint *starts = g_new0 (guint, n_lanes + 1);

  for (guint i = 0; i < n; i++)
    starts[fab_schedule_dependency_at (self, i)->from + 1]++;
  for (guint l = 0; l < n_lanes; l++)
    starts[l + 1] += starts[l];
  g_autofree guint *next = g_memdup2 (starts, (n_lanes + 1) * sizeof (guint));
  self->dependents = g_new (guint, n + 1);
  for (guint i = 0; i < n; i++)
    self->dependents[next[fab_schedule_dependency_at (self, i)->from]++] = i;
  self->dependent_starts = starts;
}

void
fab_schedule_freeze (FabSchedule *self)
{
  if (self->is_frozen)
    return;
  number_lists (self);
  sort_dependencies (self);
  list_dependents (self);
  self->is_frozen = TRUE;
}

void
fab_schedule_freeze_again (FabSchedule *self)
{
  g_clear_pointer (&self->lists, g_free);
  g_clear_pointer (&self->waiters, g_free);
  g_clear_pointer (&self->dependent_starts, g_free);
  g_clear_pointer (&self->dependents, g_free);
  self->is_frozen = FALSE;
  fab_schedule_freeze (self);
}

gboolean
fab_schedule_is_in_chunks (const FabSchedule *self, guint n_chunks)
{
  for (guint i = 0; i < self->lanes->len; i++)
    if (fab_schedule_lane_at (self, i)->n_messages != n_chunks)
      return FALSE;
  return !self->has_offsets;
}

FabSchedule *
fab_schedule_copy (const FabSchedule *self)
{
  FabSchedule *made = fab_schedule_new (self->cluster);

  g_assert (self->ways == NULL);
  g_array_append_vals (made->lanes, self->lanes->data, self->lanes->len);
  g_array_append_vals (made->dependencies, self->dependencies->data, self->dependencies->len);
  made->n_lists = self->n_lists;
  made->has_offsets = self->has_offsets;
  made->has_departures = self->has_departures;
  made->n_messages = self->n_messages;
  for (guint i = 0; i < made->lanes->len; i++) {
    FabScheduleLane *lane = fab_schedule_lane_at (made, i);

    g_array_ref (lane->hop.shares);
    lane->footprint = lane->footprint ? fab_footprint_doubled (lane->footprint, 0) : NULL;
    lane->whole_footprint = NULL;
  }
  made->total = self->total ? fab_footprint_doubled (self->total, 0) : NULL;
  made->n_alike = self->n_alike;
  made->rotation = self->rotation ? fab_rotation_ref (self->rotation) : NULL;
  fab_schedule_freeze (made);
  return made;
}

FabSchedule *
fab_schedule_in_chunks (const FabSchedule *self, guint n_chunks)
{
  FabSchedule *made = fab_schedule_copy (self);

  made->n_messages = (guint64) made->lanes->len * n_chunks;
  for (guint i = 0; i < made->lanes->len; i++) {
    FabScheduleLane *lane = fab_schedule_lane_at (made, i);

    lane->weight = lane->weight * lane->n_messages / n_chunks;
    lane->n_messages = n_chunks;
  }
  return made;
}

void
fab_schedule_make_footprints (FabSchedule *self, gboolean is_whole)
{
  g_autoptr (FabFootprintBuilder) builder = fab_footprint_builder_new (self->cluster->graph);

  /* Messages both ways over a link are as slow together as one footprint both ways is. */
  for (guint i = 0; i < self->lanes->len; i++) {
    const FabScheduleLane *lane = fab_schedule_lane_at (self, i);

    if ((is_whole ? lane->whole_footprint : lane->footprint) != NULL)
      return;
    fab_hop_use (&lane->hop, 1, lane->net_stretch, builder);
  }
  fab_footprint_builder_keep_duplex (builder);
  for (guint i = 0; i < self->lanes->len; i++) {
    FabScheduleLane *lane = fab_schedule_lane_at (self, i);

    fab_hop_use (&lane->hop, is_whole ? lane->weight : 1, lane->net_stretch, builder);
    *(is_whole ? &lane->whole_footprint : &lane->footprint) = fab_footprint_builder_finish (builder);
  }
}

/* What goes on at the same time as a message. */
typedef struct {
  double port_weight; /* sum over all messages that use its busier port; 0: inside a node */
  gboolean is_both;   /* another message uses the port in the other direction */
} MessageWay;

/* Messages are numbered lane by lane. `firsts` is [n_lanes + 1]. */
static guint *
number_messages (const FabSchedule *self)
{
  guint n = self->lanes->len;
  guint *firsts = g_new (guint, n + 1);

  firsts[0] = 0;
  for (guint i = 0; i < n; i++)
    firsts[i + 1] = firsts[i] + fab_schedule_lane_at (self, i)->n_messages;
  return firsts;
}

typedef void (*VisitFn) (gpointer data, guint lane, guint message);

static void
visit_in_order (const FabSchedule *self, const guint *firsts, VisitFn visit, gpointer data)
{
  guint n_rounds = 0;

  for (guint l = 0; l < self->lanes->len; l++)
    n_rounds = MAX (n_rounds, firsts[l + 1] - firsts[l]);
  for (guint round = 0; round < n_rounds; round++)
    for (guint l = 0; l < self->lanes->len; l++)
      if (firsts[l] + round < firsts[l + 1])
        visit (data, l, firsts[l] + round);
}

typedef void (*BeforeFn) (gpointer data, guint message, guint before);

/* Visits the messages for which a message waits. */
static void
visit_before (const FabSchedule *self, const guint *firsts, guint lane, guint message, BeforeFn visit,
              gpointer data)
{
  const FabWaitList *list = fab_schedule_list_of (self, lane);
  guint number = message - firsts[lane];

  if (number > 0)
    visit (data, message, message - 1);
  for (guint i = list->start; i < list->end; i++) {
    const FabDependency *dependency = fab_schedule_dependency_at (self, i);

    if (number >= dependency->offset)
      visit (data, message, firsts[dependency->from] + number - dependency->offset);
  }
}

/* --- levels --- */

typedef struct {
  const FabSchedule *schedule;
  const guint *firsts;
  guint *levels, *lanes; /* of each message */
  guint n_levels;
} Levels;

static void
raise_level (gpointer data, guint message, guint before)
{
  Levels *self = data;

  self->levels[message] = MAX (self->levels[message], self->levels[before] + 1);
}

static void
level_message (gpointer data, guint lane, guint message)
{
  Levels *self = data;
  guint like = fab_schedule_like (self->schedule, lane);

  self->lanes[message] = lane;
  if (like != lane)
    self->levels[message] = self->levels[self->firsts[like]];
  else
    visit_before (self->schedule, self->firsts, lane, message, raise_level, self);
  self->n_levels = MAX (self->n_levels, self->levels[message] + 1);
}

/* Sorts the messages by level; `starts` is [n_levels + 1], and 0. */
static guint *
sort_by_level (const guint *levels, guint n, guint n_levels, guint *starts)
{
  guint *order = g_new (guint, n + 1);

  for (guint i = 0; i < n; i++)
    starts[levels[i]]++;
  for (guint level = 1; level < n_levels; level++)
    starts[level] += starts[level - 1];
  for (guint i = n; i-- > 0;)
    order[--starts[levels[i]]] = i; /* fill from the end of its level */
  starts[n_levels] = n;
  return order;
}

/* The level of a message counts from 0 as if every message took one step. Messages of one level are active
 * together. */
static const FabScheduleLane *
lane_of (const Levels *levels, guint message)
{
  return fab_schedule_lane_at (levels->schedule, levels->lanes[message]);
}

/* What uses a port at the present level. */
typedef struct {
  guint level;
  double weight;
} PortLoad;

static double
load_of_port (const PortLoad *loads, FabLinkId port, guint level)
{
  return loads[port].level == level ? loads[port].weight : 0;
}

static void
add_to_port (PortLoad *loads, FabLinkId port, guint level, double weight)
{
  loads[port] = (PortLoad){ level, load_of_port (loads, port, level) + weight };
}

/* `loads` is [links]; levels count from 1 there. */
static void
find_ways_of_level (const Levels *levels, const guint *messages, guint n, guint level, PortLoad *loads)
{
  const FabGraph *graph = levels->schedule->cluster->graph;

  for (guint i = 0; i < n; i++) {
    const FabScheduleLane *lane = lane_of (levels, messages[i]);

    if (lane->hop.out_port == FAB_NO_LINK)
      continue;
    add_to_port (loads, lane->hop.out_port, level, lane->weight);
    if (lane->hop.in_port != lane->hop.out_port)
      add_to_port (loads, lane->hop.in_port, level, lane->weight);
  }
  for (guint i = 0; i < n; i++) {
    const FabHop *hop = &lane_of (levels, messages[i])->hop;
    MessageWay *way = &g_array_index (levels->schedule->ways, MessageWay, messages[i]);

    if (hop->out_port == FAB_NO_LINK)
      continue;
    way->port_weight = MAX (loads[hop->out_port].weight, loads[hop->in_port].weight);
    way->is_both = load_of_port (loads, fab_graph_link (graph, hop->out_port)->reverse, level) > 0
                || load_of_port (loads, fab_graph_link (graph, hop->in_port)->reverse, level) > 0;
  }
}

/* Whether all lanes have the same number of messages, each of which waits for messages of earlier rounds: a ring. Then
 * message k of every lane is at level k, and all levels are alike. */
static gboolean
repeats_rounds (const FabSchedule *self)
{
  for (guint l = 1; l < self->lanes->len; l++)
    if (fab_schedule_lane_at (self, l)->n_messages != fab_schedule_lane_at (self, 0)->n_messages)
      return FALSE;
  for (guint i = 0; i < self->dependencies->len; i++)
    if (fab_schedule_dependency_at (self, i)->offset == 0)
      return FALSE;
  return TRUE;
}

/* Writes one way for each lane, of all of its messages. */
static void
find_ways_of_round (FabSchedule *self)
{
  guint n = self->lanes->len;
  g_autofree guint *lanes = g_new (guint, n);
  g_autofree PortLoad *loads = g_new0 (PortLoad, fab_graph_n_links (self->cluster->graph) + 1);
  Levels round = { .schedule = self, .lanes = lanes };

  for (guint l = 0; l < n; l++)
    lanes[l] = l;
  self->ways = g_array_new (FALSE, TRUE, sizeof (MessageWay));
  g_array_set_size (self->ways, n);
  find_ways_of_level (&round, lanes, n, 1, loads);
}

/* Writes one way for each message. */
static void
find_ways (FabSchedule *self, const guint *firsts)
{
  guint n = firsts[self->lanes->len];
  g_autofree guint *levels = g_new0 (guint, n + 1), *lanes = g_new (guint, n + 1);
  Levels found = { .schedule = self, .firsts = firsts, .levels = levels, .lanes = lanes };

  visit_in_order (self, firsts, level_message, &found);
  g_autofree guint *starts = g_new0 (guint, found.n_levels + 1);
  g_autofree guint *order = sort_by_level (levels, n, found.n_levels, starts);
  g_autofree PortLoad *loads = g_new0 (PortLoad, fab_graph_n_links (self->cluster->graph) + 1);

  self->ways = g_array_new (FALSE, TRUE, sizeof (MessageWay));
  g_array_set_size (self->ways, n);
  for (guint level = 0; level < found.n_levels; level++)
    find_ways_of_level (&found, order + starts[level], starts[level + 1] - starts[level], level + 1, loads);
}

/* --- the longest path --- */

typedef struct {
  const FabSchedule *schedule;
  const guint *firsts;
  FabBytes bytes;
  FabMessageTime time;
  gconstpointer data;
  double *starts, *ends; /* of each message */
  double longest;
} Timing;

static void
delay (gpointer data, guint message, guint before)
{
  Timing *self = data;

  self->starts[message] = MAX (self->starts[message], self->ends[before]);
}

/* Returns the time of a message of the lane that goes this way. */
static double
time_of (const Timing *self, guint index, guint way_index)
{
  const FabScheduleLane *lane = fab_schedule_lane_at (self->schedule, index);
  const MessageWay *way = &g_array_index (self->schedule->ways, MessageWay, way_index);
  FabMessageStep step = { &lane->hop, lane->weight * (double) self->bytes,
                          MAX (way->port_weight, lane->weight) * (double) self->bytes, way->is_both };

  return self->time (self->data, &step);
}

static void
time_message (gpointer data, guint index, guint message)
{
  Timing *self = data;
  guint like = fab_schedule_like (self->schedule, index);

  if (like != index)
    self->starts[message] = self->starts[self->firsts[like]];
  else
    visit_before (self->schedule, self->firsts, index, message, delay, self);
  self->ends[message] = self->starts[message] + time_of (self, index, message);
  self->longest = MAX (self->longest, self->ends[message]);
}

/* Messages of one share of the bytes over links that were measured alike. */
typedef struct {
  const FabMessages *messages;
  double weight;
} MeasuredShare;

static void
add_share (GArray *shares, MeasuredShare share)
{
  for (guint i = shares->len; i-- > 0;) {
    const MeasuredShare *known = &g_array_index (shares, MeasuredShare, i);

    if (known->messages == share.messages && known->weight == share.weight)
      return;
  }
  g_array_append_val (shares, share);
}

/* Lists those of all lanes. */
static void
find_measured (FabSchedule *self)
{
  self->measured = g_array_new (FALSE, FALSE, sizeof (MeasuredShare));
  for (guint i = 0; i < self->lanes->len; i++) {
    const FabScheduleLane *lane = fab_schedule_lane_at (self, i);

    if (lane->hop.messages != NULL && lane->hop.messages->to_bytes > 0)
      add_share (self->measured, (MeasuredShare){ lane->hop.messages, lane->weight });
  }
}

/* No chain of messages takes longer than those of the slowest lane, which follow one another. */
static double
longest_of_rounds (FabSchedule *self, const Timing *timing)
{
  double slowest = 0;

  if (self->ways == NULL)
    find_ways_of_round (self);
  for (guint l = 0; l < self->lanes->len; l++)
    slowest = MAX (slowest, time_of (timing, l, l));
  return self->lanes->len > 0 ? slowest * fab_schedule_lane_at (self, 0)->n_messages : 0;
}

double
fab_schedule_longest (FabSchedule *self, FabBytes bytes, FabMessageTime time, gconstpointer data)
{
  Timing timing = { .schedule = self, .bytes = bytes, .time = time, .data = data };

  g_assert (self->total == NULL);
  fab_schedule_freeze (self);
  if (self->measured == NULL)
    find_measured (self);
  if (repeats_rounds (self))
    return longest_of_rounds (self, &timing);
  g_assert (self->n_messages < G_MAXUINT);
  g_autofree guint *firsts = number_messages (self);
  g_autofree double *starts = g_new0 (double, self->n_messages + 1);
  g_autofree double *ends = g_new0 (double, self->n_messages + 1);
  if (self->ways == NULL)
    find_ways (self, firsts);
  timing.firsts = firsts;
  timing.starts = starts;
  timing.ends = ends;
  visit_in_order (self, firsts, time_message, &timing);
  return timing.longest;
}

/* --- sizes --- */

static void
add_size (GArray *sizes, const FabMessages *messages, double bytes)
{
  FabMessageSize size = { .bytes = (FabBytes) (bytes + 0.5) };

  size.is_outside = size.bytes < messages->from_bytes || size.bytes > messages->to_bytes;
  for (guint i = 0; i < sizes->len; i++) {
    const FabMessageSize *known = &g_array_index (sizes, FabMessageSize, i);

    if (known->bytes == size.bytes && known->is_outside == size.is_outside)
      return;
  }
  g_array_append_val (sizes, size);
}

void
fab_schedule_add_sizes (const FabSchedule *self, FabBytes bytes, GArray *sizes)
{
  g_assert (self->measured != NULL);
  for (guint i = 0; i < self->measured->len; i++) {
    const MeasuredShare *share = &g_array_index (self->measured, MeasuredShare, i);

    add_size (sizes, share->messages, share->weight * (double) bytes);
  }
}
