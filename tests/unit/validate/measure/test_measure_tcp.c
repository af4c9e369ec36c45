/* SPDX-License-Identifier: Apache-2.0 */
/* test_measure_tcp.c - both ends of the tcp backend in one process: whatever is asked for ends, and both ends are at
 * the same message afterwards. The asking host is played, and says itself which sizes and how many messages are moved.
 * What both ends send is counted on its way to the system, which takes less than was given at times, or fails. */
#define _GNU_SOURCE /* ppoll */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include "tests/support/params.h"
#include "tests/support/test.h"
#include "validate/measure/backends.h"
#include "validate/measure/control_tcp.h"
#include "validate/measure/frame.h"
#include "validate/measure/host_run.h"

static guint timeout_s = 8;
static const char *listens_at = "127.0.0.1:0";
static char trouble_there[200]; /* what the serving end says went wrong */

/* --- what is sent --- */

static gint n_words, n_bytes, n_calls, n_endless, n_early;
static gint most_bytes,
    by_word_bytes;        /* of one direction: may be under way, and with each word more; 0: all */
static int buffer_bytes;  /* of each socket; 0: the kernel's */
static gint pace_us;      /* so often a byte of a message is taken; 0: all that comes */
static gint moves_us;     /* the pace of moves */
static gint failure;      /* what the next message fails with, once; 0: nothing */
static gint word_failure; /* the same of the next word */

/* Calls that wait on this socket come back often enough to be interrupted, and it has the buffers that were asked
 * for. */
static gboolean
has_limits (int fd)
{
  struct timeval limits[2] = { { 0, 0 }, { 0, 0 } };
  socklen_t size = sizeof limits[0];

  getsockopt (fd, SOL_SOCKET, SO_RCVTIMEO, &limits[0], &size);
  getsockopt (fd, SOL_SOCKET, SO_SNDTIMEO, &limits[1], &size);
  for (guint i = 0; i < 2 && buffer_bytes > 0; i++) {
    int bytes = 0;

    size = sizeof bytes;
    getsockopt (fd, SOL_SOCKET, i == 0 ? SO_SNDBUF : SO_RCVBUF, &bytes, &size);
    if (bytes != buffer_bytes)
      return FALSE;
  }
  for (guint i = 0; i < G_N_ELEMENTS (limits); i++)
    if (limits[i].tv_sec != 0 || limits[i].tv_usec <= 0 || limits[i].tv_usec > 200000)
      return FALSE;
  return TRUE;
}

/* In place of the system's own: messages are of bytes 0x5a alone; a word is any other single byte. Of every third
 * message, half is taken. */
ssize_t
send (int fd, const void *data, size_t size, int flags)
{
  const char *bytes = data;
  gboolean is_message = bytes[0] == 0x5a && bytes[size - 1] == 0x5a;
  gint *next = is_message ? &failure : &word_failure;
  int code = g_atomic_int_get (next);

  if ((is_message || size == 1) && code != 0 && g_atomic_int_compare_and_exchange (next, code, 0)) {
    errno = code;
    return -1;
  }
  if (is_message && pace_us > 0) {
    static gint64 taken_us; /* of the only end that sends messages then */

    if (g_get_monotonic_time () - taken_us < pace_us) {
      errno = EAGAIN;
      return -1;
    }
    taken_us = g_get_monotonic_time ();
    size = 1;
  } else if (is_message && g_atomic_int_add (&n_calls, 1) % 3 == 2 && size > 1) {
    size /= 2;
  }
  if ((is_message || size == 1) && !has_limits (fd))
    g_atomic_int_inc (&n_endless);
  if (!is_message && size == 1)
    g_atomic_int_inc (&n_words);
  ssize_t n = sendto (fd, data, size, flags, NULL, 0);
  if (n > 0 && is_message) {
    gint sent = g_atomic_int_add (&n_bytes, (gint) n) + (gint) n;

    /* The two that say go come first. */
    if (by_word_bytes > 0 && sent > most_bytes + by_word_bytes * (g_atomic_int_get (&n_words) - 2))
      g_atomic_int_inc (&n_early);
  }
  return n;
}

static gint n_lone_waits; /* for one connection, and for no words */

/* In place of the system's own, too. */
int
poll (struct pollfd *waits, nfds_t n, int timeout_ms)
{
  const struct timespec limit = { timeout_ms / 1000, timeout_ms % 1000 * 1000000 };

  if (n == 2 && waits[1].fd == -1)
    g_atomic_int_inc (&n_lone_waits);
  return ppoll (waits, n, timeout_ms >= 0 ? &limit : NULL, NULL);
}

/* What `poll` is called where the compiler guards it. */
int __poll_chk (struct pollfd *waits, nfds_t n, int timeout_ms, size_t size);

int
__poll_chk (struct pollfd *waits, nfds_t n, int timeout_ms, G_GNUC_UNUSED size_t size)
{
  return poll (waits, n, timeout_ms);
}

/* Both ends say go. Where messages stream, a word is due for each half of a window that has come, and one for all. */
static guint
words_of (FabMeasureKind kind, guint n_messages, guint window)
{
  guint streaming = n_messages / MAX (window / 2, 1) + 1;

  return 2
       + (kind == FAB_MEASURE_BANDWIDTH       ? streaming
          : kind == FAB_MEASURE_BIDIRECTIONAL ? 2 * streaming
                                              : 0);
}

/* --- the serving end --- */

typedef struct {
  GAsyncQueue *ports; /* text, of the one port */
  gboolean is_served;
  GError *error;
} Server;

static void
take_note (gpointer data, const char *note)
{
  const Server *self = data;
  guint port;

  if (sscanf (note, "Waits for the other end on port %u", &port) == 1)
    g_async_queue_push (self->ports, g_strdup_printf ("127.0.0.1:%u", port));
}

static gpointer
serve (gpointer data)
{
  Server *self = data;
  const FabMeasurePlan plan = { .listen = listens_at, .timeout_s = timeout_s, .once = TRUE };
  const FabHostLimits limits = { .min_samples = 6, .max_samples = 6, .max_time_ps = FAB_TIME_MAX };
  g_autoptr (Params) params = params_new (&fab_measure_tcp.info, "");
  FabMeasureHost *host = fab_host_new (&plan, &limits, NULL,
                                       &(FabHostPerson){ .data = self, .note = take_note });

  self->is_served = fab_measure_tcp.serve (host, params->params, &self->error);
  fab_host_free (host);
  return NULL;
}

/* --- the asking end --- */

/* Moves these in turn, for each kind; sizes of 0 end the list. */
typedef struct {
  FabBytes size_bytes;
  guint n_messages;
} Move;

typedef struct {
  FabMeasureHost base;
  const Move *moves;
  guint n_moved;
  gboolean is_known[FAB_N_MEASURE_KINDS];
  guint window[FAB_N_MEASURE_KINDS], n_queue_pairs, mtu_bytes;
  char method[32];
  GPtrArray *notes;
} Asker;

static gboolean
move_all (FabMeasureHost *host, const FabSeries *series, G_GNUC_UNUSED FabBytes max_bytes, FabTimedFunc func,
          gpointer data, GError **error)
{
  Asker *self = (Asker *) host;

  self->is_known[series->kind] = TRUE;
  self->window[series->kind] = series->window;
  self->n_queue_pairs = series->n_queue_pairs;
  self->mtu_bytes = series->mtu_bytes;
  g_strlcpy (self->method, series->method, sizeof self->method);
  assert_string_equal (series->from_memory, "host");
  assert_string_equal (series->to_memory, "host");
  for (const Move *move = self->moves; move->size_bytes > 0; move++) {
    FabTimePs elapsed_ps = -1;
    guint n_ways = series->kind == FAB_MEASURE_BANDWIDTH ? 1 : 2;

    g_atomic_int_set (&n_words, 0);
    g_atomic_int_set (&n_bytes, 0);
    most_bytes = (gint) (series->window * move->size_bytes);
    by_word_bytes = series->kind == FAB_MEASURE_BANDWIDTH
                      ? (gint) (MAX (series->window / 2, 1) * move->size_bytes)
                      : 0;
    pace_us = moves_us;
    gint64 begun_us = g_get_monotonic_time ();
    gboolean is_moved = func (data, move->size_bytes, move->n_messages, &elapsed_ps, error);
    gint64 took_us = g_get_monotonic_time () - begun_us + 1;
    pace_us = 0;
    if (!is_moved)
      return FALSE;
    /* No longer than the call. The first byte may leave at once, and of what the others need a round trip is taken
     * off, where that is less than half. */
    assert_true (elapsed_ps > 0 && (double) elapsed_ps <= 1.01e6 * (double) took_us);
    assert_true (2 * elapsed_ps >= (FabTimePs) (move->size_bytes - 1) * moves_us * 1000000);
    assert_int_equal (g_atomic_int_get (&n_bytes), n_ways * move->n_messages * move->size_bytes);
    assert_int_equal (g_atomic_int_get (&n_words), words_of (series->kind, move->n_messages, series->window));
    self->n_moved++;
  }
  return TRUE;
}

static void
keep_note (FabMeasureHost *host, const char *format, ...)
{
  va_list arguments;

  va_start (arguments, format);
  g_ptr_array_add (((Asker *) host)->notes, g_strdup_vprintf (format, arguments));
  va_end (arguments);
}

static gboolean
never (G_GNUC_UNUSED FabMeasureHost *host)
{
  return FALSE;
}

static const gboolean all_kinds[FAB_N_MEASURE_KINDS] = { [FAB_MEASURE_LATENCY] = TRUE,
                                                         [FAB_MEASURE_BANDWIDTH] = TRUE,
                                                         [FAB_MEASURE_EXCHANGE] = TRUE,
                                                         [FAB_MEASURE_BIDIRECTIONAL] = TRUE };

static const gboolean *kinds = all_kinds;

/* Both ends to their end. `trouble` is what the asking end is to say went wrong; NULL: nothing does. */
static Asker
measure (const char *settings, const Move *moves, FabBytes largest, guint window, const char *trouble)
{
  Server server = { .ports = g_async_queue_new_full (g_free) };
  GThread *thread = g_thread_new ("serving", serve, &server);
  g_autofree char *peer = g_async_queue_timeout_pop (server.ports, timeout_s * G_USEC_PER_SEC);
  const FabMeasurePlan plan = { .sizes_bytes = &largest,
                                .n_sizes = 1,
                                .kinds = kinds,
                                .window = window,
                                .peer = peer,
                                .timeout_s = timeout_s };
  g_autoptr (Params) params = params_new (&fab_measure_tcp.info, settings);
  g_autoptr (GError) error = NULL;
  Asker self = { .base = { .plan = &plan, .measure = move_all, .note = keep_note, .is_cancelled = never },
                 .moves = moves,
                 .notes = g_ptr_array_new_with_free_func (g_free) };

  assert_non_null (peer);
  gboolean is_measured = fab_measure_tcp.measure (&self.base, params->params, &error);
  g_thread_join (thread);
  if (trouble != NULL && (is_measured || strstr (error->message, trouble) == NULL))
    fail_msg ("%s is not in: %s", trouble, is_measured ? "well" : error->message);
  if (trouble == NULL && (!is_measured || !server.is_served))
    fail_msg ("%s, %s: %s; there: %s", settings, peer, error != NULL ? error->message : "well",
              server.error != NULL ? server.error->message : "well");
  assert_int_equal (self.notes->len, 0);
  assert_int_equal (g_atomic_int_get (&n_endless), 0);
  assert_int_equal (g_atomic_int_get (&n_early), 0); /* a window is under way at most */
  by_word_bytes = 0;
  g_strlcpy (trouble_there, server.error != NULL ? server.error->message : "", sizeof trouble_there);
  g_clear_error (&server.error);
  g_ptr_array_unref (self.notes);
  g_async_queue_unref (server.ports);
  self.base.plan = NULL;
  self.notes = NULL;
  return self;
}

/* One message, more than a window of them, and many windows; sizes that connections divide unevenly, less than a byte
 * for each of them, more than the buffers of a socket. */
static const Move moves[] = { { 1, 1 }, { 2, 50 }, { 1001, 33 }, { 300007, 2 }, { 70001, 9 }, { 0, 0 } };

/* What the system says of the loop, where it says so; a packet of IP has fewer bytes than 64 KiB. */
static guint
mtu_of_the_loop (void)
{
  g_autofree char *text = NULL;

  return g_file_get_contents ("/sys/class/net/lo/mtu", &text, NULL, NULL)
           ? (guint) MIN (strtoul (text, NULL, 10), 65535)
           : 0;
}

/* What the system makes of so many bytes for the buffer of a socket. */
static int
buffer_of (int bytes)
{
  int fd = socket (AF_INET, SOCK_STREAM, 0), is = 0;
  socklen_t size = sizeof is;

  setsockopt (fd, SOL_SOCKET, SO_SNDBUF, &bytes, sizeof bytes);
  getsockopt (fd, SOL_SOCKET, SO_SNDBUF, &is, &size);
  close (fd);
  return is;
}

static void
every_move_ends (G_GNUC_UNUSED void **state)
{
  static const char *const settings[] = { "{}", "{streams: 3, buffer: 128KiB}", "{streams: 2, wait: spin}" };
  static const guint streams[] = { 1, 3, 2 }, windows[] = { 1, 6, 5 };

  for (guint i = 0; i < G_N_ELEMENTS (settings); i++) {
    buffer_bytes = i == 1 ? buffer_of (128 << 10) : 0;
    Asker asked = measure (settings[i], moves, 300007, windows[i], NULL);

    assert_int_equal (asked.n_moved, 4 * (G_N_ELEMENTS (moves) - 1));
    for (FabMeasureKind kind = 0; kind < FAB_N_MEASURE_KINDS; kind++) {
      gboolean is_streaming = kind == FAB_MEASURE_BANDWIDTH || kind == FAB_MEASURE_BIDIRECTIONAL;

      assert_int_equal (asked.is_known[kind], all_kinds[kind]);
      if (all_kinds[kind])
        assert_int_equal (asked.window[kind], is_streaming ? windows[i] : 1);
    }
    assert_int_equal (asked.n_queue_pairs, streams[i] > 1 ? streams[i] : 0);
    if (mtu_of_the_loop () > 0)
      assert_int_equal (asked.mtu_bytes, mtu_of_the_loop ());
    assert_string_equal (asked.method, strstr (settings[i], "spin") != NULL ? "spinning sockets" : "sockets");
  }
  buffer_bytes = 0;
}

/* Of one connection, the call that takes a message waits for it, where no credit can come before it: nothing else is
 * asked, which would take longer than some messages. */
static void
one_connection_is_waited_for_by_taking (G_GNUC_UNUSED void **state)
{
  static const gboolean latency[FAB_N_MEASURE_KINDS] = {
    [FAB_MEASURE_LATENCY] = TRUE, [FAB_MEASURE_EXCHANGE] = TRUE
  };
  static const Move some[] = { { 1, 8 }, { 1000, 8 }, { 0, 0 } };

  kinds = latency;
  g_atomic_int_set (&n_lone_waits, 0);
  measure ("{}", some, 1000, 4, NULL);
  assert_int_equal (g_atomic_int_get (&n_lone_waits), 0);
  kinds = all_kinds;
}

/* Where no window is asked for, 64 messages are under way. */
static void
the_usual_window (G_GNUC_UNUSED void **state)
{
  static const Move some[] = { { 8, 300 }, { 8, 64 }, { 8, 65 }, { 0, 0 } };

  assert_int_equal (measure ("{}", some, 8, 0, NULL).window[FAB_MEASURE_BANDWIDTH], 64);
}

/* A connection that the other end has closed is told apart from one that broke, and both from one that must wait. */
static void
calls_that_fail (G_GNUC_UNUSED void **state)
{
  static const struct {
    int code;
    const char *trouble;
  } cases[] = { { ECONNRESET, "ended the connection in the middle of measuring" },
                { EPIPE, "ended the connection in the middle of measuring" },
                { EIO, "broke: " },
                { EAGAIN, NULL },
                { EINTR, NULL } };
  static const Move one[] = { { 100, 3 }, { 0, 0 } };

  timeout_s = 2; /* what the other end waits for */
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_atomic_int_set (&failure, cases[i].code);
    measure ("{}", one, 100, 4, cases[i].trouble);
    assert_int_equal (g_atomic_int_get (&failure), 0);
    if (cases[i].code != EPIPE && cases[i].code != EINTR)
      continue;
    g_atomic_int_set (&word_failure, cases[i].code);
    measure ("{}", one, 100, 4, cases[i].trouble);
    assert_int_equal (g_atomic_int_get (&word_failure), 0);
  }
  timeout_s = 8;
}

/* An end that listens to both versions of IP calls one of version 4 by its address. */
static void
addresses_of_both_versions (G_GNUC_UNUSED void **state)
{
  static const Move one[] = { { 100, 3 }, { 0, 0 } };

  timeout_s = 2;
  listens_at = ":0";
  g_atomic_int_set (&failure, ECONNRESET);
  measure ("{}", one, 100, 4, "ended the connection in the middle of measuring");
  if (!g_str_has_prefix (trouble_there, "asked by 127.0.0.1: 127.0.0.1 ended the connection "))
    fail_msg ("%s", trouble_there);
  listens_at = "127.0.0.1:0";
  timeout_s = 8;
}

/* A message whose bytes leave one by one may take longer than an end waits for the other one: something moves. */
static void
a_slow_message_is_not_silence (G_GNUC_UNUSED void **state)
{
  static const gboolean one_way[FAB_N_MEASURE_KINDS] = { [FAB_MEASURE_BANDWIDTH] = TRUE };
  static const Move one[] = { { 8, 1 }, { 0, 0 } };

  kinds = one_way;
  timeout_s = 1;
  moves_us = 160000;
  assert_int_equal (measure ("{wait: spin}", one, 8, 1, NULL).n_moved, 1);
  moves_us = 0;
  timeout_s = 8;
  kinds = all_kinds;
}

/* --- an asking end that is played --- */

typedef struct {
  guint32 n_streams, wait;
  guint64 buffer_bytes;
} Wish;

typedef struct {
  guint32 port;
  char token[40];
} Offer;

typedef struct {
  Server server;
  GThread *thread;
  FabControl *control, *framed;
  gboolean has_offer;
  Offer offer;
} Played;

/* Introduces itself and asks for so many connections. */
static void
play (Played *self, guint n_streams)
{
  const FabFrame hello = { .type = FAB_FRAME_HELLO,
                           .number = timeout_s,
                           .count = 4,
                           .size_bytes = 100,
                           .n_data = 4,
                           .data = (char *) "tcp\n" };
  const Wish wish = { GUINT32_TO_BE (n_streams), 0, 0 };
  g_auto (FabFrame) welcome = { 0 };
  g_autoptr (GError) error = NULL;

  *self = (Played){ .server = { .ports = g_async_queue_new_full (g_free) } };
  self->thread = g_thread_new ("serving", serve, &self->server);
  g_autofree char *peer = g_async_queue_timeout_pop (self->server.ports, timeout_s * G_USEC_PER_SEC);
  self->control = fab_control_connect (peer, timeout_s, NULL, &error);
  if (self->control == NULL)
    fail_msg ("%s", error->message);
  assert_true (fab_frame_send (self->control, &hello, NULL)
               && fab_frame_expect (self->control, FAB_FRAME_WELCOME, &welcome, NULL));
  self->framed = fab_framed_control_new (self->control);
  assert_true (self->framed->send (self->framed, &wish, sizeof wish, NULL));
  self->has_offer = self->framed->receive (self->framed, &self->offer, sizeof self->offer, NULL);
}

/* A connection for data with this index. */
static int
data_connection (const Played *self, guint index, gboolean has_token)
{
  struct {
    char token[40];
    guint32 index;
  } greeting = { .index = GUINT32_TO_BE (index) };
  g_autofree char *port = g_strdup_printf ("%u", GUINT32_FROM_BE (self->offer.port));
  int fd = fab_socket_connect ("127.0.0.1", port, NULL, timeout_s, NULL, NULL);

  memcpy (greeting.token, self->offer.token, sizeof greeting.token);
  greeting.token[39] ^= !has_token;
  assert_int_equal (sendto (fd, &greeting, sizeof greeting, MSG_NOSIGNAL, NULL, 0), sizeof greeting);
  return fd;
}

/* Returns what the serving end says went wrong. (transfer full) */
static char *
end_play (Played *self)
{
  char *trouble;

  fab_frame_send_type (self->control, FAB_FRAME_BYE, NULL);
  self->framed->close (self->framed);
  self->control->close (self->control);
  g_thread_join (self->thread);
  trouble = self->server.error != NULL ? g_strdup (self->server.error->message) : NULL;
  assert_int_equal (self->server.is_served, trouble == NULL);
  g_clear_error (&self->server.error);
  g_async_queue_unref (self->server.ports);
  return trouble;
}

/* The other end has closed it, which a busy system may pass on late: waits as long where that is `expected`. */
static gboolean
is_closed (int fd, gboolean expected)
{
  struct pollfd wait = { .fd = fd, .events = POLLIN };
  char byte;

  poll (&wait, 1, expected ? (int) timeout_s * 1000 : 0);
  return recv (fd, &byte, 1, MSG_DONTWAIT) == 0;
}

static void
numbers_of_connections (G_GNUC_UNUSED void **state)
{
  static const guint numbers[] = { 0, 1, 64, 65, G_MAXUINT32 };

  for (guint i = 0; i < G_N_ELEMENTS (numbers); i++) {
    gboolean is_possible = numbers[i] == 1 || numbers[i] == 64;
    g_auto (FabFrame) opened = { 0 };
    int fds[65];
    Played end;

    play (&end, numbers[i]);
    assert_int_equal (end.has_offer, is_possible);
    for (guint k = 0; is_possible && k <= numbers[i]; k++)
      fds[k] = data_connection (&end, k, TRUE);
    if (is_possible)
      assert_true (fab_frame_expect (end.control, FAB_FRAME_OPENED, &opened, NULL)
                   && fab_frame_send_type (end.control, FAB_FRAME_OPENED, NULL));
    g_autofree char *trouble = end_play (&end);
    if (is_possible)
      assert_null (trouble);
    else
      assert_non_null (strstr (trouble, "127.0.0.1 asks for an impossible number of connections"));
    for (guint k = 0; is_possible && k <= numbers[i]; k++) {
      assert_true (is_closed (fds[k], TRUE));
      close (fds[k]);
    }
  }
}

/* Who has not the token of the conversation is turned away, and so is a connection beyond those that were asked for,
 * and a second one with the same index. They may come in any order. */
static void
strangers_are_turned_away (G_GNUC_UNUSED void **state)
{
  static const struct {
    guint index;
    gboolean has_token, is_taken;
  } cases[] = { { 0, FALSE, FALSE }, { 1, TRUE, TRUE },  { 3, TRUE, FALSE }, { 2, TRUE, TRUE },
                { 2, TRUE, FALSE },  { 1, TRUE, FALSE }, { 0, TRUE, TRUE } };
  g_auto (FabFrame) opened = { 0 };
  int fds[G_N_ELEMENTS (cases)];
  Played end;

  play (&end, 2);
  assert_true (end.has_offer);
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    fds[i] = data_connection (&end, cases[i].index, cases[i].has_token);
  assert_true (fab_frame_expect (end.control, FAB_FRAME_OPENED, &opened, NULL)
               && fab_frame_send_type (end.control, FAB_FRAME_OPENED, NULL));
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    assert_int_equal (is_closed (fds[i], !cases[i].is_taken), !cases[i].is_taken);
  g_autofree char *trouble = end_play (&end);
  assert_null (trouble);
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    close (fds[i]);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (one_connection_is_waited_for_by_taking),
    cmocka_unit_test (every_move_ends),
    cmocka_unit_test (the_usual_window),
    cmocka_unit_test (calls_that_fail),
    cmocka_unit_test (addresses_of_both_versions),
    cmocka_unit_test (a_slow_message_is_not_silence),
    cmocka_unit_test (numbers_of_connections),
    cmocka_unit_test (strangers_are_turned_away),
  };

  return cmocka_run_group_tests_name ("measure_tcp", tests, NULL, NULL);
}
