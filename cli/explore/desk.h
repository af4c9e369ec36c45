/* SPDX-License-Identifier: Apache-2.0 */
/* desk.h - a request queue with worker threads: few requests run at once, few wait, and of each client only the newest
 * waits.
 *
 * All calls must come from the thread whose main context created the queue, and answers arrive there. Only `work` runs
 * on threads of its own.
 */
#pragma once

#include <glib.h>

typedef enum {
  FAB_DESK_DONE,
  FAB_DESK_SUPERSEDED, /* the same client sent a newer request before this one started */
  FAB_DESK_FULL,       /* too many requests are waiting */
} FabDeskFate;

/* Answers a request, on a worker thread. `question` belongs to the asker, who keeps it until the answer. (transfer
 * full) */
typedef char *(*FabDeskWorkFn) (gpointer data, gconstpointer question);
/* Called once for each request, before or after fab_desk_ask returns. `answer` is NULL unless the fate is DONE, and is
 * valid only during the call. The asker frees its question. */
typedef void (*FabDeskAnswerFn) (gpointer asker, gpointer question, FabDeskFate fate, const char *answer);

typedef struct {
  guint n_workers, n_in_line;
  FabDeskWorkFn work;
  gpointer data;
  FabDeskAnswerFn answer;
} FabDeskRules;

typedef struct _FabDesk FabDesk;

FabDesk *fab_desk_new (const FabDeskRules *rules);
/* Ends waiting requests with FAB_DESK_FULL; waits for running ones and delivers their answers. */
void fab_desk_free (FabDesk *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (FabDesk, fab_desk_free)

/* Adds a request. `client` NULL: no other request is of the same client. */
void fab_desk_ask (FabDesk *self, const char *client, gpointer asker, gpointer question);

guint fab_desk_n_waiting (const FabDesk *self); /* requests that wait or run */
