/* SPDX-License-Identifier: Apache-2.0 */
/* door.h - connections, each with one small request: what comes in is bounded before HTTP is looked at.
 *
 * A connection has a few seconds to send the head of its request, of a few kilobytes; what it has sent until then is
 * all that the HTTP server ever reads of it. It ends with the answer, or when its time is up.
 */
#pragma once

#include <gio/gio.h>

enum {
  FAB_DOOR_MAX_VISITORS = 128,
  FAB_DOOR_MAX_HEAD = 8192, /* bytes of a request */
  FAB_DOOR_HEAD_S = 5,      /* to send it */
  FAB_DOOR_ALL_S = 30,      /* until the answer is read */
};

/* A request whose head is whole. The stream gives that and then ends; who drops it closes the connection. */
typedef void (*FabDoorFn) (gpointer data, GIOStream *stream, GSocketAddress *here, GSocketAddress *there);

typedef struct _FabDoor FabDoor;

/* Port 0: any that is free. NULL and *error when it cannot listen there. */
FabDoor *fab_door_new (GInetAddress *address, guint port, FabDoorFn fn, gpointer data, GError **error);
/* No more connections; those that have not yet asked are closed. All streams were dropped before. */
void fab_door_free (FabDoor *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (FabDoor, fab_door_free)

guint fab_door_port (const FabDoor *self);
void fab_door_close (FabDoor *self); /* no more connections */
guint fab_door_n_visitors (const FabDoor *self);
