/* SPDX-License-Identifier: Apache-2.0 */
/* credits.c - receivers hand out credit (models/congestion/credit.c): one giver for each port at which bytes arrive.
 *
 *   asked         a sender's messages and what it has to send again; the receiver hears of it after the latency
 *   turn          those who lack credit are served one after another, one packet's worth each
 *   pace          no faster than the port receives
 *   outstanding   what was given, and the first credit, less what has arrived or was lost
 *
 * Words of credit take no bandwidth. O(1) per packet.
 */
#include "models/net/packet/parts.h"

static FabCongestion *
state_of (const PacketNet *self, guint32 sender)
{
  return packet_sender_state (self, sender);
}

static void
leave_later (PacketNet *self, guint32 sender, FabTimePs later_ps, gboolean is_grant)
{
  self->senders[sender].n_entries++;
  agenda_add (&self->agenda, self->now_ps + later_ps, KIND_CREDITS, sender << 1 | (is_grant != FALSE));
}

void
packet_credit_begin (PacketNet *self, guint32 number)
{
  Sender *sender = &self->senders[number];
  const PathSet *way = &g_array_index (self->ways, PathSet, sender->way);
  guint32 first = g_array_index (self->paths, guint32, way->first_path);

  for (const Hop *hop = &g_array_index (self->hops, Hop, first); hop->lane != NONE; hop++) {
    const VirtualLane *lane = &self->lanes[hop->lane];

    if (lane->control != CONTROL_PFC && !packet_lane_loses (lane))
      continue;
    sender->port = lane->link;
    sender->port_ps_per_byte = self->ports[lane->link].ps_per_byte * hop->cost;
  }
  sender->forth_ps = packet_sender_forth_ps (self, sender->way);
  sender->given_bytes = sender->first_bytes = state_of (self, number)->credit_bytes;
}

void
packet_credit_ask (PacketNet *self, guint32 number, FabBytes bytes, gboolean is_new)
{
  Sender *sender = &self->senders[number];
  double lacks = sender->first_bytes - state_of (self, number)->credit_bytes;

  if (is_new && sender->asked_bytes == sender->ended_bytes && lacks > 0) {
    state_of (self, number)->credit_bytes += lacks;
    sender->given_bytes += lacks;
  }
  sender->asked_bytes += bytes;
  leave_later (self, number, sender->forth_ps, FALSE);
}

/* --- the ring of those who lack credit; each holds a reference to itself --- */

static void
ring_add (PacketNet *self, Giver *giver, guint32 number)
{
  Sender *sender = &self->senders[number];

  sender->is_in_ring = TRUE;
  sender->n_entries++;
  sender->ring_next = number;
  if (giver->ring != NONE) {
    sender->ring_next = self->senders[giver->ring].ring_next;
    self->senders[giver->ring].ring_next = number;
  }
  giver->ring = number;
}

/* Removes the sender behind the one that was served last. */
static void
ring_drop (PacketNet *self, Giver *giver, guint32 number)
{
  Sender *sender = &self->senders[number];

  sender->is_in_ring = FALSE;
  if (giver->ring == number)
    giver->ring = NONE;
  else
    self->senders[giver->ring].ring_next = sender->ring_next;
  packet_sender_release (self, number);
}

static void
give_one (PacketNet *self, Giver *giver, guint32 number)
{
  Sender *sender = &self->senders[number];
  double mtu = (double) self->params.mtu_bytes, wanted = sender->heard_bytes - sender->given_bytes;

  giver->outstanding_bytes += MIN (mtu, wanted);
  giver->free_ps = self->now_ps + (FabTimePs) (sender->port_ps_per_byte * mtu);
  sender->given_bytes += mtu;
  leave_later (self, number, g_array_index (self->ways, PathSet, sender->way).back_ps, TRUE);
  if (wanted > mtu)
    giver->ring = number;
  else
    ring_drop (self, giver, number);
}

static void
give (PacketNet *self, guint32 port)
{
  Giver *giver = &self->givers[port];

  while (giver->ring != NONE && !giver->is_timed) {
    guint32 number = self->senders[giver->ring].ring_next;
    double outstanding = giver->outstanding_bytes + (double) self->params.mtu_bytes;

    if (self->senders[number].heard_bytes <= self->senders[number].given_bytes) {
      ring_drop (self, giver, number);
      continue;
    }
    if (outstanding > state_of (self, number)->outstanding_bytes)
      return;
    if (giver->free_ps <= self->now_ps) {
      give_one (self, giver, number);
    } else {
      giver->is_timed = TRUE;
      agenda_add (&self->agenda, giver->free_ps, KIND_GIVE, port);
    }
  }
}

/* The receiver hears what a sender wants. What the sender has credit for already is on its way. */
static void
hear (PacketNet *self, guint32 number)
{
  Sender *sender = &self->senders[number];
  Giver *giver = &self->givers[sender->port];
  double asked = (double) sender->asked_bytes, given = sender->given_bytes;

  giver->outstanding_bytes += MAX (MIN (asked, given) - MIN (sender->heard_bytes, given), 0);
  sender->heard_bytes = asked;
  if (asked > given && !sender->is_in_ring)
    ring_add (self, giver, number);
  give (self, sender->port);
}

void
packet_credits (PacketNet *self, guint32 what)
{
  guint32 sender = what >> 1;

  if (what & 1) {
    state_of (self, sender)->credit_bytes += (double) self->params.mtu_bytes;
    packet_sender_unblock (self, sender);
  } else {
    hear (self, sender);
  }
  packet_sender_release (self, sender);
}

void
packet_credit_give (PacketNet *self, guint32 port)
{
  self->givers[port].is_timed = FALSE;
  give (self, port);
}

/* A sender may send somewhat more than its credit, a part of a packet, so what is outstanding may be below 0. */
void
packet_credit_ended (PacketNet *self, guint32 sender, FabBytes bytes)
{
  guint32 port = self->senders[sender].port;

  self->senders[sender].ended_bytes += bytes;
  self->givers[port].outstanding_bytes -= (double) bytes;
  give (self, port);
}

void
packet_credit_cancel (PacketNet *self, guint32 number, FabBytes bytes)
{
  Sender *sender = &self->senders[number];
  Giver *giver = &self->givers[sender->port];
  double before = MIN (sender->heard_bytes, sender->given_bytes);

  sender->asked_bytes -= bytes;
  sender->heard_bytes = MIN (sender->heard_bytes, (double) sender->asked_bytes);
  giver->outstanding_bytes -= before - MIN (sender->heard_bytes, sender->given_bytes);
  give (self, sender->port);
}

/* Puts back what rounding leaves behind when nothing is on its way any more. */
void
packet_credits_rest (PacketNet *self)
{
  for (guint32 i = 0; self->givers != NULL && i < self->n_links; i++)
    self->givers[i] = (Giver){ .ring = NONE };
}
