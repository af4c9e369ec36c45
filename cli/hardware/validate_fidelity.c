/* SPDX-License-Identifier: Apache-2.0 */
/* validate_fidelity.c - `fabricast validate fidelity`: fidelities of the network against each other. */
#include "cli/compare/cmd_compare.h"
#include "cli/hardware/validate.h"
#include "models/models.h"
#include "sim/base/error.h"
#include "validate/variants/suite.h"

typedef char *(*ToTextFn) (const FabFidelityReport *report);

static gconstpointer
get_case (gconstpointer limits, guint index)
{
  return fab_fidelity_limits_case (limits, index);
}

static gconstpointer
find_case (gconstpointer limits, const char *name, GError **error)
{
  return fab_fidelity_limits_find (limits, name, error);
}

/* Those that are asked for, in the order of the suite. (transfer container) */
static const char **
choose_fidelities (const FabFidelityLimits *limits, const char *list, GError **error)
{
  g_autofree const char **known = fab_fidelity_limits_known (limits, &fab_models);
  g_autoptr (GString) mistakes = g_string_new (NULL);
  g_auto (GStrv) wanted = fab_compare_fidelities ("validate fidelity", list, mistakes);
  GPtrArray *chosen;

  if (mistakes->len > 0) {
    fab_throw (error, FAB_ERROR_INPUT, "%s", mistakes->str);
    return NULL;
  }
  chosen = g_ptr_array_new ();
  for (guint i = 0; known[i]; i++)
    if (g_strv_contains ((const char *const *) wanted, known[i]))
      g_ptr_array_add (chosen, (gpointer) known[i]);
  g_ptr_array_add (chosen, NULL);
  return (const char **) g_ptr_array_free (chosen, FALSE);
}

/* Somebody's own cases come with their own limits, which name them. */
static gboolean
play (const FabValidateOptions *o, char **names, guint n, FabValidateAnswer *answer, GError **error)
{
  static const ToTextFn printers[] = { [FAB_FORMAT_TEXT] = fab_fidelity_to_text,
                                       [FAB_FORMAT_JSON] = fab_fidelity_to_json,
                                       [FAB_FORMAT_CSV] = fab_fidelity_to_csv,
                                       [FAB_FORMAT_MARKDOWN] = fab_fidelity_to_markdown };
  g_autofree char *accept = fab_validate_path (o->accept_path, "accept-fidelity.yaml", error);
  g_autofree char *folder = accept ? fab_validate_path (o->data_path, "variants/cases", error) : NULL;
  g_autofree const char **fidelities = NULL;
  g_autoptr (FabCatalog) catalog = folder ? fab_cli_catalog (error) : NULL;
  g_autoptr (FabFidelityLimits) limits = catalog ? fab_fidelity_limits_load (accept, &fab_models, error)
                                                 : NULL;
  g_autoptr (GPtrArray) cases = NULL;
  g_autoptr (FabFidelityReport) report = NULL;

  if (limits == NULL || (fidelities = choose_fidelities (limits, o->fidelity, error)) == NULL
      || (cases = fab_validate_choose (&(FabValidateChoice){ limits, fab_fidelity_limits_n (limits), get_case,
                                                             find_case },
                                       names, n, error))
             == NULL)
    return FALSE;
  report = fab_fidelity_report_new (&(FabFidelitySuite){ limits, folder, catalog, &fab_models,
                                                         (const char *const *) fidelities,
                                                         fab_cli_threads () },
                                    cases, error);
  if (report == NULL)
    return FALSE;
  answer->page = printers[o->format](report);
  answer->exceeded = fab_fidelity_report_exceeded (report);
  return TRUE;
}

const FabValidateKind fab_validate_fidelity = {
  .name = "fidelity",
  .usage = {
  .arguments = "[CASE...]",
  .summary =
      "Simulates a suite of small scenarios at every fidelity of the network and shows the differences: rings,\n"
      "trees, all-to-all, incast, oversubscribed fabrics, colliding paths, training steps.\n"
      "Exits with 1 when two fidelities differ by more than their limit.",
  .examples = "  fabricast validate fidelity\n"
              "  fabricast validate fidelity incast-8 ecmp-permutation\n"
              "  fabricast validate fidelity --format markdown > docs/reference/validation-fidelity.md\n",
  .max_rest = 1000,
},
  .options = { { "format" },
               { "fidelity", "Use only these fidelities, separated by commas" },
               { "accept", "Cases and accepted differences (default: the shipped accept-fidelity.yaml)" },
               { "cases", "Directory with the scenarios (default: the shipped ones)" } },
  .play = play,
};
