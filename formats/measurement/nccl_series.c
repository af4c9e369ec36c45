/* SPDX-License-Identifier: Apache-2.0 */
/* nccl_series.c - reads the table of nccl-tests or rccl-tests as a series: one collective, with out-of-place
 * times. */
#include <string.h>

#include "formats/measurement/nccl_names.h"
#include "formats/measurement/nccl_tests.h"
#include "formats/measurement/readings.h"
#include "sim/base/nearest.h"

/* What the table is of, and how the reader knows it. */
typedef struct {
  FabOp op;
  guint n_ranks;
  gboolean is_op_inferred, are_ranks_inferred; /* by busbw / algbw */
} Subject;

/* The most ranks that are looked for. */
enum { MOST_RANKS = 4096 };

/* The range in which busbw / algbw lies: both are printed with two decimals. */
static void
factor_range (const FabNcclTests *tests, double *low, double *high)
{
  const double half = 0.005;

  *low = 0;
  *high = G_MAXDOUBLE;
  for (guint i = 0; i < tests->rows->len; i++) {
    const FabNcclTestsRow *row = &g_array_index (tests->rows, FabNcclTestsRow, i);

    *low = MAX (*low, (row->busbw_GBps - half) / (row->algbw_GBps + half));
    if (row->algbw_GBps > half)
      *high = MIN (*high, (row->busbw_GBps + half) / (row->algbw_GBps - half));
  }
}

/* Returns the first number of ranks with which the collective has such a factor, and sets how many there are. */
static guint
ranks_of_factor (FabOp op, double low, double high, guint *n_fitting)
{
  guint found = 0, n_found = 0;

  for (guint n = 2; n <= MOST_RANKS; n++)
    if (fab_op_bus_factor (op, n) >= low && fab_op_bus_factor (op, n) <= high && n_found++ == 0)
      found = n;
  *n_fitting = n_found;
  return found;
}

/* Finds the collective: as the text says, as --op says, or all_reduce where busbw is above algbw, as of no other. */
static gboolean
find_op (FabReadings *readings, const FabNcclTests *tests, Subject *subject)
{
  const FabMeasurementRequest *request = fab_readings_request (readings);
  double low, high;

  if (request->op != NULL)
    return fab_op_find (request->op, &subject->op) || fab_nccl_op (request->op, &subject->op);
  if (tests->program != NULL) {
    if (!fab_nccl_op (tests->program, &subject->op))
      fab_readings_mistake (readings, NULL, "`%s`: this collective is not known; --op names it",
                            tests->program);
    return TRUE;
  }
  factor_range (tests, &low, &high);
  if (low > 1) {
    subject->op = FAB_OP_ALL_REDUCE;
    subject->is_op_inferred = TRUE;
  } else
    fab_readings_mistake (
        readings, NULL,
        "which collective is this? Its name, as in `# Collective test starting: all_reduce_perf`, is not "
        "in the text; --op says it, as --op all_gather");
  return TRUE;
}

static void
report_op (FabReadings *readings, const char *op)
{
  const char *nearest = fab_nearest (op, fab_op_names);
  g_autofree char *all = g_strjoinv (", ", (char **) fab_op_names);

  fab_readings_mistake (readings, NULL, "--op %s: no such collective%s%s; there are %s", op,
                        nearest != NULL ? "; nearest is " : "", nearest != NULL ? nearest : "", all);
}

static void
find_ranks (FabReadings *readings, const FabNcclTests *tests, Subject *subject)
{
  const FabMeasurementRequest *request = fab_readings_request (readings);
  double low, high;
  guint n_fitting;

  subject->n_ranks = request->n_ranks > 0 ? request->n_ranks : tests->n_ranks;
  if (subject->op == FAB_N_OPS)
    return;
  factor_range (tests, &low, &high);
  if (subject->n_ranks < 2) {
    subject->n_ranks = ranks_of_factor (subject->op, low, high, &n_fitting);
    subject->are_ranks_inferred = TRUE;
    if (n_fitting != 1)
      fab_readings_mistake (
          readings, NULL,
          n_fitting == 0
              ? "no number of ranks makes busbw %.4g times algbw with %s; --op names another collective"
              : "how many ranks took part is not in the text, and busbw of %.4g times algbw with %s does not "
                "tell it: leave its lines `#  Rank  0 ...`, or give --ranks N",
          (low + MIN (high, 2)) / 2, fab_op_names[subject->op]);
  } else if ((request->op != NULL || request->n_ranks > 0)
             && (fab_op_bus_factor (subject->op, subject->n_ranks) < low
                 || fab_op_bus_factor (subject->op, subject->n_ranks) > high))
    fab_readings_mistake (
        readings, NULL,
        "busbw is %.4g times algbw in this table, and of %s with %u ranks it is %.4g times: it is "
        "another collective, or another number of ranks",
        (low + MIN (high, 2)) / 2, fab_op_names[subject->op], subject->n_ranks,
        fab_op_bus_factor (subject->op, subject->n_ranks));
}

static char *
note_of (const FabNcclTests *tests, const Subject *subject)
{
  GString *note = g_string_new ("out of place");

  if (tests->type != NULL)
    g_string_append_printf (note, ", %s", tests->type);
  if (tests->n_nodes > 0)
    g_string_append_printf (note, ", %u node%s", tests->n_nodes, tests->n_nodes > 1 ? "s" : "");
  if (tests->gpus_per_thread > 0)
    g_string_append_printf (note, ", -g %u", tests->gpus_per_thread);
  if (subject->is_op_inferred || subject->are_ranks_inferred)
    g_string_append_printf (note, ", %s%s%s by busbw / algbw", subject->is_op_inferred ? "all_reduce" : "",
                            subject->is_op_inferred && subject->are_ranks_inferred ? " and " : "",
                            subject->are_ranks_inferred ? "ranks" : "");
  return g_string_free (note, FALSE);
}

static void
add_rows (FabReadings *readings, const FabNcclTests *tests, const Subject *subject)
{
  FabSeries series = { .kind = FAB_MEASURE_COLLECTIVE, .n_ranks = subject->n_ranks };
  g_autofree char *note = note_of (tests, subject);
  FabMeasuredSeries *measured;

  fab_reading_set (&series.backend, "nccl-tests");
  fab_reading_set (&series.method, "nccl");
  fab_reading_set (&series.op, fab_op_names[subject->op]);
  fab_reading_set (&series.from_memory, "gpu");
  fab_reading_set (&series.to_memory, "gpu");
  fab_reading_set (&series.note, note);
  measured = fab_readings_series (readings, &series);
  for (guint i = 0; i < tests->rows->len; i++) {
    const FabNcclTestsRow *row = &g_array_index (tests->rows, FabNcclTestsRow, i);

    if (row->n_wrong > 0)
      fab_readings_mistake (readings, NULL,
                            "size %" G_GUINT64_FORMAT ": %.0f wrong elements; nothing is taken over",
                            row->size_bytes, row->n_wrong);
    else if (row->time_us > 0)
      fab_readings_time (readings, NULL, measured, row->size_bytes, row->time_us, NULL);
    else
      fab_readings_rate (readings, NULL, measured, row->size_bytes, row->algbw_GBps * 1e9);
  }
  fab_series_clear (&series);
}

static void
read_tests (FabReadings *readings)
{
  const FabMeasurementRequest *request = fab_readings_request (readings);
  g_autoptr (GError) error = NULL;
  g_autoptr (FabNcclTests) tests = fab_nccl_tests_parse (request->file.name, request->file.text,
                                                         request->file.size, &error);
  Subject subject = { .op = FAB_N_OPS };

  if (tests == NULL) {
    fab_readings_fail (readings, error);
    return;
  }
  if (!find_op (readings, tests, &subject))
    report_op (readings, request->op);
  find_ranks (readings, tests, &subject);
  if (tests->n_tables > 1)
    fab_readings_leave_out (readings, NULL, "the other %u tables of the text", tests->n_tables - 1);
  if (!fab_readings_has_mistakes (readings))
    add_rows (readings, tests, &subject);
}

static gboolean
recognises (const FabFileText *text)
{
  return fab_file_text_first (text) == '{'
           ? fab_file_text_has (text, "\"out_of_place\"")
           : (fab_file_text_has (text, "algbw") && fab_file_text_has (text, "busbw"))
                 || fab_nccl_tests_has_row (text->text, text->size);
}

const FabFileFormat fab_file_nccl_tests = {
  .name = "nccl-tests",
  .help = "of NCCL and RCCL, text or -J",
  .kind = FAB_FILE_MEASUREMENT,
  .recognises = recognises,
  .read.measurement = read_tests,
};
