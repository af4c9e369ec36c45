/* SPDX-License-Identifier: Apache-2.0 */
/* prop_sends.c - algorithms as graphs of sends: on idle symmetric fabrics of 2 to 256 ranks their messages, played
 * one by one, take the time that the form states, and put on every link the bytes that it states.
 *
 *   |steps - form| <= 2 %,  form = latencies + S / rate + fill x S / chunks
 */
#include "tests/support/test.h"

#include "tests/support/rig.h"

#define GBPS(x) ((x) *G_GUINT64_CONSTANT (1000000000))

static const FabAlgorithmOps *const algorithms[] = {
  &fab_algorithm_tree, &fab_algorithm_nvls,           &fab_algorithm_nvls_tree,
  &fab_algorithm_pat,  &fab_algorithm_collnet_direct, &fab_algorithm_collnet_chain
};

static const FabAlgorithmEnv env = { .net_stretch = 1 };

static double
stated_s (const FabCollectiveForm *form, FabBytes bytes, guint n_chunks)
{
  return fab_ps_to_seconds (fab_form_latency_ps (form))
       + (double) bytes * (1 / form->footprint->rate_bytes_per_s + form->fill_s_per_byte / n_chunks);
}

/* Every link carries in messages what the form says, and no other link carries anything. */
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
check_steps (const Rig *rig, const FabAlgorithmOps *algorithm, FabOp op, guint n_chunks)
{
  const FabBytes bytes = 1000000000;
  g_autofree FabLinkLoad *loads = g_new0 (FabLinkLoad, fab_graph_n_links (rig->graph));
  FabGroup group = rig_group (rig);
  FabCollectiveForm form;

  if (!algorithm->supports (&group, op))
    return;
  assert_true (algorithm->form (&group, op, &env, &form, NULL));
  double form_s = stated_s (&form, bytes, n_chunks);
  double steps_s = fab_ps_to_seconds (rig_time_schedule (rig, algorithm, op, bytes, n_chunks, loads));
  check_bytes (rig, form.footprint, bytes, loads);
  if (fabs (steps_s - form_s) > 0.02 * form_s)
    fail_msg ("%s %s over %u x %u, %u NICs, %u chunks: the steps take %.9g s, the form says %.9g",
              algorithm->info.name, fab_op_names[op], rig->spec.n_nodes, rig->spec.gpus_per_node,
              rig->spec.nics_per_node, n_chunks, steps_s, form_s);
  fab_footprint_free (form.footprint);
}

/* GPUs of 400 GB/s, NICs of 50; every switch reduces. */
static Rig *
rig_of (guint n_nodes, guint n_gpus, guint n_nics)
{
  return rig_new (&(RigSpec){ .n_nodes = n_nodes,
                              .gpus_per_node = n_gpus,
                              .nics_per_node = n_nics,
                              .gpu_bytes_per_s = GBPS (400),
                              .nic_bytes_per_s = GBPS (50),
                              .gpu_latency_ps = 300000,
                              .nic_latency_ps = 600000,
                              .gpus_reduce = TRUE,
                              .nics_reduce = TRUE });
}

static void
check_all (guint n_nodes, guint n_gpus, guint n_nics, guint n_chunks)
{
  g_autoptr (Rig) rig = rig_of (n_nodes, n_gpus, n_nics);

  for (guint a = 0; a < G_N_ELEMENTS (algorithms); a++)
    for (guint op = 0; op < FAB_N_OPS; op++)
      check_steps (rig, algorithms[a], (FabOp) op, n_chunks);
}

/* In a long chain the fill is as long as the bytes: it is in the form, whatever the chunks. */
static void
steps_on_one_switch (G_GNUC_UNUSED void **state)
{
  static const guint counts[] = { 2, 3, 4, 5, 7, 8, 16, 72 };

  for (guint i = 0; i < G_N_ELEMENTS (counts); i++)
    check_all (1, counts[i], 0, 64);
  check_all (1, 8, 0, 256);
}

static void
steps_over_nodes_of_one_gpu (G_GNUC_UNUSED void **state)
{
  for (guint n = 2; n <= 17; n++)
    check_all (n, 1, 1, 64);
  check_all (32, 1, 1, 64);
  check_all (256, 1, 1, 20);
}

/* NICs that bind, and as many as let the GPUs' own links bind: there the trees of several NICs cross in every GPU,
 * which the fill does not know, so chunks are more. */
static void
steps_over_nodes (G_GNUC_UNUSED void **state)
{
  static const guint shapes[][4] = { { 2, 2, 1, 64 },  { 2, 4, 4, 96 }, { 2, 4, 8, 96 }, { 3, 4, 2, 128 },
                                     { 4, 4, 4, 64 },  { 5, 2, 2, 64 }, { 8, 4, 1, 64 }, { 2, 8, 8, 128 },
                                     { 16, 4, 1, 32 }, { 32, 8, 1, 40 } };

  for (guint i = 0; i < G_N_ELEMENTS (shapes); i++)
    check_all (shapes[i][0], shapes[i][1], shapes[i][2], shapes[i][3]);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (steps_on_one_switch),
    cmocka_unit_test (steps_over_nodes_of_one_gpu),
    cmocka_unit_test (steps_over_nodes),
  };

  return cmocka_run_group_tests_name ("sends", tests, NULL, NULL);
}
