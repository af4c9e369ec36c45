/* SPDX-License-Identifier: Apache-2.0 */
#include "validate/bands/bands.h"

#include <math.h>
#include <string.h>

/* --- residuals --- */

/* The sizes of one class of a comparison. A table's family is that of its first size in the class. */
static void
add_class (FabBands *self, const FabComparison *comparison, FabSizeClass size_class)
{
  double *logs = g_new (double, comparison->rows->len + 1);
  FabResiduals one = { .table = comparison->table->name, .size_class = size_class, .logs = logs };

  g_ptr_array_add (self->owned, logs);
  for (guint i = 0; i < comparison->rows->len; i++) {
    const FabComparisonRow *row = &g_array_index (comparison->rows, FabComparisonRow, i);

    if (fab_size_class (row->measured->size_bytes) != size_class)
      continue;
    if (one.n == 0) {
      one.family = row->predicted->kind.family;
      one.place = row->predicted->kind.place;
      one.operations = row->predicted->kind.operations;
    }
    self->library = row->predicted->kind.library;
    logs[one.n++] = -log1p (row->error_fraction);
  }
  if (one.n > 0)
    g_array_append_val (self->residuals, one);
}

FabBands *
fab_bands_new (const FabReport *report)
{
  FabBands *self = g_new0 (FabBands, 1);

  self->residuals = g_array_new (FALSE, FALSE, sizeof (FabResiduals));
  self->owned = g_ptr_array_new_with_free_func (g_free);
  for (guint i = 0; i < report->comparisons->len; i++) {
    const FabComparison *comparison = g_ptr_array_index (report->comparisons, i);
    const FabMeasuredSpec *spec = comparison->table->spec;

    for (guint c = 0; c < FAB_N_SIZE_CLASSES && spec->role == FAB_ROLE_JUDGED && !spec->is_doubtful; c++)
      add_class (self, comparison, (FabSizeClass) c);
  }
  self->fit = fab_bands_fit ((const FabResiduals *) (gpointer) self->residuals->data, self->residuals->len,
                             FAB_BANDS_COVERAGE);
  return self;
}

void
fab_bands_free (FabBands *self)
{
  if (self == NULL)
    return;
  fab_bands_fit_free (self->fit);
  g_array_unref (self->residuals);
  g_ptr_array_unref (self->owned);
  g_free (self);
}

/* --- file --- */

static const char file_head[] =
    "# How far measured times of collectives are from predicted ones. Written by `fabricast validate bands`; a test\n"
    "# keeps it in date. docs/uncertainty.md says how.\n"
    "#\n"
    "# An entry is a family of links, or `any` for one that was not measured. A cell holds for sizes below `up_to`;\n"
    "# `low` and `high` are measured time over predicted time, with the share `coverage` of all cases between them.\n";

/* Of a library or a technology that no table has, nothing says how far its predictions are off: what is known of other
 * families, stretched by what is assumed. */
static const double unmeasured_stretch = 1.25, unknown_stretch = 1.5;

static const char *const cell_limits[FAB_N_SIZE_CLASSES] = { "256KiB", "64MiB", "0B" };

static void
append_cells (GString *out, const FabFamilyBands *bands, double stretch)
{
  for (guint place = 0; place < FAB_N_PLAN_PLACES; place++)
    for (guint operations = 0; operations < FAB_N_PLAN_OPERATIONS; operations++)
      for (guint c = 0; c < FAB_N_SIZE_CLASSES; c++) {
        const FabBandEnds *ends = &bands->cells[place][operations][c];

        if (ends->n_tables > 0)
          g_string_append_printf (
              out,
              "      - {place: %s, operations: %s, up_to: %s, low: %.3f, high: %.3f, tables: %u, families: %u}\n",
              fab_plan_place_names[place], fab_plan_operations_names[operations], cell_limits[c],
              exp (ends->low * stretch), exp (ends->high * stretch), ends->n_tables, ends->n_families);
      }
}

static gboolean
has_cells (const FabFamilyBands *bands)
{
  for (guint place = 0; place < FAB_N_PLAN_PLACES; place++)
    for (guint operations = 0; operations < FAB_N_PLAN_OPERATIONS; operations++)
      for (guint c = 0; c < FAB_N_SIZE_CLASSES; c++)
        if (bands->cells[place][operations][c].n_tables > 0)
          return TRUE;
  return FALSE;
}

/* One entry; `stretch` widens its ends, as logarithms. */
static void
append_entry (GString *out, const FabBands *self, const FabFamilyBands *bands, const char *name,
              double stretch)
{
  gboolean is_first = g_str_has_suffix (out->str, "bands:\n");

  g_string_append_printf (out, "%s  - name: %s\n", is_first ? "" : "\n", name);
  if (strcmp (name, "unknown") != 0)
    g_string_append_printf (out, "    library: %s\n", self->library);
  g_string_append_printf (out, "    coverage: %.0f%%\n", self->fit->coverage_fraction * 100);
  if (has_cells (bands))
    g_string_append (out, "    cells:\n");
  append_cells (out, bands, stretch);
  g_string_append (out, "    source: judged tables of validate/measured, docs/uncertainty.md\n"
                        "    date: \"2026-11-22\"\n");
}

char *
fab_bands_to_yaml (const FabBands *self)
{
  GString *out = g_string_new (file_head);
  const FabFamilyBands *any = &g_array_index (self->fit->families, FabFamilyBands, 0);

  g_string_append_printf (out, "# Reach of families %.2f, of tables %.2f (docs/uncertainty.md).\n",
                          self->fit->reach, self->fit->own_reach);
  g_string_append (out, "\nbands:\n");
  append_entry (out, self, any, "any", 1);
  append_entry (out, self, any, "unmeasured", unmeasured_stretch);
  append_entry (out, self, any, "unknown", unmeasured_stretch * unknown_stretch);
  for (guint i = 1; i < self->fit->families->len; i++) {
    const FabFamilyBands *bands = &g_array_index (self->fit->families, FabFamilyBands, i);

    append_entry (out, self, bands, bands->family, 1);
  }
  return g_string_free (out, FALSE);
}
