/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/decision/waits.h"

#include <string.h>

/* A straggler that costs less than this part of the step is no reason. */
static const double least_straggler_fraction = 0.02;

/* --- stragglers --- */

typedef struct {
  guint rank_class;        /* the slowest */
  double slowness;         /* its, over the mean of all ranks */
  double lost_ps;          /* of every step */
  gboolean is_same_always; /* the same class is as slow in every iteration */
} Straggler;

static double
slowness_of (const FabJobTotals *totals, guint rank_class, guint iteration)
{
  return totals->slowness (totals->slowness_owner, rank_class, iteration);
}

static Straggler
find_straggler (const FabSimulation *simulation)
{
  const FabJobTotals *totals = fab_simulation_totals (simulation);
  const FabDag *dag = fab_simulation_dag (simulation);
  const FabProbe *probe = fab_simulation_probe (simulation);
  guint iteration = probe->step.times.iteration;
  Straggler self = { 0 };
  double most = 0, sum = 0, n_ranks = 0;

  if (totals->slowness == NULL)
    return self;
  for (guint c = 0; c < dag->n_classes; c++) {
    double slowness = slowness_of (totals, c, iteration);

    sum += slowness * dag->classes[c].n_ranks;
    n_ranks += dag->classes[c].n_ranks;
    if (slowness > most) {
      most = slowness;
      self.rank_class = c;
    }
  }
  const FabIterationRecord *times = &g_array_index (probe->iterations, FabIterationRecord, self.rank_class);
  self.slowness = most / (sum / n_ranks);
  self.lost_ps = (double) times->compute_ps * (1 - 1 / self.slowness);
  self.is_same_always = slowness_of (totals, self.rank_class, iteration + 1) == most
                     && slowness_of (totals, self.rank_class, iteration + 2) == most;
  return self;
}

/* Work on the host on the critical path. */
static double
host_ps (const FabProbe *probe)
{
  double sum_ps = 0;

  for (guint i = 0; i < probe->path->len; i++) {
    const FabPathRecord *part = &g_array_index (probe->path, FabPathRecord, i);

    if (part->kind == FAB_SPAN_LOAD)
      sum_ps += (double) (part->end_ps - part->start_ps);
  }
  return sum_ps;
}

static gboolean
is_pipeline (const FabDag *dag)
{
  for (guint c = 0; c < dag->n_collectives; c++)
    if (dag->collectives[c].dimension == FAB_DIMENSION_PIPELINE)
      return TRUE;
  return FALSE;
}

/* "rank 3 is 1.5 times as slow as the mean". (transfer full) */
static char *
describe_straggler (const FabSimulation *simulation, const Straggler *straggler)
{
  const FabRankClassRecord *record = &fab_simulation_dag (simulation)->classes[straggler->rank_class];

  if (!straggler->is_same_always)
    return g_strdup_printf (
        "the slowest rank of an iteration takes %.3g times as long as the mean to compute",
        straggler->slowness);
  if (record->n_ranks > 1)
    return g_strdup_printf ("rank %u and %u more take %.3g times as long as the mean to compute",
                            record->first_rank, record->n_ranks - 1, straggler->slowness);
  return g_strdup_printf ("rank %u takes %.3g times as long as the mean to compute", record->first_rank,
                          straggler->slowness);
}

/* --- what it waits for --- */

static gboolean
has_straggler (const FabSimulation *simulation, const Straggler *straggler)
{
  return straggler->lost_ps
       > least_straggler_fraction * (double) fab_simulation_probe (simulation)->step.times.duration_ps;
}

/* By the largest part of the step: of its slowest rank where one is slower than the others, because what the others
 * wait for depends on it. */
static FabFindingCode
by_largest_part (const FabSimulation *simulation, const Straggler *straggler)
{
  const FabProbe *probe = fab_simulation_probe (simulation);
  gboolean is_slow = has_straggler (simulation, straggler);
  const FabIterationRecord *times = is_slow ? &g_array_index (probe->iterations, FabIterationRecord,
                                                              straggler->rank_class)
                                            : &probe->step.times;
  double network_ps = (double) times->exposed_ps, on_host_ps = host_ps (probe);
  double waits_ps = MAX ((double) times->idle_ps - on_host_ps, 0);
  double most_ps = MAX (MAX (network_ps, on_host_ps), waits_ps);

  if (is_slow && straggler->lost_ps >= most_ps)
    return FAB_FINDING_WAITS_FOR_STRAGGLER;
  if ((double) times->compute_ps >= most_ps && times->compute_ps > 0)
    return FAB_FINDING_WAITS_FOR_COMPUTE;
  if (on_host_ps >= most_ps && on_host_ps > 0)
    return FAB_FINDING_WAITS_FOR_HOST;
  return waits_ps > network_ps && is_pipeline (fab_simulation_dag (simulation))
           ? FAB_FINDING_WAITS_FOR_BUBBLE
           : FAB_FINDING_WAITS_FOR_NETWORK;
}

static FabFindingCode
what_it_waits_for (const FabBottleneck *bottleneck, const FabSimulation *simulation,
                   const Straggler *straggler)
{
  const FabLever *first = fab_bottleneck_first (bottleneck);
  FabFindingCode largest = by_largest_part (simulation, straggler);

  if (first == NULL)
    return largest;
  switch (first->kind) {
  case FAB_LEVER_COMPUTE:
  case FAB_LEVER_MEMORY:
    return largest == FAB_FINDING_WAITS_FOR_BUBBLE || largest == FAB_FINDING_WAITS_FOR_STRAGGLER
             ? largest
             : FAB_FINDING_WAITS_FOR_COMPUTE;
  case FAB_LEVER_HOST: return FAB_FINDING_WAITS_FOR_HOST;
  case FAB_LEVER_RANKS: return FAB_FINDING_WAITS_FOR_STRAGGLER;
  case FAB_LEVER_LINK:
  case FAB_LEVER_LINKS:
  case FAB_LEVER_PAIR:
  case FAB_LEVER_NICS:
  case FAB_LEVER_CHANNELS:
  case FAB_LEVER_MESSAGES:
  case FAB_LEVER_LATENCY:
  case FAB_LEVER_DRAWS:
  case FAB_N_LEVERS:
  default: return FAB_FINDING_WAITS_FOR_NETWORK;
  }
}

/* "61.8 % of it is compute, ...". */
static void
append_parts (GString *text, const FabIterationRecord *times)
{
  double percent = times->duration_ps > 0 ? 100 / (double) times->duration_ps : 0;

  if (times->compute_ps == 0)
    g_string_append (text, "The job computes nothing.");
  else
    g_string_append_printf (text,
                            "%.1f %% of the step is compute, %.1f %% exposed communication and %.1f %% idle.",
                            (double) times->compute_ps * percent, (double) times->exposed_ps * percent,
                            (double) times->idle_ps * percent);
}

static void
append_straggler (GString *text, FabFinding *finding, const FabSimulation *simulation,
                  const Straggler *straggler)
{
  double percent = 100 / (double) fab_simulation_probe (simulation)->step.times.duration_ps;
  g_autofree char *who = describe_straggler (simulation, straggler);

  g_string_append_printf (text, "A slow rank costs %.1f %% of the step: %s. ", straggler->lost_ps * percent,
                          who);
  if (straggler->is_same_always)
    finding->rank = fab_simulation_dag (simulation)->classes[straggler->rank_class].first_rank;
}

/* The link by which the finding is known in pictures: the slowest one, of the entry that limits the step. */
static char *
link_of (const FabBottleneck *bottleneck, const FabSimulation *simulation)
{
  const FabGraph *graph = fab_simulation_cluster (simulation)->graph;
  const FabLever *first = fab_bottleneck_first (bottleneck);
  FabBinding binding = fab_binding_find (fab_simulation_probe (simulation), graph);

  if (first == NULL || first->kind != FAB_LEVER_LINK || binding.link == FAB_NO_LINK
      || strcmp (fab_graph_link_class (graph, binding.link)->name, first->link_class) != 0)
    return NULL;
  FabLinkRecord link = fab_simulation_link_record (simulation, binding.link);
  g_autofree char *from = (char *) link.from, *to = (char *) link.to;

  return g_strdup_printf ("%s -> %s", from, to);
}

FabFinding
fab_waits_find (const FabBottleneck *bottleneck, const FabSimulation *simulation)
{
  Straggler straggler = find_straggler (simulation);
  FabFinding finding = { .code = what_it_waits_for (bottleneck, simulation, &straggler), .rank = -1 };
  g_autofree char *words = fab_bottleneck_words (bottleneck);
  GString *text = g_string_new (NULL);

  g_string_append_printf (text, "%s ", words);
  if (finding.code == FAB_FINDING_WAITS_FOR_STRAGGLER)
    append_straggler (text, &finding, simulation, &straggler);
  append_parts (text, &fab_simulation_probe (simulation)->step.times);
  finding.text = g_string_free (text, FALSE);
  finding.link = link_of (bottleneck, simulation);
  return finding;
}
