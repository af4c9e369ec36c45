/* SPDX-License-Identifier: Apache-2.0 */
/* prop_alike.c - micro-batches that are alike are made once and repeated: random jobs, with and without.
 *
 * With `fold: false` every micro-batch is made and played. Then the same holds to the picosecond: each step and its
 * parts, and when each collective is ready, starts and ends.
 */
#include "tests/support/test.h"

#include <string.h>

#include "tests/support/play.h"
#include "tests/support/seeds.h"

static FabCatalog *catalog;

static const char *const strategies[] = { "kind: ddp", "kind: ddp, overlap: false",
                                          "kind: ddp, bucket: 300KiB", "kind: ddp, no_sync: false",
                                          "kind: zero, stage: 1" };

/* Checkpoints that are asynchronous, or come after a time, depend on the compute time of the step. */
static const char *const more[] = {
  "",
  ", recompute: full",
  ", jitter: {cv: 3%}",
  ", stragglers: [{rank: 1, slowness: 1.3}]",
  ", checkpoint: {every: 1, to: network, total: 1GB/s}",
  ", checkpoint: {every: 1, to: network, total: 1MB/s, asynchronous: true}",
  ", checkpoint: {every: 1s, to: network, total: 100MB/s}",
  ", data_loader: {time: 3ms, prefetch: false}",
  ", optimizer_traffic: 16B",
};

/* What a job is, without its number of micro-batches. */
static char *
random_job (Random *random)
{
  return g_strdup_printf (
      "%s, model: small, micro_batch: %u, sequence: %u, compute: {kind: mfu, mfu: %u%%}%s",
      strategies[random_below (random, G_N_ELEMENTS (strategies))], random_between (random, 1, 3),
      random_between (random, 100, 999), random_between (random, 31, 97),
      more[random_below (random, G_N_ELEMENTS (more))]);
}

static char *
random_scenario (Random *random, guint accumulation)
{
  static const char *const fidelities[] = { "analytic", "fluid", "step" };
  g_autofree char *job = random_job (random);
  guint nodes = random_between (random, 1, 2);

  return g_strdup_printf (
      "name: t\niterations: %u\ncontention: %s\nfidelity: %s\ncluster: {node: dgx-a100, nodes: %u}\n"
      "job: {%s, accumulation: %u}\n"
      "models: [{name: small, shape: {kind: layers, layers: [{name: block, count: %u, tensors: [{name: w, count: %u, "
      "parameters: %u}]}]}}]\n",
      random_between (random, 1, 3), random_chance (random, 50) ? "true" : "false",
      fidelities[random_below (random, 3)], nodes, job, accumulation, random_between (random, 1, 4),
      random_between (random, 1, 3), random_between (random, 1000, 300000));
}

static void
check_collectives (const FabProbe *made, const FabProbe *alike)
{
  assert_int_equal (made->collectives->len, alike->collectives->len);
  for (guint i = 0; i < made->collectives->len; i++) {
    const FabCollectiveRecord *a = &g_array_index (made->collectives, FabCollectiveRecord, i),
                              *b = &g_array_index (alike->collectives, FabCollectiveRecord, i);

    assert_int_equal (a->ready_ps, b->ready_ps);
    assert_int_equal (a->start_ps, b->start_ps);
    assert_int_equal (a->end_ps, b->end_ps);
    assert_int_equal (a->exposed_ps, b->exposed_ps);
  }
}

static void
check_same (const char *yaml)
{
  g_autofree char *all = g_strconcat (yaml, "fold: false\n", NULL);
  g_autoptr (Play) made = play_new (catalog, all, NULL), alike = play_new (catalog, yaml, NULL);
  gboolean is_more;

  while ((is_more = fab_simulation_step (made->simulation))) {
    const FabProbe *a = fab_simulation_probe (made->simulation),
                   *b = fab_simulation_probe (alike->simulation);

    assert_true (fab_simulation_step (alike->simulation));
    if (memcmp (&a->step.times, &b->step.times, sizeof a->step.times) != 0)
      fail_msg ("%" G_GINT64_FORMAT " ps made, %" G_GINT64_FORMAT " alike:\n%s", a->step.times.duration_ps,
                b->step.times.duration_ps, yaml);
    assert_near (a->step.mfu_fraction, b->step.mfu_fraction, 1e-15);
    check_collectives (a, b);
  }
  assert_false (fab_simulation_step (alike->simulation));
}

static void
repeated_is_played_out (Random *random)
{
  g_autofree char *yaml = random_scenario (random, random_between (random, 30, 90));

  check_same (yaml);
}

static void
repeated_micro_batches_are_those_that_are_made (G_GNUC_UNUSED void **state)
{
  seeds_run (60, repeated_is_played_out);
}

static void
every_kind_of_job_is_repeated_as_it_is_made (G_GNUC_UNUSED void **state)
{
  for (guint s = 0; s < G_N_ELEMENTS (strategies); s++)
    for (guint m = 0; m < G_N_ELEMENTS (more); m++) {
      g_autofree char *yaml = g_strdup_printf (
          "name: t\niterations: 1\nfidelity: analytic\ncluster: {node: dgx-a100, nodes: 1}\n"
          "job: {%s, model: small, micro_batch: 2, sequence: 700, compute: {kind: mfu, mfu: 40%%}, "
          "accumulation: 40%s}\n"
          "models: [{name: small, shape: {kind: layers, layers: [{name: block, count: 2, tensors: [{name: w, count: 2, "
          "parameters: 100000}]}]}}]\n",
          strategies[s], more[m]);

      check_same (yaml);
    }
}

/* Of 36 micro-batches 33 are alike, which are repeated; of 34 they are made. */
static void
a_hundred_thousand_cost_no_more_than_a_hundred (G_GNUC_UNUSED void **state)
{
  static const guint counts[] = { 34, 35, 100, 100000 };
  guint n_tasks[G_N_ELEMENTS (counts)];

  for (guint i = 0; i < G_N_ELEMENTS (counts); i++) {
    g_autofree char *yaml = g_strdup_printf (
        "name: t\ncluster: {node: dgx-a100, nodes: 2}\n"
        "job: {kind: ddp, model: gpt2, micro_batch: 1, sequence: 1024, accumulation: %u, compute: {kind: mfu, "
        "mfu: 40%%}}\n",
        counts[i]);
    g_autoptr (Play) play = play_new (catalog, yaml, NULL);

    n_tasks[i] = fab_simulation_dag (play->simulation)->n_tasks;
    assert_true (fab_simulation_step (play->simulation));
  }
  assert_true (n_tasks[1] < n_tasks[0] / 4);
  assert_int_equal (n_tasks[1], n_tasks[2]);
  assert_int_equal (n_tasks[1], n_tasks[3]);
}

/* The first two and the last one are made beside the third, which stands for the others: of 35 there are 32. Other
 * orders of passes are made as they are, and so is what more than computes in a micro-batch or sums over sites. */
static void
a_task_without_time_says_how_many_are_alike (G_GNUC_UNUSED void **state)
{
  static const struct {
    guint n_micro;
    const char *job, *more, *name; /* NULL: all are made */
  } rows[] = { { 34, "kind: ddp", "", NULL },
               { 35, "kind: ddp", "", "end of 32 micro-batches that are alike" },
               { 1000, "kind: ddp", "", "end of 997 micro-batches that are alike" },
               { 1000, "kind: ddp", "fold: false\n", NULL },
               { 40, "kind: ddp, outer: {sites: 1}", "", "end of 37 micro-batches that are alike" },
               { 40, "kind: ddp, outer: {sites: 2}", "", NULL },
               { 40, "kind: ddp, no_sync: false", "", NULL },
               { 40, "kind: ddp, parallel: {pipeline: 2}", "", NULL },
               { 40, "kind: ddp, parallel: {schedule: gpipe}", "", NULL },
               { 40, "kind: ddp, parallel: {schedule: zero_bubble}", "", NULL },
               { 40, "kind: zero, stage: 1", "", NULL },
               { 40, "kind: fsdp", "", NULL } };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autofree char *yaml = g_strdup_printf (
        "name: t\ncluster: {node: dgx-a100, nodes: 1, gpus_per_node: 2}\n%s"
        "job: {%s, model: gpt2, micro_batch: 1, sequence: 1024, accumulation: %u, compute: {kind: mfu, "
        "mfu: 40%%}}\n",
        rows[i].more, rows[i].job, rows[i].n_micro);
    g_autoptr (Play) play = play_new (catalog, yaml, NULL);
    const FabDag *dag = fab_simulation_dag (play->simulation);
    guint n = 0;

    for (guint t = 0; t < dag->n_tasks; t++) {
      if (dag->tasks[t].collective >= 0 || !g_str_has_prefix (dag->tasks[t].name, "end of "))
        continue;
      assert_non_null (rows[i].name);
      assert_string_equal (dag->tasks[t].name, rows[i].name);
      assert_int_equal (dag->tasks[t].duration_ps, 0);
      n++;
    }
    assert_int_equal (n, rows[i].name != NULL ? 1 : 0);
  }
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    seeds_test (repeated_micro_batches_are_those_that_are_made),
    cmocka_unit_test (every_kind_of_job_is_repeated_as_it_is_made),
    cmocka_unit_test (a_task_without_time_says_how_many_are_alike),
    cmocka_unit_test (a_hundred_thousand_cost_no_more_than_a_hundred),
  };

  return play_run_tests ("alike", tests, &catalog);
}
