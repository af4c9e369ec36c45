/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/shortcut/time/steady_pace.h"

#include <math.h>
#include <string.h>

void
fab_steady_pace_init (FabSteadyPace *self, guint n_items, guint n_groups, guint window)
{
  *self = (FabSteadyPace){ .n_items = n_items, .n_groups = n_groups, .window = window };
  self->items = g_new0 (FabPaceItem, n_items);
  self->groups = g_new0 (FabPaceGroup, n_groups);
}

void
fab_steady_pace_clear (FabSteadyPace *self)
{
  g_clear_pointer (&self->items, g_free);
  g_clear_pointer (&self->groups, g_free);
  self->n_items = self->n_groups = 0;
}

void
fab_steady_pace_end (FabSteadyPace *self, guint item)
{
  self->items[item].is_over = TRUE;
  self->n_over++;
}

guint
fab_steady_pace_fewest (const FabSteadyPace *self)
{
  guint fewest = G_MAXUINT;

  for (guint i = 0; i < self->n_items; i++)
    if (!self->items[i].is_over)
      fewest = MIN (fewest, self->items[i].n - self->items[i].n_at_mark);
  return fewest;
}

static void
mark_all (FabSteadyPace *self)
{
  self->n_noted = 0;
  for (guint i = 0; i < self->n_items; i++) {
    FabPaceItem *one = &self->items[i];

    one->old_mark_ps = one->mark_ps;
    one->n_at_old_mark = one->n_at_mark;
    one->mark_ps = one->last_ps;
    one->n_at_mark = one->n;
  }
}

/* How far windows of one group may differ, the paces of its slowest items, and items of one window; by how much the
 * items of a window may be slower in the mean than the pace of the slowest ones, because of delays that go round. */
typedef struct {
  double same, same_pace, alike, delays;
} Tolerance;

/* What a window says of a group. */
typedef struct {
  double most_ps, least_ps; /* mean intervals of its slowest and its fastest item */
  double sum_ps;            /* of the mean intervals over two windows */
  double sum_now_ps;        /* of the mean intervals over this one */
  guint n;                  /* items */
  gboolean is_broken;       /* an item has no interval */
  double steady_ps;         /* the longest steady interval */
} Window;

static const Window no_window = { .least_ps = HUGE_VAL };

/* Returns the mean interval of an item in the window; 0: it has none. */
static double
find_mean (const FabPaceItem *one)
{
  guint n = one->n - one->n_at_mark;

  return one->n_at_mark > 0 && n > 0 ? (double) (one->last_ps - one->mark_ps) / n : 0;
}

/* Returns the steady interval of an item; 0: it has none yet. */
static double
find_steady (const FabPaceItem *one)
{
  double least_ps = HUGE_VAL;

  for (guint i = 0; i < FAB_PACE_WINDOWS; i++)
    least_ps = MIN (least_ps, one->recent_ps[i]);
  return least_ps;
}

static void
window_add (Window *window, const FabPaceItem *one, double mean_ps)
{
  window->n++;
  window->is_broken |= mean_ps <= 0;
  window->most_ps = MAX (window->most_ps, mean_ps);
  window->least_ps = MIN (window->least_ps, mean_ps);
  window->sum_now_ps += mean_ps;
  window->steady_ps = MAX (window->steady_ps, find_steady (one));
  if (one->n_at_old_mark > 0)
    window->sum_ps += (double) (one->last_ps - one->old_mark_ps) / (one->n - one->n_at_old_mark);
}

/* Whether the slowest items go at a pace that does not change, and no delays go round that make others slower than
 * these. */
static gboolean
is_steady (const FabPaceGroup *before, const FabPaceGroup *now, const Window *window,
           const Tolerance *tolerance)
{
  double mean_ps = window->sum_now_ps / window->n;

  return now->n_windows > FAB_PACE_WINDOWS
      && fabs (now->steady_ps - before->steady_ps) <= tolerance->same_pace * now->steady_ps
      && mean_ps <= (1 + tolerance->delays) * now->steady_ps;
}

/* Returns whether the group has settled; one that is over has. `is_circle`: the slowest items hold up all others. */
static gboolean
measure_group (FabPaceGroup *group, const Window *window, const Tolerance *tolerance, gboolean is_alone,
               gboolean is_circle)
{
  FabPaceGroup before = *group;

  *group = (FabPaceGroup){ .n_items = window->n };
  if (window->n == 0)
    return TRUE;
  if (window->is_broken)
    return FALSE;
  group->slowest_ps = window->most_ps;
  group->steady_ps = window->steady_ps;
  group->n_windows = before.n_windows + 1;
  if (before.n_windows == 0)
    return FALSE;
  group->interval_ps = is_alone ? window->most_ps : window->sum_ps / window->n;
  if (fabs (window->most_ps - before.slowest_ps) <= tolerance->same * window->most_ps
      && window->most_ps - window->least_ps <= tolerance->alike * window->most_ps)
    return TRUE;
  group->interval_ps = (window->steady_ps + before.steady_ps) / 2;
  group->is_of_slowest = TRUE;
  return is_circle && is_steady (&before, group, window, tolerance);
}

void
fab_steady_pace_measure (FabSteadyPace *self, gboolean is_alone)
{
  const Tolerance near = { .same = 1e-2, .same_pace = 5e-3, .alike = 2e-2, .delays = 2e-2 };
  const Tolerance close = { .same = 1e-3, .same_pace = 1e-3, .alike = 1e-2, .delays = 5e-3 };
  const Tolerance *tolerance = is_alone ? &close : &near;
  g_autofree Window *windows = g_new (Window, self->n_groups);
  Window all = no_window;

  for (guint g = 0; g < self->n_groups; g++)
    windows[g] = no_window;
  for (guint i = 0; i < self->n_items; i++) {
    FabPaceItem *one = &self->items[i];
    double mean_ps = find_mean (one);

    if (one->is_over)
      continue;
    one->recent_ps[self->n_windows % FAB_PACE_WINDOWS] = mean_ps;
    window_add (&all, one, mean_ps);
    window_add (&windows[one->group], one, mean_ps);
  }
  self->n_windows++;
  self->is_one = measure_group (&self->all, &all, tolerance, is_alone, self->n_groups == 1);
  self->is_settled = TRUE;
  for (guint g = 0; g < self->n_groups; g++)
    if (!measure_group (&self->groups[g], &windows[g], tolerance, is_alone, TRUE))
      self->is_settled = FALSE;
  mark_all (self);
}

void
fab_steady_pace_restart (FabSteadyPace *self)
{
  for (guint g = 0; g < self->n_groups; g++)
    self->groups[g] = (FabPaceGroup){ 0 };
  self->all = (FabPaceGroup){ 0 };
  for (guint i = 0; i < self->n_items; i++)
    memset (self->items[i].recent_ps, 0, sizeof self->items[i].recent_ps);
  self->is_one = self->is_settled = FALSE;
  mark_all (self);
}

void
fab_steady_pace_skip (FabSteadyPace *self, guint item, guint n, FabTimePs by_ps)
{
  FabPaceItem *one = &self->items[item];

  one->last_ps += by_ps;
  one->mark_ps += by_ps;
  one->old_mark_ps += by_ps;
  one->n += n;
  one->n_at_mark += n;
  one->n_at_old_mark += n;
}
