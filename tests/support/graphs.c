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

static void
add_vertices (FabGraphBuilder *builder, const char *vertices)
{
  guint part = fab_graph_builder_part (builder, "v", TRUE), n = 0;
  guint32 node = 0;

  for (; *vertices; vertices++)
    if (g_ascii_isdigit (*vertices) || *vertices == '-')
      node = *vertices == '-' ? FAB_NO_NODE : (guint32) (*vertices - '0');
    else
      fab_graph_builder_vertex (builder, kind_of (*vertices), node, part, n++);
}

static void
join (FabGraphBuilder *builder, guint a, guint b, FabBytesPerS rate, guint count,
      const FabTechnology *technology)
{
  const FabLinkClass link_class = { .name = technology != NULL ? technology->name : "wire",
                                    .technology = technology,
                                    .cost = { 1.25, 1, 1 } };
  FabLinkForm form = { rate, 10, fab_graph_builder_class (builder, &link_class), count };

  fab_graph_builder_join (builder, a, b, &form);
}

FabGraph *
graph_of (const char *vertices, const GraphJoin *joins)
{
  g_autoptr (FabGraphBuilder) builder = fab_graph_builder_new ();

  add_vertices (builder, vertices);
  for (; joins->rate_bytes_per_s > 0; joins++)
    join (builder, joins->a, joins->b, joins->rate_bytes_per_s, MAX (joins->count, 1), NULL);
  return fab_graph_builder_freeze (builder);
}

FabGraph *
graph_of_wires (const char *vertices, const GraphWire *wires)
{
  g_autoptr (FabGraphBuilder) builder = fab_graph_builder_new ();

  add_vertices (builder, vertices);
  for (; wires->technology != NULL; wires++)
    join (builder, wires->a, wires->b, 8, wires->count, wires->technology);
  return fab_graph_builder_freeze (builder);
}
