/* SPDX-License-Identifier: Apache-2.0 */
/* sides.h - runs to be held side by side: scenarios, or variants of one, each played once. */
#pragma once

#include "sim/study/study.h"
#include "validate/fidelity/contrast.h"

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
} FabSide;

/* Takes `edits`; a NULL name becomes that of the scenario. */
FabSide *fab_side_new (const char *name, const FabStudy *study, FabEdits *edits);
/* A file that cannot be read; takes the problem. */
FabSide *fab_side_failed (const char *path, GError *problem);
void fab_side_free (FabSide *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (FabSide, fab_side_free)

/* Plays those that have neither point nor problem, on all processors; what comes out does not depend on how many there
 * are. */
void fab_sides_play (GPtrArray *sides);

/* Of the first that could not be played, and which it is; FALSE then. */
gboolean fab_sides_check (const GPtrArray *sides, GError **error);

/* Those that were played, held against side `base`, which was; takes their variants. */
FabContrast *fab_sides_contrast (GPtrArray *sides, guint base);

static inline FabSide *
fab_sides_at (const GPtrArray *sides, guint index)
{
  return g_ptr_array_index (sides, index);
}
