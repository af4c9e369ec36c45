/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/collective/shape/send_graph.h"

#include "sim/collective/plan/form_recipe.h"
#include "sim/collective/shape/form_hops.h"

/* The longest sequence of sends up to here. */
typedef struct {
  FabTimePs latency_ps;
  guint n_intra, n_inter;
  FabTimePs open_ps; /* of hops since the last rank: a step that has not ended */
  gboolean is_open_inter;
  double s_per_byte; /* of the slowest way, which may be another */
} SendPath;

typedef struct {
  SendPath way;
  guint lane; /* of the schedule */
} Send;

struct _FabSendGraph {
  const FabGroup *group;
  const FabAlgorithmEnv *env;
  FabSchedule *schedule;
  guint n_chunks;
  FabFootprintBuilder *builder; /* NULL: for a schedule */
  GArray *sends;                /* Send; for a form those of this part alone */
  SendPath longest;             /* of the parts before */
  double slowest_s_per_byte;    /* of their ways */
  FabCollectiveForm form;
  FabSlowestHops slowest;
};

FabSendGraph *
fab_send_graph_new (const FabGroup *group, const FabAlgorithmEnv *env, FabSchedule *schedule, guint n_chunks)
{
  FabSendGraph *self = g_new0 (FabSendGraph, 1);

  self->group = group;
  self->env = env;
  self->schedule = schedule;
  self->n_chunks = n_chunks;
  if (schedule == NULL)
    self->builder = fab_footprint_builder_new (group->cluster->graph);
  self->sends = g_array_new (FALSE, FALSE, sizeof (Send));
  return self;
}

void
fab_send_graph_free (FabSendGraph *self)
{
  if (self == NULL)
    return;
  fab_footprint_builder_free (self->builder);
  g_array_unref (self->sends);
  g_free (self);
}

static void
free_list (gpointer list)
{
  g_array_unref (list);
}

GPtrArray *
fab_send_lists_new (guint n)
{
  GPtrArray *lists = g_ptr_array_new_full (n, free_list);

  for (guint i = 0; i < n; i++)
    g_ptr_array_add (lists, g_array_new (FALSE, FALSE, sizeof (guint)));
  return lists;
}

static gboolean
is_inter (const FabHop *hop)
{
  return fab_hop_kind_is_net (hop->kind);
}

/* Accelerators are ends: a link into one is the hop's last. */
static gboolean
ends_at_rank (const FabGraph *graph, const FabHop *hop)
{
  for (guint i = 0; i < hop->shares->len; i++) {
    const FabLink *link = fab_graph_link (graph, g_array_index (hop->shares, FabShare, i).link);

    if (fab_graph_vertex (graph, link->dst)->kind == FAB_VERTEX_ACCELERATOR)
      return TRUE;
  }
  return FALSE;
}

static gboolean
is_longer (const SendPath *a, const SendPath *b)
{
  FabTimePs a_ps = a->latency_ps + a->open_ps, b_ps = b->latency_ps + b->open_ps;

  return a_ps > b_ps || (a_ps == b_ps && a->n_intra + a->n_inter > b->n_intra + b->n_inter);
}

static SendPath
longest_way (const FabSendGraph *self, const GArray *after)
{
  SendPath way = { 0 };

  for (guint i = 0; after && i < after->len; i++) {
    const SendPath *other = &g_array_index (self->sends, Send, g_array_index (after, guint, i)).way;
    double s_per_byte = MAX (way.s_per_byte, other->s_per_byte);

    if (is_longer (other, &way))
      way = *other;
    way.s_per_byte = s_per_byte;
  }
  return way;
}

static void
end_step (FabSendGraph *self, SendPath *way)
{
  FabTimePs *longest_ps = way->is_open_inter ? &self->form.inter_latency_ps : &self->form.intra_latency_ps;

  *longest_ps = MAX (*longest_ps, way->open_ps);
  *(way->is_open_inter ? &way->n_inter : &way->n_intra) += 1;
  way->latency_ps = fab_ps_add (way->latency_ps, way->open_ps);
  way->open_ps = 0;
  way->is_open_inter = FALSE;
}

static void
go_on (FabSendGraph *self, SendPath *way, const FabHop *hop, double weight, guint n_beside)
{
  double stretch = fab_hop_stretch (hop, self->env->net_stretch);

  way->open_ps = fab_ps_add (way->open_ps, hop->latency_ps);
  way->is_open_inter |= is_inter (hop);
  way->s_per_byte += weight * n_beside * stretch / hop->rate_bytes_per_s;
  if (ends_at_rank (self->group->cluster->graph, hop))
    end_step (self, way);
}

static void
record (const FabSendGraph *self, const FabHop *hop, double weight, guint n_beside, const GArray *after)
{
  if (self->env->recipe != NULL)
    fab_form_recipe_send (self->env->recipe, hop,
                          weight * n_beside * fab_hop_stretch (hop, self->env->net_stretch), after);
}

void
fab_send_graph_end_part (FabSendGraph *self)
{
  if (self->schedule != NULL)
    return;
  for (guint i = 0; i < self->sends->len; i++) {
    const SendPath *way = &g_array_index (self->sends, Send, i).way;

    self->slowest_s_per_byte = MAX (self->slowest_s_per_byte, way->s_per_byte);
    if (is_longer (way, &self->longest))
      self->longest = *way;
  }
  if (self->env->recipe != NULL)
    fab_form_recipe_end_part (self->env->recipe);
  g_array_set_size (self->sends, 0);
}

static guint
add_lane (FabSendGraph *self, FabHop *hop, double weight, const GArray *after)
{
  guint lane = fab_schedule_lane (self->schedule, hop, self->env->net_stretch, weight / self->n_chunks,
                                  self->n_chunks);

  for (guint i = 0; after && i < after->len; i++)
    fab_schedule_depend (self->schedule, lane,
                         g_array_index (self->sends, Send, g_array_index (after, guint, i)).lane, 0);
  return lane;
}

guint
fab_send_graph_add (FabSendGraph *self, FabHop *hop, double weight, guint n_beside, const GArray *after)
{
  Send send = { .way = longest_way (self, after) };

  if (self->schedule) {
    send.lane = add_lane (self, hop, weight, after);
  } else {
    go_on (self, &send.way, hop, weight, n_beside);
    fab_slowest_hops_note (&self->slowest, hop, &self->form);
    record (self, hop, weight, n_beside, after);
    fab_hop_use (hop, weight, self->env->net_stretch, self->builder);
    fab_hop_clear (hop);
  }
  g_array_append_val (self->sends, send);
  return self->sends->len - 1;
}

guint
fab_send_graph_add_like (FabSendGraph *self, const FabHop *hop, double weight, guint n_beside,
                         const GArray *after)
{
  Send send = { .way = longest_way (self, after) };

  g_assert (self->builder != NULL);
  go_on (self, &send.way, hop, weight, n_beside);
  fab_slowest_hops_note (&self->slowest, hop, &self->form);
  record (self, hop, weight, n_beside, after);
  g_array_append_val (self->sends, send);
  return self->sends->len - 1;
}

FabFootprintBuilder *
fab_send_graph_builder (const FabSendGraph *self)
{
  return self->builder;
}

void
fab_send_graph_form (FabSendGraph *self, gboolean is_pipeline, FabCollectiveForm *form)
{
  fab_send_graph_end_part (self);
  self->form.n_intra_steps = self->longest.n_intra;
  self->form.n_inter_steps = self->longest.n_inter;
  self->form.footprint = fab_footprint_builder_finish (self->builder);
  if (is_pipeline) /* the slowest way's time beyond what a chunk takes of the links that bind */
    self->form.fill_s_per_byte = MAX (self->slowest_s_per_byte - 1 / self->form.footprint->rate_bytes_per_s,
                                      0);
  *form = self->form;
}
