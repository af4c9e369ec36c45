/* SPDX-License-Identifier: Apache-2.0 */
#include "answer/variants/contrast.h"

#include <math.h>
#include <string.h>

static void
row_clear (gpointer row)
{
  g_free (((FabContrastRow *) row)->times_s);
  g_free (((FabContrastRow *) row)->counts);
}

static char *
key_of (const FabFact *fact)
{
  return g_strdup_printf ("%d %s", (int) fact->kind, fact->name);
}

static void
add_variant (FabContrast *self, guint index, GHashTable *known)
{
  const FabVariant *variant = fab_contrast_variant (self, index);
  guint n_variants = self->variants->len;

  for (guint i = 0; i < variant->facts->len; i++) {
    const FabFact *fact = &g_array_index (variant->facts, FabFact, i);
    char *key = key_of (fact);
    guint place = GPOINTER_TO_UINT (g_hash_table_lookup (known, key)); /* from 1 */

    if (place == 0) {
      FabContrastRow row = { fact->kind, fact->name, fact->n, g_new (double, n_variants),
                             g_new0 (guint, n_variants) };

      for (guint k = 0; k < n_variants; k++)
        row.times_s[k] = NAN;
      g_array_append_val (self->rows, row);
      place = self->rows->len;
    }
    FabContrastRow *row = &g_array_index (self->rows, FabContrastRow, place - 1);
    row->times_s[index] = fact->time_s;
    row->counts[index] = fact->n;
    if (row->n != fact->n)
      row->n = 0;
    g_hash_table_replace (known, key, GUINT_TO_POINTER (place));
  }
}

double
fab_contrast_spread_s (const FabContrast *self, const FabContrastRow *row)
{
  double least_s = INFINITY, most_s = -INFINITY;

  for (guint k = 0; k < self->variants->len; k++) {
    double time_s = isnan (row->times_s[k]) ? 0 : row->times_s[k];

    least_s = MIN (least_s, time_s);
    most_s = MAX (most_s, time_s);
  }
  return most_s - least_s;
}

/* Differences that only rounding made are none. */
static gint
by_spread (const FabContrast *self, const FabContrastRow *a, const FabContrastRow *b)
{
  double x = fab_contrast_spread_s (self, a), y = fab_contrast_spread_s (self, b);

  if (fabs (x - y) > 1e-12 && fabs (x - y) > 1e-9 * (x + y))
    return x > y ? -1 : 1;
  return strcmp (a->name, b->name);
}

static gint
contrast_by_kind (gconstpointer a, gconstpointer b, gpointer self)
{
  const FabContrastRow *x = a, *y = b;

  if (x->kind != y->kind)
    return x->kind < y->kind ? -1 : 1;
  return x->kind == FAB_FACT_LINK || x->kind == FAB_FACT_COLLECTIVES ? by_spread (self, x, y) : 0;
}

FabContrast *
fab_contrast_new (GPtrArray *variants, guint base)
{
  FabContrast *self = g_new0 (FabContrast, 1);
  g_autoptr (GHashTable) known = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);

  g_assert (base < variants->len);
  self->variants = variants;
  self->base = base;
  self->rows = g_array_new (FALSE, FALSE, sizeof (FabContrastRow));
  g_array_set_clear_func (self->rows, row_clear);
  for (guint i = 0; i < variants->len; i++)
    add_variant (self, i, known);
  g_array_sort_with_data (self->rows, contrast_by_kind, self); /* stable */
  return self;
}

void
fab_contrast_free (FabContrast *self)
{
  if (self == NULL)
    return;
  g_array_unref (self->rows);
  g_ptr_array_unref (self->variants);
  g_free (self);
}
