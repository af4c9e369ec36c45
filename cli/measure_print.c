/* SPDX-License-Identifier: Apache-2.0 */
/* measure_print.c - a file of measurements for a person: machine, notes, a table per series. */
#include "cli/measure.h"
#include "validate/measure/stats.h"

static void
print_line (const char *before, const char *text)
{
  g_autofree char *plain = fab_cli_printable (text);

  g_print ("%s%s\n", before, plain);
}

static void
print_machine (char **machine)
{
  if (machine[0])
    g_print ("machine\n");
  for (char **row = machine; row[0] && row[1]; row += 2) {
    g_autofree char *key = fab_cli_printable (row[0]), *value = fab_cli_printable (row[1]);

    g_print ("  %-12s %s\n", key, value);
  }
}

/* "-" where a time is not known. */
static char *
show_time (FabTimePs time_ps)
{
  return time_ps > 0 ? fab_units_show (FAB_UNIT_TIME, (double) time_ps) : g_strdup ("-");
}

static void
print_point (const FabMeasuredPoint *point)
{
  g_autofree char *size = fab_units_show (FAB_UNIT_BYTES, (double) point->size_bytes);
  g_autofree char *median = show_time (point->time_ps), *p05 = show_time (point->p05_ps);
  g_autofree char *p95 = show_time (point->p95_ps);
  g_autofree char *rate = fab_units_show (FAB_UNIT_RATE, fab_point_rate (point));
  g_autofree char *n = point->n_samples > 0 ? g_strdup_printf ("%u", point->n_samples) : g_strdup ("-");
  g_autofree char *n_outliers = point->n_samples > 0 ? g_strdup_printf ("%u", point->n_outliers)
                                                     : g_strdup ("-");
  g_autofree char *half = point->high_ps > 0 ? g_strdup_printf ("%.1f %%", fab_stats_half_width (point) * 100)
                                             : g_strdup ("-");

  g_print ("%11s %8s %11s %8s%s %11s %11s %8s %13s\n", size, n, median, half,
           point->n_samples > 0 && !point->is_complete ? "*" : " ", p05, p95, n_outliers, rate);
}

guint
measure_print_series (const FabMeasuredSeries *series)
{
  g_autofree char *title = fab_series_title (&series->series);
  guint n_unsure = 0;

  g_print ("\n");
  print_line ("", title);
  if (series->series.system)
    print_line ("  on ", series->series.system);
  if (series->series.source)
    print_line ("  from ", series->series.source);
  if (series->series.note)
    print_line ("  ", series->series.note);
  g_print ("%11s %8s %11s %8s  %11s %11s %8s %13s\n", "size", "samples", "median", "+-95 %", "p5", "p95",
           "outliers", "rate");
  for (guint i = 0; i < series->points->len; i++) {
    const FabMeasuredPoint *point = &g_array_index (series->points, FabMeasuredPoint, i);

    print_point (point);
    n_unsure += point->n_samples > 0 && !point->is_complete;
  }
  return n_unsure;
}

static void
print_text (const char *path, char **machine, char **notes, const GPtrArray *all)
{
  guint n_unsure = 0;

  g_print ("%s\n", path);
  print_machine (machine);
  if (notes[0])
    g_print ("notes\n");
  for (char **note = notes; *note; note++)
    print_line ("  ", *note);
  for (guint i = 0; i < all->len; i++)
    n_unsure += measure_print_series (g_ptr_array_index (all, i));
  if (all->len == 0)
    g_print ("\nNo size has been measured to its end yet.\n");
  if (n_unsure > 0)
    g_print (
        "\n* a limit ended it before the median was as sure as was asked for; --time and --max-samples are "
        "limits\n");
}

gboolean
measure_print (const char *path, const FabMeasureHost *only, FabFormat format, GError **error)
{
  g_autoptr (FabSamples) samples = fab_samples_open (path, FAB_SAMPLES_READ, error);
  g_autoptr (GPtrArray) all = samples ? fab_samples_load (samples, error) : NULL;
  g_auto (GStrv) machine = all ? fab_samples_machine (samples, error) : NULL;
  g_auto (GStrv) notes = machine ? fab_samples_notes (samples, error) : NULL;
  g_autofree char *text = NULL;

  if (notes == NULL)
    return FALSE;
  for (guint i = all->len; only && i-- > 0;)
    if (!fab_host_has_series (only, &((const FabMeasuredSeries *) g_ptr_array_index (all, i))->series))
      g_ptr_array_remove_index (all, i);
  if (format == FAB_FORMAT_TEXT) {
    print_text (path, machine, notes, all);
    return TRUE;
  }
  text = format == FAB_FORMAT_JSON ? measure_json (path, machine, notes, all) : measure_csv (all);
  g_print ("%s", text);
  return TRUE;
}
