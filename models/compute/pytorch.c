/* SPDX-License-Identifier: Apache-2.0 */
/* pytorch.c - what a release of PyTorch runs.
 *
 * Dates are those of the releases on github.com/pytorch/pytorch. What changed:
 *
 *   2.0   scaled_dot_product_attention, with FlashAttention 1 (release notes of 2.0)
 *   2.1   checkpoints that are not re-entrant stop early (pytorch/pytorch#96866; recompute.h)
 *   2.2   FlashAttention 2 (release notes of 2.2)
 *   2.5   cuDNN's attention by default on Hopper, taken back in 2.5.1 (pytorch/pytorch#138522): nearly nobody ran 2.5.0
 *   2.9   cuDNN's attention by default on Hopper and Blackwell (pytorch/pytorch#162073); an RMS norm is one kernel
 *         (pytorch/pytorch#153666)
 *   2.10  cuDNN's attention only with cuDNN 9.15 or later, which its builds do not have (check_prefer_cudnn_attention)
 *   2.11  its builds have it: one H100 was seen to run cuDNN's kernels (validate/measured/kernels)
 *
 * Builds for Volta and older ended with 2.7 (CUDA 12.8 builds leave them out). FlashAttention does not run on them:
 * what remains keeps the scores.
 */
#include "models/models.h"

#include <stdio.h>
#include <string.h>

typedef struct {
  guint release;
  guint month; /* year x 100 + month in which it came out */
} Release;

static const Release releases[] = {
  { FAB_PYTORCH (1, 8), 202103 },  { FAB_PYTORCH (1, 9), 202106 },  { FAB_PYTORCH (1, 10), 202110 },
  { FAB_PYTORCH (1, 11), 202203 }, { FAB_PYTORCH (1, 12), 202206 }, { FAB_PYTORCH (1, 13), 202210 },
  { FAB_PYTORCH (2, 0), 202303 },  { FAB_PYTORCH (2, 1), 202310 },  { FAB_PYTORCH (2, 2), 202401 },
  { FAB_PYTORCH (2, 3), 202404 },  { FAB_PYTORCH (2, 4), 202407 },  { FAB_PYTORCH (2, 5), 202410 },
  { FAB_PYTORCH (2, 6), 202501 },  { FAB_PYTORCH (2, 7), 202504 },  { FAB_PYTORCH (2, 8), 202508 },
  { FAB_PYTORCH (2, 9), 202510 },  { FAB_PYTORCH (2, 10), 202601 }, { FAB_PYTORCH (2, 11), 202603 },
};

static guint
release_of_month (guint month)
{
  guint found = releases[0].release;

  for (guint i = 0; i < G_N_ELEMENTS (releases); i++)
    if (releases[i].month <= month)
      found = releases[i].release;
  return found;
}

guint
fab_pytorch_release (const char *text)
{
  guint first, second;
  char rest;

  if (sscanf (text, "%4u-%2u%c", &first, &second, &rest) == 2 && second >= 1 && second <= 12)
    return release_of_month (first * 100 + second);
  if (sscanf (text, "%2u.%2u%c", &first, &second, &rest) != 2)
    return 0;
  for (guint i = 0; i < G_N_ELEMENTS (releases); i++)
    if (releases[i].release == FAB_PYTORCH (first, second))
      return releases[i].release;
  return 0;
}

char *
fab_pytorch_name (guint release)
{
  return g_strdup_printf ("%u.%u", release / 100, release % 100);
}

static gboolean
is_one_of (const char *architecture, const char *const *names)
{
  return architecture != NULL && g_strv_contains (names, architecture);
}

static gboolean
is_before_ampere (const char *architecture)
{
  static const char *const names[] = { "pascal", "volta", "turing", NULL };

  return is_one_of (architecture, names);
}

guint
fab_pytorch_usual (const char *architecture)
{
  static const char *const ended[] = { "pascal", "volta", NULL };

  return is_one_of (architecture, ended) ? FAB_PYTORCH (2, 7) : releases[G_N_ELEMENTS (releases) - 1].release;
}

static gboolean
prefers_cudnn (guint release, const char *architecture)
{
  static const char *const names[] = { "hopper", "blackwell", NULL };

  return is_one_of (architecture, names) && (release == FAB_PYTORCH (2, 9) || release >= FAB_PYTORCH (2, 11));
}

FabAttentionKernel
fab_pytorch_attention (guint release, const char *architecture)
{
  if (release < FAB_PYTORCH (2, 0) || is_before_ampere (architecture))
    return FAB_ATTENTION_UNFUSED;
  if (prefers_cudnn (release, architecture))
    return FAB_ATTENTION_CUDNN;
  return release < FAB_PYTORCH (2, 2) ? FAB_ATTENTION_FLASH1 : FAB_ATTENTION_FLASH2;
}

gboolean
fab_pytorch_has_fused_norm (guint release)
{
  return release >= FAB_PYTORCH (2, 9);
}
