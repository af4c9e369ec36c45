/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/study/upgrade.h"

#include <math.h>
#include <string.h>

#include "sim/base/error.h"
#include "sim/base/thread_pool.h"

enum { MOST_PARTS = 3, MOST_SETTINGS = 2, MOST_COMBINATIONS = 12 };

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

static void
upgrade_free (gpointer data)
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
  upgrade->saved_fraction = 1 - point->step_s * work_ratio (self->base, point) / self->base->step_s;
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

/* --- combinations --- */

static const char *
first_text (const FabUpgrade *self)
{
  return fab_edits_at (self->change.edits, 0)->text;
}

/* Whether both set the same key first: two values of one setting. */
static gboolean
is_same_setting (const FabUpgrade *a, const FabUpgrade *b)
{
  const char *x = first_text (a), *y = first_text (b), *end = strchr (x, '=');
  gsize n = end != NULL ? (gsize) (end - x) + 1 : strlen (x);

  return a->kind == FAB_UPGRADE_SETTING && b->kind == FAB_UPGRADE_SETTING && strncmp (x, y, n) == 0;
}

static gboolean
can_be_played (const FabUpgrade *self)
{
  return self->state == FAB_UPGRADE_UNSURE || self->state == FAB_UPGRADE_NO_GAIN;
}

static gint
by_saving (gconstpointer a, gconstpointer b)
{
  double x = (*(FabUpgrade *const *) a)->saved_fraction, y = (*(FabUpgrade *const *) b)->saved_fraction;

  return (x < y) - (x > y);
}

/* Of every setting only the best value stays in the race. */
static void
drop_lesser_values (const GPtrArray *sorted)
{
  for (guint i = 0; i < sorted->len; i++)
    for (guint k = 0; k < i; k++)
      if (can_be_played (at (sorted, k)) && is_same_setting (at (sorted, k), at (sorted, i)))
        at (sorted, i)->state = at (sorted, i)->state == FAB_UPGRADE_UNSURE ? FAB_UPGRADE_NO_GAIN
                                                                            : at (sorted, i)->state;
}

/* What costs most comes first in the name of a combination, settings last. */
static gint
by_kind (gconstpointer a, gconstpointer b)
{
  return (gint) (*(FabUpgrade *const *) b)->kind - (gint) (*(FabUpgrade *const *) a)->kind;
}

/* The best of every kind, and two settings: what is worth combining. A change that loses is not. */
static GPtrArray *
choose_parts (const FabUpgrades *self)
{
  g_autoptr (GPtrArray) sorted = g_ptr_array_new ();
  GPtrArray *parts = g_ptr_array_new ();
  guint n_of_kind[FAB_N_UPGRADE_KINDS] = { 0 };

  for (guint i = 0; i < self->all->len; i++)
    if (can_be_played (at (self->all, i)))
      g_ptr_array_add (sorted, at (self->all, i));
  g_ptr_array_sort (sorted, by_saving);
  drop_lesser_values (sorted);
  for (guint i = 0; i < sorted->len; i++) {
    FabUpgrade *one = at (sorted, i);
    guint most = one->kind == FAB_UPGRADE_SETTING ? MOST_SETTINGS : 1;
    gboolean is_known = FALSE;

    for (guint k = 0; k < parts->len; k++)
      is_known |= is_same_setting (at (parts, k), one);
    if (is_known || n_of_kind[one->kind] >= most
        || one->saved_fraction < (one->kind == FAB_UPGRADE_SETTING ? FAB_UPGRADE_LEAST : 0))
      continue;
    n_of_kind[one->kind]++;
    g_ptr_array_add (parts, one);
  }
  g_ptr_array_sort (parts, by_kind);
  return parts;
}

/* NULL: they set the same key. */
static FabUpgrade *
join (const FabUpgrade *a, const FabUpgrade *b)
{
  g_autofree char *clash = fab_change_clash (&a->change, &b->change);
  FabEdits *edits;
  FabUpgrade *self;

  if (clash != NULL || ((a->kinds & b->kinds) & ~(1U << FAB_UPGRADE_SETTING)) != 0)
    return NULL;
  edits = fab_edits_new ();
  fab_edits_append (edits, a->change.edits);
  fab_edits_append (edits, b->change.edits);
  self = fab_upgrade_new (a->kind, g_strconcat (a->change.name, " + ", b->change.name, NULL), edits);
  self->kinds = a->kinds | b->kinds;
  self->n_parts = a->n_parts + b->n_parts;
  return self;
}

/* What it saves must be more than what the larger of its two parts saves. */
static void
check_joined (FabUpgrade *self, const FabUpgrade *a, const FabUpgrade *b)
{
  double parts = MAX (MAX (a->saved_fraction, b->saved_fraction), 0);

  if (self->state == FAB_UPGRADE_UNSURE && self->saved_fraction < parts + FAB_UPGRADE_LEAST)
    self->state = FAB_UPGRADE_NO_GAIN;
}

typedef struct {
  FabUpgrade *joined, *a, *b;
} Joined;

static gboolean
play_joined (FabUpgrades *self, const FabStudy *study, const GArray *joined, GError **error)
{
  guint first = self->all->len;

  for (guint i = 0; i < joined->len; i++)
    g_ptr_array_add (self->all, g_array_index (joined, Joined, i).joined);
  if (!play_from (self, study, first, error))
    return FALSE;
  for (guint i = 0; i < joined->len; i++) {
    const Joined *one = &g_array_index (joined, Joined, i);

    check_joined (one->joined, one->a, one->b);
  }
  return TRUE;
}

static void
add_joined (GArray *joined, FabUpgrade *a, FabUpgrade *b)
{
  const Joined one = { join (a, b), a, b };

  if (one.joined != NULL)
    g_array_append_val (joined, one);
}

/* All pairs, then the best pair with each of the others. */
static gboolean
combine (FabUpgrades *self, const FabStudy *study, GError **error)
{
  g_autoptr (GPtrArray) parts = choose_parts (self);
  g_autoptr (GArray) pairs = g_array_new (FALSE, FALSE, sizeof (Joined)),
                     triples = g_array_new (FALSE, FALSE, sizeof (Joined));
  const Joined *best = NULL;

  for (guint i = 0; i < parts->len; i++)
    for (guint k = i + 1; k < parts->len; k++)
      add_joined (pairs, at (parts, i), at (parts, k));
  if (!play_joined (self, study, pairs, error))
    return FALSE;
  for (guint i = 0; i < pairs->len; i++) {
    const Joined *one = &g_array_index (pairs, Joined, i);

    if (one->joined->state == FAB_UPGRADE_UNSURE
        && (best == NULL || one->joined->saved_fraction > best->joined->saved_fraction))
      best = one;
  }
  for (guint i = 0; best != NULL && i < parts->len; i++)
    if (at (parts, i) != best->a && at (parts, i) != best->b)
      add_joined (triples, best->joined, at (parts, i));
  return play_joined (self, study, triples, error);
}

/* --- bands and prices --- */

typedef struct {
  const FabStudy *study;
  const GPtrArray *list; /* NULL in front: the scenario as it is */
  FabUpgrades *all;
  GError **errors; /* [list->len + 1] */
} Bands;

static void
find_band (gpointer data, guint item)
{
  const Bands *self = data;
  const FabFigure *step[] = { fab_figure_find ("step") };
  const FabBandFigures figures = { step, 1 };
  FabUpgrade *one = item > 0 ? at (self->list, item - 1) : NULL;

  fab_study_band (self->study, one ? one->change.edits : NULL, one ? one->trial.point : self->all->base,
                  &figures, one ? &one->band : &self->all->band, &self->errors[item]);
  fab_pulse_beat (self->study->pulse);
}

static void
take_band (const FabUpgrades *self, FabUpgrade *one)
{
  double ratio = work_ratio (self->base, one->trial.point);
  FabBandChange change;

  if (!fab_band_change (self->band, self->base->step_s, one->band, one->trial.point->step_s, 0, &change)) {
    one->state = FAB_UPGRADE_SURE; /* nothing is uncertain */
    return;
  }
  one->low_fraction = 1 - (1 + change.high_fraction) * ratio;
  one->high_fraction = 1 - (1 + change.low_fraction) * ratio;
  if (one->low_fraction > 0
      && !fab_band_change_may_be_none (
          &(FabBandChange){ .low_fraction = -one->high_fraction, .high_fraction = -one->low_fraction }))
    one->state = FAB_UPGRADE_SURE;
}

static gboolean
find_bands (FabUpgrades *self, const FabStudy *study, GError **error)
{
  guint n = self->ranking->len;
  g_autofree GError **errors = g_new0 (GError *, n + 1);
  Bands bands = { study, self->ranking, self, errors };
  gboolean is_done = TRUE;

  fab_pulse_expect (study->pulse, n + 1);
  fab_thread_pool_run (study->n_threads, n + 1, find_band, &bands);
  for (guint i = 0; i <= n; i++) {
    if (errors[i] == NULL)
      continue;
    if (is_done)
      g_propagate_error (error, errors[i]);
    else
      g_error_free (errors[i]);
    is_done = FALSE;
  }
  for (guint i = 0; is_done && i < n; i++)
    take_band (self, at (self->ranking, i));
  return is_done;
}

static void
find_price (const FabUpgrades *self, const FabStudy *study, FabUpgrade *one)
{
  one->scenario = fab_study_scenario (study, one->change.edits, NULL);
  one->bill = one->scenario != NULL ? fab_bill_as_built (one->scenario, NULL) : NULL;
  if (one->bill != NULL && self->bill != NULL)
    one->purchase = fab_purchase_new (self->bill, one->bill);
}

gboolean
fab_upgrade_is_better (const FabUpgrade *self, const FabUpgrade *than)
{
  FabBandChange change;

  if (than == NULL)
    return self->state == FAB_UPGRADE_SURE;
  const FabPoint *before = than->trial.point, *after = self->trial.point;
  double ratio = work_ratio (before, after);
  if (self->saved_fraction < than->saved_fraction + FAB_UPGRADE_LEAST)
    return FALSE;
  if (!fab_band_change (than->band, before->step_s, self->band, after->step_s, 0, &change))
    return TRUE;
  return (1 + change.high_fraction) * ratio < 1;
}

double
fab_upgrade_usd_per_percent (const FabUpgrade *self)
{
  if (self->purchase == NULL || !self->purchase->is_priced)
    return -1;
  return self->saved_fraction > 0 ? self->purchase->money.usd / (100 * self->saved_fraction) : -1;
}

/* Sure ones first: free ones by what they save, then by dollars per percent, then those without a price. */
static gint
by_worth (gconstpointer a, gconstpointer b)
{
  const FabUpgrade *x = *(FabUpgrade *const *) a, *y = *(FabUpgrade *const *) b;
  double price_x = fab_upgrade_usd_per_percent (x), price_y = fab_upgrade_usd_per_percent (y);

  if (x->state != y->state)
    return (gint) x->state - (gint) y->state;
  if (x->state == FAB_UPGRADE_SURE && price_x != price_y) {
    if (price_x < 0 || price_y < 0)
      return price_x < 0 ? 1 : -1;
    return price_x < price_y ? -1 : 1;
  }
  return by_saving (a, b);
}

/* Whether another combination costs no more and saves no less. */
static gboolean
is_dominated (const GPtrArray *ranking, const FabUpgrade *one)
{
  for (guint i = 0; i < ranking->len; i++) {
    const FabUpgrade *other = at (ranking, i);
    gboolean is_priced = other->purchase != NULL && other->purchase->is_priced;

    if (other != one && other->n_parts > 1 && is_priced && other->saved_fraction >= one->saved_fraction
        && (one->purchase == NULL || !one->purchase->is_priced
            || other->purchase->money.usd < one->purchase->money.usd))
      return TRUE;
  }
  return FALSE;
}

/* All single changes that gain, and the combinations that are worth their price. */
static void
rank (FabUpgrades *self, const FabStudy *study)
{
  g_autoptr (GPtrArray) gains = g_ptr_array_new ();
  guint n_joined = 0;

  for (guint i = 0; i < self->all->len; i++)
    if (at (self->all, i)->state == FAB_UPGRADE_UNSURE) {
      find_price (self, study, at (self->all, i));
      g_ptr_array_add (gains, at (self->all, i));
    }
  g_ptr_array_sort (gains, by_saving);
  for (guint i = 0; i < gains->len; i++) {
    FabUpgrade *one = at (gains, i);

    if (one->n_parts > 1 && (is_dominated (gains, one) || n_joined == MOST_COMBINATIONS))
      one->state = FAB_UPGRADE_NO_GAIN;
    else
      g_ptr_array_add (self->ranking, one);
    n_joined += one->n_parts > 1 && one->state == FAB_UPGRADE_UNSURE;
  }
}

static FabUpgrades *
begin (const FabStudy *study, GError **error)
{
  g_autoptr (FabUpgrades) self = g_new0 (FabUpgrades, 1);

  self->all = g_ptr_array_new_with_free_func (upgrade_free);
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

FabUpgrades *
fab_upgrades_find (const FabStudy *study, const FabUpgradeLimits *limits, GError **error)
{
  g_autoptr (FabUpgrades) self = begin (study, error);

  if (self == NULL)
    return NULL;
  fab_upgrade_options (study, self->scenario, limits, self->all);
  if (!play_from (self, study, 0, error) || !combine (self, study, error))
    return NULL;
  rank (self, study);
  if (!limits->has_no_band && !find_bands (self, study, error))
    return NULL;
  g_ptr_array_sort (self->ranking, by_worth);
  return g_steal_pointer (&self);
}
