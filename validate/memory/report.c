/* SPDX-License-Identifier: Apache-2.0 */
#include "validate/memory/report.h"

#include <math.h>
#include <string.h>

#include "models/workload/training/memory_band.h"
#include "sim/base/error.h"
#include "sim/base/stats.h"
#include "sim/base/thread_pool.h"
#include "sim/run/simulation.h"
#include "sim/verdict/verdict.h"

static const double coverage = 0.9;

/* --- predictions --- */

/* A row of any source. */
typedef struct {
  const FabMemorySource *source;
  guint row;
  FabMemoryComparison *out;
} Item;

typedef struct {
  GArray *items; /* Item */
  const FabCatalog *catalog;
  const FabRegistry *registry;
  const char *const *sets;
} Work;

/* (transfer full) */
static FabSimulation *
build (const Work *work, const Item *item, GError **error)
{
  g_autofree char *name = g_strdup_printf ("%s row %s", item->source->spec->name, item->out->measured->id);
  g_autofree char *yaml = fab_memory_source_scenario (item->source, item->row, error);
  g_autoptr (FabScenario) scenario = NULL;
  g_autoptr (FabEdits) edits = fab_edits_of (work->sets);

  if (yaml == NULL)
    return NULL;
  scenario = fab_scenario_open_text (name, yaml, strlen (yaml), work->registry, work->catalog, error);
  if (scenario == NULL)
    return NULL;
  fab_scenario_edit (scenario, edits);
  if (!fab_scenario_check (scenario, error))
    return NULL;
  return fab_simulation_build (scenario, work->registry, NULL, NULL, error);
}

/* Of the fullest rank: all that is reserved, or what is allocated. */
static double
predicted_bytes (const FabSimulation *simulation, const FabFit *fit, gboolean is_reserved)
{
  const GArray *memory = fab_simulation_totals (simulation)->memory;
  double bytes = (double) fit->needed_bytes;

  for (guint i = 0; !is_reserved && memory != NULL && i < memory->len; i++) {
    const FabMemoryPart *part = &g_array_index (memory, FabMemoryPart, i);

    if (part->rank_class == fit->rank_class && strcmp (part->part, MEMORY_OF_STREAMS) == 0)
      bytes -= (double) part->bytes;
  }
  return bytes;
}

static void
predict (gpointer data, guint index)
{
  const Work *work = data;
  const Item *item = &g_array_index (work->items, Item, index);
  g_autoptr (GError) problem = NULL;
  g_autoptr (FabSimulation) simulation = build (work, item, &problem);

  if (simulation == NULL) {
    item->out->problem = g_strdup (problem->message);
    return;
  }
  FabFit fit = fab_fit_of (simulation);
  item->out->predicted_bytes = predicted_bytes (simulation, &fit, item->out->measured->is_reserved);
  item->out->error_fraction = item->out->predicted_bytes / item->out->measured->peak_bytes - 1;
  item->out->is_refused = fab_fit_is_missed (&fit);
}

static gboolean
counts (const FabMemoryComparison *row)
{
  return row->problem == NULL && row->measured->doubtful == NULL;
}

/* --- sums --- */

static void
add_errors (const FabMemoryResult *result, GArray *errors)
{
  for (guint i = 0; i < result->source->rows->len; i++)
    if (counts (&result->rows[i]))
      g_array_append_val (errors, result->rows[i].error_fraction);
}

static FabErrors
sum_up (const GArray *errors)
{
  g_autofree FabBytes *sizes = g_new0 (FabBytes, errors->len + 1);

  return fab_errors_of ((const double *) (gconstpointer) errors->data, sizes, errors->len);
}

/* role below 0: of all. */
static FabErrors
errors_of (const FabMemoryReport *self, int role)
{
  g_autoptr (GArray) errors = g_array_new (FALSE, FALSE, sizeof (double));

  for (guint s = 0; s < self->results->len; s++) {
    const FabMemoryResult *result = &g_array_index (self->results, FabMemoryResult, s);

    if (role < 0 || result->source->spec->role == role)
      add_errors (result, errors);
  }
  return sum_up (errors);
}

/* --- the band --- */

/* The residual below which so much of the mixture lies. */
static double
quantile (const GArray *sorted, double share)
{
  double sum = 0;

  for (guint i = 0; i < sorted->len; i++) {
    sum += g_array_index (sorted, FabWeighted, i).weight;
    if (sum >= share)
      return g_array_index (sorted, FabWeighted, i).value;
  }
  return 0; /* there are none */
}

/* Ends as residuals, of all sources but one (below 0: of all). */
static void
make_band (const FabMemoryReport *self, gint without, double *low, double *high)
{
  g_autoptr (GArray) mixture = g_array_new (FALSE, FALSE, sizeof (FabWeighted));
  double total = 0;

  for (guint s = 0; s < self->results->len; s++) {
    const FabMemoryResult *result = &g_array_index (self->results, FabMemoryResult, s);

    if ((gint) s == without || result->errors.n == 0 || !result->source->spec->in_band)
      continue;
    total += 1;
    for (guint i = 0; i < result->source->rows->len; i++) {
      FabWeighted one = { -log (1 + result->rows[i].error_fraction), 1.0 / result->errors.n };

      if (counts (&result->rows[i]))
        g_array_append_val (mixture, one);
    }
  }
  g_array_sort (mixture, fab_order_weighted);
  *low = MIN (0, quantile (mixture, total * (1 - coverage) / 2));
  *high = MAX (0, quantile (mixture, total * (1 + coverage) / 2));
}

static double
held (const FabMemoryResult *result, double low, double high)
{
  guint n = 0;

  for (guint i = 0; i < result->source->rows->len; i++) {
    double residual = counts (&result->rows[i]) ? -log (1 + result->rows[i].error_fraction) : 0;

    n += counts (&result->rows[i]) && residual >= low && residual <= high;
  }
  return result->errors.n > 0 ? (double) n / result->errors.n : 0;
}

static void
find_band (FabMemoryReport *self)
{
  double low, high, sum = 0;
  guint n = 0;

  make_band (self, -1, &low, &high);
  self->low_factor = exp (low);
  self->high_factor = exp (high);
  for (guint s = 0; s < self->results->len; s++) {
    FabMemoryResult *result = &g_array_index (self->results, FabMemoryResult, s);

    make_band (self, (gint) s, &low, &high);
    result->held_fraction = held (result, low, high);
    sum += result->source->spec->in_band ? result->held_fraction : 0;
    n += result->errors.n > 0 && result->source->spec->in_band;
  }
  self->held_fraction = n > 0 ? sum / n : 0;
}

/* --- the report --- */

static void
clear_result (gpointer data)
{
  FabMemoryResult *self = data;

  for (guint i = 0; i < self->source->rows->len; i++)
    g_free (self->rows[i].problem);
  g_free (self->rows);
}

void
fab_memory_report_free (FabMemoryReport *self)
{
  if (self == NULL)
    return;
  g_array_unref (self->results);
  g_free (self);
}

static void
add_source (FabMemoryReport *self, const FabMemorySource *source, GArray *items)
{
  FabMemoryResult result = { .source = source, .rows = g_new0 (FabMemoryComparison, source->rows->len) };

  for (guint i = 0; i < source->rows->len; i++) {
    Item item = { source, i, &result.rows[i] };

    result.rows[i].measured = fab_memory_source_row (source, i);
    g_array_append_val (items, item);
  }
  g_array_append_val (self->results, result);
}

static void
sum_source (FabMemoryResult *result)
{
  g_autoptr (GArray) errors = g_array_new (FALSE, FALSE, sizeof (double));

  add_errors (result, errors);
  result->errors = sum_up (errors);
  for (guint i = 0; i < result->source->rows->len; i++) {
    result->n_refused += result->rows[i].is_refused;
    result->n_problems += result->rows[i].problem != NULL;
  }
}

FabMemoryReport *
fab_memory_report_new (const GPtrArray *sources, const FabCatalog *catalog, const FabRegistry *registry,
                       const char *const *sets, GError **error)
{
  g_autoptr (FabMemoryReport) self = g_new0 (FabMemoryReport, 1);
  g_autoptr (GArray) items = g_array_new (FALSE, FALSE, sizeof (Item));
  Work work = { items, catalog, registry, sets };

  self->results = g_array_new (FALSE, FALSE, sizeof (FabMemoryResult));
  g_array_set_clear_func (self->results, clear_result);
  for (guint s = 0; s < sources->len; s++)
    add_source (self, g_ptr_array_index (sources, s), items);
  fab_thread_pool_run (0, items->len, predict, &work);
  for (guint s = 0; s < self->results->len; s++) {
    FabMemoryResult *result = &g_array_index (self->results, FabMemoryResult, s);

    sum_source (result);
    if (result->errors.n == 0 && result->n_problems > 0) {
      fab_throw (error, FAB_ERROR_INPUT, "%s", result->rows[0].problem);
      return NULL;
    }
  }
  self->all = errors_of (self, -1);
  self->looked_at = errors_of (self, FAB_MEMORY_LOOKED_AT);
  self->held_out = errors_of (self, FAB_MEMORY_HELD_OUT);
  find_band (self);
  return g_steal_pointer (&self);
}

/* --- limits --- */

static void
hold_counts (GPtrArray *lines, const FabMemoryResult *result, const FabLimit *limit)
{
  const char *name = result->source->spec->name;
  gint64 skipped = limit != NULL ? limit->n_skipped : 0, refused = limit != NULL ? limit->n_wrong : 0;

  if ((gint64) result->n_problems > skipped)
    g_ptr_array_add (lines,
                     g_strdup_printf ("%s: %u rows cannot be predicted, accepted are %" G_GINT64_FORMAT, name,
                                      result->n_problems, skipped));
  if ((gint64) result->n_refused > refused)
    g_ptr_array_add (lines,
                     g_strdup_printf ("%s: %u rows that ran are refused, accepted are %" G_GINT64_FORMAT,
                                      name, result->n_refused, refused));
}

char **
fab_memory_report_exceeded (const FabMemoryReport *self, const FabLimits *limits)
{
  GPtrArray *lines = g_ptr_array_new ();
  const FabLimit *all = fab_limits_all (limits);

  for (guint s = 0; s < self->results->len; s++) {
    const FabMemoryResult *result = &g_array_index (self->results, FabMemoryResult, s);
    const char *name = result->source->spec->name;
    double median;

    fab_limits_hold (lines, name, &result->errors,
                     fab_limits_median (limits, name, 0, &median) ? median : -1);
    hold_counts (lines, result, fab_limits_find (limits, name));
  }
  if (fab_limits_is_whole (limits, self->results->len) && all->medians[0] > 0)
    fab_limits_hold (lines, "all sources", &self->all, all->medians[0]);
  g_ptr_array_add (lines, NULL);
  return (char **) g_ptr_array_free (lines, FALSE);
}
