/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/signals.h"

#include <signal.h>

static const int held_signals[] = { SIGINT, SIGTERM, SIGHUP };

void
fab_cli_hold_signals (void)
{
  sigset_t held;

  sigemptyset (&held);
  for (guint i = 0; i < G_N_ELEMENTS (held_signals); i++)
    sigaddset (&held, held_signals[i]);
  sigprocmask (SIG_BLOCK, &held, NULL);
}

gboolean
fab_cli_is_interrupted (G_GNUC_UNUSED gpointer data)
{
  sigset_t pending;

  sigpending (&pending);
  for (guint i = 0; i < G_N_ELEMENTS (held_signals); i++)
    if (sigismember (&pending, held_signals[i]) == 1)
      return TRUE;
  return FALSE;
}
