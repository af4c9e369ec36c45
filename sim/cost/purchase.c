/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/cost/purchase.h"

/* Scenarios have catalogues of their own, so that equal products may be different structs. */
static gboolean
is_same_part (const FabBillRow *a, const FabBillRow *b)
{
  if (a->kind != b->kind || (a->product == NULL) != (b->product == NULL))
    return FALSE;
  return g_strcmp0 (a->product ? a->product->name : a->what, b->product ? b->product->name : b->what) == 0;
}

/* The number of pieces of the same part in a bill. */
static guint64
count_of (const FabBill *bill, const FabBillRow *part)
{
  guint64 n = 0;

  for (guint i = 0; i < bill->rows->len; i++) {
    const FabBillRow *row = &g_array_index (bill->rows, FabBillRow, i);

    if (is_same_part (row, part))
      n += row->count;
  }
  return n;
}

static gboolean
has_part (const FabPurchase *self, const FabBillRow *part)
{
  for (guint i = 0; i < self->rows->len; i++) {
    const FabPurchaseRow *row = &g_array_index (self->rows, FabPurchaseRow, i);
    const FabBillRow known = { .kind = row->kind, .what = row->what, .product = row->product };

    if (is_same_part (&known, part))
      return TRUE;
  }
  return FALSE;
}

static guint64
nodes_of (const FabBill *bill)
{
  guint64 n = 0;

  for (guint i = 0; i < bill->rows->len; i++) {
    const FabBillRow *row = &g_array_index (bill->rows, FabBillRow, i);

    n += row->kind == FAB_PRODUCT_NODE ? row->count : 0;
  }
  return n;
}

/* Whether the part comes with a node that is bought, or with a node that is kept and has such parts in it. */
static gboolean
is_free (const FabBill *before, const FabBill *after, const FabBillRow *part)
{
  if (!part->is_included || part->kind == FAB_PRODUCT_ACCELERATOR)
    return part->is_included;
  for (guint i = 0; i < after->rows->len; i++) {
    const FabBillRow *row = &g_array_index (after->rows, FabBillRow, i);

    if (row->kind == FAB_PRODUCT_NODE && count_of (before, row) == 0)
      return TRUE;
  }
  return nodes_of (after) > nodes_of (before) || count_of (before, part) > 0;
}

static void
take_price (FabPurchaseRow *row, const FabBillRow *part)
{
  const FabProductSpec *product = part->product;

  if (row->is_included || product == NULL)
    return;
  FabMoney price = fab_product_price (product);
  row->usd_each = price.usd;
  row->low_usd_each = price.low_usd;
  row->high_usd_each = price.high_usd;
}

static void
add_part (FabPurchase *self, const FabBill *before, const FabBill *after, const FabBillRow *part)
{
  guint64 had = count_of (before, part), has = count_of (after, part);
  FabPurchaseRow row = { .kind = part->kind, .what = part->what, .product = part->product };
  double n;

  if (has_part (self, part))
    return;
  row.n_kept = MIN (had, has);
  row.n_bought = has - row.n_kept;
  row.n_left = had - row.n_kept;
  row.is_included = is_free (before, after, part);
  take_price (&row, part);
  n = (double) row.n_bought;
  self->money.usd += row.usd_each * n;
  self->money.low_usd += row.low_usd_each * n;
  self->money.high_usd += row.high_usd_each * n;
  self->n_bought += row.n_bought;
  self->is_priced &= row.n_bought == 0 || row.is_included || row.usd_each > 0;
  g_array_append_val (self->rows, row);
}

static int
compare_rows (gconstpointer a, gconstpointer b)
{
  return (int) ((const FabPurchaseRow *) a)->kind - (int) ((const FabPurchaseRow *) b)->kind;
}

FabPurchase *
fab_purchase_new (const FabBill *before, const FabBill *after)
{
  FabPurchase *self = g_new0 (FabPurchase, 1);

  self->rows = g_array_new (FALSE, FALSE, sizeof (FabPurchaseRow));
  self->is_priced = TRUE;
  for (guint i = 0; i < after->rows->len; i++)
    add_part (self, before, after, &g_array_index (after->rows, FabBillRow, i));
  for (guint i = 0; i < before->rows->len; i++)
    add_part (self, before, after, &g_array_index (before->rows, FabBillRow, i));
  g_array_sort (self->rows, compare_rows);
  return self;
}

void
fab_purchase_free (FabPurchase *self)
{
  if (self == NULL)
    return;
  g_array_unref (self->rows);
  g_free (self);
}
