/* SPDX-License-Identifier: Apache-2.0 */
#include "validate/bands/bands.h"

#include <math.h>
#include <string.h>

#include "sim/base/stats.h"

/* --- residuals --- */

/* Which sizes of which tables a list is of. */
typedef struct {
  const FabReport *report;
  const FabCatalog *catalog;
  gboolean only_judged, is_well;
  GPtrArray *tables; /* FabMeasuredTable, all of the report */
} Wanted;

static GPtrArray *
tables_of (const FabReport *report)
{
  GPtrArray *tables = g_ptr_array_new ();

  for (guint i = 0; i < report->comparisons->len; i++)
    g_ptr_array_add (tables,
                     (gpointer) ((const FabComparison *) g_ptr_array_index (report->comparisons, i))->table);
  return tables;
}

static gboolean
is_wanted (const Wanted *wanted, const FabComparison *comparison, const FabMeasuredRow *row,
           FabSizeClass size_class)
{
  return fab_size_class (row->size_bytes) == size_class
      && (fab_health (comparison->table, row, wanted->tables, wanted->catalog) == FAB_HEALTH_WELL)
             == wanted->is_well;
}

/* The sizes of one class of a comparison. A table's family is that of its first size in the class. */
static void
add_class (FabResidualList *self, const Wanted *wanted, const FabComparison *comparison,
           FabSizeClass size_class)
{
  double *logs = g_new (double, comparison->rows->len + 1);
  FabResiduals one = { .table = comparison->table->name,
                       .publication = comparison->table->publication,
                       .size_class = size_class,
                       .machine = comparison->table->spec->node,
                       .logs = logs };

  g_ptr_array_add (self->owned, logs);
  for (guint i = 0; i < comparison->rows->len; i++) {
    const FabComparisonRow *row = &g_array_index (comparison->rows, FabComparisonRow, i);

    if (!is_wanted (wanted, comparison, row->measured, size_class))
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
residuals_of (Wanted wanted)
{
  FabResidualList self = { g_array_new (FALSE, FALSE, sizeof (FabResiduals)),
                           g_ptr_array_new_with_free_func (g_free) };
  g_autoptr (GPtrArray) tables = tables_of (wanted.report);

  wanted.tables = tables;
  for (guint i = 0; i < tables->len; i++) {
    const FabComparison *comparison = g_ptr_array_index (wanted.report->comparisons, i);

    for (guint c = 0; c < FAB_N_SIZE_CLASSES; c++)
      if (!wanted.only_judged || comparison->table->spec->role == FAB_ROLE_JUDGED)
        add_class (&self, &wanted, comparison, (FabSizeClass) c);
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
fab_bands_new (const FabReport *report, const FabReport *left_out, const FabCatalog *catalog)
{
  FabBands *self = g_new0 (FabBands, 1);

  self->judged = residuals_of ((Wanted){ report, catalog, .only_judged = TRUE, .is_well = TRUE });
  self->untuned = residuals_of ((Wanted){ report, catalog, .only_judged = TRUE, .is_well = FALSE });
  self->left_out = residuals_of ((Wanted){ left_out, catalog, .only_judged = FALSE, .is_well = TRUE });
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
  residuals_clear (&self->untuned);
  residuals_clear (&self->left_out);
  g_free (self);
}

/* --- file --- */

static const char file_head[] =
    "# How far measured times of collectives are from predicted ones. Written by `fabricast validate bands`; a test\n"
    "# keeps it in date. docs/explanation/uncertainty.md says how.\n"
    "#\n"
    "# An entry is a family of links, or `any` for one that was not measured. A cell holds for sizes below `up_to`;\n"
    "# `low` and `high` are measured time over predicted time, with the share `coverage` of all cases between them.\n"
    "# `spread`: the slowest over the fastest publication of one kind of machine, at the most, of `machines` that\n"
    "# several measured.\n";

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

        if (ends->n_tables == 0)
          continue;
        g_string_append_printf (
            out,
            "      - {place: %s, operations: %s, up_to: %s, low: %.3f, high: %.3f, tables: %u, families: %u",
            fab_plan_place_names[place], fab_plan_operations_names[operations], cell_limits[c],
            MAX (exp (ends->low * stretch), least_factor), MIN (exp (ends->high * stretch), most_factor),
            ends->n_tables, ends->n_families);
        g_string_append_printf (out, ", publications: %u", ends->n_publications);
        if (ends->n_machines > 0)
          g_string_append_printf (out, ", machines: %u, spread: %.3f", ends->n_machines, exp (ends->spread));
        g_string_append (out, "}\n");
      }
}

/* --- set-ups that were not well --- */

/* Tables of a kind and class, and of these the least and the most slow in the median over their sizes. */
typedef struct {
  guint n_tables;
  double low, high; /* logarithms */
} Medians;

static gboolean
is_of_kind (const FabResiduals *one, const FabResiduals *kind)
{
  return one->place == kind->place && one->operations == kind->operations
      && one->size_class == kind->size_class;
}

static Medians
medians_of (const FabResidualList *list, const FabResiduals *kind)
{
  Medians self = { 0, INFINITY, -INFINITY };

  for (guint i = 0; i < list->all->len; i++) {
    const FabResiduals *one = &residuals (list)[i];
    double median = fab_weighted_quantile (one->logs, NULL, one->n, 0.5);

    if (!is_of_kind (one, kind))
      continue;
    self.n_tables++;
    self.low = MIN (self.low, median);
    self.high = MAX (self.high, median);
  }
  return self;
}

/* Tables that are well at some sizes of the class, at none, or both. */
static guint
n_tables_of (const FabBands *self, const FabResiduals *kind)
{
  const FabResidualList *lists[] = { &self->judged, &self->untuned };
  g_autoptr (GHashTable) names = g_hash_table_new (g_str_hash, g_str_equal);

  for (guint l = 0; l < G_N_ELEMENTS (lists); l++)
    for (guint i = 0; i < lists[l]->all->len; i++)
      if (is_of_kind (&residuals (lists[l])[i], kind))
        g_hash_table_add (names, (gpointer) residuals (lists[l])[i].table);
  return g_hash_table_size (names);
}

/* Of networks alone: inside nodes it was seen of one kind of links, which says nothing of others. */
static void
append_untuned (GString *out, const FabBands *self)
{
  if (self->untuned.all->len > 0)
    g_string_append (out, "    untuned:\n");
  for (guint operations = 0; operations < FAB_N_PLAN_OPERATIONS; operations++)
    for (guint c = 0; c < FAB_N_SIZE_CLASSES; c++) {
      const FabResiduals kind = { .place = FAB_PLAN_BETWEEN,
                                  .operations = (FabPlanOperations) operations,
                                  .size_class = (FabSizeClass) c };
      Medians untuned = medians_of (&self->untuned, &kind);

      if (untuned.n_tables > 0)
        g_string_append_printf (
            out, "      - {operations: %s, up_to: %s, tables: %u, of: %u, low: %.3f, high: %.3f}\n",
            fab_plan_operations_names[operations], cell_limits[c], untuned.n_tables,
            n_tables_of (self, &kind), exp (untuned.low), exp (untuned.high));
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
  if (strcmp (name, "any") == 0)
    append_untuned (out, self);
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

static void
append_reaches (GString *out, const char *words, const double reaches[FAB_N_SIZE_CLASSES], const char *end)
{
  g_string_append_printf (out, " %s %.2f, %.2f, %.2f%s", words, reaches[FAB_SIZE_SMALL],
                          reaches[FAB_SIZE_MIDDLE], reaches[FAB_SIZE_LARGE], end);
}

char *
fab_bands_to_yaml (const FabBands *self)
{
  GString *out = g_string_new (file_head);
  const FabFamilyBands *any = &g_array_index (self->fit->families, FabFamilyBands, 0);
  FabFamilyBands unmeasured = wider (any, &g_array_index (self->unmeasured->families, FabFamilyBands, 0));

  g_string_append (out, "# Reach at small, middle and large sizes:");
  append_reaches (out, "of families", self->fit->reach, ";");
  append_reaches (out, "of publications", self->fit->own_reach, ";");
  append_reaches (out, "of families left out", self->unmeasured->reach, ".\n");
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

/* Each weighs the same, of those that have the class. */
static void
append_all (GString *out, const GArray *coverage, const char *plural)
{
  g_string_append_printf (out, "| **all %u %s** | |", coverage->len, plural);
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
append_coverage (GString *out, const GArray *coverage, const char *one_name, const char *plural)
{
  g_string_append_printf (out,
                          "| %s left out | tables | small < 256 KiB | middle < 64 MiB | large >= 64 MiB |\n"
                          "|---|---:|---|---|---|\n",
                          one_name);
  append_all (out, coverage, plural);
  for (guint i = 0; i < coverage->len; i++) {
    const FabLeftOutCoverage *one = &g_array_index (coverage, FabLeftOutCoverage, i);

    g_string_append_printf (out, "| %s | %u |", one->name, one->n_tables);
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

static GArray *
families_left_out (const FabResidualList *list)
{
  return fab_bands_left_out (residuals (list), list->all->len, FAB_BANDS_COVERAGE);
}

static GArray *
publications_left_out (const FabResidualList *list)
{
  return fab_bands_publications_left_out (residuals (list), list->all->len, FAB_BANDS_COVERAGE);
}

char *
fab_bands_to_markdown (const FabBands *self)
{
  GString *out = g_string_new ("### Publications left out, each against what all others say\n\n");
  g_autoptr (GArray) publications = publications_left_out (&self->judged);
  g_autoptr (GArray) unmeasured = families_left_out (&self->left_out);
  g_autoptr (GArray) families = families_left_out (&self->judged);

  append_coverage (out, publications, "publication", "publications");
  g_string_append (out, "\n### Families left out, predicted without what was learned of them\n\n");
  append_coverage (out, unmeasured, "family", "families");
  g_string_append (out, "\n### Families whose residuals alone are left out\n\n");
  append_coverage (out, families, "family", "families");
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
          || account->kind == FAB_ACCOUNT_OPERATIONS || account->kind == FAB_ACCOUNT_AMD
          || account->kind == FAB_ACCOUNT_DOUBTFUL)
      && fab_account_has_role (account, FAB_ROLE_JUDGED);
}

/* Each of the same weight. */
static void
append_covered_all (GString *out, const GArray *coverage, const char *words)
{
  g_string_append_printf (out, "| within the band of 90 %%, %s |", words);
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
  g_autoptr (GArray) publications = publications_left_out (&self->judged);
  g_autoptr (GArray) families = families_left_out (&self->left_out);

  append_account (out, &g_array_index (report->accounts, FabAccount, 0), "**all**");
  for (guint i = 1; i < report->accounts->len; i++) {
    const FabAccount *account = &g_array_index (report->accounts, FabAccount, i);

    if (is_shown (account))
      append_account (out, account, account->name);
  }
  append_account (out, &g_array_index (left_out->accounts, FabAccount, 0),
                  "all tables, each family left out (its constants put back)");
  append_covered_all (out, publications, "publications left out");
  append_covered_all (out, families, "families left out");
  return g_string_free (out, FALSE);
}
