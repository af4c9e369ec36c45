/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/shortcut/memo/form_book.h"

#include <string.h>

#include "sim/collective/plan/form_recipe.h"

/* A form that makes all forms together larger, in links and replicas of about 24 bytes each, is not kept. Graphs with
 * more rates do not fit. */
enum { MOST_ITEMS = 1 << 22, MOST_RATES = 32 };

typedef struct {
  const FabAlgorithmOps *algorithm;
  FabOp op;
  double net_stretch;
  guint n_nodes, gpus_per_node;
  FabCluster cluster; /* its places alone */
  FabCollectiveForm form;
  FabFormRecipe *recipe;
} Record;

struct _FabFormBook {
  FabFormMemo memo;
  gatomicrefcount n_owners;
  guint n_vertices, n_links;
  FabLink *links;
  GMutex lock;                 /* of what follows */
  GPtrArray *records;          /* Record; none goes before the book does */
  guint64 n_items, most_items; /* of all records */
};

static void
record_free (gpointer data)
{
  Record *self = data;

  fab_footprint_free (self->form.footprint);
  fab_form_recipe_free (self->recipe);
  fab_cluster_clear (&self->cluster);
  g_free (self);
}

FabFormBook *
fab_form_book_ref (FabFormBook *self)
{
  g_atomic_ref_count_inc (&self->n_owners);
  return self;
}

void
fab_form_book_unref (FabFormBook *self)
{
  if (self == NULL || !g_atomic_ref_count_dec (&self->n_owners))
    return;
  g_ptr_array_unref (self->records);
  g_mutex_clear (&self->lock);
  g_free (self->links);
  g_free (self);
}

/* A rate of the book's links, and what it is in another graph. */
typedef struct {
  FabBytesPerS known, other;
} Rates;

/* FALSE: the rate has become two, or changes places with another, or there are too many. */
static gboolean
add_rates (Rates *all, guint *n, Rates rates)
{
  for (guint i = *n; i-- > 0;) {
    if (all[i].known == rates.known)
      return all[i].other == rates.other;
    if ((all[i].known < rates.known) != (all[i].other < rates.other) || all[i].other == rates.other)
      return FALSE;
  }
  if (*n == MOST_RATES)
    return FALSE;
  all[(*n)++] = rates;
  return TRUE;
}

static gboolean
is_of_fabric (const FabGraph *graph, FabVertexId id)
{
  const FabVertex *vertex = fab_graph_vertex (graph, id);

  return vertex->kind == FAB_VERTEX_NIC || (vertex->kind == FAB_VERTEX_SWITCH && vertex->node == FAB_NO_NODE);
}

/* Paths of a collective neither begin nor end in a drive, and no path leads on through one. */
static gboolean
is_of_drive (const FabGraph *graph, const FabLink *link)
{
  return fab_graph_vertex (graph, link->src)->kind == FAB_VERTEX_STORAGE
      || fab_graph_vertex (graph, link->dst)->kind == FAB_VERTEX_STORAGE;
}

static gboolean
is_same_link (const FabLink *a, const FabLink *b)
{
  return a->src == b->src && a->dst == b->dst && a->latency_ps == b->latency_ps
      && a->class_index == b->class_index && a->count == b->count && a->reverse == b->reverse;
}

gboolean
fab_form_book_fits (const FabFormBook *self, const FabGraph *graph)
{
  Rates rates[MOST_RATES];
  guint n = 0;

  if (fab_graph_n_vertices (graph) != self->n_vertices || fab_graph_n_links (graph) != self->n_links)
    return FALSE;
  for (FabLinkId id = 0; id < self->n_links; id++) {
    const FabLink *known = &self->links[id], *link = fab_graph_link (graph, id);
    Rates pair = { known->rate_bytes_per_s, link->rate_bytes_per_s };

    if (!is_same_link (known, link) || (!is_of_drive (graph, link) && !add_rates (rates, &n, pair)))
      return FALSE;
    if (pair.known != pair.other && !(is_of_fabric (graph, link->src) && is_of_fabric (graph, link->dst)))
      return FALSE;
  }
  return TRUE;
}

static gboolean
are_same (const guint *a, const guint *b, gsize n)
{
  return n == 0 || memcmp (a, b, n * sizeof *a) == 0;
}

static gboolean
is_of_group (const Record *self, const FabGroup *group)
{
  const FabCluster *a = &self->cluster, *b = group->cluster;

  return self->n_nodes == group->n_nodes && self->gpus_per_node == group->gpus_per_node
      && a->n_nodes == b->n_nodes && a->gpus_per_node == b->gpus_per_node
      && a->nics_per_node == b->nics_per_node
      && are_same (a->gpus, b->gpus, (gsize) b->n_nodes * b->gpus_per_node)
      && are_same (a->nics, b->nics, (gsize) b->n_nodes * b->nics_per_node)
      && are_same (a->nic_hops, b->nic_hops, (gsize) b->gpus_per_node * b->nics_per_node);
}

static const Record *
find_record (FabFormBook *self, const FabAlgorithmOps *algorithm, const FabGroup *group, FabOp op,
             double net_stretch)
{
  const Record *found = NULL;

  g_mutex_lock (&self->lock);
  for (guint i = 0; i < self->records->len && found == NULL; i++) {
    const Record *record = g_ptr_array_index (self->records, i);

    if (record->algorithm == algorithm && record->op == op
        && memcmp (&record->net_stretch, &net_stretch, sizeof net_stretch) == 0
        && is_of_group (record, group))
      found = record;
  }
  g_mutex_unlock (&self->lock);
  return found;
}

static gboolean
book_find (FabFormMemo *memo, const FabAlgorithmOps *algorithm, const FabGroup *group, FabOp op,
           double net_stretch, FabCollectiveForm *form)
{
  FabFormBook *self = (FabFormBook *) memo;
  const Record *record = group->cluster->uneven == NULL
                           ? find_record (self, algorithm, group, op, net_stretch)
                           : NULL;

  if (record != NULL)
    fab_form_recipe_replay (record->recipe, group->cluster->graph, &record->form, form);
  return record != NULL;
}

/* Where its ranks and NICs are. */
static FabCluster
copy_places (const FabCluster *cluster)
{
  FabCluster copy = { .n_nodes = cluster->n_nodes,
                      .gpus_per_node = cluster->gpus_per_node,
                      .nics_per_node = cluster->nics_per_node };
  gsize n = cluster->n_nodes;

  copy.gpus = g_memdup2 (cluster->gpus, n * cluster->gpus_per_node * sizeof (FabVertexId));
  copy.nics = g_memdup2 (cluster->nics, n * cluster->nics_per_node * sizeof (FabVertexId));
  copy.nic_hops = g_memdup2 (cluster->nic_hops,
                             (gsize) cluster->gpus_per_node * cluster->nics_per_node * sizeof (guint));
  return copy;
}

static void
book_add (FabFormMemo *memo, const FabAlgorithmOps *algorithm, const FabGroup *group, FabOp op,
          double net_stretch, const FabCollectiveForm *form, FabFormRecipe *recipe)
{
  FabFormBook *self = (FabFormBook *) memo;
  guint64 n_items = (guint64) form->footprint->n + fab_form_recipe_n_sends (recipe);
  Record *record;

  if (!fab_form_recipe_is_whole (recipe) || group->cluster->uneven != NULL) {
    fab_form_recipe_free (recipe);
    return;
  }
  record = g_new0 (Record, 1);
  *record = (Record){
    algorithm, op,    net_stretch, group->n_nodes, group->gpus_per_node, copy_places (group->cluster),
    *form,     recipe
  };
  record->form.footprint = fab_footprint_on (form->footprint, group->cluster->graph);
  g_mutex_lock (&self->lock);
  if (self->n_items + n_items <= self->most_items) {
    self->n_items += n_items;
    g_ptr_array_add (self->records, g_steal_pointer (&record));
  }
  g_mutex_unlock (&self->lock);
  if (record != NULL)
    record_free (record);
}

FabFormBook *
fab_form_book_new (const FabGraph *graph)
{
  FabFormBook *self = g_new0 (FabFormBook, 1);

  self->memo = (FabFormMemo){ book_find, book_add };
  g_atomic_ref_count_init (&self->n_owners);
  self->n_vertices = fab_graph_n_vertices (graph);
  self->n_links = fab_graph_n_links (graph);
  self->links = g_new (FabLink, self->n_links + 1);
  for (FabLinkId link = 0; link < self->n_links; link++)
    self->links[link] = *fab_graph_link (graph, link);
  g_mutex_init (&self->lock);
  fab_form_book_keep_at_most (self, MOST_ITEMS);
  self->records = g_ptr_array_new_with_free_func (record_free);
  return self;
}

void
fab_form_book_keep_at_most (FabFormBook *self, guint64 n_items)
{
  self->most_items = n_items;
}

FabFormMemo *
fab_form_book_memo (FabFormBook *self)
{
  return &self->memo;
}
