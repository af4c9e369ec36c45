/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/run/band.h"

#include <math.h>
#include <string.h>

#include "sim/base/error.h"
#include "sim/base/units.h"

const char *const fab_unsure_names[] = {
  [FAB_UNSURE_RATE] = "rate",
  [FAB_UNSURE_LATENCY] = "latency",
  [FAB_UNSURE_ENDPOINT] = "endpoint",
  [FAB_UNSURE_MESSAGES] = "messages",
  [FAB_UNSURE_COLLECTIVES] = "collectives",
  [FAB_UNSURE_COMPUTE] = "compute",
  [FAB_UNSURE_DRAWS] = "seeds",
  NULL,
};

/* --- what is uncertain --- */

/* Returns 0 for a number that is absent: it cannot be changed. */
static double
fraction_of (const FabLinkSpec *spec, FabUnsureKind kind)
{
  switch (kind) {
  case FAB_UNSURE_RATE: return spec->uncertainty.rate_fraction;
  case FAB_UNSURE_LATENCY: return spec->latency_ps > 0 ? spec->uncertainty.latency_fraction : 0;
  case FAB_UNSURE_ENDPOINT: return spec->endpoint_ps > 0 ? spec->uncertainty.endpoint_fraction : 0;
  case FAB_UNSURE_MESSAGES: return spec->messages.n > 0 ? spec->uncertainty.messages_fraction : 0;
  case FAB_UNSURE_COLLECTIVES:
  case FAB_UNSURE_COMPUTE:
  case FAB_UNSURE_DRAWS:
  case FAB_N_UNSURE:
  default: g_assert_not_reached ();
  }
}

static gboolean
is_used (const FabGraph *graph, const char *name)
{
  for (FabLinkId link = 0; link < fab_graph_n_links (graph); link++)
    if (g_strcmp0 (fab_graph_link_class (graph, link)->name, name) == 0)
      return TRUE;
  return FALSE;
}

/* `graph` NULL: whether or not the machine has such a link. */
static void
list_of_link (const FabLinkSpec *spec, const FabGraph *graph, GArray *unsure)
{
  for (FabUnsureKind kind = 0; kind < FAB_UNSURE_COLLECTIVES; kind++) {
    double fraction = fraction_of (spec, kind);

    if (fraction > 0 && (graph == NULL || is_used (graph, spec->name))) {
      FabUnsure one = { g_strdup (spec->name), kind, fraction };

      g_array_append_val (unsure, one);
    }
  }
}

static void
unsure_clear (gpointer data)
{
  g_free (((FabUnsure *) data)->link);
}

static GArray *
list_unsure (const FabScenario *scenario, const FabGraph *graph)
{
  const FabCatalog *catalog = fab_scenario_catalog (scenario);
  GArray *unsure = g_array_new (FALSE, FALSE, sizeof (FabUnsure));
  g_autofree const char **names = fab_catalog_names (catalog, FAB_SECTION_LINKS);

  g_array_set_clear_func (unsure, unsure_clear);
  for (guint i = 0; names[i] != NULL; i++)
    list_of_link (fab_catalog_link (catalog, names[i]), graph, unsure);
  return unsure;
}

GArray *
fab_unsure_links (const FabScenario *scenario)
{
  return list_unsure (scenario, NULL);
}

/* --- collectives --- */

/* Entries for families without a cell of their own: of a family that was measured; of one that was not, or whose
 * constants rest on one table or none; of a technology or a library that no measured table has. */
static const char any_family[] = "any", unmeasured_family[] = "unmeasured", unknown_family[] = "unknown";

static const FabBandCellSpec *
find_cell (const FabBandSpec *band, const FabCollectivePlan *plan, const FabPlanKind *kind)
{
  const FabBandCellSpec *cells = band != NULL ? band->cells.data : NULL;

  for (guint i = 0; band != NULL && i < band->cells.n; i++)
    if (cells[i].place == (int) kind->place && cells[i].operations == (int) kind->operations
        && (cells[i].up_to_bytes == 0 || plan->bytes < cells[i].up_to_bytes))
      return &cells[i];
  return NULL;
}

/* Whether the entry is of what ran the collective. */
static gboolean
is_of_library (const FabBandSpec *band, const FabPlanKind *kind)
{
  return band != NULL && g_strcmp0 (band->library, kind->library) == 0;
}

/* Whether a family of the catalogue is of this technology. */
static gboolean
is_known (const FabCatalog *catalog, const FabPlanKind *kind)
{
  g_autofree const char **names = fab_catalog_names (catalog, FAB_SECTION_BANDS);
  const char *dash = strchr (kind->family, '-');
  gsize length = dash != NULL ? (gsize) (dash - kind->family) + 1 : strlen (kind->family);

  for (guint i = 0; names[i] != NULL; i++)
    if (strncmp (names[i], kind->family, length) == 0)
      return TRUE;
  return FALSE;
}

/* What stands for a family that has no cell of its own. */
static const char *
stand_in (const FabScenario *scenario, const FabPlanKind *kind)
{
  const FabCatalog *catalog = fab_scenario_catalog (scenario);

  if (!is_of_library (fab_catalog_band (catalog, any_family), kind) || !is_known (catalog, kind))
    return unknown_family;
  return fab_catalog_band (catalog, kind->family) != NULL && kind->evidence == FAB_EVIDENCE_TABLES
           ? any_family
           : unmeasured_family;
}

/* Any links of the library: few families have set-ups that were not well. */
static FabUntuned
find_untuned (const FabCatalog *catalog, const FabCollectivePlan *plan, const FabPlanKind *kind)
{
  const FabBandSpec *any = fab_catalog_band (catalog, any_family);
  const FabUntunedSpec *untuned = any != NULL ? any->untuned.data : NULL;

  for (guint i = 0; is_of_library (any, kind) && i < any->untuned.n; i++)
    if (kind->place == FAB_PLAN_BETWEEN && untuned[i].operations == (int) kind->operations
        && (untuned[i].up_to_bytes == 0 || plan->bytes < untuned[i].up_to_bytes))
      return (FabUntuned){ (guint) untuned[i].n_tables, (guint) untuned[i].n_of, untuned[i].low_factor,
                           untuned[i].high_factor };
  return (FabUntuned){ 0 };
}

FabPlanBand
fab_plan_band (const FabScenario *scenario, const FabCollectivePlan *plan, const FabPlanKind *kind)
{
  const FabCatalog *catalog = fab_scenario_catalog (scenario);
  const FabBandSpec *band = fab_catalog_band (catalog, kind->family);
  const FabBandCellSpec *cell = is_of_library (band, kind) ? find_cell (band, plan, kind) : NULL;

  if (cell == NULL) {
    band = fab_catalog_band (catalog, stand_in (scenario, kind));
    cell = find_cell (band, plan, kind);
  }
  if (cell == NULL)
    return (FabPlanBand){ .low_factor = 1, .high_factor = 1 };
  return (FabPlanBand){ .low_factor = cell->low_factor,
                        .high_factor = cell->high_factor,
                        .coverage_fraction = band->coverage_fraction,
                        .n_tables = (guint) cell->n_tables,
                        .n_families = (guint) cell->n_families,
                        .n_publications = (guint) cell->n_publications,
                        .n_machines = (guint) cell->n_machines,
                        .spread_factor = cell->spread_factor,
                        .entry = band->name,
                        .untuned = find_untuned (catalog, plan, kind) };
}

/* Plays all collectives at one end of their bands. Kinds are found once per footprint. */
typedef struct {
  const FabScenario *scenario;
  gboolean is_high;
  GHashTable *kinds; /* FabFootprint -> FabPlanKind */
  GArray *shares;    /* Share, of each entry of `bands` that counts */
} Scaler;

/* What is uncertain by one entry: idle time x width of the band, in sum. */
typedef struct {
  FabPlanBand band; /* of the collectives that take longest */
  double weight, longest_s;
} Share;

static void
take_band (Share *share, const FabPlanBand *band, double idle_s)
{
  if (idle_s > share->longest_s)
    share->band = *band;
  share->longest_s = MAX (share->longest_s, idle_s);
}

static void
add_share (Scaler *self, const FabCollectivePlan *plan, const FabPlanBand *band)
{
  double idle_s = fab_ps_to_seconds (fab_collective_plan_idle_ps (plan)),
         weight = idle_s * (band->high_factor - band->low_factor);
  Share made = { *band, weight, idle_s };

  for (guint i = 0; i < self->shares->len; i++) {
    Share *share = &g_array_index (self->shares, Share, i);

    if (strcmp (share->band.entry, band->entry) != 0)
      continue;
    share->weight += weight;
    take_band (share, band, idle_s);
    return;
  }
  g_array_append_val (self->shares, made);
}

/* Of the entry by which most is uncertain; coverage 0: none counts. */
static FabPlanBand
largest_share (const Scaler *self)
{
  const Share *largest = NULL;

  for (guint i = 0; i < self->shares->len; i++) {
    const Share *share = &g_array_index (self->shares, Share, i);

    if (largest == NULL || share->weight > largest->weight)
      largest = share;
  }
  return largest != NULL ? largest->band : (FabPlanBand){ .low_factor = 1, .high_factor = 1 };
}

static double
scale_plan (gpointer owner, const FabCluster *cluster, const FabCollectivePlan *plan)
{
  Scaler *self = owner;
  const FabPlanKind *kind = fab_plan_kind_kept (self->kinds, self->scenario, cluster, plan);
  FabPlanBand band;

  if (kind->is_calibrated)
    return 1;
  band = fab_plan_band (self->scenario, plan, kind);
  if (band.coverage_fraction > 0)
    add_share (self, plan, &band);
  return self->is_high ? band.high_factor : band.low_factor;
}

/* --- band --- */

FabWhatIf
fab_unsure_what_if (const FabUnsure *unsure, double sign)
{
  double change = sign * unsure->fraction;
  FabWhatIf what_if = { .link_class = unsure->link, .rate_factor = 1, .keeps_messages = TRUE };

  switch (unsure->kind) {
  case FAB_UNSURE_RATE: what_if.rate_factor = 1 + change; break;
  case FAB_UNSURE_LATENCY: what_if.latency_change = change; break;
  case FAB_UNSURE_ENDPOINT: what_if.endpoint_change = change; break;
  case FAB_UNSURE_MESSAGES: what_if.messages_change = change; break;
  case FAB_UNSURE_COLLECTIVES:
  case FAB_UNSURE_COMPUTE:
  case FAB_UNSURE_DRAWS:
  case FAB_N_UNSURE:
  default: g_assert_not_reached ();
  }
  return what_if;
}

static FabBand *
band_new (GArray *unsure, guint n)
{
  FabBand *self = g_new0 (FabBand, 1);

  self->unsure = unsure;
  self->n = n;
  self->coverage_fraction = 0.95;
  self->low = g_new0 (double, n + 1);
  self->high = g_new0 (double, n + 1);
  self->most = g_new0 (guint, n + 1);
  return self;
}

void
fab_band_free (FabBand *self)
{
  if (self == NULL)
    return;
  g_array_unref (self->unsure);
  g_free (self->low);
  g_free (self->high);
  g_free (self->most);
  g_free (self->compute.entry);
  g_free (self);
}

/* Adds the two ends of one number. Until all numbers are done, `low` and `high` hold sums of squares. */
static void
add_ends (FabBand *self, guint which, const double *values, const double *less, const double *more,
          double *largest)
{
  for (guint i = 0; i < self->n; i++) {
    double rise = MAX (MAX (less[i], more[i]) - values[i], 0);
    double fall = MAX (values[i] - MIN (less[i], more[i]), 0);

    self->high[i] += rise * rise;
    self->low[i] += fall * fall;
    if (MAX (rise, fall) > largest[i]) {
      largest[i] = MAX (rise, fall);
      self->most[i] = which;
    }
  }
}

/* What a band is made of while it is made. */
typedef struct {
  FabBand *band;
  const double *values;
  double *less, *more, *largest; /* [n] of the plays at either end; the largest change so far */
  FabBandPlay play;
  gpointer owner;
} Maker;

static gboolean
play_links (Maker *self, GError **error)
{
  for (guint which = 0; which < self->band->unsure->len; which++) {
    const FabUnsure *unsure = &g_array_index (self->band->unsure, FabUnsure, which);
    FabWhatIf down = fab_unsure_what_if (unsure, -1), up = fab_unsure_what_if (unsure, 1);

    if (!self->play (self->owner, &down, self->less, error)
        || !self->play (self->owner, &up, self->more, error))
      return FALSE;
    add_ends (self->band, which, self->values, self->less, self->more, self->largest);
  }
  return TRUE;
}

/* Once at the low end, and at the high one if any collective has a band. */
static gboolean
play_both_ends (Maker *self, const FabScenario *scenario, GError **error)
{
  g_autoptr (GHashTable) kinds = g_hash_table_new_full (NULL, NULL, NULL, g_free);
  g_autoptr (GArray) shares = g_array_new (FALSE, FALSE, sizeof (Share));
  Scaler down = { .scenario = scenario, .kinds = kinds, .shares = shares };
  FabPlanScale scale = { scale_plan, &down };
  FabWhatIf what_if = { .rate_factor = 1, .plans = &scale };
  const FabUnsure unsure = { .kind = FAB_UNSURE_COLLECTIVES };

  if (!self->play (self->owner, &what_if, self->less, error))
    return FALSE;
  if (shares->len == 0)
    return TRUE;
  g_hash_table_remove_all (kinds); /* the footprints were those of another play */
  down.is_high = TRUE;
  if (!self->play (self->owner, &what_if, self->more, error))
    return FALSE;
  g_array_append_val (self->band->unsure, unsure);
  self->band->collectives = largest_share (&down);
  self->band->coverage_fraction = MIN (self->band->coverage_fraction,
                                       self->band->collectives.coverage_fraction);
  add_ends (self->band, self->band->unsure->len - 1, self->values, self->less, self->more, self->largest);
  return TRUE;
}

/* Plays all kernels at one end of what is known of such compute. */
typedef struct {
  gboolean is_high;
  FabComputeBand *known; /* coverage 0: nothing computes, or nothing is known of it */
} ComputeScaler;

static double
scale_compute (gpointer owner, const FabSetup *known)
{
  ComputeScaler *self = owner;

  g_free (self->known->entry);
  *self->known = (FabComputeBand){ .coverage_fraction = FAB_SETUP_COVERAGE,
                                   .low_factor = known->low_factor,
                                   .high_factor = known->high_factor,
                                   .n_rows = (guint) known->n_rows,
                                   .n_groups = (guint) known->n_groups,
                                   .n_sources = (guint) known->n_sources,
                                   .entry = g_strdup (known->name != NULL ? known->name : "unknown") };
  return self->is_high ? known->high_factor : known->low_factor;
}

/* Once at the low end, and at the high one if anything computes of which something is known. */
static gboolean
play_compute_ends (Maker *self, GError **error)
{
  ComputeScaler down = { FALSE, &self->band->compute };
  FabComputeScale scale = { scale_compute, &down };
  FabWhatIf what_if = { .rate_factor = 1, .compute = &scale };
  const FabUnsure unsure = { .kind = FAB_UNSURE_COMPUTE };

  if (!self->play (self->owner, &what_if, self->less, error))
    return FALSE;
  if (self->band->compute.coverage_fraction <= 0)
    return TRUE;
  down.is_high = TRUE;
  if (!self->play (self->owner, &what_if, self->more, error))
    return FALSE;
  g_array_append_val (self->band->unsure, unsure);
  self->band->coverage_fraction = MIN (self->band->coverage_fraction, self->band->compute.coverage_fraction);
  add_ends (self->band, self->band->unsure->len - 1, self->values, self->less, self->more, self->largest);
  return TRUE;
}

static gboolean
has_bands (const FabCatalog *catalog)
{
  return fab_catalog_band (catalog, any_family) != NULL;
}

/* Of collectives where the catalogue has bands, and of compute where it has setups. */
static gboolean
play_models (Maker *self, const FabScenario *scenario, GError **error)
{
  const FabCatalog *catalog = fab_scenario_catalog (scenario);
  g_autofree const char **setups = fab_catalog_names (catalog, FAB_SECTION_SETUPS);

  return (!has_bands (catalog) || play_both_ends (self, scenario, error))
      && (setups[0] == NULL || play_compute_ends (self, error));
}

/* A scenario whose collectives or kernels, longer or shorter, meet a link that is dead by then has no band of them: it
 * says nothing of how far off its figures may be that it would not end. */
static gboolean
play_unmeasured (Maker *self, const FabScenario *scenario, GError **error)
{
  GError *problem = NULL;

  if (play_models (self, scenario, &problem))
    return TRUE;
  if (g_error_matches (problem, FAB_ERROR, FAB_ERROR_HUNG)) {
    g_clear_error (&problem);
    return TRUE;
  }
  g_propagate_error (error, problem);
  return FALSE;
}

/* Until here `low` and `high` hold sums of squares. */
static void
close_band (FabBand *self, const double *values)
{
  for (guint i = 0; i < self->n; i++) {
    self->low[i] = MAX (values[i] - sqrt (self->low[i]), 0);
    self->high[i] = values[i] + sqrt (self->high[i]);
  }
}

/* `with`: NULL where neither collectives nor compute count in. */
static gboolean
make_band (Maker *self, const FabScenario *with, GError **error)
{
  if (!play_links (self, error) || (with != NULL && !play_unmeasured (self, with, error)))
    return FALSE;
  close_band (self->band, self->values);
  return TRUE;
}

/* `has_models`: collectives and compute count in. */
static gboolean
find_band (Maker maker, const FabScenario *scenario, const FabGraph *graph, guint n, gboolean has_models,
           FabBand **band, GError **error)
{
  g_autoptr (FabBand) made = band_new (list_unsure (scenario, graph), n);
  g_autofree double *less = g_new0 (double, n + 1), *more = g_new0 (double, n + 1),
                    *largest = g_new0 (double, n + 1);

  *band = NULL;
  maker.band = made;
  maker.less = less;
  maker.more = more;
  maker.largest = largest;
  if (!make_band (&maker, has_models ? scenario : NULL, error))
    return FALSE;
  if (made->unsure->len > 0)
    *band = g_steal_pointer (&made);
  return TRUE;
}

gboolean
fab_band_find (const FabScenario *scenario, const FabGraph *graph, const double *values, guint n,
               FabBandPlay play, gpointer owner, FabBand **band, GError **error)
{
  return find_band ((Maker){ .values = values, .play = play, .owner = owner }, scenario, graph, n, TRUE, band,
                    error);
}

gboolean
fab_band_of_links (const FabScenario *scenario, const FabGraph *graph, const double *values, guint n,
                   FabBandPlay play, gpointer owner, FabBand **band, GError **error)
{
  return find_band ((Maker){ .values = values, .play = play, .owner = owner }, scenario, graph, n, FALSE,
                    band, error);
}

/* With what is added the bounds are as far from the value as both are together. */
static void
widen (FabBand *self, guint i, double value, double low, double high)
{
  double fall = MAX (value - low, 0), rise = MAX (high - value, 0);

  if (fall + rise > self->high[i] - self->low[i])
    self->most[i] = self->unsure->len - 1;
  self->low[i] = MAX (value - hypot (value - self->low[i], fall), 0);
  self->high[i] = value + hypot (self->high[i] - value, rise);
}

void
fab_band_add_draws (FabBand **band, const double *values, const double *low, const double *high, guint n,
                    guint n_draws)
{
  const FabUnsure unsure = { .kind = FAB_UNSURE_DRAWS };
  gboolean differs = FALSE;

  for (guint i = 0; i < n; i++)
    differs |= high[i] > low[i];
  if (!differs)
    return;
  if (*band == NULL) {
    GArray *list = g_array_new (FALSE, FALSE, sizeof (FabUnsure));

    g_array_set_clear_func (list, unsure_clear);
    *band = band_new (list, n);
    memcpy ((*band)->low, values, n * sizeof *values);
    memcpy ((*band)->high, values, n * sizeof *values);
    (*band)->coverage_fraction = 0.9;
  }
  g_array_append_val ((*band)->unsure, unsure);
  (*band)->n_draws = n_draws;
  for (guint i = 0; i < n; i++)
    widen (*band, i, values[i], low[i], high[i]);
}

char *
fab_untuned_words (const FabUntuned *self)
{
  const double noticed_factor = 1.05;

  if (self->n_tables == 0 || self->high_factor < noticed_factor)
    return NULL;
  if (self->n_tables == 1)
    return g_strdup_printf ("1 of %u published networks took %.2g times as long as predicted", self->n_of,
                            self->high_factor);
  return g_strdup_printf ("%u of %u published networks took %.2g to %.2g times as long as predicted",
                          self->n_tables, self->n_of, MAX (self->low_factor, 1), self->high_factor);
}

char *
fab_publications_words (const FabPlanBand *self)
{
  if (self->n_machines == 0)
    return NULL;
  return g_strdup_printf (
      "%u %s of these machines %s measured by several of %u publications, which differ by up to "
      "%.3g times on the same kind",
      self->n_machines, fab_plural (self->n_machines, "kind", "kinds"),
      fab_plural (self->n_machines, "was", "were"), self->n_publications, self->spread_factor);
}

char *
fab_plan_band_basis (const FabPlanBand *self)
{
  if (self->n_families == 1)
    return g_strdup_printf ("%u published %s of %s", self->n_tables,
                            fab_plural (self->n_tables, "measurement", "measurements"), self->entry);
  return g_strdup_printf ("%u published measurements of %u kinds", self->n_tables, self->n_families);
}

/* "46 published runs of 5 sources"; effects alone rest on those of all cells. */
static char *
compute_basis (const FabComputeBand *self)
{
  if (self->n_rows == 0)
    return g_strdup ("no similar run");
  if (self->n_sources == 1)
    return g_strdup_printf ("%u published %s of one source", self->n_rows,
                            fab_plural (self->n_rows, "run", "runs"));
  return g_strdup_printf ("%u published runs of %u sources", self->n_rows, self->n_sources);
}

char *
fab_band_most (const FabBand *self, guint i)
{
  const FabUnsure *unsure = &g_array_index (self->unsure, FabUnsure, self->most[i]);
  g_autofree char *basis = fab_plan_band_basis (&self->collectives);
  g_autofree char *compute = compute_basis (&self->compute);

  if (unsure->kind == FAB_UNSURE_DRAWS)
    return g_strdup_printf ("the seed (%u seeds)", self->n_draws);
  if (unsure->kind == FAB_UNSURE_COLLECTIVES)
    return g_strdup_printf ("%s (%s)", fab_unsure_names[unsure->kind], basis);
  if (unsure->kind == FAB_UNSURE_COMPUTE)
    return g_strdup_printf ("%s (%s)", fab_unsure_names[unsure->kind], compute);
  return g_strdup_printf ("%s of %s (%.3g %%)", fab_unsure_names[unsure->kind], unsure->link,
                          100 * unsure->fraction);
}

char *
fab_band_about (const FabBand *self, guint i)
{
  g_autofree char *most = fab_band_most (self, i);
  const FabUnsure *only = &g_array_index (self->unsure, FabUnsure, 0);

  if (self->unsure->len == 1 && only->kind == FAB_UNSURE_DRAWS)
    return g_strdup_printf ("%u seeds alone", self->n_draws);
  if (self->unsure->len == 1 && only->link == NULL) {
    gboolean is_compute = only->kind == FAB_UNSURE_COMPUTE;
    g_autofree char *basis = is_compute ? compute_basis (&self->compute)
                                        : fab_plan_band_basis (&self->collectives);

    return g_strdup_printf ("%.0f %%, by %s alone (%s)", 100 * self->coverage_fraction,
                            fab_unsure_names[only->kind], basis);
  }
  return g_strdup_printf ("%.0f %%, most by %s", 100 * self->coverage_fraction, most);
}

static void
add_untuned_json (const FabUntuned *self, FabJson *json)
{
  if (self->n_tables == 0)
    return;
  fab_json_begin_object (json, "untuned");
  fab_json_add_whole (json, "tables", self->n_tables);
  fab_json_add_whole (json, "of", self->n_of);
  fab_json_add_real (json, "low_factor", self->low_factor);
  fab_json_add_real (json, "high_factor", self->high_factor);
  fab_json_end (json);
}

void
fab_band_add_json (const FabBand *self, FabJson *json)
{
  fab_json_begin_object (json, "band");
  fab_json_add_real (json, "coverage_fraction", self->coverage_fraction);
  if (self->fidelity != NULL)
    fab_json_add_text (json, "ends_fidelity", self->fidelity);
  if (self->n_draws > 0)
    fab_json_add_whole (json, "seeds", self->n_draws);
  if (self->collectives.coverage_fraction > 0) {
    fab_json_add_text (json, "family", self->collectives.entry);
    fab_json_add_whole (json, "tables", self->collectives.n_tables);
    fab_json_add_whole (json, "families", self->collectives.n_families);
    add_untuned_json (&self->collectives.untuned, json);
  }
  if (self->compute.coverage_fraction > 0) {
    fab_json_begin_object (json, "compute");
    fab_json_add_text (json, "setup", self->compute.entry);
    fab_json_add_real (json, "low_factor", self->compute.low_factor);
    fab_json_add_real (json, "high_factor", self->compute.high_factor);
    fab_json_add_whole (json, "runs", self->compute.n_rows);
    fab_json_add_whole (json, "groups", self->compute.n_groups);
    fab_json_add_whole (json, "sources", self->compute.n_sources);
    fab_json_end (json);
  }
  fab_json_end (json);
}
