/* SPDX-License-Identifier: Apache-2.0 */
/* test_equal.c - two scenarios are equal where every value of every type is (fab_schema_equal,
 * sim/config/schema_value.c), however they were written.
 */
#include "tests/support/test.h"

#include <string.h>

#include "models/models.h"
#include "sim/scenario/scenario_params.h"
#include "tests/support/play.h"

static const char yaml[] =
    "name: t\ncluster: {node: dgx-h100, nodes: 4, fabric: {kind: leaf_spine, nodes_per_leaf: 1}, power_cap: 600W}\n"
    "job: {kind: ddp, model: gpt2-xl, micro_batch: 2, sequence: 512, compute: {kind: mfu, mfu: 40%}}\n"
    "faults: [{what: nic, name: node0/nic1, rate: 50%}, {what: nic, name: node0/nic2, rate: 50%}]\n";

static FabCatalog *catalog;

static FabScenario *
load (const char *assignment)
{
  g_autoptr (GError) error = NULL;
  FabScenario *scenario = fab_scenario_parse ("t", yaml, strlen (yaml), (const char *[]){ assignment, NULL },
                                              &fab_models, catalog, &error);

  if (scenario == NULL)
    fail_msg ("%s: %s", assignment, error->message);
  return scenario;
}

static gboolean
are_equal (const char *one, const char *other)
{
  g_autoptr (FabScenario) a = load (one), b = load (other);
  gboolean forth = fab_schema_equal (fab_scenario_params, fab_scenario_spec (a), fab_scenario_spec (b));

  assert_int_equal (fab_schema_equal (fab_scenario_params, fab_scenario_spec (b), fab_scenario_spec (a)),
                    forth);
  return forth;
}

/* One value that differs is enough: counts, fractions, sizes, texts, choices, flags, models and their keys, powers,
 * and lists by length and content. */
static void
each_type_of_value_counts (G_GNUC_UNUSED void **state)
{
  static const char *const edits[][2] = {
    { "job.micro_batch=2", "job.micro_batch=3" },
    { "job.compute.mfu=40%", "job.compute.mfu=41%" },
    { "job.bucket=25MiB", "job.bucket=26MiB" },
    { "job.model=gpt2-xl", "job.model=llama2-7b" },
    { "job.overlap=true", "job.overlap=false" },
    { "job.gradient=fp32", "job.gradient=bf16" },
    { "job.kind=ddp", "job.kind=fsdp" },
    { "cluster.power_cap=600W", "cluster.power_cap=500W" },
    { "cluster.power_cap=80%", "cluster.power_cap=70%" },
    { "cluster.power_cap=600W", "cluster.power_cap=80%" },
    { "cluster.fabric.oversubscription=1", "cluster.fabric.oversubscription=2" },
    { "name=t", "name=u" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (edits); i++) {
    assert_true (are_equal (edits[i][0], edits[i][0]));
    assert_true (are_equal (edits[i][1], edits[i][1]));
    if (are_equal (edits[i][0], edits[i][1]))
      fail_msg ("%s is the same as %s", edits[i][0], edits[i][1]);
  }
}

/* A list that is shorter, and one whose second row differs. */
static void
lists_are_equal_row_by_row (G_GNUC_UNUSED void **state)
{
#define NIC(name_, rate_) "{what: nic, name: node0/nic" name_ ", rate: " rate_ "}"
  const char *two = "faults=[" NIC ("1", "50%") ", " NIC ("2", "50%") "]",
             *one = "faults=[" NIC ("1", "50%") "]",
             *other = "faults=[" NIC ("1", "50%") ", " NIC ("2", "40%") "]";

  assert_true (are_equal (two, "name=t"));
  assert_true (are_equal (two, two));
  assert_false (are_equal (two, one));
  assert_false (are_equal (two, other));
}

/* What is written in another unit, or is the default, is no other value. */
static void
writing_does_not_count (G_GNUC_UNUSED void **state)
{
  assert_true (are_equal ("job.bucket=1MiB", "job.bucket=1024KiB"));
  assert_true (are_equal ("job.compute.mfu=40%", "job.compute.mfu=0.4"));
  assert_true (are_equal ("job.bucket=25MiB", "name=t")); /* PyTorch's default */
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (each_type_of_value_counts),
    cmocka_unit_test (lists_are_equal_row_by_row),
    cmocka_unit_test (writing_does_not_count),
  };

  return play_run_tests ("equal", tests, &catalog);
}
