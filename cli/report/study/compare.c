/* SPDX-License-Identifier: Apache-2.0 */
/* compare.c - the page of `fabricast compare`: which of them, by how much, and whether the forecast can tell. */
#include <math.h>

#include "cli/report/study/kinds.h"

static JsonObject *
named (const GPtrArray *objects, const char *member, const char *name)
{
  for (guint i = 0; i < objects->len; i++)
    if (g_strcmp0 (fab_study_text (g_ptr_array_index (objects, i), member), name) == 0)
      return g_ptr_array_index (objects, i);
  return NULL;
}

/* Its name among the others: that of its figures, or its fidelity. (transfer full) */
static char *
name_of (const GPtrArray *variants, const GPtrArray *figures, guint i)
{
  JsonObject *variant = g_ptr_array_index (variants, i);

  if (figures->len == variants->len)
    return fab_study_show_text (fab_study_text (g_ptr_array_index (figures, i), "name"));
  return g_strdup_printf ("%s at %s", fab_study_word (variant, "scenario"),
                          fab_study_word (variant, "fidelity"));
}

static void
say_change (FabStudyPage *page, const char *name, JsonObject *band, const char *against)
{
  g_autofree char *low = fab_study_show (FAB_FIGURE_FRACTION,
                                         fab_study_number (band, "step_change_low_fraction")),
                  *high = fab_study_show (FAB_FIGURE_FRACTION,
                                          fab_study_number (band, "step_change_high_fraction"));
  double from = fab_study_number (band, "step_change_low_fraction"),
         to = fab_study_number (band, "step_change_high_fraction");

  if (isnan (from) || isnan (to))
    return;
  if (from < 0 && to > 0)
    fab_study_page_say (
        page, "The forecast does not decide between %s and %s: within the band the step changes by %s to %s.",
        name, against, low, high);
  else
    fab_study_page_say (
        page, "The forecast decides between %s and %s: within the band the step changes by %s to %s.", name,
        against, low, high);
}

/* The quickest first: its sentence is the answer. */
static gint
by_step (gconstpointer a, gconstpointer b, gpointer variants)
{
  double one = fab_study_number (g_ptr_array_index ((const GPtrArray *) variants, *(const guint *) a),
                                 "step_s"),
         other = fab_study_number (g_ptr_array_index ((const GPtrArray *) variants, *(const guint *) b),
                                   "step_s");

  return (one > other) - (one < other);
}

static void
say_all (FabStudyPage *page, JsonObject *study, GPtrArray *variants, const GPtrArray *figures,
         const GPtrArray *bands)
{
  g_autoptr (GArray) sorted = g_array_new (FALSE, FALSE, sizeof (guint));
  g_autoptr (GPtrArray) equals = fab_study_objects (study, "equals");
  const char *against = fab_study_word (study, "against");

  for (guint i = 0; i < variants->len; i++)
    g_array_append_val (sorted, i);
  g_array_sort_with_data (sorted, by_step, variants);
  for (guint i = 0; i < sorted->len; i++) {
    guint at = g_array_index (sorted, guint, i);
    const char *why = fab_study_text (g_ptr_array_index (variants, at), "explanation");
    g_autofree char *name = name_of (variants, figures, at);

    if (why == NULL)
      continue;
    fab_study_page_say (page, "%s", why);
    say_change (page, name, named (bands, "name", name), against);
  }
  for (guint i = 0; i < equals->len; i++) {
    JsonObject *equal = g_ptr_array_index (equals, i);
    const char *answer = fab_study_text (equal, "answer");

    if (answer != NULL)
      fab_study_page_say (page, "%s equals %s in %s with %s = %s.", fab_study_word (equal, "name"), against,
                          fab_study_word (equal, "figure"), fab_study_word (equal, "key"), answer);
  }
}

static void
add_variant (FabStudyPage *page, const char *name, JsonObject *variant, JsonObject *figures, JsonObject *band,
             gboolean is_best)
{
  double step = fab_study_number (variant, "step_s"), low = fab_study_number (band, "step_low_s"),
         high = fab_study_number (band, "step_high_s"),
         exposed = fab_study_number (variant, "exposed_s") / step;

  if (!isnan (step))
    fab_study_page_mark (page, name, step, low, high, is_best);
  fab_study_page_row (page, is_best, g_strdup (name), fab_study_show_band (FAB_FIGURE_TIME, step, low, high),
                      fab_study_show (FAB_FIGURE_FRACTION, exposed),
                      fab_study_show (FAB_FIGURE_FRACTION, fab_study_number (figures, "mfu_fraction")),
                      fab_study_show (FAB_FIGURE_MONEY, fab_study_number (figures, "capex_usd")),
                      fab_study_show_band (FAB_FIGURE_MONEY,
                                           fab_study_number (figures, "usd_per_million_tokens"),
                                           fab_study_number (band, "usd_per_million_tokens_low"),
                                           fab_study_number (band, "usd_per_million_tokens_high")),
                      fab_study_show_text (fab_study_text (figures, "limited_by")), (char *) NULL);
}

void
fab_study_fill_compare (FabStudyPage *page, JsonObject *study)
{
  g_autoptr (GPtrArray) variants = fab_study_objects (study, "variants"),
                        figures = fab_study_objects (study, "figures"),
                        bands = fab_study_objects (study, "bands");
  double best = INFINITY;

  page->title = g_strdup ("Which of them is faster?");
  page->subject = g_strdup (fab_study_text (study, "title"));
  page->kind = FAB_FIGURE_TIME;
  page->plot = g_strdup ("Time of a step, with its band");
  say_all (page, study, variants, figures, bands);
  if (page->decision->len == 0)
    fab_study_page_say (page, "There is nothing to compare %s with.", fab_study_word (study, "against"));
  for (guint i = 0; i < variants->len; i++)
    best = fmin (best, fab_study_number (g_ptr_array_index (variants, i), "step_s"));
  fab_study_page_columns (page, "Alternative", "Step", "Exposed", "MFU", "To buy", "A million tokens",
                          "Limited by", (char *) NULL);
  for (guint i = 0; i < variants->len && i < 2 * FAB_STUDY_MOST_ROWS; i++) {
    JsonObject *variant = g_ptr_array_index (variants, i);
    g_autofree char *name = name_of (variants, figures, i);

    add_variant (page, name, variant, named (figures, "name", name), named (bands, "name", name),
                 fab_study_number (variant, "step_s") <= best);
    fab_study_add_verdict (page, variant, name);
  }
  page->n_left_out = variants->len - page->rows->len;
  if (bands->len > 0)
    fab_study_add_band (page, fab_study_object (g_ptr_array_index (bands, 0), "band"));
}
