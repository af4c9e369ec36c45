/* SPDX-License-Identifier: Apache-2.0 */
/* nccl_series.c - reads the table of nccl-tests or rccl-tests as a series: one collective, with out-of-place
 * times. */
#include <string.h>

#include "formats/measurement/nccl_names.h"
#include "formats/measurement/nccl_tests.h"
#include "formats/measurement/readings.h"

static char *
note_of (const FabNcclTests *tests)
{
  GString *note = g_string_new ("out of place");

  if (tests->type != NULL)
    g_string_append_printf (note, ", %s", tests->type);
  if (tests->n_nodes > 0)
    g_string_append_printf (note, ", %u node%s", tests->n_nodes, tests->n_nodes > 1 ? "s" : "");
  if (tests->gpus_per_thread > 0)
    g_string_append_printf (note, ", -g %u", tests->gpus_per_thread);
  return g_string_free (note, FALSE);
}

static void
add_rows (FabReadings *readings, const FabNcclTests *tests, FabOp op, guint n_ranks)
{
  FabSeries series = { .kind = FAB_MEASURE_COLLECTIVE, .n_ranks = n_ranks };
  g_autofree char *note = note_of (tests);
  FabMeasuredSeries *measured;

  fab_reading_set (&series.backend, "nccl-tests");
  fab_reading_set (&series.method, "nccl");
  fab_reading_set (&series.op, fab_op_names[op]);
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
  guint n_ranks = request->n_ranks > 0 ? request->n_ranks : tests != NULL ? tests->n_ranks : 0;
  FabOp op = FAB_N_OPS;

  if (tests == NULL) {
    fab_readings_fail (readings, error);
    return;
  }
  if (tests->program == NULL || !fab_nccl_op (tests->program, &op))
    fab_readings_mistake (readings, NULL,
                          tests->program ? "`%s`: this collective is not known"
                                         : "which collective is this? Leave the line above the table that "
                                           "says it, as `# Collective test starting: all_reduce_perf`",
                          tests->program);
  if (n_ranks < 2)
    fab_readings_mistake (readings, NULL,
                          "how many ranks took part is not in the text: leave its lines `#  Rank  0 ...`, "
                          "or give --ranks N");
  if (tests->n_tables > 1)
    fab_readings_leave_out (readings, NULL, "the other %u tables of the text", tests->n_tables - 1);
  if (!fab_readings_has_mistakes (readings))
    add_rows (readings, tests, op, n_ranks);
}

static gboolean
recognises (const FabFileText *text)
{
  return fab_file_text_first (text) == '{'
           ? fab_file_text_has (text, "\"out_of_place\"")
           : fab_file_text_has (text, "algbw") && fab_file_text_has (text, "busbw");
}

const FabFileFormat fab_file_nccl_tests = {
  .name = "nccl-tests",
  .help = "of NCCL and RCCL, text or -J",
  .kind = FAB_FILE_MEASUREMENT,
  .recognises = recognises,
  .read.measurement = read_tests,
};
