/* SPDX-License-Identifier: Apache-2.0 */
/* collective_request.c - from the options of `fabricast collective` to ranks, sizes and assignments. */
#include <math.h>
#include <string.h>

#include "cli/files.h"
#include "cli/run/collective.h"
#include "sim/base/error.h"
#include "sim/base/nearest.h"
#include "sim/base/units.h"
#include "sim/scenario/node_wires.h"

enum { MAX_SIZES = 10000, MAX_GPUS_PER_PROCESS = 256, MAX_COUNT = 1000000, MAX_FILE_BYTES = 64 << 20 };

#define MAX_FACTOR 1e15

void
collective_options_clear (CollectiveOptions *self)
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

/* nccl-tests writes 32K, 8M, 16G for binary multiples; 32KiB and 1GB are what they say. */
gboolean
collective_parse_size (const char *option, const char *text, FabBytes *bytes, GError **error)
{
  gsize length = strlen (text);
  gint64 value;
  g_autofree char *spelt = NULL;
  g_autoptr (GError) cause = NULL;

  if (length > 1 && strchr ("KMGTkmgt", text[length - 1])) {
    spelt = g_strconcat (text, "iB", NULL);
    spelt[length - 1] = g_ascii_toupper (spelt[length - 1]);
  } else if (length > 0 && strspn (text, "0123456789") == length) {
    spelt = g_strconcat (text, "B", NULL);
  }
  if (!fab_units_parse_whole (FAB_UNIT_BYTES, spelt ? spelt : text, &value, &cause) || value < 1)
    return fab_throw (error, FAB_ERROR_INPUT,
                      "%s %s: this is not a size; write for example 32K, 8MiB or "
                      "1GB",
                      option, text);
  *bytes = (FabBytes) value;
  return TRUE;
}

/* Options that would change nothing beside another one, or without it. */
static gboolean
check_pairs (const CollectiveOptions *o, GError **error)
{
  gboolean has_sizes = o->min_size || o->max_size || o->step_size || o->factor != COLLECTIVE_NO_FACTOR;

  if (o->step_size && o->factor != COLLECTIVE_NO_FACTOR)
    return fab_throw (error, FAB_ERROR_INPUT, "give either -f FACTOR or -i SIZE, not both");
  if (o->check_path && has_sizes)
    return fab_throw (error, FAB_ERROR_INPUT,
                      "--check uses the sizes of its file; leave out -b, -e, -f and -i");
  if (o->check_path == NULL && (o->tolerance || o->check_from))
    return fab_throw (error, FAB_ERROR_INPUT,
                      "--tolerance and --check-from need a measurement; give --check FILE too");
  return TRUE;
}

double
collective_factor (const CollectiveOptions *o)
{
  return o->factor == COLLECTIVE_NO_FACTOR ? 2 : o->factor;
}

gboolean
collective_read_tolerance (const char *text, double *tolerance, GError **error)
{
  char *end;

  *tolerance = 0.2;
  if (text == NULL)
    return TRUE;
  *tolerance = g_ascii_strtod (text, &end);
  if (end != text && strcmp (end, "%") == 0)
    *tolerance /= 100;
  if (end == text || (*end != '\0' && strcmp (end, "%") != 0) || !(*tolerance >= 0 && *tolerance < 1))
    return fab_throw (error, FAB_ERROR_INPUT, "--tolerance %s: write for example 20%% or 0.2", text);
  return TRUE;
}

static gboolean
read_range (CollectiveRequest *self, GError **error)
{
  const CollectiveOptions *o = self->options;
  const char *first = o->min_size ? o->min_size : "32M";

  if (!collective_parse_size ("-b", first, &self->first_bytes, error)
      || !collective_parse_size ("-e", o->max_size ? o->max_size : first, &self->last_bytes, error)
      || (o->step_size && !collective_parse_size ("-i", o->step_size, &self->step_bytes, error)))
    return FALSE;
  if (self->last_bytes < self->first_bytes)
    return fab_throw (error, FAB_ERROR_INPUT, "-e must not be smaller than -b");
  if (self->step_bytes == 0 && !(collective_factor (o) > 1 && collective_factor (o) <= MAX_FACTOR))
    return fab_throw (error, FAB_ERROR_INPUT, "-f must be a number larger than 1; it multiplies the size");
  return TRUE;
}

/* A size as nccl-tests runs it. */
static void
add_size (CollectiveRequest *self, FabBytes asked)
{
  guint64 count;
  FabBytes size = fab_nccl_size (self->op, asked, self->type, self->n_ranks, &count);

  if (size == 0) {
    self->n_too_small++;
    return;
  }
  g_array_append_val (self->sizes, size);
  g_array_append_val (self->counts, count);
}

static gboolean
list_sizes (CollectiveRequest *self, GError **error)
{
  FabBytes last = self->last_bytes, step = self->step_bytes;

  for (FabBytes size = self->first_bytes;;) {
    double next = step ? (double) size + (double) step : (double) size * collective_factor (self->options);

    add_size (self, size);
    if (next > (double) last)
      break;
    if (self->sizes->len + self->n_too_small >= MAX_SIZES)
      return fab_throw (error, FAB_ERROR_INPUT,
                        "there are more than %d sizes from -b to -e; give a "
                        "larger -f or -i",
                        MAX_SIZES);
    size = step ? size + step : MAX ((FabBytes) next, size + 1);
  }
  if (self->sizes->len == 0)
    return fab_throw (error, FAB_ERROR_INPUT,
                      "-e gives less than one element of type %s to each of %u "
                      "ranks; give a larger size",
                      self->type->name, self->n_ranks);
  return TRUE;
}

static gboolean
read_op (CollectiveRequest *self, GError **error)
{
  const char *name = self->options->op_name;

  if (name == NULL)
    name = self->file && self->file->program ? self->file->program : "all_reduce";
  if (fab_nccl_op (name, &self->op))
    return TRUE;
  g_autofree char *all = g_strjoinv (", ", (char **) fab_op_names);
  g_autofree char *note = fab_nearest_note (name, all);
  return fab_throw (error, FAB_ERROR_INPUT, "--op %s: unknown operation%s; the operations are %s", name, note,
                    all);
}

static gboolean
read_type (CollectiveRequest *self, GError **error)
{
  const char *name = self->options->type_name;

  if (name == NULL)
    name = self->file && self->file->type ? self->file->type : "float";
  self->type = fab_nccl_type (name);
  if (self->type)
    return TRUE;
  g_autoptr (GPtrArray) names = g_ptr_array_new ();
  for (const FabNcclType *type = fab_nccl_types;; type++) {
    g_ptr_array_add (names, (gpointer) type->name);
    if (type->name == NULL)
      break;
  }
  g_autofree char *all = g_strjoinv (", ", (char **) names->pdata);
  return fab_throw (error, FAB_ERROR_INPUT, "-d %s: unknown data type; the types are %s", name, all);
}

static gboolean
read_form (CollectiveRequest *self, GError **error)
{
  const char *name = self->options->form_name;

  for (guint i = 0; fab_form_names[i]; i++)
    if (strcmp (name ? name : fab_form_names[0], fab_form_names[i]) == 0) {
      self->form = (FabForm) i;
      return TRUE;
    }
  g_autofree char *all = g_strjoinv (", ", (char **) fab_form_names);
  return fab_throw (error, FAB_ERROR_INPUT, "--form %s: unknown form; the forms are %s", name, all);
}

/* nccl-tests has -t threads with -g GPUs each in every process; here they are those of a node, all of it unless
 * --gpus-per-node, -g or -t say less. */
static gint64
gpus_of_node (const CollectiveRequest *self, gint64 all)
{
  const CollectiveOptions *o = self->options;

  if (o->gpus_per_node)
    return o->gpus_per_node;
  if (o->gpus_per_thread)
    return o->gpus_per_thread * MAX (o->threads, 1);
  if (self->file && self->file->n_nodes == self->nodes && self->file->n_ranks % self->nodes == 0)
    return MIN (all, self->file->n_ranks / self->nodes);
  return all;
}

/* The most GPUs that one process can drive: those of one machine with an operating system of its own. */
static gint64
gpus_of_system (const FabNodeSpec *node)
{
  return node != NULL ? fab_node_spec_n_parts (node, FAB_PART_ACCELERATOR) / fab_node_spec_n_systems (node)
                      : G_MAXINT64;
}

/* One thread launches on its GPUs one after another. */
static gint64
gpus_of_thread (const CollectiveRequest *self, const FabNodeSpec *node)
{
  const CollectiveOptions *o = self->options;

  if (o->gpus_per_node && o->gpus_per_thread)
    return o->gpus_per_thread;
  if (o->threads)
    return MAX (self->gpus_per_node / o->threads, 1);
  if (self->file && self->file->gpus_per_thread)
    return self->file->gpus_per_thread;
  return self->nodes == 1 && self->gpus_per_node <= gpus_of_system (node) ? self->gpus_per_node : 1;
}

static gboolean
check_file_ranks (const CollectiveRequest *self, GError **error)
{
  const FabNcclTests *file = self->file;
  const CollectiveOptions *o = self->options;

  if (file == NULL || file->n_ranks == 0 || file->n_ranks == self->n_ranks)
    return TRUE;
  return fab_throw (error, FAB_ERROR_INPUT,
                    "--check %s: measured over %u %s on %u %s, but %" G_GINT64_FORMAT
                    " x %s with %" G_GINT64_FORMAT
                    " GPUs are %u; give --node, --nodes and --gpus-per-node as they were measured",
                    o->check_path, file->n_ranks, fab_plural (file->n_ranks, "rank", "ranks"), file->n_nodes,
                    fab_plural (file->n_nodes, "node", "nodes"), self->nodes, o->node, self->gpus_per_node,
                    self->n_ranks);
}

static gboolean
read_ranks (CollectiveRequest *self, const FabCatalog *catalog, GError **error)
{
  const CollectiveOptions *o = self->options;
  const gint64 counts[] = { o->nodes, o->gpus_per_node, o->gpus_per_thread, o->threads };
  const FabNodeSpec *node = fab_catalog_node (catalog, o->node);

  for (guint i = 0; i < G_N_ELEMENTS (counts); i++)
    if (counts[i] < 0 || counts[i] > MAX_COUNT)
      return fab_throw (error, FAB_ERROR_INPUT, "--nodes, --gpus-per-node, -g and -t must be from 1 to %d",
                        MAX_COUNT);
  self->nodes = o->nodes ? o->nodes : self->file && self->file->n_nodes ? self->file->n_nodes : 1;
  self->gpus_per_node = gpus_of_node (self, node ? fab_node_spec_n_parts (node, FAB_PART_ACCELERATOR) : 0);
  self->gpus_per_process = gpus_of_thread (self, node);
  self->n_ranks = (guint) CLAMP (self->nodes * self->gpus_per_node, 1, G_MAXINT32);
  return check_file_ranks (self, error);
}

/* The numbers of nodes and GPUs over a scenario: those of options, or its own. */
static void
add_cluster_edits (CollectiveRequest *self)
{
  fab_edits_set (self->edits, "cluster.nodes", fab_value_count (self->nodes));
  fab_edits_set (self->edits, "cluster.gpus_per_node", fab_value_count (self->gpus_per_node));
}

static gboolean
chooses_process (const char *set)
{
  return g_str_has_prefix (set, "collectives=") || g_str_has_prefix (set, "collectives.kind=")
      || g_str_has_prefix (set, "collectives.gpus_per_process=");
}

/* What a prediction is of is said by options: keys that would say something else are refused. */
static gboolean
check_sets (const CollectiveOptions *o, GError **error)
{
  static const char *const options[][2] = {
    { "cluster.nodes", "use --nodes" },
    { "cluster.gpus_per_node", "use --gpus-per-node" },
    { "cluster.node", "use --node" },
    { "cluster", "use --node, --nodes, --nic and --set cluster.KEY" },
    { "job", "use --op, -b and -e" },
    { "iterations", "leave it out, because a prediction has no noise to average" }
  };

  for (guint i = 0; o->sets && o->sets[i]; i++)
    for (guint k = 0; k < G_N_ELEMENTS (options); k++) {
      gsize length = strlen (options[k][0]);
      gboolean is_job = strcmp (options[k][0], "job") == 0;

      if (strncmp (o->sets[i], options[k][0], length) == 0
          && (o->sets[i][length] == '=' || (is_job && o->sets[i][length] == '.')))
        return fab_throw (error, FAB_ERROR_INPUT, "--set %s: this command does not read the key; %s",
                          o->sets[i], options[k][1]);
    }
  return TRUE;
}

/* From the least to the most explicit: options of people may not undo each other. */
static gboolean
list_edits (CollectiveRequest *self, GError **error)
{
  const CollectiveOptions *o = self->options;
  gboolean is_chosen = self->gpus_per_process < 2 || (o->library && strcmp (o->library, "nccl") != 0);

  if (o->with) {
    FabValue *files = fab_cli_with (o->with, error);
    if (files == NULL)
      return FALSE;
    fab_edits_set (self->edits, "include", files);
  }
  if (o->base)
    add_cluster_edits (self);
  if (o->nic)
    fab_edits_ask (self->edits, "cluster.nic", fab_value_text (o->nic));
  if (o->fabric)
    fab_edits_ask (self->edits, "cluster.fabric", fab_value_text (o->fabric));
  if (o->library)
    fab_edits_ask (self->edits, "collectives", fab_value_text (o->library));
  for (guint i = 0; o->sets && o->sets[i]; i++)
    is_chosen = is_chosen || chooses_process (o->sets[i]);
  if (!is_chosen)
    fab_edits_set (self->edits, "collectives.gpus_per_process",
                   fab_value_count (MIN (self->gpus_per_process, MAX_GPUS_PER_PROCESS)));
  for (guint i = 0; o->environment && o->environment[i]; i++)
    if (!collective_add_nccl_env (o->environment[i], self->edits, error))
      return FALSE;
  if (o->algorithm) {
    g_autofree char *name = collective_nccl_name (o->algorithm);
    fab_edits_ask (self->edits, "collectives.algorithm", fab_value_text (name));
  }
  if (o->protocol) {
    g_autofree char *name = g_ascii_strdown (o->protocol, -1);
    fab_edits_ask (self->edits, "collectives.protocol", fab_value_text (name));
  }
  for (guint i = 0; o->sets && o->sets[i]; i++)
    fab_edits_assign (self->edits, o->sets[i]);
  return TRUE;
}

static gboolean
load_file (CollectiveRequest *self, GError **error)
{
  const char *path = self->options->check_path;
  g_autofree char *text = NULL;
  gsize size;

  if (path == NULL)
    return TRUE;
  if (!fab_cli_read_file (path, MAX_FILE_BYTES, &text, &size, error))
    return FALSE;
  self->file = fab_nccl_tests_parse (path, text, size, error);
  return self->file != NULL;
}

static void
take_sizes (CollectiveRequest *self)
{
  for (guint i = 0; i < self->file->rows->len; i++) {
    const FabNcclTestsRow *row = &g_array_index (self->file->rows, FabNcclTestsRow, i);

    g_array_append_val (self->sizes, row->size_bytes);
    g_array_append_val (self->counts, row->count);
    self->first_bytes = i == 0 ? row->size_bytes : MIN (self->first_bytes, row->size_bytes);
    self->last_bytes = MAX (self->last_bytes, row->size_bytes);
  }
}

static gboolean
fill (CollectiveRequest *self, const FabCatalog *catalog, GError **error)
{
  if (!fab_cli_format (self->options->format_name, &self->format, error) || !check_sets (self->options, error)
      || !check_pairs (self->options, error) || !load_file (self, error) || !read_op (self, error)
      || !read_type (self, error) || !read_form (self, error))
    return FALSE;
  if (self->options->node == NULL)
    return fab_throw (error, FAB_ERROR_INPUT,
                      "give either --node NAME or a SCENARIO; `fabricast describe nodes` lists the nodes");
  if (!read_ranks (self, catalog, error) || !list_edits (self, error))
    return FALSE;
  if (self->file) {
    if (self->format != FAB_FORMAT_TEXT)
      return fab_throw (error, FAB_ERROR_INPUT, "--check prints text only; leave --format out");
    take_sizes (self);
    return TRUE;
  }
  return read_range (self, error) && list_sizes (self, error);
}

CollectiveRequest *
collective_request_new (const CollectiveOptions *options, const FabCatalog *catalog, GError **error)
{
  g_autoptr (CollectiveRequest) self = g_new0 (CollectiveRequest, 1);

  self->options = options;
  self->sizes = g_array_new (FALSE, FALSE, sizeof (FabBytes));
  self->counts = g_array_new (FALSE, FALSE, sizeof (guint64));
  self->edits = fab_edits_new ();
  return fill (self, catalog, error) ? g_steal_pointer (&self) : NULL;
}

void
collective_request_free (CollectiveRequest *self)
{
  if (self == NULL)
    return;
  g_array_unref (self->sizes);
  g_array_unref (self->counts);
  fab_edits_free (self->edits);
  fab_nccl_tests_free (self->file);
  g_free (self);
}
