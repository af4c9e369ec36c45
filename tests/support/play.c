/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/support/play.h"

#include <string.h>

#include "models/models.h"
#include "tests/support/probe_text.h"

FabCatalog *
play_catalog (void)
{
  const char *root = g_getenv ("FAB_SOURCE_DIR") ? g_getenv ("FAB_SOURCE_DIR") : FAB_SOURCE_DIR;
  g_autofree char *directory = g_build_filename (root, "models", "catalog", NULL);
  g_autoptr (GError) error = NULL;
  FabCatalog *catalog = fab_catalog_load (directory, &fab_models, &error);

  g_assert_no_error (error);
  return catalog;
}

int
play_run_test_group (const char *name, const struct CMUnitTest *tests, gsize n, FabCatalog **catalog)
{
  *catalog = play_catalog ();
  int n_failed = _cmocka_run_group_tests (name, tests, n, NULL, NULL);
  fab_catalog_free (g_steal_pointer (catalog));
  return n_failed;
}

Play *
play_new (const FabCatalog *catalog, const char *yaml, const FabWhatIf *what_if)
{
  g_autoptr (GError) error = NULL;
  Play *self = g_new0 (Play, 1);

  self->scenario = fab_scenario_parse ("test", yaml, strlen (yaml), NULL, &fab_models, catalog, &error);
  if (self->scenario)
    self->simulation = fab_simulation_new (self->scenario, &fab_models, what_if, &error);
  if (self->simulation == NULL)
    g_error ("%s\n%s", error->message, yaml);
  return self;
}

Play *
play_cluster (const FabCatalog *catalog, const char *cluster, const char *own)
{
  g_autofree char *yaml = g_strdup_printf (
      "name: t\ncluster: {%s}\ncollectives: plain\n"
      "job: {kind: collective, operations: [{op: all_reduce, size: 1GB}]}\n%s",
      cluster, own);

  return play_new (catalog, yaml, NULL);
}

void
play_free (Play *self)
{
  if (self == NULL)
    return;
  fab_simulation_free (self->simulation);
  fab_scenario_free (self->scenario);
  g_free (self);
}

char *
play_problem (const FabCatalog *catalog, const char *yaml)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (FabScenario) scenario = fab_scenario_parse ("t", yaml, strlen (yaml), NULL, &fab_models, catalog,
                                                         &error);
  FabSimulation *simulation = scenario != NULL ? fab_simulation_new (scenario, &fab_models, NULL, &error)
                                               : NULL;

  g_assert ((simulation == NULL) == (error != NULL));
  fab_simulation_free (simulation);
  return error != NULL ? g_strdup (error->message) : NULL;
}

char *
play_text (const FabCatalog *catalog, const char *yaml)
{
  g_autoptr (Play) play = play_new (catalog, yaml, NULL);
  GString *text = g_string_new (NULL);

  while (fab_simulation_step (play->simulation))
    probe_text (fab_simulation_probe (play->simulation), text);
  return g_string_free (text, FALSE);
}

FabStudy *
play_study (const FabCatalog *catalog, const char *yaml)
{
  g_autoptr (Play) play = play_new (catalog, yaml, NULL);
  FabStudy *study = fab_study_of ("a", play->scenario, catalog, &fab_models);

  study->n_threads = 1;
  study->n_seeds = 1;
  return study;
}
