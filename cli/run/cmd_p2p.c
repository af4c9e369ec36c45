/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_p2p.c - `fabricast p2p`: the matrices of p2pBandwidthLatencyTest, predicted. */
#include "cli/cli.h"
#include "cli/files.h"
#include "cli/hardware/testbed.h"
#include "cli/terminal/terminal.h"
#include "sim/base/error.h"
#include "sim/base/json.h"
#include "sim/base/version.h"
#include "answer/p2p.h"

typedef struct {
  char *format_name, *node, *nic;
  char **sets, **with;
  gint64 nodes, gpus_per_node;
  gboolean with_storage, has_no_band;
  FabFormat format;
} P2pOptions;

typedef struct {
  const char *node;
  const FabCluster *cluster;
  const FabP2pTable *table;
  const double *storage; /* NULL: not asked for */
  const FabBand *band;   /* NULL: nothing is uncertain */
} P2pAnswer;

/* One matrix of a table. */
typedef struct {
  const char *title; /* as p2pBandwidthLatencyTest writes it */
  const char *key;
  const double *values;
  const char *corner;
  const double *low, *high; /* NULL: there is no band */
} Matrix;

static const FabUsage usage = {
  .arguments = "[SCENARIO]",
  .max_rest = 1,
  .summary =
      "Predicts the output of p2pBandwidthLatencyTest of the CUDA samples for every pair of GPUs: whether one\n"
      "GPU can read the other's memory (P2P), the bandwidth of a copy with and without P2P, in one direction and\n"
      "in both together, and the latency of a small write. Between nodes, copies use RDMA through the nearest\n"
      "NICs.",
  .examples = "  fabricast p2p --node dgx-a100\n"
              "  fabricast p2p --node dgx-h100 --nodes 2 -g 2 --format csv\n"
              "  fabricast p2p --node dgx-a100 --set cluster.p2p=none\n",
};

static void
list_matrices (const P2pAnswer *answer, Matrix matrices[FAB_P2P_N_MATRICES])
{
  const FabP2pTable *t = answer->table;
  gsize n_pairs = (gsize) t->n * t->n;
  const Matrix all[FAB_P2P_N_MATRICES] = {
    { "Unidirectional P2P=Disabled Bandwidth Matrix (GB/s)", "one_way_disabled_GBps",
      t->one_way_GBps[FAB_P2P_DISABLED], "D\\D", NULL, NULL },
    { "Unidirectional P2P=Enabled Bandwidth (P2P Writes) Matrix (GB/s)", "one_way_enabled_GBps",
      t->one_way_GBps[FAB_P2P_ENABLED], "D\\D", NULL, NULL },
    { "Bidirectional P2P=Disabled Bandwidth Matrix (GB/s)", "both_ways_disabled_GBps",
      t->both_ways_GBps[FAB_P2P_DISABLED], "D\\D", NULL, NULL },
    { "Bidirectional P2P=Enabled Bandwidth Matrix (GB/s)", "both_ways_enabled_GBps",
      t->both_ways_GBps[FAB_P2P_ENABLED], "D\\D", NULL, NULL },
    { "P2P=Disabled Latency Matrix (us)", "latency_disabled_us", t->latency_us[FAB_P2P_DISABLED], "GPU", NULL,
      NULL },
    { "P2P=Enabled Latency (P2P Writes) Matrix (us)", "latency_enabled_us", t->latency_us[FAB_P2P_ENABLED],
      "GPU", NULL, NULL },
  };

  for (guint i = 0; i < FAB_P2P_N_MATRICES; i++)
    matrices[i] = all[i];
  for (guint i = 0; answer->band != NULL && i < FAB_P2P_N_MATRICES; i++) {
    matrices[i].low = answer->band->low + i * n_pairs;
    matrices[i].high = answer->band->high + i * n_pairs;
  }
}

static void
print_connectivity (const FabP2pTable *t)
{
  g_print ("P2P Connectivity Matrix\n     D\\D");
  for (guint i = 0; i < t->n; i++)
    g_print ("%6u", i);
  g_print ("\n");
  for (guint i = 0; i < t->n; i++) {
    g_print ("%6u\t", i);
    for (guint j = 0; j < t->n; j++)
      g_print ("%6d", t->is_peer[i * t->n + j]);
    g_print ("\n");
  }
}

static void
print_matrix (const Matrix *matrix, guint n_rows, guint n_columns)
{
  g_autoptr (GString) page = g_string_new (NULL);

  g_string_append_printf (page, "%s\n   %s", matrix->title, matrix->corner);
  for (guint j = 0; j < n_columns; j++)
    g_string_append_printf (page, "\v%6u ", j);
  g_string_append_printf (page, "\n");
  for (guint i = 0; i < n_rows; i++) {
    g_string_append_printf (page, "%6u ", i);
    for (guint j = 0; j < n_columns; j++)
      g_string_append_printf (page, "\v%6.02f ", matrix->values[i * n_columns + j]);
    g_string_append_printf (page, "\n");
  }
  fab_terminal_print_page (page->str);
}

/* The pair of a matrix whose band is widest. */
static void
print_band (const FabBand *band, const Matrix *matrix, guint first, guint n_pairs)
{
  double widest = 0;
  guint at = 0;

  for (guint i = 0; i < n_pairs; i++)
    if ((matrix->high[i] - matrix->low[i]) / matrix->values[i] > widest) {
      widest = (matrix->high[i] - matrix->low[i]) / matrix->values[i];
      at = i;
    }
  if (widest <= 0)
    return;
  g_autofree char *most = fab_band_most (band, first + at);
  g_print ("# %s: widest 95 %% band: %.3g to %.3g where %.3g is shown, most by %s\n", matrix->key,
           matrix->low[at], matrix->high[at], matrix->values[at], most);
}

static void
print_notes (const P2pAnswer *answer, const Matrix matrices[FAB_P2P_N_MATRICES])
{
  guint n_pairs = answer->table->n * answer->table->n, n_outside = 0;

  for (guint i = 0; answer->band != NULL && i < FAB_P2P_N_MATRICES; i++)
    print_band (answer->band, &matrices[i], i * n_pairs, n_pairs);
  for (guint i = 0; i < n_pairs; i++)
    n_outside += answer->table->is_outside[i] ? 1 : 0;
  if (n_outside > 0)
    g_print ("# %u of %u pairs: the size of the copy or write lies outside the measured sizes\n", n_outside,
             n_pairs);
}

static void
print_text (const P2pAnswer *answer)
{
  const FabP2pTable *t = answer->table;
  Matrix matrices[FAB_P2P_N_MATRICES];

  list_matrices (answer, matrices);
  g_print ("# predicted: %u x %s", answer->cluster->n_nodes, answer->node);
  if (answer->cluster->n_nodes > 1)
    g_print ("; GPU %u is the first of node 1", t->gpus_per_node);
  g_print ("\n");
  print_connectivity (t);
  for (guint i = 0; i < FAB_P2P_N_MATRICES; i++) {
    g_print (i >= 4 ? "\n" : "");
    print_matrix (&matrices[i], t->n, t->n);
  }
  if (answer->storage != NULL) {
    g_print ("\n");
    print_matrix (&(Matrix){ "Storage to GPU Bandwidth Matrix (GB/s), by drive", "storage_GBps",
                             answer->storage, "drv", NULL, NULL },
                  answer->cluster->drives_per_node, t->gpus_per_node);
  }
  print_notes (answer, matrices);
}

static void
print_csv_matrix (const Matrix *matrix, guint n_rows, guint n_columns)
{
  for (guint i = 0; i < n_rows * n_columns; i++) {
    g_print ("%s,%u,%u,%.6f", matrix->key, i / n_columns, i % n_columns, matrix->values[i]);
    if (matrix->low != NULL)
      g_print (",%.6f,%.6f", matrix->low[i], matrix->high[i]);
    g_print ("\n");
  }
}

static void
print_csv (const P2pAnswer *answer)
{
  const FabP2pTable *t = answer->table;
  Matrix matrices[FAB_P2P_N_MATRICES];

  list_matrices (answer, matrices);
  const char *no_ends = answer->band != NULL ? ",," : "";
  g_print ("matrix,from,to,value%s\n", answer->band != NULL ? ",low,high" : "");
  for (guint i = 0; i < t->n * t->n; i++)
    g_print ("peer,%u,%u,%d%s\n", i / t->n, i % t->n, t->is_peer[i], no_ends);
  for (guint i = 0; t->has_sizes && i < t->n * t->n; i++)
    g_print ("outside_measured,%u,%u,%d%s\n", i / t->n, i % t->n, t->is_outside[i], no_ends);
  for (guint i = 0; i < FAB_P2P_N_MATRICES; i++)
    print_csv_matrix (&matrices[i], t->n, t->n);
  if (answer->storage != NULL)
    print_csv_matrix (&(Matrix){ NULL, "storage_GBps", answer->storage, NULL, NULL, NULL },
                      answer->cluster->drives_per_node, t->gpus_per_node);
}

static void
add_values (FabJson *json, const char *key, const char *suffix, const double *values, guint n_rows,
            guint n_columns)
{
  g_autofree char *name = g_strconcat (key, suffix, NULL);

  fab_json_begin_array (json, name);
  for (guint i = 0; i < n_rows; i++) {
    fab_json_begin_array (json, NULL);
    for (guint j = 0; j < n_columns; j++)
      fab_json_add_real (json, NULL, values[i * n_columns + j]);
    fab_json_end (json);
  }
  fab_json_end (json);
}

static void
add_matrix (FabJson *json, const Matrix *matrix, guint n_rows, guint n_columns)
{
  add_values (json, matrix->key, "", matrix->values, n_rows, n_columns);
  if (matrix->low == NULL)
    return;
  add_values (json, matrix->key, "_low", matrix->low, n_rows, n_columns);
  add_values (json, matrix->key, "_high", matrix->high, n_rows, n_columns);
}

static void
add_flags (FabJson *json, const char *key, const gboolean *flags, guint n)
{
  fab_json_begin_array (json, key);
  for (guint i = 0; i < n; i++) {
    fab_json_begin_array (json, NULL);
    for (guint j = 0; j < n; j++)
      fab_json_add_flag (json, NULL, flags[i * n + j]);
    fab_json_end (json);
  }
  fab_json_end (json);
}

static void
print_json (const P2pAnswer *answer)
{
  const FabP2pTable *t = answer->table;
  g_autoptr (FabJson) json = fab_json_new (FAB_JSON_PAGE);
  Matrix matrices[FAB_P2P_N_MATRICES];

  list_matrices (answer, matrices);
  fab_json_begin_object (json, NULL);
  fab_json_add_text (json, "version", fab_version ());
  fab_json_add_text (json, "node", answer->node);
  fab_json_add_whole (json, "nodes", answer->cluster->n_nodes);
  fab_json_add_whole (json, "gpus_per_node", t->gpus_per_node);
  add_flags (json, "is_peer", t->is_peer, t->n);
  if (t->has_sizes)
    add_flags (json, "is_outside_measured", t->is_outside, t->n);
  for (guint i = 0; i < FAB_P2P_N_MATRICES; i++)
    add_matrix (json, &matrices[i], t->n, t->n);
  if (answer->storage != NULL)
    add_matrix (json, &(Matrix){ NULL, "storage_GBps", answer->storage, NULL, NULL, NULL },
                answer->cluster->drives_per_node, t->gpus_per_node);
  fab_json_end (json);
  g_autofree char *text = fab_json_finish (json);
  g_print ("%s", text);
}

/* What the options say over a scenario; NULL and *error for a file that cannot be read. (transfer full) */
static FabEdits *
edits_of (const P2pOptions *o, GError **error)
{
  g_autoptr (FabEdits) edits = fab_edits_new ();

  if (o->with != NULL) {
    FabValue *files = fab_cli_with (o->with, error);

    if (files == NULL)
      return NULL;
    fab_edits_set (edits, "include", files);
  }
  if (o->nodes != 0)
    fab_edits_ask (edits, "cluster.nodes", fab_value_count (o->nodes));
  if (o->gpus_per_node != 0)
    fab_edits_ask (edits, "cluster.gpus_per_node", fab_value_count (o->gpus_per_node));
  if (o->nic != NULL)
    fab_edits_ask (edits, "cluster.nic", fab_value_text (o->nic));
  for (guint i = 0; o->sets != NULL && o->sets[i] != NULL; i++)
    fab_edits_assign (edits, o->sets[i]);
  return g_steal_pointer (&edits);
}

static void
print_answer (const P2pAnswer *answer, FabFormat format)
{
  if (format == FAB_FORMAT_TEXT)
    print_text (answer);
  else if (format == FAB_FORMAT_CSV)
    print_csv (answer);
  else
    print_json (answer);
}

static gboolean
p2p (P2pOptions *o, const char *path, GError **error)
{
  g_autoptr (FabCatalog) catalog = NULL;
  g_autoptr (FabTestbed) machine = NULL;
  g_autoptr (FabP2pTable) table = NULL;
  g_autoptr (FabBand) band = NULL;
  g_autofree double *storage = NULL;
  g_autoptr (FabEdits) edits = edits_of (o, error);

  if (edits == NULL)
    return FALSE;
  FabTestbedRequest request = { o->node, o->nodes, o->gpus_per_node, edits };
  if (!fab_cli_format (o->format_name, &o->format, error) || (catalog = fab_cli_catalog (error)) == NULL
      || (machine = fab_cli_testbed (&request, path, catalog, error)) == NULL
      || (table = fab_p2p_new (&machine->plant->cluster, error)) == NULL)
    return FALSE;
  const FabCluster *cluster = &machine->plant->cluster;
  const char *node = fab_scenario_spec (machine->scenario)->cluster.node;
  if (o->with_storage && cluster->drives_per_node == 0)
    return fab_throw (error, FAB_ERROR_INPUT, "--storage: node '%s' has no drives", node);
  if ((o->with_storage && (storage = fab_p2p_storage (cluster, error)) == NULL)
      || (!o->has_no_band && !fab_p2p_band (machine->scenario, machine->plant, table, &band, error)))
    return FALSE;
  print_answer (&(P2pAnswer){ node, cluster, table, storage, band }, o->format);
  return TRUE;
}

static FabExit
run (int argc, char **argv)
{
  P2pOptions o = { 0 };
  const GOptionEntry entries[] = {
    { "node", 0, 0, G_OPTION_ARG_STRING, &o.node, "Node entry of the catalogue", "NAME" },
    { "nodes", 0, 0, G_OPTION_ARG_INT64, &o.nodes, "Number of nodes (default 1)", "N" },
    { "gpus-per-node", 'g', 0, G_OPTION_ARG_INT64, &o.gpus_per_node, "GPUs used in each node (default: all)",
      "N" },
    { "nic", 0, 0, G_OPTION_ARG_STRING, &o.nic,
      "Link entry of NIC and switch ports (default: the node's own)", "LINK" },
    { "with", 0, 0, G_OPTION_ARG_FILENAME_ARRAY, &o.with,
      "Use the entries of this file too, as `fabricast calibrate` writes them; repeatable", "FILE" },
    { "no-band", 0, 0, G_OPTION_ARG_NONE, &o.has_no_band, "Print no bands of the numbers", NULL },
    { "storage", 0, 0, G_OPTION_ARG_NONE, &o.with_storage,
      "Also predict transfers from every drive of a node to its GPUs", NULL },
    { "set", 0, 0, G_OPTION_ARG_STRING_ARRAY, &o.sets, "Override a key of the scenario behind it; repeatable",
      "KEY=VALUE" },
    { "format", 0, 0, G_OPTION_ARG_STRING, &o.format_name, "text (default), json or csv", "FORMAT" },
    G_OPTION_ENTRY_NULL
  };
  g_autoptr (GError) error = NULL;
  gboolean is_done = fab_cli_parse (&usage, entries, &argc, &argv, &error)
                  && p2p (&o, argc > 1 ? argv[1] : NULL, &error);

  g_free (o.format_name);
  g_free (o.node);
  g_free (o.nic);
  g_strfreev (o.sets);
  g_strfreev (o.with);
  return is_done ? FAB_EXIT_DONE : fab_cli_fail ("p2p", error);
}

const FabCommand fab_command_p2p = {
  .name = "p2p",
  .summary = "Predict bandwidth and latency between every pair of GPUs",
  .run = run,
};
