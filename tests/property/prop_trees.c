/* SPDX-License-Identifier: Apache-2.0 */
/* prop_trees.c - the two trees are trees, of the least depth, share the work, and bring every rank its bytes. */
#include "tests/support/test.h"

#include "sim/collective/shape/trees.h"
#include "tests/support/rig.h"

static guint
depth_of (const FabTree *tree, guint node)
{
  guint depth = 0;

  for (; tree->parents[node] != G_MAXUINT; node = tree->parents[node]) {
    depth++;
    assert_true (depth < tree->n); /* no cycle */
  }
  return depth;
}

static guint
ceil_log2 (guint n)
{
  guint log2 = 0;

  while ((1u << log2) < n)
    log2++;
  return log2;
}

/* One root, one parent for every other node, at most two children, each after its parent. */
static void
check_tree (const FabTree *tree)
{
  g_autofree gboolean *is_seen = g_new0 (gboolean, tree->n);
  g_autofree guint *n_children = g_new0 (guint, tree->n);

  for (guint i = 0; i < tree->n; i++) {
    guint node = tree->order[i], parent = tree->parents[node];

    assert_false (is_seen[node]);
    is_seen[node] = TRUE;
    assert_int_equal (parent == G_MAXUINT, i == 0);
    assert_true (depth_of (tree, node) <= ceil_log2 (tree->n));
    if (i == 0)
      continue;
    assert_true (is_seen[parent]);
    assert_true (++n_children[parent] <= (parent == tree->order[0] ? 1 : 2));
  }
  assert_memory_equal (n_children, tree->n_children, tree->n * sizeof (guint));
}

/* Inner nodes of both trees: none but a common root; apart and odd, the one that the shift brings back. */
static void
check_shares (const FabTree *a, const FabTree *b, FabTreeRoots roots)
{
  guint n_both = 0;

  for (guint node = 0; node < a->n; node++)
    if (a->n_children[node] > 0 && b->n_children[node] > 0) {
      assert_int_equal (node, 0);
      n_both++;
    }
  assert_int_equal (n_both, a->n > 1 && (roots == FAB_TREE_ROOTS_AT_0 || a->n % 2 == 1) ? 1 : 0);
}

static void
trees_are_trees (G_GNUC_UNUSED void **state)
{
  for (guint n = 1; n <= 600; n++)
    for (FabTreeRoots roots = FAB_TREE_ROOTS_APART; roots <= FAB_TREE_ROOTS_AT_0; roots++) {
      g_autoptr (FabTree) a = fab_tree_new (n, 0, roots);
      g_autoptr (FabTree) b = fab_tree_new (n, 1, roots);

      check_tree (a);
      check_tree (b);
      check_shares (a, b, roots);
      assert_int_equal (a->order[0], 0);
      if (roots == FAB_TREE_ROOTS_AT_0)
        assert_int_equal (b->order[0], 0);
      else if (n > 1)
        assert_int_equal (b->order[0], n % 2 == 0 ? n - 1 : 1);
    }
}

/* Bytes per byte of size that a GPU's only link carries into it, or out of it. */
static double
crosses (const Rig *rig, const FabFootprint *footprint, guint rank, gboolean is_in)
{
  double sum = 0;

  for (guint i = 0; i < footprint->n; i++) {
    const FabLink *link = fab_graph_link (rig->graph, footprint->links[i]);

    if ((is_in ? link->dst : link->src) == rig_gpu (rig, rank))
      sum += footprint->weights[i];
  }
  return sum;
}

/* From both trees: up to the parent and down to the children; the other way round coming in. */
static double
expected (FabOp op, guint n, guint node, gboolean is_in)
{
  double sum = 0;

  for (guint which = 0; which < 2; which++) {
    g_autoptr (FabTree) tree = fab_tree_new (n, which,
                                             op == FAB_OP_ALL_REDUCE ? FAB_TREE_ROOTS_APART
                                                                     : FAB_TREE_ROOTS_AT_0);
    guint n_parents = tree->parents[node] == G_MAXUINT ? 0 : 1, n_children = tree->n_children[node];
    guint with_up = is_in ? n_children : n_parents, with_down = is_in ? n_parents : n_children;

    sum += (op == FAB_OP_BROADCAST ? 0 : 0.5 * with_up) + (op == FAB_OP_REDUCE ? 0 : 0.5 * with_down);
  }
  return sum;
}

static void
every_rank_moves_what_its_places_say (G_GNUC_UNUSED void **state)
{
  static const FabOp ops[] = { FAB_OP_ALL_REDUCE, FAB_OP_BROADCAST, FAB_OP_REDUCE };

  for (guint n = 2; n <= 40; n++) {
    g_autoptr (Rig) rig = rig_new (&(RigSpec){ .n_nodes = n,
                                               .gpus_per_node = 1,
                                               .nics_per_node = 1,
                                               .gpu_bytes_per_s = FAB_PS_PER_S,
                                               .nic_bytes_per_s = FAB_PS_PER_S,
                                               .algorithm = "tree" });

    for (guint i = 0; i < G_N_ELEMENTS (ops); i++) {
      FabCollectivePlan plan = rig_plan (rig, ops[i], 1);

      for (guint rank = 0; rank < n; rank++)
        for (guint is_in = 0; is_in < 2; is_in++)
          assert_true (
              fabs (crosses (rig, plan.footprint, rank, is_in > 0) - expected (ops[i], n, rank, is_in > 0))
              < 1e-12);
    }
  }
}

/* Four and more nodes: 2 S / (NICs together) for all_reduce, S / them for the others; the way up and down in
 * latency. */
static void
time_is_twice_the_bytes_over_the_nics (G_GNUC_UNUSED void **state)
{
  for (guint n = 4; n <= 256; n = n < 20 ? n + 1 : n * 3 / 2)
    for (guint n_nics = 1; n_nics <= 4; n_nics *= 2) {
      g_autoptr (Rig) rig = rig_new (&(RigSpec){ .n_nodes = n,
                                                 .gpus_per_node = 4,
                                                 .nics_per_node = n_nics,
                                                 .gpu_bytes_per_s = FAB_PS_PER_S,
                                                 .nic_bytes_per_s = FAB_PS_PER_S / 50,
                                                 .gpu_latency_ps = 300000,
                                                 .nic_latency_ps = 600000,
                                                 .algorithm = "tree" });
      FabCollectivePlan plan = rig_plan (rig, FAB_OP_ALL_REDUCE, 1000000000);
      double nics_bytes_per_ps = n_nics / 50.0;

      assert_near (1 / plan.footprint->rate_bytes_per_s * 1e12, 2 / nics_bytes_per_ps, 1e-12);
      assert_int_equal (plan.startup_ps, 2 * ceil_log2 (n) * 2400000 + 2 * 3 * 600000);
      plan = rig_plan (rig, FAB_OP_BROADCAST, 1000000000);
      assert_near (1 / plan.footprint->rate_bytes_per_s * 1e12, 1 / nics_bytes_per_ps, 1e-12);
    }
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (trees_are_trees),
    cmocka_unit_test (every_rank_moves_what_its_places_say),
    cmocka_unit_test (time_is_twice_the_bytes_over_the_nics),
  };

  return cmocka_run_group_tests_name ("trees", tests, NULL, NULL);
}
