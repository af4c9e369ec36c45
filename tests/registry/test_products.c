/* SPDX-License-Identifier: Apache-2.0 */
/* test_products.c - every product of the catalogue: a price within its spread, a source with a date, and watts; and
 * what products need of each other is there.
 */
#include "tests/support/test.h"

#include <string.h>

#include "models/models.h"
#include "sim/cost/bill.h"
#include "tests/support/play.h"

static FabCatalog *catalog;

typedef void (*CheckFn) (const FabProductSpec *product);

static void
of_every_product (CheckFn check)
{
  g_autofree const char **names = fab_catalog_names (catalog, FAB_SECTION_PRODUCTS);

  assert_non_null (names[0]);
  for (guint i = 0; names[i] != NULL; i++)
    check (fab_catalog_product (catalog, names[i]));
}

static gboolean
is_date (const char *text)
{
  g_autoptr (GDate) date = g_date_new ();

  g_date_set_parse (date, text);
  return strlen (text) == strlen ("2026-11-22") && g_date_valid (date);
}

static void
check_price (const FabProductSpec *product)
{
  assert_non_null (product->summary);
  assert_non_null (product->source);
  assert_true (is_date (product->date));
  if (product->price_usd > 0) {
    assert_true (product->low_usd > 0 && product->low_usd <= product->price_usd);
    assert_true (product->high_usd >= product->price_usd);
  } else if (strstr (product->source, "no price was found") == NULL) {
    fail_msg ("%s has neither a price nor says that none was found", product->name);
  }
}

static void
every_price_has_a_spread_a_source_and_a_date (G_GNUC_UNUSED void **state)
{
  of_every_product (check_price);
}

static void
check_watts (const FabProductSpec *product)
{
  if (product->kind == FAB_PRODUCT_ACCELERATOR) {
    assert_true (fab_catalog_accelerator (catalog, product->accelerator)->power_watts > 0);
    assert_true (product->power_watts <= 0); /* its entry's count */
  } else if (product->kind != FAB_PRODUCT_CABLE && product->kind != FAB_PRODUCT_RENT
             && product->price_usd > 0) {
    assert_true (product->power_watts > 0);
  }
}

static void
everything_with_a_price_has_watts (G_GNUC_UNUSED void **state)
{
  of_every_product (check_watts);
}

/* Nodes need a price of their accelerators, or have them in theirs; cables need their optics. */
static void
check_complete (const FabProductSpec *product)
{
  if (product->kind == FAB_PRODUCT_NODE && !product->has_accelerators) {
    const FabNodeSpec *node = fab_catalog_node (catalog, product->node);

    assert_non_null (
        fab_product_find (catalog, &(FabNeed){ .kind = FAB_PRODUCT_ACCELERATOR, .name = node->accelerator }));
  }
  if (product->kind == FAB_PRODUCT_CABLE) {
    assert_true (product->reach_mm > 0);
    assert_true (fab_product_cable_usd (catalog, product) > 0);
  }
}

static void
what_products_need_is_there (G_GNUC_UNUSED void **state)
{
  of_every_product (check_complete);
}

/* A link that one can buy a switch for, and at a price, has everything: NIC, switch, copper or fibre. */
static void
check_family (const FabProductSpec *product)
{
  static const FabProductKind kinds[] = { FAB_PRODUCT_NIC, FAB_PRODUCT_SWITCH, FAB_PRODUCT_CABLE };

  if (product->kind != FAB_PRODUCT_NIC || product->price_usd <= 0)
    return;
  const FabLinkSpec *link = fab_catalog_link (catalog, product->link);
  for (guint i = 0; i < G_N_ELEMENTS (kinds); i++) {
    FabNeed need = {
      kinds[i], link->name, link->technology, fab_link_spec_line_rate (link), 30000, (guint) product->n_ports
    };
    const FabProductSpec *found = fab_product_find (catalog, &need);

    if (found == NULL || found->price_usd <= 0)
      fail_msg ("a NIC of %s has a price, and no %s has", link->name, fab_product_kind_names[kinds[i]]);
  }
}

static void
networks_are_complete (G_GNUC_UNUSED void **state)
{
  of_every_product (check_family);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (every_price_has_a_spread_a_source_and_a_date),
    cmocka_unit_test (everything_with_a_price_has_watts),
    cmocka_unit_test (what_products_need_is_there),
    cmocka_unit_test (networks_are_complete),
  };
  int n_failed;

  catalog = play_catalog ();
  n_failed = cmocka_run_group_tests_name ("products", tests, NULL, NULL);
  fab_catalog_free (catalog);
  return n_failed;
}
