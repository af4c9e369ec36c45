/* SPDX-License-Identifier: Apache-2.0 */
/* validate_links.c - `fabricast validate links`: one link entry against messages that were measured. */
#include "cli/hardware/validate.h"
#include "sim/base/error.h"
#include "validate/fit/print.h"

typedef char *(*ToTextFn) (const FabLinkCheck *check, gboolean is_summary);

/* --link of the files and the catalogue, or the one link that the files hold. */
static const FabLinkSpec *
find_link (const FabValidateOptions *o, const FabScenario *overlay, const FabCatalog *catalog, GError **error)
{
  const FabParamList *own = overlay ? &fab_scenario_spec (overlay)->own.links : NULL;
  const FabLinkSpec *link = o->link
                              ? fab_catalog_link (overlay ? fab_scenario_catalog (overlay) : catalog, o->link)
                              : NULL;

  if (o->link && link == NULL)
    fab_throw (error, FAB_ERROR_INPUT,
               "link '%s' does not exist; `fabricast describe links` lists those of the catalogue", o->link);
  if (o->link)
    return link;
  if (own && own->n == 1)
    return own->data;
  fab_throw (error, FAB_ERROR_INPUT,
             "the link is missing; give a file of one link with --with, or choose one of %s with --link",
             own && own->n > 1 ? "its links" : "the catalogue");
  return NULL;
}

/* The one link of the files. (transfer full) */
static GPtrArray *
find_measured (const GPtrArray *series, const FabFitChoice *choice, GError **error)
{
  g_autoptr (GPtrArray) groups = fab_link_groups_new (series, &choice->filter, error);
  g_autofree char *names = groups ? fab_link_groups_list (groups) : NULL;

  if (groups == NULL || groups->len == 1)
    return g_steal_pointer (&groups);
  fab_throw (error, FAB_ERROR_INPUT, "these are %u links: %s; choose one with --series", groups->len, names);
  return NULL;
}

static gboolean
play (const FabValidateOptions *o, char **files, G_GNUC_UNUSED guint n, FabValidateAnswer *answer,
      GError **error)
{
  static const ToTextFn printers[] = { [FAB_FORMAT_TEXT] = fab_link_check_to_text,
                                       [FAB_FORMAT_JSON] = fab_link_check_to_json,
                                       [FAB_FORMAT_CSV] = fab_link_check_to_csv,
                                       [FAB_FORMAT_MARKDOWN] = fab_link_check_to_markdown };
  FabFitChoice choice;
  g_autoptr (FabCatalog) catalog = fab_cli_catalog (error);
  g_autoptr (FabScenario) overlay = NULL;
  g_autoptr (GPtrArray) series = NULL, groups = NULL;
  g_autoptr (FabLinkFit) fit = NULL;
  g_autoptr (FabLinkCheck) check = NULL;
  FabLinkCheckRequest request = { 0 };

  if (catalog == NULL || !fab_fit_options_read (&o->fit, &choice, error)
      || (o->with && (overlay = fab_cli_overlay (o->with, catalog, error)) == NULL)
      || (request.link = find_link (o, overlay, catalog, error)) == NULL
      || (series = fab_cli_series (files, error)) == NULL
      || (groups = find_measured (series, &choice, error)) == NULL)
    return FALSE;
  request.count = choice.count;
  request.hops = choice.hops;
  fit = fab_link_fit_new (((const FabLinkGroup *) g_ptr_array_index (groups, 0))->series, &choice.sizes,
                          error);
  if (fit == NULL || (check = fab_link_check_new (fit, &request, error)) == NULL)
    return FALSE;
  answer->page = printers[o->format](check, o->is_summary);
  return TRUE;
}

const FabValidateKind fab_validate_links = {
  .name = "links",
  .usage = {
  .arguments = "FILE...",
  .summary =
    "Compares a link entry with measured messages, size by size. The entry is one of the file of --with, or the\n"
    "one that --link names in the catalogue. Sizes that `fabricast calibrate` would hold out of the fit have\n"
    "an error of their own.",
  .examples = "  fabricast validate links docs/examples/link.csv --with docs/examples/link.yaml\n"
              "  fabricast validate links docs/examples/link.csv --link efa-v1 --format markdown\n",
  .min_rest = 1,
  .max_rest = 1000,
},
  .options = { { "with", "File of link entries that replace those of the catalogue; repeatable" },
               { "link", "Name of the link (default: the only one of --with)" },
               { "format" },
               { "summary", "Print only the errors, not every size" } },
  .has_fit_options = TRUE,
  .play = play,
};
