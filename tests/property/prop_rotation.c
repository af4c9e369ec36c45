/* SPDX-License-Identifier: Apache-2.0 */
/* prop_rotation.c - random jobs at packet of which one of several rails or nodes is played for all, against all of
 * them: the iteration takes the same to 0.5 %, and every link carries the same bytes. A machine with a slow port, and
 * paths that hashes choose, are played whole. The same with all that saves packets, against every packet.
 */
#include "tests/support/test.h"

#include <math.h>

#include "tests/support/play.h"
#include "tests/support/seeds.h"

static FabCatalog *catalog;
static guint n_jobs, n_folded; /* in all; of which less than half was played */

static const char *
pick (Random *random, const char *const *texts, guint n)
{
  return texts[random_below (random, n)];
}

static char *
random_job (Random *random)
{
  static const char *const ops[] = { "all_reduce", "all_gather", "reduce_scatter", "all_to_all",
                                     "broadcast" };
  static const char *const jobs[] = {
    "kind: ddp, bucket: 200KiB",
    "kind: zero, stage: 2, overlap_comm: yes",
    "kind: zero, stage: 3",
    "kind: fsdp, sharding: grad_op, in_flight: 3",
    "kind: megatron, parallel: {tensor: 2, pipeline: 2}, accumulation: 3",
    "kind: megatron, parallel: {tensor: 2}, distributed_optimizer: true",
  };

  if (random_chance (random, 50))
    return g_strdup_printf ("{kind: collective, operations: [{op: %s, size: %ukB}, {op: %s, size: %ukB}]}",
                            pick (random, ops, G_N_ELEMENTS (ops)), random_between (random, 1, 4000),
                            pick (random, ops, G_N_ELEMENTS (ops)), random_between (random, 1, 4000));
  return g_strdup_printf ("{model: m, %s, micro_batch: 1, sequence: 64}",
                          pick (random, jobs, G_N_ELEMENTS (jobs)));
}

static char *
random_scenario (Random *random)
{
  static const char *const nodes[] = { "dgx-h100", "dgx-a100", "hgx-b200" };
  static const char *const fabrics[] = { "switch", "rail", "{kind: rail, nodes_per_leaf: 2}",
                                         "{kind: fat_tree, radix: 64, nodes_per_leaf: 2}" };
  static const char *const routes[] = { "shortest", "shortest", "ecmp", "spray" };
  static const char *const libraries[] = { "nccl", "plain", "{kind: plain, algorithm: ring}" };
  static const char *const others[] = { "", "", "", "faults: [{what: nic, name: node1/nic0, rate: 50%}]\n",
                                        "faults: [{what: nic, name: node1/nic0, rate: 30%, at: 20us}]\n" };
  g_autofree char *job = random_job (random);
  guint library = random_below (random, strstr (job, "kind: ddp") || strstr (job, "kind: fsdp") ? 3 : 2);

  return g_strdup_printf (
      "name: random\niterations: 1\nseed: %u\ncollectives: %s\n%s"
      "models: [{name: m, summary: s, source: s, date: \"2026-11-21\", shape: {kind: transformer, layers: 2, "
      "hidden: 256, heads: 4, vocabulary: 500, tied: false}}]\n"
      "cluster: {node: %s, nodes: %u, gpus_per_node: %u, fabric: %s, route: %s}\njob: %s\n",
      random_below (random, 1000), libraries[library], pick (random, others, G_N_ELEMENTS (others)),
      pick (random, nodes, G_N_ELEMENTS (nodes)), 2 * random_between (random, 1, 3),
      2 << random_below (random, 3), pick (random, fabrics, G_N_ELEMENTS (fabrics)),
      pick (random, routes, G_N_ELEMENTS (routes)), job);
}

static const FabIterationRecord *
play_step (Play *play)
{
  assert_true (fab_simulation_step (play->simulation));
  return &g_array_index (fab_simulation_probe (play->simulation)->iterations, FabIterationRecord, 0);
}

/* Packets that are spread over paths are counted in whole bytes, and all lanes together are not. */
static void
assert_same_bytes (const Play *a, const Play *b)
{
  const GArray *x = fab_simulation_probe (a->simulation)->link_loads,
               *y = fab_simulation_probe (b->simulation)->link_loads;

  assert_int_equal (x->len, y->len);
  for (guint i = 0; i < x->len; i++) {
    const FabLinkLoadRecord *p = &g_array_index (x, FabLinkLoadRecord, i),
                            *q = &g_array_index (y, FabLinkLoadRecord, i);

    assert_int_equal (p->link, q->link);
    assert_true (fabs ((double) p->bytes - (double) q->bytes) <= 64 + 1e-3 * (double) q->bytes);
  }
}

/* A link that stands for others tells their queues too. */
static void
assert_same_queues (const Play *a, const Play *b)
{
  g_autoptr (GArray) x = fab_simulation_link_queues (a->simulation),
                     y = fab_simulation_link_queues (b->simulation);

  assert_int_equal (x->len, y->len);
  for (guint i = 0; i < x->len; i++) {
    assert_int_equal (g_array_index (x, FabLinkQueueRecord, i).link,
                      g_array_index (y, FabLinkQueueRecord, i).link);
    assert_int_equal (g_array_index (x, FabLinkQueueRecord, i).carried_bytes,
                      g_array_index (y, FabLinkQueueRecord, i).carried_bytes);
  }
}

/* A random job with less and with more of its packets, as the keys of the network say. */
typedef struct {
  Play *less, *more;
} Pair;

static Pair
play_both (Random *random, const char *less, const char *more)
{
  g_autofree char *scenario = random_scenario (random),
                  *less_yaml = g_strdup_printf ("fidelity: {kind: packet%s}\n%s", less, scenario),
                  *more_yaml = g_strdup_printf ("fidelity: {kind: packet%s}\n%s", more, scenario);
  Pair pair = { play_new (catalog, less_yaml, NULL), play_new (catalog, more_yaml, NULL) };
  double a = (double) play_step (pair.less)->duration_ps, b = (double) play_step (pair.more)->duration_ps;

  assert_true (fabs (a - b) <= 0.005 * b);
  return pair;
}

static void
pair_clear (Pair *self)
{
  play_free (self->less);
  play_free (self->more);
}

static void
check (Random *random)
{
  Pair pair = play_both (random, ", skip: false", ", skip: false, fold: false");

  assert_same_bytes (pair.less, pair.more);
  assert_same_queues (pair.less, pair.more);
  n_jobs++;
  n_folded += 2 * fab_simulation_memo_record (pair.less->simulation).n_events
            < fab_simulation_memo_record (pair.more->simulation).n_events;
  pair_clear (&pair);
}

/* Bytes of all links together. */
static double
sum_bytes (const Play *play)
{
  const GArray *loads = fab_simulation_probe (play->simulation)->link_loads;
  double sum = 0;

  for (guint i = 0; i < loads->len; i++)
    sum += (double) g_array_index (loads, FabLinkLoadRecord, i).bytes;
  return sum;
}

/* What is remembered, folded and skipped, all together. Packets that are skipped count evenly on all of their paths. */
static void
check_all (Random *random)
{
  Pair pair = play_both (random, "", ", memo: false");
  double a = sum_bytes (pair.less), b = sum_bytes (pair.more);

  assert_true (fabs (a - b) <= 64 + 1e-3 * b);
  pair_clear (&pair);
}

static void
rails_and_nodes_that_turn_into_each_other_fare_alike (G_GNUC_UNUSED void **state)
{
  n_jobs = n_folded = 0;
  seeds_run (60, check);
  assert_true (4 * n_folded > n_jobs || !seeds_are_all ());
}

static void
jobs_take_what_they_take_with_every_packet (G_GNUC_UNUSED void **state)
{
  seeds_run (40, check_all);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    seeds_test (rails_and_nodes_that_turn_into_each_other_fare_alike),
    seeds_test (jobs_take_what_they_take_with_every_packet),
  };

  return play_run_tests ("rotation", tests, &catalog);
}
