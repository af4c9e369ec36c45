/* SPDX-License-Identifier: Apache-2.0 */
/* formats.h - the readers, one per format. Each reads the file that `bytes` is at into ranks of the trace. */
#pragma once

#include "models/format/trace/json.h"
#include "models/format/trace/trace.h"

/* JSON: the profiler of PyTorch (Kineto), PyTorch's execution trace, Chakra. */
gboolean fab_trace_read_json (FabTrace *trace, FabTraceBytes *bytes, GError **error);
/* Reads the value of `traceEvents`, whose bracket is next. `name` and `value` of the rest of the file. */
gboolean fab_trace_kineto_events (FabTrace *trace, FabTracedRank *rank, FabTraceJson *json);
gboolean fab_trace_kineto_ranks (FabTracedRank *rank, FabTraceJson *json);
gboolean fab_trace_kineto_devices (FabTracedRank *rank, FabTraceJson *json);
/* Reads the nodes of a graph in JSON. */
gboolean fab_trace_graph_nodes (FabTrace *trace, FabTracedRank *rank, FabTraceJson *json);

gboolean fab_trace_read_chakra (FabTrace *trace, FabTraceBytes *bytes, GError **error);
gboolean fab_trace_read_simai (FabTrace *trace, FabTraceBytes *bytes, GError **error);
gboolean fab_trace_read_aicb (FabTrace *trace, FabTraceBytes *bytes, GError **error);
gboolean fab_trace_read_goal (FabTrace *trace, FabTraceBytes *bytes, GError **error);
gboolean fab_trace_read_nccl_log (FabTrace *trace, FabTraceBytes *bytes, GError **error);
