/* SPDX-License-Identifier: Apache-2.0 */
/* sweep_record.h - a point of a sweep in transit: from the thread that simulated it to the file, and back to the code
 * that prints it. */
#pragma once

#include "sim/result/record.h"
#include "sim/study/axis.h"
#include "sim/study/study.h"

/* Returns the record of a point that has a result or a problem. The record owns its texts. (transfer full) */
FabSweepPointRecord *fab_sweep_record_new (const FabGrid *grid, gint64 point, const FabTry *trial);

/* The same of a point that no sweep has: number and settings are unknown. (transfer full) */
FabSweepPointRecord *fab_sweep_record_of (const FabPoint *point);
void fab_sweep_record_free (FabSweepPointRecord *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (FabSweepPointRecord, fab_sweep_record_free)

/* Gives `trial` the point or the problem of a record. */
void fab_sweep_record_to_try (const FabSweepPointRecord *self, FabTry *trial);

/* Appends the record as bytes, for another process on a machine of the same kind. */
void fab_sweep_record_write (const FabSweepPointRecord *self, GByteArray *bytes);

/* Takes one record from the front of *bytes; NULL: there is no complete one. (transfer full) */
FabSweepPointRecord *fab_sweep_record_read (const guint8 **bytes, gsize *n_left);
