/* SPDX-License-Identifier: Apache-2.0 */
#include "answer/p2p.h"

#include <string.h>

#include "models/models.h"
#include "sim/base/error.h"
#include "sim/machine/hop.h"

/* Share of the memory's rate that a copy within it reaches, read and write together: 1581 of 2039 GB/s, A100 80 GB
 * (stas00/ml-engineering network/README.md). Others: H100 2500 of 3350 (NVIDIA/nccl issue 1264), GB200 5714 of 8000,
 * P100 500 of 732 (uuudown/Tartan), RTX 4090 920 of 1008. */
static const double local_copy_fraction = 1581.0 / 2039;

enum { COPIED_BYTES = 1000000000, WRITTEN_BYTES = 4 };

/* What the GPUs at both ends add to the wires of a small write, microseconds. */
typedef struct {
  const char *architecture;
  double self_us, peer_us, staged_us;
} Latency;

/* Of p2pBandwidthLatencyTest, "GPU" rows, less the wires of the path measured (some 0.1 to 0.4 us):
 *   pascal     DGX-1 P100: 3.0 itself, 9.1 to 10.2 a neighbour, 18.6 to 19.9 staged (uuudown/Tartan
 *              microbenchmark/scale_up_p2p_test/dgx1_ascending.txt)
 *   volta      1.86 to 2.00 a neighbour (aistabci/abci2.0benchmark pt2pt/README.md); the rest as `others`
 *   ampere     2.8 to 3.4 over NVSwitch (the same); staged 24.3 to 24.7 (unattributed log)
 *   ada        1.21 to 1.44 over PCIe, 10.3 to 14.2 staged (RTX 6000 Ada; luigifcruz/stelline docs/quickstart/
 *              validated-hardware/server/asus-esc8000a-e12.md)
 *   blackwell  RTX 5090: 2.1 itself, 12.8 staged (NVIDIA/nccl-tests issue 287); a neighbour as `others`
 *   others     four GPUs with NVLink: 2.1 to 2.6 itself, 1.8 to 2.3 a neighbour, 11 to 19.6 staged
 * (NVIDIA/cuda-samples
 *              issue 230); Hopper has no figure of its own */
static const Latency latencies[] = {
  { "pascal", 3.0, 9.5, 18.9 }, { "volta", 2.1, 1.8, 15.0 },     { "ampere", 2.1, 2.8, 24.2 },
  { "ada", 2.1, 1.1, 12.0 },    { "blackwell", 2.1, 1.8, 12.5 }, { NULL, 2.1, 1.8, 15.0 },
};

static const Latency *
latency_of (const char *architecture)
{
  guint i = 0;

  while (latencies[i].architecture != NULL && g_strcmp0 (latencies[i].architecture, architecture) != 0)
    i++;
  return &latencies[i];
}

static void
note_end (gpointer owner, guint64 arg)
{
  *(gboolean *) owner = arg == 0;
}

/* Payload of one hop while all of them move together, GB/s. */
static double
stream_GBps (const FabCluster *cluster, const FabHop *hops, guint n)
{
  g_autoptr (FabFootprintBuilder) builder = fab_footprint_builder_new (cluster->graph);
  FabEngine *engine = fab_engine_new ();
  FabNetEnv env = { engine, cluster->graph, cluster->router, 1 };
  FabNet *net = fab_net_fluid.create (&env, NULL);
  gboolean is_done = FALSE;

  for (guint i = 0; i < n; i++)
    fab_hop_use (&hops[i], 1, 1, builder);
  g_autoptr (FabFootprint) footprint = fab_footprint_builder_finish (builder);
  FabStream stream = { .footprint = footprint,
                       .bytes = COPIED_BYTES,
                       .wire_factor = 1,
                       .share = 1,
                       .done = { note_end, &is_done, 0 } };
  fab_net_stream (net, &stream);
  fab_engine_run (engine);
  g_assert (is_done);
  double seconds = fab_ps_to_seconds (fab_engine_now (engine));
  fab_net_destroy (net);
  fab_engine_free (engine);
  return COPIED_BYTES / seconds / 1e9;
}

/* A copy, not a collective: what a library loses on its NICs does not count. */
static gboolean
find_hop (const FabCluster *cluster, guint from, guint to, FabHop *hop, GError **error)
{
  FabGroup group = { cluster, cluster->n_nodes, cluster->gpus_per_node };

  if (from / group.gpus_per_node == to / group.gpus_per_node)
    return fab_hop_local (cluster, cluster->gpus[from], cluster->gpus[to], cluster->p2p, FAB_DRIVE_COPY, hop,
                          error);
  if (!fab_hop_ranks (&group, from, to, hop, error))
    return FALSE;
  hop->stretch = 1;
  return TRUE;
}

/* --- what messages were measured to take --- */

static gboolean
goes_by_messages (const FabHop *hop)
{
  return hop->messages != NULL && hop->messages->n > 0;
}

static double
message_us (const FabHop *hop, FabMessageWay way, double bytes)
{
  return fab_ps_to_seconds (fab_message_ps (hop->messages, way, bytes)) * 1e6;
}

/* Of one direction; messages that are uncertain are no faster than their wires. */
static double
copy_GBps (const FabCluster *cluster, const FabHop *hops, FabMessageWay way)
{
  if (goes_by_messages (&hops[0]))
    return MIN (COPIED_BYTES / message_us (&hops[0], way, COPIED_BYTES) / 1e3,
                hops[0].rate_bytes_per_s / 1e9);
  return stream_GBps (cluster, hops, way == FAB_WAY_BOTH ? 2 : 1);
}

static void
note_sizes (FabP2pTable *self, const FabHop *hop, guint pair)
{
  if (!goes_by_messages (hop) || hop->messages->to_bytes == 0)
    return;
  self->has_sizes = TRUE;
  self->is_outside[pair] = COPIED_BYTES > hop->messages->to_bytes
                        || WRITTEN_BYTES < hop->messages->from_bytes;
}

static double
latency_us (const FabCluster *cluster, const FabHop *hop)
{
  double wires_us = fab_ps_to_seconds (fab_ps_add (hop->latency_ps, hop->endpoint_ps)) * 1e6;

  if (goes_by_messages (hop))
    return MAX (message_us (hop, FAB_WAY_ONE, WRITTEN_BYTES), wires_us);
  const Latency *latency = latency_of (cluster->architecture);
  gboolean is_direct = hop->kind != FAB_HOP_STAGED && hop->kind != FAB_HOP_NET_STAGED;

  return (is_direct ? latency->peer_us : latency->staged_us) + wires_us;
}

static gboolean
fill_pair (FabP2pTable *self, FabP2pMode mode, const FabCluster *cluster, guint from, guint to,
           GError **error)
{
  guint there = from * self->n + to, back = to * self->n + from;
  FabHop hops[2];

  if (!find_hop (cluster, from, to, &hops[0], error))
    return FALSE;
  if (!find_hop (cluster, to, from, &hops[1], error)) {
    fab_hop_clear (&hops[0]);
    return FALSE;
  }
  self->one_way_GBps[mode][there] = copy_GBps (cluster, &hops[0], FAB_WAY_ONE);
  self->one_way_GBps[mode][back] = copy_GBps (cluster, &hops[1], FAB_WAY_ONE);
  self->both_ways_GBps[mode][there] = 2 * copy_GBps (cluster, hops, FAB_WAY_BOTH);
  self->both_ways_GBps[mode][back] = self->both_ways_GBps[mode][there];
  self->latency_us[mode][there] = latency_us (cluster, &hops[0]);
  self->latency_us[mode][back] = latency_us (cluster, &hops[1]);
  note_sizes (self, &hops[0], there);
  note_sizes (self, &hops[1], back);
  if (mode == FAB_P2P_ENABLED)
    self->is_peer[there] = self->is_peer[back] = hops[0].kind == FAB_HOP_DIRECT;
  fab_hop_clear (&hops[0]);
  fab_hop_clear (&hops[1]);
  return TRUE;
}

static gboolean
fill_mode (FabP2pTable *self, FabP2pMode mode, const FabCluster *cluster, GError **error)
{
  double local = (double) cluster->device.memory_bytes_per_s * local_copy_fraction / 1e9;

  for (guint from = 0; from < self->n; from++) {
    guint itself = from * self->n + from;

    self->is_peer[itself] = TRUE;
    self->one_way_GBps[mode][itself] = self->both_ways_GBps[mode][itself] = local;
    self->latency_us[mode][itself] = latency_of (cluster->architecture)->self_us;
    for (guint to = from + 1; to < self->n; to++)
      if (!fill_pair (self, mode, cluster, from, to, error))
        return FALSE;
  }
  return TRUE;
}

FabP2pTable *
fab_p2p_new (const FabCluster *cluster, GError **error)
{
  g_autoptr (FabP2pTable) self = g_new0 (FabP2pTable, 1);
  FabCluster off = *cluster;
  gsize n_pairs;

  self->n = fab_cluster_n_ranks (cluster);
  self->gpus_per_node = cluster->gpus_per_node;
  if (self->n > FAB_P2P_MAX_GPUS) {
    fab_throw (error, FAB_ERROR_INPUT, "the matrix of %u GPUs is too large; at most %u are possible", self->n,
               FAB_P2P_MAX_GPUS);
    return NULL;
  }
  n_pairs = (gsize) self->n * self->n;
  self->is_peer = g_new0 (gboolean, n_pairs);
  self->is_outside = g_new0 (gboolean, n_pairs);
  for (FabP2pMode mode = 0; mode < FAB_N_P2P_MODES; mode++) {
    self->one_way_GBps[mode] = g_new0 (double, n_pairs);
    self->both_ways_GBps[mode] = g_new0 (double, n_pairs);
    self->latency_us[mode] = g_new0 (double, n_pairs);
  }
  off.p2p = off.gdr = FAB_REACH_NONE;
  off.has_relays = FALSE;
  if (!fill_mode (self, FAB_P2P_DISABLED, &off, error) || !fill_mode (self, FAB_P2P_ENABLED, cluster, error))
    return NULL;
  return g_steal_pointer (&self);
}

void
fab_p2p_free (FabP2pTable *self)
{
  if (self == NULL)
    return;
  g_free (self->is_peer);
  g_free (self->is_outside);
  for (FabP2pMode mode = 0; mode < FAB_N_P2P_MODES; mode++) {
    g_free (self->one_way_GBps[mode]);
    g_free (self->both_ways_GBps[mode]);
    g_free (self->latency_us[mode]);
  }
  g_free (self);
}

/* --- band --- */

const double *
fab_p2p_matrix (const FabP2pTable *self, guint i)
{
  double *const *const kinds[] = { self->one_way_GBps, self->both_ways_GBps, self->latency_us };

  return kinds[i / FAB_N_P2P_MODES][i % FAB_N_P2P_MODES];
}

static void
copy_values (const FabP2pTable *self, double *values)
{
  gsize n_pairs = (gsize) self->n * self->n;

  for (guint i = 0; i < FAB_P2P_N_MATRICES; i++)
    memcpy (values + i * n_pairs, fab_p2p_matrix (self, i), n_pairs * sizeof *values);
}

static gboolean
play_table (gpointer owner, const FabWhatIf *what_if, double *values, GError **error)
{
  g_autoptr (FabPlant) plant = fab_plant_new (owner, what_if, error);
  g_autoptr (FabP2pTable) table = plant != NULL ? fab_p2p_new (&plant->cluster, error) : NULL;

  if (table != NULL)
    copy_values (table, values);
  return table != NULL;
}

gboolean
fab_p2p_band (const FabScenario *scenario, const FabPlant *plant, const FabP2pTable *self, FabBand **band,
              GError **error)
{
  guint n = FAB_P2P_N_MATRICES * self->n * self->n;
  g_autofree double *values = g_new (double, n);

  copy_values (self, values);
  return fab_band_of_links (scenario, plant->graph, values, n, play_table, (gpointer) scenario, band, error);
}

double *
fab_p2p_storage (const FabCluster *cluster, GError **error)
{
  g_autofree double *rates = g_new (double, (gsize) cluster->drives_per_node * cluster->gpus_per_node + 1);

  for (guint drive = 0; drive < cluster->drives_per_node; drive++)
    for (guint gpu = 0; gpu < cluster->gpus_per_node; gpu++) {
      FabHop hop;

      if (!fab_hop_storage (cluster, cluster->drives[drive], cluster->gpus[gpu], &hop, error))
        return NULL;
      rates[drive * cluster->gpus_per_node + gpu] = stream_GBps (cluster, &hop, 1);
      fab_hop_clear (&hop);
    }
  return g_steal_pointer (&rates);
}

/* --- the answer --- */

/* The value whose band is widest, as a share of it. */
static gint
widest_of (const FabP2pMatrix *self)
{
  double widest = 0;
  gint at = -1;

  for (guint i = 0; self->low != NULL && i < self->n_rows * self->n_columns; i++)
    if ((self->high[i] - self->low[i]) / self->values[i] > widest) {
      widest = (self->high[i] - self->low[i]) / self->values[i];
      at = (gint) i;
    }
  return at;
}

static void
fill_matrix (FabP2pAnswer *self, guint i)
{
  guint n = self->table->n, first = i * n * n;
  FabP2pMatrix *matrix = &self->matrices[i];

  *matrix = (FabP2pMatrix){ .n_rows = n, .n_columns = n, .values = fab_p2p_matrix (self->table, i) };
  if (self->band != NULL) {
    matrix->low = self->band->low + first;
    matrix->high = self->band->high + first;
  }
  matrix->widest = widest_of (matrix);
  if (matrix->widest >= 0)
    matrix->most = fab_band_most (self->band, first + (guint) matrix->widest);
}

FabP2pAnswer *
fab_p2p_answer (const FabScenario *scenario, const FabPlant *plant, gboolean has_storage, gboolean has_band,
                GError **error)
{
  const FabCluster *cluster = &plant->cluster;
  g_autoptr (FabP2pAnswer) self = g_new0 (FabP2pAnswer, 1);

  self->table = fab_p2p_new (cluster, error);
  if (self->table == NULL || (has_storage && (self->storage_GBps = fab_p2p_storage (cluster, error)) == NULL)
      || (has_band && !fab_p2p_band (scenario, plant, self->table, &self->band, error)))
    return NULL;
  for (guint i = 0; i < FAB_P2P_N_MATRICES; i++)
    fill_matrix (self, i);
  if (has_storage)
    self->storage = (FabP2pMatrix){ .n_rows = cluster->drives_per_node,
                                    .n_columns = cluster->gpus_per_node,
                                    .values = self->storage_GBps,
                                    .widest = -1 };
  for (guint i = 0; i < self->table->n * self->table->n; i++)
    self->n_outside += self->table->is_outside[i] ? 1 : 0;
  return g_steal_pointer (&self);
}

void
fab_p2p_answer_free (FabP2pAnswer *self)
{
  if (self == NULL)
    return;
  for (guint i = 0; i < FAB_P2P_N_MATRICES; i++)
    g_free (self->matrices[i].most);
  fab_p2p_free (self->table);
  fab_band_free (self->band);
  g_free (self->storage_GBps);
  g_free (self);
}
