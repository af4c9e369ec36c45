/* SPDX-License-Identifier: Apache-2.0 */
/* family.h - groups of the same form that do the same thing at the same time.
 *
 * A rank of a job that is parallel in several ways is in one group per way, and while its group talks, so do the
 * groups of the ranks beside it: with tensor parallelism of 8, eight data-parallel groups share the NICs of a node.
 * A family is all of them; its collective is planned for the first group, as a library does that knows nothing of
 * the others, and played as one stream over the links of all. Ranks of a group must be evenly spread: as many in
 * each of its nodes, at the same places.
 */
#pragma once

#include "sim/work/collective.h"

typedef struct _FabFamily FabFamily;

/* `ranks` holds n_groups x n_ranks ranks of the cluster, group by group, each group ascending. NULL and *error when
 * a group is not evenly spread; asserts that no rank stands there twice. */
FabFamily *fab_family_new (const FabCluster *cluster, const guint *ranks, guint n_groups, guint n_ranks,
                           GError **error);
void fab_family_free (FabFamily *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (FabFamily, fab_family_free)

guint fab_family_n_ranks (const FabFamily *self); /* of one group */
guint fab_family_n_groups (const FabFamily *self);
/* One of them, in a cluster that has no other nodes and GPUs. */
FabGroup fab_family_group (const FabFamily *self, guint index);

/* As fab_library_plan () for every group at once; sizes are of one group. The family owns what the plan points to. */
gboolean fab_family_plan (FabFamily *self, FabLibrary *library, FabOp op, FabBytes bytes,
                          FabCollectivePlan *plan, GError **error);
/* Of groups of two: a message from the first to the second, or the other way. */
gboolean fab_family_plan_send (FabFamily *self, FabLibrary *library, FabBytes bytes, gboolean is_up,
                               FabCollectivePlan *plan, GError **error);
