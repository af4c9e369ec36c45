/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_size.c - `fabricast size SCENARIO --vary KEY=RANGE --target FIGURE<=BOUND`: what is enough. */
#include <math.h>
#include <string.h>

#include "answer/study/size.h"
#include "cli/cli.h"
#include "cli/study/choice_text.h"
#include "cli/study/hold_text.h"
#include "cli/study/points_text.h"
#include "cli/study/spread_text.h"
#include "cli/terminal/curve.h"
#include "cli/terminal/progress.h"
#include "cli/terminal/terminal.h"
#include "cli/verdict.h"
#include "sim/base/error.h"
#include "sim/base/json.h"
#include "sim/base/units.h"
#include "sim/study/usual.h"

typedef struct {
  double at;    /* from 0 to 1, along the values */
  double value; /* of the figure */
  gboolean is_marked;
} FabPlotPoint;

typedef struct {
  const char *title; /* of the scenario */
  const FabStudy *study;
  const FabSizeAnswer *answer;
  gboolean is_brief;
} FabSizeView;

enum { ROWS = 9, LABEL = 12, BEFORE = LABEL + 4, FILE_COLUMNS = BEFORE + 66 };

typedef struct {
  double least, most;
  guint columns;
  char *cells[ROWS];
} Plot;

static guint
row_of (const Plot *self, double value)
{
  double part = self->most > self->least ? (value - self->least) / (self->most - self->least) : 0.5;

  return (guint) lround ((1 - part) * (ROWS - 1));
}

static void
plot_init (Plot *self, double bound, const FabPlotPoint *points, guint n)
{
  self->least = self->most = bound;
  for (guint i = 0; i < n; i++) {
    self->least = MIN (self->least, points[i].value);
    self->most = MAX (self->most, points[i].value);
  }
  self->columns = fab_terminal_page_columns (FILE_COLUMNS) - BEFORE;
  for (guint row = 0; row < ROWS; row++)
    self->cells[row] = g_strnfill (self->columns, row == row_of (self, bound) ? '-' : ' ');
  for (guint i = 0; i < n; i++) {
    guint column = (guint) lround (points[i].at * (self->columns - 1));
    char *cell = &self->cells[row_of (self, points[i].value)][column];

    *cell = points[i].is_marked ? '@' : *cell == '@' ? '@' : 'o';
  }
}

static void
append_row (GString *text, const char *label, const char *cells)
{
  g_autofree char *line = g_strdup_printf ("  %*s |%s", LABEL, label, cells);

  g_string_append_printf (text, "%s\n", g_strchomp (line));
}

/* Appends the curve through at least two points; `from` and `to` label its ends. */
static void
plot_append (GString *text, const FabTarget *target, const FabPlotPoint *points, guint n, const char *from,
             const char *to)
{
  FabFigureKind kind = target->figure->kind;
  Plot plot;

  if (n < 2)
    return;
  plot_init (&plot, target->bound, points, n);
  for (guint row = 0; row < ROWS; row++) {
    gboolean is_bound = row == row_of (&plot, target->bound);
    g_autofree char *label = is_bound        ? fab_figure_show (kind, target->bound)
                           : row == 0        ? fab_figure_show (kind, plot.most)
                           : row == ROWS - 1 ? fab_figure_show (kind, plot.least)
                                             : g_strdup ("");

    append_row (text, label, plot.cells[row]);
    g_free (plot.cells[row]);
  }
  g_string_append_printf (text, "  %*s  %s%*s\n", LABEL, target->figure->name, from,
                          (int) MAX ((glong) plot.columns - (glong) strlen (from), 1), to);
}

/* --- text --- */

static const char *
limit_of (const FabPoint *point)
{
  const char *name = fab_bottleneck_part (point->bottleneck);

  return name != NULL ? name : "what nobody asked";
}

/* " with each of 8 seeds"; "" of one. */
static char *
say_seeds (const FabPoint *point)
{
  guint n = fab_spread_n_seeds (point);

  return n > 1 ? g_strdup_printf (" with each of %u seeds", n) : g_strdup ("");
}

/* What makes the job fit that comes closest, where it does not. */
static void
append_advice (GString *text, const FabVerdict *verdict)
{
  const FabFinding *finding = fab_verdict_find (verdict, FAB_FINDING_DOES_NOT_FIT);
  g_autofree char *advice = finding != NULL && finding->advice != NULL ? fab_cli_printable (finding->advice)
                                                                       : NULL;

  if (advice != NULL)
    g_string_append_printf (text, "  %s\n", advice);
}

/* What else would help, where no value is enough. */
static void
append_limits (GString *text, const FabPoint *point)
{
  g_autofree char *words = point != NULL && point->bottleneck != NULL && fab_point_fits (point)
                             ? fab_bottleneck_words (point->bottleneck)
                             : NULL;

  if (words != NULL)
    g_string_append_printf (text, "  %s\n", words);
}

/* " (5.38 % with the worst of 8 seeds)"; "" where all seeds have what is shown. */
static char *
say_worst (const FabTarget *target, const FabPoint *point, const char *shown)
{
  g_autofree char *worst = fab_figure_show (target->figure->kind, fab_target_worst (target, point));
  guint n = fab_spread_n_seeds (point);

  return n > 1 && !g_str_equal (worst, shown) ? g_strdup_printf (" (%s with the worst of %u seeds)", worst, n)
                                              : g_strdup ("");
}

/* " with exposed 15.7 %", what the value that comes closest reaches of each target; "" where it was not played. */
static char *
say_reached (const FabSizeAnswer *answer)
{
  const FabPoint *point = answer->size->points[answer->size->best].trial.point;
  GString *text = g_string_new (NULL);

  for (guint i = 0; point != NULL && i < answer->spec.n_targets; i++) {
    const FabFigure *figure = answer->spec.targets[i].figure;

    if (figure->is_known == NULL || figure->is_known (point)) {
      g_autofree char *value = fab_figure_show (figure->kind, figure->value (point));
      g_autofree char *worst = say_worst (&answer->spec.targets[i], point, value);

      g_string_append_printf (text, "%s %s %s%s", text->len > 0 ? "," : " with", figure->name, value, worst);
    }
  }
  return g_string_free (text, FALSE);
}

/* Whether the values are numbers of one unit that begin with the largest. */
static gboolean
is_downwards (const FabSize *size)
{
  const char *first = size->points[0].value, *last = size->points[size->n - 1].value;
  char *first_unit, *last_unit;
  double from = g_ascii_strtod (first, &first_unit), to = g_ascii_strtod (last, &last_unit);

  return first_unit != first && last_unit != last && strcmp (first_unit, last_unit) == 0 && from > to;
}

/* Whether memory is too small for the job with every value. */
static gboolean
fits_nowhere (const FabSizeAnswer *answer)
{
  for (guint i = 0; i < answer->size->n; i++) {
    const FabPoint *point = answer->size->points[i].trial.point;

    if (point == NULL || fab_point_fits (point))
      return FALSE;
  }
  return fab_verdict_find (answer->verdict, FAB_FINDING_DOES_NOT_FIT) != NULL;
}

/* Which values meet the target with some seeds alone. */
static void
append_luck (GString *text, const FabSizeView *view)
{
  const FabSize *size = view->answer->size;

  if (size->luck_from < 0)
    return;
  const char *from = size->points[size->luck_from].value, *to = size->points[size->luck_to].value;
  g_autofree char *where = size->luck_from == size->luck_to ? g_strdup_printf ("With %s", from)
                                                            : g_strdup_printf ("Between %s and %s", from, to);
  g_string_append_printf (
      text, "  %s the seed decides whether it is met, so other seeds may give another answer.\n", where);
}

static void
append_answer (GString *text, const FabSizeView *view)
{
  const FabSize *size = view->answer->size;
  const FabSizePoint *points = size->points;
  g_autofree char *target = fab_targets_write (view->answer->spec.targets, view->answer->spec.n_targets);

  if (size->answer < 0) {
    g_autofree char *stops = fab_verdict_stop_words (view->answer->verdict);

    g_autofree char *reached = say_reached (view->answer);
    if (fits_nowhere (view->answer))
      g_string_append_printf (text, "  With no value from %s to %s the job fits into memory. With %s: %s\n",
                              points[0].value, points[size->n - 1].value, points[size->best].value, stops);
    else
      g_string_append_printf (text, "  No value from %s to %s meets %s; %s comes closest%s%s%s\n",
                              points[0].value, points[size->n - 1].value, target, points[size->best].value,
                              reached, stops ? ". " : "", stops ? stops : "");
    append_luck (text, view);
    append_advice (text, view->answer->verdict);
    append_limits (text, points[size->best].trial.point);
    return;
  }
  g_autofree char *seeds = say_seeds (points[size->answer].trial.point);
  g_string_append_printf (text, "  %s = %s is the first value from %s %s that meets %s%s.\n",
                          view->answer->spec.axis->key, points[size->answer].value, points[0].value,
                          is_downwards (size) ? "down" : "on", target, seeds);
  append_luck (text, view);
  if (size->is_unsteady)
    g_string_append (text, "  Not all values after it meet it; see the table.\n");
  if (size->n_impossible > 0)
    g_string_append_printf (text, "  %s after it cannot be simulated; the table says why.\n",
                            size->n_impossible == 1 ? "One value" : "Some values");
  const char *now = limit_of (points[size->answer].trial.point);
  const char *then = size->before >= 0 ? limit_of (points[size->before].trial.point) : NULL;
  if (then != NULL)
    g_string_append_printf (text, "  The step is limited by %s with %s, and %s%s with %s.\n", then,
                            points[size->before].value, g_str_equal (then, now) ? "still" : "by ",
                            g_str_equal (then, now) ? "" : now, points[size->answer].value);
  else
    g_string_append_printf (text, "  The step is limited by %s with this value.\n", now);
}

/* What can be bought instead of a rate. */
static void
append_ports (GString *text, const FabSizeView *view)
{
  const FabTarget *target = &view->answer->spec.targets[0];

  for (guint i = 0; view->answer->ports != NULL && i < view->answer->ports->len; i++) {
    const FabPort *port = g_ptr_array_index (view->answer->ports, i);
    const FabPoint *point = port->trial.point;
    g_autofree char *figure = fab_point_has (point, target->figure)
                                ? fab_figure_write (target->figure, target->figure->value (point))
                                : g_strdup ("-");

    g_string_append_printf (text, "  %-10s%s (%s, %.4g Gb/s): %s %s%s\n", i == 0 ? "nearest" : "",
                            port->link->name, port->technology->name,
                            (double) fab_link_spec_line_rate (port->link) * 8 / 1e9,
                            point ? target->figure->name : "it cannot be simulated", point ? figure : "",
                            port->is_met || point == NULL ? "" : ", which is not enough");
  }
  if (view->answer->ports != NULL && view->answer->ports->len == 0)
    g_string_append (text, "  nearest   no port of the catalogue is as fast\n");
}

static void
append_sure_answer (GString *text, const FabSizeView *view)
{
  const FabSizePoint *points = view->answer->size->points;
  gint64 low = view->answer->uncertainty.answer_low, high = view->answer->uncertainty.answer_high;

  if (low >= 0 && low == high)
    g_string_append_printf (text, "            at both bounds of the band %s meets it\n", points[low].value);
  else if (low >= 0)
    g_string_append_printf (
        text, "            at the better bound of the band %s meets it, and at the worse one %s\n",
        points[low].value, high >= 0 ? points[high].value : "no tried value");
}

static void
append_band (GString *text, const FabSizeView *view)
{
  const FabBand *band = view->answer->uncertainty.band;
  const FabSizePoint *points = view->answer->size->points;

  if (band == NULL) {
    g_string_append (text, "  band      none: nothing in the scenario has a known uncertainty\n");
    return;
  }
  for (guint i = 0; i < view->answer->spec.n_targets; i++) {
    const FabFigure *figure = view->answer->spec.targets[i].figure;
    g_autofree char *low = fab_figure_show (figure->kind, band->low[i]),
                    *high = fab_figure_write (figure, band->high[i]), *most = fab_band_about (band, i);

    g_string_append_printf (text, "  %-10s%s from %s to %s with %s; %s\n", i == 0 ? "band" : "", figure->name,
                            low, high, points[view->answer->size->best].value, most);
  }
  append_sure_answer (text, view);
}

static char *
show_figure (double value, gconstpointer of)
{
  const FabFigure *figure = of;

  return fab_figure_show (figure->kind, value);
}

/* The same with dots of Braille characters, for people on a terminal; NULL or empty: there is none. (transfer full) */
static char *
picture_of (const FabSizeView *view)
{
  const FabSize *size = view->answer->size;
  const FabTarget *target = &view->answer->spec.targets[0];
  g_autofree double *values = g_new (double, MAX (size->n, 1));

  for (guint i = 0; i < size->n; i++) {
    const FabPoint *point = size->points[i].trial.point;

    values[i] = fab_point_has (point, target->figure) ? target->figure->value (point) : NAN;
  }
  FabCurve curve = {
    .title = target->figure->name,
    .first = size->points[0].value,
    .last = size->points[size->n - 1].value,
    .prefix = "  ",
    .values = values,
    .n = size->n,
    .show = show_figure,
    .of = target->figure,
    .level = &target->bound,
  };
  if (size->answer >= 0) {
    curve.mark = size->points[size->answer].value;
    curve.marked = (guint) size->answer;
  }
  return fab_curve_for_screen (&curve);
}

static void
append_curve (GString *text, const FabSizeView *view)
{
  const FabSize *size = view->answer->size;
  const FabTarget *target = &view->answer->spec.targets[0];
  g_autofree FabPlotPoint *points = g_new (FabPlotPoint, size->n);
  guint n = 0;

  for (guint i = 0; i < size->n; i++)
    if (fab_point_has (size->points[i].trial.point, target->figure))
      points[n++] = (FabPlotPoint){ size->n > 1 ? (double) i / (size->n - 1) : 0,
                                    target->figure->value (size->points[i].trial.point),
                                    (gint64) i == size->answer };
  if (n < 3)
    return;
  g_string_append_c (text, '\n');
  g_autofree char *picture = picture_of (view);
  if (picture != NULL && *picture != '\0') {
    g_string_append (text, picture);
    return;
  }
  plot_append (text, target, points, n, size->points[0].value, size->points[size->n - 1].value);
}

/* Format the view. (transfer full) */
static char *
size_text (const FabSizeView *view)
{
  GString *text = g_string_new (NULL);
  g_autoptr (FabPoints) points = fab_size_points (view->answer, TRUE);

  g_string_append_printf (text, "%s\n\n", view->title);
  fab_hold_append_points (text, view->study, points);
  append_answer (text, view);
  append_ports (text, view);
  append_band (text, view);
  if (!view->is_brief)
    append_curve (text, view);
  g_string_append_c (text, '\n');
  fab_points_append_text (text, points);
  fab_spread_append_note (text, fab_points_n_seeds (points));
  if (view->is_brief)
    return g_string_free (text, FALSE);
  g_string_append_printf (text, "\n  %u of %u %s tried\n", view->answer->size->n_tried, view->answer->size->n,
                          fab_plural (view->answer->size->n_tried, "values was", "values were"));
  fab_choice_append_text (text, view->answer->pairs);
  fab_cli_append_findings (text, view->answer->verdict);
  return g_string_free (text, FALSE);
}

/* --- for programs --- */

static char *
size_csv (const FabSizeView *view)
{
  g_autoptr (FabPoints) points = fab_size_points (view->answer, FALSE);

  return fab_points_csv (points);
}

static void
add_ports (FabJson *json, const FabSizeView *view)
{
  fab_json_begin_array (json, "ports");
  for (guint i = 0; view->answer->ports != NULL && i < view->answer->ports->len; i++) {
    const FabPort *port = g_ptr_array_index (view->answer->ports, i);

    fab_json_begin_object (json, NULL);
    fab_json_add_text (json, "link", port->link->name);
    fab_json_add_text (json, "technology", port->technology->name);
    fab_json_add_real (json, "rate_bytes_per_s", (double) fab_link_spec_line_rate (port->link));
    fab_json_add_text (json, "is_met", port->is_met ? "yes" : "no");
    for (guint t = 0; t < view->answer->spec.n_targets && port->trial.point != NULL; t++)
      fab_json_add_real (json, view->answer->spec.targets[t].figure->column,
                         view->answer->spec.targets[t].figure->value (port->trial.point));
    fab_json_add_text (json, "problem", port->trial.problem);
    fab_json_end (json);
  }
  fab_json_end (json);
}

static void
add_band (FabJson *json, const FabSizeView *view)
{
  const FabUncertainty *uncertainty = &view->answer->uncertainty;
  const FabSizePoint *points = view->answer->size->points;

  fab_json_begin_array (json, "band");
  for (guint i = 0; uncertainty->band != NULL && i < view->answer->spec.n_targets; i++) {
    g_autofree char *most = fab_band_most (uncertainty->band, i);

    fab_json_begin_object (json, NULL);
    fab_json_add_text (json, "figure", view->answer->spec.targets[i].figure->column);
    fab_json_add_real (json, "low", uncertainty->band->low[i]);
    fab_json_add_real (json, "high", uncertainty->band->high[i]);
    fab_json_add_text (json, "most", most);
    fab_json_add_real (json, "coverage_fraction", uncertainty->band->coverage_fraction);
    fab_json_end (json);
  }
  fab_json_end (json);
  fab_json_add_text (json, "answer_low",
                     uncertainty->answer_low >= 0 ? points[uncertainty->answer_low].value : NULL);
  fab_json_add_text (json, "answer_high",
                     uncertainty->answer_high >= 0 ? points[uncertainty->answer_high].value : NULL);
}

static char *
size_json (const FabSizeView *view)
{
  const FabSize *size = view->answer->size;
  g_autoptr (FabJson) json = fab_json_new (FAB_JSON_PAGE);
  g_autofree char *target = fab_targets_write (view->answer->spec.targets, view->answer->spec.n_targets);
  g_autoptr (FabPoints) points = fab_size_points (view->answer, FALSE);

  fab_json_begin_object (json, NULL);
  fab_json_add_text (json, "scenario", view->title);
  fab_json_add_text (json, "key", view->answer->spec.axis->key);
  fab_json_add_text (json, "target", target);
  fab_json_add_text (json, "hold", view->answer->hold);
  fab_json_add_text (json, "answer", size->answer >= 0 ? size->points[size->answer].value : NULL);
  fab_json_add_text (json, "closest", size->points[size->best].value);
  fab_json_add_whole (json, "is_unsteady", size->is_unsteady);
  add_ports (json, view);
  add_band (json, view);
  fab_verdict_add_json (view->answer->verdict, json, "verdict");
  fab_points_add_json (json, "points", points);
  fab_choice_add_json (json, view->answer->pairs);
  fab_json_end (json);
  return fab_json_finish (json);
}

typedef struct {
  char *format_name, *seeds, *vary, *hold;
  char **targets, **sets;
  gboolean is_brief, is_oversized_allowed;
  FabFormat format;
} SizeOptions;

static const FabUsage usage = {
  .arguments = "SCENARIO",
  .summary =
      "Finds the first value of a key with which a scenario meets a target. It also prints the bottleneck\n"
      "before and after, the nearest product, and the band of the answer. Exit code 1: no value meets the\n"
      "target.\n\n"
      "Values are a list or a range (A..B:STEP, A..B:xFACTOR, A..B:/COUNT), from the least desirable to the\n"
      "most; only a few of them are simulated. Targets of the whole training hold the global batch.\n\n"
      "A target is a figure and a bound: exposed<=5%, exposed.data<=5%, exposed.inter_node<=5%, waiting<=2%,\n"
      "mfu>=40%, step<=1.2s, days<=30, memory<=80GB, token_cost<=$0.05.",
  .examples =
      "  fabricast size scenarios/zero3-13b-slow-fabric.yaml --vary cluster.nic_rate=50..1600Gb/s:50 "
      "--target 'exposed<=20%'\n"
      "  fabricast size scenarios/zero3-13b-slow-fabric.yaml --vary cluster.nic_rate --target 'mfu>=25%'\n"
      "  fabricast size scenarios/ddp-2b-4nodes-200g.yaml --vary job.micro_batch=1..64:x2 --target 'mfu>=30%' "
      "--target 'memory<=60GB'\n"
      "  fabricast size scenarios/hello.yaml --vary cluster.nodes=1..16:x2 --target 'step<=300ms' --hold batch\n",
  .min_rest = 1,
  .max_rest = 1,
};

static char *
title_of (const FabStudy *study, GError **error)
{
  g_autoptr (FabScenario) scenario = fab_study_scenario (study, NULL, error);

  return scenario ? fab_cli_title (scenario) : NULL;
}

static gboolean
parse_targets (char **texts, GArray *targets, GError **error)
{
  for (guint i = 0; texts[i] != NULL; i++) {
    FabTarget target;

    if (!fab_target_parse (texts[i], &target, error))
      return FALSE;
    g_array_append_val (targets, target);
  }
  return TRUE;
}

/* -1: it failed; else whether a value meets the targets. */
static int
find (const SizeOptions *o, FabStudy *study, const FabSizeSpec *spec, const char *title, GError **error)
{
  typedef char *(*ToTextFn) (const FabSizeView *view);
  static const ToTextFn printers[] = {
    [FAB_FORMAT_TEXT] = size_text, [FAB_FORMAT_JSON] = size_json, [FAB_FORMAT_CSV] = size_csv
  };
  g_autoptr (FabProgress) progress = fab_progress_start ("points");

  study->pulse = fab_progress_pulse (progress);
  g_autoptr (FabSizeAnswer) answer = fab_size_answer (study, spec, error);
  if (answer == NULL)
    return -1;
  fab_progress_stop (progress);
  g_autofree char *text = printers[o->format](&(FabSizeView){ title, study, answer, o->is_brief });
  fab_cli_print (o->format, text);
  return answer->size->answer >= 0;
}

static gboolean
take_hold (const SizeOptions *o, FabStudy *study, const GArray *targets, GError **error)
{
  g_autofree const FabFigure **figures = g_new (const FabFigure *, targets->len);

  for (guint i = 0; i < targets->len; i++)
    figures[i] = g_array_index (targets, FabTarget, i).figure;
  return fab_hold_take (study, o->hold, figures, targets->len, error);
}

static int
size (const SizeOptions *o, const char *path, GError **error)
{
  g_autoptr (GArray) targets = g_array_new (FALSE, FALSE, sizeof (FabTarget));

  if (o->vary == NULL || o->targets == NULL) {
    fab_throw (error, FAB_ERROR_INPUT, "%s is missing; give a key that may vary and a target to meet",
               o->vary ? "--target" : "--vary");
    return -1;
  }
  if (!parse_targets (o->targets, targets, error))
    return -1;
  g_autoptr (FabCatalog) catalog = fab_cli_catalog (error);
  g_autoptr (FabStudy) study = fab_cli_study (path, o->sets, catalog, error);
  g_autofree char *title = study ? title_of (study, error) : NULL;
  if (title == NULL || !fab_spread_parse (o->seeds, FAB_SPREAD_AUTO, &study->n_seeds, error)
      || !take_hold (o, study, targets, error))
    return -1;
  study->allows_oversized = o->is_oversized_allowed;
  g_autoptr (FabAxis) axis = strchr (o->vary, '=') != NULL ? fab_axis_parse (o->vary, error)
                                                           : fab_axis_usual (study, o->vary, error);
  FabSizeSpec spec = { axis, (const FabTarget *) (gpointer) targets->data, targets->len };
  return axis != NULL && fab_study_check_vary (study, axis, error) && fab_cli_check_axis (study, axis, error)
           ? find (o, study, &spec, title, error)
           : -1;
}

static FabExit
run (int argc, char **argv)
{
  SizeOptions o = { 0 };
  const GOptionEntry entries[] = { { "vary", 0, 0, G_OPTION_ARG_STRING, &o.vary,
                                     "Key and its values (default: the usual values of this key)",
                                     "KEY[=VALUES]" },
                                   { "target", 0, 0, G_OPTION_ARG_STRING_ARRAY, &o.targets,
                                     "Target to meet; repeatable, and all must be met", "FIGURE<=BOUND" },
                                   FAB_SET_ENTRY (&o.sets),
                                   FAB_BRIEF_ENTRY (&o.is_brief, "Print the answer and its table alone"),
                                   FAB_HOLD_ENTRY (&o.hold),
                                   FAB_SEEDS_ENTRY (&o.seeds),
                                   FAB_ALLOW_OVERSIZED_ENTRY (&o.is_oversized_allowed),
                                   FAB_FORMAT_ENTRY (&o.format_name),
                                   G_OPTION_ENTRY_NULL };
  g_autoptr (GError) error = NULL;
  int met = fab_cli_parse (&usage, entries, &argc, &argv, &error)
                 && fab_cli_format (o.format_name, &o.format, &error)
              ? size (&o, argv[1], &error)
              : -1;

  g_free (o.format_name);
  g_free (o.seeds);
  g_free (o.vary);
  g_free (o.hold);
  g_strfreev (o.targets);
  g_strfreev (o.sets);
  return met < 0 ? fab_cli_fail ("size", error) : met ? FAB_EXIT_DONE : FAB_EXIT_UNMET;
}

const FabCommand fab_command_size = {
  .name = "size",
  .summary = "Find the least bandwidth, GPUs or other value that meets a target",
  .run = run,
};
