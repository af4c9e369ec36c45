/* SPDX-License-Identifier: Apache-2.0 */
#include "answer/variants/side.h"

#include <string.h>

#include "sim/base/thread_pool.h"
#include "sim/run/run.h"
#include "sim/study/study_bottleneck.h"

FabSide *
fab_side_new (const char *name, const FabStudy *study, FabEdits *edits)
{
  FabSide *self = g_new0 (FabSide, 1);

  self->name = g_strdup (name);
  self->path = g_strdup (study->path);
  self->study = study;
  self->edits = edits;
  return self;
}

FabSide *
fab_side_failed (const char *path, GError *problem)
{
  FabSide *self = g_new0 (FabSide, 1);

  self->path = g_strdup (path);
  self->problem = problem;
  return self;
}

void
fab_side_free (FabSide *self)
{
  if (self == NULL)
    return;
  g_free (self->name);
  g_free (self->path);
  fab_edits_free (self->edits);
  g_free (self->summary);
  fab_point_free (self->point);
  fab_band_free (self->band);
  fab_variant_free (self->variant);
  g_clear_error (&self->problem);
  g_free (self);
}

static FabBytesPerS
nic_rate (const FabScenario *scenario)
{
  const FabClusterSpec *cluster = &fab_scenario_spec (scenario)->cluster;
  const FabCatalog *catalog = fab_scenario_catalog (scenario);
  const char *name = cluster->nic ? cluster->nic : fab_catalog_node (catalog, cluster->node)->nic;
  const FabLinkSpec *link = name ? fab_catalog_link (catalog, name) : NULL;

  if (cluster->nic_rate_bytes_per_s > 0)
    return cluster->nic_rate_bytes_per_s;
  return link ? fab_link_spec_line_rate (link) : 0;
}

/* A side with one seed. */
typedef struct {
  FabSide *side;
  guint index; /* of the seed */
  FabPoint *point;
  FabVariant *variant;
  GError *problem;
} Draw;

static void
take (Draw *self, const FabScenario *scenario, const FabSimulation *simulation)
{
  const FabScenarioSpec *spec = fab_scenario_spec (scenario);
  FabSide *side = self->side;

  self->point = fab_point_of (scenario, simulation, side->study->registry, &self->problem);
  if (self->point == NULL)
    return;
  self->variant = fab_variant_of (scenario, simulation);
  self->variant->verdict = fab_verdict_copy (self->point->verdict);
  if (self->index > 0)
    return;
  side->nic_bytes_per_s = nic_rate (scenario);
  side->summary = g_strdup (spec->summary);
  if (side->name == NULL)
    side->name = g_strdup (spec->name);
}

static void
play_one (gpointer data, guint item)
{
  Draw *self = &((Draw *) data)[item];
  const FabStudy *study = self->side->study;
  g_autoptr (FabScenario) scenario = fab_study_draw (study, self->side->edits, self->index, &self->problem);
  g_autoptr (FabSimulation) simulation = scenario ? fab_scenario_run (scenario, study->registry, NULL, NULL,
                                                                      &self->problem)
                                                  : NULL;
  fab_pulse_beat (study->pulse);
  if (simulation != NULL)
    take (self, scenario, simulation);
}

/* Appends the draws `first` to `end` of a side. */
static void
add_draws (GArray *list, FabSide *side, guint first, guint end)
{
  for (guint i = first; i < end; i++) {
    Draw draw = { side, i, NULL, NULL, NULL };

    g_array_append_val (list, draw);
  }
}

/* Gives a side the draw with the median step of its first and its other draws, or the first problem. Takes what is in
 * them. */
static void
settle (FabSide *side, Draw *first, Draw *others, guint n_others)
{
  GPtrArray *points = g_ptr_array_new_with_free_func ((GDestroyNotify) fab_point_free);

  for (guint i = 0; i <= n_others; i++) {
    Draw *draw = i == 0 ? first : &others[i - 1];

    if (draw->problem != NULL && side->problem == NULL)
      side->problem = g_steal_pointer (&draw->problem);
    g_clear_error (&draw->problem);
    if (draw->point != NULL)
      g_ptr_array_add (points, draw->point);
  }
  guint median = side->problem == NULL ? fab_spread_median (points) : 0;
  for (guint i = 0; i <= n_others; i++) {
    Draw *draw = i == 0 ? first : &others[i - 1];

    if (side->problem == NULL && i == median)
      side->variant = draw->variant;
    else
      fab_variant_free (draw->variant);
  }
  if (side->problem != NULL) {
    g_ptr_array_unref (points);
    return;
  }
  side->point = fab_spread_join (points);
  g_free (side->variant->name);
  side->variant->name = g_strdup (side->name);
}

void
fab_sides_play (GPtrArray *sides)
{
  g_autoptr (GArray) first = g_array_new (FALSE, FALSE, sizeof (Draw)),
                     others = g_array_new (FALSE, FALSE, sizeof (Draw));
  guint n_threads = 0, at = 0;

  for (guint i = 0; i < sides->len; i++) {
    FabSide *side = fab_sides_at (sides, i);

    if (side->study != NULL)
      n_threads = side->study->n_threads;
    if (side->point == NULL && side->problem == NULL) {
      fab_pulse_expect (side->study->pulse, 1);
      add_draws (first, side, 0, 1);
    }
  }
  fab_thread_pool_run (n_threads, first->len, play_one, first->data);
  for (guint i = 0; i < first->len; i++) {
    const Draw *draw = &g_array_index (first, Draw, i);
    guint n = fab_study_n_draws (draw->side->study, draw->side->edits, draw->point);

    fab_pulse_expect (draw->side->study->pulse, n - 1);
    add_draws (others, draw->side, 1, n);
  }
  fab_thread_pool_run (n_threads, others->len, play_one, others->data);
  for (guint i = 0; i < first->len; i++) {
    Draw *draw = &g_array_index (first, Draw, i);
    guint n = 0;

    while (at + n < others->len && g_array_index (others, Draw, at + n).side == draw->side)
      n++;
    settle (draw->side, draw, n > 0 ? &g_array_index (others, Draw, at) : NULL, n);
    at += n;
  }
}

/* --- bands --- */

static void
find_band (gpointer data, guint item)
{
  FabSide *side = fab_sides_at (data, item);
  const FabFigure *const figures[] = { fab_figure_find ("step"), fab_figure_find ("exposed_time") };
  g_autoptr (GError) problem = NULL;

  if (side->point != NULL)
    fab_study_band (side->study, side->edits, side->point,
                    &(FabBandFigures){ figures, G_N_ELEMENTS (figures) }, &side->band, &problem);
}

void
fab_sides_find_bands (GPtrArray *sides)
{
  guint n_threads = 0;

  for (guint i = 0; i < sides->len; i++)
    if (fab_sides_at (sides, i)->study != NULL)
      n_threads = fab_sides_at (sides, i)->study->n_threads;
  fab_thread_pool_run (n_threads, sides->len, find_band, sides);
}

void
fab_sides_find_bottlenecks (GPtrArray *sides)
{
  for (guint i = 0; i < sides->len; i++) {
    FabSide *side = fab_sides_at (sides, i);

    if (side->point == NULL)
      continue;
    fab_study_find_bottleneck (side->study, side->edits, side->point);
    if (side->point->bottleneck != NULL)
      fab_bottleneck_judge (side->point->bottleneck, side->variant->verdict);
  }
}

typedef struct {
  GPtrArray *sides;
  guint base;
  const FabPaired *paired;
} Comparing;

static void
compare_one (gpointer data, guint item)
{
  const Comparing *self = data;
  FabSide *side = fab_sides_at (self->sides, item);
  g_auto (FabStudySide) other = { 0 };

  if (item == self->base || side->point == NULL || side->point->step_s <= 0
      || !fab_study_side_init (&other, side->study, side->edits, side->point, NULL)
      || !fab_paired_compare (self->paired, &other.side, &side->change, NULL))
    side->change = (FabPairedBand){ 0 };
}

void
fab_sides_compare (GPtrArray *sides, guint base)
{
  const FabSide *first = fab_sides_at (sides, base);
  g_auto (FabStudySide) side = { 0 };

  if (first->point == NULL || first->point->step_s <= 0
      || !fab_study_side_init (&side, first->study, first->edits, first->point, NULL))
    return;
  const FabDecisionEnv env = fab_study_env (first->study);
  g_autoptr (FabPaired) paired = fab_paired_new (&env, &side.side, NULL);
  if (paired != NULL)
    fab_thread_pool_run (first->study->n_threads, sides->len, compare_one,
                         &(Comparing){ sides, base, paired });
}

gboolean
fab_sides_check (const GPtrArray *sides, GError **error)
{
  for (guint i = 0; i < sides->len; i++) {
    const FabSide *side = fab_sides_at (sides, i);

    if (side->problem == NULL)
      continue;
    g_propagate_error (error, g_error_copy (side->problem));
    if (strchr (side->problem->message, '\n') == NULL)
      g_prefix_error (error, "%s: ", side->name ? side->name : side->path);
    return FALSE;
  }
  return TRUE;
}

FabContrast *
fab_sides_contrast (GPtrArray *sides, guint base)
{
  GPtrArray *variants = g_ptr_array_new_with_free_func ((GDestroyNotify) fab_variant_free);
  guint first = 0;

  for (guint i = 0; i < sides->len; i++) {
    FabSide *side = fab_sides_at (sides, i);

    if (i == base)
      first = variants->len;
    if (side->variant != NULL)
      g_ptr_array_add (variants, g_steal_pointer (&side->variant));
  }
  return fab_contrast_new (variants, first);
}
