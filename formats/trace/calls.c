/* SPDX-License-Identifier: Apache-2.0 */
/* calls.c - collectives in PyTorch's execution traces (torch.profiler.ExecutionTraceObserver): the nodes called
 * record_param_comms.
 *
 * Their inputs are, in this order: the tensors, a number, the group, the rank, the name of the operation and the
 * splits. A tensor is [id, storage, offset, elements, bytes of an element, device]. Schema 1.1 adds attributes with the
 * sizes: torch/csrc/distributed/c10d/ParamCommsUtils.hpp, torch/csrc/profiler/standalone/execution_trace_observer.cpp.
 */
#include <string.h>

#include "formats/trace/reading.h"

enum { TENSOR_ELEMENTS = 3, TENSOR_ITEM_BYTES = 4, TENSOR_NUMBERS = 5 };

/* NCCL's barrier reduces one float: ProcessGroupNCCL::barrier. */
enum { BARRIER_BYTES = 4 };

static void
take_text (FabTraceGraphCall *call, const char *text, gint64 last)
{
  if (call->name[0] != '\0' || (fab_trace_op_name (text) == NULL && strcmp (text, "barrier") != 0))
    return;
  g_strlcpy (call->name, text, sizeof call->name);
  call->rank = last;
}

/* Passes over a list of values that may hold lists. */
static gboolean
read_values (FabFileJson *json, FabTraceGraphCall *call, double *bytes)
{
  guint base = json->depth, n_numbers = 0;
  double numbers[TENSOR_NUMBERS];
  gint64 last = -1;

  while (json->depth >= base) {
    FabFileJsonToken token = fab_file_json_next (json);

    if (token == FAB_FILE_JSON_ERROR || token == FAB_FILE_JSON_END)
      return FALSE;
    if (token == FAB_FILE_JSON_NUMBER) {
      if (json->depth == base && !fab_trace_parse_whole (json->text, &last))
        last = -1;
      if (n_numbers < TENSOR_NUMBERS)
        numbers[n_numbers] = g_ascii_strtod (json->text, NULL);
      n_numbers++;
      continue;
    }
    if (token == FAB_FILE_JSON_TEXT && json->depth == base)
      take_text (call, json->text, last);
    else if (token == FAB_FILE_JSON_TEXT && n_numbers == TENSOR_NUMBERS)
      *bytes += MAX (numbers[TENSOR_ELEMENTS], 0) * MAX (numbers[TENSOR_ITEM_BYTES], 0);
    n_numbers = 0;
  }
  return TRUE;
}

gboolean
fab_trace_graph_values (FabFileJson *json, FabTraceGraphCall *call, double *bytes)
{
  FabFileJsonToken token = fab_file_json_next (json);

  if (token == FAB_FILE_JSON_ARRAY) /* schema 1.0 */
    return read_values (json, call, bytes);
  if (token != FAB_FILE_JSON_OBJECT)
    return fab_file_json_skip_from (json, token);
  while ((token = fab_file_json_next (json)) == FAB_FILE_JSON_KEY) {
    gboolean is_values = strcmp (json->text, "values") == 0;

    if (!is_values ? !fab_file_json_skip (json) : !fab_trace_graph_values (json, call, bytes))
      return FALSE;
  }
  return token == FAB_FILE_JSON_OBJECT_END;
}

static void
take_attribute (FabTraceGraphCall *call, const char *name, const char *value)
{
  gint64 number;
  gboolean is_whole = fab_trace_parse_whole (value, &number) && number >= 0;

  if (strcmp (name, "collective_name") == 0)
    g_strlcpy (call->name, value, sizeof call->name);
  else if (strcmp (name, "dtype") == 0)
    call->item_bytes = fab_trace_type_bytes (value);
  else if (strcmp (name, "pg_name") == 0)
    g_strlcpy (call->group, value, sizeof call->group);
  else if (strcmp (name, "pg_desc") == 0)
    g_strlcpy (call->description, value, sizeof call->description);
  else if (strcmp (name, "in_msg_nelems") == 0 && is_whole)
    call->in_elements = (double) number;
  else if (strcmp (name, "out_msg_nelems") == 0 && is_whole)
    call->out_elements = (double) number;
  else if (strcmp (name, "pg_size") == 0 && is_whole)
    call->n_ranks = (guint) MIN (number, G_MAXINT / 2);
}

/* [{"name": "pg_size", "type": "uint64", "value": 2}, ...] */
gboolean
fab_trace_graph_attributes (FabFileJson *json, FabTraceGraphCall *call)
{
  FabFileJsonToken token = fab_file_json_next (json);

  if (token != FAB_FILE_JSON_ARRAY)
    return fab_file_json_skip_from (json, token);
  while ((token = fab_file_json_next (json)) == FAB_FILE_JSON_OBJECT) {
    char name[64] = "", value[128] = "";

    while ((token = fab_file_json_next (json)) == FAB_FILE_JSON_KEY) {
      gboolean is_name = strcmp (json->text, "name") == 0, is_value = strcmp (json->text, "value") == 0;

      if (is_name    ? !fab_file_json_copy (json, name, sizeof name)
          : is_value ? !fab_file_json_copy (json, value, sizeof value)
                     : !fab_file_json_skip (json))
        return FALSE;
    }
    if (token != FAB_FILE_JSON_OBJECT_END)
      return FALSE;
    take_attribute (call, name, value);
  }
  return token == FAB_FILE_JSON_ARRAY_END || fab_file_json_fail (json, "an attribute is not an object");
}

gboolean
fab_trace_graph_comm (FabTrace *trace, const FabTraceGraphCall *call, FabTraceComm *comm)
{
  gboolean is_barrier = strcmp (call->name, "barrier") == 0;
  const char *op = is_barrier ? "all_reduce" : fab_trace_op_name (call->name);
  double in = call->item_bytes > 0 ? call->in_elements * call->item_bytes : call->in_bytes;
  double out = call->item_bytes > 0 ? call->out_elements * call->item_bytes : call->out_bytes;

  if (op == NULL)
    return FALSE;
  *comm = (FabTraceComm){ .op = op,
                          .dimension = fab_trace_dimension (call->description),
                          .group = fab_trace_intern (trace, call->group),
                          .n_ranks = call->n_ranks };
  comm->bytes = is_barrier ? BARRIER_BYTES
                           : fab_trace_size (op, fab_trace_whole_bytes (in), fab_trace_whole_bytes (out));
  return TRUE;
}
