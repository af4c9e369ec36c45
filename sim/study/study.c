/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/study/study.h"

#include <string.h>

#include "sim/base/error.h"
#include "sim/base/thread_pool.h"
#include "sim/base/units.h"

void
fab_try_clear (FabTry *self)
{
  g_clear_pointer (&self->point, fab_point_free);
  g_clear_pointer (&self->problem, g_free);
  g_clear_error (&self->trouble);
}

/* For as many threads as may play at once, and for several machines and all draws of one in turn. */
static FabPlantCache *
new_plants (void)
{
  enum { LEAST = 16 };

  return fab_plant_cache_new (MAX (g_get_num_processors (), LEAST));
}

/* What is wrong with it is told by the variants that do not mend it. */
static void
check_base (FabStudy *self)
{
  if (fab_scenario_check (self->base, NULL))
    self->batch = fab_batch_of (self->base);
}

/* Takes the edits. */
static FabStudy *
open_study (const char *path, FabEdits *edits, const FabCatalog *catalog, const FabRegistry *registry,
            GError **error)
{
  g_autoptr (FabStudy) self = g_new0 (FabStudy, 1);

  *self = (FabStudy){ .path = g_strdup (path),
                      .edits = edits,
                      .base = fab_scenario_open (path, registry, catalog, error),
                      .catalog = catalog,
                      .registry = registry,
                      .plants = new_plants (),
                      .n_seeds = FAB_SPREAD_AUTO };
  if (self->base == NULL)
    return NULL;
  fab_scenario_edit (self->base, edits);
  check_base (self);
  return g_steal_pointer (&self);
}

FabStudy *
fab_study_new (const char *path, const char *const *sets, const FabCatalog *catalog,
               const FabRegistry *registry, GError **error)
{
  return open_study (path, fab_edits_of (sets), catalog, registry, error);
}

FabStudy *
fab_study_of (const char *name, const FabScenario *scenario, const FabCatalog *catalog,
              const FabRegistry *registry)
{
  FabStudy *self = g_new0 (FabStudy, 1);

  *self = (FabStudy){ .path = g_strdup (name),
                      .edits = fab_edits_new (),
                      .base = fab_scenario_copy (scenario),
                      .catalog = catalog,
                      .registry = registry,
                      .plants = new_plants (),
                      .n_seeds = FAB_SPREAD_AUTO };
  check_base (self);
  return self;
}

static FabEdits *
joined (const FabEdits *first, const FabEdits *second)
{
  FabEdits *edits = fab_edits_new ();

  fab_edits_append (edits, first);
  fab_edits_append (edits, second);
  return edits;
}

FabStudy *
fab_study_again (const FabStudy *study, GError **error)
{
  FabStudy *self = open_study (study->path, joined (study->edits, NULL), study->catalog, study->registry,
                               error);

  if (self != NULL) {
    self->n_seeds = study->n_seeds;
    self->n_threads = study->n_threads;
    self->cancel = study->cancel;
    self->pulse = study->pulse;
    self->allows_oversized = study->allows_oversized;
    self->hold = study->hold;
    self->held_for = study->held_for;
  }
  return self;
}

FabStudy *
fab_study_edited (const FabStudy *study, const FabEdits *edits)
{
  FabStudy *self = g_new0 (FabStudy, 1);

  *self = *study;
  self->path = g_strdup (study->path);
  self->edits = joined (study->edits, edits);
  self->base = fab_scenario_copy (study->base);
  self->plants = new_plants ();
  self->batch = (FabBatch){ .n_gpus = 0 };
  fab_scenario_edit (self->base, edits);
  check_base (self);
  return self;
}

void
fab_study_free (FabStudy *self)
{
  if (self == NULL)
    return;
  fab_plant_cache_free (self->plants);
  fab_scenario_free (self->base);
  fab_edits_free (self->edits);
  g_free (self->path);
  g_free (self);
}

/* Holds the batch of the study in the checked scenario of a variant. FALSE and *error: it cannot be divided. */
static gboolean
hold_batch (const FabStudy *study, FabScenario *scenario, GError **error)
{
  const FabBatch batch = fab_batch_of (scenario);
  g_autoptr (FabEdits) held = fab_edits_new ();

  if (!fab_hold_set (study->hold, &study->batch, &batch, held, error))
    return FALSE;
  if (fab_edits_count (held) == 0)
    return TRUE;
  fab_scenario_edit (scenario, held);
  return fab_scenario_check (scenario, error);
}

FabScenario *
fab_study_scenario (const FabStudy *study, const FabEdits *edits, GError **error)
{
  g_autoptr (FabScenario) scenario = fab_scenario_copy (study->base);

  fab_scenario_edit (scenario, edits);
  if (!fab_scenario_check (scenario, error)
      || (study->hold != FAB_HOLD_WRITTEN && !fab_hold_is_set_by (edits)
          && !hold_batch (study, scenario, error)))
    return NULL;
  return g_steal_pointer (&scenario);
}

/* Whether each value is one of the unit that the key has; TRUE where it has none. */
static gboolean
check_units (const FabStudy *study, const FabAxis *axis, GError **error)
{
  g_autoptr (FabScenario) scenario = fab_study_scenario (study, NULL, NULL);
  g_autoptr (FabValue) value = NULL;

  if (scenario == NULL || !fab_scenario_get (scenario, axis->key, &value, NULL) || value == NULL
      || value->kind != FAB_VALUE_WHOLE || value->unit == FAB_UNIT_COUNT)
    return TRUE;
  for (guint i = 0; i < axis->values->len; i++) {
    g_autoptr (GError) problem = NULL;
    gint64 number;

    if (!fab_units_parse_whole (value->unit, g_ptr_array_index (axis->values, i), &number, &problem))
      return fab_throw (error, FAB_ERROR_INPUT, "--vary %s: %s", axis->key, problem->message);
  }
  return TRUE;
}

gboolean
fab_study_check_vary (const FabStudy *study, const FabAxis *axis, GError **error)
{
  const char *set = fab_scenario_assigned (study->base, axis->key);

  if (set != NULL)
    return fab_throw (error, FAB_ERROR_INPUT,
                      "--vary %s undoes --set %s in every variant; give only one of the two", axis->key, set);
  return check_units (study, axis, error);
}

gboolean
fab_study_accepts (const FabStudy *study, const FabPoint *point)
{
  return point != NULL && (study->allows_oversized || fab_point_fits (point));
}

static gboolean
is_trouble (const GError *problem)
{
  return g_error_matches (problem, FAB_ERROR, FAB_ERROR_BROKEN)
      || g_error_matches (problem, FAB_ERROR, FAB_ERROR_CANCELLED);
}

FabScenario *
fab_study_draw (const FabStudy *study, const FabEdits *edits, guint index, GError **error)
{
  g_autoptr (FabScenario) scenario = fab_study_scenario (study, edits, error);

  return scenario == NULL || index == 0 ? g_steal_pointer (&scenario) : fab_draw_of (scenario, index, error);
}

/* Whether the edits say which seed it is. */
static gboolean
set_seed (const FabEdits *edits)
{
  for (guint i = 0; i < fab_edits_count (edits); i++) {
    const FabEdit *edit = fab_edits_at (edits, i);

    if (edit->key != NULL ? strcmp (edit->key, "seed") == 0 : g_str_has_prefix (edit->text, "seed="))
      return TRUE;
  }
  return FALSE;
}

FabDecisionEnv
fab_study_env (const FabStudy *study)
{
  return (FabDecisionEnv){ study->registry, study->plants, study->cancel, NULL, study->n_threads };
}

/* A point without times was not simulated, and needs no second play. */
guint
fab_study_n_draws (const FabStudy *study, const FabEdits *edits, const FabPoint *first)
{
  if (first == NULL || first->step_s <= 0)
    return 1;
  if (study->n_seeds != FAB_SPREAD_AUTO)
    return study->n_seeds;
  return set_seed (edits) ? 1 : fab_draw_count (first->uses_seed, first->n_events);
}

/* The plays of one variant while some of them are missing. */
typedef struct {
  const FabStudy *study;
  FabTry *try;
  double most_step_s;
  GPtrArray *draws; /* FabPoint or NULL, in the order of seeds */
  GError **errors;  /* [draws->len] */
} Draws;

static void
draws_init (Draws *self, const FabStudy *study, FabTry *try, double most_step_s)
{
  *self = (Draws){ study, try, most_step_s, g_ptr_array_new_with_free_func ((GDestroyNotify) fab_point_free),
                   g_new0 (GError *, 1) };
  g_ptr_array_set_size (self->draws, 1);
}

static void
play_draw (Draws *self, guint index)
{
  const FabPointLimits limits = { self->most_step_s, self->study->plants, self->study->cancel };
  g_autoptr (FabScenario) scenario = fab_study_draw (self->study, self->try->edits, index,
                                                     &self->errors[index]);

  if (scenario != NULL)
    self->draws->pdata[index] = fab_point_play_within (scenario, self->study->registry, &limits,
                                                       &self->errors[index]);
  fab_pulse_beat (self->study->pulse);
}

/* Makes room for the other seeds when the first was played. */
static void
draws_grow (Draws *self)
{
  guint n = fab_study_n_draws (self->study, self->try->edits, self->draws->pdata[0]);

  g_ptr_array_set_size (self->draws, (gint) n);
  self->errors = g_renew (GError *, self->errors, n);
  for (guint i = 1; i < n; i++)
    self->errors[i] = NULL;
}

/* Takes the error. */
static void
tell (FabTry *self, GError *error)
{
  if (is_trouble (error))
    self->trouble = error;
  else {
    self->problem_code = error->domain == FAB_ERROR ? error->code : FAB_ERROR_INPUT;
    self->problem = g_strdup (error->message);
    g_error_free (error);
  }
}

static gboolean
is_open (const FabTry *self)
{
  return self->point == NULL && self->problem == NULL && self->trouble == NULL;
}

/* Gives the try its point, or the first error. */
static void
draws_end (Draws *self)
{
  guint n = self->draws->len;

  for (guint i = 0; i < n && is_open (self->try); i++) {
    if (self->errors[i] == NULL)
      continue;
    if (n > 1 && !is_trouble (self->errors[i]))
      g_prefix_error (&self->errors[i], "with seed %u of %u: ", i + 1, n);
    tell (self->try, g_steal_pointer (&self->errors[i]));
  }
  for (guint i = 0; i < n; i++)
    g_clear_error (&self->errors[i]);
  g_free (self->errors);
  if (is_open (self->try))
    self->try->point = fab_spread_join (self->draws);
  else
    g_ptr_array_unref (self->draws);
}

void
fab_try_play_within (const FabStudy *study, FabTry *self, double most_step_s)
{
  Draws draws;

  if (!is_open (self))
    return;
  draws_init (&draws, study, self, most_step_s);
  play_draw (&draws, 0);
  draws_grow (&draws);
  fab_pulse_expect (study->pulse, draws.draws->len - 1);
  for (guint i = 1; i < draws.draws->len; i++)
    play_draw (&draws, i);
  draws_end (&draws);
}

void
fab_try_weigh (const FabStudy *study, FabTry *self)
{
  const FabPointLimits limits = { .plants = study->plants, .cancel = study->cancel };
  GError *problem = NULL;

  if (!is_open (self))
    return;
  g_autoptr (FabScenario) scenario = fab_study_scenario (study, self->edits, &problem);
  if (scenario != NULL)
    self->point = fab_point_weigh (scenario, study->registry, &limits, &problem);
  if (self->point == NULL)
    tell (self, problem);
}

void
fab_try_play (const FabStudy *study, FabTry *self)
{
  fab_try_play_within (study, self, 0);
}

typedef struct {
  Draws *variant;
  guint index;
} Draw;

static void
play_one (gpointer data, guint item)
{
  const Draw *draw = &((const Draw *) data)[item];

  play_draw (draw->variant, draw->index);
}

/* Appends the draws of a variant from `first` on. */
static void
add_draws (GArray *list, Draws *variant, guint first)
{
  for (guint i = first; i < variant->draws->len; i++) {
    Draw draw = { variant, i };

    g_array_append_val (list, draw);
  }
}

/* The first seed of all variants, which says how many more each of them needs, and then all of these. */
static void
play_all (const FabStudy *study, Draws *variants, guint n)
{
  g_autoptr (GArray) first = g_array_new (FALSE, FALSE, sizeof (Draw)),
                     others = g_array_new (FALSE, FALSE, sizeof (Draw));

  const guint n_seeds = study->n_seeds != FAB_SPREAD_AUTO ? study->n_seeds : 1;

  for (guint i = 0; i < n; i++)
    add_draws (first, &variants[i], 0);
  fab_pulse_expect (study->pulse, first->len * n_seeds);
  fab_thread_pool_run (study->n_threads, first->len, play_one, first->data);
  for (guint i = 0; i < n; i++) {
    draws_grow (&variants[i]);
    add_draws (others, &variants[i], 1);
    for (guint k = variants[i].draws->len; k < n_seeds; k++)
      fab_pulse_beat (study->pulse); /* that are not needed */
  }
  if (study->n_seeds == FAB_SPREAD_AUTO)
    fab_pulse_expect (study->pulse, others->len);
  fab_thread_pool_run (study->n_threads, others->len, play_one, others->data);
}

gboolean
fab_study_play (const FabStudy *study, FabTry *const *tries, guint n, GError **error)
{
  g_autofree Draws *variants = g_new (Draws, MAX (n, 1));
  guint n_open = 0;

  for (guint i = 0; i < n; i++)
    if (is_open (tries[i]))
      draws_init (&variants[n_open++], study, tries[i], 0);
  play_all (study, variants, n_open);
  for (guint i = 0; i < n_open; i++)
    draws_end (&variants[i]);
  for (guint i = 0; i < n; i++)
    if (tries[i]->trouble != NULL) {
      g_propagate_error (error, g_error_copy (tries[i]->trouble));
      return FALSE;
    }
  return TRUE;
}

FabPoint *
fab_study_point (const FabStudy *study, GError **error)
{
  FabTry trial = { .edits = NULL };
  FabTry *tries[] = { &trial };

  if (!fab_study_play (study, tries, 1, error))
    g_clear_error (&trial.trouble);
  else if (trial.problem != NULL)
    g_set_error_literal (error, FAB_ERROR, trial.problem_code, trial.problem);
  g_free (trial.problem);
  return trial.point;
}
