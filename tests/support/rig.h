/* SPDX-License-Identifier: Apache-2.0 */
/* rig.h - clusters built by hand, for tests below the scenario, and a network with a clock.
 *
 * A node is a star: every GPU and every NIC on one switch. The NICs of all nodes are on one
 * switch that never blocks. A ring all-reduce over it puts 2(n-1)/n bytes per byte on every GPU's
 * link and, over k NICs per node, 2(n-1)/n / k on every NIC's: the closed forms of the tests.
 */
#pragma once

#include "models/models.h"
#include "sim/collective/collective.h"
#include "sim/collective/play/play.h"
#include "sim/net/net.h"
#include "tests/support/params.h"

typedef struct {
  guint n_nodes, gpus_per_node, nics_per_node;
  gboolean has_network_star; /* the switch of the GPUs is one of the network, and not of their node */
  FabBytesPerS gpu_bytes_per_s, nic_bytes_per_s; /* nic: between the NIC and the fabric's switch */
  FabTimePs gpu_latency_ps, nic_latency_ps;
  double gpu_cost, nic_cost;         /* line bytes per byte, both drives; 0: 1 */
  gboolean gpus_reduce, nics_reduce; /* the switch that they are on does */
  FabInlined nic_inlined;            /* of the ports */
  FabTimePs nic_software_match_ps;   /* of the ports */
  gint64 nodes_per_leaf;             /* of a rail fabric; 0: one switch for all NICs */
  const char *algorithm;             /* that `plain` takes; NULL: the first that can */
} RigSpec;

typedef struct {
  RigSpec spec;
  FabGraph *graph;
  FabRouter *router;
  FabCluster cluster;
  Params *plain_params;
  FabLibrary *plain;
} Rig;

Rig *rig_new (const RigSpec *spec);
/* GPUs at 1 byte per ps, without latency or costs, on one switch. */
Rig *rig_new_flat (guint n_gpus);
void rig_free (Rig *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (Rig, rig_free)

FabGroup rig_group (const Rig *self);
FabVertexId rig_gpu (const Rig *self, guint rank);

/* What `plain` makes of a collective over all ranks. */
FabCollectivePlan rig_plan (Rig *self, FabOp op, FabBytes bytes);

/* Steps in sequence inside nodes and between them, and the time of the textbook for `plan`. */
FabTimePs rig_ring_latency_ps (const Rig *self, FabOp op);
double rig_ring_rate_bytes_per_s (const Rig *self, FabOp op);

/* Time of an algorithm's schedule of n_chunks on the idle rig; what links carried into `loads` (one per link). */
FabTimePs rig_time_schedule (const Rig *self, const FabAlgorithmOps *algorithm, FabOp op, FabBytes bytes,
                             guint n_chunks, FabLinkLoad *loads);

/* Time of a schedule on the idle rig; what links carried into `loads` (one per link; NULL: nobody asks). */
FabTimePs rig_play (const Rig *self, FabSchedule *schedule, FabBytes bytes, FabLinkLoad *loads);

/* A network on the rig, with its own clock. */
typedef struct {
  FabEngine *engine;
  FabNet *net;
  Params *params;
} RigNet;

RigNet rig_net (const Rig *self, const FabNetOps *ops);
RigNet rig_net_with (const Rig *self, const FabNetOps *ops, const char *yaml); /* parameters of the model */
void rig_net_clear (RigNet *self);

/* Plays one stream or transfer on an empty network and returns when it ended. */
FabTimePs rig_time_stream (const Rig *self, const FabNetOps *ops, FabStream stream);
FabTimePs rig_time_send (const Rig *self, const FabNetOps *ops, FabTransfer transfer);
