/* SPDX-License-Identifier: Apache-2.0 */
/* jitter.h - how much longer than usual the kernels of a rank take in an iteration.
 *
 * Factors are lognormal with mean 1: exp (sigma z - sigma^2 / 2), sigma^2 = ln (1 + cv^2), cv the coefficient of
 * variation, z standard normal. A rank draws one number per iteration, from (seed, iteration, rank) alone: whoever
 * asks for more ranks or iterations changes no other's.
 *
 * A step waits for the slowest, so what counts are the order statistics. Instead of 16 384 classes of one rank there
 * are a few: the slowest rank alone, and the others, from slow to fast, in classes of about the same size with the
 * mean of their factors. The sizes depend on the numbers of ranks and classes only, so that classes are made once and
 * every iteration has other factors for them; which rank is in which class changes from one to the next.
 *
 * The same seed gives the same bits on every machine: logarithm and exponential are made of IEEE 754 operations that
 * round correctly (+ - x / sqrt), not of the C library's, which differ in their last bits.
 */
#pragma once

#include <glib.h>

/* sigma of the lognormal whose coefficient of variation is `cv` >= 0. */
double fab_jitter_sigma (double cv);

/* Factor of one rank in one iteration, > 0. */
double fab_jitter_factor (guint64 seed, guint iteration, guint rank, double sigma);

/* Sorts factors[n], the slowest first. */
void fab_jitter_sort (double *factors, guint n);

/* The classes of n ranks: 1, then the rest in n_classes - 1 parts that differ by one at most, the larger ones first.
 * Returns how many there are: n_classes, but one at least and no more than ranks. sizes[n_classes]. */
guint fab_jitter_sizes (guint n, guint n_classes, guint *sizes);

/* Means of sorted factors over the classes of fab_jitter_sizes (). means[n_classes]; the return value is its. */
guint fab_jitter_means (const double *sorted, guint n, guint n_classes, double *means);
