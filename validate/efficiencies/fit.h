/* SPDX-License-Identifier: Apache-2.0 */
/* fit.h - efficiencies of whole models from measured steps: a table of cells, what stands in for cells that were not
 * measured, and bands.
 *
 * A point is a measured row: the scale of the roofline's rates at which its kernels take the measured time. Rows of one
 * model on one GPU from one source are not independent, so they are a group, whose value is the median of theirs; and
 * the k groups that a source has in a cell count as
 *
 *   weight of each = 1 / (1 + (k - 1) / 2)          one group 1, many of one source 2 in sum
 *
 * A cell is a generation, a precision and a software stack. In logarithms a group is the mean plus an effect of each of
 * the three; effects are drawn towards 0 as if one more group had said so (a ridge of 1), and groups that are more than
 * `robust_log` off count as if they were that far. A cell of its own is drawn towards the sum of its effects:
 *
 *   cell = (sum of weights x own mean + effects) / (sum of weights + 1)
 *
 * Bands are of the time that compute takes, measured over predicted, ln (predicted scale / own scale), with the
 * source left out of the fit that predicts (split-conformal with sources as the exchangeable units). The residuals of a
 * part (all, a generation, a stack, a cell) are a mixture in which every source weighs the same, in a source every
 * group, in a group every row; its ends are the 5 % and 95 % quantiles, drawn towards those of all:
 *
 *   end = (k x own end + 2 x end of all) / (k + 2)         k sources
 *
 * and stretched by `reach`: as far as it takes to hold 90 % of the rows of a source that is left out of all of it, on
 * the mean over sources.
 */
#pragma once

#include <glib.h>

typedef struct {
  const char *source;
  const char *group; /* model and GPU, inside the source */
  const char *generation, *precision, *stack;
  double log_scale;
  gboolean is_calibration; /* else it is only compared with */
} FabEfficiencyPoint;

/* low <= 0 <= high, logarithms of measured over predicted time */
typedef struct {
  double low, high;
} FabEfficiencyEnds;

/* A cell, or an effect, which leaves some of the three out. */
typedef struct {
  const char *generation, *precision, *stack; /* NULL: all */
  double log_scale;                           /* of an effect: what it adds to the mean */
  FabEfficiencyEnds ends;
  guint n_rows, n_groups, n_sources; /* that calibrate it */
} FabEfficiencyEntry;

typedef struct {
  double coverage_fraction; /* asked for */
  double reach;
  GArray *
      entries; /* FabEfficiencyEntry: the mean, generations, precisions, stacks, cells, each in order of names */
} FabEfficienciesFit;

/* Of the points that calibrate. The texts are not copied. (transfer full) */
FabEfficienciesFit *fab_efficiencies_fit (const FabEfficiencyPoint *points, guint n,
                                          double coverage_fraction);
void fab_efficiencies_fit_free (FabEfficienciesFit *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (FabEfficienciesFit, fab_efficiencies_fit_free)

/* What the catalogue would say of a point's cell: the cell's entry, or the product of the effects that fit with the
 * widest of their ends. */
FabEfficiencyEntry fab_efficiencies_of (const FabEfficienciesFit *self, const FabEfficiencyPoint *point);

/* The rows of a source against what the others' calibrating rows say of them. */
typedef struct {
  const char *source;
  guint n_rows;
  double covered_fraction; /* of its rows, within the band */
  double median_log;       /* ln (predicted / measured time of compute), in the middle: its bias */
  double error_fraction;   /* median |predicted / measured - 1| of compute */
} FabEfficiencyLeftOut;

/* Of every source, in the order in which they stand; rows that calibrate and rows that do not. (transfer full) */
GArray *fab_efficiencies_left_out (const FabEfficiencyPoint *points, guint n, double coverage_fraction);

/* For predictions that no efficiency was fitted for: `log_scale` of each point is its residual, ln (measured /
 * predicted time). The ends of all that calibrate, stretched likewise. */
FabEfficiencyEnds fab_residual_ends (const FabEfficiencyPoint *points, guint n, double coverage_fraction);

/* Every source against the ends of the others. (transfer full: FabEfficiencyLeftOut) */
GArray *fab_residuals_left_out (const FabEfficiencyPoint *points, guint n, double coverage_fraction);

/* The quantile of `n` weighted values. `order` of them need not be sorted. */
double fab_weighted_quantile (const double *values, const double *weights, guint n, double fraction);
