/* SPDX-License-Identifier: Apache-2.0 */
/* bench_traces.c - traces: a large profile is read, a recorded step is played by 1024 ranks, and the messages of one
 * collective take as long as in two simulators that play traces.
 *
 * No package has these two. Their figures are recorded: processor time on 2026-11-23 on a machine with a yardstick of
 * 110 ms, with which versions and how is in docs/reference/bench.md.
 */
#include <glib/gstdio.h>
#include <stdio.h>
#include <string.h>

#include "tests/bench/bench.h"

enum { N_EVENTS = 300000, N_EVENTS_LARGE = 2700000 };

static const double max_mib = 300;

/* --- a profile --- */

typedef struct {
  const char *program, *path;
  double size_mb, peak_mib;
} Profile;

static void
write_events (FILE *file, guint n)
{
  fputs (
      "{\"distributedInfo\": {\"backend\": \"nccl\", \"rank\": 0, \"world_size\": 8}, \"traceEvents\": [\n",
      file);
  for (guint i = 0; i < n; i++) {
    gboolean is_comm = i % 50 == 49;

    fprintf (
        file,
        "%s{\"ph\": \"X\", \"cat\": \"kernel\", \"name\": \"%s\", \"pid\": 0, \"tid\": %d, \"ts\": %u.250, "
        "\"dur\": 8.500, \"args\": {\"External id\": %u, \"device\": 0, \"stream\": %d, \"correlation\": %u, "
        "\"registers per thread\": 96, \"shared memory\": 41760, \"grid\": [%u, 1, 1], \"block\": [640, 1, 1]%s}}\n",
        i > 0 ? "," : "",
        is_comm ? "ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)"
                : "void cutlass::Kernel2<cutlass_80_tensorop_s16816gemm_bf16_128x256_32x3_nn_align8>(Params)",
        is_comm ? 20 : 7, 10 * i, i, is_comm ? 20 : 7, i, i % 108 + 1,
        is_comm ? ", \"Collective name\": \"allreduce\", \"In msg nelems\": 6553600, \"dtype\": \"Float\""
                : "");
  }
  fputs ("]}\n", file);
}

static BenchSample
read_profile (gpointer data)
{
  Profile *self = data;
  const char *const argv[] = { self->program, "import", "trace", self->path, NULL };
  BenchChild child = bench_run (argv, NULL);

  self->peak_mib = child.peak_mib;
  g_free (child.output);
  return (BenchSample){ .value = child.is_good ? self->size_mb / MAX (child.cpu_s, 1e-6) : 0 };
}

static char *
describe_profile (gpointer data)
{
  const Profile *self = data;

  return g_strdup_printf ("%.0f MB, peak of %.0f MiB", self->size_mb, self->peak_mib);
}

static void
bench_profile (Bench *bench)
{
  const BenchRow row = { .work = "a profile of PyTorch is read", .things = "MB", .once = read_profile };
  g_autofree char *folder = g_dir_make_tmp ("fab-bench-XXXXXX", NULL);
  g_autofree char *path = folder != NULL ? g_build_filename (folder, "rank-0.json", NULL) : NULL;
  FILE *file = path != NULL ? fopen (path, "w") : NULL;
  Profile profile = { .program = bench_program (bench), .path = path };
  GStatBuf status = { 0 };

  if (file == NULL) {
    bench_fail (bench, "a profile cannot be written into the folder for temporary files");
    return;
  }
  write_events (file, bench_is_large (bench) ? N_EVENTS_LARGE : N_EVENTS);
  if (fclose (file) != 0 || g_stat (path, &status) != 0)
    bench_fail (bench, "%s cannot be written", path);
  profile.size_mb = (double) status.st_size / 1e6;
  bench_measure (bench, &row, describe_profile, &profile);
  if (profile.peak_mib > max_mib)
    bench_fail (bench, "reading %.0f MB takes %.0f MiB, and %.0f may be", profile.size_mb, profile.peak_mib,
                max_mib);
  g_remove (path);
  g_rmdir (folder);
}

/* --- runs --- */

typedef struct {
  const char *const *argv;
  double step_s;
  const char *others; /* what the other simulator says */
} Run;

static BenchSample
run_once (gpointer data)
{
  Run *self = data;
  BenchChild child = bench_run (self->argv, NULL);
  const char *at = child.is_good && child.output != NULL ? strstr (child.output, "\"step_s\" : ") : NULL;

  self->step_s = at != NULL ? g_ascii_strtod (at + strlen ("\"step_s\" : "), NULL) : 0;
  g_free (child.output);
  return (BenchSample){ .value = self->step_s > 0 ? child.cpu_s : 0 };
}

static char *
describe_run (gpointer data)
{
  const Run *self = data;

  return g_strdup_printf ("%.6f s simulated%s", self->step_s, self->others);
}

static void
bench_replay (Bench *bench)
{
  const char *const argv[] = { bench_program (bench),
                               "run",
                               FAB_SOURCE_DIR "/scenarios/replay-six-blocks.yaml",
                               "--set",
                               "cluster.nodes=512",
                               "--set",
                               "iterations=10",
                               "--no-db",
                               "--no-band",
                               "--format",
                               "json",
                               NULL };
  const BenchRow row = { .work = "a recorded step on 1024 GPUs, 10 iterations",
                         .once = run_once,
                         .goal = 10 };
  Run run = { .argv = argv, .others = "" };

  bench_measure (bench, &row, describe_run, &run);
}

static void
bench_players (Bench *bench)
{
  static const struct {
    const char *work, *peer, *others;
    double recorded_s;
  } rows[] = {
    { "step: ring of 64 MiB over 256 hosts, 130 560 messages", "ASTRA-sim", "; ASTRA-sim 0.134203 s", 8.08 },
    { "the same messages, as GOAL", "LogGOPSim", "; LogGOPSim 0.134203 s", 0.177 },
  };
  const char *const argv[] = { bench_program (bench),
                               "run",
                               FAB_SOURCE_DIR "/tests/bench/ring-256.yaml",
                               "--no-db",
                               "--no-band",
                               "--no-memo",
                               "--format",
                               "json",
                               NULL };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    const BenchRow row = {
      .work = rows[i].work, .once = run_once, .peer = rows[i].peer, .recorded = rows[i].recorded_s
    };
    Run run = { .argv = argv, .others = rows[i].others };

    bench_measure (bench, &row, describe_run, &run);
  }
}

void
bench_traces (Bench *bench)
{
  bench_profile (bench);
  bench_replay (bench);
  bench_players (bench);
}
