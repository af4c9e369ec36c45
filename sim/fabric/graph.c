/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/fabric/graph.h"

#include <math.h>

#include "sim/base/large_pages.h"

typedef struct {
  char *name;
  gboolean has_members;
} Part;

/* Two vertices that are joined by a link in each direction. */
typedef struct {
  FabVertexId a, b;
  guint form; /* index into the builder's */
} Joint;

struct _FabGraphBuilder {
  GArray *vertices;
  GArray *parts;
  GArray *classes;
  GArray *forms;  /* FabLink without ends; few, for what repeats */
  GArray *joints; /* Joint */
  FabLattice lattice;
};

static void
part_clear (gpointer part)
{
  g_free (((Part *) part)->name);
}

static void
builder_reset (FabGraphBuilder *self)
{
  self->vertices = g_array_new (FALSE, FALSE, sizeof (FabVertex));
  self->parts = g_array_new (FALSE, FALSE, sizeof (Part));
  g_array_set_clear_func (self->parts, part_clear);
  self->classes = g_array_new (FALSE, FALSE, sizeof (FabLinkClass));
  self->forms = g_array_new (FALSE, FALSE, sizeof (FabLink));
  self->joints = g_array_new (FALSE, FALSE, sizeof (Joint));
  self->lattice = (FabLattice){ 0 };
}

FabGraphBuilder *
fab_graph_builder_new (void)
{
  FabGraphBuilder *self = g_new0 (FabGraphBuilder, 1);

  builder_reset (self);
  return self;
}

void
fab_graph_builder_free (FabGraphBuilder *self)
{
  if (self == NULL)
    return;
  g_array_unref (self->vertices);
  g_array_unref (self->parts);
  g_array_unref (self->classes);
  g_array_unref (self->forms);
  g_array_unref (self->joints);
  g_free (self);
}

guint
fab_graph_builder_part (FabGraphBuilder *self, const char *part, gboolean has_members)
{
  for (guint i = 0; i < self->parts->len; i++) {
    const Part *known = &g_array_index (self->parts, Part, i);

    if (g_str_equal (known->name, part) && known->has_members == has_members)
      return i;
  }
  Part added = { g_strdup (part), has_members };
  g_array_append_val (self->parts, added);
  return self->parts->len - 1;
}

FabVertexId
fab_graph_builder_vertex (FabGraphBuilder *self, FabVertexKind kind, guint32 node, guint part, guint32 member)
{
  FabVertex vertex = { kind, node, part, member };

  g_assert (part < self->parts->len);
  g_array_append_val (self->vertices, vertex);
  return self->vertices->len - 1;
}

guint
fab_graph_builder_class (FabGraphBuilder *self, const FabLinkClass *link_class)
{
  for (guint i = 0; i < self->classes->len; i++)
    if (g_str_equal (g_array_index (self->classes, FabLinkClass, i).name, link_class->name))
      return i;
  FabLinkClass added = *link_class;
  if (added.technology == NULL)
    added.technology = &fab_technology_unnamed;
  g_array_append_val (self->classes, added);
  return self->classes->len - 1;
}

char *
fab_link_class_label (const FabLinkClass *self)
{
  double Gbps = 8e-9 * (double) self->set_bytes_per_s;

  return self->set_bytes_per_s == 0 ? g_strdup (self->name)
       : Gbps < 1                   ? g_strdup_printf ("%s at %.4g Mb/s", self->name, 1000 * Gbps)
                                    : g_strdup_printf ("%s at %.4g Gb/s", self->name, Gbps);
}

static gboolean
is_same_form (const FabLink *a, const FabLink *b)
{
  return a->rate_bytes_per_s == b->rate_bytes_per_s && a->latency_ps == b->latency_ps && a->count == b->count
      && a->class_index == b->class_index && a->joins_groups == b->joins_groups;
}

/* Of the latest forms, since joints follow others like them; a form that is there twice does no harm. */
static guint
take_form (FabGraphBuilder *self, const FabLink *form)
{
  const guint n_looked_at = 16;
  guint n = self->forms->len;

  for (guint i = n; i-- > 0 && i + n_looked_at >= n;)
    if (is_same_form (&g_array_index (self->forms, FabLink, i), form))
      return i;
  g_array_append_val (self->forms, *form);
  return n;
}

static void
join (FabGraphBuilder *self, FabVertexId a, FabVertexId b, const FabLinkForm *form, gboolean joins_groups)
{
  FabLink link = {
    .rate_bytes_per_s = form->rate_bytes_per_s * form->count,
    .latency_ps = form->latency_ps,
    .class_index = form->class_index & (FAB_LINK_CLASS_END - 1),
    .count = form->count & (FAB_LINK_COUNT_END - 1),
    .joins_groups = joins_groups ? 1 : 0,
  };
  Joint joint = { a, b, take_form (self, &link) };

  g_assert (a != b && a < self->vertices->len && b < self->vertices->len);
  g_assert (form->count > 0 && form->count < FAB_LINK_COUNT_END);
  g_assert (form->class_index < MIN (self->classes->len, FAB_LINK_CLASS_END));
  g_array_append_val (self->joints, joint);
}

void
fab_graph_builder_join (FabGraphBuilder *self, FabVertexId a, FabVertexId b, const FabLinkForm *form)
{
  join (self, a, b, form, FALSE);
}

void
fab_graph_builder_join_groups (FabGraphBuilder *self, FabVertexId a, FabVertexId b, const FabLinkForm *form)
{
  join (self, a, b, form, TRUE);
}

void
fab_graph_builder_lattice (FabGraphBuilder *self, const FabLattice *lattice)
{
  self->lattice = *lattice;
}

/* A counting sort by source. It keeps the order of joining within a vertex. */
static void
sort_links (FabGraph *graph, const GArray *joints, const GArray *forms)
{
  guint n_vertices = graph->vertices->len;
  g_autofree FabLinkId *next = g_new (FabLinkId, n_vertices + 1);

  graph->n_links = 2 * joints->len;
  graph->links = fab_large_pages_alloc ((graph->n_links + 1) * sizeof (FabLink));
  graph->starts = g_new0 (FabLinkId, n_vertices + 1);
  for (guint i = 0; i < joints->len; i++) {
    graph->starts[g_array_index (joints, Joint, i).a + 1]++;
    graph->starts[g_array_index (joints, Joint, i).b + 1]++;
  }
  for (guint v = 0; v < n_vertices; v++)
    graph->starts[v + 1] += graph->starts[v];
  for (guint v = 0; v < n_vertices; v++)
    next[v] = graph->starts[v];
  for (guint i = 0; i < joints->len; i++) {
    const Joint *joint = &g_array_index (joints, Joint, i);
    FabLinkId there = next[joint->a]++, back = next[joint->b]++;

    graph->links[there] = graph->links[back] = g_array_index (forms, FabLink, joint->form);
    graph->links[there].src = graph->links[back].dst = joint->a;
    graph->links[there].dst = graph->links[back].src = joint->b;
    graph->links[there].reverse = back;
    graph->links[back].reverse = there;
  }
}

FabGraph *
fab_graph_builder_freeze (FabGraphBuilder *self)
{
  FabGraph *graph = g_new0 (FabGraph, 1);
  g_autoptr (GArray) joints = self->joints, forms = self->forms;

  graph->vertices = self->vertices;
  graph->parts = self->parts;
  graph->classes = self->classes;
  graph->lattice = self->lattice;
  sort_links (graph, joints, forms);
  builder_reset (self);
  return graph;
}

void
fab_graph_free (FabGraph *self)
{
  if (self == NULL)
    return;
  g_array_unref (self->vertices);
  g_array_unref (self->parts);
  g_array_unref (self->classes);
  fab_large_pages_free (self->links);
  g_free (self->starts);
  g_free (self);
}

const FabLattice *
fab_graph_lattice (const FabGraph *self)
{
  return self->lattice.sizes[0] > 0 ? &self->lattice : NULL;
}

gboolean
fab_graph_has_nic (const FabGraph *self, FabVertexId vertex)
{
  FabLinkId first;
  guint n = fab_graph_out_links (self, vertex, &first);

  for (FabLinkId link = first; link < first + n; link++)
    if (fab_graph_vertex (self, fab_graph_link (self, link)->dst)->kind == FAB_VERTEX_NIC)
      return TRUE;
  return FALSE;
}

char *
fab_graph_vertex_name (const FabGraph *self, FabVertexId id)
{
  const FabVertex *vertex = fab_graph_vertex (self, id);
  const Part *part = &g_array_index (self->parts, Part, vertex->part);
  g_autofree char *member = part->has_members ? g_strdup_printf ("%u", vertex->member) : g_strdup ("");

  if (vertex->node == FAB_NO_NODE)
    return g_strconcat (part->name, member, NULL);
  return g_strdup_printf ("node%u/%s%s", vertex->node, part->name, member);
}

const char *
fab_graph_vertex_part (const FabGraph *self, FabVertexId id)
{
  return g_array_index (self->parts, Part, fab_graph_vertex (self, id)->part).name;
}

gboolean
fab_graph_is_connected (const FabGraph *self, FabVertexId *lost)
{
  guint n_vertices = self->vertices->len;
  g_autofree guint8 *is_seen = g_new0 (guint8, n_vertices + 1);
  g_autofree FabVertexId *queue = g_new (FabVertexId, n_vertices + 1);
  guint head = 0, tail = 0;

  if (n_vertices > 0)
    is_seen[queue[tail++] = 0] = TRUE;
  while (head < tail) {
    FabVertexId vertex = queue[head++];

    for (FabLinkId link = self->starts[vertex]; link < self->starts[vertex + 1]; link++) {
      FabVertexId next = self->links[link].dst;

      if (!is_seen[next])
        queue[tail++] = next;
      is_seen[next] = TRUE;
    }
  }
  for (*lost = 0; *lost < n_vertices && is_seen[*lost];)
    ++*lost;
  return tail == n_vertices;
}

static void
link_change (FabLink *link, const FabLinkChange *change)
{
  FabBytesPerS rate = (FabBytesPerS) ((double) link->rate_bytes_per_s * change->rate_fraction + 0.5);

  link->rate_bytes_per_s = MAX (rate, 1);
  link->latency_ps = fab_ps_add (link->latency_ps, change->added_ps);
}

void
fab_graph_change (FabGraph *self, const FabLinkChange *changes)
{
  g_autofree FabLinkId *new_id = g_new (FabLinkId, self->n_links + 1);
  guint n = 0;

  for (FabLinkId id = 0; id < self->n_links; id++) {
    g_assert ((changes[id].rate_fraction > 0) == (changes[self->links[id].reverse].rate_fraction > 0));
    new_id[id] = changes[id].rate_fraction > 0 ? n++ : FAB_NO_LINK;
  }
  new_id[self->n_links] = n;
  for (FabVertexId v = 0; v <= self->vertices->len; v++) {
    FabLinkId first = self->starts[v];

    while (new_id[first] == FAB_NO_LINK)
      first++;
    self->starts[v] = new_id[first];
  }
  for (FabLinkId id = 0; id < self->n_links; id++)
    if (new_id[id] != FAB_NO_LINK) {
      FabLink link = self->links[id];

      link_change (&link, &changes[id]);
      link.reverse = new_id[link.reverse];
      self->links[new_id[id]] = link;
    }
  self->n_links = n;
}

void
fab_graph_unfold (FabGraph *self)
{
  self->is_unfolded = TRUE;
}

gboolean
fab_graph_is_unfolded (const FabGraph *self)
{
  return self->is_unfolded;
}

void
fab_graph_check (const FabGraph *self)
{
  FabVertexId lost;

  for (guint i = 0; i < self->n_links; i++) {
    const FabLink *link = &self->links[i];
    const FabLink *reverse = &self->links[link->reverse];
    const FabLinkClass *link_class = fab_graph_link_class (self, i);

    g_assert_true (link->reverse != i && reverse->reverse == i);
    g_assert_true (link->src == reverse->dst && link->dst == reverse->src);
    g_assert_true (link->src != link->dst && link->rate_bytes_per_s > 0 && link->count > 0);
    g_assert_true (link->latency_ps >= 0);
    for (guint drive = 0; drive < FAB_N_DRIVES; drive++)
      g_assert_true (link_class->cost[drive] >= 1);
  }
  gboolean is_connected = fab_graph_is_connected (self, &lost);
  g_assert_true (is_connected);
}

/* Rows of a way go from small to large, and only the last one may have no end. */
static const FabMessageRegime *
find_regime (const FabMessages *messages, FabMessageWay way, double bytes)
{
  const FabMessageRegime *found = NULL;

  for (guint i = 0; i < messages->n; i++) {
    const FabMessageRegime *regime = &messages->regimes[i];

    if (regime->way != (int) way)
      continue;
    found = regime;
    if (bytes <= (double) regime->up_to_bytes)
      break;
  }
  return found;
}

FabTimePs
fab_message_ps (const FabMessages *messages, FabMessageWay way, double bytes)
{
  return fab_message_among_ps (messages, way, bytes, bytes);
}

FabTimePs
fab_message_among_ps (const FabMessages *messages, FabMessageWay way, double bytes, double port_bytes)
{
  const FabMessageRegime *regime = find_regime (messages, way, bytes);

  if (regime == NULL)
    regime = find_regime (messages, FAB_WAY_ONE, bytes);
  g_assert (regime != NULL);
  double ps = messages->factor
            * ((double) regime->overhead_ps
               + port_bytes / ((double) regime->rate_bytes_per_s * (1 + messages->rate_change))
                     * (double) FAB_PS_PER_S);
  /* Round up, except for errors of rounding in the computation itself. */
  return ps >= (double) FAB_TIME_MAX ? FAB_TIME_MAX : (FabTimePs) ceil (ps - MIN (ps * 0x1p-51, 0.5));
}
