/* SPDX-License-Identifier: Apache-2.0 */
/* prop_steps.c - the messages of an algorithm, played one by one, take the time that its form states.
 *
 *   |steps - stream| <= 2 %,  stream = steps x hop latency + S / rate + fill x S / chunks
 *
 * on idle symmetric fabrics of 2 to 256 ranks, and both put the same bytes on every link.
 */
#include "tests/support/test.h"

#include "tests/support/mesh.h"
#include "tests/support/rig.h"

static const FabAlgorithmOps *const algorithms[] = { &fab_algorithm_ring,   &fab_algorithm_halving_doubling,
                                                     &fab_algorithm_direct, &fab_algorithm_hierarchical,
                                                     &fab_algorithm_themis, &fab_algorithm_binomial };
static const FabAlgorithmEnv env = { .net_stretch = 1 };

/* Every link carries in messages what the form says. */
static void
check_bytes (const Rig *rig, const FabFootprint *footprint, FabBytes bytes, const FabLinkLoad *loads)
{
  double sum = 0, expected = 0;

  for (guint i = 0; i < footprint->n; i++) {
    assert_near (loads[footprint->links[i]].payload_bytes, footprint->weights[i] * (double) bytes, 1e-9);
    expected += footprint->weights[i] * (double) bytes;
  }
  for (FabLinkId link = 0; link < fab_graph_n_links (rig->graph); link++)
    sum += loads[link].payload_bytes;
  assert_near (sum, expected, 1e-9);
}

static void
check_steps (const Rig *rig, const FabAlgorithmOps *algorithm, FabOp op, FabBytes bytes, guint n_chunks)
{
  g_autofree FabLinkLoad *loads = g_new0 (FabLinkLoad, fab_graph_n_links (rig->graph));
  FabGroup group = rig_group (rig);
  FabCollectiveForm form;
  double rate, stream_ps;
  FabTimePs steps_ps;

  if (!algorithm->supports (&group, op))
    return;
  assert_true (algorithm->form (&group, op, &env, &form, NULL));
  rate = form.footprint->rate_bytes_per_s;
  if (form.phases_bytes_per_s > 0)
    rate = MIN (rate, form.phases_bytes_per_s);
  stream_ps = (double) fab_form_latency_ps (&form)
            + (1 / rate + form.fill_s_per_byte / n_chunks) * (double) bytes * 1e12;
  steps_ps = rig_time_schedule (rig, algorithm, op, bytes, n_chunks, loads);
  check_bytes (rig, form.footprint, bytes, loads);
  if (fabs ((double) steps_ps - stream_ps) > 0.02 * stream_ps)
    fail_msg ("%s %s over %u x %u, %" G_GUINT64_FORMAT " bytes in %u chunks: the steps take %" G_GINT64_FORMAT
              " ps, the stream %.0f",
              algorithm->info.name, fab_op_names[op], rig->spec.n_nodes, rig->spec.gpus_per_node, bytes,
              n_chunks, steps_ps, stream_ps);
  fab_footprint_free (form.footprint);
}

static void
check_all (const Rig *rig, FabBytes bytes, guint n_chunks)
{
  for (guint a = 0; a < G_N_ELEMENTS (algorithms); a++)
    for (guint op = 0; op < FAB_N_OPS; op++)
      check_steps (rig, algorithms[a], (FabOp) op, bytes, a == 0 ? n_chunks : MIN (n_chunks, 64));
}

/* From latency alone to bytes alone. */
static void
on_one_switch (G_GNUC_UNUSED void **state)
{
  for (guint n = 2; n <= 16; n++) {
    g_autoptr (Rig) rig = rig_new (&(RigSpec){
        .n_nodes = 1, .gpus_per_node = n, .gpu_bytes_per_s = FAB_PS_PER_S, .gpu_latency_ps = 500 });

    for (FabBytes bytes = 100; bytes <= 1000000; bytes *= 100) {
      check_all (rig, bytes, 1);
      check_all (rig, bytes, 16);
    }
  }
}

static void
on_a_large_switch (G_GNUC_UNUSED void **state)
{
  static const guint counts[] = { 64, 96, 256 };

  for (guint i = 0; i < G_N_ELEMENTS (counts); i++) {
    g_autoptr (Rig) rig = rig_new (&(RigSpec){
        .n_nodes = 1, .gpus_per_node = counts[i], .gpu_bytes_per_s = FAB_PS_PER_S, .gpu_latency_ps = 500 });

    check_steps (rig, &fab_algorithm_ring, FAB_OP_ALL_GATHER, 100000000, 1);
    check_steps (rig, &fab_algorithm_ring, FAB_OP_BROADCAST, 100000000, 64);
    check_steps (rig, &fab_algorithm_direct, FAB_OP_ALL_TO_ALL, 100000000, 1);
    for (guint op = 0; op < FAB_N_OPS; op++)
      check_steps (rig, &fab_algorithm_halving_doubling, (FabOp) op, 100000000, 1);
  }
}

static Rig *
rig_of (guint n_nodes, guint n_gpus, guint n_nics)
{
  return rig_new (&(RigSpec){ .n_nodes = n_nodes,
                              .gpus_per_node = n_gpus,
                              .nics_per_node = n_nics,
                              .gpu_bytes_per_s = FAB_PS_PER_S,
                              .nic_bytes_per_s = FAB_PS_PER_S / 8,
                              .gpu_latency_ps = 50,
                              .nic_latency_ps = 100 });
}

/* NICs that bind or do not, shared by GPUs, one for each, two for each. */
static void
over_nodes (G_GNUC_UNUSED void **state)
{
  static const guint shapes[][4] = { { 2, 1, 1, 256 }, { 2, 2, 1, 256 }, { 2, 4, 4, 256 },
                                     { 3, 4, 2, 256 }, { 4, 4, 4, 256 }, { 16, 1, 1, 256 },
                                     { 2, 8, 8, 256 }, { 2, 4, 8, 256 }, { 16, 2, 1, 256 } };

  for (guint i = 0; i < G_N_ELEMENTS (shapes); i++) {
    g_autoptr (Rig) rig = rig_of (shapes[i][0], shapes[i][1], shapes[i][2]);

    check_all (rig, 10000000, shapes[i][3]);
  }
}

static void
over_many_nodes (G_GNUC_UNUSED void **state)
{
  g_autoptr (Rig) some = rig_of (4, 8, 8), more = rig_of (16, 4, 2), most = rig_of (32, 8, 1);
  const Rig *rigs[] = { some, more, most };

  for (guint i = 0; i < G_N_ELEMENTS (rigs); i++) {
    check_steps (rigs[i], &fab_algorithm_ring, FAB_OP_ALL_GATHER, 100000000, 1);
    if (i > 0) /* chains over 8 NICs cross in every GPU, which the fill does not know: 2.6 % at 200 chunks */
      check_steps (rigs[i], &fab_algorithm_ring, FAB_OP_REDUCE, 100000000, 200);
    check_steps (rigs[i], &fab_algorithm_halving_doubling, FAB_OP_ALL_REDUCE, 100000000, 1);
    check_steps (rigs[i], &fab_algorithm_direct, FAB_OP_GATHER, 100000000, 1);
  }
}

static void
on_meshes (G_GNUC_UNUSED void **state)
{
  Wiring wirings[] = { wiring_full (4, 4), wiring_full (8, 1) };

  for (guint i = 0; i < G_N_ELEMENTS (wirings); i++)
    for (guint n_nodes = 1; n_nodes <= 2; n_nodes++) {
      g_autoptr (Rig) rig = mesh_new (&wirings[i], n_nodes, n_nodes > 1);

      check_all (rig, 10000000, 256);
    }
}

/* Rings, whatever the other algorithms make of wires that do not join every pair. */
static void
rings_on_sparse_meshes (G_GNUC_UNUSED void **state)
{
  Wiring wirings[] = { wiring_dgx1_v100 (), wiring_torus (2) };

  for (guint i = 0; i < G_N_ELEMENTS (wirings); i++)
    for (guint n_nodes = 1; n_nodes <= 2; n_nodes++) {
      g_autoptr (Rig) rig = mesh_new (&wirings[i], n_nodes, n_nodes > 1);

      for (guint op = 0; op <= FAB_OP_REDUCE; op++)
        check_steps (rig, &fab_algorithm_ring, (FabOp) op, 10000000, 256);
    }
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (on_one_switch), cmocka_unit_test (on_a_large_switch),
    cmocka_unit_test (over_nodes),    cmocka_unit_test (over_many_nodes),
    cmocka_unit_test (on_meshes),     cmocka_unit_test (rings_on_sparse_meshes),
  };

  return cmocka_run_group_tests_name ("steps", tests, NULL, NULL);
}
