/* SPDX-License-Identifier: Apache-2.0 */
/* print_calibrated.c - prints medians of |error| by table and size class. */
#include "sim/base/json.h"
#include "sim/base/version.h"
#include "validate/fit/calibrated.h"

/* Called for each table and size class that has sizes, and last with table NULL for all tables together. */
typedef void (*RowFn) (gpointer out, const FabPublishedSystem *system, const char *table,
                       FabSizeClass size_class, const FabErrors *errors);

static void
each_row (const FabCalibratedReport *report, RowFn row, gpointer out)
{
  for (guint i = 0; i < report->systems->len; i++) {
    const FabCalibratedSystem *system = g_ptr_array_index (report->systems, i);

    for (guint k = 0; k < system->reports[0]->comparisons->len; k++)
      for (guint c = 0; c < FAB_N_SIZE_CLASSES; c++) {
        FabErrors errors[FAB_N_KNOWN];
        const FabComparison *comparison = NULL;

        for (FabKnown known = 0; known < FAB_N_KNOWN; known++) {
          comparison = g_ptr_array_index (system->reports[known]->comparisons, k);
          errors[known] = comparison->errors[c];
        }
        if (errors[0].n > 0)
          row (out, system->spec, comparison->table->name, (FabSizeClass) c, errors);
      }
  }
  for (guint c = 0; c < FAB_N_SIZE_CLASSES; c++) {
    FabErrors errors[FAB_N_KNOWN];

    for (FabKnown known = 0; known < FAB_N_KNOWN; known++)
      errors[known] = report->errors[known][c];
    if (errors[0].n > 0)
      row (out, NULL, NULL, (FabSizeClass) c, errors);
  }
}

static void
append_text_row (gpointer out, G_GNUC_UNUSED const FabPublishedSystem *system, const char *table,
                 FabSizeClass size_class, const FabErrors *errors)
{
  g_string_append_printf (out, "%-38s\v %-6s\v %5u", table ? table : "all of them",
                          fab_size_class_names[size_class], errors[0].n);
  for (FabKnown known = 0; known < FAB_N_KNOWN; known++)
    g_string_append_printf (out, "\v %14.1f%%", errors[known].median_fraction * 100);
  g_string_append_c (out, '\n');
}

/* Counts tables whose median got better, worse, or moved by less than a tenth of a percent. */
typedef struct {
  FabKnown before, after;
  guint n_better, n_worse, n_same;
} Moves;

static void
count_move (gpointer data, G_GNUC_UNUSED const FabPublishedSystem *system, const char *table,
            G_GNUC_UNUSED FabSizeClass size_class, const FabErrors *errors)
{
  static const double least = 0.001;
  Moves *moves = data;
  double gain = errors[moves->before].median_fraction - errors[moves->after].median_fraction;

  if (table == NULL)
    return;
  moves->n_better += gain >= least;
  moves->n_worse += gain <= -least;
  moves->n_same += gain < least && gain > -least;
}

static void
append_moves (GString *out, const FabCalibratedReport *report)
{
  Moves all[] = { { .before = FAB_KNOWN_DATASHEET, .after = FAB_KNOWN_P2P },
                  { .before = FAB_KNOWN_CATALOG, .after = FAB_KNOWN_P2P },
                  { .before = FAB_KNOWN_CATALOG, .after = FAB_KNOWN_CATALOG_P2P } };

  for (guint i = 0; i < G_N_ELEMENTS (all); i++) {
    each_row (report, count_move, &all[i]);
    g_string_append_printf (out, "%s in place of %s: %u medians better, %u worse, %u within 0.1 %%.\n",
                            fab_known_names[all[i].after], fab_known_names[all[i].before], all[i].n_better,
                            all[i].n_worse, all[i].n_same);
  }
  g_string_append_c (out, '\n');
}

static void
append_notes (GString *out, const FabCalibratedReport *report, const char *mark)
{
  for (guint i = 0; i < report->systems->len; i++) {
    const FabPublishedSystem *spec = ((const FabCalibratedSystem *) g_ptr_array_index (report->systems, i))
                                         ->spec;

    g_string_append_printf (out, "%s%s. Tables: %s.\n  Links, measured on %s: %s.\n", mark, spec->name,
                            spec->tables, spec->is_same ? "the same machine" : "other machines of the kind",
                            spec->links);
    if (spec->note)
      g_string_append_printf (out, "  %s\n", spec->note);
  }
}

char *
fab_calibrated_to_text (const FabCalibratedReport *report)
{
  GString *out = g_string_new ("median |error| of judged collectives, by what is known of their links\n\n");

  g_string_append_printf (out, "%-38s\v %-6s\v %5s", "table", "class", "sizes");
  for (FabKnown known = 0; known < FAB_N_KNOWN; known++)
    g_string_append_printf (out, "\v %15s", fab_known_names[known]);
  g_string_append_c (out, '\n');
  each_row (report, append_text_row, out);
  g_string_append_c (out, '\n');
  append_moves (out, report);
  append_notes (out, report, "");
  return g_string_free (out, FALSE);
}

static void
append_markdown_row (gpointer out, G_GNUC_UNUSED const FabPublishedSystem *system, const char *table,
                     FabSizeClass size_class, const FabErrors *errors)
{
  g_string_append_printf (out, "| %s | %s | %u |", table ? table : "all of them",
                          fab_size_class_names[size_class], errors[0].n);
  for (FabKnown known = 0; known < FAB_N_KNOWN; known++)
    g_string_append_printf (out, " %.1f %% |", errors[known].median_fraction * 100);
  g_string_append_c (out, '\n');
}

char *
fab_calibrated_to_markdown (const FabCalibratedReport *report)
{
  GString *out = g_string_new ("| table | class | sizes |");

  for (FabKnown known = 0; known < FAB_N_KNOWN; known++)
    g_string_append_printf (out, " %s |", fab_known_names[known]);
  g_string_append (out, "\n|---|---|---:|---:|---:|---:|---:|\n");
  each_row (report, append_markdown_row, out);
  g_string_append_c (out, '\n');
  append_moves (out, report);
  append_notes (out, report, "- ");
  return g_string_free (out, FALSE);
}

static void
append_csv_row (gpointer out, G_GNUC_UNUSED const FabPublishedSystem *system, const char *table,
                FabSizeClass size_class, const FabErrors *errors)
{
  g_string_append_printf (out, "%s,%s,%u", table ? table : "all", fab_size_class_names[size_class],
                          errors[0].n);
  for (FabKnown known = 0; known < FAB_N_KNOWN; known++)
    g_string_append_printf (out, ",%.6f", errors[known].median_fraction);
  g_string_append_c (out, '\n');
}

static const char *const keys[FAB_N_KNOWN] = { "datasheet_median_fraction", "p2p_median_fraction",
                                               "catalogue_median_fraction", "catalogue_p2p_median_fraction" };

char *
fab_calibrated_to_csv (const FabCalibratedReport *report)
{
  GString *out = g_string_new ("table,class,sizes");

  for (FabKnown known = 0; known < FAB_N_KNOWN; known++)
    g_string_append_printf (out, ",%s", keys[known]);
  g_string_append_c (out, '\n');
  each_row (report, append_csv_row, out);
  return g_string_free (out, FALSE);
}

static void
add_json_row (gpointer json, const FabPublishedSystem *system, const char *table, FabSizeClass size_class,
              const FabErrors *errors)
{
  fab_json_begin_object (json, NULL);
  fab_json_add_text (json, "system", system ? system->name : NULL);
  fab_json_add_text (json, "table", table);
  fab_json_add_text (json, "class", fab_size_class_names[size_class]);
  fab_json_add_whole (json, "sizes", errors[0].n);
  for (FabKnown known = 0; known < FAB_N_KNOWN; known++)
    fab_json_add_real (json, keys[known], errors[known].median_fraction);
  fab_json_end (json);
}

char *
fab_calibrated_to_json (const FabCalibratedReport *report)
{
  g_autoptr (FabJson) json = fab_json_new (FAB_JSON_PAGE);

  fab_json_begin_object (json, NULL);
  fab_json_add_text (json, "version", fab_version ());
  fab_json_begin_array (json, "rows");
  each_row (report, add_json_row, json);
  fab_json_end (json);
  fab_json_end (json);
  return fab_json_finish (json);
}
