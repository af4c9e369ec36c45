/* SPDX-License-Identifier: Apache-2.0 */
/* validate_memory.c - `fabricast validate memory`: predicted peaks of memory against measured ones. */
#include "cli/hardware/validate.h"
#include "models/models.h"
#include "validate/memory/report.h"

static gconstpointer
get_source (gconstpointer sources, guint index)
{
  return fab_memory_sources_get (sources, index);
}

static gconstpointer
find_source (gconstpointer sources, const char *name, GError **error)
{
  return fab_memory_sources_find (sources, name, error);
}

static const char *
find_limited (gconstpointer sources, const char *name, GError **error)
{
  const FabMemorySource *source = fab_memory_sources_find (sources, name, error);

  return source != NULL ? source->spec->name : NULL;
}

static FabLimits *
load_limits (const FabValidateOptions *o, const FabMemorySources *sources, GError **error)
{
  g_autofree char *path = fab_validate_path (o->accept_path, "accept-memory.yaml", error);
  const FabLimitsRequest request = { FAB_LIMITS_OF_TRAINING, find_limited, sources, &fab_models };

  return path != NULL ? fab_limits_load (path, &request, error) : NULL;
}

static gboolean
play (const FabValidateOptions *o, char **names, guint n, FabValidateAnswer *answer, GError **error)
{
  typedef char *(*ToTextFn) (const FabMemoryView *view);
  static const ToTextFn printers[] = { [FAB_FORMAT_TEXT] = fab_memory_to_text,
                                       [FAB_FORMAT_JSON] = fab_memory_to_json,
                                       [FAB_FORMAT_CSV] = fab_memory_to_csv,
                                       [FAB_FORMAT_MARKDOWN] = fab_memory_to_markdown };
  g_autoptr (FabCatalog) catalog = fab_cli_catalog (error);
  g_autofree char *path = catalog != NULL ? fab_validate_path (o->data_path, "measured/memory", error) : NULL;
  g_autoptr (FabMemorySources) sources = path != NULL ? fab_memory_sources_load (path, &fab_models, error)
                                                      : NULL;
  g_autoptr (FabLimits) limits = NULL;
  g_autoptr (GPtrArray) chosen = NULL;
  g_autoptr (FabMemoryReport) report = NULL;

  if (sources == NULL || (fab_validate_has_limits (o) && (limits = load_limits (o, sources, error)) == NULL))
    return FALSE;
  const FabValidateChoice choice = { sources, fab_memory_sources_n (sources), get_source, find_source };
  chosen = fab_validate_choose (&choice, names, n, error);
  report = chosen != NULL
             ? fab_memory_report_new (chosen, catalog, &fab_models, (const char *const *) o->sets, error)
             : NULL;
  if (report == NULL)
    return FALSE;
  answer->page = printers[o->format](&(FabMemoryView){ report, limits, o->is_summary });
  answer->exceeded = limits != NULL ? fab_memory_report_exceeded (report, limits) : NULL;
  return TRUE;
}

const FabValidateKind fab_validate_memory = {
  .name = "memory",
  .usage = {
  .arguments = "[SOURCE...]",
  .max_rest = 1000,
  .summary =
    "Predicts the memory of training jobs whose peaks were measured, and shows the errors by source and the band\n"
    "that they make. Exits with 1 when the median error of a source exceeds its limit, or a job that ran is refused.",
  .examples = "  fabricast validate memory --summary\n"
              "  fabricast validate memory h100-pytorch\n"
              "  fabricast validate memory --format markdown > docs/reference/validation-memory.md\n",
},
  .options = { { "format" },
               { "summary", "Print only the errors, not every row" },
               { "accept", "Accepted errors (default: the shipped accept-memory.yaml)" },
               { "measured", "Directory with INDEX.yaml, tables and scenarios (default: the shipped ones)" },
               { "set" } },
  .play = play,
};
