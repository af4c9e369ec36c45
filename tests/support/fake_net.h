/* SPDX-License-Identifier: Apache-2.0 */
/* fake_net.h - a network on which a stream takes as many ps as it has bytes, whatever else goes on, and which counts
 * what is asked of it. The first link of a stream has a queue of all of its bytes.
 */
#pragma once

#include "tests/support/rig.h"

/* What networks made with it have in common. Several threads may make and use networks. */
typedef struct {
  FabNetOps ops;       /* of all of them; a test may change it before it makes the first one */
  FabTimePs late_ps;   /* so long after its end ... */
  FabBytes late_bytes; /* ... a stream puts so much on its first link; 0: nothing */
  FabTimePs
      drawn_ps; /* a stream takes so much longer for each number of the stream of random numbers; 0: none */
  FabBytes jam_bytes;     /* a stream of that size never ends; 0: all end */
  FabBytes fail_bytes;    /* one of that size fails the engine when it begins, or comes late; 0: none */
  gint slow_from, n_slow; /* so many streams (0: all) from this number on, counted from 1, ... */
  FabTimePs slow_ps;      /* ... take so much longer, or shorter; 0: all take their time */
  FabLinkId inseparable;  /* what crosses it affects all others; FAB_NO_LINK: there is no such link */
  guint64 n_skipped;      /* that each stream skips */
  FabTimePs skip_ps; /* a stream skips so much when it begins, which is noted and nothing else; 0: nothing */
  guint n_ticks;     /* events that a stream takes more, in the ps in which it begins */
  double tolerance;
  gint n_nets, n_streams, n_rests, n_order_asked; /* what was asked; read them when no network is in use */
  gboolean has_order;
  GString *due; /* NULL: nobody asks; "30+5 ": the skips that were due when a stream began */
} FakeNets;

FakeNets fake_nets (void);
FabNet *fake_net_new (FakeNets *nets, FabEngine *engine, const Rig *rig);
