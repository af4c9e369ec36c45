/* SPDX-License-Identifier: Apache-2.0 */
/* control_tcp.h - TCP sockets with time limits, for the control channel and the tcp backend. */
#pragma once

#include <gio/gio.h>

#include "validate/measure/control.h"

/* Every wait looks this often whether `canceller` (may be NULL) says that the person wants to end. */
#define FAB_MEASURE_SLICE_MS 100

/* Splits "HOST", "HOST:PORT", "[IPV6]:PORT" or ":PORT"; a missing part becomes NULL. (transfer full) */
gboolean fab_address_parse (const char *text, char **host, char **port, GError **error);

/* Connects a socket that sends small messages without delay. `bind_to` is an address of this host, or NULL.
 * Returns -1 and sets *error on failure: FAB_ERROR_INPUT for an unknown host name, else FAB_ERROR_IO. The caller
 * closes the socket. */
int fab_socket_connect (const char *host, const char *port, const char *bind_to, guint timeout_s,
                        FabMeasureHost *canceller, GError **error);

/* Opens a listening socket; `host` NULL: at the loopback address, which only this machine reaches. Returns -1 and sets
 * *error on failure. `timeout_s` limits how long the name of the host is looked up. */
int fab_socket_listen (const char *host, const char *port, guint timeout_s, FabMeasureHost *canceller,
                       GError **error);

/* Waits for the next connection and returns it. */
int fab_socket_accept (int listening, guint timeout_s, FabMeasureHost *canceller, GError **error);

/* Receives or sends exactly `size` bytes within the time limits of the control channel `limits`. */
gboolean fab_socket_receive (int fd, gpointer data, gsize size, const FabControl *limits, GError **error);
gboolean fab_socket_send (int fd, gconstpointer data, gsize size, const FabControl *limits, GError **error);

guint fab_socket_port (int fd);

/* Sets *error to what errno says about the connection to `who`. Returns FALSE. */
gboolean fab_socket_fail (const char *who, int code, GError **error);

/* Sets *error: the other end closed the connection. Returns FALSE. */
gboolean fab_socket_ended (const char *who, GError **error);

/* Connects by TCP (IPv4, IPv6 or a host name). `peer` is HOST[:PORT]. Here and below, `canceller` (may be NULL) ends
 * the wait with G_IO_ERROR_CANCELLED when the person wants to end. (transfer full) */
FabControl *fab_control_connect (const char *peer, guint timeout_s, FabMeasureHost *canceller,
                                 GError **error);

/* Listens at [HOST]:PORT; without HOST at the loopback address, which only this machine reaches. */
typedef struct _FabListener FabListener;
FabListener *fab_listener_new (const char *listen, guint timeout_s, FabMeasureHost *canceller,
                               GError **error);
guint fab_listener_port (const FabListener *self);        /* useful when the port was ":0" */
gboolean fab_listener_is_local (const FabListener *self); /* only this machine reaches it */

/* Waits for the next asking end; `timeout_s` 0: without limit. Of several connections, the first that has introduced
 * itself is next: silent ones hold nobody up, and one that says nothing for 5 s is an error. (transfer full) */
FabControl *fab_listener_accept (FabListener *self, guint timeout_s, FabMeasureHost *canceller,
                                 GError **error);
void fab_listener_free (FabListener *self);
