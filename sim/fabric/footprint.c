/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/fabric/footprint.h"

#include <math.h>

#include "sim/fabric/symmetry.h"

enum { RUN_LINKS = 16, FIRST_SLOTS = 16 };

/* What has been put on one link so far. */
typedef struct {
  double weight; /* 0: the link is unused */
  double line_weight;
  double duplex;    /* largest duplex_stretch of its uses */
  FabLinkId sender; /* the sender of those uses; FAB_NO_LINK: several senders */
} Load;

/* A run is a block of consecutive links. The links of one vertex are consecutive, so one lookup finds them all. */
typedef struct {
  guint32 number; /* number of its first link, counted in runs */
  guint n_used;
  Load loads[RUN_LINKS];
} Run;

/* The runs are kept in a hash table (open addressing, at most half full), so that a small group in a large graph
 * costs only what it uses. */
struct _FabShapeBuilder {
  const FabGraph *graph;
  GArray *runs; /* of Run */
  guint *slots; /* [n_slots, a power of 2] index into runs + 1; 0: empty */
  guint n_slots;
  gboolean keeps_duplex; /* `duplex` and `sender` come from earlier footprints */
  GArray *used;          /* guint64 for each run with used links: its number << 32, and its index */
};

/* Returns the slot of a run, or the slot where it would go. Fibonacci hashing. */
static guint *
find_slot (const FabFootprintBuilder *self, guint32 number)
{
  guint i = (number * 2654435769u) & (self->n_slots - 1);

  while (self->slots[i] > 0 && g_array_index (self->runs, Run, self->slots[i] - 1).number != number)
    i = (i + 1) & (self->n_slots - 1);
  return &self->slots[i];
}

static void
grow_slots (FabFootprintBuilder *self)
{
  self->n_slots *= 2;
  g_free (self->slots);
  self->slots = g_new0 (guint, self->n_slots);
  for (guint i = 0; i < self->runs->len; i++)
    *find_slot (self, g_array_index (self->runs, Run, i).number) = i + 1;
}

/* Returns what was put on a link; NULL when that is nothing. */
static Load *
find_load (const FabFootprintBuilder *self, FabLinkId link)
{
  guint slot = *find_slot (self, link / RUN_LINKS);

  return slot > 0 ? &g_array_index (self->runs, Run, slot - 1).loads[link % RUN_LINKS] : NULL;
}

/* Returns the index of a run, which is added if need be. */
static guint
take_run (FabFootprintBuilder *self, guint32 number)
{
  guint slot = *find_slot (self, number);

  if (slot > 0)
    return slot - 1;
  if (2 * (self->runs->len + 1) > self->n_slots)
    grow_slots (self);
  g_array_set_size (self->runs, self->runs->len + 1);
  g_array_index (self->runs, Run, self->runs->len - 1).number = number;
  *find_slot (self, number) = self->runs->len;
  return self->runs->len - 1;
}

/* Returns the load of a link for adding to it. It is valid until the next call. */
static Load *
take_load (FabFootprintBuilder *self, FabLinkId link)
{
  guint index = take_run (self, link / RUN_LINKS);
  Run *run = &g_array_index (self->runs, Run, index);
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
  self->runs = g_array_new (FALSE, TRUE, sizeof (Run));
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
  g_array_unref (self->runs);
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

/* `sender` is the first link of the sender's route. */
static void
add_link (FabFootprintBuilder *self, FabLinkId link, FabLinkId sender, FabUse use)
{
  Load *load = take_load (self, link);

  g_assert (use.weight > 0 && use.stretch >= 1);
  if (use.device_stretch > 1 && is_of_device (self->graph, link))
    use.stretch *= use.device_stretch;
  load->weight += use.weight;
  load->line_weight += use.weight * use.stretch * fab_graph_link_class (self->graph, link)->cost[use.drive];
  if (self->keeps_duplex)
    return;
  if (use.duplex_stretch > 1)
    load->sender = load->duplex > 1 && load->sender != sender ? FAB_NO_LINK : sender;
  load->duplex = MAX (load->duplex, use.duplex_stretch);
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
  Load *load = take_load (self, link);

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
is_contended (const Load *load, const Load *reverse)
{
  return load->sender == FAB_NO_LINK || load->sender != reverse->sender;
}

static Run *
used_run (const FabFootprintBuilder *self, guint i)
{
  return &g_array_index (self->runs, Run, (guint32) g_array_index (self->used, guint64, i));
}

/* Slows both directions of a link when both carry traffic that suffers from that. */
static void
stretch_duplex (FabFootprintBuilder *self, Run *run)
{
  for (guint i = 0; i < RUN_LINKS; i++) {
    Load *load = &run->loads[i];

    if (load->weight <= 0 || load->duplex <= 1)
      continue;
    const FabLink *link = fab_graph_link (self->graph, run->number * RUN_LINKS + i);
    const Load *reverse = find_load (self, link->reverse);

    if (reverse != NULL && reverse->duplex > 1 && is_contended (load, reverse))
      load->line_weight *= MIN (load->duplex, reverse->duplex);
  }
}

void
fab_footprint_builder_keep_duplex (FabFootprintBuilder *self)
{
  self->keeps_duplex = TRUE;
  fab_footprint_free (fab_footprint_builder_finish (self));
}

static gint
compare_runs (gconstpointer a, gconstpointer b)
{
  guint64 x = *(const guint64 *) a, y = *(const guint64 *) b;

  return x < y ? -1 : x > y;
}

/* Appends what was put on the links of a run to the footprint, and clears the run. */
static void
take_out (const FabFootprintBuilder *self, Run *run, FabFootprint *footprint)
{
  for (guint i = 0; i < RUN_LINKS; i++) {
    Load *load = &run->loads[i];

    if (load->weight <= 0)
      continue;
    footprint->links[footprint->n] = run->number * RUN_LINKS + i;
    footprint->weights[footprint->n] = load->weight;
    footprint->line_weights[footprint->n++] = load->line_weight;
    load->weight = load->line_weight = 0;
    if (!self->keeps_duplex)
      load->duplex = 0;
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
fab_footprint_builder_finish (FabFootprintBuilder *self)
{
  FabFootprint *footprint = g_new0 (FabFootprint, 1);
  guint n = 0;

  g_assert (self->used->len > 0);
  g_array_sort (self->used, compare_runs);
  for (guint i = 0; i < self->used->len; i++) {
    n += used_run (self, i)->n_used;
    stretch_duplex (self, used_run (self, i));
  }
  footprint->links = g_new (FabLinkId, n);
  footprint->weights = g_new (double, n);
  footprint->line_weights = g_new (double, n);
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
  g_free (self->links);
  g_free (self->weights);
  g_free (self->line_weights);
  g_free (self);
}

FabFootprint *
fab_footprint_on (const FabFootprint *self, const FabGraph *graph)
{
  FabFootprint *made = g_memdup2 (self, sizeof *self);

  made->links = g_memdup2 (self->links, self->n * sizeof (FabLinkId));
  made->weights = g_memdup2 (self->weights, self->n * sizeof (double));
  made->line_weights = g_memdup2 (self->line_weights, self->n * sizeof (double));
  find_bounds (made, graph);
  return made;
}

FabFootprint *
fab_footprint_doubled (const FabFootprint *self, int exponent)
{
  FabFootprint *made = g_memdup2 (self, sizeof *self);

  made->links = g_memdup2 (self->links, self->n * sizeof (FabLinkId));
  made->weights = g_new (double, self->n);
  made->line_weights = g_new (double, self->n);
  for (guint i = 0; i < self->n; i++) {
    made->weights[i] = ldexp (self->weights[i], exponent);
    made->line_weights[i] = ldexp (self->line_weights[i], exponent);
  }
  made->binding_weight = ldexp (self->binding_weight, exponent);
  made->rate_bytes_per_s = ldexp (self->rate_bytes_per_s, -exponent);
  made->line_bound_bytes_per_s = ldexp (self->line_bound_bytes_per_s, -exponent);
  return made;
}

guint
fab_footprint_find (const FabFootprint *self, FabLinkId link)
{
  guint low = 0, high = self->n - 1;

  while (low < high) {
    guint middle = (low + high) / 2;

    if (self->links[middle] < link)
      low = middle + 1;
    else
      high = middle;
  }
  g_assert (self->links[low] == link);
  return low;
}
