/* SPDX-License-Identifier: Apache-2.0 */
/* test_measure_sockets.c - sockets with time limits: how long each wait lasts, what ends it, and what is said then. */
#include "tests/unit/validate/measure/sockets_world.h"

/* --- bytes --- */

/* What ends a wait for bytes: the limit of an answer, or the end of all that an end which is known may take, whichever
 * is first; at the same time, it is the latter. A wait is cut into slices of 100 ms; the last one ends within a
 * millisecond after the limit. */
static void
waits_for_bytes_end (G_GNUC_UNUSED void **state)
{
  static const struct {
    guint timeout_s;
    gint64 end_us; /* after now; 0: no end */
    gboolean is_known;
    const char *words;
    gint64 us;
  } cases[] = {
    { 2, 0, TRUE, "has not answered within the time limit", 2000000 },
    { 2, 2500000, TRUE, "has not answered within the time limit", 2000000 },
    { 2, 2000000, TRUE, "has had its time", 2000000 },
    { 3, 250000, TRUE, "has had its time", 250000 },
    { 3, 250000, FALSE, "has not answered within the time limit", 250000 },
    { 1, 99000, TRUE, "has had its time", 99000 },
  };

  for (guint i = 0; i < 2 * G_N_ELEMENTS (cases); i++) {
    gint64 since_us = now_us (), end_us = cases[i / 2].end_us;
    FabControl limits = { .there = (char *) "there",
                          .timeout_s = cases[i / 2].timeout_s,
                          .end_us = end_us > 0 ? 1000000 + since_us + end_us : 0,
                          .is_known = cases[i / 2].is_known };
    g_autofree char *much = g_malloc0 (16 << 20);
    g_autoptr (GError) error = NULL;
    int fds[2];

    assert_int_equal (socketpair (AF_UNIX, SOCK_STREAM, 0, fds), 0);
    by_look_us = end_us == 2000000 ? 0 : 1;
    n_slices = 0;
    if (i % 2)
      assert_false (fab_socket_send (fds[0], much, 16 << 20, &limits, &error));
    else
      assert_false (fab_socket_receive (fds[0], much, 1, &limits, &error));
    assert_failed (&error, cases[i / 2].words);
    assert_passed (since_us, cases[i / 2].us);
    assert_int_equal (n_slices, (cases[i / 2].us + 99999) / 100000);
    by_look_us = 1;
    close (fds[0]);
    close (fds[1]);
  }
}

/* The person is asked before each slice. */
static void
the_person_ends_a_wait (G_GNUC_UNUSED void **state)
{
  Person canceller = person (340000);
  FabControl limits = { .there = (char *) "there", .timeout_s = 9, .canceller = &canceller.base };
  gint64 since_us = now_us ();
  g_autoptr (GError) error = NULL;
  char byte;
  int fds[2];

  assert_int_equal (socketpair (AF_UNIX, SOCK_STREAM, 0, fds), 0);
  assert_false (fab_socket_receive (fds[0], &byte, 1, &limits, &error));
  assert_failed (&error, "interrupted while waiting for there");
  assert_passed (since_us, 400000);
  close (fds[0]);
  close (fds[1]);
}

static void
bytes_come_in_parts (G_GNUC_UNUSED void **state)
{
  static const char text[] = "ends of a measurement";
  static const int fleeting[] = { 0, EAGAIN, EINTR };
  FabControl limits = { .there = (char *) "there", .timeout_s = 1 };

  for (guint i = 0; i < 3 * G_N_ELEMENTS (fleeting); i++) {
    g_autoptr (GError) error = NULL;
    char got[sizeof text] = "";
    int fds[2];

    assert_int_equal (socketpair (AF_UNIX, SOCK_STREAM, 0, fds), 0);
    at_once = 1 + i % 5;
    send_failure = i % 3 != 0 ? fleeting[i / 3] : 0;
    recv_failure = i % 3 != 1 ? fleeting[i / 3] : 0;
    assert_true (fab_socket_send (fds[0], text, sizeof text, &limits, &error));
    assert_true (fab_socket_receive (fds[1], got, sizeof got, &limits, &error));
    assert_string_equal (got, text);
    assert_null (error);
    at_once = 0;
    /* A call for room or for bytes that a signal interrupts is made again. */
    poll_failure = EINTR;
    recv_failure = EAGAIN;
    assert_int_equal (write (fds[0], text, 4), 4);
    assert_true (fab_socket_receive (fds[1], got, 4, &limits, &error));
    assert_int_equal (poll_failure, 0);
    close (fds[0]);
    close (fds[1]);
  }
}

static void
an_end_that_ends_is_told_from_one_that_breaks (G_GNUC_UNUSED void **state)
{
  static const struct {
    int code;
    gboolean of_send, of_receive; /* that it is an end */
  } cases[] = { { ECONNRESET, TRUE, TRUE }, { EPIPE, TRUE, FALSE }, { EIO, FALSE, FALSE } };
  FabControl limits = { .there = (char *) "there", .timeout_s = 1 };
  g_autoptr (GError) error = NULL;
  char bytes[8] = "";
  int fds[2];

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    assert_int_equal (socketpair (AF_UNIX, SOCK_STREAM, 0, fds), 0);
    send_failure = cases[i].code;
    assert_false (fab_socket_send (fds[0], bytes, 8, &limits, &error));
    assert_failed (&error,
                   cases[i].of_send ? "there ended the connection" : "the connection to there broke: ");
    recv_failure = cases[i].code;
    assert_false (fab_socket_receive (fds[0], bytes, 8, &limits, &error));
    assert_failed (&error,
                   cases[i].of_receive ? "there ended the connection" : "the connection to there broke: ");
    recv_failure = EAGAIN;
    poll_failure = cases[i].code;
    assert_false (fab_socket_receive (fds[0], bytes, 8, &limits, &error));
    assert_failed (&error, "the connection to there broke: ");
    close (fds[0]);
    close (fds[1]);
  }
  /* In the middle of what is due; and an end that is not there any more is sent no signal. */
  assert_int_equal (socketpair (AF_UNIX, SOCK_STREAM, 0, fds), 0);
  assert_int_equal (write (fds[1], "half", 4), 4);
  close (fds[1]);
  assert_false (fab_socket_receive (fds[0], bytes, 8, &limits, &error));
  assert_failed (&error, "there ended the connection");
  assert_false (fab_socket_send (fds[0], bytes, 8, &limits, &error));
  assert_failed (&error, "there ended the connection");
  close (fds[0]);
}

/* --- connections --- */

static int
option_of (int fd, int level, int name)
{
  int value = -1;
  socklen_t size = sizeof value;

  getsockopt (fd, level, name, &value, &size);
  return value;
}

/* Both ends send small messages without delay, and no program that is started has them; calls on them wait. */
static void
sockets_are_prepared (G_GNUC_UNUSED void **state)
{
  guint port;
  int listening = listening_at (NULL, &port), here = connected_to ("127.0.0.1", port);
  int there = fab_socket_accept (listening, 1, NULL, NULL);
  const int fds[] = { here, there };

  assert_true (there >= 0);
  for (guint i = 0; i < G_N_ELEMENTS (fds); i++) {
    assert_true (option_of (fds[i], IPPROTO_TCP, TCP_NODELAY) > 0);
    assert_int_equal (fcntl (fds[i], F_GETFD), FD_CLOEXEC);
    assert_int_equal (fcntl (fds[i], F_GETFL) & O_NONBLOCK, 0);
    close (fds[i]);
  }
  assert_int_equal (fcntl (listening, F_GETFD), FD_CLOEXEC);
  assert_true (option_of (listening, SOL_SOCKET, SO_REUSEADDR) > 0);
  close (listening);
}

/* Without a host, only this machine reaches it, by version 4 of IP; a host with addresses of both versions is reached
 * by version 6, which takes version 4 too; an address that is not of this machine leaves the other one. */
static void
where_an_end_listens (G_GNUC_UNUSED void **state)
{
  static const struct {
    const char *host, *two[2], *right;
  } cases[] = {
    { NULL, { NULL, NULL }, "127.0.0.1" },
    { "127.0.0.2", { NULL, NULL }, "127.0.0.2" },
    { "two", { "127.0.0.3", "240.0.0.1" }, "127.0.0.3" },
    { "two", { "240.0.0.1", "127.0.0.3" }, "127.0.0.3" },
    { "two", { "127.0.0.3", "127.0.0.4" }, "127.0.0.3" },
    { "two", { "127.0.0.3", "::1" }, "::1" },
    { "two", { "::1", "127.0.0.3" }, "::1" },
    { "two", { "127.0.0.3", "2001:db8::1" }, "127.0.0.3" },
  };
  g_autoptr (GError) error = NULL;
  guint port;

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    if (!has_ip_6 () && i >= 5)
      continue;
    memcpy (two, cases[i].two, sizeof two);
    int fd = listening_at (cases[i].host, &port);
    assert_address (fd, FALSE, cases[i].right);
    close (fd);
  }
  two[0] = "240.0.0.1";
  two[1] = "240.0.0.2";
  assert_int_equal (fab_socket_listen ("two", "7000", 1, NULL, &error), -1);
  assert_failed (&error, "cannot listen at two:7000: Cannot assign requested address");
  int taken = listening_at (NULL, &port);
  g_autofree char *text = g_strdup_printf ("%u", port);
  g_autofree char *words = g_strdup_printf ("cannot listen at 127.0.0.1:%u: Address already in use", port);
  assert_int_equal (fab_socket_listen ("127.0.0.1", text, 1, NULL, &error), -1);
  assert_failed (&error, words);
  close (taken);
}

static void
both_versions_of_ip_come_to_version_6 (G_GNUC_UNUSED void **state)
{
  guint port;

  if (!has_ip_6 ())
    return;
  int listening = listening_at ("::", &port), here = connected_to ("127.0.0.1", port);
  int there = fab_socket_accept (listening, 1, NULL, NULL);
  assert_address (there, TRUE, "::ffff:127.0.0.1");
  close (here);
  close (there);
  close (listening);
}

/* Of a name's addresses, the first that takes the connection; where none does, the last says why. */
static void
a_name_has_several_addresses (G_GNUC_UNUSED void **state)
{
  g_autoptr (GError) error = NULL;
  guint port;
  int listening = listening_at ("127.0.0.7", &port), fd;
  g_autofree char *text = g_strdup_printf ("%u", port);
  g_autofree char *refused = g_strdup_printf (
      "cannot connect to two:%u: Connection refused; start `fabricast measure BACKEND --listen 0.0.0.0:PORT` there",
      port);

  for (guint i = 0; i < 2; i++) {
    two[i] = "127.0.0.8";
    two[1 - i] = "127.0.0.7";
    fd = fab_socket_connect ("two", text, NULL, 1, NULL, &error);
    assert_true (fd >= 0);
    assert_null (error);
    assert_string_equal (asked_port, text);
    assert_address (fd, TRUE, "127.0.0.7");
    close (fd);
  }
  two[0] = "127.0.0.8";
  two[1] = "127.0.0.9";
  assert_int_equal (fab_socket_connect ("two", text, NULL, 1, NULL, &error), -1);
  assert_failed (&error, refused);
  close (listening);
  if (!has_ip_6 ())
    return;
  assert_int_equal (fab_socket_connect ("::1", "1", NULL, 1, NULL, &error), -1);
  assert_failed (&error, "cannot connect to [::1]:1: ");
}

static void
which_address_a_connection_comes_from (G_GNUC_UNUSED void **state)
{
  static const char *const bad[] = { "240.0.0.1", "two", "::1" };
  guint port;
  int listening = listening_at (NULL, &port), here, there;
  g_autofree char *text = g_strdup_printf ("%u", port);
  g_autoptr (GError) error = NULL;

  here = fab_socket_connect ("127.0.0.1", text, "127.0.0.5", 1, NULL, &error);
  there = fab_socket_accept (listening, 1, NULL, &error);
  assert_address (there, TRUE, "127.0.0.5");
  close (here);
  close (there);
  for (guint i = 0; i < G_N_ELEMENTS (bad); i++) {
    g_autofree char *words = g_strdup_printf (
        "'%s' is not an address of this host that could reach the other", bad[i]);

    assert_int_equal (fab_socket_connect ("127.0.0.1", text, bad[i], 1, NULL, &error), -1);
    assert_failed (&error, words);
  }
  close (listening);
}

/* The kernel lets a connection wait for which there is no room: two of them fill one of length 0. */
static void
a_connection_that_is_not_taken (G_GNUC_UNUSED void **state)
{
  struct sockaddr_in address = { .sin_family = AF_INET, .sin_addr = { htonl (INADDR_LOOPBACK) } };
  socklen_t size = sizeof address;
  int full = socket (AF_INET, SOCK_STREAM, 0), others[8], fd;
  g_autoptr (GError) error = NULL;
  Person canceller = person (0);

  assert_int_equal (bind (full, (struct sockaddr *) &address, size), 0);
  assert_int_equal (listen (full, 0), 0);
  getsockname (full, (struct sockaddr *) &address, &size);
  for (guint i = 0; i < G_N_ELEMENTS (others); i++) {
    others[i] = socket (AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
    if (connect (others[i], (struct sockaddr *) &address, size) != 0)
      assert_int_equal (errno, EINPROGRESS);
  }
  g_autofree char *text = g_strdup_printf ("%u", ntohs (address.sin_port));
  for (guint timeout_s = 1; timeout_s < 4; timeout_s += 2) {
    gint64 since_us = now_us ();

    fd = fab_socket_connect ("127.0.0.1", text, NULL, timeout_s, NULL, &error);
    assert_int_equal (fd, -1);
    assert_failed (&error, "has not answered within the time limit");
    assert_passed (since_us, timeout_s * 1000000);
  }
  /* Each address of a name has the whole time. */
  two[0] = two[1] = "127.0.0.1";
  gint64 since_us = now_us ();
  assert_int_equal (fab_socket_connect ("two", text, NULL, 2, NULL, &error), -1);
  assert_failed (&error, "has not answered within the time limit");
  assert_passed (since_us, 4000000);
  /* The person ends it, and no further address is tried. */
  since_us = now_us ();
  canceller = person (50000);
  assert_int_equal (fab_socket_connect ("two", text, NULL, 2, &canceller.base, &error), -1);
  assert_failed (&error, "interrupted while waiting for two:");
  assert_passed (since_us, 100000);
  for (guint i = 0; i < G_N_ELEMENTS (others); i++)
    close (others[i]);
  close (full);
}

static void
nobody_connects (G_GNUC_UNUSED void **state)
{
  guint port;
  int listening = listening_at (NULL, &port);
  g_autoptr (GError) error = NULL;

  for (guint timeout_s = 0; timeout_s < 3; timeout_s++) {
    gint64 since_us = now_us ();
    Person canceller = person (7000000);
    g_autofree char *words = timeout_s > 0 ? g_strdup_printf ("nobody has connected within %u s", timeout_s)
                                           : g_strdup ("interrupted while waiting for the other end");

    assert_int_equal (fab_socket_accept (listening, timeout_s, &canceller.base, &error), -1);
    assert_failed (&error, words);
    assert_passed (since_us, timeout_s > 0 ? timeout_s * 1000000 : 7000000);
  }
  close (listening);
}

/* --- names --- */

static void
names_that_are_not_found (G_GNUC_UNUSED void **state)
{
  g_autoptr (GError) error = NULL;
  Person canceller;

  /* A number that is none is looked up; what else is wrong with it is said at once. */
  numeric_failure = EAI_FAMILY;
  lookup_failure = EAI_AGAIN;
  assert_int_equal (fab_socket_connect ("two", "1", NULL, 1, NULL, &error), -1);
  assert_failed (&error, "cannot find the host 'two': ");
  numeric_failure = 0;
  assert_int_equal (fab_socket_connect ("two", "1", NULL, 1, NULL, &error), -1);
  g_autofree char *words = g_strdup_printf ("cannot find the host 'two': %s", gai_strerror (EAI_AGAIN));
  assert_failed (&error, words);
  assert_int_equal (fab_socket_listen ("two", "0", 1, NULL, &error), -1);
  assert_failed (&error, words);
  /* One that answers after the time, or never. */
  g_atomic_int_set (&is_asleep, TRUE);
  gint64 since_us = now_us ();
  assert_int_equal (fab_socket_connect ("two", "1", NULL, 2, NULL, &error), -1);
  assert_failed (&error, "two:1 has not answered within the time limit");
  assert_passed (since_us, 2000000);
  since_us = now_us ();
  assert_int_equal (fab_socket_listen ("two", "1", 1, NULL, &error), -1);
  assert_failed (&error, "two has not answered within the time limit");
  assert_passed (since_us, 1000000);
  since_us = now_us ();
  canceller = person (450000);
  assert_int_equal (fab_socket_listen ("two", "1", 2, &canceller.base, &error), -1);
  assert_failed (&error, "interrupted while waiting for two");
  assert_passed (since_us, 500000);
  g_atomic_int_set (&is_asleep, FALSE);
  while (g_atomic_int_get (&n_lookups) > 0)
    g_usleep (1000);
  lookup_failure = 0;
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (waits_for_bytes_end),
    cmocka_unit_test (the_person_ends_a_wait),
    cmocka_unit_test (bytes_come_in_parts),
    cmocka_unit_test (an_end_that_ends_is_told_from_one_that_breaks),
    cmocka_unit_test (sockets_are_prepared),
    cmocka_unit_test (where_an_end_listens),
    cmocka_unit_test (both_versions_of_ip_come_to_version_6),
    cmocka_unit_test (a_name_has_several_addresses),
    cmocka_unit_test (which_address_a_connection_comes_from),
    cmocka_unit_test (a_connection_that_is_not_taken),
    cmocka_unit_test (nobody_connects),
    cmocka_unit_test (names_that_are_not_found),
  };

  return cmocka_run_group_tests_name ("measure_sockets", tests, NULL, NULL);
}
