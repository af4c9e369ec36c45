/* SPDX-License-Identifier: Apache-2.0 */
/* parts.h - the state of the packet network, for its own files.
 *
 * Objects refer to each other by index, not by pointer: all of them are in growing arrays, and a packet takes 32
 * bytes. A packet is in one list at a time: that of its link while it is travelling, or that of a queue while it
 * waits.
 *
 *   link    one direction of a link of the graph; a wire that sends one packet after another
 *   lane    a link and a level (most paths use one level): what waits for the wire, and the buffer at the far end
 *   queue   packets that came over one lane and wait for another
 *   flow    what one sender has to send; it waits for its lane like a queue
 *   way     the paths that a flow's packets take
 */
#pragma once

#include "models/net/packet/agenda.h"
#include "models/net/packet/packet.h"
#include "sim/base/mix.h"
#include "sim/base/pool.h"
#include "sim/net/congestion.h"
#include "sim/net/net.h"

#define NONE G_MAXUINT32

enum {
  KIND_ARRIVE,  /* link: its first packet arrives */
  KIND_WAKE,    /* link: its wire is free again */
  KIND_CREDIT,  /* lane: there is room for `credit_bytes` more */
  KIND_ACK,     /* flow: `ack_bytes` have arrived */
  KIND_RESUME,  /* flow: may send again */
  KIND_LEFT,    /* flow: its last packet has left the sender */
  KIND_PAUSE,   /* lane: the far end stops it */
  KIND_UNPAUSE, /* lane: the far end lets it go on */
  KIND_TOLD,    /* sender: packets of it were marked */
  KIND_NACK,    /* flow: a packet is missing */
  KIND_TIMEOUT, /* flow: its last packets may be missing */
  KIND_REPORT,  /* packet: its sender hears of it */
  KIND_CREDITS, /* sender x 2: its receiver hears of what it wants; + 1: it gets credit */
  KIND_GIVE,    /* link: its receiver may give credit again */
};

typedef struct {
  FabTimePs next_ps; /* when the packet behind it on the link (`next`) arrives */
  guint32 next;
  guint32 flow;
  guint32 hop;  /* index of the hop that it takes or waits for */
  guint32 size; /* payload bytes */
  guint32 number;
  guint32 from; /* lane in whose buffer it is, or NONE */
} Packet;

typedef struct {
  FabTimePs free_ps; /* the wire is busy until then; FAB_TIME_MAX: the link is dead */
  FabTimePs latency_ps;
  double ps_per_byte; /* time per byte at line rate */
  guint32 head, tail; /* packets on the wire */
  guint32 turn;       /* the lane that was served last */
  double served;      /* for lanes served in turn: the virtual start time of the last service */
  gboolean is_woken;  /* a KIND_WAKE is on the agenda */
} Port;

typedef struct {
  guint32 link;
  guint32 next;         /* next lane of the same link, in a circular list */
  guint32 ring;         /* the last of the waiting entries, whose `next` is the first, or NONE */
  guint32 before_last;  /* the entry before it in the ring */
  gint32 room_bytes;    /* credit: room in the buffer at the far end */
  guint32 owed_bytes;   /* credit: room that is free again and not yet reported */
  guint32 credit_bytes; /* credit: room that one report frees */
  guint8 control;
  guint8 service, level;
  guint8 ends_in_memory;
  guint8 last_was_served;      /* the last of the ring was the last to be served */
  guint8 is_paused, has_asked; /* pfc: the far end has paused it; the far end has asked for a pause */
  guint32 queued_bytes;        /* bytes that wait, without what flows have not sent */
  guint32 most_bytes;
  /* For lanes that take turns: bytes sent over weight, at least the value that others had when it began to wait. */
  double served;
  FabTimePs changed_ps;  /* when `queued_bytes` changed last */
  double byte_ps;        /* integral of queued_bytes over time */
  guint64 carried_bytes; /* payload */
  guint32 held_bytes;    /* pfc: bytes that wait at the far end */
  guint32 n_stalls;      /* number of times that it waited for room */
  guint32 n_pauses, n_marks, n_drops;
} VirtualLane;

typedef struct {
  guint32 head, tail;
  guint32 next; /* next in the ring of waiting queues and flows */
} Queue;

/* One link of a path. */
typedef struct {
  guint32 lane;  /* NONE: the end of the path */
  guint32 queue; /* NONE: the first hop, where flows wait */
  double cost;   /* line bytes per payload byte */
  /* On a link that others share (FabRotation), `cost` holds for its part of the link: the fraction of that time which a
   * packet takes by itself, and the fraction which it waits for the packets of the others. Else 1 and 0. */
  float own, late;
} Hop;

typedef struct {
  guint32 first_path, n_paths; /* index into `paths` */
  guint32 turn;                /* the path of the next flow's first packet */
  guint32 stride;              /* number of hops from one path to the next */
  guint32 n_direct;            /* paths without detours, which come first */
  FabTimePs back_ps;           /* latency in the other direction, for reports that packets have arrived */
  FabTimePs inside_ps;         /* of its round trip, what links between adapters and memory take */
  double ps_per_byte;          /* time per byte of the slowest link of its fastest path */
  guint8 has_nic, is_lossy, is_trimmed, is_marked, is_endless; /* true of at least one of its links */
  guint8 is_mixed;                                             /* paths differ in length */
} PathSet;

enum { MOST_KEPT = 64 };

/* What is known of the paths of one way, by whoever chooses among them (balance.c). */
typedef struct {
  guint8 is_used;      /* since the network rested */
  guint8 is_frozen;    /* recycle: it uses kept paths only */
  guint8 n_explore;    /* recycle: packets that take any path next */
  guint8 head, n_kept; /* recycle: where to keep the next path, and how many are kept */
  guint8 n_fresh;      /* of the kept ones, the last ones, which were not used again */
  guint8 frozen_at;    /* of the kept ones, the next to use while frozen */
  guint32 path;        /* flowlet: the present path */
  FabTimePs at_ps;     /* flowlet: when the last packet was sent; recycle: when the freeze ends */
  guint16 kept[MOST_KEPT];
} PathChoice;

/* How a packet ended. */
enum { PACKET_ARRIVED, PACKET_TRIMMED, PACKET_LOST };

/* Marks flows among the entries of a ring. */
enum { FLOW_BIT = 1u << 30 };

#define MARK_BIT (1u << 31) /* the mark within a packet's number */

/* Queues of a port at which congestion control acts, in bytes. */
typedef struct {
  guint32 mark_from, mark_all; /* ECN */
  guint32 pause, resume;       /* PFC: of what came over a link */
} Thresholds;

/* The memory of a switch whose ports share it. */
typedef struct {
  double free_bytes; /* without headroom, below 0 when headroom is in use; G_MAXDOUBLE: ports share none */
} SharedMemory;

/* What is noted of a packet for the report on it. */
typedef struct {
  FabTimePs sent_ps, left_ps;
  gboolean has_left; /* its adapter */
  guint32 n_hops;    /* written to `telemetry` */
  gboolean is_lost;
} PacketNote;

enum { MOST_TELEMETRY = 12 }; /* switches of a path that are heard of */

/* Whom congestion control governs: a connection, or a flow of its own. The model's state is in `states`. */
typedef struct {
  guint32 next; /* next in the list of free senders */
  guint32 way;
  guint32 blocked;       /* first of the flows that wait for its window, linked by `blocked_next`, or NONE */
  guint32 n_entries;     /* number of references: its connection, flows, the agenda */
  guint32 paced;         /* first of the flows that wait for `gap_ps`, linked by `paced_next`, or NONE */
  FabBytes flight_bytes; /* sent, and nothing heard of yet; counted only where the model takes reports */
  FabTimePs
      gap_from_ps; /* the gap that its rate leaves behind the last packet: since when, and of how many bytes */
  guint32 gap_bytes;
  double gap_ps_per_byte; /* the rate at that time; 0: the line's */
  /* With takes_credit: */
  guint32 port;            /* the last link that congestion control governs, whose receiver gives credit */
  guint32 ring_next;       /* the next one whom this receiver serves */
  gboolean is_in_ring;     /* it waits for credit */
  double port_ps_per_byte; /* time per byte on that link */
  FabTimePs forth_ps;      /* until its receiver hears of it */
  FabBytes asked_bytes;    /* sum of what it has to send, also again */
  FabBytes ended_bytes;    /* sum of what has arrived or was lost */
  double first_bytes;      /* what it has credit for when nothing of it is on its way */
  double heard_bytes, given_bytes; /* as much of it as the receiver knows; sum of credit */
} Sender;

/* A receiver that gives credit for a port. */
typedef struct {
  guint32 ring; /* the sender that was served last, or NONE */
  gboolean is_timed;
  FabTimePs free_ps; /* earliest time for more credit */
  double outstanding_bytes;
} Giver;

typedef struct {
  guint32 next;         /* next in the ring, or in the list of free flows */
  guint32 blocked_next; /* the next flow that waits for the same sender's window */
  guint32 paced_next;   /* the next flow that waits for the same sender's rate */
  guint32 line_next;    /* the next message of the same line */
  guint32 way;
  guint32 sender;    /* NONE: nothing governs it */
  guint32 lane;      /* its first lane */
  guint32 n_sent;    /* packets sent */
  guint32 n_entries; /* number of references from the agenda and other lists */
  guint8 is_waiting; /* it is in the ring */
  guint8 is_over;
  guint8 is_metered; /* it is metered by itself when it has arrived */
  guint8 has_left;
  guint8 is_resumed;   /* a KIND_RESUME is on the agenda, at `resume_ps` */
  guint8 is_blocked;   /* it waits for its sender's window */
  FabDrive drive;      /* for the meter */
  guint8 is_single;    /* nobody skips messages of its line */
  guint8 is_watched;   /* a KIND_TIMEOUT is on the agenda */
  guint32 watched;     /* lossy links: `expected` when the timeout was set */
  FabBytes lost_bytes; /* lossy links with several paths: bytes to be sent again */
  guint32 expected,
      nacked; /* lossy links: number of the packet that must come next; number of the last one missed */
  FabBytes bytes, left_bytes, missing_bytes; /* total; not sent; not arrived */
  FabBytes window_bytes, flight_bytes;       /* window_bytes 0: no window */
  guint32 ack_bytes, unacked_bytes;
  double pace_ps_per_byte; /* 0: as fast as the wire; its sender may be slower */
  FabTimePs last_ps;       /* when its last packet arrived */
  FabTimePs next_ps;       /* earliest time of the next packet, beside the rate of its sender */
  FabTimePs resume_ps;     /* others of its KIND_RESUME are out of date */
  FabDone left, arrived;   /* fn NULL: no callback */
} Flow;

/* Messages that go on beside rounds that repeat (lone_messages.c). */
typedef struct {
  guint n_lines;       /* of such messages that are open */
  guint64 n_changes;   /* how many have begun or ended */
  guint64 n_at_mark;   /* how many had, when the list was made */
  guint n_windows;     /* since then */
  FabTimePs marked_ps; /* when the last window ended */
  GArray *marks;       /* struct _LoneMark */
} LoneMessages;

/* What is known of how fast all flows are (cruise.c). */
typedef struct {
  guint window, countdown; /* entries of the agenda in a window; that are left of it */
  guint n_windows;         /* since a flow began or ended: 0, 1, or 2 and more */
  guint64 n_changes;       /* PacketNet.n_flow_changes when the window began */
  FabTimePs from_ps;
  GArray *flows, *lanes; /* what they had counted then */
  /* The last skip, until its end is played: nothing is due before. */
  FabTimePs skip_from_ps, skip_to_ps;
  GArray *counts;  /* what lanes had counted when it began */
  double *busy_ps; /* [links] room for what a skip makes of them */
} Cruise;

typedef struct {
  FabNet base;
  PacketParams params;
  FabBalance balance; /* of the router */
  Agenda agenda;
  FabTimePs now_ps;
  Packet *packets;
  Port *ports;
  VirtualLane *lanes;
  struct _LinkLengths *lengths; /* [n_links]; NULL: nobody asks how long queues are */
  Queue *queues;
  Flow *flows;
  const FabCongestionOps *congestion; /* NULL: none */
  Sender *senders;
  FabTimePs ack_late_ps;   /* of the packet that arrives: see packet_ack () */
  guint32 header_bytes;    /* that it takes in every packet of a sender */
  char *states;            /* per sender: the state of its congestion control */
  Giver *givers;           /* per link, with takes_credit */
  PacketNote *notes;       /* per packet, where congestion control takes reports */
  FabTelemetry *telemetry; /* MOST_TELEMETRY per packet, where it takes these; else NULL */
  FabTimePs *busy_ps;      /* per link, likewise: how long it has been sending */
  Thresholds *thresholds;  /* per link */
  SharedMemory *memories;  /* per vertex; NULL: no switch shares one among its ports */
  FabTimePs *message_ps;   /* per link: when its sender can begin the next message */
  double longest_trip_ps;  /* see packet_longest_trip_ps (); 0: not known yet */
  guint64 n_random;        /* place in the seed's random numbers */
  guint64 n_drawn_before;  /* random numbers drawn before `first_random` */
  guint64 first_random;    /* of the stream that is drawn from */
  GArray *used_lanes;      /* guint32: lanes that something crossed since the network rested */
  guint32 free_packet, n_packets, free_flow, n_flows, n_queues; /* sizes: entries used so far */
  guint32 packet_capacity, flow_capacity, queue_capacity;
  guint32 free_sender, n_senders, sender_capacity;
  guint32 n_links, n_lanes, lane_capacity; /* lanes of level 0 come first, in the order of links */
  gboolean has_levels;                     /* some lane is above level 0 */
  guint8 n_services;                       /* number of services, including 0 for traffic without a class */
  double weights[PACKET_MOST_CLASSES + 1]; /* per service */
  struct _Waits *waits;                    /* deadlock-free lanes: deadlock_free_lanes.c */
  GArray *hops;                            /* of Hop */
  GArray *paths;                           /* guint32: first hop of each path */
  GArray *ways;                            /* of PathSet */
  GArray *choices;                         /* of PathChoice, one per way; NULL: nobody remembers paths */
  GArray *used_choices;                    /* guint32: ways of which something is known */
  GHashTable *known_ways;                  /* of KnownWay */
  GHashTable *known_queues;                /* from two links to a queue */
  guint32 *link_ways;                      /* per link: the way that consists of this link only, or NONE */
  FabPool streams, lines;
  guint n_lines, n_others;     /* that are open: lines; streams, and messages by themselves */
  const FabRotation *rotation; /* of the lines since the network rested; NULL: they cross their own links */
  guint64 n_flow_changes;      /* flows that have begun and ended, and rates that were set */
  Cruise cruise;
  LoneMessages lone;
  GArray *lane_marks; /* per used lane: what it had counted at the mark of repeats.c */
  FabTimer timer;     /* engine event for the first entry of the agenda */
  FabTimePs timer_ps;
  gboolean is_running;
} PacketNet;

/* Memory accepts whatever arrives, so it never holds back a link. What continues from there is a new message for the
 * network. */
static inline guint8
packet_is_memory (const FabGraph *graph, FabVertexId vertex)
{
  FabVertexKind kind = fab_graph_vertex (graph, vertex)->kind;

  return kind == FAB_VERTEX_ACCELERATOR || kind == FAB_VERTEX_MEMORY || kind == FAB_VERTEX_STORAGE;
}

/* Returns how many packets cross a link for each one that is played. */
static inline guint
packet_port_sharers (const PacketNet *self, FabLinkId link)
{
  return self->rotation == NULL ? 1 : fab_rotation_sharers (self->rotation, link);
}

/* Draws a number; it has 64 random bits. */
static inline guint64
packet_random (PacketNet *self)
{
  return fab_mix (self->base.env.seed, self->n_random++);
}

/* Whether what finds the queue full is lost, with or without a word to the receiver. */
static inline gboolean
packet_lane_loses (const VirtualLane *lane)
{
  return lane->control == CONTROL_DROP || lane->control == CONTROL_TRIM;
}

/* --- port.c: lanes of a port --- */

void packet_ports_init (PacketNet *self);
void packet_ports_clear (PacketNet *self);
/* Puts the lanes that were used, and their ports, into the state in which they were made. */
void packet_ports_rest (PacketNet *self);
/* The same for all lanes and ports, whatever is on its way or waits: it is forgotten. */
void packet_ports_reset (PacketNet *self);
/* From now on lines turn in this way; nothing is on its way over the links that they share. NULL: not at all. */
void packet_ports_turn (PacketNet *self, const FabRotation *rotation);
/* Whether a buffer that links share is large enough for each of the lines. */
gboolean packet_port_has_room_for (const PacketNet *self, guint n_sharers);
/* Returns a lane of a link and a level that nothing has crossed yet. */
VirtualLane packet_lane_empty (const PacketNet *self, guint32 link, guint8 service, guint8 level);
/* Returns the class of service for a name of traffic, which may be NULL. */
guint8 packet_service_of (const PacketNet *self, const char *traffic);
void packet_port_set_rate (PacketNet *self, guint32 link, double fraction);

/* --- port.c: packets at a port --- */

/* Serves a link: call it when something waits on one of its lanes, or may be sent from now on. */
void packet_port_serve (PacketNet *self, guint32 link);
void packet_port_arrive (PacketNet *self, guint32 link);
void packet_port_woken (PacketNet *self, guint32 link);
void packet_port_credited (PacketNet *self, guint32 lane);
void packet_port_paused (PacketNet *self, guint32 lane, gboolean is_paused);
void packet_lane_wait (PacketNet *self, VirtualLane *lane, guint32 waiting);
FabTimePs packet_wire_ps (double ps_per_byte, guint32 bytes);

/* --- flow.c: flows --- */

/* Creates a flow and sets everything except the way's first link, the lane and the callbacks. */
guint32 packet_flow_new (PacketNet *self, guint32 way, FabBytes bytes);
void packet_flow_start (PacketNet *self, guint32 flow);
/* Returns the next packet of a flow that may send one. */
guint32 packet_flow_take (PacketNet *self, guint32 flow);
/* Call it after that packet went onto the wire, which is busy until `free_ps`. Returns whether the flow stays in the
 * ring. */
gboolean packet_flow_goes_on (PacketNet *self, guint32 flow, FabTimePs free_ps);
/* Drops one reference to a flow. */
void packet_flow_release (PacketNet *self, guint32 flow);
void packet_flow_deliver (PacketNet *self, guint32 packet);
void packet_drop (PacketNet *self, guint32 packet); /* frees its memory */
void packet_flow_acked (PacketNet *self, guint32 flow);
/* Puts a flow that has something to send again into the ring. */
void packet_flow_join (PacketNet *self, guint32 flow);
void packet_flow_resume (PacketNet *self, guint32 flow);
/* Call it for a flow that waits for its sender's rate when the rate may have changed. */
void packet_flow_pace_again (PacketNet *self, guint32 flow);
void packet_flow_left (PacketNet *self, guint32 flow);

/* --- loss.c --- */

/* For a packet at the end of a path with lossy links: whether it is the packet that must come next. */
gboolean packet_loss_accepts (PacketNet *self, const Packet *packet);
/* `is_cut`: a dead link took it, and only time tells. */
void packet_loss_drop (PacketNet *self, guint32 packet, gboolean is_cut);
void packet_loss_nacked (PacketNet *self, guint32 flow);
void packet_loss_timeout (PacketNet *self, guint32 flow);
void packet_loss_watch (PacketNet *self, guint32 flow);

/* --- buffers.c --- */

void packet_buffers_init (PacketNet *self);
void packet_buffers_clear (PacketNet *self);
/* Counts bytes that begin to wait for a link, or less than 0 that end it. */
void packet_buffers_count (PacketNet *self, guint32 link, double bytes);
/* Returns what may wait for a link that loses what is more. */
guint32 packet_buffers_queue (const PacketNet *self, guint32 link);
/* Returns how much of what came over a link may wait at its end before that end asks for a pause, or how much may be
 * left when it takes the pause back. */
guint32 packet_buffers_pause (const PacketNet *self, guint32 link, gboolean is_paused);

/* --- congestion.c: marks --- */

/* --- lengths.c --- */

void packet_lengths_init (PacketNet *self);
void packet_lengths_clear (PacketNet *self);

/* The queue for a link has become longer by so many bytes. Only where `lengths` is not NULL. */
void packet_lengths_change (PacketNet *self, guint32 link, gint32 by_bytes);

/* What was noted so far has happened. */
void packet_lengths_rest (PacketNet *self);

/* As FabNetOps.drop_lengths and FabNetOps.queue_lengths. */
void packet_lengths_drop (FabNet *net);
gboolean packet_lengths_count (const FabNet *net, FabLinkId link, FabQueueLengths *lengths);

/* The thresholds of a port of this rate: those that the scenario says, else those that are usual at it, and within a
 * queue that loses more than `queue_bytes` (0: none does). */
Thresholds packet_thresholds (const PacketParams *params, FabBytesPerS rate_bytes_per_s,
                              FabBytes queue_bytes);
/* Whether to mark a packet, by the length of the queue that it joins. */
gboolean packet_marks (PacketNet *self, guint32 link, guint32 queued_bytes);

/* --- credits.c --- */

/* Sets what a sender needs to ask for credit. */
void packet_credit_begin (PacketNet *self, guint32 sender);
/* A sender has so many more bytes to send; `is_new`: those of another message. */
void packet_credit_ask (PacketNet *self, guint32 sender, FabBytes bytes, gboolean is_new);
/* Bytes of a sender have arrived, or are lost. */
void packet_credit_ended (PacketNet *self, guint32 sender, FabBytes bytes);
/* Bytes that a sender asked for will not be sent. */
void packet_credit_cancel (PacketNet *self, guint32 sender, FabBytes bytes);
void packet_credits (PacketNet *self, guint32 what);
void packet_credit_give (PacketNet *self, guint32 port);
void packet_credits_rest (PacketNet *self); /* when nothing is on its way */

/* --- congestion.c: senders --- */

FabCongestion *packet_sender_state (const PacketNet *self, guint32 sender);
/* Returns the round trip of a packet through the empty network between the ends that lie farthest apart, at the rate of
 * this way. O(links) when it is asked for the first time. */
FabTimePs packet_longest_trip_ps (PacketNet *self, guint32 way_number);

FabTimePs packet_sender_forth_ps (const PacketNet *self,
                                  guint32 way); /* latency of a packet in an empty network */
void packet_sender_unblock (PacketNet *self, guint32 sender);
static inline gboolean
packet_takes_credit (const PacketNet *self, guint32 sender)
{
  return sender != NONE && self->congestion->takes_credit;
}

void packet_senders_init (PacketNet *self);
void packet_senders_clear (PacketNet *self);
/* Returns a sender with one reference, or NONE where nothing governs who sends on this way. */
guint32 packet_sender_new (PacketNet *self, guint32 way);
void packet_sender_release (PacketNet *self, guint32 sender); /* accepts NONE */
gboolean packet_sender_may_send (const PacketNet *self, guint32 sender);
/* Returns when the sender's rate, as it is now, lets its next packet go. */
FabTimePs packet_sender_gap_ps (PacketNet *self, guint32 sender);
/* Returns when that rate changes next by itself; FAB_TIME_MAX: never. */
FabTimePs packet_sender_changes_ps (const PacketNet *self, guint32 sender);
/* Notes that a flow waits for its sender's rate, or does so no longer. */
void packet_sender_pace (PacketNet *self, guint32 flow);
void packet_sender_unpace (PacketNet *self, guint32 flow);
void packet_sender_block (PacketNet *self, guint32 flow);
void packet_sender_sent (PacketNet *self, guint32 sender, guint32 packet, guint32 bytes);
/* A packet has arrived at the end of its path: its acknowledgement goes back. Returns how much later than the
 * latency of the links it is there. */
FabTimePs packet_ack (PacketNet *self, const Packet *packet);

/* Time that what congestion control writes into the packet takes on the wire. */
FabTimePs packet_header_ps (const PacketNet *self, const Packet *packet, const Port *port);
/* A packet begins to cross a link: when it leaves its adapter is noted for its sender. */
void packet_note_leaving (PacketNet *self, guint32 packet, const VirtualLane *lane);
/* Writes what a switch tells of its port into a packet that goes onto the wire. */
void packet_telemetry (PacketNet *self, guint32 packet, const VirtualLane *lane, FabTimePs wire_ps);
/* Makes room for what is noted of as many packets as there is room for. */
void packet_notes_grow (PacketNet *self);
/* A packet has ended its way, as PACKET_ARRIVED and so on say: frees it, or keeps it for the report on it. */
void packet_finish (PacketNet *self, guint32 packet, guint8 end, FabTimePs later_ps);
void packet_reported (PacketNet *self, guint32 packet);
void packet_sender_marked (PacketNet *self, guint32 sender); /* accepts NONE */
void packet_sender_notified (PacketNet *self, guint32 sender);

/* --- deadlock_free_lanes.c --- */

void packet_deadlock_free_init (PacketNet *self);
void packet_deadlock_free_clear (PacketNet *self);
/* Returns the lane of `link` for traffic that begins there. */
guint32 packet_lane_first (PacketNet *self, guint32 link, guint8 service);
/* Returns the lane of `link` for traffic that came over the lane `before`. */
guint32 packet_lane_after (PacketNet *self, guint32 before, guint32 link);
/* Whether each link ranks above the one before it, or need not. Then the path is on the lowest level, whatever other
 * paths there are. */
gboolean packet_path_rises (const PacketNet *self, const FabLinkId *links, guint n);

/* --- repeats.c --- */

GArray *packet_lane_marks_new (void);
/* Writes what all lanes have counted. */
void packet_lane_marks_take (const PacketNet *self, GArray *marks);
/* Lets lanes count so often again what they have counted since the marks, while `by_ps` are skipped. FALSE and nothing
 * is done: what was marked or lost since then does not repeat, or other lanes are used. */
gboolean packet_lane_marks_repeat (PacketNet *self, const GArray *marks, double n_times, FabTimePs by_ps);
/* The same for what is counted up to now and no more: packet_lane_counts_take_back () takes back a share of what was
 * counted since then, while `by_ps` of a skip are taken back. */
void packet_lane_counts_take (const PacketNet *self, GArray *counts);
void packet_lane_counts_take_back (PacketNet *self, const GArray *counts, double share, FabTimePs by_ps);
/* Returns what the used lane i has carried since then. */
guint64 packet_lane_carried_since (const PacketNet *self, const GArray *counts, guint i);
/* Moves all that is on its way, and what is due after `after_ps`. */
void packet_delay (PacketNet *self, FabTimePs after_ps, FabTimePs by_ps);

/* --- cruise.c --- */

void packet_cruise_init (PacketNet *self);
void packet_cruise_clear (PacketNet *self);
void packet_cruise_rest (PacketNet *self);
void packet_cruise_look (PacketNet *self);
/* Call it before anything meets the network. A skip that reaches beyond now ends now. Returns whether one has. */
gboolean packet_cruise_cut (PacketNet *self);
/* Returns what the used lane i carries in the part of a skip that is still to come. */
guint64 packet_cruise_ahead (const PacketNet *self, guint i, FabTimePs now_ps);
/* As if so many packets of a flow had been sent and had arrived, in this time. */
void packet_flow_move (PacketNet *self, guint32 number, guint64 n_packets, FabTimePs by_ps);

/* --- paths.c --- */

void packet_path_sets_init (PacketNet *self);
void packet_path_sets_clear (PacketNet *self);

/* The cost of a byte on a link, from a footprint or from the link's class and the drive; and the service to which it
 * belongs. */
typedef struct {
  const FabFootprint *footprint; /* or NULL */
  double wire_factor;
  FabDrive drive;
  guint8 service;
  const FabRotation *rotation; /* NULL: the way crosses its own links */
} PacketUse;

/* Returns a way along consecutive legs with at least one link in total; each leg must have a path. */
guint32 packet_path_set (PacketNet *self, const FabLeg *legs, guint n_legs, PacketUse use);
/* Returns the way of one link, without costs. */
guint32 packet_path_set_of_link (PacketNet *self, FabLinkId link, guint8 service);
/* Whether its packets take several paths, so that each is metered where it goes. */
gboolean packet_path_set_is_spread (const PacketNet *self, guint32 way);
void packet_path_set_meter (PacketNet *self, const Flow *flow);
/* Meters a packet that was lost at `hop`. */
void packet_path_set_meter_lost (PacketNet *self, const Packet *packet);

/* --- flow.c: the paths of a way --- */

/* Appends `n` paths (FabPath) of a leg that the router spreads, so that each link is on its share of them. */
void packet_spread (PacketNet *self, const FabLeg *leg, gboolean is_detour, guint n, GArray *paths);

/* --- balance.c: which path a packet takes --- */

void packet_balance_init (PacketNet *self);
void packet_balance_clear (PacketNet *self);
void packet_balance_rest (PacketNet *self); /* when nothing is on its way */
void packet_balance_add (PacketNet *self);  /* for one more way */
/* Returns the number of the path on which a flow's next packet leaves. */
guint32 packet_balance_first (PacketNet *self, const Flow *flow);
/* Whether switches choose. */
static inline gboolean
packet_balance_is_by_switch (const PacketNet *self)
{
  return self->balance.kind == FAB_BALANCE_QUEUE
      || (self->balance.kind == FAB_BALANCE_SHARES && self->params.balance == BALANCE_LEAST_QUEUE);
}
/* Where paths part, a switch chooses among those that the packet may still take. */
const Hop *packet_balance_next (PacketNet *self, Packet *packet);
/* Whether senders hear of every packet on this way. */
gboolean packet_balance_listens (const PacketNet *self, guint32 way);
/* Returns the number of the path that a packet is on. */
guint32 packet_balance_path_of (const PacketNet *self, const Packet *packet);
/* The sender hears how a packet ended. */
void packet_balance_heard (PacketNet *self, guint32 way, guint32 path, guint8 end, gboolean is_marked);
/* Whether a packet that a dead link holds could have taken a path without one. */
gboolean packet_balance_escapes (const PacketNet *self, const Packet *packet);

/* --- line.c --- */

enum { PACKET_LINE_SIZE = 160 };

FabNetLine *packet_open (FabNet *net, const FabConnection *connection);
void packet_message (FabNet *net, FabNetLine *line, double bytes, FabTimePs begin_ps);
void packet_close (FabNet *net, FabNetLine *line);

/* --- flow.c: streams --- */

enum { PACKET_STREAM_SIZE = 80 };

void packet_stream (FabNet *net, const FabStream *stream);

/* --- lone_messages.c --- */

void packet_lone_messages_init (PacketNet *self);
void packet_lone_messages_clear (PacketNet *self);
void packet_lone_messages_rest (PacketNet *self);
/* A window ends here. */
void packet_lone_messages_mark (PacketNet *self);
FabTimePs packet_lasts (FabNet *net);
/* All go on for this time, at most what packet_lasts () has just returned. */
void packet_lone_messages_skip (PacketNet *self, FabTimePs by_ps);

/* --- repeats.c --- */

void packet_repeats_init (PacketNet *self);
void packet_repeats_clear (PacketNet *self);
gboolean packet_mark (FabNet *net, guint n_lines);
gboolean packet_repeat (FabNet *net, double n_times, FabTimePs by_ps);

/* --- packet.c --- */

/* Call these before and after an action from outside: they set the time and the engine's timer. */
void packet_net_enter (PacketNet *self);
void packet_net_leave (PacketNet *self);
