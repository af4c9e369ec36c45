/* SPDX-License-Identifier: Apache-2.0 */
/* play_spec.h - what is asked of a play (play.h): bytes, limits, and what steps cost. */
#pragma once

#include "sim/collective/play/play_watch.h"
#include "sim/net/net.h"

typedef struct {
  FabBytes bytes;           /* size of the collective */
  double wire_factor;       /* as in FabStream */
  double limit_bytes_per_s; /* most that the ends of the collective can do; 0: no limit */
  double free_bytes_per_s;  /* the rate that its links allow, used when there is a limit */
  gboolean is_pipeline;     /* chunks are active in all lanes at once */
  guint share;              /* of each lane, as in FabConnection */
  const char *traffic;      /* as in FabConnection */
  FabTimePs once_ps;        /* before the first message */
  FabTimePs steps_ps;       /* cost of all consecutive steps, latency of the wires included */
  double intra_cost,
      /* Ratio of the cost of a step inside a node to one between nodes; in rings all steps cost the same. */
      inter_cost;
  const FabMessageWatch *watch; /* hears of the messages; NULL: all of them are on the network */
  FabDone done;                 /* called when the last message has arrived */
} FabPlaySpec;
