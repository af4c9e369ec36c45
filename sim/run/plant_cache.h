/* SPDX-License-Identifier: Apache-2.0 */
/* plant_cache.h - keeps plants that were built, with what their jobs have planned, for the next scenario that has the
 * same plant.
 *
 * Points of a study often differ in the job alone: bucket sizes, batches, strategies. Their machine is then the same,
 * and so are the rings, trees and paths that a library finds in it. Two scenarios have the same plant when they are
 * equal in everything but name, summary, iterations, contention, fidelity, job, cost and reliability, and but the seed
 * where nothing of the plant is drawn from it. All scenarios of one cache come from the same catalogue.
 *
 * Where only cluster.nic_rate differs the plants are others, but they share a book of forms
 * (sim/shortcut/memo/form_book.h).
 *
 * Owns: the plants that nobody has taken. Each keeps a copy of the scenario that it was built of.
 * Threads: any number may take and give at once. A plant belongs to one thread from when it is taken until it is
 * given back, since its router and its libraries learn while a job is built. Threads that simulate the same plant at
 * the same time have one each.
 */
#pragma once

#include "sim/assembly/assemble.h"

typedef struct _FabPlantCache FabPlantCache;

/* Keeps at most `most` plants that are not in use, those that were given back last. (transfer full) */
FabPlantCache *fab_plant_cache_new (guint most);
/* Every plant must have been given back before. */
void fab_plant_cache_free (FabPlantCache *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (FabPlantCache, fab_plant_cache_free)

/* Returns the scenario's plant: one that was kept, or a new one, to be given back. NULL with *error as fab_plant_new
 * has it. */
FabPlant *fab_plant_cache_take (FabPlantCache *self, const FabScenario *scenario, GError **error);

/* Gives a plant back; nothing may point into it any more. */
void fab_plant_cache_give (FabPlantCache *self, FabPlant *plant);

/* The number of plants that were built for the cache so far. */
guint fab_plant_cache_n_built (FabPlantCache *self);
