/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/decision/difference.h"

#include "sim/base/order.h"
#include "sim/base/stats.h"

static void
count (FabDifference *self, double base, double change, gboolean is_relative)
{
  double part = is_relative ? change : base > 0 ? change / base : change;

  self->n++;
  self->n_less += part < -FAB_DIFFERENCE_LEAST;
  self->n_more += part > FAB_DIFFERENCE_LEAST;
}

FabDifference
fab_difference_of (const double *base, guint n_base, const double *other, guint n_other, gboolean is_relative)
{
  g_autoptr (GArray) values = g_array_new (FALSE, FALSE, sizeof (double));
  FabDifference self = { 0 };

  for (guint i = 0; i < MAX (n_base, n_other); i++) {
    double before = base[MIN (i, n_base - 1)], change = other[MIN (i, n_other - 1)] - before;

    if (is_relative)
      change = before > 0 ? change / before : 0;
    count (&self, before, change, is_relative);
    g_array_append_val (values, change);
  }
  self.n_equal = self.n - self.n_less - self.n_more;
  g_array_sort (values, fab_order_doubles);
  self.median = fab_median ((const double *) (gpointer) values->data, values->len);
  self.low = g_array_index (values, double, 0);
  self.high = g_array_index (values, double, values->len - 1);
  self.counts = (self.n_less == 0 && 2 * self.n_more >= self.n)
             || (self.n_more == 0 && 2 * self.n_less >= self.n);
  return self;
}

static void
append (GString *out, guint n, guint all, const char *how)
{
  if (n == 0)
    return;
  if (out->len == 0)
    g_string_append_printf (out, "%s with %u of %u seeds", how, n, all);
  else
    g_string_append_printf (out, ", %s with %u", how, n);
}

char *
fab_difference_counts (const FabDifference *self, const char *less, const char *more)
{
  GString *out = g_string_new (NULL);
  gboolean is_more_first = self->n_more > self->n_less;

  if (self->n_less == self->n || self->n_more == self->n) {
    g_string_append_printf (out, "%s with each of %u seeds", self->n_less > 0 ? less : more, self->n);
    return g_string_free (out, FALSE);
  }
  append (out, is_more_first ? self->n_more : self->n_less, self->n, is_more_first ? more : less);
  append (out, is_more_first ? self->n_less : self->n_more, self->n, is_more_first ? less : more);
  append (out, self->n_equal, self->n, "equal");
  return g_string_free (out, FALSE);
}
