/* SPDX-License-Identifier: Apache-2.0 */
/* knobs.h - what can be turned in `fabricast explore`, and the assignments to a scenario that a setting stands for.
 *
 * A request names knobs and values; both are looked up in lists or are whole numbers within bounds, and nothing of its
 * text goes anywhere. An assignment is made of names of the catalogue and of numbers.
 */
#pragma once

#include "sim/base/json.h"

#include "models/workload/training/choices.h"
#include "sim/scenario/scenario.h"

typedef enum {
  FAB_KNOB_MODEL,
  FAB_KNOB_STRATEGY,
  FAB_KNOB_GPUS,
  FAB_KNOB_NODE,
  FAB_KNOB_RATE,
  FAB_KNOB_MICRO_BATCH,
  FAB_KNOB_BUCKET,
  FAB_N_KNOBS,
} FabKnobId;

enum { FAB_KNOB_MAX_GPUS = 1024 };

typedef struct {
  const char *name, *label, *unit, *help;
  gint64 min, max;  /* of a number; both 0: a choice among names */
  gint64 steps[16]; /* that a slider offers, ended by 0 */
} FabKnobControl;

/* How the page shows each knob. */
extern const FabKnobControl fab_knob_controls[FAB_N_KNOBS];

typedef struct {
  gint64 values[FAB_N_KNOBS]; /* of a choice: which of its names */
} FabKnobSetting;

/* A scenario that can be explored. The names of its own catalogue count too, if they are plain. */
typedef struct {
  FabScenario *scenario;
  const char **names[FAB_N_KNOBS]; /* NULL-ended lists of choices; NULL for numbers */
  GPtrArray *strategies; /* const FabStrategy: those that are offered, in the order of their names */
  guint *gradient_bytes; /* [strategies->len] of one gradient */
  FabKnobSetting start;  /* where the scenario stands */
  gboolean has_rate;     /* it says how fast the NICs are */
} FabKnobBoard;

/* Takes the scenario. NULL and *error when it is none to explore: no ddp, zero or fsdp, too many GPUs. */
FabKnobBoard *fab_knob_board_new (FabScenario *scenario, GError **error);
void fab_knob_board_free (FabKnobBoard *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (FabKnobBoard, fab_knob_board_free)

/* "gpus=64&model=llama2-7b" over where the scenario stands; NULL: as it stands. FALSE and *error, which says what would
 * be right. `client`, who asks, is up to 32 letters and digits; NULL when the query names none. (transfer full) */
gboolean fab_knob_board_parse (const FabKnobBoard *self, const char *query, FabKnobSetting *setting,
                               char **client, GError **error);

/* "cluster.nodes=8", ...: what differs from where the scenario stands. (transfer full) */
FabEdits *fab_knob_board_edits (const FabKnobBoard *self, const FabKnobSetting *setting);

/* Where a name stands in a list; -1: nowhere. */
gint64 fab_knob_index (const char *const *names, const char *name);

/* The strategy that stands at this value of its knob. */
const FabStrategy *fab_knob_board_strategy (const FabKnobBoard *self, gint64 value);

/* The knobs for the page: name, label, unit, help, values and which of them stands. */
void fab_knob_board_add_json (FabJson *json, const char *key, const FabKnobBoard *self);
/* name: value */
void fab_knob_setting_add_json (FabJson *json, const char *key, const FabKnobBoard *self,
                                const FabKnobSetting *setting);
