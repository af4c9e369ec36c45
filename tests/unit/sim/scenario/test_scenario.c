/* SPDX-License-Identifier: Apache-2.0 */
/* test_scenario.c - whole scenarios: defaults, --set, references, own entries, the resolved text. */
#include "sim/scenario/scenario.h"

#include "sim/base/error.h"
#include "tests/support/small_models.h"
#include "tests/support/test.h"

#define LEAST "name: t\ncluster: {node: box}\njob: {kind: ddp, model: tiny}\n"

static int
load_catalog (void **state)
{
  *state = fab_catalog_load (SMALL_CATALOG, &small_registry, NULL);
  return *state == NULL;
}

static int
free_catalog (void **state)
{
  fab_catalog_free (*state);
  return 0;
}

static FabScenario *
parse (const FabCatalog *catalog, const char *text, const char *const *sets, GError **error)
{
  return fab_scenario_parse ("t.yaml", text, strlen (text), sets, &small_registry, catalog, error);
}

static void
assert_refused (const FabCatalog *catalog, const char *text, const char *const *sets, const char *expected)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (FabScenario) scenario = parse (catalog, text, sets, &error);

  assert_null (scenario);
  assert_true (g_error_matches (error, FAB_ERROR, FAB_ERROR_INPUT));
  assert_string_equal (error->message, expected);
}

static void
test_defaults (void **state)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (FabScenario) scenario = parse (*state, LEAST, NULL, &error);
  const FabScenarioSpec *spec;

  assert_null (error);
  spec = fab_scenario_spec (scenario);
  assert_string_equal (spec->name, "t");
  assert_null (spec->summary);
  assert_int_equal (spec->seed, 1);
  assert_int_equal (spec->iterations, 3);
  assert_int_equal (spec->cluster.nodes, 1);
  assert_int_equal (spec->cluster.gpus_per_node, 0);
  assert_null (spec->cluster.nic);
  assert_string_equal (spec->cluster.fabric.info->name, "switch");
  assert_string_equal (spec->cluster.route.info->name, "shortest");
  assert_string_equal (spec->fidelity.info->name, "fluid");
  assert_string_equal (spec->collectives.info->name, "nccl");
  assert_string_equal (spec->job.info->name, "ddp");
  assert_non_null (fab_catalog_link (fab_scenario_catalog (scenario), "wire"));
}

static void
test_everything (void **state)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (FabScenario) scenario = fab_scenario_load (SMALL_SCENARIO, NULL, &small_registry, *state,
                                                        &error);
  g_autoptr (FabScenario) again = NULL;
  g_autofree char *text = NULL, *second = NULL;

  assert_null (error);
  assert_string_equal (fab_catalog_link (fab_scenario_catalog (scenario), "fast")->name, "fast");
  text = fab_scenario_resolved (scenario);
  again = parse (*state, text, NULL, &error);
  assert_null (error);
  second = fab_scenario_resolved (again);
  assert_string_equal (second, text);
  assert_non_null (strstr (text, "overlap: false\n"));
  assert_non_null (strstr (text, "launch: 1.5us\n"));
}

static void
assert_line (const char *text, const char *line)
{
  g_autofree char *whole = g_strdup_printf ("\n%s\n", line);

  if (strstr (text, whole) == NULL)
    fail_msg ("no line \"%s\" in:\n%s", line, text);
}

/* What a reader is shown has the numbers of the node, of which the box has eight GPUs and four NICs, and the
 * meaning of each 0 behind it. A scenario that is read again keeps its zeros, and no comments. */
static void
test_explained (void **state)
{
  static const char *const sets[] = { "cluster.gpus_per_node=3", "cluster.nics_per_node=2",
                                      "cluster.nic=wire", NULL };
  g_autoptr (FabScenario) scenario = parse (*state, LEAST, NULL, NULL),
                          other = parse (*state, LEAST, sets, NULL);
  g_autofree char *text = fab_scenario_explained (scenario), *kept = fab_scenario_resolved (scenario),
                  *set = fab_scenario_explained (other);

  assert_line (text, "  gpus_per_node: 8");
  assert_line (text, "  nics_per_node: 4");
  assert_line (text, "  nic: port");
  assert_line (text, "  domain_nodes: 0 # all of the domain");
  assert_line (kept, "  gpus_per_node: 0");
  assert_line (kept, "  nics_per_node: 0");
  assert_line (kept, "  domain_nodes: 0");
  assert_null (strchr (kept, '#'));
  assert_line (set, "  gpus_per_node: 3");
  assert_line (set, "  nics_per_node: 2");
  assert_line (set, "  nic: wire");
}

static void
test_missing (void **state)
{
  assert_refused (
      *state, "iterations: 1\n", NULL,
      "t.yaml:1:1: missing key 'name' (text): Name of the scenario in reports.\n"
      "    1 | iterations: 1\n"
      "      | ^~~~~~~~~~\n"
      "t.yaml:1:1: missing key 'job' (model): Work of the GPUs.\n"
      "    1 | iterations: 1\n"
      "      | ^~~~~~~~~~\n"
      "t.yaml:1:1: 'cluster' lacks the key 'node' (text): Node entry of every machine. A 'design' says it "
      "too\n"
      "    1 | iterations: 1\n"
      "      | ^~~~~~~~~~");
}

/* Mistakes of every layer are reported together, in line order. */
static void
test_all_at_once (void **state)
{
  assert_refused (
      *state,
      "name: t\nname: u\ncluster: {node: bax, nodes: 0}\njob: {kind: ddp, model: tyny}\nfidelity: fluidd\n",
      NULL,
      "t.yaml:2:1: key 'name' is written twice; first on line 1\n"
      "    2 | name: u\n"
      "      | ^~~~\n"
      "t.yaml:3:17: unknown node 'bax'; nearest is 'box'\n"
      "    3 | cluster: {node: bax, nodes: 0}\n"
      "      |                 ^~~\n"
      "t.yaml:3:29: 'nodes' is 0: the lower limit is 1\n"
      "    3 | cluster: {node: bax, nodes: 0}\n"
      "      |                             ^\n"
      "t.yaml:4:25: unknown model 'tyny'; nearest is 'tiny'\n"
      "    4 | job: {kind: ddp, model: tyny}\n"
      "      |                         ^~~~\n"
      "t.yaml:5:11: unknown fidelity 'fluidd'; nearest is 'fluid'\n"
      "    5 | fidelity: fluidd\n"
      "      |           ^~~~~~");
}

static void
test_counts (void **state)
{
  const char *const sets[] = { "cluster.gpus_per_node=9", "cluster.nics_per_node=5", NULL };

  assert_refused (*state, LEAST, sets,
                  "--set: cluster.gpus_per_node=9: node 'box' has 8 GPUs, not 9\n"
                  "      | cluster.gpus_per_node=9\n      |                       ^\n"
                  "--set: cluster.nics_per_node=5: node 'box' has 4 NICs, not 5\n"
                  "      | cluster.nics_per_node=5\n      |                       ^");
}

static void
test_sets (void **state)
{
  const char *const good[] = { "cluster.nodes=8", "fidelity.kind=packet",   "fidelity.mtu=1KiB",
                               "job.stages=[{}]", "job.stages.0.link=wire", NULL };
  const char *const bad[] = { "cluster.nodez=8", "seed", NULL };
  g_autoptr (GError) error = NULL;
  g_autoptr (FabScenario) scenario = parse (*state, LEAST, good, &error);

  assert_null (error);
  assert_int_equal (fab_scenario_spec (scenario)->cluster.nodes, 8);
  assert_int_equal (((const SmallPacket *) fab_scenario_spec (scenario)->fidelity.params)->mtu_bytes, 1024);
  assert_refused (*state, LEAST, bad,
                  "--set: seed: an assignment has the form key=value, for example cluster.nodes=8\n"
                  "      | seed\n"
                  "      | ^~~~\n"
                  "--set: cluster.nodez=8: unknown key 'nodez'; nearest is 'nodes'\n"
                  "      | cluster.nodez=8\n"
                  "      |         ^~~~~");
}

static void
test_own_entries (void **state)
{
  assert_refused (*state,
                  LEAST "links:\n  - {name: a, signalling: 1Gb/s}\n  - {name: a, signalling: 1Gb/s}\n"
                        "nodes:\n  - {name: n, accelerator: chop, parts: [{name: g, kind: accelerator}],\n"
                        "     wires: [{from: g, to: g, link: b, map: all}]}\n",
                  NULL,
                  "t.yaml:6:12: link 'a' is defined twice\n"
                  "    6 |   - {name: a, signalling: 1Gb/s}\n      |            ^\n"
                  "t.yaml:8:28: unknown accelerator 'chop'; nearest is 'chip'\n"
                  "    8 |   - {name: n, accelerator: chop, parts: [{name: g, kind: accelerator}],\n"
                  "      |                            ^~~~\n"
                  "t.yaml:9:37: unknown link 'b'; 'fabricast describe links' lists them\n"
                  "    9 |      wires: [{from: g, to: g, link: b, map: all}]}\n"
                  "      |                                     ^");
}

static void
test_no_file (void **state)
{
  g_autoptr (GError) error = NULL;

  assert_null (fab_scenario_load ("/nowhere.yaml", NULL, &small_registry, *state, &error));
  assert_true (g_error_matches (error, FAB_ERROR, FAB_ERROR_IO));
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (test_defaults), cmocka_unit_test (test_everything),  cmocka_unit_test (test_explained),
    cmocka_unit_test (test_missing),  cmocka_unit_test (test_all_at_once), cmocka_unit_test (test_counts),
    cmocka_unit_test (test_sets),     cmocka_unit_test (test_own_entries), cmocka_unit_test (test_no_file),
  };

  return cmocka_run_group_tests (tests, load_catalog, free_catalog);
}
