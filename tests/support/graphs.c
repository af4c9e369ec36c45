/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/support/graphs.h"

static FabVertexKind
kind_of (char letter)
{
  switch (letter) {
  case 'a': return FAB_VERTEX_ACCELERATOR;
  case 's': return FAB_VERTEX_SWITCH;
  case 'n': return FAB_VERTEX_NIC;
  case 'h': return FAB_VERTEX_HOST;
  case 'b': return FAB_VERTEX_BRIDGE;
  case 'm': return FAB_VERTEX_MEMORY;
  case 'd': return FAB_VERTEX_STORAGE;
  default: g_assert_not_reached ();
  }
}

FabGraph *
graph_of (const char *vertices, const GraphJoin *joins)
{
  static const FabLinkClass link_class = { .name = "wire", .cost = { 1.25, 1, 1 } };
  g_autoptr (FabGraphBuilder) builder = fab_graph_builder_new ();
  guint part = fab_graph_builder_part (builder, "v", TRUE), n = 0;
  guint class_index = fab_graph_builder_class (builder, &link_class);
  guint32 node = 0;

  for (; *vertices; vertices++)
    if (g_ascii_isdigit (*vertices) || *vertices == '-')
      node = *vertices == '-' ? FAB_NO_NODE : (guint32) (*vertices - '0');
    else
      fab_graph_builder_vertex (builder, kind_of (*vertices), node, part, n++);
  for (; joins->rate_bytes_per_s > 0; joins++)
    fab_graph_builder_join (builder, joins->a, joins->b,
                            &(FabLinkForm){ joins->rate_bytes_per_s, 10, class_index,
                                            joins->count > 0 ? joins->count : 1 });
  return fab_graph_builder_freeze (builder);
}
