/* SPDX-License-Identifier: Apache-2.0 */
/* knob_board.c - where the knobs of a scenario stand, and what a setting assigns to it. */
#include <string.h>

#include "cli/explore/knobs.h"
#include "sim/base/error.h"

#define BYTES_PER_GBIT 125000000u

const FabStrategy *
fab_knob_board_strategy (const FabKnobBoard *self, gint64 value)
{
  return g_ptr_array_index (self->strategies, (guint) value);
}

gint64
fab_knob_index (const char *const *names, const char *name)
{
  for (gint64 i = 0; name != NULL && names[i] != NULL; i++)
    if (strcmp (names[i], name) == 0)
      return i;
  return -1;
}

/* --- assignments --- */

static void G_GNUC_PRINTF (2, 3) add_set (GPtrArray *sets, const char *format, ...)
{
  va_list args;

  va_start (args, format);
  g_ptr_array_add (sets, g_strdup_vprintf (format, args));
  va_end (args);
}

static gint64
count_parts (const FabNodeSpec *node, FabPartKind kind)
{
  const FabPartSpec *parts = node->parts.data;
  gint64 n = 0;

  for (guint i = 0; i < node->parts.n; i++)
    if (parts[i].kind == (int) kind)
      n += parts[i].count;
  return n;
}

/* Whole nodes, and whole domains of nodes that have a switch in common. */
static void
add_machine (const FabKnobBoard *self, const FabKnobSetting *setting, GPtrArray *sets)
{
  gint64 index = setting->values[FAB_KNOB_NODE], gpus = setting->values[FAB_KNOB_GPUS];
  const char *name = self->names[FAB_KNOB_NODE][index];
  const FabNodeSpec *node = fab_catalog_node (fab_scenario_catalog (self->scenario), name);
  gint64 per_node = count_parts (node, FAB_PART_ACCELERATOR);
  gint64 nodes = (gpus + per_node - 1) / per_node, sharers = fab_node_spec_sharers (node);

  if (nodes > sharers)
    nodes = (nodes + sharers - 1) / sharers * sharers;
  if (index != self->start.values[FAB_KNOB_NODE])
    add_set (sets, "cluster.node=%s", name);
  add_set (sets, "cluster.nodes=%" G_GINT64_FORMAT, nodes);
  if (gpus < per_node)
    add_set (sets, "cluster.gpus_per_node=%" G_GINT64_FORMAT, gpus);
  else if (fab_scenario_spec (self->scenario)->cluster.gpus_per_node > 0)
    add_set (sets, "cluster.gpus_per_node=0");
}

static void
add_strategy (const FabStrategy *strategy, GPtrArray *sets)
{
  add_set (sets, "job.kind=%s", strategy->kind);
  for (const FabStrategyKey *key = strategy->keys; key != NULL && key->key != NULL; key++)
    if (fab_strategy_must_write (strategy, key))
      add_set (sets, "job.%s=%s", key->key, key->value);
}

/* Buckets are bytes for some kinds of jobs and gradients for others. */
static void
add_bucket (const FabKnobBoard *self, const FabKnobSetting *setting, GPtrArray *sets)
{
  gint64 strategy = setting->values[FAB_KNOB_STRATEGY], mib = setting->values[FAB_KNOB_BUCKET];
  const FabParam *param = fab_job_knob_param (fab_knob_board_strategy (self, strategy)->kind, "bucket");

  if (param != NULL && param->type == FAB_PARAM_BYTES)
    add_set (sets, "job.%s=%" G_GINT64_FORMAT "MiB", param->key, mib);
  else if (param != NULL)
    add_set (sets, "job.%s=%" G_GINT64_FORMAT, param->key,
             mib * 1024 * 1024 / self->gradient_bytes[strategy]);
}

char **
fab_knob_board_sets (const FabKnobBoard *self, const FabKnobSetting *setting)
{
  const gint64 *now = setting->values, *then = self->start.values;
  gboolean is_other_node = now[FAB_KNOB_NODE] != then[FAB_KNOB_NODE];
  gboolean is_other_strategy = now[FAB_KNOB_STRATEGY] != then[FAB_KNOB_STRATEGY];
  GPtrArray *sets = g_ptr_array_new ();

  if (now[FAB_KNOB_MODEL] != then[FAB_KNOB_MODEL])
    add_set (sets, "job.model=%s", self->names[FAB_KNOB_MODEL][now[FAB_KNOB_MODEL]]);
  if (is_other_strategy)
    add_strategy (fab_knob_board_strategy (self, now[FAB_KNOB_STRATEGY]), sets);
  if (is_other_node || now[FAB_KNOB_GPUS] != then[FAB_KNOB_GPUS])
    add_machine (self, setting, sets);
  if (now[FAB_KNOB_RATE] != then[FAB_KNOB_RATE] || (is_other_node && !self->has_rate))
    add_set (sets, "cluster.nic_rate=%" G_GINT64_FORMAT "Gb/s", now[FAB_KNOB_RATE]);
  if (now[FAB_KNOB_MICRO_BATCH] != then[FAB_KNOB_MICRO_BATCH])
    add_set (sets, "job.micro_batch=%" G_GINT64_FORMAT, now[FAB_KNOB_MICRO_BATCH]);
  if (is_other_strategy || now[FAB_KNOB_BUCKET] != then[FAB_KNOB_BUCKET])
    add_bucket (self, setting, sets);
  g_ptr_array_add (sets, NULL);
  return (char **) g_ptr_array_free (sets, FALSE);
}

/* --- where the scenario stands --- */

static const char *
text_of (const FabYamlNode *mapping, const char *key)
{
  const FabYamlNode *node = fab_yaml_get (mapping, key);

  return node != NULL && node->kind == FAB_YAML_SCALAR ? node->text : NULL;
}

static gint64
number_of (const FabYamlNode *mapping, const char *key, FabUnit unit)
{
  const char *text = text_of (mapping, key);
  gint64 value = 0;

  return text != NULL && fab_units_parse_whole (unit, text, &value, NULL) ? value : 0;
}

/* Whether the job is what the strategy would make of it. */
static gboolean
is_strategy (const FabYamlNode *job, const FabStrategy *strategy)
{
  if (g_strcmp0 (strategy->kind, text_of (job, "kind")) != 0)
    return FALSE;
  for (const FabStrategyKey *key = strategy->keys; key != NULL && key->key != NULL; key++)
    if (fab_strategy_must_write (strategy, key) && g_strcmp0 (key->value, text_of (job, key->key)) != 0)
      return FALSE;
  return TRUE;
}

static gint64
strategy_of (const FabKnobBoard *self, const FabYamlNode *job)
{
  for (guint i = 0; i < self->strategies->len; i++)
    if (is_strategy (job, fab_knob_board_strategy (self, i)))
      return i;
  return -1;
}

static gint64
bucket_mib (const FabKnobBoard *self, const FabYamlNode *job)
{
  gint64 strategy = self->start.values[FAB_KNOB_STRATEGY], bytes = 0;
  const FabParam *param = fab_job_knob_param (fab_knob_board_strategy (self, strategy)->kind, "bucket");

  if (param != NULL)
    bytes = number_of (job, param->key, fab_param_unit (param->type))
          * (param->type == FAB_PARAM_BYTES ? 1 : self->gradient_bytes[strategy]);
  return bytes > 0 ? CLAMP ((bytes + (1 << 19)) >> 20, 1, fab_knob_controls[FAB_KNOB_BUCKET].max) : 25;
}

static gint64
rate_gbps (const FabKnobBoard *self, const FabClusterSpec *cluster, const FabNodeSpec *node)
{
  const char *nic = cluster->nic != NULL ? cluster->nic : node->nic;
  const FabLinkSpec *link = nic != NULL ? fab_catalog_link (fab_scenario_catalog (self->scenario), nic)
                                        : NULL;
  FabBytesPerS rate = cluster->nic_rate_bytes_per_s;

  if (rate == 0 && link != NULL)
    rate = fab_link_spec_line_rate (link);
  return CLAMP ((gint64) ((rate + BYTES_PER_GBIT / 2) / BYTES_PER_GBIT), 1,
                fab_knob_controls[FAB_KNOB_RATE].max);
}

static gboolean
read_start (FabKnobBoard *self, const FabYamlNode *job, GError **error)
{
  const FabClusterSpec *cluster = &fab_scenario_spec (self->scenario)->cluster;
  const FabNodeSpec *node = fab_catalog_node (fab_scenario_catalog (self->scenario), cluster->node);
  gint64 per_node = cluster->gpus_per_node > 0 ? cluster->gpus_per_node
                                               : count_parts (node, FAB_PART_ACCELERATOR);
  const char *model = text_of (job, "model"), *gradient = text_of (job, "gradient");
  gint64 *values = self->start.values;

  for (guint i = 0; gradient != NULL && i < self->strategies->len; i++)
    self->gradient_bytes[i] = fab_gradient_bytes (gradient);
  self->has_rate = cluster->nic_rate_bytes_per_s > 0;
  values[FAB_KNOB_STRATEGY] = strategy_of (self, job);
  if (values[FAB_KNOB_STRATEGY] < 0)
    return fab_throw (error, FAB_ERROR_INPUT,
                      "these knobs are of jobs of kind ddp, zero and fsdp; this job is another");
  values[FAB_KNOB_GPUS] = cluster->nodes * per_node;
  if (values[FAB_KNOB_GPUS] > FAB_KNOB_MAX_GPUS)
    return fab_throw (error, FAB_ERROR_INPUT,
                      "the knobs go up to %d GPUs, and this scenario has %" G_GINT64_FORMAT
                      "; try --set cluster.nodes=%" G_GINT64_FORMAT,
                      FAB_KNOB_MAX_GPUS, values[FAB_KNOB_GPUS], FAB_KNOB_MAX_GPUS / per_node);
  values[FAB_KNOB_MODEL] = fab_knob_index (self->names[FAB_KNOB_MODEL], model);
  values[FAB_KNOB_NODE] = fab_knob_index (self->names[FAB_KNOB_NODE], cluster->node);
  if (values[FAB_KNOB_MODEL] < 0 || values[FAB_KNOB_NODE] < 0)
    return fab_throw (
        error, FAB_ERROR_INPUT,
        "explore needs a node with GPUs and NICs, and plain names of node and model: letters, digits, "
        "'.', '_' and '-'");
  values[FAB_KNOB_RATE] = rate_gbps (self, cluster, node);
  values[FAB_KNOB_MICRO_BATCH] = CLAMP (number_of (job, "micro_batch", FAB_UNIT_COUNT), 1,
                                        fab_knob_controls[FAB_KNOB_MICRO_BATCH].max);
  values[FAB_KNOB_BUCKET] = bucket_mib (self, job);
  return TRUE;
}

/* A name that reads as itself in YAML, on a command line and in a query. */
static gboolean
is_plain (const char *name)
{
  return g_ascii_isalpha (name[0])
      && strspn (name, G_CSET_A_2_Z G_CSET_a_2_z G_CSET_DIGITS "._-") == strlen (name);
}

static gboolean
is_offered (const FabCatalog *catalog, FabCatalogSection section, const char *name)
{
  const FabNodeSpec *node = section == FAB_SECTION_NODES ? fab_catalog_node (catalog, name) : NULL;

  return is_plain (name)
      && (node == NULL
          || (count_parts (node, FAB_PART_ACCELERATOR) > 0 && count_parts (node, FAB_PART_NIC) > 0));
}

/* (transfer container) */
static const char **
offered (const FabCatalog *catalog, FabCatalogSection section)
{
  const char **names = fab_catalog_names (catalog, section);
  guint n = 0;

  for (guint i = 0; names[i] != NULL; i++)
    if (is_offered (catalog, section, names[i]))
      names[n++] = names[i];
  names[n] = NULL;
  return names;
}

static void
offer_strategies (FabKnobBoard *self)
{
  self->strategies = g_ptr_array_new ();
  for (const FabStrategy *strategy = fab_strategies; strategy->name != NULL; strategy++)
    if (strategy->is_basic)
      g_ptr_array_add (self->strategies, (gpointer) strategy);
  self->gradient_bytes = g_new0 (guint, self->strategies->len);
  self->names[FAB_KNOB_STRATEGY] = g_new0 (const char *, self->strategies->len + 1);
  for (guint i = 0; i < self->strategies->len; i++)
    self->names[FAB_KNOB_STRATEGY][i] = fab_knob_board_strategy (self, i)->name;
}

FabKnobBoard *
fab_knob_board_new (FabScenario *scenario, GError **error)
{
  g_autoptr (FabKnobBoard) self = g_new0 (FabKnobBoard, 1);
  g_autoptr (FabDiagnostics) diagnostics = fab_diagnostics_new ();
  g_autofree char *text = fab_scenario_resolved (scenario);
  g_autoptr (FabYamlDoc) resolved = fab_yaml_doc_parse ("resolved", text, strlen (text), diagnostics);

  self->scenario = scenario;
  self->names[FAB_KNOB_MODEL] = offered (fab_scenario_catalog (scenario), FAB_SECTION_MODELS);
  self->names[FAB_KNOB_NODE] = offered (fab_scenario_catalog (scenario), FAB_SECTION_NODES);
  offer_strategies (self);
  g_assert (resolved != NULL); /* what was written reads back */
  if (!read_start (self, fab_yaml_get (fab_yaml_doc_root (resolved), "job"), error))
    return NULL;
  return g_steal_pointer (&self);
}

void
fab_knob_board_free (FabKnobBoard *self)
{
  if (self == NULL)
    return;
  for (guint id = 0; id < FAB_N_KNOBS; id++)
    g_free (self->names[id]);
  g_ptr_array_unref (self->strategies);
  g_free (self->gradient_bytes);
  fab_scenario_free (self->scenario);
  g_free (self);
}
