/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/support/seeds.h"

#include <signal.h>
#include <stdio.h>
#include <unistd.h>

/* A test program is one thread; the handler of SIGABRT has nowhere else to look. */
static volatile sig_atomic_t running_seed; /* 0: none */

int
seeds_teardown (G_GNUC_UNUSED void **state)
{
  if (running_seed != 0)
    fprintf (stderr, "again with: FAB_TEST_SEED=%d\n", (int) running_seed);
  running_seed = 0;
  return 0;
}

/* g_assert () and g_error () end here. */
static void
on_abort (G_GNUC_UNUSED int signal_number)
{
  char text[64];
  int length = g_snprintf (text, sizeof text, "again with: FAB_TEST_SEED=%d\n", (int) running_seed);

  if (running_seed != 0 && write (STDERR_FILENO, text, (size_t) length) < 0)
    _exit (1);
  signal (SIGABRT, SIG_DFL);
}

static guint
env_number (const char *name, guint otherwise)
{
  const char *text = g_getenv (name);
  guint64 value = otherwise;

  if (text != NULL && !g_ascii_string_to_unsigned (text, 10, 1, G_MAXINT, &value, NULL))
    g_error ("%s=%s: not a whole number from 1", name, text);
  return (guint) value;
}

gboolean
seeds_are_all (void)
{
  if (g_getenv ("FAB_TEST_SEED") != NULL)
    return FALSE;
#ifdef __SANITIZE_ADDRESS__
  return g_getenv ("FAB_TEST_ROUNDS") != NULL;
#else
  return TRUE;
#endif
}

gboolean
seeds_take (guint index)
{
  return seeds_are_all () || index % 3 == 0;
}

/* Sanitizers look for slips of memory, which need fewer seeds than wrong results do, and everything is slower with
 * them: a third of the seeds is enough there. */
static guint
count_seeds (guint n)
{
  return seeds_are_all () ? n * env_number ("FAB_TEST_ROUNDS", 1) : (n + 2) / 3;
}

void
seeds_run (guint n, SeedFn check)
{
  guint only = env_number ("FAB_TEST_SEED", 0);
  guint first = only > 0 ? only : 1, last = only > 0 ? only : count_seeds (n);

  signal (SIGABRT, on_abort);
  for (guint seed = first; seed <= last; seed++) {
    Random random = { seed };

    running_seed = (sig_atomic_t) seed;
    check (&random);
  }
  running_seed = 0;
}
