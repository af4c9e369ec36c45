/* SPDX-License-Identifier: Apache-2.0 */
/* bench_sweep.c - simulations one after the other in one process: a sweep over a link's rate, and many iterations,
 * which leave nothing behind. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "models/models.h"
#include "sim/scenario/simulation.h"
#include "tests/bench/bench.h"

enum { N_POINTS = 100 };

/* What 1000 iterations may leave behind: a page of the allocator here and there. */
static const double max_growth_mib = 0.25;

/* 64 DGX H100, a port of point x 4 Gb/s per GPU, GPT-2 XL by DDP. */
static const char sweep_scenario[] =
    "name: sweep\n"
    "iterations: 1\n"
    "cluster: {node: dgx-h100, nodes: 64, nic: swept}\n"
    "job:\n"
    "  kind: ddp\n"
    "  model: gpt2-xl\n"
    "  micro_batch: 4\n"
    "  compute: {kind: mfu, mfu: 40%%}\n"
    "links:\n"
    "  - {name: swept, summary: swept, technology: RoCE, lanes: 1, coding: 1,\n"
    "     signalling: %uGb/s, latency: 500ns}\n";

typedef struct {
  FabCatalog *catalog;
  char *path;
  double first_s, last_s; /* simulated */
} Sweep;

static FabCatalog *
load_catalog (void)
{
  g_autoptr (GError) error = NULL;
  FabCatalog *catalog = fab_catalog_load (FAB_SOURCE_DIR "/models/catalog", &fab_models, &error);

  if (catalog == NULL)
    fprintf (stderr, "bench: %s\n", error->message);
  return catalog;
}

static FabSimulation *
make (const char *path, const char *const *sets, FabCatalog *catalog, FabScenario **scenario)
{
  g_autoptr (GError) error = NULL;
  FabSimulation *simulation = NULL;

  *scenario = catalog ? fab_scenario_load (path, sets, &fab_models, catalog, &error) : NULL;
  if (*scenario)
    simulation = fab_simulation_new (*scenario, &fab_models, NULL, &error);
  if (simulation == NULL && error)
    fprintf (stderr, "bench: %s\n", error->message);
  return simulation;
}

static gboolean
play_point (Sweep *self, guint point, double *simulated_s)
{
  g_autofree char *text = g_strdup_printf (sweep_scenario, 4 * (point + 1));
  g_autoptr (FabScenario) scenario = NULL;
  g_autoptr (FabSimulation) simulation = NULL;

  if (!g_file_set_contents (self->path, text, -1, NULL)
      || (simulation = make (self->path, NULL, self->catalog, &scenario)) == NULL)
    return FALSE;
  while (fab_simulation_step (simulation))
    ;
  *simulated_s = (double) fab_simulation_probe (simulation)->step.times.duration_ps / FAB_PS_PER_S;
  return TRUE;
}

static BenchSample
play_sweep (gpointer data)
{
  Sweep *self = data;
  double since_s = bench_now_s ();

  for (guint point = 0; point < N_POINTS; point++)
    if (!play_point (self, point, point == 0 ? &self->first_s : &self->last_s))
      return (BenchSample){ 0 };
  return (BenchSample){ .value = bench_now_s () - since_s };
}

static char *
describe (gpointer data)
{
  const Sweep *self = data;

  return g_strdup_printf ("4 to 400 Gb/s per GPU: an iteration of %.3f to %.3f s", self->first_s,
                          self->last_s);
}

void
bench_sweep (Bench *bench)
{
  const BenchRow row = { .work = "bandwidth sweep, 100 points, DDP on 512 GPUs",
                         .once = play_sweep,
                         .goal = 2 };
  g_autofree char *directory = g_dir_make_tmp ("fab-bench-XXXXXX", NULL);
  Sweep sweep = { .catalog = load_catalog () };

  if (directory) {
    sweep.path = g_build_filename (directory, "sweep.yaml", NULL);
    bench_measure (bench, &row, describe, &sweep);
    unlink (sweep.path);
    rmdir (directory);
  }
  g_free (sweep.path);
  fab_catalog_free (sweep.catalog);
}

/* ---- iterations ------------------------------------------------------------------------------ */

int
bench_steady_child (const char *n_iterations)
{
  g_autofree char *set = g_strconcat ("iterations=", n_iterations, NULL);
  const char *const sets[] = { set, NULL };
  g_autoptr (FabCatalog) catalog = load_catalog ();
  g_autoptr (FabScenario) scenario = NULL;
  g_autoptr (FabSimulation) simulation = make (FAB_SOURCE_DIR "/scenarios/hello.yaml", sets, catalog,
                                               &scenario);

  if (simulation == NULL)
    return 2;
  while (fab_simulation_step (simulation))
    ;
  return 0;
}

typedef struct {
  double growth_mib, peak_mib;
} Steady;

static BenchSample
play_steady (gpointer data)
{
  static const char *const few[] = { "/proc/self/exe", "--steady", "1000", NULL };
  static const char *const many[] = { "/proc/self/exe", "--steady", "2000", NULL };
  Steady *self = data;
  BenchChild first = bench_run (few, NULL), second = bench_run (many, NULL);
  gboolean is_good = first.is_good && second.is_good;

  self->growth_mib = second.peak_mib - first.peak_mib;
  self->peak_mib = second.peak_mib;
  g_free (first.output);
  g_free (second.output);
  return (BenchSample){ .value = is_good ? 1000 / MAX (second.cpu_s - first.cpu_s, 1e-6) : 0 };
}

static char *
describe_steady (gpointer data)
{
  const Steady *self = data;

  return g_strdup_printf ("1000 more iterations leave %.2f MiB of %.1f behind", MAX (self->growth_mib, 0),
                          self->peak_mib);
}

void
bench_steady (Bench *bench)
{
  const BenchRow row = { .work = "iterations of GPT-2 XL on one DGX A100",
                         .things = "iterations",
                         .once = play_steady };
  Steady steady = { 0 };

  bench_measure (bench, &row, describe_steady, &steady);
  if (steady.growth_mib > max_growth_mib)
    bench_fail (bench, "iterations leave %.2f MiB behind, and %.2f may be", steady.growth_mib,
                max_growth_mib);
}
