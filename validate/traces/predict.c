/* SPDX-License-Identifier: Apache-2.0 */
#include "validate/traces/predict.h"

#include <string.h>

#include "sim/base/error.h"
#include "sim/base/order.h"
#include "sim/base/stats.h"
#include "sim/study/machine.h"

const char *const fab_trace_place_names[] = { "all", "packed", "across", NULL };

static gint
compare_rows (gconstpointer a, gconstpointer b)
{
  const FabTracePrediction *left = a, *right = b;

  if (left->op != right->op)
    return left->op < right->op ? -1 : 1;
  if (left->n_ranks != right->n_ranks)
    return left->n_ranks < right->n_ranks ? -1 : 1;
  if (left->place != right->place)
    return left->place < right->place ? -1 : 1;
  return left->bytes < right->bytes ? -1 : left->bytes > right->bytes;
}

/* The row that the collective counts in. `machine` may be NULL. FALSE: it has no size. */
static gboolean
row_of (const FabTraceAccount *account, guint i, const FabScenario *machine, FabTracePrediction *row)
{
  const FabCollectiveRecord *record = &g_array_index (account->collectives, FabCollectiveRecord, i);

  *row = (FabTracePrediction){ .bytes = record->bytes, .n_ranks = record->n_ranks, .n_times = 1 };
  row->place = machine == NULL                               ? FAB_TRACE_PACKED
             : record->n_ranks == fab_machine_gpus (machine) ? FAB_TRACE_ALL
             : g_array_index (account->strides, guint, i) >= fab_machine_gpus_per_node (machine)
                 ? FAB_TRACE_ACROSS
                 : FAB_TRACE_PACKED;
  return record->bytes > 0 && fab_op_find (record->op, &row->op);
}

/* A row for each operation, group and size, sorted, with the number of times. */
static GArray *
list_rows (const FabTraceAccount *account, const FabScenario *machine, guint *n_left_out)
{
  GArray *rows = g_array_new (FALSE, FALSE, sizeof (FabTracePrediction));
  guint n = 0;

  for (guint i = 0; i < account->collectives->len; i++) {
    FabTracePrediction row;

    if (row_of (account, i, machine, &row))
      g_array_append_val (rows, row);
    else
      ++*n_left_out;
  }
  g_array_sort (rows, compare_rows);
  for (guint i = 0; i < rows->len; i++) {
    FabTracePrediction *row = &g_array_index (rows, FabTracePrediction, i);
    FabTracePrediction *last = n > 0 ? &g_array_index (rows, FabTracePrediction, n - 1) : NULL;

    if (last != NULL && compare_rows (last, row) == 0)
      last->n_times++;
    else
      g_array_index (rows, FabTracePrediction, n++) = *row;
  }
  g_array_set_size (rows, n);
  return rows;
}

static void
measure_row (const FabTraceAccount *account, const FabScenario *machine, FabTracePrediction *row)
{
  g_autoptr (GArray) times_us = g_array_new (FALSE, FALSE, sizeof (double));

  for (guint i = 0; i < account->collectives->len; i++) {
    const FabCollectiveRecord *record = &g_array_index (account->collectives, FabCollectiveRecord, i);
    double time_us = (double) (record->end_ps - record->start_ps) / 1e6;
    FabTracePrediction other;

    if (row_of (account, i, machine, &other) && compare_rows (row, &other) == 0)
      g_array_append_val (times_us, time_us);
  }
  g_array_sort (times_us, fab_order_doubles);
  row->shortest_us = g_array_index (times_us, double, 0);
  row->median_us = fab_median ((const double *) (gpointer) times_us->data, times_us->len);
}

/* The part of the machine that the group has. NULL: it does not fit. */
static FabEdits *
edits_of (const FabScenario *machine, const FabTracePrediction *row)
{
  g_autoptr (FabEdits) edits = fab_edits_new ();
  guint per_node = fab_machine_gpus_per_node (machine), n_gpus = fab_machine_gpus (machine);

  if (row->n_ranks > n_gpus || row->n_ranks < 2)
    return NULL;
  if (row->place == FAB_TRACE_ALL)
    return g_steal_pointer (&edits);
  if (row->place == FAB_TRACE_PACKED)
    return fab_machine_set_gpus (machine, row->n_ranks, edits, NULL) ? g_steal_pointer (&edits) : NULL;
  if (row->n_ranks > n_gpus / per_node || !fab_machine_set_domain (machine, 1, edits, NULL))
    return NULL;
  fab_edits_set (edits, "cluster.nodes", fab_value_count (row->n_ranks));
  return g_steal_pointer (&edits);
}

/* Predicts the rows of one operation and group, from `first` to before `end`. Rows whose group does not fit keep no
 * prediction. */
static gboolean
predict_rows (GArray *rows, guint first, guint end, FabPredictionRequest request, const FabCatalog *catalog,
              const FabRegistry *registry, GError **error)
{
  g_autofree FabBytes *sizes = g_new (FabBytes, end - first);
  const FabTracePrediction *head = &g_array_index (rows, FabTracePrediction, first);
  g_autoptr (FabEdits) edits = edits_of (request.base, head);
  g_autoptr (GArray) found = NULL;

  if (edits == NULL)
    return TRUE;
  for (guint i = first; i < end; i++)
    sizes[i - first] = g_array_index (rows, FabTracePrediction, i).bytes;
  request.op = head->op;
  request.sizes_bytes = sizes;
  request.n_sizes = end - first;
  request.edits = edits;
  found = fab_predict_collective (&request, catalog, registry, error);
  if (found == NULL)
    return FALSE;
  for (guint i = first; i < end; i++) {
    FabTracePrediction *row = &g_array_index (rows, FabTracePrediction, i);
    const FabPrediction *prediction = &g_array_index (found, FabPrediction, i - first);

    g_assert (prediction->n_ranks == row->n_ranks);
    row->predicted_us = prediction->time_us;
    row->low_us = prediction->low_us;
    row->high_us = prediction->high_us;
  }
  return TRUE;
}

static gboolean
same_group (const FabTracePrediction *left, const FabTracePrediction *right)
{
  return left->op == right->op && left->n_ranks == right->n_ranks && left->place == right->place;
}

gboolean
fab_trace_choose (const FabTraceChoice *choice, const FabScenario *machine, const FabCatalog *catalog,
                  const FabRegistry *registry, FabPrediction *chosen, GError **error)
{
  FabPredictionRequest request = { .base = machine, .sizes_bytes = &choice->bytes, .n_sizes = 1 };
  g_autoptr (GArray) found = NULL;

  if (choice->bytes == 0 || !fab_op_find (choice->op, &request.op))
    return FALSE;
  found = fab_predict_collective (&request, catalog, registry, error);
  if (found == NULL)
    return FALSE;
  *chosen = g_array_index (found, FabPrediction, 0);
  return TRUE;
}

GArray *
fab_trace_list (const FabTraceAccount *account, guint *n_left_out)
{
  GArray *rows;

  *n_left_out = 0;
  rows = list_rows (account, NULL, n_left_out);
  for (guint i = 0; i < rows->len; i++)
    measure_row (account, NULL, &g_array_index (rows, FabTracePrediction, i));
  return rows;
}

GArray *
fab_trace_predict (const FabTraceAccount *account, const FabScenario *machine, const FabCatalog *catalog,
                   const FabRegistry *registry, guint *n_left_out, GError **error)
{
  g_autoptr (GArray) rows = NULL;
  FabPredictionRequest request = { .base = machine, .has_band = TRUE };
  guint n = 0;

  *n_left_out = 0;
  rows = list_rows (account, machine, n_left_out);
  for (guint i = 0; i < rows->len; i++)
    measure_row (account, machine, &g_array_index (rows, FabTracePrediction, i));
  for (guint first = 0, end; first < rows->len; first = end) {
    for (end = first + 1; end < rows->len; end++)
      if (!same_group (&g_array_index (rows, FabTracePrediction, end),
                       &g_array_index (rows, FabTracePrediction, first)))
        break;
    if (!predict_rows (rows, first, end, request, catalog, registry, error))
      return NULL;
  }
  for (guint i = 0; i < rows->len; i++) {
    const FabTracePrediction *row = &g_array_index (rows, FabTracePrediction, i);

    if (row->predicted_us > 0)
      g_array_index (rows, FabTracePrediction, n++) = *row;
    else
      *n_left_out += row->n_times;
  }
  g_array_set_size (rows, n);
  if (n == 0) {
    fab_throw (
        error, FAB_ERROR_INPUT,
        "no collective of the trace has a size and a group that fits into the machine of the scenario");
    return NULL;
  }
  return g_steal_pointer (&rows);
}

double
fab_trace_prediction_measured_us (const FabTracePrediction *self, gboolean is_whole)
{
  return is_whole ? self->median_us : self->shortest_us;
}
