/* SPDX-License-Identifier: Apache-2.0 */
/* pairs_world.h - tables and runs that are made by hand, and the pairs of them. */
#pragma once

#include <string.h>

#include "tests/support/test.h"
#include "validate/bands/pairs.h"

enum { KIB = 1024, MIB = 1024 * KIB, MOST_TABLES = 8 };

/* A report of a few tables, each with a size of 64 MiB and one of 256 MiB. */
typedef struct {
  FabReport report;
  FabMeasuredSpec specs[MOST_TABLES];
  FabMeasuredTable tables[MOST_TABLES];
  FabMeasuredRow rows[MOST_TABLES][2];
  FabPrediction predictions[MOST_TABLES][2];
  FabComparison comparisons[MOST_TABLES];
  guint n;
} World;

static inline World *
world_new (void)
{
  World *self = g_new0 (World, 1);

  self->report.comparisons = g_ptr_array_new ();
  return self;
}

static inline void
world_free (World *self)
{
  for (guint i = 0; i < self->n; i++) {
    g_hash_table_unref (self->tables[i].csv->header);
    g_free (self->tables[i].csv);
    g_free (self->tables[i].publication);
    g_array_unref (self->comparisons[i].rows);
  }
  g_ptr_array_unref (self->report.comparisons);
  g_free (self);
}

G_DEFINE_AUTOPTR_CLEANUP_FUNC (World, world_free)

/* A table whose times are measured / predicted = `ratio`. */
static inline FabMeasuredSpec *
add_table (World *self, const char *source, const char *family, double ratio)
{
  guint i = self->n++;
  FabComparison *comparison = &self->comparisons[i];

  self->specs[i] = (FabMeasuredSpec){ .node = "box", .nodes = 2, .gpus_per_node = 8, .interconnect = family };
  self->tables[i].spec = &self->specs[i];
  self->tables[i].name = (char *) family;
  self->tables[i].publication = fab_measured_publication (source);
  self->tables[i].csv = g_new0 (FabMeasuredCsv, 1);
  self->tables[i].csv->header = g_hash_table_new (g_str_hash, g_str_equal);
  g_hash_table_insert (self->tables[i].csv->header, (gpointer) "source", (gpointer) source);
  comparison->table = &self->tables[i];
  comparison->rows = g_array_new (FALSE, FALSE, sizeof (FabComparisonRow));
  for (guint k = 0; k < 2; k++) {
    FabPrediction *prediction = &self->predictions[i][k];
    FabComparisonRow row = { &self->rows[i][k], prediction, 1 / ratio - 1 };

    self->rows[i][k] = (FabMeasuredRow){ .size_bytes = k == 0 ? 64 * MIB : 256 * MIB };
    *prediction = (FabPrediction){ .algorithm = "ring", .protocol = "simple" };
    prediction->kind.place = FAB_PLAN_BETWEEN;
    g_strlcpy (prediction->kind.family, family, FAB_FAMILY_BYTES);
    g_array_append_val (comparison->rows, row);
  }
  g_ptr_array_add (self->report.comparisons, comparison);
  return &self->specs[i];
}

/* `report` is predicted as it is, `left_out` without its families. NULL: of no tables. */
static inline FabPairs *
pairs_of_reports (const FabReport *report, const FabReport *left_out)
{
  g_autoptr (GPtrArray) comparisons = g_ptr_array_new ();
  const FabReport nothing = { .comparisons = comparisons };
  g_autoptr (GPtrArray) results = g_ptr_array_new ();
  const FabTrainingReport training = { .results = results };
  const FabCatalogSections own = { 0 };
  g_autoptr (FabCatalog) catalog = fab_catalog_overlay (NULL, &own);

  return fab_pairs_new (report ? report : &nothing, left_out ? left_out : &nothing, &training, catalog);
}

/* Predicted as they are, and without their families, all the same. */
static inline FabPairs *
pairs_of (const World *world)
{
  return pairs_of_reports (&world->report, &world->report);
}

/* --- compute --- */

/* A run of a source whose table has the columns below; its residual, and the generation that it is on. */
typedef struct {
  const char *model, *gpus, *nics;
  double residual;
  const char *generation;
  double time_factor; /* 0: 1 */
} Run;

static const char *const columns[] = { "model", "gpus", "nics", NULL };

static inline void
add_run (GArray *rows, FabTrainingRow *measured, char **cells, const Run *run)
{
  FabTrainingComparison row = { .measured = measured, .traits = { .expert = 1 } };

  cells[0] = (char *) run->model;
  cells[1] = (char *) run->gpus;
  cells[2] = (char *) run->nics;
  *measured = (FabTrainingRow){ .cells = cells, .id = "row" };
  row.blind = (FabTrainingBlind){ .is_predicted = TRUE, .residual = run->residual };
  row.blind.step.step_s = 1;
  row.blind.step.cell = (FabTrainingCell){ .generation = run->generation,
                                           .precision = "bf16",
                                           .stack = "eager",
                                           .time_factor = run->time_factor > 0 ? run->time_factor : 1,
                                           .low_factor = 0.5,
                                           .high_factor = 2 };
  g_array_append_val (rows, row);
}

/* The first two runs differ in GPUs, the first and the third in the model, the first and the fourth in NICs, of which
 * compute knows nothing; the fifth is the first measured again. All others differ in two things. The last is on another
 * accelerator, whatever else differs; the two have one factor. */
static const Run runs[] = {
  { "7B", "8", "4", 0.1, "ampere", 0 },   { "7B", "16", "4", 0.3, "ampere", 0 },
  { "13B", "8", "4", -0.1, "ampere", 0 }, { "7B", "8", "1", 0.9, "ampere", 0 },
  { "7B", "8", "4", 0.15, "ampere", 0 },  { "13B", "32", "8", 0.2, "hopper", 0 },
};
