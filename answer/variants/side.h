/* SPDX-License-Identifier: Apache-2.0 */
/* side.h - runs to be held side by side: scenarios, or variants of one, each played with the seeds of its study. */
#pragma once

#include "answer/variants/contrast.h"
#include "sim/study/study_band.h"

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
