/* SPDX-License-Identifier: Apache-2.0 */
/* validate_bands.c - `fabricast validate bands`: how far off predictions of collectives may be, by family. */
#include "cli/hardware/validate.h"
#include "models/models.h"
#include "sim/base/error.h"
#include "validate/bands/bands.h"

FabMeasured *
fab_validate_measured (const FabValidateOptions *o, const FabCatalog *catalog, GError **error)
{
  g_autofree char *path = fab_validate_path (o->data_path, "measured", error);

  return path ? fab_measured_load (path, catalog, &fab_models, error) : NULL;
}

gboolean
fab_validate_predict (const FabCatalog *catalog, const FabMeasured *measured, FabReport **report,
                      FabReport **left_out, GError **error)
{
  g_autoptr (GPtrArray) tables = g_ptr_array_new ();
  g_autofree char *path = fab_validate_path (NULL, "left-out.yaml", error);
  g_autoptr (FabLeftOut) families = path ? fab_left_out_load (path, catalog, measured, &fab_models, error)
                                         : NULL;

  if (families == NULL)
    return FALSE;
  for (guint i = 0; i < fab_measured_n_tables (measured); i++)
    g_ptr_array_add (tables, (gpointer) fab_measured_table (measured, i));
  *report = fab_report_new (tables, NULL, catalog, &fab_models, error);
  *left_out = *report ? fab_left_out_report (families, tables, &fab_models, error) : NULL;
  return *left_out != NULL;
}

/* Everything that the two kinds below need: predictions as they are, and each family left out. */
typedef struct {
  FabCatalog *catalog;
  FabMeasured *measured;
  FabReport *report, *left_out;
  FabBands *bands;
} Known;

static void
known_clear (Known *self)
{
  fab_bands_free (self->bands);
  fab_report_free (self->left_out);
  fab_report_free (self->report);
  fab_measured_free (self->measured);
  fab_catalog_free (self->catalog);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Known, known_clear)

static gboolean
find (Known *self, const FabValidateOptions *o, GError **error)
{
  self->catalog = fab_cli_catalog (error);
  self->measured = self->catalog ? fab_validate_measured (o, self->catalog, error) : NULL;
  if (self->measured == NULL
      || !fab_validate_predict (self->catalog, self->measured, &self->report, &self->left_out, error))
    return FALSE;
  self->bands = fab_bands_new (self->report, self->left_out, self->catalog);
  return TRUE;
}

static gboolean
play_bands (const FabValidateOptions *o, G_GNUC_UNUSED char **names, G_GNUC_UNUSED guint n,
            FabValidateAnswer *answer, GError **error)
{
  g_auto (Known) known = { NULL };

  if (o->format == FAB_FORMAT_JSON || o->format == FAB_FORMAT_CSV)
    return fab_throw (error, FAB_ERROR_INPUT,
                      "--format must be text (the catalogue's file) or markdown (its tables)");
  if (!find (&known, o, error))
    return FALSE;
  answer->page = o->format == FAB_FORMAT_MARKDOWN ? fab_bands_to_markdown (known.bands)
                                                  : fab_bands_to_yaml (known.bands);
  return TRUE;
}

static gboolean
play_accuracy (const FabValidateOptions *o, G_GNUC_UNUSED char **names, G_GNUC_UNUSED guint n,
               FabValidateAnswer *answer, GError **error)
{
  g_auto (Known) known = { NULL };

  if (!find (&known, o, error))
    return FALSE;
  answer->page = fab_bands_accuracy (known.bands, known.report, known.left_out);
  return TRUE;
}

const FabValidateKind fab_validate_bands = {
  .name = "bands",
  .usage = {
  .arguments = "",
  .summary =
      "Writes the catalogue file of bands: how far predictions of collectives are from measurements, by family of\n"
      "links, operations and size. The band of every figure rests on it.",
  .examples = "  fabricast validate bands > models/catalog/bands.yaml\n"
              "  fabricast validate bands --format markdown\n",
},
  .options = { { "format", "text (default): the file; markdown: how often bands contain families that are "
                           "left out" },
               { "measured", "Directory with INDEX.yaml and tables (default: the shipped ones)" } },
  .play = play_bands,
};

const FabValidateKind fab_validate_accuracy = {
  .name = "accuracy",
  .usage = {
  .arguments = "",
  .summary =
      "Prints the errors of predicted collectives as one table in Markdown: the median over tables of their median\n"
      "errors, for judged tables and for families left out, and how often a band of 90 % contains the measurement.",
  .examples = "  fabricast validate accuracy\n",
},
  .options = { { "measured", "Directory with INDEX.yaml and tables (default: the shipped ones)" } },
  .play = play_accuracy,
};
