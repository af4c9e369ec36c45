/* SPDX-License-Identifier: Apache-2.0 */
/* given.c - the form and the schedule of an algorithm that somebody gives.
 *
 *   footprint  the bytes of all messages
 *   steps      those of the longest sequence of messages that wait for one another
 *   limit      1 / the time per byte of the messages as they wait for one another, on links without latency
 */
#include "sim/collective/plan/given.h"

#include <string.h>

#include "sim/collective/shape/form_hops.h"
#include "sim/collective/shape/wait_time.h"
#include "sim/machine/nic_paths.h"

static const FabGivenMessage *
message_at (const FabGiven *self, guint index)
{
  return &g_array_index (self->messages, FabGivenMessage, index);
}

/* NULL: it waits for nothing. */
static const FabGivenWait *
waits_of (const FabGiven *self, const FabGivenMessage *message)
{
  return message->n_waits > 0 ? &g_array_index (self->waits, FabGivenWait, message->first_wait) : NULL;
}

/* --- hops --- */

/* Returns the hops that share a message. (transfer full) */
static GArray *
hops_of (const FabNicPaths *paths, const FabGivenMessage *message, GError **error)
{
  g_autoptr (GArray) hops = fab_nic_paths_hops ();

  return fab_nic_paths_between (paths, message->from, message->to, hops, error) ? g_steal_pointer (&hops)
                                                                                : NULL;
}

/* What the hops of each message became: lanes of a schedule, or messages whose time is looked for. */
typedef struct {
  const FabGiven *given;
  guint *firsts; /* [messages + 1] */
} Parts;

static void
parts_clear (Parts *self)
{
  g_free (self->firsts);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Parts, parts_clear)

/* --- form --- */

typedef struct {
  const FabGiven *given;
  const FabAlgorithmEnv *env;
  FabNicPaths *paths;
  FabFootprintBuilder *whole;
  FabStepChain *starts, *ends; /* [messages] to the start and to the arrival of each */
  FabStepChain longest;
  FabCollectiveForm *form;
  FabSlowestHops slowest;
} Forming;

static FabStepChain
start_of (const Forming *self, const FabGivenMessage *message)
{
  const FabGivenWait *waits = waits_of (self->given, message);
  FabStepChain start = { 0 };

  for (guint i = 0; i < message->n_waits; i++) {
    const FabStepChain *before = waits[i].is_departure ? &self->starts[waits[i].message]
                                                       : &self->ends[waits[i].message];

    if (fab_step_chain_is_longer (before, &start))
      start = *before;
  }
  return start;
}

static gboolean
form_message (Forming *self, guint index, GError **error)
{
  const FabGivenMessage *message = message_at (self->given, index);
  g_autoptr (GArray) hops = hops_of (self->paths, message, error);
  FabStepChain start = start_of (self, message), end = start;

  if (hops == NULL)
    return FALSE;
  for (guint h = 0; h < hops->len; h++) {
    const FabHop *hop = &g_array_index (hops, FabHop, h);
    FabStepChain way = start;

    fab_hop_use (hop, message->weight / hops->len, self->env->net_stretch, self->whole);
    fab_slowest_hops_note_step (&self->slowest, hop, self->form);
    fab_step_chain_add (&way, hop);
    if (fab_step_chain_is_longer (&way, &end))
      end = way;
  }
  self->starts[index] = start;
  self->ends[index] = end;
  if (fab_step_chain_is_longer (&end, &self->longest))
    self->longest = end;
  return TRUE;
}

/* All messages once, so that the builder knows which directions of links are used. */
static void
note_directions (const Forming *self, FabFootprintBuilder *builder)
{
  for (guint i = 0; i < self->given->messages->len; i++) {
    g_autoptr (GArray) hops = hops_of (self->paths, message_at (self->given, i), NULL);

    for (guint h = 0; h < hops->len; h++)
      fab_hop_use (&g_array_index (hops, FabHop, h), 1, self->env->net_stretch, builder);
  }
  fab_footprint_builder_keep_duplex (builder);
}

static void
list_parts (const Parts *parts, const FabGivenMessage *message, GArray *after)
{
  const FabGivenWait *waits = waits_of (parts->given, message);

  g_array_set_size (after, 0);
  for (guint i = 0; i < message->n_waits; i++)
    for (guint part = parts->firsts[waits[i].message]; part < parts->firsts[waits[i].message + 1]; part++)
      g_array_append_val (after, part);
}

/* Every hop has been found before. */
static double
time_messages (const Forming *self)
{
  g_autoptr (FabFootprintBuilder) builder = fab_footprint_builder_new (self->paths->group->cluster->graph);
  g_autoptr (FabWaitTime) time = fab_wait_time_new (self->paths->group->cluster->graph);
  g_autoptr (GArray) after = g_array_new (FALSE, FALSE, sizeof (guint));
  g_auto (Parts) parts = { self->given, g_new0 (guint, self->given->messages->len + 1) };

  note_directions (self, builder);
  for (guint i = 0; i < self->given->messages->len; i++) {
    const FabGivenMessage *message = message_at (self->given, i);
    g_autoptr (GArray) hops = hops_of (self->paths, message, NULL);

    list_parts (&parts, message, after);
    for (guint h = 0; h < hops->len; h++) {
      fab_hop_use (&g_array_index (hops, FabHop, h), message->weight / hops->len, self->env->net_stretch,
                   builder);
      fab_wait_time_add (time, fab_footprint_builder_finish (builder), (const guint *) (gpointer) after->data,
                         after->len);
    }
    parts.firsts[i + 1] = parts.firsts[i] + hops->len;
  }
  return fab_wait_time_s_per_byte (time);
}

static gboolean
given_form (const FabGroup *group, G_GNUC_UNUSED FabOp op, const FabAlgorithmEnv *env,
            FabCollectiveForm *form, GError **error)
{
  const double rounding = 1e-9;
  const FabGiven *given = env->owner;
  g_autoptr (FabNicPaths) paths = fab_nic_paths_new (group);
  g_autoptr (FabFootprintBuilder) whole = fab_footprint_builder_new (group->cluster->graph);
  g_autofree FabStepChain *starts = g_new0 (FabStepChain, given->messages->len);
  g_autofree FabStepChain *ends = g_new0 (FabStepChain, given->messages->len);
  Forming forming = {
    .given = given, .env = env, .paths = paths, .whole = whole, .starts = starts, .ends = ends, .form = form
  };

  *form = (FabCollectiveForm){ .n_channels = 1 };
  for (guint i = 0; i < given->messages->len; i++)
    if (!form_message (&forming, i, error))
      return FALSE;
  form->n_intra_steps = forming.longest.n_intra;
  form->n_inter_steps = forming.longest.n_inter;
  form->footprint = fab_footprint_builder_finish (whole);
  double s_per_byte = time_messages (&forming);
  if (s_per_byte * form->footprint->rate_bytes_per_s > 1 + rounding)
    form->phases_bytes_per_s = 1 / s_per_byte;
  return TRUE;
}

/* --- messages --- */

static void
feed_lane (FabSchedule *schedule, guint lane, const Parts *parts, const FabGivenMessage *message)
{
  const FabGivenWait *waits = waits_of (parts->given, message);

  for (guint i = 0; i < message->n_waits; i++)
    for (guint from = parts->firsts[waits[i].message]; from < parts->firsts[waits[i].message + 1]; from++) {
      if (waits[i].is_departure)
        fab_schedule_depend_on_departure (schedule, lane, from);
      else
        fab_schedule_depend (schedule, lane, from, 0);
    }
}

static gboolean
given_schedule (const FabGroup *group, G_GNUC_UNUSED FabOp op, const FabAlgorithmEnv *env,
                G_GNUC_UNUSED guint n_chunks, FabSchedule *schedule, GError **error)
{
  const FabGiven *given = env->owner;
  g_autoptr (FabNicPaths) paths = fab_nic_paths_new (group);
  g_auto (Parts) parts = { given, g_new0 (guint, given->messages->len + 1) };

  parts.firsts[0] = fab_schedule_n_lanes (schedule);
  for (guint i = 0; i < given->messages->len; i++) {
    const FabGivenMessage *message = message_at (given, i);
    g_autoptr (GArray) hops = hops_of (paths, message, error);

    if (hops == NULL)
      return FALSE;
    for (guint h = 0; h < hops->len; h++)
      feed_lane (schedule,
                 fab_schedule_lane (schedule, &g_array_index (hops, FabHop, h), env->net_stretch,
                                    message->weight / hops->len, 1),
                 &parts, message);
    parts.firsts[i + 1] = parts.firsts[i] + hops->len;
  }
  return TRUE;
}

/* A library asks fab_given_fits () instead, because this function does not know which one is meant. */
static gboolean
given_supports (G_GNUC_UNUSED const FabGroup *group, G_GNUC_UNUSED FabOp op)
{
  return FALSE;
}

/* --- whole --- */

FabGiven *
fab_given_new (const char *name, const char *source)
{
  FabGiven *self = g_new0 (FabGiven, 1);

  self->name = g_strdup (name);
  self->source = g_strdup (source);
  self->messages = g_array_new (FALSE, FALSE, sizeof (FabGivenMessage));
  self->waits = g_array_new (FALSE, FALSE, sizeof (FabGivenWait));
  self->ops = (FabAlgorithmOps){
    .info = { .name = self->name,
              .summary = "Sends the messages that a file gives.",
              .doc = "docs/models/schedules.md" },
    .supports = given_supports,
    .form = given_form,
    .schedule = given_schedule,
  };
  return self;
}

void
fab_given_free (FabGiven *self)
{
  if (self == NULL)
    return;
  g_array_unref (self->messages);
  g_array_unref (self->waits);
  g_free (self->name);
  g_free (self->source);
  g_free (self);
}

guint
fab_given_add (FabGiven *self, guint from, guint to, double weight, const GArray *waits)
{
  FabGivenMessage message = { from, to, weight, self->waits->len, waits->len };

  g_assert (from != to && weight > 0);
  for (guint i = 0; i < waits->len; i++)
    g_assert (g_array_index (waits, FabGivenWait, i).message < self->messages->len);
  g_array_append_vals (self->waits, waits->data, waits->len);
  g_array_append_val (self->messages, message);
  return self->messages->len - 1;
}

/* --- order --- */

typedef struct {
  guint level, from, to, index;
} Place;

static gint
compare (guint a, guint b)
{
  return a < b ? -1 : a > b;
}

static gint
compare_places (gconstpointer a, gconstpointer b)
{
  const Place *x = a, *y = b;
  gint by_level = compare (x->level, y->level), by_from = compare (x->from, y->from),
       by_to = compare (x->to, y->to);

  return by_level != 0 ? by_level
       : by_from != 0  ? by_from
       : by_to != 0    ? by_to
                       : compare (x->index, y->index);
}

static gint
compare_waits (gconstpointer a, gconstpointer b)
{
  const FabGivenWait *x = a, *y = b;

  return x->message != y->message ? compare (x->message, y->message) : !y->is_departure - !x->is_departure;
}

/* A message is one level above the highest for which it waits. */
static Place *
find_places (const FabGiven *self)
{
  Place *places = g_new0 (Place, self->messages->len);

  for (guint i = 0; i < self->messages->len; i++) {
    const FabGivenMessage *message = message_at (self, i);
    const FabGivenWait *waits = waits_of (self, message);

    places[i] = (Place){ 0, message->from, message->to, i };
    for (guint w = 0; w < message->n_waits; w++)
      places[i].level = MAX (places[i].level, places[waits[w].message].level + 1);
  }
  return places;
}

/* Appends the waits of a message under their new numbers, in order. */
static void
renumber (const FabGiven *self, const FabGivenMessage *message, const guint *numbers, GArray *waits)
{
  guint first = waits->len;

  g_array_append_vals (waits, waits_of (self, message), message->n_waits);
  for (guint i = first; i < waits->len; i++) {
    FabGivenWait *wait = &g_array_index (waits, FabGivenWait, i);

    wait->message = numbers[wait->message];
  }
  if (message->n_waits > 1)
    qsort (&g_array_index (waits, FabGivenWait, first), message->n_waits, sizeof (FabGivenWait),
           compare_waits);
}

void
fab_given_finish (FabGiven *self)
{
  guint n = self->messages->len;
  g_autofree Place *places = find_places (self);
  g_autofree guint *numbers = g_new0 (guint, n + 1);
  GArray *messages = g_array_sized_new (FALSE, FALSE, sizeof (FabGivenMessage), n);
  GArray *waits = g_array_sized_new (FALSE, FALSE, sizeof (FabGivenWait), self->waits->len);

  if (n > 1)
    qsort (places, n, sizeof *places, compare_places);
  for (guint i = 0; i < n; i++)
    numbers[places[i].index] = i;
  for (guint i = 0; i < n; i++) {
    FabGivenMessage message = *message_at (self, places[i].index);
    guint first = waits->len;

    renumber (self, &message, numbers, waits);
    message.first_wait = first;
    g_array_append_val (messages, message);
  }
  g_array_unref (self->messages);
  g_array_unref (self->waits);
  self->messages = messages;
  self->waits = waits;
}

/* --- libraries --- */

gboolean
fab_given_fits (const FabGiven *self, guint n_ranks, FabOp op, FabBytes bytes)
{
  return self->n_ranks == n_ranks && self->op == op && bytes >= self->from_bytes
      && (self->to_bytes == 0 || bytes <= self->to_bytes);
}

void
fab_library_give (FabLibrary *self, FabGiven *given)
{
  g_ptr_array_add (self->given, given);
}
