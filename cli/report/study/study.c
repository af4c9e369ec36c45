/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/report/study/study.h"

#include <math.h>

#include "cli/report/report.h"
#include "cli/report/study/kinds.h"
#include "sim/base/error.h"

/* Which command wrote a file, by an array that only its answers have. */
static const struct {
  const char *member, *other; /* both are arrays */
  void (*fill) (FabStudyPage *page, JsonObject *study);
} kinds[] = {
  { "points", "ports", fab_study_fill_size },           { "variants", "left_out", fab_study_fill_compare },
  { "changes", "assignments", fab_study_fill_upgrade }, { "paths", "paths", fab_study_fill_grow },
  { "parts", "beside", fab_study_fill_cost },
};

char *
fab_study_show_price (double usd)
{
  return isnan (usd) ? g_strdup ("no price") : fab_study_show (FAB_FIGURE_MONEY, usd);
}

char *
fab_study_show_text (const char *text)
{
  return g_strdup (text != NULL && *text != '\0' ? text : "-");
}

void
fab_study_add_verdict (FabStudyPage *page, JsonObject *object, const char *of)
{
  g_autoptr (GPtrArray) findings = fab_study_objects (object, "verdict");

  for (guint i = 0; i < findings->len; i++) {
    JsonObject *finding = g_ptr_array_index (findings, i);
    const char *text = fab_study_text (finding, "text"), *code = fab_study_text (finding, "code");
    gboolean is_limit = code != NULL && g_str_has_prefix (code, "waits_for_"); /* of this alternative alone */

    if (text == NULL)
      continue;
    g_autofree char *named = of != NULL && is_limit ? g_strdup_printf ("%s: %s", of, text) : g_strdup (text);
    fab_study_page_caution (page, named);
  }
}

void
fab_study_add_band (FabStudyPage *page, JsonObject *band)
{
  const char *family = fab_study_text (band, "family");
  JsonObject *compute = fab_study_object (band, "compute"), *untuned = fab_study_object (band, "untuned");
  double coverage = fab_study_number (band, "coverage_fraction"), tables = fab_study_number (band, "tables"),
         runs = fab_study_number (compute, "runs"), sources = fab_study_number (compute, "sources"),
         slow = fab_study_number (untuned, "tables"), of = fab_study_number (untuned, "of"),
         most = fab_study_number (untuned, "high_factor");

  if (!isnan (coverage)) {
    GString *text = g_string_new (NULL);

    g_string_append_printf (text,
                            "A band holds what a real machine shows in %.0f %% of cases, by the errors at",
                            100 * coverage);
    if (family != NULL && !isnan (tables))
      g_string_append_printf (text, " %.0f published tables of %s%s", tables, family,
                              isnan (runs) ? "" : " and");
    if (!isnan (runs) && !isnan (sources))
      g_string_append_printf (text, " %.0f published runs of %.0f sources", runs, sources);
    g_string_append_c (text, '.');
    fab_study_page_caution (page, text->str);
    g_string_free (text, TRUE);
  }
  if (!isnan (slow) && !isnan (of) && !isnan (most)) {
    g_autofree char *text = g_strdup_printf (
        "The bands are of healthy networks: %.0f of %.0f published networks took up to %.2g times the predicted "
        "time.",
        slow, of, most);
    fab_study_page_caution (page, text);
  }
}

static gboolean
fill (FabStudyPage *page, JsonNode *root, const char *name, GError **error)
{
  JsonObject *study = root != NULL && JSON_NODE_HOLDS_OBJECT (root) ? json_node_get_object (root) : NULL;

  for (guint i = 0; study != NULL && i < G_N_ELEMENTS (kinds); i++)
    if (fab_study_has_array (study, kinds[i].member) && fab_study_has_array (study, kinds[i].other)) {
      kinds[i].fill (page, study);
      return TRUE;
    }
  return fab_throw (
      error, FAB_ERROR_INPUT,
      "%s: it is no study; `fabricast size`, `compare`, `upgrade` and `cost` write one with --format "
      "json",
      name);
}

char *
fab_study_report (const char *json, const char *name, GError **error)
{
  g_autoptr (JsonParser) parser = json_parser_new ();
  g_autoptr (GError) found = NULL;
  g_autoptr (FabStudyPage) page = fab_study_page_new ();

  if (!json_parser_load_from_data (parser, json, -1, &found)) {
    fab_throw (error, FAB_ERROR_INPUT, "%s: it is no JSON: %s", name, found->message);
    return NULL;
  }
  if (!fill (page, json_parser_get_root (parser), name, error))
    return NULL;
  g_autofree char *look = fab_report_resource ("page.css", error);
  g_autofree char *own = look != NULL ? fab_report_resource ("study.css", error) : NULL;
  g_autofree char *style = own != NULL ? g_strconcat (look, own, NULL) : NULL;
  return style != NULL ? fab_study_page_html (page, style, name) : NULL;
}
