/* SPDX-License-Identifier: Apache-2.0 */
/* multicast.h - what GPUs of a node do through a switch that reduces and multiplies (NVLink SHARP).
 *
 * Every GPU owns an equal part of the bytes. Per byte of size a load takes 1 from each GPU and brings it 1/n, the
 * sum of its part; a store takes 1/n from each GPU and brings it 1.
 */
#pragma once

#include "sim/work/stages.h"

/* Whether all GPUs that take part hang on one switch, over links of a kind that reduces. */
gboolean fab_multicast_switch (const FabGroup *group, guint node, FabVertexId *centre);

/* Stages of node `node`; there is a switch. To the list of GPU i in `sums` comes the stage that brings it its part. */
gboolean fab_multicast_load (FabStages *stages, const FabGroup *group, guint node, const GPtrArray *sums,
                             GError **error);

/* GPU i stores after the stages in its list of `ready`. */
gboolean fab_multicast_store (FabStages *stages, const FabGroup *group, guint node, const GPtrArray *ready,
                              GError **error);
