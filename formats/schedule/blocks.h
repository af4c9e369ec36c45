/* SPDX-License-Identifier: Apache-2.0 */
/* blocks.h - thread blocks of GPUs that move chunks: what MSCCL's XML files describe, and what it does to the data.
 *
 * Each GPU has three buffers of chunks: input, output and scratch. A thread block does its steps one after another. A
 * step may receive chunks from the block's one sending peer, add chunks of a buffer to them, store them, and send them
 * to the block's one receiving peer; it may wait for a step of another block of the same GPU.
 *
 * fab_blocks_play () runs all blocks once, without time, and keeps for each chunk which ranks' data are in it. So it
 * finds steps that wait for ever, and chunks that do not hold at the end what the operation means. It plays the
 * blocks in two orders, so that a missing dependency shows where it changes what comes out.
 */
#pragma once

#include "sim/collective/plan/given.h"

typedef enum { FAB_BUFFER_IN, FAB_BUFFER_OUT, FAB_BUFFER_SCRATCH, FAB_N_BUFFERS } FabBuffer;

typedef struct {
  FabBuffer buffer;
  guint at; /* first chunk */
} FabChunks;

typedef struct {
  guint receives : 1, adds : 1, stores : 1, sends : 1; /* in this order */
  guint is_awaited : 1;
  FabChunks src, dst;
  guint n;         /* chunks */
  gint wait_block; /* id within the GPU; -1: none */
  gint64 wait_step;
  guint line, column;
} FabBlockStep;

typedef struct {
  guint gpu;
  gint64 id;
  gint64 send_to, receive_from, channel; /* ranks; -1: none */
  guint first_step, n_steps;
  guint line, column;
} FabBlock;

typedef struct {
  guint n[FAB_N_BUFFERS];
} FabBufferSizes;

/* A chunk of the input that a GPU has in its output too before the first step. Where both are one buffer, it is there
 * already. */
typedef struct {
  guint gpu, in, out; /* chunks */
  guint line, column;
} FabFirstCopy;

typedef struct {
  const char *source; /* the file, for messages */
  FabOp op;
  guint n_ranks, root, n_chunks; /* chunks of the size of the operation */
  gboolean is_in_place;          /* input and output are the same buffer */
  FabBufferSizes *sizes;         /* [n_ranks] */
  GArray *blocks;                /* FabBlock */
  GArray *steps;                 /* FabBlockStep */
  GArray *copies;                /* FabFirstCopy */
  guint line, column;            /* of the whole */
} FabBlocks;

/* Checks all steps, plays them, and adds their messages to `given`. */
gboolean fab_blocks_play (FabBlocks *self, FabGiven *given, GError **error);
