/* SPDX-License-Identifier: Apache-2.0 */
/* control_tcp.c - the control channel as a TCP connection; every send and receive has the time limit. */
#include "validate/measure/control_tcp.h"

#include <errno.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "sim/base/error.h"

#define LINGER_US (G_USEC_PER_SEC / 2)

/* How long a new connection may take to introduce itself; until then no other one is served. */
#define HELLO_TIMEOUT_S 5

typedef struct {
  FabControl base;
  int fd;
} TcpControl;

struct _FabListener {
  int fd;
};

static gboolean
tcp_send (FabControl *control, gconstpointer data, gsize size, GError **error)
{
  TcpControl *self = (TcpControl *) control;
  gint64 deadline_us = fab_measure_deadline_us (control->timeout_s);

  for (gsize sent = 0; sent < size;) {
    gssize n = send (self->fd, (const char *) data + sent, size - sent, MSG_NOSIGNAL | MSG_DONTWAIT);

    if (n > 0)
      sent += (gsize) n;
    else if (errno == EPIPE || errno == ECONNRESET)
      return fab_socket_ended (control->there, error);
    else if (errno != EAGAIN && errno != EINTR)
      return fab_socket_fail (control->there, errno, error);
    else if (!fab_socket_wait (self->fd, POLLOUT, deadline_us, control->there, error))
      return FALSE;
  }
  return TRUE;
}

static gboolean
tcp_receive (FabControl *control, gpointer data, gsize size, GError **error)
{
  TcpControl *self = (TcpControl *) control;
  gint64 deadline_us = fab_measure_deadline_us (control->timeout_s);

  for (gsize received = 0; received < size;) {
    gssize n = recv (self->fd, (char *) data + received, size - received, MSG_DONTWAIT);

    if (n > 0)
      received += (gsize) n;
    else if (n == 0 || errno == ECONNRESET)
      return fab_socket_ended (control->there, error);
    else if (errno != EAGAIN && errno != EINTR)
      return fab_socket_fail (control->there, errno, error);
    else if (!fab_socket_wait (self->fd, POLLIN, deadline_us, control->there, error))
      return FALSE;
  }
  return TRUE;
}

/* Waits until the other end closes too. Data that arrives after this socket is closed would make the other end's
 * kernel drop what it has not read yet, which may be the reason why this end gave up. */
static void
tcp_close (FabControl *control)
{
  TcpControl *self = (TcpControl *) control;
  gint64 deadline_us = g_get_monotonic_time () + LINGER_US;
  char rest[4096];

  shutdown (self->fd, SHUT_WR);
  while (fab_socket_wait (self->fd, POLLIN, deadline_us, control->there, NULL)
         && recv (self->fd, rest, sizeof rest, MSG_DONTWAIT) > 0) {}
  close (self->fd);
  g_free (control->here);
  g_free (control->there);
  g_free (self);
}

static FabControl *
tcp_new (int fd, guint timeout_s)
{
  TcpControl *self = g_new0 (TcpControl, 1);

  self->base = (FabControl){
    tcp_send, tcp_receive, tcp_close, fab_socket_address (fd, FALSE), fab_socket_address (fd, TRUE), timeout_s
  };
  self->fd = fd;
  return &self->base;
}

FabControl *
fab_control_connect (const char *peer, guint timeout_s, GError **error)
{
  g_autofree char *host = NULL, *port = NULL;
  int fd;

  if (!fab_address_parse (peer, &host, &port, error))
    return NULL;
  if (host == NULL || g_strcmp0 (port, "0") == 0) {
    fab_throw (error, FAB_ERROR_INPUT, "'%s' names no host to connect to; write HOST or HOST:PORT", peer);
    return NULL;
  }
  fd = fab_socket_connect (host, port ? port : FAB_MEASURE_PORT, NULL, timeout_s, error);
  return fd >= 0 ? tcp_new (fd, timeout_s) : NULL;
}

FabListener *
fab_listener_new (const char *listen_at, GError **error)
{
  g_autofree char *host = NULL, *port = NULL;
  FabListener *self;
  int fd;

  if (!fab_address_parse (listen_at, &host, &port, error))
    return NULL;
  fd = fab_socket_listen (host, port ? port : FAB_MEASURE_PORT, error);
  if (fd < 0)
    return NULL;
  self = g_new0 (FabListener, 1);
  self->fd = fd;
  return self;
}

guint
fab_listener_port (const FabListener *self)
{
  return fab_socket_port (self->fd);
}

FabControl *
fab_listener_accept (FabListener *self, guint timeout_s, FabMeasureHost *host, GError **error)
{
  int fd = fab_socket_accept (self->fd, timeout_s, host, error);

  return fd >= 0 ? tcp_new (fd, HELLO_TIMEOUT_S) : NULL;
}

void
fab_listener_free (FabListener *self)
{
  if (self == NULL)
    return;
  close (self->fd);
  g_free (self);
}
