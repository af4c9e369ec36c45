/* SPDX-License-Identifier: Apache-2.0 */
/* published.c - blind predictions beside what others projected for the same rows: docs/reference/published.md. */
#include <math.h>
#include <string.h>

#include "validate/training/print.h"

static const char head[] =
    "# Our blind error beside published projections\n"
    "\n"
    "`fabricast validate published --format markdown` writes this page, and a test keeps it up to date.\n"
    "The rows and their sources are in `validate/measured/published`. Every row is predicted with the\n"
    "catalogue alone: none of them was fitted, and no number of the catalogue rests on one. Where others\n"
    "have published a projection for a row, it stands beside ours. It is not known whether they fitted\n"
    "theirs to the row.\n"
    "\n"
    "error = predicted step time / measured step time - 1.\n";

/* What somebody else projected for a row; 0: nothing. */
static double
peer_s (const FabTrainingResult *result, const FabTrainingComparison *row)
{
  gint column = fab_training_table_column (result->source->table, "peer_s");

  return column >= 0 ? g_ascii_strtod (row->measured->cells[column], NULL) : 0;
}

typedef struct {
  GArray *ours, *theirs; /* double: errors; theirs of rows that have one */
  guint n_closer;        /* of those, ours is nearer */
} Sums;

static double
median_of (const GArray *errors)
{
  g_autofree FabBytes *places = g_new0 (FabBytes, errors->len + 1);

  return fab_errors_of ((const double *) (gpointer) errors->data, places, errors->len).median_fraction;
}

static gboolean
is_predicted (const FabTrainingComparison *row)
{
  return row->blind.is_predicted && row->role != FAB_RUN_SKIPPED && !row->measured->doubtful;
}

static const char *
cell_of (const FabTrainingResult *result, const FabTrainingComparison *row, const char *name)
{
  gint column = fab_training_table_column (result->source->table, name);

  return column >= 0 ? row->measured->cells[column] : row->measured->id;
}

static void
append_row (GString *out, const FabTrainingResult *result, const FabTrainingComparison *row, Sums *sums)
{
  double theirs_s = peer_s (result, row), ours = row->blind.error_fraction;

  g_string_append_printf (out, "| %s | %u | %s | %.4g | %.4g | %+.1f %% |", cell_of (result, row, "model"),
                          row->measured->gpus, row->measured->strategy, row->measured->step_s,
                          row->blind.step.step_s, ours * 100);
  g_array_append_val (sums->ours, ours);
  if (theirs_s > 0) {
    double theirs = theirs_s / row->measured->step_s - 1;

    g_array_append_val (sums->theirs, theirs);
    sums->n_closer += fabs (ours) < fabs (theirs);
    g_string_append_printf (out, " %.4g | %+.1f %% |\n", theirs_s, theirs * 100);
  } else {
    g_string_append (out, " | |\n");
  }
}

static void
append_source (GString *out, const FabTrainingResult *result)
{
  Sums sums = { g_array_new (FALSE, FALSE, sizeof (double)), g_array_new (FALSE, FALSE, sizeof (double)), 0 };
  const char *source = g_hash_table_lookup (result->source->table->header, "source");
  const char *inferred = g_hash_table_lookup (result->source->table->header, "inferred");

  g_string_append_printf (out, "\n## %s\n\n- source: %s\n", result->source->spec->title,
                          source ? source : "");
  if (inferred)
    g_string_append_printf (out, "- inferred: %s\n", inferred);
  if (result->source->spec->note && *result->source->spec->note != '\0')
    g_string_append_printf (out, "- %s\n", result->source->spec->note);
  g_string_append (out, "\n| model | GPUs | divided by | measured s | ours s | error | theirs s | error |\n"
                        "|---|---:|---|---:|---:|---:|---:|---:|\n");
  for (guint i = 0; i < result->rows->len; i++) {
    const FabTrainingComparison *row = &g_array_index (result->rows, FabTrainingComparison, i);

    if (is_predicted (row))
      append_row (out, result, row, &sums);
  }
  if (sums.ours->len > 0)
    g_string_append_printf (out, "| **median of %u** | | | | | **%.1f %%** |", sums.ours->len,
                            median_of (sums.ours) * 100);
  if (sums.theirs->len > 0)
    g_string_append_printf (out, " | **%.1f %%**, ours is nearer on %u of %u |",
                            median_of (sums.theirs) * 100, sums.n_closer, sums.theirs->len);
  else if (sums.ours->len > 0)
    g_string_append (out, " | |");
  g_string_append_c (out, '\n');
  for (guint i = 0; i < result->remarks->len; i++)
    g_string_append_printf (out, "\nleft out: %s\n", (const char *) g_ptr_array_index (result->remarks, i));
  g_array_unref (sums.ours);
  g_array_unref (sums.theirs);
}

char *
fab_training_published_to_markdown (const FabTrainingReport *report)
{
  GString *out = g_string_new (head);

  for (guint i = 0; i < report->results->len; i++)
    append_source (out, g_ptr_array_index (report->results, i));
  return g_string_free (out, FALSE);
}
