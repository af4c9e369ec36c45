/* SPDX-License-Identifier: Apache-2.0 */
/* nccl.c - the backend `nccl`: collectives over the GPUs of this machine, as nccl-tests counts them.
 *
 * One process has all ranks; what the sizes mean, sim/collective/collective.h says.
 */
#include <math.h>

#include "sim/base/order.h"
#include "sim/collective/collective.h"
#include "validate/measure/cuda/driver.h"
#include "validate/measure/cuda/gpus.h"
#include "validate/measure/cuda/nvml.h"
#include "validate/measure/cuda/symbols.h"
#include "validate/measure/host.h"

typedef int NcclResult; /* 0: success */
typedef struct NcclCommOpaque *NcclComm;

enum { NCCL_OK = 0 };
enum { NCCL_FLOAT32 = 7 };
enum { NCCL_SUM = 0 };

typedef struct {
  gpointer library;
  NcclResult (*version) (int *version);
  const char *(*error_string) (NcclResult result);
  const char *(*last_error) (NcclComm comm); /* NULL: versions before 2.13 lack it */
  NcclResult (*comm_init_all) (NcclComm *comms, int n, const int *devices);
  NcclResult (*comm_destroy) (NcclComm comm);
  NcclResult (*comm_abort) (NcclComm comm);
  NcclResult (*comm_async_error) (NcclComm comm, NcclResult *result);
  NcclResult (*group_start) (void);
  NcclResult (*group_end) (void);
  NcclResult (*all_reduce) (CuPointer from, CuPointer to, gsize n, int type, int op, NcclComm comm,
                            CuStream stream);
  NcclResult (*all_gather) (CuPointer from, CuPointer to, gsize n_sent, int type, NcclComm comm,
                            CuStream stream);
  NcclResult (*reduce_scatter) (CuPointer from, CuPointer to, gsize n_received, int type, int op,
                                NcclComm comm, CuStream stream);
  NcclResult (*broadcast) (CuPointer from, CuPointer to, gsize n, int type, int root, NcclComm comm,
                           CuStream stream);
  NcclResult (*reduce) (CuPointer from, CuPointer to, gsize n, int type, int op, int root, NcclComm comm,
                        CuStream stream);
  NcclResult (*send) (CuPointer from, gsize n, int type, int peer, NcclComm comm, CuStream stream);
  NcclResult (*receive) (CuPointer to, gsize n, int type, int peer, NcclComm comm, CuStream stream);
} FabNccl;

typedef struct {
  const FabGpu *gpu;
  NcclComm comm;
  CuStream stream;
  CuEvent start, end;
} FabNcclRank;

typedef struct {
  const FabNccl *nccl;
  FabGpus *gpus;
  FabNcclRank *ranks;
  guint n_ranks;
  FabOp op; /* the collective that collect_time times */
  gboolean is_broken;
} FabCollect;

static void nccl_close (FabNccl *self);
static void collect_free (FabCollect *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (FabNccl, nccl_close)
G_DEFINE_AUTOPTR_CLEANUP_FUNC (FabCollect, collect_free)

/* Loads libnccl at run time and turns its results into error messages. */

static const FabSymbol symbols[] = {
  { "ncclGetVersion", G_STRUCT_OFFSET (FabNccl, version), FALSE },
  { "ncclGetErrorString", G_STRUCT_OFFSET (FabNccl, error_string), FALSE },
  { "ncclGetLastError", G_STRUCT_OFFSET (FabNccl, last_error), TRUE },
  { "ncclCommInitAll", G_STRUCT_OFFSET (FabNccl, comm_init_all), FALSE },
  { "ncclCommDestroy", G_STRUCT_OFFSET (FabNccl, comm_destroy), FALSE },
  { "ncclCommAbort", G_STRUCT_OFFSET (FabNccl, comm_abort), FALSE },
  { "ncclCommGetAsyncError", G_STRUCT_OFFSET (FabNccl, comm_async_error), FALSE },
  { "ncclGroupStart", G_STRUCT_OFFSET (FabNccl, group_start), FALSE },
  { "ncclGroupEnd", G_STRUCT_OFFSET (FabNccl, group_end), FALSE },
  { "ncclAllReduce", G_STRUCT_OFFSET (FabNccl, all_reduce), FALSE },
  { "ncclAllGather", G_STRUCT_OFFSET (FabNccl, all_gather), FALSE },
  { "ncclReduceScatter", G_STRUCT_OFFSET (FabNccl, reduce_scatter), FALSE },
  { "ncclBroadcast", G_STRUCT_OFFSET (FabNccl, broadcast), FALSE },
  { "ncclReduce", G_STRUCT_OFFSET (FabNccl, reduce), FALSE },
  { "ncclSend", G_STRUCT_OFFSET (FabNccl, send), FALSE },
  { "ncclRecv", G_STRUCT_OFFSET (FabNccl, receive), FALSE },
};

/* Loads the library and looks up every function. Fails with FAB_ERROR_UNSUPPORTED and what is missing. (transfer
 * full) */
static FabNccl *
nccl_open (GError **error)
{
  const char *path = fab_symbols_library ("FABRICAST_NCCL", "libnccl.so.2");
  g_autoptr (FabNccl) self = g_new0 (FabNccl, 1);
  const char *missing;

  self->library = fab_symbols_open (path);
  if (!self->library) {
    fab_throw (error, FAB_ERROR_UNSUPPORTED, "NCCL (%s) was not found; install it (Debian: libnccl2)", path);
    return NULL;
  }
  missing = fab_symbols_fill (self->library, self, symbols, G_N_ELEMENTS (symbols));
  if (missing) {
    fab_throw (error, FAB_ERROR_UNSUPPORTED,
               "the NCCL library %s has no function %s: it is too old, one of NCCL 2.7 or newer would do",
               path, missing);
    return NULL;
  }
  return g_steal_pointer (&self);
}

/* accepts NULL */
static void
nccl_close (FabNccl *self)
{
  if (!self)
    return;
  fab_symbols_close (self->library);
  g_free (self);
}

/* Returns TRUE when `result` is NCCL_OK, else FALSE with "DOING: unhandled system error". */
static gboolean
nccl_check (const FabNccl *self, NcclResult result, const char *doing, GError **error)
{
  const char *more = result != NCCL_OK && self->last_error ? self->last_error (NULL) : NULL;

  if (result == NCCL_OK)
    return TRUE;
  return fab_throw (error, FAB_ERROR_UNSUPPORTED, "%s: %s (NCCL, %d)%s%s; NCCL_DEBUG=INFO says more", doing,
                    self->error_string (result), result, more && *more ? ": " : "", more ? more : "");
}

/* NCCL reports MAJOR x 10000 + MINOR x 100 + PATCH; up to 2.8 it was MAJOR x 1000. */
static char *
nccl_version (const FabNccl *self)
{
  int version = 0, major;

  if (self->version (&version) != NCCL_OK)
    return g_strdup ("unknown");
  major = version < 10000 ? 1000 : 10000;
  return g_strdup_printf ("%d.%d.%d", version / major, version % major / 100, version % 100);
}

/* Queues collectives on the streams of all ranks and reads the events around them. */

#define PS_PER_MS 1e9
#define TYPE NCCL_FLOAT32
#define TYPE_BYTES 4u
#define BATCH 256u /* collectives that are queued before waiting for them */

static gboolean
make_rank (FabCollect *self, FabNcclRank *rank, GError **error)
{
  const FabCuda *cuda = self->gpus->cuda;

  return fab_gpu_use (self->gpus, rank->gpu, error)
      && fab_cuda_check (cuda, cuda->stream_create (&rank->stream, CU_STREAM_NON_BLOCKING), "make a stream",
                         error)
      && fab_cuda_check (cuda, cuda->event_create (&rank->start, 0), "make an event", error)
      && fab_cuda_check (cuda, cuda->event_create (&rank->end, 0), "make an event", error);
}

static gboolean
join (FabCollect *self, GError **error)
{
  g_autofree NcclComm *comms = g_new0 (NcclComm, self->n_ranks);
  g_autofree int *devices = g_new0 (int, self->n_ranks);

  for (guint i = 0; i < self->n_ranks; i++)
    devices[i] = (int) i;
  if (!nccl_check (self->nccl, self->nccl->comm_init_all (comms, (int) self->n_ranks, devices),
                   "join the GPUs", error))
    return FALSE;
  for (guint i = 0; i < self->n_ranks; i++)
    self->ranks[i].comm = comms[i];
  return TRUE;
}

/* Makes the communicators. The GPUs' buffers must have collect_buffer_bytes. `nccl` and `gpus` must outlive the
 * result. (transfer full) */
static FabCollect *
collect_new (const FabNccl *nccl, FabGpus *gpus, GError **error)
{
  g_autoptr (FabCollect) self = g_new0 (FabCollect, 1);

  self->nccl = nccl;
  self->gpus = gpus;
  self->n_ranks = gpus->n_gpus;
  self->ranks = g_new0 (FabNcclRank, self->n_ranks);
  for (guint i = 0; i < self->n_ranks; i++) {
    self->ranks[i].gpu = &gpus->gpus[i];
    if (!make_rank (self, &self->ranks[i], error))
      return NULL;
  }
  return join (self, error) ? g_steal_pointer (&self) : NULL;
}

/* accepts NULL */
static void
collect_free (FabCollect *self)
{
  if (!self)
    return;
  for (guint i = 0; i < self->n_ranks; i++) {
    FabNcclRank *rank = &self->ranks[i];
    const FabCuda *cuda = self->gpus->cuda;

    /* destroying a broken communicator would wait for it */
    if (rank->comm)
      (self->is_broken ? self->nccl->comm_abort : self->nccl->comm_destroy) (rank->comm);
    if (rank->gpu)
      cuda->context_use (rank->gpu->context);
    if (rank->start)
      cuda->event_destroy (rank->start);
    if (rank->end)
      cuda->event_destroy (rank->end);
    if (rank->stream)
      cuda->stream_destroy (rank->stream);
  }
  g_free (self->ranks);
  g_free (self);
}

/* Returns one rank's part in elements; sizes that do not divide are rounded up. */
static gsize
part_of (FabBytes size_bytes, guint n_parts)
{
  return (gsize) ((size_bytes + n_parts * TYPE_BYTES - 1) / (n_parts * TYPE_BYTES));
}

/* Returns the buffer that each GPU needs to send from and to receive into, for collectives of `size_bytes` over at
 * most `n_ranks`. */
static FabBytes
collect_buffer_bytes (FabBytes size_bytes, guint n_ranks)
{
  return size_bytes + n_ranks * TYPE_BYTES;
}

static gboolean
collect_can (FabOp op)
{
  return op != FAB_OP_GATHER && op != FAB_OP_SCATTER && op < FAB_N_OPS;
}

/* Sends a part from each rank to every rank, itself included, as nccl-tests does. */
static NcclResult
all_to_all (const FabCollect *self, const FabNcclRank *rank, FabBytes size_bytes)
{
  gsize n = part_of (size_bytes, self->n_ranks);
  NcclResult result = NCCL_OK;

  for (guint peer = 0; result == NCCL_OK && peer < self->n_ranks; peer++) {
    FabBytes offset_bytes = peer * n * TYPE_BYTES;

    result = self->nccl->send (rank->gpu->out + offset_bytes, n, TYPE, (int) peer, rank->comm, rank->stream);
    if (result == NCCL_OK)
      result = self->nccl->receive (rank->gpu->in + offset_bytes, n, TYPE, (int) peer, rank->comm,
                                    rank->stream);
  }
  return result;
}

/* Sends to the next rank and receives from the previous one. */
static NcclResult
send_recv (const FabCollect *self, const FabNcclRank *rank, FabBytes size_bytes)
{
  gsize n = part_of (size_bytes, 1);
  guint me = rank->gpu->index, next = (me + 1) % self->n_ranks,
        last = (me + self->n_ranks - 1) % self->n_ranks;
  NcclResult result = self->nccl->send (rank->gpu->out, n, TYPE, (int) next, rank->comm, rank->stream);

  return result != NCCL_OK
           ? result
           : self->nccl->receive (rank->gpu->in, n, TYPE, (int) last, rank->comm, rank->stream);
}

static NcclResult
call (const FabCollect *self, const FabNcclRank *rank, FabBytes size_bytes)
{
  const FabNccl *nccl = self->nccl;
  CuPointer from = rank->gpu->out, to = rank->gpu->in;
  gsize whole = part_of (size_bytes, 1), part = part_of (size_bytes, self->n_ranks);

  switch (self->op) {
  case FAB_OP_ALL_REDUCE: return nccl->all_reduce (from, to, whole, TYPE, NCCL_SUM, rank->comm, rank->stream);
  case FAB_OP_ALL_GATHER: return nccl->all_gather (from, to, part, TYPE, rank->comm, rank->stream);
  case FAB_OP_REDUCE_SCATTER:
    return nccl->reduce_scatter (from, to, part, TYPE, NCCL_SUM, rank->comm, rank->stream);
  case FAB_OP_BROADCAST: return nccl->broadcast (from, to, whole, TYPE, 0, rank->comm, rank->stream);
  case FAB_OP_REDUCE: return nccl->reduce (from, to, whole, TYPE, NCCL_SUM, 0, rank->comm, rank->stream);
  case FAB_OP_ALL_TO_ALL: return all_to_all (self, rank, size_bytes);
  case FAB_OP_SEND_RECV: return send_recv (self, rank, size_bytes);
  case FAB_OP_GATHER:
  case FAB_OP_SCATTER:
  case FAB_N_OPS:
  default: g_assert_not_reached ();
  }
}

/* Queues one collective: the calls of all ranks form a group. */
static gboolean
queue_one (const FabCollect *self, FabBytes size_bytes, GError **error)
{
  const char *op = fab_op_names[self->op];
  NcclResult result = self->nccl->group_start ();

  if (!nccl_check (self->nccl, result, op, error))
    return FALSE;
  for (guint i = 0; result == NCCL_OK && i < self->n_ranks; i++)
    result = call (self, &self->ranks[i], size_bytes);
  if (result != NCCL_OK) {
    self->nccl->group_end ();
    return nccl_check (self->nccl, result, op, error);
  }
  return nccl_check (self->nccl, self->nccl->group_end (), op, error);
}

static gboolean
record (const FabCollect *self, gboolean is_start, GError **error)
{
  const FabCuda *cuda = self->gpus->cuda;

  for (guint i = 0; i < self->n_ranks; i++) {
    const FabNcclRank *rank = &self->ranks[i];

    if (!fab_gpu_use (self->gpus, rank->gpu, error)
        || !fab_cuda_check (cuda, cuda->event_record (is_start ? rank->start : rank->end, rank->stream),
                            "record an event", error))
      return FALSE;
  }
  return TRUE;
}

static gboolean
queue (const FabCollect *self, FabBytes size_bytes, guint n, GError **error)
{
  if (!record (self, TRUE, error))
    return FALSE;
  for (guint i = 0; i < n; i++)
    if (!queue_one (self, size_bytes, error))
      return FALSE;
  return record (self, FALSE, error);
}

static gboolean
finish_rank (const FabCollect *self, const FabNcclRank *rank, double *elapsed_ms, GError **error)
{
  const FabCuda *cuda = self->gpus->cuda;
  const char *op = fab_op_names[self->op];
  NcclResult result = NCCL_OK;
  float ms = 0;

  if (!fab_gpu_use (self->gpus, rank->gpu, error)
      || !fab_cuda_check (cuda, cuda->stream_synchronize (rank->stream), op, error)
      || !nccl_check (self->nccl, self->nccl->comm_async_error (rank->comm, &result), op, error)
      || !nccl_check (self->nccl, result, op, error)
      || !fab_cuda_check (cuda, cuda->event_elapsed (&ms, rank->start, rank->end), "read the clock", error))
    return FALSE;
  *elapsed_ms = fmax (*elapsed_ms, ms);
  return TRUE;
}

/* A FabTimedFunc over FabCollect: runs n_messages collectives in sequence on every rank's stream, and sets the
 * time of the slowest rank. */
static gboolean
collect_time (gpointer collect, FabBytes size_bytes, guint n_messages, FabTimePs *elapsed_ps, GError **error)
{
  FabCollect *self = collect;
  double total_ms = 0;

  for (guint n_left = n_messages; n_left > 0;) {
    guint n = MIN (n_left, BATCH);
    double elapsed_ms = 0;

    self->is_broken = !queue (self, size_bytes, n, error);
    for (guint i = 0; !self->is_broken && i < self->n_ranks; i++)
      self->is_broken = !finish_rank (self, &self->ranks[i], &elapsed_ms, error);
    if (self->is_broken)
      return FALSE;
    total_ms += elapsed_ms;
    n_left -= n;
  }
  *elapsed_ps = MAX ((FabTimePs) llround (total_ms * PS_PER_MS), 1);
  return TRUE;
}

/* The shortest sample: starting the first collective on all GPUs in sequence takes some 10 us each, a percent or two
 * of this. */
#define MIN_SAMPLE_PS G_GINT64_CONSTANT (2000000000)

typedef struct {
  gint64 n_gpus;
  const char *ops;
} Params;

static const FabParam params[] = {
  { .key = "gpus",
    .type = FAB_PARAM_COUNT,
    .offset = G_STRUCT_OFFSET (Params, n_gpus),
    .fallback = "0",
    .max = FAB_CUDA_MAX_GPUS,
    .help = "Number of GPUs that take part, counted from the first; 0: all." },
  { .key = "ops",
    .type = FAB_PARAM_TEXT,
    .offset = G_STRUCT_OFFSET (Params, ops),
    .fallback = "all_reduce,all_gather,reduce_scatter,broadcast,all_to_all",
    .help = "Collectives to measure, separated by commas; reduce and send_recv are possible too." },
  { NULL },
};

/* Parses names of operations. (transfer full) */
static GArray *
parse_ops (const char *text, GError **error)
{
  g_autoptr (GArray) ops = g_array_new (FALSE, FALSE, sizeof (FabOp));
  g_auto (GStrv) names = g_strsplit (text, ",", -1);

  for (guint i = 0; names[i]; i++) {
    const char *name = g_strstrip (names[i]);
    FabOp op = FAB_OP_ALL_REDUCE;

    while (op < FAB_N_OPS && !(g_str_equal (fab_op_names[op], name) && collect_can (op)))
      op++;
    if (op == FAB_N_OPS) {
      fab_throw (
          error, FAB_ERROR_INPUT,
          "ops: '%s' is none of all_reduce, all_gather, reduce_scatter, broadcast, reduce, all_to_all, "
          "send_recv",
          name);
      return NULL;
    }
    g_array_append_val (ops, op);
  }
  return g_steal_pointer (&ops);
}

/* Returns "NCCL_ALGO=Ring NCCL_PROTO=Simple"; NULL: no variable is set. (transfer full) */
static char *
environment (void)
{
  g_auto (GStrv) all = g_get_environ ();
  g_autoptr (GPtrArray) set = g_ptr_array_new ();

  for (guint i = 0; all[i]; i++)
    if (g_str_has_prefix (all[i], "NCCL_"))
      g_ptr_array_add (set, all[i]);
  if (set->len == 0)
    return NULL;
  g_ptr_array_sort (set, fab_order_texts);
  g_ptr_array_add (set, NULL);
  return g_strjoinv (" ", (char **) set->pdata);
}

static void
describe (FabMeasureHost *host, const FabNccl *nccl, const FabGpus *gpus)
{
  g_autofree char *version = nccl_version (nccl);
  g_autofree char *set = environment ();

  fab_cuda_describe (host, gpus);
  host->machine (host, "nccl", version);
  if (set)
    host->machine (host, "nccl.environment", set);
}

/* Returns what an environment variable requests, in the words of a series; NULL: NCCL chooses. (transfer full) */
static char *
asked_for (const char *variable)
{
  const char *text = g_getenv (variable);

  return text && *text ? g_ascii_strdown (text, -1) : NULL;
}

static gboolean
measure_ops (FabMeasureHost *host, FabCollect *collect, const GArray *ops, GError **error)
{
  g_autofree char *algorithm = asked_for ("NCCL_ALGO");
  g_autofree char *protocol = asked_for ("NCCL_PROTO");

  for (guint i = 0; i < ops->len; i++) {
    FabSeries series = { .kind = FAB_MEASURE_COLLECTIVE,
                         .backend = (char *) "nccl",
                         .from_memory = (char *) "gpu",
                         .to_memory = (char *) "gpu",
                         .algorithm = algorithm,
                         .method = protocol,
                         .n_ranks = collect->n_ranks,
                         .n_pairs = 1 };

    collect->op = g_array_index (ops, FabOp, i);
    series.op = (char *) fab_op_names[collect->op];
    if (!host->measure (host, &series, 0, collect_time, collect, error))
      return FALSE;
  }
  return TRUE;
}

static gboolean
measure (FabMeasureHost *host, gconstpointer data, GError **error)
{
  const Params *p = data;
  const FabMeasurePlan *plan = host->plan;
  FabBytes max_bytes = collect_buffer_bytes (plan->sizes_bytes[plan->n_sizes - 1], FAB_CUDA_MAX_GPUS);
  g_autoptr (GArray) ops = parse_ops (p->ops, error);
  g_autoptr (FabNccl) nccl = NULL;
  g_autoptr (FabGpus) gpus = NULL;
  g_autoptr (FabCollect) collect = NULL;

  if (!ops)
    return FALSE;
  if (!plan->kinds[FAB_MEASURE_COLLECTIVE])
    return fab_throw (error, FAB_ERROR_INPUT, "nccl measures kind collective only");
  nccl = nccl_open (error);
  gpus = nccl ? fab_gpus_open ((guint) p->n_gpus, max_bytes, error) : NULL;
  if (!gpus)
    return FALSE;
  if (gpus->n_gpus < 2)
    return fab_throw (error, FAB_ERROR_UNSUPPORTED,
                      "one GPU takes part: collectives need two or more in this machine");
  collect = collect_new (nccl, gpus, error);
  if (!collect)
    return FALSE;
  describe (host, nccl, gpus);
  host->min_sample_ps = MIN_SAMPLE_PS;
  return measure_ops (host, collect, ops, error);
}

static gboolean
probe (GError **error)
{
  g_autoptr (FabCuda) cuda = fab_cuda_open (error);
  g_autoptr (FabNccl) nccl = cuda ? nccl_open (error) : NULL;

  return nccl != NULL;
}

static const FabMeasureBackend backend = {
  .abi = FAB_MEASURE_ABI,
  .info = { .name = "nccl",
            .summary = "Collectives of NCCL over the GPUs here.",
            .doc = "docs/how-to/measure-nccl.md",
            .params = params,
            .params_size = sizeof (Params) },
  .needs = "two NVIDIA GPUs, their driver (libcuda.so.1) and NCCL (libnccl.so.2)",
  .measure = measure,
  .probe = probe,
};

const FabMeasureBackend *fab_measure_backend (void);

const FabMeasureBackend *
fab_measure_backend (void)
{
  return &backend;
}
