/* SPDX-License-Identifier: Apache-2.0 */
/* door.h - a listener that limits each connection to one small request, before HTTP parses it.
 *
 * A connection has a few seconds to send the head of its request, of a few kilobytes; the HTTP server never reads more
 * of it. The connection ends with the answer, or when its time is up. All calls must come from the thread whose main
 * context created the listener.
 */
#pragma once

#include <gio/gio.h>

enum {
  FAB_DOOR_MAX_VISITORS = 128,
  FAB_DOOR_MAX_HEAD = 8192, /* bytes of a request */
  FAB_DOOR_HEAD_S = 5,      /* seconds to send the head */
  FAB_DOOR_ALL_S = 30,      /* seconds until the answer must be read */
};

/* Takes a connection whose request head is complete. The stream gives that head and then ends; dropping the last
 * reference closes the connection. */
typedef void (*FabDoorFn) (gpointer data, GIOStream *stream, GSocketAddress *here, GSocketAddress *there);

typedef struct _FabDoor FabDoor;

/* Listens at an address; port 0: any free one. NULL and *error when that fails. (transfer full) */
FabDoor *fab_door_new (GInetAddress *address, guint port, FabDoorFn fn, gpointer data, GError **error);
/* Accepts no more connections and closes those without a complete request. All streams must be dropped before. */
void fab_door_free (FabDoor *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (FabDoor, fab_door_free)

guint fab_door_port (const FabDoor *self);
void fab_door_close (FabDoor *self); /* accepts no more connections */
guint fab_door_n_visitors (const FabDoor *self);
