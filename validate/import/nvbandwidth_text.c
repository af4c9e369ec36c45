/* SPDX-License-Identifier: Apache-2.0 */
/* nvbandwidth_text.c - "Running NAME.", a description, a line of column numbers, a line for each row, "SUM NAME X". */
#include <math.h>
#include <string.h>

#include "validate/import/nvbandwidth.h"

typedef struct {
  FabNvbandwidth test;
  FabWord running; /* of "Running NAME." while its matrix has not come; length 0: none */
  guint n_devices;
  gboolean is_matrix, is_summed; /* a matrix is being read; the file has SUM lines */
} Reader;

static void
end_matrix (Reader *self, const FabWord *place)
{
  if (!self->is_matrix)
    return;
  self->is_matrix = FALSE;
  fab_nvbandwidth_add (&self->test, place);
}

/* Reads "Running host_to_device_memcpy_ce.". */
static void
start_test (Reader *self, const FabLine *line)
{
  if (self->running.length > 0)
    fab_readings_mistake (self->test.readings, &self->running, "no matrix follows: the run was interrupted");
  fab_nvbandwidth_clear (&self->test);
  self->test.name = fab_word_dup (&line->words[1]);
  if (g_str_has_suffix (self->test.name, "."))
    self->test.name[strlen (self->test.name) - 1] = '\0';
  self->running = line->whole;
}

static void
start_matrix (Reader *self, const FabLine *line)
{
  g_autofree char *name = g_strdup (self->test.name);

  fab_nvbandwidth_clear (&self->test);
  fab_reading_set (&self->test.name, name);
  self->test.description = fab_word_dup (&line->whole);
  self->is_matrix = TRUE;
  self->running.length = 0;
}

/* Compares "SUM host_to_device_memcpy_ce 369.36", or "... _read1 1204.9", with the matrix above. */
static void
check_sum (Reader *self, const FabLine *line)
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
read_device (Reader *self, const FabLine *line)
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
read_matrix_line (Reader *self, const FabLine *line)
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
    fab_nvbandwidth_cell (&self->test, &line->words[i]);
}

static gboolean
is_description (const FabLine *line)
{
  return fab_word_has (&line->whole, "(GB/s)") || fab_word_has (&line->whole, "(ns)");
}

static void
read_line (Reader *self, const FabLine *line)
{
  if (self->is_matrix && line->n > 0 && fab_word_is_whole (&line->words[0])) {
    read_matrix_line (self, line);
    return;
  }
  end_matrix (self, &line->whole);
  if (line->n == 2 && fab_word_is (&line->words[0], "Running"))
    start_test (self, line);
  else if (self->test.name != NULL && is_description (line))
    start_matrix (self, line);
  else if (line->n > 0 && fab_word_is (&line->words[0], "SUM"))
    check_sum (self, line);
  else if (line->n > 0 && fab_word_is (&line->words[0], "Waived:")) {
    fab_readings_leave_out (self->test.readings, "testcases that nvbandwidth waived");
    self->running.length = 0;
  } else if (g_str_has_prefix (line->whole.at, "ERROR") || g_str_has_prefix (line->whole.at, "[CUDA_ERROR"))
    fab_readings_mistake (self->test.readings, &line->whole, "nvbandwidth failed here");
  else
    read_device (self, line);
}

static void
read_text (FabReadings *readings)
{
  Reader self = { .test = { .readings = readings } };
  FabLine line = { .n = 0 }, before = { .n = 0 };
  gboolean was_matrix = FALSE;

  fab_nvbandwidth_clear (&self.test);
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
  fab_nvbandwidth_free (&self.test);
}

static gboolean
recognises (const char *text)
{
  return text[strspn (text, " \t\r\n")] != '{'
      && (strstr (text, "nvbandwidth Version") != NULL
          || (strstr (text, "(row)") != NULL && strstr (text, "(column)") != NULL));
}

const FabMeasurementFormat fab_measurement_nvbandwidth = {
  .name = "nvbandwidth",
  .tool = "nvbandwidth",
  .recognises = recognises,
  .read = read_text,
};
