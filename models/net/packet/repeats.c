/* SPDX-License-Identifier: Apache-2.0 */
/* repeats.c - rounds of a collective that repeat are not played: the network goes on after the last of them.
 *
 * The caller (sim/collective/play/play.c) knows that its lines have done the same again and again. What is on the
 * wires, in queues and in buffers stays as it is and is due later. What links have counted since the mark
 * is counted as often again.
 */
#include "models/net/packet/parts.h"

/* What a lane has counted. */
struct _LaneMark {
  guint64 carried_bytes;
  double byte_ps, served, port_served;
  guint32 n_stalls, n_pauses, n_marks, n_drops;
};

GArray *
packet_lane_marks_new (void)
{
  return g_array_new (FALSE, FALSE, sizeof (struct _LaneMark));
}

void
packet_repeats_init (PacketNet *self)
{
  self->lane_marks = packet_lane_marks_new ();
}

void
packet_repeats_clear (PacketNet *self)
{
  g_array_unref (self->lane_marks);
}

static VirtualLane *
used_lane (const PacketNet *self, guint i)
{
  return &self->lanes[g_array_index (self->used_lanes, guint32, i)];
}

static double
queued_byte_ps (const PacketNet *self, const VirtualLane *lane)
{
  return lane->byte_ps + (double) lane->queued_bytes * (double) (self->now_ps - lane->changed_ps);
}

/* Senders whose window or rate follows what they hear remember times, which would be long ago after a skip. */
static gboolean
may_repeat (const PacketNet *self, guint n_lines)
{
  return self->params.has_memo && self->params.has_skip && self->n_lines - self->lone.n_lines == n_lines
      && self->n_others == 0
      && (self->n_senders == 0 || (self->congestion->reported == NULL && !self->congestion->takes_credit));
}

void
packet_lane_marks_take (const PacketNet *self, GArray *marks)
{
  g_array_set_size (marks, self->used_lanes->len);
  for (guint i = 0; i < self->used_lanes->len; i++) {
    const VirtualLane *lane = used_lane (self, i);

    g_array_index (marks, struct _LaneMark, i) = (struct _LaneMark){
      .carried_bytes = lane->carried_bytes,
      .byte_ps = queued_byte_ps (self, lane),
      .served = lane->served,
      .port_served = self->ports[lane->link].served,
      .n_stalls = lane->n_stalls,
      .n_pauses = lane->n_pauses,
      .n_marks = lane->n_marks,
      .n_drops = lane->n_drops,
    };
  }
}

gboolean
packet_mark (FabNet *net, guint n_lines)
{
  PacketNet *self = (PacketNet *) net;

  packet_net_enter (self);
  if (!may_repeat (self, n_lines))
    return FALSE;
  packet_lane_marks_take (self, self->lane_marks);
  packet_lone_messages_mark (self);
  return TRUE;
}

/* Whether nothing was marked or lost since the mark: what is drawn does not repeat, and senders remember it. */
static gboolean
is_calm (const PacketNet *self, const GArray *marks)
{
  if (marks->len != self->used_lanes->len)
    return FALSE;
  for (guint i = 0; i < self->used_lanes->len; i++) {
    const struct _LaneMark *before = &g_array_index (marks, struct _LaneMark, i);

    if (used_lane (self, i)->n_marks != before->n_marks || used_lane (self, i)->n_drops != before->n_drops)
      return FALSE;
  }
  return TRUE;
}

static inline guint64
so_often (double n_times, guint64 count)
{
  return (guint64) (n_times * (double) count + 0.5);
}

/* Moves what is due after `after_ps`. */
static inline void
delay_time (FabTimePs *time_ps, FabTimePs after_ps, FabTimePs by_ps)
{
  if (*time_ps > after_ps && *time_ps != FAB_TIME_MAX)
    *time_ps += by_ps;
}

static void
repeat_lane (PacketNet *self, const struct _LaneMark *before, guint i, double n_times, FabTimePs by_ps)
{
  guint32 number = g_array_index (self->used_lanes, guint32, i);
  VirtualLane *lane = &self->lanes[number];
  Port *port = &self->ports[lane->link];
  guint64 carried = lane->carried_bytes - before->carried_bytes;

  self->base.n_skipped += so_often (n_times, carried / self->params.mtu_bytes);
  lane->carried_bytes += so_often (n_times, carried);
  lane->byte_ps += n_times * (queued_byte_ps (self, lane) - before->byte_ps);
  lane->changed_ps += by_ps;
  lane->n_stalls += (guint32) so_often (n_times, lane->n_stalls - before->n_stalls);
  lane->n_pauses += (guint32) so_often (n_times, lane->n_pauses - before->n_pauses);
  lane->served += n_times * (lane->served - before->served);
  if (port->turn == number)
    port->served += n_times * (port->served - before->port_served);
}

static void
delay_port (PacketNet *self, guint32 link, FabTimePs after_ps, FabTimePs by_ps)
{
  Port *port = &self->ports[link];

  delay_time (&port->free_ps, after_ps, by_ps);
  for (guint32 number = port->head; number != NONE && number != port->tail;
       number = self->packets[number].next)
    self->packets[number].next_ps += by_ps;
}

/* A port of which no lane was used has sent nothing. */
static void
delay_ports (PacketNet *self, FabTimePs after_ps, FabTimePs by_ps)
{
  gboolean is_lane_per_link = self->n_lanes == self->n_links;

  for (guint32 i = 0; is_lane_per_link && i < self->used_lanes->len; i++)
    delay_port (self, used_lane (self, i)->link, after_ps, by_ps);
  for (guint32 link = 0; !is_lane_per_link && link < self->n_links; link++)
    delay_port (self, link, after_ps, by_ps);
  for (guint32 link = 0; self->params.message_gap_ps > 0 && link < self->n_links; link++)
    delay_time (&self->message_ps[link], after_ps, by_ps);
}

/* Entries that are due at the same time keep their order. */
static void
delay_agenda (PacketNet *self, FabTimePs by_ps)
{
  g_autoptr (GArray) entries = g_array_sized_new (FALSE, FALSE, sizeof (AgendaEntry), self->agenda.n);

  while (self->agenda.n > 0) {
    agenda_first_ps (&self->agenda);
    AgendaEntry entry = agenda_take (&self->agenda);

    g_array_append_val (entries, entry);
  }
  for (guint i = 0; i < entries->len; i++) {
    AgendaEntry entry = g_array_index (entries, AgendaEntry, i);

    agenda_add (&self->agenda, entry.at_ps + by_ps, entry.what & (AGENDA_KINDS - 1),
                entry.what >> AGENDA_KIND_BITS);
  }
}

gboolean
packet_lane_marks_repeat (PacketNet *self, const GArray *marks, double n_times, FabTimePs by_ps)
{
  if (!is_calm (self, marks))
    return FALSE;
  for (guint i = 0; i < self->used_lanes->len; i++)
    repeat_lane (self, &g_array_index (marks, struct _LaneMark, i), i, n_times, by_ps);
  return TRUE;
}

void
packet_lane_counts_take (const PacketNet *self, GArray *counts)
{
  packet_lane_marks_take (self, counts);
  for (guint i = 0; i < counts->len; i++)
    g_array_index (counts, struct _LaneMark, i).byte_ps = used_lane (self, i)->byte_ps;
}

guint64
packet_lane_carried_since (const PacketNet *self, const GArray *counts, guint i)
{
  return used_lane (self, i)->carried_bytes - g_array_index (counts, struct _LaneMark, i).carried_bytes;
}

void
packet_lane_counts_take_back (PacketNet *self, const GArray *counts, double share, FabTimePs by_ps)
{
  g_assert (counts->len == self->used_lanes->len);
  for (guint i = 0; i < counts->len; i++) {
    const struct _LaneMark *before = &g_array_index (counts, struct _LaneMark, i);
    VirtualLane *lane = used_lane (self, i);
    Port *port = &self->ports[lane->link];
    guint64 carried = so_often (share, lane->carried_bytes - before->carried_bytes);

    self->base.n_skipped -= carried / self->params.mtu_bytes;
    lane->carried_bytes -= carried;
    lane->byte_ps -= share * (lane->byte_ps - before->byte_ps);
    lane->changed_ps -= by_ps;
    lane->n_stalls -= (guint32) so_often (share, lane->n_stalls - before->n_stalls);
    lane->n_pauses -= (guint32) so_often (share, lane->n_pauses - before->n_pauses);
    lane->served -= share * (lane->served - before->served);
    if (port->turn == g_array_index (self->used_lanes, guint32, i))
      port->served -= share * (port->served - before->port_served);
  }
}

void
packet_delay (PacketNet *self, FabTimePs after_ps, FabTimePs by_ps)
{
  delay_ports (self, after_ps, by_ps);
  for (guint32 i = 0; i < self->n_flows; i++) {
    delay_time (&self->flows[i].next_ps, after_ps, by_ps);
    self->flows[i].resume_ps += by_ps; /* as the agenda */
  }
  for (guint32 i = 0; i < self->n_senders; i++)
    delay_time (&self->senders[i].gap_from_ps, after_ps, by_ps);
  delay_agenda (self, by_ps);
}

gboolean
packet_repeat (FabNet *net, double n_times, FabTimePs by_ps)
{
  PacketNet *self = (PacketNet *) net;

  packet_net_enter (self);
  if (!packet_lane_marks_repeat (self, self->lane_marks, n_times, by_ps))
    return FALSE;
  packet_lone_messages_skip (self, by_ps);
  packet_delay (self, self->now_ps, by_ps);
  self->timer_ps += by_ps;
  return TRUE;
}
