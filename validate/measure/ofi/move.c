/* SPDX-License-Identifier: Apache-2.0 */
/* move.c - moves messages over libfabric and times them. */
#include <rdma/fi_errno.h>
#include <sched.h>

#include "sim/base/error.h"
#include "validate/measure/clock.h"
#include "validate/measure/ofi/ofi.h"

enum {
  TAG = 0x0fab,
  POLLS_PER_LOOK = 64, /* polls between looks at the clock; then other threads may use the processor */
  SLOWEST_BYTES_PER_S = 1000000, /* a slower message counts as lost */
};

static gboolean
fail_completion (FabOfiSide *side, GError **error)
{
  struct fi_cq_err_entry entry = { 0 };
  char reason[128] = "";
  gssize n = fi_cq_readerr (side->queue, &entry, 0);
  const char *words = n > 0 ? fi_cq_strerror (side->queue, entry.prov_errno, entry.err_data, reason,
                                              sizeof reason)
                            : "no reason given";

  return fab_throw (error, FAB_ERROR_IO,
                    "libfabric: a message to or from the other end failed: %s (%s); is it still running?",
                    n > 0 ? fi_strerror (entry.err) : "unknown", words);
}

/* Takes the completions from the queue of one direction. */
static gboolean
collect (FabOfiPair *self, FabOfiSide *side, gboolean *is_any, GError **error)
{
  struct fi_cq_entry entries[16];
  gssize n = fi_cq_read (side->queue, entries, G_N_ELEMENTS (entries));

  if (n == -FI_EAGAIN || n == -FI_EINTR)
    return TRUE;
  if (n == -FI_EAVAIL)
    return fail_completion (side, error);
  if (n < 0)
    return fab_ofi_fail ((int) n, "fi_cq_read", error);
  for (gssize i = 0; i < n; i++)
    g_ptr_array_add (self->free_contexts, entries[i].op_context);
  side->n_done += (guint64) n;
  *is_any = n > 0;
  return TRUE;
}

typedef struct {
  gint64 deadline_us; /* 0: not started */
  guint n_polls;
} Patience;

/* Polls both queues once. What is awaited must come within the time limit since the last completion. */
static gboolean
progress (FabOfiPair *self, Patience *patience, gsize size, GError **error)
{
  gboolean is_out = FALSE, is_in = FALSE;

  if (!collect (self, &self->out, &is_out, error) || !collect (self, &self->in, &is_in, error))
    return FALSE;
  if (is_out || is_in) {
    *patience = (Patience){ 0 };
    return TRUE;
  }
  if (++patience->n_polls % POLLS_PER_LOOK != 0)
    return TRUE;
  sched_yield ();
  if (patience->deadline_us == 0)
    patience->deadline_us = fab_measure_deadline_us (self->timeout_s)
                          + (gint64) (size * G_USEC_PER_SEC / SLOWEST_BYTES_PER_S);
  if (g_get_monotonic_time () >= patience->deadline_us)
    return fab_throw (
        error, FAB_ERROR_IO,
        "%s has sent and taken no message within the time limit of %u s; is it still running? A larger "
        "--timeout waits longer",
        self->there, self->timeout_s);
  return TRUE;
}

/* Begins a message; tries again while the provider has no room. */
static gboolean
begin (FabOfiPair *self, gboolean is_out, gsize size, GError **error)
{
  FabOfiSide *side = is_out ? &self->out : &self->in;
  void *described = self->memory ? fi_mr_desc (self->memory) : NULL;
  Patience patience = { 0 };
  gpointer context;

  while (self->free_contexts->len == 0)
    if (!progress (self, &patience, size, error))
      return FALSE;
  context = g_ptr_array_remove_index_fast (self->free_contexts, self->free_contexts->len - 1);
  for (;;) {
    gssize result = is_out
                      ? fi_tsend (self->endpoint, self->buffer, size, described, self->peer, TAG, context)
                      : fi_trecv (self->endpoint, self->buffer + self->max_bytes, size, described, self->peer,
                                  TAG, 0, context);

    if (result == 0) {
      side->n_begun++;
      return TRUE;
    }
    if (result != -FI_EAGAIN) {
      g_ptr_array_add (self->free_contexts, context);
      return fab_ofi_fail ((int) result, is_out ? "fi_tsend" : "fi_trecv", error);
    }
    if (!progress (self, &patience, size, error))
      return FALSE;
  }
}

/* Waits until at most `n_left` of the messages begun are in flight. */
static gboolean
await (FabOfiPair *self, const FabOfiSide *side, guint64 n_left, gsize size, GError **error)
{
  Patience patience = { 0 };

  while (side->n_begun - side->n_done > n_left)
    if (!progress (self, &patience, size, error))
      return FALSE;
  return TRUE;
}

static gboolean
await_all (FabOfiPair *self, gsize size, GError **error)
{
  return await (self, &self->out, 0, size, error) && await (self, &self->in, 0, size, error);
}

/* The receive of the next message is posted before the answer to this one is sent. */
static gboolean
ping_pong (FabOfiPair *self, gsize size, guint n, GError **error)
{
  if (!begin (self, FALSE, size, error))
    return FALSE;
  for (guint i = 0; i < n; i++) {
    if (self->is_asking && !begin (self, TRUE, size, error))
      return FALSE;
    if (!await (self, &self->in, 0, size, error))
      return FALSE;
    if (i + 1 < n && !begin (self, FALSE, size, error))
      return FALSE;
    if (!self->is_asking && !begin (self, TRUE, size, error))
      return FALSE;
  }
  return await_all (self, size, error);
}

static gboolean
exchange (FabOfiPair *self, gsize size, guint n, GError **error)
{
  for (guint i = 0; i < n; i++)
    if (!begin (self, FALSE, size, error) || !begin (self, TRUE, size, error)
        || !await_all (self, size, error))
      return FALSE;
  return TRUE;
}

/* Moves `n` messages out, in or both, with at most `window` of each in flight. */
static gboolean
stream (FabOfiPair *self, gboolean is_sending, gboolean is_receiving, gsize size, guint n, GError **error)
{
  for (guint i = 0; i < n; i++) {
    if (is_receiving
        && (!await (self, &self->in, self->window - 1, size, error) || !begin (self, FALSE, size, error)))
      return FALSE;
    if (is_sending
        && (!await (self, &self->out, self->window - 1, size, error) || !begin (self, TRUE, size, error)))
      return FALSE;
  }
  return await_all (self, size, error);
}

/* Sends one word from the end that received last. */
static gboolean
finish (FabOfiPair *self, gboolean is_answering, GError **error)
{
  return begin (self, is_answering, 1, error) && await_all (self, 1, error);
}

gboolean
fab_ofi_move (FabPair *pair, FabMeasureKind kind, FabBytes size_bytes, guint n_messages,
              FabTimePs *elapsed_ps, GError **error)
{
  FabOfiPair *self = (FabOfiPair *) pair;
  gsize size = (gsize) size_bytes;
  gboolean is_both = kind == FAB_MEASURE_BIDIRECTIONAL;
  FabTimePs start_ps = fab_clock_ps ();
  gboolean is_done;

  if (kind == FAB_MEASURE_LATENCY)
    is_done = ping_pong (self, size, n_messages, error);
  else if (kind == FAB_MEASURE_EXCHANGE)
    is_done = exchange (self, size, n_messages, error);
  else
    is_done = stream (self, is_both || self->is_asking, is_both || !self->is_asking, size, n_messages, error)
           && finish (self, !self->is_asking, error);
  *elapsed_ps = fab_clock_ps () - start_ps;
  return is_done;
}
