/* SPDX-License-Identifier: Apache-2.0 */
/* cluster.h - where ranks and NICs are in the assembled graph, as a job sees it.
 *
 * Rank r is accelerator r % gpus_per_node of node r / gpus_per_node. A cluster owns its arrays and borrows graph and
 * router. After fab_cluster_measure () it is read-only.
 */
#pragma once

#include "sim/base/clock.h"
#include "sim/base/units.h"
#include "sim/fabric/generation.h"
#include "sim/fabric/processor.h"
#include "sim/fabric/reach.h"
#include "sim/fabric/router.h"

/* Number formats in which matrices are multiplied. */
typedef enum {
  FAB_PRECISION_BF16,
  FAB_PRECISION_FP16,
  FAB_PRECISION_FP32,
  FAB_PRECISION_TF32,  /* FP32 in memory, multiplied with shorter mantissas (NVIDIA Ampere and later) */
  FAB_PRECISION_FP8,   /* one scale for a whole tensor */
  FAB_PRECISION_MXFP8, /* FP8 with a scale of 1 B for every 32 numbers (OCP microscaling) */
  FAB_PRECISION_NVFP4, /* FP4 with an FP8 scale for every 16 numbers */
  FAB_N_PRECISIONS
} FabPrecision;

extern const char *const fab_precision_names[FAB_N_PRECISIONS + 1]; /* "bf16", ...; NULL-ended */

/* Returns the size of one number in whole bytes, without the scales of blocks. */
FabBytes fab_precision_bytes (FabPrecision precision);

/* Returns the bytes of one operand of a matrix multiplication, with its share of the scales. */
double fab_precision_operand_bytes (FabPrecision precision);

/* Whether only the linear layers of blocks are multiplied in this format, and all else in BF16, as
 * TransformerEngine does. */
gboolean fab_precision_is_low (FabPrecision precision);

typedef struct {
  const char *architecture;                  /* "ampere", "hopper": the key of constants; NULL: unknown */
  double peak_flops_per_s[FAB_N_PRECISIONS]; /* dense; 0: not supported */
  /* Share of the peak that the best matrix multiplication reaches; 0: unknown. */
  double matmul_fraction;
  guint n_sms; /* streaming multiprocessors or compute units; 0: unknown */
  FabBytes memory_bytes;
  FabBytesPerS memory_bytes_per_s;
  double cap_fraction;   /* power cap, as a share of the board's power; 0 or 1: none */
  FabCappedClock capped; /* under that cap */
  FabClockBand cap_band; /* how far off its slow-down may be */
} FabDevice;

/* How many times as long kernels that multiply matrices take because power is capped; 1: it is not. */
double fab_device_slowdown (const FabDevice *self);

/* Returns fab_device_peak at the clock that the power cap leaves. */
double fab_device_rate (const FabDevice *self, FabPrecision precision);

/* Returns the rate at which the device multiplies numbers of this format, in FLOP/s. A format without a matrix unit
 * has the rate of the format to which it is widened (NVFP4 to FP8, MXFP8 to FP8, FP8 to BF16, TF32 to FP32). */
double fab_device_peak (const FabDevice *self, FabPrecision precision);

typedef struct _FabUneven FabUneven;

typedef struct {
  const FabGraph *graph;
  FabRouter *router;
  guint n_nodes, gpus_per_node, nics_per_node, drives_per_node;
  guint nic_ports;     /* of one of these NICs; more than 1 only where it uses them together */
  FabVertexId *gpus;   /* [n_nodes * gpus_per_node] */
  FabVertexId *nics;   /* [n_nodes * nics_per_node] */
  FabVertexId *drives; /* [n_nodes * drives_per_node] */
  /* [gpus_per_node * nics_per_node] links from GPU to NIC in any node; G_MAXUINT: there is no path. */
  guint *nic_hops;
  const char *node_name;           /* its entry in the catalogue; NULL: it has none */
  const char *architecture;        /* of the accelerators: the key of library constants */
  const char *plugin;              /* network plug-in of the collective library; NULL: none */
  gboolean has_software_matching;  /* a processor matches messages with receives, and not the adapter */
  FabDevice device;                /* one accelerator */
  const FabGeneration *generation; /* of the accelerators; fab_generation_unknown where it has no entry */
  const FabProcessor *processor;   /* of the sockets */
  FabReach p2p,
      gdr; /* the farthest pair of GPUs, and of GPU and NIC, that communicates without host memory */
  FabReach pair_p2p; /* as p2p, where it is farther, and at most two GPUs of a node take part */
  /* Bytes may go by the GPU near the right NIC (PXN): sim/machine/rails.h. */
  gboolean has_relays;
  /* A node may consist of boards, such as the trays of a rack: accelerators and NICs of one board, which are numbered
   * board by board. The k-th NICs of all boards are on one rail. 0: a node is one board. */
  guint gpus_per_board, nics_per_board;
  gboolean has_gds; /* drives write directly into GPU memory (GPUDirect Storage) */
  /* NULL: every node has gpus_per_node ranks, at the same places. Otherwise the cluster stands for a group of ranks;
   * gpus_per_node is the most of any node, and nic_hops is NULL: the shapes have them. */
  FabUneven *uneven;
} FabCluster;

/* Which ranks an uneven cluster has in which node. Nodes with ranks at the same places have the same shape. */
struct _FabUneven {
  guint *starts; /* [n_nodes + 1] the first rank of each node */
  guint *shapes; /* [n_nodes] index into `nodes` */
  guint n_shapes;
  FabCluster *nodes; /* [n_shapes] the first node of each shape, as an even cluster of one node */
};

/* Computes what follows from the positions of ranks and NICs. Call it when all members except `nic_hops` are set.
 * Nodes are symmetric, so only the first one is examined. It counts the links of the router's paths. */
void fab_cluster_measure (FabCluster *self);

/* Makes `view` a cluster that consists of these nodes only, in this order (ascending). `cluster` must be measured.
 * Clear the view after use. */
void fab_cluster_view (FabCluster *view, const FabCluster *cluster, const guint *nodes, guint n_nodes);

/* Makes `view` a cluster of these ranks of `cluster` only (ascending): of the nodes in which they are, with their GPUs
 * and all NICs. It is uneven unless every node has as many of them, at the same places. Clear the view after use. */
void fab_cluster_view_ranks (FabCluster *view, const FabCluster *cluster, const guint *ranks, guint n);

/* Returns the index of a vertex in `nics`; G_MAXUINT: it is not a NIC of the cluster. */
guint fab_cluster_find_nic (const FabCluster *self, FabVertexId vertex);

/* Returns the distance of two vertices on the router's path, and that path; FAB_N_REACHES, which is more than any
 * distance, when there is no path, or when a link on it does not let devices reach each other's memory. */
FabReach fab_cluster_reach (const FabCluster *self, FabVertexId from, FabVertexId to, FabPath *path);

/* Frees the arrays; graph and router belong to others. */
void fab_cluster_clear (FabCluster *self);

static inline guint
fab_cluster_nic_hops (const FabCluster *self, guint local, guint nic)
{
  return self->nic_hops[(gsize) local * self->nics_per_node + nic];
}

static inline guint
fab_cluster_n_ranks (const FabCluster *self)
{
  return self->n_nodes * self->gpus_per_node;
}

/* Ranks that take part in a collective: whole or partial nodes, all with the same local ranks; or all ranks of an
 * uneven cluster. */
typedef struct {
  const FabCluster *cluster;
  guint n_nodes; /* the first n_nodes nodes of the cluster */
  guint
      gpus_per_node; /* the first gpus_per_node accelerators of each node; the most of any where they are uneven */
} FabGroup;

static inline guint
fab_group_n_ranks (const FabGroup *self)
{
  const FabUneven *uneven = self->cluster->uneven;

  return uneven != NULL ? uneven->starts[self->n_nodes] : self->n_nodes * self->gpus_per_node;
}

/* Returns how many ranks of the group are in a node. */
static inline guint
fab_group_n_locals (const FabGroup *self, guint node)
{
  const FabUneven *uneven = self->cluster->uneven;

  return uneven != NULL ? uneven->starts[node + 1] - uneven->starts[node] : self->gpus_per_node;
}

static inline FabVertexId
fab_group_gpu (const FabGroup *self, guint node, guint local)
{
  const FabUneven *uneven = self->cluster->uneven;
  guint first = uneven != NULL ? uneven->starts[node] : node * self->cluster->gpus_per_node;

  return self->cluster->gpus[first + local];
}

/* Returns the node of a rank, and its number there. */
guint fab_group_node_of (const FabGroup *self, guint rank, guint *local);

/* How many shapes the nodes of a group have, and which one a node has. An even group has one. */
static inline guint
fab_group_n_shapes (const FabGroup *self)
{
  return self->cluster->uneven != NULL ? self->cluster->uneven->n_shapes : 1;
}

static inline guint
fab_group_shape (const FabGroup *self, guint node)
{
  return self->cluster->uneven != NULL ? self->cluster->uneven->shapes[node] : 0;
}

/* Returns an even group for questions about the inside of nodes of a shape: which rank is next to which NIC. Of an even
 * group it is the group itself, of an uneven one the first node of that shape. */
static inline FabGroup
fab_group_of_shape (const FabGroup *self, guint shape)
{
  const FabUneven *uneven = self->cluster->uneven;

  return uneven != NULL ? (FabGroup){ &uneven->nodes[shape], 1, uneven->nodes[shape].gpus_per_node } : *self;
}

static inline FabVertexId
fab_group_nic (const FabGroup *self, guint node, guint nic)
{
  return self->cluster->nics[node * self->cluster->nics_per_node + nic];
}
