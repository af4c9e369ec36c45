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

/* A flow on a link. All that its level needs lies side by side. */
typedef struct {
  double demand; /* capacity per unit of level */
  double stop;   /* the lowest level of the flow's other links and of its limit */
  FabSharer *sharer;
  guint slot; /* which of the flow's links this is */
} FabSharingMember;

typedef struct {
  FabSharingMember *members;
  guint n, capacity;
} FabSharingList;

/* A link that is to be looked at when the level is reached. */
typedef struct {
  double level;
  guint link;
} FabSharingStop;

struct _FabSharing {
  FabSharingFn changed;
  gpointer owner;
  guint n_links, n_wide; /* n_wide: flows of many links */
  double *capacities;    /* per link, as the following */
  FabSharingList *lists;
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
  GArray *links;         /* global link by local number */
  GArray *starts, *entries, *weights, *shares, *limits, *local_capacities, *rates, *bindings;
  FabMaxmin *solver;
  FabBlocks members; /* FabSharingMember: of lists */
  FabBlocks places;  /* guint: of flows */
};

/* A flow of more links than any path has. */
static inline gboolean
fab_sharing_is_wide (const FabSharer *sharer)
{
  return sharer->n > 64;
}

/* Where the flow stops, for all that this link does. */
static inline double
fab_sharing_stop_elsewhere (const FabSharer *sharer, guint link)
{
  return sharer->lowest_link == link ? sharer->second : sharer->lowest;
}

/* Of a flow, from the levels of its links and its limit; its members are told. */
void fab_sharing_find_lowest (FabSharing *self, FabSharer *sharer);

void fab_sharing_solve_component (FabSharing *self);
void fab_sharing_solve_levels (FabSharing *self);
