/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/study/machine.h"

#include <string.h>

#include "sim/base/error.h"

static const FabNodeSpec *
node_of (const FabScenario *scenario)
{
  return fab_catalog_node (fab_scenario_catalog (scenario), fab_scenario_spec (scenario)->cluster.node);
}

guint
fab_machine_gpus_per_node (const FabScenario *scenario)
{
  const FabClusterSpec *cluster = &fab_scenario_spec (scenario)->cluster;

  return cluster->gpus_per_node > 0 ? (guint) cluster->gpus_per_node
                                    : fab_node_spec_n_parts (node_of (scenario), FAB_PART_ACCELERATOR);
}

guint
fab_machine_gpus (const FabScenario *scenario)
{
  return fab_machine_gpus_per_node (scenario) * (guint) fab_scenario_spec (scenario)->cluster.nodes;
}

guint
fab_machine_domain (const FabScenario *scenario)
{
  const FabClusterSpec *cluster = &fab_scenario_spec (scenario)->cluster;
  guint sharers = fab_cluster_spec_sharers (cluster, node_of (scenario));

  return fab_machine_gpus_per_node (scenario) * MIN (sharers, (guint) cluster->nodes);
}

gboolean
fab_machine_has_leaves (const FabModelInfo *fabric)
{
  for (const FabParam *row = fabric->params; row != NULL && row->key != NULL; row++)
    if (strcmp (row->key, "nodes_per_leaf") == 0)
      return TRUE;
  return FALSE;
}

static void
add_whole (FabEdits *edits, const char *key, guint value)
{
  fab_edits_set (edits, key, fab_value_count (value));
}

gboolean
fab_machine_set_gpus (const FabScenario *scenario, guint n, FabEdits *edits, GError **error)
{
  guint per_node = fab_machine_gpus_per_node (scenario);

  if (n == 0 || (n > per_node && n % per_node != 0))
    return fab_throw (error, FAB_ERROR_INPUT, "%u GPUs are not a whole number of nodes of %u", n, per_node);
  add_whole (edits, "cluster.nodes", MAX (n / per_node, 1));
  if (n < per_node)
    add_whole (edits, "cluster.gpus_per_node", n);
  return TRUE;
}

/* --- domains --- */

/* Makes each domain a part of a node, with its share of the NICs. */
static gboolean
divide_nodes (const FabScenario *scenario, guint n, FabEdits *edits, GError **error)
{
  const FabClusterSpec *cluster = &fab_scenario_spec (scenario)->cluster;
  guint per_node = fab_machine_gpus_per_node (scenario);
  guint nics = cluster->nics_per_node > 0 ? (guint) cluster->nics_per_node
                                          : fab_node_spec_n_parts (node_of (scenario), FAB_PART_NIC);

  if (per_node % n != 0)
    return fab_throw (error, FAB_ERROR_INPUT, "nodes of %u GPUs cannot be divided into domains of %u",
                      per_node, n);
  add_whole (edits, "cluster.nodes", (guint) cluster->nodes * (per_node / n));
  add_whole (edits, "cluster.gpus_per_node", n);
  if (fab_node_spec_sharers (node_of (scenario)) > 1)
    add_whole (edits, "cluster.domain_nodes", 1);
  if (nics > 0)
    add_whole (edits, "cluster.nics_per_node", MAX (nics / (per_node / n), 1));
  return TRUE;
}

typedef struct {
  const FabNodeSpec *node; /* NULL: the catalogue has none */
  guint gpus;              /* of the node */
  GString *known;          /* domains of the nodes with this GPU */
} Search;

/* Of several it takes the first, whole machines before machines that share a switch. */
static Search
find_node (const FabScenario *scenario, guint n)
{
  const FabCatalog *catalog = fab_scenario_catalog (scenario);
  g_autofree const char **names = fab_catalog_names (catalog, FAB_SECTION_NODES);
  Search found = { NULL, 0, g_string_new (NULL) };

  for (guint i = 0; names[i] != NULL; i++) {
    const FabNodeSpec *node = fab_catalog_node (catalog, names[i]);
    guint gpus = fab_node_spec_n_parts (node, FAB_PART_ACCELERATOR), sharers = fab_node_spec_sharers (node);

    if (g_strcmp0 (node->accelerator, node_of (scenario)->accelerator) != 0)
      continue;
    g_string_append_printf (found.known, "%s%u (%s)", found.known->len > 0 ? ", " : "", gpus * sharers,
                            names[i]);
    if (gpus * sharers == n && (found.node == NULL || gpus > found.gpus)) {
      found.node = node;
      found.gpus = gpus;
    }
  }
  return found;
}

static gboolean
take_node (const FabScenario *scenario, const Search *found, guint n, FabEdits *edits, GError **error)
{
  guint gpus = fab_machine_gpus (scenario);

  if (found->node == NULL)
    return fab_throw (error, FAB_ERROR_INPUT, "the catalogue joins %s in domains of %s, not of %u",
                      node_of (scenario)->accelerator, found->known->str, n);
  if (gpus % n != 0) {
    guint whole = n;

    while (whole < gpus || whole % fab_machine_gpus_per_node (scenario) != 0)
      whole += n;
    return fab_throw (error, FAB_ERROR_INPUT,
                      "%u GPUs are not a whole number of domains of %u; %u GPUs are (cluster.nodes=%u)", gpus,
                      n, whole, whole / fab_machine_gpus_per_node (scenario));
  }
  fab_edits_set (edits, "cluster.node", fab_value_text (found->node->name));
  add_whole (edits, "cluster.nodes", gpus / found->gpus);
  add_whole (edits, "cluster.gpus_per_node", 0);
  add_whole (edits, "cluster.nics_per_node", 0);
  if (fab_scenario_spec (scenario)->cluster.domain_nodes > 0)
    add_whole (edits, "cluster.domain_nodes", 0);
  return TRUE;
}

/* Whether domains of n GPUs are nodes of the machine that share switches, fewer than can share them. */
static gboolean
is_part_of_domain (const FabScenario *scenario, guint n)
{
  guint per_node = fab_machine_gpus_per_node (scenario), sharers = fab_node_spec_sharers (node_of (scenario));

  return n % per_node == 0 && n / per_node < sharers && fab_machine_gpus (scenario) % n == 0;
}

gboolean
fab_machine_set_domain (const FabScenario *scenario, guint n, FabEdits *edits, GError **error)
{
  if (n == 0)
    return fab_throw (error, FAB_ERROR_INPUT, "a domain needs at least one GPU");
  if (n < fab_machine_gpus_per_node (scenario))
    return divide_nodes (scenario, n, edits, error);
  if (is_part_of_domain (scenario, n)) {
    add_whole (edits, "cluster.domain_nodes", n / fab_machine_gpus_per_node (scenario));
    return TRUE;
  }
  Search found = find_node (scenario, n);
  gboolean is_taken = take_node (scenario, &found, n, edits, error);

  g_string_free (found.known, TRUE);
  return is_taken;
}

FabBatch
fab_batch_of (const FabScenario *scenario)
{
  FabBatch self = { .n_gpus = fab_machine_gpus (scenario) };
  gint64 tensor = fab_scenario_get_whole (scenario, "job.parallel.tensor", 1),
         context = fab_scenario_get_whole (scenario, "job.parallel.context", 1),
         pipeline = fab_scenario_get_whole (scenario, "job.parallel.pipeline", 1);

  self.micro_batch = (guint64) fab_scenario_get_whole (scenario, "job.micro_batch", 0);
  self.accumulation = (guint64) fab_scenario_get_whole (scenario, "job.accumulation", 1);
  self.global_batch = (guint64) fab_scenario_get_whole (scenario, "job.global_batch", 0);
  self.n_model_ranks = (guint64) (tensor * context * pipeline);
  return self;
}

guint64
fab_batch_copies (const FabBatch *self)
{
  return self->n_gpus / self->n_model_ranks;
}

guint64
fab_batch_sequences (const FabBatch *self)
{
  if (self->micro_batch == 0 || self->global_batch > 0)
    return self->global_batch;
  return self->micro_batch * self->accumulation * fab_batch_copies (self);
}

static void
batch_add_whole (FabEdits *edits, const char *key, guint64 value)
{
  fab_edits_set (edits, key, fab_value_count ((gint64) value));
}

static gboolean
is_divided_over (const FabBatch *self, GError **error)
{
  return fab_throw (error, FAB_ERROR_INPUT, "the model is divided over %" G_GUINT64_FORMAT " GPUs",
                    self->n_model_ranks);
}

/* Keeps what is given per copy of the model, and scales what is given for the whole job. */
static gboolean
keep_each (const FabBatch *self, guint64 copies, FabEdits *edits, GError **error)
{
  guint64 all = self->global_batch * copies, n_gpus = copies * self->n_model_ranks;

  if (self->global_batch == 0)
    return TRUE;
  if (copies == 0)
    return is_divided_over (self, error);
  if (fab_batch_copies (self) == 0 || all % fab_batch_copies (self) != 0)
    return fab_throw (error, FAB_ERROR_INPUT,
                      "a global batch of %" G_GUINT64_FORMAT " on %u GPUs is none on %" G_GUINT64_FORMAT,
                      self->global_batch, self->n_gpus, n_gpus);
  batch_add_whole (edits, "job.global_batch", all / fab_batch_copies (self));
  return TRUE;
}

/* Says which numbers of copies around `copies` can divide the batch. */
static gboolean
cannot_divide (guint64 all, guint64 copies, GError **error)
{
  guint64 fewer = copies, more = copies;

  while (all % fewer != 0)
    fewer--;
  while (more < all && all % more != 0)
    more++;
  g_autofree char *right = more <= all
                             ? g_strdup_printf ("%" G_GUINT64_FORMAT " or %" G_GUINT64_FORMAT, fewer, more)
                             : g_strdup_printf ("%" G_GUINT64_FORMAT, fewer);
  return fab_throw (error, FAB_ERROR_INPUT,
                    "a batch of %" G_GUINT64_FORMAT " %s cannot be divided over %" G_GUINT64_FORMAT
                    " copies of the model; it can over %s, and with --hold micro_batch it grows with them",
                    all, fab_plural (all, "sequence", "sequences"), copies, right);
}

/* Reduces the number of micro-batches first, then their size: to the largest one that divides the share of a copy of
 * the model. */
static gboolean
keep_all (const FabBatch *self, guint64 copies, FabEdits *edits, GError **error)
{
  guint64 all = fab_batch_sequences (self), micro = self->micro_batch;

  if (self->micro_batch == 0)
    return fab_throw (error, FAB_ERROR_INPUT,
                      "the job has no batch that could be held; leave out --hold batch and --strong");
  if (copies == 0 || all == 0)
    return is_divided_over (self, error);
  if (all % copies != 0)
    return cannot_divide (all, copies, error);
  while (all / copies % micro != 0)
    micro--;
  batch_add_whole (edits, "job.micro_batch", micro);
  batch_add_whole (edits, "job.accumulation", all / copies / micro);
  batch_add_whole (edits, "job.global_batch", 0);
  return TRUE;
}

gboolean
fab_batch_set_copies (const FabBatch *self, guint64 copies, gboolean is_strong, FabEdits *edits,
                      GError **error)
{
  return is_strong ? keep_all (self, copies, edits, error) : keep_each (self, copies, edits, error);
}

gboolean
fab_batch_set (const FabBatch *self, guint n, gboolean is_strong, FabEdits *edits, GError **error)
{
  return fab_batch_set_copies (self, n / self->n_model_ranks, is_strong, edits, error);
}
