/* SPDX-License-Identifier: Apache-2.0 */
/* link.h - derives from the series of one link its saturated rates, its message times and how its directions share
 * it.
 *
 * Each kind of measurement gives a curve (curve.h). With fewer sizes than a curve needs it gives one number: the rate
 * of its largest size, or for `latency` the time of its smallest. Series of several pairs are merged. Series of one
 * kind with different windows, queue pairs or MTUs are refused.
 *
 *   saturated rate   the last regime's rate of `bandwidth`; for copies without it that of `latency`
 *   gap              overhead of the first regime of `bandwidth`: the time between two small messages
 *   both over one    saturated `bidirectional` over saturated `bandwidth`; else `exchange` over `latency`; for copies
 *                    also `bidirectional` over `latency`
 */
#pragma once

#include "formats/measurement/series.h"
#include "sim/scenario/catalog.h"
#include "validate/fit/curve.h"

/* Which sizes to fit. */
typedef struct {
  FabBytes min_bytes, max_bytes; /* 0: no bound */
  double hold_out;               /* held-out fraction (curve.h) */
} FabFitSizes;

/* What one kind of measurement says of one drive. */
typedef struct {
  const FabSeries *series; /* the first of the series, not owned; NULL: this kind was not measured */
  gboolean is_left_out;    /* it was measured, but its times do not describe a link */
  guint n_series;
  guint64 n_samples;  /* 0: not known */
  GArray *points;     /* FabFitPoint, one per size, the median of all series; NULL: nothing was measured */
  FabFitCurve *curve; /* NULL: too few sizes */
  FabBytes from_bytes, to_bytes;
  /* saturated rate in bytes per second, and half of its 95 % interval; 0: not known */
  double rate, rate_half;
} FabFitKind;

typedef struct {
  char *system;       /* NULL: not known */
  gboolean is_device; /* copies between memories, not messages of a network */
  FabFitKind kinds[FAB_DRIVE_KERNEL + 1][FAB_N_MEASURE_KINDS];
  GPtrArray *notes; /* char: sentences on what could not be fitted, and why */
} FabLinkFit;

/* Fits `series`, at least one FabMeasuredSeries, all of one link (groups.h). They must outlive the fit. (transfer
 * full) */
FabLinkFit *fab_link_fit_new (const GPtrArray *series, const FabFitSizes *sizes, GError **error);
void fab_link_fit_free (FabLinkFit *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (FabLinkFit, fab_link_fit_free)

/* Replaces saturated rates above `most_bytes_per_s`, which the link cannot carry, by the rate of the largest size;
 * the true rate lies between the two. Does not change messages of a network, whose rates are not saturated. */
void fab_link_fit_bound (FabLinkFit *self, FabDrive drive, double most_bytes_per_s);

/* Says whether any measurement gives a rate; an entry without a base needs one. */
gboolean fab_link_fit_has_rate (const FabLinkFit *self);
/* Returns the kind that gives a drive's saturated rate in one direction; NULL: not measured. */
const FabFitKind *fab_link_fit_one_way (const FabLinkFit *self, FabDrive drive);
/* Returns the rate with both directions busy over the rate with one, at most 1; 0: not known. When it is known, sets
 * `*busy` (which may be NULL) to the kind with both directions busy. */
double fab_link_fit_duplex (const FabLinkFit *self, FabDrive drive, const FabFitKind **busy);
