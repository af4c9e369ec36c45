/* SPDX-License-Identifier: Apache-2.0 */
/* blaslt.h - cuBLASLt as it is found at run time: own declarations of the functions that are used.
 *
 * Names and numbers are those of NVIDIA's cublasLt.h, cublas_api.h and library_types.h of CUDA 11.8 to 13.0, which keep
 * them. Environment FABRICAST_CUBLASLT names another library than libcublasLt.so.13, .12 or .11 (tests do).
 */
#pragma once

#include "validate/measure/cuda/gpus.h"

typedef int LtStatus; /* 0: success */
typedef struct LtHandleOpaque *LtHandle;
typedef struct LtDescOpaque *LtDesc;
typedef struct LtLayoutOpaque *LtLayout;
typedef struct LtPreferenceOpaque *LtPreference;

typedef struct {
  guint64 data[8];
} LtAlgorithm;

typedef struct {
  LtAlgorithm algorithm;
  gsize workspace_bytes;
  LtStatus status;
  float n_waves;
  int reserved[4];
} LtHeuristic;

enum { LT_NOT_SUPPORTED = 15 };                                         /* CUBLAS_STATUS_NOT_SUPPORTED */
enum { LT_R_32F = 0, LT_R_16F = 2, LT_R_16BF = 14, LT_R_8F_E4M3 = 28 }; /* cudaDataType */
enum { LT_COMPUTE_32F = 68, LT_COMPUTE_32F_FAST_TF32 = 77 };            /* cublasComputeType_t */
enum {
  LT_DESC_TRANSA = 3,
  LT_DESC_TRANSB = 4,
  LT_DESC_A_SCALE = 17,
  LT_DESC_B_SCALE = 18,
  LT_DESC_FAST_ACCUM = 25
};
enum { LT_PREF_WORKSPACE_BYTES = 1 };
enum { LT_OP_N = 0, LT_OP_T = 1 };

typedef struct {
  gpointer library;
  LtStatus (*create) (LtHandle *handle);
  LtStatus (*destroy) (LtHandle handle);
  gsize (*version) (void);
  LtStatus (*desc_create) (LtDesc *desc, int compute_type, int scale_type);
  LtStatus (*desc_destroy) (LtDesc desc);
  LtStatus (*desc_set) (LtDesc desc, int attribute, const void *value, gsize size);
  LtStatus (*layout_create) (LtLayout *layout, int type, guint64 rows, guint64 columns, gint64 leading);
  LtStatus (*layout_destroy) (LtLayout layout);
  LtStatus (*preference_create) (LtPreference *preference);
  LtStatus (*preference_destroy) (LtPreference preference);
  LtStatus (*preference_set) (LtPreference preference, int attribute, const void *value, gsize size);
  LtStatus (*heuristic) (LtHandle handle, LtDesc desc, LtLayout a, LtLayout b, LtLayout c, LtLayout d,
                         LtPreference preference, int n_wanted, LtHeuristic results[], int *n_found);
  LtStatus (*matmul) (LtHandle handle, LtDesc desc, const void *alpha, const void *a, LtLayout a_layout,
                      const void *b, LtLayout b_layout, const void *beta, const void *c, LtLayout c_layout,
                      void *d, LtLayout d_layout, const LtAlgorithm *algorithm, void *workspace,
                      gsize workspace_bytes, CuStream stream);
  LtHandle handle; /* made in the context that was current at fab_blaslt_open */
} FabBlaslt;

/* Loads the library, looks up every function, and makes a handle for the current context. Fails with
 * FAB_ERROR_UNSUPPORTED and what is missing. (transfer full) */
FabBlaslt *fab_blaslt_open (GError **error);
void fab_blaslt_close (FabBlaslt *self); /* accepts NULL */
G_DEFINE_AUTOPTR_CLEANUP_FUNC (FabBlaslt, fab_blaslt_close)

/* Precisions of operands; results are BF16 for FP8, else as the operands; sums are FP32. */
typedef enum { FAB_LT_BF16, FAB_LT_FP16, FAB_LT_TF32, FAB_LT_FP8, FAB_N_LT } FabLtPrecision;
extern const char *const fab_lt_names[FAB_N_LT + 1]; /* "bf16", ...; NULL-ended */
guint fab_lt_operand_bytes (FabLtPrecision precision);
guint fab_lt_result_bytes (FabLtPrecision precision);

/* C[m, n] = A[m, k] B[n, k]^T, rows one after the other: what a linear layer calls. */
typedef struct {
  guint64 m, n, k;
} FabProductShape;

typedef struct {
  const FabBlaslt *lt;
  FabProductShape shape;
  LtDesc desc;
  LtLayout a, b, c;
  CuPointer a_at, b_at, c_at, workspace, scale;
  gsize workspace_bytes;
  LtHeuristic found[8];
  guint n_found;
  guint chosen; /* index in `found` */
} FabProduct;

/* Describes the product and asks for algorithms. *n_found may be 0: the library has none for this shape and precision.
 * `scale` is the address of an FP32 number 1 on the GPU, which FP8 needs. fab_product_clear ends it in any case. */
gboolean fab_product_open (FabProduct *self, const FabBlaslt *lt, FabLtPrecision precision,
                           const FabProductShape *shape, gsize workspace_bytes, CuPointer scale,
                           GError **error);
void fab_product_clear (FabProduct *self);
/* Queues the product once, by the chosen algorithm. */
gboolean fab_product_queue (const FabProduct *self, CuStream stream, GError **error);
