/* SPDX-License-Identifier: Apache-2.0 */
/* test_failover.c - what is left of the ports of a NIC while some of them are dead, and which NICs have a plane in
 * common. In machines: test_ports.c. */
#include "tests/support/test.h"

#include "sim/assembly/failover.h"
#include "sim/net/disturbances.h"
#include "tests/support/graphs.h"

/* NIC 2 has ports on switches 0 and 1, NIC 3 one on switch 0, which is joined to switch 1. */
static FabGraph *
two_ports (void)
{
  return graph_of ("-ss0n1n",
                   (GraphJoin[]){ { 2, 0, 1, 1 }, { 2, 1, 1, 1 }, { 3, 0, 1, 1 }, { 0, 1, 1, 1 }, { 0 } });
}

static FabLinkId
link_between (const FabGraph *graph, FabVertexId a, FabVertexId b)
{
  FabLinkId link = 0;

  while (fab_graph_link (graph, link)->src != a || fab_graph_link (graph, link)->dst != b)
    link++;
  return link;
}

/* What the spells leave of a link at one time. */
static double
left_of (const GArray *spells, FabLinkId link, FabTimePs at_ps)
{
  double left = 1;

  for (guint i = 0; i < spells->len; i++) {
    const FabSpell *spell = &g_array_index (spells, FabSpell, i);

    if (spell->link == link && spell->at_ps <= at_ps && (spell->until_ps == 0 || at_ps < spell->until_ps))
      left *= spell->fraction;
  }
  return left;
}

/* One port is dead from 10 to 30, said in either direction and twice, the other one from 20 to 40, and from 60 on:
 * from 10 to 20 and from 30 to 40 half of both is left, from 20 to 30 nothing, and from 60 on half for good. What is
 * slow, the only port of a NIC and links between switches stay as they are. */
static void
ports_that_work_have_the_bytes_of_dead_ones (G_GNUC_UNUSED void **state)
{
  static const struct {
    FabTimePs at_ps;
    double left;
  } rows[] = { { 9, 1 },    { 10, 0.5 }, { 19, 0.5 }, { 20, 0 },   { 29, 0 },       { 30, 0.5 },
               { 39, 0.5 }, { 40, 1 },   { 59, 1 },   { 60, 0.5 }, { 1000000, 0.5 } };
  g_autoptr (FabGraph) graph = two_ports ();
  FabLinkId first = link_between (graph, 2, 0), second = link_between (graph, 2, 1),
            first_back = link_between (graph, 0, 2), second_back = link_between (graph, 1, 2),
            single = link_between (graph, 3, 0), between = link_between (graph, 0, 1);
  const FabSpell before[] = { { first, 0, 10, 30 },      { single, 0, 15, 25 },  { second_back, 0, 20, 40 },
                              { first_back, 0, 10, 30 }, { between, 0, 15, 25 }, { first, 0.25, 100, 110 },
                              { second, 0, 60, 0 } };
  const FabLinkId ports[] = { first, second, first_back, second_back };
  g_autoptr (GArray) spells = g_array_new (FALSE, FALSE, sizeof (FabSpell));

  g_array_append_vals (spells, before, G_N_ELEMENTS (before));
  fab_failover_spread (graph, spells);
  for (guint i = 0; i < spells->len; i++) {
    const FabSpell *spell = &g_array_index (spells, FabSpell, i);

    assert_true (spell->until_ps == 0 || spell->until_ps > spell->at_ps);
  }
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    for (guint k = 0; k < G_N_ELEMENTS (ports); k++)
      assert_near (left_of (spells, ports[k], rows[i].at_ps), rows[i].left, 0);
  assert_near (left_of (spells, first, 105), 0.125, 0);
  assert_near (left_of (spells, second, 105), 0.5, 0);
  for (guint k = 0; k < 2; k++) {
    FabLinkId other = k == 0 ? single : between;

    assert_near (left_of (spells, other, 14), 1, 0);
    assert_near (left_of (spells, other, 15), 0, 0);
    assert_near (left_of (spells, other, 25), 1, 0);
  }
}

/* A NIC of two ports and one of three, one port of each dead for a while: each has what its own ports leave. */
static void
nics_lose_their_own_ports_alone (G_GNUC_UNUSED void **state)
{
  g_autoptr (FabGraph) graph = graph_of (
      "-sss0n1n",
      (GraphJoin[]){ { 3, 0, 1, 1 }, { 3, 1, 1, 1 }, { 4, 0, 1, 1 }, { 4, 1, 1, 1 }, { 4, 2, 1, 1 }, { 0 } });
  const FabSpell before[] = { { link_between (graph, 4, 1), 0, 20, 40 },
                              { link_between (graph, 3, 0), 0, 10, 30 } };
  g_autoptr (GArray) spells = g_array_new (FALSE, FALSE, sizeof (FabSpell));

  g_array_append_vals (spells, before, G_N_ELEMENTS (before));
  fab_failover_spread (graph, spells);
  assert_int_equal (spells->len, 2 * 2 + 2 * 3);
  for (FabTimePs at_ps = 5; at_ps < 50; at_ps += 10)
    for (guint plane = 0; plane < 3; plane++) {
      if (plane < 2)
        assert_near (left_of (spells, link_between (graph, 3, plane), at_ps),
                     at_ps > 10 && at_ps < 30 ? 0.5 : 1, 0);
      assert_near (left_of (spells, link_between (graph, plane, 4), at_ps),
                   at_ps > 20 && at_ps < 40 ? 2.0 / 3 : 1, 1e-15);
    }
}

/* Two leaves of a plane meet over their spine, a third one is apart. */
static void
leaves_of_one_plane_meet (G_GNUC_UNUSED void **state)
{
  for (guint is_apart = 0; is_apart < 2; is_apart++) {
    const GraphJoin joins[] = {
      { 0, 1, 1, 1 }, { 1, 2, 1, 1 }, { 4, 0, 1, 1 }, { 5, 2 + is_apart, 1, 1 }, { 0 }
    };
    g_autoptr (FabGraph) graph = graph_of ("-ssss0n1n", joins);
    FabVertexId nics[] = { 4, 5 }, a, b;
    const FabCluster cluster = { .graph = graph, .n_nodes = 2, .nics_per_node = 1, .nics = nics };

    assert_int_equal (fab_failover_meets (&cluster, &a, &b), !is_apart);
  }
}

/* Two planes of two switches each, one after the other. */
static void
planes_of_several_switches_are_apart (G_GNUC_UNUSED void **state)
{
  g_autoptr (FabGraph) graph = graph_of (
      "-ssss0n1n", (GraphJoin[]){ { 0, 1, 1, 1 }, { 2, 3, 1, 1 }, { 4, 0, 1, 1 }, { 5, 3, 1, 1 }, { 0 } });
  FabVertexId nics[] = { 4, 5 }, a, b;
  const FabCluster cluster = { .graph = graph, .n_nodes = 2, .nics_per_node = 1, .nics = nics };

  assert_false (fab_failover_meets (&cluster, &a, &b));
  assert_int_equal (a, 4);
  assert_int_equal (b, 5);
}

static void
ports_of_nics_with_several_are_told_apart (G_GNUC_UNUSED void **state)
{
  g_autoptr (FabGraph) graph = two_ports ();
  const FabVertexId ends[][2] = { { 2, 0 }, { 1, 2 }, { 3, 0 }, { 0, 3 }, { 0, 1 } };

  for (guint i = 0; i < G_N_ELEMENTS (ends); i++) {
    g_autoptr (GArray) links = g_array_new (FALSE, FALSE, sizeof (FabLinkId));
    FabLinkId other = link_between (graph, 1, 0), link = link_between (graph, ends[i][0], ends[i][1]);

    assert_false (fab_failover_has_ports (graph, links));
    g_array_append_val (links, other);
    g_array_append_val (links, link);
    assert_int_equal (fab_failover_has_ports (graph, links), i < 2);
  }
}

/* Sixty-three NICs to a node and as many planes, or one more for the last NIC of the second node alone: then the last
 * NICs have no plane in common. */
static void
nics_of_two_planes_do_not_meet (G_GNUC_UNUSED void **state)
{
  enum { N_NICS = 63, N_PLANES = N_NICS + 1 };

  for (guint is_apart = 0; is_apart < 2; is_apart++) {
    g_autoptr (GString) vertices = g_string_new ("-");
    GraphJoin joins[2 * N_NICS + 1] = { 0 };
    FabVertexId nics[2 * N_NICS], a = 0, b = 0;

    for (guint i = 0; i < N_PLANES; i++)
      g_string_append_c (vertices, 's');
    for (guint i = 0; i < 2 * N_NICS; i++) {
      g_string_append_printf (vertices, "%un", i / N_NICS);
      nics[i] = N_PLANES + i;
      joins[i] = (GraphJoin){ nics[i], i % N_NICS + (i == 2 * N_NICS - 1 ? is_apart : 0), 1, 1 };
    }
    g_autoptr (FabGraph) graph = graph_of (vertices->str, joins);
    const FabCluster cluster = { .graph = graph, .n_nodes = 2, .nics_per_node = N_NICS, .nics = nics };

    assert_int_equal (fab_failover_meets (&cluster, &a, &b), !is_apart);
    if (is_apart) {
      assert_int_equal (a, nics[N_NICS - 1]);
      assert_int_equal (b, nics[2 * N_NICS - 1]);
    }
  }
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (ports_that_work_have_the_bytes_of_dead_ones),
    cmocka_unit_test (nics_lose_their_own_ports_alone),
    cmocka_unit_test (leaves_of_one_plane_meet),
    cmocka_unit_test (planes_of_several_switches_are_apart),
    cmocka_unit_test (ports_of_nics_with_several_are_told_apart),
    cmocka_unit_test (nics_of_two_planes_do_not_meet),
  };

  return cmocka_run_group_tests_name ("failover", tests, NULL, NULL);
}
