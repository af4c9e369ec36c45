/* SPDX-License-Identifier: Apache-2.0 */
/* p2p_matrix.c - p2pBandwidthLatencyTest of the CUDA samples: square matrices of GPUs.
 *
 *   unidirectional     GB/s from row to column (reads: from column to row)
 *   bidirectional      GB/s of both directions together: time = 2 x size / rate
 *   diagonal           GB/s of a copy inside the GPU, read and write counted: time = 2 x size / rate
 *   GPU latency        us of one copy of 16 B after the other on a stream
 *
 * Sizes are not printed: 40 000 000 integers, unless --numElems said otherwise. CPU latency is what queueing a copy
 * takes and no transfer; it is left out.
 */
#include <string.h>

#include "formats/measurement/readings.h"

enum { DEFAULT_BYTES = 160000000, LATENCY_BYTES = 16, MAX_GPUS = 256 };

typedef struct {
  FabReadings *readings;
  GHashTable *devices;   /* number -> name */
  GHashTable *no_access; /* row x MAX_GPUS + column of the pairs without P2P */
  FabWord title;         /* of the matrix that follows; length 0: none follows */
  gboolean is_latency, is_both, is_p2p, is_read, is_access;
  gboolean is_cpu;
  guint n_gpus, n_rows; /* of the matrix that is being read; 0: none */
  char *system;
} Reader;

static void
start_matrix (Reader *self, const FabLine *line)
{
  self->title = line->whole;
  self->is_latency = fab_word_has (&line->whole, "Latency");
  self->is_both = fab_word_has (&line->whole, "Bidirectional");
  self->is_p2p = fab_word_has (&line->whole, "P2P=Enabled");
  self->is_read = fab_word_has (&line->whole, "Reads");
  self->is_access = fab_word_has (&line->whole, "Connectivity");
}

static gboolean
is_title (const FabLine *line)
{
  return fab_word_is (&line->whole, "P2P Connectivity Matrix")
      || ((fab_word_has (&line->whole, "P2P=Enabled") || fab_word_has (&line->whole, "P2P=Disabled"))
          && (fab_word_has (&line->whole, "Bandwidth") || fab_word_has (&line->whole, "Latency")));
}

/* Reads the head of a matrix: "   D\D     0      1", "   GPU     0      1", "   CPU ...". */
static void
read_head (Reader *self, const FabLine *line)
{
  if (self->title.length == 0)
    return;
  self->n_gpus = line->n - 1;
  self->n_rows = 0;
  self->is_cpu = fab_word_is (&line->words[0], "CPU");
  for (guint i = 1; i < line->n; i++)
    if (!fab_word_is_whole (&line->words[i]) || fab_word_count (&line->words[i]) != i - 1 || i > MAX_GPUS) {
      fab_readings_mistake (self->readings, &line->words[i], "GPU %u belongs here", i - 1);
      self->n_gpus = 0;
      return;
    }
  if (self->is_cpu)
    fab_readings_leave_out (self->readings, &line->words[0],
                            "the CPU latencies: what queueing a copy takes, no transfer");
}

static void
describe (const Reader *self, FabSeries *series, guint row, guint column)
{
  guint from = self->is_read ? column : row, to = self->is_read ? row : column;
  g_autofree char *from_name = g_strdup_printf ("gpu%u", from), *to_name = g_strdup_printf ("gpu%u", to);

  series->kind = self->is_latency ? FAB_MEASURE_LATENCY
               : self->is_both    ? FAB_MEASURE_BIDIRECTIONAL
                                  : FAB_MEASURE_BANDWIDTH;
  fab_reading_set (&series->backend, "p2pBandwidthLatencyTest");
  fab_reading_set (&series->system, self->system);
  fab_reading_set (&series->from, from_name);
  fab_reading_set (&series->to, to_name);
  fab_reading_set (&series->from_memory, "gpu");
  fab_reading_set (&series->to_memory, "gpu");
  fab_reading_set (&series->method, from != to && !self->is_p2p ? "staged"
                                    : self->is_read             ? "copy-read"
                                                                : "copy");
}

static char *
note_of (const Reader *self, gboolean is_same)
{
  const char *why = self->is_latency ? "GPU latency: one copy after the other on a stream"
                  : is_same          ? "a copy inside the GPU; half of the rate, which counts read and write"
                  : self->is_both    ? "half of both directions together"
                                     : "one direction";
  gboolean is_default = fab_readings_request (self->readings)->size_bytes == 0 && !self->is_latency;

  return g_strconcat (why, is_default ? "; 160000000 B is the default of --numElems" : "", NULL);
}

static void
add_cell (Reader *self, const FabWord *word, guint row, guint column)
{
  FabBytes asked = fab_readings_request (self->readings)->size_bytes;
  FabBytes size_bytes = self->is_latency ? LATENCY_BYTES : asked > 0 ? asked : DEFAULT_BYTES;
  FabSeries series = { .kind = FAB_MEASURE_LATENCY };
  double value, divisor = (row == column ? 2 : 1) * (self->is_both ? 2 : 1);
  g_autofree char *note = NULL;

  if (!fab_readings_number (self->readings, word, &value) || self->is_cpu)
    return;
  if (self->is_access && value <= 0)
    g_hash_table_add (self->no_access, GUINT_TO_POINTER (row * MAX_GPUS + column));
  if (self->is_access)
    return;
  if (row == column && (self->is_p2p || self->is_both)) {
    fab_readings_leave_out (self->readings, word,
                            "copies inside a GPU, but for those of the P2P=Disabled matrices");
    return;
  }
  if (self->is_p2p && g_hash_table_contains (self->no_access, GUINT_TO_POINTER (row * MAX_GPUS + column))) {
    fab_readings_leave_out (self->readings, word,
                            "pairs without P2P, but for those of the P2P=Disabled matrices");
    return;
  }
  describe (self, &series, row, column);
  note = note_of (self, row == column);
  fab_reading_set (&series.note, note);
  if (self->is_latency)
    fab_readings_time (self->readings, word, fab_readings_series (self->readings, &series), size_bytes, value,
                       NULL);
  else
    fab_readings_rate (self->readings, word, fab_readings_series (self->readings, &series), size_bytes,
                       value * 1e9 / divisor);
  fab_series_clear (&series);
}

static void
read_row (Reader *self, const FabLine *line)
{
  guint row = self->n_rows++;

  if (line->n != self->n_gpus + 1 || !fab_word_is_whole (&line->words[0])
      || fab_word_count (&line->words[0]) != row)
    fab_readings_mistake (self->readings, &line->whole, "row %u of a matrix of %u GPUs belongs here", row,
                          self->n_gpus);
  else
    for (guint i = 0; i < self->n_gpus; i++)
      add_cell (self, &line->words[i + 1], row, i);
  if (self->n_rows < self->n_gpus)
    return;
  self->n_gpus = 0;
  if (!self->is_latency || self->is_cpu)
    self->title.length = 0;
}

/* Reads "Device: 0, NVIDIA H100 PCIe, pciBusID: c2, ...". */
static void
read_device (Reader *self, const FabLine *line)
{
  g_autofree char *text = fab_word_dup (&line->whole);
  g_auto (GStrv) parts = g_strsplit (text, ",", 3);

  if (g_strv_length (parts) < 3)
    return;
  g_hash_table_insert (self->devices, g_strdup (parts[0]), g_strdup (g_strstrip (parts[1])));
  g_free (self->system);
  self->system = g_strdup_printf ("%ux %s", g_hash_table_size (self->devices), g_strstrip (parts[1]));
}

static void
check_whole (Reader *self)
{
  if (self->n_rows < self->n_gpus)
    fab_readings_mistake (self->readings, &self->title,
                          "this matrix ends after %u of %u rows: it was cut off", self->n_rows, self->n_gpus);
  else if (self->title.length > 0 && !self->is_latency)
    fab_readings_mistake (self->readings, &self->title, "no matrix follows: it was cut off");
  self->n_gpus = 0;
}

static void
read_line (Reader *self, const FabLine *line)
{
  if (is_title (line)) {
    check_whole (self);
    start_matrix (self, line);
  } else if (line->n > 0 && self->n_gpus > 0)
    read_row (self, line);
  else if (line->n > 1
           && (fab_word_is (&line->words[0], "D\\D") || fab_word_is (&line->words[0], "GPU")
               || fab_word_is (&line->words[0], "CPU")))
    read_head (self, line);
  else if (g_str_has_prefix (line->whole.at, "Device: "))
    read_device (self, line);
}

static void
read_text (FabReadings *readings)
{
  Reader self = { .readings = readings };
  FabLine line;
  gboolean has_end = FALSE;

  self.devices = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, g_free);
  self.no_access = g_hash_table_new (NULL, NULL);
  while (fab_readings_next (readings, &line)) {
    read_line (&self, &line);
    has_end = has_end || fab_word_has (&line.whole, "not meant for performance measurements");
  }
  check_whole (&self);
  if (!has_end)
    fab_readings_leave_out (readings, NULL,
                            "the sample's closing NOTE is missing: it may have been cut off behind a matrix");
  g_hash_table_unref (self.devices);
  g_hash_table_unref (self.no_access);
  g_free (self.system);
}

static gboolean
recognises (const FabFileText *text)
{
  return fab_file_text_has (text, "directional P2P=") && fab_file_text_has (text, "D\\D");
}

const FabFileFormat fab_file_p2p = {
  .name = "p2pBandwidthLatencyTest",
  .help = "of the CUDA samples",
  .kind = FAB_FILE_MEASUREMENT,
  .recognises = recognises,
  .read.measurement = read_text,
};
