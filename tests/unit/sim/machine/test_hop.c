/* SPDX-License-Identifier: Apache-2.0 */
/* test_hop.c - which links one connection uses: directly, through host memory, over NICs and rails. */
#include "tests/support/test.h"

#include "sim/fabric/next_links.h"
#include "sim/machine/hop.h"
#include "sim/machine/rails.h"
#include "tests/support/play.h"
#include "tests/support/random.h"

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

/* Two GPUs and a drive behind one PCIe switch, whose uplink and memory never bind but when crossed twice: round
 * rates of 10 GB/s, and no packets. */
static const char *const box =
    "links:\n"
    "  - {name: wire, technology: PCIe, lanes: 1, signalling: 80Gb/s, latency: 1us}\n"
    "  - {name: ram, technology: Memory, lanes: 1, signalling: 8000Gb/s, latency: 0us}\n"
    "nodes:\n"
    "  - name: box\n"
    "    accelerator: a100-sxm4-80gb\n"
    "    parts: [{name: gpu, kind: accelerator, count: 2}, {name: plx, kind: switch}, {name: cpu, kind: host},"
    " {name: ram, kind: memory}, {name: nvme, kind: storage}]\n"
    "    wires: [{from: gpu, to: plx, link: wire}, {from: plx, to: cpu, link: wire},"
    " {from: cpu, to: ram, link: ram}, {from: nvme, to: plx, link: wire}]\n";

static const FabCluster *
cluster_of (const Play *play)
{
  return fab_simulation_cluster (play->simulation);
}

/* "node1/gpu0" is gpu0. */
static const char *
short_name (const char *name)
{
  const char *slash = strchr (name, '/');

  return slash != NULL ? slash + 1 : name;
}

/* "gpu0>plx plx>cpu ...", without the node. */
static char *
hop_text (const FabCluster *cluster, const FabHop *hop)
{
  GString *text = g_string_new (NULL);

  for (guint i = 0; i < hop->shares->len; i++) {
    const FabLink *link = fab_graph_link (cluster->graph, g_array_index (hop->shares, FabShare, i).link);
    g_autofree char *src = fab_graph_vertex_name (cluster->graph, link->src);
    g_autofree char *dst = fab_graph_vertex_name (cluster->graph, link->dst);

    g_string_append_printf (text, "%s%s>%s", i > 0 ? " " : "", short_name (src), short_name (dst));
  }
  return g_string_free (text, FALSE);
}

static void
assert_links (const FabCluster *cluster, const FabHop *hop, const char *links)
{
  g_autofree char *text = hop_text (cluster, hop);

  assert_string_equal (text, links);
}

/* Each leg begins where the one before has ended. */
static void
assert_legs (const FabHop *hop, guint n)
{
  assert_int_equal (hop->n_legs, n);
  for (guint i = 1; i < n; i++)
    assert_int_equal (hop->legs[i].src, hop->legs[i - 1].dst);
}

static void
peers_go_directly_and_others_through_memory (void **state)
{
  g_autoptr (Play) near = play_cluster (*state, "node: box, p2p: pix", box);
  g_autoptr (Play) off = play_cluster (*state, "node: box, p2p: nvl", box);
  FabHop direct, staged;

  assert_true (fab_hop_inside (cluster_of (near), cluster_of (near)->gpus[0], cluster_of (near)->gpus[1],
                               &direct, NULL));
  assert_int_equal (direct.kind, FAB_HOP_DIRECT);
  assert_links (cluster_of (near), &direct, "gpu0>plx plx>gpu1");
  assert_int_equal (direct.latency_ps, FAB_PS_PER_S / 500000);
  assert_near (direct.rate_bytes_per_s, 10e9, 1e-9);
  assert_true (
      fab_hop_inside (cluster_of (off), cluster_of (off)->gpus[0], cluster_of (off)->gpus[1], &staged, NULL));
  assert_int_equal (staged.kind, FAB_HOP_STAGED);
  assert_legs (&direct, 1);
  assert_legs (&staged, 2);
  assert_links (cluster_of (off), &staged, "gpu0>plx plx>cpu cpu>ram ram>cpu cpu>plx plx>gpu1");
  assert_int_equal (staged.latency_ps, FAB_PS_PER_S / 250000);
  assert_near (staged.rate_bytes_per_s, 10e9 / staged.stretch, 1e-9);
  fab_hop_clear (&direct);
  fab_hop_clear (&staged);
}

static double
rate_of (const FabCluster *cluster, const FabHop *hops, guint n)
{
  g_autoptr (FabFootprintBuilder) builder = fab_footprint_builder_new (cluster->graph);

  for (guint i = 0; i < n; i++)
    fab_hop_use (&hops[i], 1, 1, builder);
  g_autoptr (FabFootprint) footprint = fab_footprint_builder_finish (builder);
  return footprint->rate_bytes_per_s;
}

/* Behind one switch the uplink carries both hops, up and down, and each GPU minds what comes back: by the constants'
 * own sources 1.404 of 2. One hop alone is not in its own way, though it goes up and down as well. */
static void
staging_both_ways_shares_the_uplink (void **state)
{
  g_autoptr (Play) play = play_cluster (*state, "node: box, p2p: none", box);
  const FabCluster *cluster = cluster_of (play);
  FabHop hops[2];

  for (guint i = 0; i < 2; i++)
    assert_true (fab_hop_inside (cluster, cluster->gpus[i], cluster->gpus[1 - i], &hops[i], NULL));
  double one_way = rate_of (cluster, hops, 1), both = rate_of (cluster, hops, 2);
  assert_near (one_way, hops[0].rate_bytes_per_s, 1e-9);
  assert_near (both, one_way / 2 / (2 * 22.1 / 31.5), 1e-3);
  fab_hop_clear (&hops[0]);
  fab_hop_clear (&hops[1]);
}

/* Two sockets with two GPUs each on wires of 10 GB/s, and processors that let kernels store 4 GB/s on one socket and
 * 1 GB/s across. */
static const char *const sockets =
    "links:\n"
    "  - {name: wire, technology: PCIe, lanes: 1, signalling: 80Gb/s, latency: 1us}\n"
    "  - {name: ram, technology: Memory, lanes: 1, signalling: 8000Gb/s, latency: 0us}\n"
    "processors: [{name: slow, staged_kernel_most: 4GB/s, staged_kernel_far: 1GB/s, pair_p2p: sys}]\n"
    "nodes:\n"
    "  - name: box\n"
    "    accelerator: a100-sxm4-80gb\n"
    "    cpu: slow\n"
    "    p2p: pxb\n"
    "    parts: [{name: gpu, kind: accelerator, count: 4}, {name: cpu, kind: host, count: 2},"
    " {name: ram, kind: memory, count: 2}]\n"
    "    wires: [{from: gpu, to: cpu, link: wire}, {from: cpu, to: cpu, link: wire, map: all},"
    " {from: cpu, to: ram, link: ram}]\n";

static void
kernels_store_into_host_memory_no_faster_than_measured (void **state)
{
  g_autoptr (Play) play = play_cluster (*state, "node: box", sockets);
  const FabCluster *cluster = cluster_of (play);
  FabHop near[2], far[2];

  for (guint i = 0; i < 2; i++) {
    assert_true (fab_hop_inside (cluster, cluster->gpus[i], cluster->gpus[1 - i], &near[i], NULL));
    assert_true (fab_hop_inside (cluster, cluster->gpus[2 * i], cluster->gpus[2 - 2 * i], &far[i], NULL));
  }
  assert_int_equal (near[0].kind, FAB_HOP_STAGED);
  assert_near (near[0].rate_bytes_per_s, 4e9, 1e-9);
  assert_near (near[0].device_stretch, 10.0 / 4, 1e-9);
  assert_near (rate_of (cluster, near, 2), 4e9, 1e-9);
  assert_near (far[0].rate_bytes_per_s, 1e9, 1e-9);
  assert_near (rate_of (cluster, far, 2), 1e9, 1e-9);
  for (guint i = 0; i < 2; i++) {
    fab_hop_clear (&near[i]);
    fab_hop_clear (&far[i]);
  }
}

/* Kernels send smaller packets between sockets that a link of such a technology joins; copy engines do not. Near GPUs
 * have no socket between them but their own, which is joined by such a link too. */
static void
kernels_alone_take_longer_through_sockets_that_split_packets (void **state)
{
  static const char *const own =
      "technologies: [{name: Split, joins: sockets, flow_control: credit, host_stretch: 1.25}]\n"
      "links:\n"
      "  - {name: wire, technology: PCIe, lanes: 1, signalling: 80Gb/s, latency: 1us}\n"
      "  - {name: split, technology: Split, lanes: 1, signalling: 800Gb/s, latency: 1us}\n"
      "nodes:\n"
      "  - name: box\n"
      "    accelerator: a100-sxm4-80gb\n"
      "    parts: [{name: gpu, kind: accelerator, count: 4}, {name: plx, kind: switch, count: 2},"
      " {name: cpu, kind: host, count: 2}]\n"
      "    wires: [{from: gpu, to: plx, link: wire}, {from: plx, to: cpu, link: wire},"
      " {from: cpu, to: cpu, link: split, map: all}]\n";
  static const double rates[FAB_N_DRIVES] = { [FAB_DRIVE_KERNEL] = 10e9 / 1.25, [FAB_DRIVE_COPY] = 10e9 };
  g_autoptr (Play) play = play_cluster (*state, "node: box, p2p: sys", own);
  const FabCluster *cluster = cluster_of (play);

  for (FabDrive drive = 0; drive < FAB_N_DRIVES; drive++) {
    FabHop near, far;

    if (drive != FAB_DRIVE_KERNEL && drive != FAB_DRIVE_COPY)
      continue;
    assert_true (
        fab_hop_local (cluster, cluster->gpus[0], cluster->gpus[1], FAB_REACH_SYS, drive, &near, NULL));
    assert_true (
        fab_hop_local (cluster, cluster->gpus[0], cluster->gpus[3], FAB_REACH_SYS, drive, &far, NULL));
    assert_int_equal (far.kind, FAB_HOP_DIRECT);
    assert_near (near.rate_bytes_per_s, 10e9, 1e-9);
    assert_near (far.rate_bytes_per_s, rates[drive], 1e-9);
    fab_hop_clear (&near);
    fab_hop_clear (&far);
  }
}

/* Copies that are staged at 8 of 10, kernels at 5 of 10, and copies in all no faster than their limit, where one is
 * known; wires have 10 GB/s. A limit of kernels that is above all that takes nothing from them; one of 2 GB/s in both
 * directions leaves half as much more in one, and holds up GPUs that could send 5, or 4 where headers take a fifth. */
static void
staged_bytes_have_the_rate_of_their_drive (void **state)
{
  static const struct {
    const char *most, *kernel_most, *packets;
    double copies, kernels, device_stretch;
  } rows[] = { { "0B/s", "0B/s", "", 8e9, 5e9, 1 },
               { "9GB/s", "100GB/s", "", 8e9, 5e9, 1 },
               { "4GB/s", "2GB/s", "", 4e9, 3e9, 5.0 / 3 },
               { "4GB/s", "2GB/s", ", kernel: {payload: 100B, overhead: 25B}", 4e9, 3e9, 4.0 / 3 },
               { "1B/s", "1B/s", "", 1, 1.5, 5e9 / 1.5 } };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autoptr (GString) own = g_string_new (box), wire = g_string_new ("latency: 1us");

    g_string_append_printf (wire, "%s}", rows[i].packets);
    g_string_replace (own, "    accelerator", "    cpu: slow\n    accelerator", 1);
    g_string_replace (own, "latency: 1us}", wire->str, 1);
    g_string_append_printf (
        own,
        "processors: [{name: slow, staged_copy: {plain: 10GB/s, reached: 8GB/s}, staged_most: %s, "
        "staged_kernel: {plain: 10GB/s, reached: 5GB/s}, staged_both_ways: {plain: 3GB/s, reached: "
        "2GB/s}, staged_kernel_most: %s}]\n",
        rows[i].most, rows[i].kernel_most);
    g_autoptr (Play) play = play_cluster (*state, "node: box", own->str);
    const FabCluster *cluster = cluster_of (play);
    FabHop copy, kernel;

    assert_true (fab_hop_local (cluster, cluster->gpus[0], cluster->gpus[1], FAB_REACH_NVL, FAB_DRIVE_COPY,
                                &copy, NULL));
    assert_true (fab_hop_local (cluster, cluster->gpus[0], cluster->gpus[1], FAB_REACH_NVL, FAB_DRIVE_KERNEL,
                                &kernel, NULL));
    assert_int_equal (copy.kind, FAB_HOP_STAGED);
    assert_near (copy.rate_bytes_per_s, rows[i].copies, 1e-9);
    assert_near (kernel.rate_bytes_per_s, rows[i].kernels, 1e-9);
    assert_near (copy.duplex_stretch, 1.5, 1e-9);
    assert_near (kernel.device_stretch, rows[i].device_stretch, 1e-9);
    fab_hop_clear (&copy);
    fab_hop_clear (&kernel);
  }
}

/* By what bytes between a GPU and a NIC of its node pass: switches alone, a host bridge, a socket, or host memory. */
static void
hops_between_nodes_say_what_they_pass (void **state)
{
  static const char *const bridged =
      "links:\n  - {name: wire, technology: PCIe, lanes: 1, signalling: 80Gb/s, latency: 1us}\n"
      "nodes:\n  - name: bridged\n    accelerator: a100-sxm4-80gb\n    nic: roce-100\n"
      "    parts: [{name: gpu, kind: accelerator}, {name: bridge, kind: bridge}, {name: nic, kind: nic},"
      " {name: cpu, kind: host}]\n"
      "    wires: [{from: gpu, to: bridge, link: wire}, {from: nic, to: bridge, link: wire},"
      " {from: bridge, to: cpu, link: wire}]\n";
  static const struct {
    const char *cluster;
    FabHopKind kind;
  } rows[] = {
    { "node: dgx-h100, nodes: 2, nic: efa-v3", FAB_HOP_NET },
    { "node: gb200-tray, nodes: 36", FAB_HOP_NET_HOST },
    { "node: bridged, nodes: 2, gdr: phb", FAB_HOP_NET_HOST },
    { "node: bridged, nodes: 2, gdr: pxb", FAB_HOP_NET_STAGED },
    { "node: dgx-h100, nodes: 2, gdr: none", FAB_HOP_NET_STAGED },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autoptr (Play) play = play_cluster (*state, rows[i].cluster, bridged);
    const FabCluster *cluster = cluster_of (play);
    FabHop hop;

    assert_true (fab_hop_over (cluster, cluster->gpus[0], cluster->nics[0],
                               cluster->nics[(cluster->n_nodes - 1) * cluster->nics_per_node],
                               cluster->gpus[(cluster->n_nodes - 1) * cluster->gpus_per_node], 0, &hop,
                               NULL));
    assert_int_equal (hop.kind, rows[i].kind);
    const FabLinkClass *port = fab_graph_link_class (cluster->graph, hop.out_port);
    assert_int_equal (hop.endpoint_ps, port->endpoint_ps);
    assert_int_equal (hop.endpoint_ps, i == 0 ? 16300000 : port->endpoint_ps);
    assert_ptr_equal (hop.messages, &port->messages);
    assert_near (hop.stretch, port->collective_stretch, 0);
    fab_hop_clear (&hop);
  }
}

/* Nodes with links of their own keep to what the classes of switches foresee, so that ways from NIC to NIC need no
 * search. */
static void
machines_have_classes_of_switches (void **state)
{
  static const char *const clusters[] = {
    "node: dgx-h100, nodes: 4, fabric: rail", "node: dgx-a100, nodes: 4",
    "node: dgx1-v100, nodes: 3, fabric: {kind: leaf_spine, nodes_per_leaf: 1}", "node: mi300x, nodes: 2",
    "node: polaris, nodes: 4"
  };

  for (guint i = 0; i < G_N_ELEMENTS (clusters); i++) {
    g_autoptr (Play) play = play_cluster (*state, clusters[i], "");
    g_autoptr (FabWays) ways = fab_ways_new (cluster_of (play)->graph);

    assert_non_null (ways);
  }
}

/* NCCL lets two GPUs of an AMD host reach each other where it stages between more. What a user sets holds for both. */
static void
two_gpus_alone_reach_farther (void **state)
{
  static const struct {
    const char *cluster;
    FabHopKind kind;
  } rows[] = { { "node: box", FAB_HOP_STAGED },
               { "node: box, gpus_per_node: 3", FAB_HOP_STAGED },
               { "node: box, gpus_per_node: 2", FAB_HOP_DIRECT },
               { "node: box, gpus_per_node: 2, p2p: pxb", FAB_HOP_STAGED },
               { "node: box, p2p: sys", FAB_HOP_DIRECT } };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autoptr (Play) play = play_cluster (*state, rows[i].cluster, sockets);
    const FabCluster *cluster = cluster_of (play);
    FabHop hop;

    assert_true (fab_hop_inside (cluster, cluster->gpus[0], cluster->gpus[1], &hop, NULL));
    assert_int_equal (hop.kind, rows[i].kind);
    fab_hop_clear (&hop);
  }
}

/* One GPU and one NIC on root ports of their own, 10 GB/s each, and a processor whose bridge lets NICs read 6 of 10: a
 * port of 8 GB/s is too fast for it by a third, one of 5 GB/s is not. Two ports of 4 GB/s are one of 8. A port that is
 * faster than the bus sends 10. Of 10 GB/s headers leave 8, and a library reaches 6.4 of them; so it does of two ports
 * of 5 GB/s. Where headers leave 8 of the bus, NICs read 4.8 of it. */
static void
a_bridge_is_a_ceiling_for_reads (void **state)
{
  static const char packets[] = ", copy: {payload: 100B, overhead: 25B}";
  static const struct {
    const char *port, *packets, *fraction, *wire_packets;
    double stretch;
    const char *ports;
  } rows[] = {
    { "64Gb/s", "", "0", "", 8.0 / 6, "" },
    { "40Gb/s", "", "0", "", 1, "" },
    { "32Gb/s", "", "0", "", 8.0 / 6, ", nic_ports: 2" },
    { "200Gb/s", "", "0", "", 10.0 / 6, "" },
    { "80Gb/s", packets, "0.8", "", 6.4 / 6, "" },
    { "40Gb/s", packets, "0.8", "", 6.4 / 6, ", nic_ports: 2" },
    { "64Gb/s", "", "0", packets, 8.0 / 4.8, "" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autofree char *own = g_strdup_printf (
        "links:\n"
        "  - {name: wire, technology: PCIe, lanes: 1, signalling: 80Gb/s, latency: 1us%s}\n"
        "  - {name: ram, technology: Memory, lanes: 1, signalling: 8000Gb/s, latency: 0us}\n"
        "  - {name: port, technology: Ethernet, lanes: 1, signalling: %s, latency: 1us, collective_fraction: %s%s}\n"
        "processors: [{name: slow, bridge_read: {plain: 10GB/s, reached: 6GB/s}}]\n"
        "nodes:\n"
        "  - name: box\n"
        "    accelerator: a100-sxm4-80gb\n"
        "    cpu: slow\n"
        "    nic: port\n"
        "    parts: [{name: gpu, kind: accelerator}, {name: nic, kind: nic}, {name: cpu, kind: host},"
        " {name: ram, kind: memory}]\n"
        "    wires: [{from: gpu, to: cpu, link: wire}, {from: nic, to: cpu, link: wire},"
        " {from: cpu, to: ram, link: ram}]\n",
        rows[i].wire_packets, rows[i].port, rows[i].fraction, rows[i].packets);
    g_autofree char *keys = g_strconcat ("node: box, nodes: 2, gdr: phb", rows[i].ports, NULL);
    g_autoptr (Play) play = play_cluster (*state, keys, own);
    const FabCluster *cluster = cluster_of (play);
    FabHop hop;

    assert_true (fab_hop_over (cluster, cluster->gpus[0], cluster->nics[0], cluster->nics[1],
                               cluster->gpus[1], 0, &hop, NULL));
    assert_int_equal (hop.kind, FAB_HOP_NET_HOST);
    assert_near (hop.read_stretch, rows[i].stretch, 1e-9);
    fab_hop_clear (&hop);
  }
}

/* GPU 1 and NIC 1 stand at the socket, and GPU 0 and NIC 0 at a switch. What NIC 1 reads is slowed down by the bridge,
 * and what it writes is not. */
static void
a_bridge_slows_down_reads_alone (void **state)
{
  static const char
      *const own = "links:\n"
                   "  - {name: wire, technology: PCIe, lanes: 1, signalling: 80Gb/s, latency: 1us}\n"
                   "  - {name: port, technology: Ethernet, lanes: 1, signalling: 64Gb/s, latency: 1us}\n"
                   "processors: [{name: slow, bridge_read: {plain: 10GB/s, reached: 6GB/s}}]\n"
                   "nodes:\n"
                   "  - name: box\n    accelerator: a100-sxm4-80gb\n    cpu: slow\n    nic: port\n"
                   "    parts: [{name: gpu, kind: accelerator, count: 2}, {name: nic, kind: nic, count: 2},"
                   " {name: plx, kind: switch},"
                   " {name: cpu, kind: host}]\n"
                   "    wires: [{from: gpu0, to: plx, link: wire}, {from: nic0, to: plx, link: wire},"
                   " {from: plx, to: cpu, link: wire},"
                   " {from: gpu1, to: cpu, link: wire}, {from: nic1, to: cpu, link: wire}]\n";
  g_autoptr (Play) play = play_cluster (*state, "node: box, nodes: 2, gdr: phb", own);
  const FabCluster *cluster = cluster_of (play);

  for (guint from = 0; from < 2; from++)
    for (guint to = 0; to < 2; to++) {
      FabHop hop;

      assert_true (fab_hop_over (cluster, cluster->gpus[from], cluster->nics[from], cluster->nics[2 + to],
                                 cluster->gpus[2 + to], 0, &hop, NULL));
      assert_near (hop.read_stretch, from == 1 ? 8.0 / 6 : 1, 1e-9);
      fab_hop_clear (&hop);
    }
}

/* Ranks that reach no NIC have no way to another node, and are named. */
static void
ranks_without_a_nic_are_named (void **state)
{
  g_autoptr (Play) play = play_cluster (*state, "node: dgx-h100, nodes: 2", "");
  FabCluster cluster = *cluster_of (play);
  g_autofree guint *hops = g_memdup2 (cluster.nic_hops, 64 * sizeof (guint));

  for (guint nic = 0; nic < 8; nic++)
    hops[3 * 8 + nic] = G_MAXUINT;
  cluster.nic_hops = hops;
  for (guint to = 8; to < 16; to++)
    for (guint from = 2; from < 4; from++) {
      g_autoptr (GError) error = NULL;
      g_autofree char *message = g_strdup_printf ("no path from node0/gpu%u to node1/gpu%u", from, to - 8);
      FabHop hop;

      assert_int_equal (fab_hop_ranks (&(FabGroup){ &cluster, 2, 8 }, from, to, &hop, &error),
                        from != 3 && to != 8 + 3);
      if (error == NULL)
        fab_hop_clear (&hop);
      else
        assert_non_null (strstr (error->message, message));
      assert_true ((error != NULL) == (from == 3 || to == 8 + 3));
    }
}

static void
drives_bounce_without_gpudirect_storage (void **state)
{
  const char *const clusters[] = { "node: box, gds: true", "node: box" };
  const char *const links[] = { "nvme>plx plx>gpu1", "nvme>plx plx>cpu cpu>ram ram>cpu cpu>plx plx>gpu1" };

  for (guint i = 0; i < G_N_ELEMENTS (links); i++) {
    g_autoptr (Play) play = play_cluster (*state, clusters[i], box);
    const FabCluster *cluster = cluster_of (play);
    FabHop hop;

    assert_int_equal (cluster->drives_per_node, 1);
    assert_true (fab_hop_storage (cluster, cluster->drives[0], cluster->gpus[1], &hop, NULL));
    assert_links (cluster, &hop, links[i]);
    fab_hop_clear (&hop);
  }
}

static char *
ranks_text (const FabCatalog *catalog, const char *cluster, guint from, guint to, FabHop *hop)
{
  g_autoptr (Play) play = play_cluster (catalog, cluster, "");
  FabGroup group = { cluster_of (play), 2, 8 };

  assert_true (fab_hop_ranks (&group, from, to, hop, NULL));
  hop->technology = NULL; /* of the simulation, which ends here */
  return hop_text (cluster_of (play), hop);
}

/* Two GPUs and two NICs per PCIe switch: GPU 0 has NIC 0, GPU 5 has NIC 5. */
static void
other_rails_are_reached_by_nvlink (void **state)
{
  static const char *const on = "node: dgx-a100, nodes: 2, fabric: rail";
  static const char *const off = "node: dgx-a100, nodes: 2, pxn: false";
  FabHop relayed, crossing, same;
  g_autofree char *by_relay = ranks_text (*state, on, 0, 13, &relayed);
  g_autofree char *by_fabric = ranks_text (*state, off, 0, 13, &crossing);
  g_autofree char *on_rail = ranks_text (*state, on, 5, 13, &same);

  assert_true (
      g_str_has_prefix (by_relay, "gpu0>nvswitch nvswitch>gpu5 gpu5>pcie_switch2 pcie_switch2>nic5"));
  assert_true (g_str_has_prefix (by_fabric, "gpu0>pcie_switch0 pcie_switch0>nic0"));
  assert_true (g_str_has_prefix (on_rail, "gpu5>pcie_switch2 pcie_switch2>nic5"));
  assert_int_equal (relayed.kind, FAB_HOP_NET);
  assert_legs (&relayed, 4); /* GPU, GPU, NIC, NIC, GPU */
  assert_legs (&crossing, 3);
  assert_int_equal (same.legs[1].flow_hash, 5); /* from NIC to NIC, that of the sender's rank */
  assert_int_equal (same.legs[0].flow_hash, 0);
  assert_int_equal (same.legs[2].flow_hash, 0);
  fab_hop_clear (&relayed);
  fab_hop_clear (&crossing);
  fab_hop_clear (&same);
}

/* GPU 5 is the second of tray 1. Bytes for the third GPU of another tray leave by the third NIC of tray 1: NCCL looks
 * for the device number of the receiver on its own host. Those for a second GPU leave by its own NIC. As one node or as
 * trays, a rack does the same. */
static void
other_rails_of_a_rack_are_reached_inside_the_tray (void **state)
{
  static const struct {
    const char *cluster;
    guint to;
    const char *way;
  } cases[] = {
    { "node: gb200-nvl72, nodes: 2", 8 + 2, "gpu5>nvswitch nvswitch>gpu6 gpu6>cpu3 cpu3>nic6" },
    { "node: gb200-nvl72, nodes: 2", 8 + 1, "gpu5>cpu2 cpu2>nic5" },
    { "node: gb200-tray, nodes: 36", 8 + 2, "gpu1>nvswitch0 nvswitch0>gpu2 gpu2>cpu1 cpu1>nic2" },
    { "node: gb200-tray, nodes: 36", 8 + 1, "gpu1>cpu0 cpu0>nic1" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    FabHop hop;
    g_autofree char *text = ranks_text (*state, cases[i].cluster, 5, cases[i].to, &hop);

    if (!g_str_has_prefix (text, cases[i].way))
      fail_msg ("%s: %s", cases[i].cluster, text);
    fab_hop_clear (&hop);
  }
}

/* One link of the way is enough to make relaying impossible, whether it is the first or the last. */
static void
every_link_to_a_relay_relays (void **state)
{
  static const char *const mixed =
      "nodes:\n  - name: mixed\n    accelerator: a100-sxm4-80gb\n"
      "    parts: [{name: gpu, kind: accelerator, count: 3}, {name: sw, kind: switch}]\n"
      "    wires: [{from: gpu0, to: sw, link: xgmi-mi300x}, {from: gpu1, to: sw, link: nvlink3},"
      " {from: gpu2, to: sw, link: nvlink3}]\n";
  g_autoptr (Play) play = play_cluster (*state, "node: mixed", mixed),
                   off = play_cluster (*state, "node: mixed, pxn: false", mixed);
  const FabVertexId *gpus = cluster_of (play)->gpus;

  for (guint from = 0; from < 3; from++)
    for (guint to = 0; to < 3; to++)
      if (from != to) {
        assert_int_equal (fab_relay_can (cluster_of (play), gpus[from], gpus[to]), from > 0 && to > 0);
        assert_false (fab_relay_can (cluster_of (off), gpus[from], gpus[to]));
      }
}

/* Each link begins where the one before it ends. */
static void
assert_one_way (const FabGraph *graph, const FabHop *hop)
{
  for (guint i = 1; i < hop->shares->len; i++)
    assert_int_equal (fab_graph_link (graph, g_array_index (hop->shares, FabShare, i).link)->src,
                      fab_graph_link (graph, g_array_index (hop->shares, FabShare, i - 1).link)->dst);
}

/* No switch joins the planes of a network. From NIC a of a node the bytes for NIC b of another one leave by the first
 * NIC from a on, and after the last one from the first on, that is in the plane of b. */
static void
other_planes_are_reached_by_the_next_nic_of_the_node (void **state)
{
  for (guint n_planes = 1; n_planes <= 8; n_planes *= 2) {
    g_autofree char *text = g_strdup_printf (
        "node: dgx-h100, nodes: 6, fabric: {kind: rail, nodes_per_leaf: 3, planes: %u}", n_planes);
    g_autoptr (Play) play = play_cluster (*state, text, "");
    const FabCluster *cluster = cluster_of (play);

    for (guint from = 0; from < 16; from++)
      for (guint to = 40; to < 48; to++) {
        guint out = from % 8;
        FabHop hop;

        while (out % n_planes != to % n_planes)
          out = (out + 1) % 8;
        assert_true (fab_hop_over (cluster, cluster->gpus[from], cluster->nics[from], cluster->nics[to],
                                   cluster->gpus[to], 0, &hop, NULL));
        assert_int_equal (fab_graph_link (cluster->graph, hop.out_port)->src,
                          cluster->nics[from / 8 * 8 + out]);
        assert_int_equal (fab_graph_link (cluster->graph, hop.in_port)->dst, cluster->nics[to]);
        assert_legs (&hop, hop.n_legs);
        assert_one_way (cluster->graph, &hop); /* to this NIC, and not to another */
        fab_hop_clear (&hop);
      }
  }
}

/* A GPU and a NIC per PCIe switch: with NIC 0 alone, GPU 1 has a host bridge between. */
static void
far_nics_are_reached_by_nvlink (void **state)
{
  static const struct {
    const char *cluster, *way;
    guint n_legs;
  } cases[] = {
    { "node: dgx-h100, nodes: 2, nics_per_node: 1",
      "gpu1>nvswitch nvswitch>gpu0 gpu0>pcie_switch0 pcie_switch0>nic0", 4 },
    { "node: dgx-h100, nodes: 2, nics_per_node: 1, pxn: false", "gpu1>pcie_switch1 pcie_switch1>bridge1", 4 },
    { "node: dgx-h100, nodes: 2, nics_per_node: 1, gdr: none", "gpu1>pcie_switch1 pcie_switch1>bridge1", 5 },
    { "node: dgx-h100, nodes: 2", "gpu1>pcie_switch1 pcie_switch1>nic1", 3 },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    FabHop hop;
    g_autofree char *text = ranks_text (*state, cases[i].cluster, 1, i < 3 ? 8 : 9, &hop);

    if (!g_str_has_prefix (text, cases[i].way))
      fail_msg ("%s: %s", cases[i].cluster, text);
    assert_legs (&hop, cases[i].n_legs);
    fab_hop_clear (&hop);
  }
}

static void
nics_that_cannot_read_gpus_are_staged (void **state)
{
  FabHop hop;
  g_autofree char *text = ranks_text (*state, "node: dgx-a100, nodes: 2, gdr: none", 0, 8, &hop);

  assert_int_equal (hop.kind, FAB_HOP_NET_STAGED);
  assert_legs (&hop, 5); /* GPU, memory, NIC, NIC, memory, GPU */
  assert_true (g_str_has_prefix (
      text, "gpu0>pcie_switch0 pcie_switch0>bridge0 bridge0>cpu0 cpu0>memory0 memory0>cpu0"));
  assert_true (g_str_has_suffix (text, "pcie_switch0>gpu0"));
  fab_hop_clear (&hop);
}

static void
a_node_without_a_host_cannot_stage (void **state)
{
  static const char *const pair = "nodes:\n  - name: pair\n    accelerator: a100-sxm4-80gb\n"
                                  "    parts: [{name: gpu, kind: accelerator, count: 2}]\n"
                                  "    wires: [{from: gpu0, to: gpu1, link: nvlink3}]\n";
  g_autoptr (Play) play = play_cluster (*state, "node: pair", pair);
  FabCluster cluster = *cluster_of (play);
  g_autoptr (GError) error = NULL;
  FabHop hop;

  cluster.p2p = FAB_REACH_NONE;
  assert_false (fab_hop_inside (&cluster, cluster.gpus[0], cluster.gpus[1], &hop, &error));
  assert_non_null (strstr (error->message, "the node has no host to go through"));
  assert_null (hop.shares);
}

/* The nearest NIC that a rank reaches; of k that are as near, the first ranks have the first one, the second one and
 * so on. */
static void
ranks_share_out_their_nearest_nics (G_GNUC_UNUSED void **state)
{
  enum { MOST = 8 };

  for (guint seed = 0; seed < 2000; seed++) {
    Random random = { seed };
    guint n_gpus = random_between (&random, 1, MOST), n_nics = random_below (&random, MOST + 1),
          hops[MOST * MOST];

    for (guint i = 0; i < n_gpus * n_nics; i++)
      hops[i] = random_chance (&random, 20) ? G_MAXUINT : random_below (&random, 4);
    const FabCluster cluster = { .gpus_per_node = n_gpus, .nics_per_node = n_nics, .nic_hops = hops };
    for (guint local = 0; local < n_gpus; local++) {
      guint least = G_MAXUINT, n = 0, expected = G_MAXUINT;

      for (guint nic = 0; nic < n_nics; nic++)
        least = MIN (least, hops[local * n_nics + nic]);
      for (guint nic = 0; least < G_MAXUINT && nic < n_nics; nic++)
        n += hops[local * n_nics + nic] == least;
      for (guint nic = 0, k = 0; n > 0 && nic < n_nics; nic++)
        if (hops[local * n_nics + nic] == least && k++ == local % n)
          expected = nic;
      assert_int_equal (fab_cluster_nic_of (&cluster, local), expected);
    }
  }
}

/* What a hop costs beside its links is what it knows itself, else what the caller says, and for NICs alone a caller may
 * say that there is nothing; what reading costs is on top. The rate is that of the links. */
static void
costs_of_hops_are_their_own_or_the_callers (G_GNUC_UNUSED void **state)
{
  static const struct {
    FabHopKind kind;
    double own, reading, callers, stretch, rate;
  } rows[] = {
    { FAB_HOP_DIRECT, 1, 1, 1.5, 1, 8 },          { FAB_HOP_DIRECT, 2, 1, 1.5, 2, 8 },
    { FAB_HOP_DIRECT, 2, 3, 1.5, 6, 8.0 / 3 },    { FAB_HOP_DIRECT, 2, 1, 0, 2, 8 },
    { FAB_HOP_NET, 2, 3, 0, 3, 16.0 / 3 },        { FAB_HOP_NET, 2, 3, 1.5, 6, 8.0 / 3 },
    { FAB_HOP_NET, 2, 3, 0.5, 6, 8.0 / 3 },       { FAB_HOP_NET, 0, 1, 1.25, 1.25, 6.4 },
    { FAB_HOP_NET_STAGED, 0, 2, 1.25, 2.5, 3.2 }, { FAB_HOP_STAGED, 0, 2, 1.25, 2.5, 3.2 },
    { FAB_HOP_NET_HOST, 2, 1, 0, 1, 16 },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    const FabHop hop = {
      .kind = rows[i].kind, .stretch = rows[i].own, .read_stretch = rows[i].reading, .rate_bytes_per_s = 8
    };

    assert_near (fab_hop_stretch (&hop, rows[i].callers), rows[i].stretch, 1e-12);
    assert_near (fab_hop_rate (&hop, rows[i].callers), rows[i].rate, 1e-12);
  }
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (peers_go_directly_and_others_through_memory),
    cmocka_unit_test (staging_both_ways_shares_the_uplink),
    cmocka_unit_test (kernels_store_into_host_memory_no_faster_than_measured),
    cmocka_unit_test (kernels_alone_take_longer_through_sockets_that_split_packets),
    cmocka_unit_test (staged_bytes_have_the_rate_of_their_drive),
    cmocka_unit_test (hops_between_nodes_say_what_they_pass),
    cmocka_unit_test (machines_have_classes_of_switches),
    cmocka_unit_test (two_gpus_alone_reach_farther),
    cmocka_unit_test (a_bridge_is_a_ceiling_for_reads),
    cmocka_unit_test (a_bridge_slows_down_reads_alone),
    cmocka_unit_test (ranks_without_a_nic_are_named),
    cmocka_unit_test (drives_bounce_without_gpudirect_storage),
    cmocka_unit_test (other_rails_are_reached_by_nvlink),
    cmocka_unit_test (other_rails_of_a_rack_are_reached_inside_the_tray),
    cmocka_unit_test (every_link_to_a_relay_relays),
    cmocka_unit_test (other_planes_are_reached_by_the_next_nic_of_the_node),
    cmocka_unit_test (far_nics_are_reached_by_nvlink),
    cmocka_unit_test (nics_that_cannot_read_gpus_are_staged),
    cmocka_unit_test (a_node_without_a_host_cannot_stage),
    cmocka_unit_test (ranks_share_out_their_nearest_nics),
    cmocka_unit_test (costs_of_hops_are_their_own_or_the_callers),
  };

  return cmocka_run_group_tests (tests, load_catalog, free_catalog);
}
