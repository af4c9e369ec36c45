/* SPDX-License-Identifier: Apache-2.0 */
/* validate_training.c - `fabricast validate training`: whole training steps instead of collectives. */
#include "cli/files.h"
#include "cli/hardware/validate.h"
#include "models/models.h"
#include "sim/base/error.h"
#include "validate/setups/setups.h"
#include "validate/training/print.h"

typedef char *(*ToTextFn) (const FabTrainingView *view);

static gconstpointer
get_source (gconstpointer sources, guint index)
{
  return fab_training_sources_get (sources, index);
}

static gconstpointer
find_source (gconstpointer sources, const char *name, GError **error)
{
  return fab_training_sources_find (sources, name, error);
}

static FabTrainingSources *
load_sources (const FabValidateOptions *o, const char *shipped, GError **error)
{
  g_autofree char *path = fab_validate_path (o->data_path, shipped, error);

  return path ? fab_training_sources_load (path, &fab_models, error) : NULL;
}

static FabLimits *
load_limits (const FabValidateOptions *o, const FabTrainingSources *sources, GError **error)
{
  g_autofree char *path = fab_validate_path (o->accept_path, "accept-training.yaml", error);

  return path ? fab_training_limits_load (path, sources, &fab_models, error) : NULL;
}

/* (transfer container) */
static GPtrArray *
choose_sources (const FabTrainingSources *sources, char **names, guint n, GError **error)
{
  const FabValidateChoice choice = { sources, fab_training_sources_n (sources), get_source, find_source };

  return fab_validate_choose (&choice, names, n, error);
}

static gboolean
play (const FabValidateOptions *o, char **names, guint n, FabValidateAnswer *answer, GError **error)
{
  static const ToTextFn printers[] = { [FAB_FORMAT_TEXT] = fab_training_to_text,
                                       [FAB_FORMAT_JSON] = fab_training_to_json,
                                       [FAB_FORMAT_CSV] = fab_training_to_csv,
                                       [FAB_FORMAT_MARKDOWN] = fab_training_to_markdown };
  g_autoptr (FabCatalog) catalog = fab_cli_catalog (error);
  g_autoptr (FabTrainingSources) sources = catalog ? load_sources (o, "measured/training", error) : NULL;
  g_autoptr (FabLimits) limits = NULL;
  g_autoptr (GPtrArray) chosen = NULL;
  g_autoptr (FabTrainingReport) report = NULL;

  if (sources == NULL || (fab_validate_has_limits (o) && (limits = load_limits (o, sources, error)) == NULL)
      || (chosen = choose_sources (sources, names, n, error)) == NULL)
    return FALSE;
  report = fab_training_report_new (
      chosen, &(FabTrainingEnv){ catalog, &fab_models, (const char *const *) o->sets, o->plays_all, FALSE },
      error);
  if (report == NULL)
    return FALSE;
  answer->page = printers[o->format](&(FabTrainingView){ report, limits, o->is_summary });
  answer->exceeded = limits ? fab_training_report_exceeded (report, limits) : NULL;
  return TRUE;
}

const FabValidateKind fab_validate_training = {
  .name = "training",
  .usage = {
  .arguments = "[SOURCE...]",
  .summary =
      "Predicts published training runs and shows the errors of their step times. Rows of one GPU or node fix the\n"
      "compute efficiency of a GPU, model and micro-batch; all other rows are predicted with it.\n"
      "Exits with 1 when the median error of a source or its number of wrong directions exceeds its limit.",
  .examples = "  fabricast validate training --summary\n"
              "  fabricast validate training hf-playbook\n"
              "  fabricast validate training --format markdown > docs/reference/validation-training.md\n",
  .max_rest = 1000,
},
  .options = { { "format" },
               { "summary", "Print only the errors, not every row" },
               { "all", "Use every row of large sources, not an even sample" },
               { "accept", "Accepted errors (default: the shipped accept-training.yaml)" },
               { "measured", "Directory with INDEX.yaml, tables and scenarios (default: the shipped ones)" },
               { "set" } },
  .play = play,
};

/* --- sources of a directory, with what they need --- */

typedef struct {
  FabCatalog *catalog;
  FabTrainingSources *sources;
  FabTrainingEnv env;
  FabTrainingReport *report;
} Whole;

static void
whole_clear (Whole *self)
{
  fab_training_report_free (self->report);
  fab_training_sources_free (self->sources);
  fab_catalog_free (self->catalog);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Whole, whole_clear)

static gboolean
whole_play (Whole *self, const FabValidateOptions *o, const char *shipped, char **names, guint n,
            GError **error)
{
  g_autoptr (GPtrArray) chosen = NULL;

  self->catalog = fab_cli_catalog (error);
  self->sources = self->catalog ? load_sources (o, shipped, error) : NULL;
  chosen = self->sources ? choose_sources (self->sources, names, n, error) : NULL;
  if (chosen == NULL)
    return FALSE;
  self->env = (FabTrainingEnv){ self->catalog, &fab_models, NULL, FALSE, FALSE };
  self->report = fab_training_report_new (chosen, &self->env, error);
  return self->report != NULL;
}

/* --- setups --- */

/* The page of the predictions that the fit begins with, and which of their errors are too large. */
static gboolean
write_training_page (const Whole *whole, const FabValidateOptions *o, FabValidateAnswer *answer,
                     GError **error)
{
  g_autoptr (FabLimits) limits = fab_validate_has_limits (o) ? load_limits (o, whole->sources, error) : NULL;
  g_autofree char *page = NULL;

  if (limits == NULL && fab_validate_has_limits (o))
    return FALSE;
  page = fab_training_to_markdown (&(FabTrainingView){ whole->report, limits, FALSE });
  answer->exceeded = limits ? fab_training_report_exceeded (whole->report, limits) : NULL;
  return fab_cli_write_file (o->training_path, page, error);
}

static gboolean
play_setups (const FabValidateOptions *o, char **names, guint n, FabValidateAnswer *answer, GError **error)
{
  if (o->format == FAB_FORMAT_JSON || o->format == FAB_FORMAT_CSV)
    return fab_throw (error, FAB_ERROR_INPUT,
                      "--format must be text (the catalogue's file) or markdown (its tables)");
  g_auto (Whole) whole = { NULL };

  if (!whole_play (&whole, o, "measured/training", names, n, error))
    return FALSE;
  if (o->training_path != NULL && !write_training_page (&whole, o, answer, error))
    return FALSE;
  g_autoptr (FabSetups) setups = fab_setups_new (whole.report, &whole.env);
  g_autofree char *file = fab_setups_to_yaml (setups);
  if (o->entries_path != NULL && !fab_cli_write_file (o->entries_path, file, error))
    return FALSE;
  answer->page = o->format == FAB_FORMAT_MARKDOWN ? fab_setups_to_markdown (setups) : g_steal_pointer (&file);
  return TRUE;
}

const FabValidateKind fab_validate_setups = {
  .name = "setups",
  .usage = {
  .arguments = "[SOURCE...]",
  .max_rest = 1000,
  .summary =
      "Writes the catalogue file of setups: what published runs take beyond what is priced by name, and the bands\n"
      "of all and of each software stack. They are fitted to the measured training runs that calibrate, of the\n"
      "named sources or of all.",
  .examples = "  fabricast validate setups > models/catalog/setups.yaml\n"
              "  fabricast validate setups --format markdown\n",
},
  .options = { { "format",
                 "text (default): the file; markdown: errors of sources that are left out of the fit" },
               { "entries", "Also write the catalogue file here" },
               { "training", "Also write the page of 'fabricast validate training' here; exits as it does" },
               { "measured", "Directory with INDEX.yaml, tables and scenarios (default: the shipped ones)" } },
  .play = play_setups,
};

/* --- published projections --- */

static gboolean
play_published (const FabValidateOptions *o, char **names, guint n, FabValidateAnswer *answer, GError **error)
{
  g_auto (Whole) whole = { NULL };

  if (o->format != FAB_FORMAT_MARKDOWN && o->format != FAB_FORMAT_TEXT)
    return fab_throw (error, FAB_ERROR_INPUT, "--format must be markdown, or text, which prints the same");
  if (!whole_play (&whole, o, "measured/published", names, n, error))
    return FALSE;
  answer->page = fab_training_published_to_markdown (whole.report);
  return TRUE;
}

const FabValidateKind fab_validate_published = {
  .name = "published",
  .usage = {
  .arguments = "",
  .summary =
      "Predicts training runs for which other projections are published, with the catalogue alone, and prints our\n"
      "error beside theirs.",
  .examples = "  fabricast validate published --format markdown > docs/reference/published.md\n",
},
  .options = { { "format", "text (default) or markdown: the page" },
               { "measured", "Directory with INDEX.yaml, tables and scenarios (default: the shipped ones)" } },
  .play = play_published,
};
