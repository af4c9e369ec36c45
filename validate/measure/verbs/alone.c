/* SPDX-License-Identifier: Apache-2.0 */
/* alone.c - latency and exchange: one message under way in each direction, on the first queue pair.
 *
 * A write is noticed by its last byte, which counts 1 ... 255, 1, ...; adapters write a message in order. A send is
 * noticed by its completion, a read by its own.
 */
#include "validate/measure/verbs/move.h"

#include "sim/base/error.h"
#include "validate/measure/clock.h"
#include "validate/measure/verbs/work.h"

typedef struct {
  FabVerbsPair *pair;
  FabVerbsPost post;
  volatile guint8 *arriving; /* last byte of what arrives here; NULL: completions tell */
  guint8 *leaving;           /* last byte of what is sent */
  guint n_sent, n_received;
  guint n_early; /* receives that were polled before they were awaited */
  guint n;
} Alone;

static guint8
mark (guint count)
{
  return (guint8) (1 + count % 255);
}

static void
alone_init (Alone *self, FabVerbsPair *pair, FabBytes size_bytes, guint n)
{
  gboolean is_write = pair->request.method == FAB_VERBS_WRITE;

  *self = (Alone){
    .pair = pair,
    .n = n,
    .post = { .size_bytes = size_bytes, .is_signalled = TRUE, .is_polled = is_write, .may_inline = TRUE }
  };
  if (!is_write)
    return;
  self->arriving = pair->memory.host + pair->memory.half_bytes + size_bytes - 1;
  self->leaving = pair->memory.host + size_bytes - 1;
  *self->arriving = 0;
}

/* Waits until this end's message is done, because the buffer may then be written again. */
static gboolean
reap (Alone *self, GError **error)
{
  FabVerbsSpin spin = { .turns = 0 };

  while (self->pair->queues[0].under_way > 0) {
    guint n = 0;

    if (!fab_verbs_poll_sends (self->pair, &n, error))
      return FALSE;
    if (n == 0 && fab_verbs_spin_is_over (&spin, self->pair->timeout_s))
      return fab_verbs_throw_timeout (self->pair, "sent", self->n_sent - 1, self->n, error);
  }
  return TRUE;
}

static gboolean
send_one (Alone *self, GError **error)
{
  if (self->leaving != NULL)
    *self->leaving = mark (self->n_sent);
  self->n_sent++;
  return fab_verbs_post (self->pair, 0, &self->post, error);
}

/* In an exchange the other end may be one message ahead, but not two: it waits for ours. */
static gboolean
has_mark (const Alone *self)
{
  guint8 seen = *self->arriving;

  return seen == mark (self->n_received) || (seen != 0 && seen == mark (self->n_received + 1));
}

static gboolean
has_arrived (Alone *self, gboolean *has, GError **error)
{
  if (self->arriving != NULL) {
    *has = has_mark (self);
    return TRUE;
  }
  if (self->n_early == 0 && !fab_verbs_poll_receives (self->pair, &self->n_early, error))
    return FALSE;
  *has = self->n_early > 0;
  if (*has)
    self->n_early--;
  return TRUE;
}

/* While nothing arrives, it also polls the completions of what was sent: a write that failed arrives nowhere. */
static gboolean
receive_one (Alone *self, GError **error)
{
  FabVerbsSpin spin = { .turns = 0 };
  gboolean has = FALSE;

  for (;;) {
    guint n = 0;

    if (!has_arrived (self, &has, error))
      return FALSE;
    if (has)
      break;
    if (spin.turns % 64 == 63 && !fab_verbs_poll_sends (self->pair, &n, error))
      return FALSE;
    if (fab_verbs_spin_is_over (&spin, self->pair->timeout_s))
      return fab_verbs_throw_timeout (self->pair, "received", self->n_received, self->n, error);
  }
  self->n_received++;
  return TRUE;
}

static gboolean
ping_pong (Alone *self, GError **error)
{
  for (guint i = 0; i < self->n; i++) {
    if (self->pair->is_asking && !send_one (self, error))
      return FALSE;
    if (!receive_one (self, error))
      return FALSE;
    if (!self->pair->is_asking && !send_one (self, error))
      return FALSE;
    if (!reap (self, error))
      return FALSE;
  }
  return TRUE;
}

static gboolean
exchange (Alone *self, GError **error)
{
  for (guint i = 0; i < self->n; i++)
    if (!send_one (self, error) || !receive_one (self, error) || !reap (self, error))
      return FALSE;
  return TRUE;
}

static gboolean
read_all (Alone *self, GError **error)
{
  for (guint i = 0; i < self->n; i++)
    if (!send_one (self, error) || !reap (self, error))
      return FALSE;
  return TRUE;
}

gboolean
fab_verbs_move_alone (FabVerbsPair *pair, FabMeasureKind kind, FabBytes size_bytes, guint n_messages,
                      FabTimePs *elapsed_ps, GError **error)
{
  gboolean is_read = pair->request.method == FAB_VERBS_READ, is_done;
  FabTimePs start_ps;
  Alone self;

  alone_init (&self, pair, size_bytes, is_read ? 2 * n_messages : n_messages);
  if (!fab_verbs_meet (pair, error))
    return FALSE;
  start_ps = fab_clock_ps ();
  if (is_read)
    is_done = !pair->is_asking || read_all (&self, error);
  else
    is_done = kind == FAB_MEASURE_EXCHANGE ? exchange (&self, error) : ping_pong (&self, error);
  *elapsed_ps = fab_clock_ps () - start_ps;
  if (is_read && pair->is_asking && is_done)
    pair->read_ps = MIN (pair->read_ps > 0 ? pair->read_ps : G_MAXINT64, *elapsed_ps / self.n);
  return is_done;
}
