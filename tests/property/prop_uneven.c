/* SPDX-License-Identifier: Apache-2.0 */
/* prop_uneven.c - groups whose nodes hold different numbers of their ranks, or at different places.
 *
 * Random ranks of random clusters. Held against what any ring does, against the messages of the same algorithm, and,
 * for groups that are even, against the same group written as an uneven one.
 */
#include "tests/support/test.h"

#include "tests/support/random.h"
#include "tests/support/rig.h"
#include "tests/support/seeds.h"

static const FabAlgorithmOps *const algorithms[] = {
  &fab_algorithm_ring,
  &fab_algorithm_tree,
  &fab_algorithm_direct,
  &fab_algorithm_binomial,
  &fab_algorithm_halving_doubling,
  &fab_algorithm_pat,
};

static Rig *
random_rig (Random *random)
{
  guint n_gpus = random_between (random, 1, 6);

  return rig_new (&(RigSpec){ .n_nodes = random_between (random, 2, 5),
                              .gpus_per_node = n_gpus,
                              .nics_per_node = random_between (random, 1, 4),
                              .gpu_bytes_per_s = G_GUINT64_CONSTANT (100000000000),
                              .nic_bytes_per_s = G_GUINT64_CONSTANT (25000000000),
                              .gpu_latency_ps = 500000,
                              .nic_latency_ps = 600000,
                              .nodes_per_leaf = random_below (random, 2) });
}

/* Two ranks or more, ascending. (transfer full) */
static guint *
random_ranks (Random *random, guint n_all, guint *n)
{
  guint *ranks = g_new (guint, n_all);

  do {
    *n = 0;
    for (guint rank = 0; rank < n_all; rank++)
      if (random_chance (random, 60))
        ranks[(*n)++] = rank;
  } while (*n < 2 && n_all >= 2);
  return ranks;
}

static FabGroup
group_of (const FabCluster *view)
{
  return (FabGroup){ view, view->n_nodes, view->gpus_per_node };
}

static FabCollectiveForm
form_of (const FabAlgorithmOps *algorithm, const FabGroup *group, FabOp op)
{
  const FabAlgorithmEnv env = { .net_stretch = 1 };
  FabCollectiveForm form;
  GError *error = NULL;

  if (!algorithm->form (group, op, &env, &form, &error))
    fail_msg ("%s: %s", algorithm->info.name, error->message);
  return form;
}

/* Bytes per byte of size over every link of the graph. (transfer full) */
static double *
weights_of (const FabGraph *graph, const FabFootprint *footprint)
{
  double *weights = g_new0 (double, fab_graph_n_links (graph));

  for (guint i = 0; i < footprint->n; i++)
    weights[footprint->links[i]] = footprint->weights[i];
  return weights;
}

/* Those that leave a vertex; of a NIC, those that leave its node. */
static double
leaving (const FabGraph *graph, const double *weights, FabVertexId vertex)
{
  gboolean is_nic = fab_graph_vertex (graph, vertex)->kind == FAB_VERTEX_NIC;
  FabLinkId first;
  guint n_out = fab_graph_out_links (graph, vertex, &first);
  double sum = 0;

  for (FabLinkId link = first; link < first + n_out; link++)
    if (!is_nic || fab_graph_vertex (graph, fab_graph_link (graph, link)->dst)->node == FAB_NO_NODE)
      sum += weights[link];
  return sum;
}

/* Every rank sends 2(n-1)/n or (n-1)/n of the size to the next one, and so does every node over its NICs. */
static void
check_ring (const Rig *rig, const FabGroup *group, FabOp op)
{
  FabCollectiveForm form = form_of (&fab_algorithm_ring, group, op);
  g_autofree double *weights = weights_of (rig->graph, form.footprint);
  double factor = fab_op_bus_factor (op, fab_group_n_ranks (group));

  for (guint node = 0; node < group->n_nodes; node++) {
    double over = 0;

    for (guint local = 0; local < fab_group_n_locals (group, node); local++)
      assert_near (leaving (rig->graph, weights, fab_group_gpu (group, node, local)), factor, 1e-9);
    for (guint nic = 0; nic < group->cluster->nics_per_node; nic++)
      over += leaving (rig->graph, weights, fab_group_nic (group, node, nic));
    assert_near (over, group->n_nodes > 1 ? factor : 0, 1e-9);
  }
  assert_int_equal (form.n_intra_steps + form.n_inter_steps,
                    (op == FAB_OP_ALL_REDUCE ? 2 : 1) * (fab_group_n_ranks (group) - 1));
  assert_int_equal (form.n_inter_steps, (op == FAB_OP_ALL_REDUCE ? 2 : 1) * (group->n_nodes - 1));
  fab_footprint_free (form.footprint);
}

/* The messages of a schedule put the bytes on the links that the form says. */
static void
check_messages (const Rig *rig, const FabCluster *view, const FabAlgorithmOps *algorithm, FabOp op)
{
  const FabBytes bytes = 1000000000;
  FabGroup group = group_of (view);
  FabCollectiveForm form = form_of (algorithm, &group, op);
  guint n_links = fab_graph_n_links (rig->graph);
  g_autofree FabLinkLoad *loads = g_new0 (FabLinkLoad, n_links);
  g_autofree double *weights = weights_of (rig->graph, form.footprint);
  Rig part = *rig;

  part.cluster = *view;
  part.spec.n_nodes = view->n_nodes;
  part.spec.gpus_per_node = view->gpus_per_node;
  rig_time_schedule (&part, algorithm, op, bytes, 4, loads);
  for (FabLinkId link = 0; link < n_links; link++) {
    double expected = weights[link] * (double) bytes;

    if (fabs ((double) loads[link].payload_bytes - expected) > 1e-6 * expected + 64)
      fail_msg ("%s of %s: link %u carries %.0f bytes, not %.0f", fab_op_names[op], algorithm->info.name,
                link, (double) loads[link].payload_bytes, expected);
  }
  fab_footprint_free (form.footprint);
}

static void
check_ranks (Random *random)
{
  g_autoptr (Rig) rig = random_rig (random);
  guint n_all = fab_cluster_n_ranks (&rig->cluster), n;
  g_autofree guint *ranks = random_ranks (random, n_all, &n);
  FabCluster view;

  if (n < 2)
    return;
  fab_cluster_view_ranks (&view, &rig->cluster, ranks, n);
  FabGroup group = group_of (&view);
  assert_int_equal (fab_group_n_ranks (&group), n);
  for (guint i = 0; i < n; i++) {
    guint local, node = fab_group_node_of (&group, i, &local);

    assert_int_equal (fab_group_gpu (&group, node, local), rig_gpu (rig, ranks[i]));
  }
  for (FabOp op = FAB_OP_ALL_REDUCE; op <= FAB_OP_REDUCE_SCATTER; op++)
    check_ring (rig, &group, op);
  for (guint i = 0; i < G_N_ELEMENTS (algorithms); i++)
    for (FabOp op = 0; op < FAB_N_OPS; op++)
      if (algorithms[i]->supports (&group, op))
        check_messages (rig, &view, algorithms[i], op);
  fab_cluster_clear (&view);
}

static void
uneven_groups_send_what_rings_and_messages_do (G_GNUC_UNUSED void **state)
{
  seeds_run (60, check_ranks);
}

/* --- even groups written as uneven ones --- */

/* The same ranks of as many nodes, one shape. (transfer full) */
static guint *
random_even_ranks (Random *random, const FabCluster *cluster, guint *n)
{
  guint k = cluster->gpus_per_node, n_locals;
  g_autofree guint *locals = random_ranks (random, k, &n_locals);
  guint *ranks = g_new (guint, cluster->n_nodes * k);

  *n = 0;
  for (guint node = 0; node < cluster->n_nodes; node++)
    for (guint i = 0; i < n_locals; i++)
      ranks[(*n)++] = node * k + locals[i];
  return ranks;
}

static FabUneven *
uneven_of (const FabCluster *even, const FabCluster *cluster, const guint *ranks)
{
  FabUneven *self = g_new0 (FabUneven, 1);

  self->starts = g_new (guint, even->n_nodes + 1);
  self->shapes = g_new0 (guint, even->n_nodes);
  for (guint node = 0; node <= even->n_nodes; node++)
    self->starts[node] = node * even->gpus_per_node;
  self->n_shapes = 1;
  self->nodes = g_new0 (FabCluster, 1);
  fab_cluster_view_ranks (self->nodes, cluster, ranks, even->gpus_per_node);
  return self;
}

static void
assert_same_forms (const FabAlgorithmOps *algorithm, const FabGroup *even, const FabGroup *uneven, FabOp op)
{
  FabCollectiveForm a = form_of (algorithm, even, op), b = form_of (algorithm, uneven, op);

  assert_int_equal (a.n_channels, b.n_channels);
  assert_int_equal (a.n_intra_steps, b.n_intra_steps);
  assert_int_equal (a.n_inter_steps, b.n_inter_steps);
  assert_int_equal (a.intra_latency_ps, b.intra_latency_ps);
  assert_int_equal (a.inter_latency_ps, b.inter_latency_ps);
  assert_near (a.fill_s_per_byte, b.fill_s_per_byte, 1e-9);
  assert_int_equal (a.footprint->n, b.footprint->n);
  for (guint i = 0; i < a.footprint->n; i++) {
    assert_int_equal (a.footprint->links[i], b.footprint->links[i]);
    assert_near (a.footprint->weights[i], b.footprint->weights[i], 1e-9);
  }
  fab_footprint_free (a.footprint);
  fab_footprint_free (b.footprint);
}

static void
check_even (Random *random)
{
  g_autoptr (Rig) rig = random_rig (random);
  guint n;
  g_autofree guint *ranks = random_even_ranks (random, &rig->cluster, &n);
  FabCluster even, uneven;

  if (n < 2)
    return;
  fab_cluster_view_ranks (&even, &rig->cluster, ranks, n);
  fab_cluster_view_ranks (&uneven, &rig->cluster, ranks, n);
  assert_null (even.uneven);
  g_clear_pointer (&uneven.nic_hops, g_free);
  uneven.uneven = uneven_of (&even, &rig->cluster, ranks);
  FabGroup a = group_of (&even), b = group_of (&uneven);
  for (guint i = 0; i < G_N_ELEMENTS (algorithms); i++)
    for (FabOp op = 0; op < FAB_N_OPS; op++) {
      assert_int_equal (algorithms[i]->supports (&a, op), algorithms[i]->supports (&b, op));
      if (algorithms[i]->supports (&a, op))
        assert_same_forms (algorithms[i], &a, &b, op);
    }
  fab_cluster_clear (&even);
  fab_cluster_clear (&uneven);
}

static void
an_even_group_is_a_special_case (G_GNUC_UNUSED void **state)
{
  seeds_run (60, check_even);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    seeds_test (uneven_groups_send_what_rings_and_messages_do),
    seeds_test (an_even_group_is_a_special_case),
  };

  return cmocka_run_group_tests_name ("uneven", tests, NULL, NULL);
}
