/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/study/growth.h"

#include "sim/base/error.h"
#include "sim/study/machine.h"

static void
phase_clear (FabGrowthPhase *self)
{
  fab_edits_free (self->edits);
  fab_try_clear (&self->trial);
  fab_bill_free (self->bill);
  fab_scenario_free (self->scenario);
}

static void
path_free (gpointer data)
{
  FabGrowthPath *self = data;

  fab_purchase_free (self->purchase);
  phase_clear (&self->today);
  phase_clear (&self->later);
  g_free (self->name);
  g_free (self);
}

/* Takes `name`. The second phase has the edits of the first, room for no more than its nodes, and `more`. */
static FabGrowthPath *
path_new (char *name, FabEdits *edits, const FabEdits *more, gint64 places)
{
  FabGrowthPath *self = g_new0 (FabGrowthPath, 1);

  self->name = name;
  self->later.edits = fab_edits_new ();
  fab_edits_append (self->later.edits, edits);
  fab_edits_append (self->later.edits, more);
  self->today.edits = edits;
  if (places > 0)
    fab_edits_set (self->today.edits, "cluster.places", fab_value_count (places));
  self->today.trial.edits = self->today.edits;
  self->later.trial.edits = self->later.edits;
  return self;
}

static void
count_phase (FabGrowthPhase *self, const FabStudy *study)
{
  if (self->trial.point == NULL)
    return;
  self->scenario = fab_study_scenario (study, self->edits, NULL);
  self->bill = fab_bill_as_built (self->scenario, NULL);
}

static void
count_path (FabGrowthPath *self, const FabStudy *study)
{
  count_phase (&self->today, study);
  count_phase (&self->later, study);
  if (self->today.bill == NULL || self->later.bill == NULL)
    return;
  self->purchase = fab_purchase_new (self->today.bill, self->later.bill);
  for (guint i = self->purchase->rows->len; i-- > 0;) {
    const FabPurchaseRow *row = &g_array_index (self->purchase->rows, FabPurchaseRow, i);

    self->n_left += row->n_left; /* of the network: there are more nodes than before */
    if (row->kind == FAB_PRODUCT_CABLE) {
      self->n_links += row->n_kept + row->n_left;
      self->n_kept += row->n_kept;
    }
  }
  self->is_priced = self->today.bill->is_priced && self->purchase->is_priced;
  self->total = (FabMoney){ self->today.bill->total.usd + self->purchase->money.usd,
                            self->today.bill->total.low_usd + self->purchase->money.low_usd,
                            self->today.bill->total.high_usd + self->purchase->money.high_usd };
}

static gint
by_total (gconstpointer a, gconstpointer b)
{
  const FabGrowthPath *x = *(FabGrowthPath *const *) a, *y = *(FabGrowthPath *const *) b;

  if (x->is_priced != y->is_priced)
    return x->is_priced ? -1 : 1;
  return (x->total.usd > y->total.usd) - (x->total.usd < y->total.usd);
}

static gboolean
play_paths (const FabStudy *study, GPtrArray *paths, GError **error)
{
  g_autofree FabTry **tries = g_new (FabTry *, (gsize) paths->len * 2);

  for (guint i = 0; i < paths->len; i++) {
    FabGrowthPath *path = g_ptr_array_index (paths, i);

    tries[(gsize) i * 2] = &path->today.trial;
    tries[(gsize) i * 2 + 1] = &path->later.trial;
  }
  if (!fab_study_play (study, tries, paths->len * 2, error))
    return FALSE;
  for (guint i = paths->len; i-- > 0;) {
    FabGrowthPath *path = g_ptr_array_index (paths, i);

    count_path (path, study);
    if (path->purchase == NULL)
      g_ptr_array_remove_index (paths, i);
  }
  return paths->len > 0 || fab_throw (error, FAB_ERROR_INPUT, "no path can be built in both phases");
}

GPtrArray *
fab_growth_find (const FabStudy *study, guint nodes, GError **error)
{
  g_autoptr (FabScenario) scenario = fab_study_scenario (study, NULL, error);
  g_autoptr (GPtrArray) paths = g_ptr_array_new_with_free_func (path_free);
  g_autoptr (FabEdits) more = fab_edits_new ();
  const FabModelInfo *const *fabrics = study->registry->lists[FAB_MODEL_FABRIC];

  if (scenario == NULL)
    return NULL;
  const FabClusterSpec *cluster = &fab_scenario_spec (scenario)->cluster;
  if (nodes <= (guint) cluster->nodes) {
    fab_throw (error, FAB_ERROR_INPUT, "%u %s not more than the %" G_GINT64_FORMAT " that there are", nodes,
               fab_plural (nodes, "node is", "nodes are"), cluster->nodes);
    return NULL;
  }
  FabBatch batch = fab_batch_of (scenario);
  if (!fab_batch_set (&batch, nodes * fab_machine_gpus_per_node (scenario), study->hold == FAB_HOLD_BATCH,
                      more, error))
    return NULL;
  fab_edits_set (more, "cluster.nodes", fab_value_count (nodes));
  fab_edits_set (more, "cluster.places", fab_value_count (0));
  g_ptr_array_add (paths, path_new (g_strdup ("extended as it is"), fab_edits_new (), more, 0));
  g_ptr_array_add (paths, path_new (g_strdup ("with room from the start"), fab_edits_new (), more, nodes));
  for (guint i = 0; fab_machine_has_leaves (cluster->fabric.info) && fabrics[i] != NULL; i++) {
    FabEdits *edits;

    if (fabrics[i] == cluster->fabric.info || !fab_machine_has_leaves (fabrics[i]))
      continue;
    edits = fab_edits_new ();
    fab_edits_set (edits, "cluster.fabric", fab_value_text (fabrics[i]->name));
    g_ptr_array_add (paths, path_new (g_strdup_printf ("fabric %s", fabrics[i]->name), edits, more, 0));
  }
  if (!play_paths (study, paths, error))
    return NULL;
  g_ptr_array_sort (paths, by_total);
  return g_steal_pointer (&paths);
}
