/* SPDX-License-Identifier: Apache-2.0 */
/* test_ring_orders.c - in which order rings pass the GPUs of a node. */
#include "tests/support/test.h"

#include "sim/collective/shape/rings.h"
#include "tests/support/play.h"

static FabCatalog *catalog;

/* The local ranks of a ring in one node, as text. (transfer full) */
static char *
order_text (const FabRings *rings, guint ring, gboolean is_odd)
{
  const guint *order = g_array_index (rings->shapes[0], FabRing, ring).orders[is_odd];
  GString *text = g_string_new (NULL);

  for (guint i = 0; i < rings->group->gpus_per_node; i++)
    g_string_append_printf (text, i > 0 ? " %u" : "%u", order[i]);
  return g_string_free (text, FALSE);
}

static void
assert_order (const FabRings *rings, guint ring, gboolean is_odd, const char *expected)
{
  g_autofree char *text = order_text (rings, ring, is_odd);

  assert_string_equal (text, expected);
}

/* A DGX H100 twice, and its rings. */
typedef struct {
  Play *play;
  FabGroup group;
  FabRings rings;
} Pair;

static void
pair_init (Pair *self, const char *keys, guint n_rings)
{
  g_autofree char *yaml = g_strdup_printf (
      "name: t\niterations: 1\ncluster: {node: dgx-h100, nodes: 2%s}\n"
      "job: {kind: collective, operations: [{op: all_reduce, size: 1MB}]}\n",
      keys);

  self->play = play_new (catalog, yaml, NULL);
  const FabCluster *cluster = fab_simulation_cluster (self->play->simulation);
  self->group = (FabGroup){ cluster, cluster->n_nodes, cluster->gpus_per_node };
  assert_true (fab_rings_find (&self->group, &self->rings, NULL));
  assert_int_equal (self->rings.n_rings, n_rings);
}

static void
pair_clear (Pair *self)
{
  fab_rings_clear (&self->rings);
  play_free (self->play);
}

/* Each channel begins one GPU later and goes round the node, as NCCL's log of 2 x 8 H100 says:
 *   Channel 00/16 :  0  7  6  5  4  3  2  1  8 ...
 *   Channel 01/16 :  0  7  6  5  4  3  2  9  8 15 14 13 12 11 10  1
 *   Channel 02/16 :  0  7  6  5  4  3 10  9  8 15 14 13 12 11  2  1
 * so that channels of a node are turned against each other, and none is another order of the same GPUs. */
static void
rings_go_round_a_node_behind_switches (G_GNUC_UNUSED void **state)
{
  Pair pair = { 0 };

  pair_init (&pair, "", 8);
  assert_order (&pair.rings, 0, FALSE, "0 7 6 5 4 3 2 1");
  assert_order (&pair.rings, 1, FALSE, "1 0 7 6 5 4 3 2");
  assert_order (&pair.rings, 2, FALSE, "2 1 0 7 6 5 4 3");
  assert_order (&pair.rings, 7, FALSE, "7 6 5 4 3 2 1 0");
  assert_order (&pair.rings, 0, TRUE, "1 2 3 4 5 6 7 0");
  pair_clear (&pair);
}

/* A way round the node from 1 to 5 would cross between sockets at 3-4, 7-0 and 0-5. */
static void
between_ends_that_are_no_neighbours_ranks_ascend (G_GNUC_UNUSED void **state)
{
  Pair pair = { 0 };

  pair_init (&pair, ", nics_per_node: 2", 2);
  assert_order (&pair.rings, 0, FALSE, "0 1 2 3 5 6 7 4");
  assert_order (&pair.rings, 1, FALSE, "4 1 2 3 5 6 7 0");
  pair_clear (&pair);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (rings_go_round_a_node_behind_switches),
    cmocka_unit_test (between_ends_that_are_no_neighbours_ranks_ascend),
  };

  return play_run_tests ("ring orders", tests, &catalog);
}
