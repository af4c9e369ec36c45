/* SPDX-License-Identifier: Apache-2.0 */
/* load.h - messages and streams that a network is given over time, and when each ended. */
#pragma once

#include "sim/net/disturbances.h"
#include "tests/support/random.h"
#include "tests/support/rig.h"

typedef struct {
  FabTimePs start_ps;
  FabTransfer transfer; /* when the stream has no footprint */
  FabStream stream;
  FabTimePs end_ps;
  guint n_ends; /* must be 1 after playing */
} LoadItem;

/* Plays them on a fresh network; `loads` (per link, or NULL) is what its meter says afterwards. */
void load_play (const Rig *rig, const FabNetOps *ops, LoadItem *items, guint n, FabLinkLoad *loads);

/* The same beside what `plan` says; ends when the last item has. */
void load_play_beside (const Rig *rig, const FabNetOps *ops, const FabDisturbancesPlan *plan, LoadItem *items,
                       guint n, FabLinkLoad *loads);

/* Sends between random ranks, and streams over some of `footprints`, within the first millisecond. */
void load_random (Random *random, const Rig *rig, FabFootprint *const *footprints, guint n_footprints,
                  LoadItem *items, guint n);

/* A footprint of a few random paths with weights that are eighths, so that sums of bytes are exact. */
FabFootprint *load_random_footprint (Random *random, const Rig *rig);

/* The time that no network may beat. */
FabTimePs load_bound_ps (const Rig *rig, const LoadItem *item);
