/* SPDX-License-Identifier: Apache-2.0 */
/* validate_congestion.c - `fabricast validate congestion`: congestion control against the simulator of its authors. */
#include "cli/hardware/validate.h"
#include "models/models.h"
#include "validate/congestion/report.h"

typedef char *(*ToTextFn) (const GArray *rows);

static gconstpointer
get_scene (gconstpointer scenes, guint index)
{
  return fab_congestion_scenes_get (scenes, index);
}

static gconstpointer
find_scene (gconstpointer scenes, const char *name, GError **error)
{
  return fab_congestion_scenes_find (scenes, name, error);
}

static gboolean
play (const FabValidateOptions *o, char **names, guint n, FabValidateAnswer *answer, GError **error)
{
  static const ToTextFn printers[] = { [FAB_FORMAT_TEXT] = fab_congestion_to_text,
                                       [FAB_FORMAT_JSON] = fab_congestion_to_json,
                                       [FAB_FORMAT_CSV] = fab_congestion_to_csv,
                                       [FAB_FORMAT_MARKDOWN] = fab_congestion_to_markdown };
  g_autofree char *accept = fab_validate_path (o->accept_path, "accept-congestion.yaml", error);
  g_autofree char *folder = accept ? fab_validate_path (o->data_path, "congestion", error) : NULL;
  g_autoptr (FabCatalog) catalog = folder ? fab_cli_catalog (error) : NULL;
  g_autoptr (FabCongestionScenes) scenes = catalog ? fab_congestion_scenes_load (accept, &fab_models, error)
                                                   : NULL;

  if (scenes == NULL)
    return FALSE;
  const FabValidateChoice choice = { scenes, fab_congestion_scenes_n (scenes), get_scene, find_scene };
  const FabCongestionSuite suite = { scenes, folder, catalog, &fab_models, fab_cli_threads () };
  g_autoptr (GPtrArray) chosen = fab_validate_choose (&choice, names, n, error);
  g_autoptr (GArray) rows = chosen != NULL ? fab_congestion_compare (&suite, chosen, error) : NULL;
  if (rows == NULL)
    return FALSE;
  answer->page = printers[o->format](rows);
  answer->exceeded = fab_congestion_exceeded (rows);
  return TRUE;
}

const FabValidateKind fab_validate_congestion = {
  .name = "congestion",
  .usage = {
  .arguments = "[SCENE...]",
  .summary =
    "Plays flows that the ns-3 of HPCC's authors has played, under DCQCN and HPCC, and compares completion times:\n"
    "incasts, flows of WebSearch and Hadoop at 30 to 70 % load, flows that join and leave.\n"
    "Exits with 1 when a median or a 99th percentile differs by more than its limit.",
  .examples = "  fabricast validate congestion\n"
              "  fabricast validate congestion incast-16-100g websearch-50\n"
              "  fabricast validate congestion --format markdown > docs/reference/validation-congestion.md\n",
  .max_rest = 1000,
},
  .options = { { "format", NULL },
               { "accept", "Scenes and accepted differences (default: the shipped accept-congestion.yaml)" },
               { "cases", "Directory with machines and lists of flows (default: the shipped one)" } },
  .play = play,
};
