/* SPDX-License-Identifier: Apache-2.0 */
/* folding.c - partition refinement. */
#include "sim/solve/folding.h"

#include <glib.h>

#include "sim/base/mix.h"
#include "sim/base/pool.h"

typedef struct _FabLinkFold FabLinkFold;

/* Partition refinement. Letting a stream in groups its links by (old class, weight), and new links by
 * (capacity, weight); a group that is not all of its class becomes a new class. The members of a class form a ring in
 * arrays. */

#define NONE G_MAXUINT

typedef struct {
  guint first; /* the member that represents all */
  guint n;
  guint n_inside; /* members in the present stream */
} Class;

/* Links of the present stream that stay together. */
typedef struct {
  guint before;    /* their class; NONE: they are new */
  double capacity; /* of new links, otherwise 0 */
  double weight;
  guint n;
  guint class;
} Part;

struct _FabLinkFold {
  guint n_links;
  double (*capacity) (gconstpointer owner, guint link);
  gconstpointer owner;
  gboolean is_flat;
  guint *class_of;    /* [n_links]; NONE: not seen yet */
  guint *next, *prev; /* [n_links]: the ring of the class */
  GArray *classes;    /* Class */
  GArray *parts;      /* Part */
  GArray *part_of;    /* guint per link of the stream */
  guint *slots;       /* [n_slots, a power of 2] 1 + index into parts; 0: empty */
  guint n_slots;
  guint version;
};

/* `capacity` is called once per link. With `is_flat`, every link has a class of its own. (transfer full) */
static FabLinkFold *
link_fold_new (guint n_links, double (*capacity) (gconstpointer owner, guint link), gconstpointer owner,
               gboolean is_flat)
{
  FabLinkFold *self = g_new0 (FabLinkFold, 1);

  *self = (FabLinkFold){ .n_links = n_links,
                         .capacity = capacity,
                         .owner = owner,
                         .is_flat = is_flat,
                         .class_of = g_new (guint, n_links + 1),
                         .next = g_new (guint, n_links + 1),
                         .prev = g_new (guint, n_links + 1),
                         .classes = g_array_new (FALSE, FALSE, sizeof (Class)),
                         .parts = g_array_new (FALSE, FALSE, sizeof (Part)),
                         .part_of = g_array_new (FALSE, FALSE, sizeof (guint)),
                         .n_slots = 64 };
  self->slots = g_new0 (guint, self->n_slots);
  for (guint link = 0; link < n_links; link++)
    self->class_of[link] = NONE;
  return self;
}

static void
link_fold_free (FabLinkFold *self)
{
  g_free (self->class_of);
  g_free (self->next);
  g_free (self->prev);
  g_free (self->slots);
  g_array_unref (self->classes);
  g_array_unref (self->parts);
  g_array_unref (self->part_of);
  g_free (self);
}

/* Returns a number that grows when a class used by a stream is split. Results that were derived from older classes
 * are then out of date. */
static guint
link_fold_version (const FabLinkFold *self)
{
  return self->version;
}

/* For a link that was let in or split off: its class, and whether the link represents the class. */
static guint
link_fold_class (const FabLinkFold *self, guint link)
{
  return self->class_of[link];
}

static Class *
class_at (const FabLinkFold *self, guint class)
{
  return &g_array_index (self->classes, Class, class);
}

static gboolean
link_fold_stands (const FabLinkFold *self, guint link)
{
  return class_at (self, self->class_of[link])->first == link;
}

/* --- members --- */

/* Returns an empty class, which must get a member at once: there are never more classes than links. */
static guint
new_class (FabLinkFold *self)
{
  Class empty = { NONE, 0, 0 };

  g_array_append_val (self->classes, empty);
  return self->classes->len - 1;
}

/* The link must not be the last member of its class. */
static void
leave (FabLinkFold *self, guint link)
{
  Class *class = class_at (self, self->class_of[link]);

  g_assert (class->n > 1);
  self->next[self->prev[link]] = self->next[link];
  self->prev[self->next[link]] = self->prev[link];
  class->n--;
  if (class->first == link)
    class->first = self->next[link];
}

static void
join (FabLinkFold *self, guint link, guint to)
{
  Class *class = class_at (self, to);

  if (class->n++ == 0)
    class->first = self->prev[link] = self->next[link] = link;
  guint last = self->prev[class->first];
  self->next[last] = self->prev[class->first] = link;
  self->prev[link] = last;
  self->next[link] = class->first;
  self->class_of[link] = to;
}

/* Returns a class that holds only this link from now on; it is less than n_links. */
static guint
link_fold_apart (FabLinkFold *self, guint link)
{
  guint class = self->class_of[link];

  if (class != NONE && class_at (self, class)->n == 1)
    return class;
  if (class != NONE) {
    leave (self, link);
    self->version++;
  }
  class = new_class (self);
  join (self, link, class);
  return class;
}

/* --- streams --- */

static gboolean
is_part (const Part *part, guint before, double capacity, double weight)
{
  return part->before == before && part->capacity <= capacity && part->capacity >= capacity
      && part->weight <= weight && part->weight >= weight;
}

static guint *
find_slot (const FabLinkFold *self, guint before, double capacity, double weight)
{
  union {
    double value;
    guint64 bits;
  } w = { weight }, c = { capacity };
  guint64 mask = self->n_slots - 1, i = fab_mix (fab_mix (before, w.bits), c.bits) & mask;

  while (self->slots[i] > 0
         && !is_part (&g_array_index (self->parts, Part, self->slots[i] - 1), before, capacity, weight))
    i = (i + 1) & mask;
  return &self->slots[i];
}

static void
grow_slots (FabLinkFold *self)
{
  self->n_slots *= 2;
  g_free (self->slots);
  self->slots = g_new0 (guint, self->n_slots);
  for (guint i = 0; i < self->parts->len; i++) {
    const Part *part = &g_array_index (self->parts, Part, i);

    *find_slot (self, part->before, part->capacity, part->weight) = i + 1;
  }
}

static guint
take_part (FabLinkFold *self, guint before, double capacity, double weight)
{
  guint *slot = find_slot (self, before, capacity, weight);
  Part added = { before, capacity, weight, 0, NONE };

  if (*slot > 0)
    return *slot - 1;
  g_array_append_val (self->parts, added);
  *slot = self->parts->len;
  if (2 * self->parts->len > self->n_slots)
    grow_slots (self);
  return self->parts->len - 1;
}

/* Groups the links of a stream into parts. */
static void
find_parts (FabLinkFold *self, const guint *links, const double *weights, guint n)
{
  g_array_set_size (self->parts, 0);
  g_array_set_size (self->part_of, n);
  for (guint i = 0; i < self->n_slots; i++)
    self->slots[i] = 0;
  for (guint i = 0; i < n; i++) {
    guint before = self->class_of[links[i]];
    double capacity = before == NONE ? self->capacity (self->owner, links[i]) : 0;
    guint part = take_part (self, before, capacity, weights[i]);

    if (before != NONE)
      class_at (self, before)->n_inside++;
    g_array_index (self->parts, Part, part).n++;
    g_array_index (self->part_of, guint, i) = part;
  }
}

/* When a stream covers a whole class, the first part keeps the class. */
static void
link_fold_find_classes (FabLinkFold *self)
{
  for (guint i = 0; i < self->parts->len; i++) {
    Part *part = &g_array_index (self->parts, Part, i);

    if (part->before != NONE && class_at (self, part->before)->n == class_at (self, part->before)->n_inside) {
      part->class = part->before;
      class_at (self, part->before)->n_inside = 0;
      continue;
    }
    part->class = new_class (self);
    self->version += part->before != NONE;
  }
  for (guint i = 0; i < self->parts->len; i++)
    if (g_array_index (self->parts, Part, i).before != NONE)
      class_at (self, g_array_index (self->parts, Part, i).before)->n_inside = 0;
}

/* Splits classes until each is either wholly in the stream with one weight or wholly outside it. A link must not
 * appear twice. O(n). */
static void
link_fold_let_in (FabLinkFold *self, const guint *links, const double *weights, guint n)
{
  for (guint i = 0; self->is_flat && i < n; i++)
    link_fold_apart (self, links[i]);
  if (self->is_flat)
    return;
  find_parts (self, links, weights, n);
  link_fold_find_classes (self);
  for (guint i = 0; i < n; i++) {
    const Part *part = &g_array_index (self->parts, Part, g_array_index (self->part_of, guint, i));

    if (part->class == part->before)
      continue;
    if (part->before != NONE)
      leave (self, links[i]);
    join (self, links[i], part->class);
  }
}

/* The arrays of a flow that stays, rewritten for classes of links. */
typedef struct {
  guint version;   /* version of the fold for which it holds */
  GArray *classes; /* of guint */
  GArray *weights; /* of double */
} Folded;

struct _FabFolding {
  FabSharing *sharing;
  FabLinkFold *fold;
  double (*capacity) (gconstpointer owner, guint link);
  gpointer owner;
  GHashTable *folded; /* by array of weights, which belongs to one array of links */
  GQueue staying;     /* FabFoldedFlow.place: of those that stay, in the order in which they came */
  FabBlocks apart;    /* guint: classes of the flows that do not stay */
};

static void
folded_free (gpointer data)
{
  Folded *self = data;

  g_array_unref (self->classes);
  g_array_unref (self->weights);
  g_free (self);
}

FabFolding *
fab_folding_new (guint n_links, double (*capacity) (gconstpointer owner, guint link), FabSharingFn changed,
                 gpointer owner, gboolean is_flat)
{
  FabFolding *self = g_new0 (FabFolding, 1);

  self->sharing = fab_sharing_new (n_links, changed, owner);
  self->fold = link_fold_new (n_links, capacity, owner, is_flat);
  self->capacity = capacity;
  self->owner = owner;
  self->folded = g_hash_table_new_full (NULL, NULL, NULL, folded_free);
  fab_blocks_init (&self->apart, sizeof (guint));
  return self;
}

void
fab_folding_free (FabFolding *self)
{
  if (self == NULL)
    return;
  fab_sharing_free (self->sharing);
  link_fold_free (self->fold);
  g_hash_table_unref (self->folded);
  fab_blocks_clear (&self->apart);
  g_free (self);
}

guint
fab_folding_n_classes (const FabFoldedFlow *flow)
{
  return flow->sharer.n;
}

void
fab_folding_solve (FabFolding *self)
{
  fab_sharing_solve (self->sharing);
}

/* --- a flow in terms of classes --- */

static void
set_capacity (FabFolding *self, guint link)
{
  fab_sharing_set_capacity (self->sharing, link_fold_class (self->fold, link),
                            self->capacity (self->owner, link));
}

static void
fold_again (FabFolding *self, const FabFoldedFlow *flow, Folded *folded)
{
  g_array_set_size (folded->classes, 0);
  g_array_set_size (folded->weights, 0);
  for (guint i = 0; i < flow->n; i++) {
    guint class = link_fold_class (self->fold, flow->links[i]);

    if (!link_fold_stands (self->fold, flow->links[i]))
      continue;
    g_array_append_val (folded->classes, class);
    g_array_append_vals (folded->weights, &flow->weights[i], 1);
    set_capacity (self, flow->links[i]);
  }
  folded->version = link_fold_version (self->fold);
}

static Folded *
take_folded (FabFolding *self, const FabFoldedFlow *flow)
{
  Folded *folded = g_hash_table_lookup (self->folded, flow->weights);

  if (folded == NULL) {
    folded = g_new0 (Folded, 1);
    folded->classes = g_array_new (FALSE, FALSE, sizeof (guint));
    folded->weights = g_array_new (FALSE, FALSE, sizeof (double));
    g_hash_table_insert (self->folded, (gpointer) flow->weights, folded);
    link_fold_let_in (self->fold, flow->links, flow->weights, flow->n);
    folded->version = link_fold_version (self->fold) - 1;
  }
  return folded;
}

/* Rewrites the flow for the present classes. */
static void
look_up (FabFolding *self, FabFoldedFlow *flow)
{
  Folded *folded = take_folded (self, flow);

  if (folded->version != link_fold_version (self->fold))
    fold_again (self, flow, folded);
  flow->sharer.links = (const guint *) (gpointer) folded->classes->data;
  flow->sharer.weights = (const double *) (gpointer) folded->weights->data;
  flow->sharer.n = folded->classes->len;
}

/* After a split of classes: the flows that stay leave with their old classes and enter with the new ones, in the
 * order in which they first came. */
static void
resettle (FabFolding *self, guint version)
{
  if (version == link_fold_version (self->fold))
    return;
  for (GList *place = self->staying.head; place != NULL; place = place->next)
    fab_sharing_leave (self->sharing, &((FabFoldedFlow *) place->data)->sharer);
  for (GList *place = self->staying.head; place != NULL; place = place->next) {
    FabFoldedFlow *flow = place->data;

    look_up (self, flow);
    fab_sharing_add (self->sharing, &flow->sharer);
  }
}

static void
set_apart (FabFolding *self, FabFoldedFlow *flow)
{
  guint *classes = fab_blocks_take (&self->apart, flow->n);

  for (guint i = 0; i < flow->n; i++) {
    classes[i] = link_fold_apart (self->fold, flow->links[i]);
    set_capacity (self, flow->links[i]);
  }
  flow->sharer.links = classes;
  flow->sharer.weights = flow->weights;
  flow->sharer.n = flow->n;
}

static void
find_classes (FabFolding *self, FabFoldedFlow *flow)
{
  guint version = link_fold_version (self->fold);

  if (flow->stays)
    look_up (self, flow);
  else
    set_apart (self, flow);
  resettle (self, version);
  if (!flow->stays)
    return;
  flow->place = (GList){ .data = flow };
  g_queue_push_tail_link (&self->staying, &flow->place);
}

/* --- flows --- */

void
fab_folding_enter (FabFolding *self, FabFoldedFlow *flow)
{
  find_classes (self, flow);
  fab_sharing_enter (self->sharing, &flow->sharer);
}

void
fab_folding_add (FabFolding *self, FabFoldedFlow *flow)
{
  find_classes (self, flow);
  fab_sharing_add (self->sharing, &flow->sharer);
}

void
fab_folding_remove (FabFolding *self, FabFoldedFlow *flow)
{
  fab_sharing_remove (self->sharing, &flow->sharer);
  if (flow->stays)
    g_queue_unlink (&self->staying, &flow->place);
  else
    fab_blocks_give (&self->apart, (guint *) flow->sharer.links, flow->n);
}

void
fab_folding_change_capacity (FabFolding *self, guint link)
{
  guint version = link_fold_version (self->fold);
  guint class = link_fold_apart (self->fold, link);

  resettle (self, version);
  fab_sharing_change_capacity (self->sharing, class, self->capacity (self->owner, link));
}
