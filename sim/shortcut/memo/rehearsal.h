/* SPDX-License-Identifier: Apache-2.0 */
/* rehearsal.h - expected episodes (dry_run.h) are played from idle before the jobs' clock starts, each on a network and
 * an engine of its own, several at once on threads. The tree knows them then.
 *
 * What is rehearsed does not depend on the number of threads, and neither does what the tree knows afterwards.
 */
#pragma once

#include "sim/shortcut/memo/episode_books.h"

/* Sorts the episodes (arrays of FabExpectedInput), plays them and puts them into the tree, as if the jobs had had them.
 * Needs episodes that are apart (FabEpisodeBooks.apart_by). */
void fab_rehearse (FabEpisodeBooks *books, const FabWarmUpEnv *env, GPtrArray *expected);
