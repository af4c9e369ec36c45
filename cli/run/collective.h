/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "answer/collective_request.h"
#include "cli/cli.h"

/* What the options say, parsed. */
typedef struct {
  FabCollectiveRequest request; /* what it points to is owned by the options */
  FabFormat format;
  gint64 iterations, warmup, check; /* shown only */
  double tolerance_fraction;        /* --check: shortfall that is not slow */
  FabBytes judged_bytes;            /* --check: smaller sizes are not judged */
  char *json_path, *check_path;
  char **expanded;          /* the arguments, where a launch line was among them */
  char **environment;       /* as given, to be shown */
  char **environment_notes; /* for each, why it changes nothing; empty: it changes something */
  char *node, *nic, *fabric, *library, *algorithm, *protocol;
  FabScenario *scenario;
  FabNcclTests *measured;
  FabValue *include;
  FabEdits *variables, *sets;
} CollectiveOptions;

/* Parses the command line, each option once, over the catalogue that it loads. Adds what cannot be to `problems`. NULL:
 * --help was printed, or *error. (transfer full) */
CollectiveOptions *collective_options_new (int *argc, char ***argv, FabCatalog **catalog,
                                           FabDiagnostics *problems, GError **error);
void collective_options_free (CollectiveOptions *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (CollectiveOptions, collective_options_free)

/* What the pages show. */
typedef struct {
  const CollectiveOptions *options;
  const FabCollectiveRequest *asked;
  const FabCollectiveCase *run;
} CollectiveView;

/* --- answers --- */

/* Prints the rows in the format of the request. */
void collective_print (const CollectiveView *view, const GArray *rows);
/* -J FILE: refuses to replace a file, as nccl-tests does, and a place where none can be written. Asked before
 * anything is predicted. */
gboolean collective_check_json (const char *path, GError **error);
/* Writes what nccl-tests writes for -J. */
gboolean collective_write_json (const CollectiveView *view, const GArray *rows, GError **error);
/* Prints measured beside predicted values. FALSE without *error: a size is below the tolerance. */
gboolean collective_check (const CollectiveView *view, const GArray *rows, GError **error);

/* Formats a number in `width` columns, with as many decimals as fit but at most two. (transfer full) */
char *collective_fit (double value, guint width);
/* What limits a row: its slowest link, or the name of another bound. */
const char *collective_binding (const FabPrediction *row);

/* Prints bus bandwidth over the sizes of the predictions as a curve, where stdout is a terminal. */
void collective_print_curve (const GArray *rows);
