/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/execution/kernels.h"

/* The kernel that runs on a stream. */
typedef struct {
  gboolean is_running;
  __int128 left;      /* work left in ps x SMs, at the time since_ps */
  FabTimePs since_ps; /* when `left` was computed */
  FabTimer end;       /* cancelled, or 0: the kernel makes no progress */
  FabDone done;
} Kernel;

struct _FabKernels {
  FabEngine *engine;
  const FabDag *dag;
  guint n_sms;
  Kernel *kernels;      /* per stream */
  guint *n_held;        /* per rank class: channels that move bytes */
  guint *stream_starts; /* [n_classes + 1] into streams */
  guint *streams;       /* sorted by rank class */
};

static void
index_streams (FabKernels *self)
{
  const FabDag *dag = self->dag;
  g_autofree guint *fill = g_new (guint, dag->n_classes + 1);

  self->stream_starts = g_new0 (guint, dag->n_classes + 1);
  self->streams = g_new (guint, dag->n_streams + 1);
  for (guint s = 0; s < dag->n_streams; s++)
    self->stream_starts[dag->streams[s].rank_class + 1]++;
  for (guint c = 0; c < dag->n_classes; c++) {
    self->stream_starts[c + 1] += self->stream_starts[c];
    fill[c] = self->stream_starts[c];
  }
  for (guint s = 0; s < dag->n_streams; s++)
    self->streams[fill[dag->streams[s].rank_class]++] = s;
}

FabKernels *
fab_kernels_new (FabEngine *engine, const FabDag *dag, guint n_sms)
{
  FabKernels *self = g_new0 (FabKernels, 1);

  self->engine = engine;
  self->dag = dag;
  self->n_sms = n_sms;
  self->kernels = g_new0 (Kernel, dag->n_streams);
  self->n_held = g_new0 (guint, dag->n_classes);
  index_streams (self);
  return self;
}

void
fab_kernels_free (FabKernels *self)
{
  if (self == NULL)
    return;
  g_free (self->kernels);
  g_free (self->n_held);
  g_free (self->stream_starts);
  g_free (self->streams);
  g_free (self);
}

static guint
free_sms (const FabKernels *self, guint rank_class)
{
  return self->n_sms - MIN (self->n_held[rank_class], self->n_sms);
}

static void
kernel_done (gpointer owner, guint64 stream)
{
  Kernel *kernel = &((FabKernels *) owner)->kernels[stream];

  kernel->is_running = FALSE;
  kernel->done.fn (kernel->done.owner, kernel->done.arg);
}

/* Schedules the kernel's end at the present rate. */
static void
schedule (FabKernels *self, guint stream)
{
  Kernel *kernel = &self->kernels[stream];
  guint n_free = free_sms (self, self->dag->streams[stream].rank_class);
  __int128 rest_ps = n_free > 0 ? (kernel->left + n_free - 1) / n_free : 0;

  if (kernel->left > 0 && n_free == 0)
    return;
  g_assert (rest_ps <= FAB_TIME_MAX);
  kernel->end = fab_engine_after (self->engine, (FabTimePs) rest_ps, kernel_done, self, stream);
}

void
fab_kernels_start (FabKernels *self, guint stream, FabTimePs duration_ps, FabDone done)
{
  Kernel *kernel = &self->kernels[stream];

  g_assert (!kernel->is_running && duration_ps >= 0);
  if (self->n_sms == 0) {
    fab_engine_after (self->engine, duration_ps, done.fn, done.owner, done.arg);
    return;
  }
  *kernel = (Kernel){ .is_running = TRUE,
                      .left = (__int128) duration_ps * self->n_sms,
                      .since_ps = fab_engine_now (self->engine),
                      .done = done };
  schedule (self, stream);
}

/* Subtracts the work done at the rate until now. A kernel without work left ends at this time; the last ps of a kernel
 * may have room for more than its work. */
static void
count (FabKernels *self, guint stream, guint n_free)
{
  Kernel *kernel = &self->kernels[stream];
  FabTimePs now_ps = fab_engine_now (self->engine);

  kernel->left -= (__int128) (now_ps - kernel->since_ps) * n_free;
  kernel->since_ps = now_ps;
}

static void
change_held (FabKernels *self, guint rank_class, guint n_held)
{
  guint n_before = free_sms (self, rank_class);

  self->n_held[rank_class] = n_held;
  if (free_sms (self, rank_class) == n_before)
    return;
  for (guint i = self->stream_starts[rank_class]; i < self->stream_starts[rank_class + 1]; i++) {
    guint stream = self->streams[i];
    Kernel *kernel = &self->kernels[stream];

    if (!kernel->is_running)
      continue;
    count (self, stream, n_before);
    if (kernel->left <= 0)
      continue;
    fab_engine_cancel (self->engine, kernel->end);
    schedule (self, stream);
  }
}

void
fab_copy_kernels_hold (FabKernels *self, guint collective)
{
  const FabDag *dag = self->dag;
  guint n_channels = dag->collectives[collective].plan.n_channels;

  for (guint i = dag->join_starts[collective]; i < dag->join_starts[collective + 1]; i++)
    change_held (self, dag->join_classes[i], self->n_held[dag->join_classes[i]] + n_channels);
}

void
fab_kernels_let_go (FabKernels *self, guint collective)
{
  const FabDag *dag = self->dag;
  guint n_channels = dag->collectives[collective].plan.n_channels;

  for (guint i = dag->join_starts[collective]; i < dag->join_starts[collective + 1]; i++) {
    g_assert (self->n_held[dag->join_classes[i]] >= n_channels);
    change_held (self, dag->join_classes[i], self->n_held[dag->join_classes[i]] - n_channels);
  }
}
