/* SPDX-License-Identifier: Apache-2.0 */
/* bench_threads.c - four collectives that differ, on packets, with one thread and with two.
 *
 * Time on the clock of the wall, not of the processor: two processors must be free. The ratio is how many times as fast
 * two threads are.
 */
#include <string.h>

#include "models/models.h"
#include "sim/run/simulation.h"
#include "tests/bench/bench.h"

static const char four[] = "name: four\niterations: 1\nfidelity: packet\n"
                           "cluster: {node: dgx-h100, nodes: 8}\n"
                           "collectives: {kind: plain, algorithm: direct}\n"
                           "job: {kind: collective, operations: [{op: all_to_all, size: 40MB},\n"
                           "  {op: all_to_all, size: 41MB}, {op: all_to_all, size: 42MB},\n"
                           "  {op: all_to_all, size: 43MB}]}\n";

typedef struct {
  FabScenario *scenario;
  FabTimePs duration_ps[2]; /* with one thread, with two */
} Threads;

/* Jobs per second. */
static double
play_with (Threads *self, guint n_threads)
{
  g_autoptr (FabSimulation) simulation = fab_simulation_new (self->scenario, &fab_models, NULL, NULL);
  gint64 since_us = g_get_monotonic_time ();

  fab_simulation_set_threads (simulation, n_threads);
  while (fab_simulation_step (simulation))
    self->duration_ps[n_threads - 1] = fab_simulation_probe (simulation)->step.times.duration_ps;
  return G_USEC_PER_SEC / (double) (g_get_monotonic_time () - since_us);
}

static BenchSample
play_both (gpointer data)
{
  double one = play_with (data, 1), two = play_with (data, 2);

  return (BenchSample){ two, one };
}

void
bench_threads (Bench *bench)
{
  g_autoptr (FabCatalog) catalog = fab_catalog_load (FAB_SOURCE_DIR "/models/catalog", &fab_models, NULL);
  g_autoptr (FabScenario) scenario = fab_scenario_parse ("four", four, strlen (four), NULL, &fab_models,
                                                         catalog, NULL);
  Threads threads = { .scenario = scenario };
  BenchRow row = {
    .work = "four plans at packet, two threads", .things = "jobs", .limit = "one thread", .once = play_both
  };

  bench_measure (bench, &row, NULL, &threads);
  if (threads.duration_ps[0] != threads.duration_ps[1])
    bench_fail (bench, "two threads give another step than one");
}
