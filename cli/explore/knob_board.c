/* SPDX-License-Identifier: Apache-2.0 */
/* knob_board.c - where the knobs of a scenario stand, and what a setting assigns to it. */
#include <string.h>

#include "cli/explore/knobs.h"
#include "sim/base/error.h"

#define BYTES_PER_GBIT 125000000u

typedef struct {
  const char *name, *kind, *stage;
} Strategy;

static const Strategy strategies[FAB_N_STRATEGIES] = {
  { "ddp", "ddp", NULL },   { "zero1", "zero", "1" }, { "zero2", "zero", "2" },
  { "zero3", "zero", "3" }, { "fsdp", "fsdp", NULL },
};

const char *
fab_strategy_kind (FabStrategyId strategy)
{
  return strategies[strategy].kind;
}

guint
fab_gradient_bytes (const char *type)
{
  return g_strcmp0 (type, "fp32") == 0 ? 4 : 2;
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
add_strategy (const Strategy *strategy, GPtrArray *sets)
{
  add_set (sets, "job.kind=%s", strategy->kind);
  if (strategy->stage != NULL)
    add_set (sets, "job.stage=%s", strategy->stage);
}

static void
add_bucket (const FabKnobBoard *self, const FabKnobSetting *setting, GPtrArray *sets)
{
  const Strategy *strategy = &strategies[setting->values[FAB_KNOB_STRATEGY]];
  gint64 mib = setting->values[FAB_KNOB_BUCKET];

  if (strcmp (strategy->kind, "ddp") == 0)
    add_set (sets, "job.bucket=%" G_GINT64_FORMAT "MiB", mib);
  else if (strcmp (strategy->kind, "zero") == 0)
    add_set (sets, "job.reduce_bucket=%" G_GINT64_FORMAT,
             mib * 1024 * 1024 / self->gradient_bytes[setting->values[FAB_KNOB_STRATEGY]]);
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
    add_strategy (&strategies[now[FAB_KNOB_STRATEGY]], sets);
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

static gint64
strategy_of (const FabYamlNode *job)
{
  const char *kind = text_of (job, "kind"), *stage = text_of (job, "stage");

  for (gint64 i = 0; i < FAB_N_STRATEGIES; i++)
    if (g_strcmp0 (strategies[i].kind, kind) == 0 && g_strcmp0 (strategies[i].stage, stage) == 0)
      return i;
  return -1;
}

static gint64
bucket_mib (const FabYamlNode *job)
{
  gint64 bytes = number_of (job, "bucket", FAB_UNIT_BYTES);

  if (bytes == 0)
    bytes = number_of (job, "reduce_bucket", FAB_UNIT_COUNT) * fab_gradient_bytes (text_of (job, "gradient"));
  return bytes > 0 ? CLAMP ((bytes + (1 << 19)) >> 20, 1, fab_knobs[FAB_KNOB_BUCKET].max) : 25;
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
  return CLAMP ((gint64) ((rate + BYTES_PER_GBIT / 2) / BYTES_PER_GBIT), 1, fab_knobs[FAB_KNOB_RATE].max);
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

  for (guint i = 0; i < FAB_N_STRATEGIES; i++)
    self->gradient_bytes[i] = fab_gradient_bytes (gradient);
  self->has_rate = cluster->nic_rate_bytes_per_s > 0;
  values[FAB_KNOB_STRATEGY] = strategy_of (job);
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
                                        fab_knobs[FAB_KNOB_MICRO_BATCH].max);
  values[FAB_KNOB_BUCKET] = bucket_mib (job);
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
  self->names[FAB_KNOB_STRATEGY] = g_new0 (const char *, FAB_N_STRATEGIES + 1);
  for (guint i = 0; i < FAB_N_STRATEGIES; i++)
    self->names[FAB_KNOB_STRATEGY][i] = strategies[i].name;
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
  fab_scenario_free (self->scenario);
  g_free (self);
}
