/* SPDX-License-Identifier: Apache-2.0 */
/* sockets_world.h - a clock that is made up: it goes on where a wait ends without anything that has come, and by a
 * microsecond for each look at it. Names of hosts are made up too, and the system takes and gives less than it is asked
 * for. To be included first, by one source of a program: it stands in place of the system's own functions. */
#pragma once

#define _GNU_SOURCE /* RTLD_NEXT, ppoll */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "sim/base/error.h"
#include "tests/support/test.h"
#include "validate/measure/control_tcp.h"

/* --- in place of the system's own --- */

static gint64 passed_us;                             /* atomic: tests look at names in another thread */
static gint64 by_look_us = 1;                        /* so much passes with each look at the clock */
static guint n_slices;                               /* waits that ended without anything */
static int poll_failure, recv_failure, send_failure; /* what the next call fails with, once; 0: nothing */
static gsize at_once;                                /* the most bytes that a call takes or gives; 0: all */
static gsize n_taken;                                /* bytes that `recv` gave */

gint64
g_get_monotonic_time (void)
{
  return 1000000 + __atomic_add_fetch (&passed_us, by_look_us, __ATOMIC_SEQ_CST);
}

static inline gint64
now_us (void)
{
  return __atomic_load_n (&passed_us, __ATOMIC_SEQ_CST);
}

static gboolean
fails (int *failure)
{
  if (*failure == 0)
    return FALSE;
  errno = *failure;
  *failure = 0;
  return TRUE;
}

/* Nothing comes that is not there: what a wait is for was sent before it. */
int
poll (struct pollfd *waits, nfds_t n, int timeout_ms)
{
  const struct timespec soon = { 0, 200000 };
  int n_ready;

  if (timeout_ms > 0 && fails (&poll_failure))
    return -1;
  n_ready = ppoll (waits, n, timeout_ms > 0 ? &soon : &(struct timespec){ 0, 0 }, NULL);
  if (n_ready == 0 && timeout_ms > 0) {
    n_slices++;
    __atomic_add_fetch (&passed_us, timeout_ms * 1000, __ATOMIC_SEQ_CST);
  }
  return n_ready;
}

/* What `poll` is called where the compiler guards it. */
int __poll_chk (struct pollfd *waits, nfds_t n, int timeout_ms, size_t size);

int
__poll_chk (struct pollfd *waits, nfds_t n, int timeout_ms, G_GNUC_UNUSED size_t size)
{
  return poll (waits, n, timeout_ms);
}

ssize_t
recv (int fd, void *data, size_t size, int flags)
{
  ssize_t n;

  if (fails (&recv_failure))
    return -1;
  n = recvfrom (fd, data, at_once > 0 ? MIN (size, at_once) : size, flags, NULL, NULL);
  n_taken += n > 0 && (flags & MSG_PEEK) == 0 ? (gsize) n : 0;
  return n;
}

ssize_t
send (int fd, const void *data, size_t size, int flags)
{
  if (fails (&send_failure))
    return -1;
  return sendto (fd, data, at_once > 0 ? MIN (size, at_once) : size, flags, NULL, 0);
}

/* Addresses of the host "two", in their order; what the look for a name fails with; whether it has no answer until
 * it is let go. */
static const char *two[2];
static int lookup_failure, numeric_failure;
static gint is_asleep, n_lookups;
static char asked_port[16];

typedef int (*Lookup) (const char *, const char *, const struct addrinfo *, struct addrinfo **);

int
getaddrinfo (const char *host, const char *port, const struct addrinfo *hints, struct addrinfo **found)
{
  Lookup real = (Lookup) dlsym (RTLD_NEXT, "getaddrinfo");
  gboolean is_number = (hints->ai_flags & AI_NUMERICHOST) != 0;

  assert_int_equal (hints->ai_socktype, SOCK_STREAM);
  if (host != NULL && port != NULL)
    g_strlcpy (asked_port, port, sizeof asked_port);
  if (is_number && numeric_failure != 0)
    return numeric_failure;
  if (is_number || host == NULL)
    return real (host, port, hints, found);
  g_atomic_int_inc (&n_lookups);
  while (g_atomic_int_get (&is_asleep))
    g_usleep (1000);
  int code = lookup_failure;
  if (code == 0)
    code = real (two[0], port, hints, found);
  if (code == 0)
    code = real (two[1], port, hints, &(*found)->ai_next);
  g_atomic_int_add (&n_lookups, -1);
  return code;
}

typedef gboolean (*Wait) (GCond *, GMutex *, gint64);

gboolean
g_cond_wait_until (GCond *cond, GMutex *mutex, gint64 end_us)
{
  gint64 left_us = end_us - 1000000 - __atomic_load_n (&passed_us, __ATOMIC_SEQ_CST);
  Wait real = (Wait) dlsym (RTLD_NEXT, "g_cond_wait_until");
  struct timespec now;

  clock_gettime (CLOCK_MONOTONIC, &now);
  if (real (cond, mutex, now.tv_sec * G_USEC_PER_SEC + now.tv_nsec / 1000 + 2000))
    return TRUE;
  if (g_atomic_int_get (&is_asleep))
    __atomic_add_fetch (&passed_us, left_us, __ATOMIC_SEQ_CST);
  return FALSE;
}

/* --- helpers --- */

typedef struct {
  FabMeasureHost base;
  gint64 at_us; /* when the person ends it */
} Person;

static inline gboolean
is_over (FabMeasureHost *host)
{
  return now_us () >= ((Person *) host)->at_us;
}

static inline Person
person (gint64 after_us)
{
  return (Person){ { .is_cancelled = is_over }, now_us () + after_us };
}

static inline void
assert_failed (GError **error, const char *words)
{
  assert_non_null (*error);
  if (strstr ((*error)->message, words) == NULL)
    fail_msg ("'%s' does not say '%s'", (*error)->message, words);
  assert_int_equal (g_error_matches (*error, G_IO_ERROR, G_IO_ERROR_CANCELLED),
                    strstr (words, "interrupted") != NULL);
  g_clear_error (error);
}

/* The clock was looked at a few times besides. */
static inline void
assert_passed (gint64 since_us, gint64 us)
{
  gint64 passed = now_us () - since_us;

  if (passed < us || passed > us + 1500)
    fail_msg ("%.6f s passed, not %.6f", (double) passed / 1e6, (double) us / 1e6);
}

static inline int
listening_at (const char *host, guint *port)
{
  g_autoptr (GError) error = NULL;
  int fd = fab_socket_listen (host, "0", 1, NULL, &error);

  if (fd < 0)
    fail_msg ("%s", error->message);
  *port = fab_socket_port (fd);
  assert_true (*port > 0);
  return fd;
}

static inline int
connected_to (const char *host, guint port)
{
  g_autofree char *text = g_strdup_printf ("%u", port);
  g_autoptr (GError) error = NULL;
  int fd = fab_socket_connect (host, text, NULL, 1, NULL, &error);

  if (fd < 0)
    fail_msg ("%s", error->message);
  assert_null (error);
  return fd;
}

static inline gboolean
has_ip_6 (void)
{
  struct sockaddr_in6 loop = { .sin6_family = AF_INET6, .sin6_addr = IN6ADDR_LOOPBACK_INIT };
  int fd = socket (AF_INET6, SOCK_STREAM, 0);
  gboolean is_there = fd >= 0 && bind (fd, (struct sockaddr *) &loop, sizeof loop) == 0;

  if (fd >= 0)
    close (fd);
  return is_there;
}

static inline char *
address_of (int fd, gboolean is_there)
{
  struct sockaddr_storage address = { 0 };
  socklen_t size = sizeof address;
  char name[NI_MAXHOST] = "";

  if (is_there)
    getpeername (fd, (struct sockaddr *) &address, &size);
  else
    getsockname (fd, (struct sockaddr *) &address, &size);
  getnameinfo ((struct sockaddr *) &address, size, name, sizeof name, NULL, 0, NI_NUMERICHOST);
  return g_strdup (name);
}

static inline void
assert_address (int fd, gboolean is_there, const char *right)
{
  g_autofree char *address = address_of (fd, is_there);

  assert_string_equal (address, right);
}
