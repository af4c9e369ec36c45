/* SPDX-License-Identifier: Apache-2.0 */
/* test_multicast.c - loads and stores through a switch that adds and copies, message by message. */
#include "tests/support/test.h"

#include "sim/collective/shape/multicast.h"
#include "tests/support/closed_router.h"
#include "tests/support/lanes.h"
#include "tests/support/rig.h"

enum { LINK_PS = 50 };

static const FabAlgorithmEnv env = { .net_stretch = 1 };

static Rig *
star (guint n_nodes, guint n_gpus, gboolean reduces)
{
  return rig_new (&(RigSpec){ .n_nodes = n_nodes,
                              .gpus_per_node = n_gpus,
                              .gpu_bytes_per_s = FAB_PS_PER_S,
                              .gpu_latency_ps = LINK_PS,
                              .gpus_reduce = reduces });
}

static GArray *
list_of (guint n, const guint *numbers)
{
  GArray *list = g_array_new (FALSE, FALSE, sizeof (guint));

  g_array_append_vals (list, numbers, n);
  return list;
}

/* A load and a store in one node, whose heads are `heads` (NULL: all). */
static void
load_and_store (FabSendGraph *sends, const FabGroup *group, guint node, const GArray *heads)
{
  g_autoptr (GPtrArray) lists = fab_send_lists_new (group->gpus_per_node);

  assert_true (fab_multicast_load (sends, group, node, heads, lists, NULL));
  for (guint i = 0; i < group->gpus_per_node; i++) {
    gboolean is_head = heads == NULL;

    for (guint k = 0; heads != NULL && k < heads->len; k++)
      is_head = is_head || g_array_index (heads, guint, k) == i;
    assert_int_equal (fab_send_list (lists, i)->len, is_head ? 1 : 0);
  }
  assert_true (fab_multicast_store (sends, group, node, heads, lists, NULL));
}

/* Every GPU sends all bytes up, and gets the sum of its third; it sends that up, and all thirds come down to all. */
static void
all_gpus_are_heads (G_GNUC_UNUSED void **state)
{
  g_autoptr (Rig) rig = star (1, 3, TRUE);
  FabGroup group = rig_group (rig);
  g_autoptr (FabSchedule) schedule = fab_schedule_new (&rig->cluster);
  g_autoptr (FabSendGraph) sends = fab_send_graph_new (&group, &env, schedule, 1);

  load_and_store (sends, &group, 0, NULL);
  lanes_assert (schedule, &rig->cluster,
                "0>node0/switch 1\n1>node0/switch 1\n2>node0/switch 1\n"
                "node0/switch>0 0.3333333333 after 0 1 2\nnode0/switch>1 0.3333333333 after 0 1 2\n"
                "node0/switch>2 0.3333333333 after 0 1 2\n"
                "0>node0/switch 0.3333333333 after 3\n1>node0/switch 0.3333333333 after 4\n"
                "2>node0/switch 0.3333333333 after 5\n"
                "node0/switch>0 1 after 6 7 8\nnode0/switch>1 1 after 6 7 8\nnode0/switch>2 1 after 6 7 8\n");
}

/* In the second node, whose heads are the last GPU and the first. */
static void
two_gpus_are_heads (G_GNUC_UNUSED void **state)
{
  const guint heads[] = { 2, 0 };
  g_autoptr (GArray) list = list_of (2, heads);
  g_autoptr (Rig) rig = star (2, 3, TRUE);
  FabGroup group = rig_group (rig);
  g_autoptr (FabSchedule) schedule = fab_schedule_new (&rig->cluster);
  g_autoptr (FabSendGraph) sends = fab_send_graph_new (&group, &env, schedule, 4);

  load_and_store (sends, &group, 1, list);
  lanes_assert (schedule, &rig->cluster,
                "3>node1/switch 0.25 x4\n4>node1/switch 0.25 x4\n5>node1/switch 0.25 x4\n"
                "node1/switch>5 0.125 x4 after 0 1 2\nnode1/switch>3 0.125 x4 after 0 1 2\n"
                "5>node1/switch 0.125 x4 after 3\n3>node1/switch 0.125 x4 after 4\n"
                "node1/switch>3 0.25 x4 after 5 6\nnode1/switch>4 0.25 x4 after 5 6\n"
                "node1/switch>5 0.25 x4 after 5 6\n");
}

/* Bytes per byte of size that the links of a rank carry, up or down. */
static double
load_of (const Rig *rig, const FabFootprint *footprint, guint rank, gboolean is_up)
{
  double sum = 0;

  for (guint i = 0; i < footprint->n; i++) {
    const FabLink *link = fab_graph_link (rig->graph, footprint->links[i]);

    if ((is_up ? link->src : link->dst) == rig_gpu (rig, rank))
      sum += footprint->weights[i];
  }
  return sum;
}

/* A GPU sends 1 + 1/n and receives 1/n + 1. Up to the switch and down is one step, so that a load and a store are two,
 * of two links each. */
static void
a_load_and_a_store_are_two_steps (G_GNUC_UNUSED void **state)
{
  for (guint n = 2; n <= 9; n++) {
    g_autoptr (Rig) rig = star (1, n, TRUE);
    FabGroup group = rig_group (rig);
    g_autoptr (FabSendGraph) sends = fab_send_graph_new (&group, &env, NULL, 1);
    FabCollectiveForm form = { 0 };

    load_and_store (sends, &group, 0, NULL);
    fab_send_graph_form (sends, FALSE, &form);
    assert_int_equal (form.n_intra_steps, 2);
    assert_int_equal (form.n_inter_steps, 0);
    assert_int_equal (form.intra_latency_ps, 2 * LINK_PS);
    assert_int_equal (form.footprint->n, 2 * n);
    for (guint rank = 0; rank < n; rank++) {
      assert_near (load_of (rig, form.footprint, rank, TRUE), 1 + 1.0 / n, 1e-12);
      assert_near (load_of (rig, form.footprint, rank, FALSE), 1 + 1.0 / n, 1e-12);
    }
    fab_footprint_free (form.footprint);
  }
}

/* A graph by hand: GPU i of one node is joined to the switches of row i. Only some of the joints reduce. */
typedef struct {
  FabGraph *graph;
  FabCluster cluster;
  FabVertexId gpus[3], switches[2];
} Hand;

static void
hand_init (Hand *self, const char *const rows[3])
{
  static const FabTechnology technology = { .name = "wire" };
  g_autoptr (FabGraphBuilder) builder = fab_graph_builder_new ();
  guint gpu = fab_graph_builder_part (builder, "gpu", TRUE),
        part = fab_graph_builder_part (builder, "sw", TRUE);

  for (guint i = 0; i < 3; i++)
    self->gpus[i] = fab_graph_builder_vertex (builder, FAB_VERTEX_ACCELERATOR, 0, gpu, i);
  for (guint i = 0; i < 2; i++)
    self->switches[i] = fab_graph_builder_vertex (builder, FAB_VERTEX_SWITCH, 0, part, i);
  for (guint i = 0; i < 3; i++)
    for (guint k = 0; k < 2; k++) {
      const FabLinkClass link_class = { .name = rows[i][k] == 'r' ? "reducing" : "plain",
                                        .technology = &technology,
                                        .cost = { 1, 1, 1 },
                                        .has_reduction = rows[i][k] == 'r' };
      FabLinkForm form = { FAB_PS_PER_S, 50, fab_graph_builder_class (builder, &link_class), 1 };

      if (rows[i][k] != '.')
        fab_graph_builder_join (builder, self->gpus[i], self->switches[k], &form);
    }
  self->graph = fab_graph_builder_freeze (builder);
  self->cluster = (FabCluster){
    .graph = self->graph, .n_nodes = 1, .gpus_per_node = 3, .gpus = self->gpus, .nics = NULL
  };
}

/* A switch counts when the links of all GPUs to it reduce; the first of several. */
static void
the_switch_of_all_gpus_is_found (G_GNUC_UNUSED void **state)
{
  static const struct {
    const char *rows[3];
    gint expected; /* number of the switch; -1: there is none */
  } cases[] = {
    { { "r.", "r.", "r." }, 0 },  { { ".r", ".r", ".r" }, 1 },  { { "rr", "rr", "rr" }, 0 },
    { { "rr", ".r", "rr" }, 1 },  { { "rr", "rr", ".r" }, 1 },  { { "pr", "pr", "pr" }, 1 },
    { { "p.", "p.", "p." }, -1 }, { { "r.", "r.", "p." }, -1 }, { { "r.", ".r", "r." }, -1 },
    { { "p.", "r.", "r." }, -1 }, { { "rr", "r.", ".r" }, -1 },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    Hand hand;
    FabVertexId centre = 0;

    hand_init (&hand, cases[i].rows);
    FabGroup group = { &hand.cluster, 1, 3 };
    gboolean is_found = fab_multicast_switch (&group, 0, &centre);
    assert_int_equal (is_found, cases[i].expected >= 0);
    if (is_found)
      assert_int_equal (centre, hand.switches[cases[i].expected]);
    fab_graph_free (hand.graph);
  }
}

/* Of each node it is the switch of that node. */
static void
every_node_has_its_own_switch (G_GNUC_UNUSED void **state)
{
  g_autoptr (Rig) rig = star (3, 2, TRUE), plain = star (2, 2, FALSE);
  FabGroup group = rig_group (rig), plain_group = rig_group (plain);
  FabVertexId centre;

  for (guint node = 0; node < 3; node++) {
    g_autofree char *expected = g_strdup_printf ("node%u/switch", node);

    assert_true (fab_multicast_switch (&group, node, &centre));
    g_autofree char *name = fab_graph_vertex_name (rig->graph, centre);
    assert_string_equal (name, expected);
  }
  assert_false (fab_multicast_switch (&plain_group, 1, &centre));
}

static gboolean
try_load (gpointer rig, GError **error)
{
  FabGroup group = rig_group (rig);
  g_autoptr (FabSendGraph) sends = fab_send_graph_new (&group, &env, NULL, 1);
  g_autoptr (GPtrArray) lists = fab_send_lists_new (group.gpus_per_node);

  return fab_multicast_load (sends, &group, 0, NULL, lists, error);
}

static gboolean
try_store (gpointer rig, GError **error)
{
  FabGroup group = rig_group (rig);
  g_autoptr (FabSendGraph) sends = fab_send_graph_new (&group, &env, NULL, 1);
  g_autoptr (GPtrArray) lists = fab_send_lists_new (group.gpus_per_node);

  return fab_multicast_store (sends, &group, 0, NULL, lists, error);
}

static void
a_path_that_is_missing_is_told (G_GNUC_UNUSED void **state)
{
  g_autoptr (Rig) rig = star (1, 3, TRUE);

  closed_router_try (&rig->cluster.router, try_load, rig);
  closed_router_try (&rig->cluster.router, try_store, rig);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (all_gpus_are_heads),
    cmocka_unit_test (two_gpus_are_heads),
    cmocka_unit_test (a_load_and_a_store_are_two_steps),
    cmocka_unit_test (the_switch_of_all_gpus_is_found),
    cmocka_unit_test (a_path_that_is_missing_is_told),
    cmocka_unit_test (every_node_has_its_own_switch),
  };

  return cmocka_run_group_tests_name ("multicast", tests, NULL, NULL);
}
