/* SPDX-License-Identifier: Apache-2.0 */
/* nvbandwidth.c - a testcase of nvbandwidth: who copies to whom, and what a cell of its matrix says.
 *
 *   host_to_device, device_to_host           the rate of that direction, also when it is bidirectional
 *   device_to_device                         from row to column or back, as the arrow of the description says
 *     bidirectional, "Total", or kernels     both directions together: half of it
 *     bidirectional, "Read1", "Write2", ...  the halves of Total: left out
 *   all_to_host, host_to_all                 each GPU's rate while all copy
 *   all_to_one, one_to_all                   the sum over all the others, which copy at once
 *   latency                                  a load and its answer: half of it
 *
 * A message is the buffer, 512 MiB unless -b said otherwise; the output does not have it.
 */
#include <math.h>
#include <string.h>

#include "formats/measurement/readings.h"

typedef struct {
  FabReadings *readings;
  char *name;        /* "device_to_device_memcpy_read_ce"; NULL: no testcase */
  char *description; /* "memcpy CE GPU(row) -> GPU(column) bandwidth (GB/s)" */
  char *system;
  GArray *cells; /* FabWord, row by row */
  guint n_rows, n_columns;
  double sum;      /* of the cells that are numbers, in the printed unit */
  double rounding; /* error of `sum` because the printed cells are rounded */
} FabNvbandwidth;

#define DEFAULT_BYTES ((FabBytes) 512 << 20)
#define LOAD_BYTES 8

typedef enum { SHAPE_TO_GPU, SHAPE_TO_HOST, SHAPE_PAIRS, SHAPE_TO_ONE, SHAPE_FROM_ONE, SHAPE_NONE } Shape;

static const struct {
  const char *prefix;
  Shape shape;
  gboolean is_together; /* all GPUs copy at once */
} shapes[] = {
  { "host_to_device_", SHAPE_TO_GPU, FALSE },
  { "device_to_host_", SHAPE_TO_HOST, FALSE },
  { "host_device_latency_", SHAPE_TO_HOST, FALSE },
  { "device_to_device_", SHAPE_PAIRS, FALSE },
  { "all_to_host_", SHAPE_TO_HOST, TRUE },
  { "host_to_all_", SHAPE_TO_GPU, TRUE },
  { "all_to_one_", SHAPE_TO_ONE, TRUE },
  { "one_to_all_", SHAPE_FROM_ONE, TRUE },
};

typedef struct {
  Shape shape;
  gboolean is_together, is_both, is_latency, is_kernel;
  gboolean is_backwards; /* from column to row */
  double divisor;        /* divides the printed rate */
} Testcase;

/* forgets the testcase, keeps the system */
static void
nvbandwidth_clear (FabNvbandwidth *self)
{
  fab_reading_set (&self->name, NULL);
  fab_reading_set (&self->description, NULL);
  if (self->cells == NULL)
    self->cells = g_array_new (FALSE, FALSE, sizeof (FabWord));
  g_array_set_size (self->cells, 0);
  self->n_rows = self->n_columns = 0;
  self->sum = self->rounding = 0;
}

static void
nvbandwidth_free (FabNvbandwidth *self)
{
  nvbandwidth_clear (self);
  g_array_unref (self->cells);
  g_free (self->system);
}

/* Adds a cell to the current row; "N/A" is a cell without a number. */
static void
nvbandwidth_cell (FabNvbandwidth *self, const FabWord *word)
{
  double value;

  g_array_append_val (self->cells, *word);
  if (fab_word_is (word, "N/A") || !fab_readings_number (self->readings, word, &value))
    return;
  self->sum += value;
  /* the text prints two decimals, JSON six digits */
  self->rounding += 0.01 + value * 1e-5;
}

static Testcase
understand (const FabNvbandwidth *self)
{
  const char *name = g_str_has_prefix (self->name, "multinode_") ? self->name + strlen ("multinode_")
                                                                 : self->name;
  Testcase testcase = { .shape = SHAPE_NONE, .divisor = 1 };
  gboolean is_total = self->description && strstr (self->description, "otal") != NULL;

  for (guint i = 0; i < G_N_ELEMENTS (shapes); i++)
    if (g_str_has_prefix (name, shapes[i].prefix)) {
      testcase.shape = shapes[i].shape;
      testcase.is_together = shapes[i].is_together;
    }
  testcase.is_both = strstr (name, "bidirectional") != NULL;
  testcase.is_latency = strstr (name, "latency") != NULL;
  testcase.is_kernel = g_str_has_suffix (name, "_sm");
  testcase.is_backwards = self->description && strstr (self->description, "(row) <- ") != NULL;
  if (testcase.shape == SHAPE_PAIRS && testcase.is_both && (is_total || testcase.is_kernel))
    testcase.divisor = 2;
  if (!testcase.is_latency && strstr (name, "memcpy") == NULL && testcase.shape < SHAPE_TO_ONE)
    testcase.shape = SHAPE_NONE;
  return testcase;
}

static char *
host_name (const FabNvbandwidth *self, guint row)
{
  return self->n_rows > 1 ? g_strdup_printf ("host%u", row) : g_strdup ("host");
}

static void
set_ends (const FabNvbandwidth *self, const Testcase *testcase, FabSeries *series, guint row, guint column)
{
  g_autofree char *gpu = g_strdup_printf ("gpu%u", column), *peer = g_strdup_printf ("gpu%u", row);
  g_autofree char *host = host_name (self, row);
  const char *ends[][2] = { [SHAPE_TO_GPU] = { host, gpu },
                            [SHAPE_TO_HOST] = { gpu, host },
                            [SHAPE_PAIRS] = { testcase->is_backwards ? gpu : peer,
                                              testcase->is_backwards ? peer : gpu },
                            [SHAPE_TO_ONE] = { "other GPUs", gpu },
                            [SHAPE_FROM_ONE] = { gpu, "other GPUs" } };

  fab_reading_set (&series->from, ends[testcase->shape][0]);
  fab_reading_set (&series->to, ends[testcase->shape][1]);
  fab_reading_set (&series->from_memory, testcase->shape == SHAPE_TO_GPU ? "host" : "gpu");
  fab_reading_set (&series->to_memory, testcase->shape == SHAPE_TO_HOST ? "host" : "gpu");
}

/* Returns "copy" or "kernel-read": reads and writes of one pair are two measurements. */
static const char *
method_of (const FabNvbandwidth *self, const Testcase *testcase)
{
  gboolean is_read = strstr (self->name, "_read_") != NULL;

  if (testcase->is_latency)
    return "load";
  if (strstr (self->name, "_write_") == NULL && !is_read)
    return testcase->is_kernel ? "kernel" : "copy";
  return testcase->is_kernel ? (is_read ? "kernel-read" : "kernel") : is_read ? "copy-read" : "copy";
}

static char *
note_of (const FabNvbandwidth *self, const Testcase *testcase)
{
  const char *why = testcase->is_latency  ? "; half of a load and its answer"
                  : testcase->divisor > 1 ? "; half of both directions together"
                  : testcase->is_together ? "; all GPUs at once"
                  : testcase->is_both     ? "; one direction, while the other is busy"
                                          : "";

  gboolean is_default = fab_readings_request (self->readings)->size_bytes == 0 && !testcase->is_latency;

  return g_strconcat (self->name, why, is_default ? "; 512 MiB is the default of -b" : "", NULL);
}

static void
add_cell (FabNvbandwidth *self, const Testcase *testcase, const FabWord *word, guint row, guint column)
{
  FabBytes asked = fab_readings_request (self->readings)->size_bytes;
  gboolean is_sum = testcase->shape >= SHAPE_TO_ONE;
  FabSeries series = { .kind = testcase->is_latency ? FAB_MEASURE_LATENCY
                             : testcase->is_both    ? FAB_MEASURE_BIDIRECTIONAL
                                                    : FAB_MEASURE_BANDWIDTH };
  g_autofree char *note = note_of (self, testcase);
  FabMeasuredSeries *measured;
  double value;

  if (fab_word_is (word, "N/A") || !fab_readings_number (self->readings, word, &value))
    return;
  series.n_pairs = testcase->is_together ? MAX (self->n_columns - (is_sum ? 1 : 0), 1) : 1;
  fab_reading_set (&series.backend, "nvbandwidth");
  fab_reading_set (&series.system, self->system);
  fab_reading_set (&series.method, method_of (self, testcase));
  fab_reading_set (&series.note, note);
  set_ends (self, testcase, &series, row, column);
  measured = fab_readings_series (self->readings, &series);
  if (testcase->is_latency)
    fab_readings_time (self->readings, word, measured, LOAD_BYTES, value / 2e3, NULL);
  else
    fab_readings_rate (self->readings, word, measured, asked > 0 ? asked : DEFAULT_BYTES,
                       value * 1e9 / (is_sum ? series.n_pairs : testcase->divisor));
  fab_series_clear (&series);
}

static gboolean
is_half (const FabNvbandwidth *self)
{
  static const char *const halves[] = { "Read1", "Read2", "Write1", "Write2" };

  for (guint i = 0; self->description && i < G_N_ELEMENTS (halves); i++)
    if (strstr (self->description, halves[i]) != NULL)
      return TRUE;
  return FALSE;
}

/* Ends the matrix: adds its points, or says why it is left out. Mistakes are shown at `place`. */
static void
nvbandwidth_add (FabNvbandwidth *self, const FabWord *place)
{
  Testcase testcase = understand (self);

  if (self->n_columns == 0 || self->cells->len != self->n_rows * self->n_columns) {
    fab_readings_mistake (self->readings, place, "%s: its matrix is not whole: it was cut off", self->name);
    return;
  }
  if (testcase.shape == SHAPE_NONE)
    fab_readings_leave_out (self->readings, place, "%s: not a copy between host and GPUs that is known",
                            self->name);
  else if (testcase.shape == SHAPE_PAIRS && self->n_rows != self->n_columns)
    fab_readings_mistake (self->readings, place, "%s: %u rows for %u GPUs: the matrix was cut off",
                          self->name, self->n_rows, self->n_columns);
  else if (is_half (self))
    fab_readings_leave_out (self->readings, place,
                            "Read1, Read2, Write1, Write2: the two directions that Total adds");
  else
    for (guint i = 0; i < self->cells->len; i++)
      add_cell (self, &testcase, &g_array_index (self->cells, FabWord, i), i / self->n_columns,
                i % self->n_columns);
}

/* What nvbandwidth -j prints (json_output.cpp): testcases with name, description, matrix of texts.
 *
 * A bidirectional testcase between GPUs appends the matrices of Read1, Read2 and Total to each other; description and
 * sum are those of the last. Keys may stand in any order.
 */

typedef struct {
  FabNvbandwidth test;
  const char *at;
  FabWord key, name, status, sum; /* of the current testcase; length 0: not read */
  guint n_devices, row_start;     /* row_start: cells before the current row */
  int n_braces, n_brackets;
  gboolean is_matrix, is_uneven;
} Reader;

/* Reads the next text (without quotes), number or mark; FALSE at the end. */
static gboolean
next_token (Reader *self, FabWord *token, gboolean *is_mark)
{
  gboolean is_quoted;

  self->at += strspn (self->at, " \t\r\n");
  if (*self->at == '\0')
    return FALSE;
  is_quoted = *self->at == '"';
  *is_mark = strchr ("{}[]:,", *self->at) != NULL;
  self->at += is_quoted;
  token->at = self->at;
  if (*is_mark)
    self->at++;
  else if (is_quoted)
    while (*self->at != '\0' && *self->at != '"')
      self->at += self->at[0] == '\\' && self->at[1] != '\0' ? 2 : 1;
  else
    self->at += strcspn (self->at, "{}[]:,\" \t\r\n");
  token->length = (gsize) (self->at - token->at);
  self->at += is_quoted && *self->at == '"';
  return TRUE;
}

/* Reads "0: NVIDIA GH200 480GB (00000009:01:00): (node1)". */
static void
note_device (Reader *self, const FabWord *word)
{
  g_autofree char *text = fab_word_dup (word);
  char *name = text + strspn (text, "0123456789"), *end;

  name += *name == ':';
  end = strstr (name, " (");
  if (end)
    *end = '\0';
  g_free (self->test.system);
  self->test.system = g_strdup_printf ("%ux %s", ++self->n_devices, g_strstrip (name));
}

static void
note_value (Reader *self, const FabWord *word)
{
  if (self->is_matrix)
    nvbandwidth_cell (&self->test, word);
  else if (fab_word_is (&self->key, "GPU Device list"))
    note_device (self, word);
  else if (fab_word_is (&self->key, "name"))
    self->name = *word;
  else if (fab_word_is (&self->key, "status"))
    self->status = *word;
  else if (fab_word_is (&self->key, "sum"))
    self->sum = *word;
  else if (fab_word_is (&self->key, "bandwidth_description")) {
    g_autofree char *description = fab_word_dup (word);
    fab_reading_set (&self->test.description, description);
  } else if (fab_word_is (&self->key, "error"))
    fab_readings_mistake (self->test.readings, word, "nvbandwidth failed here");
}

static void
end_row (Reader *self)
{
  guint n = self->test.cells->len - self->row_start;

  self->row_start = self->test.cells->len;
  self->is_uneven = self->is_uneven || (self->test.n_rows > 0 && n != self->test.n_columns);
  self->test.n_columns = n;
  self->test.n_rows++;
}

/* Keeps the last of several matrices that stand one below the other. */
static void
keep_last (Reader *self)
{
  guint n = self->test.n_columns;

  if (!g_str_has_prefix (self->test.name, "device_to_device_") || n == 0 || self->test.n_rows <= n
      || self->test.n_rows % n != 0)
    return;
  fab_readings_leave_out (self->test.readings, &g_array_index (self->test.cells, FabWord, 0),
                          "Read1, Read2, Write1, Write2: the two directions that Total adds");
  g_array_remove_range (self->test.cells, 0, self->test.cells->len - n * n);
  self->test.n_rows = n;
}

static void
check_sum (Reader *self)
{
  double sum, of_cells = 0, slack = 0, value;

  for (guint i = 0; i < self->test.cells->len; i++) {
    const FabWord *cell = &g_array_index (self->test.cells, FabWord, i);

    if (!fab_word_is (cell, "N/A") && fab_readings_number (self->test.readings, cell, &value)) {
      of_cells += value;
      slack += 1e-5 * value; /* JSON prints six digits */
    }
  }
  if (self->sum.length > 0 && fab_readings_number (self->test.readings, &self->sum, &sum)
      && fabs (sum - of_cells) > slack + 0.01)
    fab_readings_mistake (self->test.readings, &self->sum, "the cells add up to %.2f", of_cells);
}

static void
end_test (Reader *self)
{
  self->test.name = fab_word_dup (&self->name);
  if (fab_word_is (&self->status, "Waived"))
    fab_readings_leave_out (self->test.readings, &self->status, "testcases that nvbandwidth waived");
  else if (self->status.length > 0 && !fab_word_is (&self->status, "Passed"))
    fab_readings_mistake (self->test.readings, &self->status, "%s did not pass; nothing of it is taken over",
                          self->test.name);
  else if (self->is_uneven)
    fab_readings_mistake (self->test.readings, &self->name, "%s: its rows are not of one length",
                          self->test.name);
  else if (!fab_readings_has_mistakes (self->test.readings)) {
    keep_last (self);
    check_sum (self);
    nvbandwidth_add (&self->test, &self->name);
  }
}

static void
start_test (Reader *self)
{
  nvbandwidth_clear (&self->test);
  self->name.length = self->status.length = self->sum.length = 0;
  self->row_start = 0;
  self->is_uneven = FALSE;
}

static void
note_mark (Reader *self, char mark)
{
  switch (mark) {
  case '{':
    self->n_braces++;
    start_test (self);
    break;
  case '}':
    self->n_braces--;
    if (self->name.length > 0)
      end_test (self);
    start_test (self);
    break;
  case '[':
    self->n_brackets++;
    self->is_matrix = fab_word_is (&self->key, "bandwidth_matrix");
    break;
  case ']':
    self->n_brackets--;
    if (self->is_matrix && self->test.cells->len > self->row_start)
      end_row (self);
    else
      self->is_matrix = FALSE;
    break;
  default: break;
  }
}

static void
read_json (FabReadings *readings)
{
  Reader self = { .test = { .readings = readings }, .at = fab_readings_request (readings)->file.text };
  FabWord token;
  gboolean is_mark;

  start_test (&self);
  while (next_token (&self, &token, &is_mark))
    if (is_mark)
      note_mark (&self, *token.at);
    else if (self.at[strspn (self.at, " \t\r\n")] == ':')
      self.key = token;
    else
      note_value (&self, &token);
  if (self.n_braces != 0 || self.n_brackets != 0)
    fab_readings_mistake (readings, NULL, "a brace or bracket is missing: the file was cut off");
  nvbandwidth_free (&self.test);
}

static gboolean
recognises (const FabFileText *text)
{
  return fab_file_text_first (text) == '{' && fab_file_text_has (text, "\"nvbandwidth\"");
}

const FabFileFormat fab_file_nvbandwidth_json = {
  .name = "nvbandwidth-json",
  .help = "the same with -j",
  .kind = FAB_FILE_MEASUREMENT,
  .recognises = recognises,
  .read.measurement = read_json,
};

/* "Running NAME.", a description, a line of column numbers, a line for each row, "SUM NAME X". */

typedef struct {
  FabNvbandwidth test;
  FabWord running; /* of "Running NAME." while its matrix has not come; length 0: none */
  guint n_devices;
  gboolean is_matrix, is_summed; /* a matrix is being read; the file has SUM lines */
} NvbandwidthTextReader;

static void
end_matrix (NvbandwidthTextReader *self, const FabWord *place)
{
  if (!self->is_matrix)
    return;
  self->is_matrix = FALSE;
  nvbandwidth_add (&self->test, place);
}

/* Reads "Running host_to_device_memcpy_ce.". */
static void
nvbandwidth_text_start_test (NvbandwidthTextReader *self, const FabLine *line)
{
  if (self->running.length > 0)
    fab_readings_mistake (self->test.readings, &self->running, "no matrix follows: the run was interrupted");
  nvbandwidth_clear (&self->test);
  self->test.name = fab_word_dup (&line->words[1]);
  if (g_str_has_suffix (self->test.name, "."))
    self->test.name[strlen (self->test.name) - 1] = '\0';
  self->running = line->whole;
}

static void
start_matrix (NvbandwidthTextReader *self, const FabLine *line)
{
  g_autofree char *name = g_strdup (self->test.name);

  nvbandwidth_clear (&self->test);
  fab_reading_set (&self->test.name, name);
  self->test.description = fab_word_dup (&line->whole);
  self->is_matrix = TRUE;
  self->running.length = 0;
}

/* Compares "SUM host_to_device_memcpy_ce 369.36", or "... _read1 1204.9", with the matrix above. */
static void
nvbandwidth_text_check_sum (NvbandwidthTextReader *self, const FabLine *line)
{
  double sum;

  self->is_summed = TRUE;
  if (line->n == 3 && self->test.name != NULL && self->test.cells->len > 0
      && fab_readings_number (self->test.readings, &line->words[2], &sum)
      && fabs (sum - self->test.sum) > self->test.rounding + 0.01)
    fab_readings_mistake (self->test.readings, &line->words[2], "the cells above add up to %.2f",
                          self->test.sum);
}

static void
read_device (NvbandwidthTextReader *self, const FabLine *line)
{
  g_autofree char *text = fab_word_dup (&line->whole);
  char *name = strchr (text, ':'), *end;

  if (name == NULL || line->n < 3 || !fab_word_is (&line->words[0], "Device"))
    return;
  end = strstr (++name, " (");
  if (end)
    *end = '\0';
  g_free (self->test.system);
  self->test.system = g_strdup_printf ("%ux %s", ++self->n_devices, g_strstrip (name));
}

static void
read_matrix_line (NvbandwidthTextReader *self, const FabLine *line)
{
  if (self->test.n_columns == 0) {
    self->test.n_columns = line->n;
    for (guint i = 0; i < line->n; i++)
      if (!fab_word_is_whole (&line->words[i])) {
        fab_readings_mistake (self->test.readings, &line->words[i], "the number of a column belongs here");
        self->is_matrix = FALSE;
        return;
      }
    return;
  }
  if (line->n != self->test.n_columns + 1 || !fab_word_is_whole (&line->words[0])) {
    fab_readings_mistake (self->test.readings, &line->whole, "a row with %u cells belongs here",
                          self->test.n_columns);
    self->is_matrix = FALSE;
    return;
  }
  self->test.n_rows++;
  for (guint i = 1; i < line->n; i++)
    nvbandwidth_cell (&self->test, &line->words[i]);
}

static gboolean
is_description (const FabLine *line)
{
  return fab_word_has (&line->whole, "(GB/s)") || fab_word_has (&line->whole, "(ns)");
}

static void
read_line (NvbandwidthTextReader *self, const FabLine *line)
{
  if (self->is_matrix && line->n > 0 && fab_word_is_whole (&line->words[0])) {
    read_matrix_line (self, line);
    return;
  }
  end_matrix (self, &line->whole);
  if (line->n == 2 && fab_word_is (&line->words[0], "Running"))
    nvbandwidth_text_start_test (self, line);
  else if (self->test.name != NULL && is_description (line))
    start_matrix (self, line);
  else if (line->n > 0 && fab_word_is (&line->words[0], "SUM"))
    nvbandwidth_text_check_sum (self, line);
  else if (line->n > 0 && fab_word_is (&line->words[0], "Waived:")) {
    fab_readings_leave_out (self->test.readings, &line->words[0], "testcases that nvbandwidth waived");
    self->running.length = 0;
  } else if (g_str_has_prefix (line->whole.at, "ERROR") || g_str_has_prefix (line->whole.at, "[CUDA_ERROR"))
    fab_readings_mistake (self->test.readings, &line->whole, "nvbandwidth failed here");
  else
    read_device (self, line);
}

static void
read_text (FabReadings *readings)
{
  NvbandwidthTextReader self = { .test = { .readings = readings } };
  FabLine line = { .n = 0 }, before = { .n = 0 };
  gboolean was_matrix = FALSE;

  nvbandwidth_clear (&self.test);
  while (fab_readings_next (readings, &line)) {
    read_line (&self, &line);
    if (self.is_matrix && was_matrix && line.n > 0)
      fab_readings_check_cut (readings, &line, &before);
    was_matrix = self.is_matrix && self.test.n_rows > 0;
    before = line;
  }
  if (self.is_matrix && self.is_summed)
    fab_readings_mistake (readings, &line.whole, "no SUM behind this matrix: the output was cut off");
  end_matrix (&self, &line.whole);
  if (self.running.length > 0)
    fab_readings_mistake (readings, &self.running, "no matrix follows: the run was interrupted");
  nvbandwidth_free (&self.test);
}

static gboolean
nvbandwidth_text_recognises (const FabFileText *text)
{
  return fab_file_text_first (text) != '{'
      && (fab_file_text_has (text, "nvbandwidth Version")
          || (fab_file_text_has (text, "(row)") && fab_file_text_has (text, "(column)")));
}

const FabFileFormat fab_file_nvbandwidth = {
  .name = "nvbandwidth",
  .help = "copies between GPUs and host memory",
  .kind = FAB_FILE_MEASUREMENT,
  .recognises = nvbandwidth_text_recognises,
  .read.measurement = read_text,
};
