/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/explore/door.h"

#include <string.h>

#include "sim/base/error.h"

typedef struct {
  FabDoor *door;
  GSocketConnection *connection;
  GCancellable *late; /* while the head is read */
  guint timer;
  gboolean
      is_refused; /* it was refused, and is read on only so that unread bytes do not make the answer disappear */
  gsize n;
  char head[FAB_DOOR_MAX_HEAD];
} Visitor;

struct _FabDoor {
  GSocketService *service;
  GHashTable *visitors; /* Visitor, all of them */
  FabDoorFn fn;
  gpointer data;
  guint port;
};

/* --- the end of a visit --- */

static void
leave (Visitor *visitor)
{
  if (visitor->timer != 0)
    g_source_remove (visitor->timer);
  g_hash_table_remove (visitor->door->visitors, visitor);
  g_io_stream_close (G_IO_STREAM (visitor->connection), NULL, NULL);
  g_object_unref (visitor->connection);
  g_object_unref (visitor->late);
  g_free (visitor);
}

/* Writes a short answer without waiting; the socket always takes so few bytes, unless the visitor has left. */
static void
say (GSocketConnection *connection, const char *status)
{
  g_autofree char *text = g_strdup_printf ("HTTP/1.1 %s\r\nContent-Length: 0\r\nConnection: close\r\n\r\n",
                                           status);

  g_socket_send_with_blocking (g_socket_connection_get_socket (connection), text, strlen (text), FALSE, NULL,
                               NULL);
}

static void read_more (Visitor *visitor);

/* Refuses a request. Closing a socket with unread bytes would make the answer disappear, so they are read for as long
 * as a head may take. */
static void
refuse (Visitor *visitor, const char *status)
{
  say (visitor->connection, status);
  g_socket_shutdown (g_socket_connection_get_socket (visitor->connection), FALSE, TRUE, NULL);
  visitor->is_refused = TRUE;
  visitor->n = 0;
  read_more (visitor);
}

static void
on_dropped (gpointer data, G_GNUC_UNUSED GObject *stream)
{
  leave (data);
}

/* --- the head --- */

/* Returns the length of the head with the empty line at its end; 0: it is not complete. */
static gsize
head_length (const Visitor *visitor)
{
  const char *head = visitor->head;

  for (gsize i = 0; i + 1 < visitor->n; i++) {
    if (head[i] == '\n' && head[i + 1] == '\n')
      return i + 2;
    if (head[i] == '\n' && head[i + 1] == '\r' && i + 2 < visitor->n && head[i + 2] == '\n')
      return i + 3;
  }
  return 0;
}

/* Refuses bodies: the stream that is handed over has none, and no request needs one. */
static gboolean
has_body (const Visitor *visitor, gsize length)
{
  g_autofree char *head = g_ascii_strdown (visitor->head, (gssize) length);

  return g_strstr_len (head, -1, "\ncontent-length:") != NULL
      || g_strstr_len (head, -1, "\ntransfer-encoding:") != NULL;
}

/* Closes a connection that holds its answer up too long. */
static gboolean
on_all_late (gpointer data)
{
  Visitor *visitor = data;

  visitor->timer = 0;
  g_socket_shutdown (g_socket_connection_get_socket (visitor->connection), TRUE, TRUE, NULL);
  return G_SOURCE_REMOVE;
}

static void
hand_over (Visitor *visitor, gsize length)
{
  g_autoptr (GBytes) head = g_bytes_new (visitor->head, length);
  g_autoptr (GInputStream) in = g_memory_input_stream_new_from_bytes (head);
  GOutputStream *out = g_io_stream_get_output_stream (G_IO_STREAM (visitor->connection));
  g_autoptr (GSocketAddress) here = g_socket_connection_get_local_address (visitor->connection, NULL);
  g_autoptr (GSocketAddress) there = g_socket_connection_get_remote_address (visitor->connection, NULL);
  g_autoptr (GIOStream) stream = g_simple_io_stream_new (in, out);

  if (here == NULL || there == NULL) { /* the visitor has left */
    leave (visitor);
    return;
  }
  g_source_remove (visitor->timer);
  visitor->timer = g_timeout_add_seconds (FAB_DOOR_ALL_S, on_all_late, visitor);
  g_object_weak_ref (G_OBJECT (stream), on_dropped, visitor);
  visitor->door->fn (visitor->door->data, stream, here, there);
}

static void
take_head (Visitor *visitor)
{
  gsize length = head_length (visitor);

  if (length > 0 && has_body (visitor, length))
    refuse (visitor, "413 Content Too Large");
  else if (length > 0)
    hand_over (visitor, length);
  else if (visitor->n == FAB_DOOR_MAX_HEAD)
    refuse (visitor, "431 Request Header Fields Too Large");
  else
    read_more (visitor);
}

static void
on_read (GObject *source, GAsyncResult *result, gpointer data)
{
  Visitor *visitor = data;
  g_autoptr (GError) problem = NULL;
  gssize n = g_input_stream_read_finish (G_INPUT_STREAM (source), result, &problem);

  if (!visitor->is_refused && g_error_matches (problem, G_IO_ERROR, G_IO_ERROR_CANCELLED))
    say (visitor->connection, "408 Request Timeout");
  if (n <= 0) {
    leave (visitor);
    return;
  }
  visitor->n += visitor->is_refused ? 0 : (gsize) n;
  if (visitor->is_refused)
    read_more (visitor);
  else
    take_head (visitor);
}

static void
read_more (Visitor *visitor)
{
  g_input_stream_read_async (g_io_stream_get_input_stream (G_IO_STREAM (visitor->connection)),
                             visitor->head + visitor->n, FAB_DOOR_MAX_HEAD - visitor->n, G_PRIORITY_DEFAULT,
                             visitor->late, on_read, visitor);
}

static gboolean
on_head_late (gpointer data)
{
  g_cancellable_cancel (((Visitor *) data)->late);
  return G_SOURCE_CONTINUE; /* until the read reports that it was cancelled */
}

static gboolean
on_incoming (G_GNUC_UNUSED GSocketService *service, GSocketConnection *connection,
             G_GNUC_UNUSED GObject *source, gpointer data)
{
  FabDoor *self = data;
  Visitor *visitor;

  if (g_hash_table_size (self->visitors) >= FAB_DOOR_MAX_VISITORS) {
    say (connection, "503 Service Unavailable");
    return TRUE;
  }
  visitor = g_new (Visitor, 1);
  visitor->door = self;
  visitor->connection = g_object_ref (connection);
  visitor->late = g_cancellable_new ();
  visitor->timer = g_timeout_add_seconds (FAB_DOOR_HEAD_S, on_head_late, visitor);
  visitor->is_refused = FALSE;
  visitor->n = 0;
  g_hash_table_add (self->visitors, visitor);
  read_more (visitor);
  return TRUE;
}

/* --- the door --- */

static gboolean
listen_at (FabDoor *self, GInetAddress *address, guint port, GError **error)
{
  g_autoptr (GSocketAddress) wanted = g_inet_socket_address_new (address, (guint16) port);
  g_autoptr (GSocketAddress) found = NULL;
  g_autoptr (GError) problem = NULL;

  g_socket_listener_set_backlog (G_SOCKET_LISTENER (self->service), 256);
  if (!g_socket_listener_add_address (G_SOCKET_LISTENER (self->service), wanted, G_SOCKET_TYPE_STREAM,
                                      G_SOCKET_PROTOCOL_TCP, NULL, &found, &problem)) {
    g_autofree char *text = g_inet_address_to_string (address);

    return fab_throw (error, FAB_ERROR_IO, "cannot listen at %s, port %u: %s", text, port, problem->message);
  }
  self->port = g_inet_socket_address_get_port (G_INET_SOCKET_ADDRESS (found));
  return TRUE;
}

FabDoor *
fab_door_new (GInetAddress *address, guint port, FabDoorFn fn, gpointer data, GError **error)
{
  g_autoptr (FabDoor) self = g_new0 (FabDoor, 1);

  self->service = g_socket_service_new ();
  self->visitors = g_hash_table_new (NULL, NULL);
  self->fn = fn;
  self->data = data;
  if (!listen_at (self, address, port, error))
    return NULL;
  g_signal_connect (self->service, "incoming", G_CALLBACK (on_incoming), self);
  g_socket_service_start (self->service);
  return g_steal_pointer (&self);
}

void
fab_door_close (FabDoor *self)
{
  g_socket_service_stop (self->service);
  g_socket_listener_close (G_SOCKET_LISTENER (self->service));
}

/* Cancels visitors without a complete request. */
void
fab_door_free (FabDoor *self)
{
  if (self == NULL)
    return;
  fab_door_close (self);
  g_autoptr (GList) visitors = g_hash_table_get_keys (self->visitors);
  for (GList *at = visitors; at != NULL; at = at->next)
    g_cancellable_cancel (((Visitor *) at->data)->late);
  while (g_hash_table_size (self->visitors) > 0)
    g_main_context_iteration (NULL, TRUE);
  g_hash_table_unref (self->visitors);
  g_object_unref (self->service);
  g_free (self);
}

guint
fab_door_port (const FabDoor *self)
{
  return self->port;
}

guint
fab_door_n_visitors (const FabDoor *self)
{
  return g_hash_table_size (self->visitors);
}
