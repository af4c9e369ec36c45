/* SPDX-License-Identifier: Apache-2.0 */
/* tune.h - the output of `fabricast tune`. */
#pragma once

#include "sim/study/tune.h"

typedef struct {
  const char *title; /* of the scenario */
  const FabTune *tune;
} FabTuneView;

/* Format the view. (transfer full) */
char *fab_tune_text (const FabTuneView *view);
char *fab_tune_csv (const FabTuneView *view);
char *fab_tune_json (const FabTuneView *view);

/* Returns "bucket 100MiB, micro_batch 4 x 2". (transfer full) */
char *fab_tune_point_name (const FabTune *self, const FabTunePoint *point);
