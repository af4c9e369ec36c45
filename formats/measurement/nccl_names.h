/* SPDX-License-Identifier: Apache-2.0 */
/* nccl_names.h - how nccl-tests calls operations and data types, and the sizes that it really runs. */
#pragma once

#include "sim/collective/collective.h"

typedef struct {
  const char *name; /* as nccl-tests' -d takes and prints it: "float", "bfloat16" */
  guint bytes;
} FabNcclType;

extern const FabNcclType fab_nccl_types[]; /* the last has no name */

/* NULL: not known. */
const FabNcclType *fab_nccl_type (const char *name);

/* The scenario's name or that of the nccl-tests program, with or without "_perf": "all_to_all", "alltoall_perf". */
gboolean fab_nccl_op (const char *name, FabOp *op);

/* "alltoall_perf" */
const char *fab_nccl_program (FabOp op);

/* What nccl-tests prints as redop and root of such an operation. */
const char *fab_nccl_redop (FabOp op);
int fab_nccl_root (FabOp op);

/* The size that a request for `bytes` runs and prints, of whole elements and equal parts; 0 when not even one element
 * for each rank fits. `count` is what it prints beside: elements of the buffer, or of one rank's part of it. */
FabBytes fab_nccl_size (FabOp op, FabBytes bytes, const FabNcclType *type, guint n_ranks, guint64 *count);
