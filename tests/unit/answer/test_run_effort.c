/* SPDX-License-Identifier: Apache-2.0 */
/* test_run_effort.c - how long a run takes, said before it is played: of all jobs, and of all iterations that meet. */
#include "answer/run.h"
#include "tests/support/play.h"
#include "tests/support/test.h"

#define JOB "{kind: collective, operations: [{op: all_reduce, size: 64MiB}]}"

static FabCatalog *catalog;

static double
effort_s (guint nodes, guint iterations, const char *more)
{
  g_autofree char *yaml = g_strdup_printf ("name: effort\niterations: %u\nfidelity: packet\n"
                                           "cluster: {node: dgx-a100, nodes: %u, gpus_per_node: 1}\n"
                                           "job: " JOB "\n%s\n",
                                           iterations, nodes, more);
  g_autoptr (Play) play = play_new (catalog, yaml, NULL);

  return fab_run_effort_s (play->scenario, play->simulation);
}

/* A job alone repeats what it has played. Beside a neighbour no two iterations need be alike, and the neighbour is
 * played as well. */
static void
jobs_that_meet_are_played_each_time (G_GNUC_UNUSED void **state)
{
  const char *neighbour = "neighbours: [{name: other, nodes: 2, first: 1, stride: 2, job: " JOB "}]";
  double one = effort_s (4, 1, neighbour);

  assert_near (effort_s (2, 6, ""), effort_s (2, 1, ""), 1e-12);
  assert_near (one, 2 * effort_s (2, 1, ""), 1e-12);
  assert_near (effort_s (4, 6, neighbour), 6 * one, 1e-12);
}

int
main (void)
{
  const struct CMUnitTest tests[] = { cmocka_unit_test (jobs_that_meet_are_played_each_time) };

  return play_run_tests ("run_effort", tests, &catalog);
}
