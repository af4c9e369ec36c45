/* SPDX-License-Identifier: Apache-2.0 */
/* contrast.h - variants side by side: a row for each fact that any of them has, a column for each variant.
 *
 * Facts belong together by kind and name, so that variants may be of one scenario at several fidelities or of several
 * scenarios. What a variant does not have is NAN.
 */
#pragma once

#include "answer/variants/variant.h"

typedef struct {
  FabFactKind kind;
  const char *name; /* of the first variant that has it */
  guint n;          /* as in FabFact; 0: they have different numbers, or it is not of collectives */
  double *times_s;  /* [n_variants] */
  guint *counts;    /* [n_variants] of collectives */
} FabContrastRow;

typedef struct {
  GPtrArray *variants; /* FabVariant */
  GArray *rows;        /* FabContrastRow, by kind; collectives and links by the largest difference */
  guint base;          /* the variant that the others are held against */
} FabContrast;

/* Takes the variants, of which there is one. */
FabContrast *fab_contrast_new (GPtrArray *variants, guint base);
void fab_contrast_free (FabContrast *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (FabContrast, fab_contrast_free)

static inline const FabVariant *
fab_contrast_variant (const FabContrast *self, guint index)
{
  return g_ptr_array_index (self->variants, index);
}

/* Largest less smallest of a row; what a variant does not have counts as 0. */
double fab_contrast_spread_s (const FabContrast *self, const FabContrastRow *row);

/* What makes variant `index` differ from the base, in one or two sentences. `change` is by how much the step differs,
 * as a fraction of the base's, where several plays of each say it better than these two; NAN: these two say it.
 * (transfer full) */
char *fab_contrast_explain (const FabContrast *self, guint index, double change);
