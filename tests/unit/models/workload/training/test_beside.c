/* SPDX-License-Identifier: Apache-2.0 */
/* test_beside.c - which part of a pass runs beside what tensor-parallel ranks gather and sum (overlap.c, turns.c).
 *
 * A pass takes its FLOPs. Of 256 numbers for a token and a sequence of 16: attention has 2 x 3 x 256^2 for its input,
 * 4 x 16 x 256 for the scores and 2 x 256^2 for its output; an MLP has 2 x 4 x 256^2 twice.
 */
#include "tests/support/test.h"

#include <string.h>

#include "models/models.h"
#include "tests/support/play.h"

enum { H = 256, TOKENS = 16 };

static FabCatalog *catalog;

static const struct {
  const char *name;
  double first, last, all; /* FLOPs of a token forward: of the matrices before and behind, of everything */
} segments[] = { { "attention", 6.0 * H *H, 2.0 * H *H, 8.0 * H *H + 4.0 * TOKENS *H },
                 { "mlp", 8.0 * H *H, 8.0 * H *H, 16.0 * H *H } };

static Play *
job_of (const char *shape, guint n, gboolean is_sequence, gboolean is_overlapped)
{
  g_autofree char *yaml = g_strdup_printf (
      "name: beside\niterations: 1\ncollectives: {kind: plain, algorithm: direct}\n"
      "cluster: {node: dgx-h100, nodes: 1, gpus_per_node: %u}\n"
      "models: [{name: m, summary: s, source: s, date: \"2026-11-30\", shape: {kind: transformer, layers: 2, "
      "hidden: %d, heads: 8, vocabulary: 1024, tied: false, biases: false%s}}]\n"
      "job: {kind: megatron, model: m, micro_batch: 1024, sequence: %d, clip_gradients: false, compute: {kind: mfu}, "
      "parallel: {tensor: %u, sequence: %s, overlap_tensor: %s}}\n",
      n, H, shape, TOKENS, n, is_sequence ? "true" : "false", is_overlapped ? "true" : "false");

  return play_new (catalog, yaml, NULL);
}

static Play *
job (guint n, gboolean is_sequence, gboolean is_overlapped)
{
  return job_of ("", n, is_sequence, is_overlapped);
}

/* Of all tasks whose name begins so, in seconds; `suffix` NULL: of those with a number or nothing behind it. */
static double
task_s (const Play *play, const char *prefix, const char *suffix)
{
  const FabDag *dag = fab_simulation_dag (play->simulation);
  double s = 0;

  for (FabTaskId t = 0; t < dag->n_tasks; t++) {
    const char *name = dag->tasks[t].name, *rest = name + strlen (prefix);

    if (g_str_has_prefix (name, prefix)
        && (suffix != NULL ? strcmp (rest, suffix) == 0 : *rest == '\0' || g_ascii_isdigit (rest[1])))
      s += fab_ps_to_seconds (fab_task_ps (&dag->tasks[t]));
  }
  return s;
}

static void
assert_share (double s, double all_s, double share, const char *what)
{
  if (!is_near (s, share * all_s, 1e-4) && !(share <= 0 && s <= 0))
    fail_msg ("%s is %g of the pass, not %g", what, s / all_s, share);
}

static void
check_forward (const Play *play, guint i, gboolean is_overlapped, guint n, double all_s)
{
  g_autofree char *name = g_strdup_printf ("forward block1.%s", segments[i].name);
  double beside = is_overlapped ? (n - 1.0) / n : 0, first = beside * segments[i].first / segments[i].all,
         last = beside * segments[i].last / segments[i].all;

  assert_share (task_s (play, name, ".first"), all_s, first, "what runs beside the gather");
  assert_share (task_s (play, name, ".last"), all_s, last, "what runs beside the sum");
  assert_share (task_s (play, name, NULL), all_s, 1 - first - last, "what runs between them");
}

/* Of n ranks each has its own n-th of the tokens at once, and needs the sum of its own last: n - 1 of n parts of the
 * matrix at either end run meanwhile. Without `overlap_tensor` nothing does. */
static void
forward_runs_beside_gathers_and_sums (G_GNUC_UNUSED void **state)
{
  for (guint n = 2; n <= 8; n *= 2)
    for (guint way = 0; way < 3; way++) {
      g_autoptr (Play) play = job (n, way > 0, way > 1);

      for (guint i = 0; i < G_N_ELEMENTS (segments); i++) {
        g_autofree char *name = g_strdup_printf ("forward block1.%s", segments[i].name);
        double all_s = task_s (play, name, ".first") + task_s (play, name, NULL)
                     + task_s (play, name, ".last");

        assert_true (all_s > 0);
        check_forward (play, i, way > 1, n, all_s);
      }
    }
}

/* Backward is the forward pass twice: one product for the input and one for the weights of each matrix. Those of the
 * weights of the first matrices are computed beside the sum of their inputs' gradients. With a sequence in parts the
 * input is gathered once more beside the products for these gradients, and before it comes all else. Of the product
 * for the input of the last matrix, with which backward begins, n - 1 of n parts run beside the gather of what comes
 * back. */
static void
backward_runs_beside_gathers_and_sums (G_GNUC_UNUSED void **state)
{
  for (guint n = 2; n <= 8; n *= 2)
    for (guint way = 0; way < 3; way++) {
      g_autoptr (Play) play = job (n, way > 0, way > 1);
      double ratio[G_N_ELEMENTS (segments)];

      for (guint i = 0; i < G_N_ELEMENTS (segments); i++) {
        g_autofree char *forward = g_strdup_printf ("forward block1.%s", segments[i].name),
                        *backward = g_strdup_printf ("backward block1.%s", segments[i].name);
        double forward_s = task_s (play, forward, ".first") + task_s (play, forward, NULL)
                         + task_s (play, forward, ".last"),
               all_s = 2 * forward_s, weights = segments[i].first / 2 / segments[i].all,
               first = way > 1 ? (n - 1.0) / n * segments[i].last / segments[i].all / 2 : 0,
               before = way > 0 ? 1 - 2 * weights - first : 0;

        assert_share (task_s (play, backward, ".weights"), all_s, weights, "what runs beside the sum");
        assert_share (task_s (play, backward, ".first"), all_s, first, "what runs beside the first gather");
        assert_share (task_s (play, backward, ".before"), all_s, before, "what runs between the gathers");
        ratio[i] = (1 - weights - first - before) * all_s;
      }
      /* Tensors of both segments have numbers of their block. */
      assert_near (task_s (play, "backward block1.", NULL) + task_s (play, "backward block1", NULL),
                   ratio[0] + ratio[1], 1e-5);
    }
}

/* The head has one matrix, whose two products take the same time. */
static void
the_head_sums_beside_the_gradients_of_its_weights (G_GNUC_UNUSED void **state)
{
  for (guint way = 0; way < 3; way++) {
    g_autoptr (Play) play = job (4, way > 0, way > 1);
    double forward_s = task_s (play, "forward head", NULL);

    assert_true (forward_s > 0);
    assert_near (task_s (play, "backward head", ".weights"), forward_s, 1e-9);
    assert_near (task_s (play, "backward head", NULL), forward_s, 1e-9);
    assert_true (task_s (play, "forward head", ".last") <= 0);
  }
}

/* Shared experts begin with a matrix, and what they read is not summed before. Of two equal matrices the first has half
 * of the FLOPs, of three the first two have two thirds; half of that are gradients of its weights. */
static void
shared_experts_sum_beside_the_gradients_of_their_weights (G_GNUC_UNUSED void **state)
{
  for (guint is_gated = 0; is_gated < 2; is_gated++) {
    g_autofree char *shape = g_strdup_printf (
        ", gated: %s, experts: {count: 4, per_token: 1, shared: 1, width: 512}", is_gated ? "true" : "false");
    g_autoptr (Play) play = job_of (shape, 2, TRUE, FALSE);
    double all_s = 2 * task_s (play, "forward block1.shared", "");

    assert_true (all_s > 0);
    assert_share (task_s (play, "backward block1.shared", ".weights"), all_s, is_gated ? 1 / 3.0 : 0.25,
                  "what runs beside the sum");
  }
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (forward_runs_beside_gathers_and_sums),
    cmocka_unit_test (backward_runs_beside_gathers_and_sums),
    cmocka_unit_test (the_head_sums_beside_the_gradients_of_its_weights),
    cmocka_unit_test (shared_experts_sum_beside_the_gradients_of_their_weights),
  };

  return play_run_tests ("beside", tests, &catalog);
}
