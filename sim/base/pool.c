/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/base/pool.h"

#include <string.h>

enum { OBJECTS_PER_CHUNK = 256 };

void
fab_pool_init (FabPool *self, gsize object_size)
{
  g_assert (object_size > 0);
  *self = (FabPool){ .object_size = (object_size + 15) & ~(gsize) 15,
                     .chunks = g_ptr_array_new_with_free_func (g_free),
                     .n_used = OBJECTS_PER_CHUNK };
}

void
fab_pool_clear (FabPool *self)
{
  g_clear_pointer (&self->chunks, g_ptr_array_unref);
  *self = (FabPool){ 0 };
}

gpointer
fab_pool_take (FabPool *self)
{
  gpointer object = self->free_list;

  self->n_live++;
  if (object) {
    memcpy (&self->free_list, object, sizeof (gpointer));
  } else {
    if (self->n_used == OBJECTS_PER_CHUNK) {
      g_ptr_array_add (self->chunks, g_malloc (self->object_size * OBJECTS_PER_CHUNK));
      self->n_used = 0;
    }
    char *chunk = g_ptr_array_index (self->chunks, self->chunks->len - 1);
    object = chunk + self->object_size * self->n_used++;
  }
  return memset (object, 0, self->object_size);
}

void
fab_pool_give (FabPool *self, gpointer object)
{
  g_assert (self->n_live > 0);
  self->n_live--;
  memcpy (object, &self->free_list, sizeof (gpointer));
  self->free_list = object;
}

void
fab_blocks_init (FabBlocks *self, gsize object_size)
{
  *self = (FabBlocks){ .object_size = object_size, .all = g_ptr_array_new_with_free_func (g_free) };
}

void
fab_blocks_clear (FabBlocks *self)
{
  g_clear_pointer (&self->all, g_ptr_array_unref);
  for (guint i = 0; i < G_N_ELEMENTS (self->free); i++)
    g_clear_pointer (&self->free[i], g_ptr_array_unref);
}

static guint
block_order (guint n)
{
  return n > 1 ? g_bit_storage (n - 1) : 0;
}

gpointer
fab_blocks_take (FabBlocks *self, guint n)
{
  g_assert (n <= 1u << 31);

  GPtrArray *free_blocks = self->free[block_order (n)];
  if (free_blocks && free_blocks->len > 0)
    return g_ptr_array_steal_index_fast (free_blocks, free_blocks->len - 1);
  g_ptr_array_add (self->all, g_malloc (self->object_size << block_order (n)));
  return g_ptr_array_index (self->all, self->all->len - 1);
}

void
fab_blocks_give (FabBlocks *self, gpointer block, guint n)
{
  GPtrArray **free_blocks = &self->free[block_order (n)];

  if (*free_blocks == NULL)
    *free_blocks = g_ptr_array_new ();
  g_ptr_array_add (*free_blocks, block);
}
