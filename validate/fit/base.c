/* SPDX-License-Identifier: Apache-2.0 */
/* base.c - compares measured rates with those that the base's line and packets allow. O(sizes). */
#include "validate/fit/base.h"

#include "sim/base/error.h"

/* Tolerance of a packet rate: the base's packet format may be a little wrong. */
static const double rounding = 1.02;
/* Tolerance of a single measured rate: a median of few samples, printed in three digits, can be this much off. The
 * smallest mistake of units, GiB for GB, is 7 %, and is still found. */
static const double too_fast = 1.05;

double
fab_base_packet_rate (const FabLinkSpec *link, const FabLinkDriveSpec *drive)
{
  double packets = drive->payload_bytes > 0
                     ? (double) drive->payload_bytes / (double) (drive->payload_bytes + drive->overhead_bytes)
                     : 1;

  return (double) link->lanes * (double) link->signalling_bytes_per_s * link->coding_fraction * packets;
}

/* Fails when a message of any kind and size was faster than the line. */
static gboolean
check_points (const FabFitKind *kind, const FabFragmentRequest *request, GError **error)
{
  double line = (double) fab_link_spec_line_rate (request->base) * request->count, most = 0;
  FabFitPoint fastest = { 0 };

  for (guint i = 0; kind->points && i < kind->points->len; i++) {
    const FabFitPoint *point = &g_array_index (kind->points, FabFitPoint, i);
    double rate = point->size_bytes / point->time_ps * (double) FAB_PS_PER_S;

    if (rate > most)
      fastest = *point;
    most = MAX (most, rate);
  }
  if (most <= line * too_fast)
    return TRUE;
  g_autofree char *size = fab_units_show (FAB_UNIT_BYTES, fastest.size_bytes);
  return fab_throw (
      error, FAB_ERROR_INPUT,
      "%s: %.4g GB/s were measured (%s in %.4g us), and %u x %s carry %.4g GB/s at most: name a "
      "faster --base, or how many links there are with --count",
      fab_measure_kind_names[kind->series->kind], most / 1e9, size, fastest.time_ps / 1e6, request->count,
      request->base->name, line / 1e9);
}

gboolean
fab_base_bound (FabLinkFit *fit, const FabFragmentRequest *request, GError **error)
{
  const FabLinkSpec *base = request->base;

  for (FabDrive drive = FAB_DRIVE_COPY; base && drive <= FAB_DRIVE_KERNEL; drive++) {
    double packets = fab_base_packet_rate (base, drive == FAB_DRIVE_KERNEL ? &base->kernel : &base->copy);

    for (FabMeasureKind which = 0; which < FAB_MEASURE_COLLECTIVE; which++)
      if (!check_points (&fit->kinds[drive][which], request, error))
        return FALSE;
    fab_link_fit_bound (fit, drive, packets * rounding * request->count);
  }
  return TRUE;
}

gboolean
fab_base_check_rate (const FabFitKind *kind, const FabLinkDriveSpec *drive, const FabFragmentRequest *request,
                     GError **error)
{
  const FabLinkSpec *base = request->base;
  double surely = (kind->rate - kind->rate_half) / request->count;
  double packets = fab_base_packet_rate (base, drive);

  if (surely > packets * rounding)
    return fab_throw (
        error, FAB_ERROR_INPUT,
        "%.4g GB/s were measured, and packets leave %.4g of %u x %s: another --base, or another packet "
        "format, is right",
        kind->rate / 1e9, packets * request->count / 1e9, request->count, base->name);
  return TRUE;
}
