/* SPDX-License-Identifier: Apache-2.0 */
/* explored.h - a scenario whose knobs are turned: what a setting makes of it, and what comes out.
 *
 * The file is read once. A setting becomes edits of a copy, which pass the schema as those of --set do.
 * Keys of the job that another strategy does not know are left out for that one. Read-only after loading: several
 * threads may ask.
 */
#pragma once

#include "cli/explore/knobs.h"

typedef struct {
  char *path;                /* as a person wrote it, for messages and the command line */
  char **sets;               /* of the command line, laid over the file */
  const FabCatalog *catalog; /* the shipped one */
  FabKnobBoard *board;
  GPtrArray *bases; /* FabScenario for each strategy, without the keys that it does not know */
  gboolean *is_cut; /* [board->strategies->len] whether keys were left out for it */
} FabExplored;

FabExplored *fab_explored_load (const char *path, char **sets, const FabCatalog *catalog, GError **error);
void fab_explored_free (FabExplored *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (FabExplored, fab_explored_free)

/* The scenario of a setting; NULL and *error when its values do not fit together. */
FabScenario *fab_explored_scenario (const FabExplored *self, const FabKnobSetting *setting, GError **error);
/* The same as a file. (transfer full) */
char *fab_explored_yaml (const FabExplored *self, const FabKnobSetting *setting);
/* "fabricast run hello.yaml --set cluster.nodes=8": what gives the same. (transfer full) */
char *fab_explored_command (const FabExplored *self, const FabKnobSetting *setting);

/* What comes out of a setting. */
typedef struct {
  char *setting;   /* JSON: the knobs, the command, the scenario, the figures */
  char *report;    /* JSON, the data of `fabricast report`; NULL: it cannot be played */
  GError *problem; /* why not */
} FabAnswer;

FabAnswer fab_explored_answer (const FabExplored *self, const FabKnobSetting *setting);
void fab_answer_clear (FabAnswer *self);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (FabAnswer, fab_answer_clear)

/* {"report": ..., "problem": ..., "knobs": ..., ...}; without the report where it is there already. (transfer full) */
char *fab_answer_json (const FabAnswer *self, gboolean has_report);
