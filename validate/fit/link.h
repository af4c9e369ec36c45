/* SPDX-License-Identifier: Apache-2.0 */
/* link.h - series of one machine to what they say of a link: saturated rates, messages, interference of directions.
 *
 * Every kind of measurement gives a curve (curve.h) or, with fewer sizes than a curve needs, one number: the rate of
 * its largest size; few sizes of `latency` give the time of the smallest. Series of several pairs are taken
 * together; other windows, queue pairs or MTUs of one kind are refused.
 *
 *   saturated rate   the last regime's rate of `bandwidth`; of copies else that of `latency`
 *   gap              overhead of the first regime of `bandwidth`: from one small message to the next
 *   both over one    saturated `bidirectional` over saturated `bandwidth`; else `exchange` over `latency`; of copies
 *                    also `bidirectional` over `latency`
 */
#pragma once

#include "sim/scenario/catalog.h"
#include "validate/fit/curve.h"
#include "validate/measure/series.h"

/* Which sizes to fit to. */
typedef struct {
  FabBytes min_bytes, max_bytes; /* 0: no bound */
  double hold_out;               /* curve.h */
} FabFitSizes;

/* One kind of measurement by one drive. */
typedef struct {
  const FabSeries *series; /* the first of them; NULL: this was not measured */
  gboolean is_left_out;    /* it was measured, and its times are no link's */
  guint n_series;
  guint64 n_samples;  /* 0: not known */
  GArray *points;     /* FabFitPoint, one a size, the median of all series; NULL: nothing was measured */
  FabFitCurve *curve; /* NULL: too few sizes */
  FabBytes from_bytes, to_bytes;
  double rate, rate_half; /* saturated, bytes per second, and half of its 95 % interval; 0: not known */
} FabFitKind;

typedef struct {
  char *system;       /* NULL: not known */
  gboolean is_device; /* copies between memories, not messages of a network */
  FabFitKind kinds[FAB_DRIVE_KERNEL + 1][FAB_N_MEASURE_KINDS];
  GPtrArray *notes; /* char: what could not be fitted, and why */
} FabLinkFit;

/* `series`: FabMeasuredSeries of one link (groups.h), at least one; they outlive the fit. */
FabLinkFit *fab_link_fit_new (const GPtrArray *series, const FabFitSizes *sizes, GError **error);
void fab_link_fit_free (FabLinkFit *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (FabLinkFit, fab_link_fit_free)

/* Saturated rates above `most`, which the link cannot carry, become what the largest size reached; the rate is
 * between the two. Messages of a network, whose rates are not saturated, stay as they are. */
void fab_link_fit_bound (FabLinkFit *self, FabDrive drive, double most_bytes_per_s);

/* Whether anything tells a rate: an entry without a base needs one. */
gboolean fab_link_fit_has_rate (const FabLinkFit *self);
/* The kind whose saturated rate is that of a drive alone, one direction; NULL: not measured. */
const FabFitKind *fab_link_fit_one_way (const FabLinkFit *self, FabDrive drive);
/* With both directions busy. */
const FabFitKind *fab_link_fit_both_ways (const FabLinkFit *self, FabDrive drive);
/* Rate with both directions busy over rate with one, at most 1; 0: not known. `busy`, which may be NULL, becomes the
 * kind that has both busy; it is left alone where nothing is known. */
double fab_link_fit_duplex (const FabLinkFit *self, FabDrive drive, const FabFitKind **busy);
