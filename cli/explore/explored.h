/* SPDX-License-Identifier: Apache-2.0 */
/* explored.h - a scenario whose knobs are turned: turns a setting into a scenario, and runs it.
 *
 * The file is read once. A setting becomes edits of a copy, which are validated against the schema as those of --set
 * are. Keys of the job that another strategy does not have are left out for that strategy. Read-only after
 * loading: any thread may use it.
 */
#pragma once

#include "cli/explore/knobs.h"

typedef struct {
  char *path;                /* as the person wrote it, for messages and the command line */
  char **sets;               /* of the command line, applied to the file */
  const FabCatalog *catalog; /* the shipped catalogue */
  FabKnobBoard *board;
  GPtrArray *bases; /* FabScenario for each strategy, without the keys that it does not have */
  gboolean *is_cut; /* [board->strategies->len]: keys were left out for it */
  guint n_seeds;    /* that an outlook plays; 0: one */
} FabExplored;

FabExplored *fab_explored_load (const char *path, char **sets, const FabCatalog *catalog, GError **error);
void fab_explored_free (FabExplored *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (FabExplored, fab_explored_free)

/* Returns the scenario of a setting; NULL and *error when its values do not fit together. (transfer full) */
FabScenario *fab_explored_scenario (const FabExplored *self, const FabKnobSetting *setting, GError **error);
/* Returns that scenario as YAML. (transfer full) */
char *fab_explored_yaml (const FabExplored *self, const FabKnobSetting *setting);
/* Returns a command with the same result: "fabricast run hello.yaml --set cluster.nodes=8". (transfer full) */
char *fab_explored_command (const FabExplored *self, const FabKnobSetting *setting);

/* The result of a setting. */
typedef struct {
  char *setting;   /* JSON: the knobs, the command, the scenario, the figures */
  char *report;    /* JSON, the data of `fabricast report`; NULL: nobody asked, or the scenario cannot run */
  GError *problem; /* why it cannot run */
} FabAnswer;

/* Without a report the result takes a seventh of the time: nothing is stored. */
FabAnswer fab_explored_answer (const FabExplored *self, const FabKnobSetting *setting, gboolean has_report);
/* Returns how sure the result of a setting is, as JSON: {"band": [...], "levers": [...], "waits": [...], "seeds":
 * {...}, "problem": ...}. It plays the scenario several times. (transfer full) */
char *fab_explored_outlook (const FabExplored *self, const FabKnobSetting *setting);
void fab_answer_clear (FabAnswer *self);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (FabAnswer, fab_answer_clear)

/* Returns {"report": ..., "problem": ..., "knobs": ..., ...}; without the report when the client already
 * `has_report`.
 * (transfer full) */
char *fab_answer_json (const FabAnswer *self, gboolean has_report);
