/* SPDX-License-Identifier: Apache-2.0 */
/* upgrade.c - the pages of `fabricast upgrade`: what to change first, and how to build so that a machine can grow. */
#include <math.h>

#include "cli/report/study/kinds.h"

static JsonObject *
change_named (const GPtrArray *changes, const char *name)
{
  for (guint i = 0; name != NULL && i < changes->len; i++)
    if (g_strcmp0 (fab_study_text (g_ptr_array_index (changes, i), "change"), name) == 0)
      return g_ptr_array_index (changes, i);
  return NULL;
}

/* "43.0 % (19.6 % to 54.3 %)". (transfer full) */
static char *
saving_of (JsonObject *change)
{
  return fab_study_show_band (FAB_FIGURE_FRACTION, fab_study_number (change, "saved_fraction"),
                              fab_study_number (change, "saved_low_fraction"),
                              fab_study_number (change, "saved_high_fraction"));
}

/* (transfer full) */
static char *
price_of (JsonObject *change)
{
  return fab_study_show_band (FAB_FIGURE_MONEY, fab_study_number (change, "price_usd"),
                              fab_study_number (change, "price_low_usd"),
                              fab_study_number (change, "price_high_usd"));
}

/* Why no purchase is recommended, and which comes nearest; files of earlier versions do not say. */
static void
say_no_purchase (FabStudyPage *page, JsonObject *study)
{
  const char *reason = fab_study_text (study, "no_purchase"), *nearest = fab_study_text (study, "nearest");

  fab_study_page_say (page, "No purchase is recommended%s%s.", reason != NULL ? ": " : "",
                      reason != NULL ? reason : "");
  if (nearest != NULL)
    fab_study_page_say (page, "Nearest comes this: %s.", nearest);
}

static void
say_choices (FabStudyPage *page, JsonObject *study, const GPtrArray *changes)
{
  JsonObject *set = change_named (changes, fab_study_text (study, "set_first")),
             *buy = change_named (changes, fab_study_text (study, "buy_first")),
             *most = change_named (changes, fab_study_text (study, "most"));

  if (set != NULL) {
    g_autofree char *saving = saving_of (set);

    fab_study_page_say (page, "Set first: %s. It saves %s of the time for the same work, and costs nothing.",
                        fab_study_text (set, "change"), saving);
  }
  if (buy != NULL) {
    g_autofree char *saving = saving_of (buy), *price = price_of (buy);

    fab_study_page_say (page, "Buy first: %s. It saves %s of the time for the same work, for %s.",
                        fab_study_text (buy, "change"), saving, price);
  } else {
    say_no_purchase (page, study);
  }
  if (most != NULL && most != buy) {
    g_autofree char *saving = saving_of (most), *price = price_of (most);

    fab_study_page_say (page, "Most is saved by %s: %s, for %s.", fab_study_text (most, "change"), saving,
                        price);
  }
}

/* Larger purchases that save less than smaller ones; files of earlier versions have none. */
static void
add_reversals (FabStudyPage *page, JsonObject *study)
{
  g_autoptr (GPtrArray) reversals = fab_study_objects (study, "larger_saves_less");

  for (guint i = 0; i < reversals->len; i++) {
    const char *why = fab_study_text (g_ptr_array_index (reversals, i), "why");

    if (why != NULL)
      fab_study_page_caution (page, why);
  }
}

static void
say_today (FabStudyPage *page, JsonObject *study)
{
  g_autofree char *step = fab_study_show_band (FAB_FIGURE_TIME, fab_study_number (study, "step_s"),
                                               fab_study_number (study, "step_low_s"),
                                               fab_study_number (study, "step_high_s"));
  const char *limit = fab_study_text (study, "limited_by");

  fab_study_page_say (page, "Today a step takes %s%s%s.", step, limit != NULL ? ", limited by " : "",
                      limit != NULL ? limit : "");
}

/* What a state of a change means to a reader. */
static const char *
sureness_of (const char *state)
{
  return g_strcmp0 (state, "within band") == 0 ? "may be no gain" : state;
}

static void
add_change (FabStudyPage *page, JsonObject *change, gboolean is_chosen)
{
  const char *name = fab_study_text (change, "change");

  if (name == NULL)
    return;
  fab_study_page_mark (page, name, fab_study_number (change, "saved_fraction"),
                       fab_study_number (change, "saved_low_fraction"),
                       fab_study_number (change, "saved_high_fraction"), is_chosen);
  fab_study_page_row (page, is_chosen, g_strdup (name), saving_of (change),
                      fab_study_show_price (fab_study_number (change, "price_usd")),
                      fab_study_show (FAB_FIGURE_TIME, fab_study_number (change, "step_s")),
                      fab_study_show_text (sureness_of (fab_study_text (change, "state"))),
                      fab_study_show_text (fab_study_text (change, "then_limited_by")), (char *) NULL);
}

void
fab_study_fill_upgrade (FabStudyPage *page, JsonObject *study)
{
  g_autoptr (GPtrArray) changes = fab_study_objects (study, "changes");
  const char *chosen[] = { fab_study_text (study, "set_first"), fab_study_text (study, "buy_first"),
                           fab_study_text (study, "most") };
  guint n = 0;

  page->title = g_strdup ("What should change first?");
  page->subject = g_strdup (fab_study_text (study, "scenario"));
  page->kind = FAB_FIGURE_FRACTION;
  page->plot = g_strdup ("Share of the time for the same work that a change saves, with its band");
  say_choices (page, study, changes);
  say_today (page, study);
  fab_study_page_columns (page, "Change", "Saves", "Price", "Step", "How sure", "Then limited by",
                          (char *) NULL);
  for (guint i = 0; i < changes->len; i++) {
    JsonObject *change = g_ptr_array_index (changes, i);
    gboolean is_chosen = FALSE, is_gain = g_strcmp0 (fab_study_text (change, "state"), "no gain")
                                       != 0; /* or another's is as large */

    for (guint k = 0; k < G_N_ELEMENTS (chosen); k++)
      is_chosen |= chosen[k] != NULL && g_strcmp0 (chosen[k], fab_study_text (change, "change")) == 0;
    if (is_gain && fab_study_number (change, "saved_fraction") > 0
        && (is_chosen || n++ < FAB_STUDY_MOST_ROWS))
      add_change (page, change, is_chosen);
  }
  page->n_left_out = changes->len - page->rows->len;
  add_reversals (page, study);
  fab_study_add_band (page, fab_study_object (study, "band"));
}

/* --- growth --- */

static void
add_path (FabStudyPage *page, JsonObject *path, gboolean is_chosen)
{
  const char *name = fab_study_text (path, "path"), *problem = fab_study_text (path, "problem");
  double total = fab_study_number (path, "total_usd");

  if (name == NULL)
    return;
  if (!isnan (total))
    fab_study_page_mark (page, name, total, fab_study_number (path, "total_low_usd"),
                         fab_study_number (path, "total_high_usd"), is_chosen);
  fab_study_page_row (page, is_chosen, g_strdup (name),
                      fab_study_show (FAB_FIGURE_MONEY, fab_study_number (path, "today_usd")),
                      fab_study_show (FAB_FIGURE_MONEY, fab_study_number (path, "later_usd")),
                      fab_study_show (FAB_FIGURE_MONEY, total),
                      fab_study_show (FAB_FIGURE_TIME, fab_study_number (path, "step_s")),
                      fab_study_show (FAB_FIGURE_TIME, fab_study_number (path, "step_later_s")),
                      problem != NULL
                          ? g_strdup (problem)
                          : g_strdup_printf ("%.0f of %.0f", fab_study_number (path, "cables_kept"),
                                             fab_study_number (path, "cables")),
                      (char *) NULL);
}

/* The cheapest, and of several the one with the shortest step later; `n_equal` counts others of its price. */
static JsonObject *
cheapest_of (const GPtrArray *paths, guint *n_equal)
{
  JsonObject *best = NULL;

  *n_equal = 0;
  for (guint i = 0; i < paths->len; i++) {
    JsonObject *path = g_ptr_array_index (paths, i);
    double total = fab_study_number (path, "total_usd"), least = fab_study_number (best, "total_usd");

    if (isnan (total) || total > least)
      continue;
    *n_equal = total == least ? *n_equal + 1 : 0;
    if (best == NULL || total < least
        || fab_study_number (path, "step_later_s") < fab_study_number (best, "step_later_s"))
      best = path;
  }
  return best;
}

static void
say_growth (FabStudyPage *page, JsonObject *best, guint n_equal)
{
  g_autofree char *price = fab_study_show_band (FAB_FIGURE_MONEY, fab_study_number (best, "total_usd"),
                                                fab_study_number (best, "total_low_usd"),
                                                fab_study_number (best, "total_high_usd")),
                  *step = fab_study_show (FAB_FIGURE_TIME, fab_study_number (best, "step_later_s"));
  const char *name = fab_study_text (best, "path");

  if (name == NULL) {
    fab_study_page_say (page, "No way to grow has a price.");
    return;
  }
  fab_study_page_say (page, "Cheapest in all: %s, for %s.", name, price);
  if (n_equal > 0)
    fab_study_page_say (page, "%u other %s as much, with a step later that is as long or longer: %s here.",
                        n_equal, n_equal > 1 ? "ways cost" : "way costs", step);
}

void
fab_study_fill_grow (FabStudyPage *page, JsonObject *study)
{
  g_autoptr (GPtrArray) paths = fab_study_objects (study, "paths");
  guint n_equal;
  JsonObject *best = cheapest_of (paths, &n_equal);

  page->title = g_strdup ("How should a machine be built that will grow?");
  page->subject = g_strdup (fab_study_text (study, "scenario"));
  page->kind = FAB_FIGURE_MONEY;
  page->plot = g_strdup ("To buy today and later, with prices from low to high");
  say_growth (page, best, n_equal);
  fab_study_page_columns (page, "Way", "Today", "Later", "In all", "Step today", "Step later", "Cables kept",
                          (char *) NULL);
  for (guint i = 0; i < paths->len && i < FAB_STUDY_MOST_ROWS; i++)
    add_path (page, g_ptr_array_index (paths, i), g_ptr_array_index (paths, i) == best);
  page->n_left_out = paths->len - page->rows->len;
}
