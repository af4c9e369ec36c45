/* SPDX-License-Identifier: Apache-2.0 */
/* measured.c - INDEX.yaml through the schema reader, then each table's CSV.
 *
 * What a table's own header says of nodes and GPUs must agree with the index: a wrong row would else be
 * judged against another machine. The reader owns the texts of the specs.
 */
#include "validate/compare/measured.h"

#include <math.h>
#include <string.h>

#include "sim/base/error.h"
#include "validate/check/limits.h"

#define ROW(key_, type_, field_, fallback_, help_)                                             \
  .key = key_, .type = FAB_PARAM_##type_, .offset = G_STRUCT_OFFSET (FabMeasuredSpec, field_), \
  .fallback = fallback_, .help = help_

const char *const fab_measured_role_names[FAB_N_ROLES + 1] = {
  [FAB_ROLE_CALIBRATION] = "calibration", [FAB_ROLE_JUDGED] = "judged"
};

static const FabParam table_params[] = {
  { ROW ("file", TEXT, file, NULL, "The CSV file, beside INDEX.yaml.") },
  { ROW ("node", TEXT, node, NULL, "The node entry that was measured."), .refers = FAB_REFERS_NODE },
  { ROW ("nodes", COUNT, nodes, NULL, "Number of machines."), .min = 1, .max = 1e5 },
  { ROW ("gpus_per_node", COUNT, gpus_per_node, NULL, "GPUs used of each machine."), .min = 1, .max = 1e3 },
  { ROW ("op", CHOICE, op, NULL, "The operation."), .choices = fab_op_names },
  { ROW ("interconnect", TEXT, interconnect, NULL,
         "What the table measures: NVLink 3, NVSwitch. Tables of one interconnect are "
         "summarised together.") },
  { ROW ("set", TEXT, sets, "",
         "Known settings of its software, as --set: collectives.algorithm=ring; several between blanks.") },
  { ROW ("role", CHOICE, role, NULL,
         "calibration: may set numbers of models. judged: is only compared with."),
    .choices = fab_measured_role_names },
  { ROW ("doubtful", BOOL, is_doubtful, "false",
         "The source doubts that the machine was healthy. The table is listed and counted in "
         "no summary.") },
  { ROW (
      "untuned", BOOL, is_untuned, "false",
      "Its header finds small messages slow. The table counts in every summary, but what starts slowly counts in "
      "no band.") },
  { ROW ("note", TEXT, note, "", "What to know before trusting it.") },
  { .key = NULL },
};

typedef struct {
  FabParamList tables; /* FabMeasuredSpec */
} Index;

static const FabParam index_params[] = {
  { .key = "tables",
    .type = FAB_PARAM_LIST,
    .offset = G_STRUCT_OFFSET (Index, tables),
    .table = table_params,
    .table_size = sizeof (FabMeasuredSpec),
    .help = "One entry per CSV file." },
  { .key = NULL },
};

struct _FabMeasured {
  FabCheckFile *file;
  Index index;
  GArray *tables; /* FabMeasuredTable */
};

static void
clear_table (gpointer data)
{
  FabMeasuredTable *table = data;

  fab_measured_csv_free (table->csv);
  g_free (table->name);
  g_free (table->publication);
}

void
fab_measured_free (FabMeasured *self)
{
  if (self == NULL)
    return;
  g_array_unref (self->tables);
  fab_check_file_free (self->file);
  g_free (self);
}

static const char **
node_names (gpointer catalog, G_GNUC_UNUSED FabRefers refers)
{
  return fab_catalog_names (catalog, FAB_SECTION_NODES);
}

/* A number of the table's header against the index. */
static void
check_header (FabMeasured *self, const FabMeasuredCsv *csv, const char *key, const gint64 *indexed)
{
  const char *text = g_hash_table_lookup (csv->header, key);

  if (text && g_ascii_strtoll (text, NULL, 10) != *indexed)
    fab_schema_report (self->file->reader, indexed,
                       "%s is %" G_GINT64_FORMAT " here and '%s' in the table's own header", key, *indexed,
                       text);
}

/* A table of a group has the GPUs of the whole node in its header, and the ranks of the group beside them. */
static void
check_gpus (FabMeasured *self, const FabMeasuredCsv *csv, const FabMeasuredSpec *spec)
{
  const char *ranks = g_hash_table_lookup (csv->header, "ranks"),
             *gpus = g_hash_table_lookup (csv->header, "gpus_per_node");
  guint n_ranks = fab_measured_spec_n_ranks (spec);

  if (ranks != NULL && (guint) g_ascii_strtoull (ranks, NULL, 10) != n_ranks)
    fab_schema_report (self->file->reader, &spec->gpus_per_node,
                       "there are %u ranks here and '%s' in the table's own header", n_ranks, ranks);
  else if (ranks == NULL || gpus == NULL || g_ascii_strtoll (gpus, NULL, 10) < spec->gpus_per_node)
    check_header (self, csv, "gpus_per_node", &spec->gpus_per_node);
}

char *
fab_measured_publication (const char *source)
{
  gsize first_word = source != NULL ? strcspn (source, " ") : 0;

  if (source == NULL)
    return g_strdup ("");
  return memchr (source, '/', first_word) != NULL ? g_strndup (source, first_word) : g_strdup (source);
}

static void
load_table (FabMeasured *self, const char *directory, const FabMeasuredSpec *spec)
{
  g_autofree char *path = g_build_filename (directory, spec->file, NULL);
  g_autofree char *data = NULL;
  g_autoptr (GError) problem = NULL;
  FabMeasuredTable table = { .spec = spec };
  double bus_factor = fab_op_bus_factor ((FabOp) spec->op, fab_measured_spec_n_ranks (spec));
  gsize size;

  if (fab_measured_spec_n_ranks (spec) < 2) {
    fab_schema_report (self->file->reader, &spec->gpus_per_node, "one rank has nobody to talk to");
    return;
  }
  if (!g_file_get_contents (path, &data, &size, &problem)) {
    fab_schema_report (self->file->reader, &spec->file, "%s", problem->message);
    return;
  }
  table.csv = fab_measured_csv_parse (path, data, size, bus_factor, &problem);
  if (table.csv == NULL) {
    fab_diagnostics_add (self->file->diagnostics, NULL, "%s", problem->message);
    return;
  }
  check_header (self, table.csv, "nodes", &spec->nodes);
  check_gpus (self, table.csv, spec);
  table.name = g_str_has_suffix (spec->file, ".csv") ? g_strndup (spec->file, strlen (spec->file) - 4)
                                                     : g_strdup (spec->file);
  table.publication = fab_measured_publication (g_hash_table_lookup (table.csv->header, "source"));
  g_array_append_val (self->tables, table);
}

/* Texts and numbers of a spec may be missing when the index has mistakes, so tables are read only without. */
static void
load_tables (FabMeasured *self, const char *directory)
{
  const FabMeasuredSpec *specs = self->index.tables.data;

  for (guint i = 0; i < self->index.tables.n; i++) {
    gboolean is_twice = FALSE;

    for (guint k = 0; k < i; k++)
      is_twice = is_twice || strcmp (specs[i].file, specs[k].file) == 0;
    if (is_twice)
      fab_schema_report (self->file->reader, &specs[i].file, "'%s' is given twice", specs[i].file);
    else
      load_table (self, directory, &specs[i]);
  }
}

FabMeasured *
fab_measured_load (const char *directory, const FabCatalog *catalog, const FabRegistry *registry,
                   GError **error)
{
  g_autoptr (FabMeasured) self = g_new0 (FabMeasured, 1);
  g_autofree char *path = g_build_filename (directory, "INDEX.yaml", NULL);

  self->file = fab_check_file_new (registry);
  self->tables = g_array_new (FALSE, FALSE, sizeof (FabMeasuredTable));
  g_array_set_clear_func (self->tables, clear_table);
  if (!fab_check_file_read (self->file, path, index_params, &self->index, error))
    return NULL;
  fab_schema_check_references (self->file->reader, index_params, &self->index, node_names,
                               (gpointer) catalog);
  load_tables (self, directory);
  return fab_check_file_is_right (self->file, error) ? g_steal_pointer (&self) : NULL;
}

guint
fab_measured_n_tables (const FabMeasured *self)
{
  return self->tables->len;
}

const FabMeasuredTable *
fab_measured_table (const FabMeasured *self, guint index)
{
  g_assert (index < self->tables->len);
  return &g_array_index (self->tables, FabMeasuredTable, index);
}

const FabMeasuredTable *
fab_measured_find (const FabMeasured *self, const char *name, GError **error)
{
  g_autofree const char **names = g_new0 (const char *, self->tables->len + 1);

  for (guint i = 0; i < self->tables->len; i++) {
    const FabMeasuredTable *table = fab_measured_table (self, i);

    if (strcmp (name, table->name) == 0 || strcmp (name, table->spec->file) == 0)
      return table;
    names[i] = table->name;
  }
  return fab_check_throw_unknown (error, "no measured table", name, names);
}

/* Lines into a table, each mistake at its line.
 *
 *   time = size x bus factor / busbw
 *
 * A printed number stands for all that round to it: half a unit of its last digit either way.
 */

enum { MAX_BYTES = 1 << 20, MAX_COLUMNS = 64 };

typedef struct {
  const char *name;
  guint line; /* from 1 */
  double bus_factor;
  guint n_columns;
  gint size_column, time_column, busbw_column; /* -1: there is none */
  FabMeasuredCsv *csv;
} Parser;

/* A printed number and how far the true one may be from it. */
typedef struct {
  double value, slack;
} Printed;

static gboolean G_GNUC_PRINTF (3, 4) fail (const Parser *parser, GError **error, const char *format, ...)
{
  va_list args;
  g_autofree char *message = NULL;

  va_start (args, format);
  message = g_strdup_vprintf (format, args);
  va_end (args);
  return fab_throw (error, FAB_ERROR_INPUT, "%s:%u: %s", parser->name, parser->line, message);
}

static gboolean
read_header_line (Parser *parser, const char *text, GError **error)
{
  const char *colon = strchr (text, ':');
  g_autofree char *key = colon ? g_strstrip (g_strndup (text, (gsize) (colon - text))) : NULL;

  if (key == NULL || *key == '\0')
    return fail (parser, error, "a header line must have the form `# key: value`");
  if (g_hash_table_contains (parser->csv->header, key))
    return fail (parser, error, "'%s' is given twice in the header", key);
  g_hash_table_insert (parser->csv->header, g_steal_pointer (&key), g_strstrip (g_strdup (colon + 1)));
  return TRUE;
}

static gint
find_column (char **names, const char *name)
{
  for (guint i = 0; names[i]; i++)
    if (strcmp (names[i], name) == 0)
      return (gint) i;
  return -1;
}

static gboolean
read_columns (Parser *parser, char **names, GError **error)
{
  parser->n_columns = g_strv_length (names);
  if (parser->n_columns > MAX_COLUMNS)
    return fail (parser, error, "the table has more than %d columns", MAX_COLUMNS);
  for (guint i = 0; i < parser->n_columns; i++) {
    if (*names[i] == '\0')
      return fail (parser, error, "column %u has no name", i + 1);
    if (find_column (names, names[i]) != (gint) i)
      return fail (parser, error, "column '%s' is given twice", names[i]);
  }
  parser->size_column = find_column (names, "size_bytes");
  parser->time_column = find_column (names, "time_us");
  parser->busbw_column = find_column (names, "busbw_GBps");
  if (parser->size_column < 0)
    return fail (parser, error, "the column 'size_bytes' is missing");
  if (parser->time_column < 0 && parser->busbw_column < 0)
    return fail (parser, error, "a column 'time_us' or 'busbw_GBps' is missing");
  return TRUE;
}

/* Plain decimals, so that the last digit says how exact the number is. */
static gboolean
read_number (const Parser *parser, const char *text, const char *column, Printed *printed, GError **error)
{
  const char *point = strchr (text, '.');
  gsize n_digits = strspn (text, "0123456789");
  gsize n_decimals = point ? strspn (point + 1, "0123456789") : 0;

  if (n_digits == 0 || n_digits > 15 || n_decimals > 15
      || strlen (text) != n_digits + (point ? 1 + n_decimals : 0))
    return fail (parser, error, "%s: '%s' is not a number like 34.73", column, text);
  *printed = (Printed){ g_ascii_strtod (text, NULL), 0.5 * pow (10, -(double) n_decimals) };
  return TRUE;
}

static gboolean
read_size (const Parser *parser, const char *text, FabBytes *size, GError **error)
{
  const GArray *rows = parser->csv->rows;
  guint64 value;

  if (!g_ascii_string_to_unsigned (text, 10, 1, G_GUINT64_CONSTANT (1000000000000000), &value, NULL))
    return fail (parser, error, "size_bytes: '%s' is not a whole number of bytes from 1", text);
  if (rows->len > 0 && value <= g_array_index (rows, FabMeasuredRow, rows->len - 1).size_bytes)
    return fail (parser, error, "size_bytes: %" G_GUINT64_FORMAT " does not ascend", value);
  *size = value;
  return TRUE;
}

/* Both columns describe one measurement: size x factor / time is busbw, but for a source that rounded twice. */
static gboolean
check_agreement (const Parser *parser, FabBytes size, Printed time, Printed busbw, GError **error)
{
  double amount = (double) size * parser->bus_factor / 1e3; /* bytes per us into GB/s */
  double least = amount / (time.value + time.slack) - busbw.slack;
  double most = amount / (time.value - time.slack) + busbw.slack;

  const double rounded = 1e-4;

  if (busbw.value < least * (1 - rounded) || busbw.value > most * (1 + rounded))
    return fail (parser, error,
                 "busbw_GBps %g does not follow from time_us %g: %.2f expected (right operation and ranks?)",
                 busbw.value, time.value, amount / time.value);
  return TRUE;
}

static gboolean
read_row (Parser *parser, char **fields, GError **error)
{
  FabMeasuredRow row = { .rounding_fraction = 1 };
  Printed time = { 0, 0 }, busbw = { 0, 0 };

  if (g_strv_length (fields) != parser->n_columns)
    return fail (parser, error, "the row has %u fields, and the table has %u columns", g_strv_length (fields),
                 parser->n_columns);
  if (!read_size (parser, fields[parser->size_column], &row.size_bytes, error))
    return FALSE;
  if (parser->time_column >= 0 && !read_number (parser, fields[parser->time_column], "time_us", &time, error))
    return FALSE;
  if (parser->busbw_column >= 0
      && !read_number (parser, fields[parser->busbw_column], "busbw_GBps", &busbw, error))
    return FALSE;
  if (parser->time_column >= 0 && time.value <= time.slack)
    return fail (parser, error, "time_us: %g is not a duration", time.value);
  if (parser->time_column >= 0 && parser->busbw_column >= 0
      && !check_agreement (parser, row.size_bytes, time, busbw, error))
    return FALSE;
  double amount = (double) row.size_bytes * parser->bus_factor / 1e3;
  if (parser->time_column >= 0) {
    row.time_us = time.value;
    row.busbw_GBps = parser->busbw_column >= 0 ? busbw.value : amount / time.value;
    row.rounding_fraction = time.slack / time.value;
  } else if (busbw.value > 0) {
    row.time_us = amount / busbw.value;
    row.busbw_GBps = busbw.value;
    row.rounding_fraction = MIN (1, busbw.slack / busbw.value);
  }
  g_array_append_val (parser->csv->rows, row);
  return TRUE;
}

static gboolean
read_line (Parser *parser, const char *line, GError **error)
{
  g_auto (GStrv) fields = NULL;

  if (strlen (line) == strspn (line, " \t"))
    return TRUE;
  if (*line == '#')
    return parser->n_columns == 0 ? read_header_line (parser, line + 1, error)
                                  : fail (parser, error, "header lines stand before the columns");
  if (strchr (line, '"'))
    return fail (parser, error, "quotes are not supported here");
  fields = g_strsplit (line, ",", MAX_COLUMNS + 1);
  for (guint i = 0; fields[i]; i++)
    g_strstrip (fields[i]);
  if (parser->n_columns == 0)
    return read_columns (parser, fields, error);
  if (parser->csv->rows->len == 0)
    parser->csv->first_line = parser->line;
  return read_row (parser, fields, error);
}

FabMeasuredCsv *
fab_measured_csv_parse (const char *name, const char *data, gsize size, double bus_factor, GError **error)
{
  g_autoptr (FabMeasuredCsv) self = g_new0 (FabMeasuredCsv, 1);
  g_auto (GStrv) lines = NULL;
  g_autofree char *text = NULL;
  Parser parser = { .name = name, .line = 1, .bus_factor = bus_factor, .csv = self };

  self->header = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, g_free);
  self->rows = g_array_new (FALSE, FALSE, sizeof (FabMeasuredRow));
  if (size > MAX_BYTES || !g_utf8_validate (data, (gssize) size, NULL)) {
    fail (&parser, error, "%s", size > MAX_BYTES ? "larger than 1 MiB: not a table" : "not UTF-8 text");
    return NULL;
  }
  text = g_strndup (data, size);
  lines = g_strsplit (text, "\n", -1);
  for (; lines[parser.line - 1]; parser.line++)
    if (!read_line (&parser, g_strchomp (lines[parser.line - 1]), error))
      return NULL;
  if (self->rows->len == 0) {
    fail (&parser, error, "the table has no rows");
    return NULL;
  }
  return g_steal_pointer (&self);
}

void
fab_measured_csv_free (FabMeasuredCsv *self)
{
  if (self == NULL)
    return;
  g_hash_table_unref (self->header);
  g_array_unref (self->rows);
  g_free (self);
}
