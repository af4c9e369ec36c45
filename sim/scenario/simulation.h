/* SPDX-License-Identifier: Apache-2.0 */
/* simulation.h - a scenario, ready to run: plant, collective library, task DAG, network, executor.
 *
 * All state hangs off this object: any number of simulations can live in one process, on any threads.
 */
#pragma once

#include "sim/scenario/neighbours.h"

typedef struct _FabSimulation FabSimulation;

/* `scenario` and `registry` must outlive it; what_if may be NULL. */
FabSimulation *fab_simulation_new (const FabScenario *scenario, const FabRegistry *registry,
                                   const FabWhatIf *what_if, GError **error);
/* One job of the scenario without the others, on its nodes: a neighbour's number, or FAB_FIRST_JOB. */
FabSimulation *fab_simulation_new_alone (const FabScenario *scenario, const FabRegistry *registry,
                                         guint which, GError **error);
void fab_simulation_free (FabSimulation *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (FabSimulation, fab_simulation_free)

/* Plays the next iteration; FALSE when all have run, or when it hangs. */
gboolean fab_simulation_step (FabSimulation *self);

/* FALSE and *error (FAB_ERROR_HUNG: which collective, on which link, since when) when the last step hung. */
gboolean fab_simulation_check_hang (const FabSimulation *self, GError **error);

/* FabStepRecord of what a neighbour has done so far. */
const GArray *fab_simulation_neighbour_steps (const FabSimulation *self, guint which);

/* Of the iteration that ended last; overwritten by the next. */
const FabProbe *fab_simulation_probe (const FabSimulation *self);

const FabPlant *fab_simulation_plant (const FabSimulation *self);
const FabCluster *fab_simulation_cluster (const FabSimulation *self);
const FabJobTotals *fab_simulation_totals (const FabSimulation *self);
const FabDag *fab_simulation_dag (const FabSimulation *self);
/* How much longer kernels of the iteration that ended last took because collectives held multiprocessors, mean over
 * ranks; 0 where ranks are slow for other reasons too. */
FabTimePs fab_simulation_slowed_ps (const FabSimulation *self);
guint64 fab_simulation_events (const FabSimulation *self);

/* FabLinkQueueRecord of the links to which something came, from the start until now; empty where the network has no
 * queues. (transfer full) */
GArray *fab_simulation_link_queues (const FabSimulation *self);

/* How long the messages of a collective of the DAG take, one by one, on the network between two iterations; 0 for one
 * rank. `n_chunks` as in fab_library_schedule (). */
FabTimePs fab_simulation_time_steps (FabSimulation *self, guint collective, guint n_chunks);

/* The run's own row; the resolved scenario in it lives as long as the simulation. */
FabRunRecord fab_simulation_run_record (FabSimulation *self);

/* Link `id` as a record; its names are the caller's, to be freed with g_free (). */
FabLinkRecord fab_simulation_link_record (const FabSimulation *self, FabLinkId id);
