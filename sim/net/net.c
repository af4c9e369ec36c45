/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/net/net.h"

#include <math.h>
#include <string.h>

typedef struct {
  const FabFootprint *footprint;
  double bytes;      /* of the streams */
  double wire_bytes; /* of the streams, times the factor of their protocol */
  guint place;       /* the first of its links that was not read yet */
} FootprintSum;

struct _FabMeter {
  const FabGraph *graph;
  GArray *sums; /* FootprintSum */
  /* from a footprint to 1 + its index in `sums`: every message of a schedule has its own footprint */
  GHashTable *places;
  FabLinkLoad *loads; /* per link, of what is in no sum; NULL: there is nothing */
  guint n_read;       /* links that were read since the last one was */
  GArray *used;       /* FabLinkId: the links of which `loads` says something */
};

FabMeter *
fab_meter_new (const FabGraph *graph)
{
  FabMeter *self = g_new0 (FabMeter, 1);

  self->graph = graph;
  self->sums = g_array_new (FALSE, FALSE, sizeof (FootprintSum));
  self->places = g_hash_table_new (NULL, NULL);
  self->used = g_array_new (FALSE, FALSE, sizeof (FabLinkId));
  return self;
}

void
fab_meter_free (FabMeter *self)
{
  if (self == NULL)
    return;
  g_array_unref (self->sums);
  g_hash_table_unref (self->places);
  g_free (self->loads);
  g_array_unref (self->used);
  g_free (self);
}

/* Returns the counters of a link that carries something. */
static inline FabLinkLoad *
load_of (FabMeter *self, FabLinkId link)
{
  if (self->loads == NULL)
    self->loads = g_new0 (FabLinkLoad, fab_graph_n_links (self->graph) + 1);
  if (self->loads[link].payload_bytes <= 0 && self->loads[link].line_bytes <= 0)
    g_array_append_val (self->used, link);
  return &self->loads[link];
}

void
fab_meter_add_footprint (FabMeter *self, const FabFootprint *footprint, FabBytes bytes, double wire_factor)
{
  FootprintSum added = { footprint, (double) bytes, (double) bytes * wire_factor, 0 };

  guint place = GPOINTER_TO_UINT (g_hash_table_lookup (self->places, footprint));

  if (place > 0) {
    FootprintSum *sum = &g_array_index (self->sums, FootprintSum, place - 1);

    sum->bytes += added.bytes;
    sum->wire_bytes += added.wire_bytes;
    return;
  }
  g_array_append_val (self->sums, added);
  g_hash_table_insert (self->places, (gpointer) footprint, GUINT_TO_POINTER (self->sums->len));
}

static void
count (FabMeter *self, const FootprintSum *sum)
{
  for (guint k = 0; k < sum->footprint->n; k++) {
    FabLinkLoad *load = load_of (self, sum->footprint->links[k]);

    load->payload_bytes += sum->bytes * sum->footprint->weights[k];
    load->line_bytes += sum->wire_bytes * sum->footprint->line_weights[k];
  }
}

void
fab_meter_add_line (FabMeter *self, const FabFootprint *footprint, double bytes, double wire_factor)
{
  count (self, &(FootprintSum){ .footprint = footprint, .bytes = bytes, .wire_bytes = bytes * wire_factor });
}

void
fab_meter_add_once (FabMeter *self, const FabFootprint *footprint, FabBytes bytes)
{
  fab_meter_add_line (self, footprint, (double) bytes, 1);
}

void
fab_meter_add_link (FabMeter *self, FabLinkId link, double payload_bytes, double line_bytes)
{
  FabLinkLoad *load = load_of (self, link);

  load->payload_bytes += payload_bytes;
  load->line_bytes += line_bytes;
}

void
fab_meter_add_path (FabMeter *self, const FabPath *path, FabBytes bytes, FabDrive drive)
{
  for (guint i = 0; i < path->n; i++) {
    FabLinkLoad *load = load_of (self, path->links[i]);

    load->payload_bytes += (double) bytes;
    load->line_bytes += (double) bytes * fab_graph_link_class (self->graph, path->links[i])->cost[drive];
  }
}

/* Adds what a footprint has on n links to loads[n]; its place is at the first of them. */
static void
add_to_range (FabLinkLoad *loads, FabLinkId first, guint n, FootprintSum *sum)
{
  const FabFootprint *footprint = sum->footprint;

  for (; sum->place < footprint->n && footprint->links[sum->place] - first < n; sum->place++) {
    FabLinkLoad *load = &loads[footprint->links[sum->place] - first];

    load->payload_bytes += sum->bytes * footprint->weights[sum->place];
    load->line_bytes += sum->wire_bytes * footprint->line_weights[sum->place];
  }
}

void
fab_meter_read (FabMeter *self, FabLinkId first, guint n, FabLinkLoad *loads)
{
  g_assert (first == self->n_read);
  self->n_read += n;
  memset (loads, 0, n * sizeof *loads);
  if (self->loads != NULL)
    memcpy (loads, self->loads + first, n * sizeof *loads);
  for (guint i = 0; i < self->sums->len; i++)
    add_to_range (loads, first, n, &g_array_index (self->sums, FootprintSum, i));
  if (self->n_read < fab_graph_n_links (self->graph))
    return;
  if (self->loads != NULL)
    memset (self->loads, 0, self->n_read * sizeof *self->loads);
  self->n_read = 0;
  g_array_set_size (self->used, 0);
  g_array_set_size (self->sums, 0);
  g_hash_table_remove_all (self->places);
}

void
fab_meter_take (FabMeter *self, FabLinkLoad *loads)
{
  fab_meter_read (self, 0, fab_graph_n_links (self->graph), loads);
}

GArray *
fab_meter_drain (FabMeter *self, GArray *entries)
{
  for (guint i = 0; i < self->sums->len; i++)
    count (self, &g_array_index (self->sums, FootprintSum, i));
  for (guint i = 0; i < self->used->len; i++) {
    FabLinkId link = g_array_index (self->used, FabLinkId, i);
    FabMeterEntry entry = { link, self->loads[link] };

    self->loads[link] = (FabLinkLoad){ 0 };
    if (entry.load.payload_bytes > 0 || entry.load.line_bytes > 0)
      g_array_append_val (entries, entry);
  }
  g_array_set_size (self->sums, 0);
  g_array_set_size (self->used, 0);
  g_hash_table_remove_all (self->places);
  return entries;
}

void
fab_meter_add_entries (FabMeter *self, const FabMeterEntry *entries, gsize n)
{
  for (gsize i = 0; i < n; i++)
    fab_meter_add_link (self, (FabLinkId) entries[i].link, entries[i].load.payload_bytes,
                        entries[i].load.line_bytes);
}

void
fab_lane_queues_add (GArray *lanes, const FabLaneQueue *queues, gsize n)
{
  for (gsize i = 0; i < n; i++) {
    const FabLaneQueue *added = &queues[i];

    if (added->lane >= lanes->len)
      g_array_set_size (lanes, added->lane + 1);
    FabLaneQueue *sum = &g_array_index (lanes, FabLaneQueue, added->lane);
    sum->lane = added->lane;
    sum->link = added->link;
    sum->carried_bytes += added->carried_bytes;
    sum->most_bytes = MAX (sum->most_bytes, added->most_bytes);
    sum->byte_ps += added->byte_ps;
    sum->n_stalls += added->n_stalls;
    sum->n_marks += added->n_marks;
    sum->n_pauses += added->n_pauses;
    sum->n_drops += added->n_drops;
  }
}

FabLinkQueue *
fab_lane_queues_sum (const GArray *lanes, guint n_links, FabTimePs now_ps)
{
  FabLinkQueue *queues = g_new0 (FabLinkQueue, n_links + 1);

  for (guint i = 0; i < lanes->len; i++) {
    const FabLaneQueue *lane = &g_array_index (lanes, FabLaneQueue, i);
    FabLinkQueue *sum = &queues[lane->link];

    sum->carried_bytes += (FabBytes) lane->carried_bytes;
    sum->most_bytes += (FabBytes) lane->most_bytes;
    sum->mean_bytes += now_ps > 0 ? lane->byte_ps / (double) now_ps : 0;
    sum->n_stalls += lane->n_stalls;
    sum->n_marks += lane->n_marks;
    sum->n_pauses += lane->n_pauses;
    sum->n_drops += lane->n_drops;
  }
  return queues;
}

void
fab_net_init (FabNet *self, const FabNetOps *ops, const FabNetEnv *env)
{
  self->ops = ops;
  self->env = *env;
  self->meter = fab_meter_new (env->graph);
  self->dead = g_array_new (FALSE, FALSE, sizeof (FabDeadLink));
  self->plays = g_ptr_array_new ();
  self->skips = g_array_new (FALSE, FALSE, sizeof (FabSkip));
}

void
fab_net_clear (FabNet *self)
{
  g_clear_pointer (&self->meter, fab_meter_free);
  g_clear_pointer (&self->builder, fab_footprint_builder_free);
  g_clear_pointer (&self->shares, g_array_unref);
  g_clear_pointer (&self->dead, g_array_unref);
  g_clear_pointer (&self->plays, g_ptr_array_unref);
  g_clear_pointer (&self->skips, g_array_unref);
}

FabFootprint *
fab_net_spread (FabNet *self, const FabTransfer *transfer)
{
  FabRouter *router = self->env.router;

  if (router->ops->spread == NULL || transfer->src == transfer->dst)
    return NULL;
  if (self->builder == NULL) {
    self->builder = fab_footprint_builder_new (self->env.graph);
    self->shares = g_array_new (FALSE, FALSE, sizeof (FabShare));
  }
  g_array_set_size (self->shares, 0);
  gboolean has_path = fab_router_spread (router, transfer->src, transfer->dst, transfer->flow_hash,
                                         self->shares);
  g_assert (has_path);
  fab_footprint_builder_add_shares (self->builder, self->shares, (FabUse){ 1, transfer->drive, 1, 1, 1 });
  return fab_footprint_builder_finish (self->builder);
}

void
fab_net_send (FabNet *self, const FabTransfer *transfer)
{
  self->ops->send (self, transfer);
}

void
fab_net_forget (FabNet *self)
{
  if (self->ops->forget != NULL)
    self->ops->forget (self);
}

void
fab_net_stream (FabNet *self, const FabStream *stream)
{
  g_assert (stream->wire_factor > 0 && stream->share > 0);
  g_assert (stream->latency_ps >= 0 && stream->startup_ps >= stream->latency_ps);
  self->ops->stream (self, stream);
}

FabNetLine *
fab_net_open (FabNet *self, const FabConnection *connection)
{
  g_assert (connection->wire_factor > 0 && connection->share > 0 && connection->n_legs > 0);
  return self->ops->open (self, connection);
}

void
fab_net_message (FabNet *self, FabNetLine *line, double bytes, FabTimePs begin_ps)
{
  g_assert (bytes > 0 && begin_ps >= fab_engine_now (self->env.engine));
  self->ops->message (self, line, bytes, begin_ps);
}

void
fab_net_close (FabNet *self, FabNetLine *line)
{
  self->ops->close (self, line);
}

static guint
find_dead (const FabNet *self, FabLinkId link)
{
  guint i = 0;

  while (i < self->dead->len && g_array_index (self->dead, FabDeadLink, i).link != link)
    i++;
  return i;
}

FabLinkQueue *
fab_net_link_queues (const FabNet *self)
{
  guint n = fab_graph_n_links (self->env.graph);
  FabLinkQueue *queues = g_new0 (FabLinkQueue, n + 1);

  for (FabLinkId link = 0; link < n; link++)
    queues[link] = self->ops->link_queue (self, link);
  return queues;
}

void
fab_net_set_capacity (FabNet *self, FabLinkId link, double fraction)
{
  guint at = find_dead (self, link);
  FabDeadLink dead = { link, fab_engine_now (self->env.engine) };

  g_assert (fraction >= 0 && fraction <= 1);
  if (fraction > 0 && at < self->dead->len)
    g_array_remove_index (self->dead, at);
  if (fraction <= 0 && at == self->dead->len)
    g_array_append_val (self->dead, dead);
  self->n_rate_changes++;
  self->ops->set_capacity (self, link, fraction);
}

const FabDeadLink *
fab_net_find_dead (const FabNet *self, const FabFootprint *footprint)
{
  guint at;

  for (guint i = 0; i < self->dead->len && footprint->n > 0; i++)
    if (fab_footprint_has (footprint, g_array_index (self->dead, FabDeadLink, i).link, &at))
      return &g_array_index (self->dead, FabDeadLink, i);
  return NULL;
}

void
fab_net_destroy (FabNet *self)
{
  if (self)
    self->ops->destroy (self);
}

FabTimePs
fab_flow_ps (double bytes, double rate_bytes_per_s)
{
  double ps = bytes / rate_bytes_per_s * (double) FAB_PS_PER_S;

  g_assert (rate_bytes_per_s > 0);
  /* Subtract a little, less than one ps: earlier rounding must not add a whole ps. */
  return ps >= (double) FAB_TIME_MAX ? FAB_TIME_MAX : (FabTimePs) ceil (ps - MIN (ps * 0x1p-51, 0.5));
}

double
fab_stream_rate_alone (const FabStream *stream)
{
  double rate = stream->footprint->rate_bytes_per_s / stream->wire_factor;

  return stream->limit_bytes_per_s > 0 ? MIN (rate, stream->limit_bytes_per_s) : rate;
}

FabTimePs
fab_stream_bound_ps (const FabStream *stream)
{
  double bytes = (double) stream->bytes * MIN (stream->wire_factor, 1);
  /* Round down, and by a further 2^-50, because the sums of weights are doubles. */
  double ps = floor (bytes / stream->footprint->line_bound_bytes_per_s * (double) FAB_PS_PER_S
                     * (1 - 0x1p-50));

  return fab_ps_add (stream->latency_ps, ps >= (double) FAB_TIME_MAX ? FAB_TIME_MAX : (FabTimePs) ps);
}
