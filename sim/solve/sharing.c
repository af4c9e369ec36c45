/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/solve/sharing.h"

#include "sim/solve/sharing_private.h"

/* A path is shorter. */
enum { MOST_NARROW = 64 };

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
  self->heads = g_new0 (FabSharerMember *, n_links + 1);
  self->levels = g_new0 (double, n_links + 1);
  self->stamps = g_new0 (guint64, n_links + 1);
  self->locals = g_new0 (guint, n_links + 1);
  self->keys = g_new0 (double, n_links + 1);
  new_arrays (self);
  fab_blocks_init (&self->members, sizeof (FabSharerMember));
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
  g_ptr_array_unref (self->arrivals);
  g_ptr_array_unref (self->solved);
  g_free (self->parts);
  g_free (self->capacities);
  g_free (self->heads);
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

static gboolean
is_wide (const FabSharer *sharer)
{
  return sharer->n > MOST_NARROW;
}

static void
join (FabSharing *self, FabSharer *sharer)
{
  g_assert (sharer->members == NULL && sharer->n > 0);
  sharer->members = fab_blocks_take (&self->members, sharer->n);
  for (guint i = 0; i < sharer->n; i++) {
    FabSharerMember **head = &self->heads[sharer->links[i]];
    double demand = sharer->weights[i] * sharer->weight_factor * sharer->share;

    sharer->members[i] = (FabSharerMember){ sharer, *head, NULL, demand };
    if (*head)
      (*head)->prev = &sharer->members[i];
    else
      self->levels[sharer->links[i]] = FAB_NO_LEVEL;
    *head = &sharer->members[i];
  }
  self->n_wide += is_wide (sharer);
}

static void
leave (FabSharing *self, FabSharer *sharer)
{
  for (guint i = 0; i < sharer->n; i++) {
    FabSharerMember *member = &sharer->members[i];

    if (member->prev)
      member->prev->next = member->next;
    else
      self->heads[sharer->links[i]] = member->next;
    if (member->next)
      member->next->prev = member->prev;
  }
  fab_blocks_give (&self->members, g_steal_pointer (&sharer->members), sharer->n);
  self->n_wide -= is_wide (sharer);
}

void
fab_sharing_add (FabSharing *self, FabSharer *sharer)
{
  join (self, sharer);
  fab_sharing_find_lowest (self, sharer);
  g_array_append_vals (self->changed_links, sharer->links, sharer->n);
  g_ptr_array_add (self->arrivals, sharer);
  sharer->arrival = self->arrivals->len;
}

void
fab_sharing_enter (FabSharing *self, FabSharer *sharer)
{
  if (is_wide (sharer))
    join (self, sharer);
  else
    fab_sharing_add (self, sharer);
}

void
fab_sharing_remove (FabSharing *self, FabSharer *sharer)
{
  leave (self, sharer);
  g_array_append_vals (self->changed_links, sharer->links, sharer->n);
  if (sharer->arrival > 0) {
    FabSharer *last = g_ptr_array_index (self->arrivals, self->arrivals->len - 1);

    last->arrival = sharer->arrival;
    g_ptr_array_remove_index_fast (self->arrivals, sharer->arrival - 1);
    sharer->arrival = 0;
  }
}

/* --- rates --- */

void
fab_sharing_find_lowest (const FabSharing *self, FabSharer *sharer)
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
