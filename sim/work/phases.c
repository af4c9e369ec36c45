/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/work/phases.h"

#include "sim/work/wait_time.h"
#include "sim/work/ways.h"

typedef struct {
  guint from, to;
  double weight;
} Send;

struct _FabPhases {
  const FabGroup *group;
  FabWays *ways;
  gboolean is_pipeline;
  GArray *sends;  /* Send, phase by phase */
  GArray *starts; /* guint: first send of each phase */
  gboolean is_next;
};

FabPhases *
fab_phases_new (const FabGroup *group, gboolean is_pipeline)
{
  FabPhases *self = g_new0 (FabPhases, 1);

  self->group = group;
  self->ways = fab_ways_new (group);
  self->is_pipeline = is_pipeline;
  self->sends = g_array_new (FALSE, FALSE, sizeof (Send));
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

void
fab_phases_send (FabPhases *self, guint from, guint to, double weight)
{
  Send send = { from, to, weight };

  g_assert (from != to && weight > 0);
  if (self->is_next)
    g_array_append_val (self->starts, self->sends->len);
  self->is_next = FALSE;
  g_array_append_val (self->sends, send);
}

static guint
start_of (const FabPhases *self, guint phase)
{
  return phase < self->starts->len ? g_array_index (self->starts, guint, phase) : self->sends->len;
}

/* The hops that share a send. (transfer full) */
static GArray *
find_hops (const FabPhases *self, guint send, GError **error)
{
  const Send *s = &g_array_index (self->sends, Send, send);
  g_autoptr (GArray) hops = fab_ways_hops ();

  return fab_ways_between (self->ways, s->from, s->to, hops, error) ? g_steal_pointer (&hops) : NULL;
}

/* --- who waits for whom --- */

/* What each rank got in the last phase in which it got anything. */
typedef struct {
  GArray **got;  /* [n_ranks] of guint: messages */
  guint *phases; /* [n_ranks] when */
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

/* Adds the messages of send `send`, which are consecutive; returns the first and how many. */
typedef guint (*AddMessages) (gpointer owner, guint send, const GArray *after, guint *n);

static void
wait_in_order (const FabPhases *self, AddMessages add, gpointer owner)
{
  Inbox inbox = inbox_new (fab_group_n_ranks (self->group));
  g_autofree guint *firsts = g_new (guint, self->sends->len);
  g_autofree guint *counts = g_new (guint, self->sends->len);

  for (guint phase = 0; phase < self->starts->len; phase++) {
    guint start = start_of (self, phase), end = start_of (self, phase + 1);

    for (guint i = start; i < end; i++)
      firsts[i] = add (owner, i, inbox.got[g_array_index (self->sends, Send, i).from], &counts[i]);
    for (guint i = start; i < end; i++)
      for (guint k = 0; k < counts[i]; k++)
        inbox_add (&inbox, g_array_index (self->sends, Send, i).to, phase, firsts[i] + k);
  }
  inbox_clear (&inbox);
}

/* --- form --- */

/* A sequence of steps that wait for one another. */
typedef struct {
  FabTimePs latency_ps;
  guint n_intra, n_inter;
} Way;

typedef struct {
  const FabPhases *phases;
  const FabAlgorithmEnv *env;
  FabFootprintBuilder *whole, *part; /* of all phases, of the one at hand */
  Way *ways, *next; /* [n_ranks] the longest to what each got, before and after the phase at hand */
  gboolean *has_next;
  Way longest;
  FabCollectiveForm *form;
  double intra_bytes_per_s, inter_bytes_per_s; /* of the slowest hop so far */
  double s_per_byte;                           /* of all phases so far, one after another */
} Forming;

static gboolean
is_inter (const FabHop *hop)
{
  return fab_hop_kind_is_net (hop->kind);
}

static void
note_hop (Forming *self, const FabHop *hop)
{
  FabCollectiveForm *form = self->form;
  double *slowest = is_inter (hop) ? &self->inter_bytes_per_s : &self->intra_bytes_per_s;
  FabTimePs *longest_ps = is_inter (hop) ? &form->inter_latency_ps : &form->intra_latency_ps;

  *longest_ps = MAX (*longest_ps, hop->latency_ps);
  form->inter_endpoint_ps = MAX (form->inter_endpoint_ps, hop->endpoint_ps);
  if (hop->rate_bytes_per_s >= *slowest)
    return;
  *slowest = hop->rate_bytes_per_s;
  *(is_inter (hop) ? &form->inter_kind : &form->intra_kind) = hop->kind;
  if (!is_inter (hop))
    form->intra_technology = hop->technology;
}

/* A step between nodes costs a library more than any inside, whatever the wires. */
static gboolean
is_longer (const Way *a, const Way *b)
{
  if (a->n_inter != b->n_inter)
    return a->n_inter > b->n_inter;
  return a->latency_ps > b->latency_ps || (a->latency_ps == b->latency_ps && a->n_intra > b->n_intra);
}

/* The receiver waits for all that it gets in a phase. */
static void
note_way (Forming *self, const Send *send, const FabHop *hop)
{
  Way way = self->ways[send->from];

  way.latency_ps = fab_ps_add (way.latency_ps, hop->latency_ps);
  *(is_inter (hop) ? &way.n_inter : &way.n_intra) += 1;
  if (!self->has_next[send->to] || is_longer (&way, &self->next[send->to]))
    self->next[send->to] = way;
  self->has_next[send->to] = TRUE;
  if (is_longer (&way, &self->longest))
    self->longest = way;
}

static void
end_phase (Forming *self)
{
  for (guint rank = 0; rank < fab_group_n_ranks (self->phases->group); rank++)
    if (self->has_next[rank]) {
      self->ways[rank] = self->next[rank];
      self->has_next[rank] = FALSE;
    }
}

static void
use_hops (Forming *self, const Send *send, const GArray *hops)
{
  for (guint i = 0; i < hops->len; i++) {
    const FabHop *hop = &g_array_index (hops, FabHop, i);

    fab_hop_use (hop, send->weight / hops->len, self->env->net_stretch, self->whole);
    fab_hop_use (hop, send->weight / hops->len, self->env->net_stretch, self->part);
    note_hop (self, hop);
    note_way (self, send, hop);
  }
}

static gboolean
form_phase (Forming *self, guint phase, GError **error)
{
  for (guint i = start_of (self->phases, phase); i < start_of (self->phases, phase + 1); i++) {
    g_autoptr (GArray) hops = find_hops (self->phases, i, error);

    if (hops == NULL)
      return FALSE;
    use_hops (self, &g_array_index (self->phases->sends, Send, i), hops);
  }
  g_autoptr (FabFootprint) footprint = fab_footprint_builder_finish (self->part);
  self->s_per_byte += 1 / footprint->rate_bytes_per_s;
  end_phase (self);
  return TRUE;
}

/* All messages, whose hops have been found before, to be timed as they wait for one another. */
typedef struct {
  const FabPhases *phases;
  const FabAlgorithmEnv *env;
  FabFootprintBuilder *builder;
  FabWaitTime *time;
} Timing;

static guint
time_send (gpointer owner, guint send, const GArray *after, guint *n)
{
  Timing *self = owner;
  double weight = g_array_index (self->phases->sends, Send, send).weight;
  g_autoptr (GArray) hops = find_hops (self->phases, send, NULL);
  guint message = 0;

  for (guint i = 0; i < hops->len; i++) {
    fab_hop_use (&g_array_index (hops, FabHop, i), weight / hops->len, self->env->net_stretch, self->builder);
    message = fab_wait_time_add (self->time, fab_footprint_builder_finish (self->builder),
                                 (const guint *) (gpointer) after->data, after->len);
  }
  *n = hops->len;
  return message + 1 - hops->len;
}

/* Ranks that need not wait in a phase are ahead in the next: less than the sum of the phases. `builder` knows which
 * directions of links are used. */
static double
time_phases (const Forming *forming)
{
  g_autoptr (FabWaitTime) time = fab_wait_time_new (forming->phases->group->cluster->graph);
  Timing timing = { forming->phases, forming->env, forming->part, time };

  for (guint i = 0; i < forming->phases->sends->len; i++) {
    g_autoptr (GArray) hops = find_hops (forming->phases, i, NULL);

    for (guint h = 0; h < hops->len; h++)
      fab_hop_use (&g_array_index (hops, FabHop, h), 1, forming->env->net_stretch, forming->part);
  }
  fab_footprint_builder_keep_duplex (forming->part);
  wait_in_order (forming->phases, time_send, &timing);
  return fab_wait_time_s_per_byte (time);
}

gboolean
fab_phases_form (const FabPhases *self, const FabAlgorithmEnv *env, FabCollectiveForm *form, GError **error)
{
  g_autoptr (FabFootprintBuilder) whole = fab_footprint_builder_new (self->group->cluster->graph);
  g_autoptr (FabFootprintBuilder) part = fab_footprint_builder_new (self->group->cluster->graph);
  guint n = fab_group_n_ranks (self->group);
  g_autofree Way *ways = g_new0 (Way, n);
  g_autofree Way *next = g_new0 (Way, n);
  g_autofree gboolean *has_next = g_new0 (gboolean, n);
  Forming forming = { .phases = self,
                      .env = env,
                      .whole = whole,
                      .part = part,
                      .ways = ways,
                      .next = next,
                      .has_next = has_next,
                      .form = form,
                      .intra_bytes_per_s = G_MAXDOUBLE,
                      .inter_bytes_per_s = G_MAXDOUBLE };
  const double rounding = 1e-9;

  *form = (FabCollectiveForm){ .n_channels = 1 };
  for (guint phase = 0; phase < self->starts->len; phase++)
    if (!form_phase (&forming, phase, error))
      return FALSE;
  form->n_intra_steps = forming.longest.n_intra;
  form->n_inter_steps = forming.longest.n_inter;
  form->footprint = fab_footprint_builder_finish (whole);
  double rate_s_per_byte = 1 / form->footprint->rate_bytes_per_s;
  if (forming.s_per_byte <= rate_s_per_byte * (1 + rounding))
    return TRUE;
  if (self->is_pipeline)
    form->fill_s_per_byte = forming.s_per_byte - rate_s_per_byte;
  else
    form->limit_bytes_per_s = 1 / time_phases (&forming);
  return TRUE;
}

/* --- messages --- */

typedef struct {
  const FabPhases *phases;
  FabSchedule *schedule;
  guint *firsts; /* [sends + 1] connections */
  double share;  /* of a chunk */
} Emitting;

static guint
emit_send (gpointer owner, guint send, const GArray *after, guint *n)
{
  const Emitting *self = owner;
  guint first = fab_schedule_n_messages (self->schedule);

  *n = self->firsts[send + 1] - self->firsts[send];
  for (guint i = 0; i < *n; i++)
    fab_schedule_message (self->schedule, self->firsts[send] + i,
                          g_array_index (self->phases->sends, Send, send).weight / *n * self->share,
                          (const guint *) (gpointer) after->data, after->len);
  return first;
}

/* Connections of all sends; `firsts` [sends + 1]: where those of each begin. */
static gboolean
add_connections (const FabPhases *self, const FabAlgorithmEnv *env, FabSchedule *schedule, guint *firsts,
                 GError **error)
{
  firsts[0] = 0; /* the schedule is new */
  for (guint i = 0; i < self->sends->len; i++) {
    g_autoptr (GArray) hops = find_hops (self, i, error);

    if (hops == NULL)
      return FALSE;
    for (guint h = 0; h < hops->len; h++)
      firsts[i + 1] = fab_schedule_hop (schedule, &g_array_index (hops, FabHop, h), env->net_stretch) + 1;
  }
  return TRUE;
}

gboolean
fab_phases_schedule (const FabPhases *self, const FabAlgorithmEnv *env, guint n_chunks, FabSchedule *schedule,
                     GError **error)
{
  guint n = self->is_pipeline ? n_chunks : 1;
  g_autofree guint *firsts = g_new (guint, self->sends->len + 1);
  Emitting emitting = { self, schedule, firsts, 1.0 / n };

  if (!add_connections (self, env, schedule, firsts, error))
    return FALSE;
  for (guint chunk = 0; chunk < n; chunk++)
    wait_in_order (self, emit_send, &emitting);
  return TRUE;
}
