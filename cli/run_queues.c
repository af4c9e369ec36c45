/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/run_queues.h"

#include "sim/base/json.h"

enum { MOST_QUEUES = 3 };

typedef struct {
  GArray *longest; /* FabLinkQueueRecord of links that something waited for, the longest queue first */
  FabLinkQueueRecord total; /* of all links: the counts */
} Queues;

static gint
compare_queues (gconstpointer a, gconstpointer b)
{
  const FabLinkQueueRecord *x = a, *y = b;

  if (x->most_bytes != y->most_bytes)
    return x->most_bytes < y->most_bytes ? 1 : -1;
  if (x->mean_bytes != y->mean_bytes)
    return x->mean_bytes < y->mean_bytes ? 1 : -1;
  return x->link < y->link ? -1 : 1;
}

/* Finds the queues. FALSE: nothing waited anywhere. The caller owns `longest` either way. */
static gboolean
find_queues (const FabRunResult *result, Queues *queues)
{
  g_autoptr (GArray) records = fab_simulation_link_queues (result->simulation);
  FabLinkQueueRecord *total = &queues->total;

  *queues = (Queues){ .longest = g_array_new (FALSE, FALSE, sizeof (FabLinkQueueRecord)) };
  for (guint i = 0; i < records->len; i++) {
    const FabLinkQueueRecord *record = &g_array_index (records, FabLinkQueueRecord, i);

    total->n_stalls += record->n_stalls;
    total->n_marks += record->n_marks;
    total->n_pauses += record->n_pauses;
    total->n_drops += record->n_drops;
    if (record->most_bytes > 0 || record->n_drops > 0)
      g_array_append_vals (queues->longest, record, 1);
  }
  g_array_sort (queues->longest, compare_queues);
  return queues->longest->len > 0;
}

static const char *
spec_of (const FabRunResult *result, FabLinkId link)
{
  return fab_graph_link_class (fab_simulation_cluster (result->simulation)->graph, link)->name;
}

/* Appends "; 1 pause, 12 packets marked" with the counts that are not 0. */
static void
append_counts (GString *page, const FabLinkQueueRecord *counts)
{
  const struct {
    guint64 n;
    const char *one, *many;
  } parts[] = { { counts->n_pauses, "pause", "pauses" },
                { counts->n_marks, "packet marked", "packets marked" },
                { counts->n_drops, "packet lost", "packets lost" } };
  const char *before = "; ";

  for (guint i = 0; i < G_N_ELEMENTS (parts); i++) {
    if (parts[i].n == 0)
      continue;
    g_string_append_printf (page, "%s%" G_GUINT64_FORMAT " %s", before, parts[i].n,
                            parts[i].n == 1 ? parts[i].one : parts[i].many);
    before = ", ";
  }
}

static void
append_queue (GString *page, const FabRunResult *result, const FabLinkQueueRecord *queue)
{
  g_autofree char *name = fab_run_link_name (result, queue->link);
  g_autofree char *most = fab_units_show (FAB_UNIT_BYTES, (double) queue->most_bytes);
  g_autofree char *mean = fab_units_show (FAB_UNIT_BYTES, queue->mean_bytes);

  g_string_append_printf (page, "%s (%s): at most %s, mean %s", name, spec_of (result, queue->link), most,
                          mean);
  append_counts (page, queue);
  g_string_append_c (page, '\n');
}

void
fab_run_append_queues (GString *page, const FabRunResult *result)
{
  Queues queues;

  if (find_queues (result, &queues)) {
    for (guint i = 0; i < MIN (queues.longest->len, MOST_QUEUES); i++) {
      g_string_append_printf (page, "  %-16s", i == 0 ? "queues" : "");
      append_queue (page, result, &g_array_index (queues.longest, FabLinkQueueRecord, i));
    }
    g_string_append_printf (page, "  %-16s%u links in all", "", queues.longest->len);
    append_counts (page, &queues.total);
    g_string_append (page, ": `fabricast query queues`\n\n");
  }
  g_array_unref (queues.longest);
}

static void
add_counts (FabJson *json, const FabLinkQueueRecord *counts)
{
  fab_json_add_whole (json, "stalls", (gint64) counts->n_stalls);
  fab_json_add_whole (json, "marks", (gint64) counts->n_marks);
  fab_json_add_whole (json, "pauses", (gint64) counts->n_pauses);
  fab_json_add_whole (json, "drops", (gint64) counts->n_drops);
}

static void
add_queue (FabJson *json, const FabRunResult *result, const FabLinkQueueRecord *queue)
{
  g_autofree char *name = fab_run_link_name (result, queue->link);

  fab_json_begin_object (json, NULL);
  fab_json_add_text (json, "link", name);
  fab_json_add_text (json, "link_spec", spec_of (result, queue->link));
  fab_json_add_whole (json, "carried_bytes", (gint64) queue->carried_bytes);
  fab_json_add_whole (json, "most_queue_bytes", (gint64) queue->most_bytes);
  fab_json_add_real (json, "mean_queue_bytes", queue->mean_bytes);
  add_counts (json, queue);
  fab_json_end (json);
}

void
fab_run_add_queues (FabJson *json, const FabRunResult *result)
{
  Queues queues;

  if (find_queues (result, &queues)) {
    fab_json_begin_object (json, "queues");
    fab_json_add_whole (json, "links", queues.longest->len);
    add_counts (json, &queues.total);
    fab_json_begin_array (json, "longest");
    for (guint i = 0; i < MIN (queues.longest->len, MOST_QUEUES); i++)
      add_queue (json, result, &g_array_index (queues.longest, FabLinkQueueRecord, i));
    fab_json_end (json);
    fab_json_end (json);
  }
  g_array_unref (queues.longest);
}
