/* SPDX-License-Identifier: Apache-2.0 */
/* lanes.h - the lanes of a schedule as text, and whose bytes each of them carries. */
#pragma once

#include "sim/collective/play/schedule.h"

/* One line for each lane: "0>1 0.5 after 2 3" is half a byte per byte of size from rank 0 to rank 1, which waits for
 * what comes by lanes 2 and 3, in ascending order. A vertex that is no rank has its name. "0>1 0.5 x4": four messages.
 * "after 2'": it waits for the message before of lane 2; "after 2-": only until the message has left. It freezes the
 * schedule. (transfer full) */
char *lanes_text (FabSchedule *schedule, const FabCluster *cluster);

/* Asserts that this is the text. */
void lanes_assert (FabSchedule *schedule, const FabCluster *cluster, const char *expected);

/* [n_lanes] the ranks (bit i: rank i, of at most 64) whose bytes a lane carries: those of its sender, and all that the
 * lanes carry for which it waits. It freezes the schedule. (transfer full) */
guint64 *lanes_sources (FabSchedule *schedule, const FabCluster *cluster);

/* The rank from which a lane comes, and to which it goes; G_MAXUINT: another vertex. */
guint lanes_from (const FabSchedule *schedule, const FabCluster *cluster, guint lane);
guint lanes_to (const FabSchedule *schedule, const FabCluster *cluster, guint lane);

/* Bytes of all messages of a lane per byte of size. */
double lanes_weight (const FabSchedule *schedule, guint lane);
