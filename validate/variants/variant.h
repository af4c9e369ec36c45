/* SPDX-License-Identifier: Apache-2.0 */
/* variant.h - one column of a comparison: a scenario played to its end, and the times of its last iteration.
 *
 *   step = compute + exposed + idle           mean over ranks
 *   exposed = sum over dimensions
 *   of each sort of collectives (dimension, operation, algorithm), summed over them:
 *     time        end - start
 *     contention  end - start - time on an idle network; below 0: faster than the plan
 *     waiting     start - arrival of the first rank
 */
#pragma once

#include "sim/run/simulation.h"
#include "sim/study/study_band.h"

typedef enum {
  FAB_FACT_STEP,
  FAB_FACT_COMPUTE,
  FAB_FACT_COMM,
  FAB_FACT_OVERLAPPED,
  FAB_FACT_EXPOSED,
  FAB_FACT_EXPOSED_BY, /* of a dimension */
  FAB_FACT_IDLE,
  FAB_FACT_COLLECTIVES, /* of a sort, and the two below */
  FAB_FACT_CONTENTION,
  FAB_FACT_WAITING,
  FAB_FACT_LINK, /* time in which a link is busy */
  FAB_N_FACTS,
} FabFactKind;

extern const char *const fab_fact_names[FAB_N_FACTS + 1]; /* "step", ..., "exposed_by"; NULL-ended */

typedef struct {
  FabFactKind kind;
  char *name;    /* "data all_reduce ring", "node0/nic0 -> leaf0"; "" where there is one of the kind */
  guint n;       /* collectives behind it; 0: it is not of collectives */
  double time_s; /* CONTENTION may be below 0 */
} FabFact;

/* Ranks that do the same. */
typedef struct {
  guint n_ranks;
  double waited_s; /* exposed and idle */
} FabVariantClass;

typedef struct {
  const char *op, *algorithm; /* static; no algorithm: NULL */
  FabBytes bytes;
  double time_s;
} FabVariantCollective;

typedef struct {
  char *name, *scenario, *fidelity; /* of the column, of what was played */
  GArray *facts;                    /* FabFact, by kind */
  GArray *classes;                  /* FabVariantClass */
  GArray *collectives;              /* FabVariantCollective, in their order */
  double slowed_s;                  /* of compute, what kernels took longer beside collectives */
  FabVerdict *verdict;              /* NULL: not computed */
  guint64 n_events;
  double wall_s;
} FabVariant;

/* NULL and *error when it cannot be built, or hangs. Its name is that of the fidelity. */
FabVariant *fab_variant_play (const FabScenario *scenario, const FabRegistry *registry, GError **error);
void fab_variant_free (FabVariant *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (FabVariant, fab_variant_free)

/* Of a fact that there is once; 0: there is none. */
double fab_variant_time_s (const FabVariant *self, FabFactKind kind);

/* Of all facts of the kind. */
double fab_variant_sum_s (const FabVariant *self, FabFactKind kind);

/* Variants side by side: a row for each fact that any of them has, a column for each variant.
 *
 * Facts belong together by kind and name, so that variants may be of one scenario at several fidelities or of several
 * scenarios. What a variant does not have is NAN.
 */
typedef struct {
  FabFactKind kind;
  const char *name; /* of the first variant that has it */
  guint n;          /* likewise; 0: they have different numbers, or it is not of collectives */
  double *times_s;  /* [n_variants] */
  guint *counts;    /* [n_variants] of collectives */
} FabContrastRow;

typedef struct {
  GPtrArray *variants; /* FabVariant */
  GArray *rows;        /* FabContrastRow, by kind; collectives and links by the largest difference */
  guint base;          /* the variant that the others are held against */
} FabContrast;

/* Takes the variants, of which there is one. */
FabContrast *fab_contrast_new (GPtrArray *variants, guint base);
void fab_contrast_free (FabContrast *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (FabContrast, fab_contrast_free)

static inline const FabVariant *
fab_contrast_variant (const FabContrast *self, guint index)
{
  return g_ptr_array_index (self->variants, index);
}

/* Largest less smallest of a row; what a variant does not have counts as 0. */
double fab_contrast_spread_s (const FabContrast *self, const FabContrastRow *row);

/* What makes variant `index` differ from the base, in one or two sentences. `change` is by how much the step differs,
 * as a fraction of the base's, where several plays of each say it better than these two; NAN: these two say it.
 * (transfer full) */
char *fab_contrast_explain (const FabContrast *self, guint index, double change);

/* Runs to be held side by side: scenarios, or variants of one, each played once. */
typedef struct {
  char *name;                   /* of the column */
  char *path;                   /* of the scenario */
  const FabStudy *study;        /* the caller's; NULL: the scenario cannot be read */
  FabEdits *edits;              /* laid over the study's, or NULL */
  char *summary;                /* the scenario's own line, NULL: it has none, or was not played */
  FabBytesPerS nic_bytes_per_s; /* line rate of its NIC ports; 0: it has none */
  FabPoint *point;              /* NULL: it was not played yet, or could not be */
  FabVariant *variant;          /* likewise */
  GError *problem;              /* why it could not be */
  FabBand *band;                /* of step_s and exposed_s; NULL: not asked for, or nothing is uncertain */
  FabPairedBand change;         /* of the step, against the base; coverage 0 and n 0: not asked for */
} FabSide;

/* Takes `edits`; a NULL name becomes that of the scenario. */
FabSide *fab_side_new (const char *name, const FabStudy *study, FabEdits *edits);

/* A file that cannot be read; takes the problem. */
FabSide *fab_side_failed (const char *path, GError *problem);
void fab_side_free (FabSide *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (FabSide, fab_side_free)

/* Plays those that have neither point nor problem, on all processors; what comes out does not depend on how many
 * there are. */
void fab_sides_play (GPtrArray *sides);

/* Plays those that have a point twice more and oftener, for their bands (sim/run/band.h). A band that cannot be had is
 * none. */
void fab_sides_find_bands (GPtrArray *sides);

/* Finds by how much the step of each side differs from that of side `base`, with its band. One that cannot be had stays
 * empty. */
void fab_sides_compare (GPtrArray *sides, guint base);

/* Finds what limits the step of those that have a point (sim/decision/bottleneck.h). */
void fab_sides_find_bottlenecks (GPtrArray *sides);

/* Whether that was found. */
static inline gboolean
fab_side_has_change (const FabSide *self)
{
  return self->change.change.n > 0;
}

/* Of the first that could not be played, and which it is; FALSE then. */
gboolean fab_sides_check (const GPtrArray *sides, GError **error);

/* Those that were played, held against side `base`, which was; takes their variants. */
FabContrast *fab_sides_contrast (GPtrArray *sides, guint base);

static inline FabSide *
fab_sides_at (const GPtrArray *sides, guint index)
{
  return g_ptr_array_index (sides, index);
}
