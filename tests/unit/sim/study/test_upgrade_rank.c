/* SPDX-License-Identifier: Apache-2.0 */
/* test_upgrade_rank.c - which changes are combined, and which come first, of changes made by hand with what they save
 * and what they cost. */
#include "tests/support/test.h"

#include "sim/study/upgrade.h"

#define FREE 0.0
#define UNKNOWN (-1.0)
#define NOTHING (-2.0) /* there is no purchase at all */

static FabPurchase *
purchase_of (double usd)
{
  FabPurchase *self = usd > NOTHING ? g_new0 (FabPurchase, 1) : NULL;

  if (self == NULL)
    return NULL;
  self->rows = g_array_new (FALSE, FALSE, sizeof (FabPurchaseRow));
  self->is_priced = usd >= 0;
  self->money.usd = MAX (usd, 0);
  return self;
}

static FabUpgrade *
made (FabUpgradeKind kind, const char *edit, double saved, double usd)
{
  FabUpgrade *self = fab_upgrade_new (kind, g_strdup (edit), fab_edits_of ((const char *[]){ edit, NULL }));

  self->saved_fraction = saved;
  self->state = saved >= FAB_UPGRADE_LEAST ? FAB_UPGRADE_UNSURE : FAB_UPGRADE_NO_GAIN;
  self->purchase = purchase_of (usd);
  return self;
}

static GPtrArray *
list_new (void)
{
  return g_ptr_array_new_with_free_func (fab_upgrade_free);
}

/* "a, b" (transfer full) */
static char *
names_of (const GPtrArray *list)
{
  GString *text = g_string_new (NULL);

  for (guint i = 0; i < list->len; i++)
    g_string_append_printf (text, "%s%s", i > 0 ? ", " : "",
                            ((const FabUpgrade *) g_ptr_array_index (list, i))->change.name);
  return g_string_free (text, FALSE);
}

static void
assert_names (const GPtrArray *list, const char *expected)
{
  g_autofree char *names = names_of (list);

  assert_string_equal (names, expected);
}

/* --- parts --- */

typedef struct {
  FabUpgradeKind kind;
  const char *edit;
  double saved, usd;
} Made;

static GPtrArray *
candidates_of (const Made *rows)
{
  GPtrArray *list = list_new ();

  for (; rows->edit != NULL; rows++)
    g_ptr_array_add (list, made (rows->kind, rows->edit, rows->saved, rows->usd));
  return list;
}

/* One of each kind, two settings of different keys, and two numbers of nodes. Of a kind what saves half a percent more
 * is taken, else what costs less, and the first of those that cost the same; nothing is taken that takes longer, and no
 * setting that saves less than half a percent. */
static void
parts_are_the_best_of_each_kind (G_GNUC_UNUSED void **state)
{
  static const struct {
    Made made[6];
    const char *parts;
  } rows[] = {
    { { { FAB_UPGRADE_NIC, "n=1", 0.1, 5 }, { FAB_UPGRADE_NIC, "n=2", 0.2, 50 } }, "n=2" },
    { { { FAB_UPGRADE_NIC, "n=1", 0.1, 5 }, { FAB_UPGRADE_NIC, "n=2", 0.1051, 50 } }, "n=2" },
    { { { FAB_UPGRADE_NIC, "n=1", 0.1, 5 }, { FAB_UPGRADE_NIC, "n=2", 0.1049, 50 } }, "n=1" },
    { { { FAB_UPGRADE_NIC, "n=1", 0.1, UNKNOWN }, { FAB_UPGRADE_NIC, "n=2", 0.1049, 50 } }, "n=2" },
    { { { FAB_UPGRADE_NIC, "n=1", 0.1, 5 }, { FAB_UPGRADE_NIC, "n=2", 0.1049, NOTHING } }, "n=1" },
    { { { FAB_UPGRADE_NIC, "n=1", 0.1, 5 }, { FAB_UPGRADE_NIC, "n=2", 0.1, 5 } }, "n=1" },
    { { { FAB_UPGRADE_NIC, "n=1", 0, 5 }, { FAB_UPGRADE_FABRIC, "f=1", -0.001, 5 } }, "n=1" },
    { { { FAB_UPGRADE_SETTING, "s=1", 0.005, 0 }, { FAB_UPGRADE_SETTING, "t=1", 0.0049, 0 } }, "s=1" },
    { { { FAB_UPGRADE_SETTING, "s=1", 0.1, 0 },
        { FAB_UPGRADE_SETTING, "t=1", 0.2, 0 },
        { FAB_UPGRADE_SETTING, "u=1", 0.3, 0 } },
      "u=1, t=1" },
    { { { FAB_UPGRADE_SETTING, "s=1", 0.1, 0 },
        { FAB_UPGRADE_SETTING, "t=1", 0.2, 0 },
        { FAB_UPGRADE_SETTING, "t=2", 0.3, 0 } },
      "t=2, s=1" },
    { { { FAB_UPGRADE_SETTING, "long=1", 0.1, 0 }, { FAB_UPGRADE_SETTING, "longer=1", 0.2, 0 } },
      "longer=1, long=1" },
    { { { FAB_UPGRADE_NODES, "cluster.nodes=9", 0.1, 9 },
        { FAB_UPGRADE_NODES, "cluster.nodes=12", 0.2, 12 },
        { FAB_UPGRADE_NODES, "cluster.nodes=15", 0.15, 15 } },
      "cluster.nodes=12, cluster.nodes=15" },
    { { { FAB_UPGRADE_SETTING, "s=1", 0.1, 0 },
        { FAB_UPGRADE_NIC, "n=1", 0.1, 0 },
        { FAB_UPGRADE_NODES, "o=1", 0.1, 0 },
        { FAB_UPGRADE_NICS, "m=1", 0.1, 0 },
        { FAB_UPGRADE_DOMAIN, "d=1", 0.1, 0 } },
      "o=1, d=1, m=1, n=1, s=1" },
    { { { FAB_UPGRADE_FABRIC, "f=1", 0.1, 0 }, { FAB_UPGRADE_NODE, "o=1", 0.1, 0 } }, "o=1, f=1" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autoptr (GPtrArray) candidates = candidates_of (rows[i].made);
    g_autoptr (GPtrArray) parts = fab_upgrade_rank_parts (candidates);
    g_autofree char *names = names_of (parts);

    if (strcmp (names, rows[i].parts) != 0)
      fail_msg ("row %u: %s", i, names);
  }
}

/* Of every setting the best value gains; what is no setting has no such rule. */
static void
lesser_values_of_a_setting_do_not_gain (G_GNUC_UNUSED void **state)
{
  static const Made rows[] = {
    { FAB_UPGRADE_SETTING, "s=1", 0.1, 0 }, { FAB_UPGRADE_SETTING, "s=2", 0.3, 0 },
    { FAB_UPGRADE_SETTING, "s=3", 0.2, 0 }, { FAB_UPGRADE_SETTING, "t=1", 0.05, 0 },
    { FAB_UPGRADE_NIC, "n=1", 0.02, 0 },    { FAB_UPGRADE_NIC, "n=2", 0.01, 0 },
    { FAB_UPGRADE_NODES, "t=2", 0.3, 0 },   { 0 }
  };
  static const char gains[] = "s=2, t=2, t=1, n=1, n=2";
  g_autoptr (GPtrArray) candidates = candidates_of (rows), gaining = g_ptr_array_new ();
  g_autoptr (GPtrArray) parts = fab_upgrade_rank_parts (candidates);

  assert_names (candidates,
                "s=2, t=2, s=3, s=1, t=1, n=1, n=2"); /* by what they save; equal ones stay in order */
  for (guint i = 0; i < candidates->len; i++)
    if (((FabUpgrade *) g_ptr_array_index (candidates, i))->state == FAB_UPGRADE_UNSURE)
      g_ptr_array_add (gaining, g_ptr_array_index (candidates, i));
  assert_names (gaining, gains);
}

/* --- combinations --- */

static void
free_joined (GArray *joined)
{
  for (guint i = 0; i < joined->len; i++)
    fab_upgrade_free (g_array_index (joined, FabUpgradeJoined, i).joined);
  g_array_unref (joined);
}

static void
assert_joined (const GArray *joined, const char *expected)
{
  g_autoptr (GPtrArray) list = g_ptr_array_new ();

  for (guint i = 0; i < joined->len; i++)
    g_ptr_array_add (list, g_array_index (joined, FabUpgradeJoined, i).joined);
  assert_names (list, expected);
}

/* A pair has the edits of both and is one of two parts; keys that both set, and two numbers of nodes, make none. */
static void
pairs_have_what_both_set (G_GNUC_UNUSED void **state)
{
  static const Made rows[] = { { FAB_UPGRADE_NODES, "cluster.nodes=9", 0.2, 0 },
                               { FAB_UPGRADE_NODES, "other=1", 0.2, 0 },
                               { FAB_UPGRADE_NIC, "cluster.nic=x", 0.2, 0 },
                               { FAB_UPGRADE_SETTING, "s=1", 0.2, 0 },
                               { FAB_UPGRADE_SETTING, "t=1", 0.2, 0 },
                               { FAB_UPGRADE_SETTING, "cluster.nic=y", 0.2, 0 },
                               { 0 } };
  g_autoptr (GPtrArray) parts = candidates_of (rows);
  GArray *pairs = fab_upgrade_rank_pairs (parts);

  assert_joined (pairs,
                 "cluster.nodes=9 + cluster.nic=x, cluster.nodes=9 + s=1, cluster.nodes=9 + t=1, "
                 "cluster.nodes=9 + cluster.nic=y, other=1 + cluster.nic=x, other=1 + s=1, other=1 + t=1, "
                 "other=1 + cluster.nic=y, cluster.nic=x + s=1, cluster.nic=x + t=1, s=1 + t=1, "
                 "s=1 + cluster.nic=y, t=1 + cluster.nic=y");
  const FabUpgradeJoined *first = &g_array_index (pairs, FabUpgradeJoined, 0);
  g_autofree char *edits = g_strjoinv (" ", (char **) fab_edits_texts (first->joined->change.edits));
  assert_string_equal (edits, "cluster.nodes=9 cluster.nic=x");
  assert_ptr_equal (first->a, g_ptr_array_index (parts, 0));
  assert_ptr_equal (first->b, g_ptr_array_index (parts, 2));
  assert_int_equal (first->joined->kind, FAB_UPGRADE_NODES);
  assert_int_equal (first->joined->kinds, 1U << FAB_UPGRADE_NODES | 1U << FAB_UPGRADE_NIC);
  assert_int_equal (first->joined->n_parts, 2);
  free_joined (pairs);
}

/* Pairs of a, b, c and two numbers of nodes n and o, in the order in which they are made: the best of all with the
 * others, and the best with n and the best with o. No combination is there twice, and nothing follows from pairs that
 * do not gain. */
static void
triples_are_made_of_the_best_pairs (G_GNUC_UNUSED void **state)
{
  static const Made made_of[] = {
    { FAB_UPGRADE_NODES, "n=1", 0.2, 0 },   { FAB_UPGRADE_NODES, "o=1", 0.2, 0 },
    { FAB_UPGRADE_FABRIC, "a=1", 0.2, 0 },  { FAB_UPGRADE_NIC, "b=1", 0.2, 0 },
    { FAB_UPGRADE_SETTING, "c=1", 0.2, 0 }, { 0 }
  };
  enum { N_PAIRS = 9 }; /* na nb nc, oa ob oc, ab ac bc */
  static const struct {
    double saved[N_PAIRS], usd[N_PAIRS];
    const char *lost; /* 'x' of those that do not gain */
    const char *triples;
  } rows[] = {
    { { 0.3, 0.3, 0.3, 0.3, 0.3, 0.3, 0.3, 0.3, 0.3 }, { 0 }, "xxxxxxxxx", "" },
    { { 0.3, 0.31, 0.32, 0.1, 0.1, 0.2, 0.4, 0.1, 0.1 },
      { 0 },
      "         ",
      "a=1 + b=1 + n=1, a=1 + b=1 + o=1, a=1 + b=1 + c=1, n=1 + c=1 + a=1, n=1 + c=1 + b=1, o=1 + c=1 + a=1, "
      "o=1 + c=1 + b=1" },
    { { 0.5, 0.31, 0.32, 0.1, 0.3, 0.2, 0.4, 0.1, 0.1 },
      { 0 },
      "         ",
      "n=1 + a=1 + b=1, n=1 + a=1 + c=1, o=1 + b=1 + a=1, o=1 + b=1 + c=1" },
    { { 0.5, 0.501, 0.502, 0.1, 0.1, 0.1, 0.4, 0.1, 0.1 },
      { 0, 10, 20, 9, 7, 8, 0, 0, 0 },
      "         ",
      "n=1 + a=1 + b=1, n=1 + a=1 + c=1, o=1 + b=1 + a=1, o=1 + b=1 + c=1" },
    { { 0.5, 0.3, 0.3, 0.6, 0.1, 0.1, 0.2, 0.1, 0.1 },
      { 0 },
      "x xxx    ",
      "n=1 + b=1 + a=1, n=1 + b=1 + c=1, o=1 + c=1 + a=1, o=1 + c=1 + b=1" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autoptr (GPtrArray) parts = candidates_of (made_of);
    GArray *pairs = fab_upgrade_rank_pairs (parts);

    assert_int_equal (pairs->len, N_PAIRS);
    for (guint k = 0; k < pairs->len; k++) {
      FabUpgrade *pair = g_array_index (pairs, FabUpgradeJoined, k).joined;

      pair->saved_fraction = rows[i].saved[k];
      pair->state = rows[i].lost[k] == 'x' ? FAB_UPGRADE_NO_GAIN : FAB_UPGRADE_UNSURE;
      pair->purchase = purchase_of (rows[i].usd[k]);
    }
    GArray *triples = fab_upgrade_rank_triples (parts, pairs);
    assert_joined (triples, rows[i].triples);
    for (guint k = 0; k < triples->len; k++)
      assert_int_equal (g_array_index (triples, FabUpgradeJoined, k).joined->n_parts, 3);
    free_joined (triples);
    free_joined (pairs);
  }
}

/* Half a percent more than the larger part is a gain; a part that takes longer is none to be compared with. */
static void
a_combination_saves_more_than_its_parts (G_GNUC_UNUSED void **state)
{
  static const struct {
    double a, b, joined;
    FabUpgradeState before, after;
  } rows[] = {
    { 0.125, 0.25, 0.256, FAB_UPGRADE_UNSURE, FAB_UPGRADE_UNSURE },
    { 0.125, 0.25, 0.254, FAB_UPGRADE_UNSURE, FAB_UPGRADE_NO_GAIN },
    { 0.25, 0.125, 0.254, FAB_UPGRADE_UNSURE, FAB_UPGRADE_NO_GAIN },
    { 0.25, 0.125, 0.256, FAB_UPGRADE_UNSURE, FAB_UPGRADE_UNSURE },
    { -0.5, -0.25, 0.005, FAB_UPGRADE_UNSURE, FAB_UPGRADE_UNSURE },
    { -0.5, -0.25, 0.004, FAB_UPGRADE_UNSURE, FAB_UPGRADE_NO_GAIN },
    { 0.125, 0.25, 0.1, FAB_UPGRADE_TOO_LARGE, FAB_UPGRADE_TOO_LARGE },
    { 0.125, 0.25, 0.1, FAB_UPGRADE_IMPOSSIBLE, FAB_UPGRADE_IMPOSSIBLE },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    FabUpgrade a = { .saved_fraction = rows[i].a }, b = { .saved_fraction = rows[i].b },
               joined = { .saved_fraction = rows[i].joined, .state = rows[i].before };

    fab_upgrade_rank_check (&(FabUpgradeJoined){ &joined, &a, &b });
    assert_int_equal (joined.state, rows[i].after);
  }
}

/* --- the ranking --- */

static FabUpgrade *
add (GPtrArray *list, const char *name, double saved, double usd, guint n_parts)
{
  FabUpgrade *self = made (FAB_UPGRADE_NIC, name, saved, usd);

  self->n_parts = n_parts;
  g_ptr_array_add (list, self);
  return self;
}

/* Single changes are all ranked. A combination that saves no more than another one which costs less is not: one that
 * costs as much is, and what has no price surpasses nothing. */
static void
a_combination_that_is_surpassed_is_not_ranked (G_GNUC_UNUSED void **state)
{
  g_autoptr (GPtrArray) gains = list_new (), ranking = g_ptr_array_new ();
  FabUpgrade *dear, *lesser;

  add (gains, "single", 0.01, 1000, 1);
  add (gains, "best", 0.3, 50, 2);
  dear = add (gains, "dear", 0.3, 51, 2);
  add (gains, "as dear", 0.2, 50, 2);
  add (gains, "cheap", 0.1, 49, 3);
  lesser = add (gains, "without", 0.29, UNKNOWN, 2);
  add (gains, "more without", 0.31, NOTHING, 2);
  add (gains, "cheap single", 0.9, 1, 1);
  fab_upgrade_rank (gains, ranking);
  assert_names (ranking, "single, cheap single, more without, best, as dear, cheap");
  for (guint i = 0; i < gains->len; i++) {
    const FabUpgrade *one = g_ptr_array_index (gains, i);

    assert_int_equal (one->state, one == dear || one == lesser ? FAB_UPGRADE_NO_GAIN : FAB_UPGRADE_UNSURE);
  }
}

/* Of twenty combinations, each of which saves a percent more than the one before: with three times the price from one
 * to the next those that save least are the cheapest by percent, so that the eight that save most and the eight of
 * which a percent costs least are ranked, and four are not. With a price of a percent that falls both are the same
 * eight, and the others are surpassed by none. */
static void
the_first_eight_of_both_orders_are_ranked (G_GNUC_UNUSED void **state)
{
  static const struct {
    double factor;
    guint n;
  } rows[] = { { 3, 16 }, { 1.001, 8 } };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autoptr (GPtrArray) gains = list_new (), ranking = g_ptr_array_new ();
    double usd = 100;

    for (guint k = 0; k < 20; k++, usd *= rows[i].factor) {
      g_autofree char *name = g_strdup_printf ("c%u=1", k);

      add (gains, name, 0.01 * (k + 1), usd, 2);
    }
    fab_upgrade_rank (gains, ranking);
    assert_int_equal (ranking->len, rows[i].n);
    for (guint k = 0; k < 8; k++) {
      assert_ptr_equal (g_ptr_array_index (ranking, k), g_ptr_array_index (gains, 19 - k));
      if (rows[i].n == 16)
        assert_ptr_equal (g_ptr_array_index (ranking, 8 + k), g_ptr_array_index (gains, k));
    }
  }
}

/* Sure ones by dollars per percent, those that cost nothing first and those without a price last, of equals what saves
 * more; then the others by what they save. */
static void
sure_changes_come_first (G_GNUC_UNUSED void **state)
{
  g_autoptr (GPtrArray) list = list_new ();

  add (list, "unsure", 0.2, FREE, 1);
  add (list, "more unsure", 0.3, 1000, 1);
  add (list, "without", 0.3, UNKNOWN, 1)->state = FAB_UPGRADE_SURE;
  add (list, "more without", 0.4, NOTHING, 1)->state = FAB_UPGRADE_SURE;
  add (list, "10 $", 0.5, 500, 1)->state = FAB_UPGRADE_SURE;
  add (list, "5 $", 0.1, 50, 1)->state = FAB_UPGRADE_SURE;
  add (list, "free", 0.1, FREE, 1)->state = FAB_UPGRADE_SURE;
  add (list, "more free", 0.2, FREE, 1)->state = FAB_UPGRADE_SURE;
  add (list, "10 $ of less", 0.25, 250, 1)->state = FAB_UPGRADE_SURE;
  fab_upgrade_rank_sort (list);
  assert_names (list, "more free, free, 5 $, 10 $, 10 $ of less, more without, without, more unsure, unsure");
}

static void
the_price_of_a_percent (G_GNUC_UNUSED void **state)
{
  static const struct {
    double saved, usd, per_percent;
  } rows[] = { { 0.25, 50, 2 },       { 0.25, FREE, 0 }, { 0.25, UNKNOWN, -1 },
               { 0.25, NOTHING, -1 }, { 0, 50, -1 },     { -0.1, 50, -1 } };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    FabUpgrade *one = made (FAB_UPGRADE_NIC, "n=1", rows[i].saved, rows[i].usd);

    assert_near (fab_upgrade_usd_per_percent (one), rows[i].per_percent, 1e-12);
    fab_upgrade_free (one);
  }
}

/* A step of 0.7 to 0.9 of the time saves 30 to 10 percent; where it does twice the work, 1 - 0.7 / 2 and 1 - 0.9 / 2. A
 * change is sure where the whole band saves, and where no seed takes longer for the same work. */
static void
the_band_of_a_saving_is_that_of_the_step (G_GNUC_UNUSED void **state)
{
  static const struct {
    double low, high, ratio;
    guint n_more;
    double low_saved, high_saved;
    FabUpgradeState state;
  } rows[] = {
    { -0.3, -0.1, 1, 0, 0.1, 0.3, FAB_UPGRADE_SURE },
    { -0.3, -0.1, 1, 1, 0.1, 0.3, FAB_UPGRADE_UNSURE },
    { -0.3, -0.1, 0.5, 0, 0.55, 0.65, FAB_UPGRADE_SURE },
    { -0.3, -0.1, 0.5, 1, 0.55, 0.65, FAB_UPGRADE_SURE },
    { -0.3, 0.1, 1, 0, -0.1, 0.3, FAB_UPGRADE_UNSURE },
    { -0.3, -0.0015, 1, 0, 0.0015, 0.3, FAB_UPGRADE_SURE },
    { -0.3, -0.0005, 1, 0, 0.0005, 0.3, FAB_UPGRADE_UNSURE },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    FabUpgrade one = { .state = FAB_UPGRADE_UNSURE,
                       .paired = { .low_fraction = rows[i].low,
                                   .high_fraction = rows[i].high,
                                   .change = { .n = 3, .n_more = rows[i].n_more } } };

    fab_upgrade_take_band (&one, rows[i].ratio);
    assert_near (one.low_fraction, rows[i].low_saved, 1e-9);
    assert_near (one.high_fraction, rows[i].high_saved, 1e-9);
    assert_int_equal (one.state, rows[i].state);
  }
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (parts_are_the_best_of_each_kind),
    cmocka_unit_test (lesser_values_of_a_setting_do_not_gain),
    cmocka_unit_test (pairs_have_what_both_set),
    cmocka_unit_test (triples_are_made_of_the_best_pairs),
    cmocka_unit_test (a_combination_saves_more_than_its_parts),
    cmocka_unit_test (a_combination_that_is_surpassed_is_not_ranked),
    cmocka_unit_test (the_first_eight_of_both_orders_are_ranked),
    cmocka_unit_test (sure_changes_come_first),
    cmocka_unit_test (the_price_of_a_percent),
    cmocka_unit_test (the_band_of_a_saving_is_that_of_the_step),
  };

  return cmocka_run_group_tests_name ("upgrade_rank", tests, NULL, NULL);
}
