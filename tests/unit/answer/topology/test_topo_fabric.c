/* SPDX-License-Identifier: Apache-2.0 */
/* test_topo_fabric.c - rows of a fabric's picture, with the ports of their members, and what joins them, in words.
 *
 * The machines are built by hand: a link of count n has n ports of 50 GB/s at each end.
 */
#include "tests/support/test.h"

#include "answer/topology/fabric.h"
#include "tests/support/random.h"
#include "tests/support/technologies.h"

#define PORT 50e9

typedef struct {
  FabGraphBuilder *builder;
  FabLinkForm form;
  FabGraph *graph;
  FabCluster cluster;
  FabTopoFabric *fabric;
} Machine;

static void
machine_init (Machine *self, guint n_nodes, guint nics_per_node)
{
  FabLinkClass link_class = { .name = "ib", .technology = &test_infiniband, .cost = { 1, 1, 1 } };
  guint nic;

  *self = (Machine){ .builder = fab_graph_builder_new () };
  self->form = (FabLinkForm){ (FabBytesPerS) PORT, 0, fab_graph_builder_class (self->builder, &link_class),
                              1 };
  self->cluster.n_nodes = n_nodes;
  self->cluster.nics_per_node = nics_per_node;
  self->cluster.nics = g_new (FabVertexId, n_nodes * nics_per_node + 1);
  nic = fab_graph_builder_part (self->builder, "nic", TRUE);
  for (guint i = 0; i < n_nodes * nics_per_node; i++)
    self->cluster.nics[i] = fab_graph_builder_vertex (self->builder, FAB_VERTEX_NIC, i / nics_per_node, nic,
                                                      i % nics_per_node);
}

/* Returns the first of `n` switches, whose numbers follow. */
static FabVertexId
add_switches (Machine *self, const char *name, guint n)
{
  guint part = fab_graph_builder_part (self->builder, name, n > 1);
  FabVertexId first = 0;

  for (guint i = 0; i < n; i++) {
    FabVertexId id = fab_graph_builder_vertex (self->builder, FAB_VERTEX_SWITCH, FAB_NO_NODE, part, i);

    first = i == 0 ? id : first;
  }
  return first;
}

static void
join (Machine *self, FabVertexId a, FabVertexId b, guint n_ports)
{
  FabLinkForm form = self->form;

  form.count = n_ports;
  if (n_ports > 0)
    fab_graph_builder_join (self->builder, a, b, &form);
}

static void
attach (Machine *self, guint nic, FabVertexId leaf)
{
  join (self, self->cluster.nics[nic], leaf, 1);
}

static const FabTopoFabric *
draw (Machine *self, const char *kind)
{
  self->graph = fab_graph_builder_freeze (self->builder);
  self->cluster.graph = self->graph;
  self->fabric = fab_topo_fabric_new (&self->cluster, kind);
  return self->fabric;
}

static void
machine_clear (Machine *self)
{
  fab_topo_fabric_free (self->fabric);
  fab_graph_free (self->graph);
  fab_graph_builder_free (self->builder);
  g_free (self->cluster.nics);
}

static const FabTopoRow *
row_at (const FabTopoFabric *fabric, guint i)
{
  assert_true (i < fabric->rows->len);
  return &g_array_index (fabric->rows, FabTopoRow, i);
}

static void
assert_row (const FabTopoFabric *fabric, guint i, const char *text)
{
  g_autofree char *found = fab_topo_row_text (row_at (fabric, i));

  assert_string_equal (found, text);
}

static void
assert_uplinks (const FabTopoFabric *fabric, guint i, const char *text)
{
  g_autofree char *found = fab_topo_uplinks_text (row_at (fabric, i));

  if (text == NULL)
    assert_null (found);
  else
    assert_string_equal (found, text);
}

static void
assert_join (const FabTopoFabric *fabric, guint i, guint upper, guint lower, const char *text,
             gboolean is_mesh)
{
  const FabTopoJoin *found = &g_array_index (fabric->joins, FabTopoJoin, i);

  assert_true (i < fabric->joins->len);
  assert_string_equal (found->text, text);
  assert_int_equal (found->upper, upper);
  assert_int_equal (found->lower, lower);
  assert_int_equal (found->is_mesh, is_mesh);
}

/* --- rows and joins --- */

/* Leaf 2 has half of the spines, leaf 3 three of them by one port each, the others all four by two ports. */
static void
members_that_differ_are_told_apart (G_GNUC_UNUSED void **state)
{
  static const guint ports[5][4] = {
    { 2, 2, 2, 2 }, { 2, 2, 2, 2 }, { 2, 2, 0, 0 }, { 1, 1, 1, 0 }, { 2, 2, 2, 2 }
  };
  static const guint leaf_of[] = { 0, 0, 1, 2, 3, 4 };
  Machine machine;

  machine_init (&machine, 6, 1);
  FabVertexId leaf = add_switches (&machine, "leaf", 5), spine = add_switches (&machine, "spine", 4);
  for (guint i = 0; i < 6; i++)
    attach (&machine, i, leaf + leaf_of[i]);
  for (guint i = 0; i < 5; i++)
    for (guint k = 0; k < 4; k++)
      join (&machine, leaf + i, spine + k, ports[i][k]);
  const FabTopoFabric *fabric = draw (&machine, "custom");

  assert_int_equal (fabric->rows->len, 3);
  for (guint i = 0; i < 3; i++)
    assert_int_equal (row_at (fabric, i)->level, 2 - i);
  assert_row (fabric, 0, "4 spines, 6 to 9 ports down (up to 450 GB/s)");
  assert_row (
      fabric, 1,
      "5 leaves, 1 to 2 ports down (up to 100 GB/s), 3 to 8 up (up to 400 GB/s), 0.3333 : 1 at worst");
  assert_row (fabric, 2, "6 nodes");
  assert_uplinks (fabric, 0, NULL);
  assert_uplinks (fabric, 1, "3 of 5 leaves have all 8 uplinks, 2 have 3 to 4");
  assert_uplinks (fabric, 2, NULL);
  assert_int_equal (fabric->joins->len, 2);
  assert_join (
      fabric, 0, 0, 1,
      "3 of 5 leaves to all 4 spines: 2 x ib, 100 GB/s each; 2 others to 2 to 3 of 4 spines by 3 to 4 ports",
      TRUE);
  assert_join (fabric, 1, 1, 2, "each node to one leaf: ib, 50 GB/s", FALSE);
  assert_int_equal (fabric->n_networks, 1);
  assert_false (fabric->has_rails);
  machine_clear (&machine);
}

/* One row of members that are all alike, in the singular too, with several links between the same two switches. */
static void
members_that_are_alike_have_no_exceptions (G_GNUC_UNUSED void **state)
{
  for (guint n_leaves = 1; n_leaves < 4; n_leaves++)
    for (guint n_spines = 1; n_spines < 4; n_spines++)
      for (guint n_links = 1; n_links < 3; n_links++) {
        Machine machine;

        machine_init (&machine, 2 * n_leaves, 1);
        FabVertexId leaf = add_switches (&machine, "leaf", n_leaves),
                    spine = add_switches (&machine, "switch", n_spines);
        for (guint i = 0; i < 2 * n_leaves; i++)
          attach (&machine, i, leaf + i / 2);
        for (guint i = 0; i < n_leaves; i++)
          for (guint k = 0; k < n_spines * n_links; k++)
            join (&machine, leaf + i, spine + k % n_spines, 1);
        const FabTopoFabric *fabric = draw (&machine, "custom");
        guint down = n_leaves * n_links, up = n_spines * n_links;
        g_autofree char *switches = g_strdup_printf ("%u switch%s, %u port%s down (%u GB/s)", n_spines,
                                                     n_spines > 1 ? "es" : "", down, down > 1 ? "s" : "",
                                                     50 * down);
        g_autofree char *leaves = g_strdup_printf (
            "%u lea%s, 2 ports down (100 GB/s), %u up (%u GB/s), %.4g : 1", n_leaves,
            n_leaves > 1 ? "ves" : "f", up, 50 * up, 2.0 / up);
        g_autofree char *all = n_spines == 1 ? g_strdup ("the switch")
                                             : g_strdup_printf ("all %u switches", n_spines);
        g_autofree char *text = g_strdup_printf ("each leaf to %s: %sib, 50 GB/s%s", all,
                                                 n_links > 1 ? "2 links of " : "", up > 1 ? " each" : "");

        assert_row (fabric, 0, switches);
        assert_row (fabric, 1, leaves);
        assert_uplinks (fabric, 1, NULL);
        assert_join (fabric, 0, 0, 1, text, n_spines > 1);
        assert_int_equal (fabric->n_networks, 1);
        machine_clear (&machine);
      }
}

/* Names that end with no letter have no plural. One of the members may have no link to the row above at all. */
static void
words_of_the_exceptions (G_GNUC_UNUSED void **state)
{
  static const struct {
    guint ports[4]; /* from each leaf to the first spine */
    const char *text;
  } cases[] = {
    { { 1, 1, 1, 0 }, "3 of 4 leaves to one sw-: ib, 50 GB/s; 1 other to none" },
    { { 2, 0, 0, 2 }, "2 of 4 leaves to one sw-: 2 x ib, 100 GB/s; 2 others to none" },
    { { 2, 1, 2, 2 }, "3 of 4 leaves to one sw-: 2 x ib, 100 GB/s; 1 other to one sw- by 1 port" },
    { { 4, 1, 2, 4 }, "2 of 4 leaves to one sw-: 4 x ib, 200 GB/s; 2 others to one sw- by 1 to 2 ports" },
    { { 4, 2, 2, 4 }, "2 of 4 leaves to one sw-: 4 x ib, 200 GB/s; 2 others to one sw- by 2 ports" },
    { { 0, 1, 2, 4 },
      "1 of 4 leaves to one sw-: 4 x ib, 200 GB/s; 3 others to 0 to 1 of 2 x sw- by 0 to 2 ports" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    Machine machine;

    machine_init (&machine, 4, 1);
    FabVertexId leaf = add_switches (&machine, "leaf", 4), spine = add_switches (&machine, "sw-", 2);
    for (guint k = 0; k < 4; k++) {
      attach (&machine, k, leaf + k);
      join (&machine, leaf + k, spine, cases[i].ports[k]);
    }
    join (&machine, spine, spine + 1, 1);
    const FabTopoFabric *fabric = draw (&machine,
                                        "dragonfly_plus"); /* switches of one name stand in one row */
    g_autofree char *two = fab_topo_row_text (row_at (fabric, 0));

    assert_int_equal (fabric->rows->len, 3);
    assert_true (g_str_has_prefix (two, "2 x sw-, 0 to "));
    assert_join (fabric, 0, 0, 1, cases[i].text, FALSE);
    machine_clear (&machine);
  }
}

/* Counts of a row against those of its members, one by one, whatever their order. */
static void
ports_are_those_of_the_members (G_GNUC_UNUSED void **state)
{
  for (guint64 seed = 1; seed <= 300; seed++) {
    Random random = { seed };
    guint n = random_between (&random, 1, 5), up[5], down[5], most = 0, least = G_MAXUINT, fewer = 0,
          with_all = 0, down_most = 0, down_least = G_MAXUINT, n_nics = 0;
    double over = 0;
    Machine machine;

    for (guint i = 0; i < n; i++) {
      up[i] = random_below (&random, 4) + (i == 0 && n == 1); /* the spine is part of the machine */
      down[i] = random_between (&random, 1, 3);
      n_nics += down[i];
    }
    up[n - 1] += n > 1 && up[n - 1] == 0;
    for (guint i = 0; i < n; i++) {
      most = MAX (most, up[i]);
      least = MIN (least, up[i]);
      down_most = MAX (down_most, down[i]);
      down_least = MIN (down_least, down[i]);
      over = up[i] > 0 ? MAX (over, (double) down[i] / up[i]) : over;
    }
    for (guint i = 0; i < n; i++) {
      with_all += up[i] == most;
      fewer = up[i] < most ? MAX (fewer, up[i]) : fewer;
    }
    machine_init (&machine, n_nics, 1);
    FabVertexId leaf = add_switches (&machine, "leaf", n), spine = add_switches (&machine, "spine", 1);
    for (guint i = 0, nic = 0; i < n; i++) {
      for (guint k = 0; k < down[i]; k++)
        attach (&machine, nic++, leaf + i);
      join (&machine, leaf + i, spine, up[i]);
    }
    const FabTopoFabric *fabric = draw (&machine, "custom");
    const FabTopoRow *row = row_at (fabric, 1);
    g_autofree char *uplinks = fab_topo_uplinks_text (row), *ratio = fab_topo_oversubscription (row);
    g_autofree char *wanted = g_strdup_printf ("%.4g : 1%s", over,
                                               n > 1 && (least < most || down_least < down_most) ? " at worst"
                                                                                                 : "");

    assert_int_equal (row->n, n);
    assert_int_equal (row->n_up, most);
    assert_int_equal (row->n_up_least, least);
    assert_int_equal (row->n_down, down_most);
    assert_int_equal (row->n_down_least, down_least);
    assert_int_equal (row->n_with_all_up, with_all);
    assert_int_equal (row->n_up_fewer, fewer);
    assert_int_equal (row->n_across, 0);
    assert_true (row->up_bytes_per_s == most * PORT && row->down_bytes_per_s == down_most * PORT);
    assert_near (row->oversubscription, over, 1e-12);
    assert_string_equal (ratio, wanted);
    assert_int_equal (uplinks != NULL, least < most);
    if (uplinks != NULL) {
      g_autofree char *range = least < fewer ? g_strdup_printf ("%u to %u", least, fewer)
                                             : g_strdup_printf ("%u", fewer);
      g_autofree char *text = g_strdup_printf ("%u of %u leaves %s all %u uplinks, %u %s %s", with_all, n,
                                               with_all == 1 ? "has" : "have", most, n - with_all,
                                               n - with_all == 1 ? "has" : "have", range);
      assert_string_equal (uplinks, text);
    }
    assert_null (fab_topo_oversubscription (row_at (fabric, 2)));
    machine_clear (&machine);
  }
}

/* Switches of one name that are not as far from the nodes stand in rows of their own, the farther ones above, except
 * where those of the fabric are alike. Switches that no node reaches stand nowhere. */
static void
switches_stand_by_how_far_they_are (G_GNUC_UNUSED void **state)
{
  for (guint alike = 0; alike < 2; alike++) {
    Machine machine;

    machine_init (&machine, 2, 1);
    FabVertexId sw = add_switches (&machine, "switch", 5);
    attach (&machine, 0, sw + 3);
    attach (&machine, 1, sw + 1);
    join (&machine, sw + 3, sw + 2, 1);
    join (&machine, sw + 1, sw + 2, 1);
    join (&machine, sw + 2, sw, 1); /* sw + 4 hangs on nothing */
    const FabTopoFabric *fabric = draw (&machine, alike == 0 ? "custom" : "hyperx");

    if (alike == 0) {
      static const guint members[] = { 1, 1, 2, 2 };

      assert_int_equal (fabric->rows->len, 4);
      for (guint i = 0; i < 4; i++) {
        assert_int_equal (row_at (fabric, i)->n, members[i]);
        assert_int_equal (row_at (fabric, i)->level, 3 - i);
      }
    } else {
      assert_int_equal (fabric->rows->len, 2);
      assert_int_equal (row_at (fabric, 0)->n, 4);
      assert_int_equal (row_at (fabric, 0)->n_across, 3);
    }
    machine_clear (&machine);
  }
}

/* --- routers --- */

/* Groups of routers that are all joined inside, each with so many links to the next ones. */
static void
routers_of_a_group_are_one_member (G_GNUC_UNUSED void **state)
{
  static const struct {
    guint n_groups, size, n_links;
    gboolean is_whole; /* every two groups are joined; otherwise each to the next one */
    const char *inside, *across;
  } cases[] = {
    { 2, 3, 1, TRUE, "3 routers, each joined to every other: ib, 50 GB/s",
      "between every two of them 1 links of ib, 50 GB/s" },
    { 3, 2, 2, TRUE, "2 routers, each joined to every other: ib, 50 GB/s",
      "between every two of them 2 links of ib, 50 GB/s" },
    { 4, 2, 1, FALSE, "2 routers, each joined to every other: ib, 50 GB/s",
      "each joined to 2 others by 2 links of ib, 50 GB/s" },
    { 1, 4, 0, TRUE, "4 routers, each joined to every other: ib, 50 GB/s", NULL },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    guint n = cases[i].n_groups, size = cases[i].size;
    Machine machine;

    machine_init (&machine, n * size, 1);
    FabVertexId router = add_switches (&machine, "router", n * size);
    for (guint k = 0; k < n * size; k++)
      attach (&machine, k, router + k);
    for (guint g = 0; g < n; g++)
      for (guint one = 0; one < size; one++)
        for (guint other = one + 1; other < size; other++)
          join (&machine, router + g * size + one, router + g * size + other, 1);
    for (guint g = 0; g < n; g++)
      for (guint other = g + 1; other < n; other++)
        for (guint k = 0; k < cases[i].n_links; k++)
          if (cases[i].is_whole || other == g + 1 || other == g + n - 1)
            join (&machine, router + g * size + size - 1, router + other * size + k % size, 1);
    const FabTopoFabric *fabric = draw (&machine, "dragonfly");
    const FabTopoRow *row = row_at (fabric, 0);

    assert_string_equal (row->name, "group");
    assert_int_equal (row->n, n);
    assert_int_equal (row->n_each, size);
    assert_string_equal (row->inside, cases[i].inside);
    if (cases[i].across == NULL)
      assert_null (row->across);
    else
      assert_string_equal (row->across, cases[i].across);
    assert_int_equal (row->n_across, cases[i].is_whole ? (n - 1) * cases[i].n_links : 2);
    assert_int_equal (row->n_down, size); /* links inside a group are none of its ports */
    assert_int_equal (fabric->n_networks, 1);
    g_autofree char *text = g_strdup_printf ("each node to %s: ib, 50 GB/s",
                                             n == 1 ? "the group" : "one group");
    assert_join (fabric, 0, 0, 1, text, FALSE);
    for (guint g = 0; g < n; g++)
      for (guint node = 0; node < n * size; node++) {
        FabLinkId link = fab_topo_link_between (fabric, 0, g, 1, node);

        assert_int_equal (link != FAB_NO_LINK, node / size == g);
        if (link != FAB_NO_LINK) {
          assert_int_equal (fab_graph_link (machine.graph, link)->src, router + node);
          assert_int_equal (fab_graph_link (machine.graph, link)->dst, machine.cluster.nics[node]);
        }
      }
    machine_clear (&machine);
  }
}

/* Three routers that are all joined, and two more: five are no groups of three. Nor are routers that are not joined. */
static void
routers_that_are_no_groups_stay (G_GNUC_UNUSED void **state)
{
  for (guint is_joined = 0; is_joined < 2; is_joined++) {
    Machine machine;

    machine_init (&machine, 5, 1);
    FabVertexId router = add_switches (&machine, "router", 5);
    for (guint k = 0; k < 5; k++)
      attach (&machine, k, router + k);
    for (guint one = 0; one < 3 && is_joined; one++)
      for (guint other = one + 1; other < 3; other++)
        join (&machine, router + one, router + other, 1);
    join (&machine, router, router + 4, 1);
    const FabTopoFabric *fabric = draw (&machine, "dragonfly");

    assert_int_equal (row_at (fabric, 0)->n, 5);
    assert_int_equal (row_at (fabric, 0)->n_each, 1);
    assert_string_equal (row_at (fabric, 0)->name, "router");
    assert_null (row_at (fabric, 0)->inside);
    assert_string_equal (row_at (fabric, 0)->across, is_joined
                                                         ? "each joined to 3 others by 3 links of ib, 50 GB/s"
                                                         : "each joined to 1 other by 1 link of ib, 50 GB/s");
    machine_clear (&machine);
  }
}

/* Routers of a torus are joined to the next one of each axis, and the last to the first where it is another one. */
static void
a_torus_has_its_sizes (G_GNUC_UNUSED void **state)
{
  static const struct {
    guint sizes[3];
    const char *text;
  } cases[] = {
    { { 3, 2, 1 }, "3 x 2, each joined to its neighbours: ib, 50 GB/s" },
    { { 4, 3, 1 }, "4 x 3, each joined to its neighbours: ib, 50 GB/s" },
    { { 3, 4, 2 }, "3 x 4 x 2, each joined to its neighbours: ib, 50 GB/s" },
    { { 5, 1, 1 }, "5 x 1, each joined to its neighbours: ib, 50 GB/s" },
    { { 2, 2, 3 }, "2 x 2 x 3, each joined to its neighbours: ib, 50 GB/s" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    const guint *sizes = cases[i].sizes;
    guint n = sizes[0] * sizes[1] * sizes[2];
    Machine machine;

    machine_init (&machine, n, 1);
    FabVertexId router = add_switches (&machine, "router", n);
    for (guint k = 0; k < n; k++)
      attach (&machine, k, router + k);
    for (guint axis = 0, step = 1; axis < 3; step *= sizes[axis++])
      for (guint k = 0; k < n; k++) {
        guint at = k / step % sizes[axis];

        if (at + 1 < sizes[axis])
          join (&machine, router + k, router + k + step, 1);
        else if (sizes[axis] > 2)
          join (&machine, router + k, router + k - at * step, 1);
      }
    const FabTopoFabric *fabric = draw (&machine, "torus");

    for (guint axis = 0; axis < 3; axis++)
      assert_int_equal (fabric->sizes[axis], sizes[axis]);
    assert_string_equal (row_at (fabric, 0)->inside, cases[i].text);
    assert_null (row_at (fabric, 0)->across);
    machine_clear (&machine);
  }
}

/* One NIC of the second node goes to two leaves. What nodes have is no oversubscription, and they have no uplinks to
 * tell of, though they differ. A leaf with one port up has a ratio as others have. */
static void
nodes_may_differ (G_GNUC_UNUSED void **state)
{
  Machine machine;

  machine_init (&machine, 2, 1);
  FabVertexId leaf = add_switches (&machine, "leaf", 2), spine = add_switches (&machine, "spine", 1);
  attach (&machine, 0, leaf);
  attach (&machine, 1, leaf);
  attach (&machine, 1, leaf + 1);
  join (&machine, leaf, spine, 1);
  join (&machine, leaf + 1, spine, 1);
  const FabTopoFabric *fabric = draw (&machine, "custom");

  assert_int_equal (row_at (fabric, 2)->n_up_least, 1);
  assert_int_equal (row_at (fabric, 2)->n_up, 2);
  assert_uplinks (fabric, 2, NULL);
  assert_null (fab_topo_oversubscription (row_at (fabric, 2)));
  assert_row (fabric, 1, "2 leaves, 1 to 2 ports down (up to 100 GB/s), 1 up (50 GB/s), 2 : 1 at worst");
  assert_row (fabric, 0, "1 spine, 2 ports down (100 GB/s)");
  machine_clear (&machine);
}

/* --- networks and rails --- */

/* NIC k at leaf k, and every leaf below a spine of its own, or all below one. */
static void
networks_are_joined_by_nodes_alone (G_GNUC_UNUSED void **state)
{
  for (guint n_nics = 1; n_nics < 4; n_nics++)
    for (guint n_spines = 1; n_spines <= n_nics; n_spines++) {
      Machine machine;

      machine_init (&machine, 3, n_nics);
      FabVertexId leaf = add_switches (&machine, "leaf", n_nics),
                  spine = add_switches (&machine, "spine", n_spines);
      for (guint i = 0; i < 3 * n_nics; i++)
        attach (&machine, i, leaf + i % n_nics);
      for (guint i = 0; i < n_nics; i++)
        join (&machine, leaf + i, spine + i % n_spines, 2);
      const FabTopoFabric *fabric = draw (&machine, "rail");

      assert_int_equal (fabric->n_networks, n_spines);
      assert_int_equal (fabric->has_rails, n_nics > 1);
      if (n_spines == 1)
        assert_string_equal (row_at (fabric, 0)->inside,
                             "the spines of all rails, drawn as one switch that never blocks");
      else
        assert_null (row_at (fabric, 0)->inside);
      machine_clear (&machine);
    }
}

/* A leaf takes the same NIC of every node, or of every board of a node; one that is crossed ends it. */
static void
rails_take_one_nic_of_each_board (G_GNUC_UNUSED void **state)
{
  static const struct {
    guint leaf_of[4]; /* of the NICs of the first node */
    guint last_of[4]; /* of those of the last one */
    guint per_board;  /* 0: a node is one board */
    gboolean has_rails;
  } cases[] = {
    { { 0, 1, 2, 3 }, { 0, 1, 2, 3 }, 0, TRUE },  { { 0, 1, 2, 3 }, { 4, 5, 6, 7 }, 0, TRUE },
    { { 0, 1, 2, 3 }, { 0, 1, 3, 2 }, 0, FALSE }, { { 0, 0, 1, 1 }, { 0, 0, 1, 1 }, 0, FALSE },
    { { 0, 1, 0, 1 }, { 0, 1, 0, 1 }, 2, TRUE },  { { 0, 1, 0, 1 }, { 0, 1, 0, 1 }, 0, FALSE },
    { { 0, 1, 0, 1 }, { 1, 0, 1, 0 }, 2, FALSE }, { { 0, 0, 0, 0 }, { 0, 0, 0, 0 }, 1, FALSE },
    { { 0, 1, 1, 0 }, { 0, 1, 1, 0 }, 2, FALSE }, { { 0, 1, 2, 0 }, { 0, 1, 2, 0 }, 3, TRUE },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    Machine machine;

    machine_init (&machine, 2, 4);
    machine.cluster.nics_per_board = cases[i].per_board;
    FabVertexId leaf = add_switches (&machine, "leaf", 8);
    for (guint k = 0; k < 4; k++) {
      attach (&machine, k, leaf + cases[i].leaf_of[k]);
      attach (&machine, 4 + k, leaf + cases[i].last_of[k]);
    }
    const FabTopoFabric *fabric = draw (&machine, "rail");

    if (fabric->has_rails != cases[i].has_rails)
      fail_msg ("case %u", i);
    assert_null (row_at (fabric, 0)->inside); /* there are no spines */
    machine_clear (&machine);
  }
}

/* The first ones and the last, `most` of them where there are more. */
static void
few_members_are_drawn (G_GNUC_UNUSED void **state)
{
  for (guint n = 1; n < 9; n++)
    for (guint most = 2; most < 7; most++) {
      FabTopoRow row = { .n = n };
      g_autoptr (GArray) shown = fab_topo_shown (&row, most);

      assert_int_equal (shown->len, MIN (n, most));
      for (guint i = 0; i < shown->len; i++)
        assert_int_equal (g_array_index (shown, guint, i), i + 1 < shown->len ? i : n - 1);
    }
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (members_that_differ_are_told_apart),
    cmocka_unit_test (members_that_are_alike_have_no_exceptions),
    cmocka_unit_test (words_of_the_exceptions),
    cmocka_unit_test (ports_are_those_of_the_members),
    cmocka_unit_test (switches_stand_by_how_far_they_are),
    cmocka_unit_test (routers_of_a_group_are_one_member),
    cmocka_unit_test (routers_that_are_no_groups_stay),
    cmocka_unit_test (a_torus_has_its_sizes),
    cmocka_unit_test (nodes_may_differ),
    cmocka_unit_test (networks_are_joined_by_nodes_alone),
    cmocka_unit_test (rails_take_one_nic_of_each_board),
    cmocka_unit_test (few_members_are_drawn),
  };

  return cmocka_run_group_tests (tests, NULL, NULL);
}
