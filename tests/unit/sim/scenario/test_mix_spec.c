/* SPDX-License-Identifier: Apache-2.0 */
/* test_mix_spec.c - a mix of jobs that cannot be is refused, with the key that is wrong. */
#include "tests/support/test.h"

#include <string.h>

#include "models/models.h"
#include "sim/scenario/scenario.h"
#include "tests/support/play.h"

static FabCatalog *catalog;

#define JOB "job: {kind: collective, operations: [{op: all_reduce, size: 1MB}]}"

/* The messages; NULL: the mix is accepted. (transfer full) */
static char *
refusal (const char *mix)
{
  g_autofree char *yaml = g_strdup_printf ("name: t\ncluster: {node: dgx-a100, nodes: 4}\n" JOB "\nmix: %s\n",
                                           mix);
  g_autoptr (GError) error = NULL;
  g_autoptr (FabScenario) scenario = fab_scenario_parse ("t.yaml", yaml, strlen (yaml), NULL, &fab_models,
                                                         catalog, &error);

  return scenario == NULL ? g_strdup (error->message) : NULL;
}

static void
limits_are_those_that_the_messages_say (G_GNUC_UNUSED void **state)
{
  static const struct {
    const char *mix, *says;
  } cases[] = {
    { "{jobs: [{name: a, nodes: 4, count: 1, every: 1s, " JOB "}]}", NULL },
    { "{jobs: [{name: a, nodes: 5, count: 1, " JOB "}]}", "a job of 5 nodes never fits on a machine of 4" },
    { "{jobs: [{name: a, nodes: 1, count: 1, every: 0s, " JOB "}]}", "give a time above 0" },
    { "{jobs: [{name: a, nodes: 1, count: 0, " JOB "}]}", "no job ever arrives" },
    { "{jobs: [{name: a, nodes: 1, count: 0, every: 0s, " JOB "}, {name: b, nodes: 1, count: 1, " JOB "}]}",
      NULL },
    { "{jobs: [{name: a, nodes: 1, count: 1, " JOB "}, {name: b, nodes: 1, count: 1, " JOB "}]}", NULL },
    { "{jobs: [{name: a, nodes: 1, count: 1, " JOB "}, {name: a, nodes: 1, count: 1, " JOB "}]}",
      "two kinds of jobs are called 'a'" },
    { "{jobs: [{nodes: 1, count: 1, " JOB "}, {nodes: 1, count: 1, " JOB "}]}",
      "'jobs' lacks the key 'name'" },
    { "{preempt: true, jobs: [{name: a, nodes: 1, count: 1, " JOB "}]}", "set `order: priority` too" },
    { "{preempt: true, order: priority, jobs: [{name: a, nodes: 1, count: 1, " JOB "}]}", NULL },
    { "{log: jobs.csv}", "a log says when jobs arrive" },
    { "{jobs: [{name: a, nodes: 1, count: 1000000, " JOB "}]}", NULL },
    { "{jobs: [{name: a, nodes: 1, count: 1000000, " JOB "}, {name: b, nodes: 1, count: 1, " JOB "}]}",
      "1000001 jobs are more than 1000000" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_autofree char *message = refusal (cases[i].mix);

    if ((message == NULL) != (cases[i].says == NULL)
        || (message != NULL && strstr (message, cases[i].says) == NULL))
      fail_msg ("%s: %s", cases[i].mix, message != NULL ? message : "accepted");
    if (message != NULL)
      assert_null (strstr (message, "(null)"));
  }
}

int
main (void)
{
  const struct CMUnitTest tests[] = { cmocka_unit_test (limits_are_those_that_the_messages_say) };

  return play_run_tests ("mix_spec", tests, &catalog);
}
