/* SPDX-License-Identifier: Apache-2.0 */
/* slot.h - the state of one iteration that an executor runs. */
#pragma once

#include "sim/work/executor.h"
#include "sim/work/play.h"

/* One active iteration. Arrays are per task unless stated otherwise. */
typedef struct {
  guint iteration;
  gboolean is_live;
  guint n_left;
  guint *n_waiting;
  guint8 *is_done;
  FabTimePs *begin_ps;          /* when it began, or arrived at its collective */
  FabTaskId *released_by;       /* releasing task of this iteration, or FAB_NO_TASK */
  FabTaskId *arrived_before;    /* linked list of the tasks that have arrived at the same collective */
  guint *n_arrived;             /* per collective */
  FabTaskId *arrived;           /* per collective: head of that list */
  FabCollectiveRecord *records; /* per collective */
  FabPlay **plays;              /* per collective that runs by messages; else NULL */
} FabSlot;

void fab_slot_init (FabSlot *slot, const FabDag *dag);
void fab_slot_clear (FabSlot *slot, const FabDag *dag);

/* Counts the active collectives that cross a dead link; `hang` is set to the last one. */
guint fab_slot_count_hung (const FabSlot *slot, const FabDag *dag, const FabNet *net, FabHang *hang);
