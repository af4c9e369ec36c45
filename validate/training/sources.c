/* SPDX-License-Identifier: Apache-2.0 */
/* sources.c - INDEX.yaml through the schema reader, then each source's table; templates are read when they are
 * filled.
 */
#include "validate/training/sources.h"

#include <string.h>

#include "sim/base/error.h"
#include "sim/base/nearest.h"
#include "sim/config/diagnostics.h"
#include "validate/check/limits.h"

#define ROW(key_, field_, fallback_, help_)                                                         \
  {                                                                                                 \
    .key = key_, .type = FAB_PARAM_TEXT, .offset = G_STRUCT_OFFSET (FabTrainingSourceSpec, field_), \
    .fallback = fallback_, .help = help_                                                            \
  }

static const char *const role_names[] = {
  [FAB_TRAINING_ALTERNATES] = "alternates", [FAB_TRAINING_JUDGED] = "judged", NULL
};

static const FabParam source_params[] = {
  ROW ("name", name, NULL, "How the source is called."),
  ROW ("title", title, NULL, "The job and the machine in one line."),
  ROW ("file", file, NULL, "The CSV file, beside INDEX.yaml."),
  ROW ("scenario", scenario, NULL, "The template, beside INDEX.yaml."),
  { .key = "role",
    .type = FAB_PARAM_CHOICE,
    .offset = G_STRUCT_OFFSET (FabTrainingSourceSpec, role),
    .fallback = "alternates",
    .choices = role_names,
    .help = "Whether groups of one model and GPU alternate in calibrating and judging, or all judge." },
  { .key = "sample",
    .type = FAB_PARAM_COUNT,
    .offset = G_STRUCT_OFFSET (FabTrainingSourceSpec, n_sample),
    .fallback = "40",
    .min = 1,
    .max = 1e6,
    .help = "Number of rows that are simulated, in whole groups; --all simulates every row." },
  ROW ("same", same, NULL, "Columns: rows that are equal in them have one compute efficiency."),
  ROW ("factors", factors, "", "Columns: what else differs between rows."),
  ROW ("network", network, NULL, "Where the constants of its network come from."),
  ROW ("note", note, "", "What to know before trusting it."),
  { .key = NULL },
};

typedef struct {
  FabParamList sources; /* FabTrainingSourceSpec */
} Index;

static const FabParam index_params[] = {
  { .key = "sources",
    .type = FAB_PARAM_LIST,
    .offset = G_STRUCT_OFFSET (Index, sources),
    .table = source_params,
    .table_size = sizeof (FabTrainingSourceSpec),
    .help = "One entry per source." },
  { .key = NULL },
};

struct _FabTrainingSources {
  FabCheckFile *file;
  Index index;
  char *directory;
  GArray *sources; /* FabTrainingSource */
};

static void
clear_source (gpointer data)
{
  fab_training_table_free (((FabTrainingSource *) data)->table);
}

void
fab_training_sources_free (FabTrainingSources *self)
{
  if (self == NULL)
    return;
  g_array_unref (self->sources);
  fab_check_file_free (self->file);
  g_free (self->directory);
  g_free (self);
}

/* Every word of `text` must be a column. */
static void
check_columns (FabTrainingSources *self, const FabTrainingTable *table, const char *const *field)
{
  g_auto (GStrv) words = g_strsplit (*field ? *field : "", " ", -1);

  for (guint i = 0; words[i]; i++)
    if (*words[i] != '\0' && fab_training_table_column (table, words[i]) < 0)
      fab_schema_report (self->file->reader, field, "the table has no column '%s'", words[i]);
}

static void
load_source (FabTrainingSources *self, const FabTrainingSourceSpec *spec)
{
  g_autofree char *path = g_build_filename (self->directory, spec->file, NULL);
  g_autofree char *data = NULL;
  g_autoptr (GError) problem = NULL;
  FabTrainingSource source = { .spec = spec, .directory = self->directory };

  if (!g_file_get_contents (path, &data, NULL, &problem)) {
    fab_schema_report (self->file->reader, &spec->file, "%s", problem->message);
    return;
  }
  source.table = fab_training_table_parse (path, data, &problem);
  if (source.table == NULL) {
    fab_diagnostics_add (self->file->diagnostics, NULL, "%s", problem->message);
    return;
  }
  check_columns (self, source.table, &spec->same);
  check_columns (self, source.table, &spec->factors);
  g_array_append_val (self->sources, source);
}

static void
load_sources (FabTrainingSources *self)
{
  const FabTrainingSourceSpec *specs = self->index.sources.data;

  for (guint i = 0; i < self->index.sources.n; i++) {
    gboolean is_twice = FALSE;

    for (guint k = 0; k < i; k++)
      is_twice = is_twice || strcmp (specs[i].name, specs[k].name) == 0;
    if (is_twice)
      fab_schema_report (self->file->reader, &specs[i].name, "'%s' is given twice", specs[i].name);
    else
      load_source (self, &specs[i]);
  }
}

FabTrainingSources *
fab_training_sources_load (const char *directory, const FabRegistry *registry, GError **error)
{
  g_autoptr (FabTrainingSources) self = g_new0 (FabTrainingSources, 1);
  g_autofree char *path = g_build_filename (directory, "INDEX.yaml", NULL);

  self->directory = g_strdup (directory);
  self->file = fab_check_file_new (registry);
  self->sources = g_array_new (FALSE, FALSE, sizeof (FabTrainingSource));
  g_array_set_clear_func (self->sources, clear_source);
  if (!fab_check_file_read (self->file, path, index_params, &self->index, error))
    return NULL;
  load_sources (self);
  return fab_check_file_is_right (self->file, error) ? g_steal_pointer (&self) : NULL;
}

guint
fab_training_sources_n (const FabTrainingSources *self)
{
  return self->sources->len;
}

const FabTrainingSource *
fab_training_sources_get (const FabTrainingSources *self, guint index)
{
  g_assert (index < self->sources->len);
  return &g_array_index (self->sources, FabTrainingSource, index);
}

const FabTrainingSource *
fab_training_sources_find (const FabTrainingSources *self, const char *name, GError **error)
{
  g_autofree const char **names = g_new0 (const char *, self->sources->len + 1);

  for (guint i = 0; i < self->sources->len; i++) {
    const FabTrainingSource *source = fab_training_sources_get (self, i);

    if (strcmp (name, source->spec->name) == 0)
      return source;
    names[i] = source->spec->name;
  }
  return fab_check_throw_unknown (error, "no measured source", name, names);
}

char *
fab_training_source_scenario (const FabTrainingSource *self, guint row, double mfu_fraction,
                              gboolean *has_mfu, GError **error)
{
  const FabTrainingTable *table = self->table;
  guint n = g_strv_length (table->columns);
  g_autofree FabTemplateValue *values = g_new0 (FabTemplateValue, n + 1);
  char mfu[G_ASCII_DTOSTR_BUF_SIZE];

  for (guint i = 0; i < n; i++)
    values[i] = (FabTemplateValue){ table->columns[i], fab_training_table_row (table, row)->cells[i] };
  values[n] = (FabTemplateValue){ "mfu", g_ascii_formatd (mfu, sizeof mfu, "%.9g", mfu_fraction) };
  g_autofree char *file = fab_template_fill (self->spec->scenario, values, n + 1, error);
  g_autofree char *path = file ? g_build_filename (self->directory, file, NULL) : NULL;
  g_autofree char *text = NULL;
  char *filled;

  if (path == NULL || !g_file_get_contents (path, &text, NULL, error))
    return NULL;
  if (has_mfu)
    *has_mfu = strstr (text, "${mfu}") != NULL;
  filled = fab_template_fill (text, values, n + 1, error);
  if (filled == NULL)
    g_prefix_error (error, "%s: ", path);
  return filled;
}

/* Lines into cells, and the cells that every table has into numbers. O(characters). */

typedef struct {
  const char *name;
  guint line;
  FabTrainingTable *table;
} Reader;

G_GNUC_PRINTF (3, 4)
static gboolean
fail (const Reader *reader, GError **error, const char *format, ...)
{
  g_autofree char *message = NULL;
  va_list args;

  va_start (args, format);
  message = g_strdup_vprintf (format, args);
  va_end (args);
  return fab_throw (error, FAB_ERROR_INPUT, "%s:%u: %s", reader->name, reader->line, message);
}

gint
fab_training_table_column (const FabTrainingTable *self, const char *name)
{
  for (guint i = 0; self->columns && self->columns[i]; i++)
    if (strcmp (self->columns[i], name) == 0)
      return (gint) i;
  return -1;
}

static void
clear_row (gpointer data)
{
  g_strfreev (((FabTrainingRow *) data)->cells);
}

void
fab_training_table_free (FabTrainingTable *self)
{
  if (self == NULL)
    return;
  g_hash_table_unref (self->header);
  g_strfreev (self->columns);
  g_array_unref (self->rows);
  g_ptr_array_unref (self->skipped);
  g_free (self);
}

/* The cell of a column, NULL when it is empty or there is no such column. */
static const char *
cell (const FabTrainingTable *table, char **cells, const char *column)
{
  gint index = fab_training_table_column (table, column);

  return index >= 0 && *cells[index] != '\0' ? cells[index] : NULL;
}

static gboolean
read_count (const Reader *reader, char **cells, const char *column, guint *value, GError **error)
{
  const char *text = cell (reader->table, cells, column);
  guint64 number;

  if (text == NULL || !g_ascii_string_to_unsigned (text, 10, 1, G_MAXINT32, &number, NULL))
    return fail (reader, error, "%s is '%s', not a number from 1 on", column, text ? text : "");
  *value = (guint) number;
  return TRUE;
}

static gboolean
read_real (const Reader *reader, char **cells, const char *column, double *value, GError **error)
{
  const char *text = cell (reader->table, cells, column);
  char *end = NULL;

  *value = text ? g_ascii_strtod (text, &end) : 0;
  if (text == NULL || *end != '\0' || !(*value > 0 && *value < 1e15))
    return fail (reader, error, "%s is '%s', not a number above 0", column, text ? text : "");
  return TRUE;
}

static gboolean
is_known_id (const FabTrainingTable *table, const char *id)
{
  for (guint i = 0; i < table->rows->len; i++)
    if (strcmp (fab_training_table_row (table, i)->id, id) == 0)
      return TRUE;
  return FALSE;
}

char **
fab_training_split_cells (const char *line)
{
  g_autoptr (GStrvBuilder) cells = g_strv_builder_new ();
  g_autoptr (GString) cell = g_string_new (NULL);
  gboolean is_quoted = FALSE;

  for (; *line != '\0'; line++) {
    if (*line == '"')
      is_quoted = !is_quoted;
    else if (*line == ',' && !is_quoted) {
      g_strv_builder_add (cells, cell->str);
      g_string_truncate (cell, 0);
    } else
      g_string_append_c (cell, *line);
  }
  g_strv_builder_add (cells, cell->str);
  return g_strv_builder_end (cells);
}

static gboolean
read_row (const Reader *reader, const char *line, GError **error)
{
  g_auto (GStrv) cells = fab_training_split_cells (line);
  const FabTrainingTable *table = reader->table;
  FabTrainingRow row = { 0 };

  if (g_strv_length (cells) != g_strv_length (table->columns))
    return fail (reader, error, "the row has %u cells, and the table has %u columns", g_strv_length (cells),
                 g_strv_length (table->columns));
  row.id = cell (table, cells, "id");
  row.strategy = cell (table, cells, "strategy");
  row.doubtful = cell (table, cells, "doubtful");
  row.is_anchor = g_strcmp0 (cell (table, cells, "anchor"), "yes") == 0;
  if (row.id == NULL || is_known_id (table, row.id))
    return fail (reader, error, "id is '%s', which is empty or is given twice", row.id ? row.id : "");
  if (row.strategy == NULL)
    return fail (reader, error, "strategy is empty");
  if (!read_count (reader, cells, "gpus", &row.gpus, error)
      || !read_count (reader, cells, "nodes", &row.nodes, error)
      || !read_real (reader, cells, "batch", &row.batch, error)
      || !read_real (reader, cells, "step_s", &row.step_s, error))
    return FALSE;
  row.cells = g_steal_pointer (&cells);
  g_array_append_val (table->rows, row);
  return TRUE;
}

static gboolean
read_columns (const Reader *reader, const char *line, GError **error)
{
  static const char *const needed[] = { "id", "gpus", "nodes", "strategy", "batch", "step_s" };

  reader->table->columns = g_strsplit (line, ",", -1);
  for (guint i = 0; i < G_N_ELEMENTS (needed); i++)
    if (fab_training_table_column (reader->table, needed[i]) < 0)
      return fail (reader, error, "there is no column '%s'", needed[i]);
  return TRUE;
}

static gboolean
read_header (const Reader *reader, const char *line, GError **error)
{
  g_auto (GStrv) parts = g_strsplit (line + 1, ":", 2);

  if (parts[0] == NULL || parts[1] == NULL)
    return fail (reader, error, "a header line must have the form '# key: value'");
  g_hash_table_insert (reader->table->header, g_strdup (g_strstrip (parts[0])),
                       g_strdup (g_strstrip (parts[1])));
  return TRUE;
}

static gboolean
read_line (const Reader *reader, const char *line, GError **error)
{
  if (*line == '\0')
    return TRUE;
  if (*line == '#')
    return read_header (reader, line, error);
  if (reader->table->columns == NULL)
    return read_columns (reader, line, error);
  g_autofree char *file = g_path_get_basename (reader->name); /* reports are the same everywhere */
  const Reader row = { file, reader->line, reader->table };
  g_autoptr (GError) problem = NULL;

  if (!read_row (&row, line, &problem))
    g_ptr_array_add (reader->table->skipped, g_strdup (problem->message));
  return TRUE;
}

FabTrainingTable *
fab_training_table_parse (const char *name, const char *data, GError **error)
{
  g_autoptr (FabTrainingTable) self = g_new0 (FabTrainingTable, 1);
  g_auto (GStrv) lines = g_strsplit (data, "\n", -1);
  Reader reader = { .name = name, .line = 1, .table = self };

  self->header = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, g_free);
  self->rows = g_array_new (FALSE, FALSE, sizeof (FabTrainingRow));
  g_array_set_clear_func (self->rows, clear_row);
  self->skipped = g_ptr_array_new_with_free_func (g_free);
  for (guint i = 0; lines[i]; i++) {
    reader.line = i + 1;
    if (!read_line (&reader, g_strchomp (lines[i]), error))
      return NULL;
  }
  if (self->rows->len == 0) {
    if (self->skipped->len > 0)
      fab_throw (error, FAB_ERROR_INPUT, "%s", (const char *) g_ptr_array_index (self->skipped, 0));
    else
      fail (&reader, error, "the table has no rows");
    return NULL;
  }
  return g_steal_pointer (&self);
}

static const char *
find (const FabTemplateValue *values, guint n_values, const char *name, GError **error)
{
  g_autofree const char **names = g_new0 (const char *, n_values + 1);
  const char *near;

  for (guint i = 0; i < n_values; i++) {
    if (strcmp (values[i].name, name) == 0)
      return values[i].value;
    names[i] = values[i].name;
  }
  near = fab_nearest (name, names);
  fab_throw (error, FAB_ERROR_INPUT, "there is no column for ${%s}%s%s%s", name, near ? "; nearest is '" : "",
             near ? near : "", near ? "'" : "");
  return NULL;
}

char *
fab_template_fill (const char *text, const FabTemplateValue *values, guint n_values, GError **error)
{
  g_autoptr (GString) out = g_string_new (NULL);
  const char *at;

  while ((at = strstr (text, "${")) != NULL) {
    const char *end = strchr (at, '}');

    if (end == NULL) {
      fab_throw (error, FAB_ERROR_INPUT, "a ${ has no closing }");
      return NULL;
    }
    g_autofree char *name = g_strndup (at + 2, (gsize) (end - at - 2));
    const char *value = find (values, n_values, name, error);

    if (value == NULL)
      return NULL;
    g_string_append_len (out, text, at - text);
    g_string_append (out, value);
    text = end + 1;
  }
  g_string_append (out, text);
  return g_string_free (g_steal_pointer (&out), FALSE);
}
