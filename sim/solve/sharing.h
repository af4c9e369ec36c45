/* SPDX-License-Identifier: Apache-2.0 */
/* sharing.h - max-min rates kept up to date while flows come and go.
 *
 * Solved once for all that came and went since the last time: a thousand flows that start together cost one solve.
 * Only what these can affect is solved anew (decision 12):
 *
 * - flows of few links (paths): link by link, those whose level is no longer right. O(flows and links whose rate or
 *   level changes, times the flows on a link), whatever the size of the network. sim/solve/sharing_levels.c
 * - as long as one flow of many links is in (a collective): its component, the flows that share links with what
 *   changed, directly or through others, by progressive filling. sim/solve/sharing_component.c
 *
 * Memory is reused; nothing is allocated once the arrays have grown. Knows no engine and no graph: capacities in,
 * rates out.
 */
#pragma once

#include <glib.h>

typedef struct _FabSharing FabSharing;
typedef struct _FabSharer FabSharer;

/* A flow, embedded as the first member of the caller's own. Zeroed memory but for what is set here. */
struct _FabSharer {
  const guint *links;    /* [n], each at most once; lives as long as the flow is in */
  const double *weights; /* [n]: capacity taken per unit of rate */
  guint n;
  double weight_factor; /* on every weight */
  double share;         /* > 0: rates on a full link are in this proportion */
  double limit;         /* on the rate; 0: none */
  guint *places;        /* private from here; [n]: where the flow stands among those of its links */
  guint64 stamp;
  double lowest, second; /* the level that holds it back, and the next above it */
  guint lowest_link;     /* whose level the lowest is; G_MAXUINT32: its own limit */
  guint arrival;         /* place among those that came since the last solve, from 1; 0: none of them */
};

/* Called for every flow that was solved anew with its rate, which may be the old one. */
typedef void (*FabSharingFn) (gpointer owner, FabSharer *sharer, double rate);

FabSharing *fab_sharing_new (guint n_links, FabSharingFn changed, gpointer owner);
void fab_sharing_free (FabSharing *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (FabSharing, fab_sharing_free)

/* Before the first flow. A capacity may be 0: flows over the link stand still. */
void fab_sharing_set_capacity (FabSharing *self, guint link, double capacity);
/* While flows are in: those that are on the link, and what they can affect, are to be solved. */
void fab_sharing_change_capacity (FabSharing *self, guint link, double capacity);

/* Enters a flow whose rate is known to stay; one of many links is not solved until others change it. */
void fab_sharing_enter (FabSharing *self, FabSharer *sharer);
/* Leaves without solving: for one that is added again. */
void fab_sharing_leave (FabSharing *self, FabSharer *sharer);
/* Enters; its rate, and what it can affect, are to be solved. */
void fab_sharing_add (FabSharing *self, FabSharer *sharer);
/* Leaves; what it leaves behind is to be solved. */
void fab_sharing_remove (FabSharing *self, FabSharer *sharer);

/* Solves what is to be solved: the rates hold from now until the next change. */
void fab_sharing_solve (FabSharing *self);
