/* SPDX-License-Identifier: Apache-2.0 */
/* simulation.h - a scenario that is ready to run: plant, collective library, task DAG, network, executor.
 *
 * The object owns all of its state. Any number of simulations can exist in one process, each on any thread; one
 * thread at a time may use each.
 */
#pragma once

#include "sim/fabric/graph.h"
#include "sim/result/probe.h"
#include "sim/run/neighbours.h"
#include "sim/run/plant_cache.h"
#include "sim/shortcut/sample/sampling.h"
#include "sim/shortcut/shortcuts.h"

typedef struct _FabSimulation FabSimulation;

/* `scenario` and `registry` must outlive it; what_if may be NULL. (transfer full) */
FabSimulation *fab_simulation_new (const FabScenario *scenario, const FabRegistry *registry,
                                   const FabWhatIf *what_if, GError **error);

/* The same, which ends early with FAB_ERROR_CANCELLED once `*cancel` is not 0; any thread may set it. */
FabSimulation *fab_simulation_build (const FabScenario *scenario, const FabRegistry *registry,
                                     const FabWhatIf *what_if, const gint *cancel, GError **error);

/* The same on the plant of `first`, with what its job has planned, where the what-if changes nothing of the machine.
 * `first` is of the same scenario and outlives the result, and the same thread uses both; NULL: there is none. The
 * times are those of a new plant; the probe has no loads of links and no samples. */
FabSimulation *fab_simulation_build_beside (const FabSimulation *first, const FabScenario *scenario,
                                            const FabRegistry *registry, const FabWhatIf *what_if,
                                            const gint *cancel, GError **error);

/* The same on a plant of the cache, which gets it back when the simulation is freed; on one of its own where the
 * what-if changes the machine. The results are those of a new plant; with a what-if the probe has no loads of
 * links and no samples. */
FabSimulation *fab_simulation_build_on (FabPlantCache *plants, const FabScenario *scenario,
                                        const FabRegistry *registry, const FabWhatIf *what_if,
                                        const gint *cancel, GError **error);

/* What the fullest rank of the first job needs, and what ranks have. */
typedef struct {
  guint n_ranks, n_nodes;
  FabBytes memory_bytes, memory_max_bytes; /* 0: not known */
} FabWeight;

/* Weighs the job without building its tasks. FALSE and *error when it cannot be weighed. */
gboolean fab_simulation_weigh (FabPlantCache *plants, const FabScenario *scenario,
                               const FabRegistry *registry, const gint *cancel, FabWeight *weight,
                               GError **error);

/* Prepares one job of the scenario without the others, on its nodes: a neighbour's number, or FAB_FIRST_JOB.
 * (transfer full) */
FabSimulation *fab_simulation_new_alone (const FabScenario *scenario, const FabRegistry *registry,
                                         guint which, GError **error);
void fab_simulation_free (FabSimulation *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (FabSimulation, fab_simulation_free)

/* Before the first iteration: collectives that differ may be played on so many threads (0: one per processor), with the
 * same figures. 1 without this. */
void fab_simulation_set_threads (FabSimulation *self, guint n_threads);

/* Before the first iteration: the probe has the last one alone, without spans, loads of links and samples. Its figures
 * are the same, and it takes less time and memory. */
void fab_simulation_set_brief (FabSimulation *self);

/* Returns a lower bound of the time of the next iteration; at its most exact when the one before it has run. */
FabTimePs fab_simulation_least_ps (const FabSimulation *self);

/* Simulates the next iteration. Returns FALSE when all have run, and when the iteration did not end:
 * fab_simulation_check () says why. run.h plays a scenario to its end. */
gboolean fab_simulation_step (FabSimulation *self);

/* Frees what only makes the next step faster. */
void fab_simulation_rest (FabSimulation *self);

/* FALSE and *error when the last step did not end: FAB_ERROR_HUNG says which collective waits on which link since
 * when, FAB_ERROR_BROKEN which invariant does not hold, FAB_ERROR_CANCELLED that the flag was set. */
gboolean fab_simulation_check (const FabSimulation *self, GError **error);

/* Once `*cancel` is not 0, which any thread may set, a step ends soon (sim/engine/engine.h). NULL: nobody cancels. */
void fab_simulation_set_cancel (FabSimulation *self, const gint *cancel);
/* Same as fab_engine_set_pulse () and fab_executor_set_pulse (). */
void fab_simulation_set_pulse (FabSimulation *self, FabPulse *pulse);

/* The jobs beside it. NULL: it has the machine to itself. */
const FabNeighbours *fab_simulation_neighbours (const FabSimulation *self);

/* Returns the records of the last iteration. The next iteration overwrites them. */
const FabProbe *fab_simulation_probe (const FabSimulation *self);

const FabPlant *fab_simulation_plant (const FabSimulation *self);
const FabCluster *fab_simulation_cluster (const FabSimulation *self);
const FabJobTotals *fab_simulation_totals (const FabSimulation *self);
const FabDag *fab_simulation_dag (const FabSimulation *self);

/* Whether another seed can give other figures: ranks jitter, flows, bursts or places are drawn, several paths are
 * chosen from by a hash, or the network has drawn which packets to mark. It may say TRUE where all seeds give the same
 * figures. Ask when the simulation has run to its end. */
gboolean fab_simulation_uses_seed (const FabSimulation *self);

/* Returns how much longer the kernels of the last iteration took because collectives occupied streaming
 * multiprocessors, mean over ranks; 0 when ranks are slow for other reasons too. */
FabTimePs fab_simulation_slowed_ps (const FabSimulation *self);
guint64 fab_simulation_events (const FabSimulation *self);

/* How much of the network's work was played, and how much remembered; 0 where everything is played. */
FabEpisodesCount fab_simulation_episodes (const FabSimulation *self);
/* What was simulated of collectives on a finer network before the first iteration; 0 where the fidelity has none. */
FabSamplingCount fab_simulation_sampled (const FabSimulation *self);
/* How many lanes of messages were played, and for how many others stood. */
FabLanesCount fab_simulation_lanes (const FabSimulation *self);

/* How many forms of collectives the job's library has, and how many of them no algorithm worked out: those that follow
 * from others of the same group, and those that the same machine with other rates had already. */
typedef struct {
  guint n_all, n_derived, n_known;
} FabFormsCount;

FabFormsCount fab_simulation_forms (const FabSimulation *self);

/* The same with the events of the network, as it is stored. */
FabMemoRecord fab_simulation_memo_record (const FabSimulation *self);

/* Returns the FabLinkQueueRecord of the links that carried traffic since the start; empty when the network has no
 * queues. (transfer full) */
GArray *fab_simulation_link_queues (const FabSimulation *self);

/* Returns the FabQueueLengthRecord of every kind of link that packets reached; empty where the network does not note
 * how long queues are. O(links). (transfer full) */
GArray *fab_simulation_queue_lengths (const FabSimulation *self);

/* Returns the time of a collective of the DAG, simulated message by message on the network between two iterations; 0
 * for one rank. `n_chunks` as in fab_library_schedule (). */
FabTimePs fab_simulation_time_steps (FabSimulation *self, guint collective, guint n_chunks);

/* Returns the run's own row. The resolved scenario in it lives as long as the simulation. */
FabRunRecord fab_simulation_run_record (FabSimulation *self);

/* Returns link `id` as a record. The caller frees its names with g_free (). */
FabLinkRecord fab_simulation_link_record (const FabSimulation *self, FabLinkId id);

/* Finds the link that limits a job's communication. */
typedef struct {
  FabLinkId link; /* FAB_NO_LINK: no link binds */
  /* Share of the exposed time of the iteration's collectives; when nothing is exposed, of all of their time. */
  double fraction;
  double
      ends_fraction; /* share in which the ends of collectives set the pace instead of their slowest link */
} FabBinding;

/* Returns the link that binds the collectives with the most exposed time; of equal links, the lowest id.
 * O(collectives + links). */
FabBinding fab_binding_find (const FabProbe *probe, const FabGraph *graph);
