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
  g_autofree char *yaml = g_strdup_printf ("name: effort\niterations: %u\nfidelity: packet\n"
                                           "cluster: {node: dgx-a100, nodes: %u, gpus_per_node: 1}\n"
                                           "job: " JOB "\n%s\n",
                                           iterations, nodes, more);
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

int
main (void)
{
  const struct CMUnitTest tests[] = { cmocka_unit_test (what_may_be_played_counts) };

  return play_run_tests ("run_effort", tests, &catalog);
}
