/* SPDX-License-Identifier: Apache-2.0 */
/* band.h - how far a prediction may be off when the numbers of its links may be.
 *
 * Every uncertain number is put at either end of its 95 % half-width, one at a time, and everything is played again.
 * What that changes is added in quadrature, above and below by themselves:
 *
 *   high = value + sqrt (sum over numbers of (largest rise)^2),  low likewise
 */
#pragma once

#include "sim/scenario/assemble.h"

typedef enum {
  FAB_UNSURE_RATE,
  FAB_UNSURE_LATENCY,
  FAB_UNSURE_ENDPOINT,
  FAB_UNSURE_MESSAGES,
  FAB_N_UNSURE,
} FabUnsureKind;

extern const char
    *const fab_unsure_names[]; /* "rate", "latency", ... as in a link's `uncertainty`; NULL-ended */

/* An uncertain number of a link entry. */
typedef struct {
  char *link;
  FabUnsureKind kind;
  double fraction; /* half-width as a part of it */
} FabUnsure;

typedef struct {
  GArray *unsure; /* FabUnsure, in the order of the catalogue */
  guint n;
  double *low, *high; /* [n] of each value */
  guint *most;        /* [n] in `unsure`: which of them changes the value most; where none does, the first */
} FabBand;

/* What is predicted with a number changed; `values` [n]. */
typedef gboolean (*FabBandPlay) (gpointer owner, const FabWhatIf *what_if, double *values, GError **error);

/* Of `values` [n], which are not negative and come out when nothing is changed. *band is NULL where no link of the
 * graph has an uncertain number. FALSE: *error is that of `play`. (transfer full) */
gboolean fab_band_find (const FabScenario *scenario, const FabGraph *graph, const double *values, guint n,
                        FabBandPlay play, gpointer owner, FabBand **band, GError **error);
void fab_band_free (FabBand *self); /* accepts NULL */
G_DEFINE_AUTOPTR_CLEANUP_FUNC (FabBand, fab_band_free)

/* "messages of lab-eth (1.5 %)": what changes value `i` most. (transfer full) */
char *fab_band_most (const FabBand *self, guint i);
