/* SPDX-License-Identifier: Apache-2.0 */
/* fabtests.c - the tables of libfabric: fi_pingpong, and fi_..._pingpong, fi_..._bw of fabtests.
 *
 *   bytes   #sent   #ack     total       time     MB/sec    usec/xfer   Mxfers/sec
 *   1m      10      =10      20m         0.01s   2614.25     401.10       0.00
 *
 * Sizes are in units of 2^10 and cut to two digits, MB are 10^6 bytes; usec/xfer is half a round trip of a ping-pong,
 * the time of a message otherwise. With few iterations the first size is cold.
 */
#include <math.h>
#include <string.h>

#include "formats/measurement/readings.h"

/* The largest disagreement between size and rate x time, as a fraction: the printed size is rounded, "1.5k" may be
 * 1637 bytes. */
#define MAX_DISAGREEMENT 0.1
#define MIN_DIGITS 3

typedef struct {
  FabReadings *readings;
  FabSeries series;
  gboolean is_known;   /* a command named the test of fabtests */
  gboolean has_header; /* the text has a table */
  guint n_columns;
} Reader;

/* Returns the value of `option` in a command, as "dgram" of `-e dgram`. (transfer full) */
static char *
option_of (const FabLine *line, const char *option)
{
  for (guint i = 0; i + 1 < line->n; i++)
    if (fab_word_is (&line->words[i], option))
      return fab_word_dup (&line->words[i + 1]);
  return NULL;
}

static const FabWord *
find_command (const FabLine *line)
{
  for (guint i = 0; i < line->n; i++)
    if (fab_word_has (&line->words[i], "fi_")
        && (fab_word_has (&line->words[i], "pingpong") || fab_word_has (&line->words[i], "_bw")))
      return &line->words[i];
  return NULL;
}

/* Reads a command: "fi_pingpong -p efa -e rdm -m tagged 10.0.0.1", "fi_rdm_tagged_bw -p tcp". */
static void
read_command (Reader *self, const FabLine *line, const FabWord *command)
{
  g_autofree char *mode = option_of (line, "-m"), *end = option_of (line, "-e"), *note = NULL;
  g_autofree char *whole = fab_word_dup (&line->whole);
  gboolean is_tagged = g_strcmp0 (mode, "tagged") == 0 || fab_word_has (command, "tagged");

  self->is_known = TRUE;
  self->series.kind = fab_word_has (command, "_bw") ? FAB_MEASURE_BANDWIDTH : FAB_MEASURE_LATENCY;
  note = g_strdup (strstr (whole, "fi_"));
  fab_reading_set (&self->series.note, note);
  fab_reading_set (&self->series.method, is_tagged                               ? "tagged"
                                         : end                                   ? end
                                         : fab_word_has (command, "fi_pingpong") ? "dgram"
                                                                                 : "send");
}

static void
read_header (Reader *self, const FabLine *line, guint first)
{
  gboolean is_pingpong = fab_word_is (&line->words[first + 1], "#sent");

  self->has_header = TRUE;
  self->n_columns = line->n - first;
  if (is_pingpong && !self->is_known) {
    self->series.kind = FAB_MEASURE_LATENCY;
    fab_reading_set (&self->series.note, "fi_pingpong");
  } else if (!self->is_known)
    fab_readings_mistake (self->readings, &line->whole,
                          "which test is this? Leave the command above it, as `fi_rdm_tagged_bw ...`");
}

/* Reads a size: "64", "1.5k", "10m". */
static gboolean
read_size (Reader *self, const FabWord *word, FabBytes *size_bytes)
{
  static const char units[] = "kmg";
  g_autofree char *text = fab_word_dup (word);
  char *end;
  double value = g_ascii_strtod (text, &end);
  const char *unit = *end != '\0' ? strchr (units, *end) : NULL;

  if (end != text && value > 0 && value < 1e6 && (*end == '\0' || (unit != NULL && end[1] == '\0'))) {
    *size_bytes = (FabBytes) llround (value * (unit ? (double) (1ULL << (10 * (unit - units + 1))) : 1));
    if (*size_bytes > 0)
      return TRUE;
  }
  fab_readings_mistake (self->readings, word, "'%s' stands where a size belongs, as 64, 4k or 1m", text);
  return FALSE;
}

static void
add_row (Reader *self, const FabLine *line, guint first)
{
  const FabWord *rate_word = &line->words[first + self->n_columns - 3];
  const FabWord *time_word = &line->words[first + self->n_columns - 2];
  FabBytes size_bytes;
  double rate_MBps, time_us, product;

  if (!read_size (self, &line->words[first], &size_bytes)
      || !fab_readings_number (self->readings, rate_word, &rate_MBps)
      || !fab_readings_number (self->readings, time_word, &time_us))
    return;
  product = rate_MBps * time_us;
  if (fab_word_digits (rate_word) >= MIN_DIGITS && fab_word_digits (time_word) >= MIN_DIGITS
      && fabs (product - (double) size_bytes) > MAX_DISAGREEMENT * (double) size_bytes)
    fab_readings_mistake (self->readings, time_word, "size, MB/sec and usec/xfer of this row do not agree");
  else if (fab_word_digits (rate_word) > fab_word_digits (time_word))
    fab_readings_rate (self->readings, rate_word, fab_readings_series (self->readings, &self->series),
                       size_bytes, rate_MBps * 1e6);
  else
    fab_readings_time (self->readings, time_word, fab_readings_series (self->readings, &self->series),
                       size_bytes, time_us, NULL);
}

/* Finds a word of the line; labels such as "[rank 1]" may stand before a table. */
static guint
find_word (const FabLine *line, const char *text)
{
  guint i = 0;

  while (i < line->n && !fab_word_is (&line->words[i], text))
    i++;
  return i;
}

static void
read_line (Reader *self, const FabLine *line, FabLine *before)
{
  const FabWord *command = find_command (line);
  guint header = find_word (line, "bytes"), first = line->n - MIN (line->n, self->n_columns);

  if (command != NULL)
    read_command (self, line, command);
  else if (header + 5 < line->n && find_word (line, "usec/xfer") < line->n)
    read_header (self, line, header);
  else if (self->has_header && line->n >= self->n_columns && line->words[first].length > 0
           && g_ascii_isdigit (line->words[first].at[0])) {
    fab_readings_check_cut (self->readings, line, before);
    add_row (self, line, first);
    *before = *line;
  } else if (self->has_header && line->n > 3 && g_ascii_isdigit (line->words[0].at[0]))
    fab_readings_mistake (self->readings, &line->whole, "%u words in a table of %u columns", line->n,
                          self->n_columns);
}

static void
read_text (FabReadings *readings)
{
  Reader self = { .readings = readings };
  FabLine line, before = { .n = 0 };

  fab_reading_set (&self.series.backend, "fabtests");
  fab_reading_set (&self.series.from_memory, "host");
  fab_reading_set (&self.series.to_memory, "host");
  while (fab_readings_next (readings, &line))
    read_line (&self, &line, &before);
  fab_series_clear (&self.series);
}

static gboolean
recognises (const FabFileText *text)
{
  return fab_file_text_has (text, "MB/sec") && fab_file_text_has (text, "usec/xfer");
}

const FabFileFormat fab_file_fabtests = {
  .name = "fabtests",
  .help = "fi_pingpong, fi_rdm_tagged_bw, ...",
  .kind = FAB_FILE_MEASUREMENT,
  .recognises = recognises,
  .read.measurement = read_text,
};
