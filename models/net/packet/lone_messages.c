/* SPDX-License-Identifier: Apache-2.0 */
/* lone_messages.c - long messages beside rounds that repeat (repeats.c): when rounds are skipped, these go on at their
 * rates.
 *
 * A lone message is one on a line whose messages nobody skips (FabConnection.repeats), such as that of an all-to-all.
 * It may share links with messages that come and go, so its rate is compared over two windows. Where both agree to
 * 2 %, the message is moved on by whole packets at the mean of the two rates. Where they do not, nothing is skipped.
 */
#include <math.h>

#include "models/net/packet/parts.h"

/* A lone message at the ends of the last two windows, the later one first. */
struct _LoneMark {
  guint32 flow;
  FabBytes missing_bytes[2];
  FabTimePs last_ps[2]; /* when its last packet had arrived */
  double bytes_per_ps;  /* over the last window and the one that has begun */
};

static struct _LoneMark *
mark_at (const PacketNet *self, guint i)
{
  return &g_array_index (self->lone.marks, struct _LoneMark, i);
}

void
packet_lone_messages_init (PacketNet *self)
{
  self->lone.marks = g_array_new (FALSE, FALSE, sizeof (struct _LoneMark));
}

void
packet_lone_messages_clear (PacketNet *self)
{
  g_array_unref (self->lone.marks);
}

void
packet_lone_messages_rest (PacketNet *self)
{
  self->lone.n_windows = 0;
  g_array_set_size (self->lone.marks, 0);
}

/* Begins anew with the lone that are under way. */
static void
find_lone_messages (PacketNet *self)
{
  packet_lone_messages_rest (self);
  self->lone.n_at_mark = self->lone.n_changes;
  for (guint32 i = 0; self->lone.n_lines > 0 && i < self->n_flows; i++) {
    const Flow *flow = &self->flows[i];
    struct _LoneMark mark = { .flow = i };

    if (flow->is_single && !flow->is_over && flow->missing_bytes > 0)
      g_array_append_val (self->lone.marks, mark);
  }
}

void
packet_lone_messages_mark (PacketNet *self)
{
  if (self->lone.n_at_mark != self->lone.n_changes || self->lone.n_windows == 0)
    find_lone_messages (self);
  for (guint i = 0; i < self->lone.marks->len; i++) {
    struct _LoneMark *mark = mark_at (self, i);
    const Flow *flow = &self->flows[mark->flow];

    mark->missing_bytes[1] = mark->missing_bytes[0];
    mark->last_ps[1] = mark->last_ps[0];
    mark->missing_bytes[0] = flow->missing_bytes;
    mark->last_ps[0] = flow->last_ps;
  }
  self->lone.n_windows++;
  self->lone.marked_ps = self->now_ps;
}

static double
rate_between (FabBytes from_bytes, FabTimePs from_ps, FabBytes to_bytes, FabTimePs to_ps)
{
  return to_ps > from_ps ? (double) (from_bytes - to_bytes) / (double) (to_ps - from_ps) : 0;
}

/* Returns for how long a single goes on as in the last two windows; 0: its rate has changed. */
static FabTimePs
lone_message_lasts (const PacketNet *self, struct _LoneMark *mark)
{
  const double near = 0.02;
  const Flow *flow = &self->flows[mark->flow];
  double before = rate_between (mark->missing_bytes[1], mark->last_ps[1], mark->missing_bytes[0],
                                mark->last_ps[0]);
  double now = rate_between (mark->missing_bytes[0], mark->last_ps[0], flow->missing_bytes, flow->last_ps);

  if (before <= 0 || fabs (now / before - 1) > near
      || g_array_index (self->ways, PathSet, flow->way).is_lossy)
    return 0;
  mark->bytes_per_ps = rate_between (mark->missing_bytes[1], mark->last_ps[1], flow->missing_bytes,
                                     flow->last_ps);
  return (FabTimePs) ((double) flow->left_bytes / mark->bytes_per_ps) - (self->now_ps - self->lone.marked_ps);
}

FabTimePs
packet_lasts (FabNet *net)
{
  PacketNet *self = (PacketNet *) net;
  FabTimePs lasts_ps = FAB_TIME_MAX;
  const guint least = 2; /* windows */

  packet_net_enter (self);
  if (self->lone.n_lines == 0)
    return FAB_TIME_MAX;
  if (self->lone.n_at_mark != self->lone.n_changes || self->lone.n_windows < least || self->n_senders > 0)
    return 0;
  for (guint i = 0; i < self->lone.marks->len; i++)
    lasts_ps = MIN (lasts_ps, lone_message_lasts (self, mark_at (self, i)));
  return MAX (lasts_ps, 0);
}

void
packet_lone_messages_skip (PacketNet *self, FabTimePs by_ps)
{
  /* Where the last line has been closed since, the marks are of messages that are over. */
  for (guint i = 0; self->lone.n_lines > 0 && i < self->lone.marks->len; i++) {
    const struct _LoneMark *mark = mark_at (self, i);
    guint64 n_packets = (guint64) (mark->bytes_per_ps * (double) by_ps / (double) self->params.mtu_bytes);

    packet_flow_move (self, mark->flow, n_packets, by_ps);
  }
  packet_lone_messages_rest (self);
}
