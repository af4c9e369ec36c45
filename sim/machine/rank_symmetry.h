/* SPDX-License-Identifier: Apache-2.0 */
/* rank_symmetry.h - symmetric nodes of a group: one of them is examined, and its links are counted for all.
 *
 * With a period of k, what happens inside node i is the same as inside node i mod k, the model node, if the two nodes
 * are symmetric (sim/fabric/symmetry.h). The caller adds the hops of the model nodes and leaves out the others; at the
 * end one call adds them all. The object owns its arrays; one thread may use it.
 */
#pragma once

#include "sim/machine/hop.h"

typedef struct _FabRankSymmetry FabRankSymmetry;

/* Returns NULL when no nodes are symmetric, when the group is uneven, or when the graph forbids the use of symmetry.
 * (transfer full) */
FabRankSymmetry *fab_rank_symmetry_new (const FabGroup *group, guint period);
void fab_rank_symmetry_free (FabRankSymmetry *self); /* accepts NULL */
G_DEFINE_AUTOPTR_CLEANUP_FUNC (FabRankSymmetry, fab_rank_symmetry_free)

/* Whether the node is a model node or symmetric to the model node of its number; FALSE for a NULL `self`. */
gboolean fab_rank_symmetry_has (const FabRankSymmetry *self, guint node);

/* Whether a hop may be counted this way. It may not when its cost depends on who else uses the same links. */
static inline gboolean
fab_rank_symmetry_takes (const FabHop *hop)
{
  return !fab_hop_kind_is_net (hop->kind) && hop->duplex_stretch <= 1;
}

/* Adds a hop inside a model node; parameters as in fab_hop_use (). */
void fab_rank_symmetry_use (FabRankSymmetry *self, guint model, const FabHop *hop, double weight,
                            double net_stretch);

/* The same for a part of a hop that is inside the model node: some of its links (FabShare). */
void fab_rank_symmetry_use_shares (FabRankSymmetry *self, guint model, const GArray *shares, FabUse use);

/* The link of a node's model node that corresponds to `link`, which is inside that node. */
FabLinkId fab_rank_symmetry_model_link (const FabRankSymmetry *self, guint node, FabLinkId link);

/* Adds the hops of the model nodes for all nodes symmetric to them. */
void fab_rank_symmetry_add (FabRankSymmetry *self, FabFootprintBuilder *builder);
