/* SPDX-License-Identifier: Apache-2.0 */
/* sharing.c - solves all flows that a change can reach through links, by progressive filling. */
#include "sim/solve/sharing.h"

#include <math.h>
#include <string.h>

#include "sim/base/pool.h"
#include "sim/solve/maxmin.h"

#define FAB_NO_LEVEL G_MAXDOUBLE

/* A flow on a link. Everything that the link's level needs lies side by side in memory. */
typedef struct {
  double demand; /* capacity per unit of level */
  double stop;   /* the lowest level of the flow's other links and of its limit */
  FabSharer *sharer;
  guint slot; /* index of this link among the flow's links */
} FabSharingMember;

typedef struct {
  FabSharingMember *members;
  guint n, capacity;
} FabSharingList;

/* A link that must be examined when this level is reached. */
typedef struct {
  double level;
  guint link;
} FabSharingStop;

struct _FabSharing {
  FabSharingFn changed;
  gpointer owner;
  guint n_links, n_wide; /* n_wide: number of flows over many links */
  guint n_room;          /* links that the arrays have room for: those with a capacity */
  double *capacities;    /* per link, like the arrays that follow */
  FabSharingList *lists;
  double *levels;
  /* Number of the link's component, or of the solve in which its level became final. */
  guint64 *stamps;
  guint *locals;         /* its number in the component, or the solve in which its level was raised */
  double *keys;          /* level of its valid stop; 0: it has none */
  guint64 stamp;         /* number of this solve */
  double floor;          /* lower levels are final */
  GPtrArray *arrivals;   /* FabSharer that came since the last solve */
  GPtrArray *solved;     /* FabSharer of the component, or whose level changed */
  GArray *changed_links; /* links of flows that came or went since the last solve */
  GArray *stops;         /* FabSharingStop, a heap */
  GArray *risen;         /* guint: links of the flows that rise with a link */
  GArray *links;         /* global link number by local number */
  GArray *starts, *entries, *weights, *shares, *limits, *local_capacities, *rates, *bindings;
  FabMaxmin *solver;
  FabBlocks members; /* FabSharingMember of the lists */
  FabBlocks places;  /* guint of the flows */
};

/* Whether a flow crosses more links than any path has. */
static inline gboolean
fab_sharing_is_wide (const FabSharer *sharer)
{
  return sharer->n > 64;
}

/* Returns the level at which the flow stops when `link` is left out. */
static inline double
fab_sharing_stop_elsewhere (const FabSharer *sharer, guint link)
{
  return sharer->lowest_link == link ? sharer->second : sharer->lowest;
}

static void sharing_find_lowest (FabSharing *self, FabSharer *sharer);

/* Solves all flows that a change can reach through links, by progressive filling. */

static void
reach_link (FabSharing *self, guint link)
{
  if (self->stamps[link] == self->stamp)
    return;
  self->stamps[link] = self->stamp;
  self->locals[link] = self->links->len;
  g_array_append_val (self->links, link);
  for (guint i = self->lists[link].n; i-- > 0;) {
    FabSharer *sharer = self->lists[link].members[i].sharer;

    if (sharer->stamp != self->stamp) {
      sharer->stamp = self->stamp;
      g_ptr_array_add (self->solved, sharer);
    }
  }
}

/* Collects every flow that shares links, directly or through others, with the links that changed. */
static void
collect_components (FabSharing *self)
{
  self->stamp++;
  g_ptr_array_set_size (self->solved, 0);
  g_array_set_size (self->links, 0);
  for (guint i = 0; i < self->changed_links->len; i++)
    reach_link (self, g_array_index (self->changed_links, guint, i));
  g_array_set_size (self->changed_links, 0);
  for (guint f = 0; f < self->solved->len; f++) {
    const FabSharer *sharer = g_ptr_array_index (self->solved, f);

    for (guint i = 0; i < sharer->n; i++)
      reach_link (self, sharer->links[i]);
  }
}

static void
write_sharer (FabSharing *self, const FabSharer *sharer)
{
  for (guint i = 0; i < sharer->n; i++) {
    double weight = sharer->weights[i] * sharer->weight_factor;

    g_array_append_val (self->entries, self->locals[sharer->links[i]]);
    g_array_append_val (self->weights, weight);
  }
  g_array_append_val (self->starts, self->entries->len);
  g_array_append_val (self->shares, sharer->share);
  g_array_append_val (self->limits, sharer->limit);
}

static void
write_problem (FabSharing *self)
{
  guint zero = 0;
  GArray *all[] = { self->starts, self->entries, self->weights,
                    self->shares, self->limits,  self->local_capacities };

  for (guint i = 0; i < G_N_ELEMENTS (all); i++)
    g_array_set_size (all[i], 0);
  g_array_append_val (self->starts, zero);
  for (guint f = 0; f < self->solved->len; f++)
    write_sharer (self, g_ptr_array_index (self->solved, f));
  for (guint l = 0; l < self->links->len; l++)
    g_array_append_val (self->local_capacities, self->capacities[g_array_index (self->links, guint, l)]);
  g_array_set_size (self->rates, self->solved->len);
  g_array_set_size (self->bindings, self->solved->len);
}

/* Records the levels of the component's links, so that later changes can be solved level by level. */
static void
note_levels (FabSharing *self)
{
  for (guint l = 0; l < self->links->len; l++)
    self->levels[g_array_index (self->links, guint, l)] = FAB_NO_LEVEL;
  for (guint f = 0; f < self->solved->len; f++) {
    const FabSharer *sharer = g_ptr_array_index (self->solved, f);
    guint binding = g_array_index (self->bindings, guint, f);

    if (binding != FAB_MAXMIN_LIMIT)
      self->levels[g_array_index (self->links, guint, binding)] = g_array_index (self->rates, double, f)
                                                                / sharer->share;
  }
  for (guint f = 0; f < self->solved->len; f++)
    if (!fab_sharing_is_wide (g_ptr_array_index (self->solved, f)))
      sharing_find_lowest (self, g_ptr_array_index (self->solved, f));
}

static void
sharing_solve_component (FabSharing *self)
{
  collect_components (self);
  if (self->solved->len == 0)
    return;
  write_problem (self);
  FabMaxminProblem problem = {
    .n_flows = self->solved->len,
    .n_links = self->links->len,
    .capacity = (const double *) (gpointer) self->local_capacities->data,
    .starts = (const guint *) (gpointer) self->starts->data,
    .links = (const guint *) (gpointer) self->entries->data,
    .weights = (const double *) (gpointer) self->weights->data,
    .shares = (const double *) (gpointer) self->shares->data,
    .limits = (const double *) (gpointer) self->limits->data,
  };
  fab_maxmin_solve (self->solver, &problem, (double *) (gpointer) self->rates->data,
                    (guint *) (gpointer) self->bindings->data);
  note_levels (self);
  for (guint f = 0; f < self->solved->len; f++)
    self->changed (self->owner, g_ptr_array_index (self->solved, f), g_array_index (self->rates, double, f));
}

/* Corrects the levels of links after a change, in the order of the levels.
 *
 * Link l is full at the level that solves
 *
 *   sum over its flows of  demand x min (level of l, lowest level of the flow's other links and limit) = capacity
 *
 * This depends only on lower levels. So levels that solve it for every link are the max-min levels, and no other
 * levels are. After a change, the links for which it does not hold are examined in ascending order of the lower of
 * two levels: the one that they have and the one that they should have.
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

/* Tells another link that one of its flows stopped at `before` and now stops at `after`, as far as other links
 * decide.
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

  sharing_find_lowest (self, sharer);
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

/* Raises the level to what it should be for now, which is usually final. On a second raise the link holds back no
 * flow for the time being. */
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

static void
sharing_solve_levels (FabSharing *self)
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

static void
new_arrays (FabSharing *self)
{
  GArray **guints[] = { &self->changed_links, &self->risen,   &self->links,
                        &self->starts,        &self->entries, &self->bindings };
  GArray **doubles[] = { &self->weights, &self->shares, &self->limits, &self->local_capacities,
                         &self->rates };

  for (guint i = 0; i < G_N_ELEMENTS (guints); i++)
    *guints[i] = g_array_new (FALSE, FALSE, sizeof (guint));
  for (guint i = 0; i < G_N_ELEMENTS (doubles); i++)
    *doubles[i] = g_array_new (FALSE, FALSE, sizeof (double));
  self->stops = g_array_new (FALSE, FALSE, sizeof (FabSharingStop));
  self->arrivals = g_ptr_array_new ();
  self->solved = g_ptr_array_new ();
}

FabSharing *
fab_sharing_new (guint n_links, FabSharingFn changed, gpointer owner)
{
  FabSharing *self = g_new0 (FabSharing, 1);

  self->changed = changed;
  self->owner = owner;
  self->n_links = n_links;
  new_arrays (self);
  fab_blocks_init (&self->members, sizeof (FabSharingMember));
  fab_blocks_init (&self->places, sizeof (guint));
  self->solver = fab_maxmin_new ();
  return self;
}

void
fab_sharing_free (FabSharing *self)
{
  if (self == NULL)
    return;
  GArray *arrays[] = { self->changed_links, self->risen,   self->links,  self->starts, self->entries,
                       self->bindings,      self->weights, self->shares, self->limits, self->local_capacities,
                       self->rates,         self->stops };

  for (guint i = 0; i < G_N_ELEMENTS (arrays); i++)
    g_array_unref (arrays[i]);
  fab_blocks_clear (&self->members);
  fab_blocks_clear (&self->places);
  g_ptr_array_unref (self->arrivals);
  g_ptr_array_unref (self->solved);
  g_free (self->capacities);
  g_free (self->lists);
  g_free (self->levels);
  g_free (self->stamps);
  g_free (self->locals);
  g_free (self->keys);
  fab_maxmin_free (self->solver);
  g_free (self);
}

/* What is new is zero. */
static void
grow (FabSharing *self, guint n_room)
{
  guint n_new = n_room - self->n_room;

#define GROW(array)                                                     \
  self->array = g_realloc_n (self->array, n_room, sizeof *self->array); \
  memset (self->array + self->n_room, 0, n_new * sizeof *self->array)
  GROW (capacities);
  GROW (lists);
  GROW (levels);
  GROW (stamps);
  GROW (locals);
  GROW (keys);
#undef GROW
  self->n_room = n_room;
}

void
fab_sharing_set_capacity (FabSharing *self, guint link, double capacity)
{
  const guint least = 64;

  g_assert (link < self->n_links && capacity >= 0);
  if (link >= self->n_room)
    grow (self, (guint) MIN (MAX ((guint64) 2 * link, least), self->n_links));
  self->capacities[link] = capacity;
}

void
fab_sharing_change_capacity (FabSharing *self, guint link, double capacity)
{
  fab_sharing_set_capacity (self, link, capacity);
  g_array_append_val (self->changed_links, link);
}

/* --- membership --- */

static FabSharingMember *
lengthen (FabSharing *self, FabSharingList *list)
{
  FabSharingMember *old = list->members;

  if (list->n == list->capacity) {
    list->members = fab_blocks_take (&self->members, MAX (2, 2 * list->n));
    if (old) {
      memcpy (list->members, old, list->n * sizeof *old);
      fab_blocks_give (&self->members, old, list->capacity);
    }
    list->capacity = MAX (2, 2 * list->n);
  }
  return &list->members[list->n++];
}

static void
join (FabSharing *self, FabSharer *sharer)
{
  g_assert (sharer->places == NULL && sharer->n > 0);
  sharer->places = fab_blocks_take (&self->places, sharer->n);
  for (guint i = 0; i < sharer->n; i++) {
    FabSharingList *list = &self->lists[sharer->links[i]];
    double demand = sharer->weights[i] * sharer->weight_factor * sharer->share;

    if (list->n == 0)
      self->levels[sharer->links[i]] = FAB_NO_LEVEL;
    sharer->places[i] = list->n;
    *lengthen (self, list) = (FabSharingMember){ demand, 0, sharer, i };
  }
  self->n_wide += fab_sharing_is_wide (sharer);
}

void
fab_sharing_leave (FabSharing *self, FabSharer *sharer)
{
  for (guint i = 0; i < sharer->n; i++) {
    FabSharingList *list = &self->lists[sharer->links[i]];
    FabSharingMember last = list->members[--list->n];

    list->members[sharer->places[i]] = last;
    last.sharer->places[last.slot] = sharer->places[i];
  }
  fab_blocks_give (&self->places, g_steal_pointer (&sharer->places), sharer->n);
  self->n_wide -= fab_sharing_is_wide (sharer);
  if (sharer->arrival > 0) {
    FabSharer *last_come = g_ptr_array_index (self->arrivals, self->arrivals->len - 1);

    last_come->arrival = sharer->arrival;
    g_ptr_array_remove_index_fast (self->arrivals, sharer->arrival - 1);
    sharer->arrival = 0;
  }
}

void
fab_sharing_add (FabSharing *self, FabSharer *sharer)
{
  join (self, sharer);
  if (!fab_sharing_is_wide (sharer))
    sharing_find_lowest (self, sharer);
  g_array_append_vals (self->changed_links, sharer->links, sharer->n);
  g_ptr_array_add (self->arrivals, sharer);
  sharer->arrival = self->arrivals->len;
}

void
fab_sharing_enter (FabSharing *self, FabSharer *sharer)
{
  if (fab_sharing_is_wide (sharer))
    join (self, sharer);
  else
    fab_sharing_add (self, sharer);
}

void
fab_sharing_remove (FabSharing *self, FabSharer *sharer)
{
  fab_sharing_leave (self, sharer);
  g_array_append_vals (self->changed_links, sharer->links, sharer->n);
}

/* --- rates --- */

/* Computes the lowest levels of a flow from its links and its limit, and passes them to its members. */
static void
sharing_find_lowest (FabSharing *self, FabSharer *sharer)
{
  double lowest = sharer->limit > 0 ? sharer->limit / sharer->share : FAB_NO_LEVEL, second = FAB_NO_LEVEL;
  guint lowest_link = FAB_MAXMIN_LIMIT;

  for (guint i = 0; i < sharer->n; i++) {
    double level = self->levels[sharer->links[i]];

    if (level < lowest) {
      second = lowest;
      lowest = level;
      lowest_link = sharer->links[i];
    } else if (level < second) {
      second = level;
    }
  }
  sharer->lowest = lowest;
  sharer->second = second;
  sharer->lowest_link = lowest_link;
  for (guint i = 0; i < sharer->n; i++)
    self->lists[sharer->links[i]].members[sharer->places[i]].stop = fab_sharing_stop_elsewhere (
        sharer, sharer->links[i]);
}

void
fab_sharing_solve (FabSharing *self)
{
  if (self->n_wide > 0)
    sharing_solve_component (self);
  else
    sharing_solve_levels (self);
  for (guint i = 0; i < self->arrivals->len; i++)
    ((FabSharer *) g_ptr_array_index (self->arrivals, i))->arrival = 0;
  g_ptr_array_set_size (self->arrivals, 0);
}
