/* SPDX-License-Identifier: Apache-2.0 */
/* size.c - the page of `fabricast size`: the first value that is enough. */
#include <math.h>
#include <string.h>

#include "cli/report/study/kinds.h"
#include "sim/base/units.h"

/* The figure of a target such as "exposed <= 25 %", and its bound where it is a share or a time. */
static const FabFigure *
figure_of (const char *target, double *bound)
{
  g_auto (GStrv) words = g_strsplit (target != NULL ? target : "", " ", 4);
  const FabFigure *figure = words[0] != NULL ? fab_figure_find (words[0]) : NULL;

  *bound = NAN;
  if (figure == NULL || g_strv_length (words) < 3)
    return figure != NULL ? figure : fab_figure_find ("step");
  double number = g_ascii_strtod (words[2], NULL);
  if (figure->kind == FAB_FIGURE_FRACTION && g_strcmp0 (words[3], "%") == 0)
    *bound = number / 100;
  if (figure->kind == FAB_FIGURE_TIME) {
    g_autofree char *time = g_strconcat (words[2], words[3], NULL);
    FabTimePs ps;

    if (fab_units_parse_whole (FAB_UNIT_TIME, time, &ps, NULL))
      *bound = fab_ps_to_seconds (ps);
  }
  return figure;
}

/* No value is enough: the one that comes nearest, and what it reaches. */
static void
say_closest (FabStudyPage *page, JsonObject *study, const FabFigure *figure, const char *closest)
{
  g_autoptr (GPtrArray) points = fab_study_objects (study, "points");
  double reached = NAN;

  for (guint i = 0; i < points->len; i++)
    if (g_strcmp0 (fab_study_text (g_ptr_array_index (points, i), "value"), closest) == 0)
      reached = fab_study_number (g_ptr_array_index (points, i), figure->column);
  g_autofree char *shown = fab_study_show (figure->kind, reached);
  fab_study_page_say (page, "No value of %s that was tried meets %s; %s comes nearest%s%s%s%s.",
                      fab_study_word (study, "key"), fab_study_word (study, "target"), closest,
                      isnan (reached) ? "" : " with ", isnan (reached) ? "" : figure->name,
                      isnan (reached) ? "" : " ", isnan (reached) ? "" : shown);
}

static void
say_answer (FabStudyPage *page, JsonObject *study, const FabFigure *figure)
{
  const char *key = fab_study_word (study, "key"), *answer = fab_study_text (study, "answer"),
             *target = fab_study_word (study, "target"), *closest = fab_study_text (study, "closest");

  if (answer != NULL)
    fab_study_page_say (page, "%s = %s is the first value that meets %s.", key, answer, target);
  else if (closest != NULL)
    say_closest (page, study, figure, closest);
  else
    fab_study_page_say (page, "No value of %s that was tried meets %s.", key, target);
}

static void
say_band (FabStudyPage *page, JsonObject *study, const FabFigure *figure, JsonObject *band)
{
  const char *answer = fab_study_text (study, "answer"), *low = fab_study_text (study, "answer_low"),
             *high = fab_study_text (study, "answer_high"), *most = fab_study_text (band, "most");
  g_autofree char *from = fab_study_show (figure->kind, fab_study_number (band, "low")),
                  *to = fab_study_show (figure->kind, fab_study_number (band, "high"));
  double coverage = fab_study_number (band, "coverage_fraction");

  if (isnan (coverage))
    return;
  fab_study_page_say (page, "With %s, %s is from %s to %s in %.0f %% of cases%s%s.",
                      answer != NULL ? answer : "the nearest value", figure->name, from, to, 100 * coverage,
                      most != NULL ? ", most of it by " : "", most != NULL ? most : "");
  if (answer != NULL)
    fab_study_page_say (
        page,
        "Of the values that were tried, the first that is enough is %s at the better bound of this band, "
        "and %s at the worse one.",
        low != NULL ? low : "none of them", high != NULL ? high : "none of them");
}

static void
say_ports (FabStudyPage *page, JsonObject *study)
{
  g_autoptr (GPtrArray) ports = fab_study_objects (study, "ports");

  for (guint i = 0; i < ports->len; i++) {
    JsonObject *port = g_ptr_array_index (ports, i);
    const char *link = fab_study_text (port, "link"), *technology = fab_study_text (port, "technology");

    if (link != NULL && technology != NULL)
      fab_study_page_say (page, "A port that is sold with this rate or more: %s (%s), which %s the target.",
                          link, technology,
                          g_strcmp0 (fab_study_text (port, "is_met"), "yes") == 0 ? "meets" : "misses");
  }
}

static void
add_point (FabStudyPage *page, JsonObject *point, const FabFigure *figure, const char *answer,
           JsonObject *band)
{
  const char *value = fab_study_text (point, "value"), *problem = fab_study_text (point, "problem");
  gboolean is_answer = answer != NULL && g_strcmp0 (value, answer) == 0;
  double shown = fab_study_number (point, figure->column);

  if (value == NULL)
    return;
  if (!isnan (shown))
    fab_study_page_mark (page, value, shown, is_answer ? fab_study_number (band, "low") : NAN,
                         is_answer ? fab_study_number (band, "high") : NAN, is_answer);
  fab_study_page_row (page, is_answer, g_strdup (value),
                      fab_study_show (FAB_FIGURE_TIME, fab_study_number (point, "step_s")),
                      fab_study_show (FAB_FIGURE_FRACTION, fab_study_number (point, "exposed_fraction")),
                      fab_study_show (FAB_FIGURE_FRACTION, fab_study_number (point, "mfu_fraction")),
                      fab_study_show_price (fab_study_number (point, "capex_usd")),
                      fab_study_show_text (fab_study_text (point, "is_met")),
                      fab_study_show_text (problem != NULL ? problem : fab_study_text (point, "limited_by")),
                      (char *) NULL);
}

void
fab_study_fill_size (FabStudyPage *page, JsonObject *study)
{
  g_autoptr (GPtrArray) points = fab_study_objects (study, "points"),
                        bands = fab_study_objects (study, "band");
  const char *key = fab_study_text (study, "key"), *answer = fab_study_text (study, "answer");
  JsonObject *band = bands->len > 0 ? g_ptr_array_index (bands, 0) : NULL;
  const FabFigure *figure = figure_of (fab_study_text (study, "target"), &page->bound);

  page->title = g_strdup_printf ("How much %s is enough?", key != NULL ? key : "of it");
  page->subject = g_strdup (fab_study_text (study, "scenario"));
  page->kind = figure->kind;
  page->plot = g_strdup_printf ("%c%s by %s%s", g_ascii_toupper (figure->name[0]), figure->name + 1,
                                key != NULL ? key : "value",
                                isnan (page->bound) ? "" : "; the line is the target");
  say_answer (page, study, figure);
  say_band (page, study, figure, band);
  say_ports (page, study);
  fab_study_page_columns (page, "Value", "Step", "Exposed", "MFU", "To buy", "Meets the target", "Limited by",
                          (char *) NULL);
  for (guint i = 0; i < points->len && i < 2 * FAB_STUDY_MOST_ROWS; i++)
    add_point (page, g_ptr_array_index (points, i), figure, answer, band);
  page->n_left_out = points->len - page->rows->len;
  fab_study_add_verdict (page, study, NULL);
}
