/* SPDX-License-Identifier: Apache-2.0 */
/* collective_options.c - the options of `fabricast collective`: texts become numbers, names and edits, each once. */
#include <string.h>

#include "answer/nccl_env.h"
#include "cli/files.h"
#include "cli/run/collective.h"
#include "cli/run/launch_line.h"
#include "models/library/nccl/names.h"
#include "sim/base/error.h"
#include "sim/base/nearest.h"

enum { MAX_FILE_BYTES = 64 << 20 };

/* No factor that anybody writes: NaN is one that must be refused. */
#define NO_FACTOR (-G_MAXDOUBLE)

static const FabUsage usage = {
  .arguments = "[SCENARIO] [LINE]",
  .summary =
      "Predicts the output of nccl-tests on a machine of the catalogue, or on that of a scenario: time, algbw,\n"
      "busbw, and the rate on the binding link, with the algorithm and protocol that run. Options and sizes mean\n"
      "the same as in nccl-tests.\n\n"
      "A prediction is one operation on an idle machine in its steady state, so -n, -w and -c are printed and\n"
      "have no effect. On one node, a single thread drives all GPUs (nccl-tests -g N). Over several nodes, and\n"
      "in a rack of trays, each GPU has its own process; -t, or -g with --gpus-per-node, changes that.\n\n"
      "A LINE that starts nccl-tests may follow as it is: mpirun or srun with its options and -x, or the program\n"
      "alone. Ranks, nodes, variables, operation and sizes are read; what places processes is passed over. A\n"
      "variable that changes nothing is printed with its reason, and one that contradicts the machine is refused.\n\n"
      "--check compares a measured output (all_reduce_perf ... | tee FILE, or its -J FILE) with the\n"
      "prediction, and exits with 1 when the machine is slower.\n\n"
      "Times have a band of 90 %, from the errors of predictions of measured collectives of the same kind. The\n"
      "band is one of 95 % where a link states the error of its numbers (`uncertainty`).",
  .examples =
      "  fabricast collective --node dgx-a100 --op all_reduce -b 32K -e 16G -f 2\n"
      "  fabricast collective --node dgx-a100 --nodes 4 -b 1M -e 4G --format csv\n"
      "  fabricast collective --node dgx-h100 --nodes 2 --nic ib-hdr --protocol simple\n"
      "  fabricast collective --node dgx-a100 -b 8 -e 1G -f 4 -x NCCL_ALGO=Ring -x NCCL_PROTO=Simple -J ring.json\n"
      "  fabricast collective --node dgx-h100 mpirun -np 16 -N 8 -x NCCL_DEBUG=INFO ./all_reduce_perf -b 1M -e 8G\n"
      "  fabricast collective --node dgx-a100 --check ring.json\n"
      "  fabricast collective --node host --nodes 4 --library mpi -b 64K -e 4M -f 4\n"
      "  fabricast collective scenarios/own-node.yaml -b 1M -e 1G -f 32\n",
  .max_rest = 1,
};

/* As given on the command line; NULL or 0: not given. */
typedef struct {
  char *format_name, *node, *op_name, *type_name, *min_size, *max_size, *step_size, *nic, *fabric;
  char *library, *algorithm, *protocol, *form_name, *json_path, *check_path, *tolerance, *check_from;
  char **sets, **environment, **with;
  gboolean has_no_band;
  gint64 nodes, gpus_per_node, gpus_per_thread, threads, iterations, warmup, check;
  double factor; /* NO_FACTOR: not given */
} Given;

static void
given_clear (Given *self)
{
  char *texts[] = { self->format_name, self->node,      self->op_name,   self->type_name,  self->min_size,
                    self->max_size,    self->step_size, self->nic,       self->fabric,     self->algorithm,
                    self->protocol,    self->form_name, self->json_path, self->check_path, self->tolerance,
                    self->check_from,  self->library };

  for (guint i = 0; i < G_N_ELEMENTS (texts); i++)
    g_free (texts[i]);
  g_strfreev (self->sets);
  g_strfreev (self->environment);
  g_strfreev (self->with);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Given, given_clear)

#define TEXT(name, letter, member, help, value)                       \
  {                                                                   \
    name, letter, 0, G_OPTION_ARG_STRING, &given->member, help, value \
  }
#define COUNT(name, letter, member, help)                          \
  {                                                                \
    name, letter, 0, G_OPTION_ARG_INT64, &given->member, help, "N" \
  }

static gboolean
parse (Given *given, int *argc, char ***argv, GError **error)
{
  const GOptionEntry entries[] = {
    TEXT ("node", 0, node, "Node entry of the catalogue", "NAME"),
    COUNT ("nodes", 0, nodes, "Number of nodes (default 1)"),
    COUNT ("gpus-per-node", 0, gpus_per_node, "GPUs used in each node (default: all)"),
    COUNT ("ngpus", 'g', gpus_per_thread, "GPUs of one thread; without --gpus-per-node, GPUs of the node"),
    COUNT ("nthreads", 't', threads, "Threads in each node that share its GPUs (default 1)"),
    TEXT ("nic", 0, nic, "Link entry of NIC and switch ports (default: the node's own)", "LINK"),
    { "with", 0, 0, G_OPTION_ARG_FILENAME_ARRAY, &given->with,
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
    { "stepfactor", 'f', 0, G_OPTION_ARG_DOUBLE, &given->factor, "Factor between sizes (default 2)",
      "FACTOR" },
    TEXT ("stepbytes", 'i', step_size, "Step between sizes, instead of a factor", "SIZE"),
    COUNT ("iters", 'n', iterations, "Shown only: a prediction has no noise to average"),
    COUNT ("warmup_iters", 'w', warmup, "Shown only: a prediction is warm"),
    COUNT ("check-data", 'c', check, "Shown only: nothing is sent that could be wrong"),
    TEXT ("library", 0, library, "Library that runs the collective: nccl (default), mpi, plain", "NAME"),
    TEXT ("algorithm", 0, algorithm, "Use only this algorithm (default: the tuner's choice)", "NAME"),
    TEXT ("protocol", 0, protocol, "Use only this protocol: ll, ll128, simple", "NAME"),
    { "env", 'x', 0, G_OPTION_ARG_STRING_ARRAY, &given->environment,
      "Environment variable, as with mpirun -x: NCCL_ALGO=Ring; repeatable", "NAME=VALUE" },
    { "set", 0, 0, G_OPTION_ARG_STRING_ARRAY, &given->sets,
      "Override a key of the scenario behind it; repeatable", "KEY=VALUE" },
    TEXT ("form", 0, form_name,
          "stream (default): simulated on the network; closed: formula for an idle network; step: message "
          "by message",
          "FORM"),
    { "no-band", 0, 0, G_OPTION_ARG_NONE, &given->has_no_band, "Print no bands of the times", NULL },
    TEXT ("check", 0, check_path,
          "Compare with an output of nccl-tests, or its -J file; - reads standard input", "FILE"),
    TEXT ("tolerance", 0, tolerance,
          "Largest shortfall from the prediction of a healthy machine (default "
          "20%)",
          "PERCENT"),
    TEXT ("check-from", 0, check_from, "Print sizes below this without judging them (default 64M)", "SIZE"),
    TEXT ("json", 'J', json_path, "Also write a file as nccl-tests -J does", "FILE"),
    FAB_FORMAT_ENTRY (&given->format_name),
    G_OPTION_ENTRY_NULL
  };

  return fab_cli_parse (&usage, entries, argc, argv, error);
}

/* --- what cannot be --- */

/* Takes an error into the problems. */
static void
add_error (FabDiagnostics *problems, GError **error)
{
  if (*error != NULL)
    fab_diagnostics_add (problems, NULL, "%s", (*error)->message);
  g_clear_error (error);
}

/* Options that would change nothing beside another one, or without it. */
static void
check_pairs (const Given *given, FabDiagnostics *problems)
{
  gboolean has_factor = given->factor != NO_FACTOR;

  if (given->step_size && has_factor)
    fab_diagnostics_add (problems, NULL, "give either -f FACTOR or -i SIZE, not both");
  if (given->check_path && (given->min_size || given->max_size || given->step_size || has_factor))
    fab_diagnostics_add (problems, NULL, "--check uses the sizes of its file; leave out -b, -e, -f and -i");
  if (given->check_path == NULL && (given->tolerance || given->check_from))
    fab_diagnostics_add (problems, NULL,
                         "--tolerance and --check-from need a measurement; give --check FILE too");
}

/* What a prediction is of is said by options: keys that would say something else are refused. */
static void
check_sets (const Given *given, FabDiagnostics *problems)
{
  static const char *const options[][2] = {
    { "cluster.nodes", "use --nodes" },
    { "cluster.gpus_per_node", "use --gpus-per-node" },
    { "cluster.node", "use --node" },
    { "cluster", "use --node, --nodes, --nic and --set cluster.KEY" },
    { "job", "use --op, -b and -e" },
    { "iterations", "leave it out, because a prediction has no noise to average" }
  };

  for (guint i = 0; given->sets && given->sets[i]; i++)
    for (guint k = 0; k < G_N_ELEMENTS (options); k++) {
      gsize length = strlen (options[k][0]);
      gboolean is_job = strcmp (options[k][0], "job") == 0;

      if (strncmp (given->sets[i], options[k][0], length) == 0
          && (given->sets[i][length] == '=' || (is_job && given->sets[i][length] == '.')))
        fab_diagnostics_add (problems, NULL, "--set %s: this command does not read the key; %s",
                             given->sets[i], options[k][1]);
    }
}

/* --- texts --- */

/* Leaves `bytes` as they are where the text is no size. */
static void
parse_size (const char *option, const char *text, FabBytes *bytes, FabDiagnostics *problems)
{
  g_autoptr (GError) error = NULL;

  if (text != NULL && !fab_cli_size (option, text, bytes, &error))
    add_error (problems, &error);
}

/* "20%" or "0.2" */
static void
parse_tolerance (const char *text, double *tolerance, FabDiagnostics *problems)
{
  char *end;

  if (text == NULL)
    return;
  *tolerance = g_ascii_strtod (text, &end);
  if (end != text && strcmp (end, "%") == 0)
    *tolerance /= 100;
  if (end == text || (*end != '\0' && strcmp (end, "%") != 0) || !(*tolerance >= 0 && *tolerance < 1))
    fab_diagnostics_add (problems, NULL, "--tolerance %s: write for example 20%% or 0.2", text);
}

/* A range that cannot be read is one of the default size, so that it is not blamed for more. */
static FabSizeRange
parse_range (const Given *given, FabDiagnostics *problems)
{
  const FabBytes usual = 32 << 20;
  FabSizeRange range = { usual, 0, 0, given->factor == NO_FACTOR ? 2 : given->factor };
  guint before = fab_diagnostics_count (problems);

  parse_size ("-b", given->min_size, &range.first_bytes, problems);
  range.last_bytes = range.first_bytes;
  parse_size ("-e", given->max_size, &range.last_bytes, problems);
  parse_size ("-i", given->step_size, &range.step_bytes, problems);
  if (fab_diagnostics_count (problems) > before)
    range.first_bytes = range.last_bytes = usual;
  return range;
}

static void
find_op (const char *given, const FabNcclTests *file, FabOp *op, FabDiagnostics *problems)
{
  const char *name = given != NULL ? given : file && file->program ? file->program : "all_reduce";

  if (fab_nccl_op (name, op))
    return;
  g_autofree char *all = g_strjoinv (", ", (char **) fab_op_names);
  g_autofree char *note = fab_nearest_note (name, all);
  fab_diagnostics_add (problems, NULL, "--op %s: unknown operation%s; the operations are %s", name, note,
                       all);
}

static const FabNcclType *
find_type (const char *given, const FabNcclTests *file, FabDiagnostics *problems)
{
  const char *name = given != NULL ? given : file && file->type ? file->type : "float";
  const FabNcclType *found = fab_nccl_type (name);

  if (found != NULL)
    return found;
  g_autoptr (GPtrArray) names = g_ptr_array_new ();
  for (const FabNcclType *type = fab_nccl_types;; type++) {
    g_ptr_array_add (names, (gpointer) type->name);
    if (type->name == NULL)
      break;
  }
  g_autofree char *all = g_strjoinv (", ", (char **) names->pdata);
  fab_diagnostics_add (problems, NULL, "-d %s: unknown data type; the types are %s", name, all);
  return fab_nccl_types;
}

static void
find_form (const char *name, FabForm *form, FabDiagnostics *problems)
{
  if (name == NULL || fab_form_find (name, form))
    return;
  g_autofree char *all = g_strjoinv (", ", (char **) fab_form_names);
  fab_diagnostics_add (problems, NULL, "--form %s: unknown form; the forms are %s", name, all);
}

/* The scenario's name of an algorithm that NCCL spells differently. */
static char *
algorithm_name (const char *name)
{
  g_autofree char *message = NULL;
  char *list = name != NULL ? fab_nccl_list (TRUE, name, &message) : NULL;

  return list != NULL || name == NULL ? list : g_ascii_strdown (name, -1);
}

/* "NCCL_ALGO=Ring", or the name of a variable of the environment. `notes` gets a text for each: why it changes nothing,
 * or an empty one. */
static FabEdits *
parse_variables (char **assignments, GStrvBuilder *notes, FabDiagnostics *problems)
{
  FabEdits *edits = fab_edits_new ();

  for (guint i = 0; assignments != NULL && assignments[i] != NULL; i++) {
    const char *equals = strchr (assignments[i], '=');
    g_autofree char *name = equals ? g_strndup (assignments[i], (gsize) (equals - assignments[i]))
                                   : g_strdup (assignments[i]);
    g_autoptr (GError) error = NULL;
    const char *note = NULL;

    if (!fab_nccl_env_add (edits, name, equals ? equals + 1 : g_getenv (name), &note, &error))
      add_error (problems, &error);
    g_strv_builder_add (notes, note != NULL ? note : "");
  }
  return edits;
}

/* --- files --- */

static void
load_measured (CollectiveOptions *self, FabDiagnostics *problems)
{
  g_autofree char *text = NULL;
  g_autoptr (GError) error = NULL;
  gsize size;

  if (self->check_path == NULL)
    return;
  if (fab_cli_read_file (self->check_path, MAX_FILE_BYTES, &text, &size, &error))
    self->measured = fab_nccl_tests_parse (self->check_path, text, size, &error);
  add_error (problems, &error);
}

/* The machine of a scenario, in place of --node. */
static gboolean
take_scenario (CollectiveOptions *self, Given *given, const char *path, const FabCatalog *catalog,
               GError **error)
{
  if (given->node != NULL && g_strv_contains (fab_op_names, path))
    return fab_throw (error, FAB_ERROR_INPUT, "%s is an operation: give it as --op %s", path, path);
  if (given->node != NULL)
    return fab_throw (error, FAB_ERROR_INPUT, "give either --node NAME or a SCENARIO, not both");
  self->scenario = fab_cli_scenario (path, NULL, catalog, error);
  if (self->scenario == NULL)
    return FALSE;
  const FabClusterSpec *cluster = &fab_scenario_spec (self->scenario)->cluster;
  given->node = g_strdup (cluster->node);
  given->nodes = given->nodes != 0 ? given->nodes : cluster->nodes;
  if (given->gpus_per_node == 0 && given->gpus_per_thread == 0)
    given->gpus_per_node = cluster->gpus_per_node;
  return TRUE;
}

/* --- options --- */

/* Takes the texts that stay texts. */
static void
take_texts (CollectiveOptions *self, Given *given)
{
  self->node = g_steal_pointer (&given->node);
  self->nic = g_steal_pointer (&given->nic);
  self->fabric = g_steal_pointer (&given->fabric);
  self->library = g_steal_pointer (&given->library);
  self->algorithm = algorithm_name (given->algorithm);
  self->protocol = given->protocol != NULL ? g_ascii_strdown (given->protocol, -1) : NULL;
  self->json_path = g_steal_pointer (&given->json_path);
  self->check_path = g_steal_pointer (&given->check_path);
  self->environment = g_steal_pointer (&given->environment);
  self->iterations = given->iterations;
  self->warmup = given->warmup;
  self->check = given->check;
}

static void
fill_request (CollectiveOptions *self, const Given *given, FabDiagnostics *problems)
{
  FabCollectiveRequest *request = &self->request;

  *request = (FabCollectiveRequest){
    .base = self->scenario,
    .node = self->node,
    .nodes = given->nodes,
    .gpus_per_node = given->gpus_per_node,
    .gpus_per_thread = given->gpus_per_thread,
    .threads = given->threads,
    .nic = self->nic,
    .fabric = self->fabric,
    .library = self->library,
    .algorithm = self->algorithm,
    .protocol = self->protocol,
    .include = self->include,
    .environment = self->variables,
    .sets = self->sets,
    .range = parse_range (given, problems),
    .measured = self->measured,
    .measured_name = self->check_path,
    .has_band = !given->has_no_band && self->measured == NULL,
  };
  find_op (given->op_name, self->measured, &request->op, problems);
  request->type = find_type (given->type_name, self->measured, problems);
  find_form (given->form_name, &request->form, problems);
}

static void
fill (CollectiveOptions *self, Given *given, FabDiagnostics *problems)
{
  g_autoptr (GError) error = NULL;

  if (!fab_cli_format (given->format_name, &self->format, &error))
    add_error (problems, &error);
  check_sets (given, problems);
  check_pairs (given, problems);
  take_texts (self, given);
  load_measured (self, problems);
  if (self->check_path != NULL) {
    parse_tolerance (given->tolerance, &self->tolerance_fraction, problems);
    parse_size ("--check-from", given->check_from, &self->judged_bytes, problems);
  }
  if (self->node == NULL)
    fab_diagnostics_add (problems, NULL,
                         "give either --node NAME or a SCENARIO; `fabricast describe nodes` lists the nodes");
  if (given->with != NULL && (self->include = fab_cli_with (given->with, &error)) == NULL)
    add_error (problems, &error);
  g_autoptr (GStrvBuilder) notes = g_strv_builder_new ();
  self->variables = parse_variables (self->environment, notes, problems);
  self->environment_notes = g_strv_builder_end (notes);
  self->sets = fab_edits_of ((const char *const *) given->sets);
  fill_request (self, given, problems);
  if (self->check_path != NULL && self->format != FAB_FORMAT_TEXT)
    fab_diagnostics_add (problems, NULL, "--check prints text only; leave --format out");
}

CollectiveOptions *
collective_options_new (int *argc, char ***argv, FabCatalog **catalog, FabDiagnostics *problems,
                        GError **error)
{
  g_autoptr (CollectiveOptions) self = g_new0 (CollectiveOptions, 1);
  g_auto (Given) given = { .factor = NO_FACTOR, .iterations = 20, .warmup = 1, .check = 1 };

  self->tolerance_fraction = 0.2;
  self->judged_bytes = 64 << 20;
  if (!launch_line_expand (argc, argv, &self->expanded, error) || !parse (&given, argc, argv, error)
      || (*catalog = fab_cli_catalog (error)) == NULL
      || (*argc > 1 && !take_scenario (self, &given, (*argv)[1], *catalog, error)))
    return NULL;
  fill (self, &given, problems);
  return g_steal_pointer (&self);
}

void
collective_options_free (CollectiveOptions *self)
{
  if (self == NULL)
    return;
  char *texts[] = { self->json_path, self->check_path, self->node,      self->nic,
                    self->fabric,    self->library,    self->algorithm, self->protocol };
  for (guint i = 0; i < G_N_ELEMENTS (texts); i++)
    g_free (texts[i]);
  g_strfreev (self->environment);
  g_strfreev (self->environment_notes);
  g_strfreev (self->expanded);
  fab_scenario_free (self->scenario);
  fab_nccl_tests_free (self->measured);
  fab_value_unref (self->include);
  fab_edits_free (self->variables);
  fab_edits_free (self->sets);
  g_free (self);
}
