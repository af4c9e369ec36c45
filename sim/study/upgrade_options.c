/* SPDX-License-Identifier: Apache-2.0 */
/* upgrade_options.c - the single changes that a machine allows. Every list comes from the catalogue, from the keys of
 * the models that the scenario uses, and from the registry. */
#include <string.h>

#include "sim/base/units.h"
#include "sim/study/machine.h"
#include "sim/study/upgrade.h"

enum { MOST_GENERATIONS = 2 };

typedef struct {
  const FabStudy *study;
  const FabScenario *scenario;
  const FabUpgradeLimits *limits;
  GPtrArray *all;
} Options;

static gboolean
may (const Options *self, FabUpgradeKind kind)
{
  return self->limits->kinds == 0 || (self->limits->kinds >> kind & 1) != 0;
}

/* Takes `name` and `edits`. */
static void
add (Options *self, FabUpgradeKind kind, char *name, FabEdits *edits)
{
  g_ptr_array_add (self->all, fab_upgrade_new (kind, name, edits));
}

static const FabClusterSpec *
cluster_of (const Options *self)
{
  return &fab_scenario_spec (self->scenario)->cluster;
}

static const FabNodeSpec *
node_of (const Options *self)
{
  return fab_catalog_node (fab_scenario_catalog (self->scenario), cluster_of (self)->node);
}

static const char *
nic_of (const Options *self)
{
  return cluster_of (self)->nic != NULL ? cluster_of (self)->nic : node_of (self)->nic;
}

/* --- generations of links --- */

/* Whether the link is a port that can be bought, or that a node of the catalogue has. */
static gboolean
is_port (const FabCatalog *catalog, const char *link)
{
  g_autofree const char **products = fab_catalog_names (catalog, FAB_SECTION_PRODUCTS),
                        **nodes = fab_catalog_names (catalog, FAB_SECTION_NODES);

  for (guint i = 0; products[i] != NULL; i++) {
    const FabProductSpec *product = fab_catalog_product (catalog, products[i]);

    if (product->kind == FAB_PRODUCT_NIC && g_strcmp0 (product->link, link) == 0)
      return TRUE;
  }
  for (guint i = 0; nodes[i] != NULL; i++)
    if (g_strcmp0 (fab_catalog_node (catalog, nodes[i])->nic, link) == 0)
      return TRUE;
  return FALSE;
}

/* The slowest port of the same technology that is faster than `rate`; NULL: there is none. Of equally fast ones, the
 * first. */
static const FabLinkSpec *
next_port (const Options *self, const FabLinkSpec *link, FabBytesPerS rate)
{
  const FabCatalog *catalog = fab_scenario_catalog (self->scenario);
  g_autofree const char **names = fab_catalog_names (catalog, FAB_SECTION_LINKS);
  const FabLinkSpec *best = NULL;

  for (guint i = 0; names[i] != NULL; i++) {
    const FabLinkSpec *other = fab_catalog_link (catalog, names[i]);
    FabBytesPerS other_rate = fab_link_spec_line_rate (other);

    if (g_strcmp0 (other->technology, link->technology) != 0 || other_rate <= rate
        || (best != NULL && fab_link_spec_line_rate (best) <= other_rate) || !is_port (catalog, names[i]))
      continue;
    best = other;
  }
  return best;
}

static const FabLinkSpec *
upgradable_port (const Options *self, const char *name)
{
  const FabCatalog *catalog = fab_scenario_catalog (self->scenario);
  const FabLinkSpec *link = name != NULL ? fab_catalog_link (catalog, name) : NULL;

  return link != NULL && link->technology != NULL
              && fab_catalog_link_technology (catalog, link)->is_for_any_node
           ? link
           : NULL;
}

/* The link keys of the fabric that name the entry `from` now get `to`, so that switches follow the NICs. */
static void
follow_links (const Options *self, FabEdits *edits, const char *from, const char *to)
{
  const FabModelInfo *fabric = cluster_of (self)->fabric.info;

  for (const FabParam *row = fabric->params; row != NULL && row->key != NULL; row++) {
    g_autofree char *key = g_strconcat ("cluster.fabric.", row->key, NULL);
    g_autoptr (FabValue) value = NULL;

    if (row->refers == FAB_REFERS_LINK && fab_scenario_get (self->scenario, key, &value, NULL)
        && value != NULL && value->text != NULL && strcmp (value->text, from) == 0)
      fab_edits_set (edits, key, fab_value_text (to));
  }
}

static void
add_nic_generations (Options *self)
{
  const FabLinkSpec *link = upgradable_port (self, nic_of (self)), *next = link;
  FabBytesPerS rate = link == NULL ? 0 : cluster_of (self)->nic_rate_bytes_per_s;

  if (link == NULL)
    return;
  rate = rate > 0 ? rate : fab_link_spec_line_rate (link);
  for (guint i = 0; i < MOST_GENERATIONS; i++) {
    FabEdits *edits;

    next = next_port (self, link, rate);
    if (next == NULL)
      return;
    rate = fab_link_spec_line_rate (next);
    edits = fab_edits_new ();
    fab_edits_set (edits, "cluster.nic", fab_value_text (next->name));
    fab_edits_set (edits, "cluster.nic_rate", fab_value_whole (FAB_UNIT_RATE, 0));
    follow_links (self, edits, link->name, next->name);
    add (self, FAB_UPGRADE_NIC, g_strdup_printf ("NIC ports %s", next->name), edits);
  }
}

/* --- NICs per node --- */

static void
add_nic_counts (Options *self)
{
  guint all = fab_node_spec_n_parts (node_of (self), FAB_PART_NIC);
  guint has = cluster_of (self)->nics_per_node > 0 ? (guint) cluster_of (self)->nics_per_node : all;

  for (guint n = has * 2; has > 0 && n <= all; n *= 2) {
    FabEdits *edits = fab_edits_new ();

    fab_edits_set (edits, "cluster.nics_per_node", fab_value_count (n));
    add (self, FAB_UPGRADE_NICS, g_strdup_printf ("%u NICs per node", n), edits);
  }
}

/* --- the fabric --- */

/* Number of a factor key of the fabric; 0: it has no such key. */
static double
factor_of (const FabScenario *scenario, const char *key)
{
  g_autoptr (FabValue) value = NULL;

  if (!fab_scenario_get (scenario, key, &value, NULL) || value == NULL || value->kind != FAB_VALUE_REAL)
    return 0;
  return value->real;
}

/* Every oversubscription above 1: half of it, and none. */
static void
add_oversubscriptions (Options *self, const FabParam *row)
{
  g_autofree char *key = g_strconcat ("cluster.fabric.", row->key, NULL);
  double has = factor_of (self->scenario, key);
  const double wanted[] = { has / 2, 1 };

  for (guint i = has > 2 ? 0 : 1; has > 1 && i < G_N_ELEMENTS (wanted); i++) {
    FabEdits *edits = fab_edits_new ();

    fab_edits_set (edits, key, fab_value_real (FAB_UNIT_FACTOR, wanted[i]));
    add (self, FAB_UPGRADE_FABRIC, g_strdup_printf ("%s %.3g:1", row->key, wanted[i]), edits);
  }
}

/* Links between switches of the next generation, where the fabric can have others than the NICs. */
static void
add_switch_links (Options *self, const FabParam *row)
{
  g_autofree char *key = g_strconcat ("cluster.fabric.", row->key, NULL);
  g_autoptr (FabValue) value = NULL;
  const FabLinkSpec *link, *next;
  FabEdits *edits;

  if (!fab_scenario_get (self->scenario, key, &value, NULL))
    return;
  link = upgradable_port (self, value != NULL && value->text != NULL ? value->text : nic_of (self));
  next = link != NULL ? next_port (self, link, fab_link_spec_line_rate (link)) : NULL;
  if (next == NULL)
    return;
  edits = fab_edits_new ();
  fab_edits_set (edits, key, fab_value_text (next->name));
  add (self, FAB_UPGRADE_FABRIC, g_strdup_printf ("%s %s", row->key, next->name), edits);
}

static void
add_fabrics (Options *self)
{
  const FabModelInfo *const *fabrics = self->study->registry->lists[FAB_MODEL_FABRIC];
  const FabModelInfo *own = cluster_of (self)->fabric.info;

  for (guint i = 0; fab_machine_has_leaves (own) && fabrics[i] != NULL; i++) {
    FabEdits *edits;

    if (fabrics[i] == own || !fab_machine_has_leaves (fabrics[i]))
      continue;
    edits = fab_edits_new ();
    fab_edits_set (edits, "cluster.fabric", fab_value_text (fabrics[i]->name));
    add (self, FAB_UPGRADE_FABRIC, g_strdup_printf ("fabric %s", fabrics[i]->name), edits);
  }
}

static void
add_fabric_changes (Options *self)
{
  const FabModelInfo *fabric = cluster_of (self)->fabric.info;

  for (const FabParam *row = fabric->params; row != NULL && row->key != NULL; row++) {
    if (g_str_has_suffix (row->key, "oversubscription"))
      add_oversubscriptions (self, row);
    else if (row->refers == FAB_REFERS_LINK)
      add_switch_links (self, row);
  }
  add_fabrics (self);
}

/* --- nodes --- */

static const char *
technology_of (const Options *self, const char *link)
{
  const FabLinkSpec *spec = link != NULL ? fab_catalog_link (fab_scenario_catalog (self->scenario), link)
                                         : NULL;

  return spec != NULL ? spec->technology : NULL;
}

/* Whether the node that the edits name has ports of the machine's technology: then switches can be kept. */
static gboolean
keeps_network (const Options *self, const FabEdits *edits)
{
  for (guint i = 0; i < fab_edits_count (edits); i++) {
    const FabEdit *edit = fab_edits_at (edits, i);

    if (g_strcmp0 (edit->key, "cluster.node") == 0) {
      const FabNodeSpec *node = fab_catalog_node (fab_scenario_catalog (self->scenario), edit->value->text);

      return g_strcmp0 (technology_of (self, node->nic), technology_of (self, nic_of (self))) == 0;
    }
  }
  return TRUE;
}

/* Larger domains of nodes with the same accelerator. */
static void
add_domains (Options *self)
{
  const FabCatalog *catalog = fab_scenario_catalog (self->scenario);
  g_autofree const char **names = fab_catalog_names (catalog, FAB_SECTION_NODES);
  g_autoptr (GArray) tried = g_array_new (FALSE, FALSE, sizeof (guint));
  guint own = fab_machine_domain (self->scenario);

  for (guint i = 0; names[i] != NULL; i++) {
    const FabNodeSpec *node = fab_catalog_node (catalog, names[i]);
    guint n = fab_node_spec_n_parts (node, FAB_PART_ACCELERATOR) * fab_node_spec_sharers (node);
    gboolean is_known = n <= own || g_strcmp0 (node->accelerator, node_of (self)->accelerator) != 0;
    g_autoptr (FabEdits) edits = fab_edits_new ();

    for (guint k = 0; k < tried->len; k++)
      is_known |= g_array_index (tried, guint, k) == n;
    if (is_known || !fab_machine_set_domain (self->scenario, n, edits, NULL) || !keeps_network (self, edits))
      continue;
    g_array_append_val (tried, n);
    add (self, FAB_UPGRADE_DOMAIN, g_strdup_printf ("domains of %u GPUs", n), g_steal_pointer (&edits));
  }
}

static gboolean
is_priced_node (const FabCatalog *catalog, const char *name)
{
  const FabNeed need = { .kind = FAB_PRODUCT_NODE, .name = name };
  const FabProductSpec *product = fab_product_find (catalog, &need);

  return product != NULL && product->price_usd > 0;
}

/* Nodes with as many accelerators of a faster kind, whose network is of the same technology, and that have a price. */
static void
add_nodes_of_another_kind (Options *self)
{
  const FabCatalog *catalog = fab_scenario_catalog (self->scenario);
  const FabNodeSpec *own = node_of (self);
  const FabAcceleratorSpec *has = fab_catalog_accelerator (catalog, own->accelerator);
  g_autofree const char **names = fab_catalog_names (catalog, FAB_SECTION_NODES);

  for (guint i = 0; names[i] != NULL; i++) {
    const FabNodeSpec *node = fab_catalog_node (catalog, names[i]);
    const FabAcceleratorSpec *other = node->accelerator != NULL
                                        ? fab_catalog_accelerator (catalog, node->accelerator)
                                        : NULL;
    gboolean is_faster = other != NULL && has != NULL
                      && (other->peak_fp16_flops_per_s > has->peak_fp16_flops_per_s
                          || other->memory_bytes_per_s > has->memory_bytes_per_s)
                      && other->peak_fp16_flops_per_s >= has->peak_fp16_flops_per_s;
    const char *network = technology_of (self, node->nic);
    FabEdits *edits;

    if (!is_faster || network == NULL || g_strcmp0 (network, technology_of (self, nic_of (self))) != 0
        || fab_node_spec_n_parts (node, FAB_PART_ACCELERATOR)
               != fab_node_spec_n_parts (own, FAB_PART_ACCELERATOR)
        || !is_priced_node (catalog, names[i]))
      continue;
    edits = fab_edits_new ();
    fab_edits_set (edits, "cluster.node", fab_value_text (names[i]));
    add (self, FAB_UPGRADE_NODE, g_strdup_printf ("nodes %s", names[i]), edits);
  }
}

/* Half as many more, and twice as many, with the batch that the study holds. Where it says nothing, the global batch is
 * held where it can be divided so, else that of a GPU. */
static void
add_more_nodes (Options *self)
{
  FabHold hold = self->study->hold;
  FabBatch batch = fab_batch_of (self->scenario);
  guint has = (guint) cluster_of (self)->nodes, per_node = fab_machine_gpus_per_node (self->scenario);
  const guint wanted[] = { has + has / 2, has * 2 };

  for (guint i = has % 2 == 0 ? 0 : 1; i < G_N_ELEMENTS (wanted); i++) {
    g_autoptr (FabEdits) edits = fab_edits_new ();
    gboolean is_strong = hold != FAB_HOLD_MICRO_BATCH && batch.micro_batch > 0
                      && fab_batch_set (&batch, wanted[i] * per_node, TRUE, edits, NULL);

    if (!is_strong && hold != FAB_HOLD_BATCH
        && !fab_batch_set (&batch, wanted[i] * per_node, FALSE, edits, NULL))
      continue;
    fab_edits_set (edits, "cluster.nodes", fab_value_count (wanted[i]));
    add (self, FAB_UPGRADE_NODES,
         g_strdup_printf ("%u %s%s", wanted[i], fab_plural (wanted[i], "node", "nodes"),
                          is_strong || hold == FAB_HOLD_BATCH ? "" : " at the same batch per GPU"),
         g_steal_pointer (&edits));
  }
}

/* --- software --- */

static void
add_knobs (Options *self)
{
  for (guint k = 0; self->limits->knobs != NULL && k < self->limits->knobs->len; k++) {
    const FabKnob *knob = g_ptr_array_index (self->limits->knobs, k);

    for (guint v = 0; v < knob->values->len; v++) {
      const FabKnobValue *value = fab_knob_value (knob, v);
      FabEdits *edits;

      if (v == knob->written)
        continue;
      edits = fab_edits_new ();
      fab_edits_append (edits, value->edits);
      add (self, FAB_UPGRADE_SETTING, g_strdup_printf ("%s %s", knob->name, value->label), edits);
    }
  }
}

/* Keys of the collective library, where it has them. */
static void
add_library_settings (Options *self)
{
  static const struct {
    const char *key, *value, *name;
  } settings[] = { { "collnet", "true", "reduction in the network (collnet)" },
                   { "min_channels", "32", "at least 32 channels" },
                   { "algorithm", "ring", "collectives by rings alone" },
                   { "algorithm", "tree", "collectives by trees alone" },
                   { "protocol", "simple", "protocol simple alone" },
                   { "protocol", "ll128", "protocol ll128 alone" } };

  for (guint i = 0; i < G_N_ELEMENTS (settings); i++) {
    g_autofree char *key = g_strconcat ("collectives.", settings[i].key, NULL), *has = NULL;
    g_autoptr (FabValue) value = NULL;
    FabEdits *edits;

    if (!fab_scenario_get (self->scenario, key, &value, NULL))
      continue;
    has = value != NULL ? fab_value_write (value) : NULL;
    if (g_strcmp0 (has, settings[i].value) == 0)
      continue;
    edits = fab_edits_new ();
    fab_edits_set (edits, key, fab_value_written (settings[i].value));
    add (self, FAB_UPGRADE_SETTING, g_strdup (settings[i].name), edits);
  }
}

static void
add_routes (Options *self)
{
  const FabModelInfo *const *routes = self->study->registry->lists[FAB_MODEL_ROUTE];
  const FabModelInfo *own = cluster_of (self)->route.info;

  for (guint i = 0; routes[i] != NULL; i++) {
    FabEdits *edits;

    if (routes[i] == own)
      continue;
    edits = fab_edits_new ();
    fab_edits_set (edits, "cluster.route", fab_value_text (routes[i]->name));
    add (self, FAB_UPGRADE_SETTING, g_strdup_printf ("routing %s", routes[i]->name), edits);
  }
}

void
fab_upgrade_options (const FabStudy *study, const FabScenario *scenario, const FabUpgradeLimits *limits,
                     GPtrArray *all)
{
  Options self = { study, scenario, limits, all };
  gboolean has_network = fab_scenario_spec (scenario)->cluster.nodes > 1;

  if (may (&self, FAB_UPGRADE_SETTING)) {
    add_knobs (&self);
    add_library_settings (&self);
    if (has_network)
      add_routes (&self);
  }
  if (may (&self, FAB_UPGRADE_NIC) && has_network)
    add_nic_generations (&self);
  if (may (&self, FAB_UPGRADE_NICS) && has_network)
    add_nic_counts (&self);
  if (may (&self, FAB_UPGRADE_FABRIC) && has_network)
    add_fabric_changes (&self);
  if (may (&self, FAB_UPGRADE_DOMAIN))
    add_domains (&self);
  if (may (&self, FAB_UPGRADE_NODE))
    add_nodes_of_another_kind (&self);
  if (may (&self, FAB_UPGRADE_NODES))
    add_more_nodes (&self);
}
