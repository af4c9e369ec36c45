/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/study/upgrade.h"

#include <math.h>
#include <string.h>

enum { MOST_SETTINGS = 2, MOST_NODE_COUNTS = 2, MOST_COMBINATIONS = 8 };

static FabUpgrade *
at (const GPtrArray *list, guint i)
{
  return g_ptr_array_index (list, i);
}

static gboolean
has_price (const FabUpgrade *self)
{
  return self->purchase != NULL && self->purchase->is_priced;
}

/* In dollars; what has no price comes last. */
static double
price_of (const FabUpgrade *self)
{
  return has_price (self) ? self->purchase->money.usd : G_MAXDOUBLE;
}

static gint
by_saving (gconstpointer a, gconstpointer b)
{
  double x = (*(FabUpgrade *const *) a)->saved_fraction, y = (*(FabUpgrade *const *) b)->saved_fraction;

  return (x < y) - (x > y);
}

/* --- parts --- */

static const char *
first_text (const FabUpgrade *self)
{
  return fab_edits_at (self->change.edits, 0)->text;
}

/* Whether both set the same key first: two values of one setting. */
static gboolean
is_same_setting (const FabUpgrade *a, const FabUpgrade *b)
{
  const char *x = first_text (a), *y = first_text (b);

  return a->kind == FAB_UPGRADE_SETTING && b->kind == FAB_UPGRADE_SETTING
      && strncmp (x, y, strcspn (x, "=") + 1) == 0;
}

/* Of every setting only the best value stays in the race. */
static void
drop_lesser_values (const GPtrArray *sorted)
{
  for (guint i = 1; i < sorted->len; i++)
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

GPtrArray *
fab_upgrade_rank_parts (GPtrArray *candidates)
{
  GPtrArray *parts = g_ptr_array_new ();

  g_ptr_array_sort (candidates, by_saving);
  drop_lesser_values (candidates);
  for (FabUpgradeKind kind = 0; kind < FAB_N_UPGRADE_KINDS; kind++) {
    guint most = kind == FAB_UPGRADE_SETTING ? MOST_SETTINGS
               : kind == FAB_UPGRADE_NODES   ? MOST_NODE_COUNTS
                                             : 1;
    FabUpgrade *one;

    for (guint n = 0; n < most && (one = next_of_kind (candidates, parts, kind)) != NULL; n++)
      g_ptr_array_add (parts, one);
  }
  g_ptr_array_sort (parts, by_kind);
  return parts;
}

/* --- combinations --- */

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

/* Whether the list has the same changes in another order. */
static gboolean
has_same (const GArray *joined, const FabUpgrade *one)
{
  g_auto (GStrv) parts = g_strsplit (one->change.name, " + ", -1);

  for (guint i = 0; i < joined->len; i++) {
    g_auto (GStrv) others = g_strsplit (g_array_index (joined, FabUpgradeJoined, i).joined->change.name,
                                        " + ", -1);
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
  const FabUpgradeJoined one = { join (a, b), a, b };

  if (one.joined == NULL)
    return;
  if (has_same (joined, one.joined))
    fab_upgrade_free (one.joined);
  else
    g_array_append_val (joined, one);
}

/* The best pair that has a part; of any part: NULL. NULL: none gains. */
static const FabUpgradeJoined *
best_pair (const GArray *pairs, const FabUpgrade *part)
{
  const FabUpgradeJoined *best = NULL;

  for (guint i = 0; i < pairs->len; i++) {
    const FabUpgradeJoined *one = &g_array_index (pairs, FabUpgradeJoined, i);

    if (one->joined->state == FAB_UPGRADE_UNSURE && (part == NULL || one->a == part || one->b == part)
        && (best == NULL || is_preferred (one->joined, best->joined)))
      best = one;
  }
  return best;
}

/* Parts of the pair itself clash with it. */
static void
add_triples (GArray *triples, const GPtrArray *parts, const FabUpgradeJoined *pair)
{
  for (guint i = 0; pair != NULL && i < parts->len; i++)
    add_joined (triples, pair->joined, at (parts, i));
}

GArray *
fab_upgrade_rank_pairs (const GPtrArray *parts)
{
  GArray *pairs = g_array_new (FALSE, FALSE, sizeof (FabUpgradeJoined));

  for (guint i = 0; i < parts->len; i++)
    for (guint k = i + 1; k < parts->len; k++)
      add_joined (pairs, at (parts, i), at (parts, k));
  return pairs;
}

GArray *
fab_upgrade_rank_triples (const GPtrArray *parts, const GArray *pairs)
{
  GArray *triples = g_array_new (FALSE, FALSE, sizeof (FabUpgradeJoined));

  add_triples (triples, parts, best_pair (pairs, NULL));
  for (guint i = 0; i < parts->len; i++)
    if (at (parts, i)->kind == FAB_UPGRADE_NODES)
      add_triples (triples, parts, best_pair (pairs, at (parts, i)));
  return triples;
}

void
fab_upgrade_rank_check (const FabUpgradeJoined *self)
{
  double parts = MAX (MAX (self->a->saved_fraction, self->b->saved_fraction), 0);

  if (self->joined->state == FAB_UPGRADE_UNSURE && self->joined->saved_fraction < parts + FAB_UPGRADE_LEAST)
    self->joined->state = FAB_UPGRADE_NO_GAIN;
}

/* --- the ranking --- */

double
fab_upgrade_usd_per_percent (const FabUpgrade *self)
{
  return has_price (self) && self->saved_fraction > 0
           ? self->purchase->money.usd / (100 * self->saved_fraction)
           : -1;
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

    if (other->n_parts > 1 && other->saved_fraction >= one->saved_fraction
        && price_of (other) < price_of (one))
      return TRUE;
  }
  return FALSE;
}

/* Adds the first combinations of the list, in this order, that are not there yet. */
static void
add_combinations (GPtrArray *ranking, GPtrArray *joined, GCompareFunc order)
{
  g_ptr_array_sort (joined, order);
  for (guint i = 0; i < MIN (joined->len, MOST_COMBINATIONS); i++)
    if (!g_ptr_array_find (ranking, at (joined, i), NULL))
      g_ptr_array_add (ranking, at (joined, i));
}

void
fab_upgrade_rank (const GPtrArray *gains, GPtrArray *ranking)
{
  g_autoptr (GPtrArray) joined = g_ptr_array_new ();

  for (guint i = 0; i < gains->len; i++) {
    FabUpgrade *one = at (gains, i);

    if (one->n_parts == 1)
      g_ptr_array_add (ranking, one);
    else if (!is_dominated (gains, one))
      g_ptr_array_add (joined, one);
  }
  add_combinations (ranking, joined, by_saving);
  add_combinations (ranking, joined, by_price_per_percent);
  for (guint i = 0; i < gains->len; i++)
    if (!g_ptr_array_find (ranking, at (gains, i), NULL))
      at (gains, i)->state = FAB_UPGRADE_NO_GAIN;
}

void
fab_upgrade_rank_sort (GPtrArray *ranking)
{
  g_ptr_array_sort (ranking, by_worth);
}

void
fab_upgrade_take_band (FabUpgrade *self, double work_ratio)
{
  self->low_fraction = 1 - (1 + self->paired.high_fraction) * work_ratio;
  self->high_fraction = 1 - (1 + self->paired.low_fraction) * work_ratio;
  if (self->low_fraction > FAB_DIFFERENCE_LEAST && (work_ratio != 1 || self->paired.change.n_more == 0))
    self->state = FAB_UPGRADE_SURE;
}
