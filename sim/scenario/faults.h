/* SPDX-License-Identifier: Apache-2.0 */
/* faults.h - `faults` and `background` of a scenario, found in the assembled machine.
 *
 * What holds from the start to the end changes the graph: a dead part's links are gone, a degraded one's are slower,
 * and constant background traffic leaves its links so much slower. The rest becomes a FabUnrest, which plays while the
 * job runs.
 */
#pragma once

#include "sim/net/unrest.h"
#include "sim/scenario/scenario.h"
#include "sim/work/cluster.h"

/* Changes the graph and the cluster's choice of NICs (nics.h), which is measured and has `n_ports` NICs in a machine.
 * Sets *unrest (transfer full), or NULL where the scenario says nothing of all this. FALSE and *error: names that the
 * machine does not have, all of them, or a machine that is cut. */
gboolean fab_faults_apply (const FabScenario *scenario, FabGraph *graph, FabCluster *cluster, guint n_ports,
                           FabUnrestPlan **unrest, GError **error);
