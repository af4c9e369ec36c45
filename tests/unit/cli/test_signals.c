/* SPDX-License-Identifier: Apache-2.0 */
/* test_signals.c - signals that wait until somebody asks for them, tried in children, which end without that. */
#include "tests/support/test.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/signals.h"

enum { IS_LATE = 10, IS_EARLY = 11, IS_UNSEEN = 12 };

/* What becomes of a child that gets the signal: its exit code, or the negative signal that ended it. */
static int
after (int number, gboolean is_held)
{
  int status;
  pid_t child = fork ();

  if (child == 0) {
    signal (number, SIG_DFL);
    if (is_held)
      fab_cli_hold_signals ();
    if (fab_cli_is_interrupted (NULL))
      _exit (IS_EARLY);
    raise (number);
    _exit (fab_cli_is_interrupted (NULL) ? IS_LATE : IS_UNSEEN);
  }
  assert_true (child > 0 && waitpid (child, &status, 0) == child);
  return WIFSIGNALED (status) ? -WTERMSIG (status) : WEXITSTATUS (status);
}

/* Ctrl-C, a request to end, and a terminal that is closed. */
static void
three_signals_wait (G_GNUC_UNUSED void **state)
{
  static const int held[] = { SIGINT, SIGTERM, SIGHUP };

  for (guint i = 0; i < G_N_ELEMENTS (held); i++) {
    assert_int_equal (after (held[i], TRUE), IS_LATE);
    assert_int_equal (after (held[i], FALSE), -held[i]);
  }
}

static void
others_do_not (G_GNUC_UNUSED void **state)
{
  static const int others[] = { SIGUSR1, SIGUSR2, SIGALRM, SIGPIPE };

  for (guint i = 0; i < G_N_ELEMENTS (others); i++)
    assert_int_equal (after (others[i], TRUE), -others[i]);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (three_signals_wait),
    cmocka_unit_test (others_do_not),
  };

  return cmocka_run_group_tests (tests, NULL, NULL);
}
