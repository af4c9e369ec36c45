/* SPDX-License-Identifier: Apache-2.0 */
/* report.h - measured training runs beside predicted ones.
 *
 * Protocol, the same for every source:
 *   1. Rows that are equal in the source's `same` columns (GPU, model, micro-batch) form a group with ONE compute
 *      efficiency. Its anchors are the rows that the table marks; else those of one GPU or one node on the fewest
 * GPUs;
 *      else those on the fewest GPUs. Doubtful rows are no anchors, nor is one that needs over 10 % more GPU-seconds
 *      per sample than a larger run that differs in nothing but GPUs: there memory is nearly full (allocator retries,
 *      smaller kernels), and its efficiency is not that of the others; it is not judged either.
 *   2. The efficiency of an anchor is the one at which its own simulation takes the measured time; of several, the
 * mean
 *      of the times per FLOP is taken.
 *   3. Every other row is simulated with it. Nothing is fitted again, and nothing else is ever fitted.
 *   4. A step waits for the slowest of its GPUs, the more of them the longer (fab_training_slowest); the
 * efficiency is
 *      that of the slowest of the anchor's GPUs, and other rows have that of the slowest of theirs.
 *
 *   error = predicted step / measured step - 1
 *
 * Judged are rows on several nodes that are no anchors and not doubtful; rows inside a node are shown beside them.
 */
#pragma once

#include "sim/scenario/catalog.h"
#include "validate/compare/report.h"
#include "validate/training/sources.h"

typedef struct {
  double step_s;
  double compute_s; /* mean over ranks, as the next two */
  double comm_s;
  double exposed_s; /* of comm_s, what no compute covers */
} FabTrainingStep;

typedef struct {
  const FabCatalog *catalog;
  const FabRegistry *registry;
  const char *const *sets; /* "a.b=c" over every scenario, NULL-ended, or NULL */
} FabTrainingEnv;

/* A row of a source at an efficiency. FALSE and *error, which names the row, when its scenario is wrong. */
gboolean fab_training_step (const FabTrainingSource *source, guint row, double mfu_fraction,
                            const FabTrainingEnv *env, FabTrainingStep *step, GError **error);

/* The efficiency at which the row's step takes what was measured, within 1e-4 of it. A row whose communication alone
 * takes longer has 1, one that no efficiency is low enough for has the least that there is. */
gboolean fab_training_fit (const FabTrainingSource *source, guint row, const FabTrainingEnv *env,
                           double *mfu_fraction, GError **error);

/* Time of the slowest of `n_gpus` GPUs over that of the average one. GPUs of one kind differ by 8 % on average,
 * outliers left out, in five clusters (Sinha et al., "Not All GPUs Are Created Equal", SC 2022, arXiv 2208.11035,
 * abstract). Taken as the range between the whiskers of a box plot (inferred: the abstract
 * leaves outliers out), 5.4 standard deviations of a normal distribution, that is a deviation of 1.5 %; the
 * largest of n is expected at the quantile (n - 3/8) / (n + 1/4) (Blom 1958). */
double fab_training_slowest (guint n_gpus);

typedef enum {
  FAB_RUN_ANCHOR,   /* its group's efficiency comes from it */
  FAB_RUN_ONE_NODE, /* inside one node */
  FAB_RUN_JUDGED,
  FAB_RUN_FULL_MEMORY, /* no anchor although the smallest, and not judged */
  FAB_RUN_DOUBTFUL,
} FabRunRole;

extern const char *const fab_run_role_names[]; /* NULL-ended */

typedef struct {
  const FabTrainingRow *measured;
  guint row; /* of the source's table */
  FabRunRole role;
  guint anchor;        /* row of its group's first anchor */
  double mfu_fraction; /* of its group, of the slowest of its GPUs */
  FabTrainingStep predicted;
  double error_fraction;
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

typedef struct {
  const FabTrainingSource *source;
  GArray *rows; /* FabTrainingComparison, in the order of the table */
  FabErrors errors, one_node_errors;
  FabDirections directions;
} FabTrainingResult;

typedef struct {
  const char *strategy;
  FabErrors errors;
} FabStrategyErrors;

typedef struct {
  GPtrArray *results; /* FabTrainingResult */
  GArray *strategies; /* FabStrategyErrors, in the order in which they first stand */
  GArray *wrong;      /* FabWrongDirection */
  FabErrors errors;   /* of all judged rows */
  FabDirections directions;
} FabTrainingReport;

/* `sources` holds FabTrainingSource, which outlive the report. */
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
