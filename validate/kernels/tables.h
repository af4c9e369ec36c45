/* SPDX-License-Identifier: Apache-2.0 */
/* tables.h - measured times of single kernels: an INDEX.yaml that says what each is, and CSV files.
 *
 * A table has one kernel a row, and a column `us` with its time. The others, by what is measured:
 *
 *   product        type, m, n, k: C[m, n] = A[m, k] B[n, k]^T
 *   attention      pass, batch, heads, kv_heads, sequence, head_dim, causal
 *   memory_bound   kernel, bytes
 *   experts        tokens, hidden, inner, per_token, experts
 *
 * Further columns are not read. A row is of a kind: its type, pass or kernel. Of a table that calibrates with alternate
 * rows, the rows of one kind set constants and are judged in turn, the first setting them.
 */
#pragma once

#include "sim/registry.h"
#include "sim/scenario/catalog.h"

typedef enum {
  FAB_KERNEL_PRODUCT,
  FAB_KERNEL_ATTENTION,
  FAB_KERNEL_MEMORY_BOUND,
  FAB_KERNEL_EXPERTS,
  FAB_N_KERNEL_TYPES
} FabKernelType;

/* WITH_CASTS: an FP8 product whose time has other kernels in it. It says little of the product alone: it sets no
 * constant, and no limit holds it. */
typedef enum {
  FAB_KERNEL_CALIBRATES,
  FAB_KERNEL_JUDGED,
  FAB_KERNEL_LEFT_OUT,
  FAB_KERNEL_WITH_CASTS,
  FAB_N_KERNEL_ROLES
} FabKernelRole;

/* What is in the time beside the kernel. */
typedef enum { FAB_KERNEL_ALONE, FAB_KERNEL_CACHE_FILL, FAB_KERNEL_QUANTISING } FabKernelIncludes;

extern const char *const fab_kernel_type_names[FAB_N_KERNEL_TYPES + 1]; /* NULL-ended */
extern const char *const fab_kernel_role_names[FAB_N_KERNEL_ROLES + 1];
extern const char *const
    *const fab_kernel_columns[FAB_N_KERNEL_TYPES]; /* numbers of a row's shape; NULL-ended */

enum { FAB_KERNEL_MAX_NUMBERS = 6 };

typedef struct {
  const char *file;        /* in the directory of INDEX.yaml */
  const char *accelerator; /* entry of the catalogue */
  const char *machine, *software, *date, *source;
  const char *note;     /* NULL: none */
  int kernel;           /* FabKernelType */
  int includes;         /* FabKernelIncludes */
  gboolean is_left_out; /* no row may set a constant */
  gboolean is_all;      /* all rows may; else every second one */
  double
      best_fraction; /* of peak, of the best product of its whole table; 0: the accelerator's `matmul` counts */
} FabKernelSpec;

typedef struct {
  char *kind;
  double numbers[FAB_KERNEL_MAX_NUMBERS]; /* as fab_kernel_columns names them */
  double measured_us;
  double predicted_us; /* 0: the model has no such kernel */
  FabKernelRole role;
  guint line; /* of the file, from 1 */
} FabKernelRow;

typedef struct {
  const FabKernelSpec *spec;
  char *name;   /* file without ".csv" */
  GArray *rows; /* FabKernelRow, at least one */
} FabKernelTable;

typedef struct _FabKernelTables FabKernelTables;

/* All tables of a directory, every mistake at its place. */
FabKernelTables *fab_kernel_tables_load (const char *directory, const FabCatalog *catalog,
                                         const FabRegistry *registry, GError **error);
void fab_kernel_tables_free (FabKernelTables *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (FabKernelTables, fab_kernel_tables_free)

guint fab_kernel_tables_n (const FabKernelTables *self);
FabKernelTable *fab_kernel_tables_get (const FabKernelTables *self,
                                       guint index); /* in the order of INDEX.yaml */

/* By name, with or without ".csv"; NULL and *error with the nearest name. */
FabKernelTable *fab_kernel_tables_find (const FabKernelTables *self, const char *name, GError **error);
