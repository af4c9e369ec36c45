/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/memory_growth.h"

/* A peak is off by no more than this. */
static const double page_bytes = 2 << 20;

enum { FEWEST_SAMPLES = 3, MOST_SAMPLES = 6 };

/* No sample follows one that took longer. */
enum { MOST_SAMPLE_US = 2 * G_USEC_PER_SEC };

/* --- one estimate --- */

typedef struct {
  double base_bytes;                 /* a */
  double linear_bytes, square_bytes; /* of two runs of `wanted`: b and c */
  double unknown_bytes;              /* what a page could add as a c */
} Growth;

/* From the peaks of n, 2n and 4n. A page either way changes (second - first) by up to 3 pages / n, and c by a third of
 * that / n. */
static Growth
growth_from (const double *peaks, double n, double wanted)
{
  double first = (peaks[1] - peaks[0]) / n, second = (peaks[2] - peaks[1]) / (2 * n);
  double per_pair = (second - first) / (3 * n), least = page_bytes / (n * n);

  if (per_pair <= least)
    per_pair = 0;
  double each = MAX (second - 6 * n * per_pair, 0);
  double base_bytes = MAX (peaks[2] - each * 4 * n - per_pair * 16 * n * n, 1);
  return (Growth){ base_bytes, each * wanted, per_pair * wanted * wanted, least * wanted * wanted };
}

/* --- samples --- */

static gboolean
is_settled (const Growth *growth, double most_bytes)
{
  return growth->linear_bytes > most_bytes
      || growth->unknown_bytes <= growth->linear_bytes + growth->square_bytes;
}

FabPeak
fab_peak_of (const guint *tries, double wanted, double most_bytes, FabSampleFn sample, gpointer data)
{
  double peaks[MOST_SAMPLES] = { 0 };
  guint n = 0, n_played = 0;
  gint64 took_us = 0;

  for (; *tries != 0 && n_played < FEWEST_SAMPLES; tries++) {
    n = *tries;
    n_played = 0;
    while (n_played < FEWEST_SAMPLES && sample (data, n << n_played, &peaks[n_played]))
      n_played++;
  }
  if (n_played < FEWEST_SAMPLES)
    return (FabPeak){ 0 };
  Growth growth = growth_from (peaks, n, wanted);
  while (n_played < MOST_SAMPLES && took_us < MOST_SAMPLE_US && !is_settled (&growth, most_bytes)) {
    gint64 begun_us = g_get_monotonic_time ();

    if (2 * (double) (n << n_played) > wanted || !sample (data, n << n_played, &peaks[n_played]))
      break;
    took_us = g_get_monotonic_time () - begun_us;
    growth = growth_from (peaks + n_played - 2, (double) (n << (n_played - 2)), wanted);
    n_played++;
  }
  return (FabPeak){ growth.base_bytes,
                    (growth.linear_bytes + growth.square_bytes) / 2 }; /* two were held at a time */
}
