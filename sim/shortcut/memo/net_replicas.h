/* SPDX-License-Identifier: Apache-2.0 */
/* net_replicas.h - networks on which episodes (episodes.h) are played at the same time, each with an engine of its
 * own.
 *
 * The first replica is the network that the caller made. Others are made like it when they are needed, and are used
 * again.
 */
#pragma once

#include "sim/net/net.h"

typedef struct {
  FabEngine *engine;
  FabNet *net;
} FabNetReplica;

typedef struct _FabNetReplicas FabNetReplicas;

/* Borrows the network and its parameters. */
FabNetReplicas *fab_net_replicas_new (FabNet *net, gconstpointer params);
void fab_net_replicas_free (FabNetReplicas *self);

/* Lends a replica on which nothing is on its way. (transfer none) */
FabNetReplica *fab_net_replicas_take (FabNetReplicas *self);
void fab_net_replicas_give (FabNetReplicas *self, FabNetReplica *replica);

/* Sums over all replicas. */
guint64 fab_net_replicas_events (const FabNetReplicas *self);
guint64 fab_net_replicas_n_skipped (const FabNetReplicas *self);
