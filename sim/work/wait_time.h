/* SPDX-License-Identifier: Apache-2.0 */
/* wait_time.h - how long messages that wait for one another take on idle links, without latency.
 *
 * Those that are under way share links by weighted max-min, as on the fluid network; one starts when the last that it
 * waits for has ended. Per byte of the collective: all times are in proportion to it.
 */
#pragma once

#include "sim/fabric/footprint.h"

typedef struct _FabWaitTime FabWaitTime;

FabWaitTime *fab_wait_time_new (const FabGraph *graph);
void fab_wait_time_free (FabWaitTime *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (FabWaitTime, fab_wait_time_free)

/* A message, after those in `after`. Takes the footprint. Returns its index. */
guint fab_wait_time_add (FabWaitTime *self, FabFootprint *footprint, const guint *after, guint n_after);

/* From the first message's start to the last one's end. */
double fab_wait_time_s_per_byte (FabWaitTime *self);
