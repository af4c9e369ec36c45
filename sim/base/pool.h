/* SPDX-License-Identifier: Apache-2.0 */
/* pool.h - objects of one size, from chunks, reused in last-in first-out order; and arrays of them.
 *
 * For what comes and goes while the clock runs (flows, transfers). Memory goes back to
 * the system only when the pool is cleared. Single thread.
 */
#pragma once

#include <glib.h>

typedef struct {
  gsize object_size;
  GPtrArray *chunks;
  gpointer free_list;
  guint n_used; /* of the newest chunk */
  guint n_live;
} FabPool;

void fab_pool_init (FabPool *self, gsize object_size);
void fab_pool_clear (FabPool *self); /* accepts zeroed memory */

/* Zeroed memory for one object. */
gpointer fab_pool_take (FabPool *self);
void fab_pool_give (FabPool *self, gpointer object);

/* Arrays whose length differs from one to the next, reused by powers of two. */
typedef struct {
  gsize object_size;
  GPtrArray *all;
  GPtrArray *free[32]; /* of 2^k objects */
} FabBlocks;

void fab_blocks_init (FabBlocks *self, gsize object_size);
void fab_blocks_clear (FabBlocks *self); /* frees also what was not given back; accepts zeroed memory */

/* Memory for n objects, not zeroed; given back with the same n. */
gpointer fab_blocks_take (FabBlocks *self, guint n);
void fab_blocks_give (FabBlocks *self, gpointer block, guint n);
