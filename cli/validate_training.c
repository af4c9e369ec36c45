/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/validate_training.h"

#include "models/models.h"
#include "sim/base/error.h"
#include "validate/training/print.h"

typedef struct {
  char *format_name, *accept_path, *measured_path;
  char **sets;
  gboolean is_summary;
} Options;

static const FabUsage usage = {
  .arguments = "[SOURCE...]",
  .summary =
      "Predicts published training runs and shows how far off the step times are. The compute efficiency of a GPU,\n"
      "model and micro-batch is fixed by rows of one GPU or node; all others are predicted with it.\n"
      "Exits with 1 when the median error of a source or its wrong directions exceed what is accepted.",
  .examples = "  fabricast validate training --summary\n"
              "  fabricast validate training hf-playbook\n"
              "  fabricast validate training --format markdown > docs/validation-training.md\n",
  .max_rest = 1000,
};

typedef char *(*ToTextFn) (const FabTrainingView *view);

static gboolean
find_printer (const char *name, ToTextFn *to_text, GError **error)
{
  static const ToTextFn printers[] = { [FAB_FORMAT_TEXT] = fab_training_to_text,
                                       [FAB_FORMAT_JSON] = fab_training_to_json,
                                       [FAB_FORMAT_CSV] = fab_training_to_csv,
                                       [FAB_FORMAT_MARKDOWN] = fab_training_to_markdown };
  FabFormat format;

  if (!fab_cli_page_format (name, &format, error))
    return FALSE;
  *to_text = printers[format];
  return TRUE;
}

static FabTrainingSources *
load_sources (const Options *o, GError **error)
{
  g_autofree char *shipped = o->measured_path ? NULL : fab_cli_data_path ("measured/training", error);
  const char *path = o->measured_path ? o->measured_path : shipped;

  return path ? fab_training_sources_load (path, &fab_models, error) : NULL;
}

/* *accept stays NULL for somebody's own measurements without --accept. */
static gboolean
load_accept (const Options *o, const FabTrainingSources *sources, FabTrainingAccept **accept, GError **error)
{
  g_autofree char *path = g_strdup (o->accept_path);

  if (path == NULL && o->measured_path)
    return TRUE;
  if (path == NULL)
    path = fab_cli_data_path ("accept-training.yaml", error);
  if (path)
    *accept = fab_training_accept_load (path, sources, &fab_models, error);
  return *accept != NULL;
}

/* The named sources, or all. (transfer full) */
static GPtrArray *
choose_sources (const FabTrainingSources *sources, char **names, guint n, GError **error)
{
  g_autoptr (GPtrArray) chosen = g_ptr_array_new ();

  for (guint i = 0; i < n; i++) {
    const FabTrainingSource *source = fab_training_sources_find (sources, names[i], error);

    if (source == NULL)
      return NULL;
    if (!g_ptr_array_find (chosen, source, NULL))
      g_ptr_array_add (chosen, (gpointer) source);
  }
  for (guint i = 0; n == 0 && i < fab_training_sources_n (sources); i++)
    g_ptr_array_add (chosen, (gpointer) fab_training_sources_get (sources, i));
  return g_steal_pointer (&chosen);
}

static FabExit
judge (const FabTrainingAccept *accept, const FabTrainingReport *report)
{
  g_auto (GStrv) lines = accept ? fab_training_accept_exceeded (accept, report) : NULL;

  for (guint i = 0; lines && lines[i]; i++)
    g_printerr ("fabricast validate training: %s\n", lines[i]);
  return lines && lines[0] ? FAB_EXIT_UNMET : FAB_EXIT_DONE;
}

static gboolean
validate (const Options *o, char **names, guint n_names, FabExit *exit_code, GError **error)
{
  ToTextFn to_text;
  g_autoptr (FabCatalog) catalog = find_printer (o->format_name, &to_text, error) ? fab_cli_catalog (error)
                                                                                  : NULL;
  g_autoptr (FabTrainingSources) sources = catalog ? load_sources (o, error) : NULL;
  g_autoptr (FabTrainingAccept) accept = NULL;
  g_autoptr (GPtrArray) chosen = NULL;
  g_autoptr (FabTrainingReport) report = NULL;
  FabTrainingEnv env = { catalog, &fab_models, (const char *const *) o->sets };

  if (sources == NULL || !load_accept (o, sources, &accept, error)
      || (chosen = choose_sources (sources, names, n_names, error)) == NULL)
    return FALSE;
  report = fab_training_report_new (chosen, &env, error);
  if (report == NULL)
    return FALSE;
  g_autofree char *text = to_text (&(FabTrainingView){ report, accept, o->is_summary });
  g_print ("%s", text);
  *exit_code = judge (accept, report);
  return TRUE;
}

FabExit
fab_cli_validate_training (int argc, char **argv)
{
  Options o = { 0 };
  const GOptionEntry entries[] = {
    { "format", 0, 0, G_OPTION_ARG_STRING, &o.format_name, "text (default), json, csv or markdown",
      "FORMAT" },
    { "summary", 0, 0, G_OPTION_ARG_NONE, &o.is_summary, "Only the errors, not every row", NULL },
    { "accept", 0, 0, G_OPTION_ARG_FILENAME, &o.accept_path,
      "Accepted errors (default: the shipped accept-training.yaml)", "FILE" },
    { "measured", 0, 0, G_OPTION_ARG_FILENAME, &o.measured_path,
      "Directory with INDEX.yaml, tables and scenarios (default: the shipped ones)", "DIR" },
    { "set", 0, 0, G_OPTION_ARG_STRING_ARRAY, &o.sets,
      "Override a key of every scenario behind it; repeatable", "KEY=VALUE" },
    G_OPTION_ENTRY_NULL
  };
  g_autoptr (GError) error = NULL;
  FabExit exit_code = FAB_EXIT_DONE;
  gboolean is_done = fab_cli_parse (&usage, entries, &argc, &argv, &error)
                  && validate (&o, argv + 1, (guint) argc - 1, &exit_code, &error);

  g_free (o.format_name);
  g_free (o.accept_path);
  g_free (o.measured_path);
  g_strfreev (o.sets);
  return is_done ? exit_code : fab_cli_fail ("validate training", error);
}
