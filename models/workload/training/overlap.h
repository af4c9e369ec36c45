/* SPDX-License-Identifier: Apache-2.0 */
/* overlap.h - matrices beside which tensor-parallel ranks communicate, with overlap_tensor.
 *
 * Each of n ranks begins with its own n-th of the tokens, and sums the others' before its own: n - 1 of n parts of the
 * matrices at both ends of a segment run beside the gather before them and the sum behind them (TransformerEngine,
 * pytorch/module/base.py: ring exchange of qkv, projection, fc1 and fc2). Experts have none, nor have passes whose two
 * halves take turns.
 */
#pragma once

#include "models/workload/training/job.h"

/* The share of a segment's forward pass that runs beside the gather (`is_first`) or beside the sum. */
double overlap_share (const Stage *stage, const FabSegment *segment, gboolean is_first);
