/* SPDX-License-Identifier: Apache-2.0 */
/* faults.h - applies `faults` and `background` of a scenario to the assembled machine.
 *
 * What holds from start to end changes the graph: links of dead parts disappear, links of degraded parts get slower,
 * and constant background traffic reduces the rate of its links. The rest becomes a FabDisturbancesPlan, which is
 * played while the job runs.
 */
#pragma once

#include "sim/machine/cluster.h"
#include "sim/net/disturbances.h"
#include "sim/scenario/scenario.h"

/* Changes the graph and the choice of NICs. `cluster` is already measured; a machine has `n_ports` NICs.
 * Sets *disturbances (transfer full), or NULL when the scenario has no faults, no background traffic and no circuits.
 * FALSE and *error: names that the machine does not have (all of them), or a machine that falls
 * apart. */
gboolean fab_faults_apply (const FabScenario *scenario, FabGraph *graph, FabCluster *cluster, guint n_ports,
                           FabDisturbancesPlan **disturbances, GError **error);
