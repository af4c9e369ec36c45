/* SPDX-License-Identifier: Apache-2.0 */
/* test_title.c - the line that says what a scenario simulates: its job, its machine, and what differs from the
 * defaults. */
#include "tests/support/test.h"

#include <string.h>

#include "models/models.h"
#include "sim/scenario/title.h"
#include "tests/support/play.h"

static FabCatalog *catalog;

static const char collective[] = "{kind: collective, operations: [{op: all_reduce, size: 1MB}]}";

static void
assert_title (const char *cluster, const char *job, const char *rest, const char *expected)
{
  g_autofree char *yaml = g_strdup_printf ("name: t\ncluster: {%s}\njob: %s\n%s", cluster, job, rest);
  g_autoptr (GError) error = NULL;
  g_autoptr (FabScenario) scenario = fab_scenario_parse ("t", yaml, strlen (yaml), NULL, &fab_models, catalog,
                                                         &error);

  if (scenario == NULL)
    fail_msg ("%s", error->message);
  g_autofree char *title = fab_scenario_title (fab_scenario_spec (scenario));
  assert_string_equal (title, expected);
}

/* One node has no fabric to speak of. What is as usual is not said, and one of a thing has no plural. */
static void
a_machine_is_told_by_what_was_chosen (G_GNUC_UNUSED void **state)
{
  const char *job = "collective, all_reduce, 1MB";
  static const struct {
    const char *cluster, *expected;
  } rows[] = {
    { "node: dgx-h100, nodes: 1", "1 x dgx-h100" },
    { "node: dgx-h100, nodes: 1, gpus_per_node: 1", "1 x dgx-h100, 1 GPU each" },
    { "node: dgx-h100, nodes: 1, gpus_per_node: 2", "1 x dgx-h100, 2 GPUs each" },
    { "node: dgx-h100, nodes: 1, nics_per_node: 1", "1 x dgx-h100, 1 NIC each" },
    { "node: dgx-h100, nodes: 1, nics_per_node: 2", "1 x dgx-h100, 2 NICs each" },
    { "node: dgx-h100, nodes: 1, nic: ib-hdr", "1 x dgx-h100, ib-hdr" },
    { "node: dgx-h100, nodes: 1, nic_rate: 100Gb/s", "1 x dgx-h100, 100Gb/s" },
    { "node: dgx-h100, nodes: 1, nic_rate: 1B/s", "1 x dgx-h100, 1B/s" },
    { "node: dgx-h100, nodes: 1, nics_per_node: 2, nic: ib-hdr, nic_rate: 100Gb/s",
      "1 x dgx-h100, 2 NICs each, ib-hdr, 100Gb/s" },
    { "node: gb200-tray, nodes: 1, domain_nodes: 1", "1 x gb200-tray, domains of 1 node" },
    { "node: gb200-tray, nodes: 2, domain_nodes: 2, fabric: switch",
      "2 x gb200-tray, domains of 2 nodes, switch fabric" },
    { "node: dgx-h100, nodes: 1, power_cap: 299W", "1 x dgx-h100, GPUs capped at 299 W" },
    { "node: dgx-h100, nodes: 1, power_cap: 62.5%", "1 x dgx-h100, GPUs capped at 62.5 %" },
    { "node: dgx-h100, nodes: 1, nic_ports: 1", "1 x dgx-h100" },
    { "node: dgx-h100, nodes: 1, nic_ports: 2", "1 x dgx-h100, 2 ports each, merged" },
    { "node: dgx-h100, nodes: 1, power_cap: 350W", "1 x dgx-h100, GPUs capped at 350 W" },
    { "node: dgx-h100, nodes: 1, power_cap: 70%", "1 x dgx-h100, GPUs capped at 70 %" },
    { "node: dgx-h100, nodes: 1, power_cap: 100%", "1 x dgx-h100" },
    { "node: dgx-h100, nodes: 2, fabric: switch", "2 x dgx-h100, switch fabric" },
    { "node: dgx-h100, nodes: 1, fabric: switch", "1 x dgx-h100" },
    { "node: dgx-h100, nodes: 4, fabric: {kind: leaf_spine, nodes_per_leaf: 2, oversubscription: 2}",
      "4 x dgx-h100, leaf_spine fabric, oversubscription 2" },
    { "node: dgx-h100, nodes: 4, fabric: {kind: leaf_spine, nodes_per_leaf: 2, oversubscription: 1}",
      "4 x dgx-h100, leaf_spine fabric" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autofree char *expected = g_strdup_printf ("%s on %s", job, rows[i].expected);

    assert_title (rows[i].cluster, collective, "", expected);
  }
}

/* Counts and numbers without a unit have their key, and sizes do not; what is as usual is not said. */
static void
a_job_is_told_by_what_was_chosen (G_GNUC_UNUSED void **state)
{
#define JOB_(keys_) "{model: gpt2-xl, sequence: 1024, compute: {kind: mfu, mfu: 40%}, " keys_ "}"
  static const char *const rows[][2] = {
    { JOB_ ("kind: ddp, micro_batch: 2"), "ddp, gpt2-xl" },
    { JOB_ ("kind: ddp, micro_batch: 2, accumulation: 4"), "ddp, gpt2-xl" },
    { JOB_ ("kind: megatron, micro_batch: 1, parallel: {tensor: 2, pipeline: 4}"),
      "megatron, gpt2-xl, tensor 2, pipeline 4" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autofree char *expected = g_strconcat (rows[i][1], " on 1 x dgx-h100", NULL);

    assert_title ("node: dgx-h100, nodes: 1", rows[i][0], "", expected);
  }
}

/* A scenario of which nothing is read yet has neither a job nor a node. */
static void
a_title_needs_nothing (G_GNUC_UNUSED void **state)
{
  const FabScenarioSpec spec = { .cluster = { .nodes = 3, .power_cap = { .fraction = 1 } } };
  g_autofree char *title = fab_scenario_title (&spec);

  assert_string_equal (title, " on 3 x nothing");
}

/* Of a list the first three, and how many more. */
static void
a_long_list_is_cut (G_GNUC_UNUSED void **state)
{
#define OP(size_) "{op: all_reduce, size: " size_ "}"
  assert_title ("node: dgx-h100, nodes: 1",
                "{kind: collective, operations: [" OP ("1MB") ", " OP ("2MB") ", " OP ("3MB") "]}", "",
                "collective, all_reduce, 1MB, all_reduce, 2MB, all_reduce, 3MB on 1 x dgx-h100");
  assert_title (
      "node: dgx-h100, nodes: 1",
      "{kind: collective, operations: [" OP ("1MB") ", " OP ("2MB") ", " OP ("3MB") ", " OP ("4MB") ", " OP (
          "5MB") "]}",
      "",
      "collective, all_reduce, 1MB, all_reduce, 2MB, all_reduce, 3MB, and 2 more operations on 1 x dgx-h100");
}

static void
what_else_happens_is_told (G_GNUC_UNUSED void **state)
{
#define OTHER \
  "{name: other, nodes: 2, first: 2, job: {kind: collective, operations: [{op: all_reduce, size: 1MB}]}}"
  static const char *const rest[][2] = {
    { "", "" },
    { "faults: [{what: nic, name: node0/nic1, rate: 50%}]\n", ", 1 fault" },
    { "faults: [{what: nic, name: node0/nic1, rate: 50%}, {what: nic, name: node0/nic2, rate: 50%}]\n",
      ", 2 faults" },
    { "background: [{load: 40%, links: uplinks}]\n", ", background traffic" },
    { "neighbours: [" OTHER "]\n", ", other jobs beside it" },
    { "faults: [{what: nic, name: node0/nic1, rate: 50%}]\nneighbours: [" OTHER "]\n",
      ", 1 fault, other jobs beside it" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rest); i++) {
    g_autofree char *expected = g_strconcat ("collective, all_reduce, 1MB on 4 x dgx-h100, leaf_spine fabric",
                                             rest[i][1], NULL);

    assert_title ("node: dgx-h100, nodes: 4, fabric: {kind: leaf_spine, nodes_per_leaf: 1}", collective,
                  rest[i][0], expected);
  }
}

/* Edits of these keys leave the title as it is; those of all others may change it. */
static void
some_keys_are_not_of_the_title (G_GNUC_UNUSED void **state)
{
  static const char *const outside[] = { "name", "summary",    "seed",          "iterations=3", "contention",
                                         "fold", "cost.power", "fidelity.kind", "reliability",  "seed = 4" };
  static const char *const inside[] = { "job.micro_batch", "cluster.nodes=2", "collectives", "faults",
                                        "seeds" };

  for (guint i = 0; i < G_N_ELEMENTS (outside); i++)
    assert_false (fab_title_tells_of (outside[i]));
  for (guint i = 0; i < G_N_ELEMENTS (inside); i++)
    assert_true (fab_title_tells_of (inside[i]));
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (a_machine_is_told_by_what_was_chosen),
    cmocka_unit_test (a_job_is_told_by_what_was_chosen),
    cmocka_unit_test (a_title_needs_nothing),
    cmocka_unit_test (a_long_list_is_cut),
    cmocka_unit_test (what_else_happens_is_told),
    cmocka_unit_test (some_keys_are_not_of_the_title),
  };

  return play_run_tests ("title", tests, &catalog);
}
