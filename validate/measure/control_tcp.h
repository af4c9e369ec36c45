/* SPDX-License-Identifier: Apache-2.0 */
/* control_tcp.h - TCP sockets with time limits: what the control channel and the tcp backend share. */
#pragma once

#include <gio/gio.h>

#include "validate/measure/pair.h"

#define FAB_MEASURE_PORT "7471"

/* "HOST", "HOST:PORT", "[IPV6]:PORT", ":PORT"; what is not there is NULL. */
gboolean fab_address_parse (const char *text, char **host, char **port, GError **error);

/* A connected socket without delay of small messages. `bind_to` is an address of this host, or NULL. FAB_ERROR_INPUT
 * for a name that nobody knows, else FAB_ERROR_IO. -1: *error. */
int fab_socket_connect (const char *host, const char *port, const char *bind_to, guint timeout_s,
                        GError **error);
/* A listening socket; `host` NULL: at every address of this machine. */
int fab_socket_listen (const char *host, const char *port, GError **error);
/* The next connection; `host` may be NULL. */
int fab_socket_accept (int listening, guint timeout_s, FabMeasureHost *host, GError **error);
guint fab_socket_port (int fd);
/* Numeric addresses of the two ends; IPv4 as such even on a socket for both. (transfer full) */
char *fab_socket_address (int fd, gboolean is_there);

/* Waits until one of `events` (poll.h). `who` is the other end, for messages; `deadline_us` of g_get_monotonic_time. */
gboolean fab_socket_wait (int fd, short events, gint64 deadline_us, const char *who, GError **error);
/* What errno says about the connection to `who`. Returns FALSE. */
gboolean fab_socket_fail (const char *who, int code, GError **error);
/* The other end closed it. Returns FALSE. */
gboolean fab_socket_ended (const char *who, GError **error);
