/* SPDX-License-Identifier: Apache-2.0 */
/* memory.h - the largest memory that a rank of a pipeline stage has in use at once, and what it is made of then.
 *
 * Parameters and optimizer states are always there. Everything else comes and goes, so the walk looks at each moment
 * at which a step may need most: the beginning of the backward pass, when the loss has its copies of the logits; the
 * backward pass of every layer, when what was recomputed is whole, and when the gradients of the layers behind are
 * there; and the optimizer. Of the activations of other micro-batches, as many are alive as the pipeline schedule has
 * begun and not finished.
 *
 * Parts, each of the moment that needs most:
 *   parameters   weights in the types of `memory.states`
 *   optimizer    moments, and the master weight of mixed precision
 *   gradients    those that are kept from micro-batch to micro-batch or until the optimizer
 *   activations  kept.h, of all micro-batches that are alive. Of blocks whose activations wait in host memory: those
 *                of the block at hand, and of the next one, which come back meanwhile (away.h)
 *   logits       copies that the loss makes of them
 *   temporaries  gradients of activations in the layer at hand
 *   casts        16-bit copies of FP32 weights (autocast)
 *   gathered     parameters that sharding has put together
 *   buckets      gradients on their way to other ranks
 *   dummies      gradients that Transformer Engine hands to autograd in place of those that it added to a buffer: one
 *                of each size, kept for all (transformer_engine/pytorch/module/base.py, get_dummy_wgrad)
 *   workspace    of cuBLAS, which PyTorch takes from its own allocator
 *   streams      gradients and buckets that are not there at that moment, of strategies that allocate them on a stream
 *                of their own: PyTorch's allocator has a pool for each stream, and does not give the memory of one to
 *                another (c10/cuda/CUDACachingAllocator.cpp). It is reserved, not allocated
 */
#pragma once

#include "models/workload/training/job.h"

/* How a strategy spreads the states, and what it needs beside them. */
typedef struct {
  double parameters;           /* share of the stage's parameters that the rank keeps, 0 to 1 */
  double gradient_bytes;       /* bytes of the gradient of one parameter */
  double gradients, optimizer; /* shares of the stage's gradients and optimizer states, 0 to 1 */
  gboolean is_sharded;         /* parameters are gathered for use, in the type of the products */
  gboolean is_fp32;            /* what `memory.states: auto` means: FP32 weights, else mixed precision */
  gboolean grows;              /* gradients come one by one in the backward pass of the first micro-batch */
  double gathered;             /* bytes, but while the optimizer runs */
  double buckets;              /* bytes, in the backward pass of layers */
  gboolean has_streams;        /* gradients and buckets are allocated on a stream of their own */
  double always;               /* bytes of buckets that are always there */
  gboolean has_dummies;        /* gradients go straight into buffers, and autograd gets a dummy for each */
} MemoryShares;

/* Adds all parts to the totals of the job. */
void memory_add_state (const Stage *stage, FabJobTotals *totals, const MemoryShares *shares);

/* Adds another part, if it is not 0. `name` is static. */
void memory_add (const Stage *stage, FabJobTotals *totals, const char *name, double bytes);
