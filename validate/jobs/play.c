/* SPDX-License-Identifier: Apache-2.0 */
#include "validate/jobs/jobs.h"

#include <string.h>

#include "answer/run.h"
#include "formats/job/job.h"
#include "sim/base/error.h"
#include "validate/check/limits.h"

#define ROW(key_, field_, fallback_, help_)                                                    \
  {                                                                                            \
    .key = key_, .type = FAB_PARAM_TEXT, .offset = G_STRUCT_OFFSET (FabPublicJobSpec, field_), \
    .fallback = fallback_, .help = help_                                                       \
  }

#define WHOLE(key_, field_, help_)                                                                        \
  {                                                                                                       \
    .key = key_, .type = FAB_PARAM_COUNT, .offset = G_STRUCT_OFFSET (FabPublicJobSpec, field_), .min = 1, \
    .max = 1e6, .help = help_                                                                             \
  }

#define NUMBER(key_, field_, help_)                                                              \
  {                                                                                              \
    .key = key_, .type = FAB_PARAM_FACTOR, .offset = G_STRUCT_OFFSET (FabPublicJobSpec, field_), \
    .fallback = "0", .min = 0, .max = 1e9, .help = help_                                         \
  }

const char *const fab_public_role_names[] = {
  [FAB_PUBLIC_NEW] = "new", [FAB_PUBLIC_JUDGED] = "judged", [FAB_PUBLIC_CALIBRATES] = "calibrates", NULL
};

static const FabParam job_params[] = {
  ROW ("name", name, NULL, "How the row is called."),
  ROW ("file", file, NULL, "The configuration, beside INDEX.yaml."),
  ROW ("settings", settings, NULL, "The public file whose settings it has."),
  ROW ("licence", licence, NULL, "Of that file."),
  ROW ("model", model, "", "Entry of the catalogue, where the file names no model."),
  ROW ("node", node, NULL, "Entry of the catalogue or of nodes.yaml, on which the run was."),
  WHOLE ("nodes", nodes, "Nodes of the run."),
  WHOLE ("gpus", gpus, "GPUs of all nodes together."),
  ROW ("changes", changes, "", "What the run set beside the file: keys of a scenario, divided by blanks."),
  NUMBER ("step_s", step_s, "Published seconds of a step; 0: they are not published."),
  NUMBER ("tokens_s_gpu", tokens_s_gpu, "Published tokens per second and GPU; 0: they are not published."),
  { .key = "role",
    .type = FAB_PARAM_CHOICE,
    .offset = G_STRUCT_OFFSET (FabPublicJobSpec, role),
    .fallback = "new",
    .choices = fab_public_role_names,
    .help = "Whether the same run is a row of `validate training`, and what for." },
  ROW ("source", source, "", "Of the published number."),
  ROW ("note", note, "", "What to know before trusting it."),
  { .key = NULL },
};

typedef struct {
  FabParamList jobs; /* FabPublicJobSpec */
} Index;

static const FabParam index_params[] = {
  { .key = "jobs",
    .type = FAB_PARAM_LIST,
    .offset = G_STRUCT_OFFSET (Index, jobs),
    .table = job_params,
    .table_size = sizeof (FabPublicJobSpec),
    .help = "One entry per configuration." },
  { .key = NULL },
};

struct _FabPublicJobs {
  FabCheckFile *file;
  Index index;
  char *directory;
};

void
fab_public_jobs_free (FabPublicJobs *self)
{
  if (self == NULL)
    return;
  fab_check_file_free (self->file);
  g_free (self->directory);
  g_free (self);
}

static void
check_rows (FabPublicJobs *self)
{
  for (guint i = 0; i < self->index.jobs.n; i++) {
    const FabPublicJobSpec *spec = fab_public_jobs_get (self, i);

    for (guint k = 0; k < i; k++)
      if (strcmp (spec->name, fab_public_jobs_get (self, k)->name) == 0)
        fab_schema_report (self->file->reader, &spec->name, "'%s' is given twice", spec->name);
    if (spec->gpus % spec->nodes != 0)
      fab_schema_report (self->file->reader, &spec->gpus,
                         "%" G_GINT64_FORMAT " GPUs do not divide among the nodes", spec->gpus);
    if (spec->step_s > 0 && spec->tokens_s_gpu > 0)
      fab_schema_report (self->file->reader, &spec->step_s, "step_s and tokens_s_gpu say the same; give one");
    if ((spec->step_s > 0 || spec->tokens_s_gpu > 0) && spec->source == NULL)
      fab_schema_report (self->file->reader, &spec->name, "what is published has a source");
  }
}

FabPublicJobs *
fab_public_jobs_load (const char *directory, const FabRegistry *registry, GError **error)
{
  g_autoptr (FabPublicJobs) self = g_new0 (FabPublicJobs, 1);
  g_autofree char *path = g_build_filename (directory, "INDEX.yaml", NULL);

  self->directory = g_strdup (directory);
  self->file = fab_check_file_new (registry);
  if (!fab_check_file_read (self->file, path, index_params, &self->index, error))
    return NULL;
  check_rows (self);
  return fab_check_file_is_right (self->file, error) ? g_steal_pointer (&self) : NULL;
}

guint
fab_public_jobs_n (const FabPublicJobs *self)
{
  return self->index.jobs.n;
}

const FabPublicJobSpec *
fab_public_jobs_get (const FabPublicJobs *self, guint index)
{
  g_assert (index < self->index.jobs.n);
  return (const FabPublicJobSpec *) self->index.jobs.data + index;
}

const FabPublicJobSpec *
fab_public_jobs_find (const FabPublicJobs *self, const char *name, GError **error)
{
  g_autofree const char **names = g_new0 (const char *, self->index.jobs.n + 1);

  for (guint i = 0; i < self->index.jobs.n; i++) {
    names[i] = fab_public_jobs_get (self, i)->name;
    if (strcmp (name, names[i]) == 0)
      return fab_public_jobs_get (self, i);
  }
  return fab_check_throw_unknown (error, "no public configuration", name, names);
}

/* --- playing --- */

/* What `import job FILE --on MACHINE` would write. (transfer full) */
static char *
scenario_of (const FabPublicJobs *self, const FabPublicJobSpec *spec, const FabCatalog *catalog,
             GError **error)
{
  g_autofree char *path = g_build_filename (self->directory, spec->file, NULL);
  g_autofree char *text = NULL, *job = NULL;
  gsize size;

  if (!g_file_get_contents (path, &text, &size, error))
    return NULL;
  const FabFileText file = { spec->file, text, size };
  const FabImportJobRequest request = { .files = &file,
                                        .n_files = 1,
                                        .model_name = spec->model,
                                        .n_ranks = (guint) spec->gpus,
                                        .has_machine = TRUE,
                                        .catalog = catalog };
  job = fab_import_job (&request, error);
  if (job == NULL)
    return NULL;
  return g_strdup_printf ("name: %s\ninclude: '%s/nodes.yaml'\ncluster: {node: %s, nodes: %" G_GINT64_FORMAT
                          ", gpus_per_node: %" G_GINT64_FORMAT "}\n%s",
                          spec->name, self->directory, spec->node, spec->nodes, spec->gpus / spec->nodes,
                          job);
}

/* (transfer full) */
static char *
kind_of (const FabScenario *scenario)
{
  FabValue *value = NULL;
  char *kind = fab_scenario_get (scenario, "job.kind", &value, NULL) && value != NULL
                 ? fab_value_write (value)
                 : g_strdup ("");

  fab_value_unref (value);
  return kind;
}

static gboolean
play (const FabScenario *scenario, const FabRegistry *registry, FabPublicJob *job, GError **error)
{
  const FabRunRequest request = { .registry = registry, .has_no_verdict = TRUE };
  FabRunResult result = { 0 };
  gboolean is_good = fab_run_play (scenario, NULL, &request, &result, error)
                  && fab_run_find_band (scenario, &request, &result, error);

  if (is_good) {
    const FabStepRecord *step = fab_run_last_step (&result);
    guint last = result.steps->len - 1;

    job->ours_s = fab_ps_to_seconds (step->times.duration_ps);
    job->tokens_per_step = step->tokens_per_s * job->ours_s;
    job->low_s = result.band != NULL ? result.band->low[last] : 0;
    job->high_s = result.band != NULL ? result.band->high[last] : 0;
  }
  fab_run_result_clear (&result);
  return is_good;
}

static gboolean
play_row (const FabPublicJobs *self, const FabPublicJobSpec *spec, const FabCatalog *catalog,
          const FabRegistry *registry, FabPublicJob *job, GError **error)
{
  g_autofree char *text = scenario_of (self, spec, catalog, error);
  g_auto (GStrv) changes = spec->changes != NULL ? g_strsplit (spec->changes, " ", -1) : NULL;
  g_autoptr (FabScenario) scenario = NULL;

  *job = (FabPublicJob){ .spec = spec };
  if (text == NULL)
    return FALSE;
  scenario = fab_scenario_open_text (spec->file, text, strlen (text), registry, catalog, error);
  for (guint i = 0; scenario != NULL && changes != NULL && changes[i] != NULL; i++)
    if (!fab_scenario_assign (scenario, changes[i], error))
      return FALSE;
  if (scenario == NULL || !fab_scenario_check (scenario, error) || !play (scenario, registry, job, error))
    return FALSE;
  job->kind = kind_of (scenario);
  job->published_s = spec->step_s > 0 ? spec->step_s
                   : spec->tokens_s_gpu > 0
                       ? job->tokens_per_step / ((double) spec->gpus * spec->tokens_s_gpu)
                       : 0;
  return TRUE;
}

static void
clear_job (gpointer data)
{
  g_free (((FabPublicJob *) data)->kind);
}

GArray *
fab_public_jobs_play (const FabPublicJobs *self, const GPtrArray *specs, const FabCatalog *catalog,
                      const FabRegistry *registry, GError **error)
{
  g_autoptr (GArray) jobs = g_array_new (FALSE, FALSE, sizeof (FabPublicJob));

  g_array_set_clear_func (jobs, clear_job);
  for (guint i = 0; i < specs->len; i++) {
    const FabPublicJobSpec *spec = g_ptr_array_index (specs, i);
    FabPublicJob job;

    if (!play_row (self, spec, catalog, registry, &job, error)) {
      g_prefix_error (error, "%s: ", spec->name);
      return NULL;
    }
    g_array_append_val (jobs, job);
  }
  return g_steal_pointer (&jobs);
}
