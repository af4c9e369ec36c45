/* SPDX-License-Identifier: Apache-2.0 */
/* control_tcp.h - TCP sockets with time limits, for the control channel and the tcp backend. */
#pragma once

#include <gio/gio.h>

#include "validate/measure/pair.h"

/* Splits "HOST", "HOST:PORT", "[IPV6]:PORT" or ":PORT"; a missing part becomes NULL. (transfer full) */
gboolean fab_address_parse (const char *text, char **host, char **port, GError **error);

/* Connects a socket that sends small messages without delay. `bind_to` is an address of this host, or NULL.
 * Returns -1 and sets *error on failure: FAB_ERROR_INPUT for an unknown host name, else FAB_ERROR_IO. The caller
 * closes the socket. */
int fab_socket_connect (const char *host, const char *port, const char *bind_to, guint timeout_s,
                        GError **error);

/* Opens a listening socket; `host` NULL: at every address of this machine. Returns -1 and sets *error on failure. */
int fab_socket_listen (const char *host, const char *port, GError **error);

/* Waits for the next connection and returns it; `host` (may be NULL) can cancel the wait. */
int fab_socket_accept (int listening, guint timeout_s, FabMeasureHost *host, GError **error);
guint fab_socket_port (int fd);

/* Sets *error to what errno says about the connection to `who`. Returns FALSE. */
gboolean fab_socket_fail (const char *who, int code, GError **error);

/* Sets *error: the other end closed the connection. Returns FALSE. */
gboolean fab_socket_ended (const char *who, GError **error);
