/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/scenario/design_params.h"

#define ROW(key_, type_, struct_, field_, fallback_, help_)                            \
  .key = key_, .type = FAB_PARAM_##type_, .offset = G_STRUCT_OFFSET (struct_, field_), \
  .fallback = fallback_, .help = help_

#define NUMBER(key_, field_, help_)                                    \
  {                                                                    \
    ROW (key_, COUNT, FabDesignCounts, field_, "0", help_), .max = 1e8 \
  }

static const FabParam size_params[] = {
  { ROW ("units", COUNT, FabDesignSize, units, NULL, "Most scalable units of this fabric."), .min = 1,
    .max = 1e6 },
  { ROW ("fabric", MODEL, FabDesignSize, fabric, "",
         "Fabric of up to that many units; left out: the usual one of such nodes."),
    .models = FAB_MODEL_FABRIC },
  { ROW ("assumed", TEXT, FabDesignSize, assumed, "",
         "Assumptions about this size, as sentences; empty: none.") },
  { .key = NULL },
};

static const FabParam counts_params[] = {
  { ROW ("units", COUNT, FabDesignCounts, units, NULL, "Scalable units of the row."), .min = 1, .max = 1e6 },
  NUMBER ("nodes", nodes, "Nodes; 0: all of these units."),
  NUMBER ("gpus", accelerators, "Accelerators; 0: the table does not say."),
  NUMBER ("leaves", leaves, "Switches that have NICs; 0: the table does not say."),
  NUMBER ("spines", spines, "Switches above the leaves; 0: the table does not say."),
  NUMBER ("cores", cores, "Switches above the spines; 0 beside spines: none."),
  NUMBER ("switches", switches, "Switches of all tiers together; 0: the table does not say."),
  NUMBER ("node_cables", node_cables, "Cables between nodes and leaves; 0: the table does not say."),
  NUMBER ("leaf_cables", leaf_cables, "Cables between leaves and spines; 0: the table does not say."),
  NUMBER ("spine_cables", spine_cables, "Cables between spines and cores; 0: the table does not say."),
  NUMBER ("switch_optics", switch_optics, "Transceivers in switches; 0: the table does not say."),
  NUMBER ("node_optics", node_optics, "Transceivers in nodes; 0: the table does not say."),
  NUMBER ("manager_cables", manager_cables,
          "Cables to servers that manage the fabric, which `node_cables` includes."),
  { ROW ("unchecked", BOOL, FabDesignCounts, is_unchecked, "false",
         "Whether the row waits for a reader of the document: nothing rests on it.") },
  { ROW ("table", TEXT, FabDesignCounts, table, NULL, "Table and document of the row.") },
  { .key = NULL },
};

const char *const fab_design_part_names[] = { [FAB_DESIGN_SWITCH] = "switch",
                                              [FAB_DESIGN_CABLE] = "cable",
                                              [FAB_DESIGN_OPTIC] = "optic",
                                              [FAB_DESIGN_SERVER] = "server",
                                              [FAB_DESIGN_RACK] = "rack",
                                              [FAB_DESIGN_POWER_STRIP] = "power_strip",
                                              NULL };

static const FabParam part_params[] = {
  { ROW ("units", COUNT, FabDesignPart, units, NULL, "Scalable units that the document counts the part for."),
    .min = 1, .max = 1e6 },
  { ROW ("network", TEXT, FabDesignPart, network, NULL,
         "Network of the part: storage, in-band, out-of-band; site for what belongs to none.") },
  { ROW ("part", CHOICE, FabDesignPart, kind, NULL, "Kind of the part."), .choices = fab_design_part_names },
  { ROW ("what", TEXT, FabDesignPart, what, NULL, "The part in the words of the document.") },
  { ROW ("count", COUNT, FabDesignPart, count, NULL, "How many of them."), .min = 1, .max = 1e8 },
  { ROW ("product", TEXT, FabDesignPart, product, "",
         "Product entry with its price; empty: there is none.") },
  { .key = NULL },
};

const FabParam fab_design_params[] = {
  { ROW ("name", TEXT, FabDesignSpec, name, NULL, "Name by which `cluster.design` refers to it.") },
  { ROW ("summary", TEXT, FabDesignSpec, summary, "", "Description in one line, shown in tables.") },
  { ROW ("node", TEXT, FabDesignSpec, node, NULL, "Node entry of every machine."),
    .refers = FAB_REFERS_NODE },
  { ROW ("nic", TEXT, FabDesignSpec, nic, "", "Link entry of the NIC ports; empty: that of the node."),
    .refers = FAB_REFERS_LINK },
  { ROW ("nic_ports", COUNT, FabDesignSpec, nic_ports, "1", "Ports of each NIC."), .min = 1, .max = 8 },
  { ROW ("unit_nodes", COUNT, FabDesignSpec, unit_nodes, NULL, "Nodes of one scalable unit."), .min = 1,
    .max = 200000 },
  { ROW ("route", MODEL, FabDesignSpec, route, "", "Routing; left out: the usual one of such nodes."),
    .models = FAB_MODEL_ROUTE },
  { ROW ("sizes", LIST, FabDesignSpec, sizes, NULL, "Fabrics by the number of units, from few to many."),
    .table = size_params, .table_size = sizeof (FabDesignSize) },
  { ROW ("counts", LIST, FabDesignSpec, counts, NULL, "Published counts of the compute network."),
    .table = counts_params, .table_size = sizeof (FabDesignCounts) },
  { ROW ("parts", LIST, FabDesignSpec, parts, NULL, "Published parts beside the compute network."),
    .table = part_params, .table_size = sizeof (FabDesignPart) },
  { ROW ("links_per_optic", COUNT, FabDesignSpec, links_per_optic, "1",
         "Links that share one transceiver of a switch."),
    .min = 1, .max = 64 },
  { ROW ("links_per_node_optic", COUNT, FabDesignSpec, links_per_node_optic, "1",
         "Links that share one transceiver of a node."),
    .min = 1, .max = 64 },
  { ROW ("rack_watts", COUNT, FabDesignSpec, rack_watts, "0",
         "Power of a full rack of nodes in watts; 0: the document does not say."),
    .max = 1e7 },
  { ROW ("transport", TEXT, FabDesignSpec, transport, "", "Routing and congestion control, in words.") },
  { ROW ("assumed", TEXT, FabDesignSpec, assumed, "",
         "Assumptions about every size, as sentences; empty: none.") },
  { ROW ("source", TEXT, FabDesignSpec, source, "", "Source of the numbers.") },
  { ROW ("date", TEXT, FabDesignSpec, date, "", "Date on which the source was read: 2026-11-20.") },
  { .key = NULL },
};

const FabDesignSize *
fab_design_size (const FabDesignSpec *self, gint64 units)
{
  const FabDesignSize *sizes = self->sizes.data;

  for (guint i = 0; i < self->sizes.n; i++)
    if (units <= sizes[i].units)
      return &sizes[i];
  return NULL;
}

gint64
fab_design_most_units (const FabDesignSpec *self)
{
  const FabDesignSize *sizes = self->sizes.data;

  return self->sizes.n > 0 ? sizes[self->sizes.n - 1].units : 0;
}

void
fab_design_check (FabSchemaReader *reader, const FabDesignSpec *self)
{
  const FabDesignSize *sizes = self->sizes.data;
  const FabDesignCounts *counts = self->counts.data;

  if (self->name != NULL && self->sizes.n == 0)
    fab_schema_report (reader, &self->name,
                       "design '%s' has no `sizes`; write [{units: 1, fabric: rail}], for example",
                       self->name);
  for (guint i = 1; i < self->sizes.n; i++)
    if (sizes[i].units > 0 && sizes[i].units <= sizes[i - 1].units) /* 0: that it lacks them is said */
      fab_schema_report (reader, &sizes[i].units,
                         "`units` of a size must be more than that of the size before, %" G_GINT64_FORMAT,
                         sizes[i - 1].units);
  for (guint i = 0; i < self->counts.n; i++)
    if (self->sizes.n > 0 && fab_design_size (self, counts[i].units) == NULL)
      fab_schema_report (reader, &counts[i].units, "no size of this design has %" G_GINT64_FORMAT " units",
                         counts[i].units);
}
