/* SPDX-License-Identifier: Apache-2.0 */
/* test_edits.c - typed values set over a scenario and got from it: every type, every mistake, copies that do not see
 * each other's edits. */
#include "sim/scenario/scenario.h"

#include "sim/base/error.h"
#include "sim/base/thread_pool.h"
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
parse (const FabCatalog *catalog, const char *text)
{
  g_autoptr (GError) error = NULL;
  FabScenario *scenario = fab_scenario_parse ("t.yaml", text, strlen (text), NULL, &small_registry, catalog,
                                              &error);

  if (scenario == NULL)
    fail_msg ("%s", error->message);
  return scenario;
}

/* --- every type --- */

/* Takes `value`. */
static void
assert_round_trip (FabScenario *scenario, const char *key, FabValue *value)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (FabValue) wanted = fab_value_ref (value), got = NULL;

  if (!fab_scenario_set (scenario, key, value, &error) || !fab_scenario_check (scenario, &error)
      || !fab_scenario_get (scenario, key, &got, &error))
    fail_msg ("%s: %s", key, error->message);
  if (!fab_value_equal (wanted, got)) {
    g_autofree char *a = fab_value_write (wanted), *b = fab_value_write (got);

    fail_msg ("%s: set %s, got %s", key, a, b);
  }
}

static FabValue *
stage (const char *link, double work)
{
  FabValue *value = fab_value_mapping ();

  fab_value_put (value, "link", fab_value_text (link));
  fab_value_put (value, "work", fab_value_real (FAB_UNIT_FLOPS, work));
  fab_value_put (value, "speed", fab_value_real (FAB_UNIT_FLOPS_RATE, 1e12));
  fab_value_put (value, "rate", fab_value_whole (FAB_UNIT_RATE, 125000000));
  return value;
}

static void
test_every_type (void **state)
{
  g_autoptr (FabScenario) scenario = parse (*state, LEAST);
  FabValue *stages = fab_value_list (), *compute = fab_value_mapping ();

  fab_value_append (stages, stage ("wire", 3e12));
  fab_value_append (stages, stage ("wire", 0.1));
  fab_value_put (compute, "kind", fab_value_text ("mfu"));
  fab_value_put (compute, "efficiency", fab_value_real (FAB_UNIT_FRACTION, 1.0 / 3));
  assert_round_trip (scenario, "fidelity.kind", fab_value_text ("packet"));
  assert_round_trip (scenario, "fidelity.launch", fab_value_whole (FAB_UNIT_TIME, 1500001));
  assert_round_trip (scenario, "job.bucket", fab_value_whole (FAB_UNIT_BYTES, 16000001));
  assert_round_trip (scenario, "cluster.nic_rate", fab_value_whole (FAB_UNIT_RATE, 50000000000));
  assert_round_trip (scenario, "job.stages", stages);
  assert_round_trip (scenario, "job.stages.1.work", fab_value_real (FAB_UNIT_FLOPS, 7e15));
  assert_round_trip (scenario, "job.stages.0.speed", fab_value_real (FAB_UNIT_FLOPS_RATE, 3.3e14));
  assert_round_trip (scenario, "job.compute", compute);
  assert_round_trip (scenario, "job.compute.efficiency", fab_value_real (FAB_UNIT_FRACTION, 0.4));
  assert_round_trip (scenario, "job.skew", fab_value_real (FAB_UNIT_FACTOR, -0.25));
  assert_round_trip (scenario, "cluster.nodes", fab_value_count (16000));
  assert_round_trip (scenario, "seed", fab_value_count (16000000));
  assert_round_trip (scenario, "job.overlap", fab_value_flag (FALSE));
  assert_round_trip (scenario, "summary", fab_value_text ("it's: {what} #1"));
  assert_round_trip (scenario, "job.mode", fab_value_text ("lazy"));
  assert_round_trip (scenario, "products", fab_value_list ());
}

/* A whole number does where any number may stand; none brings the default back. */
static void
test_defaults_return (void **state)
{
  g_autoptr (FabScenario) scenario = parse (*state, LEAST);
  g_autoptr (GError) error = NULL;
  g_autoptr (FabValue) table = NULL;

  assert_true (fab_scenario_set (scenario, "job.skew", fab_value_count (1), &error));
  assert_true (fab_scenario_set (scenario, "job.bucket", fab_value_whole (FAB_UNIT_BYTES, 7), &error));
  assert_true (fab_scenario_check (scenario, &error));
  assert_true (((const SmallDdp *) fab_scenario_spec (scenario)->job.params)->skew_factor == 1);
  assert_true (fab_scenario_set (scenario, "job.bucket", NULL, &error));
  assert_true (fab_scenario_check (scenario, &error));
  assert_true (fab_scenario_get (scenario, "job", &table, &error));
  assert_int_equal (fab_value_at (table, "bucket")->whole, 25 * 1048576);
  assert_string_equal (fab_value_at (table, "kind")->text, "ddp");
  assert_int_equal (fab_scenario_get_whole (scenario, "job.bucket", 1), 25 * 1048576);
  assert_int_equal (fab_scenario_get_whole (scenario, "job.micro_batch", 3), 3);
  assert_int_equal (fab_scenario_get_whole (scenario, "job.model", 4), 4);
}

/* --- lists and entries --- */

static void
test_items (void **state)
{
  g_autoptr (FabScenario) scenario = parse (
      *state, LEAST "links: [{name: own, summary: s, source: s, date: \"2026-11-20\", lanes: 1,\n"
                    "  signalling: 8Gb/s}]\n");
  g_autoptr (GError) error = NULL;
  FabValue *fault = fab_value_mapping ();

  fab_value_put (fault, "what", fab_value_text ("rail"));
  fab_value_put (fault, "rail", fab_value_count (0));
  fab_value_put (fault, "rate", fab_value_real (FAB_UNIT_FRACTION, 0.5));
  assert_true (fab_scenario_set (scenario, "faults.+", fault, &error));
  assert_round_trip (scenario, "faults.0.rate", fab_value_real (FAB_UNIT_FRACTION, 0.25));
  assert_round_trip (scenario, "links.own.lanes", fab_value_count (4));
  assert_round_trip (scenario, "links.0.latency", fab_value_whole (FAB_UNIT_TIME, 250000));
  assert_int_equal (fab_link_spec_line_rate (fab_catalog_link (fab_scenario_catalog (scenario), "own")),
                    4000000000);
  assert_int_equal (fab_scenario_get_whole (scenario, "links.own.latency", 0), 250000);
}

/* --- mistakes --- */

/* Takes `value`; the scenario is as it was. */
static void
assert_refused (FabScenario *scenario, const char *key, FabValue *value, const char *expected)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *before = fab_scenario_text (scenario), *after = NULL;

  if (fab_scenario_set (scenario, key, value, &error))
    fail_msg ("%s was taken", key);
  assert_true (g_error_matches (error, FAB_ERROR, FAB_ERROR_INPUT));
  *strchr (error->message, '\n') = '\0';
  assert_string_equal (error->message, expected);
  after = fab_scenario_text (scenario);
  assert_string_equal (before, after);
  assert_true (fab_scenario_check (scenario, NULL));
}

static void
test_wrong_types (void **state)
{
  g_autoptr (FabScenario) scenario = parse (*state, LEAST);

  assert_refused (scenario, "job.bucket", fab_value_count (5),
                  "--set: job.bucket=5: 'bucket' must be a size, not a count");
  assert_refused (scenario, "job.bucket", fab_value_whole (FAB_UNIT_TIME, 5000),
                  "--set: job.bucket=5ns: 'bucket' must be a size, not a time");
  assert_refused (scenario, "cluster.nodes", fab_value_real (FAB_UNIT_FACTOR, 1.5),
                  "--set: cluster.nodes=1.5: 'nodes' must be a count, not a number");
  assert_refused (scenario, "cluster.nodes", fab_value_text ("many"),
                  "--set: cluster.nodes=many: 'nodes' must be a count, not a text");
  assert_refused (scenario, "job.overlap", fab_value_count (1),
                  "--set: job.overlap=1: 'overlap' must be a yes or no, not a count");
  assert_refused (scenario, "name", fab_value_flag (TRUE),
                  "--set: name=true: 'name' must be a text, not a yes or no");
  assert_refused (scenario, "cluster.nodes", fab_value_list (),
                  "--set: cluster.nodes=[]: 'nodes' must be a count, not a list");
  assert_refused (scenario, "cluster", fab_value_count (1),
                  "--set: cluster=1: 'cluster' must be a mapping with keys of its own, not a value");
  assert_refused (scenario, "faults", fab_value_count (1),
                  "--set: faults=1: 'faults' must be a list; begin each entry with '- '");
  assert_refused (scenario, "job.skew", fab_value_real (FAB_UNIT_FACTOR, (double) NAN),
                  "--set: job.skew=nan: 'skew' is not a number");
}

static void
test_wrong_values (void **state)
{
  g_autoptr (FabScenario) scenario = parse (*state, LEAST);

  assert_refused (scenario, "cluster.nodes", fab_value_count (0),
                  "--set: cluster.nodes=0: 'nodes' is 0: the lower limit is 1");
  assert_refused (scenario, "job.skew", fab_value_real (FAB_UNIT_FACTOR, 1.5),
                  "--set: job.skew=1.5: 'skew' is 1.5: the upper limit is 1");
  assert_refused (scenario, "job.compute.efficiency", fab_value_real (FAB_UNIT_FRACTION, 1.5),
                  "--set: job.compute.efficiency=1.5: 'efficiency' is 1.5: the upper limit is 100%");
  assert_refused (scenario, "job.bucket", fab_value_whole (FAB_UNIT_BYTES, -1),
                  "--set: job.bucket=-1B: 'bucket' is -1B: the lower limit is 0B");
  assert_refused (scenario, "job.mode", fab_value_text ("lasy"),
                  "--set: job.mode=lasy: 'mode' cannot be 'lasy'; nearest is 'lazy'");
  assert_refused (scenario, "fidelity.kind", fab_value_text ("packets"),
                  "--set: fidelity.kind=packets: unknown fidelity 'packets'; nearest is 'packet'");
  assert_refused (scenario, "name", fab_value_text (""), "--set: name='': 'name' is empty");
}

static void
test_wrong_keys (void **state)
{
  g_autoptr (FabScenario) scenario = parse (*state, LEAST "faults: []\n");

  assert_refused (scenario, "cluster.nodez", fab_value_count (2),
                  "--set: cluster.nodez=2: unknown key 'nodez'; nearest is 'nodes'");
  assert_refused (
      scenario, "jobs", fab_value_count (2),
      "--set: jobs=2: unknown key 'jobs'; nearest is 'job', or it is a key of 'mix': write 'mix.jobs=2'");
  assert_refused (scenario, "job.compute.kinds", fab_value_text ("mfu"),
                  "--set: job.compute.kinds=mfu: unknown key 'kinds'; nearest is 'kind'");
  assert_refused (scenario, "cluster.nodes.x", fab_value_count (2),
                  "--set: cluster.nodes.x=2: 'nodes' must be a count, not a mapping");
  assert_refused (scenario, "faults.0.rail", fab_value_count (2),
                  "--set: faults.0.rail=2: '0' does not exist: the list is empty");
  assert_refused (scenario, "a..b", fab_value_count (2), "--set: a..b=2: a key is missing here");
}

static void
test_get_unknown (void **state)
{
  g_autoptr (FabScenario) scenario = parse (*state, LEAST);
  static const char *const keys[][2] = {
    { "cluster.nodez", "unknown key 'nodez'; nearest is 'nodes'; known here: node, nodes, gpus_per_node, " },
    { "faults.0", "'0' is not an item of 'faults', which has 0" },
    { "cluster.nodes.x", "unknown key 'x': 'nodes' has no keys" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (keys); i++) {
    g_autoptr (GError) error = NULL;
    FabValue *value;

    assert_false (fab_scenario_get (scenario, keys[i][0], &value, &error));
    assert_true (g_str_has_prefix (error->message, keys[i][1]));
  }
}

/* What people assign is told by the check, each at its place; the scenario can be mended. */
static void
test_assign (void **state)
{
  g_autoptr (FabScenario) scenario = parse (*state, LEAST);
  g_autoptr (GError) bad = NULL, wrong = NULL, error = NULL;

  assert_false (fab_scenario_assign (scenario, "nodes", &bad));
  assert_string_equal (bad->message, "--set: nodes: an assignment has the form key=value, for example "
                                     "cluster.nodes=8\n"
                                     "      | nodes\n"
                                     "      | ^~~~~");
  assert_true (fab_scenario_assign (scenario, "cluster.nodes=many", &error));
  assert_false (fab_scenario_check (scenario, &wrong));
  assert_string_equal (
      wrong->message,
      "--set: cluster.nodes=many: 'nodes': 'many' is not a whole number; write for example 8\n"
      "      | cluster.nodes=many\n      |               ^~~~");
  assert_true (fab_scenario_assign (scenario, "cluster.nodes=4", &error));
  assert_true (fab_scenario_check (scenario, &error));
  assert_int_equal (fab_scenario_spec (scenario)->cluster.nodes, 4);
}

/* A file that is not whole is opened, and an edit makes it whole. */
static void
test_open (void **state)
{
  const char *const sets[] = { "name=t", "cluster.node=box", "job={kind: ddp, model: tiny}", NULL };
  g_autoptr (FabScenario) scenario = fab_scenario_new ("request", &small_registry, *state);
  g_autoptr (FabEdits) edits = fab_edits_of (sets);
  g_autoptr (GError) error = NULL;

  assert_false (fab_scenario_check (scenario, NULL));
  fab_scenario_edit (scenario, edits);
  assert_true (fab_scenario_check (scenario, &error));
  assert_true (fab_scenario_set (scenario, "cluster.gpus_per_node", fab_value_count (9), &error));
  assert_false (fab_scenario_check (scenario, &error));
  assert_string_equal (error->message, "request: cluster.gpus_per_node=9: node 'box' has 8 GPUs, not 9\n"
                                       "      | cluster.gpus_per_node=9\n      |                       ^");
}

/* What is wrong with an assignment is told by the option that it was given to, also after edits were joined. */
static void
test_options (void **state)
{
  g_autoptr (FabScenario) scenario = parse (*state, LEAST);
  const char *const sets[] = { "cluster.nodez=3", NULL };
  g_autoptr (FabEdits) sweep = fab_edits_new (), edits = fab_edits_of (sets);
  g_autoptr (GError) error = NULL;

  fab_edits_vary (sweep, "cluster.nodes", "0");
  fab_edits_vary (sweep, "cluster.speed", "1Gb/s");
  fab_edits_append (edits, sweep);
  assert_string_equal (fab_edits_texts (edits)[1], "cluster.nodes=0");
  fab_scenario_edit (scenario, edits);
  assert_false (fab_scenario_check (scenario, &error));
  assert_string_equal (error->message,
                       "--set: cluster.nodez=3: unknown key 'nodez'; nearest is 'nodes'\n"
                       "      | cluster.nodez=3\n      |         ^~~~~\n"
                       "--vary: cluster.speed=1Gb/s: unknown key 'speed'; here it is called 'nic_rate'\n"
                       "      | cluster.speed=1Gb/s\n      |         ^~~~~\n"
                       "--vary: cluster.nodes=0: 'nodes' is 0: the lower limit is 1\n"
                       "      | cluster.nodes=0\n      |               ^");
}

/* --- what follows from an edit --- */

/* A default that depends on another key follows it. */
static void
test_derived (void **state)
{
  g_autoptr (FabScenario) scenario = parse (*state, LEAST);
  g_autoptr (GError) error = NULL;
  g_autofree char *written = NULL;

  assert_string_equal (fab_scenario_spec (scenario)->cluster.fabric.info->name, "switch");
  assert_true (fab_scenario_set (scenario, "cluster.nodes", fab_value_count (2), &error));
  written = fab_scenario_text (scenario);
  assert_null (strstr (written, "switch"));
  assert_non_null (strstr (written, "nodes: 2"));
}

/* Keys of another kind of model are said to be unknown where they stand, and are there again with the first kind. */
static void
test_kind (void **state)
{
  g_autoptr (FabScenario) scenario = parse (*state, LEAST "fidelity: {kind: packet, mtu: 128B}\n");
  g_autoptr (GError) error = NULL;

  assert_true (fab_scenario_set (scenario, "fidelity.kind", fab_value_text ("fluid"), NULL));
  assert_false (fab_scenario_check (scenario, &error));
  assert_string_equal (error->message,
                       "t.yaml:4:26: unknown key 'mtu'; 'fluid' does not have it; these have it: 'packet'\n"
                       "    4 | fidelity: {kind: packet, mtu: 128B}\n"
                       "      |                          ^~~");
  g_clear_error (&error);
  assert_true (fab_scenario_set (scenario, "fidelity.kind", fab_value_text ("packet"), &error));
  assert_true (fab_scenario_check (scenario, &error));
  assert_int_equal (fab_scenario_get_whole (scenario, "fidelity.mtu", 0), 128);
}

/* What is appended keeps its groups and shares none with what is there before or comes after it. */
static void
test_groups (G_GNUC_UNUSED void **state)
{
  g_autoptr (FabEdits) one = fab_edits_of ((const char *[]){ "a=1", "b=2", NULL }),
                       two = fab_edits_of ((const char *[]){ "c=3", "d=4", NULL }), all = fab_edits_new (),
                       none = fab_edits_new ();
  static const guint groups[] = { 0, 1, 1, 2, 2, 3, 4, 4, 5, 5, 6 };

  fab_edits_vary (all, "z", "0");
  fab_edits_append (one, two);
  fab_edits_append (all, one);
  fab_edits_append (all, none);
  fab_edits_append (all, NULL);
  fab_edits_vary (all, "y", "0");
  fab_edits_append (all, one);
  fab_edits_ask (all, "x", fab_value_count (0));
  assert_int_equal (fab_edits_count (all), G_N_ELEMENTS (groups));
  for (guint i = 0; i < G_N_ELEMENTS (groups); i++)
    for (guint k = 0; k < G_N_ELEMENTS (groups); k++)
      assert_int_equal (fab_edits_at (all, i)->group == fab_edits_at (all, k)->group, groups[i] == groups[k]);
  for (guint i = 0; i < G_N_ELEMENTS (groups); i++)
    assert_true (fab_edits_at (all, i)->is_asked);
  fab_edits_free (NULL);
}

/* --- copies --- */

static void
test_copies (void **state)
{
  g_autoptr (FabScenario) first = parse (*state, LEAST);
  g_autoptr (FabScenario) second = fab_scenario_copy (first), third = NULL;
  g_autoptr (GError) error = NULL;

  assert_ptr_equal (fab_scenario_spec (first), fab_scenario_spec (second)); /* nothing was read again */
  assert_true (fab_scenario_set (second, "cluster.nodes", fab_value_count (2), &error));
  assert_true (fab_scenario_assign (second, "job.bucket=1MiB", &error));
  assert_true (fab_scenario_check (second, &error));
  third = fab_scenario_copy (second);
  assert_true (fab_scenario_set (second, "cluster.nodes", fab_value_count (3), &error));
  assert_true (fab_scenario_check (second, &error));
  g_clear_pointer (&second, fab_scenario_free);
  assert_int_equal (fab_scenario_get_whole (first, "cluster.nodes", 0), 1);
  assert_int_equal (fab_scenario_get_whole (first, "job.bucket", 0), 25 * 1048576);
  assert_int_equal (fab_scenario_get_whole (third, "cluster.nodes", 0), 2);
  assert_int_equal (fab_scenario_get_whole (third, "job.bucket", 0), 1048576);
  g_clear_pointer (&first, fab_scenario_free);
  assert_true (fab_scenario_set (third, "cluster.nodes", fab_value_count (5), &error));
  assert_true (fab_scenario_check (third, &error));
  assert_true (fab_schema_equal (fab_scenario_params, fab_scenario_spec (third), fab_scenario_spec (third)));
}

static void
edit_copy (gpointer data, guint item)
{
  g_autoptr (FabScenario) copy = fab_scenario_copy (data);
  g_autoptr (GError) error = NULL;

  g_assert_true (fab_scenario_set (copy, "cluster.nodes", fab_value_count (item + 1), &error));
  g_assert_true (fab_scenario_set (copy, "job.bucket", fab_value_whole (FAB_UNIT_BYTES, item), &error));
  g_assert_true (fab_scenario_check (copy, &error));
  g_assert_cmpint (fab_scenario_get_whole (copy, "cluster.nodes", 0), ==, item + 1);
}

static void
test_threads (void **state)
{
  g_autoptr (FabScenario) scenario = parse (*state, LEAST);

  fab_thread_pool_run (0, 64, edit_copy, scenario);
  assert_int_equal (fab_scenario_get_whole (scenario, "cluster.nodes", 0), 1);
}

static void
test_equal (void **state)
{
  g_autoptr (FabScenario) a = parse (*state, LEAST),
                          b = parse (*state, "job: {model: tiny, kind: ddp}\n"
                                             "cluster: {node: box, nodes: 1}\nname: t\n");
  g_autoptr (FabScenario) c = parse (*state, LEAST "faults: [{what: rail, rail: 0, rate: 50%}]\n");
  const FabScenarioSpec *spec = fab_scenario_spec (a);

  assert_true (fab_schema_equal (fab_scenario_params, spec, fab_scenario_spec (b)));
  assert_false (fab_schema_equal (fab_scenario_params, spec, fab_scenario_spec (c)));
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (test_every_type),   cmocka_unit_test (test_defaults_return),
    cmocka_unit_test (test_items),        cmocka_unit_test (test_wrong_types),
    cmocka_unit_test (test_wrong_values), cmocka_unit_test (test_wrong_keys),
    cmocka_unit_test (test_get_unknown),  cmocka_unit_test (test_assign),
    cmocka_unit_test (test_open),         cmocka_unit_test (test_options),
    cmocka_unit_test (test_derived),      cmocka_unit_test (test_kind),
    cmocka_unit_test (test_groups),       cmocka_unit_test (test_copies),
    cmocka_unit_test (test_threads),      cmocka_unit_test (test_equal),
  };

  return cmocka_run_group_tests (tests, load_catalog, free_catalog);
}
