/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/support/load.h"

typedef struct {
  RigNet rig;
  LoadItem *items;
  guint n_left;
} Play;

static void
item_end (gpointer owner, guint64 index)
{
  Play *play = owner;

  play->items[index].end_ps = fab_engine_now (play->rig.engine);
  play->items[index].n_ends++;
  if (--play->n_left == 0)
    fab_engine_stop (play->rig.engine);
}

static void
item_begin (gpointer owner, guint64 index)
{
  Play *play = owner;
  const LoadItem *item = &play->items[index];
  FabDone done = { item_end, play, index };
  FabTransfer transfer = item->transfer;
  FabStream stream = item->stream;

  transfer.done = stream.done = done;
  if (stream.footprint)
    fab_net_stream (play->rig.net, &stream);
  else
    fab_net_send (play->rig.net, &transfer);
}

static gboolean
never (G_GNUC_UNUSED gconstpointer owner)
{
  return FALSE;
}

void
load_play_beside (const Rig *rig, const FabNetOps *ops, const FabDisturbancesPlan *plan, LoadItem *items,
                  guint n, FabLinkLoad *loads)
{
  Play play = { rig_net (rig, ops), items, n };
  g_autoptr (FabDisturbances) disturbances = plan ? fab_disturbances_new (play.rig.net, plan, never, NULL)
                                                  : NULL;

  for (guint i = 0; i < n; i++) {
    items[i].n_ends = 0;
    fab_engine_at (play.rig.engine, items[i].start_ps, item_begin, &play, i);
  }
  fab_engine_run (play.rig.engine);
  if (loads)
    fab_meter_take (play.rig.net->meter, loads);
  rig_net_clear (&play.rig);
}

void
load_play (const Rig *rig, const FabNetOps *ops, LoadItem *items, guint n, FabLinkLoad *loads)
{
  load_play_beside (rig, ops, NULL, items, n, loads);
}

FabFootprint *
load_random_footprint (Random *random, const Rig *rig)
{
  g_autoptr (FabFootprintBuilder) builder = fab_footprint_builder_new (rig->graph);
  guint n_ranks = fab_cluster_n_ranks (&rig->cluster);

  for (guint i = random_between (random, 1, 6); i-- > 0;) {
    guint src = random_below (random, n_ranks),
          dst = (src + random_between (random, 1, n_ranks - 1)) % n_ranks;
    FabUse use = { .weight = random_between (random, 1, 16) / 8.0, .drive = FAB_DRIVE_KERNEL, .stretch = 1 };
    FabPath path = { 0 };

    fab_router_append (rig->router, rig_gpu (rig, src), rig_gpu (rig, dst), 0, &path);
    fab_footprint_builder_add (builder, &path, use);
  }
  return fab_footprint_builder_finish (builder);
}

static FabStream
random_stream (Random *random, FabFootprint *const *footprints, guint n_footprints)
{
  static const double wire_factors[] = { 1, 1.0625, 2 };
  const FabFootprint *footprint = footprints[random_below (random, n_footprints)];

  return (FabStream){
    .footprint = footprint,
    .bytes = random_chance (random, 5) ? 0 : (FabBytes) random_scale (random, 1, 1e8),
    .startup_ps = random_between (random, 0, 50000000),
    .wire_factor = wire_factors[random_below (random, G_N_ELEMENTS (wire_factors))],
    .limit_bytes_per_s = random_chance (random, 30)
                           ? footprint->rate_bytes_per_s * random_scale (random, 0.1, 2)
                           : 0,
    .share = random_between (random, 1, 16),
  };
}

void
load_random (Random *random, const Rig *rig, FabFootprint *const *footprints, guint n_footprints,
             LoadItem *items, guint n)
{
  guint n_ranks = fab_cluster_n_ranks (&rig->cluster);

  for (guint i = 0; i < n; i++) {
    items[i] = (LoadItem){ .start_ps = random_below (random, 1000000000) };
    if (random_chance (random, 40)) {
      items[i].stream = random_stream (random, footprints, n_footprints);
      continue;
    }
    items[i].transfer = (FabTransfer){
      .src = rig_gpu (rig, random_below (random, n_ranks)),
      .dst = rig_gpu (rig, random_below (random, n_ranks)),
      .bytes = random_chance (random, 5) ? 0 : (FabBytes) random_scale (random, 1, 1e8),
      .drive = FAB_DRIVE_COPY,
    };
  }
}

/* Rounded up, so that nothing is faster than the line. */
static FabTimePs
wire_ps (FabBytes bytes, FabBytesPerS rate_bytes_per_s)
{
  __extension__ typedef unsigned __int128 U128;

  return (FabTimePs) (((U128) bytes * (U128) FAB_PS_PER_S + rate_bytes_per_s - 1) / rate_bytes_per_s);
}

FabTimePs
load_bound_ps (const Rig *rig, const LoadItem *item)
{
  FabPath path = { 0 };
  FabBytesPerS slowest = G_MAXUINT64;

  if (item->stream.footprint)
    return fab_stream_bound_ps (&item->stream);
  fab_router_append (rig->router, item->transfer.src, item->transfer.dst, 0, &path);
  for (guint i = 0; i < path.n; i++)
    slowest = MIN (slowest, fab_graph_link (rig->graph, path.links[i])->rate_bytes_per_s);
  return fab_path_latency_ps (rig->graph, &path) + (path.n > 0 ? wire_ps (item->transfer.bytes, slowest) : 0);
}
