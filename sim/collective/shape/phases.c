/* SPDX-License-Identifier: Apache-2.0 */
/* phases.c - summarises phases as one stream: its footprint, its steps, and how much waiting slows it. */
#include "sim/collective/shape/phases.h"

#include <string.h>

#include "sim/collective/shape/form_hops.h"
#include "sim/collective/shape/wait_time.h"
#include "sim/fabric/footprint.h"
#include "sim/machine/nic_paths.h"

typedef struct {
  guint from, to;
  double weight;
  FabParts parts;
  gboolean is_in_turn;
} FabSend;

struct _FabPhases {
  const FabGroup *group;
  FabNicPaths *ways;
  gboolean is_pipeline;
  GArray *sends;  /* FabSend, phase by phase */
  GArray *starts; /* guint: index of the first send of each phase */
  gboolean is_next;
};

/* What a send waits for. */
typedef struct {
  const GArray *messages; /* guint */
  guint like; /* an earlier message of one that waits for the same; FAB_NO_MESSAGE: there is none */
} Before;

#define FAB_NO_MESSAGE G_MAXUINT

/* Adds the messages of send `send`, which are consecutive. Returns the first and sets *n to their number. */
typedef guint (*FabPhasesAdd) (gpointer owner, guint send, const Before *before, guint *n);

FabPhases *
fab_phases_new (const FabGroup *group, gboolean is_pipeline)
{
  FabPhases *self = g_new0 (FabPhases, 1);

  self->group = group;
  self->ways = fab_nic_paths_new (group);
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
  fab_nic_paths_free (self->ways);
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
  g_array_append_val (self->sends, *send);
}

void
fab_phases_send (FabPhases *self, guint from, guint to, double weight, FabParts parts)
{
  g_assert (parts.n > 0);
  add_send (self, &(FabSend){ from, to, weight, parts, FALSE });
}

void
fab_phases_send_in_turn (FabPhases *self, guint from, guint to, double weight)
{
  g_assert (!self->is_pipeline);
  add_send (self, &(FabSend){ from, to, weight, FAB_WHOLE_BUFFER, TRUE });
}

/* Returns the first send of a phase; beyond the last phase, the number of sends. */
static guint
phases_start (const FabPhases *self, guint phase)
{
  return phase < self->starts->len ? g_array_index (self->starts, guint, phase) : self->sends->len;
}

/* Returns the hops that share a send. (transfer full) */
static GArray *
phases_hops (const FabPhases *self, guint send, GError **error)
{
  const FabSend *s = &g_array_index (self->sends, FabSend, send);
  g_autoptr (GArray) hops = fab_nic_paths_hops ();

  return fab_nic_paths_between (self->ways, s->from, s->to, hops, error) ? g_steal_pointer (&hops) : NULL;
}

/* --- who waits for whom --- */

/* A message that a rank has received; with calls that block also one that it has sent. */
typedef struct {
  guint message, phase;
  FabParts parts;
  gboolean is_in_turn;
} Receipt;

/* What each rank has received, in the order of phases. */
typedef struct {
  GArray **got;  /* [n_ranks] of Receipt */
  guint n_ranks; /* and a part counts as replaced where `marks` has the number of the present search */
  GArray *marks; /* guint: [parts] */
  guint n_searches;
} Inbox;

static Inbox
inbox_new (guint n_ranks)
{
  Inbox self = { .got = g_new (GArray *, n_ranks),
                 .n_ranks = n_ranks,
                 .marks = g_array_new (FALSE, TRUE, sizeof (guint)) };

  for (guint i = 0; i < n_ranks; i++)
    self.got[i] = g_array_new (FALSE, FALSE, sizeof (Receipt));
  return self;
}

static void
inbox_clear (Inbox *self)
{
  for (guint i = 0; i < self->n_ranks; i++)
    g_array_unref (self->got[i]);
  g_free (self->got);
  g_array_unref (self->marks);
}

/* Returns whether some of these parts were not replaced later; marks those that are replaced by this receipt. */
static gboolean
take_parts (Inbox *self, const FabParts *wanted, const FabParts *came, guint *n_replaced)
{
  guint start = MAX (wanted->first, came->first),
        end = MIN (wanted->first + wanted->n, came->first + came->n);
  gboolean counts = FALSE;

  for (guint part = start; part < end; part++) {
    guint *mark = &g_array_index (self->marks, guint, part);

    if (*mark == self->n_searches)
      continue;
    counts = TRUE;
    if (came->replaces) {
      *mark = self->n_searches;
      ++*n_replaced;
    }
  }
  return counts;
}

/* Lists the messages of the last phase in which a rank received or sent any, of its first `n` receipts. */
static void
list_last (const Inbox *self, guint rank, guint n, GArray *before)
{
  const Receipt *got = (const Receipt *) (gconstpointer) self->got[rank]->data;

  for (guint i = n; i-- > 0 && got[i].phase == got[n - 1].phase;)
    g_array_append_val (before, got[i].message);
}

/* Lists what a rank has received of these parts, from the last receipt back. Calls that block have waited for all that
 * came before them. */
static void
list_of_parts (Inbox *self, guint rank, const FabParts *parts, GArray *before)
{
  const GArray *got = self->got[rank];
  guint n_replaced = 0;

  if (self->marks->len < parts->first + parts->n)
    g_array_set_size (self->marks, parts->first + parts->n);
  self->n_searches++;
  for (guint i = got->len; i-- > 0 && n_replaced < parts->n;) {
    const Receipt *receipt = &g_array_index (got, Receipt, i);

    if (receipt->is_in_turn) {
      list_last (self, rank, i + 1, before);
      return;
    }
    if (take_parts (self, parts, &receipt->parts, &n_replaced))
      g_array_append_val (before, receipt->message);
  }
}

/* Lists the messages for which a send waits. */
static void
list_before (Inbox *inbox, const FabSend *send, GArray *before)
{
  if (send->is_in_turn) {
    list_last (inbox, send->from, inbox->got[send->from]->len, before);
    list_last (inbox, send->to, inbox->got[send->to]->len, before);
  } else {
    list_of_parts (inbox, send->from, &send->parts, before);
  }
}

static void
note_messages (Inbox *inbox, const FabSend *send, guint phase, guint first, guint n)
{
  for (guint i = first; i < first + n; i++) {
    Receipt receipt = { i, phase, send->parts, send->is_in_turn };

    g_array_append_val (inbox->got[send->to], receipt);
    if (send->is_in_turn)
      g_array_append_val (inbox->got[send->from], receipt);
  }
}

/* Whether two sends of one phase wait for the same. */
static gboolean
is_alike (const FabSend *a, const FabSend *b)
{
  return a->from == b->from && !a->is_in_turn && !b->is_in_turn && a->parts.first == b->parts.first
      && a->parts.n == b->parts.n;
}

/* Calls `add` for all sends, each with the messages for which it waits; with `takes_like` an earlier message that
 * waits for the same stands for them. */
static void
phases_wait_in_order (const FabPhases *self, gboolean takes_like, FabPhasesAdd add, gpointer owner)
{
  guint n_ranks = fab_group_n_ranks (self->group);
  Inbox inbox = inbox_new (n_ranks);
  g_autofree guint *firsts = g_new (guint, self->sends->len);
  g_autofree guint *counts = g_new (guint, self->sends->len);
  g_autofree guint *last = g_new (guint, n_ranks); /* the last send of each rank */
  g_autoptr (GArray) messages = g_array_new (FALSE, FALSE, sizeof (guint));
  const FabSend *sends = (const FabSend *) (gpointer) self->sends->data;

  for (guint phase = 0; phase < self->starts->len; phase++) {
    guint start = phases_start (self, phase), end = phases_start (self, phase + 1);

    for (guint rank = 0; rank < n_ranks; rank++)
      last[rank] = FAB_NO_MESSAGE;
    for (guint i = start; i < end; i++) {
      guint other = last[sends[i].from];
      gboolean has_like = takes_like && other != FAB_NO_MESSAGE && is_alike (&sends[i], &sends[other]);
      Before before = { messages, has_like ? firsts[other] : FAB_NO_MESSAGE };

      g_array_set_size (messages, 0);
      if (!has_like)
        list_before (&inbox, &sends[i], messages);
      firsts[i] = add (owner, i, &before, &counts[i]);
      last[sends[i].from] = i;
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

/* Makes a lane wait; of several chunks each has its own list. */
static void
wait_for (Emitting *self, guint lane, const Before *before)
{
  if (before->like != FAB_NO_MESSAGE)
    fab_schedule_depend_like (self->schedule, lane, before->like);
  for (guint i = 0; i < before->messages->len; i++)
    fab_schedule_depend (self->schedule, lane, g_array_index (before->messages, guint, i), 0);
}

/* Adds one lane per hop. The numbers for which others wait are lanes. */
static guint
emit_send (gpointer owner, guint send, const Before *before, guint *n)
{
  Emitting *self = owner;
  guint first = fab_schedule_n_lanes (self->schedule);
  double weight = g_array_index (self->phases->sends, FabSend, send).weight;
  g_autoptr (GArray) hops = self->has_failed ? NULL : phases_hops (self->phases, send, self->error);

  self->has_failed |= hops == NULL;
  *n = hops != NULL ? hops->len : 0;
  for (guint h = 0; h < *n; h++) {
    guint lane = fab_schedule_lane (self->schedule, &g_array_index (hops, FabHop, h), self->env->net_stretch,
                                    weight / *n / self->n_chunks, self->n_chunks);

    if (h > 0 && self->n_chunks == 1)
      fab_schedule_depend_like (self->schedule, lane, first);
    else
      wait_for (self, lane, before);
  }
  return first;
}

gboolean
fab_phases_schedule (const FabPhases *self, const FabAlgorithmEnv *env, guint n_chunks, FabSchedule *schedule,
                     GError **error)
{
  Emitting emitting = { self, env, schedule, self->is_pipeline ? n_chunks : 1, error, FALSE };

  phases_wait_in_order (self, emitting.n_chunks == 1, emit_send, &emitting);
  return !emitting.has_failed;
}

/* Summarises phases as one stream: its footprint, its steps, and how much waiting slows it. */

typedef struct {
  const FabPhases *phases;
  const FabAlgorithmEnv *env;
  FabFootprintBuilder *whole, *part; /* of all phases, and of the present phase */
  FabStepChain *ways,
      *next; /* [n_ranks] the longest sequence to what each rank received, before and after the present phase */
  FabStepChain longest;
  FabCollectiveForm *form;
  FabSlowestHops slowest;
  double s_per_byte;  /* sum over the phases so far, one after another */
  gboolean is_uneven; /* some message of a phase so far ends before others of the phase */
} Forming;

static void
note_next (Forming *self, guint rank, const FabStepChain *way)
{
  if (fab_step_chain_is_longer (way, &self->next[rank]))
    self->next[rank] = *way;
}

/* The receiver waits for everything that it receives in a phase; for sends in turn, the sender waits too. */
static void
note_way (Forming *self, const FabSend *send, const FabHop *hop)
{
  FabStepChain way = self->ways[send->from];

  if (send->is_in_turn && fab_step_chain_is_longer (&self->ways[send->to], &way))
    way = self->ways[send->to];
  fab_step_chain_add (&way, hop);
  note_next (self, send->to, &way);
  if (send->is_in_turn)
    note_next (self, send->from, &way);
  if (fab_step_chain_is_longer (&way, &self->longest))
    self->longest = way;
}

static void
use_hops (Forming *self, const FabSend *send, const GArray *hops)
{
  for (guint i = 0; i < hops->len; i++) {
    const FabHop *hop = &g_array_index (hops, FabHop, i);

    fab_hop_use (hop, send->weight / hops->len, self->env->net_stretch, self->whole);
    fab_hop_use (hop, send->weight / hops->len, self->env->net_stretch, self->part);
    fab_slowest_hops_note_step (&self->slowest, hop, self->form);
    note_way (self, send, hop);
  }
}

/* Messages that are followed one by one only to see whether those of two phases meet on the link that is busy in both:
 * that takes the square of their number. */
enum { MOST_TIMED = 1024 };

static gboolean
may_be_timed (const FabPhases *self)
{
  return self->starts->len > 1 && !self->is_pipeline && self->sends->len <= MOST_TIMED;
}

/* Whether a hop crosses a link that is as busy as any of the phase. When all hops do, max-min shares are such that all
 * of them end together. */
static gboolean
is_held_to_the_end (const Forming *self, const FabFootprint *footprint, const FabHop *hop)
{
  const double rounding = 1e-9;
  const FabGraph *graph = self->phases->group->cluster->graph;

  for (guint i = 0; i < hop->shares->len; i++) {
    FabLinkId link = g_array_index (hop->shares, FabShare, i).link;
    guint at;

    if (fab_footprint_has (footprint, link, &at)
        && footprint->line_weights[at] * footprint->rate_bytes_per_s
               >= (double) fab_graph_link (graph, link)->rate_bytes_per_s * (1 - rounding))
      return TRUE;
  }
  return FALSE;
}

static void
note_uneven (Forming *self, const FabFootprint *footprint, const GPtrArray *hops)
{
  for (guint i = 0; i < hops->len && !self->is_uneven; i++) {
    const GArray *of_send = g_ptr_array_index (hops, i);

    for (guint h = 0; h < of_send->len && !self->is_uneven; h++)
      self->is_uneven = !is_held_to_the_end (self, footprint, &g_array_index (of_send, FabHop, h));
  }
}

static gboolean
form_phase (Forming *self, guint phase, GError **error)
{
  g_autoptr (GPtrArray) all = g_ptr_array_new_with_free_func ((GDestroyNotify) g_array_unref);

  for (guint i = phases_start (self->phases, phase); i < phases_start (self->phases, phase + 1); i++) {
    g_autoptr (GArray) hops = phases_hops (self->phases, i, error);

    if (hops == NULL)
      return FALSE;
    use_hops (self, &g_array_index (self->phases->sends, FabSend, i), hops);
    if (may_be_timed (self->phases))
      g_ptr_array_add (all, g_array_ref (hops));
  }
  g_autoptr (FabFootprint) footprint = fab_footprint_builder_finish (self->part);
  self->s_per_byte += 1 / footprint->rate_bytes_per_s;
  if (may_be_timed (self->phases))
    note_uneven (self, footprint, all);
  memcpy (self->ways, self->next, fab_group_n_ranks (self->phases->group) * sizeof *self->ways);
  return TRUE;
}

/* All messages, whose hops are already known, for timing them as they wait for one another. */
typedef struct {
  const FabPhases *phases;
  const FabAlgorithmEnv *env;
  FabFootprintBuilder *builder;
  FabWaitTime *time;
} Timing;

static guint
time_send (gpointer owner, guint send, const Before *before, guint *n)
{
  Timing *self = owner;
  double weight = g_array_index (self->phases->sends, FabSend, send).weight;
  g_autoptr (GArray) hops = phases_hops (self->phases, send, NULL);
  guint message = 0;

  for (guint i = 0; i < hops->len; i++) {
    fab_hop_use (&g_array_index (hops, FabHop, i), weight / hops->len, self->env->net_stretch, self->builder);
    message = fab_wait_time_add (self->time, fab_footprint_builder_finish (self->builder),
                                 (const guint *) (gpointer) before->messages->data, before->messages->len);
  }
  *n = hops->len;
  return message + 1 - hops->len;
}

/* Ranks that need not wait in a phase are ahead in the next. As a rule the result is less than the sum of the phases;
 * where the early ones take bandwidth from the late ones, for which others wait, it is more than the busiest link says.
 * `builder` knows which directions of links are used. */
static double
time_phases (const Forming *forming)
{
  g_autoptr (FabWaitTime) time = fab_wait_time_new (forming->phases->group->cluster->graph);
  Timing timing = { forming->phases, forming->env, forming->part, time };

  for (guint i = 0; i < forming->phases->sends->len; i++) {
    g_autoptr (GArray) hops = phases_hops (forming->phases, i, NULL);

    for (guint h = 0; h < hops->len; h++)
      fab_hop_use (&g_array_index (hops, FabHop, h), 1, forming->env->net_stretch, forming->part);
  }
  fab_footprint_builder_keep_duplex (forming->part);
  phases_wait_in_order (forming->phases, FALSE, time_send, &timing);
  return fab_wait_time_s_per_byte (time);
}

gboolean
fab_phases_form (const FabPhases *self, const FabAlgorithmEnv *env, FabCollectiveForm *form, GError **error)
{
  g_autoptr (FabFootprintBuilder) whole = fab_footprint_builder_new (self->group->cluster->graph);
  g_autoptr (FabFootprintBuilder) part = fab_footprint_builder_new (self->group->cluster->graph);
  guint n = fab_group_n_ranks (self->group);
  g_autofree FabStepChain *ways = g_new0 (FabStepChain, n);
  g_autofree FabStepChain *next = g_new0 (FabStepChain, n);
  Forming forming = {
    .phases = self, .env = env, .whole = whole, .part = part, .ways = ways, .next = next, .form = form
  };
  const double rounding = 1e-9;

  *form = (FabCollectiveForm){ .n_channels = 1 };
  for (guint phase = 0; phase < self->starts->len; phase++)
    if (!form_phase (&forming, phase, error))
      return FALSE;
  form->n_intra_steps = forming.longest.n_intra;
  form->n_inter_steps = forming.longest.n_inter;
  form->footprint = fab_footprint_builder_finish (whole);
  double rate_s_per_byte = 1 / form->footprint->rate_bytes_per_s;
  if (forming.s_per_byte <= rate_s_per_byte * (1 + rounding) && !forming.is_uneven)
    return TRUE;
  if (self->is_pipeline)
    form->fill_s_per_byte = forming.s_per_byte - rate_s_per_byte;
  else
    form->phases_bytes_per_s = 1 / time_phases (&forming);
  return TRUE;
}
