/* SPDX-License-Identifier: Apache-2.0 */
/* test_technology.c - what the technology of a link decides, and what is refused about it. */
#include "tests/support/test.h"

#include <string.h>

#include "models/models.h"
#include "sim/machine/hop.h"
#include "tests/support/play.h"

static int
load_catalog (void **state)
{
  *state = play_catalog ();
  return 0;
}

static int
free_catalog (void **state)
{
  fab_catalog_free (*state);
  return 0;
}

#define PORT "signalling: 50Gb/s, lanes: 4, latency: 600ns"
#define INCAST                                                                        \
  "name: t\nfidelity: packet\ncluster: {node: dgx-h100, nodes: 5, nics_per_node: 1, " \
  "gpus_per_node: 1, nic: x}\njob: {kind: traffic, pattern: incast, size: 4MiB, senders: 4}\n"

/* Packets marked and pauses of all links. */
static void
play_incast (const FabCatalog *catalog, const char *link, guint64 *n_marks, guint64 *n_pauses,
             guint64 *n_drops)
{
  g_autofree char *yaml = g_strdup_printf (INCAST "links: [{name: x, " PORT ", %s}]\n", link);
  g_autoptr (Play) play = play_new (catalog, yaml, NULL);
  g_autoptr (GArray) queues = NULL;

  *n_marks = *n_pauses = *n_drops = 0;
  while (fab_simulation_step (play->simulation))
    continue;
  queues = fab_simulation_link_queues (play->simulation);
  for (guint i = 0; i < queues->len; i++) {
    const FabLinkQueueRecord *queue = &g_array_index (queues, FabLinkQueueRecord, i);

    *n_marks += queue->n_marks;
    *n_pauses += queue->n_pauses;
    *n_drops += queue->n_drops;
  }
}

/* Four senders fill the receiver's port: with credits nobody marks, with PFC switches mark and pause, with nothing of
 * the kind packets are lost. The link says so, or its technology does. */
static void
flow_control_is_obeyed (void **state)
{
  static const struct {
    const char *link;
    gboolean has_marks, has_pauses, has_drops;
  } cases[] = {
    { "technology: RoCE, flow_control: PFC", TRUE, TRUE, FALSE },
    { "technology: RoCE", TRUE, TRUE, FALSE },
    { "technology: InfiniBand", FALSE, FALSE, FALSE },
    { "technology: InfiniBand, flow_control: pfc", TRUE, TRUE, FALSE },
    { "technology: Ethernet, flow_control: credit", FALSE, FALSE, FALSE },
    { "technology: Ethernet, flow_control: drop", TRUE, FALSE, TRUE },
    { "flow_control: pfc", TRUE, TRUE, FALSE },
    { "coding: 1", FALSE, FALSE, FALSE }, /* neither a technology nor a flow control */
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    guint64 n_marks, n_pauses, n_drops;

    play_incast (*state, cases[i].link, &n_marks, &n_pauses, &n_drops);
    assert_int_equal (n_marks > 0, cases[i].has_marks);
    assert_int_equal (n_pauses > 0, cases[i].has_pauses);
    assert_int_equal (n_drops > 0, cases[i].has_drops);
  }
}

/* Two GPUs behind a switch of links whose technology is the scenario's own. */
#define BOX                                                                                                   \
  "name: t\ncluster: {node: box}\ncollectives: plain\n"                                                       \
  "job: {kind: collective, operations: [{op: all_reduce, size: 1GB}]}\n"                                      \
  "links:\n  - {name: wire, technology: Own, signalling: 80Gb/s}\n"                                           \
  "  - {name: ram, technology: Memory, signalling: 800Gb/s}\n"                                                \
  "nodes:\n  - name: box\n    accelerator: a100-sxm4-80gb\n"                                                  \
  "    parts: [{name: gpu, kind: accelerator, count: 2}, {name: hub, kind: switch}, {name: cpu, kind: host}," \
  " {name: ram, kind: memory}]\n"                                                                             \
  "    wires: [{from: gpu, to: hub, link: wire}, {from: hub, to: cpu, link: wire},"                           \
  " {from: cpu, to: ram, link: ram}]\n"

static void
find_pair (const FabCatalog *catalog, const char *technology, FabReach *reach, FabHopKind *kind)
{
  g_autofree char *yaml = g_strdup_printf (BOX "technologies: [{name: Own, %s}]\n", technology);
  g_autoptr (Play) play = play_new (catalog, yaml, NULL);
  const FabCluster *cluster = fab_simulation_cluster (play->simulation);
  FabPath path;
  FabHop hop;

  *reach = fab_cluster_reach (cluster, cluster->gpus[0], cluster->gpus[1], &path);
  assert_true (fab_hop_inside (cluster, cluster->gpus[0], cluster->gpus[1], &hop, NULL));
  *kind = hop.kind;
  fab_hop_clear (&hop);
}

/* One entry is all that a technology is: a bus makes PIX, links of accelerators NVL, and one that carries nothing
 * between devices sends them through host memory. */
static void
an_own_technology_is_one_entry (void **state)
{
  FabReach reach;
  FabHopKind kind;

  find_pair (*state, "joins: devices", &reach, &kind);
  assert_int_equal (reach, FAB_REACH_PIX);
  assert_int_equal (kind, FAB_HOP_DIRECT);
  find_pair (*state, "joins: accelerators", &reach, &kind);
  assert_int_equal (reach, FAB_REACH_NVL);
  find_pair (*state, "joins: devices, peer_to_peer: false", &reach, &kind);
  assert_int_equal (reach, FAB_N_REACHES);
  assert_int_equal (kind, FAB_HOP_STAGED);
}

static void
assert_refused (const FabCatalog *catalog, const char *yaml, const char *expected)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (FabScenario) scenario = fab_scenario_parse ("s.yaml", yaml, strlen (yaml), NULL, &fab_models,
                                                         catalog, &error);

  assert_null (scenario);
  if (strstr (error->message, expected) == NULL)
    fail_msg ("'%s' is not in:\n%s", expected, error->message);
}

static void
unknown_ones_are_refused_at_their_place (void **state)
{
  assert_refused (*state, INCAST "links: [{name: x, " PORT ", technology: Pcie}]\n",
                  "s.yaml:5:77: unknown technology 'Pcie'; nearest is 'PCIe'");
  assert_refused (*state, INCAST "links: [{name: x, " PORT ", technology: Token Ring}]\n",
                  "unknown technology 'Token Ring'; 'fabricast describe technologies' lists them");
  assert_refused (*state, INCAST "links: [{name: x, " PORT ", flow_control: pauses}]\n",
                  "'flow_control' cannot be 'pauses'");
  assert_refused (*state, BOX, "s.yaml:6:30: unknown technology 'Own'");
}

/* What a node can do hangs on what its wires are. A scenario's link in the place of a shipped wire is one. */
static void
a_wire_inside_a_node_says_what_it_is (void **state)
{
  assert_refused (
      *state, INCAST "links: [{name: x, " PORT "}, {name: nvlink4, signalling: 200Gb/s}]\n",
      "s.yaml:5:73: link 'nvlink4' is a wire inside node 'dgx-h100', so it must say its technology");
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (flow_control_is_obeyed),
    cmocka_unit_test (an_own_technology_is_one_entry),
    cmocka_unit_test (unknown_ones_are_refused_at_their_place),
    cmocka_unit_test (a_wire_inside_a_node_says_what_it_is),
  };

  return cmocka_run_group_tests (tests, load_catalog, free_catalog);
}
