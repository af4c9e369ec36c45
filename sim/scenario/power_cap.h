/* SPDX-License-Identifier: Apache-2.0 */
/* power_cap.h - a power cap on the accelerators of a cluster: whether a board can keep to it, and what share it is. */
#pragma once

#include "sim/scenario/catalog.h"

/* The cap as a share of the board's power; 1: none. */
double fab_power_cap_share (const FabPower *cap, const FabAcceleratorSpec *accelerator);

/* Reports a cap above the board's power, one that no clock is low enough for, and watts of a board whose power is not
 * known. `accelerator` may be NULL. */
void fab_power_cap_check (FabSchemaReader *reader, const FabPower *cap,
                          const FabAcceleratorSpec *accelerator);
