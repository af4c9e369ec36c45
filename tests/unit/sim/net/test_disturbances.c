/* SPDX-License-Identifier: Apache-2.0 */
/* test_disturbances.c - when links lose their rate and get it back, what bursts are in the mean, when transfers of
 * others begin, and when a run that they alone keep going is stopped. What that does to a job: test_faults.c. */
#include "tests/support/test.h"

#include "sim/net/disturbances.h"
#include "tests/support/fake_net.h"

/* What the network was asked: capacities of links, and streams. */
typedef struct {
  FabTimePs at_ps;
  FabLinkId link;
  double fraction;
} Change;

typedef struct {
  FabTimePs at_ps;
  FabStream stream;
} Start;

static GArray *changes, *starts;
static void (*begin_stream) (FabNet *net, const FabStream *stream);

static void
note_capacity (FabNet *net, FabLinkId link, double fraction)
{
  Change change = { fab_engine_now (net->env.engine), link, fraction };

  g_array_append_val (changes, change);
}

static void
note_stream (FabNet *net, const FabStream *stream)
{
  Start start = { fab_engine_now (net->env.engine), *stream };

  g_array_append_val (starts, start);
  begin_stream (net, stream);
}

static gboolean
ask_never (G_GNUC_UNUSED gconstpointer owner)
{
  return FALSE;
}

/* Says that the run is stuck from the n-th question on. */
typedef struct {
  gint n_asked, stuck_from;
} Questions;

static gboolean
ask_counted (gconstpointer owner)
{
  Questions *questions = (Questions *) owner;

  return ++questions->n_asked >= questions->stuck_from;
}

/* A network of as many accelerators as asked for on one switch, on which a stream takes as many ps as it has bytes. */
typedef struct {
  Rig *rig;
  FakeNets nets;
  FabEngine *engine;
  FabNet *net;
  FabDisturbancesPlan *plan;
  FabDisturbances *disturbances;
} Scene;

static void
scene_init (Scene *self, guint n_gpus)
{
  changes = g_array_new (FALSE, FALSE, sizeof (Change));
  starts = g_array_new (FALSE, FALSE, sizeof (Start));
  self->rig = rig_new_flat (n_gpus);
  self->nets = fake_nets ();
  begin_stream = self->nets.ops.stream;
  self->nets.ops.set_capacity = note_capacity;
  self->nets.ops.stream = note_stream;
  self->engine = fab_engine_new ();
  self->net = fake_net_new (&self->nets, self->engine, self->rig);
  self->plan = fab_disturbances_plan_new ();
  self->disturbances = NULL;
}

static void
scene_begin (Scene *self, FabStuckFn is_stuck, gconstpointer owner)
{
  self->disturbances = fab_disturbances_new (self->net, self->plan, is_stuck, owner);
}

static void
scene_clear (Scene *self)
{
  fab_disturbances_free (self->disturbances);
  fab_disturbances_plan_free (self->plan);
  fab_net_destroy (self->net);
  fab_engine_free (self->engine);
  rig_free (self->rig);
  g_array_unref (changes);
  g_array_unref (starts);
}

/* --- spells --- */

/* Spells of one link multiply while they last; one of them is for good. Links are apart. */
static void
spells_of_a_link_multiply (G_GNUC_UNUSED void **state)
{
  static const FabSpell spells[] = {
    { 2, 0.5, 100, 300 }, { 1, 0, 150, 250 }, { 2, 0.25, 200, 0 }, { 3, 0.75, 50, 60 }
  };
  static const Change expected[] = { { 50, 3, 0.75 },   { 60, 3, 1 },  { 100, 2, 0.5 }, { 150, 1, 0 },
                                     { 200, 2, 0.125 }, { 250, 1, 1 }, { 300, 2, 0.25 } };
  static const FabTimePs settled_from = 300;
  Scene scene;

  scene_init (&scene, 3);
  g_array_append_vals (scene.plan->spells, spells, G_N_ELEMENTS (spells));
  scene_begin (&scene, ask_never, NULL);
  assert_true (fab_disturbances_is_settled (NULL));
  assert_int_equal (changes->len, 0);
  for (FabTimePs at_ps = 0; at_ps <= 400; at_ps += 10) {
    assert_int_equal (fab_disturbances_is_settled (scene.disturbances), at_ps > settled_from);
    fab_engine_run_until (scene.engine, at_ps + 1);
  }
  assert_int_equal (changes->len, G_N_ELEMENTS (expected));
  for (guint i = 0; i < changes->len; i++) {
    const Change *change = &g_array_index (changes, Change, i);

    assert_int_equal (change->at_ps, expected[i].at_ps);
    assert_int_equal (change->link, expected[i].link);
    assert_near (change->fraction, expected[i].fraction, 0);
  }
  scene_clear (&scene);
}

/* --- bursts --- */

/* Bursts of half of a link for a third of the time, a ns in the mean, on 200 links over 300 ns: each begins in a burst
 * with a chance of 1/3, 67 of them with a deviation of 6.7. Some 20 000 bursts and pauses: their means are within
 * three deviations of 1/140 each. Links draw times of their own. */
static void
bursts_have_their_mean_lengths (G_GNUC_UNUSED void **state)
{
  enum { N_LINKS = 200 };
  const FabTimePs end_ps = 300000;
  double sum_ps[2] = { 0 }, squares[2] = { 0 };
  guint n[2] = { 0 }, n_first = 0, n_early = 0;
  FabTimePs since_ps[N_LINKS];
  gboolean is_on[N_LINKS];
  Scene scene;

  scene_init (&scene, N_LINKS / 2);
  for (FabLinkId link = 0; link < N_LINKS; link++) {
    FabBursts bursts = { link, 1.0 / 6, 0.5, 1000, 77 + link };

    g_array_append_val (scene.plan->bursts, bursts);
    since_ps[link] = FAB_TIME_NEVER;
  }
  scene_begin (&scene, ask_never, NULL);
  assert_true (fab_disturbances_is_settled (scene.disturbances));
  assert_int_equal (changes->len, N_LINKS);
  fab_engine_run_until (scene.engine, end_ps);
  for (guint i = 0; i < changes->len; i++) {
    const Change *change = &g_array_index (changes, Change, i);
    gboolean begins = change->fraction < 0.75;

    assert_near (change->fraction, begins ? 0.5 : 1, 0);
    if (i < N_LINKS) {
      assert_int_equal (change->at_ps, 0);
      n_first += begins;
    } else {
      double length_ps = (double) (change->at_ps - since_ps[change->link]);

      assert_true (begins != is_on[change->link] && length_ps >= 1);
      n[!begins]++;
      sum_ps[!begins] += length_ps;
      squares[!begins] += length_ps * length_ps;
      n_early += change->at_ps < 10;
    }
    since_ps[change->link] = change->at_ps;
    is_on[change->link] = begins;
  }
  assert_in_range (n_first, 47, 87);
  assert_in_range (n_early, 0, 4); /* 1.1 of 200, unless many draw the same */
  /* A pause is 1 - 1/3 to 1/3 as long; the deviation of an exponential time is its mean. */
  for (guint k = 0; k < 2; k++) {
    double mean_ps = sum_ps[k] / n[k], expected_ps = k == 1 ? 1000 : 2000;

    assert_near (mean_ps, expected_ps, 0.022);
    assert_near (sqrt (squares[k] / n[k] - mean_ps * mean_ps), expected_ps, 0.04);
  }
  scene_clear (&scene);
}

/* A burst of 1 h and more is cut off there. */
static void
no_burst_is_longer_than_an_hour (G_GNUC_UNUSED void **state)
{
  enum { N = 20 };
  const FabTimePs hour_ps = 3600 * FAB_PS_PER_S;
  guint n_cut = 0;
  Scene scene;

  scene_init (&scene, N / 2);
  for (FabLinkId link = 0; link < N; link++) {
    FabBursts bursts = { link, 0.25, 0.5, 10 * hour_ps, link };

    g_array_append_val (scene.plan->bursts, bursts);
  }
  scene_begin (&scene, ask_never, NULL);
  fab_engine_run_until (scene.engine, hour_ps + 2);
  assert_int_equal (changes->len, 2 * N);
  for (guint i = N; i < changes->len; i++) {
    assert_true (g_array_index (changes, Change, i).at_ps <= hour_ps + 1);
    n_cut += g_array_index (changes, Change, i).at_ps == hour_ps + 1;
  }
  assert_in_range (n_cut, 14, N - 1); /* a tenth is shorter, of which the seeds have some */
  scene_clear (&scene);
}

/* --- transfers --- */

/* One begins so long after the one before has begun, and not before that one has ended. */
static void
transfers_follow_one_another (G_GNUC_UNUSED void **state)
{
  static const struct {
    FabBytes bytes;
    FabTimePs every_ps, starts[4];
  } rows[] = { { 100, 300, { 0, 300, 600, 900 } },
               { 100, 100, { 0, 100, 200, 300 } },
               { 100, 40, { 0, 100, 200, 300 } } };

  for (guint r = 0; r < G_N_ELEMENTS (rows); r++) {
    FabSideFlow flow = { .bytes = rows[r].bytes, .limit_bytes_per_s = 17, .every_ps = rows[r].every_ps };
    Scene scene;

    scene_init (&scene, 2);
    flow.src = rig_gpu (scene.rig, 0);
    flow.dst = rig_gpu (scene.rig, 1);
    g_array_append_val (scene.plan->flows, flow);
    scene_begin (&scene, ask_never, NULL);
    assert_true (fab_disturbances_is_settled (scene.disturbances));
    fab_engine_run_until (scene.engine, rows[r].starts[3] + 1);
    assert_int_equal (starts->len, 4);
    for (guint i = 0; i < starts->len; i++) {
      const Start *start = &g_array_index (starts, Start, i);

      assert_int_equal (start->at_ps, rows[r].starts[i]);
      assert_int_equal (start->stream.bytes, 100);
      assert_near (start->stream.limit_bytes_per_s, 17, 0);
      assert_near (start->stream.wire_factor, 1, 0);
      assert_int_equal (start->stream.share, 1);
      assert_string_equal (start->stream.traffic, "background");
      assert_true (fab_footprint_is_path (start->stream.footprint, 2));
      for (guint k = 0; k < 2; k++) {
        const FabLink *link = fab_graph_link (scene.rig->graph, start->stream.footprint->links[k]);

        assert_true (link->src == flow.src || link->dst == flow.dst);
      }
    }
    scene_clear (&scene);
  }
}

/* Two transfers are apart, each with its own time. */
static void
each_transfer_has_its_own_times (G_GNUC_UNUSED void **state)
{
  static const FabTimePs expected[][2] = { { 0, 7 }, { 0, 9 }, { 50, 7 }, { 80, 9 }, { 100, 7 } };
  FabSideFlow flows[] = { { .bytes = 7, .every_ps = 50 }, { .bytes = 9, .every_ps = 80 } };
  Scene scene;

  scene_init (&scene, 3);
  for (guint i = 0; i < 2; i++) {
    flows[i].src = rig_gpu (scene.rig, i);
    flows[i].dst = rig_gpu (scene.rig, 2);
    g_array_append_val (scene.plan->flows, flows[i]);
  }
  scene_begin (&scene, ask_never, NULL);
  fab_engine_run_until (scene.engine, 101);
  assert_int_equal (starts->len, G_N_ELEMENTS (expected));
  for (guint i = 0; i < starts->len; i++) {
    assert_int_equal (g_array_index (starts, Start, i).at_ps, expected[i][0]);
    assert_int_equal (g_array_index (starts, Start, i).stream.bytes, expected[i][1]);
  }
  scene_clear (&scene);
}

/* --- runs that are stuck --- */

/* A transfer of 10 ps every 20 ps ends at 10, 30, 50 ... When it has ended somebody is asked whether the job is stuck,
 * if a link is dead and no spell is still to come; then the run stops. */
static void
a_run_that_only_others_keep_going_is_stopped (G_GNUC_UNUSED void **state)
{
  static const struct {
    FabSpell spells[2];
    guint n_spells;
    gint stuck_from, n_asked;
    FabTimePs stopped_ps; /* FAB_TIME_NEVER: it goes on */
  } rows[] = {
    { { { 0, 0, 15, 0 } }, 1, 1, 1, 30 },
    { { { 0, 0, 15, 0 } }, 1, 3, 3, 70 },
    { { { 0, 0, 15, 0 } }, 1, 100, 9, FAB_TIME_NEVER },
    { { { 0, 0.5, 15, 0 } }, 1, 1, 0, FAB_TIME_NEVER }, /* slow, and not dead */
    { { { 0, 0, 15, 65 } }, 1, 1, 0, FAB_TIME_NEVER },  /* dead until 65 */
    { { { 0, 0, 15, 0 }, { 1, 0.5, 95, 0 } }, 2, 1, 1, 110 },
    { { { 0, 0, 15, 0 }, { 1, 0.5, 35, 95 } }, 2, 1, 1, 110 },
    { { { 0 } }, 0, 1, 0, FAB_TIME_NEVER },
  };

  for (guint r = 0; r < G_N_ELEMENTS (rows); r++) {
    Questions questions = { 0, rows[r].stuck_from };
    FabSideFlow flow = { .bytes = 10, .every_ps = 20 };
    Scene scene;

    scene_init (&scene, 3);
    flow.src = rig_gpu (scene.rig, 1);
    flow.dst = rig_gpu (scene.rig, 2);
    g_array_append_val (scene.plan->flows, flow);
    g_array_append_vals (scene.plan->spells, rows[r].spells, rows[r].n_spells);
    scene_begin (&scene, ask_counted, &questions);
    fab_engine_run_until (scene.engine, 200);
    assert_int_equal (questions.n_asked, rows[r].n_asked);
    assert_int_equal (fab_engine_is_stopped (scene.engine), rows[r].stopped_ps != FAB_TIME_NEVER);
    if (rows[r].stopped_ps != FAB_TIME_NEVER)
      assert_int_equal (fab_engine_now (scene.engine), rows[r].stopped_ps);
    scene_clear (&scene);
  }
}

/* Bursts ask as transfers do. */
static void
bursts_do_not_keep_a_run_going (G_GNUC_UNUSED void **state)
{
  const FabSpell spell = { 0, 0, 5000, 0 };
  const FabBursts bursts = { 1, 0.25, 0.5, 1000, 3 };
  Questions questions = { 0, 2 };
  guint n_before = 0;
  Scene scene;

  scene_init (&scene, 2);
  g_array_append_val (scene.plan->spells, spell);
  g_array_append_val (scene.plan->bursts, bursts);
  scene_begin (&scene, ask_counted, &questions);
  fab_engine_run_until (scene.engine, 10000000);
  assert_true (fab_engine_is_stopped (scene.engine));
  assert_int_equal (questions.n_asked, 2);
  for (guint i = 0; i < changes->len; i++)
    n_before += g_array_index (changes, Change, i).at_ps <= 5000;
  assert_int_equal (changes->len, n_before + 2);
  scene_clear (&scene);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (spells_of_a_link_multiply),
    cmocka_unit_test (bursts_have_their_mean_lengths),
    cmocka_unit_test (no_burst_is_longer_than_an_hour),
    cmocka_unit_test (transfers_follow_one_another),
    cmocka_unit_test (each_transfer_has_its_own_times),
    cmocka_unit_test (a_run_that_only_others_keep_going_is_stopped),
    cmocka_unit_test (bursts_do_not_keep_a_run_going),
  };

  return cmocka_run_group_tests_name ("disturbances", tests, NULL, NULL);
}
