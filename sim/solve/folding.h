/* SPDX-License-Identifier: Apache-2.0 */
/* folding.h - max-min rates of flows over very many links, of which most are alike: sharing.h over classes of links
 * (link_fold.h). A stream over a million links of a symmetric job costs what one over a dozen does.
 *
 * A flow whose arrays stay is folded: links that it crosses alike are one. One that comes and goes has its links
 * apart. Rates are those of all links one by one.
 */
#pragma once

#include "sim/solve/sharing.h"

typedef struct _FabFolding FabFolding;

/* A flow, embedded as the first member of the caller's own. Zeroed memory but for what is set here. */
typedef struct {
  FabSharer sharer;      /* share, limit and weight_factor are the caller's; the rest private */
  const guint *links;    /* [n], each at most once; lives as long as the flow is in */
  const double *weights; /* [n]: capacity taken per unit of rate */
  guint n;
  gboolean stays; /* links and weights live as long as the folding, and are always the same there */
  guint index;    /* private: among those that stay and are in */
} FabFoldedFlow;

/* `capacity` is asked for what a link has now; `changed` gets a FabFoldedFlow's sharer. Where the folding `is_flat` no
 * links are one. */
FabFolding *fab_folding_new (guint n_links, double (*capacity) (gconstpointer owner, guint link),
                             FabSharingFn changed, gpointer owner, gboolean is_flat);
void fab_folding_free (FabFolding *self); /* accepts NULL */
G_DEFINE_AUTOPTR_CLEANUP_FUNC (FabFolding, fab_folding_free)

/* The capacity of the link is another one from now on. */
void fab_folding_change_capacity (FabFolding *self, guint link);

/* As fab_sharing_enter (), add () and remove (). */
void fab_folding_enter (FabFolding *self, FabFoldedFlow *flow);
void fab_folding_add (FabFolding *self, FabFoldedFlow *flow);
void fab_folding_remove (FabFolding *self, FabFoldedFlow *flow);

void fab_folding_solve (FabFolding *self);

/* How many links of a flow that is in have been told apart. */
guint fab_folding_n_classes (const FabFoldedFlow *flow);
