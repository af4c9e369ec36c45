/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_p2p.c - `fabricast p2p`: the matrices of p2pBandwidthLatencyTest, predicted. */
#include "answer/p2p.h"
#include "cli/cli.h"
#include "cli/files.h"
#include "cli/terminal/terminal.h"
#include "cli/testbed.h"
#include "sim/base/error.h"
#include "sim/base/json.h"
#include "sim/base/version.h"

typedef struct {
  char *format_name, *node, *nic;
  char **sets, **with;
  gint64 nodes, gpus_per_node;
  gboolean with_storage, has_no_band;
  FabFormat format;
} P2pOptions;

/* How a matrix is called: as p2pBandwidthLatencyTest writes it, and for programs. */
typedef struct {
  const char *title, *key, *corner;
} Label;

static const Label labels[FAB_P2P_N_MATRICES] = {
  { "Unidirectional P2P=Disabled Bandwidth Matrix (GB/s)", "one_way_disabled_GBps", "D\\D" },
  { "Unidirectional P2P=Enabled Bandwidth (P2P Writes) Matrix (GB/s)", "one_way_enabled_GBps", "D\\D" },
  { "Bidirectional P2P=Disabled Bandwidth Matrix (GB/s)", "both_ways_disabled_GBps", "D\\D" },
  { "Bidirectional P2P=Enabled Bandwidth Matrix (GB/s)", "both_ways_enabled_GBps", "D\\D" },
  { "P2P=Disabled Latency Matrix (us)", "latency_disabled_us", "GPU" },
  { "P2P=Enabled Latency (P2P Writes) Matrix (us)", "latency_enabled_us", "GPU" },
};

static const Label of_storage = { "Storage to GPU Bandwidth Matrix (GB/s), by drive", "storage_GBps", "drv" };

typedef struct {
  const char *node;
  guint n_nodes;
  const FabP2pAnswer *answer;
} P2pView;

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
print_matrix (const Label *label, const FabP2pMatrix *matrix)
{
  g_autoptr (GString) page = g_string_new (NULL);

  g_string_append_printf (page, "%s\n   %s", label->title, label->corner);
  for (guint j = 0; j < matrix->n_columns; j++)
    g_string_append_printf (page, "\v%6u ", j);
  g_string_append_printf (page, "\n");
  for (guint i = 0; i < matrix->n_rows; i++) {
    g_string_append_printf (page, "%6u ", i);
    for (guint j = 0; j < matrix->n_columns; j++)
      g_string_append_printf (page, "\v%6.02f ", matrix->values[i * matrix->n_columns + j]);
    g_string_append_printf (page, "\n");
  }
  fab_terminal_print_page (page->str);
}

/* The value of a matrix whose band is widest. */
static void
print_band (const Label *label, const FabP2pMatrix *matrix)
{
  if (matrix->widest >= 0)
    g_print ("# %s: widest 95 %% band: %.3g to %.3g where %.3g is shown, most by %s\n", label->key,
             matrix->low[matrix->widest], matrix->high[matrix->widest], matrix->values[matrix->widest],
             matrix->most);
}

static void
print_notes (const FabP2pAnswer *answer)
{
  for (guint i = 0; i < FAB_P2P_N_MATRICES; i++)
    print_band (&labels[i], &answer->matrices[i]);
  if (answer->n_outside > 0)
    g_print ("# %u of %u pairs: the size of the copy or write lies outside the measured sizes\n",
             answer->n_outside, answer->table->n * answer->table->n);
}

static void
print_text (const P2pView *view)
{
  const FabP2pAnswer *answer = view->answer;

  g_print ("# predicted: %u x %s", view->n_nodes, view->node);
  if (view->n_nodes > 1)
    g_print ("; GPU %u is the first of node 1", answer->table->gpus_per_node);
  g_print ("\n");
  print_connectivity (answer->table);
  for (guint i = 0; i < FAB_P2P_N_MATRICES; i++) {
    g_print (i >= 4 ? "\n" : "");
    print_matrix (&labels[i], &answer->matrices[i]);
  }
  if (answer->storage.n_rows > 0) {
    g_print ("\n");
    print_matrix (&of_storage, &answer->storage);
  }
  print_notes (answer);
}

static void
print_csv_matrix (const Label *label, const FabP2pMatrix *matrix)
{
  for (guint i = 0; i < matrix->n_rows * matrix->n_columns; i++) {
    g_print ("%s,%u,%u,%.6f", label->key, i / matrix->n_columns, i % matrix->n_columns, matrix->values[i]);
    if (matrix->low != NULL)
      g_print (",%.6f,%.6f", matrix->low[i], matrix->high[i]);
    g_print ("\n");
  }
}

static void
print_csv (const P2pView *view)
{
  const FabP2pAnswer *answer = view->answer;
  const FabP2pTable *t = answer->table;
  const char *no_ends = answer->band != NULL ? ",," : "";

  g_print ("matrix,from,to,value%s\n", answer->band != NULL ? ",low,high" : "");
  for (guint i = 0; i < t->n * t->n; i++)
    g_print ("peer,%u,%u,%d%s\n", i / t->n, i % t->n, t->is_peer[i], no_ends);
  for (guint i = 0; t->has_sizes && i < t->n * t->n; i++)
    g_print ("outside_measured,%u,%u,%d%s\n", i / t->n, i % t->n, t->is_outside[i], no_ends);
  for (guint i = 0; i < FAB_P2P_N_MATRICES; i++)
    print_csv_matrix (&labels[i], &answer->matrices[i]);
  print_csv_matrix (&of_storage, &answer->storage);
}

static void
add_values (FabJson *json, const char *key, const char *suffix, const FabP2pMatrix *matrix,
            const double *values)
{
  g_autofree char *name = g_strconcat (key, suffix, NULL);

  fab_json_begin_array (json, name);
  for (guint i = 0; i < matrix->n_rows; i++) {
    fab_json_begin_array (json, NULL);
    for (guint j = 0; j < matrix->n_columns; j++)
      fab_json_add_real (json, NULL, values[i * matrix->n_columns + j]);
    fab_json_end (json);
  }
  fab_json_end (json);
}

static void
add_matrix (FabJson *json, const Label *label, const FabP2pMatrix *matrix)
{
  add_values (json, label->key, "", matrix, matrix->values);
  if (matrix->low == NULL)
    return;
  add_values (json, label->key, "_low", matrix, matrix->low);
  add_values (json, label->key, "_high", matrix, matrix->high);
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
print_json (const P2pView *view)
{
  const FabP2pAnswer *answer = view->answer;
  const FabP2pTable *t = answer->table;
  g_autoptr (FabJson) json = fab_json_new (FAB_JSON_PAGE);

  fab_json_begin_object (json, NULL);
  fab_json_add_text (json, "version", fab_version ());
  fab_json_add_text (json, "node", view->node);
  fab_json_add_whole (json, "nodes", view->n_nodes);
  fab_json_add_whole (json, "gpus_per_node", t->gpus_per_node);
  add_flags (json, "is_peer", t->is_peer, t->n);
  if (t->has_sizes)
    add_flags (json, "is_outside_measured", t->is_outside, t->n);
  for (guint i = 0; i < FAB_P2P_N_MATRICES; i++)
    add_matrix (json, &labels[i], &answer->matrices[i]);
  if (answer->storage.n_rows > 0)
    add_matrix (json, &of_storage, &answer->storage);
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

static gboolean
p2p (P2pOptions *o, const char *path, GError **error)
{
  typedef void (*PrintFn) (const P2pView *view);
  static const PrintFn printers[] = {
    [FAB_FORMAT_TEXT] = print_text, [FAB_FORMAT_JSON] = print_json, [FAB_FORMAT_CSV] = print_csv
  };
  g_autoptr (FabCatalog) catalog = NULL;
  g_autoptr (FabTestbed) machine = NULL;
  g_autoptr (FabEdits) edits = edits_of (o, error);

  if (edits == NULL)
    return FALSE;
  FabTestbedRequest request = {
    .node = o->node, .nodes = o->nodes, .gpus_per_node = o->gpus_per_node, .edits = edits
  };
  if (!fab_cli_format (o->format_name, &o->format, error) || (catalog = fab_cli_catalog (error)) == NULL
      || (machine = fab_cli_testbed (&request, path, catalog, error)) == NULL)
    return FALSE;
  const FabCluster *cluster = &machine->plant->cluster;
  const char *node = fab_scenario_spec (machine->scenario)->cluster.node;
  if (o->with_storage && cluster->drives_per_node == 0)
    return fab_throw (error, FAB_ERROR_INPUT, "--storage: node '%s' has no drives", node);
  g_autoptr (FabP2pAnswer) answer = fab_p2p_answer (machine->scenario, machine->plant, o->with_storage,
                                                    !o->has_no_band, error);
  if (answer == NULL)
    return FALSE;
  printers[o->format](&(P2pView){ node, cluster->n_nodes, answer });
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
    FAB_FORMAT_ENTRY (&o.format_name),
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
