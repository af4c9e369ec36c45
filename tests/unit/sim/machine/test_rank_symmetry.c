/* SPDX-License-Identifier: Apache-2.0 */
/* test_rank_symmetry.c - which nodes of a group are symmetric to a model node, and that hops inside the model nodes are
 * counted in all of them. */
#include "tests/support/test.h"

#include "sim/machine/rank_symmetry.h"
#include "tests/support/graphs.h"

enum { N_NODES = 6, N_VERTICES = 4, N_GPUS = 2, OTHER = 3 };

/* Nodes of two accelerators and a NIC on a switch. In one of them the link of the second accelerator is slower. A
 * switch outside joins the NICs. */
typedef struct {
  FabGraph *graph;
  FabVertexId gpus[N_NODES * N_GPUS];
  FabCluster cluster;
  FabGroup group;
} Nodes;

static void
nodes_init (Nodes *self)
{
  GraphJoin joins[4 * N_NODES + 1] = { { 0 } };

  for (guint node = 0; node < N_NODES; node++) {
    FabVertexId first = node * N_VERTICES;

    joins[4 * node] = (GraphJoin){ first, first + 2, 9, 1 };
    joins[4 * node + 1] = (GraphJoin){ first + 1, first + 2, node == OTHER ? 8 : 9, 1 };
    joins[4 * node + 2] = (GraphJoin){ first + 2, first + 3, 9, 1 };
    joins[4 * node + 3] = (GraphJoin){ first + 3, N_NODES * N_VERTICES, 9, 1 };
    for (guint local = 0; local < N_GPUS; local++)
      self->gpus[node * N_GPUS + local] = first + local;
  }
  self->graph = graph_of ("0aasn1aasn2aasn3aasn4aasn5aasn-s", joins);
  self->cluster = (FabCluster){
    .graph = self->graph, .n_nodes = N_NODES, .gpus_per_node = N_GPUS, .gpus = self->gpus
  };
  self->group = (FabGroup){ &self->cluster, N_NODES, N_GPUS };
}

/* "110": the nodes that are symmetric; "": none is, and there is no object. */
static void
assert_symmetric (const FabGroup *group, guint period, const char *nodes)
{
  g_autoptr (FabRankSymmetry) symmetry = fab_rank_symmetry_new (group, period);

  assert_int_equal (symmetry != NULL, *nodes != '\0');
  for (guint node = 0; nodes[node] != '\0'; node++)
    assert_int_equal (fab_rank_symmetry_has (symmetry, node), nodes[node] == '1');
}

static void
nodes_are_symmetric_to_the_model_of_their_number (G_GNUC_UNUSED void **state)
{
  static const char *const symmetric[] = { "111011", "111011", "111011", "111111", "111111", "", "" };
  Nodes nodes;

  nodes_init (&nodes);
  for (guint period = 1; period <= G_N_ELEMENTS (symmetric); period++)
    assert_symmetric (&nodes.group, period, symmetric[period - 1]);
  fab_graph_free (nodes.graph);
}

static void
uneven_groups_and_unfolded_graphs_have_no_symmetric_nodes (G_GNUC_UNUSED void **state)
{
  FabUneven uneven = { 0 };
  Nodes nodes;

  nodes_init (&nodes);
  nodes.cluster.uneven = &uneven;
  assert_symmetric (&nodes.group, 1, "");
  nodes.cluster.uneven = NULL;
  fab_graph_unfold (nodes.graph);
  assert_symmetric (&nodes.group, 1, "");
  assert_false (fab_rank_symmetry_has (NULL, 0));
  fab_graph_free (nodes.graph);
}

/* The ranks of a node are accelerators in another order, or of two machines. */
static void
ranks_have_the_same_places (G_GNUC_UNUSED void **state)
{
  Nodes nodes;

  nodes_init (&nodes);
  nodes.gpus[4] = 2 * N_VERTICES + 1;
  nodes.gpus[5] = 2 * N_VERTICES;
  assert_symmetric (&nodes.group, 1, "110011");
  for (guint node = 0; node < 3; node++)
    for (guint local = 0; local < 2; local++)
      nodes.gpus[2 * node + local] = (2 * node + local) * N_VERTICES;
  nodes.group.n_nodes = nodes.cluster.n_nodes = 3;
  assert_symmetric (&nodes.group, 1, "000");
  fab_graph_free (nodes.graph);
}

/* The links of the way from the first accelerator to the second one of a node. */
static GArray *
shares_in (const FabGraph *graph, guint node)
{
  GArray *shares = g_array_new (FALSE, FALSE, sizeof (FabShare));

  for (FabLinkId id = 0; id < fab_graph_n_links (graph); id++) {
    const FabLink *link = fab_graph_link (graph, id);

    if (link->src == node * N_VERTICES || link->dst == node * N_VERTICES + 1)
      g_array_append_val (shares, ((FabShare){ id, 1 }));
  }
  assert_int_equal (shares->len, 2);
  return shares;
}

static void
assert_same (const FabFootprint *a, const FabFootprint *b)
{
  assert_int_equal (a->n, b->n);
  for (guint i = 0; i < a->n; i++) {
    assert_int_equal (a->links[i], b->links[i]);
    assert_near (a->weights[i], b->weights[i], 1e-12);
    assert_near (a->line_weights[i], b->line_weights[i], 1e-12);
  }
}

/* With a period of 2, hops of weight 3 in node 0 and shares of weight 5 in node 1; what is asymmetric is left to the
 * caller. What has been added is not there any more. */
static void
hops_of_models_are_counted_in_all_nodes (G_GNUC_UNUSED void **state)
{
  static const double weights[N_NODES] = { 3, 5, 3, 0, 3, 5 };
  Nodes nodes;

  nodes_init (&nodes);
  g_autoptr (FabFootprintBuilder) one = fab_footprint_builder_new (nodes.graph),
                                  all = fab_footprint_builder_new (nodes.graph);
  g_autoptr (FabRankSymmetry) symmetry = fab_rank_symmetry_new (&nodes.group, 2);
  g_autoptr (GArray) first = shares_in (nodes.graph, 0), second = shares_in (nodes.graph, 1),
                     none = g_array_new (FALSE, FALSE, sizeof (FabShare));
  const FabHop hop = { .shares = first, .stretch = 2, .read_stretch = 1, .device_stretch = 1 };
  const FabUse use = { .weight = 5, .stretch = 2 };

  fab_rank_symmetry_use (symmetry, 0, &hop, 3, 1);
  fab_rank_symmetry_use_shares (symmetry, 1, none, use);
  fab_rank_symmetry_use_shares (symmetry, 1, second, use);
  fab_rank_symmetry_add (symmetry, one);
  for (guint node = 0; node < N_NODES; node++) {
    g_autoptr (GArray) shares = shares_in (nodes.graph, node);

    if (weights[node] > 0)
      fab_footprint_builder_add_shares (all, shares, (FabUse){ .weight = weights[node], .stretch = 2 });
  }
  g_autoptr (FabFootprint) of_models = fab_footprint_builder_finish (one),
                           of_nodes = fab_footprint_builder_finish (all);
  assert_int_equal (of_models->n, 10);
  assert_same (of_models, of_nodes);
  /* The second time has nothing but what comes anew, here of one model alone. */
  fab_rank_symmetry_use_shares (symmetry, 1, second, use);
  fab_rank_symmetry_add (symmetry, one);
  fab_rank_symmetry_add (symmetry, one);
  fab_rank_symmetry_add (NULL, one);
  g_autoptr (FabFootprint) again = fab_footprint_builder_finish (one);
  assert_int_equal (again->n, 4);
  for (guint i = 0; i < again->n; i++)
    assert_near (again->weights[i], 5, 0);
  fab_graph_free (nodes.graph);
}

static void
links_correspond_to_those_of_the_model (G_GNUC_UNUSED void **state)
{
  Nodes nodes;

  nodes_init (&nodes);
  g_autoptr (FabRankSymmetry) symmetry = fab_rank_symmetry_new (&nodes.group, 2);
  for (guint node = 0; node < N_NODES; node++) {
    g_autoptr (GArray) of_node = shares_in (nodes.graph, node), of_model = shares_in (nodes.graph, node % 2);

    for (guint i = 0; i < of_node->len; i++)
      assert_int_equal (fab_rank_symmetry_model_link (symmetry, node,
                                                      g_array_index (of_node, FabShare, i).link),
                        g_array_index (of_model, FabShare, i).link);
  }
  fab_graph_free (nodes.graph);
}

/* What it costs depends on others where bytes of both directions slow each other down, and between nodes. */
static void
hops_whose_costs_depend_on_others_are_not_taken (G_GNUC_UNUSED void **state)
{
  static const struct {
    FabHopKind kind;
    double duplex_stretch;
    gboolean is_taken;
  } rows[] = { { FAB_HOP_DIRECT, 1, TRUE },     { FAB_HOP_DIRECT, 0, TRUE }, { FAB_HOP_STAGED, 1, TRUE },
               { FAB_HOP_STAGED, 1.5, FALSE },  { FAB_HOP_NET, 1, FALSE },   { FAB_HOP_NET_HOST, 1, FALSE },
               { FAB_HOP_NET_STAGED, 1, FALSE } };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    const FabHop hop = { .kind = rows[i].kind, .duplex_stretch = rows[i].duplex_stretch };

    assert_int_equal (fab_rank_symmetry_takes (&hop), rows[i].is_taken);
  }
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (nodes_are_symmetric_to_the_model_of_their_number),
    cmocka_unit_test (uneven_groups_and_unfolded_graphs_have_no_symmetric_nodes),
    cmocka_unit_test (ranks_have_the_same_places),
    cmocka_unit_test (hops_of_models_are_counted_in_all_nodes),
    cmocka_unit_test (links_correspond_to_those_of_the_model),
    cmocka_unit_test (hops_whose_costs_depend_on_others_are_not_taken),
  };

  return cmocka_run_group_tests_name ("rank_symmetry", tests, NULL, NULL);
}
