/* SPDX-License-Identifier: Apache-2.0 */
/* schedule_private.h - what is in a schedule: for schedule.c, which builds and plays it, and schedule_time.c. */
#pragma once

#include "sim/work/schedule.h"

#define NO_INDEX G_MAXUINT

/* What a message of one weight is to the network: hops have few weights, and messages are many. */
typedef struct {
  double weight;
  FabFootprint *footprint;
} Load;

typedef struct {
  FabHop hop;
  double net_stretch;
  guint last; /* message, or NO_INDEX */
  GArray *loads;
} Connection;

typedef struct {
  guint connection;
  guint load;       /* of its connection */
  guint n_before;   /* that it waits for, the one before it on its hop included */
  guint n_missing;  /* of them, while it plays */
  guint follower;   /* on its hop, or NO_INDEX */
  guint first_wait; /* first that waits for this one to arrive, or NO_INDEX */
  double
      port_weight; /* of all that go through its busier port at the same step; 0: not found yet, or inside a node */
  gboolean is_both; /* and another comes the other way meanwhile */
} Message;

/* One of those that wait for a message. */
typedef struct {
  guint message, next;
} Wait;

struct _FabSchedule {
  const FabCluster *cluster;
  GArray *connections, *messages, *waits;
  gboolean has_footprints, has_ways;
  FabNet *net; /* while it plays */
  FabBytes bytes;
  double wire_factor;
  FabDone done;
  guint n_left; /* that have not arrived */
};

static inline Connection *
connection_at (const FabSchedule *self, guint index)
{
  return &g_array_index (self->connections, Connection, index);
}

static inline Message *
message_at (const FabSchedule *self, guint index)
{
  return &g_array_index (self->messages, Message, index);
}
