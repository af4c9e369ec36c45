/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/run_reasons.h"

#include <math.h>
#include <string.h>

static const FabProbe *
probe_of (const FabRunResult *result)
{
  return fab_simulation_probe (result->simulation);
}

/* --- exposed time by dimension --- */

static void
share_clear (gpointer share)
{
  g_string_free (((FabRunShare *) share)->ops, TRUE);
}

static void
note_op (FabRunShare *share, const char *op)
{
  if (strstr (share->ops->str, op) == NULL)
    g_string_append_printf (share->ops, "%s%s", share->ops->len > 0 ? ", " : "", op);
}

GArray *
fab_run_shares (const FabRunResult *result)
{
  const FabDag *dag = fab_simulation_dag (result->simulation);
  const GArray *exposures = probe_of (result)->exposures;
  GArray *shares = g_array_new (FALSE, FALSE, sizeof (FabRunShare));
  __int128 n_ranks = 0;

  g_array_set_clear_func (shares, share_clear);
  for (guint c = 0; c < dag->n_classes; c++)
    n_ranks += dag->classes[c].n_ranks;
  for (guint d = 0; d < FAB_N_DIMENSIONS; d++) {
    FabRunShare share = { fab_dimension_names[d], 0, g_string_new (NULL) };
    __int128 sum = 0;

    for (guint i = 0; i < exposures->len; i++) {
      const FabExposureRecord *record = &g_array_index (exposures, FabExposureRecord, i);

      if (record->dimension != share.dimension)
        continue;
      sum += (__int128) record->exposed_ps * dag->classes[record->rank_class].n_ranks;
      note_op (&share, record->op);
    }
    share.exposed_ps = (FabTimePs) (sum / n_ranks);
    if (share.ops->len > 0)
      g_array_append_val (shares, share);
    else
      share_clear (&share);
  }
  return shares;
}

/* --- critical path --- */

static FabRunPathPart
part_of (const FabRunResult *result, const FabPathRecord *record)
{
  const GArray *collectives = probe_of (result)->collectives;
  FabRunPathPart part = { record->kind, NULL, record->binding_link, record->end_ps - record->start_ps };

  if (record->collective >= 0)
    part.dimension = g_array_index (collectives, FabCollectiveRecord, (guint) record->collective).dimension;
  return part;
}

static void
add_part (GArray *parts, FabRunPathPart added)
{
  for (guint i = 0; i < parts->len; i++) {
    FabRunPathPart *part = &g_array_index (parts, FabRunPathPart, i);

    if (part->kind == added.kind && part->dimension == added.dimension && part->link == added.link) {
      part->time_ps += added.time_ps;
      return;
    }
  }
  g_array_append_val (parts, added);
}

static gint
longest_first (gconstpointer a, gconstpointer b)
{
  const FabRunPathPart *x = a, *y = b;

  if (x->time_ps != y->time_ps)
    return x->time_ps > y->time_ps ? -1 : 1;
  return x->link < y->link ? -1 : x->link > y->link;
}

GArray *
fab_run_path_parts (const FabRunResult *result)
{
  const GArray *path = probe_of (result)->path;
  GArray *parts = g_array_new (FALSE, FALSE, sizeof (FabRunPathPart));

  for (guint i = 0; i < path->len; i++)
    add_part (parts, part_of (result, &g_array_index (path, FabPathRecord, i)));
  g_array_sort (parts, longest_first);
  return parts;
}

static const char *
kind_name (FabSpanKind kind)
{
  switch (kind) {
  case FAB_SPAN_COMPUTE: return "compute";
  case FAB_SPAN_COMM: return "communication";
  case FAB_SPAN_LOAD: return "host work";
  case FAB_SPAN_WAIT:
  default: g_assert_not_reached ();
  }
}

char *
fab_run_path_part_name (const FabRunResult *result, const FabRunPathPart *part)
{
  const FabGraph *graph = fab_simulation_cluster (result->simulation)->graph;
  g_autofree char *link = fab_run_link_name (result, part->link);
  const char *what = part->dimension && part->dimension != fab_dimension_names[FAB_DIMENSION_OTHER]
                       ? part->dimension
                       : kind_name (part->kind);

  if (link == NULL)
    return g_strdup (what);
  return g_strdup_printf ("%s over %s (%s)", what, link, fab_graph_link_class (graph, part->link)->name);
}

/* --- iterations --- */

static gint
compare_times (gconstpointer a, gconstpointer b)
{
  const FabTimePs *x = a, *y = b;

  return *x < *y ? -1 : *x > *y;
}

FabTimePs
fab_run_quantile_ps (const FabRunResult *result, double fraction)
{
  g_autoptr (GArray) times = g_array_new (FALSE, FALSE, sizeof (FabTimePs));
  guint place = (guint) ceil (fraction * result->steps->len);

  for (guint i = 0; i < result->steps->len; i++)
    g_array_append_val (times, g_array_index (result->steps, FabStepRecord, i).times.duration_ps);
  g_array_sort (times, compare_times);
  return g_array_index (times, FabTimePs, MAX (place, 1) - 1);
}

double
fab_run_train_days (const FabRunResult *result)
{
  const FabJobTotals *totals = fab_simulation_totals (result->simulation);
  double seconds = 0;

  if (totals->train_tokens <= 0 || totals->tokens <= 0)
    return 0;
  for (guint i = 0; i < result->steps->len; i++)
    seconds += fab_ps_to_seconds (g_array_index (result->steps, FabStepRecord, i).times.duration_ps);
  return seconds / result->steps->len * totals->train_tokens / totals->tokens / (24 * 3600);
}

/* --- memory --- */

gboolean
fab_run_fullest (const FabRunResult *result, guint *rank_class, FabBytes *bytes)
{
  const FabJobTotals *totals = fab_simulation_totals (result->simulation);
  guint n_classes = fab_simulation_dag (result->simulation)->n_classes;

  *rank_class = 0;
  *bytes = 0;
  for (guint c = 0; c < n_classes && totals->memory; c++) {
    FabBytes used = fab_job_totals_memory (totals, c);

    if (used > *bytes) {
      *rank_class = c;
      *bytes = used;
    }
  }
  return *bytes > 0;
}

FabBytes
fab_run_missing_bytes (const FabRunResult *result)
{
  FabBytes has = fab_simulation_cluster (result->simulation)->device.memory_bytes, needs;
  guint rank_class;

  return has > 0 && fab_run_fullest (result, &rank_class, &needs) && needs > has ? needs - has : 0;
}

char *
fab_run_gb (FabBytes bytes)
{
  double gb = (double) bytes / 1e9;

  return g_strdup_printf (gb >= 100 ? "%.0f" : "%.3g", gb);
}
