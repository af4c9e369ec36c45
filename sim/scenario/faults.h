/* SPDX-License-Identifier: Apache-2.0 */
/* faults.h - `faults` and `background` of a scenario, found in the assembled machine.
 *
 * What holds from the start to the end changes the graph: a dead part's links are gone, a degraded one's are slower,
 * and constant background traffic leaves its links so much slower. The rest becomes a FabUnrest, which plays while the
 * job runs.
 */
#pragma once

#include "sim/net/unrest.h"
#include "sim/scenario/names.h"
#include "sim/scenario/scenario.h"

/* The machine before anything was changed. */
typedef struct {
  const FabScenario *scenario;
  const FabNames *names;     /* of the graph */
  const FabVertexId *nics;   /* machine by machine */
  guint n_machines, n_ports; /* NICs of a machine */
} FabFaultSite;

/* Whether the scenario says anything of all this. */
gboolean fab_faults_are_there (const FabScenario *scenario);

/* What becomes of each link of the graph. Unknown names are diagnostics. (transfer full) */
FabLinkChange *fab_faults_changes (const FabFaultSite *site, const FabGraph *graph,
                                   FabDiagnostics *diagnostics);

/* What happens while the job runs, in the graph as it is then. (transfer full) */
FabUnrestPlan *fab_faults_unrest (const FabFaultSite *site, const FabGraph *graph,
                                  FabDiagnostics *diagnostics);
