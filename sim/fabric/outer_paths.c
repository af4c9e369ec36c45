/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/fabric/outer_paths.h"

#include <string.h>

#include "sim/base/mix.h"

/* Everything on which a search between two NICs depends. */
typedef struct {
  FabBytesPerS out_rate, in_rate; /* rates of the two ports */
  FabVertexId from, to;           /* the vertices to which the ports lead */
  FabVertexId src, dst;           /* the same NICs in the representative node */
  FabLinkId first, last;          /* not part of the key */
} Ends;

/* The only port of a NIC, and the NIC that represents it. */
typedef struct {
  FabVertexId model_1; /* 1 + representative NIC; 0: not examined yet */
  FabLinkId port; /* FAB_NO_LINK: the NIC has no port or several, or its node is not symmetric to any other */
} Port;

struct _FabOuterPaths {
  const FabGraph *graph;
  FabInnerPaths *inner;
  Port *ports; /* [n_vertices] */
  /* from Ends to 1 + index in `links` of the path between the ports, which starts with its length */
  GHashTable *places;
  GArray *links; /* FabLinkId */
};

static guint
ends_hash (gconstpointer key)
{
  const Ends *ends = key;
  guint64 mixed = fab_mix (fab_mix (ends->from, ends->to), (guint64) ends->src << 32 | ends->dst);

  return (guint) (mixed ^ ends->out_rate ^ ends->in_rate);
}

static gboolean
ends_equal (gconstpointer a, gconstpointer b)
{
  const Ends *x = a, *y = b;

  return x->from == y->from && x->to == y->to && x->src == y->src && x->dst == y->dst
      && x->out_rate == y->out_rate && x->in_rate == y->in_rate;
}

FabOuterPaths *
fab_outer_paths_new (const FabGraph *graph, FabInnerPaths *inner)
{
  FabOuterPaths *self;

  if (inner == NULL)
    return NULL;
  self = g_new0 (FabOuterPaths, 1);
  self->graph = graph;
  self->inner = inner;
  self->ports = g_new0 (Port, fab_graph_n_vertices (graph) + 1);
  self->places = g_hash_table_new_full (ends_hash, ends_equal, g_free, NULL);
  self->links = g_array_new (FALSE, FALSE, sizeof (FabLinkId));
  return self;
}

void
fab_outer_paths_free (FabOuterPaths *self)
{
  if (self == NULL)
    return;
  g_free (self->ports);
  g_hash_table_unref (self->places);
  g_array_unref (self->links);
  g_free (self);
}

static Port
look_at (const FabOuterPaths *self, FabVertexId nic)
{
  FabVertexId model = nic, same = nic;
  FabLinkId first, port = FAB_NO_LINK;
  guint n = fab_graph_out_links (self->graph, nic, &first), n_ports = 0;

  if (fab_graph_vertex (self->graph, nic)->kind != FAB_VERTEX_NIC
      || !fab_inner_paths_model (self->inner, &model, &same))
    return (Port){ nic + 1, FAB_NO_LINK };
  for (FabLinkId link = first; link < first + n; link++)
    if (fab_graph_vertex (self->graph, fab_graph_link (self->graph, link)->dst)->node == FAB_NO_NODE) {
      port = link;
      n_ports++;
    }
  return (Port){ model + 1, n_ports == 1 ? port : FAB_NO_LINK };
}

static gboolean
find_port (const FabOuterPaths *self, FabVertexId nic, FabLinkId *port, FabVertexId *model)
{
  Port *known = &self->ports[nic];

  if (known->model_1 == 0)
    *known = look_at (self, nic);
  *port = known->port;
  *model = known->model_1 - 1;
  return known->port != FAB_NO_LINK;
}

static gboolean
find_ends (const FabOuterPaths *self, FabVertexId src, FabVertexId dst, Ends *ends)
{
  FabLinkId out_port, in_port;

  memset (ends, 0, sizeof *ends);
  if (fab_graph_vertex (self->graph, src)->node == fab_graph_vertex (self->graph, dst)->node
      || !find_port (self, src, &out_port, &ends->src) || !find_port (self, dst, &in_port, &ends->dst))
    return FALSE;
  const FabLink *out = fab_graph_link (self->graph, out_port), *in = fab_graph_link (self->graph, in_port);
  ends->from = out->dst;
  ends->to = in->dst;
  ends->first = out_port;
  ends->last = in->reverse;
  ends->out_rate = out->rate_bytes_per_s;
  ends->in_rate = fab_graph_link (self->graph, in->reverse)->rate_bytes_per_s;
  return TRUE;
}

gboolean
fab_outer_paths_append (FabOuterPaths *self, FabVertexId src, FabVertexId dst, FabPath *path)
{
  Ends ends;

  if (self == NULL || !find_ends (self, src, dst, &ends))
    return FALSE;
  guint at = GPOINTER_TO_UINT (g_hash_table_lookup (self->places, &ends));
  if (at == 0)
    return FALSE;
  const FabLinkId *links = &g_array_index (self->links, FabLinkId, at);
  if (path->n + links[-1] + 2 > FAB_PATH_MAX_LINKS)
    return FALSE;
  path->links[path->n++] = ends.first;
  memcpy (path->links + path->n, links, links[-1] * sizeof (FabLinkId));
  path->n += links[-1];
  path->links[path->n++] = ends.last;
  return TRUE;
}

void
fab_outer_paths_keep (FabOuterPaths *self, FabVertexId src, FabVertexId dst, const FabPath *path)
{
  Ends ends;

  if (self == NULL || path->n < 2 || !find_ends (self, src, dst, &ends))
    return;
  if (path->links[0] != ends.first || path->links[path->n - 1] != ends.last)
    return;
  guint n = path->n - 2;
  g_array_append_val (self->links, n);
  g_hash_table_insert (self->places, g_memdup2 (&ends, sizeof ends), GUINT_TO_POINTER (self->links->len));
  g_array_append_vals (self->links, path->links + 1, n);
}
