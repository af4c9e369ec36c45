/* SPDX-License-Identifier: Apache-2.0 */
/* overlap.h - sets of time intervals, and how much of one set lies within another.
 *
 * A set is kept merged and sorted: its intervals neither touch nor overlap. It owns its array; one thread at a time
 * may use it.
 */
#pragma once

#include "sim/base/units.h"

typedef struct {
  FabTimePs start_ps, end_ps; /* half open */
} FabInterval;

typedef struct {
  GArray *intervals; /* FabInterval */
} FabIntervalSet;

void fab_interval_set_init (FabIntervalSet *self);
void fab_interval_set_clear (FabIntervalSet *self);
void fab_interval_set_empty (FabIntervalSet *self);

/* Adds [start, end), in any order; amortised O(1) when starts do not decrease. */
void fab_interval_set_add (FabIntervalSet *self, FabTimePs start_ps, FabTimePs end_ps);

FabTimePs fab_interval_set_length_ps (const FabIntervalSet *self);
/* Length of the part of [start, end) that the set covers: O(log n + covered intervals). */
FabTimePs fab_interval_set_within_ps (const FabIntervalSet *self, FabTimePs start_ps, FabTimePs end_ps);
/* Length of the intersection: O(n + m). */
FabTimePs fab_interval_set_overlap_ps (const FabIntervalSet *a, const FabIntervalSet *b);
