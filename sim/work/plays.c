/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/work/plays.h"

/* A schedule belongs to a footprint and a number of chunks. */
typedef struct {
  const FabFootprint *footprint;
  guint n_chunks;
  FabSchedule *schedule;
} Known;

struct _FabPlays {
  FabNet *net;
  GHashTable *known; /* of Known, which are keys and values */
};

static guint
known_hash (gconstpointer data)
{
  const Known *known = data;

  return g_direct_hash (known->footprint) ^ (known->n_chunks * 2654435761U);
}

static gboolean
known_equal (gconstpointer a, gconstpointer b)
{
  const Known *x = a, *y = b;

  return x->footprint == y->footprint && x->n_chunks == y->n_chunks;
}

static void
known_free (gpointer data)
{
  fab_schedule_free (((Known *) data)->schedule);
  g_free (data);
}

FabPlays *
fab_plays_new (FabNet *net)
{
  FabPlays *self = g_new0 (FabPlays, 1);

  self->net = net;
  self->known = g_hash_table_new_full (known_hash, known_equal, known_free, NULL);
  return self;
}

void
fab_plays_free (FabPlays *self)
{
  if (self == NULL)
    return;
  g_hash_table_unref (self->known);
  g_free (self);
}

static FabSchedule *
find_schedule (FabPlays *self, const FabCollectivePlan *plan)
{
  Known wanted = { plan->footprint, plan->steps.n_chunks, NULL };
  const Known *known = g_hash_table_lookup (self->known, &wanted);

  if (known != NULL)
    return known->schedule;
  wanted.schedule = plan->steps.make (plan->steps.owner, plan);
  g_hash_table_add (self->known, g_memdup2 (&wanted, sizeof wanted));
  return wanted.schedule;
}

FabPlay *
fab_plays_begin (FabPlays *self, const FabCollectivePlan *plan, const char *traffic, FabDone done)
{
  const FabPlanSteps *steps = &plan->steps;

  if (self->net->ops->message == NULL || steps->make == NULL || plan->bytes == 0)
    return NULL;
  return fab_play_new (find_schedule (self, plan), self->net,
                       &(FabPlaySpec){
                           .bytes = plan->bytes,
                           .wire_factor = plan->wire_factor,
                           .limit_bytes_per_s = steps->limit_bytes_per_s,
                           .free_bytes_per_s = plan->footprint->rate_bytes_per_s / plan->wire_factor,
                           .is_pipeline = steps->is_pipeline,
                           .share = plan->n_connections,
                           .traffic = traffic,
                           .once_ps = MAX (plan->startup_ps - steps->steps_ps - steps->fill_ps, 0),
                           .steps_ps = steps->steps_ps,
                           .intra_cost = steps->intra_cost,
                           .inter_cost = steps->inter_cost,
                           .done = done,
                       });
}
