/* SPDX-License-Identifier: Apache-2.0 */
/* lengths.c - how long the queues in front of links are, where `percentiles` asks for it. All lanes of a link count
 * together. */
#include "models/net/packet/parts.h"

struct _LinkLengths {
  guint32 bytes;        /* that wait now */
  FabTimePs changed_ps; /* when that changed last */
  FabQueueLengths *lengths;
};

void
packet_lengths_init (PacketNet *self)
{
  if (self->params.has_percentiles)
    self->lengths = g_new0 (struct _LinkLengths, fab_graph_n_links (self->base.env.graph) + 1);
}

void
packet_lengths_clear (PacketNet *self)
{
  guint n = self->lengths != NULL ? fab_graph_n_links (self->base.env.graph) : 0;

  for (guint i = 0; i < n; i++)
    g_free (self->lengths[i].lengths);
  g_clear_pointer (&self->lengths, g_free);
}

void
packet_lengths_change (PacketNet *self, guint32 link, gint32 by_bytes)
{
  struct _LinkLengths *queue = &self->lengths[link];

  if (queue->lengths == NULL)
    queue->lengths = g_new0 (FabQueueLengths, 1);
  fab_queue_lengths_add (queue->lengths, queue->bytes, self->now_ps - queue->changed_ps);
  queue->changed_ps = self->now_ps;
  queue->bytes += (guint32) by_bytes;
}

gboolean
packet_lengths_count (const FabNet *net, FabLinkId link, FabQueueLengths *lengths)
{
  const PacketNet *self = (const PacketNet *) net;
  FabTimePs now_ps = fab_engine_now (net->env.engine);

  if (self->lengths == NULL)
    return FALSE;
  const struct _LinkLengths *queue = &self->lengths[link];
  if (queue->lengths != NULL)
    fab_queue_lengths_merge (lengths, queue->lengths);
  fab_queue_lengths_add (lengths, queue->bytes, now_ps - queue->changed_ps);
  return TRUE;
}
