/* SPDX-License-Identifier: Apache-2.0 */
#include "validate/variants/variant.h"

#include <math.h>
#include <string.h>

#include "sim/base/thread_pool.h"
#include "sim/run/run.h"
#include "sim/study/study_bottleneck.h"

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

/* Of a simulation of the scenario that was played to its end. (transfer full) */
static FabVariant *
variant_of (const FabScenario *scenario, const FabSimulation *simulation)
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
  FabVariant *self = variant_of (scenario, simulation);
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

static void
row_clear (gpointer row)
{
  g_free (((FabContrastRow *) row)->times_s);
  g_free (((FabContrastRow *) row)->counts);
}

static char *
key_of (const FabFact *fact)
{
  return g_strdup_printf ("%d %s", (int) fact->kind, fact->name);
}

static void
add_variant (FabContrast *self, guint index, GHashTable *known)
{
  const FabVariant *variant = fab_contrast_variant (self, index);
  guint n_variants = self->variants->len;

  for (guint i = 0; i < variant->facts->len; i++) {
    const FabFact *fact = &g_array_index (variant->facts, FabFact, i);
    char *key = key_of (fact);
    guint place = GPOINTER_TO_UINT (g_hash_table_lookup (known, key)); /* from 1 */

    if (place == 0) {
      FabContrastRow row = { fact->kind, fact->name, fact->n, g_new (double, n_variants),
                             g_new0 (guint, n_variants) };

      for (guint k = 0; k < n_variants; k++)
        row.times_s[k] = NAN;
      g_array_append_val (self->rows, row);
      place = self->rows->len;
    }
    FabContrastRow *row = &g_array_index (self->rows, FabContrastRow, place - 1);
    row->times_s[index] = fact->time_s;
    row->counts[index] = fact->n;
    if (row->n != fact->n)
      row->n = 0;
    g_hash_table_replace (known, key, GUINT_TO_POINTER (place));
  }
}

double
fab_contrast_spread_s (const FabContrast *self, const FabContrastRow *row)
{
  double least_s = INFINITY, most_s = -INFINITY;

  for (guint k = 0; k < self->variants->len; k++) {
    double time_s = isnan (row->times_s[k]) ? 0 : row->times_s[k];

    least_s = MIN (least_s, time_s);
    most_s = MAX (most_s, time_s);
  }
  return most_s - least_s;
}

/* Differences that only rounding made are none. */
static gint
by_spread (const FabContrast *self, const FabContrastRow *a, const FabContrastRow *b)
{
  double x = fab_contrast_spread_s (self, a), y = fab_contrast_spread_s (self, b);

  if (fabs (x - y) > 1e-12 && fabs (x - y) > 1e-9 * (x + y))
    return x > y ? -1 : 1;
  return strcmp (a->name, b->name);
}

static gint
contrast_by_kind (gconstpointer a, gconstpointer b, gpointer self)
{
  const FabContrastRow *x = a, *y = b;

  if (x->kind != y->kind)
    return x->kind < y->kind ? -1 : 1;
  return x->kind == FAB_FACT_LINK || x->kind == FAB_FACT_COLLECTIVES ? by_spread (self, x, y) : 0;
}

FabContrast *
fab_contrast_new (GPtrArray *variants, guint base)
{
  FabContrast *self = g_new0 (FabContrast, 1);
  g_autoptr (GHashTable) known = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);

  g_assert (base < variants->len);
  self->variants = variants;
  self->base = base;
  self->rows = g_array_new (FALSE, FALSE, sizeof (FabContrastRow));
  g_array_set_clear_func (self->rows, row_clear);
  for (guint i = 0; i < variants->len; i++)
    add_variant (self, i, known);
  g_array_sort_with_data (self->rows, contrast_by_kind, self); /* stable */
  return self;
}

void
fab_contrast_free (FabContrast *self)
{
  if (self == NULL)
    return;
  g_array_unref (self->rows);
  g_ptr_array_unref (self->variants);
  g_free (self);
}

FabSide *
fab_side_new (const char *name, const FabStudy *study, FabEdits *edits)
{
  FabSide *self = g_new0 (FabSide, 1);

  self->name = g_strdup (name);
  self->path = g_strdup (study->path);
  self->study = study;
  self->edits = edits;
  return self;
}

FabSide *
fab_side_failed (const char *path, GError *problem)
{
  FabSide *self = g_new0 (FabSide, 1);

  self->path = g_strdup (path);
  self->problem = problem;
  return self;
}

void
fab_side_free (FabSide *self)
{
  if (self == NULL)
    return;
  g_free (self->name);
  g_free (self->path);
  fab_edits_free (self->edits);
  g_free (self->summary);
  fab_point_free (self->point);
  fab_band_free (self->band);
  fab_variant_free (self->variant);
  g_clear_error (&self->problem);
  g_free (self);
}

static FabBytesPerS
nic_rate (const FabScenario *scenario)
{
  const FabClusterSpec *cluster = &fab_scenario_spec (scenario)->cluster;
  const FabCatalog *catalog = fab_scenario_catalog (scenario);
  const char *name = cluster->nic ? cluster->nic : fab_catalog_node (catalog, cluster->node)->nic;
  const FabLinkSpec *link = name ? fab_catalog_link (catalog, name) : NULL;

  if (cluster->nic_rate_bytes_per_s > 0)
    return cluster->nic_rate_bytes_per_s;
  return link ? fab_link_spec_line_rate (link) : 0;
}

/* A side with one seed. */
typedef struct {
  FabSide *side;
  guint index; /* of the seed */
  FabPoint *point;
  FabVariant *variant;
  GError *problem;
} Draw;

static void
take (Draw *self, const FabScenario *scenario, const FabSimulation *simulation)
{
  const FabScenarioSpec *spec = fab_scenario_spec (scenario);
  FabSide *side = self->side;

  self->point = fab_point_of (scenario, simulation, side->study->registry, &self->problem);
  if (self->point == NULL)
    return;
  self->variant = variant_of (scenario, simulation);
  self->variant->verdict = fab_verdict_copy (self->point->verdict);
  if (self->index > 0)
    return;
  side->nic_bytes_per_s = nic_rate (scenario);
  side->summary = g_strdup (spec->summary);
  if (side->name == NULL)
    side->name = g_strdup (spec->name);
}

static void
play_one (gpointer data, guint item)
{
  Draw *self = &((Draw *) data)[item];
  const FabStudy *study = self->side->study;
  g_autoptr (FabScenario) scenario = fab_study_draw (study, self->side->edits, self->index, &self->problem);
  g_autoptr (FabSimulation) simulation = scenario ? fab_scenario_run (scenario, study->registry, NULL, NULL,
                                                                      &self->problem)
                                                  : NULL;
  fab_pulse_beat (study->pulse);
  if (simulation != NULL)
    take (self, scenario, simulation);
}

/* Appends the draws `first` to `end` of a side. */
static void
add_draws (GArray *list, FabSide *side, guint first, guint end)
{
  for (guint i = first; i < end; i++) {
    Draw draw = { side, i, NULL, NULL, NULL };

    g_array_append_val (list, draw);
  }
}

/* Gives a side the draw with the median step of its first and its other draws, or the first problem. Takes what is in
 * them. */
static void
settle (FabSide *side, Draw *first, Draw *others, guint n_others)
{
  GPtrArray *points = g_ptr_array_new_with_free_func ((GDestroyNotify) fab_point_free);

  for (guint i = 0; i <= n_others; i++) {
    Draw *draw = i == 0 ? first : &others[i - 1];

    if (draw->problem != NULL && side->problem == NULL)
      side->problem = g_steal_pointer (&draw->problem);
    g_clear_error (&draw->problem);
    if (draw->point != NULL)
      g_ptr_array_add (points, draw->point);
  }
  guint median = side->problem == NULL ? fab_spread_median (points) : 0;
  for (guint i = 0; i <= n_others; i++) {
    Draw *draw = i == 0 ? first : &others[i - 1];

    if (side->problem == NULL && i == median)
      side->variant = draw->variant;
    else
      fab_variant_free (draw->variant);
  }
  if (side->problem != NULL) {
    g_ptr_array_unref (points);
    return;
  }
  side->point = fab_spread_join (points);
  g_free (side->variant->name);
  side->variant->name = g_strdup (side->name);
}

void
fab_sides_play (GPtrArray *sides)
{
  g_autoptr (GArray) first = g_array_new (FALSE, FALSE, sizeof (Draw)),
                     others = g_array_new (FALSE, FALSE, sizeof (Draw));
  guint n_threads = 0, at = 0;

  for (guint i = 0; i < sides->len; i++) {
    FabSide *side = fab_sides_at (sides, i);

    if (side->study != NULL)
      n_threads = side->study->n_threads;
    if (side->point == NULL && side->problem == NULL) {
      fab_pulse_expect (side->study->pulse, 1);
      add_draws (first, side, 0, 1);
    }
  }
  fab_thread_pool_run (n_threads, first->len, play_one, first->data);
  for (guint i = 0; i < first->len; i++) {
    const Draw *draw = &g_array_index (first, Draw, i);
    guint n = fab_study_n_draws (draw->side->study, draw->side->edits, draw->point);

    fab_pulse_expect (draw->side->study->pulse, n - 1);
    add_draws (others, draw->side, 1, n);
  }
  fab_thread_pool_run (n_threads, others->len, play_one, others->data);
  for (guint i = 0; i < first->len; i++) {
    Draw *draw = &g_array_index (first, Draw, i);
    guint n = 0;

    while (at + n < others->len && g_array_index (others, Draw, at + n).side == draw->side)
      n++;
    settle (draw->side, draw, (Draw *) (gpointer) others->data + at, n);
    at += n;
  }
}

/* --- bands --- */

static void
find_band (gpointer data, guint item)
{
  FabSide *side = fab_sides_at (data, item);
  const FabFigure *const figures[] = { fab_figure_find ("step"), fab_figure_find ("exposed_time") };
  g_autoptr (GError) problem = NULL;

  if (side->point != NULL)
    fab_study_band (side->study, side->edits, side->point,
                    &(FabBandFigures){ figures, G_N_ELEMENTS (figures) }, &side->band, &problem);
}

void
fab_sides_find_bands (GPtrArray *sides)
{
  guint n_threads = 0;

  for (guint i = 0; i < sides->len; i++)
    if (fab_sides_at (sides, i)->study != NULL)
      n_threads = fab_sides_at (sides, i)->study->n_threads;
  fab_thread_pool_run (n_threads, sides->len, find_band, sides);
}

void
fab_sides_find_bottlenecks (GPtrArray *sides)
{
  for (guint i = 0; i < sides->len; i++) {
    FabSide *side = fab_sides_at (sides, i);

    if (side->point == NULL)
      continue;
    fab_study_find_bottleneck (side->study, side->edits, side->point);
    if (side->point->bottleneck != NULL)
      fab_bottleneck_judge (side->point->bottleneck, side->variant->verdict);
  }
}

typedef struct {
  GPtrArray *sides;
  guint base;
  const FabPaired *paired;
} Comparing;

static void
compare_one (gpointer data, guint item)
{
  const Comparing *self = data;
  FabSide *side = fab_sides_at (self->sides, item);
  g_auto (FabStudySide) other = { 0 };

  if (item == self->base || side->point == NULL || side->point->step_s <= 0
      || !fab_study_side_init (&other, side->study, side->edits, side->point, NULL)
      || !fab_paired_compare (self->paired, &other.side, &side->change, NULL))
    side->change = (FabPairedBand){ 0 };
}

void
fab_sides_compare (GPtrArray *sides, guint base)
{
  const FabSide *first = fab_sides_at (sides, base);
  g_auto (FabStudySide) side = { 0 };

  if (first->point == NULL || first->point->step_s <= 0
      || !fab_study_side_init (&side, first->study, first->edits, first->point, NULL))
    return;
  const FabDecisionEnv env = fab_study_env (first->study);
  g_autoptr (FabPaired) paired = fab_paired_new (&env, &side.side, NULL);
  if (paired != NULL)
    fab_thread_pool_run (first->study->n_threads, sides->len, compare_one,
                         &(Comparing){ sides, base, paired });
}

gboolean
fab_sides_check (const GPtrArray *sides, GError **error)
{
  for (guint i = 0; i < sides->len; i++) {
    const FabSide *side = fab_sides_at (sides, i);

    if (side->problem == NULL)
      continue;
    g_propagate_error (error, g_error_copy (side->problem));
    if (strchr (side->problem->message, '\n') == NULL)
      g_prefix_error (error, "%s: ", side->name ? side->name : side->path);
    return FALSE;
  }
  return TRUE;
}

FabContrast *
fab_sides_contrast (GPtrArray *sides, guint base)
{
  GPtrArray *variants = g_ptr_array_new_with_free_func ((GDestroyNotify) fab_variant_free);
  guint first = 0;

  for (guint i = 0; i < sides->len; i++) {
    FabSide *side = fab_sides_at (sides, i);

    if (i == base)
      first = variants->len;
    if (side->variant != NULL)
      g_ptr_array_add (variants, g_steal_pointer (&side->variant));
  }
  return fab_contrast_new (variants, first);
}
