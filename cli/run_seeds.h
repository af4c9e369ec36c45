/* SPDX-License-Identifier: Apache-2.0 */
/* run_seeds.h - `fabricast run --seeds N`: the same scenario with N seeds, and how far its steps spread. */
#pragma once

#include "cli/cli.h"
#include "cli/run.h"

typedef struct {
  const char *path;
  char **sets;         /* NULL-ended; the first seed is the one they give, or the scenario's */
  const char *n_seeds; /* as the person wrote it */
  const char *db;      /* a run for each seed; NULL: none */
  FabFormat format;
} FabRunSeeds;

/* Plays and prints. FALSE and *error, which names the seed, when one of them could not be played. */
gboolean fab_run_seeds (const FabRunSeeds *request, const FabCatalog *catalog, GError **error);
