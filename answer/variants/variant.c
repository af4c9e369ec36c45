/* SPDX-License-Identifier: Apache-2.0 */
#include "answer/variants/variant.h"

#include <string.h>

#include "sim/run/run.h"

const char *const fab_fact_names[FAB_N_FACTS + 1] = {
  [FAB_FACT_STEP] = "step",
  [FAB_FACT_COMPUTE] = "compute",
  [FAB_FACT_COMM] = "communication",
  [FAB_FACT_OVERLAPPED] = "overlapped",
  [FAB_FACT_EXPOSED] = "exposed",
  [FAB_FACT_EXPOSED_BY] = "exposed_by",
  [FAB_FACT_IDLE] = "idle",
  [FAB_FACT_COLLECTIVES] = "collectives",
  [FAB_FACT_CONTENTION] = "contention",
  [FAB_FACT_WAITING] = "waiting",
  [FAB_FACT_LINK] = "link",
};

static void
fact_clear (gpointer fact)
{
  g_free (((FabFact *) fact)->name);
}

void
fab_variant_free (FabVariant *self)
{
  if (self == NULL)
    return;
  g_free (self->name);
  g_free (self->scenario);
  g_free (self->fidelity);
  g_array_unref (self->facts);
  if (self->classes != NULL)
    g_array_unref (self->classes);
  if (self->collectives != NULL)
    g_array_unref (self->collectives);
  fab_verdict_free (self->verdict);
  g_free (self);
}

/* Takes `name`. */
static void
add_fact (FabVariant *self, FabFactKind kind, char *name, guint n, double time_s)
{
  FabFact fact = { kind, name, n, time_s };

  g_array_append_val (self->facts, fact);
}

static void
add_times (FabVariant *self, const FabIterationRecord *times)
{
  const struct {
    FabFactKind kind;
    FabTimePs time_ps;
  } parts[] = { { FAB_FACT_STEP, times->duration_ps },   { FAB_FACT_COMPUTE, times->compute_ps },
                { FAB_FACT_COMM, times->comm_ps },       { FAB_FACT_OVERLAPPED, times->overlapped_ps },
                { FAB_FACT_EXPOSED, times->exposed_ps }, { FAB_FACT_IDLE, times->idle_ps } };

  for (guint i = 0; i < G_N_ELEMENTS (parts); i++)
    add_fact (self, parts[i].kind, g_strdup (""), 0, fab_ps_to_seconds (parts[i].time_ps));
}

/* Mean over ranks. */
static void
add_exposures (FabVariant *self, const FabSimulation *simulation)
{
  const FabDag *dag = fab_simulation_dag (simulation);
  const GArray *exposures = fab_simulation_probe (simulation)->exposures;
  double n_ranks = 0;

  for (guint c = 0; c < dag->n_classes; c++)
    n_ranks += dag->classes[c].n_ranks;
  for (guint d = 0; d < FAB_N_DIMENSIONS; d++) {
    double sum_s = 0;
    guint n = 0;

    for (guint i = 0; i < exposures->len; i++) {
      const FabExposureRecord *record = &g_array_index (exposures, FabExposureRecord, i);

      if (strcmp (record->dimension, fab_dimension_names[d]) != 0)
        continue;
      sum_s += fab_ps_to_seconds (record->exposed_ps) * dag->classes[record->rank_class].n_ranks;
      n += record->n_collectives;
    }
    if (n > 0)
      add_fact (self, FAB_FACT_EXPOSED_BY, g_strdup (fab_dimension_names[d]), n, sum_s / n_ranks);
  }
}

/* --- collectives --- */

/* Of those that are alike in dimension, operation and algorithm. */
typedef struct {
  const char *dimension, *op, *algorithm;
  guint n;
  double time_s, contention_s, waiting_s;
} Sort;

static Sort *
find_sort (GArray *sorts, const FabCollectiveRecord *record)
{
  Sort added = { record->dimension, record->op, record->algorithm, 0, 0, 0, 0 };

  for (guint i = 0; i < sorts->len; i++) {
    Sort *sort = &g_array_index (sorts, Sort, i);

    if (g_str_equal (sort->dimension, record->dimension) && g_str_equal (sort->op, record->op)
        && g_strcmp0 (sort->algorithm, record->algorithm) == 0)
      return sort;
  }
  g_array_append_val (sorts, added);
  return &g_array_index (sorts, Sort, sorts->len - 1);
}

static GArray *
sort_collectives (const FabSimulation *simulation)
{
  const FabDag *dag = fab_simulation_dag (simulation);
  const GArray *records = fab_simulation_probe (simulation)->collectives;
  GArray *sorts = g_array_new (FALSE, FALSE, sizeof (Sort));

  for (guint i = 0; i < records->len; i++) {
    const FabCollectiveRecord *record = &g_array_index (records, FabCollectiveRecord, i);
    FabTimePs idle_ps = fab_collective_plan_idle_ps (&dag->collectives[record->index].plan);
    Sort *sort = find_sort (sorts, record);

    sort->n++;
    sort->time_s += fab_ps_to_seconds (record->end_ps - record->start_ps);
    sort->contention_s += fab_ps_to_seconds (record->end_ps - record->start_ps - idle_ps);
    sort->waiting_s += fab_ps_to_seconds (record->start_ps - record->ready_ps);
  }
  return sorts;
}

static char *
sort_name (const Sort *sort)
{
  if (strcmp (sort->dimension, fab_dimension_names[FAB_DIMENSION_OTHER]) == 0)
    return g_strjoin (" ", sort->op, sort->algorithm, NULL);
  return g_strjoin (" ", sort->dimension, sort->op, sort->algorithm, NULL);
}

static void
add_collectives (FabVariant *self, const FabSimulation *simulation)
{
  g_autoptr (GArray) sorts = sort_collectives (simulation);

  for (FabFactKind kind = FAB_FACT_COLLECTIVES; kind <= FAB_FACT_WAITING; kind++)
    for (guint i = 0; i < sorts->len; i++) {
      const Sort *sort = &g_array_index (sorts, Sort, i);

      add_fact (self, kind, sort_name (sort), sort->n,
                kind == FAB_FACT_COLLECTIVES ? sort->time_s
                : kind == FAB_FACT_WAITING   ? sort->waiting_s
                                             : sort->contention_s);
    }
}

static void
add_links (FabVariant *self, const FabSimulation *simulation)
{
  const FabProbe *probe = fab_simulation_probe (simulation);
  const FabGraph *graph = fab_simulation_cluster (simulation)->graph;

  for (guint i = 0; i < probe->link_loads->len; i++) {
    const FabLinkLoadRecord *load = &g_array_index (probe->link_loads, FabLinkLoadRecord, i);
    const FabLink *link = fab_graph_link (graph, load->link);
    g_autofree char *from = fab_graph_vertex_name (graph, link->src);
    g_autofree char *to = fab_graph_vertex_name (graph, link->dst);

    add_fact (self, FAB_FACT_LINK, g_strconcat (from, " -> ", to, NULL), 0,
              load->busy_fraction * fab_ps_to_seconds (probe->step.times.duration_ps));
  }
}

static gint
by_kind (gconstpointer a, gconstpointer b)
{
  return (gint) ((const FabFact *) a)->kind - (gint) ((const FabFact *) b)->kind;
}

/* --- what facts do not say --- */

static void
add_classes (FabVariant *self, const FabSimulation *simulation)
{
  const FabDag *dag = fab_simulation_dag (simulation);
  const GArray *records = fab_simulation_probe (simulation)->iterations;

  self->classes = g_array_new (FALSE, FALSE, sizeof (FabVariantClass));
  for (guint i = 0; i < records->len; i++) {
    const FabIterationRecord *record = &g_array_index (records, FabIterationRecord, i);
    FabVariantClass one = { dag->classes[record->rank_class].n_ranks,
                            fab_ps_to_seconds (record->exposed_ps + record->idle_ps) };

    g_array_append_val (self->classes, one);
  }
}

static void
add_each (FabVariant *self, const FabSimulation *simulation)
{
  const GArray *records = fab_simulation_probe (simulation)->collectives;

  self->collectives = g_array_new (FALSE, FALSE, sizeof (FabVariantCollective));
  for (guint i = 0; i < records->len; i++) {
    const FabCollectiveRecord *record = &g_array_index (records, FabCollectiveRecord, i);
    FabVariantCollective one = { record->op, record->algorithm, record->bytes,
                                 fab_ps_to_seconds (record->end_ps - record->start_ps) };

    g_array_append_val (self->collectives, one);
  }
}

FabVariant *
fab_variant_of (const FabScenario *scenario, const FabSimulation *simulation)
{
  const FabScenarioSpec *spec = fab_scenario_spec (scenario);
  FabVariant *self = g_new0 (FabVariant, 1);

  self->name = g_strdup (spec->fidelity.info->name);
  self->fidelity = g_strdup (spec->fidelity.info->name);
  self->scenario = g_strdup (spec->name);
  self->facts = g_array_new (FALSE, FALSE, sizeof (FabFact));
  g_array_set_clear_func (self->facts, fact_clear);
  add_times (self, &fab_simulation_probe (simulation)->step.times);
  add_exposures (self, simulation);
  add_collectives (self, simulation);
  add_links (self, simulation);
  g_array_sort (self->facts, by_kind); /* stable */
  add_classes (self, simulation);
  add_each (self, simulation);
  self->slowed_s = fab_ps_to_seconds (fab_simulation_slowed_ps (simulation));
  self->tokens = fab_simulation_totals (simulation)->tokens;
  self->n_events = fab_simulation_events (simulation);
  return self;
}

FabVariant *
fab_variant_play (const FabScenario *scenario, const FabRegistry *registry, GError **error)
{
  gint64 start_us = g_get_monotonic_time ();
  g_autoptr (FabSimulation) simulation = fab_scenario_run (scenario, registry, NULL, NULL, error);

  if (simulation == NULL)
    return NULL;
  FabVariant *self = fab_variant_of (scenario, simulation);
  self->wall_s = (double) (g_get_monotonic_time () - start_us) / G_USEC_PER_SEC;
  self->verdict = fab_verdict_of (scenario, simulation, registry, error);
  if (self->verdict == NULL)
    g_clear_pointer (&self, fab_variant_free);
  return self;
}

double
fab_variant_time_s (const FabVariant *self, FabFactKind kind)
{
  for (guint i = 0; i < self->facts->len; i++)
    if (g_array_index (self->facts, FabFact, i).kind == kind)
      return g_array_index (self->facts, FabFact, i).time_s;
  return 0;
}

double
fab_variant_sum_s (const FabVariant *self, FabFactKind kind)
{
  double sum_s = 0;

  for (guint i = 0; i < self->facts->len; i++)
    if (g_array_index (self->facts, FabFact, i).kind == kind)
      sum_s += g_array_index (self->facts, FabFact, i).time_s;
  return sum_s;
}
