/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/machine/rank_symmetry.h"

#include "sim/fabric/symmetry.h"

/* A node to which others are symmetric. */
typedef struct {
  FabVertexId first; /* first of its vertices */
  guint n;
  FabFootprintBuilder *uses; /* NULL: it has no hops yet */
} Model;

struct _FabRankSymmetry {
  const FabGroup *group;
  guint period;
  Model *models;          /* [period] */
  gboolean *is_symmetric; /* [n_nodes] */
};

/* Returns the distance from the model's vertices to the node's vertices. */
static FabVertexId
shift_of (const FabRankSymmetry *self, guint node)
{
  return fab_group_gpu (self->group, node, 0) - fab_group_gpu (self->group, node % self->period, 0);
}

/* Whether all GPUs of the group's node are in one machine, at the same positions as in the model. */
static gboolean
has_same_places (const FabRankSymmetry *self, guint node)
{
  const FabGraph *graph = self->group->cluster->graph;
  FabVertexId shift = shift_of (self, node);

  for (guint local = 1; local < self->group->gpus_per_node; local++) {
    FabVertexId gpu = fab_group_gpu (self->group, node, local);

    if (gpu != fab_group_gpu (self->group, node % self->period, local) + shift
        || fab_graph_vertex (graph, gpu)->node
               != fab_graph_vertex (graph, fab_group_gpu (self->group, node, 0))->node)
      return FALSE;
  }
  return TRUE;
}

FabRankSymmetry *
fab_rank_symmetry_new (const FabGroup *group, guint period)
{
  const FabGraph *graph = group->cluster->graph;
  FabRankSymmetry *self;

  if (group->n_nodes <= period || group->cluster->uneven != NULL || fab_graph_is_unfolded (graph))
    return NULL;
  self = g_new0 (FabRankSymmetry, 1);
  self->group = group;
  self->period = period;
  self->models = g_new0 (Model, period);
  self->is_symmetric = g_new (gboolean, group->n_nodes);
  for (guint m = 0; m < period; m++)
    self->models[m].first = fab_symmetry_range (graph, fab_group_gpu (group, m, 0), &self->models[m].n);
  for (guint node = 0; node < group->n_nodes; node++) {
    const Model *model = &self->models[node % period];

    self->is_symmetric[node] = has_same_places (self, node)
                            && fab_symmetry (graph, model->first, model->first + shift_of (self, node),
                                             model->n);
  }
  return self;
}

void
fab_rank_symmetry_free (FabRankSymmetry *self)
{
  if (self == NULL)
    return;
  for (guint m = 0; m < self->period; m++)
    fab_footprint_builder_free (self->models[m].uses);
  g_free (self->models);
  g_free (self->is_symmetric);
  g_free (self);
}

gboolean
fab_rank_symmetry_has (const FabRankSymmetry *self, guint node)
{
  return self != NULL && self->is_symmetric[node];
}

static FabFootprintBuilder *
uses_of (FabRankSymmetry *self, guint model)
{
  Model *m = &self->models[model];

  if (m->uses == NULL)
    m->uses = fab_footprint_builder_new (self->group->cluster->graph);
  return m->uses;
}

void
fab_rank_symmetry_use (FabRankSymmetry *self, guint model, const FabHop *hop, double weight,
                       double net_stretch)
{
  g_assert (fab_rank_symmetry_takes (hop));
  fab_hop_use (hop, weight, net_stretch, uses_of (self, model));
}

void
fab_rank_symmetry_use_shares (FabRankSymmetry *self, guint model, const GArray *shares, FabUse use)
{
  if (shares->len > 0)
    fab_footprint_builder_add_shares (uses_of (self, model), shares, use);
}

FabLinkId
fab_rank_symmetry_model_link (const FabRankSymmetry *self, guint node, FabLinkId link)
{
  return fab_symmetry_link (self->group->cluster->graph, link, -shift_of (self, node));
}

void
fab_rank_symmetry_add (FabRankSymmetry *self, FabFootprintBuilder *builder)
{
  for (guint m = 0; self != NULL && m < self->period; m++) {
    if (self->models[m].uses == NULL)
      continue;
    g_autoptr (FabFootprint) footprint = fab_footprint_builder_finish (self->models[m].uses);
    for (guint node = m; node < self->group->n_nodes; node += self->period)
      if (self->is_symmetric[node])
        fab_footprint_builder_add_symmetric (builder, footprint, shift_of (self, node));
    g_clear_pointer (&self->models[m].uses, fab_footprint_builder_free);
  }
}
