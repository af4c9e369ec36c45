/* SPDX-License-Identifier: Apache-2.0 */
/* server.c - answers requests with libsoup. Worker threads run the settings, so this thread never waits. */
#include "cli/explore/server.h"

#include <gio/gio.h>
#include <glib-unix.h>
#include <libsoup/soup.h>
#include <string.h>

#include "cli/explore/request_queue.h"
#include "sim/base/error.h"
#include "sim/base/json.h"

enum {
  FAB_LISTENER_MAX_VISITORS = 128,
  FAB_LISTENER_MAX_HEAD = 8192, /* bytes of a request */
  FAB_LISTENER_HEAD_S = 5,      /* seconds to send the head */
  FAB_LISTENER_ALL_S = 30,      /* seconds until the answer must be read */
};

/* Takes a connection whose request head is complete. The stream gives that head and then ends; dropping the last
 * reference closes the connection. */
typedef void (*FabListenerFn) (gpointer data, GIOStream *stream, GSocketAddress *here, GSocketAddress *there);

typedef struct _FabListener FabListener;

static void listener_free (FabListener *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (FabListener, listener_free)

typedef struct {
  FabListener *listener;
  GSocketConnection *connection;
  GCancellable *late; /* while the head is read */
  guint timer;
  gboolean
      is_refused; /* it was refused, and is read on only so that unread bytes do not make the answer disappear */
  gsize n;
  char head[FAB_LISTENER_MAX_HEAD];
} Visitor;

struct _FabListener {
  GSocketService *service;
  GHashTable *visitors; /* Visitor, all of them */
  FabListenerFn fn;
  gpointer data;
  guint port;
};

/* --- the end of a visit --- */

static void
leave (Visitor *visitor)
{
  if (visitor->timer != 0)
    g_source_remove (visitor->timer);
  g_hash_table_remove (visitor->listener->visitors, visitor);
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
  visitor->timer = g_timeout_add_seconds (FAB_LISTENER_ALL_S, on_all_late, visitor);
  g_object_weak_ref (G_OBJECT (stream), on_dropped, visitor);
  visitor->listener->fn (visitor->listener->data, stream, here, there);
}

static void
take_head (Visitor *visitor)
{
  gsize length = head_length (visitor);

  if (length > 0 && has_body (visitor, length))
    refuse (visitor, "413 Content Too Large");
  else if (length > 0)
    hand_over (visitor, length);
  else if (visitor->n == FAB_LISTENER_MAX_HEAD)
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
                             visitor->head + visitor->n, FAB_LISTENER_MAX_HEAD - visitor->n,
                             G_PRIORITY_DEFAULT, visitor->late, on_read, visitor);
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
  FabListener *self = data;
  Visitor *visitor;

  if (g_hash_table_size (self->visitors) >= FAB_LISTENER_MAX_VISITORS) {
    say (connection, "503 Service Unavailable");
    return TRUE;
  }
  visitor = g_new (Visitor, 1);
  visitor->listener = self;
  visitor->connection = g_object_ref (connection);
  visitor->late = g_cancellable_new ();
  visitor->timer = g_timeout_add_seconds (FAB_LISTENER_HEAD_S, on_head_late, visitor);
  visitor->is_refused = FALSE;
  visitor->n = 0;
  g_hash_table_add (self->visitors, visitor);
  read_more (visitor);
  return TRUE;
}

/* --- the door --- */

static gboolean
listener_listen_at (FabListener *self, GInetAddress *address, guint port, GError **error)
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

/* Listens at an address; port 0: any free one. NULL and *error when that fails. (transfer full) */
static FabListener *
listener_new (GInetAddress *address, guint port, FabListenerFn fn, gpointer data, GError **error)
{
  g_autoptr (FabListener) self = g_new0 (FabListener, 1);

  self->service = g_socket_service_new ();
  self->visitors = g_hash_table_new (NULL, NULL);
  self->fn = fn;
  self->data = data;
  if (!listener_listen_at (self, address, port, error))
    return NULL;
  g_signal_connect (self->service, "incoming", G_CALLBACK (on_incoming), self);
  g_socket_service_start (self->service);
  return g_steal_pointer (&self);
}

/* accepts no more connections */
static void
listener_close (FabListener *self)
{
  g_socket_service_stop (self->service);
  g_socket_listener_close (G_SOCKET_LISTENER (self->service));
}

/* Cancels visitors without a complete request. */
static void
listener_free (FabListener *self)
{
  if (self == NULL)
    return;
  listener_close (self);
  g_autoptr (GList) visitors = g_hash_table_get_keys (self->visitors);
  for (GList *at = visitors; at != NULL; at = at->next)
    g_cancellable_cancel (((Visitor *) at->data)->late);
  while (g_hash_table_size (self->visitors) > 0)
    g_main_context_iteration (NULL, TRUE);
  g_hash_table_unref (self->visitors);
  g_object_unref (self->service);
  g_free (self);
}

static guint
listener_port (const FabListener *self)
{
  return self->port;
}

static guint
listener_n_visitors (const FabListener *self)
{
  return g_hash_table_size (self->visitors);
}

/* The page names its scripts and styles by hash itself. */
#define POLICY                                                                                                    \
  "connect-src 'self'; img-src data:; object-src 'none'; frame-src 'none'; base-uri 'none'; form-action 'none'; " \
  "frame-ancestors 'none'"

enum { MAX_WORKERS = 4, MAX_IN_LINE = 32, MAX_QUERY = 1024, GOODBYE_MS = 2000 };

typedef struct {
  const FabExploreService *service;
  GMainLoop *loop;
  SoupServer *soup;
  FabListener *listener;
  FabRequestQueue *request_queue;
  guint port;
  guint timers[2]; /* once it ends */
} Server;

typedef struct {
  Server *server;
  SoupServerMessage *message;
} Asker;

/* --- answers --- */

static void
answer (SoupServerMessage *message, guint status, const char *type, const char *text)
{
  SoupMessageHeaders *headers = soup_server_message_get_response_headers (message);

  soup_message_headers_replace (headers, "Connection", "close");
  soup_message_headers_replace (headers, "Cache-Control", "no-store");
  soup_message_headers_replace (headers, "Content-Security-Policy", POLICY);
  soup_message_headers_replace (headers, "Cross-Origin-Resource-Policy", "same-origin");
  soup_message_headers_replace (headers, "Referrer-Policy", "no-referrer");
  soup_message_headers_replace (headers, "X-Content-Type-Options", "nosniff");
  if (status == SOUP_STATUS_METHOD_NOT_ALLOWED)
    soup_message_headers_replace (headers, "Allow", "GET");
  if (status == SOUP_STATUS_SERVICE_UNAVAILABLE)
    soup_message_headers_replace (headers, "Retry-After", "1");
  soup_server_message_set_status (message, status, NULL);
  soup_server_message_set_response (message, type, SOUP_MEMORY_COPY, text, strlen (text));
}

static void
answer_problem (SoupServerMessage *message, guint status, const char *problem)
{
  g_autoptr (FabJson) json = fab_json_new (FAB_JSON_PAGE);

  fab_json_begin_object (json, NULL);
  fab_json_add_text (json, "problem", problem);
  fab_json_end (json);
  g_autofree char *text = fab_json_finish (json);
  answer (message, status, "application/json", text);
}

/* --- playing --- */

typedef enum {
  ASKED_FIGURES, /* the result without its report */
  ASKED_RUN,     /* the result */
  ASKED_OUTLOOK, /* how sure the result is */
} Asked;

typedef struct {
  FabKnobSetting setting;
  Asked asked;
} Question;

static char *
play (gpointer data, gconstpointer asked)
{
  const Question *question = asked;

  if (question->asked == ASKED_OUTLOOK)
    return fab_explored_outlook (data, &question->setting);
  g_auto (FabAnswer) answer = fab_explored_answer (data, &question->setting, question->asked == ASKED_RUN);

  return fab_answer_json (&answer, TRUE);
}

static void
on_answer (gpointer data, gpointer question, FabRequestQueueFate fate, const char *text)
{
  Asker *asker = data;

  if (fate == FAB_REQUEST_QUEUE_DONE)
    answer (asker->message, SOUP_STATUS_OK, "application/json", text);
  else if (fate == FAB_REQUEST_QUEUE_SUPERSEDED)
    answer_problem (asker->message, 429, "the same client asked again");
  else
    answer_problem (asker->message, SOUP_STATUS_SERVICE_UNAVAILABLE,
                    "too many settings are waiting to be played; ask again in a second");
  soup_server_unpause_message (asker->server->soup, asker->message);
  g_object_unref (asker->message);
  g_free (asker);
  g_free (question);
}

static void
ask (Server *self, SoupServerMessage *message, const char *query, Asked asked)
{
  Question question = { .asked = asked };
  g_autofree char *client = NULL;
  g_autoptr (GError) problem = NULL;
  Asker *asker;

  if (!fab_knob_board_parse (self->service->explored->board, query, &question.setting, &client, &problem)) {
    answer_problem (message, SOUP_STATUS_BAD_REQUEST, problem->message);
    return;
  }
  asker = g_new (Asker, 1);
  *asker = (Asker){ self, g_object_ref (message) };
  soup_server_pause_message (self->soup, message);
  fab_request_queue_ask (self->request_queue, client, asker, g_memdup2 (&question, sizeof question));
}

/* --- requests --- */

/* Says whether the request names this host: an address or localhost. Other names may have been made to lead here (DNS
 * rebinding). */
static gboolean
is_our_host (const Server *self, const char *host)
{
  g_autofree char *ending = g_strdup_printf (":%u", self->port);
  g_autofree char *name = NULL;

  if (host == NULL)
    return FALSE;
  if (g_str_has_suffix (host, ending))
    name = g_strndup (host, strlen (host) - strlen (ending));
  else if (self->port == 80)
    name = g_strdup (host);
  else
    return FALSE;
  if (name[0] == '[' && g_str_has_suffix (name, "]")) {
    g_autofree char *inner = g_strndup (name + 1, strlen (name) - 2);

    return g_hostname_is_ip_address (inner);
  }
  return g_ascii_strcasecmp (name, "localhost") == 0
      || (g_hostname_is_ip_address (name) && strchr (name, ':') == NULL);
}

/* Returns the status that refuses a request; 0: it is allowed. */
static guint
why_not (const Server *self, SoupServerMessage *message, const char **problem)
{
  SoupMessageHeaders *headers = soup_server_message_get_request_headers (message);
  const char *site = soup_message_headers_get_one (headers, "Sec-Fetch-Site");

  if (!is_our_host (self, soup_message_headers_get_one (headers, "Host"))) {
    *problem = "this server answers to its address and to localhost only";
    return SOUP_STATUS_FORBIDDEN;
  }
  if (site != NULL && strcmp (site, "same-origin") != 0 && strcmp (site, "none") != 0) {
    *problem = "another site asks";
    return SOUP_STATUS_FORBIDDEN;
  }
  if (strcmp (soup_server_message_get_method (message), "GET") != 0) {
    *problem = "there is nothing but GET";
    return SOUP_STATUS_METHOD_NOT_ALLOWED;
  }
  return 0;
}

static void
on_request (G_GNUC_UNUSED SoupServer *soup, SoupServerMessage *message, const char *path,
            G_GNUC_UNUSED GHashTable *pairs, gpointer data)
{
  Server *self = data;
  const char *query = g_uri_get_query (soup_server_message_get_uri (message)), *problem = NULL;
  guint status = why_not (self, message, &problem);

  /* libsoup would answer one request for thousands of ranges with as many copies of the page */
  soup_message_headers_remove (soup_server_message_get_request_headers (message), "Range");

  if (status != 0)
    answer_problem (message, status, problem);
  else if (query != NULL && strlen (query) > MAX_QUERY)
    answer_problem (message, SOUP_STATUS_REQUEST_URI_TOO_LONG, "the query is too long");
  else if (strcmp (path, "/") == 0)
    answer (message, SOUP_STATUS_OK, "text/html; charset=utf-8", self->service->page);
  else if (strcmp (path, "/api/figures") == 0)
    ask (self, message, query, ASKED_FIGURES);
  else if (strcmp (path, "/api/run") == 0)
    ask (self, message, query, ASKED_RUN);
  else if (strcmp (path, "/api/outlook") == 0)
    ask (self, message, query, ASKED_OUTLOOK);
  else
    answer_problem (message, SOUP_STATUS_NOT_FOUND, "there is /, /api/figures, /api/run and /api/outlook");
}

/* --- from start to end --- */

static void
on_visit (gpointer data, GIOStream *stream, GSocketAddress *here, GSocketAddress *there)
{
  Server *self = data;

  soup_server_accept_iostream (self->soup, stream, here, there, NULL);
}

static gboolean
on_goodbye (gpointer data)
{
  g_main_loop_quit (((Server *) data)->loop);
  return G_SOURCE_CONTINUE;
}

static gboolean
quit_when_empty (gpointer data)
{
  Server *self = data;

  if (fab_request_queue_n_waiting (self->request_queue) == 0 && listener_n_visitors (self->listener) == 0)
    g_main_loop_quit (self->loop);
  return G_SOURCE_CONTINUE;
}

/* The first signal lets running requests finish; the second does not wait. */
static gboolean
on_signal (gpointer data)
{
  Server *self = data;

  if (self->timers[0] != 0)
    return on_goodbye (self);
  listener_close (self->listener);
  self->timers[0] = g_timeout_add (GOODBYE_MS, on_goodbye, self);
  self->timers[1] = g_timeout_add (GOODBYE_MS / 100, quit_when_empty, self);
  return G_SOURCE_CONTINUE;
}

static gboolean
listen_at (Server *self, GError **error)
{
  const FabExploreService *service = self->service;
  g_autoptr (GInetAddress) address = g_inet_address_new_from_string (service->address);

  if (address == NULL)
    return fab_throw (error, FAB_ERROR_INPUT, "--listen %s: not an address such as 127.0.0.1 or ::1",
                      service->address);
  self->listener = listener_new (address, service->port, on_visit, self, error);
  if (self->listener == NULL)
    return FALSE;
  self->port = listener_port (self->listener);
  gboolean is_v6 = g_inet_address_get_family (address) == G_SOCKET_FAMILY_IPV6;
  g_autofree char *url = g_strdup_printf (is_v6 ? "http://[%s]:%u/" : "http://%s:%u/", service->address,
                                          self->port);
  service->on_ready (url, g_inet_address_get_is_loopback (address), service->data);
  return TRUE;
}

/* Takes over the signals before anybody learns that the server runs. */
static gboolean
run (Server *self, GError **error)
{
  guint signals[] = { g_unix_signal_add (SIGINT, on_signal, self),
                      g_unix_signal_add (SIGTERM, on_signal, self) };
  gboolean is_served = listen_at (self, error);

  if (is_served)
    g_main_loop_run (self->loop);
  for (guint i = 0; i < G_N_ELEMENTS (signals); i++) {
    g_source_remove (signals[i]);
    g_clear_handle_id (&self->timers[i], g_source_remove);
  }
  return is_served;
}

gboolean
fab_explore_serve (const FabExploreService *service, GError **error)
{
  FabRequestQueueRules rules = { CLAMP (g_get_num_processors () - 1, 1, MAX_WORKERS), MAX_IN_LINE, play,
                                 (gpointer) service->explored, on_answer };
  Server self = { .service = service };
  gboolean is_served;

  self.loop = g_main_loop_new (NULL, FALSE);
  self.request_queue = fab_request_queue_new (&rules);
  self.soup = soup_server_new ("server-header", NULL, NULL);
  soup_server_add_handler (self.soup, NULL, on_request, &self, NULL);
  is_served = run (&self, error);
  fab_request_queue_free (self.request_queue);
  soup_server_disconnect (self.soup);
  g_object_unref (self.soup);
  listener_free (self.listener);
  g_main_loop_unref (self.loop);
  return is_served;
}
