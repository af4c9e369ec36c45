/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/collective/play/plan_schedules.h"

static guint
hash (gconstpointer data)
{
  const FabPlanSchedule *self = data;

  return g_direct_hash (self->footprint) ^ (self->n_chunks * 2654435761U);
}

static gboolean
equal (gconstpointer a, gconstpointer b)
{
  const FabPlanSchedule *x = a, *y = b;

  return x->footprint == y->footprint && x->n_chunks == y->n_chunks;
}

static void
clear (gpointer data)
{
  fab_schedule_free (((FabPlanSchedule *) data)->schedule);
  g_free (data);
}

static FabPlanSchedule
like (const FabCollectivePlan *plan)
{
  return (FabPlanSchedule){ .footprint = plan->footprint, .n_chunks = plan->steps.n_chunks };
}

GHashTable *
fab_plan_schedules_new (void)
{
  return g_hash_table_new_full (hash, equal, clear, NULL);
}

FabPlanSchedule *
fab_plan_schedules_find (GHashTable *self, const FabCollectivePlan *plan)
{
  const FabPlanSchedule wanted = like (plan);

  return g_hash_table_lookup (self, &wanted);
}

FabPlanSchedule *
fab_plan_schedules_add (GHashTable *self, const FabCollectivePlan *plan, FabSchedule *schedule)
{
  FabPlanSchedule *added = g_new (FabPlanSchedule, 1);

  *added = like (plan);
  added->schedule = schedule;
  g_hash_table_add (self, added);
  return added;
}

FabPlanSchedule *
fab_plan_schedules_make (GHashTable *self, const FabCollectivePlan *plan)
{
  FabPlanSchedule *known = fab_plan_schedules_find (self, plan);

  return known != NULL ? known
                       : fab_plan_schedules_add (self, plan, plan->steps.make (plan->steps.owner, plan));
}
