/* SPDX-License-Identifier: Apache-2.0 */
/* test_nodes.c - the machines of the catalogue: the links each GPU has, how far its neighbours and NICs are, what
 * crosses the middle, and racks whose trays share a switch. */
#include "tests/support/test.h"

#include "models/models.h"
#include "sim/assembly/nic_subset.h"
#include "sim/fabric/path_finder.h"
#include "sim/fabric/search.h"
#include "sim/machine/hop.h"
#include "sim/scenario/node_wires.h"
#include "tests/support/play.h"

static FabCatalog *catalog;

static int
load_catalog (G_GNUC_UNUSED void **state)
{
  catalog = play_catalog ();
  return 0;
}

static int
drop_catalog (G_GNUC_UNUSED void **state)
{
  fab_catalog_free (g_steal_pointer (&catalog));
  return 0;
}

static Play *
play_on (const char *cluster)
{
  g_autofree char *yaml = g_strdup_printf (
      "name: n\ncluster: {%s}\n"
      "job: {kind: collective, operations: [{op: all_reduce, size: 1MB}]}\n",
      cluster);

  return play_new (catalog, yaml, NULL);
}

static Play *
play_nodes (const char *node, guint n_nodes)
{
  g_autofree char *cluster = g_strdup_printf ("node: %s, nodes: %u", node, n_nodes);

  return play_on (cluster);
}

static FabReach
reach_between (const FabCluster *cluster, FabVertexId from, FabVertexId to)
{
  FabPath path = { 0 };

  assert_true (fab_router_append (cluster->router, from, to, 0, &path));
  return fab_reach_of_path (cluster->graph, &path);
}

/* --- every node --- */

/* GPUs reach the first one and have a NIC that is nearest: all of them, or every 32nd of a rack's. */
static void
check_ways (const FabCluster *cluster)
{
  guint n_gpus = cluster->n_nodes * cluster->gpus_per_node, stride = cluster->gpus_per_node > 64 ? 32 : 1;

  for (guint i = 1; i < n_gpus; i++)
    assert_true (reach_between (cluster, cluster->gpus[i], cluster->gpus[0]) > FAB_REACH_NONE);
  for (guint i = 0; i < cluster->gpus_per_node && cluster->nics_per_node > 0; i += stride)
    assert_true (fab_cluster_nic_of (cluster, i) < cluster->nics_per_node);
}

/* The table of distances says what the router's paths have. */
static void
check_nic_hops (const FabCluster *cluster)
{
  guint n_gpus = cluster->gpus_per_node, n_nics = cluster->nics_per_node;

  for (guint i = 0; i<n_gpus; i += n_gpus> 64 ? 31 : 1)
    for (guint nic = 0; nic<n_nics; nic += n_nics> 16 ? 5 : 1) {
      FabPath path = { 0 };
      gboolean has_path = fab_router_append (cluster->router, cluster->gpus[i], cluster->nics[nic], 0, &path);

      assert_int_equal (fab_cluster_nic_hops (cluster, i, nic), has_path ? path.n : G_MAXUINT);
    }
}

/* Paths that were found in the first node and are given for the last one are those that a search finds there. */
static void
check_inner_paths (const FabCluster *cluster)
{
  g_autoptr (FabPathFinder) finder = fab_path_finder_new (cluster->graph);
  guint n = cluster->gpus_per_node, last = (cluster->n_nodes - 1) * n;
  FabSizeSearch search;

  fab_search_init (&search, cluster->graph);
  for (guint i = 0; i<n; i += n> 64 ? 31 : 1)
    for (guint k = 0; k<n; k += n> 64 ? 17 : 1) {
      FabVertexId from = cluster->gpus[last + i], to = cluster->gpus[last + k];
      FabPath given = { 0 }, found = { 0 };

      if (i == k)
        continue;
      assert_true (fab_path_finder_append (finder, from, to, &given));
      assert_true (fab_search_run (&search, from, to) && fab_search_emit (&search, &found));
      assert_int_equal (given.n, found.n);
      assert_memory_equal (given.links, found.links, found.n * sizeof (FabLinkId));
    }
  fab_search_clear (&search);
}

static void
every_node_assembles_alone_and_in_twos (G_GNUC_UNUSED void **state)
{
  g_autofree const char **nodes = fab_catalog_names (catalog, FAB_SECTION_NODES);

  for (guint i = 0; nodes[i]; i++)
    for (guint n = 1; n <= 2; n++) {
      g_autoptr (Play) play = play_nodes (nodes[i], n);
      const FabCluster *cluster = fab_simulation_cluster (play->simulation);

      fab_graph_check (cluster->graph);
      check_ways (cluster);
      check_nic_hops (cluster);
      check_inner_paths (cluster);
    }
}

/* Every socket has memory of its own, which the paths that are staged through the host need. */
static void
every_socket_has_memory (G_GNUC_UNUSED void **state)
{
  g_autofree const char **nodes = fab_catalog_names (catalog, FAB_SECTION_NODES);

  for (guint i = 0; nodes[i]; i++) {
    g_autoptr (Play) play = play_nodes (nodes[i], 1);
    const FabGraph *graph = fab_simulation_cluster (play->simulation)->graph;

    for (FabVertexId v = 0; v < fab_graph_n_vertices (graph); v++) {
      FabLinkId first;
      guint n = fab_graph_out_links (graph, v, &first), n_memories = 0;

      if (fab_graph_vertex (graph, v)->kind != FAB_VERTEX_HOST)
        continue;
      for (FabLinkId l = first; l < first + n; l++)
        n_memories += fab_graph_vertex (graph, fab_graph_link (graph, l)->dst)->kind == FAB_VERTEX_MEMORY;
      assert_int_equal (n_memories, 1);
    }
  }
}

/* --- what is known of every node --- */

static gboolean
has_product (const FabNodeSpec *node, FabNodeFact fact)
{
  g_autofree const char **names = fab_catalog_names (catalog, FAB_SECTION_PRODUCTS);

  for (guint i = 0; names[i]; i++) {
    const FabProductSpec *product = fab_catalog_product (catalog, names[i]);
    gboolean is_node = product->kind == FAB_PRODUCT_NODE,
             is_rent = product->kind == FAB_PRODUCT_RENT && product->node != NULL;

    if (g_strcmp0 (product->node, node->name) == 0
        && ((fact == FAB_NODE_POWER && is_node && product->power_watts > 0)
            || (fact == FAB_NODE_PRICE && (is_node || is_rent) && product->price_usd > 0)))
      return TRUE;
  }
  return FALSE;
}

/* An entry gives each fact, or says that no source gives it; never both. Sockets are parts, which every node has. */
static void
every_node_says_what_is_unknown (G_GNUC_UNUSED void **state)
{
  g_autofree const char **nodes = fab_catalog_names (catalog, FAB_SECTION_NODES);

  for (guint i = 0; nodes[i]; i++) {
    const FabNodeSpec *node = fab_catalog_node (catalog, nodes[i]);

    for (guint fact = 0; fact < FAB_N_NODE_FACTS; fact++) {
      gboolean is_known = fact == FAB_NODE_DRIVES   ? fab_node_spec_n_parts (node, FAB_PART_STORAGE) > 0
                        : fact == FAB_NODE_FRONTEND ? node->frontend_nics > 0
                                                    : has_product (node, fact);

      if (is_known == fab_node_spec_is_unknown (node, fact))
        fail_msg ("node %s: '%s' is %s", nodes[i], fab_node_fact_names[fact],
                  is_known ? "given, and named in `unknown`" : "neither given nor named in `unknown`");
    }
    assert_true (fab_node_spec_n_parts (node, FAB_PART_HOST) > 0);
  }
}

/* --- links per GPU --- */

static guint
count_of_class (const FabGraph *graph, FabVertexId vertex, const char *name)
{
  FabLinkId first;
  guint n = fab_graph_out_links (graph, vertex, &first), sum = 0;

  for (FabLinkId l = first; l < first + n; l++)
    if (g_str_equal (fab_graph_link_class (graph, l)->name, name))
      sum += fab_graph_link (graph, l)->count;
  return sum;
}

static void
every_gpu_has_the_links_of_its_data_sheet (G_GNUC_UNUSED void **state)
{
  static const struct {
    const char *node;
    guint n_gpus, n_nics;
    const char *link;
    guint per_gpu;
  } rows[] = {
    { "dgx1-p100", 8, 4, "nvlink1", 4 },
    { "dgx1-v100", 8, 4, "nvlink2", 6 },
    { "p3dn", 8, 1, "nvlink2", 6 },
    { "v100-x4", 4, 2, "nvlink2", 6 },
    { "dgx2", 16, 8, "nvlink2", 6 },
    { "dgx-a100", 8, 8, "nvlink3", 12 },
    { "a100-x4-ss11", 4, 4, "nvlink3", 12 },
    { "polaris", 4, 2, "nvlink3", 12 },
    { "p4d", 8, 4, "nvlink3", 12 },
    { "oci-a100-roce", 8, 16, "nvlink3", 12 },
    { "dgx-h100", 8, 8, "nvlink4", 18 },
    { "gh200-x4", 4, 4, "nvlink4", 18 },
    { "h100-x4", 4, 4, "nvlink4", 18 },
    { "p5", 8, 32, "nvlink4", 18 },
    { "p5en", 8, 16, "nvlink4", 18 },
    { "a3-high", 8, 4, "nvlink4", 18 },
    { "a3-mega", 8, 8, "nvlink4", 18 },
    { "superpod-h100-256", 256, 256, "nvlink4", 18 },
    { "h100-pcie-bridge", 8, 4, "nvlink4-bridge", 12 },
    { "hgx-b200", 8, 8, "nvlink5", 18 },
    { "p6-b300", 8, 16, "nvlink5", 18 },
    { "gb200-nvl72", 72, 72, "nvlink5", 18 },
    { "gb200-tray", 4, 4, "nvlink5", 18 },
    { "mi300x", 8, 8, "xgmi-mi300x", 7 },
    { "mi308x", 8, 8, "xgmi-mi300x", 7 },
    { "mi325x", 8, 8, "xgmi-mi325x", 7 },
    { "mi350x", 8, 8, "xgmi-mi355x", 7 },
    { "mi355x", 8, 8, "xgmi-mi355x", 7 },
    { "h20", 8, 8, "nvlink4", 18 },
    { "s822lc", 4, 2, "nvlink1", 2 },
    { "s822lc", 4, 2, "nvlink1-power8", 2 },
    { "ac922", 6, 2, "nvlink2", 4 },
    { "ac922", 6, 2, "nvlink2-power9", 2 },
    { "a4x", 4, 4, "nvlink5", 18 },
    { "a4x-max", 4, 8, "nvlink5", 18 },
    { "oci-gb200", 4, 8, "nvlink5", 18 },
    { "oci-gb300", 4, 8, "nvlink5", 18 },
    { "rtx-pro-6000-pcie", 8, 1, "pcie5-x16", 1 },
    { "rtx-pro-6000-cx8", 8, 8, "pcie5-x16", 1 },
    { "rtx-6000d-cx8", 8, 8, "pcie5-x16", 1 },
    { "arc-b60-pcie", 8, 1, "pcie5-x8", 1 },
    { "trn1", 16, 8, "neuronlink2", 4 },
    { "tpu-v5p-4", 4, 2, "ici-v5p", 2 },
    { "tpu-v4-ici", 1, 6, "pcie6-x16", 6 },
    { "tpu-v5p-ici", 1, 6, "pcie6-x16", 6 },
    { "tpu7x-4", 4, 2, "ici-v7x", 2 },
    { "tpu7x-8", 8, 4, "ici-v7x", 3 },
    { "gaudi2", 8, 24, "gaudi2-roce", 21 },
    { "gaudi3", 8, 24, "gaudi3-roce", 21 },
    { "trn2", 16, 16, "neuronlink3", 4 },
    { "trn2-ultra", 64, 64, "neuronlink3", 4 },
    { "trn2-ultra", 64, 64, "neuronlink3-ring", 2 },
    { "aurora-pvc", 6, 8, "xelink-pvc", 5 },
    { "l40s-pcie", 8, 2, "pcie4-x16", 1 },
    { "rtx4090-pcie", 8, 1, "pcie4-x16", 1 },
    { "rtx2080ti-pcie-nop2p", 8, 1, "pcie3-x16", 1 },
    { "t4-pcie", 4, 1, "pcie3-x16", 1 },
  };

  for (guint r = 0; r < G_N_ELEMENTS (rows); r++) {
    g_autoptr (Play) play = play_nodes (rows[r].node, 1);
    const FabCluster *cluster = fab_simulation_cluster (play->simulation);

    assert_int_equal (cluster->gpus_per_node, rows[r].n_gpus);
    assert_int_equal (cluster->nics_per_node, rows[r].n_nics);
    for (guint i = 0; i < rows[r].n_gpus; i++)
      assert_int_equal (count_of_class (cluster->graph, cluster->gpus[i], rows[r].link), rows[r].per_gpu);
  }
}

/* Eight Infinity Fabric links per die: seven to dies and the host on even ones, six on odd ones, which have the
 * NIC. */
static void
dies_of_mi250x_have_as_many_links_as_they_can (G_GNUC_UNUSED void **state)
{
  g_autoptr (Play) play = play_nodes ("mi250x", 1);
  const FabCluster *cluster = fab_simulation_cluster (play->simulation);

  for (guint i = 0; i < 8; i++)
    assert_int_equal (count_of_class (cluster->graph, cluster->gpus[i], "xgmi-mi250x"), i % 2 == 0 ? 7 : 6);
}

/* --- how far apart --- */

static void
neighbours_and_nics_are_as_far_as_nvidia_smi_says (G_GNUC_UNUSED void **state)
{
  static const struct {
    const char *node;
    guint from;   /* GPU */
    char to_kind; /* 'g' or 'n' */
    guint to;
    FabReach reach;
  } rows[] = {
    { "dgx1-v100", 0, 'g', 1, FAB_REACH_NVL },
    { "dgx1-v100", 0, 'g', 5, FAB_REACH_SYS },
    { "dgx1-v100", 1, 'n', 0, FAB_REACH_PIX },
    { "dgx1-v100", 0, 'n', 1, FAB_REACH_PHB },
    { "dgx1-v100", 0, 'n', 2, FAB_REACH_SYS },
    { "dgx2", 0, 'n', 0, FAB_REACH_PIX },
    { "dgx2", 0, 'n', 1, FAB_REACH_PXB },
    { "dgx2", 0, 'n', 2, FAB_REACH_NODE },
    { "dgx2", 0, 'n', 4, FAB_REACH_SYS },
    { "dgx2", 0, 'g', 15, FAB_REACH_NVL },
    { "dgx-h100", 0, 'n', 0, FAB_REACH_PIX },
    { "dgx-h100", 0, 'n', 1, FAB_REACH_NODE },
    { "dgx-h100", 0, 'n', 4, FAB_REACH_SYS },
    { "dgx-a100", 1, 'n', 1, FAB_REACH_PIX },
    { "gh200-x4", 2, 'n', 2, FAB_REACH_PXB },
    { "a100-x4-ss11", 3, 'n', 3, FAB_REACH_PHB },
    { "polaris", 1, 'n', 0, FAB_REACH_NODE },
    { "rtx2080ti-pcie-nop2p", 0, 'g', 1, FAB_REACH_PIX },
    { "rtx4090-pcie", 0, 'g', 1, FAB_REACH_NODE },
    { "rtx4090-pcie", 0, 'g', 7, FAB_REACH_SYS },
    { "h100-pcie-bridge", 0, 'g', 1, FAB_REACH_NVL },
    { "h100-pcie-bridge", 1, 'g', 2, FAB_REACH_NODE },
    { "a3-high", 1, 'n', 0, FAB_REACH_PIX },
    { "superpod-h100-256", 0, 'g', 255, FAB_REACH_NVL },
  };

  for (guint r = 0; r < G_N_ELEMENTS (rows); r++) {
    g_autoptr (Play) play = play_nodes (rows[r].node, 1);
    const FabCluster *cluster = fab_simulation_cluster (play->simulation);
    const FabVertexId *ends = rows[r].to_kind == 'g' ? cluster->gpus : cluster->nics;

    assert_int_equal (reach_between (cluster, cluster->gpus[rows[r].from], ends[rows[r].to]), rows[r].reach);
  }
}

/* --- what crosses the middle --- */

static FabBytesPerS
rate_between (const FabGraph *graph, const char *from, const char *to)
{
  for (FabLinkId l = 0; l < fab_graph_n_links (graph); l++) {
    g_autofree char *src = fab_graph_vertex_name (graph, fab_graph_link (graph, l)->src);
    g_autofree char *dst = fab_graph_vertex_name (graph, fab_graph_link (graph, l)->dst);

    if (g_str_equal (src, from) && g_str_equal (dst, to))
      return fab_graph_link (graph, l)->rate_bytes_per_s;
  }
  return 0;
}

/* DGX-2: 2.4 TB/s of bisection, both directions (25 GB/s links; they signal at 25.78). SuperPOD: 225 GB/s per GPU. */
static void
the_middle_is_as_wide_as_published (G_GNUC_UNUSED void **state)
{
  g_autoptr (Play) dgx2 = play_nodes ("dgx2", 1), pod = play_nodes ("superpod-h100-256", 1);
  FabBytesPerS boards = rate_between (fab_simulation_cluster (dgx2->simulation)->graph, "node0/nvswitch0",
                                      "node0/nvswitch1");
  FabBytesPerS taper = rate_between (fab_simulation_cluster (pod->simulation)->graph, "node0/nvswitch0",
                                     "node0/nvlink_switch");

  assert_near ((double) boards, 1200e9 * 25.78125 / 25, 1e-6);
  assert_near ((double) taper, 8 * 225e9, 1e-6);
}

/* --- trays of a rack --- */

static guint
links_between (const FabCluster *cluster, guint a, guint b)
{
  FabPath path = { 0 };

  assert_true (fab_router_append (cluster->router, cluster->gpus[a], cluster->gpus[b], 0, &path));
  return path.n;
}

static void
trays_of_a_rack_are_one_domain (G_GNUC_UNUSED void **state)
{
  g_autoptr (Play) few = play_nodes ("gb200-tray", 4), two_racks = play_nodes ("gb200-tray", 36);
  const FabCluster *rack = fab_simulation_cluster (few->simulation);
  const FabCluster *both = fab_simulation_cluster (two_racks->simulation);

  assert_int_equal (rack->n_nodes, 1);
  assert_int_equal (rack->gpus_per_node, 16);
  assert_int_equal (rack->nics_per_node, 16);
  assert_int_equal (links_between (rack, 0, 15), 2);
  assert_int_equal (reach_between (rack, rack->gpus[0], rack->gpus[15]), FAB_REACH_NVL);
  assert_int_equal (both->n_nodes, 2);
  assert_int_equal (both->gpus_per_node, 72);
  assert_int_equal (links_between (both, 0, 71), 2);
  assert_int_equal (links_between (both, 72, 143), 2);
  assert_true (links_between (both, 0, 72) > 4); /* over NICs */
  assert_true (fab_simulation_step (few->simulation));
}

static void
assert_refused (const char *cluster, const char *message)
{
  g_autofree char *yaml = g_strdup_printf (
      "name: n\ncluster: {%s}\njob: {kind: collective, operations: [{op: all_reduce, size: 1MB}]}\n",
      cluster);
  g_autoptr (GError) error = NULL;
  FabScenario *scenario = fab_scenario_parse ("t", yaml, strlen (yaml), NULL, &fab_models, catalog, &error);

  assert_null (scenario);
  assert_non_null (strstr (error->message, message));
}

static void
a_rack_that_is_not_full_is_said (G_GNUC_UNUSED void **state)
{
  assert_refused ("node: gb200-tray, nodes: 20", "18 of 'gb200-tray' share a switch");
}

/* A provider gives 16 trays of each rack, or trays of different racks. */
static void
a_cluster_uses_a_part_of_each_rack (G_GNUC_UNUSED void **state)
{
  g_autoptr (Play) racks = play_on ("node: gb200-tray, nodes: 32, domain_nodes: 16"),
                   apart = play_on ("node: gb300-tray, nodes: 2, domain_nodes: 1");
  const FabCluster *sixteen = fab_simulation_cluster (racks->simulation),
                   *one = fab_simulation_cluster (apart->simulation);

  assert_int_equal (sixteen->n_nodes, 2);
  assert_int_equal (sixteen->gpus_per_node, 64);
  assert_int_equal (sixteen->nics_per_node, 64);
  assert_int_equal (links_between (sixteen, 0, 63), 2);
  assert_true (links_between (sixteen, 0, 64) > 4); /* over NICs */
  assert_int_equal (one->n_nodes, 2);
  assert_int_equal (one->gpus_per_node, 4);
  assert_int_equal (links_between (one, 0, 3), 2);
  assert_true (links_between (one, 0, 4) > 2);
  assert_true (fab_simulation_step (apart->simulation));
}

static void
domains_that_cannot_be_are_said (G_GNUC_UNUSED void **state)
{
  assert_refused ("node: gb200-tray, nodes: 32, domain_nodes: 20",
                  "18 of 'gb200-tray' share a switch, not 20");
  assert_refused ("node: gb200-tray, nodes: 30, domain_nodes: 16", "16 of 'gb200-tray' share a switch");
  assert_refused ("node: dgx-h100, nodes: 4, domain_nodes: 2", "nodes of 'dgx-h100' share no switch");
}

/* When four operations, one after the other, begin and end. (transfer full) */
static char *
times_of (const char *cluster)
{
  g_autofree char *yaml = g_strdup_printf (
      "name: n\ncluster: {%s}\ncollectives: {kind: nccl, gpus_per_process: 1}\n"
      "job: {kind: collective, operations: [{op: all_reduce, size: 1KiB}, "
      "{op: all_reduce, size: 256MiB}, {op: all_gather, size: 36MiB}, "
      "{op: all_to_all, size: 36MiB}]}\n",
      cluster);

  g_autofree char *played = play_text (catalog, yaml);
  g_auto (GStrv) lines = g_strsplit (played, "\n", -1);
  GString *spans = g_string_new (NULL);

  for (guint i = 0; lines[i] != NULL; i++)
    if (g_str_has_prefix (lines[i], "span "))
      g_string_append_printf (spans, "%s\n", lines[i]);
  assert_true (spans->len > 0);
  return g_string_free (spans, FALSE);
}

/* 72 GPUs as 18 trays of a rack or as one node are the same machine, and so are two racks. */
static void
a_rack_is_the_same_as_trays_or_as_one_node (G_GNUC_UNUSED void **state)
{
  static const struct {
    const char *trays, *node;
  } rows[] = {
    { "node: gb200-tray, nodes: 18", "node: gb200-nvl72, nodes: 1" },
    { "node: gb200-tray, nodes: 36", "node: gb200-nvl72, nodes: 2" },
    { "node: gb300-tray, nodes: 36", "node: gb300-nvl72, nodes: 2" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autofree char *trays = times_of (rows[i].trays), *node = times_of (rows[i].node);

    assert_string_equal (trays, node);
  }
}

/* Sockets that are wired to each other run one operating system; trays of a rack meet on a network. */
static void
trays_of_a_rack_are_machines_of_their_own (G_GNUC_UNUSED void **state)
{
  static const struct {
    const char *node;
    guint n_systems;
  } rows[] = { { "gb200-nvl72", 18 }, { "gb200-tray", 1 }, { "superpod-h100-256", 32 },
               { "trn2-ultra", 4 },   { "dgx-h100", 1 },   { "mi250x", 1 },
               { "host", 1 } };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    assert_int_equal (fab_node_spec_n_systems (fab_catalog_node (catalog, rows[i].node)), rows[i].n_systems);
}

/* --- fewer NICs than the node has --- */

static void
check_subset (const char *node, guint n_gpus, guint n, const guint *expected)
{
  g_autofree guint *chosen = fab_nic_subset (fab_catalog_node (catalog, node), n_gpus, n);

  assert_memory_equal (chosen, expected, n * sizeof (guint));
}

/* DGX H100: GPU i and NIC i on one PCIe switch, 0-3 and 4-7 on one socket each. DGX A100: GPUs and NICs 2i and 2i+1.
 * p5: four NICs beside each GPU. A tray of GB200: two GPUs and two NICs on each Grace. */
static void
a_subset_is_balanced_over_sockets_switches_and_gpus (G_GNUC_UNUSED void **state)
{
  check_subset ("dgx-h100", 8, 1, (guint[]){ 0 });
  check_subset ("dgx-h100", 8, 2, (guint[]){ 0, 4 });
  check_subset ("dgx-h100", 8, 3, (guint[]){ 0, 2, 5 });
  check_subset ("dgx-h100", 8, 4, (guint[]){ 0, 2, 4, 6 });
  check_subset ("dgx-h100", 8, 6, (guint[]){ 0, 1, 2, 4, 5, 6 });
  check_subset ("dgx-h100", 8, 8, (guint[]){ 0, 1, 2, 3, 4, 5, 6, 7 });
  check_subset ("dgx-h100", 4, 4, (guint[]){ 0, 1, 2, 3 });
  check_subset ("dgx-h100", 2, 2, (guint[]){ 0, 1 });
  check_subset ("dgx-h100", 1, 4, (guint[]){ 0, 1, 2, 3 });
  check_subset ("dgx-a100", 8, 2, (guint[]){ 0, 4 });
  check_subset ("dgx-a100", 8, 4, (guint[]){ 0, 2, 4, 6 });
  check_subset ("p5", 8, 8, (guint[]){ 0, 4, 8, 12, 16, 20, 24, 28 });
  check_subset ("gb200-tray", 4, 2, (guint[]){ 0, 2 });
}

/* The first two parts of a choice's merit (sim/assembly/nic_subset.h), from the distances of the machine that was
 * assembled; `chosen` has one bit per NIC. */
static guint
links_of_subset (const FabCluster *cluster, guint chosen, double *most)
{
  guint n_gpus = cluster->gpus_per_node, n_nics = cluster->nics_per_node, total = 0;
  double loads[16] = { 0 };

  for (guint gpu = 0; gpu < n_gpus; gpu++) {
    guint nearest = G_MAXUINT, n_nearest = 0;

    for (guint nic = 0; nic < n_nics; nic++)
      if (chosen >> nic & 1)
        nearest = MIN (nearest, fab_cluster_nic_hops (cluster, gpu, nic));
    for (guint nic = 0; nic < n_nics; nic++)
      n_nearest += (chosen >> nic & 1) && fab_cluster_nic_hops (cluster, gpu, nic) == nearest;
    for (guint nic = 0; nic < n_nics; nic++)
      if ((chosen >> nic & 1) && fab_cluster_nic_hops (cluster, gpu, nic) == nearest)
        loads[nic] += 1.0 / n_nearest;
    total += nearest;
  }
  *most = 0;
  for (guint nic = 0; nic < n_nics; nic++) {
    guint nearest = G_MAXUINT;

    for (guint gpu = 0; gpu < n_gpus; gpu++)
      nearest = MIN (nearest, fab_cluster_nic_hops (cluster, gpu, nic));
    total += chosen >> nic & 1 ? nearest : 0;
    *most = MAX (*most, loads[nic]);
  }
  return total;
}

static void
check_no_subset_is_better (const char *node, const FabCluster *cluster, guint n)
{
  g_autofree guint *chosen = fab_nic_subset (fab_catalog_node (catalog, node), cluster->gpus_per_node, n);
  double most, other_most;
  guint bits = 0;

  for (guint i = 0; i < n; i++) {
    assert_true (i == 0 || chosen[i] > chosen[i - 1]);
    bits |= 1u << chosen[i];
  }
  guint links = links_of_subset (cluster, bits, &most);
  for (guint other = 0; other < 1u << cluster->nics_per_node; other++) {
    if ((guint) __builtin_popcount (other) != n)
      continue;
    guint other_links = links_of_subset (cluster, other, &other_most);
    if (other_links < links || (other_links == links && other_most < most - 1e-9))
      fail_msg ("%s: %u of its NICs are %#x, but %#x are better", node, n, bits, other);
  }
}

/* All subsets of all machines with at most 8 NICs. */
static void
no_subset_is_better_than_the_one_that_is_taken (G_GNUC_UNUSED void **state)
{
  g_autofree const char **nodes = fab_catalog_names (catalog, FAB_SECTION_NODES);

  for (guint i = 0; nodes[i]; i++) {
    g_autoptr (Play) play = play_nodes (nodes[i], 1);
    const FabCluster *cluster = fab_simulation_cluster (play->simulation);

    for (guint n = 1; cluster->nics_per_node <= 8 && n <= cluster->nics_per_node; n++)
      check_no_subset_is_better (nodes[i], cluster, n);
  }
}

/* Two NICs of eight are nic0 and nic1, on two sockets: rails 0 and 1. */
static void
nics_of_a_subset_are_numbered_from_0 (G_GNUC_UNUSED void **state)
{
  static const char yaml[] = "name: n\ncluster: {node: dgx-h100, nodes: 2, nics_per_node: 2}\n"
                             "job: {kind: collective, operations: [{op: all_reduce, size: 1MB}]}\n";
  g_autoptr (Play) play = play_new (catalog, yaml, NULL);
  const FabCluster *cluster = fab_simulation_cluster (play->simulation);
  g_autofree char *name = fab_graph_vertex_name (cluster->graph, cluster->nics[3]);

  assert_string_equal (name, "node1/nic1");
  assert_int_equal (fab_cluster_nic_of (cluster, 0), 0);
  assert_int_equal (fab_cluster_nic_of (cluster, 4), 1);
  assert_int_equal (fab_cluster_nic_hops (cluster, 0, 0), 2);
  assert_int_equal (fab_cluster_nic_hops (cluster, 4, 1), 2);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (every_node_assembles_alone_and_in_twos),
    cmocka_unit_test (every_node_says_what_is_unknown),
    cmocka_unit_test (every_socket_has_memory),
    cmocka_unit_test (every_gpu_has_the_links_of_its_data_sheet),
    cmocka_unit_test (dies_of_mi250x_have_as_many_links_as_they_can),
    cmocka_unit_test (neighbours_and_nics_are_as_far_as_nvidia_smi_says),
    cmocka_unit_test (the_middle_is_as_wide_as_published),
    cmocka_unit_test (trays_of_a_rack_are_one_domain),
    cmocka_unit_test (a_rack_that_is_not_full_is_said),
    cmocka_unit_test (a_cluster_uses_a_part_of_each_rack),
    cmocka_unit_test (domains_that_cannot_be_are_said),
    cmocka_unit_test (a_rack_is_the_same_as_trays_or_as_one_node),
    cmocka_unit_test (trays_of_a_rack_are_machines_of_their_own),
    cmocka_unit_test (a_subset_is_balanced_over_sockets_switches_and_gpus),
    cmocka_unit_test (no_subset_is_better_than_the_one_that_is_taken),
    cmocka_unit_test (nics_of_a_subset_are_numbered_from_0),
  };

  return cmocka_run_group_tests_name ("nodes", tests, load_catalog, drop_catalog);
}
