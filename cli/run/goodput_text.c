/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/run/goodput_text.h"

#include <math.h>
#include <string.h>

#include "sim/result/record_data.h"

char *
fab_goodput_time (double seconds)
{
  const double minute_s = 60, hour_s = 3600;

  if (seconds >= 2 * minute_s && seconds < 2 * hour_s)
    return g_strdup_printf ("%.4g min", seconds / minute_s);
  return fab_units_show (FAB_UNIT_TIME, seconds * (double) FAB_PS_PER_S);
}

static void
append_calendar (GString *page, const FabGoodput *goodput, FabGoodputBand band)
{
  g_autofree char *time = fab_goodput_time (goodput->calendar_s);
  g_autofree char *low = fab_goodput_time (goodput->calendar_s * band.low),
                  *high = fab_goodput_time (goodput->calendar_s * band.high);

  if (goodput->calendar_s <= 0)
    return;
  g_string_append_printf (page, "  %-16s%s by the calendar", "    days", time);
  if (band.high > band.low)
    g_string_append_printf (page, " (%s to %s with the band of the step)", low, high);
  g_autofree char *interruptions = fab_units_show_many (round (goodput->n_interruptions)),
                  *hours = fab_units_show_many (round (goodput->lost_gpu_hours));
  g_string_append_printf (page, "\n  %-16s%s interruptions, %s GPU hours lost\n", "", interruptions, hours);
}

static void
append_rates (GString *page, const FabGoodput *goodput)
{
  const double day_s = 86400;
  g_autofree char *between = fab_goodput_time (1 / goodput->form.stops_per_s);

  if (goodput->form.stops_per_s <= 0)
    return;
  g_string_append_printf (page, "  %-16s%.3g a day stop the job, one every %s", "    failures",
                          goodput->form.stops_per_s * day_s, between);
  if (goodput->form.planned_per_s > 0)
    g_string_append_printf (page, "; %.3g a day are planned", goodput->form.planned_per_s * day_s);
  g_string_append_c (page, '\n');
}

static void
append_checkpoint (GString *page, const FabGoodput *goodput)
{
  g_autofree char *interval = fab_goodput_time (goodput->form.interval_s),
                  *blocking = fab_goodput_time (goodput->blocking_s),
                  *background = fab_goodput_time (goodput->background_s);

  if (!isfinite (goodput->form.interval_s))
    return;
  g_string_append_printf (page, "  %-16safter %s of computing; the job stands still for %s", "    checkpoint",
                          interval, blocking);
  if (goodput->background_s > 0)
    g_string_append_printf (page, " and writes on for %s", background);
  g_string_append_c (page, '\n');
}

static void
append_lost (GString *page, const FabTimeShares *shares)
{
  const struct {
    const char *name;
    double share;
  } parts[] = { { "detection and restart", shares->down }, { "work that is undone", shares->lost },
                { "checkpoints", shares->checkpoint },     { "planned stops", shares->planned },
                { "waiting for repair", shares->waiting }, { "slow parts", shares->slowed } };
  const double least = 5e-5;
  const char *before = "";

  g_string_append_printf (page, "  %-16s", "    lost");
  for (guint i = 0; i < G_N_ELEMENTS (parts); i++)
    if (parts[i].share >= least) {
      g_string_append_printf (page, "%s%.2f %% %s", before, 100 * parts[i].share, parts[i].name);
      before = ", ";
    }
  g_string_append_printf (page, "%s\n", *before == '\0' ? "nothing" : "");
}

void
fab_goodput_append (GString *page, const FabGoodput *goodput, const char *failures, FabGoodputBand band)
{
  if (!goodput->is_known)
    return;
  g_string_append_printf (page, "  %-16s%8.1f %%  of the time is useful (ETTR), with failures as in %s",
                          "goodput", 100 * goodput->form.ettr_fraction, failures);
  if (goodput->tokens_per_s > 0)
    g_string_append_printf (page, "; %.0f tokens/s", goodput->tokens_per_s);
  g_string_append_c (page, '\n');
  append_calendar (page, goodput, band);
  append_rates (page, goodput);
  append_checkpoint (page, goodput);
  append_lost (page, &goodput->form.shares);
}

void
fab_goodput_add_members (FabJson *json, const FabGoodput *goodput, const char *failures, FabGoodputBand band)
{
  const FabRecordTable *table = &fab_record_tables[FAB_TABLE_GOODPUT];
  FabGoodputRecord row = fab_goodput_record (goodput, failures);

  for (const FabColumn *column = table->columns; column < table->columns + table->n_columns; column++) {
    fab_column_add_json (json, column, &row);
    if (strcmp (column->name, "calendar_s") != 0 || band.high <= band.low)
      continue;
    fab_json_add_real (json, "calendar_low_s", row.calendar_s * band.low);
    fab_json_add_real (json, "calendar_high_s", row.calendar_s * band.high);
  }
}
