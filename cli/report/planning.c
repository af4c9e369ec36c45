/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/report/planning.h"

#include <glib/gstdio.h>
#include <string.h>

#include "answer/compare/offers.h"
#include "answer/compare/reversals.h"
#include "answer/study/cost.h"
#include "cli/cli.h"
#include "cli/files.h"
#include "cli/study/upgrade_text.h"
#include "models/models.h"
#include "models/workload/training/choices.h"
#include "sim/base/error.h"
#include "sim/base/units.h"

enum { MOST_ROWS = 8 };

const char fab_planning_style[] =
    ".plan{margin:1.5rem 0 2.5rem;padding-bottom:2rem;border-bottom:1px solid var(--line)}"
    ".plan .decision p{font-size:1.15rem;margin:.6rem 0}"
    ".plan table{border-collapse:collapse;width:100%;font-size:.92rem;margin:.75rem 0}"
    ".plan caption{text-align:left;color:var(--soft);padding-bottom:.4rem}"
    ".plan th,.plan td{text-align:left;padding:.35rem .6rem .35rem 0;border-bottom:1px solid var(--line);"
    "vertical-align:top;font-variant-numeric:tabular-nums;overflow-wrap:normal}"
    ".plan tr.chosen th{font-weight:700}.plan tr.chosen th::after{content:' (recommended)';color:var(--hidden)}"
    ".plan li{margin:.35rem 0;max-width:46rem}"
    "@media (max-width:40rem){.plan thead{display:none}.plan tr,.plan th,.plan td{display:block;border:0;padding:0}"
    ".plan tbody tr{border-bottom:1px solid var(--line);padding:.6rem 0}"
    ".plan td::before{content:attr(data-label) ': ';color:var(--soft)}}"
    "@media print{.plan{border:0}.plan table{font-size:.78rem}.plan th,.plan td{padding-right:.4rem}"
    ".plan td{min-width:4.6rem}.plan tr,.plan li,.plan .decision{break-inside:avoid}}";

static const char money_note[] =
    "Amounts are US dollars. A range in parentheses goes from low to high: for money over prices, lifetime and "
    "electricity, for times over 90 % of cases. Training is the time of computing, without failures.";

/* --- pieces --- */

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

static char *
show (FabFigureKind kind, double value)
{
  return fab_figure_show (kind, value);
}

/* "$0.61 ($0.43 to $0.96)"; "not known". (transfer full) */
static char *
show_range (const FabMoney *range)
{
  g_autofree char *usd = show (FAB_FIGURE_MONEY, range->usd), *low = show (FAB_FIGURE_MONEY, range->low_usd),
                  *high = show (FAB_FIGURE_MONEY, range->high_usd);

  if (range->usd <= 0)
    return g_strdup ("not known");
  return range->high_usd > range->low_usd ? g_strdup_printf ("%s (%s to %s)", usd, low, high)
                                          : g_strdup (usd);
}

static void
append_cell (GString *html, const char *label, const char *text)
{
  append (html, "<td data-label=\"%s\">%s</td>", label, text);
}

static void
append_row_head (GString *html, const char *name, gboolean is_chosen)
{
  g_string_append (html, is_chosen ? "<tr class=\"chosen\">" : "<tr>");
  append (html, "<th scope=\"row\">%s</th>", name);
}

/* A job without train_tokens has no days, and a scenario without rates of failures none of the calendar. */
static void
append_columns (GString *html, const char *const *columns, const FabPoint *point)
{
  append (html, "<table><caption>%s</caption><thead><tr>", money_note);
  for (guint i = 0; columns[i] != NULL; i++)
    if ((point->train_s > 0 || strcmp (columns[i], "Training") != 0)
        && (point->goodput.calendar_s > 0 || strcmp (columns[i], "With failures") != 0))
      append (html, "<th scope=\"col\">%s</th>", columns[i]);
  g_string_append (html, "</tr></thead><tbody>");
}

static void
append_time_cells (GString *html, const FabPoint *point, const FabBand *band)
{
  g_autofree char *step = show (FAB_FIGURE_TIME, point->step_s),
                  *train = show (FAB_FIGURE_TIME, point->train_s),
                  *calendar = show (FAB_FIGURE_TIME, point->goodput.calendar_s);
  g_autofree char *low = band != NULL ? show (FAB_FIGURE_TIME, band->low[0]) : NULL,
                  *high = band != NULL ? show (FAB_FIGURE_TIME, band->high[0]) : NULL;
  g_autofree char *steps = band != NULL ? g_strdup_printf ("%s (%s to %s)", step, low, high)
                                        : g_strdup (step);

  append_cell (html, "Step", steps);
  if (point->train_s > 0)
    append_cell (html, "Training", train);
  if (point->goodput.calendar_s > 0)
    append_cell (html, "With failures", calendar);
}

static void
append_token_cell (GString *html, const FabPoint *point, const FabBand *band)
{
  FabMoney range = fab_cost_range (point, band, point->spending.usd_per_million_tokens);
  g_autofree char *text = show_range (&range);

  append_cell (html, "A million tokens", point->tokens_per_s > 0 ? text : "no tokens");
}

/* --- one run: upgrades --- */

static void
append_upgrade_decision (GString *html, const FabUpgrades *all, const FabUpgradeChoice *choice)
{
  g_autofree char *step = show (FAB_FIGURE_TIME, all->base->step_s),
                  *train = show (FAB_FIGURE_TIME, all->base->train_s),
                  *calendar = show (FAB_FIGURE_TIME, all->base->goodput.calendar_s);

  append (html, "<div class=\"decision\"><p>As it is, a step takes %s", step);
  if (all->base->train_s > 0)
    append (html, " and the training %s", train);
  if (all->base->goodput.calendar_s > 0)
    append (html, ", with failures %s", calendar);
  g_string_append_c (html, '.');
  if (all->base->bottleneck != NULL)
    append (html, " The step is limited by %s.", fab_bottleneck_name (all->base->bottleneck));
  g_string_append (html, "</p>");
  if (choice->setting != NULL) {
    g_autofree char *band = fab_upgrade_show_band (choice->setting);

    append (html, "<p><b>Set first: %s.</b> It saves %.1f %% of the time (%s) and costs nothing.</p>",
            choice->setting->change.name, fab_percent (choice->setting->saved_fraction), band);
  } else {
    append (html, "<p>No setting of the software surely saves half a percent.</p>");
  }
  if (choice->purchase != NULL) {
    const FabMoney *money = &choice->purchase->purchase->money;
    g_autofree char *band = fab_upgrade_show_band (choice->purchase), *price = show_range (money);

    append (html, "<p><b>Buy first: %s.</b> It saves %.1f %% (%s) for %s.</p></div>",
            choice->purchase->change.name, fab_percent (choice->purchase->saved_fraction), band, price);
  } else {
    g_autofree char *nearest = fab_upgrade_nearest (all, 0, choice->setting);

    append (html, "<p><b>Buy nothing:</b> %s.%s%s%s</p></div>", fab_upgrade_why_no_purchase (all, 0, FALSE),
            nearest != NULL ? " Nearest comes this: " : "", nearest != NULL ? nearest : "",
            nearest != NULL ? "." : "");
  }
}

static void
append_upgrade_row (GString *html, const FabUpgrade *one, const FabUpgradeChoice *choice)
{
  gboolean is_chosen = one == choice->setting || one == choice->purchase;
  g_autofree char *saves = !fab_upgrade_has_band (one)
                             ? g_strdup_printf ("%.1f %%", fab_percent (one->saved_fraction))
                             : g_strdup_printf ("%.1f %% (%.1f to %.1f)%s", fab_percent (one->saved_fraction),
                                                fab_percent (one->low_fraction),
                                                fab_percent (one->high_fraction),
                                                one->state == FAB_UPGRADE_UNSURE ? ": may be none" : "");
  g_autofree char *price = fab_upgrade_price (one) > 0 ? show_range (&one->purchase->money)
                                                       : fab_upgrade_show_price (fab_upgrade_price (one));

  append_row_head (html, one->change.name, is_chosen);
  append_cell (html, "Saves", saves);
  append_cell (html, "Price", price);
  append_time_cells (html, one->trial.point, one->band);
  append_token_cell (html, one->trial.point, one->band);
  append_cell (html, "Then limited by", fab_upgrade_pace (one->trial.point));
  g_string_append (html, "</tr>");
}

/* The recommended ones, then the ranking. */
static void
append_upgrade_table (GString *html, const FabUpgrades *all, const FabUpgradeChoice *choice)
{
  static const char *const columns[] = {
    "Alternative",      "Saves",           "Price", "Step", "Training", "With failures",
    "A million tokens", "Then limited by", NULL
  };
  guint n = 0;

  g_string_append (html, "<h2>Alternatives</h2>");
  append_columns (html, columns, all->base);
  append_row_head (html, "as it is", FALSE);
  append_cell (html, "Saves", "-");
  append_cell (html, "Price", "-");
  append_time_cells (html, all->base, all->band);
  append_token_cell (html, all->base, all->band);
  append_cell (html, "Then limited by", fab_upgrade_pace (all->base));
  g_string_append (html, "</tr>");
  for (guint i = 0; i < all->ranking->len; i++) {
    const FabUpgrade *one = g_ptr_array_index (all->ranking, i);
    gboolean is_chosen = one == choice->setting || one == choice->purchase || one == choice->most;

    if (is_chosen || n++ < MOST_ROWS)
      append_upgrade_row (html, one, choice);
  }
  g_string_append (html, "</tbody></table>");
}

/* Why some larger purchases save less than smaller ones. */
static void
append_reversals (GString *html, const FabUpgrades *all)
{
  g_autoptr (GPtrArray) reversals = fab_reversals_find (all);

  for (guint i = 0; i < reversals->len; i++)
    append (html, "<p>%s</p>", ((const FabReversal *) g_ptr_array_index (reversals, i))->why);
}

/* At which price of the recommended purchase the next one would be as good. */
static void
append_break_even (GString *html, const FabUpgrades *all, const FabUpgradeChoice *choice)
{
  double usd;
  const FabUpgrade *next = fab_upgrade_break_even (all, choice, &usd);

  if (next == NULL)
    return;
  g_autofree char *price = show (FAB_FIGURE_MONEY, usd);
  append (html, "<li>Its price: above %s, %s is the better purchase per percent saved.</li>", price,
          next->change.name);
}

static void
append_upgrade_changes (GString *html, const FabUpgrades *all, const FabUpgradeChoice *choice)
{
  guint n_unsure = 0, n_unpriced = 0;

  g_string_append (html, "<h2>What would change the answer</h2><ul>");
  append_break_even (html, all, choice);
  for (guint i = 0; i < all->ranking->len; i++) {
    const FabUpgrade *one = g_ptr_array_index (all->ranking, i);

    if (one->state == FAB_UPGRADE_UNSURE && n_unsure++ < 2)
      append (
          html,
          "<li>A measurement: %s saves %.1f %% in the forecast, but from %.1f to %.1f %% within the band. Measured "
          "links narrow it.</li>",
          one->change.name, fab_percent (one->saved_fraction), fab_percent (one->low_fraction),
          fab_percent (one->high_fraction));
    if (one->state == FAB_UPGRADE_SURE && fab_upgrade_price (one) < 0 && n_unpriced++ < 2)
      append (html, "<li>An offer: %s surely saves %.1f %%, and no price of its parts is known.</li>",
              one->change.name, fab_percent (one->saved_fraction));
  }
  if (all->band != NULL) {
    g_autofree char *about = fab_band_about (all->band, 0);

    append (
        html,
        "<li>The step itself: its band is %s. Savings are surer than the step, since both sides share most of "
        "its errors.</li>",
        about);
  }
  append (
      html,
      "<li>Another job: everything here is of this one. Other models, batches and strategies are limited by other "
      "things."
      "</li></ul>");
}

static char *
upgrade_html (FabStudy *study, GError **error)
{
  g_autoptr (FabScenario) scenario = fab_study_scenario (study, NULL, error);
  g_autoptr (GPtrArray) knobs = scenario != NULL ? fab_job_knobs (scenario, NULL, NULL) : NULL;
  g_autoptr (FabUpgrades) all = scenario != NULL
                                  ? fab_upgrades_find (study, &(FabUpgradeLimits){ .knobs = knobs }, error)
                                  : NULL;
  GString *html;

  if (all == NULL)
    return NULL;
  FabUpgradeChoice choice = fab_upgrade_choose (all, 0);
  html = g_string_new ("<section class=\"plan\" id=\"plan\">");
  append (html, "<h1>What to do with %s</h1>", fab_scenario_spec (scenario)->name);
  append_upgrade_decision (html, all, &choice);
  append_upgrade_table (html, all, &choice);
  append_reversals (html, all);
  append_upgrade_changes (html, all, &choice);
  g_string_append (html, "<h2>Evidence</h2><p>The run as it is, in figures and pictures.</p></section>");
  return g_string_free (html, FALSE);
}

/* --- several runs --- */

static void
append_money_sentence (GString *html, const GPtrArray *sides, guint cheapest)
{
  if (cheapest == G_MAXUINT) {
    append (html, "<p>What a token costs cannot be compared: something has no price.</p>");
    return;
  }
  const FabSide *side = fab_sides_at (sides, cheapest);
  FabMoney range = fab_cost_range (side->point, side->band, side->point->spending.usd_per_million_tokens);
  g_autofree char *text = show_range (&range);
  append (html, "<p>A million tokens cost least with %s: %s.</p>", side->name, text);
}

static void
append_runs_decision (GString *html, const FabOffersAnswer *answer)
{
  const FabSide *best = fab_sides_at (answer->sides, answer->fastest),
                *other = fab_sides_at (answer->sides, answer->second);
  guint cheapest = answer->cheapest;

  append (
      html,
      "<div class=\"decision\"><p>%s takes %.1f %% less time for the same work than %s (%.1f to %.1f %%).</p>",
      best->name, fab_percent (answer->lead.saved), other->name, fab_percent (answer->lead.low),
      fab_percent (answer->lead.high));
  append_money_sentence (html, answer->sides, cheapest);
  if (!answer->is_decided)
    append (
        html,
        "<p><b>The forecast does not decide between %s and %s:</b> within the band there may be no difference."
        "</p></div>",
        best->name, other->name);
  else if (cheapest == answer->fastest || cheapest == G_MAXUINT)
    append (html, "<p><b>Take %s</b>%s.</p></div>", best->name,
            cheapest == answer->fastest ? ": it is faster and cheaper" : ", if its price is right");
  else
    append (html, "<p><b>Take %s for speed, %s for money.</b></p></div>", best->name,
            fab_sides_at (answer->sides, cheapest)->name);
}

static void
append_runs_table (GString *html, const FabOffersAnswer *answer)
{
  const GPtrArray *sides = answer->sides;
  static const char *const columns[] = {
    "Alternative",   "Less time than the first", "To buy",     "Step", "Training",
    "With failures", "A million tokens",         "Limited by", NULL
  };

  g_string_append (html, "<h2>Alternatives</h2>");
  append_columns (html, columns, fab_sides_at (sides, 0)->point);
  for (guint i = 0; i < sides->len; i++) {
    const FabSide *side = fab_sides_at (sides, i);
    g_autofree char *capex = show (FAB_FIGURE_MONEY, side->point->spending.capex_usd);
    const FabOfferSaving *one = &g_array_index (answer->savings, FabOfferSaving, i);
    g_autofree char *saves = i == 0 ? g_strdup ("-")
                                    : g_strdup_printf ("%.1f %% (%.1f to %.1f)", fab_percent (one->saved),
                                                       fab_percent (one->low), fab_percent (one->high));

    append_row_head (html, side->name, answer->is_decided && i == answer->fastest);
    append_cell (html, "Less time than the first", saves);
    append_cell (html, "To buy", side->point->spending.capex_usd > 0 ? capex : "not known");
    append_time_cells (html, side->point, side->band);
    append_token_cell (html, side->point, side->band);
    append_cell (html, "Limited by", fab_upgrade_pace (side->point));
    g_string_append (html, "</tr>");
  }
  g_string_append (html, "</tbody></table>");
}

static void
append_runs_changes (GString *html, const GPtrArray *sides)
{
  g_string_append (html, "<h2>What would change the answer</h2><ul>");
  for (guint i = 0; i < sides->len; i++) {
    const FabSide *side = fab_sides_at (sides, i);
    const FabSpending *spending = &side->point->spending;

    if (side->band != NULL) {
      g_autofree char *about = fab_band_about (side->band, 0);

      append (html, "<li>A measurement of what makes %s unsure: %s.</li>", side->name, about);
    }
    if (spending->usd_per_hour <= 0)
      append (html, "<li>A price for %s: <code>fabricast cost</code> says what has none.</li>", side->name);
  }
  append (html, "<li>Another job: everything here is of this one.</li></ul>");
}

static char *
runs_html (GPtrArray *sides, GError **error)
{
  g_autoptr (FabOffersAnswer) answer = fab_offers_answer (sides, error);

  if (answer == NULL)
    return NULL;
  GString *html = g_string_new ("<section class=\"plan\" id=\"plan\"><h1>Which of them</h1>");
  append_runs_decision (html, answer);
  append_runs_table (html, answer);
  append_runs_changes (html, sides);
  g_string_append (html, "<h2>Evidence</h2><p>The runs as they are, in figures and pictures.</p></section>");
  return g_string_free (html, FALSE);
}

/* --- the runs of a file --- */

static gboolean
take_text (const FabField *fields, gpointer data, G_GNUC_UNUSED GError **error)
{
  *(char **) data = g_strdup (fields[0].text);
  return TRUE;
}

/* A study of the scenario that the file keeps of a run. (transfer full) */
static FabStudy *
study_of (FabStore *store, gint64 run, const FabCatalog *catalog, GError **error)
{
  g_autofree char *yaml = NULL, *path = NULL;
  FabStudy *study;
  int file;

  if (!fab_store_each (store, "SELECT scenario_yaml FROM run WHERE run_id = :run", run, take_text, &yaml,
                       error))
    return NULL;
  if (yaml == NULL) {
    fab_throw (error, FAB_ERROR_INPUT, "there is no run %" G_GINT64_FORMAT, run);
    return NULL;
  }
  file = g_file_open_tmp ("fabricast-XXXXXX.yaml", &path, error);
  if (file < 0 || !g_close (file, error))
    return NULL;
  study = fab_cli_write_file (path, yaml, error) ? fab_study_new (path, NULL, catalog, &fab_models, error)
                                                 : NULL;
  g_remove (path);
  if (study != NULL) {
    study->n_threads = fab_cli_threads ();
    study->allows_oversized = TRUE;
  }
  return study;
}

static void
unref_study (gpointer study)
{
  fab_study_free (study);
}

/* Two runs of one scenario are told apart by their numbers. */
static char *
name_of (const FabStudy *study, gint64 run)
{
  g_autoptr (FabScenario) scenario = fab_study_scenario (study, NULL, NULL);

  return g_strdup_printf ("%s (run %" G_GINT64_FORMAT ")",
                          scenario != NULL ? fab_scenario_spec (scenario)->name : "scenario", run);
}

char *
fab_planning_html (FabStore *store, const gint64 *runs, guint n_runs, const FabCatalog *catalog,
                   FabPulse *pulse, GError **error)
{
  g_autoptr (GPtrArray) studies = g_ptr_array_new_with_free_func (unref_study);
  g_autoptr (GPtrArray) sides = g_ptr_array_new_with_free_func ((GDestroyNotify) fab_side_free);

  for (guint i = 0; i < n_runs; i++) {
    FabStudy *study = study_of (store, runs[i], catalog, error);

    if (study == NULL)
      return NULL;
    study->pulse = pulse;
    g_ptr_array_add (studies, study);
    g_autofree char *name = name_of (study, runs[i]);
    g_ptr_array_add (sides, fab_side_new (name, study, NULL));
  }
  if (n_runs == 0) {
    fab_throw (error, FAB_ERROR_INPUT, "--for planning: the file has no run");
    return NULL;
  }
  return n_runs == 1 ? upgrade_html (g_ptr_array_index (studies, 0), error) : runs_html (sides, error);
}
