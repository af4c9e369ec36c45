/* SPDX-License-Identifier: Apache-2.0 */
/* validate_kernels.c - `fabricast validate kernels`: single kernels against measured tables. */
#include "cli/hardware/validate.h"
#include "models/models.h"
#include "validate/kernels/predict.h"
#include "validate/kernels/report.h"

typedef char *(*ToTextFn) (const FabKernelView *view);

static gconstpointer
get_table (gconstpointer tables, guint index)
{
  return fab_kernel_tables_get (tables, index);
}

static gconstpointer
find_table (gconstpointer tables, const char *name, GError **error)
{
  return fab_kernel_tables_find (tables, name, error);
}

static const char *
find_name (gconstpointer tables, const char *name, GError **error)
{
  const FabKernelTable *table = fab_kernel_tables_find (tables, name, error);

  return table ? table->name : NULL;
}

static FabLimits *
load_limits (const FabValidateOptions *o, const FabKernelTables *tables, GError **error)
{
  g_autofree char *path = fab_validate_path (o->accept_path, "accept-kernels.yaml", error);

  return path ? fab_limits_load (path,
                                 &(FabLimitsRequest){ FAB_LIMITS_OF_KERNELS, find_name, tables, &fab_models },
                                 error)
              : NULL;
}

static gboolean
predict (GPtrArray *tables, const FabCatalog *catalog, GError **error)
{
  for (guint i = 0; i < tables->len; i++)
    if (!fab_kernel_table_predict (g_ptr_array_index (tables, i), catalog, error))
      return FALSE;
  return TRUE;
}

static gboolean
play (const FabValidateOptions *o, char **names, guint n, FabValidateAnswer *answer, GError **error)
{
  static const ToTextFn printers[] = { [FAB_FORMAT_TEXT] = fab_kernels_to_text,
                                       [FAB_FORMAT_JSON] = fab_kernels_to_json,
                                       [FAB_FORMAT_CSV] = fab_kernels_to_csv,
                                       [FAB_FORMAT_MARKDOWN] = fab_kernels_to_markdown };
  g_autoptr (FabCatalog) catalog = fab_cli_catalog (error);
  g_autofree char *path = catalog ? fab_validate_path (o->data_path, "measured/kernels", error) : NULL;
  g_autoptr (FabKernelTables) tables = path ? fab_kernel_tables_load (path, catalog, &fab_models, error)
                                            : NULL;
  g_autoptr (FabLimits) limits = NULL;

  if (tables == NULL || (fab_validate_has_limits (o) && (limits = load_limits (o, tables, error)) == NULL))
    return FALSE;
  const FabValidateChoice choice = { tables, fab_kernel_tables_n (tables), get_table, find_table };
  g_autoptr (GPtrArray) chosen = fab_validate_choose (&choice, names, n, error);
  if (chosen == NULL || !predict (chosen, catalog, error))
    return FALSE;
  answer->page = printers[o->format](&(FabKernelView){ chosen, catalog, limits });
  answer->exceeded = limits ? fab_kernel_exceeded (chosen, limits) : NULL;
  return TRUE;
}

const FabValidateKind fab_validate_kernels = {
  .name = "kernels",
  .usage = {
  .arguments = "[TABLE...]",
  .summary =
    "Compares predicted times of single kernels with measured ones: matrix products, attention, memory-bound\n"
    "kernels, layers of experts. Exits with 1 when the median error of a table exceeds its limit.",
  .examples = "  fabricast validate kernels\n"
              "  fabricast validate kernels h100_gemm h100_attention --format csv\n"
              "  fabricast validate kernels --format markdown > docs/reference/validation-kernels.md\n",
  .max_rest = 1000,
},
  .options = { { "format", "text (default): errors; json and csv: every row; markdown: errors and all constants" },
               { "accept", "Accepted errors (default: the shipped accept-kernels.yaml)" },
               { "measured", "Directory with INDEX.yaml and tables (default: the shipped ones)" } },
  .play = play,
};
