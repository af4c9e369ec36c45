/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_validate.c - `fabricast validate`: predictions held against what was measured, and fidelities against each
 * other.
 */
#include <string.h>

#include "cli/files.h"
#include "cli/hardware/validate.h"
#include "cli/shipped.h"
#include "sim/base/error.h"

static const FabValidateKind *const kinds[] = {
  &fab_validate_collectives, &fab_validate_training,  &fab_validate_fidelity, &fab_validate_links,
  &fab_validate_calibrated,  &fab_validate_bands,     &fab_validate_accuracy, &fab_validate_experts,
  &fab_validate_setups,      &fab_validate_published, &fab_validate_pairs,    &fab_validate_memory,
  &fab_validate_kernels,     &fab_validate_bills,     &fab_validate_jobs,     &fab_validate_congestion
};

/* --- options --- */

static const struct {
  const char *name;
  GOptionArg arg;
  gsize offset;
  const char *value, *help;
} known[] = {
  { "format", G_OPTION_ARG_STRING, G_STRUCT_OFFSET (FabValidateOptions, format_name), "FORMAT",
    "text (default), json, csv or markdown" },
  { "summary", G_OPTION_ARG_NONE, G_STRUCT_OFFSET (FabValidateOptions, is_summary), NULL, NULL },
  { "all", G_OPTION_ARG_NONE, G_STRUCT_OFFSET (FabValidateOptions, plays_all), NULL, NULL },
  { "accept", G_OPTION_ARG_FILENAME, G_STRUCT_OFFSET (FabValidateOptions, accept_path), "FILE", NULL },
  { "measured", G_OPTION_ARG_FILENAME, G_STRUCT_OFFSET (FabValidateOptions, data_path), "DIR", NULL },
  { "cases", G_OPTION_ARG_FILENAME, G_STRUCT_OFFSET (FabValidateOptions, data_path), "DIR", NULL },
  { "entries", G_OPTION_ARG_FILENAME, G_STRUCT_OFFSET (FabValidateOptions, entries_path), "FILE", NULL },
  { "training", G_OPTION_ARG_FILENAME, G_STRUCT_OFFSET (FabValidateOptions, training_path), "FILE", NULL },
  { "fidelity", G_OPTION_ARG_STRING, G_STRUCT_OFFSET (FabValidateOptions, fidelity), "NAMES", NULL },
  { "link", G_OPTION_ARG_STRING, G_STRUCT_OFFSET (FabValidateOptions, link), "NAME", NULL },
  { "set", G_OPTION_ARG_STRING_ARRAY, G_STRUCT_OFFSET (FabValidateOptions, sets), "KEY=VALUE",
    "Override a key of every scenario behind it; repeatable" },
  { "with", G_OPTION_ARG_FILENAME_ARRAY, G_STRUCT_OFFSET (FabValidateOptions, with), "FILE", NULL },
};

/* (transfer full) */
static GArray *
make_entries (const FabValidateKind *kind, FabValidateOptions *o)
{
  const GOptionEntry of_fits[] = { FAB_FIT_OPTION_ENTRIES (&o->fit) };
  GArray *entries = g_array_new (TRUE, FALSE, sizeof (GOptionEntry));

  for (const FabValidateOption *option = kind->options; option->name; option++) {
    guint i = 0;

    while (strcmp (known[i].name, option->name) != 0)
      i++;
    g_array_append_val (entries, ((GOptionEntry){ .long_name = option->name,
                                                  .arg = known[i].arg,
                                                  .arg_data = G_STRUCT_MEMBER_P (o, known[i].offset),
                                                  .description = option->help ? option->help : known[i].help,
                                                  .arg_description = known[i].value }));
  }
  if (kind->has_fit_options)
    g_array_append_vals (entries, of_fits, G_N_ELEMENTS (of_fits));
  return entries;
}

static void
options_clear (FabValidateOptions *o)
{
  for (guint i = 0; i < G_N_ELEMENTS (known); i++) {
    gpointer field = G_STRUCT_MEMBER_P (o, known[i].offset);

    if (known[i].arg == G_OPTION_ARG_STRING || known[i].arg == G_OPTION_ARG_FILENAME)
      g_clear_pointer ((char **) field, g_free);
    else if (known[i].arg != G_OPTION_ARG_NONE)
      g_clear_pointer ((char ***) field, g_strfreev);
  }
  fab_fit_options_clear (&o->fit);
}

/* --- what kinds share --- */

char *
fab_validate_path (const char *path, const char *shipped, GError **error)
{
  return path ? g_strdup (path) : fab_cli_data_path (shipped, error);
}

gboolean
fab_validate_has_limits (const FabValidateOptions *o)
{
  return o->accept_path || !o->data_path;
}

GPtrArray *
fab_validate_choose (const FabValidateChoice *choice, char **names, guint n, GError **error)
{
  g_autoptr (GPtrArray) chosen = g_ptr_array_new ();

  for (guint i = 0; i < n; i++) {
    gconstpointer found = choice->find (choice->owner, names[i], error);

    if (found == NULL)
      return NULL;
    if (!g_ptr_array_find (chosen, found, NULL))
      g_ptr_array_add (chosen, (gpointer) found);
  }
  for (guint i = 0; n == 0 && i < choice->n; i++)
    g_ptr_array_add (chosen, (gpointer) choice->get (choice->owner, i));
  return g_steal_pointer (&chosen);
}

/* --- running --- */

static FabExit
show (const char *title, FabFormat format, const FabValidateAnswer *answer)
{
  fab_cli_print (format, answer->page);
  for (guint i = 0; answer->exceeded && answer->exceeded[i]; i++)
    g_printerr ("fabricast %s: %s\n", title, answer->exceeded[i]);
  return answer->exceeded && answer->exceeded[0] ? FAB_EXIT_UNMET : FAB_EXIT_DONE;
}

static FabExit
run_kind (const FabValidateKind *kind, const char *title, int argc, char **argv)
{
  FabValidateOptions o = { .fit = FAB_FIT_OPTIONS_DEFAULT };
  g_autoptr (GArray) entries = make_entries (kind, &o);
  FabValidateAnswer answer = { 0 };
  g_autoptr (GError) error = NULL;
  gboolean is_done = fab_cli_parse (&kind->usage, (const GOptionEntry *) (gpointer) entries->data, &argc,
                                    &argv, &error)
                  && fab_cli_page_format (o.format_name, &o.format, &error)
                  && fab_cli_check_out ("--entries", o.entries_path, o.with, &error)
                  && fab_cli_check_out ("--training", o.training_path, o.with, &error)
                  && kind->play (&o, argv + 1, (guint) argc - 1, &answer, &error);
  FabExit exit_code = is_done ? show (title, o.format, &answer) : fab_cli_fail (title, error);

  g_free (answer.page);
  g_strfreev (answer.exceeded);
  options_clear (&o);
  return exit_code;
}

static FabExit
run (int argc, char **argv)
{
  for (guint i = 1; argc > 1 && i < G_N_ELEMENTS (kinds); i++)
    if (strcmp (argv[1], kinds[i]->name) == 0) {
      g_autofree char *title = g_strconcat ("validate ", kinds[i]->name, NULL);

      argv[1] = title; /* what messages call it */
      return run_kind (kinds[i], title, argc - 1, argv + 1);
    }
  return run_kind (kinds[0], "validate", argc, argv);
}

const FabCommand fab_command_validate = {
  .name = "validate",
  .summary = "Compare predictions with published measurements",
  .run = run,
};
