/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/shortcut/memo/plan_shapes.h"

#include "sim/base/order.h"

/* Numbers of byte strings, by their SHA-256. */
typedef struct {
  GHashTable *known; /* char * -> number */
} Numbers;

/* Links in ascending order, each once. */
typedef struct {
  FabLinkId *ids;
  guint n;
} LinkSet;

struct _FabPlanShapes {
  Numbers shapes, patterns, set_numbers, keys;
  GPtrArray *sets;       /* LinkSet, by their numbers */
  GHashTable *relations; /* FabPlanShapes.sets of the earlier << 32 | of the later -> relation */
};

/* --- numbers --- */

static Numbers
numbers_new (void)
{
  return (Numbers){ g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL) };
}

static guint
number_of (Numbers *self, GChecksum *sum)
{
  const char *digest = g_checksum_get_string (sum);
  gpointer number;

  if (g_hash_table_lookup_extended (self->known, digest, NULL, &number))
    return GPOINTER_TO_UINT (number);
  guint added = g_hash_table_size (self->known);
  g_hash_table_insert (self->known, g_strdup (digest), GUINT_TO_POINTER (added));
  return added;
}

static void
add_bytes (GChecksum *sum, gconstpointer bytes, gsize n)
{
  const gsize most = 1 << 30; /* GLib takes a length with a sign */

  for (gsize at = 0; at < n; at += most)
    g_checksum_update (sum, (const guchar *) bytes + at, (gssize) MIN (n - at, most));
}

/* --- begin and end --- */

static void
set_free (gpointer data)
{
  g_free (((LinkSet *) data)->ids);
  g_free (data);
}

FabPlanShapes *
fab_plan_shapes_new (void)
{
  FabPlanShapes *self = g_new (FabPlanShapes, 1);

  *self = (FabPlanShapes){ .shapes = numbers_new (),
                           .patterns = numbers_new (),
                           .set_numbers = numbers_new (),
                           .keys = numbers_new (),
                           .sets = g_ptr_array_new_with_free_func (set_free),
                           .relations = g_hash_table_new_full (g_int64_hash, g_int64_equal, g_free, NULL) };
  return self;
}

void
fab_plan_shapes_free (FabPlanShapes *self)
{
  if (self == NULL)
    return;
  g_hash_table_unref (self->shapes.known);
  g_hash_table_unref (self->patterns.known);
  g_hash_table_unref (self->set_numbers.known);
  g_hash_table_unref (self->keys.known);
  g_ptr_array_unref (self->sets);
  g_hash_table_unref (self->relations);
  g_free (self);
}

/* --- sets of links --- */

/* (transfer full) */
static LinkSet *
set_new (const GArray *links)
{
  LinkSet *set = g_new (LinkSet, 1);
  guint n = links->len;

  set->ids = g_memdup2 (links->data, n * sizeof (FabLinkId));
  set->n = MIN (n, 1);
  if (n > 1)
    qsort (set->ids, n, sizeof *set->ids, fab_order_guints);
  for (guint i = 1; i < n; i++)
    if (set->ids[i] != set->ids[i - 1])
      set->ids[set->n++] = set->ids[i];
  return set;
}

/* Returns the number of a set, which it takes. */
static guint
number_of_set (FabPlanShapes *self, LinkSet *set)
{
  g_autoptr (GChecksum) sum = g_checksum_new (G_CHECKSUM_SHA256);

  add_bytes (sum, set->ids, set->n * sizeof *set->ids);
  guint number = number_of (&self->set_numbers, sum);
  if (number == self->sets->len)
    g_ptr_array_add (self->sets, set);
  else
    set_free (set);
  return number;
}

static guint32
find_rank (const LinkSet *set, FabLinkId link)
{
  const FabLinkId *found = bsearch (&link, set->ids, set->n, sizeof link, fab_order_guints);

  return (guint32) (found - set->ids);
}

/* --- shapes --- */

/* What a network may know of a link, besides its number. */
typedef struct {
  gint64 rate_bytes_per_s, latency_ps, reverse_ps;
  guint32 class_index, joins_groups;
  guint32 src_kind, dst_kind;
  guint32 count, zero; /* no byte is left out */
} LinkTraits;

static LinkTraits
traits_of (const FabGraph *graph, FabLinkId id)
{
  const FabLink *link = fab_graph_link (graph, id);

  return (LinkTraits){
    .rate_bytes_per_s = (gint64) link->rate_bytes_per_s,
    .latency_ps = link->latency_ps,
    .reverse_ps = fab_graph_link (graph, link->reverse)->latency_ps,
    .class_index = link->class_index,
    .joins_groups = link->joins_groups,
    .src_kind = fab_graph_vertex (graph, link->src)->kind,
    .dst_kind = fab_graph_vertex (graph, link->dst)->kind,
    .count = link->count,
  };
}

FabPlanShape
fab_plan_shapes_find (FabPlanShapes *self, const FabGraph *graph, const GArray *words, const GArray *links)
{
  LinkSet *set = set_new (links);
  g_autoptr (GChecksum) sum = g_checksum_new (G_CHECKSUM_SHA256);
  g_autofree guint32 *ranks = g_new (guint32, links->len + 1);
  g_autofree LinkTraits *traits = g_new0 (LinkTraits, set->n + 1);

  for (guint i = 0; i < links->len; i++)
    ranks[i] = find_rank (set, g_array_index (links, FabLinkId, i));
  for (guint i = 0; i < set->n; i++)
    traits[i] = traits_of (graph, set->ids[i]);
  guint64 n_words = words->len, n_links = links->len;
  add_bytes (sum, &n_words, sizeof n_words);
  add_bytes (sum, words->data, words->len * sizeof (guint64));
  add_bytes (sum, &n_links, sizeof n_links);
  add_bytes (sum, ranks, links->len * sizeof *ranks);
  add_bytes (sum, traits, set->n * sizeof *traits);
  guint shape = number_of (&self->shapes, sum);
  return (FabPlanShape){ shape, number_of_set (self, set) };
}

const FabLinkId *
fab_plan_shapes_links (const FabPlanShapes *self, guint links, guint *n)
{
  const LinkSet *set = g_ptr_array_index (self->sets, links);

  *n = set->n;
  return set->ids;
}

/* --- relations --- */

/* Which of the two each link is in, in ascending order of all. */
static guint
compare_sets (FabPlanShapes *self, const LinkSet *a, const LinkSet *b)
{
  enum { IN_A = 1, IN_B = 2 };
  g_autoptr (GByteArray) pattern = g_byte_array_sized_new (a->n + b->n);
  g_autoptr (GChecksum) sum = g_checksum_new (G_CHECKSUM_SHA256);
  gboolean is_met = a == b;

  for (guint i = 0, k = 0; i < a->n || k < b->n;) {
    gboolean in_a = i < a->n && (k == b->n || a->ids[i] <= b->ids[k]);
    gboolean in_b = k < b->n && (i == a->n || b->ids[k] <= a->ids[i]);
    guint8 where = (guint8) ((in_a ? IN_A : 0) | (in_b ? IN_B : 0));

    g_byte_array_append (pattern, &where, 1);
    is_met |= in_a && in_b;
    i += in_a;
    k += in_b;
  }
  if (!is_met)
    return 0;
  add_bytes (sum, pattern->data, pattern->len);
  return 1 + number_of (&self->patterns, sum);
}

guint
fab_plan_shapes_relation (FabPlanShapes *self, guint earlier, guint later)
{
  gint64 both = (gint64) ((guint64) earlier << 32 | later);
  gpointer relation;

  if (g_hash_table_lookup_extended (self->relations, &both, NULL, &relation))
    return GPOINTER_TO_UINT (relation);
  guint found = compare_sets (self, g_ptr_array_index (self->sets, earlier),
                              g_ptr_array_index (self->sets, later));
  g_hash_table_insert (self->relations, g_memdup2 (&both, sizeof both), GUINT_TO_POINTER (found));
  return found;
}

gboolean
fab_plan_shapes_meet (FabPlanShapes *self, guint earlier, guint later)
{
  enum { SHORT = 64 }; /* links that are compared as fast as a relation is looked up */
  const LinkSet *a = g_ptr_array_index (self->sets, earlier), *b = g_ptr_array_index (self->sets, later);

  if (a->n + b->n > SHORT)
    return fab_plan_shapes_relation (self, earlier, later) > 0;
  for (guint i = 0, k = 0; i < a->n && k < b->n;) {
    if (a->ids[i] == b->ids[k])
      return TRUE;
    if (a->ids[i] < b->ids[k])
      i++;
    else
      k++;
  }
  return a == b;
}

guint32
fab_plan_shapes_key (FabPlanShapes *self, guint shape, const guint *relations, guint n)
{
  g_autoptr (GChecksum) sum = g_checksum_new (G_CHECKSUM_SHA256);

  add_bytes (sum, &shape, sizeof shape);
  add_bytes (sum, relations, n * sizeof *relations);
  return number_of (&self->keys, sum);
}
