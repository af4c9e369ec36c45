/* SPDX-License-Identifier: Apache-2.0 */
/* nvbandwidth_json.c - what nvbandwidth -j prints (json_output.cpp): testcases with name, description, matrix of texts.
 *
 * A bidirectional testcase between GPUs appends the matrices of Read1, Read2 and Total to each other; description and
 * sum are those of the last. Keys may stand in any order.
 */
#include <math.h>
#include <string.h>

#include "validate/import/nvbandwidth.h"

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
    fab_nvbandwidth_cell (&self->test, word);
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
  fab_readings_leave_out (self->test.readings,
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
    fab_readings_leave_out (self->test.readings, "testcases that nvbandwidth waived");
  else if (self->status.length > 0 && !fab_word_is (&self->status, "Passed"))
    fab_readings_mistake (self->test.readings, &self->status, "%s did not pass; nothing of it is taken over",
                          self->test.name);
  else if (self->is_uneven)
    fab_readings_mistake (self->test.readings, &self->name, "%s: its rows are not of one length",
                          self->test.name);
  else if (!fab_readings_has_mistakes (self->test.readings)) {
    keep_last (self);
    check_sum (self);
    fab_nvbandwidth_add (&self->test, &self->name);
  }
}

static void
start_test (Reader *self)
{
  fab_nvbandwidth_clear (&self->test);
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
  Reader self = { .test = { .readings = readings }, .at = fab_readings_request (readings)->text };
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
  fab_nvbandwidth_free (&self.test);
}

static gboolean
recognises (const char *text)
{
  return text[strspn (text, " \t\r\n")] == '{' && strstr (text, "\"nvbandwidth\"") != NULL;
}

const FabMeasurementFormat fab_measurement_nvbandwidth_json = {
  .name = "nvbandwidth-json",
  .tool = "nvbandwidth -j",
  .recognises = recognises,
  .read = read_json,
};
