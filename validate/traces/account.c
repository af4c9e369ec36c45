/* SPDX-License-Identifier: Apache-2.0 */
#include "validate/traces/account.h"

#include <string.h>

#include "sim/base/error.h"
#include "sim/collective/collective.h"

#define MAX_KEYS 64 /* pairs of a dimension and an operation */
#define MARKS_AT_ONCE 65536u

/* Communication of one dimension by one operation. */
typedef struct {
  const char *dimension, *op;
} Key;

/* A collective while its ranks are found. */
typedef struct {
  FabCollectiveRecord record;
  guint n_found;
  FabTimePs first_end_ps;
  double exposed_ps;
  guint stride;
} Meeting;

typedef struct {
  const FabTrace *trace;
  FabTraceAccount *out;
  gboolean with_waiting;
  gint64 first_step; /* number of the first step of all ranks; G_MAXINT64: no rank has steps */
  FabTimePs zero_ps;
  GPtrArray *meetings; /* per iteration: GArray of Meeting */
  Key keys[MAX_KEYS];
  guint n_keys;
} Account;

void
fab_trace_account_free (FabTraceAccount *self)
{
  if (self == NULL)
    return;
  for (guint i = 0; i < self->n_ranks; i++)
    g_array_unref (self->places[i]);
  g_free (self->places);
  g_array_unref (self->times);
  g_array_unref (self->collectives);
  g_array_unref (self->strides);
  g_array_unref (self->exposures);
  g_array_unref (self->steps);
  g_free (self);
}

static const FabTracedRank *
rank_at (const Account *self, guint i)
{
  return g_ptr_array_index (self->trace->ranks, i);
}

guint
fab_trace_n_world (const FabTrace *trace)
{
  guint n_world = trace->ranks->len;

  for (guint i = 0; i < trace->ranks->len; i++) {
    const FabTracedRank *rank = g_ptr_array_index (trace->ranks, i);

    n_world = MAX (n_world, MAX (rank->n_world, (guint) rank->rank + 1));
  }
  return n_world;
}

/* --- where operations belong --- */

static void
find_zero (Account *self)
{
  self->zero_ps = G_MAXINT64;
  self->first_step = G_MAXINT64;
  for (guint i = 0; i < self->trace->ranks->len; i++) {
    const FabTracedRank *rank = rank_at (self, i);

    if (rank->ops->len > 0)
      self->zero_ps = MIN (self->zero_ps, g_array_index (rank->ops, FabTraceOp, 0).start_ps + rank->shift_ps);
    for (guint k = 0; k < rank->steps->len; k++)
      self->first_step = MIN (self->first_step, g_array_index (rank->steps, FabTraceStep, k).number);
  }
}

static void
place_rank (Account *self, guint i)
{
  const FabTracedRank *rank = rank_at (self, i);
  GArray *places = self->out->places[i];

  for (guint k = 0; k < rank->ops->len; k++) {
    const FabTraceOp *op = &g_array_index (rank->ops, FabTraceOp, k);
    FabTimePs shift_ps = rank->shift_ps - self->zero_ps;
    FabTracePlace place = { .collective = -1,
                            .start_ps = op->start_ps + shift_ps,
                            .end_ps = op->end_ps + shift_ps };

    place.iteration = rank->steps->len == 0 ? 0 : -1;
    if (op->step >= 0)
      place.iteration = (gint32) MIN (
          g_array_index (rank->steps, FabTraceStep, op->step).number - self->first_step, G_MAXINT32 / 2);
    place.wait_end_ps = place.start_ps;
    self->out->n_left_out += place.iteration < 0;
    g_array_append_val (places, place);
  }
}

/* --- collectives: the n-th one of an operation and a group in an iteration is the same on all ranks --- */

static GArray *
meetings_of (Account *self, gint32 iteration)
{
  while (self->meetings->len <= (guint) iteration)
    g_ptr_array_add (self->meetings, g_array_new (FALSE, FALSE, sizeof (Meeting)));
  return g_ptr_array_index (self->meetings, iteration);
}

/* "0 [0, 8, 16]": 8. */
static guint
stride_of (const char *group)
{
  const char *list = strchr (group, '[');
  const char *second = list != NULL ? strchr (list, ',') : NULL;
  gint64 from, to;

  if (second == NULL)
    return 0;
  from = g_ascii_strtoll (list + 1, NULL, 10);
  to = g_ascii_strtoll (second + 1, NULL, 10);
  return from >= 0 && to > from && to < G_MAXINT32 ? (guint) (to - from) : 0;
}

static void
meet (Meeting *meeting, const FabTraceComm *comm, const FabTracePlace *place)
{
  FabCollectiveRecord *record = &meeting->record;

  if (meeting->n_found == 0) {
    record->op = comm->op;
    record->dimension = comm->dimension;
    meeting->stride = stride_of (comm->group);
    record->ready_ps = record->start_ps = place->start_ps;
    record->end_ps = meeting->first_end_ps = place->end_ps;
  }
  record->bytes = MAX (record->bytes, comm->bytes);
  record->n_ranks = MAX (record->n_ranks, comm->n_ranks);
  record->ready_ps = MIN (record->ready_ps, place->start_ps);
  record->start_ps = MAX (record->start_ps, place->start_ps);
  record->end_ps = MAX (record->end_ps, place->end_ps);
  meeting->first_end_ps = MIN (meeting->first_end_ps, place->end_ps);
  meeting->n_found++;
}

static void
meet_rank (Account *self, guint i, GHashTable *indices)
{
  const FabTracedRank *rank = rank_at (self, i);
  g_autoptr (GHashTable) counts = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);

  for (guint k = 0; k < rank->ops->len; k++) {
    const FabTraceOp *op = &g_array_index (rank->ops, FabTraceOp, k);
    FabTracePlace *place = &g_array_index (self->out->places[i], FabTracePlace, k);
    const FabTraceComm *comm;
    g_autofree char *name = NULL, *key = NULL;
    GArray *meetings;
    guint n, index;

    if (op->comm < 0 || place->iteration < 0)
      continue;
    comm = &g_array_index (rank->comms, FabTraceComm, op->comm);
    name = g_strdup_printf ("%d|%s|%s", place->iteration, comm->op, comm->group);
    n = GPOINTER_TO_UINT (g_hash_table_lookup (counts, name));
    key = g_strdup_printf ("%s|%u", name, n);
    g_hash_table_insert (counts, g_steal_pointer (&name), GUINT_TO_POINTER (n + 1));
    meetings = meetings_of (self, place->iteration);
    index = GPOINTER_TO_UINT (g_hash_table_lookup (indices, key));
    if (index == 0) {
      Meeting meeting = { .record = { .iteration = (guint) place->iteration,
                                      .index = meetings->len,
                                      .name = op->name,
                                      .binding_link = FAB_RECORD_NO_LINK } };

      g_array_append_val (meetings, meeting);
      index = meetings->len;
      g_hash_table_insert (indices, g_steal_pointer (&key), GUINT_TO_POINTER (index));
    }
    place->collective = (gint32) index - 1;
    meet (&g_array_index (meetings, Meeting, index - 1), comm, place);
  }
}

/* Ranks that are not there may have arrived later. A collective of no length begins when it ends. */
static gboolean
is_whole (const Account *self, const Meeting *meeting)
{
  const FabCollectiveRecord *record = &meeting->record;
  guint n_ranks = record->n_ranks > 0 ? record->n_ranks : fab_trace_n_world (self->trace);
  FabTimePs least_ps = record->start_ps == record->end_ps ? record->start_ps : record->start_ps + 1;

  return meeting->n_found >= n_ranks && meeting->first_end_ps >= least_ps;
}

static void
separate_rank (Account *self, guint i)
{
  GArray *places = self->out->places[i];

  for (guint k = 0; k < places->len; k++) {
    FabTracePlace *place = &g_array_index (places, FabTracePlace, k);
    const Meeting *meeting;

    if (place->collective < 0)
      continue;
    meeting = &g_array_index (meetings_of (self, place->iteration), Meeting, place->collective);
    if (!self->with_waiting && is_whole (self, meeting))
      place->wait_end_ps = CLAMP (meeting->record.start_ps, place->start_ps, place->end_ps);
  }
}

/* --- a rank's step: a walk over the begins and ends of its operations --- */

enum { COMPUTES, COPIES, WAITS, COMMUNICATES /* + key */ };

typedef struct {
  FabTimePs at_ps;
  guint what;
  gint32 by; /* +1 or -1 */
} Mark;

static gint
compare_marks (gconstpointer a, gconstpointer b)
{
  const Mark *left = a, *right = b;

  return left->at_ps < right->at_ps ? -1 : left->at_ps > right->at_ps;
}

static guint
key_of (Account *self, const FabTraceComm *comm)
{
  for (guint i = 0; i < self->n_keys; i++)
    if (strcmp (self->keys[i].dimension, comm->dimension) == 0 && strcmp (self->keys[i].op, comm->op) == 0)
      return i;
  if (self->n_keys == MAX_KEYS)
    return MAX_KEYS - 1;
  self->keys[self->n_keys] = (Key){ comm->dimension, comm->op };
  return self->n_keys++;
}

/* What a rank is doing between two marks. */
typedef struct {
  guint n[COMMUNICATES + MAX_KEYS];
  guint n_comm;
} State;

/* A window while time goes through it. */
typedef struct {
  Account *account;
  FabTraceTimes *times;
  FabExposureRecord *rows; /* [MAX_KEYS] */
  GArray *marks;           /* Mark, of operations that were seen and have not been passed */
  guint most_marks;
  State state;
  FabTimePs at_ps;
} Sweep;

static void
mark (Sweep *self, FabTimePs start_ps, FabTimePs end_ps, guint what)
{
  const FabIterationRecord *window = &self->times->times;
  GArray *marks = self->marks;

  Mark begin = { .at_ps = MAX (start_ps, window->start_ps), .what = what, .by = 1 };
  Mark end = { .at_ps = MIN (end_ps, window->start_ps + window->duration_ps), .what = what, .by = -1 };

  if (begin.at_ps < end.at_ps) {
    g_array_append_val (marks, begin);
    g_array_append_val (marks, end);
  }
}

static void
add_exposed (const Account *self, const guint *running, FabTimePs length_ps, FabTimePs *shares)
{
  guint n_active = 0, place = 0;

  for (guint k = 0; k < self->n_keys; k++)
    n_active += running[k] > 0;
  for (guint k = 0; k < self->n_keys; k++)
    if (running[k] > 0) { /* shares add up exactly */
      shares[k] += length_ps * (place + 1) / n_active - length_ps * place / n_active;
      place++;
    }
}

static void
pass (Sweep *self, FabTimePs length_ps)
{
  const Account *account = self->account;
  const State *state = &self->state;
  FabIterationRecord *t = &self->times->times;
  FabTimePs shares[MAX_KEYS] = { 0 };

  if (state->n[COMPUTES] > 0)
    t->compute_ps += length_ps;
  if (state->n_comm > 0) {
    t->comm_ps += length_ps;
    for (guint k = 0; k < account->n_keys; k++)
      self->rows[k].comm_ps += state->n[COMMUNICATES + k] > 0 ? length_ps : 0;
  }
  if (state->n_comm > 0 && state->n[COMPUTES] > 0)
    t->overlapped_ps += length_ps;
  else if (state->n_comm > 0) {
    t->exposed_ps += length_ps;
    add_exposed (account, self->state.n + COMMUNICATES, length_ps, shares);
    for (guint k = 0; k < account->n_keys; k++)
      self->rows[k].exposed_ps += shares[k];
  } else if (state->n[COMPUTES] == 0) {
    t->idle_ps += length_ps;
    t->waiting_ps += state->n[WAITS] > 0 ? length_ps : 0;
    self->times->copy_ps += state->n[COPIES] > 0 && state->n[WAITS] == 0 ? length_ps : 0;
  }
}

/* Goes on to `until_ps`, before which no other mark will lie. */
static void
pass_until (Sweep *self, FabTimePs until_ps)
{
  guint n = 0;

  g_array_sort (self->marks, compare_marks);
  for (; n < self->marks->len; n++) {
    const Mark *next = &g_array_index (self->marks, Mark, n);

    if (next->at_ps > until_ps)
      break;
    pass (self, next->at_ps - self->at_ps);
    self->at_ps = next->at_ps;
    self->state.n[next->what] += (guint) next->by;
    if (next->what >= COMMUNICATES)
      self->state.n_comm += (guint) next->by;
  }
  g_array_remove_range (self->marks, 0, n);
  self->most_marks = MAX (MARKS_AT_ONCE, 2 * self->marks->len);
}

static void
mark_operation (Sweep *self, const FabTraceOp *op, const FabTracePlace *place, const FabTraceComm *comm)
{
  guint key;

  if (comm == NULL) {
    mark (self, place->start_ps, place->end_ps, op->kind == FAB_TRACE_COMPUTE ? COMPUTES : COPIES);
    return;
  }
  key = key_of (self->account, comm);
  mark (self, place->start_ps, place->wait_end_ps, WAITS);
  mark (self, place->wait_end_ps, place->end_ps, COMMUNICATES + key);
  if (place->iteration == (gint32) self->times->times.iteration) {
    self->rows[key].n_collectives++;
    self->rows[key].bytes += comm->bytes;
  }
}

/* Operations come in the order of their starts, so that those before the next one can be passed before all are marked.
 * Waiting is shared among operations by the first that waits: rows of one operation hold all that waits for it. */
static void
sweep_rank (Sweep *self, guint i)
{
  const FabTracedRank *rank = rank_at (self->account, i);
  const FabIterationRecord *window = &self->times->times;

  for (guint k = 0; k < rank->ops->len; k++) {
    const FabTraceOp *op = &g_array_index (rank->ops, FabTraceOp, k);
    const FabTracePlace *place = &g_array_index (self->account->out->places[i], FabTracePlace, k);

    if (place->iteration < 0 || place->start_ps >= window->start_ps + window->duration_ps
        || place->end_ps <= window->start_ps)
      continue;
    if (self->marks->len >= self->most_marks)
      pass_until (self, place->start_ps - 1);
    mark_operation (self, op, place,
                    op->kind == FAB_TRACE_COMM ? &g_array_index (rank->comms, FabTraceComm, op->comm) : NULL);
  }
}

static void
keep_rows (Account *self, const FabIterationRecord *window, FabExposureRecord *rows)
{
  FabTimePs waiting_ps = window->waiting_ps;

  for (guint k = 0; k < self->n_keys; k++) {
    if (rows[k].n_collectives == 0 && rows[k].comm_ps == 0)
      continue;
    rows[k].iteration = window->iteration;
    rows[k].rank_class = window->rank_class;
    rows[k].dimension = self->keys[k].dimension;
    rows[k].op = self->keys[k].op;
    rows[k].waiting_ps = waiting_ps;
    waiting_ps = 0;
    g_array_append_val (self->out->exposures, rows[k]);
  }
}

static void
count_window (Account *self, FabTraceTimes *times)
{
  FabIterationRecord *window = &times->times;
  g_autoptr (GArray) marks = g_array_new (FALSE, FALSE, sizeof (Mark));
  g_autofree FabExposureRecord *rows = g_new0 (FabExposureRecord, MAX_KEYS);
  Sweep sweep = { .account = self,
                  .times = times,
                  .rows = rows,
                  .marks = marks,
                  .most_marks = MARKS_AT_ONCE,
                  .at_ps = window->start_ps };

  sweep_rank (&sweep, window->rank_class);
  pass_until (&sweep, FAB_TIME_MAX);
  pass (&sweep, window->start_ps + window->duration_ps - sweep.at_ps);
  keep_rows (self, window, rows);
}

/* --- the windows of a rank's steps --- */

static gint
compare_times (gconstpointer a, gconstpointer b)
{
  const FabIterationRecord *left = &((const FabTraceTimes *) a)->times,
                           *right = &((const FabTraceTimes *) b)->times;

  if (left->iteration != right->iteration)
    return left->iteration < right->iteration ? -1 : 1;
  return left->rank_class < right->rank_class ? -1 : left->rank_class > right->rank_class;
}

static void
add_windows (Account *self, guint i)
{
  const GArray *places = self->out->places[i];
  g_autoptr (GHashTable) found = g_hash_table_new (NULL, NULL);
  guint first = self->out->times->len;

  for (guint k = 0; k < places->len; k++) {
    const FabTracePlace *place = &g_array_index (places, FabTracePlace, k);
    guint index;

    if (place->iteration < 0)
      continue;
    index = GPOINTER_TO_UINT (g_hash_table_lookup (found, GINT_TO_POINTER (place->iteration + 1)));
    if (index == 0) {
      FabTraceTimes times = {
        .times = { .iteration = (guint) place->iteration, .rank_class = i, .start_ps = place->start_ps }
      };

      g_array_append_val (self->out->times, times);
      index = self->out->times->len;
      g_hash_table_insert (found, GINT_TO_POINTER (place->iteration + 1), GUINT_TO_POINTER (index));
    }
    FabIterationRecord *t = &g_array_index (self->out->times, FabTraceTimes, index - 1).times;
    t->duration_ps = MAX (t->duration_ps, place->end_ps - t->start_ps);
  }
  for (guint k = first; k + 1 < self->out->times->len; k++) { /* operations are in the order of time */
    FabIterationRecord *t = &g_array_index (self->out->times, FabTraceTimes, k).times;

    t->duration_ps = g_array_index (self->out->times, FabTraceTimes, k + 1).times.start_ps - t->start_ps;
  }
}

/* --- collectives' exposed time, and the step of the whole job --- */

typedef struct {
  FabTimePs start_ps, end_ps;
} Span;

/* When the rank computes: spans that do not touch, in the order of time. */
static GArray *
busy_spans (const Account *self, guint i)
{
  const FabTracedRank *rank = rank_at (self, i);
  GArray *busy = g_array_new (FALSE, FALSE, sizeof (Span));

  for (guint k = 0; k < rank->ops->len; k++) {
    const FabTracePlace *place = &g_array_index (self->out->places[i], FabTracePlace, k);
    Span *last = busy->len ? &g_array_index (busy, Span, busy->len - 1) : NULL;
    Span span = { place->start_ps, place->end_ps };

    if (g_array_index (rank->ops, FabTraceOp, k).kind != FAB_TRACE_COMPUTE)
      continue;
    if (last != NULL && span.start_ps <= last->end_ps)
      last->end_ps = MAX (last->end_ps, span.end_ps);
    else
      g_array_append_val (busy, span);
  }
  return busy;
}

static void
expose_rank (Account *self, guint i)
{
  const FabTracedRank *rank = rank_at (self, i);
  g_autoptr (GArray) busy = busy_spans (self, i);

  for (guint k = 0, from = 0; k < rank->ops->len; k++) {
    const FabTracePlace *place = &g_array_index (self->out->places[i], FabTracePlace, k);
    Meeting *meeting;
    FabTimePs start_ps, end_ps, exposed_ps;

    if (place->collective < 0)
      continue;
    meeting = &g_array_index (meetings_of (self, place->iteration), Meeting, place->collective);
    start_ps = MIN (meeting->record.start_ps, place->end_ps);
    end_ps = place->end_ps;
    exposed_ps = end_ps - start_ps;
    while (from < busy->len && g_array_index (busy, Span, from).end_ps <= place->start_ps)
      from++;
    for (guint b = from; b < busy->len && g_array_index (busy, Span, b).start_ps < end_ps; b++)
      exposed_ps -= MAX (MIN (g_array_index (busy, Span, b).end_ps, end_ps)
                             - MAX (g_array_index (busy, Span, b).start_ps, start_ps),
                         0);
    meeting->exposed_ps += (double) exposed_ps;
  }
}

static void
end_collectives (Account *self)
{
  for (guint i = 0; i < self->meetings->len; i++) {
    GArray *meetings = g_ptr_array_index (self->meetings, i);

    for (guint k = 0; k < meetings->len; k++) {
      Meeting *meeting = &g_array_index (meetings, Meeting, k);
      FabCollectiveRecord *record = &meeting->record;
      FabOp op = FAB_OP_SEND_RECV;
      FabTimePs length_ps;

      fab_op_find (record->op, &op);
      self->out->n_inseparable += !is_whole (self, meeting);
      self->out->n_without_size += record->bytes == 0;
      self->out->n_without_group += record->n_ranks == 0;
      if (record->n_ranks == 0)
        record->n_ranks = fab_trace_n_world (self->trace);
      length_ps = record->end_ps - record->start_ps;
      record->exposed_ps = (FabTimePs) (meeting->exposed_ps / MAX (meeting->n_found, 1));
      record->algbw_bytes_per_s = length_ps > 0 ? (double) record->bytes / ((double) length_ps / 1e12) : 0;
      record->busbw_bytes_per_s = record->algbw_bytes_per_s
                                * fab_op_bus_factor (op, MAX (record->n_ranks, 2));
      g_array_append_val (self->out->collectives, *record);
      g_array_append_val (self->out->strides, meeting->stride);
    }
  }
}

/* The step of the job: means over the ranks that are there. */
static void
add_steps (Account *self)
{
  GArray *times = self->out->times;

  for (guint i = 0; i < times->len;) {
    FabStepRecord step = { .times = g_array_index (times, FabTraceTimes, i).times };
    double sum[5] = { 0 };
    guint first = i, n;

    for (; i < times->len && g_array_index (times, FabTraceTimes, i).times.iteration == step.times.iteration;
         i++) {
      const FabIterationRecord *t = &g_array_index (times, FabTraceTimes, i).times;
      const FabTimePs parts[] = { t->duration_ps, t->compute_ps, t->comm_ps, t->overlapped_ps,
                                  t->waiting_ps };

      step.times.start_ps = MIN (step.times.start_ps, t->start_ps);
      for (guint k = 0; k < G_N_ELEMENTS (parts); k++)
        sum[k] += (double) parts[k];
    }
    n = i - first;
    step.times.rank_class = 0;
    step.times.duration_ps = (FabTimePs) (sum[0] / n);
    step.times.compute_ps = (FabTimePs) (sum[1] / n);
    step.times.comm_ps = (FabTimePs) (sum[2] / n);
    step.times.overlapped_ps = (FabTimePs) (sum[3] / n);
    step.times.exposed_ps = step.times.comm_ps - step.times.overlapped_ps;
    step.times.idle_ps = step.times.duration_ps - (step.times.compute_ps + step.times.exposed_ps);
    step.times.waiting_ps = MIN ((FabTimePs) (sum[4] / n), step.times.idle_ps);
    g_array_append_val (self->out->steps, step);
  }
}

static FabTraceAccount *
account_alloc (const FabTrace *trace)
{
  FabTraceAccount *out = g_new0 (FabTraceAccount, 1);

  out->n_ranks = trace->ranks->len;
  out->times = g_array_new (FALSE, FALSE, sizeof (FabTraceTimes));
  out->collectives = g_array_new (FALSE, FALSE, sizeof (FabCollectiveRecord));
  out->strides = g_array_new (FALSE, FALSE, sizeof (guint));
  out->exposures = g_array_new (FALSE, FALSE, sizeof (FabExposureRecord));
  out->steps = g_array_new (FALSE, FALSE, sizeof (FabStepRecord));
  out->places = g_new0 (GArray *, out->n_ranks);
  for (guint i = 0; i < out->n_ranks; i++)
    out->places[i] = g_array_new (FALSE, FALSE, sizeof (FabTracePlace));
  return out;
}

static void
free_meetings (gpointer data)
{
  g_array_unref (data);
}

FabTraceAccount *
fab_trace_account_new (const FabTrace *trace, gboolean with_waiting, GError **error)
{
  g_autoptr (FabTraceAccount) out = account_alloc (trace);
  g_autoptr (GPtrArray) meetings = g_ptr_array_new_with_free_func (free_meetings);
  g_autoptr (GHashTable) indices = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  Account self = { .trace = trace, .out = out, .with_waiting = with_waiting, .meetings = meetings };

  find_zero (&self);
  for (guint i = 0; i < out->n_ranks; i++) {
    if (rank_at (&self, i)->ops->len == 0) {
      fab_throw (error, FAB_ERROR_INPUT, "%s: has no times of kernels, so it is no measured run",
                 rank_at (&self, i)->source);
      return NULL;
    }
    place_rank (&self, i);
  }
  for (guint i = 0; i < out->n_ranks; i++)
    meet_rank (&self, i, indices);
  for (guint i = 0; i < out->n_ranks; i++) {
    separate_rank (&self, i);
    add_windows (&self, i);
    expose_rank (&self, i);
  }
  if (out->times->len == 0) {
    fab_throw (error, FAB_ERROR_INPUT, "no kernel was launched within a step of the profiler");
    return NULL;
  }
  g_array_sort (out->times, compare_times);
  for (guint i = 0; i < out->times->len; i++)
    count_window (&self, &g_array_index (out->times, FabTraceTimes, i));
  end_collectives (&self);
  add_steps (&self);
  return g_steal_pointer (&out);
}
