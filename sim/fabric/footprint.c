/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/fabric/footprint.h"

struct _FabShapeBuilder {
  const FabGraph *graph;
  double *weights; /* per link of the graph; 0 where unused */
  double *line_weights;
  GArray *used; /* FabLinkId */
};

FabFootprintBuilder *
fab_footprint_builder_new (const FabGraph *graph)
{
  FabFootprintBuilder *self = g_new0 (FabFootprintBuilder, 1);

  self->graph = graph;
  self->weights = g_new0 (double, fab_graph_n_links (graph) + 1);
  self->line_weights = g_new0 (double, fab_graph_n_links (graph) + 1);
  self->used = g_array_new (FALSE, FALSE, sizeof (FabLinkId));
  return self;
}

void
fab_footprint_builder_free (FabFootprintBuilder *self)
{
  if (self == NULL)
    return;
  g_free (self->weights);
  g_free (self->line_weights);
  g_array_unref (self->used);
  g_free (self);
}

void
fab_footprint_builder_add (FabFootprintBuilder *self, const FabPath *path, FabUse use)
{
  g_assert (use.weight > 0 && use.stretch >= 1);
  for (guint i = 0; i < path->n; i++) {
    FabLinkId link = path->links[i];

    if (self->weights[link] <= 0)
      g_array_append_val (self->used, link);
    self->weights[link] += use.weight;
    self->line_weights[link] += use.weight * use.stretch
                              * fab_graph_link_class (self->graph, link)->cost[use.drive];
  }
}

static gint
compare_links (gconstpointer a, gconstpointer b)
{
  FabLinkId x = *(const FabLinkId *) a, y = *(const FabLinkId *) b;

  return x < y ? -1 : x > y;
}

/* A link binds only when it is slower than the one before by more than rounding of the sums. */
static void
find_bounds (FabFootprint *self, const FabGraph *graph)
{
  const double rounding = 1e-12;

  self->rate_bytes_per_s = G_MAXDOUBLE;
  self->line_bound_bytes_per_s = G_MAXDOUBLE;
  for (guint i = 0; i < self->n; i++) {
    double line = (double) fab_graph_link (graph, self->links[i])->rate_bytes_per_s;
    double rate = line / self->line_weights[i];

    self->line_bound_bytes_per_s = MIN (self->line_bound_bytes_per_s, line / self->weights[i]);
    if (rate < self->rate_bytes_per_s * (1 - rounding)) {
      self->binding_link = self->links[i];
      self->binding_weight = self->weights[i];
    }
    self->rate_bytes_per_s = MIN (self->rate_bytes_per_s, rate);
  }
}

FabFootprint *
fab_footprint_builder_finish (FabFootprintBuilder *self)
{
  FabFootprint *footprint = g_new0 (FabFootprint, 1);

  g_assert (self->used->len > 0);
  g_array_sort (self->used, compare_links);
  footprint->n = self->used->len;
  footprint->links = g_new (FabLinkId, footprint->n);
  footprint->weights = g_new (double, footprint->n);
  footprint->line_weights = g_new (double, footprint->n);
  for (guint i = 0; i < footprint->n; i++) {
    FabLinkId link = g_array_index (self->used, FabLinkId, i);

    footprint->links[i] = link;
    footprint->weights[i] = self->weights[link];
    footprint->line_weights[i] = self->line_weights[link];
    self->weights[link] = self->line_weights[link] = 0;
  }
  g_array_set_size (self->used, 0);
  find_bounds (footprint, self->graph);
  return footprint;
}

void
fab_footprint_free (FabFootprint *self)
{
  if (self == NULL)
    return;
  g_free (self->links);
  g_free (self->weights);
  g_free (self->line_weights);
  g_free (self);
}
