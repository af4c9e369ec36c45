/* SPDX-License-Identifier: Apache-2.0 */
/* stream.c - measures bandwidth by keeping the queues full.
 *
 * Messages go to the queue pairs in turn, and every so many of them one requests a completion. The clock runs from
 * before the first post to the last completion, as in perftest; a completion of a reliable connection says that the
 * other end's adapter has the message.
 */
#include "validate/measure/verbs/move.h"

#include "sim/base/error.h"
#include "validate/measure/clock.h"
#include "validate/measure/verbs/queue.h"
#include "validate/measure/verbs/work.h"

typedef struct {
  FabVerbsPair *pair;
  FabBytes size_bytes;
  guint share, signal_every;
  guint n_sends, n_posted, n_sent; /* to send, posted, done */
  guint n_receives, n_received;
} Stream;

static void
stream_init (Stream *self, FabVerbsPair *pair, FabBytes size_bytes, guint n_sends, guint n_receives)
{
  guint n_queues = pair->request.n_queues;

  *self = (Stream){ .pair = pair,
                    .size_bytes = size_bytes,
                    .share = fab_verbs_queue_share (&pair->request),
                    .n_sends = n_sends,
                    .n_receives = n_receives };
  /* at most half of the share, so that the queue does not run empty while a completion is awaited */
  self->signal_every = MAX (1, self->share / 2);
  for (guint i = 0; i < n_queues; i++)
    pair->queues[i].to_post = n_sends / n_queues + (i < n_sends % n_queues ? 1 : 0);
}

/* Posts while there is room in the window and in the queue whose turn it is. */
static gboolean
fill (Stream *self, GError **error)
{
  FabVerbsPair *pair = self->pair;

  while (self->n_posted < self->n_sends && self->n_posted - self->n_sent < pair->request.window) {
    guint i = self->n_posted % pair->request.n_queues;
    FabVerbsQueue *queue = &pair->queues[i];
    FabVerbsPost post = {
      .size_bytes = self->size_bytes,
      .is_signalled = queue->unsignalled + 1 >= self->signal_every || queue->to_post == 1,
    };

    if (queue->under_way >= self->share)
      return TRUE;
    if (!fab_verbs_post (pair, i, &post, error))
      return FALSE;
    queue->to_post--;
    self->n_posted++;
  }
  return TRUE;
}

static gboolean
throw_stuck (const Stream *self, GError **error)
{
  if (self->n_sent < self->n_sends)
    return fab_verbs_throw_timeout (self->pair, "completed", self->n_sent, self->n_sends, error);
  return fab_verbs_throw_timeout (self->pair, "received", self->n_received, self->n_receives, error);
}

static gboolean
run (Stream *self, GError **error)
{
  FabVerbsSpin spin = { .turns = 0 };

  while (self->n_sent < self->n_sends || self->n_received < self->n_receives) {
    guint sent = 0, received = 0;

    if (!fill (self, error) || !fab_verbs_poll_sends (self->pair, &sent, error))
      return FALSE;
    if (self->n_received < self->n_receives && !fab_verbs_poll_receives (self->pair, &received, error))
      return FALSE;
    self->n_sent += sent;
    self->n_received += received;
    if (sent + received > 0)
      fab_verbs_spin_reset (&spin);
    else if (fab_verbs_spin_is_over (&spin, self->pair->timeout_s))
      return throw_stuck (self, error);
  }
  return TRUE;
}

/* Takes the longer time of the two directions. The clocks of the ends show different times, but run equally fast. */
static gboolean
take_longer (const FabVerbsPair *pair, FabTimePs *elapsed_ps, GError **error)
{
  guint64 big = GUINT64_TO_BE ((guint64) *elapsed_ps);

  if (!pair->is_asking)
    return pair->control->send (pair->control, &big, sizeof big, error);
  if (!pair->control->receive (pair->control, &big, sizeof big, error))
    return FALSE;
  *elapsed_ps = MAX (*elapsed_ps, (FabTimePs) (GUINT64_FROM_BE (big) & G_MAXINT64));
  return TRUE;
}

gboolean
fab_verbs_move_stream (FabVerbsPair *pair, FabMeasureKind kind, FabBytes size_bytes, guint n_messages,
                       FabTimePs *elapsed_ps, GError **error)
{
  gboolean is_both = kind == FAB_MEASURE_BIDIRECTIONAL, is_send = pair->request.method == FAB_VERBS_SEND;
  FabTimePs start_ps;
  Stream self;

  stream_init (&self, pair, size_bytes, is_both || pair->is_asking ? n_messages : 0,
               is_send && (is_both || !pair->is_asking) ? n_messages : 0);
  if (!fab_verbs_meet (pair, error))
    return FALSE;
  start_ps = fab_clock_ps ();
  if (!run (&self, error))
    return FALSE;
  /* the caller subtracts one round trip, which for reads is two whole reads: one too many */
  *elapsed_ps = fab_clock_ps () - start_ps + pair->read_ps;
  return !is_both || take_longer (pair, elapsed_ps, error);
}
