/* SPDX-License-Identifier: Apache-2.0 */
/* test_cluster_views.c - where ranks and NICs are: which place a NIC has, how far it is from each GPU, and which GPUs
 * and NICs the ranks of a group have. */
#include "tests/support/test.h"

#include "models/models.h"
#include "sim/machine/cluster.h"
#include "tests/support/graphs.h"

/* NICs ascend node by node; in the second node one replaces another, and those of the third node are the last
 * vertices. */
static void
nics_are_found_by_their_vertices (G_GNUC_UNUSED void **state)
{
  FabVertexId nics[] = { 3, 5, 9, 14, 12, 13, 20, 21, 30 };
  const FabCluster cluster = { .n_nodes = 3, .nics_per_node = 3, .nics = nics }, none = { .n_nodes = 3 };

  for (FabVertexId vertex = 0; vertex < 40; vertex++) {
    guint expected = G_MAXUINT;

    for (guint i = 0; i < G_N_ELEMENTS (nics); i++)
      expected = nics[i] == vertex ? i : expected;
    assert_int_equal (fab_cluster_find_nic (&cluster, vertex), expected);
    assert_int_equal (fab_cluster_find_nic (&none, vertex), G_MAXUINT);
  }
}

/* Vertices 0 and 1 are switches of the fabric. A node has two accelerators on switches of their own, with a NIC beside
 * each; memory, which nothing passes, joins them. The NICs of node 0 are on switch 0, those of node 1 on either. In
 * all of node 0, the way to the other NIC leads out of the node by the own one. */
static void
links_to_nics_are_counted (G_GNUC_UNUSED void **state)
{
  static const struct {
    const char *vertices;
    GraphJoin joins[16];
    guint hops[4];
  } rows[] = {
    /* parts: a 2, a 3, s 4, s 5, n 6, n 7 */
    { "-ss0aassnn",
      { { 2, 4, 1, 1 }, { 3, 5, 1, 1 }, { 4, 6, 1, 1 }, { 5, 7, 1, 1 }, { 4, 5, 1, 1 } },
      { 2, 3, 3, 2 } },
    { "-ss0aassnn",
      { { 2, 4, 1, 1 }, { 3, 5, 1, 1 }, { 4, 6, 1, 1 }, { 5, 7, 1, 1 }, { 6, 0, 1, 1 }, { 7, 0, 1, 1 } },
      { 2, 4, 4, 2 } },
    { "-ss0aassnn",
      { { 2, 4, 1, 1 }, { 3, 5, 1, 1 }, { 4, 6, 1, 1 }, { 5, 7, 1, 1 }, { 6, 0, 1, 1 }, { 7, 1, 1, 1 } },
      { 2, G_MAXUINT, G_MAXUINT, 2 } },
    /* memory, a drive and an accelerator between the switches */
    { "-ss0aassnnm",
      { { 2, 4, 1, 1 }, { 3, 5, 1, 1 }, { 4, 6, 1, 1 }, { 5, 7, 1, 1 }, { 4, 8, 1, 1 }, { 5, 8, 1, 1 } },
      { 2, G_MAXUINT, G_MAXUINT, 2 } },
    { "-ss0aassnnd",
      { { 2, 4, 1, 1 }, { 3, 5, 1, 1 }, { 4, 6, 1, 1 }, { 5, 7, 1, 1 }, { 4, 8, 1, 1 }, { 5, 8, 1, 1 } },
      { 2, G_MAXUINT, G_MAXUINT, 2 } },
    { "-ss0aassnna",
      { { 2, 4, 1, 1 }, { 3, 5, 1, 1 }, { 4, 6, 1, 1 }, { 5, 7, 1, 1 }, { 4, 8, 1, 1 }, { 5, 8, 1, 1 } },
      { 2, G_MAXUINT, G_MAXUINT, 2 } },
    /* a host and a bridge */
    { "-ss0aassnnh",
      { { 2, 4, 1, 1 }, { 3, 5, 1, 1 }, { 4, 6, 1, 1 }, { 5, 7, 1, 1 }, { 4, 8, 1, 1 }, { 5, 8, 1, 1 } },
      { 2, 4, 4, 2 } },
    { "-ss0aassnnb",
      { { 2, 4, 1, 1 }, { 3, 5, 1, 1 }, { 4, 6, 1, 1 }, { 5, 7, 1, 1 }, { 4, 8, 1, 1 }, { 5, 8, 1, 1 } },
      { 2, 4, 4, 2 } },
    /* a way out of the node by a NIC is shorter than the one inside, which counts all the same */
    { "-ss0aassnnss",
      { { 2, 4, 1, 1 },
        { 3, 5, 1, 1 },
        { 4, 6, 1, 1 },
        { 5, 7, 1, 1 },
        { 6, 0, 1, 1 },
        { 7, 0, 1, 1 },
        { 4, 8, 1, 1 },
        { 8, 9, 1, 1 },
        { 9, 5, 1, 1 } },
      { 2, 5, 5, 2 } },
    /* the other NIC is in another machine, which is reached by the own NIC alone */
    { "-ss0as1as0n1n",
      { { 2, 3, 1, 1 }, { 4, 5, 1, 1 }, { 3, 6, 1, 1 }, { 5, 7, 1, 1 }, { 6, 0, 1, 1 }, { 7, 0, 1, 1 } },
      { 2, 4, 4, 2 } },
    /* and there by a NIC of neither */
    { "-ss0as1as0n1n2n",
      { { 2, 3, 1, 1 },
        { 4, 5, 1, 1 },
        { 3, 6, 1, 1 },
        { 5, 7, 1, 1 },
        { 6, 0, 1, 1 },
        { 7, 1, 1, 1 },
        { 8, 0, 1, 1 },
        { 8, 1, 1, 1 } },
      { 2, G_MAXUINT, G_MAXUINT, 2 } },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autoptr (FabGraph) graph = graph_of (rows[i].vertices, rows[i].joins);
    gboolean has_two_machines = rows[i].vertices[6] == '1';
    FabVertexId gpus[] = { 2, has_two_machines ? 4 : 3 }, nics[] = { 6, 7 };
    FabCluster cluster = {
      .graph = graph, .n_nodes = 1, .gpus_per_node = 2, .nics_per_node = 2, .gpus = gpus, .nics = nics
    };

    fab_cluster_measure (&cluster);
    for (guint k = 0; k < 4; k++)
      if (cluster.nic_hops[k] != rows[i].hops[k])
        fail_msg ("row %u: %u links from accelerator %u to NIC %u", i, cluster.nic_hops[k], k / 2, k % 2);
    g_free (cluster.nic_hops);
  }
}

/* A NIC that is 64 links away is reached, and one that is 65 links away is not: a path has no more. */
static void
nics_beyond_the_longest_path_are_not_reached (G_GNUC_UNUSED void **state)
{
  for (guint n_switches = 63; n_switches < 65; n_switches++) {
    g_autoptr (GString) vertices = g_string_new ("an");
    GraphJoin joins[70] = { 0 };

    for (guint i = 0; i < n_switches; i++) {
      g_string_append_c (vertices, 's');
      joins[i] = (GraphJoin){ i == 0 ? 0 : i + 1, i + 2, 1, 1 };
    }
    joins[n_switches] = (GraphJoin){ n_switches + 1, 1, 1, 1 };
    g_autoptr (FabGraph) graph = graph_of (vertices->str, joins);
    FabVertexId gpu = 0, nic = 1;
    FabCluster cluster = {
      .graph = graph, .n_nodes = 1, .gpus_per_node = 1, .nics_per_node = 1, .gpus = &gpu, .nics = &nic
    };

    fab_cluster_measure (&cluster);
    assert_int_equal (cluster.nic_hops[0], n_switches == 63 ? 64 : G_MAXUINT);
    g_free (cluster.nic_hops);
  }
}

/* --- some of its nodes and ranks --- */

/* Four nodes of three GPUs, two NICs and a drive: GPU 3 i + k of node i is vertex 100 i + k, NIC k vertex 100 i + 10 +
 * k, the drive vertex 100 i + 20. GPU k has 10 k + n + 1 links to NIC n. */
enum { N_NODES = 4, N_GPUS = 3, N_NICS = 2 };

static FabCluster
numbered_cluster (void)
{
  FabCluster self = { .n_nodes = N_NODES,
                      .gpus_per_node = N_GPUS,
                      .nics_per_node = N_NICS,
                      .drives_per_node = 1,
                      .gpus = g_new (FabVertexId, N_NODES * N_GPUS),
                      .nics = g_new (FabVertexId, N_NODES * N_NICS),
                      .drives = g_new (FabVertexId, N_NODES),
                      .nic_hops = g_new (guint, N_GPUS * N_NICS + 1) };

  for (guint i = 0; i < N_NODES * N_GPUS; i++)
    self.gpus[i] = 100 * (i / N_GPUS) + i % N_GPUS;
  for (guint i = 0; i < N_NODES * N_NICS; i++)
    self.nics[i] = 100 * (i / N_NICS) + 10 + i % N_NICS;
  for (guint i = 0; i < N_NODES; i++)
    self.drives[i] = 100 * i + 20;
  for (guint i = 0; i < N_GPUS * N_NICS; i++)
    self.nic_hops[i] = 10 * (i / N_NICS) + i % N_NICS + 1;
  return self;
}

static void
a_view_has_the_nodes_that_it_was_given (G_GNUC_UNUSED void **state)
{
  const guint nodes[] = { 1, 3 };
  FabCluster cluster = numbered_cluster (), view;

  fab_cluster_view (&view, &cluster, nodes, 2);
  fab_cluster_clear (&cluster);
  assert_int_equal (view.n_nodes, 2);
  assert_int_equal (fab_cluster_n_ranks (&view), 6);
  for (guint i = 0; i < 2; i++) {
    for (guint k = 0; k < N_GPUS; k++)
      assert_int_equal (view.gpus[i * N_GPUS + k], 100 * nodes[i] + k);
    for (guint k = 0; k < N_NICS; k++)
      assert_int_equal (view.nics[i * N_NICS + k], 100 * nodes[i] + 10 + k);
    assert_int_equal (view.drives[i], 100 * nodes[i] + 20);
  }
  for (guint k = 0; k < N_GPUS; k++)
    for (guint n = 0; n < N_NICS; n++)
      assert_int_equal (fab_cluster_nic_hops (&view, k, n), 10 * k + n + 1);
  fab_cluster_clear (&view);
}

/* Groups of ranks, and how many ranks are in each of their nodes; whether all nodes have the same ones. */
static void
views_of_ranks_are_even_or_uneven (G_GNUC_UNUSED void **state)
{
  static const struct {
    guint n, ranks[8], n_nodes, n_locals[4], n_shapes, shapes[4];
  } rows[] = {
    { 1, { 7 }, 1, { 1 }, 1, { 0 } },
    { 4, { 1, 2, 10, 11 }, 2, { 2, 2 }, 1, { 0, 0 } },
    { 4, { 0, 2, 9, 11 }, 2, { 2, 2 }, 1, { 0, 0 } },
    { 4, { 0, 2, 9, 10 }, 2, { 2, 2 }, 2, { 0, 1 } },
    { 3, { 0, 1, 3 }, 2, { 2, 1 }, 2, { 0, 1 } },
    { 3, { 0, 3, 4 }, 2, { 1, 2 }, 2, { 0, 1 } },
    { 8, { 1, 3, 4, 5, 7, 9, 10, 11 }, 4, { 1, 3, 1, 3 }, 2, { 0, 1, 0, 1 } },
    { 6, { 2, 4, 5, 8, 9, 10 }, 4, { 1, 2, 1, 2 }, 3, { 0, 1, 0, 2 } },
  };

  for (guint r = 0; r < G_N_ELEMENTS (rows); r++) {
    FabCluster cluster = numbered_cluster (), view;
    guint rank = 0, most = 0;

    fab_cluster_view_ranks (&view, &cluster, rows[r].ranks, rows[r].n);
    for (guint node = 0; node < rows[r].n_nodes; node++)
      most = MAX (most, rows[r].n_locals[node]);
    FabGroup group = { &view, view.n_nodes, view.gpus_per_node };
    assert_int_equal (view.n_nodes, rows[r].n_nodes);
    assert_int_equal (view.gpus_per_node, most);
    assert_int_equal (view.drives_per_node, 0);
    assert_null (view.drives);
    assert_true ((view.uneven != NULL) == (rows[r].n_shapes > 1));
    assert_int_equal (fab_group_n_ranks (&group), rows[r].n);
    assert_int_equal (fab_group_n_shapes (&group), rows[r].n_shapes);
    for (guint node = 0; node < view.n_nodes; node++) {
      guint machine = rows[r].ranks[rank] / N_GPUS;
      FabGroup shape = fab_group_of_shape (&group, fab_group_shape (&group, node));

      assert_int_equal (fab_group_n_locals (&group, node), rows[r].n_locals[node]);
      assert_int_equal (fab_group_shape (&group, node), rows[r].shapes[node]);
      assert_int_equal (shape.gpus_per_node, rows[r].n_locals[node]);
      for (guint n = 0; n < N_NICS; n++)
        assert_int_equal (fab_group_nic (&group, node, n), 100 * machine + 10 + n);
      for (guint k = 0; k < rows[r].n_locals[node]; k++, rank++) {
        guint local, at = rows[r].ranks[rank] % N_GPUS;

        assert_int_equal (fab_group_node_of (&group, rank, &local), node);
        assert_int_equal (local, k);
        assert_int_equal (fab_group_gpu (&group, node, k), 100 * machine + at);
        for (guint n = 0; n < N_NICS; n++)
          assert_int_equal (fab_cluster_nic_hops (shape.cluster, k, n), 10 * at + n + 1);
      }
    }
    fab_cluster_clear (&view);
    fab_cluster_clear (&cluster);
  }
}

/* --- devices --- */

static void
numbers_have_a_size (G_GNUC_UNUSED void **state)
{
  static const struct {
    FabBytes bytes;
    double operand_bytes;
    gboolean is_low;
  } rows[FAB_N_PRECISIONS] = {
    [FAB_PRECISION_BF16] = { 2, 2, FALSE },        [FAB_PRECISION_FP16] = { 2, 2, FALSE },
    [FAB_PRECISION_FP32] = { 4, 4, FALSE },        [FAB_PRECISION_TF32] = { 4, 4, FALSE },
    [FAB_PRECISION_FP8] = { 1, 1, TRUE },          [FAB_PRECISION_MXFP8] = { 1, 33.0 / 32, TRUE },
    [FAB_PRECISION_NVFP4] = { 1, 9.0 / 16, TRUE },
  };

  for (FabPrecision precision = 0; precision < FAB_N_PRECISIONS; precision++) {
    assert_int_equal (fab_precision_bytes (precision), rows[precision].bytes);
    assert_near (fab_precision_operand_bytes (precision), rows[precision].operand_bytes, 0);
    assert_int_equal (fab_precision_is_low (precision), rows[precision].is_low);
  }
}

/* A format without a unit of its own is widened; a cap on the power slows all of them down, one of nothing or all
 * none. */
static void
a_format_without_a_unit_is_widened (G_GNUC_UNUSED void **state)
{
  static const double own[] = {
    [FAB_PRECISION_BF16] = 16, [FAB_PRECISION_FP16] = 15, [FAB_PRECISION_FP32] = 2,
    [FAB_PRECISION_TF32] = 8,  [FAB_PRECISION_FP8] = 32,  [FAB_PRECISION_MXFP8] = 31,
    [FAB_PRECISION_NVFP4] = 64
  };
  FabDevice all = { .capped = { .slowdown = 1.25 } }, few = all, fewer = all;

  for (FabPrecision precision = 0; precision < FAB_N_PRECISIONS; precision++) {
    all.peak_flops_per_s[precision] = own[precision];
    assert_near (fab_device_peak (&all, precision), own[precision], 0);
  }
  few.peak_flops_per_s[FAB_PRECISION_BF16] = fewer.peak_flops_per_s[FAB_PRECISION_BF16] = 16;
  few.peak_flops_per_s[FAB_PRECISION_FP32] = fewer.peak_flops_per_s[FAB_PRECISION_FP32] = 2;
  few.peak_flops_per_s[FAB_PRECISION_FP8] = 32;
  assert_near (fab_device_peak (&few, FAB_PRECISION_NVFP4), 32, 0);
  assert_near (fab_device_peak (&few, FAB_PRECISION_MXFP8), 32, 0);
  assert_near (fab_device_peak (&few, FAB_PRECISION_TF32), 2, 0);
  assert_near (fab_device_peak (&fewer, FAB_PRECISION_NVFP4), 16, 0);
  assert_near (fab_device_peak (&fewer, FAB_PRECISION_MXFP8), 16, 0);
  assert_near (fab_device_peak (&fewer, FAB_PRECISION_FP8), 16, 0);
  for (guint i = 0; i <= 3; i++) {
    all.cap_fraction = 0.5 * i;
    assert_near (fab_device_slowdown (&all), i == 1 ? 1.25 : 1, 0);
    assert_near (fab_device_rate (&all, FAB_PRECISION_BF16), i == 1 ? 12.8 : 16, 1e-15);
  }
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (nics_are_found_by_their_vertices),
    cmocka_unit_test (links_to_nics_are_counted),
    cmocka_unit_test (nics_beyond_the_longest_path_are_not_reached),
    cmocka_unit_test (a_view_has_the_nodes_that_it_was_given),
    cmocka_unit_test (views_of_ranks_are_even_or_uneven),
    cmocka_unit_test (numbers_have_a_size),
    cmocka_unit_test (a_format_without_a_unit_is_widened),
  };

  return cmocka_run_group_tests_name ("cluster_views", tests, NULL, NULL);
}
