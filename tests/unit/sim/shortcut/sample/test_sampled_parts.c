/* SPDX-License-Identifier: Apache-2.0 */
/* test_sampled_parts.c - which parts of collectives are played on the finer network, and what they say of the whole,
 * where a part of b bytes takes a known time and a known number of events. As a stream b bytes take b ps.
 */
#include "tests/support/test.h"

#include "sim/shortcut/sample/sampling.h"
#include "tests/support/fake_net.h"

/* What the finer network makes of a part. */
typedef struct {
  FabBytes free_bytes; /* that take a ps each; each one more takes ... */
  FabTimePs more_ps;   /* ... so much */
  FabTimePs once_ps;
  guint per_100, power; /* events of the first 100 bytes, which grow with this power, and one for the end */
} Law;

static Law law;
static GArray *parts; /* FabBytes: that were played */

static void
do_nothing (G_GNUC_UNUSED gpointer owner, G_GNUC_UNUSED guint64 arg)
{
}

static void
play_part (FabNet *net, const FabStream *stream)
{
  FabBytes bytes = stream->bytes;
  FabBytes n_free = MIN (bytes, law.free_bytes);
  FabTimePs ps = law.once_ps + (FabTimePs) n_free + (FabTimePs) (bytes - n_free) * law.more_ps;
  guint n_events = (guint) (pow ((double) bytes / 100, law.power) * law.per_100);

  g_array_append_val (parts, bytes);
  for (guint i = 0; i < n_events; i++)
    fab_engine_after (net->env.engine, 0, do_nothing, net, 0);
  fab_engine_after (net->env.engine, ps, stream->done.fn, stream->done.owner, stream->done.arg);
}

enum { MOST_PLANS = 4, EVENTS = FAB_ENGINE_EVENTS_PER_LOOK };

/* A job, and what came of it. */
typedef struct {
  FabCollectivePlan plans[MOST_PLANS];
  const char *traffic[MOST_PLANS];
  guint n_plans;
  guint64 most_events;
  FabSamplingCount count;
  double factors[MOST_PLANS]; /* by which plans were scaled */
} Job;

static FabCollectivePlan
plan_of (Rig *rig, FabBytes bytes)
{
  FabCollectivePlan plan = rig_plan (rig, FAB_OP_ALL_REDUCE, bytes);

  plan.startup_ps = plan.latency_ps = 0;
  plan.steps.n_chunks = 1;
  plan.steps.is_pipeline = FALSE;
  return plan;
}

static void
sample (const Rig *rig, Job *job)
{
  g_autoptr (FabEngine) engine = fab_engine_new ();
  g_autoptr (GArray) collectives = g_array_new (FALSE, FALSE, sizeof (FabJobCollective));
  FabDagCollective of_dag[MOST_PLANS + 1] = { 0 };
  FabDag dag = { .collectives = of_dag, .n_collectives = job->n_plans + 1 };
  FakeNets nets = fake_nets ();

  nets.ops.stream = play_part;
  g_array_set_size (parts, 0);
  for (guint i = 0; i < job->n_plans; i++) {
    FabJobCollective collective = { &job->plans[i], job->traffic[i] };

    g_array_append_val (collectives, collective);
    of_dag[i + 1].plan = job->plans[i]; /* the first one of the job puts nothing on links */
  }
  fab_sample_collectives (&(FabSamplingEnv){ .ops = &nets.ops,
                                             .params = &nets,
                                             .env = { .engine = engine, .graph = rig->graph },
                                             .n_threads = 1,
                                             .most_events = job->most_events },
                          &dag, collectives, &job->count);
  for (guint i = 0; i < job->n_plans; i++)
    job->factors[i] = of_dag[i + 1].plan.wire_factor / job->plans[i].wire_factor;
}

enum { MOST_PARTS = 4 };

typedef struct {
  Law law;
  FabBytes bytes;
  guint64 most_events;
  FabBytes parts[MOST_PARTS];
  guint64 n_events;
  double factor; /* 0: the plan is not scaled */
} Row;

static void
assert_rows (const Row *rows, guint n_rows, FabBytesPerS gpu_bytes_per_s, guint n_chunks)
{
  g_autoptr (Rig) rig = rig_new (
      &(RigSpec){ .n_nodes = 1, .gpus_per_node = 2, .gpu_bytes_per_s = gpu_bytes_per_s });

  for (guint r = 0; r < n_rows; r++) {
    const Row *row = &rows[r];
    Job job = { .plans = { plan_of (rig, row->bytes) }, .n_plans = 1, .most_events = row->most_events };
    guint n_parts = 0;

    law = row->law;
    job.plans[0].steps.n_chunks = MAX (n_chunks, 1);
    job.plans[0].steps.is_pipeline = n_chunks > 0;
    sample (rig, &job);
    while (n_parts < MOST_PARTS && row->parts[n_parts] > 0)
      n_parts++;
    gboolean is_whole = row->factor > 0 && row->parts[n_parts - 1] == row->bytes;
    if (parts->len != n_parts)
      fail_msg ("row %u: %u parts", r, parts->len);
    for (guint i = 0; i < n_parts; i++)
      assert_int_equal (g_array_index (parts, FabBytes, i), row->parts[i]);
    assert_int_equal (job.count.n_events, row->n_events);
    assert_int_equal (job.count.n_whole, is_whole);
    assert_int_equal (job.count.n_parts, row->factor > 0 && !is_whole);
    assert_int_equal (job.count.n_skipped, row->factor <= 0);
    assert_near (job.count.least_factor, row->factor, 1e-12);
    assert_near (job.count.most_factor, row->factor, 1e-12);
    assert_near (job.factors[0], row->factor > 0 ? row->factor : 1, 1e-12);
  }
}

#define ASSERT_ROWS(rows, bytes_per_s, n_chunks) \
  assert_rows (rows, G_N_ELEMENTS (rows), bytes_per_s, n_chunks)

/* 100 bytes take 10 events and one for the end, and bytes beyond the first 1000 take 3 ps. The line through the origin
 * and the first part says 704 events of all, the line through two parts 641. */
static void
parts_grow_while_they_are_affordable (G_GNUC_UNUSED void **state)
{
  const Law convex = { 1000, 3, 0, 10, 1 }, square = { 1000, 3, 0, EVENTS, 2 };
  const double all = (1000 + 3 * 5400) / 6400.0;
  const Row rows[] = {
    { convex, 6400, 704, { 100, 6400 }, 11 + 641, all },
    { convex, 6400, 703, { 100, 400, 6400 }, 11 + 41 + 641, all },
    { convex, 6400, 641, { 100, 400, 6400 }, 11 + 41 + 641, all },
    /* From 400 to 1600 bytes the time grows from 400 to 2800 ps, so 4800 bytes more take 9600. */
    { convex, 6400, 640, { 100, 400, 1600 }, 11 + 41 + 161, (2800 + 2 * 4800) / 6400.0 },
    { convex, 6400, 161, { 100, 400, 1600 }, 11 + 41 + 161, (2800 + 2 * 4800) / 6400.0 },
    { convex, 6400, 160, { 100, 400 }, 11 + 41, 1 },
    { convex, 6400, 44, { 100, 400 }, 11 + 41, 1 },
    { convex, 6400, 43, { 100 }, 11, 1 },
    { convex, 6400, 11, { 100 }, 11, 1 },
    /* An engine looks after every so many events whether they are enough: one that needs twice as many is given up. */
    { { 1000, 3, 0, 2 * EVENTS, 1 }, 6400, EVENTS, { 100 }, EVENTS, 0 },
    /* Four times as many are expected of the second part, and it needs sixteen times as many. */
    { square, 6400, 4 * EVENTS + 4, { 100, 400 }, EVENTS + 1 + 5 * EVENTS, 1 },
    /* A byte is a collective too, and so is a part that takes no time. */
    { { 1000, 3, 0, 200 * EVENTS, 1 }, 1, EVENTS, { 1 }, EVENTS, 0 },
    { { 0, 0, 0, 10, 1 }, 6400, 160, { 100, 400 }, 11 + 41, 6000 / 6400.0 },
    /* Parts of three bytes are of one or of all. */
    { { 1000, 3, 0, 1000, 1 }, 3, 33, { 1, 3 }, 11 + 31, 1 },
    { { 1000, 3, 0, 1000, 1 }, 3, 32, { 1 }, 11, 1 },
  };

  ASSERT_ROWS (rows, FAB_PS_PER_S, 0);
}

/* A byte more takes what it takes as a stream at least, and as long where streams of all parts take the same ps. */
static void
what_is_not_played_takes_a_stream_at_least (G_GNUC_UNUSED void **state)
{
  const Row concave[] = {
    { { 400, 0, 1000, 10, 1 }, 6400, 640, { 100, 400, 1600 }, 213, (1400 + 4800) / 6400.0 }
  };
  const Row fast[] = { { { 100, 5, 10, 1000, 1 }, 64, 600, { 1, 4, 16 }, 11 + 41 + 161, 26 } };

  ASSERT_ROWS (concave, FAB_PS_PER_S, 0);
  ASSERT_ROWS (fast, 1000 * (FabBytesPerS) FAB_PS_PER_S, 0);
}

/* Of a pipeline parts are of whole chunks, of four at least; one of four chunks has none. */
static void
parts_of_pipelines_are_whole_chunks (G_GNUC_UNUSED void **state)
{
  const Law even = { 1000000, 1, 0, 1, 1 };
  const Row none[] = { { even, 6400, 8, { 100, 400 }, 2 + 5, 1 } };
  const Row five[] = { { even, 6400, 64, { 5120 }, 52, 1 } };
  const Row many[] = { { even, 6400, 50, { 256, 384, 1600 }, 3 + 4 + 17, 1 } };

  ASSERT_ROWS (none, FAB_PS_PER_S, 4);
  ASSERT_ROWS (five, FAB_PS_PER_S, 5);
  ASSERT_ROWS (many, FAB_PS_PER_S, 100);
}

/* Kinds differ in bytes or in their traffic; one without bytes is none. */
static void
kinds_are_counted_apart (G_GNUC_UNUSED void **state)
{
  g_autoptr (Rig) rig = rig_new_flat (2);
  Job job = { .plans = { plan_of (rig, 6400), plan_of (rig, 0), plan_of (rig, 6400000), plan_of (rig, 6400) },
              .n_plans = 4,
              .most_events = EVENTS,
              .count = { .n_whole = 5, .n_parts = 6, .n_skipped = 7, .n_events = 10000 } };

  law = (Law){ 1000, 3, 0, 16, 1 };
  sample (rig, &job);
  assert_int_equal (job.count.n_whole, 5 + 1);
  assert_int_equal (job.count.n_parts, 6);
  assert_int_equal (job.count.n_skipped, 7 + 1);
  assert_int_equal (job.count.n_events, 10000 + 17 + 1025 + EVENTS);
  for (guint i = 0; i < 4; i++)
    assert_near (job.factors[i], i % 3 == 0 ? 17200 / 6400.0 : 1, 1e-12);
  job.traffic[3] = "other";
  job.plans[2] = plan_of (rig, 12800);
  job.most_events = 10 * EVENTS;
  job.count = (FabSamplingCount){ 0 };
  sample (rig, &job);
  assert_int_equal (job.count.n_whole, 3);
  assert_near (job.count.least_factor, 17200 / 6400.0, 1e-12);
  assert_near (job.count.most_factor, (1000 + 3 * 11800) / 12800.0, 1e-12);
  assert_int_equal (job.count.n_events, 2 * (17 + 1025) + 33 + 2049);
}

static int
prepare (G_GNUC_UNUSED void **state)
{
  parts = g_array_new (FALSE, FALSE, sizeof (FabBytes));
  return 0;
}

static int
clean (G_GNUC_UNUSED void **state)
{
  g_array_unref (parts);
  return 0;
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (parts_grow_while_they_are_affordable),
    cmocka_unit_test (what_is_not_played_takes_a_stream_at_least),
    cmocka_unit_test (parts_of_pipelines_are_whole_chunks),
    cmocka_unit_test (kinds_are_counted_apart),
  };

  return cmocka_run_group_tests_name ("sampled_parts", tests, prepare, clean);
}
