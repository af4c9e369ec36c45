/* SPDX-License-Identifier: Apache-2.0 */
/* price.c - time of a pass from its operators: what they multiply, what they move, what starting them costs.
 *
 *   pass  = max(sum over kernels (kernel + launch), kernels x issue)
 *   kernel, matrix     tiles.c with rate = peak x achievable; backward is two of them, by the input and by the weight
 *   kernel, attention  max(FLOPs x causal / (peak x fraction of the kernel), bytes / memory rate)
 *   kernel, memory     bytes / memory rate; backward twice the bytes
 *   memory rate        = accelerator's x `memory`; all rates are multiplied by the scale
 *   peak               at the clock that a power cap leaves; the rate of memory does not depend on it
 *
 * Starting: the host issues kernels ahead of the GPU and is behind only when kernels are shorter than its issue
 * interval on the average of a pass; `launch` is the gap that stays between two kernels of a stream.
 *
 * Attention, share of peak on the FLOPs that a kernel executes (backward executes 2.5 x forward: five products for
 * two, the scores being computed again):
 *   flash1  A100 50 % forward, 35 % backward (FlashAttention-2, arXiv 2307.08691: see there:
 *           "30 to 50 %", "25 to 35 %"), others slower than flash2 in the same proportion (assumed)
 *   flash2  A100 73 % forward, 63 % backward (FlashAttention-2, arXiv 2307.08691: "50 to 73 %"; backward:
 *           see there); H100 368 and 310 of 989 TFLOP/s (FlashAttention-3, arXiv 2407.08608, charts of head size
 *           128, sequence 4096); all others as H100 (assumed)
 *   flash3  H100 638 and 542 (same charts), else as flash2
 *   cudnn   H100 609 and 499 (same charts); Blackwell the same shares (assumed), else as flash2
 * Sequences and heads: attention_share. Precisions below 16 bits: precision_of.
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
  double peak_flops_per_s;      /* at the clock that a power cap leaves */
  double wide_peak_flops_per_s; /* of what stays in BF16 where the precision is low */
  double seconds;               /* of all kernels so far */
  guint n_kernels;
} Sum;

static void
add_kernel (Sum *sum, double seconds)
{
  sum->seconds += seconds;
  sum->n_kernels++;
}

/* Activations are of 2 bytes in the shape's operators; FP32 and TF32 keep 4. */
static double
activation_bytes (const Sum *sum, const FabOperator *op)
{
  return op->bytes * fmax (2, (double) fab_precision_bytes (sum->pass->precision)) / 2;
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

/* Only the linear layers of blocks are multiplied in a low precision (TransformerEngine); routers and heads are not. */
static FabPrecision
precision_of (const Sum *sum, const FabOperator *op)
{
  const FabPass *pass = sum->pass;
  gboolean is_linear = pass->layer->is_block && g_strcmp0 (op->name, "router") != 0;

  return fab_precision_is_low (pass->precision) && !is_linear ? FAB_PRECISION_BF16 : pass->precision;
}

static void
add_product (Sum *sum, FabPrecision precision, const FabMatmul *matmul, double result_bytes)
{
  FabReachedRates rates = sum->rates;

  rates.flops_per_s *= fab_device_rate (sum->device, precision) / sum->peak_flops_per_s;
  add_kernel (sum, fab_tiles_seconds (sum->device, &rates, matmul, fab_precision_operand_bytes (precision),
                                      result_bytes));
}

/* A tensor of `numbers` becomes one of a low precision: read in 16 bits, and written twice, since the product by the
 * weight's gradient multiplies the other way round. NVFP4 reads it a second time for the largest number. */
static void
add_cast (Sum *sum, FabPrecision precision, double numbers)
{
  double reads = precision == FAB_PRECISION_NVFP4 ? 2 : 1;

  if (fab_precision_is_low (precision))
    add_kernel (sum, numbers * (2 * reads + 2 * fab_precision_operand_bytes (precision))
                         / sum->rates.memory_bytes_per_s);
}

static void
add_accumulation (Sum *sum, double parameters)
{
  if (sum->pass->is_accumulating)
    sum->seconds += parameters * sum->params->accumulation_bytes / sum->rates.memory_bytes_per_s;
}

static void
add_matrix (Sum *sum, guint index)
{
  const FabOperator *op = &g_array_index (sum->pass->segment->operators, FabOperator, index);
  FabPrecision precision = precision_of (sum, op);
  double result_bytes = fmax (2, (double) fab_precision_bytes (precision));

  if (op->n == 0 || op->k == 0) { /* of no known shape: at the best rate */
    double flops = op->flops * fab_pass_tokens (sum->pass, op) / (op->is_split ? sum->pass->n_split : 1);

    if (!sum->pass->is_backward || fab_pass_has_input_product (sum->pass))
      add_kernel (sum, flops / sum->rates.flops_per_s);
    if (sum->pass->is_backward && fab_pass_has_weight_product (sum->pass, op))
      add_kernel (sum, flops / sum->rates.flops_per_s);
    return;
  }
  FabMatmul m = forward_matmul (sum, index);
  if (!sum->pass->is_backward) {
    add_cast (sum, precision, m.rows * m.depth * m.n_copies);
    add_product (sum, precision, &m, result_bytes);
    return;
  }
  FabMatmul by_input = { m.rows, m.depth, m.columns, m.n_copies };
  FabMatmul by_weight = { m.columns, m.depth, m.rows, m.n_copies };
  add_cast (sum, precision, m.rows * m.columns * m.n_copies);
  if (fab_pass_has_input_product (sum->pass))
    add_product (sum, precision, &by_input, result_bytes); /* for the gradient of the input */
  if (!fab_pass_has_weight_product (sum->pass, op))
    return;
  add_product (sum, precision, &by_weight, result_bytes); /* for that of the weights */
  add_accumulation (sum, m.columns * m.depth * m.n_copies);
}

/* --- attention --- */

typedef struct {
  FabAttentionKernel kernel;
  const char *architecture;
  double forward_fraction, backward_fraction;
} AttentionRate;

/* Of peak, at long sequences and heads of 128; the first that fits. Sources at the head of this file. */
static const AttentionRate attention_rates[] = {
  { FAB_ATTENTION_FLASH1, "ampere", 0.5, 0.35 },
  { FAB_ATTENTION_FLASH1, NULL, 0.5 / 0.73 * 368 / 989, 0.35 / 0.63 * 310 / 989 },
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

    if (is_kernel && (rate->architecture == NULL || g_strcmp0 (rate->architecture, architecture) == 0))
      return rate;
  }
  return &attention_rates[G_N_ELEMENTS (attention_rates) - 1];
}

/* Share of a kernel's rate that it reaches with sequences of `tokens` and heads of `width`, 0: unknown. A causal kernel
 * computes whole tiles along the diagonal, 128 tokens wide, and the work of its blocks is uneven: 1 + 256 / tokens.
 * Heads of 64 do half the products for as many exponentials: 0.8 of the rate (FlashAttention-3, arXiv 2407.08608,
 * charts of head size 64 beside 128). */
static double
attention_share (const Sum *sum, const FabOperator *op)
{
  const double diagonal = 256, narrow_share = 0.8;
  double share = sum->params->is_causal && op->n > 0 ? 1 / (1 + diagonal / (double) op->n) : 1;

  return op->k > 0 && op->k <= 64 ? share * narrow_share : share;
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
  double flops = op->flops * share, bytes = activation_bytes (sum, op) * share;
  double scale = sum->params->scale_factor * attention_share (sum, op);

  if (sum->pass->segment->saved_score_bytes > 0) {
    add_plain_attention (sum, flops, bytes);
    return;
  }
  flops *= sum->params->is_causal ? 0.5 : 1;
  if (sum->pass->is_backward)
    add_kernel (sum,
                fmax (2.5 * flops / (sum->wide_peak_flops_per_s * fmin (1, rate->backward_fraction * scale)),
                      2 * bytes / sum->rates.memory_bytes_per_s));
  else
    add_kernel (sum, fmax (flops / (sum->wide_peak_flops_per_s * fmin (1, rate->forward_fraction * scale)),
                           bytes / sum->rates.memory_bytes_per_s));
}

/* --- the pass --- */

/* Kernels that eager software runs for an operator, each of which moves about as much as the fused one. PyTorch
 * 2.x: a layer norm is one kernel; an RMS norm written in Python casts, squares, takes the mean, multiplies, casts and
 * multiplies by the weight; rotary positions are two products, a rotation, a concatenation and a sum. */
typedef struct {
  const char *name;
  guint n_kernels;
} Unfused;

static const Unfused unfused[] = {
  { "norm", 1 },       { "rms_norm", 8 }, { "qk_norm", 8 },          { "rotary", 5 },
  { "activation", 1 }, { "residual", 1 }, { "gated_activation", 2 }, { "lookup", 1 },
};
enum { USUAL_UNFUSED = 2 }; /* a result is written and read between two */

static guint
unfused_kernels (const char *name)
{
  for (guint i = 0; i < G_N_ELEMENTS (unfused); i++)
    if (g_strcmp0 (unfused[i].name, name) == 0)
      return unfused[i].n_kernels;
  return USUAL_UNFUSED;
}

static void
add_memory (Sum *sum, const FabOperator *op)
{
  double bytes = activation_bytes (sum, op) * fab_pass_tokens (sum->pass, op)
               / (op->is_split ? sum->pass->n_split : 1) * (sum->pass->is_backward ? 2 : 1);
  guint n_kernels = sum->params->is_fused ? 1 : unfused_kernels (op->name);

  for (guint i = 0; i < n_kernels; i++)
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

  sum.peak_flops_per_s = fab_device_rate (device, pass->precision);
  sum.wide_peak_flops_per_s = fab_precision_is_low (pass->precision)
                                ? fab_device_rate (device, FAB_PRECISION_BF16)
                                : sum.peak_flops_per_s;
  sum.rates.flops_per_s = sum.peak_flops_per_s * fmin (1, achievable (p, device) * p->scale_factor);
  sum.rates.memory_bytes_per_s = (double) device->memory_bytes_per_s
                               * fmin (1, p->memory_fraction * p->scale_factor);
  for (guint i = 0; i < pass->segment->operators->len; i++) {
    const FabOperator *op = &g_array_index (pass->segment->operators, FabOperator, i);

    if (pass->is_backward && !fab_pass_has_input_product (pass) && op->kind != FAB_OPERATOR_MATMUL)
      continue; /* it has no weights */
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
