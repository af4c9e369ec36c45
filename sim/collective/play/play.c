/* SPDX-License-Identifier: Apache-2.0 */
/* play.c - begins every message when everything for which it waits has come. */
#include "sim/collective/play/play.h"

#include <math.h>
#include <string.h>

#include "sim/collective/play/play_parts.h"
#include "sim/collective/play/step_cost.h"

static void lane_begin (FabPlay *self, guint index);

/* Counts what the next message waits for; it is ready as soon as it has everything. */
static void
lane_prepare (FabPlay *self, guint index)
{
  const FabSchedule *schedule = self->schedule;
  const FabWaitList *list = fab_schedule_list_of (schedule, index);
  FabPlayLane *lane = &self->lanes[index];

  lane->n_missing = lane->next > 0;
  if (fab_wait_list_is_shared (list))
    lane->n_missing++;
  for (guint i = list->start; i < list->end && !fab_wait_list_is_shared (list); i++)
    lane->n_missing += self->n_known[i] + fab_schedule_dependency_at (schedule, i)->offset <= lane->next;
}

/* The next message of a lane waits for one thing less. */
static void
lane_release (FabPlay *self, guint index, FabTimePs at_ps)
{
  FabPlayLane *lane = &self->lanes[index];

  g_assert (lane->n_missing > 0);
  lane->ready_ps = MAX (lane->ready_ps, at_ps);
  if (--lane->n_missing == 0)
    lane_begin (self, index);
}

/* Whether the play counts what the links carry, when it ends, and not the network. */
static gboolean
is_counted_apart (const FabPlay *self)
{
  const FabNet *net = self->net;

  return self->schedule->total != NULL
      || (net->ops->trace == NULL && fab_net_is_separable (net, FAB_NO_LINK));
}

/* --- arriving messages --- */

static guint
only_waiter (const FabPlay *self, const FabDependency *dependency)
{
  return self->schedule->waiters[self->schedule->lists[dependency->list].first];
}

static void
dependency_is_met (gpointer owner, guint64 arg)
{
  FabPlay *self = owner;
  const FabDependency *dependency = fab_schedule_dependency_at (self->schedule, (guint) arg);
  guint wanted = self->n_known[arg]++ + dependency->offset, lane = only_waiter (self, dependency);

  if (self->lanes[lane].next == wanted)
    lane_release (self, lane, fab_play_now_ps (self));
}

/* One thing less is missing for all lanes that share a list. */
static void
list_release (FabPlay *self, guint number, FabTimePs at_ps)
{
  const FabWaitList *list = &self->schedule->lists[number];
  FabPlayList *state = &self->lists[number];

  g_assert (state->n_missing > 0);
  state->ready_ps = MAX (state->ready_ps, at_ps);
  if (--state->n_missing > 0)
    return;
  for (guint i = list->first; i < list->after; i++)
    lane_release (self, self->schedule->waiters[i], state->ready_ps);
}

/* Message `number` of a lane on which another depends will be passed on at `at_ps`. The waiting lane may be told at
 * once, so that it can schedule its begin. */
static void
dependency_will_be_met (FabPlay *self, guint index, guint number, FabTimePs at_ps)
{
  const FabDependency *dependency = fab_schedule_dependency_at (self->schedule, index);

  if (fab_wait_list_is_shared (&self->schedule->lists[dependency->list])) {
    list_release (self, dependency->list, at_ps);
    return;
  }
  guint waiter = only_waiter (self, dependency);
  const FabPlayLane *lane = &self->lanes[waiter];
  gboolean is_wanted = lane->next == number + dependency->offset;
  if (number + dependency->offset >= lane->n_messages)
    return;
  if (!is_wanted && at_ps > fab_play_now_ps (self)) {
    fab_engine_at (self->net->env.engine, at_ps, dependency_is_met, self, index);
    return;
  }
  self->n_known[index]++;
  if (is_wanted)
    lane_release (self, waiter, at_ps);
}

/* Counts all that the links carry. */
static void
count_all (const FabSchedule *schedule, const FabPlaySpec *spec, FabMeter *meter)
{
  double bytes = (double) spec->bytes;

  if (schedule->total != NULL)
    fab_meter_add_line (meter, schedule->total, bytes, spec->wire_factor);
  for (guint l = 0; schedule->total == NULL && l < schedule->lanes->len; l++) {
    const FabScheduleLane *lane = fab_schedule_lane_at (schedule, l);

    fab_meter_add_line (meter, lane->footprint, lane->n_messages * (lane->weight * bytes), spec->wire_factor);
  }
}

/* Counts what the network has not counted itself: all, or rounds that were skipped. */
static void
count_rest (const FabPlay *self)
{
  const FabSchedule *schedule = self->schedule;

  if (is_counted_apart (self))
    count_all (schedule, &self->spec, self->net->meter);
  for (guint l = 0; !is_counted_apart (self) && l < schedule->lanes->len; l++)
    if (self->lanes[l].n_skipped > 0)
      fab_meter_add_line (self->net->meter, fab_schedule_lane_at (schedule, l)->footprint,
                          self->lanes[l].n_skipped * self->lanes[l].bytes, self->spec.wire_factor);
}

static void
finish (gpointer owner, G_GNUC_UNUSED guint64 arg)
{
  FabPlay *self = owner;
  FabDone done = self->spec.done;

  if (self->watched != NULL)
    self->spec.watch->ends (self->watched);
  for (guint i = 0; i < self->schedule->lanes->len; i++)
    if (self->lanes[i].line != NULL)
      fab_net_close (self->net, g_steal_pointer (&self->lanes[i].line));
  count_rest (self);
  done.fn (done.owner, done.arg);
}

static void
release_next (FabPlay *self, guint index, FabTimePs left_ps)
{
  const FabPlayLane *lane = &self->lanes[index];

  if (lane->next < lane->n_messages)
    lane_release (self, index, left_ps + self->gap_ps);
}

/* Tells the lanes that wait for a message of this one, until it leaves or until it has arrived. */
static void
tell_dependents (FabPlay *self, guint index, guint number, gboolean has_left, FabTimePs at_ps)
{
  const FabSchedule *schedule = self->schedule;

  for (guint i = schedule->dependent_starts[index]; i < schedule->dependent_starts[index + 1]; i++)
    if (!fab_schedule_dependency_at (schedule, schedule->dependents[i])->is_departure == !has_left)
      dependency_will_be_met (self, schedule->dependents[i], number, at_ps);
}

static void
lane_arrives (gpointer owner, guint64 index, FabTimePs at_ps)
{
  FabPlay *self = owner;
  FabPlayLane *lane = &self->lanes[index];
  guint number = lane->n_departed++;

  if (self->watched != NULL)
    self->spec.watch->message_arrives (self->watched, (guint) index, at_ps);
  if (lane->is_acked)
    release_next (self, (guint) index,
                  at_ps - fab_schedule_lane_at (self->schedule, (guint) index)->hop.latency_ps);
  lane->passed_ps = at_ps += lane->extra_ps;
  self->last_ps = MAX (self->last_ps, at_ps);
  tell_dependents (self, (guint) index, number, FALSE, at_ps);
  if (--self->n_left == 0)
    fab_engine_at (self->net->env.engine, self->last_ps, finish, self, 0);
}

/* --- departing messages --- */

static void
lane_departed (gpointer owner, guint64 index)
{
  FabPlay *self = owner;

  if (!self->lanes[index].is_acked)
    release_next (self, (guint) index, fab_play_now_ps (self));
  if (self->schedule->has_departures)
    tell_dependents (self, (guint) index, 0, TRUE, fab_play_now_ps (self));
}

static void
stream_departed (gpointer owner, guint64 index)
{
  FabPlay *self = owner;

  lane_departed (owner, index);
  lane_arrives (owner, index,
                fab_play_now_ps (self)
                    + fab_schedule_lane_at (self->schedule, (guint) index)->hop.latency_ps);
}

static void
stream_begin (FabPlay *self, guint index, FabTimePs begin_ps)
{
  FabStream stream = {
    .footprint = fab_schedule_lane_at (self->schedule, index)->whole_footprint,
    .bytes = self->spec.bytes,
    .startup_ps = begin_ps - fab_play_now_ps (self),
    .wire_factor = self->spec.wire_factor,
    .share = self->spec.share,
    .traffic = self->spec.traffic,
    .done = { stream_departed, self, index },
  };

  fab_net_stream (self->net, &stream);
}

static void
lane_begin (FabPlay *self, guint index)
{
  FabPlayLane *lane = &self->lanes[index];
  FabTimePs begin_ps = MAX (lane->ready_ps, fab_play_now_ps (self));

  lane->next++;
  if (self->watched != NULL)
    self->spec.watch->message_begins (self->watched, index, begin_ps);
  if (lane->next < lane->n_messages)
    lane_prepare (self, index);
  if (lane->line == NULL)
    stream_begin (self, index, begin_ps);
  else
    fab_net_message (self->net, lane->line, lane->bytes, begin_ps);
}

/* --- begin and end --- */

/* Returns the limit of a lane. The limit of the whole collective applies at the source of its bytes: lanes that
 * forward have no more to send. When every lane sends once, after others, each is slower in proportion. */
static double
lane_limit (const FabSchedule *schedule, const FabPlaySpec *spec, guint index)
{
  const FabScheduleLane *lane = fab_schedule_lane_at (schedule, index);

  if (spec->limit_bytes_per_s <= 0)
    return 0;
  if (!spec->is_pipeline && schedule->dependencies->len > 0 && !schedule->has_offsets)
    return lane->footprint->rate_bytes_per_s / spec->wire_factor
         * MIN (spec->limit_bytes_per_s / spec->free_bytes_per_s, 1);
  return fab_schedule_list_of (schedule, index)->hands_on
           ? 0
           : lane->weight * lane->n_messages * spec->limit_bytes_per_s;
}

static FabNetLine *
open_line (FabPlay *self, guint index)
{
  const FabScheduleLane *lane = fab_schedule_lane_at (self->schedule, index);

  return fab_net_open (self->net,
                       &(FabConnection){
                           .footprint = lane->footprint,
                           .legs = lane->hop.legs,
                           .n_legs = lane->hop.n_legs,
                           .drive = lane->hop.drive,
                           .share = self->spec.share,
                           .latency_ps = lane->hop.latency_ps,
                           .wire_factor = self->spec.wire_factor,
                           .limit_bytes_per_s = lane_limit (self->schedule, &self->spec, index),
                           .traffic = self->spec.traffic,
                           .is_counted_apart = is_counted_apart (self),
                           .repeats = self->watched != NULL && self->spec.watch->repeats (self->watched),
                           .rotation = self->schedule->rotation,
                           .owner = self,
                           .arg = index,
                           .left = lane_departed,
                           .arrives = lane_arrives,
                       });
}

static void
lane_init (FabPlay *self, guint index, const FabStepCost *cost)
{
  const FabScheduleLane *lane = fab_schedule_lane_at (self->schedule, index);
  FabPlayLane *state = &self->lanes[index];

  state->bytes = lane->weight * (double) self->spec.bytes;
  state->n_messages = lane->n_messages;
  state->extra_ps = fab_step_cost_ps (cost, lane) - lane->hop.latency_ps;
  state->ready_ps = fab_play_now_ps (self) + self->spec.once_ps;
  state->is_acked = self->gap_ps > 0 && self->gap_ps >= lane->hop.latency_ps;
}

static void
prepare_schedule (FabSchedule *schedule, const FabNet *net)
{
  fab_schedule_freeze (schedule);
  fab_schedule_make_footprints (schedule, net->ops->message == NULL);
}

gboolean
fab_play_has_messages (const FabNet *net, const FabCollectivePlan *plan)
{
  return net->ops->message != NULL && plan->steps.make != NULL && plan->bytes > 0;
}

FabPlaySpec
fab_play_spec_of_plan (const FabCollectivePlan *plan)
{
  const FabCollectivePlanSteps *steps = &plan->steps;

  return (FabPlaySpec){
    .bytes = plan->bytes,
    .wire_factor = plan->wire_factor,
    .limit_bytes_per_s = steps->pace_bytes_per_s,
    .free_bytes_per_s = plan->footprint->rate_bytes_per_s / plan->wire_factor,
    .is_pipeline = steps->is_pipeline,
    .share = plan->n_connections,
    .once_ps = MAX (plan->startup_ps - steps->steps_ps - steps->fill_ps, 0),
    .steps_ps = steps->steps_ps,
    .intra_cost = steps->intra_cost,
    .inter_cost = steps->inter_cost,
  };
}

FabPlay *
fab_play_new (FabSchedule *schedule, FabNet *net, const FabPlaySpec *spec)
{
  FabPlay *self = g_new0 (FabPlay, 1);
  guint n = fab_schedule_n_lanes (schedule);

  g_assert (n > 0);
  prepare_schedule (schedule, net);
  *self = (FabPlay){ .schedule = schedule, .net = net, .spec = *spec };
  self->n_left = schedule->n_messages;
  self->lanes = g_new0 (FabPlayLane, n);
  self->n_known = g_new0 (guint, schedule->dependencies->len + 1);
  self->lists = g_new0 (FabPlayList, schedule->n_lists + 1);
  for (guint i = 0; i < schedule->n_lists; i++)
    self->lists[i].n_missing = schedule->lists[i].end - schedule->lists[i].start;
  FabStepCost cost = fab_step_cost_find (schedule, spec);
  self->gap_ps = cost.gap_ps;
  for (guint i = 0; i < n; i++)
    lane_init (self, i, &cost);
  if (spec->watch != NULL)
    self->watched = spec->watch->begins (self);
  for (guint i = 0; i < n && net->ops->message != NULL; i++)
    self->lanes[i].line = open_line (self, i);
  for (guint i = 0; i < n; i++)
    lane_prepare (self, i);
  for (guint i = 0; i < n; i++)
    if (self->lanes[i].next == 0 && self->lanes[i].n_missing == 0)
      lane_begin (self, i);
  return self;
}

void
fab_play_free (FabPlay *self)
{
  if (self == NULL)
    return;
  g_free (self->lanes);
  g_free (self->n_known);
  g_free (self->lists);
  if (self->watched != NULL)
    self->spec.watch->clear (self->watched);
  g_free (self);
}

void
fab_play_move_on (FabPlay *self, const guint *n_messages, FabTimePs by_ps)
{
  const FabSchedule *schedule = self->schedule;

  for (guint i = 0; i < schedule->dependencies->len; i++)
    self->n_known[i] += n_messages[fab_schedule_dependency_at (schedule, i)->from];
  for (guint l = 0; l < schedule->lanes->len; l++) {
    FabPlayLane *lane = &self->lanes[l];

    lane->next += n_messages[l];
    lane->n_departed += n_messages[l];
    lane->n_skipped += n_messages[l];
    lane->ready_ps += by_ps;
    self->n_left -= n_messages[l];
  }
  self->last_ps += by_ps;
}

/* --- what a network is told --- */

static void
add_number (GArray *words, double number)
{
  guint64 word;

  memcpy (&word, &number, sizeof word);
  g_array_append_val (words, word);
}

static void
add_word (GArray *words, guint64 word)
{
  g_array_append_val (words, word);
}

/* Adds the path of a lane. */
static void
describe_path (FabNet *net, const FabScheduleLane *lane, FabPlayTraits *traits)
{
  guint first = traits->links->len;

  if (!net->ops->trace (net, lane->hop.legs, lane->hop.n_legs, lane->footprint, traits->links))
    traits->is_separable = FALSE;
  add_word (traits->words, traits->links->len - first);
}

static void
describe_lane (const FabSchedule *schedule, const FabPlaySpec *spec, const FabStepCost *cost, guint index,
               FabPlayTraits *traits)
{
  const FabScheduleLane *lane = fab_schedule_lane_at (schedule, index);
  const FabFootprint *footprint = lane->footprint;

  add_number (traits->words, lane->weight);
  add_number (traits->words, lane_limit (schedule, spec, index));
  add_number (traits->words, footprint->rate_bytes_per_s);
  add_word (traits->words, lane->n_messages);
  add_word (traits->words, lane->list);
  add_word (traits->words, (guint64) lane->hop.latency_ps);
  add_word (traits->words, (guint64) fab_step_cost_ps (cost, lane));
  add_word (traits->words, footprint->n);
  g_array_append_vals (traits->words, footprint->weights, footprint->n);
  g_array_append_vals (traits->words, footprint->line_weights, footprint->n);
  g_array_append_vals (traits->links, footprint->links, footprint->n);
}

static void
describe_dependencies (const FabSchedule *schedule, GArray *words)
{
  for (guint i = 0; i < schedule->dependencies->len; i++) {
    const FabDependency *dependency = fab_schedule_dependency_at (schedule, i);

    add_word (words, (guint64) dependency->list << 32 | dependency->from);
    add_word (words, (guint64) dependency->offset << 1 | (dependency->is_departure != FALSE));
  }
}

void
fab_play_describe (FabSchedule *schedule, FabNet *net, const FabPlaySpec *spec, FabPlayTraits *traits)
{
  g_assert (fab_net_is_separable (net, FAB_NO_LINK));
  prepare_schedule (schedule, net);
  count_all (schedule, spec, traits->meter);
  if (traits->words == NULL)
    return;
  FabStepCost cost = fab_step_cost_find (schedule, spec);
  add_word (traits->words, spec->bytes);
  add_number (traits->words, spec->wire_factor);
  add_word (traits->words, spec->share);
  add_word (traits->words, (guint64) spec->once_ps);
  add_word (traits->words, (guint64) cost.gap_ps);
  add_word (traits->words, schedule->lanes->len);
  for (guint l = 0; l < schedule->lanes->len; l++) {
    describe_lane (schedule, spec, &cost, l, traits);
    if (net->ops->trace != NULL)
      describe_path (net, fab_schedule_lane_at (schedule, l), traits);
  }
  describe_dependencies (schedule, traits->words);
}
