/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/support/fake_net.h"

typedef struct {
  FabNet base;
  FakeNets *nets;
  guint64 stream; /* of random numbers */
  guint64 n_drawn;
  FabLinkId jammed;
  GHashTable *queues;  /* from link to FabLaneQueue, since the network rested */
  GHashTable *streams; /* of FakeStream: those under way */
} FakeNet;

typedef struct {
  FakeNet *net;
  const FabFootprint *footprint;
  FabBytes bytes;
  FabDone done;
} FakeStream;

static void
fail_on (const FakeNet *self, FabBytes bytes)
{
  if (self->nets->fail_bytes > 0 && bytes == self->nets->fail_bytes)
    fab_engine_fail (self->base.env.engine, "%" G_GINT64_FORMAT " bytes are too many", (gint64) bytes);
}

static void
carry_late (gpointer owner, guint64 link)
{
  FakeNet *self = owner;

  fail_on (self, self->nets->late_bytes);
  fab_meter_add_link (self->base.meter, (FabLinkId) link, (double) self->nets->late_bytes,
                      (double) self->nets->late_bytes);
}

static void
stream_end (gpointer owner, G_GNUC_UNUSED guint64 arg)
{
  const FakeStream *stream = owner;
  FakeNet *self = stream->net;
  const FabDone done = stream->done;

  fab_meter_add_line (self->base.meter, stream->footprint, (double) stream->bytes, 1);
  if (self->nets->late_bytes > 0)
    fab_engine_after (self->base.env.engine, self->nets->late_ps, carry_late, self,
                      stream->footprint->links[0]);
  g_hash_table_remove (self->streams, stream);
  done.fn (done.owner, done.arg);
}

static void
tick (gpointer owner, guint64 n_left)
{
  FakeNet *self = owner;

  if (n_left > 0)
    fab_engine_after (self->base.env.engine, 0, tick, self, n_left - 1);
}

static void
note_queue (FakeNet *self, FabLinkId link, FabBytes bytes)
{
  FabLaneQueue *queue = g_hash_table_lookup (self->queues, GUINT_TO_POINTER (link));

  if (queue == NULL) {
    queue = g_new0 (FabLaneQueue, 1);
    g_hash_table_insert (self->queues, GUINT_TO_POINTER (link), queue);
  }
  queue->lane = queue->link = link;
  queue->carried_bytes += (guint64) bytes;
  queue->most_bytes = MAX (queue->most_bytes, (guint64) bytes);
  queue->n_stalls++;
}

/* Times are counted from this ps. */
static void
note_due (FakeNet *self)
{
  const GArray *due = self->base.skips_due;

  for (guint i = 0; self->nets->due != NULL && due != NULL && i < due->len; i++) {
    const FabSkip *skip = &g_array_index (due, FabSkip, i);

    g_string_append_printf (self->nets->due, "%" G_GINT64_FORMAT "+%" G_GINT64_FORMAT " ",
                            skip->at_ps - fab_engine_now (self->base.env.engine), skip->by_ps);
  }
}

static FabTimePs
slow_ps (const FakeNets *nets, gint number)
{
  gboolean is_slow = number >= nets->slow_from
                  && (nets->n_slow == 0 || number < nets->slow_from + nets->n_slow);

  return is_slow ? nets->slow_ps : 0;
}

static void
fake_stream (FabNet *net, const FabStream *stream)
{
  FakeNet *self = (FakeNet *) net;
  FakeStream *copy = g_new (FakeStream, 1);
  const FabSkip skip = { fab_engine_now (net->env.engine), self->nets->skip_ps };
  gint number = 1 + g_atomic_int_add (&self->nets->n_streams, 1);
  *copy = (FakeStream){ self, stream->footprint, stream->bytes, stream->done };
  g_hash_table_add (self->streams, copy);
  note_queue (self, stream->footprint->links[0], stream->bytes);
  note_due (self);
  if (self->nets->skip_ps > 0)
    g_array_append_val (net->skips, skip);
  self->n_drawn += self->nets->drawn_ps > 0;
  net->n_skipped += self->nets->n_skipped;
  fail_on (self, stream->bytes);
  if (self->nets->n_ticks > 0)
    tick (self, self->nets->n_ticks);
  if (self->nets->jam_bytes > 0 && stream->bytes == self->nets->jam_bytes)
    self->jammed = stream->footprint->links[0];
  else
    fab_engine_after (net->env.engine,
                      stream->bytes + (FabTimePs) self->stream * self->nets->drawn_ps
                          + slow_ps (self->nets, number),
                      stream_end, copy, 0);
}

static FabNet *
fake_create (const FabNetEnv *env, gconstpointer params)
{
  FakeNets *nets = (FakeNets *) params;
  FakeNet *self = g_new0 (FakeNet, 1);

  g_atomic_int_inc (&nets->n_nets);
  fab_net_init (&self->base, &nets->ops, env);
  self->nets = nets;
  self->jammed = FAB_NO_LINK;
  self->queues = g_hash_table_new_full (NULL, NULL, NULL, g_free);
  self->streams = g_hash_table_new_full (NULL, NULL, g_free, NULL);
  return &self->base;
}

static void
fake_destroy (FabNet *net)
{
  FakeNet *self = (FakeNet *) net;

  g_hash_table_unref (self->queues);
  g_hash_table_unref (self->streams);
  fab_net_clear (net);
  g_free (self);
}

static void
fake_rest (FabNet *net, guint64 stream)
{
  FakeNet *self = (FakeNet *) net;

  g_atomic_int_inc (&self->nets->n_rests);
  self->stream = stream;
  g_hash_table_remove_all (self->queues);
}

static void
fake_list_queues (const FabNet *net, GArray *queues)
{
  const FakeNet *self = (const FakeNet *) net;

  for (FabLinkId link = 0; link < fab_graph_n_links (net->env.graph); link++) {
    const FabLaneQueue *queue = g_hash_table_lookup (self->queues, GUINT_TO_POINTER (link));

    if (queue != NULL)
      g_array_append_val (queues, *queue);
  }
}

static FabLinkQueue
fake_link_queue (G_GNUC_UNUSED const FabNet *net, G_GNUC_UNUSED FabLinkId link)
{
  return (FabLinkQueue){ 0 };
}

static guint64
fake_n_drawn (const FabNet *net)
{
  return ((const FakeNet *) net)->n_drawn;
}

static gboolean
fake_is_separable (const FabNet *net, FabLinkId link)
{
  return link == FAB_NO_LINK || link != ((const FakeNet *) net)->nets->inseparable;
}

static double
fake_tolerance (gconstpointer params)
{
  return ((const FakeNets *) params)->tolerance;
}

static FabLinkId
fake_find_jam (const FabNet *net)
{
  return fab_engine_next_ps (net->env.engine) == FAB_TIME_NEVER ? ((const FakeNet *) net)->jammed
                                                                : FAB_NO_LINK;
}

static gboolean
fake_is_still (const FabNet *net)
{
  return fab_engine_next_ps (net->env.engine) == FAB_TIME_NEVER;
}

static gboolean
fake_has_order (const FabNet *net)
{
  FakeNets *nets = ((const FakeNet *) net)->nets;

  nets->n_order_asked++;
  return nets->has_order;
}

FakeNets
fake_nets (void)
{
  return (FakeNets){ .ops = { .info = { .name = "fake" },
                              .create = fake_create,
                              .stream = fake_stream,
                              .destroy = fake_destroy,
                              .rest = fake_rest,
                              .list_queues = fake_list_queues,
                              .link_queue = fake_link_queue,
                              .n_drawn = fake_n_drawn,
                              .is_separable = fake_is_separable,
                              .tolerance = fake_tolerance,
                              .find_jam = fake_find_jam,
                              .is_still = fake_is_still,
                              .has_order = fake_has_order },
                     .inseparable = FAB_NO_LINK };
}

FabNet *
fake_net_new (FakeNets *nets, FabEngine *engine, const Rig *rig)
{
  return fake_create (&(FabNetEnv){ engine, rig->graph, rig->router, 1 }, nets);
}
