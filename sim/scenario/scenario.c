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
#include "sim/fabric/fabric.h"
#include "sim/fabric/reach.h"
#include "sim/net/net.h"
#include "sim/scenario/catalog_check.h"
#include "sim/scenario/design.h"
#include "sim/scenario/fault_params.h"
#include "sim/scenario/model_file.h"
#include "sim/scenario/neighbour_params.h"
#include "sim/scenario/placement.h"
#include "sim/scenario/power_cap.h"
#include "sim/scenario/schedule_params.h"
#include "sim/scenario/title.h"

/* What the tables made of a tree. Read-only once it is made, so that copies share it. */
typedef struct {
  const FabRegistry *registry;
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
  guint n = fab_node_spec_n_parts (node, kind);

  if (*wanted > n)
    fab_schema_report (self->reader, wanted, "node '%s' has %u %s%s, not %" G_GINT64_FORMAT, node->name, n,
                       what, fab_plural (n, "", "s"), *wanted);
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
  else if (rent->node != NULL
               ? strcmp (rent->node, node->name) != 0
               : rent->accelerator != NULL && g_strcmp0 (rent->accelerator, node->accelerator) != 0)
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

/* A fabric with one path between any two NICs leaves no route a choice. */
static FabModelChoice
usual_route (const Reading *self, const FabNodeSpec *node)
{
  const FabClusterSpec *cluster = &self->spec.cluster;
  const FabFabricOps *fabric = (const FabFabricOps *) cluster->fabric.info;
  const char *nic = cluster->nic != NULL ? cluster->nic : node->nic;
  const FabLinkSpec *port = nic != NULL ? fab_catalog_link (self->catalog, nic) : NULL;
  FabModelChoice shortest = { .info = fab_registry_find (self->registry, FAB_MODEL_ROUTE, "shortest") };

  if (node->route.info != NULL)
    return node->route;
  if (port == NULL || fabric == NULL || fabric->has_choice == NULL
      || !fabric->has_choice (cluster->fabric.params))
    return shortest;
  const FabTechnology *technology = fab_catalog_link_technology (self->catalog, port);
  return technology->route.info != NULL ? technology->route : shortest;
}

static void
place_as_usual (FabClusterSpec *cluster, const FabNodeSpec *node)
{
  gboolean is_scattered = node->scatter > 1 && cluster->nodes > 1;

  cluster->placement = is_scattered ? FAB_PLACEMENT_RANDOM : FAB_PLACEMENT_PACKED;
  if (is_scattered && cluster->places == 0)
    cluster->places = cluster->nodes * node->scatter;
}

/* A cluster says its node, or a design does. */
static void
check_design (Reading *self)
{
  const FabClusterSpec *cluster = &self->spec.cluster;
  const FabYamlNode *root = fab_yaml_doc_root (self->doc), *written = fab_yaml_get (root, "cluster");
  gboolean is_readable = written == NULL || written->kind == FAB_YAML_MAPPING || written->text == NULL;

  if (cluster->node == NULL && cluster->design == NULL && is_readable)
    fab_diagnostics_add (
        self->diagnostics, written != NULL ? &written->mark : &root->mark,
        "'cluster' lacks the key 'node' (text): Node entry of every machine. A 'design' says it too");
  if (cluster->design == NULL && cluster->scalable_units > 0)
    fab_schema_report (self->reader, &cluster->scalable_units,
                       "`scalable_units` are those of a design; write `design` beside it, or `nodes`");
}

static void
check_cluster (Reading *self)
{
  const FabClusterSpec *cluster = &self->spec.cluster;
  const FabNodeSpec *node = fab_catalog_node (self->catalog, cluster->node);

  check_design (self);
  if (node == NULL) /* reported as an unknown reference */
    return;
  self->spec.cluster.has_usual_fabric = cluster->fabric.info == NULL;
  if (cluster->fabric.info == NULL)
    self->spec.cluster.fabric = node->fabric;
  if (cluster->route.info == NULL)
    self->spec.cluster.route = usual_route (self, node);
  if (cluster->placement == FAB_PLACEMENT_USUAL)
    place_as_usual (&self->spec.cluster, node);
  if (cluster->places > 0 && cluster->places < cluster->nodes)
    fab_schema_report (self->reader, &cluster->places,
                       "%" G_GINT64_FORMAT " %s too few for %" G_GINT64_FORMAT " nodes", cluster->places,
                       fab_plural ((guint64) cluster->places, "place is", "places are"), cluster->nodes);
  fab_catalog_check_wires (self->reader, &self->spec.own.links, node);
  check_domains (self, node);
  check_rent (self, node);
  fab_power_cap_check (self->reader, &cluster->power_cap,
                       fab_catalog_accelerator (self->catalog, node->accelerator));
  check_reach (self, &cluster->p2p);
  check_reach (self, &cluster->gdr);
  check_count (self, node, FAB_PART_ACCELERATOR, &cluster->gpus_per_node, "GPU");
  check_count (self, node, FAB_PART_NIC, &cluster->nics_per_node, "NIC");
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
  self->registry = scenario->registry;
  self->reader = fab_schema_reader_new (scenario->registry, self->diagnostics);
  include_files (self->doc, self->diagnostics); /* --set include=... */
  fab_model_files_read (self->doc, scenario->registry, self->diagnostics);
  fab_design_lay (self->doc, scenario->registry, scenario->shipped, self->diagnostics);
  fab_schema_read (self->reader, fab_yaml_doc_root (self->doc), fab_scenario_params, &self->spec);
  self->catalog = fab_catalog_overlay (scenario->shipped, &self->spec.own);
  fab_catalog_check_sections (self->reader, own, FALSE);
  fab_schema_reader_set_said (self->reader, fab_catalog_reference_said);
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
  g_autoptr (FabDiagnostics) unheard = fab_diagnostics_new (); /* reading says what is wrong with a design */
  g_autoptr (FabYamlDoc) laid = NULL;
  FabYamlDoc *doc = fab_yaml_doc_copy (self->doc);

  if (fab_yaml_doc_put (doc, self->origin, key, taken, diagnostics)) {
    laid = fab_yaml_doc_copy (doc);
    fab_design_lay (laid, self->registry, self->shipped, unheard);
    fab_schema_check_key (reader, fab_scenario_params, fab_yaml_doc_root (laid), key);
  }
  return end_edit (self, key, doc, diagnostics, error);
}

gboolean
fab_scenario_assign (FabScenario *self, const char *assignment, GError **error)
{
  g_autoptr (FabDiagnostics) diagnostics = fab_diagnostics_new ();
  FabYamlDoc *doc = fab_yaml_doc_copy (self->doc);

  fab_yaml_doc_set (doc, "--set", assignment, diagnostics);
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
      fab_yaml_doc_set (doc, edit->origin, edit->text, self->problems);
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

/* Adds the sums of the files that the scenario names. (transfer full) */
static char *
with_sums (const FabScenario *self, const char *yaml)
{
  g_autoptr (GPtrArray) paths = g_ptr_array_new_with_free_func (g_free);
  GString *text = g_string_new (yaml);

  fab_schema_list_files (fab_scenario_params, fab_scenario_spec (self), paths);
  for (guint i = 0; i < paths->len; i++)
    append_sum (text, g_ptr_array_index (paths, i));
  return g_string_free (text, FALSE);
}

char **
fab_scenario_files (const FabScenario *self)
{
  GPtrArray *paths = g_ptr_array_new ();

  fab_yaml_doc_list_files (self->reading != NULL ? self->reading->doc : self->doc, paths);
  if (self->reading != NULL)
    fab_schema_list_files (fab_scenario_params, &self->reading->spec, paths);
  g_ptr_array_add (paths, NULL);
  return (char **) g_ptr_array_free (paths, FALSE);
}

char *
fab_scenario_resolved (const FabScenario *self)
{
  g_autofree char *yaml = fab_schema_write (fab_scenario_params, fab_scenario_spec (self));

  return with_sums (self, yaml);
}

char *
fab_scenario_explained (const FabScenario *self)
{
  FabScenarioSpec spec = *fab_scenario_spec (self);
  FabClusterSpec *cluster = &spec.cluster;
  const FabNodeSpec *node = cluster->node != NULL
                              ? fab_catalog_node (fab_scenario_catalog (self), cluster->node)
                              : NULL;
  g_autofree char *yaml = NULL;

  if (node != NULL && cluster->gpus_per_node == 0)
    cluster->gpus_per_node = fab_node_spec_n_parts (node, FAB_PART_ACCELERATOR);
  if (node != NULL && cluster->nics_per_node == 0)
    cluster->nics_per_node = fab_node_spec_n_parts (node, FAB_PART_NIC);
  if (node != NULL && cluster->nic == NULL)
    cluster->nic = node->nic;
  yaml = fab_schema_explain (fab_scenario_params, &spec);
  return with_sums (self, yaml);
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
