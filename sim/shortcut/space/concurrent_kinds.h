/* SPDX-License-Identifier: Apache-2.0 */
/* concurrent_kinds.h - which kinds of collectives of a job may be under way at the same time.
 *
 * Two collectives are ordered when one can only begin after the other has ended, because a chain of tasks that wait for
 * each other leads from the one to the other. Others may be under way together. So may collectives of two iterations
 * of which the next begins before the first has ended.
 */
#pragma once

#include "sim/execution/dag.h"

/* A collective that never moves bytes. */
#define FAB_NO_KIND G_MAXUINT

/* Returns [n_kinds * n_kinds]: whether collectives of the two kinds may be under way together; on the diagonal, two of
 * one kind. `kinds` is [n_collectives]. With `has_next` another iteration follows. O(collectives x tasks). NULL: that
 * is too much, so that any two may be together. (transfer full: g_free) */
guint8 *fab_concurrency_find (const FabDag *dag, gboolean has_next, const guint *kinds, guint n_kinds);
