/* SPDX-License-Identifier: Apache-2.0 */
/* test_ports.c - NICs of several ports: how the ports share the bytes, which planes they reach, and what the others do
 * when one is dead.
 *
 * Rings of the plain library over DGX A100 with 4 NICs, of which each carries a fourth of the bytes: NVLink has ten
 * times their rate, so NICs bind. An all-reduce takes L + S / rate. NICs of two ports have HDR ports of 100 Gb/s, which
 * is what one port of the others has in all.
 */
#include "tests/support/test.h"

#include "models/models.h"
#include "sim/assembly/failover.h"
#include "sim/base/error.h"
#include "sim/cost/bill.h"
#include "sim/fabric/port_router.h"
#include "tests/support/load.h"
#include "tests/support/play.h"

static FabCatalog *catalog;

#define TWO_PLANES "{kind: leaf_spine, nodes_per_leaf: 2, planes: 2}"
#define ONE_PLANE "{kind: leaf_spine, nodes_per_leaf: 2}"
#define TWO_TORS "{kind: leaf_spine, nodes_per_leaf: 2, tors: 2}"

static char *
machine (const char *ports, const char *fabric, const char *route)
{
  return g_strdup_printf (
      "cluster: {node: dgx-a100, nodes: 4, nics_per_node: 4, %s, fabric: %s, route: %s}\n", ports, fabric,
      route);
}

static char *
scenario (const char *ports, const char *fabric, const char *route, const char *more)
{
  g_autofree char *cluster = machine (ports, fabric, route);

  return g_strdup_printf ("name: t\niterations: 1\ncollectives: {kind: plain, algorithm: ring}\n%s"
                          "job: {kind: collective, operations: [{op: all_reduce, size: 256MB}]}\n%s",
                          cluster, more);
}

static Play *
play_of (const char *ports, const char *fabric, const char *route, const char *more)
{
  g_autofree char *yaml = scenario (ports, fabric, route, more);

  return play_new (catalog, yaml, NULL);
}

#define ONE "nic_rate: 200Gb/s"
#define MERGED "nic_rate: 100Gb/s, nic_ports: 2"
#define BOND "nic_rate: 100Gb/s, nic_ports: 2, port_use: bond"
#define SEPARATE "nic_rate: 100Gb/s, nic_ports: 2, port_use: separate"

/* Time of the bytes of one iteration, in ps. */
static double
flow_ps (const char *ports, const char *fabric, const char *route, const char *more)
{
  g_autoptr (Play) play = play_of (ports, fabric, route, more);

  assert_true (fab_simulation_step (play->simulation));
  return (double) (fab_simulation_probe (play->simulation)->step.times.duration_ps
                   - fab_simulation_dag (play->simulation)->collectives[0].plan.startup_ps);
}

/* --- which ports a flow takes --- */

/* The shares of a flow between the first NICs of two nodes on the k-th port of one of them. */
static double
share_on_port (const FabPlant *plant, const GArray *shares, guint node, guint k, gboolean is_out)
{
  FabLinkId first;
  double sum = 0;

  assert_int_equal (
      fab_nic_ports (plant->graph, plant->cluster.nics[node * plant->cluster.nics_per_node], &first), 2);
  FabLinkId port = is_out ? first + k : fab_graph_link (plant->graph, first + k)->reverse;
  for (guint i = 0; i < shares->len; i++)
    if (g_array_index (shares, FabShare, i).link == port)
      sum += g_array_index (shares, FabShare, i).fraction;
  return sum;
}

/* Of the flow of this number from node 0 to node `to`. (transfer full) */
static GArray *
shares_of (const FabPlant *plant, guint to, guint64 flow)
{
  GArray *shares = g_array_new (FALSE, FALSE, sizeof (FabShare));

  assert_true (fab_router_spread (plant->router, plant->cluster.nics[0],
                                  plant->cluster.nics[to * plant->cluster.nics_per_node], flow, shares));
  return shares;
}

/* By every route: half of the bytes on each port, and what leaves by one port arrives by the port of its number, on two
 * planes and on two leaves of one network. */
static void
merged_ports_have_half_of_the_bytes_each (G_GNUC_UNUSED void **state)
{
  static const char *const routes[] = { "shortest", "ecmp", "static",  "spray",
                                        "adaptive", "reps", "flowlet", "reactive" };
  static const char *const fabrics[] = { TWO_PLANES, TWO_TORS, ONE_PLANE, "{kind: rail, nodes_per_leaf: 2}",
                                         "{kind: rail, nodes_per_leaf: 2, planes: 2, spines: 2}" };

  for (guint r = 0; r < G_N_ELEMENTS (routes); r++)
    for (guint f = 0; f < G_N_ELEMENTS (fabrics); f++)
      for (guint to = 1; to < 4; to += 2) {
        g_autoptr (Play) play = play_of (MERGED, fabrics[f], routes[r], "");
        g_autoptr (GArray) shares = shares_of (fab_simulation_plant (play->simulation), to, 7);
        gboolean is_pinned = strcmp (routes[r], "static") != 0 || f == 0 || f == 4;

        for (guint k = 0; k < 2; k++) {
          assert_near (share_on_port (fab_simulation_plant (play->simulation), shares, 0, k, TRUE), 0.5,
                       1e-12);
          if (is_pinned)
            assert_near (share_on_port (fab_simulation_plant (play->simulation), shares, to, k, FALSE), 0.5,
                         1e-12);
        }
      }
}

/* One port for each flow, and over 400 flows each port has about half of them: 200, with a deviation of 10. */
static void
a_bond_hashes_each_flow_to_one_port (G_GNUC_UNUSED void **state)
{
  static const char *const routes[] = { "shortest", "ecmp", "static", "spray", "adaptive" };

  for (guint r = 0; r < G_N_ELEMENTS (routes); r++) {
    g_autoptr (Play) play = play_of (BOND, TWO_PLANES, routes[r], "");
    guint n_first = 0;

    assert_true (fab_router_uses_seed (fab_simulation_plant (play->simulation)->router));
    for (guint64 flow = 0; flow < 400; flow++) {
      g_autoptr (GArray) shares = shares_of (fab_simulation_plant (play->simulation), 3, flow),
                         again = shares_of (fab_simulation_plant (play->simulation), 3, flow);
      double first = share_on_port (fab_simulation_plant (play->simulation), shares, 0, 0, TRUE);

      assert_true (fabs (first) < 1e-12 || fabs (first - 1) < 1e-12);
      assert_near (share_on_port (fab_simulation_plant (play->simulation), shares, 0, 1, TRUE), 1 - first,
                   1e-12);
      assert_near (share_on_port (fab_simulation_plant (play->simulation), shares, 3, 0, FALSE), first,
                   1e-12); /* planes do not meet */
      assert_near (share_on_port (fab_simulation_plant (play->simulation), again, 0, 0, TRUE), first, 1e-12);
      n_first += first > 0.5;
    }
    assert_in_range (n_first, 160, 240);
  }
}

/* A hash picks the port of a bond, whatever is between the switches, and of merged ports the paths of some routes. From
 * a NIC to itself there is nothing to go. */
static void
routers_say_whether_they_hash (G_GNUC_UNUSED void **state)
{
  static const struct {
    const char *route;
    gboolean is_hashed;
  } rows[] = {
    { "shortest", FALSE }, { "ecmp", TRUE }, { "spray", FALSE }, { "adaptive", FALSE }, { "flowlet", TRUE }
  };
  static const char *const uses[] = { MERGED, BOND, ONE };

  for (guint r = 0; r < G_N_ELEMENTS (rows); r++)
    for (guint u = 0; u < G_N_ELEMENTS (uses); u++) {
      g_autoptr (Play) play = play_of (uses[u], TWO_PLANES, rows[r].route, "");
      const FabPlant *plant = fab_simulation_plant (play->simulation);
      g_autoptr (GArray) shares = g_array_new (FALSE, FALSE, sizeof (FabShare));
      FabPath path = { 0 };

      assert_int_equal (plant->router->ops->is_hashed, u == 1 || rows[r].is_hashed);
      assert_true (
          fab_router_append (plant->router, plant->cluster.nics[2], plant->cluster.nics[2], 3, &path));
      assert_int_equal (path.n, 0);
      assert_true (
          fab_router_spread (plant->router, plant->cluster.nics[2], plant->cluster.nics[2], 3, shares));
      assert_int_equal (shares->len, 0);
    }
}

/* Where one switch joins all NICs there is one path, which no seed changes, unless it picks the port of a bond. */
static void
seeds_count_where_there_is_a_choice (G_GNUC_UNUSED void **state)
{
  static const struct {
    const char *ports, *fabric, *route;
    gboolean uses_seed;
  } rows[] = {
    { ONE, "switch", "shortest", FALSE },
    { ONE, "switch", "ecmp", FALSE },
    { ONE, "switch", "flowlet", FALSE },
    { ONE, "{kind: leaf_spine, nodes_per_leaf: 2, spines: 2}", "shortest", FALSE },
    { ONE, "{kind: leaf_spine, nodes_per_leaf: 2, spines: 2}", "ecmp", TRUE },
    { ONE, "{kind: leaf_spine, nodes_per_leaf: 2, spines: 2}", "flowlet", TRUE },
    { MERGED, "{kind: leaf_spine, nodes_per_leaf: 2, spines: 2}", "shortest", FALSE },
    { BOND, "{kind: leaf_spine, nodes_per_leaf: 2, spines: 2}", "shortest", TRUE },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autoptr (Play) play = play_of (rows[i].ports, rows[i].fabric, rows[i].route, "");

    assert_int_equal (fab_router_uses_seed (fab_simulation_plant (play->simulation)->router),
                      rows[i].uses_seed);
  }
}

/* What comes into a vertex leaves it, but for the ends, between which 1 goes. */
static void
assert_flows (const FabGraph *graph, const GArray *shares, FabVertexId src, FabVertexId dst)
{
  g_autofree double *sums = g_new0 (double, fab_graph_n_vertices (graph));

  for (guint i = 0; i < shares->len; i++) {
    const FabShare *share = &g_array_index (shares, FabShare, i);

    sums[fab_graph_link (graph, share->link)->src] -= share->fraction;
    sums[fab_graph_link (graph, share->link)->dst] += share->fraction;
  }
  for (FabVertexId v = 0; v < fab_graph_n_vertices (graph); v++)
    assert_true (fabs (sums[v] - (src == dst ? 0 : (v == dst) - (v == src))) < 1e-12);
}

/* The paths among which packets choose use both ports alike, or that of the bond; inside of a node there are no ports.
 * Every flow goes from one end to the other, from NIC to NIC and from GPU to GPU, and keeps what was found before. */
static void
packets_choose_among_the_ports (G_GNUC_UNUSED void **state)
{
  static const char *const routes[] = { "flowlet", "reps", "{kind: reactive, detours: 25%}" };
  static const char *const uses[] = { MERGED, BOND };

  for (guint r = 0; r < G_N_ELEMENTS (routes); r++)
    for (guint u = 0; u < G_N_ELEMENTS (uses); u++) {
      g_autoptr (Play) play = play_of (uses[u], TWO_PLANES, routes[r], "");
      const FabPlant *plant = fab_simulation_plant (play->simulation);
      const FabVertexId *nics = plant->cluster.nics, *gpus = plant->cluster.gpus;
      const FabVertexId ends[][2] = { { nics[0], nics[4] }, { nics[0], nics[12] }, { gpus[0], gpus[24] },
                                      { gpus[1], gpus[8] }, { nics[0], nics[1] },  { nics[0], nics[0] } };
      const FabRouterOps *ops = plant->router->ops;

      assert_non_null (ops->choices);
      for (guint i = 0; i < G_N_ELEMENTS (ends); i++)
        for (guint is_detour = 0; is_detour < 2; is_detour++) {
          g_autoptr (GArray) shares = g_array_new (FALSE, FALSE, sizeof (FabShare));
          FabShare before = { 0, 0.25 };

          g_array_append_val (shares, before);
          assert_true (ops->choices (plant->router, ends[i][0], ends[i][1], 7, is_detour, shares));
          assert_int_equal (g_array_index (shares, FabShare, 0).link, 0);
          assert_true (g_array_index (shares, FabShare, 0).fraction == 0.25);
          g_array_remove_index (shares, 0);
          assert_flows (plant->graph, shares, ends[i][0], ends[i][1]);
          if (i >= 2)
            continue;
          double first = share_on_port (plant, shares, 0, 0, TRUE);
          gboolean is_merged = u == 0 && strcmp (routes[r], "flowlet") != 0;
          assert_near (first + share_on_port (plant, shares, 0, 1, TRUE), 1, 1e-12);
          if (is_merged)
            assert_near (first, 0.5, 1e-12);
        }
    }
}

/* The hashes of switches: packets of even numbers leave and arrive by first ports, odd ones by second ports, and
 * between the switches all of the paths are used. */
static void
entropies_of_packets_are_dealt_out_to_the_ports (G_GNUC_UNUSED void **state)
{
  static const char *const routes[] = { "reps", "{kind: spray, hashed: true}" };
  static const char *const uses[] = { MERGED, BOND };
  static const char *const fabrics[] = { TWO_PLANES, TWO_TORS, ONE_PLANE };
  enum { N = 200 };

  for (guint r = 0; r < G_N_ELEMENTS (routes); r++)
    for (guint v = 0; v < G_N_ELEMENTS (uses) * G_N_ELEMENTS (fabrics); v++) {
      guint u = v % 2;
      g_autoptr (Play) play = play_of (uses[u], fabrics[v / 2], routes[r], "");
      const FabPlant *plant = fab_simulation_plant (play->simulation);
      const FabVertexId *nics = plant->cluster.nics, *gpus = plant->cluster.gpus;
      const FabVertexId ends[][2] = {
        { nics[0], nics[12] }, { gpus[0], gpus[24] }, { nics[0], nics[1] }, { nics[0], nics[0] }
      };
      const FabRouterOps *ops = plant->router->ops;
      FabLinkId first_out, first_in;

      fab_nic_ports (plant->graph, nics[0], &first_out);
      fab_nic_ports (plant->graph, nics[12], &first_in);
      assert_non_null (ops->hashed);
      for (guint i = 0; i < G_N_ELEMENTS (ends); i++) {
        g_autoptr (GHashTable) uplinks = g_hash_table_new (NULL, NULL),
                               wanted = g_hash_table_new (NULL, NULL);
        g_autoptr (GArray) all = g_array_new (FALSE, FALSE, sizeof (FabShare));
        guint n_ports[2] = { 0 };

        assert_true (fab_router_spread (plant->router, ends[i][0], ends[i][1], 7, all));
        for (guint k = 0; k < all->len; k++)
          g_hash_table_add (wanted, GUINT_TO_POINTER (g_array_index (all, FabShare, k).link));
        for (guint entropy = 0; entropy < N; entropy++) {
          FabPath path, again;
          FabVertexId at = ends[i][0];

          path.links[0] = again.links[0] = G_MAXUINT;
          path.n = again.n = 1;
          assert_true (ops->hashed (plant->router, ends[i][0], ends[i][1], 7, entropy, &path));
          assert_true (ops->hashed (plant->router, ends[i][0], ends[i][1], 7, entropy, &again));
          assert_int_equal (path.n, again.n);
          assert_memory_equal (path.links, again.links, path.n * sizeof *path.links);
          assert_int_equal (path.links[0], G_MAXUINT); /* what was there before */
          for (guint k = 1; k < path.n; k++) {
            const FabLink *link = fab_graph_link (plant->graph, path.links[k]);

            assert_int_equal (link->src, at);
            at = link->dst;
            g_hash_table_add (uplinks, GUINT_TO_POINTER (path.links[k]));
            for (guint port = 0; port < 2; port++)
              if (path.links[k] == fab_graph_link (plant->graph, first_in + port)->reverse && i < 2)
                assert_true (u > 0 || port == entropy % 2);
            for (guint port = 0; port < 2; port++)
              if (path.links[k] == first_out + port && i < 2) {
                n_ports[port]++;
                assert_true (u > 0 || port == entropy % 2);
              }
          }
          assert_int_equal (at, ends[i][1]);
        }
        if (i < 2 && u == 0)
          assert_true (n_ports[0] == N / 2 && n_ports[1] == N / 2);
        if (i < 2 && u == 1)
          assert_true (n_ports[0] + n_ports[1] == N && (n_ports[0] == 0 || n_ports[1] == 0));
        /* By the same links as the bytes of a flow that is spread. */
        assert_int_equal (g_hash_table_size (uplinks), g_hash_table_size (wanted));
        GHashTableIter iter;
        gpointer link;
        g_hash_table_iter_init (&iter, uplinks);
        while (g_hash_table_iter_next (&iter, &link, NULL))
          assert_true (g_hash_table_contains (wanted, link));
      }
    }
}

/* --- what they carry --- */

/* Two ports carry what one port of twice the rate carries, together or apart. Through one port of a bond the only flow
 * of a NIC takes twice as long. */
static void
two_ports_carry_what_one_fast_port_carries (G_GNUC_UNUSED void **state)
{
  static const char *const fidelities[] = { "", "fidelity: step\n" };

  for (guint i = 0; i < G_N_ELEMENTS (fidelities); i++) {
    double one_ps = flow_ps (ONE, ONE_PLANE, "spray", fidelities[i]);

    assert_near (flow_ps (MERGED, TWO_PLANES, "spray", fidelities[i]), one_ps, 1e-6);
    assert_near (flow_ps (MERGED, TWO_TORS, "spray", fidelities[i]), one_ps, 1e-6);
    assert_near (flow_ps (SEPARATE, TWO_PLANES, "spray", fidelities[i]), one_ps, 1e-6);
    assert_near (flow_ps (BOND, TWO_PLANES, "spray", fidelities[i]), 2 * one_ps, 1e-3);
  }
}

/* Packets add headers and waits, on two ports as on one. */
static void
packets_agree (G_GNUC_UNUSED void **state)
{
  double one_ps = flow_ps (ONE, ONE_PLANE, "spray", "fidelity: packet\n"),
         two_ps = flow_ps (MERGED, TWO_PLANES, "spray", "fidelity: packet\n"),
         bond_ps = flow_ps (BOND, TWO_PLANES, "spray", "fidelity: packet\n");

  assert_near (two_ps, one_ps, 0.05);
  assert_near (bond_ps, 2 * one_ps, 0.05);
}

/* --- what is dead --- */

/* A port of all NICs, a plane, or one leaf of two: half of the rate is left. Of a bond too, as its flows had one
 * port. */
static void
a_dead_port_halves_the_rate (G_GNUC_UNUSED void **state)
{
  double one_ps = flow_ps (ONE, ONE_PLANE, "spray", "");
  const char *plane = "faults: [{what: port, port: 1, dead: true}]\n",
             *port = "faults: [{what: port, port: 0, name: node1/nic2, dead: true}]\n",
             *leaf = "faults: [{what: switch, name: leaf3, dead: true}]\n";

  assert_near (flow_ps (MERGED, TWO_PLANES, "spray", plane), 2 * one_ps, 1e-6);
  assert_near (flow_ps (SEPARATE, TWO_PLANES, "spray", plane), 2 * one_ps, 1e-6);
  assert_near (flow_ps (BOND, TWO_PLANES, "spray", plane), 2 * one_ps, 1e-6);
  assert_near (flow_ps (MERGED, TWO_PLANES, "spray", port), 2 * one_ps, 1e-6);
  assert_near (flow_ps (MERGED, TWO_PLANES, "spray", leaf), 2 * one_ps, 1e-6);
  assert_near (flow_ps (MERGED, TWO_TORS, "spray", "faults: [{what: switch, name: leaf1, dead: true}]\n"),
               2 * one_ps, 1e-6);
}

/* Of the time without a fault, T, a half has passed when the port dies, and the rest takes twice as long: 1.5 T. An
 * outage of a length t costs half of it. */
static void
a_port_that_dies_hands_its_bytes_over (G_GNUC_UNUSED void **state)
{
  g_autoptr (Play) play = play_of (MERGED, TWO_PLANES, "spray", "");
  FabTimePs start_ps = fab_simulation_dag (play->simulation)->collectives[0].plan.startup_ps;
  double usual_ps = flow_ps (MERGED, TWO_PLANES, "spray", "");
  gint64 half_ns = (gint64) ((double) start_ps + usual_ps / 2) / 1000;
  static const char *const places[] = { "what: port, port: 0", "what: port, port: 1, name: node3/nic0",
                                        "what: switch, name: leaf1",
                                        "what: link, from: node0/nic1, to: leaf0" };

  for (guint i = 0; i < G_N_ELEMENTS (places); i++) {
    g_autofree char *dead = g_strdup_printf ("faults: [{%s, dead: true, at: %" G_GINT64_FORMAT "ns}]\n",
                                             places[i], half_ns);
    g_autofree char *outage = g_strdup_printf ("faults: [{%s, dead: true, at: %" G_GINT64_FORMAT
                                               "ns, until: %" G_GINT64_FORMAT "ns}]\n",
                                               places[i], half_ns, half_ns + 1000000);

    assert_near (flow_ps (MERGED, TWO_PLANES, "spray", dead), 1.5 * usual_ps, 1e-3);
    assert_near (flow_ps (MERGED, TWO_PLANES, "spray", outage), usual_ps + 1e9 / 2, 1e-3);
  }
}

/* Both ports of a NIC at once are the NIC. */
static void
a_nic_without_ports_hangs_the_run (G_GNUC_UNUSED void **state)
{
  g_autoptr (Play) play = play_of (MERGED, TWO_PLANES, "spray",
                                   "faults: [{what: port, port: 0, name: node1/nic0, dead: true, at: 1ms},\n"
                                   "  {what: port, port: 1, name: node1/nic0, dead: true, at: 2ms}]\n");

  assert_false (fab_simulation_step (play->simulation));
}

static void
assert_refused (const char *ports, const char *fabric, const char *more, const char *words)
{
  g_autofree char *yaml = scenario (ports, fabric, "spray", more);
  g_autoptr (GError) error = NULL;
  g_autoptr (FabScenario) read = fab_scenario_parse ("t", yaml, strlen (yaml), NULL, &fab_models, catalog,
                                                     &error);
  g_autoptr (FabPlant) plant = read != NULL ? fab_plant_new (read, NULL, &error) : NULL;

  assert_null (plant);
  if (strstr (error->message, words) == NULL)
    fail_msg ("%s", error->message);
}

static void
what_cannot_be_is_refused (G_GNUC_UNUSED void **state)
{
  const char *crossed = "faults: [{what: port, port: 0, name: node0/nic0, dead: true},\n"
                        "  {what: port, port: 1, name: node1/nic0, dead: true}]\n";

  assert_refused (MERGED, TWO_PLANES, crossed, "no plane in common");
  assert_refused (MERGED, TWO_PLANES, "faults: [{what: port, port: 2, dead: true}]\n", "ports are 0 to 1");
  assert_refused (MERGED, TWO_PLANES, "faults: [{what: port, dead: true}]\n", "a port needs its number");
  assert_refused (ONE ", nic_ports: 9", TWO_PLANES, "", "nic_ports");
  /* A network above the leaves joins them. */
  assert_near (flow_ps (MERGED, TWO_TORS, "spray", crossed), 2 * flow_ps (ONE, ONE_PLANE, "spray", ""), 1e-6);
}

/* --- what they cost --- */

static guint64
count_of (const FabBill *bill, FabProductKind kind)
{
  guint64 n = 0;

  for (guint i = 0; i < bill->rows->len; i++)
    if (g_array_index (bill->rows, FabBillRow, i).kind == kind)
      n += g_array_index (bill->rows, FabBillRow, i).count;
  return n;
}

/* Four nodes of four NICs: 16 cards in any case, and 32 cables from their ports, beside those between switches. */
static void
a_card_of_two_ports_is_bought_once (G_GNUC_UNUSED void **state)
{
  static const char *const uses[] = { MERGED, BOND, SEPARATE };

  for (guint i = 0; i < G_N_ELEMENTS (uses); i++) {
    g_autoptr (Play) play = play_of (uses[i], TWO_PLANES, "spray", "");
    g_autoptr (FabBill) bill = fab_bill_as_built (play->scenario, NULL);

    assert_int_equal (count_of (bill, FAB_PRODUCT_NIC), 16);
    assert_true (count_of (bill, FAB_PRODUCT_CABLE) >= 32);
  }
}

/* A port is one in either direction, however many links are asked about; a link inside the node is none. */
static void
a_port_is_known_as_one (G_GNUC_UNUSED void **state)
{
  static const struct {
    const char *ports;
    gboolean has_several;
  } rows[] = { { MERGED, TRUE }, { BOND, TRUE }, { ONE, FALSE } };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autoptr (Play) play = play_of (rows[i].ports, TWO_PLANES, "spray", "");
    const FabGraph *graph = fab_simulation_plant (play->simulation)->graph;
    guint n_ports = 0;

    for (FabLinkId link = 0; link < fab_graph_n_links (graph); link++) {
      g_autoptr (GArray) links = g_array_new (FALSE, FALSE, sizeof (FabLinkId));
      const FabLink *one = fab_graph_link (graph, link);
      const FabVertex *src = fab_graph_vertex (graph, one->src), *dst = fab_graph_vertex (graph, one->dst);
      gboolean is_port = (src->kind == FAB_VERTEX_NIC && dst->node == FAB_NO_NODE)
                      || (dst->kind == FAB_VERTEX_NIC && src->node == FAB_NO_NODE);

      g_array_append_val (links, link);
      assert_int_equal (fab_failover_has_ports (graph, links), is_port && rows[i].has_several);
      n_ports += is_port;
    }
    assert_true (n_ports > 0);
  }
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (merged_ports_have_half_of_the_bytes_each),
    cmocka_unit_test (a_bond_hashes_each_flow_to_one_port),
    cmocka_unit_test (routers_say_whether_they_hash),
    cmocka_unit_test (seeds_count_where_there_is_a_choice),
    cmocka_unit_test (packets_choose_among_the_ports),
    cmocka_unit_test (entropies_of_packets_are_dealt_out_to_the_ports),
    cmocka_unit_test (two_ports_carry_what_one_fast_port_carries),
    cmocka_unit_test (packets_agree),
    cmocka_unit_test (a_dead_port_halves_the_rate),
    cmocka_unit_test (a_port_that_dies_hands_its_bytes_over),
    cmocka_unit_test (a_nic_without_ports_hangs_the_run),
    cmocka_unit_test (what_cannot_be_is_refused),
    cmocka_unit_test (a_port_is_known_as_one),
    cmocka_unit_test (a_card_of_two_ports_is_bought_once),
  };
  int n_failed;

  catalog = play_catalog ();
  n_failed = cmocka_run_group_tests_name ("ports", tests, NULL, NULL);
  fab_catalog_free (catalog);
  return n_failed;
}
