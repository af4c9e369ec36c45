/* SPDX-License-Identifier: Apache-2.0 */
/* calibrated.h - predicts the judged collectives with link parameters of four origins, to show what measured
 * parameters gain.
 *
 *   datasheet        line rate, coding and packets of the catalogue's entry; nothing is measured
 *   p2p              the same, with the parameters that the point-to-point tables give
 *   catalogue        the entry as shipped: set by such tables and by the collectives marked calibration
 *   catalogue + p2p  the same, with the parameters that the point-to-point tables give
 *
 * No parameter is fitted to the tables that are judged.
 */
#pragma once

#include "validate/compare/report.h"
#include "validate/fit/published.h"

typedef enum {
  FAB_KNOWN_DATASHEET,
  FAB_KNOWN_P2P,
  FAB_KNOWN_CATALOG,
  FAB_KNOWN_CATALOG_P2P,
  FAB_N_KNOWN,
} FabKnown;

extern const char *const fab_known_names[FAB_N_KNOWN];

typedef struct {
  const FabPublishedSystem *spec;
  FabReport *reports[FAB_N_KNOWN];
} FabCalibratedSystem;

typedef struct {
  GPtrArray *systems;                                /* FabCalibratedSystem */
  FabErrors errors[FAB_N_KNOWN][FAB_N_SIZE_CLASSES]; /* over all tables */
} FabCalibratedReport;

typedef struct {
  const FabPublished *published;
  const FabMeasured *measured;
  const FabCatalog *catalog;
  const FabRegistry *registry;
} FabCalibratedRequest;

/* Predicts every table with all four. Fails when a system names a table that is not judged. The members of `request`
 * must outlive the report. (transfer full) */
FabCalibratedReport *fab_calibrated_report_new (const FabCalibratedRequest *request, GError **error);
void fab_calibrated_report_free (FabCalibratedReport *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (FabCalibratedReport, fab_calibrated_report_free)

char *fab_calibrated_to_text (const FabCalibratedReport *report);
char *fab_calibrated_to_markdown (const FabCalibratedReport *report);
char *fab_calibrated_to_csv (const FabCalibratedReport *report);
char *fab_calibrated_to_json (const FabCalibratedReport *report);
