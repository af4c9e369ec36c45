/* SPDX-License-Identifier: Apache-2.0 */
/* kineto.c - the events of PyTorch's profiler.
 *
 * What counts, as Holistic Trace Analysis has it (hta/utils/utils.py, hta/common/trace.py): kernels whose names begin
 * with nccl communicate, Memcpy and Memset touch memory, all other kernels compute. A kernel is of the ProfilerStep
 * that launched it, which the correlation tells. The args of communication: saveNcclMeta in PyTorch's
 * torch/csrc/profiler/util.cpp.
 */
#include <string.h>

#include "formats/trace/reading.h"
#include "sim/base/error.h"

enum { MAX_TENSORS = 4, MAX_SIDES = 4 };

/* One event. Texts point into the trace. */
typedef struct {
  char phase;
  char category[32], ts[40], dur[40];
  char name[FAB_FILE_TEXT_BYTES + 1];
  gint64 correlation, stream, tid, in_elements, out_elements, group_size;
  gint64 external;
  gint64 sides[MAX_TENSORS][MAX_SIDES]; /* of the first tensors of an operator; 0 behind the last side */
  double elements, first_elements, second_elements; /* of a call's tensors: all, the first, the second one */
  char collective[64], dtype[32], group[FAB_FILE_TEXT_BYTES + 1], group_name[64], group_description[128];
} Event;

static void
add_tensor (Event *event, guint n_tensors, double elements)
{
  event->elements += elements;
  if (n_tensors == 0)
    event->first_elements = elements;
  else if (n_tensors == 1)
    event->second_elements = elements;
}

/* [[8, 1024], [3]]: the products. */
static gboolean
read_dims (FabFileJson *json, Event *event)
{
  FabFileJsonToken token = fab_file_json_next (json);
  guint depth = json->depth, n_numbers = 0, n_tensors = 0;
  double product = 1;

  if (token != FAB_FILE_JSON_ARRAY)
    return fab_file_json_skip_from (json, token);
  while (json->depth >= depth) {
    gint64 value;

    token = fab_file_json_next (json);
    if (token == FAB_FILE_JSON_ERROR || token == FAB_FILE_JSON_END)
      return FALSE;
    if (token == FAB_FILE_JSON_NUMBER && fab_trace_parse_whole (json->text, &value) && value >= 0) {
      if (n_tensors < MAX_TENSORS && n_numbers < MAX_SIDES)
        event->sides[n_tensors][n_numbers] = value;
      product *= (double) value;
      n_numbers++;
      continue;
    }
    if (n_numbers > 0)
      add_tensor (event, n_tensors++, product);
    product = 1;
    n_numbers = 0;
  }
  return TRUE;
}

/* Of a list of texts, the first one. */
static gboolean
read_first (FabFileJson *json, char *to, gsize size)
{
  FabFileJsonToken token = fab_file_json_next (json);
  guint depth = json->depth;

  if (token != FAB_FILE_JSON_ARRAY)
    return fab_file_json_skip_from (json, token);
  while (json->depth >= depth) {
    token = fab_file_json_next (json);
    if (token == FAB_FILE_JSON_ERROR || token == FAB_FILE_JSON_END)
      return FALSE;
    if (token == FAB_FILE_JSON_TEXT && to[0] == '\0')
      g_strlcpy (to, json->text, size);
  }
  return TRUE;
}

/* The host's call of a collective: "nccl:all_reduce". */
static gboolean
is_call (const char *name)
{
  return g_str_has_prefix (name, "nccl:") || g_str_has_prefix (name, "rccl:");
}

/* PyTorch's operator around it, whose first two tensors are output and input: "c10d::_allgather_base_". */
static gboolean
is_operator (const char *name)
{
  return g_str_has_prefix (name, "c10d::") && strstr (name, "base") != NULL;
}

/* Operators whose kernels are products or attention, and where their matrices are among their tensors. */
typedef struct {
  const char *name;
  gboolean is_attention, is_backward;
  gboolean has_sequence_first; /* batch, sequence, heads, size; else batch, heads, sequence, size */
  guint first;                 /* tensor: the left matrix; of attention the queries */
} Work;

static const Work works[] = {
  { "aten::mm", FALSE, FALSE, FALSE, 0 },
  { "aten::addmm", FALSE, FALSE, FALSE, 1 },
  { "aten::bmm", FALSE, FALSE, FALSE, 0 },
  { "aten::_scaled_mm", FALSE, FALSE, FALSE, 0 },
  { "aten::_cudnn_attention_forward", TRUE, FALSE, FALSE, 0 },
  { "aten::_cudnn_attention_backward", TRUE, TRUE, FALSE, 1 },
  { "aten::_scaled_dot_product_cudnn_attention", TRUE, FALSE, FALSE, 0 },
  { "aten::_scaled_dot_product_cudnn_attention_backward", TRUE, TRUE, FALSE, 1 },
  { "aten::_flash_attention_forward", TRUE, FALSE, TRUE, 0 },
  { "aten::_flash_attention_backward", TRUE, TRUE, TRUE, 1 },
};

/* NULL: none of these. */
static const Work *
work_of (const char *name)
{
  for (guint i = 0; i < G_N_ELEMENTS (works); i++)
    if (strcmp (works[i].name, name) == 0)
      return &works[i];
  return NULL;
}

static gboolean
read_arg (FabFileJson *json, Event *event)
{
  const char *key = json->text;
  gboolean has_shape = is_call (event->name) || is_operator (event->name) || work_of (event->name) != NULL;

  if (strcmp (key, "External id") == 0)
    return fab_trace_read_whole (json, G_MININT64, &event->external);
  if (strcmp (key, "correlation") == 0)
    return fab_trace_read_whole (json, G_MININT64, &event->correlation);
  if (strcmp (key, "stream") == 0)
    return fab_trace_read_whole (json, G_MININT64, &event->stream);
  if (strcmp (key, "In msg nelems") == 0)
    return fab_trace_read_whole (json, G_MININT64, &event->in_elements);
  if (strcmp (key, "Out msg nelems") == 0)
    return fab_trace_read_whole (json, G_MININT64, &event->out_elements);
  if (strcmp (key, "Group size") == 0)
    return fab_trace_read_whole (json, G_MININT64, &event->group_size);
  if (strcmp (key, "Collective name") == 0)
    return fab_file_json_copy (json, event->collective, sizeof event->collective);
  if (strcmp (key, "dtype") == 0)
    return fab_file_json_copy (json, event->dtype, sizeof event->dtype);
  if (strcmp (key, "Process Group Ranks") == 0)
    return fab_file_json_copy (json, event->group, sizeof event->group);
  if (strcmp (key, "Process Group Name") == 0)
    return fab_file_json_copy (json, event->group_name, sizeof event->group_name);
  if (strcmp (key, "Process Group Description") == 0)
    return fab_file_json_copy (json, event->group_description, sizeof event->group_description);
  if (strcmp (key, "Input Dims") == 0 && has_shape)
    return read_dims (json, event);
  if (strcmp (key, "Input type") == 0 && has_shape)
    return read_first (json, event->dtype, sizeof event->dtype);
  return fab_file_json_skip (json);
}

static gboolean
read_args (FabFileJson *json, Event *event)
{
  FabFileJsonToken token = fab_file_json_next (json);

  if (token != FAB_FILE_JSON_OBJECT)
    return fab_file_json_skip_from (json, token);
  while ((token = fab_file_json_next (json)) == FAB_FILE_JSON_KEY)
    if (!read_arg (json, event))
      return FALSE;
  return token == FAB_FILE_JSON_OBJECT_END;
}

static gboolean
read_phase (FabFileJson *json, Event *event)
{
  char text[2] = "";

  if (!fab_file_json_copy (json, text, sizeof text))
    return FALSE;
  event->phase = text[0];
  return TRUE;
}

static gboolean
read_field (FabFileJson *json, Event *event)
{
  const char *key = json->text;

  if (strcmp (key, "ph") == 0)
    return read_phase (json, event);
  if (strcmp (key, "cat") == 0)
    return fab_file_json_copy (json, event->category, sizeof event->category);
  if (strcmp (key, "name") == 0)
    return fab_file_json_copy (json, event->name, sizeof event->name);
  if (strcmp (key, "ts") == 0)
    return fab_file_json_copy (json, event->ts, sizeof event->ts);
  if (strcmp (key, "dur") == 0)
    return fab_file_json_copy (json, event->dur, sizeof event->dur);
  if (strcmp (key, "tid") == 0)
    return fab_trace_read_whole (json, G_MININT64, &event->tid);
  if (strcmp (key, "args") == 0)
    return read_args (json, event);
  return fab_file_json_skip (json);
}

static void
event_reset (Event *event)
{
  event->phase = event->category[0] = event->ts[0] = event->dur[0] = event->name[0] = '\0';
  event->collective[0] = event->dtype[0] = event->group[0] = event->group_name[0] = '\0';
  event->group_description[0] = '\0';
  event->correlation = event->stream = event->tid = -1;
  event->in_elements = event->out_elements = event->group_size = 0;
  event->external = -1;
  memset (event->sides, 0, sizeof event->sides);
  event->elements = event->first_elements = event->second_elements = 0;
}

/* The first time of a file is where its times begin. */
static gboolean
event_times (FabFileJson *json, FabTracedRank *rank, const Event *event, FabTimePs *start_ps,
             FabTimePs *end_ps)
{
  gint64 whole_us, length_us;
  FabTimePs rest_ps, length_ps;

  if (!fab_trace_parse_us (event->ts, &whole_us, &rest_ps))
    return fab_file_json_fail (json, "an event has no ts in microseconds");
  if (!fab_trace_parse_us (event->dur, &length_us, &length_ps))
    return fab_file_json_fail (json, "an event has no dur in microseconds");
  if (rank->epoch_us == G_MININT64)
    rank->epoch_us = whole_us;
  if (ABS (whole_us - rank->epoch_us) > 1000000000000 || length_us > 1000000000000)
    return fab_file_json_fail (json, "the times of two events are more than 11 days apart");
  *start_ps = (whole_us - rank->epoch_us) * 1000000 + rest_ps;
  *end_ps = *start_ps + length_us * 1000000 + length_ps;
  return TRUE;
}

static gboolean
add_optimizer_step (FabTracedRank *rank, FabFileJson *json, const Event *event)
{
  FabTraceStep step = { 0 };

  if (!event_times (json, rank, event, &step.start_ps, &step.end_ps))
    return FALSE;
  g_array_append_val (rank->optimizer_steps, step);
  return TRUE;
}

static gint32
add_comm (FabTrace *trace, FabTracedRank *rank, const Event *event)
{
  const char *op = event->collective[0] != '\0' ? fab_trace_op_name (event->collective) : NULL;
  guint type_bytes = fab_trace_type_bytes (event->dtype);
  FabTraceComm comm = { .dimension = "other", .group = "" };
  gint64 most = G_MAXINT64 / 16;

  if (op == NULL)
    op = fab_trace_op_name (event->name);
  comm.op = op != NULL ? op : "send_recv";
  comm.bytes = fab_trace_size (comm.op, (FabBytes) CLAMP (event->in_elements, 0, most) * type_bytes,
                               (FabBytes) CLAMP (event->out_elements, 0, most) * type_bytes);
  comm.n_ranks = (guint) CLAMP (event->group_size, 0, G_MAXINT);
  if (event->group_description[0] != '\0')
    comm.dimension = fab_trace_dimension (event->group_description);
  if (strcmp (comm.dimension, "other") == 0 && event->group_name[0] != '\0')
    comm.dimension = fab_trace_dimension (event->group_name);
  if (event->group[0] != '\0' || event->group_name[0] != '\0') {
    g_autofree char *group = g_strdup_printf ("%s %s", event->group_name, event->group);

    comm.group = fab_trace_intern (trace, g_strstrip (group));
  }
  g_array_append_val (rank->comms, comm);
  return (gint32) rank->comms->len - 1;
}

static gboolean
add_kernel (FabTrace *trace, FabTracedRank *rank, FabFileJson *json, const Event *event, gboolean is_copy)
{
  FabTraceOp op = { .launch = event->correlation, .comm = -1, .step = -1, .external = event->external };

  if (!event_times (json, rank, event, &op.start_ps, &op.end_ps))
    return FALSE;
  op.stream = (guint32) MAX (event->stream >= 0 ? event->stream : event->tid, 0);
  op.name = fab_trace_kernel_name (trace, event->name);
  op.kind = is_copy || g_str_has_prefix (event->name, "Memcpy") || g_str_has_prefix (event->name, "Memset")
              ? FAB_TRACE_COPY
              : FAB_TRACE_COMPUTE;
  if (op.kind == FAB_TRACE_COMPUTE && fab_trace_is_communication (event->name)) {
    op.kind = FAB_TRACE_COMM;
    op.comm = add_comm (trace, rank, event);
  }
  g_array_append_val (rank->ops, op);
  return TRUE;
}

static gboolean
add_step (FabTracedRank *rank, FabFileJson *json, const Event *event)
{
  FabTraceStep step = { 0 };

  if (!fab_trace_parse_whole (event->name + strlen ("ProfilerStep#"), &step.number))
    return TRUE;
  if (!event_times (json, rank, event, &step.start_ps, &step.end_ps))
    return FALSE;
  g_array_append_val (rank->steps, step);
  return TRUE;
}

/* Output and input of an operator: the larger one is the size; for a gather or scatter, their ratio is the number of
 * ranks. */
static void
size_operator (const Event *event, FabTraceCall *call, guint type_bytes)
{
  double large = MAX (event->first_elements, event->second_elements);
  double small = MIN (event->first_elements, event->second_elements);
  double ratio = small > 0 ? large / small : 0;

  call->is_operator = TRUE;
  call->bytes = fab_trace_whole_bytes (large * type_bytes);
  if (strcmp (call->op, "all_to_all") != 0 && ratio >= 1 && ratio < 1e6 && ratio == (double) (guint) ratio)
    call->n_ranks = (guint) ratio;
}

static gboolean
add_call (FabTracedRank *rank, FabFileJson *json, const Event *event)
{
  guint type_bytes = fab_trace_type_bytes (event->dtype);
  FabTraceCall call = { .op = fab_trace_op_name (strchr (event->name, ':')) };

  if (call.op == NULL || type_bytes == 0 || event->elements <= 0)
    return TRUE;
  if (!event_times (json, rank, event, &call.start_ps, &call.end_ps))
    return FALSE;
  if (is_operator (event->name))
    size_operator (event, &call, type_bytes);
  else
    call.bytes = fab_trace_whole_bytes (event->elements * type_bytes);
  g_array_append_val (rank->calls, call);
  return TRUE;
}

/* m x k times k x n, in one or several copies; FALSE: the sides do not fit. */
static gboolean
set_product (FabTraceWork *work, const gint64 *left, const gint64 *right)
{
  gboolean has_copies = left[2] > 0;
  const gint64 *a = left + has_copies, *b = right + has_copies;

  work->n_copies = has_copies ? left[0] : 1;
  work->sides[0] = a[0], work->sides[1] = b[1], work->sides[2] = a[1];
  return a[0] > 0 && a[1] > 0 && b[1] > 0 && a[1] == b[0] && (!has_copies || left[0] == right[0]);
}

static gboolean
set_attention (FabTraceWork *work, const gint64 *queries, const gint64 *keys, gboolean has_sequence_first)
{
  guint heads = has_sequence_first ? 2 : 1, sequence = has_sequence_first ? 1 : 2;

  work->n_copies = 1;
  work->sides[0] = queries[0], work->sides[1] = queries[heads], work->sides[2] = keys[heads];
  work->sides[3] = queries[sequence], work->sides[4] = queries[3];
  for (guint i = 0; i < G_N_ELEMENTS (work->sides); i++)
    if (work->sides[i] <= 0)
      return FALSE;
  return queries[sequence] == keys[sequence] && queries[3] == keys[3];
}

static gboolean
is_small (const FabTraceWork *work)
{
  for (guint i = 0; i < G_N_ELEMENTS (work->sides); i++)
    if (work->sides[i] > 1 << 24)
      return FALSE;
  return work->n_copies <= 1 << 24;
}

static void
add_work (FabTrace *trace, FabTracedRank *rank, const Event *event, const Work *its)
{
  FabTraceWork work = { .external = event->external,
                        .is_attention = its->is_attention,
                        .is_backward = its->is_backward };
  const gint64 *first = event->sides[its->first], *second = event->sides[its->first + 1];

  if (event->external < 0
      || !(its->is_attention ? set_attention (&work, first, second, its->has_sequence_first)
                             : set_product (&work, first, second))
      || !is_small (&work))
    return;
  work.dtype = fab_trace_intern (trace, event->dtype);
  g_array_append_val (rank->works, work);
}

static gboolean
add_launch (FabTracedRank *rank, FabFileJson *json, const Event *event)
{
  FabTraceLaunch launch = { .launch = event->correlation };
  FabTimePs end_ps;

  if (!event_times (json, rank, event, &launch.at_ps, &end_ps))
    return FALSE;
  g_array_append_val (rank->launches, launch);
  return TRUE;
}

/* Calls of a runtime or a driver: "cuda_runtime", "cuda_driver", "hip_runtime", "xpu_runtime"; "Runtime" in old
 * files. */
static gboolean
is_launch (const char *category)
{
  return g_ascii_strncasecmp (category, "cuda", 4) == 0 || g_ascii_strncasecmp (category, "hip", 3) == 0
      || g_ascii_strcasecmp (category, "Runtime") == 0 || g_str_has_suffix (category, "_runtime")
      || g_str_has_suffix (category, "_driver");
}

static gboolean
add_event (FabTrace *trace, FabTracedRank *rank, FabFileJson *json, const Event *event)
{
  const char *category = event->category;
  gboolean is_copy = g_ascii_strcasecmp (category, "gpu_memcpy") == 0
                  || g_ascii_strcasecmp (category, "gpu_memset") == 0
                  || g_ascii_strcasecmp (category, "Memcpy") == 0
                  || g_ascii_strcasecmp (category, "Memset") == 0;

  if (event->phase != 'X')
    return TRUE;
  if (is_copy || g_ascii_strcasecmp (category, "kernel") == 0)
    return add_kernel (trace, rank, json, event, is_copy);
  if (g_str_has_prefix (event->name, "ProfilerStep#")
      && g_ascii_strcasecmp (category, "gpu_user_annotation") != 0)
    return add_step (rank, json, event);
  if (work_of (event->name) != NULL) {
    add_work (trace, rank, event, work_of (event->name));
    return TRUE;
  }
  if (g_str_has_prefix (event->name, "Optimizer.step#")
      && g_ascii_strcasecmp (category, "user_annotation") == 0)
    return add_optimizer_step (rank, json, event);
  if (is_call (event->name) || is_operator (event->name))
    return g_ascii_strcasecmp (category, "gpu_user_annotation") == 0 || add_call (rank, json, event);
  if (event->correlation >= 0 && is_launch (category))
    return add_launch (rank, json, event);
  return TRUE;
}

gboolean
fab_trace_kineto_events (FabTrace *trace, FabTracedRank *rank, FabFileJson *json)
{
  FabFileJsonToken token = fab_file_json_next (json);
  g_autofree Event *event = g_new0 (Event, 1);

  if (token != FAB_FILE_JSON_ARRAY)
    return fab_file_json_fail (json, "`traceEvents` is not a list");
  while ((token = fab_file_json_next (json)) == FAB_FILE_JSON_OBJECT) {
    event_reset (event);
    while ((token = fab_file_json_next (json)) == FAB_FILE_JSON_KEY)
      if (!read_field (json, event))
        return FALSE;
    if (token != FAB_FILE_JSON_OBJECT_END || !add_event (trace, rank, json, event))
      return FALSE;
  }
  return token == FAB_FILE_JSON_ARRAY_END || fab_file_json_fail (json, "an event is not an object");
}

/* {"backend": "nccl", "rank": 1, "world_size": 2} */
gboolean
fab_trace_kineto_ranks (FabTracedRank *rank, FabFileJson *json)
{
  FabFileJsonToken token = fab_file_json_next (json);
  gint64 value;

  if (token != FAB_FILE_JSON_OBJECT)
    return fab_file_json_skip_from (json, token);
  while ((token = fab_file_json_next (json)) == FAB_FILE_JSON_KEY) {
    gboolean is_rank = strcmp (json->text, "rank") == 0;

    value = -1;
    if (!is_rank && strcmp (json->text, "world_size") != 0) {
      if (!fab_file_json_skip (json))
        return FALSE;
      continue;
    }
    if (!fab_trace_read_whole (json, G_MININT64, &value))
      return FALSE;
    if (value < 0 || value > G_MAXINT / 2)
      return fab_file_json_fail (json, "distributedInfo has an impossible rank");
    if (is_rank)
      rank->rank = value;
    else
      rank->n_world = (guint) value;
  }
  return token == FAB_FILE_JSON_OBJECT_END;
}

/* The devices of the node: [{"id": 0, "name": "Tesla V100"}, ...] */
gboolean
fab_trace_kineto_devices (FabTracedRank *rank, FabFileJson *json)
{
  FabFileJsonToken token = fab_file_json_next (json);

  if (token != FAB_FILE_JSON_ARRAY)
    return fab_file_json_skip_from (json, token);
  while ((token = fab_file_json_next (json)) == FAB_FILE_JSON_OBJECT) {
    rank->n_devices++;
    while ((token = fab_file_json_next (json)) == FAB_FILE_JSON_KEY) {
      char name[128] = "";
      gboolean is_name = strcmp (json->text, "name") == 0;

      if (is_name ? !fab_file_json_copy (json, name, sizeof name) : !fab_file_json_skip (json))
        return FALSE;
      if (is_name && rank->device == NULL)
        rank->device = fab_printable (name);
    }
    if (token != FAB_FILE_JSON_OBJECT_END)
      return FALSE;
  }
  return token == FAB_FILE_JSON_ARRAY_END || fab_file_json_skip_from (json, token);
}
