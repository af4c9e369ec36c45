/* SPDX-License-Identifier: Apache-2.0 */
/* sharing_private.h - the parts of a sharing, for sharing*.c only.
 *
 * The level of a link is the level at which it is full: rate = level x share for the flows that it holds back. A link
 * that holds back no flow has the level FAB_NO_LEVEL. Only links with flows on them have a valid level.
 */
#pragma once

#include "sim/base/pool.h"
#include "sim/solve/maxmin.h"
#include "sim/solve/sharing.h"

#define FAB_NO_LEVEL G_MAXDOUBLE

/* A flow on a link. Everything that the link's level needs lies side by side in memory. */
typedef struct {
  double demand; /* capacity per unit of level */
  double stop;   /* the lowest level of the flow's other links and of its limit */
  FabSharer *sharer;
  guint slot; /* index of this link among the flow's links */
} FabSharingMember;

typedef struct {
  FabSharingMember *members;
  guint n, capacity;
} FabSharingList;

/* A link that must be examined when this level is reached. */
typedef struct {
  double level;
  guint link;
} FabSharingStop;

struct _FabSharing {
  FabSharingFn changed;
  gpointer owner;
  guint n_links, n_wide; /* n_wide: number of flows over many links */
  double *capacities;    /* per link, like the arrays that follow */
  FabSharingList *lists;
  double *levels;
  /* Number of the link's component, or of the solve in which its level became final. */
  guint64 *stamps;
  guint *locals;         /* its number in the component, or the solve in which its level was raised */
  double *keys;          /* level of its valid stop; 0: it has none */
  guint64 stamp;         /* number of this solve */
  double floor;          /* lower levels are final */
  GPtrArray *arrivals;   /* FabSharer that came since the last solve */
  GPtrArray *solved;     /* FabSharer of the component, or whose level changed */
  GArray *changed_links; /* links of flows that came or went since the last solve */
  GArray *stops;         /* FabSharingStop, a heap */
  GArray *risen;         /* guint: links of the flows that rise with a link */
  GArray *links;         /* global link number by local number */
  GArray *starts, *entries, *weights, *shares, *limits, *local_capacities, *rates, *bindings;
  FabMaxmin *solver;
  FabBlocks members; /* FabSharingMember of the lists */
  FabBlocks places;  /* guint of the flows */
};

/* Whether a flow crosses more links than any path has. */
static inline gboolean
fab_sharing_is_wide (const FabSharer *sharer)
{
  return sharer->n > 64;
}

/* Returns the level at which the flow stops when `link` is left out. */
static inline double
fab_sharing_stop_elsewhere (const FabSharer *sharer, guint link)
{
  return sharer->lowest_link == link ? sharer->second : sharer->lowest;
}

/* Computes the lowest levels of a flow from its links and its limit, and passes them to its members. */
void fab_sharing_find_lowest (FabSharing *self, FabSharer *sharer);

void fab_sharing_solve_component (FabSharing *self);
void fab_sharing_solve_levels (FabSharing *self);
