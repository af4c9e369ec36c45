/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_import.c - `fabricast import FILE...`: what a machine prints about itself becomes a scenario, a model's
 * config.json a part of one, and what benchmarks print measurements. */
#include <stdio.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/files.h"
#include "cli/hardware/cmd_measure.h"
#include "cli/hardware/import_job.h"
#include "cli/hardware/import_trace.h"
#include "formats/import.h"
#include "formats/measurement/measurements.h"
#include "formats/text/notes.h"
#include "models/models.h"
#include "sim/base/error.h"
#include "sim/base/units.h"
#include "sim/run/simulation.h"
#include "validate/measure/samples.h"

#define IMPORT_NOT_SAID G_MININT64

/* The options as given; NULL or IMPORT_NOT_SAID: not given. */
typedef struct {
  char *format, *out;
  char *accelerator, *nic, *name; /* for machines */
  gint64 n_nodes;
  gint64 n_steps; /* of a profile */
  gboolean calibrates;
  char *system, *source, *size, *print_format; /* for measurements */
  gint64 n_ranks;
  char *op;      /* of measurements */
  char *db, *on; /* for traces; --on for jobs too */
  char *model;   /* for jobs */
  gboolean with_waiting;
} ImportOptions;

/* `fabricast import` of what benchmarks printed: into a file of measurements, or to be read. */

/* What is wrong with one file, or several: nothing is written then. */
typedef struct {
  GPtrArray *files; /* FabMeasurements */
  GString *mistakes;
} Reading;

/* Says whether the file holds measurements, by --from or by its content. A text that is a machine too counts as a
 * machine. */
static gboolean
import_is_measured (const ImportOptions *o, const FabFileText *file)
{
  if (o->format != NULL)
    return fab_file_format_named (FAB_FILE_MEASUREMENT, o->format) != NULL;
  return fab_file_format_of (FAB_FILE_MACHINE | FAB_FILE_MODEL, file) == NULL
      && fab_measurements_recognise (file);
}

static gboolean
check_options (const ImportOptions *o, const char *path, FabMeasurementRequest *request, FabFormat *format,
               GError **error)
{
  const char *option = o->accelerator                ? "--accelerator"
                     : o->nic                        ? "--nic"
                     : o->name                       ? "--name"
                     : o->n_nodes != IMPORT_NOT_SAID ? "--nodes"
                                                     : NULL;
  gint64 size_bytes = 0;

  if (option != NULL)
    return fab_throw (error, FAB_ERROR_INPUT, "%s: %s holds measurements, not a machine", option, path);
  if (o->n_ranks != IMPORT_NOT_SAID && (o->n_ranks < 2 || o->n_ranks > G_MAXINT))
    return fab_throw (error, FAB_ERROR_INPUT, "--ranks must be at least 2");
  if (o->size != NULL && !fab_units_parse_whole (FAB_UNIT_BYTES, o->size, &size_bytes, error)) {
    g_prefix_error (error, "--size: ");
    return FALSE;
  }
  *request = (FabMeasurementRequest){ .format = o->format,
                                      .system = o->system,
                                      .source = o->source,
                                      .size_bytes = (FabBytes) size_bytes,
                                      .n_ranks = (guint) MAX (o->n_ranks, 0),
                                      .op = o->op };
  return fab_cli_format (o->print_format, format, error);
}

static void
add_mistake (Reading *self, const GError *error)
{
  g_string_append_printf (self->mistakes, "%s%s", self->mistakes->len > 0 ? "\n" : "", error->message);
}

static void
read_text (Reading *self, FabMeasurementRequest *request, const char *text, gsize size)
{
  g_autoptr (GError) error = NULL;
  FabMeasurements *measurements;

  request->file.text = text;
  request->file.size = size;
  measurements = fab_measurements_read (request, &error);
  if (measurements != NULL)
    g_ptr_array_add (self->files, measurements);
  else
    add_mistake (self, error);
}

static void
read_file (Reading *self, FabMeasurementRequest *request, const char *path)
{
  g_autofree char *text = NULL;
  g_autoptr (GError) error = NULL;
  gsize size;

  if (fab_cli_read_file (path, FAB_IMPORT_MAX_BYTES, &text, &size, &error))
    read_text (self, request, text, size);
  else
    add_mistake (self, error);
}

static void
free_measurements (gpointer data)
{
  fab_measurements_free (data);
}

static void
print_text (char **paths, const GPtrArray *files)
{
  for (guint i = 0; i < files->len; i++) {
    const FabMeasurements *file = g_ptr_array_index (files, i);
    g_autofree char *path = fab_cli_printable (paths[i]);

    g_print ("%s%s: %s, %u series\n", i ? "\n" : "", path, file->format, file->series->len);
    for (guint k = 0; k < file->series->len; k++)
      (void) measure_print_series (g_ptr_array_index (file->series, k));
  }
}

/* "FILE: left out: SENTENCE" (NULL-ended; transfer full) */
static char **
list_left_out (char **paths, const GPtrArray *files)
{
  GPtrArray *list = g_ptr_array_new ();

  for (guint i = 0; i < files->len; i++) {
    const FabMeasurements *file = g_ptr_array_index (files, i);

    for (guint k = 0; k < file->notes->len; k++)
      g_ptr_array_add (list,
                       g_strdup_printf ("%s: left out: %s", paths[i], fab_file_note (file->notes, k)->text));
  }
  g_ptr_array_add (list, NULL);
  return (char **) g_ptr_array_free (list, FALSE);
}

static gboolean
write_series (const char *path, const GPtrArray *all, char **notes, GError **error)
{
  g_autoptr (FabSamples) samples = fab_samples_open (path, FAB_SAMPLES_WRITE, error);

  if (samples == NULL)
    return FALSE;
  for (guint i = 0; i < all->len; i++)
    if (!fab_samples_put (samples, g_ptr_array_index (all, i), error))
      return FALSE;
  for (char **note = notes; *note; note++)
    if (!fab_samples_add_note (samples, *note, error))
      return FALSE;
  return TRUE;
}

static gboolean
put_out (const ImportOptions *o, FabFormat format, char **paths, const GPtrArray *files, GError **error)
{
  g_autoptr (GPtrArray) all = g_ptr_array_new ();
  g_auto (GStrv) notes = list_left_out (paths, files);
  g_autofree char *text = NULL;
  char *none[] = { NULL };

  for (char **note = notes; *note; note++) {
    g_autofree char *plain = fab_cli_printable (*note);
    g_printerr ("%s\n", plain);
  }
  for (guint i = 0; i < files->len; i++) {
    const FabMeasurements *file = g_ptr_array_index (files, i);

    for (guint k = 0; k < file->series->len; k++)
      g_ptr_array_add (all, g_ptr_array_index (file->series, k));
  }
  if (o->out != NULL)
    return write_series (o->out, all, notes, error);
  if (format == FAB_FORMAT_TEXT)
    print_text (paths, files);
  else {
    text = format == FAB_FORMAT_CSV ? measure_csv (all) : measure_json (paths[0], none, notes, all);
    g_print ("%s", text);
  }
  return TRUE;
}

/* Reads measurements from the files (NULL-ended), of which the first was already read, and writes them to --out or
 * prints them. FALSE with the mistakes of all files. */
static gboolean
import_measurements (const ImportOptions *o, char **paths, char *first_text, gsize first_size, GError **error)
{
  g_autoptr (GPtrArray) files = g_ptr_array_new_with_free_func (free_measurements);
  g_autoptr (GString) mistakes = g_string_new (NULL);
  Reading self = { .files = files, .mistakes = mistakes };
  FabMeasurementRequest request;
  FabFormat format;

  if (!check_options (o, paths[0], &request, &format, error))
    return FALSE;
  for (guint i = 0; paths[i] != NULL; i++) {
    request.file.name = strcmp (paths[i], "-") == 0 ? "standard input" : paths[i];
    if (i == 0)
      read_text (&self, &request, first_text, first_size);
    else
      read_file (&self, &request, paths[i]);
  }
  if (mistakes->len > 0)
    return fab_throw (error, FAB_ERROR_INPUT, "%s", mistakes->str);
  return put_out (o, format, paths, files, error);
}

static const char summary[] =
    "Makes a scenario of the description that a machine prints of itself. FILE - is standard input. The format\n"
    "is recognised:\n"
    "%s\n"
    "Comments at the top list the values that were read and those that had to be inferred.\n\n"
    "A network and files of its hosts, in any order, become one scenario: hosts are found by the GUIDs of their\n"
    "NICs or by their names, and each NIC reaches its switch.\n\n"
    "The output of benchmarks, in one file or several, becomes measurements for `fabricast calibrate`. Without\n"
    "-o they are printed. The formats are:\n"
    "%s\n"
    "`import trace` reads what a profiler recorded: files, archives and folders of Kineto, one file per rank, or\n"
    "reports of Nsight Systems (SQLite) and output of NCCL's profiler plugins. Each step of each rank becomes\n"
    "rows of a results file, as those of a simulated run.\n\n"
    "`import job` reads what a training program is given, in one file or several, and makes a section `job:`\n"
    "of it, or with --on SCENARIO a scenario on that machine. Comments list what was read, what was inferred,\n"
    "and what changes communication and has no key. The formats are:\n"
    "%s\n"
    "`import trace` also reads Chakra, PyTorch's execution traces, GOAL, SimAI, AICB and logs of NCCL, and\n"
    "prints what they hold.";

static const char examples[] =
    "  fabricast import docs/examples/topo-a100.txt\n"
    "  fabricast import docs/examples/topo-a100.txt --accelerator a100-sxm4-40gb -o my-node.yaml\n"
    "  fabricast import - --nodes 4 --nic ib-hdr < docs/examples/topo-a100.txt\n"
    "  fabricast import docs/examples/ibnetdiscover.txt docs/examples/gpu01.xml docs/examples/gpu02.xml\n"
    "  fabricast import docs/examples/config.json --name my-model -o my-model.yaml\n"
    "  fabricast import docs/examples/ib_write_bw.txt --system \"two nodes, HDR\" -o lab.meas\n"
    "  fabricast import job docs/examples/ds_config.json --model docs/examples/config.json --on hello\n"
    "  fabricast import trace profile --db results.db\n"
    "  fabricast import trace profile --on hello\n"
    "  fabricast import trace profile --calibrate --accelerator h100-sxm5-80gb -o my-h100.yaml\n";

/* An indented line for each format of these kinds: its name, and what prints it. (transfer full) */
static char *
list_formats (guint kinds)
{
  g_autofree const char **names = fab_file_format_names (kinds);
  GString *lines = g_string_new (NULL);
  gint width = 0;

  for (guint i = 0; names[i] != NULL; i++)
    width = MAX (width, (gint) strlen (names[i]));
  for (guint i = 0; names[i] != NULL; i++) {
    const FabFileFormat *format = fab_file_format_named (kinds, names[i]);

    g_string_append_printf (lines, "  %-*s  %s\n", width, names[i],
                            format->help != NULL ? format->help : format->tool);
  }
  return g_string_free (lines, FALSE);
}

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

static const char *
name_of (const char *path)
{
  return strcmp (path, "-") == 0 ? "standard input" : path;
}

/* Reads the files (NULL-ended), of which the first was already read, as a network and its hosts. (transfer full) */
static char *
import_joined (const FabImportRequest *request, char **paths, const FabCatalog *catalog, GError **error)
{
  g_autoptr (GArray) files = g_array_new (FALSE, FALSE, sizeof (FabFileText));
  g_autoptr (GPtrArray) texts = g_ptr_array_new_with_free_func (g_free);

  g_array_append_val (files, request->file);
  for (guint i = 1; paths[i] != NULL; i++) {
    FabFileText file = { .name = name_of (paths[i]) };
    char *text;

    if (!fab_cli_read_file (paths[i], FAB_IMPORT_MAX_BYTES, &text, &file.size, error))
      return NULL;
    g_ptr_array_add (texts, text);
    file.text = text;
    g_array_append_val (files, file);
  }
  return fab_import_joined (request, (const FabFileText *) (gpointer) files->data, files->len, catalog,
                            error);
}

static gboolean
import_machine (const ImportOptions *o, char **paths, const char *text, gsize size, GError **error)
{
  g_autoptr (FabCatalog) catalog = fab_cli_catalog (error);
  g_autofree char *scenario = NULL;
  FabImportRequest request = { .file = { name_of (paths[0]), text, size },
                               .format = o->format,
                               .accelerator = o->accelerator,
                               .nic = o->nic,
                               .name = o->name,
                               .n_nodes = (guint) CLAMP (o->n_nodes, 0, G_MAXUINT),
                               .registry = &fab_models };
  const char *option = o->system                     ? "--system"
                     : o->source                     ? "--source"
                     : o->size                       ? "--size"
                     : o->n_ranks != IMPORT_NOT_SAID ? "--ranks"
                     : o->op                         ? "--op"
                     : o->print_format               ? "--format"
                                                     : NULL;
  gboolean is_fragment = FALSE;

  if (o->n_nodes < 1 && o->n_nodes != IMPORT_NOT_SAID)
    return fab_throw (error, FAB_ERROR_INPUT, "--nodes must be at least 1");
  if (catalog == NULL)
    return FALSE;
  scenario = paths[1] == NULL ? fab_import (&request, catalog, &is_fragment, error)
                              : import_joined (&request, paths, catalog, error);
  if (scenario == NULL)
    return FALSE;
  if (option != NULL)
    return fab_throw (error, FAB_ERROR_INPUT, "%s is for measurements, but %s holds none", option,
                      request.file.name);
  if (!is_fragment && !check_scenario (scenario, catalog, error))
    return FALSE;
  return fab_cli_write_file (o->out ? o->out : "-", scenario, error);
}

static gboolean
import_files (const ImportOptions *o, char **paths, GError **error)
{
  g_autofree char *text = NULL;
  gsize size;

  if (!fab_cli_check_apart ("--out", o->out, paths, error) /* measurements are added to those of a file */
      || !fab_cli_read_file (paths[0], FAB_IMPORT_MAX_BYTES, &text, &size, error))
    return FALSE;
  if (import_is_measured (o, &(FabFileText){ paths[0], text, size }))
    return import_measurements (o, paths, text, size, error);
  if (paths[1] != NULL && o->format != NULL)
    return fab_throw (error, FAB_ERROR_INPUT, "--from does not go with a network and files of its hosts");
  return import_machine (o, paths, text, size, error);
}

/* The files after the word `trace`. */
static gboolean
import_traces (const ImportOptions *o, char **paths, GError **error)
{
  const ImportTraceOptions options = { .db = o->db,
                                       .name = o->name,
                                       .with_waiting = o->with_waiting,
                                       .on = o->on,
                                       .format = o->print_format,
                                       .calibrates = o->calibrates,
                                       .accelerator = o->accelerator,
                                       .out = o->out,
                                       .n_steps = o->n_steps == IMPORT_NOT_SAID ? 0 : (guint) o->n_steps };
  const char *option = o->format                        ? "--from"
                     : o->out && !o->calibrates         ? "--out"
                     : o->accelerator && !o->calibrates ? "--accelerator"
                     : o->calibrates && o->db           ? "--calibrate with --db"
                     : o->nic                           ? "--nic"
                     : o->n_nodes != IMPORT_NOT_SAID    ? "--nodes"
                     : o->system                        ? "--system"
                     : o->source                        ? "--source"
                     : o->size                          ? "--size"
                     : o->n_ranks != IMPORT_NOT_SAID    ? "--ranks"
                     : o->op                            ? "--op"
                                                        : NULL;

  if (option != NULL)
    return fab_throw (error, FAB_ERROR_INPUT, "%s does not go with `import trace`", option);
  if (o->n_steps != IMPORT_NOT_SAID && (!o->calibrates || o->n_steps < 1 || o->n_steps > 1000000))
    return fab_throw (error, FAB_ERROR_INPUT, "--steps is for --calibrate, and from 1 to 1000000");
  if (o->print_format != NULL && o->calibrates)
    return fab_throw (error, FAB_ERROR_INPUT, "--format does not go with --calibrate, which prints text");
  if (o->print_format != NULL && o->on == NULL)
    return fab_throw (error, FAB_ERROR_INPUT, "--format of a trace needs --on SCENARIO");
  if (paths[0] == NULL)
    return fab_throw (error, FAB_ERROR_INPUT, "name the files or the folder of the trace");
  return import_trace (&options, paths, error);
}

/* The files after the word `job`. */
static gboolean
import_jobs (const ImportOptions *o, char **paths, GError **error)
{
  const ImportJobOptions options = {
    .from = o->format, .model = o->model, .on = o->on, .name = o->name, .out = o->out
  };
  const char *option = o->accelerator                   ? "--accelerator"
                     : o->nic                           ? "--nic"
                     : o->n_nodes != IMPORT_NOT_SAID    ? "--nodes"
                     : o->n_steps != IMPORT_NOT_SAID    ? "--steps"
                     : o->system                        ? "--system"
                     : o->source                        ? "--source"
                     : o->size                          ? "--size"
                     : o->n_ranks != IMPORT_NOT_SAID    ? "--ranks"
                     : o->op                            ? "--op"
                     : o->print_format                  ? "--format"
                     : o->db                            ? "--db"
                     : o->with_waiting                  ? "--with-waiting"
                     : o->calibrates                    ? "--calibrate"
                     : o->name != NULL && o->on == NULL ? "--name without --on"
                                                        : NULL;

  if (option != NULL)
    return fab_throw (error, FAB_ERROR_INPUT, "%s does not go with `import job`", option);
  if (paths[0] == NULL)
    return fab_throw (error, FAB_ERROR_INPUT, "name the files of the job's configuration");
  return import_job (&options, paths, error);
}

static gboolean
import_all (const ImportOptions *o, char **paths, GError **error)
{
  if (strcmp (paths[0], "trace") == 0)
    return import_traces (o, paths + 1, error);
  if (strcmp (paths[0], "job") == 0)
    return import_jobs (o, paths + 1, error);
  if (o->model != NULL)
    return fab_throw (error, FAB_ERROR_INPUT, "--model is for `fabricast import job`");
  if (o->calibrates || o->n_steps != IMPORT_NOT_SAID)
    return fab_throw (error, FAB_ERROR_INPUT, "%s is for `fabricast import trace`",
                      o->calibrates ? "--calibrate" : "--steps");
  if (o->db != NULL || o->on != NULL || o->with_waiting)
    return fab_throw (error, FAB_ERROR_INPUT, "%s is for `fabricast import trace`",
                      o->db   ? "--db"
                      : o->on ? "--on"
                              : "--with-waiting");
  return import_files (o, paths, error);
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
  g_free (o->db);
  g_free (o->on);
  g_free (o->model);
  g_free (o->op);
}

static FabExit
run (int argc, char **argv)
{
  ImportOptions o = { .n_nodes = IMPORT_NOT_SAID, .n_ranks = IMPORT_NOT_SAID, .n_steps = IMPORT_NOT_SAID };
  const GOptionEntry entries[] = {
    { "from", 0, 0, G_OPTION_ARG_STRING, &o.format, "Format (default: recognised from the text)", "FORMAT" },
    { "out", 'o', 0, G_OPTION_ARG_FILENAME, &o.out,
      "Write the scenario or the measurements here (default: standard output)", "FILE" },
    { "accelerator", 0, 0, G_OPTION_ARG_STRING, &o.accelerator,
      "Accelerator entry, when the text does not name it", "NAME" },
    { "nic", 0, 0, G_OPTION_ARG_STRING, &o.nic, "Link entry of the NIC ports, when the text does not name it",
      "LINK" },
    { "name", 0, 0, G_OPTION_ARG_STRING, &o.name, "Name of the scenario or the model (default: imported)",
      "NAME" },
    { "nodes", 0, 0, G_OPTION_ARG_INT64, &o.n_nodes,
      "Number of such machines (default: 1, or as the text says)", "N" },
    { "system", 0, 0, G_OPTION_ARG_STRING, &o.system,
      "Measurements: the machine in words (default: as the text says)", "TEXT" },
    { "source", 0, 0, G_OPTION_ARG_STRING, &o.source, "Measurements: their source (default: the file)",
      "TEXT" },
    { "size", 0, 0, G_OPTION_ARG_STRING, &o.size,
      "Measurements: size of a message, where the tool does not print it", "BYTES" },
    { "ranks", 0, 0, G_OPTION_ARG_INT64, &o.n_ranks,
      "Measurements: ranks of a collective, where the text does not say it", "N" },
    { "op", 0, 0, G_OPTION_ARG_STRING, &o.op,
      "Measurements: the collective, where the text does not say it: all_reduce, all_gather, ...", "OP" },
    { "format", 0, 0, G_OPTION_ARG_STRING, &o.print_format,
      "Measurements without -o: text (default), json or csv; traces with --on: text or csv", "FORMAT" },
    { "db", 0, 0, G_OPTION_ARG_FILENAME, &o.db, "Traces: store the measured run in this results file",
      "FILE" },
    { "on", 0, 0, G_OPTION_ARG_FILENAME, &o.on,
      "Traces: hold each collective against what the machine of this scenario takes; jobs: put the job on it",
      "SCENARIO" },
    { "model", 0, 0, G_OPTION_ARG_FILENAME, &o.model,
      "Jobs: config.json of the model, or its name in the catalogue", "MODEL" },
    { "calibrate", 0, 0, G_OPTION_ARG_NONE, &o.calibrates,
      "Traces: fit the --accelerator to the kernels; with --on say how far off that step is before and after",
      NULL },
    { "steps", 0, 0, G_OPTION_ARG_INT64, &o.n_steps,
      "Traces with --calibrate: steps in the profile (default: as its marks say)", "N" },
    { "with-waiting", 0, 0, G_OPTION_ARG_NONE, &o.with_waiting,
      "Traces: count waiting for the last rank as communication, as profilers do", NULL },
    G_OPTION_ENTRY_NULL
  };
  g_autofree char *machines = list_formats (FAB_FILE_MACHINE | FAB_FILE_MODEL);
  g_autofree char *measurements = list_formats (FAB_FILE_MEASUREMENT);
  g_autofree char *jobs = list_formats (FAB_FILE_JOB);
  g_autofree char *text = g_strdup_printf (summary, machines, measurements, jobs);
  const FabUsage usage = {
    .arguments = "FILE...", .summary = text, .examples = examples, .min_rest = 1, .max_rest = 1000
  };
  g_autoptr (GError) error = NULL;
  gboolean is_done = fab_cli_parse (&usage, entries, &argc, &argv, &error)
                  && import_all (&o, argv + 1, &error);

  options_clear (&o);
  return is_done ? FAB_EXIT_DONE : fab_cli_fail ("import", error);
}

const FabCommand fab_command_import = {
  .name = "import",
  .summary = "Make a scenario from what a machine prints, or from files of a model or a job",
  .run = run,
  .prints_data = TRUE,
};
