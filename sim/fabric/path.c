/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/fabric/path.h"

#include "sim/fabric/search.h"

struct _FabPathFinder {
  FabSizeSearch search;
};

FabPathFinder *
fab_path_finder_new (const FabGraph *graph)
{
  FabPathFinder *self = g_new0 (FabPathFinder, 1);

  fab_search_init (&self->search, graph);
  return self;
}

void
fab_path_finder_free (FabPathFinder *self)
{
  if (self == NULL)
    return;
  fab_search_clear (&self->search);
  g_free (self);
}

gboolean
fab_path_finder_append (FabPathFinder *self, FabVertexId src, FabVertexId dst, FabPath *path)
{
  return fab_search_best (&self->search, src, dst, path);
}

FabTimePs
fab_path_latency_ps (const FabGraph *graph, const FabPath *path)
{
  FabTimePs total_ps = 0;

  for (guint i = 0; i < path->n; i++)
    total_ps = fab_ps_add (total_ps, fab_graph_link (graph, path->links[i])->latency_ps);
  return total_ps;
}

double
fab_path_rate_bytes_per_s (const FabGraph *graph, const FabPath *path, FabDrive drive)
{
  double rate = G_MAXDOUBLE;

  for (guint i = 0; i < path->n; i++) {
    double line = (double) fab_graph_link (graph, path->links[i])->rate_bytes_per_s;

    rate = MIN (rate, line / fab_graph_link_class (graph, path->links[i])->cost[drive]);
  }
  return rate;
}
