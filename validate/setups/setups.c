/* SPDX-License-Identifier: Apache-2.0 */
/* setups.c - points from rows; the file; the tables of what is left out. */
#include "validate/setups/setups.h"

#include <math.h>
#include <string.h>

#include "sim/base/thread_pool.h"

static const double most_exposed_fraction = 0.25;
enum { MOST_ROWS_OF_A_GROUP = 12 };

/* --- rows --- */

typedef struct {
  const FabTrainingResult *result;
  const FabTrainingComparison *row;
  const char *group;
  gboolean is_exact; /* to be played until it takes the measured time */
  double log_factor;
  gboolean is_passed_over;       /* its group has enough others */
  gboolean is_found, is_waiting; /* waiting: it has a scale, at which too much communication is exposed */
} Row;

struct _FabSetups {
  const FabTrainingEnv *env;
  GStringChunk *texts;
  GArray *rows;     /* Row, of all that have a blind prediction */
  GArray *points;   /* FabSetupPoint: of rows whose compute is what the step waits for */
  GArray *anchored; /* FabSetupPoint: residuals of anchored predictions */
  guint n_exposed, n_unfitted;
  FabSetupsFit *fit;
};

static const char *
cell_text (const FabTrainingResult *result, const FabTrainingComparison *row, const char *column)
{
  gint index = fab_training_table_column (result->source->table, column);

  return index >= 0 ? row->measured->cells[index] : "";
}

/* Model and GPU, as those that calibrate are chosen by. */
static const char *
group_of (FabSetups *self, const FabTrainingResult *result, const FabTrainingComparison *row)
{
  g_autofree char *group = g_strdup_printf ("%s %s", cell_text (result, row, "model"),
                                            cell_text (result, row, "gpu"));

  return g_string_chunk_insert_const (self->texts, group);
}

/* The smallest runs of a model and layout say most of what computes; what larger ones lose is their network's. */
static gboolean
is_smallest (const FabTrainingComparison *row)
{
  return row->role == FAB_RUN_ANCHOR || row->role == FAB_RUN_LAYOUT_ANCHOR || row->role == FAB_RUN_ONE_NODE;
}

static gboolean
has_blind (const FabTrainingComparison *row)
{
  return row->blind.is_predicted && is_smallest (row) && !row->measured->doubtful
      && row->blind.step.cell.stack != NULL;
}

static gboolean
is_exposed (const FabTrainingStep *step)
{
  return step->exposed_s > most_exposed_fraction * step->step_s;
}

static void
collect (FabSetups *self, const FabTrainingResult *result)
{
  for (guint i = 0; i < result->rows->len; i++) {
    const FabTrainingComparison *row = &g_array_index (result->rows, FabTrainingComparison, i);
    Row made = { .result = result, .row = row };

    if (!has_blind (row))
      continue;
    made.group = group_of (self, result, row);
    /* to first order, which is enough for what is only compared with */
    made.log_factor = log (row->blind.step.cell.time_factor) + row->blind.residual;
    made.is_found = row->is_calibration
                 || (!is_exposed (&row->blind.step) && made.log_factor <= -log (FAB_TRAINING_LEAST_SCALE));
    g_array_append_val (self->rows, made);
  }
}

/* Which rows of each group that calibrates are played: evenly, at most so many. */
static void
choose_exact (FabSetups *self)
{
  for (guint i = 0; i < self->rows->len; i++) {
    const Row *first = &g_array_index (self->rows, Row, i);
    g_autoptr (GPtrArray) members = g_ptr_array_new ();

    if (!first->row->is_calibration || !first->is_found || first->is_exact)
      continue;
    for (guint k = i; k < self->rows->len; k++) {
      Row *row = &g_array_index (self->rows, Row, k);

      if (row->is_found && row->row->is_calibration && row->result == first->result
          && row->group == first->group)
        g_ptr_array_add (members, row);
    }
    for (guint k = 0; k < members->len; k++) {
      Row *row = g_ptr_array_index (members, k);

      row->is_exact = TRUE;
      row->is_found = members->len <= MOST_ROWS_OF_A_GROUP
                   || k * MOST_ROWS_OF_A_GROUP / members->len
                          != (k + 1) * MOST_ROWS_OF_A_GROUP / members->len;
      row->is_passed_over = !row->is_found;
    }
  }
}

static void
fit_row (gpointer data, guint item)
{
  FabSetups *self = data;
  Row *row = &g_array_index (self->rows, Row, item);
  FabTrainingStep step;
  double scale;

  if (!row->is_exact || !row->is_found)
    return;
  g_autoptr (FabTrainingRun) run = fab_training_run_open (row->result->source, row->row->row, self->env,
                                                          NULL);
  step = row->row->blind.step;
  row->is_found = run != NULL && fab_training_run_fit (run, row->row->measured->step_s, &scale, &step, NULL);
  if (!row->is_found)
    return;
  row->log_factor = -log (scale);
  row->is_waiting = is_exposed (&step);
  row->is_found = !row->is_waiting;
}

static void
make_points (FabSetups *self)
{
  for (guint i = 0; i < self->rows->len; i++) {
    const Row *row = &g_array_index (self->rows, Row, i);
    const FabTrainingCell *cell = &row->row->blind.step.cell;
    gboolean is_apart = row->row->traits.expert > 1;
    FabSetupPoint point = { row->result->source->spec->name,
                            row->group,
                            is_apart ? FAB_SETUP_EXPERTS : cell->stack,
                            row->log_factor,
                            row->row->is_calibration,
                            is_apart };

    if (row->is_found)
      g_array_append_val (self->points, point);
  }
}

/* Of rows that were predicted with an anchor, and of which some group calibrates. */
static void
collect_anchored (FabSetups *self, const FabTrainingResult *result)
{
  for (guint i = 0; i < result->rows->len; i++) {
    const FabTrainingComparison *row = &g_array_index (result->rows, FabTrainingComparison, i);
    FabSetupPoint point = { .source = result->source->spec->name,
                            .stack = "",
                            .is_calibration = row->is_calibration };

    if (row->role != FAB_RUN_JUDGED && row->role != FAB_RUN_ONE_NODE && row->role != FAB_RUN_LAYOUT_ANCHOR)
      continue;
    if (is_exposed (&row->predicted))
      continue;
    point.group = group_of (self, result, row);
    point.log_factor = fab_training_residual (&row->predicted, row->measured->step_s);
    g_array_append_val (self->anchored, point);
  }
}

FabSetups *
fab_setups_new (const FabTrainingReport *report, const FabTrainingEnv *env)
{
  FabSetups *self = g_new0 (FabSetups, 1);

  self->env = env;
  self->texts = g_string_chunk_new (1024);
  self->rows = g_array_new (FALSE, FALSE, sizeof (Row));
  self->points = g_array_new (FALSE, FALSE, sizeof (FabSetupPoint));
  self->anchored = g_array_new (FALSE, FALSE, sizeof (FabSetupPoint));
  for (guint i = 0; i < report->results->len; i++) {
    collect (self, g_ptr_array_index (report->results, i));
    collect_anchored (self, g_ptr_array_index (report->results, i));
  }
  choose_exact (self);
  fab_thread_pool_run (0, self->rows->len, fit_row, self);
  for (guint i = 0; i < self->rows->len; i++) {
    const Row *row = &g_array_index (self->rows, Row, i);

    self->n_exposed += row->is_waiting;
    self->n_unfitted += row->is_exact && !row->is_found && !row->is_waiting && !row->is_passed_over;
  }
  make_points (self);
  self->fit = fab_setups_fit ((const FabSetupPoint *) (gpointer) self->points->data, self->points->len,
                              FAB_SETUPS_COVERAGE);
  return self;
}

void
fab_setups_free (FabSetups *self)
{
  if (self == NULL)
    return;
  fab_setups_fit_free (self->fit);
  g_array_unref (self->rows);
  g_array_unref (self->points);
  g_array_unref (self->anchored);
  g_string_chunk_free (self->texts);
  g_free (self);
}

/* --- file --- */

static const char file_head[] =
    "# What published runs take beyond what is priced by name: kernels, copies and communication. Written by\n"
    "# `fabricast validate setups` from measured training runs; a test keeps it in date. docs/models/auto.md says how\n"
    "# it is used, docs/explanation/uncertainty.md how it is fitted.\n"
    "#\n"
    "# `factor` is one number, the median over sources, on the computation of jobs with several ranks. `low` and\n"
    "# `high` are the 90 % band of the time of compute, measured over predicted, of all sources and of those of a\n"
    "# stack.\n";

/* What a catalogue entry may say. */
static const double least_factor = 0.01, most_factor = 100;

static void
append_ends (GString *out, const FabSetupEnds *ends, guint n_rows, guint n_groups, guint n_sources)
{
  g_string_append_printf (out, "    low: %.3f\n    high: %.3f\n", CLAMP (exp (ends->low), least_factor, 1),
                          CLAMP (exp (ends->high), 1, most_factor));
  g_string_append_printf (out, "    rows: %u\n    groups: %u\n    sources: %u\n    evidence: %s\n", n_rows,
                          n_groups, n_sources,
                          n_sources == 0   ? "assumed"
                          : n_sources == 1 ? "one_source"
                                           : "sources");
  g_string_append (out, "    source: rows of validate/measured/training that calibrate, "
                        "docs/explanation/uncertainty.md\n"
                        "    date: \"2026-11-28\"\n");
}

static void
append_entry (GString *out, const FabSetupsFit *fit, const FabSetupEntry *entry)
{
  gboolean is_experts = g_strcmp0 (entry->stack, FAB_SETUP_EXPERTS) == 0;

  g_string_append_printf (out, "\n  - name: %s\n    summary: Published runs %s%s\n",
                          entry->stack != NULL ? entry->stack : "any",
                          entry->stack == NULL ? "of all software"
                          : is_experts         ? "that divide "
                                               : "under ",
                          entry->stack != NULL ? entry->stack : "");
  if (entry->stack != NULL)
    g_string_append_printf (out, "    stack: %s\n", entry->stack);
  g_string_append_printf (out, "    factor: %.3f\n",
                          CLAMP (exp (fit->log_factor), least_factor, most_factor));
  append_ends (out, &entry->ends, entry->n_rows, entry->n_groups, entry->n_sources);
}

static guint
count_groups (const GArray *points, gboolean of_sources)
{
  g_autoptr (GHashTable) seen = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);

  for (guint i = 0; i < points->len; i++) {
    const FabSetupPoint *point = &g_array_index (points, FabSetupPoint, i);

    if (point->is_calibration)
      g_hash_table_add (seen, g_strdup_printf ("%s\n%s", point->source, of_sources ? "" : point->group));
  }
  return g_hash_table_size (seen);
}

static guint
count_rows (const GArray *points)
{
  guint n = 0;

  for (guint i = 0; i < points->len; i++)
    n += g_array_index (points, FabSetupPoint, i).is_calibration;
  return n;
}

/* It names a stack that no job has, so that it is no effect of any cell. */
static void
append_anchored (GString *out, const FabSetups *self)
{
  FabSetupEnds ends = fab_residual_ends ((const FabSetupPoint *) (gpointer) self->anchored->data,
                                         self->anchored->len, FAB_SETUPS_COVERAGE);

  g_string_append (out,
                   "\n  - name: anchored\n"
                   "    summary: Compute that was scaled to a measured run of the same model and software\n"
                   "    stack: anchored\n    factor: 1.000\n");
  append_ends (out, &ends, count_rows (self->anchored), count_groups (self->anchored, FALSE),
               count_groups (self->anchored, TRUE));
}

char *
fab_setups_to_yaml (const FabSetups *self)
{
  GString *out = g_string_new (file_head);

  g_string_append_printf (
      out,
      "#\n# Left out: %u rows that expose over a quarter of the step, %u that no scale takes to "
      "what was measured.\n"
      "# Reach %.2f, of experts %.2f.\n\nsetups:",
      self->n_exposed, self->n_unfitted, self->fit->reach, self->fit->apart_reach);
  for (guint i = 0; i < self->fit->entries->len; i++)
    append_entry (out, self->fit, &g_array_index (self->fit->entries, FabSetupEntry, i));
  append_anchored (out, self);
  return g_string_free (out, FALSE);
}

/* --- what is left out --- */

/* Nothing where no source has such rows. */
static void
append_left_out (GString *out, const GArray *left_out, const char *title)
{
  double covered = 0, bias = 0, error = 0;

  if (left_out->len == 0)
    return;
  for (guint i = 0; i < left_out->len; i++) {
    const FabSetupLeftOut *one = &g_array_index (left_out, FabSetupLeftOut, i);

    covered += one->covered_fraction / left_out->len;
    bias += one->median_log / left_out->len;
    error += one->error_fraction / left_out->len;
  }
  g_string_append_printf (
      out,
      "### %s\n\n| source left out | rows | in the band | bias | median error |\n"
      "|---|---:|---:|---:|---:|\n| **mean of %u source%s** | | %.0f %% | %+.1f %% | %.1f %% |\n",
      title, left_out->len, left_out->len == 1 ? "" : "s", covered * 100, expm1 (bias) * 100, error * 100);
  for (guint i = 0; i < left_out->len; i++) {
    const FabSetupLeftOut *one = &g_array_index (left_out, FabSetupLeftOut, i);

    g_string_append_printf (out, "| %s | %u | %.0f %% | %+.1f %% | %.1f %% |\n", one->source, one->n_rows,
                            one->covered_fraction * 100, expm1 (one->median_log) * 100,
                            one->error_fraction * 100);
  }
  g_string_append_c (out, '\n');
}

char *
fab_setups_to_markdown (const FabSetups *self)
{
  GString *out = g_string_new (NULL);
  const FabSetupPoint *points = (const FabSetupPoint *) (gpointer) self->points->data;
  g_autoptr (GArray) blind = fab_setups_left_out (points, self->points->len, FAB_SETUPS_COVERAGE, FALSE);
  g_autoptr (GArray) experts = fab_setups_left_out (points, self->points->len, FAB_SETUPS_COVERAGE, TRUE);
  g_autoptr (GArray) anchored = fab_residuals_left_out (
      (const FabSetupPoint *) (gpointer) self->anchored->data, self->anchored->len, FAB_SETUPS_COVERAGE);

  append_left_out (out, blind, "Compute of sources left out, blind");
  append_left_out (out, experts, "Compute of sources left out, blind: jobs that divide experts");
  append_left_out (out, anchored, "Compute of sources left out, anchored on a run of their own");
  return g_string_free (out, FALSE);
}
