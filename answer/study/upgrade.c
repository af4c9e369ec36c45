/* SPDX-License-Identifier: Apache-2.0 */
#include "answer/study/upgrade.h"

#include <math.h>

#include "answer/memory_advice.h"
#include "answer/study/hold.h"
#include "models/workload/training/choices.h"
#include "sim/study/study_bottleneck.h"

static const FabUpgrade *
at (const GPtrArray *list, guint i)
{
  return g_ptr_array_index (list, i);
}

double
fab_upgrade_price (const FabUpgrade *self)
{
  return self->purchase != NULL && self->purchase->is_priced ? self->purchase->money.usd : -1;
}

gboolean
fab_upgrade_is_recommendable (const FabUpgrade *self, double budget_usd)
{
  double usd = fab_upgrade_price (self);
  gboolean is_safe = self->state == FAB_UPGRADE_UNSURE && usd == 0 && self->paired.change.n > 0
                  && self->paired.coverage_fraction > 0 && fab_paired_is_never_slower (&self->paired);

  return (self->state == FAB_UPGRADE_SURE || is_safe) && usd >= 0 && (budget_usd <= 0 || usd <= budget_usd);
}

/* Of two that save as much, to half a percent, the cheaper one, then the one of fewer parts, then the one that was made
 * first: a choice that a seed cannot turn. */
static gboolean
is_preferred (const FabUpgrade *self, const FabUpgrade *than)
{
  double price = fab_upgrade_price (self), other = fab_upgrade_price (than);

  return price < other || (price == other && self->n_parts < than->n_parts);
}

static const FabUpgrade *
find_most (const FabUpgrades *all, double budget_usd, gboolean is_free)
{
  const FabUpgrade *best = NULL;
  double most = 0;

  for (guint i = 0; i < all->all->len; i++) {
    const FabUpgrade *one = at (all->all, i);

    if (fab_upgrade_is_recommendable (one, budget_usd) && (!is_free || fab_upgrade_price (one) == 0))
      most = MAX (most, one->saved_fraction);
  }
  for (guint i = 0; i < all->all->len; i++) {
    const FabUpgrade *one = at (all->all, i);

    if (fab_upgrade_is_recommendable (one, budget_usd) && (!is_free || fab_upgrade_price (one) == 0)
        && one->saved_fraction >= most - FAB_UPGRADE_LEAST && (best == NULL || is_preferred (one, best)))
      best = one;
  }
  return best;
}

static gint
by_price (gconstpointer a, gconstpointer b)
{
  const FabUpgrade *x = *(FabUpgrade *const *) a, *y = *(FabUpgrade *const *) b;

  return is_preferred (x, y) ? -1 : is_preferred (y, x) ? 1 : 0;
}

/* The cheapest purchase that surely saves more than what costs nothing. A dearer one takes its place where it surely
 * saves more and each percent costs less. */
static const FabUpgrade *
find_purchase (const FabUpgrades *all, double budget_usd, const FabUpgrade *setting)
{
  g_autoptr (GPtrArray) list = g_ptr_array_new ();
  const FabUpgrade *best = NULL;

  for (guint i = 0; i < all->all->len; i++)
    if (fab_upgrade_is_recommendable (at (all->all, i), budget_usd)
        && fab_upgrade_price (at (all->all, i)) > 0)
      g_ptr_array_add (list, (gpointer) at (all->all, i));
  g_ptr_array_sort (list, by_price);
  for (guint i = 0; i < list->len; i++) {
    const FabUpgrade *one = at (list, i);

    if (best == NULL ? fab_upgrade_is_better (all, one, setting)
                     : fab_upgrade_usd_per_percent (one) < fab_upgrade_usd_per_percent (best)
                           && fab_upgrade_is_better (all, one, best))
      best = one;
  }
  return best;
}

FabUpgradeChoice
fab_upgrade_choose (const FabUpgrades *all, double budget_usd)
{
  FabUpgradeChoice choice = { find_most (all, budget_usd, TRUE), NULL, find_most (all, budget_usd, FALSE) };

  choice.purchase = find_purchase (all, budget_usd, choice.setting);
  return choice;
}

const char *
fab_upgrade_why_no_purchase (const FabUpgrades *all, double budget_usd, gboolean has_no_band)
{
  gboolean is_unsure = FALSE, is_dear = FALSE, is_unpriced = FALSE; /* at least one */

  for (guint i = 0; i < all->ranking->len; i++) {
    const FabUpgrade *one = at (all->ranking, i);

    is_unsure |= one->state == FAB_UPGRADE_UNSURE;
    is_unpriced |= one->state == FAB_UPGRADE_SURE && fab_upgrade_price (one) < 0;
    is_dear |= one->state == FAB_UPGRADE_SURE && fab_upgrade_price (one) > 0;
  }
  if (has_no_band)
    return "without bands nobody knows whether a gain is real";
  if (is_dear)
    return budget_usd > 0 ? "no sure gain within the budget saves more than what costs nothing"
                          : "no purchase surely saves more than what costs nothing";
  if (is_unpriced)
    return "parts of every sure gain have no price";
  return is_unsure ? "every gain lies within the spread of the forecast and may be none"
                   : "no change saves half a percent";
}

/* Of the changes in a state that have a price, or have none: the one that saves most, or the cheapest. */
static const FabUpgrade *
foremost (const FabUpgrades *all, FabUpgradeState state, gboolean has_price, gboolean is_cheapest)
{
  const FabUpgrade *best = NULL;

  for (guint i = 0; i < all->all->len; i++) {
    const FabUpgrade *one = at (all->all, i);
    double usd = fab_upgrade_price (one);

    if (one->state != state || one->trial.point == NULL || (has_price ? usd <= 0 : usd == 0))
      continue;
    if (best == NULL
        || (is_cheapest ? usd < fab_upgrade_price (best) : one->saved_fraction > best->saved_fraction))
      best = one;
  }
  return best;
}

/* "X saves 43.0 % for $46.4k, $36.4k more than the budget". (transfer full) */
static char *
show_sure (const FabUpgrade *one, double budget_usd, const FabUpgrade *setting)
{
  double usd = fab_upgrade_price (one);
  g_autofree char *price = fab_figure_show (FAB_FIGURE_MONEY, usd),
                  *over = fab_figure_show (FAB_FIGURE_MONEY, usd - budget_usd);

  if (budget_usd > 0 && usd > budget_usd)
    return g_strdup_printf ("%s saves %.1f %% for %s, %s more than the budget", one->change.name,
                            100 * one->saved_fraction, price, over);
  if (setting != NULL)
    return g_strdup_printf ("%s saves %.1f %% for %s, and %s saves %.1f %% for nothing", one->change.name,
                            100 * one->saved_fraction, price, setting->change.name,
                            100 * setting->saved_fraction);
  return g_strdup_printf ("%s saves %.1f %% for %s", one->change.name, 100 * one->saved_fraction, price);
}

/* In percent with one decimal, and never -0.0. */
static double
percent (double fraction)
{
  return round (1000 * fraction) / 10 + 0.0;
}

/* "X saves 10.4 %, with a band from 0.0 to 44.7 %, and its price is not known". (transfer full) */
static char *
show_unsure (const FabUpgrade *one)
{
  g_autofree char *band = fab_upgrade_has_band (one)
                            ? g_strdup_printf (", with a band from %.1f to %.1f %%",
                                               percent (one->low_fraction), percent (one->high_fraction))
                            : g_strdup ("");

  return g_strdup_printf ("%s saves %.1f %%%s%s", one->change.name, percent (one->saved_fraction), band,
                          fab_upgrade_price (one) < 0 ? ", and its price is not known" : "");
}

char *
fab_upgrade_nearest (const FabUpgrades *all, double budget_usd, const FabUpgrade *setting)
{
  const FabUpgrade *sure = foremost (all, FAB_UPGRADE_SURE, TRUE, budget_usd > 0),
                   *unpriced = foremost (all, FAB_UPGRADE_SURE, FALSE, FALSE),
                   *unsure = foremost (all, FAB_UPGRADE_UNSURE, TRUE, FALSE),
                   *unknown = foremost (all, FAB_UPGRADE_UNSURE, FALSE, FALSE),
                   *least = foremost (all, FAB_UPGRADE_NO_GAIN, TRUE, FALSE);

  if (sure != NULL)
    return show_sure (sure, budget_usd, setting);
  if (unpriced != NULL)
    return g_strdup_printf ("%s saves %.1f %%, and its price is not known", unpriced->change.name,
                            100 * unpriced->saved_fraction);
  if (unsure != NULL || unknown != NULL)
    return show_unsure (unsure != NULL ? unsure : unknown);
  return least != NULL
           ? g_strdup_printf ("%s saves %.2f %%, and %.1f %% is the least that counts", least->change.name,
                              100 * least->saved_fraction, 100 * FAB_UPGRADE_LEAST)
           : NULL;
}

const FabUpgrade *
fab_upgrade_break_even (const FabUpgrades *all, const FabUpgradeChoice *choice, double *usd)
{
  for (guint i = 0; choice->purchase != NULL && i < all->ranking->len; i++) {
    const FabUpgrade *one = at (all->ranking, i);

    if (one == choice->purchase || !fab_upgrade_is_recommendable (one, 0) || fab_upgrade_price (one) <= 0)
      continue;
    *usd = fab_upgrade_usd_per_percent (one) * 100 * choice->purchase->saved_fraction;
    return one;
  }
  return NULL;
}

const char *
fab_upgrade_pace (const FabPoint *point)
{
  const char *name = fab_bottleneck_name (point->bottleneck);

  return name != NULL ? name : "-";
}

char *
fab_upgrade_parts (const FabPurchase *purchase, FabUpgradeParts which)
{
  g_autoptr (GString) out = g_string_new (NULL);

  for (guint i = 0; purchase != NULL && i < purchase->rows->len; i++) {
    const FabPurchaseRow *row = &g_array_index (purchase->rows, FabPurchaseRow, i);
    guint64 n = which == FAB_UPGRADE_BUYS  ? row->n_bought
              : which == FAB_UPGRADE_KEEPS ? row->n_kept
                                           : row->n_left;
    gboolean is_bought = which == FAB_UPGRADE_BUYS;

    if (n > 0)
      g_string_append_printf (out, "%s%" G_GUINT64_FORMAT " x %s%s", out->len > 0 ? ", " : "", n,
                              row->product ? row->product->name : row->what,
                              is_bought && row->is_included     ? " (included)"
                              : is_bought && row->usd_each <= 0 ? " (no price)"
                                                                : "");
  }
  return out->len > 0 ? g_strdup (out->str) : NULL;
}

/* --- the answer --- */

/* What limits the step with each recommended change, on all seeds. */
static void
look_closer (const FabStudy *study, const FabUpgradeChoice *choice)
{
  const FabUpgrade *const all[] = { choice->setting, choice->purchase, choice->most };

  for (guint i = 0; i < G_N_ELEMENTS (all); i++)
    if (all[i] != NULL)
      fab_study_find_bottleneck (study, all[i]->change.edits, all[i]->trial.point);
}

/* The ranking, then what has no gain. */
static GPtrArray *
rows_of (const FabUpgrades *all)
{
  GPtrArray *rows = g_ptr_array_new ();

  for (guint i = 0; i < all->ranking->len; i++)
    g_ptr_array_add (rows, g_ptr_array_index (all->ranking, i));
  for (guint i = 0; i < all->all->len; i++)
    if (at (all->all, i)->state > FAB_UPGRADE_UNSURE)
      g_ptr_array_add (rows, g_ptr_array_index (all->all, i));
  return rows;
}

/* Where nobody says what to hold, changes hold the global batch if they can. */
static const char *
held_by (const FabStudy *study)
{
  const char *hold = fab_hold_of (study);

  return hold != NULL && study->hold == FAB_HOLD_WRITTEN ? "batch" : hold;
}

static void
set_no_purchase (FabUpgradeAnswer *self, gboolean has_no_band)
{
  self->no_purchase = fab_upgrade_why_no_purchase (self->all, self->budget_usd, has_no_band);
  self->nearest = fab_upgrade_nearest (self->all, self->budget_usd, self->choice.setting);
}

FabUpgradeAnswer *
fab_upgrade_answer (const FabStudy *study, const FabUpgradeLimits *limits, double budget_usd, GError **error)
{
  g_autoptr (FabScenario) scenario = fab_study_scenario (study, NULL, error);

  if (scenario == NULL)
    return NULL;
  g_autoptr (GPtrArray) knobs = limits->knobs == NULL ? fab_job_knobs (scenario, NULL, NULL) : NULL;
  FabUpgradeLimits own = *limits;
  if (knobs != NULL)
    own.knobs = knobs;
  FabUpgrades *all = fab_upgrades_find (study, &own, error);
  if (all == NULL)
    return NULL;
  FabUpgradeAnswer *self = g_new0 (FabUpgradeAnswer, 1);
  *self = (FabUpgradeAnswer){ .knobs = g_steal_pointer (&knobs),
                              .all = all,
                              .budget_usd = budget_usd,
                              .choice = fab_upgrade_choose (all, budget_usd),
                              .rows = rows_of (all),
                              .hold = held_by (study) };
  if (self->choice.purchase == NULL)
    set_no_purchase (self, limits->has_no_band);
  fab_advise_memory_of (all->scenario, &(FabMemoryTrying){ study->registry, study->n_threads, NULL },
                        all->base->verdict);
  look_closer (study, &self->choice);
  return self;
}

void
fab_upgrade_answer_free (FabUpgradeAnswer *self)
{
  if (self == NULL)
    return;
  g_free (self->nearest);
  g_ptr_array_unref (self->rows);
  fab_upgrades_free (self->all);
  g_clear_pointer (&self->knobs, g_ptr_array_unref);
  g_free (self);
}

gboolean
fab_upgrade_is_most_apart (const FabUpgradeAnswer *self)
{
  const FabUpgradeChoice *choice = &self->choice;
  const FabUpgrade *other = choice->purchase != NULL ? choice->purchase : choice->setting;

  return choice->most != NULL && choice->most != choice->purchase && choice->most != choice->setting
      && fab_upgrade_is_better (self->all, choice->most, other);
}

/* --- rows --- */

static const char *const state_names[] = {
  [FAB_UPGRADE_SURE] = "sure",
  [FAB_UPGRADE_UNSURE] = "within band",
  [FAB_UPGRADE_NO_GAIN] = "no gain",
  [FAB_UPGRADE_TOO_LARGE] = "too large",
  [FAB_UPGRADE_IMPOSSIBLE] = "impossible",
};

static char *
number (double value)
{
  char text[G_ASCII_DTOSTR_BUF_SIZE];

  return g_strdup (g_ascii_dtostr (text, sizeof text, value));
}

FabPoints *
fab_upgrade_points (const FabUpgradeAnswer *self)
{
  static const char *const columns[] = { "change",
                                         "state",
                                         "is_recommended",
                                         "buys",
                                         "keeps",
                                         "leaves",
                                         "then_limited_by",
                                         "saved_fraction",
                                         "saved_low_fraction",
                                         "saved_high_fraction",
                                         "price_usd",
                                         "price_low_usd",
                                         "price_high_usd",
                                         "usd_per_percent",
                                         NULL };
  FabPoints *points = fab_points_new (columns, 1, 7, self->hold);

  for (guint i = 0; i < self->rows->len; i++) {
    const FabUpgrade *one = at (self->rows, i);
    gboolean is_played = one->trial.point != NULL && one->state != FAB_UPGRADE_TOO_LARGE,
             has_band = fab_upgrade_has_band (one), has_price = fab_upgrade_price (one) >= 0;
    const FabMoney *price = has_price ? &one->purchase->money : NULL;
    double each = fab_upgrade_usd_per_percent (one);
    char *const labels[] = { g_strdup (one->change.name),
                             g_strdup (state_names[one->state]),
                             g_strdup (fab_upgrade_is_recommendable (one, self->budget_usd) ? "yes" : "no"),
                             fab_upgrade_parts (one->purchase, FAB_UPGRADE_BUYS),
                             fab_upgrade_parts (one->purchase, FAB_UPGRADE_KEEPS),
                             fab_upgrade_parts (one->purchase, FAB_UPGRADE_LEAVES),
                             g_strdup (is_played ? fab_upgrade_pace (one->trial.point) : NULL),
                             is_played ? number (one->saved_fraction) : NULL,
                             has_band ? number (one->low_fraction) : NULL,
                             has_band ? number (one->high_fraction) : NULL,
                             price ? number (price->usd) : NULL,
                             price ? number (price->low_usd) : NULL,
                             price ? number (price->high_usd) : NULL,
                             each >= 0 ? number (each) : NULL };

    fab_points_add (points, labels, one->trial.point, one->trial.problem);
  }
  return points;
}
