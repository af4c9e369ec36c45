/* SPDX-License-Identifier: Apache-2.0 */
/* test_least_time.c - the least time of what is left of an iteration: chains of tasks by hand, and a bound of plays. */
#include "tests/support/test.h"

#include "sim/execution/least_time.h"
#include "tests/support/play.h"

static FabCatalog *catalog;

/* --- by hand --- */

static FabTimePs
work_ps (gpointer owner, FabTaskId task)
{
  return ((const FabDag *) owner)->tasks[task].duration_ps;
}

/* Every collective takes 100 ps. */
static FabTimePs
collective_ps (G_GNUC_UNUSED gpointer owner, G_GNUC_UNUSED guint collective)
{
  return 100;
}

static FabTaskId
work (FabDagBuilder *builder, guint stream, FabTimePs duration_ps)
{
  return fab_dag_builder_work (builder, stream, FAB_SPAN_COMPUTE, duration_ps, g_strdup ("w"));
}

/* Class 0 computes 10, then 20; class 1 computes 50, then 5. After the first of each a collective joins both, and the
 * second of class 0 waits for it. */
static FabDag *
two_classes (void)
{
  static const FabCollectivePlan plan = {
    .algorithm = "none", .protocol = "none", .n_ranks = 2, .wire_factor = 1
  };
  g_autoptr (FabDagBuilder) builder = fab_dag_builder_new ();
  guint first = fab_dag_builder_class (builder, "a", 0, 1),
        second = fab_dag_builder_class (builder, "b", 1, 1);
  guint compute = fab_dag_builder_stream (builder, first, "compute"),
        comm = fab_dag_builder_stream (builder, first, "comm"),
        compute2 = fab_dag_builder_stream (builder, second, "compute"),
        comm2 = fab_dag_builder_stream (builder, second, "comm");
  FabTaskId a = work (builder, compute, 10), b = work (builder, compute2, 50);
  guint collective = fab_dag_builder_collective (builder, &plan, FAB_DIMENSION_OTHER, g_strdup ("c"));
  FabTaskId here = fab_dag_builder_join (builder, comm, collective),
            there = fab_dag_builder_join (builder, comm2, collective);

  fab_dag_builder_after (builder, here, a);
  fab_dag_builder_after (builder, there, b);
  fab_dag_builder_after (builder, work (builder, compute, 20), here);
  work (builder, compute2, 5);
  return fab_dag_builder_freeze (builder);
}

/* The collective begins when the later class is there: 50 + 100 + 20. */
static void
the_longest_chain_is_the_least_time (G_GNUC_UNUSED void **state)
{
  g_autoptr (FabDag) dag = two_classes ();
  const FabLeft all = { dag, dag->n_waits, NULL, work_ps, collective_ps, dag };

  assert_int_equal (fab_least_time_ps (&all), 170);
}

/* The first of class 1 is done, that of class 0 has begun and may end at once: 100 + 20. */
static void
what_is_done_or_has_begun_takes_nothing (G_GNUC_UNUSED void **state)
{
  g_autoptr (FabDag) dag = two_classes ();
  g_autofree guint *n_waiting = g_memdup2 (dag->n_waits, sizeof (guint) * dag->n_tasks);
  g_autofree guint8 *is_done = g_new0 (guint8, dag->n_tasks);
  const FabLeft left = { dag, n_waiting, is_done, work_ps, collective_ps, dag };

  is_done[1] = TRUE;
  for (guint i = dag->next_starts[1]; i < dag->next_starts[2]; i++)
    n_waiting[dag->next[i]]--;
  assert_int_equal (fab_least_time_ps (&left), 120);
}

/* A task of 100 by itself, added first, and beside it one of 1 with two that wait for it: 50 and 60, the second of
 * which has one of 30 behind it. 1 + 60 + 30 is less than 100, and only what waits for the first would come
 * after it. */
static void
only_what_waits_for_a_task_comes_after_it (G_GNUC_UNUSED void **state)
{
  static const FabTimePs first_ps[] = { 100, 80 };

  for (guint i = 0; i < G_N_ELEMENTS (first_ps); i++) {
    g_autoptr (FabDagBuilder) builder = fab_dag_builder_new ();
    guint rank_class = fab_dag_builder_class (builder, "a", 0, 1), streams[4];

    for (guint s = 0; s < G_N_ELEMENTS (streams); s++)
      streams[s] = fab_dag_builder_stream (builder, rank_class, "s");
    work (builder, streams[0], first_ps[i]);
    FabTaskId before = work (builder, streams[1], 1);
    fab_dag_builder_after (builder, work (builder, streams[2], 50), before);
    fab_dag_builder_after (builder, work (builder, streams[3], 60), before);
    work (builder, streams[3], 30);
    g_autoptr (FabDag) dag = fab_dag_builder_freeze (builder);
    const FabLeft all = { dag, dag->n_waits, NULL, work_ps, collective_ps, dag };

    assert_int_equal (fab_least_time_ps (&all), i == 0 ? 100 : 91);
  }
}

/* --- plays --- */

#define HEAD \
  "name: t\niterations: 3\ncluster: {node: dgx-a100, nodes: 4, fabric: {kind: leaf_spine, oversubscription: 4}}\n"

/* No iteration takes less than was said before it began, and of a job that waits for its network little more. */
static void
no_iteration_takes_less (G_GNUC_UNUSED void **state)
{
  static const char *const jobs[] = {
    "{kind: ddp, model: gpt2-xl, micro_batch: 2}",
    "{kind: ddp, model: gpt2-xl, micro_batch: 2, jitter: {cv: 10%}}",
    "{kind: zero, stage: 3, model: gpt2-xl, micro_batch: 1}",
    "{kind: fsdp, model: gpt2-xl, micro_batch: 2, accumulation: 2}",
    "{kind: megatron, model: gpt2-xl, accumulation: 8, distributed_optimizer: true, overlap_grad_reduce: true, "
    "overlap_param_gather: true, parallel: {tensor: 4, pipeline: 4}}",
  };
  static const char *const fidelities[] = { "fluid", "step", "analytic" };

  for (guint i = 0; i < G_N_ELEMENTS (jobs); i++)
    for (guint f = 0; f < G_N_ELEMENTS (fidelities); f++) {
      g_autofree char *yaml = g_strdup_printf (HEAD "fidelity: %s\njob: %s\n", fidelities[f], jobs[i]);
      g_autoptr (Play) play = play_new (catalog, yaml, NULL);

      for (guint n = 0; n < 3; n++) {
        FabTimePs least_ps = fab_simulation_least_ps (play->simulation);

        assert_true (fab_simulation_step (play->simulation));
        FabTimePs step_ps = fab_simulation_probe (play->simulation)->step.times.duration_ps;
        if (least_ps > step_ps)
          fail_msg ("%s: iteration %u took %" G_GINT64_FORMAT " ps, less than %" G_GINT64_FORMAT, yaml, n,
                    step_ps, least_ps);
        assert_true (least_ps > step_ps / 4);
      }
    }
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (the_longest_chain_is_the_least_time),
    cmocka_unit_test (what_is_done_or_has_begun_takes_nothing),
    cmocka_unit_test (only_what_waits_for_a_task_comes_after_it),
    cmocka_unit_test (no_iteration_takes_less),
  };
  return play_run_tests ("least_time", tests, &catalog);
}
