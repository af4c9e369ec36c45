/* SPDX-License-Identifier: Apache-2.0 */
/* validate_bills.c - `fabricast validate bills`: counted parts of designs against published ones. */
#include "cli/hardware/validate.h"
#include "models/models.h"
#include "sim/base/error.h"
#include "validate/bills/bills.h"
#include "validate/check/limits.h"

typedef char *(*ToTextFn) (const GArray *cells);

typedef struct {
  const FabCatalog *catalog;
  const char **names; /* of designs, NULL-ended */
} Designs;

static gconstpointer
get_design (gconstpointer designs, guint index)
{
  const Designs *self = designs;

  return fab_catalog_entry (self->catalog, FAB_SECTION_DESIGNS, self->names[index]);
}

static gconstpointer
find_design (gconstpointer designs, const char *name, GError **error)
{
  const Designs *self = designs;
  const FabDesignSpec *spec = fab_catalog_entry (self->catalog, FAB_SECTION_DESIGNS, name);

  return spec != NULL ? spec : fab_check_throw_unknown (error, "unknown design", name, self->names);
}

static gboolean
play (const FabValidateOptions *o, char **names, guint n, FabValidateAnswer *answer, GError **error)
{
  static const ToTextFn printers[] = { [FAB_FORMAT_TEXT] = fab_bills_to_text,
                                       [FAB_FORMAT_JSON] = fab_bills_to_json,
                                       [FAB_FORMAT_CSV] = fab_bills_to_csv,
                                       [FAB_FORMAT_MARKDOWN] = fab_bills_to_markdown };
  g_autoptr (FabCatalog) catalog = fab_cli_catalog (error);

  if (catalog == NULL)
    return FALSE;
  g_autofree const char **all = fab_catalog_names (catalog, FAB_SECTION_DESIGNS);
  const Designs designs = { catalog, all };
  const FabValidateChoice choice = { &designs, g_strv_length ((char **) all), get_design, find_design };
  g_autoptr (GPtrArray) chosen = fab_validate_choose (&choice, names, n, error);
  g_autoptr (GArray) cells = chosen != NULL ? fab_bills_compare (chosen, catalog, &fab_models, error) : NULL;
  if (cells == NULL)
    return FALSE;
  answer->page = printers[o->format](cells);
  answer->exceeded = fab_bills_exceeded (cells);
  return TRUE;
}

const FabValidateKind fab_validate_bills = {
  .name = "bills",
  .usage = {
  .arguments = "[DESIGN...]",
  .summary =
    "Builds the fabric of every published row of the designs of the catalogue, counts its switches, cables and\n"
    "transceivers, and holds them against the document. Exits with 1 when a number differs.",
  .examples = "  fabricast validate bills\n"
              "  fabricast validate bills superpod-h100 --format csv\n"
              "  fabricast validate bills --format markdown > docs/reference/validation-bills.md\n",
  .max_rest = 1000,
},
  .options = { { "format", NULL } },
  .play = play,
};
