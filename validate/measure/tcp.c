/* SPDX-License-Identifier: Apache-2.0 */
/* tcp.c - the tcp backend: plain sockets between two hosts, from user space to user space.
 *
 * The data connections go from the asking end to the address by which it reached the other, at a port that the other
 * end says; a token tells them from strangers. Built in: it needs no library.
 */
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include "sim/base/error.h"
#include "validate/measure/backends.h"
#include "validate/measure/control_tcp.h"
#include "validate/measure/tcp.h"

enum { DEFAULT_WINDOW = 64, TOKEN_BYTES = 40, MAX_STREAMS = 64, MAX_STRANGERS = 1000 };

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
    .help = "Connections; every message is cut in as many parts." },
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
    .help = "How an end waits: asleep in the kernel, or asking again and again." },
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

static void
tune (int fd, guint64 buffer_bytes, guint timeout_s)
{
  struct timeval limit = { .tv_sec = timeout_s };
  int bytes = (int) MIN (buffer_bytes, 1u << 30);

  setsockopt (fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
  setsockopt (fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
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
    int fd = fab_socket_connect (self->there, port, bind_to, self->timeout_s, error);

    if (fd < 0)
      return FALSE;
    *slot (self, i) = fd;
    tune (fd, buffer_bytes, self->timeout_s);
    memcpy (greeting.token, offer->token, TOKEN_BYTES);
    if (send (fd, &greeting, sizeof greeting, MSG_NOSIGNAL) != sizeof greeting)
      return fab_socket_ended (self->there, error);
  }
  return TRUE;
}

/* Takes a connection that has the token. FALSE: it comes from a stranger. */
static gboolean
take_connection (FabTcpPair *self, int fd, const Offer *offer)
{
  Greeting greeting;
  guint index;

  if (recv (fd, &greeting, sizeof greeting, MSG_WAITALL) != sizeof greeting
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
  guint n_strangers = 0;

  for (guint n = 0; n <= self->n_streams;) {
    int fd = fab_socket_accept (listening, self->timeout_s, NULL, error);

    if (fd < 0)
      return FALSE;
    tune (fd, buffer_bytes, self->timeout_s);
    if (take_connection (self, fd, offer)) {
      n++;
      continue;
    }
    close (fd);
    if (++n_strangers > MAX_STRANGERS)
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
  g_autofree char *token = g_uuid_string_random ();
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
  listening = fab_socket_listen (control->here, port, error);
  if (listening < 0)
    return FALSE;
  g_strlcpy (offer.token, token, TOKEN_BYTES);
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
  .move = fab_tcp_move,
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
            .doc = "docs/measure.md",
            .params = params,
            .params_size = sizeof (FabTcpParams) },
  .needs = "a network between two hosts",
  .measure = tcp_measure,
  .serve = tcp_serve,
};
