/* SPDX-License-Identifier: Apache-2.0 */
#include "formats/job_log/job_log.h"

#include <math.h>
#include <string.h>

#include "formats/text/bytes.h"
#include "sim/base/error.h"

typedef enum { JOB, SUBMIT, START, END, DURATION, NODES, GPUS, KIND, PRIORITY, STATE, N_COLUMNS } Column;

/* Names of columns, in small letters: those of this page, of sacct (Slurm), of the Helios traces (S-Lab, 2021). */
static const struct {
  const char *name;
  Column column;
} column_names[] = {
  { "jobid", JOB },           { "submit_s", SUBMIT },     { "submit", SUBMIT },
  { "submit_time", SUBMIT },  { "start_s", START },       { "start", START },
  { "start_time", START },    { "end_s", END },           { "end", END },
  { "end_time", END },        { "duration_s", DURATION }, { "duration", DURATION },
  { "elapsedraw", DURATION }, { "elapsed", DURATION },    { "nodes", NODES },
  { "nnodes", NODES },        { "allocnodes", NODES },    { "node_num", NODES },
  { "gpus", GPUS },           { "gpu_num", GPUS },        { "kind", KIND },
  { "priority", PRIORITY },   { "state", STATE },         { "status", STATE },
};

/* How a job ended. */
typedef enum { DONE, FAILED, PREEMPTED } Ending;

/* First letters of words for it, in small letters: of sacct (Slurm), Helios and Philly. */
static const struct {
  const char *word;
  Ending ending;
} endings[] = {
  { "preempt", PREEMPTED }, { "requeue", PREEMPTED }, { "fail", FAILED },    { "node_fail", FAILED },
  { "boot_fail", FAILED },  { "out_of", FAILED },     { "timeout", FAILED }, { "deadline", FAILED },
  { "cancel", FAILED },     { "kill", FAILED },
};

enum { SWF_FIELDS = 18, MOST_FIELDS = 256 };
static const double most_s = 1e11, most_nodes = 1e9; /* what a sane log holds: 3000 years */

typedef struct {
  FabFileBytes *bytes;
  FabJobLog *log;
  guint gpus_per_node;
  guint line;
  char divider;           /* 0: the Standard Workload Format */
  gint places[N_COLUMNS]; /* field of each column; -1: there is none */
} Reading;

static gboolean
fail (const Reading *self, GError **error, const char *message, const char *text)
{
  return fab_throw (error, FAB_ERROR_INPUT, "%s:%u: %s%s%s%s", fab_file_bytes_name (self->bytes), self->line,
                    message, text ? " '" : "", text ? text : "", text ? "'" : "");
}

/* --- values --- */

static gboolean
parse_number (const char *text, double *value)
{
  char *rest;

  *value = g_ascii_strtod (text, &rest);
  return rest != text && *g_strchug (rest) == '\0' && isfinite (*value) && fabs (*value) <= most_s;
}

/* Days of the Gregorian calendar since 1970: Howard Hinnant, "chrono-compatible low-level date algorithms". */
static double
days_of (int year, int month, int day)
{
  int y = month <= 2 ? year - 1 : year, m = month > 2 ? month - 3 : month + 9;
  int era = (y >= 0 ? y : y - 399) / 400, of_era = y - era * 400, of_year = (153 * m + 2) / 5 + day - 1;

  return era * 146097.0 + of_era * 365.0 + of_era / 4 - of_era / 100 + of_year - 719468.0;
}

/* Digits up to `end`, which is skipped; '\0': to the end of the text. */
static gboolean
take_digits (const char **text, char end, int *value)
{
  guint n = 0;

  for (*value = 0; g_ascii_isdigit (**text) && n < 6; n++)
    *value = *value * 10 + (*(*text)++ - '0');
  if (n == 0 || **text != end)
    return FALSE;
  *text += end != '\0';
  return TRUE;
}

/* 2020-04-01T12:00:00, or with a blank. */
static gboolean
parse_date (const char *text, double *value)
{
  int year, month, day, hour, minute, second;

  if (!take_digits (&text, '-', &year) || !take_digits (&text, '-', &month))
    return FALSE;
  if (!take_digits (&text, strchr (text, 'T') ? 'T' : ' ', &day) || !take_digits (&text, ':', &hour)
      || !take_digits (&text, ':', &minute) || !take_digits (&text, '\0', &second))
    return FALSE;
  if (year < 1970 || year > 9999 || month < 1 || month > 12 || day < 1 || day > 31 || hour > 23 || minute > 59
      || second > 60)
    return FALSE;
  *value = days_of (year, month, day) * 86400 + hour * 3600.0 + minute * 60.0 + second;
  return TRUE;
}

/* [DAYS-]HOURS:MINUTES:SECONDS, as sacct prints Elapsed. */
static gboolean
parse_elapsed (const char *text, double *value)
{
  int days = 0, hours, minutes, seconds;

  if (strchr (text, '-') && !take_digits (&text, '-', &days))
    return FALSE;
  if (!take_digits (&text, ':', &hours) || !take_digits (&text, ':', &minutes)
      || !take_digits (&text, '\0', &seconds))
    return FALSE;
  *value = days * 86400.0 + hours * 3600.0 + minutes * 60.0 + seconds;
  return TRUE;
}

/* What schedulers write where there is no time. */
static gboolean
is_absent (const char *text)
{
  static const char *const words[] = { "", "unknown", "none", "null", "nan", "n/a", NULL };
  g_autofree char *small = g_ascii_strdown (text, -1);

  return g_strv_contains (words, small);
}

/* --- rows --- */

static const char *
field_of (const Reading *self, char **fields, Column column)
{
  gint place = self->places[column];

  return place >= 0 ? g_strstrip (fields[place]) : NULL;
}

/* NAN: it is absent. */
static gboolean
take_time (const Reading *self, char **fields, Column column, double *value, GError **error)
{
  const char *text = field_of (self, fields, column);

  *value = NAN;
  if (text == NULL || is_absent (text))
    return TRUE;
  if (parse_number (text, value)
      || (column == DURATION ? parse_elapsed (text, value) : parse_date (text, value)))
    return TRUE;
  return fail (self, error,
               column == DURATION ? "a duration is a number of seconds or [days-]hours:minutes:seconds, not"
                                  : "a time is a number of seconds or like 2024-05-01T12:00:00, not",
               text);
}

static gboolean
take_count (const Reading *self, char **fields, Column column, double *value, GError **error)
{
  const char *text = field_of (self, fields, column);

  *value = 0;
  if (text == NULL || is_absent (text))
    return TRUE;
  if (parse_number (text, value) && *value >= 0 && *value <= most_nodes)
    return TRUE;
  return fail (self, error, "a number of nodes or GPUs is a count, not", text);
}

static Ending
ending_of (const char *state)
{
  g_autofree char *small = state != NULL ? g_ascii_strdown (state, -1) : NULL;

  for (guint i = 0; small != NULL && i < G_N_ELEMENTS (endings); i++)
    if (g_str_has_prefix (small, endings[i].word))
      return endings[i].ending;
  return DONE;
}

static gboolean
add (Reading *self, double submit_s, double duration_s, double n_nodes, gint64 priority, const char *kind,
     Ending ending, GError **error)
{
  FabJobLogRow row = { .submit_s = submit_s, .duration_s = duration_s, .priority = priority };

  if (!(duration_s > 0) || !(n_nodes >= 1) || isnan (submit_s)) {
    self->log->n_left_out++;
    return TRUE;
  }
  if (self->log->rows->len == FAB_JOB_LOG_MOST_ROWS)
    return fail (self, error, "the log has more than 5000000 jobs", NULL);
  row.n_nodes = (guint64) n_nodes;
  self->log->n_failed += ending == FAILED;
  self->log->n_preempted += ending == PREEMPTED;
  row.kind = kind != NULL && *kind != '\0' ? g_string_chunk_insert_const (self->log->kinds, kind) : NULL;
  g_array_append_val (self->log->rows, row);
  return TRUE;
}

static gboolean
read_row (Reading *self, char **fields, GError **error)
{
  double submit_s, start_s, end_s, duration_s, n_nodes, n_gpus, priority = 0;
  const char *job = field_of (self, fields, JOB), *urgency = field_of (self, fields, PRIORITY);

  if (job != NULL && strchr (job, '.') != NULL) { /* a step of a job, in sacct without -X */
    self->log->n_left_out++;
    return TRUE;
  }
  if (!take_time (self, fields, SUBMIT, &submit_s, error) || !take_time (self, fields, START, &start_s, error)
      || !take_time (self, fields, END, &end_s, error)
      || !take_time (self, fields, DURATION, &duration_s, error)
      || !take_count (self, fields, NODES, &n_nodes, error)
      || !take_count (self, fields, GPUS, &n_gpus, error))
    return FALSE;
  if (urgency != NULL && !is_absent (urgency) && !parse_number (urgency, &priority))
    return fail (self, error, "a priority is a number, not", urgency);
  if (isnan (duration_s))
    duration_s = end_s - start_s;
  if (n_gpus > 0 && n_nodes < 1)
    n_nodes = ceil (n_gpus / self->gpus_per_node);
  return add (self, submit_s, duration_s, n_nodes, (gint64) priority, field_of (self, fields, KIND),
              ending_of (field_of (self, fields, STATE)), error);
}

/* Fields 2, 4, 5, 8 and 11: submit time, run time, processors that it had, processors that it asked for, status. A job
 * that was stopped and went on has a line of its own, and one for each part of its run (status 2 to 4). */
static gboolean
read_swf (Reading *self, const char *line, GError **error)
{
  double values[SWF_FIELDS];
  const char *rest = line;

  for (guint i = 0; i < SWF_FIELDS; i++) {
    char *end;

    values[i] = g_ascii_strtod (rest, &end);
    if (end == rest || !isfinite (values[i]) || fabs (values[i]) > most_s)
      return fail (self, error, "the Standard Workload Format has 18 numbers a line", NULL);
    rest = end;
  }
  double n = values[4] > 0 ? values[4] : values[7];
  int status = (int) values[10];
  if (status >= 2 && status <= 4) {
    self->log->n_left_out++;
    return TRUE;
  }
  return add (self, values[1], values[3], n > 0 && n <= most_nodes ? ceil (n / self->gpus_per_node) : 0, 0,
              NULL, status == 0 || status == 5 ? FAILED : DONE, error);
}

/* --- header --- */

static gboolean
is_swf (const char *line)
{
  guint n = 0;

  for (char *end; *line != '\0'; line = end, n++) {
    g_ascii_strtod (line, &end);
    if (end == line)
      break;
  }
  return n == SWF_FIELDS;
}

static char
find_divider (const char *line)
{
  char best = ',';
  guint most = 0;

  for (const char *divider = ",|\t;"; *divider != '\0'; divider++) {
    guint n = 0;

    for (const char *at = line; *at != '\0'; at++)
      n += *at == *divider;
    if (n > most) {
      most = n;
      best = *divider;
    }
  }
  return best;
}

static gboolean
read_header (Reading *self, const char *line, GError **error)
{
  const char divider[] = { self->divider = find_divider (line), '\0' };
  g_auto (GStrv) names = g_strsplit (line, divider, MOST_FIELDS);

  for (guint c = 0; c < N_COLUMNS; c++)
    self->places[c] = -1;
  for (guint i = 0; names[i] != NULL; i++) {
    g_autofree char *small = g_ascii_strdown (g_strstrip (names[i]), -1);

    for (guint k = 0; k < G_N_ELEMENTS (column_names); k++)
      if (strcmp (small, column_names[k].name) == 0 && self->places[column_names[k].column] < 0)
        self->places[column_names[k].column] = (gint) i;
  }
  if (self->places[SUBMIT] < 0)
    return fail (
        self, error,
        "the first line names no column for the time of arrival (submit); a log is a table with a header, "
        "output of sacct -P, or the Standard Workload Format",
        NULL);
  if (self->places[DURATION] < 0 && (self->places[START] < 0 || self->places[END] < 0))
    return fail (self, error, "no column says how long jobs run: give duration, or start and end", NULL);
  if (self->places[NODES] < 0 && self->places[GPUS] < 0)
    return fail (self, error, "no column says how large jobs are: give nodes or gpus", NULL);
  return TRUE;
}

/* --- file --- */

static gboolean
read_line (Reading *self, const char *line, gboolean *has_header, GError **error)
{
  if (!*has_header) {
    *has_header = TRUE;
    if (is_swf (line))
      self->divider = '\0';
    else
      return read_header (self, line, error);
  }
  if (self->divider == '\0')
    return read_swf (self, line, error);

  const char divider[] = { self->divider, '\0' };
  g_auto (GStrv) fields = g_strsplit (line, divider, MOST_FIELDS);
  guint n = g_strv_length (fields);

  for (guint c = 0; c < N_COLUMNS; c++)
    if (self->places[c] >= (gint) n)
      return fail (self, error, "this line has fewer columns than the first", NULL);
  return read_row (self, fields, error);
}

static gint
compare_rows (gconstpointer a, gconstpointer b)
{
  const FabJobLogRow *left = a, *right = b;

  return left->submit_s < right->submit_s ? -1 : left->submit_s > right->submit_s;
}

static gboolean
read_lines (Reading *self, GError **error)
{
  g_autoptr (GString) line = g_string_new (NULL);
  g_autoptr (GError) problem = NULL;
  gboolean has_header = FALSE;

  if (!fab_file_bytes_next (self->bytes, &problem)) {
    if (problem == NULL)
      return fail (self, error, "the file is empty", NULL);
    g_propagate_error (error, g_steal_pointer (&problem));
    return FALSE;
  }
  while (fab_file_bytes_line (self->bytes, line, &problem)) {
    self->line++;
    const char *text = g_strchomp (line->str);
    if (!g_utf8_validate (text, -1, NULL))
      return fail (self, error, "this line is no text", NULL);
    if (*text == '\0' || *text == ';' || *text == '#')
      continue;
    if (!read_line (self, text, &has_header, error))
      return FALSE;
  }
  if (problem != NULL) {
    g_propagate_error (error, g_steal_pointer (&problem));
    return FALSE;
  }
  if (self->log->rows->len == 0)
    return fail (self, error, "the log has no job that ran", NULL);
  return TRUE;
}

static FabJobLog *
read_all (FabFileBytes *bytes, guint gpus_per_node, GError **error)
{
  g_autoptr (FabFileBytes) owned = bytes;
  g_autoptr (FabJobLog) log = NULL;

  if (bytes == NULL)
    return NULL;
  log = g_new0 (FabJobLog, 1);
  log->rows = g_array_new (FALSE, FALSE, sizeof (FabJobLogRow));
  log->kinds = g_string_chunk_new (1024);
  Reading self = { .bytes = bytes, .log = log, .gpus_per_node = MAX (gpus_per_node, 1) };
  if (!read_lines (&self, error))
    return NULL;
  g_array_sort (log->rows, compare_rows); /* a merge sort, which is stable */
  return g_steal_pointer (&log);
}

FabJobLog *
fab_job_log_read (const char *path, guint gpus_per_node, GError **error)
{
  return read_all (fab_file_bytes_open (path, error), gpus_per_node, error);
}

FabJobLog *
fab_job_log_parse (const char *name, const void *data, gsize size, guint gpus_per_node, GError **error)
{
  return read_all (fab_file_bytes_new (name, data, size), gpus_per_node, error);
}

void
fab_job_log_free (FabJobLog *self)
{
  if (self == NULL)
    return;
  g_array_unref (self->rows);
  g_string_chunk_free (self->kinds);
  g_free (self);
}
