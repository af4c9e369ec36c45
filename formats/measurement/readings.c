/* SPDX-License-Identifier: Apache-2.0 */
/* readings.c - collects series and points from a text, and the mistakes in it. */
#include "formats/measurement/readings.h"

#include <math.h>
#include <string.h>

#include "formats/text/notes.h"
#include "sim/base/order.h"
#include "sim/config/diagnostics.h"

enum { MAX_MISTAKES = 200, MAX_POINTS = 4096 };

/* The longest time of a message, eleven days. */
#define MAX_TIME_US 1e12

struct _FabReadings {
  const FabMeasurementRequest *request;
  FabDiagnostics *mistakes;
  GError *failure; /* of another parser; NULL: none */
  GPtrArray *series, *notes;
  GHashTable *by_key;  /* char * -> FabMeasuredSeries */
  const char *next;    /* the line that is read next */
  const char *counted; /* up to where line ends were counted; NULL: nowhere yet */
  guint counted_line;  /* the line there */
  guint n_zero;        /* rows whose printed value is 0 */
};

FabReadings *
fab_readings_new (const FabMeasurementRequest *request)
{
  FabReadings *self = g_new0 (FabReadings, 1);

  self->request = request;
  self->mistakes = fab_diagnostics_new ();
  self->series = g_ptr_array_new_with_free_func (fab_measured_series_free);
  self->notes = fab_file_notes_new ();
  self->by_key = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  self->next = request->file.text;
  return self;
}

void
fab_readings_free (FabReadings *self)
{
  if (self == NULL)
    return;
  fab_diagnostics_free (self->mistakes);
  g_clear_error (&self->failure);
  g_ptr_array_unref (self->series);
  g_ptr_array_unref (self->notes);
  g_hash_table_unref (self->by_key);
  g_free (self);
}

const FabMeasurementRequest *
fab_readings_request (const FabReadings *self)
{
  return self->request;
}

gboolean
fab_readings_has_mistakes (const FabReadings *self)
{
  return self->failure != NULL || fab_diagnostics_count (self->mistakes) > 0;
}

/* Returns the place of a word: its line, and its columns in characters. */
static FabMark
mark_word (const FabReadings *self, const FabWord *word)
{
  FabMark mark = { .file = self->request->file.name, .line = 1, .length = 1 };
  const char *start = self->request->file.text, *end;

  for (const char *at = start; at < word->at; at++)
    if (*at == '\n') {
      mark.line++;
      start = at + 1;
    }
  end = strchr (start, '\n');
  mark.text = start;
  mark.text_length = end ? (gsize) (end - start) : strlen (start);
  mark.column = (guint) g_utf8_strlen (start, word->at - start) + 1;
  mark.length = MAX ((guint) g_utf8_strlen (word->at, (gssize) word->length), 1);
  return mark;
}

void
fab_readings_mistake (FabReadings *self, const FabWord *at, const char *format, ...)
{
  va_list args;

  va_start (args, format);
  g_autofree char *message = g_strdup_vprintf (format, args);
  va_end (args);
  if (at != NULL) {
    FabMark mark = mark_word (self, at);

    fab_diagnostics_add (self->mistakes, &mark, "%s", message);
  } else
    fab_diagnostics_add (self->mistakes, NULL, "%s: %s", self->request->file.name, message);
}

void
fab_readings_fail (FabReadings *self, const GError *error)
{
  g_assert (self->failure == NULL);
  self->failure = g_error_copy (error);
}

/* The line at which a word stands, from 1. Words are asked for mostly in the order of the text. */
static guint
line_of (FabReadings *self, const FabWord *word)
{
  if (self->counted == NULL || word->at < self->counted) {
    self->counted = self->request->file.text;
    self->counted_line = 1;
  }
  for (; self->counted < word->at; self->counted++)
    self->counted_line += *self->counted == '\n';
  return self->counted_line;
}

void
fab_readings_leave_out (FabReadings *self, const FabWord *at, const char *format, ...)
{
  va_list args;

  va_start (args, format);
  g_autofree char *sentence = g_strdup_vprintf (format, args);
  va_end (args);
  fab_file_notes_add (self->notes, FAB_NOTE_LEFT_OUT, NULL,
                      at != NULL && at->at != NULL ? line_of (self, at) : 0, sentence);
}

gboolean
fab_readings_number (FabReadings *self, const FabWord *word, double *value)
{
  g_autofree char *text = fab_word_dup (word);
  char *end;

  *value = g_ascii_strtod (text, &end);
  if (end != text && *end == '\0' && isfinite (*value) && *value >= 0)
    return TRUE;
  fab_readings_mistake (self, word, "'%s' stands where a number belongs", text);
  return FALSE;
}

gboolean
fab_readings_size (FabReadings *self, const FabWord *word, FabBytes *size_bytes)
{
  g_autofree char *text = fab_word_dup (word);

  if (g_ascii_string_to_unsigned (text, 10, 1, (guint64) 1 << 50, size_bytes, NULL))
    return TRUE;
  fab_readings_mistake (self, word, "'%s' stands where a size in bytes belongs, a whole number above 0",
                        text);
  return FALSE;
}

FabMeasuredSeries *
fab_readings_series (FabReadings *self, const FabSeries *like)
{
  FabSeries series;
  g_autofree char *key = NULL;
  FabMeasuredSeries *found;

  fab_series_copy (&series, like);
  if (self->request->system != NULL)
    fab_reading_set (&series.system, self->request->system);
  if (self->request->source != NULL || series.source == NULL)
    fab_reading_set (&series.source,
                     self->request->source ? self->request->source : self->request->file.name);
  series.n_ranks = series.n_ranks > 0 || series.kind >= FAB_MEASURE_COLLECTIVE ? series.n_ranks : 2;
  series.n_pairs = series.kind >= FAB_MEASURE_COLLECTIVE ? series.n_pairs : MAX (series.n_pairs, 1);
  key = fab_series_key (&series);
  found = g_hash_table_lookup (self->by_key, key);
  if (found == NULL) {
    found = fab_measured_series_new (&series);
    g_ptr_array_add (self->series, found);
    g_hash_table_insert (self->by_key, g_steal_pointer (&key), found);
  }
  fab_series_clear (&series);
  return found;
}

FabTimePs
fab_reading_ps (double time_us)
{
  return time_us <= MAX_TIME_US ? (FabTimePs) llround (time_us * 1e6) : 0;
}

void
fab_readings_time (FabReadings *self, const FabWord *word, FabMeasuredSeries *series, FabBytes size_bytes,
                   double time_us, const FabMeasuredPoint *spread)
{
  FabMeasuredPoint point = spread ? *spread : (FabMeasuredPoint){ .is_complete = TRUE };

  if (time_us > MAX_TIME_US) {
    fab_readings_mistake (self, word, "a message of %" G_GUINT64_FORMAT " B takes longer than a week",
                          size_bytes);
    return;
  }
  point.size_bytes = size_bytes;
  point.time_ps = fab_reading_ps (time_us);
  if (point.time_ps == 0) {
    self->n_zero++;
    return;
  }
  for (guint i = 0; i < series->points->len; i++) {
    const FabMeasuredPoint *other = &g_array_index (series->points, FabMeasuredPoint, i);

    if (other->size_bytes != size_bytes)
      continue;
    if (other->time_ps != point.time_ps)
      fab_readings_mistake (self, word,
                            "size %" G_GUINT64_FORMAT
                            " is given twice with different values; give one run in a file",
                            size_bytes);
    return;
  }
  if (series->points->len < MAX_POINTS)
    g_array_append_val (series->points, point);
  else
    fab_readings_mistake (self, word, "more than %d sizes of one series", MAX_POINTS);
}

void
fab_readings_rate (FabReadings *self, const FabWord *word, FabMeasuredSeries *series, FabBytes size_bytes,
                   double bytes_per_s)
{
  if (bytes_per_s > 0)
    fab_readings_time (self, word, series, size_bytes, (double) size_bytes / bytes_per_s * 1e6, NULL);
  else
    self->n_zero++;
}

static gint
compare_points (gconstpointer a, gconstpointer b)
{
  return fab_order_uint64s (&((const FabMeasuredPoint *) a)->size_bytes,
                            &((const FabMeasuredPoint *) b)->size_bytes);
}

FabMeasurements *
fab_readings_finish (FabReadings *self, const char *format, GError **error)
{
  FabMeasurements *result;

  for (guint i = self->series->len; i-- > 0;) {
    FabMeasuredSeries *series = g_ptr_array_index (self->series, i);

    g_array_sort (series->points, compare_points);
    if (series->points->len == 0)
      g_ptr_array_remove_index (self->series, i);
  }
  if (self->series->len == 0 && !fab_readings_has_mistakes (self))
    fab_readings_mistake (self, NULL, "no row of %s with a value above 0", format);
  if (self->failure != NULL) {
    g_propagate_error (error, g_error_copy (self->failure));
    return NULL;
  }
  if (!fab_diagnostics_check (self->mistakes, error))
    return NULL;
  if (self->n_zero > 0)
    fab_readings_leave_out (self, NULL, "%u rows whose printed value is 0: too few digits", self->n_zero);
  result = g_new0 (FabMeasurements, 1);
  result->format = format;
  result->series = g_ptr_array_ref (self->series);
  result->notes = g_ptr_array_ref (self->notes);
  return result;
}

void
fab_readings_check_cut (FabReadings *self, const FabLine *row, const FabLine *before)
{
  const FabWord *last = &row->words[row->n - 1];

  if (!row->has_end && before->n > 0
      && (row->n != before->n
          || fab_word_decimals (last) != fab_word_decimals (&before->words[before->n - 1])))
    fab_readings_mistake (self, last, "the text ends inside this row: it was cut off");
}

/* What launchers and tools print when a run did not end normally. */
static const char *const interruptions[] = {
  "CANCELLED AT",          "mpirun noticed that",
  "MPI_ABORT was invoked", "srun: error:",
  "Segmentation fault",    "Cuda failure",
  "Completion with error", "Failed to complete run_iter",
  "Couldn't connect to",   "^C",
};

gboolean
fab_readings_next (FabReadings *self, FabLine *line)
{
  if (fab_diagnostics_count (self->mistakes) >= MAX_MISTAKES || !fab_line_next (&self->next, line))
    return FALSE;
  for (guint i = 0; i < G_N_ELEMENTS (interruptions); i++)
    if (fab_word_has (&line->whole, interruptions[i]))
      fab_readings_mistake (self, &line->whole,
                            "the run did not come to its end; nothing of it is taken over");
  return TRUE;
}

void
fab_reading_set (char **text, const char *value)
{
  char *copy = g_strdup (value);

  g_free (*text);
  *text = copy;
}

/* Splits a text into lines and words without copying it. */

static gboolean
is_blank (char c)
{
  return c == ' ' || c == '\t' || c == '\r';
}

static const char *
skip_blanks (const char *at, const char *end)
{
  while (at < end && is_blank (*at))
    at++;
  return at;
}

static const char *
skip_label (const char *at, const char *end)
{
  const char *tag = g_strstr_len (at, end - at, "<stdout>:"), *digit;

  if (tag != NULL)
    return tag + strlen ("<stdout>:");
  at = skip_blanks (at, end);
  for (digit = at; digit < end && g_ascii_isdigit (*digit);)
    digit++;
  return digit > at && digit < end && *digit == ':' ? digit + 1 : at;
}

gboolean
fab_line_next (const char **cursor, FabLine *line)
{
  const char *at = *cursor, *end = strchr (at, '\n');

  if (*at == '\0')
    return FALSE;
  line->has_end = end != NULL;
  end = end ? end : at + strlen (at);
  *cursor = line->has_end ? end + 1 : end;
  at = skip_label (at, end);
  while (end > at && is_blank (end[-1]))
    end--;
  at = skip_blanks (at, end);
  line->whole = (FabWord){ .at = at, .length = (gsize) (end - at) };
  for (line->n = 0; at < end && line->n < FAB_LINE_MAX_WORDS; line->n++) {
    const char *start = at;

    while (at < end && !is_blank (*at))
      at++;
    line->words[line->n] = (FabWord){ .at = start, .length = (gsize) (at - start) };
    at = skip_blanks (at, end);
  }
  return TRUE;
}

gboolean
fab_word_is (const FabWord *word, const char *text)
{
  return word->length == strlen (text) && memcmp (word->at, text, word->length) == 0;
}

gboolean
fab_word_has (const FabWord *word, const char *text)
{
  return g_strstr_len (word->at, (gssize) word->length, text) != NULL;
}

gboolean
fab_word_is_whole (const FabWord *word)
{
  for (gsize i = 0; i < word->length; i++)
    if (!g_ascii_isdigit (word->at[i]))
      return FALSE;
  return word->length > 0;
}

char *
fab_word_dup (const FabWord *word)
{
  return g_strndup (word->at, word->length);
}

guint
fab_word_decimals (const FabWord *word)
{
  const char *point = word->length > 0 ? memchr (word->at, '.', word->length) : NULL;

  return point ? (guint) (word->at + word->length - point - 1) : 0;
}

guint
fab_word_digits (const FabWord *word)
{
  guint n = 0;

  for (gsize i = 0; i < word->length; i++)
    n += g_ascii_isdigit (word->at[i]) && (n > 0 || word->at[i] != '0');
  return n;
}

guint
fab_word_count (const FabWord *word)
{
  guint64 n = 0;

  for (gsize i = 0; i < word->length && g_ascii_isdigit (word->at[i]); i++) {
    n = n * 10 + (guint64) (word->at[i] - '0');
    if (n > G_MAXUINT32)
      return 0;
  }
  return (guint) n;
}

gboolean
fab_line_value (const FabLine *line, const char *key, FabWord *value)
{
  const char *end = line->whole.at + line->whole.length;
  const char *at = g_strstr_len (line->whole.at, (gssize) line->whole.length, key);

  if (at == NULL)
    return FALSE;
  at = skip_blanks (at + strlen (key), end);
  if (at == end || *at != ':')
    return FALSE;
  at = skip_blanks (at + 1, end);
  *value = (FabWord){ .at = at, .length = 0 };
  while (at < end && !is_blank (*at)) {
    at++;
    value->length++;
  }
  return value->length > 0;
}
