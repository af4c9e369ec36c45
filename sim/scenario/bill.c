/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/scenario/assemble.h"
#include "sim/scenario/bill_private.h"

void
fab_bill_free (FabBill *self)
{
  if (self == NULL)
    return;
  g_array_unref (self->rows);
  g_free (self);
}

gboolean
fab_bill_row_is_network (const FabBillRow *row)
{
  return row->kind != FAB_PRODUCT_ACCELERATOR && row->kind != FAB_PRODUCT_NODE;
}

/* --- rows --- */

static gboolean
is_included (const FabBillCount *self, FabProductKind kind)
{
  return self->node != NULL
      && ((kind == FAB_PRODUCT_ACCELERATOR && self->node->has_accelerators)
          || (kind == FAB_PRODUCT_NIC && self->node->has_nics));
}

/* The watts of an accelerator come from its catalogue entry. */
static double
watts_of (const FabBillCount *self, const FabBillRow *row)
{
  if (row->kind == FAB_PRODUCT_ACCELERATOR)
    return (double) fab_catalog_accelerator (self->catalog, row->what)->power_watts;
  return row->product != NULL ? row->product->power_watts : 0;
}

static void
take_price (FabBillRow *row)
{
  const FabProductSpec *product = row->product;

  if (product == NULL || row->is_included || product->price_usd <= 0)
    return;
  row->usd_each = product->price_usd;
  row->low_usd_each = product->low_usd > 0 ? product->low_usd : product->price_usd;
  row->high_usd_each = product->high_usd > 0 ? product->high_usd : product->price_usd;
}

void
fab_bill_add (FabBillCount *self, const FabNeed *need, const FabProductSpec *product, guint64 count)
{
  GArray *rows = self->bill->rows;
  FabBillRow row = { .kind = need->kind, .what = need->name, .product = product, .count = count };

  for (guint i = 0; i < rows->len; i++) {
    FabBillRow *other = &g_array_index (rows, FabBillRow, i);

    if (other->kind == row.kind && other->product == product && g_strcmp0 (other->what, row.what) == 0) {
      other->count += count;
      return;
    }
  }
  if (count == 0)
    return;
  row.is_included = is_included (self, row.kind);
  take_price (&row);
  row.watts_each = watts_of (self, &row);
  g_array_append_val (rows, row);
}

void
fab_bill_add_found (FabBillCount *self, const FabNeed *need, guint64 count)
{
  fab_bill_add (self, need, fab_product_find (self->catalog, need), count);
}

/* --- the sum --- */

static int
compare_rows (gconstpointer a, gconstpointer b)
{
  return (int) ((const FabBillRow *) a)->kind - (int) ((const FabBillRow *) b)->kind;
}

static void
add_money (FabMoney *sum, const FabBillRow *row)
{
  sum->usd += row->usd_each * (double) row->count;
  sum->low_usd += row->low_usd_each * (double) row->count;
  sum->high_usd += row->high_usd_each * (double) row->count;
}

static void
sum_up (FabBill *self)
{
  self->is_priced = self->is_powered = TRUE;
  g_array_sort (self->rows, compare_rows);
  for (guint i = 0; i < self->rows->len; i++) {
    const FabBillRow *row = &g_array_index (self->rows, FabBillRow, i);
    double watts = row->watts_each * (double) row->count;

    add_money (&self->total, row);
    if (fab_bill_row_is_network (row))
      add_money (&self->network, row);
    *(row->kind == FAB_PRODUCT_ACCELERATOR ? &self->accelerator_watts
      : row->kind == FAB_PRODUCT_NODE      ? &self->node_watts
                                           : &self->network_watts) += watts;
    self->is_priced &= row->is_included || row->usd_each > 0;
    self->is_powered &= row->watts_each > 0 || (row->kind == FAB_PRODUCT_CABLE && row->product != NULL);
  }
}

static void
add_machines (FabBillCount *self)
{
  const FabClusterSpec *cluster = &fab_scenario_spec (self->scenario)->cluster;
  const FabNodeSpec *spec = fab_catalog_node (self->catalog, cluster->node);
  FabNeed node = { .kind = FAB_PRODUCT_NODE, .name = spec->name };
  FabNeed accelerator = { .kind = FAB_PRODUCT_ACCELERATOR, .name = spec->accelerator };

  for (FabVertexId id = 0; id < fab_graph_n_vertices (self->graph); id++)
    self->bill->n_accelerators += fab_graph_vertex (self->graph, id)->kind == FAB_VERTEX_ACCELERATOR;
  self->node = fab_product_find (self->catalog, &node);
  fab_bill_add_found (self, &accelerator, self->bill->n_accelerators);
  fab_bill_add (self, &node, self->node, (guint64) cluster->nodes);
}

FabBill *
fab_bill_of_graph (const FabScenario *scenario, const FabGraph *graph)
{
  const FabScenarioSpec *spec = fab_scenario_spec (scenario);
  FabBill *self = g_new0 (FabBill, 1);
  FabBillCount count = { .scenario = scenario,
                         .catalog = fab_scenario_catalog (scenario),
                         .cost = &spec->cost,
                         .graph = graph,
                         .bill = self };

  self->rows = g_array_new (FALSE, FALSE, sizeof (FabBillRow));
  add_machines (&count);
  if (MAX (spec->cluster.nodes, spec->cluster.places) > 1)
    fab_bill_add_network (&count);
  sum_up (self);
  return self;
}

FabBill *
fab_bill_new (const FabScenario *scenario, GError **error)
{
  g_autoptr (FabPlant) plant = fab_plant_new (scenario, &(FabWhatIf){ .is_intact = TRUE }, error);

  return plant != NULL ? fab_bill_of_graph (scenario, plant->graph) : NULL;
}
