/* SPDX-License-Identifier: Apache-2.0 */
/* test_run_effort.c - how long a run takes, said before it is played: of all jobs, and of all iterations that meet. */
#include "answer/run.h"
#include "tests/support/play.h"
#include "tests/support/test.h"

#define JOB "{kind: collective, operations: [{op: all_reduce, size: 64MiB}]}"

static FabCatalog *catalog;

static FabEffort
effort (guint nodes, guint iterations, const char *more)
{
  gboolean has_fidelity = strstr (more, "fidelity:") != NULL;
  g_autofree char *yaml = g_strdup_printf ("name: effort\niterations: %u\n%s"
                                           "cluster: {node: dgx-a100, nodes: %u, gpus_per_node: 1}\n"
                                           "job: " JOB "\n%s\n",
                                           iterations, has_fidelity ? "" : "fidelity: packet\n", nodes, more);
  g_autoptr (Play) play = play_new (catalog, yaml, NULL);

  return fab_run_effort (play->scenario, play->simulation);
}

/* A job alone repeats what it has played, as long as it meets the same traffic. Beside a neighbour no two iterations
 * need be alike, and the neighbour is played as well. */
static void
what_may_be_played_counts (G_GNUC_UNUSED void **state)
{
  const char *neighbour = "neighbours: [{name: other, nodes: 2, first: 1, stride: 2, job: " JOB "}]";
  double one = effort (2, 1, "").all_s;

  assert_near (effort (2, 6, "").alike_s, one, 1e-12);
  assert_near (effort (2, 6, "").all_s, 6 * one, 1e-12);
  assert_near (effort (4, 1, neighbour).all_s, 2 * one, 1e-12);
  assert_near (effort (4, 6, neighbour).all_s, 12 * one, 1e-12);
  assert_near (effort (4, 6, neighbour).alike_s, 12 * one, 1e-12);
}

/* What other traffic meets it, and a network that forgets, is played each time too; flows take no time. */
static void
what_is_not_remembered_counts_each_time (G_GNUC_UNUSED void **state)
{
  double one = effort (2, 1, "").all_s;
  const char *transfer = "background: [{kind: transfer, from: node0, to: node1, rate: 20Gb/s}]";

  assert_near (effort (2, 6, transfer).all_s, 6 * one, 1e-12);
  assert_near (effort (2, 6, transfer).alike_s, 6 * one, 1e-12);
  assert_near (effort (2, 6, "fidelity: {kind: packet, memo: false}").alike_s, 6 * one, 1e-12);
  assert_near (effort (2, 6, "fidelity: fluid").all_s, 0, 0);
  assert_near (effort (2, 6, "fidelity: fluid").alike_s, 0, 0);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (what_may_be_played_counts),
    cmocka_unit_test (what_is_not_remembered_counts_each_time),
  };

  return play_run_tests ("run_effort", tests, &catalog);
}
