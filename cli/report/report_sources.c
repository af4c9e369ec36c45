/* SPDX-License-Identifier: Apache-2.0 */
/* report_sources.c - what a run is of, in a few words, and where its numbers come from: its catalogue entries. */
#include <string.h>

#include "cli/report/report.h"
#include "models/models.h"
#include "sim/scenario/scenario.h"

typedef struct {
  const FabCatalog *catalog; /* with the scenario's own entries */
  FabJson *json;
} Sources;

/* --- the scenario in words --- */

/* Text of a.b.c in the document; NULL when there is none. */
static const char *
text_at (const FabYamlDoc *doc, const char *path)
{
  g_auto (GStrv) keys = g_strsplit (path, ".", -1);
  const FabYamlNode *node = fab_yaml_doc_root (doc);

  for (guint i = 0; keys[i] != NULL && node != NULL; i++)
    node = fab_yaml_get (node, keys[i]);
  return node != NULL && node->kind == FAB_YAML_SCALAR ? node->text : NULL;
}

static void
add_words (const FabYamlDoc *doc, FabJson *json)
{
  static const char *const words[][2] = {
    { "summary", "summary" },
    { "node", "cluster.node" },
    { "nic", "cluster.nic" },
    { "nics_per_node", "cluster.nics_per_node" },
    { "nic_rate", "cluster.nic_rate" },
    { "fabric", "cluster.fabric.kind" },
    { "route", "cluster.route" },
    { "job", "job.kind" },
    { "stage", "job.stage" },
    { "model", "job.model" },
    { "micro_batch", "job.micro_batch" },
    { "tensor", "job.parallel.tensor" },
    { "pipeline", "job.parallel.pipeline" },
    { "expert", "job.parallel.expert" },
    { "context", "job.parallel.context" },
  };

  fab_json_begin_object (json, "words");
  for (guint i = 0; i < G_N_ELEMENTS (words); i++)
    if (text_at (doc, words[i][1]) != NULL)
      fab_json_add_text (json, words[i][0], text_at (doc, words[i][1]));
  fab_json_end (json);
}

/* --- sources --- */

static void
add_source (Sources *self, const char *section, const char *const *name, const char *summary,
            const char *source, const char *date)
{
  const FabMark *mark = fab_catalog_mark (self->catalog, name);
  g_autofree char *file = mark != NULL && mark->file != NULL ? g_path_get_basename (mark->file) : NULL;

  fab_json_begin_object (self->json, NULL);
  fab_json_add_text (self->json, "section", section);
  fab_json_add_text (self->json, "name", *name);
  fab_json_add_text (self->json, "summary", summary);
  fab_json_add_text (self->json, "source", source);
  fab_json_add_text (self->json, "date", date);
  fab_json_add_text (self->json, "file", file);
  fab_json_add_whole (self->json, "line", mark != NULL ? mark->line : 0);
  fab_json_end (self->json);
}

static void
add_link (Sources *self, const char *name)
{
  const FabLinkSpec *link = name != NULL ? fab_catalog_link (self->catalog, name) : NULL;

  if (link != NULL)
    add_source (self, "link", &link->name, link->summary, link->source, link->date);
}

static void
add_machine (Sources *self, const char *name)
{
  const FabNodeSpec *node = name != NULL ? fab_catalog_node (self->catalog, name) : NULL;
  const FabAcceleratorSpec *accelerator = node != NULL
                                            ? fab_catalog_accelerator (self->catalog, node->accelerator)
                                            : NULL;

  if (node != NULL)
    add_source (self, "node", &node->name, node->summary, node->source, node->date);
  if (accelerator != NULL)
    add_source (self, "accelerator", &accelerator->name, accelerator->summary, accelerator->source,
                accelerator->date);
}

static void
add_model (Sources *self, const char *name)
{
  const FabModelSpec *model = name != NULL ? fab_catalog_model (self->catalog, name) : NULL;

  if (model != NULL)
    add_source (self, "model", &model->name, model->summary, model->source, model->date);
}

static gboolean
take_spec (const FabField *fields, gpointer data, G_GNUC_UNUSED GError **error)
{
  add_link (data, fields[0].text);
  return TRUE;
}

/* Links that carried something first, as they are the ones that count. */
static const char spec_sql[] =
    "SELECT l.spec FROM link AS l LEFT JOIN link_load AS b ON b.run_id = l.run_id AND b.iteration = :iteration"
    " AND b.link = l.link WHERE l.run_id = :run GROUP BY l.spec ORDER BY count (b.link) = 0, l.spec";

/* A scenario that this program no longer understands has no sources here, and the page says so. */
static gboolean
add_sources (const FabReportRun *run, const FabYamlDoc *doc, GError **error)
{
  g_autoptr (FabScenario) scenario = fab_scenario_parse ("the stored scenario", run->scenario,
                                                         strlen (run->scenario), NULL, &fab_models,
                                                         run->request->catalog, NULL);
  Sources self = { .json = run->json };
  gboolean is_read;

  if (scenario == NULL)
    return TRUE;
  self.catalog = fab_scenario_catalog (scenario);
  fab_json_begin_array (run->json, "sources");
  add_machine (&self, text_at (doc, "cluster.node"));
  add_model (&self, text_at (doc, "job.model"));
  is_read = fab_report_each (run, spec_sql, take_spec, &self, error);
  fab_json_end (run->json);
  return is_read;
}

gboolean
fab_report_add_sources (const FabReportRun *run, GError **error)
{
  g_autoptr (FabDiagnostics) diagnostics = fab_diagnostics_new ();
  g_autoptr (FabYamlDoc) doc = fab_yaml_doc_parse ("the stored scenario", run->scenario,
                                                   strlen (run->scenario), diagnostics);

  if (doc == NULL)
    return TRUE;
  add_words (doc, run->json);
  return run->request->catalog == NULL || add_sources (run, doc, error);
}
