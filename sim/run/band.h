/* SPDX-License-Identifier: Apache-2.0 */
/* band.h - the uncertainty of a prediction that follows from the uncertainty of its links' numbers.
 *
 * Every uncertain number is set to each end of its 95 % interval, one number at a time, and the simulation is
 * repeated. The changes are added in quadrature, separately above and below:
 *
 *   high = value + sqrt (sum over numbers of (largest rise)^2);  low likewise
 */
#pragma once

#include "sim/assembly/assemble.h"

typedef enum {
  FAB_UNSURE_RATE,
  FAB_UNSURE_LATENCY,
  FAB_UNSURE_ENDPOINT,
  FAB_UNSURE_MESSAGES,
  FAB_N_UNSURE,
} FabUnsureKind;

/* "rate", "latency", ..., as in a link's `uncertainty`; NULL-ended */
extern const char *const fab_unsure_names[];

/* An uncertain number of a link entry. */
typedef struct {
  char *link;
  FabUnsureKind kind;
  double fraction; /* half-width as a fraction of the number */
} FabUnsure;

typedef struct {
  GArray *unsure; /* FabUnsure in the order of the catalogue */
  guint n;
  double *low, *high; /* [n] bounds of each value */
  /* [n] index in `unsure` of the number that changes the value most; when none changes it, the first. */
  guint *most;
} FabBand;

/* Computes the prediction with one number changed, into `values` [n]. */
typedef gboolean (*FabBandPlay) (gpointer owner, const FabWhatIf *what_if, double *values, GError **error);

/* Computes the band of `values` [n], which must not be negative and are the prediction with nothing changed. *band
 * becomes NULL when no link of the graph has an uncertain number. FALSE: *error is that of `play`. (transfer full) */
gboolean fab_band_find (const FabScenario *scenario, const FabGraph *graph, const double *values, guint n,
                        FabBandPlay play, gpointer owner, FabBand **band, GError **error);
void fab_band_free (FabBand *self); /* accepts NULL */
G_DEFINE_AUTOPTR_CLEANUP_FUNC (FabBand, fab_band_free)

/* Returns what changes value `i` most: "messages of lab-eth (1.5 %)". (transfer full) */
char *fab_band_most (const FabBand *self, guint i);
