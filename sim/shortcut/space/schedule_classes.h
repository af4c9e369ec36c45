/* SPDX-License-Identifier: Apache-2.0 */
/* schedule_classes.h - a schedule in which some lanes are played for others that fare alike (fold.h, rotation.h). */
#pragma once

#include "sim/collective/play/schedule_parts.h"

/* Keeps the lanes that are played, and notes what all lanes put on the links. `lanes` [n_lanes] says for each lane
 * which one is played for it: the lowest of its class, and so itself for those that are kept. `footprints` [n_lanes]
 * are the links that the kept lanes cross from now on, which the schedule takes; NULL: they keep their own. The
 * schedule must be frozen and have footprints. */
void fab_schedule_keep (FabSchedule *self, const guint *lanes, FabFootprint **footprints);
