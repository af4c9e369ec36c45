/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/study/upgrade_words.h"

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

  if (price != other)
    return price < other;
  return self->n_parts < than->n_parts;
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
  guint n_unsure = 0, n_dear = 0, n_unpriced = 0;

  for (guint i = 0; i < all->ranking->len; i++) {
    const FabUpgrade *one = at (all->ranking, i);

    n_unsure += one->state == FAB_UPGRADE_UNSURE;
    n_unpriced += one->state == FAB_UPGRADE_SURE && fab_upgrade_price (one) < 0;
    n_dear += one->state == FAB_UPGRADE_SURE && fab_upgrade_price (one) > 0;
  }
  if (has_no_band)
    return "without bands nobody knows whether a gain is real";
  if (n_dear > 0)
    return budget_usd > 0 ? "no sure gain within the budget saves more than what costs nothing"
                          : "no purchase surely saves more than what costs nothing";
  if (n_unpriced > 0)
    return "parts of every sure gain have no price";
  return n_unsure > 0 ? "every gain lies within the spread of the forecast and may be none"
                      : "no change saves half a percent";
}

const char *
fab_upgrade_pace (const FabPoint *point)
{
  const char *name = fab_bottleneck_name (point->bottleneck);

  return name != NULL ? name : "-";
}

char *
fab_upgrade_show_band (const FabUpgrade *self)
{
  if (!fab_upgrade_has_band (self))
    return g_strdup ("-");
  return g_strdup_printf ("%.1f to %.1f %%", 100 * self->low_fraction, 100 * self->high_fraction);
}

char *
fab_upgrade_show_price (double usd)
{
  return usd < 0  ? g_strdup ("no price")
       : usd == 0 ? g_strdup ("nothing")
                  : fab_figure_show (FAB_FIGURE_MONEY, usd);
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
