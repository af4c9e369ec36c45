/* SPDX-License-Identifier: Apache-2.0 */
/* jitter.h - random slowness: how much longer than usual the kernels of a rank take in an iteration.
 *
 * Factors are lognormal with mean 1: exp (sigma z - sigma^2 / 2), sigma^2 = ln (1 + cv^2), cv the coefficient of
 * variation, z standard normal. A rank draws one number per iteration from (seed, iteration, rank) alone, so more
 * ranks or iterations do not change the numbers of the others.
 *
 * A step waits for the slowest rank, so the order statistics matter. Instead of 16 384 classes of one rank there
 * are a few: the slowest rank alone, and the others, from slow to fast, in classes of about the same size with the mean
 * of their factors. The sizes depend on the numbers of ranks and classes only. So the classes are made once, and every
 * iteration gives them new factors; which rank is in which class changes between iterations.
 *
 * The same seed gives the same bits on every machine: logarithm and exponential are computed with IEEE 754 operations
 * that round correctly (+ - x / sqrt), not with the C library's functions, which differ in their last bits. All
 * functions are pure.
 */
#pragma once

#include <glib.h>

/* Returns the sigma of the lognormal with coefficient of variation `cv` >= 0. */
double fab_jitter_sigma (double cv);

/* Returns the expected time of the slowest of n GPUs over that of the average one, where the times of GPUs are normal
 * with the relative `deviation`: 1 + deviation x z, z the quantile (n - 3/8) / (n + 1/4) (G. Blom, Statistical
 * Estimates and Transformed Beta-Variables, 1958). One GPU: 1. */
double fab_jitter_slowest (guint n, double deviation);

/* Returns the factor of one rank in one iteration, > 0. */
double fab_jitter_factor (guint64 seed, guint iteration, guint rank, double sigma);

/* Divides n ranks into classes: one rank, then the rest in n_classes - 1 parts whose sizes differ by at most one, the
 * larger parts first. Returns their number: n_classes, but at least one and at most the number of ranks.
 * sizes[n_classes]. */
guint fab_jitter_sizes (guint n, guint n_classes, guint *sizes);
