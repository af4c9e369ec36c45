/* SPDX-License-Identifier: Apache-2.0 */
/* study_bottleneck.h - what limits the steps of a study's variants (sim/decision/bottleneck.h). */
#pragma once

#include "sim/study/study.h"

/* Plays variants that have a point and no bottleneck yet with every lever; the point's verdict then says what its step
 * waits for. Only the draw with the median step is played, and only variants of which it needs few events
 * (FAB_BOTTLENECK_EVENTS), so that a table stays quick. One that cannot be had stays NULL. */
void fab_study_find_bottlenecks (const FabStudy *study, FabTry *const *tries, guint n);

/* The same of one point, on all of its draws, whatever it takes. */
void fab_study_find_bottleneck (const FabStudy *study, const FabEdits *edits, FabPoint *point);

enum { FAB_BOTTLENECK_EVENTS = 20000 };
