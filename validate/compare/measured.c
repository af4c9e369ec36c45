/* SPDX-License-Identifier: Apache-2.0 */
/* measured.c - INDEX.yaml through the schema reader, then each table's CSV.
 *
 * What a table's own header says of nodes and GPUs must agree with the index: a wrong row would else be
 * judged against another machine. The reader owns the texts of the specs.
 */
#include "validate/compare/measured.h"

#include <string.h>

#include "validate/check/file.h"

#define ROW(key_, type_, field_, fallback_, help_)                                             \
  .key = key_, .type = FAB_PARAM_##type_, .offset = G_STRUCT_OFFSET (FabMeasuredSpec, field_), \
  .fallback = fallback_, .help = help_

const char *const fab_measured_role_names[FAB_N_ROLES + 1] = {
  [FAB_ROLE_CALIBRATION] = "calibration", [FAB_ROLE_JUDGED] = "judged"
};

static const FabParam table_params[] = {
  { ROW ("file", TEXT, file, NULL, "The CSV file, beside INDEX.yaml.") },
  { ROW ("node", TEXT, node, NULL, "The node entry that was measured."), .refers = FAB_REFERS_NODE },
  { ROW ("nodes", COUNT, nodes, NULL, "How many machines."), .min = 1, .max = 1e5 },
  { ROW ("gpus_per_node", COUNT, gpus_per_node, NULL, "GPUs used of each."), .min = 1, .max = 1e3 },
  { ROW ("op", CHOICE, op, NULL, "The operation."), .choices = fab_op_names },
  { ROW ("interconnect", TEXT, interconnect, NULL,
         "What is tried: NVLink 3, NVSwitch. Tables of one are summarised together.") },
  { ROW ("set", TEXT, sets, "",
         "What is known of its software, as --set: collectives.algorithm=ring; several between blanks.") },
  { ROW ("role", CHOICE, role, NULL,
         "calibration: may set numbers of models. judged: is only compared with."),
    .choices = fab_measured_role_names },
  { ROW ("doubtful", BOOL, is_doubtful, "false",
         "The source doubts that the machine was well: listed, and counted in no summary.") },
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
  check_header (self, table.csv, "gpus_per_node", &spec->gpus_per_node);
  table.name = g_str_has_suffix (spec->file, ".csv") ? g_strndup (spec->file, strlen (spec->file) - 4)
                                                     : g_strdup (spec->file);
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
      fab_schema_report (self->file->reader, &specs[i].file, "'%s' stands twice", specs[i].file);
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
