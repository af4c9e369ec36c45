/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/execution/overlap.h"

void
fab_interval_set_init (FabIntervalSet *self)
{
  self->intervals = g_array_new (FALSE, FALSE, sizeof (FabInterval));
}

void
fab_interval_set_clear (FabIntervalSet *self)
{
  g_clear_pointer (&self->intervals, g_array_unref);
}

void
fab_interval_set_empty (FabIntervalSet *self)
{
  g_array_set_size (self->intervals, 0);
}

static FabInterval *
at (const FabIntervalSet *self, guint index)
{
  return &g_array_index (self->intervals, FabInterval, index);
}

/* Returns the first interval that ends at or after `time_ps`, searching from the back because intervals mostly
 * come in order. */
static guint
first_reaching (const FabIntervalSet *self, FabTimePs time_ps)
{
  guint low = 0, high = self->intervals->len;

  if (high == 0 || at (self, high - 1)->end_ps < time_ps)
    return high;
  while (low < high) {
    guint middle = (low + high) / 2;

    if (at (self, middle)->end_ps < time_ps)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

void
fab_interval_set_add (FabIntervalSet *self, FabTimePs start_ps, FabTimePs end_ps)
{
  FabInterval added = { start_ps, end_ps };
  guint first = first_reaching (self, start_ps);
  guint last = first;

  if (end_ps <= start_ps)
    return;
  while (last < self->intervals->len && at (self, last)->start_ps <= end_ps) {
    added.start_ps = MIN (added.start_ps, at (self, last)->start_ps);
    added.end_ps = MAX (added.end_ps, at (self, last)->end_ps);
    last++;
  }
  if (last == first) {
    g_array_insert_val (self->intervals, first, added);
    return;
  }
  *at (self, first) = added;
  g_array_remove_range (self->intervals, first + 1, last - first - 1);
}

FabTimePs
fab_interval_set_length_ps (const FabIntervalSet *self)
{
  FabTimePs total_ps = 0;

  for (guint i = 0; i < self->intervals->len; i++)
    total_ps += at (self, i)->end_ps - at (self, i)->start_ps;
  return total_ps;
}

FabTimePs
fab_interval_set_within_ps (const FabIntervalSet *self, FabTimePs start_ps, FabTimePs end_ps)
{
  FabTimePs total_ps = 0;

  for (guint i = first_reaching (self, start_ps); i < self->intervals->len; i++) {
    if (at (self, i)->start_ps >= end_ps)
      break;
    total_ps += MAX (0, MIN (at (self, i)->end_ps, end_ps) - MAX (at (self, i)->start_ps, start_ps));
  }
  return total_ps;
}

FabTimePs
fab_interval_set_overlap_ps (const FabIntervalSet *a, const FabIntervalSet *b)
{
  FabTimePs total_ps = 0;
  guint i = 0, j = 0;

  while (i < a->intervals->len && j < b->intervals->len) {
    const FabInterval *x = at (a, i), *y = at (b, j);

    total_ps += MAX (0, MIN (x->end_ps, y->end_ps) - MAX (x->start_ps, y->start_ps));
    if (x->end_ps < y->end_ps)
      i++;
    else
      j++;
  }
  return total_ps;
}
