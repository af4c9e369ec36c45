/* SPDX-License-Identifier: Apache-2.0 */
/* test_plays.c - when every message of a play ends, held against the definition of a schedule; what the links have
 * carried then; and how a plan is played.
 *
 * Each lane of the random schedules has two GPUs of its own, so that no message slows another one: message k of a lane
 * begins when the one before has left, and when everything for which it waits has come. It leaves when its bytes have
 * passed, arrives a latency later, and is passed on when its step has cost what it costs.
 */
#include "tests/support/test.h"

#include "sim/collective/play/play.h"
#include "sim/collective/play/schedule_parts.h"
#include "sim/collective/play/step_cost.h"
#include "sim/shortcut/time/skips.h"
#include "tests/support/random.h"
#include "tests/support/rig.h"
#include "tests/support/seeds.h"

enum { MOST_LANES = 10, MOST_MESSAGES = 5, LATENCY_PS = 100, BYTES = 16000 };

typedef struct {
  guint lane, from, offset;
  gboolean is_departure;
} Wait;

typedef struct {
  guint n_lanes, n_waits;
  guint n_messages[MOST_LANES], likes[MOST_LANES]; /* itself: it shares the list of no other lane */
  double weights[MOST_LANES];
  Wait waits[MOST_LANES * MOST_LANES];
  gboolean has_offsets, has_known[MOST_LANES][MOST_MESSAGES];
  FabTimePs left_ps[MOST_LANES][MOST_MESSAGES], passed_ps[MOST_LANES][MOST_MESSAGES];
} Plan;

/* --- what is planned --- */

static gboolean
has_waits (const Plan *plan, guint lane)
{
  for (guint w = 0; w < plan->n_waits; w++)
    if (plan->waits[w].lane == lane)
      return TRUE;
  return FALSE;
}

/* Lanes of one message each, which may wait for a departure or share a list; or of several. */
static void
draw_waits (Random *random, Plan *plan, gboolean is_single)
{
  for (guint i = 0; i < 2 * plan->n_lanes; i++) {
    guint lane = random_below (random, plan->n_lanes), from = random_below (random, plan->n_lanes);
    guint offset = is_single ? 0 : from >= lane ? 1 : random_below (random, 2);

    if (plan->n_messages[lane] > plan->n_messages[from] + offset || (offset == 0 && from >= lane))
      continue;
    plan->waits[plan->n_waits++] = (Wait){ lane, from, offset, is_single && random_chance (random, 25) };
    plan->has_offsets = plan->has_offsets || offset > 0;
  }
  for (guint i = 1; is_single && i < plan->n_lanes; i++) {
    guint other = random_below (random, i);

    if (plan->likes[other] == other && has_waits (plan, other) && !has_waits (plan, i))
      plan->likes[i] = other;
  }
}

static void
draw_plan (Random *random, Plan *plan)
{
  gboolean is_single = random_chance (random, 40), is_even = random_chance (random, 50);
  guint n_messages = random_between (random, 1, MOST_MESSAGES);

  *plan = (Plan){ .n_lanes = random_between (random, 1, MOST_LANES) };
  for (guint i = 0; i < plan->n_lanes; i++) {
    plan->likes[i] = i;
    plan->weights[i] = 0.125 * random_between (random, 1, 8);
    plan->n_messages[i] = is_single ? 1 : is_even ? n_messages : random_between (random, 1, MOST_MESSAGES);
  }
  draw_waits (random, plan, is_single);
}

/* On two links of such a rate from each GPU to each other, which take that time together. */
static Rig *
pairs_with (FabBytesPerS bytes_per_s, FabTimePs latency_ps)
{
  return rig_new (&(RigSpec){ .n_nodes = 1,
                              .gpus_per_node = 2 * MOST_LANES,
                              .gpu_bytes_per_s = bytes_per_s,
                              .gpu_latency_ps = latency_ps / 2 });
}

static Rig *
pairs (void)
{
  return pairs_with (FAB_PS_PER_S, LATENCY_PS);
}

static FabSchedule *
schedule_of (const Plan *plan, const Rig *rig)
{
  FabSchedule *schedule = fab_schedule_new (&rig->cluster);
  FabGroup group = rig_group (rig);

  for (guint i = 0; i < plan->n_lanes; i++) {
    FabHop hop;

    assert_true (fab_hop_ranks (&group, 2 * i, 2 * i + 1, &hop, NULL));
    assert_int_equal (fab_schedule_lane (schedule, &hop, 1, plan->weights[i], plan->n_messages[i]), i);
  }
  for (guint w = 0; w < plan->n_waits; w++) {
    const Wait *wait = &plan->waits[w];

    if (wait->is_departure)
      fab_schedule_depend_on_departure (schedule, wait->lane, wait->from);
    else
      fab_schedule_depend (schedule, wait->lane, wait->from, wait->offset);
  }
  for (guint i = 0; i < plan->n_lanes; i++)
    if (plan->likes[i] != i)
      fab_schedule_depend_like (schedule, i, plan->likes[i]);
  return schedule;
}

/* --- the definition --- */

typedef struct {
  Plan *plan;
  const FabPlaySpec *spec;
  FabTimePs cost_ps, gap_ps; /* of a step, wires included; from one message of a lane to the next */
} Reference;

/* Payload bytes per ps. A limit holds for lanes whose bytes come from nowhere else; where every lane sends once, after
 * others, all are as much slower as the collective is. */
static double
rate_of (const Reference *self, guint lane)
{
  const Plan *plan = self->plan;
  const FabPlaySpec *spec = self->spec;
  double line = 1 / spec->wire_factor, limit = spec->limit_bytes_per_s / (double) FAB_PS_PER_S;

  if (limit <= 0)
    return line;
  if (!spec->is_pipeline && plan->n_waits > 0 && !plan->has_offsets)
    return line * MIN (spec->limit_bytes_per_s / spec->free_bytes_per_s, 1);
  for (guint w = 0; w < plan->n_waits; w++)
    if (plan->waits[w].lane == plan->likes[lane] && plan->waits[w].offset == 0)
      return line;
  return MIN (line, plan->weights[lane] * plan->n_messages[lane] * limit);
}

static void
find_times (const Reference *self, guint lane, guint number)
{
  Plan *plan = self->plan;
  FabTimePs begin_ps = self->spec->once_ps;

  if (plan->has_known[lane][number])
    return;
  if (number > 0) {
    find_times (self, lane, number - 1);
    begin_ps = MAX (begin_ps, plan->left_ps[lane][number - 1] + self->gap_ps);
  }
  for (guint w = 0; w < plan->n_waits; w++) {
    const Wait *wait = &plan->waits[w];

    if (wait->lane != plan->likes[lane] || number < wait->offset)
      continue;
    find_times (self, wait->from, number - wait->offset);
    begin_ps = MAX (begin_ps, (wait->is_departure ? plan->left_ps
                                                  : plan->passed_ps)[wait->from][number - wait->offset]);
  }
  plan->left_ps[lane][number] = begin_ps
                              + (FabTimePs) (plan->weights[lane] * BYTES / rate_of (self, lane) + 0.5);
  plan->passed_ps[lane][number] = plan->left_ps[lane][number] + MAX (self->cost_ps, LATENCY_PS);
  plan->has_known[lane][number] = TRUE;
}

static FabTimePs
end_of (const Reference *self)
{
  FabTimePs end_ps = 0;

  memset (self->plan->has_known, 0, sizeof self->plan->has_known);
  for (guint lane = 0; lane < self->plan->n_lanes; lane++)
    for (guint number = 0; number < self->plan->n_messages[lane]; number++) {
      find_times (self, lane, number);
      end_ps = MAX (end_ps, self->plan->passed_ps[lane][number]);
    }
  return end_ps;
}

/* --- the play --- */

static void
note_end (gpointer owner, G_GNUC_UNUSED guint64 arg)
{
  fab_engine_stop (owner);
}

static void
assert_loads (const Rig *rig, const Plan *plan, const FabLinkLoad *loads)
{
  for (guint rank = 0; rank < 2 * MOST_LANES; rank++) {
    guint lane = rank / 2;
    double expected = lane < plan->n_lanes ? plan->weights[lane] * plan->n_messages[lane] * BYTES : 0;
    FabLinkId out;

    fab_graph_out_links (rig->graph, rig_gpu (rig, rank), &out);
    FabLinkId in = fab_graph_link (rig->graph, out)->reverse;
    assert_near (loads[rank % 2 == 0 ? out : in].payload_bytes, expected, 1e-9);
    assert_near (loads[rank % 2 == 0 ? in : out].payload_bytes, 0, 0);
  }
}

static void
check_on (const FabNetOps *ops, const Rig *rig, Plan *plan, FabSchedule *schedule, FabPlaySpec spec,
          FabTimePs tolerance_ps)
{
  RigNet net = rig_net (rig, ops);
  g_autofree FabLinkLoad *loads = g_new (FabLinkLoad, fab_graph_n_links (rig->graph));
  FabStepCost cost;

  spec.done = (FabDone){ note_end, net.engine, 0 };
  fab_schedule_freeze (schedule);
  cost = fab_step_cost_find (schedule, &spec);
  FabTimePs expected_ps = end_of (
      &(Reference){ plan, &spec, fab_step_cost_ps (&cost, fab_schedule_lane_at (schedule, 0)), cost.gap_ps });
  g_autoptr (FabPlay) play = fab_play_new (schedule, net.net, &spec);
  fab_engine_run (net.engine);
  FabTimePs end_ps = fab_engine_now (net.engine);
  if (ABS (end_ps - expected_ps) > tolerance_ps)
    fail_msg ("%s: %" G_GINT64_FORMAT " ps instead of %" G_GINT64_FORMAT, ops->info.name, end_ps,
              expected_ps);
  fab_meter_take (net.net->meter, loads);
  assert_loads (rig, plan, loads);
  rig_net_clear (&net);
}

/* Every schedule twice over, because one may be played several times. */
static void
check_plan (Random *random)
{
  static const FabNetOps *const nets[] = { &fab_net_step, &fab_net_fluid, &fab_net_analytic };
  g_autoptr (Rig) rig = pairs ();
  FabPlaySpec spec = { .bytes = BYTES,
                       .wire_factor = random_chance (random, 30) ? 2 : 1,
                       .share = 1,
                       .is_pipeline = random_chance (random, 50),
                       .free_bytes_per_s = FAB_PS_PER_S,
                       .once_ps = random_chance (random, 50) ? 12345 : 0,
                       .steps_ps = random_chance (random, 50) ? random_between (random, 1, 100000) : 0,
                       .intra_cost = 1,
                       .inter_cost = 2 };
  Plan plan;

  draw_plan (random, &plan);
  g_autoptr (FabSchedule) schedule = schedule_of (&plan, rig);
  for (guint i = 0; i < G_N_ELEMENTS (nets); i++)
    check_on (nets[i], rig, &plan, schedule, spec, 0);
  spec.wire_factor = 1;
  spec.limit_bytes_per_s = 0.0625 * random_between (random, 1, 20) * (double) FAB_PS_PER_S;
  check_on (&fab_net_step, rig, &plan, schedule, spec, MOST_LANES * MOST_MESSAGES);
}

static void
messages_go_when_everything_has_come (G_GNUC_UNUSED void **state)
{
  seeds_run (400, check_plan);
}

/* A ring of four GPUs, of which every second one sends half as much as the others. */
static FabSchedule *
uneven_ring (const Rig *rig, guint n_rounds)
{
  FabSchedule *schedule = fab_schedule_new (&rig->cluster);
  FabGroup group = rig_group (rig);

  for (guint i = 0; i < 4; i++) {
    FabHop hop;

    assert_true (fab_hop_ranks (&group, i, (i + 1) % 4, &hop, NULL));
    fab_schedule_lane (schedule, &hop, 1, i % 2 == 0 ? 1 : 0.5, n_rounds);
  }
  for (guint i = 0; i < 4; i++)
    fab_schedule_depend (schedule, (i + 1) % 4, i, 1);
  return schedule;
}

/* Links have carried all messages, also those that were skipped on a network that counts by itself. */
static void
skipped_messages_are_counted (G_GNUC_UNUSED void **state)
{
  enum { ROUNDS = 400 };
  static const FabNetOps *const nets[] = { &fab_net_packet, &fab_net_step };
  g_autoptr (Rig) rig = pairs ();
  guint64 n_events[2];

  for (guint i = 0; i < G_N_ELEMENTS (nets); i++) {
    for (guint skips = 0; skips < 2; skips++) {
      g_autoptr (FabSchedule) schedule = uneven_ring (rig, ROUNDS);
      g_autofree FabLinkLoad *loads = g_new (FabLinkLoad, fab_graph_n_links (rig->graph));
      RigNet net = rig_net (rig, nets[i]);
      const FabPlaySpec spec = { .bytes = 1000,
                                 .wire_factor = 1,
                                 .share = 1,
                                 .watch = skips ? &fab_skips_watch : NULL,
                                 .done = { note_end, net.engine, 0 } };
      g_autoptr (FabPlay) play = fab_play_new (schedule, net.net, &spec);

      fab_engine_run (net.engine);
      n_events[skips] = fab_engine_events (net.engine);
      fab_meter_take (net.net->meter, loads);
      for (guint rank = 0; rank < 4; rank++) {
        FabLinkId out;

        fab_graph_out_links (rig->graph, rig_gpu (rig, rank), &out);
        assert_near (loads[out].payload_bytes, ROUNDS * (rank % 2 == 0 ? 1000 : 500), 1e-9);
      }
      rig_net_clear (&net);
    }
    if (n_events[1] >= n_events[0] / 4)
      fail_msg ("%s: %" G_GUINT64_FORMAT " events of %" G_GUINT64_FORMAT, nets[i]->info.name, n_events[1],
                n_events[0]);
  }
}

/* A lane that waits for nothing but a message that will be passed on later is told at once, so that no event is needed
 * for that: one for the departure of each message, and one for its arrival. */
static void
a_message_takes_two_events (G_GNUC_UNUSED void **state)
{
  g_autoptr (Rig) rig = pairs ();
  g_autoptr (FabSchedule) schedule = fab_schedule_new (&rig->cluster);
  FabGroup group = rig_group (rig);
  RigNet net = rig_net (rig, &fab_net_step);
  enum { N = 10 };

  for (guint i = 0; i < N; i++) {
    FabHop hop;

    assert_true (fab_hop_ranks (&group, 2 * i, 2 * i + 1, &hop, NULL));
    fab_schedule_lane (schedule, &hop, 1, 1, 1);
    if (i > 0)
      fab_schedule_depend (schedule, i, i - 1, 0);
  }
  g_autoptr (FabPlay) play = fab_play_new (schedule, net.net,
                                           &(FabPlaySpec){ .bytes = 1000,
                                                           .wire_factor = 1,
                                                           .share = 1,
                                                           .steps_ps = N * 500,
                                                           .intra_cost = 1,
                                                           .inter_cost = 1,
                                                           .done = { note_end, net.engine, 0 } });
  fab_engine_run (net.engine);
  assert_int_equal (fab_engine_now (net.engine), N * 1500);
  assert_true (fab_engine_events (net.engine) <= 2 * N + 1); /* one for the end of all */
  rig_net_clear (&net);
}

/* --- buffers on the way --- */

enum { WAIT_PS = 1000 };

/* A network on which a message takes as many ps to leave as it has bytes, and waits in buffers on its way. */
typedef struct {
  FabNet base;
  FabTimePs last_begin_ps; /* of the first line */
} BufferedNet;

struct _FabNetLine {
  BufferedNet *net;
  FabConnection connection;
};

static FabNet *
buffered_new (const FabNetOps *ops, const FabNetEnv *net_env)
{
  BufferedNet *self = g_new0 (BufferedNet, 1);

  fab_net_init (&self->base, ops, net_env);
  return &self->base;
}

static void
buffered_destroy (FabNet *net)
{
  fab_net_clear (net);
  g_free (net);
}

static FabNetLine *
buffered_open (FabNet *net, const FabConnection *connection)
{
  FabNetLine *line = g_new0 (FabNetLine, 1);

  *line = (FabNetLine){ (BufferedNet *) net, *connection };
  return line;
}

static void
buffered_close (G_GNUC_UNUSED FabNet *net, FabNetLine *line)
{
  g_free (line);
}

static void
message_arrives (gpointer owner, G_GNUC_UNUSED guint64 arg)
{
  const FabNetLine *line = owner;

  line->connection.arrives (line->connection.owner, line->connection.arg,
                            fab_engine_now (line->net->base.env.engine));
}

static void
message_leaves (gpointer owner, G_GNUC_UNUSED guint64 arg)
{
  FabNetLine *line = owner;

  fab_engine_after (line->net->base.env.engine, WAIT_PS + line->connection.latency_ps, message_arrives, line,
                    0);
  line->connection.left (line->connection.owner, line->connection.arg);
}

static void
buffered_message (FabNet *net, FabNetLine *line, double bytes, FabTimePs begin_ps)
{
  if (line->connection.arg == 0)
    line->net->last_begin_ps = begin_ps;
  fab_engine_at (net->env.engine, begin_ps + (FabTimePs) bytes, message_leaves, line, 0);
}

/* Two messages of a lane. Where a step costs more than the wires, its cost counts from the arrival less the wires, so
 * that the second one does not begin while the first waits; otherwise it counts from the departure. */
static void
buffers_do_not_hide_the_cost_of_a_step (G_GNUC_UNUSED void **state)
{
  static const struct {
    FabTimePs latency_ps, steps_ps, begin_ps; /* of the wires; of two steps; of the second message */
  } rows[] = {
    { 0, 0, BYTES },
    { LATENCY_PS, 0, BYTES },
    { LATENCY_PS, LATENCY_PS / 2, BYTES + LATENCY_PS / 2 },
    { LATENCY_PS, 2 * LATENCY_PS, BYTES + WAIT_PS + LATENCY_PS },
    { LATENCY_PS, 4 * LATENCY_PS, BYTES + WAIT_PS + 2 * LATENCY_PS },
  };
  const FabNetOps ops = { .info = { .name = "buffered" },
                          .open = buffered_open,
                          .message = buffered_message,
                          .close = buffered_close,
                          .destroy = buffered_destroy };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autoptr (Rig) rig = pairs_with (FAB_PS_PER_S, rows[i].latency_ps);
    Plan plan = { .n_lanes = 2,
                  .n_waits = 1,
                  .n_messages = { 2, 2 },
                  .likes = { 0, 1 },
                  .weights = { 1, 1 },
                  .waits = { { 1, 0, 1, FALSE } } };
    g_autoptr (FabSchedule) schedule = schedule_of (&plan, rig);
    FabEngine *engine = fab_engine_new ();
    FabNet *net = buffered_new (&ops, &(FabNetEnv){ engine, rig->graph, rig->router, 1 });
    FabPlay *play = fab_play_new (schedule, net,
                                  &(FabPlaySpec){ .bytes = BYTES,
                                                  .wire_factor = 1,
                                                  .share = 1,
                                                  .steps_ps = rows[i].steps_ps,
                                                  .intra_cost = 1,
                                                  .inter_cost = 1,
                                                  .done = { note_end, engine, 0 } });

    fab_engine_run (engine);
    assert_int_equal (((const BufferedNet *) net)->last_begin_ps, rows[i].begin_ps);
    fab_play_free (play);
    fab_net_destroy (net);
    fab_engine_free (engine);
  }
}

/* --- how a plan is played --- */

static FabSchedule *
make_nothing (G_GNUC_UNUSED gconstpointer owner, G_GNUC_UNUSED const FabCollectivePlan *plan)
{
  return NULL;
}

/* Messages need a network that has some, a plan that knows how to make them, and bytes. */
static void
a_plan_is_played_as_messages_where_there_are_some (G_GNUC_UNUSED void **state)
{
  static const struct {
    const FabNetOps *ops;
    gboolean makes;
    FabBytes bytes;
    gboolean expected;
  } rows[] = { { &fab_net_step, TRUE, 1, TRUE },
               { &fab_net_step, FALSE, 1, FALSE },
               { &fab_net_step, TRUE, 0, FALSE },
               { &fab_net_packet, TRUE, 1000, TRUE },
               { &fab_net_fluid, TRUE, 1, FALSE } };
  g_autoptr (Rig) rig = pairs ();

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    RigNet net = rig_net (rig, rows[i].ops);
    const FabCollectivePlan plan = { .bytes = rows[i].bytes,
                                     .steps.make = rows[i].makes ? make_nothing : NULL };

    assert_int_equal (fab_play_has_messages (net.net, &plan), rows[i].expected);
    rig_net_clear (&net);
  }
}

/* What neither steps nor the fill of a pipeline cost comes once, before the first message. */
static void
a_play_is_what_the_plan_says (G_GNUC_UNUSED void **state)
{
  const FabFootprint footprint = { .rate_bytes_per_s = 300 };
  FabCollectivePlan plan = { .bytes = 77,
                             .footprint = &footprint,
                             .startup_ps = 1000,
                             .wire_factor = 1.5,
                             .n_connections = 5,
                             .steps = { .steps_ps = 600,
                                        .fill_ps = 150,
                                        .is_pipeline = TRUE,
                                        .intra_cost = 2,
                                        .inter_cost = 3,
                                        .pace_bytes_per_s = 40 } };
  FabPlaySpec spec = fab_play_spec_of_plan (&plan);

  assert_int_equal (spec.bytes, 77);
  assert_near (spec.wire_factor, 1.5, 0);
  assert_near (spec.limit_bytes_per_s, 40, 0);
  assert_near (spec.free_bytes_per_s, 200, 1e-15);
  assert_true (spec.is_pipeline);
  assert_int_equal (spec.share, 5);
  assert_int_equal (spec.once_ps, 250);
  assert_int_equal (spec.steps_ps, 600);
  assert_near (spec.intra_cost, 2, 0);
  assert_near (spec.inter_cost, 3, 0);
  assert_null (spec.watch);
  plan.steps.steps_ps = 900;
  assert_int_equal (fab_play_spec_of_plan (&plan).once_ps, 0);
}

/* What a play will put on its links can be told before. */
static void
a_description_counts_what_links_carry (G_GNUC_UNUSED void **state)
{
  g_autoptr (Rig) rig = pairs ();
  Plan plan = { .n_lanes = 2, .n_messages = { 1, 3 }, .likes = { 0, 1 }, .weights = { 0.5, 0.25 } };
  g_autoptr (FabSchedule) schedule = schedule_of (&plan, rig);
  const FabPlaySpec spec = { .bytes = BYTES, .wire_factor = 1, .share = 1 };

  for (guint has_words = 0; has_words < 2; has_words++) {
    g_autofree FabLinkLoad *loads = g_new (FabLinkLoad, fab_graph_n_links (rig->graph));
    RigNet net = rig_net (rig, &fab_net_step);
    g_autoptr (GArray) words = g_array_new (FALSE, FALSE, sizeof (guint64));
    g_autoptr (GArray) links = g_array_new (FALSE, FALSE, sizeof (FabLinkId));
    FabMeter *meter = fab_meter_new (rig->graph);
    FabPlayTraits traits = { has_words ? words : NULL, links, meter, TRUE };

    fab_play_describe (schedule, net.net, &spec, &traits);
    fab_meter_take (meter, loads);
    assert_loads (rig, &plan, loads);
    assert_int_equal (words->len > 0, has_words);
    assert_int_equal (links->len, has_words ? 4 : 0); /* two of each lane */
    assert_true (traits.is_separable);
    fab_meter_free (meter);
    rig_net_clear (&net);
  }
}

/* The words of a description. (transfer full) */
static GArray *
words_of (const Rig *rig, const Plan *plan, const FabPlaySpec *spec)
{
  g_autoptr (FabSchedule) schedule = schedule_of (plan, rig);
  RigNet net = rig_net (rig, &fab_net_step);
  GArray *words = g_array_new (FALSE, FALSE, sizeof (guint64));
  g_autoptr (GArray) links = g_array_new (FALSE, FALSE, sizeof (FabLinkId));
  FabMeter *meter = fab_meter_new (rig->graph);
  FabPlayTraits traits = { words, links, meter, TRUE };

  fab_play_describe (schedule, net.net, spec, &traits);
  fab_meter_free (meter);
  rig_net_clear (&net);
  return words;
}

/* Three lanes, of which the last waits for the second. */
static Plan
described_plan (void)
{
  return (Plan){ .n_lanes = 3,
                 .n_waits = 1,
                 .n_messages = { 1, 1, 1 },
                 .likes = { 0, 1, 2 },
                 .weights = { 0.5, 0.25, 0.25 },
                 .waits = { { 2, 1, 0, FALSE } } };
}

static void
change_plan (guint which, Plan *plan)
{
  switch (which) {
  case 0: plan->weights[0] = 0.75; break;
  case 1: plan->n_messages[0] = 2; break;
  case 2: plan->waits[0].from = 0; break;
  case 3: plan->waits[0].offset = 1; break;
  case 4: plan->waits[0].is_departure = TRUE; break;
  case 5:
    plan->waits[0].lane = 1;
    plan->waits[0].from = 0;
    break;
  case 6: plan->n_waits = 0; break;
  default: plan->n_lanes = 2; plan->n_waits = 0;
  }
}

enum { N_PLAN_CHANGES = 8 };

/* Plays that differ in anything have other descriptions, and those of equal plays are equal. */
static void
what_a_play_depends_on_is_described (G_GNUC_UNUSED void **state)
{
  const FabPlaySpec base = { .bytes = BYTES,
                             .wire_factor = 1,
                             .limit_bytes_per_s = 1e11,
                             .free_bytes_per_s = 1e12,
                             .is_pipeline = TRUE,
                             .share = 1,
                             .once_ps = 5,
                             .steps_ps = 1000,
                             .intra_cost = 1,
                             .inter_cost = 1 };
  FabPlaySpec specs[] = { base, base, base, base, base, base };
  g_autoptr (Rig) rig = pairs (), slow = pairs_with (FAB_PS_PER_S / 2, LATENCY_PS),
                  late = pairs_with (FAB_PS_PER_S, 2 * LATENCY_PS);
  const Plan plan = described_plan ();
  g_autoptr (GPtrArray) all = g_ptr_array_new_with_free_func ((GDestroyNotify) g_array_unref);

  specs[0].bytes = 2 * BYTES;
  specs[1].wire_factor = 1.5;
  specs[2].limit_bytes_per_s = 2e11;
  specs[3].share = 2;
  specs[4].once_ps = 6;
  specs[5].steps_ps = 1001;
  g_ptr_array_add (all, words_of (rig, &plan, &base));
  g_ptr_array_add (all, words_of (slow, &plan, &base));
  g_ptr_array_add (all, words_of (late, &plan, &base));
  for (guint i = 0; i < G_N_ELEMENTS (specs); i++)
    g_ptr_array_add (all, words_of (rig, &plan, &specs[i]));
  for (guint i = 0; i < N_PLAN_CHANGES; i++) {
    Plan changed = described_plan ();

    change_plan (i, &changed);
    g_ptr_array_add (all, words_of (rig, &changed, &base));
  }
  for (guint a = 0; a < all->len; a++)
    for (guint b = 0; b < all->len; b++) {
      const GArray *x = g_ptr_array_index (all, a), *y = g_ptr_array_index (all, b);

      if ((x->len == y->len && memcmp (x->data, y->data, x->len * sizeof (guint64)) == 0) != (a == b))
        fail_msg ("%u and %u", a, b);
    }
  g_autoptr (GArray) again = words_of (rig, &plan, &base);
  const GArray *first = g_ptr_array_index (all, 0);
  assert_int_equal (again->len, first->len);
  assert_memory_equal (again->data, first->data, first->len * sizeof (guint64));
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    seeds_test (messages_go_when_everything_has_come),
    cmocka_unit_test (skipped_messages_are_counted),
    cmocka_unit_test (a_message_takes_two_events),
    cmocka_unit_test (buffers_do_not_hide_the_cost_of_a_step),
    cmocka_unit_test (a_plan_is_played_as_messages_where_there_are_some),
    cmocka_unit_test (a_play_is_what_the_plan_says),
    cmocka_unit_test (a_description_counts_what_links_carry),
    cmocka_unit_test (what_a_play_depends_on_is_described),
  };

  return cmocka_run_group_tests_name ("plays", tests, NULL, NULL);
}
