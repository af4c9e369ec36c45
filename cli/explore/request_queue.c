/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/explore/request_queue.h"

typedef struct {
  FabRequestQueue *request_queue;
  char *client; /* NULL: none */
  gpointer asker, question;
  char *answer;
} Slip;

struct _FabRequestQueue {
  FabRequestQueueRules rules;
  GMainContext *context;
  GThreadPool *pool;
  GQueue line; /* Slip */
  guint n_working;
};

static void start_next (FabRequestQueue *self);

static void
slip_free (Slip *slip)
{
  g_free (slip->client);
  g_free (slip->answer);
  g_free (slip);
}

static void
answer (Slip *slip, FabRequestQueueFate fate)
{
  slip->request_queue->rules.answer (slip->asker, slip->question, fate,
                                     fate == FAB_REQUEST_QUEUE_DONE ? slip->answer : NULL);
  slip_free (slip);
}

static gboolean
on_done (gpointer data)
{
  Slip *slip = data;

  slip->request_queue->n_working--;
  start_next (slip->request_queue);
  answer (slip, FAB_REQUEST_QUEUE_DONE);
  return G_SOURCE_REMOVE;
}

/* Runs on a worker thread. */
static void
work (gpointer data, gpointer user)
{
  Slip *slip = data;
  FabRequestQueue *self = user;
  GSource *ready = g_idle_source_new ();

  slip->answer = self->rules.work (self->rules.data, slip->question);
  g_source_set_priority (ready, G_PRIORITY_DEFAULT);
  g_source_set_callback (ready, on_done, slip, NULL);
  g_source_attach (ready, self->context);
  g_source_unref (ready);
}

static void
start_next (FabRequestQueue *self)
{
  while (self->n_working < self->rules.n_workers && !g_queue_is_empty (&self->line)) {
    self->n_working++;
    g_thread_pool_push (self->pool, g_queue_pop_head (&self->line), NULL);
  }
}

FabRequestQueue *
fab_request_queue_new (const FabRequestQueueRules *rules)
{
  FabRequestQueue *self = g_new0 (FabRequestQueue, 1);

  self->rules = *rules;
  self->context = g_main_context_ref_thread_default ();
  self->pool = g_thread_pool_new (work, self, (gint) rules->n_workers, FALSE, NULL);
  g_queue_init (&self->line);
  return self;
}

void
fab_request_queue_free (FabRequestQueue *self)
{
  if (self == NULL)
    return;
  while (!g_queue_is_empty (&self->line))
    answer (g_queue_pop_head (&self->line), FAB_REQUEST_QUEUE_FULL);
  g_thread_pool_free (self->pool, FALSE, TRUE);
  while (self->n_working > 0)
    g_main_context_iteration (self->context, TRUE);
  g_main_context_unref (self->context);
  g_free (self);
}

static GList *
find_client (const FabRequestQueue *self, const char *client)
{
  for (GList *at = self->line.head; client != NULL && at != NULL; at = at->next)
    if (g_strcmp0 (((Slip *) at->data)->client, client) == 0)
      return at;
  return NULL;
}

void
fab_request_queue_ask (FabRequestQueue *self, const char *client, gpointer asker, gpointer question)
{
  Slip *slip = g_new0 (Slip, 1);
  GList *older = find_client (self, client);

  *slip = (Slip){ .request_queue = self, .client = g_strdup (client), .asker = asker, .question = question };
  if (older != NULL) { /* the client keeps its place in the queue */
    Slip *superseded = older->data;

    older->data = slip;
    answer (superseded, FAB_REQUEST_QUEUE_SUPERSEDED);
  } else if (self->line.length >= self->rules.n_in_line) {
    answer (slip, FAB_REQUEST_QUEUE_FULL);
  } else {
    g_queue_push_tail (&self->line, slip);
    start_next (self);
  }
}

guint
fab_request_queue_n_waiting (const FabRequestQueue *self)
{
  return self->line.length + self->n_working;
}
