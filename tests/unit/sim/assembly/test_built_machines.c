/* SPDX-License-Identifier: Apache-2.0 */
/* test_built_machines.c - small machines link by link: the members that are kept and their names, the switches that
 * nodes share, the places of nodes in a fabric, and what a cluster says of its nodes. Links are written "a-b", without
 * "node". */
#include "tests/support/test.h"

#include "models/models.h"
#include "tests/support/play.h"

static FabCatalog *catalog;

static const char links[] =
    "links:\n"
    "  - {name: wire, technology: PCIe, lanes: 1, signalling: 8Gb/s, latency: 1us}\n"
    "  - {name: lace, technology: NVLink, lanes: 1, signalling: 16Gb/s, latency: 2us}\n"
    "  - {name: port, technology: InfiniBand, lanes: 1, signalling: 32Gb/s, latency: 4us, endpoint: 8us}\n";

/* A machine of nodes with these parts and wires, from `head`, keys of the node. */
static Play *
play_of (const char *head, const char *parts, const char *wires, const char *cluster, const char *more)
{
  g_autofree char *yaml = g_strdup_printf (
      "name: t\nseed: 3\ncollectives: plain\ncluster: {node: mine%s}\n"
      "job: {kind: collective, operations: [{op: all_reduce, size: 1MB}]}\n%s%s"
      "nodes:\n  - name: mine\n    accelerator: a100-sxm4-80gb\n%s    parts: [%s]\n    wires: [%s]\n",
      cluster, more, links, head, parts, wires);

  return play_new (catalog, yaml, NULL);
}

static const FabPlant *
plant_of (const Play *play)
{
  return fab_simulation_plant (play->simulation);
}

static void
append_name (GString *text, const FabGraph *graph, FabVertexId vertex)
{
  g_autofree char *name = fab_graph_vertex_name (graph, vertex);

  g_string_append (text, g_str_has_prefix (name, "node") ? name + 4 : name);
}

/* Of each pair of links one, in the order of the links; "a-b*2" is two in one bundle. `only`: those of one entry. */
static char *
links_text (const FabGraph *graph, const char *only)
{
  GString *text = g_string_new (NULL);

  for (FabLinkId id = 0; id < fab_graph_n_links (graph); id++) {
    const FabLink *link = fab_graph_link (graph, id);

    if (link->src > link->dst || (only != NULL && strcmp (fab_graph_link_class (graph, id)->name, only) != 0))
      continue;
    g_string_append (text, text->len > 0 ? " " : "");
    append_name (text, graph, link->src);
    g_string_append_c (text, '-');
    append_name (text, graph, link->dst);
    if (link->count > 1)
      g_string_append_printf (text, "*%u", link->count);
  }
  return g_string_free (text, FALSE);
}

static void
assert_links (const Play *play, const char *only, const char *expected)
{
  g_autofree char *text = links_text (plant_of (play)->graph, only);

  assert_string_equal (text, expected);
}

/* "0/a 1/a": vertices by their names. */
static void
assert_names (const FabGraph *graph, const FabVertexId *ids, guint n, const char *expected)
{
  g_autoptr (GString) text = g_string_new (NULL);

  for (guint i = 0; i < n; i++) {
    g_string_append (text, i > 0 ? " " : "");
    append_name (text, graph, ids[i]);
  }
  assert_string_equal (text->str, expected);
}

/* --- members --- */

/* Accelerators and NICs of two parts of their kinds each: so many as the cluster has, the first accelerators, and the
 * NICs that are nearest to them. What is alone in its node has no number. */
static void
the_first_members_of_a_kind_are_kept (G_GNUC_UNUSED void **state)
{
  static const char parts[] = "{name: a, kind: accelerator, count: 2}, {name: x, kind: nic, count: 2},"
                              " {name: b, kind: accelerator, count: 2}, {name: y, kind: nic, count: 2},"
                              " {name: sw, kind: switch}, {name: d, kind: storage, count: 2}";
  static const char wires[] =
      "{from: a, to: sw, link: wire}, {from: b, to: sw, link: wire}, {from: x, to: sw, link: wire},"
      " {from: y, to: sw, link: wire}, {from: d, to: sw, link: wire}";
  static const struct {
    const char *cluster, *gpus, *nics, *links;
  } rows[] = {
    { "", "0/a0 0/a1 0/b0 0/b1", "0/x0 0/x1 0/y0 0/y1",
      "0/a0-0/sw 0/a1-0/sw 0/x0-0/sw 0/x1-0/sw 0/b0-0/sw 0/b1-0/sw 0/y0-0/sw 0/y1-0/sw 0/sw-0/d0 0/sw-0/d1" },
    { ", gpus_per_node: 1, nics_per_node: 4", "0/a0", "0/x0 0/x1 0/y0 0/y1",
      "0/a0-0/sw 0/x0-0/sw 0/x1-0/sw 0/y0-0/sw 0/y1-0/sw 0/sw-0/d0 0/sw-0/d1" },
    { ", gpus_per_node: 3", "0/a0 0/a1 0/b0", "0/x0 0/x1 0/y0 0/y1",
      "0/a0-0/sw 0/a1-0/sw 0/x0-0/sw 0/x1-0/sw 0/b0-0/sw 0/y0-0/sw 0/y1-0/sw 0/sw-0/d0 0/sw-0/d1" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autoptr (Play) play = play_of ("    nic: port\n", parts, wires, rows[i].cluster, "");
    const FabCluster *cluster = &plant_of (play)->cluster;

    assert_links (play, "wire", rows[i].links);
    assert_names (cluster->graph, cluster->gpus, cluster->gpus_per_node, rows[i].gpus);
    assert_names (cluster->graph, cluster->nics, cluster->nics_per_node, rows[i].nics);
    assert_names (cluster->graph, cluster->drives, cluster->drives_per_node, "0/d0 0/d1");
  }
}

/* Members are listed node by node, part by part. Without an entry for their links there are no NICs. */
static void
members_are_listed_node_by_node (G_GNUC_UNUSED void **state)
{
  static const char parts[] =
      "{name: a, kind: accelerator, count: 2}, {name: x, kind: nic}, {name: y, kind: nic}";
  static const char wires[] = "{from: a0, to: a1, link: lace, count: 3}, {from: a0, to: x, link: wire}, "
                              "{from: y, to: a1, link: wire}";
  g_autoptr (Play) play = play_of ("    nic: port\n", parts, wires, ", nodes: 2, fabric: switch", ""),
                   alone = play_of ("", parts, wires, "", ""),
                   given = play_of ("", parts, wires, ", nic: port", "");
  const FabCluster *cluster = &plant_of (play)->cluster;

  assert_links (play, "lace", "0/a0-0/a1*3 1/a0-1/a1*3");
  assert_links (play, "wire", "0/a0-0/x 0/a1-0/y 1/a0-1/x 1/a1-1/y");
  assert_links (play, "port", "0/x-switch 0/y-switch 1/x-switch 1/y-switch");
  assert_names (cluster->graph, cluster->gpus, 4, "0/a0 0/a1 1/a0 1/a1");
  assert_names (cluster->graph, cluster->nics, 4, "0/x 0/y 1/x 1/y");
  assert_int_equal (cluster->n_nodes, 2);
  assert_int_equal (plant_of (alone)->cluster.nics_per_node, 0);
  assert_links (alone, NULL, "0/a0-0/a1*3");
  assert_int_equal (plant_of (given)->cluster.nics_per_node, 2);
}

/* Two nodes share the switches of a domain, which are numbered over all domains; these count as nodes, with the members
 * of both. A domain that is not full has its switches all the same. */
static void
nodes_share_the_switches_of_their_domain (G_GNUC_UNUSED void **state)
{
  static const char parts[] = "{name: a, kind: accelerator}, {name: in, kind: switch, count: 2, shared: 2},"
                              " {name: out, kind: switch, shared: 2}, {name: x, kind: nic}";
  static const char wires[] = "{from: a, to: in, link: lace, map: all}, {from: in, to: out, link: lace},"
                              " {from: a, to: x, link: wire}";
  g_autoptr (Play) play = play_of ("    nic: port\n", parts, wires, ", nodes: 4, fabric: switch", "");
  const FabCluster *cluster = &plant_of (play)->cluster;

  assert_links (
      play, "lace",
      "0/a-in0 0/a-in1 in0-out0 in0-1/a in1-out0 in1-1/a 2/a-in2 2/a-in3 in2-out1 in2-3/a in3-out1 in3-3/a");
  assert_int_equal (cluster->n_nodes, 2);
  assert_int_equal (cluster->gpus_per_node, 2);
  assert_int_equal (cluster->nics_per_node, 2);
  assert_int_equal (cluster->gpus_per_board, 1);
  assert_int_equal (cluster->nics_per_board, 1);
  assert_names (cluster->graph, cluster->gpus, 4, "0/a 1/a 2/a 3/a");
}

/* Ports that are NICs of their own share the bus of their card, and stand beside each other. */
static void
separate_ports_share_the_bus_of_their_card (G_GNUC_UNUSED void **state)
{
  static const char parts[] = "{name: a, kind: accelerator}, {name: x, kind: nic}, {name: h, kind: host}";
  static const char wires[] =
      "{from: a, to: h, link: wire}, {from: x, to: h, link: wire}, {from: h, to: x, link: wire}";
  static const struct {
    const char *ports, *wires, *port;
    guint n_nics, nic_ports;
    FabBytesPerS bus;
    gboolean is_plain; /* the router is that of the scenario itself */
  } rows[] = {
    { "", "0/a-0/h 0/x-0/h 0/x-0/h 1/a-1/h 1/x-1/h 1/x-1/h", "0/x-leaf0 1/x-leaf0", 1, 1, 1000000000, TRUE },
    { ", nic_ports: 2", "0/a-0/h 0/x-0/h 0/x-0/h 1/a-1/h 1/x-1/h 1/x-1/h",
      "0/x-leaf0 0/x-leaf1 1/x-leaf0 1/x-leaf1", 1, 2, 1000000000, FALSE },
    { ", nic_ports: 2, port_use: separate",
      "0/a-0/h 0/x0-0/h 0/x0-0/h 0/x1-0/h 0/x1-0/h 1/a-1/h 1/x0-1/h 1/x0-1/h 1/x1-1/h 1/x1-1/h",
      "0/x0-leaf0 0/x1-leaf1 1/x0-leaf0 1/x1-leaf1", 2, 1, 500000000, TRUE },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autofree char *cluster = g_strconcat (
        ", nodes: 2, route: shortest, fabric: {kind: leaf_spine, nodes_per_leaf: 2, planes: 2}",
        rows[i].ports, NULL);
    g_autoptr (Play) play = play_of ("    nic: port\n", parts, wires, cluster, "");
    const FabPlant *plant = plant_of (play);

    assert_links (play, "wire", rows[i].wires);
    assert_links (play, "port", rows[i].port);
    assert_int_equal (plant->cluster.nics_per_node, rows[i].n_nics);
    assert_int_equal (plant->cluster.nic_ports, rows[i].nic_ports);
    assert_int_equal (plant->router->ops == &fab_route_shortest, rows[i].is_plain);
    for (FabLinkId id = 0; id < fab_graph_n_links (plant->graph); id++) {
      const FabLink *link = fab_graph_link (plant->graph, id);
      gboolean is_bus = fab_graph_vertex (plant->graph, link->src)->kind == FAB_VERTEX_NIC
                     || fab_graph_vertex (plant->graph, link->dst)->kind == FAB_VERTEX_NIC;

      if (strcmp (fab_graph_link_class (plant->graph, id)->name, "wire") == 0)
        assert_int_equal (link->rate_bytes_per_s, is_bus ? rows[i].bus : 1000000000);
    }
  }
}

/* --- places and rails --- */

/* Four places on two leaves: two nodes side by side, one on each leaf, or on every second place. */
static void
nodes_are_at_their_places (G_GNUC_UNUSED void **state)
{
  static const char parts[] = "{name: a, kind: accelerator}, {name: x, kind: nic}";
  static const struct {
    const char *cluster, *port;
  } rows[] = {
    { ", placement: packed", "0/x-leaf0 1/x-leaf0" },
    { ", places: 4, placement: packed",
      "0/x-leaf0 1/x-leaf0 leaf0-spine0 leaf0-spine0 leaf1-spine0 leaf1-spine0" },
    { ", places: 4, placement: spread",
      "0/x-leaf0 1/x-leaf1 leaf0-spine0 leaf0-spine0 leaf1-spine0 leaf1-spine0" },
    { ", places: 5, placement: strided, place_stride: 4",
      "0/x-leaf0 1/x-leaf2 leaf0-spine0 leaf0-spine0 leaf1-spine0 leaf1-spine0 leaf2-spine0 leaf2-spine0" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autofree char *cluster = g_strconcat (
        ", nodes: 2, fabric: {kind: leaf_spine, nodes_per_leaf: 2, spines: 1}", rows[i].cluster, NULL);
    g_autoptr (Play) play = play_of ("    nic: port\n", parts, "{from: a, to: x, link: wire}", cluster, "");

    assert_links (play, "port", rows[i].port);
  }
}

/* A node of two boards with two NICs each: the NICs of one place of their boards are on one rail. Of a subset, rails
 * of which no NIC is left are not counted, and the others are numbered without them. */
static void
nics_of_boards_share_rails (G_GNUC_UNUSED void **state)
{
  static const char parts[] = "{name: a, kind: accelerator, count: 4}, {name: x, kind: nic, count: 4}";
  static const char in_turn[] = "{from: a, to: a, link: lace, map: all}, {from: a, to: x, link: wire}",
                    second_first[] = "{from: a, to: a, link: lace, map: all}, {from: a0, to: x1, link: wire},"
                                     " {from: a1, to: x3, link: wire}, {from: a2, to: x0, link: wire},"
                                     " {from: a3, to: x2, link: wire}";
  static const struct {
    const char *rails, *wires, *cluster, *port;
    guint per_board; /* GPUs, and NICs */
  } rows[] = {
    { "", in_turn, "",
      "0/x0-leaf0 0/x1-leaf1 0/x2-leaf2 0/x3-leaf3 1/x0-leaf0 1/x1-leaf1 1/x2-leaf2 1/x3-leaf3", 0 },
    { "    rails: 2\n", in_turn, "",
      "0/x0-leaf0 0/x1-leaf2 0/x2-leaf0 0/x3-leaf2 1/x0-leaf1 1/x1-leaf3 1/x2-leaf1 1/x3-leaf3 "
      "leaf0-spine0 leaf0-spine1 leaf1-spine0 leaf1-spine1 leaf2-spine2 leaf2-spine3 leaf3-spine2 leaf3-spine3",
      2 },
    { "    rails: 2\n", in_turn, ", gpus_per_node: 1, nics_per_node: 1", "0/x0-leaf0 1/x0-leaf0", 0 },
    { "    rails: 2\n", in_turn, ", gpus_per_node: 2, nics_per_node: 2",
      "0/x0-leaf0 0/x1-leaf1 1/x0-leaf0 1/x1-leaf1", 0 },
    { "    rails: 2\n", second_first, ", gpus_per_node: 2, nics_per_node: 2",
      "0/x0-leaf0 0/x1-leaf0 1/x0-leaf1 1/x1-leaf1 leaf0-spine0 leaf0-spine1 leaf1-spine0 leaf1-spine1", 0 },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autofree char *head = g_strconcat ("    nic: port\n", rows[i].rails, NULL),
                    *cluster = g_strconcat (", nodes: 2, fabric: {kind: rail_only, nodes_per_leaf: 2}",
                                            rows[i].cluster, NULL);
    g_autoptr (Play) play = play_of (head, parts, rows[i].wires, cluster, "");

    assert_links (play, "port", rows[i].port);
    assert_int_equal (plant_of (play)->cluster.gpus_per_board, rows[i].per_board);
    assert_int_equal (plant_of (play)->cluster.nics_per_board, rows[i].per_board);
  }
}

/* Leaves of a rail fabric have the NICs of one rail of two boards: of one node, or of two nodes of one board each. */
static void
boards_are_counted_by_rail_fabrics (G_GNUC_UNUSED void **state)
{
  static const struct {
    const char *rails, *port;
  } rows[] = {
    { "", "0/x0-leaf0 0/x1-leaf1 0/x2-leaf2 0/x3-leaf3 1/x0-leaf0 1/x1-leaf1 1/x2-leaf2 1/x3-leaf3" },
    { "    rails: 2\n",
      "0/x0-leaf0 0/x1-leaf1 0/x2-leaf0 0/x3-leaf1 1/x0-leaf2 1/x1-leaf3 1/x2-leaf2 1/x3-leaf3" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autofree char *head = g_strconcat ("    nic: port\n", rows[i].rails, NULL);
    g_autoptr (Play) play = play_of (head,
                                     "{name: a, kind: accelerator, count: 4}, {name: x, kind: nic, count: 4}",
                                     "{from: a, to: a, link: lace, map: all}, {from: a, to: x, link: wire}",
                                     ", nodes: 2, fabric: {kind: rail, nodes_per_leaf: 2}", "");
    g_autofree char *text = links_text (plant_of (play)->graph, "port");

    if (!g_str_has_prefix (text, rows[i].port) || strstr (text, "leaf4") != NULL)
      fail_msg ("%s", text);
  }
}

/* --- rates and what-ifs --- */

static const char pair_parts[] = "{name: a, kind: accelerator, count: 2}, {name: x, kind: nic}";
static const char pair_wires[] = "{from: a0, to: a1, link: lace}, {from: a, to: x, link: wire, map: all}";

/* The link class of an entry, and the first of its links. */
static const FabLinkClass *
class_of (const FabGraph *graph, const char *name, const FabLink **link)
{
  for (FabLinkId id = 0; id < fab_graph_n_links (graph); id++)
    if (strcmp (fab_graph_link_class (graph, id)->name, name) == 0) {
      *link = fab_graph_link (graph, id);
      return fab_graph_link_class (graph, id);
    }
  g_assert_not_reached ();
}

/* A port at another rate than its entry has says so, but not where people round: 32.02 of 32 Gb/s is within a
 * thousandth. Messages were measured at the rate of the entry. */
static void
ports_have_the_rate_that_they_are_given (G_GNUC_UNUSED void **state)
{
  static const struct {
    const char *cluster;
    FabBytesPerS rate, set;
    double change;
  } rows[] = {
    { "", 4000000000, 0, 0 },
    { ", nic_rate: 32.02Gb/s", 4002500000, 0, 0.000625 },
    { ", nic_rate: 32.04Gb/s", 4005000000, 4005000000, 0.00125 },
    { ", nic_rate: 16Gb/s", 2000000000, 2000000000, -0.5 },
    { ", nic_rate: 8b/s", 1, 1, 0.25e-9 - 1 },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autofree char *cluster = g_strconcat (", nodes: 2, fabric: switch", rows[i].cluster, NULL);
    g_autoptr (Play) play = play_of ("    nic: port\n", pair_parts, pair_wires, cluster, "");
    const FabLink *link;
    const FabLinkClass *port = class_of (plant_of (play)->graph, "port", &link);

    assert_int_equal (link->rate_bytes_per_s, rows[i].rate);
    assert_int_equal (port->set_bytes_per_s, rows[i].set);
    assert_near (1 + port->messages.rate_change, 1 + rows[i].change, 1e-12);
    port = class_of (plant_of (play)->graph, "lace", &link);
    assert_int_equal (link->rate_bytes_per_s, 2000000000);
    assert_int_equal (port->set_bytes_per_s, 0);
  }
}

/* Links of the entries that a question names, or all, have twice the rate, latencies a half longer and adapters a
 * fourth; ports at half the rate of their entry are then at all of it. */
static void
a_what_if_changes_the_links_that_it_names (G_GNUC_UNUSED void **state)
{
  static const struct {
    const char *first, *second;
    gboolean is_every, keeps_messages;
    gboolean changes[3]; /* wire, lace, port */
  } rows[] = {
    { NULL, NULL, FALSE, FALSE, { FALSE, FALSE, FALSE } },
    { "wire", NULL, FALSE, FALSE, { TRUE, FALSE, FALSE } },
    { "port", "lace", FALSE, FALSE, { FALSE, TRUE, TRUE } },
    { NULL, NULL, TRUE, TRUE, { TRUE, TRUE, TRUE } },
    { NULL, NULL, TRUE, FALSE, { TRUE, TRUE, TRUE } },
  };
  static const char *const names[] = { "wire", "lace", "port" };
  static const FabBytesPerS rates[] = { 1000000000, 2000000000, 2000000000 };
  static const FabTimePs latencies[] = { 1000000, 2000000, 4000000 };
  g_autoptr (Play) play = play_of ("    nic: port\n", pair_parts, pair_wires,
                                   ", nodes: 2, fabric: switch, nic_rate: 16Gb/s", "");

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    const FabWhatIf what_if = { .link_class = rows[i].first,
                                .second_class = rows[i].second,
                                .is_every_link = rows[i].is_every,
                                .keeps_messages = rows[i].keeps_messages,
                                .rate_factor = 2,
                                .latency_change = 0.5,
                                .endpoint_change = 0.25,
                                .messages_change = 0.125 };
    g_autoptr (FabPlant) plant = fab_plant_new (play->scenario, &what_if, NULL);

    for (guint k = 0; k < 3; k++) {
      const FabLink *link;
      const FabLinkClass *link_class = class_of (plant->graph, names[k], &link);
      gboolean changes = rows[i].changes[k];
      double rate_change = k == 2 ? 0.5 : 1; /* of the entry */

      assert_int_equal (link->rate_bytes_per_s, (changes ? 2 : 1) * rates[k]);
      assert_int_equal (2 * link->latency_ps, (changes ? 3 : 2) * latencies[k]);
      assert_int_equal (link_class->endpoint_ps, k < 2 ? 0 : changes ? 10000000 : 8000000);
      assert_near (link_class->messages.factor, changes ? 1.125 : 1, 1e-12);
      assert_near (1 + link_class->messages.rate_change,
                   rate_change * (changes && !rows[i].keeps_messages ? 2 : 1), 1e-12);
    }
  }
}

/* Rates are rounded to bytes, and times to ps: two thirds of 1 GB/s are 666 666 666.7 B/s, and 1 us and 0.6 ppm more is
 * 1 000 000.6 ps. */
static void
what_a_what_if_changes_is_rounded (G_GNUC_UNUSED void **state)
{
  static const struct {
    double rate_factor, latency_change;
    FabBytesPerS rate;
    FabTimePs latency_ps;
  } rows[] = { { 2.0 / 3, 6e-7, 666666667, 1000001 }, { 1.0 / 3, 4e-7, 333333333, 1000000 } };
  g_autoptr (Play) play = play_of ("", pair_parts, "{from: a0, to: a1, link: wire}", "", "");

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    const FabWhatIf what_if = { .is_every_link = TRUE,
                                .rate_factor = rows[i].rate_factor,
                                .latency_change = rows[i].latency_change };
    g_autoptr (FabPlant) plant = fab_plant_new (play->scenario, &what_if, NULL);

    assert_int_equal (fab_graph_link (plant->graph, 0)->rate_bytes_per_s, rows[i].rate);
    assert_int_equal (fab_graph_link (plant->graph, 0)->latency_ps, rows[i].latency_ps);
  }
}

/* A question may leave faults out, and change the rate of the memory. */
static void
a_what_if_changes_faults_and_memory (G_GNUC_UNUSED void **state)
{
  g_autoptr (Play) play = play_of ("    nic: port\n", pair_parts, pair_wires, ", nodes: 2, fabric: switch",
                                   "faults: [{what: rail, rail: 0, rate: 50%}]\n");
  const FabWhatIf rows[] = {
    { .rate_factor = 1 }, { .is_intact = TRUE }, { .memory_factor = 2 }, { .memory_factor = 0.5 }
  };
  FabBytesPerS usual = plant_of (play)->cluster.device.memory_bytes_per_s;

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autoptr (FabPlant) plant = fab_plant_new (play->scenario, &rows[i], NULL);
    const FabLink *link;

    class_of (plant->graph, "port", &link);
    assert_int_equal (link->rate_bytes_per_s, i == 1 ? 4000000000 : 2000000000);
    assert_int_equal (plant->cluster.device.memory_bytes_per_s, i == 2   ? 2 * usual
                                                                : i == 3 ? usual / 2
                                                                         : usual);
  }
}

/* --- what a cluster says --- */

static void
a_cluster_has_what_its_entries_say (G_GNUC_UNUSED void **state)
{
  static const struct {
    const char *head, *cluster;
    FabReach p2p, gdr, pair_p2p;
    gboolean has_relays, has_gds;
  } rows[] = {
    { "    cpu: slow\n    p2p: pxb\n    gdr: pix\n", "", FAB_REACH_PXB, FAB_REACH_PIX, FAB_REACH_PHB, TRUE,
      FALSE },
    { "    cpu: slow\n    p2p: phb\n    gdr: pix\n", ", pxn: false, gds: true", FAB_REACH_PHB, FAB_REACH_PIX,
      FAB_REACH_NONE, FALSE, TRUE },
    { "    cpu: slow\n    p2p: pxb\n    gdr: pix\n", ", p2p: nvl, gdr: sys", FAB_REACH_NVL, FAB_REACH_SYS,
      FAB_REACH_NONE, TRUE, FALSE },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autoptr (Play) play = play_of (rows[i].head, pair_parts, pair_wires, rows[i].cluster,
                                     "processors: [{name: slow, pair_p2p: phb}]\n");
    const FabCluster *cluster = &plant_of (play)->cluster;

    assert_int_equal (cluster->p2p, rows[i].p2p);
    assert_int_equal (cluster->gdr, rows[i].gdr);
    assert_int_equal (cluster->pair_p2p, rows[i].pair_p2p);
    assert_int_equal (cluster->has_relays, rows[i].has_relays);
    assert_int_equal (cluster->has_gds, rows[i].has_gds);
    assert_string_equal (cluster->node_name, "mine");
    assert_string_equal (cluster->architecture, "ampere");
    assert_string_equal (cluster->generation->name, "ampere");
    assert_string_equal (cluster->processor->name, "slow");
  }
}

/* A format has the rate of its unit, and BF16 that of FP16. A power cap is a share of the board's power. */
static void
a_device_has_the_rates_of_its_accelerator (G_GNUC_UNUSED void **state)
{
  g_autoptr (Play) usual = play_cluster (catalog, "node: hgx-b200", ""),
                   capped = play_cluster (catalog, "node: hgx-b200, power_cap: 80%", "");
  const FabAcceleratorSpec *spec = fab_catalog_accelerator (catalog, "b200-sxm");
  const FabDevice *device = &plant_of (usual)->cluster.device;
  const double rates[FAB_N_PRECISIONS] = {
    [FAB_PRECISION_BF16] = spec->peak_fp16_flops_per_s, [FAB_PRECISION_FP16] = spec->peak_fp16_flops_per_s,
    [FAB_PRECISION_FP32] = spec->peak_fp32_flops_per_s, [FAB_PRECISION_TF32] = spec->peak_tf32_flops_per_s,
    [FAB_PRECISION_FP8] = spec->peak_fp8_flops_per_s,   [FAB_PRECISION_NVFP4] = spec->peak_fp4_flops_per_s,
  };

  assert_true (spec->peak_fp32_flops_per_s < spec->peak_fp16_flops_per_s);
  for (FabPrecision precision = 0; precision < FAB_N_PRECISIONS; precision++)
    assert_near (device->peak_flops_per_s[precision], rates[precision], 0);
  assert_near (device->matmul_fraction, spec->matmul_fraction, 0);
  assert_int_equal (device->n_sms, spec->n_sms);
  assert_int_equal (device->memory_bytes, spec->memory_bytes);
  assert_int_equal (device->memory_bytes_per_s, spec->memory_bytes_per_s);
  assert_near (fab_device_slowdown (device), 1, 0);
  device = &plant_of (capped)->cluster.device;
  assert_near (device->cap_fraction, 0.8, 1e-12);
  assert_true (fab_device_slowdown (device) > 1);
  assert_near (device->cap_band.high_factor, fab_clock_band (&spec->clock, 0.8).high_factor, 1e-12);
}

/* Another seed places nodes, draws bursts and picks paths anew; of one node there is nothing to place. */
static void
a_seed_counts_where_something_is_drawn (G_GNUC_UNUSED void **state)
{
  static const struct {
    const char *cluster, *more;
    gboolean uses_seed;
  } rows[] = {
    { ", nodes: 2, fabric: switch", "", FALSE },
    { ", nodes: 2, fabric: switch, placement: random", "", TRUE },
    { ", nodes: 1, placement: random", "", FALSE },
    { ", nodes: 2, fabric: switch", "background: [{kind: bursts, load: 10%, links: all}]\n", TRUE },
    { ", nodes: 2, fabric: switch", "background: [{load: 10%, links: all}]\n", FALSE },
    { ", nodes: 2, fabric: switch", "faults: [{what: rail, rail: 0, rate: 50%, at: 1ms}]\n", FALSE },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autoptr (Play) play = play_of ("    nic: port\n", pair_parts, pair_wires, rows[i].cluster,
                                     rows[i].more);

    assert_int_equal (plant_of (play)->uses_seed, rows[i].uses_seed);
  }
}

static void
symmetry_can_be_forbidden (G_GNUC_UNUSED void **state)
{
  g_autoptr (Play) folded = play_of ("", pair_parts, pair_wires, "", ""),
                   unfolded = play_of ("", pair_parts, pair_wires, "", "fold: false\n");

  assert_false (fab_graph_is_unfolded (plant_of (folded)->graph));
  assert_true (fab_graph_is_unfolded (plant_of (unfolded)->graph));
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (the_first_members_of_a_kind_are_kept),
    cmocka_unit_test (members_are_listed_node_by_node),
    cmocka_unit_test (nodes_share_the_switches_of_their_domain),
    cmocka_unit_test (separate_ports_share_the_bus_of_their_card),
    cmocka_unit_test (nodes_are_at_their_places),
    cmocka_unit_test (nics_of_boards_share_rails),
    cmocka_unit_test (boards_are_counted_by_rail_fabrics),
    cmocka_unit_test (ports_have_the_rate_that_they_are_given),
    cmocka_unit_test (a_what_if_changes_the_links_that_it_names),
    cmocka_unit_test (what_a_what_if_changes_is_rounded),
    cmocka_unit_test (a_what_if_changes_faults_and_memory),
    cmocka_unit_test (a_device_has_the_rates_of_its_accelerator),
    cmocka_unit_test (a_cluster_has_what_its_entries_say),
    cmocka_unit_test (a_seed_counts_where_something_is_drawn),
    cmocka_unit_test (symmetry_can_be_forbidden),
  };

  return play_run_tests ("built_machines", tests, &catalog);
}
