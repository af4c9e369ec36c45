/* SPDX-License-Identifier: Apache-2.0 */
/* studies.h - a study of a scenario from text, played by one thread. */
#pragma once

#include "models/models.h"
#include "sim/study/study.h"
#include "tests/support/test.h"

/* (transfer full) */
static inline FabStudy *
study_of_text (const FabCatalog *catalog, const char *yaml)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (FabScenario) scenario = fab_scenario_parse ("study", yaml, strlen (yaml), NULL, &fab_models,
                                                         catalog, &error);

  if (scenario == NULL)
    fail_msg ("%s", error->message);
  FabStudy *study = fab_study_of ("study", scenario, catalog, &fab_models);
  study->n_threads = 1;
  return study;
}
