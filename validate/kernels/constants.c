/* SPDX-License-Identifier: Apache-2.0 */
/* constants.c - the constants as the models hold them. */
#include "validate/kernels/constants.h"

#include "models/compute/roofline/attention.h"
#include "models/compute/roofline/memory_bound.h"
#include "models/compute/roofline/tiles.h"
#include "validate/kernels/predict.h"

static const char *const kernel_names[] = { [FAB_ATTENTION_FLASH1] = "flash1",
                                            [FAB_ATTENTION_FLASH2] = "flash2",
                                            [FAB_ATTENTION_FLASH3] = "flash3",
                                            [FAB_ATTENTION_CUDNN] = "cudnn" };

/* --- Markdown --- */

static const char *
origin (const char *fitted_to)
{
  return fitted_to ? fitted_to : "not fitted: inferred (see the source)";
}

static void
append_products (GString *out)
{
  guint n;
  const FabTilesConstants *c = fab_tiles_constants (&n);

  g_string_append (
      out,
      "\n## Constants of products\n\n"
      "`models/compute/roofline/tiles.c` says how they enter the time. The share is of the accelerator's\n"
      "best product. Of a table of short runs it is of the best product of that table, which is faster than\n"
      "a long run.\n\n"
      "| architecture | share | overhead of a tile | start of a kernel | multiply-adds per number | not hidden | "
      "FP8, of 16 bits | fitted to |\n|---|---:|---:|---:|---:|---:|---:|---|\n");
  for (guint i = 0; i < n; i++)
    g_string_append_printf (out, "| %s | %.3f | %.2f us | %.2f us | %.1f | %.1f MB | %.3f | %s |\n",
                            c[i].architecture ? c[i].architecture : "others", c[i].best_share,
                            c[i].tile_s * 1e6, c[i].kernel_s * 1e6, c[i].needed, c[i].fill_bytes * 1e-6,
                            c[i].fp8_share, origin (c[i].fitted_to));
  g_string_append (
      out, "\nFP8's share is fitted to the FP8 rows of h100_gemm on Hopper, and assumed elsewhere.\n");
}

static void
append_pass (GString *out, const FabAttentionConstants *c, const FabAttentionRates *rates, const char *pass)
{
  g_string_append_printf (out, "| %s | %s | %s | %.3f | %.0f | %.2f | %.2f | %s |\n", kernel_names[c->kernel],
                          c->architecture ? c->architecture : "others", pass, rates->share,
                          rates->diagonal_tokens, rates->tail, rates->narrow, origin (rates->fitted_to));
}

static void
append_attention (GString *out)
{
  guint n;
  const FabAttentionConstants *c = fab_attention_constants (&n);

  g_string_append (
      out,
      "\n## Constants of attention\n\n"
      "`models/compute/roofline/attention.c` says how they enter the time. The share is of the peak in 16\n"
      "bits, the diagonal in tokens, the tail in longest blocks.\n\n"
      "| kernel | architecture | pass | share | diagonal | tail | narrow heads | fitted to |\n"
      "|---|---|---|---:|---:|---:|---:|---|\n");
  for (guint i = 0; i < n; i++) {
    append_pass (out, &c[i], &c[i].forward, "forward");
    append_pass (out, &c[i], &c[i].backward, "backward");
  }
}

static const struct {
  const char *name;
  double factor;
} memory_rates[] = { { "norm", FAB_NORM_RATE_FACTOR },
                     { "dropout", FAB_DROPOUT_RATE_FACTOR },
                     { "log-softmax", FAB_SOFTMAX_RATE_FACTOR },
                     { "fused AdamW", FAB_OPTIMIZER_RATE_FACTOR } };

static void
append_memory (GString *out)
{
  g_string_append_printf (
      out,
      "\n## Constants of memory-bound kernels\n\n"
      "A plain elementwise kernel is assumed to reach %.0f %% of the memory's rate. Others, beside it:\n\n"
      "| kernel | rate | fitted to |\n|---|---:|---|\n",
      FAB_KERNEL_MEMORY_FRACTION * 100);
  for (guint i = 0; i < G_N_ELEMENTS (memory_rates); i++)
    g_string_append_printf (out, "| %s | %.2f | h100_memory_bound |\n", memory_rates[i].name,
                            memory_rates[i].factor);
}

void
fab_kernel_constants_append (GString *out)
{
  append_products (out);
  append_attention (out);
  append_memory (out);
}

/* --- JSON --- */

static void
add_product (FabJson *json, const FabTilesConstants *c)
{
  fab_json_begin_object (json, NULL);
  fab_json_add_text (json, "architecture", c->architecture);
  fab_json_add_real (json, "best_share", c->best_share);
  fab_json_add_real (json, "tile_s", c->tile_s);
  fab_json_add_real (json, "kernel_s", c->kernel_s);
  fab_json_add_real (json, "needed", c->needed);
  fab_json_add_real (json, "fill_bytes", c->fill_bytes);
  fab_json_add_real (json, "fp8_share", c->fp8_share);
  fab_json_add_flag (json, "is_shared", c->is_shared);
  fab_json_add_text (json, "fitted_to", c->fitted_to);
  fab_json_end (json);
}

static void
add_pass (FabJson *json, const FabAttentionConstants *c, const FabAttentionRates *rates, const char *pass)
{
  fab_json_begin_object (json, NULL);
  fab_json_add_text (json, "kernel", kernel_names[c->kernel]);
  fab_json_add_text (json, "architecture", c->architecture);
  fab_json_add_text (json, "pass", pass);
  fab_json_add_real (json, "share", rates->share);
  fab_json_add_real (json, "diagonal_tokens", rates->diagonal_tokens);
  fab_json_add_real (json, "tail", rates->tail);
  fab_json_add_real (json, "narrow", rates->narrow);
  fab_json_add_text (json, "fitted_to", rates->fitted_to);
  fab_json_end (json);
}

void
fab_kernel_constants_add_json (FabJson *json)
{
  guint n_products, n_kernels;
  const FabTilesConstants *products = fab_tiles_constants (&n_products);
  const FabAttentionConstants *kernels = fab_attention_constants (&n_kernels);

  fab_json_begin_object (json, "constants");
  fab_json_add_real (json, "memory_fraction", FAB_KERNEL_MEMORY_FRACTION);
  fab_json_begin_object (json, "memory_rates");
  for (guint i = 0; i < G_N_ELEMENTS (memory_rates); i++)
    fab_json_add_real (json, memory_rates[i].name, memory_rates[i].factor);
  fab_json_end (json);
  fab_json_begin_array (json, "products");
  for (guint i = 0; i < n_products; i++)
    add_product (json, &products[i]);
  fab_json_end (json);
  fab_json_begin_array (json, "attention");
  for (guint i = 0; i < n_kernels; i++) {
    add_pass (json, &kernels[i], &kernels[i].forward, "forward");
    add_pass (json, &kernels[i], &kernels[i].backward, "backward");
  }
  fab_json_end (json);
  fab_json_end (json);
}
