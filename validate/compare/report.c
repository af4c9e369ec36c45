/* SPDX-License-Identifier: Apache-2.0 */
/* report.c - one prediction per measured size, then medians and maxima. */
#include "validate/compare/report.h"

#include <string.h>

static const double coarsest_fraction = 0.01; /* half of the last printed digit over the value */

static void
free_comparison (gpointer data)
{
  FabComparison *self = data;

  g_clear_pointer (&self->predictions, g_array_unref);
  g_array_unref (self->rows);
  g_free (self);
}

/* What is known of the measured software comes before what the caller asks for, which may replace the library. */
static GArray *
predict (const FabMeasuredTable *table, const char *const *sets, const FabCatalog *catalog,
         const FabRegistry *registry, GError **error)
{
  const GArray *rows = table->csv->rows;
  const FabMeasuredSpec *spec = table->spec;
  g_autofree FabBytes *sizes = g_new (FabBytes, rows->len);
  g_auto (GStrv) known = g_strsplit (spec->sets ? spec->sets : "", " ", -1);
  g_autoptr (FabEdits) edits = fab_edits_new (), asked = fab_edits_of (sets);

  for (guint i = 0; known[i]; i++)
    if (*known[i] != '\0')
      fab_edits_assign (edits, known[i]);
  fab_edits_append (edits, asked);
  for (guint i = 0; i < rows->len; i++)
    sizes[i] = g_array_index (rows, FabMeasuredRow, i).size_bytes;
  return fab_predict_collective (&(FabPredictionRequest){ .node = spec->node,
                                                          .nodes = spec->nodes,
                                                          .gpus_per_node = spec->gpus_per_node,
                                                          .op = (FabOp) spec->op,
                                                          .sizes_bytes = sizes,
                                                          .n_sizes = rows->len,
                                                          .edits = edits },
                                 catalog, registry, error);
}

/* Every row of a comparison: its error and its size. */
static void
copy_rows (const FabComparison *self, double *errors, FabBytes *sizes)
{
  for (guint i = 0; i < self->rows->len; i++) {
    const FabComparisonRow *row = &g_array_index (self->rows, FabComparisonRow, i);

    errors[i] = row->error_fraction;
    sizes[i] = row->measured->size_bytes;
  }
}

static void
summarise (FabComparison *self)
{
  g_autofree double *errors = g_new (double, self->rows->len + 1);
  g_autofree FabBytes *sizes = g_new (FabBytes, self->rows->len + 1);

  copy_rows (self, errors, sizes);
  for (guint c = 0; c < FAB_N_SIZE_CLASSES; c++)
    self->errors[c] = fab_errors_of_class (errors, sizes, self->rows->len, (FabSizeClass) c);
}

static void
compare_rows (FabComparison *self)
{
  for (guint i = 0; i < self->predictions->len; i++) {
    FabComparisonRow row = { .measured = &g_array_index (self->table->csv->rows, FabMeasuredRow, i),
                             .predicted = &g_array_index (self->predictions, FabPrediction, i) };

    if (row.measured->rounding_fraction > coarsest_fraction) {
      self->n_left_out++;
      continue;
    }
    row.error_fraction = row.predicted->time_us / row.measured->time_us - 1;
    g_array_append_val (self->rows, row);
  }
  summarise (self);
}

/* --- accounts --- */

static FabPlace
place_of (const FabMeasuredSpec *spec, const FabCatalog *catalog)
{
  if (spec->nodes == 1)
    return FAB_PLACE_NODE;
  return spec->nodes <= fab_node_spec_sharers (fab_catalog_node (catalog, spec->node)) ? FAB_PLACE_RACK
                                                                                       : FAB_PLACE_NODES;
}

static gboolean
is_amd (const FabMeasuredSpec *spec, const FabCatalog *catalog)
{
  const FabNodeSpec *node = fab_catalog_node (catalog, spec->node);
  const FabAcceleratorSpec *accelerator = fab_catalog_accelerator (catalog, node->accelerator);

  return accelerator != NULL && g_str_has_prefix (accelerator->architecture, "cdna");
}

static GArray *
find_accounts (const FabReport *self, const FabCatalog *catalog, gboolean has_roles)
{
  g_autofree FabAccountTable *tables = g_new0 (FabAccountTable, self->comparisons->len + 1);
  g_autoptr (GPtrArray) owned = g_ptr_array_new_with_free_func (g_free);

  for (guint i = 0; i < self->comparisons->len; i++) {
    const FabComparison *comparison = g_ptr_array_index (self->comparisons, i);
    guint n = comparison->rows->len;
    double *errors = g_new (double, n + 1);
    FabBytes *sizes = g_new (FabBytes, n + 1);

    g_ptr_array_add (owned, errors);
    g_ptr_array_add (owned, sizes);
    copy_rows (comparison, errors, sizes);
    const FabMeasuredSpec *spec = comparison->table->spec;
    tables[i] = (FabAccountTable){ spec,
                                   has_roles ? (FabMeasuredRole) spec->role : FAB_ROLE_JUDGED,
                                   place_of (spec, catalog),
                                   is_amd (spec, catalog),
                                   n,
                                   errors,
                                   sizes };
  }
  return fab_accounts_of (tables, self->comparisons->len);
}

const FabTally *
fab_report_role (const FabReport *self, FabMeasuredRole role)
{
  return g_array_index (self->accounts, FabAccount, 0).tallies[role];
}

/* Predicts a table and compares it. */
static gboolean
add_table (FabReport *self, const FabReportItem *item, const char *const *sets, const FabRegistry *registry,
           GError **error)
{
  FabComparison *comparison = g_new0 (FabComparison, 1);

  g_ptr_array_add (self->comparisons, comparison);
  comparison->table = item->table;
  comparison->rows = g_array_new (FALSE, FALSE, sizeof (FabComparisonRow));
  comparison->predictions = predict (item->table, sets, item->catalog, registry, error);
  if (comparison->predictions == NULL) {
    g_prefix_error (error, "%s: ", item->table->name);
    return FALSE;
  }
  compare_rows (comparison);
  return TRUE;
}

static FabReport *
report_new (void)
{
  FabReport *self = g_new0 (FabReport, 1);

  self->comparisons = g_ptr_array_new_with_free_func (free_comparison);
  return self;
}

FabReport *
fab_report_of (const FabReportItem *items, guint n, const FabRegistry *registry, GError **error)
{
  g_autoptr (FabReport) self = report_new ();

  for (guint i = 0; i < n; i++) {
    g_auto (GStrv) sets = g_strsplit (items[i].sets != NULL ? items[i].sets : "", " ", -1);

    if (!add_table (self, &items[i], items[i].sets != NULL ? (const char *const *) sets : NULL, registry,
                    error))
      return NULL;
  }
  self->accounts = find_accounts (self, n > 0 ? items[0].catalog : NULL, FALSE);
  return g_steal_pointer (&self);
}

FabReport *
fab_report_new (const GPtrArray *tables, const char *const *sets, const FabCatalog *catalog,
                const FabRegistry *registry, GError **error)
{
  g_autoptr (FabReport) self = report_new ();

  for (guint i = 0; i < tables->len; i++) {
    FabReportItem item = { g_ptr_array_index (tables, i), catalog, NULL };

    if (!add_table (self, &item, sets, registry, error))
      return NULL;
  }
  self->accounts = find_accounts (self, catalog, TRUE);
  return g_steal_pointer (&self);
}

void
fab_report_free (FabReport *self)
{
  if (self == NULL)
    return;
  g_ptr_array_unref (self->comparisons);
  g_clear_pointer (&self->accounts, g_array_unref);
  g_free (self);
}

/* Without ".csv". */
static const char *
find_table (gconstpointer measured, const char *name, GError **error)
{
  const FabMeasuredTable *table = fab_measured_find (measured, name, error);

  return table ? table->name : NULL;
}

FabLimits *
fab_report_limits_load (const char *path, const FabMeasured *measured, const FabRegistry *registry,
                        GError **error)
{
  return fab_limits_load (path,
                          &(FabLimitsRequest){ FAB_LIMITS_OF_COLLECTIVES, find_table, measured, registry },
                          error);
}

static void
hold (GPtrArray *lines, const FabLimits *limits, const FabComparison *comparison, FabSizeClass size_class)
{
  const FabErrors *errors = &comparison->errors[size_class];
  g_autofree char *what = g_strdup_printf ("%s: %s", comparison->table->name,
                                           fab_size_class_names[size_class]);
  double limit;

  if (errors->n > 0)
    fab_limits_hold (lines, what, errors,
                     fab_limits_median (limits, comparison->table->name, size_class, &limit) ? limit : -1);
}

char **
fab_report_exceeded (const FabReport *self, const FabLimits *limits)
{
  GPtrArray *lines = g_ptr_array_new ();

  for (guint i = 0; i < self->comparisons->len; i++)
    for (guint c = 0; c < FAB_N_SIZE_CLASSES; c++)
      hold (lines, limits, g_ptr_array_index (self->comparisons, i), (FabSizeClass) c);
  for (guint c = 0; c < FAB_N_SIZE_CLASSES && fab_limits_is_whole (limits, self->comparisons->len); c++) {
    g_autofree char *what = g_strdup_printf ("all judged tables: %s", fab_size_class_names[c]);
    double limit = fab_limits_all (limits)->medians[c];

    if (limit > 0)
      fab_limits_hold (lines, what, &fab_report_role (self, FAB_ROLE_JUDGED)[c].sizes, limit);
  }
  g_ptr_array_add (lines, NULL);
  return (char **) g_ptr_array_free (lines, FALSE);
}
