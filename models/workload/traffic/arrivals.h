/* SPDX-License-Identifier: Apache-2.0 */
/* arrivals.h - the times at which flows begin, where they do not begin all at once.
 *
 *   poisson    the time from one flow to the next is exponential: nothing remembers when the last one came
 *   lognormal  its logarithm is normal, with the deviation `sigma`: many come close together, then none for long. With
 *              sigma 1 or 2 as in studies of data centers (K. Zhao et al., "Scalable Tail Latency Estimation for Data
 *              Center Networks", NSDI 2023)
 *
 * Both have the same mean. All numbers follow the seed.
 */
#pragma once

#include "sim/base/units.h"

typedef enum { ARRIVALS_AT_ONCE, ARRIVALS_POISSON, ARRIVALS_LOGNORMAL } ArrivalsKind;

typedef struct {
  ArrivalsKind kind; /* not ARRIVALS_AT_ONCE */
  double mean_ps;    /* from one flow to the next, > 0 */
  double sigma;      /* of the logarithm; lognormal only */
  guint64 seed;
} Arrivals;

/* Returns a number between 0 and 1, both excluded, that depends on seed and key alone. */
double arrivals_draw (guint64 seed, guint64 key);

/* Returns the time from flow k - 1 to flow k. Pure. */
FabTimePs arrivals_gap_ps (const Arrivals *self, guint64 k);
