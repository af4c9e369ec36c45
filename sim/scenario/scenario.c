/* SPDX-License-Identifier: Apache-2.0 */
/* scenario.c - a scenario file, assignments laid over it, read and checked as a whole.
 *
 * Document, the files it includes, then --set, model files, then tables, then what only the whole can tell: names in
 * the catalogue, GPUs and NICs that the node has. The scenario owns its document, its reader
 * (and so every text and list of the spec) and the catalogue with its own entries on top.
 */
#include "sim/scenario/scenario.h"

#include "sim/fabric/reach.h"
#include "sim/net/net.h"
#include "sim/scenario/catalog_params.h"
#include "sim/scenario/fault_params.h"
#include "sim/scenario/model_file.h"
#include "sim/scenario/neighbour_params.h"
#include "sim/scenario/placement.h"
#include "sim/scenario/schema_reader.h"

#define ROW(key_, type_, struct_, field_, fallback_, help_)                            \
  .key = key_, .type = FAB_PARAM_##type_, .offset = G_STRUCT_OFFSET (struct_, field_), \
  .fallback = fallback_, .help = help_

struct _FabScenario {
  FabYamlDoc *doc;
  FabDiagnostics *diagnostics;
  FabSchemaReader *reader;
  FabCatalog *catalog;
  FabScenarioSpec spec;
};

static const FabParam cluster_params[] = {
  { ROW ("node", TEXT, FabClusterSpec, node, NULL, "The node entry that every machine is."),
    .refers = FAB_REFERS_NODE },
  { ROW ("nodes", COUNT, FabClusterSpec, nodes, "1", "How many machines."), .min = 1, .max = 200000 },
  { ROW ("gpus_per_node", COUNT, FabClusterSpec, gpus_per_node, "0",
         "GPUs used of each node; 0: all it has.") },
  { ROW ("nics_per_node", COUNT, FabClusterSpec, nics_per_node, "0",
         "NICs used of each node; 0: all it has.") },
  { ROW ("nic", TEXT, FabClusterSpec, nic, "", "The link entry of the NIC ports; empty: the node's own."),
    .refers = FAB_REFERS_LINK },
  { ROW ("nic_rate", RATE, FabClusterSpec, nic_rate_bytes_per_s, "0Gb/s",
         "Line rate of those ports, and of switches' ports where the fabric names no link; 0: the entry's."),
    .max = 1e15 },
  { ROW ("fabric", MODEL, FabClusterSpec, fabric, "",
         "What joins the NICs; absent: what usually joins such nodes."),
    .models = FAB_MODEL_FABRIC },
  { ROW ("route", MODEL, FabClusterSpec, route, "", "Which path a transfer takes; absent: the node's usual."),
    .models = FAB_MODEL_ROUTE },
  { ROW ("places", COUNT, FabClusterSpec, places, "0",
         "Machines that the fabric has room for; 0: as many as there are nodes."),
    .min = 0, .max = 200000 },
  { ROW ("placement", CHOICE, FabClusterSpec, placement, "packed",
         "Which places the nodes take: packed side by side, strided, spread evenly, or random."),
    .choices = fab_placement_names },
  { ROW ("place_stride", COUNT, FabClusterSpec, place_stride, "1",
         "Places from one node to the next, for placement: strided."),
    .min = 1, .max = 200000 },
  { ROW ("p2p", TEXT, FabClusterSpec, p2p, "",
         "The farthest GPUs that read each other's memory: none, nvl, pix, pxb, phb, node, sys; empty: "
         "what the node can.") },
  { ROW ("gdr", TEXT, FabClusterSpec, gdr, "",
         "The farthest NIC that reads GPU memory, likewise; beyond it bytes go through host memory.") },
  { ROW ("pxn", BOOL, FabClusterSpec, has_relays, "true",
         "Go over links of GPUs to the GPU beside a NIC of another rail, or one behind a host bridge.") },
  { ROW ("gds", BOOL, FabClusterSpec, has_gds, "false",
         "Drives write into GPU memory (GPUDirect Storage); false: through host memory.") },
  { .key = NULL },
};

const FabParam fab_scenario_params[] = {
  { ROW ("name", TEXT, FabScenarioSpec, name, NULL, "What reports call this scenario.") },
  { ROW ("summary", TEXT, FabScenarioSpec, summary, "", "One line: what it shows.") },
  { ROW ("include", TEXT, FabScenarioSpec, include, "",
         "Files with keys of a scenario, relative to this one; what stands here wins over them."),
    .refers = FAB_REFERS_FILES },
  { ROW ("seed", COUNT, FabScenarioSpec, seed, "1",
         "Seed of everything random, recorded with the run: placement: random draws from it.") },
  { ROW ("iterations", COUNT, FabScenarioSpec, iterations, "3", "Iterations to simulate."), .min = 1,
    .max = 1e6 },
  { ROW ("contention", BOOL, FabScenarioSpec, has_contention, "true",
         "Kernels are slower while a collective moves bytes: each of its channels takes a multiprocessor.") },
  { ROW ("fold", BOOL, FabScenarioSpec, is_folded, "true",
         "Ranks, nodes and links that are alike are looked at once; no: each by itself, at any cost.") },
  { ROW ("cluster", TABLE, FabScenarioSpec, cluster, NULL, "The machines and what joins them."),
    .table = cluster_params, .table_size = sizeof (FabClusterSpec) },
  { ROW ("fidelity", MODEL, FabScenarioSpec, fidelity, "fluid", "How transfers are simulated."),
    .models = FAB_MODEL_NET },
  { ROW ("collectives", MODEL, FabScenarioSpec, collectives, "nccl",
         "The library that carries collectives out."),
    .models = FAB_MODEL_LIBRARY },
  { ROW ("job", MODEL, FabScenarioSpec, job, NULL, "What the GPUs do."), .models = FAB_MODEL_WORKLOAD },
  { ROW ("faults", LIST, FabScenarioSpec, faults, NULL, "What is broken, or breaks while the job runs."),
    .table = fab_fault_params, .table_size = sizeof (FabFaultSpec) },
  { ROW ("background", LIST, FabScenarioSpec, background, NULL, "What others do on the same fabric."),
    .table = fab_background_params, .table_size = sizeof (FabBackgroundSpec) },
  { ROW ("neighbours", LIST, FabScenarioSpec, neighbours, NULL,
         "Other jobs on nodes of the same machine; `job` has the nodes that are left."),
    .table = fab_neighbour_params, .table_size = sizeof (FabNeighbourSpec) },
  { ROW ("cost", TABLE, FabScenarioSpec, cost, NULL, "What money and energy are counted with."),
    .table = fab_cost_params, .table_size = sizeof (FabCostSpec) },
  FAB_CATALOG_ROWS (FabScenarioSpec, own.),
  { .key = NULL },
};

void
fab_scenario_free (FabScenario *self)
{
  if (self == NULL)
    return;
  fab_catalog_free (self->catalog);
  fab_schema_reader_free (self->reader);
  fab_diagnostics_free (self->diagnostics);
  fab_yaml_doc_free (self->doc);
  g_free (self);
}

static gint64
count_parts (const FabNodeSpec *node, FabPartKind kind)
{
  const FabPartSpec *parts = node->parts.data;
  gint64 n = 0;

  for (guint i = 0; i < node->parts.n; i++)
    if (parts[i].kind == (int) kind)
      n += parts[i].count;
  return n;
}

static void
check_count (FabScenario *self, const FabNodeSpec *node, FabPartKind kind, const gint64 *wanted,
             const char *what)
{
  gint64 n = count_parts (node, kind);

  if (*wanted > n)
    fab_schema_report (self->reader, wanted, "node '%s' has %" G_GINT64_FORMAT " %s, not %" G_GINT64_FORMAT,
                       node->name, n, what, *wanted);
}

static void
check_reach (FabScenario *self, const char *const *name)
{
  FabReach reach;

  if (*name == NULL || fab_reach_parse (*name, &reach))
    return;
  g_autofree char *all = g_strjoinv (", ", (char **) fab_reach_names);
  fab_schema_report (self->reader, name, "'%s' is no reach; there are %s", *name, all);
}

/* Nodes that have parts in common come in whole domains, or there is one that is not full. */
static void
check_domains (FabScenario *self, const FabNodeSpec *node)
{
  gint64 nodes = self->spec.cluster.nodes, sharers = fab_node_spec_sharers (node);

  if (nodes > sharers && nodes % sharers != 0)
    fab_schema_report (self->reader, &self->spec.cluster.nodes,
                       "%" G_GINT64_FORMAT
                       " of '%s' share a switch: nodes must be at most that, or a multiple",
                       sharers, node->name);
}

static void
check_cluster (FabScenario *self)
{
  const FabClusterSpec *cluster = &self->spec.cluster;
  const FabNodeSpec *node = fab_catalog_node (self->catalog, cluster->node);

  if (node == NULL) /* reported as an unknown reference */
    return;
  if (cluster->fabric.info == NULL)
    self->spec.cluster.fabric = node->fabric;
  if (cluster->route.info == NULL)
    self->spec.cluster.route = node->route;
  if (cluster->places > 0 && cluster->places < cluster->nodes)
    fab_schema_report (self->reader, &cluster->places,
                       "%" G_GINT64_FORMAT " places are too few for %" G_GINT64_FORMAT " nodes",
                       cluster->places, cluster->nodes);
  fab_catalog_check_wires (self->reader, &self->spec.own.links, node);
  check_domains (self, node);
  check_reach (self, &cluster->p2p);
  check_reach (self, &cluster->gdr);
  check_count (self, node, FAB_PART_ACCELERATOR, &cluster->gpus_per_node, "GPUs");
  check_count (self, node, FAB_PART_NIC, &cluster->nics_per_node, "NICs");
  if (cluster->nic != NULL && count_parts (node, FAB_PART_NIC) == 0)
    fab_schema_report (self->reader, &cluster->nic, "node '%s' has no NICs", node->name);
}

static void
check_faults (FabScenario *self)
{
  const FabNetOps *fidelity = (const FabNetOps *) self->spec.fidelity.info;

  if (fidelity != NULL)
    fab_fault_check_all (self->reader, &self->spec.faults, &self->spec.background,
                         fidelity->set_capacity != NULL, fidelity->info.name);
}

/* Everything after the text is a document; adds diagnostics only. */
static void
read_spec (FabScenario *self, const char *const *sets, const FabCatalog *catalog)
{
  const FabCatalogSections *own[] = { &self->spec.own, NULL };

  fab_yaml_doc_include (self->doc, self->diagnostics);
  for (guint i = 0; sets != NULL && sets[i] != NULL; i++)
    fab_yaml_doc_set (self->doc, sets[i], self->diagnostics);
  fab_yaml_doc_include (self->doc, self->diagnostics); /* --set include=... */
  fab_model_files_read (self->doc, self->reader->registry, self->diagnostics);
  fab_schema_read (self->reader, fab_yaml_doc_root (self->doc), fab_scenario_params, &self->spec);
  self->catalog = fab_catalog_overlay (catalog, &self->spec.own);
  fab_catalog_check_sections (self->reader, own, FALSE);
  fab_schema_check_references (self->reader, fab_scenario_params, &self->spec, fab_catalog_reference_names,
                               self->catalog);
  check_cluster (self);
  check_faults (self);
  fab_neighbour_check_all (self->reader, &self->spec.neighbours,
                           fab_catalog_node (self->catalog, self->spec.cluster.node),
                           self->spec.cluster.nodes);
}

static FabScenario *
scenario_new (const FabRegistry *registry)
{
  FabScenario *self = g_new0 (FabScenario, 1);

  self->diagnostics = fab_diagnostics_new ();
  self->reader = fab_schema_reader_new (registry, self->diagnostics);
  return self;
}

FabScenario *
fab_scenario_load (const char *path, const char *const *sets, const FabRegistry *registry,
                   const FabCatalog *catalog, GError **error)
{
  g_autoptr (FabScenario) self = scenario_new (registry);
  GError *problem = NULL;

  self->doc = fab_yaml_doc_load (path, self->diagnostics, &problem);
  if (problem != NULL) {
    g_propagate_error (error, problem);
    return NULL;
  }
  if (self->doc != NULL)
    read_spec (self, sets, catalog);
  return fab_diagnostics_check (self->diagnostics, error) ? g_steal_pointer (&self) : NULL;
}

FabScenario *
fab_scenario_parse (const char *name, const char *data, gsize size, const char *const *sets,
                    const FabRegistry *registry, const FabCatalog *catalog, GError **error)
{
  g_autoptr (FabScenario) self = scenario_new (registry);

  self->doc = fab_yaml_doc_parse (name, data, size, self->diagnostics);
  if (self->doc != NULL)
    read_spec (self, sets, catalog);
  return fab_diagnostics_check (self->diagnostics, error) ? g_steal_pointer (&self) : NULL;
}

const FabScenarioSpec *
fab_scenario_spec (const FabScenario *self)
{
  return &self->spec;
}

const FabCatalog *
fab_scenario_catalog (const FabScenario *self)
{
  return self->catalog;
}

const FabMark *
fab_scenario_mark (const FabScenario *self, gconstpointer field)
{
  return fab_schema_mark (self->reader, field);
}

char *
fab_scenario_resolved (const FabScenario *self)
{
  return fab_schema_write (fab_scenario_params, &self->spec);
}
