/* SPDX-License-Identifier: Apache-2.0 */
/* test_folded_plays.c - for which collectives that are under way schedules are folded, and how many lanes are played.
 *
 * Eight GPUs are on one switch. Collectives are rings over all of them, of which one lane stands for eight as long as
 * nothing else is on its links, and streams.
 */
#include "tests/support/test.h"

#include "sim/collective/play/play_parts.h"
#include "sim/shortcut/space/folded_plays.h"
#include "tests/support/rig.h"

enum { N = 8, MOST_COLLECTIVES = 4 };

/* A job of collectives on streams of their own, which may all be under way at once, or one after another on one. */
typedef struct {
  Rig *rig;
  RigNet net;
  FabDag *dag;
  FabCollectivePlan plans[MOST_COLLECTIVES];
  guint n_plans;
  FabLanesCount lanes;
  FabTimePs end_ps;
  guint64 n_messages; /* of the collective that was begun last */
  FabFoldedPlays *plays;
} Job;

typedef struct {
  const FabNetOps *ops;
  gboolean is_one_after_another, has_company;
  const char *algorithm;            /* NULL: rings */
  guint n_chunks[MOST_COLLECTIVES]; /* 0: as many as the library says */
  guint n_more;                     /* collectives like the last one, which follow it */
} Form;

static void
do_nothing (G_GNUC_UNUSED gpointer owner, G_GNUC_UNUSED guint64 arg)
{
}

static void
job_init (Job *self, const Form *form, const FabOp *ops, guint n)
{
  g_autoptr (FabDagBuilder) builder = fab_dag_builder_new ();
  guint stream = 0;

  *self = (Job){
    .rig = rig_new (&(RigSpec){
        .n_nodes = 1, .gpus_per_node = N, .gpu_bytes_per_s = FAB_PS_PER_S, .algorithm = form->algorithm }),
    .n_plans = n
  };
  self->net = rig_net (self->rig, form->ops);
  for (guint i = 0; i < n; i++) {
    guint rank_class = fab_dag_builder_class (builder, "all", i, 1);

    self->plans[i] = rig_plan (self->rig, ops[i], 1000 * (i + 1));
    if (form->n_chunks[i] > 0)
      self->plans[i].steps.n_chunks = form->n_chunks[i];
    if (i == 0 || !form->is_one_after_another)
      stream = fab_dag_builder_stream (builder, rank_class, "comm");
    fab_dag_builder_join (builder, stream,
                          fab_dag_builder_collective (builder, &self->plans[i], FAB_DIMENSION_OTHER,
                                                      g_strdup ("c")));
  }
  for (guint i = 0; i < form->n_more; i++)
    fab_dag_builder_join (builder, stream,
                          fab_dag_builder_collective (builder, &self->plans[n - 1], FAB_DIMENSION_OTHER,
                                                      g_strdup ("c")));
  self->dag = fab_dag_builder_freeze (builder);
  self->plays = fab_folded_plays_new (
      &(FabFoldedPlaysEnv){ .job = { .net = self->net.net, .dag = self->dag, .is_alone = !form->has_company },
                            .lanes = &self->lanes });
}

static void
job_clear (Job *self)
{
  fab_folded_plays_free (self->plays);
  fab_dag_free (self->dag);
  rig_net_clear (&self->net);
  rig_free (self->rig);
}

static FabEpisodeInput
input_of (Job *self, const FabCollectivePlan *plan)
{
  return fab_folded_plays_input (self->plays, &(FabJobCollective){ .plan = plan });
}

static guint
extend (Job *self, guint version, guint plan)
{
  const FabEpisodeInput input = input_of (self, &self->plans[plan]);

  return input.extend (input.owner, version, input.plan);
}

/* Returns how many lanes are played of a collective; 0: it is a stream. */
static guint
count_lanes (Job *self, guint plan, guint version)
{
  const FabEpisodeInput input = input_of (self, &self->plans[plan]);
  const FabLanesCount before = self->lanes;
  g_autoptr (FabPlay) play = input.play (input.owner, self->net.net, &input, version,
                                         (FabDone){ do_nothing, self, 0 });
  guint n_lanes = (guint) (self->lanes.n_lanes - before.n_lanes);

  assert_int_equal (play != NULL, n_lanes > 0);
  if (play != NULL)
    self->n_messages = play->schedule->n_messages;
  if (play != NULL && n_lanes < N)
    assert_int_equal (n_lanes + self->lanes.n_alike - before.n_alike, N);
  return n_lanes;
}

static const FabOp rings[] = { FAB_OP_ALL_REDUCE, FAB_OP_ALL_GATHER, FAB_OP_REDUCE_SCATTER };

/* Lanes are folded on a network that treats equal lines equally, of a job that is alone. */
static void
jobs_that_are_alone_are_folded (G_GNUC_UNUSED void **state)
{
  static const struct {
    Form form;
    guint n_lanes;
  } rows[] = { { { .ops = &fab_net_step }, 1 },
               { { .ops = &fab_net_step, .has_company = TRUE }, N },
               { { .ops = &fab_net_step, .is_one_after_another = TRUE }, 1 },
               { { .ops = &fab_net_fluid }, 0 } };

  for (guint r = 0; r < G_N_ELEMENTS (rows); r++) {
    Job job;
    job_init (&job, &rows[r].form, rings, G_N_ELEMENTS (rings));

    for (guint i = 0; i < 2 * G_N_ELEMENTS (rings); i++)
      assert_int_equal (count_lanes (&job, i % 3, i < 3 ? FAB_FOLDED_FOR_ALL : FAB_FOLDED_FOR_NONE),
                        rows[r].n_lanes);
    if (rows[r].form.has_company)
      assert_int_equal (extend (&job, FAB_FOLDED_FOR_NONE, 0), FAB_FOLDED_FOR_ALL);
    job_clear (&job);
  }
}

/* Each set of kinds that is smaller than all that may meet is a version, in whichever order they begin. */
static void
each_set_of_kinds_is_a_version (G_GNUC_UNUSED void **state)
{
  const Form form = { .ops = &fab_net_step };
  Job job;
  job_init (&job, &form, rings, 3);

  assert_int_equal (extend (&job, FAB_FOLDED_FOR_NONE, 0), 1);
  assert_int_equal (extend (&job, 1, 0), 1);
  assert_int_equal (extend (&job, FAB_FOLDED_FOR_NONE, 2), 2);
  assert_int_equal (extend (&job, 1, 2), 3);
  assert_int_equal (extend (&job, 2, 0), 3);
  assert_int_equal (extend (&job, 3, 0), 3);
  assert_int_equal (extend (&job, 3, 2), 3);
  assert_int_equal (extend (&job, 3, 1), FAB_FOLDED_FOR_ALL);
  assert_int_equal (extend (&job, FAB_FOLDED_FOR_NONE, 0), 1);
  assert_int_equal (extend (&job, FAB_FOLDED_FOR_NONE, 1), 4);
  assert_int_equal (extend (&job, FAB_FOLDED_FOR_ALL, 1), FAB_FOLDED_FOR_ALL);
  for (guint version = 1; version <= 4; version++)
    assert_int_equal (count_lanes (&job, version == 4 ? 1 : version == 2 ? 2 : 0, version), 1);
  assert_int_equal (count_lanes (&job, 2, 3), 1);
  job_clear (&job);
}

/* Kinds that follow one another never meet: each is a whole part. */
static void
kinds_that_never_meet_have_no_versions (G_GNUC_UNUSED void **state)
{
  const Form form = { .ops = &fab_net_step, .is_one_after_another = TRUE };
  Job job;
  job_init (&job, &form, rings, 3);

  for (guint i = 0; i < 3; i++)
    assert_int_equal (extend (&job, FAB_FOLDED_FOR_NONE, i), FAB_FOLDED_FOR_ALL);
  job_clear (&job);
}

/* A broadcast tells the lanes of its root apart, and those of a ring that may meet it; alone the ring is folded. */
static void
a_version_folds_further_than_all (G_GNUC_UNUSED void **state)
{
  const FabOp ops[] = { FAB_OP_ALL_REDUCE, FAB_OP_BROADCAST };
  const Form form = { .ops = &fab_net_step };
  Job job;
  job_init (&job, &form, ops, 2);

  assert_int_equal (extend (&job, FAB_FOLDED_FOR_NONE, 0), 1);
  assert_true (count_lanes (&job, 0, FAB_FOLDED_FOR_ALL) > 1);
  assert_int_equal (count_lanes (&job, 0, 1), 1);
  job_clear (&job);
}

/* A stream is a kind like others, and what has no bytes is none. */
static void
streams_are_kinds_too (G_GNUC_UNUSED void **state)
{
  const Form form = { .ops = &fab_net_step };
  Job job;
  job_init (&job, &form, rings, 3);
  job.dag->collectives[1].plan.steps.make = NULL;
  job.dag->collectives[2].plan.bytes = 0;
  for (guint i = 0; i < 3; i++)
    job.plans[i] = job.dag->collectives[i].plan;

  assert_int_equal (extend (&job, FAB_FOLDED_FOR_NONE, 2), FAB_FOLDED_FOR_NONE);
  assert_int_equal (extend (&job, FAB_FOLDED_FOR_NONE, 0), 1);
  assert_int_equal (extend (&job, 1, 2), 1);
  assert_int_equal (extend (&job, FAB_FOLDED_FOR_NONE, 1), 2);
  assert_int_equal (extend (&job, 1, 1), FAB_FOLDED_FOR_ALL);
  assert_int_equal (extend (&job, 2, 0), FAB_FOLDED_FOR_ALL);
  assert_int_equal (count_lanes (&job, 1, 2), 0);
  assert_int_equal (count_lanes (&job, 0, 1), 1);
  job_clear (&job);
}

/* A pipeline whose bytes are cut in two ways is one kind, and each has its own messages. */
static void
a_pipeline_is_one_kind_however_it_is_cut (G_GNUC_UNUSED void **state)
{
  const FabOp ops[] = { FAB_OP_ALL_REDUCE, FAB_OP_ALL_REDUCE, FAB_OP_BROADCAST };
  const Form form = { .ops = &fab_net_step, .algorithm = "tree", .n_chunks = { 4, 8, 4 } };
  const guint n_lanes = 2 * (N - 1);
  Job job;
  job_init (&job, &form, ops, 3);

  assert_int_equal (extend (&job, FAB_FOLDED_FOR_NONE, 0), 1);
  assert_int_equal (extend (&job, FAB_FOLDED_FOR_NONE, 1), 1);
  assert_int_equal (extend (&job, FAB_FOLDED_FOR_NONE, 2), 2);
  for (guint version = 0; version < 2; version++)
    for (guint i = 0; i < 2; i++) {
      assert_int_equal (count_lanes (&job, i, version), n_lanes);
      assert_int_equal (job.n_messages, n_lanes * form.n_chunks[i]);
    }
  job_clear (&job);
}

/* Two lanes that share a link up and two that do not, of four messages each that follow one another. The first one
 * takes a little longer. */
static FabSchedule *
make_pairs (gconstpointer owner, G_GNUC_UNUSED const FabCollectivePlan *plan)
{
  static const guint sends[][2] = { { 0, 1 }, { 0, 2 }, { 3, 4 }, { 5, 6 } };
  const Rig *rig = owner;
  FabSchedule *schedule = fab_schedule_new (&rig->cluster);
  FabGroup group = rig_group (rig);

  for (guint i = 0; i < G_N_ELEMENTS (sends); i++) {
    FabHop hop;

    assert_true (fab_hop_ranks (&group, sends[i][0], sends[i][1], &hop, NULL));
    hop.latency_ps = i == 0 ? 101 : 100;
    fab_schedule_lane (schedule, &hop, 1, 1, 4);
    fab_schedule_depend (schedule, i, i, 1);
  }
  return schedule;
}

/* One lane over links that no lane of the pairs crosses. */
static FabSchedule *
make_last (gconstpointer owner, G_GNUC_UNUSED const FabCollectivePlan *plan)
{
  const Rig *rig = owner;
  FabSchedule *schedule = fab_schedule_new (&rig->cluster);
  FabGroup group = rig_group (rig);
  FabHop hop;

  assert_true (fab_hop_ranks (&group, N - 1, 0, &hop, NULL));
  fab_schedule_lane (schedule, &hop, 1, 1, 4);
  return schedule;
}

/* Makes collective `c` one of these messages, which are those of the first one with this footprint. */
static void
set_messages (Job *self, guint c, FabSchedule *(*make) (gconstpointer, const FabCollectivePlan *),
              const FabFootprint *footprint, double limit, FabTimePs steps_ps)
{
  FabCollectivePlan *plan = &self->dag->collectives[c].plan;

  plan->footprint = footprint;
  plan->wire_factor = 2;
  plan->steps = (FabCollectivePlanSteps){ .make = make,
                                          .owner = self->rig,
                                          .pace_bytes_per_s = limit / plan->wire_factor,
                                          .steps_ps = steps_ps,
                                          .intra_cost = 1,
                                          .inter_cost = 1 };
  if (c < self->n_plans)
    self->plans[c] = *plan;
}

/* Returns how many lanes are played of a collective where all may be under way. */
static guint
lanes_of (Job *self, guint c)
{
  const FabEpisodeInput input = input_of (self, &self->plans[c]);
  g_autoptr (FabPlay) play = input.play (input.owner, self->net.net, &input, FAB_FOLDED_FOR_ALL,
                                         (FabDone){ do_nothing, self, 0 });

  return fab_schedule_n_lanes (play->schedule);
}

/* Two plans that never meet have one schedule. Two lanes fill a link at a limit of 1/8 of its rate for each byte, of
 * which half is said per byte on the wire; latencies tell lanes apart where a quarter of the steps takes less. The
 * schedule is folded for the higher limit, where both have one, and for the shorter steps. */
static void
a_kind_is_folded_for_all_of_its_plans (G_GNUC_UNUSED void **state)
{
  static const struct {
    double parts[2]; /* of the rate, by which the limit is divided; 0: no limit */
    FabTimePs steps_ps[2];
    guint n_lanes;
  } rows[] = {
    { { 8.001, 8.001 }, { 4000, 4000 }, 1 }, { { 8.001, 9 }, { 4000, 4000 }, 1 },
    { { 9, 8.001 }, { 4000, 4000 }, 1 },     { { 9, 8 }, { 4000, 4000 }, 2 },
    { { 8, 9 }, { 4000, 4000 }, 2 },         { { 9, 0 }, { 4000, 4000 }, 2 },
    { { 0, 9 }, { 4000, 4000 }, 2 },         { { 9, 9 }, { 404, 404 }, 1 },
    { { 9, 9 }, { 404, 403 }, 2 },           { { 9, 9 }, { 403, 404 }, 2 },
  };
  const FabOp ops[] = { FAB_OP_ALL_REDUCE, FAB_OP_ALL_REDUCE };
  const Form form = { .ops = &fab_net_step, .is_one_after_another = TRUE };

  for (guint r = 0; r < G_N_ELEMENTS (rows); r++) {
    Job job;
    job_init (&job, &form, ops, 2);

    for (guint i = 0; i < 2; i++) {
      double limit = rows[r].parts[i] > 0 ? (double) FAB_PS_PER_S / rows[r].parts[i] : 0;

      set_messages (&job, i, make_pairs, job.dag->collectives[0].plan.footprint, limit, rows[r].steps_ps[i]);
    }
    for (guint i = 0; i < 2; i++)
      if (lanes_of (&job, i) != rows[r].n_lanes)
        fail_msg ("row %u: %u lanes", r, lanes_of (&job, i));
    job_clear (&job);
  }
}

/* A limit is one of a kind that is never under way twice: the pairs are so where they are one of three collectives that
 * may meet, and not where they are two of them. */
static void
a_kind_that_meets_itself_has_no_limit (G_GNUC_UNUSED void **state)
{
  const FabOp ops[] = { FAB_OP_ALL_REDUCE, FAB_OP_ALL_REDUCE, FAB_OP_ALL_GATHER };
  const Form form = { .ops = &fab_net_step };

  for (guint n_pairs = 1; n_pairs <= 2; n_pairs++) {
    Job job;
    job_init (&job, &form, ops, 3);
    const FabFootprint *last = job.dag->collectives[0].plan.footprint,
                       *pairs = job.dag->collectives[2].plan.footprint;

    for (guint i = 0; i < 3; i++)
      if (i < 3 - n_pairs)
        set_messages (&job, i, make_last, last, 0, 4000);
      else
        set_messages (&job, i, make_pairs, pairs, (double) FAB_PS_PER_S / 9, 4000);
    assert_int_equal (lanes_of (&job, 2), n_pairs);
    assert_int_equal (lanes_of (&job, 0), 1);
    job_clear (&job);
  }
}

/* What may be under way together is not looked at in a job of so many collectives (test_concurrent_kinds.c): all kinds
 * are one part then, although they follow one another, and none has a limit. */
static void
very_many_collectives_are_one_part (G_GNUC_UNUSED void **state)
{
  const FabOp ops[] = { FAB_OP_ALL_REDUCE, FAB_OP_ALL_GATHER };

  for (guint is_many = 0; is_many < 2; is_many++) {
    const Form form = { .ops = &fab_net_step, .is_one_after_another = TRUE, .n_more = is_many ? 3162 : 10 };
    Job job;
    job_init (&job, &form, ops, 2);

    set_messages (&job, 0, make_pairs, job.plans[0].footprint, (double) FAB_PS_PER_S / 9, 4000);
    for (guint c = 1; c < job.dag->n_collectives; c++)
      set_messages (&job, c, make_last, job.plans[1].footprint, 0, 4000);
    assert_int_equal (lanes_of (&job, 0), 1 + is_many);
    assert_int_equal (lanes_of (&job, 1), 1);
    assert_int_equal (extend (&job, FAB_FOLDED_FOR_NONE, 0), is_many ? 1 : FAB_FOLDED_FOR_ALL);
    job_clear (&job);
  }
}

/* At packet a rotation turns lanes into each other for each set of kinds, also for all of them, but not beside streams;
 * what no set is told of is played whole. */
static void
rotations_are_of_the_kinds_under_way (G_GNUC_UNUSED void **state)
{
  const Form form = { .ops = &fab_net_packet };
  Job job;
  job_init (&job, &form, rings, 3);

  assert_int_equal (extend (&job, FAB_FOLDED_FOR_NONE, 0), 1);
  assert_int_equal (extend (&job, 1, 1), 2);
  assert_int_equal (extend (&job, 2, 2), 3);
  assert_int_equal (extend (&job, FAB_FOLDED_FOR_NONE, 0), 1);
  assert_int_equal (count_lanes (&job, 0, FAB_FOLDED_FOR_ALL), N);
  for (guint version = 1; version <= 3; version++)
    assert_int_equal (count_lanes (&job, version - 1, version), 1);
  job_clear (&job);
  job_init (&job, &form, rings, 2);
  job.dag->collectives[1].plan.steps.make = NULL;
  job.plans[1] = job.dag->collectives[1].plan;
  assert_int_equal (extend (&job, FAB_FOLDED_FOR_NONE, 0), 1);
  assert_int_equal (extend (&job, 1, 1), FAB_FOLDED_FOR_ALL);
  assert_int_equal (extend (&job, 1, 1), FAB_FOLDED_FOR_ALL);
  assert_int_equal (extend (&job, FAB_FOLDED_FOR_NONE, 1), FAB_FOLDED_FOR_ALL);
  job_clear (&job);
}

/* A collective is described by its messages: an all-reduce of 1000 bytes over a ring of eight puts 1750 on the link up
 * from each GPU and on the one down to it, whether one lane stands for all or not. A stream has no messages. */
static void
what_is_played_is_described (G_GNUC_UNUSED void **state)
{
  const Form forms[] = { { .ops = &fab_net_step },
                         { .ops = &fab_net_step, .has_company = TRUE },
                         { .ops = &fab_net_fluid } };

  for (guint i = 0; i < G_N_ELEMENTS (forms); i++) {
    Job job;
    job_init (&job, &forms[i], rings, 1);
    g_autoptr (GArray) words = g_array_new (FALSE, FALSE, sizeof (guint64)),
                       links = g_array_new (FALSE, FALSE, sizeof (FabLinkId)),
                       entries = g_array_new (FALSE, FALSE, sizeof (FabMeterEntry));
    FabMeter *meter = fab_meter_new (job.rig->graph);
    FabPlayTraits traits = { words, links, meter, TRUE };
    const FabEpisodeInput input = input_of (&job, &job.plans[0]);
    gboolean is_described = input.describe (input.owner, job.net.net, input.plan, &traits);
    double sum = 0;

    assert_int_equal (is_described, i < 2);
    assert_int_equal (words->len > 0 && links->len > 0, i < 2);
    fab_meter_drain (meter, entries);
    for (guint k = 0; k < entries->len; k++)
      sum += g_array_index (entries, FabMeterEntry, k).load.payload_bytes;
    assert_near (sum, i < 2 ? 2 * N * 1750 : 0, 1e-12);
    fab_meter_free (meter);
    job_clear (&job);
  }
}

static void
note_end (gpointer owner, guint64 arg)
{
  Job *self = owner;

  self->end_ps = fab_engine_now (self->net.engine) + (FabTimePs) arg;
}

/* Who begins a collective is told its end, which is the same where one lane stands for all. */
static void
the_end_is_told_and_is_that_of_all_lanes (G_GNUC_UNUSED void **state)
{
  FabTimePs ends_ps[2];

  for (guint has_company = 0; has_company < 2; has_company++) {
    const Form form = { .ops = &fab_net_step, .has_company = has_company > 0 };
    Job job;
    job_init (&job, &form, rings, 3);

    const FabEpisodeInput input = input_of (&job, &job.plans[0]);
    g_autoptr (FabPlay) play = input.play (input.owner, job.net.net, &input, FAB_FOLDED_FOR_ALL,
                                           (FabDone){ note_end, &job, 7 });
    fab_engine_run (job.net.engine);
    ends_ps[has_company] = job.end_ps;
    g_clear_pointer (&play, fab_play_free);
    job_clear (&job);
  }
  /* An all-reduce of 1000 bytes: 2 (N - 1) messages of 125 bytes. */
  assert_int_equal (ends_ps[0], 2 * (N - 1) * 125 + 7);
  assert_int_equal (ends_ps[1], ends_ps[0]);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (jobs_that_are_alone_are_folded),
    cmocka_unit_test (each_set_of_kinds_is_a_version),
    cmocka_unit_test (kinds_that_never_meet_have_no_versions),
    cmocka_unit_test (a_version_folds_further_than_all),
    cmocka_unit_test (streams_are_kinds_too),
    cmocka_unit_test (a_pipeline_is_one_kind_however_it_is_cut),
    cmocka_unit_test (a_kind_is_folded_for_all_of_its_plans),
    cmocka_unit_test (a_kind_that_meets_itself_has_no_limit),
    cmocka_unit_test (very_many_collectives_are_one_part),
    cmocka_unit_test (rotations_are_of_the_kinds_under_way),
    cmocka_unit_test (what_is_played_is_described),
    cmocka_unit_test (the_end_is_told_and_is_that_of_all_lanes),
  };

  return cmocka_run_group_tests_name ("folded_plays", tests, NULL, NULL);
}
