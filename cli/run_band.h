/* SPDX-License-Identifier: Apache-2.0 */
/* run_band.h - how sure the answer of `fabricast run` is, where links say how sure their numbers are. */
#pragma once

#include "cli/run.h"

/* Plays everything again with each uncertain number at either end; result->band is that of every iteration's seconds.
 * NULL there: nothing is uncertain. FALSE and *error when such a run fails. */
gboolean fab_run_find_band (const FabScenario *scenario, FabRunResult *result, GError **error);

/* Sizes of messages over links of which one knows what was measured, and those of them that were not. */
typedef struct {
  guint n, n_outside;
} FabRunSizes;

FabRunSizes fab_run_sizes (const FabRunResult *result);

/* Lines of the page: the band of the last step; sizes outside. Nothing where there is nothing to say. */
void fab_run_append_band (GString *page, const FabRunResult *result);
void fab_run_append_sizes (GString *page, const FabRunResult *result);
