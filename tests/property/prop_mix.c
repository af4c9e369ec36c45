/* SPDX-License-Identifier: Apache-2.0 */
/* prop_mix.c - what a mix says of two jobs against the engine, which plays them together as neighbours.
 *
 * A mix knows others by their mean load (its answer) or takes them to crowd the same uplinks (its bound). The
 * engine plays every flow; where a hash chooses uplinks, its answer is the median of nine seeds. Pairs: two equal
 * jobs that each have half of the nodes under both of two leaves.
 */
#include "tests/support/test.h"

#include <stdlib.h>
#include <string.h>

#include "answer/job_mix.h"
#include "models/models.h"
#include "sim/base/order.h"
#include "sim/run/run.h"
#include "tests/support/play.h"

enum { N_SEEDS = 9 };

static FabCatalog *catalog;

typedef struct {
  const char *job;
  guint nodes; /* of each job, and of each leaf */
  guint oversubscription;
} Pair;

#define FSDP(model) \
  "{kind: fsdp, model: " model ", micro_batch: 1, sequence: 1024, compute: {kind: mfu, mfu: 40%}}"
#define DDP(model) \
  "{kind: ddp, model: " model ", micro_batch: 1, sequence: 1024, compute: {kind: mfu, mfu: 40%}}"

static const Pair pairs[] = {
  { FSDP ("llama2-13b"), 8, 4 }, { FSDP ("llama2-13b"), 8, 8 }, { FSDP ("llama2-13b"), 8, 16 },
  { FSDP ("llama2-7b"), 8, 4 },  { FSDP ("llama2-7b"), 8, 8 },  { FSDP ("llama2-7b"), 8, 16 },
  { FSDP ("gpt2-xl"), 16, 4 },   { FSDP ("gpt2-xl"), 16, 16 },  { DDP ("gpt2-xl"), 8, 4 },
  { DDP ("gpt2-xl"), 8, 8 },     { DDP ("gpt2-xl"), 8, 16 },    { DDP ("gpt2-xl"), 16, 4 },
  { DDP ("gpt2-xl"), 16, 8 },    { DDP ("gpt2-xl"), 16, 16 },
};

static FabScenario *
scenario_of (const Pair *pair, const char *rest, guint seed)
{
  g_autofree char *yaml = g_strdup_printf (
      "name: pair\nseed: %u\niterations: 4\ncluster: {node: dgx-h100, nodes: %u, route: ecmp, "
      "fabric: {kind: leaf_spine, nodes_per_leaf: %u, oversubscription: %u}}\njob: %s\n%s\n",
      seed, 2 * pair->nodes, pair->nodes, pair->oversubscription, pair->job, rest);
  g_autoptr (GError) error = NULL;
  FabScenario *scenario = fab_scenario_parse ("pair.yaml", yaml, strlen (yaml), NULL, &fab_models, catalog,
                                              &error);

  if (scenario == NULL)
    fail_msg ("%s", error->message);
  return scenario;
}

static double
play_together (const Pair *pair)
{
  g_autofree char *rest = g_strdup_printf (
      "neighbours: [{name: other, nodes: %u, first: 1, stride: 2, job: %s}]", pair->nodes, pair->job);
  double steps_s[N_SEEDS];

  for (guint seed = 0; seed < N_SEEDS; seed++) {
    g_autoptr (FabScenario) scenario = scenario_of (pair, rest, seed + 1);
    g_autoptr (FabSimulation) simulation = fab_scenario_run (scenario, &fab_models, NULL, NULL, NULL);

    assert_non_null (simulation);
    steps_s[seed] = fab_ps_to_seconds (fab_simulation_probe (simulation)->step.times.duration_ps);
  }
  qsort (steps_s, N_SEEDS, sizeof *steps_s, fab_order_doubles);
  return steps_s[N_SEEDS / 2];
}

static void
neighbours_lie_between_the_two (G_GNUC_UNUSED void **state)
{
  guint n_inside = 0, n_near = 0;

  for (guint i = 0; i < G_N_ELEMENTS (pairs); i++) {
    g_autofree char *rest = g_strdup_printf (
        "mix: {placement: spread, jobs: [{name: a, nodes: %u, count: 2, every: 1ms, "
        "work: 10h, job: %s}]}",
        pairs[i].nodes, pairs[i].job);
    g_autoptr (FabScenario) scenario = scenario_of (&pairs[i], rest, 1);
    g_autoptr (FabMixAnswer) answer = fab_mix_answer (scenario, &(FabMixRequest){ .registry = &fab_models },
                                                      NULL);

    assert_non_null (answer);
    double low = answer->all.mean_slowdown, high = answer->worst.mean_slowdown;
    double truth = play_together (&pairs[i]) / g_array_index (answer->kinds, FabMixedKind, 0).step_s;
    double off = truth < low ? low / truth - 1 : truth > high ? truth / high - 1 : 0;

    g_test_message ("%u nodes, 1:%u, %s: together %.3f, mix %.3f to %.3f", pairs[i].nodes,
                    pairs[i].oversubscription, pairs[i].job, truth, low, high);
    n_inside += off == 0;
    n_near += off <= 0.03;
    assert_true (off <= 0.15);
  }
  print_message ("%u of %u pairs inside, %u within 3 %%\n", n_inside, (guint) G_N_ELEMENTS (pairs), n_near);
  assert_true (n_inside * 10 >= G_N_ELEMENTS (pairs) * 6);
  assert_true (n_near * 10 >= G_N_ELEMENTS (pairs) * 8);
}

/* Of the same seed the same, whatever the number of threads; and a job alone loses nothing to others. */
static void
threads_do_not_show (G_GNUC_UNUSED void **state)
{
  const char *rest =
      "mix: {placement: random, jobs: [{name: a, nodes: 6, count: 40, every: 1h, work: 3h, spread: 1, job: " DDP (
          "gpt2-xl") "}, {name: b, nodes: 1, count: 30, every: 30min, work: 1h, job: " DDP ("gpt2-xl") "}]}";
  g_autoptr (FabScenario) scenario = scenario_of (&pairs[8], rest, 3);
  g_autoptr (FabMixAnswer) one = fab_mix_answer (scenario,
                                                 &(FabMixRequest){ .registry = &fab_models, .n_threads = 1 },
                                                 NULL);
  g_autoptr (FabMixAnswer) four = fab_mix_answer (scenario,
                                                  &(FabMixRequest){ .registry = &fab_models, .n_threads = 4 },
                                                  NULL);

  assert_non_null (one);
  assert_non_null (four);
  assert_int_equal (one->jobs->len, 70);
  assert_memory_equal (one->play->outcomes, four->play->outcomes, 70 * sizeof *one->play->outcomes);
  assert_true (one->by_kind[1].sharing_lost_s == 0);
  assert_true (one->by_kind[0].sharing_lost_s > 0);
  assert_true (one->worst.sharing_lost_s > one->all.sharing_lost_s);
}

static int
setup (G_GNUC_UNUSED void **state)
{
  catalog = fab_catalog_load (FAB_SOURCE_DIR "/models/catalog", &fab_models, NULL);
  return catalog == NULL;
}

static int
teardown (G_GNUC_UNUSED void **state)
{
  fab_catalog_free (catalog);
  return 0;
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (neighbours_lie_between_the_two),
    cmocka_unit_test (threads_do_not_show),
  };

  return cmocka_run_group_tests (tests, setup, teardown);
}
