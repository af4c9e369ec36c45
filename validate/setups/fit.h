/* SPDX-License-Identifier: Apache-2.0 */
/* fit.h - what published runs take beyond what is priced by name: one factor, and bands.
 *
 * A point is a measured row: ln of the factor on the priced computation at which its step takes the measured time. A
 * source says one thing however many rows it has, so every source weighs the same, in a source every group (rows of one
 * model on one GPU), in a group every row. The factor is the weighted median of the points that calibrate.
 *
 * Bands are of the time that compute takes, measured over predicted, with the source left out of the fit that predicts
 * (split-conformal with sources as the exchangeable units). The residuals of all, or of a software stack, are a mixture
 * of the same weights; its ends are the 5 % and 95 % quantiles, those of a stack drawn towards those of all:
 *
 *   end = (k x own end + 2 x end of all) / (k + 2)         k sources
 *
 * and stretched by `reach`: as far as it takes to hold 90 % of the rows of a source that is left out of all of it, on
 * the mean over sources. Points that are apart have no part in the factor, in the ends of all or in their reach; what
 * they say is in the band of their own stack, which is drawn and stretched likewise.
 */
#pragma once

#include <glib.h>

typedef struct {
  const char *source;
  const char *group; /* model and GPU, inside the source */
  const char *stack;
  double log_factor;
  gboolean is_calibration; /* else it is only compared with */
  gboolean is_apart;       /* it counts in the band of its stack alone, with a reach of their own */
} FabSetupPoint;

/* low <= 0 <= high, logarithms of measured over predicted time */
typedef struct {
  double low, high;
} FabSetupEnds;

/* Of all, or of a stack. */
typedef struct {
  const char *stack; /* NULL: all */
  FabSetupEnds ends;
  guint n_rows, n_groups, n_sources; /* that calibrate it */
} FabSetupEntry;

typedef struct {
  double coverage_fraction; /* asked for */
  double reach, apart_reach;
  double log_factor;
  GArray *entries; /* FabSetupEntry: all, then the stacks in order of names */
} FabSetupsFit;

/* Of the points that calibrate. The texts are not copied. (transfer full) */
FabSetupsFit *fab_setups_fit (const FabSetupPoint *points, guint n, double coverage_fraction);
void fab_setups_fit_free (FabSetupsFit *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (FabSetupsFit, fab_setups_fit_free)

/* The rows of a source against what the others' calibrating rows say of them. */
typedef struct {
  const char *source;
  guint n_rows;
  double covered_fraction; /* of its rows, within the band */
  double median_log;       /* ln (predicted / measured time of compute), in the middle: its bias */
  double error_fraction;   /* median |predicted / measured - 1| of compute */
} FabSetupLeftOut;

/* Of every source, in the order in which they stand; rows that calibrate and rows that do not: those that are apart, or
 * the others. (transfer full) */
GArray *fab_setups_left_out (const FabSetupPoint *points, guint n, double coverage_fraction,
                             gboolean is_apart);

/* For predictions that no factor was fitted for: `log_factor` of each point is its residual, ln (measured / predicted
 * time). The ends of all that calibrate, stretched likewise. */
FabSetupEnds fab_residual_ends (const FabSetupPoint *points, guint n, double coverage_fraction);

/* Every source against the ends of the others. (transfer full: FabSetupLeftOut) */
GArray *fab_residuals_left_out (const FabSetupPoint *points, guint n, double coverage_fraction);
