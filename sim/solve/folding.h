/* SPDX-License-Identifier: Apache-2.0 */
/* folding.h - max-min rates of flows over very many links, most of which are symmetric. It applies sharing.h to
 * classes of links, so a stream over a million links of a symmetric job costs no more than one over a
 * dozen.
 *
 * A flow whose arrays stay is folded: links that it crosses in the same way are solved as one. A flow that comes and
 * goes uses its links separately. The rates are the same as those of all links solved one by one. A folding owns its
 * classes but not the flows; one thread at a time may use it.
 */
#pragma once

#include "sim/solve/sharing.h"

typedef struct _FabFolding FabFolding;

/* A flow, embedded as the first member of the caller's struct. Set what is described here and zero the rest. */
typedef struct {
  FabSharer sharer;      /* the caller sets share, limit and weight_factor; the rest is private */
  const guint *links;    /* [n], each at most once; must live as long as the flow is in */
  const double *weights; /* [n]: capacity used per unit of rate */
  guint n;
  gboolean stays; /* links and weights live as long as the folding and never change */
  GList place;    /* private: among the flows that stay */
} FabFoldedFlow;

/* `capacity` returns the present capacity of a link; `changed` is called with the sharer of a FabFoldedFlow. With
 * `is_flat`, every link is solved separately. (transfer full) */
FabFolding *fab_folding_new (guint n_links, double (*capacity) (gconstpointer owner, guint link),
                             FabSharingFn changed, gpointer owner, gboolean is_flat);
void fab_folding_free (FabFolding *self); /* accepts NULL */
G_DEFINE_AUTOPTR_CLEANUP_FUNC (FabFolding, fab_folding_free)

/* Call it when the capacity of a link has changed. */
void fab_folding_change_capacity (FabFolding *self, guint link);

/* These three work like fab_sharing_enter (), add () and remove (). */
void fab_folding_enter (FabFolding *self, FabFoldedFlow *flow);
void fab_folding_add (FabFolding *self, FabFoldedFlow *flow);
void fab_folding_remove (FabFolding *self, FabFoldedFlow *flow);

void fab_folding_solve (FabFolding *self);

/* Returns the number of link classes that a flow crosses. */
guint fab_folding_n_classes (const FabFoldedFlow *flow);
