/* SPDX-License-Identifier: Apache-2.0 */
/* perftest_text.c - what ib_write_bw, ib_read_lat, ... print: a title, facts, a table between lines of dashes.
 *
 * Server and client of one machine may be mixed, as a script that starts both prints them.
 */
#include <string.h>

#include "validate/import/perftest.h"

typedef enum {
  COLUMN_SIZE,
  COLUMN_ITERATIONS,
  COLUMN_BANDWIDTH,
  COLUMN_RATE,
  COLUMN_MIN,
  COLUMN_MAX,
  COLUMN_TYPICAL,
  COLUMN_AVERAGE,
  N_COLUMNS,
} Column;

typedef struct {
  FabReadings *readings;
  FabPerftest test;
  int columns[N_COLUMNS]; /* -1: the table has no such column */
  guint n_columns;        /* 0: no table yet */
  double bytes_per_s;     /* unit of BW average */
  FabWord header;
  guint n_rows;                  /* rows since the last line of dashes */
  gboolean is_side;              /* "Local results:" gives one end of what the first table has together */
  gboolean has_header, has_rows; /* anywhere in the text */
  gboolean is_gpu;               /* the next table's memory is a GPU's; said before its title or after it */
} Reader;

/* Notes a column; its name may be two words: "BW average[Gb/sec]", "99% percentile[usec]". */
static void
note_column (Reader *self, const FabWord *word, int at)
{
  static const struct {
    const char *name;
    Column column;
  } names[] = {
    { "#bytes", COLUMN_SIZE },        { "#iterations", COLUMN_ITERATIONS },
    { "average[", COLUMN_BANDWIDTH }, { "MsgRate[", COLUMN_RATE },
    { "t_min[", COLUMN_MIN },         { "t_max[", COLUMN_MAX },
    { "t_typical[", COLUMN_TYPICAL }, { "t_avg[", COLUMN_AVERAGE },
  };

  for (guint i = 0; i < G_N_ELEMENTS (names); i++)
    if (g_str_has_prefix (word->at, names[i].name) && self->columns[names[i].column] < 0)
      self->columns[names[i].column] = at;
  if (!g_str_has_prefix (word->at, "average["))
    return;
  self->bytes_per_s = fab_word_has (word, "Gb/sec") ? 1.25e8 : 0;
  if (fab_word_has (word, "MB/sec") || fab_word_has (word, "MiB/sec"))
    self->bytes_per_s = 1048576;
  if (self->bytes_per_s <= 0)
    fab_readings_mistake (self->readings, word, "this unit is none of perftest: MB/sec, MiB/sec or Gb/sec");
}

static void
read_header (Reader *self, const FabLine *line)
{
  self->n_columns = 0;
  self->header = line->whole;
  for (guint i = 0; i < N_COLUMNS; i++)
    self->columns[i] = -1;
  for (guint i = 0; i < line->n; i++) {
    const FabWord *word = &line->words[i];
    gboolean is_half = fab_word_is (word, "BW") || fab_word_is (word, "99%") || fab_word_is (word, "99.9%")
                    || fab_word_is (word, "tps") || (fab_word_is (word, "MsgRate") && i + 1 < line->n);

    if (!is_half)
      note_column (self, word, (int) self->n_columns++);
  }
  self->has_header = TRUE;
  if (!self->test.is_known)
    fab_readings_mistake (self->readings, &line->whole,
                          "which test is this? Leave the line above that says it, as `RDMA_Write BW Test`");
  else if (self->columns[COLUMN_SIZE] < 0
           || (self->test.is_latency ? self->columns[COLUMN_TYPICAL] < 0 && self->columns[COLUMN_AVERAGE] < 0
                                     : self->columns[COLUMN_BANDWIDTH] < 0)) {
    fab_readings_mistake (self->readings, &line->whole, "no column of the test above: '%s'",
                          self->test.is_latency ? "t_typical[usec]" : "BW average[MB/sec]");
    self->n_columns = 0;
  }
}

static FabWord
cell (const Reader *self, const FabLine *line, Column column)
{
  return self->columns[column] >= 0 ? line->words[self->columns[column]] : (FabWord){ .length = 0 };
}

static void
read_row (Reader *self, const FabLine *line)
{
  FabPerftestRow row = { .bytes_per_s = self->bytes_per_s };

  self->n_rows++;
  self->has_rows = TRUE;
  if (line->n < self->n_columns) {
    fab_readings_mistake (self->readings, &line->whole, "%u words in a table of %u columns", line->n,
                          self->n_columns);
    return;
  }
  row.size = cell (self, line, COLUMN_SIZE);
  row.iterations = cell (self, line, COLUMN_ITERATIONS);
  row.bandwidth = cell (self, line, COLUMN_BANDWIDTH);
  row.message_rate = cell (self, line, COLUMN_RATE);
  row.min = cell (self, line, COLUMN_MIN);
  row.max = cell (self, line, COLUMN_MAX);
  row.typical = cell (self, line, COLUMN_TYPICAL);
  row.average = cell (self, line, COLUMN_AVERAGE);
  fab_reading_set (&self->test.series.from_memory, self->is_gpu ? "gpu" : "host");
  fab_reading_set (&self->test.series.to_memory, self->is_gpu ? "gpu" : "host");
  if (self->test.is_known && !self->is_side)
    fab_perftest_add (&self->test, self->readings, &row);
}

static void
read_facts (Reader *self, const FabLine *line)
{
  FabWord value;

  if (fab_line_value (line, "Device", &value)) {
    g_autofree char *device = fab_word_dup (&value);
    fab_reading_set (&self->test.series.from, device);
  }
  if (fab_line_value (line, "Number of qps", &value))
    self->test.series.n_queue_pairs = (guint) fab_word_count (&value);
  if (fab_line_value (line, "Mtu", &value))
    self->test.series.mtu_bytes = (guint) fab_word_count (&value);
  if (fab_line_value (line, "TX depth", &value))
    self->test.tx_depth = (guint) MIN (fab_word_count (&value), G_MAXUINT16);
  if (fab_line_value (line, "Outstand reads", &value))
    self->test.n_reads = (guint) MIN (fab_word_count (&value), G_MAXUINT16);
  if (fab_word_has (&line->whole, "CUDA device") || fab_word_has (&line->whole, "initializing CUDA")
      || fab_word_has (&line->whole, "Use ROCm memory : ON"))
    self->is_gpu = TRUE;
}

static gboolean
is_command (const FabLine *line)
{
  static const char *const names[] = { "ib_write_bw", "ib_write_lat", "ib_read_bw",
                                       "ib_read_lat", "ib_send_bw",   "ib_send_lat" };

  for (guint i = 0; i < G_N_ELEMENTS (names); i++)
    if (fab_word_has (&line->whole, names[i]))
      return TRUE;
  return FALSE;
}

static gboolean
is_title (const FabLine *line)
{
  return line->n < 10
      && (fab_word_has (&line->whole, " BW Test") || fab_word_has (&line->whole, " Latency Test"));
}

/* Reports a mistake when no line of dashes ends the table: it was cut off. */
static void
check_closed (Reader *self)
{
  if (self->n_rows > 0)
    fab_readings_mistake (self->readings, &self->header,
                          "no line of dashes ends this table: the output was cut off or the run interrupted");
  self->n_rows = 0;
}

static void
start_test (Reader *self, const FabLine *line)
{
  check_closed (self);
  self->n_columns = 0;
  self->is_side = FALSE;
  self->is_gpu = self->is_gpu || fab_word_has (&line->whole, "use_cuda")
              || fab_word_has (&line->whole, "use_rocm");
  (void) fab_perftest_note_test (&self->test, self->readings, &line->whole);
}

static void
read_line (Reader *self, const FabLine *line)
{
  if (is_title (line) || is_command (line))
    start_test (self, line);
  else if (fab_word_has (&line->whole, "Local results") || fab_word_has (&line->whole, "Remote results")) {
    self->is_side = TRUE;
    fab_readings_leave_out (self->readings,
                            "local and remote results of --report-both, which the first table adds");
  } else if (line->n > 0 && fab_word_is (&line->words[0], "#bytes"))
    read_header (self, line);
  else if (g_str_has_prefix (line->whole.at, "-----")) {
    self->is_gpu = self->is_gpu && self->n_rows == 0;
    self->n_rows = 0;
  } else if (self->n_columns > 0 && line->n > 0 && fab_word_is_whole (&line->words[0]))
    read_row (self, line);
  else
    read_facts (self, line);
}

static void
read_text (FabReadings *readings)
{
  Reader self = { .readings = readings };
  FabLine line;

  while (fab_readings_next (readings, &line))
    read_line (&self, &line);
  check_closed (&self);
  if (self.has_header && !self.has_rows)
    fab_readings_mistake (
        readings, &self.header,
        "a table without rows: the side that waits prints none, take what the client printed");
  fab_perftest_clear (&self.test);
}

static gboolean
recognises (const char *text)
{
  return strstr (text, "#bytes") != NULL
      && (strstr (text, "BW average[") != NULL || strstr (text, "t_avg[usec]") != NULL
          || strstr (text, "t_typical[usec]") != NULL);
}

const FabMeasurementFormat fab_measurement_perftest = {
  .name = "perftest",
  .tool = "ib_write_bw, ib_read_bw, ib_send_bw, ib_write_lat, ...",
  .recognises = recognises,
  .read = read_text,
};
