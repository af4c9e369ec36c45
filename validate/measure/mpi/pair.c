/* SPDX-License-Identifier: Apache-2.0 */
/* pair.c - moves messages between rank 0 and another rank. */
#include "sim/base/error.h"
#include "validate/measure/clock.h"
#include "validate/measure/mpi/ranks.h"

enum { USUAL_WINDOW = 64 };

typedef struct {
  FabPair base;
  int other;
  gboolean is_asking;
  char *out, *in;
  guint window;
  MPI_Request *out_requests, *in_requests; /* [window] */
} MpiPair;

static void
pair_close (FabPair *pair)
{
  MpiPair *self = (MpiPair *) pair;

  g_free (self->out);
  g_free (self->in);
  g_free (self->out_requests);
  g_free (self->in_requests);
  g_free (self);
}

static FabPair *
pair_open (FabControl *control, G_GNUC_UNUSED gconstpointer params, const FabMeasurePlan *plan,
           FabBytes max_bytes, gboolean is_asking, GError **error)
{
  int here = (int) fab_mpi_rank (), there = 0;
  MpiPair *self;

  if (max_bytes > G_MAXINT) {
    fab_throw (error, FAB_ERROR_INPUT, "MPI counts up to %d bytes in a message; measure smaller sizes",
               G_MAXINT);
    return NULL;
  }
  if (!control->send (control, &here, sizeof here, error)
      || !control->receive (control, &there, sizeof there, error))
    return NULL;
  self = g_new0 (MpiPair, 1);
  self->base.ops = &fab_mpi_pair_ops;
  self->other = there;
  self->is_asking = is_asking;
  self->window = plan->window > 0 ? plan->window : USUAL_WINDOW;
  self->out = g_malloc0 ((gsize) MAX (max_bytes, 1));
  self->in = g_malloc0 ((gsize) MAX (max_bytes, 1));
  self->out_requests = g_new (MPI_Request, self->window);
  self->in_requests = g_new (MPI_Request, self->window);
  return &self->base;
}

static void
ping_pong (MpiPair *self, int size, guint n)
{
  for (guint i = 0; i < n; i++) {
    if (self->is_asking)
      MPI_Send (self->out, size, MPI_BYTE, self->other, FAB_MPI_TAG_DATA, MPI_COMM_WORLD);
    MPI_Recv (self->in, size, MPI_BYTE, self->other, FAB_MPI_TAG_DATA, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (!self->is_asking)
      MPI_Send (self->out, size, MPI_BYTE, self->other, FAB_MPI_TAG_DATA, MPI_COMM_WORLD);
  }
}

static void
exchange (MpiPair *self, int size, guint n)
{
  for (guint i = 0; i < n; i++)
    MPI_Sendrecv (self->out, size, MPI_BYTE, self->other, FAB_MPI_TAG_DATA, self->in, size, MPI_BYTE,
                  self->other, FAB_MPI_TAG_DATA, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

/* Moves `n` messages out, in or both, with at most `window` of each in flight; then the answering end sends a word. */
static void
stream (MpiPair *self, gboolean is_sending, gboolean is_receiving, int size, guint n)
{
  char word = 0;

  for (guint i = 0; i < self->window; i++)
    self->out_requests[i] = self->in_requests[i] = MPI_REQUEST_NULL;
  for (guint i = 0; i < n; i++) {
    guint slot = i % self->window;

    if (is_receiving) {
      MPI_Wait (&self->in_requests[slot], MPI_STATUS_IGNORE);
      MPI_Irecv (self->in, size, MPI_BYTE, self->other, FAB_MPI_TAG_DATA, MPI_COMM_WORLD,
                 &self->in_requests[slot]);
    }
    if (is_sending) {
      MPI_Wait (&self->out_requests[slot], MPI_STATUS_IGNORE);
      MPI_Isend (self->out, size, MPI_BYTE, self->other, FAB_MPI_TAG_DATA, MPI_COMM_WORLD,
                 &self->out_requests[slot]);
    }
  }
  MPI_Waitall ((int) self->window, self->in_requests, MPI_STATUSES_IGNORE);
  MPI_Waitall ((int) self->window, self->out_requests, MPI_STATUSES_IGNORE);
  if (self->is_asking)
    MPI_Recv (&word, 1, MPI_BYTE, self->other, FAB_MPI_TAG_WORD, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  else
    MPI_Send (&word, 1, MPI_BYTE, self->other, FAB_MPI_TAG_WORD, MPI_COMM_WORLD);
}

static gboolean
pair_move (FabPair *pair, FabMeasureKind kind, FabBytes size_bytes, guint n_messages, FabTimePs *elapsed_ps,
           G_GNUC_UNUSED GError **error)
{
  MpiPair *self = (MpiPair *) pair;
  gboolean is_both = kind == FAB_MEASURE_BIDIRECTIONAL;
  int size = (int) size_bytes;
  FabTimePs start_ps = fab_clock_ps ();

  if (kind == FAB_MEASURE_LATENCY)
    ping_pong (self, size, n_messages);
  else if (kind == FAB_MEASURE_EXCHANGE)
    exchange (self, size, n_messages);
  else
    stream (self, is_both || self->is_asking, is_both || !self->is_asking, size, n_messages);
  *elapsed_ps = fab_clock_ps () - start_ps;
  return TRUE;
}

static void
set_text (char **field, const char *text)
{
  g_free (*field);
  *field = g_strdup (text);
}

/* The ends' names are those of the control channel. */
static void
pair_describe (const FabPair *pair, FabSeries *series)
{
  gboolean is_stream = series->kind == FAB_MEASURE_BANDWIDTH || series->kind == FAB_MEASURE_BIDIRECTIONAL;

  set_text (&series->method, "send");
  set_text (&series->from_memory, "host");
  set_text (&series->to_memory, "host");
  series->window = is_stream ? ((const MpiPair *) pair)->window : 1;
}

const FabPairOps fab_mpi_pair_ops = {
  .open = pair_open,
  .move = pair_move,
  .describe = pair_describe,
  .close = pair_close,
  .can = { [FAB_MEASURE_LATENCY] = TRUE,
           [FAB_MEASURE_BANDWIDTH] = TRUE,
           [FAB_MEASURE_EXCHANGE] = TRUE,
           [FAB_MEASURE_BIDIRECTIONAL] = TRUE },
  .name = "mpi",
};
