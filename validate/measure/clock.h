/* SPDX-License-Identifier: Apache-2.0 */
/* clock.h - the clock that measurements use. */
#pragma once

#include <time.h>

#include "sim/base/units.h"

/* Returns the time since an unspecified moment. It never goes back, even when the time of day is set. */
static inline FabTimePs
fab_clock_ps (void)
{
  struct timespec now;

  clock_gettime (CLOCK_MONOTONIC, &now);
  return (FabTimePs) now.tv_sec * FAB_PS_PER_S + (FabTimePs) now.tv_nsec * 1000;
}
