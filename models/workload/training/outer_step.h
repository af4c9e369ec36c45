/* SPDX-License-Identifier: Apache-2.0 */
/* outer_step.h - what the outer step between sites (outer.h) adds to the step of a stage. */
#pragma once

#include "models/workload/training/job.h"

/* Starts the sums that overlap, before the first pass of the step. */
void outer_begin (Stage *stage);

/* Adds the sums that do not overlap, and makes the next compute task wait for all of them. */
void outer_end (Stage *stage);

/* Adds the memory of the outer optimizer. */
void outer_memory (const Stage *stage, FabJobTotals *totals);
