/* SPDX-License-Identifier: Apache-2.0 */
/* phases_form.c - summarises phases as one stream: its footprint, its steps, and how much waiting slows it. */
#include "sim/work/phases_private.h"
#include "sim/work/wait_time.h"

/* A sequence of steps that wait for one another. */
typedef struct {
  FabTimePs latency_ps;
  guint n_intra, n_inter;
} Way;

typedef struct {
  const FabPhases *phases;
  const FabAlgorithmEnv *env;
  FabFootprintBuilder *whole, *part; /* of all phases, and of the present phase */
  Way *ways,
      *next; /* [n_ranks] the longest sequence to what each rank received, before and after the present phase */
  gboolean *has_next;
  Way longest;
  FabCollectiveForm *form;
  double intra_bytes_per_s, inter_bytes_per_s; /* rates of the slowest hops so far */
  double s_per_byte;                           /* sum over the phases so far, one after another */
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

/* For a library a step between nodes costs more than any step inside a node, whatever the wires. */
static gboolean
is_longer (const Way *a, const Way *b)
{
  if (a->n_inter != b->n_inter)
    return a->n_inter > b->n_inter;
  return a->latency_ps > b->latency_ps || (a->latency_ps == b->latency_ps && a->n_intra > b->n_intra);
}

static void
note_next (Forming *self, guint rank, const Way *way)
{
  if (!self->has_next[rank] || is_longer (way, &self->next[rank]))
    self->next[rank] = *way;
  self->has_next[rank] = TRUE;
}

/* The receiver waits for everything that it receives in a phase; for sends in turn, the sender waits too. */
static void
note_way (Forming *self, const FabSend *send, const FabHop *hop)
{
  Way way = self->ways[send->from];

  if (send->is_in_turn && is_longer (&self->ways[send->to], &way))
    way = self->ways[send->to];
  way.latency_ps = fab_ps_add (way.latency_ps, hop->latency_ps);
  *(is_inter (hop) ? &way.n_inter : &way.n_intra) += 1;
  note_next (self, send->to, &way);
  if (send->is_in_turn)
    note_next (self, send->from, &way);
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
use_hops (Forming *self, const FabSend *send, const GArray *hops)
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
  for (guint i = fab_phases_start (self->phases, phase); i < fab_phases_start (self->phases, phase + 1);
       i++) {
    g_autoptr (GArray) hops = fab_phases_hops (self->phases, i, error);

    if (hops == NULL)
      return FALSE;
    use_hops (self, &g_array_index (self->phases->sends, FabSend, i), hops);
  }
  g_autoptr (FabFootprint) footprint = fab_footprint_builder_finish (self->part);
  self->s_per_byte += 1 / footprint->rate_bytes_per_s;
  end_phase (self);
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
time_send (gpointer owner, guint send, const GArray *after, guint *n)
{
  Timing *self = owner;
  double weight = g_array_index (self->phases->sends, FabSend, send).weight;
  g_autoptr (GArray) hops = fab_phases_hops (self->phases, send, NULL);
  guint message = 0;

  for (guint i = 0; i < hops->len; i++) {
    fab_hop_use (&g_array_index (hops, FabHop, i), weight / hops->len, self->env->net_stretch, self->builder);
    message = fab_wait_time_add (self->time, fab_footprint_builder_finish (self->builder),
                                 (const guint *) (gpointer) after->data, after->len);
  }
  *n = hops->len;
  return message + 1 - hops->len;
}

/* Ranks that need not wait in a phase are ahead in the next, so the result is less than the sum of the phases.
 * `builder` knows which directions of links are used. */
static double
time_phases (const Forming *forming)
{
  g_autoptr (FabWaitTime) time = fab_wait_time_new (forming->phases->group->cluster->graph);
  Timing timing = { forming->phases, forming->env, forming->part, time };

  for (guint i = 0; i < forming->phases->sends->len; i++) {
    g_autoptr (GArray) hops = fab_phases_hops (forming->phases, i, NULL);

    for (guint h = 0; h < hops->len; h++)
      fab_hop_use (&g_array_index (hops, FabHop, h), 1, forming->env->net_stretch, forming->part);
  }
  fab_footprint_builder_keep_duplex (forming->part);
  fab_phases_wait_in_order (forming->phases, time_send, &timing);
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
