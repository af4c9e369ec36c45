/* SPDX-License-Identifier: Apache-2.0 */
/* concurrent_groups.h - concurrent groups: groups of the same shape that run the same collective at the same time.
 *
 * Where a job divides its work in several ways, each rank is in one group per way. While one group communicates, the
 * groups of the neighbouring ranks do the same: with tensor parallelism of 8, the eight data-parallel groups of the
 * eight GPUs of a node share the node's NICs. All these groups together are planned as one collective: the library
 * plans it for the first of the groups that are in the most nodes, because a real library does not know of the other
 * groups either; the network plays it as one stream over the links of all groups. A group may have different numbers of
 * its ranks in its nodes, and at different places. A group that cannot do what was planned (it is in one node, and the
 * plan is for several) does the operation by the first algorithm that it can.
 */
#pragma once

#include "sim/collective/collective.h"

typedef struct _FabConcurrentGroups FabConcurrentGroups;

/* `ranks` holds n_groups x n_ranks ranks of the cluster, group by group, each group in ascending order, none
 * twice. (transfer full) */
FabConcurrentGroups *fab_concurrent_groups_new (const FabCluster *cluster, const guint *ranks, guint n_groups,
                                                guint n_ranks);
/* Groups of the same ranks, for which nothing is planned yet. (transfer full) */
FabConcurrentGroups *fab_concurrent_groups_copy (const FabConcurrentGroups *self);
void fab_concurrent_groups_free (FabConcurrentGroups *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (FabConcurrentGroups, fab_concurrent_groups_free)

/* Hands the groups over to the library, which frees it. Where it has one of the same ranks already, `made` is
 * freed and that one is returned, with what was found for it. */
FabConcurrentGroups *fab_concurrent_groups_keep (FabLibrary *library, FabConcurrentGroups *made);

guint fab_concurrent_groups_n_ranks (const FabConcurrentGroups *self); /* of one group */
guint fab_concurrent_groups_n_groups (const FabConcurrentGroups *self);

/* One of the groups, as a group of a cluster that has no other nodes and GPUs. */
FabGroup fab_concurrent_groups_group (const FabConcurrentGroups *self, guint index);

/* Plans an operation of all groups at once, as fab_library_plan () does for one. `bytes` is the size of one group.
 * The plan points to what this object owns. */
gboolean fab_concurrent_groups_plan (FabConcurrentGroups *self, FabLibrary *library, FabOp op, FabBytes bytes,
                                     FabCollectivePlan *plan, GError **error);

/* For groups of two ranks: plans one message in each group, from its first rank to its second (`is_up`) or back. */
gboolean fab_concurrent_groups_plan_send (FabConcurrentGroups *self, FabLibrary *library, FabBytes bytes,
                                          gboolean is_up, FabCollectivePlan *plan, GError **error);
