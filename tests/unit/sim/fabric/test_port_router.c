/* SPDX-License-Identifier: Apache-2.0 */
/* test_port_router.c - transfers of NICs that have several ports, over a few switches: which ports they take, where
 * there is no way, and what fits. In machines: tests/unit/sim/assembly/test_ports.c. */
#include "tests/support/test.h"

#include "models/models.h"
#include "sim/fabric/port_router.h"
#include "tests/support/graphs.h"
#include "tests/support/params.h"

/* Switches 0 and 1 are planes, switch 2 is a third one, and switch 3 is joined to switch 0. NICs 4 and 5 of two nodes
 * have ports in both planes, NIC 6 two ports in the third one, NIC 7 one in the second one, and NIC 8 one on switch 3
 * and one on switch 0. Accelerators 9, 10 and 11 are beside NICs 4, 5 and 6; that of NIC 4 is joined between its
 * ports. */
enum { FIRST = 4, SECOND, FAR, SINGLE, UNEVEN, BESIDE_FIRST, BESIDE_SECOND, BESIDE_FAR };

static FabGraph *
planes (void)
{
  static const GraphJoin joins[] = { { 0, 3, 9, 1 },
                                     { FIRST, 0, 9, 1 },
                                     { FIRST, BESIDE_FIRST, 9, 1 },
                                     { FIRST, 1, 9, 1 },
                                     { SECOND, BESIDE_SECOND, 9, 1 },
                                     { SECOND, 0, 9, 1 },
                                     { SECOND, 1, 9, 1 },
                                     { FAR, BESIDE_FAR, 9, 1 },
                                     { FAR, 2, 9, 1 },
                                     { FAR, 2, 9, 1 },
                                     { SINGLE, 1, 9, 1 },
                                     { UNEVEN, 3, 9, 1 },
                                     { UNEVEN, 0, 9, 1 },
                                     { 0 } };

  return graph_of ("-ssss0n1n2n3n4n0a1a2a", joins);
}

typedef struct {
  FabGraph *graph;
  Params *params;
  FabRouter *router;
} Ports;

static Ports
ports_of (const FabRouterOps *ops, const char *yaml, FabPortMode mode)
{
  Ports self = { .graph = planes (), .params = params_new (&ops->info, yaml) };

  self.router = fab_port_router_new (ops->create (self.graph, self.params->params, 1), self.graph, mode, 1);
  return self;
}

static void
ports_clear (Ports *self)
{
  fab_router_destroy (self->router);
  params_free (self->params);
  fab_graph_free (self->graph);
}

/* "9>4 4>0 0>5 5>10", from link `first` on. */
static char *
way_of (const FabGraph *graph, const FabPath *path, guint first)
{
  GString *text = g_string_new (NULL);

  for (guint i = first; i < path->n; i++) {
    const FabLink *link = fab_graph_link (graph, path->links[i]);

    g_string_append_printf (text, "%s%u>%u", i > first ? " " : "", link->src, link->dst);
  }
  return g_string_free (text, FALSE);
}

/* What a transfer has on the link from a to b. */
static double
fraction_on (const FabGraph *graph, const GArray *shares, FabVertexId a, FabVertexId b)
{
  double sum = 0;

  for (guint i = 0; i < shares->len; i++) {
    const FabLink *link = fab_graph_link (graph, g_array_index (shares, FabShare, i).link);

    sum += link->src == a && link->dst == b ? g_array_index (shares, FabShare, i).fraction : 0;
  }
  return sum;
}

static void
ports_are_links_into_the_fabric (G_GNUC_UNUSED void **state)
{
  static const guint n_ports[] = { 2, 2, 2, 1, 2 };
  g_autoptr (FabGraph) graph = planes ();
  FabLinkId first;

  for (FabVertexId nic = FIRST; nic <= UNEVEN; nic++) {
    assert_int_equal (fab_nic_ports (graph, nic, &first), n_ports[nic - FIRST]);
    assert_int_equal (fab_graph_vertex (graph, fab_graph_link (graph, first)->dst)->node, FAB_NO_NODE);
    assert_int_equal (fab_graph_link (graph, first)->src, nic);
  }
  fab_nic_ports (graph, FIRST, &first);
  assert_int_equal (fab_graph_link (graph, first)->dst, 0);
  assert_int_equal (fab_nic_ports (graph, BESIDE_FIRST, &first), 0);
  assert_int_equal (first, FAB_NO_LINK);
}

/* Half by each port; all by the port from which alone a path leads to the receiver. */
static void
merged_ports_that_have_a_way_share_the_bytes (G_GNUC_UNUSED void **state)
{
  static const struct {
    FabVertexId src, dst;
    guint n_links;
    double first, second;
    const char *way; /* of `append`: the first port that has one */
  } rows[] = {
    { FIRST, SECOND, 4, 0.5, 0.5, "4>0 0>5" },
    { BESIDE_FIRST, BESIDE_SECOND, 6, 0.5, 0.5, "9>4 4>0 0>5 5>10" },
    { BESIDE_FIRST, SECOND, 5, 0.5, 0.5, "9>4 4>0 0>5" },
    { FIRST, BESIDE_SECOND, 5, 0.5, 0.5, "4>0 0>5 5>10" },
    { FIRST, SINGLE, 2, 0, 1, "4>1 1>7" },
    { BESIDE_FIRST, SINGLE, 3, 0, 1, "9>4 4>1 1>7" },
    { FIRST, UNEVEN, 3, 1, 0, "4>0 0>3 3>8" },
    { UNEVEN, FIRST, 4, 0, 0, "8>3 3>0 0>4" }, /* both halves come in by one port */
    { BESIDE_FIRST, FIRST, 1, 0, 0, "9>4" },   /* inside a node, and from a vertex to itself */
    { FIRST, FIRST, 0, 0, 0, "" },
  };
  Ports ports = ports_of (&fab_route_shortest, "", FAB_PORTS_MERGED);

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autoptr (GArray) shares = g_array_new (FALSE, FALSE, sizeof (FabShare));
    FabShare before = { 1, 0.125 };
    FabPath path = { .n = 5 };

    g_array_append_val (shares, before);
    assert_true (fab_router_spread (ports.router, rows[i].src, rows[i].dst, 3, shares));
    assert_int_equal (g_array_index (shares, FabShare, 0).link, 1);
    g_array_remove_index (shares, 0);
    assert_int_equal (shares->len, rows[i].n_links);
    assert_near (fraction_on (ports.graph, shares, FIRST, 0), rows[i].first, 1e-15);
    assert_near (fraction_on (ports.graph, shares, FIRST, 1), rows[i].second, 1e-15);
    assert_near (fraction_on (ports.graph, shares, 0, 3), rows[i].dst == UNEVEN ? 1 : 0, 1e-15);
    assert_true (fab_router_append (ports.router, rows[i].src, rows[i].dst, 3, &path));
    g_autofree char *way = way_of (ports.graph, &path, 5);
    assert_string_equal (way, rows[i].way);
    for (guint k = 0; shares->len == path.n - 5 && k < shares->len; k++) /* one way is not sorted */
      assert_int_equal (g_array_index (shares, FabShare, k).link, path.links[5 + k]);
  }
  ports_clear (&ports);
}

/* Accelerators that a switch of their own joins use no ports, though that switch is outside of their nodes too. */
static void
switches_of_accelerators_have_no_ports (G_GNUC_UNUSED void **state)
{
  g_autoptr (FabGraph) graph = graph_of ("-sss0an1an", (GraphJoin[]){ { 3, 2, 9, 1 },
                                                                      { 5, 2, 9, 1 },
                                                                      { 3, 4, 9, 1 },
                                                                      { 5, 6, 9, 1 },
                                                                      { 4, 0, 9, 1 },
                                                                      { 4, 1, 9, 1 },
                                                                      { 6, 0, 9, 1 },
                                                                      { 6, 1, 9, 1 },
                                                                      { 0 } });
  g_autoptr (Params) params = params_new (&fab_route_shortest.info, "");
  FabRouter *router = fab_port_router_new (fab_route_shortest.create (graph, params->params, 1), graph,
                                           FAB_PORTS_MERGED, 1);
  g_autoptr (GArray) shares = g_array_new (FALSE, FALSE, sizeof (FabShare));
  FabPath path = { 0 };

  assert_true (fab_router_append (router, 3, 5, 0, &path));
  assert_true (fab_router_spread (router, 3, 5, 0, shares));
  g_autofree char *way = way_of (graph, &path, 0);
  assert_string_equal (way, "3>2 2>5");
  assert_int_equal (shares->len, 2);
  assert_near (fraction_on (graph, shares, 3, 2), 1, 0);
  assert_near (fraction_on (graph, shares, 2, 5), 1, 0);
  fab_router_destroy (router);
}

/* So do accelerators of two nodes that a link joins. */
static void
accelerators_that_are_joined_have_no_ports (G_GNUC_UNUSED void **state)
{
  g_autoptr (FabGraph) graph = graph_of ("-ss0an1an", (GraphJoin[]){ { 2, 4, 9, 1 },
                                                                     { 2, 3, 9, 1 },
                                                                     { 4, 5, 9, 1 },
                                                                     { 3, 0, 9, 1 },
                                                                     { 3, 1, 9, 1 },
                                                                     { 5, 0, 9, 1 },
                                                                     { 5, 1, 9, 1 },
                                                                     { 0 } });
  g_autoptr (Params) params = params_new (&fab_route_shortest.info, "");
  FabRouter *router = fab_port_router_new (fab_route_shortest.create (graph, params->params, 1), graph,
                                           FAB_PORTS_MERGED, 1);
  FabPath path = { 0 };

  assert_true (fab_router_append (router, 2, 4, 0, &path));
  g_autofree char *way = way_of (graph, &path, 0);
  assert_string_equal (way, "2>4");
  fab_router_destroy (router);
}

/* Of three ports of the receiver the first is in another plane, and the other two are on the sender's switch: what
 * comes from its only port goes on by the next one. Entropies choose nothing there, nor inside of a node. */
static void
the_next_port_that_can_be_reached_is_taken (G_GNUC_UNUSED void **state)
{
  g_autoptr (FabGraph) graph = graph_of (
      "-ss0na1n",
      (GraphJoin[]){ { 2, 0, 9, 1 }, { 2, 3, 9, 1 }, { 4, 1, 9, 1 }, { 4, 0, 9, 1 }, { 4, 0, 9, 1 }, { 0 } });
  g_autoptr (Params) params = params_new (&fab_route_spray.info, "{hashed: true}");
  FabRouter *router = fab_port_router_new (fab_route_spray.create (graph, params->params, 1), graph,
                                           FAB_PORTS_MERGED, 1);
  FabPath path = { 0 }, inside = { 0 };
  FabLinkId first;

  assert_int_equal (fab_nic_ports (graph, 4, &first), 3);
  assert_true (fab_router_append (router, 2, 4, 0, &path));
  assert_int_equal (path.n, 2);
  assert_int_equal (path.links[1], fab_graph_link (graph, first + 1)->reverse);
  for (guint64 entropy = 0; entropy < 4; entropy++) {
    path.n = inside.n = 0;
    assert_true (router->ops->hashed (router, 2, 4, 0, entropy, &path));
    assert_int_equal (path.links[1], fab_graph_link (graph, first + 1)->reverse);
    assert_true (router->ops->hashed (router, 3, 2, 0, entropy, &inside));
    assert_int_equal (inside.n, 1);
  }
  fab_router_destroy (router);
}

/* NICs of one port each are the other router's, whose hash picks the same path for a flow with and without it. */
static void
nics_of_one_port_are_the_other_routers (G_GNUC_UNUSED void **state)
{
  g_autoptr (FabGraph) graph = graph_of ("-ssss0n1n", (GraphJoin[]){ { 0, 2, 9, 1 },
                                                                     { 0, 3, 9, 1 },
                                                                     { 1, 2, 9, 1 },
                                                                     { 1, 3, 9, 1 },
                                                                     { 4, 0, 9, 1 },
                                                                     { 5, 1, 9, 1 },
                                                                     { 0 } });
  g_autoptr (Params) params = params_new (&fab_route_ecmp.info, "");
  FabRouter *inner = fab_route_ecmp.create (graph, params->params, 1),
            *router = fab_port_router_new (fab_route_ecmp.create (graph, params->params, 1), graph,
                                           FAB_PORTS_MERGED, 1);

  for (guint64 flow = 0; flow < 64; flow++) {
    FabPath path = { 0 }, expected = { 0 };

    assert_true (fab_router_append (router, 4, 5, flow, &path));
    assert_true (fab_router_append (inner, 4, 5, flow, &expected));
    assert_int_equal (path.n, 4);
    assert_memory_equal (&path, &expected, sizeof path);
  }
  fab_router_destroy (router);
  fab_router_destroy (inner);
}

/* A router between ports can do what the other one can, and spreads what merged ports carry. A bond is a choice by a
 * hash; a router that hashes flows itself does that at the NIC too. */
static void
ports_can_do_what_the_other_router_can (G_GNUC_UNUSED void **state)
{
  static const FabRouterOps *const routers[] = { &fab_route_shortest, &fab_route_ecmp,     &fab_route_static,
                                                 &fab_route_spray,    &fab_route_adaptive, &fab_route_reps,
                                                 &fab_route_flowlet,  &fab_route_reactive };

  for (guint r = 0; r < G_N_ELEMENTS (routers); r++)
    for (FabPortMode mode = FAB_PORTS_MERGED; mode <= FAB_PORTS_BOND; mode++) {
      const FabRouterOps *inner = routers[r];
      Ports ports = ports_of (inner, "", mode);
      const FabRouterOps *ops = ports.router->ops;
      gboolean is_bond = mode == FAB_PORTS_BOND;

      assert_int_equal (ops == inner, is_bond && inner->is_hashed);
      assert_int_equal (ops->is_hashed, is_bond || inner->is_hashed);
      assert_int_equal (ops->is_for_nics, inner->is_for_nics);
      assert_int_equal (ops->spread != NULL, !is_bond || inner->spread != NULL);
      assert_int_equal (ops->choices != NULL, inner->choices != NULL);
      assert_int_equal (ops->hashed != NULL, inner->hashed != NULL);
      assert_string_equal (ops->info.name, inner->info.name);
      if (is_bond)
        assert_true (fab_router_uses_seed (ports.router));
      ports_clear (&ports);
    }
}

/* The way of a bond is a shortest one: from switch 0 one link to NIC 5, and from switch 3 two. The only one is taken by
 * all flows. Where both ports are as near, flows take either, those of one number
 * between other NICs too. */
static void
a_bond_takes_one_of_the_nearest_ports (G_GNUC_UNUSED void **state)
{
  Ports ports = ports_of (&fab_route_shortest, "", FAB_PORTS_BOND);
  guint n_first = 0, n_same = 0;

  for (guint64 flow = 0; flow < 400; flow++) {
    FabPath near = { 0 }, only = { 0 }, any = { 0 }, back = { 0 };

    assert_true (fab_router_append (ports.router, UNEVEN, SECOND, flow, &near));
    assert_true (fab_router_append (ports.router, FIRST, SINGLE, flow, &only));
    assert_true (fab_router_append (ports.router, FIRST, SECOND, flow, &any));
    g_autoptr (GArray) shares = g_array_new (FALSE, FALSE, sizeof (FabShare));
    assert_true (fab_router_spread (ports.router, FIRST, SECOND, flow, shares));
    assert_int_equal (shares->len, any.n);
    for (guint i = 0; i < any.n; i++)
      assert_int_equal (g_array_index (shares, FabShare, i).link, any.links[i]);
    g_autofree char *near_way = way_of (ports.graph, &near, 0), *only_way = way_of (ports.graph, &only, 0),
                    *any_way = way_of (ports.graph, &any, 0);
    assert_string_equal (near_way, "8>0 0>5");
    assert_string_equal (only_way, "4>1 1>7");
    assert_true (g_str_equal (any_way, "4>0 0>5") || g_str_equal (any_way, "4>1 1>5"));
    n_first += g_str_equal (any_way, "4>0 0>5");
    assert_true (fab_router_append (ports.router, SECOND, FIRST, flow, &back));
    n_same += fab_graph_link (ports.graph, back.links[0])->dst
           == fab_graph_link (ports.graph, any.links[0])->dst;
  }
  assert_in_range (n_first, 160, 240); /* 200, with a deviation of 10 */
  assert_in_range (n_same, 160, 240);
  ports_clear (&ports);
}

/* Nothing leads to the third plane: no router finds a way, and none adds anything. */
static void
without_a_way_nothing_is_added (G_GNUC_UNUSED void **state)
{
  static const struct {
    const FabRouterOps *ops;
    const char *yaml;
  } routers[] = {
    { &fab_route_shortest, "" },
    { &fab_route_static, "" },
    { &fab_route_spray, "{hashed: true}" },
    { &fab_route_reps, "" },
    { &fab_route_reactive, "{detours: 25%}" },
  };
  static const FabVertexId ends[][2] = {
    { FIRST, FAR }, { FAR, FIRST }, { BESIDE_FIRST, BESIDE_FAR }, { BESIDE_FAR, SINGLE }, { SINGLE, FAR }
  };

  for (guint r = 0; r < G_N_ELEMENTS (routers); r++)
    for (FabPortMode mode = FAB_PORTS_MERGED; mode <= FAB_PORTS_BOND; mode++) {
      Ports ports = ports_of (routers[r].ops, routers[r].yaml, mode);
      const FabRouterOps *ops = ports.router->ops;

      for (guint i = 0; i < G_N_ELEMENTS (ends); i++) {
        FabVertexId src = ends[i][0], dst = ends[i][1];
        g_autoptr (GArray) shares = g_array_new (FALSE, FALSE, sizeof (FabShare));
        FabPath path = { .n = 2 };

        assert_false (fab_router_append (ports.router, src, dst, 3, &path));
        assert_false (ops->hashed != NULL && ops->hashed (ports.router, src, dst, 3, 1, &path));
        assert_false (fab_router_spread (ports.router, src, dst, 3, shares));
        for (guint is_detour = 0; ops->choices != NULL && is_detour < 2; is_detour++)
          assert_false (ops->choices (ports.router, src, dst, 3, is_detour, shares));
        assert_int_equal (path.n, 2);
        assert_int_equal (shares->len, 0);
      }
      ports_clear (&ports);
    }
}

/* Four links from accelerator to accelerator fit behind 60 and not behind 61, by a hash too. */
static void
a_path_has_to_fit (G_GNUC_UNUSED void **state)
{
  for (FabPortMode mode = FAB_PORTS_MERGED; mode <= FAB_PORTS_BOND; mode++) {
    Ports ports = ports_of (&fab_route_spray, "{hashed: true}", mode);

    for (guint n_before = 60; n_before < 62; n_before++) {
      FabPath path = { .n = n_before }, hashed = { .n = n_before };

      assert_int_equal (fab_router_append (ports.router, BESIDE_FIRST, BESIDE_SECOND, 3, &path),
                        n_before == 60);
      assert_int_equal (ports.router->ops->hashed (ports.router, BESIDE_FIRST, BESIDE_SECOND, 3, 1, &hashed),
                        n_before == 60);
      assert_int_equal (path.n, n_before == 60 ? 64 : 61);
      assert_int_equal (hashed.n, n_before == 60 ? 64 : 61);
    }
    ports_clear (&ports);
  }
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (ports_are_links_into_the_fabric),
    cmocka_unit_test (merged_ports_that_have_a_way_share_the_bytes),
    cmocka_unit_test (switches_of_accelerators_have_no_ports),
    cmocka_unit_test (accelerators_that_are_joined_have_no_ports),
    cmocka_unit_test (the_next_port_that_can_be_reached_is_taken),
    cmocka_unit_test (nics_of_one_port_are_the_other_routers),
    cmocka_unit_test (ports_can_do_what_the_other_router_can),
    cmocka_unit_test (a_bond_takes_one_of_the_nearest_ports),
    cmocka_unit_test (without_a_way_nothing_is_added),
    cmocka_unit_test (a_path_has_to_fit),
  };

  return cmocka_run_group_tests_name ("port_router", tests, NULL, NULL);
}
