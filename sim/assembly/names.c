/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/assembly/names.h"

struct _FabNames {
  const FabGraph *graph;
  GPtrArray *names; /* [vertices] */
  GHashTable *ids;  /* name to 1 + vertex */
};

FabNames *
fab_names_new (const FabGraph *graph)
{
  FabNames *self = g_new0 (FabNames, 1);

  self->graph = graph;
  self->names = g_ptr_array_new_with_free_func (g_free);
  self->ids = g_hash_table_new (g_str_hash, g_str_equal);
  for (FabVertexId v = 0; v < fab_graph_n_vertices (graph); v++) {
    g_ptr_array_add (self->names, fab_graph_vertex_name (graph, v));
    g_hash_table_insert (self->ids, g_ptr_array_index (self->names, v), GUINT_TO_POINTER (v + 1));
  }
  return self;
}

void
fab_names_free (FabNames *self)
{
  if (self == NULL)
    return;
  g_hash_table_unref (self->ids);
  g_ptr_array_unref (self->names);
  g_free (self);
}

const char *
fab_names_of (const FabNames *self, FabVertexId vertex)
{
  return g_ptr_array_index (self->names, vertex);
}

static gboolean
is_of_kind (const FabNames *self, FabVertexId vertex, guint kinds)
{
  return (kinds & (1U << fab_graph_vertex (self->graph, vertex)->kind)) != 0;
}

static void
report_unknown (const FabNames *self, const char *name, guint kinds, const char *noun, const FabMark *mark,
                FabDiagnostics *diagnostics)
{
  g_autoptr (GPtrArray) candidates = g_ptr_array_new ();
  const char *nearest;

  for (FabVertexId v = 0; v < self->names->len; v++)
    if (is_of_kind (self, v, kinds))
      g_ptr_array_add (candidates, g_ptr_array_index (self->names, v));
  g_ptr_array_add (candidates, NULL);
  nearest = fab_diagnostics_nearest (diagnostics, name, (const char *const *) candidates->pdata);
  if (nearest != NULL)
    fab_diagnostics_add (diagnostics, mark, "this machine has no %s '%s'; nearest is '%s'", noun, name,
                         nearest);
  else
    fab_diagnostics_add (diagnostics, mark, "this machine has no %s '%s'; `fabricast topo` shows what it has",
                         noun, name);
}

FabVertexId
fab_names_find (const FabNames *self, const char *name, guint kinds, const char *noun, const FabMark *mark,
                FabDiagnostics *diagnostics)
{
  guint found = GPOINTER_TO_UINT (g_hash_table_lookup (self->ids, name));

  if (found > 0 && is_of_kind (self, found - 1, kinds))
    return found - 1;
  report_unknown (self, name, kinds, noun, mark, diagnostics);
  return FAB_NO_VERTEX;
}

/* Returns a link's name: "node0/nic0 -> switch". (transfer full) */
static char *
fab_names_link (const FabNames *self, FabLinkId link)
{
  const FabLink *l = fab_graph_link (self->graph, link);

  return g_strdup_printf ("%s -> %s", fab_names_of (self, l->src), fab_names_of (self, l->dst));
}

gboolean
fab_names_link_fits (const FabNames *self, FabLinkId link, const char *pattern)
{
  const FabLink *l = fab_graph_link (self->graph, link);
  g_autofree char *name = fab_names_link (self, link);

  return g_pattern_match_simple (pattern, name)
      || g_pattern_match_simple (pattern, fab_names_of (self, l->src))
      || g_pattern_match_simple (pattern, fab_names_of (self, l->dst));
}
