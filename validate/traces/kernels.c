/* SPDX-License-Identifier: Apache-2.0 */
/* kernels.c - classes and shapes of the kernels of a profile. O(kernels log kernels). */
#include "validate/traces/kernels.h"

#include <string.h>

#include "sim/base/error.h"
#include "sim/base/order.h"
#include "sim/base/stats.h"

static const FabTimePs longest_launch_ps = 20 * G_GINT64_CONSTANT (1000000);

const char *const fab_trace_class_names[] = { "product",     "attention", "norm",       "loss", "optimizer",
                                              "elementwise", "copies",    "collective", NULL };

/* Parts of the names of kernels in lower case; the first that fits. cuDNN's and FlashAttention's names hold those of
 * products, so that attention comes first. */
static const struct {
  const char *part;
  FabTraceClass its_class;
} parts[] = {
  { "fmha", FAB_TRACE_ATTENTION },
  { "flash", FAB_TRACE_ATTENTION },
  { "sdpa", FAB_TRACE_ATTENTION },
  { "attention", FAB_TRACE_ATTENTION },
  { "dot_do_o", FAB_TRACE_ATTENTION },
  { "convert_dq", FAB_TRACE_ATTENTION },
  { "multi_tensor", FAB_TRACE_OPTIMIZER },
  { "adam", FAB_TRACE_OPTIMIZER },
  { "gemm", FAB_TRACE_PRODUCT },
  { "nvjet", FAB_TRACE_PRODUCT },
  { "cutlass", FAB_TRACE_PRODUCT },
  { "xmma", FAB_TRACE_PRODUCT },
  { "wgmma", FAB_TRACE_PRODUCT },
  { "softmax", FAB_TRACE_LOSS },
  { "nll_loss", FAB_TRACE_LOSS },
  { "cross_entropy", FAB_TRACE_LOSS },
  { "norm", FAB_TRACE_NORM },
  { "gammabeta", FAB_TRACE_NORM },
};

FabTraceClass
fab_trace_class_of (const char *kernel)
{
  g_autofree char *lower = g_ascii_strdown (kernel, -1);

  for (guint i = 0; i < G_N_ELEMENTS (parts); i++)
    if (strstr (lower, parts[i].part) != NULL)
      return parts[i].its_class;
  return FAB_TRACE_ELEMENTWISE;
}

static FabTraceClass
class_of (const FabTraceOp *op)
{
  return op->kind == FAB_TRACE_COMM ? FAB_TRACE_COLLECTIVE
       : op->kind == FAB_TRACE_COPY ? FAB_TRACE_COPIES
                                    : fab_trace_class_of (op->name);
}

/* --- gaps --- */

static FabTimePs
median_ps (GArray *times_ps)
{
  g_array_sort (times_ps, fab_order_int64s);
  return times_ps->len > 0 ? fab_median_time ((const FabTimePs *) (gpointer) times_ps->data, times_ps->len)
                           : 0;
}

/* Kernels of no step are left out, as in all that is said of steps. */
static gboolean
is_of_a_step (const FabTracedRank *rank, const FabTraceOp *op)
{
  return rank->steps->len == 0 || op->step >= 0;
}

static void
add_gaps (FabTraceKernels *self, const FabTracedRank *rank)
{
  g_autoptr (GArray) short_ps = g_array_new (FALSE, FALSE, sizeof (FabTimePs));
  FabTimePs first_ps = 0, end_ps = 0;
  gboolean is_first = TRUE;

  for (guint i = 0; i < rank->ops->len; i++) {
    const FabTraceOp *op = &g_array_index (rank->ops, FabTraceOp, i);
    FabTimePs gap_ps = op->start_ps - end_ps;

    if (!is_of_a_step (rank, op))
      continue;
    if (is_first)
      first_ps = end_ps = op->start_ps;
    else if (gap_ps > 0) {
      self->gaps_s += fab_ps_to_seconds (gap_ps);
      if (gap_ps > longest_launch_ps)
        self->long_gaps_s += fab_ps_to_seconds (gap_ps);
      else
        g_array_append_val (short_ps, gap_ps);
    }
    is_first = FALSE;
    end_ps = MAX (end_ps, op->end_ps);
  }
  self->span_s = fab_ps_to_seconds (end_ps - first_ps);
  self->launch_ps = median_ps (short_ps);
  self->issue_ps = rank->issue_ps;
}

/* --- shapes --- */

/* Times of the kernels of one shape. */
typedef struct {
  FabSeries series;
  FabBytes size_bytes;
  GArray *times_ps;
} Shape;

static void
shape_free (gpointer data)
{
  Shape *self = data;

  fab_series_clear (&self->series);
  g_array_unref (self->times_ps);
  g_free (self);
}

static const char *
precision_of (const FabTraceWork *work)
{
  return strstr (work->dtype, "BFloat16")                       ? "bf16"
       : strstr (work->dtype, "Half")                           ? "fp16"
       : strstr (work->dtype, "Float8")                         ? "fp8"
       : work->dtype[0] == 'f' || strstr (work->dtype, "Float") ? "tf32"
                                                                : NULL;
}

/* What the series of a work says; its texts are the caller's. FALSE: not of a known precision, or several copies. */
static gboolean
describe (const FabTraceWork *work, FabSeries *series, FabBytes *size_bytes)
{
  const gint64 *d = work->sides;
  const char *precision = precision_of (work);
  guint width = precision && strcmp (precision, "fp8") == 0  ? 1
              : precision && strcmp (precision, "tf32") == 0 ? 4
                                                             : 2;

  if (precision == NULL || (!work->is_attention && work->n_copies != 1))
    return FALSE;
  *series = (FabSeries){ .backend = g_strdup ("trace"), .precision = g_strdup (precision) };
  if (work->is_attention) {
    series->kind = FAB_MEASURE_ATTENTION;
    series->op = g_strdup (work->is_backward ? "backward" : "forward");
    series->shape = g_strdup_printf ("%" G_GINT64_FORMAT "x%" G_GINT64_FORMAT "x%" G_GINT64_FORMAT
                                     "x%" G_GINT64_FORMAT "x%" G_GINT64_FORMAT,
                                     d[0], d[1], d[2], d[3], d[4]);
    *size_bytes = (FabBytes) (d[0] * d[3] * d[4] * (2 * d[1] + 2 * d[2]) * width
                              * (work->is_backward ? 2 : 1));
    return TRUE;
  }
  series->kind = FAB_MEASURE_PRODUCT;
  series->op = g_strdup ("matmul");
  series->shape = g_strdup_printf ("%" G_GINT64_FORMAT "x%" G_GINT64_FORMAT "x%" G_GINT64_FORMAT, d[0], d[1],
                                   d[2]);
  *size_bytes = (FabBytes) (((d[0] + d[1]) * d[2] + d[0] * d[1]) * width);
  return TRUE;
}

/* Adds the time of one operator to those of its shape. */
static void
add_time (GHashTable *shapes, GPtrArray *order, const FabTraceWork *work, FabTimePs time_ps)
{
  FabSeries series = { 0 };
  FabBytes size_bytes = 0;
  Shape *shape;
  char *key;

  if (time_ps <= 0 || !describe (work, &series, &size_bytes))
    return;
  key = fab_series_key (&series);
  shape = g_hash_table_lookup (shapes, key);
  if (shape == NULL) {
    shape = g_new0 (Shape, 1);
    shape->series = series;
    shape->size_bytes = size_bytes;
    shape->times_ps = g_array_new (FALSE, FALSE, sizeof (FabTimePs));
    g_hash_table_insert (shapes, g_strdup (key), shape);
    g_ptr_array_add (order, shape);
  } else
    fab_series_clear (&series);
  g_array_append_val (shape->times_ps, time_ps);
  g_free (key);
}

static gint
compare_works (gconstpointer a, gconstpointer b)
{
  gint64 left = ((const FabTraceWork *) a)->external, right = ((const FabTraceWork *) b)->external;

  return left < right ? -1 : left > right;
}

/* An operator takes what all its kernels of its class take. */
static void
add_shapes (FabTraceKernels *self, const FabTracedRank *rank)
{
  g_autoptr (GHashTable) shapes = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, shape_free);
  g_autoptr (GPtrArray) order = g_ptr_array_new ();
  g_autoptr (GArray) works = g_array_copy (rank->works);
  g_autofree FabTimePs *times_ps = g_new0 (FabTimePs, MAX (works->len, 1));

  g_array_sort (works, compare_works);
  for (guint i = 0; i < rank->ops->len; i++) {
    const FabTraceOp *op = &g_array_index (rank->ops, FabTraceOp, i);
    FabTraceWork wanted = { .external = op->external };
    guint at;

    if (!is_of_a_step (rank, op) || op->external < 0
        || !g_array_binary_search (works, &wanted, compare_works, &at))
      continue;
    gboolean is_attention = g_array_index (works, FabTraceWork, at).is_attention;
    if (class_of (op) != (is_attention ? FAB_TRACE_ATTENTION : FAB_TRACE_PRODUCT))
      continue;
    self->n_shaped++;
    times_ps[at] += op->end_ps - op->start_ps;
  }
  for (guint i = 0; i < works->len; i++)
    add_time (shapes, order, &g_array_index (works, FabTraceWork, i), times_ps[i]);
  for (guint i = 0; i < order->len; i++) {
    Shape *shape = g_ptr_array_index (order, i);
    FabMeasuredSeries *measured = fab_measured_series_new (&shape->series);
    FabMeasuredPoint point = { .size_bytes = shape->size_bytes, .n_samples = shape->times_ps->len };

    point.time_ps = median_ps (shape->times_ps);
    g_array_append_val (measured->points, point);
    g_ptr_array_add (self->series, measured);
  }
}

static void
add_launch (FabTraceKernels *self, const char *method, FabTimePs time_ps)
{
  FabSeries series = { .kind = FAB_MEASURE_LAUNCH,
                       .backend = (char *) "trace",
                       .op = (char *) "kernel",
                       .method = (char *) method };
  FabMeasuredPoint point = { .size_bytes = 1, .time_ps = time_ps };
  FabMeasuredSeries *measured;

  if (time_ps <= 0)
    return;
  measured = fab_measured_series_new (&series);
  g_array_append_val (measured->points, point);
  g_ptr_array_add (self->series, measured);
}

FabTraceKernels *
fab_trace_kernels_new (const FabTrace *trace, guint n_steps, GError **error)
{
  const FabTracedRank *rank = g_ptr_array_index (trace->ranks, 0);
  g_autoptr (FabTraceKernels) self = g_new0 (FabTraceKernels, 1);

  if (rank->ops->len == 0 || trace->has_only_lengths) {
    fab_throw (
        error, FAB_ERROR_INPUT,
        "%s: has no kernels with times, so it calibrates nothing; a profile of PyTorch or Nsight Systems has",
        rank->source);
    return NULL;
  }
  self->series = g_ptr_array_new_with_free_func (fab_measured_series_free);
  self->n_steps = n_steps > 0 ? n_steps : MAX (rank->steps->len, 1);
  for (guint i = 0; i < rank->ops->len; i++) {
    const FabTraceOp *op = &g_array_index (rank->ops, FabTraceOp, i);
    FabTraceClass its_class = class_of (op);

    if (!is_of_a_step (rank, op))
      continue;
    self->n_kernels++;
    self->n_of[its_class]++;
    self->seconds_of[its_class] += fab_ps_to_seconds (op->end_ps - op->start_ps);
  }
  add_gaps (self, rank);
  add_shapes (self, rank);
  add_launch (self, "held", self->launch_ps);
  add_launch (self, "issued", self->issue_ps);
  return g_steal_pointer (&self);
}

void
fab_trace_kernels_free (FabTraceKernels *self)
{
  if (self == NULL)
    return;
  if (self->series)
    g_ptr_array_unref (self->series);
  g_free (self);
}
