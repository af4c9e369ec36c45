/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/run/run.h"
#include "sim/base/json.h"
#include "sim/result/record_data.h"

static void
add_iterations (FabJson *json, const FabRunResult *result)
{
  fab_json_begin_object (json, "step");
  fab_json_add_real (json, "p50_s", fab_ps_to_seconds (result->reasons.median_ps));
  fab_json_add_real (json, "p95_s", fab_ps_to_seconds (result->reasons.late_ps));
  fab_json_add_real (json, "max_s", fab_ps_to_seconds (result->reasons.most_ps));
  fab_json_end (json);
  if (result->reasons.train_days > 0)
    fab_json_add_real (json, "train_days", result->reasons.train_days);
}

static void
add_shares (FabJson *json, const FabRunResult *result)
{
  const GArray *shares = result->reasons.shares;

  fab_json_begin_array (json, "exposed_by_dimension");
  for (guint i = 0; i < shares->len; i++) {
    const FabRunShare *share = &g_array_index (shares, FabRunShare, i);

    fab_json_begin_object (json, NULL);
    fab_json_add_text (json, "dimension", share->dimension);
    fab_json_add_text (json, "operations", share->ops->str);
    fab_json_add_real (json, "exposed_s", fab_ps_to_seconds (share->exposed_ps));
    fab_json_end (json);
  }
  fab_json_end (json);
}

static void
add_classes (FabJson *json, const FabRunResult *result)
{
  const FabDag *dag = fab_simulation_dag (result->simulation);
  const GArray *iterations = fab_simulation_probe (result->simulation)->iterations;

  fab_json_begin_array (json, "rank_classes");
  for (guint c = 0; c < dag->n_classes; c++) {
    const FabIterationRecord *times = &g_array_index (iterations, FabIterationRecord, c);

    fab_json_begin_object (json, NULL);
    fab_json_add_text (json, "name", dag->classes[c].name);
    fab_json_add_whole (json, "first_rank", dag->classes[c].first_rank);
    fab_json_add_whole (json, "ranks", dag->classes[c].n_ranks);
    fab_record_add_json (json, FAB_TABLE_ITERATION, times);
    fab_json_end (json);
  }
  fab_json_end (json);
}

static void
add_path (FabJson *json, const FabRunResult *result)
{
  static const char *const kinds[] = { [FAB_SPAN_COMPUTE] = "compute",
                                       [FAB_SPAN_COMM] = "comm",
                                       [FAB_SPAN_LOAD] = "load",
                                       [FAB_SPAN_WAIT] = "wait",
                                       [FAB_SPAN_ARRIVAL] = "arrival" };
  const GArray *parts = result->reasons.path;

  fab_json_begin_array (json, "critical_path");
  for (guint i = 0; i < parts->len; i++) {
    const FabRunPathPart *part = &g_array_index (parts, FabRunPathPart, i);
    g_autofree char *link = fab_run_link_name (result, part->link);

    fab_json_begin_object (json, NULL);
    fab_json_add_text (json, "kind", kinds[part->kind]);
    fab_json_add_text (json, "dimension", part->dimension);
    fab_json_add_text (json, "link", link);
    fab_json_add_text (json, "link_spec", link ? fab_run_link_entry (result, part->link) : NULL);
    fab_json_add_real (json, "time_s", fab_ps_to_seconds (part->time_ps));
    fab_json_end (json);
  }
  fab_json_end (json);
}

static void
add_parts (FabJson *json, const FabRunResult *result, guint rank_class)
{
  const GArray *memory = fab_simulation_totals (result->simulation)->memory;

  fab_json_begin_object (json, "parts");
  for (guint i = 0; i < memory->len; i++) {
    const FabMemoryPart *part = &g_array_index (memory, FabMemoryPart, i);

    if (part->rank_class == rank_class)
      fab_json_add_whole (json, part->part, (gint64) part->bytes);
  }
  fab_json_end (json);
}

static void
add_hint (FabJson *json, const char *name, const FabMemoryFit *fit)
{
  const char *const *texts = fab_edits_texts (fit->edits);

  fab_json_begin_object (json, name);
  fab_json_begin_array (json, "assignments");
  for (guint i = 0; texts[i] != NULL; i++)
    fab_json_add_text (json, NULL, texts[i]);
  fab_json_end (json);
  fab_json_add_whole (json, "bytes", (gint64) fit->bytes);
  if (fit->note != NULL)
    fab_json_add_text (json, "note", fit->note);
  fab_json_end (json);
}

/* What was tried and fits; else what needs the least. */
static void
add_hints (FabJson *json, const FabMemoryAdvice *advice)
{
  fab_json_begin_array (json, "hints");
  for (guint i = 0; advice != NULL && i < advice->fits->len; i++)
    add_hint (json, NULL, g_ptr_array_index (advice->fits, i));
  fab_json_end (json);
  if (advice != NULL && advice->closest != NULL)
    add_hint (json, "closest", advice->closest);
}

static void
add_memory (FabJson *json, const FabRunResult *result)
{
  FabBytes has = fab_simulation_cluster (result->simulation)->device.memory_bytes;
  gboolean does_fit = result->reasons.missing_bytes == 0;
  guint rank_class = result->reasons.fullest_class;

  if (!result->reasons.has_memory)
    return;
  fab_json_begin_object (json, "memory");
  fab_json_add_text (json, "rank_class", fab_simulation_dag (result->simulation)->classes[rank_class].name);
  fab_json_add_whole (json, "bytes", (gint64) result->reasons.fullest_bytes);
  fab_json_add_whole (json, "capacity_bytes", (gint64) has);
  fab_json_add_flag (json, "fits", does_fit);
  add_parts (json, result, rank_class);
  add_hints (json, result->advice);
  fab_json_end (json);
}

void
fab_run_add_reasons (FabJson *json, const FabRunResult *result)
{
  add_iterations (json, result);
  add_shares (json, result);
  add_classes (json, result);
  add_path (json, result);
  add_memory (json, result);
}
