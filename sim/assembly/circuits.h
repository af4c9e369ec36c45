/* SPDX-License-Identifier: Apache-2.0 */
/* circuits.h - links through optical circuit switches: when they carry nothing.
 *
 * A link of which some times are given as those of a circuit carries nothing at any other time, nor while the switch
 * turns to it. Routes and plans do not know that: what finds its link dark waits for it.
 */
#pragma once

#include "sim/net/disturbances.h"
#include "sim/scenario/fault_params.h"

/* A time for which a link is set. */
typedef struct {
  FabLinkId link;
  const FabCircuitSpec *circuit;
} FabCircuitTime;

/* Appends to `spells` (FabSpell) the times in which the links carry nothing. `times` (FabCircuitTime) may be in any
 * order, and is sorted. */
void fab_circuits_darken (GArray *times, GArray *spells);
