/* SPDX-License-Identifier: Apache-2.0 */
/* parts.h - the packet network's state, for its own files.
 *
 * Numbers, not pointers: everything is in arrays that grow, and a packet is 32 bytes. A packet stands in one list at a
 * time: of its link while it is under way, of a queue while it waits.
 *
 *   link    one direction of the graph's; a wire that sends one packet after another
 *   lane    a link and a level, one on which most paths stay: what waits for the wire, and the buffer at the far end
 *   queue   packets that came over one lane and wait for another
 *   flow    what one sender has to send; waits for its lane beside the queues
 *   way     the paths that a flow's packets take
 */
#pragma once

#include "models/net/packet/agenda.h"
#include "models/net/packet/params.h"
#include "sim/base/pool.h"
#include "sim/net/net.h"

#define NONE G_MAXUINT32

enum {
  KIND_ARRIVE,   /* link: its first packet */
  KIND_WAKE,     /* link: its wire is free again */
  KIND_CREDIT,   /* lane: room for `credit_bytes` more */
  KIND_ACK,      /* flow: `ack_bytes` have arrived */
  KIND_RESUME,   /* flow: may send again */
  KIND_LEFT,     /* flow: its last packet has left */
  KIND_PAUSE,    /* lane */
  KIND_UNPAUSE,  /* lane */
  KIND_CNP,      /* flow: packets of it were marked */
  KIND_INCREASE, /* flow: its rate may rise */
  KIND_NACK,     /* flow: a packet is missing */
  KIND_TIMEOUT,  /* flow: perhaps its last packets are */
};

typedef struct {
  FabTimePs next_ps; /* when the one behind it on the link arrives, which is `next` then */
  guint32 next;
  guint32 flow;
  guint32 hop;  /* the one that it takes or waits for */
  guint32 size; /* payload bytes */
  guint32 number;
  guint32 from; /* lane whose buffer it is in, or NONE */
} Packet;

typedef struct {
  FabTimePs free_ps; /* the wire is busy until then; FAB_TIME_MAX: the link is dead */
  FabTimePs latency_ps;
  double ps_per_byte; /* of the line */
  guint32 head, tail; /* packets under way */
  guint32 turn;       /* the lane that was served last */
  double served;      /* of lanes in turn: where the one that was served last began */
  gboolean is_woken;  /* KIND_WAKE is on the agenda */
} Port;

typedef struct {
  guint32 link;
  guint32 next;         /* of the same link, in a circle */
  guint32 ring;         /* the one that was served last of those that wait, or NONE */
  gint32 room_bytes;    /* credit: in the buffer at the far end */
  guint32 owed_bytes;   /* credit: free again, and not yet told */
  guint32 credit_bytes; /* credit: told at once */
  guint8 control;
  guint8 service, level;
  guint8 ends_in_memory;
  guint8 is_paused, has_asked; /* pfc: by the far end; the far end has asked for it */
  guint32 queued_bytes;        /* waiting, without what flows have not sent */
  guint32 most_bytes;
  double served;         /* where several take turns: bytes / weight, no less than what others have had */
  FabTimePs changed_ps;  /* `queued` */
  double byte_ps;        /* integral of `queued` */
  guint64 carried_bytes; /* payload */
  guint32 held_bytes;    /* pfc: waiting at the far end */
  guint32 n_stalls;      /* times that it had to wait for room */
  guint32 n_pauses, n_marks, n_drops;
} Lane;

typedef struct {
  guint32 head, tail;
  guint32 next; /* in the ring */
} Queue;

/* One link of a path. */
typedef struct {
  guint32 lane;  /* or NONE: the end */
  guint32 queue; /* NONE: the first, where flows wait */
  double cost;   /* bytes of the line per byte of payload */
} Hop;

typedef struct {
  guint32 first_path, n_paths; /* in `paths` */
  guint32 turn;                /* the path of a flow's first packet */
  guint32 stride;              /* hops from a path to the next; 0: they differ */
  FabTimePs back_ps;           /* latency the other way, for what says that packets arrived */
  double ps_per_byte;          /* of its slowest link */
  guint8 has_nic, is_lossy, is_marked, is_endless; /* on one of its links */
} Way;

/* Set for flows among what waits in a ring. */
enum { FLOW_BIT = 1u << 30 };

#define MARK_BIT (1u << 31) /* of a packet's number */

/* What DCQCN knows of a flow. */
typedef struct {
  double rate, target; /* payload bytes per second */
  double alpha;
  FabTimePs alpha_ps, told_ps, rises_ps; /* alpha is of then; last told of marks; rises next */
  FabBytes bytes;                        /* since the last rise by bytes */
  guint32 n_by_time, n_by_bytes;
  guint32 is_rising; /* KIND_INCREASE is on the agenda */
} Rate;

typedef struct {
  guint32 next;      /* in the ring, or among the free */
  guint32 line_next; /* message of the same line, sent after this one */
  guint32 way;
  guint32 lane;      /* the first */
  guint32 n_sent;    /* packets */
  guint32 n_entries; /* on the agenda, and others that point to it */
  guint8 is_waiting; /* in the ring */
  guint8 is_over;
  guint8 is_metered; /* by itself, when it has arrived */
  guint8 has_left;
  guint8 is_resumed;        /* KIND_RESUME is on the agenda */
  FabDrive drive;           /* metered */
  guint8 is_watched;        /* KIND_TIMEOUT is on the agenda */
  guint32 watched;          /* lossy: `expected` then */
  FabBytes lost_bytes;      /* lossy, several paths: to be sent again */
  guint32 expected, nacked; /* lossy: number of the packet that must come next; last one missed */
  FabBytes bytes, left_bytes, missing_bytes; /* in all; not sent; not arrived */
  FabBytes window_bytes, flight_bytes;       /* window 0: none */
  guint32 ack_bytes, unacked_bytes;
  double pace_ps_per_byte; /* 0: as fast as the wire */
  double ends_ps_per_byte; /* the same without DCQCN */
  FabTimePs next_ps;       /* paced: not before */
  FabDone left, arrived;   /* fn NULL: nobody asks */
} Flow;

typedef struct {
  FabNet base;
  PacketParams params;
  Agenda agenda;
  FabTimePs now_ps;
  Packet *packets;
  Port *ports;
  Lane *lanes;
  Queue *queues;
  Flow *flows;
  Rate *rates;           /* per flow, with DCQCN */
  FabTimePs *message_ps; /* per link: when its sender can begin a message */
  guint64 n_random;
  guint32 free_packet, n_packets, free_flow, n_flows, n_queues; /* n: ever used */
  guint32 packet_capacity, flow_capacity, queue_capacity;
  guint32 n_links, n_lanes, lane_capacity; /* lanes: those of level 0 first, in the order of links */
  guint8 n_services;                       /* with 0, of what is in no class */
  double weights[PACKET_MOST_CLASSES + 1]; /* per service */
  struct _Waits *waits;                    /* circles.c */
  GArray *hops;                            /* Hop */
  GArray *paths;                           /* guint32: first hop */
  GArray *ways;                            /* Way */
  GHashTable *known_ways;                  /* KnownWay */
  GHashTable *known_queues;                /* two links: queue */
  guint32 *link_ways;                      /* per link: the way that is that link alone, or NONE */
  FabPool streams, lines;
  FabTimer timer; /* of the engine, for the first on the agenda */
  FabTimePs timer_ps;
  gboolean is_running;
} PacketNet;

/* Memory takes what comes, whatever becomes of it: what goes on from there is a message of its own to the links. */
static inline guint8
packet_is_memory (const FabGraph *graph, FabVertexId vertex)
{
  FabVertexKind kind = fab_graph_vertex (graph, vertex)->kind;

  return kind == FAB_VERTEX_ACCELERATOR || kind == FAB_VERTEX_MEMORY || kind == FAB_VERTEX_STORAGE;
}

/* --- lane.c --- */

void packet_ports_init (PacketNet *self);
void packet_ports_clear (PacketNet *self);
/* Of a link and a level, before anything crossed it. */
Lane packet_lane_empty (const PacketNet *self, guint32 link, guint8 service, guint8 level);
/* The class of service of traffic by its name, or NULL. */
guint8 packet_service_of (const PacketNet *self, const char *traffic);
void packet_port_set_rate (PacketNet *self, guint32 link, double fraction);

/* --- port.c --- */

/* Something waits on a lane of this link, or may be sent from now on. */
void packet_port_serve (PacketNet *self, guint32 link);
void packet_port_arrive (PacketNet *self, guint32 link);
void packet_port_woken (PacketNet *self, guint32 link);
void packet_port_credited (PacketNet *self, guint32 lane);
void packet_port_paused (PacketNet *self, guint32 lane, gboolean is_paused);
void packet_lane_wait (PacketNet *self, Lane *lane, guint32 waiting);
FabTimePs packet_wire_ps (double ps_per_byte, guint32 bytes);

/* --- flow.c --- */

/* All but the way's first link, the lane and what is to be called. */
guint32 packet_flow_new (PacketNet *self, guint32 way, FabBytes bytes);
void packet_flow_start (PacketNet *self, guint32 flow);
/* The next packet of a flow that may send one. */
guint32 packet_flow_take (PacketNet *self, guint32 flow);
/* After that went onto the wire, which is busy until `free_ps`: whether the flow stays in the ring. */
gboolean packet_flow_goes_on (PacketNet *self, guint32 flow, FabTimePs free_ps);
/* One that points to it does not any more. */
void packet_flow_release (PacketNet *self, guint32 flow);
void packet_flow_deliver (PacketNet *self, guint32 packet);
void packet_drop (PacketNet *self, guint32 packet); /* its memory */
void packet_flow_acked (PacketNet *self, guint32 flow);
/* It has something to send again. */
void packet_flow_join (PacketNet *self, guint32 flow);
void packet_flow_resume (PacketNet *self, guint32 flow);
void packet_flow_left (PacketNet *self, guint32 flow);

/* --- loss.c --- */

/* Of a packet at the end of a flow's way over links that lose some: whether it is the one that must come next. */
gboolean packet_loss_accepts (PacketNet *self, const Packet *packet);
void packet_loss_drop (PacketNet *self, guint32 packet);
void packet_loss_nacked (PacketNet *self, guint32 flow);
void packet_loss_timeout (PacketNet *self, guint32 flow);
void packet_loss_watch (PacketNet *self, guint32 flow);

/* --- dcqcn.c --- */

void packet_dcqcn_start (PacketNet *self, guint32 flow);
void packet_dcqcn_sent (PacketNet *self, guint32 flow, guint32 size);
void packet_dcqcn_marked (PacketNet *self, guint32 flow); /* the receiver got a marked packet */
void packet_dcqcn_told (PacketNet *self, guint32 flow);
void packet_dcqcn_rise (PacketNet *self, guint32 flow);
/* By the length of the queue that it joins. */
gboolean packet_dcqcn_marks (PacketNet *self, guint32 queued_bytes);

/* --- circles.c --- */

void packet_circles_init (PacketNet *self);
void packet_circles_clear (PacketNet *self);
/* The lane of `link` for what begins there. */
guint32 packet_lane_first (PacketNet *self, guint32 link, guint8 service);
/* The one for what came over the lane `before`. */
guint32 packet_lane_after (PacketNet *self, guint32 before, guint32 link);

/* --- ways.c --- */

void packet_ways_init (PacketNet *self);
void packet_ways_clear (PacketNet *self);

/* What a byte costs on a link: as in a footprint, or by the link's class and the drive. And whose it is. */
typedef struct {
  const FabFootprint *footprint; /* or NULL */
  double wire_factor;
  FabDrive drive;
  guint8 service;
} PacketUse;

/* Legs follow one another and come to at least one link; there is a path for each. */
guint32 packet_way (PacketNet *self, const FabLeg *legs, guint n_legs, PacketUse use);
/* One link, raw. */
guint32 packet_way_of_link (PacketNet *self, FabLinkId link, guint8 service);
void packet_way_meter (PacketNet *self, const Flow *flow);
/* A packet that came as far as `hop` in vain. */
void packet_way_meter_lost (PacketNet *self, const Packet *packet);

/* --- spread.c --- */

/* Appends `n` paths (FabPath) of a leg that the router spreads, each link on its share of them. */
void packet_spread (PacketNet *self, const FabLeg *leg, guint n, GArray *paths);

/* Where paths part: of those that came the same way so far, the one whose next link has the least to do. */
const Hop *packet_spread_choose (PacketNet *self, Packet *packet);

/* --- line.c --- */

enum { PACKET_LINE_SIZE = 160 };

FabNetLine *packet_open (FabNet *net, const FabConnection *connection);
void packet_message (FabNet *net, FabNetLine *line, double bytes, FabTimePs begin_ps);
void packet_close (FabNet *net, FabNetLine *line);

/* --- stream.c --- */

enum { PACKET_STREAM_SIZE = 80 };

void packet_stream (FabNet *net, const FabStream *stream);

/* --- packet.c --- */

/* Before and after something is done from outside: the time, and the engine's timer. */
void packet_net_enter (PacketNet *self);
void packet_net_leave (PacketNet *self);
