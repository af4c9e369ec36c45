/* SPDX-License-Identifier: Apache-2.0 */
/* net.h - the narrow waist: what a network can be asked to do, and nothing else.
 *
 *   send     one message on one path; its completion is an ordinary event
 *   stream   a pipelined collective in steady state: one coupled flow over many links
 *   message  a step of a collective over one of its connections; not of every network
 *
 * Models are in models/net. A network accounts what every link carried in its meter.
 */
#pragma once

#include "sim/base/param.h"
#include "sim/engine/engine.h"
#include "sim/fabric/footprint.h"
#include "sim/fabric/router.h"
#include "sim/net/meter.h"

typedef struct {
  FabEngine *engine;
  const FabGraph *graph;
  FabRouter *router;
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
  guint64 flow_hash;   /* for routers that spread flows */
  const char *traffic; /* what it is part of: a name that classes of service know; NULL: nothing they know */
  FabDone done;
} FabTransfer;

typedef struct {
  const FabFootprint *footprint; /* outlives the stream */
  FabBytes bytes;                /* of the collective, as the footprint's weights count it */
  FabTimePs startup_ps;          /* latency before the first byte counts; the links are idle meanwhile */
  FabTimePs latency_ps;          /* the wires' part of it, which nothing can beat */
  double wire_factor;            /* bytes a protocol sends per payload byte: flags add some; below 1 what was
                                    measured is faster than the wires */
  double limit_bytes_per_s;      /* what the endpoints can do at most, stream bytes; 0: no limit */
  guint share;                   /* connections over a link that it counts as, at least 1 */
  const char *traffic;           /* as in FabTransfer */
  gboolean stays;                /* the footprint outlives the network: what is found out of it is kept */
  FabDone done;
} FabStream;

/* A part of a connection's way that a router finds at once: GPU to NIC, NIC to NIC, GPU to host memory. */
typedef struct {
  FabVertexId src, dst;
  guint64 flow_hash;
} FabLeg;

/* One hop of a collective, on which messages follow one another. What it points to outlives it. */
typedef struct {
  const FabFootprint *footprint; /* links and weights per payload byte of its messages */
  const FabLeg *legs; /* [n_legs] the same way in order, for networks that route packets themselves */
  guint n_legs;
  FabDrive drive;
  guint share;              /* connections over a link that it counts as, at least 1 */
  FabTimePs latency_ps;     /* of the wires, from a byte's leaving to its arrival */
  double wire_factor;       /* as in FabStream */
  double limit_bytes_per_s; /* payload that its ends can do at most; 0: no limit */
  const char *traffic;      /* as in FabTransfer */
  gpointer owner;           /* of the two, which are called once per message with `arg` */
  guint64 arg;
  /* The last byte has left the sender: the next message may be given, in the call too. */
  void (*left) (gpointer owner, guint64 arg);
  /* After that: when the last byte arrives, said as soon as it is known and at that time at the latest. */
  void (*arrives) (gpointer owner, guint64 arg, FabTimePs at_ps);
} FabConnection;

/* What waited for a link since the network was made, where packets do. */
typedef struct {
  FabBytes carried_bytes;             /* payload, what is sent again too */
  FabBytes most_bytes;                /* at once */
  double mean_bytes;                  /* over all the time */
  guint64 n_stalls;                   /* times that the far end had no room */
  guint64 n_marks, n_pauses, n_drops; /* packets marked; times that the far end stopped it; packets lost */
} FabLinkQueue;

typedef struct _FabNet FabNet;
typedef struct _FabNetLine FabNetLine; /* a connection that is open, the network's own */

typedef struct {
  FabModelInfo info;
  gboolean shares_links; /* no link ever carries more than its rate; FALSE: nothing contends */
  FabNet *(*create) (const FabNetEnv *env, gconstpointer params);
  void (*send) (FabNet *net, const FabTransfer *transfer); /* copies; there is a path */
  void (*stream) (FabNet *net, const FabStream *stream);   /* copies */
  void (*destroy) (FabNet *net);
  /* Collectives by messages; NULL all three: it plays them as streams. A line has one message under way that has not
   * left, of > 0 payload bytes, which begins at `begin_ps`, now or later. It is closed when nothing is on its way. */
  FabNetLine *(*open) (FabNet *net, const FabConnection *connection); /* copies */
  void (*message) (FabNet *net, FabNetLine *line, double bytes, FabTimePs begin_ps);
  void (*close) (FabNet *net, FabNetLine *line);
  /* From now on a link has this share of its line rate, 0 to 1; flows over one of 0 stand still. NULL: the network
   * knows no time. */
  void (*set_capacity) (FabNet *net, FabLinkId link, double fraction);
  /* NULL: nothing waits for links. */
  FabLinkQueue (*link_queue) (const FabNet *net, FabLinkId link);
  /* A link that something waits for while nothing is due, because buffers wait for each other; or FAB_NO_LINK. NULL:
   * there are no buffers. */
  FabLinkId (*find_jam) (const FabNet *net);
} FabNetOps;

/* A link that carries nothing now. */
typedef struct {
  FabLinkId link;
  FabTimePs since_ps;
} FabDeadLink;

/* Base struct: first member of every network. */
struct _FabNet {
  const FabNetOps *ops;
  FabNetEnv env;
  FabMeter *meter;
  FabFootprintBuilder *builder; /* for spread transfers; NULL before the first */
  GArray *shares;               /* FabShare, likewise */
  GArray *dead;                 /* FabDeadLink */
};

/* For create () and destroy (): the base part. */
void fab_net_init (FabNet *self, const FabNetOps *ops, const FabNetEnv *env);
void fab_net_clear (FabNet *self);

void fab_net_send (FabNet *self, const FabTransfer *transfer);
void fab_net_stream (FabNet *self, const FabStream *stream);
void fab_net_destroy (FabNet *self); /* accepts NULL */

/* Of a network that has `message`. */
FabNetLine *fab_net_open (FabNet *self, const FabConnection *connection);
void fab_net_message (FabNet *self, FabNetLine *line, double bytes, FabTimePs begin_ps);
void fab_net_close (FabNet *self, FabNetLine *line);

/* Of a network that has `set_capacity`. */
void fab_net_set_capacity (FabNet *self, FabLinkId link, double fraction);

/* The dead link of a footprint that is dead longest; NULL: all of them carry something. */
const FabDeadLink *fab_net_find_dead (const FabNet *self, const FabFootprint *footprint);

/* What a transfer puts on the links where the router spreads it over several paths; NULL: it takes the path of
 * `append`. Of a transfer between two places. (transfer full) */
FabFootprint *fab_net_spread (FabNet *self, const FabTransfer *transfer);

/* Rate of the stream when nothing else moves, stream bytes per second. */
double fab_stream_rate_alone (const FabStream *stream);

/* Time that no network may beat: latency of the wires and payload at line rate. */
FabTimePs fab_stream_bound_ps (const FabStream *stream);

/* Duration of a stream whose rate (stream bytes/s) never changes, rounded up. */
FabTimePs fab_flow_ps (double bytes, double rate_bytes_per_s);
