/* SPDX-License-Identifier: Apache-2.0 */
/* test_upgrade_choice.c - which of some changes are recommended, why no purchase is, and what comes nearest to one.
 *
 * The changes are made by hand: nothing is played.
 */
#include "tests/support/test.h"

#include "answer/study/upgrade.h"
#include "sim/decision/bottleneck.h"
#include "tests/support/random.h"

#define UNKNOWN (-1.0)
#define BARE (-2.0) /* there is no purchase at all */

enum { MOST = 8 };

typedef struct {
  FabUpgrade changes[MOST];
  FabPurchase purchases[MOST];
  FabUpgrades all;
} Found;

static FabPoint played; /* in each that has one */

static void
found_init (Found *self)
{
  *self = (Found){ .all = { .all = g_ptr_array_new (), .ranking = g_ptr_array_new () } };
}

static void
found_clear (Found *self)
{
  g_ptr_array_unref (self->all.all);
  g_ptr_array_unref (self->all.ranking);
}

static FabUpgrade *
add (Found *self, FabUpgradeState state, const char *name, double saved, double usd, guint n_parts)
{
  guint i = self->all.all->len;
  FabUpgrade *one = &self->changes[i];

  assert_true (i < MOST);
  self->purchases[i] = (FabPurchase){ .is_priced = usd >= 0, .money = { .usd = MAX (usd, 0) } };
  *one = (FabUpgrade){ .change = { FAB_CHANGE_SET, (char *) name, NULL },
                       .state = state,
                       .n_parts = n_parts,
                       .trial = { .point = &played },
                       .saved_fraction = saved,
                       .low_fraction = saved,
                       .high_fraction = saved,
                       .purchase = usd == BARE ? NULL : &self->purchases[i] };
  g_ptr_array_add (self->all.all, one);
  if (state <= FAB_UPGRADE_UNSURE)
    g_ptr_array_add (self->all.ranking, one);
  return one;
}

static void
prices_are_known_where_everything_has_one (G_GNUC_UNUSED void **state)
{
  Found found;

  found_init (&found);
  assert_true (fab_upgrade_price (add (&found, FAB_UPGRADE_SURE, "a", 0.1, 1500, 1)) == 1500);
  assert_true (fab_upgrade_price (add (&found, FAB_UPGRADE_SURE, "b", 0.1, 0, 1)) == 0);
  assert_true (fab_upgrade_price (add (&found, FAB_UPGRADE_SURE, "c", 0.1, UNKNOWN, 1)) < 0);
  assert_true (fab_upgrade_price (add (&found, FAB_UPGRADE_SURE, "d", 0.1, BARE, 1)) < 0);
  found_clear (&found);
}

/* Sure, with a price within the budget; or free, and never slower in what was played again. */
static void
what_may_be_recommended (G_GNUC_UNUSED void **state)
{
  static const double prices[] = { BARE, UNKNOWN, 0, 999, 1000, 1001 }, budgets[] = { 0, 1, 1000 };

  for (FabUpgradeState which = FAB_UPGRADE_SURE; which <= FAB_UPGRADE_IMPOSSIBLE; which++)
    for (guint p = 0; p < G_N_ELEMENTS (prices); p++)
      for (guint b = 0; b < G_N_ELEMENTS (budgets); b++)
        for (guint safe = 0; safe < 8; safe++) {
          Found found;
          gboolean is_played = safe & 1, has_band = safe & 2, is_never_slower = safe & 4;
          gboolean is_within = prices[p] >= 0 && (budgets[b] == 0 || prices[p] <= budgets[b]);
          gboolean is_sure = which == FAB_UPGRADE_SURE
                          || (which == FAB_UPGRADE_UNSURE && prices[p] == 0 && is_played && has_band
                              && is_never_slower);

          found_init (&found);
          FabUpgrade *one = add (&found, which, "a", 0.1, prices[p], 1);
          one->paired.change.n = is_played ? 1 : 0;
          one->paired.coverage_fraction = has_band ? 0.9 : 0;
          one->paired.worst_fraction = is_never_slower ? -0.1 : 0.1;
          assert_int_equal (fab_upgrade_is_recommendable (one, budgets[b]), is_sure && is_within);
          found_clear (&found);
        }
}

/* Of what saves nearly as much as the best: the cheapest, then the one of fewest parts, then the first. */
static const FabUpgrade *
most_of (const Found *self, double budget_usd, gboolean is_free)
{
  double most = 0;
  const FabUpgrade *best = NULL;

  for (guint pass = 0; pass < 2; pass++)
    for (guint i = 0; i < self->all.all->len; i++) {
      const FabUpgrade *one = &self->changes[i];
      double usd = one->purchase->is_priced ? one->purchase->money.usd : -1;

      if (one->state != FAB_UPGRADE_SURE || usd < 0 || (budget_usd > 0 && usd > budget_usd)
          || (is_free && usd > 0))
        continue;
      if (pass == 0)
        most = MAX (most, one->saved_fraction);
      else if (one->saved_fraction >= most - 0.005
               && (best == NULL || usd < best->purchase->money.usd
                   || (usd == best->purchase->money.usd && one->n_parts < best->n_parts)))
        best = one;
    }
  return best;
}

static void
what_saves_most_is_chosen (G_GNUC_UNUSED void **state)
{
  static const double saved[] = { 0.1, 0.104, 0.106, 0.2, 0.3 }, prices[] = { UNKNOWN, 0, 0, 100, 200, 2000 },
                      budgets[] = { 0, 100, 150, 2000 };

  for (guint64 seed = 1; seed <= 500; seed++) {
    Random random = { seed };
    Found found;
    double budget_usd = budgets[random_below (&random, G_N_ELEMENTS (budgets))];
    gboolean has_free = random_chance (&random, 50);

    found_init (&found);
    for (guint n = random_below (&random, MOST); n > 0; n--) {
      double usd = prices[random_below (&random, G_N_ELEMENTS (prices))];

      /* The purchase is held against the free one by playing both, unless there is none. */
      add (&found, random_chance (&random, 80) ? FAB_UPGRADE_SURE : FAB_UPGRADE_NO_GAIN, "a",
           saved[random_below (&random, G_N_ELEMENTS (saved))],
           has_free   ? MIN (usd, 0)
           : usd == 0 ? 100
                      : usd,
           random_between (&random, 1, 3));
    }
    FabUpgradeChoice choice;
    if (has_free) {
      choice = fab_upgrade_choose (&found.all, budget_usd);
      assert_ptr_equal (choice.setting, most_of (&found, budget_usd, TRUE));
      assert_ptr_equal (choice.most, choice.setting);
      assert_null (choice.purchase);
    } else {
      for (guint i = 0; i < found.all.all->len; i++)
        found.changes[i].saved_fraction = 0.1
                                        + found.changes[i].saved_fraction
                                              / 100; /* none saves half a percent more */
      choice = fab_upgrade_choose (&found.all, budget_usd);
      assert_null (choice.setting);
      assert_ptr_equal (choice.most, most_of (&found, budget_usd, FALSE));
      assert_ptr_equal (choice.purchase, choice.most); /* the cheapest, of those that save as much */
    }
    found_clear (&found);
  }
}

/* The purchase must save half a percent more than what costs nothing. */
static void
a_purchase_saves_more_than_what_is_free (G_GNUC_UNUSED void **state)
{
  Found found;

  found_init (&found);
  const FabUpgrade *free_one = add (&found, FAB_UPGRADE_SURE, "free", 0.10, 0, 1);
  add (&found, FAB_UPGRADE_SURE, "less", 0.09, 100, 1);
  add (&found, FAB_UPGRADE_SURE, "as much", 0.104, 100, 1);
  FabUpgradeChoice choice = fab_upgrade_choose (&found.all, 0);
  assert_ptr_equal (choice.setting, free_one);
  assert_null (choice.purchase);
  assert_ptr_equal (choice.most, free_one);
  double usd = -1;
  assert_null (fab_upgrade_break_even (&found.all, &choice, &usd));
  FabUpgradeAnswer answer = { .all = &found.all, .choice = choice };
  assert_false (fab_upgrade_is_most_apart (&answer));
  found_clear (&found);
}

static void
why_there_is_no_purchase (G_GNUC_UNUSED void **state)
{
  static const struct {
    FabUpgradeState states[2];
    double usd[2], budget_usd;
    gboolean has_no_band;
    const char *text;
  } cases[] = {
    { { FAB_UPGRADE_SURE, FAB_UPGRADE_SURE },
      { 0, 100 },
      0,
      TRUE,
      "without bands nobody knows whether a gain is real" },
    { { FAB_UPGRADE_SURE, FAB_UPGRADE_UNSURE },
      { 100, 100 },
      0,
      FALSE,
      "no purchase surely saves more than what costs nothing" },
    { { FAB_UPGRADE_SURE, FAB_UPGRADE_SURE },
      { UNKNOWN, 1 },
      1,
      FALSE,
      "no sure gain within the budget saves more than what costs nothing" },
    { { FAB_UPGRADE_SURE, FAB_UPGRADE_UNSURE },
      { UNKNOWN, 100 },
      0,
      FALSE,
      "parts of every sure gain have no price" },
    { { FAB_UPGRADE_UNSURE, FAB_UPGRADE_SURE },
      { UNKNOWN, BARE },
      0,
      FALSE,
      "parts of every sure gain have no price" },
    { { FAB_UPGRADE_UNSURE, FAB_UPGRADE_NO_GAIN },
      { 100, 100 },
      0,
      FALSE,
      "every gain lies within the spread of the forecast and may be none" },
    { { FAB_UPGRADE_SURE, FAB_UPGRADE_UNSURE },
      { 0, UNKNOWN },
      0,
      FALSE,
      "every gain lies within the spread of the forecast and may be none" },
    { { FAB_UPGRADE_SURE, FAB_UPGRADE_NO_GAIN }, { 0, 100 }, 0, FALSE, "no change saves half a percent" },
    { { FAB_UPGRADE_TOO_LARGE, FAB_UPGRADE_IMPOSSIBLE },
      { 100, 100 },
      0,
      FALSE,
      "no change saves half a percent" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    Found found;

    found_init (&found);
    for (guint k = 0; k < 2; k++)
      add (&found, cases[i].states[k], "a", 0.1, cases[i].usd[k], 1);
    assert_string_equal (fab_upgrade_why_no_purchase (&found.all, cases[i].budget_usd, cases[i].has_no_band),
                         cases[i].text);
    found_clear (&found);
  }
}

typedef struct {
  FabUpgradeState state;
  double saved, usd;
} One;
static const struct {
  One ones[3];
  double budget_usd, free_saved; /* 0: nothing is free */
  const char *text;
} nearest_cases[] = {
  { { { FAB_UPGRADE_SURE, 0.43, 46400 },
      { FAB_UPGRADE_SURE, 0.5, 50000 },
      { FAB_UPGRADE_SURE, 0.9, UNKNOWN } },
    10000,
    0,
    "A saves 43.0 % for $46.4k, $36.4k more than the budget" },
  { { { FAB_UPGRADE_SURE, 0.43, 46400 },
      { FAB_UPGRADE_SURE, 0.5, 50000 },
      { FAB_UPGRADE_SURE, 0.9, UNKNOWN } },
    0,
    0,
    "B saves 50.0 % for $50k" },
  { { { FAB_UPGRADE_SURE, 0.43, 46400 }, { FAB_UPGRADE_UNSURE, 0.5, 50000 }, { FAB_UPGRADE_SURE, 0.9, 0 } },
    46400,
    0.45,
    "A saves 43.0 % for $46.4k, and free saves 45.0 % for nothing" },
  { { { FAB_UPGRADE_SURE, 0.43, 46400 }, { FAB_UPGRADE_UNSURE, 0.5, 50000 }, { FAB_UPGRADE_SURE, 0.9, 0 } },
    46399,
    0.45,
    "A saves 43.0 % for $46.4k, $1 more than the budget" },
  { { { FAB_UPGRADE_SURE, 0.2, UNKNOWN },
      { FAB_UPGRADE_UNSURE, 0.5, 50000 },
      { FAB_UPGRADE_SURE, 0.3, BARE } },
    0,
    0.45,
    "C saves 30.0 %, and its price is not known" },
  { { { FAB_UPGRADE_UNSURE, 0.2, UNKNOWN },
      { FAB_UPGRADE_UNSURE, 0.1, 50000 },
      { FAB_UPGRADE_NO_GAIN, 0.3, 10 } },
    1,
    0,
    "B saves 10.0 %" },
  { { { FAB_UPGRADE_UNSURE, 0.2, 500 }, { FAB_UPGRADE_UNSURE, 0.1, 50 }, { FAB_UPGRADE_UNSURE, 0.2, 1 } },
    1,
    0,
    "A saves 20.0 %" },
  { { { FAB_UPGRADE_SURE, 0.2, 1 }, { FAB_UPGRADE_SURE, 0.25, 1 }, { FAB_UPGRADE_SURE, 0.25, 1 } },
    10,
    0,
    "A saves 20.0 % for $1" },
  { { { FAB_UPGRADE_SURE, 0.2, 1 }, { FAB_UPGRADE_SURE, 0.25, 2 }, { FAB_UPGRADE_SURE, 0.25, 1 } },
    0,
    0,
    "B saves 25.0 % for $2" },
  { { { FAB_UPGRADE_UNSURE, 0.2, UNKNOWN },
      { FAB_UPGRADE_UNSURE, 0.25, UNKNOWN },
      { FAB_UPGRADE_NO_GAIN, 0.3, 10 } },
    1,
    0,
    "B saves 25.0 %, and its price is not known" },
  { { { FAB_UPGRADE_NO_GAIN, 0.001, 10 },
      { FAB_UPGRADE_NO_GAIN, 0.0021, 20 },
      { FAB_UPGRADE_NO_GAIN, 0.004, UNKNOWN } },
    0,
    0,
    "B saves 0.21 %, and 0.5 % is the least that counts" },
  { { { FAB_UPGRADE_NO_GAIN, 0.001, 0 },
      { FAB_UPGRADE_TOO_LARGE, 0.2, 20 },
      { FAB_UPGRADE_UNSURE, 0.004, 0 } },
    0,
    0,
    NULL },
};

/* Sure gains with a price come before those without one, unsure ones and what is no gain; of each kind the one that
 * saves most, or the cheapest where there is a budget. */
static void
what_comes_nearest (G_GNUC_UNUSED void **state)
{
  for (guint i = 0; i < G_N_ELEMENTS (nearest_cases); i++) {
    FabUpgrade free_one = { .change = { FAB_CHANGE_SET, (char *) "free", NULL },
                            .saved_fraction = nearest_cases[i].free_saved };
    Found found;

    found_init (&found);
    for (guint k = 0; k < 3; k++)
      add (&found, nearest_cases[i].ones[k].state, (const char *[]){ "A", "B", "C" }[k],
           nearest_cases[i].ones[k].saved, nearest_cases[i].ones[k].usd, 1);
    g_autofree char *text = fab_upgrade_nearest (&found.all, nearest_cases[i].budget_usd,
                                                 nearest_cases[i].free_saved > 0 ? &free_one : NULL);
    if (nearest_cases[i].text == NULL)
      assert_null (text);
    else
      assert_string_equal (text, nearest_cases[i].text);
    for (guint k = 0; k < 3; k++)
      found.changes[k].trial.point = NULL; /* what was not played comes near to nothing */
    g_autofree char *nothing = fab_upgrade_nearest (&found.all, nearest_cases[i].budget_usd, NULL);
    assert_null (nothing);
    found_clear (&found);
  }
}

/* Percents of a band are never -0.0. */
static void
bands_of_the_nearest (G_GNUC_UNUSED void **state)
{
  static const struct {
    double low, high;
    const char *text;
  } cases[] = {
    { 0, 0.447, "A saves 10.4 %, with a band from 0.0 to 44.7 %" },
    { -0.0001, 0.1234, "A saves 10.4 %, with a band from 0.0 to 12.3 %" },
    { -0.0106, 0.1236, "A saves 10.4 %, with a band from -1.1 to 12.4 %" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    Found found;

    found_init (&found);
    FabUpgrade *one = add (&found, FAB_UPGRADE_UNSURE, "A", 0.104, 100, 1);
    one->paired.change.n = 1;
    one->paired.coverage_fraction = 0.9;
    one->low_fraction = cases[i].low;
    one->high_fraction = cases[i].high;
    g_autofree char *text = fab_upgrade_nearest (&found.all, 0, NULL);
    assert_string_equal (text, cases[i].text);
    found_clear (&found);
  }
}

/* $1000 for 10 %: $100 for each. The next one takes $150 for each, so the first may cost $1500. What is free, unsure or
 * without a price is no other purchase. */
static void
the_price_at_which_the_next_one_is_better (G_GNUC_UNUSED void **state)
{
  Found found;
  double usd = 0;

  found_init (&found);
  add (&found, FAB_UPGRADE_SURE, "free", 0.05, 0, 1);
  const FabUpgrade *best = add (&found, FAB_UPGRADE_SURE, "best", 0.1, 1000, 1);
  add (&found, FAB_UPGRADE_SURE, "unpriced", 0.2, UNKNOWN, 1);
  add (&found, FAB_UPGRADE_UNSURE, "unsure", 0.2, 100, 1);
  FabUpgrade *next = add (&found, FAB_UPGRADE_SURE, "next", 0.2, 3000, 1);
  add (&found, FAB_UPGRADE_SURE, "last", 0.2, 9000, 1);
  const FabUpgradeChoice choice = { .purchase = best };

  assert_ptr_equal (fab_upgrade_break_even (&found.all, &choice, &usd), next);
  assert_near (usd, 1500, 1e-12);
  next->purchase->money.usd = 1; /* $0.05 for each */
  assert_ptr_equal (fab_upgrade_break_even (&found.all, &choice, &usd), next);
  assert_near (usd, 0.5, 1e-12);
  found_clear (&found);
}

static void
what_saves_most_may_be_one_of_the_others (G_GNUC_UNUSED void **state)
{
  Found found;

  found_init (&found);
  const FabUpgrade *one = add (&found, FAB_UPGRADE_SURE, "one", 0.10, 0, 1),
                   *other = add (&found, FAB_UPGRADE_SURE, "other", 0.2, 10, 1),
                   *near_one = add (&found, FAB_UPGRADE_SURE, "near", 0.2049, 20, 1),
                   *near_free = add (&found, FAB_UPGRADE_SURE, "near", 0.1049, 20, 1);
  const struct {
    FabUpgradeChoice choice;
    gboolean is_apart;
  } cases[] = {
    { { NULL, NULL, NULL }, FALSE }, { { one, NULL, one }, FALSE },       { { one, other, other }, FALSE },
    { { NULL, NULL, other }, TRUE }, { { one, other, near_one }, FALSE }, { { one, NULL, near_free }, FALSE },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    FabUpgradeAnswer answer = { .all = &found.all, .choice = cases[i].choice };

    assert_int_equal (fab_upgrade_is_most_apart (&answer), cases[i].is_apart);
  }
  found_clear (&found);
}

static void
parts_of_a_purchase_in_words (G_GNUC_UNUSED void **state)
{
  const FabProductSpec card = { .name = "quick-card" };
  const FabPurchaseRow rows[] = {
    { .what = "node", .product = NULL, .n_bought = 2, .n_kept = 1, .usd_each = 0 },
    { .what = "nic", .product = &card, .n_bought = 16, .n_left = 3, .usd_each = 1, .n_kept = 4 },
    { .what = "gpu", .product = NULL, .n_bought = 8, .is_included = TRUE, .n_left = 1 },
    { .what = "cable", .product = NULL, .usd_each = 5 },
  };
  FabPurchase purchase = { .rows = g_array_new (FALSE, FALSE, sizeof (FabPurchaseRow)) };

  assert_null (fab_upgrade_parts (NULL, FAB_UPGRADE_BUYS));
  assert_null (fab_upgrade_parts (&purchase, FAB_UPGRADE_BUYS));
  g_array_append_vals (purchase.rows, rows, G_N_ELEMENTS (rows));
  g_autofree char *buys = fab_upgrade_parts (&purchase, FAB_UPGRADE_BUYS),
                  *keeps = fab_upgrade_parts (&purchase, FAB_UPGRADE_KEEPS),
                  *leaves = fab_upgrade_parts (&purchase, FAB_UPGRADE_LEAVES);
  assert_string_equal (buys, "2 x node (no price), 16 x quick-card, 8 x gpu (included)");
  assert_string_equal (keeps, "1 x node, 4 x quick-card");
  assert_string_equal (leaves, "3 x quick-card, 1 x gpu");
  g_array_unref (purchase.rows);
}

static const char *
label (const FabPoints *points, guint row, const char *name)
{
  for (guint i = 0; points->columns[i] != NULL; i++)
    if (strcmp (points->columns[i], name) == 0)
      return fab_points_row (points, row)->labels[i];
  fail_msg ("there is no column %s", name);
  return NULL;
}

static void
assert_label (const FabPoints *points, guint row, const char *name, const char *value)
{
  const char *found = label (points, row, name);

  if (value == NULL ? found != NULL : g_strcmp0 (found, value) != 0)
    fail_msg ("%s of row %u is %s, not %s", name, row, found, value);
}

/* Five states; a band, a price and a bottleneck where they are known. */
static void
changes_as_rows (G_GNUC_UNUSED void **state)
{
  static const char *const names[] = { "sure", "within band", "no gain", "too large", "impossible" };
  FabPurchaseRow row = { .what = "nic", .n_bought = 2, .n_kept = 3, .n_left = 4, .usd_each = 1 };
  Found found;

  found_init (&found);
  for (FabUpgradeState which = FAB_UPGRADE_SURE; which <= FAB_UPGRADE_IMPOSSIBLE; which++) {
    FabUpgrade *one = add (&found, which, "change", 0.25, which == FAB_UPGRADE_UNSURE ? UNKNOWN : 1000, 1);

    one->low_fraction = 0.125;
    one->high_fraction = 0.5;
    one->paired.change.n = 1;
    one->paired.coverage_fraction = which == FAB_UPGRADE_SURE ? 0.9 : 0;
    if (which == FAB_UPGRADE_IMPOSSIBLE) {
      one->trial.point = NULL;
      one->trial.problem = (char *) "it cannot be built";
    }
    found.purchases[which].money.low_usd = 750;
    found.purchases[which].money.high_usd = 1250;
    found.purchases[which].rows = g_array_new (FALSE, FALSE, sizeof (FabPurchaseRow));
    g_array_append_val (found.purchases[which].rows, row);
  }
  FabUpgradeAnswer answer = { .all = &found.all, .rows = found.all.all, .hold = "batch", .budget_usd = 1000 };
  g_autoptr (FabPoints) points = fab_upgrade_points (&answer);

  assert_int_equal (points->rows->len, 5);
  assert_int_equal (points->n_shown, 1);
  assert_int_equal (points->n_numbers, 7);
  assert_string_equal (points->hold, "batch");
  for (guint i = 0; i < 5; i++) {
    gboolean is_played = i < FAB_UPGRADE_TOO_LARGE, has_price = i != FAB_UPGRADE_UNSURE;

    assert_label (points, i, "change", "change");
    assert_label (points, i, "state", names[i]);
    assert_label (points, i, "is_recommended", i == 0 ? "yes" : "no");
    assert_label (points, i, "buys", "2 x nic");
    assert_label (points, i, "keeps", "3 x nic");
    assert_label (points, i, "leaves", "4 x nic");
    assert_label (points, i, "then_limited_by", is_played ? "-" : NULL);
    assert_label (points, i, "saved_fraction", is_played ? "0.25" : NULL);
    assert_label (points, i, "saved_low_fraction", i == 0 ? "0.125" : NULL);
    assert_label (points, i, "saved_high_fraction", i == 0 ? "0.5" : NULL);
    assert_label (points, i, "price_usd", has_price ? "1000" : NULL);
    assert_label (points, i, "price_low_usd", has_price ? "750" : NULL);
    assert_label (points, i, "price_high_usd", has_price ? "1250" : NULL);
    assert_label (points, i, "usd_per_percent", has_price ? "40" : NULL);
    assert_ptr_equal (fab_points_row (points, i)->point, found.changes[i].trial.point);
    assert_ptr_equal (fab_points_row (points, i)->problem, found.changes[i].trial.problem);
    g_array_unref (found.purchases[i].rows);
  }
  found_clear (&found);
}

/* What costs nothing has a price, which is none, and no dollars for each percent. */
static void
free_changes_as_rows (G_GNUC_UNUSED void **state)
{
  Found found;

  found_init (&found);
  add (&found, FAB_UPGRADE_SURE, "free", 0.25, 0, 1)->purchase->rows = g_array_new (FALSE, FALSE,
                                                                                    sizeof (FabPurchaseRow));
  FabUpgradeAnswer answer = { .all = &found.all, .rows = found.all.all };
  g_autoptr (FabPoints) points = fab_upgrade_points (&answer);
  assert_label (points, 0, "is_recommended", "yes");
  assert_label (points, 0, "price_usd", "0");
  assert_label (points, 0, "price_low_usd", "0");
  assert_label (points, 0, "price_high_usd", "0");
  assert_label (points, 0, "usd_per_percent", "0");
  assert_label (points, 0, "buys", NULL);
  g_array_unref (found.purchases[0].rows);
  found_clear (&found);
}

/* A purchase may cost a dollar, or less. */
static void
cheap_purchases_are_purchases (G_GNUC_UNUSED void **state)
{
  static const double prices[] = { 0.5, 1 };

  for (guint i = 0; i < G_N_ELEMENTS (prices); i++) {
    Found found;

    found_init (&found);
    const FabUpgrade *one = add (&found, FAB_UPGRADE_SURE, "cheap", 0.1, prices[i], 1);
    FabUpgradeChoice choice = fab_upgrade_choose (&found.all, 0);
    assert_null (choice.setting);
    assert_ptr_equal (choice.purchase, one);
    assert_ptr_equal (choice.most, one);
    found_clear (&found);
  }
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (prices_are_known_where_everything_has_one),
    cmocka_unit_test (what_may_be_recommended),
    cmocka_unit_test (what_saves_most_is_chosen),
    cmocka_unit_test (a_purchase_saves_more_than_what_is_free),
    cmocka_unit_test (why_there_is_no_purchase),
    cmocka_unit_test (what_comes_nearest),
    cmocka_unit_test (bands_of_the_nearest),
    cmocka_unit_test (the_price_at_which_the_next_one_is_better),
    cmocka_unit_test (what_saves_most_may_be_one_of_the_others),
    cmocka_unit_test (parts_of_a_purchase_in_words),
    cmocka_unit_test (changes_as_rows),
    cmocka_unit_test (free_changes_as_rows),
    cmocka_unit_test (cheap_purchases_are_purchases),
  };

  return cmocka_run_group_tests (tests, NULL, NULL);
}
