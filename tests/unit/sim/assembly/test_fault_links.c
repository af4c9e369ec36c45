/* SPDX-License-Identifier: Apache-2.0 */
/* test_fault_links.c - which links of a machine a fault, other traffic or a circuit changes: from the start, in the
 * graph, and while the job runs, in the plan of what disturbs it.
 *
 * A small node has one GPU with one or two NICs on a PCIe switch. Links are named by their ends, "a>b". */
#include "tests/support/test.h"

#include "sim/base/mix.h"
#include "sim/fabric/port_router.h"
#include "tests/support/play.h"

static FabCatalog *catalog;

static const char own[] =
    "links:\n"
    "  - {name: wire, technology: PCIe, lanes: 1, signalling: 8Gb/s, latency: 1us}\n"
    "  - {name: port, technology: InfiniBand, lanes: 1, signalling: 8Gb/s, latency: 2us}\n"
    "nodes:\n"
    "  - name: small\n"
    "    accelerator: a100-sxm4-80gb\n"
    "    nic: port\n"
    "    parts: [{name: gpu, kind: accelerator}, {name: plx, kind: switch}, {name: nic, kind: nic, count: 2}]\n"
    "    wires: &wires [{from: gpu, to: plx, link: wire}, {from: nic, to: plx, link: wire}]\n"
    "  - name: boards\n"
    "    accelerator: a100-sxm4-80gb\n"
    "    nic: port\n"
    "    rails: 1\n"
    "    parts: [{name: gpu, kind: accelerator}, {name: plx, kind: switch}, {name: nic, kind: nic, count: 2}]\n"
    "    wires: *wires\n";

/* Two nodes of one NIC, each on a leaf, and two spines; the same with one switch; two NICs each on one switch; two
 * ports of each NIC in two planes, used together or apart; and two switches with two links between them. */
#define LEAVES                                                                                             \
  "{node: small, nodes: 2, nics_per_node: 1, fabric: {kind: custom, switches: [{name: leaf, count: 2}, "   \
  "{name: spine, count: 2}], links: [{from: leaf0, to: spine0}, {from: leaf0, to: spine1}, {from: leaf1, " \
  "to: spine0}, {from: leaf1, to: spine1}], attach: [{to: leaf}]}}"
#define SWITCH "{node: small, nodes: 2, nics_per_node: 1, fabric: switch}"
#define TWO_NICS "{node: small, nodes: 2, fabric: switch}"
#define PLANES "fabric: {kind: leaf_spine, nodes_per_leaf: 2, planes: 2}"
#define MERGED "{node: small, nodes: 2, nics_per_node: 1, nic_ports: 2, " PLANES "}"
#define APART "{node: small, nodes: 2, nics_per_node: 1, nic_ports: 2, port_use: separate, " PLANES "}"
#define TORS                                                                                             \
  "{node: small, nodes: 2, nics_per_node: 1, fabric: {kind: custom, switches: [{name: tor, count: 2}], " \
  "links: [{from: tor0, to: tor1}, {from: tor0, to: tor1}], attach: [{to: tor}]}}"

static Play *
play_of (const char *cluster, const char *more)
{
  g_autofree char *yaml = g_strdup_printf (
      "name: t\nseed: 5\ncollectives: plain\ncluster: %s\n"
      "job: {kind: collective, operations: [{op: all_reduce, size: 1MB}]}\n%s%s",
      cluster, own, more);

  return play_new (catalog, yaml, NULL);
}

/* Without "node" in front of numbers: "0/nic0>leaf1". */
static void
append_link (GString *text, const FabGraph *graph, FabLinkId id)
{
  const FabLink *link = fab_graph_link (graph, id);
  g_autofree char *src = fab_graph_vertex_name (graph, link->src),
                  *dst = fab_graph_vertex_name (graph, link->dst);
  gsize before = text->len;

  g_string_append_printf (text, "%s%s>%s", before > 0 ? " " : "", src, dst);
  g_string_replace (text, "node", "", 0);
}

/* --- from the start --- */

/* The links that are not as they are without faults: the percentage of their rate that is left, and what is added to
 * the latency in ns. */
static char *
changed_links (const FabGraph *before, const FabGraph *graph)
{
  GString *text = g_string_new (NULL);

  assert_int_equal (fab_graph_n_links (before), fab_graph_n_links (graph));
  for (FabLinkId id = 0; id < fab_graph_n_links (graph); id++) {
    const FabLink *link = fab_graph_link (graph, id), *usual = fab_graph_link (before, id);
    FabTimePs added_ps = link->latency_ps - usual->latency_ps;

    if (link->rate_bytes_per_s == usual->rate_bytes_per_s && added_ps == 0)
      continue;
    append_link (text, graph, id);
    g_string_append_printf (text, "=%u", (guint) (100 * link->rate_bytes_per_s / usual->rate_bytes_per_s));
    if (added_ps != 0)
      g_string_append_printf (text, "+%d", (int) added_ps / 1000);
  }
  return g_string_free (text, FALSE);
}

/* The number of links that leave the parts of a name, such as "nic". */
static guint
links_of (const FabGraph *graph, const char *part)
{
  guint n = 0;

  for (FabLinkId id = 0; id < fab_graph_n_links (graph); id++)
    n += strcmp (fab_graph_vertex_part (graph, fab_graph_link (graph, id)->src), part) == 0;
  return n;
}

/* Slow NICs and rails have slow ports, and wires as before; a slow switch has slow links. Each link is changed once by
 * a fault, in both directions, and again by the next one. */
static void
faults_from_the_start_change_the_graph (G_GNUC_UNUSED void **state)
{
  static const struct {
    const char *cluster, *more, *links;
  } rows[] = {
    { TWO_NICS, "faults: [{what: nic, name: node1/nic0, rate: 50%}]\n", "1/nic0>switch=50 switch>1/nic0=50" },
    { TWO_NICS, "faults: [{what: rail, rail: 1, rate: 50%}]\n",
      "0/nic1>switch=50 1/nic1>switch=50 switch>0/nic1=50 switch>1/nic1=50" },
    { "{node: boards, nodes: 2, fabric: switch}", "faults: [{what: rail, rail: 0, rate: 50%}]\n",
      "0/nic0>switch=50 0/nic1>switch=50 1/nic0>switch=50 1/nic1>switch=50 "
      "switch>0/nic0=50 switch>0/nic1=50 switch>1/nic0=50 switch>1/nic1=50" },
    { TWO_NICS, "faults: [{what: link, from: node0/plx, to: node0/nic1, rate: 25%, latency: 7ns}]\n",
      "0/plx>0/nic1=25+7 0/nic1>0/plx=25+7" },
    { TWO_NICS,
      "faults: [{what: nic, name: node1/nic0, rate: 50%}, {what: link, from: switch, to: node1/nic0, rate: 50%,"
      " latency: 3ns}, {what: nic, name: node1/nic0, latency: 4ns}]\n",
      "1/nic0>switch=25+7 switch>1/nic0=25+7" },
    { LEAVES, "faults: [{what: switch, name: spine1, rate: 30%}]\n",
      "leaf0>spine1=30 leaf1>spine1=30 spine1>leaf0=30 spine1>leaf1=30" },
    { SWITCH, "faults: [{what: switch, name: node0/plx, latency: 9ns}]\n",
      "0/gpu>0/plx=100+9 0/plx>0/gpu=100+9 0/plx>0/nic0=100+9 0/nic0>0/plx=100+9" },
    { TORS, "faults: [{what: link, from: tor1, to: tor0, rate: 50%}]\n",
      "tor0>tor1=50 tor0>tor1=50 tor1>tor0=50 tor1>tor0=50" },
    { MERGED, "faults: [{what: port, port: 1, rate: 50%}]\n",
      "0/nic0>leaf1=50 1/nic0>leaf1=50 leaf1>0/nic0=50 leaf1>1/nic0=50" },
    { MERGED, "faults: [{what: port, port: 0, name: node1/nic0, rate: 50%}]\n",
      "1/nic0>leaf0=50 leaf0>1/nic0=50" },
    { APART, "faults: [{what: port, port: 1, rate: 50%}]\n",
      "0/nic1>leaf1=50 1/nic1>leaf1=50 leaf1>0/nic1=50 leaf1>1/nic1=50" },
    { APART, "faults: [{what: port, port: 1, name: node1/nic0, rate: 50%}]\n",
      "1/nic1>leaf1=50 leaf1>1/nic1=50" },
    /* other traffic: uplinks alone unless it is said, all links of the network, or those of a name */
    { LEAVES, "background: [{load: 20%}]\n",
      "leaf0>spine0=80 leaf0>spine1=80 leaf1>spine0=80 leaf1>spine1=80 "
      "spine0>leaf0=80 spine0>leaf1=80 spine1>leaf0=80 spine1>leaf1=80" },
    { LEAVES, "background: [{load: 20%, links: uplinks}, {load: 50%, links: 'leaf0 -> spine*'}]\n",
      "leaf0>spine0=40 leaf0>spine1=40 leaf1>spine0=80 leaf1>spine1=80 "
      "spine0>leaf0=80 spine0>leaf1=80 spine1>leaf0=80 spine1>leaf1=80" },
    { SWITCH, "background: [{load: 20%, links: all}]\n",
      "0/nic0>switch=80 1/nic0>switch=80 switch>0/nic0=80 switch>1/nic0=80" },
    { SWITCH, "background: [{load: 20%, links: node1/nic0}]\n",
      "1/plx>1/nic0=80 1/nic0>1/plx=80 1/nic0>switch=80 switch>1/nic0=80" },
    { SWITCH, "background: [{load: 20%, links: node0/gpu -> *}]\n", "0/gpu>0/plx=80" },
    /* what begins or ends during the run does not change the graph */
    { SWITCH, "faults: [{what: rail, rail: 0, rate: 50%, at: 1ms}]\n", "" },
    { SWITCH, "faults: [{what: rail, rail: 0, rate: 50%, until: 1ms}]\n", "" },
    { SWITCH, "background: [{kind: bursts, load: 20%, links: all}]\n", "" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autoptr (Play) play = play_of (rows[i].cluster, rows[i].more);
    g_autoptr (Play) usual = play_of (rows[i].cluster, "");
    g_autofree char *links = changed_links (fab_simulation_plant (usual->simulation)->graph,
                                            fab_simulation_plant (play->simulation)->graph);

    assert_string_equal (links, rows[i].links);
  }
}

/* Dead NICs and rails lose all their links, dead ports their own. */
static void
what_is_dead_from_the_start_is_gone (G_GNUC_UNUSED void **state)
{
  static const struct {
    const char *cluster, *more, *part;
    guint n;
  } rows[] = {
    { TWO_NICS, "faults: [{what: nic, name: node1/nic0, latency: 1ns}]\n", "nic", 8 },
    { TWO_NICS, "faults: [{what: nic, name: node1/nic0, dead: true}]\n", "nic", 6 },
    { TWO_NICS, "faults: [{what: nic, name: node1/nic0, dead: true}]\n", "switch", 3 },
    { TWO_NICS, "faults: [{what: nic, name: node1/nic0, dead: true}]\n", "plx", 5 },
    { TWO_NICS, "faults: [{what: rail, rail: 1, dead: true}]\n", "nic", 4 },
    { TWO_NICS, "faults: [{what: rail, rail: 1, dead: true}]\n", "plx", 4 },
    { LEAVES, "faults: [{what: switch, name: spine0, dead: true}]\n", "spine", 2 },
    { MERGED, "faults: [{what: port, port: 1, dead: true}]\n", "nic", 4 },
    { MERGED, "faults: [{what: port, port: 0, name: node1/nic0, dead: true}]\n", "nic", 5 },
    { APART, "faults: [{what: port, port: 0, dead: true}]\n", "nic", 6 },
    { APART, "faults: [{what: port, port: 1, dead: true}]\n", "leaf", 2 },
    { MERGED, "faults: [{what: port, port: 1, dead: true, at: 1ms}]\n", "nic", 6 },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autoptr (Play) play = play_of (rows[i].cluster, rows[i].more);

    if (links_of (fab_simulation_plant (play->simulation)->graph, rows[i].part) != rows[i].n)
      fail_msg ("row %u: %u", i, links_of (fab_simulation_plant (play->simulation)->graph, rows[i].part));
  }
}

/* Every GPU has to be joined to the first one, whichever has lost its wires. */
static void
a_gpu_without_wires_is_named (G_GNUC_UNUSED void **state)
{
  static const char
      *const pairs = "nodes:\n"
                     "  - name: pair\n"
                     "    accelerator: a100-sxm4-80gb\n"
                     "    parts: [{name: gpu, kind: accelerator, count: 3}, {name: plx, kind: switch}]\n"
                     "    wires: [{from: gpu, to: plx, link: pcie4-x16}]\n";
  static const struct {
    const char *dead, *named;
  } rows[] = { { "gpu0", "gpu1" }, { "gpu1", "gpu1" }, { "gpu2", "gpu2" } };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autofree char
        *yaml = g_strdup_printf ("name: t\ncollectives: plain\ncluster: {node: pair}\n"
                                 "job: {kind: collective, operations: [{op: all_reduce, size: 1MB}]}\n%s"
                                 "faults: [{what: link, from: node0/plx, to: node0/%s, dead: true}]\n",
                                 pairs, rows[i].dead),
        *problem = play_problem (catalog, yaml),
        *expected = g_strdup_printf ("with these faults the machine is in parts: no wires lead to node0/%s",
                                     rows[i].named);

    assert_non_null (problem);
    if (strstr (problem, expected) == NULL)
      fail_msg ("%s", problem);
  }
}

/* --- while the job runs --- */

/* "0/nic0>switch:50@1-2": the percentage that is left, and from when to when, in ms. */
static char *
spells_text (const FabPlant *plant)
{
  GString *text = g_string_new (NULL);

  for (guint i = 0; i < plant->disturbances->spells->len; i++) {
    const FabSpell *spell = &g_array_index (plant->disturbances->spells, FabSpell, i);

    append_link (text, plant->graph, spell->link);
    g_string_append_printf (text, ":%u@%u-%u", (guint) (100 * spell->fraction + 0.5),
                            (guint) (spell->at_ps / 1000000000), (guint) (spell->until_ps / 1000000000));
  }
  return g_string_free (text, FALSE);
}

/* NICs and rails that die while the job runs lose their ports, and keep their wires. Of a leaf whose NICs have other
 * ports, the uplinks go on, and the other ports have the bytes; a leaf that is slow is slow on all of its links. */
static void
faults_during_the_run_become_spells (G_GNUC_UNUSED void **state)
{
  static const struct {
    const char *cluster, *more, *spells;
  } rows[] = {
    { TWO_NICS, "faults: [{what: nic, name: node1/nic0, dead: true, at: 1ms, until: 3ms}]\n",
      "1/nic0>switch:0@1-3 switch>1/nic0:0@1-3" },
    { TWO_NICS, "faults: [{what: rail, rail: 1, rate: 25%, until: 3ms}]\n",
      "0/nic1>switch:25@0-3 switch>0/nic1:25@0-3 1/nic1>switch:25@0-3 switch>1/nic1:25@0-3" },
    { TWO_NICS,
      "faults: [{what: rail, rail: 0, dead: true}, {what: nic, name: node1/nic1, rate: 50%, at: 2ms}]\n",
      "1/nic1>switch:50@2-0 switch>1/nic1:50@2-0" },
    { TORS, "faults: [{what: link, from: tor1, to: tor0, rate: 50%, at: 2ms}]\n",
      "tor1>tor0:50@2-0 tor0>tor1:50@2-0 tor1>tor0:50@2-0 tor0>tor1:50@2-0" },
    { LEAVES, "faults: [{what: switch, name: leaf0, dead: true, at: 1ms}]\n",
      "leaf0>spine0:0@1-0 spine0>leaf0:0@1-0 leaf0>spine1:0@1-0 spine1>leaf0:0@1-0 leaf0>0/nic0:0@1-0 "
      "0/nic0>leaf0:0@1-0" },
    { MERGED, "faults: [{what: switch, name: leaf0, dead: true, at: 1ms}]\n",
      "0/nic0>leaf0:50@1-0 leaf0>0/nic0:50@1-0 0/nic0>leaf1:50@1-0 leaf1>0/nic0:50@1-0 "
      "1/nic0>leaf0:50@1-0 leaf0>1/nic0:50@1-0 1/nic0>leaf1:50@1-0 leaf1>1/nic0:50@1-0" },
    { MERGED, "faults: [{what: port, port: 1, name: node0/nic0, rate: 20%, at: 1ms}]\n",
      "0/nic0>leaf1:20@1-0 leaf1>0/nic0:20@1-0" },
    { SWITCH,
      "circuits: [{links: 'node0/nic0 -> switch', until: 3ms}, {links: node1/nic0, at: 1ms,"
      " switching: 1ms}]\n",
      "0/nic0>switch:0@3-0 1/plx>1/nic0:0@0-2 1/nic0>1/plx:0@0-2 1/nic0>switch:0@0-2 switch>0/nic0:0@3-0 "
      "switch>1/nic0:0@0-2" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autoptr (Play) play = play_of (rows[i].cluster, rows[i].more);
    g_autofree char *spells = spells_text (fab_simulation_plant (play->simulation));

    assert_string_equal (spells, rows[i].spells);
  }
}

/* Ports keep their numbers where others of their NIC are dead from the start, and so gone from the graph: by a fault of
 * their own, of a link or of a switch. What is gone cannot change any more. */
static void
ports_keep_their_numbers (G_GNUC_UNUSED void **state)
{
  static const char *const gone[] = { "{what: port, port: 0, name: node1/nic0, dead: true}",
                                      "{what: link, from: leaf0, to: node1/nic0, dead: true}" };
  static const struct {
    const char *fault, *spells;
  } rows[] = {
    { "{what: port, port: 1, name: node1/nic0, rate: 20%, at: 1ms}",
      "1/nic0>leaf1:20@1-0 leaf1>1/nic0:20@1-0" },
    { "{what: port, port: 0, name: node1/nic0, rate: 20%, at: 1ms}", "" },
    { "{what: port, port: 0, rate: 20%, at: 1ms}", "0/nic0>leaf0:20@1-0 leaf0>0/nic0:20@1-0" },
    { "{what: port, port: 1, rate: 20%, at: 1ms}",
      "0/nic0>leaf1:20@1-0 leaf1>0/nic0:20@1-0 1/nic0>leaf1:20@1-0 leaf1>1/nic0:20@1-0" },
    { "{what: port, port: 1, name: node1/nic0, dead: true, at: 1ms}",
      "1/nic0>leaf1:0@1-0 leaf1>1/nic0:0@1-0" },
  };

  for (guint g = 0; g < G_N_ELEMENTS (gone); g++)
    for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
      g_autofree char *more = g_strdup_printf ("faults: [%s, %s]\n", gone[g], rows[i].fault);
      g_autoptr (Play) play = play_of (MERGED, more);
      g_autofree char *spells = spells_text (fab_simulation_plant (play->simulation));

      assert_string_equal (spells, rows[i].spells);
    }
}

/* Ports that are apart are NICs by name, and the first one is the name of the card. What is dead from the start has no
 * links that could change later, and no traffic. */
static void
faults_that_hit_nothing_are_refused (G_GNUC_UNUSED void **state)
{
  static const struct {
    const char *cluster, *more, *message;
  } rows[] = {
    { APART, "faults: [{what: port, port: 0, name: node1/nic1, rate: 50%}]\n",
      "node1/nic1 is port 1 of a NIC; name the NIC by its first port, node1/nic0" },
    { TWO_NICS,
      "faults: [{what: nic, name: node1/nic0, dead: true}, {what: link, from: node1/nic0, to: switch, rate: 50%,"
      " at: 1ms}]\n",
      "no link joins node1/nic0 and switch; from node1/nic0 links lead to nothing" },
    { TWO_NICS,
      "faults: [{what: rail, rail: 0, dead: true}]\nbackground: [{kind: bursts, load: 10%, links: node?/nic0}]\n",
      "no link of this machine is one of 'node?/nic0'" },
    { SWITCH, "background: [{load: 10%}]\n", "no link of this machine is one of 'uplinks'" },
    { SWITCH, "circuits: [{links: leaf*, until: 1ms}]\n", "no link of this machine is one of 'leaf*'" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autofree char *yaml = g_strdup_printf (
                        "name: t\ncollectives: plain\ncluster: %s\n"
                        "job: {kind: collective, operations: [{op: all_reduce, size: 1MB}]}\n%s%s",
                        rows[i].cluster, own, rows[i].more),
                    *problem = play_problem (catalog, yaml);

    assert_non_null (problem);
    if (strstr (problem, rows[i].message) == NULL)
      fail_msg ("%s", problem);
  }
}

/* A leaf of two planes with uplinks: they are not in the plan where the leaf is dead, and they are where it is slow. */
static void
uplinks_of_a_leaf_are_left_where_its_nics_have_other_ports (G_GNUC_UNUSED void **state)
{
  static const char *const faults[] = {
    "faults: [{what: switch, name: leaf0, dead: true, at: 1ms}]\n",
    "faults: [{what: switch, name: leaf0, rate: 50%, at: 1ms}]\n",
  };

  for (guint i = 0; i < G_N_ELEMENTS (faults); i++) {
    g_autoptr (Play) play = play_of (
        "{node: small, nodes: 2, nics_per_node: 1, nic_ports: 2, fabric: {kind: leaf_spine,"
        " nodes_per_leaf: 1, planes: 2, spines: 1}}",
        faults[i]);
    const FabPlant *plant = fab_simulation_plant (play->simulation);
    guint n_uplinks = 0;

    for (guint k = 0; k < plant->disturbances->spells->len; k++) {
      const FabLink *link = fab_graph_link (plant->graph,
                                            g_array_index (plant->disturbances->spells, FabSpell, k).link);

      n_uplinks += fab_graph_vertex (plant->graph, link->src)->node == FAB_NO_NODE
                && fab_graph_vertex (plant->graph, link->dst)->node == FAB_NO_NODE;
    }
    assert_int_equal (n_uplinks, i == 0 ? 0 : 2);
  }
}

/* Each link has bursts of its own; two loads of the same links differ as well. Loads of nothing have none. */
static void
bursts_are_planned_link_by_link (G_GNUC_UNUSED void **state)
{
  g_autoptr (Play) play = play_of (LEAVES,
                                   "background: [{kind: bursts, load: 0%}, {load: 10%},"
                                   " {kind: bursts, load: 20%, peak: 60%, burst: 3us},"
                                   " {kind: bursts, load: 5%, peak: 50%, burst: 4us, links: leaf0 -> *}]\n");
  const FabPlant *plant = fab_simulation_plant (play->simulation);
  const GArray *bursts = plant->disturbances->bursts;
  static const char *const names[] = { "leaf0>spine0", "leaf0>spine1", "leaf1>spine0", "leaf1>spine1",
                                       "spine0>leaf0", "spine0>leaf1", "spine1>leaf0", "spine1>leaf1",
                                       "leaf0>spine0", "leaf0>spine1", "leaf0>0/nic0" };

  assert_int_equal (bursts->len, G_N_ELEMENTS (names));
  for (guint i = 0; i < bursts->len; i++) {
    const FabBursts *one = &g_array_index (bursts, FabBursts, i);
    g_autoptr (GString) name = g_string_new (NULL);

    append_link (name, plant->graph, one->link);
    assert_string_equal (name->str, names[i]);
    assert_near (one->load_fraction, i < 8 ? 0.2 : 0.05, 1e-12);
    assert_near (one->peak_fraction, i < 8 ? 0.6 : 0.5, 1e-12);
    assert_int_equal (one->burst_ps, i < 8 ? 3000000 : 4000000);
    assert_int_equal (one->seed, fab_mix (fab_mix (5, i < 8 ? 2 : 3), one->link));
    for (guint k = 0; k < i; k++)
      assert_true (g_array_index (bursts, FabBursts, k).seed != one->seed);
  }
  assert_int_equal (plant->disturbances->spells->len, 0);
  assert_int_equal (plant->disturbances->flows->len, 0);
}

/* The ends are NICs, GPUs or the first NICs of machines. Of a rate alone one transfer has what the rate makes in the
 * time until the next one begins, and a byte: 1 GB/s for 2 ms is 2 MB. */
static void
transfers_are_planned_between_their_ends (G_GNUC_UNUSED void **state)
{
  g_autoptr (Play) play = play_of (
      TWO_NICS, "background: [{kind: transfer, from: node0, to: node1/nic1, bytes: 70kB, every: 5us},"
                " {kind: transfer, from: node1/gpu, to: node1, rate: 8Gb/s, every: 2ms},"
                " {kind: transfer, from: node0/nic1, to: node1, rate: 4Gb/s, bytes: 9kB, every: 1ms}]\n");
  const FabPlant *plant = fab_simulation_plant (play->simulation);
  const FabVertexId *nics = plant->cluster.nics, *gpus = plant->cluster.gpus;
  const FabSideFlow expected[] = { { nics[0], nics[3], 70000, 0, 5000000 },
                                   { gpus[1], nics[2], 2000001, 1000000000, 2000000000 },
                                   { nics[1], nics[2], 9000, 500000000, 1000000000 } };

  assert_int_equal (plant->disturbances->flows->len, G_N_ELEMENTS (expected));
  for (guint i = 0; i < G_N_ELEMENTS (expected); i++) {
    const FabSideFlow *flow = &g_array_index (plant->disturbances->flows, FabSideFlow, i);

    assert_int_equal (flow->src, expected[i].src);
    assert_int_equal (flow->dst, expected[i].dst);
    assert_int_equal (flow->bytes, expected[i].bytes);
    assert_int_equal (flow->limit_bytes_per_s, expected[i].limit_bytes_per_s);
    assert_int_equal (flow->every_ps, expected[i].every_ps);
  }
}

/* Plans are made for the graph that is left: its links have other numbers. */
static void
a_scenario_without_any_of_it_has_no_plan (G_GNUC_UNUSED void **state)
{
  g_autoptr (Play) none = play_of (SWITCH, ""),
                   some = play_of (SWITCH, "background: [{load: 10%, links: all}]\n");

  assert_null (fab_simulation_plant (none->simulation)->disturbances);
  assert_non_null (fab_simulation_plant (some->simulation)->disturbances);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (faults_from_the_start_change_the_graph),
    cmocka_unit_test (what_is_dead_from_the_start_is_gone),
    cmocka_unit_test (a_gpu_without_wires_is_named),
    cmocka_unit_test (faults_during_the_run_become_spells),
    cmocka_unit_test (ports_keep_their_numbers),
    cmocka_unit_test (faults_that_hit_nothing_are_refused),
    cmocka_unit_test (uplinks_of_a_leaf_are_left_where_its_nics_have_other_ports),
    cmocka_unit_test (bursts_are_planned_link_by_link),
    cmocka_unit_test (transfers_are_planned_between_their_ends),
    cmocka_unit_test (a_scenario_without_any_of_it_has_no_plan),
  };

  return play_run_tests ("fault_links", tests, &catalog);
}
