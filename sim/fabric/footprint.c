/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/fabric/footprint.h"

#include <math.h>

#include "sim/base/order.h"
#include "sim/fabric/symmetry.h"

enum { RUN_LINKS = 16, FIRST_SLOTS = 16, BLOCK_RUNS = 128 };

/* What has been put on one link so far. */
typedef struct {
  double weight; /* 0: the link is unused */
  double line_weight;
} Load;

/* Uses of one link that suffer from those of the other direction. */
typedef struct {
  double stretch;   /* largest duplex_stretch of its uses */
  FabLinkId sender; /* the sender of those uses; FAB_NO_LINK: several senders */
} Duplex;

/* A run is a block of consecutive links. The links of one vertex are consecutive, so one lookup finds them all. */
typedef struct {
  guint32 number; /* number of its first link, counted in runs */
  guint n_used;
  Load loads[RUN_LINKS];
} Run;

typedef struct {
  Duplex links[RUN_LINKS];
} DuplexRun;

/* The runs are kept in a hash table (open addressing, at most half full), so that a small group in a large graph
 * costs only what it uses. Once it would have a slot for every run of the graph, each run has its own: neighbours then
 * lie side by side. */
struct _FabShapeBuilder {
  const FabGraph *graph;
  GPtrArray *blocks; /* of BLOCK_RUNS Run each, so that a large builder is not copied as it grows */
  guint n_runs;
  /* of DuplexRun, of as many of the runs as had to be reached; empty where nothing suffers from the other direction */
  GArray *duplexes;
  guint *slots;  /* [n_slots] index into runs + 1; 0: empty */
  guint n_slots; /* a power of 2, or the number of runs of the graph */
  gboolean is_direct;
  gboolean keeps_duplex; /* `duplexes` come from earlier footprints */
  GArray *used;          /* guint64 for each run with used links: its number << 32, and its index */
};

static inline Run *
run_at (const FabFootprintBuilder *self, guint index)
{
  return &((Run *) self->blocks->pdata[index / BLOCK_RUNS])[index % BLOCK_RUNS];
}

/* Returns the slot of a run, or the slot where it would go. Fibonacci hashing. */
static guint *
find_slot (const FabFootprintBuilder *self, guint32 number)
{
  if (self->is_direct)
    return &self->slots[number];
  guint i = (number * 2654435769u) & (self->n_slots - 1);
  while (self->slots[i] > 0 && run_at (self, self->slots[i] - 1)->number != number)
    i = (i + 1) & (self->n_slots - 1);
  return &self->slots[i];
}

static void
grow_slots (FabFootprintBuilder *self)
{
  guint n_all = fab_graph_n_links (self->graph) / RUN_LINKS + 1;

  self->is_direct = self->n_slots >= n_all / 2;
  self->n_slots = self->is_direct ? n_all : 2 * self->n_slots;
  g_free (self->slots);
  self->slots = g_new0 (guint, self->n_slots);
  for (guint i = 0; i < self->n_runs; i++)
    *find_slot (self, run_at (self, i)->number) = i + 1;
}

/* Returns what is known of both directions of a link that is in the run of this index; NULL: nothing. */
static Duplex *
duplex_at (const FabFootprintBuilder *self, guint run, FabLinkId link)
{
  return run < self->duplexes->len ? &g_array_index (self->duplexes, DuplexRun, run).links[link % RUN_LINKS]
                                   : NULL;
}

static const Duplex *
find_duplex (const FabFootprintBuilder *self, FabLinkId link)
{
  guint slot = *find_slot (self, link / RUN_LINKS);

  return slot > 0 ? duplex_at (self, slot - 1, link) : NULL;
}

/* Returns the index of a run, which is added if need be. */
static guint
take_run (FabFootprintBuilder *self, guint32 number)
{
  guint slot = *find_slot (self, number);

  if (slot > 0)
    return slot - 1;
  if (2 * (self->n_runs + 1) > self->n_slots && !self->is_direct)
    grow_slots (self);
  if (self->n_runs % BLOCK_RUNS == 0)
    g_ptr_array_add (self->blocks, g_new0 (Run, BLOCK_RUNS));
  run_at (self, self->n_runs++)->number = number;
  *find_slot (self, number) = self->n_runs;
  return self->n_runs - 1;
}

/* Returns the load of a link of a run for adding to it. It is valid until the next call. */
static Load *
take_load (FabFootprintBuilder *self, guint index, FabLinkId link)
{
  Run *run = run_at (self, index);
  Load *load = &run->loads[link % RUN_LINKS];

  if (load->weight <= 0 && run->n_used++ == 0) {
    guint64 used = (guint64) run->number << 32 | index;

    g_array_append_val (self->used, used);
  }
  return load;
}

FabFootprintBuilder *
fab_footprint_builder_new (const FabGraph *graph)
{
  FabFootprintBuilder *self = g_new0 (FabFootprintBuilder, 1);

  self->graph = graph;
  self->blocks = g_ptr_array_new_with_free_func (g_free);
  self->duplexes = g_array_new (FALSE, TRUE, sizeof (DuplexRun));
  self->n_slots = FIRST_SLOTS;
  self->slots = g_new0 (guint, self->n_slots);
  self->used = g_array_new (FALSE, FALSE, sizeof (guint64));
  return self;
}

void
fab_footprint_builder_free (FabFootprintBuilder *self)
{
  if (self == NULL)
    return;
  g_ptr_array_unref (self->blocks);
  g_array_unref (self->duplexes);
  g_free (self->slots);
  g_array_unref (self->used);
  g_free (self);
}

static gboolean
is_of_device (const FabGraph *graph, FabLinkId id)
{
  const FabLink *link = fab_graph_link (graph, id);

  return fab_graph_vertex (graph, link->src)->kind == FAB_VERTEX_ACCELERATOR
      || fab_graph_vertex (graph, link->dst)->kind == FAB_VERTEX_ACCELERATOR;
}

static void
note_duplex (FabFootprintBuilder *self, guint run, FabLinkId link, FabLinkId sender, double stretch)
{
  if (run >= self->duplexes->len)
    g_array_set_size (self->duplexes, self->n_runs);
  Duplex *duplex = duplex_at (self, run, link);
  duplex->sender = duplex->stretch > 1 && duplex->sender != sender ? FAB_NO_LINK : sender;
  duplex->stretch = MAX (duplex->stretch, stretch);
}

/* `sender` is the first link of the sender's route. */
static void
add_link (FabFootprintBuilder *self, FabLinkId link, FabLinkId sender, FabUse use)
{
  guint run = take_run (self, link / RUN_LINKS);
  Load *load = take_load (self, run, link);

  g_assert (use.weight > 0 && use.stretch >= 1);
  if (use.device_stretch > 1 && is_of_device (self->graph, link))
    use.stretch *= use.device_stretch;
  load->weight += use.weight;
  load->line_weight += use.weight * use.stretch * fab_graph_link_class (self->graph, link)->cost[use.drive];
  if (use.duplex_stretch > 1 && !self->keeps_duplex)
    note_duplex (self, run, link, sender, use.duplex_stretch);
}

static gboolean
crosses_back (const FabFootprintBuilder *self, const GArray *shares, FabLinkId link)
{
  FabLinkId reverse = fab_graph_link (self->graph, link)->reverse;

  for (guint i = 0; i < shares->len; i++)
    if (g_array_index (shares, FabShare, i).link == reverse)
      return TRUE;
  return FALSE;
}

/* Copy engines that stage their bytes lose rate at the devices only: between two RTX 4090 behind one switch, copies
 * reach 20.1 GB/s one way and 21.1 GB/s in total both ways; elsewhere 22.2 and 30 GB/s (NVIDIA/nccl issue 814). */
void
fab_footprint_builder_add_shares (FabFootprintBuilder *self, const GArray *shares, FabUse use)
{
  const FabShare *all = (const FabShare *) (gconstpointer) shares->data;
  double weight = use.weight, duplex = use.duplex_stretch;

  for (guint i = 0; i < shares->len; i++) {
    use.weight = weight * all[i].fraction;
    use.duplex_stretch = use.drive == FAB_DRIVE_COPY && duplex > 1 && crosses_back (self, shares, all[i].link)
                           ? 1
                           : duplex;
    add_link (self, all[i].link, all[0].link, use);
  }
}

void
fab_footprint_builder_add (FabFootprintBuilder *self, const FabPath *path, FabUse use)
{
  for (guint i = 0; i < path->n; i++)
    add_link (self, path->links[i], path->links[0], use);
}

static void
add_loaded (FabFootprintBuilder *self, FabLinkId link, double weight, double line_weight)
{
  Load *load = take_load (self, take_run (self, link / RUN_LINKS), link);

  load->weight += weight;
  load->line_weight += line_weight;
}

void
fab_footprint_builder_add_footprint (FabFootprintBuilder *self, const FabFootprint *footprint)
{
  for (guint i = 0; i < footprint->n; i++)
    add_loaded (self, footprint->links[i], footprint->weights[i], footprint->line_weights[i]);
}

void
fab_footprint_builder_add_symmetric (FabFootprintBuilder *self, const FabFootprint *footprint,
                                     FabVertexId shift)
{
  for (guint i = 0; i < footprint->n; i++)
    add_loaded (self, fab_symmetry_link (self->graph, footprint->links[i], shift), footprint->weights[i],
                footprint->line_weights[i]);
}

/* A sender does not slow itself down: its bytes may cross a link in both directions, into host memory and back. */
static gboolean
is_contended (const Duplex *one, const Duplex *reverse)
{
  return one->sender == FAB_NO_LINK || one->sender != reverse->sender;
}

static guint
used_run (const FabFootprintBuilder *self, guint i)
{
  return (guint32) g_array_index (self->used, guint64, i);
}

/* Slows both directions of a link when both carry traffic that suffers from that. */
static void
stretch_duplex (FabFootprintBuilder *self, guint index)
{
  Run *run = run_at (self, index);

  for (guint i = 0; index < self->duplexes->len && i < RUN_LINKS; i++) {
    const Duplex *duplex = duplex_at (self, index, i);

    if (run->loads[i].weight <= 0 || duplex->stretch <= 1)
      continue;
    const FabLink *link = fab_graph_link (self->graph, run->number * RUN_LINKS + i);
    const Duplex *reverse = find_duplex (self, link->reverse);

    if (reverse != NULL && reverse->stretch > 1 && is_contended (duplex, reverse))
      run->loads[i].line_weight *= MIN (duplex->stretch, reverse->stretch);
  }
}

void
fab_footprint_builder_keep_duplex (FabFootprintBuilder *self)
{
  self->keeps_duplex = TRUE;
  fab_footprint_free (fab_footprint_builder_finish (self));
}

/* Appends what was put on the links of a run to the footprint, and clears the run. */
static void
take_out (const FabFootprintBuilder *self, guint index, FabFootprint *footprint)
{
  Run *run = run_at (self, index);

  for (guint i = 0; i < RUN_LINKS; i++) {
    Load *load = &run->loads[i];

    if (load->weight <= 0)
      continue;
    footprint->links[footprint->n] = run->number * RUN_LINKS + i;
    footprint->weights[footprint->n] = load->weight;
    footprint->line_weights[footprint->n++] = load->line_weight;
    load->weight = load->line_weight = 0;
    if (!self->keeps_duplex && index < self->duplexes->len)
      duplex_at (self, index, i)->stretch = 1;
  }
  run->n_used = 0;
}

/* A link becomes the binding link only when it is slower than the one before by more than the rounding of the
 * sums. */
static void
find_bounds (FabFootprint *self, const FabGraph *graph)
{
  const double rounding = 1e-12;

  self->rate_bytes_per_s = G_MAXDOUBLE;
  self->line_bound_bytes_per_s = G_MAXDOUBLE;
  for (guint i = 0; i < self->n; i++) {
    double line = (double) fab_graph_link (graph, self->links[i])->rate_bytes_per_s;
    double rate = line / self->line_weights[i];

    self->line_bound_bytes_per_s = MIN (self->line_bound_bytes_per_s, line / self->weights[i]);
    if (rate < self->rate_bytes_per_s * (1 - rounding)) {
      self->binding_link = self->links[i];
      self->binding_weight = self->weights[i];
    }
    self->rate_bytes_per_s = MIN (self->rate_bytes_per_s, rate);
  }
}

FabFootprint *
fab_footprint_new (guint n)
{
  FabFootprint *self = g_new0 (FabFootprint, 1);

  self->links = g_atomic_rc_box_alloc0 (n * sizeof (FabLinkId));
  self->weights = g_atomic_rc_box_alloc0 (n * sizeof (double));
  self->line_weights = g_atomic_rc_box_alloc0 (n * sizeof (double));
  return self;
}

FabFootprint *
fab_footprint_builder_finish (FabFootprintBuilder *self)
{
  FabFootprint *footprint;
  guint n = 0;

  g_assert (self->used->len > 0);
  g_array_sort (self->used, fab_order_uint64s);
  for (guint i = 0; i < self->used->len; i++) {
    n += run_at (self, used_run (self, i))->n_used;
    stretch_duplex (self, used_run (self, i));
  }
  footprint = fab_footprint_new (n);
  for (guint i = 0; i < self->used->len; i++)
    take_out (self, used_run (self, i), footprint);
  g_array_set_size (self->used, 0);
  find_bounds (footprint, self->graph);
  return footprint;
}

void
fab_footprint_free (FabFootprint *self)
{
  if (self == NULL)
    return;
  g_atomic_rc_box_release (self->links);
  g_atomic_rc_box_release (self->weights);
  g_atomic_rc_box_release (self->line_weights);
  g_free (self);
}

/* The same footprint, with the same arrays. */
static FabFootprint *
copy (const FabFootprint *self)
{
  FabFootprint *made = g_memdup2 (self, sizeof *self);

  g_atomic_rc_box_acquire (made->links);
  g_atomic_rc_box_acquire (made->weights);
  g_atomic_rc_box_acquire (made->line_weights);
  return made;
}

FabFootprint *
fab_footprint_on (const FabFootprint *self, const FabGraph *graph)
{
  FabFootprint *made = copy (self);

  find_bounds (made, graph);
  return made;
}

FabFootprint *
fab_footprint_doubled (const FabFootprint *self, int exponent)
{
  FabFootprint *made;

  if (exponent == 0)
    return copy (self);
  made = g_memdup2 (self, sizeof *self);
  g_atomic_rc_box_acquire (made->links);
  made->weights = g_atomic_rc_box_alloc (self->n * sizeof (double));
  made->line_weights = g_atomic_rc_box_alloc (self->n * sizeof (double));
  for (guint i = 0; i < self->n; i++) {
    made->weights[i] = ldexp (self->weights[i], exponent);
    made->line_weights[i] = ldexp (self->line_weights[i], exponent);
  }
  made->binding_weight = ldexp (self->binding_weight, exponent);
  made->rate_bytes_per_s = ldexp (self->rate_bytes_per_s, -exponent);
  made->line_bound_bytes_per_s = ldexp (self->line_bound_bytes_per_s, -exponent);
  return made;
}

gboolean
fab_footprint_has (const FabFootprint *self, FabLinkId link, guint *index)
{
  guint low = 0, high = self->n - 1;

  while (low < high) {
    guint middle = (low + high) / 2;

    if (self->links[middle] < link)
      low = middle + 1;
    else
      high = middle;
  }
  *index = low;
  return self->links[low] == link;
}

gboolean
fab_footprint_is_path (const FabFootprint *self, guint n_links)
{
  const double rounding = 1e-9;
  double sum = 0;

  for (guint i = 0; i < self->n; i++) {
    if (fabs (self->weights[i] - round (self->weights[i])) > rounding)
      return FALSE;
    sum += self->weights[i];
  }
  return fabs (sum - n_links) < rounding;
}

guint
fab_footprint_find (const FabFootprint *self, FabLinkId link)
{
  guint index;
  gboolean is_there = fab_footprint_has (self, link, &index);

  g_assert (is_there);
  return index;
}
