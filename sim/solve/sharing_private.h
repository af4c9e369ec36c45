/* SPDX-License-Identifier: Apache-2.0 */
/* sharing_private.h - what a sharing is made of: for its own files.
 *
 * A link's level is the one at which it is full: rate = level x share for the flows that it holds back. Of a link that
 * holds nobody back it is FAB_NO_LEVEL. Levels hold for links with flows on them.
 */
#pragma once

#include "sim/base/pool.h"
#include "sim/solve/maxmin.h"
#include "sim/solve/sharing.h"

#define FAB_NO_LEVEL G_MAXDOUBLE

/* A flow on a link, in the link's list. */
struct _FabSharerMember {
  FabSharer *sharer;
  FabSharerMember *next, *prev;
  double demand; /* capacity per unit of level */
};

/* A link that is to be looked at when the level is reached. */
typedef struct {
  double level;
  guint link;
} FabSharingStop;

/* What a flow of a link takes of it per unit of level, until other links stop it. */
typedef struct {
  double demand, stop;
} FabSharingPart;

struct _FabSharing {
  FabSharingFn changed;
  gpointer owner;
  guint n_links, n_wide; /* n_wide: flows of many links */
  double *capacities;    /* per link, as the following */
  FabSharerMember **heads;
  double *levels;
  guint64 *stamps;       /* of the component that it is in, or of the solve in which its level became final */
  guint *locals;         /* number in the component, or the solve in which its level was raised */
  double *keys;          /* the level of its stop that counts; 0: it has none */
  guint64 stamp;         /* of this solve */
  double floor;          /* levels below it are final */
  GPtrArray *arrivals;   /* FabSharer: came since the last solve */
  GPtrArray *solved;     /* FabSharer: the component, or those whose level changed */
  GArray *changed_links; /* of flows that came or went since the last solve */
  GArray *stops;         /* FabSharingStop, a heap */
  GArray *risen;         /* guint: links of flows that rise with a link */
  FabSharingPart *parts; /* the flows of one link */
  guint n_parts;         /* allocated */
  GArray *links;         /* global link by local number */
  GArray *starts, *entries, *weights, *shares, *limits, *local_capacities, *rates, *bindings;
  FabMaxmin *solver;
  FabBlocks members; /* FabSharerMember */
};

/* Of a flow, from the levels of its links and its limit. */
void fab_sharing_find_lowest (const FabSharing *self, FabSharer *sharer);

void fab_sharing_solve_component (FabSharing *self);
void fab_sharing_solve_levels (FabSharing *self);
