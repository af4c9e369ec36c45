/* SPDX-License-Identifier: Apache-2.0 */
/* price.c - time of a pass from its operators: what they multiply, what they move, what starting them costs.
 *
 *   pass  = max(sum over kernels (kernel + launch), kernels x issue)
 *   kernel, matrix     tiles.c with rate = peak x achievable; backward is two of them, by the input and by the weight
 *   kernel, attention  max(FLOPs x causal / (peak x fraction of the kernel), bytes / memory rate)
 *   kernel, memory     bytes / memory rate; backward twice the bytes
 *   memory rate        = accelerator's x `memory`; all rates are multiplied by the scale
 *
 * Starting: the host issues kernels ahead of the GPU and is behind only when kernels are shorter than its issue
 * interval on the average of a pass; `launch` is the gap that stays between two kernels of a stream.
 *
 * Attention, share of peak on the FLOPs that a kernel executes (backward executes 2.5 x forward: five products for
 * two, the scores being computed again):
 *   flash1  A100 50 % forward, 35 % backward (FlashAttention-2, arXiv 2307.08691: see there:
 *           "30 to 50 %", "25 to 35 %"), else as flash2
 *   flash2  A100 73 % forward, 63 % backward (FlashAttention-2, arXiv 2307.08691: "50 to 73 %"; backward:
 *           see there); H100 368 and 310 of 989 TFLOP/s (FlashAttention-3, arXiv 2407.08608, charts of head size
 *           128, sequence 4096); all others as H100 (assumed)
 *   flash3  H100 638 and 542 (same charts), else as flash2
 *   cudnn   H100 609 and 499 (same charts); Blackwell the same shares (assumed), else as flash2
 * Where the shape keeps scores for backward, they go through memory: two products at the rate of matrices, and after
 * them the traffic that the shape counts; no score is skipped.
 */
#include "models/compute/roofline/price.h"

#include <math.h>

#include "models/compute/roofline/tiles.h"

/* What no table has: the middle of the measured ones (73 to 87 % on NVIDIA). */
static const double unknown_matmul_fraction = 0.8;

/* `matmul` is the best of thousands of shapes. A large product of a usual one reaches 0.85 to 0.90 of it: 8192 x 8192
 * x 8192 gave 215.3 TFLOP/s on an A800 PCIe (mli/transformers-benchmarks issue 4), where the best of an A100 PCIe is
 * 252.9, and 716 on an H100 (see a blog on beating cuBLAS), where the best is 794.5. */
static const double usual_shape_fraction = 0.88;

typedef struct {
  const FabPricing *params;
  const FabDevice *device;
  const FabPass *pass;
  FabReachedRates rates;
  double peak_flops_per_s;
  double seconds; /* of all kernels so far */
  guint n_kernels;
} Sum;

static void
add_kernel (Sum *sum, double seconds)
{
  sum->seconds += seconds;
  sum->n_kernels++;
}

/* --- matrices --- */

/* Megatron divides the last of several split matrices of a segment by its rows, the others by their columns. */
static gboolean
is_split_by_rows (const GArray *operators, guint index)
{
  gboolean has_earlier = FALSE;

  for (guint i = 0; i < operators->len; i++) {
    const FabOperator *op = &g_array_index (operators, FabOperator, i);

    if (op->kind != FAB_OPERATOR_MATMUL || !op->is_split)
      continue;
    if (i > index)
      return FALSE;
    has_earlier = has_earlier || i < index;
  }
  return has_earlier;
}

/* A token goes to flops / (2 n k) of the matrices. With experts on several ranks, each has as many tokens in sum,
 * from all ranks, for fewer experts. */
static FabMatmul
forward_matmul (const Sum *sum, guint index)
{
  const FabOperator *op = &g_array_index (sum->pass->segment->operators, FabOperator, index);
  double share = op->is_split ? 1.0 / sum->pass->n_split : 1;
  gboolean by_rows = is_split_by_rows (sum->pass->segment->operators, index);
  double n = (double) op->n, k = (double) op->k;
  double n_here = fmax (1, (double) op->n_matrices / (op->n_matrices > 1 ? sum->pass->n_expert : 1));
  double rows = fab_pass_tokens (sum->pass, op) * op->flops / (2 * n * k) / n_here;

  return (FabMatmul){ rows, by_rows ? n : n * share, by_rows ? k * share : k, n_here };
}

static void
add_product (Sum *sum, double rows, double columns, double depth, double n_copies)
{
  double bytes = (double) fab_precision_bytes (sum->pass->precision);
  FabMatmul matmul = { rows, columns, depth, n_copies };

  add_kernel (sum, fab_tiles_seconds (sum->device, &sum->rates, &matmul, bytes, fmax (2, bytes)));
}

static void
add_matrix (Sum *sum, guint index)
{
  const FabOperator *op = &g_array_index (sum->pass->segment->operators, FabOperator, index);

  if (op->n == 0 || op->k == 0) { /* of no known shape: at the best rate */
    double flops = op->flops * fab_pass_tokens (sum->pass, op) / (op->is_split ? sum->pass->n_split : 1);

    for (guint i = 0; i < (sum->pass->is_backward ? 2 : 1); i++)
      add_kernel (sum, flops / sum->rates.flops_per_s);
    return;
  }
  FabMatmul m = forward_matmul (sum, index);
  if (!sum->pass->is_backward) {
    add_product (sum, m.rows, m.columns, m.depth, m.n_copies);
    return;
  }
  add_product (sum, m.rows, m.depth, m.columns, m.n_copies); /* by the input */
  add_product (sum, m.columns, m.depth, m.rows, m.n_copies); /* by the weight */
}

/* --- attention --- */

typedef struct {
  FabAttentionKernel kernel;
  const char *architecture;
  double forward_fraction, backward_fraction;
} AttentionRate;

/* Of peak; the first that fits. Sources at the head of this file. */
static const AttentionRate attention_rates[] = {
  { FAB_ATTENTION_FLASH1, "ampere", 0.5, 0.35 },
  { FAB_ATTENTION_FLASH3, "hopper", 638.0 / 989, 542.0 / 989 },
  { FAB_ATTENTION_CUDNN, "hopper", 609.0 / 989, 499.0 / 989 },
  { FAB_ATTENTION_CUDNN, "blackwell", 609.0 / 989, 499.0 / 989 },
  { FAB_ATTENTION_FLASH2, "ampere", 0.73, 0.63 },
  { FAB_ATTENTION_FLASH2, NULL, 368.0 / 989, 310.0 / 989 },
};

static const AttentionRate *
attention_rate (FabAttentionKernel kernel, const char *architecture)
{
  for (guint i = 0; i + 1 < G_N_ELEMENTS (attention_rates); i++) {
    const AttentionRate *rate = &attention_rates[i];
    gboolean is_kernel = rate->kernel == kernel || rate->kernel == FAB_ATTENTION_FLASH2;

    if (is_kernel && g_strcmp0 (rate->architecture, architecture) == 0)
      return rate;
  }
  return &attention_rates[G_N_ELEMENTS (attention_rates) - 1];
}

static void
add_plain_attention (Sum *sum, double flops, double bytes)
{
  guint n_kernels = sum->pass->is_backward ? 8 : 4; /* two products, softmax, dropout */
  double seconds = flops / sum->rates.flops_per_s + bytes / sum->rates.memory_bytes_per_s;

  for (guint i = 0; i < n_kernels; i++)
    add_kernel (sum, seconds / 4);
}

static void
add_attention (Sum *sum, const FabOperator *op)
{
  const AttentionRate *rate = attention_rate ((FabAttentionKernel) sum->params->attention,
                                              sum->device->architecture);
  double share = fab_pass_tokens (sum->pass, op) / (op->is_split ? sum->pass->n_split : 1);
  double flops = op->flops * share, bytes = op->bytes * share, scale = sum->params->scale_factor;

  if (sum->pass->segment->saved_score_bytes > 0) {
    add_plain_attention (sum, flops, bytes);
    return;
  }
  flops *= sum->params->is_causal ? 0.5 : 1;
  if (sum->pass->is_backward)
    add_kernel (sum, fmax (2.5 * flops / (sum->peak_flops_per_s * fmin (1, rate->backward_fraction * scale)),
                           2 * bytes / sum->rates.memory_bytes_per_s));
  else
    add_kernel (sum, fmax (flops / (sum->peak_flops_per_s * fmin (1, rate->forward_fraction * scale)),
                           bytes / sum->rates.memory_bytes_per_s));
}

/* --- the pass --- */

static void
add_memory (Sum *sum, const FabOperator *op)
{
  double bytes = op->bytes * fab_pass_tokens (sum->pass, op) / (op->is_split ? sum->pass->n_split : 1)
               * (sum->pass->is_backward ? 2 : 1);

  for (guint i = 0; i < (sum->params->is_fused ? 1 : 2); i++)
    add_kernel (sum, bytes / sum->rates.memory_bytes_per_s);
}

static double
achievable (const FabPricing *params, const FabDevice *device)
{
  if (params->achievable_fraction > 0)
    return params->achievable_fraction;
  return usual_shape_fraction
       * (device->matmul_fraction > 0 ? device->matmul_fraction : unknown_matmul_fraction);
}

double
fab_price_pass (const FabPricing *p, const FabDevice *device, const FabPass *pass)
{
  Sum sum = { .params = p, .device = device, .pass = pass };

  sum.peak_flops_per_s = fab_device_peak (device, pass->precision);
  sum.rates.flops_per_s = sum.peak_flops_per_s * fmin (1, achievable (p, device) * p->scale_factor);
  sum.rates.memory_bytes_per_s = (double) device->memory_bytes_per_s
                               * fmin (1, p->memory_fraction * p->scale_factor);
  for (guint i = 0; i < pass->segment->operators->len; i++) {
    const FabOperator *op = &g_array_index (pass->segment->operators, FabOperator, i);

    switch (op->kind) {
    case FAB_OPERATOR_MATMUL: add_matrix (&sum, i); break;
    case FAB_OPERATOR_ATTENTION: add_attention (&sum, op); break;
    case FAB_OPERATOR_MEMORY: add_memory (&sum, op); break;
    default: g_assert_not_reached ();
    }
  }
  return fmax (sum.seconds + sum.n_kernels * fab_ps_to_seconds (p->launch_ps),
               sum.n_kernels * fab_ps_to_seconds (p->issue_ps));
}
