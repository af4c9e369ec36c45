/* SPDX-License-Identifier: Apache-2.0 */
/* setups.h - the catalogue's `setups`, from the measured rows that calibrate (validate/training/report.h).
 *
 * Each of them is played until its computation takes the measured time; of a group of many rows, a dozen evenly from
 * its table. Only the smallest runs of a model and layout are taken: those that anchor others, and those inside one
 * node. Rows whose experts are divided among ranks have a band of their own, `experts`, and no part in the factor. Left
 * out are rows whose communication would be exposed for over a quarter of the step, which say little of what computes,
 * rows that no factor takes to their time, and doubtful ones.
 *
 * The entry `anchored` is the band of a step whose compute was fixed by a measured run of the same group, on rows that
 * are predicted with their group's or their layout's anchor.
 */
#pragma once

#include "validate/setups/fit.h"
#include "validate/training/report.h"

#define FAB_SETUPS_COVERAGE 0.9

typedef struct _FabSetups FabSetups;

/* `report` is of all sources, and outlives it with its environment. (transfer full) */
FabSetups *fab_setups_new (const FabTrainingReport *report, const FabTrainingEnv *env);
void fab_setups_free (FabSetups *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (FabSetups, fab_setups_free)

/* The catalogue file: models/catalog/setups.yaml. (transfer full) */
char *fab_setups_to_yaml (const FabSetups *self);

/* How sources that are left out are predicted, as the tables of docs/reference/coverage.md. (transfer full) */
char *fab_setups_to_markdown (const FabSetups *self);
