/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/report/study/page.h"

#include <math.h>
#include <string.h>

#include "sim/base/version.h"

enum { MOST_TICKS = 5 };

static void
clear_mark (gpointer data)
{
  g_free (((FabStudyMark *) data)->name);
}

static void
unref_row (gpointer data)
{
  g_ptr_array_unref (data);
}

FabStudyPage *
fab_study_page_new (void)
{
  FabStudyPage *self = g_new0 (FabStudyPage, 1);

  self->bound = NAN;
  self->decision = g_ptr_array_new_with_free_func (g_free);
  self->columns = g_ptr_array_new_with_free_func (g_free);
  self->rows = g_ptr_array_new_with_free_func (unref_row);
  self->cautions = g_ptr_array_new_with_free_func (g_free);
  self->marks = g_array_new (FALSE, FALSE, sizeof (FabStudyMark));
  g_array_set_clear_func (self->marks, clear_mark);
  self->chosen = g_array_new (FALSE, FALSE, sizeof (guint));
  return self;
}

void
fab_study_page_free (FabStudyPage *self)
{
  if (self == NULL)
    return;
  g_free (self->title);
  g_free (self->subject);
  g_free (self->plot);
  g_ptr_array_unref (self->decision);
  g_ptr_array_unref (self->columns);
  g_ptr_array_unref (self->rows);
  g_ptr_array_unref (self->cautions);
  g_array_unref (self->marks);
  g_array_unref (self->chosen);
  g_free (self);
}

/* A number stays on one line with its percent sign. (transfer full) */
static char *
bound_to_percents (const char *text)
{
  g_auto (GStrv) parts = g_strsplit (text, " %", -1);

  return g_strjoinv ("\u00a0%", parts);
}

void
fab_study_page_say (FabStudyPage *self, const char *format, ...)
{
  va_list arguments;

  va_start (arguments, format);
  g_autofree char *text = g_strdup_vprintf (format, arguments);
  va_end (arguments);
  g_ptr_array_add (self->decision, bound_to_percents (text));
}

void
fab_study_page_caution (FabStudyPage *self, const char *text)
{
  g_autofree char *bound = bound_to_percents (text);

  if (!g_ptr_array_find_with_equal_func (self->cautions, bound, g_str_equal, NULL))
    g_ptr_array_add (self->cautions, g_steal_pointer (&bound));
}

void
fab_study_page_columns (FabStudyPage *self, const char *first, ...)
{
  va_list names;

  va_start (names, first);
  for (const char *name = first; name != NULL; name = va_arg (names, const char *))
    g_ptr_array_add (self->columns, g_strdup (name));
  va_end (names);
}

void
fab_study_page_row (FabStudyPage *self, gboolean is_chosen, char *first, ...)
{
  GPtrArray *row = g_ptr_array_new_with_free_func (g_free);
  va_list cells;

  va_start (cells, first);
  for (char *cell = first; cell != NULL; cell = va_arg (cells, char *))
    g_ptr_array_add (row, cell);
  va_end (cells);
  if (is_chosen)
    g_array_append_val (self->chosen, self->rows->len);
  g_ptr_array_add (self->rows, row);
}

void
fab_study_page_mark (FabStudyPage *self, const char *name, double value, double low, double high,
                     gboolean is_chosen)
{
  const FabStudyMark mark = { g_strdup (name), value, low, high, is_chosen };

  g_array_append_val (self->marks, mark);
}

/* --- values --- */

/* A number stays on one line with its unit. */
char *
fab_study_show (FabFigureKind kind, double value)
{
  g_autofree char *text = isnan (value) ? g_strdup ("-") : fab_figure_show (kind, value);
  g_auto (GStrv) words = g_strsplit (text, " ", -1);

  return g_strjoinv ("\u00a0", words);
}

char *
fab_study_show_band (FabFigureKind kind, double value, double low, double high)
{
  g_autofree char *middle = fab_study_show (kind, value), *from = fab_study_show (kind, low),
                  *to = fab_study_show (kind, high);

  return isnan (value) || isnan (low) || isnan (high) ? g_strdup (middle)
                                                      : g_strdup_printf ("%s (%s to %s)", middle, from, to);
}

/* --- HTML --- */

G_GNUC_PRINTF (2, 3)
static void
append (GString *html, const char *format, ...)
{
  va_list arguments;

  va_start (arguments, format);
  g_autofree char *text = g_markup_vprintf_escaped (format, arguments);
  va_end (arguments);
  g_string_append (html, text);
}

/* An attribute in per cent of the picture's width, whatever the locale. */
static void
append_place (GString *html, const char *attribute, double percent)
{
  char number[G_ASCII_DTOSTR_BUF_SIZE];

  g_string_append_printf (html, " %s=\"%s%%\"", attribute,
                          g_ascii_formatd (number, sizeof number, "%.2f", percent));
}

/* --- plot --- */

typedef struct {
  double low, high, step;
} Scale;

/* 1, 2 or 5 times a power of ten. */
static double
round_step (double rough)
{
  double power = pow (10, floor (log10 (rough))), part = rough / power;

  return power * (part <= 1 ? 1 : part <= 2 ? 2 : part <= 5 ? 5 : 10);
}

/* From zero, or from the lowest where that is below. */
static Scale
scale_of (const FabStudyPage *self)
{
  Scale scale = { 0, isnan (self->bound) ? 0 : self->bound, 1 };

  for (guint i = 0; i < self->marks->len; i++) {
    const FabStudyMark *mark = &g_array_index (self->marks, FabStudyMark, i);

    scale.low = fmin (scale.low, fmin (mark->value, mark->low));
    scale.high = fmax (scale.high, fmax (mark->value, mark->high));
  }
  if (scale.high <= scale.low)
    scale.high = scale.low + 1;
  scale.step = round_step ((scale.high - scale.low) / MOST_TICKS);
  scale.low = floor (scale.low / scale.step) * scale.step;
  scale.high = ceil (scale.high / scale.step) * scale.step;
  return scale;
}

/* A mark at either end is whole. */
static double
place_of (const Scale *scale, double value)
{
  return 2 + 96 * (value - scale->low) / (scale->high - scale->low);
}

static guint
n_ticks (const Scale *scale)
{
  return (guint) lround ((scale->high - scale->low) / scale->step) + 1;
}

static void
append_lines (GString *html, const FabStudyPage *self, const Scale *scale)
{
  for (guint i = 0; i < n_ticks (scale); i++) {
    double x = place_of (scale, scale->low + i * scale->step);

    g_string_append (html, "<line class=\"grid\"");
    append_place (html, "x1", x);
    append_place (html, "x2", x);
    g_string_append (html, " y1=\"0\" y2=\"100%\"/>");
  }
  if (isnan (self->bound))
    return;
  g_string_append (html, "<line class=\"bound\"");
  append_place (html, "x1", place_of (scale, self->bound));
  append_place (html, "x2", place_of (scale, self->bound));
  g_string_append (html, " y1=\"0\" y2=\"100%\"/>");
}

static void
append_whisker (GString *html, const Scale *scale, const FabStudyMark *mark)
{
  const double ends[] = { place_of (scale, mark->low), place_of (scale, mark->high) };

  g_string_append (html, "<line class=\"whisker\"");
  append_place (html, "x1", ends[0]);
  append_place (html, "x2", ends[1]);
  g_string_append (html, " y1=\"50%\" y2=\"50%\"/>");
  for (guint i = 0; i < G_N_ELEMENTS (ends); i++) {
    g_string_append (html, "<rect class=\"end\"");
    append_place (html, "x", ends[i]);
    g_string_append (html, " y=\"50%\" width=\"1.5\" height=\"10\" transform=\"translate(-0.75 -5)\"/>");
  }
}

static void
append_mark (GString *html, const FabStudyPage *self, const Scale *scale, const FabStudyMark *mark)
{
  g_autofree char *text = fab_study_show_band (self->kind, mark->value, mark->low, mark->high);

  append (html, "<div class=\"mark%s\"><p class=\"name\">%s</p><p class=\"value\">%s</p>",
          mark->is_chosen ? " chosen" : "", mark->name, text);
  g_string_append (html, "<div class=\"track\"><svg aria-hidden=\"true\">");
  append_lines (html, self, scale);
  if (!isnan (mark->low) && !isnan (mark->high))
    append_whisker (html, scale, mark);
  g_string_append (html, "<circle");
  append_place (html, "cx", place_of (scale, mark->value));
  g_string_append (html, " cy=\"50%\" r=\"6\"/></svg></div></div>\n");
}

/* Names of every other line, so that they are apart on a phone too. */
static void
append_axis (GString *html, const FabStudyPage *self, const Scale *scale)
{
  guint n = n_ticks (scale), every = n > 4 ? 2 : 1;

  g_string_append (html, "<div class=\"mark axis\"><div class=\"track\"><svg aria-hidden=\"true\">");
  for (guint i = 0; i < n; i += every) {
    double value = scale->low + i * scale->step, x = place_of (scale, value);
    g_autofree char *text = fab_study_show (self->kind, value);

    /* at the very ends there is no room beyond the line */
    append (html, "<text y=\"16\" text-anchor=\"%s\"", i == 0 ? "start" : i == n - 1 ? "end" : "middle");
    append_place (html, "x", i == 0 ? 0 : i == n - 1 ? 100 : x);
    append (html, ">%s</text>", text);
  }
  g_string_append (html, "</svg></div></div>\n");
}

static void
append_plot (GString *html, const FabStudyPage *self)
{
  const Scale scale = scale_of (self);

  if (self->marks->len == 0)
    return;
  append (html, "<figure class=\"plot\"><h2>%s</h2>\n", self->plot);
  for (guint i = 0; i < self->marks->len; i++)
    append_mark (html, self, &scale, &g_array_index (self->marks, FabStudyMark, i));
  append_axis (html, self, &scale);
  g_string_append (html, "</figure>\n");
}

/* --- table --- */

static gboolean
is_chosen (const FabStudyPage *self, guint row)
{
  for (guint i = 0; i < self->chosen->len; i++)
    if (g_array_index (self->chosen, guint, i) == row)
      return TRUE;
  return FALSE;
}

/* Whether every cell of a column is a figure without a band, or says that there is none. */
static gboolean
has_figures (const FabStudyPage *self, guint column)
{
  for (guint i = 0; i < self->rows->len; i++) {
    const GPtrArray *row = g_ptr_array_index (self->rows, i);
    const char *cell = column < row->len ? g_ptr_array_index (row, column) : "-";

    if (strchr (cell, '(') != NULL
        || (!g_ascii_isdigit (*cell) && strchr ("$-", *cell) == NULL && strcmp (cell, "no price") != 0))
      return FALSE;
  }
  return TRUE;
}

static void
append_row (GString *html, const FabStudyPage *self, guint index)
{
  const GPtrArray *row = g_ptr_array_index (self->rows, index);

  g_string_append (html, is_chosen (self, index) ? "<tr class=\"chosen\">" : "<tr>");
  for (guint i = 0; i < row->len && i < self->columns->len; i++) {
    const char *cell = g_ptr_array_index (row, i), *column = g_ptr_array_index (self->columns, i);

    if (i == 0)
      append (html, "<th scope=\"row\">%s</th>", cell);
    else
      append (html,
              has_figures (self, i) ? "<td class=\"number\" data-label=\"%s\">%s</td>"
                                    : "<td data-label=\"%s\">%s</td>",
              column, cell);
  }
  g_string_append (html, "</tr>\n");
}

static void
append_table (GString *html, const FabStudyPage *self)
{
  if (self->rows->len == 0)
    return;
  g_string_append (html, "<table>\n<thead><tr>");
  for (guint i = 0; i < self->columns->len; i++)
    append (html,
            i > 0 && has_figures (self, i) ? "<th scope=\"col\" class=\"number\">%s</th>"
                                           : "<th scope=\"col\">%s</th>",
            (const char *) g_ptr_array_index (self->columns, i));
  g_string_append (html, "</tr></thead>\n<tbody>\n");
  for (guint i = 0; i < self->rows->len; i++)
    append_row (html, self, i);
  g_string_append (html, "</tbody></table>\n");
  if (self->n_left_out > 0)
    append (html, "<p class=\"note\">%u more are in the study's file.</p>\n", self->n_left_out);
}

static void
append_cautions (GString *html, const FabStudyPage *self)
{
  if (self->cautions->len == 0)
    return;
  g_string_append (html, "<h2>Before you quote this</h2>\n<ul>\n");
  for (guint i = 0; i < self->cautions->len; i++)
    append (html, "<li>%s</li>\n", (const char *) g_ptr_array_index (self->cautions, i));
  g_string_append (html, "</ul>\n");
}

char *
fab_study_page_html (const FabStudyPage *self, const char *style, const char *source)
{
  GString *html = g_string_new ("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
                                "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
                                "style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'\">\n"
                                "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
                                "<meta name=\"color-scheme\" content=\"light dark\">\n");

  append (html, "<title>%s</title>\n<style>", self->title);
  g_string_append (html, style);
  g_string_append (html, "</style>\n</head>\n<body>\n<main class=\"study\">\n");
  append (html, "<h1>%s</h1>\n", self->title);
  if (self->subject != NULL)
    append (html, "<p class=\"machine\">%s</p>\n", self->subject);
  g_string_append (html, "<div class=\"decision\">\n");
  for (guint i = 0; i < self->decision->len; i++)
    append (html, i == 0 ? "<p class=\"lead\"><b>%s</b></p>\n" : "<p>%s</p>\n",
            (const char *) g_ptr_array_index (self->decision, i));
  g_string_append (html, "</div>\n");
  append_plot (html, self);
  append_table (html, self);
  append_cautions (html, self);
  append (html, "</main>\n<footer><p>Made from %s by fabricast %s.</p></footer>\n</body>\n</html>\n", source,
          fab_version ());
  return g_string_free (html, FALSE);
}
