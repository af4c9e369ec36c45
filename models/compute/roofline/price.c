/* SPDX-License-Identifier: Apache-2.0 */
/* price.c - time of a pass from its operators: what they multiply, what they move, what starting them costs.
 *
 *   pass  = max(sum over kernels (kernel + launch), kernels x issue + experts) + readback
 *   experts, readback  grouped.c
 *   kernel, matrix     tiles.c; backward is two of them, by the input and by the weight
 *   kernel, attention  max(attention.c, bytes / memory rate)
 *   kernel, memory     memory_bound.c says how many kernels an operator is, what they move and how fast
 *   memory rate        = accelerator's x `memory`; all rates are multiplied by the scale
 *   peak               at the clock that a power cap leaves; the rate of memory does not depend on it
 *
 * Starting: the host issues kernels ahead of the GPU and is behind only when kernels are shorter than its issue
 * interval on the average of a pass; `launch` is the gap that stays between two kernels of a stream.
 *
 * Precisions below 16 bits: precision_of. Where the shape keeps scores for backward, or no kernel fuses them, they go
 * through memory: two products at the rate of matrices, and after them the traffic of the scores; no score is skipped.
 */
#include "models/compute/roofline/price.h"

#include <math.h>

#include "models/compute/roofline/tiles.h"

typedef struct {
  const FabPricing *params;
  const FabDevice *device;
  const FabPass *pass;
  FabReachedRates rates;
  double peak_flops_per_s;      /* at the clock that a power cap leaves */
  double wide_peak_flops_per_s; /* of what stays in BF16 where the precision is low */
  FabComputeParts parts;        /* of all kernels so far */
  guint n_kernels;
} Sum;

static void
add_kernel (Sum *sum, double *part, double seconds)
{
  *part += seconds;
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

/* Share of the peak that a tile of a product reaches, in the precision. */
static double
achievable (const FabPricing *params, const FabDevice *device, FabPrecision precision)
{
  return params->achievable_fraction > 0 ? params->achievable_fraction : fab_tiles_share (device, precision);
}

static double
reached_flops_per_s (const Sum *sum, FabPrecision precision)
{
  return fab_device_rate (sum->device, precision)
       * fmin (1, achievable (sum->params, sum->device, precision) * sum->params->scale_factor);
}

static void
add_product (Sum *sum, FabPrecision precision, const FabMatmul *matmul, double result_bytes)
{
  FabReachedRates rates = sum->rates;

  rates.flops_per_s = reached_flops_per_s (sum, precision);
  add_kernel (sum, &sum->parts.products_s,
              fab_tiles_seconds (sum->device, &rates, matmul, fab_precision_operand_bytes (precision),
                                 result_bytes));
}

/* A tensor of `numbers` becomes one of a low precision: read in 16 bits, and written twice, since the product by the
 * weight's gradient multiplies the other way round. NVFP4 reads it a second time for the largest number. */
static void
add_cast (Sum *sum, FabPrecision precision, double numbers)
{
  double reads = precision == FAB_PRECISION_NVFP4 ? 2 : 1;

  if (fab_precision_is_low (precision))
    add_kernel (sum, &sum->parts.memory_bound_s,
                numbers * (2 * reads + 2 * fab_precision_operand_bytes (precision))
                    / sum->rates.memory_bytes_per_s);
}

/* Autocast casts a weight from 4 to 2 bytes once in a forward pass, and its gradient back. */
static void
add_weight_cast (Sum *sum, double parameters)
{
  if (sum->params->has_autocast)
    add_kernel (sum, &sum->parts.memory_bound_s, parameters * 6 / sum->rates.memory_bytes_per_s);
}

static void
add_accumulation (Sum *sum, double parameters)
{
  if (sum->pass->is_accumulating)
    sum->parts.memory_bound_s += parameters * sum->params->accumulation_bytes / sum->rates.memory_bytes_per_s;
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
      add_kernel (sum, &sum->parts.products_s, flops / sum->rates.flops_per_s);
    if (sum->pass->is_backward && fab_pass_has_weight_product (sum->pass, op))
      add_kernel (sum, &sum->parts.products_s, flops / sum->rates.flops_per_s);
    return;
  }
  FabMatmul m = forward_matmul (sum, index);
  if (!sum->pass->is_backward) {
    add_cast (sum, precision, m.rows * m.depth * m.n_copies);
    add_product (sum, precision, &m, result_bytes);
    add_weight_cast (sum, m.columns * m.depth * m.n_copies);
    return;
  }
  FabMatmul by_input = { m.rows, m.depth, m.columns, m.n_copies };
  FabMatmul by_weight = { m.columns, m.depth, m.rows, m.n_copies };
  if (fab_pass_has_input_product (sum->pass)) {
    /* The gradient that arrives. Where the pass for the weights is one of its own, it finds it cast. */
    add_cast (sum, precision, m.rows * m.columns * m.n_copies);
    add_product (sum, precision, &by_input, result_bytes); /* for the gradient of the input */
  }
  if (!fab_pass_has_weight_product (sum->pass, op))
    return;
  add_product (sum, precision, &by_weight, result_bytes); /* for that of the weights */
  add_weight_cast (sum, m.columns * m.depth * m.n_copies);
  add_accumulation (sum, m.columns * m.depth * m.n_copies);
}

/* --- attention --- */

static void
add_plain_attention (Sum *sum, double flops, double bytes)
{
  guint n_kernels = sum->pass->is_backward ? 8 : 4; /* two products, softmax, dropout */
  double seconds = flops / sum->rates.flops_per_s + bytes / sum->rates.memory_bytes_per_s;

  for (guint i = 0; i < n_kernels; i++)
    add_kernel (sum, &sum->parts.attention_s, seconds / 4);
}

/* Traffic of the forward pass for scores that are not kept, where attention is not fused: they are written, read and
 * written by the softmax, and read. Eager software scales and masks them in two kernels more, each of which reads and
 * writes them. A score executes 4 FLOPs for each number of a head. */
static double
score_bytes (const Sum *sum, const FabOperator *op, double flops)
{
  double per_score = sum->params->kernels.is_fused ? 8 : 16;

  return op->k > 0 ? flops / (4.0 * (double) op->k) * per_score : 0;
}

static void
add_attention (Sum *sum, const FabOperator *op)
{
  const FabPricing *p = sum->params;
  double share = fab_pass_tokens (sum->pass, op) / (op->is_split ? sum->pass->n_split : 1);
  double flops = op->flops * share, bytes = activation_bytes (sum, op) * share;
  FabAttention attention = { .forward_flops = flops * (p->is_causal ? 0.5 : 1),
                             .tokens = (double) op->n,
                             .head_width = (double) op->k,
                             .is_causal = p->is_causal,
                             .is_backward = sum->pass->is_backward };

  if (sum->pass->segment->saved_score_bytes > 0) {
    add_plain_attention (sum, flops, bytes);
    return;
  }
  if (p->attention == FAB_ATTENTION_UNFUSED) {
    add_plain_attention (sum, flops, bytes + score_bytes (sum, op, flops));
    return;
  }
  add_kernel (sum, &sum->parts.attention_s,
              fmax (fab_attention_seconds (sum->device, (FabAttentionKernel) p->attention, &attention,
                                           sum->wide_peak_flops_per_s, p->scale_factor),
                    bytes * (sum->pass->is_backward ? 2 : 1) / sum->rates.memory_bytes_per_s));
}

/* --- the pass --- */

/* Matrices that read what a norm of the segment writes. */
static double
norm_readers (const Sum *sum)
{
  const GArray *saved = sum->pass->segment->saved;

  for (guint i = 0; saved != NULL && i < saved->len; i++) {
    const FabSaved *one = &g_array_index (saved, FabSaved, i);

    if (one->kind == FAB_SAVED_NORM && one->is_input)
      return (double) MAX (one->n_readers, 1);
  }
  return 1;
}

/* Under autocast norms read and write 4 bytes, and every matrix that reads one has a cast of its own: 6 B a number,
 * where the shape counts 4 for the norm. The residual stream is in 4 bytes, what is added to it in 2: 10 B for 6, and
 * in the backward pass 12. */
static double
autocast_factor (const Sum *sum, const FabOperator *op, double *casts)
{
  *casts = 0;
  if (!sum->params->has_autocast)
    return 1;
  if (g_str_has_suffix (op->name, "norm")) {
    *casts = norm_readers (sum);
    return 2;
  }
  if (g_str_equal (op->name, "residual"))
    return sum->pass->is_backward ? 2 : 10.0 / 6;
  return g_str_equal (op->name, "lookup") ? 2 : 1;
}

static void
add_memory (Sum *sum, const FabOperator *op)
{
  FabKernels kernels = fab_memory_kernels (op->name, &sum->params->kernels, sum->pass->is_backward);
  double bytes = activation_bytes (sum, op) * fab_pass_tokens (sum->pass, op)
               / (op->is_split ? sum->pass->n_split : 1);

  double casts, factor = autocast_factor (sum, op, &casts);

  sum->parts.memory_bound_s += bytes * kernels.bytes_factor * factor
                             / (sum->rates.memory_bytes_per_s * kernels.rate_factor);
  sum->parts.memory_bound_s += bytes * casts * 6 / 4 / sum->rates.memory_bytes_per_s;
  sum->parts.copies_s += fab_grouped_copied_bytes (&sum->params->grouped, sum->pass, op)
                       / (op->is_split ? sum->pass->n_split : 1) / sum->rates.memory_bytes_per_s;
  sum->n_kernels += kernels.n_kernels + (guint) casts;
}

/* The gaps between kernels, and how far the host is behind them. */
static void
add_host (Sum *sum)
{
  const FabPricing *p = sum->params;
  FabComputeParts *parts = &sum->parts;
  double kernels_s = parts->products_s + parts->attention_s + parts->memory_bound_s + parts->copies_s;
  double issue_s = sum->n_kernels * fab_ps_to_seconds (p->issue_ps)
                 + fab_grouped_host_seconds (&p->grouped, sum->pass);

  parts->launches_s = sum->n_kernels * fab_ps_to_seconds (p->launch_ps);
  parts->host_s = fmax (0, issue_s - kernels_s - parts->launches_s);
  parts->readback_s = fab_grouped_readback_seconds (&p->grouped, sum->pass);
}

FabComputeParts
fab_price_parts (const FabPricing *p, const FabDevice *device, const FabPass *pass)
{
  Sum sum = { .params = p, .device = device, .pass = pass };

  sum.peak_flops_per_s = fab_device_rate (device, pass->precision);
  sum.wide_peak_flops_per_s = fab_precision_is_low (pass->precision)
                                ? fab_device_rate (device, FAB_PRECISION_BF16)
                                : sum.peak_flops_per_s;
  sum.rates.flops_per_s = reached_flops_per_s (&sum, pass->precision);
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
  add_host (&sum);
  return sum.parts;
}

double
fab_price_pass (const FabPricing *pricing, const FabDevice *device, const FabPass *pass)
{
  FabComputeParts parts = fab_price_parts (pricing, device, pass);

  return fab_compute_parts_sum (&parts);
}
