/* SPDX-License-Identifier: Apache-2.0 */
/* trace_nccl.c - a collective under the names that NCCL's kernels and PyTorch's profiler have.
 *
 * Kernels: best_kernel of NCCL's src/device/generate.py. Few kernels are made, and each may run any algorithm and
 * protocol: AllGather and Broadcast are RING_LL, sums are TREE_LL for a tree and RING_LL for all else, and everything
 * point to point (alltoall, gather, scatter) is SendRecv. So the true algorithm and protocol stand in args.
 *
 * Args: saveNcclMeta of PyTorch's torch/csrc/profiler/util.cpp writes "Collective name", "dtype", "In msg nelems",
 * "Out msg nelems", "Group size". PyTorch's names of collectives and NCCL's short names of types: see
 * torch/csrc/distributed/c10d and NCCL's src/enqueue.cc.
 */
#include <string.h>

#include "cli/trace.h"
#include "models/library/nccl/names.h"

typedef struct {
  const char *op;
  const char *kernel;             /* of NCCL */
  gboolean is_reduction;          /* its kernel has a type and an algorithm in its name */
  const char *collective;         /* of PyTorch */
  gboolean splits_in, splits_out; /* one rank's message is 1 / n of the bytes that nccl-tests counts */
} Names;

static const Names names[] = {
  { "all_reduce", "AllReduce", TRUE, "allreduce", FALSE, FALSE },
  { "all_gather", "AllGather", FALSE, "_allgather_base", TRUE, FALSE },
  { "reduce_scatter", "ReduceScatter", TRUE, "_reduce_scatter_base", FALSE, TRUE },
  { "broadcast", "Broadcast", FALSE, "broadcast", FALSE, FALSE },
  { "reduce", "Reduce", TRUE, "reduce", FALSE, FALSE },
  { "alltoall", "SendRecv", FALSE, "all_to_all", FALSE, FALSE },
  { "gather", "SendRecv", FALSE, "gather", FALSE, FALSE },
  { "scatter", "SendRecv", FALSE, "scatter", FALSE, FALSE },
  { "sendrecv", "SendRecv", FALSE, "send", FALSE, FALSE },
};

typedef struct {
  const char *name, *torch, *nccl; /* "bf16", "BFloat16", "bf16" */
  gint64 bytes;
} Type;

static const Type types[] = {
  { "bf16", "BFloat16", "bf16", 2 },
  { "fp16", "Half", "f16", 2 },
  { "fp32", "Float", "f32", 4 },
  { "fp64", "Double", "f64", 8 },
  { "fp8", "Float8_e4m3fn", "f8e4m3", 1 },
  { "bfloat16", "BFloat16", "bf16", 2 },
  { "half", "Half", "f16", 2 },
  { "float", "Float", "f32", 4 },
  { "double", "Double", "f64", 8 },
  { "int8", "Char", "u8", 1 },
};

static const Names *
names_of (const char *op)
{
  for (guint i = 0; i < G_N_ELEMENTS (names); i++)
    if (g_strcmp0 (names[i].op, op) == 0)
      return &names[i];
  return &names[G_N_ELEMENTS (names) - 1]; /* a message */
}

/* A results file that does not say of what type the elements are counts bytes. */
static const Type *
type_of (const FabTraceSpan *span)
{
  static const Type byte = { NULL, "Byte", "u8", 1 };

  for (guint i = 0; i < G_N_ELEMENTS (types) && span->data_type; i++)
    if (strcmp (types[i].name, span->data_type) == 0)
      return &types[i];
  return &byte;
}

char *
fab_trace_nccl_kernel (const FabTraceSpan *span)
{
  const Names *row = names_of (span->op);
  const char *algorithm = fab_nccl_algorithm_kernel (span->algorithm);

  if (strcmp (row->kernel, "SendRecv") == 0)
    return g_strdup ("ncclDevKernel_SendRecv(ncclDevKernelArgsStorage<4096ul>)");
  if (!row->is_reduction)
    return g_strdup_printf ("ncclDevKernel_%s_RING_LL(ncclDevKernelArgsStorage<4096ul>)", row->kernel);
  return g_strdup_printf ("ncclDevKernel_%s_Sum_%s_%s_LL(ncclDevKernelArgsStorage<4096ul>)", row->kernel,
                          type_of (span)->nccl, algorithm);
}

void
fab_trace_param_comms (FabTraceFile *file, const FabTraceSpan *span)
{
  const Names *row = names_of (span->op);
  const Type *type = type_of (span);
  gint64 n_elements = span->bytes / type->bytes, n_ranks = MAX (span->n_ranks, 1);

  fab_trace_text (file, "Collective name", row->collective);
  fab_trace_whole (file, "In msg nelems", row->splits_in ? n_elements / n_ranks : n_elements);
  fab_trace_whole (file, "Out msg nelems", row->splits_out ? n_elements / n_ranks : n_elements);
  fab_trace_whole (file, "Group size", span->n_ranks);
  fab_trace_text (file, "dtype", type->torch);
  fab_trace_text (file, "Process Group Description", span->dimension);
}
