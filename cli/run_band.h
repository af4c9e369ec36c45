/* SPDX-License-Identifier: Apache-2.0 */
/* run_band.h - the uncertainty of the answer of `fabricast run`, where links state that of their numbers. */
#pragma once

#include "cli/run.h"

/* Runs everything again with each uncertain number at either end, and sets result->band to the range of every
 * iteration's seconds; NULL: nothing is uncertain. FALSE and *error when such a run fails. */
gboolean fab_run_find_band (const FabScenario *scenario, FabRunResult *result, GError **error);

/* Counts of message sizes over links with known measured sizes: all, and those beyond the measured sizes. */
typedef struct {
  guint n, n_outside;
} FabRunSizes;

FabRunSizes fab_run_sizes (const FabRunResult *result);

/* Append lines to the page: the range of the last step; sizes beyond the measured ones. They append nothing when there
 * is nothing to say. */
void fab_run_append_band (GString *page, const FabRunResult *result);
void fab_run_append_sizes (GString *page, const FabRunResult *result);
