/* SPDX-License-Identifier: Apache-2.0 */
/* parts.h - what the network `step` is made of: private to models/net/step. */
#pragma once

#include "models/models.h"
#include "sim/base/pool.h"
#include "sim/net/net.h"
#include "sim/solve/sharing.h"

typedef struct _Member Member;

/* A line on a link, in the link's list. */
struct _Member {
  FabNetLine *line;
  Member *next, *prev;
};

typedef enum {
  LINE_IDLE,
  LINE_WAITS,   /* for its message's begin */
  LINE_FREE,    /* at the rate of a line that is alone, from `begin_ps` on */
  LINE_SHARES,  /* in the sharing */
  LINE_LEAVING, /* in the sharing, for the rest of this instant */
} LineState;

struct _FabNetLine {
  FabSharer sharer; /* rate is in payload bytes per second */
  LineState state;
  guint n_tight; /* links that are */
  double alone_bytes_per_s;
  double left_bytes, rate_bytes_per_s; /* at `updated_ps`; of a free one, the whole and at its begin */
  FabTimePs updated_ps;
  FabTimer timer;
  FabConnection connection;
  double sum_bytes;  /* of all its messages */
  Member *members;   /* [sharer.n] */
  FabDone done;      /* of a stream or transfer; fn NULL: a line that others opened */
  FabFootprint *own; /* of a transfer */
  guint index;       /* in `open` */
};

typedef struct {
  double capacity;
  double demand; /* of all lines over it, each alone */
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
  GPtrArray *leaving; /* FabNetLine: left in this instant */
  FabSharing *sharing;
  FabFootprintBuilder *builder; /* of transfers */
  gboolean is_solve_due;
} StepNet;

FabNetLine *fab_step_open (FabNet *net, const FabConnection *connection);
void fab_step_message (FabNet *net, FabNetLine *line, double bytes, FabTimePs begin_ps);

/* Lines of one message each, which close when it has left: single.c. */
void fab_step_stream (FabNet *net, const FabStream *stream);
void fab_step_send (FabNet *net, const FabTransfer *transfer);
