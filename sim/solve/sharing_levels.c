/* SPDX-License-Identifier: Apache-2.0 */
/* sharing_levels.c - corrects the levels of links after a change, in the order of the levels.
 *
 * Link l is full at the level that solves
 *
 *   sum over its flows of  demand x min (level of l, lowest level of the flow's other links and limit) = capacity
 *
 * This depends only on lower levels. So levels that solve it for every link are the max-min levels, and no other
 * levels are. After a change, the links for which it does not hold are examined in ascending order of the lower of two
 * levels: the one that they have and the one that they should have.
 *
 * - A link whose level should be lower takes that level, which is final, because everything on which it depends is
 * final.
 * - A link whose level should be higher takes that level, which may change once more when lower levels are settled.
 * Until then it holds back no flow, and it is examined again when the solve reaches its new level.
 *
 * Then the other links of the flows whose level changed are examined. So each link whose level changes is settled at
 * most three times, and nothing else is touched. This is the incremental search for fixed points of G. Ramalingam and
 * T. Reps (J. Algorithms 21(2), 1996), with links for vertices.
 */
#include <math.h>

#include "sim/solve/sharing_private.h"

/* --- stops --- */

static gboolean
is_before (FabSharingStop a, FabSharingStop b)
{
  return a.level < b.level || (a.level <= b.level && a.link < b.link);
}

static void
add_stop (FabSharing *self, guint link, double level)
{
  FabSharingStop stop = { MAX (level, G_MINDOUBLE), link };
  FabSharingStop *stops;
  guint hole = self->stops->len;

  if (self->keys[link] > 0 && self->keys[link] <= stop.level)
    return;
  self->keys[link] = stop.level;
  g_array_append_val (self->stops, stop);
  stops = (FabSharingStop *) (gpointer) self->stops->data;
  for (; hole > 0 && is_before (stop, stops[(hole - 1) / 2]); hole = (hole - 1) / 2)
    stops[hole] = stops[(hole - 1) / 2];
  stops[hole] = stop;
}

static FabSharingStop
take_stop (FabSharing *self)
{
  FabSharingStop *stops = (FabSharingStop *) (gpointer) self->stops->data;
  guint n = self->stops->len - 1, hole = 0;
  FabSharingStop first = stops[0], last = stops[n];

  for (guint child; (child = 2 * hole + 1) < n; hole = child) {
    if (child + 1 < n && is_before (stops[child + 1], stops[child]))
      child++;
    if (!is_before (stops[child], last))
      break;
    stops[hole] = stops[child];
  }
  stops[hole] = last;
  g_array_set_size (self->stops, n);
  return first;
}

/* --- levels --- */

/* Returns the level that the link should have. Flows that stop below it leave capacity to the others, which raises
 * it. */
static double
find_level (FabSharing *self, guint link)
{
  const FabSharingMember *members = self->lists[link].members;
  guint n = self->lists[link].n, n_below = G_MAXUINT, n_before;
  double level = self->floor; /* flows that stop below the floor stop below this level too */

  if (n == 0)
    return FAB_NO_LEVEL;
  do {
    double left = self->capacities[link], demand = 0;

    n_before = n_below;
    n_below = 0;
    for (guint i = 0; i < n; i++) {
      if (members[i].stop < level) {
        left -= members[i].demand * members[i].stop;
        n_below++;
      } else {
        demand += members[i].demand;
      }
    }
    if (n_below == n)
      return FAB_NO_LEVEL;
    level = MAX (level, left / demand);
  } while (n_below != n_before);
  return level;
}

static gboolean
is_same (double a, double b)
{
  return a <= b && a >= b;
}

/* Sums in another order differ in their last digits. */
static gboolean
is_right (double level, double wanted)
{
  return fabs (level - wanted) <= 1e-14 * wanted;
}

static void
look_at (FabSharing *self, guint link)
{
  if (self->stamps[link] == self->stamp)
    return;

  double wanted = find_level (self, link);
  if (!is_right (self->levels[link], wanted))
    add_stop (self, link, MIN (self->levels[link], wanted));
}

/* Tells another link that one of its flows stopped at `before` and now stops at `after`, as far as other links decide.
 * A link with a level below both is not affected. */
static void
tell_link (FabSharing *self, guint link, double before, double after)
{
  double level = self->levels[link];

  if (self->stamps[link] == self->stamp)
    return;
  if (after < before) {
    if (after < level && level < FAB_NO_LEVEL)
      add_stop (self, link, level);
  } else if (after > before && before < level) {
    g_array_append_val (self->risen, link);
  }
}

static void
tell_flow (FabSharing *self, FabSharer *sharer, guint link)
{
  FabSharer old = *sharer;

  fab_sharing_find_lowest (self, sharer);
  if (is_same (old.lowest, sharer->lowest) && is_same (old.second, sharer->second)
      && old.lowest_link == sharer->lowest_link)
    return;
  if (sharer->stamp != self->stamp) {
    sharer->stamp = self->stamp;
    g_ptr_array_add (self->solved, sharer);
  }
  for (guint i = 0; i < sharer->n; i++)
    if (sharer->links[i] != link)
      tell_link (self, sharer->links[i], fab_sharing_stop_elsewhere (&old, sharer->links[i]),
                 fab_sharing_stop_elsewhere (sharer, sharer->links[i]));
}

static void
set_level (FabSharing *self, guint link, double level)
{
  double old = self->levels[link];

  self->levels[link] = level;
  for (guint i = self->lists[link].n; i-- > 0;) {
    FabSharer *sharer = self->lists[link].members[i].sharer;

    if (old <= sharer->second || level < sharer->second)
      tell_flow (self, sharer, link);
  }
  for (guint i = 0; i < self->risen->len; i++)
    look_at (self, g_array_index (self->risen, guint, i));
  g_array_set_size (self->risen, 0);
}

/* Raises the level to what it should be for now, which is usually final. On a second raise the link holds back no flow
 * for the time being. */
static void
raise_level (FabSharing *self, guint link, double wanted)
{
  gboolean is_second = self->locals[link] == (guint) self->stamp;

  self->locals[link] = (guint) self->stamp;
  set_level (self, link, is_second ? FAB_NO_LEVEL : wanted);
  if (is_second)
    look_at (self, link);
}

/* The level that it should have may have risen since the stop was set. */
static void
settle (FabSharing *self, FabSharingStop stop)
{
  double wanted, level = self->levels[stop.link];

  if (self->keys[stop.link] > stop.level || self->keys[stop.link] < stop.level)
    return;
  self->keys[stop.link] = 0;
  if (self->stamps[stop.link] == self->stamp)
    return;
  wanted = find_level (self, stop.link);
  if (is_right (level, wanted))
    return;
  if (MIN (level, wanted) > stop.level * (1 + 1e-14)) {
    add_stop (self, stop.link, MIN (level, wanted));
  } else if (wanted < level) {
    self->stamps[stop.link] = self->stamp;
    set_level (self, stop.link, wanted);
  } else {
    raise_level (self, stop.link, wanted);
  }
}

/* --- all --- */

static void
tell_owner (FabSharing *self, FabSharer *sharer)
{
  gboolean is_limited = sharer->lowest_link == FAB_MAXMIN_LIMIT;

  g_assert (sharer->lowest < FAB_NO_LEVEL);
  self->changed (self->owner, sharer, is_limited ? sharer->limit : sharer->lowest * sharer->share);
}

void
fab_sharing_solve_levels (FabSharing *self)
{
  self->stamp++;
  g_ptr_array_set_size (self->solved, 0);
  for (guint i = self->arrivals->len; i-- > 0;) {
    FabSharer *sharer = g_ptr_array_index (self->arrivals, i);

    sharer->stamp = self->stamp;
    g_ptr_array_add (self->solved, sharer);
  }
  for (guint i = 0; i < self->changed_links->len; i++)
    if (self->keys[g_array_index (self->changed_links, guint, i)] <= 0)
      look_at (self, g_array_index (self->changed_links, guint, i));
  g_array_set_size (self->changed_links, 0);
  while (self->stops->len > 0) {
    FabSharingStop stop = take_stop (self);

    self->floor = stop.level > G_MINDOUBLE ? stop.level * (1 - 1e-14) : 0;
    settle (self, stop);
  }
  self->floor = 0;
  for (guint i = 0; i < self->solved->len; i++)
    tell_owner (self, g_ptr_array_index (self->solved, i));
}
