/* SPDX-License-Identifier: Apache-2.0 */
/* blaslt.c - loads cuBLASLt at run time, describes products to it and queues them. */
#include "validate/measure/compute/blaslt.h"

#include "validate/measure/cuda/symbols.h"

static const FabSymbol symbols[] = {
  { "cublasLtCreate", G_STRUCT_OFFSET (FabBlaslt, create), FALSE },
  { "cublasLtDestroy", G_STRUCT_OFFSET (FabBlaslt, destroy), FALSE },
  { "cublasLtGetVersion", G_STRUCT_OFFSET (FabBlaslt, version), FALSE },
  { "cublasLtMatmulDescCreate", G_STRUCT_OFFSET (FabBlaslt, desc_create), FALSE },
  { "cublasLtMatmulDescDestroy", G_STRUCT_OFFSET (FabBlaslt, desc_destroy), FALSE },
  { "cublasLtMatmulDescSetAttribute", G_STRUCT_OFFSET (FabBlaslt, desc_set), FALSE },
  { "cublasLtMatrixLayoutCreate", G_STRUCT_OFFSET (FabBlaslt, layout_create), FALSE },
  { "cublasLtMatrixLayoutDestroy", G_STRUCT_OFFSET (FabBlaslt, layout_destroy), FALSE },
  { "cublasLtMatmulPreferenceCreate", G_STRUCT_OFFSET (FabBlaslt, preference_create), FALSE },
  { "cublasLtMatmulPreferenceDestroy", G_STRUCT_OFFSET (FabBlaslt, preference_destroy), FALSE },
  { "cublasLtMatmulPreferenceSetAttribute", G_STRUCT_OFFSET (FabBlaslt, preference_set), FALSE },
  { "cublasLtMatmulAlgoGetHeuristic", G_STRUCT_OFFSET (FabBlaslt, heuristic), FALSE },
  { "cublasLtMatmul", G_STRUCT_OFFSET (FabBlaslt, matmul), FALSE },
};

static const struct {
  int operand, result, compute;
  guint operand_bytes, result_bytes;
} types[FAB_N_LT] = {
  [FAB_LT_BF16] = { LT_R_16BF, LT_R_16BF, LT_COMPUTE_32F, 2, 2 },
  [FAB_LT_FP16] = { LT_R_16F, LT_R_16F, LT_COMPUTE_32F, 2, 2 },
  [FAB_LT_TF32] = { LT_R_32F, LT_R_32F, LT_COMPUTE_32F_FAST_TF32, 4, 4 },
  [FAB_LT_FP8] = { LT_R_8F_E4M3, LT_R_16BF, LT_COMPUTE_32F, 1, 2 },
};

const char *const fab_lt_names[FAB_N_LT + 1] = { "bf16", "fp16", "tf32", "fp8", NULL };

guint
fab_lt_operand_bytes (FabLtPrecision precision)
{
  return types[precision].operand_bytes;
}

guint
fab_lt_result_bytes (FabLtPrecision precision)
{
  return types[precision].result_bytes;
}

static gboolean
lt_check (LtStatus status, const char *doing, GError **error)
{
  return status == 0
      || fab_throw (error, FAB_ERROR_UNSUPPORTED, "cuBLASLt cannot %s: it returned status %d", doing, status);
}

/* The library that the environment names, or the newest one that the system has. */
static gpointer
open_library (void)
{
  static const char *const names[] = { "libcublasLt.so.13", "libcublasLt.so.12", "libcublasLt.so.11" };
  gpointer library = NULL;

  for (guint i = 0; !library && i < G_N_ELEMENTS (names); i++)
    library = fab_symbols_open (fab_symbols_library ("FABRICAST_CUBLASLT", names[i]));
  return library;
}

FabBlaslt *
fab_blaslt_open (GError **error)
{
  g_autoptr (FabBlaslt) self = g_new0 (FabBlaslt, 1);
  const char *missing;

  self->library = open_library ();
  if (!self->library) {
    fab_throw (
        error, FAB_ERROR_UNSUPPORTED,
        "cuBLASLt (libcublasLt.so.13, .12 or .11) was not found; install NVIDIA's cuBLAS, or let FABRICAST_CUBLASLT "
        "name the file, such as that of a Python package");
    return NULL;
  }
  missing = fab_symbols_fill (self->library, self, symbols, G_N_ELEMENTS (symbols));
  if (missing) {
    fab_throw (error, FAB_ERROR_UNSUPPORTED,
               "cuBLASLt has no function %s: it is too old, one of CUDA 11.8 or newer would do", missing);
    return NULL;
  }
  return lt_check (self->create (&self->handle), "start", error) ? g_steal_pointer (&self) : NULL;
}

void
fab_blaslt_close (FabBlaslt *self)
{
  if (!self)
    return;
  if (self->handle)
    self->destroy (self->handle);
  fab_symbols_close (self->library);
  g_free (self);
}

/* cuBLAS counts columns first, so that the rows of C are its columns: C^T[n, m] = B[k, n]^T A[k, m]. FP8 allows only
 * this form. */
static gboolean
describe (FabProduct *self, FabLtPrecision precision, GError **error)
{
  const FabBlaslt *lt = self->lt;
  const FabProductShape *shape = &self->shape;
  const int transposed = LT_OP_T, plain = LT_OP_N;
  const gint8 is_fast = 1;

  if (!lt_check (lt->desc_create (&self->desc, types[precision].compute, LT_R_32F), "describe a product",
                 error)
      || !lt_check (lt->desc_set (self->desc, LT_DESC_TRANSA, &transposed, sizeof transposed),
                    "transpose a matrix", error)
      || !lt_check (lt->desc_set (self->desc, LT_DESC_TRANSB, &plain, sizeof plain), "keep a matrix", error))
    return FALSE;
  if (precision == FAB_LT_FP8
      && (!lt_check (lt->desc_set (self->desc, LT_DESC_A_SCALE, &self->scale, sizeof self->scale),
                     "scale FP8", error)
          || !lt_check (lt->desc_set (self->desc, LT_DESC_B_SCALE, &self->scale, sizeof self->scale),
                        "scale FP8", error)
          || !lt_check (lt->desc_set (self->desc, LT_DESC_FAST_ACCUM, &is_fast, sizeof is_fast),
                        "sum FP8 fast", error)))
    return FALSE;
  return lt_check (lt->layout_create (&self->b, types[precision].operand, shape->k, shape->n,
                                      (gint64) shape->k),
                   "describe a matrix", error)
      && lt_check (lt->layout_create (&self->a, types[precision].operand, shape->k, shape->m,
                                      (gint64) shape->k),
                   "describe a matrix", error)
      && lt_check (lt->layout_create (&self->c, types[precision].result, shape->n, shape->m,
                                      (gint64) shape->n),
                   "describe a matrix", error);
}

static gboolean
find_algorithms (FabProduct *self, GError **error)
{
  const FabBlaslt *lt = self->lt;
  LtPreference preference = NULL;
  LtStatus status;
  int n_found = 0;

  if (!lt_check (lt->preference_create (&preference), "choose an algorithm", error))
    return FALSE;
  status = lt->preference_set (preference, LT_PREF_WORKSPACE_BYTES, &self->workspace_bytes,
                               sizeof self->workspace_bytes);
  if (status == 0)
    status = lt->heuristic (lt->handle, self->desc, self->b, self->a, self->c, self->c, preference,
                            G_N_ELEMENTS (self->found), self->found, &n_found);
  lt->preference_destroy (preference);
  self->n_found = 0;
  for (int i = 0; status == 0 && i < n_found; i++)
    if (self->found[i].status == 0 && self->found[i].workspace_bytes <= self->workspace_bytes)
      self->found[self->n_found++] = self->found[i];
  return status == LT_NOT_SUPPORTED || lt_check (status, "choose an algorithm", error);
}

gboolean
fab_product_open (FabProduct *self, const FabBlaslt *lt, FabLtPrecision precision,
                  const FabProductShape *shape, gsize workspace_bytes, CuPointer scale, GError **error)
{
  *self = (FabProduct){ .lt = lt, .shape = *shape, .workspace_bytes = workspace_bytes, .scale = scale };
  return describe (self, precision, error) && find_algorithms (self, error);
}

void
fab_product_clear (FabProduct *self)
{
  LtLayout layouts[] = { self->a, self->b, self->c };

  for (guint i = 0; i < G_N_ELEMENTS (layouts); i++)
    if (layouts[i])
      self->lt->layout_destroy (layouts[i]);
  if (self->desc)
    self->lt->desc_destroy (self->desc);
  *self = (FabProduct){ .lt = self->lt };
}

static void *
device (CuPointer pointer)
{
  return (void *) (gsize) pointer;
}

gboolean
fab_product_queue (const FabProduct *self, CuStream stream, GError **error)
{
  const float one = 1, zero = 0;

  return lt_check (self->lt->matmul (self->lt->handle, self->desc, &one, device (self->b_at), self->b,
                                     device (self->a_at), self->a, &zero, device (self->c_at), self->c,
                                     device (self->c_at), self->c, &self->found[self->chosen].algorithm,
                                     device (self->workspace), self->workspace_bytes, stream),
                   "multiply", error);
}
