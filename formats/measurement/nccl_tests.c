/* SPDX-License-Identifier: Apache-2.0 */
/* nccl_tests.c - the text of nccl-tests, line by line.
 *
 * What is read: "# Collective test starting: NAME" or a command line that names the program; "#  Rank N ... on HOST
 * device"; the header line with the names of the columns; lines whose first word is a size, until the next header.
 */
#include "formats/measurement/nccl_tests.h"

#include <math.h>
#include <string.h>

#include "formats/measurement/nccl_names.h"
#include "sim/base/error.h"
#include "sim/config/yaml_doc.h"

static FabNcclTests *nccl_tests_new (void);

/* The file that nccl-tests -J writes (src/util.cu, its "version" 1 and 2).
 *
 * It lists one device of each process, with however many threads and GPUs (config.nthreads, config.ngpus) that has.
 * JSON is read as the YAML that it is, which says where a file is broken.
 */

/* Returns a member of a mapping; NULL where it is missing, null or of another kind. */
static const FabYamlNode *
member (const FabYamlNode *mapping, const char *key, FabYamlKind kind)
{
  const FabYamlNode *node = mapping != NULL ? fab_yaml_get (mapping, key) : NULL;

  return node != NULL && node->kind == kind ? node : NULL;
}

static const char *
text_at (const FabYamlNode *mapping, const char *key)
{
  const FabYamlNode *node = member (mapping, key, FAB_YAML_SCALAR);

  return node != NULL && node->is_quoted ? node->text : NULL;
}

/* Returns a number of a mapping; `fallback` where it is missing, null or no number. */
static double
number_at (const FabYamlNode *mapping, const char *key, double fallback)
{
  const FabYamlNode *node = member (mapping, key, FAB_YAML_SCALAR);
  char *end;
  double value;

  if (node == NULL || node->text == NULL || node->is_quoted)
    return fallback;
  value = g_ascii_strtod (node->text, &end);
  return end != node->text && *end == '\0' && isfinite (value) && value >= 0 ? value : fallback;
}

static void
read_devices (const FabYamlNode *config, FabNcclTests *result)
{
  const FabYamlNode *devices = member (config, "devices", FAB_YAML_SEQUENCE);
  g_autoptr (GHashTable) hosts = g_hash_table_new (g_str_hash, g_str_equal);
  double n_ranks = number_at (config, "nthreads", 1) * number_at (config, "ngpus", 1);

  for (guint i = 0; devices != NULL && i < devices->n; i++) {
    const char *host = text_at (devices->values[i], "hostname");

    if (host)
      g_hash_table_add (hosts, (gpointer) host);
  }
  n_ranks *= devices != NULL ? devices->n : 0;
  result->n_ranks = n_ranks <= G_MAXINT ? (guint) n_ranks : 0;
  result->n_nodes = g_hash_table_size (hosts);
  result->gpus_per_thread = (guint) CLAMP (number_at (config, "ngpus", 0), 0, 1024);
}

static gboolean
read_result (const FabYamlNode *object, FabNcclTests *result)
{
  const FabYamlNode *out = member (object, "out_of_place", FAB_YAML_MAPPING);
  const FabYamlNode *in = member (object, "in_place", FAB_YAML_MAPPING), *first = out ? out : in;
  double size = number_at (object, "size", -1), count = number_at (object, "count", 0);
  FabNcclTestsRow row = { .time_us = number_at (first, "time", 0),
                          .algbw_GBps = number_at (first, "alg_bw", -1),
                          .busbw_GBps = number_at (first, "bus_bw", -1),
                          .in_place_busbw_GBps = number_at (in, "bus_bw", -1),
                          .n_wrong = number_at (out, "nwrong", 0) + number_at (in, "nwrong", 0) };

  if (size < 0 || size > 1e18 || count > 1e18 || row.algbw_GBps < 0 || row.busbw_GBps < 0)
    return FALSE;
  row.size_bytes = (FabBytes) size;
  row.count = (guint64) count;
  if (result->type == NULL)
    result->type = g_strdup (text_at (object, "type"));
  if (row.size_bytes > 0)
    g_array_append_val (result->rows, row);
  return TRUE;
}

static void
read_program (const FabYamlNode *root, FabNcclTests *result)
{
  const FabYamlNode *args = member (root, "args", FAB_YAML_SEQUENCE);
  const FabYamlNode *first = args != NULL && args->n > 0 ? args->values[0] : NULL;

  if (first != NULL && first->kind == FAB_YAML_SCALAR && first->text != NULL)
    result->program = g_path_get_basename (first->text);
}

static void
read_results (const FabYamlNode *root, FabNcclTests *result, FabDiagnostics *diagnostics)
{
  const FabYamlNode *results = member (root, "results", FAB_YAML_SEQUENCE);

  for (guint i = 0; results != NULL && i < results->n; i++)
    if (!read_result (results->values[i], result))
      fab_diagnostics_add (diagnostics, &results->values[i]->mark,
                           "results[%u] has no size, alg_bw or bus_bw", i);
  if (fab_diagnostics_count (diagnostics) == 0 && result->rows->len == 0)
    fab_diagnostics_add (diagnostics, &root->mark,
                         "no `results` with sizes; nccl-tests -J writes such a file, `-J FILE`");
  result->n_tables = 1;
}

static FabNcclTests *
nccl_tests_parse_json (const char *name, const char *data, gsize size, GError **error)
{
  g_autoptr (FabDiagnostics) diagnostics = fab_diagnostics_new ();
  g_autoptr (FabYamlDoc) doc = fab_yaml_doc_parse (name, data, size, diagnostics);
  g_autoptr (FabNcclTests) result = nccl_tests_new ();
  const FabYamlNode *root = doc != NULL ? fab_yaml_doc_root (doc) : NULL;

  if (root != NULL && fab_diagnostics_count (diagnostics) == 0) {
    read_program (root, result);
    read_devices (member (root, "config", FAB_YAML_MAPPING), result);
    read_results (root, result, diagnostics);
  }
  return fab_diagnostics_check (diagnostics, error) ? g_steal_pointer (&result) : NULL;
}

enum { MAX_WORDS = 64 };

typedef struct {
  char *words[MAX_WORDS]; /* point into the line */
  guint n;
} Words;

/* The column of each value; -1: there is none. The second of a pair belongs to the in-place half. */
typedef struct {
  int n, redop, type;
  int time[2], algbw[2], busbw[2], wrong[2];
  gboolean is_cpu_time;
} Columns;

typedef struct {
  const char *name;
  FabNcclTests *result;
  GHashTable *hosts;
  Columns columns; /* n == 0: no header was read yet */
  guint line;
} Reader;

/* Used by the parsers only: make an empty result, and read the JSON. */
static FabNcclTests *
nccl_tests_new (void)
{
  FabNcclTests *self = g_new0 (FabNcclTests, 1);

  self->rows = g_array_new (FALSE, FALSE, sizeof (FabNcclTestsRow));
  return self;
}

void
fab_nccl_tests_free (FabNcclTests *self)
{
  if (self == NULL)
    return;
  g_free (self->program);
  g_free (self->type);
  g_array_unref (self->rows);
  g_free (self);
}

static Words
split (char *line)
{
  Words words = { .n = 0 };
  char *rest = NULL;

  for (char *word = strtok_r (line, " \t\r", &rest); word && words.n < MAX_WORDS;
       word = strtok_r (NULL, " \t\r", &rest))
    words.words[words.n++] = word;
  return words;
}

/* Skips "3: " of srun -l, "[1,0]<stdout>:" of mpirun --tag-output, and what a launcher puts before it. */
static char *
skip_label (char *line)
{
  char *tag = strstr (line, "<stdout>:");
  gsize digits;

  if (tag)
    return tag + strlen ("<stdout>:");
  line += strspn (line, " \t");
  digits = strspn (line, "0123456789");
  return digits > 0 && line[digits] == ':' ? line + digits + 1 : line;
}

static void
note_column (Columns *columns, const char *label, int at)
{
  struct {
    const char *label;
    int *places;
  } const pairs[] = { { "time", columns->time },
                      { "cputime", columns->time },
                      { "algbw", columns->algbw },
                      { "busbw", columns->busbw },
                      { "#wrong", columns->wrong } };

  if (strcmp (label, "redop") == 0)
    columns->redop = at;
  if (strcmp (label, "type") == 0)
    columns->type = at;
  columns->is_cpu_time = columns->is_cpu_time || strcmp (label, "cputime") == 0;
  for (guint i = 0; i < G_N_ELEMENTS (pairs); i++)
    if (strcmp (label, pairs[i].label) == 0)
      pairs[i].places[pairs[i].places[0] >= 0] = at;
}

/* Reads "#  size  count  type ..."; the line below it has the units. */
static gboolean
read_header (Reader *self, const Words *words)
{
  Columns columns = { .n = (int) words->n - 1,
                      .redop = -1,
                      .type = -1,
                      .time = { -1, -1 },
                      .algbw = { -1, -1 },
                      .busbw = { -1, -1 },
                      .wrong = { -1, -1 } };

  if (words->n < 6 || strcmp (words->words[0], "#") != 0 || strcmp (words->words[1], "size") != 0
      || strcmp (words->words[2], "count") != 0)
    return FALSE;
  for (guint i = 1; i < words->n; i++)
    note_column (&columns, words->words[i], (int) i - 1);
  if (columns.time[0] < 0 || columns.algbw[0] < 0 || columns.busbw[0] < 0)
    return FALSE;
  self->columns = columns;
  self->result->n_tables++;
  return TRUE;
}

static gboolean
is_whole (const char *word)
{
  return word[0] != '\0' && strspn (word, "0123456789") == strlen (word);
}

static gboolean
fail (const Reader *self, GError **error, const char *what, const char *word)
{
  return fab_throw (error, FAB_ERROR_INPUT, "%s:%u: %s '%s'", self->name, self->line, what, word);
}

/* Reads a number; "N/A" and -1 (not checked) give 0. */
static gboolean
read_number (const Reader *self, const Words *words, int at, double *value, GError **error)
{
  const char *word = words->words[at];
  char *end;

  *value = 0;
  if (strcmp (word, "N/A") == 0)
    return TRUE;
  *value = g_ascii_strtod (word, &end);
  if (end == word || *end != '\0' || !isfinite (*value) || (*value < 0 && strcmp (word, "-1") != 0))
    return fail (self, error, "not a number that nccl-tests prints:", word);
  *value = MAX (*value, 0);
  return TRUE;
}

static gboolean
read_values (const Reader *self, const Words *words, const Columns *columns, FabNcclTestsRow *row,
             GError **error)
{
  double wrong = 0;

  if (!read_number (self, words, columns->time[0], &row->time_us, error)
      || !read_number (self, words, columns->algbw[0], &row->algbw_GBps, error)
      || !read_number (self, words, columns->busbw[0], &row->busbw_GBps, error)
      || (columns->busbw[1] >= 0
          && !read_number (self, words, columns->busbw[1], &row->in_place_busbw_GBps, error)))
    return FALSE;
  for (guint i = 0; i < 2; i++) {
    if (columns->wrong[i] >= 0 && !read_number (self, words, columns->wrong[i], &wrong, error))
      return FALSE;
    row->n_wrong += columns->wrong[i] >= 0 ? wrong : 0;
  }
  if (columns->is_cpu_time)
    row->time_us = 0;
  return TRUE;
}

static void
shift (int *place, int after)
{
  *place -= *place > after;
}

/* Shifts the columns where redop is blank: versions 2.10 to 2.12 leave it out of a row though the header names it. */
static Columns
fit_columns (const Columns *header, const Words *words)
{
  Columns columns = *header;
  gboolean is_blank = header->redop >= 0 && (guint) header->redop < words->n
                   && strchr ("-0123456789", words->words[header->redop][0]) != NULL;

  if (!is_blank)
    return columns;
  columns.n--;
  for (guint i = 0; i < 2; i++) {
    shift (&columns.time[i], header->redop);
    shift (&columns.algbw[i], header->redop);
    shift (&columns.busbw[i], header->redop);
    shift (&columns.wrong[i], header->redop);
  }
  return columns;
}

/* The columns of a row without a header: size, count, type, in most versions redop and root, then twice time, algbw,
 * busbw and #wrong. FALSE: it is no such row. */
static gboolean
guess_columns (const Words *words, Columns *columns)
{
  enum { HALF = 4, LEAST = 3 + 2 * HALF, MOST = LEAST + 2 };
  int n = (int) words->n;

  if (n < LEAST || n > MOST || !is_whole (words->words[0]) || !is_whole (words->words[1])
      || fab_nccl_type (words->words[2]) == NULL)
    return FALSE;
  *columns = (Columns){ .n = n,
                        .redop = -1,
                        .type = 2,
                        .time = { n - 2 * HALF, n - HALF },
                        .algbw = { n - 2 * HALF + 1, n - HALF + 1 },
                        .busbw = { n - 2 * HALF + 2, n - HALF + 2 },
                        .wrong = { n - HALF - 1, n - 1 } };
  return TRUE;
}

/* Reads a row; returns TRUE for other lines too. */
static gboolean
read_row (Reader *self, const Words *words, GError **error)
{
  FabNcclTestsRow row = { .in_place_busbw_GBps = -1 };
  Columns columns = fit_columns (&self->columns, words);

  if (words->n < 2 || !is_whole (words->words[0]) || !is_whole (words->words[1]))
    return TRUE;
  if (words->n < (guint) columns.n)
    return fail (self, error, "there are fewer words than columns in the row of size", words->words[0]);
  if (!g_ascii_string_to_unsigned (words->words[0], 10, 0, G_MAXINT64, &row.size_bytes, NULL)
      || !g_ascii_string_to_unsigned (words->words[1], 10, 0, G_MAXINT64, &row.count, NULL))
    return fail (self, error, "not a size:", words->words[0]);
  if (!read_values (self, words, &columns, &row, error))
    return FALSE;
  /* the size is less than one element per rank */
  if (row.size_bytes == 0)
    return TRUE;
  if (self->result->type == NULL && columns.type >= 0)
    self->result->type = g_strdup (words->words[columns.type]);
  g_array_append_val (self->result->rows, row);
  return TRUE;
}

/* Reads "#  Rank  3 Group  0 Pid 54740 on     thanos device  3 [0x4b] NVIDIA A100-SXM4-80GB". */
static gboolean
note_rank (Reader *self, const Words *words)
{
  if (words->n < 4 || strcmp (words->words[0], "#") != 0 || strcmp (words->words[1], "Rank") != 0
      || !is_whole (words->words[2]))
    return FALSE;
  self->result->n_ranks++;
  for (guint i = 3; i + 1 < words->n; i++)
    if (strcmp (words->words[i], "on") == 0) {
      g_hash_table_add (self->hosts, g_strdup (words->words[i + 1]));
      break;
    }
  self->result->n_nodes = g_hash_table_size (self->hosts);
  return TRUE;
}

/* Finds "./build/all_reduce_perf" in a header, or in the command that a script echoes. */
static void
note_program (Reader *self, const Words *words)
{
  for (guint i = 0; i < words->n && self->result->program == NULL; i++) {
    g_autofree char *base = g_path_get_basename (words->words[i]);
    char *end = strstr (base, "_perf");

    if (end == NULL || end == base || (end[5] != '\0' && strcmp (end + 5, "_mpi") != 0))
      continue;
    end[5] = '\0';
    self->result->program = g_steal_pointer (&base);
  }
}

/* Reads "# nThread 1 nGpus 8 minBytes ...". */
static void
note_threads (Reader *self, const Words *words)
{
  guint64 n;

  for (guint i = 1; i + 1 < words->n && words->n > 4; i++)
    if (strcmp (words->words[0], "#") == 0 && g_str_has_prefix (words->words[i], "nGpus")
        && g_ascii_string_to_unsigned (words->words[i + 1], 10, 1, 1024, &n, NULL))
      self->result->gpus_per_thread = (guint) n;
}

static gboolean
read_line (Reader *self, char *line, GError **error)
{
  Words words = split (skip_label (line));

  if (self->result->n_tables == 0 && !note_rank (self, &words)) {
    note_program (self, &words);
    note_threads (self, &words);
  }
  if (read_header (self, &words) || self->result->n_tables != 1)
    return TRUE;
  return read_row (self, &words, error);
}

static gboolean
read_bare_line (Reader *self, char *line, GError **error)
{
  Words words = split (skip_label (line));

  return !guess_columns (&words, &self->columns) || read_row (self, &words, error);
}

static gboolean
read_text (Reader *self, const char *data, gsize size,
           gboolean (*read) (Reader *self, char *line, GError **error), GError **error)
{
  self->line = 0;
  for (const char *at = data, *end = data + size; at < end;) {
    const char *newline = memchr (at, '\n', (gsize) (end - at));
    g_autofree char *line = g_strndup (at, (gsize) ((newline ? newline : end) - at));

    self->line++;
    if (!read (self, line, error))
      return FALSE;
    at = newline ? newline + 1 : end;
  }
  return TRUE;
}

static FabNcclTests *
parse_text (const char *name, const char *data, gsize size, GError **error)
{
  g_autoptr (FabNcclTests) result = nccl_tests_new ();
  g_autoptr (GHashTable) hosts = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  Reader self = { .name = name, .result = result, .hosts = hosts };

  if (!read_text (&self, data, size, read_line, error))
    return NULL;
  if (result->n_tables == 0 && !read_text (&self, data, size, read_bare_line, error))
    return NULL;
  if (result->rows->len == 0) {
    fab_throw (error, FAB_ERROR_INPUT,
               result->n_tables
                   ? "%s: the table of nccl-tests has no rows; did the test fail?"
                   : "%s: holds no table of nccl-tests, which has a line '# size count type ... busbw'",
               name);
    return NULL;
  }
  result->n_tables = MAX (result->n_tables, 1);
  return g_steal_pointer (&result);
}

gboolean
fab_nccl_tests_has_row (const char *data, gsize size)
{
  for (const char *at = data, *end = data + size; at < end;) {
    const char *newline = memchr (at, '\n', (gsize) (end - at));
    g_autofree char *line = g_strndup (at, (gsize) ((newline ? newline : end) - at));
    Words words = split (skip_label (line));
    Columns columns;

    if (guess_columns (&words, &columns))
      return TRUE;
    at = newline ? newline + 1 : end;
  }
  return FALSE;
}

FabNcclTests *
fab_nccl_tests_parse (const char *name, const char *data, gsize size, GError **error)
{
  gsize first = 0;

  while (first < size && g_ascii_isspace (data[first]))
    first++;
  if (!g_utf8_validate (data, (gssize) size, NULL)) {
    fab_throw (error, FAB_ERROR_INPUT, "%s: is not a text in UTF-8", name);
    return NULL;
  }
  if (first < size && data[first] == '{')
    return nccl_tests_parse_json (name, data, size, error);
  return parse_text (name, data, size, error);
}
