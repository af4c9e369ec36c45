/* SPDX-License-Identifier: Apache-2.0 */
#include "formats/trace/trace.h"

#include <math.h>
#include <string.h>

#include "formats/trace/reading.h"
#include "sim/base/error.h"
#include "sim/base/order.h"
#include "sim/base/stats.h"

#define MAX_TEXT_BYTES (64 * 1048576)

static void
rank_free (gpointer data)
{
  FabTracedRank *self = data;

  g_free (self->source);
  g_free (self->device);
  g_free (self->process);
  g_clear_pointer (&self->communicators, g_hash_table_unref);
  g_array_unref (self->ops);
  g_array_unref (self->launches);
  g_array_unref (self->works);
  g_array_unref (self->calls);
  g_array_unref (self->steps);
  g_array_unref (self->optimizer_steps);
  g_array_unref (self->comms);
  g_array_unref (self->nodes);
  g_array_unref (self->deps);
  g_free (self);
}

FabTrace *
fab_trace_new (void)
{
  FabTrace *self = g_new0 (FabTrace, 1);

  self->ranks = g_ptr_array_new_with_free_func (rank_free);
  self->choices = g_array_new (FALSE, FALSE, sizeof (FabTraceChoice));
  self->notes = fab_file_notes_new ();
  self->formats = g_ptr_array_new ();
  self->texts = g_string_chunk_new (4096);
  return self;
}

void
fab_trace_free (FabTrace *self)
{
  if (self == NULL)
    return;
  g_ptr_array_unref (self->ranks);
  g_array_unref (self->choices);
  g_ptr_array_unref (self->notes);
  g_ptr_array_unref (self->formats);
  g_string_chunk_free (self->texts);
  g_free (self);
}

FabTracedRank *
fab_trace_add_rank (FabTrace *self, const char *source)
{
  FabTracedRank *rank = g_new0 (FabTracedRank, 1);

  rank->source = g_strdup (source);
  rank->rank = rank->said_rank = -1;
  rank->ops = g_array_new (FALSE, FALSE, sizeof (FabTraceOp));
  rank->launches = g_array_new (FALSE, FALSE, sizeof (FabTraceLaunch));
  rank->works = g_array_new (FALSE, FALSE, sizeof (FabTraceWork));
  rank->calls = g_array_new (FALSE, FALSE, sizeof (FabTraceCall));
  rank->steps = g_array_new (FALSE, FALSE, sizeof (FabTraceStep));
  rank->optimizer_steps = g_array_new (FALSE, FALSE, sizeof (FabTraceStep));
  rank->comms = g_array_new (FALSE, FALSE, sizeof (FabTraceComm));
  rank->nodes = g_array_new (FALSE, FALSE, sizeof (FabTraceNode));
  rank->deps = g_array_new (FALSE, FALSE, sizeof (guint64));
  g_ptr_array_add (self->ranks, rank);
  return rank;
}

const char *
fab_trace_intern (FabTrace *self, const char *text)
{
  g_autofree char *plain = NULL;

  for (const char *c = text; *c != '\0'; c++)
    if ((guchar) *c < ' ' || (guchar) *c >= 0x7f) {
      text = plain = fab_printable (text);
      break;
    }
  self->n_text_bytes += strlen (text);
  return self->n_text_bytes > MAX_TEXT_BYTES ? "(one of too many names)"
                                             : g_string_chunk_insert_const (self->texts, text);
}

void
fab_trace_note (FabTrace *self, FabFileNoteKind kind, const char *file, guint line, const char *format, ...)
{
  va_list list;

  va_start (list, format);
  g_autofree char *text = g_strdup_vprintf (format, list);
  va_end (list);
  fab_file_notes_add (self->notes, kind, file, line, text);
}

/* Names are compared without case, "_", "-" and blanks. PyTorch: torch/csrc/distributed/c10d/ProcessGroupNCCL.cpp;
 * NCCL: src/device/generate.py; SimAI: ALLREDUCE, ALLGATHER_DP_EP. */
const char *
fab_trace_op_name (const char *name)
{
  static const struct {
    const char *part, *op;
  } rows[] = {
    { "allreduce", "all_reduce" }, { "reducescatter", "reduce_scatter" },
    { "allgather", "all_gather" }, { "alltoall", "all_to_all" },
    { "broadcast", "broadcast" },  { "sendrecv", "send_recv" },
    { "scatter", "scatter" },      { "gather", "gather" },
    { "reduce", "reduce" },        { "send", "send_recv" },
    { "recv", "send_recv" },
  };
  char plain[64];
  guint n = 0;

  for (; *name != '\0' && n + 1 < sizeof plain; name++)
    if (g_ascii_isalnum (*name))
      plain[n++] = g_ascii_tolower (*name);
  plain[n] = '\0';
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    if (strstr (plain, rows[i].part) != NULL)
      return rows[i].op;
  return NULL;
}

gboolean
fab_trace_is_communication (const char *kernel)
{
  return g_ascii_strncasecmp (kernel, "nccl", 4) == 0 || g_ascii_strncasecmp (kernel, "rccl", 4) == 0;
}

const char *
fab_trace_kernel_name (FabTrace *trace, const char *full)
{
  gsize n = fab_trace_is_communication (full) ? strcspn (full, "(") : strlen (full);
  g_autofree char *name = g_strndup (full, MIN (n, 160));

  return fab_trace_intern (trace, name);
}

FabBytes
fab_trace_size (const char *op, FabBytes in_bytes, FabBytes out_bytes)
{
  if (strcmp (op, "all_gather") == 0 || strcmp (op, "gather") == 0 || strcmp (op, "all_to_all") == 0)
    return MAX (in_bytes, out_bytes);
  return in_bytes > 0 ? in_bytes : out_bytes;
}

FabBytes
fab_trace_whole_bytes (double bytes)
{
  return bytes > 0 ? (FabBytes) MIN (bytes, 1e18) : 0;
}

guint
fab_trace_type_bytes (const char *dtype)
{
  static const struct {
    const char *name;
    guint bytes;
  } rows[] = {
    { "Float8", 1 }, { "Float", 4 },       { "Double", 8 },        { "Half", 2 }, { "BFloat16", 2 },
    { "Int", 4 },    { "Long", 8 },        { "Short", 2 },         { "Char", 1 }, { "Byte", 1 },
    { "Bool", 1 },   { "signed char", 1 }, { "unsigned char", 1 },
  };

  if (g_str_has_prefix (dtype, "c10::"))
    dtype += strlen ("c10::");

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    if (g_ascii_strncasecmp (dtype, rows[i].name, strlen (rows[i].name)) == 0)
      return rows[i].bytes;
  return 0;
}

const char *
fab_trace_dimension (const char *group)
{
  static const struct {
    const char *part, *dimension;
  } rows[] = {
    { "expert", "expert" }, { "ep_", "expert" },      { "tensor", "tensor" }, { "tp_", "tensor" },
    { "mp_", "tensor" },    { "context", "context" }, { "cp_", "context" },   { "pipeline", "pipeline" },
    { "pp_", "pipeline" },  { "data", "data" },       { "dp_", "data" },      { "fsdp", "data" },
  };
  g_autofree char *name = g_ascii_strdown (group, -1);

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    if (strstr (name, rows[i].part) != NULL)
      return rows[i].dimension;
  return "other";
}

gboolean
fab_trace_parse_whole (const char *text, gint64 *value)
{
  char *end;

  *value = g_ascii_strtoll (text, &end, 10);
  return end != text && *end == '\0' && *value != G_MAXINT64 && *value != G_MININT64;
}

gboolean
fab_trace_parse_us (const char *text, gint64 *whole_us, FabTimePs *rest_ps)
{
  FabTimePs unit = 100000;
  gint64 whole = 0;
  const char *c = text;

  for (; g_ascii_isdigit (*c); c++) {
    if (whole > G_MAXINT64 / 100)
      return FALSE;
    whole = whole * 10 + (*c - '0');
  }
  *whole_us = whole;
  *rest_ps = 0;
  if (c == text)
    return FALSE;
  if (*c == '.')
    for (c++; g_ascii_isdigit (*c); c++, unit /= 10)
      *rest_ps += unit * (*c - '0');
  if (*c == 'e' || *c == 'E') { /* Python writes 1e-05 */
    char *end;
    double us = g_ascii_strtod (text, &end);

    *whole_us = (gint64) MIN (us, 9e15);
    *rest_ps = llround ((us - (double) *whole_us) * 1e6);
    return us < 9e15 && *end == '\0';
  }
  return *c == '\0';
}

/* --- the end of reading --- */

static gint
compare_ops (gconstpointer a, gconstpointer b, gpointer data)
{
  const FabTraceOp *left = (const FabTraceOp *) data + *(const guint32 *) a;
  const FabTraceOp *right = (const FabTraceOp *) data + *(const guint32 *) b;

  if (left->start_ps != right->start_ps)
    return fab_order_int64s (&left->start_ps, &right->start_ps);
  return fab_order_guints (&left->stream, &right->stream);
}

/* Sorts by numbers, and then puts each operation into its place: g_array_sort would need as much memory again. */
static void
sort_ops (GArray *ops)
{
  g_autofree guint32 *order = g_new (guint32, ops->len + 1);
  FabTraceOp *all = (FabTraceOp *) (void *) ops->data;

  for (guint i = 0; i < ops->len; i++)
    order[i] = i;
  fab_order_numbers (order, ops->len, compare_ops, all);
  for (guint i = 0; i < ops->len; i++) {
    FabTraceOp moved = all[i];
    guint at = i;

    while (order[at] != i) {
      guint from = order[at];

      all[at] = all[from];
      order[at] = at;
      at = from;
    }
    all[at] = moved;
    order[at] = at;
  }
}

static gint
compare_launches (gconstpointer a, gconstpointer b)
{
  const FabTraceLaunch *left = a, *right = b;

  return fab_order_int64s (&left->launch, &right->launch);
}

static gint
compare_calls (gconstpointer a, gconstpointer b)
{
  const FabTraceCall *left = a, *right = b;

  return fab_order_int64s (&left->start_ps, &right->start_ps);
}

gboolean
fab_trace_launch_of (const FabTracedRank *rank, const FabTraceOp *op, FabTimePs *at_ps)
{
  FabTraceLaunch wanted = { .launch = op->launch };
  guint at;

  if (op->launch < 0 || !g_array_binary_search (rank->launches, &wanted, compare_launches, &at))
    return FALSE;
  *at_ps = g_array_index (rank->launches, FabTraceLaunch, at).at_ps;
  return TRUE;
}

/* How far back an operator may lie, in calls. */
enum { NEAR_CALLS = 8 };

static const FabTraceCall *
call_within (const FabTracedRank *rank, guint first, guint end, FabTimePs at_ps, gboolean is_operator)
{
  for (guint i = end; i-- > first;) {
    const FabTraceCall *call = &g_array_index (rank->calls, FabTraceCall, i);

    if (call->end_ps >= at_ps && call->is_operator == is_operator)
      return call;
  }
  return NULL;
}

/* The call of the library that began last before `at_ps` and is still going on, and the operator around it; NULL:
 * none. */
static void
calls_at (const FabTracedRank *rank, FabTimePs at_ps, const FabTraceCall **call,
          const FabTraceCall **operator)
{
  guint low = 0, high = rank->calls->len;

  while (low < high) {
    guint middle = (low + high) / 2;

    if (g_array_index (rank->calls, FabTraceCall, middle).start_ps <= at_ps)
      low = middle + 1;
    else
      high = middle;
  }
  high = low > NEAR_CALLS ? low - NEAR_CALLS : 0;
  *call = call_within (rank, high, low, at_ps, FALSE);
  *operator= call_within (rank, high, low, at_ps, TRUE);
}

static gboolean
may_be (const FabTraceComm *comm, const FabTraceCall *call)
{
  return call != NULL && (strcmp (comm->op, "send_recv") == 0 || strcmp (comm->op, call->op) == 0);
}

/* Kernels without a size have that of the call that launched them. NCCL's kernel for sends does all-to-all too. */
static void
size_from_calls (const FabTracedRank *rank, FabTraceComm *comm, FabTimePs at_ps)
{
  const FabTraceCall *call, *operator;

  calls_at (rank, at_ps, &call, &operator);
  if (may_be (comm, operator)) {
    comm->op = operator->op;
    comm->bytes = operator->bytes;
    comm->n_ranks = operator->n_ranks;
  } else if (may_be (comm, call)) {
    comm->op = call->op;
    comm->bytes = call->bytes;
    if (strcmp (comm->op, "all_gather") == 0 || strcmp (comm->op, "gather") == 0)
      comm->bytes *= (FabBytes) MAX (comm->n_ranks > 0 ? comm->n_ranks : rank->n_world, 1);
  }
}

static void
find_sizes (FabTracedRank *rank)
{
  for (guint i = 0; i < rank->ops->len; i++) {
    const FabTraceOp *op = &g_array_index (rank->ops, FabTraceOp, i);
    FabTraceComm *comm = op->comm >= 0 ? &g_array_index (rank->comms, FabTraceComm, op->comm) : NULL;
    FabTimePs at_ps;

    if (comm != NULL && comm->bytes == 0 && fab_trace_launch_of (rank, op, &at_ps))
      size_from_calls (rank, comm, at_ps);
  }
}

static void
finish_rank (gpointer data, gpointer trace)
{
  FabTracedRank *rank = data;

  sort_ops (rank->ops);
  g_array_sort (rank->launches, compare_launches);
  fab_trace_find_steps (trace, rank);
  g_array_sort (rank->calls, compare_calls);
  find_sizes (rank);
}

/* The host's pace: median time from one launch to the next. */
static void
set_issue (FabTracedRank *rank)
{
  g_autoptr (GArray) at_ps = g_array_new (FALSE, FALSE, sizeof (FabTimePs));
  guint n = rank->launches->len;

  for (guint i = 0; i < n; i++)
    g_array_append_val (at_ps, g_array_index (rank->launches, FabTraceLaunch, i).at_ps);
  g_array_sort (at_ps, fab_order_int64s);
  for (guint i = 0; i + 1 < n; i++)
    g_array_index (at_ps, FabTimePs, i) = g_array_index (at_ps, FabTimePs, i + 1)
                                        - g_array_index (at_ps, FabTimePs, i);
  if (n < 2)
    return;
  g_array_set_size (at_ps, n - 1);
  g_array_sort (at_ps, fab_order_int64s);
  rank->issue_ps = fab_median_time ((const FabTimePs *) (gpointer) at_ps->data, at_ps->len);
}

static void
forget_launches (gpointer data, gpointer unused G_GNUC_UNUSED)
{
  FabTracedRank *rank = data;

  set_issue (rank);
  g_array_set_size (rank->launches, 0);
  g_array_set_size (rank->calls, 0);
  g_array_set_size (rank->optimizer_steps, 0);
}

static gint
compare_ranks (gconstpointer a, gconstpointer b)
{
  const FabTracedRank *left = *(FabTracedRank *const *) a, *right = *(FabTracedRank *const *) b;

  return fab_order_int64s (&left->rank, &right->rank);
}

/* The n-th communication of a rank under one name with one group is the n-th of every rank of the group. */
static GHashTable *
ends_of (const FabTracedRank *rank)
{
  GHashTable *ends = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, g_free);
  g_autoptr (GHashTable) counts = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);

  for (guint i = 0; i < rank->ops->len; i++) {
    const FabTraceOp *op = &g_array_index (rank->ops, FabTraceOp, i);
    const FabTraceComm *comm;
    g_autofree char *name = NULL;
    guint n;

    if (op->comm < 0)
      continue;
    comm = &g_array_index (rank->comms, FabTraceComm, op->comm);
    name = g_strdup_printf ("%s|%s", comm->op, comm->group);
    n = GPOINTER_TO_UINT (g_hash_table_lookup (counts, name));
    g_hash_table_insert (ends, g_strdup_printf ("%s|%u", name, n),
                         g_memdup2 (&op->end_ps, sizeof op->end_ps));
    g_hash_table_insert (counts, g_steal_pointer (&name), GUINT_TO_POINTER (n + 1));
  }
  return ends;
}

/* A collective ends on all its ranks at nearly the same time: the median of the differences is that of the clocks. */
static void
align (FabTrace *self, GHashTable *first_ends, const FabTracedRank *first, FabTracedRank *rank)
{
  g_autoptr (GHashTable) ends = ends_of (rank);
  g_autoptr (GArray) shifts = g_array_new (FALSE, FALSE, sizeof (FabTimePs));
  gint64 apart_us = rank->epoch_us - first->epoch_us;
  GHashTableIter iter;
  gpointer key, end;

  g_hash_table_iter_init (&iter, ends);
  while (g_hash_table_iter_next (&iter, &key, &end)) {
    const FabTimePs *other = g_hash_table_lookup (first_ends, key);

    if (other != NULL) {
      FabTimePs shift = *other - *(FabTimePs *) end;
      g_array_append_val (shifts, shift);
    }
  }
  if (shifts->len > 0) {
    g_array_sort (shifts, fab_order_int64s);
    rank->shift_ps = g_array_index (shifts, FabTimePs, fab_upper_median (shifts->len));
  } else if (ABS (apart_us) < 86400 * G_GINT64_CONSTANT (1000000)) {
    rank->shift_ps = apart_us * 1000000;
    fab_trace_note (self, FAB_NOTE_INFERRED, rank->source, 0,
                    "rank %" G_GINT64_FORMAT " has no collective in common with rank %" G_GINT64_FORMAT
                    ", so their clocks count as equal",
                    rank->rank, first->rank);
  }
}

static void
align_all (FabTrace *self)
{
  FabTracedRank *first = g_ptr_array_index (self->ranks, 0);
  g_autoptr (GHashTable) ends = ends_of (first);

  for (guint i = 1; i < self->ranks->len; i++)
    align (self, ends, first, g_ptr_array_index (self->ranks, i));
}

gboolean
fab_trace_finish (FabTrace *self, GError **error)
{
  gint64 next = 0;

  g_ptr_array_foreach (self->ranks, finish_rank, self);
  fab_trace_join (self);
  fab_trace_count_communicators (self);
  g_ptr_array_foreach (self->ranks, forget_launches, NULL);
  for (guint i = 0; i < self->ranks->len; i++)
    next = MAX (next, ((FabTracedRank *) g_ptr_array_index (self->ranks, i))->rank + 1);
  for (guint i = 0; i < self->ranks->len; i++) {
    FabTracedRank *rank = g_ptr_array_index (self->ranks, i);

    if (rank->rank < 0)
      rank->rank = next++;
  }
  g_ptr_array_sort (self->ranks, compare_ranks);
  for (guint i = 1; i < self->ranks->len; i++) {
    const FabTracedRank *rank = g_ptr_array_index (self->ranks, i),
                        *before = g_ptr_array_index (self->ranks, i - 1);

    if (rank->rank == before->rank)
      return fab_throw (error, FAB_ERROR_INPUT,
                        "%s and %s are both of rank %" G_GINT64_FORMAT "; import the traces of one run",
                        before->source, rank->source, rank->rank);
  }
  if (self->ranks->len > 1 && ((FabTracedRank *) g_ptr_array_index (self->ranks, 0))->ops->len > 0)
    align_all (self);
  return TRUE;
}
