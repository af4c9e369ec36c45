/* SPDX-License-Identifier: Apache-2.0 */
/* pool.h - two pools of memory: objects of one size, and arrays of such objects.
 *
 * They serve objects that come and go while the simulation runs (flows, transfers). Objects come from chunks and are
 * reused in last-in first-out order. The pool owns the memory and returns it to the system only when it is cleared.
 * One thread at a time may use a pool.
 */
#pragma once

#include <glib.h>

typedef struct {
  gsize object_size;
  GPtrArray *chunks;
  gpointer free_list;
  guint n_used; /* objects used in the newest chunk */
  guint n_live;
} FabPool;

void fab_pool_init (FabPool *self, gsize object_size);
void fab_pool_clear (FabPool *self); /* a zeroed struct is valid */

/* Returns zeroed memory for one object. */
gpointer fab_pool_take (FabPool *self);
void fab_pool_give (FabPool *self, gpointer object);

/* Arrays of different lengths. A freed array is reused for lengths of the same power of two. */
typedef struct {
  gsize object_size;
  GPtrArray *all;
  GPtrArray *free[32]; /* free arrays of 2^k objects */
} FabBlocks;

void fab_blocks_init (FabBlocks *self, gsize object_size);
/* also frees the arrays that were not given back; a zeroed struct is valid */
void fab_blocks_clear (FabBlocks *self);

/* Returns memory for n objects, not zeroed. Give it back with the same n. */
gpointer fab_blocks_take (FabBlocks *self, guint n);
void fab_blocks_give (FabBlocks *self, gpointer block, guint n);
