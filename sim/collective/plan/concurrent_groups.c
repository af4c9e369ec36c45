/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/collective/plan/concurrent_groups.h"

#include <string.h>

/* The footprint of all groups, for what the leading one does. */
typedef struct {
  const FabLibrary *library;
  const FabFootprint *lead; /* of the plan of the leading group alone */
  FabOp op;
  gboolean is_send; /* from one of each pair to the other */
  FabFootprint *all;
} Merged;

struct _FabConcurrentGroups {
  const FabCluster *cluster;
  guint n_groups, n_ranks;
  guint lead;        /* the group that is planned: the first of those in the most nodes */
  guint *ranks;      /* [n_groups * n_ranks] */
  FabCluster *views; /* [n_groups]: the cluster as if there were no others than the group's nodes and GPUs */
  GArray *merged;    /* Merged */
};

static void
merged_clear (gpointer data)
{
  fab_footprint_free (((Merged *) data)->all);
}

void
fab_concurrent_groups_free (FabConcurrentGroups *self)
{
  if (self == NULL)
    return;
  for (guint i = 0; i < self->n_groups; i++)
    fab_cluster_clear (&self->views[i]);
  g_free (self->views);
  g_free (self->ranks);
  g_array_unref (self->merged);
  g_free (self);
}

FabConcurrentGroups *
fab_concurrent_groups_new (const FabCluster *cluster, const guint *ranks, guint n_groups, guint n_ranks)
{
  FabConcurrentGroups *self = g_new0 (FabConcurrentGroups, 1);

  g_assert (n_groups > 0 && n_ranks > 0);
  self->cluster = cluster;
  self->n_ranks = n_ranks;
  self->ranks = g_memdup2 (ranks, sizeof (guint) * n_groups * n_ranks);
  self->views = g_new0 (FabCluster, n_groups);
  self->merged = g_array_new (FALSE, FALSE, sizeof (Merged));
  g_array_set_clear_func (self->merged, merged_clear);
  self->n_groups = n_groups;
  for (guint i = 0; i < n_groups; i++) {
    fab_cluster_view_ranks (&self->views[i], cluster, ranks + (gsize) i * n_ranks, n_ranks);
    if (self->views[i].n_nodes > self->views[self->lead].n_nodes)
      self->lead = i;
  }
  return self;
}

FabConcurrentGroups *
fab_concurrent_groups_copy (const FabConcurrentGroups *self)
{
  return fab_concurrent_groups_new (self->cluster, self->ranks, self->n_groups, self->n_ranks);
}

static gboolean
is_same (const FabConcurrentGroups *a, const FabConcurrentGroups *b)
{
  return a->cluster == b->cluster && a->n_groups == b->n_groups && a->n_ranks == b->n_ranks
      && memcmp (a->ranks, b->ranks, sizeof (guint) * a->n_groups * a->n_ranks) == 0;
}

static void
concurrent_groups_free (gpointer concurrent_groups)
{
  fab_concurrent_groups_free (concurrent_groups);
}

FabConcurrentGroups *
fab_concurrent_groups_keep (FabLibrary *library, FabConcurrentGroups *made)
{
  for (guint i = 0; i < library->concurrent_groups->len; i++) {
    FabConcurrentGroups *known = g_ptr_array_index (library->concurrent_groups, i);

    if (is_same (known, made)) {
      fab_concurrent_groups_free (made);
      return known;
    }
  }
  g_ptr_array_set_free_func (library->concurrent_groups, concurrent_groups_free);
  g_ptr_array_add (library->concurrent_groups, made);
  return made;
}

guint
fab_concurrent_groups_n_ranks (const FabConcurrentGroups *self)
{
  return self->n_ranks;
}

guint
fab_concurrent_groups_n_groups (const FabConcurrentGroups *self)
{
  return self->n_groups;
}

FabGroup
fab_concurrent_groups_group (const FabConcurrentGroups *self, guint index)
{
  const FabCluster *view = &self->views[index];

  return (FabGroup){ view, view->n_nodes, view->gpus_per_node };
}

/* What the leading group does by a plan, done by all groups. (transfer full) */
typedef FabFootprint *(*MergeFn) (const FabConcurrentGroups *self, FabLibrary *library,
                                  const FabCollectivePlan *plan, FabOp op, GError **error);

static FabFootprint *
merge_groups (const FabConcurrentGroups *self, FabLibrary *library, const FabCollectivePlan *plan, FabOp op,
              GError **error)
{
  g_autoptr (FabFootprintBuilder) builder = fab_footprint_builder_new (self->cluster->graph);

  for (guint i = 0; i < self->n_groups; i++) {
    FabGroup group = fab_concurrent_groups_group (self, i);
    g_autoptr (FabFootprint) footprint = fab_library_footprint (library, plan, op, &group, error);

    if (footprint == NULL)
      return NULL;
    fab_footprint_builder_add_footprint (builder, footprint);
  }
  return fab_footprint_builder_finish (builder);
}

/* Of a pair: BROADCAST from the first, REDUCE from the second. */
static gboolean
find_send (const FabConcurrentGroups *self, guint index, FabOp op, FabHop *hop, GError **error)
{
  FabGroup all = { self->cluster, self->cluster->n_nodes, self->cluster->gpus_per_node };
  const guint *pair = self->ranks + 2 * index;
  gboolean is_up = op == FAB_OP_BROADCAST;

  return fab_hop_ranks (&all, pair[is_up ? 0 : 1], pair[is_up ? 1 : 0], hop, error);
}

static FabFootprint *
merge_messages (const FabConcurrentGroups *self, FabLibrary *library, const FabCollectivePlan *plan, FabOp op,
                GError **error)
{
  double net_stretch = fab_library_net_stretch (library, plan);
  g_autoptr (FabFootprintBuilder) builder = fab_footprint_builder_new (self->cluster->graph);

  for (guint i = 0; i < self->n_groups; i++) {
    FabHop hop;

    if (!find_send (self, i, op, &hop, error))
      return NULL;
    fab_hop_use (&hop, 1, net_stretch, builder);
    fab_hop_clear (&hop);
  }
  return fab_footprint_builder_finish (builder);
}

/* All groups' messages; their paths have been found before. */
static FabSchedule *
make_messages (gconstpointer concurrent_groups, const FabCollectivePlan *plan)
{
  const FabConcurrentGroups *self = concurrent_groups;
  FabSchedule *schedule = fab_schedule_new (self->cluster);
  const Merged *merged = NULL;
  FabCollectivePlan lead = *plan;

  for (guint i = 0; i < self->merged->len; i++)
    if (g_array_index (self->merged, Merged, i).all == plan->footprint)
      merged = &g_array_index (self->merged, Merged, i);
  g_assert (merged != NULL);
  lead.footprint = merged->lead;
  for (guint i = 0; i < self->n_groups; i++) {
    FabGroup group = fab_concurrent_groups_group (self, i);
    FabHop hop;

    if (!merged->is_send)
      fab_library_add_messages (merged->library, &lead, merged->op, &group, plan->steps.n_chunks, schedule,
                                NULL);
    else if (find_send (self, i, merged->op, &hop, NULL))
      fab_schedule_lane (schedule, &hop, fab_library_net_stretch (merged->library, &lead), 1, 1);
  }
  return schedule;
}

static gboolean
take_merged (FabConcurrentGroups *self, FabLibrary *library, MergeFn merge, FabOp op, FabCollectivePlan *plan,
             GError **error)
{
  Merged made = { library, plan->footprint, op, merge == merge_messages, NULL };

  for (guint i = 0; i < self->merged->len; i++) {
    const Merged *merged = &g_array_index (self->merged, Merged, i);

    if (merged->lead == plan->footprint && merged->op == op)
      made.all = merged->all;
  }
  if (made.all == NULL) {
    made.all = merge (self, library, plan, op, error);
    if (made.all == NULL)
      return FALSE;
    g_array_append_val (self->merged, made);
  }
  plan->footprint = made.all;
  plan->steps.make = make_messages;
  plan->steps.owner = self;
  return TRUE;
}

gboolean
fab_concurrent_groups_plan (FabConcurrentGroups *self, FabLibrary *library, FabOp op, FabBytes bytes,
                            FabCollectivePlan *plan, GError **error)
{
  FabGroup lead = fab_concurrent_groups_group (self, self->lead);

  if (!fab_library_plan (library, &lead, op, bytes, plan, error))
    return FALSE;
  if (plan->footprint == NULL || self->n_groups == 1)
    return TRUE;
  return take_merged (self, library, merge_groups, op, plan, error);
}

/* Software costs what it does in send_recv, in which both send; links are those of the way there. */
gboolean
fab_concurrent_groups_plan_send (FabConcurrentGroups *self, FabLibrary *library, FabBytes bytes,
                                 gboolean is_up, FabCollectivePlan *plan, GError **error)
{
  FabGroup lead = fab_concurrent_groups_group (self, self->lead);

  g_assert (self->n_ranks == 2);
  return fab_library_plan (library, &lead, FAB_OP_SEND_RECV, bytes, plan, error)
      && take_merged (self, library, merge_messages, is_up ? FAB_OP_BROADCAST : FAB_OP_REDUCE, plan, error);
}
