/* SPDX-License-Identifier: Apache-2.0 */
/* sources.c - INDEX.yaml through the schema reader, then each source's table; templates are read when they are filled.
 */
#include "validate/training/sources.h"

#include <string.h>

#include "validate/check/file.h"
#include "validate/training/template.h"

#define ROW(key_, field_, fallback_, help_)                                                         \
  {                                                                                                 \
    .key = key_, .type = FAB_PARAM_TEXT, .offset = G_STRUCT_OFFSET (FabTrainingSourceSpec, field_), \
    .fallback = fallback_, .help = help_                                                            \
  }

static const FabParam source_params[] = {
  ROW ("name", name, NULL, "How the source is called."),
  ROW ("title", title, NULL, "What ran where, in a line."),
  ROW ("file", file, NULL, "The CSV file, beside INDEX.yaml."),
  ROW ("scenario", scenario, NULL, "The template, beside INDEX.yaml."),
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
      fab_schema_report (self->file->reader, &specs[i].name, "'%s' stands twice", specs[i].name);
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
fab_training_source_scenario (const FabTrainingSource *self, guint row, double mfu_fraction, GError **error)
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
  filled = fab_template_fill (text, values, n + 1, error);
  if (filled == NULL)
    g_prefix_error (error, "%s: ", path);
  return filled;
}
