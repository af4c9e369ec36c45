/* SPDX-License-Identifier: Apache-2.0 */
/* timeline_classes.h - draws the part of a timeline that compares classes of ranks; private to timeline.c. */
#pragma once

#include "sim/result/probe.h"

/* Draws a row per class, and the key of its letters. `name_width` columns stand before each row. */
void fab_timeline_draw_classes (const FabProbe *probe, const FabRankClassRecord *classes, guint n_classes,
                                guint width, guint name_width, GString *out);

/* Returns "rank 8". (transfer full) */
char *fab_timeline_class_name (const FabRankClassRecord *rank_class);
