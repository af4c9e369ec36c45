/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/study/usual.h"

#include <math.h>
#include <string.h>

#include "sim/base/error.h"

static const double least_part = 0.25, most_part = 8, step_factor = 1.05, rate_factor = 1.02;

static FabAxis *
axis_new (const char *key)
{
  FabAxis *self = g_new0 (FabAxis, 1);

  self->key = g_strdup (key);
  self->values = g_ptr_array_new_with_free_func (g_free);
  return self;
}

/* Values have three digits, as a person would write them; sizes and watts are whole numbers (6.23MiB is not a whole
 * number of bytes); equal values appear once. */
static void
add_number (FabAxis *self, double number, const char *unit)
{
  char digits[G_ASCII_DTOSTR_BUF_SIZE];
  gboolean is_whole = g_str_has_suffix (unit, "B") || strcmp (unit, "W") == 0;
  double scale = is_whole ? 1 : pow (10, floor (log10 (number)) - 2);
  g_autofree char *value = NULL;

  g_ascii_formatd (digits, sizeof digits, "%.12g", MAX (round (number / scale), 1) * scale);
  value = g_strconcat (digits, unit, NULL);
  if (self->values->len > 0 && strcmp (g_ptr_array_index (self->values, self->values->len - 1), value) == 0)
    return;
  g_ptr_array_add (self->values, g_steal_pointer (&value));
}

static void
add_range (FabAxis *self, double from, double to, double factor, const char *unit)
{
  for (double number = from; number < to; number *= factor)
    add_number (self, number, unit);
  add_number (self, to, unit);
}

/* Considers the NIC ports that are products. */
static FabAxis *
rates_of_ports (const FabStudy *study, const char *key)
{
  g_autofree const char **names = fab_catalog_names (study->catalog, FAB_SECTION_PRODUCTS);
  FabAxis *self = axis_new (key);
  double least = G_MAXDOUBLE, most = 0;

  for (guint i = 0; names[i] != NULL; i++) {
    const FabProductSpec *product = fab_catalog_product (study->catalog, names[i]);

    if (product->kind != FAB_PRODUCT_NIC)
      continue;
    double rate = (double) fab_link_spec_line_rate (fab_catalog_link (study->catalog, product->link)) * 8
                / 1e9;
    least = MIN (least, rate);
    most = MAX (most, rate);
  }
  add_range (self, MIN (least, most) * least_part, most, rate_factor, "Gb/s");
  return self;
}

/* --- the value that the scenario has --- */

/* As a person would write it; NULL when there is no such key, or no value in it. */
static char *
value_of (const FabScenario *scenario, const char *key)
{
  g_autoptr (FabValue) value = NULL;

  if (!fab_scenario_get (scenario, key, &value, NULL) || value == NULL || value->values != NULL)
    return NULL;
  if (value->kind == FAB_VALUE_WHOLE)
    return fab_units_write_whole (value->unit, value->whole);
  return value->kind == FAB_VALUE_TEXT ? g_strdup (value->text) : fab_value_write (value);
}

static FabAxis *
around (const char *key, double number, const char *unit)
{
  FabAxis *self = axis_new (key);
  gboolean is_whole = *unit == '\0' && number >= 1 && number == floor (number);
  double from = number * least_part, to = number * most_part;

  if (g_str_has_suffix (key, "oversubscription"))
    for (double value = 8; value >= 1; value -= 0.25)
      add_number (self, value, "");
  else if (is_whole)
    add_range (self, MAX (1, floor (from)), to, 2, "");
  else if (*unit == '\0' && number <= 1) /* a fraction */
    add_range (self, from, 1, step_factor, "");
  else
    add_range (self, from, to, step_factor, unit);
  return self;
}

FabAxis *
fab_axis_usual (const FabStudy *study, const char *key, GError **error)
{
  g_autoptr (FabScenario) scenario = fab_study_scenario (study, NULL, error);
  const char *unit;
  double number;

  if (scenario == NULL)
    return NULL;
  if (strcmp (key, "cluster.nic_rate") == 0)
    return rates_of_ports (study, key);
  g_autofree char *value = value_of (scenario, key);
  if (value != NULL && fab_axis_split_number (value, &number, &unit) && number > 0)
    return around (key, number, unit);
  fab_throw (error, FAB_ERROR_INPUT,
             "--vary %s: the scenario has no number above 0 there%s%s; give the values: %s=A..B:x2 or "
             "%s=A,B,C",
             key, value ? " but " : "", value ? value : "", key, key);
  return NULL;
}
