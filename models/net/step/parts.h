/* SPDX-License-Identifier: Apache-2.0 */
/* parts.h - the parts of the network `step`, private to models/net/step. */
#pragma once

#include "models/models.h"
#include "sim/base/pool.h"
#include "sim/net/net.h"
#include "sim/solve/sharing.h"

typedef struct _Member Member;

/* A line in the list of lines of a link. */
struct _Member {
  FabNetLine *line;
  Member *next, *prev;
};

typedef enum {
  LINE_IDLE,
  LINE_WAITS,   /* waits for the begin of its message */
  LINE_FREE,    /* sends at the rate of a line that is alone, from `begin_ps` on */
  LINE_SHARES,  /* takes part in the sharing */
  LINE_LEAVING, /* takes part in the sharing until the end of this instant */
} LineState;

struct _FabNetLine {
  FabSharer sharer; /* rate is in payload bytes per second */
  LineState state;
  guint n_tight; /* number of its links that are tight */
  double alone_bytes_per_s;
  double left_bytes, rate_bytes_per_s; /* at `updated_ps`; for a free line: the whole message at its begin */
  FabTimePs updated_ps;
  FabTimer timer;
  FabConnection connection;
  double sum_bytes;  /* sum over all its messages */
  Member *members;   /* [sharer.n] */
  FabDone done;      /* of a stream or transfer; fn NULL: the caller opened the line */
  FabFootprint *own; /* of a transfer */
  guint index;       /* its index in `open` */
};

typedef struct {
  double capacity;
  double demand; /* sum over all lines on it, each as if alone */
  guint n_lines;
  gboolean is_tight, is_slowed;
  Member *lines;
} Link;

typedef struct {
  FabNet base;
  FabPool lines;
  FabBlocks members;
  Link *links;
  GPtrArray *open;    /* FabNetLine */
  GPtrArray *leaving; /* FabNetLine that left in this instant */
  FabSharing *sharing;
  FabFootprintBuilder *builder; /* for transfers */
  gboolean is_solve_due;
} StepNet;

FabNetLine *fab_step_open (FabNet *net, const FabConnection *connection);
void fab_step_message (FabNet *net, FabNetLine *line, double bytes, FabTimePs begin_ps);

/* Open a line for one message, and close it when that has left: single.c. */
void fab_step_stream (FabNet *net, const FabStream *stream);
void fab_step_send (FabNet *net, const FabTransfer *transfer);
