/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_cost.c - `fabricast cost SCENARIO`: what a machine is made of, what it costs and draws, and a job on it. */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "answer/study/cost.h"
#include "cli/cli.h"
#include "cli/run/goodput_text.h"
#include "cli/study/points_text.h"
#include "cli/study/spread_text.h"
#include "cli/terminal/rows.h"
#include "cli/verdict.h"
#include "sim/base/error.h"
#include "sim/base/json.h"
#include "sim/base/units.h"
#include "sim/config/schema.h"
#include "sim/scenario/catalog_params.h"
#include "sim/study/better.h"

typedef struct {
  const char *title; /* of the scenario */
  const FabCostAnswer *answer;
} FabCostView;

/* " ($9.1k to $11k)"; "" where both ends are shown alike. (transfer full) */
static char *
range_text (FabFigureKind kind, double low, double high)
{
  g_autofree char *from = fab_figure_show (kind, low), *to = fab_figure_show (kind, high);

  return strcmp (from, to) != 0 ? g_strdup_printf (" (%s to %s)", from, to) : g_strdup ("");
}

static char *
money (double usd)
{
  return fab_figure_show (FAB_FIGURE_MONEY, usd);
}

static char *
watts (double value)
{
  return fab_figure_show (FAB_FIGURE_POWER, value);
}

/* --- the bill --- */

/* "$27.5k", "included", "no price". (transfer full) */
static char *
price_of (const FabBillRow *row, double usd)
{
  return row->is_included ? g_strdup ("included") : usd > 0 ? money (usd) : g_strdup ("no price");
}

static void
append_row (GString *text, const FabBillRow *row)
{
  double n = (double) row->count;
  g_autofree char *each = price_of (row, row->usd_each), *all = price_of (row, row->usd_each * n);
  g_autofree char *low = money (row->low_usd_each * n), *high = money (row->high_usd_each * n);
  g_autofree char *spread = row->usd_each > 0 ? g_strconcat (low, " to ", high, NULL) : g_strdup ("-");
  g_autofree char *power = row->watts_each > 0 ? watts (row->watts_each * n)
                                               : g_strdup (fab_cost_is_passive (row) ? "-" : "not known");

  g_string_append_printf (text,
                          "  %-12s\v %-18s\v %-18s\v %9" G_GUINT64_FORMAT "\v %9s\v %9s\v  %-20s\v %10s\n",
                          fab_product_kind_names[row->kind], row->what,
                          row->product ? row->product->name : "-", row->count, each, all, spread, power);
}

static void
append_bill (GString *text, const FabBill *bill)
{
  g_string_append_printf (text, "  %-12s\v %-18s\v %-18s\v %9s\v %9s\v %9s\v  %-20s\v %10s\n", "part", "of",
                          "product", "count", "each", "all", "low to high", "power");
  for (guint i = 0; i < bill->rows->len; i++)
    append_row (text, &g_array_index (bill->rows, FabBillRow, i));
  g_string_append_c (text, '\n');
}

static void
append_missing (GString *text, const char *what, char **names)
{
  g_autofree char *list = g_strjoinv (", ", names);

  if (names[0] != NULL)
    g_string_append_printf (text, "  %-14s%s\n", what, list);
}

static void
append_total (GString *text, const FabCostAnswer *answer)
{
  const FabBill *bill = answer->bill;
  g_autofree char *all = money (bill->total.usd), *low = money (bill->total.low_usd),
                  *high = money (bill->total.high_usd), *network = money (bill->network.usd);

  if (bill->total.usd > 0)
    g_string_append_printf (text, "  %-14s%s%s (%s to %s)\n", "to buy", bill->is_priced ? "" : "more than ",
                            all, low, high);
  if (bill->is_priced && bill->network.usd > 0)
    g_string_append_printf (text, "  %-14s%s, %.1f %%\n", "  network", network,
                            100 * bill->network.usd / bill->total.usd);
  append_missing (text, "no price", answer->no_price);
}

/* What the document of a design counts beside the compute network. Few of these parts have a price. */
static void
append_beside (GString *text, const FabCostAnswer *answer)
{
  double sum = 0;
  guint n_priced = 0;

  for (guint i = 0; i < answer->beside->len; i++) {
    const FabDesignPart *part = g_ptr_array_index (answer->beside, i);
    double usd = fab_cost_part_usd (answer, part);
    g_autofree char *all = usd > 0 ? money (usd) : g_strdup ("no price");

    if (i == 0)
      g_string_append_printf (
          text, "  beside the compute network, as the document of %s counts it; not in the sums below\n",
          answer->design->name);
    sum += usd;
    n_priced += usd > 0;
    g_string_append_printf (text, "  %-12s\v %-12s\v %9" G_GINT64_FORMAT "\v %9s\v  %s\n", part->network,
                            fab_design_part_names[part->kind], part->count, all, part->what);
  }
  g_autofree char *shown = money (sum);
  if (n_priced > 0)
    g_string_append_printf (text, "  %u of %u of them have a price, together %s\n", n_priced,
                            answer->beside->len, shown);
  if (answer->beside->len > 0)
    g_string_append_c (text, '\n');
}

/* --- the job --- */

static void
append_power (GString *text, const FabCostView *view)
{
  const FabSpending *spending = &view->answer->point->spending;
  g_autofree char *power = watts (spending->power_watts);

  if (spending->power_watts > 0)
    g_string_append_printf (text, "  %-14s%s at the meter (PUE %.4g), network %.1f %%\n", "power", power,
                            view->answer->cost->pue_factor,
                            100 * spending->network_watts / spending->power_watts);
  if (view->answer->bill->cap_fraction < 1)
    g_string_append_printf (text, "  %-14sGPUs may draw %.1f %% of their power\n", "  power cap",
                            100 * view->answer->bill->cap_fraction);
  append_missing (text, "no watts", view->answer->no_watts);
}

static void
append_part (GString *text, double usd, const char *what)
{
  g_autofree char *shown = money (usd);

  if (usd > 0)
    g_string_append_printf (text, ", %s of %s", shown, what);
}

static void
append_bought (GString *text, const FabCostView *view)
{
  const FabSpending *spending = &view->answer->point->spending;
  g_autofree char *bought = money (spending->bought_usd_per_hour),
                  *energy = money (spending->energy_usd_per_hour);

  g_string_append_printf (text, ": %s over %.4g years, %s of electricity at $%.4g per kWh", bought,
                          view->answer->cost->years, energy, view->answer->cost->usd_per_kwh);
  append_part (text, spending->maintenance_usd_per_hour, "maintenance");
  append_part (text, spending->staff_usd_per_hour, "staff");
  append_part (text, spending->site_usd_per_hour, "site");
  if (view->answer->cost->utilisation_fraction < 1)
    g_string_append_printf (text, "; in use %.4g %% of the time",
                            100 * view->answer->cost->utilisation_fraction);
}

static void
append_rented (GString *text, const FabCostView *view)
{
  const FabProductSpec *rent = view->answer->bill->rent;

  if (rent == NULL)
    g_string_append_printf (text, ", %u %s rented at $%.4g", view->answer->point->n_ranks,
                            fab_plural (view->answer->point->n_ranks, "GPU", "GPUs"),
                            view->answer->cost->usd_per_gpu_hour);
  else
    g_string_append_printf (text, ", rented by %s, $%.4g an hour for each %s%s%s, price of %s", rent->name,
                            rent->price_usd, rent->node != NULL ? rent->node : rent->accelerator,
                            rent->region != NULL ? " in " : "", rent->region != NULL ? rent->region : "",
                            rent->date);
}

static void
append_hour (GString *text, const FabCostView *view)
{
  const FabSpending *spending = &view->answer->point->spending;
  g_autofree char *hour = money (spending->usd_per_hour),
                  *range = range_text (FAB_FIGURE_MONEY, spending->low_usd_per_hour,
                                       spending->high_usd_per_hour);

  if (spending->usd_per_hour <= 0)
    return;
  g_string_append_printf (text, "  %-14s%s%s", "an hour", hour, range);
  (view->answer->bill->rent != NULL || view->answer->cost->usd_per_gpu_hour > 0 ? append_rented
                                                                                : append_bought) (text, view);
  g_string_append_c (text, '\n');
}

/* The first and the last date of the prices, and what they leave out. */
static void
append_dates (GString *text, const FabCostAnswer *answer)
{
  gboolean is_one = g_strcmp0 (answer->first_date, answer->last_date) == 0;
  g_autofree char *list = g_strjoinv (", ", answer->not_counted);

  if (answer->first_date == NULL)
    return;
  g_string_append_printf (text, "  %-14sUS dollars of %s%s%s, without tax", "prices", answer->first_date,
                          is_one ? "" : " to ", is_one ? "" : answer->last_date);
  if (answer->not_counted[0] != NULL)
    g_string_append_printf (text, "; not counted: %s", list);
  g_string_append_c (text, '\n');
}

/* Where the fabric blocks, the finding one_switch says it. */
static void
append_replaced (GString *text, const FabBill *bill)
{
  if (bill->n_replaced > 1 && bill->replaced_ratio <= 1)
    g_string_append_printf (
        text,
        "  %-14sall NICs fit on it, so it is priced in place of the fabric's %" G_GUINT64_FORMAT
        " switches; the step is that of the fabric\n",
        "one switch", bill->n_replaced);
}

/* Power of a full rack, where the document of the design says it. */
static void
append_rack (GString *text, const FabCostAnswer *answer)
{
  g_autofree char *watts = NULL;

  if (answer->design == NULL || answer->design->rack_watts == 0)
    return;
  watts = fab_figure_show (FAB_FIGURE_POWER, (double) answer->design->rack_watts);
  g_string_append_printf (text, "  %-14s%s for a full rack of nodes, as the document of %s says\n", "racks",
                          watts, answer->design->name);
}

static void
append_each (GString *text, const FabCostView *view, const char *name, double usd, double joules)
{
  FabMoney between = fab_cost_range (view->answer->point, view->answer->band, usd);
  g_autofree char *price = money (usd), *energy = fab_figure_show (FAB_FIGURE_ENERGY, joules),
                  *range = range_text (FAB_FIGURE_MONEY, between.low_usd, between.high_usd);

  if (usd > 0 || joules > 0)
    g_string_append_printf (text, "  %-14s%s%s%s%s\n", name, usd > 0 ? price : "", usd > 0 ? range : "",
                            usd > 0 && joules > 0 ? ", " : "", joules > 0 ? energy : "");
}

/* Format the view. (transfer full) */
static char *
cost_text (const FabCostView *view)
{
  GString *text = g_string_new (NULL);
  const FabPoint *point = view->answer->point;
  const FabSpending *spending = &point->spending;
  g_autofree char *step = fab_figure_show (FAB_FIGURE_TIME, point->step_s);

  fab_cli_append_stops (text, point->verdict);
  g_string_append_printf (text, "%s\n\n", view->title);
  append_bill (text, view->answer->bill);
  append_beside (text, view->answer);
  append_total (text, view->answer);
  append_power (text, view);
  append_hour (text, view);
  g_autofree char *range = fab_spread_show (fab_figure_find ("step"), point);
  g_autofree char *step_range = view->answer->band != NULL
                                  ? range_text (FAB_FIGURE_TIME, view->answer->band->low[0],
                                                view->answer->band->high[0])
                                  : g_strdup ("");
  g_string_append_printf (text, "  %-14s%s%s", "step time", step, step_range);
  if (point->draws != NULL)
    g_string_append_printf (text, ", the median of %u seeds: %s", point->draws->len, range);
  g_string_append_c (text, '\n');
  append_each (text, view, "a step", spending->usd_per_step, spending->step_joules);
  append_each (text, view, "1M tokens", spending->usd_per_million_tokens,
               point->tokens_per_s > 0 ? spending->power_watts / point->tokens_per_s * 1e6 : 0);
  fab_goodput_append (text, &point->goodput, fab_scenario_spec (view->answer->scenario)->reliability.failures,
                      (FabGoodputBand){ 1, 1 });
  append_each (text, view, "the training", spending->train_usd, spending->train_joules);
  if (view->answer->band != NULL) {
    g_autofree char *about = fab_band_about (view->answer->band, 0);

    g_string_append_printf (text, "  %-14stimes: %s; money: that, and prices and `cost` from low to high\n",
                            "in brackets", about);
  }
  append_dates (text, view->answer);
  append_replaced (text, view->answer->bill);
  append_rack (text, view->answer);
  if (view->answer->left_out != NULL)
    g_string_append_printf (text, "  %-14s%s\n", "not in it", view->answer->left_out);
  fab_cli_append_findings (text, point->verdict);
  return g_string_free (text, FALSE);
}

/* --- for programs --- */

static char *
cost_csv (const FabCostView *view)
{
  g_autoptr (FabTable) table = fab_cost_table (view->answer);

  return fab_table_to_csv (table);
}

static void
add_figures (FabJson *json, const FabPoint *point)
{
  fab_json_begin_object (json, "figures");
  for (const FabFigure *figure = fab_figures; figure->name != NULL; figure++) {
    if (fab_point_has (point, figure))
      fab_json_add_real (json, figure->column, figure->value (point));
    else
      fab_json_add_text (json, figure->column, NULL);
  }
  fab_json_end (json);
}

/* step_s_low, step_s_high and so on. */
static void
add_band (FabJson *json, const FabCostView *view)
{
  fab_json_begin_object (json, "figures_band");
  for (guint i = 0; fab_cost_ranged[i] != NULL; i++) {
    const FabFigure *figure = fab_figure_find (fab_cost_ranged[i]);
    g_autofree char *low = g_strconcat (figure->column, "_low", NULL),
                    *high = g_strconcat (figure->column, "_high", NULL);
    FabMoney range = fab_cost_figure_range (view->answer, figure);

    if (!fab_figure_is_known (figure, view->answer->point))
      continue;
    fab_json_add_real (json, low, range.low_usd);
    fab_json_add_real (json, high, range.high_usd);
  }
  if (view->answer->band != NULL)
    fab_band_add_json (view->answer->band, json);
  fab_json_end (json);
}

/* What an hour consists of, and by which rent. */
static void
add_hour (FabJson *json, const FabCostView *view)
{
  const FabSpending *spending = &view->answer->point->spending;
  const FabProductSpec *rent = view->answer->bill->rent;

  fab_json_add_text (json, "currency", "USD");
  fab_json_begin_object (json, "hour_usd");
  fab_json_add_real (json, "bought", spending->bought_usd_per_hour);
  fab_json_add_real (json, "electricity", spending->energy_usd_per_hour);
  fab_json_add_real (json, "maintenance", spending->maintenance_usd_per_hour);
  fab_json_add_real (json, "staff", spending->staff_usd_per_hour);
  fab_json_add_real (json, "site", spending->site_usd_per_hour);
  fab_json_add_text (json, "rent", rent != NULL ? rent->name : NULL);
  fab_json_add_text (json, "region", rent != NULL ? rent->region : NULL);
  fab_json_add_text (json, "date", rent != NULL ? rent->date : NULL);
  fab_json_end (json);
}

/* Parts beside the compute network, and what no row counts. */
static void
add_beside (FabJson *json, const FabCostAnswer *answer)
{
  fab_json_begin_array (json, "beside");
  for (guint i = 0; i < answer->beside->len; i++) {
    const FabDesignPart *part = g_ptr_array_index (answer->beside, i);
    double usd = fab_cost_part_usd (answer, part);

    fab_json_begin_object (json, NULL);
    fab_json_add_text (json, "network", part->network);
    fab_json_add_text (json, "part", fab_design_part_names[part->kind]);
    fab_json_add_text (json, "what", part->what);
    fab_json_add_whole (json, "count", part->count);
    if (usd > 0)
      fab_json_add_real (json, "usd", usd);
    else
      fab_json_add_null (json, "usd");
    fab_json_end (json);
  }
  fab_json_end (json);
  fab_json_add_text (json, "not_in_it", answer->left_out);
  if (answer->design != NULL && answer->design->rack_watts > 0)
    fab_json_add_whole (json, "rack_watts", answer->design->rack_watts);
  else
    fab_json_add_null (json, "rack_watts");
}

static char *
cost_json (const FabCostView *view)
{
  g_autoptr (FabTable) table = fab_cost_table (view->answer);
  g_autoptr (FabJson) json = fab_json_new (FAB_JSON_PAGE);

  fab_json_begin_object (json, NULL);
  fab_json_add_text (json, "scenario", view->title);
  fab_json_add_whole (json, "switches", (gint64) view->answer->bill->n_switches);
  fab_cli_add_json_rows (json, "parts", table);
  add_beside (json, view->answer);
  add_figures (json, view->answer->point);
  add_hour (json, view);
  add_band (json, view);
  fab_spread_add (json, view->answer->point);
  fab_verdict_add_json (view->answer->point->verdict, json, "verdict");
  fab_json_end (json);
  return fab_json_finish (json);
}

/* --- price lists --- */

/* One product as an item of a list. */
static void
append_product (GString *text, const FabProductSpec *product)
{
  g_autofree char *yaml = fab_schema_write (fab_product_params, product);
  g_auto (GStrv) lines = g_strsplit (yaml, "\n", -1);

  for (guint i = 0; lines[i] != NULL && *lines[i] != '\0'; i++)
    g_string_append_printf (text, "  %s %s\n", i == 0 ? "-" : " ", lines[i]);
}

/* A file for --prices with every product of the bill. (transfer full) */
static char *
prices_text (const FabBill *bill)
{
  GString *text = g_string_new (
      "# A price list for `fabricast cost --prices FILE`: the products of one bill. Write your own prices, the range\n"
      "# that they lie in, and their date. An entry replaces the one of the catalogue with the same name. Prices are\n"
      "# in US dollars for one piece.\n\nproducts:\n");

  for (guint i = 0; i < bill->rows->len; i++) {
    const FabBillRow *row = &g_array_index (bill->rows, FabBillRow, i);

    if (row->product != NULL)
      append_product (text, row->product);
    else
      g_string_append_printf (text,
                              "  # No product is known for %s %s; this is one without price:\n"
                              "  # - {name: our-%s, kind: %s, %s: %s, price_usd: 0}\n",
                              fab_product_kind_names[row->kind], row->what, row->what,
                              fab_product_kind_names[row->kind],
                              row->kind == FAB_PRODUCT_NODE          ? "node"
                              : row->kind == FAB_PRODUCT_ACCELERATOR ? "accelerator"
                                                                     : "link",
                              row->what);
  }
  return g_string_free (text, FALSE);
}

typedef struct {
  char *format_name, *seeds, *prices_path, *rows;
  char **sets;
  gboolean is_oversized_allowed, has_no_band, writes_prices;
  FabFormat format;
} CostOptions;

static const FabUsage usage = {
  .arguments = "SCENARIO",
  .summary =
      "Counts the parts of the machine of a scenario: GPUs, nodes, NICs, switches, cables, transceivers, with\n"
      "prices and watts of the catalogue. It then simulates the job, and prints the cost of an hour, a step, a\n"
      "million tokens and the whole training in US dollars and energy.\n\n"
      "Prices are list or street prices of a date, and uncertain. Products that the scenario lists replace\n"
      "those of the catalogue, and its key `cost` sets the price of electricity and the years of use.",
  .examples =
      "  fabricast cost scenarios/ddp-llama2-7b-16-dgx-h100.yaml\n"
      "  fabricast cost scenarios/design-superpod-h100.yaml --set cluster.scalable_units=4 --set cluster.nodes=127\n"
      "  fabricast cost scenarios/ddp-2b-4nodes-200g.yaml --write-prices\n"
      "  fabricast cost scenarios/zero3-70b-16384.yaml --set cost.usd_per_kwh=0.12 --set cost.years=4\n"
      "  fabricast cost scenarios/ddp-2b-4nodes-200g.yaml --set cost.usd_per_gpu_hour=1.8 --format json\n",
  .min_rest = 1,
  .max_rest = 1,
};

/* The price list of --prices is a file that the scenario includes. (transfer full) */
static char **
sets_of (const CostOptions *o)
{
  g_autoptr (GStrvBuilder) sets = g_strv_builder_new ();

  if (o->prices_path != NULL) {
    g_autofree char *escaped = g_strescape (o->prices_path, NULL);
    g_autofree char *include = g_strdup_printf ("include=\"%s\"", escaped);

    g_strv_builder_add (sets, include);
  }
  if (o->sets != NULL)
    g_strv_builder_addv (sets, (const char **) o->sets);
  return g_strv_builder_end (sets);
}

/* A missing price list is told by the option that names it, and not by the include that it becomes. */
static gboolean
is_price_list_there (const CostOptions *o, GError **error)
{
  if (o->prices_path == NULL || access (o->prices_path, R_OK) == 0)
    return TRUE;
  return fab_throw (
      error, FAB_ERROR_INPUT,
      "--prices: cannot open %s: %s; `fabricast cost SCENARIO --write-prices` prints a list to begin with",
      o->prices_path, g_strerror (errno));
}

static gboolean
write_prices (const FabStudy *study, GError **error)
{
  g_autoptr (FabScenario) scenario = fab_study_scenario (study, NULL, error);
  g_autoptr (FabBill) bill = scenario != NULL ? fab_bill_new (scenario, error) : NULL;

  if (bill == NULL)
    return FALSE;
  g_autofree char *text = prices_text (bill);
  g_print ("%s", text);
  return TRUE;
}

static gboolean
cost (const CostOptions *o, const char *path, FabExit *code, GError **error)
{
  typedef char *(*ToTextFn) (const FabCostView *view);
  static const ToTextFn printers[] = {
    [FAB_FORMAT_TEXT] = cost_text, [FAB_FORMAT_JSON] = cost_json, [FAB_FORMAT_CSV] = cost_csv
  };
  g_autoptr (FabCatalog) catalog = fab_cli_catalog (error);
  g_auto (GStrv) sets = sets_of (o);
  g_autoptr (FabStudy) study = catalog && is_price_list_there (o, error)
                                 ? fab_cli_study (path, sets, catalog, error)
                                 : NULL;

  if (study != NULL && o->writes_prices)
    return write_prices (study, error);
  if (study == NULL || !fab_spread_parse (o->seeds, FAB_SPREAD_AUTO, &study->n_seeds, error))
    return FALSE;
  g_autoptr (FabCostAnswer) answer = fab_cost_answer (study, !o->has_no_band, error);
  if (answer == NULL)
    return FALSE;
  g_autofree char *shown = fab_cli_title (answer->scenario);
  g_autofree char *text = printers[o->format](&(FabCostView){ shown, answer });
  if (!fab_cli_print_rows (o->format, text, o->rows, error))
    return FALSE;
  if (o->format != FAB_FORMAT_TEXT)
    fab_cli_print_stops ("cost", answer->point->verdict);
  *code = fab_cli_verdict_exit (answer->point->verdict, o->is_oversized_allowed);
  return TRUE;
}

static FabExit
run (int argc, char **argv)
{
  CostOptions o = { 0 };
  const GOptionEntry entries[] = {
    FAB_SET_ENTRY (&o.sets),
    FAB_ROWS_ENTRY (&o.rows, "to-buy,step-time"),
    FAB_SEEDS_ENTRY (&o.seeds),
    { "prices", 0, 0, G_OPTION_ARG_FILENAME, &o.prices_path,
      "Take the products of this file, in place of those of the catalogue with the "
      "same names",
      "FILE" },
    { "write-prices", 0, 0, G_OPTION_ARG_NONE, &o.writes_prices,
      "Print the products of the bill as a file for --prices, and simulate nothing", NULL },
    { "no-band", 0, 0, G_OPTION_ARG_NONE, &o.has_no_band,
      "Print no bands of times and costs; saves further simulations", NULL },
    FAB_ALLOW_OVERSIZED_ENTRY (&o.is_oversized_allowed),
    FAB_FORMAT_ENTRY (&o.format_name),
    G_OPTION_ENTRY_NULL
  };
  FabExit code = FAB_EXIT_DONE;
  g_autoptr (GError) error = NULL;
  gboolean is_done = fab_cli_parse (&usage, entries, &argc, &argv, &error)
                  && fab_cli_format (o.format_name, &o.format, &error)
                  && fab_cli_check_rows (o.format, o.rows, &error) && cost (&o, argv[1], &code, &error);

  g_free (o.format_name);
  g_free (o.seeds);
  g_free (o.prices_path);
  g_free (o.rows);
  g_strfreev (o.sets);
  return is_done ? code : fab_cli_fail ("cost", error);
}

const FabCommand fab_command_cost = {
  .name = "cost",
  .summary = "Count a machine's parts, price and power, and the cost of a step and a token",
  .run = run,
};
