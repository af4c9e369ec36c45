/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/study/upgrade.h"

#include <math.h>
#include <string.h>

#include "sim/base/error.h"
#include "sim/base/thread_pool.h"
#include "sim/study/study_bottleneck.h"

enum { MOST_SETTINGS = 2, MOST_NODE_COUNTS = 2, MOST_COMBINATIONS = 8 };

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
  if (one->bill != NULL)
    return;
  one->scenario = fab_study_scenario (study, one->change.edits, NULL);
  one->bill = one->scenario != NULL ? fab_bill_as_built (one->scenario, NULL) : NULL;
  if (one->bill != NULL && self->bill != NULL)
    one->purchase = fab_purchase_new (self->bill, one->bill);
}

/* In dollars; what has no price comes last. */
static double
price_of (const FabUpgrade *self)
{
  return self->purchase != NULL && self->purchase->is_priced ? self->purchase->money.usd : G_MAXDOUBLE;
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
      if (is_same_setting (at (sorted, k), at (sorted, i)))
        at (sorted, i)->state = FAB_UPGRADE_NO_GAIN;
}

/* What costs most comes first in the name of a combination, settings last. */
static gint
by_kind (gconstpointer a, gconstpointer b)
{
  return (gint) (*(FabUpgrade *const *) b)->kind - (gint) (*(FabUpgrade *const *) a)->kind;
}

/* Whether one is worth combining rather than another of its kind: it saves more by half a percent, or as much and costs
 * less. What a seed turns is no reason. */
static gboolean
is_preferred (const FabUpgrade *self, const FabUpgrade *than)
{
  if (fabs (self->saved_fraction - than->saved_fraction) >= FAB_UPGRADE_LEAST)
    return self->saved_fraction > than->saved_fraction;
  return price_of (self) < price_of (than);
}

/* Of the candidates of a kind the one to be combined next; NULL: there is none left that does not lose. */
static FabUpgrade *
next_of_kind (const GPtrArray *sorted, const GPtrArray *parts, FabUpgradeKind kind)
{
  const double least = kind == FAB_UPGRADE_SETTING ? FAB_UPGRADE_LEAST : 0;
  FabUpgrade *best = NULL;

  for (guint i = 0; i < sorted->len; i++) {
    FabUpgrade *one = at (sorted, i);
    gboolean is_known = one->kind != kind || one->saved_fraction < least;

    for (guint k = 0; k < parts->len; k++)
      is_known |= at (parts, k) == one || is_same_setting (at (parts, k), one);
    if (!is_known && (best == NULL || is_preferred (one, best)))
      best = one;
  }
  return best;
}

/* What is worth combining: the best of every kind, two settings, and two numbers of nodes. */
static GPtrArray *
choose_parts (const FabUpgrades *self, const FabStudy *study)
{
  g_autoptr (GPtrArray) sorted = g_ptr_array_new ();
  GPtrArray *parts = g_ptr_array_new ();

  for (guint i = 0; i < self->all->len; i++)
    if (can_be_played (at (self->all, i))) {
      find_price (self, study, at (self->all, i));
      g_ptr_array_add (sorted, at (self->all, i));
    }
  g_ptr_array_sort (sorted, by_saving);
  drop_lesser_values (sorted);
  for (FabUpgradeKind kind = 0; kind < FAB_N_UPGRADE_KINDS; kind++) {
    guint most = kind == FAB_UPGRADE_SETTING ? MOST_SETTINGS
               : kind == FAB_UPGRADE_NODES   ? MOST_NODE_COUNTS
                                             : 1;
    FabUpgrade *one;

    for (guint n = 0; n < most && (one = next_of_kind (sorted, parts, kind)) != NULL; n++)
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

/* Whether the list has the same changes in another order. */
static gboolean
has_same (const GArray *joined, const FabUpgrade *one)
{
  g_auto (GStrv) parts = g_strsplit (one->change.name, " + ", -1);

  for (guint i = 0; i < joined->len; i++) {
    g_auto (GStrv) others = g_strsplit (g_array_index (joined, Joined, i).joined->change.name, " + ", -1);
    gboolean is_same = g_strv_length (parts) == g_strv_length (others);

    for (guint k = 0; is_same && parts[k] != NULL; k++)
      is_same = g_strv_contains ((const char *const *) others, parts[k]);
    if (is_same)
      return TRUE;
  }
  return FALSE;
}

static void
add_joined (GArray *joined, FabUpgrade *a, FabUpgrade *b)
{
  const Joined one = { join (a, b), a, b };

  if (one.joined == NULL)
    return;
  if (has_same (joined, one.joined))
    fab_upgrade_free (one.joined);
  else
    g_array_append_val (joined, one);
}

/* The best pair that has a part; of any part: NULL. NULL: none gains. */
static const Joined *
best_pair (const FabUpgrades *self, const FabStudy *study, const GArray *pairs, const FabUpgrade *part)
{
  const Joined *best = NULL;

  for (guint i = 0; i < pairs->len; i++) {
    const Joined *one = &g_array_index (pairs, Joined, i);

    if (one->joined->state != FAB_UPGRADE_UNSURE || (part != NULL && one->a != part && one->b != part))
      continue;
    find_price (self, study, one->joined);
    if (best == NULL || is_preferred (one->joined, best->joined))
      best = one;
  }
  return best;
}

static void
add_triples (GArray *triples, const GPtrArray *parts, const Joined *pair)
{
  for (guint i = 0; pair != NULL && i < parts->len; i++)
    if (at (parts, i) != pair->a && at (parts, i) != pair->b)
      add_joined (triples, pair->joined, at (parts, i));
}

/* All pairs; then the best pair with each of the others, and so the best pair with each number of nodes. */
static gboolean
combine (FabUpgrades *self, const FabStudy *study, GError **error)
{
  g_autoptr (GPtrArray) parts = choose_parts (self, study);
  g_autoptr (GArray) pairs = g_array_new (FALSE, FALSE, sizeof (Joined)),
                     triples = g_array_new (FALSE, FALSE, sizeof (Joined));

  for (guint i = 0; i < parts->len; i++)
    for (guint k = i + 1; k < parts->len; k++)
      add_joined (pairs, at (parts, i), at (parts, k));
  if (!play_joined (self, study, pairs, error))
    return FALSE;
  const Joined *best = best_pair (self, study, pairs, NULL);
  add_triples (triples, parts, best);
  for (guint i = 0; i < parts->len; i++) {
    const Joined *other = at (parts, i)->kind == FAB_UPGRADE_NODES
                            ? best_pair (self, study, pairs, at (parts, i))
                            : NULL;

    if (other != best)
      add_triples (triples, parts, other);
  }
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

/* The band of what is saved, from that of the step. */
static void
take_band (const FabUpgrades *self, FabUpgrade *one)
{
  double ratio = work_ratio (self->base, one->trial.point);

  one->low_fraction = 1 - (1 + one->paired.high_fraction) * ratio;
  one->high_fraction = 1 - (1 + one->paired.low_fraction) * ratio;
  gboolean agrees = ratio == 1 ? one->paired.change.n_more == 0 : TRUE;
  if (one->low_fraction > FAB_DIFFERENCE_LEAST && agrees)
    one->state = FAB_UPGRADE_SURE;
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
    take_band (self, at (self->ranking, i));
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

double
fab_upgrade_usd_per_percent (const FabUpgrade *self)
{
  if (self->purchase == NULL || !self->purchase->is_priced)
    return -1;
  return self->saved_fraction > 0 ? self->purchase->money.usd / (100 * self->saved_fraction) : -1;
}

/* Free ones by what they save, then by dollars per percent, then those without a price. */
static gint
by_price_per_percent (gconstpointer a, gconstpointer b)
{
  double x = fab_upgrade_usd_per_percent (*(FabUpgrade *const *) a),
         y = fab_upgrade_usd_per_percent (*(FabUpgrade *const *) b);

  if (x == y)
    return by_saving (a, b);
  if (x < 0 || y < 0)
    return x < 0 ? 1 : -1;
  return x < y ? -1 : 1;
}

/* Sure ones first, by their price; others by what they save. */
static gint
by_worth (gconstpointer a, gconstpointer b)
{
  const FabUpgrade *x = *(FabUpgrade *const *) a, *y = *(FabUpgrade *const *) b;

  if (x->state != y->state)
    return (gint) x->state - (gint) y->state;
  return x->state == FAB_UPGRADE_SURE ? by_price_per_percent (a, b) : by_saving (a, b);
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

/* Adds the first combinations of the list, in this order, that are not there yet. */
static void
add_combinations (FabUpgrades *self, GPtrArray *joined, GCompareFunc order)
{
  guint n = 0;

  g_ptr_array_sort (joined, order);
  for (guint i = 0; i < joined->len && n < MOST_COMBINATIONS; i++, n++)
    if (!g_ptr_array_find (self->ranking, at (joined, i), NULL))
      g_ptr_array_add (self->ranking, at (joined, i));
}

/* All single changes that gain; of the combinations that no other one surpasses in both price and gain, those that save
 * most and those of which a percent costs least. */
static void
rank (FabUpgrades *self, const FabStudy *study)
{
  g_autoptr (GPtrArray) gains = g_ptr_array_new (), joined = g_ptr_array_new ();

  for (guint i = 0; i < self->all->len; i++)
    if (at (self->all, i)->state == FAB_UPGRADE_UNSURE) {
      find_price (self, study, at (self->all, i));
      g_ptr_array_add (gains, at (self->all, i));
    }
  for (guint i = 0; i < gains->len; i++) {
    FabUpgrade *one = at (gains, i);

    if (one->n_parts == 1)
      g_ptr_array_add (self->ranking, one);
    else if (!is_dominated (gains, one))
      g_ptr_array_add (joined, one);
  }
  add_combinations (self, joined, by_saving);
  add_combinations (self, joined, by_price_per_percent);
  for (guint i = 0; i < gains->len; i++)
    if (!g_ptr_array_find (self->ranking, at (gains, i), NULL))
      at (gains, i)->state = FAB_UPGRADE_NO_GAIN;
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
  rank (self, study);
  if (!limits->has_no_band && !find_bands (self, study, error))
    return NULL;
  g_ptr_array_sort (self->ranking, by_worth);
  find_bottlenecks (self, study);
  return g_steal_pointer (&self);
}
