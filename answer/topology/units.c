/* SPDX-License-Identifier: Apache-2.0 */
#include "answer/topology/units.h"

#include <string.h>

#include "answer/topology/names.h"
#include "sim/base/order.h"

enum { LEAST_UNITS = 3 };

static const FabPlace *
place_at (const FabTopology *topology, guint i)
{
  return &g_array_index (topology->places, FabPlace, i);
}

/* The socket above each place, or the place itself. (transfer full) */
static guint *
roots_of (const FabTopology *topology)
{
  guint *roots = g_new0 (guint, fab_graph_n_vertices (topology->cluster->graph) + 1), root = 0;

  for (guint i = 0; i < topology->places->len; i++) {
    if (place_at (topology, i)->depth == 0)
      root = i;
    roots[place_at (topology, i)->vertex] = root;
  }
  return roots;
}

/* Calls for every link inside the node. */
typedef void (*LinkFn) (gpointer data, const FabLink *link, FabLinkId id);

static void
for_links (const FabTopology *topology, LinkFn fn, gpointer data)
{
  const FabGraph *graph = topology->cluster->graph;

  for (guint i = 0; i < topology->places->len; i++) {
    FabLinkId up = place_at (topology, i)->up;

    if (up != FAB_NO_LINK)
      fn (data, fab_graph_link (graph, up), up);
  }
  for (guint i = 0; i < topology->across->len; i++) {
    FabLinkId id = g_array_index (topology->across, FabLinkId, i);

    fn (data, fab_graph_link (graph, id), id);
  }
}

/* --- hubs --- */

typedef struct {
  const FabTopology *topology;
  guint *roots;
  GHashTable **beside; /* [vertices] roots of what a vertex has links to */
} Search;

static void
note_roots (gpointer data, const FabLink *link, G_GNUC_UNUSED FabLinkId id)
{
  Search *self = data;

  g_hash_table_add (self->beside[link->src], GUINT_TO_POINTER (self->roots[link->dst] + 1));
  g_hash_table_add (self->beside[link->dst], GUINT_TO_POINTER (self->roots[link->src] + 1));
}

/* A switch or an adapter with links to several sockets, or to what hangs below several, joins them. */
static void
find_hubs (const FabTopology *topology, FabTopoUnits *self)
{
  const FabGraph *graph = topology->cluster->graph;
  guint n = fab_graph_n_vertices (graph);
  Search search = { topology, roots_of (topology), g_new0 (GHashTable *, n + 1) };

  for (guint i = 0; i < n; i++)
    search.beside[i] = g_hash_table_new (NULL, NULL);
  for_links (topology, note_roots, &search);
  for (guint i = 0; i < n; i++) {
    FabVertexKind kind = fab_graph_vertex (graph, i)->kind;

    if ((kind == FAB_VERTEX_SWITCH || kind == FAB_VERTEX_NIC)
        && g_hash_table_size (search.beside[i]) >= LEAST_UNITS)
      self->of_vertex[i] = FAB_TOPO_HUB;
    g_hash_table_unref (search.beside[i]);
  }
  g_free (search.beside);
  g_free (search.roots);
}

/* --- units --- */

typedef struct {
  FabTopoUnits *units;
  gboolean has_changed;
} Spread;

/* A unit takes the lower number of two that a link joins. */
static void
spread (gpointer data, const FabLink *link, G_GNUC_UNUSED FabLinkId id)
{
  Spread *self = data;
  guint *one = &self->units->of_vertex[link->src], *other = &self->units->of_vertex[link->dst];

  if (*one == FAB_TOPO_HUB || *other == FAB_TOPO_HUB || *one == *other)
    return;
  *one = *other = MIN (*one, *other);
  self->has_changed = TRUE;
}

static void
find_units (const FabTopology *topology, FabTopoUnits *self)
{
  Spread state = { self, TRUE };

  for (guint i = 0; i < topology->places->len; i++) {
    guint *unit = &self->of_vertex[place_at (topology, i)->vertex];

    if (*unit != FAB_TOPO_HUB)
      *unit = i;
  }
  while (state.has_changed) {
    state.has_changed = FALSE;
    for_links (topology, spread, &state);
  }
}

/* --- alike --- */

typedef struct {
  const FabTopology *topology;
  const FabTopoUnits *units;
  GHashTable *texts; /* of each unit: lines of its links */
} Portrait;

static void
add_line (Portrait *self, guint unit, char *line)
{
  GPtrArray *lines = g_hash_table_lookup (self->texts, GUINT_TO_POINTER (unit + 1));

  if (lines == NULL) {
    lines = g_ptr_array_new_with_free_func (g_free);
    g_hash_table_insert (self->texts, GUINT_TO_POINTER (unit + 1), lines);
  }
  g_ptr_array_add (lines, line);
}

static void
portray (gpointer data, const FabLink *link, FabLinkId id)
{
  Portrait *self = data;
  const FabGraph *graph = self->topology->cluster->graph;
  guint one = self->units->of_vertex[link->src], other = self->units->of_vertex[link->dst];
  g_autofree char *from = fab_topology_name (self->topology, link->src);
  g_autofree char *to = fab_topology_name (self->topology, link->dst);
  g_autofree char *from_part = fab_topo_part (from), *to_part = fab_topo_part (to);
  g_autofree char *text = fab_topo_link_text (graph, id);
  gboolean is_swapped = strcmp (from_part, to_part) > 0;

  if (one == FAB_TOPO_HUB && other == FAB_TOPO_HUB)
    return;
  add_line (self, one != FAB_TOPO_HUB ? one : other,
            g_strdup_printf ("%s %s %s", is_swapped ? to_part : from_part, is_swapped ? from_part : to_part,
                             text));
}

/* The lines of a unit's links in order. (transfer full) */
static char *
portrait_of (GPtrArray *lines)
{
  g_ptr_array_sort (lines, fab_order_texts);
  g_ptr_array_add (lines, NULL);
  return g_strjoinv ("\n", (char **) lines->pdata);
}

/* Returns how many units there are, all with the same links; 1: they differ. */
static guint
count_alike (const FabTopology *topology, const FabTopoUnits *self)
{
  Portrait portrait = { topology, self,
                        g_hash_table_new_full (NULL, NULL, NULL, (GDestroyNotify) g_ptr_array_unref) };
  g_autofree char *first = NULL;
  guint n = 0;
  gboolean is_alike = TRUE;
  GHashTableIter iter;
  gpointer lines;

  for_links (topology, portray, &portrait);
  g_hash_table_iter_init (&iter, portrait.texts);
  while (g_hash_table_iter_next (&iter, NULL, &lines)) {
    g_autofree char *text = portrait_of (lines);

    is_alike = is_alike && (first == NULL || strcmp (first, text) == 0);
    if (first == NULL)
      first = g_steal_pointer (&text);
    n++;
  }
  g_hash_table_unref (portrait.texts);
  return is_alike && n >= LEAST_UNITS ? n : 1;
}

FabTopoUnits *
fab_topo_units_new (const FabTopology *topology, gboolean is_whole)
{
  FabTopoUnits *self = g_new0 (FabTopoUnits, 1);
  guint n = fab_graph_n_vertices (topology->cluster->graph);

  self->n = 1;
  self->of_vertex = g_new (guint, n + 1);
  for (guint i = 0; i < n; i++)
    self->of_vertex[i] = FAB_TOPO_NOWHERE;
  if (is_whole)
    return self;
  find_hubs (topology, self);
  find_units (topology, self);
  self->n = count_alike (topology, self);
  return self;
}

void
fab_topo_units_free (FabTopoUnits *self)
{
  if (self == NULL)
    return;
  g_free (self->of_vertex);
  g_free (self);
}

gboolean
fab_topo_is_drawn (const FabTopoUnits *self, FabVertexId vertex)
{
  return self->n == 1 || self->of_vertex[vertex] == 0 || self->of_vertex[vertex] == FAB_TOPO_HUB;
}
