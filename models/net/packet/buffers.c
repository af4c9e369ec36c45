/* SPDX-License-Identifier: Apache-2.0 */
/* buffers.c - one memory per switch that its ports share, with a dynamic threshold: A. Choudhury, E. Hahne, "Dynamic
 * Queue Length Thresholds for Shared-Memory Packet Switches", IEEE/ACM ToN 6(2), 1998.
 *
 *   threshold   alpha x (memory - headroom - what waits in the switch)
 *   pfc         what came over a link and waits stops it above the threshold, and lets it go on two packets below
 *   drop, trim  what waits for a link is cut off above the threshold
 *   headroom    of each link with PFC: its rate x round trip and two packets, which arrive after the pause
 *
 * Without a memory every port has thresholds and a queue of its own (congestion.c). `switch` names a chip or a product.
 * Sources, read on 2026-11-23; SONiC is device/ of github.com/sonic-net/sonic-buildimage, and alpha is 2^dynamic_th of
 * its profiles:
 *
 *   trident_3    SONiC, buffer design for T0; people.ucsc.edu/~warner/Bufs/trident3.html
 *   tomahawk_2   port-buffers.forwardingplane.net/concepts/broadcom-tomahawk2
 *   tomahawk_5   SONiC: arista/x86_64-arista_7060x6_64pe, O128S2: buffers_defaults_t1.j2, pg_profile_lookup.ini;
 *                29.4 MB of headroom there are for 150 m
 *   spectrum_2   NVIDIA's announcement of 2017-07-06, grokipedia.com/page/NVIDIA_Spectrum-2
 *   spectrum_3   grokipedia.com/page/NVIDIA_Spectrum-3
 *   spectrum_4   SONiC: mellanox/x86_64-nvidia_sn5600-r0, buffers_defaults_t0.j2 (lossless pool)
 *   jericho_2    people.ucsc.edu/~warner/Bufs/7280R3.html (HBM beside the chip, dynamic)
 *   sn5640       SONiC: mellanox/x86_64-nvidia_sn5640-r0, C448O16/buffers_defaults_t1.j2 (lossless pool)
 *   7050cx3      SONiC: arista/x86_64-arista_7050cx3_32s, C28S4/BALANCED/buffers_defaults_t1.j2 (alpha: lossy)
 *   7260cx3      tomahawk_2; alpha, lossless: arista/x86_64-arista_7260cx3_64, D108C8/pg_profile_lookup.ini of
 *                github.com/wendani/sonic-buildimage
 *   ixr7220_h3   SONiC: nokia/x86_64-nokia_ixr7220_h3-r0, buffers_defaults_t0.j2: 50 MB and 14 of headroom
 *   ixr7220_d4   SONiC: nokia/x86_64-nokia_ixr7220_d4-r0, D4-36D/buffers_defaults_t0.j2
 *   ixr7220_h6   SONiC: nokia/x86_64-nokia_ixr7220_h6_64-r0, buffers_defaults_t1.j2: 161.2 MB and 59.0 of headroom
 */
#include <math.h>

#include "models/net/packet/parts.h"

typedef struct {
  const char *name;
  FabBytes bytes; /* with headroom */
  double alpha;   /* 0: not known */
} SwitchMemory;

static const SwitchMemory switches[] = {
  { "none", 0, 0 },
  { "trident_3", 32756480, 0 },
  { "tomahawk_2", 42000000, 0 },
  { "tomahawk_5", 165660324, 1 },
  { "spectrum_2", 42000000, 0 },
  { "spectrum_3", 64000000, 0 },
  { "spectrum_4", 158229504, 0 },
  { "jericho_2", 8000000000, 0 },
  { "sn5600", 158229504, 0 },
  { "sn5640", 136210432, 0 },
  { "7050cx3", 32712448, 8 },
  { "7260cx3", 42000000, 0.125 },
  { "7060x6", 165660324, 1 },
  { "ixr7220_h3", 64000000, 1 },
  { "ixr7220_d4", 73964892, 0.0625 },
  { "ixr7220_h6", 220218000, 0.0625 },
};

const char *const packet_chips[] = { "none",       "trident_3",  "tomahawk_2", "tomahawk_5", "spectrum_2",
                                     "spectrum_3", "spectrum_4", "jericho_2",  "sn5600",     "sn5640",
                                     "7050cx3",    "7260cx3",    "7060x6",     "ixr7220_h3", "ixr7220_d4",
                                     "ixr7220_h6", NULL };

G_STATIC_ASSERT (G_N_ELEMENTS (packet_chips) == G_N_ELEMENTS (switches) + 1);

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
  const SwitchMemory *known = &switches[self->params.chip];
  FabBytes bytes = self->params.memory_bytes > 0 ? self->params.memory_bytes : known->bytes;

  g_assert (g_str_equal (known->name, packet_chips[self->params.chip]));
  if (self->params.alpha == 0)
    self->params.alpha = known->alpha > 0 ? known->alpha : 1;
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
