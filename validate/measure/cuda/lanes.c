/* SPDX-License-Identifier: Apache-2.0 */
/* lanes.c - queues copies on held streams and reads the events around them. */
#include "validate/measure/cuda/lanes.h"

#include <math.h>

#include "validate/measure/clock.h"

#define PS_PER_MS 1e9

FabCopyStreams *
fab_copy_streams_new (FabGpus *gpus, guint n_lanes, guint n_timed, guint window)
{
  FabCopyStreams *self = g_new0 (FabCopyStreams, 1);

  self->gpus = gpus;
  self->lanes = g_new0 (FabCopyStream, n_lanes);
  self->n_lanes = n_lanes;
  self->n_timed = n_timed;
  self->window = window > 0 ? window : FAB_LANE_WINDOW;
  self->is_held = TRUE;
  return self;
}

/* Returns the GPU that runs the copy: the sending one, but for loads the receiving one. */
static const FabGpu *
worker (const FabCopyStream *lane)
{
  return !lane->from || lane->how == FAB_COPY_LOAD ? lane->to : lane->from;
}

void
fab_copy_streams_free (FabCopyStreams *self)
{
  if (!self)
    return;
  for (guint i = 0; i < self->n_lanes; i++) {
    const FabCopyStream *lane = &self->lanes[i];
    const FabCuda *cuda = self->gpus->cuda;

    if (worker (lane))
      cuda->context_use (worker (lane)->context);
    if (lane->start)
      cuda->event_destroy (lane->start);
    if (lane->end)
      cuda->event_destroy (lane->end);
    if (lane->round)
      cuda->event_destroy (lane->round);
    if (lane->stream)
      cuda->stream_destroy (lane->stream);
  }
  g_free (self->lanes);
  g_free (self);
}

static gboolean
open_lane (const FabCopyStreams *self, FabCopyStream *lane, GError **error)
{
  const FabCuda *cuda = self->gpus->cuda;

  return fab_gpu_use (self->gpus, worker (lane), error)
      && fab_cuda_check (cuda, cuda->stream_create (&lane->stream, CU_STREAM_NON_BLOCKING), "make a stream",
                         error)
      && fab_cuda_check (cuda, cuda->event_create (&lane->start, 0), "make an event", error)
      && fab_cuda_check (cuda, cuda->event_create (&lane->end, 0), "make an event", error)
      && fab_cuda_check (cuda, cuda->event_create (&lane->round, 0), "make an event", error);
}

gboolean
fab_copy_streams_set (FabCopyStreams *self, guint index, FabCopyHow how, const FabGpu *from, const FabGpu *to,
                      void *host, GError **error)
{
  FabCopyStream *lane = &self->lanes[index];

  *lane = (FabCopyStream){ .how = how, .from = from, .to = to, .host = host };
  lane->source = from ? from->out : (CuPointer) (gsize) host;
  lane->target = to ? to->in : (CuPointer) (gsize) host;
  return open_lane (self, lane, error);
}

gboolean
fab_copy_streams_set_both (FabCopyStreams *self, guint index, const FabGpu *gpu, void *host_out,
                           void *host_in, GError **error)
{
  FabCopyStream *lane = &self->lanes[index];

  *lane = (FabCopyStream){ .how = FAB_COPY_BOTH, .to = gpu };
  lane->source = (CuPointer) (gsize) host_out;
  lane->target = gpu->in;
  lane->back_source = gpu->out;
  lane->back_target = (CuPointer) (gsize) host_in;
  return open_lane (self, lane, error);
}

/* Fails with a message that begins with the lane, "gpu0 to gpu1: copy". */
static gboolean
check (const FabCopyStreams *self, const FabCopyStream *lane, CuResult result, const char *what,
       GError **error)
{
  g_autofree char *doing = NULL;

  if (result == CU_OK)
    return TRUE;
  doing = g_strdup_printf ("%s to %s: %s", lane->from ? lane->from->name : "host",
                           lane->to ? lane->to->name : "host", what);
  return fab_cuda_check (self->gpus->cuda, result, doing, error);
}

static gboolean
queue_copy (const FabCopyStreams *self, const FabCopyStream *lane, FabBytes size_bytes, GError **error)
{
  const FabCuda *cuda = self->gpus->cuda;
  gsize size = (gsize) size_bytes;
  CuResult result = CU_OK;

  switch (lane->how) {
  case FAB_COPY_TO_GPU: result = cuda->copy_to_device (lane->target, lane->host, size, lane->stream); break;
  case FAB_COPY_TO_HOST: result = cuda->copy_to_host (lane->host, lane->source, size, lane->stream); break;
  case FAB_COPY_ON_GPU: result = cuda->copy_on_device (lane->target, lane->source, size, lane->stream); break;
  case FAB_COPY_PEER:
    result = cuda->copy_peer (lane->target, lane->to->context, lane->source, lane->from->context, size,
                              lane->stream);
    break;
  case FAB_COPY_STORE:
  case FAB_COPY_LOAD:
    return fab_copy_kernels_copy (self->gpus, worker (lane), lane->target, lane->source, size_bytes,
                                  lane->stream, error);
  case FAB_COPY_BOTH:
    return fab_copy_kernels_both (self->gpus, worker (lane), lane->target, lane->source, lane->back_target,
                                  lane->back_source, size_bytes, lane->stream, error);
  default: g_assert_not_reached ();
  }
  return check (self, lane, result, "copy", error);
}

/* Makes the stream wait until `shared->hold` reaches the epoch; it does not wait where neither memory operations nor
 * kernels can do that. */
static gboolean
hold (const FabCopyStreams *self, const FabCopyStream *lane, GError **error)
{
  FabGpus *gpus = self->gpus;

  if (!self->is_held)
    return TRUE;
  if (gpus->can_wait_value)
    return check (self, lane,
                  gpus->cuda->stream_wait_value (lane->stream, (CuPointer) (gsize) &gpus->shared->hold,
                                                 gpus->epoch, CU_WAIT_GEQ),
                  "hold the stream", error);
  if (fab_gpu_has_kernels (worker (lane)))
    return fab_copy_kernels_hold (gpus, worker (lane), gpus->epoch, lane->stream, error);
  return TRUE;
}

static gboolean
record (const FabCopyStreams *self, const FabCopyStream *lane, CuEvent event, GError **error)
{
  return check (self, lane, self->gpus->cuda->event_record (event, lane->stream), "record an event", error);
}

/* Queues a batch of `n` messages on a lane; on lanes that are not timed half as many more, so that they are busy
 * until the end. */
static gboolean
queue_lane (const FabCopyStreams *self, guint index, FabBytes size_bytes, guint n, GError **error)
{
  const FabCopyStream *lane = &self->lanes[index];
  guint n_copies = index < self->n_timed ? n : n + n / 2 + 1;

  if (!fab_gpu_use (self->gpus, worker (lane), error) || !hold (self, lane, error)
      || !record (self, lane, lane->start, error))
    return FALSE;
  for (guint i = 0; i < n_copies; i++)
    if (!queue_copy (self, lane, size_bytes, error))
      return FALSE;
  return record (self, lane, lane->end, error);
}

static gboolean
queue_stream (const FabCopyStreams *self, FabBytes size_bytes, guint n, GError **error)
{
  /* timed lanes come last, so that the others run when they begin */
  for (guint i = self->n_lanes; i-- > 0;)
    if (!queue_lane (self, i, size_bytes, n, error))
      return FALSE;
  return TRUE;
}

static gboolean
meet (const FabCopyStreams *self, const FabCopyStream *waits, const FabCopyStream *other, GError **error)
{
  return fab_gpu_use (self->gpus, worker (waits), error)
      && check (self, waits, self->gpus->cuda->stream_wait_event (waits->stream, other->round, 0), "wait",
                error);
}

static gboolean
queue_round (const FabCopyStreams *self, const FabCopyStream *lane, FabBytes size_bytes, GError **error)
{
  return fab_gpu_use (self->gpus, worker (lane), error) && queue_copy (self, lane, size_bytes, error)
      && record (self, lane, lane->round, error);
}

static gboolean
queue_exchange (const FabCopyStreams *self, FabBytes size_bytes, guint n, GError **error)
{
  const FabCopyStream *a = &self->lanes[0], *b = &self->lanes[1];

  if (!fab_gpu_use (self->gpus, worker (b), error) || !hold (self, b, error)
      || !fab_gpu_use (self->gpus, worker (a), error) || !hold (self, a, error)
      || !record (self, a, a->start, error))
    return FALSE;
  for (guint i = 0; i < n; i++)
    if (!queue_round (self, b, size_bytes, error) || !queue_round (self, a, size_bytes, error)
        || !meet (self, a, b, error) || !meet (self, b, a, error))
      return FALSE;
  return fab_gpu_use (self->gpus, worker (a), error) && record (self, a, a->end, error);
}

/* Waits for all streams, also after a failure: nothing may run when buffers are freed. */
static gboolean
finish (const FabCopyStreams *self, GError **error)
{
  gboolean is_ok = TRUE;

  for (guint i = 0; i < self->n_lanes; i++) {
    const FabCopyStream *lane = &self->lanes[i];
    CuResult result;

    self->gpus->cuda->context_use (worker (lane)->context);
    result = self->gpus->cuda->stream_synchronize (lane->stream);
    if (is_ok)
      is_ok = check (self, lane, result, "copy", error);
  }
  return is_ok;
}

static gboolean
read_events (const FabCopyStreams *self, guint n_timed, double *elapsed_ms, GError **error)
{
  *elapsed_ms = 0;
  for (guint i = 0; i < n_timed; i++) {
    const FabCopyStream *lane = &self->lanes[i];
    float ms = 0;

    if (!fab_gpu_use (self->gpus, worker (lane), error)
        || !check (self, lane, self->gpus->cuda->event_elapsed (&ms, lane->start, lane->end),
                   "read the clock", error))
      return FALSE;
    *elapsed_ms = fmax (*elapsed_ms, ms);
  }
  return TRUE;
}

typedef gboolean (*QueueFunc) (const FabCopyStreams *self, FabBytes size_bytes, guint n, GError **error);

static gboolean
run_batches (FabCopyStreams *self, QueueFunc queue, guint n_timed, FabBytes size_bytes, guint n_messages,
             FabTimePs *elapsed_ps, GError **error)
{
  double total_ms = 0;

  for (guint n_left = n_messages; n_left > 0;) {
    guint n = MIN (n_left, self->window);
    gboolean is_queued;
    double ms;

    self->gpus->epoch++;
    is_queued = queue (self, size_bytes, n, error);
    self->gpus->shared->hold = self->gpus->epoch;
    if (!finish (self, is_queued ? error : NULL) || !is_queued || !read_events (self, n_timed, &ms, error))
      return FALSE;
    total_ms += ms;
    n_left -= n;
  }
  *elapsed_ps = MAX ((FabTimePs) llround (total_ms * PS_PER_MS), 1);
  return TRUE;
}

gboolean
fab_copy_streams_stream (gpointer lanes, FabBytes size_bytes, guint n_messages, FabTimePs *elapsed_ps,
                         GError **error)
{
  FabCopyStreams *self = lanes;

  return run_batches (self, queue_stream, self->n_timed, size_bytes, n_messages, elapsed_ps, error);
}

gboolean
fab_copy_streams_exchange (gpointer lanes, FabBytes size_bytes, guint n_messages, FabTimePs *elapsed_ps,
                           GError **error)
{
  return run_batches (lanes, queue_exchange, 1, size_bytes, n_messages, elapsed_ps, error);
}

gboolean
fab_copy_streams_single (gpointer lanes, FabBytes size_bytes, guint n_messages, FabTimePs *elapsed_ps,
                         GError **error)
{
  FabCopyStreams *self = lanes;
  const FabCopyStream *lane = &self->lanes[0];
  FabTimePs start_ps;

  if (!fab_gpu_use (self->gpus, worker (lane), error))
    return FALSE;
  start_ps = fab_clock_ps ();
  for (guint i = 0; i < n_messages; i++)
    if (!queue_copy (self, lane, size_bytes, error)
        || !check (self, lane, self->gpus->cuda->stream_synchronize (lane->stream), "copy", error))
      return FALSE;
  *elapsed_ps = MAX (fab_clock_ps () - start_ps, 1);
  return TRUE;
}
