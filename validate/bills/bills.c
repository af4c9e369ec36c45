/* SPDX-License-Identifier: Apache-2.0 */
#include "validate/bills/bills.h"

#include "sim/assembly/assemble.h"
#include "sim/config/schema_reader.h"
#include "sim/cost/tiers.h"
#include "sim/scenario/scenario.h"

/* A scenario has a job; this one is a single collective. (transfer full) */
static FabValue *
some_job (void)
{
  FabValue *job = fab_value_mapping (), *operations = fab_value_list (), *one = fab_value_mapping ();

  fab_value_put (one, "op", fab_value_text ("all_reduce"));
  fab_value_put (one, "size", fab_value_whole (FAB_UNIT_BYTES, 1000000));
  fab_value_append (operations, one);
  fab_value_put (job, "kind", fab_value_text ("collective"));
  fab_value_put (job, "operations", operations);
  return job;
}

/* A machine of so many units and nodes. */
static FabScenario *
machine_of (const FabDesignSpec *design, const FabDesignCounts *row, const FabCatalog *catalog,
            const FabRegistry *registry, GError **error)
{
  g_autoptr (FabScenario) self = fab_scenario_new (design->name, registry, catalog);
  gint64 nodes = row->nodes > 0 ? row->nodes : row->units * design->unit_nodes;

  return fab_scenario_set (self, "name", fab_value_text (design->name), error)
              && fab_scenario_set (self, "cluster.design", fab_value_text (design->name), error)
              && fab_scenario_set (self, "cluster.scalable_units", fab_value_count (row->units), error)
              && fab_scenario_set (self, "cluster.nodes", fab_value_count (nodes), error)
              && fab_scenario_set (self, "job", some_job (), error) && fab_scenario_check (self, error)
           ? g_steal_pointer (&self)
           : NULL;
}

typedef struct {
  GArray *cells;
  const FabDesignSpec *design;
  const FabDesignCounts *row;
} Comparing;

/* `is_said`: the table has this number. */
static void
compare (const Comparing *self, const char *what, gboolean is_said, gint64 published, guint64 ours)
{
  if (is_said)
    g_array_append_val (self->cells, ((FabBillCell){ .design = self->design,
                                                     .row = self->row,
                                                     .what = what,
                                                     .published = published,
                                                     .ours = (gint64) ours }));
}

static guint64
count_accelerators (const FabGraph *graph)
{
  guint64 n = 0;

  for (FabVertexId id = 0; id < fab_graph_n_vertices (graph); id++)
    n += fab_graph_vertex (graph, id)->kind == FAB_VERTEX_ACCELERATOR;
  return n;
}

static void
compare_row (const Comparing *self, const FabGraph *graph)
{
  const FabDesignCounts *row = self->row;
  const FabTiers tiers = fab_tiers_of (graph, (guint) self->design->links_per_optic,
                                       (guint) self->design->links_per_node_optic);

  compare (self, "gpus", row->accelerators > 0, row->accelerators, count_accelerators (graph));
  compare (self, "leaves", row->leaves > 0, row->leaves, tiers.n_switches[0]);
  compare (self, "spines", row->spines > 0, row->spines, tiers.n_switches[1]);
  compare (self, "cores", row->spines > 0, row->cores, tiers.n_switches[2]);
  compare (self, "switches", row->switches > 0, row->switches,
           tiers.n_switches[0] + tiers.n_switches[1] + tiers.n_switches[2]);
  compare (self, "node_cables", row->node_cables > 0, row->node_cables,
           tiers.n_cables[0] + (guint64) row->manager_cables);
  compare (self, "leaf_cables", row->leaf_cables > 0, row->leaf_cables, tiers.n_cables[1]);
  compare (self, "spine_cables", row->spine_cables > 0, row->spine_cables, tiers.n_cables[2]);
  compare (self, "switch_optics", row->switch_optics > 0, row->switch_optics, tiers.n_switch_optics);
  compare (self, "node_optics", row->node_optics > 0, row->node_optics, tiers.n_node_optics);
}

static gboolean
compare_design (GArray *cells, const FabDesignSpec *design, const FabCatalog *catalog,
                const FabRegistry *registry, GError **error)
{
  for (guint i = 0; i < design->counts.n; i++) {
    const Comparing self = { cells, design, (const FabDesignCounts *) design->counts.data + i };
    g_autoptr (FabScenario) machine = machine_of (design, self.row, catalog, registry, error);
    g_autoptr (FabPlant) plant = machine != NULL ? fab_plant_new (machine, NULL, error) : NULL;

    if (plant == NULL)
      return FALSE;
    compare_row (&self, plant->graph);
  }
  return TRUE;
}

GArray *
fab_bills_compare (const GPtrArray *designs, const FabCatalog *catalog, const FabRegistry *registry,
                   GError **error)
{
  g_autoptr (GArray) cells = g_array_new (FALSE, FALSE, sizeof (FabBillCell));

  for (guint i = 0; i < designs->len; i++)
    if (!compare_design (cells, g_ptr_array_index (designs, i), catalog, registry, error))
      return NULL;
  return g_steal_pointer (&cells);
}

char **
fab_bills_exceeded (const GArray *cells)
{
  GPtrArray *lines = g_ptr_array_new ();

  for (guint i = 0; i < cells->len; i++) {
    const FabBillCell *cell = &g_array_index (cells, FabBillCell, i);

    if (cell->ours != cell->published && !cell->row->is_unchecked)
      g_ptr_array_add (lines, g_strdup_printf ("%s, %" G_GINT64_FORMAT " units, %s: %s is %" G_GINT64_FORMAT
                                               ", and the document says %" G_GINT64_FORMAT,
                                               cell->design->name, cell->row->units, cell->row->table,
                                               cell->what, cell->ours, cell->published));
  }
  g_ptr_array_add (lines, NULL);
  return (char **) g_ptr_array_free (lines, FALSE);
}
