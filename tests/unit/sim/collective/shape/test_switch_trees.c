/* SPDX-License-Identifier: Apache-2.0 */
/* test_switch_trees.c - trees of switches that reduce: where the root is, which switches are in the tree, and what
 * passes up and down; and the parents of small binary trees of nodes. */
#include "tests/support/test.h"

#include "sim/collective/shape/trees.h"
#include "tests/support/closed_router.h"
#include "tests/support/lanes.h"
#include "tests/support/rig.h"

static const FabAlgorithmEnv env = { .net_stretch = 1 };

/* --- the shape --- */

enum { MOST_NODES = 8, MOST_SWITCHES = 8 };

/* A network by hand. Node i has a NIC, which is joined to a switch of its own node, with links that reduce, and to the
 * switches of the network that `ports` names: "0" links that reduce, "0p" links that do not. */
typedef struct {
  FabGraph *graph;
  FabCluster cluster;
  FabVertexId nics[MOST_NODES], gpus[MOST_NODES], switches[MOST_SWITCHES];
} Network;

static FabLinkForm
link_form (FabGraphBuilder *builder, gboolean reduces)
{
  static const FabTechnology technology = { .name = "wire" };
  const FabLinkClass link_class = { .name = reduces ? "reducing" : "plain",
                                    .technology = &technology,
                                    .cost = { 1, 1, 1 },
                                    .has_reduction = reduces };

  return (FabLinkForm){ FAB_PS_PER_S, 50, fab_graph_builder_class (builder, &link_class), 1 };
}

/* `wires` joins switches: "0-1 1-2". */
static void
network_init (Network *self, guint n_switches, const char *wires, guint n_nodes, const char *const *ports)
{
  g_autoptr (FabGraphBuilder) builder = fab_graph_builder_new ();
  guint gpu = fab_graph_builder_part (builder, "gpu", FALSE),
        nic = fab_graph_builder_part (builder, "nic", FALSE),
        inner = fab_graph_builder_part (builder, "inner", FALSE),
        part = fab_graph_builder_part (builder, "s", TRUE);
  FabLinkForm reducing = link_form (builder, TRUE), plain = link_form (builder, FALSE);

  for (guint i = 0; i < n_switches; i++)
    self->switches[i] = fab_graph_builder_vertex (builder, FAB_VERTEX_SWITCH, FAB_NO_NODE, part, i);
  for (const char *wire = wires; *wire != '\0'; wire += wire[3] == '\0' ? 3 : 4)
    fab_graph_builder_join (builder, self->switches[wire[0] - '0'], self->switches[wire[2] - '0'], &plain);
  for (guint i = 0; i < n_nodes; i++) {
    FabVertexId of_node = fab_graph_builder_vertex (builder, FAB_VERTEX_SWITCH, i, inner, 0);

    self->gpus[i] = fab_graph_builder_vertex (builder, FAB_VERTEX_ACCELERATOR, i, gpu, 0);
    self->nics[i] = fab_graph_builder_vertex (builder, FAB_VERTEX_NIC, i, nic, 0);
    fab_graph_builder_join (builder, self->nics[i], of_node, &reducing);
    fab_graph_builder_join (builder, self->gpus[i], of_node, &reducing);
    for (const char *port = ports[i]; *port != '\0'; port++)
      if (*port != 'p')
        fab_graph_builder_join (builder, self->nics[i], self->switches[*port - '0'],
                                port[1] == 'p' ? &plain : &reducing);
  }
  self->graph = fab_graph_builder_freeze (builder);
  self->cluster = (FabCluster){ .graph = self->graph,
                                .n_nodes = n_nodes,
                                .gpus_per_node = 1,
                                .nics_per_node = 1,
                                .gpus = self->gpus,
                                .nics = self->nics };
}

/* "2:4 1:2<2": switch 2 is the root with 4 nodes below, switch 1 has 2 nodes below and switch 2 above. */
static char *
tree_text (const FabSwitchTree *tree, const Network *network)
{
  GString *text = g_string_new (NULL);

  for (guint i = 0; i < tree->n_switches; i++) {
    g_string_append_printf (text, "%s%u:%u", i > 0 ? " " : "", tree->switches[i] - network->switches[0],
                            tree->n_below[i]);
    if (tree->parents[i] != G_MAXUINT)
      g_string_append_printf (text, "<%u", tree->switches[tree->parents[i]] - network->switches[0]);
  }
  return g_string_free (text, FALSE);
}

static const struct {
  guint n_switches;
  const char *wires;
  guint n_nodes;
  const char *ports[MOST_NODES];
  const char *tree; /* NULL: there is none */
  gboolean is_impossible;
} networks[] = {
  /* All on one switch. */
  { 1, "", 3, { "0", "0", "0" }, "0:3", FALSE },
  /* In a line of five the root is in the middle of the leaves, and what is beyond them is not in the tree. */
  { 5, "0-1 1-2 2-3 3-4", 2, { "0", "4" }, "2:2 1:1<2 3:1<2 0:1<1 4:1<3", FALSE },
  { 5, "0-1 1-2 2-3 3-4", 3, { "1", "3", "3" }, "2:3 1:1<2 3:2<2", FALSE },
  { 5, "0-1 1-2 2-3 3-4", 2, { "2", "2" }, "2:2", FALSE },
  /* Two are in the middle: the one with the lower number. */
  { 5, "0-1 1-2 2-3 3-4", 2, { "0", "3" }, "1:2 0:1<1 2:1<1 3:1<2", FALSE },
  { 3, "0-1 1-2", 2, { "1", "2" }, "1:2 2:1<1", FALSE },
  { 2, "0-1", 2, { "1", "0" }, "0:2 1:1<0", FALSE },
  /* The farthest leaf decides, and not the number of leaves near by. */
  { 5, "0-1 1-2 2-3 3-4", 6, { "0", "0", "0", "0", "0", "4" }, "2:6 1:5<2 3:1<2 0:5<1 4:1<3", FALSE },
  /* A star whose middle has the highest number; two spines, of which the first is taken. */
  { 4, "0-3 1-3 2-3", 4, { "0", "1", "1", "2" }, "3:4 0:1<3 1:2<3 2:1<3", FALSE },
  { 5, "0-3 0-4 1-3 1-4 2-3 2-4", 3, { "0", "1", "2" }, "3:3 0:1<3 1:1<3 2:1<3", FALSE },
  /* A leaf may stand between two others. */
  { 3, "0-1 1-2", 3, { "0", "1", "2" }, "1:3 0:1<1 2:1<1", FALSE },
  /* Of two ports the first that reduces. */
  { 2, "0-1", 2, { "0p1", "1" }, "1:2", FALSE },
  { 2, "0-1", 2, { "01", "0" }, "0:2", FALSE },
  /* A port without reduction is none, and nodes do not join switches. */
  { 2, "0-1", 2, { "0p", "1" }, NULL, TRUE },
  { 2, "0-1", 3, { "0", "1", "1p" }, NULL, TRUE },
  { 2, "", 2, { "0", "1" }, NULL, FALSE },
  { 2, "", 3, { "0", "01", "1" }, NULL, FALSE },
};

static void
the_root_is_in_the_middle_of_the_leaves (G_GNUC_UNUSED void **state)
{
  for (guint i = 0; i < G_N_ELEMENTS (networks); i++) {
    Network network;
    g_autoptr (GError) error = NULL;

    network_init (&network, networks[i].n_switches, networks[i].wires, networks[i].n_nodes,
                  networks[i].ports);
    FabGroup group = { &network.cluster, networks[i].n_nodes, 1 };
    g_autoptr (FabSwitchTree) tree = fab_switch_tree_new (&group, 0, &error);
    assert_int_equal (fab_switch_tree_is_possible (&group, 0), !networks[i].is_impossible);
    if (networks[i].tree == NULL) {
      assert_null (tree);
      assert_non_null (strstr (error->message, "NIC 0 of all nodes"));
    } else {
      assert_non_null (tree);
      g_autofree char *text = tree_text (tree, &network);
      assert_string_equal (text, networks[i].tree);
      assert_int_equal (tree->n_nodes, networks[i].n_nodes);
      assert_int_equal (tree->nic, 0);
    }
    fab_graph_free (network.graph);
  }
}

/* --- what passes --- */

/* Nodes of one GPU and two NICs; each leaf has the NICs of one number of two nodes. */
static Rig *
rails (guint n_nodes)
{
  return rig_new (&(RigSpec){ .n_nodes = n_nodes,
                              .gpus_per_node = 1,
                              .nics_per_node = 2,
                              .gpu_bytes_per_s = FAB_PS_PER_S,
                              .nic_bytes_per_s = FAB_PS_PER_S / 10,
                              .gpu_latency_ps = 50,
                              .nic_latency_ps = 200,
                              .nics_reduce = TRUE,
                              .nodes_per_leaf = 2 });
}

static GPtrArray *
pass (const Rig *rig, FabSendGraph *sends, guint nic, const FabSwitchPass *what)
{
  FabGroup group = rig_group (rig);
  g_autoptr (FabSwitchTree) tree = fab_switch_tree_new (&group, nic, NULL);
  GPtrArray *lists = fab_send_lists_new (group.n_nodes);

  assert_non_null (tree);
  assert_true (fab_switch_tree_pass (tree, sends, &group, 0, what, lists, NULL));
  for (guint node = 0; node < group.n_nodes; node++)
    assert_int_equal (fab_send_list (lists, node)->len, 1);
  return lists;
}

/* Three nodes over the second rail, two of them on one leaf. Streams are added up, and copied: one each way everywhere.
 * Otherwise one of each node passes the links between switches. */
static void
streams_are_added_up_and_copied_down (G_GNUC_UNUSED void **state)
{
  static const struct {
    gboolean is_summed_up, is_copied_down;
    const char *expected;
  } cases[] = {
    { TRUE, TRUE,
      "0>leaf1 0.5\n1>leaf1 0.5\n2>leaf3 0.5\n"
      "leaf3>spine 0.5 after 2\nleaf1>spine 0.5 after 0 1\n"
      "spine>leaf1 0.25 after 3 4\nspine>leaf3 0.25 after 3 4\n"
      "leaf1>0 0.25 after 5\nleaf1>1 0.25 after 5\nleaf3>2 0.25 after 6\n" },
    { FALSE, TRUE,
      "0>leaf1 0.5\n1>leaf1 0.5\n2>leaf3 0.5\n"
      "leaf3>spine 0.5 after 2\nleaf1>spine 1 after 0 1\n"
      "spine>leaf1 0.25 after 3 4\nspine>leaf3 0.25 after 3 4\n"
      "leaf1>0 0.25 after 5\nleaf1>1 0.25 after 5\nleaf3>2 0.25 after 6\n" },
    { TRUE, FALSE,
      "0>leaf1 0.5\n1>leaf1 0.5\n2>leaf3 0.5\n"
      "leaf3>spine 0.5 after 2\nleaf1>spine 0.5 after 0 1\n"
      "spine>leaf1 0.5 after 3 4\nspine>leaf3 0.25 after 3 4\n"
      "leaf1>0 0.25 after 5\nleaf1>1 0.25 after 5\nleaf3>2 0.25 after 6\n" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_autoptr (Rig) rig = rails (3);
    FabGroup group = rig_group (rig);
    g_autoptr (FabSchedule) schedule = fab_schedule_new (&rig->cluster);
    g_autoptr (FabSendGraph) sends = fab_send_graph_new (&group, &env, schedule, 1);
    g_autoptr (GPtrArray) lists = pass (
        rig, sends, 1, &(FabSwitchPass){ 0.5, 0.25, cases[i].is_summed_up, cases[i].is_copied_down });

    lanes_assert (schedule, &rig->cluster, cases[i].expected);
    for (guint node = 0; node < 3; node++)
      assert_int_equal (g_array_index (fab_send_list (lists, node), guint, 0), 7 + node);
  }
}

/* A second pass waits for what the first one brought. */
static void
a_pass_waits_for_the_lists_that_it_gets (G_GNUC_UNUSED void **state)
{
  g_autoptr (Rig) rig = rails (2);
  FabGroup group = rig_group (rig);
  g_autoptr (FabSchedule) schedule = fab_schedule_new (&rig->cluster);
  g_autoptr (FabSendGraph) sends = fab_send_graph_new (&group, &env, schedule, 1);
  g_autoptr (FabSwitchTree) tree = fab_switch_tree_new (&group, 0, NULL);
  g_autoptr (GPtrArray) lists = pass (rig, sends, 0, &(FabSwitchPass){ 1, 1, TRUE, TRUE });

  assert_true (
      fab_switch_tree_pass (tree, sends, &group, 0, &(FabSwitchPass){ 1, 1, TRUE, TRUE }, lists, NULL));
  lanes_assert (schedule, &rig->cluster,
                "0>leaf0 1\n1>leaf0 1\nleaf0>0 1 after 0 1\nleaf0>1 1 after 0 1\n"
                "0>leaf0 1 after 2\n1>leaf0 1 after 3\nleaf0>0 1 after 4 5\nleaf0>1 1 after 4 5\n");
}

/* Up to the root and down to a GPU is one step between nodes: two links of 50 ps and one of 200 at each end, and the
 * trunks. */
static void
up_and_down_is_one_step (G_GNUC_UNUSED void **state)
{
  g_autoptr (Rig) rig = rails (4);
  FabGroup group = rig_group (rig);
  g_autoptr (FabSendGraph) sends = fab_send_graph_new (&group, &env, NULL, 1);
  FabCollectiveForm form = { 0 };
  g_autoptr (GPtrArray) lists = pass (rig, sends, 0, &(FabSwitchPass){ 1, 1, TRUE, TRUE });
  FabPath path = { 0 };

  assert_true (fab_router_append (rig->router, rig->cluster.nics[0], rig->cluster.nics[6], 0, &path));
  fab_send_graph_form (sends, FALSE, &form);
  assert_int_equal (form.n_inter_steps, 1);
  assert_int_equal (form.n_intra_steps, 0);
  assert_int_equal (form.inter_latency_ps, 4 * 50 + fab_path_latency_ps (rig->graph, &path));
  assert_int_equal (form.inter_kind, FAB_HOP_NET);
  assert_near (form.footprint->rate_bytes_per_s, 1e11, 1e-12);
  fab_footprint_free (form.footprint);
}

/* Payload bytes per ps between two vertices that are joined. */
static double
rate_between (const Rig *rig, FabVertexId from, FabVertexId to)
{
  FabLinkId first;
  guint n = fab_graph_out_links (rig->graph, from, &first);

  for (FabLinkId link = first; link < first + n; link++)
    if (fab_graph_link (rig->graph, link)->dst == to)
      return (double) fab_graph_link (rig->graph, link)->rate_bytes_per_s / (double) FAB_PS_PER_S;
  fail ();
  return 0;
}

/* The first chunk goes up and down: over a NIC at a tenth of a byte per ps each way, and over the trunks. What follows
 * is held up by NICs alone, 10 ps per byte. */
static void
a_pipeline_fills_on_the_way_up_and_down (G_GNUC_UNUSED void **state)
{
  for (guint n_nodes = 2; n_nodes <= 4; n_nodes += 2) {
    g_autoptr (Rig) rig = rails (n_nodes);
    FabGroup group = rig_group (rig);
    g_autoptr (FabSendGraph) sends = fab_send_graph_new (&group, &env, NULL, 1);
    FabCollectiveForm form = { 0 };
    g_autoptr (GPtrArray) lists = pass (rig, sends, 0, &(FabSwitchPass){ 1, 1, TRUE, TRUE });
    g_autoptr (FabSwitchTree) tree = fab_switch_tree_new (&group, 0, NULL);
    double fill_ps = 10 + 10 - 10;

    if (n_nodes > 2)
      fill_ps += 2 / rate_between (rig, tree->switches[1], tree->switches[0]);
    assert_int_equal (tree->n_switches, n_nodes > 2 ? 3 : 1);
    fab_send_graph_form (sends, TRUE, &form);
    assert_near (form.fill_s_per_byte * 1e12, fill_ps, 1e-9);
    fab_footprint_free (form.footprint);
  }
}

static gboolean
try_pass (gpointer rig, GError **error)
{
  FabGroup group = rig_group (rig);
  g_autoptr (FabSendGraph) sends = fab_send_graph_new (&group, &env, NULL, 1);
  g_autoptr (FabSwitchTree) tree = fab_switch_tree_new (&group, 0, NULL);
  g_autoptr (GPtrArray) lists = fab_send_lists_new (group.n_nodes);

  return fab_switch_tree_pass (tree, sends, &group, 0, &(FabSwitchPass){ 1, 1, TRUE, TRUE }, lists, error);
}

static void
a_path_that_is_missing_is_told (G_GNUC_UNUSED void **state)
{
  g_autoptr (Rig) rig = rails (3);

  closed_router_try (&rig->cluster.router, try_pass, rig);
}

/* --- binary trees --- */

static const struct {
  guint n, which;
  FabTreeRoots roots;
  const char *parents; /* "-": the root */
} trees[] = {
  { 1, 0, FAB_TREE_ROOTS_APART, "-" },
  { 1, 1, FAB_TREE_ROOTS_APART, "-" },
  { 1, 1, FAB_TREE_ROOTS_AT_0, "-" },
  { 2, 0, FAB_TREE_ROOTS_APART, "- 0" },
  { 2, 1, FAB_TREE_ROOTS_APART, "1 -" },
  { 2, 1, FAB_TREE_ROOTS_AT_0, "- 0" },
  { 3, 0, FAB_TREE_ROOTS_APART, "- 2 0" },
  { 3, 1, FAB_TREE_ROOTS_APART, "1 - 0" },
  { 3, 1, FAB_TREE_ROOTS_AT_0, "- 0 1" },
  { 4, 0, FAB_TREE_ROOTS_AT_0, "- 2 0 2" },
  { 4, 1, FAB_TREE_ROOTS_APART, "1 3 1 -" },
  { 4, 1, FAB_TREE_ROOTS_AT_0, "- 3 3 0" },
  { 5, 0, FAB_TREE_ROOTS_APART, "- 2 4 2 0" },
  { 5, 1, FAB_TREE_ROOTS_APART, "1 - 3 0 3" },
  { 5, 1, FAB_TREE_ROOTS_AT_0, "- 0 3 1 3" },
  { 6, 0, FAB_TREE_ROOTS_APART, "- 2 4 2 0 4" },
  { 6, 1, FAB_TREE_ROOTS_APART, "1 5 3 1 3 -" },
  { 6, 1, FAB_TREE_ROOTS_AT_0, "- 5 3 5 3 0" },
  { 7, 0, FAB_TREE_ROOTS_APART, "- 2 4 2 0 6 4" },
  { 7, 1, FAB_TREE_ROOTS_APART, "5 - 3 5 3 1 0" },
  { 7, 1, FAB_TREE_ROOTS_AT_0, "- 3 1 0 5 3 5" },
  { 8, 0, FAB_TREE_ROOTS_APART, "- 2 4 2 0 6 4 6" },
  { 8, 1, FAB_TREE_ROOTS_APART, "1 3 1 7 5 3 5 -" },
  { 9, 0, FAB_TREE_ROOTS_APART, "- 2 4 2 8 6 4 6 0" },
};

static void
small_trees_have_these_parents (G_GNUC_UNUSED void **state)
{
  for (guint i = 0; i < G_N_ELEMENTS (trees); i++) {
    g_autoptr (FabTree) tree = fab_tree_new (trees[i].n, trees[i].which, trees[i].roots);
    g_autoptr (GString) text = g_string_new (NULL);

    for (guint node = 0; node < tree->n; node++) {
      g_string_append (text, node > 0 ? " " : "");
      if (tree->parents[node] == G_MAXUINT)
        g_string_append_c (text, '-');
      else
        g_string_append_printf (text, "%u", tree->parents[node]);
    }
    assert_string_equal (text->str, trees[i].parents);
  }
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (the_root_is_in_the_middle_of_the_leaves),
    cmocka_unit_test (streams_are_added_up_and_copied_down),
    cmocka_unit_test (a_pass_waits_for_the_lists_that_it_gets),
    cmocka_unit_test (up_and_down_is_one_step),
    cmocka_unit_test (a_pipeline_fills_on_the_way_up_and_down),
    cmocka_unit_test (a_path_that_is_missing_is_told),
    cmocka_unit_test (small_trees_have_these_parents),
  };

  return cmocka_run_group_tests_name ("switch trees", tests, NULL, NULL);
}
