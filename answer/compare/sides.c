/* SPDX-License-Identifier: Apache-2.0 */
#include "answer/compare/sides.h"

#include <string.h>

#include "answer/study/choices.h"
#include "answer/study/hold.h"
#include "answer/study/spread.h"
#include "sim/base/error.h"
#include "sim/study/better.h"

/* --- what is to be played --- */

/* "nodes=4" of "cluster.nodes=4". */
static const char *
last_part (const char *key)
{
  const char *dot = strrchr (key, '.');

  return dot ? dot + 1 : key;
}

GPtrArray *
fab_sides_of_axis (const FabStudy *study, const FabAxis *axis)
{
  GPtrArray *sides = g_ptr_array_new_with_free_func ((GDestroyNotify) fab_side_free);

  for (guint i = 0; i < axis->values->len; i++) {
    const char *value = g_ptr_array_index (axis->values, i);
    g_autofree char *name = g_strconcat (last_part (axis->key), "=", value, NULL);
    FabEdits *edits = fab_edits_new ();

    fab_edits_vary (edits, axis->key, value);
    g_ptr_array_add (sides, fab_side_new (name, study, edits));
  }
  return sides;
}

/* Several files may hold scenarios of one name: then they are called as the files are. */
static void
name_apart (GPtrArray *sides)
{
  g_autoptr (GHashTable) seen = g_hash_table_new (g_str_hash, g_str_equal);
  gboolean is_apart = TRUE;

  for (guint i = 0; i < sides->len; i++)
    is_apart &= g_hash_table_add (seen, fab_sides_at (sides, i)->name);
  for (guint i = 0; i < sides->len && !is_apart; i++) {
    FabSide *side = fab_sides_at (sides, i);

    g_free (side->name);
    side->name = g_path_get_basename (side->path);
    g_free (side->variant->name);
    side->variant->name = g_strdup (side->name);
  }
}

/* Values that cannot be played are left out; a file that cannot is a mistake. */
static gboolean
drop_problems (GPtrArray *sides, gboolean is_axis, GPtrArray *left_out, GError **error)
{
  if (!is_axis && !fab_sides_check (sides, error))
    return FALSE;
  for (guint i = sides->len; i-- > 0;) {
    const FabSide *side = fab_sides_at (sides, i);

    if (side->problem == NULL)
      continue;
    if (sides->len == 1)
      return fab_sides_check (sides, error);
    g_auto (GStrv) lines = g_strsplit (side->problem->message, "\n", 2);
    g_ptr_array_insert (left_out, 0, g_strdup_printf ("%s cannot be simulated: %s", side->name, lines[0]));
    g_ptr_array_remove_index (sides, i);
  }
  g_ptr_array_add (left_out, NULL);
  return TRUE;
}

gboolean
fab_sides_settle (GPtrArray *sides, gboolean is_axis, gboolean has_band, GPtrArray *left_out, GError **error)
{
  fab_sides_play (sides);
  if (has_band)
    fab_sides_find_bands (sides);
  if (!drop_problems (sides, is_axis, left_out, error))
    return FALSE;
  if (!is_axis)
    name_apart (sides);
  return TRUE;
}

/* Its name, or the value that it has. */
static gboolean
is_called (const FabSide *side, const char *name)
{
  return strcmp (side->name, name) == 0
      || (side->edits != NULL && strcmp (strchr (fab_edits_at (side->edits, 0)->text, '=') + 1, name) == 0);
}

gboolean
fab_sides_find (const GPtrArray *sides, const char *name, guint *index, GError **error)
{
  g_autoptr (GString) names = g_string_new (NULL);

  for (*index = 0; *index < sides->len; ++*index) {
    if (name == NULL || is_called (fab_sides_at (sides, *index), name))
      return TRUE;
    g_string_append_printf (names, "%s%s", *index > 0 ? ", " : "", fab_sides_at (sides, *index)->name);
  }
  return fab_throw (error, FAB_ERROR_INPUT, "this is none of %s", names->str);
}

/* --- words --- */

static void
words_clear (gpointer data)
{
  g_free (((FabSideWords *) data)->words);
}

static gboolean
is_sound (const FabSidesAnswer *self, guint index)
{
  return self->is_oversized_allowed || !fab_verdict_stops (fab_sides_at (self->sides, index)->point->verdict);
}

/* Why the step of a side differs, and what limits it where that is something else than what limits the base's. */
static void
judge (const FabSidesAnswer *self, guint index, FabSideWords *words)
{
  const FabSide *base = fab_sides_at (self->sides, self->contrast->base),
                *side = fab_sides_at (self->sides, index);
  const FabBottleneck *then = base->point->bottleneck, *now = side->point->bottleneck;
  g_autofree char *why = fab_contrast_explain (self->contrast, index,
                                               fab_spread_step_change (base->point, side->point).median);

  words->words = fab_spread_words (why, base->name, base->point, side->name, side->point);
  words->differs = !fab_spread_is_within (fab_figure_find ("step"), base->point, side->point);
  if (!words->differs || then == NULL || now == NULL
      || strcmp (fab_bottleneck_part (then), fab_bottleneck_part (now)) == 0)
    return;
  g_autofree char *said = g_steal_pointer (&words->words);
  words->words = g_strdup_printf ("%s The step is limited by %s in place of %s.", said,
                                  fab_bottleneck_name (now), fab_bottleneck_name (then));
}

/* Of the work: steps of different batches do not say it. */
static double
speed_up (const FabPoint *base, const FabPoint *point)
{
  if (base->tokens_per_s > 0 && point->tokens_per_s > 0)
    return point->tokens_per_s / base->tokens_per_s;
  return point->step_s > 0 ? base->step_s / point->step_s : 1;
}

static void
find_words (FabSidesAnswer *self)
{
  const FabPoint *base = fab_sides_at (self->sides, self->contrast->base)->point;

  for (guint i = 0; i < self->sides->len; i++) {
    FabSideWords words = { .is_sound = is_sound (self, i),
                           .speed_up = speed_up (base, fab_sides_at (self->sides, i)->point) };

    words.is_judged = i != self->contrast->base && words.is_sound && is_sound (self, self->contrast->base);
    if (words.is_judged)
      judge (self, i, &words);
    g_array_append_val (self->words, words);
    self->n_seeds = MAX (self->n_seeds, fab_spread_n_seeds (fab_sides_at (self->sides, i)->point));
  }
}

/* --- equality --- */

static const char nic_rate[] = "cluster.nic_rate";

static void
equal_clear (gpointer data)
{
  FabSideEqual *self = data;

  fab_size_free (self->size);
  g_free (self->problem);
}

/* The rate of ports that is enough; 0: nothing is to be said of it. */
static FabBytesPerS
needed_rate (const FabAxis *axis, const FabSide *side, const FabSize *size)
{
  gint64 needed;

  if (size == NULL || size->answer <= 0 || strcmp (axis->key, nic_rate) != 0 || side->nic_bytes_per_s == 0
      || !fab_units_parse_whole (FAB_UNIT_RATE, size->points[size->answer].value, &needed, NULL))
    return 0;
  return (FabBytesPerS) needed;
}

static FabSideEqual
find_equal (const FabSidesAnswer *self, guint index)
{
  const FabSide *base = fab_sides_at (self->sides, self->contrast->base),
                *side = fab_sides_at (self->sides, index);
  FabTarget target = { self->figure, !self->figure->is_gain, self->figure->value (base->point) };
  g_autoptr (FabStudy) study = fab_study_edited (side->study, side->edits);
  g_autoptr (GError) problem = NULL;
  FabSideEqual equal = { .side = index };

  study->allows_oversized = self->is_oversized_allowed;
  equal.size = fab_size_find (study, &(FabSizeSpec){ self->axis, &target, 1 }, &problem);
  if (equal.size == NULL)
    equal.problem = g_strdup (problem->message);
  equal.needed_bytes_per_s = needed_rate (self->axis, side, equal.size);
  return equal;
}

static void
find_equals (FabSidesAnswer *self)
{
  if (self->figure == NULL || !is_sound (self, self->contrast->base))
    return;
  for (guint i = 0; i < self->sides->len; i++)
    if (i != self->contrast->base) {
      FabSideEqual equal = find_equal (self, i);

      g_array_append_val (self->equals, equal);
    }
}

/* --- the answer --- */

static void
add_pairs (FabSidesAnswer *self)
{
  for (guint i = 1; self->variants != NULL && i < self->sides->len; i++) {
    const FabSide *before = fab_sides_at (self->sides, i - 1), *after = fab_sides_at (self->sides, i);

    fab_choice_pairs_add (self->pairs, self->variants->key, strchr (before->name, '=') + 1, before->point,
                          strchr (after->name, '=') + 1, after->point); /* "nic_rate=80Gb/s" */
  }
}

FabSidesAnswer *
fab_sides_answer (GPtrArray *sides, const FabSidesRequest *request)
{
  FabSidesAnswer *self = g_new0 (FabSidesAnswer, 1);
  const FabSide *first = fab_sides_at (sides, 0);

  if (request->has_band)
    fab_sides_compare (sides, request->base);
  fab_sides_find_bottlenecks (sides);
  *self = (FabSidesAnswer){ .sides = sides,
                            .figure = request->figure,
                            .variants = request->variants,
                            .is_oversized_allowed = request->is_oversized_allowed,
                            .axis = request->axis,
                            .contrast = fab_sides_contrast (sides, request->base),
                            .words = g_array_new (FALSE, FALSE, sizeof (FabSideWords)),
                            .equals = g_array_new (FALSE, FALSE, sizeof (FabSideEqual)),
                            .pairs = fab_choice_pairs_new (),
                            .n_seeds = 1,
                            .hold = first->edits != NULL ? fab_hold_of (first->study) : NULL };
  g_array_set_clear_func (self->words, words_clear);
  g_array_set_clear_func (self->equals, equal_clear);
  if (self->axis == NULL) /* from a slow Ethernet to far beyond what is sold, in steps of 2.3 % */
    self->axis = self->own_axis = fab_axis_decades (nic_rate, 10, 10000, 100, "Gb/s");
  find_words (self);
  find_equals (self);
  add_pairs (self);
  return self;
}

void
fab_sides_answer_free (FabSidesAnswer *self)
{
  if (self == NULL)
    return;
  fab_contrast_free (self->contrast);
  g_array_unref (self->words);
  g_array_unref (self->equals);
  g_array_unref (self->pairs);
  fab_axis_free (self->own_axis);
  g_free (self);
}

FabPoints *
fab_sides_points (const FabSidesAnswer *self)
{
  static const char *const columns[] = { "name", "gpus", "nodes", NULL };
  FabPoints *points = fab_points_new (columns, 3, 2, self->hold);

  for (guint i = 0; i < self->sides->len; i++) {
    const FabSide *side = fab_sides_at (self->sides, i);
    char *const labels[] = { g_strdup (side->name), g_strdup_printf ("%u", side->point->n_ranks),
                             g_strdup_printf ("%u", side->point->n_nodes) };

    fab_points_add (points, labels, side->point, NULL);
  }
  return points;
}
