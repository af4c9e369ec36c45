/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_collective.c - `fabricast collective`: the nccl-tests table, predicted. */
#include <string.h>

#include "cli/cli.h"
#include "models/models.h"
#include "sim/base/error.h"
#include "sim/base/json.h"
#include "validate/compare/predict.h"

enum { MAX_SIZES = 10000 };

typedef struct {
  char *format_name, *node, *op_name, *min_size, *max_size, *step_size, *nic, *fabric;
  char **sets;
  gint64 nodes, gpus_per_node;
  double factor;
  FabFormat format;
} CollectiveOptions;

static const FabUsage usage = {
  .arguments = "",
  .summary =
      "Predicts what nccl-tests would print on a machine of the catalogue: time, algbw, busbw and what really\n"
      "crosses the binding link, with the protocol that runs. Sizes mean what nccl-tests means by them. On one\n"
      "node a single process drives all GPUs (nccl-tests -g N), over several nodes each GPU has its own; for a\n"
      "launcher that differs: --set collectives.gpus_per_process=1.",
  .examples =
      "  fabricast collective --node dgx-a100 --op all_reduce -b 32K -e 16G -f 2\n"
      "  fabricast collective --node dgx-a100 --nodes 4 -b 1M -e 4G --format csv\n"
      "  fabricast collective --node dgx-h100 --nodes 2 --nic ib-hdr --set collectives.protocol=simple\n",
};

/* nccl-tests writes 32K, 8M, 16G for binary multiples; 32KiB and 1GB are what they say. */
static gboolean
parse_size (const char *option, const char *text, FabBytes *bytes, GError **error)
{
  gsize length = strlen (text);
  gint64 value;
  g_autofree char *spelt = NULL;
  g_autoptr (GError) cause = NULL;

  if (length > 1 && strchr ("KMGT", text[length - 1]))
    spelt = g_strconcat (text, "iB", NULL);
  else if (length > 0 && strspn (text, "0123456789") == length)
    spelt = g_strconcat (text, "B", NULL);
  if (!fab_units_parse_whole (FAB_UNIT_BYTES, spelt ? spelt : text, &value, &cause) || value < 1)
    return fab_throw (error, FAB_ERROR_INPUT, "%s %s: not a size; write for example 32K, 8MiB or 1GB", option,
                      text);
  *bytes = (FabBytes) value;
  return TRUE;
}

static GArray *
list_sizes (const CollectiveOptions *o, GError **error)
{
  g_autoptr (GArray) sizes = g_array_new (FALSE, FALSE, sizeof (FabBytes));
  FabBytes first, last, step = 0;

  if (!parse_size ("-b", o->min_size ? o->min_size : "32M", &first, error)
      || !parse_size ("-e",
                      o->max_size   ? o->max_size
                      : o->min_size ? o->min_size
                                    : "32M",
                      &last, error)
      || (o->step_size && !parse_size ("-i", o->step_size, &step, error)))
    return NULL;
  if (last < first || (step == 0 && !(o->factor > 1))) {
    fab_throw (error, FAB_ERROR_INPUT,
               last < first ? "-e must not be smaller than -b"
                            : "-f must be larger than 1; it multiplies the size");
    return NULL;
  }
  for (FabBytes size = first;;) {
    double next = step ? (double) size + (double) step : (double) size * o->factor;

    g_array_append_val (sizes, size);
    if (next > (double) last)
      break;
    if (sizes->len == MAX_SIZES) {
      fab_throw (error, FAB_ERROR_INPUT, "more than %d sizes from -b to -e; take a larger -f or -i",
                 MAX_SIZES);
      return NULL;
    }
    size = step ? size + step : MAX ((FabBytes) next, size + 1);
  }
  return g_steal_pointer (&sizes);
}

static gboolean
parse_op (const char *name, FabOp *op, GError **error)
{
  for (guint i = 0; i < FAB_N_OPS; i++)
    if (strcmp (fab_op_names[i], name) == 0) {
      *op = (FabOp) i;
      return TRUE;
    }
  g_autofree char *all = g_strjoinv (", ", (char **) fab_op_names);
  return fab_throw (error, FAB_ERROR_INPUT, "--op %s: unknown operation; there are %s", name, all);
}

static void
print_text (const CollectiveOptions *o, FabOp op, const GArray *rows)
{
  const FabPrediction *first = &g_array_index (rows, FabPrediction, 0);

  g_print ("# %s, %u ranks: %" G_GINT64_FORMAT " x %s; rates are one direction, GB/s = 1e9 bytes/s\n"
           "# wire: what crosses the binding link, protocol flags included\n"
           "#%13s %12s %8s %8s %8s  %-9s %-8s %8s  %s\n",
           fab_op_names[op], first->n_ranks, o->nodes, o->node, "size(B)", "time(us)", "algbw", "busbw",
           "wire", "algorithm", "protocol", "channels", "binding");
  for (guint i = 0; i < rows->len; i++) {
    const FabPrediction *row = &g_array_index (rows, FabPrediction, i);

    g_print ("%14" G_GUINT64_FORMAT " %12.2f %8.2f %8.2f %8.2f  %-9s %-8s %8u  %s\n", row->size_bytes,
             row->time_us, row->algbw_GBps, row->busbw_GBps, row->wire_GBps, row->algorithm, row->protocol,
             row->n_channels,
             row->bound == FAB_BOUND_LINK && row->binding ? row->binding : fab_bound_names[row->bound]);
  }
}

static void
print_csv (const GArray *rows)
{
  g_print ("size_bytes,time_us,algbw_GBps,busbw_GBps,wire_GBps,algorithm,protocol,channels,bound,binding\n");
  for (guint i = 0; i < rows->len; i++) {
    const FabPrediction *row = &g_array_index (rows, FabPrediction, i);

    g_print ("%" G_GUINT64_FORMAT ",%.6f,%.6f,%.6f,%.6f,%s,%s,%u,%s,%s\n", row->size_bytes, row->time_us,
             row->algbw_GBps, row->busbw_GBps, row->wire_GBps, row->algorithm, row->protocol, row->n_channels,
             fab_bound_names[row->bound], row->binding ? row->binding : "");
  }
}

static void
add_row (JsonBuilder *json, const FabPrediction *row)
{
  json_builder_begin_object (json);
  json_builder_set_member_name (json, "size_bytes");
  json_builder_add_int_value (json, (gint64) row->size_bytes);
  fab_json_add_real (json, "time_us", row->time_us);
  fab_json_add_real (json, "algbw_GBps", row->algbw_GBps);
  fab_json_add_real (json, "busbw_GBps", row->busbw_GBps);
  fab_json_add_real (json, "wire_GBps", row->wire_GBps);
  fab_json_add_text (json, "algorithm", row->algorithm);
  fab_json_add_text (json, "protocol", row->protocol);
  json_builder_set_member_name (json, "channels");
  json_builder_add_int_value (json, row->n_channels);
  fab_json_add_text (json, "bound", fab_bound_names[row->bound]);
  fab_json_add_text (json, "binding", row->binding);
  json_builder_end_object (json);
}

static void
print_json (const CollectiveOptions *o, FabOp op, const GArray *rows)
{
  g_autoptr (JsonBuilder) json = json_builder_new ();

  json_builder_begin_object (json);
  fab_json_add_text (json, "version", FAB_VERSION);
  fab_json_add_text (json, "node", o->node);
  fab_json_add_text (json, "op", fab_op_names[op]);
  json_builder_set_member_name (json, "ranks");
  json_builder_add_int_value (json, g_array_index (rows, FabPrediction, 0).n_ranks);
  json_builder_set_member_name (json, "results");
  json_builder_begin_array (json);
  for (guint i = 0; i < rows->len; i++)
    add_row (json, &g_array_index (rows, FabPrediction, i));
  json_builder_end_array (json);
  json_builder_end_object (json);
  g_autofree char *text = fab_json_finish (json);
  g_print ("%s", text);
}

static gboolean
chooses_process (const char *set)
{
  return g_str_has_prefix (set, "collectives=") || g_str_has_prefix (set, "collectives.kind=")
      || g_str_has_prefix (set, "collectives.gpus_per_process=");
}

/* What the user sets; before it, on one node, the single process with which nccl-tests -g N drives all GPUs. */
static char **
all_sets (const CollectiveOptions *o, const FabCatalog *catalog)
{
  GPtrArray *sets = g_ptr_array_new ();
  const FabNodeSpec *node = fab_catalog_node (catalog, o->node);
  gint64 gpus = o->gpus_per_node;
  gboolean is_chosen = o->nodes != 1 || node == NULL;

  for (guint i = 0; gpus == 0 && node && i < node->parts.n; i++)
    if (((const FabPartSpec *) node->parts.data + i)->kind == FAB_PART_ACCELERATOR)
      gpus += ((const FabPartSpec *) node->parts.data + i)->count;
  for (guint i = 0; o->sets && o->sets[i]; i++)
    is_chosen = is_chosen || chooses_process (o->sets[i]);
  if (!is_chosen && gpus > 0)
    g_ptr_array_add (sets,
                     g_strdup_printf ("collectives.gpus_per_process=%" G_GINT64_FORMAT, MIN (gpus, 64)));
  for (guint i = 0; o->sets && o->sets[i]; i++)
    g_ptr_array_add (sets, g_strdup (o->sets[i]));
  g_ptr_array_add (sets, NULL);
  return (char **) g_ptr_array_free (sets, FALSE);
}

static gboolean
collective (CollectiveOptions *o, GError **error)
{
  g_auto (GStrv) sets = NULL;
  g_autoptr (GArray) sizes = NULL;
  g_autoptr (GArray) rows = NULL;
  g_autoptr (FabCatalog) catalog = NULL;
  FabOp op = FAB_OP_ALL_REDUCE;

  if (!fab_cli_format (o->format_name, &o->format, error)
      || !parse_op (o->op_name ? o->op_name : "all_reduce", &op, error)
      || (sizes = list_sizes (o, error)) == NULL || (catalog = fab_cli_catalog (error)) == NULL)
    return FALSE;
  if (o->node == NULL)
    return fab_throw (error, FAB_ERROR_INPUT,
                      "--node NAME is missing; `fabricast describe nodes` lists them");
  sets = all_sets (o, catalog);
  FabPredictionRequest request = { o->node,
                                   o->nodes,
                                   o->gpus_per_node,
                                   o->nic,
                                   o->fabric,
                                   op,
                                   (const FabBytes *) (gpointer) sizes->data,
                                   sizes->len,
                                   (const char *const *) sets };
  rows = fab_predict_collective (&request, catalog, &fab_models, error);
  if (rows == NULL)
    return FALSE;
  if (o->format == FAB_FORMAT_TEXT)
    print_text (o, op, rows);
  else if (o->format == FAB_FORMAT_CSV)
    print_csv (rows);
  else
    print_json (o, op, rows);
  return TRUE;
}

static void
options_clear (CollectiveOptions *o)
{
  char *texts[] = { o->format_name, o->node,      o->op_name, o->min_size,
                    o->max_size,    o->step_size, o->nic,     o->fabric };

  for (guint i = 0; i < G_N_ELEMENTS (texts); i++)
    g_free (texts[i]);
  g_strfreev (o->sets);
}

static FabExit
run (int argc, char **argv)
{
  CollectiveOptions o = { .nodes = 1, .factor = 2 };
  const GOptionEntry entries[] = {
    { "node", 0, 0, G_OPTION_ARG_STRING, &o.node, "Node entry of the catalogue", "NAME" },
    { "nodes", 0, 0, G_OPTION_ARG_INT64, &o.nodes, "Number of nodes (default 1)", "N" },
    { "gpus-per-node", 'g', 0, G_OPTION_ARG_INT64, &o.gpus_per_node, "GPUs used in each node (default: all)",
      "N" },
    { "nic", 0, 0, G_OPTION_ARG_STRING, &o.nic, "Link entry of the NIC ports (default: the node's own)",
      "LINK" },
    { "fabric", 0, 0, G_OPTION_ARG_STRING, &o.fabric, "How NICs are joined (default: switch)", "NAME" },
    { "op", 'o', 0, G_OPTION_ARG_STRING, &o.op_name,
      "all_reduce (default), all_gather, reduce_scatter, broadcast, reduce", "OP" },
    { "minbytes", 'b', 0, G_OPTION_ARG_STRING, &o.min_size, "Smallest size (default 32M)", "SIZE" },
    { "maxbytes", 'e', 0, G_OPTION_ARG_STRING, &o.max_size, "Largest size (default: the smallest)", "SIZE" },
    { "stepfactor", 'f', 0, G_OPTION_ARG_DOUBLE, &o.factor, "Factor between sizes (default 2)", "FACTOR" },
    { "stepbytes", 'i', 0, G_OPTION_ARG_STRING, &o.step_size, "Step between sizes, instead of a factor",
      "SIZE" },
    { "set", 0, 0, G_OPTION_ARG_STRING_ARRAY, &o.sets, "Override a key of the scenario behind it; repeatable",
      "KEY=VALUE" },
    { "format", 0, 0, G_OPTION_ARG_STRING, &o.format_name, "text (default), json or csv", "FORMAT" },
    G_OPTION_ENTRY_NULL
  };
  g_autoptr (GError) error = NULL;
  gboolean is_done = fab_cli_parse (&usage, entries, &argc, &argv, &error) && collective (&o, &error);

  options_clear (&o);
  return is_done ? FAB_EXIT_DONE : fab_cli_fail ("collective", error);
}

const FabCommand fab_command_collective = {
  .name = "collective",
  .summary = "Predict the nccl-tests table of a machine, and what binds",
  .run = run,
};
