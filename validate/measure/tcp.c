/* SPDX-License-Identifier: Apache-2.0 */
/* tcp.c - the tcp backend: plain sockets between two hosts, from user space to user space.
 *
 * The data connections go from the asking end to the address by which it reached the other, at a port that the other
 * end says; a token tells them from strangers. Built in: it needs no library.
 */
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include "sim/base/error.h"
#include "validate/measure/backends.h"
#include "validate/measure/clock.h"
#include "validate/measure/control_tcp.h"
#include "validate/measure/pair.h"
#include "validate/measure/secret.h"

typedef enum { FAB_TCP_BLOCK, FAB_TCP_SPIN } FabTcpWait;

typedef struct {
  gint64 n_streams;
  FabBytes buffer_bytes; /* 0: the kernel's default */
  const char *bind;
  gint64 port;
  gint wait; /* FabTcpWait */
} FabTcpParams;

typedef struct {
  FabPair base;
  FabControl *control; /* owned by the caller */
  char *there;         /* name of the other end, for messages */
  gboolean is_asking;
  FabTcpWait wait;
  guint n_streams, window, timeout_s;
  int *streams; /* sockets that carry data */
  int words;    /* socket for single bytes: go, credit, all arrived */
  char *out, *in;
  gsize buffer_bytes;       /* of each buffer; longer messages wrap around in it */
  guint64 *sent, *received; /* bytes by stream, of the current transfer */
  guint n_steps;            /* in which something moved */
  gint64 silent_us;         /* since when nothing has moved; 0: something has */
  gint64 looked_us;         /* when this end last looked whether it must end */
} FabTcpPair;

/* A slow connection moves a few 64 KiB in so many steps; on a fast one the clock costs nothing beside them. */
#define STEPS_PER_LOOK 8

#define SLICE_US (FAB_MEASURE_SLICE_MS * G_TIME_SPAN_MILLISECOND)

/* Messages over TCP connections.
 *
 * A message is cut in one part per connection. One call to send carries a part of one message at most, so that
 * each message costs what a message costs; arrivals are read as they come. The sender of a bandwidth kind has at most
 * `window` messages that are not acknowledged: the receiver gives credit for half a window at a time.
 */

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

/* Looks whether the person wants to end, or whether the time of the conversation is over. */
static gboolean
look (FabTcpPair *self, gint64 now_us, GError **error)
{
  if (now_us - self->looked_us < SLICE_US)
    return TRUE;
  self->looked_us = now_us;
  return fab_control_check (self->control, error);
}

/* Something has moved. */
static gboolean
go_on (FabTcpPair *self, GError **error)
{
  self->silent_us = 0;
  return ++self->n_steps % STEPS_PER_LOOK != 0 || look (self, g_get_monotonic_time (), error);
}

/* Nothing has moved: fails when that has lasted too long. */
static gboolean
stay_patient (FabTcpPair *self, GError **error)
{
  gint64 now_us = g_get_monotonic_time ();

  if (self->silent_us == 0)
    self->silent_us = now_us;
  if (now_us - self->silent_us > self->timeout_s * (gint64) G_USEC_PER_SEC)
    return fail_late (self, error);
  return look (self, now_us, error);
}

/* --- words --- */

static gboolean
send_word (FabTcpPair *self, char word, GError **error)
{
  for (;;) {
    gssize n = send (self->words, &word, 1, MSG_NOSIGNAL);

    if (n == 1)
      return go_on (self, error);
    if (!is_only_waiting (self, n, error) || !stay_patient (self, error))
      return FALSE;
  }
}

/* Takes the words that have come; waits a slice for the first one, unless it is not to wait. */
static gboolean
receive_words (const FabTcpPair *self, char *words, gsize size, int flags, gssize *n, GError **error)
{
  *n = recv (self->words, words, size, flags);
  if (*n > 0)
    return TRUE;
  if (!is_only_waiting (self, *n, error))
    return FALSE;
  *n = 0;
  return TRUE;
}

/* Waits for one word. */
static gboolean
await_word (FabTcpPair *self, char *word, GError **error)
{
  gssize n;

  for (;;) {
    if (!receive_words (self, word, 1, 0, &n, error))
      return FALSE;
    if (n > 0)
      return go_on (self, error);
    if (!stay_patient (self, error))
      return FALSE;
  }
}

/* Returns when both ends are at the start of a sample and the asking end knows it. */
static gboolean
meet (FabTcpPair *self, GError **error)
{
  char word = 0;

  if (self->is_asking && !send_word (self, WORD_GO, error))
    return FALSE;
  if (!await_word (self, &word, error))
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
    return is_only_waiting (self, n, error);
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

/* Sleeps until one of the sockets is ready, or a slice is over. */
static gboolean
sleep_until_ready (Transfer *t)
{
  FabTcpPair *self = t->pair;
  g_autofree struct pollfd *waits = g_new0 (struct pollfd, self->n_streams + 1);

  for (guint i = 0; i < self->n_streams; i++) {
    guint64 part = part_bytes (t, i);

    waits[i].fd = self->streams[i];
    waits[i].events = (short) ((self->sent[i] < part * n_allowed (t) ? POLLOUT : 0)
                               | (self->received[i] < part * t->n_in ? POLLIN : 0));
    waits[i].fd = waits[i].events ? waits[i].fd : -1;
  }
  waits[self->n_streams] = (struct pollfd){ .fd = t->has_words ? self->words : -1, .events = POLLIN };
  return poll (waits, self->n_streams + 1, FAB_MEASURE_SLICE_MS) != 0;
}

/* Waits, for a slice at most, until the kernel has something new. Where only one thing can happen, the call that takes
 * it waits. */
static gboolean
wait_for_more (Transfer *t, gboolean *is_new, GError **error)
{
  FabTcpPair *self = t->pair;
  gboolean is_sending = !has_sent (t, n_allowed (t)), is_receiving = n_arrived (t) < t->n_in;

  *is_new = FALSE;
  if (self->wait == FAB_TCP_SPIN)
    return TRUE;
  if (!is_sending && !is_receiving)
    return take_words (t, 0, is_new, error);
  if (!is_sending && self->n_streams == 1 && (!t->has_words || has_sent (t, t->n_out)))
    return receive_some (t, 0, 0, is_new, error);
  *is_new = sleep_until_ready (t);
  return TRUE;
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
  gboolean has_moved, is_new;

  for (guint i = 0; i < self->n_streams; i++)
    self->sent[i] = self->received[i] = 0;
  self->silent_us = 0;
  while (!is_over (&t)) {
    if (!step (&t, &has_moved, error))
      return FALSE;
    if (has_moved) {
      if (!go_on (self, error))
        return FALSE;
      continue;
    }
    if (is_over (&t))
      break;
    if (!wait_for_more (&t, &is_new, error) || (!is_new && !stay_patient (self, error)))
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
  case FAB_MEASURE_PRODUCT:
  case FAB_MEASURE_MEMORY_BOUND:
  case FAB_MEASURE_COPY:
  case FAB_MEASURE_LAUNCH:
  case FAB_MEASURE_ATTENTION:
  case FAB_N_MEASURE_KINDS:
  default: g_assert_not_reached ();
  }
}

/* Implements FabPairOps.move. */
static gboolean
tcp_move (FabPair *pair, FabMeasureKind kind, FabBytes size_bytes, guint n_messages, FabTimePs *elapsed_ps,
          GError **error)
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

/* GREETING_S: how long a data connection may take to say its token. */
enum { DEFAULT_WINDOW = 64, TOKEN_BYTES = 40, MAX_STREAMS = 64, GREETING_S = 1 };

#define MAX_BUFFER_BYTES (64u << 20)

/* What the asking end requests, and what the other end answers; big endian. */
typedef struct {
  guint32 n_streams, wait;
  guint64 buffer_bytes;
} Wish;

typedef struct {
  guint32 port;
  char token[TOKEN_BYTES];
} Offer;

/* The first bytes of every data connection; the last connection carries the words. */
typedef struct {
  char token[TOKEN_BYTES];
  guint32 index;
} Greeting;

static const char *const wait_names[] = { "block", "spin", NULL };

static const FabParam params[] = {
  { .key = "streams",
    .type = FAB_PARAM_COUNT,
    .offset = G_STRUCT_OFFSET (FabTcpParams, n_streams),
    .fallback = "1",
    .min = 1,
    .max = MAX_STREAMS,
    .help = "Number of connections, among which every message is divided." },
  { .key = "buffer",
    .type = FAB_PARAM_BYTES,
    .offset = G_STRUCT_OFFSET (FabTcpParams, buffer_bytes),
    .fallback = "0B",
    .max = 1 << 30,
    .help = "Send and receive buffer of each socket, at both ends; 0B leaves it to the kernel." },
  { .key = "wait",
    .type = FAB_PARAM_CHOICE,
    .offset = G_STRUCT_OFFSET (FabTcpParams, wait),
    .fallback = "block",
    .choices = wait_names,
    .help = "How an end waits: asleep in the kernel, or by polling." },
  { .key = "bind",
    .type = FAB_PARAM_TEXT,
    .offset = G_STRUCT_OFFSET (FabTcpParams, bind),
    .fallback = "",
    .help = "Address of this host from which data connections are made." },
  { .key = "port",
    .type = FAB_PARAM_COUNT,
    .offset = G_STRUCT_OFFSET (FabTcpParams, port),
    .fallback = "0",
    .max = G_MAXUINT16,
    .help = "Port of the listening end for data connections; 0 takes a free one." },
  { 0 },
};

static void
tcp_close (FabPair *pair)
{
  FabTcpPair *self = (FabTcpPair *) pair;

  for (guint i = 0; i < self->n_streams; i++)
    if (self->streams[i] >= 0)
      close (self->streams[i]);
  if (self->words >= 0)
    close (self->words);
  g_free (self->streams);
  g_free (self->sent);
  g_free (self->received);
  g_free (self->out);
  g_free (self->in);
  g_free (self->there);
  g_free (self);
}

/* --- connections --- */

/* Calls that wait return after a slice, so that the person can end the wait. */
static void
tune (int fd, guint64 buffer_bytes)
{
  struct timeval slice = { .tv_usec = SLICE_US };
  int bytes = (int) MIN (buffer_bytes, 1u << 30);

  setsockopt (fd, SOL_SOCKET, SO_RCVTIMEO, &slice, sizeof slice);
  setsockopt (fd, SOL_SOCKET, SO_SNDTIMEO, &slice, sizeof slice);
  if (bytes > 0) {
    setsockopt (fd, SOL_SOCKET, SO_SNDBUF, &bytes, sizeof bytes);
    setsockopt (fd, SOL_SOCKET, SO_RCVBUF, &bytes, sizeof bytes);
  }
}

static int *
slot (FabTcpPair *self, guint index)
{
  return index < self->n_streams ? &self->streams[index] : &self->words;
}

static gboolean
connect_all (FabTcpPair *self, const Offer *offer, guint64 buffer_bytes, const char *bind_to, GError **error)
{
  g_autofree char *port = g_strdup_printf ("%u", GUINT32_FROM_BE (offer->port));

  for (guint i = 0; i <= self->n_streams; i++) {
    Greeting greeting = { .index = GUINT32_TO_BE (i) };
    int fd = fab_socket_connect (self->there, port, bind_to, self->timeout_s, self->control->canceller,
                                 error);

    if (fd < 0)
      return FALSE;
    *slot (self, i) = fd;
    tune (fd, buffer_bytes);
    memcpy (greeting.token, offer->token, TOKEN_BYTES);
    if (!fab_socket_send (fd, &greeting, sizeof greeting, self->control, error))
      return FALSE;
  }
  return TRUE;
}

/* Takes a connection that has the token. FALSE: it comes from a stranger. */
static gboolean
take_connection (FabTcpPair *self, int fd, const Offer *offer)
{
  FabControl limits = { .there = self->there,
                        .timeout_s = GREETING_S,
                        .canceller = self->control->canceller };
  Greeting greeting;
  guint index;

  if (!fab_socket_receive (fd, &greeting, sizeof greeting, &limits, NULL)
      || memcmp (greeting.token, offer->token, TOKEN_BYTES) != 0)
    return FALSE;
  index = GUINT32_FROM_BE (greeting.index);
  if (index > self->n_streams || *slot (self, index) >= 0)
    return FALSE;
  *slot (self, index) = fd;
  return TRUE;
}

static gboolean
accept_all (FabTcpPair *self, int listening, const Offer *offer, guint64 buffer_bytes, GError **error)
{
  gint64 deadline_us = fab_measure_deadline_us (self->timeout_s);

  for (guint n = 0; n <= self->n_streams;) {
    int fd = fab_socket_accept (listening, self->timeout_s, self->control->canceller, error);

    if (fd < 0)
      return FALSE;
    tune (fd, buffer_bytes);
    if (take_connection (self, fd, offer)) {
      n++;
      continue;
    }
    close (fd);
    if (!fab_control_check (self->control, error))
      return FALSE;
    if (g_get_monotonic_time () >= deadline_us)
      return fab_throw (error, FAB_ERROR_IO, "strangers keep connecting to the data port");
  }
  return TRUE;
}

/* --- opening --- */

static void
make_buffers (FabTcpPair *self, FabBytes max_bytes)
{
  self->streams = g_new (int, self->n_streams);
  for (guint i = 0; i < self->n_streams; i++)
    self->streams[i] = -1;
  self->sent = g_new0 (guint64, self->n_streams);
  self->received = g_new0 (guint64, self->n_streams);
  self->buffer_bytes = CLAMP (max_bytes, 65536, MAX_BUFFER_BYTES);
  self->out = g_malloc (self->buffer_bytes);
  self->in = g_malloc (self->buffer_bytes);
  /* touches every page, so that each is backed by memory of its own */
  memset (self->out, 0x5a, self->buffer_bytes);
  memset (self->in, 0, self->buffer_bytes);
}

static gboolean
open_asking (FabTcpPair *self, FabControl *control, const FabTcpParams *wanted, FabBytes max_bytes,
             GError **error)
{
  Wish wish = { GUINT32_TO_BE ((guint32) wanted->n_streams), GUINT32_TO_BE ((guint32) wanted->wait),
                GUINT64_TO_BE (wanted->buffer_bytes) };
  Offer offer;

  self->n_streams = (guint) wanted->n_streams;
  self->wait = (FabTcpWait) wanted->wait;
  make_buffers (self, max_bytes);
  return control->send (control, &wish, sizeof wish, error)
      && control->receive (control, &offer, sizeof offer, error)
      && connect_all (self, &offer, wanted->buffer_bytes, wanted->bind, error);
}

static gboolean
open_listening (FabTcpPair *self, FabControl *control, const FabTcpParams *own, FabBytes max_bytes,
                GError **error)
{
  g_autofree char *port = g_strdup_printf ("%" G_GINT64_FORMAT, own->port);
  Offer offer = { 0 };
  Wish wish;
  int listening;
  gboolean is_open;

  if (!control->receive (control, &wish, sizeof wish, error))
    return FALSE;
  self->n_streams = GUINT32_FROM_BE (wish.n_streams);
  self->wait = GUINT32_FROM_BE (wish.wait) == FAB_TCP_SPIN ? FAB_TCP_SPIN : FAB_TCP_BLOCK;
  if (self->n_streams < 1 || self->n_streams > MAX_STREAMS) {
    self->n_streams = 0;
    return fab_throw (error, FAB_ERROR_IO, "%s asks for an impossible number of connections", self->there);
  }
  make_buffers (self, max_bytes);
  listening = fab_socket_listen (control->here, port, self->timeout_s, control->canceller, error);
  if (listening < 0)
    return FALSE;
  fab_secret_random (offer.token, TOKEN_BYTES);
  offer.port = GUINT32_TO_BE (fab_socket_port (listening));
  is_open = control->send (control, &offer, sizeof offer, error)
         && accept_all (self, listening, &offer, GUINT64_FROM_BE (wish.buffer_bytes), error);
  close (listening);
  return is_open;
}

static FabPair *
tcp_open (FabControl *control, gconstpointer own, const FabMeasurePlan *plan, FabBytes max_bytes,
          gboolean is_asking, GError **error)
{
  FabTcpPair *self = g_new0 (FabTcpPair, 1);

  self->control = control;
  self->there = g_strdup (control->there);
  self->is_asking = is_asking;
  self->window = plan->window > 0 ? plan->window : DEFAULT_WINDOW;
  self->timeout_s = plan->timeout_s;
  self->words = -1;
  if (is_asking ? open_asking (self, control, own, max_bytes, error)
                : open_listening (self, control, own, max_bytes, error))
    return &self->base;
  tcp_close (&self->base);
  return NULL;
}

static void
tcp_describe (const FabPair *pair, FabSeries *series)
{
  const FabTcpPair *self = (const FabTcpPair *) pair;
  gboolean is_ipv6 = strchr (self->there, ':') != NULL;
  int mtu = 0;
  socklen_t size = sizeof mtu;

  series->method = g_strdup (self->wait == FAB_TCP_SPIN ? "spinning sockets" : "sockets");
  series->from_memory = g_strdup ("host");
  series->to_memory = g_strdup ("host");
  if (series->kind == FAB_MEASURE_BANDWIDTH || series->kind == FAB_MEASURE_BIDIRECTIONAL)
    series->window = self->window;
  series->n_queue_pairs = self->n_streams > 1 ? self->n_streams : 0;
  if (getsockopt (self->streams[0], is_ipv6 ? IPPROTO_IPV6 : IPPROTO_IP, is_ipv6 ? IPV6_MTU : IP_MTU, &mtu,
                  &size)
          == 0
      && mtu > 0)
    series->mtu_bytes = (guint) mtu;
}

/* --- the backend --- */

static const FabPairOps tcp_ops = {
  .open = tcp_open,
  .move = tcp_move,
  .describe = tcp_describe,
  .close = tcp_close,
  .can = { [FAB_MEASURE_LATENCY] = TRUE,
           [FAB_MEASURE_BANDWIDTH] = TRUE,
           [FAB_MEASURE_EXCHANGE] = TRUE,
           [FAB_MEASURE_BIDIRECTIONAL] = TRUE },
  .name = "tcp",
};

static gboolean
tcp_measure (FabMeasureHost *host, gconstpointer own, GError **error)
{
  return fab_pair_measure_peer (host, &tcp_ops, own, error);
}

static gboolean
tcp_serve (FabMeasureHost *host, gconstpointer own, GError **error)
{
  return fab_pair_serve_peers (host, &tcp_ops, own, error);
}

const FabMeasureBackend fab_measure_tcp = {
  .abi = FAB_MEASURE_ABI,
  .info = { .name = "tcp",
            .summary = "TCP sockets between two hosts",
            .doc = "docs/how-to/measure.md",
            .params = params,
            .params_size = sizeof (FabTcpParams) },
  .needs = "a network between two hosts",
  .measure = tcp_measure,
  .serve = tcp_serve,
};
