/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_explain.c - `fabricast explain SCENARIO [FIGURE]`: why this number. */
#include "cli/best.h"
#include "cli/cli.h"
#include "cli/explain.h"
#include "models/models.h"
#include "sim/base/error.h"

typedef struct {
  char *format_name, *collective;
  char **sets;
  FabFormat format;
} ExplainOptions;

static const FabUsage usage = {
  .arguments = "SCENARIO [FIGURE]",
  .summary =
      "Says why a figure is what it is: its formula, the numbers in it and where they come from, down to the lanes of\n"
      "the link that binds. Every line can be computed again with a pocket calculator. FIGURE: step (default),\n"
      "exposed, exposed_time, mfu, tokens, train, memory, hour_cost, step_cost, token_cost.",
  .examples = "  fabricast explain scenarios/hello.yaml\n"
              "  fabricast explain scenarios/ddp-2b-4nodes-200g.yaml memory\n"
              "  fabricast explain scenarios/zero3-13b-slow-fabric.yaml --collective largest\n",
  .min_rest = 1,
  .max_rest = 2,
};

static FabExplanation *
find (const ExplainOptions *o, const FabStudy *study, const char *name, GError **error)
{
  const FabFigure *figure = fab_figure_find (name ? name : "step");

  if (o->collective != NULL && name != NULL) {
    fab_throw (error, FAB_ERROR_INPUT, "either a figure or --collective, not both");
    return NULL;
  }
  if (o->collective != NULL)
    return fab_explain_collective (study, o->collective, error);
  if (figure != NULL)
    return fab_explain_figure (study, figure, error);
  g_autofree char *names = fab_figure_names ();
  fab_throw (error, FAB_ERROR_INPUT, "there is no figure '%s'; these are: %s", name, names);
  return NULL;
}

static gboolean
explain (const ExplainOptions *o, const char *path, const char *name, GError **error)
{
  typedef char *(*ToTextFn) (const char *title, const FabExplanation *explanation);
  static const ToTextFn printers[] = { [FAB_FORMAT_TEXT] = fab_explain_text,
                                       [FAB_FORMAT_JSON] = fab_explain_json,
                                       [FAB_FORMAT_CSV] = fab_explain_csv };
  g_autoptr (FabCatalog) catalog = fab_cli_catalog (error);
  g_autoptr (FabStudy) study = fab_cli_study (path, o->sets, catalog, error);
  g_autoptr (FabExplanation) found = study ? find (o, study, name, error) : NULL;
  g_autofree char *title = found ? fab_best_title (study, error) : NULL;

  if (title == NULL)
    return FALSE;
  g_autofree char *text = printers[o->format](title, found);
  g_print ("%s", text);
  return TRUE;
}

static FabExit
run (int argc, char **argv)
{
  ExplainOptions o = { 0 };
  const GOptionEntry entries[] = {
    { "collective", 0, 0, G_OPTION_ARG_STRING, &o.collective,
      "One collective of the last iteration by its name, or `largest`", "NAME" },
    { "set", 0, 0, G_OPTION_ARG_STRING_ARRAY, &o.sets, "Override any key of the scenario; repeatable",
      "KEY=VALUE" },
    { "format", 0, 0, G_OPTION_ARG_STRING, &o.format_name, "text (default), json or csv", "FORMAT" },
    G_OPTION_ENTRY_NULL
  };
  g_autoptr (GError) error = NULL;
  gboolean is_done = fab_cli_parse (&usage, entries, &argc, &argv, &error)
                  && fab_cli_format (o.format_name, &o.format, &error)
                  && explain (&o, argv[1], argc > 2 ? argv[2] : NULL, &error);

  g_free (o.format_name);
  g_free (o.collective);
  g_strfreev (o.sets);
  return is_done ? FAB_EXIT_DONE : fab_cli_fail ("explain", error);
}

const FabCommand fab_command_explain = {
  .name = "explain",
  .summary = "Say why a figure is what it is: formulas, numbers, sources",
  .run = run,
};
