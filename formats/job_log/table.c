/* SPDX-License-Identifier: Apache-2.0 */
/* table.c - a table with a header: sacct -P of Slurm, the traces of Helios, a table of one's own. */
#include <math.h>
#include <string.h>

#include "formats/job_log/reading.h"

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

/* First letters of words for it, in small letters: of sacct (Slurm), Helios and Philly. */
static const struct {
  const char *word;
  FabJobEnding ending;
} endings[] = {
  { "preempt", FAB_ENDING_PREEMPTED }, { "requeue", FAB_ENDING_PREEMPTED }, { "fail", FAB_ENDING_FAILED },
  { "node_fail", FAB_ENDING_FAILED },  { "boot_fail", FAB_ENDING_FAILED },  { "out_of", FAB_ENDING_FAILED },
  { "timeout", FAB_ENDING_FAILED },    { "deadline", FAB_ENDING_FAILED },   { "cancel", FAB_ENDING_FAILED },
  { "kill", FAB_ENDING_FAILED },
};

enum { MOST_FIELDS = 256 };

typedef struct {
  FabJobLogReading *reading;
  char divider;
  gint places[N_COLUMNS]; /* field of each column; -1: there is none */
} Table;

static gboolean
parse_number (const char *text, double *value)
{
  char *rest;

  *value = g_ascii_strtod (text, &rest);
  return rest != text && *rest == '\0' && isfinite (*value) && fabs (*value) <= fab_job_log_most_s;
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

static const char *
field_of (const Table *self, char **fields, Column column)
{
  gint place = self->places[column];

  return place >= 0 ? g_strstrip (fields[place]) : NULL;
}

/* NAN: it is absent. */
static gboolean
take_time (const Table *self, char **fields, Column column, double *value, GError **error)
{
  const char *text = field_of (self, fields, column);

  *value = NAN;
  if (text == NULL || is_absent (text))
    return TRUE;
  if (parse_number (text, value)
      || (column == DURATION ? parse_elapsed (text, value) : parse_date (text, value)))
    return TRUE;
  return fab_job_log_fail (self->reading, error,
                           column == DURATION
                               ? "a duration is a number of seconds or [days-]hours:minutes:seconds, not"
                               : "a time is a number of seconds or like 2024-05-01T12:00:00, not",
                           text);
}

static gboolean
take_count (const Table *self, char **fields, Column column, double *value, GError **error)
{
  const char *text = field_of (self, fields, column);

  *value = 0;
  if (text == NULL || is_absent (text))
    return TRUE;
  if (parse_number (text, value) && *value >= 0 && *value <= fab_job_log_most_nodes)
    return TRUE;
  return fab_job_log_fail (self->reading, error, "a number of nodes or GPUs is a count, not", text);
}

static FabJobEnding
ending_of (const char *state)
{
  g_autofree char *small = state != NULL ? g_ascii_strdown (state, -1) : NULL;

  for (guint i = 0; small != NULL && i < G_N_ELEMENTS (endings); i++)
    if (g_str_has_prefix (small, endings[i].word))
      return endings[i].ending;
  return FAB_ENDING_DONE;
}

static gboolean
read_row (Table *self, char **fields, GError **error)
{
  double submit_s, start_s, end_s, duration_s, n_nodes, n_gpus, priority = 0;
  const char *job = field_of (self, fields, JOB), *urgency = field_of (self, fields, PRIORITY);

  if (job != NULL && strchr (job, '.') != NULL) { /* a step of a job, in sacct without -X */
    self->reading->log->n_left_out++;
    return TRUE;
  }
  if (!take_time (self, fields, SUBMIT, &submit_s, error) || !take_time (self, fields, START, &start_s, error)
      || !take_time (self, fields, END, &end_s, error)
      || !take_time (self, fields, DURATION, &duration_s, error)
      || !take_count (self, fields, NODES, &n_nodes, error)
      || !take_count (self, fields, GPUS, &n_gpus, error))
    return FALSE;
  if (urgency != NULL && !is_absent (urgency) && !parse_number (urgency, &priority))
    return fab_job_log_fail (self->reading, error, "a priority is a number, not", urgency);
  if (isnan (duration_s))
    duration_s = end_s - start_s;
  if (n_gpus > 0 && n_nodes < 1)
    n_nodes = ceil (n_gpus / self->reading->gpus_per_node);
  return fab_job_log_add (self->reading, submit_s, duration_s, n_nodes, (gint64) priority,
                          field_of (self, fields, KIND), ending_of (field_of (self, fields, STATE)), error);
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

/* Returns the end of a field in quotes, which may hold dividers, and doubled quotes for quotes: RFC 4180, 2. NULL: the
 * field has none, or they do not end. */
static const char *
end_of_quotes (const char *text, char divider)
{
  const char *at = text + 1;

  if (*text != '"' || divider == '|') /* sacct -P quotes nothing */
    return NULL;
  while (*at != '\0' && (*at != '"' || at[1] == '"'))
    at += *at == '"' ? 2 : 1;
  return *at == '"' && (at[1] == '\0' || at[1] == divider) ? at + 1 : NULL;
}

/* What stands between the quotes of a field. (transfer full) */
static char *
unquoted (const char *text, const char *end)
{
  GString *field = g_string_new_len (text + 1, end - text - 2);

  g_string_replace (field, "\"\"", "\"", 0);
  return g_string_free (field, FALSE);
}

/* Divides a line into its fields, without quotes around them. (transfer full) */
static char **
split (const char *line, char divider)
{
  GStrvBuilder *fields = g_strv_builder_new ();
  const char *at = line;

  for (guint n = 1;; n++) {
    const char *quoted = end_of_quotes (at, divider), *end = n < MOST_FIELDS ? strchr (at, divider) : NULL;
    g_autofree char *field = NULL;

    if (quoted != NULL)
      end = *quoted != '\0' ? quoted : NULL;
    field = quoted != NULL ? unquoted (at, quoted)
          : end != NULL    ? g_strndup (at, (gsize) (end - at))
                           : g_strdup (at);
    g_strv_builder_add (fields, field);
    if (end == NULL)
      break;
    at = end + 1;
  }
  char **all = g_strv_builder_end (fields);
  g_strv_builder_unref (fields);
  return all;
}

static gboolean
read_header (Table *self, const char *line, GError **error)
{
  self->divider = find_divider (line);
  g_auto (GStrv) names = split (line, self->divider);

  for (guint c = 0; c < N_COLUMNS; c++)
    self->places[c] = -1;
  for (guint i = 0; names[i] != NULL; i++) {
    g_autofree char *small = g_ascii_strdown (g_strstrip (names[i]), -1);

    for (guint k = 0; k < G_N_ELEMENTS (column_names); k++)
      if (strcmp (small, column_names[k].name) == 0 && self->places[column_names[k].column] < 0)
        self->places[column_names[k].column] = (gint) i;
  }
  if (self->places[SUBMIT] < 0)
    return fab_job_log_fail (
        self->reading, error,
        "the first line names no column for the time of arrival (submit); a log is a table with a header, "
        "output of sacct -P, or the Standard Workload Format",
        NULL);
  if (self->places[DURATION] < 0 && (self->places[START] < 0 || self->places[END] < 0))
    return fab_job_log_fail (self->reading, error,
                             "no column says how long jobs run: give duration, or start and end", NULL);
  if (self->places[NODES] < 0 && self->places[GPUS] < 0)
    return fab_job_log_fail (self->reading, error, "no column says how large jobs are: give nodes or gpus",
                             NULL);
  return TRUE;
}

static gboolean
read_line (Table *self, GError **error)
{
  g_auto (GStrv) fields = split (self->reading->text->str, self->divider);
  guint n = g_strv_length (fields);

  for (guint c = 0; c < N_COLUMNS; c++)
    if (self->places[c] >= (gint) n)
      return fab_job_log_fail (self->reading, error, "this line has fewer columns than the first", NULL);
  return read_row (self, fields, error);
}

static gboolean
read_lines (FabJobLogReading *reading, GError **error)
{
  Table self = { .reading = reading };
  g_autoptr (GError) problem = NULL;

  if (!read_header (&self, reading->text->str, error))
    return FALSE;
  while (fab_job_log_next (reading, &problem))
    if (!read_line (&self, error))
      return FALSE;
  if (problem == NULL)
    return TRUE;
  g_propagate_error (error, g_steal_pointer (&problem));
  return FALSE;
}

/* What is not the other format is a table, whose header says what it lacks. */
static gboolean
is_table (const FabFileText *text G_GNUC_UNUSED)
{
  return TRUE;
}

const FabFileFormat fab_file_job_table = {
  .name = "table of jobs",
  .kind = FAB_FILE_JOB_LOG,
  .recognises = is_table,
  .read.job_log = read_lines,
};
