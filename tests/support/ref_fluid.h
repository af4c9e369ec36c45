/* SPDX-License-Identifier: Apache-2.0 */
/* ref_fluid.h - the fluid network as its definition reads: at every start and end, everything anew.
 *
 * No components, no lone flows, no events, no rounding: real time in doubles, and the naive solver.
 */
#pragma once

#include "sim/net/disturbances.h"
#include "tests/support/load.h"

/* When each of the items ends, in ps; `spells` (FabSpell, all with an end) may be NULL. */
void ref_fluid_play (const Rig *rig, const LoadItem *items, guint n, const GArray *spells, double *ends_ps);
