/* SPDX-License-Identifier: Apache-2.0 */
/* bill_network.c - counts the NICs, switches, cables and transceivers of the fabric in the graph. */
#include <math.h>

#include "sim/scenario/bill_private.h"
#include "sim/scenario/switch_count.h"

/* Links of the fabric that are the same. */
typedef struct {
  FabLinkId first; /* one of them */
  guint n_nics;    /* number of ends that are NICs */
  guint64 n;
} LinkKind;

typedef struct {
  FabBillCount *count;
  const FabGraph *graph;
  const gboolean *is_switch; /* per vertex: whether it is a switch of the fabric */
  const double *fill;        /* per vertex: share of a leaf's uplinks that its NICs can fill; 1 for others */
  GArray *kinds;             /* LinkKind */
} Network;

/* Switches with the same links to the same neighbours. */
typedef struct {
  const FabGraph *graph;
  FabVertexId id; /* one of them */
  guint n;
} Alike;

static FabNeed
need_of_link (const Network *self, FabProductKind kind, FabLinkId id)
{
  const FabLink *link = fab_graph_link (self->graph, id);
  const FabLinkClass *link_class = fab_graph_link_class (self->graph, id);

  return (FabNeed){ .kind = kind,
                    .name = link_class->name,
                    .technology = link_class->technology->name,
                    .rate_bytes_per_s = link->rate_bytes_per_s / link->count };
}

static void
add_cables (Network *self, const FabNeed *need, guint64 count)
{
  const FabProductSpec *cable = fab_product_find (self->count->catalog, need);
  FabNeed optic = { FAB_PRODUCT_OPTIC, need->name, need->technology, need->rate_bytes_per_s, 0 };

  fab_bill_add (self->count, need, cable, count);
  if (cable != NULL && cable->n_optics > 0)
    fab_bill_add_found (self->count, &optic, count * (guint64) cable->n_optics);
}

/* Whether a vertex lies outside all machines and has only NICs and switches as neighbours: a rack's own switches are
 * not part of the fabric. */
static gboolean
is_fabric_switch (const FabGraph *graph, FabVertexId id)
{
  FabLinkId first;
  guint n = fab_graph_out_links (graph, id, &first);

  if (fab_graph_vertex (graph, id)->kind != FAB_VERTEX_SWITCH
      || fab_graph_vertex (graph, id)->node != FAB_NO_NODE)
    return FALSE;
  for (FabLinkId link = first; link < first + n; link++) {
    const FabVertex *other = fab_graph_vertex (graph, fab_graph_link (graph, link)->dst);

    if (other->kind != FAB_VERTEX_NIC && (other->kind != FAB_VERTEX_SWITCH || other->node != FAB_NO_NODE))
      return FALSE;
  }
  return TRUE;
}

/* Whether a link leads from a machine to the fabric or to another machine, or lies within the fabric. */
static gboolean
is_fabric_link (const Network *self, const FabLink *link)
{
  const FabVertex *src = fab_graph_vertex (self->graph, link->src),
                  *dst = fab_graph_vertex (self->graph, link->dst);

  if (src->kind == FAB_VERTEX_NIC && dst->kind == FAB_VERTEX_NIC)
    return src->node != dst->node;
  return (src->kind == FAB_VERTEX_NIC || self->is_switch[link->src])
      && (dst->kind == FAB_VERTEX_NIC || self->is_switch[link->dst]);
}

/* Returns the parallel links that count: uplinks that nothing below can fill are not bought. */
static guint
links_of (const Network *self, const FabLink *link)
{
  const double rounding = 1e-9;

  return (guint) ceil (link->count * MIN (self->fill[link->src], self->fill[link->dst]) * (1 - rounding));
}

static void
tally_link (Network *self, FabLinkId id)
{
  const FabLink *link = fab_graph_link (self->graph, id);
  guint n_nics = (fab_graph_vertex (self->graph, link->src)->kind == FAB_VERTEX_NIC)
               + (fab_graph_vertex (self->graph, link->dst)->kind == FAB_VERTEX_NIC);

  for (guint i = 0; i < self->kinds->len; i++) {
    LinkKind *kind = &g_array_index (self->kinds, LinkKind, i);
    const FabLink *first = fab_graph_link (self->graph, kind->first);

    if (kind->n_nics == n_nics && first->class_index == link->class_index
        && first->rate_bytes_per_s / first->count == link->rate_bytes_per_s / link->count) {
      kind->n += links_of (self, link);
      return;
    }
  }
  g_array_append_val (self->kinds, ((LinkKind){ id, n_nics, links_of (self, link) }));
}

static void
tally_links (Network *self)
{
  for (FabLinkId id = 0; id < fab_graph_n_links (self->graph); id++) {
    const FabLink *link = fab_graph_link (self->graph, id);

    if (id < link->reverse && is_fabric_link (self, link))
      tally_link (self, id);
  }
}

/* `has_uplinks` FALSE: only the links of NICs. */
static void
add_links (Network *self, gboolean has_uplinks)
{
  for (guint i = 0; i < self->kinds->len; i++) {
    const LinkKind *kind = &g_array_index (self->kinds, LinkKind, i);
    FabNeed nic = need_of_link (self, FAB_PRODUCT_NIC, kind->first);
    FabNeed cable = need_of_link (self, FAB_PRODUCT_CABLE, kind->first);

    if (kind->n_nics == 0 && !has_uplinks)
      continue;
    cable.length_mm = kind->n_nics > 0 ? self->count->cost->nic_cable_mm : self->count->cost->switch_cable_mm;
    fab_bill_add_found (self->count, &nic, kind->n_nics * kind->n);
    add_cables (self, &cable, kind->n);
  }
}

static guint
links_per_port (const Network *self, const FabProductSpec *product, const FabLink *link)
{
  const double rounding = 1e-6;
  double port = (double) fab_link_spec_line_rate (fab_catalog_link (self->count->catalog, product->link));
  double fit = port / ((double) link->rate_bytes_per_s / link->count) * (1 + rounding);

  return MAX (1, (guint) MIN (fit, (double) product->links_per_port));
}

/* Groups the neighbours with equal links; `n_alike` vertices have the same groups. */
static GArray *
group_ports (const Network *self, const Alike *alike, const FabProductSpec *product, gboolean *can_deal)
{
  GArray *groups = g_array_new (FALSE, FALSE, sizeof (FabPortGroup));
  FabLinkId first;
  guint n = fab_graph_out_links (self->graph, alike->id, &first);

  *can_deal = TRUE;
  for (guint i = 0; i < n; i++) {
    const FabLink *link = fab_graph_link (self->graph, first + i);
    FabPortGroup group = { 1, links_of (self, link) * alike->n, links_per_port (self, product, link) };
    guint g = 0;

    *can_deal &= self->is_switch[link->dst];
    while (g < groups->len
           && (g_array_index (groups, FabPortGroup, g).n_links != group.n_links
               || g_array_index (groups, FabPortGroup, g).links_per_port != group.links_per_port))
      g++;
    if (g < groups->len)
      g_array_index (groups, FabPortGroup, g).n++;
    else
      g_array_append_val (groups, group);
  }
  return groups;
}

/* Returns the fastest link of a switch, which decides the kind of its ports. */
static FabLinkId
fastest_link (const FabGraph *graph, FabVertexId id)
{
  FabLinkId first, best = FAB_NO_LINK;
  guint n = fab_graph_out_links (graph, id, &first);

  for (guint i = 0; i < n; i++) {
    const FabLink *link = fab_graph_link (graph, first + i);
    const FabLink *other = best != FAB_NO_LINK ? fab_graph_link (graph, best) : NULL;

    if (other == NULL || link->rate_bytes_per_s / link->count > other->rate_bytes_per_s / other->count)
      best = first + i;
  }
  return best;
}

static void
add_switches (Network *self, const Alike *alike)
{
  FabLinkId fastest = fastest_link (self->graph, alike->id);

  if (fastest == FAB_NO_LINK)
    return;
  FabNeed need = need_of_link (self, FAB_PRODUCT_SWITCH, fastest);
  FabNeed cable = need_of_link (self, FAB_PRODUCT_CABLE, fastest);
  const FabProductSpec *product = fab_product_find (self->count->catalog, &need);
  FabSwitchCount count = { alike->n, 0 };
  gboolean can_deal;

  if (product != NULL) {
    g_autoptr (GArray) groups = group_ports (self, alike, product, &can_deal);

    count = fab_switch_count ((const FabPortGroup *) (gpointer) groups->data, groups->len, can_deal,
                              (guint) product->n_ports);
  }
  cable.length_mm = self->count->cost->switch_cable_mm;
  fab_bill_add (self->count, &need, product, count.n_switches);
  if (count.n_cables > 0)
    add_cables (self, &cable, count.n_cables);
  self->count->bill->n_switches += count.n_switches;
}

/* --- identical switches --- */

static guint
alike_hash (gconstpointer key)
{
  const Alike *alike = key;
  FabLinkId first;
  guint n = fab_graph_out_links (alike->graph, alike->id, &first), hash = n;

  for (FabLinkId link = first; link < first + n; link++)
    hash = hash * 31 + fab_graph_link (alike->graph, link)->dst;
  return hash;
}

static gboolean
alike_equal (gconstpointer a, gconstpointer b)
{
  const FabGraph *graph = ((const Alike *) a)->graph;
  FabLinkId first_a, first_b;
  guint n = fab_graph_out_links (graph, ((const Alike *) a)->id, &first_a);

  if (n != fab_graph_out_links (graph, ((const Alike *) b)->id, &first_b))
    return FALSE;
  for (guint i = 0; i < n; i++) {
    const FabLink *x = fab_graph_link (graph, first_a + i), *y = fab_graph_link (graph, first_b + i);

    if (x->dst != y->dst || x->count != y->count || x->rate_bytes_per_s != y->rate_bytes_per_s
        || x->class_index != y->class_index)
      return FALSE;
  }
  return TRUE;
}

static gboolean
has_nics (const Network *self, FabVertexId id)
{
  FabLinkId first;
  guint n = fab_graph_out_links (self->graph, id, &first);

  for (FabLinkId link = first; link < first + n; link++)
    if (!self->is_switch[fab_graph_link (self->graph, link)->dst])
      return TRUE;
  return FALSE;
}

/* Spines with the same neighbours may be one product that ends all links of a leaf to them. A switch with NICs is
 * counted on its own. */
static void
add_all_switches (Network *self)
{
  g_autoptr (GPtrArray) all = g_ptr_array_new_with_free_func (g_free);
  g_autoptr (GHashTable) known = g_hash_table_new (alike_hash, alike_equal);

  for (FabVertexId id = 0; id < fab_graph_n_vertices (self->graph); id++) {
    Alike *alike = self->is_switch[id] ? g_new (Alike, 1) : NULL, *other = NULL;

    if (alike == NULL)
      continue;
    *alike = (Alike){ self->graph, id, 1 };
    g_ptr_array_add (all, alike);
    if (has_nics (self, id))
      continue;
    other = g_hash_table_lookup (known, alike);
    if (other != NULL) {
      other->n++;
      g_ptr_array_set_size (all, (gint) all->len - 1);
    } else {
      g_hash_table_add (known, alike);
    }
  }
  for (guint i = 0; i < all->len; i++)
    add_switches (self, g_ptr_array_index (all, i));
}

/* Uses a single switch when its ports suffice for every NIC that has a place: no fabric does better. */
static gboolean
add_one_switch (Network *self)
{
  const FabClusterSpec *cluster = &fab_scenario_spec (self->count->scenario)->cluster;
  const LinkKind *only = NULL;

  for (guint i = 0; i < self->kinds->len; i++) {
    const LinkKind *kind = &g_array_index (self->kinds, LinkKind, i);

    if (kind->n_nics == 2 || (kind->n_nics == 1 && only != NULL))
      return FALSE;
    only = kind->n_nics == 1 ? kind : only;
  }
  if (only == NULL)
    return FALSE;
  FabNeed need = need_of_link (self, FAB_PRODUCT_SWITCH, only->first);
  const FabProductSpec *product = fab_product_find (self->count->catalog, &need);
  if (product == NULL)
    return FALSE;
  guint per_port = links_per_port (self, product, fab_graph_link (self->graph, only->first));
  guint64 nodes = (guint64) cluster->nodes, places = MAX (nodes, (guint64) cluster->places);
  if (only->n / nodes * places > (guint64) product->n_ports * per_port)
    return FALSE;
  fab_bill_add (self->count, &need, product, 1);
  self->count->bill->n_switches = 1;
  return TRUE;
}

/* When places stay empty on purpose (cluster.places), their uplinks exist. Otherwise a leaf that is not full has as
 * many uplinks as its NICs can fill. */
static double *
fill_of (const Network *self)
{
  const FabClusterSpec *cluster = &fab_scenario_spec (self->count->scenario)->cluster;
  guint n = fab_graph_n_vertices (self->graph);
  double *fill = g_new (double, n);

  for (FabVertexId id = 0; id < n; id++) {
    double down = 0, up = 0;
    FabLinkId first;
    guint n_links = self->is_switch[id] ? fab_graph_out_links (self->graph, id, &first) : 0;

    for (guint i = 0; i < n_links; i++) {
      const FabLink *link = fab_graph_link (self->graph, first + i);

      *(self->is_switch[link->dst] ? &up : &down) += (double) link->rate_bytes_per_s;
    }
    fill[id] = down > 0 && up > down && cluster->places <= cluster->nodes ? down / up : 1;
  }
  return fill;
}

void
fab_bill_add_network (FabBillCount *count)
{
  guint n = fab_graph_n_vertices (count->graph);
  g_autofree gboolean *is_switch = g_new (gboolean, n);
  g_autoptr (GArray) kinds = g_array_new (FALSE, FALSE, sizeof (LinkKind));
  Network self = { count, count->graph, is_switch, NULL, kinds };

  for (FabVertexId id = 0; id < n; id++)
    is_switch[id] = is_fabric_switch (count->graph, id);
  g_autofree double *fill = fill_of (&self);
  self.fill = fill;
  tally_links (&self);
  gboolean is_one = add_one_switch (&self);
  if (!is_one)
    add_all_switches (&self);
  add_links (&self, !is_one);
}
