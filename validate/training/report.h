/* SPDX-License-Identifier: Apache-2.0 */
/* report.h - measured training runs beside predicted ones: anchored and blind.
 *
 *   error = predicted step / measured step - 1
 *
 * Anchored, as whoever has one small run stands. The protocol is the same for every source:
 *   1. Rows that are equal in the source's `same` columns (GPU, model, micro-batch) form a group. Its anchors are the
 *      rows that the table marks; else those of one GPU or one node on the fewest GPUs; else those on the fewest GPUs;
 *      of these, the layouts that divide the model least. Doubtful rows are no anchors, nor is one that needs over
 *      10 % more GPU-seconds per sample than a larger run that differs in nothing but GPUs: there memory is nearly full
 *      (allocator retries, smaller kernels), and its efficiency is not that of the others; it is not judged either.
 *   2. The efficiency of an anchor is the one at which its own simulation takes the measured time (play.h); of several,
 *      the mean of the times per FLOP is taken. A run that none in the range takes so is no anchor, and is told.
 *   3. Rows that divide the model alike (tensor, context, expert, pipeline) have a layout. A layout with two rows or
 *      more of a group has anchors of its own, chosen in the same way; they are predicted with the group's efficiency,
 *      and counted apart as errors across layouts.
 *   4. Every other row is simulated with its layout's efficiency, or else the group's. Nothing is fitted again.
 *   5. A step waits for the slowest of its GPUs, the more of them the longer (fab_training_slowest). A job whose
 *      operators are priced one by one does so itself; an MFU is that of the slowest of the anchor's GPUs, and other
 *      rows have that of the slowest of theirs.
 * Judged are rows on several nodes that are no anchors and not doubtful; rows inside a node are shown beside them.
 *
 * Blind, as a planner stands before anyone has measured: every row at a scale of 1, with the catalogue's set-up factor.
 * Only rows whose template prices operators have a blind prediction. A row calibrates or is judged by a rule on names
 * that knows no prediction: of a source that `alternates`, the groups of equal model and GPU (columns `model` and
 * `gpu`, those that there are), in alphabetical order, calibrate and are judged in turn, the first calibrating; of one
 * that is `judged`, all are judged.
 *
 * Of a source with more rows than its `sample` says every k-th group is played, in alphabetical order, k so large
 * that no more rows are left; `plays_all` plays them all.
 *
 * A row that cannot be read or simulated is told and left out; nothing else is fatal but that all of them are.
 */
#pragma once

#include "validate/check/limits.h"
#include "validate/training/play.h"

typedef enum {
  FAB_RUN_ANCHOR,        /* its group's efficiency comes from it */
  FAB_RUN_LAYOUT_ANCHOR, /* its layout's does; it is predicted with its group's */
  FAB_RUN_ONE_NODE,      /* inside one node */
  FAB_RUN_JUDGED,
  FAB_RUN_LAST_PREDICTED = FAB_RUN_JUDGED,
  FAB_RUN_FULL_MEMORY, /* no anchor although the smallest, and not judged */
  FAB_RUN_DOUBTFUL,
  FAB_RUN_UNANCHORED, /* no efficiency takes it to what was measured, or no row of its group has one */
  FAB_RUN_SKIPPED,    /* it cannot be simulated */
  FAB_RUN_NOT_PLAYED, /* of a large source, and not in its sample */
  FAB_N_RUN_ROLES,
} FabRunRole;

extern const char *const fab_run_role_names[]; /* NULL-ended */

/* At a scale of 1. */
typedef struct {
  gboolean is_predicted; /* FALSE: the other fields are 0 */
  FabTrainingStep step;
  double error_fraction;
  /* ln of the compute time at which the step would take what was measured, over the predicted one; to first order, for
   * what compute hides would change with it */
  double residual;
  gboolean is_inside; /* of the band of the catalogue's entry */
} FabTrainingBlind;

typedef struct {
  const FabTrainingRow *measured;
  guint row; /* of the source's table */
  FabRunRole role;
  char *problem;       /* why it is skipped or has no anchor; NULL: neither */
  FabTrainingRun *run; /* NULL: skipped */
  FabTrainingTraits traits;
  guint group, layout; /* first row of its group, and of its layout in that */
  double fitted;       /* efficiency of an anchor; 0: it is none */
  guint anchor;        /* row of the first anchor of what it is predicted with */
  double efficiency;   /* with which it is predicted, of the slowest of its GPUs */
  FabTrainingStep predicted;
  double error_fraction;
  gboolean is_calibration;
  FabTrainingBlind blind;
} FabTrainingComparison;

/* Pairs of rows that differ in one factor. */
typedef struct {
  guint n_right, n_wrong;
  guint n_small; /* measured changes under 2 %: no direction to be right about */
  guint n_odd; /* more GPUs, nothing else, measured cheaper per sample: noise or memory, no effect of scale */
} FabDirections;

typedef struct {
  const char *source, *factor;
  const char *from, *to;                        /* ids of the rows */
  double measured_fraction, predicted_fraction; /* change of GPU-seconds per sample */
} FabWrongDirection;

/* Of blind predictions. */
typedef struct {
  FabErrors errors;
  guint n_inside; /* of the band */
} FabBlindErrors;

typedef struct {
  const FabTrainingSource *source;
  GArray *rows;       /* FabTrainingComparison, in the order of the table */
  guint n_played;     /* rows in its sample */
  guint n_skipped;    /* rows that could not be read or simulated */
  GPtrArray *remarks; /* char: why, of each row that is skipped or has no anchor */
  FabErrors errors, one_node_errors, across_errors;
  FabBlindErrors blind_calibration, blind_judged;
  FabDirections directions;
} FabTrainingResult;

/* Judged rows of a kind: a strategy as the source calls it, how the model is divided, a case, a generation. */
typedef struct {
  const char *name;
  FabErrors errors;
  FabBlindErrors blind_calibration, blind_judged;
} FabTrainingAccount;

typedef struct {
  GPtrArray *results; /* FabTrainingResult */
  GArray *strategies; /* FabTrainingAccount, in the order in which they first stand */
  GArray *divisions;  /* FabTrainingAccount: DP, TP, PP, EP, CP; a row may count in several but DP */
  GArray *cases; /* FabTrainingAccount: what is hard to predict; a row may count in several, or in none */
  GArray *generations;             /* FabTrainingAccount, in alphabetical order */
  GArray *wrong;                   /* FabWrongDirection */
  FabErrors errors, across_errors; /* of all judged rows, and of layouts' anchors */
  FabErrors large_errors;          /* of judged rows on more than 256 GPUs */
  FabBlindErrors blind_calibration, blind_judged;
  guint n_skipped, n_unanchored;
  FabDirections directions;
} FabTrainingReport;

/* `sources` holds FabTrainingSource, which outlive the report, as does the environment. NULL and *error, that of the
 * first row, when no row at all can be simulated. */
FabTrainingReport *fab_training_report_new (const GPtrArray *sources, const FabTrainingEnv *env,
                                            GError **error);
void fab_training_report_free (FabTrainingReport *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (FabTrainingReport, fab_training_report_free)

/* accept-training.yaml or one like it: every source must be one of `sources`. */
FabLimits *fab_training_limits_load (const char *path, const FabTrainingSources *sources,
                                     const FabRegistry *registry, GError **error);

/* One line per limit that the report exceeds, NULL-ended; empty when all is well. A source with judged rows and
 * without a limit exceeds it. The limit over all sources counts when every source is in the report. (transfer full) */
char **fab_training_report_exceeded (const FabTrainingReport *self, const FabLimits *limits);
