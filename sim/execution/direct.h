/* SPDX-License-Identifier: Apache-2.0 */
/* direct.h - collectives that are played by their network, every message of them, on the clock of the jobs. */
#pragma once

#include "sim/collective/play/play.h"
#include "sim/execution/play_watch.h"

typedef struct _FabDirect FabDirect;

/* Collectives that are under way. */
typedef struct {
  FabDirect *first; /* NULL: there is none */
  guint64 n_ended;
} FabDirects;

/* Adds a collective. The caller begins it on the network with fab_direct_end () as what is done at its end, and says
 * what plays it, which the list then frees; NULL for a stream. */
FabDirect *fab_directs_add (FabDirects *self, FabDone done);
FabDone fab_direct_end (FabDirect *self);
void fab_direct_set_play (FabDirect *self, FabPlay *play);
/* When the network will not call back any more. */
void fab_directs_clear (FabDirects *self);

/* Begins a stream of the plan on the network. */
void fab_direct_stream (FabNet *net, const FabJobCollective *collective, FabDone done);

/* Whether nothing of the network is due. */
gboolean fab_direct_is_still (const FabNet *net);
FabLinkId fab_direct_find_jam (const FabNet *net);

/* All of the jobs of a network, which outlives it. (transfer full) */
FabPlayWatch *fab_direct_watch_new (FabNet *net);
void fab_direct_watch_free (FabPlayWatch *self); /* accepts NULL */
