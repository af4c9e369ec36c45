/* SPDX-License-Identifier: Apache-2.0 */
/* signals.h - a command that a person may interrupt, and that then keeps what it has. */
#pragma once

#include <glib.h>

/* SIGINT, SIGTERM and SIGHUP wait from now on, in threads that begin later too. */
void fab_cli_hold_signals (void);

/* Whether one of them has come. `data` is not used: it fits where a callback is asked for. */
gboolean fab_cli_is_interrupted (gpointer data);
