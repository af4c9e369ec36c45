/* SPDX-License-Identifier: Apache-2.0 */
/* knobs.c - finds the setting that a scenario has, and the assignments of another one. */
#include "cli/explore/knobs.h"

#include <math.h>
#include <string.h>

#include "models/models.h"
#include "sim/base/error.h"
#include "sim/base/json.h"
#include "sim/scenario/power_cap.h"

enum { NO_DESIGN = 0, OWN_NIC = 0 };

/* Finds the setting that a scenario has, and the assignments of another one. */

#define BYTES_PER_GBIT 125000000
#define BYTES_PER_MIB (1 << 20)

const FabStrategy *
fab_knob_board_strategy (const FabKnobBoard *self, gint64 value)
{
  return g_ptr_array_index (self->strategies, (guint) value);
}

/* Returns the index of a name in a list; -1: it is not in it. */
static gint64
knob_index (const char *const *names, const char *name)
{
  for (gint64 i = 0; name != NULL && names[i] != NULL; i++)
    if (strcmp (names[i], name) == 0)
      return i;
  return -1;
}

/* --- edits --- */

static void
set_count (FabEdits *edits, const char *key, gint64 count)
{
  fab_edits_set (edits, key, fab_value_count (count));
}

static void
set_text (FabEdits *edits, const char *key, const char *text)
{
  fab_edits_set (edits, key, fab_value_text (text));
}

/* Takes the value. */
static void
set_of_job (FabEdits *edits, const char *name, FabValue *value)
{
  g_autofree char *key = g_strconcat ("job.", name, NULL);

  fab_edits_set (edits, key, value);
}

/* Adds whole nodes, and whole domains of nodes that share a switch. */
static void
add_machine (const FabKnobBoard *self, const FabKnobSetting *setting, FabEdits *edits)
{
  gint64 index = setting->values[FAB_KNOB_NODE], gpus = setting->values[FAB_KNOB_GPUS];
  const char *name = self->names[FAB_KNOB_NODE][index];
  const FabNodeSpec *node = fab_catalog_node (fab_scenario_catalog (self->scenario), name);
  gint64 per_node = fab_node_spec_n_parts (node, FAB_PART_ACCELERATOR);
  gint64 nodes = (gpus + per_node - 1) / per_node, sharers = fab_node_spec_sharers (node);

  if (nodes > sharers)
    nodes = (nodes + sharers - 1) / sharers * sharers;
  if (index != self->start.values[FAB_KNOB_NODE])
    set_text (edits, "cluster.node", name);
  if (fab_scenario_spec (self->scenario)->cluster.domain_nodes > 0)
    set_count (edits, "cluster.domain_nodes", 0);
  set_count (edits, "cluster.nodes", nodes);
  if (gpus < per_node)
    set_count (edits, "cluster.gpus_per_node", gpus);
  else if (fab_scenario_spec (self->scenario)->cluster.gpus_per_node > 0)
    set_count (edits, "cluster.gpus_per_node", 0);
}

/* The design gives node, number and network, so the cluster is nothing but the design. Leaving a design needs a cluster
 * that is nothing but the node. */
static void
replace_cluster (const FabKnobBoard *self, const FabKnobSetting *setting, FabEdits *edits)
{
  gint64 design = setting->values[FAB_KNOB_DESIGN];
  FabValue *cluster = fab_value_mapping ();

  if (design != NO_DESIGN) {
    fab_value_put (cluster, "design", fab_value_text (self->names[FAB_KNOB_DESIGN][design]));
    fab_value_put (cluster, "scalable_units", fab_value_count (setting->values[FAB_KNOB_UNITS]));
  } else {
    fab_value_put (cluster, "node",
                   fab_value_text (self->names[FAB_KNOB_NODE][setting->values[FAB_KNOB_NODE]]));
  }
  fab_edits_set (edits, "cluster", cluster);
}

static void
add_strategy (const FabStrategy *strategy, FabEdits *edits)
{
  set_text (edits, "job.kind", strategy->kind);
  for (const FabStrategyKey *key = strategy->keys; key != NULL && key->key != NULL; key++)
    if (fab_strategy_must_write (strategy, key))
      set_of_job (edits, key->key, fab_value_written (key->value));
}

/* Buckets are bytes for some kinds of jobs and gradients for others. */
static void
add_bucket (const FabKnobBoard *self, const FabKnobSetting *setting, FabEdits *edits)
{
  gint64 strategy = setting->values[FAB_KNOB_STRATEGY], mib = setting->values[FAB_KNOB_BUCKET];
  const FabParam *param = fab_job_knob_param (fab_knob_board_strategy (self, strategy)->kind, "bucket");

  if (param != NULL && param->type == FAB_PARAM_BYTES)
    set_of_job (edits, param->key, fab_value_whole (FAB_UNIT_BYTES, mib * BYTES_PER_MIB));
  else if (param != NULL)
    set_of_job (edits, param->key, fab_value_count (mib * BYTES_PER_MIB / self->gradient_bytes[strategy]));
}

static void
add_power_cap (gint64 percent, FabEdits *edits)
{
  g_autofree char *text = g_strdup_printf ("%" G_GINT64_FORMAT "%%", percent);

  fab_edits_set (edits, "cluster.power_cap", fab_value_written (text));
}

/* Ways to divide a model, each by the key of a job that sets it. */
static const struct {
  FabKnobId id;
  const char *key;
} divisions[] = {
  { FAB_KNOB_TENSOR, "parallel.tensor" },
  { FAB_KNOB_PIPELINE, "parallel.pipeline" },
  { FAB_KNOB_CONTEXT, "parallel.context" },
  { FAB_KNOB_EXPERT, "parallel.expert" },
};

static void
add_job_keys (const FabKnobBoard *self, const FabKnobSetting *setting, FabEdits *edits)
{
  const gint64 *now = setting->values, *then = self->start.values;

  if (now[FAB_KNOB_MICRO_BATCH] != then[FAB_KNOB_MICRO_BATCH])
    set_count (edits, "job.micro_batch", now[FAB_KNOB_MICRO_BATCH]);
  if (now[FAB_KNOB_SEQUENCE] != then[FAB_KNOB_SEQUENCE])
    set_count (edits, "job.sequence", now[FAB_KNOB_SEQUENCE]);
  if (now[FAB_KNOB_RECOMPUTE] != then[FAB_KNOB_RECOMPUTE])
    set_text (edits, "job.recompute", self->names[FAB_KNOB_RECOMPUTE][now[FAB_KNOB_RECOMPUTE]]);
  for (guint i = 0; i < G_N_ELEMENTS (divisions); i++)
    if (now[divisions[i].id] != then[divisions[i].id])
      set_of_job (edits, divisions[i].key, fab_value_count (now[divisions[i].id]));
}

static gboolean
has_uplinks (const FabModelInfo *fabric)
{
  for (const FabParam *param = fabric->params; param != NULL && param->key != NULL; param++)
    if (strcmp (param->key, "oversubscription") == 0)
      return TRUE;
  return FALSE;
}

/* The fabric that nodes usually have is written with all of its keys, since a scenario that names one key names the
 * fabric. */
static void
add_oversubscription (const FabKnobBoard *self, const FabModelChoice *usual, gint64 ratio, FabEdits *edits)
{
  FabValue *fabric = fab_scenario_written (self->scenario, usual->info->params, usual->params, NULL);

  fab_value_put (fabric, "kind", fab_value_text (usual->info->name));
  fab_value_put (fabric, "oversubscription", fab_value_count (ratio));
  fab_edits_set (edits, "cluster.fabric", fabric);
}

/* The rate of a kind of port, as the knob has it. */
static gint64
gbps_of (FabBytesPerS rate)
{
  return CLAMP ((gint64) ((rate + BYTES_PER_GBIT / 2) / BYTES_PER_GBIT), 1,
                fab_knob_controls[FAB_KNOB_RATE].max);
}

/* The NICs of each node that are used, as the knob has them. */
static gint64
nics_of (gint64 said, const FabNodeSpec *node)
{
  return CLAMP (said > 0 ? said : fab_node_spec_n_parts (node, FAB_PART_NIC), 1,
                fab_knob_controls[FAB_KNOB_NICS].max);
}

/* The cluster that a design gave is gone, and with it what the design or the keys beside it said of ports: what the
 * knobs show is written where it is not what the bare node has. */
static void
add_ports_of_bare_node (const FabKnobBoard *self, const FabKnobSetting *setting, FabEdits *edits)
{
  const FabCatalog *catalog = fab_scenario_catalog (self->scenario);
  const gint64 *now = setting->values, *then = self->start.values;
  const FabNodeSpec *node = fab_catalog_node (catalog, self->names[FAB_KNOB_NODE][now[FAB_KNOB_NODE]]);
  gboolean is_own_nic = now[FAB_KNOB_NIC] == OWN_NIC;
  const FabLinkSpec *port = fab_catalog_link (catalog, is_own_nic
                                                           ? node->nic
                                                           : self->names[FAB_KNOB_NIC][now[FAB_KNOB_NIC]]);
  gboolean brings_rate = now[FAB_KNOB_NIC] != then[FAB_KNOB_NIC] && now[FAB_KNOB_RATE] == then[FAB_KNOB_RATE];

  if (!is_own_nic)
    set_text (edits, "cluster.nic", self->names[FAB_KNOB_NIC][now[FAB_KNOB_NIC]]);
  if (!brings_rate && now[FAB_KNOB_RATE] != gbps_of (fab_link_spec_line_rate (port)))
    fab_edits_set (edits, "cluster.nic_rate",
                   fab_value_whole (FAB_UNIT_RATE, now[FAB_KNOB_RATE] * BYTES_PER_GBIT));
  if (now[FAB_KNOB_NICS] != nics_of (0, node))
    set_count (edits, "cluster.nics_per_node", now[FAB_KNOB_NICS]);
  if (has_uplinks (node->fabric.info) && now[FAB_KNOB_OVERSUBSCRIPTION] > 1)
    add_oversubscription (self, &node->fabric, now[FAB_KNOB_OVERSUBSCRIPTION], edits);
  set_text (edits, "cluster.route", self->names[FAB_KNOB_ROUTE][now[FAB_KNOB_ROUTE]]);
}

/* Ports of a link entry have its rate, unless the rate is turned too. */
static void
add_ports (const FabKnobBoard *self, const FabKnobSetting *setting, FabEdits *edits)
{
  const FabClusterSpec *cluster = &fab_scenario_spec (self->scenario)->cluster;
  const gint64 *now = setting->values, *then = self->start.values;
  gboolean is_other_nic = now[FAB_KNOB_NIC] != then[FAB_KNOB_NIC];
  gboolean is_other_node = now[FAB_KNOB_NODE] != then[FAB_KNOB_NODE];

  if (is_other_nic) {
    const char *node = self->names[FAB_KNOB_NODE][now[FAB_KNOB_NODE]];

    set_text (edits, "cluster.nic",
              now[FAB_KNOB_NIC] == OWN_NIC
                  ? fab_catalog_node (fab_scenario_catalog (self->scenario), node)->nic
                  : self->names[FAB_KNOB_NIC][now[FAB_KNOB_NIC]]);
  }
  if (now[FAB_KNOB_RATE] != then[FAB_KNOB_RATE] || (is_other_node && !self->has_rate && !is_other_nic))
    fab_edits_set (edits, "cluster.nic_rate",
                   fab_value_whole (FAB_UNIT_RATE, now[FAB_KNOB_RATE] * BYTES_PER_GBIT));
  else if (is_other_nic && self->has_rate)
    fab_edits_set (edits, "cluster.nic_rate", fab_value_whole (FAB_UNIT_RATE, 0));
  if (now[FAB_KNOB_NICS] != then[FAB_KNOB_NICS])
    set_count (edits, "cluster.nics_per_node", now[FAB_KNOB_NICS]);
  if (self->can_oversubscribe && now[FAB_KNOB_OVERSUBSCRIPTION] != then[FAB_KNOB_OVERSUBSCRIPTION]) {
    if (cluster->has_usual_fabric)
      add_oversubscription (self, &cluster->fabric, now[FAB_KNOB_OVERSUBSCRIPTION], edits);
    else
      set_count (edits, "cluster.fabric.oversubscription", now[FAB_KNOB_OVERSUBSCRIPTION]);
  }
  if (now[FAB_KNOB_ROUTE] != then[FAB_KNOB_ROUTE])
    set_text (edits, "cluster.route", self->names[FAB_KNOB_ROUTE][now[FAB_KNOB_ROUTE]]);
}

FabEdits *
fab_knob_board_edits (const FabKnobBoard *self, const FabKnobSetting *setting)
{
  const gint64 *now = setting->values, *then = self->start.values;
  gboolean is_other_node = now[FAB_KNOB_NODE] != then[FAB_KNOB_NODE];
  gboolean is_other_strategy = now[FAB_KNOB_STRATEGY] != then[FAB_KNOB_STRATEGY];
  gboolean has_design = now[FAB_KNOB_DESIGN] != NO_DESIGN;
  gboolean is_other_design = now[FAB_KNOB_DESIGN] != then[FAB_KNOB_DESIGN]
                          || (has_design && now[FAB_KNOB_UNITS] != then[FAB_KNOB_UNITS]);
  FabEdits *edits = fab_edits_new ();

  if (now[FAB_KNOB_MODEL] != then[FAB_KNOB_MODEL])
    set_text (edits, "job.model", self->names[FAB_KNOB_MODEL][now[FAB_KNOB_MODEL]]);
  if (is_other_strategy)
    add_strategy (fab_knob_board_strategy (self, now[FAB_KNOB_STRATEGY]), edits);
  if (is_other_design)
    replace_cluster (self, setting, edits);
  if (!has_design && (is_other_node || is_other_design || now[FAB_KNOB_GPUS] != then[FAB_KNOB_GPUS]))
    add_machine (self, setting, edits);
  if (!has_design && is_other_design)
    add_ports_of_bare_node (self, setting, edits);
  else if (!has_design)
    add_ports (self, setting, edits);
  add_job_keys (self, setting, edits);
  if (is_other_strategy || now[FAB_KNOB_BUCKET] != then[FAB_KNOB_BUCKET])
    add_bucket (self, setting, edits);
  if (now[FAB_KNOB_POWER] != then[FAB_KNOB_POWER]
      || (is_other_design && now[FAB_KNOB_POWER] < fab_knob_controls[FAB_KNOB_POWER].max))
    add_power_cap (now[FAB_KNOB_POWER], edits);
  return edits;
}

/* --- where the scenario stands --- */

/* The value of a key of the job as a person would write it; NULL when it has none. (transfer full) */
static char *
text_of (const FabScenario *scenario, const char *name)
{
  g_autofree char *key = g_strconcat ("job.", name, NULL);
  g_autoptr (FabValue) value = NULL;

  if (!fab_scenario_get (scenario, key, &value, NULL) || value == NULL)
    return NULL;
  return value->kind == FAB_VALUE_TEXT ? g_strdup (value->text) : fab_value_write (value);
}

/* Whether the job is what the strategy would make of it. */
static gboolean
is_strategy (const FabScenario *scenario, const FabStrategy *strategy)
{
  if (strcmp (strategy->kind, fab_scenario_spec (scenario)->job.info->name) != 0)
    return FALSE;
  for (const FabStrategyKey *key = strategy->keys; key != NULL && key->key != NULL; key++) {
    g_autofree char *text = text_of (scenario, key->key);

    if (fab_strategy_must_write (strategy, key) && g_strcmp0 (key->value, text) != 0)
      return FALSE;
  }
  return TRUE;
}

static gint64
strategy_of (const FabKnobBoard *self)
{
  for (guint i = 0; i < self->strategies->len; i++)
    if (is_strategy (self->scenario, fab_knob_board_strategy (self, i)))
      return i;
  /* Megatron-LM without a part of its overlap is Megatron-LM. */
  for (guint i = 0; i < self->strategies->len; i++)
    if (fab_knob_board_strategy (self, i)->is_divided
        && strcmp (fab_knob_board_strategy (self, i)->kind,
                   fab_scenario_spec (self->scenario)->job.info->name)
               == 0)
      return i;
  return -1;
}

static gint64
bucket_mib (const FabKnobBoard *self)
{
  gint64 strategy = self->start.values[FAB_KNOB_STRATEGY], bytes = 0;
  const FabParam *param = fab_job_knob_param (fab_knob_board_strategy (self, strategy)->kind, "bucket");

  if (param != NULL) {
    g_autofree char *key = g_strconcat ("job.", param->key, NULL);

    bytes = fab_scenario_get_whole (self->scenario, key, 0)
          * (param->type == FAB_PARAM_BYTES ? 1 : self->gradient_bytes[strategy]);
  }
  return bytes > 0
           ? CLAMP ((bytes + BYTES_PER_MIB / 2) / BYTES_PER_MIB, 1, fab_knob_controls[FAB_KNOB_BUCKET].max)
           : 25;
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
  return gbps_of (rate);
}

/* A cap of the scenario as a share of the board's power. */
static gint64
power_percent (const FabKnobBoard *self, const FabClusterSpec *cluster, const FabNodeSpec *node)
{
  const FabCatalog *catalog = fab_scenario_catalog (self->scenario);
  double share = fab_power_cap_share (&cluster->power_cap,
                                      fab_catalog_accelerator (catalog, node->accelerator));

  return CLAMP ((gint64) round (100 * share), fab_knob_controls[FAB_KNOB_POWER].min,
                fab_knob_controls[FAB_KNOB_POWER].max);
}

/* NICs, routing and uplinks of the scenario's machine. */
static void
read_network (FabKnobBoard *self, const FabClusterSpec *cluster, const FabNodeSpec *node)
{
  gint64 *values = self->start.values;

  values[FAB_KNOB_NICS] = nics_of (cluster->nics_per_node, node);
  values[FAB_KNOB_NIC] = MAX (knob_index (self->names[FAB_KNOB_NIC], cluster->nic), OWN_NIC);
  values[FAB_KNOB_ROUTE] = knob_index (self->names[FAB_KNOB_ROUTE], cluster->route.info->name);
  values[FAB_KNOB_OVERSUBSCRIPTION] = 1;
  self->can_oversubscribe = has_uplinks (cluster->fabric.info);
  g_autoptr (FabValue) ratio = NULL;
  if (self->can_oversubscribe
      && fab_scenario_get (self->scenario, "cluster.fabric.oversubscription", &ratio, NULL)) {
    g_autofree char *text = fab_value_write (ratio);

    values[FAB_KNOB_OVERSUBSCRIPTION] = CLAMP ((gint64) round (g_ascii_strtod (text, NULL)), 1,
                                               fab_knob_controls[FAB_KNOB_OVERSUBSCRIPTION].max);
  }
}

/* What a sequence is, what is computed again, and how the model is divided. */
static void
read_job (FabKnobBoard *self)
{
  g_autofree char *recompute = text_of (self->scenario, "recompute");
  gint64 *values = self->start.values;

  values[FAB_KNOB_RECOMPUTE] = MAX (knob_index (self->names[FAB_KNOB_RECOMPUTE], recompute), 0);
  values[FAB_KNOB_SEQUENCE] = CLAMP (fab_scenario_get_whole (self->scenario, "job.sequence", 0), 1,
                                     fab_knob_controls[FAB_KNOB_SEQUENCE].max);
  for (guint i = 0; i < G_N_ELEMENTS (divisions); i++) {
    g_autofree char *key = g_strconcat ("job.", divisions[i].key, NULL);

    values[divisions[i].id] = CLAMP (fab_scenario_get_whole (self->scenario, key, 1), 1,
                                     fab_knob_controls[divisions[i].id].max);
  }
}

static gboolean
read_start (FabKnobBoard *self, GError **error)
{
  const FabClusterSpec *cluster = &fab_scenario_spec (self->scenario)->cluster;
  const FabNodeSpec *node = fab_catalog_node (fab_scenario_catalog (self->scenario), cluster->node);
  gint64 per_node = cluster->gpus_per_node > 0 ? cluster->gpus_per_node
                                               : fab_node_spec_n_parts (node, FAB_PART_ACCELERATOR);
  g_autofree char *model = text_of (self->scenario, "model"),
                  *gradient = text_of (self->scenario, "gradient");
  gint64 *values = self->start.values;

  for (guint i = 0; gradient != NULL && i < self->strategies->len; i++)
    self->gradient_bytes[i] = fab_gradient_bytes (gradient);
  self->has_rate = cluster->nic_rate_bytes_per_s > 0;
  values[FAB_KNOB_STRATEGY] = strategy_of (self);
  if (values[FAB_KNOB_STRATEGY] < 0)
    return fab_throw (error, FAB_ERROR_INPUT,
                      "these knobs are of jobs of kind ddp, zero, fsdp and megatron; this job is another");
  values[FAB_KNOB_GPUS] = cluster->nodes * per_node;
  if (values[FAB_KNOB_GPUS] > FAB_KNOB_MAX_GPUS)
    return fab_throw (error, FAB_ERROR_INPUT,
                      "the knobs go up to %d GPUs, and this scenario has %" G_GINT64_FORMAT
                      "; try --set cluster.nodes=%" G_GINT64_FORMAT,
                      FAB_KNOB_MAX_GPUS, values[FAB_KNOB_GPUS], FAB_KNOB_MAX_GPUS / per_node);
  values[FAB_KNOB_MODEL] = knob_index (self->names[FAB_KNOB_MODEL], model);
  values[FAB_KNOB_NODE] = knob_index (self->names[FAB_KNOB_NODE], cluster->node);
  if (values[FAB_KNOB_MODEL] < 0 || values[FAB_KNOB_NODE] < 0)
    return fab_throw (
        error, FAB_ERROR_INPUT,
        "explore needs a node with GPUs and NICs, and plain names of node and model: letters, digits, "
        "'.', '_' and '-'");
  values[FAB_KNOB_RATE] = rate_gbps (self, cluster, node);
  values[FAB_KNOB_MICRO_BATCH] = CLAMP (fab_scenario_get_whole (self->scenario, "job.micro_batch", 0), 1,
                                        fab_knob_controls[FAB_KNOB_MICRO_BATCH].max);
  values[FAB_KNOB_BUCKET] = bucket_mib (self);
  values[FAB_KNOB_POWER] = power_percent (self, cluster, node);
  values[FAB_KNOB_DESIGN] = MAX (knob_index (self->names[FAB_KNOB_DESIGN], cluster->design), NO_DESIGN);
  values[FAB_KNOB_UNITS] = CLAMP (cluster->scalable_units, 1, fab_knob_controls[FAB_KNOB_UNITS].max);
  read_network (self, cluster, node);
  read_job (self);
  return TRUE;
}

gboolean
fab_knob_board_in_effect (const FabKnobBoard *self, FabScenario *scenario, FabKnobSetting *standing)
{
  g_autofree guint *gradient_bytes = g_memdup2 (self->gradient_bytes,
                                                self->strategies->len * sizeof *self->gradient_bytes);
  FabKnobBoard there = *self;

  there.scenario = scenario;
  there.gradient_bytes = gradient_bytes;
  if (!read_start (&there, NULL))
    return FALSE;
  *standing = there.start;
  return TRUE;
}

/* Accepts names that need no quotes in YAML, on a command line and in a query. */
static gboolean
is_plain (const char *name)
{
  return g_ascii_isalpha (name[0])
      && strspn (name, G_CSET_A_2_Z G_CSET_a_2_z G_CSET_DIGITS "._-") == strlen (name);
}

static gboolean
joins_machines (const FabCatalog *catalog, const char *link)
{
  const FabTechnology *technology = fab_catalog_link_technology (catalog, fab_catalog_link (catalog, link));

  return technology->joins == FAB_JOINS_ETHERNET || technology->joins == FAB_JOINS_MACHINES;
}

static gboolean
is_offered (const FabCatalog *catalog, FabCatalogSection section, const char *name)
{
  const FabNodeSpec *node = section == FAB_SECTION_NODES ? fab_catalog_node (catalog, name) : NULL;

  if (section == FAB_SECTION_LINKS && !joins_machines (catalog, name))
    return FALSE;
  return is_plain (name)
      && (node == NULL
          || (fab_node_spec_n_parts (node, FAB_PART_ACCELERATOR) > 0
              && fab_node_spec_n_parts (node, FAB_PART_NIC) > 0));
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

/* Names with one before them that is none of them; takes the container. (transfer container) */
static const char **
after (const char *first, const char **names)
{
  guint n = g_strv_length ((char **) names);
  const char **list = g_new0 (const char *, n + 2);

  list[0] = first;
  for (guint i = 0; i < n; i++)
    list[i + 1] = names[i];
  g_free (names);
  return list;
}

/* none, selective, full, and what the scenario has beyond them. (transfer container) */
static const char **
offered_recomputes (const FabScenario *scenario)
{
  static const char *const names[] = { "none", "selective", "full", "operators", "modules" };
  g_autofree char *own = text_of (scenario, "recompute");
  const char **list = g_new0 (const char *, G_N_ELEMENTS (names) + 1);
  guint n = 0;

  for (guint i = 0; i < G_N_ELEMENTS (names); i++)
    if (i < 3 || g_strcmp0 (own, names[i]) == 0)
      list[n++] = names[i];
  return list;
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

  self->scenario = scenario;
  self->names[FAB_KNOB_MODEL] = offered (fab_scenario_catalog (scenario), FAB_SECTION_MODELS);
  self->names[FAB_KNOB_NODE] = offered (fab_scenario_catalog (scenario), FAB_SECTION_NODES);
  self->names[FAB_KNOB_DESIGN] = after ("none",
                                        offered (fab_scenario_catalog (scenario), FAB_SECTION_DESIGNS));
  self->names[FAB_KNOB_NIC] = after ("own", offered (fab_scenario_catalog (scenario), FAB_SECTION_LINKS));
  self->names[FAB_KNOB_ROUTE] = fab_registry_names (&fab_models, FAB_MODEL_ROUTE);
  self->names[FAB_KNOB_RECOMPUTE] = offered_recomputes (scenario);
  offer_strategies (self);
  if (!read_start (self, error))
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

enum { MAX_CLIENT = 32 };

static gboolean
is_choice (FabKnobId id)
{
  return fab_knob_controls[id].max == 0;
}

/* --- requests --- */

static gboolean
parse_value (const FabKnobBoard *self, FabKnobId id, const char *text, gint64 *value, GError **error)
{
  const FabKnobControl *knob = &fab_knob_controls[id];

  if (!is_choice (id)) {
    if (g_ascii_string_to_signed (text, 10, knob->min, knob->max, value, NULL))
      return TRUE;
    return fab_throw (error, FAB_ERROR_INPUT,
                      "%s: a whole number from %" G_GINT64_FORMAT " to %" G_GINT64_FORMAT, knob->name,
                      knob->min, knob->max);
  }
  *value = knob_index (self->names[id], text);
  if (*value >= 0)
    return TRUE;
  return fab_throw (error, FAB_ERROR_INPUT, "%s: there is none of this name", knob->name);
}

static gboolean
is_client (const char *text)
{
  gsize length = strlen (text);

  return length > 0 && length <= MAX_CLIENT
      && strspn (text, G_CSET_A_2_Z G_CSET_a_2_z G_CSET_DIGITS) == length;
}

static gboolean
parse_pair (const FabKnobBoard *self, const char *name, const char *value, FabKnobSetting *setting,
            GError **error)
{
  for (guint id = 0; id < FAB_N_KNOBS; id++)
    if (strcmp (fab_knob_controls[id].name, name) == 0)
      return parse_value (self, id, value, &setting->values[id], error);
  GString *names = g_string_new (fab_knob_controls[0].name);
  for (guint id = 1; id < FAB_N_KNOBS; id++)
    g_string_append_printf (names, ", %s", fab_knob_controls[id].name);
  g_autofree char *all = g_string_free (names, FALSE);
  return fab_throw (error, FAB_ERROR_INPUT, "there is no such knob; there are %s", all);
}

gboolean
fab_knob_board_parse (const FabKnobBoard *self, const char *query, FabKnobSetting *setting, char **client,
                      GError **error)
{
  g_auto (GStrv) pairs = g_strsplit (query ? query : "", "&", FAB_N_KNOBS + 2);

  *setting = self->start;
  *client = NULL;
  if (g_strv_length (pairs) > FAB_N_KNOBS + 1)
    return fab_throw (error, FAB_ERROR_INPUT, "more pairs than there are knobs");
  for (char **pair = pairs; *pair != NULL; pair++) {
    char *equals = strchr (*pair, '=');

    if (equals == NULL)
      return fab_throw (error, FAB_ERROR_INPUT, "a query is knob=value, joined by &");
    *equals = '\0';
    if (strcmp (*pair, "client") == 0 && is_client (equals + 1)) {
      g_free (*client);
      *client = g_strdup (equals + 1);
    } else if (!parse_pair (self, *pair, equals + 1, setting, error)) {
      g_clear_pointer (client, g_free);
      return FALSE;
    }
  }
  return TRUE;
}

/* --- for the page --- */

static void
add_values (FabJson *json, const FabKnobBoard *self, FabKnobId id)
{
  fab_json_begin_array (json, "values");
  for (guint i = 0; is_choice (id) && self->names[id][i] != NULL; i++)
    fab_json_add_text (json, NULL, self->names[id][i]);
  for (guint i = 0; !is_choice (id) && fab_knob_controls[id].steps[i] != 0; i++)
    fab_json_add_whole (json, NULL, fab_knob_controls[id].steps[i]);
  fab_json_end (json);
}

/* Knobs whose choices stand under headings. */
static gboolean
has_groups (FabKnobId id)
{
  return id == FAB_KNOB_NODE || id == FAB_KNOB_NIC || id == FAB_KNOB_MODEL;
}

static const char *
generation_of (const FabCatalog *catalog, const char *node)
{
  const FabAcceleratorSpec *accelerator = fab_catalog_accelerator (
      catalog, fab_catalog_node (catalog, node)->accelerator);
  const FabGeneration *generation = accelerator != NULL && accelerator->architecture != NULL
                                      ? fab_catalog_generation (catalog, accelerator->architecture)
                                      : NULL;

  return generation != NULL ? generation->summary : "Others";
}

/* What a choice is listed under: the maker of a model, the generation of a node's GPUs, the technology of a port. NULL:
 * nothing. */
static const char *
group_of (const FabKnobBoard *self, FabKnobId id, const char *name)
{
  const FabCatalog *catalog = fab_scenario_catalog (self->scenario);

  if (id == FAB_KNOB_NODE)
    return generation_of (catalog, name);
  if (id == FAB_KNOB_MODEL) {
    const char *maker = fab_catalog_model (catalog, name)->maker;

    return maker != NULL ? maker : "Others";
  }
  const FabLinkSpec *link = fab_catalog_link (catalog, name);
  return link != NULL ? fab_catalog_link_technology (catalog, link)->name : NULL;
}

static void
add_groups (FabJson *json, const FabKnobBoard *self, FabKnobId id)
{
  fab_json_begin_array (json, "groups");
  for (guint i = 0; has_groups (id) && self->names[id][i] != NULL; i++)
    fab_json_add_text (json, NULL, group_of (self, id, self->names[id][i]));
  fab_json_end (json);
}

/* Why a knob does nothing in this scenario; NULL: it does something. */
static const char *
rest_of (const FabKnobBoard *self, FabKnobId id)
{
  return id == FAB_KNOB_OVERSUBSCRIPTION && !self->can_oversubscribe
           ? "The fabric of this scenario has no uplinks whose number can be reduced."
           : NULL;
}

static void
add_value (FabJson *json, const char *key, const FabKnobBoard *self, FabKnobId id, gint64 value)
{
  if (is_choice (id))
    fab_json_add_text (json, key, self->names[id][value]);
  else
    fab_json_add_whole (json, key, value);
}

void
fab_knob_board_add_json (FabJson *json, const char *key, const FabKnobBoard *self)
{
  fab_json_begin_array (json, key);
  for (guint id = 0; id < FAB_N_KNOBS; id++) {
    const FabKnobControl *knob = &fab_knob_controls[id];

    fab_json_begin_object (json, NULL);
    fab_json_add_text (json, "name", knob->name);
    fab_json_add_text (json, "label", knob->label);
    fab_json_add_text (json, "unit", knob->unit);
    fab_json_add_text (json, "help", knob->help);
    fab_json_add_whole (json, "min", knob->min);
    fab_json_add_whole (json, "max", knob->max);
    fab_json_add_text (json, "rests", rest_of (self, id));
    add_values (json, self, id);
    add_groups (json, self, id);
    add_value (json, "start", self, id, self->start.values[id]);
    fab_json_end (json);
  }
  fab_json_end (json);
}

void
fab_knob_setting_add_json (FabJson *json, const char *key, const FabKnobBoard *self,
                           const FabKnobSetting *setting)
{
  fab_json_begin_object (json, key);
  for (guint id = 0; id < FAB_N_KNOBS; id++)
    add_value (json, fab_knob_controls[id].name, self, id, setting->values[id]);
  fab_json_end (json);
}
