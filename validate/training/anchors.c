/* SPDX-License-Identifier: Apache-2.0 */
/* anchors.c - groups, layouts, roles, and the efficiencies of anchors.
 *
 * A group is found by a hash of its cells. Anchors of all groups are fitted side by side; one that cannot be fitted is
 * told, and its group chooses again: two or three rounds, each O(rows) beside the simulations.
 */
#include <string.h>

#include "sim/base/order.h"
#include "sim/base/thread_pool.h"
#include "validate/training/report_parts.h"

/* --- groups and layouts --- */

/* The cells of a row in these columns but one, joined. (transfer full) */
static char *
key_of (const FabTrainingTable *table, const FabTrainingRow *row, const char *columns, const char *but)
{
  g_auto (GStrv) names = g_strsplit (columns ? columns : "", " ", -1);
  GString *key = g_string_new (NULL);

  for (guint i = 0; names[i]; i++) {
    gint column = *names[i] != '\0' && g_strcmp0 (names[i], but) != 0
                    ? fab_training_table_column (table, names[i])
                    : -1;

    if (column >= 0)
      g_string_append_printf (key, "%s\n", row->cells[column]);
  }
  return g_string_free (key, FALSE);
}

/* The first row with this key, which is `index` where there was none. Takes the key. */
static guint
first_of (GHashTable *firsts, char *key, guint index)
{
  gpointer value;

  if (g_hash_table_lookup_extended (firsts, key, NULL, &value)) {
    g_free (key);
    return GPOINTER_TO_UINT (value);
  }
  g_hash_table_insert (firsts, key, GUINT_TO_POINTER (index));
  return index;
}

void
fab_training_group_rows (FabTrainingResult *self)
{
  g_autoptr (GHashTable) groups = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  g_autoptr (GHashTable) layouts = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  const FabTrainingTable *table = self->source->table;

  for (guint i = 0; i < self->rows->len; i++) {
    FabTrainingComparison *row = fab_training_row_of (self, i);
    const FabTrainingTraits *traits = &row->traits;

    if (row->run == NULL)
      continue;
    row->group = first_of (groups, key_of (table, row->measured, self->source->spec->same, NULL), i);
    row->layout = first_of (layouts,
                            g_strdup_printf ("%u %u %u %u %u", row->group, traits->tensor, traits->context,
                                             traits->expert, traits->pipeline),
                            i);
  }
}

/* --- the sample of a large source --- */

/* Plays every k-th of the sorted groups; returns how many rows that are. */
static guint
play_every (FabTrainingResult *self, char *const *keys, const GPtrArray *groups, guint k)
{
  guint n = 0;

  for (guint i = 0; i < self->rows->len; i++) {
    gpointer *found = bsearch (&keys[i], groups->pdata, groups->len, sizeof (gpointer), fab_order_texts);
    gboolean is_played = (guint) (found - groups->pdata) % k == 0;

    fab_training_row_of (self, i)->role = is_played ? FAB_RUN_ANCHOR : FAB_RUN_NOT_PLAYED;
    n += is_played;
  }
  return n;
}

void
fab_training_sample (FabTrainingResult *self)
{
  g_auto (GStrv) keys = g_new0 (char *, self->rows->len + 1);
  g_autoptr (GHashTable) seen = g_hash_table_new (g_str_hash, g_str_equal);
  g_autoptr (GPtrArray) groups = g_ptr_array_new ();

  for (guint i = 0; i < self->rows->len; i++) {
    keys[i] = key_of (self->source->table, fab_training_row_of (self, i)->measured, self->source->spec->same,
                      NULL);
    if (g_hash_table_add (seen, keys[i]))
      g_ptr_array_add (groups, keys[i]);
  }
  g_ptr_array_sort (groups, fab_order_texts);
  for (guint k = 1;
       play_every (self, keys, groups, k) > (guint) self->source->spec->n_sample && k < groups->len; k++)
    ;
}

/* --- who calibrates --- */

static const char model_and_gpu[] = "model gpu";

void
fab_training_assign_calibration (FabTrainingResult *self)
{
  g_autoptr (GHashTable) keys = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  const FabTrainingTable *table = self->source->table;

  if (self->source->spec->role == FAB_TRAINING_JUDGED)
    return;
  for (guint i = 0; i < self->rows->len; i++)
    g_hash_table_add (keys, key_of (table, fab_training_row_of (self, i)->measured, model_and_gpu, NULL));
  g_autoptr (GList) names = g_list_sort (g_hash_table_get_keys (keys), (GCompareFunc) strcmp);
  for (guint i = 0; i < self->rows->len; i++) {
    FabTrainingComparison *row = fab_training_row_of (self, i);
    g_autofree char *key = key_of (table, row->measured, model_and_gpu, NULL);
    GList *found = g_list_find_custom (names, key, (GCompareFunc) strcmp);

    row->is_calibration = g_list_position (names, found) % 2 == 0;
  }
}

/* --- roles --- */

/* Smaller comes first: marked rows, then those inside a node, then fewer GPUs, then those that divide the model less.
 */
static guint64
anchor_order (const FabTrainingComparison *row)
{
  const FabTrainingTraits *traits = &row->traits;
  guint64 parts = (guint64) traits->tensor * traits->context * traits->pipeline;

  if (row->measured->is_anchor)
    return 0;
  return (row->measured->nodes > 1 ? (guint64) 1 << 60 : 1) + ((guint64) row->measured->gpus << 30) + parts;
}

static double
cost (const FabTrainingRow *row)
{
  return row->step_s * row->gpus / row->batch;
}

/* More GPUs cannot make a GPU faster; memory that is nearly full makes it slower. */
static gboolean
is_short_of_memory (const FabTrainingResult *self, guint index)
{
  const double least_ratio = 1.1;
  const FabTrainingComparison *row = fab_training_row_of (self, index);
  const FabTrainingTable *table = self->source->table;
  const char *factors = self->source->spec->factors;
  g_autofree char *key = key_of (table, row->measured, factors, "gpus");

  for (guint i = 0; i < self->rows->len; i++) {
    const FabTrainingComparison *other = fab_training_row_of (self, i);

    if (other->run == NULL || other->layout != row->layout || other->measured->gpus <= row->measured->gpus
        || other->measured->doubtful || cost (row->measured) <= least_ratio * cost (other->measured))
      continue;
    g_autofree char *other_key = key_of (table, other->measured, factors, "gpus");
    if (strcmp (key, other_key) == 0)
      return TRUE;
  }
  return FALSE;
}

/* Rows of a group, or of a layout of it. */
typedef struct {
  guint group;
  guint layout; /* G_MAXUINT: all */
} Part;

static gboolean
is_in (const Part *part, const FabTrainingComparison *row)
{
  return row->run != NULL && row->group == part->group
      && (part->layout == G_MAXUINT || row->layout == part->layout);
}

static gboolean
can_anchor (const FabTrainingResult *self, guint index)
{
  const FabTrainingComparison *row = fab_training_row_of (self, index);

  return !row->measured->doubtful && row->role != FAB_RUN_UNANCHORED
      && (row->measured->is_anchor || !is_short_of_memory (self, index));
}

/* The first of the anchors; G_MAXUINT: there is none. */
static guint
find_anchor (const FabTrainingResult *self, const Part *part)
{
  guint anchor = G_MAXUINT;

  for (guint i = part->layout == G_MAXUINT ? part->group : part->layout; i < self->rows->len; i++) {
    const FabTrainingComparison *row = fab_training_row_of (self, i);

    if (is_in (part, row)
        && (anchor == G_MAXUINT || anchor_order (row) < anchor_order (fab_training_row_of (self, anchor)))
        && can_anchor (self, i))
      anchor = i;
  }
  return anchor;
}

static FabRunRole
role_of (const FabTrainingComparison *row, const FabTrainingComparison *anchor)
{
  if (row->role == FAB_RUN_UNANCHORED || anchor == NULL)
    return FAB_RUN_UNANCHORED;
  if (row->measured->doubtful)
    return FAB_RUN_DOUBTFUL;
  if (anchor_order (row) < anchor_order (anchor))
    return FAB_RUN_FULL_MEMORY; /* passed over */
  if (anchor_order (row) == anchor_order (anchor) && row->layout == anchor->layout)
    return FAB_RUN_ANCHOR;
  return row->measured->nodes > 1 ? FAB_RUN_JUDGED : FAB_RUN_ONE_NODE;
}

static void
give_roles (FabTrainingResult *self, guint group)
{
  const Part part = { group, G_MAXUINT };
  guint anchor = find_anchor (self, &part);

  for (guint i = group; i < self->rows->len; i++) {
    FabTrainingComparison *row = fab_training_row_of (self, i);

    if (!is_in (&part, row))
      continue;
    row->role = role_of (row, anchor == G_MAXUINT ? NULL : fab_training_row_of (self, anchor));
    row->anchor = anchor;
    if (row->role == FAB_RUN_UNANCHORED && row->problem == NULL)
      row->problem = g_strdup_printf ("%s row %s: no row of its group can be its anchor",
                                      self->source->spec->name, row->measured->id);
  }
}

/* A layout that is not the anchor's, with two rows or more that count, gets an anchor of its own. */
static void
give_layout_roles (FabTrainingResult *self, guint layout)
{
  const Part part = { fab_training_row_of (self, layout)->group, layout };
  const FabTrainingComparison *first = fab_training_row_of (self, layout);
  guint n_rows = 0, anchor = find_anchor (self, &part);

  for (guint i = layout; i < self->rows->len; i++)
    n_rows += is_in (&part, fab_training_row_of (self, i))
           && fab_training_row_of (self, i)->role <= FAB_RUN_LAST_PREDICTED;
  if (n_rows < 2 || anchor == G_MAXUINT || first->anchor == G_MAXUINT
      || fab_training_row_of (self, first->anchor)->layout == layout)
    return;
  for (guint i = layout; i < self->rows->len; i++) {
    FabTrainingComparison *row = fab_training_row_of (self, i);
    FabRunRole role;

    if (!is_in (&part, row) || row->role == FAB_RUN_UNANCHORED)
      continue;
    role = role_of (row, fab_training_row_of (self, anchor));
    row->role = role == FAB_RUN_ANCHOR ? FAB_RUN_LAYOUT_ANCHOR : role;
    if (role != FAB_RUN_ANCHOR)
      row->anchor = anchor;
  }
}

static void
assign_roles (FabTrainingResult *self)
{
  for (guint i = 0; i < self->rows->len; i++)
    if (fab_training_row_of (self, i)->run != NULL && fab_training_row_of (self, i)->group == i)
      give_roles (self, i);
  for (guint i = 0; i < self->rows->len; i++)
    if (fab_training_row_of (self, i)->run != NULL && fab_training_row_of (self, i)->layout == i)
      give_layout_roles (self, i);
}

/* --- efficiencies --- */

static void
fit_row (gpointer data, guint item)
{
  FabTrainingComparison *row = g_ptr_array_index ((GPtrArray *) data, item);
  g_autoptr (GError) problem = NULL;

  row->predicted = row->blind.step;
  if (fab_training_run_fit (row->run, row->measured->step_s, &row->fitted, &row->predicted, &problem))
    return;
  row->predicted = (FabTrainingStep){ .step_s = 0 };
  row->fitted = 0;
  row->role = FAB_RUN_UNANCHORED;
  row->problem = g_strdup (problem->message);
}

/* Fits the anchors that are not fitted yet; TRUE when each has an efficiency. */
static gboolean
fit_anchors (FabTrainingResult *self)
{
  g_autoptr (GPtrArray) rows = g_ptr_array_new ();

  for (guint i = 0; i < self->rows->len; i++) {
    FabTrainingComparison *row = fab_training_row_of (self, i);

    if (row->role <= FAB_RUN_LAYOUT_ANCHOR && row->fitted <= 0)
      g_ptr_array_add (rows, row);
  }
  fab_thread_pool_run (0, rows->len, fit_row, rows);
  for (guint i = 0; i < rows->len; i++)
    if (((FabTrainingComparison *) g_ptr_array_index (rows, i))->role == FAB_RUN_UNANCHORED)
      return FALSE;
  return TRUE;
}

/* Of the slowest of the anchors' GPUs: the mean of the times per FLOP of those like the first. */
static double
anchored_efficiency (const FabTrainingResult *self, guint anchor)
{
  const FabTrainingComparison *first = fab_training_row_of (self, anchor);
  double seconds_per_flop = 0;
  guint n_anchors = 0;

  for (guint i = 0; i < self->rows->len; i++) {
    const FabTrainingComparison *row = fab_training_row_of (self, i);

    if (row->run == NULL || row->layout != first->layout || row->role != first->role || row->fitted <= 0)
      continue;
    seconds_per_flop += 1 / row->fitted;
    n_anchors++;
  }
  return n_anchors / seconds_per_flop;
}

void
fab_training_choose_anchors (FabTrainingResult *self)
{
  do
    assign_roles (self);
  while (!fit_anchors (self));
  for (guint i = 0; i < self->rows->len; i++) {
    FabTrainingComparison *row = fab_training_row_of (self, i);

    if (row->run == NULL || row->role == FAB_RUN_UNANCHORED)
      continue;
    row->efficiency = anchored_efficiency (self, row->anchor);
    /* Operators priced one by one are those of an average GPU, and the job itself waits for the slowest. */
    if (row->traits.knob == FAB_TRAINING_MFU)
      row->efficiency = MIN (
          row->efficiency * fab_training_slowest (fab_training_row_of (self, row->anchor)->measured->gpus)
              / fab_training_slowest (row->measured->gpus),
          1);
  }
}
