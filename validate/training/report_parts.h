/* SPDX-License-Identifier: Apache-2.0 */
/* report_parts.h - what a report is made of, between its files. */
#pragma once

#include "validate/training/report.h"

static inline FabTrainingComparison *
fab_training_row_of (const FabTrainingResult *self, guint index)
{
  return &g_array_index (self->rows, FabTrainingComparison, index);
}

/* Which rows calibrate, by the rule of report.h. */
void fab_training_assign_calibration (FabTrainingResult *self);

/* Rows that are not to be played get that role. */
void fab_training_sample (FabTrainingResult *self);

/* Opened rows get their groups and layouts. */
void fab_training_group_rows (FabTrainingResult *self);

/* Grouped rows get their roles and anchors; the anchors are fitted. */
void fab_training_choose_anchors (FabTrainingResult *self);

/* Counts the pairs of a result into it and appends the wrong ones (FabWrongDirection). */
void fab_training_directions (FabTrainingResult *result, GArray *wrong);

/* Fills in errors, accounts and counts of a report whose rows are predicted. */
void fab_training_summarise (FabTrainingReport *self);
