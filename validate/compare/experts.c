/* SPDX-License-Identifier: Apache-2.0 */
#include "validate/compare/experts.h"

#include <string.h>

#include "sim/assembly/assemble.h"
#include "sim/base/error.h"
#include "sim/collective/plan/token_exchange.h"
#include "sim/scenario/edits.h"
#include "validate/check/errors.h"
#include "validate/check/limits.h"

#define ROW(key_, type_, field_, fallback_, help_)                                            \
  .key = key_, .type = FAB_PARAM_##type_, .offset = G_STRUCT_OFFSET (FabExpertsSpec, field_), \
  .fallback = fallback_, .help = help_

static const char *const op_names[] = { "dispatch", "combine", NULL };
static const char *const kernel_names[] = { "normal", "low_latency", "hybrid", NULL };
static const char *const precision_names[] = { "bf16", "fp8", NULL };

static const FabParam table_params[] = {
  { ROW ("file", TEXT, file, NULL, "The CSV file, beside INDEX.yaml.") },
  { ROW ("node", TEXT, node, NULL, "The node entry that was measured."), .refers = FAB_REFERS_NODE },
  { ROW ("op", CHOICE, op, NULL, "Tokens to experts, or results back."), .choices = op_names },
  { ROW ("kernels", CHOICE, kernels, NULL, "How tokens are sent."), .choices = kernel_names },
  { ROW ("precision", CHOICE, precision, NULL, "Type of what is sent."), .choices = precision_names },
  { ROW ("interconnect", TEXT, interconnect, NULL, "What the table measures.") },
  { ROW ("role", CHOICE, role, NULL,
         "calibration: may set numbers of the catalogue. judged: is only compared with."),
    .choices = fab_measured_role_names },
  { ROW ("note", TEXT, note, "", "What to know before trusting it.") },
  { .key = NULL },
};

typedef struct {
  FabParamList tables; /* FabExpertsSpec */
} Index;

static const FabParam index_params[] = {
  { .key = "tables",
    .type = FAB_PARAM_LIST,
    .offset = G_STRUCT_OFFSET (Index, tables),
    .table = table_params,
    .table_size = sizeof (FabExpertsSpec),
    .help = "One entry per CSV file." },
  { .key = NULL },
};

struct _FabExpertsReport {
  FabCheckFile *file;
  Index index;
  GArray *tables; /* FabExpertsTable */
};

static void
clear_table (gpointer data)
{
  g_array_unref (((FabExpertsTable *) data)->rows);
}

void
fab_experts_report_free (FabExpertsReport *self)
{
  if (self == NULL)
    return;
  g_array_unref (self->tables);
  fab_check_file_free (self->file);
  g_free (self);
}

const FabExpertsTable *
fab_experts_report_table (const FabExpertsReport *self, guint index)
{
  return &g_array_index (self->tables, FabExpertsTable, index);
}

/* --- reading --- */

static const char csv_head[] = "ep,hidden,per_token,experts,groups,groups_per_token,sms,tokens,time_us";

static gboolean
read_row (const char *line, FabExpertsRow *row)
{
  g_auto (GStrv) words = g_strsplit (line, ",", -1);
  guint *counts[] = { &row->n_ranks,  &row->hidden,           &row->per_token, &row->n_experts,
                      &row->n_groups, &row->groups_per_token, &row->n_sms,     &row->tokens };

  if (g_strv_length (words) != G_N_ELEMENTS (counts) + 1)
    return FALSE;
  for (guint i = 0; i < G_N_ELEMENTS (counts); i++) {
    guint64 count;

    if (!g_ascii_string_to_unsigned (words[i], 10, 0, G_MAXINT32, &count, NULL))
      return FALSE;
    *counts[i] = (guint) count;
  }
  row->time_us = g_ascii_strtod (words[G_N_ELEMENTS (counts)], NULL);
  return row->n_ranks > 1 && row->time_us > 0 && row->per_token > 0 && row->per_token <= row->n_experts
      && row->n_experts % row->n_ranks == 0 && row->n_sms > 0 && row->tokens > 0 && row->hidden > 0;
}

/* (transfer full) */
static GArray *
read_rows (const char *path, GError **error)
{
  g_autofree char *data = NULL;
  g_autoptr (GArray) rows = g_array_new (FALSE, FALSE, sizeof (FabExpertsRow));
  gboolean has_head = FALSE;

  if (!g_file_get_contents (path, &data, NULL, error))
    return NULL;
  g_auto (GStrv) lines = g_strsplit (data, "\n", -1);
  for (guint i = 0; lines[i] != NULL; i++) {
    FabExpertsRow row = { 0 };

    if (lines[i][0] == '#' || lines[i][0] == '\0')
      continue;
    if (!has_head ? strcmp (lines[i], csv_head) != 0 : !read_row (lines[i], &row)) {
      fab_throw (error, FAB_ERROR_INPUT, "%s:%u: '%s' is %s", path, i + 1, lines[i],
                 has_head ? "no row of a measured exchange" : "not the head of such a table");
      return NULL;
    }
    if (has_head)
      g_array_append_val (rows, row);
    has_head = TRUE;
  }
  if (rows->len > 0)
    return g_steal_pointer (&rows);
  fab_throw (error, FAB_ERROR_INPUT, "%s: the table has no rows", path);
  return NULL;
}

/* --- predicting --- */

static FabPlant *
build_plant (const FabExpertsSpec *spec, guint n_ranks, const FabCatalog *catalog,
             const FabRegistry *registry, GError **error)
{
  const FabNodeSpec *node = fab_catalog_node (catalog, spec->node);
  guint n_gpus = fab_node_spec_n_parts (node, FAB_PART_ACCELERATOR), n_locals = MIN (n_ranks, n_gpus);
  g_autoptr (FabScenario) scenario = fab_scenario_new ("experts", registry, catalog);
  g_autoptr (FabEdits) edits = fab_edits_new ();
  FabValue *job = fab_value_mapping (), *operations = fab_value_list (), *operation = fab_value_mapping ();

  fab_value_put (operation, "op", fab_value_text (fab_op_names[FAB_OP_ALL_TO_ALL]));
  fab_value_put (operation, "size", fab_value_whole (FAB_UNIT_BYTES, 1));
  fab_value_append (operations, operation);
  fab_value_put (job, "kind", fab_value_text ("collective"));
  fab_value_put (job, "operations", operations);
  fab_edits_set (edits, "name", fab_value_text ("experts"));
  fab_edits_set (edits, "cluster.node", fab_value_text (spec->node));
  fab_edits_set (edits, "cluster.nodes", fab_value_count (n_ranks / n_locals));
  fab_edits_set (edits, "cluster.gpus_per_node", fab_value_count (n_locals));
  fab_edits_set (edits, "job", job);
  fab_scenario_edit (scenario, edits);
  if (!fab_scenario_check (scenario, error))
    return NULL;
  FabPlant *plant = fab_plant_new (scenario, NULL, error);
  if (plant != NULL)
    plant->scenario = g_steal_pointer (&scenario);
  return plant;
}

static gboolean
predict_row (const FabExpertsSpec *spec, const FabPlant *plant, FabExpertsRow *row, GError **error)
{
  FabPrecision precision = spec->precision == 1 ? FAB_PRECISION_FP8 : FAB_PRECISION_BF16;
  FabTokenExchange exchange = {
    .routing = { row->n_experts, row->per_token, row->n_groups, row->groups_per_token },
    .is_combine = spec->op == 1,
    .is_low_latency = spec->kernels == 1,
    .is_hybrid = spec->kernels == 2,
    .token_bytes = fab_token_bytes (row->hidden, precision),
    .n_sms = row->n_sms,
  };
  FabLibrary *library = fab_token_exchange_new (&exchange);
  FabGroup group = { &plant->cluster, plant->cluster.n_nodes, plant->cluster.gpus_per_node };
  FabBytes bytes = (FabBytes) (exchange.token_bytes * row->per_token * row->tokens + 0.5);
  FabCollectivePlan plan;
  gboolean is_planned = fab_library_plan (library, &group, FAB_OP_ALL_TO_ALL, bytes, &plan, error);

  if (is_planned)
    row->predicted_us = fab_ps_to_seconds (fab_collective_plan_idle_ps (&plan)) * 1e6;
  fab_library_destroy (library);
  return is_planned;
}

/* Rows of the same number of ranks follow one another and share the machine. */
static gboolean
predict_table (FabExpertsTable *table, const FabCatalog *catalog, const FabRegistry *registry, GError **error)
{
  g_autoptr (FabPlant) plant = NULL;
  guint n_ranks = 0;

  for (guint i = 0; i < table->rows->len; i++) {
    FabExpertsRow *row = &g_array_index (table->rows, FabExpertsRow, i);

    if (row->n_ranks != n_ranks) {
      g_clear_pointer (&plant, fab_plant_free);
      plant = build_plant (table->spec, row->n_ranks, catalog, registry, error);
      n_ranks = row->n_ranks;
    }
    if (plant == NULL || !predict_row (table->spec, plant, row, error))
      return FALSE;
  }
  return TRUE;
}

static const char **
node_names (gpointer catalog, G_GNUC_UNUSED FabRefers refers)
{
  return fab_catalog_names (catalog, FAB_SECTION_NODES);
}

FabExpertsReport *
fab_experts_report_new (const char *directory, const FabCatalog *catalog, const FabRegistry *registry,
                        GError **error)
{
  g_autoptr (FabExpertsReport) self = g_new0 (FabExpertsReport, 1);
  g_autofree char *path = g_build_filename (directory, "INDEX.yaml", NULL);
  const FabExpertsSpec *specs;

  self->file = fab_check_file_new (registry);
  self->tables = g_array_new (FALSE, FALSE, sizeof (FabExpertsTable));
  g_array_set_clear_func (self->tables, clear_table);
  if (!fab_check_file_read (self->file, path, index_params, &self->index, error))
    return NULL;
  fab_schema_check_references (self->file->reader, index_params, &self->index, node_names,
                               (gpointer) catalog);
  if (!fab_check_file_is_right (self->file, error))
    return NULL;
  specs = self->index.tables.data;
  for (guint i = 0; i < self->index.tables.n; i++) {
    g_autofree char *file = g_build_filename (directory, specs[i].file, NULL);
    FabExpertsTable table = { &specs[i], read_rows (file, error) };

    if (table.rows == NULL)
      return NULL;
    g_array_append_val (self->tables, table);
    if (!predict_table (&g_array_index (self->tables, FabExpertsTable, i), catalog, registry, error))
      return NULL;
  }
  return g_steal_pointer (&self);
}

/* --- printing --- */

static FabErrors
errors_of (const GArray *rows)
{
  g_autofree double *errors = g_new (double, rows->len);
  g_autofree FabBytes *sizes = g_new0 (FabBytes, rows->len);

  for (guint i = 0; i < rows->len; i++) {
    const FabExpertsRow *row = &g_array_index (rows, FabExpertsRow, i);

    errors[i] = row->predicted_us / row->time_us - 1;
  }
  return fab_errors_of (errors, sizes, rows->len);
}

static void
append_line (GString *out, const char *name, const GArray *rows, const char *role)
{
  FabErrors errors = errors_of (rows);

  g_string_append_printf (out, "  %-44s %4u rows  ", name, rows->len);
  fab_errors_append_text (out, &errors, "");
  g_string_append_printf (out, "  %s\n", role);
}

/* Medians of the tables of a role, which count alike whatever their numbers of rows. */
static void
append_role (const FabExpertsReport *self, FabMeasuredRole role, GString *out)
{
  g_autoptr (GArray) medians = g_array_new (FALSE, FALSE, sizeof (double));
  g_autofree FabBytes *sizes = g_new0 (FabBytes, self->tables->len);

  for (guint i = 0; i < self->tables->len; i++) {
    const FabExpertsTable *table = fab_experts_report_table (self, i);
    double median = errors_of (table->rows).median_fraction;

    if (table->spec->role == (int) role)
      g_array_append_val (medians, median);
  }
  FabErrors errors = fab_errors_of ((const double *) (gpointer) medians->data, sizes, medians->len);
  g_string_append_printf (out,
                          "  %s: %u tables, the median of their medians is %.1f %%, the largest %.1f %%\n",
                          fab_measured_role_names[role], errors.n, 100 * errors.median_fraction,
                          100 * errors.max_fraction);
}

char *
fab_experts_report_text (const FabExpertsReport *self)
{
  GString *out = g_string_new ("Dispatch and combine of tokens: predicted over measured time - 1\n\n");

  for (guint i = 0; i < self->tables->len; i++) {
    const FabExpertsTable *table = fab_experts_report_table (self, i);

    append_line (out, table->spec->file, table->rows, fab_measured_role_names[table->spec->role]);
  }
  g_string_append_c (out, '\n');
  for (guint role = 0; role < FAB_N_ROLES; role++)
    append_role (self, (FabMeasuredRole) role, out);
  return g_string_free (out, FALSE);
}

char *
fab_experts_report_csv (const FabExpertsReport *self)
{
  GString *out = g_string_new (
      "table,role,op,ep,hidden,per_token,experts,sms,tokens,measured_us,predicted_us\n");

  for (guint i = 0; i < self->tables->len; i++) {
    const FabExpertsTable *table = fab_experts_report_table (self, i);

    for (guint r = 0; r < table->rows->len; r++) {
      const FabExpertsRow *row = &g_array_index (table->rows, FabExpertsRow, r);

      g_string_append_printf (out, "%s,%s,%s,%u,%u,%u,%u,%u,%u,%.2f,%.2f\n", table->spec->file,
                              fab_measured_role_names[table->spec->role], op_names[table->spec->op],
                              row->n_ranks, row->hidden, row->per_token, row->n_experts, row->n_sms,
                              row->tokens, row->time_us, row->predicted_us);
    }
  }
  return g_string_free (out, FALSE);
}
