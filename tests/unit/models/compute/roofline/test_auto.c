/* SPDX-License-Identifier: Apache-2.0 */
/* test_auto.c - what the compute model `auto` takes where nobody says it: the training software of a job, and the
 * kernel of attention of that software. What is left out takes exactly as long as what should stand there, and no
 * other choice does.
 */
#include "tests/support/test.h"

#include <string.h>

#include "models/models.h"
#include "tests/support/play.h"

#define HEAD                                                                                               \
  "name: auto\niterations: 1\ncluster: {node: %s, nodes: 1, gpus_per_node: 1}\n"                           \
  "models: [{name: m, summary: s, source: s, date: \"2026-11-29\", shape: {kind: transformer, layers: 4, " \
  "hidden: 4096, heads: 32, vocabulary: 1000, tied: false, biases: false}}]\n"                             \
  "job: {model: m, micro_batch: 1, sequence: 4096, kind: %s, compute: {kind: auto%s}}\n"

static FabCatalog *catalog;

static FabTimePs
step_ps (const char *node, const char *job, const char *compute)
{
  g_autofree char *yaml = g_strdup_printf (HEAD, node, job, compute);
  g_autoptr (Play) play = play_new (catalog, yaml, NULL);

  assert_true (fab_simulation_step (play->simulation));
  return fab_simulation_probe (play->simulation)->step.times.duration_ps;
}

/* megatron for a megatron job, deepspeed for zero, eager for ddp and fsdp. */
static void
jobs_have_their_software (G_GNUC_UNUSED void **state)
{
  static const char *const stacks[] = { "eager",    "compiled",  "megatron", "nemo",
                                        "nanotron", "deepspeed", "xla" };
  static const struct {
    const char *job, *stack;
  } rows[] = { { "ddp", "eager" },
               { "fsdp", "eager" },
               { "zero, stage: 2", "deepspeed" },
               { "zero, stage: 3", "deepspeed" },
               { "megatron", "megatron" } };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    FabTimePs usual_ps = step_ps ("dgx-h100", rows[i].job, "");
    guint n_alike = 0;

    for (guint s = 0; s < G_N_ELEMENTS (stacks); s++) {
      g_autofree char *compute = g_strconcat (", stack: ", stacks[s], NULL);
      gboolean is_alike = step_ps ("dgx-h100", rows[i].job, compute) == usual_ps;

      n_alike += is_alike;
      if (strcmp (stacks[s], rows[i].stack) == 0 && !is_alike)
        fail_msg ("%s does not run %s", rows[i].job, rows[i].stack);
    }
    /* nemo is Megatron's with another name. */
    assert_int_equal (n_alike, strcmp (rows[i].stack, "megatron") == 0 ? 2 : 1);
  }
}

/* TransformerEngine's kernel of cuDNN with Megatron on Hopper and Blackwell, else FlashAttention 2, which stands for
 * cuDNN's on Ampere. */
static void
software_has_its_kernel_of_attention (G_GNUC_UNUSED void **state)
{
  static const struct {
    const char *node, *stack;
    gboolean is_cudnn;
  } rows[] = {
    { "dgx-h100", "megatron", TRUE },  { "dgx-h100", "nemo", TRUE },       { "hgx-b200", "megatron", TRUE },
    { "hgx-b200", "nemo", TRUE },      { "dgx-a100", "megatron", FALSE },  { "dgx-a100", "nemo", FALSE },
    { "dgx-h100", "nanotron", FALSE }, { "dgx-h100", "deepspeed", FALSE }, { "hgx-b200", "deepspeed", FALSE },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autofree char *usual = g_strdup_printf (", stack: %s", rows[i].stack),
                    *cudnn = g_strconcat (usual, ", attention: cudnn", NULL),
                    *flash2 = g_strconcat (usual, ", attention: flash2", NULL);
    gboolean has_both = strcmp (rows[i].node, "dgx-a100") != 0;
    FabTimePs usual_ps = step_ps (rows[i].node, "megatron", usual);

    gboolean is_cudnn = step_ps (rows[i].node, "megatron", cudnn) == usual_ps,
             is_flash2 = step_ps (rows[i].node, "megatron", flash2) == usual_ps;
    if (rows[i].is_cudnn ? !is_cudnn || is_flash2 : !is_flash2 || (has_both && is_cudnn))
      fail_msg ("%s on %s has another kernel", rows[i].stack, rows[i].node);
  }
}

static void
assert_parts_are_all (const Play *play, const char *what)
{
  const FabDag *dag = fab_simulation_dag (play->simulation);
  const FabJobTotals *totals = fab_simulation_totals (play->simulation);
  const FabComputeParts *parts = &totals->parts;
  double passes_s = 0, parts_s = fab_compute_parts_sum (parts) * totals->waiting * totals->setup.time_factor;

  for (FabTaskId t = 0; t < dag->n_tasks; t++)
    if (g_str_has_prefix (dag->tasks[t].name, "forward ")
        || g_str_has_prefix (dag->tasks[t].name, "backward "))
      passes_s += fab_ps_to_seconds (fab_task_ps (&dag->tasks[t]));
  assert_true (parts->products_s > 0 && parts->attention_s > 0 && parts->memory_bound_s > 0);
  assert_true (parts->copies_s >= 0 && parts->launches_s >= 0 && parts->readback_s >= 0
               && parts->host_s >= 0);
  if (!is_near (parts_s, passes_s, 1e-6))
    fail_msg ("%s: parts take %g s, passes %g s", what, parts_s, passes_s);
}

/* The parts of the time, none below nothing, are all of what forward and backward passes take, also where the model
 * takes every time so many times. Ranks that wait for the slowest of them take longer than their parts do. */
static void
parts_are_the_whole_time (G_GNUC_UNUSED void **state)
{
  static const char *const computes[] = { "", ", stack: eager, attention: unfused", ", scale: 0.5",
                                          ", scale: 2" };

  for (guint i = 0; i < G_N_ELEMENTS (computes); i++) {
    g_autofree char *yaml = g_strdup_printf (HEAD, "dgx-h100", "ddp", computes[i]);
    g_autoptr (Play) play = play_new (catalog, yaml, NULL);

    assert_parts_are_all (play, computes[i]);
  }
}

/* The host reads how many tokens experts have, and a rank with several experts puts those of other ranks into their
 * order. */
static void
parts_of_experts_are_the_whole_time (G_GNUC_UNUSED void **state)
{
  static const char *const computes[] = { "stack: megatron", "stack: megatron, scale: 0.5",
                                          "stack: megatron, scale: 2", "stack: eager, scale: 0.5" };
  double readback_s = 0, copies_s = 0;

  for (guint i = 0; i < G_N_ELEMENTS (computes); i++)
    for (guint n = 1; n <= 2; n++) {
      g_autofree char *yaml = g_strdup_printf (
          "name: auto\niterations: 1\ncluster: {node: dgx-h100, nodes: 1, gpus_per_node: %u}\n"
          "models: [{name: m, summary: s, source: s, date: \"2026-11-29\", shape: {kind: transformer, layers: 2, "
          "hidden: 1024, heads: 16, vocabulary: 1000, tied: false, biases: false, "
          "experts: {count: 8, per_token: 2}}}]\n"
          "job: {model: m, micro_batch: 1, sequence: 1024, kind: ddp, precision: fp8, parallel: {expert: %u}, "
          "compute: {kind: auto, %s}}\n",
          n, n, computes[i]);
      g_autoptr (Play) play = play_new (catalog, yaml, NULL);
      const FabComputeParts *parts = &fab_simulation_totals (play->simulation)->parts;

      assert_parts_are_all (play, computes[i]);
      readback_s = MAX (readback_s, parts->readback_s);
      copies_s = MAX (copies_s, parts->copies_s);
    }
  assert_true (readback_s > 0 && copies_s > 0);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (jobs_have_their_software),
    cmocka_unit_test (software_has_its_kernel_of_attention),
    cmocka_unit_test (parts_are_the_whole_time),
    cmocka_unit_test (parts_of_experts_are_the_whole_time),
  };

  return play_run_tests ("auto", tests, &catalog);
}
