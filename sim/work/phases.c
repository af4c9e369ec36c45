/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/work/phases.h"

#include "sim/work/phases_private.h"

FabPhases *
fab_phases_new (const FabGroup *group, gboolean is_pipeline)
{
  FabPhases *self = g_new0 (FabPhases, 1);

  self->group = group;
  self->ways = fab_ways_new (group);
  self->is_pipeline = is_pipeline;
  self->sends = g_array_new (FALSE, FALSE, sizeof (FabSend));
  self->starts = g_array_new (FALSE, FALSE, sizeof (guint));
  self->is_next = TRUE;
  return self;
}

void
fab_phases_free (FabPhases *self)
{
  if (self == NULL)
    return;
  fab_ways_free (self->ways);
  g_array_unref (self->sends);
  g_array_unref (self->starts);
  g_free (self);
}

void
fab_phases_next (FabPhases *self)
{
  self->is_next = TRUE;
}

static void
add_send (FabPhases *self, const FabSend *send)
{
  g_assert (send->from != send->to && send->weight > 0);
  if (self->is_next)
    g_array_append_val (self->starts, self->sends->len);
  self->is_next = FALSE;
  g_array_append_vals (self->sends, send, 1);
}

void
fab_phases_send (FabPhases *self, guint from, guint to, double weight)
{
  add_send (self, &(FabSend){ from, to, weight, FALSE });
}

void
fab_phases_send_in_turn (FabPhases *self, guint from, guint to, double weight)
{
  g_assert (!self->is_pipeline);
  add_send (self, &(FabSend){ from, to, weight, TRUE });
}

guint
fab_phases_start (const FabPhases *self, guint phase)
{
  return phase < self->starts->len ? g_array_index (self->starts, guint, phase) : self->sends->len;
}

GArray *
fab_phases_hops (const FabPhases *self, guint send, GError **error)
{
  const FabSend *s = &g_array_index (self->sends, FabSend, send);
  g_autoptr (GArray) hops = fab_ways_hops ();

  return fab_ways_between (self->ways, s->from, s->to, hops, error) ? g_steal_pointer (&hops) : NULL;
}

/* --- who waits for whom --- */

/* What each rank received in the last phase in which it received anything; for sends in turn, received or sent. */
typedef struct {
  GArray **got;  /* [n_ranks] of guint: messages */
  guint *phases; /* [n_ranks] number of that phase */
  guint n_ranks;
} Inbox;

static Inbox
inbox_new (guint n_ranks)
{
  Inbox self = { g_new (GArray *, n_ranks), g_new0 (guint, n_ranks), n_ranks };

  for (guint i = 0; i < n_ranks; i++)
    self.got[i] = g_array_new (FALSE, FALSE, sizeof (guint));
  return self;
}

static void
inbox_clear (Inbox *self)
{
  for (guint i = 0; i < self->n_ranks; i++)
    g_array_unref (self->got[i]);
  g_free (self->got);
  g_free (self->phases);
}

static void
inbox_add (Inbox *self, guint rank, guint phase, guint message)
{
  if (self->phases[rank] != phase)
    g_array_set_size (self->got[rank], 0);
  self->phases[rank] = phase;
  g_array_append_val (self->got[rank], message);
}

/* Lists the messages for which a send waits. */
static void
list_before (const Inbox *inbox, const FabSend *send, GArray *before)
{
  const GArray *from = inbox->got[send->from], *to = inbox->got[send->to];

  g_array_set_size (before, 0);
  g_array_append_vals (before, from->data, from->len);
  if (send->is_in_turn)
    g_array_append_vals (before, to->data, to->len);
}

static void
note_messages (Inbox *inbox, const FabSend *send, guint phase, guint first, guint n)
{
  for (guint i = first; i < first + n; i++) {
    inbox_add (inbox, send->to, phase, i);
    if (send->is_in_turn)
      inbox_add (inbox, send->from, phase, i);
  }
}

void
fab_phases_wait_in_order (const FabPhases *self, FabPhasesAdd add, gpointer owner)
{
  Inbox inbox = inbox_new (fab_group_n_ranks (self->group));
  g_autofree guint *firsts = g_new (guint, self->sends->len);
  g_autofree guint *counts = g_new (guint, self->sends->len);
  g_autoptr (GArray) before = g_array_new (FALSE, FALSE, sizeof (guint));
  const FabSend *sends = (const FabSend *) (gpointer) self->sends->data;

  for (guint phase = 0; phase < self->starts->len; phase++) {
    guint start = fab_phases_start (self, phase), end = fab_phases_start (self, phase + 1);

    for (guint i = start; i < end; i++) {
      list_before (&inbox, &sends[i], before);
      firsts[i] = add (owner, i, before, &counts[i]);
    }
    for (guint i = start; i < end; i++)
      note_messages (&inbox, &sends[i], phase, firsts[i], counts[i]);
  }
  inbox_clear (&inbox);
}

/* --- messages --- */

typedef struct {
  const FabPhases *phases;
  const FabAlgorithmEnv *env;
  FabSchedule *schedule;
  guint n_chunks;
  GError **error;
  gboolean has_failed;
} Emitting;

/* Adds one lane per hop. The numbers for which others wait are lanes. */
static guint
emit_send (gpointer owner, guint send, const GArray *after, guint *n)
{
  Emitting *self = owner;
  guint first = fab_schedule_n_lanes (self->schedule);
  double weight = g_array_index (self->phases->sends, FabSend, send).weight;
  g_autoptr (GArray) hops = self->has_failed ? NULL : fab_phases_hops (self->phases, send, self->error);

  *n = 0;
  self->has_failed |= hops == NULL;
  if (self->has_failed)
    return first;
  *n = hops->len;
  for (guint h = 0; h < hops->len; h++) {
    guint lane = fab_schedule_lane (self->schedule, &g_array_index (hops, FabHop, h), self->env->net_stretch,
                                    weight / hops->len / self->n_chunks, self->n_chunks);

    for (guint i = 0; i < after->len; i++)
      fab_schedule_feed (self->schedule, lane, g_array_index (after, guint, i), 0);
  }
  return first;
}

gboolean
fab_phases_schedule (const FabPhases *self, const FabAlgorithmEnv *env, guint n_chunks, FabSchedule *schedule,
                     GError **error)
{
  Emitting emitting = { self, env, schedule, self->is_pipeline ? n_chunks : 1, error, FALSE };

  fab_phases_wait_in_order (self, emit_send, &emitting);
  return !emitting.has_failed;
}
