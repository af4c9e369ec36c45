/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_whatif.c - `fabricast whatif SCENARIO CHANGE...`: what one change, or all of them, make of a step. */
#include <math.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/compare/cmd_compare.h"
#include "cli/study/points.h"
#include "cli/study/spread_text.h"
#include "cli/terminal/progress.h"
#include "cli/verdict.h"
#include "models/models.h"
#include "sim/base/error.h"
#include "sim/base/json.h"
#include "sim/base/units.h"
#include "sim/study/change.h"
#include "answer/variants/blast.h"
#include "answer/variants/side.h"

typedef struct {
  const char *title;
  GPtrArray *changes; /* FabChange */
  /* FabSide: the scenario, each change, and all changes together where that is possible. A side without a point
   * hangs. */
  GPtrArray *sides;
  const FabContrast *contrast; /* of the sides with points, the scenario first */
  gboolean is_oversized_allowed;
  const char *apart; /* a sentence why there is no "together"; NULL: there is, or there is one change only */
} FabWhatIfView;

/* The page of `fabricast whatif`: a sentence for each change, a table, what algorithms changed. */

enum { MOST_SWITCHES = 6 };

/* Returns the column of a side in the contrast; -1: it hangs. */
static gint
whatif_column (const FabWhatIfView *view, guint side)
{
  gint column = -1;

  for (guint i = 0; i <= side; i++)
    column += fab_sides_at (view->sides, i)->point != NULL;
  return fab_sides_at (view->sides, side)->point != NULL ? column : -1;
}

/* Returns the change of a side; NULL: the scenario itself, or all changes together. */
static const FabChange *
whatif_change (const FabWhatIfView *view, guint side)
{
  return side > 0 && side <= view->changes->len ? g_ptr_array_index (view->changes, side - 1) : NULL;
}

/* --- words --- */

/* What limits the step, where it is something else than before. */
static void
append_limit (GString *out, const FabPoint *before, const FabPoint *after)
{
  const char *then = fab_bottleneck_name (before->bottleneck), *now = fab_bottleneck_name (after->bottleneck);

  if (then != NULL && now != NULL && strcmp (then, now) != 0)
    g_string_append_printf (out, " The step is then limited by %s in place of %s.", now, then);
}

static void
append_count (GString *out, guint n, guint all, const char *noun)
{
  if (n == 0)
    g_string_append_printf (out, "none of %u %s", all, noun);
  else if (n == all)
    g_string_append_printf (out, "all %u %s", all, noun);
  else
    g_string_append_printf (out, "%u of %u %s", n, all, noun);
}

/* How far a fault reaches. */
static void
append_reach (GString *out, const FabBlast *blast)
{
  g_string_append (out, " It slows ");
  if (blast->n_collectives > 0)
    append_count (out, blast->n_slower, blast->n_collectives, "collectives");
  else
    g_string_append (out, "other collectives than before");
  g_string_append (out, "; ");
  append_count (out, blast->n_waiting, blast->n_ranks, "GPUs");
  g_string_append (out, blast->n_waiting == 0 ? " waits longer." : " wait longer.");
}

/* Why nothing can be said of a change; NULL: something can. (transfer full) */
static char *
stops_of (const FabWhatIfView *view, guint side)
{
  const FabSide *base = fab_sides_at (view->sides, 0), *one = fab_sides_at (view->sides, side);
  g_autofree char *own = fab_cli_stops (one->point->verdict), *before = fab_cli_stops (base->point->verdict);

  if (own != NULL)
    return g_strdup_printf ("%s: %s", one->name, own);
  return before != NULL ? g_strdup_printf ("%s: the job fits.", one->name) : NULL;
}

/* Says why the step differs, which link then binds, and for faults how far the effect reaches. (transfer full) */
static char *
whatif_words (const FabWhatIfView *view, guint side)
{
  const FabSide *one = fab_sides_at (view->sides, side);
  const FabChange *change = whatif_change (view, side);
  gint column = whatif_column (view, side);

  if (column < 0) {
    g_auto (GStrv) lines = g_strsplit (one->problem->message, "\n", 2);

    return g_strdup_printf ("%s: %s", one->name, lines[0]);
  }
  g_autofree char *stops = view->is_oversized_allowed ? NULL : stops_of (view, side);
  if (stops != NULL)
    return g_steal_pointer (&stops);
  const FabSide *base = fab_sides_at (view->sides, 0);
  g_autofree char *why = fab_contrast_explain (view->contrast, (guint) column,
                                               fab_spread_step_change (base->point, one->point));
  g_autofree char *words = fab_spread_words (why, base->name, base->point, one->name, one->point);
  g_autoptr (GString) out = g_string_new (words);
  if (fab_spread_is_within (fab_figure_find ("step"), base->point, one->point))
    return g_strdup (words);
  append_limit (out, base->point, one->point);
  if (change != NULL && change->kind == FAB_CHANGE_FAULT) {
    FabBlast blast = fab_blast_of (fab_contrast_variant (view->contrast, 0),
                                   fab_contrast_variant (view->contrast, (guint) column));

    append_reach (out, &blast);
  }
  return g_strdup (out->str);
}

/* --- table --- */

static glong
name_width (const FabWhatIfView *view)
{
  glong width = 0;

  for (guint i = 0; i < view->sides->len; i++) {
    g_autofree char *name = fab_cli_printable (fab_sides_at (view->sides, i)->name);

    width = MAX (width, g_utf8_strlen (name, -1));
  }
  return width;
}

static char *
show_time (double seconds)
{
  return fab_units_show (FAB_UNIT_TIME, round (seconds * (double) FAB_PS_PER_S));
}

static char *
show_step_change (const FabPoint *base, const FabPoint *point)
{
  return base->step_s > 0 ? g_strdup_printf ("%+.1f %%", 100 * fab_spread_step_change (base, point))
                          : g_strdup ("-");
}

static char *
show_exposed_change (const FabPoint *base, const FabPoint *point)
{
  double change_s = fab_spread_difference (fab_figure_find ("exposed_time"), base, point).median;
  g_autofree char *size = show_time (fabs (change_s));

  return g_strconcat (change_s < 0 ? "-" : "+", size, NULL);
}

static guint
most_seeds (const FabWhatIfView *view)
{
  guint most = 1;

  for (guint i = 0; i < view->sides->len; i++)
    most = MAX (most, fab_spread_most (&(const FabPoint *){ fab_sides_at (view->sides, i)->point }, 1));
  return most;
}

/* Of the step, and of its change. */
static void
append_ranges (GString *text, const FabPoint *base, const FabPoint *point, guint side)
{
  g_autofree char *range = fab_spread_show (fab_figure_find ("step"), point);
  g_autofree char *change = side > 0 ? fab_spread_show_change (base, point) : g_strdup ("-");

  g_string_append_printf (text, "\v  %-24s\v %-18s", range, change);
}

static void
append_row (GString *text, const FabWhatIfView *view, guint side, glong width)
{
  const FabSide *one = fab_sides_at (view->sides, side);
  const FabPoint *base = fab_sides_at (view->sides, 0)->point, *point = one->point;
  g_autofree char *name = fab_cli_printable (one->name);

  g_string_append_printf (text, "  %s%*s", name, (int) (width - g_utf8_strlen (name, -1)), "");
  if (point == NULL) {
    g_string_append (text, one->problem->code == FAB_ERROR_HUNG ? "\v  the job hangs\n"
                                                                : "\v  cannot be simulated\n");
    return;
  }
  g_autofree char *step = show_time (point->step_s), *exposed = show_time (point->exposed_s);
  g_autofree char *more_step = side > 0 ? show_step_change (base, point) : g_strdup ("-");
  g_autofree char *more_exposed = side > 0 ? show_exposed_change (base, point) : g_strdup ("-");
  g_string_append_printf (text, "\v %7u\v %11s\v %10s", point->n_ranks, step, more_step);
  if (most_seeds (view) > 1)
    append_ranges (text, base, point, side);
  g_string_append_printf (text, "\v %11s\v %11s\v %6.1f %%\v %6.1f %%", exposed, more_exposed,
                          100 * fab_figure_find ("idle")->value (point),
                          100 * fab_figure_find ("waiting")->value (point));
  fab_points_append_rates (text, point, 9, 12);
  g_string_append_printf (text, "\v  %s", fab_points_limit (point, TRUE));
  fab_points_append_misfit (text, point);
  g_string_append_c (text, '\n');
}

static void
append_table (GString *text, const FabWhatIfView *view)
{
  glong width = name_width (view);

  g_string_append_printf (text, "  %*s\v %7s\v %11s\v %10s", (int) width, "", "GPUs", "step", "change");
  if (most_seeds (view) > 1)
    g_string_append_printf (text, "\v  %-24s\v %-18s", "step, low to high", "seed by seed");
  g_string_append_printf (text, "\v %11s\v %11s\v %8s\v %8s\v %9s\v %12s\v  %s\n", "exposed", "change",
                          "idle", "waiting", "MFU", "tokens/s", fab_points_limit_heading (TRUE));
  for (guint i = 0; i < view->sides->len; i++)
    append_row (text, view, i, width);
}

/* Collectives that go by another algorithm, by size. */
static void
append_switches (GString *text, const FabWhatIfView *view, guint side)
{
  gint column = whatif_column (view, side);
  g_autofree char *name = fab_cli_printable (fab_sides_at (view->sides, side)->name);

  if (column < 0)
    return;
  g_autoptr (GArray) switches = fab_switches_of (fab_contrast_variant (view->contrast, 0),
                                                 fab_contrast_variant (view->contrast, (guint) column));
  if (switches->len > 0)
    g_string_append_printf (text, "\n  collectives with another algorithm: %s\n", name);
  for (guint i = 0; i < MIN (switches->len, MOST_SWITCHES); i++) {
    const FabSwitch *one = &g_array_index (switches, FabSwitch, i);
    g_autofree char *bytes = fab_units_show (FAB_UNIT_BYTES, (double) one->bytes);
    g_autofree char *then = show_time (one->before_s), *now = show_time (one->after_s);

    g_string_append_printf (text, "    %5u x %s of %s: %s %s, %s %s\n", one->n, one->op, bytes,
                            one->before ? one->before : "-", then, one->after ? one->after : "-", now);
  }
  if (switches->len > MOST_SWITCHES)
    g_string_append_printf (text, "    and %u more %s\n", switches->len - MOST_SWITCHES,
                            fab_plural (switches->len - MOST_SWITCHES, "size", "sizes"));
}

static void
append_verdicts (GString *text, const FabWhatIfView *view)
{
  g_string_append (text, "\n  verdicts\n");
  for (guint i = 0; i < view->sides->len; i++) {
    const FabSide *side = fab_sides_at (view->sides, i);

    if (side->point != NULL)
      fab_cli_append_codes (text, side->name, side->point->verdict);
  }
}

/* Format the view. (transfer full) */
static char *
whatif_text (const FabWhatIfView *view)
{
  GString *text = g_string_new (NULL);

  fab_cli_append_stops (text, fab_sides_at (view->sides, 0)->point->verdict);
  g_string_append_printf (text, "%s\n\n", view->title);
  fab_compare_append_hold (text, fab_sides_at (view->sides, 0)->study, view->sides);
  for (guint i = 1; i < view->sides->len; i++) {
    g_autofree char *words = whatif_words (view, i);
    g_autofree char *printable = fab_cli_printable (words);

    g_string_append_printf (text, "  %s\n", printable);
  }
  if (view->apart != NULL)
    g_string_append_printf (text, "  %s\n", view->apart);
  g_string_append_c (text, '\n');
  append_table (text, view);
  fab_spread_append_note (text, most_seeds (view));
  fab_compare_append_bands (text, view->sides, 0);
  for (guint i = 1; i <= view->changes->len; i++)
    append_switches (text, view, i);
  append_verdicts (text, view);
  return g_string_free (text, FALSE);
}

/* `fabricast whatif` for programs: a row of figures for each change, and one JSON object. */

/* The sides as rows of a table of points. */
typedef struct {
  FabTry *tries;
  FabPointsList list;
} Rows;

static void
rows_init (Rows *self, const FabWhatIfView *view)
{
  static const char *const columns[] = { "change", "gpus", "nodes", NULL };
  guint n = view->sides->len;

  self->tries = g_new0 (FabTry, n);
  fab_points_list_init (&self->list, columns, 3, 2, n);
  self->list.points.hold = fab_hold_of (fab_sides_at (view->sides, 0)->study);
  for (guint i = 0; i < n; i++) {
    const FabSide *side = fab_sides_at (view->sides, i);
    char *const labels[] = { g_strdup (side->name),
                             g_strdup_printf ("%u", side->point ? side->point->n_ranks : 0),
                             g_strdup_printf ("%u", side->point ? side->point->n_nodes : 0) };

    self->tries[i] = (FabTry){ .point = side->point,
                               .problem = side->problem ? side->problem->message : NULL };
    fab_points_list_set (&self->list, i, labels, &self->tries[i]);
  }
}

static void
rows_clear (Rows *self)
{
  fab_points_list_clear (&self->list);
  g_free (self->tries);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Rows, rows_clear)

static char *
whatif_csv (const FabWhatIfView *view)
{
  g_auto (Rows) rows;

  rows_init (&rows, view);
  g_autoptr (FabTable) table = fab_points_table (&rows.list.points);
  return fab_table_to_csv (table);
}

static void
add_switches (FabJson *json, const FabVariant *before, const FabVariant *after)
{
  g_autoptr (GArray) switches = fab_switches_of (before, after);

  fab_json_begin_array (json, "other_algorithms");
  for (guint i = 0; i < switches->len; i++) {
    const FabSwitch *one = &g_array_index (switches, FabSwitch, i);

    fab_json_begin_object (json, NULL);
    fab_json_add_text (json, "op", one->op);
    fab_json_add_whole (json, "bytes", (gint64) one->bytes);
    fab_json_add_whole (json, "collectives", one->n);
    fab_json_add_text (json, "before", one->before);
    fab_json_add_text (json, "after", one->after);
    fab_json_add_real (json, "before_s", one->before_s);
    fab_json_add_real (json, "after_s", one->after_s);
    fab_json_end (json);
  }
  fab_json_end (json);
}

static void
add_effect (FabJson *json, const FabWhatIfView *view, guint side)
{
  gint column = whatif_column (view, side);
  g_autofree char *words = whatif_words (view, side);

  fab_json_begin_object (json, NULL);
  fab_json_add_text (json, "change", fab_sides_at (view->sides, side)->name);
  fab_json_add_text (json, "explanation", words);
  if (column >= 0)
    fab_spread_add_change (json, fab_sides_at (view->sides, 0)->point,
                           fab_sides_at (view->sides, side)->point);
  if (column >= 0) {
    const FabVariant *before = fab_contrast_variant (view->contrast, 0);
    const FabVariant *after = fab_contrast_variant (view->contrast, (guint) column);
    FabBlast blast = fab_blast_of (before, after);

    fab_json_add_whole (json, "collectives", blast.n_collectives);
    fab_json_add_whole (json, "collectives_slower", blast.n_slower);
    fab_json_add_whole (json, "collectives_faster", blast.n_faster);
    fab_json_add_whole (json, "gpus_waiting_longer", blast.n_waiting);
    add_switches (json, before, after);
  }
  fab_json_end (json);
}

static char *
whatif_json (const FabWhatIfView *view)
{
  g_autoptr (FabJson) json = fab_json_new (FAB_JSON_PAGE);
  g_auto (Rows) rows;

  rows_init (&rows, view);
  fab_json_begin_object (json, NULL);
  fab_json_add_text (json, "scenario", view->title);
  fab_json_add_text (json, "hold", fab_hold_of (fab_sides_at (view->sides, 0)->study));
  fab_points_add_json (json, "points", &rows.list.points);
  fab_json_begin_array (json, "changes");
  for (guint i = 1; i < view->sides->len; i++)
    add_effect (json, view, i);
  fab_json_end (json);
  fab_compare_add_bands (json, view->sides, 0);
  fab_json_add_text (json, "apart", view->apart);
  fab_json_end (json);
  return fab_json_finish (json);
}

typedef struct {
  char **texts[FAB_N_CHANGES]; /* as given; NULL: none */
  char **base;
  char *format_name, *seeds, *hold;
  gboolean is_oversized_allowed, has_no_band;
  FabFormat format;
} WhatIfOptions;

static const FabUsage usage = {
  .arguments = "SCENARIO",
  .summary =
      "Simulates a scenario as it is, with each change by itself, and with all changes together. It prints the\n"
      "effect of each change on the step, and its reasons: exposed communication, what limits the step, and the\n"
      "collectives that a fault slows down. Every option for a change is repeatable.\n\n"
      "A fault has the form KIND=NAME:WHAT. KIND=NAME is link=A->B, nic=NAME, rail=N, switch=NAME or gpu=RANK.\n"
      "WHAT is 50%, dead or +2us; @1s..2s after it limits the fault to that time of the run.",
  .examples =
      "  fabricast whatif scenarios/fabric-ddp-rail.yaml --fault nic=node3/nic2:50% --fault gpu=11:80%\n"
      "  fabricast whatif scenarios/ddp-llama2-7b-16-dgx-h100.yaml --nvls off --sharp on\n"
      "  fabricast whatif scenarios/zero3-13b-slow-fabric.yaml --nic 400Gb/s --set cluster.nics_per_node=2\n"
      "  fabricast whatif scenarios/compare-domain-8.yaml --domain 72 --domain 4\n",
  .min_rest = 1,
  .max_rest = 1,
};

/* --- changes --- */

static GPtrArray *
read_changes (const WhatIfOptions *o, const FabScenario *scenario, GError **error)
{
  g_autoptr (GPtrArray) changes = g_ptr_array_new_with_free_func ((GDestroyNotify) fab_change_free);

  for (guint kind = 0; kind < FAB_N_CHANGES; kind++)
    for (guint i = 0; o->texts[kind] != NULL && o->texts[kind][i] != NULL; i++) {
      FabChange *change = fab_change_parse (kind, o->texts[kind][i], scenario, error);

      if (change == NULL)
        return NULL;
      g_ptr_array_add (changes, change);
    }
  if (changes->len == 0) {
    fab_throw (error, FAB_ERROR_INPUT,
               "no change is given; give --fault, --nic, --nvls, --domain or others (--help)");
    return NULL;
  }
  return g_steal_pointer (&changes);
}

/* Two that set the same key cannot be together. (transfer full): the sentence, NULL: they can. */
static char *
say_apart (const GPtrArray *changes)
{
  for (guint i = 0; i < changes->len; i++)
    for (guint k = i + 1; k < changes->len; k++) {
      const FabChange *a = g_ptr_array_index (changes, i), *b = g_ptr_array_index (changes, k);
      g_autofree char *key = fab_change_clash (a, b);

      if (key != NULL)
        return g_strdup_printf ("Not all together: %s and %s both set %s.", a->name, b->name, key);
    }
  return NULL;
}

static FabSide *
all_together (const GPtrArray *changes, const FabStudy *study)
{
  FabEdits *edits = fab_edits_new ();

  for (guint i = 0; i < changes->len; i++)
    fab_edits_append (edits, ((const FabChange *) g_ptr_array_index (changes, i))->edits);
  return fab_side_new ("all together", study, edits);
}

static GPtrArray *
sides_of (const GPtrArray *changes, const FabStudy *study, gboolean has_together)
{
  GPtrArray *sides = g_ptr_array_new_with_free_func ((GDestroyNotify) fab_side_free);

  g_ptr_array_add (sides, fab_side_new ("as it is", study, NULL));
  for (guint i = 0; i < changes->len; i++) {
    const FabChange *change = g_ptr_array_index (changes, i);

    FabEdits *edits = fab_edits_new ();

    fab_edits_append (edits, change->edits);
    g_ptr_array_add (sides, fab_side_new (change->name, study, edits));
  }
  if (has_together)
    g_ptr_array_add (sides, all_together (changes, study));
  return sides;
}

/* --- mistakes --- */

/* What the machine or the job says of an assignment that nobody wrote is said of the option that stands for it. */
static void
rethrow (const FabChange *change, const GError *problem, GError **error)
{
  g_autofree char *own = g_strdup_printf ("--set: %s: ", fab_edits_at (change->edits, 0)->text);
  g_auto (GStrv) lines = g_strsplit (problem->message, "\n", 2);

  if (change->kind == FAB_CHANGE_SET) {
    g_propagate_error (error, g_error_copy (problem));
    return;
  }
  g_set_error (error, problem->domain, problem->code, "--%s %s: %s", fab_change_names[change->kind],
               change->kind == FAB_CHANGE_FAULT ? change->name : strchr (change->name, ' ') + 1,
               g_str_has_prefix (lines[0], own) ? lines[0] + strlen (own) : lines[0]);
}

/* A job that hangs is an answer; everything else that cannot be played is a mistake, but for all of them together. */
static gboolean
check_sides (const GPtrArray *changes, const GPtrArray *sides, GError **error)
{
  const FabSide *base = fab_sides_at (sides, 0);

  if (base->problem != NULL) {
    g_propagate_error (error, g_error_copy (base->problem));
    return FALSE;
  }
  for (guint i = 0; i < changes->len; i++) {
    const GError *problem = fab_sides_at (sides, i + 1)->problem;

    if (problem == NULL || g_error_matches (problem, FAB_ERROR, FAB_ERROR_HUNG))
      continue;
    rethrow (g_ptr_array_index (changes, i), problem, error);
    return FALSE;
  }
  return TRUE;
}

/* --- the command --- */

static gboolean
whatif (const WhatIfOptions *o, const char *path, FabExit *code, GError **error)
{
  typedef char *(*ToTextFn) (const FabWhatIfView *view);
  static const ToTextFn printers[] = {
    [FAB_FORMAT_TEXT] = whatif_text, [FAB_FORMAT_JSON] = whatif_json, [FAB_FORMAT_CSV] = whatif_csv
  };
  g_autoptr (FabCatalog) catalog = fab_cli_catalog (error);
  g_autoptr (FabStudy) study = fab_cli_study (path, o->base, catalog, error);
  g_autoptr (FabScenario) scenario = study ? fab_study_scenario (study, NULL, error) : NULL;
  g_autoptr (GPtrArray) changes = scenario ? read_changes (o, scenario, error) : NULL;

  if (changes == NULL || !fab_spread_parse (o->seeds, FAB_SPREAD_AUTO, &study->n_seeds, error)
      || !fab_hold_take (study, o->hold, NULL, 0, error))
    return FALSE;
  g_autofree char *apart = say_apart (changes), *title = fab_cli_title (scenario);
  g_autoptr (FabProgress) progress = fab_progress_start ("points");
  study->pulse = fab_progress_pulse (progress);
  g_autoptr (GPtrArray) sides = sides_of (changes, study, changes->len > 1 && apart == NULL);
  fab_sides_play (sides);
  if (!o->has_no_band)
    fab_sides_find_bands (sides);
  if (!o->has_no_band)
    fab_sides_compare (sides, 0);
  fab_sides_find_bottlenecks (sides);
  fab_progress_stop (progress);
  if (!check_sides (changes, sides, error))
    return FALSE;
  fab_cli_advise (scenario, fab_sides_at (sides, 0)->point->verdict);
  g_autoptr (FabContrast) contrast = fab_sides_contrast (sides, 0);
  g_autofree char *text = printers[o->format](
      &(FabWhatIfView){ title, changes, sides, contrast, o->is_oversized_allowed, apart });
  fab_cli_print (o->format, text);
  *code = fab_cli_verdict_exit (fab_sides_at (sides, 0)->point->verdict, o->is_oversized_allowed);
  return TRUE;
}

static FabExit
run (int argc, char **argv)
{
  WhatIfOptions o = { .base = NULL };
#define CHANGE(name_, kind_, help_, value_)                                             \
  {                                                                                     \
    name_, 0, 0, G_OPTION_ARG_STRING_ARRAY, &o.texts[FAB_CHANGE_##kind_], help_, value_ \
  }
  const GOptionEntry entries[] = {
    CHANGE ("fault", FAULT, "Add a fault: nic=node2/nic1:50%, link=A->B:dead, gpu=11:80%", "FAULT"),
    CHANGE ("sharp", SHARP, "Reduction in switches of the network: on or off", "on|off"),
    CHANGE ("nvls", NVLS, "Reduction in NVLink switches: on or off", "on|off"),
    CHANGE ("nic", NIC, "Rate of NIC and switch ports (800Gb/s), or their link entry (ib-xdr)", "RATE|LINK"),
    CHANGE ("domain", DOMAIN, "Size of NVLink domains in GPUs; the number of GPUs stays the same", "GPUS"),
    CHANGE ("gpus", GPUS, "Number of GPUs: whole nodes, or a part of one", "GPUS"),
    CHANGE ("nodes", NODES, "Number of nodes", "NODES"),
    CHANGE ("set", SET, "Change any other key", "KEY=VALUE"),
    { "base", 0, 0, G_OPTION_ARG_STRING_ARRAY, &o.base, "Override a key before all changes; repeatable",
      "KEY=VALUE" },
    FAB_HOLD_ENTRY (&o.hold),
    { "seeds", 0, 0, G_OPTION_ARG_STRING, &o.seeds, FAB_SEEDS_AUTO_HELP, "N" },
    { "no-band", 0, 0, G_OPTION_ARG_NONE, &o.has_no_band,
      "Print no bands of steps and changes; saves further simulations", NULL },
    FAB_ALLOW_OVERSIZED_ENTRY (&o.is_oversized_allowed),
    { "format", 0, 0, G_OPTION_ARG_STRING, &o.format_name, "text (default), json or csv", "FORMAT" },
    G_OPTION_ENTRY_NULL
  };
#undef CHANGE
  FabExit code = FAB_EXIT_DONE;
  g_autoptr (GError) error = NULL;
  gboolean is_done = fab_cli_parse (&usage, entries, &argc, &argv, &error)
                  && fab_cli_format (o.format_name, &o.format, &error) && whatif (&o, argv[1], &code, &error);

  for (guint kind = 0; kind < FAB_N_CHANGES; kind++)
    g_strfreev (o.texts[kind]);
  g_strfreev (o.base);
  g_free (o.format_name);
  g_free (o.seeds);
  g_free (o.hold);
  return is_done ? code : fab_cli_fail ("whatif", error);
}

const FabCommand fab_command_whatif = {
  .name = "whatif",
  .summary = "Show the effect of a fault, another NIC or any other change on a scenario",
  .run = run,
};
