/* SPDX-License-Identifier: Apache-2.0 */
/* nccl_names.c - nccl-tests src/common.cu (types), src/all_gather.cu and its siblings (sizes), version 2.17. */
#include "formats/measurement/nccl_names.h"

#include <string.h>

const FabNcclType fab_nccl_types[] = {
  { "int8", 1 },   { "uint8", 1 },  { "int32", 4 }, { "uint32", 4 }, { "int64", 8 },
  { "uint64", 8 }, { "half", 2 },   { "float", 4 }, { "double", 8 }, { "bfloat16", 2 },
  { "f8e4m3", 1 }, { "f8e5m2", 1 }, { NULL, 0 },
};

/* Parts of equal size for every rank; all_gather, reduce_scatter and alltoall keep them aligned to 16 bytes. */
typedef enum { WHOLE, PARTS, ALIGNED_PARTS } Layout;

typedef struct {
  const char *program, *redop;
  int root;
  Layout layout;
} Test;

static const Test tests[FAB_N_OPS] = {
  [FAB_OP_ALL_REDUCE] = { "all_reduce_perf", "sum", -1, WHOLE },
  [FAB_OP_ALL_GATHER] = { "all_gather_perf", "none", -1, ALIGNED_PARTS },
  [FAB_OP_REDUCE_SCATTER] = { "reduce_scatter_perf", "sum", -1, ALIGNED_PARTS },
  [FAB_OP_BROADCAST] = { "broadcast_perf", "none", 0, WHOLE },
  [FAB_OP_REDUCE] = { "reduce_perf", "sum", 0, WHOLE },
  [FAB_OP_ALL_TO_ALL] = { "alltoall_perf", "none", -1, ALIGNED_PARTS },
  [FAB_OP_SEND_RECV] = { "sendrecv_perf", "sum", -1, WHOLE },
  [FAB_OP_GATHER] = { "gather_perf", "none", 0, PARTS },
  [FAB_OP_SCATTER] = { "scatter_perf", "none", 0, PARTS },
};

const FabNcclType *
fab_nccl_type (const char *name)
{
  for (const FabNcclType *type = fab_nccl_types; type->name; type++)
    if (strcmp (type->name, name) == 0)
      return type;
  return NULL;
}

gboolean
fab_nccl_op (const char *name, FabOp *op)
{
  for (guint i = 0; i < FAB_N_OPS; i++) {
    const char *program = tests[i].program;
    gsize stem = strlen (program) - strlen ("_perf");

    if (strcmp (name, fab_op_names[i]) == 0 || strcmp (name, program) == 0
        || (strlen (name) == stem && strncmp (name, program, stem) == 0)) {
      *op = (FabOp) i;
      return TRUE;
    }
  }
  return FALSE;
}

const char *
fab_nccl_program (FabOp op)
{
  return tests[op].program;
}

const char *
fab_nccl_redop (FabOp op)
{
  return tests[op].redop;
}

int
fab_nccl_root (FabOp op)
{
  return tests[op].root;
}

FabBytes
fab_nccl_size (FabOp op, FabBytes bytes, const FabNcclType *type, guint n_ranks, guint64 *count)
{
  *count = bytes / type->bytes;
  if (tests[op].layout == WHOLE)
    return *count * type->bytes;
  *count /= n_ranks;
  if (tests[op].layout == ALIGNED_PARTS)
    *count -= *count % (16 / type->bytes);
  return *count * n_ranks * type->bytes;
}
