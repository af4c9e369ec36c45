/* SPDX-License-Identifier: Apache-2.0 */
/* bench_jobs.c - whole runs of the program: training steps of 1024 GPUs to a million, and what they need of
 * memory. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "tests/bench/bench.h"

enum { MOST_SETS = 4 };

typedef struct {
  const char *work, *scenario;
  const char *sets[MOST_SETS + 1];
  double goal_s;   /* 0: none */
  double most_mib; /* more fails */
  gboolean is_large, is_stored;
} Job;

#define SCENARIOS FAB_SOURCE_DIR "/scenarios/"
#define AT_RANDOM "cluster.placement=random", "cluster.route=ecmp"

static const Job jobs[] = {
  { .work = "DDP, one iteration, 1024 GPUs, Llama 2 7B",
    .scenario = SCENARIOS "ddp-16384-gpus.yaml",
    .sets = { "cluster.nodes=128", "iterations=1" },
    .goal_s = 0.1,
    .most_mib = 64 },
  { .work = "DDP, 3 iterations, 16 384 GPUs, Llama 2 7B",
    .scenario = SCENARIOS "ddp-16384-gpus.yaml",
    .most_mib = 2048 },
  { .work = "the same, into a results file",
    .scenario = SCENARIOS "ddp-16384-gpus.yaml",
    .most_mib = 2048,
    .is_stored = TRUE },
  { .work = "Megatron, Llama 3.1 405B, TP 8 x PP 16 x DP 128",
    .scenario = SCENARIOS "megatron-405b.yaml",
    .sets = { "cluster.nodes=2048" },
    .most_mib = 4096 },
  { .work = "ZeRO-3, one iteration, 16 384 GPUs, Llama 2 70B",
    .scenario = SCENARIOS "zero3-70b-16384.yaml",
    .goal_s = 1,
    .most_mib = 128 },
  { .work = "the same, random places, ecmp",
    .scenario = SCENARIOS "zero3-70b-16384.yaml",
    .sets = { AT_RANDOM },
    .goal_s = 1,
    .most_mib = 128 },
  { .work = "all_to_all, 4096 GPUs, random places, ecmp",
    .scenario = SCENARIOS "zero3-70b-16384.yaml",
    .sets = { "job={kind: collective, operations: [{op: all_to_all, size: 1GB}]}", "cluster.nodes=512",
              AT_RANDOM },
    .goal_s = 3,
    .most_mib = 64 },
  { .work = "all_to_all, 32 768 GPUs, random places",
    .scenario = SCENARIOS "zero3-70b-16384.yaml",
    .sets = { "job={kind: collective, operations: [{op: all_to_all, size: 1GB}]}", "cluster.nodes=4096",
              "cluster.placement=random" },
    .goal_s = 1,
    .most_mib = 256 },
  { .work = "ZeRO-3, one iteration, 131 072 GPUs, Llama 2 70B",
    .scenario = SCENARIOS "zero3-70b-16384.yaml",
    .sets = { "cluster.nodes=16384" },
    .goal_s = 5,
    .most_mib = 512,
    .is_large = TRUE },
  { .work = "the same, random places, ecmp",
    .scenario = SCENARIOS "zero3-70b-16384.yaml",
    .sets = { "cluster.nodes=16384", AT_RANDOM },
    .goal_s = 15,
    .most_mib = 512,
    .is_large = TRUE },
  { .work = "ZeRO-3, one iteration, 1 048 576 GPUs, Llama 2 70B",
    .scenario = SCENARIOS "zero3-70b-16384.yaml",
    .sets = { "cluster.nodes=131072", "cluster.fabric.radix=256", "cluster.fabric.nodes_per_leaf=128" },
    .goal_s = 15,
    .most_mib = 2560,
    .is_large = TRUE },
};

typedef struct {
  const Job *job;
  const char *program;
  double peak_mib;
} JobRun;

static BenchSample
run_job (gpointer data)
{
  JobRun *self = data;
  g_autofree char *directory = g_dir_make_tmp ("fab-bench-XXXXXX", NULL);
  g_autofree char *db = g_build_filename (directory ? directory : ".", "bench.db", NULL);
  g_autoptr (GPtrArray) argv = g_ptr_array_new ();
  BenchChild child;

  g_ptr_array_add (argv, (gpointer) self->program);
  g_ptr_array_add (argv, (gpointer) "run");
  g_ptr_array_add (argv, (gpointer) self->job->scenario);
  g_ptr_array_add (argv, (gpointer) "--format");
  g_ptr_array_add (argv, (gpointer) "csv");
  g_ptr_array_add (argv,
                   (gpointer) "--no-band"); /* these two play the job again, on faster links among others */
  g_ptr_array_add (argv, (gpointer) "--no-bottleneck");
  for (guint i = 0; self->job->sets[i]; i++) {
    g_ptr_array_add (argv, (gpointer) "--set");
    g_ptr_array_add (argv, (gpointer) self->job->sets[i]);
  }
  g_ptr_array_add (argv, (gpointer) (self->job->is_stored ? "--db" : "--no-db"));
  if (self->job->is_stored)
    g_ptr_array_add (argv, db);
  g_ptr_array_add (argv, NULL);
  child = bench_run ((const char *const *) argv->pdata, NULL);
  self->peak_mib = MAX (self->peak_mib, child.peak_mib);
  g_free (child.output);
  unlink (db);
  if (directory)
    rmdir (directory);
  return (BenchSample){ .value = child.is_good ? child.cpu_s : 0 };
}

static char *
describe (gpointer data)
{
  const JobRun *self = data;

  return g_strdup_printf ("peak %.0f MiB, at most %.0f", self->peak_mib, self->job->most_mib);
}

void
bench_jobs (Bench *bench)
{
  for (guint i = 0; i < G_N_ELEMENTS (jobs); i++) {
    const Job *job = &jobs[i];
    JobRun run = { job, bench_program (bench), 0 };
    BenchRow row = { .work = job->work, .once = run_job, .goal = job->goal_s };

    if (job->is_large && !bench_is_large (bench))
      continue;
    bench_measure (bench, &row, describe, &run);
    if (run.peak_mib > job->most_mib)
      bench_fail (bench, "%s: %.0f MiB, and %.0f are promised", job->work, run.peak_mib, job->most_mib);
  }
}
