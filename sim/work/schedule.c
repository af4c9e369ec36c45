/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/work/schedule.h"

#include "sim/work/schedule_private.h"

static void
load_clear (gpointer data)
{
  g_clear_pointer (&((Load *) data)->footprint, fab_footprint_free);
}

static void
connection_clear (gpointer data)
{
  Connection *connection = data;

  fab_hop_clear (&connection->hop);
  g_array_unref (connection->loads);
}

FabSchedule *
fab_schedule_new (const FabCluster *cluster)
{
  FabSchedule *self = g_new0 (FabSchedule, 1);

  self->cluster = cluster;
  self->connections = g_array_new (FALSE, FALSE, sizeof (Connection));
  g_array_set_clear_func (self->connections, connection_clear);
  self->messages = g_array_new (FALSE, FALSE, sizeof (Message));
  self->waits = g_array_new (FALSE, FALSE, sizeof (Wait));
  return self;
}

void
fab_schedule_free (FabSchedule *self)
{
  if (self == NULL)
    return;
  g_array_unref (self->connections);
  g_array_unref (self->messages);
  g_array_unref (self->waits);
  g_free (self);
}

guint
fab_schedule_n_messages (const FabSchedule *self)
{
  return self->messages->len;
}

/* --- building --- */

guint
fab_schedule_hop (FabSchedule *self, FabHop *hop, double net_stretch)
{
  Connection connection = { *hop, net_stretch, NO_INDEX, g_array_new (FALSE, FALSE, sizeof (Load)) };

  g_assert (hop->shares->len > 0);
  g_array_set_clear_func (connection.loads, load_clear);
  hop->shares = NULL;
  g_array_append_val (self->connections, connection);
  self->has_footprints = FALSE;
  return self->connections->len - 1;
}

static guint
load_of (Connection *connection, double weight)
{
  Load load = { weight, NULL };

  for (guint i = 0; i < connection->loads->len; i++) {
    double known = g_array_index (connection->loads, Load, i).weight;

    if (known <= weight && known >= weight)
      return i;
  }
  g_array_append_val (connection->loads, load);
  return connection->loads->len - 1;
}

static void
wait_for (FabSchedule *self, guint message, guint before)
{
  Wait wait = { message, message_at (self, before)->first_wait };

  g_assert (before < message);
  g_array_append_val (self->waits, wait);
  message_at (self, before)->first_wait = self->waits->len - 1;
}

guint
fab_schedule_message (FabSchedule *self, guint hop, double weight, const guint *after, guint n_after)
{
  Connection *connection = connection_at (self, hop);
  guint index = self->messages->len;
  gboolean is_first = connection->last == NO_INDEX;
  Message message = { .connection = hop,
                      .load = load_of (connection, weight),
                      .n_before = n_after + (is_first ? 0 : 1),
                      .follower = NO_INDEX,
                      .first_wait = NO_INDEX };

  g_assert (weight > 0);
  g_array_append_val (self->messages, message);
  if (!is_first)
    message_at (self, connection->last)->follower = index;
  connection->last = index;
  for (guint i = 0; i < n_after; i++)
    wait_for (self, index, after[i]);
  self->has_footprints = self->has_ways = FALSE;
  return index;
}

static void
make_footprints (FabSchedule *self)
{
  g_autoptr (FabFootprintBuilder) builder = fab_footprint_builder_new (self->cluster->graph);

  /* Messages both ways over a link are as slow together as one footprint both ways is. */
  for (guint i = 0; i < self->connections->len; i++)
    fab_hop_use (&connection_at (self, i)->hop, 1, connection_at (self, i)->net_stretch, builder);
  fab_footprint_builder_keep_duplex (builder);
  for (guint i = 0; i < self->connections->len; i++) {
    Connection *connection = connection_at (self, i);

    for (guint l = 0; l < connection->loads->len; l++) {
      Load *load = &g_array_index (connection->loads, Load, l);

      load_clear (load);
      fab_hop_use (&connection->hop, load->weight, connection->net_stretch, builder);
      load->footprint = fab_footprint_builder_finish (builder);
    }
  }
  self->has_footprints = TRUE;
}

/* --- playing --- */

static void message_left (gpointer owner, guint64 arg);

static void
message_start (FabSchedule *self, guint index)
{
  const Message *message = message_at (self, index);
  const Connection *connection = connection_at (self, message->connection);
  FabStream stream = {
    .footprint = g_array_index (connection->loads, Load, message->load).footprint,
    .bytes = self->bytes,
    .wire_factor = self->wire_factor,
    .share = 1,
    .done = { message_left, self, index },
  };

  fab_net_stream (self->net, &stream);
}

static void
unblock (FabSchedule *self, guint index)
{
  Message *message = message_at (self, index);

  g_assert (message->n_missing > 0);
  if (--message->n_missing == 0)
    message_start (self, index);
}

static void
message_arrived (gpointer owner, guint64 arg)
{
  FabSchedule *self = owner;
  guint wait = message_at (self, (guint) arg)->first_wait;

  for (; wait != NO_INDEX; wait = g_array_index (self->waits, Wait, wait).next)
    unblock (self, g_array_index (self->waits, Wait, wait).message);
  if (--self->n_left > 0)
    return;
  self->net = NULL; /* before: it may be played again from there */
  self->done.fn (self->done.owner, self->done.arg);
}

/* The wire is a pipe: while the last byte travels, the next message starts behind it. */
static void
message_left (gpointer owner, guint64 arg)
{
  FabSchedule *self = owner;
  const Message *message = message_at (self, (guint) arg);
  FabTimePs latency_ps = connection_at (self, message->connection)->hop.latency_ps;

  fab_engine_after (self->net->env.engine, latency_ps, message_arrived, self, arg);
  if (message->follower != NO_INDEX)
    unblock (self, message->follower);
}

void
fab_schedule_play (FabSchedule *self, FabNet *net, FabBytes bytes, double wire_factor, FabDone done)
{
  g_assert (self->net == NULL && self->messages->len > 0);
  if (!self->has_footprints)
    make_footprints (self);
  self->net = net;
  self->bytes = bytes;
  self->wire_factor = wire_factor;
  self->done = done;
  self->n_left = self->messages->len;
  for (guint i = 0; i < self->messages->len; i++)
    message_at (self, i)->n_missing = message_at (self, i)->n_before;
  for (guint i = 0; i < self->messages->len; i++)
    if (message_at (self, i)->n_before == 0)
      message_start (self, i);
}
