/* SPDX-License-Identifier: Apache-2.0 */
/* sharing.h - keeps max-min rates up to date while flows come and go. It knows no engine and no graph: capacities in,
 * rates out.
 *
 * One solve covers all flows that came and went since the last solve: a thousand flows that start together cost one
 * solve. Only what they can affect is solved again (decision 12):
 *
 * - When all flows cross few links (paths), the links whose level is no longer right are solved one by one. This
 * costs O(flows and links whose rate or level changes, times the flows on a link), whatever the size of the network.
 * sim/solve/sharing.c
 * - While one flow crosses many links (a collective), the whole component is solved by progressive filling: all flows
 * that share links with what changed, directly or through others. sim/solve/sharing.c
 *
 * It owns its arrays and reuses them: nothing is allocated once they have grown. It does not own the flows. One
 * thread at a time may use it.
 */
#pragma once

#include <glib.h>

typedef struct _FabSharing FabSharing;
typedef struct _FabSharer FabSharer;

/* A flow, embedded as the first member of the caller's struct. Set the fields up to `limit` and zero the rest. */
struct _FabSharer {
  const guint *links;    /* [n], each at most once; must live as long as the flow is in */
  const double *weights; /* [n]: capacity used per unit of rate */
  guint n;
  double weight_factor; /* multiplies every weight */
  double share;         /* > 0: rates on a full link are in this proportion */
  double limit;         /* upper bound of the rate; 0: none */
  guint *places;        /* private from here; [n]: the flow's position on each of its links */
  guint64 stamp;
  double lowest, second; /* the level that holds it back, and the next level above it */
  guint lowest_link;     /* the link with the lowest level; G_MAXUINT32: its own limit */
  guint arrival; /* its position among the flows that came since the last solve, from 1; 0: none of them */
};

/* Called with the rate of every flow that was solved again; the rate may be unchanged. */
typedef void (*FabSharingFn) (gpointer owner, FabSharer *sharer, double rate);

FabSharing *fab_sharing_new (guint n_links, FabSharingFn changed, gpointer owner);
void fab_sharing_free (FabSharing *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (FabSharing, fab_sharing_free)

/* Call it before the first flow. With a capacity of 0, flows over the link stand still. */
void fab_sharing_set_capacity (FabSharing *self, guint link, double capacity);

/* Changes a capacity while flows are in. The next solve covers the flows on the link and what they can affect. */
void fab_sharing_change_capacity (FabSharing *self, guint link, double capacity);

/* Adds a flow whose rate is already known. A flow of many links is not solved until others change its rate. */
void fab_sharing_enter (FabSharing *self, FabSharer *sharer);

/* Removes a flow without a solve, for a flow that is added again. */
void fab_sharing_leave (FabSharing *self, FabSharer *sharer);

/* Adds a flow. The next solve covers it and what it can affect. */
void fab_sharing_add (FabSharing *self, FabSharer *sharer);

/* Removes a flow. The next solve covers what it leaves behind. */
void fab_sharing_remove (FabSharing *self, FabSharer *sharer);

/* Solves everything that is pending. The rates hold until the next change. */
void fab_sharing_solve (FabSharing *self);
