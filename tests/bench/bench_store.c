/* SPDX-License-Identifier: Apache-2.0 */
/* bench_store.c - rows that the results file takes in, as a run writes them: per iteration, in one transaction. */
#include <glib/gstdio.h>
#include <stdio.h>

#include "sim/result/store.h"
#include "tests/bench/bench.h"

enum { N_ITERATIONS = 500, N_SPANS = 1000 };

static gboolean
add_iteration (FabStore *store, guint iteration, FabSpanRecord *spans, GError **error)
{
  FabStepRecord step = { { .iteration = iteration, .start_ps = iteration, .duration_ps = 1 }, 0.5, 0.5, 1 };

  for (guint i = 0; i < N_SPANS; i++)
    spans[i] = (FabSpanRecord){ .iteration = iteration,
                                .kind = FAB_SPAN_COMPUTE,
                                .stream = "compute",
                                .name = "forward layer3",
                                .start_ps = i,
                                .end_ps = i + 1,
                                .collective = -1 };
  return fab_store_add_steps (store, &step, 1, error)
      && fab_store_add_iterations (store, &step.times, 1, error)
      && fab_store_add_spans (store, spans, N_SPANS, error);
}

static gboolean
write_run (const char *path, GError **error)
{
  FabRunRecord run = { "bench", "name: bench\n", FAB_VERSION, "fluid", 1, 8, 1, 1e12, 0, 0 };
  FabRankClassRecord all = { 0, 0, 8, "all" };
  g_autofree FabSpanRecord *spans = g_new (FabSpanRecord, N_SPANS);
  g_autoptr (FabStore) store = fab_store_open (path, FAB_STORE_WRITE, error);

  if (store == NULL || !fab_store_begin_run (store, &run, NULL, error)
      || !fab_store_add_classes (store, &all, 1, error))
    return FALSE;
  for (guint i = 0; i < N_ITERATIONS; i++)
    if (!add_iteration (store, i, spans, error))
      return FALSE;
  return fab_store_commit_run (store, error) && fab_store_close (&store, error);
}

static BenchSample
write_once (gpointer data)
{
  double *bytes_per_row = data, n_rows = N_ITERATIONS * (N_SPANS + 2.0), since_s;
  g_autoptr (GError) error = NULL;
  g_autofree char *directory = g_dir_make_tmp ("fab-bench-XXXXXX", &error);
  g_autofree char *path = directory ? g_build_filename (directory, "bench.db", NULL) : NULL;
  gboolean is_written;
  GStatBuf status = { 0 };

  since_s = bench_now_s ();
  is_written = path && write_run (path, &error) && g_stat (path, &status) == 0;
  since_s = bench_now_s () - since_s;
  if (!is_written)
    fprintf (stderr, "bench: %s\n", error ? error->message : "the results file is not there");
  *bytes_per_row = (double) status.st_size / n_rows;
  if (path)
    g_remove (path);
  if (directory)
    g_rmdir (directory);
  return (BenchSample){ .value = is_written ? n_rows / since_s : 0 };
}

static char *
describe (gpointer data)
{
  return g_strdup_printf ("%.0f bytes each on disk", *(double *) data);
}

void
bench_store (Bench *bench)
{
  const BenchRow row = { .work = "results file, spans inserted", .things = "rows", .once = write_once };
  double bytes_per_row = 0;

  bench_measure (bench, &row, describe, &bytes_per_row);
}
