/* SPDX-License-Identifier: Apache-2.0 */
/* run_reasons_text.c - the lines of `fabricast run` that say why: each is there only when it has something to say. */
#include "cli/run/run.h"
#include "sim/base/units.h"

enum { MOST_CLASSES = 16, MOST_PARTS = 4 };

static double
percent (FabTimePs part_ps, FabTimePs whole_ps)
{
  return whole_ps > 0 ? 100.0 * (double) part_ps / (double) whole_ps : 0;
}

char *
fab_run_gb (FabBytes bytes)
{
  double gb = (double) bytes / 1e9;

  return g_strdup_printf (gb >= 100 ? "%.0f" : "%.3g", gb);
}

void
fab_run_append_shares (GString *page, const FabRunResult *result)
{
  const GArray *shares = result->reasons.shares;
  FabTimePs step_ps = fab_run_last_step (result)->times.duration_ps;

  for (guint i = 0; i < shares->len && shares->len > 1; i++) {
    const FabRunShare *share = &g_array_index (shares, FabRunShare, i);
    g_autofree char *time = fab_units_show (FAB_UNIT_TIME, (double) share->exposed_ps);

    g_string_append_printf (page, "    %-14s%10s  %5.1f %%   %s\n", share->dimension, time,
                            percent (share->exposed_ps, step_ps), share->ops->str);
  }
}

void
fab_run_append_iterations (GString *page, const FabRunResult *result)
{
  const FabRunReasons *reasons = &result->reasons;
  g_autofree char *median = fab_units_show (FAB_UNIT_TIME, (double) reasons->median_ps);
  g_autofree char *late = fab_units_show (FAB_UNIT_TIME, (double) reasons->late_ps);
  g_autofree char *most = fab_units_show (FAB_UNIT_TIME, (double) reasons->most_ps);

  if (reasons->least_ps != reasons->most_ps)
    g_string_append_printf (page, "  %-16sp50 %s, p95 %s, max %s\n", "iterations", median, late, most);
}

void
fab_run_append_training (GString *page, const FabRunResult *result)
{
  double seconds = result->reasons.train_days * 86400;
  g_autofree char *time = fab_units_show (FAB_UNIT_TIME, seconds * (double) FAB_PS_PER_S);
  g_autofree char *tokens = fab_units_show_many (fab_simulation_totals (result->simulation)->train_tokens);

  if (seconds > 0)
    g_string_append_printf (page, "  %-16s%s for %s tokens at this pace\n", "training", time, tokens);
}

/* "13.5 of 80 GB: " or what is wrong. */
static void
append_used (GString *page, const FabRunResult *result, FabBytes bytes)
{
  FabBytes all = fab_simulation_cluster (result->simulation)->device.memory_bytes;
  g_autofree char *used = fab_run_gb (bytes), *has = fab_run_gb (all);

  if (all == 0)
    g_string_append_printf (page, "%s GB", used);
  else if (bytes > all)
    g_string_append_printf (page, "does not fit: %s GB of %s GB per GPU", used, has);
  else
    g_string_append_printf (page, "%s of %s GB", used, has);
}

/* A part's name, which keys of JSON and formulas have, for a person. */
static const char *
part_words (const char *part)
{
  return g_str_equal (part, "gathered") ? "gathered parameters" : part;
}

void
fab_run_append_memory (GString *page, const FabRunResult *result)
{
  const FabJobTotals *totals = fab_simulation_totals (result->simulation);
  const FabDag *dag = fab_simulation_dag (result->simulation);
  guint rank_class = result->reasons.fullest_class, n_shown = 0;

  if (!result->reasons.has_memory)
    return;
  g_string_append_printf (page, "  %-16s", "memory");
  append_used (page, result, result->reasons.fullest_bytes);
  if (dag->n_classes > 1)
    g_string_append_printf (page, " (%s)", dag->classes[rank_class].name);
  for (guint i = 0; i < totals->memory->len; i++) {
    const FabMemoryPart *part = &g_array_index (totals->memory, FabMemoryPart, i);
    g_autofree char *gb = fab_run_gb (part->bytes);

    if (part->rank_class == rank_class && part->bytes > 0)
      g_string_append_printf (page, "%s%s %s", n_shown++ > 0 ? ", " : ": ", part_words (part->part), gb);
  }
  g_string_append_c (page, '\n');
}

void
fab_run_append_classes (GString *page, const FabRunResult *result)
{
  const FabDag *dag = fab_simulation_dag (result->simulation);
  const GArray *iterations = fab_simulation_probe (result->simulation)->iterations;

  if (dag->n_classes < 2)
    return;
  g_string_append_printf (page, "  %-16s\v%8s\v%12s\v%12s\v%12s\v%12s\v%12s\n", "ranks", "count", "compute",
                          "overlapped", "exposed", "idle", "waiting");
  for (guint c = 0; c < MIN (dag->n_classes, MOST_CLASSES); c++) {
    const FabIterationRecord *times = &g_array_index (iterations, FabIterationRecord, c);
    g_autofree char *compute = fab_units_show (FAB_UNIT_TIME, (double) times->compute_ps);
    g_autofree char *overlapped = fab_units_show (FAB_UNIT_TIME, (double) times->overlapped_ps);
    g_autofree char *exposed = fab_units_show (FAB_UNIT_TIME, (double) times->exposed_ps);
    g_autofree char *idle = fab_units_show (FAB_UNIT_TIME, (double) times->idle_ps);
    g_autofree char *waiting = fab_units_show (FAB_UNIT_TIME, (double) times->waiting_ps);

    g_string_append_printf (page, "    %-14s\v%8u\v%12s\v%12s\v%12s\v%12s\v%12s\n", dag->classes[c].name,
                            dag->classes[c].n_ranks, compute, overlapped, exposed, idle, waiting);
  }
  if (dag->n_classes > MOST_CLASSES)
    g_string_append_printf (page, "    and %u more %s: `fabricast query classes`\n",
                            dag->n_classes - MOST_CLASSES,
                            fab_plural (dag->n_classes - MOST_CLASSES, "class", "classes"));
  g_string_append_c (page, '\n');
}

void
fab_run_append_path (GString *page, const FabRunResult *result)
{
  const GArray *parts = result->reasons.path;
  FabTimePs step_ps = fab_run_last_step (result)->times.duration_ps, rest_ps = 0;
  guint n_shown = parts->len > MOST_PARTS ? MOST_PARTS - 1 : parts->len;

  for (guint i = 0; i < parts->len; i++) {
    const FabRunPathPart *part = &g_array_index (parts, FabRunPathPart, i);

    if (i < n_shown)
      g_string_append_printf (page, "  %-16s%5.1f %% %s\n", i == 0 ? "critical path" : "",
                              percent (part->time_ps, step_ps), part->name);
    else
      rest_ps += part->time_ps;
  }
  if (n_shown < parts->len)
    g_string_append_printf (page, "  %-16s%5.1f %% %u %s: `fabricast query critical-path`\n", "",
                            percent (rest_ps, step_ps), parts->len - n_shown,
                            fab_plural (parts->len - n_shown, "other", "others"));
  if (parts->len > 0)
    g_string_append_c (page, '\n');
}
