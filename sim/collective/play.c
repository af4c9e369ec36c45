/* SPDX-License-Identifier: Apache-2.0 */
/* play.c - begins every message when everything for which it waits has come, and skips rounds that repeat. */
#include "sim/collective/play.h"

#include <math.h>
#include <string.h>

#include "sim/collective/rhythm.h"
#include "sim/collective/schedule_private.h"
#include "sim/collective/step_cost.h"
#include "sim/collective/tempo.h"

typedef struct {
  FabNetLine *line;   /* NULL: each message is a stream */
  double bytes;       /* of one message */
  FabTimePs ready_ps; /* earliest begin of the next message, as far as known */
  FabTimePs extra_ps; /* time from the arrival of a message until it is passed on */
  guint next, n_gone; /* the next message to begin; number of messages that have left */
  guint n_missing;    /* what it still waits for: feeds, and the message before */
  /* the step's cost counts from the arrival, less the wires: buffers on the path do not hide it */
  gboolean is_acked;
  guint n_messages;
} LaneState;

struct _FabPlay {
  FabSchedule *schedule;
  FabNet *net;
  FabPlaySpec spec;
  FabTimePs gap_ps; /* pause between two messages of a lane */
  FabTimePs last_ps;
  guint64 n_left; /* messages whose arrival is not yet known */
  LaneState *lanes;
  guint *n_known;   /* per feed: messages that have come */
  FabRhythm rhythm; /* of the begins of all lanes, then of their arrivals; no items: nothing is skipped */
  FabTempo tempo;  /* where only intervals settle: of the begins of all lanes; no items: nothing is skipped */
  double n_owed;   /* rounds that skips have not moved on by, since only whole ones are */
  guint n_skipped; /* rounds */
  gboolean is_skip_due;
  guint64 n_changes;      /* of the network, for which the rhythm holds */
  guint64 n_rate_changes; /* likewise, for which the tempo holds */
};

static void lane_begin (FabPlay *self, guint index);

static FabTimePs
now_ps (const FabPlay *self)
{
  return fab_engine_now (self->net->env.engine);
}

/* Counts what the next message waits for; it is ready as soon as it has everything. */
static void
lane_prepare (FabPlay *self, guint index)
{
  const FabSchedule *schedule = self->schedule;
  LaneState *lane = &self->lanes[index];

  lane->n_missing = lane->next > 0;
  for (guint i = schedule->feed_starts[index]; i < schedule->feed_starts[index + 1]; i++)
    lane->n_missing += self->n_known[i] + fab_schedule_feed_at (schedule, i)->offset <= lane->next;
}

/* The next message of a lane waits for one thing less. */
static void
lane_release (FabPlay *self, guint index, FabTimePs at_ps)
{
  LaneState *lane = &self->lanes[index];

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

/* --- rounds that repeat --- */

/* Returns how many messages every lane can send before one of them comes near its last one. */
static guint
count_rounds_left (const FabPlay *self)
{
  const guint last = 3; /* the last messages are played */
  guint n = G_MAXUINT;

  for (guint l = 0; l < self->schedule->lanes->len; l++) {
    const LaneState *lane = &self->lanes[l];

    n = MIN (n, lane->n_messages > lane->next + last ? lane->n_messages - lane->next - last : 0);
  }
  return n;
}

static void
skip_rounds (FabPlay *self, guint n_rounds, FabTimePs by_ps)
{
  guint n_lanes = self->schedule->lanes->len;

  for (guint l = 0; l < n_lanes; l++) {
    LaneState *lane = &self->lanes[l];

    lane->next += n_rounds;
    lane->n_gone += n_rounds;
    lane->ready_ps += by_ps;
  }
  self->n_skipped += n_rounds;
  for (guint i = 0; i < self->schedule->feeds->len; i++)
    self->n_known[i] += n_rounds;
  self->n_left -= (guint64) n_rounds * n_lanes;
  self->last_ps += by_ps;
}

/* Returns how many intervals fit before the next event that is neither of this play nor of the network; a skip costs
 * about one, and those just before the event are played. */
static guint
count_free (const FabPlay *self, double interval_ps)
{
  const guint worth = 4, margin = 2;
  gconstpointer owners[] = { self, self->net };
  FabTimePs others_ps = fab_engine_next_of_others_ps (self->net->env.engine, owners, G_N_ELEMENTS (owners));
  double n_free = (double) (others_ps - now_ps (self)) / interval_ps - margin;
  guint n = (guint) CLAMP (n_free, 0, count_rounds_left (self));

  return n < worth ? 0 : n;
}

static void
delay_events (FabPlay *self, FabTimePs by_ps)
{
  gconstpointer owners[] = { self, self->net };

  fab_engine_delay (self->net->env.engine, owners, G_N_ELEMENTS (owners), by_ps);
}

/* Every message has begun and arrived in the same interval after the one before it for longer than any has an effect.
 * So the state is that of one interval ago, and will be that of now after the next one, as long as no other event
 * meets the network and no lane comes to its end. */
static void
try_skip (gpointer owner, G_GNUC_UNUSED guint64 arg)
{
  FabPlay *self = owner;
  FabNet *net = self->net;
  guint n_lanes = self->schedule->lanes->len;

  self->is_skip_due = FALSE;
  if (self->n_changes != net->n_changes) {
    self->n_changes = net->n_changes;
    fab_rhythm_reset (&self->rhythm);
    return;
  }
  if (!fab_rhythm_is_steady (&self->rhythm) || !net->ops->skip (net, n_lanes, 0))
    return;
  guint n_rounds = count_free (self, (double) self->rhythm.period_ps);
  FabTimePs by_ps = (FabTimePs) n_rounds * self->rhythm.period_ps;
  if (n_rounds == 0)
    return;
  delay_events (self, by_ps);
  net->ops->skip (net, n_lanes, by_ps);
  skip_rounds (self, n_rounds, by_ps);
  fab_rhythm_skip (&self->rhythm, by_ps);
}

/* --- rounds of all plays that are under way --- */

static FabPlay *
play_at (const FabNet *net, guint i)
{
  return g_ptr_array_index (net->plays, i);
}

static guint
count_lanes (const FabNet *net)
{
  guint n = 0;

  for (guint i = 0; i < net->plays->len; i++)
    n += play_at (net, i)->schedule->lanes->len;
  return n;
}

/* The plays and the network: whose events move together. (transfer full) */
static GPtrArray *
list_owners (FabNet *net)
{
  GPtrArray *owners = g_ptr_array_copy (net->plays, NULL, NULL);

  g_ptr_array_add (owners, net);
  return owners;
}

/* Returns the rounds of a play in this time, with those that it is owed. */
static double
rounds_in (const FabPlay *self, double by_ps)
{
  return by_ps / self->tempo.interval_ps + self->n_owed;
}

/* Returns how far the rounds of the plays in this time are from whole ones, at most. */
static double
find_misfit (const FabNet *net, double by_ps)
{
  double most = 0;

  for (guint i = 0; i < net->plays->len; i++) {
    double n = rounds_in (play_at (net, i), by_ps);

    most = MAX (most, fabs (n - round (n)));
  }
  return most;
}

/* Returns the time for which all plays can go on, until one comes near its last round or another event meets the
 * network; 0: the tempo has not settled. */
static double
find_free_ps (FabNet *net)
{
  const double margin = 2;
  g_autoptr (GPtrArray) owners = list_owners (net);
  FabTimePs others_ps = fab_engine_next_of_others_ps (net->env.engine, (const gconstpointer *) owners->pdata,
                                                      owners->len);
  double free_ps = (double) (others_ps - fab_engine_now (net->env.engine))
                 - margin * play_at (net, 0)->tempo.interval_ps;

  for (guint i = 0; i < net->plays->len; i++) {
    const FabPlay *play = play_at (net, i);

    if (!play->tempo.is_settled)
      return 0;
    free_ps = MIN (free_ps, (count_rounds_left (play) - play->n_owed) * play->tempo.interval_ps);
  }
  return free_ps;
}

/* Returns the rounds of the first play that all can skip; 0: it is not worth it. Of the longest skips that one is taken
 * in which all plays come closest to whole rounds. */
static guint
find_rounds (FabNet *net)
{
  const guint worth = net->plays->len == 1 ? 4 : 2, share = 4;
  const double close = 0.01, rounding = 1e-9;
  const FabTempo *tempo = &play_at (net, 0)->tempo;
  double free_ps = find_free_ps (net), least = 0.5;
  guint n_most = free_ps > 0 ? (guint) (free_ps / tempo->interval_ps + rounding) : 0, n_found = 0;

  if (n_most < worth)
    return 0;
  if (net->plays->len == 1)
    return n_most / tempo->window * tempo->window;
  for (guint n = n_most; n >= worth && n >= n_most - n_most / share && least > close; n--) {
    double misfit = find_misfit (net, n * tempo->interval_ps);

    if (misfit < least) {
      least = misfit;
      n_found = n;
    }
  }
  return n_found;
}

/* Returns the time that is skipped now; 0: nothing is. */
static FabTimePs
find_skip (FabNet *net)
{
  FabTimePs now_ps = fab_engine_now (net->env.engine);

  for (guint i = 0; net->skips_due != NULL && i < net->skips_due->len; i++) {
    FabSkip due = g_array_index (net->skips_due, FabSkip, i);

    if (due.at_ps == now_ps)
      return due.by_ps;
  }
  if (net->skips_due != NULL)
    return 0;
  return (FabTimePs) (find_rounds (net) * play_at (net, 0)->tempo.interval_ps + 0.5);
}

static void
skip_all (FabNet *net, FabTimePs by_ps)
{
  FabSkip made = { fab_engine_now (net->env.engine), by_ps };
  g_autoptr (GPtrArray) owners = list_owners (net);

  fab_engine_delay (net->env.engine, (const gconstpointer *) owners->pdata, owners->len, by_ps);
  for (guint i = 0; i < net->plays->len; i++) {
    FabPlay *play = play_at (net, i);
    double n_rounds = rounds_in (play, (double) by_ps);
    guint n_whole = MIN ((guint) (n_rounds + 0.5), count_rounds_left (play));

    play->n_owed = net->plays->len > 1 ? n_rounds - n_whole : 0;
    skip_rounds (play, n_whole, by_ps);
    fab_tempo_skip (&play->tempo, n_whole, by_ps);
    if (net->plays->len == 1)
      fab_tempo_restart (&play->tempo);
  }
  g_array_append_val (net->skips, made);
}

/* What was measured says nothing of what comes. */
static void
restart_all (FabNet *net)
{
  for (guint i = 0; i < net->plays->len; i++) {
    FabPlay *play = play_at (net, i);

    play->n_rate_changes = net->n_rate_changes;
    if (play->tempo.n_items > 0)
      fab_tempo_restart (&play->tempo);
  }
}

/* Whether a window is long enough for all: two rounds of each. */
static gboolean
is_window_over (const FabNet *net)
{
  const guint least = 2;

  for (guint i = 0; i < net->plays->len; i++) {
    const FabTempo *tempo = &play_at (net, i)->tempo;

    if (tempo->n_items == 0 || (net->plays->len > 1 && fab_tempo_so_far (tempo) < least))
      return FALSE;
  }
  return TRUE;
}

/* A window of the first play has ended. Where the tempo of all has settled, the rounds to come take what the slowest
 * lane of each takes now. */
static void
try_tempo (gpointer owner, G_GNUC_UNUSED guint64 arg)
{
  FabPlay *self = owner;
  FabNet *net = self->net;

  self->is_skip_due = FALSE;
  if (play_at (net, 0) != self || !is_window_over (net))
    return;
  if (self->n_rate_changes != net->n_rate_changes) {
    restart_all (net);
    return;
  }
  for (guint i = 0; i < net->plays->len; i++)
    fab_tempo_measure (&play_at (net, i)->tempo, net->plays->len == 1);
  FabTimePs by_ps = find_skip (net);
  double n_windows = (double) by_ps / (self->tempo.window * self->tempo.interval_ps);
  if (by_ps > 0 && net->ops->repeat (net, net->plays->len > 1 ? n_windows : round (n_windows), by_ps))
    skip_all (net, by_ps);
  if (!net->ops->mark (net, count_lanes (net)))
    restart_all (net);
}

static void
note_tempo (FabPlay *self, guint index, FabTimePs begin_ps)
{
  fab_tempo_note (&self->tempo, index, begin_ps);
  if (index > 0 || self->is_skip_due || !fab_tempo_is_due (&self->tempo) || play_at (self->net, 0) != self
      || (self->net->ops->skip != NULL && self->net->plays->len == 1))
    return;
  self->is_skip_due = TRUE;
  fab_engine_after (self->net->env.engine, 0, try_tempo, self, 0);
}

static void
note_begin (FabPlay *self, guint index, FabTimePs begin_ps)
{
  if (self->tempo.n_items > 0)
    note_tempo (self, index, begin_ps);
  if (self->rhythm.n_items == 0)
    return;
  fab_rhythm_note (&self->rhythm, index, begin_ps);
  if (index > 0 || self->is_skip_due || !fab_rhythm_is_steady (&self->rhythm))
    return;
  self->is_skip_due = TRUE;
  fab_engine_after (self->net->env.engine, 0, try_skip, self, 0);
}

/* Only schedules of which every lane sends many messages can be skipped. A machine that is not folded is played message
 * by message. */
static void
watch_rhythm (FabPlay *self)
{
  const guint many = 16, windows = 32, least_in_window = 2, most_in_window = 8;
  const guint few = self->net->ops->skip != NULL ? 64 : 10; /* of the former few are skipped to no loss */
  guint n_lanes = self->schedule->lanes->len;
  FabTimePs memory_ps = 0;

  if (self->net->ops->mark != NULL && self->schedule->has_offsets && count_rounds_left (self) >= few
      && !fab_graph_is_unfolded (self->net->env.graph))
    fab_tempo_init (&self->tempo, n_lanes,
                    CLAMP (count_rounds_left (self) / windows, least_in_window, most_in_window));
  if (self->net->ops->skip == NULL || fab_graph_is_unfolded (self->net->env.graph)
      || count_rounds_left (self) < many)
    return;
  for (guint l = 0; l < n_lanes; l++)
    memory_ps = MAX (memory_ps,
                     fab_schedule_lane_at (self->schedule, l)->hop.latency_ps + self->lanes[l].extra_ps);
  fab_rhythm_init (&self->rhythm, 2 * n_lanes, memory_ps + self->gap_ps);
}

/* --- arriving messages --- */

static void
feed_came (gpointer owner, guint64 arg)
{
  FabPlay *self = owner;
  const FabFeed *feed = fab_schedule_feed_at (self->schedule, (guint) arg);
  guint wanted = self->n_known[arg]++ + feed->offset;

  if (self->lanes[feed->lane].next == wanted)
    lane_release (self, feed->lane, now_ps (self));
}

/* Message `number` of a lane that feeds another will be passed on at `at_ps`. The waiting lane may be told at
 * once, so that it can schedule its begin. */
static void
feed_comes (FabPlay *self, guint index, guint number, FabTimePs at_ps)
{
  const FabFeed *feed = fab_schedule_feed_at (self->schedule, index);
  const LaneState *lane = &self->lanes[feed->lane];
  gboolean is_wanted = lane->next == number + feed->offset;

  if (number + feed->offset >= lane->n_messages)
    return;
  if (!is_wanted && at_ps > now_ps (self)) {
    fab_engine_at (self->net->env.engine, at_ps, feed_came, self, index);
    return;
  }
  self->n_known[index]++;
  if (is_wanted)
    lane_release (self, feed->lane, at_ps);
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
  else if (self->n_skipped > 0)
    for (guint l = 0; l < schedule->lanes->len; l++)
      fab_meter_add_line (self->net->meter, fab_schedule_lane_at (schedule, l)->footprint,
                          self->n_skipped * self->lanes[l].bytes, self->spec.wire_factor);
}

static void
finish (gpointer owner, G_GNUC_UNUSED guint64 arg)
{
  FabPlay *self = owner;
  FabDone done = self->spec.done;

  g_ptr_array_remove (self->net->plays, self);
  restart_all (self->net);
  for (guint i = 0; i < self->schedule->lanes->len; i++)
    if (self->lanes[i].line != NULL)
      fab_net_close (self->net, g_steal_pointer (&self->lanes[i].line));
  count_rest (self);
  done.fn (done.owner, done.arg);
}

static void
release_next (FabPlay *self, guint index, FabTimePs left_ps)
{
  const LaneState *lane = &self->lanes[index];

  if (lane->next < lane->n_messages)
    lane_release (self, index, left_ps + self->gap_ps);
}

/* Tells the lanes that wait for a message of this one, until it leaves or until it has arrived. */
static void
tell_fed (FabPlay *self, guint index, guint number, gboolean has_left, FabTimePs at_ps)
{
  const FabSchedule *schedule = self->schedule;

  for (guint i = schedule->fed_starts[index]; i < schedule->fed_starts[index + 1]; i++)
    if (!fab_schedule_feed_at (schedule, schedule->fed[i])->is_left == !has_left)
      feed_comes (self, schedule->fed[i], number, at_ps);
}

static void
lane_arrives (gpointer owner, guint64 index, FabTimePs at_ps)
{
  FabPlay *self = owner;
  LaneState *lane = &self->lanes[index];
  guint number = lane->n_gone++;

  if (self->rhythm.n_items > 0)
    fab_rhythm_note (&self->rhythm, self->schedule->lanes->len + (guint) index, at_ps);
  if (lane->is_acked)
    release_next (self, (guint) index,
                  at_ps - fab_schedule_lane_at (self->schedule, (guint) index)->hop.latency_ps);
  at_ps += lane->extra_ps;
  self->last_ps = MAX (self->last_ps, at_ps);
  tell_fed (self, (guint) index, number, FALSE, at_ps);
  if (--self->n_left == 0)
    fab_engine_at (self->net->env.engine, self->last_ps, finish, self, 0);
}

/* --- departing messages --- */

static void
lane_left (gpointer owner, guint64 index)
{
  FabPlay *self = owner;

  if (!self->lanes[index].is_acked)
    release_next (self, (guint) index, now_ps (self));
  if (self->schedule->has_lefts)
    tell_fed (self, (guint) index, 0, TRUE, now_ps (self));
}

static void
stream_left (gpointer owner, guint64 index)
{
  FabPlay *self = owner;

  lane_left (owner, index);
  lane_arrives (owner, index,
                now_ps (self) + fab_schedule_lane_at (self->schedule, (guint) index)->hop.latency_ps);
}

static void
stream_begin (FabPlay *self, guint index, FabTimePs begin_ps)
{
  FabStream stream = {
    .footprint = fab_schedule_lane_at (self->schedule, index)->whole_footprint,
    .bytes = self->spec.bytes,
    .startup_ps = begin_ps - now_ps (self),
    .wire_factor = self->spec.wire_factor,
    .share = self->spec.share,
    .traffic = self->spec.traffic,
    .done = { stream_left, self, index },
  };

  fab_net_stream (self->net, &stream);
}

static void
lane_begin (FabPlay *self, guint index)
{
  LaneState *lane = &self->lanes[index];
  FabTimePs begin_ps = MAX (lane->ready_ps, now_ps (self));

  note_begin (self, index, begin_ps);
  if (++lane->next < lane->n_messages)
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
  gboolean hands_on = FALSE;

  if (spec->limit_bytes_per_s <= 0)
    return 0;
  if (!spec->is_pipeline && schedule->feeds->len > 0 && !schedule->has_offsets)
    return lane->footprint->rate_bytes_per_s / spec->wire_factor
         * MIN (spec->limit_bytes_per_s / spec->free_bytes_per_s, 1);
  for (guint i = schedule->feed_starts[index]; i < schedule->feed_starts[index + 1]; i++)
    hands_on |= fab_schedule_feed_at (schedule, i)->offset == 0;
  return hands_on ? 0 : lane->weight * lane->n_messages * spec->limit_bytes_per_s;
}

static FabNetLine *
open_line (FabPlay *self, guint index)
{
  const FabScheduleLane *lane = fab_schedule_lane_at (self->schedule, index);

  return fab_net_open (self->net, &(FabConnection){
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
                                      .rotation = self->schedule->rotation,
                                      .owner = self,
                                      .arg = index,
                                      .left = lane_left,
                                      .arrives = lane_arrives,
                                  });
}

static void
lane_init (FabPlay *self, guint index, const FabStepCost *cost)
{
  const FabScheduleLane *lane = fab_schedule_lane_at (self->schedule, index);
  LaneState *state = &self->lanes[index];

  state->bytes = lane->weight * (double) self->spec.bytes;
  state->n_messages = lane->n_messages;
  state->extra_ps = fab_step_cost_ps (cost, lane) - lane->hop.latency_ps;
  state->ready_ps = now_ps (self) + self->spec.once_ps;
  state->is_acked = self->gap_ps > 0 && self->gap_ps >= lane->hop.latency_ps;
  if (self->net->ops->message != NULL)
    state->line = open_line (self, index);
}

static void
prepare_schedule (FabSchedule *schedule, const FabNet *net)
{
  fab_schedule_freeze (schedule);
  fab_schedule_make_footprints (schedule, net->ops->message == NULL);
}

FabPlaySpec
fab_play_spec_of_plan (const FabCollectivePlan *plan)
{
  const FabCollectivePlanSteps *steps = &plan->steps;

  return (FabPlaySpec){
    .bytes = plan->bytes,
    .wire_factor = plan->wire_factor,
    .limit_bytes_per_s = steps->limit_bytes_per_s,
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
  self->lanes = g_new0 (LaneState, n);
  self->n_known = g_new0 (guint, schedule->feeds->len + 1);
  FabStepCost cost = fab_step_cost_find (schedule, spec);
  self->gap_ps = cost.gap_ps;
  for (guint i = 0; i < n; i++)
    lane_init (self, i, &cost);
  watch_rhythm (self);
  g_ptr_array_add (net->plays, self);
  restart_all (net);
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
  fab_rhythm_clear (&self->rhythm);
  fab_tempo_clear (&self->tempo);
  g_free (self);
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
  add_word (traits->words, (guint64) lane->hop.latency_ps);
  add_word (traits->words, (guint64) fab_step_cost_ps (cost, lane));
  add_word (traits->words, footprint->n);
  g_array_append_vals (traits->words, footprint->weights, footprint->n);
  g_array_append_vals (traits->words, footprint->line_weights, footprint->n);
  g_array_append_vals (traits->links, footprint->links, footprint->n);
}

static void
describe_feeds (const FabSchedule *schedule, GArray *words)
{
  for (guint i = 0; i < schedule->feeds->len; i++) {
    const FabFeed *feed = fab_schedule_feed_at (schedule, i);

    add_word (words, (guint64) feed->lane << 32 | feed->from);
    add_word (words, (guint64) feed->offset << 1 | (feed->is_left != FALSE));
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
  describe_feeds (schedule, traits->words);
}
