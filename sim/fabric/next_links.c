/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/fabric/next_links.h"

#include <string.h>

#include "sim/base/mix.h"
#include "sim/base/order.h"

#define NONE G_MAXUINT32
#define FAR G_MAXUINT8 /* more links than a path has */

enum { MOST_ROW_BYTES = 1 << 28, MOST_KEPT = 1 << 23, FIRST_SLOTS = 1 << 10 };

/* A link from a switch of the fabric to another. */
typedef struct {
  FabWayOn on;
  guint class_index; /* of on.next */
} Out;

/* A switch that the destination is joined to, and the distances to it. */
typedef struct {
  FabVertexId vertex;
  const guint8 *row;
} End;

/* What leads from one switch to one class of destinations, or to one destination beside it. */
typedef struct {
  guint64 key_1;  /* 1 + key; 0: the slot is empty */
  guint first, n; /* in `kept` */
  guint64 n_parallel;
} Slot;

struct _FabWays {
  const FabGraph *graph;
  guint *places; /* [n_vertices] number among the switches; NONE: it is none */
  guint n_switches;
  FabVertexId *switches; /* [n_switches] */
  guint *starts;         /* [n_switches + 1] */
  Out *outs;             /* [starts[n_switches]] links between switches, in ascending order */
  guint *classes;        /* [n_switches] */
  guint n_classes;
  guint *next_starts; /* [n_classes + 1] */
  guint *nexts;       /* [next_starts[n_classes]] classes joined to each class */
  guint8 **rows; /* [n_classes] distances of all classes to a member of this one; NULL: not asked for yet */
  guint64 n_row_bytes, most_row_bytes; /* rows that take more than most_row_bytes together are made anew */
  guint *queue;                        /* [n_classes] */
  FabVertexId src, dst;                /* of the present pair */
  GArray *ends;                        /* End: the switches that the destination is joined to */
  GArray *kept; /* FabWayOn: when there are more than most_kept, they are listed anew */
  guint most_kept;
  Slot *slots; /* [n_slots, a power of 2], at most half of them full */
  guint n_slots, n_full;
  GArray *found; /* FabWayOn */
  guint64 n_visits;
};

/* --- which switches there are --- */

static gboolean
is_end (FabVertexKind kind)
{
  return kind == FAB_VERTEX_ACCELERATOR || kind == FAB_VERTEX_MEMORY || kind == FAB_VERTEX_STORAGE;
}

/* Whether paths between NICs may take a link where these rules do not look: out of a node without its NICs, or from one
 * NIC straight to another. Of a link into a node its reverse says so. */
static gboolean
is_unforeseen (const FabVertex *a, const FabVertex *b)
{
  if (a->node == b->node || is_end (a->kind) || is_end (b->kind))
    return FALSE;
  return (a->kind == FAB_VERTEX_NIC ? b->node : a->node) != FAB_NO_NODE;
}

static gboolean
is_foreseen (const FabGraph *graph)
{
  for (FabLinkId id = 0; id < fab_graph_n_links (graph); id++) {
    const FabLink *link = fab_graph_link (graph, id);

    if (is_unforeseen (fab_graph_vertex (graph, link->src), fab_graph_vertex (graph, link->dst)))
      return FALSE;
  }
  return TRUE;
}

static gboolean
is_switch (const FabGraph *graph, FabVertexId id)
{
  const FabVertex *vertex = fab_graph_vertex (graph, id);

  return vertex->node == FAB_NO_NODE && vertex->kind != FAB_VERTEX_NIC && !is_end (vertex->kind);
}

static void
number_switches (FabWays *self)
{
  guint n_vertices = fab_graph_n_vertices (self->graph);

  self->places = g_new (guint, n_vertices + 1);
  for (FabVertexId v = 0; v < n_vertices; v++)
    self->places[v] = is_switch (self->graph, v) ? self->n_switches++ : NONE;
  self->switches = g_new (FabVertexId, self->n_switches + 1);
  for (FabVertexId v = 0; v < n_vertices; v++)
    if (self->places[v] != NONE)
      self->switches[self->places[v]] = v;
}

static guint
count_outs (const FabWays *self, guint place)
{
  FabLinkId first;
  guint n = fab_graph_out_links (self->graph, self->switches[place], &first), n_outs = 0;

  for (FabLinkId link = first; link < first + n; link++)
    n_outs += self->places[fab_graph_link (self->graph, link)->dst] != NONE;
  return n_outs;
}

static void
list_outs (FabWays *self)
{
  self->starts = g_new0 (guint, self->n_switches + 1);
  for (guint place = 0; place < self->n_switches; place++)
    self->starts[place + 1] = self->starts[place] + count_outs (self, place);
  self->outs = g_new (Out, self->starts[self->n_switches] + 1);
  for (guint place = 0; place < self->n_switches; place++) {
    Out *out = &self->outs[self->starts[place]];
    FabLinkId first;
    guint n = fab_graph_out_links (self->graph, self->switches[place], &first);

    for (FabLinkId id = first; id < first + n; id++) {
      const FabLink *link = fab_graph_link (self->graph, id);

      if (self->places[link->dst] != NONE)
        *out++ = (Out){ { id, link->count, link->dst }, NONE };
    }
  }
}

/* --- classes --- */

/* The switches that a switch is joined to, each once, in ascending order. */
typedef struct {
  const guint *places;
  guint n;
} Near;

static guint
near_hash (gconstpointer key)
{
  const Near *self = key;
  guint64 hash = self->n;

  for (guint i = 0; i < self->n; i++)
    hash = fab_mix (hash, self->places[i]);
  return (guint) hash;
}

static gboolean
near_equal (gconstpointer a, gconstpointer b)
{
  const Near *x = a, *y = b;

  return x->n == y->n && (x->n == 0 || memcmp (x->places, y->places, x->n * sizeof *x->places) == 0);
}

/* Writes them behind one another at `at`. */
static Near
near_of (const FabWays *self, guint place, guint *at)
{
  guint n = 0, n_outs = self->starts[place + 1] - self->starts[place];

  for (guint i = 0; i < n_outs; i++)
    at[i] = self->places[self->outs[self->starts[place] + i].on.next];
  qsort (at, n_outs, sizeof *at, fab_order_guints);
  for (guint i = 0; i < n_outs; i++)
    if (n == 0 || at[n - 1] != at[i])
      at[n++] = at[i];
  return (Near){ at, n };
}

/* Numbers the classes in the order of their first members, and notes in `firsts` what each is joined to. */
static void
find_classes (FabWays *self, Near *nears)
{
  g_autoptr (GHashTable) known = g_hash_table_new (near_hash, near_equal);

  self->classes = g_new (guint, self->n_switches + 1);
  for (guint place = 0; place < self->n_switches; place++) {
    gpointer class_1 = g_hash_table_lookup (known, &nears[place]);

    if (class_1 == NULL) {
      class_1 = GUINT_TO_POINTER (++self->n_classes);
      g_hash_table_insert (known, &nears[place], class_1);
    }
    self->classes[place] = GPOINTER_TO_UINT (class_1) - 1;
  }
}

/* Replaces switches by their classes, each once. */
static guint
classes_near (const FabWays *self, const Near *near, guint *classes)
{
  guint n = 0;

  for (guint i = 0; i < near->n; i++)
    classes[i] = self->classes[near->places[i]];
  qsort (classes, near->n, sizeof *classes, fab_order_guints);
  for (guint i = 0; i < near->n; i++)
    if (n == 0 || classes[n - 1] != classes[i])
      classes[n++] = classes[i];
  return n;
}

static void
join_classes (FabWays *self, const Near *nears)
{
  guint n = 0, n_all = self->starts[self->n_switches];

  self->next_starts = g_new0 (guint, self->n_classes + 1);
  self->nexts = g_new (guint, n_all + 1);
  for (guint place = 0; place < self->n_switches; place++) {
    if (self->classes[place] < n)
      continue;
    guint start = self->next_starts[n];
    self->next_starts[++n] = start + classes_near (self, &nears[place], self->nexts + start);
  }
}

static void
make_classes (FabWays *self)
{
  guint n_all = self->starts[self->n_switches];
  g_autofree guint *lists = g_new (guint, n_all + 1);
  g_autofree Near *nears = g_new (Near, self->n_switches + 1);

  for (guint place = 0; place < self->n_switches; place++)
    nears[place] = near_of (self, place, lists + self->starts[place]);
  find_classes (self, nears);
  join_classes (self, nears);
  for (guint i = 0; i < n_all; i++)
    self->outs[i].class_index = self->classes[self->places[self->outs[i].on.next]];
}

FabWays *
fab_ways_new (const FabGraph *graph)
{
  FabWays *self;

  if (fab_graph_is_unfolded (graph) || !is_foreseen (graph))
    return NULL;
  self = g_new0 (FabWays, 1);
  self->graph = graph;
  number_switches (self);
  list_outs (self);
  make_classes (self);
  self->rows = g_new0 (guint8 *, self->n_classes + 1);
  self->queue = g_new (guint, self->n_classes + 1);
  self->ends = g_array_new (FALSE, FALSE, sizeof (End));
  self->found = g_array_new (FALSE, FALSE, sizeof (FabWayOn));
  self->kept = g_array_new (FALSE, FALSE, sizeof (FabWayOn));
  fab_ways_keep_at_most (self, MOST_KEPT, MOST_ROW_BYTES);
  self->n_slots = FIRST_SLOTS;
  self->slots = g_new0 (Slot, self->n_slots);
  return self;
}

static void
drop_rows (FabWays *self)
{
  for (guint i = 0; i < self->n_classes; i++)
    g_clear_pointer (&self->rows[i], g_free);
  self->n_row_bytes = 0;
}

void
fab_ways_free (FabWays *self)
{
  if (self == NULL)
    return;
  drop_rows (self);
  g_free (self->rows);
  g_free (self->places);
  g_free (self->switches);
  g_free (self->starts);
  g_free (self->outs);
  g_free (self->classes);
  g_free (self->next_starts);
  g_free (self->nexts);
  g_free (self->queue);
  g_array_unref (self->ends);
  g_array_unref (self->found);
  g_array_unref (self->kept);
  g_free (self->slots);
  g_free (self);
}

/* --- distances --- */

/* Members of one class are two links apart: they are joined to the same switches, and not to each other. */
static guint8 *
make_row (FabWays *self, guint to)
{
  guint8 *row = g_new (guint8, self->n_classes);
  guint head = 0, tail = 0;

  for (guint i = 0; i < self->n_classes; i++)
    row[i] = FAR;
  row[to] = 0;
  self->queue[tail++] = to;
  while (head < tail) {
    guint at = self->queue[head++];

    for (guint i = self->next_starts[at]; i < self->next_starts[at + 1]; i++) {
      guint next = self->nexts[i];

      if (row[next] == FAR && row[at] < FAR - 1) {
        row[next] = row[at] + 1;
        self->queue[tail++] = next;
      }
    }
    self->n_visits += self->next_starts[at + 1] - self->next_starts[at];
  }
  row[to] = self->next_starts[to] < self->next_starts[to + 1] ? 2 : FAR;
  return row;
}

static const guint8 *
row_to (FabWays *self, guint to)
{
  if (self->rows[to] == NULL) {
    self->n_row_bytes += self->n_classes;
    self->rows[to] = make_row (self, to);
  }
  return self->rows[to];
}

/* Fewest links from a switch to the destination's NIC. */
static guint
links_left (const FabWays *self, FabVertexId vertex, guint class_index)
{
  guint least = FAR;

  for (guint i = 0; i < self->ends->len; i++) {
    const End *end = &g_array_index (self->ends, End, i);

    least = MIN (least, vertex == end->vertex ? 0 : end->row[class_index]);
  }
  return least < FAR ? least + 1 : G_MAXUINT;
}

gboolean
fab_ways_have (const FabWays *self, FabVertexId src, FabVertexId dst)
{
  const FabVertex *a = fab_graph_vertex (self->graph, src), *b = fab_graph_vertex (self->graph, dst);

  return a->kind == FAB_VERTEX_NIC && b->kind == FAB_VERTEX_NIC && a->node != b->node
      && a->node != FAB_NO_NODE && b->node != FAB_NO_NODE;
}

/* Notes the links from the source that lead to a switch at most `most` links from the destination. Returns the
 * fewest. */
static guint
look_from_source (FabWays *self, guint most)
{
  FabLinkId first;
  guint n = fab_graph_out_links (self->graph, self->src, &first), least = G_MAXUINT;

  for (FabLinkId id = first; id < first + n; id++) {
    const FabLink *link = fab_graph_link (self->graph, id);
    guint place = self->places[link->dst];
    guint left = place != NONE ? links_left (self, link->dst, self->classes[place]) : G_MAXUINT;

    least = MIN (least, left);
    if (left <= most) {
      FabWayOn on = { id, link->count, link->dst };

      g_array_append_val (self->found, on);
    }
  }
  return least;
}

static void
list_ends (FabWays *self)
{
  FabLinkId first;
  guint n = fab_graph_out_links (self->graph, self->dst, &first);

  g_array_set_size (self->ends, 0);
  if (self->n_row_bytes + (guint64) n * self->n_classes > self->most_row_bytes)
    drop_rows (self);
  for (FabLinkId link = first; link < first + n; link++) {
    End end = { fab_graph_link (self->graph, link)->dst, NULL };

    if (self->places[end.vertex] == NONE)
      continue;
    end.row = row_to (self, self->classes[self->places[end.vertex]]);
    g_array_append_val (self->ends, end);
  }
}

guint
fab_ways_begin (FabWays *self, FabVertexId src, FabVertexId dst)
{
  guint left;

  self->src = src;
  self->dst = dst;
  list_ends (self);
  left = look_from_source (self, 0);
  return left < G_MAXUINT ? left + 1 : left;
}

/* The links from a switch into the destination, which are the reverse of those out of it. */
static void
look_into_destination (FabWays *self, FabVertexId vertex)
{
  FabLinkId first;
  guint n = fab_graph_out_links (self->graph, self->dst, &first);

  for (FabLinkId id = first; id < first + n; id++) {
    const FabLink *link = fab_graph_link (self->graph, id);
    FabWayOn on = { link->reverse, link->count, self->dst };

    if (link->dst == vertex)
      g_array_append_val (self->found, on);
  }
  g_array_sort (self->found, fab_order_guints); /* by `link`, which comes first */
}

/* --- what was found before --- */

static Slot *
find_slot (const FabWays *self, guint64 key)
{
  guint64 i = fab_mix (key, self->n_slots) & (self->n_slots - 1);

  while (self->slots[i].key_1 != 0 && self->slots[i].key_1 != key + 1)
    i = (i + 1) & (self->n_slots - 1);
  return &self->slots[i];
}

static void
make_room (FabWays *self)
{
  g_autofree Slot *before = self->slots;
  guint n_before = self->n_slots;

  if (self->kept->len > self->most_kept) {
    g_array_set_size (self->kept, 0);
    self->n_full = 0;
    n_before = 0;
  } else {
    self->n_slots *= 2;
  }
  self->slots = g_new0 (Slot, self->n_slots);
  for (guint i = 0; i < n_before; i++)
    if (before[i].key_1 != 0)
      *find_slot (self, before[i].key_1 - 1) = before[i];
}

static guint64
count_parallel (const FabWayOn *links, guint n)
{
  guint64 n_parallel = 0;

  for (guint i = 0; i < n; i++)
    n_parallel += links[i].count;
  return n_parallel;
}

static void
look_from_switch (FabWays *self, guint place, guint n_left)
{
  for (guint i = self->starts[place]; i < self->starts[place + 1]; i++) {
    const Out *out = &self->outs[i];

    if (links_left (self, out->on.next, out->class_index) < n_left)
      g_array_append_val (self->found, out->on);
  }
  self->n_visits += self->starts[place + 1] - self->starts[place];
}

static gboolean
has_full_table (const FabWays *self)
{
  return self->n_full >= self->n_slots / 2;
}

static const Slot *
keep_found (FabWays *self, guint64 key)
{
  const FabWayOn *links = (const FabWayOn *) (gconstpointer) self->found->data;

  if (has_full_table (self) || self->kept->len > self->most_kept)
    make_room (self);
  Slot *slot = find_slot (self, key);
  *slot = (Slot){ key + 1, self->kept->len, self->found->len, count_parallel (links, self->found->len) };
  self->n_full++;
  g_array_append_vals (self->kept, links, self->found->len);
  return slot;
}

/* Beside the destination's switch the way leads to that switch, from farther away to its class. */
static FabWaysOn
from_switch (FabWays *self, guint place, guint n_left)
{
  guint end = self->places[g_array_index (self->ends, End, 0).vertex];
  guint to = n_left == 2 ? self->n_classes + end : self->classes[end];
  guint64 key = (guint64) place << 32 | to;
  const Slot *slot = find_slot (self, key);

  if (slot->key_1 == 0) {
    look_from_switch (self, place, n_left);
    slot = keep_found (self, key);
  }
  return (FabWaysOn){ &g_array_index (self->kept, FabWayOn, slot->first), slot->n, slot->n_parallel };
}

FabWaysOn
fab_ways_on (FabWays *self, FabVertexId vertex, guint n_left)
{
  g_array_set_size (self->found, 0);
  if (vertex == self->src)
    look_from_source (self, n_left - 1);
  else if (n_left == 1)
    look_into_destination (self, vertex);
  else if (self->ends->len == 1)
    return from_switch (self, self->places[vertex], n_left);
  else
    look_from_switch (self, self->places[vertex], n_left);
  const FabWayOn *links = (const FabWayOn *) (gconstpointer) self->found->data;
  return (FabWaysOn){ links, self->found->len, count_parallel (links, self->found->len) };
}

void
fab_ways_keep_at_most (FabWays *self, guint n_links, guint64 n_row_bytes)
{
  self->most_kept = n_links;
  self->most_row_bytes = n_row_bytes;
}

guint
fab_ways_n_classes (const FabWays *self)
{
  return self->n_classes;
}

guint64
fab_ways_n_visits (const FabWays *self)
{
  return self->n_visits;
}
