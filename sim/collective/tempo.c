/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/collective/tempo.h"

#include <math.h>

void
fab_tempo_init (FabTempo *self, guint n_items, guint window)
{
  *self = (FabTempo){ .n_items = n_items, .window = window, .strokes = g_new0 (FabStroke, n_items) };
}

void
fab_tempo_clear (FabTempo *self)
{
  g_clear_pointer (&self->strokes, g_free);
  self->n_items = 0;
}

static void
mark_all (FabTempo *self)
{
  for (guint i = 0; i < self->n_items; i++) {
    FabStroke *stroke = &self->strokes[i];

    stroke->old_mark_ps = stroke->mark_ps;
    stroke->n_at_old_mark = stroke->n_at_mark;
    stroke->mark_ps = stroke->last_ps;
    stroke->n_at_mark = stroke->n;
  }
}

/* Returns the mean interval of all items over two windows. */
static double
mean_of_two (const FabTempo *self)
{
  double sum_ps = 0;

  for (guint i = 0; i < self->n_items; i++) {
    const FabStroke *stroke = &self->strokes[i];

    sum_ps += (double) (stroke->last_ps - stroke->old_mark_ps) / (stroke->n - stroke->n_at_old_mark);
  }
  return sum_ps / self->n_items;
}

void
fab_tempo_measure (FabTempo *self, gboolean is_alone)
{
  const double same = is_alone ? 1e-3 : 1e-2, alike = is_alone ? 1e-2 : 2e-2;
  double most_ps = 0, least_ps = HUGE_VAL;
  gboolean is_whole = self->strokes[0].n_at_mark > 0;

  for (guint i = 0; i < self->n_items; i++) {
    const FabStroke *stroke = &self->strokes[i];
    guint n = stroke->n - stroke->n_at_mark;
    double mean_ps = n > 0 ? (double) (stroke->last_ps - stroke->mark_ps) / n : 0;

    is_whole &= stroke->n_at_mark > 0 && n > 0;
    most_ps = MAX (most_ps, mean_ps);
    least_ps = MIN (least_ps, mean_ps);
  }
  self->is_settled = is_whole && self->slowest_ps > 0 && fabs (most_ps - self->slowest_ps) <= same * most_ps
                  && most_ps - least_ps <= alike * most_ps;
  self->slowest_ps = is_whole ? most_ps : 0;
  if (self->is_settled)
    self->interval_ps = is_alone ? most_ps : mean_of_two (self);
  mark_all (self);
}

void
fab_tempo_restart (FabTempo *self)
{
  self->slowest_ps = 0;
  self->is_settled = FALSE;
  mark_all (self);
}

void
fab_tempo_skip (FabTempo *self, guint n, FabTimePs by_ps)
{
  for (guint i = 0; i < self->n_items; i++) {
    FabStroke *stroke = &self->strokes[i];

    stroke->last_ps += by_ps;
    stroke->mark_ps += by_ps;
    stroke->old_mark_ps += by_ps;
    stroke->n += n;
    stroke->n_at_mark += n;
    stroke->n_at_old_mark += n;
  }
}
