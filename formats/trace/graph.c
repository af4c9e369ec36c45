/* SPDX-License-Identifier: Apache-2.0 */
/* graph.c - JSON traces: which of them a file is, and the nodes of graphs: Chakra as JSON and PyTorch's execution trace
 * (torch.profiler.ExecutionTraceObserver; param's et_replay reads it). */
#include <string.h>

#include "formats/trace/reading.h"
#include "sim/base/error.h"

enum { TYPE_MEM_LOAD = 2, TYPE_MEM_STORE, TYPE_COMP, TYPE_SEND, TYPE_RECV, TYPE_COLL };

static gboolean
read_deps (FabTracedRank *rank, FabTraceNode *node, FabFileJson *json)
{
  FabFileJsonToken token = fab_file_json_next (json);
  gint64 id;

  if (token == FAB_FILE_JSON_NUMBER) { /* PyTorch's execution trace: the one parent */
    if (fab_trace_parse_whole (json->text, &id) && id >= 0) {
      g_array_append_val (rank->deps, id);
      node->n_deps++;
    }
    return TRUE;
  }
  if (token != FAB_FILE_JSON_ARRAY)
    return fab_file_json_skip_from (json, token);
  while ((token = fab_file_json_next (json)) == FAB_FILE_JSON_NUMBER) {
    if (!fab_trace_parse_whole (json->text, &id) || id < 0)
      return fab_file_json_fail (json, "a dependency is not the id of a node");
    g_array_append_val (rank->deps, id);
    node->n_deps++;
  }
  return token == FAB_FILE_JSON_ARRAY_END
      || fab_file_json_fail (json, "a dependency is not the id of a node");
}

static gboolean
read_name (FabFileJson *json, char *to, gsize size)
{
  FabFileJsonToken token = fab_file_json_next (json);

  if (token == FAB_FILE_JSON_TEXT)
    g_strlcpy (to, json->text, size);
  return fab_file_json_skip_from (json, token);
}

typedef struct {
  gint64 id, type, runtime_us, comm_bytes;
  char name[FAB_FILE_TEXT_BYTES + 1];
  FabTraceGraphCall call;
} Fields;

static gboolean
read_field (FabTracedRank *rank, FabTraceNode *node, FabFileJson *json, Fields *fields)
{
  const char *key = json->text;

  if (g_ascii_strcasecmp (key, "id") == 0)
    return fab_trace_read_whole (json, G_MININT64, &fields->id);
  if (g_ascii_strcasecmp (key, "name") == 0)
    return read_name (json, fields->name, sizeof fields->name);
  if (strcmp (key, "NodeType") == 0)
    return fab_trace_read_whole (json, G_MININT64, &fields->type);
  if (strcmp (key, "runtime") == 0)
    return fab_trace_read_whole (json, G_MININT64, &fields->runtime_us);
  if (strcmp (key, "comm_size") == 0)
    return fab_trace_read_whole (json, G_MININT64, &fields->comm_bytes);
  if (strcmp (key, "ctrlDeps") == 0 || strcmp (key, "ctrl_deps") == 0 || strcmp (key, "data_deps") == 0
      || strcmp (key, "parent") == 0)
    return read_deps (rank, node, json);
  if (strcmp (key, "inputs") == 0)
    return fab_trace_graph_values (json, &fields->call, &fields->call.in_bytes);
  if (strcmp (key, "outputs") == 0)
    return fab_trace_graph_values (json, &fields->call, &fields->call.out_bytes);
  if (strcmp (key, "attrs") == 0)
    return fab_trace_graph_attributes (json, &fields->call);
  return fab_file_json_skip (json);
}

static void
add_comm (FabTracedRank *rank, FabTraceNode *node, const FabTraceComm *comm)
{
  node->kind = FAB_TRACE_COMM;
  node->comm = (gint32) rank->comms->len;
  g_array_append_val (rank->comms, *comm);
}

static void
add_node (FabTrace *trace, FabTracedRank *rank, FabTraceNode *node, const Fields *fields)
{
  const char *op = fab_trace_op_name (fields->name);
  gboolean is_comm = fields->type >= TYPE_SEND && fields->type <= TYPE_COLL;

  node->id = (guint64) fields->id;
  node->name = fab_trace_intern (trace, fields->name);
  node->duration_ps = CLAMP (fields->runtime_us, 0, G_MAXINT64 / 1000000) * 1000000;
  node->kind = fields->type == TYPE_MEM_LOAD || fields->type == TYPE_MEM_STORE ? FAB_TRACE_COPY
                                                                               : FAB_TRACE_COMPUTE;
  if (is_comm) {
    FabTraceComm comm = { .op = op ? op : "send_recv",
                          .dimension = "other",
                          .group = "",
                          .bytes = (FabBytes) MAX (fields->comm_bytes, 0) };

    add_comm (rank, node, &comm);
  } else if (fields->type == 0 && strcmp (fields->name, "record_param_comms") == 0) {
    FabTraceComm comm;

    if (fab_trace_graph_comm (trace, &fields->call, &comm))
      add_comm (rank, node, &comm);
    if (node->comm >= 0 && rank->said_rank < 0)
      rank->said_rank = fields->call.rank;
  }
  g_array_append_val (rank->nodes, *node);
}

gboolean
fab_trace_graph_nodes (FabTrace *trace, FabTracedRank *rank, FabFileJson *json)
{
  FabFileJsonToken token = fab_file_json_next (json);

  if (token != FAB_FILE_JSON_ARRAY)
    return fab_file_json_fail (json, "`nodes` is not a list");
  while ((token = fab_file_json_next (json)) == FAB_FILE_JSON_OBJECT) {
    FabTraceNode node = { .comm = -1, .peer = -1, .first_dep = rank->deps->len };
    Fields fields = { .id = -1, .call.rank = -1 };

    while ((token = fab_file_json_next (json)) == FAB_FILE_JSON_KEY)
      if (!read_field (rank, &node, json, &fields))
        return FALSE;
    if (token != FAB_FILE_JSON_OBJECT_END)
      return FALSE;
    if (fields.id < 0)
      return fab_file_json_fail (json, "a node has no id");
    add_node (trace, rank, &node, &fields);
  }
  return token == FAB_FILE_JSON_ARRAY_END || fab_file_json_fail (json, "a node is not an object");
}

/* --- which JSON it is --- */

typedef struct {
  gint64 base_ns;
  gboolean is_kineto, is_graph;
} Found;

static gboolean
read_part (FabTrace *trace, FabTracedRank *rank, FabFileJson *json, Found *found)
{
  const char *key = json->text;

  if (strcmp (key, "traceEvents") == 0) {
    found->is_kineto = TRUE;
    return fab_trace_kineto_events (trace, rank, json);
  }
  if (strcmp (key, "nodes") == 0 || strcmp (key, "workload_graph") == 0) {
    found->is_graph = TRUE;
    return fab_trace_graph_nodes (trace, rank, json);
  }
  if (strcmp (key, "distributedInfo") == 0)
    return fab_trace_kineto_ranks (rank, json);
  if (strcmp (key, "deviceProperties") == 0)
    return fab_trace_kineto_devices (rank, json);
  if (strcmp (key, "baseTimeNanoseconds") == 0)
    return fab_trace_read_whole (json, G_MININT64, &found->base_ns);
  return fab_file_json_skip (json);
}

static gboolean
read_document (FabTrace *trace, FabTracedRank *rank, FabFileJson *json, Found *found)
{
  FabFileJsonToken token = fab_file_json_next (json);

  if (token != FAB_FILE_JSON_OBJECT)
    return fab_file_json_fail (json, "a trace is a JSON object");
  while ((token = fab_file_json_next (json)) == FAB_FILE_JSON_KEY)
    if (!read_part (trace, rank, json, found))
      return FALSE;
  return token == FAB_FILE_JSON_OBJECT_END && fab_file_json_next (json) == FAB_FILE_JSON_END;
}

static gboolean
read_json (FabTrace *trace, FabFileBytes *bytes, GError **error)
{
  FabTracedRank *rank = fab_trace_add_rank (trace, fab_file_bytes_name (bytes));
  g_autofree FabFileJson *json = g_new (FabFileJson, 1);
  Found found = { .is_kineto = FALSE };
  gboolean is_read;

  rank->epoch_us = G_MININT64;
  fab_file_json_init (json, bytes);
  is_read = read_document (trace, rank, json, &found);
  if (!is_read)
    fab_file_json_fail (json, "a bracket is missing");
  if (!is_read)
    g_propagate_error (error, g_steal_pointer (&json->error));
  fab_file_json_clear (json);
  if (!is_read)
    return FALSE;
  if (rank->epoch_us == G_MININT64)
    rank->epoch_us = 0;
  rank->epoch_us += found.base_ns / 1000;
  g_ptr_array_add (trace->formats, (gpointer) (found.is_kineto ? "kineto" : "graph in JSON"));
  if (!found.is_kineto && !found.is_graph)
    return fab_throw (
        error, FAB_ERROR_INPUT,
        "%s: is JSON, but has none of the lists of a trace: traceEvents, nodes or workload_graph",
        rank->source);
  if (found.is_kineto && rank->ops->len == 0)
    return fab_throw (error, FAB_ERROR_INPUT,
                      "%s: has events, but none is a kernel of a GPU; record with ProfilerActivity.CUDA",
                      rank->source);
  return TRUE;
}

/* It says itself which of them a file is: `formats` of the trace. */
const FabFileFormat fab_file_json_trace = {
  .name = "json",
  .kind = FAB_FILE_TRACE,
  .recognises = fab_file_text_is_json,
  .read.trace = read_json,
};
