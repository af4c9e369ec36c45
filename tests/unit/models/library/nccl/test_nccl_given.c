/* SPDX-License-Identifier: Apache-2.0 */
/* test_nccl_given.c - messages of a file, which NCCL's thread blocks carry (models/library/nccl/nccl.c), or MPI
 * (models/library/mpi.c). */
#include "models/models.h"
#include "sim/collective/plan/given.h"
#include "tests/support/params.h"
#include "tests/support/rig.h"
#include "tests/support/test.h"

static const RigSpec spec = { .n_nodes = 1, .gpus_per_node = 3, .gpu_bytes_per_s = 1000000000000 };

/* An all-gather of three ranks in a ring: two steps. */
static FabGiven *
ring_of_three (const char *protocol, guint n_channels)
{
  FabGiven *given = fab_given_new ("mine", "here");
  g_autoptr (GArray) none = g_array_new (FALSE, FALSE, sizeof (FabGivenWait));
  guint first[3];

  given->op = FAB_OP_ALL_GATHER;
  given->n_ranks = 3;
  given->protocol = protocol;
  given->n_channels = n_channels;
  for (guint r = 0; r < 3; r++)
    first[r] = fab_given_add (given, r, (r + 1) % 3, 1 / 3.0, none);
  for (guint r = 0; r < 3; r++) {
    g_autoptr (GArray) waits = g_array_new (FALSE, FALSE, sizeof (FabGivenWait));
    FabGivenWait wait = { .message = first[(r + 2) % 3] };

    g_array_append_val (waits, wait);
    fab_given_add (given, r, (r + 1) % 3, 1 / 3.0, waits);
  }
  fab_given_finish (given);
  return given;
}

/* FALSE and *message (transfer full): there is no plan. */
static gboolean
plan_of (const char *yaml, FabGiven *given, FabBytes bytes, FabCollectivePlan *plan, char **message)
{
  g_autoptr (Rig) rig = rig_new (&spec);
  Params *params = params_new (&fab_library_nccl.info, yaml);
  FabLibrary *library = fab_library_nccl.create (fab_models.lists[FAB_MODEL_ALGORITHM], params->params);
  FabGroup group = rig_group (rig);
  g_autoptr (GError) error = NULL;

  fab_library_give (library, given);
  gboolean is_made = fab_library_plan (library, &group, FAB_OP_ALL_GATHER, bytes, plan, &error);
  assert_true (is_made == (error == NULL));
  if (message != NULL)
    *message = error != NULL ? g_strdup (error->message) : NULL;
  plan->footprint = NULL; /* it ends with the library */
  plan->algorithm = is_made && strcmp (plan->algorithm, "mine") == 0 ? "mine" : "another";
  fab_library_destroy (library);
  params_free (params);
  return is_made;
}

/* The base and two steps that were measured of each protocol with an A100; Simple where the file says none. LL sends
 * twice the bytes, LL128 128 for 120. */
static void
the_file_says_protocol_and_channels (G_GNUC_UNUSED void **state)
{
  static const struct {
    const char *protocol, *played;
    guint n_channels, n_played;
    double startup_us, wire_factor;
  } rows[] = {
    { "ll", "ll", 2, 2, 6.6 + 2 * 1.0, 2 },
    { "ll128", "ll128", 3, 3, 14 + 2 * 2.5, 128 / 120.0 },
    { "simple", "simple", 1, 1, 15 + 2 * 5.0, 1 },
    { NULL, "simple", 0, 1, 15 + 2 * 5.0, 1 },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    FabCollectivePlan plan;

    assert_true (plan_of ("{}", ring_of_three (rows[i].protocol, rows[i].n_channels), 3, &plan, NULL));
    assert_string_equal (plan.algorithm, "mine");
    assert_string_equal (plan.protocol, rows[i].played);
    assert_int_equal (plan.n_channels, rows[i].n_played);
    assert_near ((double) plan.startup_ps / 1e6, rows[i].startup_us, 1e-6);
    assert_near (plan.wire_factor, rows[i].wire_factor, 1e-9);
    assert_true (plan.most_bytes_per_s > 0);
  }
}

/* A host that issues more slowly than the collective ends: 40 us, and 2 for each further channel. */
static void
the_host_issues_it (G_GNUC_UNUSED void **state)
{
  FabCollectivePlan plan;

  assert_true (plan_of ("{issue: 40us, issue_per_channel: 2us}", ring_of_three ("ll", 4), 3, &plan, NULL));
  assert_near ((double) plan.startup_ps / 1e6, 40 + 3 * 2, 1e-4);
}

/* A release that cannot drive the GPUs plays no messages either. */
static void
releases_without_the_gpus_are_refused (G_GNUC_UNUSED void **state)
{
  FabCollectivePlan plan = { 0 };
  g_autofree char *message = NULL;

  assert_false (plan_of ("{nccl_version: 2.5}", ring_of_three ("ll", 4), 3, &plan, &message));
  assert_non_null (message);
  assert_non_null (strstr (message, "2.5"));
}

/* The library that passes messages as MPI does plays them too: each of the three ranks sends twice. */
static void
mpi_passes_these_messages (G_GNUC_UNUSED void **state)
{
  g_autoptr (Rig) rig = rig_new (&spec);
  Params *params = params_new (&fab_library_mpi.info, "{}");
  FabLibrary *library = fab_library_mpi.create (fab_models.lists[FAB_MODEL_ALGORITHM], params->params);
  FabGroup group = rig_group (rig);
  FabCollectivePlan plan = { 0 };
  g_autoptr (GError) error = NULL;

  fab_library_give (library, ring_of_three (NULL, 0));
  assert_true (fab_library_plan (library, &group, FAB_OP_ALL_GATHER, 3000000, &plan, &error));
  assert_null (error);
  assert_string_equal (plan.algorithm, "mine");
  assert_non_null (plan.messages);
  assert_non_null (plan.footprint);
  fab_library_destroy (library);
  params_free (params);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (the_file_says_protocol_and_channels),
    cmocka_unit_test (the_host_issues_it),
    cmocka_unit_test (releases_without_the_gpus_are_refused),
    cmocka_unit_test (mpi_passes_these_messages),
  };

  return cmocka_run_group_tests (tests, NULL, NULL);
}
