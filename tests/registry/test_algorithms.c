/* SPDX-License-Identifier: Apache-2.0 */
/* test_algorithms.c - the order in which models.h lists the algorithms means nothing to a library. */
#include "models/models.h"
#include "tests/support/params.h"
#include "tests/support/rig.h"
#include "tests/support/test.h"

#define GBPS(x) ((x) *G_GUINT64_CONSTANT (1000000000))

/* One node, four nodes; then with switches that reduce inside nodes and between them; then one GPU per node. */
static const RigSpec rigs[] = {
  { .n_nodes = 1, .gpus_per_node = 8, .gpu_bytes_per_s = GBPS (200) },
  { .n_nodes = 4,
    .gpus_per_node = 8,
    .nics_per_node = 4,
    .gpu_bytes_per_s = GBPS (200),
    .nic_bytes_per_s = GBPS (100) },
  { .n_nodes = 1, .gpus_per_node = 8, .gpu_bytes_per_s = GBPS (200), .gpus_reduce = TRUE },
  { .n_nodes = 4,
    .gpus_per_node = 4,
    .nics_per_node = 4,
    .gpu_bytes_per_s = GBPS (200),
    .nic_bytes_per_s = GBPS (100),
    .gpus_reduce = TRUE,
    .nics_reduce = TRUE },
  { .n_nodes = 4,
    .gpus_per_node = 1,
    .nics_per_node = 1,
    .gpu_bytes_per_s = GBPS (200),
    .nic_bytes_per_s = GBPS (200) },
};

static void
shuffle (GRand *random, const FabModelInfo **list, guint n)
{
  for (guint i = n; i > 1; i--) {
    guint other = (guint) g_rand_int_range (random, 0, (gint32) i);
    const FabModelInfo *moved = list[i - 1];

    list[i - 1] = list[other];
    list[other] = moved;
  }
}

/* Both libraries plan the same for every operation, from 8 bytes to 8 GiB. */
static void
check_same_plans (const FabGroup *group, FabLibrary *first, FabLibrary *second)
{
  FabCollectivePlan a, b;

  for (guint op = 0; op < FAB_N_OPS; op++)
    for (FabBytes bytes = 8; bytes <= G_GUINT64_CONSTANT (8) << 30; bytes *= 4) {
      assert_true (fab_library_plan (first, group, (FabOp) op, bytes, &a, NULL));
      assert_true (fab_library_plan (second, group, (FabOp) op, bytes, &b, NULL));
      assert_string_equal (a.algorithm, b.algorithm);
      assert_string_equal (a.protocol, b.protocol);
      assert_int_equal (a.n_channels, b.n_channels);
      assert_int_equal (a.startup_ps, b.startup_ps);
      assert_int_equal (fab_collective_plan_idle_ps (&a), fab_collective_plan_idle_ps (&b));
    }
}

static void
the_order_of_algorithms_changes_no_plan (G_GNUC_UNUSED void **state)
{
  enum { N_SHUFFLES = 10 };
  const FabModelInfo *const *list = fab_models.lists[FAB_MODEL_ALGORITHM];
  guint n = g_strv_length ((char **) list);
  g_autofree const FabModelInfo **shuffled = g_memdup2 (list, (n + 1) * sizeof *list);
  g_autoptr (GRand) random = g_rand_new_with_seed (14);

  for (guint r = 0; r < G_N_ELEMENTS (rigs); r++) {
    g_autoptr (Rig) rig = rig_new (&rigs[r]);
    FabGroup group = rig_group (rig);

    for (guint i = 0; fab_models.lists[FAB_MODEL_LIBRARY][i]; i++) {
      const FabLibraryOps *ops = (const FabLibraryOps *) fab_models.lists[FAB_MODEL_LIBRARY][i];
      g_autoptr (Params) params = params_new (&ops->info, "");
      FabLibrary *as_listed = ops->create (list, params->params);

      for (guint s = 0; s < N_SHUFFLES; s++) {
        shuffle (random, shuffled, n);
        FabLibrary *library = ops->create (shuffled, params->params);
        check_same_plans (&group, as_listed, library);
        fab_library_destroy (library);
      }
      fab_library_destroy (as_listed);
    }
  }
}

static void
no_two_algorithms_have_the_same_preference (G_GNUC_UNUSED void **state)
{
  g_autofree const FabAlgorithmOps **algorithms = fab_algorithms_by_preference (
      fab_models.lists[FAB_MODEL_ALGORITHM]);

  for (guint i = 1; algorithms[i] != NULL; i++)
    assert_true (algorithms[i - 1]->preference < algorithms[i]->preference);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (the_order_of_algorithms_changes_no_plan),
    cmocka_unit_test (no_two_algorithms_have_the_same_preference),
  };
  return cmocka_run_group_tests (tests, NULL, NULL);
}
