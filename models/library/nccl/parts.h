/* SPDX-License-Identifier: Apache-2.0 */
/* parts.h - what the files of the nccl library share: its constants, and one way to run a collective.
 *
 * tables.c  constants, NCCL's own and measured ones
 * choose.c  the time that NCCL's tuner believes in; the smallest one runs
 * cost.c    the time that it takes
 * measured.c  bus bandwidths of the cluster that somebody has measured
 * nccl.c    parameters, candidates, the host
 */
#pragma once

#include "sim/work/collective.h"

typedef enum { NCCL_LL, NCCL_LL128, NCCL_SIMPLE, NCCL_N_PROTOCOLS } NcclProtocol;

extern const double nccl_wire_factors[NCCL_N_PROTOCOLS]; /* bytes sent per payload byte */

/* Constants of the tuner for one algorithm, microseconds per protocol: LL, LL128, Simple. 0: cannot run it. */
typedef struct {
  const char *algorithm; /* name of the algorithm model */
  double base_us[NCCL_N_PROTOCOLS];
  double nvlink_us[NCCL_N_PROTOCOLS]; /* a step over NVLink */
  double pci_us[NCCL_N_PROTOCOLS];    /* over PCIe and through the host */
  double net_us[NCCL_N_PROTOCOLS];    /* between nodes */
} NcclTuning;

/* What differs between GPUs. Bandwidths are GB/s; three of them are for 1, 2 and more nodes. */
typedef struct {
  const char *name;    /* an accelerator's `architecture` */
  gboolean is_rccl;    /* AMD: RCCL's step times */
  gboolean has_ll128;  /* 128 bytes of a warp arrive in order */
  guint generation;    /* compute capability, the first digit; 0 for others */
  double issue_us;     /* of the host, per GPU and collective, with computers of that time */
  guint most_channels; /* on one node */
  double ll_GBps[3];   /* all channels together */
  double ring_ll128_GBps, tree_ll128_GBps[3], tree_simple_GBps[3], nvls_tree_GBps[3]; /* per channel */
  /* Measured, in place of the tuner's base and NVLink steps when time is counted; 0: the tuner's are right. */
  double base_us[NCCL_N_PROTOCOLS], step_us[NCCL_N_PROTOCOLS];
} NcclArchitecture;

/* Never NULL: an unknown architecture has NCCL's most general numbers. */
const NcclArchitecture *nccl_architecture (const char *name);

/* NULL: NCCL has no such algorithm. */
const NcclTuning *nccl_tuning (const NcclArchitecture *architecture, const char *algorithm);

/* What the links of a form give, bytes of size per second; G_MAXDOUBLE: it has none of that kind. */
typedef struct {
  double node_bytes_per_s; /* nodes and their ports: NCCL's search does not look beyond */
  /* Between an accelerator and a switch of its node: what passes the one goes over the other, of every channel. */
  double every_bytes_per_s;
  double other_bytes_per_s; /* where each channel has links of its own */
} NcclWires;

/* One way to run a collective. */
typedef struct {
  const FabGroup *group;
  const NcclArchitecture *architecture;
  const NcclTuning *tuning;
  const FabCollectiveForm *form;
  NcclProtocol protocol;
  FabOp op;
  FabBytes bytes;
  guint n_ranks;
  guint most_channels, n_channels; /* that exist; that have enough to do */
  guint n_rails;                   /* rings that the links allow; between nodes, one per NIC */
  double busbw_GBps;               /* of the rings: what NCCL's search for channels finds */
  const NcclWires *wires;          /* of the form */
} NcclCandidate;

static inline gboolean
nccl_is (const NcclCandidate *self, const char *algorithm)
{
  return g_str_equal (self->tuning->algorithm, algorithm);
}

/* 0, 1, 2: one, two, more nodes. */
static inline guint
nccl_column (const FabGroup *group)
{
  return MIN (group->n_nodes - 1, 2);
}

/* choose.c: time in the tuner's eyes, microseconds. */
double nccl_tuner_us (const NcclCandidate *self);

/* What that is at least, whatever the form, which may be NULL here: it takes long to find. 0: nothing is known. */
double nccl_least_us (const NcclCandidate *self);

/* What the tuner thinks channels of a tree can carry at most, bytes of size per second: without its correction for
 * sizes that do not fill the tree. */
double nccl_tree_bytes_per_s (const NcclCandidate *self);

/* What the adapters add to a step between nodes, beyond those that NCCL's constants were measured with. */
double nccl_adapters_us (const NcclCandidate *self);

/* What one step between nodes costs the proxy thread at least, while others of the ring wait. */
double nccl_proxy_us (const NcclCandidate *self);

/* cost.c: startup, limit and wire factor of the plan. */
void nccl_cost (const NcclCandidate *self, FabCollectivePlan *plan);

/* measured.c: the table, and the rate of size that it gives a group; 0: it says nothing of it. */
typedef struct {
  gint op; /* FabOp */
  gint64 nodes;
  FabBytesPerS busbw_bytes_per_s;
} NcclMeasured;

extern const FabParam nccl_measured_params[];
double nccl_measured_bytes_per_s (const FabParamList *rows, const FabGroup *group, FabOp op);

/* wires.c: looked at once, O(links); `known` keeps them (NcclWires by form). */
const NcclWires *nccl_wires (GHashTable *known, const FabGroup *group, const FabCollectiveForm *form);
