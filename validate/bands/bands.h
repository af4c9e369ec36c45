/* SPDX-License-Identifier: Apache-2.0 */
/* bands.h - the residuals of a report's judged tables, the bands that they make, and how often these hold families
 * that were left out.
 */
#pragma once

#include "validate/bands/fit.h"
#include "validate/compare/health.h"
#include "validate/compare/report.h"

#define FAB_BANDS_COVERAGE 0.9

/* Residuals, and what they point to. */
typedef struct {
  GArray *all; /* FabResiduals */
  GPtrArray *owned;
} FabResidualList;

typedef struct {
  /* Of sizes at which tables are well (validate/compare/health.h): of judged tables as predicted; of all tables, each
   * predicted as if its family was not measured; and of judged tables that are not well. */
  FabResidualList judged, left_out, untuned;
  const char *library;     /* that the tables were predicted with */
  FabBandsFit *fit;        /* of `judged` */
  FabBandsFit *unmeasured; /* of `left_out` */
} FabBands;

/* The reports, which are of the same tables, and the catalogue outlive it. (transfer full) */
FabBands *fab_bands_new (const FabReport *report, const FabReport *left_out, const FabCatalog *catalog);
void fab_bands_free (FabBands *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (FabBands, fab_bands_free)

/* The catalogue file of these bands: models/catalog/bands.yaml. (transfer full) */
char *fab_bands_to_yaml (const FabBands *self);

/* How often they hold families that were left out, as the tables of docs/reference/coverage.md. (transfer full) */
char *fab_bands_to_markdown (const FabBands *self);

/* The table of the README: errors by table, of families left out, and coverage. (transfer full) */
char *fab_bands_accuracy (const FabBands *self, const FabReport *report, const FabReport *left_out);
