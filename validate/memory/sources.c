/* SPDX-License-Identifier: Apache-2.0 */
#include "validate/memory/sources.h"

#include <string.h>

#include "sim/base/error.h"
#include "validate/check/limits.h"
#include "validate/training/sources.h"

static const double gib = 1024.0 * 1024.0 * 1024.0;

#define ROW(key_, field_, fallback_, help_)                                                       \
  {                                                                                               \
    .key = key_, .type = FAB_PARAM_TEXT, .offset = G_STRUCT_OFFSET (FabMemorySourceSpec, field_), \
    .fallback = fallback_, .help = help_                                                          \
  }

static const char *const role_keys[] = { "looked_at", "held_out", NULL };
const char *const fab_memory_role_names[] = { "looked at", "held out", NULL };

static const FabParam source_params[] = {
  ROW ("name", name, NULL, "How the source is called."),
  ROW ("title", title, NULL, "The jobs and the machine in one line."),
  ROW ("file", file, NULL, "The CSV file, beside INDEX.yaml."),
  ROW ("scenario", scenario, NULL, "The template, beside INDEX.yaml."),
  { .key = "role",
    .type = FAB_PARAM_CHOICE,
    .offset = G_STRUCT_OFFSET (FabMemorySourceSpec, role),
    .choices = role_keys,
    .help = "Whether its rows were in sight when it was decided what is counted." },
  { .key = "band",
    .type = FAB_PARAM_BOOL,
    .offset = G_STRUCT_OFFSET (FabMemorySourceSpec, in_band),
    .fallback = "true",
    .help = "Whether it is part of the band that refusals rest on." },
  ROW ("note", note, "", "What to know before trusting it."),
  { .key = NULL },
};

typedef struct {
  FabParamList sources; /* FabMemorySourceSpec */
} Index;

static const FabParam index_params[] = {
  { .key = "sources",
    .type = FAB_PARAM_LIST,
    .offset = G_STRUCT_OFFSET (Index, sources),
    .table = source_params,
    .table_size = sizeof (FabMemorySourceSpec),
    .help = "One entry per source." },
  { .key = NULL },
};

struct _FabMemorySources {
  FabCheckFile *file;
  Index index;
  GArray *sources; /* FabMemorySource */
};

static void
clear_row (gpointer data)
{
  g_strfreev (((FabMemoryRow *) data)->cells);
}

static void
clear_source (gpointer data)
{
  FabMemorySource *self = data;

  g_clear_pointer (&self->header, g_hash_table_unref);
  g_clear_pointer (&self->rows, g_array_unref);
  g_strfreev (self->columns);
  g_free (self->template);
}

void
fab_memory_sources_free (FabMemorySources *self)
{
  if (self == NULL)
    return;
  g_array_unref (self->sources);
  fab_check_file_free (self->file);
  g_free (self);
}

/* --- a table --- */

/* The cell of a column; NULL: it is empty, or there is no such column. */
static const char *
cell_of (const FabMemorySource *self, char **cells, const char *column)
{
  for (guint i = 0; self->columns[i] != NULL; i++)
    if (strcmp (self->columns[i], column) == 0)
      return *cells[i] != '\0' ? cells[i] : NULL;
  return NULL;
}

static gboolean
read_row (FabMemorySource *self, const char *line, GError **error)
{
  g_auto (GStrv) cells = fab_training_split_cells (line);
  FabMemoryRow row = { 0 };
  const char *peak, *kind;

  if (g_strv_length (cells) != g_strv_length (self->columns))
    return fab_throw (error, FAB_ERROR_INPUT, "the row has %u cells, and the table has %u columns",
                      g_strv_length (cells), g_strv_length (self->columns));
  row.id = cell_of (self, cells, "id");
  row.doubtful = cell_of (self, cells, "doubtful");
  kind = cell_of (self, cells, "kind");
  peak = cell_of (self, cells, "peak_gib");
  row.peak_bytes = peak != NULL ? g_ascii_strtod (peak, NULL) * gib : 0;
  row.is_reserved = g_strcmp0 (kind, "reserved") == 0;
  if (row.id == NULL)
    return fab_throw (error, FAB_ERROR_INPUT, "the row has no id");
  if (!(row.peak_bytes > 0))
    return fab_throw (error, FAB_ERROR_INPUT, "peak_gib is '%s', not a number above 0", peak ? peak : "");
  if (!row.is_reserved && g_strcmp0 (kind, "allocated") != 0)
    return fab_throw (error, FAB_ERROR_INPUT, "kind is '%s'; use allocated or reserved", kind ? kind : "");
  row.cells = g_steal_pointer (&cells);
  g_array_append_val (self->rows, row);
  return TRUE;
}

static gboolean
read_line (FabMemorySource *self, const char *line, GError **error)
{
  if (*line == '\0')
    return TRUE;
  if (*line == '#') {
    g_auto (GStrv) parts = g_strsplit (line + 1, ":", 2);

    if (parts[0] == NULL || parts[1] == NULL)
      return fab_throw (error, FAB_ERROR_INPUT, "a header line must have the form '# key: value'");
    g_hash_table_insert (self->header, g_strdup (g_strstrip (parts[0])), g_strdup (g_strstrip (parts[1])));
    return TRUE;
  }
  if (self->columns == NULL) {
    self->columns = g_strsplit (line, ",", -1);
    return TRUE;
  }
  return read_row (self, line, error);
}

static gboolean
read_table (FabMemorySource *self, const char *path, GError **error)
{
  g_autofree char *data = NULL;

  if (!g_file_get_contents (path, &data, NULL, error))
    return FALSE;
  g_auto (GStrv) lines = g_strsplit (data, "\n", -1);
  for (guint i = 0; lines[i] != NULL; i++)
    if (!read_line (self, g_strchomp (lines[i]), error)) {
      g_prefix_error (error, "%s:%u: ", path, i + 1);
      return FALSE;
    }
  if (self->rows->len > 0)
    return TRUE;
  return fab_throw (error, FAB_ERROR_INPUT, "%s: the table has no rows", path);
}

/* --- all sources --- */

static void
load_source (FabMemorySources *self, const char *directory, const FabMemorySourceSpec *spec)
{
  g_autofree char *table = g_build_filename (directory, spec->file, NULL);
  g_autofree char *template = g_build_filename (directory, spec->scenario, NULL);
  g_autoptr (GError) problem = NULL;
  FabMemorySource source = { .spec = spec };

  source.header = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, g_free);
  source.rows = g_array_new (FALSE, FALSE, sizeof (FabMemoryRow));
  g_array_set_clear_func (source.rows, clear_row);
  g_array_append_val (self->sources, source);
  FabMemorySource *added = &g_array_index (self->sources, FabMemorySource, self->sources->len - 1);
  if (!read_table (added, table, &problem))
    fab_schema_report (self->file->reader, &spec->file, "%s", problem->message);
  else if (!g_file_get_contents (template, &added->template, NULL, &problem))
    fab_schema_report (self->file->reader, &spec->scenario, "%s", problem->message);
}

FabMemorySources *
fab_memory_sources_load (const char *directory, const FabRegistry *registry, GError **error)
{
  g_autoptr (FabMemorySources) self = g_new0 (FabMemorySources, 1);
  g_autofree char *path = g_build_filename (directory, "INDEX.yaml", NULL);

  self->file = fab_check_file_new (registry);
  self->sources = g_array_new (FALSE, FALSE, sizeof (FabMemorySource));
  g_array_set_clear_func (self->sources, clear_source);
  if (!fab_check_file_read (self->file, path, index_params, &self->index, error))
    return NULL;
  for (guint i = 0; i < self->index.sources.n; i++)
    load_source (self, directory, &((const FabMemorySourceSpec *) self->index.sources.data)[i]);
  return fab_check_file_is_right (self->file, error) ? g_steal_pointer (&self) : NULL;
}

guint
fab_memory_sources_n (const FabMemorySources *self)
{
  return self->sources->len;
}

const FabMemorySource *
fab_memory_sources_get (const FabMemorySources *self, guint index)
{
  return &g_array_index (self->sources, FabMemorySource, index);
}

const FabMemorySource *
fab_memory_sources_find (const FabMemorySources *self, const char *name, GError **error)
{
  g_autofree const char **names = g_new0 (const char *, self->sources->len + 1);

  for (guint i = 0; i < self->sources->len; i++) {
    names[i] = fab_memory_sources_get (self, i)->spec->name;
    if (strcmp (name, names[i]) == 0)
      return fab_memory_sources_get (self, i);
  }
  return fab_check_throw_unknown (error, "no measured source", name, names);
}

char *
fab_memory_source_scenario (const FabMemorySource *self, guint row, GError **error)
{
  guint n = g_strv_length (self->columns);
  g_autofree FabTemplateValue *values = g_new0 (FabTemplateValue, n);

  for (guint i = 0; i < n; i++)
    values[i] = (FabTemplateValue){ self->columns[i], fab_memory_source_row (self, row)->cells[i] };
  return fab_template_fill (self->template, values, n, error);
}
