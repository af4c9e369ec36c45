/* SPDX-License-Identifier: Apache-2.0 */
/* collective.c - `fabricast collective`: the nccl-tests table, predicted, or held against a measured one. */
#include "cli/run/collective.h"

#include <string.h>

#include "cli/files.h"
#include "models/models.h"
#include "sim/base/error.h"

static const FabUsage usage = {
  .arguments = "[SCENARIO]",
  .summary =
      "Predicts the output of nccl-tests on a machine of the catalogue, or on that of a scenario: time, algbw,\n"
      "busbw, and the rate on the binding link, with the algorithm and protocol that run. Options and sizes mean\n"
      "the same as in nccl-tests.\n\n"
      "A prediction is one operation on an idle machine in its steady state, so -n, -w and -c are printed and\n"
      "have no effect. On one node, a single thread drives all GPUs (nccl-tests -g N). Over several nodes, and\n"
      "in a rack of trays, each GPU has its own process; -t, or -g with --gpus-per-node, changes that.\n\n"
      "--check compares a measured output (all_reduce_perf ... | tee FILE, or its -J FILE) with the\n"
      "prediction, and exits with 1 when the machine is slower.\n\n"
      "Times have a band of 90 %, from the errors of predictions of measured collectives of the same kind. The\n"
      "band is one of 95 % where a link states the error of its numbers (`uncertainty`).",
  .examples =
      "  fabricast collective --node dgx-a100 --op all_reduce -b 32K -e 16G -f 2\n"
      "  fabricast collective --node dgx-a100 --nodes 4 -b 1M -e 4G --format csv\n"
      "  fabricast collective --node dgx-h100 --nodes 2 --nic ib-hdr --protocol simple\n"
      "  fabricast collective --node dgx-a100 -b 8 -e 1G -f 4 -x NCCL_ALGO=Ring -x NCCL_PROTO=Simple -J ring.json\n"
      "  fabricast collective --node dgx-a100 --check ring.json\n"
      "  fabricast collective --node host --nodes 4 --library mpi -b 64K -e 4M -f 4\n"
      "  fabricast collective scenarios/own-node.yaml -b 1M -e 1G -f 32\n",
  .max_rest = 1,
};

/* The machine of a scenario, in place of --node. */
static FabScenario *
take_scenario (CollectiveOptions *o, const char *path, const FabCatalog *catalog, GError **error)
{
  FabScenario *scenario;

  if (o->node != NULL) {
    if (g_strv_contains (fab_op_names, path))
      fab_throw (error, FAB_ERROR_INPUT, "%s is an operation: give it as --op %s", path, path);
    else
      fab_throw (error, FAB_ERROR_INPUT, "give either --node NAME or a SCENARIO, not both");
    return NULL;
  }
  scenario = fab_cli_scenario (path, NULL, catalog, error);
  if (scenario == NULL)
    return NULL;
  const FabClusterSpec *cluster = &fab_scenario_spec (scenario)->cluster;
  o->node = g_strdup (cluster->node);
  o->nodes = o->nodes != 0 ? o->nodes : cluster->nodes;
  if (o->gpus_per_node == 0 && o->gpus_per_thread == 0)
    o->gpus_per_node = cluster->gpus_per_node;
  return scenario;
}

static gboolean
collective (CollectiveOptions *o, const char *path, gboolean *is_met, GError **error)
{
  g_autoptr (FabCatalog) catalog = fab_cli_catalog (error);
  g_autoptr (FabScenario) scenario = catalog && path ? take_scenario (o, path, catalog, error) : NULL;
  g_autoptr (CollectiveRequest) request = NULL;
  g_autoptr (GArray) rows = NULL;
  g_autoptr (GError) cause = NULL;

  if (catalog == NULL || (path != NULL && scenario == NULL))
    return FALSE;
  o->base = scenario;
  request = collective_request_new (o, scenario ? fab_scenario_catalog (scenario) : catalog, error);
  if (request == NULL)
    return FALSE;
  FabPredictionRequest asked = { .base = scenario,
                                 .node = o->node,
                                 .nodes = request->nodes,
                                 .gpus_per_node = request->gpus_per_node,
                                 .nic = o->nic,
                                 .fabric = o->fabric,
                                 .op = request->op,
                                 .sizes_bytes = (const FabBytes *) (gpointer) request->sizes->data,
                                 .n_sizes = request->sizes->len,
                                 .edits = request->edits,
                                 .form = request->form,
                                 .has_band = !o->has_no_band && request->file == NULL };
  rows = fab_predict_collective (&asked, catalog, &fab_models, error);
  if (rows == NULL || (o->json_path && !collective_write_json (request, rows, error)))
    return FALSE;
  if (request->file == NULL) {
    collective_print (request, rows);
    return TRUE;
  }
  *is_met = collective_check (request, rows, &cause);
  if (cause == NULL)
    return TRUE;
  g_propagate_error (error, g_steal_pointer (&cause));
  return FALSE;
}

#define TEXT(name, letter, member, help, value)                  \
  {                                                              \
    name, letter, 0, G_OPTION_ARG_STRING, &o.member, help, value \
  }
#define COUNT(name, letter, member, help)                     \
  {                                                           \
    name, letter, 0, G_OPTION_ARG_INT64, &o.member, help, "N" \
  }

static FabExit
run (int argc, char **argv)
{
  CollectiveOptions o = { .factor = COLLECTIVE_NO_FACTOR, .iterations = 20, .warmup = 1, .check = 1 };
  const GOptionEntry entries[] = {
    TEXT ("node", 0, node, "Node entry of the catalogue", "NAME"),
    COUNT ("nodes", 0, nodes, "Number of nodes (default 1)"),
    COUNT ("gpus-per-node", 0, gpus_per_node, "GPUs used in each node (default: all)"),
    COUNT ("ngpus", 'g', gpus_per_thread, "GPUs of one thread; without --gpus-per-node, GPUs of the node"),
    COUNT ("nthreads", 't', threads, "Threads in each node that share its GPUs (default 1)"),
    TEXT ("nic", 0, nic, "Link entry of NIC and switch ports (default: the node's own)", "LINK"),
    { "with", 0, 0, G_OPTION_ARG_FILENAME_ARRAY, &o.with,
      "Use the entries of this file too, as `fabricast calibrate` writes them; repeatable", "FILE" },
    TEXT ("fabric", 0, fabric, "Fabric between the NICs (default: the node's own)", "NAME"),
    TEXT (
        "op", 'o', op_name,
        "all_reduce (default), all_gather, reduce_scatter, broadcast, reduce, alltoall, sendrecv, gather, scatter",
        "OP"),
    TEXT ("datatype", 'd', type_name,
          "float (default), half, bfloat16, double, int8, ...; sizes are whole elements", "TYPE"),
    TEXT ("minbytes", 'b', min_size, "Smallest size (default 32M)", "SIZE"),
    TEXT ("maxbytes", 'e', max_size, "Largest size (default: the smallest)", "SIZE"),
    { "stepfactor", 'f', 0, G_OPTION_ARG_DOUBLE, &o.factor, "Factor between sizes (default 2)", "FACTOR" },
    TEXT ("stepbytes", 'i', step_size, "Step between sizes, instead of a factor", "SIZE"),
    COUNT ("iters", 'n', iterations, "Shown only: a prediction has no noise to average"),
    COUNT ("warmup_iters", 'w', warmup, "Shown only: a prediction is warm"),
    COUNT ("check-data", 'c', check, "Shown only: nothing is sent that could be wrong"),
    TEXT ("library", 0, library, "Library that runs the collective: nccl (default), mpi, plain", "NAME"),
    TEXT ("algorithm", 0, algorithm, "Use only this algorithm (default: the tuner's choice)", "NAME"),
    TEXT ("protocol", 0, protocol, "Use only this protocol: ll, ll128, simple", "NAME"),
    { "env", 'x', 0, G_OPTION_ARG_STRING_ARRAY, &o.environment,
      "Environment variable, as with mpirun -x: NCCL_ALGO=Ring; repeatable", "NCCL_NAME=VALUE" },
    { "set", 0, 0, G_OPTION_ARG_STRING_ARRAY, &o.sets, "Override a key of the scenario behind it; repeatable",
      "KEY=VALUE" },
    TEXT ("form", 0, form_name,
          "stream (default): simulated on the network; closed: formula for an idle network; step: message "
          "by message",
          "FORM"),
    { "no-band", 0, 0, G_OPTION_ARG_NONE, &o.has_no_band, "Print no bands of the times", NULL },
    TEXT ("check", 0, check_path,
          "Compare with an output of nccl-tests, or its -J file; - reads standard input", "FILE"),
    TEXT ("tolerance", 0, tolerance,
          "Largest shortfall from the prediction of a healthy machine (default "
          "20%)",
          "PERCENT"),
    TEXT ("check-from", 0, check_from, "Print sizes below this without judging them (default 64M)", "SIZE"),
    TEXT ("json", 'J', json_path, "Also write a file as nccl-tests -J does", "FILE"),
    TEXT ("format", 0, format_name, "text (default), json or csv", "FORMAT"),
    G_OPTION_ENTRY_NULL
  };
  g_autoptr (GError) error = NULL;
  gboolean is_met = TRUE;
  gboolean is_done = fab_cli_parse (&usage, entries, &argc, &argv, &error)
                  && collective (&o, argc > 1 ? argv[1] : NULL, &is_met, &error);

  collective_options_clear (&o);
  if (!is_done)
    return fab_cli_fail ("collective", error);
  return is_met ? FAB_EXIT_DONE : FAB_EXIT_UNMET;
}

const FabCommand fab_command_collective = {
  .name = "collective",
  .summary = "Predict the nccl-tests table of a machine",
  .run = run,
};
