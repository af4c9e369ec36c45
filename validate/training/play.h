/* SPDX-License-Identifier: Apache-2.0 */
/* play.h - a measured row as a run of the simulator, read once and played at any efficiency.
 *
 * A template says what the efficiency is: one with the place ${mfu} has a fraction of peak, any other has operators
 * that are priced one by one, and `job.compute.scale` multiplies their rates. At a scale of 1 it is predicted from
 * the catalogue alone.
 */
#pragma once

#include "sim/base/units.h"
#include "sim/scenario/catalog.h"
#include "validate/training/sources.h"

/* What a step was predicted with beyond its kernels. Texts are interned. */
typedef struct {
  const char *generation, *precision;
  const char *stack; /* NULL: no software of the catalogue */
  double time_factor, low_factor, high_factor;
} FabTrainingCell;

typedef struct {
  double step_s;
  double compute_s; /* mean over ranks, as the next two */
  double comm_s;
  double exposed_s; /* of comm_s, what no compute covers */
  FabTrainingCell cell;
} FabTrainingStep;

typedef struct {
  const FabCatalog *catalog;
  const FabRegistry *registry;
  const char *const *sets; /* "a.b=c" over every scenario, NULL-ended, or NULL */
  gboolean plays_all;      /* also of large sources: every row */
  gboolean plays_whole;    /* every micro-batch of a step, where a few of them would tell the same */
} FabTrainingEnv;

/* What an efficiency multiplies. */
typedef enum { FAB_TRAINING_MFU, FAB_TRAINING_SCALE } FabTrainingKnob;

extern const char *const fab_training_knob_names[]; /* "mfu", "scale"; NULL-ended */

/* How a row divides the model, and on what it runs. */
typedef struct {
  FabTrainingKnob knob;
  guint tensor, context, expert, pipeline; /* ranks; 1: not divided so */
  gboolean is_sequence;                    /* with sequence parallelism */
  guint micro_batch;                       /* sequences */
  guint n_micro;                           /* micro-batches of a step */
  const char *precision;                   /* of products, as the scenario writes it, interned */
  const char *generation;                  /* of its accelerators, interned; "": they have none */
} FabTrainingTraits;

typedef struct _FabTrainingRun FabTrainingRun;

/* NULL and *error, which names the row, when its scenario is wrong. The source and the environment outlive it. */
FabTrainingRun *fab_training_run_open (const FabTrainingSource *source, guint row, const FabTrainingEnv *env,
                                       GError **error);
void fab_training_run_free (FabTrainingRun *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (FabTrainingRun, fab_training_run_free)

const FabTrainingTraits *fab_training_run_traits (const FabTrainingRun *self);

/* Several threads may play one run at once. */
gboolean fab_training_run_play (const FabTrainingRun *self, double efficiency, FabTrainingStep *step,
                                GError **error);

/* The efficiency at which the row takes `wanted_s`, within 1e-3 of it, and the step that it takes. *step may be the
 * step at a scale of 1 before, where that is known, or else zeroes. FALSE and *error: none in its range does, for its
 * communication alone takes longer, or nothing is that slow. */
gboolean fab_training_run_fit (const FabTrainingRun *self, double wanted_s, double *efficiency,
                               FabTrainingStep *step, GError **error);

/* The least factor on rates that is looked for. */
#define FAB_TRAINING_LEAST_SCALE 0.2

/* ln of the compute time at which the step would take `wanted_s` over that of the step, when all else stays. Of one
 * whose communication alone takes longer, that of a hundredth of its compute. */
double fab_training_residual (const FabTrainingStep *step, double wanted_s);

/* Time of the slowest of `n_gpus` GPUs over that of the average one. GPUs of one kind differ by 8 % on average,
 * outliers left out, in five clusters (Sinha et al., "Not All GPUs Are Created Equal", SC 2022, arXiv 2208.11035,
 * abstract). Taken as the range between the whiskers of a box plot (inferred: the abstract
 * leaves outliers out), 5.4 standard deviations of a normal distribution, that is a deviation of 1.5 %; the
 * largest of n is expected at the quantile (n - 3/8) / (n + 1/4) (Blom 1958). */
double fab_training_slowest (guint n_gpus);
