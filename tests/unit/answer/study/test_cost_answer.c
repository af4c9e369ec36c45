/* SPDX-License-Identifier: Apache-2.0 */
/* test_cost_answer.c - what a bill lacks, when its prices are from, and the ranges of what a step costs. */
#include "tests/support/test.h"

#include "answer/study/cost.h"
#include "models/models.h"
#include "tests/support/play.h"

/* A part without a price, one without watts, and cables, which draw none. */
#define OWN                                                                                                  \
  "name: t\nnodes:\n  - name: own\n    accelerator: a100-sxm4-80gb\n"                                        \
  "    parts: [{name: gpu, kind: accelerator, count: 2}, {name: cpu, kind: host}, {name: nic, kind: nic}]\n" \
  "    wires: [{from: gpu, to: cpu, link: pcie4-x16}, {from: nic, to: cpu, link: pcie4-x16}]\n"              \
  "cluster: {node: own, nodes: 2, nic: ib-hdr}\ncollectives: plain\n"                                        \
  "job: {kind: collective, operations: [{op: all_reduce, size: 1GB}]}\n%s\n"

static FabCatalog *catalog;

static FabCostAnswer *
answer_of (const char *more)
{
  g_autofree char *yaml = g_strdup_printf (OWN, more);
  g_autoptr (Play) play = play_new (catalog, yaml, NULL);
  g_autoptr (FabStudy) study = fab_study_of ("t", play->scenario, catalog, &fab_models);
  g_autoptr (GError) error = NULL;
  FabCostAnswer *self = fab_cost_answer (study, FALSE, &error);

  if (self == NULL)
    fail_msg ("%s", error->message);
  return self;
}

static void
assert_names (char **names, const char *expected)
{
  g_autofree char *text = g_strjoinv (", ", names);

  assert_string_equal (text, expected);
}

/* "accelerator a100-sxm4-80gb" of each row that lacks it. (transfer full) */
static char *
lacking (const FabCostAnswer *self, gboolean is_price)
{
  g_autoptr (GString) text = g_string_new (NULL);

  for (guint i = 0; i < self->bill->rows->len; i++) {
    const FabBillRow *row = &g_array_index (self->bill->rows, FabBillRow, i);
    gboolean is_cable = row->kind == FAB_PRODUCT_CABLE && row->product != NULL;

    assert_int_equal (fab_cost_is_passive (row), is_cable);
    if (is_price ? !row->is_included && row->usd_each == 0 : !is_cable && row->watts_each == 0)
      g_string_append_printf (text, "%s%s %s", *text->str ? ", " : "", fab_product_kind_names[row->kind],
                              row->what);
  }
  return g_strdup (text->str);
}

static void
what_a_bill_lacks_is_named (G_GNUC_UNUSED void **state)
{
  g_autoptr (FabCostAnswer) self = answer_of ("");
  g_autofree char *prices = lacking (self, TRUE), *watts = lacking (self, FALSE);
  const char *first = NULL, *last = NULL;

  assert_true (*prices != '\0');
  assert_names (self->no_price, prices);
  assert_names (self->no_watts, watts);
  for (guint i = 0; i < self->bill->rows->len; i++) {
    const FabProductSpec *product = g_array_index (self->bill->rows, FabBillRow, i).product;

    if (product == NULL || product->price_usd <= 0)
      continue;
    first = first == NULL || strcmp (product->date, first) < 0 ? product->date : first;
    last = last == NULL || strcmp (product->date, last) > 0 ? product->date : last;
  }
  assert_non_null (first);
  assert_string_equal (self->first_date, first);
  assert_string_equal (self->last_date, last);
}

/* The dates are those of what has a price. */
static void
dates_are_those_of_prices (G_GNUC_UNUSED void **state)
{
  g_autoptr (FabCostAnswer) self = answer_of (
      "products:\n  - {name: own-box, kind: node, node: own, price_usd: 1000, date: 2031-05-05}\n"
      "  - {name: own-gpu, kind: accelerator, accelerator: a100-sxm4-80gb, power_watts: 400, date: 2039-01-01}\n");

  assert_string_equal (self->last_date, "2031-05-05");
  assert_true (strcmp (self->first_date, "2031-05-05") < 0);
}

static void
costs_that_nobody_named_are_listed (G_GNUC_UNUSED void **state)
{
  static const struct {
    const char *cost, *not_counted;
    gboolean is_bought;
  } rows[] = {
    { "", "maintenance, staff, site", TRUE },
    { "cost: {maintenance: 5%}", "staff, site", TRUE },
    { "cost: {staff_usd_per_year: 1}", "maintenance, site", TRUE },
    { "cost: {site_usd_per_kw_month: 1}", "maintenance, staff", TRUE },
    { "cost: {maintenance: 5%, staff_usd_per_year: 1, site_usd_per_kw_month: 1}", "", TRUE },
    { "cost: {usd_per_gpu_hour: 2}", "", FALSE },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autoptr (FabCostAnswer) self = answer_of (rows[i].cost);

    assert_names (self->not_counted, rows[i].not_counted);
    assert_int_equal (self->left_out != NULL, rows[i].is_bought);
    if (rows[i].is_bought)
      assert_string_equal (self->left_out,
                           "racks, networks for storage and management, storage, cooling, spares, "
                           "software, support");
    assert_null (self->design);
    assert_int_equal (self->beside->len, 0);
  }
}

/* Without a band a step has one length, and money has the range of prices. With one, money follows it. */
static void
ranges_follow_the_band_of_the_step (G_GNUC_UNUSED void **state)
{
  g_autoptr (FabCostAnswer) self = answer_of ("cost: {usd_per_gpu_hour: 2}");
  double low[] = { self->point->step_s / 2 }, high[] = { self->point->step_s * 3 };
  FabBand band = { .low = low, .high = high, .n = 1 };
  FabMoney step = fab_cost_figure_range (self, fab_figure_find ("step")),
           hour = fab_cost_figure_range (self, fab_figure_find ("hour_cost")),
           one = fab_cost_figure_range (self, fab_figure_find ("step_cost")),
           wide = fab_cost_range (self->point, &band, self->point->spending.usd_per_step);

  assert_near (step.usd, self->point->step_s, 1e-12);
  assert_near (step.low_usd, step.usd, 1e-12);
  assert_near (step.high_usd, step.usd, 1e-12);
  assert_near (hour.usd, 8, 1e-12); /* four GPUs at $2 */
  assert_near (one.usd, 8 * self->point->step_s / 3600, 1e-9);
  assert_near (wide.usd, one.usd, 1e-12);
  assert_near (wide.low_usd, one.low_usd / 2, 1e-9);
  assert_near (wide.high_usd, one.high_usd * 3, 1e-9);
}

/* Each row of the bill, and what it costs in all. */
static void
rows_of_the_table_are_those_of_the_bill (G_GNUC_UNUSED void **state)
{
  g_autoptr (FabCostAnswer) self = answer_of ("");
  g_autoptr (FabTable) table = fab_cost_table (self);
  g_autofree char *csv = fab_table_to_csv (table);
  g_auto (GStrv) lines = g_strsplit (csv, "\n", -1);

  assert_string_equal (lines[0],
                       "part,of,product,count,usd_each,low_usd_each,high_usd_each,usd,watts_each,is_included,"
                       "is_network,source,date");
  assert_int_equal (g_strv_length (lines), self->bill->rows->len + 2);
  for (guint i = 0; i < self->bill->rows->len; i++) {
    const FabBillRow *row = &g_array_index (self->bill->rows, FabBillRow, i);
    g_auto (GStrv) cells = g_strsplit (lines[i + 1], ",", 13);

    assert_string_equal (cells[0], fab_product_kind_names[row->kind]);
    assert_string_equal (cells[1], row->what);
    assert_string_equal (cells[2], row->product != NULL ? row->product->name : "");
    assert_true (g_ascii_strtoull (cells[3], NULL, 10) == row->count);
    assert_near (g_ascii_strtod (cells[4], NULL) + 1, row->usd_each + 1, 1e-9);
    assert_near (g_ascii_strtod (cells[5], NULL) + 1, row->low_usd_each + 1, 1e-9);
    assert_near (g_ascii_strtod (cells[6], NULL) + 1, row->high_usd_each + 1, 1e-9);
    assert_near (g_ascii_strtod (cells[7], NULL) + 1, row->usd_each * (double) row->count + 1, 1e-9);
    assert_near (g_ascii_strtod (cells[8], NULL) + 1, row->watts_each + 1, 1e-9);
    assert_int_equal (*cells[4] == '\0', row->usd_each == 0);
    assert_string_equal (cells[9], row->is_included ? "yes" : "no");
    assert_string_equal (cells[10], fab_bill_row_is_network (row) ? "yes" : "no");
  }
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (what_a_bill_lacks_is_named),
    cmocka_unit_test (dates_are_those_of_prices),
    cmocka_unit_test (costs_that_nobody_named_are_listed),
    cmocka_unit_test (ranges_follow_the_band_of_the_step),
    cmocka_unit_test (rows_of_the_table_are_those_of_the_bill),
  };

  return play_run_tests ("cost_answer", tests, &catalog);
}
