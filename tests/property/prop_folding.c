/* SPDX-License-Identifier: Apache-2.0 */
/* prop_folding.c - what is looked at once for many is what each by itself would give.
 *
 * - random flows over links of few kinds, coming and going while capacities change: the rates of the folding are
 * those
 *   of all links one by one, and links that nothing tells apart are one;
 * - random training jobs on random fabrics, with jitter, stragglers, faults and background: the step, its exposure
 * and
 *   every link's bytes are the same with `fold: false`.
 */
#include "tests/support/test.h"

#include "sim/base/units.h"
#include "sim/solve/folding.h"
#include "tests/support/play.h"
#include "tests/support/seeds.h"

static FabCatalog *catalog;

/* --- rates --- */

enum { N_LINKS = 60, N_STREAMS = 6, N_MESSAGES = 6, N_FLOWS = N_STREAMS + N_MESSAGES, N_CHANGES = 60 };

typedef struct {
  FabFoldedFlow folded; /* first: what `changed` is given */
  double rate;
  gboolean is_in;
} Flow;

/* The same flows on two foldings, one of which is flat. */
typedef struct {
  guint n[N_FLOWS], links[N_FLOWS][N_LINKS];
  double weights[N_FLOWS][N_LINKS], capacities[N_LINKS];
  FabFolding *foldings[2];
  Flow flows[2][N_FLOWS];
} Twice;

static double
capacity_of (gconstpointer owner, guint link)
{
  return ((const Twice *) owner)->capacities[link];
}

static void
rate_changed (G_GNUC_UNUSED gpointer owner, FabSharer *sharer, double rate)
{
  ((Flow *) sharer)->rate = rate;
}

/* Streams cross blocks of ten links alike, messages a few anywhere. */
static void
draw_flow (Twice *self, guint flow, Random *random)
{
  gboolean stays = flow < N_STREAMS;
  double weight = 1;

  self->n[flow] = 0;
  for (guint link = 0; link < N_LINKS; link++) {
    if (link % 10 == 0)
      weight = random_chance (random, 50) ? random_between (random, 1, 3) : 0;
    if (stays ? weight <= 0 : !random_chance (random, 8))
      continue;
    self->links[flow][self->n[flow]] = link;
    self->weights[flow][self->n[flow]++] = stays ? weight : 1;
  }
  if (self->n[flow] == 0) {
    self->links[flow][0] = random_below (random, N_LINKS);
    self->weights[flow][self->n[flow]++] = 1;
  }
  for (guint side = 0; side < 2; side++)
    self->flows[side][flow].folded = (FabFoldedFlow){ .sharer = { .weight_factor = 1, .share = 1 },
                                                      .links = self->links[flow],
                                                      .weights = self->weights[flow],
                                                      .n = self->n[flow],
                                                      .stays = stays };
}

static void
toggle (Twice *self, guint flow, Random *random)
{
  gboolean is_in = self->flows[0][flow].is_in;

  if (!is_in && flow >= N_STREAMS)
    draw_flow (self, flow, random);
  for (guint side = 0; side < 2; side++) {
    if (is_in)
      fab_folding_remove (self->foldings[side], &self->flows[side][flow].folded);
    else
      fab_folding_add (self->foldings[side], &self->flows[side][flow].folded);
    self->flows[side][flow].is_in = !is_in;
  }
}

static void
change_capacity (Twice *self, Random *random)
{
  guint link = random_below (random, N_LINKS);

  self->capacities[link] = random_between (random, 0, 3);
  for (guint side = 0; side < 2; side++)
    fab_folding_change_capacity (self->foldings[side], link);
}

static void
assert_same_rates (Twice *self)
{
  for (guint side = 0; side < 2; side++)
    fab_folding_solve (self->foldings[side]);
  for (guint flow = 0; flow < N_FLOWS; flow++) {
    const Flow *folded = &self->flows[0][flow], *flat = &self->flows[1][flow];

    if (!folded->is_in)
      continue;
    assert_true (fabs (folded->rate - flat->rate) <= 1e-9 * MAX (flat->rate, 1e-9));
    assert_int_equal (fab_folding_n_classes (&flat->folded), self->n[flow]);
    assert_true (fab_folding_n_classes (&folded->folded) <= self->n[flow]);
  }
}

static void
check_rates (Random *random)
{
  g_autofree Twice *self = g_new0 (Twice, 1);

  for (guint link = 0; link < N_LINKS; link++)
    self->capacities[link] = link < N_LINKS / 2 ? 10 : 40;
  for (guint side = 0; side < 2; side++)
    self->foldings[side] = fab_folding_new (N_LINKS, capacity_of, rate_changed, self, side == 1);
  for (guint flow = 0; flow < N_FLOWS; flow++)
    draw_flow (self, flow, random);
  for (guint i = 0; i < N_CHANGES; i++) {
    if (random_chance (random, 10))
      change_capacity (self, random);
    else
      toggle (self, random_below (random, random_chance (random, 70) ? N_STREAMS : N_FLOWS), random);
    assert_same_rates (self);
  }
  for (guint side = 0; side < 2; side++)
    fab_folding_free (self->foldings[side]);
}

static void
rates_are_those_of_links_one_by_one (G_GNUC_UNUSED void **state)
{
  seeds_run (100, check_rates);
}

/* Six blocks of ten, each crossed in one way: a stream over all of them sees at most six. */
static void
links_that_nothing_tells_apart_are_one (G_GNUC_UNUSED void **state)
{
  g_autofree Twice *self = g_new0 (Twice, 1);
  Random random = { 1 };

  for (guint link = 0; link < N_LINKS; link++)
    self->capacities[link] = 10;
  self->foldings[0] = fab_folding_new (N_LINKS, capacity_of, rate_changed, self, FALSE);
  for (guint flow = 0; flow < N_STREAMS; flow++) {
    draw_flow (self, flow, &random);
    fab_folding_add (self->foldings[0], &self->flows[0][flow].folded);
  }
  for (guint flow = 0; flow < N_STREAMS; flow++)
    assert_true (fab_folding_n_classes (&self->flows[0][flow].folded) <= N_LINKS / 10);
  fab_folding_free (self->foldings[0]);
}

/* --- jobs --- */

static const char *
pick (Random *random, const char *const *texts, guint n)
{
  return texts[random_below (random, n)];
}

static char *
random_job (Random *random)
{
  static const char *const jobs[] = {
    "kind: ddp, bucket: 200KiB",
    "kind: zero, stage: 2, overlap_comm: yes",
    "kind: zero, stage: 3",
    "kind: zero, stage: 3, offload: {optimizer: cpu, parameters: cpu}",
    "kind: fsdp",
    "kind: fsdp, sharding: grad_op, in_flight: 3",
    "kind: megatron, parallel: {tensor: 2, sequence: true}",
    "kind: megatron, parallel: {tensor: 2, pipeline: 2}, accumulation: 3",
    "kind: megatron, parallel: {tensor: 2, pipeline: 2}, accumulation: 3, memory: {offload: cpu}",
    "kind: megatron, distributed_optimizer: true, overlap_grad_reduce: true, parallel: {context: 2}",
  };
  g_autofree char *jitter = random_chance (random, 40)
                              ? g_strdup_printf (", jitter: {cv: %u%%}", random_between (random, 1, 20))
                              : g_strdup ("");
  g_autofree char *slow = random_chance (random, 40)
                            ? g_strdup_printf (", stragglers: [{rank: %u, slowness: 1.3}]",
                                               random_below (random, 8))
                            : g_strdup ("");

  return g_strdup_printf ("{model: m, %s, micro_batch: %u, sequence: 256%s%s}",
                          pick (random, jobs, G_N_ELEMENTS (jobs)), random_between (random, 1, 2), jitter,
                          slow);
}

static char *
random_cluster (Random *random)
{
  static const char *const nodes[] = { "dgx-h100", "dgx-a100", "dgx1-v100" };
  static const char *const fabrics[] = {
    "switch",
    "{kind: rail, nodes_per_leaf: 2}",
    "{kind: fat_tree, tiers: 3, radix: 16, nodes_per_leaf: 1, leaves_per_pod: 2}",
    "{kind: fat_tree, radix: 8, oversubscription: 2, nodes_per_leaf: 1}",
    "{kind: torus, dimensions: 2, x: 2, y: 3}",
    "{kind: rail, nodes_per_leaf: 2, planes: 2, spines: 2}, nic_ports: 2",
    "{kind: leaf_spine, nodes_per_leaf: 2, tors: 2}, nic_ports: 2, port_use: bond",
    "{kind: leaf_spine, nodes_per_leaf: 1, planes: 2}, nic_ports: 2, port_use: separate",
  };
  static const char *const routes[] = { "shortest", "ecmp", "spray" };
  guint fabric = random_below (random, G_N_ELEMENTS (fabrics));

  return g_strdup_printf (
      "{node: %s, nodes: %u, gpus_per_node: %u, nics_per_node: %u, fabric: %s, route: %s}",
      pick (random, nodes, G_N_ELEMENTS (nodes)), fabric == 4 ? 6 : random_between (random, 2, 6),
      random_chance (random, 60) ? 4 : 8,
      fabric == 3                  ? 1
      : random_chance (random, 50) ? 4
                                   : 1,
      fabrics[fabric], pick (random, routes, G_N_ELEMENTS (routes)));
}

/* Everything but what `fold` says. */
static char *
random_scenario (Random *random)
{
  static const char *const troubles[] = {
    "",
    "",
    "faults: [{what: nic, name: node1/nic0, rate: 50%}]\n",
    "faults: [{what: nic, name: node1/nic0, rate: 30%, at: 1ms}]\n",
    "background: [{kind: transfer, from: node0, to: node1, rate: 50Gb/s}]\n",
  };
  static const char *const libraries[] = { "nccl", "plain", "{kind: plain, algorithm: ring}" };
  g_autofree char *job = random_job (random), *cluster = random_cluster (random);
  guint library = random_below (random, strstr (job, "kind: ddp") || strstr (job, "kind: fsdp") ? 3 : 2);

  return g_strdup_printf (
      "name: random\niterations: 2\nseed: %u\ncollectives: %s\n%s"
      "models: [{name: m, summary: s, source: s, date: \"2026-11-21\", shape: {kind: transformer, layers: %u, "
      "hidden: 256, heads: 4, vocabulary: 1000, tied: false}}]\ncluster: %s\njob: %s\n",
      random_below (random, 1000), libraries[library], pick (random, troubles, G_N_ELEMENTS (troubles)),
      2 * random_between (random, 1, 2), cluster, job);
}

static void
assert_within (double a, double b, double least)
{
  assert_true (fabs (a - b) <= MAX (1e-9 * MAX (fabs (a), fabs (b)), least));
}

/* Events are rounded up to a picosecond, and rounding of sums may put one on the other side. */
static void
assert_same_times (const FabIterationRecord *a, const FabIterationRecord *b)
{
  const double few_ps = 100;

  assert_within ((double) a->duration_ps, (double) b->duration_ps, few_ps);
  assert_within ((double) a->compute_ps, (double) b->compute_ps, few_ps);
  assert_within ((double) a->comm_ps, (double) b->comm_ps, few_ps);
  assert_within ((double) a->exposed_ps, (double) b->exposed_ps, few_ps);
}

static void
assert_same_loads (const GArray *a, const GArray *b)
{
  assert_int_equal (a->len, b->len);
  for (guint i = 0; i < a->len; i++) {
    const FabLinkLoadRecord *x = &g_array_index (a, FabLinkLoadRecord, i),
                            *y = &g_array_index (b, FabLinkLoadRecord, i);

    assert_int_equal (x->link, y->link);
    assert_within ((double) x->bytes, (double) y->bytes, 1);
  }
}

static void
check_job_at (Random *random, const char *fidelity)
{
  g_autofree char *scenario = random_scenario (random),
                  *yaml = g_strdup_printf ("fidelity: %s\n%s", fidelity, scenario),
                  *flat_yaml = g_strconcat ("fold: false\n", yaml, NULL);
  g_autoptr (Play) folded = play_new (catalog, yaml, NULL), flat = play_new (catalog, flat_yaml, NULL);
  guint n_ranks = fab_cluster_n_ranks (fab_simulation_cluster (flat->simulation));

  assert_int_equal (fab_simulation_dag (flat->simulation)->n_classes, n_ranks);
  while (fab_simulation_step (folded->simulation)) {
    gboolean has_next = fab_simulation_step (flat->simulation);
    const FabProbe *a = fab_simulation_probe (folded->simulation),
                   *b = fab_simulation_probe (flat->simulation);

    assert_true (has_next);
    assert_same_times (&a->step.times, &b->step.times);
    assert_same_loads (a->link_loads, b->link_loads);
  }
}

static void
check_job (Random *random)
{
  check_job_at (random, "fluid");
}

static void
a_job_is_the_same_unfolded (G_GNUC_UNUSED void **state)
{
  seeds_run (120, check_job);
}

/* A collective's messages are rounded up to a picosecond one by one. */
static void
check_messages (Random *random)
{
  check_job_at (random, "step");
}

static void
messages_are_the_same_unfolded (G_GNUC_UNUSED void **state)
{
  seeds_run (12, check_messages);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    seeds_test (rates_are_those_of_links_one_by_one),
    cmocka_unit_test (links_that_nothing_tells_apart_are_one),
    seeds_test (a_job_is_the_same_unfolded),
    seeds_test (messages_are_the_same_unfolded),
  };

  return play_run_tests ("folding", tests, &catalog);
}
