/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/study/upgrade.h"

#include "sim/base/error.h"
#include "sim/base/thread_pool.h"
#include "sim/study/study_bottleneck.h"

const char *const fab_upgrade_kind_names[FAB_N_UPGRADE_KINDS + 1] = {
  [FAB_UPGRADE_SETTING] = "setting", [FAB_UPGRADE_NIC] = "nic",       [FAB_UPGRADE_NICS] = "nics",
  [FAB_UPGRADE_FABRIC] = "fabric",   [FAB_UPGRADE_DOMAIN] = "domain", [FAB_UPGRADE_NODE] = "node",
  [FAB_UPGRADE_NODES] = "nodes",
};

FabUpgrade *
fab_upgrade_new (FabUpgradeKind kind, char *name, FabEdits *edits)
{
  FabUpgrade *self = g_new0 (FabUpgrade, 1);

  self->change = (FabChange){ FAB_CHANGE_SET, name, edits };
  self->kind = kind;
  self->kinds = 1U << kind;
  self->n_parts = 1;
  self->trial.edits = edits;
  self->state = FAB_UPGRADE_NO_GAIN;
  return self;
}

void
fab_upgrade_free (gpointer data)
{
  FabUpgrade *self = data;

  g_free (self->change.name);
  fab_edits_free (self->change.edits);
  fab_try_clear (&self->trial);
  fab_purchase_free (self->purchase);
  fab_bill_free (self->bill);
  fab_scenario_free (self->scenario);
  fab_band_free (self->band);
  g_free (self);
}

void
fab_upgrades_free (FabUpgrades *self)
{
  if (self == NULL)
    return;
  g_clear_pointer (&self->ranking, g_ptr_array_unref);
  g_clear_pointer (&self->all, g_ptr_array_unref);
  fab_bill_free (self->bill);
  fab_scenario_free (self->scenario);
  fab_point_free (self->base);
  fab_band_free (self->band);
  g_free (self);
}

static FabUpgrade *
at (const GPtrArray *list, guint i)
{
  return g_ptr_array_index (list, i);
}

/* --- what is saved --- */

/* Steps before over steps after that do the same work. */
static double
work_ratio (const FabPoint *before, const FabPoint *after)
{
  if (before->tokens_per_s <= 0 || after->tokens_per_s <= 0)
    return 1;
  return before->tokens_per_s * before->step_s / (after->tokens_per_s * after->step_s);
}

static void
take_saving (const FabUpgrades *self, const FabStudy *study, FabUpgrade *upgrade)
{
  const FabPoint *point = upgrade->trial.point;

  if (point == NULL) {
    upgrade->state = FAB_UPGRADE_IMPOSSIBLE;
    return;
  }
  if (!fab_study_accepts (study, point)) {
    upgrade->state = FAB_UPGRADE_TOO_LARGE;
    return;
  }
  double change = fab_spread_change (fab_figure_find ("step"), self->base, point).median;

  upgrade->saved_fraction = 1 - (1 + change) * work_ratio (self->base, point);
  upgrade->low_fraction = upgrade->high_fraction = upgrade->saved_fraction;
  upgrade->state = upgrade->saved_fraction >= FAB_UPGRADE_LEAST ? FAB_UPGRADE_UNSURE : FAB_UPGRADE_NO_GAIN;
}

/* Simulates those from index `first` on. */
static gboolean
play_from (FabUpgrades *self, const FabStudy *study, guint first, GError **error)
{
  guint n = self->all->len - first;
  g_autofree FabTry **tries = g_new (FabTry *, MAX (n, 1));

  for (guint i = 0; i < n; i++)
    tries[i] = &at (self->all, first + i)->trial;
  if (!fab_study_play (study, tries, n, error))
    return FALSE;
  for (guint i = first; i < self->all->len; i++)
    take_saving (self, study, at (self->all, i));
  return TRUE;
}

/* --- prices --- */

static void
find_price (const FabUpgrades *self, const FabStudy *study, FabUpgrade *one)
{
  one->scenario = fab_study_scenario (study, one->change.edits, NULL);
  one->bill = fab_bill_as_built (one->scenario, NULL);
  if (one->bill != NULL)
    one->purchase = fab_purchase_new (self->bill, one->bill);
}

/* --- combinations --- */

/* Whether it was simulated and fits. */
static gboolean
can_be_played (const FabUpgrade *self)
{
  return self->state == FAB_UPGRADE_UNSURE || self->state == FAB_UPGRADE_NO_GAIN;
}

/* Adds combinations to all changes, and plays them. */
static gboolean
play_joined (FabUpgrades *self, const FabStudy *study, const GArray *joined, GError **error)
{
  guint first = self->all->len;

  for (guint i = 0; i < joined->len; i++)
    g_ptr_array_add (self->all, g_array_index (joined, FabUpgradeJoined, i).joined);
  if (!play_from (self, study, first, error))
    return FALSE;
  for (guint i = 0; i < joined->len; i++) {
    const FabUpgradeJoined *one = &g_array_index (joined, FabUpgradeJoined, i);

    fab_upgrade_rank_check (one);
    if (one->joined->state == FAB_UPGRADE_UNSURE)
      find_price (self, study, one->joined);
  }
  return TRUE;
}

/* Pairs and triples of what is worth combining. */
static gboolean
combine (FabUpgrades *self, const FabStudy *study, GError **error)
{
  g_autoptr (GPtrArray) candidates = g_ptr_array_new ();

  for (guint i = 0; i < self->all->len; i++)
    if (can_be_played (at (self->all, i))) {
      find_price (self, study, at (self->all, i));
      g_ptr_array_add (candidates, at (self->all, i));
    }
  g_autoptr (GPtrArray) parts = fab_upgrade_rank_parts (candidates);
  g_autoptr (GArray) pairs = fab_upgrade_rank_pairs (parts);
  if (!play_joined (self, study, pairs, error))
    return FALSE;
  g_autoptr (GArray) triples = fab_upgrade_rank_triples (parts, pairs);
  return play_joined (self, study, triples, error);
}

/* --- bands --- */

typedef struct {
  const FabStudy *study;
  const GPtrArray *list; /* FabUpgrade */
  FabUpgrades *all;
  const FabPaired *paired; /* with the scenario as it is */
  GError **errors;         /* [list->len + 1] */
} Bands;

static gboolean
compare_with_base (const Bands *self, FabUpgrade *one, GError **error)
{
  g_auto (FabStudySide) side = { 0 };

  return fab_study_side_init (&side, self->study, one->change.edits, one->trial.point, error)
      && fab_paired_compare (self->paired, &side.side, &one->paired, error);
}

/* Item 0: the scenario as it is. */
static void
find_band (gpointer data, guint item)
{
  const Bands *self = data;
  const FabFigure *step[] = { fab_figure_find ("step") };
  const FabBandFigures figures = { step, 1 };
  FabUpgrade *one = item > 0 ? at (self->list, item - 1) : NULL;

  if (fab_study_band (self->study, one ? one->change.edits : NULL, one ? one->trial.point : self->all->base,
                      &figures, one ? &one->band : &self->all->band, &self->errors[item])
      && one != NULL)
    compare_with_base (self, one, &self->errors[item]);
  fab_pulse_beat (self->study->pulse);
}

static gboolean
tell_first (GError **errors, guint n, GError **error)
{
  gboolean is_done = TRUE;

  for (guint i = 0; i < n; i++) {
    if (errors[i] == NULL)
      continue;
    if (is_done)
      g_propagate_error (error, errors[i]);
    else
      g_error_free (errors[i]);
    is_done = FALSE;
  }
  return is_done;
}

static gboolean
find_bands (FabUpgrades *self, const FabStudy *study, GError **error)
{
  guint n = self->ranking->len;
  g_autofree GError **errors = g_new0 (GError *, n + 1);
  const FabDecisionEnv env = fab_study_env (study);
  g_auto (FabStudySide) side = { 0 };

  if (!fab_study_side_init (&side, study, NULL, self->base, error))
    return FALSE;
  g_autoptr (FabPaired) paired = fab_paired_new (&env, &side.side, error);
  if (paired == NULL)
    return FALSE;
  fab_pulse_expect (study->pulse, n + 1);
  fab_thread_pool_run (study->n_threads, n + 1, find_band,
                       &(Bands){ study, self->ranking, self, paired, errors });
  if (!tell_first (errors, n + 1, error))
    return FALSE;
  for (guint i = 0; i < n; i++)
    fab_upgrade_take_band (at (self->ranking, i),
                           work_ratio (self->base, at (self->ranking, i)->trial.point));
  return TRUE;
}

gboolean
fab_upgrade_is_better (const FabUpgrades *all, const FabUpgrade *self, const FabUpgrade *than)
{
  FabPairedBand band;

  if (than == NULL)
    return self->state == FAB_UPGRADE_SURE;
  const FabVariantOf before = { all->study, than->change.edits, than->trial.point },
                     after = { all->study, self->change.edits, self->trial.point };
  double ratio = work_ratio (before.point, after.point);
  if (self->saved_fraction < than->saved_fraction + FAB_UPGRADE_LEAST
      || !fab_study_compare (&before, &after, &band, NULL))
    return FALSE;
  return (1 + band.high_fraction) * ratio < 1;
}

/* All changes that gain. */
static void
rank (FabUpgrades *self)
{
  g_autoptr (GPtrArray) gains = g_ptr_array_new ();

  for (guint i = 0; i < self->all->len; i++)
    if (at (self->all, i)->state == FAB_UPGRADE_UNSURE)
      g_ptr_array_add (gains, at (self->all, i));
  fab_upgrade_rank (gains, self->ranking);
}

static FabUpgrades *
begin (const FabStudy *study, GError **error)
{
  g_autoptr (FabUpgrades) self = g_new0 (FabUpgrades, 1);

  self->study = study;
  self->all = g_ptr_array_new_with_free_func (fab_upgrade_free);
  self->ranking = g_ptr_array_new ();
  self->scenario = fab_study_scenario (study, NULL, error);
  self->base = self->scenario != NULL ? fab_study_point (study, error) : NULL;
  self->bill = self->base != NULL ? fab_bill_as_built (self->scenario, error) : NULL;
  if (self->bill == NULL)
    return NULL;
  if (self->base->step_s <= 0) {
    fab_throw (error, FAB_ERROR_INPUT, "the job takes no time: there is nothing to save");
    return NULL;
  }
  return g_steal_pointer (&self);
}

/* Of the scenario as it is, and of all changes that gain. */
static void
find_bottlenecks (FabUpgrades *self, const FabStudy *study)
{
  g_autofree FabTry **tries = g_new (FabTry *, self->ranking->len + 1);

  fab_study_find_bottleneck (study, NULL, self->base);
  for (guint i = 0; i < self->ranking->len; i++)
    tries[i] = &at (self->ranking, i)->trial;
  fab_study_find_bottlenecks (study, tries, self->ranking->len);
}

FabUpgrades *
fab_upgrades_find (const FabStudy *study, const FabUpgradeLimits *limits, GError **error)
{
  g_autoptr (FabUpgrades) self = begin (study, error);

  if (self == NULL)
    return NULL;
  fab_upgrade_options (study, self->scenario, limits, self->all);
  if (!play_from (self, study, 0, error) || !combine (self, study, error))
    return NULL;
  rank (self);
  if (!limits->has_no_band && !find_bands (self, study, error))
    return NULL;
  fab_upgrade_rank_sort (self->ranking);
  find_bottlenecks (self, study);
  return g_steal_pointer (&self);
}
