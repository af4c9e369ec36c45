/* SPDX-License-Identifier: Apache-2.0 */
#include "validate/traces/predict.h"

#include <string.h>

#include "sim/base/error.h"

static gint
compare_doubles (gconstpointer a, gconstpointer b)
{
  double left = *(const double *) a, right = *(const double *) b;

  return left < right ? -1 : left > right;
}

/* The two in the middle of an even number count half each. */
double
fab_trace_median (const GArray *sorted)
{
  guint n = sorted->len;

  return (g_array_index (sorted, double, (n - 1) / 2) + g_array_index (sorted, double, n / 2)) / 2;
}

static gint
compare_rows (gconstpointer a, gconstpointer b)
{
  const FabTracePrediction *left = a, *right = b;

  if (left->op != right->op)
    return left->op < right->op ? -1 : 1;
  if (left->n_ranks != right->n_ranks)
    return left->n_ranks < right->n_ranks ? -1 : 1;
  return left->bytes < right->bytes ? -1 : left->bytes > right->bytes;
}

static gboolean
find_op (const char *name, FabOp *op)
{
  for (guint i = 0; i < FAB_N_OPS; i++)
    if (strcmp (fab_op_names[i], name) == 0) {
      *op = (FabOp) i;
      return TRUE;
    }
  return FALSE;
}

/* A row for each operation and size, sorted, with the number of times. */
static GArray *
list_rows (const FabTraceAccount *account, guint n_world, guint *n_left_out)
{
  GArray *rows = g_array_new (FALSE, FALSE, sizeof (FabTracePrediction));
  guint n = 0;

  for (guint i = 0; i < account->collectives->len; i++) {
    const FabCollectiveRecord *record = &g_array_index (account->collectives, FabCollectiveRecord, i);
    FabTracePrediction row = { .bytes = record->bytes,
                               .n_ranks = record->n_ranks > 0 ? record->n_ranks : n_world,
                               .n_times = 1 };

    if (record->bytes > 0 && find_op (record->op, &row.op))
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
measure_row (const FabTraceAccount *account, guint n_world, FabTracePrediction *row)
{
  g_autoptr (GArray) times_us = g_array_new (FALSE, FALSE, sizeof (double));

  for (guint i = 0; i < account->collectives->len; i++) {
    const FabCollectiveRecord *record = &g_array_index (account->collectives, FabCollectiveRecord, i);
    double time_us = (double) (record->end_ps - record->start_ps) / 1e6;

    if (record->bytes == row->bytes && strcmp (record->op, fab_op_names[row->op]) == 0
        && (record->n_ranks > 0 ? record->n_ranks : n_world) == row->n_ranks)
      g_array_append_val (times_us, time_us);
  }
  g_array_sort (times_us, compare_doubles);
  row->shortest_us = g_array_index (times_us, double, 0);
  row->median_us = fab_trace_median (times_us);
}

/* Predicts the rows of one operation, from `first` to before `end`. Rows of other groups than the machine's ranks keep
 * no prediction. */
static gboolean
predict_rows (GArray *rows, guint first, guint end, FabPredictionRequest request, const FabCatalog *catalog,
              const FabRegistry *registry, GError **error)
{
  g_autofree FabBytes *sizes = g_new (FabBytes, end - first);
  g_autoptr (GArray) found = NULL;

  for (guint i = first; i < end; i++)
    sizes[i - first] = g_array_index (rows, FabTracePrediction, i).bytes;
  request.op = g_array_index (rows, FabTracePrediction, first).op;
  request.sizes_bytes = sizes;
  request.n_sizes = end - first;
  found = fab_predict_collective (&request, catalog, registry, error);
  if (found == NULL)
    return FALSE;
  for (guint i = first; i < end; i++) {
    FabTracePrediction *row = &g_array_index (rows, FabTracePrediction, i);
    const FabPrediction *prediction = &g_array_index (found, FabPrediction, i - first);

    if (prediction->n_ranks != row->n_ranks)
      continue;
    row->predicted_us = prediction->time_us;
    row->low_us = prediction->low_us;
    row->high_us = prediction->high_us;
  }
  return TRUE;
}

GArray *
fab_trace_predict (const FabTraceAccount *account, guint n_world, const FabScenario *machine,
                   const FabCatalog *catalog, const FabRegistry *registry, guint *n_left_out, GError **error)
{
  g_autoptr (GArray) rows = NULL;
  FabPredictionRequest request = { .base = machine, .has_band = TRUE };
  guint n = 0;

  *n_left_out = 0;
  rows = list_rows (account, n_world, n_left_out);
  for (guint i = 0; i < rows->len; i++)
    measure_row (account, n_world, &g_array_index (rows, FabTracePrediction, i));
  for (guint first = 0, end; first < rows->len; first = end) {
    for (end = first + 1; end < rows->len; end++)
      if (g_array_index (rows, FabTracePrediction, end).op
          != g_array_index (rows, FabTracePrediction, first).op)
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
    fab_throw (error, FAB_ERROR_INPUT,
               "no collective of the trace has a size and as many ranks as the machine of the scenario");
    return NULL;
  }
  return g_steal_pointer (&rows);
}

double
fab_trace_prediction_measured_us (const FabTracePrediction *self, gboolean is_whole)
{
  return is_whole ? self->median_us : self->shortest_us;
}
