/* SPDX-License-Identifier: Apache-2.0 */
/* scenario.c - a scenario file, edits laid over it, read and checked as a whole.
 *
 * What was written is a document: the file, the files it includes, edits. A reading of it is made on demand: files
 * that an edit includes, model files, then tables, then what only the whole can tell: names in the catalogue, GPUs and
 * NICs that the node has. The reading owns its reader (and so every text and list of the spec) and the catalogue with
 * the scenario's own entries on top; copies share it until one of them is edited.
 */
#include "sim/scenario/scenario.h"

#include <string.h>

#include "sim/base/error.h"
#include "sim/config/schema_reader.h"
#include "sim/fabric/reach.h"
#include "sim/net/net.h"
#include "sim/scenario/catalog_params.h"
#include "sim/scenario/fault_params.h"
#include "sim/scenario/model_file.h"
#include "sim/scenario/neighbour_params.h"
#include "sim/scenario/placement.h"
#include "sim/scenario/power_cap.h"
#include "sim/scenario/schedule_params.h"
#include "sim/scenario/title.h"

static const FabParam fab_cost_params[];

/* What the tables made of a tree. Read-only once it is made, so that copies share it. */
typedef struct {
  FabYamlDoc *doc; /* with included files and model files read */
  FabDiagnostics *diagnostics;
  FabSchemaReader *reader;
  FabCatalog *catalog;
  FabScenarioSpec spec;
} Reading;

struct _FabScenario {
  const FabRegistry *registry;
  const FabCatalog *shipped;
  char *origin;             /* of typed edits, for messages */
  FabYamlDoc *doc;          /* as written */
  FabDiagnostics *problems; /* of the file and of edits that led nowhere */
  gboolean is_edited;       /* so that what the file's summary says may be wrong */
  gboolean has_own_summary; /* an edit has set it */
  Reading *reading;         /* NULL: edited and not checked since */
};

static void
reading_clear (gpointer data)
{
  Reading *self = data;

  fab_catalog_free (self->catalog);
  fab_schema_reader_free (self->reader);
  fab_diagnostics_free (self->diagnostics);
  fab_yaml_doc_free (self->doc);
}

static void
forget_reading (FabScenario *self)
{
  if (self->reading != NULL)
    g_atomic_rc_box_release_full (self->reading, reading_clear);
  self->reading = NULL;
}

void
fab_scenario_free (FabScenario *self)
{
  if (self == NULL)
    return;
  forget_reading (self);
  fab_diagnostics_free (self->problems);
  fab_yaml_doc_free (self->doc);
  g_free (self->origin);
  g_free (self);
}

static void
check_count (Reading *self, const FabNodeSpec *node, FabPartKind kind, const gint64 *wanted, const char *what)
{
  gint64 n = fab_node_spec_n_parts (node, kind);

  if (*wanted > n)
    fab_schema_report (self->reader, wanted, "node '%s' has %" G_GINT64_FORMAT " %s, not %" G_GINT64_FORMAT,
                       node->name, n, what, *wanted);
}

/* The rent is of the machine's nodes or of their accelerators. */
static void
check_rent (Reading *self, const FabNodeSpec *node)
{
  const FabCostSpec *cost = &self->spec.cost;
  const FabProductSpec *rent = cost->rent != NULL ? fab_catalog_product (self->catalog, cost->rent) : NULL;

  if (cost->rent == NULL)
    return;
  if (rent == NULL || rent->kind != FAB_PRODUCT_RENT)
    fab_schema_report (self->reader, &cost->rent, "'%s' is no product of kind rent", cost->rent);
  else if (rent->node != NULL ? strcmp (rent->node, node->name) != 0
                              : g_strcmp0 (rent->accelerator, node->accelerator) != 0)
    fab_schema_report (self->reader, &cost->rent, "'%s' is the rent of %s, and the cluster has %s of %s",
                       rent->name, rent->node != NULL ? rent->node : rent->accelerator, node->name,
                       node->accelerator);
  else if (cost->usd_per_gpu_hour > 0)
    fab_schema_report (self->reader, &cost->rent,
                       "`rent` and `usd_per_gpu_hour` are two rents: leave one out");
}

static void
check_reach (Reading *self, const char *const *name)
{
  FabReach reach;

  if (*name == NULL || fab_reach_parse (*name, &reach))
    return;
  g_autofree char *all = g_strjoinv (", ", (char **) fab_reach_names);
  fab_schema_report (self->reader, name, "'%s' is not a distance; the distances are %s", *name, all);
}

guint
fab_cluster_spec_sharers (const FabClusterSpec *self, const FabNodeSpec *node)
{
  return self->domain_nodes > 0 ? (guint) self->domain_nodes : fab_node_spec_sharers (node);
}

/* Nodes that have parts in common come in domains of equal size, or there is one that is not full. */
static void
check_domains (Reading *self, const FabNodeSpec *node)
{
  const FabClusterSpec *cluster = &self->spec.cluster;
  guint most = fab_node_spec_sharers (node), used = fab_cluster_spec_sharers (cluster, node);

  if (used > most && most == 1)
    fab_schema_report (self->reader, &cluster->domain_nodes, "nodes of '%s' share no switch", node->name);
  else if (used > most)
    fab_schema_report (self->reader, &cluster->domain_nodes, "%u of '%s' share a switch, not %u", most,
                       node->name, used);
  else if (cluster->nodes > used && cluster->nodes % used != 0)
    fab_schema_report (self->reader, &cluster->nodes,
                       "%u of '%s' share a switch, so nodes must be at most that or a multiple of it; to "
                       "use fewer of each domain, set domain_nodes",
                       used, node->name);
}

static void
check_cluster (Reading *self)
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
  check_rent (self, node);
  fab_power_cap_check (self->reader, &cluster->power_cap,
                       fab_catalog_accelerator (self->catalog, node->accelerator));
  check_reach (self, &cluster->p2p);
  check_reach (self, &cluster->gdr);
  check_count (self, node, FAB_PART_ACCELERATOR, &cluster->gpus_per_node, "GPUs");
  check_count (self, node, FAB_PART_NIC, &cluster->nics_per_node, "NICs");
  if (cluster->nic != NULL && fab_node_spec_n_parts (node, FAB_PART_NIC) == 0)
    fab_schema_report (self->reader, &cluster->nic, "node '%s' has no NICs", node->name);
}

/* A summary describes the scenario as it was written, a title the scenario as it is. */
static void
retell (Reading *self, const FabScenario *scenario)
{
  g_autofree char *title = NULL, *edited = NULL;
  char *kept;

  if (!scenario->is_edited || scenario->has_own_summary || self->spec.summary == NULL)
    return;
  title = fab_scenario_title (&self->spec);
  edited = g_strconcat (title, " (edited)", NULL);
  kept = fab_schema_reader_alloc (self->reader, strlen (edited) + 1);
  memcpy (kept, edited, strlen (edited));
  self->spec.summary = kept;
}

static void
include_files (FabYamlDoc *doc, FabDiagnostics *diagnostics)
{
  g_autoptr (GPtrArray) keys = g_ptr_array_new ();

  for (const FabParam *row = fab_scenario_params; row->key != NULL; row++)
    g_ptr_array_add (keys, (gpointer) row->key);
  g_ptr_array_add (keys, NULL);
  fab_yaml_doc_include (doc, (const char *const *) keys->pdata, diagnostics);
}

/* What was written, to a struct; adds diagnostics only. */
static Reading *
read_spec (const FabScenario *scenario)
{
  Reading *self = g_atomic_rc_box_new0 (Reading);
  const FabCatalogSections *own[] = { &self->spec.own, NULL };
  const FabNetOps *fidelity;

  self->doc = fab_yaml_doc_copy (scenario->doc);
  self->diagnostics = fab_diagnostics_copy (scenario->problems);
  self->reader = fab_schema_reader_new (scenario->registry, self->diagnostics);
  include_files (self->doc, self->diagnostics); /* --set include=... */
  fab_model_files_read (self->doc, scenario->registry, self->diagnostics);
  fab_schema_read (self->reader, fab_yaml_doc_root (self->doc), fab_scenario_params, &self->spec);
  self->catalog = fab_catalog_overlay (scenario->shipped, &self->spec.own);
  fab_catalog_check_sections (self->reader, own, FALSE);
  fab_schema_check_references (self->reader, fab_scenario_params, &self->spec, fab_catalog_reference_names,
                               self->catalog);
  check_cluster (self);
  fidelity = (const FabNetOps *) self->spec.fidelity.info;
  if (fidelity != NULL) {
    fab_fault_check_all (self->reader, &self->spec.faults, &self->spec.background,
                         fidelity->set_capacity != NULL, fidelity->info.name);
    fab_circuit_check_all (self->reader, &self->spec.circuits, fidelity->set_capacity != NULL,
                           fidelity->info.name);
  }
  fab_schedule_check_all (self->reader, scenario->registry, &self->spec.schedules);
  fab_reliability_check (self->reader, &self->spec.reliability);
  fab_neighbour_check_all (self->reader, &self->spec.neighbours,
                           fab_catalog_node (self->catalog, self->spec.cluster.node),
                           self->spec.cluster.nodes);
  fab_mix_check (self->reader, &self->spec.mix, self->spec.cluster.nodes);
  retell (self, scenario);
  return self;
}

gboolean
fab_scenario_check (FabScenario *self, GError **error)
{
  const FabYamlNode *root = fab_yaml_doc_root (self->doc);

  if (root->n == 0)
    return fab_throw (
        error, FAB_ERROR_INPUT,
        "%s has no keys: it is empty, or has comments only. `fabricast run scenarios/hello.yaml` "
        "simulates an example; `fabricast describe scenario` lists the keys",
        root->mark.file);
  if (self->reading == NULL)
    self->reading = read_spec (self);
  return fab_diagnostics_check (self->reading->diagnostics, error);
}

/* --- edits --- */

/* A document that may change, as copies hold on to what is there. */
static FabYamlDoc *
begin_edit (FabScenario *self)
{
  forget_reading (self);
  if (fab_yaml_doc_is_copied (self->doc)) {
    FabYamlDoc *doc = fab_yaml_doc_copy (self->doc);

    fab_yaml_doc_free (self->doc);
    self->doc = doc;
  }
  return self->doc;
}

/* Notes the key of an edit; `key` may go on with a value. */
static void
note_edit (FabScenario *self, const char *key)
{
  self->is_edited |= fab_title_tells_of (key);
  self->has_own_summary |= strcmp (key, "summary") == 0 || g_str_has_prefix (key, "summary=");
}

/* Keeps `doc` where nothing was wrong with it. */
static gboolean
end_edit (FabScenario *self, const char *key, FabYamlDoc *doc, FabDiagnostics *diagnostics, GError **error)
{
  gboolean is_good = fab_diagnostics_check (diagnostics, error);

  if (is_good) {
    forget_reading (self);
    note_edit (self, key);
  }
  fab_yaml_doc_free (is_good ? self->doc : doc);
  self->doc = is_good ? doc : self->doc;
  return is_good;
}

gboolean
fab_scenario_set (FabScenario *self, const char *key, FabValue *value, GError **error)
{
  g_autoptr (FabValue) taken = value;
  g_autoptr (FabDiagnostics) diagnostics = fab_diagnostics_new ();
  g_autoptr (FabSchemaReader) reader = fab_schema_reader_new (self->registry, diagnostics);
  FabYamlDoc *doc = fab_yaml_doc_copy (self->doc);

  if (fab_yaml_doc_put (doc, self->origin, key, taken, diagnostics))
    fab_schema_check_key (reader, fab_scenario_params, fab_yaml_doc_root (doc), key);
  return end_edit (self, key, doc, diagnostics, error);
}

gboolean
fab_scenario_assign (FabScenario *self, const char *assignment, GError **error)
{
  g_autoptr (FabDiagnostics) diagnostics = fab_diagnostics_new ();
  FabYamlDoc *doc = fab_yaml_doc_copy (self->doc);

  fab_yaml_doc_set (doc, assignment, diagnostics);
  return end_edit (self, assignment, doc, diagnostics, error);
}

void
fab_scenario_edit (FabScenario *self, const FabEdits *edits)
{
  FabYamlDoc *doc = fab_edits_count (edits) > 0 ? begin_edit (self) : NULL;
  guint group = 0;

  for (guint i = 0; i < fab_edits_count (edits); i++) {
    const FabEdit *edit = fab_edits_at (edits, i);

    if (edit->group != group)
      fab_yaml_doc_unprotect (doc);
    group = edit->group;
    note_edit (self, edit->key != NULL ? edit->key : edit->text);
    if (edit->key != NULL)
      fab_yaml_doc_put (doc, self->origin, edit->key, edit->value, self->problems);
    else
      fab_yaml_doc_set (doc, edit->text, self->problems);
    if (edit->is_asked)
      fab_yaml_doc_protect_last (doc);
  }
  if (doc != NULL)
    fab_yaml_doc_unprotect (doc);
}

const char *
fab_scenario_assigned (const FabScenario *self, const char *key)
{
  return fab_yaml_doc_assigned (self->doc, key);
}

static FabScenario *
scenario_new (const char *origin, const FabRegistry *registry, const FabCatalog *catalog)
{
  FabScenario *self = g_new0 (FabScenario, 1);

  self->registry = registry;
  self->shipped = catalog;
  self->origin = g_strdup (origin);
  self->problems = fab_diagnostics_new ();
  return self;
}

/* Takes the document; NULL: what is wrong with the text is among the problems. */
static FabScenario *
take_doc (FabScenario *self, FabYamlDoc *doc, GError **error)
{
  if (doc == NULL) {
    fab_diagnostics_check (self->problems, error);
    fab_scenario_free (self);
    return NULL;
  }
  self->doc = doc;
  include_files (doc, self->problems);
  return self;
}

static FabScenario *
finish (FabScenario *scenario, const char *const *sets, GError **error)
{
  g_autoptr (FabScenario) self = scenario;
  g_autoptr (FabEdits) edits = fab_edits_of (sets);

  if (self == NULL)
    return NULL;
  fab_scenario_edit (self, edits);
  return fab_scenario_check (self, error) ? g_steal_pointer (&self) : NULL;
}

FabScenario *
fab_scenario_open (const char *path, const FabRegistry *registry, const FabCatalog *catalog, GError **error)
{
  g_autoptr (FabScenario) self = scenario_new ("--set", registry, catalog);
  GError *problem = NULL;
  FabYamlDoc *doc = fab_yaml_doc_load (path, self->problems, &problem);

  if (problem != NULL) {
    g_propagate_error (error, problem);
    return NULL;
  }
  return take_doc (g_steal_pointer (&self), doc, error);
}

FabScenario *
fab_scenario_open_text (const char *name, const char *data, gsize size, const FabRegistry *registry,
                        const FabCatalog *catalog, GError **error)
{
  FabScenario *self = scenario_new ("--set", registry, catalog);

  return take_doc (self, fab_yaml_doc_parse (name, data, size, self->problems), error);
}

FabScenario *
fab_scenario_new (const char *origin, const FabRegistry *registry, const FabCatalog *catalog)
{
  FabScenario *self = scenario_new (origin, registry, catalog);

  return take_doc (self, fab_yaml_doc_new (origin), NULL);
}

FabScenario *
fab_scenario_load (const char *path, const char *const *sets, const FabRegistry *registry,
                   const FabCatalog *catalog, GError **error)
{
  return finish (fab_scenario_open (path, registry, catalog, error), sets, error);
}

FabScenario *
fab_scenario_parse (const char *name, const char *data, gsize size, const char *const *sets,
                    const FabRegistry *registry, const FabCatalog *catalog, GError **error)
{
  return finish (fab_scenario_open_text (name, data, size, registry, catalog, error), sets, error);
}

FabScenario *
fab_scenario_copy (const FabScenario *self)
{
  FabScenario *copy = g_new0 (FabScenario, 1);

  *copy = (FabScenario){ .registry = self->registry,
                         .shipped = self->shipped,
                         .origin = g_strdup (self->origin),
                         .doc = fab_yaml_doc_copy (self->doc),
                         .problems = fab_diagnostics_copy (self->problems),
                         .is_edited = self->is_edited,
                         .has_own_summary = self->has_own_summary };
  if (self->reading != NULL)
    copy->reading = g_atomic_rc_box_acquire (self->reading);
  return copy;
}

static const Reading *
reading_of (const FabScenario *self)
{
  g_assert (self->reading != NULL); /* checked since the last edit */
  return self->reading;
}

const FabScenarioSpec *
fab_scenario_spec (const FabScenario *self)
{
  return &reading_of (self)->spec;
}

const FabCatalog *
fab_scenario_catalog (const FabScenario *self)
{
  return reading_of (self)->catalog;
}

const FabMark *
fab_scenario_mark (const FabScenario *self, gconstpointer field)
{
  return fab_schema_mark (reading_of (self)->reader, field);
}

gboolean
fab_scenario_get (const FabScenario *self, const char *key, FabValue **value, GError **error)
{
  return fab_schema_get (fab_scenario_params, fab_scenario_spec (self), key, value, error);
}

gint64
fab_scenario_get_whole (const FabScenario *self, const char *key, gint64 fallback)
{
  g_autoptr (FabValue) value = NULL;

  return fab_scenario_get (self, key, &value, NULL) && value != NULL && value->kind == FAB_VALUE_WHOLE
           ? value->whole
           : fallback;
}

FabValue *
fab_scenario_written (const FabScenario *self, const FabParam *table, gconstpointer in,
                      const char *const *but)
{
  return fab_schema_written (reading_of (self)->reader, table, in, but);
}

/* A path may have any character; a comment ends with its line. */
static void
append_sum (GString *text, const char *path)
{
  g_autofree char *sum = fab_schema_file_sum (path), *name = g_path_get_basename (path),
                  *shown = g_strescape (name, NULL);

  g_string_append_printf (text, "# %s has the SHA-256 %s.\n", shown,
                          sum != NULL ? sum : "of a file that cannot be read");
}

char *
fab_scenario_resolved (const FabScenario *self)
{
  g_autofree char *yaml = fab_schema_write (fab_scenario_params, fab_scenario_spec (self));
  g_autoptr (GPtrArray) paths = g_ptr_array_new_with_free_func (g_free);
  GString *text = g_string_new (yaml);

  fab_schema_list_files (fab_scenario_params, fab_scenario_spec (self), paths);
  for (guint i = 0; i < paths->len; i++)
    append_sum (text, g_ptr_array_index (paths, i));
  return g_string_free (text, FALSE);
}

char *
fab_scenario_text (const FabScenario *self)
{
  const char *summary = self->reading != NULL ? self->reading->spec.summary : NULL;
  g_autoptr (FabDiagnostics) diagnostics = fab_diagnostics_new ();

  if (summary == NULL || !self->is_edited || self->has_own_summary)
    return fab_yaml_node_text (fab_yaml_doc_root (self->doc));
  FabYamlDoc *doc = fab_yaml_doc_copy (self->doc);
  g_autoptr (FabValue) title = fab_value_text (summary);
  fab_yaml_doc_put (doc, self->origin, "summary", title, diagnostics);
  char *text = fab_yaml_node_text (fab_yaml_doc_root (doc));
  fab_yaml_doc_free (doc);
  return text;
}

/* The keys of a scenario; those of its catalogue sections are in catalog_params.c. */

#define ROW(key_, type_, struct_, field_, fallback_, help_)                            \
  .key = key_, .type = FAB_PARAM_##type_, .offset = G_STRUCT_OFFSET (struct_, field_), \
  .fallback = fallback_, .help = help_

static const FabParam cluster_params[] = {
  { ROW ("node", TEXT, FabClusterSpec, node, NULL, "Node entry of every machine."),
    .refers = FAB_REFERS_NODE },
  { ROW ("nodes", COUNT, FabClusterSpec, nodes, "1", "Number of machines."), .min = 1, .max = 200000 },
  { ROW ("gpus_per_node", COUNT, FabClusterSpec, gpus_per_node, "0",
         "GPUs used of each node; 0: all of them.") },
  { ROW ("nics_per_node", COUNT, FabClusterSpec, nics_per_node, "0",
         "NICs used of each node, spread evenly over its sockets, PCIe switches and GPUs; 0: all of them.") },
  { ROW ("domain_nodes", COUNT, FabClusterSpec, domain_nodes, "0",
         "Nodes used of each domain of nodes that share switches (the trays of a rack); 0: all of the "
         "domain."),
    .max = 200000 },
  { ROW ("nic", TEXT, FabClusterSpec, nic, "",
         "Link entry of the NIC ports, and of switch ports where the fabric names no link; empty: that of "
         "the node."),
    .refers = FAB_REFERS_LINK },
  { ROW ("nic_rate", RATE, FabClusterSpec, nic_rate_bytes_per_s, "0Gb/s",
         "Line rate of those ports, and of switch ports where the fabric names no link; 0: that of the "
         "link entry."),
    .max = 1e15 },
  { ROW ("power_cap", POWER, FabClusterSpec, power_cap, "100%",
         "Power that a GPU may draw, in watts or as a share of the board's power. A lower cap lowers its "
         "clock."),
    .max = 1 },
  { ROW ("fabric", MODEL, FabClusterSpec, fabric, "",
         "Fabric that connects the NICs; left out: the usual one of such nodes."),
    .models = FAB_MODEL_FABRIC },
  { ROW ("route", MODEL, FabClusterSpec, route, "",
         "Routing, which chooses the path of a transfer; left out: the usual one of such nodes."),
    .models = FAB_MODEL_ROUTE },
  { ROW ("places", COUNT, FabClusterSpec, places, "0",
         "Number of machines that the fabric has room for; 0: as many as there are nodes."),
    .min = 0, .max = 200000 },
  { ROW ("placement", CHOICE, FabClusterSpec, placement, "packed",
         "Places of the nodes in the fabric: packed side by side, strided, spread evenly, or random."),
    .choices = fab_placement_names },
  { ROW ("place_stride", COUNT, FabClusterSpec, place_stride, "1",
         "Number of places from one node to the next, for placement: strided."),
    .min = 1, .max = 200000 },
  { ROW ("p2p", TEXT, FabClusterSpec, p2p, "",
         "Largest distance at which GPUs read each other's memory: none, nvl, pix, pxb, phb, node, sys; "
         "empty: that of the node.") },
  { ROW ("gdr", TEXT, FabClusterSpec, gdr, "",
         "Largest distance at which a NIC reads GPU memory, with the same values; beyond it, bytes go "
         "through host memory.") },
  { ROW ("pxn", BOOL, FabClusterSpec, has_relays, "true",
         "Pass bytes over links of GPUs to the GPU beside the NIC, where that NIC is of another rail or "
         "behind a host bridge.") },
  { ROW ("gds", BOOL, FabClusterSpec, has_gds, "false",
         "Whether drives write directly into GPU memory (GPUDirect Storage); false: through host memory.") },
  { .key = NULL },
};

const FabParam fab_scenario_params[] = {
  { ROW ("name", TEXT, FabScenarioSpec, name, NULL, "Name of the scenario in reports.") },
  { ROW ("summary", TEXT, FabScenarioSpec, summary, "",
         "Description in one line. An edited scenario gets a new one.") },
  { ROW ("include", TEXT, FabScenarioSpec, include, "",
         "Files with keys of a scenario, relative to this file. Keys in this file override theirs."),
    .refers = FAB_REFERS_FILES },
  { ROW ("seed", COUNT, FabScenarioSpec, seed, "1",
         "Seed of everything random: hashed paths, random places, jitter, drawn flows, bursts and marked "
         "packets. It is recorded with the run.") },
  { ROW ("iterations", COUNT, FabScenarioSpec, iterations, "3", "Number of iterations to simulate."),
    .min = 1, .max = 1e6 },
  { ROW ("contention", BOOL, FabScenarioSpec, has_contention, "true",
         "Whether kernels are slower while a collective moves bytes, because each of its channels takes a "
         "multiprocessor.") },
  { ROW ("fold", BOOL, FabScenarioSpec, is_folded, "true",
         "Whether identical ranks, nodes and links are simulated once; no: each by itself, which takes "
         "longer and gives the same figures.") },
  { ROW ("cluster", TABLE, FabScenarioSpec, cluster, NULL, "Machines and the network between them."),
    .table = cluster_params, .table_size = sizeof (FabClusterSpec) },
  { ROW ("fidelity", MODEL, FabScenarioSpec, fidelity, "fluid", "Model with which transfers are simulated."),
    .models = FAB_MODEL_NET },
  { ROW ("collectives", MODEL, FabScenarioSpec, collectives, "nccl", "Library that carries out collectives."),
    .models = FAB_MODEL_LIBRARY },
  { ROW (
        "schedules", LIST, FabScenarioSpec, schedules, NULL,
        "Files that give collectives as messages; each is played for the collectives that it fits, in place of "
        "the library's own algorithms."),
    .table = fab_schedule_params, .table_size = sizeof (FabScheduleSpec) },
  { ROW ("job", MODEL, FabScenarioSpec, job, NULL, "Work of the GPUs."), .models = FAB_MODEL_WORKLOAD },
  { ROW ("faults", LIST, FabScenarioSpec, faults, NULL,
         "Faults that exist from the start, or begin while the job runs."),
    .table = fab_fault_params, .table_size = sizeof (FabFaultSpec) },
  { ROW ("circuits", LIST, FabScenarioSpec, circuits, NULL,
         "Links through optical circuit switches, and the times at which a switch connects their ends. At "
         "other times they carry nothing."),
    .table = fab_circuit_params, .table_size = sizeof (FabCircuitSpec) },
  { ROW ("background", LIST, FabScenarioSpec, background, NULL, "Traffic of others on the same fabric."),
    .table = fab_background_params, .table_size = sizeof (FabBackgroundSpec) },
  { ROW ("neighbours", LIST, FabScenarioSpec, neighbours, NULL,
         "Other jobs on nodes of the same machine; `job` has the remaining nodes."),
    .table = fab_neighbour_params, .table_size = sizeof (FabNeighbourSpec) },
  { ROW ("mix", TABLE, FabScenarioSpec, mix, NULL,
         "Jobs that arrive on the machine one after another, for `fabricast mix`."),
    .table = fab_mix_params, .table_size = sizeof (FabMixSpec) },
  { ROW ("cost", TABLE, FabScenarioSpec, cost, NULL, "Prices and shares for counting money and energy."),
    .table = fab_cost_params, .table_size = sizeof (FabCostSpec) },
  { ROW ("reliability", TABLE, FabScenarioSpec, reliability, NULL,
         "How often parts fail, and how the job goes on."),
    .table = fab_reliability_params, .table_size = sizeof (FabReliabilitySpec) },
  FAB_CATALOG_ROWS (FabScenarioSpec, own.),
  { .key = NULL },
};

/* The keys of `cost`, each default with its source. Constant data only.
 *
 * usd_per_kwh  0.06 to 0.12 in cost models of GPU clusters (v2-pseo-ai.pages.dev "GPU TCO analysis", 2026); about the
 *              mean of US industry in 2024 (see EIA, Electric Power Monthly)
 * pue          1.10 at best, 1.20 to 1.30 at large clouds, 1.56 the mean of all who were asked in 2024 (Uptime
 *              Institute, quoted by lynx-cortex.pages.dev and datasetsearch.research.google.com)
 * years        5: Amazon's annual report for 2024 (from six to five years for part of its servers, for AI); clouds
 * for
 *              AI 4 to 6 (research-viewer.pages.dev "GPU useful life")
 * maintenance  annual contracts 4 to 8 % of the purchase price (CTWatch Quarterly, May 2006, icl.utk.edu)
 * site         colocation 150 to 250 dollars per kW and month (v2-pseo-ai.pages.dev, 2026)
 * low, high    the same sources: 0.06 and 0.12 $/kWh, PUE 1.1 and 1.56, six and four years
 * gpu_busy     peaks of training reach the board's watts (Patel et al., "Characterizing Power Management
 * Opportunities
 *              for LLMs in the Cloud", ASPLOS 2024)
 * gpu_waiting  between iterations 20 to 75 % are left, model by model (see the same paper); "near idle" in Choukse
 *              et al., arXiv 2508.14318 cables       taken: a row of racks, and across some
 */

#define COST_PARAMS_ROW(key_, type_, field_, fallback_, help_)                             \
  .key = key_, .type = FAB_PARAM_##type_, .offset = G_STRUCT_OFFSET (FabCostSpec, field_), \
  .fallback = fallback_, .help = help_

#define COST_END_ROW(key_, type_, field_, fallback_, help_)                                   \
  .key = key_, .type = FAB_PARAM_##type_, .offset = G_STRUCT_OFFSET (FabCostEndSpec, field_), \
  .fallback = fallback_, .help = help_

#define COST_END_ROWS(kwh_, pue_, years_)                                                                    \
  {                                                                                                          \
    { COST_END_ROW ("usd_per_kwh", FACTOR, usd_per_kwh, kwh_,                                                \
                    "Price of electricity at this end of the range."),                                       \
      .max = 100 },                                                                                          \
        { COST_END_ROW ("pue", FACTOR, pue_factor, pue_,                                                     \
                        "Power of the whole site over that of its machines, "                                \
                        "at this end."),                                                                     \
          .max = 10 },                                                                                       \
        { COST_END_ROW ("years", FACTOR, years, years_,                                                      \
                        "Years of use of the machine at this end of the range."),                            \
          .max = 100 },                                                                                      \
        { COST_END_ROW ("usd_per_gpu_hour", FACTOR, usd_per_gpu_hour, "0",                                   \
                        "Rent of one GPU at this end of the range."),                                        \
          .max = 1e6 },                                                                                      \
        { COST_END_ROW ("maintenance", FRACTION, maintenance_fraction, "0%",                                 \
                        "Maintenance per year as a share of the purchase price, at this end of the range."), \
          .max = 1 },                                                                                        \
        { COST_END_ROW ("staff_usd_per_year", FACTOR, staff_usd_per_year, "0",                               \
                        "Cost of staff at this end of the range."),                                          \
          .max = 1e12 },                                                                                     \
        { COST_END_ROW ("site_usd_per_kw_month", FACTOR, site_usd_per_kw_month, "0",                         \
                        "Cost of building and cooling at this end of the range."),                           \
          .max = 1e6 },                                                                                      \
        { COST_END_ROW ("utilisation", FRACTION, utilisation_fraction, "0%",                                 \
                        "Share of the hours in which the machine works, at this end of the range."),         \
          .max = 1 },                                                                                        \
    {                                                                                                        \
      .key = NULL                                                                                            \
    }                                                                                                        \
  }

static const FabParam cost_low_params[] = COST_END_ROWS ("0.06", "1.1", "6");
static const FabParam cost_high_params[] = COST_END_ROWS ("0.12", "1.56", "4");

static const FabParam fab_cost_params[] = {
  { COST_PARAMS_ROW ("usd_per_kwh", FACTOR, usd_per_kwh, "0.08",
                     "Price of electricity in US dollars per kWh."),
    .max = 100 },
  { COST_PARAMS_ROW ("pue", FACTOR, pue_factor, "1.3",
                     "Power usage effectiveness: power of the whole site divided by that of its machines."),
    .min = 1, .max = 10 },
  { COST_PARAMS_ROW ("years", FACTOR, years, "5",
                     "Years of use of the machine, day and night, over which its price is spread."),
    .min = 0.01, .max = 100 },
  { COST_PARAMS_ROW ("usd_per_gpu_hour", FACTOR, usd_per_gpu_hour, "0",
                     "Rent of one GPU for an hour, with its share of the machine; 0: the machine is bought."),
    .max = 1e6 },
  { COST_PARAMS_ROW (
      "rent", TEXT, rent, "",
      "The product of kind rent by which the machine is rented; empty: usd_per_gpu_hour, or it "
      "is bought.") },
  { COST_PARAMS_ROW (
        "maintenance", FRACTION, maintenance_fraction, "0%",
        "Maintenance of what is bought for each year, as a share of its price; 0 %: not counted."),
    .max = 1 },
  { COST_PARAMS_ROW ("staff_usd_per_year", FACTOR, staff_usd_per_year, "0",
                     "People who run the whole machine, US dollars per year; 0: not counted."),
    .max = 1e12 },
  { COST_PARAMS_ROW ("site_usd_per_kw_month", FACTOR, site_usd_per_kw_month, "0",
                     "Building and cooling plant, US dollars per kW of machines and month; 0: not counted."),
    .max = 1e6 },
  { COST_PARAMS_ROW (
        "utilisation", FRACTION, utilisation_fraction, "100%",
        "Share of the hours in which a machine that was bought works; the others are paid for too."),
    .min = 0.01, .max = 1 },
  { COST_PARAMS_ROW ("low", TABLE, low, NULL,
                     "The numbers above where they make the machine cheapest; 0: as above."),
    .table = cost_low_params, .table_size = sizeof (FabCostEndSpec) },
  { COST_PARAMS_ROW ("high", TABLE, high, NULL,
                     "The numbers above where they make the machine dearest; 0: as above."),
    .table = cost_high_params, .table_size = sizeof (FabCostEndSpec) },
  { COST_PARAMS_ROW ("gpu_busy", FRACTION, busy_fraction, "100%",
                     "Share of its power that a GPU draws while it computes."),
    .max = 1 },
  { COST_PARAMS_ROW ("gpu_waiting", FRACTION, waiting_fraction, "50%",
                     "Share of its power that a GPU draws in exposed communication and idle time."),
    .max = 1 },
  { COST_PARAMS_ROW ("nic_cable", LENGTH, nic_cable_mm, "30m",
                     "Length of cables from NICs to switches, which decides their kind."),
    .max = 1e8 },
  { COST_PARAMS_ROW ("switch_cable", LENGTH, switch_cable_mm, "50m",
                     "Length of cables between switches, which decides their kind."),
    .max = 1e8 },
  { .key = NULL },
};
