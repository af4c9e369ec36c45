/* SPDX-License-Identifier: Apache-2.0 */
/* test_dry_run.c - which episodes of several collectives a small job is expected to have. Collectives of one episode
 * share the time evenly: two of 1000 ps that begin together on one link end at 2000.
 *
 * The first pass has the times of the collectives alone, the second one is 2 % slower.
 */
#include "tests/support/test.h"

#include "sim/shortcut/memo/dry_run.h"
#include "tests/unit/sim/shortcut/memo/books_scene.h"

typedef struct {
  Scene books;
  FabDagBuilder *builder;
  guint rank_class;
  guint n_begun; /* collectives, of one pass or of both */
} Job;

static void
job_init (Job *self)
{
  *self = (Job){ .n_begun = 0 };
  scene_init (&self->books, KIND_TRACES);
  self->builder = fab_dag_builder_new ();
  self->rank_class = fab_dag_builder_class (self->builder, "all", 0, 2);
}

static void
job_clear (Job *self)
{
  fab_dag_builder_free (self->builder);
  scene_clear (&self->books);
}

static FabCollectivePlan *
collective (Job *self, FabBytes bytes, FabLinkId first, guint n)
{
  const FabLinkId links[] = { first, first + 1, first + 2 };

  return plan_over (&self->books, bytes, links, n);
}

static guint
stream_new (Job *self)
{
  return fab_dag_builder_stream (self->builder, self->rank_class, "comm");
}

/* Adds a collective to a stream, so long after what is on it. */
static FabTaskId
follow (Job *self, guint stream, FabTimePs after_ps, const FabCollectivePlan *plan)
{
  if (after_ps > 0)
    fab_dag_builder_work (self->builder, stream, FAB_SPAN_COMPUTE, after_ps, g_strdup ("work"));
  return fab_dag_builder_join (self->builder, stream,
                               fab_dag_builder_collective (self->builder, plan, FAB_DIMENSION_OTHER,
                                                           g_strdup ("c")));
}

/* A collective on a stream of its own, so long after the beginning of the job. */
static FabTaskId
begin_at (Job *self, FabTimePs at_ps, const FabCollectivePlan *plan)
{
  return follow (self, stream_new (self), at_ps, plan);
}

static FabEpisodeInput
input_of (gpointer owner, const FabJobCollective *collective)
{
  ((Job *) owner)->n_begun++;
  return (FabEpisodeInput){ .plan = collective->plan };
}

/* "a@0 b@40 c<1+30; ": collectives by their order in the scene, `@` after the begin of the episode or `<` after the
 * end of the collective in that place. Each was played alone, and takes as many ps as it has bytes, but for those of
 * 3 bytes, of which nothing is known. */
static void
assert_expected (Job *self, guint most, const char *text)
{
  Scene *scene = &self->books;
  g_autoptr (FabDag) dag = fab_dag_builder_freeze (self->builder);
  g_autofree FabEpisodeInput *inputs = g_new0 (FabEpisodeInput, scene->plans->len);
  g_autoptr (GString) found = g_string_new (NULL);
  const FabExecutorEnv env = {
    .engine = scene->engine, .net = scene->net, .dag = dag, .peak_flops_per_s = 1e12, .n_iterations = 1
  };

  for (guint i = 0; i < scene->plans->len; i++)
    inputs[i].plan = g_ptr_array_index (scene->plans, i);
  fab_episode_books_try_apart (&scene->books, inputs, scene->plans->len);
  for (guint i = 0; i < scene->plans->len; i++)
    if (inputs[i].plan->bytes != 3)
      scene_learn (scene, number_of (scene, inputs[i].plan), inputs[i].plan->bytes, 1);
  g_autoptr (GPtrArray) expected = fab_dry_run (&scene->books, &env, input_of, self, most);
  for (guint e = 0; e < expected->len; e++) {
    const GArray *episode = g_ptr_array_index (expected, e);

    for (guint i = 0; i < episode->len; i++) {
      const FabExpectedInput *input = &g_array_index (episode, FabExpectedInput, i);

      g_string_append_c (found, (char) ('a' + input->plan));
      if (input->after == FAB_AFTER_BEGIN)
        g_string_append_c (found, '@');
      else
        g_string_append_printf (found, "<%u+", input->after);
      g_string_append_printf (found, "%" G_GINT64_FORMAT " ", input->delay_ps);
    }
    g_string_append (found, "; ");
  }
  assert_string_equal (found->str, text);
}

/* The second begins 40 ps after the first, whatever the network does. */
static void
what_begins_at_a_time_of_the_job_is_expected (G_GNUC_UNUSED void **state)
{
  Job job;
  job_init (&job);

  begin_at (&job, 0, collective (&job, 1000, 0, 1));
  begin_at (&job, 40, collective (&job, 1, 0, 1));
  assert_expected (&job, 64, "a@0 b@40 ; ");
  job_clear (&job);
}

/* The third one follows the end of the first by 30 ps, or by none. */
static void
what_follows_an_end_is_expected (G_GNUC_UNUSED void **state)
{
  for (FabTimePs after_ps = 0; after_ps <= 30; after_ps += 30) {
    g_autofree char *text = g_strdup_printf ("a@0 b@0 c<0+%d ; ", (int) after_ps);
    Job job;
    job_init (&job);

    FabCollectivePlan *a = collective (&job, 1000, 0, 1), *b = collective (&job, 3000, 0, 1),
                      *c = collective (&job, 500, 0, 1);
    guint stream = stream_new (&job);
    follow (&job, stream, 0, a);
    begin_at (&job, 0, b);
    follow (&job, stream, after_ps, c);
    assert_expected (&job, 64, text);
    job_clear (&job);
  }
}

/* Of several ends, the cause is the last one that it follows at the same distance: the second collective ends after the
 * first, and the fourth begins 20 ps later; the third is under way all the time. */
static void
the_nearest_end_is_the_cause (G_GNUC_UNUSED void **state)
{
  Job job;
  job_init (&job);
  FabCollectivePlan *a = collective (&job, 1000, 0, 1), *b = collective (&job, 100, 0, 1),
                    *c = collective (&job, 9000, 0, 1), *d = collective (&job, 500, 0, 1);
  guint stream = stream_new (&job);

  follow (&job, stream, 0, a);
  follow (&job, stream, 0, b);
  follow (&job, stream, 20, d);
  begin_at (&job, 0, c);
  assert_expected (&job, 64, "a@0 c@0 b<0+0 d<2+20 ; ");
  job_clear (&job);
}

/* The second one begins 40 ps after the first and ends 40 ps after it, in both passes: what is left of it then is what
 * the first did alone. So the fourth follows both ends at the same distances, and the nearer one is the cause. Two that
 * end in one ps are as near, and then it is the first. */
static void
of_two_causes_the_nearer_counts (G_GNUC_UNUSED void **state)
{
  for (FabTimePs later_ps = 0; later_ps <= 40; later_ps += 40) {
    Job job;
    job_init (&job);
    FabCollectivePlan *a = collective (&job, 1000, 0, 1), *b = collective (&job, 1000, 0, 1),
                      *c = collective (&job, 9000, 0, 1), *d = collective (&job, 500, 0, 1);
    guint stream = stream_new (&job);

    begin_at (&job, 0, a);
    begin_at (&job, 0, c);
    follow (&job, stream, later_ps, b);
    follow (&job, stream, 30, d);
    assert_expected (&job, 64, later_ps > 0 ? "a@0 c@0 b@40 d<2+30 ; " : "a@0 c@0 b@0 d<0+30 ; ");
    job_clear (&job);
  }
}

/* What follows the end of a collective on another link begins at a distance that depends on how long that takes, so
 * nobody knows how the episode goes. */
static void
what_depends_on_another_episode_is_not_expected (G_GNUC_UNUSED void **state)
{
  Job job;
  job_init (&job);
  FabCollectivePlan *a = collective (&job, 1000, 0, 1), *b = collective (&job, 3000, 0, 1),
                    *c = collective (&job, 1500, 4, 1), *d = collective (&job, 500, 0, 1);
  guint stream = stream_new (&job);

  begin_at (&job, 0, a);
  begin_at (&job, 0, b);
  follow (&job, stream, 0, c);
  follow (&job, stream, 5, d);
  assert_expected (&job, 64, "");
  job_clear (&job);
}

/* What shares no link is in episodes of its own, and those of one collective are no matter. Where there are no others
 * the second pass is left out. */
static void
lone_collectives_are_not_expected (G_GNUC_UNUSED void **state)
{
  Job alone, beside;
  job_init (&alone);
  begin_at (&alone, 0, collective (&alone, 1000, 0, 1));
  begin_at (&alone, 40, collective (&alone, 1000, 4, 1));
  assert_expected (&alone, 64, "");
  assert_int_equal (alone.n_begun, 2);
  job_clear (&alone);

  job_init (&beside);
  begin_at (&beside, 0, collective (&beside, 1000, 0, 1));
  begin_at (&beside, 40, collective (&beside, 2000, 0, 1));
  begin_at (&beside, 50, collective (&beside, 5000, 4, 1));
  assert_expected (&beside, 64, "a@0 b@40 ; ");
  assert_int_equal (beside.n_begun, 2 * 3);
  job_clear (&beside);
}

/* A collective of which nothing is known makes all times unknown. */
static void
nothing_is_expected_without_times (G_GNUC_UNUSED void **state)
{
  Job job;
  job_init (&job);

  begin_at (&job, 0, collective (&job, 1000, 0, 1));
  begin_at (&job, 40, collective (&job, 2000, 0, 1));
  begin_at (&job, 90, collective (&job, 3, 4, 1));
  assert_expected (&job, 64, "");
  job_clear (&job);
}

/* Nothing is expected of a job that is cancelled: no collective of it begins. */
static void
what_is_cancelled_is_not_expected (G_GNUC_UNUSED void **state)
{
  const gint cancel = 1;
  Job job;
  job_init (&job);

  begin_at (&job, 10, collective (&job, 1000, 0, 1));
  begin_at (&job, 40, collective (&job, 2000, 0, 1));
  fab_engine_set_cancel (job.books.engine, &cancel);
  assert_expected (&job, 64, "");
  assert_int_equal (job.n_begun, 0);
  job_clear (&job);
}

/* Two of 1000 and 1500 ps share their time until the first ends at 2000; then the second has 500 left, until 2500
 * (2550 in the second pass). What begins before is in their episode, and what begins after both is not; between, it
 * depends. */
static void
those_of_an_episode_share_the_time (G_GNUC_UNUSED void **state)
{
  static const struct {
    FabTimePs at_ps;
    const char *text;
  } rows[] = { { 2450, "a@0 b@0 c@2450 ; " },
               { 2499, "a@0 b@0 c@2499 ; " },
               { 2525, "" },
               { 2551, "a@0 b@0 ; " },
               { 2600, "a@0 b@0 ; " } };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    Job job;
    job_init (&job);
    begin_at (&job, 0, collective (&job, 1000, 0, 1));
    begin_at (&job, 0, collective (&job, 1500, 0, 1));
    begin_at (&job, rows[i].at_ps, collective (&job, 700, 0, 1));
    assert_expected (&job, 64, rows[i].text);
    job_clear (&job);
  }
}

/* Two on links of their own have 500 of 1000 ps left each (520 in the second pass) when a third one meets both: the
 * three share the time until 2000 (2060), and the third has 500 left until 2500 (2560). */
static void
one_that_meets_two_joins_them (G_GNUC_UNUSED void **state)
{
  static const struct {
    FabTimePs at_ps;
    const char *text;
  } rows[] = { { 1950, "a@0 b@0 c@500 d@1950 ; " },
               { 2490, "a@0 b@0 c@500 d@2490 ; " },
               { 2530, "" },
               { 2561, "a@0 b@0 c@500 ; " } };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    Job job;
    job_init (&job);
    begin_at (&job, 0, collective (&job, 1000, 0, 1));
    begin_at (&job, 0, collective (&job, 1000, 1, 1));
    begin_at (&job, 500, collective (&job, 1000, 0, 2));
    begin_at (&job, rows[i].at_ps, collective (&job, 700, 0, 1));
    assert_expected (&job, 64, rows[i].text);
    job_clear (&job);
  }
}

/* The order is that of begins, wherever they were: the second episode began between the first two collectives. */
static void
members_are_in_the_order_of_their_begins (G_GNUC_UNUSED void **state)
{
  Job job;
  job_init (&job);

  begin_at (&job, 0, collective (&job, 1000, 0, 1));
  begin_at (&job, 10, collective (&job, 1100, 1, 1));
  begin_at (&job, 20, collective (&job, 1200, 0, 1));
  begin_at (&job, 500, collective (&job, 1000, 0, 2));
  assert_expected (&job, 64, "a@0 b@10 c@20 d@500 ; ");
  job_clear (&job);
}

/* One that meets only what is over begins an episode of its own. */
static void
what_is_over_meets_nothing (G_GNUC_UNUSED void **state)
{
  Job job;
  job_init (&job);

  begin_at (&job, 0, collective (&job, 1000, 0, 2));
  begin_at (&job, 0, collective (&job, 4000, 1, 1));
  begin_at (&job, 3000, collective (&job, 500, 0, 1)); /* the first ended at 2000 (2040) */
  assert_expected (&job, 64, "a@0 b@0 ; ");
  job_clear (&job);
}

/* Episodes that are alike but for their links are one, and so many are expected at most, of those that end first. */
static void
those_that_differ_are_expected_once (G_GNUC_UNUSED void **state)
{
  static const struct {
    guint most;
    const char *text;
  } rows[] = {
    { 64, "c@0 d@50 ; a@0 b@40 ; " }, { 2, "c@0 d@50 ; a@0 b@40 ; " }, { 1, "c@0 d@50 ; " }, { 0, "" }
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    Job job;
    job_init (&job);
    begin_at (&job, 0, collective (&job, 1000, 0, 1));
    begin_at (&job, 40, collective (&job, 2000, 0, 1));
    begin_at (&job, 0, collective (&job, 1000, 1, 1));
    begin_at (&job, 50, collective (&job, 1500, 1, 1));
    begin_at (&job, 100, collective (&job, 1000, 2, 1)); /* as the first two, later and elsewhere */
    begin_at (&job, 140, collective (&job, 2000, 2, 1));
    assert_expected (&job, rows[i].most, rows[i].text);
    job_clear (&job);
  }
}

/* What is not remembered is not expected. */
static void
an_episode_of_64_is_expected (G_GNUC_UNUSED void **state)
{
  for (guint n = 64; n <= 65; n++) {
    g_autoptr (GString) text = g_string_new (NULL);
    Job job;
    job_init (&job);

    FabCollectivePlan *plan = collective (&job, 1000, 0, 1);
    for (guint i = 0; i < n; i++) {
      begin_at (&job, 0, plan);
      g_string_append (text, "a@0 ");
    }
    g_string_append (text, "; ");
    assert_expected (&job, 64, n == 64 ? text->str : "");
    job_clear (&job);
  }
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (what_begins_at_a_time_of_the_job_is_expected),
    cmocka_unit_test (what_follows_an_end_is_expected),
    cmocka_unit_test (the_nearest_end_is_the_cause),
    cmocka_unit_test (of_two_causes_the_nearer_counts),
    cmocka_unit_test (what_depends_on_another_episode_is_not_expected),
    cmocka_unit_test (lone_collectives_are_not_expected),
    cmocka_unit_test (nothing_is_expected_without_times),
    cmocka_unit_test (what_is_cancelled_is_not_expected),
    cmocka_unit_test (those_of_an_episode_share_the_time),
    cmocka_unit_test (one_that_meets_two_joins_them),
    cmocka_unit_test (members_are_in_the_order_of_their_begins),
    cmocka_unit_test (what_is_over_meets_nothing),
    cmocka_unit_test (those_that_differ_are_expected_once),
    cmocka_unit_test (an_episode_of_64_is_expected),
  };

  return cmocka_run_group_tests_name ("dry_run", tests, NULL, NULL);
}
