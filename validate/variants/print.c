/* SPDX-License-Identifier: Apache-2.0 */
/* print.c - the report of the suite, for a person, a page and a program. */
#include <math.h>
#include <string.h>

#include "sim/base/json.h"
#include "validate/variants/suite.h"

static const char page_head[] =
    "# How far the fidelities are apart\n"
    "\n"
    "`fabricast validate fidelity --format markdown` writes this page, and a test keeps it up to date.\n"
    "The scenarios are in `validate/variants/cases`. Times are those of a step, and `fabricast compare`\n"
    "shows what makes two of them differ. \"Accepted\" is the limit in `validate/accept-fidelity.yaml`,\n"
    "above which the tests fail; a difference without a limit is only shown.\n"
    "[Fidelity](../explanation/fidelity.md) says which one to choose.\n";

static char *
step_of (const FabVariant *variant)
{
  return fab_units_show (FAB_UNIT_TIME,
                         round (fab_variant_time_s (variant, FAB_FACT_STEP) * (double) FAB_PS_PER_S));
}

static const FabFidelityResult *
result_at (const FabFidelityReport *report, guint index)
{
  return g_ptr_array_index (report->results, index);
}

/* A difference that shows as none has no sign. */
static double
percent (double fraction)
{
  return fabs (fraction) < 5e-5 ? 0 : 100 * fraction;
}

/* --- text --- */

static void
append_gaps (GString *out, const FabFidelityResult *result)
{
  for (guint k = 0; k < result->gaps->len; k++) {
    const FabFidelityGap *gap = &g_array_index (result->gaps, FabFidelityGap, k);

    g_string_append_printf (out, "  %s/%s %+.2f %%", gap->limit->fidelity, gap->limit->against,
                            percent (gap->difference_fraction));
    if (gap->limit->limit_fraction > 0)
      g_string_append_printf (out, " (accepted %.3g %%)%s", 100 * gap->limit->limit_fraction,
                              fab_fidelity_gap_is_met (gap) ? "" : " EXCEEDED");
  }
}

static void
append_group (GString *out, const FabFidelityReport *report, const FabFidelityGroup *group)
{
  gboolean has_title = FALSE;

  for (guint i = 0; i < report->results->len; i++) {
    const FabFidelityResult *result = result_at (report, i);

    if (strcmp (result->which->group, group->name) != 0)
      continue;
    if (!has_title)
      g_string_append_printf (out, "\n%s: %s\n", group->name, group->title);
    has_title = TRUE;
    g_string_append_printf (out, "  %-26s", result->which->name);
    for (guint k = 0; k < result->contrast->variants->len; k++) {
      g_autofree char *step = step_of (fab_contrast_variant (result->contrast, k));

      g_string_append_printf (out, "%12s", step);
    }
    append_gaps (out, result);
    g_string_append_c (out, '\n');
  }
}

char *
fab_fidelity_to_text (const FabFidelityReport *report)
{
  GString *out = g_string_new (NULL);

  g_string_append_printf (out, "%-28s", "step at");
  for (guint k = 0; k < report->fidelities->len; k++)
    g_string_append_printf (out, "%12s", (const char *) g_ptr_array_index (report->fidelities, k));
  g_string_append_c (out, '\n');
  for (guint i = 0; i < fab_fidelity_limits_n_groups (report->limits); i++)
    append_group (out, report, fab_fidelity_limits_group (report->limits, i));
  return g_string_free (out, FALSE);
}

/* --- Markdown --- */

static void
append_page_row (GString *out, const FabFidelityResult *result)
{
  g_string_append_printf (out, "| %s |", result->which->name);
  for (guint k = 0; k < result->contrast->variants->len; k++) {
    g_autofree char *step = step_of (fab_contrast_variant (result->contrast, k));

    g_string_append_printf (out, " %s |", step);
  }
  for (guint k = 0; k < result->gaps->len; k++) {
    const FabFidelityGap *gap = &g_array_index (result->gaps, FabFidelityGap, k);

    g_string_append_printf (out, "%s%s against %s %+.2f %%", k > 0 ? "; " : " ", gap->limit->fidelity,
                            gap->limit->against, percent (gap->difference_fraction));
    if (gap->limit->limit_fraction > 0)
      g_string_append_printf (out, " (accepted %.3g %%)", 100 * gap->limit->limit_fraction);
  }
  g_string_append_printf (out, " | %s%s%s |\n", result->title, result->which->why ? ": " : "",
                          result->which->why ? result->which->why : "");
}

static void
append_page_group (GString *out, const FabFidelityReport *report, const FabFidelityGroup *group)
{
  guint n = 0;

  for (guint i = 0; i < report->results->len; i++)
    n += strcmp (result_at (report, i)->which->group, group->name) == 0;
  if (n == 0)
    return;
  g_string_append_printf (out, "\n## %s\n\n%s.\n\n| case |", group->name, group->title);
  for (guint k = 0; k < report->fidelities->len; k++)
    g_string_append_printf (out, " %s |", (const char *) g_ptr_array_index (report->fidelities, k));
  g_string_append (out, " differences | what, and why they differ |\n|---|");
  for (guint k = 0; k < report->fidelities->len; k++)
    g_string_append (out, "---:|");
  g_string_append (out, "---|---|\n");
  for (guint i = 0; i < report->results->len; i++)
    if (strcmp (result_at (report, i)->which->group, group->name) == 0)
      append_page_row (out, result_at (report, i));
}

char *
fab_fidelity_to_markdown (const FabFidelityReport *report)
{
  GString *out = g_string_new (page_head);

  for (guint i = 0; i < fab_fidelity_limits_n_groups (report->limits); i++)
    append_page_group (out, report, fab_fidelity_limits_group (report->limits, i));
  return g_string_free (out, FALSE);
}

/* --- for programs --- */

char *
fab_fidelity_to_csv (const FabFidelityReport *report)
{
  GString *out = g_string_new ("case,group,fidelity,step_s,exposed_s\n");

  for (guint i = 0; i < report->results->len; i++) {
    const FabFidelityResult *result = result_at (report, i);

    for (guint k = 0; k < result->contrast->variants->len; k++) {
      const FabVariant *variant = fab_contrast_variant (result->contrast, k);

      g_string_append_printf (out, "%s,%s,%s,%.12g,%.12g\n", result->which->name, result->which->group,
                              variant->fidelity, fab_variant_time_s (variant, FAB_FACT_STEP),
                              fab_variant_time_s (variant, FAB_FACT_EXPOSED));
    }
  }
  return g_string_free (out, FALSE);
}

static void
add_gaps (FabJson *json, const FabFidelityResult *result)
{
  fab_json_begin_array (json, "differences");
  for (guint k = 0; k < result->gaps->len; k++) {
    const FabFidelityGap *gap = &g_array_index (result->gaps, FabFidelityGap, k);

    fab_json_begin_object (json, NULL);
    fab_json_add_text (json, "fidelity", gap->limit->fidelity);
    fab_json_add_text (json, "against", gap->limit->against);
    fab_json_add_real (json, "difference_fraction", gap->difference_fraction);
    if (gap->limit->limit_fraction > 0)
      fab_json_add_real (json, "accepted_fraction", gap->limit->limit_fraction);
    fab_json_end (json);
  }
  fab_json_end (json);
}

static void
add_steps (FabJson *json, const FabFidelityResult *result)
{
  fab_json_begin_object (json, "step_s");
  for (guint k = 0; k < result->contrast->variants->len; k++) {
    const FabVariant *variant = fab_contrast_variant (result->contrast, k);

    fab_json_add_real (json, variant->fidelity, fab_variant_time_s (variant, FAB_FACT_STEP));
  }
  fab_json_end (json);
}

char *
fab_fidelity_to_json (const FabFidelityReport *report)
{
  g_autoptr (FabJson) json = fab_json_new (FAB_JSON_PAGE);

  fab_json_begin_object (json, NULL);
  fab_json_begin_array (json, "cases");
  for (guint i = 0; i < report->results->len; i++) {
    const FabFidelityResult *result = result_at (report, i);

    fab_json_begin_object (json, NULL);
    fab_json_add_text (json, "case", result->which->name);
    fab_json_add_text (json, "group", result->which->group);
    fab_json_add_text (json, "title", result->title);
    if (result->which->why)
      fab_json_add_text (json, "why", result->which->why);
    add_steps (json, result);
    add_gaps (json, result);
    fab_json_end (json);
  }
  fab_json_end (json);
  fab_json_end (json);
  return fab_json_finish (json);
}
