/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/fabric/processor.h"

/* In GB/s, so that 12 over 11.09 is the quotient of these two numbers and of no rounded ones. */
double
fab_slowdown_stretch (const FabSlowdown *self)
{
  const double giga = 1e9;

  if (self->plain_bytes_per_s <= 0 || self->reached_bytes_per_s <= 0)
    return 1;
  return ((double) self->plain_bytes_per_s / giga) / ((double) self->reached_bytes_per_s / giga);
}
