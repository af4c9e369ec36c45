/* SPDX-License-Identifier: Apache-2.0 */
/* test_knobs.c - queries of `fabricast explore` to assignments, over scenarios/explore.yaml: 8 dgx-a100 (8 GPUs
 * each) with ports of 200 Gb/s, DDP with buckets of 25 MiB.
 */
#include "tests/support/test.h"

#include "cli/explore/explored.h"
#include "sim/base/error.h"
#include "tests/support/play.h"

typedef struct {
  FabCatalog *catalog;
  FabExplored *explored;
} Fixture;

static int
set_up (void **state)
{
  Fixture *self = g_new0 (Fixture, 1);

  self->catalog = play_catalog ();
  self->explored = fab_explored_load (FAB_SOURCE_DIR "/scenarios/explore.yaml", NULL, self->catalog, NULL);
  assert_non_null (self->explored);
  *state = self;
  return 0;
}

static int
tear_down (void **state)
{
  Fixture *self = *state;

  fab_explored_free (self->explored);
  fab_catalog_free (self->catalog);
  g_free (self);
  return 0;
}

static void
assert_sets (Fixture *self, const char *query, const char *expected)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *client = NULL;
  FabKnobSetting setting;

  assert_true (fab_knob_board_parse (self->explored->board, query, &setting, &client, &error));
  g_autoptr (FabEdits) edits = fab_knob_board_edits (self->explored->board, &setting);
  g_autofree char *joined = g_strjoinv (" ", (char **) fab_edits_texts (edits));
  assert_string_equal (joined, expected);
  g_autoptr (FabScenario) scenario = fab_explored_scenario (self->explored, &setting, &error);
  assert_non_null (scenario);
}

static void
test_sets (void **state)
{
  assert_sets (*state, NULL, "");
  assert_sets (*state, "gpus=64&strategy=ddp&bucket=25&rate=200", "");
  assert_sets (*state, "gpus=512", "cluster.nodes=64");
  assert_sets (*state, "gpus=9", "cluster.nodes=2"); /* whole nodes */
  assert_sets (*state, "gpus=3", "cluster.nodes=1 cluster.gpus_per_node=3");
  assert_sets (*state, "rate=400", "cluster.nic_rate=400Gb/s");
  assert_sets (*state, "bucket=100&micro_batch=4", "job.micro_batch=4 job.bucket=100MiB");
  assert_sets (*state, "power_cap=70", "cluster.power_cap=70%");
  assert_sets (*state, "power_cap=100", "");
  assert_sets (*state, "sequence=4096&recompute=full", "job.sequence=4096 job.recompute=full");
  assert_sets (*state, "tensor=4&pipeline=2", "job.parallel.tensor=4 job.parallel.pipeline=2");
}

/* A kind of port brings its rate, unless the rate is turned too. */
static void
test_ports (void **state)
{
  assert_sets (*state, "nics=4", "cluster.nics_per_node=4");
  assert_sets (*state, "nic=ib-ndr", "cluster.nic=ib-ndr");
  assert_sets (*state, "nic=ib-ndr&rate=100", "cluster.nic=ib-ndr cluster.nic_rate=100Gb/s");
  assert_sets (*state, "node=dgx-h100&nic=roce-400",
               "cluster.node=dgx-h100 cluster.nodes=8 cluster.nic=roce-400");
  assert_sets (*state, "oversubscription=2&route=ecmp",
               "cluster.fabric={kind: rail, oversubscription: 2} cluster.route=ecmp");
  assert_sets (*state, "design=superpod-a100&nics=1&nic=ib-ndr&oversubscription=2&route=ecmp",
               "cluster={design: superpod-a100, scalable_units: 1}");
}

/* 280 W are 70 % of the 400 W of an A100: the knob starts there, and leaves the watts alone until it is turned. */
static void
test_cap_in_watts (G_GNUC_UNUSED void **state)
{
  char *sets[] = { (char *) "cluster.power_cap=280W", NULL };
  Fixture self = { .catalog = play_catalog () };

  self.explored = fab_explored_load (FAB_SOURCE_DIR "/scenarios/explore.yaml", sets, self.catalog, NULL);
  assert_int_equal (self.explored->board->start.values[FAB_KNOB_POWER], 70);
  assert_sets (&self, "power_cap=70", "");
  assert_sets (&self, "power_cap=100", "cluster.power_cap=100%");
  fab_explored_free (self.explored);
  fab_catalog_free (self.catalog);
}

/* Nodes of gb200-tray share a switch in eighteens; the rate is the knob's, whatever the other node's ports are. */
static void
test_node (void **state)
{
  assert_sets (*state, "node=dgx-h100", "cluster.node=dgx-h100 cluster.nodes=8 cluster.nic_rate=200Gb/s");
  assert_sets (*state, "node=gb200-tray&gpus=80",
               "cluster.node=gb200-tray cluster.nodes=36 cluster.nic_rate=200Gb/s");
}

/* A rate that the scenario sets is of its ports on every node, and another kind of port has its own again, however
 * small the rate was. One that it does not set is the knob's on another node. */
static void
test_rates_of_the_scenario (G_GNUC_UNUSED void **state)
{
  static const struct {
    const char *rate, *other_node, *other_port;
  } cases[] = {
    { "cluster.nic_rate=0Gb/s", " cluster.nic_rate=200Gb/s", "" },
    { "cluster.nic_rate=8b/s", "", " cluster.nic_rate=0B/s" }, /* one byte per second */
    { "cluster.nic_rate=200Gb/s", "", " cluster.nic_rate=0B/s" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    char *sets[] = { (char *) cases[i].rate, NULL };
    Fixture self = { .catalog = play_catalog () };
    g_autofree char *node = g_strconcat ("cluster.node=dgx-h100 cluster.nodes=8", cases[i].other_node, NULL),
                    *port = g_strconcat ("cluster.nic=ib-ndr", cases[i].other_port, NULL);

    self.explored = fab_explored_load (FAB_SOURCE_DIR "/scenarios/explore.yaml", sets, self.catalog, NULL);
    assert_non_null (self.explored);
    assert_sets (&self, "node=dgx-h100", node);
    assert_sets (&self, "nic=ib-ndr", port);
    assert_sets (&self, "rate=400", "cluster.nic_rate=400Gb/s");
    assert_sets (&self, "nic=ib-ndr&rate=400", "cluster.nic=ib-ndr cluster.nic_rate=400Gb/s");
    fab_explored_free (self.explored);
    fab_catalog_free (self.catalog);
  }
}

/* Buckets of zero are counted in elements, which are of two bytes: 25 MiB are 13107200. */
static void
test_strategies (void **state)
{
  assert_sets (*state, "strategy=zero3", "job.kind=zero job.stage=3 job.reduce_bucket=13107200");
  assert_sets (*state, "strategy=zero1&bucket=1", "job.kind=zero job.stage=1 job.reduce_bucket=524288");
  assert_sets (*state, "strategy=fsdp&bucket=100", "job.kind=fsdp");
}

static void
assert_refused (Fixture *self, const char *query)
{
  g_autoptr (GError) error = NULL;
  char *client = NULL;
  FabKnobSetting setting;

  assert_false (fab_knob_board_parse (self->explored->board, query, &setting, &client, &error));
  assert_true (g_error_matches (error, FAB_ERROR, FAB_ERROR_INPUT));
  assert_null (client);
}

static void
test_refused (void **state)
{
  static const char *const queries[] = { "gpus",
                                         "gpus=",
                                         "gpus=0",
                                         "gpus=1025",
                                         "gpus=8.5",
                                         "model=nothing",
                                         "node=../../a",
                                         "client=-",
                                         "client=ok&gpus=x",
                                         "rate=1e3",
                                         "x=1",
                                         "=",
                                         "&",
                                         "strategy=zero4",
                                         "nic=nvlink4",
                                         "recompute=modules",
                                         "tensor=0",
                                         "bucket=-1",
                                         "power_cap=101" };

  for (guint i = 0; i < G_N_ELEMENTS (queries); i++)
    assert_refused (*state, queries[i]);
}

static void
test_client (void **state)
{
  Fixture *self = *state;
  g_autofree char *client = NULL;
  FabKnobSetting setting;

  assert_true (
      fab_knob_board_parse (self->explored->board, "client=a1&gpus=8&client=b2", &setting, &client, NULL));
  assert_string_equal (client, "b2");
  assert_int_equal (setting.values[FAB_KNOB_GPUS], 8);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test_setup_teardown (test_sets, set_up, tear_down),
    cmocka_unit_test (test_cap_in_watts),
    cmocka_unit_test_setup_teardown (test_ports, set_up, tear_down),
    cmocka_unit_test_setup_teardown (test_node, set_up, tear_down),
    cmocka_unit_test (test_rates_of_the_scenario),
    cmocka_unit_test_setup_teardown (test_strategies, set_up, tear_down),
    cmocka_unit_test_setup_teardown (test_refused, set_up, tear_down),
    cmocka_unit_test_setup_teardown (test_client, set_up, tear_down),
  };

  return cmocka_run_group_tests (tests, NULL, NULL);
}
