/* SPDX-License-Identifier: Apache-2.0 */
/* compare_data.c - `fabricast compare` for programs: a row for each time of each variant, and one JSON object. */
#include <math.h>
#include <string.h>

#include "cli/compare.h"
#include "sim/base/json.h"

enum { MOST_LINKS = 10 };

/* Links are many: those that differ most are enough. */
static gboolean
is_printed (const FabContrast *contrast, guint index)
{
  guint n_links = 0;

  for (guint i = index; i > 0 && n_links <= MOST_LINKS; i--)
    n_links += g_array_index (contrast->rows, FabContrastRow, i - 1).kind == FAB_FACT_LINK;
  return g_array_index (contrast->rows, FabContrastRow, index).kind != FAB_FACT_LINK || n_links < MOST_LINKS;
}

static void
append_field (GString *out, const char *text)
{
  g_auto (GStrv) parts = g_strsplit (text, "\"", -1);
  g_autofree char *escaped = g_strjoinv ("\"\"", parts);

  g_string_append_printf (
      out, g_str_has_prefix (escaped, text) && strpbrk (text, ",\n\r") == NULL ? "%s" : "\"%s\"", escaped);
}

char *
fab_compare_csv (const FabCompareView *view)
{
  const FabContrast *contrast = view->contrast;
  GString *out = g_string_new ("scenario,fidelity,kind,name,time_s,difference_s\n");

  for (guint k = 0; k < contrast->variants->len; k++)
    for (guint i = 0; i < contrast->rows->len && is_printed (contrast, i); i++) {
      const FabContrastRow *row = &g_array_index (contrast->rows, FabContrastRow, i);
      const FabVariant *variant = fab_contrast_variant (contrast, k);
      double difference_s = row->times_s[k] - row->times_s[contrast->base];

      if (isnan (row->times_s[k]))
        continue;
      append_field (out, variant->scenario);
      g_string_append_printf (out, ",%s,%s,", variant->fidelity, fab_fact_names[row->kind]);
      append_field (out, row->name);
      g_string_append_printf (out, ",%.12g,", row->times_s[k]);
      if (k != contrast->base && !isnan (difference_s))
        g_string_append_printf (out, "%.12g", fabs (difference_s) < 5e-13 ? 0.0 : difference_s);
      g_string_append_c (out, '\n');
    }
  return g_string_free (out, FALSE);
}

static void
add_facts (FabJson *json, const FabContrast *contrast, guint index)
{
  fab_json_begin_array (json, "times");
  for (guint i = 0; i < contrast->rows->len && is_printed (contrast, i); i++) {
    const FabContrastRow *row = &g_array_index (contrast->rows, FabContrastRow, i);

    if (isnan (row->times_s[index]))
      continue;
    fab_json_begin_object (json, NULL);
    fab_json_add_text (json, "kind", fab_fact_names[row->kind]);
    if (row->name[0] != '\0')
      fab_json_add_text (json, "name", row->name);
    if (row->n > 0)
      fab_json_add_whole (json, "collectives", row->n);
    fab_json_add_real (json, "time_s", row->times_s[index]);
    fab_json_end (json);
  }
  fab_json_end (json);
}

static void
add_variant (FabJson *json, const FabContrast *contrast, guint index)
{
  const FabVariant *variant = fab_contrast_variant (contrast, index);
  double step_s = fab_variant_time_s (variant, FAB_FACT_STEP);
  double base_s = fab_variant_time_s (fab_contrast_variant (contrast, contrast->base), FAB_FACT_STEP);
  g_autofree char *words = index != contrast->base ? fab_contrast_explain (contrast, index) : NULL;

  fab_json_begin_object (json, NULL);
  fab_json_add_text (json, "scenario", variant->scenario);
  fab_json_add_text (json, "fidelity", variant->fidelity);
  fab_json_add_real (json, "step_s", step_s);
  fab_json_add_real (json, "exposed_s", fab_variant_time_s (variant, FAB_FACT_EXPOSED));
  if (index != contrast->base && base_s > 0)
    fab_json_add_real (json, "difference_fraction", step_s / base_s - 1);
  if (words != NULL)
    fab_json_add_text (json, "explanation", words);
  add_facts (json, contrast, index);
  fab_json_add_whole (json, "events", (gint64) variant->n_events);
  fab_json_add_real (json, "wall_s", variant->wall_s);
  fab_json_end (json);
}

void
fab_compare_add_variants (FabJson *json, const FabContrast *contrast)
{
  fab_json_begin_array (json, "variants");
  for (guint k = 0; k < contrast->variants->len; k++)
    add_variant (json, contrast, k);
  fab_json_end (json);
}

char *
fab_compare_json (const FabCompareView *view)
{
  const FabContrast *contrast = view->contrast;
  g_autoptr (FabJson) json = fab_json_new (FAB_JSON_PAGE);

  fab_json_begin_object (json, NULL);
  fab_json_add_text (json, "title", view->title);
  fab_json_add_text (json, "against", fab_contrast_variant (contrast, contrast->base)->name);
  fab_compare_add_variants (json, contrast);
  fab_json_begin_array (json, "left_out");
  for (guint i = 0; view->left_out && view->left_out[i]; i++)
    fab_json_add_text (json, NULL, view->left_out[i]);
  fab_json_end (json);
  fab_json_end (json);
  return fab_json_finish (json);
}
