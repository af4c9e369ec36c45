/* SPDX-License-Identifier: Apache-2.0 */
/* multicast.h - loads and stores through a switch that adds and copies between the GPUs of a node (NVLink SHARP).
 *
 * Each of the n heads, which are GPUs of the node, owns one n-th of the bytes. In a load each head reads its part from
 * all GPUs at once, and the switch adds what they send: per byte of size 1 byte leaves each GPU, and 1/n, the sum of
 * its part, arrives at each head. In a store each head writes its part to all GPUs, and the switch copies it: 1/n
 * leaves each head, and 1 arrives at each GPU. NCCL's heads are all GPUs of one node, and between nodes those that own
 * a NIC.
 */
#pragma once

#include "sim/collective/shape/send_graph.h"

/* Whether all GPUs of the group in this node are joined to one switch by links that can reduce; sets *centre to
 * it. */
gboolean fab_multicast_switch (const FabGroup *group, guint node, FabVertexId *centre);

/* Adds the sends of a load in node `node`, which must have such a switch. `heads` (guint) are local ranks; NULL: all.
 * Appends to list i of `sums` the send that brings GPU i, if it is a head, the sum of its part. FALSE and *error when
 * there is no path. */
gboolean fab_multicast_load (FabSendGraph *sends, const FabGroup *group, guint node, const GArray *heads,
                             const GPtrArray *sums, GError **error);

/* Adds the sends of a store: head i stores when the sends in list i of `ready` have ended. */
gboolean fab_multicast_store (FabSendGraph *sends, const FabGroup *group, guint node, const GArray *heads,
                              const GPtrArray *ready, GError **error);
