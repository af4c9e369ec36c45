/* SPDX-License-Identifier: Apache-2.0 */
#include "answer/topology/picture.h"

#include <math.h>
#include <string.h>

#include "answer/topology/names.h"
#include "sim/machine/hop.h"
#include "sim/machine/rails.h"

/* --- tiers of switches --- */

static void
clear_tier (gpointer data)
{
  g_free (((FabTopoTier *) data)->name);
}

/* The array frees what its rows own. (transfer full) */
static GArray *
tiers_of (const FabGraph *graph)
{
  GArray *tiers = g_array_new (FALSE, FALSE, sizeof (FabTopoTier));
  guint32 part = G_MAXUINT32;

  g_array_set_clear_func (tiers, clear_tier);
  for (FabVertexId id = 0; id < fab_graph_n_vertices (graph); id++) {
    const FabVertex *vertex = fab_graph_vertex (graph, id);

    if (vertex->node != FAB_NO_NODE || fab_topology_is_shared (graph, id))
      continue;
    if (tiers->len == 0 || vertex->part != part) {
      g_autofree char *name = fab_graph_vertex_name (graph, id);
      FabTopoTier tier = { fab_topo_part (name), 0 };

      g_array_append_val (tiers, tier);
      part = vertex->part;
    }
    g_array_index (tiers, FabTopoTier, tiers->len - 1).n++;
  }
  return tiers;
}

/* --- links across --- */

static void
clear_bundle (gpointer data)
{
  FabTopoBundle *self = data;

  g_free (self->name);
  g_ptr_array_unref (self->pairs);
}

/* Takes `name`. */
static FabTopoBundle *
bundle_of (GArray *bundles, char *name)
{
  FabTopoBundle fresh = { name, NULL, 0 };

  for (guint i = 0; i < bundles->len; i++)
    if (strcmp (g_array_index (bundles, FabTopoBundle, i).name, name) == 0) {
      g_free (name);
      return &g_array_index (bundles, FabTopoBundle, i);
    }
  fresh.pairs = g_ptr_array_new_with_free_func (g_free);
  g_array_append_val (bundles, fresh);
  return &g_array_index (bundles, FabTopoBundle, bundles->len - 1);
}

static gboolean
is_switch (const FabGraph *graph, FabVertexId vertex)
{
  return fab_graph_vertex (graph, vertex)->kind == FAB_VERTEX_SWITCH;
}

/* A switch that joins accelerators is named after them. */
static void
add_link (const FabTopoPicture *self, GArray *bundles, FabLinkId id)
{
  const FabTopology *topology = self->topology;
  const FabGraph *graph = topology->cluster->graph;
  const FabLink *link = fab_graph_link (graph, id);
  gboolean is_swapped = is_switch (graph, link->src) && !is_switch (graph, link->dst);
  g_autofree char *from = fab_topology_name (topology, is_swapped ? link->dst : link->src);
  g_autofree char *to = fab_topology_name (topology, is_swapped ? link->src : link->dst);
  g_autofree char *from_part = fab_topo_part (from), *to_part = fab_topo_part (to);
  g_autofree char *text = fab_topo_link_text (graph, id);
  FabTopoBundle *bundle = bundle_of (bundles, g_strdup_printf ("%s - %s: %s", from_part, to_part, text));

  bundle->n++;
  if (fab_topo_is_drawn (self->units, link->src) && fab_topo_is_drawn (self->units, link->dst))
    g_ptr_array_add (bundle->pairs, g_strdup_printf ("%s-%s", from, to));
}

static GArray *
bundles_of (const FabTopoPicture *self)
{
  GArray *bundles = g_array_new (FALSE, FALSE, sizeof (FabTopoBundle));

  g_array_set_clear_func (bundles, clear_bundle);
  for (guint i = 0; i < self->topology->across->len; i++)
    add_link (self, bundles, g_array_index (self->topology->across, FabLinkId, i));
  return bundles;
}

/* --- the picture --- */

/* Whether what this GPU sends to its nearest NIC waits in host memory, as GPUDirect RDMA does not reach so far. */
static gboolean
is_beyond_gdr (const FabCluster *cluster, guint local)
{
  guint nic = fab_cluster_nic_of (cluster, local);
  FabPath path;

  if (nic >= cluster->nics_per_node)
    return FALSE;
  FabVertexId relay = fab_relay_to_nic (cluster, cluster->gpus[local], cluster->nics[nic]);
  return fab_cluster_reach (cluster, relay, cluster->nics[nic], &path) > cluster->gdr;
}

/* --- what a design says beside its fabric --- */

/* "storage: 16 x switch, Quantum QM9700"; the document counts parts for some numbers of units only. */
static void
add_parts (FabTopoPicture *self)
{
  for (guint i = 0; i < self->design->parts.n; i++) {
    const FabDesignPart *part = (const FabDesignPart *) self->design->parts.data + i;

    if (part->units == self->n_design_units)
      g_ptr_array_add (self->notes,
                       g_strdup_printf ("%s: %" G_GINT64_FORMAT " x %s, %s", part->network, part->count,
                                        fab_design_part_names[part->kind], part->what));
  }
}

static void
add_notes (FabTopoPicture *self)
{
  if (self->design == NULL || self->fabric == NULL)
    return;
  if (self->design->nic != NULL && g_strcmp0 (self->design->nic, self->node->nic) != 0)
    g_ptr_array_add (self->notes, g_strdup_printf ("NICs: %s, in place of %s of the node", self->design->nic,
                                                   self->node->nic));
  if (self->design->transport != NULL && *self->design->transport != '\0')
    g_ptr_array_add (self->notes, g_strconcat ("transport: ", self->design->transport, NULL));
  add_parts (self);
  if (self->design->rack_watts > 0)
    g_ptr_array_add (self->notes, g_strdup_printf ("power: %.4g kW for a full rack of nodes",
                                                   (double) self->design->rack_watts / 1e3));
}

char *
fab_topo_design_text (const FabTopoPicture *self)
{
  return self->design == NULL
           ? NULL
           : g_strdup_printf ("%s, %" G_GINT64_FORMAT " scalable unit%s of %" G_GINT64_FORMAT " node%s: %s",
                              self->design->name, self->n_design_units,
                              fab_plural (self->n_design_units, "", "s"), self->design->unit_nodes,
                              fab_plural (self->design->unit_nodes, "", "s"), self->design->summary);
}

FabTopoPicture *
fab_topo_picture_new (const FabScenario *scenario, const FabPlant *plant, const FabTopoParts *parts)
{
  const FabClusterSpec *spec = &fab_scenario_spec (scenario)->cluster;
  const FabCluster *cluster = &plant->cluster;
  FabTopoPicture *self = g_new0 (FabTopoPicture, 1);

  self->parts = *parts;
  self->node = fab_catalog_node (fab_scenario_catalog (scenario), spec->node);
  self->topology = fab_topology_new (cluster);
  self->units = fab_topo_units_new (self->topology, parts->is_whole);
  self->across = bundles_of (self);
  for (guint local = 0; local < cluster->gpus_per_node; local++)
    self->n_beyond_gdr += is_beyond_gdr (cluster, local);
  self->kind = spec->fabric.info->name;
  self->fabric = parts->has_fabric ? fab_topo_fabric_new (cluster, self->kind) : NULL;
  self->tiers = tiers_of (cluster->graph);
  self->bisection = fab_bisection_of (cluster->graph, cluster->nics, cluster->n_nodes,
                                      cluster->nics_per_node);
  self->verdict = fab_verdict_new ();
  self->design = fab_catalog_entry (fab_scenario_catalog (scenario), FAB_SECTION_DESIGNS, spec->design);
  self->n_design_units = spec->scalable_units;
  self->notes = g_ptr_array_new_with_free_func (g_free);
  add_notes (self);
  if (self->fabric != NULL) {
    fab_verdict_note_design (self->verdict, scenario);
    fab_verdict_note_ports (self->verdict, scenario, cluster->graph);
  }
  return self;
}

void
fab_topo_picture_free (FabTopoPicture *self)
{
  if (self == NULL)
    return;
  fab_topo_fabric_free (self->fabric);
  fab_topo_units_free (self->units);
  fab_topology_free (self->topology);
  fab_verdict_free (self->verdict);
  g_array_unref (self->across);
  g_ptr_array_unref (self->notes);
  g_array_unref (self->tiers);
  g_free (self);
}

char *
fab_topo_over_text (const FabTopoPicture *self)
{
  double over = self->bisection.oversubscription;

  return isfinite (over) ? g_strdup_printf ("oversubscribed %.4g : 1", over)
                         : g_strdup ("no link crosses from one half to the other");
}
