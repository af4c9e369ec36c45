/* SPDX-License-Identifier: Apache-2.0 */
/* compare_sides.c - several scenarios, or variants of one: played at once, and what makes them equal. */
#include <math.h>
#include <string.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/compare/cmd_compare.h"
#include "cli/study/choice_text.h"
#include "cli/study/points.h"
#include "cli/terminal/curve.h"
#include "cli/terminal/progress.h"
#include "cli/terminal/terminal.h"
#include "cli/verdict.h"
#include "models/models.h"
#include "sim/base/error.h"
#include "sim/base/json.h"
#include "sim/base/nearest.h"

enum { MOST_VARIANTS = 16, RANGE_COLUMNS = 26, AFTER_BAR = 30, SHORTEST_BAR = 10 };

/* --- what is to be played --- */

static char *sides_text (const FabSidesView *view);

static char *sides_csv (const FabSidesView *view);

static char *sides_json (const FabSidesView *view);

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

/* "nodes=4" of "cluster.nodes=4". */
static const char *
last_part (const char *assignment)
{
  const char *equals = strchr (assignment, '='), *dot = g_strrstr_len (assignment, equals - assignment, ".");

  return dot ? dot + 1 : assignment;
}

static GPtrArray *
sides_of_axis (const FabStudy *study, const FabAxis *axis)
{
  GPtrArray *sides = g_ptr_array_new_with_free_func ((GDestroyNotify) fab_side_free);

  for (guint i = 0; i < axis->values->len; i++) {
    g_autofree char *set = g_strconcat (axis->key, "=", (const char *) g_ptr_array_index (axis->values, i),
                                        NULL);

    g_ptr_array_add (sides,
                     fab_side_new (last_part (set), study, fab_edits_of ((const char *[]){ set, NULL })));
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
  if (!fab_study_check_vary (study, axis->key, error) || !fab_compare_take_hold (o, study, error))
    return NULL;
  return sides_of_axis (study, axis);
}

/* Several files may hold scenarios of one name: then they are called as the files are. */
static void
name_apart (GPtrArray *sides)
{
  g_autoptr (GHashTable) seen = g_hash_table_new (g_str_hash, g_str_equal);
  gboolean is_apart = TRUE;

  for (guint i = 0; i < sides->len; i++)
    is_apart &= g_hash_table_add (seen, fab_sides_at (sides, i)->name);
  for (guint i = 0; i < sides->len && !is_apart; i++) {
    FabSide *side = fab_sides_at (sides, i);

    g_free (side->name);
    side->name = g_path_get_basename (side->path);
    g_free (side->variant->name);
    side->variant->name = g_strdup (side->name);
  }
}

/* Values that cannot be played are left out; a file that cannot is a mistake. */
static gboolean
drop_problems (GPtrArray *sides, gboolean is_axis, GPtrArray *left_out, GError **error)
{
  if (!is_axis && !fab_sides_check (sides, error))
    return FALSE;
  for (guint i = sides->len; i-- > 0;) {
    const FabSide *side = fab_sides_at (sides, i);

    if (side->problem == NULL)
      continue;
    if (sides->len == 1)
      return fab_sides_check (sides, error);
    g_auto (GStrv) lines = g_strsplit (side->problem->message, "\n", 2);
    g_ptr_array_insert (left_out, 0, g_strdup_printf ("%s cannot be simulated: %s", side->name, lines[0]));
    g_ptr_array_remove_index (sides, i);
  }
  g_ptr_array_add (left_out, NULL);
  return TRUE;
}

/* Its name, or the value that it has. */
static gboolean
is_called (const FabSide *side, const char *name)
{
  return strcmp (side->name, name) == 0
      || (side->edits != NULL && strcmp (strchr (fab_edits_at (side->edits, 0)->text, '=') + 1, name) == 0);
}

static gboolean
find_base (const GPtrArray *sides, const char *against, guint *base, GError **error)
{
  g_autoptr (GString) names = g_string_new (NULL);

  *base = 0;
  for (guint i = 0; i < sides->len; i++) {
    if (against == NULL || is_called (fab_sides_at (sides, i), against)) {
      *base = i;
      return TRUE;
    }
    g_string_append_printf (names, "%s%s", i > 0 ? ", " : "", fab_sides_at (sides, i)->name);
  }
  return fab_throw (error, FAB_ERROR_INPUT, "--against %s: this is none of %s", against, names->str);
}

/* --- equality --- */

/* From a slow Ethernet to far beyond what is sold, in steps of 2.3 %. */
static FabAxis *
axis_of (const char *by, GError **error)
{
  if (by == NULL || strcmp (by, "cluster.nic_rate") == 0)
    return fab_axis_decades ("cluster.nic_rate", 10, 10000, 100, "Gb/s");
  return fab_axis_parse (by, error);
}

static void
equal_clear (gpointer data)
{
  FabCompareEqual *self = data;

  fab_size_free (self->size);
  g_free (self->problem);
}

static FabCompareEqual
find_equal (const FabSidesView *view, const FabSide *side, guint index)
{
  const FabPoint *base = fab_sides_at (view->sides, view->contrast->base)->point;
  FabTarget target = { view->figure, !view->figure->is_gain, view->figure->value (base) };
  g_autoptr (FabStudy) study = fab_study_edited (side->study, side->edits);
  study->allows_oversized = view->is_oversized_allowed;
  g_autoptr (GError) problem = NULL;
  FabCompareEqual equal = { index, fab_size_find (study, &(FabSizeSpec){ view->axis, &target, 1 }, &problem),
                            NULL };
  if (equal.size == NULL)
    equal.problem = g_strdup (problem->message);
  return equal;
}

static GArray *
find_equals (const FabSidesView *view)
{
  GArray *equals = g_array_new (FALSE, FALSE, sizeof (FabCompareEqual));

  const FabPoint *base = fab_sides_at (view->sides, view->contrast->base)->point;
  gboolean is_base_sound = view->is_oversized_allowed || !fab_verdict_stops (base->verdict);

  g_array_set_clear_func (equals, equal_clear);
  for (guint i = 0; view->figure != NULL && i < view->sides->len; i++)
    if (i != view->contrast->base && is_base_sound) {
      FabCompareEqual equal = find_equal (view, fab_sides_at (view->sides, i), i);

      g_array_append_val (equals, equal);
    }
  return equals;
}

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

/* --- the page --- */

static gboolean
print_sides (const FabCompareOptions *o, GPtrArray *sides, const FabAxis *variants, char **left_out,
             FabExit *code, GError **error)
{
  typedef char *(*ToTextFn) (const FabSidesView *view);
  static const ToTextFn printers[] = {
    [FAB_FORMAT_TEXT] = sides_text, [FAB_FORMAT_JSON] = sides_json, [FAB_FORMAT_CSV] = sides_csv
  };
  const FabFigure *figure;
  guint base;

  if (!find_base (sides, o->against, &base, error)
      || !find_figure (o->equal, fab_sides_at (sides, base), &figure, error))
    return FALSE;
  g_autoptr (FabAxis) axis = axis_of (o->by, error);
  if (axis == NULL)
    return FALSE;
  if (!o->has_no_band)
    fab_sides_compare (sides, base);
  fab_sides_find_bottlenecks (sides);
  g_autoptr (FabContrast) contrast = fab_sides_contrast (sides, base);
  FabSidesView view = { sides, contrast, left_out, figure, axis, NULL, variants, o->is_oversized_allowed };
  g_autoptr (GArray) equals = find_equals (&view);
  view.equals = equals;
  g_autofree char *text = printers[o->format](&view);
  fab_cli_print (o->format, text);
  *code = fab_cli_verdict_exit (fab_sides_at (sides, base)->point->verdict, o->is_oversized_allowed);
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
  fab_sides_play (sides);
  if (!o->has_no_band)
    fab_sides_find_bands (sides);
  fab_progress_stop (progress);
  if (!drop_problems (sides, variants != NULL, left_out, error))
    return FALSE;
  if (variants == NULL)
    name_apart (sides);
  return print_sides (o, sides, variants, (char **) left_out->pdata, code, error);
}

/* The page of several scenarios: words first, then figures, times, collectives, links. */

static const FabSide *
side_at (const FabSidesView *view, guint index)
{
  return fab_sides_at (view->sides, index);
}

static gboolean
is_known (const FabFigure *figure, const FabPoint *point)
{
  return figure->is_known == NULL || figure->is_known (point);
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
append_titles (GString *text, const FabSidesView *view)
{
  const FabSide *first = side_at (view, 0);
  gboolean is_one = first->edits != NULL;
  g_autofree char *base = title_of_base (first);

  for (guint i = 0; i < (is_one ? 1 : view->sides->len); i++) {
    const FabSide *side = side_at (view, i);
    const char *name = is_one ? fab_contrast_variant (view->contrast, 0)->scenario : side->name;
    g_autofree char *title = side->summary ? g_strconcat (name, ": ", side->summary, NULL) : g_strdup (name);
    g_autofree char *printable = fab_cli_printable (title);

    g_string_append_printf (text, "%s\n", base != NULL ? base : printable);
  }
  g_string_append_c (text, '\n');
  fab_compare_append_hold (text, is_one ? first->study : NULL, view->sides);
}

/* What limits the step, where it is something else than what limits the base's. */
static void
append_limit (GString *text, const FabSidesView *view, guint index)
{
  const FabSide *base = side_at (view, view->contrast->base), *side = side_at (view, index);
  const char *then = fab_bottleneck_name (base->point->bottleneck),
             *now = fab_bottleneck_name (side->point->bottleneck);

  if (then != NULL && now != NULL && strcmp (then, now) != 0)
    g_string_append_printf (text, " The step is limited by %s in place of %s.", now, then);
}

/* A line with what a planner pays for it, where prices are known. */
static void
append_price (GString *text, const FabSidesView *view, guint index)
{
  const FabFigure *figure = fab_figure_find ("token_cost");
  const FabPoint *base = side_at (view, view->contrast->base)->point, *point = side_at (view, index)->point;

  if (!is_known (figure, base) || !is_known (figure, point))
    return;
  g_autofree char *then = fab_figure_show (figure->kind, figure->value (base));
  g_autofree char *now = fab_figure_show (figure->kind, figure->value (point));
  g_string_append_printf (text,
                          "  A million tokens cost %s in place of %s, so a dollar buys %.3g times as many.\n",
                          now, then, figure->value (base) / figure->value (point));
}

/* Whether its figures may be compared. */
static gboolean
is_sound (const FabSidesView *view, guint index)
{
  return view->is_oversized_allowed || !fab_verdict_stops (side_at (view, index)->point->verdict);
}

/* Says why a side is no answer; TRUE where its figures are not to be compared. */
static gboolean
append_misfit (GString *text, const FabSidesView *view, guint index)
{
  const FabSide *side = side_at (view, index);
  const FabFinding *finding = fab_verdict_find (side->point->verdict, FAB_FINDING_DOES_NOT_FIT);

  if (finding != NULL) {
    g_autofree char *words = g_strdup_printf ("%s: %s%s%s", side->name, finding->text,
                                              finding->advice ? " " : "",
                                              finding->advice ? finding->advice : "");
    g_autofree char *printable = fab_cli_printable (words);

    g_string_append_printf (text, "  %s\n", printable);
  }
  return !is_sound (view, index);
}

static void
append_words (GString *text, const FabSidesView *view)
{
  for (guint i = 0; i < view->sides->len; i++) {
    g_autoptr (GString) words = g_string_new (NULL);

    if (append_misfit (text, view, i) || i == view->contrast->base || !is_sound (view, view->contrast->base))
      continue;
    const FabSide *base = side_at (view, view->contrast->base), *side = side_at (view, i);
    g_autofree char *why = fab_contrast_explain (view->contrast, i,
                                                 fab_spread_step_change (base->point, side->point));
    g_autofree char *said = fab_spread_words (why, base->name, base->point, side->name, side->point);
    g_string_append (words, said);
    gboolean differs = !fab_spread_is_within (fab_figure_find ("step"), base->point, side->point);

    if (differs)
      append_limit (words, view, i);
    g_autofree char *printable = fab_cli_printable (words->str);
    g_string_append_printf (text, "  %s\n", printable);
    if (differs)
      append_price (text, view, i);
  }
  for (guint i = 0; view->left_out[i] != NULL; i++)
    g_string_append_printf (text, "  %s\n", view->left_out[i]);
}

/* A bar as long as the step of each side, on a screen; a file has the table. */
static void
append_bars (GString *text, const FabSidesView *view)
{
  guint columns = fab_terminal_columns (STDOUT_FILENO), width = 0;
  double longest_s = 0;

  for (guint i = 0; i < view->sides->len; i++) {
    width = MAX (width, (guint) g_utf8_strlen (side_at (view, i)->name, -1));
    longest_s = MAX (longest_s, side_at (view, i)->point->step_s);
  }
  width = MIN (width, columns / 3);
  if (columns < width + AFTER_BAR + SHORTEST_BAR || !(longest_s > 0))
    return;
  g_string_append (text, "\n  step\n");
  for (guint i = 0; i < view->sides->len; i++) {
    const FabPoint *point = side_at (view, i)->point;
    g_autofree char *name = g_utf8_substring (side_at (view, i)->name, 0, width);
    g_autofree char *printable = fab_cli_printable (name);
    g_autofree char *bar = fab_bar_for_screen ((columns - width - AFTER_BAR) * point->step_s / longest_s);
    g_autofree char *step = fab_figure_show (FAB_FIGURE_TIME, point->step_s);

    guint room = MAX (width, (guint) g_utf8_strlen (printable, -1)) - (guint) g_utf8_strlen (printable, -1);

    g_string_append_printf (text, "  %s%*s |%s %s, exposed %.1f %%\n", printable, (int) room, "", bar, step,
                            point->step_s > 0 ? 100 * point->exposed_s / point->step_s : 0);
  }
}

/* --- equality --- */

static void
append_own_rate (GString *text, const FabSidesView *view, const FabSide *side, const char *answer)
{
  gint64 needed;

  if (strcmp (view->axis->key, "cluster.nic_rate") != 0 || side->nic_bytes_per_s == 0
      || strcmp (answer, g_ptr_array_index (view->axis->values, 0)) == 0
      || !fab_units_parse_whole (FAB_UNIT_RATE, answer, &needed, NULL))
    return;
  double own = (double) side->nic_bytes_per_s;
  double factor = own > (double) needed ? own / (double) needed : (double) needed / own;
  g_string_append_printf (text, "; its ports have %.4g Gb/s, ", own * 8 / 1e9);
  if (fabs (factor - 1) < 0.03)
    g_string_append (text, "the same");
  else
    g_string_append_printf (text, "%.3g times as %s", factor, own > (double) needed ? "much" : "little");
}

static void
append_equal (GString *text, const FabSidesView *view, const FabCompareEqual *equal)
{
  const FabSide *base = side_at (view, view->contrast->base), *side = side_at (view, equal->side);
  const FabSize *size = equal->size;
  g_autofree char *value = fab_figure_write (view->figure, view->figure->value (base->point));

  if (size == NULL) {
    g_auto (GStrv) lines = g_strsplit (equal->problem, "\n", 2);

    g_string_append_printf (text, "  %s cannot be simulated with any of these values: %s\n", side->name,
                            lines[0]);
    return;
  }
  if (size->answer < 0) {
    const FabSizePoint *best = &size->points[size->best];
    g_autofree char *reached = fab_figure_write (view->figure, view->figure->value (best->trial.point));

    g_string_append_printf (
        text, "  With no %s from %s to %s does %s equal %s in %s (%s); it comes closest with %s: %s\n",
        view->axis->key, size->points[0].value, size->points[size->n - 1].value, side->name, base->name,
        view->figure->name, value, best->value, reached);
    return;
  }
  const char *answer = size->points[size->answer].value;
  g_string_append_printf (text, "  %s equals %s in %s (%s) %s %s = %s", side->name, base->name,
                          view->figure->name, value, size->answer == 0 ? "already with" : "with",
                          view->axis->key, answer);
  append_own_rate (text, view, side, answer);
  g_string_append (text, size->is_unsteady ? ". Some larger values do not.\n" : ".\n");
}

/* --- table --- */

static void
append_counts (FabComparePage *page, const FabSidesView *view)
{
  guint n = view->sides->len;
  g_auto (GStrv) gpus = g_new0 (char *, n + 1);
  g_auto (GStrv) nodes = g_new0 (char *, n + 1);
  g_auto (GStrv) rates = g_new0 (char *, n + 1);
  g_auto (GStrv) faster = g_new0 (char *, n + 1);
  double base_s = side_at (view, view->contrast->base)->point->step_s;

  for (guint i = 0; i < n; i++) {
    const FabSide *side = side_at (view, i);

    gpus[i] = g_strdup_printf ("%u", side->point->n_ranks);
    nodes[i] = g_strdup_printf ("%u", side->point->n_nodes);
    rates[i] = side->nic_bytes_per_s > 0
                 ? g_strdup_printf ("%.4g Gb/s", (double) side->nic_bytes_per_s * 8 / 1e9)
                 : g_strdup ("-");
    faster[i] = !is_sound (view, i) || !is_sound (view, view->contrast->base)
                  ? g_strdup ("-")
                  : g_strdup_printf ("%.3g x", side->point->step_s > 0 ? base_s / side->point->step_s : 1);
  }
  fab_compare_append_cells (page, 2, "GPUs", gpus);
  fab_compare_append_cells (page, 2, "nodes", nodes);
  fab_compare_append_cells (page, 2, "a NIC port", rates);
  fab_compare_append_cells (page, 2, "speed-up", faster);
}

static guint
most_seeds (const FabSidesView *view)
{
  guint most = 1;

  for (guint i = 0; i < view->sides->len; i++)
    most = MAX (most, fab_spread_most (&(const FabPoint *){ side_at (view, i)->point }, 1));
  return most;
}

static void
append_range (FabComparePage *page, const FabSidesView *view, const char *figure)
{
  g_auto (GStrv) cells = g_new0 (char *, view->sides->len + 1);
  g_autofree char *name = g_strdup_printf ("%s, low to high", figure);

  for (guint i = 0; i < view->sides->len; i++)
    cells[i] = fab_spread_show (fab_figure_find (figure), side_at (view, i)->point);
  fab_compare_append_cells (page, 2, name, cells);
}

/* Over several seeds: the ranges, and that of the difference from the base, seed by seed. */
static void
append_spread (FabComparePage *page, const FabSidesView *view)
{
  const FabSide *base = side_at (view, view->contrast->base);
  g_auto (GStrv) cells = g_new0 (char *, view->sides->len + 1);
  g_autofree char *name = g_strconcat ("against ", base->name, NULL);

  if (most_seeds (view) == 1)
    return;
  append_range (page, view, "step");
  for (guint i = 0; i < view->sides->len; i++)
    cells[i] = i == view->contrast->base ? g_strdup ("-")
                                         : fab_spread_show_change (base->point, side_at (view, i)->point);
  fab_compare_append_cells (page, 4, name, cells);
  append_range (page, view, "exposed");
}

/* The step and its exposed time stand there, also by dimension; what is exposed inside nodes is the rest of it. */
static gboolean
is_among_times (const FabFigure *figure)
{
  return strcmp (figure->name, "step") == 0 || strcmp (figure->name, "exposed_time") == 0
      || (g_str_has_prefix (figure->name, "exposed.") && strcmp (figure->name, "exposed.inter_node") != 0);
}

static void
append_figures (FabComparePage *page, const FabSidesView *view)
{
  for (const FabFigure *figure = fab_figures; figure->name != NULL; figure++) {
    g_auto (GStrv) cells = g_new0 (char *, view->sides->len + 1);
    gboolean is_any = FALSE;

    if (is_among_times (figure))
      continue;
    for (guint i = 0; i < view->sides->len; i++) {
      const FabPoint *point = side_at (view, i)->point;

      gboolean is_shown = is_known (figure, point)
                       && (is_sound (view, i) || figure->kind == FAB_FIGURE_BYTES);

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
append_links (FabComparePage *page, const FabSidesView *view)
{
  g_string_append (page->out, "  limited by, and the slowest link\n");
  for (guint i = 0; i < view->sides->len; i++) {
    const FabSide *side = side_at (view, i);
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
sides_text (const FabSidesView *view)
{
  FabComparePage page;

  g_autoptr (GArray) pairs = fab_compare_choice_pairs (view);

  fab_compare_page_init (&page, view->contrast);
  if (most_seeds (view) > 1)
    page.width = MAX (page.width, RANGE_COLUMNS);
  append_titles (page.out, view);
  append_words (page.out, view);
  append_bars (page.out, view);
  for (guint i = 0; i < view->equals->len; i++)
    append_equal (page.out, view, &g_array_index (view->equals, FabCompareEqual, i));
  g_string_append_c (page.out, '\n');
  while (fab_compare_page_next (&page)) {
    fab_compare_append_head (&page);
    append_counts (&page, view);
    append_spread (&page, view);
    append_figures (&page, view);
    fab_compare_append_step (&page);
    fab_compare_append_sorts (&page);
    fab_compare_append_links (&page);
  }
  append_links (&page, view);
  fab_compare_append_bands (page.out, view->sides, view->contrast->base);
  fab_spread_append_note (page.out, most_seeds (view));
  fab_choice_append_text (page.out, pairs);
  fab_compare_append_verdicts (&page);
  return g_string_free (page.out, FALSE);
}

/* --- for programs --- */

enum { N_LABELS = 3 };

typedef struct {
  char *labels[N_LABELS];
  FabTry trial;
} Row;

/* Points as a table wants them. */
typedef struct {
  guint n;
  Row *rows;
  FabPointsRow *shown;
  FabPoints points;
} Rows;

static void
rows_init (Rows *self, const FabSidesView *view)
{
  static const char *const columns[] = { "name", "gpus", "nodes", NULL };
  const FabSide *first = side_at (view, 0);

  self->n = view->sides->len;
  self->rows = g_new0 (Row, self->n + 1);
  self->shown = g_new0 (FabPointsRow, self->n + 1);
  for (guint i = 0; i < self->n; i++) {
    const FabSide *side = side_at (view, i);
    Row *row = &self->rows[i];

    row->labels[0] = g_strdup (side->name);
    row->labels[1] = g_strdup_printf ("%u", side->point->n_ranks);
    row->labels[2] = g_strdup_printf ("%u", side->point->n_nodes);
    row->trial.point = side->point;
    self->shown[i] = (FabPointsRow){ (const char *const *) row->labels, &row->trial, NULL, NULL };
  }
  self->points = (FabPoints){
    columns, N_LABELS, 2, self->shown, self->n, first->edits != NULL ? fab_hold_of (first->study) : NULL
  };
}

static void
rows_clear (Rows *self)
{
  for (guint i = 0; i < self->n; i++)
    for (guint k = 0; k < N_LABELS; k++)
      g_free (self->rows[i].labels[k]);
  g_free (self->rows);
  g_free (self->shown);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Rows, rows_clear)

static char *
sides_csv (const FabSidesView *view)
{
  g_auto (Rows) rows;

  rows_init (&rows, view);
  g_autoptr (FabTable) table = fab_points_table (&rows.points);
  return fab_table_to_csv (table);
}

static void
add_equals (FabJson *json, const FabSidesView *view)
{
  fab_json_begin_array (json, "equals");
  for (guint i = 0; i < view->equals->len; i++) {
    const FabCompareEqual *equal = &g_array_index (view->equals, FabCompareEqual, i);
    const FabSize *size = equal->size;

    fab_json_begin_object (json, NULL);
    fab_json_add_text (json, "name", side_at (view, equal->side)->name);
    fab_json_add_text (json, "figure", view->figure->name);
    fab_json_add_text (json, "key", view->axis->key);
    fab_json_add_text (json, "answer", size && size->answer >= 0 ? size->points[size->answer].value : NULL);
    fab_json_add_text (json, "closest", size ? size->points[size->best].value : NULL);
    fab_json_add_text (json, "problem", equal->problem);
    fab_json_end (json);
  }
  fab_json_end (json);
}

/* Of several seeds: how each differs from the base. */
static void
add_differences (FabJson *json, const FabSidesView *view)
{
  const FabSide *base = side_at (view, view->contrast->base);

  if (most_seeds (view) == 1)
    return;
  fab_json_begin_array (json, "differences");
  for (guint i = 0; i < view->sides->len; i++) {
    if (i == view->contrast->base)
      continue;
    fab_json_begin_object (json, NULL);
    fab_json_add_text (json, "name", side_at (view, i)->name);
    fab_spread_add_change (json, base->point, side_at (view, i)->point);
    fab_json_end (json);
  }
  fab_json_end (json);
}

static char *
sides_json (const FabSidesView *view)
{
  g_autoptr (FabJson) json = fab_json_new (FAB_JSON_PAGE);
  g_auto (Rows) rows;
  g_autoptr (GArray) pairs = fab_compare_choice_pairs (view);

  rows_init (&rows, view);
  fab_json_begin_object (json, NULL);
  fab_json_add_text (json, "against", side_at (view, view->contrast->base)->name);
  fab_json_add_text (json, "hold", rows.points.hold);
  fab_points_add_json (json, "figures", &rows.points);
  fab_choice_add_json (json, pairs);
  add_differences (json, view);
  fab_compare_add_bands (json, view->sides, view->contrast->base);
  add_equals (json, view);
  fab_compare_add_variants (json, view->contrast);
  fab_json_begin_array (json, "left_out");
  for (guint i = 0; view->left_out[i] != NULL; i++)
    fab_json_add_text (json, NULL, view->left_out[i]);
  fab_json_end (json);
  fab_json_end (json);
  return fab_json_finish (json);
}
