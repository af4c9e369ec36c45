/* SPDX-License-Identifier: Apache-2.0 */
#include "answer/study/choices.h"

#include <string.h>

#include "sim/base/order.h"

static void
pair_clear (gpointer data)
{
  FabChoicePair *self = data;

  g_free (self->before_value);
  g_free (self->after_value);
  g_free (self->beside);
}

GArray *
fab_choice_pairs_new (void)
{
  GArray *self = g_array_new (FALSE, FALSE, sizeof (FabChoicePair));

  g_array_set_clear_func (self, pair_clear);
  return self;
}

void
fab_choice_pairs_add (GArray *self, const char *key, const char *before_value, const FabPoint *before,
                      const char *after_value, const FabPoint *after)
{
  if (before == NULL || after == NULL)
    return;
  FabChoicePair pair = { .key = key,
                         .before_value = g_strdup (before_value),
                         .after_value = g_strdup (after_value),
                         .before = before,
                         .after = after };

  g_array_append_val (self, pair);
}

/* --- of a grid --- */

/* Of a grid of several axes. */
static char *
other_assignments (const FabGrid *grid, gint64 point, guint without)
{
  GString *text = g_string_new (NULL);

  for (guint a = 0; a < grid->axes->len; a++) {
    g_autofree char *key = fab_grid_axis_key (grid, a);
    g_autofree char *value = fab_grid_axis_value (grid, a, fab_grid_item (grid, point, a));

    if (a != without)
      g_string_append_printf (text, "%s%s=%s", text->len > 0 ? ", " : "", key, value);
  }
  return g_string_free (text, FALSE);
}

/* How far apart in number are points that differ by one item of an axis. */
static gint64
stride_of (const FabGrid *grid, guint axis)
{
  gint64 stride = 1;

  for (guint a = axis + 1; a < grid->axes->len; a++)
    stride *= ((const FabGridAxis *) g_ptr_array_index (grid->axes, a))->n_items;
  return stride;
}

static const char *
value_at (const FabGridAxis *axis, guint item)
{
  const FabAxis *first = g_ptr_array_index (axis->keys, 0);

  return g_ptr_array_index (first->values, item);
}

static gboolean
differ (const FabPoint *before, const FabPoint *after)
{
  g_autoptr (GArray) changes = fab_choice_changes (before, after);

  return changes->len > 0;
}

void
fab_choice_pairs_add_grid (GArray *self, const FabGrid *grid, const FabPoint *const *points)
{
  for (guint a = 0; a < grid->axes->len; a++) {
    const FabGridAxis *axis = g_ptr_array_index (grid->axes, a);
    gint64 stride = stride_of (grid, a);

    for (gint64 point = 0; point < grid->n_points; point++) {
      guint item = fab_grid_item (grid, point, a);

      if (item + 1 >= axis->n_items || points[point] == NULL || points[point + stride] == NULL
          || !differ (points[point], points[point + stride]))
        continue;
      FabChoicePair one = { .key = ((const FabAxis *) g_ptr_array_index (axis->keys, 0))->key,
                            .before_value = g_strdup (value_at (axis, item)),
                            .after_value = g_strdup (value_at (axis, item + 1)),
                            .beside = grid->axes->len > 1 ? other_assignments (grid, point, a) : NULL,
                            .before = points[point],
                            .after = points[point + stride] };
      g_array_append_val (self, one);
    }
  }
}

/* --- what a change costs --- */

/* Whether the second value of the key makes a better machine than the first one, as far as that is known. */
static gboolean
is_better (const char *key, double before, double after)
{
  static const char *const gains[] = { "nic_rate", "nics_per_node", "rate", NULL };
  const char *name = strrchr (key, '.') != NULL ? strrchr (key, '.') + 1 : key;

  return g_strv_contains (gains, name) ? after > before : strcmp (name, "latency") == 0 && after < before;
}

/* By how much the step is longer though the machine is better; 0: it is not, or is not better. */
static double
slowdown_of (const FabChoicePair *self)
{
  double before, after;
  const char *unit;

  if (!fab_axis_split_number (self->before_value, &before, &unit)
      || !fab_axis_split_number (self->after_value, &after, &unit))
    return 0;
  return is_better (self->key, before, after) ? fab_choice_slowdown (self->before, self->after) : 0;
}

static int
compare_slowdown (gconstpointer a, gconstpointer b)
{
  double x = slowdown_of (*(const FabChoicePair *const *) a),
         y = slowdown_of (*(const FabChoicePair *const *) b);

  return fab_order_doubles (&y, &x);
}

/* A key of `collectives` is a choice itself. */
static gboolean
is_told (const FabChoicePair *self)
{
  return !g_str_has_prefix (self->key, "collectives") && differ (self->before, self->after);
}

/* Those with a change, the worst slowdown first. (transfer container) */
static GPtrArray *
changed (const GArray *neighbours)
{
  GPtrArray *list = g_ptr_array_new ();

  for (guint i = 0; i < neighbours->len; i++) {
    FabChoicePair *one = &g_array_index (neighbours, FabChoicePair, i);

    if (is_told (one))
      g_ptr_array_add (list, one);
  }
  g_ptr_array_sort (list, compare_slowdown); /* stable */
  return list;
}

static void
effect_clear (gpointer data)
{
  g_free (((FabChoiceEffect *) data)->reason);
}

GArray *
fab_choice_effects (const GArray *pairs)
{
  GArray *effects = g_array_new (FALSE, FALSE, sizeof (FabChoiceEffect));

  g_array_set_clear_func (effects, effect_clear);
  for (guint i = 0; i < pairs->len; i++) {
    const FabChoicePair *pair = &g_array_index (pairs, FabChoicePair, i);
    g_autoptr (GArray) changes = fab_choice_changes (pair->before, pair->after);

    for (guint c = 0; is_told (pair) && c < changes->len; c++) {
      const FabChoiceChange *change = &g_array_index (changes, FabChoiceChange, c);
      FabChoiceEffect effect = { pair, *change, slowdown_of (pair), NULL };

      if (effect.slowdown > 0)
        effect.reason = fab_choice_reason (pair->before, pair->after, change);
      g_array_append_val (effects, effect);
    }
  }
  return effects;
}

/* --- what is said --- */

static gboolean
is_number (const char *text)
{
  double number;
  const char *unit;

  return fab_axis_split_number (text, &number, &unit);
}

/* What is said of a pair, without its other assignments. (transfer full) */
static char *
words_of (const FabChoicePair *one)
{
  g_autoptr (GArray) changes = fab_choice_changes (one->before, one->after);
  const FabChoiceChange *change = &g_array_index (changes, FabChoiceChange, 0);
  g_autofree char *words = fab_choice_words (change);
  GString *text = g_string_new (NULL);
  double longer = slowdown_of (one);

  if (!is_number (one->before_value) || !is_number (one->after_value))
    g_string_append_printf (text, "%s in place of %s: %s", one->after_value, one->before_value, words);
  else if (one->is_apart)
    g_string_append_printf (text, "between %s and %s: %s", one->before_value, one->after_value, words);
  else
    g_string_append_printf (text, "from %s on: %s", one->after_value, words);
  if (changes->len > 1)
    g_string_append_printf (text, ", and %u more", changes->len - 1);
  if (longer > 0) {
    g_autofree char *reason = fab_choice_reason (one->before, one->after, change);

    g_string_append_printf (text, ";\n    the step is %.1f %% longer, because %s", 100 * longer, reason);
  }
  return g_string_free (text, FALSE);
}

static void
line_clear (gpointer data)
{
  g_free (((FabChoiceLine *) data)->words);
}

GArray *
fab_choice_lines (const GArray *pairs)
{
  g_autoptr (GPtrArray) list = changed (pairs);
  g_autoptr (GHashTable) places = g_hash_table_new (g_str_hash, g_str_equal); /* of words: 1 + their line */
  GArray *lines = g_array_new (FALSE, FALSE, sizeof (FabChoiceLine));

  g_array_set_clear_func (lines, line_clear);
  for (guint i = 0; i < list->len; i++) {
    const FabChoicePair *pair = g_ptr_array_index (list, i);
    FabChoiceLine fresh = { words_of (pair), pair->beside, 1 };
    guint place = GPOINTER_TO_UINT (g_hash_table_lookup (places, fresh.words));

    if (place == 0) {
      g_array_append_val (lines, fresh);
      g_hash_table_insert (places, fresh.words, GUINT_TO_POINTER (lines->len));
      continue;
    }
    FabChoiceLine *line = &g_array_index (lines, FabChoiceLine, place - 1);
    line->n++;
    line->beside = NULL;
    line_clear (&fresh);
  }
  return lines;
}
