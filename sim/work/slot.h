/* SPDX-License-Identifier: Apache-2.0 */
/* slot.h - the state of one iteration that an executor plays. */
#pragma once

#include "sim/work/executor.h"
#include "sim/work/play.h"

/* One live iteration. Arrays per task unless said otherwise. */
typedef struct {
  guint iteration;
  gboolean is_live;
  guint n_left;
  guint *n_waiting;
  guint8 *is_done;
  FabTimePs *begin_ps;          /* began, or arrived at its collective */
  FabTaskId *released_by;       /* of this iteration, FAB_NO_TASK: none */
  FabTaskId *arrived_before;    /* list of those that have arrived at the same collective */
  guint *n_arrived;             /* per collective */
  FabTaskId *arrived;           /* per collective: head of that list */
  FabCollectiveRecord *records; /* per collective */
  FabPlay **plays;              /* per collective, under way by messages; else NULL */
} FabSlot;

void fab_slot_init (FabSlot *slot, const FabDag *dag);
void fab_slot_clear (FabSlot *slot, const FabDag *dag);

/* The collectives that are under way and cross a dead link; `hang` is of the last one. */
guint fab_slot_count_hung (const FabSlot *slot, const FabDag *dag, const FabNet *net, FabHang *hang);
