/* SPDX-License-Identifier: Apache-2.0 */
/* all_pairs.h - the form of a phase in which every rank sends the same number of bytes to each other rank.
 *
 * Where all nodes are symmetric, what happens inside them is found for one pair of nodes and counted for all. Ways
 * between NICs are found once for each pair of switches to which NICs lead, unless a hash of the flow picks them.
 * The form is that of phases.h with all n (n - 1) messages, but for rounding; it takes O(nodes + pairs of switches)
 * instead of O(n^2).
 */
#pragma once

#include "sim/collective/collective.h"

/* Every rank sends `weight` bytes per byte of size to each other. FALSE: the nodes are not symmetric, or ways differ
 * between them, so that the messages have to be looked at one by one; *form is not touched. */
gboolean fab_all_pairs_form (const FabGroup *group, double weight, const FabAlgorithmEnv *env,
                             FabCollectiveForm *form);
