/* SPDX-License-Identifier: Apache-2.0 */
/* control_tcp.c - the control channel as a TCP connection; every send and receive has the time limit. */
#define _GNU_SOURCE /* POLLRDHUP */
#include "validate/measure/control_tcp.h"

#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "sim/base/error.h"
#include "validate/measure/frame.h"

#define FAB_MEASURE_PORT "7471"

/* Connects, listens and waits, with time limits and with messages for people. */

enum { BACKLOG = 64 };

gboolean
fab_address_parse (const char *text, char **host, char **port, GError **error)
{
  const char *bracket = *text == '[' ? strchr (text, ']') : NULL;
  const char *colon = bracket ? (bracket[1] == ':' ? bracket + 1 : NULL) : strrchr (text, ':');
  guint64 number;

  *host = *port = NULL;
  if (bracket == NULL && colon != NULL && strchr (text, ':') != colon)
    colon = NULL; /* an IPv6 address without brackets */
  if (colon && !g_ascii_string_to_unsigned (colon + 1, 10, 0, G_MAXUINT16, &number, NULL))
    return fab_throw (error, FAB_ERROR_INPUT, "'%s': '%s' is not a port; ports are 1 to 65535, as in host:%s",
                      text, colon + 1, FAB_MEASURE_PORT);
  if ((*text == '[') != (bracket != NULL) || (bracket && colon == NULL && bracket[1] != '\0'))
    return fab_throw (error, FAB_ERROR_INPUT,
                      "'%s' is not an address; an IPv6 address with a port is [fe80::1]:%s", text,
                      FAB_MEASURE_PORT);
  *port = colon ? g_strdup (colon + 1) : NULL;
  *host = bracket ? g_strndup (text + 1, (gsize) (bracket - text - 1))
        : colon   ? g_strndup (text, (gsize) (colon - text))
                  : g_strdup (text);
  if (**host == '\0')
    g_clear_pointer (host, g_free);
  return TRUE;
}

gboolean
fab_socket_fail (const char *who, int code, GError **error)
{
  return fab_throw (error, FAB_ERROR_IO, "the connection to %s broke: %s", who, g_strerror (code));
}

gboolean
fab_socket_ended (const char *who, GError **error)
{
  return fab_throw (error, FAB_ERROR_IO,
                    "%s ended the connection in the middle of measuring; is it still running?", who);
}

/* Who is waited for, how long, and who may end the wait before. */
typedef struct {
  const char *who;           /* the other end, in messages */
  FabMeasureHost *canceller; /* NULL: nobody */
  gint64 deadline_us;        /* as of g_get_monotonic_time */
  gboolean is_session; /* the deadline is that of all that the other end may take, and not of one answer */
} Patience;

static gboolean
check_cancelled (FabMeasureHost *canceller, const char *who, GError **error)
{
  if (canceller == NULL || !canceller->is_cancelled (canceller))
    return TRUE;
  g_set_error (error, G_IO_ERROR, G_IO_ERROR_CANCELLED, "interrupted while waiting for %s", who);
  return FALSE;
}

static gboolean
check_patience (const Patience *patience, GError **error)
{
  if (!check_cancelled (patience->canceller, patience->who, error))
    return FALSE;
  if (g_get_monotonic_time () < patience->deadline_us)
    return TRUE;
  return patience->is_session
           ? fab_control_throw_over (patience->who, error)
           : fab_throw (error, FAB_ERROR_IO,
                        "%s has not answered within the time limit; is it still running? A larger --timeout "
                        "waits longer",
                        patience->who);
}

/* Waits until one of `events` (poll.h) happens, in slices, so that the person can end the wait. */
static gboolean
socket_wait (int fd, short events, const Patience *patience, GError **error)
{
  for (;;) {
    struct pollfd wait = { .fd = fd, .events = events };

    if (!check_patience (patience, error))
      return FALSE;
    gint64 left_ms = (patience->deadline_us - g_get_monotonic_time ()) / 1000 + 1;
    int n = poll (&wait, 1, (int) CLAMP (left_ms, 0, FAB_MEASURE_SLICE_MS));

    if (n > 0)
      return TRUE;
    if (n < 0 && errno != EINTR)
      return fab_socket_fail (patience->who, errno, error);
  }
}

/* --- names of hosts --- */

/* A question to the resolver, which cannot be interrupted: it runs in a thread of its own, and the one who asks may
 * leave before the answer. */
typedef struct {
  gatomicrefcount n_users;
  char *host, *port;
  struct addrinfo hints, *found;
  int code;
  GMutex lock;
  GCond changed;
  gboolean is_done;
} Lookup;

static void
lookup_unref (Lookup *self)
{
  if (!g_atomic_ref_count_dec (&self->n_users))
    return;
  if (self->found)
    freeaddrinfo (self->found);
  g_mutex_clear (&self->lock);
  g_cond_clear (&self->changed);
  g_free (self->host);
  g_free (self->port);
  g_free (self);
}

/* A GThreadFunc. */
static gpointer
look_up (gpointer data)
{
  Lookup *self = data;
  struct addrinfo *found = NULL;
  int code = getaddrinfo (self->host, self->port, &self->hints, &found);

  g_mutex_lock (&self->lock);
  self->code = code;
  self->found = code == 0 ? found : NULL;
  self->is_done = TRUE;
  g_cond_signal (&self->changed);
  g_mutex_unlock (&self->lock);
  lookup_unref (self);
  return NULL;
}

static gboolean
await_lookup (Lookup *self, const Patience *patience, GError **error)
{
  gboolean is_waiting = TRUE;

  g_mutex_lock (&self->lock);
  while (!self->is_done && is_waiting) {
    g_cond_wait_until (&self->changed, &self->lock,
                       g_get_monotonic_time () + FAB_MEASURE_SLICE_MS * G_TIME_SPAN_MILLISECOND);
    is_waiting = self->is_done || check_patience (patience, error);
  }
  g_mutex_unlock (&self->lock);
  return is_waiting;
}

static struct addrinfo *
fail_lookup (const char *host, int code, GError **error)
{
  fab_throw (error, FAB_ERROR_INPUT, "cannot find the host '%s': %s", host ? host : "", gai_strerror (code));
  return NULL;
}

/* Resolves the name of a host; NULL is this machine's loopback. */
static struct addrinfo *
resolve (const char *host, const char *port, const Patience *patience, GError **error)
{
  struct addrinfo hints = { .ai_socktype = SOCK_STREAM, .ai_flags = AI_NUMERICHOST };
  struct addrinfo *found = NULL;
  int code = getaddrinfo (host, port, &hints, &found);

  if (code == 0)
    return found;
  if (code != EAI_NONAME)
    return fail_lookup (host, code, error);
  Lookup *self = g_new0 (Lookup, 1);
  g_atomic_ref_count_init (&self->n_users);
  g_atomic_ref_count_inc (&self->n_users);
  g_mutex_init (&self->lock);
  g_cond_init (&self->changed);
  self->host = g_strdup (host);
  self->port = g_strdup (port);
  self->hints.ai_socktype = SOCK_STREAM;
  g_thread_unref (g_thread_new ("name lookup", look_up, self));
  if (await_lookup (self, patience, error)) {
    found = g_steal_pointer (&self->found);
    if (found == NULL)
      fail_lookup (host, self->code, error);
  }
  lookup_unref (self);
  return found;
}

static gboolean
bind_local (int fd, const char *bind_to, int family, GError **error)
{
  struct addrinfo hints = { .ai_family = family, .ai_socktype = SOCK_STREAM, .ai_flags = AI_NUMERICHOST };
  struct addrinfo *found = NULL;
  gboolean is_bound = getaddrinfo (bind_to, NULL, &hints, &found) == 0
                   && bind (fd, found->ai_addr, found->ai_addrlen) == 0;

  if (found)
    freeaddrinfo (found);
  return is_bound
      || fab_throw (error, FAB_ERROR_INPUT, "'%s' is not an address of this host that could reach the other",
                    bind_to);
}

/* Connects to one address within the time limit. Returns -1 and sets *error on failure. */
static int
try_connect (const struct addrinfo *to, const char *bind_to, const Patience *patience, GError **error)
{
  int fd = socket (to->ai_family, to->ai_socktype | SOCK_CLOEXEC | SOCK_NONBLOCK, to->ai_protocol);
  int code = 0, one = 1;
  socklen_t size = sizeof code;
  gboolean is_waited = fd >= 0 && (bind_to == NULL || bind_local (fd, bind_to, to->ai_family, error));

  if (is_waited && connect (fd, to->ai_addr, to->ai_addrlen) != 0) {
    if (errno != EINPROGRESS)
      code = errno;
    else if (!socket_wait (fd, POLLOUT, patience, error))
      is_waited = FALSE;
    else
      getsockopt (fd, SOL_SOCKET, SO_ERROR, &code, &size);
  }
  if (is_waited && code == 0) {
    fcntl (fd, F_SETFL, fcntl (fd, F_GETFL) & ~O_NONBLOCK);
    setsockopt (fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    return fd;
  }
  if (is_waited)
    fab_throw (error, FAB_ERROR_IO, "cannot connect to %s: %s%s", patience->who, g_strerror (code),
               code == ECONNREFUSED ? "; start `fabricast measure BACKEND --listen 0.0.0.0:PORT` there" : "");
  else if (fd < 0)
    fab_socket_fail (patience->who, errno, error);
  if (fd >= 0)
    close (fd);
  return -1;
}

int
fab_socket_connect (const char *host, const char *port, const char *bind_to, guint timeout_s,
                    FabMeasureHost *canceller, GError **error)
{
  g_autofree char *who = g_strdup_printf (strchr (host, ':') ? "[%s]:%s" : "%s:%s", host, port);
  Patience patience = { who, canceller, fab_measure_deadline_us (timeout_s), FALSE };
  struct addrinfo *addresses = resolve (host, port, &patience, error);
  int fd = -1;

  for (struct addrinfo *to = addresses; to && fd < 0 && check_cancelled (canceller, who, NULL);
       to = to->ai_next) {
    g_clear_error (error);
    patience.deadline_us = fab_measure_deadline_us (timeout_s);
    fd = try_connect (to, bind_to, &patience, error);
  }
  if (addresses)
    freeaddrinfo (addresses);
  return fd;
}

static int
try_listen (const struct addrinfo *at)
{
  int fd = socket (at->ai_family, at->ai_socktype | SOCK_CLOEXEC, at->ai_protocol);
  int one = 1, zero = 0;

  if (fd < 0)
    return -1;
  setsockopt (fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
  if (at->ai_family == AF_INET6)
    setsockopt (fd, IPPROTO_IPV6, IPV6_V6ONLY, &zero, sizeof zero); /* accept IPv4 as well */
  if (bind (fd, at->ai_addr, at->ai_addrlen) == 0 && listen (fd, BACKLOG) == 0)
    return fd;
  int code = errno;
  close (fd);
  errno = code;
  return -1;
}

int
fab_socket_listen (const char *host, const char *port, guint timeout_s, FabMeasureHost *canceller,
                   GError **error)
{
  Patience patience = { host ? host : "localhost", canceller, fab_measure_deadline_us (timeout_s), FALSE };
  struct addrinfo *addresses = resolve (host, port, &patience, error);
  int fd = -1, code = 0, first = host ? AF_INET6 : AF_INET;

  /* A name with both kinds of address: IPv6 accepts IPv4 as well. Loopback addresses do not: IPv4 is the usual one. */
  for (int pass = 0; pass < 2; pass++)
    for (struct addrinfo *at = addresses; at && fd < 0; at = at->ai_next)
      if ((at->ai_family == first) == (pass == 0)) {
        fd = try_listen (at);
        code = fd < 0 ? errno : 0;
      }
  if (addresses)
    freeaddrinfo (addresses);
  if (fd < 0 && addresses)
    fab_throw (error, FAB_ERROR_IO, "cannot listen at %s:%s: %s", host ? host : "", port, g_strerror (code));
  return fd;
}

static void
prepare_connection (int fd)
{
  int one = 1;

  fcntl (fd, F_SETFD, FD_CLOEXEC);
  setsockopt (fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
}

int
fab_socket_accept (int listening, guint timeout_s, FabMeasureHost *canceller, GError **error)
{
  gint64 deadline_us = fab_measure_deadline_us (timeout_s);

  for (;;) {
    struct pollfd wait = { .fd = listening, .events = POLLIN };
    int fd = poll (&wait, 1, FAB_MEASURE_SLICE_MS) > 0 ? accept (listening, NULL, NULL) : -1;

    if (fd >= 0) {
      prepare_connection (fd);
      return fd;
    }
    if (!check_cancelled (canceller, "the other end", error))
      return -1;
    if (timeout_s > 0 && g_get_monotonic_time () >= deadline_us) {
      fab_throw (error, FAB_ERROR_IO, "nobody has connected within %u s", timeout_s);
      return -1;
    }
  }
}

guint
fab_socket_port (int fd)
{
  struct sockaddr_storage address = { 0 };
  socklen_t size = sizeof address;

  getsockname (fd, (struct sockaddr *) &address, &size);
  return address.ss_family == AF_INET6 ? g_ntohs (((struct sockaddr_in6 *) &address)->sin6_port)
                                       : g_ntohs (((struct sockaddr_in *) &address)->sin_port);
}

/* Returns the numeric address of this end or of the other; an IPv4 address as such, even on a socket for both
 * versions. (transfer full) */
static char *
socket_address (int fd, gboolean is_there)
{
  struct sockaddr_storage address = { 0 };
  socklen_t size = sizeof address;
  char name[NI_MAXHOST] = "unknown";

  if (is_there)
    getpeername (fd, (struct sockaddr *) &address, &size);
  else
    getsockname (fd, (struct sockaddr *) &address, &size);
  getnameinfo ((struct sockaddr *) &address, size, name, sizeof name, NULL, 0, NI_NUMERICHOST);
  return g_strdup (g_str_has_prefix (name, "::ffff:") ? name + strlen ("::ffff:") : name);
}

#define LINGER_US (G_USEC_PER_SEC / 2)

typedef struct {
  FabControl base;
  int fd;
} TcpControl;

/* How many connections may wait to introduce themselves, and how long each. */
enum { MAX_WAITING = 256, HELLO_S = 5 };

typedef struct {
  int fd;
  gint64 end_us;      /* when it must have introduced itself */
  gboolean has_begun; /* it has said something, but not all */
} Waiting;

struct _FabListener {
  int fd;
  GArray *waiting; /* Waiting, the first to come first */
};

static Patience
patience_of (const FabControl *control)
{
  gint64 deadline_us = fab_measure_deadline_us (control->timeout_s);

  gboolean ends_before = control->end_us > 0 && control->end_us <= deadline_us;

  return (Patience){ control->there, control->canceller, ends_before ? control->end_us : deadline_us,
                     ends_before && control->is_known };
}

gboolean
fab_socket_receive (int fd, gpointer data, gsize size, const FabControl *limits, GError **error)
{
  Patience patience = patience_of (limits);

  for (gsize received = 0; received < size;) {
    gssize n = recv (fd, (char *) data + received, size - received, MSG_DONTWAIT);

    if (n > 0)
      received += (gsize) n;
    else if (n == 0 || errno == ECONNRESET)
      return fab_socket_ended (limits->there, error);
    else if (errno != EAGAIN && errno != EINTR)
      return fab_socket_fail (limits->there, errno, error);
    else if (!socket_wait (fd, POLLIN, &patience, error))
      return FALSE;
  }
  return TRUE;
}

gboolean
fab_socket_send (int fd, gconstpointer data, gsize size, const FabControl *limits, GError **error)
{
  Patience patience = patience_of (limits);

  for (gsize sent = 0; sent < size;) {
    gssize n = send (fd, (const char *) data + sent, size - sent, MSG_NOSIGNAL | MSG_DONTWAIT);

    if (n > 0)
      sent += (gsize) n;
    else if (errno == EPIPE || errno == ECONNRESET)
      return fab_socket_ended (limits->there, error);
    else if (errno != EAGAIN && errno != EINTR)
      return fab_socket_fail (limits->there, errno, error);
    else if (!socket_wait (fd, POLLOUT, &patience, error))
      return FALSE;
  }
  return TRUE;
}

static gboolean
tcp_send (FabControl *control, gconstpointer data, gsize size, GError **error)
{
  return fab_socket_send (((TcpControl *) control)->fd, data, size, control, error);
}

static gboolean
tcp_receive (FabControl *control, gpointer data, gsize size, GError **error)
{
  return fab_socket_receive (((TcpControl *) control)->fd, data, size, control, error);
}

/* Waits until the other end closes too. Data that arrives after this socket is closed would make the other end's
 * kernel drop what it has not read yet, which may be the reason why this end gave up. */
static void
tcp_close (FabControl *control)
{
  TcpControl *self = (TcpControl *) control;
  Patience patience = { control->there, NULL, g_get_monotonic_time () + LINGER_US, FALSE };
  char rest[4096];

  shutdown (self->fd, SHUT_WR);
  while (socket_wait (self->fd, POLLIN, &patience, NULL)
         && recv (self->fd, rest, sizeof rest, MSG_DONTWAIT) > 0) {}
  close (self->fd);
  g_free (control->here);
  g_free (control->there);
  g_free (self);
}

static FabControl *
tcp_new (int fd, guint timeout_s, FabMeasureHost *canceller)
{
  TcpControl *self = g_new0 (TcpControl, 1);

  self->base = (FabControl){ .send = tcp_send,
                             .receive = tcp_receive,
                             .close = tcp_close,
                             .here = socket_address (fd, FALSE),
                             .there = socket_address (fd, TRUE),
                             .timeout_s = timeout_s,
                             .canceller = canceller };
  self->fd = fd;
  return &self->base;
}

FabControl *
fab_control_connect (const char *peer, guint timeout_s, FabMeasureHost *canceller, GError **error)
{
  g_autofree char *host = NULL, *port = NULL;
  int fd;

  if (!fab_address_parse (peer, &host, &port, error))
    return NULL;
  if (host == NULL || g_strcmp0 (port, "0") == 0) {
    fab_throw (error, FAB_ERROR_INPUT, "'%s' names no host to connect to; write HOST or HOST:PORT", peer);
    return NULL;
  }
  fd = fab_socket_connect (host, port ? port : FAB_MEASURE_PORT, NULL, timeout_s, canceller, error);
  return fd >= 0 ? tcp_new (fd, timeout_s, canceller) : NULL;
}

/* Says whether only this machine can reach the socket. */
static gboolean
is_loopback (int fd)
{
  g_autofree char *name = socket_address (fd, FALSE);

  return g_str_has_prefix (name, "127.") || strcmp (name, "::1") == 0;
}

FabListener *
fab_listener_new (const char *listen_at, guint timeout_s, FabMeasureHost *canceller, GError **error)
{
  g_autofree char *host = NULL, *port = NULL;
  FabListener *self;
  int fd;

  if (!fab_address_parse (listen_at, &host, &port, error))
    return NULL;
  fd = fab_socket_listen (host, port ? port : FAB_MEASURE_PORT, timeout_s, canceller, error);
  if (fd < 0)
    return NULL;
  self = g_new0 (FabListener, 1);
  self->fd = fd;
  self->waiting = g_array_new (FALSE, FALSE, sizeof (Waiting));
  return self;
}

gboolean
fab_listener_is_local (const FabListener *self)
{
  return is_loopback (self->fd);
}

guint
fab_listener_port (const FabListener *self)
{
  return fab_socket_port (self->fd);
}

/* Takes all connections that the kernel holds; the oldest one goes where there are too many. */
static void
take_connections (FabListener *self)
{
  struct pollfd wait = { .fd = self->fd, .events = POLLIN };

  while (poll (&wait, 1, 0) > 0) {
    Waiting one = { .fd = accept (self->fd, NULL, NULL), .end_us = fab_measure_deadline_us (HELLO_S) };

    if (one.fd < 0)
      return;
    prepare_connection (one.fd);
    if (self->waiting->len == MAX_WAITING) {
      close (g_array_index (self->waiting, Waiting, 0).fd);
      g_array_remove_index (self->waiting, 0);
    }
    g_array_append_val (self->waiting, one);
  }
}

/* Says whether a connection has introduced itself, or has said something that is no introduction, or has ended, be it
 * within its introduction. */
static gboolean
is_ready (Waiting *one)
{
  struct pollfd end = { .fd = one->fd, .events = POLLRDHUP };
  guint8 head[FAB_FRAME_HEAD_BYTES];
  gssize n = recv (one->fd, head, sizeof head, MSG_PEEK | MSG_DONTWAIT);
  int n_arrived = 0;

  if (n < 0)
    return errno != EAGAIN && errno != EINTR;
  one->has_begun = n > 0;
  ioctl (one->fd, FIONREAD, &n_arrived);
  return n == 0 || poll (&end, 1, 0) > 0 || fab_frame_is_there (head, (gsize) n, (gsize) n_arrived);
}

/* Returns the first connection that can be served; -1: none. With *error, one that was silent for too long was
 * closed. */
static int
next_connection (FabListener *self, GError **error)
{
  gint64 now_us = g_get_monotonic_time ();

  for (guint i = 0; i < self->waiting->len; i++) {
    Waiting *one = &g_array_index (self->waiting, Waiting, i);
    gboolean is_asking = is_ready (one);
    int fd = one->fd;

    if (!is_asking && now_us < one->end_us)
      continue;
    g_array_remove_index (self->waiting, i);
    if (is_asking)
      return fd;
    g_autofree char *there = socket_address (fd, TRUE);
    close (fd);
    fab_throw (error, FAB_ERROR_IO, "%s connected, and has not introduced itself within %d s", there,
               HELLO_S);
    return -1;
  }
  return -1;
}

/* Sleeps until something comes, a slice at most. Of what came only in part, the rest is looked for after the slice. */
static void
sleep_until_asked (const FabListener *self)
{
  g_autofree struct pollfd *waits = g_new0 (struct pollfd, self->waiting->len + 1);

  waits[0] = (struct pollfd){ .fd = self->fd, .events = POLLIN };
  for (guint i = 0; i < self->waiting->len; i++) {
    const Waiting *one = &g_array_index (self->waiting, Waiting, i);

    waits[i + 1] = (struct pollfd){ .fd = one->has_begun ? -1 : one->fd, .events = POLLIN };
  }
  poll (waits, self->waiting->len + 1, FAB_MEASURE_SLICE_MS);
}

FabControl *
fab_listener_accept (FabListener *self, guint timeout_s, FabMeasureHost *canceller, GError **error)
{
  gint64 deadline_us = fab_measure_deadline_us (timeout_s);

  for (;;) {
    g_autoptr (GError) silence = NULL;
    take_connections (self);
    int fd = next_connection (self, &silence);

    if (fd >= 0)
      return tcp_new (fd, timeout_s, canceller);
    if (silence != NULL) {
      g_propagate_error (error, g_steal_pointer (&silence));
      return NULL;
    }
    if (!check_cancelled (canceller, "the other end", error))
      return NULL;
    if (timeout_s > 0 && g_get_monotonic_time () >= deadline_us) {
      fab_throw (error, FAB_ERROR_IO, "nobody has connected within %u s", timeout_s);
      return NULL;
    }
    sleep_until_asked (self);
  }
}

void
fab_listener_free (FabListener *self)
{
  if (self == NULL)
    return;
  for (guint i = 0; i < self->waiting->len; i++)
    close (g_array_index (self->waiting, Waiting, i).fd);
  g_array_unref (self->waiting);
  close (self->fd);
  g_free (self);
}
