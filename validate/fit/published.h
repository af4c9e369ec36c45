/* SPDX-License-Identifier: Apache-2.0 */
/* published.h - reads the index of the point-to-point tables in the repository, and which systems' collectives they
 * can predict.
 *
 * measured/links/INDEX.yaml says which link of the catalogue a file measured, and how many of them side by side;
 * calibrated.yaml assigns such files to judged collective tables of the same system.
 */
#pragma once

#include "sim/scenario/catalog.h"

typedef struct {
  const char *file; /* beside INDEX.yaml */
  const char *link; /* entry of the catalogue */
  gint64 count;     /* links side by side between the two ends */
  const char *kind, *role, *date, *note;
  gboolean is_doubtful; /* excluded from fits */
} FabPublishedLink;

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

guint fab_published_n_systems (const FabPublished *self);
const FabPublishedSystem *fab_published_system (const FabPublished *self, guint index);

/* Returns the FabPublishedLink of a system, in its order. (transfer container) */
GPtrArray *fab_published_links (const FabPublished *self, const FabPublishedSystem *system);

/* Reads a file. Returns a GPtrArray of FabMeasuredSeries. (transfer full) */
GPtrArray *fab_published_series (const FabPublished *self, const FabPublishedLink *link, GError **error);
