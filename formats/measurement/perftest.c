/* SPDX-License-Identifier: Apache-2.0 */
/* perftest.c - one test of perftest: its series, and a row as the time of one message.
 *
 *   time = size x directions / BW average = directions / MsgRate
 *
 * whichever has more digits. MB and MiB are 2^20 bytes (perftest_parameters.c), Gb 1e9 bits; a bidirectional test
 * prints both directions together. Latencies are t_typical, the median: half a round trip, of a read all of it.
 */
#include <math.h>
#include <string.h>

#include "formats/measurement/readings.h"

typedef struct {
  FabSeries series; /* what is known of the test so far */
  gboolean is_known, is_latency;
  guint tx_depth, n_reads; /* messages in flight; 0: unknown */
} FabPerftest;

/* One row. A word of length 0 is missing. */
typedef struct {
  FabWord size, iterations;
  FabWord bandwidth, message_rate;
  double bytes_per_s; /* unit of `bandwidth` in bytes per second; 0: found from message_rate */
  FabWord min, max, typical, average;
} FabPerftestRow;

#define MAX_DISAGREEMENT 0.05

/* bytes per second of MiB/s and of Gb/s */
static const double bandwidth_units[] = { 1048576, 1.25e8 };

static void
perftest_clear (FabPerftest *self)
{
  fab_series_clear (&self->series);
  *self = (FabPerftest){ .is_known = FALSE };
}

static const char *
find_method (const FabWord *text)
{
  static const struct {
    const char *in_title, *in_command, *method;
  } rows[] = { { "Write", "_write_", "write" }, { "Read", "_read_", "read" }, { "Send", "_send_", "send" } };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    if (fab_word_has (text, rows[i].in_title) || fab_word_has (text, rows[i].in_command))
      return rows[i].method;
  return NULL;
}

/* Reads which test it is: "RDMA_Write Bidirectional BW Test", "RDMA_Read_Latency_Test", "ib_send_lat". Returns FALSE
 * for other texts. A test other than write, read and send is a mistake. */
static gboolean
perftest_note_test (FabPerftest *self, FabReadings *readings, const FabWord *text)
{
  gboolean is_latency = fab_word_has (text, "Latency") || fab_word_has (text, "_lat");
  gboolean is_both = fab_word_has (text, "Bidirectional") || fab_word_has (text, " -b ")
                  || fab_word_has (text, "--bidirectional");
  const char *method = find_method (text);

  if (method == NULL) {
    fab_readings_mistake (readings, text, "of perftest write, read and send are taken over, this is another");
    return FALSE;
  }
  perftest_clear (self);
  self->is_known = TRUE;
  self->is_latency = is_latency;
  self->series.kind = is_latency ? FAB_MEASURE_LATENCY
                    : is_both    ? FAB_MEASURE_BIDIRECTIONAL
                                 : FAB_MEASURE_BANDWIDTH;
  fab_reading_set (&self->series.backend, "perftest");
  fab_reading_set (&self->series.method, method);
  fab_reading_set (&self->series.from_memory, "host");
  fab_reading_set (&self->series.to_memory, "host");
  return TRUE;
}

static const char *
note_of (const FabPerftest *self, gboolean is_typical)
{
  gboolean is_read = g_strcmp0 (self->series.method, "read") == 0;

  if (self->is_latency && is_typical)
    return is_read ? "t_typical, the median; request and answer together"
                   : "t_typical, the median; half a round trip";
  if (self->is_latency)
    return is_read ? "t_avg; request and answer together" : "t_avg; half a round trip";
  return self->series.kind == FAB_MEASURE_BIDIRECTIONAL
           ? "BW average, half of both directions together; small ones from MsgRate"
           : "BW average; small ones from MsgRate";
}

static FabMeasuredSeries *
series_of (FabPerftest *self, FabReadings *readings, gboolean is_typical)
{
  gboolean is_read = g_strcmp0 (self->series.method, "read") == 0;
  guint depth = is_read && self->n_reads > 0 ? self->n_reads : self->tx_depth;

  self->series.window = self->is_latency ? 0 : depth * MAX (self->series.n_queue_pairs, 1);
  fab_reading_set (&self->series.note, note_of (self, is_typical));
  return fab_readings_series (readings, &self->series);
}

static void
add_latency (FabPerftest *self, FabReadings *readings, const FabPerftestRow *row, FabBytes size_bytes)
{
  gboolean is_typical = row->typical.length > 0;
  const FabWord *word = is_typical ? &row->typical : &row->average;
  FabMeasuredPoint spread = { .n_samples = fab_word_count (&row->iterations), .is_complete = TRUE };
  double time_us, min_us = 0, max_us = 0;

  if (!fab_readings_number (readings, word, &time_us)
      || (row->min.length > 0 && !fab_readings_number (readings, &row->min, &min_us))
      || (row->max.length > 0 && !fab_readings_number (readings, &row->max, &max_us)))
    return;
  if (max_us > 0 && !(min_us <= time_us && time_us <= max_us)) {
    fab_readings_mistake (readings, word, "this is not between the row's t_min and t_max");
    return;
  }
  spread.min_ps = fab_reading_ps (min_us);
  spread.max_ps = fab_reading_ps (max_us);
  fab_readings_time (readings, word, series_of (self, readings, is_typical), size_bytes, time_us, &spread);
}

/* Returns half a unit of the word's last digit. */
static double
rounding (const FabWord *word)
{
  return 0.5 * pow (10, -(double) fab_word_decimals (word));
}

/* Says whether the message rate agrees with the bandwidth in this unit. */
static gboolean
agrees (const FabPerftestRow *row, double bandwidth, double rate_M, double size_bytes, double unit)
{
  double by_rate = rate_M * 1e6 * size_bytes;
  double slack = rounding (&row->bandwidth) * unit + rounding (&row->message_rate) * 1e6 * size_bytes;

  return fabs (bandwidth * unit - by_rate) <= slack + MAX_DISAGREEMENT * by_rate;
}

/* Finds the unit that agrees with the message rate, because JSON does not name it; 0: it cannot be told. */
static double
find_unit (const FabPerftestRow *row, double bandwidth, double rate_M, double size_bytes)
{
  double unit = 0;

  for (guint i = 0; i < G_N_ELEMENTS (bandwidth_units); i++)
    if (agrees (row, bandwidth, rate_M, size_bytes, bandwidth_units[i]))
      unit = unit > 0 ? -1 : bandwidth_units[i];
  return MAX (unit, 0);
}

static void
add_bandwidth (FabPerftest *self, FabReadings *readings, const FabPerftestRow *row, FabBytes size_bytes)
{
  double directions = self->series.kind == FAB_MEASURE_BIDIRECTIONAL ? 2 : 1;
  double bandwidth, rate_M = 0, unit = row->bytes_per_s, bytes_per_s;

  if (!fab_readings_number (readings, &row->bandwidth, &bandwidth)
      || (row->message_rate.length > 0 && !fab_readings_number (readings, &row->message_rate, &rate_M)))
    return;
  if (unit <= 0 && row->message_rate.length == 0) {
    fab_readings_mistake (readings, &row->bandwidth,
                          "no `MsgRate` beside it tells whether this is in MiB/s or in Gb/s");
    return;
  }
  if (unit <= 0)
    unit = find_unit (row, bandwidth, rate_M, (double) size_bytes);
  if (unit <= 0 || (rate_M > 0 && !agrees (row, bandwidth, rate_M, (double) size_bytes, unit))) {
    fab_readings_mistake (readings, &row->bandwidth,
                          "bandwidth and message rate of this row do not agree, in MiB/s or in Gb/s");
    return;
  }
  bytes_per_s = rate_M > 0 && fab_word_digits (&row->message_rate) > fab_word_digits (&row->bandwidth)
                  ? rate_M * 1e6 * (double) size_bytes
                  : bandwidth * unit;
  fab_readings_rate (readings, &row->bandwidth, series_of (self, readings, FALSE), size_bytes,
                     bytes_per_s / directions);
}

/* Messages in flight, queue pairs, bytes: what is above 65535 counts as that. */
static guint
limited_count (const FabWord *value)
{
  return MIN (fab_word_count (value), G_MAXUINT16);
}

static void
perftest_add (FabPerftest *self, FabReadings *readings, const FabPerftestRow *row)
{
  FabBytes size_bytes;

  if (!fab_readings_size (readings, &row->size, &size_bytes))
    return;
  if (self->is_latency)
    add_latency (self, readings, row, size_bytes);
  else
    add_bandwidth (self, readings, row, size_bytes);
}

/* The file of perftest's --out_json: the facts of a test and one row.
 *
 * Versions before 23.04 write names without quotes, so no JSON parser reads them; both are lists of "name: value"
 * between braces, and read as that. With -a each size replaces the file, which is why it has one row.
 */

enum { MAX_FACTS = 64 };

typedef struct {
  FabWord name, value;
} Fact;

typedef struct {
  Fact facts[MAX_FACTS];
  guint n;
  int depth; /* depth of nested braces */
} Facts;

static FabWord
strip (const char *at, const char *end)
{
  while (at < end && (g_ascii_isspace (*at) || *at == '"'))
    at++;
  while (end > at && (g_ascii_isspace (end[-1]) || end[-1] == '"'))
    end--;
  return (FabWord){ .at = at, .length = (gsize) (end - at) };
}

static void
add_fact (Facts *self, const char *start, const char *colon, const char *end)
{
  if (colon != NULL && self->n < MAX_FACTS)
    self->facts[self->n++] = (Fact){ .name = strip (start, colon), .value = strip (colon + 1, end) };
}

/* Collects the facts; braces and commas outside quotes end one. */
static void
collect (const char *text, Facts *self)
{
  gboolean is_quoted = FALSE;
  const char *start = text, *colon = NULL;

  for (const char *at = text; *at != '\0'; at++) {
    if (*at == '"')
      is_quoted = !is_quoted;
    if (is_quoted || strchr ("{},:", *at) == NULL)
      continue;
    if (*at == ':' && colon == NULL)
      colon = at;
    if (*at == ':')
      continue;
    if (*at != '{')
      add_fact (self, start, colon, at);
    self->depth += *at == '{' ? 1 : *at == '}' ? -1 : 0;
    start = at + 1;
    colon = NULL;
  }
}

static FabWord
fact (const Facts *self, const char *name)
{
  for (guint i = 0; i < self->n; i++)
    if (fab_word_is (&self->facts[i].name, name))
      return self->facts[i].value;
  return (FabWord){ .length = 0 };
}

static guint
fact_count (const Facts *self, const char *name)
{
  FabWord value = fact (self, name);

  return limited_count (&value);
}

static void
read_test (const Facts *facts, FabPerftest *test)
{
  FabWord device = fact (facts, "Device"), cuda = fact (facts, "cuda_device");
  FabWord rocm = fact (facts, "Use_ROCm_memory");
  g_autofree char *name = fab_word_dup (&device);

  fab_reading_set (&test->series.from, name);
  test->series.n_queue_pairs = fact_count (facts, "Number_of_qps");
  test->series.mtu_bytes = fact_count (facts, "Mtu");
  test->tx_depth = fact_count (facts, "TX_depth");
  test->n_reads = fact_count (facts, "Outstand_reads");
  if (cuda.length > 0 || (rocm.length > 0 && fab_word_is (&rocm, "ON"))) {
    fab_reading_set (&test->series.from_memory, "gpu");
    fab_reading_set (&test->series.to_memory, "gpu");
  }
}

static void
read_json (FabReadings *readings)
{
  const FabMeasurementRequest *request = fab_readings_request (readings);
  g_autofree Facts *facts = g_new0 (Facts, 1);
  FabPerftest test = { .is_known = FALSE };
  FabPerftestRow row = { .bytes_per_s = 0 };
  FabWord title;

  collect (request->file.text, facts);
  title = fact (facts, "test");
  row.size = fact (facts, "MsgSize");
  row.iterations = fact (facts, "n_iterations");
  row.bandwidth = fact (facts, "BW_average");
  row.message_rate = fact (facts, "MsgRate");
  row.min = fact (facts, "t_min");
  row.max = fact (facts, "t_max");
  row.typical = fact (facts, "t_typical");
  row.average = fact (facts, "t_avg");
  if (facts->depth != 0)
    fab_readings_mistake (readings, NULL, "a brace is missing: the file was cut off");
  if (title.length == 0)
    fab_readings_mistake (readings, NULL, "no `test` in `test_info`: which test is this?");
  if (row.size.length == 0 || row.bandwidth.length + row.typical.length + row.average.length == 0)
    fab_readings_mistake (readings, NULL,
                          "no `MsgSize` with `BW_average`, `t_typical` or `t_avg` in `results`");
  if (!fab_readings_has_mistakes (readings) && perftest_note_test (&test, readings, &title)) {
    read_test (facts, &test);
    if (test.is_latency ? row.bandwidth.length > 0 : row.bandwidth.length == 0)
      fab_readings_mistake (readings, &title, "the results are not those of this test");
    else
      perftest_add (&test, readings, &row);
  }
  perftest_clear (&test);
}

static gboolean
recognises (const FabFileText *text)
{
  return fab_file_text_first (text) == '{' && fab_file_text_has (text, "test_info")
      && fab_file_text_has (text, "results");
}

const FabFileFormat fab_file_perftest_json = {
  .name = "perftest-json",
  .help = "the same with --out_json",
  .kind = FAB_FILE_MEASUREMENT,
  .recognises = recognises,
  .read.measurement = read_json,
};

/* What ib_write_bw, ib_read_lat, ... print: a title, facts, a table between lines of dashes.
 *
 * Server and client of one machine may be mixed, as a script that starts both prints them.
 */

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

static gboolean
has_column (const Reader *self, Column column)
{
  return self->columns[column] >= 0;
}

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
    if (g_str_has_prefix (word->at, names[i].name) && !has_column (self, names[i].column))
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
                    || fab_word_is (word, "tps");

    if (!is_half)
      note_column (self, word, (int) self->n_columns++);
  }
  self->has_header = TRUE;
  if (!self->test.is_known)
    fab_readings_mistake (self->readings, &line->whole,
                          "which test is this? Leave the line above that says it, as `RDMA_Write BW Test`");
  else if (!has_column (self, COLUMN_SIZE)
           || (self->test.is_latency
                   ? !has_column (self, COLUMN_TYPICAL) && !has_column (self, COLUMN_AVERAGE)
                   : !has_column (self, COLUMN_BANDWIDTH))) {
    fab_readings_mistake (self->readings, &line->whole, "no column of the test above: '%s'",
                          self->test.is_latency ? "t_typical[usec]" : "BW average[MB/sec]");
    self->n_columns = 0;
  }
}

static FabWord
cell (const Reader *self, const FabLine *line, Column column)
{
  return has_column (self, column) ? line->words[self->columns[column]] : (FabWord){ .length = 0 };
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
    perftest_add (&self->test, self->readings, &row);
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
    self->test.series.n_queue_pairs = limited_count (&value);
  if (fab_line_value (line, "Mtu", &value))
    self->test.series.mtu_bytes = limited_count (&value);
  if (fab_line_value (line, "TX depth", &value))
    self->test.tx_depth = limited_count (&value);
  if (fab_line_value (line, "Outstand reads", &value))
    self->test.n_reads = limited_count (&value);
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
  (void) perftest_note_test (&self->test, self->readings, &line->whole);
}

static void
read_line (Reader *self, const FabLine *line)
{
  if (is_title (line) || is_command (line))
    start_test (self, line);
  else if (fab_word_has (&line->whole, "Local results") || fab_word_has (&line->whole, "Remote results")) {
    self->is_side = TRUE;
    fab_readings_leave_out (self->readings, &line->whole,
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
  perftest_clear (&self.test);
}

static gboolean
perftest_text_recognises (const FabFileText *text)
{
  return fab_file_text_has (text, "#bytes")
      && (fab_file_text_has (text, "BW average[") || fab_file_text_has (text, "t_avg[usec]")
          || fab_file_text_has (text, "t_typical[usec]"));
}

const FabFileFormat fab_file_perftest = {
  .name = "perftest",
  .help = "ib_write_bw, ib_read_lat, ib_send_bw, ...",
  .kind = FAB_FILE_MEASUREMENT,
  .recognises = perftest_text_recognises,
  .read.measurement = read_text,
};
