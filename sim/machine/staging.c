/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/machine/staging.h"

static gboolean
is_seen (const GArray *seen, FabVertexId vertex)
{
  for (guint i = 0; i < seen->len; i++)
    if (g_array_index (seen, FabVertexId, i) == vertex)
      return TRUE;
  return FALSE;
}

static gboolean
is_on_the_way (FabVertexKind kind)
{
  return kind == FAB_VERTEX_SWITCH || kind == FAB_VERTEX_BRIDGE || kind == FAB_VERTEX_HOST;
}

/* Appends the vertices one link from `vertex` inside its node. */
static void
look_around (const FabGraph *graph, FabVertexId vertex, GArray *seen)
{
  FabLinkId first;
  guint n = fab_graph_out_links (graph, vertex, &first);

  for (FabLinkId link = first; link < first + n; link++) {
    FabVertexId next = fab_graph_link (graph, link)->dst;

    if (fab_graph_vertex (graph, next)->node == fab_graph_vertex (graph, vertex)->node
        && !is_seen (seen, next))
      g_array_append_val (seen, next);
  }
}

/* Visits in the order of distance: a node is small enough to examine all of it. */
gboolean
fab_staging_near (const FabGraph *graph, FabVertexId vertex, FabVertexId *staging)
{
  g_autoptr (GArray) seen = g_array_new (FALSE, FALSE, sizeof (FabVertexId));
  gboolean has_host = FALSE;

  g_array_append_val (seen, vertex);
  for (guint i = 0; i < seen->len; i++) {
    FabVertexId here = g_array_index (seen, FabVertexId, i);
    FabVertexKind kind = fab_graph_vertex (graph, here)->kind;

    if (kind == FAB_VERTEX_MEMORY || (kind == FAB_VERTEX_HOST && !has_host))
      *staging = here;
    if (kind == FAB_VERTEX_MEMORY)
      return TRUE;
    has_host = has_host || kind == FAB_VERTEX_HOST;
    if (here == vertex || is_on_the_way (kind))
      look_around (graph, here, seen);
  }
  return has_host;
}
