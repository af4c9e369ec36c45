/* SPDX-License-Identifier: Apache-2.0 */
#include "answer/compare/reversals.h"

#include <math.h>

#include "answer/study/spread.h"
#include "answer/study/upgrade.h"
#include "answer/variants/side.h"

static const double least_difference =
    0.0005; /* of the time for the same work, which has one decimal in percent */

static void
reversal_free (gpointer data)
{
  FabReversal *self = data;

  g_free (self->why);
  g_free (self);
}

static gboolean
is_single (const FabUpgrade *self)
{
  return self->n_parts == 1 && self->trial.point != NULL && self->state < FAB_UPGRADE_TOO_LARGE;
}

/* Changes of the fabric have sizes where both set one number, such as the oversubscription. */
static gboolean
set_one_number (const FabEdits *a, const FabEdits *b)
{
  if (fab_edits_count (a) != 1 || fab_edits_count (b) != 1)
    return FALSE;
  const FabEdit *one = fab_edits_at (a, 0), *other = fab_edits_at (b, 0);

  return one->value != NULL && one->value->kind == FAB_VALUE_REAL && g_strcmp0 (one->key, other->key) == 0;
}

/* Of two purchases of one kind the dearer one is larger; where one has no price, the one that was made later. Settings
 * and kinds of nodes have no size. */
static gboolean
is_larger (const FabUpgrades *all, guint index, guint than)
{
  const FabUpgrade *self = g_ptr_array_index (all->all, index), *other = g_ptr_array_index (all->all, than);
  double price = fab_upgrade_price (self), before = fab_upgrade_price (other);

  if (self->kind != other->kind || self->kind == FAB_UPGRADE_SETTING || self->kind == FAB_UPGRADE_NODE
      || !is_single (self) || !is_single (other)
      || (self->kind == FAB_UPGRADE_FABRIC && !set_one_number (self->change.edits, other->change.edits)))
    return FALSE;
  return price > 0 && before > 0 ? price > before : index > than;
}

/* The change that this one makes larger and that saves most; NULL: there is none. */
static const FabUpgrade *
best_smaller (const FabUpgrades *all, guint index)
{
  const FabUpgrade *best = NULL;

  for (guint i = 0; i < all->all->len; i++) {
    const FabUpgrade *one = g_ptr_array_index (all->all, i);

    if (is_larger (all, index, i) && (best == NULL || one->saved_fraction > best->saved_fraction))
      best = one;
  }
  return best;
}

static gboolean
saves_less (const FabUpgrade *self, const FabUpgrade *than)
{
  return than->saved_fraction >= FAB_UPGRADE_LEAST
      && than->saved_fraction - self->saved_fraction > least_difference
      && !fab_spread_is_within (fab_figure_find ("step"), than->trial.point, self->trial.point);
}

static FabSide *
side_of (const FabUpgrades *all, const FabUpgrade *one)
{
  FabEdits *edits = fab_edits_new ();

  fab_edits_append (edits, one->change.edits);
  return fab_side_new (one->change.name, all->study, edits);
}

/* What takes longer with the larger one, for the same work; NULL: they cannot be held against each other. (transfer
 * full) */
static char *
explain (const FabUpgrades *all, const FabReversal *self)
{
  g_autoptr (GPtrArray) sides = g_ptr_array_new_with_free_func ((GDestroyNotify) fab_side_free);
  double ratio = (1 - self->larger->saved_fraction) / (1 - self->smaller->saved_fraction);

  g_ptr_array_add (sides, side_of (all, self->smaller));
  g_ptr_array_add (sides, side_of (all, self->larger));
  fab_sides_play (sides);
  if (!fab_sides_check (sides, NULL))
    return NULL;
  g_autoptr (FabContrast) contrast = fab_sides_contrast (sides, 0);
  return fab_contrast_explain (contrast, 1, ratio - 1);
}

/* With another batch a step is other work. */
static char *
explain_batch (const FabReversal *self)
{
  const FabPoint *larger = self->larger->trial.point, *smaller = self->smaller->trial.point;

  gboolean has_less = (double) larger->global_batch / larger->n_ranks
                    < (double) smaller->global_batch / smaller->n_ranks;

  return g_strdup_printf ("The global batch is %" G_GUINT64_FORMAT
                          " sequences with the first and %" G_GUINT64_FORMAT " with the second%s.",
                          larger->global_batch, smaller->global_batch,
                          has_less ? ", so that each GPU computes less for as much communication" : "");
}

static char *
words_of (const FabUpgrades *all, const FabReversal *self)
{
  const FabPoint *larger = self->larger->trial.point, *smaller = self->smaller->trial.point;
  double saved = self->larger->saved_fraction;
  g_autofree char *why = larger->global_batch == smaller->global_batch ? explain (all, self)
                                                                       : explain_batch (self);

  return g_strdup_printf ("With %s the same work takes %.1f %% %s time, with %s %.1f %% less.%s%s",
                          self->larger->change.name, 100 * fabs (saved), saved < 0 ? "more" : "less",
                          self->smaller->change.name, 100 * self->smaller->saved_fraction,
                          why != NULL ? " " : "", why != NULL ? why : "");
}

GPtrArray *
fab_reversals_find (const FabUpgrades *all)
{
  GPtrArray *found = g_ptr_array_new_with_free_func (reversal_free);

  for (guint i = 0; i < all->all->len; i++) {
    const FabUpgrade *one = g_ptr_array_index (all->all, i), *smaller = best_smaller (all, i);

    if (smaller == NULL || !saves_less (one, smaller))
      continue;
    FabReversal *reversal = g_new0 (FabReversal, 1);
    *reversal = (FabReversal){ one, smaller, NULL };
    reversal->why = words_of (all, reversal);
    g_ptr_array_add (found, reversal);
  }
  return found;
}
