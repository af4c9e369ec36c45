/* SPDX-License-Identifier: Apache-2.0 */
#include "answer/topology/fabric.h"

#include <string.h>

#include "answer/topology/names.h"
#include "sim/base/units.h"

static FabTopoRow *
row_at (const FabTopoFabric *self, guint i)
{
  return &g_array_index (self->rows, FabTopoRow, i);
}

static FabVertexId
vertex_of (const FabTopoRow *row, guint member, guint k)
{
  return g_array_index (row->vertices, FabVertexId, member * row->n_each + k);
}

static void
clear_row (gpointer data)
{
  FabTopoRow *row = data;

  g_free (row->name);
  g_free (row->inside);
  g_free (row->across);
  g_array_unref (row->vertices);
}

static void
clear_join (gpointer data)
{
  g_free (((FabTopoJoin *) data)->text);
}

/* "1 leaf", "8 leaves", "2 switches", "3 spines"; a name that ends otherwise is left as it is. (transfer full) */
static char *
counted (guint n, const char *name)
{
  if (n == 1 || !g_ascii_isalpha (name[strlen (name) - 1]))
    return g_strdup_printf ("%u %s%s", n, n == 1 ? "" : "x ", name);
  if (g_str_has_suffix (name, "leaf"))
    return g_strdup_printf ("%u %.*sves", n, (int) strlen (name) - 1, name);
  return g_strdup_printf ("%u %s%s", n, name, g_str_has_suffix (name, "ch") ? "es" : "s");
}

/* --- rows --- */

/* Distance of every vertex of the fabric to the nearest NIC; G_MAXUINT elsewhere. (transfer full) */
static guint *
levels_of (const FabCluster *cluster)
{
  const FabGraph *graph = cluster->graph;
  guint *levels = g_new (guint, fab_graph_n_vertices (graph) + 1);
  g_autoptr (GArray) queue = g_array_new (FALSE, FALSE, sizeof (FabVertexId));

  for (guint i = 0; i < fab_graph_n_vertices (graph); i++)
    levels[i] = G_MAXUINT;
  for (guint i = 0; i < cluster->n_nodes * cluster->nics_per_node; i++) {
    levels[cluster->nics[i]] = 0;
    g_array_append_val (queue, cluster->nics[i]);
  }
  for (guint i = 0; i < queue->len; i++) {
    FabVertexId at = g_array_index (queue, FabVertexId, i);
    FabLinkId first;
    guint n = fab_graph_out_links (graph, at, &first);

    for (FabLinkId id = first; id < first + n; id++) {
      FabVertexId next = fab_graph_link (graph, id)->dst;

      if (levels[next] != G_MAXUINT || fab_graph_vertex (graph, next)->node != FAB_NO_NODE)
        continue;
      levels[next] = levels[at] + 1;
      g_array_append_val (queue, next);
    }
  }
  return levels;
}

static int
compare_levels (gconstpointer a, gconstpointer b)
{
  guint one = ((const FabTopoRow *) a)->level, other = ((const FabTopoRow *) b)->level;

  return one < other ? 1 : one > other ? -1 : 0;
}

/* A row for each part of switches, and one of nodes. Where `by_level`, switches of one name that are not as far from
 * the nodes stand in rows of their own. */
static void
add_rows (FabTopoFabric *self, const guint *levels, gboolean by_level)
{
  const FabCluster *cluster = self->cluster;
  FabTopoRow nodes = { .name = g_strdup ("node"),
                       .vertices = g_array_new (FALSE, FALSE, sizeof (FabVertexId)),
                       .n = cluster->n_nodes,
                       .n_each = cluster->nics_per_node };

  for (FabVertexId id = 0; id < fab_graph_n_vertices (cluster->graph); id++) {
    const FabVertex *vertex = fab_graph_vertex (cluster->graph, id);
    FabTopoRow *row = NULL;

    if (vertex->node != FAB_NO_NODE || levels[id] == G_MAXUINT || fab_topology_is_shared (cluster->graph, id))
      continue;
    g_autofree char *name = fab_graph_vertex_name (cluster->graph, id);
    g_autofree char *part = fab_topo_part (name);
    for (guint i = 0; i < self->rows->len; i++)
      if ((!by_level || row_at (self, i)->level == levels[id]) && strcmp (row_at (self, i)->name, part) == 0)
        row = row_at (self, i);
    if (row == NULL) {
      FabTopoRow fresh = { .name = g_steal_pointer (&part),
                           .vertices = g_array_new (FALSE, FALSE, sizeof (FabVertexId)),
                           .n_each = 1,
                           .level = levels[id] };

      g_array_append_val (self->rows, fresh);
      row = row_at (self, self->rows->len - 1);
    }
    g_array_append_val (row->vertices, id);
    row->n++;
  }
  g_array_append_vals (nodes.vertices, cluster->nics, cluster->n_nodes * cluster->nics_per_node);
  g_array_append_val (self->rows, nodes);
  g_array_sort (self->rows, compare_levels);
}

static FabLinkId
link_of (const FabGraph *graph, FabVertexId from, FabVertexId to)
{
  FabLinkId first;
  guint n = fab_graph_out_links (graph, from, &first);

  for (FabLinkId id = first; id < first + n; id++)
    if (fab_graph_link (graph, id)->dst == to)
      return id;
  return FAB_NO_LINK;
}

/* --- routers --- */

/* Routers of a group are all joined to one another, and their numbers follow. */
static void
fold_groups (FabTopoFabric *self)
{
  const FabGraph *graph = self->cluster->graph;
  FabTopoRow *row = row_at (self, 0);
  guint size = 1;
  gboolean is_joined = row->n > 1;

  while (is_joined && size < row->n) {
    for (guint i = 0; i < size && is_joined; i++)
      is_joined = link_of (graph, vertex_of (row, i, 0), vertex_of (row, size, 0)) != FAB_NO_LINK;
    size += is_joined;
  }
  if (size < 2 || row->n % size != 0)
    return;
  g_autofree char *link = fab_topo_link_text (graph,
                                              link_of (graph, vertex_of (row, 0, 0), vertex_of (row, 1, 0)));
  row->inside = g_strdup_printf ("%u routers, each joined to every other: %s", size, link);
  g_free (row->name);
  row->name = g_strdup ("group");
  row->n /= size;
  row->n_each = size;
}

/* Routers from the first one on, `step` apart, that are joined one after the other. */
static guint
run_length (const FabGraph *graph, const FabTopoRow *row, guint step)
{
  guint n = 1;

  while (n * step < row->n
         && link_of (graph, vertex_of (row, (n - 1) * step, 0), vertex_of (row, n * step, 0)) != FAB_NO_LINK)
    n++;
  return n;
}

static void
find_torus (FabTopoFabric *self)
{
  const FabGraph *graph = self->cluster->graph;
  FabTopoRow *row = row_at (self, 0);
  guint x = run_length (graph, row, 1), y = run_length (graph, row, x);

  if (x < 2 || row->n % (x * y) != 0)
    return;
  self->sizes[0] = x;
  self->sizes[1] = y;
  self->sizes[2] = row->n / x / y;
  g_autofree char *link = fab_topo_link_text (graph,
                                              link_of (graph, vertex_of (row, 0, 0), vertex_of (row, 1, 0)));
  row->inside = self->sizes[2] > 1
                  ? g_strdup_printf ("%u x %u x %u, each joined to its neighbours: %s", x, y, self->sizes[2],
                                     link)
                  : g_strdup_printf ("%u x %u, each joined to its neighbours: %s", x, y, link);
}

/* --- ports and joins --- */

/* For every vertex, its row and member. */
typedef struct {
  guint *rows, *members; /* [vertices]; row G_MAXUINT: it is in none */
} Index;

static void
index_rows (const FabTopoFabric *self, Index *index)
{
  guint n = fab_graph_n_vertices (self->cluster->graph);

  index->rows = g_new (guint, n + 1);
  index->members = g_new0 (guint, n + 1);
  for (guint i = 0; i < n; i++)
    index->rows[i] = G_MAXUINT;
  for (guint r = 0; r < self->rows->len; r++)
    for (guint i = 0; i < row_at (self, r)->vertices->len; i++) {
      FabVertexId vertex = g_array_index (row_at (self, r)->vertices, FabVertexId, i);

      index->rows[vertex] = r;
      index->members[vertex] = i / row_at (self, r)->n_each;
    }
}

/* Links of one member to those of a row. */
typedef struct {
  guint n_links, n_ports; /* a link is a bundle of ports */
  guint n_peers;
  double bytes_per_s;
  FabLinkId example;
} Bundle;

static Bundle
bundle_of (const FabTopoFabric *self, const Index *index, guint row, guint member, guint to)
{
  const FabGraph *graph = self->cluster->graph;
  Bundle bundle = { .example = FAB_NO_LINK };
  g_autoptr (GHashTable) peers = g_hash_table_new (NULL, NULL);

  for (guint k = 0; k < row_at (self, row)->n_each; k++) {
    FabLinkId first;
    guint n = fab_graph_out_links (graph, vertex_of (row_at (self, row), member, k), &first);

    for (FabLinkId id = first; id < first + n; id++) {
      const FabLink *link = fab_graph_link (graph, id);

      if (index->rows[link->dst] != to || (to == row && index->members[link->dst] == member))
        continue;
      bundle.n_links++;
      bundle.n_ports += link->count;
      bundle.bytes_per_s += (double) link->rate_bytes_per_s;
      bundle.example = id;
      g_hash_table_add (peers, GUINT_TO_POINTER (index->members[link->dst] + 1));
    }
  }
  bundle.n_peers = g_hash_table_size (peers);
  return bundle;
}

/* "all 4 spines", "one spine", "3 of 4 spines", "2 to 3 of 4 spines". (transfer full) */
static char *
peers_text (const FabTopoRow *to, guint least, guint most)
{
  g_autofree char *all = counted (to->n, to->name);

  if (to->n == 1)
    return g_strdup_printf ("the %s", to->name);
  if (least < most)
    return g_strdup_printf ("%u to %u of %s", least, most, all);
  return most == 1     ? g_strdup_printf ("one %s", to->name)
       : most == to->n ? g_strdup_printf ("all %s", all)
                       : g_strdup_printf ("%u of %s", most, all);
}

/* "to all 4 spines: 2 links of 8 x ib-ndr, 400 GB/s each". (transfer full) */
static char *
bundle_text (const FabTopoFabric *self, const Bundle *bundle, guint upper)
{
  g_autofree char *link = fab_topo_link_text (self->cluster->graph, bundle->example);
  g_autofree char *peers = peers_text (row_at (self, upper), bundle->n_peers, bundle->n_peers);
  guint each = bundle->n_links / MAX (bundle->n_peers, 1);
  g_autofree char *several = each > 1 ? g_strdup_printf ("%u links of ", each) : g_strdup ("");

  return g_strdup_printf ("to %s: %s%s%s", peers, several, link, bundle->n_links > 1 ? " each" : "");
}

/* What members have that are not joined as most bundles are: the fewest and the most. */
typedef struct {
  guint n; /* such members */
  guint peers_least, peers_most, ports_least, ports_most;
} Others;

static void
others_add (Others *self, const Bundle *bundle)
{
  self->peers_least = self->n == 0 ? bundle->n_peers : MIN (self->peers_least, bundle->n_peers);
  self->ports_least = self->n == 0 ? bundle->n_ports : MIN (self->ports_least, bundle->n_ports);
  self->peers_most = MAX (self->peers_most, bundle->n_peers);
  self->ports_most = MAX (self->ports_most, bundle->n_ports);
  self->n++;
}

/* "; 11 others to 7 to 9 of 9 spines by 14 to 17 ports". (transfer full) */
static char *
others_text (const FabTopoFabric *self, const Others *others, guint upper)
{
  if (others->n == 0)
    return g_strdup ("");
  if (others->ports_most == 0)
    return g_strdup_printf ("; %u %s to none", others->n, fab_plural (others->n, "other", "others"));
  g_autofree char *peers = peers_text (row_at (self, upper), others->peers_least, others->peers_most);
  g_autofree char *ports = others->ports_least == others->ports_most
                             ? g_strdup_printf ("%u", others->ports_most)
                             : g_strdup_printf ("%u to %u", others->ports_least, others->ports_most);
  return g_strdup_printf ("; %u %s to %s by %s %s", others->n, fab_plural (others->n, "other", "others"),
                          peers, ports, fab_plural (others->ports_most, "port", "ports"));
}

static gboolean
is_like (const Bundle *one, const Bundle *other)
{
  return one->n_links == other->n_links && one->n_ports == other->n_ports && one->n_peers == other->n_peers;
}

static void
add_join (FabTopoFabric *self, const Index *index, guint upper, guint lower)
{
  Bundle most = { .example = FAB_NO_LINK };
  Others others = { 0 };
  guint n = row_at (self, lower)->n;
  g_autofree Bundle *bundles = g_new (Bundle, n + 1);

  for (guint i = 0; i < n; i++) {
    bundles[i] = bundle_of (self, index, lower, i, upper);
    if (bundles[i].n_ports > most.n_ports)
      most = bundles[i];
  }
  if (most.n_links == 0)
    return;
  for (guint i = 0; i < n; i++)
    if (!is_like (&bundles[i], &most))
      others_add (&others, &bundles[i]);
  g_autofree char *all = counted (n, row_at (self, lower)->name);
  g_autofree char *who = others.n == 0 ? g_strdup_printf ("each %s", row_at (self, lower)->name)
                                       : g_strdup_printf ("%u of %s", n - others.n, all);
  g_autofree char *to = bundle_text (self, &most, upper), *rest = others_text (self, &others, upper);
  FabTopoJoin join = { upper, lower, g_strdup_printf ("%s %s%s", who, to, rest), most.n_peers > 1 };
  g_array_append_val (self->joins, join);
}

static void
count_ports (FabTopoFabric *self, const Index *index, guint r)
{
  FabTopoRow *row = row_at (self, r);

  for (guint member = 0; member < row->n; member++) {
    guint n_down = 0, n_up = 0;
    double down = 0, up = 0;

    for (guint other = 0; other < self->rows->len; other++) {
      Bundle bundle = bundle_of (self, index, r, member, other);

      if (other == r) {
        row->n_across = MAX (row->n_across, bundle.n_ports);
      } else if (other > r) {
        n_down += bundle.n_ports;
        down += bundle.bytes_per_s;
      } else {
        n_up += bundle.n_ports;
        up += bundle.bytes_per_s;
      }
    }
    row->n_down_least = member == 0 ? n_down : MIN (row->n_down_least, n_down);
    row->n_up_least = member == 0 ? n_up : MIN (row->n_up_least, n_up);
    if (n_up > row->n_up && member > 0)
      row->n_up_fewer = row->n_up;
    else if (n_up < row->n_up)
      row->n_up_fewer = MAX (row->n_up_fewer, n_up);
    row->n_with_all_up = n_up > row->n_up ? 1 : row->n_with_all_up + (n_up == row->n_up);
    row->n_down = MAX (row->n_down, n_down);
    row->n_up = MAX (row->n_up, n_up);
    row->oversubscription = n_up > 0 ? MAX (row->oversubscription, down / up) : row->oversubscription;
    row->down_bytes_per_s = MAX (row->down_bytes_per_s, down);
    row->up_bytes_per_s = MAX (row->up_bytes_per_s, up);
  }
}

/* "11 x ib-ndr, 550 GB/s between two of them" */
static void
describe_across (FabTopoFabric *self, const Index *index, guint r)
{
  FabTopoRow *row = row_at (self, r);
  Bundle bundle = row->n > 1 ? bundle_of (self, index, r, 0, r) : (Bundle){ .example = FAB_NO_LINK };

  if (bundle.n_links == 0 || self->sizes[0] > 0)
    return;
  g_autofree char *link = fab_topo_link_text (self->cluster->graph, bundle.example);
  row->across = bundle.n_peers + 1 == row->n
                  ? g_strdup_printf ("between every two of them %.3g links of %s",
                                     (double) bundle.n_links / bundle.n_peers, link)
                  : g_strdup_printf ("each joined to %u %s by %u %s of %s", bundle.n_peers,
                                     fab_plural (bundle.n_peers, "other", "others"), bundle.n_links,
                                     fab_plural (bundle.n_links, "link", "links"), link);
}

/* --- networks and rails --- */

static guint
root_of (guint *parents, guint at)
{
  while (parents[at] != at)
    at = parents[at] = parents[parents[at]];
  return at;
}

static void
count_networks (FabTopoFabric *self, const Index *index)
{
  const FabGraph *graph = self->cluster->graph;
  guint n = fab_graph_n_vertices (graph), n_joined = 0, n_switches = 0, nodes = self->rows->len - 1;
  g_autofree guint *parents = g_new (guint, n + 1);

  for (guint i = 0; i < n; i++) {
    parents[i] = i;
    n_switches += index->rows[i] < nodes;
  }
  for (FabLinkId id = 0; id < fab_graph_n_links (graph); id++) {
    const FabLink *link = fab_graph_link (graph, id);

    if (index->rows[link->src] >= nodes || index->rows[link->dst] >= nodes)
      continue;
    guint one = root_of (parents, link->src), other = root_of (parents, link->dst);
    n_joined += one != other;
    parents[one] = other;
  }
  self->n_networks = n_switches - n_joined;
}

static void
find_rails (FabTopoFabric *self, const Index *index)
{
  const FabCluster *cluster = self->cluster;
  guint n = fab_graph_n_vertices (cluster->graph);
  g_autofree guint *nics = g_new0 (guint, n + 1); /* of a switch: 1 + the index of its NICs */

  guint per_board = cluster->nics_per_board > 0 ? cluster->nics_per_board : cluster->nics_per_node;

  self->has_rails = per_board > 1;
  for (guint i = 0; i < cluster->n_nodes * cluster->nics_per_node; i++) {
    FabLinkId first;
    guint n_links = fab_graph_out_links (cluster->graph, cluster->nics[i], &first);
    guint nic = 1 + i % cluster->nics_per_node % per_board;

    for (FabLinkId id = first; id < first + n_links; id++) {
      FabVertexId at = fab_graph_link (cluster->graph, id)->dst;

      if (index->rows[at] >= self->rows->len - 1)
        continue;
      self->has_rails = self->has_rails && (nics[at] == 0 || nics[at] == nic);
      nics[at] = nic;
    }
  }
}

/* Fabrics whose switches of one name are alike, with NICs or without. */
static const char *const one_row_each[] = { "dragonfly", "dragonfly_plus", "hyperx", "slim_fly", NULL };

FabTopoFabric *
fab_topo_fabric_new (const FabCluster *cluster, const char *kind)
{
  FabTopoFabric *self = g_new0 (FabTopoFabric, 1);
  g_autofree guint *levels = levels_of (cluster);
  Index index = { NULL, NULL };

  self->cluster = cluster;
  self->rows = g_array_new (FALSE, TRUE, sizeof (FabTopoRow));
  self->joins = g_array_new (FALSE, TRUE, sizeof (FabTopoJoin));
  g_array_set_clear_func (self->rows, clear_row);
  g_array_set_clear_func (self->joins, clear_join);
  add_rows (self, levels, !g_strv_contains (one_row_each, kind));
  if (strcmp (kind, "dragonfly") == 0)
    fold_groups (self);
  if (strcmp (kind, "torus") == 0)
    find_torus (self);
  if (strcmp (kind, "rail") == 0 && row_at (self, 0)->n == 1 && self->rows->len > 2)
    row_at (self, 0)->inside = g_strdup ("the spines of all rails, drawn as one switch that never blocks");
  index_rows (self, &index);
  for (guint r = 0; r < self->rows->len; r++) {
    count_ports (self, &index, r);
    describe_across (self, &index, r);
  }
  for (guint upper = 0; upper < self->rows->len; upper++)
    for (guint lower = upper + 1; lower < self->rows->len; lower++)
      add_join (self, &index, upper, lower);
  count_networks (self, &index);
  find_rails (self, &index);
  g_free (index.rows);
  g_free (index.members);
  return self;
}

void
fab_topo_fabric_free (FabTopoFabric *self)
{
  if (self == NULL)
    return;
  g_array_unref (self->rows);
  g_array_unref (self->joins);
  g_free (self);
}

GArray *
fab_topo_shown (const FabTopoRow *row, guint most)
{
  GArray *shown = g_array_new (FALSE, FALSE, sizeof (guint));

  for (guint i = 0; i < row->n; i++)
    if (row->n <= most || i + 1 < most || i + 1 == row->n)
      g_array_append_val (shown, i);
  return shown;
}

FabLinkId
fab_topo_link_between (const FabTopoFabric *self, guint row, guint member, guint other_row,
                       guint other_member)
{
  const FabTopoRow *from = row_at (self, row), *to = row_at (self, other_row);

  for (guint i = 0; i < from->n_each; i++)
    for (guint k = 0; k < to->n_each; k++) {
      FabLinkId link = link_of (self->cluster->graph, vertex_of (from, member, i),
                                vertex_of (to, other_member, k));

      if (link != FAB_NO_LINK)
        return link;
    }
  return FAB_NO_LINK;
}

/* Members of the row differ in ports up, or in those down. */
static gboolean
is_irregular (const FabTopoRow *row)
{
  return row->n_down_least < row->n_down || row->n_up_least < row->n_up;
}

char *
fab_topo_oversubscription (const FabTopoRow *row)
{
  if (row->oversubscription <= 0 || row->level == 0)
    return NULL;
  return g_strdup_printf ("%.4g : 1%s", row->oversubscription,
                          is_irregular (row) && row->n > 1 ? " at worst" : "");
}

/* "18" and "14 to 18". (transfer full) */
static char *
range (guint least, guint most)
{
  return least < most ? g_strdup_printf ("%u to %u", least, most) : g_strdup_printf ("%u", most);
}

char *
fab_topo_row_text (const FabTopoRow *row)
{
  g_autofree char *over = fab_topo_oversubscription (row), *all = counted (row->n, row->name);
  g_autofree char *down = range (row->n_down_least, row->n_down), *up = range (row->n_up_least, row->n_up);
  GString *text = g_string_new (NULL);

  g_string_append (text, all);
  if (row->level == 0)
    return g_string_free (text, FALSE);
  g_string_append_printf (text, ", %s %s down (%s%.6g GB/s)", down, fab_plural (row->n_down, "port", "ports"),
                          row->n_down_least < row->n_down ? "up to " : "", row->down_bytes_per_s / 1e9);
  if (row->n_up > 0)
    g_string_append_printf (text, ", %s up (%s%.6g GB/s)", up, row->n_up_least < row->n_up ? "up to " : "",
                            row->up_bytes_per_s / 1e9);
  if (over != NULL)
    g_string_append_printf (text, ", %s", over);
  return g_string_free (text, FALSE);
}

char *
fab_topo_uplinks_text (const FabTopoRow *row)
{
  guint n_others = row->n - row->n_with_all_up;
  g_autofree char *all = counted (row->n, row->name);

  if (row->level == 0 || row->n_up_least == row->n_up)
    return NULL;
  g_autofree char *fewer = range (row->n_up_least, row->n_up_fewer);
  return g_strdup_printf ("%u of %s %s all %u uplinks, %u %s %s", row->n_with_all_up, all,
                          fab_plural (row->n_with_all_up, "has", "have"), row->n_up, n_others,
                          fab_plural (n_others, "has", "have"), fewer);
}
