/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/solve/sharing.h"

#include <string.h>

#include "sim/solve/sharing_private.h"

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
  self->capacities = g_new0 (double, n_links + 1);
  self->lists = g_new0 (FabSharingList, n_links + 1);
  self->levels = g_new0 (double, n_links + 1);
  self->stamps = g_new0 (guint64, n_links + 1);
  self->locals = g_new0 (guint, n_links + 1);
  self->keys = g_new0 (double, n_links + 1);
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

void
fab_sharing_set_capacity (FabSharing *self, guint link, double capacity)
{
  g_assert (link < self->n_links && capacity >= 0);
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
    fab_sharing_find_lowest (self, sharer);
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

void
fab_sharing_find_lowest (FabSharing *self, FabSharer *sharer)
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
    fab_sharing_solve_component (self);
  else
    fab_sharing_solve_levels (self);
  for (guint i = 0; i < self->arrivals->len; i++)
    ((FabSharer *) g_ptr_array_index (self->arrivals, i))->arrival = 0;
  g_ptr_array_set_size (self->arrivals, 0);
}
