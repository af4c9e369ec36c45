/* SPDX-License-Identifier: Apache-2.0 */
/* test_ddp.c - the tasks of one data parallel step, for a model of three tensors.
 *
 * One token on accelerators of 1e12 FLOP/s at mfu 100 %: a FLOP is a ps. Layer l0 has tensors of 100 and 50
 * parameters and 300 FLOP, l1 one of 200 and 400 FLOP; gradients are 4 bytes per parameter.
 */
#include "tests/support/test.h"

#include "tests/support/params.h"
#include "tests/support/rig.h"

#define COMMON "model: any, sequence: 1, compute: {kind: mfu, mfu: 100%}, "

typedef struct {
  Rig *rig;
  FabDag *dag;
  FabJobTotals totals;
} Job;

static void
add_layer (FabLayerStack *stack, const char *name, double flops)
{
  FabOperator work = { .name = "work", .kind = FAB_OPERATOR_MATMUL, .flops = flops, .n_matrices = 1 };

  fab_layer_stack_add_layer (stack, g_strdup (name), 0)->is_block = TRUE;
  fab_layer_stack_add_segment (stack, "layer");
  fab_layer_stack_add_operator (stack, &work);
}

static FabLayerStack *
three_tensors (gconstpointer has_tensors, G_GNUC_UNUSED const char *name, G_GNUC_UNUSED guint sequence)
{
  FabLayerStack *stack = fab_layer_stack_new ();

  add_layer (stack, "l0", 300);
  if (has_tensors) {
    fab_layer_stack_add_tensor (stack, FAB_TENSOR_WHOLE, 100, 100);
    fab_layer_stack_add_tensor (stack, FAB_TENSOR_WHOLE, 50, 50);
  }
  add_layer (stack, "l1", 400);
  if (has_tensors)
    fab_layer_stack_add_tensor (stack, FAB_TENSOR_WHOLE, 200, 200);
  return stack;
}

static Job *
job_new (const char *yaml, gboolean has_tensors)
{
  g_autoptr (Params) params = params_new (&fab_workload_ddp.info, yaml);
  g_autoptr (FabDagBuilder) builder = fab_dag_builder_new ();
  Job *self = g_new0 (Job, 1);

  self->rig = rig_new_flat (2);
  FabWorkloadEnv env = {
    &self->rig->cluster, self->rig->plain, three_tensors, NULL, NULL, has_tensors ? "" : NULL, 1, FALSE, FALSE
  };
  assert_true (fab_workload_ddp.build (&env, params->params, builder, &self->totals, NULL));
  self->dag = fab_dag_builder_freeze (builder);
  return self;
}

static void
job_free (Job *self)
{
  fab_dag_free (self->dag);
  fab_job_totals_clear (&self->totals);
  rig_free (self->rig);
  g_free (self);
}
G_DEFINE_AUTOPTR_CLEANUP_FUNC (Job, job_free)

/* "stream: name amount, ..." of all tasks of a stream: ps of work, bytes of collectives. */
static void
assert_stream (const Job *job, const char *stream, const char *tasks)
{
  g_autoptr (GString) text = g_string_new (NULL);

  for (FabTaskId t = 0; t < job->dag->n_tasks; t++) {
    const FabTask *task = &job->dag->tasks[t];
    gint64 amount = task->collective < 0 ? task->duration_ps
                                         : (gint64) job->dag->collectives[task->collective].plan.bytes;

    if (strcmp (job->dag->streams[task->stream].name, stream) == 0)
      g_string_append_printf (text, "%s%s %d", text->len > 0 ? ", " : "", task->name, (int) amount);
  }
  assert_string_equal (text->str, tasks);
}

static FabTaskId
find_task (const Job *job, const char *name)
{
  for (FabTaskId t = 0; t < job->dag->n_tasks; t++)
    if (strcmp (job->dag->tasks[t].name, name) == 0)
      return t;
  fail_msg ("no task '%s'", name);
  return 0;
}

static gboolean
is_among (const FabTaskId *next, const guint *starts, FabTaskId before, FabTaskId task)
{
  for (guint i = starts[before]; i < starts[before + 1]; i++)
    if (next[i] == task)
      return TRUE;
  return FALSE;
}

static gboolean
waits_for (const Job *job, const char *task, const char *before)
{
  return is_among (job->dag->next, job->dag->next_starts, find_task (job, before), find_task (job, task));
}

static gboolean
waits_for_previous (const Job *job, const char *task, const char *before)
{
  return is_among (job->dag->carried, job->dag->carried_starts, find_task (job, before),
                   find_task (job, task));
}

/* Backward takes twice the forward and goes from the last tensor to the first; a layer's time is spread over its
 * tensors by size: 600 x 50/150 = 200 and 600 x 100/150 = 400. The first bucket is
 * full (1000 >= 1000) with 800 + 200, the second (cap 500) holds the 400 that are left. */
static void
buckets_close_when_they_reach_their_cap (G_GNUC_UNUSED void **state)
{
  g_autoptr (Job) job = job_new ("{" COMMON "first_bucket: 1000B, bucket: 500B}", TRUE);

  assert_stream (job, "compute",
                 "forward l0 300, forward l1 400, backward l1.0 800, backward l0.1 200, backward l0.0 400, "
                 "optimizer 0");
  assert_stream (job, "comm", "all_reduce bucket0 1000, all_reduce bucket1 400");
  assert_stream (job, "loader", "");
  assert_true (waits_for (job, "all_reduce bucket0", "backward l0.1"));
  assert_true (waits_for (job, "all_reduce bucket1", "backward l0.0"));
  assert_true (waits_for (job, "all_reduce bucket1", "all_reduce bucket0"));
  assert_true (waits_for (job, "optimizer", "all_reduce bucket1"));
}

/* All 350 parameters in one bucket that never reaches its cap: it closes with backward. */
static void
the_last_bucket_closes_with_backward (G_GNUC_UNUSED void **state)
{
  g_autoptr (Job) job = job_new ("{" COMMON "first_bucket: 1MiB, gradient: bf16}", TRUE);

  assert_stream (job, "comm", "all_reduce bucket0 700");
  assert_int_equal (job->totals.gradient_bytes, 700);
}

/* One token: 700 forward, 3 x 700; recomputing runs every layer's forward again before its backward. Two ranks. */
static void
recomputation_is_executed_and_not_counted_as_model (G_GNUC_UNUSED void **state)
{
  g_autoptr (Job) job = job_new ("{" COMMON "recompute: full}", TRUE);

  assert_stream (job, "compute",
                 "forward l0 300, forward l1 400, backward l1.recompute 400, backward l1.0 800, "
                 "backward l0.recompute 300, backward l0.1 200, backward l0.0 400, optimizer 0");
  assert_near (job->totals.model_flops_per_rank, 2100, 0);
  assert_near (job->totals.executed_flops_per_rank, 2800, 0);
  assert_near (job->totals.tokens, 2, 0);
  assert_int_equal (job->totals.parameters, 350);
}

/* Twice the sequences, half the efficiency: four times the time. */
static void
time_follows_batch_and_efficiency (G_GNUC_UNUSED void **state)
{
  g_autoptr (Job) job = job_new ("{model: any, sequence: 1, micro_batch: 2, compute: {kind: mfu, mfu: 50%}}",
                                 TRUE);

  assert_int_equal (job->dag->tasks[find_task (job, "forward l1")].duration_ps, 1600);
}

/* 350 parameters x 30 bytes at 1 byte per ps. */
static void
the_optimizer_moves_memory (G_GNUC_UNUSED void **state)
{
  g_autoptr (Job) job = job_new ("{" COMMON "optimizer_traffic: 30B}", TRUE);

  assert_int_equal (job->dag->tasks[find_task (job, "optimizer")].duration_ps, 10500);
}

static void
loading_waits_for_the_step_unless_it_prefetches (G_GNUC_UNUSED void **state)
{
  g_autoptr (Job) ahead = job_new ("{" COMMON "data_loader: {time: 1ns}}", TRUE);
  g_autoptr (Job) after = job_new ("{" COMMON "data_loader: {time: 1ns, prefetch: false}}", TRUE);

  assert_stream (ahead, "loader", "load 1000");
  assert_true (waits_for (ahead, "forward l0", "load"));
  assert_false (waits_for_previous (ahead, "load", "optimizer"));
  assert_true (waits_for_previous (after, "load", "optimizer"));
}

/* No parameters, no buckets: the optimizer has nothing to wait for but backward. */
static void
a_model_without_parameters_only_computes (G_GNUC_UNUSED void **state)
{
  g_autoptr (Job) job = job_new ("{" COMMON "}", FALSE);

  assert_stream (job, "comm", "");
  assert_stream (job, "compute",
                 "forward l0 300, forward l1 400, backward l1 800, backward l0 600, optimizer 0");
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (buckets_close_when_they_reach_their_cap),
    cmocka_unit_test (the_last_bucket_closes_with_backward),
    cmocka_unit_test (recomputation_is_executed_and_not_counted_as_model),
    cmocka_unit_test (time_follows_batch_and_efficiency),
    cmocka_unit_test (the_optimizer_moves_memory),
    cmocka_unit_test (loading_waits_for_the_step_unless_it_prefetches),
    cmocka_unit_test (a_model_without_parameters_only_computes),
  };

  return cmocka_run_group_tests_name ("ddp", tests, NULL, NULL);
}
