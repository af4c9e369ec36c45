/* SPDX-License-Identifier: Apache-2.0 */
/* skips.h - rounds of rings that repeat are not played: skips.c says when, and how far off that can be. */
#pragma once

#include "sim/collective/play/play_watch.h"

/* Of all plays on a network. */
extern const FabMessageWatch fab_skips_watch;
