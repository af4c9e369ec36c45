/* SPDX-License-Identifier: Apache-2.0 */
/* efficiencies.h - the catalogue's `efficiencies`, from the measured rows that calibrate (validate/training/report.h).
 *
 * Each of them is played until its kernels take the measured time; of a group of many rows, a dozen evenly from its
 * table. Only the smallest runs of a model and layout are taken: those that anchor others, and those inside one node.
 * Rows whose experts are divided among ranks are left out, for what their exchange costs the host is not priced. So are
 * rows whose communication would be exposed for over a quarter of the step, which say little of what computes, rows
 * that no scale takes to their time, and doubtful ones.
 *
 * The entry `anchored` is not of efficiencies: it is the band of a step whose compute was fixed by a measured run of
 * the same group, on rows that are predicted with their group's or their layout's anchor.
 */
#pragma once

#include "validate/efficiencies/fit.h"
#include "validate/training/report.h"

#define FAB_EFFICIENCIES_COVERAGE 0.9

typedef struct _FabEfficiencies FabEfficiencies;

/* `report` is of all sources, and outlives it with its environment. (transfer full) */
FabEfficiencies *fab_efficiencies_new (const FabTrainingReport *report, const FabTrainingEnv *env);
void fab_efficiencies_free (FabEfficiencies *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (FabEfficiencies, fab_efficiencies_free)

/* The catalogue file: models/catalog/efficiencies.yaml. (transfer full) */
char *fab_efficiencies_to_yaml (const FabEfficiencies *self);

/* How sources that are left out are predicted, as the tables of docs/reference/coverage.md. (transfer full) */
char *fab_efficiencies_to_markdown (const FabEfficiencies *self);
