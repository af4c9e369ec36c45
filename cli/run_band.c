/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/run_band.h"

static void
copy_durations (const FabRunResult *result, double *seconds)
{
  for (guint i = 0; i < result->steps->len; i++)
    seconds[i] = fab_ps_to_seconds (g_array_index (result->steps, FabStepRecord, i).times.duration_ps);
}

static gboolean
play_changed (gpointer owner, const FabWhatIf *what_if, double *seconds, GError **error)
{
  FabRunResult changed = { 0 };
  gboolean is_played = fab_run_play (owner, what_if, NULL, &changed, error);

  if (is_played)
    copy_durations (&changed, seconds);
  else
    g_prefix_error (error, "band, with %s changed: ", what_if->link_class);
  fab_run_result_clear (&changed);
  return is_played;
}

gboolean
fab_run_find_band (const FabScenario *scenario, FabRunResult *result, GError **error)
{
  g_autofree double *seconds = g_new (double, result->steps->len + 1);

  copy_durations (result, seconds);
  return fab_band_find (scenario, fab_simulation_cluster (result->simulation)->graph, seconds,
                        result->steps->len, play_changed, (gpointer) scenario, &result->band, error);
}

FabRunSizes
fab_run_sizes (const FabRunResult *result)
{
  const FabDag *dag = fab_simulation_dag (result->simulation);
  g_autoptr (GArray) sizes = g_array_new (FALSE, FALSE, sizeof (FabMessageSize));
  FabRunSizes self = { 0 };

  for (guint i = 0; i < dag->n_collectives; i++)
    if (dag->collectives[i].plan.messages != NULL)
      fab_schedule_add_sizes (dag->collectives[i].plan.messages, dag->collectives[i].plan.bytes, sizes);
  self.n = sizes->len;
  for (guint i = 0; i < sizes->len; i++)
    self.n_outside += g_array_index (sizes, FabMessageSize, i).is_outside ? 1 : 0;
  return self;
}

void
fab_run_append_band (GString *page, const FabRunResult *result)
{
  guint last = result->steps->len - 1;

  if (result->band == NULL)
    return;
  g_autofree char *low = fab_units_show (FAB_UNIT_TIME, result->band->low[last] * FAB_PS_PER_S);
  g_autofree char *high = fab_units_show (FAB_UNIT_TIME, result->band->high[last] * FAB_PS_PER_S);
  g_autofree char *most = fab_band_most (result->band, last);
  g_string_append_printf (page, "  %-16s%10s to %s   95 %%, most by %s\n", "  band", low, high, most);
}

void
fab_run_append_sizes (GString *page, const FabRunResult *result)
{
  FabRunSizes sizes = fab_run_sizes (result);

  if (sizes.n_outside > 0)
    g_string_append_printf (page,
                            "  %-16s%u of %u message sizes lie outside what was measured of the links\n\n",
                            "extrapolated", sizes.n_outside, sizes.n);
}
