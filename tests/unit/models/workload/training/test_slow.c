/* SPDX-License-Identifier: Apache-2.0 */
/* test_slow.c - which ranks form a class where some are slower than others. */
#include "tests/support/test.h"

#include <math.h>
#include <string.h>

#include "models/models.h"
#include "models/workload/training/slow.h"
#include "sim/execution/jitter.h"
#include "tests/support/play.h"
#include "tests/support/rig.h"

static FabCatalog *catalog;

#define HEAD                                                                                               \
  "name: slow\niterations: 1\ncollectives: {kind: plain, algorithm: direct}\n"                             \
  "models: [{name: m, summary: s, source: s, date: \"2026-11-29\", shape: {kind: transformer, layers: 2, " \
  "hidden: 256, heads: 4, vocabulary: 1000%s}}]\n"                                                         \
  "cluster: {node: dgx-a100, nodes: 1}\n"                                                                  \
  "job: {kind: megatron, model: m, micro_batch: 1, sequence: 128, compute: {kind: mfu}, parallel: {%s}%s}\n"
#define EXPERTS ", experts: {count: 8, per_token: 2, width: 256}"

static Play *
job (const char *experts, const char *parallel, const char *keys)
{
  g_autofree char *yaml = g_strdup_printf (HEAD, experts, parallel, keys);

  return play_new (catalog, yaml, NULL);
}

static double
step_s (const Play *play)
{
  assert_true (fab_simulation_step (play->simulation));
  return fab_ps_to_seconds (fab_simulation_probe (play->simulation)->step.times.duration_ps);
}

/* Ranks that are never divided, because their experts are, stay together: the class of a slow rank has all of them, and
 * its name. All classes together have every rank once. */
static void
a_slow_rank_has_a_class_of_its_own (G_GNUC_UNUSED void **state)
{
  static const struct {
    const char *experts, *parallel;
    guint unit;
  } rows[] = {
    { "", "pipeline: 1", 1 },
    { EXPERTS, "expert: 2, order: tp-cp-ep-dp-pp", 2 },
    { EXPERTS, "expert: 4, order: tp-cp-ep-dp-pp", 4 },
    { EXPERTS, "context: 2, expert: 4, expert_tensor: 1, order: tp-cp-ep-dp-pp", 4 },
    { EXPERTS, "tensor: 2, sequence: true, expert: 4, expert_tensor: 1, order: tp-cp-ep-dp-pp", 4 },
    { EXPERTS, "tensor: 2, sequence: true, expert: 2, expert_tensor: 1, order: tp-cp-ep-dp-pp", 2 },
    { EXPERTS, "tensor: 2, sequence: true, context: 2, expert: 2, expert_tensor: 2, order: tp-cp-ep-dp-pp",
      4 }
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autoptr (Play) even = job (rows[i].experts, rows[i].parallel, "");
    double even_s = step_s (even);

    assert_int_equal (fab_simulation_dag (even->simulation)->n_classes, 1);
    for (guint rank = 0; rank < 8; rank++) {
      g_autofree char *keys = g_strdup_printf (", stragglers: [{rank: %u, slowness: 3}]", rank),
                      *name = g_strdup_printf ("rank %u", rank);
      g_autoptr (Play) play = job (rows[i].experts, rows[i].parallel, keys);
      const FabDag *dag = fab_simulation_dag (play->simulation);
      guint next = 0, n_found = 0;

      for (guint c = 0; c < dag->n_classes; c++) {
        const FabRankClassRecord *one = &dag->classes[c];

        if (strstr (one->name, name) != NULL) {
          n_found++;
          assert_int_equal (one->first_rank, rank / rows[i].unit * rows[i].unit);
          assert_int_equal (one->n_ranks, rows[i].unit);
        }
        next += one->n_ranks;
      }
      assert_int_equal (n_found, 1);
      assert_int_equal (next, 8);
      assert_true (step_s (play) > even_s);
    }
  }
}

/* Several slow ranks: the slowest of them says how long the step takes. */
static void
the_slowest_rank_sets_the_pace (G_GNUC_UNUSED void **state)
{
  g_autoptr (Play) one = job ("", "pipeline: 1", ", stragglers: [{rank: 6, slowness: 3}]"),
                   both = job ("", "pipeline: 1",
                               ", stragglers: [{rank: 2, slowness: 2}, {rank: 6, slowness: 3}]");
  const FabDag *dag = fab_simulation_dag (both->simulation);

  assert_int_equal (dag->n_classes, 5); /* 0-1, 2, 3-5, 6, 7 */
  assert_near (step_s (both), step_s (one), 1e-12);
}

/* --- factors --- */

enum { N_RANKS = 24, SEED = 7 };

typedef struct {
  Layout layout;
  const StragglerParams *stragglers;
  guint n_stragglers, unit;
  double sigma;
} Ranks;

/* Of the slowest rank of the unit of replicas that begins here, in a stage; stages end at `last`. */
static double
slowest_of (const Ranks *self, guint first_data, guint stage, guint last, guint iteration)
{
  const Layout *layout = &self->layout;
  double slowest = 0;

  for (guint rank = 0; rank < N_RANKS; rank++) {
    guint data = rank / layout->stride[AXIS_DATA] % layout->size[AXIS_DATA],
          at = rank / layout->stride[AXIS_PIPELINE] % layout->size[AXIS_PIPELINE];
    double factor = fab_jitter_factor (SEED, iteration, rank, self->sigma);

    for (guint i = 0; i < self->n_stragglers; i++)
      factor *= self->stragglers[i].rank == rank ? self->stragglers[i].slowness : 1;
    if (data >= first_data && data < first_data + self->unit && at >= stage && at <= last)
      slowest = MAX (slowest, factor);
  }
  return slowest;
}

static gboolean
has_straggler (const Ranks *self, guint first_data)
{
  for (guint i = 0; i < self->n_stragglers; i++)
    if (self->stragglers[i].rank / self->layout.stride[AXIS_DATA] % self->layout.size[AXIS_DATA] / self->unit
        == first_data / self->unit)
      return TRUE;
  return FALSE;
}

/* Units between stragglers, from `first`, of which so many others are slower in their slowest stage: the place-th. */
static guint
unit_at_place (const Ranks *self, guint first, guint end, guint place, guint iteration)
{
  guint n_stages = self->layout.size[AXIS_PIPELINE];

  for (guint unit = first; unit < end; unit += self->unit) {
    double mine = slowest_of (self, unit, 0, n_stages - 1, iteration);
    guint n_slower = 0;

    for (guint other = first; other < end; other += self->unit) {
      double its = slowest_of (self, other, 0, n_stages - 1, iteration);

      n_slower += its > mine || (its >= mine && other < unit);
    }
    if (n_slower == place)
      return unit;
  }
  fail ();
  return 0;
}

/* Bins follow one another along the data axis. A straggler's has its unit alone; those between two of them have the
 * units there by how slow they are, and the mean of their factors in each stage. */
static void
check_factors (const Ranks *self, Slow *slow)
{
  guint n_data = self->layout.size[AXIS_DATA], n_stages = self->layout.size[AXIS_PIPELINE], next = 0;

  for (guint b = 0, first = 0, end = 0; b < slow_n_bins (slow); b++) {
    const SlowBin *bin = slow_bin (slow, b);
    gboolean is_slow = has_straggler (self, next);

    assert_int_equal (bin->first_data, next);
    assert_true (bin->n_data > 0 && bin->n_data % self->unit == 0);
    if (next >= end)
      for (first = end = next;
           end < n_data && (end == first || !is_slow) && has_straggler (self, end) == is_slow;)
        end += self->unit;
    assert_true (next + bin->n_data <= end);
    for (guint iteration = 0; iteration < 3; iteration++)
      for (guint stage = 0; stage < n_stages; stage++) {
        guint n = bin->n_data / self->unit;
        double sum = 0;

        for (guint i = 0; i < n; i++) {
          guint place = (next - first) / self->unit + i;

          sum += slowest_of (self, unit_at_place (self, first, end, place, iteration), stage, stage,
                             iteration);
        }
        assert_near (slow_factor (slow, stage, b, iteration), sum / n, 1e-12);
        assert_true (slow_factor (slow, stage, b, iteration) <= slow_most (slow));
      }
    next += bin->n_data;
  }
  assert_int_equal (next, n_data);
}

/* A replica is as slow in a stage as its slowest rank there. */
static void
bins_have_the_factors_of_their_replicas (G_GNUC_UNUSED void **state)
{
  static const StragglerParams stragglers[] = { { 0, 3 }, { 13, 1.5 } };
  static const struct {
    guint tensor, pipeline, expert;
    const char *order;
  } rows[] = { { 1, 1, 1, "tp-cp-ep-dp-pp" }, { 2, 1, 1, "tp-cp-ep-dp-pp" }, { 1, 2, 1, "tp-cp-ep-dp-pp" },
               { 2, 2, 1, "pp-dp-cp-tp" },    { 1, 2, 2, "tp-cp-ep-dp-pp" }, { 1, 1, 3, "tp-cp-ep-dp-pp" } };
  static const double cvs[] = { 0, 0.05 };
  g_autoptr (Rig) rig = rig_new_flat (N_RANKS);

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    for (guint n = 0; n <= 2; n++)
      for (guint c = 0; c < G_N_ELEMENTS (cvs); c++)
        for (guint classes = 1; classes <= 64; classes *= 4) {
          const ParallelParams params = { .tensor = rows[i].tensor,
                                          .context = 1,
                                          .expert = rows[i].expert,
                                          .pipeline = rows[i].pipeline,
                                          .virtual_stages = 1,
                                          .order = rows[i].order };
          const FabParamList list = { (gpointer) stragglers, n };
          const JitterParams jitter = { .cv = cvs[c], .n_classes = classes };
          Ranks ranks = { .stragglers = stragglers,
                          .n_stragglers = n,
                          .unit = rows[i].expert,
                          .sigma = fab_jitter_sigma (cvs[c]) };

          assert_true (layout_init (&ranks.layout, &rig->cluster, &params, NULL));
          Slow *slow = slow_new (&ranks.layout, &list, &jitter, SEED, NULL);
          assert_int_equal (slow_is_needed (slow), n > 0 || c > 0);
          assert_near (slow_most (slow), (n > 0 ? 3 : 1) * exp (8 * ranks.sigma), 1e-12);
          if (n == 0)
            assert_int_equal (slow_n_bins (slow),
                              c == 0 ? 1 : MIN (classes, ranks.layout.size[AXIS_DATA] / ranks.unit));
          check_factors (&ranks, slow);
          slow_free (slow);
        }
}

/* Names say which replicas are meant, where there are several. */
static void
bins_have_names (G_GNUC_UNUSED void **state)
{
  static const StragglerParams straggler[] = { { 5, 2 } }, two[] = { { 10, 2 }, { 13, 2 } };
  static const struct {
    guint n_stragglers, n_classes;
    double cv;
    const char *names;
  } rows[] = { { 0, 4, 0, "-" },
               { 0, 1, 0.05, "-" },
               { 0, 3, 0.05, "slowest, jitter 1 of 2, jitter 2 of 2" },
               { 1, 4, 0, "replicas 0-4, rank 5, replicas 6-23" },
               { 2, 4, 0, "replicas 0-9, rank 10, replicas 11-12, rank 13, replicas 14-23" },
               { 1, 2, 0.05, "slowest, jitter 1 of 1, rank 5, slowest, jitter 1 of 1" } };
  const ParallelParams params = {
    .tensor = 1, .context = 1, .expert = 1, .pipeline = 1, .virtual_stages = 1, .order = "tp-cp-ep-dp-pp"
  };
  g_autoptr (Rig) rig = rig_new_flat (N_RANKS);
  Layout layout;

  assert_true (layout_init (&layout, &rig->cluster, &params, NULL));
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    const FabParamList list = { (gpointer) (rows[i].n_stragglers == 2 ? two : straggler),
                                rows[i].n_stragglers };
    const JitterParams jitter = { .cv = rows[i].cv, .n_classes = rows[i].n_classes };
    Slow *slow = slow_new (&layout, &list, &jitter, SEED, NULL);
    g_autoptr (GString) names = g_string_new (NULL);

    for (guint b = 0; b < slow_n_bins (slow); b++) {
      const char *name = slow_bin (slow, b)->name;

      g_string_append_printf (names, "%s%s", b > 0 ? ", " : "", name != NULL ? name : "-");
    }
    assert_string_equal (names->str, rows[i].names);
    slow_free (slow);
  }
}

/* Times are those of an average GPU only if the compute model says so. */
static void
a_job_waits_for_its_slowest_gpu (G_GNUC_UNUSED void **state)
{
  const JitterParams jitter = { .gpus = 0.02 };

  assert_near (slow_waiting (&jitter, 8, FALSE), 1, 0);
  assert_near (slow_waiting (&jitter, 8, TRUE), fab_jitter_slowest (8, 0.02), 0);
  assert_near (slow_waiting (&jitter, 1, TRUE), 1, 0);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (a_slow_rank_has_a_class_of_its_own),
    cmocka_unit_test (the_slowest_rank_sets_the_pace),
    cmocka_unit_test (bins_have_the_factors_of_their_replicas),
    cmocka_unit_test (bins_have_names),
    cmocka_unit_test (a_job_waits_for_its_slowest_gpu),
  };

  return play_run_tests ("slow", tests, &catalog);
}
