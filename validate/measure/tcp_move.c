/* SPDX-License-Identifier: Apache-2.0 */
/* tcp_move.c - messages over TCP connections.
 *
 * A message is cut in one part per connection. One call to send carries a part of one message at most, so that
 * each message costs what a message costs; arrivals are read as they come. The sender of a bandwidth kind has at most
 * `window` messages that are not acknowledged: the receiver gives credit for half a window at a time.
 */
#include <errno.h>
#include <poll.h>
#include <sys/socket.h>

#include "sim/base/error.h"
#include "validate/measure/clock.h"
#include "validate/measure/control_tcp.h"
#include "validate/measure/tcp.h"

enum { WORD_GO = 'g', WORD_CREDIT = 'c', WORD_ALL = 'a', MAX_WORDS = 64 };

/* The state of one transfer: so many messages out and in. */
typedef struct {
  FabTcpPair *pair;
  FabBytes size_bytes;
  guint n_out, n_in;
  gboolean has_words; /* it uses credits, and a word when all have arrived */
  guint n_credited;   /* messages out that the other end has acknowledged */
  guint n_given;      /* messages in that this end has acknowledged */
  gboolean is_all_there, has_said_all;
} Transfer;

/* Handles a call that returned n <= 0 on a socket. TRUE: there is just nothing to read or write now. */
static gboolean
is_only_waiting (const FabTcpPair *self, gssize n, GError **error)
{
  int code = errno;

  if (n < 0 && (code == EAGAIN || code == EWOULDBLOCK || code == EINTR))
    return TRUE;
  if (n == 0 || code == ECONNRESET || code == EPIPE)
    return fab_socket_ended (self->there, error);
  return fab_socket_fail (self->there, code, error);
}

static gboolean
fail_late (const FabTcpPair *self, GError **error)
{
  return fab_throw (error, FAB_ERROR_IO, "no data has come from %s for %u s; is it still running?",
                    self->there, self->timeout_s);
}

/* --- words --- */

static gboolean
send_word (const FabTcpPair *self, char word, GError **error)
{
  gssize n = send (self->words, &word, 1, MSG_NOSIGNAL);

  return n == 1 || (is_only_waiting (self, n, error) ? fail_late (self, error) : FALSE);
}

/* Waits for at least one word. */
static gboolean
receive_words (const FabTcpPair *self, char *words, gsize size, int flags, gssize *n, GError **error)
{
  *n = recv (self->words, words, size, flags);
  if (*n > 0)
    return TRUE;
  if (!is_only_waiting (self, *n, error))
    return FALSE;
  *n = 0;
  return (flags & MSG_DONTWAIT) || fail_late (self, error);
}

/* Returns when both ends are at the start of a sample and the asking end knows it. */
static gboolean
meet (const FabTcpPair *self, GError **error)
{
  char word = 0;
  gssize n;

  if (self->is_asking && !send_word (self, WORD_GO, error))
    return FALSE;
  if (!receive_words (self, &word, 1, 0, &n, error))
    return FALSE;
  if (word != WORD_GO)
    return fab_throw (error, FAB_ERROR_IO, "%s is not at the same message", self->there);
  return self->is_asking || send_word (self, WORD_GO, error);
}

static gboolean
take_words (Transfer *t, int flags, gboolean *has_moved, GError **error)
{
  char words[MAX_WORDS];
  gssize n;

  if (!receive_words (t->pair, words, sizeof words, flags, &n, error))
    return FALSE;
  for (gssize i = 0; i < n; i++) {
    t->is_all_there |= words[i] == WORD_ALL;
    t->n_credited += words[i] == WORD_CREDIT ? MAX (t->pair->window / 2, 1) : 0;
  }
  *has_moved |= n > 0;
  return TRUE;
}

/* --- data --- */

static guint64
part_bytes (const Transfer *t, guint stream)
{
  return t->size_bytes * (stream + 1) / t->pair->n_streams - t->size_bytes * stream / t->pair->n_streams;
}

static guint
n_allowed (const Transfer *t)
{
  return t->has_words ? MIN (t->n_out, t->n_credited + t->pair->window) : t->n_out;
}

static gboolean
has_sent (const Transfer *t, guint n_messages)
{
  for (guint i = 0; i < t->pair->n_streams; i++)
    if (t->pair->sent[i] < part_bytes (t, i) * n_messages)
      return FALSE;
  return TRUE;
}

static guint
n_arrived (const Transfer *t)
{
  guint64 n = t->n_in;

  for (guint i = 0; i < t->pair->n_streams; i++)
    if (part_bytes (t, i) > 0)
      n = MIN (n, t->pair->received[i] / part_bytes (t, i));
  return (guint) n;
}

static gboolean
send_some (Transfer *t, guint stream, gboolean *has_moved, GError **error)
{
  FabTcpPair *self = t->pair;
  guint64 part = part_bytes (t, stream), total = part * n_allowed (t);

  while (self->sent[stream] < total) {
    guint64 offset = self->sent[stream] % part % self->buffer_bytes;
    guint64 left = part - self->sent[stream] % part;
    gssize n = send (self->streams[stream], self->out + offset, MIN (left, self->buffer_bytes - offset),
                     MSG_NOSIGNAL | MSG_DONTWAIT);

    if (n <= 0)
      return is_only_waiting (self, n, error);
    self->sent[stream] += (guint64) n;
    *has_moved = TRUE;
  }
  return TRUE;
}

static gboolean
receive_some (Transfer *t, guint stream, int flags, gboolean *has_moved, GError **error)
{
  FabTcpPair *self = t->pair;
  guint64 left = part_bytes (t, stream) * t->n_in - self->received[stream];
  guint64 offset = self->received[stream] % self->buffer_bytes;
  gssize n;

  if (left == 0)
    return TRUE;
  n = recv (self->streams[stream], self->in + offset, MIN (left, self->buffer_bytes - offset), flags);
  if (n <= 0)
    return is_only_waiting (self, n, error) && ((flags & MSG_DONTWAIT) || fail_late (self, error));
  self->received[stream] += (guint64) n;
  *has_moved = TRUE;
  return TRUE;
}

static gboolean
give_credit (Transfer *t, GError **error)
{
  guint step = MAX (t->pair->window / 2, 1), n = n_arrived (t);

  for (; t->n_given + step <= n; t->n_given += step)
    if (!send_word (t->pair, WORD_CREDIT, error))
      return FALSE;
  if (n < t->n_in || t->has_said_all)
    return TRUE;
  t->has_said_all = TRUE;
  return send_word (t->pair, WORD_ALL, error);
}

/* --- one transfer --- */

static gboolean
is_over (const Transfer *t)
{
  if (!has_sent (t, t->n_out) || n_arrived (t) < t->n_in)
    return FALSE;
  return !t->has_words || t->n_out == 0 || t->is_all_there;
}

/* Waits until the kernel has something new. Where only one thing can happen, the call that takes it waits. */
static gboolean
wait_for_more (Transfer *t, GError **error)
{
  FabTcpPair *self = t->pair;
  gboolean is_sending = !has_sent (t, n_allowed (t)), is_receiving = n_arrived (t) < t->n_in, has_moved;
  g_autofree struct pollfd *waits = NULL;

  if (self->wait == FAB_TCP_SPIN)
    return TRUE;
  if (!is_sending && !is_receiving)
    return take_words (t, 0, &has_moved, error);
  if (!is_sending && self->n_streams == 1 && (!t->has_words || has_sent (t, t->n_out)))
    return receive_some (t, 0, 0, &has_moved, error);
  waits = g_new0 (struct pollfd, self->n_streams + 1);
  for (guint i = 0; i < self->n_streams; i++) {
    guint64 part = part_bytes (t, i);

    waits[i].fd = self->streams[i];
    waits[i].events = (short) ((self->sent[i] < part * n_allowed (t) ? POLLOUT : 0)
                               | (self->received[i] < part * t->n_in ? POLLIN : 0));
    waits[i].fd = waits[i].events ? waits[i].fd : -1;
  }
  waits[self->n_streams] = (struct pollfd){ .fd = t->has_words ? self->words : -1, .events = POLLIN };
  int n = poll (waits, self->n_streams + 1, (int) self->timeout_s * 1000);
  return n != 0 || fail_late (self, error);
}

static gboolean
step (Transfer *t, gboolean *has_moved, GError **error)
{
  *has_moved = FALSE;
  for (guint i = 0; i < t->pair->n_streams; i++)
    if (!send_some (t, i, has_moved, error) || !receive_some (t, i, MSG_DONTWAIT, has_moved, error))
      return FALSE;
  if (!t->has_words)
    return TRUE;
  if (t->n_in > 0 && !give_credit (t, error))
    return FALSE;
  return t->n_out == 0 || !has_sent (t, n_allowed (t)) || take_words (t, MSG_DONTWAIT, has_moved, error);
}

static gboolean
transfer (FabTcpPair *self, FabBytes size_bytes, guint n_out, guint n_in, gboolean has_words, GError **error)
{
  Transfer t = {
    .pair = self, .size_bytes = size_bytes, .n_out = n_out, .n_in = n_in, .has_words = has_words
  };
  gint64 last_move_us = 0;
  gboolean has_moved;

  for (guint i = 0; i < self->n_streams; i++)
    self->sent[i] = self->received[i] = 0;
  while (!is_over (&t)) {
    if (!step (&t, &has_moved, error))
      return FALSE;
    if (has_moved) {
      last_move_us = 0;
      continue;
    }
    if (is_over (&t))
      break;
    if (self->wait == FAB_TCP_SPIN && last_move_us == 0)
      last_move_us = g_get_monotonic_time ();
    if (last_move_us > 0
        && g_get_monotonic_time () - last_move_us > self->timeout_s * (gint64) G_USEC_PER_SEC)
      return fail_late (self, error);
    if (!wait_for_more (&t, error))
      return FALSE;
  }
  return !has_words || n_in == 0 || give_credit (&t, error);
}

/* --- the kinds --- */

static gboolean
ping_pong (FabTcpPair *self, FabBytes size_bytes, guint n_messages, GError **error)
{
  for (guint i = 0; i < n_messages; i++)
    if (!transfer (self, size_bytes, self->is_asking, !self->is_asking, FALSE, error)
        || !transfer (self, size_bytes, !self->is_asking, self->is_asking, FALSE, error))
      return FALSE;
  return TRUE;
}

static gboolean
exchange (FabTcpPair *self, FabBytes size_bytes, guint n_messages, GError **error)
{
  for (guint i = 0; i < n_messages; i++)
    if (!transfer (self, size_bytes, 1, 1, FALSE, error))
      return FALSE;
  return TRUE;
}

static gboolean
move_kind (FabTcpPair *self, FabMeasureKind kind, FabBytes size_bytes, guint n_messages, GError **error)
{
  switch (kind) {
  case FAB_MEASURE_LATENCY: return ping_pong (self, size_bytes, n_messages, error);
  case FAB_MEASURE_EXCHANGE: return exchange (self, size_bytes, n_messages, error);
  case FAB_MEASURE_BANDWIDTH:
    return transfer (self, size_bytes, self->is_asking ? n_messages : 0, self->is_asking ? 0 : n_messages,
                     TRUE, error);
  case FAB_MEASURE_BIDIRECTIONAL: return transfer (self, size_bytes, n_messages, n_messages, TRUE, error);
  case FAB_MEASURE_COLLECTIVE:
  case FAB_N_MEASURE_KINDS:
  default: g_assert_not_reached ();
  }
}

gboolean
fab_tcp_move (FabPair *pair, FabMeasureKind kind, FabBytes size_bytes, guint n_messages,
              FabTimePs *elapsed_ps, GError **error)
{
  FabTcpPair *self = (FabTcpPair *) pair;
  FabTimePs begun_ps;

  if (!meet (self, error))
    return FALSE;
  begun_ps = fab_clock_ps ();
  if (!move_kind (self, kind, size_bytes, n_messages, error))
    return FALSE;
  *elapsed_ps = fab_clock_ps () - begun_ps;
  return TRUE;
}
