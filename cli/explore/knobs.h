/* SPDX-License-Identifier: Apache-2.0 */
/* knobs.h - the knobs of `fabricast explore`, and the assignments to a scenario that a setting stands for.
 *
 * A request names knobs and values. Each is looked up in a list or is a whole number within bounds; its text is never
 * used. Assignments are made of the catalogue's names and of numbers only.
 */
#pragma once

#include "cli/explore/knob_controls.h"
#include "models/workload/training/choices.h"
#include "sim/base/json.h"
#include "sim/scenario/scenario.h"

typedef struct {
  gint64 values[FAB_N_KNOBS]; /* of a choice: the index of its name */
} FabKnobSetting;

/* A scenario that can be explored. Names of its own catalogue can be chosen too, if they are plain. */
typedef struct {
  FabScenario *scenario;
  const char **names[FAB_N_KNOBS]; /* NULL-ended lists of choices; NULL for numbers */
  GPtrArray *strategies;           /* const FabStrategy: the offered ones, in the order of their names */
  guint *gradient_bytes;           /* [strategies->len]: bytes of one gradient element */
  FabKnobSetting start;            /* the setting that equals the scenario */
  gboolean has_rate;               /* the scenario sets the rate of NICs */
  gboolean can_oversubscribe;      /* its fabric has uplinks whose number can be reduced */
} FabKnobBoard;

/* Takes ownership of the scenario. NULL and *error when it cannot be explored: it is no ddp, zero, fsdp or megatron, or
 * has too many GPUs. (transfer full) */
FabKnobBoard *fab_knob_board_new (FabScenario *scenario, GError **error);
void fab_knob_board_free (FabKnobBoard *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (FabKnobBoard, fab_knob_board_free)

/* Parses "gpus=64&model=llama2-7b", changes to the scenario's own setting; NULL: no changes. FALSE and *error, which
 * says what would be right. `client` is the asker's name, up to 32 letters and digits; NULL when the query has none.
 * (transfer full) */
gboolean fab_knob_board_parse (const FabKnobBoard *self, const char *query, FabKnobSetting *setting,
                               char **client, GError **error);

/* Returns "cluster.nodes=8", ...: the assignments by which the setting differs from the scenario. (transfer full) */
FabEdits *fab_knob_board_edits (const FabKnobBoard *self, const FabKnobSetting *setting);

/* Reads where the knobs of a setting's scenario stand: another node, for example, brings NICs of its own. FALSE
 * where that cannot be said in knobs, as of a machine with too many GPUs. */
gboolean fab_knob_board_in_effect (const FabKnobBoard *self, FabScenario *scenario, FabKnobSetting *standing);

/* Returns the strategy of a value of its knob. */
const FabStrategy *fab_knob_board_strategy (const FabKnobBoard *self, gint64 value);

/* Adds the knobs for the page: name, label, unit, help, values and the current one. */
void fab_knob_board_add_json (FabJson *json, const char *key, const FabKnobBoard *self);

/* Adds a member, name: value, for each knob. */
void fab_knob_setting_add_json (FabJson *json, const char *key, const FabKnobBoard *self,
                                const FabKnobSetting *setting);
