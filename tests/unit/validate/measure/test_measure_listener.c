/* SPDX-License-Identifier: Apache-2.0 */
/* test_measure_listener.c - who connects to a listener: which of several is next, how long one may say nothing, and how
 * an end goes. */
#include "tests/unit/validate/measure/sockets_world.h"

#include "validate/measure/frame.h"

static gboolean
is_closed_there (int fd)
{
  char byte;

  return recvfrom (fd, &byte, 1, MSG_DONTWAIT, NULL, NULL) == 0;
}

static void
which_end_is_named (G_GNUC_UNUSED void **state)
{
  static const char *const none[] = { ":7471", "127.0.0.1:0", "" };
  g_autoptr (GError) error = NULL;

  for (guint i = 0; i < G_N_ELEMENTS (none); i++) {
    assert_null (fab_control_connect (none[i], 1, NULL, &error));
    assert_failed (&error, "names no host to connect to; write HOST or HOST:PORT");
  }
  assert_null (fab_control_connect ("[::1", 1, NULL, &error));
  assert_failed (&error, "is not an address");
  numeric_failure = EAI_FAMILY;
  assert_null (fab_control_connect ("two", 1, NULL, &error));
  g_clear_error (&error);
  assert_string_equal (asked_port, "7471");
  asked_port[0] = '\0';
  assert_null (fab_listener_new ("two", 1, NULL, &error));
  g_clear_error (&error);
  assert_string_equal (asked_port, "7471");
  numeric_failure = 0;
}

static void
who_can_reach_a_listener (G_GNUC_UNUSED void **state)
{
  static const struct {
    const char *at;
    gboolean is_local;
  } cases[] = { { ":0", TRUE },         { "127.0.0.1:0", TRUE }, { "127.1.2.3:0", TRUE },
                { "0.0.0.0:0", FALSE }, { "[::1]:0", TRUE },     { "[::]:0", FALSE } };

  for (guint i = 0; i < (has_ip_6 () ? G_N_ELEMENTS (cases) : 4); i++) {
    FabListener *listener = fab_listener_new (cases[i].at, 1, NULL, NULL);

    assert_int_equal (fab_listener_is_local (listener), cases[i].is_local);
    fab_listener_free (listener);
  }
}

/* Messages name an end of version 4 by its own address, also where the listener takes both versions. */
static void
ends_have_their_own_names (G_GNUC_UNUSED void **state)
{
  FabControl *here, *there;
  g_autoptr (GError) error = NULL;

  if (!has_ip_6 ())
    return;
  FabListener *listener = fab_listener_new ("[::]:0", 1, NULL, NULL);
  g_autofree char *peer = g_strdup_printf ("127.0.0.1:%u", fab_listener_port (listener));
  here = fab_control_connect (peer, 1, NULL, NULL);
  assert_true (here->send (here, "GET /", 5, NULL));
  there = fab_listener_accept (listener, 1, NULL, &error);
  if (there == NULL)
    fail_msg ("%s", error->message);
  assert_string_equal (there->there, "127.0.0.1");
  assert_string_equal (there->here, "127.0.0.1");
  here->close (here);
  there->close (there);
  fab_listener_free (listener);
}

typedef struct {
  FabListener *listener;
  guint port;
} Place;

static Place
place (const char *at)
{
  Place self = { fab_listener_new (at, 1, NULL, NULL), 0 };

  assert_non_null (self.listener);
  self.port = fab_listener_port (self.listener);
  return self;
}

static FabControl *
asks (const Place *self, const char *host)
{
  g_autofree char *peer = g_strdup_printf ("%s:%u", host, self->port);
  g_autoptr (GError) error = NULL;
  FabControl *control = fab_control_connect (peer, 3, NULL, &error);

  if (control == NULL)
    fail_msg ("%s", error->message);
  return control;
}

/* An introduction of 5 bytes. */
static const FabFrame hello = {
  .type = FAB_FRAME_HELLO, .number = 5, .n_data = 5, .data = (char *) "fake\n"
};

/* Where an end closes, the other one's last words still come: it reads until that one closes too, half a second at
 * most. */
static void
an_end_waits_for_the_other_to_close (G_GNUC_UNUSED void **state)
{
  for (guint i = 0; i < 2; i++) {
    Place at = place (":0");
    FabControl *here = asks (&at, "127.0.0.1"), *there;
    Person canceller = person (100000000);
    g_autoptr (GError) error = NULL;
    char rest[10000] = "";
    gint64 since_us;

    assert_string_equal (here->here, "127.0.0.1");
    assert_string_equal (here->there, "127.0.0.1");
    assert_int_equal (here->timeout_s, 3);
    assert_true (fab_frame_send (here, &hello, NULL));
    there = fab_listener_accept (at.listener, 4, &canceller.base, &error);
    assert_int_equal (there->timeout_s, 4);
    assert_ptr_equal (there->canceller, &canceller.base);
    assert_true (there->receive (there, rest, FAB_FRAME_HEAD_BYTES + 5, NULL));
    assert_true (there->send (there, rest, sizeof rest, NULL));
    since_us = now_us ();
    n_taken = 0;
    at_once = 4000;
    if (i == 0) {
      here->close (here);
      assert_passed (since_us, 500000);
      at_once = 0;
      assert_int_equal (n_taken, sizeof rest);
      assert_false (there->receive (there, rest, 1, &error));
      assert_failed (&error, "127.0.0.1 ended the connection");
      since_us = now_us ();
      there->close (there);
    } else {
      there->close (there);
      assert_passed (since_us, 500000);
      at_once = 0;
      assert_true (here->receive (here, rest, sizeof rest, NULL));
      since_us = now_us ();
      here->close (here);
    }
    assert_passed (since_us, 0); /* the other one has closed */
    fab_listener_free (at.listener);
  }
}

static guint
port_of (int fd)
{
  return fab_socket_port (fd);
}

static guint
port_there (const FabControl *control)
{
  guint8 port[2] = { 0 };
  g_autoptr (GError) error = NULL;

  if (!control->receive ((FabControl *) control, port, 2, &error))
    fail_msg ("%s", error->message);
  return port[0] * 256u + port[1];
}

/* Who has introduced itself is next, whenever it came; so is who ends, and who says what is no introduction. A part of
 * an introduction is none, and does not keep an end from sleeping. */
static void
who_is_next (G_GNUC_UNUSED void **state)
{
  static const char head[FAB_FRAME_HEAD_BYTES] = "FABM\0\0\0\2\0\0\0\1";
  Place at = place (":0");
  g_autoptr (GError) error = NULL;
  int silent = connected_to ("127.0.0.1", at.port), part = connected_to ("127.0.0.1", at.port),
      whole = connected_to ("127.0.0.1", at.port), other = connected_to ("127.0.0.1", at.port),
      ended = connected_to ("127.0.0.1", at.port);
  gint64 since_us = now_us ();
  FabControl *control;

  assert_int_equal (write (part, head, 20), 20);
  assert_null (fab_listener_accept (at.listener, 1, NULL, &error));
  assert_failed (&error, "nobody has connected within 1 s");
  assert_passed (since_us, 1000000);
  /* The last that came says something whole: after what it sends, its port. */
  const int speakers[] = { whole, other, part };
  for (guint i = 0; i < G_N_ELEMENTS (speakers); i++) {
    guint port = port_of (speakers[i]);
    const guint8 bytes[2] = { (guint8) (port / 256), (guint8) (port % 256) };

    if (i == 0)
      assert_int_equal (write (speakers[i], head, sizeof head), sizeof head);
    else if (i == 2)
      assert_int_equal (write (speakers[i], head + 20, sizeof head - 20), sizeof head - 20);
    if (i != 1) /* the other one's port is its first word */
      assert_int_equal (write (speakers[i], bytes, 2), 2);
    else
      assert_int_equal (write (speakers[i], "GET / HTTP/1.1\r\n", 16), 16);
    control = fab_listener_accept (at.listener, 1, NULL, &error);
    if (control == NULL)
      fail_msg ("%u: %s", i, error->message);
    char skipped[FAB_FRAME_HEAD_BYTES];
    assert_true (control->receive (control, skipped, i == 1 ? 4 : sizeof head, NULL));
    if (i == 1)
      assert_memory_equal (skipped, "GET ", 4);
    else
      assert_int_equal (port_there (control), port);
    close (speakers[i]);
    control->close (control);
  }
  shutdown (ended, SHUT_WR);
  control = fab_listener_accept (at.listener, 1, NULL, &error);
  assert_non_null (control);
  close (ended);
  control->close (control);
  /* The silent one has its five seconds from when it was taken. */
  since_us += 5000000;
  control = fab_listener_accept (at.listener, 60, NULL, &error);
  assert_null (control);
  assert_failed (&error, "127.0.0.1 connected, and has not introduced itself within 5 s");
  assert_passed (since_us, 0);
  assert_true (is_closed_there (silent));
  close (silent);
  fab_listener_free (at.listener);
}

static void
nobody_asks (G_GNUC_UNUSED void **state)
{
  Place at = place (":0");
  g_autoptr (GError) error = NULL;

  for (guint timeout_s = 0; timeout_s < 3; timeout_s++) {
    gint64 since_us = now_us ();
    Person canceller = person (7000000);
    g_autofree char *words = timeout_s > 0 ? g_strdup_printf ("nobody has connected within %u s", timeout_s)
                                           : g_strdup ("interrupted while waiting for the other end");

    assert_null (fab_listener_accept (at.listener, timeout_s, &canceller.base, &error));
    assert_failed (&error, words);
    assert_passed (since_us, timeout_s > 0 ? timeout_s * 1000000 : 7000000);
  }
  fab_listener_free (at.listener);
}

/* 256 may wait. One more, and the oldest goes; all go with the listener. */
static void
many_wait (G_GNUC_UNUSED void **state)
{
  enum { MANY = 257, AT_ONCE = 60 };
  Place at = place (":0");
  g_autoptr (GError) error = NULL;
  int fds[MANY];

  for (guint i = 0; i < MANY; i++) {
    fds[i] = connected_to ("127.0.0.1", at.port);
    if ((i + 1) % AT_ONCE != 0 && i + 2 < MANY)
      continue;
    Person canceller = person (1000);
    assert_null (fab_listener_accept (at.listener, 0, &canceller.base, &error));
    assert_failed (&error, "interrupted while waiting for the other end");
    if (i + 2 == MANY)
      assert_false (is_closed_there (fds[0]));
  }
  assert_true (is_closed_there (fds[0]));
  for (guint i = 1; i < MANY; i++)
    assert_false (is_closed_there (fds[i]));
  fab_listener_free (at.listener);
  for (guint i = 0; i < MANY; i++) {
    assert_true (is_closed_there (fds[i]));
    close (fds[i]);
  }
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (which_end_is_named),
    cmocka_unit_test (who_can_reach_a_listener),
    cmocka_unit_test (ends_have_their_own_names),
    cmocka_unit_test (an_end_waits_for_the_other_to_close),
    cmocka_unit_test (who_is_next),
    cmocka_unit_test (nobody_asks),
    cmocka_unit_test (many_wait),
  };

  return cmocka_run_group_tests_name ("measure_listener", tests, NULL, NULL);
}
