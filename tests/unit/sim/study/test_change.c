/* SPDX-License-Identifier: Apache-2.0 */
/* test_change.c - changes in words: which assignments they are, and what is wrong with those that are none. */
#include "tests/support/test.h"

#include <string.h>

#include "models/models.h"
#include "sim/study/change.h"
#include "sim/study/machine.h"
#include "tests/support/play.h"

static FabCatalog *catalog;

static FabScenario *
scenario_of (const char *cluster)
{
  g_autofree char *yaml = g_strdup_printf ("name: t\ncluster: %s\njob: {kind: collective, operations: "
                                           "[{op: all_reduce, size: 1MB}]}\n",
                                           cluster);
  g_autoptr (GError) error = NULL;
  FabScenario *scenario = fab_scenario_parse ("t.yaml", yaml, strlen (yaml), NULL, &fab_models, catalog,
                                              &error);

  if (scenario == NULL)
    fail_msg ("%s", error->message);
  return scenario;
}

/* The assignments with blanks between, or the message. (transfer full) */
static char *
made_of (const char *cluster, FabChangeKind kind, const char *text)
{
  g_autoptr (FabScenario) scenario = scenario_of (cluster);
  g_autoptr (GError) error = NULL;
  g_autoptr (FabChange) change = fab_change_parse (kind, text, scenario, &error);

  return change ? g_strjoinv (" ", (char **) fab_edits_texts (change->edits)) : g_strdup (error->message);
}

#define H100 "{node: dgx-h100, nodes: 4}"

static void
assert_made (const char *cluster, FabChangeKind kind, const char *text, const char *expected)
{
  g_autofree char *made = made_of (cluster, kind, text);

  assert_string_equal (made, expected);
}

static void
changes_are_assignments (G_GNUC_UNUSED void **state)
{
  assert_made (H100, FAB_CHANGE_SHARP, "on", "collectives.collnet=true");
  assert_made (H100, FAB_CHANGE_NVLS, "off", "collectives.nvls=false");
  assert_made (H100, FAB_CHANGE_NIC, "800Gb/s", "cluster.nic_rate=800Gb/s");
  assert_made (H100, FAB_CHANGE_NIC, "ib-xdr", "cluster.nic=ib-xdr cluster.nic_rate=");
  assert_made (H100, FAB_CHANGE_NODES, "8", "cluster.nodes=8");
  assert_made (H100, FAB_CHANGE_SET, "job.seed=3", "job.seed=3");
}

/* Nodes of 8: 32 are four of them, 4 half of one, 12 neither. */
static void
gpus_are_whole_nodes_or_a_part_of_one (G_GNUC_UNUSED void **state)
{
  assert_made (H100, FAB_CHANGE_GPUS, "64", "cluster.nodes=8");
  assert_made (H100, FAB_CHANGE_GPUS, "8", "cluster.nodes=1");
  assert_made (H100, FAB_CHANGE_GPUS, "4", "cluster.nodes=1 cluster.gpus_per_node=4");
  assert_made (H100, FAB_CHANGE_GPUS, "1", "cluster.nodes=1 cluster.gpus_per_node=1");
  assert_made (H100, FAB_CHANGE_GPUS, "12", "--gpus 12: 12 GPUs are not a whole number of nodes of 8");
  assert_made ("{node: dgx-h100, nodes: 4, gpus_per_node: 2}", FAB_CHANGE_GPUS, "6", "cluster.nodes=3");
}

/* Half a DGX H100 has half of its eight NICs; 256 H100 on one switch network are in the catalogue, 72 are not. */
static void
domains_divide_nodes_or_are_other_nodes (G_GNUC_UNUSED void **state)
{
  assert_made (H100, FAB_CHANGE_DOMAIN, "4",
               "cluster.nodes=8 cluster.gpus_per_node=4 cluster.nics_per_node=4");
  assert_made (H100, FAB_CHANGE_DOMAIN, "3",
               "--domain 3: nodes of 8 GPUs cannot be divided into domains of 3");
  assert_made ("{node: gb200-tray, nodes: 36}", FAB_CHANGE_DOMAIN, "72",
               "cluster.node=gb200-nvl72 cluster.nodes=2 cluster.gpus_per_node=0 cluster.nics_per_node=0");
  assert_made ("{node: gb200-tray, nodes: 9}", FAB_CHANGE_DOMAIN, "72",
               "--domain 72: 36 GPUs are not a whole number of domains of 72; 72 GPUs are "
               "(cluster.nodes=18)");
  assert_made (
      "{node: l40s-pcie, nodes: 9}", FAB_CHANGE_DOMAIN, "72",
      "--domain 72: the catalogue joins l40s in domains of 8 (l40s-pcie), 8 (l40s-pcie-amd), not of 72");
  assert_made ("{node: gb200-tray, nodes: 32, domain_nodes: 16}", FAB_CHANGE_DOMAIN, "64",
               "cluster.domain_nodes=16");
  assert_made ("{node: gb200-tray, nodes: 38, domain_nodes: 2}", FAB_CHANGE_DOMAIN, "72",
               "--domain 72: 152 GPUs are not a whole number of domains of 72; 216 GPUs are "
               "(cluster.nodes=54)");
  assert_made ("{node: gb200-tray, nodes: 36, domain_nodes: 9}", FAB_CHANGE_DOMAIN, "72",
               "cluster.node=gb200-nvl72 cluster.nodes=2 cluster.gpus_per_node=0 cluster.nics_per_node=0 "
               "cluster.domain_nodes=0");
  assert_made ("{node: dgx-h100, nodes: 4, nics_per_node: 2}", FAB_CHANGE_DOMAIN, "4",
               "cluster.nodes=8 cluster.gpus_per_node=4 cluster.nics_per_node=1");
  assert_made ("{node: dgx-h100, nodes: 4, nics_per_node: 2}", FAB_CHANGE_DOMAIN, "2",
               "cluster.nodes=16 cluster.gpus_per_node=2 cluster.nics_per_node=1");
  assert_made ("{node: gb200-tray, nodes: 2}", FAB_CHANGE_DOMAIN, "2",
               "cluster.nodes=4 cluster.gpus_per_node=2 cluster.domain_nodes=1 cluster.nics_per_node=2");
}

/* 36 trays of four GPUs share switches in racks of 18. Domains of whole trays that divide the machine are parts of
 * them; those of 20 GPUs would leave four over. */
static void
domains_are_parts_of_racks (G_GNUC_UNUSED void **state)
{
  static const char rack[] = "{node: gb200-tray, nodes: 36}";
  g_autofree char *uneven = made_of (rack, FAB_CHANGE_DOMAIN, "20");

  for (guint trays = 1; trays < 18; trays++) {
    g_autofree char *n = g_strdup_printf ("%u", 4 * trays), *made = made_of (rack, FAB_CHANGE_DOMAIN, n),
                    *part = g_strdup_printf ("cluster.domain_nodes=%u", trays);

    assert_true ((strcmp (made, part) == 0) == (36 % trays == 0));
  }
  assert_non_null (strstr (uneven, "--domain 20: the catalogue joins gb200 in domains of "));
}

static void
nodes_that_share_a_switch_are_one_domain (G_GNUC_UNUSED void **state)
{
  g_autoptr (FabScenario) rack = scenario_of ("{node: gb200-tray, nodes: 36}"),
                          trays = scenario_of ("{node: gb200-tray, nodes: 2}");

  assert_int_equal (fab_machine_gpus (rack), 144);
  assert_int_equal (fab_machine_domain (rack), 72);
  assert_int_equal (fab_machine_domain (trays), 8);
}

static void
faults_are_items_of_lists (G_GNUC_UNUSED void **state)
{
  static const struct {
    const char *text, *item;
  } cases[] = {
    { "nic=node2/nic1:50%", "faults.+={what: nic, name: node2/nic1, rate: 50%}" },
    { "link=leaf0->spine1:dead", "faults.+={what: link, from: leaf0, to: spine1, dead: true}" },
    { "link = leaf0 -> spine1 : +2us", "faults.+={what: link, from: leaf0, to: spine1, latency: 2us}" },
    { "rail=3:0.5", "faults.+={what: rail, rail: 3, rate: 0.5}" },
    { "switch=spine1:dead@1s..2s", "faults.+={what: switch, name: spine1, dead: true, at: 1s, until: 2s}" },
    { "switch=a\"}:dead", "faults.+={what: switch, name: 'a\"}', dead: true}" },
    { "gpu=11:80%", "job.stragglers.+={rank: 11, slowness: 1.25}" },
    { "gpu=node1/gpu3:50%", "job.stragglers.+={rank: 11, slowness: 2}" },
    { "gpu=node0/gpu0:100%", "job.stragglers.+={rank: 0, slowness: 1}" },
    { "gpu=node3/gpu7:50%", "job.stragglers.+={rank: 31, slowness: 2}" },
    { "rail=3:dead@1s", "faults.+={what: rail, rail: 3, dead: true, at: 1s}" },
    { "nic=a@b:dead@1s..2s", "faults.+={what: nic, name: 'a@b', dead: true, at: 1s, until: 2s}" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    assert_made (H100, FAB_CHANGE_FAULT, cases[i].text, cases[i].item);
}

static void
mistakes_say_what_would_be_right (G_GNUC_UNUSED void **state)
{
  static const struct {
    FabChangeKind kind;
    const char *text, *message;
  } cases[] = {
    { FAB_CHANGE_SHARP, "yes", "'yes' is neither on nor off" },
    { FAB_CHANGE_NODES, "many", "'many' is not a number of nodes" },
    { FAB_CHANGE_GPUS, "0", "'0' is not a number of GPUs" },
    { FAB_CHANGE_SET, "nodes", "'nodes' is not of the form KEY=VALUE" },
    { FAB_CHANGE_FAULT, "nic=node2/nic1", "a fault has the form KIND=NAME:WHAT" },
    { FAB_CHANGE_FAULT, "link=leaf0:dead", "'leaf0': name a link by its two ends" },
    { FAB_CHANGE_FAULT, "fan=1:dead", "unknown kind of fault 'fan'" },
    { FAB_CHANGE_FAULT, "gpu=11:dead", "a dead GPU stops the job" },
    { FAB_CHANGE_FAULT, "gpu=node1/gpu8:50%", "'node1/gpu8' is not a GPU" },
    { FAB_CHANGE_FAULT, "gpu=1:0%", "'0%': the speed must be above 0%" },
    { FAB_CHANGE_FAULT, "gpu=1:150%", "'150%' is more than 1" },
    { FAB_CHANGE_FAULT, "gpu=1:half", "'half'" },
    { FAB_CHANGE_FAULT, "gpu=host1/gpu2:50%", "'host1/gpu2' is not a GPU; write its rank, as 11" },
    { FAB_CHANGE_FAULT, "gpu=node1/card2:50%", "'node1/card2' is not a GPU" },
    { FAB_CHANGE_FAULT, "gpu=nodex/gpu2:50%", "'nodex/gpu2' is not a GPU" },
    { FAB_CHANGE_FAULT, "gpu=node1:50%", "'node1' is not a GPU" },
    { FAB_CHANGE_FAULT, "nic= :dead", "a fault has the form KIND=NAME:WHAT" },
    { FAB_CHANGE_FAULT, "nic=a:", "a fault has the form KIND=NAME:WHAT" },
    { FAB_CHANGE_FAULT, "nic:dead", "a fault has the form KIND=NAME:WHAT" },
    { FAB_CHANGE_FAULT, "=a:dead", "unknown kind of fault ''" },
    { FAB_CHANGE_NODES, "0", "--nodes 0: '0' is not a number of nodes" },
    { FAB_CHANGE_DOMAIN, "0", "'0' is not a number of GPUs" },
    { FAB_CHANGE_NODES, "2147483648", "'2147483648' is not a number of nodes" },
    { FAB_CHANGE_SET, "=3", "'=3' is not of the form KEY=VALUE" },
    { FAB_CHANGE_FAULT, "gpu=1:50%@1s", "a GPU is slow during the whole run" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_autofree char *made = made_of (H100, cases[i].kind, cases[i].text);

    assert_non_null (strstr (made, cases[i].message));
  }
}

static void
what_sets_one_key_cannot_be_together (G_GNUC_UNUSED void **state)
{
  g_autoptr (FabScenario) scenario = scenario_of (H100);
  g_autoptr (FabChange) rate = fab_change_parse (FAB_CHANGE_NIC, "800Gb/s", scenario, NULL);
  g_autoptr (FabChange) entry = fab_change_parse (FAB_CHANGE_NIC, "ib-xdr", scenario, NULL);
  g_autoptr (FabChange) one = fab_change_parse (FAB_CHANGE_FAULT, "rail=1:dead", scenario, NULL);
  g_autoptr (FabChange) other = fab_change_parse (FAB_CHANGE_FAULT, "rail=2:dead", scenario, NULL);
  g_autofree char *clash = fab_change_clash (rate, entry), *none = fab_change_clash (rate, one);

  assert_string_equal (clash, "cluster.nic_rate");
  assert_null (none);
  assert_null (fab_change_clash (one, other));
}

/* A library that has no such key never reduces in switches. */
static void
switches_reduce_for_libraries_that_can (G_GNUC_UNUSED void **state)
{
  assert_made (H100 "\ncollectives: plain", FAB_CHANGE_NVLS, "on",
               "--nvls on: collectives of 'plain' never reduce in switches: that library has no key 'nvls'");
  assert_made (
      H100 "\ncollectives: plain", FAB_CHANGE_SHARP, "off",
      "--sharp off: collectives of 'plain' never reduce in switches: that library has no key 'collnet'");
  assert_made (H100, FAB_CHANGE_NVLS, "on", "collectives.nvls=true");
  assert_made (H100, FAB_CHANGE_SHARP, "off", "collectives.collnet=false");
  assert_made (H100, FAB_CHANGE_NODES, "1", "cluster.nodes=1");
}

/* What is written in full is its own name, and the others have that of their option before them. */
static void
changes_have_the_names_of_their_options (G_GNUC_UNUSED void **state)
{
  static const struct {
    FabChangeKind kind;
    const char *text, *name;
  } rows[] = { { FAB_CHANGE_FAULT, "rail=1:dead", "rail=1:dead" },
               { FAB_CHANGE_SET, "seed=3", "seed=3" },
               { FAB_CHANGE_NODES, "8", "nodes 8" },
               { FAB_CHANGE_GPUS, "16", "gpus 16" },
               { FAB_CHANGE_DOMAIN, "4", "domain 4" },
               { FAB_CHANGE_NIC, "ib-xdr", "nic ib-xdr" },
               { FAB_CHANGE_NVLS, "on", "nvls on" },
               { FAB_CHANGE_SHARP, "on", "sharp on" } };
  g_autoptr (FabScenario) scenario = scenario_of (H100);

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autoptr (FabChange) change = fab_change_parse (rows[i].kind, rows[i].text, scenario, NULL);

    assert_string_equal (change->name, rows[i].name);
    assert_int_equal (change->kind, rows[i].kind);
  }
}

/* Any key of one against any of the other; a key that begins like another is not that key. */
static void
the_key_that_both_set_is_named (G_GNUC_UNUSED void **state)
{
  static const struct {
    const char *first[3], *second[3], *clash;
  } rows[] = {
    { { "a=1", "b=2" }, { "c=1", "b=3" }, "b" },
    { { "a=1", "b=2" }, { "b=1", "a=3" }, "a" },
    { { "a=1" }, { "ab=1" }, NULL },
    { { "ab=1" }, { "a=1" }, NULL },
    { { "a.+=1" }, { "a.+=1" }, NULL },
    { { "a.+=1", "b=1" }, { "a.+=1", "b=1" }, "b" },
    { { NULL }, { "a=1" }, NULL },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autoptr (FabEdits) first = fab_edits_of (rows[i].first), second = fab_edits_of (rows[i].second);
    const FabChange a = { FAB_CHANGE_SET, NULL, first }, b = { FAB_CHANGE_SET, NULL, second };
    g_autofree char *clash = fab_change_clash (&a, &b);

    assert_true (g_strcmp0 (clash, rows[i].clash) == 0);
  }
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (changes_are_assignments),
    cmocka_unit_test (gpus_are_whole_nodes_or_a_part_of_one),
    cmocka_unit_test (domains_divide_nodes_or_are_other_nodes),
    cmocka_unit_test (domains_are_parts_of_racks),
    cmocka_unit_test (nodes_that_share_a_switch_are_one_domain),
    cmocka_unit_test (faults_are_items_of_lists),
    cmocka_unit_test (mistakes_say_what_would_be_right),
    cmocka_unit_test (what_sets_one_key_cannot_be_together),
    cmocka_unit_test (switches_reduce_for_libraries_that_can),
    cmocka_unit_test (changes_have_the_names_of_their_options),
    cmocka_unit_test (the_key_that_both_set_is_named),
  };
  catalog = play_catalog ();
  int failed = cmocka_run_group_tests (tests, NULL, NULL);

  fab_catalog_free (catalog);
  return failed;
}
