/* SPDX-License-Identifier: Apache-2.0 */
/* p2p.h - what every pair of GPUs exchanges, as p2pBandwidthLatencyTest of the CUDA samples would print it.
 *
 * Bandwidth is that of copy engines, one pair at a time on an idle machine: each a stream over the pair's hop, both
 * directions one stream over two hops. "Disabled" is without peer access and GPUDirect RDMA: everything through
 * host memory. On the diagonal a GPU copies within its own memory, bytes counted twice, read and written.
 * Between nodes bytes go by RDMA, GPU to NIC to NIC to GPU. Where the link of the NICs says what a message takes,
 * from memory to memory, a copy is one message and a small write another.
 */
#pragma once

#include "sim/run/band.h"

typedef enum { FAB_P2P_DISABLED, FAB_P2P_ENABLED, FAB_N_P2P_MODES } FabP2pMode;

typedef struct {
  guint n; /* GPUs; all matrices are [n * n], row by row: from, to */
  guint gpus_per_node;
  gboolean *is_peer;                       /* reads the other's memory */
  double *one_way_GBps[FAB_N_P2P_MODES];   /* 1e9 bytes */
  double *both_ways_GBps[FAB_N_P2P_MODES]; /* sum of the two */
  double *latency_us[FAB_N_P2P_MODES];     /* of a small write */
  gboolean *is_outside; /* the copy or the write, of what was measured of the link between the nodes */
  gboolean has_sizes;   /* for some pair it is known what was measured */
} FabP2pTable;

enum { FAB_P2P_MAX_GPUS = 256, FAB_P2P_N_MATRICES = 3 * FAB_N_P2P_MODES };

/* NULL: some pair has no way at all, or there are more than FAB_P2P_MAX_GPUS. */
FabP2pTable *fab_p2p_new (const FabCluster *cluster, GError **error);
void fab_p2p_free (FabP2pTable *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (FabP2pTable, fab_p2p_free)

/* Matrix `i` of them: one way, both ways, latency, each disabled and then enabled. [n * n] */
const double *fab_p2p_matrix (const FabP2pTable *self, guint i);

/* Of all matrices one after another, as fab_p2p_matrix () counts them; *band NULL: nothing is uncertain. */
gboolean fab_p2p_band (const FabScenario *scenario, const FabPlant *plant, const FabP2pTable *self,
                       FabBand **band, GError **error);

/* From every drive of the first node to every GPU of it, GB/s: [drives_per_node * gpus_per_node], row by row. */
double *fab_p2p_storage (const FabCluster *cluster, GError **error);

/* A matrix with its band. */
typedef struct {
  guint n_rows, n_columns;
  const double *values;     /* row by row */
  const double *low, *high; /* NULL: nothing is uncertain */
  gint widest;              /* the value whose band is widest, relative to it; -1: there is none */
  char *most;               /* where most of that band comes from; NULL: there is none */
} FabP2pMatrix;

typedef struct {
  FabP2pTable *table;
  FabP2pMatrix matrices[FAB_P2P_N_MATRICES]; /* as fab_p2p_matrix () counts them */
  FabP2pMatrix storage;                      /* from drives to GPUs; no rows: not asked for */
  FabBand *band;                             /* NULL: not asked for, or nothing is uncertain */
  double *storage_GBps;
  guint n_outside; /* pairs of which a size lies outside what was measured */
} FabP2pAnswer;

/* Of a scenario and what was built of it. NULL and *error: see the functions above. (transfer full) */
FabP2pAnswer *fab_p2p_answer (const FabScenario *scenario, const FabPlant *plant, gboolean has_storage,
                              gboolean has_band, GError **error);
void fab_p2p_answer_free (FabP2pAnswer *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (FabP2pAnswer, fab_p2p_answer_free)
