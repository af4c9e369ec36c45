/* SPDX-License-Identifier: Apache-2.0 */
/* compare_sides.c - several scenarios, or variants of one: played at once, and what makes them equal. */
#include <math.h>
#include <string.h>
#include <unistd.h>

#include "answer/compare/sides.h"
#include "cli/cli.h"
#include "cli/compare/cmd_compare.h"
#include "cli/study/choice_text.h"
#include "cli/study/points_text.h"
#include "cli/terminal/curve.h"
#include "cli/terminal/progress.h"
#include "cli/terminal/terminal.h"
#include "cli/verdict.h"
#include "sim/base/error.h"
#include "sim/base/json.h"
#include "sim/base/nearest.h"

enum { MOST_VARIANTS = 16, RANGE_COLUMNS = 26, AFTER_BAR = 30, SHORTEST_BAR = 10 };

/* --- what is to be played --- */

/* One for each file, in `studies`. */
static FabStudy *
open_study (const FabCompareOptions *o, const char *path, const FabCatalog *catalog, GError **error)
{
  g_autoptr (FabStudy) study = fab_cli_study (path, o->sets, catalog, error);

  return study != NULL && fab_spread_parse (o->seeds, FAB_SPREAD_AUTO, &study->n_seeds, error)
           ? g_steal_pointer (&study)
           : NULL;
}

static GPtrArray *
sides_of_files (const FabCompareOptions *o, const FabCatalog *catalog, char **paths, guint n,
                GPtrArray *studies)
{
  GPtrArray *sides = g_ptr_array_new_with_free_func ((GDestroyNotify) fab_side_free);

  for (guint i = 0; i < n; i++) {
    GError *problem = NULL;
    FabStudy *study = open_study (o, paths[i], catalog, &problem);

    if (study != NULL)
      g_ptr_array_add (studies, study);
    g_ptr_array_add (sides,
                     study != NULL ? fab_side_new (NULL, study, NULL) : fab_side_failed (paths[i], problem));
  }
  return sides;
}

/* Of one file, whose study goes to `studies`; NULL and *error when it cannot be read. */
static GPtrArray *
sides_of_variants (const FabCompareOptions *o, const FabCatalog *catalog, const char *path,
                   const FabAxis *axis, GPtrArray *studies, GError **error)
{
  FabStudy *study = open_study (o, path, catalog, error);

  if (study == NULL)
    return NULL;
  g_ptr_array_add (studies, study);
  if (!fab_study_check_vary (study, axis, error) || !fab_compare_take_hold (o, study, error)
      || !fab_cli_check_axis (study, axis, error))
    return NULL;
  return fab_sides_of_axis (study, axis);
}

/* --- equality --- */

/* The figure of --at-equal, which the base has; NULL without the option. */
static gboolean
find_figure (const char *name, const FabSide *base, const FabFigure **figure, GError **error)
{
  *figure = name ? fab_figure_find (name) : NULL;
  if (name == NULL)
    return TRUE;
  if (*figure == NULL) {
    g_autofree char *names = fab_figure_names ();
    g_autofree char *note = fab_nearest_note (name, names);

    return fab_throw (error, FAB_ERROR_INPUT, "--at-equal %s: there is no such figure%s; these are: %s", name,
                      note, names);
  }
  if ((*figure)->is_known != NULL && !(*figure)->is_known (base->point))
    return fab_throw (error, FAB_ERROR_INPUT, "--at-equal %s: %s has none: %s", name, base->name,
                      (*figure)->unknown);
  return TRUE;
}

/* The key of --by; NULL: rates of NIC ports. FALSE and *error: it is no axis. */
static gboolean
read_axis (const char *by, FabAxis **axis, GError **error)
{
  *axis = NULL;
  if (by != NULL && strcmp (by, "cluster.nic_rate") != 0)
    *axis = fab_axis_parse (by, error);
  return by == NULL || *axis != NULL || strcmp (by, "cluster.nic_rate") == 0;
}

/* --- the page --- */

/* What is printed. `left_out` has what could not run and why, NULL-ended. */
typedef struct {
  const FabSidesAnswer *answer;
  char **left_out;
} SidesView;

static char *sides_text (const SidesView *view);
static char *sides_csv (const SidesView *view);
static char *sides_json (const SidesView *view);

static gboolean
print_sides (const FabCompareOptions *o, GPtrArray *sides, const FabAxis *variants, char **left_out,
             FabExit *code, GError **error)
{
  typedef char *(*ToTextFn) (const SidesView *view);
  static const ToTextFn printers[] = {
    [FAB_FORMAT_TEXT] = sides_text, [FAB_FORMAT_JSON] = sides_json, [FAB_FORMAT_CSV] = sides_csv
  };
  FabSidesRequest request = { .variants = variants,
                              .is_oversized_allowed = o->is_oversized_allowed,
                              .has_band = !o->has_no_band };
  g_autoptr (FabAxis) axis = NULL;

  if (!fab_sides_find (sides, o->against, &request.base, error)) {
    g_prefix_error (error, "--against %s: ", o->against);
    return FALSE;
  }
  const FabSide *base = fab_sides_at (sides, request.base);
  if (!find_figure (o->equal, base, &request.figure, error) || !read_axis (o->by, &axis, error))
    return FALSE;
  request.axis = axis;
  g_autoptr (FabSidesAnswer) answer = fab_sides_answer (sides, &request);
  g_autofree char *text = printers[o->format](&(SidesView){ answer, left_out });
  if (!fab_cli_print_rows (o->format, text, o->rows, error))
    return FALSE;
  *code = fab_cli_verdict_exit (base->point->verdict, o->is_oversized_allowed);
  return TRUE;
}

gboolean
fab_compare_sides (const FabCompareOptions *o, char **paths, guint n_paths, FabExit *code, GError **error)
{
  g_autoptr (FabAxis) variants = o->vary ? fab_axis_parse (o->vary, error) : NULL;
  g_autoptr (FabCatalog) catalog = o->vary == NULL || variants != NULL ? fab_cli_catalog (error) : NULL;
  g_autoptr (GPtrArray) left_out = g_ptr_array_new_with_free_func (g_free);

  if (catalog == NULL)
    return FALSE;
  if (variants == NULL && o->hold != NULL)
    return fab_throw (error, FAB_ERROR_INPUT,
                      "--hold %s: each scenario sets its own batch; --hold is for the variants of --vary",
                      o->hold);
  if (variants != NULL && variants->values->len > MOST_VARIANTS)
    return fab_throw (error, FAB_ERROR_INPUT, "--vary %s: %u columns are too many; the limit is %d", o->vary,
                      variants->values->len, MOST_VARIANTS);
  g_autoptr (GPtrArray) studies = g_ptr_array_new_with_free_func ((GDestroyNotify) fab_study_free);
  g_autoptr (GPtrArray) sides = variants ? sides_of_variants (o, catalog, paths[0], variants, studies, error)
                                         : sides_of_files (o, catalog, paths, n_paths, studies);
  if (sides == NULL)
    return FALSE;
  g_autoptr (FabProgress) progress = fab_progress_start ("scenarios");
  for (guint i = 0; i < studies->len; i++)
    ((FabStudy *) g_ptr_array_index (studies, i))->pulse = fab_progress_pulse (progress);
  gboolean is_settled = fab_sides_settle (sides, variants != NULL, !o->has_no_band, left_out, error);
  fab_progress_stop (progress);
  return is_settled && print_sides (o, sides, variants, (char **) left_out->pdata, code, error);
}

/* The page of several scenarios: words first, then figures, times, collectives, links. */

static const FabSide *
side_at (const FabSidesAnswer *answer, guint index)
{
  return fab_sides_at (answer->sides, index);
}

/* --- words --- */

static char *
binding_of (const FabSide *side)
{
  const FabPoint *point = side->point;

  return point->binding ? g_strdup_printf ("%s (%s)", point->binding, point->binding_spec) : NULL;
}

/* Of the scenario without what the variants change in it. (transfer full) NULL: it cannot be played without. */
static char *
title_of_base (const FabSide *side)
{
  g_autoptr (FabScenario) base = side->edits ? fab_study_scenario (side->study, NULL, NULL) : NULL;

  return base != NULL ? fab_cli_title (base) : NULL;
}

static void
append_titles (GString *text, const FabSidesAnswer *answer)
{
  const FabSide *first = side_at (answer, 0);
  gboolean is_one = first->edits != NULL;
  g_autofree char *base = title_of_base (first);

  for (guint i = 0; i < (is_one ? 1 : answer->sides->len); i++) {
    const FabSide *side = side_at (answer, i);
    const char *name = is_one ? fab_contrast_variant (answer->contrast, 0)->scenario : side->name;
    g_autofree char *title = side->summary ? g_strconcat (name, ": ", side->summary, NULL) : g_strdup (name);
    g_autofree char *printable = fab_cli_printable (title);

    g_string_append_printf (text, "%s\n", base != NULL ? base : printable);
  }
  g_string_append_c (text, '\n');
  fab_compare_append_hold (text, is_one ? first->study : NULL, answer->sides);
}

/* A line with what a planner pays for it, where prices are known. */
static void
append_price (GString *text, const FabSidesAnswer *answer, guint index)
{
  const FabFigure *figure = fab_figure_find ("token_cost");
  const FabPoint *base = side_at (answer, answer->contrast->base)->point,
                 *point = side_at (answer, index)->point;

  if (!fab_point_has (base, figure) || !fab_point_has (point, figure))
    return;
  g_autofree char *then = fab_figure_show (figure->kind, figure->value (base));
  g_autofree char *now = fab_figure_show (figure->kind, figure->value (point));
  g_autofree char *more = g_strdup_printf ("%.3g", figure->value (base) / figure->value (point));
  if (strcmp (more, "1") == 0)
    g_string_append_printf (text, "  A million tokens cost %s in both.\n", now);
  else
    g_string_append_printf (text,
                            "  A million tokens cost %s in place of %s, so a dollar buys %s times as many.\n",
                            now, then, more);
}

static const FabSideWords *
words_at (const FabSidesAnswer *answer, guint index)
{
  return &g_array_index (answer->words, FabSideWords, index);
}

/* Says why a side is no answer. */
static void
append_misfit (GString *text, const FabSide *side)
{
  const FabFinding *finding = fab_verdict_find (side->point->verdict, FAB_FINDING_DOES_NOT_FIT);

  if (finding == NULL)
    return;
  g_autofree char *words = g_strdup_printf ("%s: %s%s%s", side->name, finding->text,
                                            finding->advice ? " " : "",
                                            finding->advice ? finding->advice : "");
  g_autofree char *printable = fab_cli_printable (words);
  g_string_append_printf (text, "  %s\n", printable);
}

static void
append_words (GString *text, const SidesView *view)
{
  const FabSidesAnswer *answer = view->answer;

  for (guint i = 0; i < answer->sides->len; i++) {
    const FabSideWords *words = words_at (answer, i);

    append_misfit (text, side_at (answer, i));
    if (!words->is_judged)
      continue;
    g_autofree char *printable = fab_cli_printable (words->words);
    g_string_append_printf (text, "  %s\n", printable);
    if (words->differs)
      append_price (text, answer, i);
  }
  for (guint i = 0; view->left_out[i] != NULL; i++)
    g_string_append_printf (text, "  %s\n", view->left_out[i]);
}

/* A bar as long as the step of each side, on a screen; a file has the table. */
static void
append_bars (GString *text, const FabSidesAnswer *answer)
{
  guint columns = fab_terminal_columns (STDOUT_FILENO), width = 0;
  double longest_s = 0;

  for (guint i = 0; i < answer->sides->len; i++) {
    width = MAX (width, (guint) g_utf8_strlen (side_at (answer, i)->name, -1));
    longest_s = MAX (longest_s, side_at (answer, i)->point->step_s);
  }
  width = MIN (width, columns / 3);
  if (!fab_terminal_is_there (STDOUT_FILENO) || columns < width + AFTER_BAR + SHORTEST_BAR
      || !(longest_s > 0))
    return;
  g_string_append (text, "\n  step\n");
  for (guint i = 0; i < answer->sides->len; i++) {
    const FabPoint *point = side_at (answer, i)->point;
    g_autofree char *name = g_utf8_substring (side_at (answer, i)->name, 0, width);
    g_autofree char *printable = fab_cli_printable (name);
    g_autofree char *bar = fab_bar_for_screen ((columns - width - AFTER_BAR) * point->step_s / longest_s);
    g_autofree char *step = fab_figure_show (FAB_FIGURE_TIME, point->step_s);

    guint room = MAX (width, (guint) g_utf8_strlen (printable, -1)) - (guint) g_utf8_strlen (printable, -1);

    g_string_append_printf (text, "  %s%*s |%s %s, exposed %.1f %%\n", printable, (int) room, "", bar, step,
                            point->step_s > 0 ? 100 * point->exposed_s / point->step_s : 0);
  }
}

/* --- equality --- */

/* How the rate of the side's own ports compares with what it needs. */
static void
append_own_rate (GString *text, const FabSide *side, const FabSideEqual *equal)
{
  double own = (double) side->nic_bytes_per_s, needed = (double) equal->needed_bytes_per_s;

  if (equal->needed_bytes_per_s == 0)
    return;
  double factor = own > needed ? own / needed : needed / own;
  g_string_append_printf (text, "; its ports have %.4g Gb/s, ", own * 8 / 1e9);
  if (fabs (factor - 1) < 0.03)
    g_string_append (text, "the same");
  else
    g_string_append_printf (text, "%.3g times as %s", factor, own > needed ? "much" : "little");
}

static void
append_equal (GString *text, const FabSidesAnswer *answer, const FabSideEqual *equal)
{
  const FabSide *base = side_at (answer, answer->contrast->base), *side = side_at (answer, equal->side);
  const FabSize *size = equal->size;
  g_autofree char *value = fab_figure_write (answer->figure, answer->figure->value (base->point));

  if (size == NULL) {
    g_auto (GStrv) lines = g_strsplit (equal->problem, "\n", 2);

    g_string_append_printf (text, "  %s cannot be simulated with any of these values: %s\n", side->name,
                            lines[0]);
    return;
  }
  if (size->answer < 0) {
    const FabSizePoint *best = &size->points[size->best];
    g_autofree char *reached = fab_figure_write (answer->figure, answer->figure->value (best->trial.point));

    g_string_append_printf (
        text, "  With no %s from %s to %s does %s equal %s in %s (%s); it comes closest with %s: %s\n",
        answer->axis->key, size->points[0].value, size->points[size->n - 1].value, side->name, base->name,
        answer->figure->name, value, best->value, reached);
    return;
  }
  g_string_append_printf (text, "  %s equals %s in %s (%s) %s %s = %s", side->name, base->name,
                          answer->figure->name, value, size->answer == 0 ? "already with" : "with",
                          answer->axis->key, size->points[size->answer].value);
  append_own_rate (text, side, equal);
  g_string_append (text, size->is_unsteady ? ". Some larger values do not.\n" : ".\n");
}

/* --- table --- */

static void
append_counts (FabComparePage *page, const FabSidesAnswer *answer)
{
  guint n = answer->sides->len;
  g_auto (GStrv) gpus = g_new0 (char *, n + 1);
  g_auto (GStrv) nodes = g_new0 (char *, n + 1);
  g_auto (GStrv) rates = g_new0 (char *, n + 1);
  g_auto (GStrv) faster = g_new0 (char *, n + 1);

  for (guint i = 0; i < n; i++) {
    const FabSide *side = side_at (answer, i);

    gpus[i] = g_strdup_printf ("%u", side->point->n_ranks);
    nodes[i] = g_strdup_printf ("%u", side->point->n_nodes);
    rates[i] = side->nic_bytes_per_s > 0
                 ? g_strdup_printf ("%.4g Gb/s", (double) side->nic_bytes_per_s * 8 / 1e9)
                 : g_strdup ("-");
    faster[i] = !words_at (answer, i)->is_sound || !words_at (answer, answer->contrast->base)->is_sound
                  ? g_strdup ("-")
                  : g_strdup_printf ("%.3g x", words_at (answer, i)->speed_up);
  }
  fab_compare_append_cells (page, 2, "GPUs", gpus);
  fab_compare_append_cells (page, 2, "nodes", nodes);
  fab_compare_append_cells (page, 2, "a NIC port", rates);
  fab_compare_append_cells (page, 2, "speed-up", faster);
}

static void
append_range (FabComparePage *page, const FabSidesAnswer *answer, const char *figure)
{
  g_auto (GStrv) cells = g_new0 (char *, answer->sides->len + 1);
  g_autofree char *name = g_strdup_printf ("%s, low to high", figure);

  for (guint i = 0; i < answer->sides->len; i++)
    cells[i] = fab_spread_show (fab_figure_find (figure), side_at (answer, i)->point);
  fab_compare_append_cells (page, 2, name, cells);
}

/* Over several seeds: the ranges, and that of the difference from the base, seed by seed. */
static void
append_spread (FabComparePage *page, const FabSidesAnswer *answer)
{
  const FabSide *base = side_at (answer, answer->contrast->base);
  g_auto (GStrv) cells = g_new0 (char *, answer->sides->len + 1);
  g_autofree char *name = g_strconcat ("against ", base->name, NULL);

  if (answer->n_seeds == 1)
    return;
  append_range (page, answer, "step");
  for (guint i = 0; i < answer->sides->len; i++)
    cells[i] = i == answer->contrast->base ? g_strdup ("-")
                                           : fab_spread_show_change (base->point, side_at (answer, i)->point);
  fab_compare_append_cells (page, 4, name, cells);
  append_range (page, answer, "exposed");
}

/* The step and its exposed time stand there, also by dimension; what is exposed inside nodes is the rest of it. */
static gboolean
is_among_times (const FabFigure *figure)
{
  return strcmp (figure->name, "step") == 0 || strcmp (figure->name, "exposed_time") == 0
      || (g_str_has_prefix (figure->name, "exposed.") && strcmp (figure->name, "exposed.inter_node") != 0);
}

static void
append_figures (FabComparePage *page, const FabSidesAnswer *answer)
{
  for (const FabFigure *figure = fab_figures; figure->name != NULL; figure++) {
    g_auto (GStrv) cells = g_new0 (char *, answer->sides->len + 1);
    gboolean is_any = FALSE;

    if (is_among_times (figure))
      continue;
    for (guint i = 0; i < answer->sides->len; i++) {
      const FabPoint *point = side_at (answer, i)->point;

      gboolean is_shown = fab_point_has (point, figure)
                       && (words_at (answer, i)->is_sound || figure->kind == FAB_FIGURE_BYTES);

      is_any |= is_shown;
      cells[i] = is_shown ? fab_figure_cell (figure, figure->value (point)) : g_strdup ("-");
    }
    g_autofree char *label = fab_figure_label (figure);
    if (is_any)
      fab_compare_append_cells (page, 2, label, cells);
  }
  g_string_append_c (page->out, '\n');
}

static void
append_links (FabComparePage *page, const FabSidesAnswer *answer)
{
  g_string_append (page->out, "  limited by, and the slowest link\n");
  for (guint i = 0; i < answer->sides->len; i++) {
    const FabSide *side = side_at (answer, i);
    g_autofree char *binding = binding_of (side);
    g_autofree char *name = fab_cli_printable (side->name);

    if (binding != NULL)
      g_string_append_printf (page->out, "    %s: %s; %s, slowest of %.0f %% of the communication\n", name,
                              fab_points_limit (side->point, TRUE), binding,
                              100 * side->point->binding_fraction);
    else
      g_string_append_printf (page->out, "    %s: %s; no link\n", name, fab_points_limit (side->point, TRUE));
  }
}

/* Format the view. (transfer full) */
static char *
sides_text (const SidesView *view)
{
  const FabSidesAnswer *answer = view->answer;
  FabComparePage page;

  fab_compare_page_init (&page, answer->contrast);
  if (answer->n_seeds > 1)
    page.width = MAX (page.width, RANGE_COLUMNS);
  append_titles (page.out, answer);
  append_words (page.out, view);
  append_bars (page.out, answer);
  for (guint i = 0; i < answer->equals->len; i++)
    append_equal (page.out, answer, &g_array_index (answer->equals, FabSideEqual, i));
  g_string_append_c (page.out, '\n');
  while (fab_compare_page_next (&page)) {
    fab_compare_append_head (&page);
    append_counts (&page, answer);
    append_spread (&page, answer);
    append_figures (&page, answer);
    fab_compare_append_step (&page);
    fab_compare_append_sorts (&page);
    fab_compare_append_links (&page);
  }
  append_links (&page, answer);
  fab_compare_append_bands (page.out, answer->sides, answer->contrast->base);
  fab_spread_append_note (page.out, answer->n_seeds);
  fab_choice_append_text (page.out, answer->pairs);
  fab_compare_append_verdicts (&page);
  return g_string_free (page.out, FALSE);
}

/* --- for programs --- */

static char *
sides_csv (const SidesView *view)
{
  g_autoptr (FabPoints) points = fab_sides_points (view->answer);

  return fab_points_csv (points);
}

static void
add_equals (FabJson *json, const FabSidesAnswer *answer)
{
  fab_json_begin_array (json, "equals");
  for (guint i = 0; i < answer->equals->len; i++) {
    const FabSideEqual *equal = &g_array_index (answer->equals, FabSideEqual, i);
    const FabSize *size = equal->size;

    fab_json_begin_object (json, NULL);
    fab_json_add_text (json, "name", side_at (answer, equal->side)->name);
    fab_json_add_text (json, "figure", answer->figure->name);
    fab_json_add_text (json, "key", answer->axis->key);
    fab_json_add_text (json, "answer", size && size->answer >= 0 ? size->points[size->answer].value : NULL);
    fab_json_add_text (json, "closest", size ? size->points[size->best].value : NULL);
    fab_json_add_text (json, "problem", equal->problem);
    fab_json_end (json);
  }
  fab_json_end (json);
}

/* Of several seeds: how each differs from the base. */
static void
add_differences (FabJson *json, const FabSidesAnswer *answer)
{
  const FabSide *base = side_at (answer, answer->contrast->base);

  if (answer->n_seeds == 1)
    return;
  fab_json_begin_array (json, "differences");
  for (guint i = 0; i < answer->sides->len; i++) {
    if (i == answer->contrast->base)
      continue;
    fab_json_begin_object (json, NULL);
    fab_json_add_text (json, "name", side_at (answer, i)->name);
    fab_spread_add_change (json, base->point, side_at (answer, i)->point);
    fab_json_end (json);
  }
  fab_json_end (json);
}

static char *
sides_json (const SidesView *view)
{
  const FabSidesAnswer *answer = view->answer;
  g_autoptr (FabJson) json = fab_json_new (FAB_JSON_PAGE);
  g_autoptr (FabPoints) points = fab_sides_points (answer);

  fab_json_begin_object (json, NULL);
  fab_json_add_text (json, "against", side_at (answer, answer->contrast->base)->name);
  fab_json_add_text (json, "hold", points->hold);
  fab_points_add_json (json, "figures", points);
  fab_choice_add_json (json, answer->pairs);
  add_differences (json, answer);
  fab_compare_add_bands (json, answer->sides, answer->contrast->base);
  add_equals (json, answer);
  fab_compare_add_variants (json, answer->contrast);
  fab_json_begin_array (json, "left_out");
  for (guint i = 0; view->left_out[i] != NULL; i++)
    fab_json_add_text (json, NULL, view->left_out[i]);
  fab_json_end (json);
  fab_json_end (json);
  return fab_json_finish (json);
}
