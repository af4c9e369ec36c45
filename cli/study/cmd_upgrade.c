/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_upgrade.c - `fabricast upgrade SCENARIO`: what to change of a machine first, what it gains and what it costs. */
#include <string.h>

#include "answer/compare/reversals.h"
#include "cli/cli.h"
#include "cli/search_options.h"
#include "cli/study/growth_text.h"
#include "cli/study/hold_text.h"
#include "cli/study/points_text.h"
#include "cli/study/spread_text.h"
#include "cli/study/upgrade_text.h"
#include "cli/terminal/progress.h"
#include "cli/verdict.h"
#include "sim/base/error.h"
#include "sim/base/json.h"
#include "sim/base/nearest.h"
#include "sim/base/shell.h"
#include "sim/base/units.h"

enum { USUAL_ROWS = 12 };

typedef struct {
  const char *title;
  const FabUpgradeAnswer *answer;
  const GPtrArray *reversals; /* FabReversal */
  guint n_rows;               /* most of each table in text */
  gboolean has_no_band, is_brief;
} FabUpgradeView;

static const FabUpgrade *
at (const GPtrArray *list, guint i)
{
  return g_ptr_array_index (list, i);
}

static char *
per_percent (const FabUpgrade *self)
{
  double usd = fab_upgrade_usd_per_percent (self);

  return usd < 0 ? g_strdup ("-") : usd == 0 ? g_strdup ("0") : fab_figure_show (FAB_FIGURE_MONEY, usd);
}

/* --- text --- */

/* Options with which other commands play the change. */
static void
append_sets (GString *text, const FabEdits *edits)
{
  const char *const *texts = fab_edits_texts (edits);

  g_string_append_printf (text, "  %-13sIt is set with", "");
  for (guint i = 0; texts[i] != NULL; i++) {
    g_autofree char *word = fab_shell_word (texts[i]);
    g_autofree char *printable = fab_cli_printable (word);

    g_string_append_printf (text, " --set %s", printable);
  }
  g_string_append (text, "\n");
}

static void
append_recommendation (GString *text, const char *what, const FabUpgrade *one)
{
  g_autofree char *band = fab_upgrade_show_band (one),
                  *usd = fab_upgrade_show_price (fab_upgrade_price (one)), *each = per_percent (one);
  g_autofree char *name = fab_cli_printable (one->change.name);
  g_autofree char *price = fab_upgrade_price (one) > 0
                             ? g_strdup_printf ("costs %s, which is %s for each percent saved", usd, each)
                             : g_strdup ("costs nothing");

  g_string_append_printf (text, "  %-13s%s: saves %.1f %% of the time for the same work%s%s%s and %s.\n",
                          what, name, fab_percent (one->saved_fraction),
                          fab_upgrade_has_band (one) ? " (" : "", fab_upgrade_has_band (one) ? band : "",
                          fab_upgrade_has_band (one) ? ")" : "", price);
  g_string_append_printf (text, "  %-13sIt is then limited by: %s.\n", "",
                          fab_upgrade_pace (one->trial.point));
  append_sets (text, one->change.edits);
}

/* More that saves less. */
static void
append_reversals (GString *text, const GPtrArray *reversals)
{
  for (guint i = 0; i < reversals->len; i++) {
    const FabReversal *one = g_ptr_array_index (reversals, i);
    g_autofree char *why = fab_cli_printable (one->why);

    g_string_append_printf (text, "  %-13s%s\n", i == 0 ? "note" : "", why);
  }
}

static void
append_recommendations (GString *text, const FabUpgradeView *view)
{
  const FabUpgradeAnswer *answer = view->answer;
  const FabUpgradeChoice *choice = &answer->choice;

  if (choice->setting != NULL)
    append_recommendation (text, "set first", choice->setting);
  if (choice->purchase != NULL)
    append_recommendation (text, "buy first", choice->purchase);
  else
    g_string_append_printf (text, "  %-13snothing: %s.\n", "buy", answer->no_purchase);
  if (answer->nearest != NULL)
    g_string_append_printf (text, "  %-13s%s.\n", "nearest", answer->nearest);
  if (fab_upgrade_is_most_apart (answer))
    append_recommendation (text, answer->budget_usd > 0 ? "most in it" : "most", choice->most);
  append_reversals (text, view->reversals);
}

static glong
name_width (const FabUpgradeView *view)
{
  glong width = 6;

  for (guint i = 0; i < view->answer->all->ranking->len; i++) {
    g_autofree char *name = fab_cli_printable (at (view->answer->all->ranking, i)->change.name);

    width = MAX (width, g_utf8_strlen (name, -1));
  }
  return width;
}

static gboolean
has_training (const FabUpgradeView *view)
{
  return view->answer->all->base->train_s > 0;
}

/* Whether failures are counted, so that the training has days of the calendar too. */
static gboolean
has_calendar (const FabUpgradeView *view)
{
  return view->answer->all->base->goodput.calendar_s > 0;
}

static void
append_head (GString *text, const FabUpgradeView *view, const char *title, glong width)
{
  g_string_append_printf (text, "\n  %s\n  %-*s\v %10s", title, (int) width, "change", "step");
  if (has_training (view))
    g_string_append_printf (text, "\v %10s", "training");
  if (has_calendar (view))
    g_string_append_printf (text, "\v %13s", "with failures");
  g_string_append_printf (text, "\v %9s\v %18s\v %10s\v %10s\v  %s\n", "saves", "band", "price", "$ per %",
                          "limited by");
}

static void
append_row (GString *text, const FabUpgradeView *view, const FabUpgrade *one, glong width)
{
  const FabPoint *point = one->trial.point;
  g_autofree char *name = fab_cli_printable (one->change.name), *band = fab_upgrade_show_band (one);
  g_autofree char *step = fab_figure_show (FAB_FIGURE_TIME, point->step_s),
                  *train = fab_figure_show (FAB_FIGURE_TIME, point->train_s),
                  *calendar = fab_figure_show (FAB_FIGURE_TIME, point->goodput.calendar_s);
  g_autofree char *usd = fab_upgrade_show_price (fab_upgrade_price (one)), *each = per_percent (one);
  gboolean is_dear = view->answer->budget_usd > 0 && fab_upgrade_price (one) > view->answer->budget_usd;

  g_string_append_printf (text, "  %s%*s\v %10s", name, (int) (width - g_utf8_strlen (name, -1)), "", step);
  if (has_training (view))
    g_string_append_printf (text, "\v %10s", train);
  if (has_calendar (view))
    g_string_append_printf (text, "\v %13s", calendar);
  g_string_append_printf (text, "\v %7.1f %%\v %18s\v %10s\v %10s\v  %s%s\n",
                          fab_percent (one->saved_fraction), band, usd, each, fab_upgrade_pace (point),
                          is_dear ? " (over budget)" : "");
}

static void
append_table (GString *text, const FabUpgradeView *view, FabUpgradeState state, const char *title)
{
  glong width = name_width (view);
  guint n = 0;

  for (guint i = 0; i < view->answer->all->ranking->len; i++) {
    const FabUpgrade *one = at (view->answer->all->ranking, i);

    if (one->state != state)
      continue;
    if (n == 0)
      append_head (text, view, title, width);
    if (n++ < view->n_rows)
      append_row (text, view, one, width);
  }
  if (n > view->n_rows)
    g_string_append_printf (text, "  and %u more: --top %u, or --format csv\n", n - view->n_rows, n);
}

/* What a purchase consists of. */
static void
append_parts (GString *text, const FabUpgrade *one)
{
  static const char *const words[] = { "buys", "keeps", "leaves over" };
  g_autofree char *low = fab_upgrade_show_price (one->purchase->money.low_usd),
                  *high = fab_upgrade_show_price (one->purchase->money.high_usd);
  g_autofree char *name = fab_cli_printable (one->change.name);

  g_string_append_printf (text, "    %s: ", name);
  if (one->purchase->is_priced)
    g_string_append_printf (text, "%s to %s\n", low, high);
  else
    g_string_append (text,
                     one->purchase->money.usd > 0 ? "more than the parts that have a price\n" : "no price\n");
  for (guint which = 0; which < G_N_ELEMENTS (words); which++) {
    g_autofree char *parts = fab_upgrade_parts (one->purchase, which);

    if (parts != NULL)
      g_string_append_printf (text, "      %-12s%s\n", words[which], parts);
  }
}

static void
append_purchases (GString *text, const FabUpgradeView *view)
{
  const FabUpgrade *cheapest = view->answer->choice.purchase, *most = view->answer->choice.most;
  guint n = 0;

  for (guint i = 0; i < view->answer->all->ranking->len && n < view->n_rows; i++) {
    const FabUpgrade *one = at (view->answer->all->ranking, i);

    if ((one->n_parts > 1 && one != cheapest && one != most) || one->purchase == NULL
        || one->purchase->n_bought == 0)
      continue;
    if (n++ == 0)
      g_string_append (
          text, "\n  What single and recommended changes buy, with the lowest and the highest price\n");
    append_parts (text, one);
  }
}

static void
append_others (GString *text, const FabUpgradeView *view, FabUpgradeState state, const char *title)
{
  guint n = 0;

  for (guint i = 0; i < view->answer->all->all->len; i++) {
    const FabUpgrade *one = at (view->answer->all->all, i);
    g_autofree char *name = fab_cli_printable (one->change.name);

    if (one->state == state && one->n_parts == 1)
      g_string_append_printf (text, "%s%s", n++ == 0 ? title : ", ", name);
  }
  if (n > 0)
    g_string_append_c (text, '\n');
}

static void
append_base (GString *text, const FabUpgradeView *view)
{
  const FabPoint *base = view->answer->all->base;
  g_autofree char *step = fab_figure_show (FAB_FIGURE_TIME, base->step_s),
                  *train = fab_figure_show (FAB_FIGURE_TIME, base->train_s),
                  *calendar = fab_figure_show (FAB_FIGURE_TIME, base->goodput.calendar_s);

  g_string_append_printf (text, "  %-13sstep %s, %.1f %% exposed", "as it is", step,
                          100 * base->exposed_s / base->step_s);
  if (base->train_s > 0)
    g_string_append_printf (text, ", training %s without failures", train);
  if (has_calendar (view))
    g_string_append_printf (text, " and %s with them", calendar);
  g_string_append_printf (text, "; limited by: %s\n", fab_upgrade_pace (base));
  if (view->answer->all->band != NULL) {
    g_autofree char *low = fab_figure_show (FAB_FIGURE_TIME, view->answer->all->band->low[0]),
                    *high = fab_figure_show (FAB_FIGURE_TIME, view->answer->all->band->high[0]),
                    *about = fab_band_about (view->answer->all->band, 0);

    g_string_append_printf (text, "  %-13sstep from %s to %s: %s\n", "band", low, high, about);
  }
}

/* Where more nodes are among the gains. */
static void
append_hold (GString *text, const FabUpgradeView *view)
{
  FabHoldRange range = { 0 };

  fab_hold_range_add (&range, view->answer->all->base);
  for (guint i = 0; i < view->answer->all->ranking->len; i++)
    fab_hold_range_add (&range, at (view->answer->all->ranking, i)->trial.point);
  fab_hold_append_as (text, view->answer->hold, "", &range);
}

static char *
upgrade_text (const FabUpgradeView *view)
{
  GString *text = g_string_new (NULL);

  fab_cli_append_stops (text, view->answer->all->base->verdict);
  g_string_append_printf (text, "%s\n\n", view->title);
  append_hold (text, view);
  append_base (text, view);
  append_recommendations (text, view);
  if (view->is_brief)
    return g_string_free (text, FALSE);
  append_table (text, view, FAB_UPGRADE_SURE, "Gains over the whole band, by dollars per percent");
  append_table (text, view, FAB_UPGRADE_UNSURE,
                view->has_no_band ? "Gains; no bands were asked for, so that none of them is recommended"
                                  : "Not recommended: within the band of the forecast there may be no gain");
  append_purchases (text, view);
  g_string_append_c (text, '\n');
  append_others (text, view, FAB_UPGRADE_NO_GAIN, "  gain below 0.5 %, or below another value's: ");
  append_others (text, view, FAB_UPGRADE_TOO_LARGE, "  does not fit into memory: ");
  append_others (text, view, FAB_UPGRADE_IMPOSSIBLE, "  cannot be simulated: ");
  g_string_append_printf (text, "  %u %s played\n", view->answer->all->all->len,
                          fab_plural (view->answer->all->all->len, "change was",
                                      "changes and combinations were"));
  return g_string_free (text, FALSE);
}

/* --- for programs --- */

static char *
upgrade_csv (const FabUpgradeView *view)
{
  g_autoptr (FabPoints) points = fab_upgrade_points (view->answer);

  return fab_points_csv (points);
}

static void
add_name (FabJson *json, const char *key, const FabUpgrade *one)
{
  fab_json_add_text (json, key, one != NULL ? one->change.name : NULL);
}

static void
add_reversals (FabJson *json, const GPtrArray *reversals)
{
  fab_json_begin_array (json, "larger_saves_less");
  for (guint i = 0; i < reversals->len; i++) {
    const FabReversal *one = g_ptr_array_index (reversals, i);

    fab_json_begin_object (json, NULL);
    add_name (json, "larger", one->larger);
    add_name (json, "smaller", one->smaller);
    fab_json_add_text (json, "why", one->why);
    fab_json_end (json);
  }
  fab_json_end (json);
}

static void
add_assignments (FabJson *json, const GPtrArray *rows)
{
  fab_json_begin_array (json, "assignments");
  for (guint i = 0; i < rows->len; i++) {
    const FabUpgrade *one = at (rows, i);

    fab_json_begin_object (json, NULL);
    fab_json_add_text (json, "change", one->change.name);
    fab_json_begin_array (json, "kinds");
    for (guint kind = 0; kind < FAB_N_UPGRADE_KINDS; kind++)
      if ((one->kinds >> kind & 1) != 0)
        fab_json_add_text (json, NULL, fab_upgrade_kind_names[kind]);
    fab_json_end (json);
    fab_json_begin_array (json, "set");
    for (guint k = 0; k < fab_edits_count (one->change.edits); k++)
      fab_json_add_text (json, NULL, fab_edits_at (one->change.edits, k)->text);
    fab_json_end (json);
    fab_json_end (json);
  }
  fab_json_end (json);
}

static char *
upgrade_json (const FabUpgradeView *view)
{
  const FabUpgrades *all = view->answer->all;
  g_autoptr (FabJson) json = fab_json_new (FAB_JSON_PAGE);
  g_autoptr (FabPoints) points = fab_upgrade_points (view->answer);

  fab_json_begin_object (json, NULL);
  fab_json_add_text (json, "scenario", view->title);
  fab_json_add_text (json, "hold", view->answer->hold);
  fab_json_add_real (json, "step_s", all->base->step_s);
  fab_json_add_real (json, "exposed_fraction", all->base->exposed_s / all->base->step_s);
  fab_json_add_text (json, "limited_by", fab_upgrade_pace (all->base));
  if (all->band != NULL) {
    fab_json_add_real (json, "step_low_s", all->band->low[0]);
    fab_json_add_real (json, "step_high_s", all->band->high[0]);
    fab_band_add_json (all->band, json);
  }
  if (view->answer->budget_usd > 0)
    fab_json_add_real (json, "budget_usd", view->answer->budget_usd);
  add_name (json, "set_first", view->answer->choice.setting);
  add_name (json, "buy_first", view->answer->choice.purchase);
  add_name (json, "most", view->answer->choice.most);
  fab_json_add_text (json, "no_purchase", view->answer->no_purchase);
  fab_json_add_text (json, "nearest", view->answer->nearest);
  add_reversals (json, view->reversals);
  fab_points_add_json (json, "changes", points);
  add_assignments (json, view->answer->rows);
  fab_json_end (json);
  return fab_json_finish (json);
}

/* --- the command --- */

typedef struct {
  char *format_name, *budget, *only, *out, *seeds, *hold;
  char **sets;
  gint top, grow;
  gboolean is_brief, has_no_band, is_oversized_allowed;
  FabFormat format;
} UpgradeOptions;

static const FabUsage usage = {
  .arguments = "SCENARIO",
  .summary =
      "Simulates the machine of the scenario as it is, and with each change that could be made: faster NIC ports,\n"
      "more NICs per node, less oversubscription, another fabric, larger NVLink domains, other nodes, more nodes,\n"
      "and settings of the software. Then it combines the best change of each kind.\n\n"
      "For each change it prints the time that the same work saves, with its band, the price, and what limits the\n"
      "step afterwards. It recommends no purchase that may save nothing within its band, and no setting with\n"
      "which the step is longer in any play.",
  .examples = "  fabricast upgrade scenarios/learn/08-oversubscription.yaml\n"
              "  fabricast upgrade scenarios/zero3-13b-slow-fabric.yaml --budget '$500k'\n"
              "  fabricast upgrade scenarios/hello.yaml --only setting,node --format csv\n"
              "  fabricast upgrade scenarios/plan-70b-1024-h100.yaml --set cluster.nodes=64 --grow 128\n",
  .min_rest = 1,
  .max_rest = 1,
};

static gboolean
read_kinds (const char *text, guint *kinds, GError **error)
{
  g_auto (GStrv) names = g_strsplit (text ? text : "", ",", -1);

  *kinds = 0;
  for (guint i = 0; names[i] != NULL; i++) {
    guint kind = 0;

    while (kind < FAB_N_UPGRADE_KINDS && strcmp (g_strstrip (names[i]), fab_upgrade_kind_names[kind]) != 0)
      kind++;
    if (kind == FAB_N_UPGRADE_KINDS) {
      g_autofree char *known = g_strjoinv (", ", (char **) fab_upgrade_kind_names);
      g_autofree char *note = fab_nearest_note (names[i], known);

      return fab_throw (error, FAB_ERROR_INPUT, "--only %s: there is no such kind of change%s; these are: %s",
                        names[i], note, known);
    }
    *kinds |= 1U << kind;
  }
  return TRUE;
}

static gboolean
read_budget (const char *text, double *usd, GError **error)
{
  *usd = 0;
  if (text == NULL)
    return TRUE;
  if (fab_figure_parse (FAB_FIGURE_MONEY, text, usd, error) && *usd > 0)
    return TRUE;
  g_clear_error (error);
  return fab_throw (error, FAB_ERROR_INPUT, "--budget %s: write for example '$2M' or 350000", text);
}

static gboolean
write_best (const UpgradeOptions *o, const FabStudy *study, const FabUpgradeAnswer *answer, GError **error)
{
  const FabUpgrade *best = answer->choice.most;

  if (o->out == NULL)
    return TRUE;
  if (best == NULL)
    return fab_throw (error, FAB_ERROR_INPUT, "--out %s: no change is recommended", o->out);
  g_autofree char *why = g_strdup_printf (
      "%s with %s, the recommended change of `fabricast upgrade` that saves most", study->path,
      best->change.name);
  return fab_search_option_out (study, best->change.edits, why, o->out, error);
}

/* The paths to a larger machine. */
static gboolean
grow (const UpgradeOptions *o, const char *path, GError **error)
{
  g_autoptr (FabCatalog) catalog = fab_cli_catalog (error);
  g_autoptr (FabStudy) study = catalog ? fab_cli_study (path, o->sets, catalog, error) : NULL;
  g_autofree char *title = study ? fab_cli_study_title (study, error) : NULL;

  if (title == NULL || !fab_hold_take (study, o->hold, NULL, 0, error))
    return FALSE;
  if (o->grow < 1)
    return fab_throw (error, FAB_ERROR_INPUT, "--grow %d: a machine has nodes", o->grow);
  if (o->budget != NULL || o->only != NULL || o->out != NULL)
    return fab_throw (error, FAB_ERROR_INPUT,
                      "--grow has an answer of its own: leave out --budget, --only and --out");
  g_autoptr (GPtrArray) paths = fab_growth_find (study, (guint) o->grow, error);
  if (paths == NULL) {
    g_prefix_error (error, "--grow %d: ", o->grow);
    return FALSE;
  }
  g_autofree char *text = fab_growth_show (title, paths, study->hold, o->format);
  fab_cli_print (o->format, text);
  return TRUE;
}

static gboolean
upgrade (const UpgradeOptions *o, const char *path, FabExit *code, GError **error)
{
  typedef char *(*ToTextFn) (const FabUpgradeView *view);
  static const ToTextFn printers[] = {
    [FAB_FORMAT_TEXT] = upgrade_text, [FAB_FORMAT_JSON] = upgrade_json, [FAB_FORMAT_CSV] = upgrade_csv
  };
  FabUpgradeLimits limits = { .has_no_band = o->has_no_band };
  double budget_usd;

  if (!read_kinds (o->only, &limits.kinds, error) || !read_budget (o->budget, &budget_usd, error))
    return FALSE;
  if (o->top < 1)
    return fab_throw (error, FAB_ERROR_INPUT, "--top %d: a table has rows", o->top);
  g_autoptr (FabCatalog) catalog = fab_cli_catalog (error);
  g_autoptr (FabStudy) study = catalog ? fab_cli_study (path, o->sets, catalog, error) : NULL;
  g_autoptr (FabScenario) scenario = study ? fab_study_scenario (study, NULL, error) : NULL;
  if (scenario == NULL || !fab_spread_parse (o->seeds, FAB_SPREAD_AUTO, &study->n_seeds, error)
      || !fab_hold_take (study, o->hold, NULL, 0, error)
      || !fab_search_option_check_out (study, o->out, error))
    return FALSE;
  g_autoptr (FabProgress) progress = fab_progress_start ("points");
  study->pulse = fab_progress_pulse (progress);
  study->allows_oversized = o->is_oversized_allowed;
  g_autoptr (FabUpgradeAnswer) answer = fab_upgrade_answer (study, &limits, budget_usd, error);
  g_autoptr (GPtrArray) reversals = answer ? fab_reversals_find (answer->all) : NULL;
  g_autofree char *title = answer ? fab_cli_title (scenario) : NULL;
  fab_progress_stop (progress);
  if (title == NULL)
    return FALSE;
  const FabUpgradeView view = { title, answer, reversals, (guint) o->top, o->has_no_band, o->is_brief };
  g_autofree char *text = printers[o->format](&view);
  fab_cli_print (o->format, text);
  *code = fab_cli_verdict_exit (answer->all->base->verdict, o->is_oversized_allowed);
  return write_best (o, study, answer, error);
}

static FabExit
run (int argc, char **argv)
{
  UpgradeOptions o = { .top = USUAL_ROWS };
  const GOptionEntry entries[] = {
    { "budget", 0, 0, G_OPTION_ARG_STRING, &o.budget, "Recommend nothing that costs more: '$2M', 350000",
      "USD" },
    { "only", 0, 0, G_OPTION_ARG_STRING, &o.only,
      "What may change: setting, nic, nics, fabric, domain, node, nodes (default: everything)", "KINDS" },
    { "grow", 0, 0, G_OPTION_ARG_INT, &o.grow,
      "Instead: build the machine today so that it has so many nodes later; what each way costs and keeps",
      "NODES" },
    { "top", 0, 0, G_OPTION_ARG_INT, &o.top, "Rows of each table of text (default: 12)", "N" },
    { "out", 'o', 0, G_OPTION_ARG_FILENAME, &o.out,
      "Write the scenario with the recommended change that saves most", "FILE" },
    FAB_SET_ENTRY (&o.sets),
    FAB_BRIEF_ENTRY (&o.is_brief, "Print the recommendations alone"),
    FAB_SEEDS_ENTRY (&o.seeds),
    FAB_HOLD_ENTRY (&o.hold),
    { "no-band", 0, 0, G_OPTION_ARG_NONE, &o.has_no_band,
      "Print no bands, which saves further simulations; nothing is recommended then", NULL },
    FAB_ALLOW_OVERSIZED_ENTRY (&o.is_oversized_allowed),
    FAB_FORMAT_ENTRY (&o.format_name),
    G_OPTION_ENTRY_NULL
  };
  FabExit code = FAB_EXIT_DONE;
  g_autoptr (GError) error = NULL;
  gboolean is_done = fab_cli_parse (&usage, entries, &argc, &argv, &error)
                  && fab_cli_format (o.format_name, &o.format, &error)
                  && (o.grow != 0 ? grow (&o, argv[1], &error) : upgrade (&o, argv[1], &code, &error));

  g_free (o.format_name);
  g_free (o.budget);
  g_free (o.only);
  g_free (o.hold);
  g_free (o.out);
  g_free (o.seeds);
  g_strfreev (o.sets);
  return is_done ? code : fab_cli_fail ("upgrade", error);
}

const FabCommand fab_command_upgrade = {
  .name = "upgrade",
  .summary = "Rank what to change of a machine: what it saves, costs, and what limits then",
  .run = run,
};
