/* SPDX-License-Identifier: Apache-2.0 */
/* lengths.c - how long the queues in front of links are, where `percentiles` asks for it. All lanes of a link count
 * together. */
#include "models/net/packet/parts.h"

struct _LinkLengths {
  guint32 bytes;                /* that wait now */
  FabTimePs changed_ps;         /* when that changed last */
  FabQueueLengths *kept, *open; /* until the network rested for the last time, and since then */
};

static guint
n_lengths (const PacketNet *self)
{
  return self->lengths != NULL ? fab_graph_n_links (self->base.env.graph) : 0;
}

void
packet_lengths_init (PacketNet *self)
{
  if (self->params.has_percentiles)
    self->lengths = g_new0 (struct _LinkLengths, fab_graph_n_links (self->base.env.graph) + 1);
}

void
packet_lengths_clear (PacketNet *self)
{
  for (guint i = 0; i < n_lengths (self); i++) {
    g_free (self->lengths[i].kept);
    g_free (self->lengths[i].open);
  }
  g_clear_pointer (&self->lengths, g_free);
}

void
packet_lengths_change (PacketNet *self, guint32 link, gint32 by_bytes)
{
  struct _LinkLengths *queue = &self->lengths[link];

  if (queue->open == NULL)
    queue->open = g_new0 (FabQueueLengths, 1);
  fab_queue_lengths_add (queue->open, queue->bytes, self->now_ps - queue->changed_ps);
  queue->changed_ps = self->now_ps;
  queue->bytes += (guint32) by_bytes;
}

void
packet_lengths_rest (PacketNet *self)
{
  for (guint i = 0; i < n_lengths (self); i++) {
    struct _LinkLengths *queue = &self->lengths[i];

    g_assert (queue->bytes == 0);
    if (queue->open == NULL)
      continue;
    if (queue->kept == NULL)
      queue->kept = g_steal_pointer (&queue->open);
    else
      fab_queue_lengths_merge (queue->kept, queue->open);
    g_clear_pointer (&queue->open, g_free);
  }
}

void
packet_lengths_drop (FabNet *net)
{
  const PacketNet *self = (const PacketNet *) net;

  for (guint i = 0; i < n_lengths (self); i++) {
    g_clear_pointer (&self->lengths[i].open, g_free);
    self->lengths[i].bytes = 0;
  }
}

gboolean
packet_lengths_count (const FabNet *net, FabLinkId link, FabQueueLengths *lengths)
{
  const PacketNet *self = (const PacketNet *) net;
  FabTimePs now_ps = fab_engine_now (net->env.engine);

  if (self->lengths == NULL)
    return FALSE;
  const struct _LinkLengths *queue = &self->lengths[link];
  if (queue->kept != NULL)
    fab_queue_lengths_merge (lengths, queue->kept);
  if (queue->open != NULL)
    fab_queue_lengths_merge (lengths, queue->open);
  fab_queue_lengths_add (lengths, queue->bytes, now_ps - queue->changed_ps);
  return TRUE;
}
