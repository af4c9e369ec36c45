/* SPDX-License-Identifier: Apache-2.0 */
/* report.c - one prediction per measured size, then medians and maxima. */
#include "validate/compare/report.h"

#include <string.h>

static const double coarsest_fraction = 0.01; /* half of the last printed digit over the value */

/* Which sizes are counted together. */
typedef struct {
  guint role;               /* FAB_N_ROLES: any */
  const char *interconnect; /* NULL: any */
  FabSizeClass size_class;
} Scope;

static gboolean
is_in_scope (const Scope *scope, const FabMeasuredSpec *spec)
{
  if (scope->role != FAB_N_ROLES && spec->is_doubtful)
    return FALSE;
  return (scope->role == FAB_N_ROLES || (guint) spec->role == scope->role)
      && (scope->interconnect == NULL || strcmp (scope->interconnect, spec->interconnect) == 0);
}

static FabErrors
summarise (FabComparison *const *comparisons, guint n, const Scope *scope)
{
  g_autoptr (GArray) errors = g_array_new (FALSE, FALSE, sizeof (double));
  g_autoptr (GArray) sizes = g_array_new (FALSE, FALSE, sizeof (FabBytes));

  for (guint i = 0; i < n; i++)
    for (guint k = 0; k < comparisons[i]->rows->len; k++) {
      const FabComparisonRow *row = &g_array_index (comparisons[i]->rows, FabComparisonRow, k);

      if (!is_in_scope (scope, comparisons[i]->table->spec)
          || fab_size_class (row->measured->size_bytes) != scope->size_class)
        continue;
      g_array_append_val (errors, row->error_fraction);
      g_array_append_val (sizes, row->measured->size_bytes);
    }
  return fab_errors_of ((const double *) (gpointer) errors->data, (const FabBytes *) (gpointer) sizes->data,
                        errors->len);
}

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
  for (guint c = 0; c < FAB_N_SIZE_CLASSES; c++)
    self->errors[c] = summarise (&self, 1, &(Scope){ FAB_N_ROLES, NULL, (FabSizeClass) c });
}

static void
summarise_roles (const FabReport *self, const char *interconnect, FabErrors errors[][FAB_N_SIZE_CLASSES])
{
  for (guint role = 0; role < FAB_N_ROLES; role++)
    for (guint c = 0; c < FAB_N_SIZE_CLASSES; c++)
      errors[role][c] = summarise ((FabComparison *const *) self->comparisons->pdata, self->comparisons->len,
                                   &(Scope){ role, interconnect, (FabSizeClass) c });
}

static gboolean
has_interconnect (const FabReport *self, const char *name)
{
  for (guint i = 0; i < self->interconnects->len; i++)
    if (strcmp (g_array_index (self->interconnects, FabInterconnectErrors, i).interconnect, name) == 0)
      return TRUE;
  return FALSE;
}

static void
summarise_interconnects (FabReport *self)
{
  for (guint i = 0; i < self->comparisons->len; i++) {
    const FabComparison *comparison = g_ptr_array_index (self->comparisons, i);
    FabInterconnectErrors group = { .interconnect = comparison->table->spec->interconnect };

    if (has_interconnect (self, group.interconnect))
      continue;
    summarise_roles (self, group.interconnect, group.errors);
    g_array_append_val (self->interconnects, group);
  }
}

FabReport *
fab_report_new (const GPtrArray *tables, const char *const *sets, const FabCatalog *catalog,
                const FabRegistry *registry, GError **error)
{
  g_autoptr (FabReport) self = g_new0 (FabReport, 1);

  self->comparisons = g_ptr_array_new_with_free_func (free_comparison);
  self->interconnects = g_array_new (FALSE, FALSE, sizeof (FabInterconnectErrors));
  for (guint i = 0; i < tables->len; i++) {
    FabComparison *comparison = g_new0 (FabComparison, 1);

    g_ptr_array_add (self->comparisons, comparison);
    comparison->table = g_ptr_array_index (tables, i);
    comparison->rows = g_array_new (FALSE, FALSE, sizeof (FabComparisonRow));
    comparison->predictions = predict (comparison->table, sets, catalog, registry, error);
    if (comparison->predictions == NULL) {
      g_prefix_error (error, "%s: ", comparison->table->name);
      return NULL;
    }
    compare_rows (comparison);
  }
  summarise_roles (self, NULL, self->roles);
  summarise_interconnects (self);
  return g_steal_pointer (&self);
}

void
fab_report_free (FabReport *self)
{
  if (self == NULL)
    return;
  g_ptr_array_unref (self->comparisons);
  g_array_unref (self->interconnects);
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
      fab_limits_hold (lines, what, &self->roles[FAB_ROLE_JUDGED][c], limit);
  }
  g_ptr_array_add (lines, NULL);
  return (char **) g_ptr_array_free (lines, FALSE);
}
