/* SPDX-License-Identifier: Apache-2.0 */
/* plan_schedules.h - the schedules of a job's plans: plans with the same footprint and number of chunks have one. */
#pragma once

#include "sim/collective/collective.h"

typedef struct {
  const FabFootprint *footprint;
  guint n_chunks;
  FabSchedule *schedule;
  guint kind; /* the caller's */
} FabPlanSchedule;

/* Owns its schedules. (transfer full: g_hash_table_unref) */
GHashTable *fab_plan_schedules_new (void);

/* Returns what was added for plans like this one; NULL: nothing was. It stays where it is. */
FabPlanSchedule *fab_plan_schedules_find (GHashTable *self, const FabCollectivePlan *plan);

/* Adds one for plans like this one, which has none, and takes the schedule; NULL: it is set later. */
FabPlanSchedule *fab_plan_schedules_add (GHashTable *self, const FabCollectivePlan *plan,
                                         FabSchedule *schedule);

/* Returns the one for plans like this one; makes the schedule of the plan if there is none. */
FabPlanSchedule *fab_plan_schedules_make (GHashTable *self, const FabCollectivePlan *plan);
