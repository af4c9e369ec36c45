/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_p2p.c - `fabricast p2p`: the matrices of p2pBandwidthLatencyTest, predicted. */
#include "cli/cli.h"
#include "cli/hall.h"
#include "sim/base/error.h"
#include "sim/base/json.h"
#include "validate/compare/p2p.h"

typedef struct {
  char *format_name, *node;
  char **sets;
  gint64 nodes, gpus_per_node;
  gboolean with_storage;
  FabFormat format;
} P2pOptions;

typedef struct {
  const char *node;
  const FabCluster *cluster;
  const FabP2pTable *table;
  const double *storage; /* NULL: not asked for */
} P2pAnswer;

/* One matrix of a table. */
typedef struct {
  const char *title; /* as p2pBandwidthLatencyTest writes it */
  const char *key;
  const double *values;
  const char *corner;
} Matrix;

enum { N_MATRICES = 3 * FAB_N_P2P_MODES };

static const FabUsage usage = {
  .arguments = "[SCENARIO]",
  .max_rest = 1,
  .summary =
      "Predicts what p2pBandwidthLatencyTest of the CUDA samples would print: for every pair of GPUs, whether one\n"
      "reads the other's memory, the bandwidth of a copy with and without that, one way and both ways in sum,\n"
      "and the latency of a small write. Over several nodes, copies go by RDMA through the nearest NICs.",
  .examples = "  fabricast p2p --node dgx-a100\n"
              "  fabricast p2p --node dgx-h100 --nodes 2 -g 2 --format csv\n"
              "  fabricast p2p --node dgx-a100 --set cluster.p2p=none\n",
};

static void
list_matrices (const FabP2pTable *t, Matrix matrices[N_MATRICES])
{
  const Matrix all[N_MATRICES] = {
    { "Unidirectional P2P=Disabled Bandwidth Matrix (GB/s)", "one_way_disabled_GBps",
      t->one_way_GBps[FAB_P2P_DISABLED], "D\\D" },
    { "Unidirectional P2P=Enabled Bandwidth (P2P Writes) Matrix (GB/s)", "one_way_enabled_GBps",
      t->one_way_GBps[FAB_P2P_ENABLED], "D\\D" },
    { "Bidirectional P2P=Disabled Bandwidth Matrix (GB/s)", "both_ways_disabled_GBps",
      t->both_ways_GBps[FAB_P2P_DISABLED], "D\\D" },
    { "Bidirectional P2P=Enabled Bandwidth Matrix (GB/s)", "both_ways_enabled_GBps",
      t->both_ways_GBps[FAB_P2P_ENABLED], "D\\D" },
    { "P2P=Disabled Latency Matrix (us)", "latency_disabled_us", t->latency_us[FAB_P2P_DISABLED], "GPU" },
    { "P2P=Enabled Latency (P2P Writes) Matrix (us)", "latency_enabled_us", t->latency_us[FAB_P2P_ENABLED],
      "GPU" },
  };

  for (guint i = 0; i < N_MATRICES; i++)
    matrices[i] = all[i];
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
  g_print ("%s\n   %s", matrix->title, matrix->corner);
  for (guint j = 0; j < n_columns; j++)
    g_print ("%6u ", j);
  g_print ("\n");
  for (guint i = 0; i < n_rows; i++) {
    g_print ("%6u ", i);
    for (guint j = 0; j < n_columns; j++)
      g_print ("%6.02f ", matrix->values[i * n_columns + j]);
    g_print ("\n");
  }
}

static void
print_text (const P2pAnswer *answer)
{
  const FabP2pTable *t = answer->table;
  Matrix matrices[N_MATRICES];

  list_matrices (t, matrices);
  g_print ("# predicted: %u x %s", answer->cluster->n_nodes, answer->node);
  if (answer->cluster->n_nodes > 1)
    g_print ("; GPU %u is the first of node 1", t->gpus_per_node);
  g_print ("\n");
  print_connectivity (t);
  for (guint i = 0; i < N_MATRICES; i++) {
    g_print (i >= 4 ? "\n" : "");
    print_matrix (&matrices[i], t->n, t->n);
  }
  if (answer->storage != NULL) {
    g_print ("\n");
    print_matrix (&(Matrix){ "Storage to GPU Bandwidth Matrix (GB/s), by drive", "storage_GBps",
                             answer->storage, "drv" },
                  answer->cluster->drives_per_node, t->gpus_per_node);
  }
}

static void
print_csv_matrix (const Matrix *matrix, guint n_rows, guint n_columns)
{
  for (guint i = 0; i < n_rows; i++)
    for (guint j = 0; j < n_columns; j++)
      g_print ("%s,%u,%u,%.6f\n", matrix->key, i, j, matrix->values[i * n_columns + j]);
}

static void
print_csv (const P2pAnswer *answer)
{
  const FabP2pTable *t = answer->table;
  Matrix matrices[N_MATRICES];

  list_matrices (t, matrices);
  g_print ("matrix,from,to,value\n");
  for (guint i = 0; i < t->n * t->n; i++)
    g_print ("peer,%u,%u,%d\n", i / t->n, i % t->n, t->is_peer[i]);
  for (guint i = 0; i < N_MATRICES; i++)
    print_csv_matrix (&matrices[i], t->n, t->n);
  if (answer->storage != NULL)
    print_csv_matrix (&(Matrix){ NULL, "storage_GBps", answer->storage, NULL },
                      answer->cluster->drives_per_node, t->gpus_per_node);
}

static void
add_matrix (JsonBuilder *json, const Matrix *matrix, guint n_rows, guint n_columns)
{
  json_builder_set_member_name (json, matrix->key);
  json_builder_begin_array (json);
  for (guint i = 0; i < n_rows; i++) {
    json_builder_begin_array (json);
    for (guint j = 0; j < n_columns; j++)
      json_builder_add_double_value (json, matrix->values[i * n_columns + j]);
    json_builder_end_array (json);
  }
  json_builder_end_array (json);
}

static void
add_peers (JsonBuilder *json, const FabP2pTable *t)
{
  json_builder_set_member_name (json, "is_peer");
  json_builder_begin_array (json);
  for (guint i = 0; i < t->n; i++) {
    json_builder_begin_array (json);
    for (guint j = 0; j < t->n; j++)
      json_builder_add_boolean_value (json, t->is_peer[i * t->n + j]);
    json_builder_end_array (json);
  }
  json_builder_end_array (json);
}

static void
print_json (const P2pAnswer *answer)
{
  const FabP2pTable *t = answer->table;
  g_autoptr (JsonBuilder) json = json_builder_new ();
  Matrix matrices[N_MATRICES];

  list_matrices (t, matrices);
  json_builder_begin_object (json);
  fab_json_add_text (json, "version", FAB_VERSION);
  fab_json_add_text (json, "node", answer->node);
  fab_json_add_whole (json, "nodes", answer->cluster->n_nodes);
  fab_json_add_whole (json, "gpus_per_node", t->gpus_per_node);
  add_peers (json, t);
  for (guint i = 0; i < N_MATRICES; i++)
    add_matrix (json, &matrices[i], t->n, t->n);
  if (answer->storage != NULL)
    add_matrix (json, &(Matrix){ NULL, "storage_GBps", answer->storage, NULL },
                answer->cluster->drives_per_node, t->gpus_per_node);
  json_builder_end_object (json);
  g_autofree char *text = fab_json_finish (json);
  g_print ("%s", text);
}

static gboolean
p2p (P2pOptions *o, const char *path, GError **error)
{
  g_autoptr (FabCatalog) catalog = NULL;
  g_autoptr (FabHall) machine = NULL;
  g_autoptr (FabP2pTable) table = NULL;
  g_autofree double *storage = NULL;
  FabHallRequest request = { o->node, o->nodes, o->gpus_per_node, (const char *const *) o->sets };

  if (!fab_cli_format (o->format_name, &o->format, error) || (catalog = fab_cli_catalog (error)) == NULL
      || (machine = fab_cli_hall (&request, path, catalog, error)) == NULL
      || (table = fab_p2p_new (&machine->plant->cluster, error)) == NULL)
    return FALSE;
  const FabCluster *cluster = &machine->plant->cluster;
  const char *node = fab_scenario_spec (machine->scenario)->cluster.node;
  if (o->with_storage && cluster->drives_per_node == 0)
    return fab_throw (error, FAB_ERROR_INPUT, "--storage: node '%s' has no drives", node);
  if (o->with_storage && (storage = fab_p2p_storage (cluster, error)) == NULL)
    return FALSE;
  P2pAnswer answer = { node, cluster, table, storage };
  if (o->format == FAB_FORMAT_TEXT)
    print_text (&answer);
  else if (o->format == FAB_FORMAT_CSV)
    print_csv (&answer);
  else
    print_json (&answer);
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
    { "storage", 0, 0, G_OPTION_ARG_NONE, &o.with_storage, "Also from every drive of a node to its GPUs",
      NULL },
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
  g_strfreev (o.sets);
  return is_done ? FAB_EXIT_DONE : fab_cli_fail ("p2p", error);
}

const FabCommand fab_command_p2p = {
  .name = "p2p",
  .summary = "Predict bandwidth and latency between every pair of GPUs",
  .run = run,
};
