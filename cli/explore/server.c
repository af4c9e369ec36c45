/* SPDX-License-Identifier: Apache-2.0 */
/* server.c - answers requests with libsoup. Worker threads run the settings, so this thread never waits. */
#include "cli/explore/server.h"

#include <glib-unix.h>
#include <libsoup/soup.h>
#include <string.h>

#include "cli/explore/desk.h"
#include "cli/explore/door.h"
#include "sim/base/error.h"
#include "sim/base/json.h"

/* The page names its scripts and styles by hash itself. */
#define POLICY \
  "connect-src 'self'; object-src 'none'; frame-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

enum { MAX_WORKERS = 4, MAX_IN_LINE = 32, MAX_QUERY = 1024, GOODBYE_MS = 2000 };

typedef struct {
  const FabExploreService *service;
  GMainLoop *loop;
  SoupServer *soup;
  FabDoor *door;
  FabDesk *desk;
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

static char *
play (gpointer data, gconstpointer question)
{
  g_auto (FabAnswer) answer = fab_explored_answer (data, question);

  return fab_answer_json (&answer, TRUE);
}

static void
on_answer (gpointer data, gpointer question, FabDeskFate fate, const char *text)
{
  Asker *asker = data;

  if (fate == FAB_DESK_DONE)
    answer (asker->message, SOUP_STATUS_OK, "application/json", text);
  else if (fate == FAB_DESK_SUPERSEDED)
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
ask (Server *self, SoupServerMessage *message, const char *query)
{
  FabKnobSetting setting;
  g_autofree char *client = NULL;
  g_autoptr (GError) problem = NULL;
  Asker *asker;

  if (!fab_knob_board_parse (self->service->explored->board, query, &setting, &client, &problem)) {
    answer_problem (message, SOUP_STATUS_BAD_REQUEST, problem->message);
    return;
  }
  asker = g_new (Asker, 1);
  *asker = (Asker){ self, g_object_ref (message) };
  soup_server_pause_message (self->soup, message);
  fab_desk_ask (self->desk, client, asker, g_memdup2 (&setting, sizeof setting));
}

/* --- requests --- */

/* Says whether the request names this host: an address or localhost. Other names may have been made to lead here (DNS
 * rebinding). */
static gboolean
is_our_host (const Server *self, const char *host)
{
  g_autofree char *ending = g_strdup_printf (":%u", self->port);
  g_autofree char *name = NULL;

  if (host == NULL || strlen (host) > 255)
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

  if (status != 0)
    answer_problem (message, status, problem);
  else if (query != NULL && strlen (query) > MAX_QUERY)
    answer_problem (message, SOUP_STATUS_REQUEST_URI_TOO_LONG, "the query is too long");
  else if (strcmp (path, "/") == 0)
    answer (message, SOUP_STATUS_OK, "text/html; charset=utf-8", self->service->page);
  else if (strcmp (path, "/api/run") == 0)
    ask (self, message, query);
  else
    answer_problem (message, SOUP_STATUS_NOT_FOUND, "there is / and /api/run");
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

  if (fab_desk_n_waiting (self->desk) == 0 && fab_door_n_visitors (self->door) == 0)
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
  fab_door_close (self->door);
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
  self->door = fab_door_new (address, service->port, on_visit, self, error);
  if (self->door == NULL)
    return FALSE;
  self->port = fab_door_port (self->door);
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
  FabDeskRules rules = { CLAMP (g_get_num_processors () - 1, 1, MAX_WORKERS), MAX_IN_LINE, play,
                         (gpointer) service->explored, on_answer };
  Server self = { .service = service };
  gboolean is_served;

  self.loop = g_main_loop_new (NULL, FALSE);
  self.desk = fab_desk_new (&rules);
  self.soup = soup_server_new ("server-header", NULL, NULL);
  soup_server_add_handler (self.soup, NULL, on_request, &self, NULL);
  is_served = run (&self, error);
  fab_desk_free (self.desk);
  soup_server_disconnect (self.soup);
  g_object_unref (self.soup);
  fab_door_free (self.door);
  g_main_loop_unref (self.loop);
  return is_served;
}
