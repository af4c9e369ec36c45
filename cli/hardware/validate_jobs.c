/* SPDX-License-Identifier: Apache-2.0 */
/* validate_jobs.c - `fabricast validate jobs`: public configurations and the step of each beside the published one. */
#include "cli/hardware/validate.h"
#include "models/models.h"
#include "validate/jobs/jobs.h"

typedef char *(*ToTextFn) (const GArray *jobs);

static gconstpointer
get_job (gconstpointer jobs, guint index)
{
  return fab_public_jobs_get (jobs, index);
}

static gconstpointer
find_job (gconstpointer jobs, const char *name, GError **error)
{
  return fab_public_jobs_find (jobs, name, error);
}

static gboolean
play (const FabValidateOptions *o, char **names, guint n, FabValidateAnswer *answer, GError **error)
{
  static const ToTextFn printers[] = { [FAB_FORMAT_TEXT] = fab_public_jobs_to_text,
                                       [FAB_FORMAT_JSON] = fab_public_jobs_to_json,
                                       [FAB_FORMAT_CSV] = fab_public_jobs_to_csv,
                                       [FAB_FORMAT_MARKDOWN] = fab_public_jobs_to_markdown };
  g_autoptr (FabCatalog) catalog = fab_cli_catalog (error);
  g_autofree char *directory = catalog != NULL ? fab_validate_path (o->data_path, "measured/jobs", error)
                                               : NULL;
  g_autoptr (FabPublicJobs) jobs = directory != NULL ? fab_public_jobs_load (directory, &fab_models, error)
                                                     : NULL;

  if (jobs == NULL)
    return FALSE;
  const FabValidateChoice choice = { jobs, fab_public_jobs_n (jobs), get_job, find_job };
  g_autoptr (GPtrArray) chosen = fab_validate_choose (&choice, names, n, error);
  g_autoptr (GArray) played = chosen != NULL
                                ? fab_public_jobs_play (jobs, chosen, catalog, &fab_models, error)
                                : NULL;
  if (played == NULL)
    return FALSE;
  answer->page = printers[o->format](played);
  return TRUE;
}

const FabValidateKind fab_validate_jobs = {
  .name = "jobs",
  .usage = {
  .arguments = "[CONFIGURATION...]",
  .summary =
    "Reads public configurations of training programs as `import job` does, plays each on the machine of its\n"
    "published run, and shows the step beside the published one.",
  .examples = "  fabricast validate jobs\n"
              "  fabricast validate jobs torchtitan-llama3-8b --format json\n"
              "  fabricast validate jobs --format markdown > docs/reference/validation-jobs.md\n",
  .max_rest = 1000,
},
  .options = { { "format", NULL },
               { "measured", "Directory with INDEX.yaml and configurations (default: the shipped ones)" } },
  .play = play,
};
