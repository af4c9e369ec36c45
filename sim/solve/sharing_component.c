/* SPDX-License-Identifier: Apache-2.0 */
/* sharing_component.c - solves all flows that a change can reach through links, by progressive filling. */
#include "sim/solve/sharing_private.h"

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
      fab_sharing_find_lowest (self, g_ptr_array_index (self->solved, f));
}

void
fab_sharing_solve_component (FabSharing *self)
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
