/* SPDX-License-Identifier: Apache-2.0 */
/* run_seeds.h - `fabricast run --seeds N`: runs a scenario with N seeds and shows how much its steps vary. */
#pragma once

#include "cli/cli.h"
#include "cli/run.h"

typedef struct {
  const char *path;
  char **sets;         /* NULL-ended; the first seed is the one in them, or the scenario's */
  const char *n_seeds; /* as the person wrote it */
  const char *db;      /* gets a run for each seed; NULL: none is written */
  FabFormat format;
} FabRunSeeds;

/* Runs and prints. FALSE and *error, which names the seed, when one of them could not run. */
gboolean fab_run_seeds (const FabRunSeeds *request, const FabCatalog *catalog, GError **error);
