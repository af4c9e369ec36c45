/* SPDX-License-Identifier: Apache-2.0 */
/* run.h - what `fabricast run` prints of a run: the page, the JSON and the CSV. */
#pragma once

#include "answer/run.h"
#include "cli/run/goodput_text.h"
#include "sim/base/json.h"

/* The command of the run. */
typedef struct {
  const char *path, *db; /* db NULL: no results file */
  const char *const
      *sets; /* "job.micro_batch=8", with those that short options stand for; NULL-ended, or NULL */
} FabRunCommand;

/* Each returns a new text. */
char *fab_run_page (const FabScenario *scenario, const FabRunResult *result, const FabRunCommand *command);
/* The first screen: at most twelve lines in plain words. */
char *fab_run_brief (const FabScenario *scenario, const FabRunResult *result, const FabRunCommand *command);
/* The rows of the page that a person chose, and its "timeline" (terminal/rows.h). NULL and *error: it has no such
 * row. */
char *fab_run_rows (const FabScenario *scenario, const FabRunResult *result, const FabRunCommand *command,
                    const char *rows, GError **error);
char *fab_run_json (const FabScenario *scenario, const FabRunResult *result);
char *fab_run_csv (const FabRunResult *result);

/* --- parts of them --- */

enum { FAB_RUN_MOST_QUEUES = 3 /* links with queues that are shown, the longest first */ };

/* "13.5", "118": gigabytes (10^9). (transfer full) */
char *fab_run_gb (FabBytes bytes);

/* Members of the JSON. */
void fab_run_add_reasons (FabJson *json, const FabRunResult *result);

/* Appends the command of the run, with these edits too; NULL: none. */
void fab_run_append_command (GString *page, const FabRunCommand *command, const FabEdits *edits);

/* Lines of the page. */
void fab_run_append_shares (GString *page, const FabRunResult *result);
void fab_run_append_iterations (GString *page, const FabRunResult *result);
void fab_run_append_training (GString *page, const FabRunResult *result);
void fab_run_append_memory (GString *page, const FabRunResult *result);
void fab_run_append_classes (GString *page, const FabRunResult *result);
void fab_run_append_path (GString *page, const FabRunResult *result);
