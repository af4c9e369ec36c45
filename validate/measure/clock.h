/* SPDX-License-Identifier: Apache-2.0 */
/* clock.h - the clock that measurements are taken with. */
#pragma once

#include <time.h>

#include "sim/base/units.h"

/* Since a moment that is not said; never goes back, whatever is done to the time of day. */
static inline FabTimePs
fab_clock_ps (void)
{
  struct timespec now;

  clock_gettime (CLOCK_MONOTONIC, &now);
  return (FabTimePs) now.tv_sec * FAB_PS_PER_S + (FabTimePs) now.tv_nsec * 1000;
}
