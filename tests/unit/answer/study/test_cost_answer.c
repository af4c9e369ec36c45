/* SPDX-License-Identifier: Apache-2.0 */
/* test_cost_answer.c - what a bill lacks, when its prices are from, and the ranges of what a step costs. */
#include "tests/support/test.h"

#include "answer/study/cost.h"
#include "tests/support/failing.h"
#include "tests/support/play.h"
#include "tests/support/studies.h"

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
    { "cost: {usd_per_gpu_hour: 1}", "", FALSE },
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

/* What stands beside one unit, and beside two: with and without a product that has a price. */
#define DESIGN                                                                                               \
  "nodes:\n  - name: own\n    accelerator: a100-sxm4-80gb\n"                                                 \
  "    parts: [{name: gpu, kind: accelerator, count: 2}, {name: cpu, kind: host}, {name: nic, kind: nic}]\n" \
  "    wires: [{from: gpu, to: cpu, link: pcie4-x16}, {from: nic, to: cpu, link: pcie4-x16}]\n"              \
  "products:\n  - {name: shelf, kind: switch, link: ib-hdr, ports: 8, price_usd: 100}\n"                     \
  "  - {name: own-hour, kind: rent, node: own, price_usd: 20, low_usd: 15, high_usd: 30}\n"                  \
  "designs:\n  - name: d\n    node: own\n    nic: ib-hdr\n    unit_nodes: 2\n"                               \
  "    sizes: [{units: 1, fabric: switch}, {units: 2, fabric: switch}]\n"                                    \
  "    parts: [{units: 2, network: site, part: rack, what: rack, count: 4},\n"                               \
  "      {units: 1, network: storage, part: switch, what: shelf, count: 3, product: shelf},\n"               \
  "      {units: 1, network: site, part: server, what: server, count: 5}]\n"
#define REDUCE "collectives: plain\njob: {kind: collective, operations: [{op: all_reduce, size: 1GB}]}\n"

static FabCostAnswer *
answer_to (const char *yaml, gboolean has_band)
{
  g_autoptr (FabStudy) study = study_of_text (catalog, yaml);
  g_autoptr (GError) error = NULL;
  FabCostAnswer *self = fab_cost_answer (study, has_band, &error);

  if (self == NULL)
    fail_msg ("%s", error->message);
  return self;
}

/* Parts beside the compute network are those of as many units as there are. A rented machine has everything in its
 * rent. */
static void
what_stands_beside_the_network (G_GNUC_UNUSED void **state)
{
  static const struct {
    guint units;
    const char *cost;
    const char *parts[2];
    gboolean is_bought;
  } cases[] = {
    { 1, "", { "shelf", "server" }, TRUE },
    { 2, "", { "rack" }, TRUE },
    { 1, "cost: {usd_per_gpu_hour: 2}\n", { "shelf", "server" }, FALSE },
    { 2, "cost: {rent: own-hour}\n", { "rack" }, FALSE },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_autofree char *yaml = g_strdup_printf ("name: t\n" DESIGN
                                             "cluster: {design: d, scalable_units: %u}\n%s" REDUCE,
                                             cases[i].units, cases[i].cost);
    g_autoptr (FabCostAnswer) self = answer_to (yaml, FALSE);

    assert_string_equal (self->design->name, "d");
    assert_int_equal (self->beside->len, 3 - cases[i].units);
    for (guint k = 0; k < self->beside->len; k++) {
      const FabDesignPart *part = g_ptr_array_index (self->beside, k);

      assert_string_equal (part->what, cases[i].parts[k]);
      assert_near (fab_cost_part_usd (self, part), strcmp (part->what, "shelf") == 0 ? 300 : 0, 0);
    }
    if (cases[i].is_bought)
      assert_string_equal (self->left_out, "storage itself, cooling, spares, software, support");
    else
      assert_null (self->left_out);
    assert_names (self->not_counted, cases[i].is_bought ? "maintenance, staff, site" : "");
  }
}

/* Two nodes are rented for $40 an hour, $30 to $60. What a step costs has that range and that of its time, which add in
 * quadrature. */
static void
a_band_widens_what_a_step_costs (G_GNUC_UNUSED void **state)
{
  static const char yaml[] = "name: t\n" DESIGN
                             "cluster: {design: d, scalable_units: 1}\ncost: {rent: own-hour}\n" REDUCE;
  g_autoptr (FabCostAnswer) self = answer_to (yaml, TRUE), without = answer_to (yaml, FALSE);
  double step_s = self->point->step_s, low_s = self->band->low[0], high_s = self->band->high[0],
         usd = 40 * step_s / 3600;
  FabMoney step = fab_cost_figure_range (self, fab_figure_find ("step")),
           hour = fab_cost_figure_range (self, fab_figure_find ("hour_cost")),
           one = fab_cost_figure_range (self, fab_figure_find ("step_cost"));

  assert_null (without->band);
  assert_int_equal (self->band->n, 1);
  assert_true (low_s < step_s && step_s < high_s);
  assert_near (step.usd, step_s, 0);
  assert_near (step.low_usd, low_s, 0);
  assert_near (step.high_usd, high_s, 0);
  assert_near (hour.usd, 40, 1e-12);
  assert_near (hour.low_usd, 30, 1e-12);
  assert_near (hour.high_usd, 60, 1e-12);
  assert_near (one.usd, usd, 1e-9);
  assert_near (one.low_usd, usd * (1 - hypot (10.0 / 40, 1 - low_s / step_s)), 1e-9);
  assert_near (one.high_usd, usd * (1 + hypot (20.0 / 40, high_s / step_s - 1)), 1e-9);
}

/* What limits the step is known, and what would make a job fit that does not. */
static void
the_point_is_looked_into (G_GNUC_UNUSED void **state)
{
  static const char *const models[] = { "gpt2", "llama2-7b" };

  for (guint i = 0; i < G_N_ELEMENTS (models); i++) {
    g_autofree char *yaml = g_strdup_printf (
        "name: t\niterations: 1\ncluster: {node: dgx-a100, nodes: 1, gpus_per_node: 2}\njob: {kind: ddp, model: %s, "
        "micro_batch: 1, sequence: 1024, compute: {kind: mfu, mfu: 40%%}}\n",
        models[i]);
    g_autoptr (FabCostAnswer) self = answer_to (yaml, FALSE);
    const FabFinding *finding = fab_verdict_find (self->point->verdict, FAB_FINDING_DOES_NOT_FIT);

    assert_non_null (self->point->bottleneck);
    assert_int_equal (finding != NULL, i == 1);
    if (finding != NULL)
      assert_true (g_str_has_prefix (finding->advice, "It fits with "));
  }
}

/* Nothing is said of a job whose step cannot be played, nor where a band is asked for that cannot be. */
static void
plays_that_fail_are_no_answer (G_GNUC_UNUSED void **state)
{
  static const char yaml[] = "name: t\niterations: 1\n" DESIGN
                             "cluster: {design: d, scalable_units: 1}\n" REDUCE;
  g_autoptr (GError) problem = NULL;
  g_autoptr (FabScenario) scenario = fab_scenario_parse ("t", yaml, strlen (yaml), NULL, failing_models (),
                                                         catalog, NULL);
  g_autoptr (FabStudy) study = fab_study_of ("t", scenario, catalog, failing_models ());

  study->n_threads = 1;
  failing_at (0, FAB_ERROR_BROKEN);
  g_autoptr (FabCostAnswer) without = fab_cost_answer (study, FALSE, NULL);
  guint n_without = failing.n_made;
  assert_non_null (without);
  failing_at (0, FAB_ERROR_BROKEN);
  g_autoptr (FabCostAnswer) with = fab_cost_answer (study, TRUE, NULL);
  guint n_with = failing.n_made;
  assert_true (with != NULL && n_with > n_without);
  failing_at (n_with, FAB_ERROR_BROKEN);
  assert_null (fab_cost_answer (study, TRUE, &problem));
  assert_true (g_error_matches (problem, FAB_ERROR, FAB_ERROR_BROKEN));
  g_clear_error (&problem);
  failing_at (1, FAB_ERROR_BROKEN);
  assert_null (fab_cost_answer (study, FALSE, &problem));
  assert_true (g_error_matches (problem, FAB_ERROR, FAB_ERROR_BROKEN));
  failing_at (0, FAB_ERROR_BROKEN);
}

/* A card may cost a dollar and draw one watt. */
static void
cheap_parts_have_prices (G_GNUC_UNUSED void **state)
{
  g_autoptr (FabCostAnswer) self = answer_of (
      "products:\n  - {name: own-card, kind: nic, link: ib-hdr, price_usd: 1, power_watts: 1, date: 2031-05-05}\n");
  g_autoptr (FabTable) table = fab_cost_table (self);
  gboolean is_found = FALSE;

  for (guint i = 0; i < table->n_rows; i++)
    if (g_strcmp0 (fab_table_cell (table, i, 2)->text, "own-card") == 0) {
      is_found = TRUE;
      assert_near (fab_table_cell (table, i, 4)->real, 1, 0);
      assert_near (fab_table_cell (table, i, 7)->real, 2, 0);
      assert_near (fab_table_cell (table, i, 8)->real, 1, 0);
    }
  assert_true (is_found);
  for (guint i = 0; self->no_price[i] != NULL; i++)
    assert_false (g_str_has_prefix (self->no_price[i], "nic "));
  for (guint i = 0; self->no_watts[i] != NULL; i++)
    assert_false (g_str_has_prefix (self->no_watts[i], "nic "));
  assert_string_equal (self->last_date, "2031-05-05");
  fab_cost_answer_free (NULL);
}

/* What is not known has no cell; where a price is from and its date are those of the product. */
static void
cells_of_what_is_not_known_are_empty (G_GNUC_UNUSED void **state)
{
  g_autoptr (FabCostAnswer) self = answer_of ("");
  g_autoptr (FabTable) table = fab_cost_table (self);
  guint n_empty = 0, n_sources = 0;

  for (guint i = 0; i < self->bill->rows->len; i++) {
    const FabBillRow *row = &g_array_index (self->bill->rows, FabBillRow, i);
    const double numbers[] = { row->usd_each, row->low_usd_each, row->high_usd_each,
                               row->usd_each * (double) row->count, row->watts_each };
    const char *const texts[] = { row->product != NULL ? row->product->source : NULL,
                                  row->product != NULL ? row->product->date : NULL };

    for (guint c = 0; c < G_N_ELEMENTS (numbers); c++) {
      const FabCell *cell = fab_table_cell (table, i, 4 + c);

      assert_int_equal (cell->kind, numbers[c] > 0 ? FAB_CELL_REAL : FAB_CELL_NULL);
      n_empty += cell->kind == FAB_CELL_NULL;
    }
    for (guint c = 0; c < G_N_ELEMENTS (texts); c++) {
      assert_true (g_strcmp0 (fab_table_cell (table, i, 11 + c)->text, texts[c]) == 0);
      n_sources += texts[c] != NULL;
    }
  }
  assert_true (n_empty > 0 && n_sources > 0);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (what_stands_beside_the_network),
    cmocka_unit_test (a_band_widens_what_a_step_costs),
    cmocka_unit_test (the_point_is_looked_into),
    cmocka_unit_test (plays_that_fail_are_no_answer),
    cmocka_unit_test (cheap_parts_have_prices),
    cmocka_unit_test (cells_of_what_is_not_known_are_empty),
    cmocka_unit_test (what_a_bill_lacks_is_named),
    cmocka_unit_test (dates_are_those_of_prices),
    cmocka_unit_test (costs_that_nobody_named_are_listed),
    cmocka_unit_test (ranges_follow_the_band_of_the_step),
    cmocka_unit_test (rows_of_the_table_are_those_of_the_bill),
  };

  return play_run_tests ("cost_answer", tests, &catalog);
}
