/* SPDX-License-Identifier: Apache-2.0 */
/* prop_plants.c - plants that are kept change nothing.
 *
 * A point on a plant that others were simulated on before has the bytes of one on a plant of its own, whatever they
 * were, and with several threads at once.
 */
#include "tests/support/test.h"

#include <string.h>

#include "models/models.h"
#include "sim/base/thread_pool.h"
#include "tests/support/play.h"
#include "tests/support/probe_text.h"
#include "tests/support/seeds.h"

enum { N_POINTS = 24, MOST_SETS = 12, N_JOB_SETS = 4 };

static FabCatalog *catalog;

/* Two small jobs side by side would be the exception: mostly one job has the machine. */
static const char *const bases[] = {
  "name: a\niterations: 2\ncluster: {node: dgx-h100, nodes: 4}\njob: {kind: ddp, model: gpt2, micro_batch: 2}\n",
  "name: b\niterations: 2\ncluster: {node: dgx-a100, nodes: 4, fabric: {kind: leaf_spine, nodes_per_leaf: 2}}\n"
  "job: {kind: megatron, model: gpt2, micro_batch: 1, accumulation: 2, parallel: {tensor: 2}}\n",
  "name: c\niterations: 2\ncluster: {node: dgx-a100, nodes: 4}\n"
  "job: {kind: collective, operations: [{op: all_reduce, size: 10MB}, {op: all_gather, size: 1MB}]}\n"
  "neighbours: [{name: other, nodes: 2, first: 1, stride: 2, "
  "job: {kind: collective, operations: [{op: all_reduce, size: 3MB}]}}]\n",
};

/* Assignments, one of a row or none of it; what does not fit a base is an error, and has to be the same one. */
static const char *const edits[MOST_SETS][5] = {
  { "job.micro_batch=1", "job.micro_batch=3" },
  { "job.bucket=1MB", "job.bucket=40MB", "job.bucket=400MB" },
  { "job.kind=fsdp", "job.kind=zero3", "job.kind=zero1", "job.kind=ddp" },
  { "job.parallel.tensor=4", "job.parallel.pipeline=2", "job.parallel.tensor=8" },
  { "cluster.nodes=2", "cluster.nodes=8" },
  { "cluster.nic_rate=100Gb/s", "cluster.nic_rate=200Gb/s", "cluster.nic_rate=390Gb/s" },
  { "cluster.nics_per_node=1", "cluster.pxn=false", "cluster.p2p=none", "cluster.gdr=none" },
  { "collectives=plain", "collectives.algorithm=ring", "collectives.nvls=false", "collectives=mpi" },
  { "fidelity=analytic" },
  { "contention=false", "fold=false", "iterations=1" },
  { "seed=7", "cluster.placement=random" },
  { "faults.+={what: nic, name: node1/nic0, rate: 50%}", "cluster.route=ecmp", "cluster.route=spray",
    "cluster.route=adaptive" },
};

/* Below, between and above the rates of the wires inside the nodes, and one of these itself. */
static const char *const rates[] = { "cluster.nic_rate=20Gb/s",  "cluster.nic_rate=30Gb/s",
                                     "cluster.nic_rate=100Gb/s", "cluster.nic_rate=150Gb/s",
                                     "cluster.nic_rate=190Gb/s", "cluster.nic_rate=240Gb/s",
                                     "cluster.nic_rate=256Gb/s", "cluster.nic_rate=300Gb/s",
                                     "cluster.nic_rate=400Gb/s", "cluster.nic_rate=600Gb/s",
                                     "cluster.nic_rate=2Tb/s",   "cluster.nic_rate=9Tb/s" };

typedef struct {
  const char *base;
  const char *sets[MOST_SETS + 2]; /* NULL-ended */
  char *alone;                     /* what it gives on a plant of its own */
  char *kept;                      /* and on one of the cache */
} Point;

static void
draw_point (Random *random, Point *self)
{
  guint n = 0;

  *self = (Point){ .base = bases[random_below (random, G_N_ELEMENTS (bases))] };
  for (guint e = 0; e < MOST_SETS; e++) {
    const char *set = edits[e][random_below (random, G_N_ELEMENTS (edits[e]))];

    if (set != NULL && random_chance (random, e < N_JOB_SETS ? 40 : 10))
      self->sets[n++] = set;
  }
}

/* The machine of `model` with other ports, and often with another job. */
static void
draw_rate (Random *random, const Point *model, Point *self)
{
  guint n = 0;

  *self = (Point){ .base = model->base };
  while (model->sets[n] != NULL) {
    self->sets[n] = model->sets[n];
    n++;
  }
  self->sets[n++] = rates[random_below (random, G_N_ELEMENTS (rates))];
  if (random_chance (random, 50))
    self->sets[n] = edits[1][random_below (random, 3)];
}

/* Everything that the run says, or what is wrong. (transfer full) */
static char *
play_point (const Point *self, FabPlantCache *plants)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (FabSimulation) simulation = NULL;
  g_autoptr (FabScenario) scenario = fab_scenario_parse ("point", self->base, strlen (self->base), self->sets,
                                                         &fab_models, catalog, &error);
  GString *text = g_string_new (NULL);

  if (scenario != NULL)
    simulation = plants != NULL ? fab_simulation_build_on (plants, scenario, &fab_models, NULL, NULL, &error)
                                : fab_simulation_new (scenario, &fab_models, NULL, &error);
  while (simulation != NULL && fab_simulation_step (simulation))
    probe_text (fab_simulation_probe (simulation), text);
  if (simulation != NULL && fab_simulation_check (simulation, &error)) {
    FabRunRecord record = fab_simulation_run_record (simulation);

    g_string_append_printf (text, "%s\n%u ranks %u nodes\n", record.scenario_yaml, record.n_ranks,
                            record.n_nodes);
  }
  if (error != NULL)
    g_string_append (text, error->message);
  return g_string_free (text, FALSE);
}

typedef struct {
  Point *points;
  FabPlantCache *plants;
} Plays;

static void
play_kept (gpointer data, guint item)
{
  const Plays *self = data;

  self->points[item].kept = play_point (&self->points[item], self->plants);
}

static void
check_points (Point *points)
{
  for (guint i = 0; i < N_POINTS; i++) {
    g_autofree char *alone = g_steal_pointer (&points[i].alone), *kept = g_steal_pointer (&points[i].kept);
    g_autofree char *sets = g_strjoinv (" ", (char **) points[i].sets);

    if (strcmp (alone, kept) != 0)
      fail_msg ("point %u, %s%s\n--- alone\n%s\n--- kept\n%s", i, points[i].base, sets, alone, kept);
  }
}

static void
draw_points (Random *random, Point *points)
{
  for (guint i = 0; i < N_POINTS; i++) {
    draw_point (random, &points[i]);
    points[i].alone = play_point (&points[i], NULL);
  }
}

static void
draw_rates (Random *random, Point *points)
{
  Point model;

  draw_point (random, &model);
  for (guint i = 0; i < N_POINTS; i++) {
    draw_rate (random, &model, &points[i]);
    points[i].alone = play_point (&points[i], NULL);
  }
}

static void
check_one_after_another (Random *random)
{
  g_autoptr (FabPlantCache) plants = fab_plant_cache_new (random_between (random, 1, 8));
  Point points[N_POINTS];
  Plays plays = { points, plants };

  draw_points (random, points);
  for (guint i = 0; i < N_POINTS; i++)
    play_kept (&plays, i);
  check_points (points);
  assert_true (fab_plant_cache_n_built (plants) < N_POINTS);
}

static void
a_plant_that_was_used_gives_the_same_bytes (G_GNUC_UNUSED void **state)
{
  seeds_run (12, check_one_after_another);
}

static void
check_at_once (Random *random)
{
  g_autoptr (FabPlantCache) plants = fab_plant_cache_new (random_between (random, 1, 8));
  Point points[N_POINTS];

  if (random_chance (random, 50))
    draw_points (random, points);
  else
    draw_rates (random, points);
  fab_thread_pool_run (0, N_POINTS, play_kept, &(Plays){ points, plants });
  check_points (points);
}

static void
threads_that_share_a_cache_give_the_same_bytes (G_GNUC_UNUSED void **state)
{
  g_autofree char *before = g_strdup (g_getenv ("FABRICAST_THREADS"));

  g_setenv ("FABRICAST_THREADS", "4", TRUE);
  seeds_run (8, check_at_once);
  if (before != NULL)
    g_setenv ("FABRICAST_THREADS", before, TRUE);
  else
    g_unsetenv ("FABRICAST_THREADS");
}

static void
check_rates (Random *random)
{
  g_autoptr (FabPlantCache) plants = fab_plant_cache_new (random_between (random, 1, 8));
  Point points[N_POINTS];

  draw_rates (random, points);
  for (guint i = 0; i < N_POINTS; i++)
    play_kept (&(Plays){ points, plants }, i);
  check_points (points);
}

static void
forms_for_other_rates_give_the_same_bytes (G_GNUC_UNUSED void **state)
{
  seeds_run (20, check_rates);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    seeds_test (a_plant_that_was_used_gives_the_same_bytes),
    seeds_test (forms_for_other_rates_give_the_same_bytes),
    seeds_test (threads_that_share_a_cache_give_the_same_bytes),
  };
  int n_failed;

  catalog = play_catalog ();
  n_failed = cmocka_run_group_tests_name ("plants", tests, NULL, NULL);
  fab_catalog_free (catalog);
  return n_failed;
}
