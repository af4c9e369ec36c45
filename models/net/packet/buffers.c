/* SPDX-License-Identifier: Apache-2.0 */
/* buffers.c - one memory per switch that its ports share, with a dynamic threshold: A. Choudhury, E. Hahne, "Dynamic
 * Queue Length Thresholds for Shared-Memory Packet Switches", IEEE/ACM ToN 6(2), 1998.
 *
 *   threshold   alpha x (memory - headroom - what waits in the switch)
 *   pfc         what came over a link and waits stops it above the threshold, and lets it go on two packets below
 *   drop, trim  what waits for a link is cut off above the threshold
 *   headroom    of each link with PFC: its rate x round trip and two packets, which arrive after the pause
 *
 * Without a memory every port has thresholds and a queue of its own (congestion.c). The memory is that of a chip:
 *
 *   trident_3    32 756 480 B  SONiC, buffer design for T0 (32.8 MB); 32 MB: people.ucsc.edu/~warner/Bufs/trident3.html
 *   tomahawk_2   42 MB         port-buffers.forwardingplane.net/concepts/broadcom-tomahawk2
 *   tomahawk_5   165 660 324 B SONiC (sonic-net/sonic-buildimage): device/arista/x86_64-arista_7060x6_64pe,
 *                              Arista-7060X6-64PE-O128S2/buffers_defaults_t1.j2; threshold 0 in pg_profile_lookup.ini:
 *                              alpha 2^0; 29.4 MB of headroom there are for 150 m
 *   spectrum_2   42 MB         NVIDIA's announcement of 2017-07-06, grokipedia.com/page/NVIDIA_Spectrum-2
 *   spectrum_3   64 MB         grokipedia.com/page/NVIDIA_Spectrum-3
 *   spectrum_4   158 229 504 B SONiC: device/mellanox/x86_64-nvidia_sn5600-r0, buffers_defaults_t0.j2 (lossless pool)
 *   jericho_2    8 GB          people.ucsc.edu/~warner/Bufs/7280R3.html (HBM beside the chip, dynamic)
 *
 * All read on 2026-11-23. No public source was found for Tomahawk 3 and 4: `memory` takes any size.
 */
#include <math.h>

#include "models/net/packet/parts.h"

const char *const packet_chips[] = { "none",       "trident_3",  "tomahawk_2", "tomahawk_5", "spectrum_2",
                                     "spectrum_3", "spectrum_4", "jericho_2",  NULL };

static const FabBytes chip_bytes[] = { 0,        32756480, 42000000,  165660324,
                                       42000000, 64000000, 158229504, 8000000000 };

G_STATIC_ASSERT (G_N_ELEMENTS (packet_chips) == G_N_ELEMENTS (chip_bytes) + 1);

/* What arrives over a link after its far end has asked for a pause. */
static double
headroom_of (const PacketNet *self, guint32 link)
{
  const FabGraph *graph = self->base.env.graph;
  FabTimePs trip_ps = fab_graph_link (graph, link)->latency_ps
                    + fab_graph_link (graph, fab_graph_link (graph, link)->reverse)->latency_ps;

  /* Whole bytes, so that sums are exact whatever their order. */
  return ceil ((double) trip_ps / self->ports[link].ps_per_byte) + 2 * (double) self->params.mtu_bytes;
}

static gboolean
is_outside (const FabGraph *graph, FabVertexId vertex)
{
  const FabVertex *v = fab_graph_vertex (graph, vertex);

  return v->kind == FAB_VERTEX_SWITCH && (v->node == FAB_NO_NODE);
}

void
packet_buffers_init (PacketNet *self)
{
  const FabGraph *graph = self->base.env.graph;
  FabBytes bytes = self->params.memory_bytes > 0 ? self->params.memory_bytes : chip_bytes[self->params.chip];

  if (bytes == 0)
    return;
  self->memories = g_new0 (SharedMemory, fab_graph_n_vertices (graph));
  for (FabVertexId v = 0; v < fab_graph_n_vertices (graph); v++)
    self->memories[v].free_bytes = is_outside (graph, v) ? (double) bytes : G_MAXDOUBLE;
  for (guint32 i = 0; i < self->n_links; i++) {
    SharedMemory *memory = &self->memories[fab_graph_link (graph, i)->dst];

    if (self->lanes[i].control == CONTROL_PFC && memory->free_bytes < G_MAXDOUBLE)
      memory->free_bytes -= headroom_of (self, i);
  }
}

/* Whether the switch at this vertex has a memory that its ports share. */
static gboolean
is_shared (const PacketNet *self, FabVertexId vertex)
{
  return self->memories != NULL && self->memories[vertex].free_bytes < G_MAXDOUBLE;
}

static guint32
threshold (const PacketNet *self, FabVertexId vertex)
{
  return (guint32) CLAMP (self->params.alpha * self->memories[vertex].free_bytes, 0, (double) G_MAXINT32);
}

guint32
packet_buffers_queue (const PacketNet *self, guint32 link)
{
  FabVertexId vertex = fab_graph_link (self->base.env.graph, link)->src;

  return is_shared (self, vertex) ? threshold (self, vertex) : (guint32) self->params.queue_bytes;
}

guint32
packet_buffers_pause (const PacketNet *self, guint32 link, gboolean is_paused)
{
  FabVertexId vertex = fab_graph_link (self->base.env.graph, link)->dst;
  const Thresholds *fixed = &self->thresholds[link];

  if (!is_shared (self, vertex) || self->params.pause_bytes > 0)
    return is_paused ? fixed->resume : fixed->pause;
  guint32 pause = threshold (self, vertex), below = 2 * (guint32) self->params.mtu_bytes;
  return is_paused ? pause - MIN (pause, below) : pause;
}

void
packet_buffers_count (PacketNet *self, guint32 link, double bytes)
{
  FabVertexId vertex = fab_graph_link (self->base.env.graph, link)->src;

  if (is_shared (self, vertex))
    self->memories[vertex].free_bytes -= bytes;
}

void
packet_buffers_clear (PacketNet *self)
{
  g_free (self->memories);
}
