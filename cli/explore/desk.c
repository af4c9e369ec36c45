/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/explore/desk.h"

typedef struct {
  FabDesk *desk;
  char *client; /* NULL: none */
  gpointer asker, question;
  char *answer;
} Slip;

struct _FabDesk {
  FabDeskRules rules;
  GMainContext *context;
  GThreadPool *pool;
  GQueue line; /* Slip */
  guint n_working;
};

static void start_next (FabDesk *self);

static void
slip_free (Slip *slip)
{
  g_free (slip->client);
  g_free (slip->answer);
  g_free (slip);
}

static void
answer (Slip *slip, FabDeskFate fate)
{
  slip->desk->rules.answer (slip->asker, slip->question, fate, fate == FAB_DESK_DONE ? slip->answer : NULL);
  slip_free (slip);
}

static gboolean
on_done (gpointer data)
{
  Slip *slip = data;

  slip->desk->n_working--;
  start_next (slip->desk);
  answer (slip, FAB_DESK_DONE);
  return G_SOURCE_REMOVE;
}

/* Runs on a worker thread. */
static void
work (gpointer data, gpointer user)
{
  Slip *slip = data;
  FabDesk *self = user;
  GSource *ready = g_idle_source_new ();

  slip->answer = self->rules.work (self->rules.data, slip->question);
  g_source_set_priority (ready, G_PRIORITY_DEFAULT);
  g_source_set_callback (ready, on_done, slip, NULL);
  g_source_attach (ready, self->context);
  g_source_unref (ready);
}

static void
start_next (FabDesk *self)
{
  while (self->n_working < self->rules.n_workers && !g_queue_is_empty (&self->line)) {
    self->n_working++;
    g_thread_pool_push (self->pool, g_queue_pop_head (&self->line), NULL);
  }
}

FabDesk *
fab_desk_new (const FabDeskRules *rules)
{
  FabDesk *self = g_new0 (FabDesk, 1);

  self->rules = *rules;
  self->context = g_main_context_ref_thread_default ();
  self->pool = g_thread_pool_new (work, self, (gint) rules->n_workers, FALSE, NULL);
  g_queue_init (&self->line);
  return self;
}

void
fab_desk_free (FabDesk *self)
{
  if (self == NULL)
    return;
  while (!g_queue_is_empty (&self->line))
    answer (g_queue_pop_head (&self->line), FAB_DESK_FULL);
  g_thread_pool_free (self->pool, FALSE, TRUE);
  while (self->n_working > 0)
    g_main_context_iteration (self->context, TRUE);
  g_main_context_unref (self->context);
  g_free (self);
}

static GList *
find_client (const FabDesk *self, const char *client)
{
  for (GList *at = self->line.head; client != NULL && at != NULL; at = at->next)
    if (g_strcmp0 (((Slip *) at->data)->client, client) == 0)
      return at;
  return NULL;
}

void
fab_desk_ask (FabDesk *self, const char *client, gpointer asker, gpointer question)
{
  Slip *slip = g_new0 (Slip, 1);
  GList *older = find_client (self, client);

  *slip = (Slip){ .desk = self, .client = g_strdup (client), .asker = asker, .question = question };
  if (older != NULL) { /* the client keeps its place in the queue */
    Slip *superseded = older->data;

    older->data = slip;
    answer (superseded, FAB_DESK_SUPERSEDED);
  } else if (self->line.length >= self->rules.n_in_line) {
    answer (slip, FAB_DESK_FULL);
  } else {
    g_queue_push_tail (&self->line, slip);
    start_next (self);
  }
}

guint
fab_desk_n_waiting (const FabDesk *self)
{
  return self->line.length + self->n_working;
}
