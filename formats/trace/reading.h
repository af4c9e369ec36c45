/* SPDX-License-Identifier: Apache-2.0 */
/* reading.h - what readers of traces share. Each reads the file that `bytes` is at into ranks of the trace. */
#pragma once

#include "formats/format.h"
#include "formats/text/json.h"
#include "formats/trace/trace.h"

/* Reads a value: a whole number of `least` or more, which is written as a number or as a text. Another value leaves
 * *value as it is. FALSE: the file is broken here. */
gboolean fab_trace_read_whole (FabFileJson *json, gint64 least, gint64 *value);

/* Reads the value of `traceEvents`, whose bracket is next. `name` and `value` of the rest of the file. */
gboolean fab_trace_kineto_events (FabTrace *trace, FabTracedRank *rank, FabFileJson *json);
gboolean fab_trace_kineto_ranks (FabTracedRank *rank, FabFileJson *json);
gboolean fab_trace_kineto_devices (FabTracedRank *rank, FabFileJson *json);
/* What a node of PyTorch's execution trace says of a collective. */
typedef struct {
  char name[64]; /* "allreduce", "wait"; "": it is no collective */
  char group[64], description[128];
  gint64 rank;                /* within the group; -1: not said */
  double in_bytes, out_bytes; /* of the tensors */
  double in_elements, out_elements;
  guint item_bytes; /* of an element; 0: the attributes do not say */
  guint n_ranks;    /* 0: not said */
} FabTraceGraphCall;

/* Reads the value of `inputs` or `outputs`, and adds the bytes of its tensors. */
gboolean fab_trace_graph_values (FabFileJson *json, FabTraceGraphCall *call, double *bytes);
gboolean fab_trace_graph_attributes (FabFileJson *json, FabTraceGraphCall *call);
/* FALSE: the call moves nothing, such as "wait". */
gboolean fab_trace_graph_comm (FabTrace *trace, const FabTraceGraphCall *call, FabTraceComm *comm);
/* FALSE: the launch is not in the trace. */
gboolean fab_trace_launch_of (const FabTracedRank *rank, const FabTraceOp *op, FabTimePs *at_ps);
/* Gives every operation of a rank its step, and sorts the steps. Operations and launches are sorted already. */
void fab_trace_find_steps (FabTrace *trace, FabTracedRank *rank);
/* Gives timed ranks the sizes of their collectives from execution traces of the same ranks, and drops these. */
void fab_trace_join (FabTrace *trace);
/* Reads the nodes of a graph in JSON. */
gboolean fab_trace_graph_nodes (FabTrace *trace, FabTracedRank *rank, FabFileJson *json);

/* Gives collectives of the example profiler the number of ranks, and gathers and scatters the size of all. */
void fab_trace_count_communicators (FabTrace *trace);

/* Whether a kernel is one of NCCL or RCCL. */
gboolean fab_trace_is_communication (const char *kernel);
/* Names of C++ kernels have hundreds of characters: those of NCCL lose their arguments, others all after the 160th. */
const char *fab_trace_kernel_name (FabTrace *trace, const char *full);
