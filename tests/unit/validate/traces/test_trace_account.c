/* SPDX-License-Identifier: Apache-2.0 */
/* test_trace_account.c - what a timed trace says of steps, against a reference that asks every picosecond.
 *
 * Traces are made at random: ranks with clocks of their own, steps, kernels that compute, copy and communicate.
 */
#include "validate/traces/account.h"

#include "tests/support/random.h"
#include "tests/support/test.h"

enum { MOST_RANKS = 3, MOST_STEPS = 3, LENGTH = 60, N_TRACES = 60, FIRST_NUMBER = 7 };

static const struct {
  const char *op, *dimension;
} keys[] = { { "all_reduce", "data" }, { "all_gather", "tensor" } };

typedef struct {
  FabTrace *trace;
  guint n_ranks, n_steps;
} Made;

static void
add_op (FabTracedRank *rank, FabTraceKind kind, guint step, FabTimePs start_ps, FabTimePs end_ps, gint32 comm)
{
  FabTraceOp op = { .name = "op",
                    .start_ps = start_ps,
                    .end_ps = end_ps,
                    .launch = -1,
                    .kind = kind,
                    .comm = comm,
                    .step = (gint32) step,
                    .external = -1 };

  g_array_append_val (rank->ops, op);
}

static gint
by_start (gconstpointer a, gconstpointer b)
{
  FabTimePs x = ((const FabTraceOp *) a)->start_ps, y = ((const FabTraceOp *) b)->start_ps;

  return (x > y) - (x < y);
}

/* Every rank takes part in one collective of each kind in each step. Its clock is `shift_ps` behind that of the first
 * rank, whose first operation is long after 0. */
static Made
make (Random *random)
{
  Made made = { fab_trace_new (), 1 + (guint) (random_next (random) % MOST_RANKS),
                1 + (guint) (random_next (random) % MOST_STEPS) };

  for (guint r = 0; r < made.n_ranks; r++) {
    FabTracedRank *rank = fab_trace_add_rank (made.trace, "made");
    FabTimePs shift_ps = (FabTimePs) (random_next (random) % 50);

    rank->rank = r;
    rank->n_world = made.n_ranks;
    rank->shift_ps = shift_ps;
    for (guint k = 0; k < G_N_ELEMENTS (keys); k++) {
      FabTraceComm comm = { keys[k].op, keys[k].dimension, "0 [0, 3]", 1000 * (k + 1), made.n_ranks };

      g_array_append_val (rank->comms, comm);
    }
    for (guint s = 0; s < made.n_steps; s++) {
      FabTimePs begin_ps = 500 + (FabTimePs) s * 2 * LENGTH - shift_ps;
      FabTraceStep step = { FIRST_NUMBER + s, begin_ps, begin_ps + 2 * LENGTH };

      g_array_append_val (rank->steps, step);
      if (random_chance (random, 70)) /* else a step may begin with a collective */
        add_op (rank, FAB_TRACE_COMPUTE, s, begin_ps, begin_ps + 1 + (FabTimePs) (random_next (random) % 20),
                -1);
      for (guint i = 0; i < 3; i++) {
        FabTimePs at_ps = begin_ps + 1 + (FabTimePs) (random_next (random) % LENGTH);

        add_op (rank, i < 2 ? FAB_TRACE_COMPUTE : FAB_TRACE_COPY, s, at_ps,
                at_ps + 1 + (FabTimePs) (random_next (random) % 30), -1);
      }
      for (guint k = 0; k < G_N_ELEMENTS (keys); k++) {
        FabTimePs at_ps = begin_ps + 1 + (FabTimePs) (random_next (random) % LENGTH);

        add_op (rank, FAB_TRACE_COMM, s, at_ps, at_ps + 1 + (FabTimePs) (random_next (random) % 50),
                (gint32) k);
      }
    }
    g_array_sort (rank->ops, by_start);
  }
  return made;
}

/* --- reference --- */

static const FabTracedRank *
rank_at (const Made *made, guint r)
{
  return g_ptr_array_index (made->trace->ranks, r);
}

static const FabTraceOp *
op_at (const FabTracedRank *rank, guint i)
{
  return &g_array_index (rank->ops, FabTraceOp, i);
}

/* On the clock of the first rank. */
static FabTimePs
start_of (const FabTracedRank *rank, const FabTraceOp *op)
{
  return op->start_ps + rank->shift_ps;
}

static FabTimePs
end_of (const FabTracedRank *rank, const FabTraceOp *op)
{
  return op->end_ps + rank->shift_ps;
}

static const FabTraceOp *
collective_of (const FabTracedRank *rank, guint step, guint key)
{
  for (guint i = 0; i < rank->ops->len; i++)
    if (op_at (rank, i)->comm == (gint32) key && op_at (rank, i)->step == (gint32) step)
      return op_at (rank, i);
  return NULL;
}

/* When the last rank of a collective arrives, and when the first one has ended. */
static void
meeting_of (const Made *made, guint step, guint key, FabTimePs *last_start_ps, FabTimePs *first_end_ps)
{
  *last_start_ps = 0;
  *first_end_ps = G_MAXINT64;
  for (guint r = 0; r < made->n_ranks; r++) {
    const FabTraceOp *op = collective_of (rank_at (made, r), step, key);

    *last_start_ps = MAX (*last_start_ps, start_of (rank_at (made, r), op));
    *first_end_ps = MIN (*first_end_ps, end_of (rank_at (made, r), op));
  }
}

typedef struct {
  guint computes, copies, waits, comm[G_N_ELEMENTS (keys)];
} State;

/* What a rank does in the picosecond after `at_ps`. */
static State
state_of (const Made *made, guint r, FabTimePs at_ps, gboolean with_waiting)
{
  const FabTracedRank *rank = rank_at (made, r);
  State state = { 0 };

  for (guint i = 0; i < rank->ops->len; i++) {
    const FabTraceOp *op = op_at (rank, i);
    FabTimePs last_start_ps, first_end_ps;

    if (at_ps < start_of (rank, op) || at_ps >= end_of (rank, op))
      continue;
    state.computes += op->kind == FAB_TRACE_COMPUTE;
    state.copies += op->kind == FAB_TRACE_COPY;
    if (op->kind != FAB_TRACE_COMM)
      continue;
    meeting_of (made, (guint) op->step, (guint) op->comm, &last_start_ps, &first_end_ps);
    if (!with_waiting && last_start_ps < first_end_ps && at_ps < last_start_ps)
      state.waits++;
    else
      state.comm[op->comm]++;
  }
  return state;
}

/* From the first operation of a step to that of the next one; the last step to the end of its last operation. */
static void
window_of (const Made *made, guint r, guint step, FabTimePs *start_ps, FabTimePs *end_ps)
{
  const FabTracedRank *rank = rank_at (made, r);

  *start_ps = *end_ps = -1;
  for (guint i = 0; i < rank->ops->len; i++) {
    const FabTraceOp *op = op_at (rank, i);

    if (op->step == (gint32) step && *start_ps < 0)
      *start_ps = start_of (rank, op);
    if (step + 1 < made->n_steps && op->step == (gint32) step + 1 && *end_ps < 0)
      *end_ps = start_of (rank, op);
    if (step + 1 == made->n_steps && op->step == (gint32) step)
      *end_ps = MAX (*end_ps, end_of (rank, op));
  }
}

typedef struct {
  FabTimePs start, duration, compute, comm, overlapped, exposed, idle, waiting, copy,
      by_key[G_N_ELEMENTS (keys)];
} Times;

static Times
times_of (const Made *made, guint r, guint step, gboolean with_waiting)
{
  Times times = { 0 };
  FabTimePs end_ps;

  window_of (made, r, step, &times.start, &end_ps);
  times.duration = end_ps - times.start;
  for (FabTimePs at_ps = times.start; at_ps < end_ps; at_ps++) {
    State state = state_of (made, r, at_ps, with_waiting);
    gboolean has_comm = state.comm[0] + state.comm[1] > 0, has_compute = state.computes > 0;

    times.compute += has_compute;
    times.comm += has_comm;
    times.overlapped += has_comm && has_compute;
    times.exposed += has_comm && !has_compute;
    times.idle += !has_comm && !has_compute;
    times.waiting += !has_comm && !has_compute && state.waits > 0;
    times.copy += !has_comm && !has_compute && state.waits == 0 && state.copies > 0;
    for (guint k = 0; k < G_N_ELEMENTS (keys); k++)
      times.by_key[k] += state.comm[k] > 0;
  }
  return times;
}

/* --- checks --- */

/* The clock of the run begins with the first operation of all. */
static FabTimePs
zero_of (const Made *made)
{
  FabTimePs zero_ps = G_MAXINT64;

  for (guint r = 0; r < made->n_ranks; r++)
    zero_ps = MIN (zero_ps, start_of (rank_at (made, r), op_at (rank_at (made, r), 0)));
  return zero_ps;
}

static void
assert_rows (const FabTraceAccount *account, guint r, guint step, const Times *times)
{
  FabTimePs exposed_ps = 0, waiting_ps = 0;
  guint n = 0;

  for (guint i = 0; i < account->exposures->len; i++) {
    const FabExposureRecord *row = &g_array_index (account->exposures, FabExposureRecord, i);
    guint k = strcmp (row->op, keys[0].op) == 0 ? 0 : 1;

    if (row->rank_class != r || row->iteration != step)
      continue;
    n++;
    assert_string_equal (row->dimension, keys[k].dimension);
    assert_int_equal (row->comm_ps, times->by_key[k]);
    assert_int_equal (row->n_collectives, 1);
    assert_int_equal (row->bytes, 1000 * (k + 1));
    exposed_ps += row->exposed_ps;
    waiting_ps += row->waiting_ps;
  }
  assert_int_equal (n, G_N_ELEMENTS (keys));
  assert_int_equal (exposed_ps, times->exposed);
  assert_int_equal (waiting_ps, times->waiting);
}

static void
assert_times (const Made *made, const FabTraceAccount *account, gboolean with_waiting)
{
  guint i = 0;

  assert_int_equal (account->times->len, made->n_ranks * made->n_steps);
  for (guint step = 0; step < made->n_steps; step++) {
    Times sum = { 0 };
    const FabIterationRecord *whole = &g_array_index (account->steps, FabStepRecord, step).times;

    for (guint r = 0; r < made->n_ranks; r++, i++) {
      const FabTraceTimes *found = &g_array_index (account->times, FabTraceTimes, i);
      Times times = times_of (made, r, step, with_waiting);

      assert_int_equal (found->times.iteration, step);
      assert_int_equal (found->times.rank_class, r);
      assert_int_equal (found->times.start_ps, times.start - zero_of (made));
      assert_int_equal (found->times.duration_ps, times.duration);
      assert_int_equal (found->times.compute_ps, times.compute);
      assert_int_equal (found->times.comm_ps, times.comm);
      assert_int_equal (found->times.overlapped_ps, times.overlapped);
      assert_int_equal (found->times.exposed_ps, times.exposed);
      assert_int_equal (found->times.idle_ps, times.idle);
      assert_int_equal (found->times.waiting_ps, times.waiting);
      assert_int_equal (found->copy_ps, times.copy);
      assert_rows (account, r, step, &times);
      sum.duration += times.duration;
      sum.compute += times.compute;
      sum.comm += times.comm;
      sum.overlapped += times.overlapped;
      sum.waiting += times.waiting;
    }
    /* The step of the job: means, rounded down. */
    assert_int_equal (whole->iteration, step);
    assert_int_equal (whole->duration_ps, sum.duration / made->n_ranks);
    assert_int_equal (whole->compute_ps, sum.compute / made->n_ranks);
    assert_int_equal (whole->comm_ps, sum.comm / made->n_ranks);
    assert_int_equal (whole->overlapped_ps, sum.overlapped / made->n_ranks);
    assert_int_equal (whole->exposed_ps, whole->comm_ps - whole->overlapped_ps);
    assert_int_equal (whole->duration_ps, whole->compute_ps + whole->exposed_ps + whole->idle_ps);
    assert_int_equal (whole->waiting_ps, MIN (sum.waiting / made->n_ranks, whole->idle_ps));
  }
}

/* How much of a collective no compute hides, from the arrival of its last rank to the end of this one. */
static FabTimePs
exposed_on (const Made *made, guint r, guint step, guint key)
{
  const FabTracedRank *rank = rank_at (made, r);
  const FabTraceOp *op = collective_of (rank, step, key);
  FabTimePs last_start_ps, first_end_ps, exposed_ps = 0;

  meeting_of (made, step, key, &last_start_ps, &first_end_ps);
  for (FabTimePs at_ps = last_start_ps; at_ps < end_of (rank, op); at_ps++)
    exposed_ps += state_of (made, r, at_ps, TRUE).computes == 0;
  return exposed_ps;
}

static void
assert_collectives (const Made *made, const FabTraceAccount *account)
{
  guint n_inseparable = 0;

  assert_int_equal (account->collectives->len, made->n_steps * G_N_ELEMENTS (keys));
  for (guint i = 0; i < account->collectives->len; i++) {
    const FabCollectiveRecord *record = &g_array_index (account->collectives, FabCollectiveRecord, i);
    guint k = strcmp (record->op, keys[0].op) == 0 ? 0 : 1;
    FabTimePs last_start_ps, first_end_ps, ready_ps = G_MAXINT64, end_ps = 0, exposed_ps = 0;

    meeting_of (made, record->iteration, k, &last_start_ps, &first_end_ps);
    for (guint r = 0; r < made->n_ranks; r++) {
      const FabTraceOp *op = collective_of (rank_at (made, r), record->iteration, k);

      ready_ps = MIN (ready_ps, start_of (rank_at (made, r), op));
      end_ps = MAX (end_ps, end_of (rank_at (made, r), op));
      exposed_ps += exposed_on (made, r, record->iteration, k);
    }
    n_inseparable += last_start_ps >= first_end_ps;
    assert_int_equal (record->ready_ps, ready_ps - zero_of (made));
    assert_int_equal (record->start_ps, last_start_ps - zero_of (made));
    assert_int_equal (record->end_ps, end_ps - zero_of (made));
    assert_int_equal (record->n_ranks, made->n_ranks);
    assert_int_equal (record->exposed_ps, exposed_ps / made->n_ranks);
    assert_int_equal (g_array_index (account->strides, guint, i), 3);
    assert_near (record->algbw_bytes_per_s, 1000.0 * (k + 1) * 1e12 / (double) (end_ps - last_start_ps),
                 1e-12);
  }
  assert_int_equal (account->n_inseparable, n_inseparable);
  assert_int_equal (account->n_without_size + account->n_without_group + account->n_left_out, 0);
}

static void
accounts_are_those_of_every_picosecond (G_GNUC_UNUSED void **state)
{
  Random random = { 1 };

  for (guint i = 0; i < N_TRACES; i++) {
    Made made = make (&random);
    g_autoptr (FabTrace) trace = made.trace;

    for (guint with_waiting = 0; with_waiting < 2; with_waiting++) {
      g_autoptr (GError) error = NULL;
      g_autoptr (FabTraceAccount) account = fab_trace_account_new (trace, with_waiting, &error);

      assert_null (error);
      assert_times (&made, account, with_waiting);
      assert_collectives (&made, account);
    }
  }
}

/* An operation that no step launched is left out; without a group and a size, a collective is one of all ranks. */
static void
what_a_trace_does_not_say (G_GNUC_UNUSED void **state)
{
  g_autoptr (FabTrace) trace = fab_trace_new ();
  FabTracedRank *rank = fab_trace_add_rank (trace, "made");
  FabTraceComm comm = { "all_reduce", "other", "", 0, 0 };
  FabTraceStep step = { FIRST_NUMBER, 0, 100 };
  g_autoptr (GError) error = NULL;

  rank->n_world = 4;
  g_array_append_val (rank->comms, comm);
  g_array_append_val (rank->steps, step);
  add_op (rank, FAB_TRACE_COMM, 0, 10, 20, 0);
  add_op (rank, FAB_TRACE_COMPUTE, 0, 30, 50, -1);
  g_array_index (rank->ops, FabTraceOp, 1).step = -1;
  g_autoptr (FabTraceAccount) account = fab_trace_account_new (trace, FALSE, &error);
  const FabCollectiveRecord *record = &g_array_index (account->collectives, FabCollectiveRecord, 0);

  assert_int_equal (account->n_left_out, 1);
  assert_int_equal (account->n_without_size, 1);
  assert_int_equal (account->n_without_group, 1);
  assert_int_equal (account->n_inseparable, 1);
  assert_int_equal (record->n_ranks, 4);
  assert_near (record->busbw_bytes_per_s, 0, 0);
  assert_int_equal (g_array_index (account->strides, guint, 0), 0);
  assert_int_equal (fab_trace_n_world (trace), 4);
  rank->rank = 8;
  assert_int_equal (fab_trace_n_world (trace), 9);
}

static void
assert_refused (const FabTrace *trace, const char *words)
{
  g_autoptr (GError) error = NULL;

  assert_null (fab_trace_account_new (trace, FALSE, &error));
  assert_non_null (strstr (error->message, words));
}

static void
what_is_no_run (G_GNUC_UNUSED void **state)
{
  g_autoptr (FabTrace) trace = fab_trace_new ();
  FabTracedRank *rank = fab_trace_add_rank (trace, "made");
  FabTraceStep step = { FIRST_NUMBER, 0, 100 };

  assert_refused (trace, "made: has no times of kernels");
  g_array_append_val (rank->steps, step);
  add_op (rank, FAB_TRACE_COMPUTE, 0, 30, 50, -1);
  g_array_index (rank->ops, FabTraceOp, 0).step = -1;
  assert_refused (trace, "no kernel was launched within a step");
}

/* --- collectives --- */

static void
add_comm (FabTracedRank *rank, const char *op, const char *dimension, const char *group, guint n_ranks)
{
  FabTraceComm comm = { op, dimension, group, 1000, n_ranks };

  g_array_append_val (rank->comms, comm);
}

static const FabCollectiveRecord *
collective_at (const FabTraceAccount *account, guint i)
{
  return &g_array_index (account->collectives, FabCollectiveRecord, i);
}

/* The n-th of an operation, a group and a step is one collective on all ranks; other groups, operations and steps have
 * their own. A rank that has one less ends with one that is not whole. */
static void
collectives_meet_by_their_number (G_GNUC_UNUSED void **state)
{
  g_autoptr (FabTrace) trace = fab_trace_new ();
  g_autoptr (GError) error = NULL;

  for (guint r = 0; r < 2; r++) {
    FabTracedRank *rank = fab_trace_add_rank (trace, "made");
    FabTraceStep steps[] = { { FIRST_NUMBER, 0, 1000 }, { FIRST_NUMBER + 2, 1000, 2000 } };

    rank->rank = r;
    rank->n_world = 2;
    add_comm (rank, "all_reduce", "data", "0 [0, 1]", 2);
    add_comm (rank, "all_gather", "data", "0 [0, 1]", 2);
    add_comm (rank, "all_reduce", "tensor", "1 [0, 1]", 2);
    g_array_append_vals (rank->steps, steps, 2);
    /* In this order: three of the first kind, of which the second rank has two. */
    add_op (rank, FAB_TRACE_COMM, 0, 100 + r, 110 + r, 0);
    add_op (rank, FAB_TRACE_COMM, 0, 200 + r, 220 + r, 1);
    add_op (rank, FAB_TRACE_COMM, 0, 300 + r, 330 + r, 0);
    add_op (rank, FAB_TRACE_COMM, 0, 400 + r, 440 + r, 2);
    if (r == 0)
      add_op (rank, FAB_TRACE_COMM, 0, 500, 550, 0);
    add_op (rank, FAB_TRACE_COMM, 1, 1100 + r, 1160 + r, 0);
  }
  g_autoptr (FabTraceAccount) account = fab_trace_account_new (trace, FALSE, &error);
  static const struct {
    guint iteration;
    const char *op, *dimension;
    FabTimePs ready_ps, start_ps, end_ps;
  } right[] = { { 0, "all_reduce", "data", 0, 1, 11 },      { 0, "all_gather", "data", 100, 101, 121 },
                { 0, "all_reduce", "data", 200, 201, 231 }, { 0, "all_reduce", "tensor", 300, 301, 341 },
                { 0, "all_reduce", "data", 400, 400, 450 }, { 2, "all_reduce", "data", 1000, 1001, 1061 } };

  assert_int_equal (account->collectives->len, G_N_ELEMENTS (right));
  for (guint i = 0; i < G_N_ELEMENTS (right); i++) {
    const FabCollectiveRecord *record = collective_at (account, i);

    assert_int_equal (record->iteration, right[i].iteration);
    assert_int_equal (record->index, right[i].iteration == 0 ? i : 0);
    assert_string_equal (record->name, "op");
    assert_string_equal (record->op, right[i].op);
    assert_string_equal (record->dimension, right[i].dimension);
    assert_int_equal (record->ready_ps, right[i].ready_ps);
    assert_int_equal (record->start_ps, right[i].start_ps);
    assert_int_equal (record->end_ps, right[i].end_ps);
    assert_int_equal (record->binding_link, FAB_RECORD_NO_LINK);
  }
  assert_int_equal (account->n_inseparable, 1);
  /* Each operation knows its collective, and until when it waits. */
  for (guint r = 0; r < 2; r++)
    for (guint k = 0; k < account->places[r]->len; k++) {
      const FabTracePlace *place = &g_array_index (account->places[r], FabTracePlace, k);
      guint number = r == 1 && k == 4 ? 5 : k;

      assert_int_equal (place->collective, number < 5 ? number : 0);
      assert_int_equal (place->iteration, number < 5 ? 0 : 2);
      assert_int_equal (place->wait_end_ps, number == 4 ? 400 : right[number].start_ps);
    }
}

/* Of a group's list: from its first rank to its second. */
static void
strides_of_groups (G_GNUC_UNUSED void **state)
{
  static const struct {
    const char *group;
    guint stride;
  } cases[] = {
    { "0 [0, 8, 16]", 8 },
    { "[3,4]", 1 },
    { "[8, 0]", 0 },
    { "[5, 5]", 0 },
    { "[7]", 0 },
    { "0, 8", 0 },
    { "", 0 },
    { "[-2, 4]", 0 },
    { "[0, 2147483646]", 2147483646 },
    { "[0, 2147483647]", 0 },
    { "x [2, 12], [0, 1]", 10 },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_autoptr (FabTrace) trace = fab_trace_new ();
    FabTracedRank *rank = fab_trace_add_rank (trace, "made");

    rank->n_world = 4;
    add_comm (rank, "all_reduce", "data", cases[i].group, 4);
    add_op (rank, FAB_TRACE_COMM, 0, 10, 20, 0);
    g_array_index (rank->ops, FabTraceOp, 0).step = -1;
    g_autoptr (FabTraceAccount) account = fab_trace_account_new (trace, FALSE, NULL);
    assert_int_equal (g_array_index (account->strides, guint, 0), cases[i].stride);
    assert_int_equal (account->n_left_out, 0); /* without steps all is one */
    assert_int_equal (g_array_index (account->times, FabTraceTimes, 0).times.iteration, 0);
  }
}

/* Bus bandwidths are those of nccl-tests; an operation that is not known moves its bytes once. */
static void
rates_of_collectives (G_GNUC_UNUSED void **state)
{
  static const struct {
    const char *op;
    guint n_ranks, n_world;
    double factor;
  } cases[] = {
    { "all_reduce", 4, 8, 1.5 },     { "all_gather", 4, 8, 0.75 }, { "all_reduce", 0, 8, 1.75 },
    { "reduce_scatter", 2, 8, 0.5 }, { "send_recv", 2, 8, 1 },     { "something", 4, 8, 1 },
    { "all_gather", 1, 1, 0.5 },
  };

  for (guint i = 0; i < 2 * G_N_ELEMENTS (cases); i++) {
    g_autoptr (FabTrace) trace = fab_trace_new ();
    FabTracedRank *rank = fab_trace_add_rank (trace, "made");
    FabTimePs length_ps = i % 2 ? 100 : 0;

    rank->n_world = cases[i / 2].n_world;
    add_comm (rank, cases[i / 2].op, "data", "", cases[i / 2].n_ranks);
    add_op (rank, FAB_TRACE_COMM, 0, 10, 10 + length_ps, 0);
    g_array_index (rank->ops, FabTraceOp, 0).step = -1;
    g_autoptr (FabTraceAccount) account = fab_trace_account_new (trace, TRUE, NULL);
    double rate = length_ps > 0 ? 1000 / 100e-12 : 0;

    assert_near (collective_at (account, 0)->algbw_bytes_per_s, rate, 1e-12);
    assert_near (collective_at (account, 0)->busbw_bytes_per_s, rate * cases[i / 2].factor, 1e-12);
    assert_int_equal (account->n_without_group, cases[i / 2].n_ranks == 0);
  }
}

/* Of 64 pairs of a dimension and an operation and more, the last row holds all others. */
static void
there_are_64_rows_at_most (G_GNUC_UNUSED void **state)
{
  for (guint n = 63; n <= 66; n++) {
    g_autoptr (FabTrace) trace = fab_trace_new ();
    FabTracedRank *rank = fab_trace_add_rank (trace, "made");
    guint n_rows = MIN (n, 64);
    char names[66][8];

    rank->n_world = 1;
    for (guint i = 0; i < n; i++) {
      g_snprintf (names[i], sizeof names[i], "d%u", i / 2);
      add_comm (rank, i % 2 ? "all_reduce" : "all_gather", names[i], "", 1);
      add_op (rank, FAB_TRACE_COMM, 0, 10 * i, 10 * i + 10, (gint32) i);
      g_array_index (rank->ops, FabTraceOp, i).step = -1;
    }
    g_autoptr (FabTraceAccount) account = fab_trace_account_new (trace, TRUE, NULL);
    assert_int_equal (account->exposures->len, n_rows);
    for (guint i = 0; i < n_rows; i++) {
      const FabExposureRecord *row = &g_array_index (account->exposures, FabExposureRecord, i);
      guint n_own = i == 63 ? n - 63 : 1;

      assert_string_equal (row->dimension, names[i]);
      assert_string_equal (row->op, i % 2 ? "all_reduce" : "all_gather");
      assert_int_equal (row->n_collectives, n_own);
      assert_int_equal (row->comm_ps, 10 * n_own);
      assert_int_equal (row->exposed_ps, 10 * n_own);
      assert_int_equal (row->bytes, 1000 * n_own);
    }
  }
}

/* What several do at a time is shared by them, to the picosecond; what one waits for stands in the first row. */
static void
exposed_time_is_shared (G_GNUC_UNUSED void **state)
{
  g_autoptr (FabTrace) trace = fab_trace_new ();
  FabTracedRank *rank = fab_trace_add_rank (trace, "made");
  static const FabTimePs exposed_ps[] = { 3 + 2, 3 + 3 + 4, 4 };

  rank->n_world = 1;
  add_comm (rank, "all_gather", "data", "", 1);
  add_comm (rank, "all_reduce", "data", "", 1);
  add_comm (rank, "all_gather", "tensor", "", 1);
  /* 0 to 10: all three, 3 + 3 + 4; 10 to 15: the first two, 2 + 3; 15 to 19: the second; with compute: none. */
  add_op (rank, FAB_TRACE_COMM, 0, 0, 15, 0);
  add_op (rank, FAB_TRACE_COMM, 0, 0, 30, 1);
  add_op (rank, FAB_TRACE_COMM, 0, 0, 10, 2);
  add_op (rank, FAB_TRACE_COMPUTE, 0, 19, 30, -1);
  for (guint i = 0; i < 4; i++)
    g_array_index (rank->ops, FabTraceOp, i).step = -1;
  g_autoptr (FabTraceAccount) account = fab_trace_account_new (trace, TRUE, NULL);
  assert_int_equal (account->exposures->len, 3);
  for (guint i = 0; i < 3; i++)
    assert_int_equal (g_array_index (account->exposures, FabExposureRecord, i).exposed_ps, exposed_ps[i]);
}

/* Blocks of 10 ps beside a copy of all of them: as many as do not fit into the memory for marks at once. */
static void
many_operations_are_the_sum_of_few (G_GNUC_UNUSED void **state)
{
  enum { N_BLOCKS = 40000 };
  g_autoptr (FabTrace) trace = fab_trace_new ();
  FabTracedRank *rank = fab_trace_add_rank (trace, "made");

  rank->n_world = 1;
  add_comm (rank, "all_gather", "data", "", 1);
  add_op (rank, FAB_TRACE_COPY, 0, 0, (FabTimePs) 10 * N_BLOCKS, -1);
  for (guint i = 0; i < N_BLOCKS; i++) {
    add_op (rank, FAB_TRACE_COMPUTE, 0, (FabTimePs) 10 * i, (FabTimePs) 10 * i + 4, -1);
    add_op (rank, FAB_TRACE_COMM, 0, (FabTimePs) 10 * i + 2, (FabTimePs) 10 * i + 7, 0);
  }
  for (guint i = 0; i < rank->ops->len; i++)
    g_array_index (rank->ops, FabTraceOp, i).step = -1;
  g_autoptr (FabTraceAccount) account = fab_trace_account_new (trace, TRUE, NULL);
  const FabTraceTimes *found = &g_array_index (account->times, FabTraceTimes, 0);

  assert_int_equal (account->times->len, 1);
  assert_int_equal (found->times.duration_ps, 10 * N_BLOCKS);
  assert_int_equal (found->times.compute_ps, 4 * N_BLOCKS);
  assert_int_equal (found->times.comm_ps, 5 * N_BLOCKS);
  assert_int_equal (found->times.overlapped_ps, 2 * N_BLOCKS);
  assert_int_equal (found->times.exposed_ps, 3 * N_BLOCKS);
  assert_int_equal (found->times.idle_ps, 3 * N_BLOCKS);
  assert_int_equal (found->copy_ps, 3 * N_BLOCKS);
  assert_int_equal (account->collectives->len, N_BLOCKS);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (accounts_are_those_of_every_picosecond),
    cmocka_unit_test (what_a_trace_does_not_say),
    cmocka_unit_test (what_is_no_run),
    cmocka_unit_test (collectives_meet_by_their_number),
    cmocka_unit_test (strides_of_groups),
    cmocka_unit_test (rates_of_collectives),
    cmocka_unit_test (there_are_64_rows_at_most),
    cmocka_unit_test (exposed_time_is_shared),
    cmocka_unit_test (many_operations_are_the_sum_of_few),
  };

  return cmocka_run_group_tests_name ("trace_account", tests, NULL, NULL);
}
