/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/scenario/plant_cache.h"

#include "sim/scenario/schema.h"

/* All plants that are not in use have at most so many links together. With what was planned over it a link takes about
 * 500 bytes. */
enum { MOST_LINKS = 1 << 20 };

struct _FabPlantCache {
  GMutex lock; /* of what follows */
  GQueue idle; /* FabPlant; the one that was given back last is the first */
  guint most;
  guint64 n_links; /* of those that are idle */
  guint n_built;
};

FabPlantCache *
fab_plant_cache_new (guint most)
{
  FabPlantCache *self = g_new0 (FabPlantCache, 1);

  g_mutex_init (&self->lock);
  g_queue_init (&self->idle);
  self->most = most;
  return self;
}

static void
plant_free (gpointer plant)
{
  fab_plant_free (plant);
}

void
fab_plant_cache_free (FabPlantCache *self)
{
  if (self == NULL)
    return;
  g_queue_clear_full (&self->idle, plant_free);
  g_mutex_clear (&self->lock);
  g_free (self);
}

/* Whether a plant is built without looking at this key. */
static gboolean
is_beside_plant (const FabParam *row)
{
  static const gsize offsets[] = {
    G_STRUCT_OFFSET (FabScenarioSpec, name),       G_STRUCT_OFFSET (FabScenarioSpec, summary),
    G_STRUCT_OFFSET (FabScenarioSpec, iterations), G_STRUCT_OFFSET (FabScenarioSpec, has_contention),
    G_STRUCT_OFFSET (FabScenarioSpec, fidelity),   G_STRUCT_OFFSET (FabScenarioSpec, job),
    G_STRUCT_OFFSET (FabScenarioSpec, cost),
  };

  for (guint i = 0; i < G_N_ELEMENTS (offsets); i++)
    if (row->offset == offsets[i])
      return TRUE;
  return FALSE;
}

static gboolean
have_same_plant (const FabScenario *a, const FabScenario *b)
{
  for (const FabParam *row = fab_scenario_params; row->key != NULL; row++) {
    const FabParam table[] = { *row, { .key = NULL } };

    if (!is_beside_plant (row) && !fab_schema_equal (table, fab_scenario_spec (a), fab_scenario_spec (b)))
      return FALSE;
  }
  return TRUE;
}

/* Takes a plant that stands for the same machine from those that are idle. */
static FabPlant *
find_idle (FabPlantCache *self, const FabScenario *scenario)
{
  FabPlant *found = NULL;

  g_mutex_lock (&self->lock);
  GList *at = self->idle.head;
  while (at != NULL && !have_same_plant (((const FabPlant *) at->data)->scenario, scenario))
    at = at->next;
  if (at != NULL) {
    found = at->data;
    self->n_links -= fab_graph_n_links (found->graph);
    g_queue_delete_link (&self->idle, at);
  }
  self->n_built += found == NULL;
  g_mutex_unlock (&self->lock);
  return found;
}

FabPlant *
fab_plant_cache_take (FabPlantCache *self, const FabScenario *scenario, GError **error)
{
  FabPlant *plant = find_idle (self, scenario);

  if (plant != NULL)
    return plant;
  plant = fab_plant_new (scenario, NULL, error);
  if (plant != NULL)
    plant->scenario = fab_scenario_copy (scenario);
  return plant;
}

void
fab_plant_cache_give (FabPlantCache *self, FabPlant *plant)
{
  GQueue old = G_QUEUE_INIT;

  g_mutex_lock (&self->lock);
  g_queue_push_head (&self->idle, plant);
  self->n_links += fab_graph_n_links (plant->graph);
  while (self->idle.length > self->most || self->n_links > MOST_LINKS) {
    FabPlant *last = g_queue_pop_tail (&self->idle);

    self->n_links -= fab_graph_n_links (last->graph);
    g_queue_push_head (&old, last);
  }
  g_mutex_unlock (&self->lock);
  g_queue_clear_full (&old, plant_free);
}

guint
fab_plant_cache_n_built (FabPlantCache *self)
{
  guint n;

  g_mutex_lock (&self->lock);
  n = self->n_built;
  g_mutex_unlock (&self->lock);
  return n;
}
