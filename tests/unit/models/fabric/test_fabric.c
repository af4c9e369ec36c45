/* SPDX-License-Identifier: Apache-2.0 */
/* test_fabric.c - fabrics as scenarios ask for them: hops by proximity, bisection, cables, planes, and what is
 * refused. */
#include "tests/support/test.h"

#include "models/models.h"
#include "sim/fabric/bisection.h"
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

static char *
scenario_of (const char *cluster)
{
  return g_strdup_printf ("name: t\ncluster: {node: dgx-h100, %s}\n"
                          "job: {kind: collective, operations: [{op: all_reduce, size: 1MB}]}\n",
                          cluster);
}

static FabPlant *
plant_of (const FabCatalog *catalog, const char *cluster)
{
  g_autofree char *yaml = scenario_of (cluster);
  g_autoptr (GError) error = NULL;
  g_autoptr (FabScenario) scenario = fab_scenario_parse ("t", yaml, strlen (yaml), NULL, &fab_models, catalog,
                                                         &error);
  FabPlant *plant = scenario ? fab_plant_new (scenario, NULL, &error) : NULL;

  if (plant == NULL)
    fail_msg ("%s", error->message);
  return plant;
}

/* Links from NIC `a` of node 0 to NIC `b` of node 1; 0: no path. */
static guint
hops (const FabPlant *plant, guint a, guint b)
{
  FabPath path = { 0 };

  fab_router_append (plant->router, plant->cluster.nics[a],
                     plant->cluster.nics[plant->cluster.nics_per_node + b], 0, &path);
  return path.n;
}

static guint
hops_of (const FabCatalog *catalog, const char *cluster)
{
  g_autoptr (FabPlant) plant = plant_of (catalog, cluster);

  return hops (plant, 0, 0);
}

static FabBisection
bisection (const FabCatalog *catalog, const char *cluster)
{
  g_autoptr (FabPlant) plant = plant_of (catalog, cluster);

  return fab_bisection_of (plant->graph, plant->cluster.nics, plant->cluster.n_nodes,
                           plant->cluster.nics_per_node);
}

/* --- rails of racks --- */

/* Switches called "leafN", and the most NICs on one of them. */
static guint
leaves_of (const FabCatalog *catalog, const char *cluster, guint *most_nics)
{
  g_autofree char *yaml = g_strdup_printf (
      "name: t\ncluster: {%s}\njob: {kind: collective, operations: [{op: all_reduce, size: 1MB}]}\n",
      cluster);
  g_autoptr (FabScenario) scenario = fab_scenario_parse ("t", yaml, strlen (yaml), NULL, &fab_models, catalog,
                                                         NULL);
  g_autoptr (FabPlant) plant = fab_plant_new (scenario, NULL, NULL);
  guint n_leaves = 0;

  *most_nics = 0;
  for (FabVertexId id = 0; id < fab_graph_n_vertices (plant->graph); id++) {
    g_autofree char *name = fab_graph_vertex_name (plant->graph, id);
    FabLinkId first;
    guint n = fab_graph_out_links (plant->graph, id, &first), n_nics = 0;

    for (FabLinkId link = first; link < first + n; link++)
      n_nics += fab_graph_vertex (plant->graph, fab_graph_link (plant->graph, link)->dst)->kind
             == FAB_VERTEX_NIC;
    *most_nics = MAX (*most_nics, n_nics);
    n_leaves += g_str_has_prefix (name, "leaf");
  }
  return n_leaves;
}

/* Four racks have 72 trays of four NICs. A leaf takes one NIC of each of 32 trays: three leaves for each of four rails.
 * The same trays as machines of their own have the same network. Half of the NICs are on half of the rails. */
static void
rails_of_a_rack_are_those_of_its_trays (void **state)
{
  static const struct {
    const char *cluster;
    guint n_leaves, most_nics;
  } rows[] = {
    { "node: gb200-nvl72, nodes: 4", 12, 32 },
    { "node: gb200-tray, nodes: 72", 12, 32 },
    { "node: gb200-nvl72, nodes: 2", 8, 32 },
    { "node: gb200-nvl72, nodes: 4, nics_per_node: 36", 6, 32 },
    { "node: gb200-nvl72, nodes: 4, fabric: {kind: rail, nodes_per_leaf: 72}", 4, 72 },
    { "node: gb200-nvl72, nodes: 4, fabric: {kind: rail_only, nodes_per_leaf: 72}", 4, 72 },
    { "node: gb300-nvl72, nodes: 1", 4, 18 },
    { "node: superpod-h100-256, nodes: 2", 16, 32 },
    { "node: dgx-h100, nodes: 32", 8, 32 },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    guint most_nics;

    assert_int_equal (leaves_of (*state, rows[i].cluster, &most_nics), rows[i].n_leaves);
    assert_int_equal (most_nics, rows[i].most_nics);
  }
}

/* --- proximity --- */

/* Two servers per leaf, four leaves per pod, 32 places. Same leaf: NIC, leaf, NIC; same pod: and a spine, a leaf;
 * other pod: and two spines, a core. */
#define PODS \
  "nodes: 2, places: 32, fabric: {kind: fat_tree, tiers: 3, nodes_per_leaf: 2, leaves_per_pod: 4}, placement: "

static void
nodes_stand_where_they_are_placed (void **state)
{
  assert_int_equal (hops_of (*state, PODS "packed"), 2);
  assert_int_equal (hops_of (*state, PODS "strided, place_stride: 2"), 4);
  assert_int_equal (hops_of (*state, PODS "strided, place_stride: 8"), 6);
  assert_int_equal (hops_of (*state, PODS "spread"), 6);
  assert_int_equal (hops_of (*state, PODS "random"), hops_of (*state, PODS "random"));
}

/* --- bisection --- */

/* 4 nodes x 8 NDR ports of 50 GB/s on one switch: 2 x 8 x 50 cross any middle. */
static void
a_switch_does_not_block (void **state)
{
  FabBisection found = bisection (*state, "nodes: 4");

  assert_near (found.injection_bytes_per_s, 800e9, 1e-9);
  assert_near (found.bisection_bytes_per_s, 800e9, 1e-9);
  assert_near (found.oversubscription, 1, 1e-9);
}

/* Of 5 nodes, 3 are on one side and 2 on the other: what the smaller half can send is 2 x 8 x 50. A spine at half rate
 * carries half of it, and blocks of a third or a quarter do not halve an odd number. */
static void
an_odd_number_has_a_smaller_half (void **state)
{
  FabBisection found = bisection (*state, "nodes: 5");

  assert_near (found.injection_bytes_per_s, 800e9, 1e-9);
  assert_near (found.first_half_bytes_per_s, 800e9, 1e-9);
  assert_near (found.bisection_bytes_per_s, 800e9, 1e-9);
  assert_int_equal (found.worst_block, 3);
  assert_near (found.oversubscription, 1, 1e-9);
}

/* Four leaves of three nodes: twelve nodes in blocks of six, three, two and one. 15 nodes on five leaves are split
 * 8 and 7, in one way only: the cut leaves two of three nodes of a leaf on one side. */
static void
odd_numbers_are_split_in_one_way (void **state)
{
  FabBisection even = bisection (
                   *state, "nodes: 12, fabric: {kind: leaf_spine, nodes_per_leaf: 3, oversubscription: 3}"),
               odd = bisection (
                   *state, "nodes: 15, fabric: {kind: leaf_spine, nodes_per_leaf: 3, oversubscription: 3}");

  assert_near (even.injection_bytes_per_s, 6 * 8 * 50e9, 1e-9);
  assert_near (odd.injection_bytes_per_s, 7 * 8 * 50e9, 1e-9);
  assert_int_equal (odd.worst_block, 8);
  assert_near (odd.bisection_bytes_per_s, odd.first_half_bytes_per_s, 1e-12);
}

/* Leaves of 2 nodes, 16 ports down, 16 / k up: the halves are two leaves each. */
static void
a_leaf_spine_is_oversubscribed_as_asked (void **state)
{
  static const double ratios[] = { 1, 2, 4, 16 };

  for (guint i = 0; i < G_N_ELEMENTS (ratios); i++) {
    g_autofree char *cluster = g_strdup_printf (
        "nodes: 8, fabric: {kind: leaf_spine, nodes_per_leaf: 2, oversubscription: %g}", ratios[i]);

    assert_near (bisection (*state, cluster).oversubscription, ratios[i], 1e-9);
  }
}

/* With a quarter more up than down a leaf of 16 ports has 20 uplinks: with 4 of them dead nothing blocks yet. Of 16, 4
 * dead ones leave 12 for 16 ports. */
static void
more_up_than_down_bears_dead_spines (void **state)
{
  static const struct {
    double oversubscription, left;
  } cases[] = { { 0.8, 1 }, { 1, 16 / 12.0 } };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_autofree char *cluster = g_strdup_printf (
        "nodes: 8, fabric: {kind: leaf_spine, nodes_per_leaf: 2, oversubscription: %g}",
        cases[i].oversubscription);
    g_autofree char *whole = scenario_of (cluster);
    g_autofree char *yaml = g_strconcat (
        whole,
        "faults: [{what: switch, name: spine0, dead: true}, {what: switch, name: "
        "spine1, dead: true}, {what: switch, name: spine2, dead: true}, {what: "
        "switch, name: spine3, dead: true}]\n",
        NULL);
    g_autoptr (Play) play = play_new (*state, yaml, NULL);
    const FabPlant *plant = fab_simulation_plant (play->simulation);

    assert_near (bisection (*state, cluster).oversubscription, 1, 1e-9);
    assert_near (fab_bisection_of (plant->graph, plant->cluster.nics, plant->cluster.n_nodes,
                                   plant->cluster.nics_per_node)
                     .oversubscription,
                 cases[i].left, 1e-9);
  }
}

/* A bisection plane cuts 2 links of every ring across it. 4 x 4 x 4: 16 rings, 32 x 8 x 50 GB/s for 32 x 8 ports.
 * 8 x 4 x 4: across x again 16 rings, for 64 x 8 ports; across z 32 rings. */
static void
a_torus_is_cut_across_its_longest_axis (void **state)
{
  FabBisection cube = bisection (*state, "nodes: 64, fabric: torus"),
               block = bisection (*state, "nodes: 128, fabric: {kind: torus, x: 8, y: 4, z: 4}");

  assert_near (cube.bisection_bytes_per_s, 32 * 8 * 50e9, 1e-9);
  assert_near (cube.oversubscription, 1, 1e-9);
  assert_near (block.oversubscription, 2, 1e-9);
  assert_int_equal (block.worst_block, 4);
  assert_near (block.first_half_bytes_per_s, 64 * 8 * 50e9, 1e-9);
}

/* Pods of 7 leaves of 2 nodes: 16 spines with 7 ports down and 1 up each; inside a pod nothing blocks. */
static void
pods_are_oversubscribed_one_to_seven (void **state)
{
  FabBisection pods = bisection (*state, "nodes: 28, fabric: {kind: fat_tree, tiers: 3, nodes_per_leaf: 2, "
                                         "leaves_per_pod: 7, spines_per_pod: 16, pod_oversubscription: 7}"),
               pod = bisection (*state, "nodes: 14, fabric: {kind: fat_tree, tiers: 3, nodes_per_leaf: 2, "
                                        "leaves_per_pod: 7, spines_per_pod: 16, pod_oversubscription: 7}");

  assert_near (pods.oversubscription, 7, 1e-9);
  assert_near (pods.bisection_bytes_per_s, 16 * 50e9, 1e-9);
  assert_near (pod.oversubscription, 1, 1e-9);
}

/* --- shapes --- */

/* The NIC through which bytes leave the first node, from GPU and NIC `out` to GPU and NIC `in` of the second. */
static FabVertexId
nic_out (const FabPlant *plant, guint out, guint in)
{
  const FabCluster *cluster = &plant->cluster;
  FabHop hop;

  assert_true (fab_hop_over (cluster, cluster->gpus[out], cluster->nics[out], cluster->nics[8 + in],
                             cluster->gpus[8 + in], 0, &hop, NULL));
  FabVertexId nic = fab_graph_link (cluster->graph, hop.out_port)->src;
  fab_hop_clear (&hop);
  return nic;
}

/* No path from rail to rail outside a node, full rate along each; 3 nodes close their rings all the same. */
static void
rails_meet_inside_nodes_only (void **state)
{
  g_autoptr (FabPlant) plant = plant_of (*state, "nodes: 4, fabric: {kind: rail_only, nodes_per_leaf: 2}");

  assert_int_equal (hops (plant, 3, 3), 2);
  assert_int_equal (hops (plant, 3, 4), 0);
  assert_int_equal (nic_out (plant, 3, 4), plant->cluster.nics[4]);
  assert_near (bisection (*state, "nodes: 4, fabric: {kind: rail_only, nodes_per_leaf: 2}").oversubscription,
               1, 1e-9);
}

static double
all_to_all_s (const FabCatalog *catalog, const char *fabric, const char *collectives)
{
  g_autofree char *yaml = g_strdup_printf (
      "name: t\niterations: 1\ncluster: {node: dgx-h100, nodes: 4, fabric: %s}\n"
      "collectives: {%s}\n"
      "job: {kind: collective, operations: [{op: all_to_all, size: 256MB}]}\n",
      fabric, collectives);
  g_autoptr (Play) play = play_new (catalog, yaml, NULL);

  assert_true (fab_simulation_step (play->simulation));
  return (double) fab_simulation_probe (play->simulation)->step.times.duration_ps / FAB_PS_PER_S;
}

/* Where no switch joins the rails, bytes change rails inside nodes first: 7/8 of 256 MB over a GPU's NVLinks, 450 GB/s
 * less what packets take, and then 3/4 of 256 MB over the NIC. Over joined rails all pairs send at once, 3/4 over the
 * NIC alone. The difference is NVLink's time and a step. */
static void
forwarding_over_nvlink_takes_its_time (void **state)
{
  g_autoptr (FabPlant) plant = plant_of (*state, "nodes: 4, fabric: {kind: rail_only, nodes_per_leaf: 4}");
  FabLinkId link;

  fab_graph_out_links (plant->graph, plant->cluster.gpus[0], &link);
  while (strncmp (fab_graph_link_class (plant->graph, link)->name, "nvlink", 6) != 0)
    link++;
  double nvlink = (double) fab_graph_link (plant->graph, link)->rate_bytes_per_s
                / fab_graph_link_class (plant->graph, link)->cost[FAB_DRIVE_KERNEL];
  double apart = all_to_all_s (*state, "{kind: rail_only, nodes_per_leaf: 4}", "kind: plain");
  double joined = all_to_all_s (*state, "{kind: rail, nodes_per_leaf: 4}", "kind: plain");
  double hidden = all_to_all_s (*state, "{kind: rail_only, nodes_per_leaf: 4}",
                                "kind: plain, algorithm: direct");

  assert_near (apart - joined, 7 / 8.0 * 256e6 / nvlink, 1e-7);
  assert_near (hidden, joined, 1e-9); /* chunk by chunk NVLink works while the NIC does */
}

static double
relayed_s (const FabCatalog *catalog, const char *fabric, const char *pxn, double nvlink_factor)
{
  FabWhatIf what_if = { .link_class = "nvlink4", .rate_factor = nvlink_factor };
  g_autofree char *yaml = g_strdup_printf (
      "name: t\niterations: 1\ncluster: {node: dgx-h100, nodes: 16, pxn: %s, fabric: {kind: %s, nodes_per_leaf: 16}}\n"
      "collectives: {kind: nccl}\n"
      "job: {kind: collective, operations: [{op: all_to_all, size: 1GB}]}\n",
      pxn, fabric);
  g_autoptr (Play) play = play_new (catalog, yaml, &what_if);

  assert_true (fab_simulation_step (play->simulation));
  return (double) fab_simulation_probe (play->simulation)->step.times.duration_ps / FAB_PS_PER_S;
}

/* 128 GPUs in 16 nodes, 1 GB: 120 of the 128 parts of a GPU leave its node, 105 of them for another rail, over NVLink
 * first, where the 7 parts for its own node go as well. NVLink carries 112/128 GB while the NIC sends 120/128 GB, and
 * has nine times its rate: relays cost nothing. At a twentieth of its rate NVLink sets the pace. */
static void
relays_of_nccl_cost_what_nvlink_carries (void **state)
{
  const double slow = 0.05;
  g_autoptr (FabPlant) plant = plant_of (*state, "nodes: 4, fabric: {kind: rail_only, nodes_per_leaf: 4}");
  FabLinkId link;

  fab_graph_out_links (plant->graph, plant->cluster.gpus[0], &link);
  while (strncmp (fab_graph_link_class (plant->graph, link)->name, "nvlink", 6) != 0)
    link++;
  const double *cost = fab_graph_link_class (plant->graph, link)->cost;
  double rate = (double) fab_graph_link (plant->graph, link)->rate_bytes_per_s;
  double nvlink_s = (105 * cost[FAB_DRIVE_COPY] + 7 * cost[FAB_DRIVE_KERNEL]) / 128 * 1e9 / rate;
  double direct_s = relayed_s (*state, "rail", "false", 1);

  assert_near (relayed_s (*state, "rail_only", "true", 1), direct_s, 1e-9);
  assert_near (relayed_s (*state, "rail_only", "true", slow), nvlink_s / slow, 5e-2);
  /* Without relays bytes for another rail reach its NIC over PCIe and between the sockets. */
  assert_true (relayed_s (*state, "rail_only", "false", 1) > 5 * direct_s);
}

/* NIC k is in plane k mod 2. */
static void
planes_are_apart (void **state)
{
  g_autoptr (FabPlant) plant = plant_of (*state, "nodes: 2, fabric: {kind: leaf_spine, planes: 2}");

  assert_int_equal (hops (plant, 0, 2), 2);
  assert_int_equal (hops (plant, 0, 1), 0);
}

/* Groups of 4 routers with 2 NICs each: a node is a group, so node 1 is over one global link; all routers of a group
 * have 1 of the 4 ports to each of the 2 others at most, so from any NIC to any other it is 3 to 5 links. */
static void
a_dragonfly_has_one_global_hop (void **state)
{
  g_autoptr (FabPlant) plant = plant_of (
      *state,
      "nodes: 3, fabric: {kind: dragonfly, routers_per_group: 4, nics_per_router: 2, global_ports: 1}");
  guint least = G_MAXUINT, most = 0;

  for (guint a = 0; a < 8; a++)
    for (guint b = 0; b < 8; b++) {
      least = MIN (least, hops (plant, a, b));
      most = MAX (most, hops (plant, a, b));
    }
  assert_int_equal (least, 3);
  assert_int_equal (most, 5);
}

/* The 8 NICs of a node are on 8 routers, which hold 4 nodes: NICs of one number share a router there. Node 4 is on the
 * next 8 routers, one link further. 8 routers in all where 4 nodes need no more, each joined to 7. */
static void
a_dragonfly_may_spread_the_nics_of_a_node (void **state)
{
  g_autoptr (FabPlant) plant = plant_of (
      *state, "nodes: 5, fabric: {kind: dragonfly, routers_per_node: 0, nics_per_router: 4}");
  g_autoptr (FabPlant) pairs = plant_of (
      *state, "nodes: 5, fabric: {kind: dragonfly, routers_per_node: 4, nics_per_router: 4}");

  assert_int_equal (hops (plant, 0, 0), 2);
  assert_int_equal (hops (plant, 0, 16), 2);
  assert_int_equal (hops (plant, 0, 1), 3);
  assert_int_equal (hops (plant, 0, 24), 3);
  assert_int_equal (hops (pairs, 0, 0), 2);
  assert_int_equal (hops (pairs, 0, 4), 2);
  assert_int_equal (hops (pairs, 0, 8), 3);
}

/* 100 m of fibre are 500 ns, on each of the two links up and down. Half as many NDR ports up as HDR ports down. */
static void
cables_and_uplinks_are_of_their_own_kind (void **state)
{
  static const char
      *const plain = "nodes: 2, nic: ib-hdr, fabric: {kind: leaf_spine, nodes_per_leaf: 1, uplink: ib-ndr}";
  static const char *const far =
      "nodes: 2, nic: ib-hdr, fabric: {kind: leaf_spine, nodes_per_leaf: 1, uplink: ib-ndr, uplink_cable: 100m}";
  g_autoptr (FabPlant) near_plant = plant_of (*state, plain), far_plant = plant_of (*state, far);
  FabPath near_path = { 0 }, far_path = { 0 };

  fab_router_append (near_plant->router, near_plant->cluster.nics[0], near_plant->cluster.nics[8], 0,
                     &near_path);
  fab_router_append (far_plant->router, far_plant->cluster.nics[0], far_plant->cluster.nics[8], 0, &far_path);
  assert_int_equal (near_path.n, 4);
  assert_int_equal (fab_path_latency_ps (far_plant->graph, &far_path)
                        - fab_path_latency_ps (near_plant->graph, &near_path),
                    2 * 500000);
  assert_near ((double) fab_graph_link (near_plant->graph, near_path.links[1])->rate_bytes_per_s, 50e9, 1e-9);
  assert_near (bisection (*state, plain).oversubscription, 1, 1e-9);
}

/* Two leaves and a spine by hand; 4 links up for 8 NICs: 1:2. */
static void
a_custom_fabric_is_what_is_written (void **state)
{
  static const char
      *const cluster = "nodes: 2, fabric: {kind: custom, switches: [{name: leaf, count: 2}, {name: spine}],"
                       " links: [{from: leaf, to: spine, count: 4}], attach: [{to: leaf}]}";
  static const char *const rails =
      "nodes: 2, fabric: {kind: custom, switches: [{name: a}, {name: b}], links: [{from: a, to: b, link: ib-hdr}],"
      " attach: [{to: a, nics: 0-3}, {to: b, nics: 4-7}]}";

  assert_int_equal (hops_of (*state, cluster), 4);
  assert_near (bisection (*state, cluster).oversubscription, 2, 1e-9);
  assert_int_equal (hops_of (*state, rails), 2);
}

/* --- cubes --- */

/* Three cubes make 12 x 4 x 4. An axis of 12 leaves a cube three times, one of 4 once: 16 x 3 + 48 + 48 joins. */
static void
sizes_that_are_not_given_are_whole_cubes (void **state)
{
  g_autoptr (FabPlant) plant = plant_of (
      *state, "nodes: 192, nics_per_node: 1, fabric: {kind: torus, cube: 4, optical: ib-hdr}");
  guint n = 0;

  for (FabLinkId id = 0; id < fab_graph_n_links (plant->graph); id++)
    n += strcmp (fab_graph_link_class (plant->graph, id)->name, "ib-hdr") == 0;
  assert_int_equal (n, 2 * (48 + 48 + 48));
}

/* --- what is refused --- */

static void
assert_refused (const FabCatalog *catalog, const char *cluster, const char *message)
{
  g_autofree char *yaml = scenario_of (cluster);
  g_autoptr (GError) error = NULL;
  g_autoptr (FabScenario) scenario = fab_scenario_parse ("t", yaml, strlen (yaml), NULL, &fab_models, catalog,
                                                         &error);

  if (scenario != NULL)
    assert_null (fab_plant_new (scenario, NULL, &error));
  if (strstr (error->message, message) == NULL)
    fail_msg ("no '%s' in: %s", message, error->message);
}

static void
what_does_not_fit_is_said (void **state)
{
  static const struct {
    const char *cluster, *message;
  } cases[] = {
    { "nodes: 4, places: 3", "3 places are too few for 4 nodes" },
    { "nodes: 4, fabric: {kind: fat_tree, tiers: 1}", "for one tier write `fabric: switch`" },
    { "nodes: 300, fabric: {kind: fat_tree, tiers: 2}", "needs 75 ports, but radix is 64" },
    { "nodes: 4, fabric: {kind: fat_tree, radix: 16, tiers: 2, nodes_per_leaf: 1, spines_per_pod: 1}",
      "spine of this fat tree needs 32 ports, but radix is 16" },
    { "nodes: 6, fabric: {kind: fat_tree, radix: 16, tiers: 3, nodes_per_leaf: 1, leaves_per_pod: 3, "
      "spines_per_pod: 1}",
      "spine of this fat tree needs 24 ports, but radix is 16" },
    { "nodes: 4, fabric: {kind: fat_tree, nodes_per_leaf: 8}", "leaf of this fat tree needs 128 ports" },
    { "nodes: 9, fabric: {kind: torus, x: 2, y: 2, z: 2}", "a torus of 2 x 2 x 2 has 8 places, and 9" },
    { "nodes: 12, fabric: {kind: torus, cube: 4}", "cannot be built from cubes of 4 nodes" },
    { "nodes: 4, fabric: {kind: torus, x: 2}", "give the sizes of all 3 axes, or of none" },
    { "nodes: 4, fabric: {kind: dragonfly, groups: 1, routers_per_group: 2, nics_per_router: 8}",
      "has ports for 16 NICs, not 32" },
    { "nodes: 4, fabric: {kind: dragonfly, routers_per_group: 1, nics_per_router: 8, global_ports: 1}",
      "has 1 ports to other groups" },
    { "nodes: 4, fabric: {kind: dragonfly, routers_per_node: 3}",
      "3 routers cannot share a node's 8 NICs equally" },
    { "nodes: 4, fabric: {kind: dragonfly, routers_per_node: 0, routers_per_group: 4}",
      "the NICs of a node need 8 routers, and a group has 4" },
    { "nodes: 4, fabric: {kind: dragonfly, routers_per_node: 2, nics_per_router: 2}",
      "a node has 4 NICs on a router, which has ports for 2" },
    { "nodes: 4, fabric: {kind: dragonfly, groups: 1000, routers_per_group: 1000, global_links: 1}",
      "has 499999500 links; at most" },
    { "nodes: 2, fabric: {kind: custom, switches: [{name: a, count: 10000}, {name: hub}], "
      "links: [{from: a, to: a}, {from: a, to: hub}], attach: [{to: a0}]}",
      "has 100000000 pairs of switches" },
    { "nodes: 4, fabric: {kind: leaf_spine, uplink: ib-hrd}", "unknown link 'ib-hrd'" },
    { "nodes: 2, fabric: {kind: custom, switches: [{name: a}], attach: [{to: b}]}",
      "unknown switch 'b'; the known ones are a" },
    { "nodes: 2, fabric: {kind: custom, switches: [{name: a}, {name: a}], attach: [{to: a}]}",
      "two switches are called 'a'" },
    { "nodes: 2, fabric: {kind: custom, switches: [{name: a}], attach: [{to: a, nics: 0-6}]}",
      "connects NIC 7 of node position 0" },
    { "nodes: 2, fabric: {kind: custom, switches: [{name: a}], attach: [{to: a, nodes: 3-1}]}",
      "'3-1' is not a range" },
    { "nodes: 2, fabric: {kind: custom, switches: [{name: a}], links: [{from: a, to: a}], attach: [{to: a}]}",
      "from 'a' to 'a', joins no switches" },
    { "nodes: 2, fabric: {kind: custom, switches: [{name: a, count: 2}], links: [{from: a, to: a, map: block}], "
      "attach: [{to: a}]}",
      "from 'a' to 'a', joins no switches" },
    { "nodes: 2, fabric: {kind: custom, switches: [{name: a}, {name: b}], attach: [{to: a}]}",
      "the machine is in parts" },
    { "nodes: 2, fabric: custom", "connects NIC 0 of node position 0" },
    { "nodes: 16, fabric: {kind: rail, nodes_per_leaf: 4, spines: 4, units_per_pod: 2}",
      "a multiple of the 4 spines of a pod; it has 0 cores" },
    { "nodes: 16, fabric: {kind: rail, nodes_per_leaf: 4, spines: 4, units_per_pod: 2, cores: 6}",
      "a rail fabric of 2 pods needs `spines`, and `cores` that are a multiple of the 4 spines of a pod; it has 6 "
      "cores" },
    { "nodes: 16, fabric: {kind: rail, nodes_per_leaf: 4, units_per_pod: 2, cores: 4}",
      "a rail fabric of 2 pods needs `spines`" },
    { "nodes: 16, fabric: {kind: rail, nodes_per_leaf: 4, units_per_pod: 2}",
      "a multiple of the 1 spines of a pod; it has 0 cores" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    assert_refused (*state, cases[i].cluster, cases[i].message);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (nodes_stand_where_they_are_placed),
    cmocka_unit_test (a_switch_does_not_block),
    cmocka_unit_test (an_odd_number_has_a_smaller_half),
    cmocka_unit_test (odd_numbers_are_split_in_one_way),
    cmocka_unit_test (a_leaf_spine_is_oversubscribed_as_asked),
    cmocka_unit_test (more_up_than_down_bears_dead_spines),
    cmocka_unit_test (a_torus_is_cut_across_its_longest_axis),
    cmocka_unit_test (pods_are_oversubscribed_one_to_seven),
    cmocka_unit_test (rails_meet_inside_nodes_only),
    cmocka_unit_test (forwarding_over_nvlink_takes_its_time),
    cmocka_unit_test (rails_of_a_rack_are_those_of_its_trays),
    cmocka_unit_test (relays_of_nccl_cost_what_nvlink_carries),
    cmocka_unit_test (planes_are_apart),
    cmocka_unit_test (a_dragonfly_has_one_global_hop),
    cmocka_unit_test (a_dragonfly_may_spread_the_nics_of_a_node),
    cmocka_unit_test (cables_and_uplinks_are_of_their_own_kind),
    cmocka_unit_test (a_custom_fabric_is_what_is_written),
    cmocka_unit_test (sizes_that_are_not_given_are_whole_cubes),
    cmocka_unit_test (what_does_not_fit_is_said),
  };

  return cmocka_run_group_tests (tests, load_catalog, free_catalog);
}
