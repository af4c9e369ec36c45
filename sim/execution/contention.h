/* SPDX-License-Identifier: Apache-2.0 */
/* contention.h - which link holds a collective back where other collectives cross its links at the same time.
 *
 * Alone, a collective is held back by the link of its footprint that takes longest for its own bytes. Beside others it
 * is held back by the link that takes longest for the bytes of all that cross it meanwhile:
 *
 *   t[l] = sum over collectives c of  bytes[c] x wire[c] x line_weight[c, l] / rate[l] x share[c]
 *
 * where share[c] is the part of c's duration that lies within the collective's own. Of four senders to one receiver,
 * the receiver's port needs four times as long as the sender's. This looks at records only, so that it is the same for
 * every fidelity. Where flows do not contend, the same sum chooses among the links that are slowest alone.
 */
#pragma once

#include "sim/execution/dag.h"
#include "sim/result/record.h"

/* Sets `binding_link` of those records (FabCollectiveRecord of one iteration, by index of the DAG) that another link
 * than their own holds back. `contends`: flows share links, and only collectives that took longer than alone are
 * looked at. Equal links stay as they are. The work is bounded: where there are too many records, those with the
 * most exposed time are looked at. */
void fab_contention_attribute (const FabDag *dag, const FabGraph *graph, gboolean contends, GArray *records);
