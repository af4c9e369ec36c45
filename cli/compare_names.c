/* SPDX-License-Identifier: Apache-2.0 */
/* compare_names.c - the fidelities that are asked for by name. */
#include "cli/cli.h"
#include "cli/compare.h"
#include "models/models.h"

void
fab_compare_note_unknown (const char *command, const char *option, const char *name, GString *mistakes)
{
  g_autofree const char **known = fab_registry_names (&fab_models, FAB_MODEL_NET);
  const char *nearest = fab_nearest (name, (const char *const *) known);
  g_autofree char *all = g_strjoinv (", ", (char **) known);

  g_string_append_printf (mistakes, "fabricast %s: %s: unknown fidelity '%s'; ", command, option, name);
  g_string_append_printf (mistakes, nearest ? "nearest is '%s'\n" : "there are %s\n",
                          nearest ? nearest : all);
}

char **
fab_compare_fidelities (const char *command, const char *list, GString *mistakes)
{
  g_autofree const char **known = fab_registry_names (&fab_models, FAB_MODEL_NET);
  g_auto (GStrv) words = list ? g_strsplit (list, ",", -1) : g_strdupv ((char **) known);
  GPtrArray *names = g_ptr_array_new ();

  for (guint i = 0; words[i]; i++) {
    const char *word = g_strstrip (words[i]);

    if (!g_strv_contains ((const char *const *) known, word))
      fab_compare_note_unknown (command, "--fidelity", word, mistakes);
    else if (g_ptr_array_find_with_equal_func (names, word, g_str_equal, NULL))
      g_string_append_printf (mistakes, "fabricast %s: --fidelity: '%s' stands twice\n", command, word);
    else
      g_ptr_array_add (names, g_strdup (word));
  }
  if (words[0] == NULL)
    g_string_append_printf (mistakes, "fabricast %s: --fidelity: name one at least, as in analytic,fluid\n",
                            command);
  g_ptr_array_add (names, NULL);
  return (char **) g_ptr_array_free (names, FALSE);
}
