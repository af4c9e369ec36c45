/* SPDX-License-Identifier: Apache-2.0 */
/* band.h - how far a prediction may be off.
 *
 * Three things are uncertain. Numbers of links that somebody measured say so themselves (`uncertainty`): every one is
 * set to each end of its 95 % interval, one at a time. Collectives over other links are as far off as measured ones
 * like them were (entries `bands` of the catalogue, plan_kind.h): all of them are played at the low end of what was
 * measured, and all at the high end, because errors of one model go the same way. Compute is as far off as that of
 * measured runs like the job was (entries `setups` of the catalogue): all kernels are played at the low end, and
 * all at the high end. The simulation is repeated for each end, and the changes are added in quadrature, separately
 * above and below:
 *
 *   high = value + sqrt (sum over what is uncertain of (largest rise)^2);  low likewise
 *
 * What else may be wrong with a scenario is taken for certain.
 */
#pragma once

#include "sim/base/json.h"
#include "sim/run/plan_kind.h"

typedef enum {
  FAB_UNSURE_RATE,
  FAB_UNSURE_LATENCY,
  FAB_UNSURE_ENDPOINT,
  FAB_UNSURE_MESSAGES,
  FAB_UNSURE_COLLECTIVES, /* all that no uncertain link carries */
  FAB_UNSURE_COMPUTE,     /* all kernels of the first job */
  FAB_UNSURE_DRAWS,       /* the seed */
  FAB_N_UNSURE,
} FabUnsureKind;

/* "rate", "latency", ..., as in a link's `uncertainty`, then "collectives", "compute" and "seeds"; NULL-ended */
extern const char *const fab_unsure_names[];

/* What is uncertain: a number of a link entry, collectives, or compute. */
typedef struct {
  char *link; /* NULL: collectives, compute or the seed */
  FabUnsureKind kind;
  double fraction; /* half-width as a fraction of the number; of collectives, compute and the seed 0 */
} FabUnsure;

/* Returns the uncertain numbers of all links of the scenario's catalogue (FabUnsure). (transfer full) */
GArray *fab_unsure_links (const FabScenario *scenario);

/* The what-if that sets a number to the lower end of its interval (`sign` -1) or the upper one (1). */
FabWhatIf fab_unsure_what_if (const FabUnsure *unsure, double sign);

/* What is known of compute like the job's. */
typedef struct {
  double coverage_fraction;          /* of all cases; 0: nothing is known, or nothing computes */
  double low_factor, high_factor;    /* measured over predicted time; low <= 1 <= high */
  guint n_rows, n_groups, n_sources; /* that it rests on */
  char *entry;                       /* of the catalogue's `setups`, or the effects that stand for one */
} FabComputeBand;

/* Published networks that were not well: so many tables of so many, with times so far from their predictions. */
typedef struct {
  guint n_tables, n_of; /* 0: none is known */
  double low_factor, high_factor;
} FabUntuned;

/* What is known of collectives like one that was planned, on machines that are well. */
typedef struct {
  double low_factor, high_factor; /* measured over predicted time; low <= 1 <= high */
  double coverage_fraction;       /* of all cases are between; 0: nothing is known, and the factors are 1 */
  guint n_tables, n_families;     /* that it rests on */
  guint n_publications;           /* of these tables; 0: not told */
  guint n_machines;               /* kinds of machines that several of them measured */
  double
      spread_factor;  /* the slowest over the fastest publication of one such kind, at the most; at least 1 */
  const char *entry;  /* of the catalogue's `bands` */
  FabUntuned untuned; /* of this place, operations and size, over any links */
} FabPlanBand;

/* Of a plan with a footprint whose links are not uncertain. */
FabPlanBand fab_plan_band (const FabScenario *scenario, const FabCollectivePlan *plan,
                           const FabPlanKind *kind);

/* "5 kinds of these machines were measured by several of 12 publications, which differ by up to 1.4 times", where that
 * is known; else NULL. (transfer full) */
char *fab_publications_words (const FabPlanBand *self);

/* "4 of 13 published networks took 1.4 to 11 times as long as predicted", when there are any that took
 * longer; else NULL. (transfer full) */
char *fab_untuned_words (const FabUntuned *self);

typedef struct {
  GArray *unsure; /* FabUnsure in the order of the catalogue; then collectives, then compute */
  guint n;
  double *low, *high; /* [n] bounds of each value */
  /* [n] index in `unsure` of what changes the value most; when nothing changes it, the first. */
  guint *most;
  /* 0.95; 0.9, what `bands` cover, where collectives count in */
  double coverage_fraction;
  /* of the entry of `bands` by which most is uncertain; coverage 0: no collectives count in */
  FabPlanBand collectives;
  FabComputeBand compute;
  guint n_draws; /* seeds, over which the figures range; 0: they do not count in */
  /* The name of the network that played the ends where it is not the one that played the values. The caller sets it. */
  const char *fidelity;
} FabBand;

/* Computes the prediction with one number changed, into `values` [n]. */
typedef gboolean (*FabBandPlay) (gpointer owner, const FabWhatIf *what_if, double *values, GError **error);

/* Computes the band of `values` [n], which must not be negative and are the prediction with nothing changed. *band
 * becomes NULL when nothing is uncertain. FALSE: *error is that of `play`. (transfer full) */
gboolean fab_band_find (const FabScenario *scenario, const FabGraph *graph, const double *values, guint n,
                        FabBandPlay play, gpointer owner, FabBand **band, GError **error);
/* The same of links alone, for what has no collectives. */
gboolean fab_band_of_links (const FabScenario *scenario, const FabGraph *graph, const double *values, guint n,
                            FabBandPlay play, gpointer owner, FabBand **band, GError **error);
/* Adds in quadrature that the values [n] are `low` to `high` with other seeds, of which `n_draws` were played.
 * *band NULL becomes a band of the seeds alone. Nothing where all seeds have the same values. */
void fab_band_add_draws (FabBand **band, const double *values, const double *low, const double *high, guint n,
                         guint n_draws);
void fab_band_free (FabBand *self); /* accepts NULL */
G_DEFINE_AUTOPTR_CLEANUP_FUNC (FabBand, fab_band_free)

/* Returns what changes value `i` most: "messages of lab-eth (1.5 %)", "collectives (40 published measurements of 11
 * kinds)", "compute (46 published runs of 5 sources)". (transfer full) */
char *fab_band_most (const FabBand *self, guint i);

/* Returns what a figure's band is: "95 %, most by messages of lab-eth (1.5 %)", "90 %, by collectives alone (8
 * published measurements of nvlink-ampere-switch)". (transfer full) */
char *fab_band_about (const FabBand *self, guint i);

/* Adds to the open object an object `band`: what is covered, and what collectives and compute rest on. */
void fab_band_add_json (const FabBand *self, FabJson *json);

/* Returns what it rests on: "40 published measurements of 11 kinds", "9 published measurements of
 * nvlink-hopper-switch". (transfer full) */
char *fab_plan_band_basis (const FabPlanBand *self);
