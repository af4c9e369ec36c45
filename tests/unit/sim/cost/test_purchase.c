/* SPDX-License-Identifier: Apache-2.0 */
/* test_purchase.c - what is bought, kept and left over between two machines, counted by hand. */
#include "tests/support/test.h"

#include "sim/cost/purchase.h"

static const FabProductSpec
    gpu = { .name = "gpu", .kind = FAB_PRODUCT_ACCELERATOR, .price_usd = 100 },
    box = { .name = "box", .kind = FAB_PRODUCT_NODE, .price_usd = 1000, .low_usd = 800 },
    full = { .name = "full",
             .kind = FAB_PRODUCT_NODE,
             .price_usd = 3000,
             .has_accelerators = TRUE,
             .has_nics = TRUE },
    old_card = { .name = "old", .kind = FAB_PRODUCT_NIC, .price_usd = 10 },
    new_card = { .name = "new", .kind = FAB_PRODUCT_NIC, .price_usd = 20, .high_usd = 30 },
    tree = { .name = "tree", .kind = FAB_PRODUCT_SWITCH, .price_usd = 50 },
    strange = { .name = "strange", .kind = FAB_PRODUCT_SWITCH };

static void
add (FabBill *bill, const FabProductSpec *product, guint64 count, gboolean is_included)
{
  FabBillRow row = { .kind = product->kind,
                     .what = product->name,
                     .product = product,
                     .count = count,
                     .is_included = is_included };

  g_array_append_val (bill->rows, row);
}

static FabBill *
bill_new (void)
{
  FabBill *bill = g_new0 (FabBill, 1);

  bill->rows = g_array_new (FALSE, FALSE, sizeof (FabBillRow));
  return bill;
}

static const FabPurchaseRow *
row_of (const FabPurchase *purchase, const FabProductSpec *product)
{
  for (guint i = 0; i < purchase->rows->len; i++)
    if (g_array_index (purchase->rows, FabPurchaseRow, i).product == product)
      return &g_array_index (purchase->rows, FabPurchaseRow, i);
  return NULL;
}

/* By the kind of the part. */
static void
assert_in_order (const FabPurchase *purchase)
{
  for (guint i = 1; i < purchase->rows->len; i++)
    assert_true (g_array_index (purchase->rows, FabPurchaseRow, i - 1).kind
                 <= g_array_index (purchase->rows, FabPurchaseRow, i).kind);
}

/* 4 boxes with 8 cards and 2 switches get 8 other cards at $20 and a third switch at $50: $210, at most $290. */
static void
new_cards (G_GNUC_UNUSED void **state)
{
  g_autoptr (FabBill) before = bill_new (), after = bill_new ();

  add (before, &box, 4, FALSE);
  add (before, &old_card, 8, FALSE);
  add (before, &tree, 2, FALSE);
  add (after, &box, 4, FALSE);
  add (after, &new_card, 8, FALSE);
  add (after, &tree, 3, FALSE);
  g_autoptr (FabPurchase) purchase = fab_purchase_new (before, after);
  assert_near (purchase->money.usd, 8 * 20 + 50, 1e-12);
  assert_near (purchase->money.high_usd, 8 * 30 + 50, 1e-12);
  assert_true (purchase->is_priced);
  assert_int_equal (row_of (purchase, &old_card)->n_left, 8);
  assert_int_equal (row_of (purchase, &tree)->n_kept, 2);
  assert_int_equal (row_of (purchase, &tree)->n_bought, 1);
  assert_int_equal (row_of (purchase, &tree)->n_left, 0);
  assert_int_equal (row_of (purchase, &box)->n_left, 0);
  assert_int_equal (row_of (purchase, &box)->n_bought, 0);
  assert_int_equal (purchase->n_bought, 9);
  assert_int_equal (purchase->rows->len, 4);
  assert_in_order (purchase);
  fab_purchase_free (NULL);
}

/* Nodes whose price has the cards in it: more of the same cards are there already, other cards are not. */
static void
cards_in_the_price (G_GNUC_UNUSED void **state)
{
  g_autoptr (FabBill) before = bill_new (), more = bill_new (), other = bill_new (), twice = bill_new ();

  add (before, &full, 4, FALSE);
  add (before, &old_card, 4, TRUE);
  add (more, &full, 4, FALSE);
  add (more, &old_card, 16, TRUE);
  add (other, &full, 4, FALSE);
  add (other, &new_card, 4, TRUE);
  add (twice, &full, 8, FALSE);
  add (twice, &old_card, 8, TRUE);
  g_autoptr (FabPurchase) same = fab_purchase_new (before, more), another = fab_purchase_new (before, other),
                          larger = fab_purchase_new (before, twice);
  assert_near (same->money.usd, 0, 0);
  g_array_index (before->rows, FabBillRow, 1).count = 1; /* one card is enough to have a place for more */
  g_autoptr (FabPurchase) from_one = fab_purchase_new (before, more);
  assert_near (from_one->money.usd, 0, 0);
  assert_int_equal (row_of (from_one, &old_card)->n_bought, 15);
  assert_near (another->money.usd, 4 * 20, 1e-12);
  assert_near (larger->money.usd, 4 * 3000, 1e-12);
  assert_true (same->is_priced && another->is_priced && larger->is_priced);
}

/* Other nodes leave the old ones and their accelerators over; what has no price makes the whole one unknown, unless it
 * is kept. */
static void
other_nodes_and_no_price (G_GNUC_UNUSED void **state)
{
  g_autoptr (FabBill) before = bill_new (), after = bill_new (), strange_one = bill_new ();

  add (before, &full, 2, FALSE);
  add (before, &strange, 1, FALSE);
  add (after, &gpu, 16, FALSE);
  add (after, &box, 2, FALSE);
  add (after, &strange, 1, FALSE);
  add (strange_one, &full, 2, FALSE);
  add (strange_one, &strange, 2, FALSE);
  g_autoptr (FabPurchase) nodes = fab_purchase_new (before, after),
                          unknown = fab_purchase_new (before, strange_one);
  assert_near (nodes->money.usd, 16 * 100 + 2 * 1000, 1e-12);
  assert_near (nodes->money.low_usd, 16 * 100 + 2 * 800, 1e-12);
  assert_true (nodes->is_priced);
  assert_int_equal (row_of (nodes, &full)->n_left, 2);
  assert_false (unknown->is_priced);
  assert_in_order (nodes);
  assert_in_order (unknown);
}

/* What comes with nodes of another kind is bought with them, wherever the node stands in the list. */
static void
parts_come_with_other_nodes (G_GNUC_UNUSED void **state)
{
  for (guint is_last = 0; is_last < 2; is_last++) {
    g_autoptr (FabBill) before = bill_new (), after = bill_new ();

    add (before, &box, 2, FALSE);
    if (is_last == 0)
      add (after, &full, 2, FALSE);
    add (after, &new_card, 2, TRUE);
    add (after, &gpu, 16, TRUE);
    if (is_last == 1)
      add (after, &full, 2, FALSE);
    g_autoptr (FabPurchase) purchase = fab_purchase_new (before, after);
    assert_near (purchase->money.usd, 2 * 3000, 1e-12);
    assert_true (row_of (purchase, &new_card)->is_included);
    assert_int_equal (row_of (purchase, &box)->n_left, 2);
    assert_int_equal (purchase->n_bought, 2 + 2 + 16);
  }
}

/* More nodes of the same kind bring cards of another kind with them. */
static void
parts_come_with_more_nodes (G_GNUC_UNUSED void **state)
{
  g_autoptr (FabBill) before = bill_new (), after = bill_new ();

  add (before, &full, 4, FALSE);
  add (before, &old_card, 4, TRUE);
  add (after, &full, 8, FALSE);
  add (after, &new_card, 8, TRUE);
  g_autoptr (FabPurchase) more = fab_purchase_new (before, after), fewer = fab_purchase_new (after, before);
  assert_near (more->money.usd, 4 * 3000, 1e-12);
  assert_near (fewer->money.usd, 4 * 10, 1e-12); /* the nodes are there, and other cards are not */
}

/* Ends of a price may be below a dollar; what has no price has no ends either. */
static void
prices_below_a_dollar_have_ends (G_GNUC_UNUSED void **state)
{
  static const FabProductSpec cheap = { .name = "cheap",
                                        .kind = FAB_PRODUCT_CABLE,
                                        .price_usd = 0.7,
                                        .low_usd = 0.5,
                                        .high_usd = 0.9 },
                              vague = {
                                .name = "vague", .kind = FAB_PRODUCT_CABLE, .low_usd = 5, .high_usd = 9
                              };
  g_autoptr (FabBill) before = bill_new (), priced = bill_new (), unpriced = bill_new ();

  add (priced, &cheap, 10, FALSE);
  add (unpriced, &vague, 10, FALSE);
  g_autoptr (FabPurchase) known = fab_purchase_new (before, priced),
                          unknown = fab_purchase_new (before, unpriced);
  assert_near (known->money.low_usd, 5, 1e-12);
  assert_near (known->money.usd, 7, 1e-12);
  assert_near (known->money.high_usd, 9, 1e-12);
  assert_true (known->is_priced && !unknown->is_priced);
  assert_near (unknown->money.low_usd, 0, 0);
  assert_near (unknown->money.high_usd, 0, 0);
}

/* What the catalogue has no product for is the same part where the kind and the entry are, and never a product. */
static void
parts_without_a_product_are_told_apart (G_GNUC_UNUSED void **state)
{
  static const FabBillRow rows[] = {
    { .kind = FAB_PRODUCT_NIC, .what = "old", .count = 3 },
    { .kind = FAB_PRODUCT_SWITCH, .what = "old", .count = 5 },
    { .kind = FAB_PRODUCT_NIC, .what = "old", .product = &old_card, .count = 7 },
    { .kind = FAB_PRODUCT_NIC, .what = "other", .count = 9 }
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    for (guint k = 0; k < G_N_ELEMENTS (rows); k++) {
      g_autoptr (FabBill) before = bill_new (), after = bill_new ();

      g_array_append_val (before->rows, rows[i]);
      g_array_append_val (after->rows, rows[k]);
      g_autoptr (FabPurchase) purchase = fab_purchase_new (before, after);
      assert_int_equal (purchase->rows->len, i == k ? 1 : 2);
      assert_int_equal (purchase->n_bought, i == k ? 0 : rows[k].count);
    }
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (new_cards),
    cmocka_unit_test (cards_in_the_price),
    cmocka_unit_test (other_nodes_and_no_price),
    cmocka_unit_test (parts_come_with_other_nodes),
    cmocka_unit_test (parts_come_with_more_nodes),
    cmocka_unit_test (prices_below_a_dollar_have_ends),
    cmocka_unit_test (parts_without_a_product_are_told_apart),
  };

  return cmocka_run_group_tests_name ("purchase", tests, NULL, NULL);
}
