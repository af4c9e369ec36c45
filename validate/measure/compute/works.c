/* SPDX-License-Identifier: Apache-2.0 */
/* works.c - kernels that only move memory, copies by copy engines, and launches.
 *
 * The size of a point is what the operation reads and writes: a copy of s / 2 bytes, a sum of s / 3, rows of s / 2. For
 * copies by copy engines it is the bytes that are copied, as in `measure cuda`.
 */
#include "validate/measure/clock.h"
#include "validate/measure/compute/run.h"

#define THREADS 512u
#define WORD_BYTES 16u
#define ROW_WORDS 1024u /* of 4096 FP32 numbers: a usual hidden size */
#define PS_PER_MS 1e9
#define BLOCKS_PER_SM 4u
#define MIN_SAMPLE_PS (2 * G_GINT64_CONSTANT (1000000000))
#define LAUNCH_SIZE 1u /* of a point that has no size */

/* The text of kernels.ptx, which ends with a byte 0. */
extern const char fab_compute_ptx[];

static const char *const names[FAB_N_WORKS] = { "fab_empty", "fab_copy_words", "fab_add_words",
                                                "fab_norm_rows" };

/* --- timing --- */

static gboolean
queue_batch (FabTimedQueue *self, FabBytes size_bytes, guint n, GError **error)
{
  FabComputeRun *run = self->run;
  FabGpus *gpus = run->gpus;
  const FabCuda *cuda = gpus->cuda;

  gpus->epoch++;
  if (gpus->can_wait_value
      && !fab_cuda_check (cuda,
                          cuda->stream_wait_value (run->stream, (CuPointer) (gsize) &gpus->shared->hold,
                                                   gpus->epoch, CU_WAIT_GEQ),
                          "hold the stream", error))
    return FALSE;
  if (!fab_cuda_check (cuda, cuda->event_record (run->start, run->stream), "record an event", error))
    return FALSE;
  for (guint i = 0; i < n; i++)
    if (!self->queue (self->data, size_bytes, error))
      return FALSE;
  return fab_cuda_check (cuda, cuda->event_record (run->end, run->stream), "record an event", error);
}

/* Waits for the stream, also after a failure: nothing may run when buffers are freed. */
static gboolean
finish (FabComputeRun *run, gboolean is_queued, GError **error)
{
  CuResult result = run->gpus->cuda->stream_synchronize (run->stream);

  return is_queued && fab_cuda_check (run->gpus->cuda, result, run->gpu->name, error);
}

static gboolean
time_by_events (FabTimedQueue *self, FabBytes size_bytes, guint n_messages, FabTimePs *elapsed_ps,
                GError **error)
{
  FabComputeRun *run = self->run;
  double total_ms = 0;

  for (guint n_left = n_messages; n_left > 0;) {
    guint n = MIN (n_left, self->window);
    gboolean is_queued = queue_batch (self, size_bytes, n, error);
    float ms = 0;

    run->gpus->shared->hold = run->gpus->epoch;
    if (!finish (run, is_queued, error)
        || !fab_cuda_check (run->gpus->cuda, run->gpus->cuda->event_elapsed (&ms, run->start, run->end),
                            "read the clock", error))
      return FALSE;
    total_ms += (double) ms;
    n_left -= n;
  }
  *elapsed_ps = MAX ((FabTimePs) (total_ms * PS_PER_MS), 1);
  return TRUE;
}

static gboolean
time_by_host (FabTimedQueue *self, FabBytes size_bytes, guint n_messages, FabTimePs *elapsed_ps,
              GError **error)
{
  FabTimePs start_ps = fab_clock_ps ();
  gboolean is_queued = TRUE;

  for (guint i = 0; is_queued && i < n_messages; i++)
    is_queued = self->queue (self->data, size_bytes, error);
  if (!finish (self->run, is_queued, error))
    return FALSE;
  *elapsed_ps = MAX (fab_clock_ps () - start_ps, 1);
  return TRUE;
}

gboolean
fab_timed_queue (gpointer queue, FabBytes size_bytes, guint n_messages, FabTimePs *elapsed_ps, GError **error)
{
  FabTimedQueue *self = queue;

  return fab_gpu_use (self->run->gpus, self->run->gpu, error)
      && (self->by_host ? time_by_host : time_by_events) (self, size_bytes, n_messages, elapsed_ps, error);
}

/* --- kernels --- */

static gboolean
launch (FabComputeRun *run, guint work, guint n_blocks, guint n_threads, void **arguments, GError **error)
{
  const FabCuda *cuda = run->gpus->cuda;

  return fab_cuda_check (
      cuda, cuda->launch (run->works[work], n_blocks, 1, 1, n_threads, 1, 1, 0, run->stream, arguments, NULL),
      names[work], error);
}

static guint
count_blocks (const FabComputeRun *run, guint64 n_words)
{
  return (guint) CLAMP ((n_words + THREADS - 1) / THREADS, 1,
                        (guint64) BLOCKS_PER_SM * run->gpu->n_multiprocessors);
}

static gboolean
queue_empty (gpointer data, G_GNUC_UNUSED FabBytes size_bytes, GError **error)
{
  return launch (data, FAB_WORK_EMPTY, 1, 1, NULL, error);
}

static gboolean
queue_copy (gpointer data, FabBytes size_bytes, GError **error)
{
  FabComputeRun *run = data;
  CuPointer to = run->gpu->in, from = run->gpu->out;
  guint64 n_words = MAX (size_bytes / 2 / WORD_BYTES, 1);
  void *arguments[] = { &to, &from, &n_words };

  return launch (run, FAB_WORK_COPY, count_blocks (run, n_words), THREADS, arguments, error);
}

static gboolean
queue_add (gpointer data, FabBytes size_bytes, GError **error)
{
  FabComputeRun *run = data;
  guint64 n_words = MAX (size_bytes / 3 / WORD_BYTES, 1);
  CuPointer to = run->gpu->in, a = run->gpu->out, b = run->gpu->out + n_words * WORD_BYTES;
  void *arguments[] = { &to, &a, &b, &n_words };

  return launch (run, FAB_WORK_ADD, count_blocks (run, n_words), THREADS, arguments, error);
}

static gboolean
queue_norm (gpointer data, FabBytes size_bytes, GError **error)
{
  FabComputeRun *run = data;
  CuPointer to = run->gpu->in, from = run->gpu->out;
  guint32 row = ROW_WORDS;
  guint n_rows = (guint) MAX (size_bytes / 2 / (ROW_WORDS * WORD_BYTES), 1);
  void *arguments[] = { &to, &from, &row };

  return launch (run, FAB_WORK_NORM, n_rows, THREADS, arguments, error);
}

gboolean
fab_works_load (FabComputeRun *run, GError **error)
{
  const FabCuda *cuda = run->gpus->cuda;
  CuResult result = cuda->module_load (&run->module, fab_compute_ptx);

  if (result != CU_OK) {
    run->module = NULL;
    run->host->note (
        run->host,
        "the driver does not compile the kernels of this program (error %d): kernels that move memory and "
        "launches are left out",
        result);
    return TRUE;
  }
  for (guint i = 0; i < FAB_N_WORKS; i++)
    if (!fab_cuda_check (cuda, cuda->module_function (&run->works[i], run->module, names[i]), names[i],
                         error))
      return FALSE;
  return TRUE;
}

/* --- copies by copy engines --- */

typedef struct {
  FabComputeRun *run;
  void *host; /* pinned memory of the host */
} Copy;

static gboolean
copy_to_gpu (gpointer data, FabBytes size_bytes, GError **error)
{
  Copy *self = data;
  const FabCuda *cuda = self->run->gpus->cuda;

  return fab_cuda_check (
      cuda, cuda->copy_to_device (self->run->gpu->in, self->host, (gsize) size_bytes, self->run->stream),
      "copy to the GPU", error);
}

static gboolean
copy_to_host (gpointer data, FabBytes size_bytes, GError **error)
{
  Copy *self = data;
  const FabCuda *cuda = self->run->gpus->cuda;

  return fab_cuda_check (
      cuda, cuda->copy_to_host (self->host, self->run->gpu->out, (gsize) size_bytes, self->run->stream),
      "copy to the host", error);
}

static gboolean
copy_on_gpu (gpointer data, FabBytes size_bytes, GError **error)
{
  Copy *self = data;
  const FabCuda *cuda = self->run->gpus->cuda;

  return fab_cuda_check (cuda,
                         cuda->copy_on_device (self->run->gpu->in, self->run->gpu->out, (gsize) size_bytes,
                                               self->run->stream),
                         "copy on the GPU", error);
}

/* --- measuring --- */

FabSeries
fab_compute_series (const FabComputeRun *run, FabMeasureKind kind, const char *op, const char *method)
{
  return (FabSeries){
    .kind = kind,
    .backend = (char *) "compute",
    .from = run->gpu->name,
    .to = run->gpu->name,
    .from_memory = (char *) "gpu",
    .to_memory = (char *) "gpu",
    .method = (char *) method,
    .op = (char *) op,
  };
}

static gboolean
measure_memory (FabComputeRun *run, GError **error)
{
  static const struct {
    const char *op;
    FabQueueFunc queue;
  } kernels[] = { { "copy", queue_copy }, { "add", queue_add }, { "norm", queue_norm } };

  for (guint i = 0; i < G_N_ELEMENTS (kernels); i++) {
    FabSeries series = fab_compute_series (run, FAB_MEASURE_MEMORY_BOUND, kernels[i].op, "kernel");
    FabTimedQueue queue = { .run = run, .queue = kernels[i].queue, .data = run, .window = 64 };

    if (!run->host->measure (run->host, &series, run->params->buffer_bytes, fab_timed_queue, &queue, error))
      return FALSE;
  }
  return TRUE;
}

static gboolean
measure_launches (FabComputeRun *run, GError **error)
{
  FabSeries gap = fab_compute_series (run, FAB_MEASURE_LAUNCH, "empty", "held");
  FabSeries issue = fab_compute_series (run, FAB_MEASURE_LAUNCH, "empty", "issued");
  FabTimedQueue queue = { .run = run, .queue = queue_empty, .data = run, .window = 200 };

  if (run->gpus->can_wait_value
      && !run->host->measure_one (run->host, &gap, LAUNCH_SIZE, fab_timed_queue, &queue, error))
    return FALSE;
  if (!run->gpus->can_wait_value)
    run->host->note (run->host, "streams cannot be held here: the gap between two kernels is not measured");
  queue.by_host = TRUE;
  return run->host->measure_one (run->host, &issue, LAUNCH_SIZE, fab_timed_queue, &queue, error);
}

static gboolean
measure_copies (FabComputeRun *run, void *host, GError **error)
{
  Copy copy = { .run = run, .host = host };
  FabTimedQueue queue = { .run = run, .data = &copy, .window = 64 };
  const struct {
    FabQueueFunc queue;
    const char *from, *to;
  } ways[] = {
    { copy_on_gpu, run->gpu->name, run->gpu->name },
    { copy_to_gpu, "host", run->gpu->name },
    { copy_to_host, run->gpu->name, "host" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (ways); i++) {
    FabSeries series = fab_compute_series (run, FAB_MEASURE_COPY, NULL, "copy");

    series.from = (char *) ways[i].from, series.to = (char *) ways[i].to;
    series.from_memory = (char *) (g_str_equal (ways[i].from, "host") ? "host" : "gpu");
    series.to_memory = (char *) (g_str_equal (ways[i].to, "host") ? "host" : "gpu");
    queue.queue = ways[i].queue;
    if (!run->host->measure (run->host, &series, run->params->buffer_bytes, fab_timed_queue, &queue, error))
      return FALSE;
  }
  return TRUE;
}

static gboolean
copies (FabComputeRun *run, GError **error)
{
  const FabMeasurePlan *plan = run->host->plan;
  const FabCuda *cuda = run->gpus->cuda;
  FabBytes size_bytes = MIN (plan->sizes_bytes[plan->n_sizes - 1], run->params->buffer_bytes);
  void *host = NULL;
  gboolean is_ok = fab_cuda_check (
                       cuda, cuda->host_alloc (&host, (gsize) size_bytes, CU_HOST_PORTABLE | CU_HOST_MAPPED),
                       "pin host memory", error)
                && measure_copies (run, host, error);

  if (host)
    cuda->host_free (host);
  return is_ok;
}

gboolean
fab_works_measure (FabComputeRun *run, GError **error)
{
  const gboolean *kinds = run->host->plan->kinds;
  gboolean is_ok;

  run->host->min_sample_ps = MIN_SAMPLE_PS;
  is_ok = (!run->module || !kinds[FAB_MEASURE_LAUNCH] || measure_launches (run, error))
       && (!run->module || !kinds[FAB_MEASURE_MEMORY_BOUND] || measure_memory (run, error))
       && (!kinds[FAB_MEASURE_COPY] || copies (run, error));
  run->host->min_sample_ps = 0;
  return is_ok;
}
