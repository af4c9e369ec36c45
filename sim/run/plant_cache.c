/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/run/plant_cache.h"

#include "sim/config/schema.h"

/* All plants that are not in use have at most so many links together. With what was planned over it a link takes
 * about 500 bytes. */
enum { MOST_LINKS = 1 << 20 };

/* Machines, and places of their ports in the order of rates, of which forms are kept for other rates. */
enum { MOST_BOOKS = 8 };

typedef struct {
  FabScenario *scenario;
  FabFormBook *book;
} Machine;

struct _FabPlantCache {
  GMutex lock;     /* of what follows */
  GQueue idle;     /* FabPlant; the one that was given back last is the first */
  GQueue machines; /* Machine; the latest is the first */
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
  g_queue_init (&self->machines);
  self->most = most;
  return self;
}

static void
plant_free (gpointer plant)
{
  fab_plant_free (plant);
}

static void
machine_free (gpointer machine)
{
  Machine *self = machine;

  if (self == NULL)
    return;
  fab_form_book_unref (self->book);
  fab_scenario_free (self->scenario);
  g_free (self);
}

void
fab_plant_cache_free (FabPlantCache *self)
{
  if (self == NULL)
    return;
  g_queue_clear_full (&self->idle, plant_free);
  g_queue_clear_full (&self->machines, machine_free);
  g_mutex_clear (&self->lock);
  g_free (self);
}

/* Whether a plant is built without looking at this key. */
static gboolean
is_beside_plant (const FabParam *row, gboolean uses_seed)
{
  static const gsize offsets[] = {
    G_STRUCT_OFFSET (FabScenarioSpec, name),       G_STRUCT_OFFSET (FabScenarioSpec, summary),
    G_STRUCT_OFFSET (FabScenarioSpec, iterations), G_STRUCT_OFFSET (FabScenarioSpec, has_contention),
    G_STRUCT_OFFSET (FabScenarioSpec, fidelity),   G_STRUCT_OFFSET (FabScenarioSpec, job),
    G_STRUCT_OFFSET (FabScenarioSpec, cost),       G_STRUCT_OFFSET (FabScenarioSpec, reliability),
  };

  for (guint i = 0; i < G_N_ELEMENTS (offsets); i++)
    if (row->offset == offsets[i])
      return TRUE;
  return !uses_seed && row->offset == G_STRUCT_OFFSET (FabScenarioSpec, seed);
}

static gboolean
are_equal (const FabScenarioSpec *a, const FabScenarioSpec *b, gboolean uses_seed)
{
  for (const FabParam *row = fab_scenario_params; row->key != NULL; row++) {
    const FabParam table[] = { *row, { .key = NULL } };

    if (!is_beside_plant (row, uses_seed) && !fab_schema_equal (table, a, b))
      return FALSE;
  }
  return TRUE;
}

/* Whether the plant is that of the scenario, too. */
static gboolean
fits (const FabPlant *plant, const FabScenario *scenario)
{
  return are_equal (fab_scenario_spec (plant->scenario), fab_scenario_spec (scenario), plant->uses_seed);
}

/* Whether the plants of two scenarios can only differ in the rates of ports. */
static gboolean
have_same_machine (const FabScenario *a, const FabScenario *b)
{
  FabScenarioSpec spec = *fab_scenario_spec (a);

  spec.cluster.nic_rate_bytes_per_s = fab_scenario_spec (b)->cluster.nic_rate_bytes_per_s;
  return are_equal (&spec, fab_scenario_spec (b), TRUE);
}

/* Takes a plant that stands for the same machine from those that are idle. */
static FabPlant *
find_idle (FabPlantCache *self, const FabScenario *scenario)
{
  FabPlant *found = NULL;

  g_mutex_lock (&self->lock);
  GList *at = self->idle.head;
  while (at != NULL && !fits (at->data, scenario))
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

/* The book that fits the plant, and whether there are others of the same machine. (transfer full); NULL: there is
 * none yet. */
static FabFormBook *
find_book (FabPlantCache *self, const FabPlant *plant, gboolean *is_known)
{
  FabFormBook *found = NULL;

  *is_known = FALSE;
  g_mutex_lock (&self->lock);
  for (GList *at = self->machines.head; at != NULL && found == NULL; at = at->next) {
    const Machine *machine = at->data;

    if (!have_same_machine (machine->scenario, plant->scenario))
      continue;
    *is_known = TRUE;
    if (fab_form_book_fits (machine->book, plant->graph))
      found = fab_form_book_ref (machine->book);
  }
  g_mutex_unlock (&self->lock);
  return found;
}

static FabFormBook *
add_machine (FabPlantCache *self, const FabPlant *plant)
{
  Machine *machine = g_new (Machine, 1), *old = NULL;
  FabFormBook *book = fab_form_book_new (plant->graph);

  *machine = (Machine){ fab_scenario_copy (plant->scenario), fab_form_book_ref (book) };
  g_mutex_lock (&self->lock);
  g_queue_push_head (&self->machines, machine);
  if (self->machines.length > MOST_BOOKS)
    old = g_queue_pop_tail (&self->machines);
  g_mutex_unlock (&self->lock);
  machine_free (old);
  return book;
}

/* The first plant of a machine only shows what it is like: to note how a form is made costs a little. From the second
 * one on, which says that the rate of ports is what varies, they have books. */
static void
take_book (FabPlantCache *self, FabPlant *plant)
{
  gboolean is_known;

  if (!fab_scenario_spec (plant->scenario)->is_folded)
    return;
  plant->book = find_book (self, plant, &is_known);
  if (plant->book != NULL)
    return;
  plant->book = add_machine (self, plant);
  if (!is_known)
    fab_form_book_unref (g_steal_pointer (&plant->book));
}

FabPlant *
fab_plant_cache_take (FabPlantCache *self, const FabScenario *scenario, GError **error)
{
  FabPlant *plant = find_idle (self, scenario);

  if (plant != NULL)
    return plant;
  plant = fab_plant_new (scenario, NULL, error);
  if (plant != NULL) {
    plant->scenario = fab_scenario_copy (scenario);
    take_book (self, plant);
  }
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
