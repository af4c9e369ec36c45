/* SPDX-License-Identifier: Apache-2.0 */
/* prop_records.c - what the probe says of random jobs: shares of exposed time against a count of every ps, the
 * critical path against what happens when one task gets longer or shorter, samples of links against what the links
 * carried.
 */
#include "tests/support/test.h"

#include <math.h>

#include "tests/support/played_job.h"
#include "tests/support/seeds.h"

/* All that the probes said, kept. */
typedef struct {
  GArray *exposures, *path, *samples, *loads;
} Kept;

static void
keep (gpointer owner, const FabProbe *probe)
{
  Kept *kept = owner;

  g_array_append_vals (kept->exposures, probe->exposures->data, probe->exposures->len);
  g_array_append_vals (kept->path, probe->path->data, probe->path->len);
  g_array_append_vals (kept->samples, probe->samples->data, probe->samples->len);
  g_array_append_vals (kept->loads, probe->link_loads->data, probe->link_loads->len);
}

static Kept
kept_new (void)
{
  return (Kept){ g_array_new (FALSE, FALSE, sizeof (FabExposureRecord)),
                 g_array_new (FALSE, FALSE, sizeof (FabPathRecord)),
                 g_array_new (FALSE, FALSE, sizeof (FabLinkSampleRecord)),
                 g_array_new (FALSE, FALSE, sizeof (FabLinkLoadRecord)) };
}

static void
kept_clear (Kept *kept)
{
  g_array_unref (kept->exposures);
  g_array_unref (kept->path);
  g_array_unref (kept->samples);
  g_array_unref (kept->loads);
}

static FabTimePs
play_and_keep (PlayedJob *job, const FabNetOps *ops, guint n_sms, Kept *kept)
{
  return played_job_play (job, &(PlayedHow){ .ops = ops, .n_sms = n_sms, .look = keep, .owner = kept });
}

/* --- exposure --- */

/* Per ps: whether some collective of a class does this in this dimension. */
static guint8 *
paint_talk (const PlayedJob *job, guint rank_class, FabDimension dimension, FabOp op, FabTimePs end_ps)
{
  const FabDag *dag = job->made->dag;
  guint8 *bits = g_malloc0 ((gsize) end_ps + 1);

  for (guint i = 0; i < PLAYED_ITERATIONS; i++)
    for (FabTaskId t = 0; t < dag->n_tasks; t++) {
      const FabDagCollective *collective = &dag->collectives[MAX (dag->tasks[t].collective, 0)];
      const PlayedTask *run = &job->runs[i][t];

      if (dag->tasks[t].collective >= 0 && dag->streams[dag->tasks[t].stream].rank_class == rank_class
          && collective->dimension == dimension && collective->plan.op == op)
        memset (bits + run->start_ps, 1, (gsize) (run->end_ps - run->start_ps));
    }
  return bits;
}

typedef struct {
  guint8 *compute;
  guint8 *talks[FAB_N_DIMENSIONS][FAB_N_OPS];
} Painting;

static Painting
painting_new (const PlayedJob *job, guint rank_class, FabTimePs end_ps)
{
  Painting painting = { .compute = played_job_paint (job, rank_class, FAB_SPAN_COMPUTE, end_ps) };

  for (guint d = 0; d < FAB_N_DIMENSIONS; d++)
    for (guint op = 0; op < FAB_N_OPS; op++)
      painting.talks[d][op] = paint_talk (job, rank_class, d, op, end_ps);
  return painting;
}

static void
painting_clear (Painting *painting)
{
  g_free (painting->compute);
  for (guint d = 0; d < FAB_N_DIMENSIONS; d++)
    for (guint op = 0; op < FAB_N_OPS; op++)
      g_free (painting->talks[d][op]);
}

/* Of one ps: 1 / (dimensions x operations of this one), or nothing. */
static double
share_at (const Painting *painting, FabTimePs ps, guint dimension, guint op)
{
  guint n_dimensions = 0, n_ops = 0;

  if (painting->compute[ps] || !painting->talks[dimension][op][ps])
    return 0;
  for (guint d = 0; d < FAB_N_DIMENSIONS; d++) {
    guint n = 0;

    for (guint o = 0; o < FAB_N_OPS; o++)
      n += painting->talks[d][o][ps];
    n_dimensions += n > 0;
    n_ops += d == dimension ? n : 0;
  }
  return 1.0 / n_dimensions / n_ops;
}

static void
assert_exposure (const PlayedJob *job, const Painting *painting, const FabExposureRecord *record)
{
  const FabIterationRecord *times = &job->times[record->iteration][record->rank_class];
  guint d = 0, op = 0;
  FabTimePs comm_ps = 0;
  double exposed = 0;

  while (record->dimension != fab_dimension_names[d])
    d++;
  while (record->op != fab_op_names[op])
    op++;
  for (FabTimePs ps = times->start_ps; ps < times->start_ps + times->duration_ps; ps++) {
    comm_ps += painting->talks[d][op][ps];
    exposed += share_at (painting, ps, d, op);
  }
  assert_int_equal (record->comm_ps, comm_ps);
  assert_true (fabs ((double) record->exposed_ps - exposed) < 1 + 1e-6);
}

static FabTimePs
sum_exposed (const Kept *kept, guint iteration, guint rank_class)
{
  FabTimePs sum_ps = 0;

  for (guint i = 0; i < kept->exposures->len; i++) {
    const FabExposureRecord *record = &g_array_index (kept->exposures, FabExposureRecord, i);

    if (record->iteration == iteration && record->rank_class == rank_class)
      sum_ps += record->exposed_ps;
  }
  return sum_ps;
}

static void
check_exposure (Random *random)
{
  g_autoptr (PlayedJob) job = played_job_new (random, random_chance (random, 20));
  Kept kept = kept_new ();
  FabTimePs end_ps = play_and_keep (job, random_chance (random, 50) ? &fab_net_fluid : &fab_net_analytic,
                                    random_below (random, 40), &kept);

  for (guint c = 0; c < job->made->n_classes; c++) {
    Painting painting = painting_new (job, c, end_ps);

    for (guint i = 0; i < kept.exposures->len; i++)
      if (g_array_index (kept.exposures, FabExposureRecord, i).rank_class == c)
        assert_exposure (job, &painting, &g_array_index (kept.exposures, FabExposureRecord, i));
    for (guint i = 0; i < PLAYED_ITERATIONS; i++)
      assert_int_equal (sum_exposed (&kept, i, c), job->times[i][c].exposed_ps);
    painting_clear (&painting);
  }
  kept_clear (&kept);
}

static void
exposed_time_is_shared_out_without_a_rest (G_GNUC_UNUSED void **state)
{
  seeds_run (200, check_exposure);
}

/* --- critical path --- */

static void
assert_covers (const PlayedJob *job, const Kept *kept)
{
  guint next = 0;

  for (guint i = 0; i < PLAYED_ITERATIONS; i++) {
    FabTimePs at_ps = job->times[i][0].start_ps;

    for (guint place = 0; next < kept->path->len; place++, next++) {
      const FabPathRecord *record = &g_array_index (kept->path, FabPathRecord, next);

      if (record->iteration != i)
        break;
      assert_int_equal (record->place, place);
      assert_int_equal (record->start_ps, at_ps);
      assert_true (record->end_ps > record->start_ps);
      at_ps = record->end_ps;
    }
    assert_int_equal (at_ps, job->times[i][0].start_ps + job->times[i][0].duration_ps);
  }
  assert_int_equal (next, kept->path->len);
}

/* Each span of it is (part of) one that was played, on its own stream. */
static void
assert_played (const PlayedJob *job, const Kept *kept)
{
  const FabDag *dag = job->made->dag;

  for (guint i = 0; i < kept->path->len; i++) {
    const FabPathRecord *record = &g_array_index (kept->path, FabPathRecord, i);
    FabTaskId task = 0;

    while (dag->tasks[task].name != record->name)
      task++;
    const PlayedTask *run = &job->runs[record->iteration][task];
    assert_int_equal (record->end_ps, run->end_ps);
    assert_int_equal (record->start_ps, MAX (run->start_ps, job->times[record->iteration][0].start_ps));
    assert_int_equal (record->rank_class, dag->streams[dag->tasks[task].stream].rank_class);
    assert_int_equal (record->kind, dag->tasks[task].kind);
  }
}

static void
check_path (Random *random)
{
  g_autoptr (PlayedJob) job = played_job_new (random, random_chance (random, 20));
  Kept kept = kept_new ();

  play_and_keep (job, random_chance (random, 50) ? &fab_net_fluid : &fab_net_analytic,
                 random_below (random, 40), &kept);
  assert_covers (job, &kept);
  assert_played (job, &kept);
  kept_clear (&kept);
}

static void
the_path_covers_the_iteration_without_holes (G_GNUC_UNUSED void **state)
{
  seeds_run (1000, check_path);
}

static gboolean
is_on_path (const Kept *kept, const FabTask *task)
{
  for (guint i = 0; i < kept->path->len; i++) {
    const FabPathRecord *record = &g_array_index (kept->path, FabPathRecord, i);

    if (record->iteration == 0 && record->name == task->name)
      return TRUE;
  }
  return FALSE;
}

static FabTimePs
replay (PlayedJob *job, FabTask *task, FabTimePs change_ps)
{
  task->duration_ps += change_ps;
  played_job_play (job, &(PlayedHow){ .ops = &fab_net_analytic });
  task->duration_ps -= change_ps;
  return job->times[0][0].duration_ps;
}

/* Where nothing contends: work on the path lengthens the iteration by as much as it gets longer itself, and that off
 * the path may get shorter without any effect. The first iteration, which has none before it. */
static void
check_effect (Random *random)
{
  g_autoptr (PlayedJob) job = played_job_new (random, random_chance (random, 20));
  FabDag *dag = job->made->dag;
  Kept kept = kept_new ();

  play_and_keep (job, &fab_net_analytic, 0, &kept);
  FabTimePs duration_ps = job->times[0][0].duration_ps;
  for (FabTaskId t = 0; t < dag->n_tasks; t++) {
    FabTask *task = &dag->tasks[t];
    FabTimePs change_ps = random_between (random, 1, 9);

    if (task->collective >= 0 || task->duration_ps == 0)
      continue;
    if (is_on_path (&kept, task))
      assert_int_equal (replay (job, task, change_ps), duration_ps + change_ps);
    else
      assert_int_equal (replay (job, task, -MIN (change_ps, task->duration_ps)), duration_ps);
  }
  kept_clear (&kept);
}

static void
only_what_is_on_the_path_decides (G_GNUC_UNUSED void **state)
{
  seeds_run (200, check_effect);
}

/* --- samples --- */

/* The integral over an iteration is what the link carried for its collectives; with a barrier, that is its load. */
static void
check_samples (Random *random)
{
  g_autoptr (PlayedJob) job = played_job_new (random, TRUE);
  Kept kept = kept_new ();

  play_and_keep (job, &fab_net_fluid, 0, &kept); /* which meters at the end, `analytic` at the start */
  for (guint i = 0; i < kept.samples->len; i++) {
    const FabLinkSampleRecord *first = &g_array_index (kept.samples, FabLinkSampleRecord, i), *last = first;
    double carried = 0;

    for (; i < kept.samples->len; i++) {
      const FabLinkSampleRecord *sample = &g_array_index (kept.samples, FabLinkSampleRecord, i);

      if (sample->link != first->link || sample->iteration != first->iteration)
        break;
      assert_true (sample->end_ps > sample->start_ps && sample->bytes_per_s > 0);
      assert_true (sample == first || sample->start_ps >= last->end_ps);
      carried += sample->bytes_per_s * fab_ps_to_seconds (sample->end_ps - sample->start_ps);
      last = sample;
    }
    i--;
    for (guint k = 0; k < kept.loads->len; k++) {
      const FabLinkLoadRecord *load = &g_array_index (kept.loads, FabLinkLoadRecord, k);

      if (load->iteration == first->iteration && load->link == first->link)
        assert_true (fabs ((double) load->bytes - carried) <= 0.5 + 1e-6 * carried);
    }
  }
  kept_clear (&kept);
}

static void
samples_add_up_to_the_load (G_GNUC_UNUSED void **state)
{
  seeds_run (500, check_samples);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    seeds_test (exposed_time_is_shared_out_without_a_rest),
    seeds_test (the_path_covers_the_iteration_without_holes),
    seeds_test (only_what_is_on_the_path_decides),
    seeds_test (samples_add_up_to_the_load),
  };

  return cmocka_run_group_tests_name ("records", tests, NULL, NULL);
}
