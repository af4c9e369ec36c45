/* SPDX-License-Identifier: Apache-2.0 */
/* tables.c - INDEX.yaml through the schema reader, and CSV files by the names of their columns. */
#include "validate/kernels/tables.h"

#include <string.h>

#include "sim/base/error.h"
#include "validate/check/limits.h"

const char *const fab_kernel_type_names[FAB_N_KERNEL_TYPES + 1] = { "product", "attention", "memory_bound",
                                                                    "experts" };
const char *const fab_kernel_role_names[FAB_N_KERNEL_ROLES + 1] = { "calibrating", "judged", "left out",
                                                                    "with casts" };

static const char *const product_columns[] = { "m", "n", "k", NULL };
static const char *const attention_columns[] = { "batch",    "heads",  "kv_heads", "sequence",
                                                 "head_dim", "causal", NULL };
static const char *const memory_columns[] = { "bytes", NULL };
static const char *const experts_columns[] = { "tokens", "hidden", "inner", "per_token", "experts", NULL };

const char *const *const fab_kernel_columns[FAB_N_KERNEL_TYPES] = { product_columns, attention_columns,
                                                                    memory_columns, experts_columns };
static const char *const kind_columns[FAB_N_KERNEL_TYPES] = { "type", "pass", "kernel", NULL };
static const char experts_kind[] = "gated layer";

/* --- INDEX.yaml --- */

static const char *const includes_names[] = { "nothing", "cache_fill", "quantising", NULL };
static const char *const role_names[] = { "calibration", "judged", NULL };
static const char *const rows_names[] = { "alternate", "all", NULL };

#define ROW(key_, type_, field_, fallback_, help_)                                           \
  .key = key_, .type = FAB_PARAM_##type_, .offset = G_STRUCT_OFFSET (FabKernelSpec, field_), \
  .fallback = fallback_, .help = help_

static const FabParam table_params[] = {
  { ROW ("file", TEXT, file, NULL, "The CSV file, beside INDEX.yaml.") },
  { ROW ("kernel", CHOICE, kernel, NULL, "What each row is the time of."), .choices = fab_kernel_type_names },
  { ROW ("accelerator", TEXT, accelerator, NULL, "The accelerator entry that was measured."),
    .refers = FAB_REFERS_ACCELERATOR },
  { ROW ("machine", TEXT, machine, NULL, "The machine, as it calls itself.") },
  { ROW ("software", TEXT, software, NULL, "The software that ran, with releases.") },
  { ROW ("date", TEXT, date, NULL, "When it was measured or published.") },
  { ROW ("source", TEXT, source, NULL, "Where the table is from.") },
  { ROW ("role", CHOICE, is_left_out, NULL,
         "calibration: rows may set constants of the kernel models. judged: all are only compared with."),
    .choices = role_names },
  { ROW ("rows", CHOICE, is_all, "alternate", "Which rows of a table that calibrates may set constants."),
    .choices = rows_names },
  { ROW ("best", FRACTION, best_fraction, "0%", "Share of peak of the best product of the whole table."),
    .max = 1 },
  { ROW ("includes", CHOICE, includes, "nothing", "What else the time has in it."),
    .choices = includes_names },
  { ROW ("note", TEXT, note, "", "What to know before trusting it.") },
  { .key = NULL },
};

typedef struct {
  FabParamList tables; /* FabKernelSpec */
} Index;

static const FabParam index_params[] = {
  { .key = "tables",
    .type = FAB_PARAM_LIST,
    .offset = G_STRUCT_OFFSET (Index, tables),
    .table = table_params,
    .table_size = sizeof (FabKernelSpec),
    .help = "One entry per CSV file." },
  { .key = NULL },
};

struct _FabKernelTables {
  FabCheckFile *file;
  Index index;
  GPtrArray *tables; /* FabKernelTable */
};

static void
clear_row (gpointer data)
{
  g_free (((FabKernelRow *) data)->kind);
}

static void
free_table (gpointer data)
{
  FabKernelTable *self = data;

  g_array_unref (self->rows);
  g_free (self->name);
  g_free (self);
}

void
fab_kernel_tables_free (FabKernelTables *self)
{
  if (self == NULL)
    return;
  g_ptr_array_unref (self->tables);
  fab_check_file_free (self->file);
  g_free (self);
}

guint
fab_kernel_tables_n (const FabKernelTables *self)
{
  return self->tables->len;
}

FabKernelTable *
fab_kernel_tables_get (const FabKernelTables *self, guint index)
{
  return g_ptr_array_index (self->tables, index);
}

FabKernelTable *
fab_kernel_tables_find (const FabKernelTables *self, const char *name, GError **error)
{
  g_autofree const char **names = g_new0 (const char *, self->tables->len + 1);

  for (guint i = 0; i < self->tables->len; i++) {
    FabKernelTable *table = fab_kernel_tables_get (self, i);

    names[i] = table->name;
    if (strcmp (name, table->name) == 0 || strcmp (name, table->spec->file) == 0)
      return table;
  }
  return fab_check_throw_unknown (error, "there is no table", name, names);
}

/* --- rows --- */

typedef struct {
  const char *path;
  const FabKernelSpec *spec;
  gint kind, time, numbers[FAB_KERNEL_MAX_NUMBERS]; /* columns */
} Reader;

static gint
find_column (char **names, const char *name)
{
  for (gint i = 0; names[i] != NULL; i++)
    if (strcmp (names[i], name) == 0)
      return i;
  return -1;
}

static gboolean
find_needed (const Reader *self, char **names, const char *name, gint *column, GError **error)
{
  *column = find_column (names, name);
  return *column >= 0
      || fab_throw (error, FAB_ERROR_INPUT,
                    "%s:1: the head has no column '%s', which a table of kernel '%s' needs", self->path, name,
                    fab_kernel_type_names[self->spec->kernel]);
}

static gboolean
read_head (Reader *self, const char *line, GError **error)
{
  g_auto (GStrv) names = g_strsplit (line, ",", -1);
  const char *kind = kind_columns[self->spec->kernel];
  const char *const *columns = fab_kernel_columns[self->spec->kernel];

  self->kind = -1;
  if (!find_needed (self, names, "us", &self->time, error)
      || (kind != NULL && !find_needed (self, names, kind, &self->kind, error)))
    return FALSE;
  for (guint i = 0; columns[i] != NULL; i++)
    if (!find_needed (self, names, columns[i], &self->numbers[i], error))
      return FALSE;
  return TRUE;
}

static gboolean
read_number (char **words, gint column, double *number)
{
  char *end;

  if ((guint) column >= g_strv_length (words))
    return FALSE;
  *number = g_ascii_strtod (words[column], &end);
  return end != words[column] && *end == '\0' && *number >= 0 && *number < 1e18;
}

static gboolean
read_row (const Reader *self, const char *line, FabKernelRow *row)
{
  g_auto (GStrv) words = g_strsplit (line, ",", -1);
  gboolean is_right = read_number (words, self->time, &row->measured_us) && row->measured_us > 0;

  for (guint i = 0; is_right && fab_kernel_columns[self->spec->kernel][i] != NULL; i++)
    is_right = read_number (words, self->numbers[i], &row->numbers[i]);
  is_right = is_right && self->kind < (gint) g_strv_length (words);
  if (is_right)
    row->kind = g_strdup (self->kind < 0 ? experts_kind : words[self->kind]);
  return is_right;
}

static GArray *
read_rows (Reader *self, GError **error)
{
  g_autoptr (GArray) rows = g_array_new (FALSE, FALSE, sizeof (FabKernelRow));
  g_autofree char *data = NULL;

  g_array_set_clear_func (rows, clear_row);
  if (!g_file_get_contents (self->path, &data, NULL, error))
    return NULL;
  g_auto (GStrv) lines = g_strsplit (data, "\n", -1);
  if (lines[0] != NULL && !read_head (self, lines[0], error))
    return NULL;
  for (guint i = 1; lines[0] != NULL && lines[i] != NULL; i++) {
    FabKernelRow row = { .line = i + 1 };

    if (lines[i][0] == '\0')
      continue;
    if (!read_row (self, lines[i], &row)) {
      fab_throw (
          error, FAB_ERROR_INPUT,
          "%s:%u: '%s' is no row of the head's columns; each number must be 0 or more, and `us` more than 0",
          self->path, i + 1, lines[i]);
      return NULL;
    }
    g_array_append_val (rows, row);
  }
  if (rows->len > 0)
    return g_steal_pointer (&rows);
  fab_throw (error, FAB_ERROR_INPUT, "%s: the table has no rows", self->path);
  return NULL;
}

/* --- roles --- */

static FabKernelRole
role_of (const FabKernelSpec *spec, const FabKernelRow *row, guint n_before)
{
  if (spec->includes == FAB_KERNEL_QUANTISING && strcmp (row->kind, "fp8") == 0)
    return FAB_KERNEL_WITH_CASTS;
  if (spec->is_left_out)
    return FAB_KERNEL_LEFT_OUT;
  return spec->is_all || n_before % 2 == 0 ? FAB_KERNEL_CALIBRATES : FAB_KERNEL_JUDGED;
}

static void
set_roles (const FabKernelSpec *spec, GArray *rows)
{
  g_autoptr (GHashTable) n_of_kind = g_hash_table_new (g_str_hash, g_str_equal);

  for (guint i = 0; i < rows->len; i++) {
    FabKernelRow *row = &g_array_index (rows, FabKernelRow, i);
    guint n = GPOINTER_TO_UINT (g_hash_table_lookup (n_of_kind, row->kind));

    g_hash_table_insert (n_of_kind, row->kind, GUINT_TO_POINTER (n + 1));
    row->role = role_of (spec, row, n);
  }
}

/* --- the directory --- */

static FabKernelTable *
read_table (const char *directory, const FabKernelSpec *spec, GError **error)
{
  g_autofree char *path = g_build_filename (directory, spec->file, NULL);
  Reader reader = { .path = path, .spec = spec };
  GArray *rows = read_rows (&reader, error);

  if (rows == NULL)
    return NULL;
  FabKernelTable *self = g_new0 (FabKernelTable, 1);
  *self = (FabKernelTable){ spec, g_strdup (spec->file), rows };
  if (g_str_has_suffix (self->name, ".csv"))
    self->name[strlen (self->name) - strlen (".csv")] = '\0';
  set_roles (spec, rows);
  return self;
}

static const char **
accelerator_names (gpointer catalog, G_GNUC_UNUSED FabRefers refers)
{
  return fab_catalog_names (catalog, FAB_SECTION_ACCELERATORS);
}

FabKernelTables *
fab_kernel_tables_load (const char *directory, const FabCatalog *catalog, const FabRegistry *registry,
                        GError **error)
{
  g_autoptr (FabKernelTables) self = g_new0 (FabKernelTables, 1);
  g_autofree char *path = g_build_filename (directory, "INDEX.yaml", NULL);
  const FabKernelSpec *specs;

  self->file = fab_check_file_new (registry);
  self->tables = g_ptr_array_new_with_free_func (free_table);
  if (!fab_check_file_read (self->file, path, index_params, &self->index, error))
    return NULL;
  fab_schema_check_references (self->file->reader, index_params, &self->index, accelerator_names,
                               (gpointer) catalog);
  if (!fab_check_file_is_right (self->file, error))
    return NULL;
  specs = self->index.tables.data;
  for (guint i = 0; i < self->index.tables.n; i++) {
    FabKernelTable *table = read_table (directory, &specs[i], error);

    if (table == NULL)
      return NULL;
    g_ptr_array_add (self->tables, table);
  }
  return g_steal_pointer (&self);
}
