/* SPDX-License-Identifier: Apache-2.0 */
/* blaslt.c - the functions of libcublasLt that Fabricast uses, for the machine of machine.h. It has no algorithm for an
 * FP8 product whose sides are not multiples of 16, as the real one. */
#include <string.h>

#include "tests/fake_gpu/machine.h"
#include "validate/measure/compute/blaslt.h"

enum { INVALID = 7, FAILED = 13 };

struct LtHandleOpaque {
  int alive;
};

struct LtDescOpaque {
  int compute, transposed, plain;
  guint64 scales[2];
};

struct LtLayoutOpaque {
  int type;
  guint64 rows, columns;
};

struct LtPreferenceOpaque {
  gsize workspace_bytes;
};

static gpointer
make (gsize size)
{
  fake_machine ()->n_live++;
  return g_malloc0 (size);
}

static LtStatus
unmake (gpointer thing)
{
  fake_machine ()->n_live--;
  g_free (thing);
  return 0;
}

LtStatus
cublasLtCreate (LtHandle *handle)
{
  if (fake_fails ("blaslt"))
    return 1;
  *handle = make (sizeof **handle);
  return 0;
}

LtStatus
cublasLtDestroy (LtHandle handle)
{
  return unmake (handle);
}

gsize
cublasLtGetVersion (void)
{
  return 130000;
}

LtStatus
cublasLtMatmulDescCreate (LtDesc *desc, int compute_type, int scale_type)
{
  if (scale_type != LT_R_32F)
    return INVALID;
  *desc = make (sizeof **desc);
  (*desc)->compute = compute_type;
  (*desc)->plain = -1;
  return 0;
}

LtStatus
cublasLtMatmulDescDestroy (LtDesc desc)
{
  return unmake (desc);
}

LtStatus
cublasLtMatmulDescSetAttribute (LtDesc desc, int attribute, const void *value, gsize size)
{
  switch (attribute) {
  case LT_DESC_TRANSA:
    memcpy (&desc->transposed, value, sizeof desc->transposed);
    return size == 4 ? 0 : INVALID;
  case LT_DESC_TRANSB: memcpy (&desc->plain, value, sizeof desc->plain); return size == 4 ? 0 : INVALID;
  case LT_DESC_A_SCALE: memcpy (&desc->scales[0], value, sizeof (guint64)); return size == 8 ? 0 : INVALID;
  case LT_DESC_B_SCALE: memcpy (&desc->scales[1], value, sizeof (guint64)); return size == 8 ? 0 : INVALID;
  case LT_DESC_FAST_ACCUM: return size == 1 ? 0 : INVALID;
  default: return INVALID;
  }
}

LtStatus
cublasLtMatrixLayoutCreate (LtLayout *layout, int type, guint64 rows, guint64 columns, gint64 leading)
{
  if ((guint64) leading < rows)
    return INVALID;
  *layout = make (sizeof **layout);
  **layout = (struct LtLayoutOpaque){ type, rows, columns };
  return 0;
}

LtStatus
cublasLtMatrixLayoutDestroy (LtLayout layout)
{
  return unmake (layout);
}

LtStatus
cublasLtMatmulPreferenceCreate (LtPreference *preference)
{
  *preference = make (sizeof **preference);
  return 0;
}

LtStatus
cublasLtMatmulPreferenceDestroy (LtPreference preference)
{
  return unmake (preference);
}

LtStatus
cublasLtMatmulPreferenceSetAttribute (LtPreference preference, int attribute, const void *value, gsize size)
{
  if (attribute != LT_PREF_WORKSPACE_BYTES || size != sizeof preference->workspace_bytes)
    return INVALID;
  memcpy (&preference->workspace_bytes, value, size);
  return 0;
}

/* The first takes twice as long as the second, the third three times; a fourth needs more room than there is. */
LtStatus
cublasLtMatmulAlgoGetHeuristic (LtHandle handle, LtDesc desc, LtLayout a, LtLayout b, LtLayout c, LtLayout d,
                                LtPreference preference, int n_wanted, LtHeuristic results[], int *n_found)
{
  static const guint64 slow[] = { 2, 1, 3, 1 };

  *n_found = 0;
  if (!handle || c != d || !desc->transposed || desc->plain != LT_OP_N || a->rows != b->rows
      || c->rows != a->columns || c->columns != b->columns)
    return INVALID;
  if (a->type == LT_R_8F_E4M3 && (a->rows % 16 || a->columns % 16 || b->columns % 16))
    return LT_NOT_SUPPORTED;
  if (a->type == LT_R_8F_E4M3 && (!desc->scales[0] || !desc->scales[1]))
    return INVALID;
  for (; *n_found < MIN (n_wanted, 4); ++*n_found)
    results[*n_found] = (LtHeuristic){ .algorithm.data = { slow[*n_found] },
                                       .workspace_bytes = *n_found == 3 ? preference->workspace_bytes + 1
                                                                        : 0 };
  return 0;
}

LtStatus
cublasLtMatmul (LtHandle handle, LtDesc desc, const void *alpha, const void *a, LtLayout a_layout,
                const void *b, LtLayout b_layout, const void *beta, const void *c, LtLayout c_layout, void *d,
                LtLayout d_layout, const LtAlgorithm *algorithm, void *workspace, gsize workspace_bytes,
                CuStream stream)
{
  double flops = 2.0 * (double) a_layout->columns * (double) b_layout->columns * (double) a_layout->rows;
  double per_ns = a_layout->type == LT_R_8F_E4M3            ? 200e3
                : desc->compute == LT_COMPUTE_32F_FAST_TF32 ? 50e3
                                                            : 100e3;
  gsize width = a_layout->type == LT_R_8F_E4M3 ? 1 : a_layout->type == LT_R_32F ? 4 : 2;
  float one, zero;

  memcpy (&one, alpha, sizeof one);
  memcpy (&zero, beta, sizeof zero);
  if (fake_fails ("product"))
    return FAILED;
  if (!handle || one < 1 || one > 1 || zero < 0 || zero > 0 || c != d || c_layout != d_layout
      || !fake_block_find (a, a_layout->rows * a_layout->columns * width)
      || !fake_block_find (b, b_layout->rows * b_layout->columns * width)
      || !fake_block_find (d, c_layout->rows * c_layout->columns * (width == 4 ? 4 : 2))
      || !fake_block_find (workspace, workspace_bytes))
    return INVALID;
  fake_queue_kernel (fake_stream (stream), 4000 + flops / per_ns * (double) algorithm->data[0]);
  return 0;
}
