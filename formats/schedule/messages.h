/* SPDX-License-Identifier: Apache-2.0 */
/* messages.h - a collective as graphs of sends and receives, one for each rank: Chakra's nodes, or GOAL.
 *
 * The k-th send from one rank to another with a tag belongs to the k-th receive there. A node starts when all nodes
 * that it names are done: a send is done when its message has left, a receive when its message has arrived. Computation
 * in such a graph passes its dependencies on and takes no time.
 *
 * A graph does not say which data a message carries. So it is checked as far as it goes: every send has its receive,
 * nothing waits for itself, data of every rank that has to can have reached every rank that needs them, and no rank
 * receives fewer bytes than the operation needs.
 */
#pragma once

#include "formats/schedule/schedule.h"
#include "formats/trace/trace.h"

/* `hint` must have the operation and its size, for which the messages add up. NULL and *error, which names the file and
 * the node. (transfer full) */
FabGiven *fab_given_of_messages (const FabTrace *trace, const FabGivenHint *hint, GError **error);
