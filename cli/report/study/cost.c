/* SPDX-License-Identifier: Apache-2.0 */
/* cost.c - the page of `fabricast cost`: what a machine costs, and what a step on it does. */
#include <math.h>

#include "cli/report/study/kinds.h"

/* A part that another one includes is not paid for. */
static gboolean
is_paid (JsonObject *part)
{
  return g_strcmp0 (fab_study_text (part, "is_included"), "yes") != 0;
}

static double
sum_of (const GPtrArray *parts, const char *member)
{
  double sum = 0;

  for (guint i = 0; i < parts->len; i++) {
    double each = fab_study_number (g_ptr_array_index (parts, i), member);

    if (is_paid (g_ptr_array_index (parts, i)))
      sum += each * fab_study_number (g_ptr_array_index (parts, i), "count");
  }
  return sum;
}

/* (transfer full) */
static char *
banded (JsonObject *figures, JsonObject *bands, const char *member, FabFigureKind kind)
{
  g_autofree char *low = g_strconcat (member, "_low", NULL), *high = g_strconcat (member, "_high", NULL);

  return fab_study_show_band (kind, fab_study_number (figures, member), fab_study_number (bands, low),
                              fab_study_number (bands, high));
}

static void
say_all (FabStudyPage *page, JsonObject *study, const GPtrArray *parts)
{
  JsonObject *figures = fab_study_object (study, "figures"),
             *bands = fab_study_object (study, "figures_band");
  g_autofree char *capex = fab_study_show_band (FAB_FIGURE_MONEY, fab_study_number (figures, "capex_usd"),
                                                sum_of (parts, "low_usd_each"),
                                                sum_of (parts, "high_usd_each")),
                  *hour = banded (figures, bands, "usd_per_hour", FAB_FIGURE_MONEY),
                  *step = banded (figures, bands, "step_s", FAB_FIGURE_TIME),
                  *tokens = banded (figures, bands, "usd_per_million_tokens", FAB_FIGURE_MONEY),
                  *network = fab_study_show (FAB_FIGURE_FRACTION,
                                             fab_study_number (figures, "network_capex_fraction")),
                  *watts = fab_study_show (FAB_FIGURE_POWER, fab_study_number (figures, "power_watts"));

  fab_study_page_say (page, "The machine costs %s to buy, of which the network is %s.", capex, network);
  fab_study_page_say (page, "An hour costs %s, and the machine takes %s.", hour, watts);
  if (!isnan (fab_study_number (figures, "usd_per_million_tokens")))
    fab_study_page_say (page, "A million tokens cost %s.", tokens);
  fab_study_page_say (page, "A step takes %s.", step);
}

static void
add_part (FabStudyPage *page, JsonObject *part)
{
  const char *name = fab_study_text (part, "product");
  double count = fab_study_number (part, "count"), usd = fab_study_number (part, "usd"),
         low = count * fab_study_number (part, "low_usd_each"),
         high = count * fab_study_number (part, "high_usd_each");
  g_autofree char *many = g_strdup_printf ("%.0f", count);

  if (name == NULL)
    return;
  if (!isnan (usd) && is_paid (part))
    fab_study_page_mark (page, name, usd, low, high, FALSE);
  fab_study_page_row (page, FALSE, g_strdup (name), fab_study_show_text (fab_study_text (part, "part")),
                      fab_study_show_text (many),
                      fab_study_show (FAB_FIGURE_MONEY, fab_study_number (part, "usd_each")),
                      is_paid (part) ? fab_study_show_band (FAB_FIGURE_MONEY, usd, low, high)
                                     : g_strdup ("included"),
                      fab_study_show (FAB_FIGURE_POWER, count * fab_study_number (part, "watts_each")),
                      fab_study_show_text (fab_study_text (part, "date")), (char *) NULL);
}

void
fab_study_fill_cost (FabStudyPage *page, JsonObject *study)
{
  g_autoptr (GPtrArray) parts = fab_study_objects (study, "parts");
  const char *missing = fab_study_text (study, "not_in_it");

  page->title = g_strdup ("What does this machine cost?");
  page->subject = g_strdup (fab_study_text (study, "scenario"));
  page->kind = FAB_FIGURE_MONEY;
  page->plot = g_strdup ("To buy, with prices from low to high");
  say_all (page, study, parts);
  fab_study_page_columns (page, "Product", "Part", "Count", "Each", "All", "Power", "Price of",
                          (char *) NULL);
  for (guint i = 0; i < parts->len && i < 2 * FAB_STUDY_MOST_ROWS; i++)
    add_part (page, g_ptr_array_index (parts, i));
  page->n_left_out = parts->len - page->rows->len;
  if (missing != NULL) {
    g_autofree char *text = g_strdup_printf ("Not in it: %s.", missing);

    fab_study_page_caution (page, text);
  }
  fab_study_add_verdict (page, study, NULL);
  fab_study_add_band (page, fab_study_object (fab_study_object (study, "figures_band"), "band"));
}
