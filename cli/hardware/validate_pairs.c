/* SPDX-License-Identifier: Apache-2.0 */
/* validate_pairs.c - `fabricast validate pairs`: how far off the ratio of two predictions may be. */
#include "cli/files.h"
#include "cli/hardware/validate.h"
#include "models/models.h"
#include "validate/bands/pairs.h"

typedef char *(*ToTextFn) (const FabPairs *self);

/* Everything that pairs are made of. */
typedef struct {
  FabCatalog *catalog;
  FabMeasured *measured;
  FabTrainingSources *sources;
  FabReport *report, *left_out;
  FabTrainingEnv env;
  FabTrainingReport *training;
  FabPairs *pairs;
} Known;

static void
known_clear (Known *self)
{
  fab_pairs_free (self->pairs);
  fab_training_report_free (self->training);
  fab_report_free (self->left_out);
  fab_report_free (self->report);
  fab_training_sources_free (self->sources);
  fab_measured_free (self->measured);
  fab_catalog_free (self->catalog);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Known, known_clear)

/* Tables, and in the folder `training` runs. */
static gboolean
load (Known *self, const FabValidateOptions *o, GError **error)
{
  g_autofree char *path = fab_validate_path (o->data_path, "measured", error);
  g_autofree char *runs = path ? g_build_filename (path, "training", NULL) : NULL;

  self->catalog = path ? fab_cli_catalog (error) : NULL;
  self->measured = self->catalog ? fab_measured_load (path, self->catalog, &fab_models, error) : NULL;
  self->sources = self->measured ? fab_training_sources_load (runs, &fab_models, error) : NULL;
  return self->sources != NULL;
}

static gboolean
predict_runs (Known *self, GError **error)
{
  g_autoptr (GPtrArray) sources = g_ptr_array_new ();

  for (guint i = 0; i < fab_training_sources_n (self->sources); i++)
    g_ptr_array_add (sources, (gpointer) fab_training_sources_get (self->sources, i));
  self->env = (FabTrainingEnv){ self->catalog, &fab_models, NULL, FALSE, FALSE };
  self->training = fab_training_report_new (sources, &self->env, error);
  return self->training != NULL;
}

static gboolean
play (const FabValidateOptions *o, G_GNUC_UNUSED char **names, G_GNUC_UNUSED guint n,
      FabValidateAnswer *answer, GError **error)
{
  static const ToTextFn printers[] = { [FAB_FORMAT_TEXT] = fab_pairs_to_text,
                                       [FAB_FORMAT_JSON] = fab_pairs_to_json,
                                       [FAB_FORMAT_CSV] = fab_pairs_to_csv,
                                       [FAB_FORMAT_MARKDOWN] = fab_pairs_to_markdown };
  g_auto (Known) known = { NULL };

  if (!load (&known, o, error)
      || !fab_validate_predict (known.catalog, known.measured, &known.report, &known.left_out, error)
      || !predict_runs (&known, error))
    return FALSE;
  known.pairs = fab_pairs_new (known.report, known.left_out, known.training, known.catalog);
  g_autofree char *file = fab_pairs_to_yaml (known.pairs);
  if (o->entries_path != NULL && !fab_cli_write_file (o->entries_path, file, error))
    return FALSE;
  answer->page = printers[o->format](known.pairs);
  return TRUE;
}

const FabValidateKind fab_validate_pairs = {
  .name = "pairs",
  .usage = {
  .arguments = "",
  .summary =
      "Compares measured ratios of two times with predicted ones, for published rows that differ in one thing: the\n"
      "links, the number of nodes, the operation, the model, the accelerator and so on. It shows how often the band\n"
      "of a ratio contains the measured ratio when it is made without the family of links or the publication, and\n"
      "how wide it is beside two times at opposite ends of their own bands.",
  .examples = "  fabricast validate pairs\n"
              "  fabricast validate pairs --format markdown --entries models/catalog/pairs.yaml\n",
},
  .options = { { "format" },
               { "entries", "Also write the catalogue file of these bands here" },
               { "measured",
                 "Directory with INDEX.yaml and tables, and runs in `training` (default: the shipped ones)" } },
  .play = play,
};
