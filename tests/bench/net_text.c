/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/bench/net_text.h"

static void
append_message (const FabGraph *graph, FabRouter *router, const NetMessage *message, double pace,
                GString *text)
{
  FabPath path = { 0 };
  gboolean is_there = fab_router_append (router, message->src, message->dst, message->flow_hash, &path);

  g_assert_true (is_there);
  g_string_append_printf (text, "%" G_GINT64_FORMAT " %g %u %u", message->bytes, pace, path.n + 1,
                          message->src);
  for (guint i = 0; i < path.n; i++)
    g_string_append_printf (text, " %u", fab_graph_link (graph, path.links[i])->dst);
  g_string_append_c (text, '\n');
}

char *
net_text (const FabGraph *graph, FabRouter *router, const NetMessage *messages, guint n_messages, double pace)
{
  GString *text = g_string_new (NULL);
  guint n_links = fab_graph_n_links (graph);

  g_string_append_printf (text, "%u %u %u\n", fab_graph_n_vertices (graph), n_links / 2, n_messages);
  for (FabLinkId id = 0; id < n_links; id++) {
    const FabLink *link = fab_graph_link (graph, id);

    if (id < link->reverse)
      g_string_append_printf (text, "%u %u %" G_GINT64_FORMAT " %.12g\n", link->src, link->dst,
                              link->rate_bytes_per_s, (double) link->latency_ps / FAB_PS_PER_S);
  }
  for (guint i = 0; i < n_messages; i++)
    append_message (graph, router, &messages[i], pace, text);
  return g_string_free (text, FALSE);
}
