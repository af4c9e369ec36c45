/* SPDX-License-Identifier: Apache-2.0 */
/* desk.h - who asks waits here until a worker has time: few at once, few in line, and of one client the newest only.
 *
 * All calls come from the thread whose main context the desk was made in, and answers arrive there; only `work` runs
 * on threads of its own.
 */
#pragma once

#include <glib.h>

typedef enum {
  FAB_DESK_DONE,
  FAB_DESK_SUPERSEDED, /* the same client asked again before its turn */
  FAB_DESK_FULL,       /* too many are in line */
} FabDeskFate;

/* On any thread; `question` is the asker's and stays until the answer. (transfer full) */
typedef char *(*FabDeskWorkFn) (gpointer data, gconstpointer question);
/* Once for each who asked, before or after fab_desk_ask returns. `answer` is NULL unless it is done, and only lent;
 * what was asked is the asker's to free. */
typedef void (*FabDeskAnswerFn) (gpointer asker, gpointer question, FabDeskFate fate, const char *answer);

typedef struct {
  guint n_workers, n_in_line;
  FabDeskWorkFn work;
  gpointer data;
  FabDeskAnswerFn answer;
} FabDeskRules;

typedef struct _FabDesk FabDesk;

FabDesk *fab_desk_new (const FabDeskRules *rules);
/* Who is still in line hears FAB_DESK_FULL; who is being worked for is waited for and hears the answer. */
void fab_desk_free (FabDesk *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (FabDesk, fab_desk_free)

/* `client` may be NULL: nobody else is the same. */
void fab_desk_ask (FabDesk *self, const char *client, gpointer asker, gpointer question);

guint fab_desk_n_waiting (const FabDesk *self); /* in line and at work */
