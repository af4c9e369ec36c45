/* SPDX-License-Identifier: Apache-2.0 */
/* bench_sweep.c - many simulations in one process: a sweep over the rate of NIC ports, and many iterations, which
 * leave nothing behind. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "models/models.h"
#include "sim/run/simulation.h"
#include "sim/study/axis.h"
#include "sim/study/study.h"
#include "tests/bench/bench.h"

enum { N_POINTS = 100 };

/* What 1000 iterations may leave behind: a page of the allocator here and there. */
static const double max_growth_mib = 0.25;

/* 64 DGX H100, GPT-2 XL by DDP. */
static const char sweep_scenario[] = "name: sweep\n"
                                     "iterations: 1\n"
                                     "cluster: {node: dgx-h100, nodes: 64}\n"
                                     "job:\n"
                                     "  kind: ddp\n"
                                     "  model: gpt2-xl\n"
                                     "  micro_batch: 4\n"
                                     "  compute: {kind: mfu, mfu: 40%}\n";

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

/* Takes what there is to know of the points. FALSE: one of them could not be played. */
static gboolean
take_points (Sweep *self, FabTry *tries)
{
  gboolean is_good = TRUE;

  for (guint i = 0; i < N_POINTS; i++)
    is_good &= tries[i].point != NULL;
  if (is_good) {
    self->first_s = tries[0].point->step_s;
    self->last_s = tries[N_POINTS - 1].point->step_s;
  }
  for (guint i = 0; i < N_POINTS; i++)
    fab_try_clear (&tries[i]);
  return is_good;
}

/* A NIC port of point x 4 Gb/s per GPU. */
static BenchSample
play_sweep (gpointer data)
{
  Sweep *self = data;
  g_autoptr (FabStudy) study = fab_study_new (self->path, NULL, self->catalog, &fab_models, NULL);
  g_autoptr (FabGrid) grid = fab_grid_new ((const char *const[]){ "cluster.nic_rate=4..400Gb/s:4", NULL },
                                           NULL, NULL);
  FabTry tries[N_POINTS] = { 0 }, *all[N_POINTS];
  FabEdits *edits[N_POINTS];
  double since_s = bench_now_s (), took_s;

  for (guint i = 0; i < N_POINTS; i++) {
    edits[i] = fab_grid_edits (grid, i);
    tries[i].edits = edits[i];
    all[i] = &tries[i];
  }
  fab_study_play (study, all, N_POINTS, NULL);
  took_s = bench_now_s () - since_s;
  for (guint i = 0; i < N_POINTS; i++)
    fab_edits_free (edits[i]);
  return take_points (self, tries) ? (BenchSample){ .value = took_s } : (BenchSample){ 0 };
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
    if (g_file_set_contents (sweep.path, sweep_scenario, -1, NULL))
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
