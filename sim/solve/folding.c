/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/solve/folding.h"

#include "sim/base/pool.h"
#include "sim/solve/link_fold.h"

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
  GHashTable *folded; /* by array of links */
  GPtrArray *staying; /* FabFoldedFlow that stay */
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
  self->fold = fab_link_fold_new (n_links, capacity, owner, is_flat);
  self->capacity = capacity;
  self->owner = owner;
  self->folded = g_hash_table_new_full (NULL, NULL, NULL, folded_free);
  self->staying = g_ptr_array_new ();
  fab_blocks_init (&self->apart, sizeof (guint));
  return self;
}

void
fab_folding_free (FabFolding *self)
{
  if (self == NULL)
    return;
  fab_sharing_free (self->sharing);
  fab_link_fold_free (self->fold);
  g_hash_table_unref (self->folded);
  g_ptr_array_unref (self->staying);
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
  fab_sharing_set_capacity (self->sharing, fab_link_fold_class (self->fold, link),
                            self->capacity (self->owner, link));
}

static void
fold_again (FabFolding *self, const FabFoldedFlow *flow, Folded *folded)
{
  g_array_set_size (folded->classes, 0);
  g_array_set_size (folded->weights, 0);
  for (guint i = 0; i < flow->n; i++) {
    guint class = fab_link_fold_class (self->fold, flow->links[i]);

    if (!fab_link_fold_stands (self->fold, flow->links[i]))
      continue;
    g_array_append_val (folded->classes, class);
    g_array_append_vals (folded->weights, &flow->weights[i], 1);
    set_capacity (self, flow->links[i]);
  }
  folded->version = fab_link_fold_version (self->fold);
}

static Folded *
take_folded (FabFolding *self, const FabFoldedFlow *flow)
{
  Folded *folded = g_hash_table_lookup (self->folded, flow->links);

  if (folded == NULL) {
    folded = g_new0 (Folded, 1);
    folded->classes = g_array_new (FALSE, FALSE, sizeof (guint));
    folded->weights = g_array_new (FALSE, FALSE, sizeof (double));
    g_hash_table_insert (self->folded, (gpointer) flow->links, folded);
    fab_link_fold_let_in (self->fold, flow->links, flow->weights, flow->n);
    folded->version = fab_link_fold_version (self->fold) - 1;
  }
  return folded;
}

/* Rewrites the flow for the present classes. */
static void
look_up (FabFolding *self, FabFoldedFlow *flow)
{
  Folded *folded = take_folded (self, flow);

  if (folded->version != fab_link_fold_version (self->fold))
    fold_again (self, flow, folded);
  flow->sharer.links = (const guint *) (gpointer) folded->classes->data;
  flow->sharer.weights = (const double *) (gpointer) folded->weights->data;
  flow->sharer.n = folded->classes->len;
}

/* After a split of classes: the flows that stay leave with their old classes and enter with the new ones, in the order
 * in which they first came. */
static void
resettle (FabFolding *self, guint version)
{
  if (version == fab_link_fold_version (self->fold))
    return;
  for (guint i = 0; i < self->staying->len; i++)
    fab_sharing_leave (self->sharing, &((FabFoldedFlow *) g_ptr_array_index (self->staying, i))->sharer);
  for (guint i = 0; i < self->staying->len; i++) {
    FabFoldedFlow *flow = g_ptr_array_index (self->staying, i);

    look_up (self, flow);
    fab_sharing_add (self->sharing, &flow->sharer);
  }
}

static void
set_apart (FabFolding *self, FabFoldedFlow *flow)
{
  guint *classes = fab_blocks_take (&self->apart, flow->n);

  for (guint i = 0; i < flow->n; i++) {
    classes[i] = fab_link_fold_apart (self->fold, flow->links[i]);
    set_capacity (self, flow->links[i]);
  }
  flow->sharer.links = classes;
  flow->sharer.weights = flow->weights;
  flow->sharer.n = flow->n;
}

static void
find_classes (FabFolding *self, FabFoldedFlow *flow)
{
  guint version = fab_link_fold_version (self->fold);

  if (flow->stays)
    look_up (self, flow);
  else
    set_apart (self, flow);
  resettle (self, version);
  if (!flow->stays)
    return;
  flow->index = self->staying->len;
  g_ptr_array_add (self->staying, flow);
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
  if (!flow->stays) {
    fab_blocks_give (&self->apart, (guint *) flow->sharer.links, flow->n);
    return;
  }
  g_ptr_array_remove_index (self->staying, flow->index);
  for (guint i = flow->index; i < self->staying->len; i++)
    ((FabFoldedFlow *) g_ptr_array_index (self->staying, i))->index = i;
}

void
fab_folding_change_capacity (FabFolding *self, guint link)
{
  guint version = fab_link_fold_version (self->fold);
  guint class = fab_link_fold_apart (self->fold, link);

  resettle (self, version);
  fab_sharing_change_capacity (self->sharing, class, self->capacity (self->owner, link));
}
