/* SPDX-License-Identifier: Apache-2.0 */
#include "models/workload/training/slow.h"

#include <math.h>

#include "sim/base/error.h"
#include "sim/execution/jitter.h"

const FabParam straggler_params[] = {
  { .key = "rank",
    .type = FAB_PARAM_COUNT,
    .offset = G_STRUCT_OFFSET (StragglerParams, rank),
    .max = 1e9,
    .help = "Rank that is slow, counted from 0." },
  { .key = "slowness",
    .type = FAB_PARAM_FACTOR,
    .offset = G_STRUCT_OFFSET (StragglerParams, slowness),
    .min = 1,
    .max = 1e3,
    .help = "Factor on the time of its kernels." },
  { .key = NULL },
};

const FabParam jitter_params[] = {
  { .key = "cv",
    .type = FAB_PARAM_FRACTION,
    .offset = G_STRUCT_OFFSET (JitterParams, cv),
    .fallback = "0%",
    .max = 1,
    .help = "Coefficient of variation of a rank's kernel time from step to step; 0: none." },
  /* GPUs of one kind differ by 8 % on average, outliers left out, in five clusters (Sinha et al., "Not All GPUs Are
   * Created Equal", SC 2022, arXiv 2208.11035, abstract). Taken as the range between the whiskers of a box plot
   * (inferred: the abstract leaves outliers out), 5.4 standard deviations of a normal distribution. */
  { .key = "gpus",
    .type = FAB_PARAM_FRACTION,
    .offset = G_STRUCT_OFFSET (JitterParams, gpus),
    .fallback = "1.48%",
    .max = 1,
    .help = "Standard deviation of speed among GPUs of one kind. Every step waits for the slowest GPU of the "
            "job. `compute: auto` gives the times of an average GPU; they become those of the slowest." },
  { .key = "classes",
    .type = FAB_PARAM_COUNT,
    .offset = G_STRUCT_OFFSET (JitterParams, n_classes),
    .fallback = "4",
    .min = 1,
    .max = 64,
    .help = "Number of classes that group ranks by how slow they are; the slowest rank is alone." },
  { .key = NULL },
};

/* One replica of the model in one iteration. */
typedef struct {
  double slowest; /* factor of its slowest stage */
  guint replica;  /* data index */
} Draw;

struct _Slow {
  Layout layout;
  GArray *stragglers; /* StragglerParams */
  guint64 seed;
  double sigma;
  guint unit, n_classes; /* replicas that are never divided; number of bins that jitter makes */
  GArray *bins;          /* SlowBin */
  guint n_gaps;
  gint64 iteration; /* of which `factors` are; -1: none yet */
  double *factors;  /* [n_stages * n_bins] */
};

static void
bin_clear (gpointer data)
{
  g_free (((SlowBin *) data)->name);
}

static guint
data_of (const Layout *layout, guint rank)
{
  return rank / layout->stride[AXIS_DATA] % layout->size[AXIS_DATA];
}

static guint
stage_of (const Layout *layout, guint rank)
{
  return rank / layout->stride[AXIS_PIPELINE] % layout->size[AXIS_PIPELINE];
}

static const StragglerParams *
straggler_at (const Slow *self, guint index)
{
  return &g_array_index (self->stragglers, StragglerParams, index);
}

/* A straggler among the replicas [first, first + unit); -1: none. */
static gint64
find_straggler (const Slow *self, guint first)
{
  for (guint i = 0; i < self->stragglers->len; i++)
    if (data_of (&self->layout, (guint) straggler_at (self, i)->rank) / self->unit == first / self->unit)
      return straggler_at (self, i)->rank;
  return -1;
}

/* --- bins --- */

static void
add_bin (Slow *self, SlowBin bin)
{
  g_array_append_val (self->bins, bin);
}

/* Adds bins for the replicas [first, end), none of which has a straggler. */
static void
add_gap (Slow *self, guint first, guint end)
{
  guint n_units = (end - first) / self->unit, place = 0;
  g_autofree guint *sizes = g_new (guint, self->n_classes);
  guint n = self->sigma > 0 ? fab_jitter_sizes (n_units, self->n_classes, sizes) : 1;
  gboolean is_all = n == 1 && end - first == self->layout.size[AXIS_DATA];

  if (self->sigma <= 0)
    sizes[0] = n_units;
  for (guint i = 0; i < n; i++) {
    char *name = is_all           ? NULL
               : self->sigma <= 0 ? g_strdup_printf ("replicas %u-%u", first, end - 1)
               : i == 0           ? g_strdup ("slowest")
                                  : g_strdup_printf ("jitter %u of %u", i, n - 1);

    add_bin (self,
             (SlowBin){ first + place * self->unit, sizes[i] * self->unit, name, -1, self->n_gaps, place });
    place += sizes[i];
  }
  self->n_gaps++;
}

static void
add_bins (Slow *self)
{
  guint n = self->layout.size[AXIS_DATA], gap = 0;

  for (guint first = 0; first < n; first += self->unit) {
    gint64 rank = find_straggler (self, first);

    if (rank < 0)
      continue;
    if (first > gap)
      add_gap (self, gap, first);
    add_bin (self,
             (SlowBin){ first, self->unit, g_strdup_printf ("rank %" G_GINT64_FORMAT, rank), rank, 0, 0 });
    gap = first + self->unit;
  }
  if (gap < n)
    add_gap (self, gap, n);
}

static gboolean
check_stragglers (const Slow *self, GError **error)
{
  for (guint i = 0; i < self->stragglers->len; i++)
    for (guint k = 0; k < i; k++)
      if (straggler_at (self, i)->rank == straggler_at (self, k)->rank)
        return fab_throw (error, FAB_ERROR_INPUT, "straggler: rank %" G_GINT64_FORMAT " is given twice",
                          straggler_at (self, i)->rank);
  for (guint i = 0; i < self->stragglers->len; i++)
    if (straggler_at (self, i)->rank >= self->layout.n_ranks)
      return fab_throw (error, FAB_ERROR_INPUT, "straggler: there is no rank %" G_GINT64_FORMAT " among %u",
                        straggler_at (self, i)->rank, self->layout.n_ranks);
  if (slow_is_needed (self) && self->layout.n_expert > 1 && !self->layout.is_expert_inner)
    return fab_throw (
        error, FAB_ERROR_INPUT,
        "stragglers and jitter need expert-parallel ranks next to each other: put ep before dp in the order");
  return TRUE;
}

Slow *
slow_new (const Layout *layout, const FabParamList *stragglers, const JitterParams *jitter, guint64 seed,
          GError **error)
{
  Slow *self = g_new0 (Slow, 1);

  self->layout = *layout;
  self->stragglers = g_array_new (FALSE, FALSE, sizeof (StragglerParams));
  self->bins = g_array_new (FALSE, FALSE, sizeof (SlowBin));
  g_array_set_clear_func (self->bins, bin_clear);
  if (stragglers->n > 0)
    g_array_append_vals (self->stragglers, stragglers->data, stragglers->n);
  self->seed = seed;
  self->sigma = fab_jitter_sigma (jitter->cv);
  self->unit = layout_expert_unit (layout);
  self->n_classes = (guint) jitter->n_classes;
  self->iteration = -1;
  if (!check_stragglers (self, error)) {
    slow_free (self);
    return NULL;
  }
  add_bins (self);
  self->factors = g_new (double, layout->size[AXIS_PIPELINE] * self->bins->len);
  return self;
}

void
slow_free (Slow *self)
{
  if (self == NULL)
    return;
  g_array_unref (self->stragglers);
  g_array_unref (self->bins);
  g_free (self->factors);
  g_free (self);
}

guint
slow_n_bins (const Slow *self)
{
  return self->bins->len;
}

const SlowBin *
slow_bin (const Slow *self, guint index)
{
  return &g_array_index (self->bins, SlowBin, index);
}

double
slow_waiting (const JitterParams *jitter, guint n_ranks, gboolean is_of_average_gpu)
{
  return is_of_average_gpu ? fab_jitter_slowest (n_ranks, jitter->gpus) : 1;
}

gboolean
slow_is_needed (const Slow *self)
{
  return self->stragglers->len > 0 || self->sigma > 0;
}

double
slow_most (const Slow *self)
{
  double most = 1;

  for (guint i = 0; i < self->stragglers->len; i++)
    most = MAX (most, straggler_at (self, i)->slowness);
  return most * exp (8 * self->sigma);
}

/* --- factors --- */

static double
rank_factor (const Slow *self, guint rank, guint iteration)
{
  double factor = self->sigma > 0 ? fab_jitter_factor (self->seed, iteration, rank, self->sigma) : 1;

  for (guint i = 0; i < self->stragglers->len; i++)
    if (straggler_at (self, i)->rank == rank)
      factor *= straggler_at (self, i)->slowness;
  return factor;
}

/* Draws the factor of the slowest rank of each replica in each stage: `of[stage * n + data]`. (transfer full) */
static double *
draw_all (const Slow *self, guint iteration)
{
  const Layout *layout = &self->layout;
  guint n = layout->size[AXIS_DATA];
  double *of = g_new0 (double, layout->size[AXIS_PIPELINE] * n);

  for (guint rank = 0; rank < layout->n_ranks; rank++) {
    double *slowest = &of[stage_of (layout, rank) * n + data_of (layout, rank)];

    *slowest = MAX (*slowest, rank_factor (self, rank, iteration));
  }
  return of;
}

static gint
compare_draws (gconstpointer a, gconstpointer b)
{
  const Draw *x = a, *y = b;

  if (x->slowest > y->slowest || x->slowest < y->slowest)
    return x->slowest > y->slowest ? -1 : 1;
  return x->replica < y->replica ? -1 : x->replica > y->replica;
}

static double
slowest_of (const Slow *self, const double *of, guint stage, guint replica)
{
  double slowest = 0;

  for (guint i = 0; i < self->unit; i++)
    slowest = MAX (slowest, of[stage * self->layout.size[AXIS_DATA] + replica + i]);
  return slowest;
}

/* The units of a run of replicas without stragglers, the slowest first. */
static GArray *
sort_gap (const Slow *self, const double *of, guint gap)
{
  GArray *draws = g_array_new (FALSE, FALSE, sizeof (Draw));

  for (guint b = 0; b < self->bins->len; b++) {
    const SlowBin *bin = slow_bin (self, b);

    for (guint d = 0; bin->straggler < 0 && bin->gap == gap && d < bin->n_data; d += self->unit) {
      Draw draw = { 0, bin->first_data + d };

      for (guint stage = 0; stage < self->layout.size[AXIS_PIPELINE]; stage++)
        draw.slowest = MAX (draw.slowest, slowest_of (self, of, stage, draw.replica));
      g_array_append_val (draws, draw);
    }
  }
  g_array_sort (draws, compare_draws);
  return draws;
}

static void
fill_factors (Slow *self, guint iteration)
{
  guint n_stages = self->layout.size[AXIS_PIPELINE];
  g_autofree double *of = draw_all (self, iteration);

  for (guint b = 0; b < self->bins->len; b++) {
    const SlowBin *bin = slow_bin (self, b);
    guint n = bin->n_data / self->unit;
    g_autoptr (GArray) draws = bin->straggler < 0 ? sort_gap (self, of, bin->gap) : NULL;

    for (guint stage = 0; stage < n_stages; stage++) {
      double sum = 0;

      for (guint i = 0; i < n; i++)
        sum += slowest_of (self, of, stage,
                           draws ? g_array_index (draws, Draw, bin->first_place + i).replica
                                 : bin->first_data);
      self->factors[stage * self->bins->len + b] = sum / n;
    }
  }
  self->iteration = iteration;
}

double
slow_factor (Slow *self, guint stage, guint bin, guint iteration)
{
  if (self->iteration != iteration)
    fill_factors (self, iteration);
  return self->factors[stage * self->bins->len + bin];
}
