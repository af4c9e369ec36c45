/* SPDX-License-Identifier: Apache-2.0 */
/* test_nccl_choice.c - where NCCL's tuner goes from one protocol or algorithm to the next, in powers of two.
 *
 * The sizes were found with the formulas of src/graph/tuning.cc by hand and are those at which the measured times of
 * validate/measured/aic_* jump.
 */
#include "models/library/nccl/parts.h"
#include "models/models.h"
#include "tests/support/params.h"
#include "tests/support/rig.h"
#include "tests/support/test.h"

#define G G_GUINT64_CONSTANT (1000000000)

typedef struct {
  const char *architecture, *version;
  guint n_gpus;
  FabOp op;
  const char *expected; /* "ll 2 ll128 16 simple": LL below 2 MiB, LL128 below 16 MiB, then Simple */
} Case;

static const char *
say (const FabCollectivePlan *plan)
{
  return strcmp (plan->algorithm, "ring") == 0 ? plan->protocol : plan->algorithm;
}

/* What runs from 512 B to 512 MiB, with the MiB where each begins but the first. (transfer full) */
static char *
choices (const Case *self)
{
  const gboolean is_blackwell = strcmp (self->architecture, "blackwell") == 0;
  const FabBytesPerS rate = strcmp (self->architecture, "ampere") == 0 ? 300 * G
                          : is_blackwell                               ? 900 * G
                                                                       : 450 * G;
  const RigSpec spec = {
    .n_nodes = 1, .gpus_per_node = self->n_gpus, .gpu_bytes_per_s = rate, .gpus_reduce = TRUE
  };
  g_autoptr (Rig) rig = rig_new (&spec);
  g_autofree char *yaml = g_strdup_printf ("{nccl_version: %s}", self->version);
  g_autoptr (Params) params = params_new (&fab_library_nccl.info, yaml);
  FabLibrary *library = fab_library_nccl.create (fab_models.lists[FAB_MODEL_ALGORITHM], params->params);
  GString *said = g_string_new (NULL);
  const char *last = NULL;

  rig->cluster.architecture = self->architecture;
  for (FabBytes bytes = 512; bytes <= 512 << 20; bytes *= 2) {
    FabGroup group = rig_group (rig);
    FabCollectivePlan plan;

    assert_true (fab_library_plan (library, &group, self->op, bytes, &plan, NULL));
    if (last == NULL)
      g_string_append (said, say (&plan));
    else if (strcmp (last, say (&plan)) != 0)
      g_string_append_printf (said, " %g %s", (double) bytes / (1 << 20), say (&plan));
    last = say (&plan);
  }
  fab_library_destroy (library);
  return g_string_free (said, FALSE);
}

static const Case cases[] = {
  { "ampere", "2.27.3", 2, FAB_OP_ALL_REDUCE, "ll 1 simple" },
  { "ampere", "2.27.3", 4, FAB_OP_ALL_REDUCE, "ll 2 ll128 8 simple" },
  { "ampere", "2.27.3", 8, FAB_OP_ALL_REDUCE, "ll 4 ll128 32 simple" },
  { "ampere", "2.27.3", 2, FAB_OP_ALL_GATHER, "ll 2 simple" },
  { "ampere", "2.27.3", 4, FAB_OP_REDUCE_SCATTER, "ll 2 simple" },
  { "ampere", "2.27.3", 8, FAB_OP_ALL_GATHER, "ll 4 ll128 16 simple" },
  { "hopper", "2.29.2", 2, FAB_OP_ALL_REDUCE, "ll 2 simple" },
  { "hopper", "2.29.2", 4, FAB_OP_ALL_REDUCE, "ll 4 ll128 16 simple" },
  { "hopper", "2.29.2", 8, FAB_OP_ALL_REDUCE, "ll 2 nvls" },
  { "hopper", "2.29.2", 2, FAB_OP_ALL_GATHER, "ll 4 simple" },
  { "hopper", "2.29.2", 4, FAB_OP_REDUCE_SCATTER, "ll 4 simple" },
  { "hopper", "2.29.2", 8, FAB_OP_ALL_GATHER, "ll 8 ll128 32 simple" },
  { "blackwell", "2.29.2", 2, FAB_OP_ALL_REDUCE, "ll 4 simple" },
  { "blackwell", "2.29.2", 4, FAB_OP_ALL_REDUCE, "ll 8 simple" },
  { "blackwell", "2.29.2", 8, FAB_OP_ALL_REDUCE, "ll 4 nvls" },
  { "blackwell", "2.29.2", 2, FAB_OP_ALL_GATHER, "ll 8 simple" },
  { "blackwell", "2.29.2", 4, FAB_OP_REDUCE_SCATTER, "ll 8 simple" },
  { "blackwell", "2.29.2", 8, FAB_OP_ALL_GATHER, "ll 16 simple" },
};

static void
protocols_change_where_nccl_changes_them (G_GNUC_UNUSED void **state)
{
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_autofree char *said = choices (&cases[i]);

    assert_string_equal (said, cases[i].expected);
  }
}

/* Large all-reduces on one node. Algorithm bandwidth in GB/s that the tuner believes, NVLS against the ring's
 * n / (2 (n - 1)) x 360 or 720. Before 2.28 NVLS has 5/6 x heads x speed; after, the head's speed x 0.85 or 0.74 x
 * (g - 1) / g x 2, at most the next speed of the list.
 *                      4          5          6          7          8
 *   H200, 2.27.7    200 / 240  250 / 225  250 / 216  233 / 210  267 / 206
 *   B200, 2.27.7    300 / 480  375 / 450  450 / 432  525 / 420  533 / 411
 *   B200, 2.29.2    240 / 480  281 / 450  324 / 432  368 / 420  411 / 411, by its latency */
static void
nvls_or_ring_goes_by_the_release (G_GNUC_UNUSED void **state)
{
  static const struct {
    const char *architecture, *version;
    guint first_nvls;
  } rows[] = { { "hopper", "2.27.7", 5 }, { "blackwell", "2.27.7", 6 }, { "blackwell", "2.29.2", 8 } };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    for (guint g = 2; g <= 8; g++) {
      Case one = { rows[i].architecture, rows[i].version, g, FAB_OP_ALL_REDUCE, NULL };
      g_autofree char *said = choices (&one);

      assert_int_equal (g_str_has_suffix (said, " nvls"), g >= rows[i].first_nvls);
    }
}

/* All-reduces over nodes of eight H100 with a NIC for each, from 1 MiB to 4 GiB. Up to 2.18 the tuner counts for a tree
 * of switches 0.7 n / (2 (n - 1)) of the rate of its graph, which falls as nodes are added until rings are faster. From
 * 2.19 on it counts 5/6 of the slower of links and NICs, half of these from three nodes on: as much on 4 as on 16. */
static void
trees_of_switches_go_by_the_release (G_GNUC_UNUSED void **state)
{
  static const struct {
    const char *version;
    guint n_nodes;
    const char *expected;
  } rows[] = {
    { "2.18.5", 2, "1 tree 2 nvls_tree" },          { "2.18.5", 4, "1 tree 32 nvls_tree 2048 ring" },
    { "2.18.5", 16, "1 tree 1024 ring" },           { "2.20.5", 2, "1 nvls_tree" },
    { "2.20.5", 4, "1 tree 2 nvls_tree 512 ring" }, { "2.20.5", 16, "1 tree 16 nvls_tree 2048 ring" }
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    const RigSpec spec = { .n_nodes = rows[i].n_nodes,
                           .gpus_per_node = 8,
                           .nics_per_node = 8,
                           .gpu_bytes_per_s = 450 * G,
                           .nic_bytes_per_s = 50 * G,
                           .gpus_reduce = TRUE };
    g_autoptr (Rig) rig = rig_new (&spec);
    g_autofree char *yaml = g_strdup_printf ("{nccl_version: %s}", rows[i].version);
    g_autoptr (Params) params = params_new (&fab_library_nccl.info, yaml);
    FabLibrary *library = fab_library_nccl.create (fab_models.lists[FAB_MODEL_ALGORITHM], params->params);
    g_autoptr (GString) said = g_string_new (NULL);
    const char *last = NULL;

    rig->cluster.architecture = "hopper";
    for (FabBytes mib = 1; mib <= 4096; mib *= 2) {
      FabGroup group = rig_group (rig);
      FabCollectivePlan plan;

      assert_true (fab_library_plan (library, &group, FAB_OP_ALL_REDUCE, mib << 20, &plan, NULL));
      if (g_strcmp0 (last, plan.algorithm) != 0)
        g_string_append_printf (said, "%s%u %s", last ? " " : "", (guint) mib, plan.algorithm);
      last = plan.algorithm;
    }
    fab_library_destroy (library);
    assert_string_equal (said->str, rows[i].expected);
  }
}

static double
symmetric_us (const char *architecture, FabOp op, FabBytes bytes, const char **algorithm)
{
  const RigSpec spec = { .n_nodes = 1, .gpus_per_node = 8, .gpu_bytes_per_s = 450 * G, .gpus_reduce = TRUE };
  g_autoptr (Rig) rig = rig_new (&spec);
  g_autoptr (Params) params = params_new (&fab_library_nccl.info,
                                          "{symmetric: true, nccl_version: 2.29.2, issue: 1ns}");
  FabLibrary *library = fab_library_nccl.create (fab_models.lists[FAB_MODEL_ALGORITHM], params->params);
  FabGroup group = rig_group (rig);
  FabCollectivePlan plan;

  rig->cluster.architecture = architecture;
  assert_true (fab_library_plan (library, &group, op, bytes, &plan, NULL));
  *algorithm = plan.algorithm;
  double us = (double) fab_collective_plan_idle_ps (&plan) / 1e6;
  fab_library_destroy (library);
  return us;
}

/* 8 B: 4.5 us and softplus (-1) = 0.313. 1 GiB on eight H100: 1 + 1/8 of it at 480 GiB/s are 2.34 ms, but the links
 * move 400 GB/s of size: 7.8 us + 2.684 ms. */
static void
symmetric_kernels_take_what_the_source_says (G_GNUC_UNUSED void **state)
{
  const char *small, *large;

  assert_near (symmetric_us ("hopper", FAB_OP_ALL_REDUCE, 8, &small), 4.5 + 0.3133, 1e-3);
  assert_near (symmetric_us ("hopper", FAB_OP_ALL_REDUCE, 1 << 30, &large), 7.8 + 1073741.824 / 400, 1e-3);
  assert_string_equal (small, "direct");
  assert_string_equal (large, "nvls");
}

/* The protocol of 8 B on two nodes of eight A100. */
static const char *
protocol_between_nodes (const char *text)
{
  const RigSpec spec = { .n_nodes = 2,
                         .gpus_per_node = 8,
                         .nics_per_node = 8,
                         .gpu_bytes_per_s = 300 * G,
                         .nic_bytes_per_s = 25 * G };
  g_autoptr (Rig) rig = rig_new (&spec);
  g_autoptr (Params) params = params_new (&fab_library_nccl.info, text);
  FabLibrary *library = fab_library_nccl.create (fab_models.lists[FAB_MODEL_ALGORITHM], params->params);
  FabCollectivePlan plan;

  rig->cluster.architecture = "ampere";
  FabGroup group = rig_group (rig);
  assert_true (fab_library_plan (library, &group, FAB_OP_ALL_REDUCE, 8, &plan, NULL));
  const char *protocol = plan.protocol;
  fab_library_destroy (library);
  return protocol;
}

/* aws-ofi-nccl sets NCCL_PROTO=simple on p4d, unless somebody has set it. */
static void
sends_of_efa_take_simple_alone (G_GNUC_UNUSED void **state)
{
  assert_string_equal (protocol_between_nodes ("{}"), "ll");
  assert_string_equal (protocol_between_nodes ("{plugin: efa}"), "simple");
  assert_string_equal (protocol_between_nodes ("{plugin: efa, protocol: ll}"), "ll");
  assert_string_equal (protocol_between_nodes ("{plugin: efa-p5}"), "ll");
}

/* Nodes of eight Hopper GPUs and as many NICs. */
static void
plan_over_nodes (guint n_nodes, const char *plugin, FabOp op, FabBytes bytes, FabCollectivePlan *plan)
{
  const RigSpec spec = { .n_nodes = n_nodes,
                         .gpus_per_node = 8,
                         .nics_per_node = 8,
                         .gpu_bytes_per_s = 450 * G,
                         .nic_bytes_per_s = 50 * G,
                         .gpus_reduce = TRUE };
  g_autoptr (Rig) rig = rig_new (&spec);
  g_autofree char *text = g_strdup_printf ("{plugin: %s}", plugin);
  g_autoptr (Params) params = params_new (&fab_library_nccl.info, text);
  FabLibrary *library = fab_library_nccl.create (fab_models.lists[FAB_MODEL_ALGORITHM], params->params);

  rig->cluster.architecture = "hopper";
  FabGroup group = rig_group (rig);
  assert_true (fab_library_plan (library, &group, op, bytes, plan, NULL));
  fab_library_destroy (library);
}

/* What the tuner of the plug-in chooses runs, whatever NCCL's tuner believes of it; on two nodes it chooses nothing. */
static void
the_choice_of_a_plugin_runs (G_GNUC_UNUSED void **state)
{
  static const char *const plugins[] = { "efa-p5", "efa-p5en", "efa-p6-b200", "efa-p6-b300" };
  static const char *const protocols[] = {
    [NCCL_LL] = "ll", [NCCL_LL128] = "ll128", [NCCL_SIMPLE] = "simple"
  };
  static const FabOp ops[] = { FAB_OP_ALL_REDUCE, FAB_OP_ALL_GATHER, FAB_OP_REDUCE_SCATTER };
  guint n_changed = 0;

  for (guint p = 0; p < G_N_ELEMENTS (plugins); p++)
    for (guint o = 0; o < G_N_ELEMENTS (ops); o++)
      for (guint n_nodes = 2; n_nodes <= 4; n_nodes++)
        for (guint bit = 10; bit <= 34; bit += 3) {
          const FabCluster cluster = { 0 };
          const FabGroup group = { .cluster = &cluster, .n_nodes = n_nodes, .gpus_per_node = 8 };
          FabBytes bytes = (FabBytes) 1 << bit;
          const char *model;
          NcclProtocol protocol;
          FabCollectivePlan with, without;

          plan_over_nodes (n_nodes, plugins[p], ops[o], bytes, &with);
          if (!nccl_plugin_chooses (nccl_plugin (plugins[p]), &group, ops[o], bytes, &model, &protocol))
            continue;
          assert_int_not_equal (n_nodes, 2);
          assert_string_equal (with.algorithm, model);
          assert_string_equal (with.protocol, protocols[protocol]);
          plan_over_nodes (n_nodes, "none", ops[o], bytes, &without);
          n_changed += strcmp (without.algorithm, model) != 0
                    || strcmp (without.protocol, protocols[protocol]) != 0;
        }
  assert_true (n_changed > 0);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (protocols_change_where_nccl_changes_them),
    cmocka_unit_test (trees_of_switches_go_by_the_release),
    cmocka_unit_test (nvls_or_ring_goes_by_the_release),
    cmocka_unit_test (symmetric_kernels_take_what_the_source_says),
    cmocka_unit_test (sends_of_efa_take_simple_alone),
    cmocka_unit_test (the_choice_of_a_plugin_runs),
  };

  return cmocka_run_group_tests (tests, NULL, NULL);
}
