/* SPDX-License-Identifier: Apache-2.0 */
/* both_ends.c - the two threads. Before the first sample each end fills what it sends from with its own pattern;
 * after the last, the receiving half shows whose bytes arrived.
 */
#include "tests/support/fake_verbs/both_ends.h"

#include <glib/gstdio.h>
#include <sys/socket.h>
#include <unistd.h>

#include "sim/base/error.h"
#include "tests/support/params.h"
#include "validate/measure/verbs/ends.h"

extern const FabMeasureBackend *fab_measure_backend (void);

typedef struct {
  FabControl base;
  int fd;
} SocketControl;

static gboolean
socket_send (FabControl *control, gconstpointer data, gsize size, GError **error)
{
  return send (((SocketControl *) control)->fd, data, size, MSG_NOSIGNAL) == (gssize) size
      || fab_throw (error, FAB_ERROR_IO, "the other end is gone");
}

static gboolean
socket_receive (FabControl *control, gpointer data, gsize size, GError **error)
{
  return recv (((SocketControl *) control)->fd, data, size, MSG_WAITALL) == (gssize) size
      || fab_throw (error, FAB_ERROR_IO, "the other end is gone");
}

typedef struct {
  BothEnds *both;
  guint index;
  SocketControl control;
  Params *params;
} End;

static guint8
pattern (guint index, gsize i)
{
  return (guint8) (i * 7 + 31 + index * 101);
}

static void
count_received (End *self, const FabVerbsPair *pair)
{
  BothEnds *both = self->both;
  const guint8 *bytes = (const guint8 *) (guintptr) pair->memory.address + pair->memory.half_bytes;

  for (gsize i = 0; i < both->max_bytes; i++)
    both->n_received[self->index] += bytes[i] == pattern (!self->index, i);
}

static gboolean
move_all (End *self, FabVerbsPair *pair, GError **error)
{
  BothEnds *both = self->both;
  guint8 *bytes = (guint8 *) (guintptr) pair->memory.address;

  for (gsize i = 0; i < both->max_bytes; i++)
    bytes[i] = pattern (self->index, i);
  for (const Sample *sample = both->samples; sample && sample->n_messages > 0; sample++) {
    FabTimePs elapsed_ps = 0;

    if (!pair->base.ops->move (&pair->base, sample->kind, sample->size_bytes, sample->n_messages, &elapsed_ps,
                               error))
      return FALSE;
    if (self->index == 1)
      continue;
    both->elapsed_ps = elapsed_ps;
    fab_series_clear (&both->series);
    both->series = (FabSeries){ .kind = sample->kind };
    pair->base.ops->describe (&pair->base, &both->series);
  }
  return TRUE;
}

/* Both are done before either looks, or ends: RDMA tells the other end nothing. */
static void
meet (End *self)
{
  guint8 byte = 0;

  socket_send (&self->control.base, &byte, 1, NULL);
  socket_receive (&self->control.base, &byte, 1, NULL);
}

static gpointer
run_end (gpointer data)
{
  End *self = data;
  BothEnds *both = self->both;
  FabMeasurePlan plan = { .window = both->window, .timeout_s = both->timeout_s };
  const FabVerbsParams *params = self->params->params;
  gboolean has_gpu = params->memory == FAB_VERBS_GPU || params->peer_memory == FAB_VERBS_GPU;
  const FabPairOps *ops = self->index == 1 ? fab_verbs_ops (FAB_VERBS_SEND, FALSE)
                                           : fab_verbs_ops ((FabVerbsMethod) params->method, has_gpu);
  g_autoptr (GError) error = NULL;
  FabPair *pair = ops->open (&self->control.base, params, &plan, both->max_bytes, self->index == 0, &error);

  both->is_open[self->index] = pair != NULL;
  if (pair != NULL) {
    meet (self);
    if ((self->index == 0 || !both->is_peer_gone) && move_all (self, (FabVerbsPair *) pair, &error)) {
      meet (self);
      count_received (self, (FabVerbsPair *) pair);
      meet (self);
    }
    ops->close (pair);
  }
  both->errors[self->index] = error != NULL ? g_strdup (error->message) : NULL;
  shutdown (self->control.fd, SHUT_RDWR);
  return NULL;
}

void
both_ends_run (BothEnds *self)
{
  int fds[2];
  End ends[2];
  GThread *other;

  g_setenv ("FAB_FAKE_DEVICES", self->devices, TRUE);
  g_assert (socketpair (AF_UNIX, SOCK_STREAM, 0, fds) == 0);
  for (guint i = 0; i < 2; i++) {
    ends[i] = (End){ .both = self, .index = i };
    ends[i].control = (SocketControl){ { .send = socket_send, .receive = socket_receive }, fds[i] };
    ends[i].control.base.here = i == 0 ? "10.0.0.1" : "10.0.0.2";
    ends[i].control.base.there = i == 0 ? "10.0.0.2" : "10.0.0.1";
    ends[i].params = params_new (&fab_measure_backend ()->info,
                                 self->params[i] != NULL ? self->params[i] : "");
  }
  other = g_thread_new ("other end", run_end, &ends[1]);
  run_end (&ends[0]);
  g_thread_join (other);
  for (guint i = 0; i < 2; i++) {
    params_free (ends[i].params);
    close (fds[i]);
  }
}

void
both_ends_clear (BothEnds *self)
{
  fab_series_clear (&self->series);
  g_free (self->errors[0]);
  g_free (self->errors[1]);
}

int
both_ends_set_up (void **state)
{
  *state = g_dir_make_tmp ("fab-verbs-XXXXXX", NULL);
  g_setenv ("FAB_FAKE_VERBS", *state, TRUE);
  g_unsetenv ("FAB_FAKE_CUDA");
  return 0;
}

int
both_ends_tear_down (void **state)
{
  g_autoptr (GDir) directory = g_dir_open (*state, 0, NULL);

  for (const char *name = g_dir_read_name (directory); name != NULL; name = g_dir_read_name (directory)) {
    g_autofree char *path = g_build_filename (*state, name, NULL);

    g_unlink (path);
  }
  g_rmdir (*state);
  g_free (*state);
  return 0;
}
