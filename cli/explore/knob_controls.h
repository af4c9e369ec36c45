/* SPDX-License-Identifier: Apache-2.0 */
/* knob_controls.h - what each knob of `fabricast explore` is called, what it says of itself, and its bounds. */
#pragma once

#include <glib.h>

enum { FAB_KNOB_MAX_GPUS = 1024 };

typedef enum {
  FAB_KNOB_MODEL,
  FAB_KNOB_STRATEGY,
  FAB_KNOB_GPUS,
  FAB_KNOB_NODE,
  FAB_KNOB_RATE,
  FAB_KNOB_MICRO_BATCH,
  FAB_KNOB_BUCKET,
  FAB_KNOB_POWER,
  FAB_KNOB_DESIGN, /* the first choice is none of them */
  FAB_KNOB_UNITS,
  FAB_KNOB_NICS,
  FAB_KNOB_NIC, /* the first choice is what the scenario or the node has */
  FAB_KNOB_SEQUENCE,
  FAB_KNOB_RECOMPUTE,
  FAB_KNOB_TENSOR,
  FAB_KNOB_PIPELINE,
  FAB_KNOB_CONTEXT,
  FAB_KNOB_EXPERT,
  FAB_KNOB_OVERSUBSCRIPTION,
  FAB_KNOB_ROUTE,
  FAB_N_KNOBS,
} FabKnobId;

typedef struct {
  const char *name, *label, *unit, *help;
  gint64 min, max;  /* of a number; both 0: a choice of names */
  gint64 steps[16]; /* the values that a slider offers, ended by 0 */
} FabKnobControl;

extern const FabKnobControl fab_knob_controls[FAB_N_KNOBS];
