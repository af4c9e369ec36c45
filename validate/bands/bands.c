/* SPDX-License-Identifier: Apache-2.0 */
#include "validate/bands/bands.h"

#include <math.h>
#include <string.h>

/* --- residuals --- */

/* The sizes of one class of a comparison. A table's family is that of its first size in the class. */
static void
add_class (FabResidualList *self, const FabComparison *comparison, FabSizeClass size_class)
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
    logs[one.n++] = -log1p (row->error_fraction);
  }
  if (one.n > 0)
    g_array_append_val (self->all, one);
}

static FabResidualList
residuals_of (const FabReport *report, gboolean only_judged)
{
  FabResidualList self = { g_array_new (FALSE, FALSE, sizeof (FabResiduals)),
                           g_ptr_array_new_with_free_func (g_free) };

  for (guint i = 0; i < report->comparisons->len; i++) {
    const FabComparison *comparison = g_ptr_array_index (report->comparisons, i);
    const FabMeasuredSpec *spec = comparison->table->spec;

    for (guint c = 0; c < FAB_N_SIZE_CLASSES; c++)
      if (!spec->is_doubtful && (!only_judged || spec->role == FAB_ROLE_JUDGED))
        add_class (&self, comparison, (FabSizeClass) c);
  }
  return self;
}

static void
residuals_clear (FabResidualList *self)
{
  g_array_unref (self->all);
  g_ptr_array_unref (self->owned);
}

static const FabResiduals *
residuals (const FabResidualList *self)
{
  return (const FabResiduals *) (gpointer) self->all->data;
}

static const char *
library_of (const FabReport *report)
{
  const FabComparison *first = report->comparisons->len > 0 ? g_ptr_array_index (report->comparisons, 0)
                                                            : NULL;

  return first != NULL ? g_array_index (first->predictions, FabPrediction, 0).kind.library : NULL;
}

FabBands *
fab_bands_new (const FabReport *report, const FabReport *left_out)
{
  FabBands *self = g_new0 (FabBands, 1);

  self->judged = residuals_of (report, TRUE);
  self->left_out = residuals_of (left_out, FALSE);
  self->library = library_of (report);
  self->fit = fab_bands_fit (residuals (&self->judged), self->judged.all->len, FAB_BANDS_COVERAGE);
  self->unmeasured = fab_bands_fit (residuals (&self->left_out), self->left_out.all->len, FAB_BANDS_COVERAGE);
  return self;
}

void
fab_bands_free (FabBands *self)
{
  if (self == NULL)
    return;
  fab_bands_fit_free (self->fit);
  fab_bands_fit_free (self->unmeasured);
  residuals_clear (&self->judged);
  residuals_clear (&self->left_out);
  g_free (self);
}

/* --- file --- */

static const char file_head[] =
    "# How far measured times of collectives are from predicted ones. Written by `fabricast validate bands`; a test\n"
    "# keeps it in date. docs/explanation/uncertainty.md says how.\n"
    "#\n"
    "# An entry is a family of links, or `any` for one that was not measured. A cell holds for sizes below `up_to`;\n"
    "# `low` and `high` are measured time over predicted time, with the share `coverage` of all cases between them.\n";

/* Of a library or a technology that no table has, nothing says how far its predictions are off. Assumed: half as far
 * again, as logarithms, as those of a family of which none was measured. */
static const double unknown_stretch = 1.5;

/* What a catalogue entry may say. */
static const double least_factor = 0.001, most_factor = 999;

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
              MAX (exp (ends->low * stretch), least_factor), MIN (exp (ends->high * stretch), most_factor),
              ends->n_tables, ends->n_families);
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
              const char *summary, double stretch)
{
  gboolean is_first = g_str_has_suffix (out->str, "bands:\n");

  g_string_append_printf (out, "%s  - name: %s\n    summary: %s\n", is_first ? "" : "\n", name, summary);
  if (strcmp (name, "unknown") != 0)
    g_string_append_printf (out, "    library: %s\n", self->library);
  g_string_append_printf (out, "    coverage: %.0f%%\n", self->fit->coverage_fraction * 100);
  if (has_cells (bands))
    g_string_append (out, "    cells:\n");
  append_cells (out, bands, stretch);
  g_string_append (out, "    source: judged tables of validate/measured, docs/explanation/uncertainty.md\n"
                        "    date: \"2026-11-22\"\n");
}

/* The wider of the two at each end. */
static FabFamilyBands
wider (const FabFamilyBands *a, const FabFamilyBands *b)
{
  FabFamilyBands wide = *b;

  for (guint place = 0; place < FAB_N_PLAN_PLACES; place++)
    for (guint operations = 0; operations < FAB_N_PLAN_OPERATIONS; operations++)
      for (guint c = 0; c < FAB_N_SIZE_CLASSES; c++) {
        const FabBandEnds *other = &a->cells[place][operations][c];
        FabBandEnds *ends = &wide.cells[place][operations][c];

        ends->low = MIN (ends->low, other->low);
        ends->high = MAX (ends->high, other->high);
      }
  return wide;
}

char *
fab_bands_to_yaml (const FabBands *self)
{
  GString *out = g_string_new (file_head);
  const FabFamilyBands *any = &g_array_index (self->fit->families, FabFamilyBands, 0);
  FabFamilyBands unmeasured = wider (any, &g_array_index (self->unmeasured->families, FabFamilyBands, 0));

  g_string_append_printf (out, "# Reach of families %.2f, of tables %.2f, of families left out %.2f.\n",
                          self->fit->reach, self->fit->own_reach, self->unmeasured->reach);
  g_string_append (out, "\nbands:\n");
  append_entry (out, self, any, "any",
                "Band of all families, for those with too few measured tables of their own", 1);
  append_entry (out, self, &unmeasured, "unmeasured",
                "Families without judged tables, or whose links were fitted to one table or none", 1);
  append_entry (out, self, &unmeasured, "unknown", "Technologies and libraries without measured tables",
                unknown_stretch);
  for (guint i = 1; i < self->fit->families->len; i++) {
    const FabFamilyBands *bands = &g_array_index (self->fit->families, FabFamilyBands, i);

    append_entry (out, self, bands, bands->family,
                  has_cells (bands) ? "Family with judged tables of its own"
                                    : "Family with too few judged tables, so that the band `any` applies",
                  1);
  }
  return g_string_free (out, FALSE);
}

/* --- coverage --- */

/* "91 % (12)" of tables of a class; nothing where there are none. */
static void
append_covered (GString *out, double covered_fraction, guint n)
{
  if (n > 0)
    g_string_append_printf (out, " %.0f %% (%u) |", 100 * covered_fraction, n);
  else
    g_string_append (out, " |");
}

/* Families weigh the same; of those that have the class. */
static void
append_all (GString *out, const GArray *coverage)
{
  g_string_append_printf (out, "| **all %u families** | |", coverage->len);
  for (guint c = 0; c < FAB_N_SIZE_CLASSES; c++) {
    double sum = 0;
    guint n = 0;

    for (guint i = 0; i < coverage->len; i++) {
      const FabLeftOutCoverage *one = &g_array_index (coverage, FabLeftOutCoverage, i);

      sum += one->n[c] > 0 ? one->covered_fraction[c] : 0;
      n += one->n[c] > 0;
    }
    append_covered (out, n > 0 ? sum / n : 0, n);
  }
  g_string_append_c (out, '\n');
}

static void
append_coverage (GString *out, const FabResidualList *list)
{
  g_autoptr (GArray) coverage = fab_bands_left_out (residuals (list), list->all->len, FAB_BANDS_COVERAGE);

  g_string_append (out, "| family left out | tables | small < 256 KiB | middle < 64 MiB | large >= 64 MiB |\n"
                        "|---|---:|---|---|---|\n");
  append_all (out, coverage);
  for (guint i = 0; i < coverage->len; i++) {
    const FabLeftOutCoverage *one = &g_array_index (coverage, FabLeftOutCoverage, i);

    g_string_append_printf (out, "| %s | %u |", one->family, one->n_tables);
    for (guint c = 0; c < FAB_N_SIZE_CLASSES; c++)
      append_covered (out, one->covered_fraction[c], one->n[c]);
    g_string_append_c (out, '\n');
  }
}

static void
append_bands (GString *out, const FabFamilyBands *bands, const char *name)
{
  static const char *const class_names[FAB_N_SIZE_CLASSES] = { "small", "middle", "large" };

  for (guint place = 0; place < FAB_N_PLAN_PLACES; place++)
    for (guint operations = 0; operations < FAB_N_PLAN_OPERATIONS; operations++) {
      g_string_append_printf (out, "| `%s` | %s | %s |", name, fab_plan_place_names[place],
                              fab_plan_operations_names[operations]);
      for (guint c = 0; c < FAB_N_SIZE_CLASSES; c++) {
        const FabBandEnds *ends = &bands->cells[place][operations][c];

        g_string_append_printf (out, " %.2f to %.2f (%s: %u, %u) |", exp (ends->low), exp (ends->high),
                                class_names[c], ends->n_tables, ends->n_families);
      }
      g_string_append_c (out, '\n');
    }
}

char *
fab_bands_to_markdown (const FabBands *self)
{
  GString *out = g_string_new ("### Families left out, predicted without what was learned of them\n\n");

  append_coverage (out, &self->left_out);
  g_string_append (out, "\n### Families whose residuals alone are left out\n\n");
  append_coverage (out, &self->judged);
  g_string_append (out,
                   "\n### Measured over predicted time, 90 % (tables, families)\n\n"
                   "| entry | place | operations | small | middle | large |\n|---|---|---|---|---|---|\n");
  append_bands (out, &g_array_index (self->fit->families, FabFamilyBands, 0), "any");
  append_bands (out, &g_array_index (self->unmeasured->families, FabFamilyBands, 0), "unmeasured");
  return g_string_free (out, FALSE);
}

/* --- accuracy --- */

static void
append_account (GString *out, const FabAccount *account, const char *words)
{
  const FabTally *tallies = account->tallies[FAB_ROLE_JUDGED];

  g_string_append_printf (out, "| %s |", words);
  for (gint c = FAB_N_SIZE_CLASSES - 1; c >= 0; c--)
    if (tallies[c].sizes.n > 0)
      g_string_append_printf (out, " %.1f %% (%u) |", 100 * tallies[c].tables_fraction, tallies[c].n_tables);
    else
      g_string_append (out, " |");
  g_string_append_c (out, '\n');
}

static gboolean
is_shown (const FabAccount *account)
{
  return (account->kind == FAB_ACCOUNT_PLACE || account->kind == FAB_ACCOUNT_PLACE_AND_OPERATIONS
          || account->kind == FAB_ACCOUNT_OPERATIONS || account->kind == FAB_ACCOUNT_DOUBTFUL)
      && fab_account_has_role (account, FAB_ROLE_JUDGED);
}

/* Of families left out, each of the same weight. */
static void
append_covered_all (GString *out, const FabResidualList *list)
{
  g_autoptr (GArray) coverage = fab_bands_left_out (residuals (list), list->all->len, FAB_BANDS_COVERAGE);

  g_string_append (out, "| within the band of 90 %, families left out |");
  for (gint c = FAB_N_SIZE_CLASSES - 1; c >= 0; c--) {
    double sum = 0;
    guint n = 0;

    for (guint i = 0; i < coverage->len; i++) {
      const FabLeftOutCoverage *one = &g_array_index (coverage, FabLeftOutCoverage, i);

      sum += one->n[c] > 0 ? one->covered_fraction[c] : 0;
      n += one->n[c] > 0;
    }
    append_covered (out, n > 0 ? sum / n : 0, n);
  }
  g_string_append_c (out, '\n');
}

char *
fab_bands_accuracy (const FabBands *self, const FabReport *report, const FabReport *left_out)
{
  GString *out = g_string_new (
      "| judged tables (their number) | large >= 64 MiB | middle < 64 MiB | small < 256 KiB |\n"
      "|---|---|---|---|\n");

  append_account (out, &g_array_index (report->accounts, FabAccount, 0), "**all**");
  for (guint i = 1; i < report->accounts->len; i++) {
    const FabAccount *account = &g_array_index (report->accounts, FabAccount, i);

    if (is_shown (account))
      append_account (out, account, account->name);
  }
  append_account (out, &g_array_index (left_out->accounts, FabAccount, 0),
                  "all tables, each family left out (its constants put back)");
  append_covered_all (out, &self->left_out);
  return g_string_free (out, FALSE);
}
