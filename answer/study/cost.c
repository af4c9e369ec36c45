/* SPDX-License-Identifier: Apache-2.0 */
#include "answer/study/cost.h"

#include <string.h>

#include "answer/memory_advice.h"
#include "sim/study/study_bottleneck.h"

const char *const fab_cost_ranged[] = { "step", "hour_cost", "step_cost", "token_cost", "train_cost", NULL };

FabMoney
fab_cost_range (const FabPoint *point, const FabBand *band, double usd)
{
  return fab_spending_range (&point->spending, usd, point->step_s,
                             band != NULL ? band->low[0] : point->step_s,
                             band != NULL ? band->high[0] : point->step_s);
}

FabMoney
fab_cost_figure_range (const FabCostAnswer *self, const FabFigure *figure)
{
  const FabSpending *spending = &self->point->spending;

  if (figure->kind == FAB_FIGURE_TIME)
    return (FabMoney){ self->point->step_s, self->band != NULL ? self->band->low[0] : self->point->step_s,
                       self->band != NULL ? self->band->high[0] : self->point->step_s };
  return strcmp (figure->name, "hour_cost") == 0
           ? (FabMoney){ spending->usd_per_hour, spending->low_usd_per_hour, spending->high_usd_per_hour }
           : fab_cost_range (self->point, self->band, figure->value (self->point));
}

gboolean
fab_cost_is_passive (const FabBillRow *row)
{
  return row->kind == FAB_PRODUCT_CABLE && row->product != NULL;
}

/* --- what is missing --- */

static gboolean
has_no_price (const FabBillRow *row)
{
  return !row->is_included && row->usd_each <= 0;
}

static gboolean
has_no_watts (const FabBillRow *row)
{
  return row->watts_each <= 0 && !fab_cost_is_passive (row);
}

static char **
names_of (const FabBill *bill, gboolean (*is_missing) (const FabBillRow *row))
{
  GPtrArray *names = g_ptr_array_new ();

  for (guint i = 0; i < bill->rows->len; i++) {
    const FabBillRow *row = &g_array_index (bill->rows, FabBillRow, i);

    if (is_missing (row))
      g_ptr_array_add (names, g_strdup_printf ("%s %s", fab_product_kind_names[row->kind], row->what));
  }
  g_ptr_array_add (names, NULL);
  return (char **) g_ptr_array_free (names, FALSE);
}

/* A rented machine has everything in its rent. */
static char **
not_counted (const FabBill *bill, const FabCostSpec *cost)
{
  const char *names[4];
  guint n = 0;

  if (bill->rent == NULL && cost->usd_per_gpu_hour <= 0) {
    if (cost->maintenance_fraction <= 0)
      names[n++] = "maintenance";
    if (cost->staff_usd_per_year <= 0)
      names[n++] = "staff";
    if (cost->site_usd_per_kw_month <= 0)
      names[n++] = "site";
  }
  names[n] = NULL;
  return g_strdupv ((char **) names);
}

static void
find_dates (FabCostAnswer *self)
{
  for (guint i = 0; i < self->bill->rows->len; i++) {
    const FabProductSpec *product = g_array_index (self->bill->rows, FabBillRow, i).product;
    const char *date = product != NULL && product->price_usd > 0 ? product->date : NULL;

    if (date != NULL && (self->first_date == NULL || strcmp (date, self->first_date) < 0))
      self->first_date = date;
    if (date != NULL && (self->last_date == NULL || strcmp (date, self->last_date) > 0))
      self->last_date = date;
  }
}

/* --- beside the compute network --- */

double
fab_cost_part_usd (const FabCostAnswer *self, const FabDesignPart *part)
{
  const FabProductSpec *product = fab_catalog_product (fab_scenario_catalog (self->scenario), part->product);

  return product != NULL ? product->price_usd * (double) part->count : 0;
}

/* The document counts parts for some numbers of units only; others would be invented. */
static void
find_beside (FabCostAnswer *self)
{
  const FabClusterSpec *cluster = &fab_scenario_spec (self->scenario)->cluster;

  self->beside = g_ptr_array_new ();
  self->design = fab_catalog_entry (fab_scenario_catalog (self->scenario), FAB_SECTION_DESIGNS,
                                    cluster->design);
  for (guint i = 0; self->design != NULL && i < self->design->parts.n; i++) {
    FabDesignPart *part = (FabDesignPart *) self->design->parts.data + i;

    if (part->units == cluster->scalable_units)
      g_ptr_array_add (self->beside, part);
  }
  if (self->bill->rent != NULL || self->cost->usd_per_gpu_hour > 0)
    return;
  self->left_out =
      self->beside->len > 0
          ? "storage itself, cooling, spares, software, support"
          : "racks, networks for storage and management, storage, cooling, spares, software, support";
}

/* --- the answer --- */

static gboolean
find_band (const FabStudy *study, const FabPoint *point, FabBand **band, GError **error)
{
  const FabFigure *step[] = { fab_figure_find ("step") };

  return fab_study_band (study, NULL, point, &(FabBandFigures){ step, 1 }, band, error);
}

FabCostAnswer *
fab_cost_answer (const FabStudy *study, gboolean has_band, GError **error)
{
  g_autoptr (FabCostAnswer) self = g_new0 (FabCostAnswer, 1);

  self->scenario = fab_study_scenario (study, NULL, error);
  self->bill = self->scenario ? fab_bill_new (self->scenario, error) : NULL;
  self->point = self->bill ? fab_study_point (study, error) : NULL;
  if (self->point == NULL)
    return NULL;
  fab_study_find_bottleneck (study, NULL, self->point);
  fab_advise_memory_of (self->scenario, &(FabMemoryTrying){ study->registry, study->n_threads, NULL },
                        self->point->verdict);
  if (has_band && !find_band (study, self->point, &self->band, error))
    return NULL;
  self->cost = &fab_scenario_spec (self->scenario)->cost;
  self->no_price = names_of (self->bill, has_no_price);
  self->no_watts = names_of (self->bill, has_no_watts);
  self->not_counted = not_counted (self->bill, self->cost);
  find_dates (self);
  find_beside (self);
  return g_steal_pointer (&self);
}

void
fab_cost_answer_free (FabCostAnswer *self)
{
  if (self == NULL)
    return;
  fab_bill_free (self->bill);
  g_clear_pointer (&self->beside, g_ptr_array_unref);
  fab_point_free (self->point);
  fab_band_free (self->band);
  g_strfreev (self->no_price);
  g_strfreev (self->no_watts);
  g_strfreev (self->not_counted);
  fab_scenario_free (self->scenario);
  g_free (self);
}

/* --- rows --- */

static const char *const columns[] = {
  "part", "of",         "product",     "count",      "usd_each", "low_usd_each", "high_usd_each",
  "usd",  "watts_each", "is_included", "is_network", "source",   "date",         NULL
};

static void
add_price (FabTable *table, double usd)
{
  if (usd > 0)
    fab_table_add_real (table, usd);
  else
    fab_table_add_null (table);
}

FabTable *
fab_cost_table (const FabCostAnswer *self)
{
  const GArray *rows = self->bill->rows;
  FabTable *table = fab_table_new (columns);

  for (guint i = 0; i < rows->len; i++) {
    const FabBillRow *row = &g_array_index (rows, FabBillRow, i);

    fab_table_add_text (table, fab_product_kind_names[row->kind]);
    fab_table_add_text (table, row->what);
    fab_table_add_text (table, row->product ? row->product->name : NULL);
    fab_table_add_integer (table, (gint64) row->count);
    add_price (table, row->usd_each);
    add_price (table, row->low_usd_each);
    add_price (table, row->high_usd_each);
    add_price (table, row->usd_each * (double) row->count);
    add_price (table, row->watts_each);
    fab_table_add_text (table, row->is_included ? "yes" : "no");
    fab_table_add_text (table, fab_bill_row_is_network (row) ? "yes" : "no");
    fab_table_add_text (table, row->product ? row->product->source : NULL);
    fab_table_add_text (table, row->product ? row->product->date : NULL);
  }
  return table;
}
