/* SPDX-License-Identifier: Apache-2.0 */
/* kineto.c - a run as the files of PyTorch's profiler (Kineto), one per rank, for Holistic Trace Analysis.
 *
 * HTA (github.com/facebookresearch/HolisticTraceAnalysis) decides by these:
 *   hta/utils/utils.py: kernels named nccl... communicate, Memset... touch memory, all others compute
 *   hta/analyzers/communication_analysis.py: overlap = time in both / time in communication, on merged intervals
 *   hta/analyzers/breakdown_analysis.py: kernel time = from the first kernel's begin to the last one's end
 *   hta/common/trace.py: a kernel is of the iteration in whose ProfilerStep it was launched, which is found by
 *   correlation; streams count from 1 So every kernel has a launch on the CPU, at the time at which it begins (the CPU
 * is not simulated); kernels that reach out of the exported iterations are cut there, as our own accounts are; and an
 * empty Memset stands at both ends of an iteration, so that waiting there is inside of HTA's kernel time as it is
 * inside of our iteration.
 */
#include <errno.h>
#include <glib/gstdio.h>
#include <string.h>

#include "formats/export/events.h"
#include "formats/export/trace.h"
#include "sim/base/error.h"

enum {
  CPU_PROCESS = 100000, /* + rank; the GPU's is its device */
  PYTHON_THREAD = 1,
  LOADER_THREAD = 2,
  COMPUTE_STREAM = 7, /* where PyTorch's default stream shows up */
  OTHER_STREAMS = 16, /* 20, 24, ... when there is one that computes */
};

typedef struct {
  const FabTraceSource *source;
  const FabKinetoOptions *options;
  guint rank, rank_class;
  gint64 device;
  FabTraceEvents file;
  GHashTable *streams; /* name -> number */
  GHashTable *waits;   /* stream -> FabTimePs at which its waiting began */
  gint64 n_launches;
} Kineto;

static char *trace_nccl_kernel (const Kineto *kineto, const FabTraceSpan *span);

static void trace_param_comms (FabTraceEvents *file, const FabTraceSpan *span);

static gint64
cpu_of (const Kineto *kineto)
{
  return CPU_PROCESS + (gint64) kineto->rank;
}

static void
name_thing (FabTraceEvents *file, const char *what, gint64 process, gint64 thread, const char *name)
{
  fab_event_begin (file, 'M', NULL, what, process, thread, 0);
  fab_event_args (file);
  fab_event_text (file, strcmp (what, "process_labels") == 0 ? "labels" : "name", name);
  fab_event_end (file);
}

/* The stream that computes is number 7; the others follow in the order in which they appear. */
static gint64
stream_of (Kineto *kineto, const FabTraceSpan *span)
{
  gpointer known;
  gint number;

  if (g_hash_table_lookup_extended (kineto->streams, span->stream, NULL, &known))
    return GPOINTER_TO_INT (known);
  if (strcmp (span->stream, "compute") == 0)
    number = COMPUTE_STREAM;
  else
    number = OTHER_STREAMS + 4 * (gint) g_hash_table_size (kineto->streams);
  g_hash_table_insert (kineto->streams, g_strdup (span->stream), GINT_TO_POINTER (number));
  g_autofree char *shown = g_strdup_printf ("stream %d %s", number, span->stream);
  name_thing (&kineto->file, "thread_name", kineto->device, number, shown);
  return number;
}

/* A launch, the arrow from it, and what stands before the args of the kernel. */
static void
begin_kernel (Kineto *kineto, const char *category, const char *name, const char *call, gint64 stream,
              FabTimePs launch_ps, FabTimePs start_ps, FabTimePs end_ps)
{
  FabTraceEvents *file = &kineto->file;
  gint64 correlation = ++kineto->n_launches;

  fab_event_begin (file, 'X', "cuda_runtime", call, cpu_of (kineto), PYTHON_THREAD, launch_ps);
  fab_event_lasts (file, launch_ps, launch_ps);
  fab_event_args (file);
  fab_event_whole (file, "External id", correlation);
  fab_event_whole (file, "correlation", correlation);
  fab_event_end (file);
  fab_event_begin (file, 's', "ac2g", "ac2g", cpu_of (kineto), PYTHON_THREAD, launch_ps);
  fab_event_whole (file, "id", correlation);
  fab_event_end (file);
  fab_event_begin (file, 'f', "ac2g", "ac2g", kineto->device, stream, start_ps);
  fab_event_whole (file, "id", correlation);
  fab_event_text (file, "bp", "e");
  fab_event_end (file);
  fab_event_begin (file, 'X', category, name, kineto->device, stream, start_ps);
  fab_event_lasts (file, start_ps, end_ps);
  fab_event_args (file);
  fab_event_whole (file, "External id", correlation);
  fab_event_whole (file, "device", kineto->device);
  fab_event_whole (file, "context", 1);
  fab_event_whole (file, "stream", stream);
  fab_event_whole (file, "correlation", correlation);
}

/* PyTorch's operator around a collective's launch. */
static void
write_param_comms (Kineto *kineto, const FabTraceSpan *span, FabTimePs time_ps)
{
  FabTraceEvents *file = &kineto->file;

  fab_event_begin (file, 'X', "cpu_op", "record_param_comms", cpu_of (kineto), PYTHON_THREAD, time_ps);
  fab_event_lasts (file, time_ps, time_ps);
  fab_event_args (file);
  fab_event_whole (file, "External id", kineto->n_launches + 1);
  trace_param_comms (file, span);
  fab_event_end (file);
}

static void
write_collective (Kineto *kineto, const FabTraceSpan *span, FabTimePs start_ps, FabTimePs end_ps)
{
  g_autofree char *kernel = trace_nccl_kernel (kineto, span);
  FabTraceEvents *file = &kineto->file;

  write_param_comms (kineto, span, start_ps);
  begin_kernel (kineto, "kernel", kernel, "cudaLaunchKernelExC", stream_of (kineto, span), start_ps, start_ps,
                end_ps);
  trace_param_comms (file, span);
  fab_event_text (file, "fabricast name", span->name);
  fab_event_text (file, "algorithm", span->algorithm);
  fab_event_text (file, "protocol", span->protocol);
  fab_event_real (file, "wait (us)", (double) span->wait_ps / 1e6);
  fab_event_end (file);
}

/* "fabricast::forward_block0": begins with nothing that HTA takes for communication. */
static void
write_compute (Kineto *kineto, const FabTraceSpan *span, FabTimePs start_ps, FabTimePs end_ps)
{
  g_autofree char *name = g_strconcat ("fabricast::", span->name, NULL);

  g_strdelimit (name, " ", '_');
  begin_kernel (kineto, "kernel", name, "cudaLaunchKernel", stream_of (kineto, span), start_ps, start_ps,
                end_ps);
  fab_event_end (&kineto->file);
}

static void
write_load (Kineto *kineto, const FabTraceSpan *span, FabTimePs start_ps, FabTimePs end_ps)
{
  fab_event_begin (&kineto->file, 'X', "user_annotation", span->name, cpu_of (kineto), LOADER_THREAD,
                   start_ps);
  fab_event_lasts (&kineto->file, start_ps, end_ps);
  fab_event_end (&kineto->file);
}

/* When this rank arrived, if it had to wait and that is to be shown; else when the collective started. */
static FabTimePs
collective_start (Kineto *kineto, const FabTraceSpan *span)
{
  const gint64 *arrived_ps = g_hash_table_lookup (kineto->waits, span->stream);
  FabTimePs start_ps = arrived_ps && kineto->options->with_waiting ? *arrived_ps : span->start_ps;

  g_hash_table_remove (kineto->waits, span->stream);
  return start_ps;
}

static void
remember_wait (Kineto *kineto, const FabTraceSpan *span)
{
  gint64 *arrived_ps = g_new (gint64, 1);

  *arrived_ps = span->start_ps;
  g_hash_table_insert (kineto->waits, g_strdup (span->stream), arrived_ps);
}

static void
write_span (const FabTraceSpan *span, gpointer data)
{
  Kineto *kineto = data;
  gboolean is_comm = strcmp (span->kind, "comm") == 0;
  FabTimePs first_ps = is_comm ? collective_start (kineto, span) : span->start_ps;
  FabTimePs start_ps = MAX (first_ps, kineto->source->start_ps);
  FabTimePs end_ps = MAX (MIN (span->end_ps, kineto->source->end_ps), start_ps);

  if (strcmp (span->kind, "wait") == 0)
    remember_wait (kineto, span);
  else if (is_comm)
    write_collective (kineto, span, start_ps, end_ps);
  else if (strcmp (span->kind, "compute") == 0)
    write_compute (kineto, span, start_ps, end_ps);
  else
    write_load (kineto, span, start_ps, end_ps);
}

/* Iterations */

static void
write_mark (Kineto *kineto, FabTimePs launch_ps, FabTimePs time_ps)
{
  begin_kernel (kineto, "gpu_memset", "Memset (Device)", "cudaMemsetAsync", COMPUTE_STREAM, launch_ps,
                time_ps, time_ps);
  fab_event_whole (&kineto->file, "bytes", 0);
  fab_event_end (&kineto->file);
}

static void
write_iteration (const FabIterationRecord *times, gpointer data)
{
  Kineto *kineto = data;
  FabTraceEvents *file = &kineto->file;
  FabTimePs end_ps = times->start_ps + times->duration_ps;
  g_autofree char *name = g_strdup_printf ("ProfilerStep#%u", times->iteration);

  fab_event_begin (file, 'X', "user_annotation", name, cpu_of (kineto), PYTHON_THREAD, times->start_ps);
  fab_event_lasts (file, times->start_ps, end_ps);
  fab_event_end (file);
  fab_event_begin (file, 'X', "gpu_user_annotation", name, kineto->device, COMPUTE_STREAM, times->start_ps);
  fab_event_lasts (file, times->start_ps, end_ps);
  fab_event_end (file);
  write_mark (kineto, times->start_ps, times->start_ps);
  /* launched within the step, 1 us before its end: HTA rounds to whole us */
  write_mark (kineto, MAX (times->start_ps, end_ps - 1000000), end_ps);
}

/* Files */

static void
write_head (Kineto *kineto)
{
  const FabTraceSource *source = kineto->source;
  g_autofree char *label = g_strdup_printf ("GPU %" G_GINT64_FORMAT, kineto->device);
  g_autofree char *head = g_strdup_printf (
      "{\n\"schemaVersion\": 1,\n"
      "\"distributedInfo\": {\"backend\": \"nccl\", \"rank\": %u, \"world_size\": %u},\n"
      "\"deviceProperties\": [{\"id\": %" G_GINT64_FORMAT ", \"name\": \"simulated by fabricast %s\"}],\n"
      "\"displayTimeUnit\": \"ms\",\n\"baseTimeNanoseconds\": 0,\n\"traceName\": \"rank-%u.json\",\n"
      "\"traceEvents\": [\n",
      kineto->rank, source->n_ranks, kineto->device, source->version, kineto->rank);

  fab_trace_events_raw (&kineto->file, head);
  name_thing (&kineto->file, "process_name", cpu_of (kineto), 0, "fabricast");
  name_thing (&kineto->file, "process_labels", cpu_of (kineto), 0, "CPU");
  name_thing (&kineto->file, "thread_name", cpu_of (kineto), PYTHON_THREAD, "launches");
  name_thing (&kineto->file, "thread_name", cpu_of (kineto), LOADER_THREAD, "loader");
  name_thing (&kineto->file, "process_name", kineto->device, 0, "fabricast");
  name_thing (&kineto->file, "process_labels", kineto->device, 0, label);
}

static gboolean
write_events (Kineto *kineto, const char *path, GError **error)
{
  if (!fab_trace_events_open (&kineto->file, path, error))
    return FALSE;
  write_head (kineto);
  if (!fab_trace_each_iteration (kineto->source, kineto->rank_class, write_iteration, kineto, error)
      || !fab_trace_each_span (kineto->source, kineto->rank_class, write_span, kineto, error))
    return FALSE;
  fab_trace_events_raw (&kineto->file, "\n]}\n");
  return fab_trace_events_close (&kineto->file, error);
}

static gboolean
write_rank (const FabTraceSource *source, const FabKinetoOptions *options, const char *directory,
            const FabTraceRank *rank, GError **error)
{
  g_autofree char *path = g_strdup_printf ("%s/rank-%u.json", directory, rank->rank);
  g_autoptr (GHashTable) streams = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  g_autoptr (GHashTable) waits = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, g_free);
  Kineto kineto = {
    .source = source,
    .options = options,
    .rank = rank->rank,
    .rank_class = rank->rank_class,
    .device = rank->rank % MAX (source->n_ranks / MAX (source->n_nodes, 1), 1),
    .streams = streams,
    .waits = waits,
  };

  if (write_events (&kineto, path, error))
    return TRUE;
  fab_trace_events_abandon (&kineto.file);
  return FALSE;
}

gboolean
fab_trace_write_kineto (const FabTraceSource *source, const char *directory, const FabKinetoOptions *options,
                        GError **error)
{
  g_autoptr (GArray) ranks = fab_trace_ranks (source, options->ranks, error);

  if (ranks == NULL)
    return FALSE;
  if (g_mkdir_with_parents (directory, 0777) != 0)
    return fab_throw (error, FAB_ERROR_IO, "%s: %s", directory, g_strerror (errno));
  if (!fab_trace_ranks_alone (ranks, directory, error))
    return FALSE;
  for (guint i = 0; i < ranks->len; i++)
    if (!write_rank (source, options, directory, &g_array_index (ranks, FabTraceRank, i), error))
      return FALSE;
  return TRUE;
}

/* A collective under the names that NCCL's kernels and PyTorch's profiler have.
 *
 * Kernels: best_kernel of NCCL's src/device/generate.py. Few kernels are made, and each may run any algorithm and
 * protocol: AllGather and Broadcast are RING_LL, sums are TREE_LL for a tree and RING_LL for all else, and everything
 * point to point (alltoall, gather, scatter) is SendRecv. So the true algorithm and protocol stand in args.
 *
 * Args: saveNcclMeta of PyTorch's torch/csrc/profiler/util.cpp writes "Collective name", "dtype", "In msg nelems",
 * "Out msg nelems", "Group size". PyTorch's names of collectives and NCCL's short names of types: see
 * torch/csrc/distributed/c10d and NCCL's src/enqueue.cc. A results file does not say of what type elements are, so that
 * they are bytes.
 */

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
  { "all_to_all", "SendRecv", FALSE, "all_to_all", FALSE, FALSE },
  { "gather", "SendRecv", FALSE, "gather", FALSE, FALSE },
  { "scatter", "SendRecv", FALSE, "scatter", FALSE, FALSE },
  { "send_recv", "SendRecv", FALSE, "send", FALSE, FALSE },
};

static const Names *
names_of (const char *op)
{
  for (guint i = 0; i < G_N_ELEMENTS (names); i++)
    if (g_strcmp0 (names[i].op, op) == 0)
      return &names[i];
  return &names[G_N_ELEMENTS (names) - 1]; /* a message */
}

/* Returns the name that NCCL and PyTorch give a collective. (transfer full) */
static char *
trace_nccl_kernel (const Kineto *kineto, const FabTraceSpan *span)
{
  const Names *row = names_of (span->op);
  const char *algorithm = kineto->options->kernel_algorithm (span->algorithm);

  if (strcmp (row->kernel, "SendRecv") == 0)
    return g_strdup ("ncclDevKernel_SendRecv(ncclDevKernelArgsStorage<4096ul>)");
  if (!row->is_reduction)
    return g_strdup_printf ("ncclDevKernel_%s_RING_LL(ncclDevKernelArgsStorage<4096ul>)", row->kernel);
  return g_strdup_printf ("ncclDevKernel_%s_Sum_u8_%s_LL(ncclDevKernelArgsStorage<4096ul>)", row->kernel,
                          algorithm);
}

/* Writes the args that PyTorch's record_param_comms has. */
static void
trace_param_comms (FabTraceEvents *file, const FabTraceSpan *span)
{
  const Names *row = names_of (span->op);
  gint64 n_ranks = MAX (span->n_ranks, 1);

  fab_event_text (file, "Collective name", row->collective);
  fab_event_whole (file, "In msg nelems", row->splits_in ? span->bytes / n_ranks : span->bytes);
  fab_event_whole (file, "Out msg nelems", row->splits_out ? span->bytes / n_ranks : span->bytes);
  fab_event_whole (file, "Group size", span->n_ranks);
  fab_event_text (file, "dtype", "Byte");
  fab_event_text (file, "Process Group Description", span->dimension);
}
