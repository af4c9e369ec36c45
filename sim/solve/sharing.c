/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/solve/sharing.h"

#include "sim/base/pool.h"
#include "sim/solve/maxmin.h"

/* A flow on a link, in the link's list. */
struct _FabSharerMember {
  FabSharer *sharer;
  FabSharerMember *next, *prev;
};

struct _FabSharing {
  FabSharingFn changed;
  gpointer owner;
  guint n_links;
  double *capacities; /* per link, as the three below */
  FabSharerMember **heads;
  guint64 *stamps;
  guint *locals;         /* number in the component */
  guint64 stamp;         /* of the component being collected */
  GPtrArray *component;  /* FabSharer */
  GArray *changed_links; /* of flows that came or went since the last solve */
  GArray *links;         /* global link by local number */
  GArray *starts, *entries, *weights, *shares, *limits, *local_capacities, *rates;
  FabMaxmin *solver;
  FabBlocks members; /* FabSharerMember */
};

FabSharing *
fab_sharing_new (guint n_links, FabSharingFn changed, gpointer owner)
{
  FabSharing *self = g_new0 (FabSharing, 1);
  GArray **guints[] = { &self->changed_links, &self->links, &self->starts, &self->entries };
  GArray **doubles[] = { &self->weights, &self->shares, &self->limits, &self->local_capacities,
                         &self->rates };

  self->changed = changed;
  self->owner = owner;
  self->n_links = n_links;
  self->capacities = g_new0 (double, n_links + 1);
  self->heads = g_new0 (FabSharerMember *, n_links + 1);
  self->stamps = g_new0 (guint64, n_links + 1);
  self->locals = g_new0 (guint, n_links + 1);
  self->component = g_ptr_array_new ();
  for (guint i = 0; i < G_N_ELEMENTS (guints); i++)
    *guints[i] = g_array_new (FALSE, FALSE, sizeof (guint));
  for (guint i = 0; i < G_N_ELEMENTS (doubles); i++)
    *doubles[i] = g_array_new (FALSE, FALSE, sizeof (double));
  fab_blocks_init (&self->members, sizeof (FabSharerMember));
  self->solver = fab_maxmin_new ();
  return self;
}

void
fab_sharing_free (FabSharing *self)
{
  if (self == NULL)
    return;
  GArray *arrays[] = { self->changed_links, self->links,  self->starts, self->entries,
                       self->weights,       self->shares, self->limits, self->local_capacities,
                       self->rates };

  for (guint i = 0; i < G_N_ELEMENTS (arrays); i++)
    g_array_unref (arrays[i]);
  fab_blocks_clear (&self->members);
  g_ptr_array_unref (self->component);
  g_free (self->capacities);
  g_free (self->heads);
  g_free (self->stamps);
  g_free (self->locals);
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

void
fab_sharing_enter (FabSharing *self, FabSharer *sharer)
{
  g_assert (sharer->members == NULL && sharer->n > 0);
  sharer->members = fab_blocks_take (&self->members, sharer->n);
  for (guint i = 0; i < sharer->n; i++) {
    FabSharerMember **head = &self->heads[sharer->links[i]];

    sharer->members[i] = (FabSharerMember){ sharer, *head, NULL };
    if (*head)
      (*head)->prev = &sharer->members[i];
    *head = &sharer->members[i];
  }
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
}

/* --- rates --- */

static void
reach_link (FabSharing *self, guint link)
{
  if (self->stamps[link] == self->stamp)
    return;
  self->stamps[link] = self->stamp;
  self->locals[link] = self->links->len;
  g_array_append_val (self->links, link);
  for (FabSharerMember *member = self->heads[link]; member; member = member->next)
    if (member->sharer->stamp != self->stamp) {
      member->sharer->stamp = self->stamp;
      g_ptr_array_add (self->component, member->sharer);
    }
}

/* Every flow that shares links, directly or through others, with the links that changed. */
static void
collect_components (FabSharing *self)
{
  self->stamp++;
  g_ptr_array_set_size (self->component, 0);
  g_array_set_size (self->links, 0);
  for (guint i = 0; i < self->changed_links->len; i++)
    reach_link (self, g_array_index (self->changed_links, guint, i));
  g_array_set_size (self->changed_links, 0);
  for (guint f = 0; f < self->component->len; f++) {
    const FabSharer *sharer = g_ptr_array_index (self->component, f);

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
  for (guint f = 0; f < self->component->len; f++)
    write_sharer (self, g_ptr_array_index (self->component, f));
  for (guint l = 0; l < self->links->len; l++)
    g_array_append_val (self->local_capacities, self->capacities[g_array_index (self->links, guint, l)]);
  g_array_set_size (self->rates, self->component->len);
}

void
fab_sharing_solve (FabSharing *self)
{
  collect_components (self);
  if (self->component->len == 0)
    return;
  write_problem (self);
  FabMaxminProblem problem = {
    .n_flows = self->component->len,
    .n_links = self->links->len,
    .capacity = (const double *) (gpointer) self->local_capacities->data,
    .starts = (const guint *) (gpointer) self->starts->data,
    .links = (const guint *) (gpointer) self->entries->data,
    .weights = (const double *) (gpointer) self->weights->data,
    .shares = (const double *) (gpointer) self->shares->data,
    .limits = (const double *) (gpointer) self->limits->data,
  };
  fab_maxmin_solve (self->solver, &problem, (double *) (gpointer) self->rates->data, NULL);
  for (guint f = 0; f < self->component->len; f++)
    self->changed (self->owner, g_ptr_array_index (self->component, f),
                   g_array_index (self->rates, double, f));
}

void
fab_sharing_add (FabSharing *self, FabSharer *sharer)
{
  fab_sharing_enter (self, sharer);
  g_array_append_vals (self->changed_links, sharer->links, sharer->n);
}

void
fab_sharing_remove (FabSharing *self, FabSharer *sharer)
{
  leave (self, sharer);
  g_array_append_vals (self->changed_links, sharer->links, sharer->n);
}
