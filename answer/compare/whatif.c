/* SPDX-License-Identifier: Apache-2.0 */
#include "answer/compare/whatif.h"

#include <string.h>

#include "answer/memory_advice.h"
#include "answer/study/hold.h"
#include "answer/study/spread.h"
#include "sim/base/error.h"

/* --- what is to be played --- */

/* Two that set the same key cannot be together. (transfer full): the sentence, NULL: they can. */
static char *
say_apart (const GPtrArray *changes)
{
  for (guint i = 0; i < changes->len; i++)
    for (guint k = i + 1; k < changes->len; k++) {
      const FabChange *a = g_ptr_array_index (changes, i), *b = g_ptr_array_index (changes, k);
      g_autofree char *key = fab_change_clash (a, b);

      if (key != NULL)
        return g_strdup_printf ("Not all together: %s and %s both set %s.", a->name, b->name, key);
    }
  return NULL;
}

static FabSide *
all_together (const GPtrArray *changes, const FabStudy *study)
{
  FabEdits *edits = fab_edits_new ();

  for (guint i = 0; i < changes->len; i++)
    fab_edits_append (edits, ((const FabChange *) g_ptr_array_index (changes, i))->edits);
  return fab_side_new ("all together", study, edits);
}

static GPtrArray *
sides_of (const GPtrArray *changes, const FabStudy *study, gboolean has_together)
{
  GPtrArray *sides = g_ptr_array_new_with_free_func ((GDestroyNotify) fab_side_free);

  g_ptr_array_add (sides, fab_side_new ("as it is", study, NULL));
  for (guint i = 0; i < changes->len; i++) {
    const FabChange *change = g_ptr_array_index (changes, i);

    FabEdits *edits = fab_edits_new ();

    fab_edits_append (edits, change->edits);
    g_ptr_array_add (sides, fab_side_new (change->name, study, edits));
  }
  if (has_together)
    g_ptr_array_add (sides, all_together (changes, study));
  return sides;
}

/* A job that hangs is an answer; everything else that cannot be played is a mistake, but for all of them together. */
static gboolean
check_sides (const GPtrArray *sides, guint n_changes, guint *mistaken, GError **error)
{
  for (guint i = 0; i <= n_changes; i++) {
    const GError *problem = fab_sides_at (sides, i)->problem;

    if (problem == NULL || (i > 0 && g_error_matches (problem, FAB_ERROR, FAB_ERROR_HUNG)))
      continue;
    *mistaken = i;
    g_propagate_error (error, g_error_copy (problem));
    return FALSE;
  }
  return TRUE;
}

/* --- words --- */

/* What limits the step, where it is something else than before. */
static void
append_limit (GString *out, const FabPoint *before, const FabPoint *after)
{
  const FabBottleneck *then = before->bottleneck, *now = after->bottleneck;

  if (then != NULL && now != NULL && strcmp (fab_bottleneck_part (then), fab_bottleneck_part (now)) != 0)
    g_string_append_printf (out, " The step is then limited by %s in place of %s.", fab_bottleneck_name (now),
                            fab_bottleneck_name (then));
}

static void
append_count (GString *out, guint n, guint all, const char *noun)
{
  if (n == 0)
    g_string_append_printf (out, "none of %u %s", all, noun);
  else if (n == all)
    g_string_append_printf (out, "all %u %s", all, noun);
  else
    g_string_append_printf (out, "%u of %u %s", n, all, noun);
}

/* How far a fault reaches. */
static void
append_reach (GString *out, const FabBlast *blast)
{
  g_string_append (out, " It slows ");
  if (blast->n_collectives > 0)
    append_count (out, blast->n_slower, blast->n_collectives, "collectives");
  else
    g_string_append (out, "other collectives than before");
  g_string_append (out, "; ");
  append_count (out, blast->n_waiting, blast->n_ranks, "GPUs");
  g_string_append (out, blast->n_waiting == 0 ? " waits longer." : " wait longer.");
}

/* Why nothing can be said of a change; NULL: something can. (transfer full) */
static char *
stops_of (const FabSide *base, const FabSide *one)
{
  g_autofree char *own = fab_verdict_stop_words (one->point->verdict),
                  *before = fab_verdict_stop_words (base->point->verdict);

  if (own != NULL)
    return g_strdup_printf ("%s: %s", one->name, own);
  return before != NULL ? g_strdup_printf ("%s: the job fits.", one->name) : NULL;
}

/* Why the step of side `index` differs; of a fault also how far it reaches. (transfer full) */
static char *
words_of (const FabWhatIfAnswer *self, const FabWhatIfRequest *request, guint index, guint column,
          const FabBlast *blast)
{
  const FabSide *base = fab_sides_at (self->sides, 0), *one = fab_sides_at (self->sides, index);
  const FabChange *change = index <= request->changes->len ? g_ptr_array_index (request->changes, index - 1)
                                                           : NULL;
  g_autofree char *stops = request->is_oversized_allowed ? NULL : stops_of (base, one);

  if (stops != NULL)
    return g_steal_pointer (&stops);
  double step_change = fab_spread_step_change (base->point, one->point).median;
  g_autofree char *why = fab_contrast_explain (self->contrast, column, step_change);
  g_autofree char *words = fab_spread_words (why, base->name, base->point, one->name, one->point);
  if (fab_spread_is_within (fab_figure_find ("step"), base->point, one->point))
    return g_steal_pointer (&words);
  GString *out = g_string_new (words);
  append_limit (out, base->point, one->point);
  if (change != NULL && change->kind == FAB_CHANGE_FAULT)
    append_reach (out, blast);
  return g_string_free (out, FALSE);
}

/* The first line of a problem. (transfer full) */
static char *
problem_of (const FabSide *side)
{
  g_auto (GStrv) lines = g_strsplit (side->problem->message, "\n", 2);

  return g_strdup_printf ("%s: %s", side->name, lines[0]);
}

static void
effect_clear (gpointer data)
{
  FabWhatIfEffect *self = data;

  g_free (self->words);
  g_clear_pointer (&self->switches, g_array_unref);
}

/* `column` is that of the side in the contrast. */
static FabWhatIfEffect
effect_of (const FabWhatIfAnswer *self, const FabWhatIfRequest *request, guint index, guint column)
{
  FabWhatIfEffect effect = { .is_played = TRUE };
  const FabVariant *before = fab_contrast_variant (self->contrast, 0),
                   *after = fab_contrast_variant (self->contrast, column);

  effect.blast = fab_blast_of (before, after);
  effect.switches = fab_switches_of (before, after);
  if (index > 0)
    effect.words = words_of (self, request, index, column, &effect.blast);
  return effect;
}

static void
find_effects (FabWhatIfAnswer *self, const FabWhatIfRequest *request)
{
  guint column = 0;

  self->effects = g_array_new (FALSE, FALSE, sizeof (FabWhatIfEffect));
  g_array_set_clear_func (self->effects, effect_clear);
  for (guint i = 0; i < self->sides->len; i++) {
    const FabSide *side = fab_sides_at (self->sides, i);
    FabWhatIfEffect effect = { NULL };

    if (side->point != NULL)
      effect = effect_of (self, request, i, column++);
    else
      effect.words = problem_of (side);
    g_array_append_val (self->effects, effect);
    self->n_seeds = MAX (self->n_seeds, fab_spread_n_seeds (side->point));
  }
}

/* --- the answer --- */

FabWhatIfAnswer *
fab_whatif_answer (const FabStudy *study, const FabWhatIfRequest *request, guint *mistaken, GError **error)
{
  g_autoptr (FabWhatIfAnswer) self = g_new0 (FabWhatIfAnswer, 1);
  const GPtrArray *changes = request->changes;

  self->apart = say_apart (changes);
  self->sides = sides_of (changes, study, changes->len > 1 && self->apart == NULL);
  self->n_seeds = 1;
  fab_sides_play (self->sides);
  if (request->has_band)
    fab_sides_find_bands (self->sides);
  if (request->has_band)
    fab_sides_compare (self->sides, 0);
  fab_sides_find_bottlenecks (self->sides);
  if (!check_sides (self->sides, changes->len, mistaken, error))
    return NULL;
  g_autoptr (FabScenario) scenario = fab_study_scenario (study, NULL, NULL);
  if (scenario != NULL)
    fab_advise_memory_of (scenario, &(FabMemoryTrying){ study->registry, study->n_threads, NULL },
                          fab_sides_at (self->sides, 0)->point->verdict);
  self->contrast = fab_sides_contrast (self->sides, 0);
  find_effects (self, request);
  return g_steal_pointer (&self);
}

void
fab_whatif_answer_free (FabWhatIfAnswer *self)
{
  if (self == NULL)
    return;
  g_clear_pointer (&self->effects, g_array_unref);
  fab_contrast_free (self->contrast);
  g_ptr_array_unref (self->sides);
  g_free (self->apart);
  g_free (self);
}

FabPoints *
fab_whatif_points (const FabWhatIfAnswer *self)
{
  static const char *const columns[] = { "change", "gpus", "nodes", NULL };
  FabPoints *points = fab_points_new (columns, 3, 2, fab_hold_of (fab_sides_at (self->sides, 0)->study));

  for (guint i = 0; i < self->sides->len; i++) {
    const FabSide *side = fab_sides_at (self->sides, i);
    char *const labels[] = { g_strdup (side->name),
                             g_strdup_printf ("%u", side->point ? side->point->n_ranks : 0),
                             g_strdup_printf ("%u", side->point ? side->point->n_nodes : 0) };

    fab_points_add (points, labels, side->point, side->problem ? side->problem->message : NULL);
  }
  return points;
}
