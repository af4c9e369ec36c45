/* SPDX-License-Identifier: Apache-2.0 */
/* bisection.c - solves each split as a flow problem: the NICs of one half are the source, those of the other half the
 * sink. */
#include "sim/fabric/bisection.h"

#include <math.h>

#include "sim/fabric/maxflow.h"

typedef struct {
  const FabGraph *graph;
  const FabVertexId *nics;
  guint n_nodes, nics_per_node;
  guint *points;    /* per vertex: its number in the flow problem */
  guint n_switches; /* vertices outside nodes */
} Bisector;

enum { SOURCE, SINK, N_ENDS, NOWHERE = G_MAXUINT };

/* Vertices outside nodes become points of the flow problem. Vertices inside nodes do not; a split assigns the
 * NICs. */
static Bisector
bisector_new (const FabGraph *graph, const FabVertexId *nics, guint n_nodes, guint nics_per_node)
{
  guint n = fab_graph_n_vertices (graph);
  Bisector self = { graph, nics, n_nodes, nics_per_node, g_new (guint, n + 1), 0 };

  for (FabVertexId v = 0; v < n; v++)
    self.points[v] = fab_graph_vertex (graph, v)->node == FAB_NO_NODE ? N_ENDS + self.n_switches++ : NOWHERE;
  return self;
}

static void
assign_halves (Bisector *self, guint block)
{
  for (guint i = 0; i < self->n_nodes * self->nics_per_node; i++)
    self->points[self->nics[i]] = i / self->nics_per_node / block % 2 == 0 ? SOURCE : SINK;
}

/* Sums the links between each half and a switch first, so that thousands of NICs on a leaf make one edge. */
static double
split_flow (Bisector *self, guint block)
{
  guint n_points = N_ENDS + self->n_switches;
  g_autofree double *from_source = g_new0 (double, n_points), *to_sink = g_new0 (double, n_points);
  g_autoptr (FabMaxflow) flow = fab_maxflow_new (n_points);

  assign_halves (self, block);
  for (FabLinkId l = 0; l < fab_graph_n_links (self->graph); l++) {
    const FabLink *link = fab_graph_link (self->graph, l);
    guint from = self->points[link->src], to = self->points[link->dst];

    if (from == NOWHERE || to == NOWHERE || from == to || from == SINK || to == SOURCE)
      continue;
    if (from == SOURCE)
      from_source[to] += (double) link->rate_bytes_per_s;
    else if (to == SINK)
      to_sink[from] += (double) link->rate_bytes_per_s;
    else
      fab_maxflow_add (flow, from, to, (double) link->rate_bytes_per_s);
  }
  for (guint point = SINK; point < n_points; point++) {
    if (from_source[point] > 0)
      fab_maxflow_add (flow, SOURCE, point, from_source[point]);
    if (to_sink[point] > 0)
      fab_maxflow_add (flow, point, SINK, to_sink[point]);
  }
  return fab_maxflow_solve (flow, SOURCE, SINK);
}

/* Sums the ports of the last floor (n / 2) nodes. */
static double
injection_of (const Bisector *self)
{
  double sum = 0;

  for (guint i = (self->n_nodes + 1) / 2 * self->nics_per_node; i < self->n_nodes * self->nics_per_node;
       i++) {
    FabLinkId first;
    guint n = fab_graph_out_links (self->graph, self->nics[i], &first);

    for (FabLinkId l = first; l < first + n; l++) {
      const FabLink *link = fab_graph_link (self->graph, l);

      if (fab_graph_vertex (self->graph, link->dst)->node != fab_graph_vertex (self->graph, link->src)->node)
        sum += (double) link->rate_bytes_per_s;
    }
  }
  return sum;
}

FabBisection
fab_bisection_of (const FabGraph *graph, const FabVertexId *nics, guint n_nodes, guint nics_per_node)
{
  FabBisection found = { .oversubscription = 1 };
  guint half = (n_nodes + 1) / 2;

  if (n_nodes < 2 || nics_per_node == 0)
    return found;
  Bisector self = bisector_new (graph, nics, n_nodes, nics_per_node);
  found.injection_bytes_per_s = injection_of (&self);
  found.first_half_bytes_per_s = found.bisection_bytes_per_s = split_flow (&self, half);
  found.worst_block = half;
  for (guint block = half / 2; block >= 1; block--) {
    if (n_nodes % 2 != 0 || half % block != 0)
      continue;
    double flow = split_flow (&self, block);

    if (flow < found.bisection_bytes_per_s * (1 - 1e-9)) {
      found.bisection_bytes_per_s = flow;
      found.worst_block = block;
    }
  }
  found.oversubscription = found.bisection_bytes_per_s > 0
                             ? found.injection_bytes_per_s / found.bisection_bytes_per_s
                             : INFINITY;
  g_free (self.points);
  return found;
}
