/* SPDX-License-Identifier: Apache-2.0 */
/* pair_params.h - the keys of `pairs`: how far the measured ratio of two times is from the predicted one.
 *
 * An entry is a relation of two collectives or of two computations, such as `collectives-alike`. A cell of it holds for
 * a place and for sizes below `up_to`; one of compute holds for all.
 */
#pragma once

#include "sim/config/schema.h"

typedef struct {
  int place;                      /* FabPlanPlace: sim/run/plan_kind.h; FAB_N_PLAN_PLACES: any */
  FabBytes up_to_bytes;           /* first size that it does not hold for; 0: no end */
  double low_factor, high_factor; /* measured over predicted ratio */
  gint64 n_pairs;                 /* measured, that it rests on */
  gint64 n_tables, n_families;    /* among them; of compute runs and sources */
} FabPairCellSpec;

typedef struct {
  const char *name, *summary;
  double coverage_fraction; /* of all cases are between low and high */
  FabParamList cells;       /* FabPairCellSpec, in the order of their sizes */
  const char *source, *date;
} FabPairSpec;

extern const FabParam fab_pair_params[];
