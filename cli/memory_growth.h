/* SPDX-License-Identifier: Apache-2.0 */
/* memory_growth.h - how the peak of memory grows with what makes a run large, from runs with little of it. */
#pragma once

#include <glib.h>

/* The peak of a run: of the program and its samples, and of each play that is held. */
typedef struct {
  double base_bytes, play_bytes; /* both 0: not known */
} FabPeak;

/* Plays `n` of it, twice beside each other, and gives the peak of the program until then. FALSE: that cannot be
 * played. */
typedef gboolean (*FabSampleFn) (gpointer data, guint n, double *peak_bytes);

/* Returns the peak of a run of `wanted`, from samples of n, 2n, 4n and so on, where n is the first of `tries` (ended by
 * 0) of which three can be played. A peak is a + b n + c n^2 (per node, and per pair of nodes), through the last three
 * of them. It is off by up to a huge page (2 MB), which says little of a sample and, as a c, much of a large run. So c
 * counts only where it is more than a page can explain, and samples of twice as many are added until a page explains
 * no more than b and c do, six samples were played, one of them took two seconds, or b alone takes `most_bytes`. */
FabPeak fab_peak_of (const guint *tries, double wanted, double most_bytes, FabSampleFn sample, gpointer data);
