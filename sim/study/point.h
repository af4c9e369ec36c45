/* SPDX-License-Identifier: Apache-2.0 */
/* point.h - the result of one simulated scenario, in the figures that studies compare. */
#pragma once

#include "sim/cost/bill.h"
#include "sim/decision/bottleneck.h"
#include "sim/result/record.h"
#include "sim/run/simulation.h"
#include "sim/study/goodput.h"
#include "sim/verdict/verdict.h"

/* Of the last iteration, as means over ranks; 0: the figure does not apply. */
typedef struct {
  guint n_ranks, n_nodes;
  guint64 global_batch; /* sequences of a step */
  union {
    FabPointFigures figures;
    struct {
      FAB_POINT_FIGURES /* step_s, exposed_s, mfu_fraction, ... */
    };
  };
  double exposed_by_s[FAB_N_DIMENSIONS]; /* by dimension of parallelism, exposed_s in sum */
  guint dimensions;                      /* 1 << FabDimension: those in which the job communicates */
  FabBytes memory_bytes;                 /* of the rank that needs most */
  FabBytes memory_max_bytes;             /* memory that a rank has */
  /* What a rank sends in a step at least: sizes x the busbw factors of nccl-tests. */
  double sent_bytes;
  char *binding,
      *binding_spec; /* the slowest link: "node0/nic0 -> leaf0", "ib-ndr"; NULL: nothing crosses a link */
  FabBottleneck *bottleneck; /* what limits the step; NULL: it was not asked for (study_bottleneck.h) */
  FabSpending spending;
  FabGoodput goodput;  /* all 0 where the scenario has no rates of failures */
  FabVerdict *verdict; /* NULL: not computed, as of a point that was read back */
  guint64 n_events;    /* of the simulation */
  gboolean uses_seed;  /* another seed can give other figures */
  GPtrArray
      *draws; /* FabPoint of each seed, in their order, of which this is the median (spread.h); NULL: one */
  GArray *choices;         /* FabChoice (choices.h), what the library chose; NULL: not known */
  gboolean has_only_times; /* of the draws only step and exposed communication were kept */
} FabPoint;

/* Returns the point of a simulation of the scenario that has run to its end. NULL and *error when a figure cannot be
 * computed. (transfer full) */
FabPoint *fab_point_of (const FabScenario *scenario, const FabSimulation *simulation,
                        const FabRegistry *registry, GError **error);

typedef struct {
  double most_step_s;    /* what must take longer is not played to its end: it has no times; 0: any */
  FabPlantCache *plants; /* plays on one of these; NULL: on a plant of its own */
  const gint *cancel;    /* the play ends soon once it is not 0 (sim/run/run.h); NULL: nobody cancels */
} FabPointLimits;

/* Simulates a scenario, within limits; `limits` may be NULL. Returns NULL and *error when it cannot be built, or hangs.
 * (transfer full) */
FabPoint *fab_point_play_within (const FabScenario *scenario, const FabRegistry *registry,
                                 const FabPointLimits *limits, GError **error);
/* Does not simulate it: the point has its memory alone. `limits` has plants. */
FabPoint *fab_point_weigh (const FabScenario *scenario, const FabRegistry *registry,
                           const FabPointLimits *limits, GError **error);
FabPoint *fab_point_copy (const FabPoint *self); /* of one play, without draws. (transfer full) */
void fab_point_free (FabPoint *self);

/* Whether the fullest rank's memory is enough, or is not known. */
gboolean fab_point_fits (const FabPoint *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (FabPoint, fab_point_free)

/* --- figures by name --- */

typedef enum {
  FAB_FIGURE_TIME,
  FAB_FIGURE_FRACTION,
  FAB_FIGURE_RATE,
  FAB_FIGURE_BYTES,
  FAB_FIGURE_MONEY,
  FAB_FIGURE_ENERGY,
  FAB_FIGURE_POWER,
} FabFigureKind;

typedef struct {
  const char *name;   /* the name that users write: "exposed" */
  const char *column; /* with its unit: "exposed_fraction" */
  FabFigureKind kind;
  const char *summary;
  const char *per; /* of what it is counted: "per million tokens"; NULL: the value stands by itself */
  double (*value) (
      /* In seconds, as a fraction, per second, in bytes, US dollars, joules or watts. */
      const FabPoint *point);
  gboolean (*is_known) (const FabPoint *point); /* NULL: always */
  gboolean is_by_step;     /* of as much work, it is better exactly where the step is shorter */
  gboolean is_of_training; /* of the whole training, whose work does not depend on the step */
  gboolean is_gain;        /* larger is better; FALSE: smaller is */
  const char *unknown;     /* why it is unknown: "the job does not say how many tokens it trains with" */
} FabFigure;

extern const FabFigure fab_figures[]; /* ended by a row without name */

const FabFigure *fab_figure_find (const char *name); /* NULL: there is no such figure */
char *fab_figure_names (void);                       /* "step, exposed, ...". (transfer full) */

/* Shows a value for reading: "620.4 ms", "30 days", "52.3 %", "$42.84M", "13.2 kWh". (transfer full) */
char *fab_figure_show (FabFigureKind kind, double value);

/* A figure in a sentence has its unit in the value: "$0.0151 per million tokens". A figure in a table has it in the
 * label, "token_cost per million tokens", and not in the cell, whose fractions all have one decimal: "5.0 %". (transfer
 * full) */
char *fab_figure_write (const FabFigure *figure, double value);
char *fab_figure_label (const FabFigure *figure);
char *fab_figure_cell (const FabFigure *figure, double value);

/* Reads a value as a person writes it; FALSE and *error, which says what would be right. */
gboolean fab_figure_parse (FabFigureKind kind, const char *text, double *value, GError **error);
