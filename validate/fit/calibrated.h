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

#include "sim/scenario/catalog.h"
#include "validate/compare/report.h"

typedef struct {
  const char *name;
  const char *links;  /* file names without .csv, separated by blanks */
  const char *tables; /* judged tables, separated by blanks */
  gboolean is_same; /* links and tables were measured on the same machines, not on others of the same type */
  const char *note;
} FabPublishedSystem;

typedef struct _FabPublished FabPublished;

/* Reads both files. Fails when a system names a link that is not there or is doubtful. `catalog` and `registry` must
 * outlive the result. (transfer full) */
FabPublished *fab_published_load (const char *links_directory, const char *systems_path,
                                  const FabCatalog *catalog, const FabRegistry *registry, GError **error);
void fab_published_free (FabPublished *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (FabPublished, fab_published_free)

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
