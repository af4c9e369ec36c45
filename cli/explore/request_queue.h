/* SPDX-License-Identifier: Apache-2.0 */
/* request_queue.h - a request queue with worker threads: few requests run at once, few wait, and of each client
 * only the newest waits.
 *
 * All calls must come from the thread whose main context created the queue, and answers arrive there. Only `work`
 * runs on threads of its own.
 */
#pragma once

#include <glib.h>

typedef enum {
  FAB_REQUEST_QUEUE_DONE,
  FAB_REQUEST_QUEUE_SUPERSEDED, /* the same client sent a newer request before this one started */
  FAB_REQUEST_QUEUE_FULL,       /* too many requests are waiting */
} FabRequestQueueFate;

/* Answers a request, on a worker thread. `question` belongs to the asker, who keeps it until the answer. (transfer
 * full) */
typedef char *(*FabRequestQueueWorkFn) (gpointer data, gconstpointer question);
/* Called once for each request, before or after fab_desk_ask returns. `answer` is NULL unless the fate is DONE,
 * and is valid only during the call. The asker frees its question. */
typedef void (*FabRequestQueueAnswerFn) (gpointer asker, gpointer question, FabRequestQueueFate fate,
                                         const char *answer);

typedef struct {
  guint n_workers, n_in_line;
  FabRequestQueueWorkFn work;
  gpointer data;
  FabRequestQueueAnswerFn answer;
} FabRequestQueueRules;

typedef struct _FabRequestQueue FabRequestQueue;

FabRequestQueue *fab_request_queue_new (const FabRequestQueueRules *rules);
/* Ends waiting requests with FAB_DESK_FULL; waits for running ones and delivers their answers. */
void fab_request_queue_free (FabRequestQueue *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (FabRequestQueue, fab_request_queue_free)

/* Adds a request. `client` NULL: no other request is of the same client. */
void fab_request_queue_ask (FabRequestQueue *self, const char *client, gpointer asker, gpointer question);

guint fab_request_queue_n_waiting (const FabRequestQueue *self); /* requests that wait or run */
