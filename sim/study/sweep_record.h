/* SPDX-License-Identifier: Apache-2.0 */
/* sweep_record.h - a point of a sweep on its way: from where it was played to the file, and back to what prints it. */
#pragma once

#include "sim/result/record.h"
#include "sim/study/grid.h"
#include "sim/study/study.h"

/* Of a point that was played, or has its problem. Owns its texts. */
FabSweepPointRecord *fab_sweep_record_new (const FabGrid *grid, gint64 point, const FabTry *trial);
void fab_sweep_record_free (FabSweepPointRecord *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (FabSweepPointRecord, fab_sweep_record_free)

/* What was played: `trial` gets a point or a problem. */
void fab_sweep_record_to_try (const FabSweepPointRecord *self, FabTry *trial);

/* As bytes, for another process on a machine of the same kind. */
void fab_sweep_record_write (const FabSweepPointRecord *self, GByteArray *bytes);

/* Takes one from the front of *bytes; NULL: there is no whole one. */
FabSweepPointRecord *fab_sweep_record_read (const guint8 **bytes, gsize *n_left);
