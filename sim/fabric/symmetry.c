/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/fabric/symmetry.h"

static guint32
node_of (const FabGraph *graph, FabVertexId vertex)
{
  return fab_graph_vertex (graph, vertex)->node;
}

static gboolean
is_same_link (const FabLink *a, const FabLink *b, FabVertexId shift)
{
  return a->dst + shift == b->dst && a->rate_bytes_per_s == b->rate_bytes_per_s
      && a->class_index == b->class_index && a->latency_ps == b->latency_ps;
}

/* Whether the links that stay inside are those of the model at the same places, and only a NIC has other links. */
static gboolean
has_same_links (const FabGraph *graph, FabVertexId model, FabVertexId vertex)
{
  FabLinkId model_first, first;
  guint n_model = fab_graph_out_links (graph, model, &model_first),
        n = fab_graph_out_links (graph, vertex, &first);

  for (guint i = 0; i < MAX (n, n_model); i++) {
    const FabLink *a = i < n_model ? fab_graph_link (graph, model_first + i) : NULL;
    const FabLink *b = i < n ? fab_graph_link (graph, first + i) : NULL;
    gboolean is_inner = b != NULL && node_of (graph, b->dst) == node_of (graph, vertex);

    if (is_inner != (a != NULL && node_of (graph, a->dst) == node_of (graph, model)))
      return FALSE;
    if (!is_inner && fab_graph_vertex (graph, vertex)->kind != FAB_VERTEX_NIC)
      return FALSE;
    if (is_inner && !is_same_link (a, b, vertex - model))
      return FALSE;
  }
  return TRUE;
}

gboolean
fab_symmetry (const FabGraph *graph, FabVertexId model, FabVertexId other, guint n)
{
  FabVertexId end = other + n;
  guint n_vertices = fab_graph_n_vertices (graph);

  if (end > n_vertices || (end < n_vertices && node_of (graph, end) == node_of (graph, other)))
    return FALSE;
  for (guint i = 0; i < n; i++) {
    const FabVertex *a = fab_graph_vertex (graph, model + i), *b = fab_graph_vertex (graph, other + i);

    if (a->node != node_of (graph, model) || b->node != node_of (graph, other) || a->kind != b->kind
        || !has_same_links (graph, model + i, other + i))
      return FALSE;
  }
  return TRUE;
}

FabVertexId
fab_symmetry_range (const FabGraph *graph, FabVertexId vertex, guint *n)
{
  FabVertexId first = vertex, end = vertex + 1;

  while (first > 0 && node_of (graph, first - 1) == node_of (graph, vertex))
    first--;
  while (end < fab_graph_n_vertices (graph) && node_of (graph, end) == node_of (graph, vertex))
    end++;
  *n = end - first;
  return first;
}

FabLinkId
fab_symmetry_link (const FabGraph *graph, FabLinkId link, FabVertexId shift)
{
  FabVertexId vertex = fab_graph_link (graph, link)->src;
  FabLinkId model_first, first;

  fab_graph_out_links (graph, vertex, &model_first);
  fab_graph_out_links (graph, vertex + shift, &first);
  return first + (link - model_first);
}
