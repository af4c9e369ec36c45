/* SPDX-License-Identifier: Apache-2.0 */
/* test_nccl_wires.c - what models/library/nccl/wires.c reads from the links of rings, by hand.
 *
 * Of an all-reduce of one byte every GPU sends and receives 2 (N - 1) / N, and so does every node; the NICs of a node
 * have equal parts of that. Line bytes are that times the cost of the link.
 */
#include "models/library/nccl/parts.h"
#include "models/models.h"
#include "tests/support/rig.h"
#include "tests/support/test.h"

#define GB G_GUINT64_CONSTANT (1000000000)

typedef struct {
  Rig *rig;
  FabCollectiveForm form;
  GHashTable *known;
  const NcclWires *wires;
} Case;

static Case
case_of (const RigSpec *spec, FabOp op)
{
  Case self = { .rig = rig_new (spec), .known = g_hash_table_new_full (NULL, NULL, NULL, g_free) };
  FabGroup group = rig_group (self.rig);

  assert_true (
      fab_algorithm_ring.form (&group, op, &(FabAlgorithmEnv){ .net_stretch = 1 }, &self.form, NULL));
  self.wires = nccl_wires (self.known, &group, &self.form);
  assert_ptr_equal (nccl_wires (self.known, &group, &self.form), self.wires);
  return self;
}

static void
case_clear (Case *self)
{
  fab_footprint_free (self->form.footprint);
  g_hash_table_unref (self->known);
  rig_free (self->rig);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Case, case_clear)

/* Over k NICs a NIC sends 1/k of what a GPU sends. A rail has a NIC of its own, with the link to its node's switch,
 * which is as fast as that of a GPU: the slower of both counts. */
static void
rails_have_the_links_of_their_nics (G_GNUC_UNUSED void **state)
{
  static const struct {
    guint nodes, gpus, nics, gpu_GBps, nic_GBps;
    double gpu_cost, nic_cost;
  } rows[] = {
    { 2, 4, 4, 100, 25, 1, 1 },       { 2, 4, 2, 100, 25, 1, 1 },   { 3, 8, 1, 100, 25, 1.25, 1.0625 },
    { 4, 2, 2, 10, 50, 1.25, 1.125 }, { 2, 1, 1, 20, 50, 1, 1.25 }, { 2, 8, 4, 64, 16, 1, 1.5 },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    const RigSpec spec = { .n_nodes = rows[i].nodes,
                           .gpus_per_node = rows[i].gpus,
                           .nics_per_node = rows[i].nics,
                           .gpu_bytes_per_s = rows[i].gpu_GBps * GB,
                           .nic_bytes_per_s = rows[i].nic_GBps * GB,
                           .gpu_cost = rows[i].gpu_cost,
                           .nic_cost = rows[i].nic_cost };
    g_auto (Case) one = case_of (&spec, FAB_OP_ALL_REDUCE);
    const NcclWires *wires = one.wires;
    double n = rows[i].nodes * rows[i].gpus, sent = 2 * (n - 1) / n;
    double gpu = (double) spec.gpu_bytes_per_s / rows[i].gpu_cost / sent,
           rail = MIN ((double) spec.nic_bytes_per_s / rows[i].nic_cost,
                       (double) spec.gpu_bytes_per_s / rows[i].gpu_cost)
                / sent * rows[i].nics;

    assert_near (wires->every_bytes_per_s, gpu, 1e-9);
    assert_int_equal (wires->n_shared, 1);
    assert_int_equal (wires->shared[0].n_rails, 1);
    assert_near (wires->shared[0].bytes_per_s, rail, 1e-9);
    assert_near (wires->node_bytes_per_s, MIN (gpu, rail), 1e-9);
    assert_near (wires->pair_bytes_per_s, rows[i].gpus > 1 ? (double) spec.gpu_bytes_per_s : 0, 1e-9);
    assert_near (wires->device_stretch, 1, 0);
    assert_string_equal (wires->port->name, "nic");
  }
}

/* On one node all links are between GPUs and their switch. An all-gather sends half of what an all-reduce does. */
static void
one_node_has_no_rails (G_GNUC_UNUSED void **state)
{
  const RigSpec spec = { .n_nodes = 1, .gpus_per_node = 4, .gpu_bytes_per_s = 100 * GB, .gpu_cost = 1.25 };
  g_auto (Case) sum = case_of (&spec, FAB_OP_ALL_REDUCE), gather = case_of (&spec, FAB_OP_ALL_GATHER);

  assert_null (sum.wires->port);
  assert_int_equal (sum.wires->n_shared, 0);
  assert_near (sum.wires->every_bytes_per_s, 80e9 / 1.5, 1e-9);
  assert_near (gather.wires->every_bytes_per_s, 80e9 / 0.75, 1e-9);
  assert_near (sum.wires->node_bytes_per_s, 80e9 / 1.5, 1e-9);
}

/* A switch that nodes share belongs to none of them. */
static void
a_domain_of_several_nodes_uses_its_switch_in_every_channel (G_GNUC_UNUSED void **state)
{
  const RigSpec spec = {
    .n_nodes = 1, .gpus_per_node = 4, .gpu_bytes_per_s = 100 * GB, .has_network_star = TRUE
  };
  g_auto (Case) one = case_of (&spec, FAB_OP_ALL_REDUCE);

  assert_near (one.wires->every_bytes_per_s, 100e9 / 1.5, 1e-9);
  assert_int_equal (one.wires->n_shared, 0);
  assert_null (one.wires->port);
}

/* Leaves of two nodes for each rail. What a leaf sends to its neighbour is what one NIC sends, and no link is slower
 * than that. NCCL does not look beyond the ports. */
static void
links_of_a_fabric_are_not_of_a_node (G_GNUC_UNUSED void **state)
{
  const RigSpec spec = { .n_nodes = 4,
                         .gpus_per_node = 2,
                         .nics_per_node = 2,
                         .gpu_bytes_per_s = 100 * GB,
                         .nic_bytes_per_s = 25 * GB,
                         .nodes_per_leaf = 2 };
  g_auto (Case) one = case_of (&spec, FAB_OP_ALL_REDUCE);
  double sent = 2 * 7 / 8.0;

  assert_string_equal (one.wires->port->name, "nic");
  assert_near (one.wires->node_bytes_per_s, 50e9 / sent, 1e-9);
  assert_near (one.wires->every_bytes_per_s, 100e9 / sent, 1e-9);
  for (guint i = 0; i < one.wires->n_shared; i++)
    assert_true (one.wires->shared[i].n_rails >= 1
                 && one.wires->shared[i].bytes_per_s >= 50e9 / sent * (1 - 1e-9));
}

/* Links of a ring of 12 nodes. Link k of those that are not of GPUs carries what `rails[k]` rails do, and its rate is
 * as much smaller; the first link of a NIC carries one rail. */
static NcclWires
wires_of_rails (const guint *rails, guint n)
{
  const RigSpec spec = { .n_nodes = 12,
                         .gpus_per_node = 1,
                         .nics_per_node = 1,
                         .gpu_bytes_per_s = 100 * GB,
                         .nic_bytes_per_s = 100 * GB };
  g_auto (Case) one = case_of (&spec, FAB_OP_ALL_REDUCE);
  FabFootprint *footprint = one.form.footprint;
  FabGroup group = rig_group (one.rig);
  gboolean has_rail = FALSE;
  guint k = 0;

  for (guint i = 0; i < footprint->n; i++) {
    const FabLink *link = fab_graph_link (one.rig->graph, footprint->links[i]);
    FabVertexKind from = fab_graph_vertex (one.rig->graph, link->src)->kind,
                  to = fab_graph_vertex (one.rig->graph, link->dst)->kind;
    gboolean is_one = from == FAB_VERTEX_ACCELERATOR || to == FAB_VERTEX_ACCELERATOR
                   || (from == FAB_VERTEX_NIC && !has_rail);

    has_rail = has_rail || from == FAB_VERTEX_NIC;
    footprint->weights[i] = footprint->line_weights[i] = is_one || k >= n ? 1 : rails[k++];
  }
  assert_int_equal (k, n);
  g_hash_table_remove_all (one.known);
  return *nccl_wires (one.known, &group, &one.form);
}

/* There is room for 16 numbers of rails. The last one stands for all others too: the fewest rails of them, and the
 * lowest rate. Links that as many rails share have the lowest rate of them. */
static void
many_kinds_of_links_end_in_one (G_GNUC_UNUSED void **state)
{
  enum { N = 40, LAST = NCCL_MOST_SHARED_WIRES - 1 };
  guint up[N], down[N], few[N];

  for (guint k = 0; k < N; k++) {
    up[k] = k + 2;
    down[k] = N + 1 - k;
    few[k] = k % 3 + 2;
  }
  NcclWires rising = wires_of_rails (up, N), falling = wires_of_rails (down, N),
            three = wires_of_rails (few, N);
  assert_int_equal (rising.n_shared, NCCL_MOST_SHARED_WIRES);
  assert_int_equal (falling.n_shared, NCCL_MOST_SHARED_WIRES);
  for (guint i = 0; i < LAST; i++) {
    assert_near (rising.shared[i].bytes_per_s, 100e9 / rising.shared[i].n_rails, 1e-9);
    assert_near (falling.shared[i].bytes_per_s, 100e9 / falling.shared[i].n_rails, 1e-9);
  }
  /* One place is that of the links which carry one rail. */
  assert_int_equal (rising.shared[LAST].n_rails, up[LAST - 1]);
  assert_near (rising.shared[LAST].bytes_per_s, 100e9 / up[N - 1], 1e-9);
  assert_int_equal (falling.shared[LAST].n_rails, down[N - 1]);
  assert_near (falling.shared[LAST].bytes_per_s, 100e9 / down[LAST - 1], 1e-9);
  assert_int_equal (three.n_shared, 4); /* these, and the links that carry one */
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (rails_have_the_links_of_their_nics),
    cmocka_unit_test (one_node_has_no_rails),
    cmocka_unit_test (a_domain_of_several_nodes_uses_its_switch_in_every_channel),
    cmocka_unit_test (links_of_a_fabric_are_not_of_a_node),
    cmocka_unit_test (many_kinds_of_links_end_in_one),
  };

  return cmocka_run_group_tests (tests, NULL, NULL);
}
