/* SPDX-License-Identifier: Apache-2.0 */
/* test_tree.c - the chain of a tree inside a node whose GPUs are wired to each other (models/collective/tree.c). */
#include "tests/support/test.h"

#include "models/models.h"
#include "tests/support/mesh.h"

static guint
local_of (const Rig *rig, FabVertexId vertex)
{
  for (guint i = 0; i < rig->spec.gpus_per_node; i++)
    if (rig->cluster.gpus[i] == vertex)
      return i;
  return G_MAXUINT;
}

/* On one node there is one chain through the GPUs in the order of their numbers: each sends all bytes to its two
 * neighbours, up for the sum and down with it. No other wire of the mesh carries anything. */
static void
one_node_has_one_chain (G_GNUC_UNUSED void **state)
{
  for (guint n = 2; n <= 8; n++) {
    const Wiring wiring = wiring_full (n, 1);
    g_autoptr (Rig) rig = mesh_new (&wiring, 1, FALSE);
    FabGroup group = rig_group (rig);
    FabCollectiveForm form = { 0 };
    guint n_found = 0;

    assert_true (fab_algorithm_tree.form (&group, FAB_OP_ALL_REDUCE, &(FabAlgorithmEnv){ .net_stretch = 1 },
                                          &form, NULL));
    for (guint i = 0; i < form.footprint->n; i++) {
      const FabLink *link = fab_graph_link (rig->graph, form.footprint->links[i]);
      guint from = local_of (rig, link->src), to = local_of (rig, link->dst);

      assert_true (from + 1 == to || to + 1 == from);
      assert_near (form.footprint->weights[i], 1, 1e-12);
      n_found++;
    }
    assert_int_equal (n_found, 2 * (n - 1));
    assert_int_equal (form.n_inter_steps, 0);
    fab_footprint_free (form.footprint);
  }
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (one_node_has_one_chain),
  };

  return cmocka_run_group_tests (tests, NULL, NULL);
}
