/* SPDX-License-Identifier: Apache-2.0 */
/* net.h - the narrow interface of networks: everything that a network can be asked to do.
 *
 *   send     one message on one path; its completion is an ordinary event
 *   stream   a pipelined collective in steady state: one coupled flow over many links
 *   message  one step of a collective over one of its connections; not every network has it
 *
 * The models are in models/net. A network counts in its meter what every link carried. A network owns its meter; its
 * engine, graph and router belong to the caller and outlive it. It runs on the engine's thread.
 */
#pragma once

#include "sim/base/param.h"
#include "sim/engine/engine.h"
#include "sim/fabric/footprint.h"
#include "sim/fabric/router.h"
#include "sim/net/queue_lengths.h"
#include "sim/net/rotation.h"

typedef struct {
  double payload_bytes;
  double line_bytes; /* headers, protocol flags and measured loss included */
} FabLinkLoad;

/* What one link carried. */
typedef struct {
  guint64 link;
  FabLinkLoad load;
} FabMeterEntry;

typedef struct _FabMeter FabMeter;

FabMeter *fab_meter_new (const FabGraph *graph);
void fab_meter_free (FabMeter *self); /* accepts NULL */

void fab_meter_add_footprint (FabMeter *self, const FabFootprint *footprint, FabBytes bytes,
                              double wire_factor);

/* Counts at once, so the footprint may be freed afterwards. */
void fab_meter_add_once (FabMeter *self, const FabFootprint *footprint, FabBytes bytes);

/* As fab_meter_add_once, for all messages of a line together. */
void fab_meter_add_line (FabMeter *self, const FabFootprint *footprint, double bytes, double wire_factor);
/* Counts one packet on one link. */
void fab_meter_add_link (FabMeter *self, FabLinkId link, double payload_bytes, double line_bytes);
void fab_meter_add_path (FabMeter *self, const FabPath *path, FabBytes bytes, FabDrive drive);

/* Writes the loads of n links from `first` on. Read all links in ascending order, and nothing between; after the last
 * one all counters are zero again. */
void fab_meter_read (FabMeter *self, FabLinkId first, guint n, FabLinkLoad *loads);

/* Writes loads[n_links], likewise. */
void fab_meter_take (FabMeter *self, FabLinkLoad *loads);

/* Appends a FabMeterEntry for every link that carried something, resets all counters to zero, and returns `entries`.
 * O(links that carried something). */
GArray *fab_meter_drain (FabMeter *self, GArray *entries);

void fab_meter_add_entries (FabMeter *self, const FabMeterEntry *entries, gsize n);

typedef struct {
  FabEngine *engine;
  const FabGraph *graph;
  FabRouter *router;
  guint64 seed; /* of the scenario: everything random follows it */
} FabNetEnv;

/* Called once, when the last byte has arrived. */
typedef struct {
  FabEventFn fn;
  gpointer owner;
  guint64 arg;
} FabDone;

typedef struct {
  FabVertexId src, dst;
  FabBytes bytes;
  FabDrive drive;
  guint64 flow_hash;   /* tells flows apart for routers that spread them */
  const char *traffic; /* what the transfer is part of, for classes of service; NULL: none of their names */
  FabDone done;
} FabTransfer;

typedef struct {
  const FabFootprint *footprint; /* must outlive the stream */
  FabBytes bytes;                /* size of the collective; the footprint's weights refer to it */
  FabTimePs startup_ps;          /* latency before the first byte moves; the links are idle during it */
  FabTimePs latency_ps;          /* the wires' part of startup_ps, which no network can beat */
  /* Bytes that the protocol sends per payload byte: flags add some. A value below 1 means that the measurement was
   * faster than the wires. */
  double wire_factor;
  double limit_bytes_per_s; /* most that the endpoints can do, stream bytes per second; 0: no limit */
  guint share;              /* number of connections that it counts as on a link, at least 1 */
  const char *traffic;      /* as in FabTransfer */
  gboolean stays;           /* the footprint outlives the network, so derived data is kept */
  FabDone done;
} FabStream;

/* One section of a connection that a router finds in one search: GPU to NIC, NIC to NIC, or GPU to host memory. */
typedef struct {
  FabVertexId src, dst;
  guint64 flow_hash;
} FabLeg;

/* One hop of a collective, over which messages follow one another. Everything that it points to must outlive it. */
typedef struct {
  const FabFootprint *footprint; /* its links, with weights per payload byte of a message */
  /* [n_legs] the same route in order, for networks that route packets themselves */
  const FabLeg *legs;
  guint n_legs;
  FabDrive drive;
  guint share;              /* number of connections that it counts as on a link, at least 1 */
  FabTimePs latency_ps;     /* of the wires, from the departure of a byte to its arrival */
  double wire_factor;       /* as in FabStream */
  double limit_bytes_per_s; /* payload that its ends can do at most; 0: no limit */
  const char *traffic;      /* as in FabTransfer */
  gboolean
      is_counted_apart; /* the caller counts in the meter what the line carried, for it stands for others */
  gboolean repeats;     /* the caller skips messages of the line with `repeat` below */
  /* The line crosses the links that stand for those of its path; lines that are open together have the same one. NULL:
   * the links are its own. Only networks with `plays_alike` are given one. */
  const FabRotation *rotation;
  gpointer owner; /* passed to the two callbacks below, which are called once per message with `arg` */
  guint64 arg;
  /* Called when the last byte has left the sender. The next message may be given, also during this call. */
  void (*left) (gpointer owner, guint64 arg);
  /* Called after `left` with the arrival time of the last byte, as soon as it is known and at that time at the
   * latest. */
  void (*arrives) (gpointer owner, guint64 arg, FabTimePs at_ps);
} FabConnection;

/* What waited for a link since the network was made, in networks where packets queue. */
typedef struct {
  FabBytes carried_bytes; /* payload, including what was sent again */
  FabBytes most_bytes;    /* largest queue */
  double mean_bytes;      /* mean queue over the whole time */
  guint64 n_stalls;       /* number of times that the far end had no room */
  /* packets marked; times that the far end paused the link; packets lost */
  guint64 n_marks, n_pauses, n_drops;
} FabLinkQueue;

/* What waited in one lane of a link since the network last rested. A link without lanes is one lane. */
typedef struct {
  guint32 lane, link;
  guint64 carried_bytes, most_bytes;
  double byte_ps; /* integral of the queue over time */
  guint64 n_stalls, n_marks, n_pauses, n_drops;
} FabLaneQueue;

/* Adds queues to `lanes` (FabLaneQueue), which has one place per lane; new places are cleared. */
void fab_lane_queues_add (GArray *lanes, const FabLaneQueue *queues, gsize n);

/* Returns what waited for every link up to `now_ps`, from those places. (transfer full: g_free) */
FabLinkQueue *fab_lane_queues_sum (const GArray *lanes, guint n_links, FabTimePs now_ps);

typedef struct _FabNet FabNet;
typedef struct _FabNetLine FabNetLine; /* an open connection; owned by the network */

typedef struct _FabNetOps FabNetOps;

struct _FabNetOps {
  FabModelInfo info;
  gboolean shares_links; /* no link ever carries more than its rate; FALSE: flows do not contend */
  gboolean is_symmetric; /* lines that nothing tells apart fare alike, so that one may stand for others */
  /* Whether flows over this link are affected only by those that share a link with them, so that flows which share none
   * may be played on networks of their own. Nothing is drawn there. FAB_NO_LINK: whether that holds for any link. NULL:
   * it does not. Such a network has messages. */
  gboolean (*is_separable) (const FabNet *net, FabLinkId link);
  /* Appends the links of a line in the order in which its messages cross them, for networks where that makes a
   * difference. FALSE: the line has no single path, or how it fares depends on lines that share no link with it. NULL:
   * only the footprint counts; then plays count what links carry, and not the network. */
  gboolean (*trace) (FabNet *net, const FabLeg *legs, guint n_legs, const FabFootprint *footprint,
                     GArray *links);
  /* Whether equal messages over equal links fare alike there, wherever these are: nothing is drawn, and no link shares
   * anything with those that it does not follow. So lines that turn into each other (FabRotation) may be played once.
   * FAB_NO_LINK: whether any link does. NULL: none does. Where `n_sharers` of these lines, more than one, cross the
   * link: whether one of them may be played with its part of the link. */
  gboolean (*plays_alike) (const FabNet *net, FabLinkId link, guint n_sharers);
  FabNet *(*create) (const FabNetEnv *env, gconstpointer params);
  void (*send) (FabNet *net, const FabTransfer *transfer); /* copies the transfer, which must have a path */
  void (*stream) (FabNet *net, const FabStream *stream);   /* copies the stream */
  void (*destroy) (FabNet *net);
  void (*forget) (FabNet *net); /* frees what only makes the next flows faster; NULL: there is nothing */
  /* Collectives by messages. All three are NULL in a network that plays collectives as streams. A line carries one
   * unsent message at a time, of > 0 payload bytes, which begins at `begin_ps`, now or later. Close a line only when
   * nothing is on its way. */
  FabNetLine *(*open) (FabNet *net, const FabConnection *connection); /* copies the connection */
  void (*message) (FabNet *net, FabNetLine *line, double bytes, FabTimePs begin_ps);
  void (*close) (FabNet *net, FabNetLine *line);
  /* For a caller that knows that what its lines do repeats, and has moved all events of the network `by_ps` later with
   * fab_engine_delay (): the state follows, as if the lines had done the same again and again until then. FALSE and
   * nothing is done when more than these `n_lines` lines are open. With `by_ps` 0 it only says whether it could. NULL:
   * the network's state depends on more than what its open lines did lately. */
  gboolean (*skip) (FabNet *net, guint n_lines, FabTimePs by_ps);
  /* The same for networks of which a caller cannot know it all. `mark` notes what is counted now; FALSE: not these
   * `n_lines` lines that repeat are open, or what they do does not repeat. `repeat` makes the state follow as if the
   * lines had done `n_times` more, in `by_ps`, what they did since the mark; the caller then moves the events of the
   * network as above. FALSE and nothing is done: it was not the kind of thing that repeats. Both, or none. `lasts`
   * returns for how long messages of other lines go on as they do, at most which they may be moved by; FAB_TIME_MAX:
   * there are none. NULL: there must be none. */
  gboolean (*mark) (FabNet *net, guint n_lines);
  FabTimePs (*lasts) (FabNet *net);
  gboolean (*repeat) (FabNet *net, double n_times, FabTimePs by_ps);
  /* Sets the share of its line rate that a link has from now on, 0 to 1; flows over a link at 0 stand still. NULL:
 * the network does not model time. */
  void (*set_capacity) (FabNet *net, FabLinkId link, double fraction);
  /* NULL: nothing queues for links. */
  FabLinkQueue (*link_queue) (const FabNet *net, FabLinkId link);
  /* Adds for how long the queue for a link had which length; FALSE: it was not noted. NULL: it never is. */
  gboolean (*queue_lengths) (const FabNet *net, FabLinkId link, FabQueueLengths *lengths);
  /* Forgets what was noted of lengths since the network rested: it was played ahead, and does not happen. NULL: nothing
   * is noted. */
  void (*drop_lengths) (FabNet *net);
  /* Returns a link for which traffic waits although no event is due, because buffers wait for each other; otherwise
   * FAB_NO_LINK. NULL: the network has no buffers. */
  FabLinkId (*find_jam) (const FabNet *net);
  /* Returns how many random numbers the network has drawn so far. NULL: it never draws. */
  guint64 (*n_drawn) (const FabNet *net);
  /* Whether what happened before is worth remembering (sim/shortcut/memo/episodes.h), by the parameters. NULL: a
   * collective costs the network less than remembering it. */
  gboolean (*remembers) (gconstpointer params);
  /* By what share of the time that it takes alone the end of a collective may be off, where that saves playing it; by
   * the parameters. NULL: by none. */
  double (*tolerance) (gconstpointer params);
  /* Puts a network in which nothing is on its way into the state in which it was made, except for capacities and for
   * what was measured of time. Random numbers come from this stream of the seed from now on. NULL: nothing stays. */
  void (*rest) (FabNet *net, guint64 stream);
  /* Forgets all that is on its way, and all lines, so that nothing is; the caller then drops all events of the engine.
   * FALSE and nothing is done: it can only run out. NULL: likewise. */
  gboolean (*reset) (FabNet *net);
  /* Whether what was begun on the network so far depends on its order, so that a collective by itself could fare
   * otherwise. NULL: it does not. */
  gboolean (*has_order) (const FabNet *net);
  /* Appends a FabLaneQueue for every lane that was used since the network rested. NULL: nothing queues. */
  void (*list_queues) (const FabNet *net, GArray *queues);
  /* Whether nothing moves and no event of the network is due, so that traffic behind a dead link waits as long as what
   * crosses it. NULL: a dead link holds back only what crosses it. */
  gboolean (*is_still) (const FabNet *net);
  /* The finer network on which every collective of a job is timed alone before the clock starts, so that it takes as
   * long on this one (sim/shortcut/sample/sampling.h), its parameters, and how many events may be played of one
   * collective. NULL: none; collectives take what a stream takes. */
  const FabNetOps *(*sampled_on) (gconstpointer params, gconstpointer *net_params, guint64 *most_events);
  /* About how many seconds of one processor it takes to play `bytes` of a footprint. NULL: next to none. */
  double (*cost_s) (gconstpointer params, const FabFootprint *footprint, FabBytes bytes);
};

/* A link that carries nothing at present. */
typedef struct {
  FabLinkId link;
  FabTimePs since_ps;
} FabDeadLink;

/* Rounds that were skipped, all in the same time (sim/collective/play/play.c). */
typedef struct {
  FabTimePs at_ps, by_ps;
} FabSkip;

/* The base struct: the first member of every network. */
struct _FabNet {
  const FabNetOps *ops;
  FabNetEnv env;
  FabMeter *meter;
  FabFootprintBuilder *builder; /* for transfers that are spread over paths; NULL before the first */
  GArray *shares;               /* of FabShare, for the same transfers */
  GArray *dead;                 /* FabDeadLink */
  /* How many lines were opened and closed and capacities changed, in networks that have `skip`: what repeated before
   * may not repeat after that. */
  guint64 n_changes;
  /* How many capacities were set and how many lines of plays have sent all: a pace that was measured before does not
   * hold after that. */
  guint64 n_rate_changes;
  guint64 n_skipped; /* packets times links, or messages, that were not played, because they repeat others */
  GPtrArray *plays;  /* FabPlay (sim/collective/play/play.h): that are under way and may repeat */
  guint n_plays_beside; /* that do not */
  FabTimePs marked_ps;  /* when a play has last called `mark` */
  GArray *skips;        /* FabSkip: that were made since the network rested */
  /* FabSkip: where what was played before is played again, the skips that are made, and no others; NULL: the network
   * skips what it can. */
  const GArray *skips_due;
};

/* Set up and free the base part; for create () and destroy (). */
void fab_net_init (FabNet *self, const FabNetOps *ops, const FabNetEnv *env);
void fab_net_clear (FabNet *self);

void fab_net_send (FabNet *self, const FabTransfer *transfer);
void fab_net_stream (FabNet *self, const FabStream *stream);
void fab_net_destroy (FabNet *self); /* accepts NULL */

/* Frees what only makes the next flows faster. */
void fab_net_forget (FabNet *self);

/* See FabNetOps.is_separable. */
static inline gboolean
fab_net_is_separable (const FabNet *self, FabLinkId link)
{
  return self->ops->is_separable != NULL && self->ops->is_separable (self, link);
}

/* These three need a network that has `message`. */
FabNetLine *fab_net_open (FabNet *self, const FabConnection *connection);
void fab_net_message (FabNet *self, FabNetLine *line, double bytes, FabTimePs begin_ps);
void fab_net_close (FabNet *self, FabNetLine *line);

/* Returns what waited for every link; needs a network that has `link_queue`. (transfer full: g_free) */
FabLinkQueue *fab_net_link_queues (const FabNet *self);

/* Needs a network that has `set_capacity`. */
void fab_net_set_capacity (FabNet *self, FabLinkId link, double fraction);

/* Returns the link of a footprint that has been dead longest; NULL: all of its links carry something. */
const FabDeadLink *fab_net_find_dead (const FabNet *self, const FabFootprint *footprint);

/* Returns what a transfer between two different vertices puts on the links when the router spreads it over several
 * paths; NULL: it takes the path of `append`. (transfer full) */
FabFootprint *fab_net_spread (FabNet *self, const FabTransfer *transfer);

/* Returns the rate of the stream when nothing else moves, in stream bytes per second. */
double fab_stream_rate_alone (const FabStream *stream);

/* Returns the time that no network may beat: latency of the wires plus payload at line rate. */
FabTimePs fab_stream_bound_ps (const FabStream *stream);

/* Returns the duration of a stream with a constant rate (stream bytes per second), rounded up. */
FabTimePs fab_flow_ps (double bytes, double rate_bytes_per_s);
