/* SPDX-License-Identifier: Apache-2.0 */
/* attention.c - time of fused attention from its shape.
 *
 *   time  = FLOPs x (1 + diagonal / tokens) / rate + tail x longest / rate of one SM + 3 us
 *   rate  = peak x share, x narrow where a head has fewer than 128 numbers
 *
 * A block of 128 queries goes over all keys that it may attend to. A causal kernel computes whole tiles along the
 * diagonal, and the softmax and the reading of a tile are not hidden where there are few: the diagonal term. Blocks
 * take unevenly long, so the last ones run alone: the tail is a part of the longest block, which sees all tokens.
 * Heads of 64 do half the products for as many exponentials. A backward pass executes 2.5 times the FLOPs of a
 * forward pass: five products for two, the scores being computed again.
 *
 * The four constants of a kernel on an architecture are fitted to measured kernels (validate/measured/kernels,
 * `fabricast validate kernels`) on a part of the shapes and judged on the others. No run of a model had a part in them.
 * Tables of short runs are taken as they are: no kernel of attention was measured in short and in long runs.
 */
#include "models/compute/roofline/attention.h"

#include <math.h>

static const double kernel_s = 3e-6, block_queries = 128, wide_head = 128;

/* Ratios that the kernel's paper gives, where no table was found. */
#define FLASH1_FORWARD \
  (0.50 / 0.73) /* FlashAttention-2, arXiv 2307.08691: "30 to 50 %" beside "50 to 73 %" */
#define FLASH1_BACKWARD (0.35 / 0.63)
#define FLASH2_BACKWARD (0.63 / 0.73) /* the same: the best on an A100 */
#define FLASH3_BACKWARD (542.0 / 638) /* FlashAttention-3, arXiv 2407.08608: heads of 128, 4096 tokens */

/* Of kernels that others are inferred from. */
#define HOPPER_CUDNN 0.651
#define HOPPER_CUDNN_BACKWARD 0.593
#define HOPPER_FLASH2 0.389
#define HOPPER_FLASH2_BACKWARD 0.338
#define AMPERE_FLASH2 0.594
#define BLACKWELL_CUDNN 0.637
#define HOPPER_FLASH3 0.747
#define ADA_FLASH2 0.580
#define ADA_NARROW 0.84
/* flash2 uses the instructions of Ampere on Hopper and on Blackwell, whose multiprocessors have twice the peak a
 * clock. */
#define BLACKWELL_FLASH2 0.5

/* The first row that fits. Those that name a table are fitted by validate/kernels/fit.py. A backward pass that was not
 * measured has the forward pass's share times a ratio above, and the other constants of the nearest kernel that was
 * measured: cuDNN's on Hopper for flash3, the forward pass's on Blackwell, else flash2's on Hopper. The table of
 * Ampere has no narrow heads; Ada's factor stands for it. */
static const FabAttentionConstants rows[] = {
  { FAB_ATTENTION_CUDNN,
    "hopper",
    { HOPPER_CUDNN, 435, 0.46, 0.74, "h100_attention" },
    { HOPPER_CUDNN_BACKWARD, 1132, 0.40, 0.80, "h100_attention" } },
  { FAB_ATTENTION_CUDNN,
    "blackwell",
    { BLACKWELL_CUDNN, 2303, 1.77, 0.62, "aic_b200_trtllm_attention" },
    { BLACKWELL_CUDNN * HOPPER_CUDNN_BACKWARD / HOPPER_CUDNN, 2303, 1.77, 0.62, NULL } },
  { FAB_ATTENTION_FLASH3,
    "hopper",
    { HOPPER_FLASH3, 1285, 0.52, 0.76, "aic_h100_flash3_attention" },
    { HOPPER_FLASH3 * FLASH3_BACKWARD, 1132, 0.40, 0.80, NULL } },
  { FAB_ATTENTION_FLASH1,
    "hopper",
    { HOPPER_FLASH2 * FLASH1_FORWARD, 538, 1.06, 0.88, NULL },
    { HOPPER_FLASH2_BACKWARD * FLASH1_BACKWARD, 1017, 0.61, 0.87, NULL } },
  { FAB_ATTENTION_FLASH1,
    NULL,
    { AMPERE_FLASH2 * FLASH1_FORWARD, 389, 0.49, ADA_NARROW, NULL },
    { AMPERE_FLASH2 * FLASH2_BACKWARD * FLASH1_BACKWARD, 1017, 0.61, ADA_NARROW, NULL } },
  { FAB_ATTENTION_FLASH2,
    "hopper",
    { HOPPER_FLASH2, 538, 1.06, 0.88, "h100_attention" },
    { HOPPER_FLASH2_BACKWARD, 1017, 0.61, 0.87, "h100_attention" } },
  { FAB_ATTENTION_FLASH2,
    "blackwell",
    { HOPPER_FLASH2 * BLACKWELL_FLASH2, 538, 1.06, 0.88, NULL },
    { HOPPER_FLASH2_BACKWARD * BLACKWELL_FLASH2, 1017, 0.61, 0.87, NULL } },
  { FAB_ATTENTION_FLASH2,
    "ampere",
    { AMPERE_FLASH2, 389, 0.49, ADA_NARROW, "aic_a100_flash2_attention" },
    { AMPERE_FLASH2 * FLASH2_BACKWARD, 1017, 0.61, ADA_NARROW, NULL } },
  { FAB_ATTENTION_FLASH2,
    "ada",
    { ADA_FLASH2, 695, 0.00, ADA_NARROW, "aic_l40s_flash2_attention" },
    { ADA_FLASH2 * FLASH2_BACKWARD, 1017, 0.61, ADA_NARROW, NULL } },
  { FAB_ATTENTION_FLASH2,
    NULL, /* as on Hopper: assumed */
    { HOPPER_FLASH2, 538, 1.06, 0.88, NULL },
    { HOPPER_FLASH2_BACKWARD, 1017, 0.61, 0.87, NULL } },
};

const FabAttentionConstants *
fab_attention_constants (guint *n)
{
  *n = G_N_ELEMENTS (rows);
  return rows;
}

/* A kernel that is not there falls back to FlashAttention-2, as the libraries do. */
static const FabAttentionConstants *
row_of (FabAttentionKernel kernel, const char *architecture)
{
  for (guint i = 0; i + 1 < G_N_ELEMENTS (rows); i++) {
    gboolean is_kernel = rows[i].kernel == kernel || rows[i].kernel == FAB_ATTENTION_FLASH2;

    if (is_kernel && (rows[i].architecture == NULL || g_strcmp0 (rows[i].architecture, architecture) == 0))
      return &rows[i];
  }
  return &rows[G_N_ELEMENTS (rows) - 1];
}

double
fab_attention_seconds (const FabDevice *device, FabAttentionKernel kernel, const FabAttention *attention,
                       double peak_flops_per_s, double scale_factor)
{
  const FabAttentionConstants *row = row_of (kernel, device->architecture);
  const FabAttentionRates *rates = attention->is_backward ? &row->backward : &row->forward;
  gboolean is_narrow = attention->head_width > 0 && attention->head_width < wide_head;
  double products = attention->is_backward ? 2.5 : 1;
  double rate = peak_flops_per_s * fmin (1, rates->share * (is_narrow ? rates->narrow : 1) * scale_factor);
  double longest = 4 * products * block_queries * attention->tokens * attention->head_width;
  double diagonal = attention->tokens > 0 && attention->is_causal ? rates->diagonal_tokens / attention->tokens
                                                                  : 0;

  return products * attention->forward_flops * (1 + diagonal) / rate
       + rates->tail * longest * device->n_sms / rate + kernel_s;
}
