/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/shortcut/memo/form_book.h"

#include <string.h>

/* A form with hops of more kinds is not kept, nor one that makes all forms together larger, in links and stages of
 * about 24 bytes each. Graphs with more rates do not fit. */
enum { MOST_HOPS = 64, MOST_SAMPLES = 16, MOST_ITEMS = 1 << 22, MOST_RATES = 32 };

/* --- tapes --- */

/* A link of a hop that stands for all of the hop with the same rate and class. */
typedef struct {
  FabLinkId link;
  FabBytesPerS rate_bytes_per_s;
  guint32 class_index;
} Sample;

typedef struct {
  FabHopKind kind;
  FabDrive drive;
  double stretch;
  guint n;
  Sample samples[MOST_SAMPLES];
} TapeHop;

typedef struct {
  guint hop;
  guint n_after; /* of the list of them all */
  double factor;
} TapeStage;

struct _FabFormTape {
  const FabGraph *graph; /* while it is recorded */
  GArray *hops;          /* TapeHop, as they came up first */
  GArray *stages;        /* TapeStage */
  GArray *after;         /* guint: stages that a stage waits for, one list behind the other */
  guint part;            /* the first stage of this part */
  gboolean is_broken;    /* rates decided about more than a tape holds */
  gboolean is_closed, is_pipeline;
};

FabFormTape *
fab_form_tape_new (const FabGraph *graph)
{
  FabFormTape *self = g_new0 (FabFormTape, 1);

  self->graph = graph;
  self->hops = g_array_new (FALSE, FALSE, sizeof (TapeHop));
  self->stages = g_array_new (FALSE, FALSE, sizeof (TapeStage));
  self->after = g_array_new (FALSE, FALSE, sizeof (guint));
  return self;
}

void
fab_form_tape_free (FabFormTape *self)
{
  if (self == NULL)
    return;
  g_array_unref (self->hops);
  g_array_unref (self->stages);
  g_array_unref (self->after);
  g_free (self);
}

static gboolean
add_sample (TapeHop *self, Sample sample)
{
  for (guint i = 0; i < self->n; i++)
    if (self->samples[i].rate_bytes_per_s == sample.rate_bytes_per_s
        && self->samples[i].class_index == sample.class_index)
      return TRUE;
  if (self->n == MOST_SAMPLES)
    return FALSE;
  self->samples[self->n++] = sample;
  return TRUE;
}

/* FALSE: the hop spreads its bytes, and rates may have said how; or it has a limit that does not follow rates. */
static gboolean
look_at (const FabGraph *graph, const FabHop *hop, TapeHop *found)
{
  *found = (TapeHop){ .kind = hop->kind, .drive = hop->drive, .stretch = hop->stretch };
  if (hop->device_stretch > 1)
    return FALSE;
  for (guint i = 0; i < hop->shares->len; i++) {
    const FabShare *share = &g_array_index (hop->shares, FabShare, i);
    const FabLink *link = fab_graph_link (graph, share->link);

    if (share->fraction < 1
        || !add_sample (found, (Sample){ share->link, link->rate_bytes_per_s, link->class_index }))
      return FALSE;
  }
  return TRUE;
}

static gboolean
is_same_hop (const TapeHop *a, const TapeHop *b)
{
  if (a->kind != b->kind || a->drive != b->drive || a->n != b->n
      || memcmp (&a->stretch, &b->stretch, sizeof a->stretch) != 0)
    return FALSE;
  for (guint i = 0; i < a->n; i++)
    if (a->samples[i].rate_bytes_per_s != b->samples[i].rate_bytes_per_s
        || a->samples[i].class_index != b->samples[i].class_index)
      return FALSE;
  return TRUE;
}

guint
fab_form_tape_hop (FabFormTape *self, const FabHop *hop)
{
  TapeHop found;

  self->is_broken = self->is_broken || !look_at (self->graph, hop, &found);
  if (self->is_broken)
    return 0;
  for (guint i = 0; i < self->hops->len; i++)
    if (is_same_hop (&g_array_index (self->hops, TapeHop, i), &found))
      return i;
  self->is_broken = self->hops->len == MOST_HOPS;
  g_array_append_val (self->hops, found);
  return self->hops->len - 1;
}

void
fab_form_tape_stage (FabFormTape *self, const FabHop *hop, double factor, const GArray *after)
{
  TapeStage stage = { fab_form_tape_hop (self, hop), after != NULL ? after->len : 0, factor };

  if (self->is_broken)
    return;
  for (guint i = 0; i < stage.n_after; i++) {
    guint index = self->part + g_array_index (after, guint, i);

    g_array_append_val (self->after, index);
  }
  g_array_append_val (self->stages, stage);
}

void
fab_form_tape_end_part (FabFormTape *self)
{
  self->part = self->stages->len;
}

void
fab_form_tape_close (FabFormTape *self, gboolean is_pipeline)
{
  self->is_closed = TRUE;
  self->is_pipeline = is_pipeline;
}

/* --- a form of other rates --- */

/* As sim/work/hop.c has it. */
static double
rate_of (const TapeHop *self, const FabGraph *graph, const FabTechnology **technology)
{
  double slowest = G_MAXDOUBLE;

  for (guint i = 0; i < self->n; i++) {
    const FabLinkClass *link_class = fab_graph_link_class (graph, self->samples[i].link);
    double rate = (double) fab_graph_link (graph, self->samples[i].link)->rate_bytes_per_s
                / link_class->cost[self->drive];

    if (rate < slowest) {
      slowest = rate;
      *technology = link_class->technology;
    }
  }
  return self->stretch > 1 ? slowest / self->stretch : slowest;
}

/* The rates of all hops, and which hops are the slowest of the form. */
static void
take_rates (const FabFormTape *self, const FabGraph *graph, double *rates, FabCollectiveForm *form)
{
  double slowest[2] = { G_MAXDOUBLE, G_MAXDOUBLE };

  for (guint i = 0; i < self->hops->len; i++) {
    const TapeHop *hop = &g_array_index (self->hops, TapeHop, i);
    gboolean is_inter = fab_hop_kind_is_net (hop->kind);
    const FabTechnology *technology = NULL;

    rates[i] = rate_of (hop, graph, &technology);
    if (rates[i] >= slowest[is_inter])
      continue;
    slowest[is_inter] = rates[i];
    *(is_inter ? &form->inter_kind : &form->intra_kind) = hop->kind;
    if (!is_inter)
      form->intra_technology = technology;
  }
}

/* Seconds per byte of the slowest sequence of stages. */
static double
slowest_s_per_byte (const FabFormTape *self, const double *rates)
{
  g_autofree double *seconds = g_new (double, self->stages->len + 1);
  const guint *after = (const guint *) (gconstpointer) self->after->data;
  TapeStage last = { .hop = G_MAXUINT };
  double slowest = 0, own = 0;

  for (guint i = 0; i < self->stages->len; i++) {
    const TapeStage *stage = &g_array_index (self->stages, TapeStage, i);
    double before = 0;

    for (guint k = 0; k < stage->n_after; k++)
      before = MAX (before, seconds[after[k]]);
    after += stage->n_after;
    if (stage->hop != last.hop || stage->factor > last.factor || stage->factor < last.factor) {
      own = stage->factor / rates[stage->hop];
      last = *stage;
    }
    seconds[i] = before + own;
    slowest = MAX (slowest, seconds[i]);
  }
  return slowest;
}

static void
play_tape (const FabFormTape *self, const FabGraph *graph, const FabCollectiveForm *known,
           FabCollectiveForm *form)
{
  double rates[MOST_HOPS];

  *form = *known;
  form->footprint = fab_footprint_on (known->footprint, graph);
  take_rates (self, graph, rates, form);
  if (self->is_pipeline)
    form->fill_s_per_byte = MAX (slowest_s_per_byte (self, rates) - 1 / form->footprint->rate_bytes_per_s, 0);
}

/* --- books --- */

typedef struct {
  const FabAlgorithmOps *algorithm;
  FabOp op;
  double net_stretch;
  guint n_nodes, gpus_per_node;
  FabCluster cluster; /* its places alone */
  FabCollectiveForm form;
  FabFormTape *tape;
} Record;

struct _FabFormBook {
  gatomicrefcount n_owners;
  guint n_vertices, n_links;
  FabLink *links;
  GMutex lock;        /* of what follows */
  GPtrArray *records; /* Record; none goes before the book does */
  guint64 n_items;    /* of all records */
};

static void
record_free (gpointer data)
{
  Record *self = data;

  fab_footprint_free (self->form.footprint);
  fab_form_tape_free (self->tape);
  fab_cluster_clear (&self->cluster);
  g_free (self);
}

FabFormBook *
fab_form_book_new (const FabGraph *graph)
{
  FabFormBook *self = g_new0 (FabFormBook, 1);

  g_atomic_ref_count_init (&self->n_owners);
  self->n_vertices = fab_graph_n_vertices (graph);
  self->n_links = fab_graph_n_links (graph);
  self->links = g_new (FabLink, self->n_links + 1);
  for (FabLinkId link = 0; link < self->n_links; link++)
    self->links[link] = *fab_graph_link (graph, link);
  g_mutex_init (&self->lock);
  self->records = g_ptr_array_new_with_free_func (record_free);
  return self;
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

gboolean
fab_form_book_find (FabFormBook *self, const FabAlgorithmOps *algorithm, const FabGroup *group, FabOp op,
                    double net_stretch, FabCollectiveForm *form)
{
  const Record *record = group->cluster->uneven == NULL
                           ? find_record (self, algorithm, group, op, net_stretch)
                           : NULL;

  if (record != NULL)
    play_tape (record->tape, group->cluster->graph, &record->form, form);
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

void
fab_form_book_add (FabFormBook *self, const FabAlgorithmOps *algorithm, const FabGroup *group, FabOp op,
                   double net_stretch, const FabCollectiveForm *form, FabFormTape *tape)
{
  guint64 n_items = (guint64) form->footprint->n + tape->stages->len;
  Record *record;

  if (!tape->is_closed || tape->is_broken || group->cluster->uneven != NULL) {
    fab_form_tape_free (tape);
    return;
  }
  record = g_new0 (Record, 1);
  *record = (Record){
    algorithm, op,  net_stretch, group->n_nodes, group->gpus_per_node, copy_places (group->cluster),
    *form,     tape
  };
  record->form.footprint = fab_footprint_on (form->footprint, group->cluster->graph);
  g_mutex_lock (&self->lock);
  if (self->n_items + n_items <= MOST_ITEMS) {
    self->n_items += n_items;
    g_ptr_array_add (self->records, g_steal_pointer (&record));
  }
  g_mutex_unlock (&self->lock);
  if (record != NULL)
    record_free (record);
}
