/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_import.c - `fabricast import FILE...`: what a machine prints about itself becomes a scenario, a model's
 * config.json a part of one, and what benchmarks print measurements. */
#include <stdio.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/files.h"
#include "cli/import.h"
#include "models/models.h"
#include "sim/base/error.h"
#include "sim/scenario/simulation.h"
#include "validate/import/import.h"

static const FabUsage usage = {
  .arguments = "FILE...",
  .summary =
      "Makes a scenario of what a machine prints about itself; FILE - is standard input. The format is found out:\n"
      "  nvidia-smi     nvidia-smi topo -m\n"
      "  nccl-xml       the file that NCCL_TOPO_DUMP_FILE names (NCCL, RCCL)\n"
      "  rocm-smi       rocm-smi --showtopo\n"
      "  hwloc          lstopo --of xml\n"
      "  ibnetdiscover  a network and its hosts\n"
      "  huggingface    config.json of a model; becomes an entry of `models`, for `include` of a scenario\n"
      "Comments on top say what was read and what had to be inferred.\n"
      "What benchmarks printed, one file or several, becomes measurements for `fabricast calibrate`; without -o they\n"
      "are printed:\n"
      "  perftest, perftest-json       ib_write_bw, ib_read_lat, ib_send_bw, ...; --out_json\n"
      "  nvbandwidth, nvbandwidth-json\n"
      "  p2pBandwidthLatencyTest       of the CUDA samples\n"
      "  nccl-tests                    of NCCL and RCCL, text or -J\n"
      "  osu                           osu_latency, osu_bw, osu_bibw, osu_allreduce, ...\n"
      "  fabtests                      fi_pingpong, fi_rdm_tagged_bw, ...\n"
      "  csv                           size_bytes with time_us or rate_GBps",
  .examples = "  fabricast import docs/examples/topo-a100.txt\n"
              "  fabricast import docs/examples/topo-a100.txt --accelerator a100-sxm4-40gb -o my-node.yaml\n"
              "  fabricast import - --nodes 4 --nic ib-hdr < docs/examples/topo-a100.txt\n"
              "  fabricast import docs/examples/config.json --name my-model -o my-model.yaml\n"
              "  fabricast import docs/examples/ib_write_bw.txt --system \"two nodes, HDR\" -o lab.meas\n",
  .min_rest = 1,
  .max_rest = 1000,
};

/* What cannot be simulated is not handed out. */
static gboolean
check_scenario (const char *text, const FabCatalog *catalog, GError **error)
{
  g_autoptr (FabScenario) scenario = fab_scenario_parse ("imported", text, strlen (text), NULL, &fab_models,
                                                         catalog, error);
  g_autoptr (FabSimulation) simulation = scenario ? fab_simulation_new (scenario, &fab_models, NULL, error)
                                                  : NULL;

  return simulation != NULL;
}

static gboolean
import_machine (const ImportOptions *o, const char *path, const char *text, gsize size, GError **error)
{
  g_autoptr (FabCatalog) catalog = fab_cli_catalog (error);
  g_autofree char *scenario = NULL;
  FabImportRequest request = { .file = strcmp (path, "-") == 0 ? "standard input" : path,
                               .text = text,
                               .size = size,
                               .format = o->format,
                               .accelerator = o->accelerator,
                               .nic = o->nic,
                               .name = o->name,
                               .n_nodes = (guint) CLAMP (o->n_nodes, 0, G_MAXUINT) };
  const char *option = o->system                     ? "--system"
                     : o->source                     ? "--source"
                     : o->size                       ? "--size"
                     : o->n_ranks != IMPORT_NOT_SAID ? "--ranks"
                     : o->print_format               ? "--format"
                                                     : NULL;
  gboolean is_fragment = FALSE;

  if (o->n_nodes < 1 && o->n_nodes != IMPORT_NOT_SAID)
    return fab_throw (error, FAB_ERROR_INPUT, "--nodes: at least 1");
  if (catalog == NULL)
    return FALSE;
  scenario = fab_import (&request, catalog, &is_fragment, error);
  if (scenario == NULL)
    return FALSE;
  if (option != NULL)
    return fab_throw (error, FAB_ERROR_INPUT, "%s is for measurements, and %s holds none", option,
                      request.file);
  if (!is_fragment && !check_scenario (scenario, catalog, error))
    return FALSE;
  if (o->out)
    return fab_cli_write_file (o->out, scenario, error);
  g_print ("%s", scenario);
  return TRUE;
}

static gboolean
import_files (const ImportOptions *o, char **paths, GError **error)
{
  g_autofree char *text = NULL;
  gsize size;

  if (!fab_cli_check_out (o->out, paths, error)
      || !fab_cli_read_file (paths[0], FAB_IMPORT_MAX_BYTES, &text, &size, error))
    return FALSE;
  if (import_is_measured (o, text))
    return import_measurements (o, paths, text, size, error);
  if (paths[1] != NULL)
    return fab_throw (error, FAB_ERROR_INPUT,
                      "one file is imported at a time, but for measurements, and %s holds none", paths[0]);
  return import_machine (o, paths[0], text, size, error);
}

static void
options_clear (ImportOptions *o)
{
  g_free (o->format);
  g_free (o->out);
  g_free (o->accelerator);
  g_free (o->nic);
  g_free (o->name);
  g_free (o->system);
  g_free (o->source);
  g_free (o->size);
  g_free (o->print_format);
}

static FabExit
run (int argc, char **argv)
{
  ImportOptions o = { .n_nodes = IMPORT_NOT_SAID, .n_ranks = IMPORT_NOT_SAID };
  const GOptionEntry entries[] = {
    { "from", 0, 0, G_OPTION_ARG_STRING, &o.format, "The format, when it is not to be found out", "FORMAT" },
    { "out", 'o', 0, G_OPTION_ARG_FILENAME, &o.out,
      "Write the scenario or the measurements here (default: standard output)", "FILE" },
    { "accelerator", 0, 0, G_OPTION_ARG_STRING, &o.accelerator,
      "Accelerator entry, when the text does not name it", "NAME" },
    { "nic", 0, 0, G_OPTION_ARG_STRING, &o.nic, "Link entry of the NIC ports, when the text does not say it",
      "LINK" },
    { "name", 0, 0, G_OPTION_ARG_STRING, &o.name, "Name of the scenario or the model (default: imported)",
      "NAME" },
    { "nodes", 0, 0, G_OPTION_ARG_INT64, &o.n_nodes,
      "How many such machines (default: 1, or as the text says)", "N" },
    { "system", 0, 0, G_OPTION_ARG_STRING, &o.system,
      "Measurements: the machine in words (default: what the text says)", "TEXT" },
    { "source", 0, 0, G_OPTION_ARG_STRING, &o.source, "Measurements: where they are from (default: the file)",
      "TEXT" },
    { "size", 0, 0, G_OPTION_ARG_STRING, &o.size,
      "Measurements: of a message, where the tool does not print it", "BYTES" },
    { "ranks", 0, 0, G_OPTION_ARG_INT64, &o.n_ranks,
      "Measurements: ranks of a collective, where the text does not say it", "N" },
    { "format", 0, 0, G_OPTION_ARG_STRING, &o.print_format,
      "Measurements without -o: text (default), json or csv", "FORMAT" },
    G_OPTION_ENTRY_NULL
  };
  g_autoptr (GError) error = NULL;
  gboolean is_done = fab_cli_parse (&usage, entries, &argc, &argv, &error)
                  && import_files (&o, argv + 1, &error);

  options_clear (&o);
  return is_done ? FAB_EXIT_DONE : fab_cli_fail ("import", error);
}

const FabCommand fab_command_import = {
  .name = "import",
  .summary = "Make a scenario of what a machine prints, or of a model's config.json",
  .run = run,
};
