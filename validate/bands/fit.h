/* SPDX-License-Identifier: Apache-2.0 */
/* fit.h - bands from residuals: by how much measured times differ from predicted ones, for a share of all cases.
 *
 *   residual = ln (measured time / predicted time)      of one size of one table
 *
 * Sizes of one table are not independent, and neither are tables of one publication, which are of one machine, or
 * publications of one family. So a cell (place, operations, size class) is summed up as a mixture in which every family
 * weighs the same, in a family every publication, in a publication every table, in a table every size. The ends of a
 * cell are quantiles of that mixture, below and above apart. A cell with few families is drawn towards all operations
 * of its place:
 *
 *   end = (k x own end + 2 x end of all operations) / (k + 2)      k families
 *
 * Which quantiles: as far out as it takes that families which were left out are covered as often as asked for. That is
 * `reach`, one number for all cells of a size class. Up to 1 it is the share of the mixture between the ends; beyond,
 * the ends of the whole mixture are stretched by it. The search for it leaves out one family after the other, and
 * weighs each the same.
 *
 * A family with tables of a cell has ends of its own, drawn towards those of all families,
 *
 *   end = (k x own end + end of all families) / (k + 1)                k publications
 *
 * at a reach that is found by leaving out one publication after the other, of the families that several have measured.
 */
#pragma once

#include "validate/bands/residuals.h"

/* The ends of a band as residuals, low <= 0 <= high, and what they rest on. */
typedef struct {
  double low, high;
  guint n_tables, n_publications, n_families;
  guint n_machines; /* that several publications measured (validate/bands/spread.h) */
  double spread;    /* the largest of theirs, as a logarithm; 0: none was measured twice */
} FabBandEnds;

/* Of one family, or of all. */
typedef struct {
  const char *family; /* NULL: of a family that was not measured */
  /* n_tables 0: there is none, and that of all families counts */
  FabBandEnds cells[FAB_N_PLAN_PLACES][FAB_N_PLAN_OPERATIONS][FAB_N_SIZE_CLASSES];
} FabFamilyBands;

typedef struct {
  double coverage_fraction;             /* asked for */
  double reach[FAB_N_SIZE_CLASSES];     /* of families that were left out */
  double own_reach[FAB_N_SIZE_CLASSES]; /* of publications that were left out of families with others */
  GArray *families;                     /* FabFamilyBands; the first is of all */
} FabBandsFit;

/* Of `n` residuals, all of `coverage_fraction` of the cases. The texts are not copied. (transfer full) */
FabBandsFit *fab_bands_fit (const FabResiduals *all, guint n, double coverage_fraction);
void fab_bands_fit_free (FabBandsFit *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (FabBandsFit, fab_bands_fit_free)

/* The share of a table's residuals between these ends. */
double fab_bands_covered (const FabResiduals *residuals, const FabBandEnds *ends);

/* How often a band of the others holds what is left out: its reach and its ends are found without those residuals. */
typedef struct {
  const char *name; /* of the family, or of the publication */
  guint n_tables;
  /* of tables; n_cells[]: how many of each class */
  double covered_fraction[FAB_N_SIZE_CLASSES];
  guint n[FAB_N_SIZE_CLASSES];
} FabLeftOutCoverage;

/* Every family left out in turn. (transfer full: FabLeftOutCoverage) */
GArray *fab_bands_left_out (const FabResiduals *all, guint n, double coverage_fraction);

/* Every publication left out in turn, against what its families have then: ends of their own where others have measured
 * them, else those of all families. (transfer full: FabLeftOutCoverage) */
GArray *fab_bands_publications_left_out (const FabResiduals *all, guint n, double coverage_fraction);
