/* SPDX-License-Identifier: Apache-2.0 */
/* flows.h - messages between two ranks, as RDMA writes, for jobs that move memory instead of calling a library. */
#pragma once

#include "sim/execution/workload.h"

enum { FLOWS_MAX = 1000000 };

typedef struct {
  const FabWorkloadEnv *env;
  FabDagBuilder *builder;
  FabFootprintBuilder *footprints;
  FabTimePs message_ps; /* software's and adapter's time for each message of a flow */
  guint n_flows;
} Flows;

/* One flow, cut into messages that are posted one after another. */
typedef struct {
  guint rank_class, target_class; /* of sender and receiver, both of which communicate */
  guint from, to;
  FabBytes bytes;         /* at least 1 */
  double message_bytes;   /* of one message; 0: the flow is one message */
  guint n_beside;         /* flows that the sender feeds at the same time, this one among them */
  FabTimePs setup_ps;     /* before the first message */
  FabTaskId start;        /* of the iteration: the receiver is ready from then on */
  const FabTaskId *after; /* that must have ended before the sender sends; NULL: none */
} Flow;

/* The streams of two ranks, on which their flows follow one another. */
typedef struct {
  guint sends, receives;
  gboolean is_there; /* FALSE before the first flow */
} FlowStreams;

/* Adds a flow, and the streams of its ranks if they are not there. FALSE and *error where no path leads there, or there
 * are more than FLOWS_MAX. */
gboolean flows_add (Flows *self, const Flow *flow, FlowStreams *streams, GError **error);
