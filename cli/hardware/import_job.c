/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/hardware/import_job.h"

#include <string.h>

#include "cli/cli.h"
#include "cli/files.h"
#include "cli/shipped.h"
#include "formats/format.h"
#include "formats/job/job.h"
#include "models/models.h"
#include "sim/base/error.h"
#include "sim/base/nearest.h"
#include "sim/config/yaml_doc.h"
#include "sim/run/simulation.h"
#include "sim/scenario/model_file.h"

enum { MAX_FILES = 16 };

typedef struct {
  FabImportJobRequest request;
  FabFileText files[MAX_FILES];
  char *texts[MAX_FILES];
  char *model;         /* a section `models` */
  char *model_name;    /* of its entry */
  FabYamlDoc *machine; /* the scenario of --on without its job; NULL: none */
} Request;

static void
request_clear (Request *self)
{
  for (guint i = 0; i < MAX_FILES; i++)
    g_free (self->texts[i]);
  g_free (self->model);
  g_free (self->model_name);
  fab_yaml_doc_free (self->machine);
}

static gboolean
read_files (Request *self, char *const *paths, GError **error)
{
  for (guint i = 0; paths[i] != NULL; i++) {
    gsize size;

    if (i == MAX_FILES)
      return fab_throw (error, FAB_ERROR_INPUT, "more than %d files cannot describe one job", MAX_FILES);
    if (!fab_cli_read_file (paths[i], FAB_IMPORT_MAX_BYTES, &self->texts[i], &size, error))
      return FALSE;
    self->files[i] = (FabFileText){ strcmp (paths[i], "-") == 0 ? "standard input" : paths[i], self->texts[i],
                                    size };
    self->request.n_files = i + 1;
  }
  self->request.files = self->files;
  return TRUE;
}

/* What the entry that was made of a config.json is called, and its hidden size. */
static gboolean
look_into_model (Request *self, GError **error)
{
  g_autoptr (FabDiagnostics) diagnostics = fab_diagnostics_new ();
  g_autoptr (FabYamlDoc) doc = fab_yaml_doc_parse ("model", self->model, strlen (self->model), diagnostics);
  const FabYamlNode *list = doc ? fab_yaml_get (fab_yaml_doc_root (doc), "models") : NULL;
  const FabYamlNode *entry = list && list->n > 0 ? list->values[0] : NULL;
  const FabYamlNode *shape = entry ? fab_yaml_get (entry, "shape") : NULL;
  const FabYamlNode *name = entry ? fab_yaml_get (entry, "name") : NULL;
  const FabYamlNode *hidden = shape ? fab_yaml_get (shape, "hidden") : NULL;

  if (!fab_diagnostics_check (diagnostics, error))
    return FALSE;
  self->model_name = g_strdup (name && name->text ? name->text : "model");
  self->request.hidden = hidden && hidden->text ? (guint) g_ascii_strtoull (hidden->text, NULL, 10) : 0;
  self->request.model = self->model;
  self->request.model_name = self->model_name;
  return TRUE;
}

/* --model: a name of the catalogue, else a file. */
static gboolean
choose_model (Request *self, const char *model, const char *out, const FabCatalog *catalog, GError **error)
{
  char *read[] = { (char *) model, NULL };
  g_autofree char *text = NULL;
  g_autofree const char **names = fab_catalog_names (catalog, FAB_SECTION_MODELS);
  const char *nearest = fab_nearest (model, names);
  gsize size;

  if (fab_catalog_model (catalog, model) != NULL) {
    self->request.model_name = model;
    return TRUE;
  }
  if (!g_str_has_suffix (model, ".json"))
    return fab_throw (
        error, FAB_ERROR_INPUT,
        "--model %s: no such entry%s%s; it is a name of `fabricast describe models`, or a config.json", model,
        nearest ? "; nearest is " : "", nearest ? nearest : "");
  if (!fab_cli_check_apart ("--out", out, read, error)
      || !fab_cli_read_file (model, FAB_IMPORT_MAX_BYTES, &text, &size, error))
    return FALSE;
  self->model = fab_model_file_fragment (model, NULL, text, size, &fab_models, error);
  return self->model != NULL && look_into_model (self, error);
}

/* Reads the scenario of --on, and takes away what the job replaces. */
static gboolean
read_machine (Request *self, const ImportJobOptions *o, const FabCatalog *catalog, GError **error)
{
  static const char *const replaced[] = { "job", "name", "summary" };
  g_autofree char *path = fab_cli_scenario_path (o->on);
  g_autoptr (FabScenario) scenario = fab_cli_scenario (o->on, NULL, catalog, error);
  g_autoptr (FabSimulation) simulation = scenario ? fab_simulation_new (scenario, &fab_models, NULL, error)
                                                  : NULL;
  g_autoptr (FabDiagnostics) diagnostics = fab_diagnostics_new ();

  if (simulation == NULL || !fab_cli_check_scenario_out ("--out", o->out, scenario, NULL, error))
    return FALSE;
  self->request.n_ranks = fab_cluster_n_ranks (fab_simulation_cluster (simulation));
  self->request.has_machine = TRUE;
  self->machine = fab_yaml_doc_load (path, diagnostics, error);
  if (self->machine == NULL)
    return FALSE;
  fab_yaml_doc_include (self->machine, NULL, diagnostics);
  for (guint i = 0; i < G_N_ELEMENTS (replaced); i++)
    if (fab_yaml_get (fab_yaml_doc_root (self->machine), replaced[i]) != NULL)
      fab_yaml_doc_put (self->machine, "import job", replaced[i], NULL, diagnostics);
  return fab_diagnostics_check (diagnostics, error);
}

/* The comments of the job, then the machine, then the job. */
static char *
join (const Request *self, const ImportJobOptions *o, const char *job)
{
  const char *section = strstr (job, "\njob:");
  g_autofree char *head = g_strndup (job, (gsize) (section - job));
  g_autofree char *machine = fab_yaml_node_text (fab_yaml_doc_root (self->machine));

  return g_strdup_printf ("%s#\n# The machine is that of %s.\n\nname: %s\n%s%s%s", head, o->on,
                          o->name ? o->name : "imported", machine,
                          g_str_has_suffix (machine, "\n") ? "" : "\n", section);
}

/* A scenario that cannot be simulated is not handed out. */
static gboolean
check_whole (const char *text, const FabCatalog *catalog, GError **error)
{
  g_autoptr (FabScenario) scenario = fab_scenario_parse ("the job on that machine", text, strlen (text), NULL,
                                                         &fab_models, catalog, error);
  g_autoptr (FabSimulation) simulation = scenario ? fab_simulation_new (scenario, &fab_models, NULL, error)
                                                  : NULL;

  return simulation != NULL;
}

gboolean
import_job (const ImportJobOptions *o, char *const *paths, GError **error)
{
  g_autoptr (FabCatalog) catalog = fab_cli_catalog (error);
  g_autofree char *job = NULL, *whole = NULL;
  Request self = { .request = { .format = o->from, .catalog = catalog } };
  gboolean is_good = catalog != NULL && fab_cli_check_out ("--out", o->out, paths, error)
                  && read_files (&self, paths, error)
                  && (o->model == NULL || choose_model (&self, o->model, o->out, catalog, error))
                  && (o->on == NULL || read_machine (&self, o, catalog, error));

  if (is_good)
    job = fab_import_job (&self.request, error);
  if (job != NULL && o->on != NULL)
    whole = join (&self, o, job);
  is_good = job != NULL && (whole == NULL || check_whole (whole, catalog, error))
         && fab_cli_write_file (o->out ? o->out : "-", whole ? whole : job, error);
  request_clear (&self);
  return is_good;
}
