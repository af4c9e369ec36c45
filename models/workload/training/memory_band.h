/* SPDX-License-Identifier: Apache-2.0 */
/* memory_band.h - how far measured peaks of memory are from predicted ones.
 *
 * Measured over predicted memory is between these in nine tenths of a mixture of the measured tables in which every
 * source weighs the same: what `fabricast validate memory` prints (docs/reference/validation-memory.md), rounded
 * outwards to whole percents. A test holds them against it.
 */
#pragma once

/* The part that PyTorch's allocator has reserved and not allocated (memory.h). */
#define MEMORY_OF_STREAMS "streams"

#define MEMORY_LOW_FACTOR 0.99
#define MEMORY_HIGH_FACTOR 1.32
