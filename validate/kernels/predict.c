/* SPDX-License-Identifier: Apache-2.0 */
/* predict.c - rows through tiles.c, attention.c and memory_bound.c, with what else was in their times.
 *
 *   product   tiles. In FP8 with quantising: and three passes over A, to find its largest number and to cast it
 *   attention max(kernel, bytes / memory rate). With a cache: and a kernel that reads and writes keys and values
 *   memory    bytes / (memory rate x rate of such kernels) + gap between two kernels
 *   experts   products (tokens x experts per token / experts) x (2 inner) x hidden and x hidden x inner, one of each
 *   for an
 *             expert; the activation, three times inner; tokens copied to experts, and summed up afterwards
 */
#include "validate/kernels/predict.h"

#include <math.h>
#include <string.h>

#include "models/compute/roofline/attention.h"
#include "models/compute/roofline/memory_bound.h"
#include "models/compute/roofline/tiles.h"
#include "sim/base/error.h"

static const double wide_bytes = 2, gap_s = 1e-6; /* the gap: as `roofline` has it by default */

typedef struct {
  const FabKernelSpec *spec;
  FabDevice device;
  double memory_bytes_per_s; /* that kernels reach */
} Site;

FabDevice
fab_kernel_device (const FabAcceleratorSpec *accelerator)
{
  return (FabDevice){
    .architecture = accelerator->architecture,
    .peak_flops_per_s = { [FAB_PRECISION_BF16] = accelerator->peak_fp16_flops_per_s,
                          [FAB_PRECISION_FP16] = accelerator->peak_fp16_flops_per_s,
                          [FAB_PRECISION_FP32] = accelerator->peak_fp32_flops_per_s,
                          [FAB_PRECISION_TF32] = accelerator->peak_tf32_flops_per_s,
                          [FAB_PRECISION_FP8] = accelerator->peak_fp8_flops_per_s },
    .matmul_fraction = accelerator->matmul_fraction,
    .n_sms = (guint) accelerator->n_sms,
    .memory_bytes = accelerator->memory_bytes,
    .memory_bytes_per_s = accelerator->memory_bytes_per_s,
  };
}

/* --- products --- */

static double
tiles_seconds (const Site *site, FabPrecision precision, const FabMatmul *matmul)
{
  double share = fab_tiles_share (&site->device, precision);
  FabReachedRates rates = { fab_device_rate (&site->device, precision) * fmin (1, share),
                            site->memory_bytes_per_s };

  return fab_tiles_seconds (&site->device, &rates, matmul, fab_precision_operand_bytes (precision),
                            fmax (wide_bytes, (double) fab_precision_bytes (precision)));
}

static gboolean
product_seconds (const Site *site, const FabKernelRow *row, double *seconds)
{
  FabMatmul matmul = { row->numbers[0], row->numbers[1], row->numbers[2], 1 };
  double operand = matmul.rows * matmul.depth;
  guint precision = 0;

  while (precision < FAB_N_PRECISIONS && strcmp (fab_precision_names[precision], row->kind) != 0)
    precision++;
  if (precision == FAB_N_PRECISIONS)
    return FALSE;
  *seconds = tiles_seconds (site, (FabPrecision) precision, &matmul);
  if (site->spec->includes == FAB_KERNEL_QUANTISING && precision == FAB_PRECISION_FP8)
    *seconds += operand * (2 * wide_bytes + 1) / site->memory_bytes_per_s;
  return TRUE;
}

/* --- attention --- */

static const struct {
  const char *name;
  FabAttentionKernel kernel;
} attention_names[] = {
  { "flash2", FAB_ATTENTION_FLASH2 },         { "flash3", FAB_ATTENTION_FLASH3 },
  { "cudnn", FAB_ATTENTION_CUDNN },           { "FLASH_ATTENTION", FAB_ATTENTION_FLASH2 },
  { "CUDNN_ATTENTION", FAB_ATTENTION_CUDNN }, { "trtllm", FAB_ATTENTION_CUDNN },
};

/* "forward_flash2": a pass, and a kernel by our name, by PyTorch's backend, or by the library that has its own. */
static gboolean
read_pass (const char *kind, FabAttentionKernel *kernel, gboolean *is_backward)
{
  const char *name = strchr (kind, '_');

  *is_backward = g_str_has_prefix (kind, "backward_");
  if (!*is_backward && !g_str_has_prefix (kind, "forward_"))
    return FALSE;
  for (guint i = 0; i < G_N_ELEMENTS (attention_names); i++)
    if (strcmp (attention_names[i].name, name + 1) == 0) {
      *kernel = attention_names[i].kernel;
      return TRUE;
    }
  return FALSE;
}

static gboolean
attention_seconds (const Site *site, const FabKernelRow *row, double *seconds)
{
  double batch = row->numbers[0], heads = row->numbers[1], kv_heads = row->numbers[2],
         tokens = row->numbers[3];
  double width = row->numbers[4];
  gboolean is_causal = row->numbers[5] > 0;
  double vector_bytes = batch * tokens * width * wide_bytes, bytes = vector_bytes * 2 * (heads + kv_heads);
  FabAttention attention = { .forward_flops = 4 * batch * heads * tokens * tokens * width
                                            * (is_causal ? 0.5 : 1),
                             .tokens = tokens,
                             .head_width = width,
                             .is_causal = is_causal };
  FabAttentionKernel kernel;

  if (!read_pass (row->kind, &kernel, &attention.is_backward))
    return FALSE;
  *seconds = fmax (fab_attention_seconds (&site->device, kernel, &attention,
                                          fab_device_rate (&site->device, FAB_PRECISION_BF16), 1),
                   bytes * (attention.is_backward ? 2 : 1) / site->memory_bytes_per_s);
  if (site->spec->includes == FAB_KERNEL_CACHE_FILL)
    *seconds += 4 * kv_heads * vector_bytes / site->memory_bytes_per_s;
  return TRUE;
}

/* --- memory-bound kernels --- */

static const struct {
  const char *name;
  double rate_factor;
} memory_names[] = { { "copy", 1 },
                     { "add", 1 },
                     { "gelu", 1 },
                     { "silu_mul", 1 },
                     { "rms_norm", FAB_NORM_RATE_FACTOR },
                     { "layer_norm", FAB_NORM_RATE_FACTOR },
                     { "dropout", FAB_DROPOUT_RATE_FACTOR },
                     { "cross_entropy_fwd", FAB_SOFTMAX_RATE_FACTOR },
                     { "adamw_fused", FAB_OPTIMIZER_RATE_FACTOR } };

/* 0: the model has no such kernel. */
static double
memory_rate_factor (const char *kernel)
{
  for (guint i = 0; i < G_N_ELEMENTS (memory_names); i++)
    if (strcmp (memory_names[i].name, kernel) == 0)
      return memory_names[i].rate_factor;
  return 0;
}

static gboolean
memory_seconds (const Site *site, const FabKernelRow *row, double *seconds)
{
  double factor = memory_rate_factor (row->kind);

  *seconds = factor > 0 ? row->numbers[0] / (site->memory_bytes_per_s * factor) + gap_s : 0;
  return TRUE;
}

/* --- experts --- */

static gboolean
experts_seconds (const Site *site, const FabKernelRow *row, double *seconds)
{
  double tokens = row->numbers[0], hidden = row->numbers[1], inner = row->numbers[2],
         per_token = row->numbers[3];
  double n = row->numbers[4], copies = tokens * per_token;
  FabMatmul up = { copies / n, 2 * inner, hidden, n }, down = { copies / n, hidden, inner, n };
  double numbers = copies * (2 * hidden + 3 * inner + hidden) + tokens * hidden;

  *seconds = tiles_seconds (site, FAB_PRECISION_BF16, &up) + tiles_seconds (site, FAB_PRECISION_BF16, &down)
           + numbers * wide_bytes / site->memory_bytes_per_s;
  return TRUE;
}

/* --- a table --- */

typedef gboolean (*SecondsFn) (const Site *site, const FabKernelRow *row, double *seconds);

gboolean
fab_kernel_table_predict (FabKernelTable *table, const FabCatalog *catalog, GError **error)
{
  static const SecondsFn models[FAB_N_KERNEL_TYPES] = { product_seconds, attention_seconds, memory_seconds,
                                                        experts_seconds };
  Site site = { table->spec, fab_kernel_device (fab_catalog_accelerator (catalog, table->spec->accelerator)),
                0 };

  if (table->spec->best_fraction > 0)
    site.device.matmul_fraction = table->spec->best_fraction;

  site.memory_bytes_per_s = (double) site.device.memory_bytes_per_s * FAB_KERNEL_MEMORY_FRACTION;
  for (guint i = 0; i < table->rows->len; i++) {
    FabKernelRow *row = &g_array_index (table->rows, FabKernelRow, i);
    double seconds = 0;

    if (!models[table->spec->kernel](&site, row, &seconds))
      return fab_throw (error, FAB_ERROR_INPUT, "%s:%u: no kernel model is called '%s'", table->spec->file,
                        row->line, row->kind);
    row->predicted_us = seconds * 1e6;
  }
  return TRUE;
}
