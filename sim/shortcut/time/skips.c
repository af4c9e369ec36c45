/* SPDX-License-Identifier: Apache-2.0 */
/* skips.c - rounds of rings that repeat are not played.
 *
 * Where all lanes of a play that is alone do the same in the same interval, to the ps, they go on by whole intervals
 * (steady_period.h). Else every ring of a play goes on at a pace of its own, once that has settled (steady_pace.h): its
 * lanes wait for one another, so the ring has the pace of its slowest lane. Rings that do the same have one pace. A
 * network that can skip exactly plays a ring that is alone whole, unless it has very many messages.
 *
 * Paces hold until a lane comes near its last message, or until another event meets the network. A skip takes a time
 * that is whole for the pace that ends last; the others go on by whole messages too, and what is missing or too much is
 * owed to the next skip. Messages of plays that do not repeat go on beside them, if the network can tell at which rates
 * (FabNetOps.lasts).
 */
#include "sim/shortcut/time/skips.h"

#include <math.h>

#include "sim/collective/play/play_parts.h"
#include "sim/shortcut/time/steady_pace.h"
#include "sim/shortcut/time/steady_period.h"

/* A ring: a group of the pace. */
typedef struct {
  double owed;        /* messages that skips have not moved on by, since only whole ones are */
  double interval_ps; /* from one message of a lane to the next; 0: all lanes are over */
  guint n_left;       /* messages that each lane can skip before it comes near its last one */
  guint n_skip;       /* messages that are skipped */
} RingPace;

/* A play that is watched. */
typedef struct {
  FabPlay *play;
  FabSteadyPeriod
      exact; /* of the begins of all lanes, then of their arrivals; no items: nothing is skipped */
  FabSteadyPace
      steady;      /* where only intervals settle: of the begins of all lanes; no items: nothing is skipped */
  RingPace *paces; /* [groups of the pace] */
  guint *n_skips;  /* [lanes] messages that a skip leaves out */
  gboolean is_skip_due;
  guint64 n_changes;      /* of the network, for which the period holds */
  guint64 n_rate_changes; /* likewise, for which the pace holds */
} Watched;

static FabNet *
net_of (const Watched *self)
{
  return self->play->net;
}

static guint
n_lanes_of (const Watched *self)
{
  return self->play->schedule->lanes->len;
}

/* Whether rounds that repeat to the ps are looked for. */
static gboolean
has_period (const Watched *self)
{
  return self->exact.items != NULL;
}

/* Whether the pace of the rings is looked for. */
static gboolean
has_pace (const Watched *self)
{
  return self->steady.items != NULL;
}

/* --- rounds that repeat to the ps --- */

/* Returns how many messages the lane can send before it comes near its last one. */
static guint
count_left (const FabPlayLane *lane)
{
  const guint last = 3; /* the last messages are played */

  return lane->n_messages > lane->next + last ? lane->n_messages - lane->next - last : 0;
}

/* Returns how many messages every lane can send before one of them comes near its last one. */
static guint
count_rounds_left (const Watched *self)
{
  guint n = G_MAXUINT;

  for (guint l = 0; l < n_lanes_of (self); l++)
    n = MIN (n, count_left (&self->play->lanes[l]));
  return n;
}

/* Returns how many intervals fit before the next event that is neither of this play nor of the network; those just
 * before the event are played. */
static guint
count_free (const Watched *self, double interval_ps)
{
  const guint margin = 2;
  gconstpointer owners[] = { self->play, self->play->net };
  FabTimePs others_ps = fab_engine_next_of_others_ps (net_of (self)->env.engine, owners,
                                                      G_N_ELEMENTS (owners));
  double n_free = (double) (others_ps - fab_play_now_ps (self->play)) / interval_ps - margin;

  return (guint) CLAMP (n_free, 0, count_rounds_left (self));
}

static void
delay_events (Watched *self, FabTimePs by_ps)
{
  gconstpointer owners[] = { self->play, self->play->net };

  fab_engine_delay (net_of (self)->env.engine, owners, G_N_ELEMENTS (owners), by_ps);
}

/* Every message has begun and arrived in the same interval after the one before it for longer than any has an effect.
 * So the state is that of one interval ago, and will be that of now after the next one, as long as no other event
 * meets the network and no lane comes to its end. A skip costs about as much as an interval. */
static void
try_skip (gpointer owner, G_GNUC_UNUSED guint64 arg)
{
  const guint worth = 4;
  Watched *self = ((FabPlay *) owner)->watched;
  FabNet *net = net_of (self);
  guint n_lanes = n_lanes_of (self);

  if (self->n_changes != net->n_changes) {
    self->n_changes = net->n_changes;
    fab_steady_period_reset (&self->exact);
    return;
  }
  if (!fab_steady_period_is_steady (&self->exact) || !net->ops->skip (net, n_lanes, 0))
    return;
  guint n_rounds = count_free (self, (double) self->exact.period_ps);
  FabTimePs by_ps = (FabTimePs) n_rounds * self->exact.period_ps;
  if (n_rounds < worth)
    return;
  delay_events (self, by_ps);
  net->ops->skip (net, n_lanes, by_ps);
  for (guint l = 0; l < n_lanes; l++)
    self->n_skips[l] = n_rounds;
  fab_play_move_on (self->play, self->n_skips, by_ps);
  fab_steady_period_skip (&self->exact, by_ps);
}

/* --- paces --- */

static Watched *
play_at (const FabNet *net, guint i)
{
  return ((FabPlay *) g_ptr_array_index (net->plays, i))->watched;
}

static guint
count_lanes (const FabNet *net)
{
  guint n = 0;

  for (guint i = 0; i < net->plays->len; i++)
    n += n_lanes_of (play_at (net, i));
  return n;
}

/* Whether all lanes of the play go at one pace, as far as its last window says. */
static gboolean
is_one (const Watched *self)
{
  return self->steady.is_one;
}

/* Whether the network does nothing but one play. */
static gboolean
is_single (const FabNet *net)
{
  return net->plays->len == 1 && net->n_plays_beside == 0;
}

/* Whether the play is all that the network does, and its lanes have one pace. */
static gboolean
is_alone (const Watched *self)
{
  return is_single (net_of (self)) && is_one (self);
}

static RingPace *
pace_of (const Watched *self, guint lane)
{
  return &self->paces[self->steady.items[lane].group];
}

/* Whether some lane of the ring is not over. */
static gboolean
goes_on (const RingPace *pace)
{
  return pace->interval_ps > 0;
}

static gboolean
is_over (const Watched *self, guint lane)
{
  return self->steady.items[lane].is_over;
}

/* Returns the interval of a group of lanes; 0: they are over. */
static double
steady_pace_ps (const Watched *self, guint group)
{
  const FabSteadyPace *steady = &self->steady;

  if (steady->groups[group].n_items == 0)
    return 0;
  return is_one (self) ? steady->all.interval_ps : steady->groups[group].interval_ps;
}

static void
find_paces (Watched *self)
{
  for (guint g = 0; g < self->steady.n_groups; g++)
    self->paces[g] = (RingPace){ .owed = self->paces[g].owed,
                                 .interval_ps = steady_pace_ps (self, g),
                                 .n_left = G_MAXUINT };
}

/* --- how far all can go on --- */

/* Returns the messages of a pace in this time, with those that it is owed. */
static double
messages_in (const RingPace *pace, double by_ps)
{
  return by_ps / pace->interval_ps + pace->owed;
}

/* Whether a lane has sent its last message, and nothing more comes of it. */
static gboolean
has_passed_all (const Watched *self, guint index)
{
  const FabPlayLane *lane = &self->play->lanes[index];

  return lane->n_departed == lane->n_messages && lane->passed_ps <= fab_play_now_ps (self->play);
}

/* Counts what every pace has left. Returns FALSE if a lane is about to end. */
static gboolean
count_all_left (Watched *self)
{
  for (guint l = 0; l < n_lanes_of (self); l++) {
    RingPace *pace = pace_of (self, l);

    if (is_over (self, l) && (goes_on (pace) || !has_passed_all (self, l)))
      return FALSE;
    if (!is_over (self, l))
      pace->n_left = MIN (pace->n_left, count_left (&self->play->lanes[l]));
  }
  return TRUE;
}

/* Returns the time for which all lanes of a play can go on; 0: its paces have not settled. */
static double
play_lasts_ps (Watched *self)
{
  double lasts_ps = HUGE_VAL;

  if (!is_one (self) && !self->steady.is_settled)
    return 0;
  find_paces (self);
  if (!count_all_left (self))
    return 0;
  for (guint g = 0; g < self->steady.n_groups; g++) {
    const RingPace *pace = &self->paces[g];

    if (goes_on (pace))
      lasts_ps = MIN (lasts_ps, (pace->n_left - pace->owed) * pace->interval_ps);
  }
  return lasts_ps;
}

/* The plays and the network: whose events move together. (transfer full) */
static GPtrArray *
list_owners (FabNet *net)
{
  GPtrArray *owners = g_ptr_array_copy (net->plays, NULL, NULL);

  g_ptr_array_add (owners, net);
  return owners;
}

/* Returns for how long all plays go on, and what is beside them; 0: the pace has not settled. */
static double
plays_last_ps (FabNet *net)
{
  double last_ps = net->n_plays_beside > 0 ? (double) net->ops->lasts (net) : HUGE_VAL;

  for (guint i = 0; i < net->plays->len; i++)
    last_ps = MIN (last_ps, play_lasts_ps (play_at (net, i)));
  return last_ps;
}

/* Returns for how long no event but those of the plays and the network is due. */
static double
others_wait_ps (FabNet *net)
{
  g_autoptr (GPtrArray) owners = list_owners (net);

  return (double) (fab_engine_next_of_others_ps (net->env.engine, (const gconstpointer *) owners->pdata,
                                                 owners->len)
                   - fab_engine_now (net->env.engine));
}

/* Returns the pace of the first play that ends last: skips are whole for it. */
static const RingPace *
find_main_pace (const FabNet *net)
{
  const Watched *play = play_at (net, 0);
  const RingPace *found = NULL;

  for (guint g = 0; g < play->steady.n_groups; g++) {
    const RingPace *pace = &play->paces[g];

    if (goes_on (pace)
        && (found == NULL || pace->n_left * pace->interval_ps > found->n_left * found->interval_ps))
      found = pace;
  }
  return found;
}

/* Returns how far the messages of the paces in this time are from whole ones, at most. */
static double
find_misfit (const FabNet *net, double by_ps)
{
  double most = 0;

  for (guint i = 0; i < net->plays->len; i++) {
    const Watched *play = play_at (net, i);

    for (guint g = 0; g < play->steady.n_groups; g++) {
      double n = goes_on (&play->paces[g]) ? messages_in (&play->paces[g], by_ps) : 0;

      most = MAX (most, fabs (n - round (n)));
    }
  }
  return most;
}

/* Returns the messages of the main pace that all can skip, at most `n_most`. Of the longest skips that one is taken in
 * which all paces come closest to whole messages; of many paces some are always far from them. */
static guint
fit_messages (const FabNet *net, double interval_ps, guint n_most, guint worth)
{
  const guint share = 4, many = 64;
  const double close = 0.01;
  double least = 0.5;
  guint n_found = 0, n_groups = 0;

  for (guint i = 0; i < net->plays->len; i++)
    n_groups += play_at (net, i)->steady.n_groups;
  if (n_groups > many)
    return n_most;
  for (guint n = n_most; n >= worth && n >= n_most - n_most / share && least > close; n--) {
    double misfit = find_misfit (net, n * interval_ps);

    if (misfit < least) {
      least = misfit;
      n_found = n;
    }
  }
  return n_found;
}

/* Whether the pace of a ring is that of its slowest lanes alone. */
static gboolean
has_faster_lanes (const FabNet *net)
{
  for (guint i = 0; i < net->plays->len; i++) {
    const Watched *play = play_at (net, i);

    for (guint g = 0; !is_one (play) && g < play->steady.n_groups; g++)
      if (play->steady.groups[g].is_of_slowest)
        return TRUE;
    if (is_one (play) && play->steady.all.is_of_slowest)
      return TRUE;
  }
  return FALSE;
}

/* Whether a play that is alone, in a network that can also skip exactly, is skipped with an error: lanes that are alike
 * soon repeat to the ps, and few messages are soon played. */
static gboolean
is_worth_an_error (const FabNet *net)
{
  const guint64 many = 500000;

  return has_faster_lanes (net) && play_at (net, 0)->play->schedule->n_messages >= many;
}

/* Returns the fewest messages that are worth a skip. A skip costs about one. Where some lanes are still faster, the end
 * of a ring is less exact, which matters in a short one. */
static guint
find_worth (const FabNet *net)
{
  const guint many = 16, some = 4, few = 2;

  if (net->ops->skip != NULL && is_single (net) && !is_worth_an_error (net))
    return G_MAXUINT;
  if (has_faster_lanes (net))
    return many;
  return is_single (net) ? some : few;
}

/* Returns the time that all can skip; 0: it is not worth it. The intervals just before another event are played. */
static double
find_time_ps (FabNet *net)
{
  const guint worth = find_worth (net), window = play_at (net, 0)->steady.window;
  const double margin = 2, rounding = 1e-9;
  double free_ps = plays_last_ps (net);
  const RingPace *main = find_main_pace (net);

  if (main == NULL)
    return 0;
  free_ps = MIN (free_ps, others_wait_ps (net) - margin * main->interval_ps);
  guint n_most = free_ps > 0 ? (guint) (free_ps / main->interval_ps + rounding) : 0;
  if (n_most < worth)
    return 0;
  guint n = is_alone (play_at (net, 0)) ? n_most / window * window
                                        : fit_messages (net, main->interval_ps, n_most, worth);
  return n * main->interval_ps;
}

/* Returns the time that is skipped now; 0: nothing is. */
static FabTimePs
find_skip (FabNet *net)
{
  FabTimePs now_ps = fab_engine_now (net->env.engine);

  for (guint i = 0; net->skips_due != NULL && i < net->skips_due->len; i++) {
    FabSkip due = g_array_index (net->skips_due, FabSkip, i);

    if (due.at_ps == now_ps)
      return plays_last_ps (net) > 0 ? due.by_ps : 0;
  }
  if (net->skips_due != NULL)
    return 0;
  return (FabTimePs) (find_time_ps (net) + 0.5);
}

/* --- skips --- */

/* Returns the messages of a lane that are skipped now. */
static guint
count_skipped (const Watched *self, guint lane)
{
  return is_over (self, lane) ? 0 : pace_of (self, lane)->n_skip;
}

/* Moves all lanes of a play on, each at its pace. */
static void
skip_play (Watched *self, FabTimePs by_ps)
{
  for (guint g = 0; g < self->steady.n_groups; g++) {
    RingPace *pace = &self->paces[g];

    if (!goes_on (pace))
      continue;
    double n = messages_in (pace, (double) by_ps);
    pace->n_skip = MIN ((guint) (MAX (n, 0) + 0.5), pace->n_left);
    pace->owed = is_alone (self) ? 0 : n - pace->n_skip;
  }
  for (guint l = 0; l < n_lanes_of (self); l++) {
    self->n_skips[l] = count_skipped (self, l);
    fab_steady_pace_skip (&self->steady, l, self->n_skips[l], by_ps);
  }
  fab_play_move_on (self->play, self->n_skips, by_ps);
}

static void
skip_all (FabNet *net, FabTimePs by_ps)
{
  FabSkip made = { fab_engine_now (net->env.engine), by_ps };
  g_autoptr (GPtrArray) owners = list_owners (net);

  fab_engine_delay (net->env.engine, (const gconstpointer *) owners->pdata, owners->len, by_ps);
  for (guint i = 0; i < net->plays->len; i++) {
    Watched *play = play_at (net, i);

    skip_play (play, by_ps);
    if (is_single (net))
      fab_steady_pace_restart (&play->steady);
  }
  g_array_append_val (net->skips, made);
}

static void
restart_all (FabNet *net)
{
  for (guint i = 0; i < net->plays->len; i++) {
    Watched *play = play_at (net, i);

    play->n_rate_changes = net->n_rate_changes;
    fab_steady_pace_restart (&play->steady);
  }
}

/* Whether the window is long enough: it has a message of each lane, and two where other plays are under way. Nothing
 * may keep the network from skipping. */
static gboolean
is_window_over (const FabNet *net)
{
  const guint least = is_single (net) ? 1 : 2;

  for (guint i = 0; i < net->plays->len; i++)
    if (fab_steady_pace_fewest (&play_at (net, i)->steady) < least)
      return FALSE;
  return net->n_plays_beside == 0 || net->ops->lasts != NULL;
}

/* Returns how often the network does in this time what it has done since it was marked. */
static double
count_windows (const Watched *self, FabTimePs by_ps)
{
  if (is_alone (self))
    return round ((double) by_ps / (self->steady.window * self->steady.all.interval_ps));
  return (double) by_ps / (double) (fab_play_now_ps (self->play) - net_of (self)->marked_ps);
}

/* A window of the first play has ended. Where the pace of all has settled, the messages to come take what they take
 * now; the next window begins when the skip has ended. */
static void
try_steady (gpointer owner, G_GNUC_UNUSED guint64 arg)
{
  Watched *self = ((FabPlay *) owner)->watched;
  FabNet *net = net_of (self);

  self->is_skip_due = FALSE;
  if (play_at (net, 0) != self || !is_window_over (net))
    return;
  if (self->n_rate_changes != net->n_rate_changes) {
    restart_all (net);
    return;
  }
  for (guint i = 0; i < net->plays->len; i++)
    fab_steady_pace_measure (&play_at (net, i)->steady, is_single (net));
  FabTimePs by_ps = find_skip (net);
  gboolean is_skipped = by_ps != 0 && net->ops->repeat (net, count_windows (self, by_ps), by_ps);
  if (is_skipped)
    skip_all (net, by_ps);
  net->marked_ps = fab_play_now_ps (self->play) + (is_skipped ? by_ps : 0);
  if (!net->ops->mark (net, count_lanes (net)))
    restart_all (net);
}

/* Whether a message of this lane may end a window: one of the first lane does, as long as that has any. */
static gboolean
is_due (const Watched *self, guint index)
{
  if (!is_over (self, 0))
    return index == 0 && fab_steady_pace_is_due (&self->steady);
  return fab_steady_pace_is_full (&self->steady);
}

static void
note_begin (Watched *self, guint index, FabTimePs begin_ps)
{
  const FabPlayLane *lane = &self->play->lanes[index];

  fab_steady_pace_note (&self->steady, index, begin_ps);
  if (lane->next == lane->n_messages) {
    fab_steady_pace_end (&self->steady, index);
    net_of (self)->n_rate_changes++;
  }
  if (self->is_skip_due || play_at (net_of (self), 0) != self || !is_due (self, index))
    return;
  self->is_skip_due = TRUE;
  fab_engine_after (net_of (self)->env.engine, 0, try_steady, self->play, 0);
}

static void
message_begins (gpointer watched, guint index, FabTimePs begin_ps)
{
  Watched *self = watched;

  if (has_pace (self))
    note_begin (self, index, begin_ps);
  if (!has_period (self))
    return;
  fab_steady_period_note (&self->exact, index, begin_ps);
  if (index > 0 || self->is_skip_due || !fab_steady_period_is_steady (&self->exact))
    return;
  fab_engine_after (net_of (self)->env.engine, 0, try_skip, self->play, 0);
}

static void
message_arrives (gpointer watched, guint index, FabTimePs at_ps)
{
  Watched *self = watched;

  if (has_period (self))
    fab_steady_period_note (&self->exact, n_lanes_of (self) + index, at_ps);
}

/* --- what is watched --- */

/* Returns the first lane of the ring that this one is in, as far as known. */
static guint
first_of (guint *firsts, guint l)
{
  while (firsts[l] != l)
    l = firsts[l] = firsts[firsts[l]];
  return l;
}

static void
join (guint *firsts, guint l, guint other)
{
  guint a = first_of (firsts, l), b = first_of (firsts, other);

  firsts[MAX (a, b)] = MIN (a, b);
}

/* Puts the lanes of every ring into a group. */
static void
watch_paces (Watched *self, guint window)
{
  guint n_lanes = n_lanes_of (self), n_groups = 0;
  g_autofree guint *firsts = g_new (guint, n_lanes), *numbers = g_new (guint, n_lanes);

  for (guint l = 0; l < n_lanes; l++)
    firsts[l] = l;
  for (guint l = 0; l < n_lanes; l++) {
    const FabWaitList *list = fab_schedule_list_of (self->play->schedule, l);

    for (guint i = list->start; i < list->end; i++)
      join (firsts, fab_schedule_dependency_at (self->play->schedule, i)->from, l);
  }
  for (guint l = 0; l < n_lanes; l++)
    numbers[l] = firsts[l] == l ? n_groups++ : numbers[first_of (firsts, l)];
  fab_steady_pace_init (&self->steady, n_lanes, n_groups, window);
  for (guint l = 0; l < n_lanes; l++)
    self->steady.items[l].group = numbers[l];
  self->paces = g_new0 (RingPace, n_groups);
}

/* Looks for rounds that repeat, where there can be enough of them: those of rings, which wait in a circle. A machine
 * that is not folded is played message by message. */
static void
watch (Watched *self)
{
  const gboolean is_exact = net_of (self)->ops->skip != NULL; /* where only one play is under way */
  const guint many = 16, few = is_exact ? 64 : 10;            /* rounds */
  const guint windows = 32, least_window = 2, most_window = 4;
  guint n_lanes = n_lanes_of (self), n_left = count_rounds_left (self);
  FabTimePs memory_ps = 0;

  if (fab_graph_is_unfolded (net_of (self)->env.graph))
    return;
  if (net_of (self)->ops->mark != NULL && self->play->schedule->has_offsets && n_left >= few)
    watch_paces (self, is_exact ? CLAMP (n_left / windows, least_window, most_window) : least_window);
  if (!is_exact || n_left < many)
    return;
  for (guint l = 0; l < n_lanes; l++)
    memory_ps = MAX (memory_ps, fab_schedule_lane_at (self->play->schedule, l)->hop.latency_ps
                                    + self->play->lanes[l].extra_ps);
  fab_steady_period_init (&self->exact, 2 * n_lanes, memory_ps + self->play->gap_ps);
}

static gpointer
play_begins (FabPlay *play)
{
  FabNet *net = play->net;
  Watched *self = g_new0 (Watched, 1);

  self->play = play;
  watch (self);
  if (has_pace (self) || has_period (self))
    self->n_skips = g_new0 (guint, n_lanes_of (self));
  if (has_pace (self))
    g_ptr_array_add (net->plays, play);
  else
    net->n_plays_beside++;
  play->watched = self;
  restart_all (net);
  return self;
}

static gboolean
play_repeats (gconstpointer watched)
{
  return has_pace (watched);
}

static void
play_ends (gpointer watched)
{
  Watched *self = watched;
  FabNet *net = net_of (self);

  if (has_pace (self))
    g_ptr_array_remove (net->plays, self->play);
  else
    net->n_plays_beside--;
  restart_all (net);
}

static void
play_clear (gpointer watched)
{
  Watched *self = watched;

  fab_steady_period_clear (&self->exact);
  fab_steady_pace_clear (&self->steady);
  g_free (self->paces);
  g_free (self->n_skips);
  g_free (self);
}

const FabMessageWatch fab_skips_watch = {
  .begins = play_begins,
  .repeats = play_repeats,
  .message_begins = message_begins,
  .message_arrives = message_arrives,
  .ends = play_ends,
  .clear = play_clear,
};
