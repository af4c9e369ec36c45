/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/collective/shape/multicast.h"

static gboolean
is_reducing (const FabGraph *graph, FabLinkId link)
{
  return fab_graph_link_class (graph, link)->has_reduction
      && fab_graph_vertex (graph, fab_graph_link (graph, link)->dst)->kind == FAB_VERTEX_SWITCH;
}

static gboolean
hangs_on (const FabGraph *graph, FabVertexId gpu, FabVertexId centre)
{
  FabLinkId first;
  guint n = fab_graph_out_links (graph, gpu, &first);

  for (FabLinkId link = first; link < first + n; link++)
    if (is_reducing (graph, link) && fab_graph_link (graph, link)->dst == centre)
      return TRUE;
  return FALSE;
}

gboolean
fab_multicast_switch (const FabGroup *group, guint node, FabVertexId *centre)
{
  const FabGraph *graph = group->cluster->graph;
  FabLinkId first;
  guint n = fab_graph_out_links (graph, fab_group_gpu (group, node, 0), &first);

  for (FabLinkId link = first; link < first + n; link++) {
    guint n_hanging = 0;

    if (!is_reducing (graph, link))
      continue;
    *centre = fab_graph_link (graph, link)->dst;
    for (guint local = 0; local < group->gpus_per_node; local++)
      n_hanging += hangs_on (graph, fab_group_gpu (group, node, local), *centre);
    if (n_hanging == group->gpus_per_node)
      return TRUE;
  }
  return FALSE;
}

/* Between a GPU and the switch, either way. */
static gboolean
add_wire (FabSendGraph *sends, const FabGroup *group, FabVertexId from, FabVertexId to, double weight,
          const GArray *after, guint *send, GError **error)
{
  FabHop hop;

  if (!fab_hop_wire (group->cluster, from, to, FAB_DRIVE_MULTIMEM, &hop, error))
    return FALSE;
  *send = fab_send_graph_add (sends, &hop, weight, 1, after);
  return TRUE;
}

static guint
n_heads (const FabGroup *group, const GArray *heads)
{
  return heads != NULL ? heads->len : group->gpus_per_node;
}

static guint
head (const GArray *heads, guint i)
{
  return heads != NULL ? g_array_index (heads, guint, i) : i;
}

gboolean
fab_multicast_load (FabSendGraph *sends, const FabGroup *group, guint node, const GArray *heads,
                    const GPtrArray *sums, GError **error)
{
  g_autoptr (GArray) read = g_array_new (FALSE, FALSE, sizeof (guint));
  guint n = n_heads (group, heads), send;
  FabVertexId centre = 0;
  gboolean has_switch = fab_multicast_switch (group, node, &centre);

  g_assert (has_switch);
  for (guint i = 0; i < group->gpus_per_node; i++) {
    if (!add_wire (sends, group, fab_group_gpu (group, node, i), centre, 1, NULL, &send, error))
      return FALSE;
    g_array_append_val (read, send);
  }
  for (guint i = 0; i < n; i++) {
    guint local = head (heads, i);

    if (!add_wire (sends, group, centre, fab_group_gpu (group, node, local), 1.0 / n, read, &send, error))
      return FALSE;
    g_array_append_val (fab_send_list (sums, local), send);
  }
  return TRUE;
}

gboolean
fab_multicast_store (FabSendGraph *sends, const FabGroup *group, guint node, const GArray *heads,
                     const GPtrArray *ready, GError **error)
{
  g_autoptr (GArray) sent = g_array_new (FALSE, FALSE, sizeof (guint));
  guint n = n_heads (group, heads), send;
  FabVertexId centre = 0;
  gboolean has_switch = fab_multicast_switch (group, node, &centre);

  g_assert (has_switch);
  for (guint i = 0; i < n; i++) {
    guint local = head (heads, i);

    if (!add_wire (sends, group, fab_group_gpu (group, node, local), centre, 1.0 / n,
                   fab_send_list (ready, local), &send, error))
      return FALSE;
    g_array_append_val (sent, send);
  }
  for (guint i = 0; i < group->gpus_per_node; i++)
    if (!add_wire (sends, group, centre, fab_group_gpu (group, node, i), 1, sent, &send, error))
      return FALSE;
  return TRUE;
}
