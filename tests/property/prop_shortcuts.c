/* SPDX-License-Identifier: Apache-2.0 */
/* prop_shortcuts.c - off equals on: random jobs with each shortcut of docs/explanation/shortcuts.md, and without it, at
 * fidelities where it acts. The ends of all collectives and of the iteration may differ by its bound and no more,
 * and over all seeds it must have saved something. Each is tried deeper in a file of its own: prop_lane_fold.c,
 * prop_rotation.c, prop_step.c, prop_episodes.c; forms of other rates, which need a study, in prop_plants.c.
 */
#include "tests/support/test.h"

#include <math.h>

#include "tests/support/play.h"
#include "tests/support/seeds.h"

static FabCatalog *catalog;

/* --- jobs --- */

/* A training job of four nodes. */
static char *
training (Random *random)
{
  static const char *const jobs[] = { "kind: ddp, bucket: 200KiB", "kind: zero, stage: 3",
                                      "kind: fsdp, sharding: grad_op, in_flight: 3",
                                      "kind: megatron, parallel: {tensor: 2}, accumulation: 3" };

  return g_strdup_printf (
      "name: training\niterations: 2\nseed: %u\ncollectives: plain\n"
      "models: [{name: m, summary: s, source: s, date: \"2026-11-21\", shape: {kind: transformer, layers: 2, "
      "hidden: 128, heads: 4, vocabulary: 500, tied: false}}]\n"
      "cluster: {node: dgx-a100, nodes: 4, gpus_per_node: %u, nics_per_node: 2, fabric: rail}\n"
      "job: {model: m, %s, micro_batch: 1, sequence: 64}\n",
      random_below (random, 1000), 2u << random_below (random, 2),
      jobs[random_below (random, G_N_ELEMENTS (jobs))]);
}

/* One collective as a ring. */
static char *
ring (Random *random)
{
  return g_strdup_printf ("name: ring\niterations: 1\nseed: %u\ncollectives: {kind: plain, algorithm: ring}\n"
                          "cluster: {node: dgx-a100, nodes: %u, nics_per_node: %u, fabric: %s}\n"
                          "job: {kind: collective, operations: [{op: %s, size: %uMB}]}\n",
                          random_below (random, 1000), random_between (random, 5, 8),
                          random_between (random, 1, 2), random_chance (random, 50) ? "switch" : "rail",
                          random_chance (random, 50) ? "all_reduce" : "all_gather",
                          random_between (random, 1, 60));
}

/* Collectives of all rails alike. */
static char *
rails (Random *random)
{
  return g_strdup_printf ("name: rails\niterations: 1\nseed: %u\ncollectives: plain\n"
                          "cluster: {node: dgx-h100, nodes: %u, gpus_per_node: 4, fabric: rail}\n"
                          "job: {kind: collective, operations: [{op: %s, size: %ukB}]}\n",
                          random_below (random, 1000), 2 * random_between (random, 1, 2),
                          random_chance (random, 50) ? "all_reduce" : "all_to_all",
                          random_between (random, 100, 4000));
}

/* Long messages that share links. */
static char *
messages (Random *random)
{
  return g_strdup_printf (
      "name: messages\niterations: 1\nseed: %u\n"
      "cluster: {node: dgx-a100, nodes: 4, gpus_per_node: 2, nics_per_node: 1, fabric: switch}\n"
      "job: {kind: traffic, pattern: %s, size: %uMB}\n",
      random_below (random, 1000), random_chance (random, 50) ? "incast" : "shift",
      random_between (random, 20, 60));
}

/* --- shortcuts --- */

/* `on` and `off` are keys of the fidelity; "fold: false" of the scenario goes into `off_scenario`. */
typedef struct {
  const char *name, *on, *off, *off_scenario;
  char *(*job) (Random *random);
  double bound;       /* of a time, as a fraction */
  FabTimePs bound_ps; /* of a time, beside that */
  guint n_threads;    /* with the shortcut; 0: one */
} Shortcut;

static const Shortcut shortcuts[] = {
  { "classes of lanes", "kind: step, skip: false", "kind: step, skip: false", "fold: false\n", training, 1e-9,
    100, 0 },
  { "rotations", "kind: packet, mtu: 16KiB", "kind: packet, mtu: 16KiB, fold: false", "", rails, 0.005, 0,
    0 },
  { "rounds to the picosecond", "kind: step", "kind: step", "fold: false\n", ring, 0, 0, 0 },
  { "rounds at a settled pace", "kind: packet, mtu: 16KiB", "kind: packet, mtu: 16KiB, skip: false", "", ring,
    0.005, 0, 0 },
  { "long messages", "kind: packet", "kind: packet, skip: false", "", messages, 0.005, 0, 0 },
  { "episodes at step", "kind: step, skip: false", "kind: step, memo: false", "", training, 0, 0, 0 },
  { "episodes at packet", "kind: packet, skip: false, fold: false, mtu: 64KiB",
    "kind: packet, memo: false, mtu: 64KiB", "", training, 0, 0, 0 },
  { "warm-ups at step", "kind: step, skip: false", "kind: step, memo: false", "", training, 0, 0, 2 },
  { "warm-ups at packet", "kind: packet, skip: false, fold: false, mtu: 64KiB",
    "kind: packet, memo: false, mtu: 64KiB", "", training, 0, 0, 2 },
};

static const Shortcut *tried;
static guint64 n_saved; /* events */

static void
assert_close (FabTimePs with_ps, FabTimePs without_ps)
{
  double most_ps = tried->bound * (double) without_ps + (double) tried->bound_ps;

  if (fabs ((double) (with_ps - without_ps)) > most_ps)
    print_message ("%s: %" G_GINT64_FORMAT " ps, without %" G_GINT64_FORMAT " ps\n", tried->name, with_ps,
                   without_ps);
  assert_true (fabs ((double) (with_ps - without_ps)) <= most_ps);
}

static void
assert_same_ends (const FabSimulation *with, const FabSimulation *without)
{
  const FabProbe *a = fab_simulation_probe (with), *b = fab_simulation_probe (without);

  assert_int_equal (a->collectives->len, b->collectives->len);
  for (guint i = 0; i < a->collectives->len; i++)
    assert_close (g_array_index (a->collectives, FabCollectiveRecord, i).end_ps,
                  g_array_index (b->collectives, FabCollectiveRecord, i).end_ps);
  for (guint i = 0; i < a->iterations->len; i++)
    assert_close (g_array_index (a->iterations, FabIterationRecord, i).duration_ps,
                  g_array_index (b->iterations, FabIterationRecord, i).duration_ps);
}

static void
check (Random *random)
{
  g_autofree char *job = tried->job (random), *on = g_strdup_printf ("fidelity: {%s}\n%s", tried->on, job),
                  *off = g_strdup_printf ("fidelity: {%s}\n%s%s", tried->off, tried->off_scenario, job);
  g_autoptr (Play) with = play_new (catalog, on, NULL), without = play_new (catalog, off, NULL);

  if (tried->n_threads > 0)
    fab_simulation_set_threads (with->simulation, tried->n_threads);
  while (fab_simulation_step (with->simulation)) {
    assert_true (fab_simulation_step (without->simulation));
    assert_same_ends (with->simulation, without->simulation);
  }
  assert_false (fab_simulation_step (without->simulation));
  guint64 n_with = fab_simulation_events (with->simulation),
          n_without = fab_simulation_events (without->simulation);
  n_saved += n_without > n_with ? n_without - n_with : 0;
}

static void
off_equals_on (G_GNUC_UNUSED void **state)
{
  for (guint i = 0; i < G_N_ELEMENTS (shortcuts); i++) {
    tried = &shortcuts[i];
    n_saved = 0;
    seeds_run (8, check);
    if (n_saved == 0 && seeds_are_all ())
      print_message ("%s saved nothing\n", tried->name);
    assert_true (n_saved > 0 || !seeds_are_all ());
  }
}

int
main (void)
{
  const struct CMUnitTest tests[] = { seeds_test (off_equals_on) };

  return play_run_tests ("shortcuts", tests, &catalog);
}
