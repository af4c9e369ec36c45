/* SPDX-License-Identifier: Apache-2.0 */
/* search.c - NCCL's search for channels, where all GPUs of a node reach each other over NVLink (search.h).
 *
 * Sources: NVIDIA/nccl src/graph/search.cc: speedArrayIntra, speedArrayInter and their sm90 and sm100 variants,
 * ncclTopoDupChannels, ncclTopoCompute; src/graph/topo.h: SM60_NVLINK_BW and the others; src/graph/connect.cc:
 * ncclTopoPostset; src/init.cc: minChannels and maxChannels. Read in 2.16.5, 2.18.6 and every line from 2.19 to 2.30.7.
 *
 * What limits the channels between nodes in 2.30.7: at most half of MAXCHANNELS in the search (init.cc:1177), and
 * of them those that the speeds of adapters and the NVLinks hold; then MAXCHANNELS, NCCL_MAX_NCHANNELS and maxCTAs
 * (connect.cc, ncclTopoPostset). The connections that an adapter allows (`maxconn`) are read, and no search looks
 * at them (topo.cc:424). The time of a search ends at 2^8 steps with equal channels, and at 2^14 with any, which
 * find what fits here (search.cc:332-335).
 *
 *   pass 1   the speed out of the list with the most channels x speed, from the top until one is below 0.49 of the best
 *   twice    as many channels of half the speed, where a channel has 25 GB/s or more; from Hopper on only where it has
 *            50, or where there are at most 4
 *   pass 2   higher speeds for the same channels: rings both speeds, trees the one inside nodes, NVLS the one between
 */
#include "models/library/nccl/search.h"

#include <math.h>

typedef enum { RING, TREE, NVLS } Pattern;

/* --- lists --- */

typedef struct {
  guint generation;               /* from this one on */
  guint version;                  /* from this one on */
  const double *inside, *between; /* descending; 0 ends them */
} Speeds;

#define LIST(...) ((const double[]){ __VA_ARGS__, 0 })

/* The last row that applies counts. */
static const Speeds speeds[] = {
  { 0, 0, LIST (44, 30, 22, 18, 15, 12, 10, 9, 7, 6, 5, 4, 3),
    LIST (48, 30, 28, 24, 22, 18, 15, 12, 10, 9, 7, 6, 5, 4, 3, 2.4, 1.2, .24, .12) },
  { 0, 21700, LIST (40, 30, 20, 18, 15, 12, 10, 9, 7, 6, 5, 4, 3),
    LIST (48, 30, 28, 24, 20, 18, 15, 12, 10, 9, 7, 6, 5, 4, 3, 2.4, 1.2, .24, .12) },
  { 9, 0, LIST (66, 33, 24, 20, 15, 12, 6, 3), LIST (48, 45, 30, 24, 15, 12, 6, 3, 2.4, 1.2, .24, .12) },
  { 9, 21700, LIST (60, 40, 30, 24, 20, 15, 12, 6, 3),
    LIST (48, 45, 42, 40, 30, 24, 20, 17.5, 15, 12, 6, 3, 2.4, 1.2, .24, .12) },
  { 9, 22000, LIST (60, 50, 40, 30, 24, 20, 15, 12, 6, 3),
    LIST (48, 45, 42, 40, 30, 24, 22, 20, 17.5, 15, 12, 6, 3, 2.4, 1.2, .24, .12) },
  { 9, 22200, LIST (60, 50, 40, 30, 24, 20, 15, 12, 11, 6, 3),
    LIST (48, 45, 42, 40, 30, 24, 22, 20, 17.5, 15, 12, 6, 3, 2.4, 1.2, .24, .12) },
  { 10, 22500, LIST (90, 80, 70, 60, 50, 40, 30, 24, 20, 19),
    LIST (48, 45, 42, 40, 30, 24, 22, 20, 17.5, 15, 12, 6, 3, 2.4, 1.2, .24, .12) },
  { 10, 22703, LIST (90, 80, 70, 60, 50, 40, 30, 24, 20, 19, 18),
    LIST (47.9, 45, 42, 40, 30, 24, 22, 20, 17.5, 15, 12, 6, 3, 2.4, 1.2, .24, .12) },
  { 10, 22705, LIST (90, 80, 70, 60, 50, 40, 30, 24, 20, 19, 18),
    LIST (96, 48, 45.1, 42, 40, 30, 24, 22, 20, 17.5, 15, 12, 6, 3, 2.4, 1.2, .24, .12) },
  { 10, 22902, LIST (90, 80, 70, 60, 50, 45, 40, 30, 24, 20, 19, 18),
    LIST (96, 48, 45.1, 42, 40, 30, 24, 22, 20, 17.5, 15, 12, 6, 3, 2.4, 1.2, .24, .12) },
  { 10, 22907, LIST (90, 80, 70, 60, 50, 45, 40, 30, 24, 20, 19, 18),
    LIST (96, 80, 48, 45.1, 42, 40, 30, 24, 22, 20, 17.5, 15, 12, 6, 3, 2.4, 1.2, .24, .12) },
  { 10, 23003, LIST (90, 80, 70, 60, 50, 45, 40, 30, 24, 20, 19, 18),
    LIST (96, 86, 80, 48, 45.1, 42, 40, 30, 24, 22, 20, 17.5, 15, 12, 6, 3, 2.4, 1.2, .24, .12) },
};

static const double *
speeds_of (const NcclSystem *system, guint version)
{
  const double *list = NULL;

  for (guint i = 0; i < G_N_ELEMENTS (speeds); i++)
    if (system->generation >= speeds[i].generation && version >= speeds[i].version)
      list = system->n_nodes > 1 ? speeds[i].between : speeds[i].inside;
  return list;
}

double
nccl_link_GBps (guint generation, guint version)
{
  if (generation >= 10)
    return version >= 22705 ? 40.1 : 40.0;
  if (generation == 9)
    return version >= 22000 ? 20.6 : version >= 21700 ? 20.0 : 22.0;
  if (generation == 7 || generation == 8)
    return version >= 21700 ? 20.0 : 22.0;
  return generation == 6 ? 18.0 : 0;
}

/* NVLink 1, NVLink 2 to 4, NVLink 5. */
double
nccl_link_rate_GBps (guint generation)
{
  return generation >= 10 ? 50 : generation >= 7 ? 25 : 20;
}

/* A bandwidth that fits may be used up to the last digit. */
static const double rounding = 1e-6;

/* --- adapters --- */

/* In Gb/s: lanes of 2.5, 5, 10, 14, 25, 50, 100 and 200 (v2.30.7, src/transport/net_ib/init.cc:116-127), one, two and
 * four of them, and Ethernet's. Sockets read the speed of the interface (net_socket.cc). Since 2.30.3 InfiniBand asks
 * ibv_query_port_speed first, in steps of 100 Mb/s. */
static const double reported_Gbps[] = { 0.1, 1, 2.5, 5, 10, 14, 20, 25, 28, 40, 50, 56, 100, 200, 400, 800 };

/* Of 8 and 12 lanes, which are in NCCL's table too, and of which no adapter is known. */
static const double wide_Gbps[] = { 30, 60, 112, 120, 168, 300, 600 };

double
nccl_reported_GBps (double rate_GBps, gboolean is_own)
{
  const double above =
      1.05; /* by which a measured rate, or the end of its band, may be above the adapter's */

  for (guint i = 0; is_own && i < G_N_ELEMENTS (wide_Gbps); i++)
    if (fabs (8 * rate_GBps / wide_Gbps[i] - 1) < rounding)
      return rate_GBps;
  for (guint i = 0; i < G_N_ELEMENTS (reported_Gbps); i++)
    if (rate_GBps <= reported_Gbps[i] / 8 * above)
      return reported_Gbps[i] / 8;
  return rate_GBps;
}

/* --- the search --- */

typedef struct {
  const NcclSystem *system;
  Pattern pattern;
  const double *list;
  guint least, most; /* channels that a graph must have, and may */
  double total_GBps; /* of the links of a GPU; a graph that has it is good enough */
} Search;

/* Channels of that speed that fit into the NVLinks of every GPU. A ring passes all GPUs and comes back. A tree's chain
 * ends in a GPU, another one for each channel. For each head of NVLS every GPU sends and receives once, and the head
 * twice. */
static guint
most_inside (const Search *self, double GBps)
{
  const NcclSystem *system = self->system;
  double n = system->link_GBps / GBps + rounding;

  if (system->n_gpus == 1)
    return self->most;
  if (self->pattern == TREE)
    n = n * system->n_gpus / (system->n_gpus - 1);
  else if (self->pattern == NVLS)
    n -= 1;
  return n < 0 ? 0 : (guint) MIN (n, self->most);
}

/* The same for the adapters: a NIC carries whole channels. A head of NVLS has a NIC of its own. */
static guint
most_between (const Search *self, double GBps)
{
  const NcclSystem *system = self->system;
  guint each = (guint) (system->nic_GBps / GBps + rounding);

  if (system->n_nodes == 1)
    return self->most;
  return self->pattern == NVLS ? (each > 0 ? system->n_nics : 0) : system->n_nics * each;
}

static guint
most_channels (const Search *self, double intra_GBps, double inter_GBps)
{
  guint n = MIN (most_inside (self, intra_GBps), most_between (self, inter_GBps));

  return n < self->least ? 0 : MIN (n, self->most);
}

static gboolean
is_better (const Search *self, const NcclGraph *graph, const NcclGraph *best)
{
  if (self->pattern == NVLS)
    return graph->n > best->n || graph->n * graph->inter_GBps > best->n * best->inter_GBps;
  return graph->n * graph->intra_GBps > best->n * best->intra_GBps;
}

static NcclGraph
first_pass (const Search *self)
{
  const double *list = self->list;
  NcclGraph best = { 0 };
  double most_GBps = self->system->n_nodes > 1 ? self->system->nic_GBps : self->system->link_GBps;
  double total_GBps = self->total_GBps;
  guint n_gpus = self->system->n_gpus, i = 0;

  if (self->pattern != RING && n_gpus > 1)
    total_GBps *= (double) n_gpus / (n_gpus - 1);
  while (list[i + 1] > 0 && (list[i] > most_GBps || list[i] * self->least > total_GBps))
    i++;
  for (; list[i] > 0; i++) {
    NcclGraph graph = { most_channels (self, list[i], list[i]), list[i], list[i] };

    if (best.n > 0 && list[i] / best.inter_GBps <= 0.49)
      break;
    if (graph.n > 0 && is_better (self, &graph, &best)) {
      best = graph;
      if (graph.n == self->most)
        break;
    }
    if (best.n * best.inter_GBps >= self->total_GBps)
      break;
  }
  return best;
}

static void
duplicate (const Search *self, NcclGraph *graph)
{
  gboolean is_new = self->system->generation >= 9;
  guint n = MIN (2 * graph->n, self->most);

  if (self->pattern == NVLS || graph->n == 0 || graph->intra_GBps < 25
      || (is_new && graph->intra_GBps < 50 && graph->n > 4))
    return;
  guint parts = (n + graph->n - 1) / graph->n;
  *graph = (NcclGraph){ n, graph->intra_GBps / parts, graph->inter_GBps / parts };
}

/* One speed higher at a time, as long as the channels still fit. */
static void
second_pass (const Search *self, NcclGraph *graph)
{
  guint i = 0;

  while (self->list[i + 1] > 0 && self->list[i] > graph->inter_GBps)
    i++;
  if (self->pattern != RING && self->list[i] != graph->inter_GBps)
    return; /* NCCL goes on from a listed speed only */
  while (graph->n > 0 && i-- > 0) {
    NcclGraph next = *graph;

    if (self->pattern == NVLS) {
      if (graph->inter_GBps >= 2 * graph->intra_GBps)
        return;
      next.inter_GBps = self->list[i];
    } else {
      if (self->pattern == TREE && graph->intra_GBps >= 2 * graph->inter_GBps)
        return;
      next.intra_GBps = self->list[i];
      if (self->pattern == RING)
        next.inter_GBps = self->list[i];
    }
    if (most_channels (self, next.intra_GBps, next.inter_GBps) < graph->n)
      return;
    *graph = next;
  }
}

static NcclGraph
find (const NcclSystem *system, guint version, Pattern pattern, guint least, guint most)
{
  Search self = { .system = system,
                  .pattern = pattern,
                  .list = speeds_of (system, version),
                  .least = least,
                  .most = most,
                  .total_GBps = system->link_GBps };
  NcclGraph graph = first_pass (&self);

  duplicate (&self, &graph);
  second_pass (&self, &graph);
  return graph;
}

/* NVLS came with 2.17 for up to 8 heads, NVLS over 32 with 2.21. On one node every GPU is a head. */
static NcclGraph
find_nvls (const NcclSystem *system, guint version)
{
  guint most = MIN (system->n_gpus, version >= 22100 ? 32 : 8);

  if (system->generation < 9 || version < 21700 || system->n_gpus < 2)
    return (NcclGraph){ 0 };
  return find (system, version, NVLS, system->n_nodes == 1 ? most : 1, most);
}

/* MAXCHANNELS (src/include/device.h). */
static guint
most_of_version (guint version)
{
  return version >= 22500 ? 64 : 32;
}

/* Every channel of the search becomes two, and on Hopper and later GPUs four, where the ring between nodes is fast and
 * there would be fewer than 16 (ncclTopoPostset). */
static guint
count_channels (const NcclSystem *system, guint version, const NcclGraph *ring)
{
  guint most = most_of_version (version), n = MIN (2 * ring->n, most);

  return system->generation >= 9 && system->n_nodes > 1 && ring->intra_GBps > 45 && n < 16 ? MIN (2 * n, most)
                                                                                           : n;
}

void
nccl_search (const NcclSystem *system, guint version, NcclSearch *search)
{
  *search = (NcclSearch){ .ring = find (system, version, RING, 1, most_of_version (version) / 2) };
  search->tree = find (system, version, TREE, search->ring.n, search->ring.n);
  search->nvls = find_nvls (system, version);
  search->n_channels = count_channels (system, version, &search->ring);
  search->follows_rates = system->n_nodes > 1;
}
