/* SPDX-License-Identifier: Apache-2.0 */
/* test_upgrade.c - what an upgrade saves and costs by hand, and that nothing inside the band counts as sure. */
#include "tests/support/test.h"

#include <glib/gstdio.h>

#include "models/models.h"
#include "sim/study/upgrade.h"
#include "tests/support/play.h"

static FabCatalog *catalog;

/* A 1 GB send over a port of `rate` with a relative error; the ports of `quick` are twice as fast and as certain. */
static FabStudy *
study_of (const char *yaml)
{
  g_autofree char *path = NULL;
  g_autoptr (GError) error = NULL;
  int file = g_file_open_tmp ("upgrade-XXXXXX.yaml", &path, &error);
  FabStudy *study;

  assert_true (file >= 0 && g_close (file, NULL) && g_file_set_contents (path, yaml, -1, &error));
  study = fab_study_new (path, NULL, catalog, &fab_models, &error);
  g_remove (path);
  if (study == NULL)
    fail_msg ("%s", error->message);
  study->n_threads = 1;
  return study;
}

static FabUpgrades *
find_from (const char *slow, const char *quick, guint card_usd, const char *uncertainty, guint kinds)
{
  g_autofree char *yaml = g_strdup_printf (
      "name: t\niterations: 1\n"
      "links:\n"
      "  - {name: slow, technology: InfiniBand, lanes: 1, signalling: %s, latency: 1us%s}\n"
      "  - {name: quick, technology: InfiniBand, lanes: 1, signalling: %s, latency: 1us%s}\n"
      "products:\n"
      "  - {name: slow-card, kind: nic, link: slow, price_usd: 10, power_watts: 1}\n"
      "  - {name: quick-card, kind: nic, link: quick, price_usd: %u, power_watts: 1}\n"
      "  - {name: slow-switch, kind: switch, link: slow, ports: 8, price_usd: 50, power_watts: 1}\n"
      "  - {name: quick-switch, kind: switch, link: quick, ports: 8, price_usd: 90, power_watts: 1}\n"
      "  - {name: slow-wire, kind: cable, link: slow, reach: 100m, price_usd: 1}\n"
      "  - {name: quick-wire, kind: cable, link: quick, reach: 100m, price_usd: 2}\n"
      "cluster: {node: dgx-h100, nodes: 2, gpus_per_node: 1, nics_per_node: 1, nic: slow, fabric: switch}\n"
      "collectives: plain\n"
      "job: {kind: collective, operations: [{op: send_recv, size: 1GB}]}\n",
      slow, uncertainty, quick, uncertainty, card_usd);
  g_autoptr (GError) error = NULL;
  g_autoptr (FabStudy) study = study_of (yaml);
  FabUpgrades *found = fab_upgrades_find (study, &(FabUpgradeLimits){ .kinds = kinds }, &error);
  if (found == NULL)
    fail_msg ("%s", error->message);
  return found;
}

static FabUpgrades *
find (const char *uncertainty, guint kinds)
{
  return find_from ("10Gb/s", "12Gb/s", 20, uncertainty, kinds);
}

static const FabUpgrade *
named (const FabUpgrades *self, const char *name)
{
  for (guint i = 0; i < self->all->len; i++) {
    const FabUpgrade *one = g_ptr_array_index (self->all, i);

    if (strcmp (one->change.name, name) == 0)
      return one;
  }
  fail_msg ("there is no change '%s'", name);
  return NULL;
}

/* 10 to 12 Gb/s: the same bytes take 10/12 of the time, 1/6 is saved (latency is 1e-6 of it). Two cards, one switch and
 * two wires are bought: 2 x 20 + 90 + 2 x 2 = $134, $8.04 for each of the 16.7 percent. The old ones are left over. */
static void
faster_ports (G_GNUC_UNUSED void **state)
{
  g_autoptr (FabUpgrades) all = find (", uncertainty: {rate: 1%}", 1U << FAB_UPGRADE_NIC);
  const FabUpgrade *quick = named (all, "NIC ports quick");

  assert_near (quick->saved_fraction, 1.0 / 6, 1e-4);
  assert_int_equal (quick->state, FAB_UPGRADE_SURE);
  assert_near (quick->purchase->money.usd, 134, 1e-12);
  assert_near (fab_upgrade_usd_per_percent (quick), 134 / 16.6667, 1e-3);
  assert_ptr_equal (g_ptr_array_index (all->ranking, 0), quick);
}

/* Both rates are known to 30 %, by errors of their own: the slow port may be the faster one. */
static void
inside_the_band (G_GNUC_UNUSED void **state)
{
  g_autoptr (FabUpgrades) all = find (", uncertainty: {rate: 30%}", 1U << FAB_UPGRADE_NIC);
  const FabUpgrade *quick = named (all, "NIC ports quick");

  assert_near (quick->saved_fraction, 1.0 / 6, 1e-4);
  assert_int_equal (quick->state, FAB_UPGRADE_UNSURE);
  assert_true (quick->low_fraction < 0 && quick->high_fraction > quick->saved_fraction);
}

/* Only what was asked for is tried. */
static void
kinds (G_GNUC_UNUSED void **state)
{
  g_autoptr (FabUpgrades) all = find ("", 1U << FAB_UPGRADE_NODES);

  for (guint i = 0; i < all->all->len; i++)
    assert_int_equal (((const FabUpgrade *) g_ptr_array_index (all->all, i))->kind, FAB_UPGRADE_NODES);
}

/* --- what is tried --- */

#define PORTS                                                                               \
  "links:\n"                                                                                \
  "  - {name: p10, technology: InfiniBand, lanes: 1, signalling: 10.1Gb/s, latency: 1us}\n" \
  "  - {name: p12, technology: InfiniBand, lanes: 1, signalling: 10.2Gb/s, latency: 1us}\n" \
  "  - {name: p13, technology: InfiniBand, lanes: 1, signalling: 10.3Gb/s, latency: 1us}\n" \
  "  - {name: p14, technology: InfiniBand, lanes: 1, signalling: 10.4Gb/s, latency: 1us}\n" \
  "products:\n"                                                                             \
  "  - {name: c12, kind: nic, link: p12, power_watts: 1}\n"                                 \
  "  - {name: c14, kind: nic, link: p14, price_usd: 1, power_watts: 1}\n"

/* Names of the changes that a scenario allows, with their edits where these are asked for. (transfer full) */
static char *
offers_of (const char *yaml, FabHold hold, const FabUpgradeLimits *limits, gboolean has_edits)
{
  g_autoptr (FabStudy) study = study_of (yaml);
  g_autoptr (GPtrArray) all = g_ptr_array_new_with_free_func (fab_upgrade_free);
  GString *text = g_string_new (NULL);
  g_autoptr (GError) error = NULL;
  g_autoptr (FabScenario) scenario = fab_scenario_parse ("t", yaml, strlen (yaml), NULL, &fab_models, catalog,
                                                         &error);

  assert_non_null (scenario);
  study->hold = hold;
  fab_upgrade_options (study, scenario, limits, all);
  for (guint i = 0; i < all->len; i++) {
    FabUpgrade *one = g_ptr_array_index (all, i);
    g_autofree char *edits = g_strjoinv (" ", (char **) fab_edits_texts (one->change.edits));

    assert_true (limits->kinds == 0 || (limits->kinds >> one->kind & 1) != 0);
    g_string_append_printf (text, "%s%s", i > 0 ? ", " : "", one->change.name);
    if (has_edits)
      g_string_append_printf (text, " (%s)", edits);
  }
  return g_string_free (text, FALSE);
}

#define MACHINE                                                                                  \
  "name: t\niterations: 1\n" PORTS "cluster: {node: dgx-h100, gpus_per_node: 8, nic: p10, %s}\n" \
  "job: {kind: collective, operations: [{op: all_reduce, size: 1GB}]}\n"

/* Names of the changes of these kinds. (transfer full) */
static char *
options_of (const char *keys, guint kinds)
{
  g_autofree char *yaml = g_strdup_printf (MACHINE, keys);

  return offers_of (yaml, FAB_HOLD_WRITTEN, &(FabUpgradeLimits){ .kinds = kinds }, FALSE);
}

/* Ports of the next two generations that somebody sells (p13 is not sold); a rate that is given is passed too. Nodes
 * have eight adapters, of which these use two, three or all. An oversubscription becomes half of what it is, and none.
 * Fabrics with leaves can be wired from the same switches. Half as many nodes more where that is a whole number, and
 * twice as many. One node has no network to change. */
static void
options_are_what_the_machine_allows (G_GNUC_UNUSED void **state)
{
  static const struct {
    const char *keys;
    FabUpgradeKind kind;
    const char *names;
  } rows[] = {
    { "nodes: 6, nics_per_node: 2, fabric: {kind: leaf_spine, oversubscription: 6}", FAB_UPGRADE_NIC,
      "NIC ports p12, NIC ports p14" },
    { "nodes: 4, nic_rate: 10.25Gb/s, fabric: rail", FAB_UPGRADE_NIC, "NIC ports p14, NIC ports ib-edr" },
    { "nodes: 1, fabric: switch", FAB_UPGRADE_NIC, "" },
    { "nodes: 6, nics_per_node: 2, fabric: rail", FAB_UPGRADE_NICS, "4 NICs per node, 8 NICs per node" },
    { "nodes: 6, nics_per_node: 3, fabric: rail", FAB_UPGRADE_NICS, "6 NICs per node" },
    { "nodes: 6, fabric: rail", FAB_UPGRADE_NICS, "" },
    { "nodes: 1, nics_per_node: 2, fabric: switch", FAB_UPGRADE_NICS, "" },
    { "nodes: 6, fabric: {kind: leaf_spine, oversubscription: 6}", FAB_UPGRADE_FABRIC,
      "oversubscription 3:1, oversubscription 1:1, uplink p12, fabric rail, fabric rail_only, fabric fat_tree" },
    { "nodes: 3, fabric: {kind: fat_tree, oversubscription: 2, pod_oversubscription: 3, core_link: p10}",
      FAB_UPGRADE_FABRIC,
      "oversubscription 1:1, pod_oversubscription 1.5:1, pod_oversubscription 1:1, uplink p12, core_link p12, "
      "fabric rail, fabric rail_only, fabric leaf_spine" },
    { "nodes: 4, fabric: {kind: hyperx, dimensions: 1}", FAB_UPGRADE_FABRIC, "uplink p12" },
    { "nodes: 6, fabric: rail", FAB_UPGRADE_NODES,
      "9 nodes at the same batch per GPU, 12 nodes at the same batch per GPU" },
    { "nodes: 3, fabric: rail", FAB_UPGRADE_NODES, "6 nodes at the same batch per GPU" },
    { "nodes: 1, fabric: switch", FAB_UPGRADE_SETTING,
      "reduction in the network (collnet), at least 32 channels, collectives by rings alone, "
      "collectives by trees alone, protocol simple alone, protocol ll128 alone" },
    { "nodes: 4, route: spray, fabric: rail", FAB_UPGRADE_SETTING,
      "reduction in the network (collnet), at least 32 channels, collectives by rings alone, "
      "collectives by trees alone, protocol simple alone, protocol ll128 alone, routing shortest, routing static, "
      "routing ecmp, routing adaptive, routing flowlet, routing reps, routing reactive" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autofree char *names = options_of (rows[i].keys, 1U << rows[i].kind);

    if (strcmp (names, rows[i].names) != 0)
      fail_msg ("%s: %s", rows[i].keys, names);
  }
}

/* More nodes do not shorten a message between two of them. Ports and nodes together are one change of two parts, which
 * saves no more than the ports alone. */
static void
parts_are_joined (G_GNUC_UNUSED void **state)
{
  g_autoptr (FabUpgrades) all = find (", uncertainty: {rate: 1%}",
                                      1U << FAB_UPGRADE_NIC | 1U << FAB_UPGRADE_NODES);
  guint n_joined = 0;

  for (guint i = 0; i < all->all->len; i++) {
    const FabUpgrade *one = g_ptr_array_index (all->all, i);
    gboolean is_joined = strstr (one->change.name, " + ") != NULL;

    assert_int_equal (one->n_parts, is_joined ? 2 : 1);
    assert_int_equal (one->kinds,
                      is_joined ? 1U << FAB_UPGRADE_NIC | 1U << FAB_UPGRADE_NODES : 1U << one->kind);
    if (!is_joined)
      continue;
    n_joined++;
    g_auto (GStrv) parts = g_strsplit (one->change.name, " + ", 2);
    double first = named (all, parts[0])->saved_fraction, second = named (all, parts[1])->saved_fraction;
    assert_near (one->saved_fraction, MAX (first, second), 1e-3);
    assert_int_equal (one->state, FAB_UPGRADE_NO_GAIN);
  }
  assert_true (n_joined > 0);
}

/* --- the ranking --- */

static gboolean
has_price (const FabUpgrade *self)
{
  return self->purchase != NULL && self->purchase->is_priced;
}

/* Another combination saves no less and costs less. */
static gboolean
is_surpassed (const FabUpgrades *all, const FabUpgrade *self)
{
  for (guint i = 0; i < all->all->len; i++) {
    const FabUpgrade *other = g_ptr_array_index (all->all, i);

    if (other->n_parts > 1 && other != self && has_price (other)
        && other->saved_fraction >= self->saved_fraction
        && (!has_price (self) || other->purchase->money.usd < self->purchase->money.usd))
      return TRUE;
  }
  return FALSE;
}

/* How many combinations that nothing surpasses come before this one: by what they save, or by their price. */
static guint
n_before (const FabUpgrades *all, const FabUpgrade *self, gboolean is_by_price)
{
  guint n = 0;

  for (guint i = 0; i < all->all->len; i++) {
    const FabUpgrade *other = g_ptr_array_index (all->all, i);
    double price = fab_upgrade_usd_per_percent (self), other_price = fab_upgrade_usd_per_percent (other);

    if (other->n_parts < 2 || is_surpassed (all, other))
      continue;
    if (is_by_price)
      n += other_price >= 0 && (price < 0 || other_price < price);
    else
      n += other->saved_fraction > self->saved_fraction;
  }
  return n;
}

/* Sure ones are first, cheap ones before dear ones, and those without a price last; others by what they save. */
static void
assert_in_order (const FabUpgrade *first, const FabUpgrade *second)
{
  double price = fab_upgrade_usd_per_percent (first), next = fab_upgrade_usd_per_percent (second);

  assert_true (first->state <= second->state);
  if (first->state != second->state)
    return;
  if (first->state == FAB_UPGRADE_SURE)
    assert_true (next < 0 || (price >= 0 && price <= next));
  if (first->state != FAB_UPGRADE_SURE || !(price < next || price > next))
    assert_true (first->saved_fraction >= second->saved_fraction);
}

static void
assert_ranked (const FabUpgrades *all)
{
  guint n_ranked = 0, n_joined = 0;

  for (guint i = 1; i < all->ranking->len; i++)
    assert_in_order (g_ptr_array_index (all->ranking, i - 1), g_ptr_array_index (all->ranking, i));
  for (guint i = 0; i < all->all->len; i++) {
    FabUpgrade *one = g_ptr_array_index (all->all, i);
    gboolean is_ranked = g_ptr_array_find (all->ranking, one, NULL);

    n_ranked += is_ranked;
    n_joined += is_ranked && one->n_parts > 1;
    assert_true (is_ranked == (one->state == FAB_UPGRADE_SURE || one->state == FAB_UPGRADE_UNSURE));
    if (one->n_parts == 1)
      continue;
    if (is_ranked)
      assert_true (!is_surpassed (all, one)
                   && (n_before (all, one, FALSE) < 8 || n_before (all, one, TRUE) < 8));
  }
  assert_int_equal (n_ranked, all->ranking->len);
  assert_true (n_joined > 0 && n_ranked > n_joined);
}

static guint
n_of_parts (const FabUpgrades *all, guint n_parts)
{
  guint n = 0;

  for (guint i = 0; i < all->all->len; i++)
    n += ((const FabUpgrade *) g_ptr_array_index (all->all, i))->n_parts == n_parts;
  return n;
}

/* The best pair is tried with each other part too, and nothing goes beyond three parts. */
static void
the_ranking_is_that_of_its_rules (G_GNUC_UNUSED void **state)
{
  g_autoptr (FabStudy) study = study_of (
      "name: t\niterations: 1\n" PORTS
      "  - {name: s14, kind: switch, link: p14, ports: 16, price_usd: 25, power_watts: 1}\n"
      "  - {name: w14, kind: cable, link: p14, reach: 100m, price_usd: 0.5}\n"
      "  - {name: c10, kind: nic, link: p10, price_usd: 5, power_watts: 1}\n"
      "  - {name: s10, kind: switch, link: p10, ports: 16, price_usd: 20, power_watts: 1}\n"
      "  - {name: s12, kind: switch, link: p12, ports: 16, price_usd: 25, power_watts: 1}\n"
      "  - {name: w10, kind: cable, link: p10, reach: 100m, price_usd: 0.5}\n"
      "  - {name: w12, kind: cable, link: p12, reach: 100m, price_usd: 0.5}\n"
      "cluster: {node: dgx-h100, nodes: 8, gpus_per_node: 1, nics_per_node: 1, nic: p10, fabric: {kind: "
      "leaf_spine, nodes_per_leaf: 4, spines: 1, oversubscription: 2}}\n"
      "job: {kind: collective, operations: [{op: all_to_all, size: 100MB}]}\n");
  g_autoptr (GError) error = NULL;
  g_autoptr (FabUpgrades) all = fab_upgrades_find (study, &(FabUpgradeLimits){ .kinds = G_MAXUINT }, &error);

  if (all == NULL)
    fail_msg ("%s", error->message);
  assert_ranked (all);
  assert_true (n_of_parts (all, 2) > 0 && n_of_parts (all, 3) > 0);
  assert_int_equal (n_of_parts (all, 4), 0);
}

/* Of its 100 Gb/s EDR carries 98.8 in packets. Ports of that rate save the same: those that cost less are combined with
 * more nodes. Ports of 96 Gb/s save a percent less, and are not combined, whatever they cost. */
static void
of_equals_the_cheaper_is_combined (G_GNUC_UNUSED void **state)
{
  static const struct {
    const char *quick;
    guint card_usd;
    const char *combined;
  } rows[] = { { "98.8Gb/s", 20, "NIC ports quick" },
               { "98.8Gb/s", 1000000, "NIC ports ib-edr" },
               { "96Gb/s", 20, "NIC ports ib-edr" } };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autoptr (FabUpgrades) all = find_from ("50Gb/s", rows[i].quick, rows[i].card_usd, "",
                                             1U << FAB_UPGRADE_NIC | 1U << FAB_UPGRADE_NODES);
    guint n_joined = 0;

    for (guint k = 0; k < all->all->len; k++) {
      const FabUpgrade *one = g_ptr_array_index (all->all, k);

      if (strstr (one->change.name, " + ") == NULL)
        continue;
      if (!g_str_has_suffix (one->change.name, rows[i].combined))
        fail_msg ("%s and %u dollars: %s", rows[i].quick, rows[i].card_usd, one->change.name);
      n_joined++;
    }
    assert_true (n_joined > 0);
  }
}

/* What each change sets: a port brings its own rate, and switches that have the machine's ports follow it. Other nodes
 * have as many GPUs, at least as fast, the same network, and a price. */
static void
options_set_what_their_names_say (G_GNUC_UNUSED void **state)
{
  static const struct {
    const char *keys;
    FabUpgradeKind kind;
    const char *offers;
  } rows[] = {
    { "nodes: 6, nics_per_node: 2, fabric: {kind: leaf_spine, uplink: p10}", FAB_UPGRADE_NIC,
      "NIC ports p12 (cluster.nic=p12 cluster.nic_rate=0B/s cluster.fabric.uplink=p12), "
      "NIC ports p14 (cluster.nic=p14 cluster.nic_rate=0B/s cluster.fabric.uplink=p14)" },
    { "nodes: 6, nics_per_node: 2, fabric: {kind: leaf_spine, uplink: p14}", FAB_UPGRADE_NIC,
      "NIC ports p12 (cluster.nic=p12 cluster.nic_rate=0B/s), NIC ports p14 (cluster.nic=p14 cluster.nic_rate=0B/s)" },
    { "nodes: 6, nics_per_node: 2, fabric: rail", FAB_UPGRADE_NICS,
      "4 NICs per node (cluster.nics_per_node=4), 8 NICs per node (cluster.nics_per_node=8)" },
    { "nodes: 6, fabric: {kind: leaf_spine, oversubscription: 2, uplink: p12}", FAB_UPGRADE_FABRIC,
      "oversubscription 1:1 (cluster.fabric.oversubscription=1), uplink p14 (cluster.fabric.uplink=p14), "
      "fabric rail (cluster.fabric=rail), fabric rail_only (cluster.fabric=rail_only), "
      "fabric fat_tree (cluster.fabric=fat_tree)" },
    { "nodes: 6, fabric: {kind: leaf_spine, oversubscription: 2.5, uplink: p12}", FAB_UPGRADE_FABRIC,
      "oversubscription 1.25:1 (cluster.fabric.oversubscription=1.25), "
      "oversubscription 1:1 (cluster.fabric.oversubscription=1), uplink p14 (cluster.fabric.uplink=p14), "
      "fabric rail (cluster.fabric=rail), fabric rail_only (cluster.fabric=rail_only), "
      "fabric fat_tree (cluster.fabric=fat_tree)" },
    { "nodes: 6, fabric: rail", FAB_UPGRADE_NODES,
      "9 nodes at the same batch per GPU (cluster.nodes=9), 12 nodes at the same batch per GPU (cluster.nodes=12)" },
    { "nodes: 6, fabric: rail", FAB_UPGRADE_DOMAIN, "" },
    { "nodes: 64, fabric: rail", FAB_UPGRADE_DOMAIN,
      "domains of 256 GPUs (cluster.node=superpod-h100-256 cluster.nodes=2 cluster.gpus_per_node=0 "
      "cluster.nics_per_node=0)" },
    { "nodes: 6, fabric: rail", FAB_UPGRADE_NODE,
      "nodes hgx-h200 (cluster.node=hgx-h200), nodes hgx-b200 (cluster.node=hgx-b200)" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autofree char *yaml = g_strdup_printf (MACHINE, rows[i].keys);
    g_autofree char *offers = offers_of (yaml, FAB_HOLD_WRITTEN,
                                         &(FabUpgradeLimits){ .kinds = 1U << rows[i].kind }, TRUE);

    assert_string_equal (offers, rows[i].offers);
  }
}

/* Domains that are no larger than those of the machine are no change, and several nodes of the catalogue with as many
 * GPUs are one. Where the machine's ports are of another technology than theirs, there is no change. */
static void
larger_domains_are_offered_once (G_GNUC_UNUSED void **state)
{
  static const struct {
    const char *cluster, *offers;
  } rows[] = {
    { "node: p5, nodes: 6", "" },
    { "node: p5, nodes: 64", "" },
    { "node: gb200-tray, nodes: 36, domain_nodes: 9", "domains of 72 GPUs" },
    { "node: gb200-tray, nodes: 36", "" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autofree char *yaml = g_strdup_printf (
        "name: t\niterations: 1\ncluster: {%s}\n"
        "job: {kind: collective, operations: [{op: all_reduce, size: 1GB}]}\n",
        rows[i].cluster);
    g_autofree char *offers = offers_of (yaml, FAB_HOLD_WRITTEN,
                                         &(FabUpgradeLimits){ .kinds = 1U << FAB_UPGRADE_DOMAIN }, FALSE);

    assert_string_equal (offers, rows[i].offers);
  }
}

/* 4 nodes with 4 sequences a GPU: 128 are divided over 8 nodes, and not over 6, which have as many a GPU; where the
 * batch is held, playing them says that it cannot be. Settings that are there already are no change, and of a knob
 * every other value is. */
static void
batches_and_settings_are_heeded (G_GNUC_UNUSED void **state)
{
  static const struct {
    const char *more;
    FabHold hold;
    FabUpgradeKind kind;
    const char *offers;
  } rows[] = {
    { "", FAB_HOLD_WRITTEN, FAB_UPGRADE_NODES,
      "6 nodes at the same batch per GPU (cluster.nodes=6), 8 nodes (job.micro_batch=2 job.accumulation=1 "
      "job.global_batch=0 cluster.nodes=8)" },
    { "", FAB_HOLD_MICRO_BATCH, FAB_UPGRADE_NODES,
      "6 nodes at the same batch per GPU (cluster.nodes=6), 8 nodes at the same batch per GPU (cluster.nodes=8)" },
    { "", FAB_HOLD_BATCH, FAB_UPGRADE_NODES,
      "6 nodes (cluster.nodes=6), 8 nodes (job.micro_batch=2 job.accumulation=1 job.global_batch=0 "
      "cluster.nodes=8)" },
    { "collectives: {kind: nccl, collnet: true, min_channels: 32, algorithm: ring, protocol: simple}\n",
      FAB_HOLD_WRITTEN, FAB_UPGRADE_SETTING,
      "batch 2 (job.micro_batch=2), batch 8 (job.micro_batch=8), collectives by trees alone "
      "(collectives.algorithm=tree), protocol ll128 alone (collectives.protocol=ll128)" },
  };
  static const char *const sizes[] = { "2", "4", "8" };
  g_autoptr (GPtrArray) knobs = g_ptr_array_new ();
  FabKnob *knob = fab_knob_new ("batch", "job.micro_batch", "");

  for (guint i = 0; i < G_N_ELEMENTS (sizes); i++) {
    g_autofree char *set = g_strconcat ("job.micro_batch=", sizes[i], NULL);

    fab_knob_add (knob, g_strdup (sizes[i]), fab_edits_of ((const char *[]){ set, NULL }));
  }
  knob->written = 1;
  g_ptr_array_add (knobs, knob);
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autofree char *yaml = g_strdup_printf (
        "name: t\niterations: 1\ncluster: {node: dgx-h100, nodes: %u, fabric: switch}\n"
        "job: {kind: ddp, model: gpt2-xl, micro_batch: 4}\n%s",
        rows[i].kind == FAB_UPGRADE_SETTING ? 1 : 4, rows[i].more);
    g_autofree char *offers = offers_of (yaml, rows[i].hold,
                                         &(FabUpgradeLimits){ .kinds = 1U << rows[i].kind, .knobs = knobs },
                                         TRUE);

    assert_string_equal (offers, rows[i].offers);
  }
  fab_knob_free (knob);
}

/* --- what is found of each change --- */

/* Two nodes of one GPU, and ports of which 12 and 15 Gb/s are the next two generations. */
#define GENERATIONS(job_)                                                                                              \
  "name: t\niterations: 1\n"                                                                                           \
  "links:\n"                                                                                                           \
  "  - {name: slow, technology: InfiniBand, lanes: 1, signalling: 10Gb/s, latency: 1us, uncertainty: {rate: 1%}}\n"    \
  "  - {name: quick, technology: InfiniBand, lanes: 1, signalling: 12Gb/s, latency: 1us, uncertainty: {rate: 1%}}\n"   \
  "  - {name: quicker, technology: InfiniBand, lanes: 1, signalling: 15Gb/s, latency: 1us, uncertainty: {rate: 1%}}\n" \
  "products:\n"                                                                                                        \
  "  - {name: quick-card, kind: nic, link: quick, price_usd: 20, power_watts: 1}\n"                                    \
  "  - {name: quicker-card, kind: nic, link: quicker, price_usd: 30, power_watts: 1}\n"                                \
  "cluster: {node: dgx-h100, nodes: 2, gpus_per_node: 1, nics_per_node: 1, nic: slow, fabric: switch}\n"               \
  "collectives: plain\n"                                                                                               \
  "job: " job_ "\n"
#define SEND_1GB "{kind: collective, operations: [{op: send_recv, size: 1GB}]}"

static FabUpgrades *
find_of (const FabStudy *study, const FabUpgradeLimits *limits)
{
  g_autoptr (GError) error = NULL;
  FabUpgrades *found = fab_upgrades_find (study, limits, &error);

  if (found == NULL)
    fail_msg ("%s", error->message);
  return found;
}

/* The machine and each change that gains have a bill, a band and what limits their steps; without bands nothing is
 * sure, and a saving is known to nothing but itself. What does not gain is not played again. */
static void
what_gains_is_looked_into (G_GNUC_UNUSED void **state)
{
  gint n_done[2];

  for (guint has_no_band = 0; has_no_band < 2; has_no_band++) {
    g_autoptr (FabStudy) study = study_of (GENERATIONS (SEND_1GB));
    FabPulse pulse = { 0 };
    study->pulse = &pulse;
    g_autoptr (FabUpgrades) all = find_of (
        study, &(FabUpgradeLimits){ .kinds = 1U << FAB_UPGRADE_NIC | 1U << FAB_UPGRADE_NODES,
                                    .has_no_band = (gboolean) has_no_band });
    const FabUpgrade *quick = named (all, "NIC ports quick"), *quicker = named (all, "NIC ports quicker"),
                     *more = named (all, "4 nodes at the same batch per GPU");

    assert_int_equal (pulse.n_known, pulse.n_done);
    n_done[has_no_band] = pulse.n_done;
    assert_non_null (all->base->bottleneck);
    assert_true (all->bill != NULL && all->scenario != NULL && all->study == study);
    assert_int_equal (all->ranking->len, 2);
    assert_true ((all->band != NULL) == !has_no_band);
    assert_near (quick->saved_fraction, 1.0 / 6, 1e-4);
    assert_near (quicker->saved_fraction, 1.0 / 3, 1e-4);
    for (guint i = 0; i < 2; i++) {
      const FabUpgrade *one = i == 0 ? quick : quicker;

      assert_non_null (one->trial.point->bottleneck);
      assert_true (one->bill != NULL && one->purchase != NULL && one->scenario != NULL);
      assert_int_equal (one->state, has_no_band ? FAB_UPGRADE_UNSURE : FAB_UPGRADE_SURE);
      assert_int_equal (one->paired.change.n, has_no_band ? 0 : 1);
      assert_true ((one->band != NULL) == !has_no_band);
      if (has_no_band)
        assert_true (one->low_fraction >= one->saved_fraction && one->high_fraction <= one->saved_fraction);
    }
    assert_int_equal (more->state, FAB_UPGRADE_NO_GAIN);
    assert_null (more->trial.point->bottleneck);
    assert_non_null (more->purchase);
    assert_int_equal (more->paired.change.n, 0);
  }
  assert_int_equal (n_done[0], n_done[1] + 3); /* bands of the machine as it is, and of two changes */
}

/* A change is better than another one where it surely saves half a percent more: not than itself, and not than what
 * saves as much. Against the machine as it is the state says it. */
static void
a_change_is_better_where_it_surely_saves_more (G_GNUC_UNUSED void **state)
{
  static const gint cancelled = 1;
  g_autoptr (FabStudy) study = study_of (GENERATIONS (SEND_1GB));
  g_autoptr (FabUpgrades) all = find_of (study, &(FabUpgradeLimits){ .kinds = 1U << FAB_UPGRADE_NIC
                                                                            | 1U << FAB_UPGRADE_NODES });
  const FabUpgrade *quick = named (all, "NIC ports quick"), *quicker = named (all, "NIC ports quicker"),
                   *more = named (all, "4 nodes at the same batch per GPU");

  assert_true (fab_upgrade_is_better (all, quick, NULL));
  assert_false (fab_upgrade_is_better (all, more, NULL));
  assert_true (fab_upgrade_is_better (all, quicker, quick));
  assert_true (fab_upgrade_is_better (all, quick, more));
  assert_false (fab_upgrade_is_better (all, quick, quicker));
  assert_false (fab_upgrade_is_better (all, more, quick));
  assert_false (fab_upgrade_is_better (all, quick, quick));
  FabUpgrade nearly = *quicker;
  nearly.saved_fraction = quick->saved_fraction + 0.0049;
  assert_false (fab_upgrade_is_better (all, &nearly, quick));
  nearly.saved_fraction = quick->saved_fraction + 0.0051;
  assert_true (fab_upgrade_is_better (all, &nearly, quick));
  nearly.trial.point = quick->trial.point; /* as it was played it does not save more */
  nearly.change.edits = quick->change.edits;
  assert_false (fab_upgrade_is_better (all, &nearly, quick));
  study->cancel = &cancelled;
  assert_false (fab_upgrade_is_better (all, quicker, quick));
}

/* For a job with tokens a change saves what it saves of the time for as many tokens: 1 - (tokens per second before) /
 * (tokens per second after). What does not fit, and what cannot be, is neither played again nor combined. */
static void
savings_are_of_the_same_work (G_GNUC_UNUSED void **state)
{
  static const char *const sizes[] = { "2", "1", "4", "512", "-1" };
  static const FabUpgradeState states[] = { FAB_UPGRADE_SURE, FAB_UPGRADE_NO_GAIN, FAB_UPGRADE_SURE,
                                            FAB_UPGRADE_TOO_LARGE, FAB_UPGRADE_IMPOSSIBLE };
  g_autoptr (GPtrArray) knobs = g_ptr_array_new ();
  FabKnob *knob = fab_knob_new ("batch", "job.micro_batch", "");
  g_autoptr (FabStudy) study = study_of (GENERATIONS (
      "{kind: ddp, model: gpt2-xl, sequence: 256, micro_batch: 2, compute: {kind: mfu, mfu: 40%}}"));

  for (guint i = 0; i < G_N_ELEMENTS (sizes); i++) {
    g_autofree char *set = g_strconcat ("job.micro_batch=", sizes[i], NULL);

    fab_knob_add (knob, g_strdup (sizes[i]), fab_edits_of ((const char *[]){ set, NULL }));
  }
  g_ptr_array_add (knobs, knob);
  g_autoptr (FabUpgrades) all = find_of (study, &(FabUpgradeLimits){ .kinds = 1U << FAB_UPGRADE_SETTING
                                                                            | 1U << FAB_UPGRADE_NIC,
                                                                     .knobs = knobs });
  for (guint i = 1; i < G_N_ELEMENTS (sizes); i++) {
    g_autofree char *name = g_strconcat ("batch ", sizes[i], NULL);
    const FabUpgrade *one = named (all, name);

    assert_int_equal (one->state, states[i]);
    assert_true ((one->trial.problem != NULL) == (states[i] == FAB_UPGRADE_IMPOSSIBLE));
    if (i < 3)
      assert_near (1 - one->saved_fraction, all->base->tokens_per_s / one->trial.point->tokens_per_s, 1e-9);
    else
      assert_true (one->purchase == NULL && one->paired.change.n == 0);
    for (guint k = 0; k < all->all->len; k++) {
      const char *other = ((const FabUpgrade *) g_ptr_array_index (all->all, k))->change.name;

      assert_true (i == 2 || strstr (other, " + ") == NULL || strstr (other, name) == NULL);
    }
  }
  const FabUpgrade *quick = named (all, "NIC ports quick"), *four = named (all, "batch 4");
  assert_near (quick->saved_fraction, 1 - quick->trial.point->step_s / all->base->step_s, 1e-9);
  assert_true (fab_upgrade_is_better (all, four, quick));
  fab_knob_free (knob);
}

static void
what_cannot_be_upgraded_is_said (G_GNUC_UNUSED void **state)
{
  static const gint cancelled = 1;
  static const struct {
    const char *yaml, *set, *problem;
    gboolean is_cancelled;
  } rows[] = {
    { "name: t\ncluster: {node: dgx-h100, nodes: 1, gpus_per_node: 1}\n"
      "job: {kind: collective, operations: [{op: all_reduce, size: 1MB}]}\n",
      NULL, "the job takes no time: there is nothing to save", FALSE },
    { GENERATIONS (SEND_1GB), "cluster.nodes=-1", "cluster.nodes", FALSE },
    { GENERATIONS (SEND_1GB), NULL, "the run was cancelled", TRUE },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autoptr (FabStudy) study = study_of (rows[i].yaml);
    g_autoptr (FabEdits) edits = fab_edits_of ((const char *[]){ rows[i].set, NULL });
    g_autoptr (FabStudy) edited = fab_study_edited (study, edits);
    g_autoptr (GError) error = NULL;

    edited->cancel = rows[i].is_cancelled ? &cancelled : NULL;
    assert_null (fab_upgrades_find (edited, &(FabUpgradeLimits){ .kinds = 1U << FAB_UPGRADE_NIC }, &error));
    assert_non_null (strstr (error->message, rows[i].problem));
  }
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (faster_ports),
    cmocka_unit_test (inside_the_band),
    cmocka_unit_test (kinds),
    cmocka_unit_test (options_are_what_the_machine_allows),
    cmocka_unit_test (parts_are_joined),
    cmocka_unit_test (the_ranking_is_that_of_its_rules),
    cmocka_unit_test (of_equals_the_cheaper_is_combined),
    cmocka_unit_test (options_set_what_their_names_say),
    cmocka_unit_test (larger_domains_are_offered_once),
    cmocka_unit_test (batches_and_settings_are_heeded),
    cmocka_unit_test (what_gains_is_looked_into),
    cmocka_unit_test (a_change_is_better_where_it_surely_saves_more),
    cmocka_unit_test (savings_are_of_the_same_work),
    cmocka_unit_test (what_cannot_be_upgraded_is_said),
  };

  return play_run_tests ("upgrade", tests, &catalog);
}
