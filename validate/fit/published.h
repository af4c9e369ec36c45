/* SPDX-License-Identifier: Apache-2.0 */
/* published.h - the point-to-point tables that the project keeps, and which systems' collectives they can forecast.
 *
 * measured/links/INDEX.yaml says which link of the catalogue a file measured and how many of it side by side;
 * calibrated.yaml joins such files with judged collective tables of the same system.
 */
#pragma once

#include "sim/scenario/catalog.h"

typedef struct {
  const char *file; /* in the directory of INDEX.yaml */
  const char *link; /* entry of the catalogue */
  gint64 count;     /* links side by side between the two ends */
  const char *kind, *role, *date, *note;
  gboolean is_doubtful; /* not for fitting */
} FabPublishedLink;

typedef struct {
  const char *name;
  const char *links;  /* files without .csv, between blanks */
  const char *tables; /* judged tables, between blanks */
  gboolean is_same;   /* links and tables were measured on the same machines, not on others of their kind */
  const char *note;
} FabPublishedSystem;

typedef struct _FabPublished FabPublished;

/* Every link that a system names must be there and not doubtful. */
FabPublished *fab_published_load (const char *links_directory, const char *systems_path,
                                  const FabCatalog *catalog, const FabRegistry *registry, GError **error);
void fab_published_free (FabPublished *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (FabPublished, fab_published_free)

guint fab_published_n_systems (const FabPublished *self);
const FabPublishedSystem *fab_published_system (const FabPublished *self, guint index);

/* FabPublishedLink of a system, in its order. (transfer container) */
GPtrArray *fab_published_links (const FabPublished *self, const FabPublishedSystem *system);

/* What stands in a file: GPtrArray of FabMeasuredSeries. (transfer full) */
GPtrArray *fab_published_series (const FabPublished *self, const FabPublishedLink *link, GError **error);
