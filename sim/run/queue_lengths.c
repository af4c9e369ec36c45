/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/run/queue_lengths.h"

#include "sim/result/record.h"

/* "leaf -> nic": the names of what a link joins. The text lives as long as the program. */
static const char *
ports_of (const FabGraph *graph, FabLinkId id)
{
  const FabLink *link = fab_graph_link (graph, id);
  g_autofree char *ports = g_strdup_printf ("%s -> %s", fab_graph_vertex_part (graph, link->src),
                                            fab_graph_vertex_part (graph, link->dst));

  return g_intern_string (ports);
}

typedef struct {
  FabQueueLengthRecord record;
  FabQueueLengths lengths;
} QueueKind;

static QueueKind *
queue_kind (GPtrArray *kinds, const char *ports)
{
  for (guint i = 0; i < kinds->len; i++) {
    QueueKind *kind = g_ptr_array_index (kinds, i);

    if (kind->record.ports == ports)
      return kind;
  }
  QueueKind *added = g_new0 (QueueKind, 1);
  added->record.ports = ports;
  g_ptr_array_add (kinds, added);
  return added;
}

static void
add_queue (QueueKind *kind, const FabLinkQueueRecord *queue)
{
  FabQueueLengthRecord *record = &kind->record;

  record->mean_bytes += (queue->mean_bytes - record->mean_bytes) / ++record->n_links;
  record->most_bytes = MAX (record->most_bytes, queue->most_bytes);
  record->n_stalls += queue->n_stalls;
  record->n_marks += queue->n_marks;
  record->n_pauses += queue->n_pauses;
  record->n_drops += queue->n_drops;
}

/* Lengths are noted in steps of an eighth of a doubling, rounded up, so that the last one may lie above the longest
 * queue. */
static FabBytes
percentile (const QueueKind *kind, double fraction)
{
  return MIN (fab_queue_lengths_percentile (&kind->lengths, fraction), kind->record.most_bytes);
}

static void
add_queue_length (GArray *records, QueueKind *kind)
{
  FabQueueLengthRecord *record = &kind->record;

  record->p50_bytes = percentile (kind, 0.5);
  record->p90_bytes = percentile (kind, 0.9);
  record->p99_bytes = percentile (kind, 0.99);
  record->p99_9_bytes = percentile (kind, 0.999);
  g_array_append_val (records, *record);
}

GArray *
fab_queue_length_records (const FabGraph *graph, const FabEpisodes *episodes, const GArray *queues)
{
  GArray *records = g_array_new (FALSE, FALSE, sizeof (FabQueueLengthRecord));
  g_autoptr (GPtrArray) kinds = g_ptr_array_new_with_free_func (g_free);
  FabQueueLengths none = { 0 };

  if (queues->len == 0 || !fab_episodes_queue_lengths (episodes, 0, &none))
    return records;
  for (guint i = 0; i < queues->len; i++) {
    const FabLinkQueueRecord *queue = &g_array_index (queues, FabLinkQueueRecord, i);
    QueueKind *kind = queue_kind (kinds, ports_of (graph, queue->link));

    add_queue (kind, queue);
    fab_episodes_queue_lengths (episodes, queue->link, &kind->lengths);
  }
  for (guint i = 0; i < kinds->len; i++)
    add_queue_length (records, g_ptr_array_index (kinds, i));
  return records;
}
