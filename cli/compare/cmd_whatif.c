/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_whatif.c - `fabricast whatif SCENARIO CHANGE...`: what one change, or all of them, make of a step. */
#include <math.h>
#include <string.h>

#include "answer/compare/whatif.h"
#include "cli/cli.h"
#include "cli/compare/cmd_compare.h"
#include "cli/study/points_text.h"
#include "cli/study/spread_text.h"
#include "cli/terminal/progress.h"
#include "cli/verdict.h"
#include "sim/base/error.h"
#include "sim/base/json.h"
#include "sim/base/units.h"
#include "sim/study/change.h"

typedef struct {
  const char *title;
  guint n_changes;
  const FabWhatIfAnswer *answer;
} FabWhatIfView;

/* The page of `fabricast whatif`: a sentence for each change, a table, what algorithms changed. */

enum { MOST_SWITCHES = 6 };

static const FabWhatIfEffect *
effect_at (const FabWhatIfView *view, guint side)
{
  return &g_array_index (view->answer->effects, FabWhatIfEffect, side);
}

/* --- table --- */

static glong
name_width (const FabWhatIfView *view)
{
  glong width = 0;

  for (guint i = 0; i < view->answer->sides->len; i++) {
    g_autofree char *name = fab_cli_printable (fab_sides_at (view->answer->sides, i)->name);

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
  return base->step_s > 0
           ? g_strdup_printf ("%+.1f %%", fab_percent (fab_spread_step_change (base, point).median))
           : g_strdup ("-");
}

static char *
show_exposed_change (const FabPoint *base, const FabPoint *point)
{
  double change_s = fab_spread_difference (fab_figure_find ("exposed_time"), base, point).median;
  g_autofree char *size = show_time (fabs (change_s));

  return g_strconcat (change_s < 0 ? "-" : "+", size, NULL);
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
  const FabSide *one = fab_sides_at (view->answer->sides, side);
  const FabPoint *base = fab_sides_at (view->answer->sides, 0)->point, *point = one->point;
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
  if (view->answer->n_seeds > 1)
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
  if (view->answer->n_seeds > 1)
    g_string_append_printf (text, "\v  %-24s\v %-18s", "step, low to high", "seed by seed");
  g_string_append_printf (text, "\v %11s\v %11s\v %8s\v %8s\v %9s\v %12s\v  %s\n", "exposed", "change",
                          "idle", "waiting", "MFU", "tokens/s", fab_points_limit_heading (TRUE));
  for (guint i = 0; i < view->answer->sides->len; i++)
    append_row (text, view, i, width);
}

/* Collectives that go by another algorithm, by size. */
static void
append_switches (GString *text, const FabWhatIfView *view, guint side)
{
  const GArray *switches = effect_at (view, side)->switches;
  g_autofree char *name = fab_cli_printable (fab_sides_at (view->answer->sides, side)->name);

  if (switches == NULL)
    return;
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
  for (guint i = 0; i < view->answer->sides->len; i++) {
    const FabSide *side = fab_sides_at (view->answer->sides, i);

    if (side->point != NULL)
      fab_cli_append_codes (text, side->name, side->point->verdict);
  }
}

/* Format the view. (transfer full) */
static char *
whatif_text (const FabWhatIfView *view)
{
  GString *text = g_string_new (NULL);

  fab_cli_append_stops (text, fab_sides_at (view->answer->sides, 0)->point->verdict);
  g_string_append_printf (text, "%s\n\n", view->title);
  fab_compare_append_hold (text, fab_sides_at (view->answer->sides, 0)->study, view->answer->sides);
  for (guint i = 1; i < view->answer->sides->len; i++) {
    g_autofree char *printable = fab_cli_printable (effect_at (view, i)->words);

    g_string_append_printf (text, "  %s\n", printable);
  }
  if (view->answer->apart != NULL)
    g_string_append_printf (text, "  %s\n", view->answer->apart);
  g_string_append_c (text, '\n');
  append_table (text, view);
  fab_spread_append_note (text, view->answer->n_seeds);
  fab_compare_append_bands (text, view->answer->sides, 0);
  for (guint i = 1; i <= view->n_changes; i++)
    append_switches (text, view, i);
  append_verdicts (text, view);
  return g_string_free (text, FALSE);
}

/* `fabricast whatif` for programs: a row of figures for each change, and one JSON object. */

static char *
whatif_csv (const FabWhatIfView *view)
{
  g_autoptr (FabPoints) points = fab_whatif_points (view->answer);

  return fab_points_csv (points);
}

static void
add_switches (FabJson *json, const GArray *switches)
{
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
  const FabWhatIfEffect *effect = effect_at (view, side);
  const FabSide *base = fab_sides_at (view->answer->sides, 0),
                *one = fab_sides_at (view->answer->sides, side);

  fab_json_begin_object (json, NULL);
  fab_json_add_text (json, "change", one->name);
  fab_json_add_text (json, "explanation", effect->words);
  if (effect->is_played) {
    fab_spread_add_change (json, base->point, one->point);
    fab_json_add_whole (json, "collectives", effect->blast.n_collectives);
    fab_json_add_whole (json, "collectives_slower", effect->blast.n_slower);
    fab_json_add_whole (json, "collectives_faster", effect->blast.n_faster);
    fab_json_add_whole (json, "gpus_waiting_longer", effect->blast.n_waiting);
    add_switches (json, effect->switches);
  }
  fab_json_end (json);
}

static char *
whatif_json (const FabWhatIfView *view)
{
  g_autoptr (FabJson) json = fab_json_new (FAB_JSON_PAGE);
  g_autoptr (FabPoints) points = fab_whatif_points (view->answer);

  fab_json_begin_object (json, NULL);
  fab_json_add_text (json, "scenario", view->title);
  fab_json_add_text (json, "hold", points->hold);
  fab_points_add_json (json, "points", points);
  fab_json_begin_array (json, "changes");
  for (guint i = 1; i < view->answer->sides->len; i++)
    add_effect (json, view, i);
  fab_json_end (json);
  fab_compare_add_bands (json, view->answer->sides, 0);
  fab_json_add_text (json, "apart", view->answer->apart);
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

/* --- mistakes --- */

/* What the machine or the job says of an assignment that nobody wrote is said of the option that stands for it. NULL:
 * it is said of the scenario. */
static void
rethrow (const FabChange *change, const GError *problem, GError **error)
{
  g_auto (GStrv) lines = g_strsplit (problem->message, "\n", 2);

  if (change == NULL || change->kind == FAB_CHANGE_SET) {
    g_propagate_error (error, g_error_copy (problem));
    return;
  }
  g_autofree char *own = g_strdup_printf ("--set: %s: ", fab_edits_at (change->edits, 0)->text);
  g_set_error (error, problem->domain, problem->code, "--%s %s: %s", fab_change_names[change->kind],
               change->kind == FAB_CHANGE_FAULT ? change->name : strchr (change->name, ' ') + 1,
               g_str_has_prefix (lines[0], own) ? lines[0] + strlen (own) : lines[0]);
}

/* --- the command --- */

/* Of each change, and of all together. */
static gboolean
check_memory (FabStudy *study, const GPtrArray *changes, GError **error)
{
  g_autoptr (FabEdits) all = fab_edits_new ();

  for (guint i = 0; i < changes->len; i++) {
    const FabChange *change = g_ptr_array_index (changes, i);

    if (!fab_cli_check_variant (study, change->edits, error))
      return FALSE;
    fab_edits_append (all, change->edits);
  }
  return fab_cli_check_variant (study, all, error);
}

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
      || !fab_hold_take (study, o->hold, NULL, 0, error) || !check_memory (study, changes, error))
    return FALSE;
  g_autofree char *title = fab_cli_title (scenario);
  g_autoptr (FabProgress) progress = fab_progress_start ("points");
  study->pulse = fab_progress_pulse (progress);
  const FabWhatIfRequest request = { changes, o->is_oversized_allowed, !o->has_no_band };
  g_autoptr (GError) problem = NULL;
  guint mistaken = 0;
  g_autoptr (FabWhatIfAnswer) answer = fab_whatif_answer (study, &request, &mistaken, &problem);
  fab_progress_stop (progress);
  if (answer == NULL) {
    rethrow (mistaken > 0 ? g_ptr_array_index (changes, mistaken - 1) : NULL, problem, error);
    return FALSE;
  }
  g_autofree char *text = printers[o->format](&(FabWhatIfView){ title, changes->len, answer });
  fab_cli_print (o->format, text);
  *code = fab_cli_verdict_exit (fab_sides_at (answer->sides, 0)->point->verdict, o->is_oversized_allowed);
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
    FAB_SEEDS_ENTRY (&o.seeds),
    { "no-band", 0, 0, G_OPTION_ARG_NONE, &o.has_no_band,
      "Print no bands of steps and changes; saves further simulations", NULL },
    FAB_ALLOW_OVERSIZED_ENTRY (&o.is_oversized_allowed),
    FAB_FORMAT_ENTRY (&o.format_name),
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
