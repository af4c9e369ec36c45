/* SPDX-License-Identifier: Apache-2.0 */
/* memory_bound.c - kernels per operator, the bytes that they move and how fast.
 *
 * Bytes are counted kernel by kernel, in numbers of 2 bytes per number of the operator's result, w: an elementwise
 * kernel reads its operands and writes its result. The shape's own count of an operator is that of one fused forward
 * kernel, and factors here are beside it: 2 w for norm, activation, rotary and lookup; 3 w for residual and gated
 * activation; 4 V of a vocabulary V for the loss.
 *
 *   layer norm, eager    forward 2 w; backward reads dy and x for dx (3 w), and again for weight and bias (2 w)
 *   RMS norm, eager      written in Python: cast, square, mean, product, cast, product by the weight: 8 kernels. From
 *                        PyTorch 2.9 one kernel (pytorch/pytorch#153666), as a layer norm
 *   rotary, eager        4 products on halves (6 w), a difference and a sum (3 w), concatenation (2 w); backward also
 *                        fills and adds whole gradients for the halves
 *   SwiGLU, eager        SiLU (2 w) and product (3 w); backward two products (6 w) and SiLU (3 w). Fused: 3 w, 5 w
 *   GELU                 2 w; backward 3 w
 *   residual             3 w; backward the two gradients are added: 3 w. Fused: the next kernel adds them
 *   routing, eager       softmax or sigmoid, top k, scatters and sums of the loss are kernels of their own: about ten,
 *                        of three times the bytes. Fused (moe_router_fusion): scores and top k, the loss, the counts
 *   dispatch, combine    fused (moe_permute_fusion): one kernel in either direction
 *   loss, as the logits  log-softmax 2 V; backward 3 V. In FP32: a cast (3 V) and 4 V; backward 6 V and 3 V. Fused: the
 *                        logits are read twice and a gradient is written
 *
 * Rates beside a plain elementwise kernel's are in the header. Kernels on every second number were not measured alone;
 * they are taken to be as fast as norms. A dropout and the addition after it are one kernel of its rate and a plain
 * one.
 */
#include "models/compute/roofline/memory_bound.h"

#define NORM_RATE FAB_NORM_RATE_FACTOR
#define SOFTMAX_RATE FAB_SOFTMAX_RATE_FACTOR
#define STRIDED_RATE FAB_NORM_RATE_FACTOR
#define DROPOUT_RATE (2 / (1 / FAB_DROPOUT_RATE_FACTOR + 1))

typedef struct {
  const char *name;
  FabKernels forward, backward;
} Row;

static const Row eager[] = {
  { "norm", { 1, 1, NORM_RATE }, { 2, 2.5, NORM_RATE } },
  { "rms_norm", { 8, 8, 1 }, { 12, 14, 1 } },
  { "qk_norm", { 8, 8, 1 }, { 12, 14, 1 } },
  { "rotary", { 7, 5.5, STRIDED_RATE }, { 12, 9, STRIDED_RATE } },
  { "activation", { 1, 1, 1 }, { 1, 1.5, 1 } },
  { "gated_activation", { 2, 5.0 / 3, 1 }, { 3, 3, 1 } },
  { "residual", { 1, 1, 1 }, { 1, 1, 1 } },
  { "dropout_residual", { 2, 2, DROPOUT_RATE }, { 2, 2, DROPOUT_RATE } },
  { "lookup", { 1, 1, 1 }, { 3, 2, NORM_RATE } },
  { "routing", { 10, 3, 1 }, { 10, 3, 1 } },
};
static const Row fused[] = {
  { "routing", { 3, 1, 1 }, { 2, 1, 1 } },
  { "dispatch", { 1, 1, 1 }, { 1, 1, 1 } },
  { "combine", { 1, 1, 1 }, { 1, 1, 1 } },
  { "expert_bias", { 3, 1, 1 }, { 3, 1, 1 } },
  { "norm", { 1, 1, NORM_RATE }, { 1, 1.75, NORM_RATE } },
  { "rms_norm", { 1, 1, NORM_RATE }, { 1, 1.75, NORM_RATE } },
  { "qk_norm", { 1, 1, NORM_RATE }, { 1, 1.75, NORM_RATE } },
  { "gated_activation", { 1, 1, 1 }, { 1, 5.0 / 3, 1 } },
  { "activation", { 1, 1, 1 }, { 1, 1.5, 1 } },
  { "residual", { 1, 1, 1 }, { 1, 0.5, 1 } },
};
static const Row usual_eager = { NULL,
                                 { 2, 2, 1 },
                                 { 2, 4, 1 } }; /* a result is written and read between two */
static const Row usual_fused = { NULL, { 1, 1, 1 }, { 1, 2, 1 } };
static const Row one_norm = { "rms_norm", { 1, 1, NORM_RATE }, { 2, 2.5, NORM_RATE } };
static const Row loss_as_logits = { "loss", { 2, 0.5, SOFTMAX_RATE }, { 2, 0.75, SOFTMAX_RATE } };
static const Row loss_fp32 = { "loss", { 3, 14.0 / 8, 0.75 }, { 3, 18.0 / 8, 0.75 } };
static const Row loss_fused = { "loss", { 1, 0.5, 1 }, { 1, 0.5, 1 } };

static const Row *
find (const Row *rows, guint n, const char *name, const Row *other)
{
  for (guint i = 0; i < n; i++)
    if (g_strcmp0 (rows[i].name, name) == 0)
      return &rows[i];
  return other;
}

static const Row *
loss_row (FabLoss loss)
{
  switch (loss) {
  case FAB_LOSS_LOGITS: return &loss_as_logits;
  case FAB_LOSS_FP32: return &loss_fp32;
  case FAB_LOSS_FUSED: return &loss_fused;
  }
  g_assert_not_reached ();
}

static const Row *
row_of (const char *name, const FabKernelChoice *choice)
{
  if (g_strcmp0 (name, "loss") == 0)
    return loss_row (choice->loss);
  if (choice->is_fused)
    return find (fused, G_N_ELEMENTS (fused), name, &usual_fused);
  if (choice->has_fused_norm && (g_strcmp0 (name, "rms_norm") == 0 || g_strcmp0 (name, "qk_norm") == 0))
    return &one_norm;
  return find (eager, G_N_ELEMENTS (eager), name, &usual_eager);
}

FabKernels
fab_memory_kernels (const char *operator_name, const FabKernelChoice *choice, gboolean is_backward)
{
  const Row *row = row_of (operator_name, choice);

  return is_backward ? row->backward : row->forward;
}
