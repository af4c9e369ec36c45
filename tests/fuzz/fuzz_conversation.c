/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz_conversation.c - whole conversations with the listening end of `measure tcp`: whatever the asking end says, and
 * sends over the connections that it was offered, the listening end answers or gives up in time, and serves the next.
 *
 * The first byte of an input says over how many connections data is sent, its highest bit whether the listening end has
 * a secret; the second one how many of the bytes behind are that data. The rest goes over the control channel.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tests/fuzz/target.h"
#include "validate/measure/backends.h"
#include "validate/measure/frame.h"

enum { LONGEST_S = 15, MOST_CONNECTIONS = 66, SECRET_BIT = 0x80 };
enum { TOKEN_BYTES = 40, OFFER_BYTES = 4 + TOKEN_BYTES, TYPE_AT = 8, N_DATA_AT = 28 };

/* --- two listening ends, one with a secret --- */

typedef struct {
  FabMeasureHost base;
  FabMeasurePlan plan;
  guint port;
} End;

static GMutex lock;
static GCond is_ready;
static End ends[2];

static void
take_note (FabMeasureHost *host, const char *format, ...)
{
  End *self = (End *) host;
  va_list arguments;
  guint port = 0;

  va_start (arguments, format);
  g_autofree char *note = g_strdup_vprintf (format, arguments);
  va_end (arguments);
  fuzz_check_text (note);
  if (sscanf (note, "Waits for the other end on port %u.", &port) != 1)
    return;
  g_mutex_lock (&lock);
  self->port = port;
  g_cond_signal (&is_ready);
  g_mutex_unlock (&lock);
}

static gboolean
is_cancelled (G_GNUC_UNUSED FabMeasureHost *host)
{
  return FALSE;
}

static gpointer
serve (gpointer data)
{
  g_autofree gpointer params = g_malloc0 (fab_measure_tcp.info.params_size);
  g_autoptr (GError) error = NULL;

  fab_measure_tcp.serve (data, params, &error);
  g_error ("the listening end has ended: %s", error ? error->message : "without a message");
  return NULL;
}

static void
start (End *self, GBytes *secret)
{
  self->plan = (FabMeasurePlan){ .listen = ":0", .timeout_s = 1, .session_s = 2, .secret = secret };
  self->base = (FabMeasureHost){ .plan = &self->plan, .note = take_note, .is_cancelled = is_cancelled };
  g_thread_unref (g_thread_new ("end", serve, self));
  g_mutex_lock (&lock);
  while (self->port == 0)
    g_cond_wait (&is_ready, &lock);
  g_mutex_unlock (&lock);
}

/* --- the asking end --- */

/* Returns a connection; -1: nobody listens there. */
static int
connect_to (guint port)
{
  const struct timeval longest = { .tv_sec = LONGEST_S };
  struct sockaddr_in there = { .sin_family = AF_INET,
                               .sin_port = htons ((uint16_t) port),
                               .sin_addr.s_addr = htonl (INADDR_LOOPBACK) };
  int fd = socket (AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

  if (fd >= 0 && connect (fd, (const struct sockaddr *) &there, sizeof there) == 0) {
    setsockopt (fd, SOL_SOCKET, SO_RCVTIMEO, &longest, sizeof longest);
    setsockopt (fd, SOL_SOCKET, SO_SNDTIMEO, &longest, sizeof longest);
    return fd;
  }
  if (fd >= 0)
    close (fd);
  return -1;
}

static gboolean
receive (int fd, void *data, gsize size)
{
  gssize n = recv (fd, data, size, MSG_WAITALL);

  if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
    g_error ("no answer within %d s", LONGEST_S);
  return n == (gssize) size;
}

static guint32
number_at (const guint8 *bytes)
{
  guint32 number;

  memcpy (&number, bytes, sizeof number);
  return GUINT32_FROM_BE (number);
}

/* Reads the next frame; `data` has room for 64 KiB. */
static gboolean
read_frame (int fd, guint8 *head, guint8 *data, guint *n_data)
{
  if (!receive (fd, head, FAB_FRAME_HEAD_BYTES))
    return FALSE;
  *n_data = number_at (head + N_DATA_AT);
  if (memcmp (head, "FABM", 4) != 0 || *n_data > 65536)
    g_error ("the listening end sends no frame");
  return receive (fd, data, *n_data);
}

/* Makes the connections that were offered, and sends the data over each of them. */
static void
send_data (const guint8 *offer, int *fds, guint n, const guint8 *data, gsize size)
{
  for (guint i = 0; i < n; i++) {
    guint32 index = GUINT32_TO_BE (i);
    guint8 greeting[OFFER_BYTES];

    memcpy (greeting, offer + 4, TOKEN_BYTES);
    memcpy (greeting + TOKEN_BYTES, &index, sizeof index);
    fds[i] = connect_to (number_at (offer));
    if (fds[i] < 0)
      break;
    send (fds[i], greeting, sizeof greeting, MSG_NOSIGNAL);
    send (fds[i], data, size, MSG_NOSIGNAL);
    shutdown (fds[i], SHUT_WR);
  }
}

static void
talk (int fd, guint n_connections, const guint8 *data, gsize n_sent)
{
  static guint8 answer[65536];
  int fds[MOST_CONNECTIONS];
  guint8 head[FAB_FRAME_HEAD_BYTES];
  guint n_data = 0;

  for (guint i = 0; i < MOST_CONNECTIONS; i++)
    fds[i] = -1;
  while (read_frame (fd, head, answer, &n_data))
    if (number_at (head + TYPE_AT) == FAB_FRAME_DATA && n_data == OFFER_BYTES && fds[0] < 0)
      send_data (answer, fds, n_connections, data, n_sent);
  for (guint i = 0; i < MOST_CONNECTIONS; i++)
    if (fds[i] >= 0)
      close (fds[i]);
}

int
LLVMFuzzerTestOneInput (const guint8 *data, gsize size)
{
  gboolean has_secret;
  gsize n_sent;
  int fd;

  if (size < 2)
    return 0;
  if (ends[0].port == 0) {
    start (&ends[0], NULL);
    start (&ends[1], g_bytes_new_static ("secret", 6));
  }
  has_secret = (data[0] & SECRET_BIT) != 0;
  n_sent = MIN (data[1], size - 2);
  fd = connect_to (ends[has_secret].port);
  if (fd < 0)
    g_error ("the listening end does not listen");
  send (fd, data + 2 + n_sent, size - 2 - n_sent, MSG_NOSIGNAL);
  shutdown (fd, SHUT_WR);
  talk (fd, (data[0] & ~SECRET_BIT) % (MOST_CONNECTIONS + 1), data + 2, n_sent);
  close (fd);
  return 0;
}
