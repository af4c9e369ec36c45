/* SPDX-License-Identifier: Apache-2.0 */
/* maxmin.h - weighted max-min fair sharing as a pure function: arrays in, rates out. It knows no engine and no graph.
 *
 * Flow f takes weight[f,l] x rate[f] of link l. The rates are the only ones with
 *
 *   sum over f of weight[f,l] rate[f] <= capacity[l]        for every link l,
 *   rate[f] <= limit[f],
 *
 * in which every flow is held back either by its limit or by a full link on which no flow has a larger rate[f] /
 * share[f]. The method is progressive filling: a level rises, rate = level x share, and a flow stops when it meets a
 * full link or its limit. (Bertsekas and Gallager, Data Networks, 2nd edition, section 6.5.2.) O((links + entries)
 * log links).
 */
#pragma once

#include <glib.h>

#define FAB_MAXMIN_LIMIT G_MAXUINT32 /* the flow is held back by its own limit, not by a link */

typedef struct {
  guint n_flows, n_links;
  const double *capacity; /* [n_links] > 0 */
  const guint *starts;    /* [n_flows + 1]: entries of flow f are [starts[f], starts[f + 1]) */
  const guint *links;     /* [entries]; a flow names a link at most once */
  const double *weights;  /* [entries] > 0: capacity used per unit of rate */
  const double *shares;   /* [n_flows] > 0; NULL: all 1 */
  const double *limits;   /* [n_flows], 0: no limit; NULL: no limits. A flow without entries needs a limit */
} FabMaxminProblem;

/* Working memory that is reused between solves. One thread at a time may use it. */
typedef struct _FabMaxmin FabMaxmin;

FabMaxmin *fab_maxmin_new (void);
void fab_maxmin_free (FabMaxmin *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (FabMaxmin, fab_maxmin_free)

/* Fills rates[n_flows] and, unless it is NULL, binding[n_flows] with the link that holds each flow back
 * (FAB_MAXMIN_LIMIT for its limit). */
void fab_maxmin_solve (FabMaxmin *self, const FabMaxminProblem *problem, double *rates, guint *binding);
