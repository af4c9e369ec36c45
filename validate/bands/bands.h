/* SPDX-License-Identifier: Apache-2.0 */
/* bands.h - the residuals of a report's judged tables, the bands that they make, and how often these hold families
 * that were left out.
 */
#pragma once

#include "validate/bands/fit.h"
#include "validate/compare/report.h"

#define FAB_BANDS_COVERAGE 0.9

typedef struct {
  GArray *residuals;   /* FabResiduals, of judged tables that are not doubtful */
  GPtrArray *owned;    /* what they point to */
  const char *library; /* that the tables were predicted with */
  FabBandsFit *fit;
} FabBands;

/* The report outlives it. (transfer full) */
FabBands *fab_bands_new (const FabReport *report);
void fab_bands_free (FabBands *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (FabBands, fab_bands_free)

/* The catalogue file of these bands: models/catalog/bands.yaml. (transfer full) */
char *fab_bands_to_yaml (const FabBands *self);
