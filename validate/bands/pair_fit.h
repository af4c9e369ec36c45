/* SPDX-License-Identifier: Apache-2.0 */
/* pair_fit.h - bands of ratios from measured pairs: how far the measured ratio of two times is from the predicted one.
 *
 *   difference = ln (measured ratio / predicted ratio) = residual of the second - residual of the first
 *
 * Two have no natural order, so only the absolute value of a difference counts, and a band is symmetric. A cell is a
 * place and a size class; pairs of computations have one cell. It is summed up as a mixture in which every family
 * (every two families, where they differ) weighs the same, in a family every kind of pair, in a kind every pair of
 * tables, in a pair every size. Of computations, families are sources, and tables are runs. The end of a cell is a
 * quantile of its mixture.
 *
 * Which quantile is found for each place by `reach`, as in fit.h: as far out as it takes that pairs of a family that
 * was left out are covered as often as asked for, on the mean over families. Up to 1 it is the share of the mixture
 * that is covered; beyond, the end of the whole mixture is stretched by it.
 */
#pragma once

#include <glib.h>

enum { FAB_N_PAIR_PLACES = 2, FAB_N_PAIR_CLASSES = 3 };

/* Two tables that differ in one thing. */
typedef struct {
  const char *kind;        /* that thing: "number of nodes" */
  const char *families[2]; /* equal where both are of one */
  const char *tables[2];
  guint place, size_class; /* 0, 0: computations */
  guint n;                 /* sizes */
  const double *logs;      /* [n] absolute differences */
  /* [n] the band of the ratio with both times at opposite ends of their own, less the difference; it holds the ratio
   * if low <= 0 <= high */
  const double *opposite_low, *opposite_high;
} FabPair;

/* The half-width of a band as a logarithm, and what it rests on. */
typedef struct {
  double log;
  guint n_pairs, n_tables, n_families; /* n_pairs 0: there is none */
} FabPairEnd;

typedef struct {
  double coverage_fraction; /* asked for */
  double reach[FAB_N_PAIR_PLACES];
  FabPairEnd ends[FAB_N_PAIR_PLACES][FAB_N_PAIR_CLASSES];
} FabPairFit;

FabPairFit fab_pair_fit (const FabPair *pairs, guint n, double coverage_fraction);

/* A pair against the band that was made without one of its families. */
typedef struct {
  const FabPair *pair;
  const char *family;                      /* left out, with all pairs that it is in */
  double log;                              /* half-width of the band */
  double held_fraction, opposite_fraction; /* of its sizes: in that band, and with both at opposite ends */
} FabPairTrial;

/* Every pair with each of its families left out. (transfer full: FabPairTrial) */
GArray *fab_pairs_left_out (const FabPair *pairs, guint n, double coverage_fraction);

/* Which trials count. NULL or negative: all. */
typedef struct {
  const char *kind;
  int place, size_class;
} FabPairFilter;

/* How often the bands of some trials held. Every family weighs the same, in it every kind, in a kind every pair. */
typedef struct {
  guint n_pairs, n_families;
  double held_fraction, opposite_fraction;
  double median_log, median_opposite_log; /* of half-widths, over pairs */
} FabPairCoverage;

FabPairCoverage fab_pair_coverage (const GArray *trials, FabPairFilter filter);
