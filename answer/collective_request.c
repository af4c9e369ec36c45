/* SPDX-License-Identifier: Apache-2.0 */
#include "answer/collective_request.h"

#include <string.h>

#include "sim/base/error.h"
#include "sim/scenario/node_wires.h"

enum { MAX_SIZES = 10000, MAX_GPUS_PER_PROCESS = 256, MAX_COUNT = 1000000 };

#define MAX_FACTOR 1e15

/* --- checks of what was given --- */

static void
check_counts (const FabCollectiveRequest *request, FabDiagnostics *problems)
{
  const gint64 counts[] = { request->nodes, request->gpus_per_node, request->gpus_per_thread,
                            request->threads };

  for (guint i = 0; i < G_N_ELEMENTS (counts); i++)
    if (counts[i] < 0 || counts[i] > MAX_COUNT) {
      fab_diagnostics_add (problems, NULL, "--nodes, --gpus-per-node, -g and -t must be from 1 to %d",
                           MAX_COUNT);
      return;
    }
}

static void
check_range (const FabSizeRange *range, FabDiagnostics *problems)
{
  if (range->last_bytes < range->first_bytes)
    fab_diagnostics_add (problems, NULL, "-e must not be smaller than -b");
  if (range->step_bytes == 0 && !(range->factor > 1 && range->factor <= MAX_FACTOR))
    fab_diagnostics_add (problems, NULL, "-f must be a number larger than 1; it multiplies the size");
}

/* --- ranks --- */

/* nccl-tests has -t threads with -g GPUs each in every process; here they are those of a node, all of it unless
 * --gpus-per-node, -g or -t say less. */
static gint64
gpus_of_node (const FabCollectiveRequest *request, gint64 nodes, gint64 all)
{
  const FabNcclTests *file = request->measured;

  if (request->gpus_per_node)
    return request->gpus_per_node;
  if (request->gpus_per_thread)
    return request->gpus_per_thread * MAX (request->threads, 1);
  if (file && file->n_nodes == nodes && file->n_ranks % nodes == 0)
    return MIN (all, file->n_ranks / nodes);
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
gpus_of_thread (const FabCollectiveRequest *request, const FabCollectiveCase *self, const FabNodeSpec *node)
{
  if (request->gpus_per_node && request->gpus_per_thread)
    return request->gpus_per_thread;
  if (request->threads)
    return MAX (self->gpus_per_node / request->threads, 1);
  if (request->measured && request->measured->gpus_per_thread)
    return request->measured->gpus_per_thread;
  return self->nodes == 1 && self->gpus_per_node <= gpus_of_system (node) ? self->gpus_per_node : 1;
}

static void
check_measured_ranks (const FabCollectiveRequest *request, const FabCollectiveCase *self,
                      FabDiagnostics *problems)
{
  const FabNcclTests *file = request->measured;

  if (file != NULL && file->n_ranks != 0 && file->n_ranks != self->n_ranks)
    fab_diagnostics_add (problems, NULL,
                         "--check %s: measured over %u %s on %u %s, but %" G_GINT64_FORMAT
                         " x %s with %" G_GINT64_FORMAT
                         " GPUs are %u; give --node, --nodes and --gpus-per-node as they were measured",
                         request->measured_name, file->n_ranks, fab_plural (file->n_ranks, "rank", "ranks"),
                         file->n_nodes, fab_plural (file->n_nodes, "node", "nodes"), self->nodes,
                         request->node, self->gpus_per_node, self->n_ranks);
}

static void
find_ranks (FabCollectiveCase *self, const FabCollectiveRequest *request, const FabCatalog *catalog)
{
  const FabNodeSpec *node = fab_catalog_node (catalog, request->node);
  gint64 all = node != NULL ? fab_node_spec_n_parts (node, FAB_PART_ACCELERATOR) : 0;

  self->nodes = request->nodes                                  ? request->nodes
              : request->measured && request->measured->n_nodes ? request->measured->n_nodes
                                                                : 1;
  self->gpus_per_node = gpus_of_node (request, self->nodes, all);
  self->gpus_per_process = gpus_of_thread (request, self, node);
  self->n_ranks = (guint) CLAMP (self->nodes * self->gpus_per_node, 1, G_MAXINT32);
}

/* --- sizes --- */

/* A size as nccl-tests runs it. */
static void
add_size (FabCollectiveCase *self, const FabCollectiveRequest *request, FabBytes asked)
{
  guint64 count;
  FabBytes size = fab_nccl_size (request->op, asked, request->type, self->n_ranks, &count);

  if (size == 0) {
    self->n_too_small++;
    return;
  }
  g_array_append_val (self->sizes, size);
  g_array_append_val (self->counts, count);
}

static void
list_sizes (FabCollectiveCase *self, const FabCollectiveRequest *request, FabDiagnostics *problems)
{
  const FabSizeRange *range = &request->range;
  FabBytes step = range->step_bytes;

  self->first_bytes = range->first_bytes;
  self->last_bytes = range->last_bytes;
  for (FabBytes size = range->first_bytes;;) {
    double next = step ? (double) size + (double) step : (double) size * range->factor;

    add_size (self, request, size);
    if (next > (double) range->last_bytes)
      break;
    if (self->sizes->len + self->n_too_small >= MAX_SIZES) {
      fab_diagnostics_add (problems, NULL,
                           "there are more than %d sizes from -b to -e; give a larger -f or -i", MAX_SIZES);
      return;
    }
    size = step ? size + step : MAX ((FabBytes) next, size + 1);
  }
  if (self->sizes->len == 0)
    fab_diagnostics_add (problems, NULL,
                         "-e gives less than one element of type %s to each of %u %s; give a larger size",
                         request->type->name, self->n_ranks, fab_plural (self->n_ranks, "rank", "ranks"));
}

static void
take_sizes (FabCollectiveCase *self, const FabNcclTests *measured)
{
  for (guint i = 0; i < measured->rows->len; i++) {
    const FabNcclTestsRow *row = &g_array_index (measured->rows, FabNcclTestsRow, i);

    g_array_append_val (self->sizes, row->size_bytes);
    g_array_append_val (self->counts, row->count);
    self->first_bytes = i == 0 ? row->size_bytes : MIN (self->first_bytes, row->size_bytes);
    self->last_bytes = MAX (self->last_bytes, row->size_bytes);
  }
}

/* --- the scenario behind it --- */

static gboolean
chooses_process (const char *set)
{
  return g_str_has_prefix (set, "collectives=") || g_str_has_prefix (set, "collectives.kind=")
      || g_str_has_prefix (set, "collectives.gpus_per_process=");
}

/* Whether the number of GPUs of a process is somebody else's choice, or none. */
static gboolean
has_process (const FabCollectiveRequest *request, const FabCollectiveCase *self)
{
  if (self->gpus_per_process < 2 || (request->library && strcmp (request->library, "nccl") != 0))
    return TRUE;
  for (guint i = 0; i < fab_edits_count (request->sets); i++)
    if (chooses_process (fab_edits_at (request->sets, i)->text))
      return TRUE;
  return FALSE;
}

static void
ask (FabEdits *edits, const char *key, const char *text)
{
  if (text != NULL)
    fab_edits_ask (edits, key, fab_value_text (text));
}

/* From the least to the most explicit: what a person asked for may not be undone by something else that they asked for.
 */
static FabEdits *
edits_of (const FabCollectiveRequest *request, const FabCollectiveCase *self)
{
  FabEdits *edits = fab_edits_new ();

  if (request->include)
    fab_edits_set (edits, "include", fab_value_ref ((FabValue *) request->include));
  if (request->base) {
    fab_edits_set (edits, "cluster.nodes", fab_value_count (self->nodes));
    fab_edits_set (edits, "cluster.gpus_per_node", fab_value_count (self->gpus_per_node));
  }
  ask (edits, "cluster.nic", request->nic);
  ask (edits, "cluster.fabric", request->fabric);
  ask (edits, "collectives", request->library);
  if (!has_process (request, self))
    fab_edits_set (edits, "collectives.gpus_per_process",
                   fab_value_count (MIN (self->gpus_per_process, MAX_GPUS_PER_PROCESS)));
  for (guint i = 0; i < fab_edits_count (request->environment); i++) {
    const FabEdit *edit = fab_edits_at (request->environment, i);

    fab_edits_ask (edits, edit->key, fab_value_ref (edit->value));
  }
  ask (edits, "collectives.algorithm", request->algorithm);
  ask (edits, "collectives.protocol", request->protocol);
  for (guint i = 0; i < fab_edits_count (request->sets); i++)
    fab_edits_assign (edits, fab_edits_at (request->sets, i)->text);
  return edits;
}

static FabPredictionRequest
prediction_of (const FabCollectiveRequest *request, const FabCollectiveCase *self)
{
  return (FabPredictionRequest){
    .base = request->base,
    .node = request->node,
    .nodes = self->nodes,
    .gpus_per_node = self->gpus_per_node,
    .op = request->op,
    .sizes_bytes = (const FabBytes *) (gpointer) self->sizes->data,
    .n_sizes = self->sizes->len,
    .edits = self->edits,
    .form = request->form,
    .has_band = request->has_band,
  };
}

FabCollectiveCase *
fab_collective_case_new (const FabCollectiveRequest *request, const FabCatalog *catalog,
                         FabDiagnostics *problems)
{
  g_autoptr (FabCollectiveCase) self = g_new0 (FabCollectiveCase, 1);

  self->sizes = g_array_new (FALSE, FALSE, sizeof (FabBytes));
  self->counts = g_array_new (FALSE, FALSE, sizeof (guint64));
  check_counts (request, problems);
  if (request->measured == NULL)
    check_range (&request->range, problems);
  if (fab_diagnostics_count (problems) > 0)
    return NULL;
  find_ranks (self, request, catalog);
  check_measured_ranks (request, self, problems);
  if (request->measured != NULL)
    take_sizes (self, request->measured);
  else
    list_sizes (self, request, problems);
  self->edits = edits_of (request, self);
  self->prediction = prediction_of (request, self);
  return fab_diagnostics_count (problems) == 0 ? g_steal_pointer (&self) : NULL;
}

void
fab_collective_case_free (FabCollectiveCase *self)
{
  if (self == NULL)
    return;
  g_array_unref (self->sizes);
  g_array_unref (self->counts);
  fab_edits_free (self->edits);
  g_free (self);
}
