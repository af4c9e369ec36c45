/* SPDX-License-Identifier: Apache-2.0 */
/* nccl_events.c - what plugins of NCCL's profiler interface write: the inspector and the example profiler.
 *
 * Inspector (plugins/profiler/inspector/inspector_json.cc): one JSON object per collective, with its length and its
 * number within the communicator, but not with the time at which it ran. Its kernel begins to count when its own rank
 * arrives, so a collective ends on all ranks together: here, one second after the collective before it.
 *
 * Example profiler (plugins/profiler/example/print_event.cc): a list of begins and ends in Chrome's format. A
 * collective lasts from its first to its last event of a channel's kernel, or from its own begin to its end where these
 * are missing.
 *
 * Both count a gather or scatter by what one rank has. Both name a process by its number, and a rank by that within the
 * communicator: the rank of a process is the largest one that it has in any communicator.
 */
#include <string.h>

#include "formats/trace/reading.h"
#include "sim/base/error.h"

/* Collectives of the inspector end whole seconds apart; their numbers wrap before the time overflows. */
#define SLOT_PS G_GINT64_CONSTANT (1000000000000)
#define MAX_SLOTS 4000000

#define MAX_LENGTH_US G_GINT64_CONSTANT (1000000000000) /* 11 days */

/* What the file says of one collective or message. */
typedef struct {
  char host[128], process[32], communicator[64], op[64], dtype[32];
  gint64 rank, n_ranks, number, bytes, length_us;
} Call;

typedef struct {
  FabTrace *trace;
  FabFileJson *json;
  FabTracedRank *rank; /* of the last call; NULL: there was none */
  Call call;
  FabTimePs start_ps, end_ps; /* of the collective that is open */
  gboolean is_open, has_kernel;
  gboolean is_message; /* between two ranks, which is left out */
  guint n_messages;
} Reader;

/* Operations whose size a rank counts by what it has for one other rank, or of one. */
static gboolean
is_by_share (const char *op)
{
  static const char *const ops[] = {
    "all_gather", "reduce_scatter", "all_to_all", "gather", "scatter", NULL
  };

  return g_strv_contains (ops, op);
}

static Call
no_call (void)
{
  return (Call){ .rank = -1, .number = -1, .bytes = -1, .length_us = -1 };
}

/* --- ranks --- */

/* Whether the rank is of that process, and not another one of the same communicator. */
static gboolean
is_of (const FabTracedRank *rank, const char *process, const Call *call)
{
  gint known;

  if (rank->process == NULL || strcmp (rank->process, process) != 0)
    return FALSE;
  known = GPOINTER_TO_INT (g_hash_table_lookup (rank->communicators, call->communicator));
  return known == 0 || known == (gint) call->rank + 1;
}

static FabTracedRank *
find_rank (Reader *self)
{
  g_autofree char *process = g_strdup_printf ("%s %s", self->call.host, self->call.process);
  FabTracedRank *rank;

  if (self->rank != NULL && is_of (self->rank, process, &self->call))
    return self->rank;
  for (guint i = 0; i < self->trace->ranks->len; i++) {
    rank = g_ptr_array_index (self->trace->ranks, i);
    if (is_of (rank, process, &self->call))
      return rank;
  }
  rank = fab_trace_add_rank (self->trace, fab_file_bytes_name (self->json->bytes));
  rank->process = g_steal_pointer (&process);
  rank->communicators = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  return rank;
}

/* Adds the call to the rank of its process. `group` is equal on all ranks that take part. */
static gboolean
add_call (Reader *self, const char *group, FabTimePs start_ps, FabTimePs end_ps)
{
  const Call *call = &self->call;
  const char *op = fab_trace_op_name (call->op);
  FabTraceOp one = {
    .external = -1, .launch = -1, .step = -1, .kind = FAB_TRACE_COMM, .start_ps = start_ps, .end_ps = end_ps
  };
  FabTraceComm comm = { .op = op, .dimension = "other", .n_ranks = (guint) call->n_ranks };

  if (call->rank < 0 || call->rank > G_MAXINT / 2 || call->n_ranks > G_MAXINT / 2)
    return fab_file_json_fail (self->json, "the rank of a collective is missing or impossible");
  if (op == NULL || call->bytes < 0)
    return fab_file_json_fail (self->json,
                               "the operation of a collective is not known, or its size is missing");
  self->rank = find_rank (self);
  g_hash_table_insert (self->rank->communicators, g_strdup (call->communicator),
                       GINT_TO_POINTER ((gint) call->rank + 1));
  self->rank->rank = MAX (self->rank->rank, call->rank);
  self->rank->n_world = MAX (self->rank->n_world, (guint) call->n_ranks);
  comm.bytes = (FabBytes) call->bytes;
  if (is_by_share (op))
    comm.bytes = (FabBytes) MIN ((double) comm.bytes * (double) MAX (call->n_ranks, 1), 1e18);
  comm.group = fab_trace_intern (self->trace, group);
  one.name = fab_trace_intern (self->trace, call->op);
  one.comm = (gint32) self->rank->comms->len;
  g_array_append_val (self->rank->comms, comm);
  g_array_append_val (self->rank->ops, one);
  return TRUE;
}

/* --- the inspector --- */

static gboolean
read_record_field (Reader *self, FabFileJson *json)
{
  const char *key = json->text;
  Call *call = &self->call;

  if (strcmp (key, "id") == 0)
    return fab_file_json_copy (json, call->communicator, sizeof call->communicator);
  if (strcmp (key, "hostname") == 0)
    return fab_file_json_copy (json, call->host, sizeof call->host);
  if (strcmp (key, "pid") == 0)
    return fab_file_json_copy (json, call->process, sizeof call->process);
  if (strcmp (key, "rank") == 0)
    return fab_trace_read_whole (json, 0, &call->rank);
  if (strcmp (key, "n_ranks") == 0)
    return fab_trace_read_whole (json, 0, &call->n_ranks);
  if (strcmp (key, "coll") == 0)
    return fab_file_json_copy (json, call->op, sizeof call->op);
  if (strcmp (key, "coll_sn") == 0)
    return fab_trace_read_whole (json, 0, &call->number);
  if (strcmp (key, "coll_msg_size_bytes") == 0)
    return fab_trace_read_whole (json, 0, &call->bytes);
  if (strcmp (key, "coll_exec_time_us") == 0)
    return fab_trace_read_whole (json, 0, &call->length_us);
  return fab_file_json_skip (json);
}

/* {"header": {...}, "metadata": {...}, "coll_perf": {...}} */
static gboolean
read_record (Reader *self)
{
  FabFileJson *json = self->json;
  FabFileJsonToken token;

  while ((token = fab_file_json_next (json)) == FAB_FILE_JSON_KEY) {
    self->is_message = self->is_message || strcmp (json->text, "p2p_perf") == 0;
    token = fab_file_json_next (json);
    if (token != FAB_FILE_JSON_OBJECT) {
      if (!fab_file_json_skip_from (json, token))
        return FALSE;
      continue;
    }
    while ((token = fab_file_json_next (json)) == FAB_FILE_JSON_KEY)
      if (!read_record_field (self, json))
        return FALSE;
    if (token != FAB_FILE_JSON_OBJECT_END)
      return FALSE;
  }
  return token == FAB_FILE_JSON_OBJECT_END;
}

static gboolean
add_record (Reader *self)
{
  const Call *call = &self->call;
  g_autofree char *group = g_strdup_printf ("%s %" G_GINT64_FORMAT, call->communicator, call->number);
  FabTimePs end_ps = (call->number % MAX_SLOTS + 1) * SLOT_PS;

  if (call->number < 0 || call->length_us < 0 || call->length_us > MAX_LENGTH_US)
    return fab_file_json_fail (self->json, "the number of a collective is missing, or its length in us");
  return add_call (self, group, end_ps - call->length_us * 1000000, end_ps);
}

static gboolean
read_records (Reader *self)
{
  while (fab_file_json_more (self->json)) {
    self->call = no_call ();
    self->is_message = FALSE;
    if (fab_file_json_next (self->json) != FAB_FILE_JSON_OBJECT)
      return fab_file_json_fail (self->json, "a collective is not an object");
    if (!read_record (self) || (!self->is_message && !add_record (self)))
      return FALSE;
    self->n_messages += self->is_message;
  }
  return self->json->error == NULL;
}

/* --- the example profiler --- */

typedef struct {
  char phase[2], category[32], name[64], ts[40], process[32];
} Event;

static gboolean
read_argument (FabFileJson *json, Call *call)
{
  const char *key = json->text;

  if (strcmp (key, "CommHash") == 0)
    return fab_file_json_copy (json, call->communicator, sizeof call->communicator);
  if (strcmp (key, "Rank") == 0)
    return fab_trace_read_whole (json, 0, &call->rank);
  if (strcmp (key, "Count") == 0)
    return fab_trace_read_whole (json, 0, &call->bytes);
  if (strcmp (key, "Datatype") == 0)
    return fab_file_json_copy (json, call->dtype, sizeof call->dtype);
  return fab_file_json_skip (json);
}

static gboolean
read_event_field (Reader *self, Event *event, Call *call)
{
  FabFileJson *json = self->json;
  const char *key = json->text;
  FabFileJsonToken token;

  if (strcmp (key, "ph") == 0)
    return fab_file_json_copy (json, event->phase, sizeof event->phase);
  if (strcmp (key, "cat") == 0)
    return fab_file_json_copy (json, event->category, sizeof event->category);
  if (strcmp (key, "name") == 0)
    return fab_file_json_copy (json, event->name, sizeof event->name);
  if (strcmp (key, "ts") == 0)
    return fab_file_json_copy (json, event->ts, sizeof event->ts);
  if (strcmp (key, "pid") == 0)
    return fab_file_json_copy (json, event->process, sizeof event->process);
  if (strcmp (key, "args") != 0)
    return fab_file_json_skip (json);
  token = fab_file_json_next (json);
  if (token != FAB_FILE_JSON_OBJECT)
    return fab_file_json_skip_from (json, token);
  while ((token = fab_file_json_next (json)) == FAB_FILE_JSON_KEY)
    if (!read_argument (json, call))
      return FALSE;
  return token == FAB_FILE_JSON_OBJECT_END;
}

static gboolean
time_of (Reader *self, const Event *event, FabTimePs *at_ps)
{
  gint64 whole_us;
  FabTimePs rest_ps;

  if (!fab_trace_parse_us (event->ts, &whole_us, &rest_ps) || whole_us > MAX_LENGTH_US)
    return fab_file_json_fail (self->json, "an event has no ts in microseconds");
  *at_ps = whole_us * 1000000 + rest_ps;
  return TRUE;
}

static gboolean
open_collective (Reader *self, const Event *event, const Call *call)
{
  guint item_bytes = fab_trace_type_bytes (g_str_has_prefix (call->dtype, "nccl") ? call->dtype + 4
                                                                                  : call->dtype);

  self->call = *call;
  g_strlcpy (self->call.op, event->name, sizeof self->call.op);
  g_strlcpy (self->call.process, event->process, sizeof self->call.process);
  self->call.bytes = call->bytes < 0 || item_bytes == 0
                       ? -1
                       : (gint64) MIN ((double) call->bytes * item_bytes, 1e18);
  self->is_open = TRUE;
  self->has_kernel = FALSE;
  return time_of (self, event, &self->start_ps);
}

static gboolean
close_collective (Reader *self, const Event *event)
{
  FabTimePs end_ps = 0;

  if (!time_of (self, event, &end_ps))
    return FALSE;
  self->is_open = FALSE;
  if (!self->has_kernel)
    self->end_ps = end_ps;
  if (self->end_ps < self->start_ps)
    return fab_file_json_fail (self->json, "a collective ends before it begins");
  return add_call (self, self->call.communicator, self->start_ps, self->end_ps);
}

/* The kernel of a channel, which lies within its collective. */
static gboolean
take_kernel (Reader *self, const Event *event)
{
  FabTimePs at_ps = 0;

  if (!time_of (self, event, &at_ps))
    return FALSE;
  self->start_ps = self->has_kernel ? MIN (self->start_ps, at_ps) : at_ps;
  self->end_ps = self->has_kernel ? MAX (self->end_ps, at_ps) : at_ps;
  self->has_kernel = TRUE;
  return TRUE;
}

static gboolean
take_event (Reader *self, const Event *event, const Call *call)
{
  gboolean is_begin = event->phase[0] == 'b';

  if (strcmp (event->category, "P2P") == 0)
    self->n_messages += is_begin;
  if (strcmp (event->category, "COLL") == 0)
    return is_begin ? open_collective (self, event, call) : !self->is_open || close_collective (self, event);
  if (strcmp (event->category, "GPU") == 0 && self->is_open)
    return take_kernel (self, event);
  return TRUE;
}

static gboolean
read_events (Reader *self)
{
  FabFileJson *json = self->json;
  FabFileJsonToken token = fab_file_json_next (json);

  if (token != FAB_FILE_JSON_ARRAY)
    return fab_file_json_fail (json, "the events are not a list");
  while ((token = fab_file_json_next (json)) == FAB_FILE_JSON_OBJECT) {
    Event event = { 0 };
    Call call = no_call ();

    while ((token = fab_file_json_next (json)) == FAB_FILE_JSON_KEY)
      if (!read_event_field (self, &event, &call))
        return FALSE;
    if (token != FAB_FILE_JSON_OBJECT_END || !take_event (self, &event, &call))
      return FALSE;
  }
  return token == FAB_FILE_JSON_ARRAY_END;
}

/* --- both --- */

static gboolean
read_with (FabTrace *trace, FabFileBytes *bytes, gboolean (*read) (Reader *self), GError **error)
{
  g_autofree FabFileJson *json = g_new (FabFileJson, 1);
  Reader self = { .trace = trace, .json = json };
  gboolean is_read;

  fab_file_json_init (json, bytes);
  is_read = read (&self);
  if (!is_read)
    fab_file_json_fail (json, "a bracket is missing");
  if (!is_read)
    g_propagate_error (error, g_steal_pointer (&json->error));
  fab_file_json_clear (json);
  if (is_read && self.n_messages > 0)
    fab_trace_note (trace, FAB_NOTE_LEFT_OUT, fab_file_bytes_name (bytes), 0,
                    "%s: %u messages between two ranks were left out", fab_file_bytes_name (bytes),
                    self.n_messages);
  if (is_read && self.rank == NULL)
    return fab_throw (error, FAB_ERROR_INPUT, "%s: has no collective that NCCL's profiler recorded",
                      fab_file_bytes_name (bytes));
  return is_read;
}

static gboolean
read_inspector (FabTrace *trace, FabFileBytes *bytes, GError **error)
{
  trace->has_only_lengths = TRUE;
  return read_with (trace, bytes, read_records, error);
}

static gboolean
is_inspector (const FabFileText *text)
{
  return fab_file_text_is_json (text) && fab_file_text_has (text, "inspector_output_format_version");
}

const FabFileFormat fab_file_nccl_inspector = {
  .name = "NCCL inspector",
  .kind = FAB_FILE_TRACE,
  .recognises = is_inspector,
  .read.trace = read_inspector,
};

static gboolean
read_profile (FabTrace *trace, FabFileBytes *bytes, GError **error)
{
  return read_with (trace, bytes, read_events, error);
}

static gboolean
is_profile (const FabFileText *text)
{
  return fab_file_text_begins (text, "[")
      && (fab_file_text_has (text, "\"GROUP") || fab_file_text_has (text, "\"PROXY\"")
          || fab_file_text_has (text, "\"COLL"));
}

const FabFileFormat fab_file_nccl_profiler = {
  .name = "NCCL profiler",
  .kind = FAB_FILE_TRACE,
  .recognises = is_profile,
  .read.trace = read_profile,
};

/* The profile does not say how many ranks a communicator has: as many as were seen, if they are the first ones. */
static guint
count_ranks (const FabTrace *trace, const char *communicator)
{
  guint n_found = 0, n_ranks = 0;

  for (guint i = 0; i < trace->ranks->len; i++) {
    const FabTracedRank *rank = g_ptr_array_index (trace->ranks, i);
    guint number = rank->process != NULL
                     ? GPOINTER_TO_UINT (g_hash_table_lookup (rank->communicators, communicator))
                     : 0;

    n_found += number > 0;
    n_ranks = MAX (n_ranks, number);
  }
  return n_found == n_ranks ? n_ranks : 0;
}

void
fab_trace_count_communicators (FabTrace *trace)
{
  g_autoptr (GHashTable) counts = g_hash_table_new (g_str_hash, g_str_equal);

  for (guint i = 0; i < trace->ranks->len; i++) {
    const FabTracedRank *rank = g_ptr_array_index (trace->ranks, i);

    for (guint k = 0; rank->process != NULL && k < rank->comms->len; k++) {
      FabTraceComm *comm = &g_array_index (rank->comms, FabTraceComm, k);
      gpointer n_ranks;

      if (comm->n_ranks > 0)
        continue;
      if (!g_hash_table_lookup_extended (counts, comm->group, NULL, &n_ranks)) {
        n_ranks = GUINT_TO_POINTER (count_ranks (trace, comm->group));
        g_hash_table_insert (counts, (gpointer) comm->group, n_ranks);
      }
      comm->n_ranks = GPOINTER_TO_UINT (n_ranks);
      if (is_by_share (comm->op))
        comm->bytes = (FabBytes) MIN ((double) comm->bytes * comm->n_ranks, 1e18);
    }
  }
}
