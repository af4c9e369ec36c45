/* SPDX-License-Identifier: Apache-2.0 */
/* products.c - matrix products of training shapes through cuBLASLt.
 *
 * The library names algorithms in the order that it expects them to be fast; the first few are tried and the fastest is
 * measured. Operands are scrambled numbers between 1/16 and 1 of either sign, since zeros take less power and leave a
 * higher clock. Samples last 20 ms, so that the clock is a warm one; large shapes are measured once more in samples of
 * half a second, which show what the power limit leaves.
 */
#include <string.h>

#include "validate/measure/compute/run.h"

#define SAMPLE_PS (20 * G_GINT64_CONSTANT (1000000000))
#define TRIAL_MESSAGES 10u
#define WORKSPACE_BYTES ((FabBytes) 32 << 20)
#define PATTERN_BYTES ((FabBytes) 1 << 20)
#define ALIGNMENT ((FabBytes) 256)
#define SUSTAINED_FLOPS 2e11 /* of a product that is measured once more in long samples */

/* Linear layers of GPT-2 XL and of Llama 3 8B and 70B, whole and divided by tensor parallelism, and both heads:
 * n x k of a layer at several numbers of tokens m. */
static const char usual_shapes[] =
    "1024x4800x1600,4096x6400x1600,8192x1600x6400,8192x2048x2048,1024x4096x4096,4096x4096x4096,8192x4096x4096,"
    "16384x4096x4096,8192x6144x4096,4096x14336x4096,8192x28672x4096,8192x4096x14336,1024x8192x8192,4096x8192x8192,"
    "8192x8192x8192,16384x8192x8192,8192x10240x8192,8192x3584x8192,8192x7168x8192,8192x8192x3584,8192x1280x8192,"
    "8192x8192x1024,8192x1024x8192,16384x2048x7168,4096x128256x4096,8192x50304x1600";
static const char usual_precisions[] = "bf16,fp16,tf32,fp8";

enum { MAX_SHAPES = 1000, MAX_SIDE = 1 << 24 };

/* Parses "4096x14336x4096,8192x8192x8192", m x n x k. (transfer full) */
static GArray *
read_shapes (const char *text, GError **error)
{
  g_autoptr (GArray) shapes = g_array_new (FALSE, FALSE, sizeof (FabProductShape));
  g_auto (GStrv) words = g_strsplit (text, ",", MAX_SHAPES + 1);

  for (guint i = 0; words[i]; i++) {
    g_auto (GStrv) sides = g_strsplit (g_strstrip (words[i]), "x", 4);
    guint64 numbers[3] = { 0 };
    guint n = 0;

    for (; n < 3 && sides[n]; n++)
      if (!g_ascii_string_to_unsigned (sides[n], 10, 1, MAX_SIDE, &numbers[n], NULL))
        break;
    if (n != 3 || sides[3]) {
      fab_throw (error, FAB_ERROR_INPUT,
                 "shapes: '%s' is no product; write rows x columns x depth, such as 4096x14336x4096",
                 words[i]);
      return NULL;
    }
    FabProductShape shape = { numbers[0], numbers[1], numbers[2] };
    g_array_append_val (shapes, shape);
  }
  if (shapes->len > 0 && shapes->len <= MAX_SHAPES)
    return g_steal_pointer (&shapes);
  fab_throw (error, FAB_ERROR_INPUT, "shapes: %u products; from 1 to %d would do", shapes->len, MAX_SHAPES);
  return NULL;
}

static gboolean
read_precisions (const char *text, gboolean wanted[FAB_N_LT], GError **error)
{
  g_auto (GStrv) words = g_strsplit (text, ",", -1);

  for (guint i = 0; words[i]; i++) {
    guint k = 0;

    while (fab_lt_names[k] && strcmp (fab_lt_names[k], g_strstrip (words[i])) != 0)
      k++;
    if (!fab_lt_names[k])
      return fab_throw (error, FAB_ERROR_INPUT, "precisions: '%s' is none of bf16, fp16, tf32 and fp8",
                        words[i]);
    wanted[k] = TRUE;
  }
  return TRUE;
}

/* --- operands --- */

static FabBytes
align (FabBytes bytes)
{
  return (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
}

/* Scrambles a counter (SplitMix64): numbers without a pattern that a product could be faster for. */
static guint64
scrambled (guint64 n)
{
  n *= G_GUINT64_CONSTANT (0x9e3779b97f4a7c15);
  n = (n ^ n >> 30) * G_GUINT64_CONSTANT (0xbf58476d1ce4e5b9);
  n = (n ^ n >> 27) * G_GUINT64_CONSTANT (0x94d049bb133111eb);
  return n ^ n >> 31;
}

/* Numbers of any sign and mantissa, whose exponent is one of the four below 1. */
static void
fill_pattern (FabLtPrecision precision, guint8 *bytes, gsize size)
{
  static const struct {
    guint exponent_bits, mantissa_bits, lowest;
  } forms[FAB_N_LT] = {
    [FAB_LT_BF16] = { 8, 7, 123 },
    [FAB_LT_FP16] = { 5, 10, 11 },
    [FAB_LT_TF32] = { 8, 23, 123 },
    [FAB_LT_FP8] = { 4, 3, 3 },
  };
  guint width = fab_lt_operand_bytes (precision), mantissa_bits = forms[precision].mantissa_bits;

  for (gsize at = 0; at + width <= size; at += width) {
    guint64 bits = scrambled (at + 1);
    guint32 exponent = forms[precision].lowest + (guint32) (bits >> 40 & 3);
    guint32 sign = (guint32) (bits >> 50 & 1) << (mantissa_bits + forms[precision].exponent_bits);
    guint32 number = (guint32) (bits & ((1u << mantissa_bits) - 1)) | exponent << mantissa_bits | sign;

    memcpy (bytes + at, &number, width); /* the low bytes come first on every machine with an NVIDIA GPU */
  }
}

static gboolean
fill_operands (FabComputeRun *run, FabLtPrecision precision, FabBytes size_bytes, GError **error)
{
  const FabCuda *cuda = run->gpus->cuda;
  g_autofree guint8 *pattern = g_malloc (PATTERN_BYTES);

  fill_pattern (precision, pattern, PATTERN_BYTES);
  for (FabBytes at = 0; at < size_bytes; at += PATTERN_BYTES)
    if (!fab_cuda_check (cuda,
                         cuda->copy_to_device (run->gpu->out + at, pattern,
                                               (gsize) MIN (PATTERN_BYTES, size_bytes - at), run->stream),
                         "fill the matrices", error))
      return FALSE;
  return fab_cuda_check (cuda, cuda->stream_synchronize (run->stream), "fill the matrices", error);
}

/* --- one product --- */

typedef struct {
  FabComputeRun *run;
  FabProduct product;
} Queued;

static gboolean
queue_product (gpointer data, G_GNUC_UNUSED FabBytes size_bytes, GError **error)
{
  Queued *self = data;

  return fab_product_queue (&self->product, self->run->stream, error);
}

/* Where the matrices lie: operands in `out`, the result and the workspace in `in`. */
static FabBytes
operand_bytes (FabLtPrecision precision, const FabProductShape *shape)
{
  guint width = fab_lt_operand_bytes (precision);

  return align (shape->m * shape->k * width) + align (shape->n * shape->k * width);
}

static FabBytes
result_bytes (FabLtPrecision precision, const FabProductShape *shape)
{
  return align (shape->m * shape->n * fab_lt_result_bytes (precision));
}

static gboolean
fits (const FabComputeRun *run, FabLtPrecision precision, const FabProductShape *shape)
{
  return operand_bytes (precision, shape) <= run->gpus->max_bytes
      && result_bytes (precision, shape) + WORKSPACE_BYTES <= run->gpus->max_bytes;
}

static void
place (Queued *self, FabLtPrecision precision)
{
  const FabGpu *gpu = self->run->gpu;
  const FabProductShape *shape = &self->product.shape;

  self->product.a_at = gpu->out;
  self->product.b_at = gpu->out + align (shape->m * shape->k * fab_lt_operand_bytes (precision));
  self->product.c_at = gpu->in;
  self->product.workspace = gpu->in + result_bytes (precision, shape);
}

/* Tries the algorithms that the library names first, and keeps the fastest. */
static gboolean
choose (Queued *self, FabTimedQueue *queue, GError **error)
{
  guint n = MIN (self->product.n_found, (guint) self->run->params->algorithms), best = 0;
  FabTimePs best_ps = FAB_TIME_MAX;

  for (guint i = 0; n > 1 && i < n; i++) {
    FabTimePs elapsed_ps;

    self->product.chosen = i;
    if (!fab_timed_queue (queue, 0, 1, &elapsed_ps, error)
        || !fab_timed_queue (queue, 0, TRIAL_MESSAGES, &elapsed_ps, error))
      return FALSE;
    if (elapsed_ps < best_ps)
      best = i, best_ps = elapsed_ps;
  }
  self->product.chosen = best;
  return TRUE;
}

static gboolean
measure_found (Queued *self, FabLtPrecision precision, GError **error)
{
  FabComputeRun *run = self->run;
  const FabProductShape *shape = &self->product.shape;
  g_autofree char *text = g_strdup_printf ("%" G_GUINT64_FORMAT "x%" G_GUINT64_FORMAT "x%" G_GUINT64_FORMAT,
                                           shape->m, shape->n, shape->k);
  FabSeries series = fab_compute_series (run, FAB_MEASURE_PRODUCT, "matmul", "cublaslt");
  FabTimedQueue queue = { .run = run, .queue = queue_product, .data = self, .window = 200 };
  FabBytes size_bytes = (shape->m + shape->n) * shape->k * fab_lt_operand_bytes (precision)
                      + shape->m * shape->n * fab_lt_result_bytes (precision);
  double flops = 2.0 * (double) shape->m * (double) shape->n * (double) shape->k;
  gboolean is_ok;

  place (self, precision);
  series.precision = (char *) fab_lt_names[precision];
  series.shape = text;
  if (!choose (self, &queue, error))
    return FALSE;
  run->host->min_sample_ps = SAMPLE_PS;
  is_ok = run->host->measure_one (run->host, &series, size_bytes, fab_timed_queue, &queue, error);
  if (is_ok && run->params->sustained_ps > 0 && flops > SUSTAINED_FLOPS) {
    series.method = (char *) "cublaslt-sustained";
    run->host->min_sample_ps = run->params->sustained_ps;
    is_ok = run->host->measure_one (run->host, &series, size_bytes, fab_timed_queue, &queue, error);
  }
  run->host->min_sample_ps = 0;
  return is_ok;
}

static gboolean
measure_product (FabComputeRun *run, const FabBlaslt *lt, FabLtPrecision precision,
                 const FabProductShape *shape, guint *n_without, GError **error)
{
  Queued queued = { .run = run };
  gboolean is_ok = fab_product_open (&queued.product, lt, precision, shape, WORKSPACE_BYTES, run->gpu->flag,
                                     error);

  if (is_ok && queued.product.n_found == 0)
    ++*n_without;
  else if (is_ok)
    is_ok = measure_found (&queued, precision, error);
  fab_product_clear (&queued.product);
  return is_ok;
}

/* --- all --- */

static gboolean
measure_precision (FabComputeRun *run, const FabBlaslt *lt, FabLtPrecision precision, const GArray *shapes,
                   GError **error)
{
  FabBytes most_bytes = 0;
  guint n_large = 0, n_without = 0;

  for (guint i = 0; i < shapes->len; i++) {
    const FabProductShape *shape = &g_array_index (shapes, FabProductShape, i);

    if (fits (run, precision, shape))
      most_bytes = MAX (most_bytes, operand_bytes (precision, shape));
  }
  if (!fill_operands (run, precision, most_bytes, error))
    return FALSE;
  for (guint i = 0; i < shapes->len; i++) {
    const FabProductShape *shape = &g_array_index (shapes, FabProductShape, i);

    if (!fits (run, precision, shape))
      n_large++;
    else if (!measure_product (run, lt, precision, shape, &n_without, error))
      return FALSE;
  }
  if (n_large > 0)
    run->host->note (
        run->host, "%u of %u products in %s do not fit into the buffers; give larger ones with --set buffer",
        n_large, shapes->len, fab_lt_names[precision]);
  if (n_without > 0)
    run->host->note (run->host, "cuBLASLt has no algorithm for %u of %u products in %s on this GPU",
                     n_without, shapes->len, fab_lt_names[precision]);
  return TRUE;
}

static gboolean
set_scale (FabComputeRun *run, GError **error)
{
  const FabCuda *cuda = run->gpus->cuda;
  const float one = 1;

  return fab_cuda_check (cuda, cuda->copy_to_device (run->gpu->flag, &one, sizeof one, run->stream),
                         "set a scale", error)
      && fab_cuda_check (cuda, cuda->stream_synchronize (run->stream), "set a scale", error);
}

gboolean
fab_products_read (FabComputeRun *run, GError **error)
{
  const FabComputeParams *params = run->params;

  run->shapes = read_shapes (params->shapes ? params->shapes : usual_shapes, error);
  return run->shapes != NULL
      && read_precisions (params->precisions ? params->precisions : usual_precisions, run->precisions, error);
}

gboolean
fab_products_measure (FabComputeRun *run, GError **error)
{
  g_autoptr (GError) missing = NULL;
  g_autoptr (FabBlaslt) lt = NULL;

  if (!run->host->plan->kinds[FAB_MEASURE_PRODUCT])
    return TRUE;
  lt = fab_blaslt_open (&missing);
  if (!lt) {
    run->host->note (run->host, "products are left out: %s", missing->message);
    return TRUE;
  }
  g_autofree char *version = g_strdup_printf ("%" G_GSIZE_FORMAT, lt->version ());
  run->host->machine (run->host, "cublaslt", version);
  if (!set_scale (run, error))
    return FALSE;
  for (guint k = 0; k < FAB_N_LT; k++)
    if (run->precisions[k] && !measure_precision (run, lt, (FabLtPrecision) k, run->shapes, error))
      return FALSE;
  return TRUE;
}
