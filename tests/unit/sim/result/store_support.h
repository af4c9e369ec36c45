/* SPDX-License-Identifier: Apache-2.0 */
/* store_support.h - a small run, and a directory of its own, for the tests of the store.
 *
 * Per iteration: 2 rank classes, 2 collectives, `n_spans` spans, 2 links that carry something.
 * A step lasts 1 s: compute 0.6, comm 0.5, both at once 0.3, so exposed = 0.5 - 0.3 = 0.2 and
 * idle = 1 - (0.6 + 0.5 - 0.3) = 0.2. On the critical path: 0.8 s of compute, then 0.2 s of collective 0.
 */
#pragma once

#include <glib.h>
#include <glib/gstdio.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#include "sim/result/store_private.h"

#define SKIPPED 77
#define MS G_GINT64_CONSTANT (1000000000) /* ps */

static inline FabIterationRecord
sample_times (guint iteration, guint rank_class)
{
  return (FabIterationRecord){ .iteration = iteration,
                               .rank_class = rank_class,
                               .start_ps = iteration * 1000 * MS,
                               .duration_ps = 1000 * MS,
                               .compute_ps = 600 * MS,
                               .comm_ps = 500 * MS,
                               .overlapped_ps = 300 * MS,
                               .exposed_ps = 200 * MS,
                               .idle_ps = 200 * MS,
                               .waiting_ps = 50 * MS,
                               .exposed_inter_node_ps = 150 * MS };
}

static inline FabCollectiveRecord
sample_collective (guint iteration, guint index)
{
  FabTimePs start_ps = iteration * 1000 * MS + index * 250 * MS;

  /* 1 GB in 200 ms: algbw 5 GB/s; 4 ranks: busbw 5 x 2 x 3 / 4 = 7.5 GB/s. */
  return (FabCollectiveRecord){ .iteration = iteration,
                                .index = index,
                                .name = index == 0 ? "bucket0" : "bucket1",
                                .op = "all_reduce",
                                .dimension = index == 0 ? "data" : "tensor",
                                .algorithm = "ring",
                                .protocol = NULL,
                                .n_channels = 2,
                                .n_ranks = 4,
                                .bytes = 1000000000,
                                .ready_ps = start_ps - 10 * MS * index,
                                .start_ps = start_ps,
                                .end_ps = start_ps + 200 * MS,
                                .exposed_ps = 100 * MS,
                                .alone_ps = 160 * MS,
                                .algbw_bytes_per_s = 5e9,
                                .busbw_bytes_per_s = 7.5e9,
                                .binding_link = index == 0 ? 1 : FAB_RECORD_NO_LINK };
}

static inline gboolean
add_head (FabStore *store, gint64 *run_id, GError **error)
{
  FabRunRecord run = {
    "sample", "name: sample\nseed: 7\n", "0.1", "fluid", 7, 4, 2, 312e12, 80000000000, 1e12
  };
  FabRankClassRecord classes[] = { { 0, 0, 3, "most" }, { 1, 3, 1, "last" } };
  FabLinkRecord links[] = { { 0, "node0/gpu0", "leaf0", "ib_ndr", 1, 50000000000, 600000 },
                            { 1, "leaf0", "node1/gpu0", "ib_ndr", 2, 50000000000, 600000 },
                            { 2, "node1/gpu0", "leaf0", "ib_ndr", 1, 50000000000, 600000 } };

  FabMemoryRecord memory[] = { { 0, "parameters", 20000000000 },
                               { 0, "optimizer", 40000000000 },
                               { 1, "parameters", 8000000000 } };

  FabFindingRecord findings[] = { { "does_not_fit", "stops", "It does not fit.", "Recompute." },
                                  { "waits_for_network", "notes", "It waits.", NULL } };

  return fab_store_begin_run (store, &run, run_id, error) && fab_store_add_classes (store, classes, 2, error)
      && fab_store_add_memory (store, memory, 3, error) && fab_store_add_links (store, links, 3, error)
      && fab_store_add_findings (store, findings, 2, error)
      && fab_store_add_memo (store, &(FabMemoRecord){ 40, 30, 8, 5, 1, 9000, 700 }, error)
      && fab_store_add_pace (store, &(FabPaceRecord){ 1, 0.75, 0.5, 0.25, 0.125 }, error);
}

static inline gboolean
add_spans (FabStore *store, guint iteration, guint n_spans, GError **error)
{
  g_autofree FabSpanRecord *spans = g_new0 (FabSpanRecord, n_spans);

  for (guint i = 0; i < n_spans; i++)
    spans[i] = (FabSpanRecord){ .iteration = iteration,
                                .rank_class = i % 2,
                                .kind = i % 2 == 0 ? FAB_SPAN_COMPUTE : FAB_SPAN_COMM,
                                .stream = i % 2 == 0 ? "compute" : "comm",
                                .name = "layer",
                                .start_ps = iteration * 1000 * MS + i,
                                .end_ps = iteration * 1000 * MS + i + 1,
                                .collective = i % 2 == 0 ? -1 : 1 };
  return fab_store_add_spans (store, spans, n_spans, error);
}

/* Why the iteration took as long as it did. */
static inline gboolean
add_reasons (FabStore *store, guint iteration, GError **error)
{
  FabTimePs start_ps = iteration * 1000 * MS;
  FabExposureRecord exposures[] = {
    { iteration, 0, "data", "all_reduce", 1, 1000000000, 300 * MS, 150 * MS, 150 * MS, 40 * MS },
    { iteration, 0, "tensor", "all_reduce", 1, 1000000000, 200 * MS, 50 * MS, 0, 10 * MS },
    { iteration, 1, "data", "all_reduce", 1, 1000000000, 500 * MS, 200 * MS, 150 * MS, 50 * MS },
  };
  FabPathRecord path[] = {
    { iteration, 0, 0, "compute", FAB_SPAN_COMPUTE, "forward", start_ps, start_ps + 300 * MS, -1,
      FAB_RECORD_NO_LINK },
    { iteration, 1, 0, "compute", FAB_SPAN_COMPUTE, "backward", start_ps + 300 * MS, start_ps + 800 * MS, -1,
      FAB_RECORD_NO_LINK },
    { iteration, 2, 1, "comm", FAB_SPAN_COMM, "all_reduce bucket0", start_ps + 800 * MS, start_ps + 1000 * MS,
      0, 1 },
  };
  FabLinkSampleRecord samples[] = { { iteration, 1, start_ps, start_ps + 200 * MS, 5e9 },
                                    { iteration, 1, start_ps + 250 * MS, start_ps + 450 * MS, 4e9 } };

  return fab_store_add_exposures (store, exposures, 3, error) && fab_store_add_path (store, path, 3, error)
      && fab_store_add_link_samples (store, samples, 2, error);
}

static inline gboolean
add_iteration (FabStore *store, guint iteration, guint n_spans, GError **error)
{
  FabStepRecord step = { sample_times (iteration, 0), 0.4, 0.5, 1e6 };
  FabIterationRecord times[] = { sample_times (iteration, 0), sample_times (iteration, 1) };
  FabCollectiveRecord collectives[] = { sample_collective (iteration, 0), sample_collective (iteration, 1) };
  FabLinkLoadRecord loads[] = { { iteration, 0, 1000, 0.25 },
                                { iteration, 1, 2000, iteration == 0 ? 0.5 : 1 } };

  return fab_store_add_steps (store, &step, 1, error) && fab_store_add_iterations (store, times, 2, error)
      && fab_store_add_collectives (store, collectives, 2, error)
      && add_spans (store, iteration, n_spans, error) && fab_store_add_link_loads (store, loads, 2, error)
      && add_reasons (store, iteration, error);
}

/* Of the run: what was sent over link 1 came over link 0, which is stopped. */
static inline gboolean
add_queues (FabStore *store, GError **error)
{
  FabLinkQueueRecord queues[] = { { 0, 4000, 0, 0, 12, 0, 3, 0 }, { 1, 3500, 900, 250.5, 0, 5, 0, 2 } };

  FabQueueLengthRecord lengths = { "leaf -> nic", 2, 0, 500, 900, 900, 900, 250.5, 12, 5, 3, 2 };

  return fab_store_add_link_queues (store, queues, 2, error)
      && fab_store_add_queue_lengths (store, &lengths, 1, error);
}

/* A run of two iterations. */
static inline gboolean
add_run (FabStore *store, guint n_spans, GError **error)
{
  return add_head (store, NULL, error) && add_iteration (store, 0, n_spans, error)
      && add_iteration (store, 1, n_spans, error) && add_queues (store, error)
      && fab_store_commit_run (store, error);
}

static inline gboolean
write_run (const char *path, guint n_spans, GError **error)
{
  g_autoptr (FabStore) store = fab_store_open (path, FAB_STORE_WRITE, error);

  return store != NULL && add_run (store, n_spans, error) && fab_store_close (&store, error);
}

/* A sweep of two points, of which the second cannot be played. */
static inline gboolean
write_sweep (const char *path, GError **error)
{
  g_autoptr (FabStore) store = fab_store_open (path, FAB_STORE_WRITE, error);
  const char *const values[] = { "1", "2", NULL };
  FabSweepAxisRecord axis = { "cluster.nodes", values };
  FabSweepRecord sweep = { "small", "A small one.", "name: small\n", "0.1", "print", &axis, 1, 2 };
  FabSweepPointRecord points[] = {
    { .settings = "cluster.nodes=1", .step_s = 1 },
    { .point = 1, .settings = "cluster.nodes=2", .step_s = NAN, .problem = "no" }
  };
  gint64 sweep_id;

  return store != NULL && fab_store_open_sweep (store, &sweep, &sweep_id, error)
      && fab_store_add_points (store, sweep_id, points, 2, NULL, error) && fab_store_close (&store, error);
}

/* A directory per test. */

static inline int
set_up_directory (void **state)
{
  *state = g_dir_make_tmp ("fab-store-XXXXXX", NULL);
  return *state != NULL && g_chmod (*state, 0755) == 0 ? 0 : -1;
}

static inline int
tear_down_directory (void **state)
{
  g_autofree char *path = *state;
  g_autoptr (GDir) directory = NULL;

  g_chmod (path, 0755);
  directory = g_dir_open (path, 0, NULL);
  for (const char *name; (name = g_dir_read_name (directory)) != NULL;) {
    g_autofree char *file = g_build_filename (path, name, NULL);

    if (g_remove (file) != 0)
      return -1;
  }
  return g_rmdir (path);
}

static inline char *
file_in (void **state, const char *name)
{
  return g_build_filename (*state, name, NULL);
}

/* "name, name" of what lies in the directory, sorted. */
static inline char *
list_directory (void **state)
{
  g_autoptr (GDir) directory = g_dir_open (*state, 0, NULL);
  g_autoptr (GPtrArray) names = g_ptr_array_new ();

  for (const char *name; (name = g_dir_read_name (directory)) != NULL;)
    g_ptr_array_add (names, (gpointer) g_intern_string (name));
  g_ptr_array_sort (names, (GCompareFunc) g_strcmp0);
  g_ptr_array_add (names, NULL);
  return g_strjoinv (", ", (GStrv) names->pdata);
}

/* The answer as CSV, with plain line ends. */
static inline char *
ask_store (FabStore *store, const char *sql, gint64 run_id)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (FabTable) table = fab_store_query (store, sql, run_id, &error);
  g_autofree char *csv = NULL;
  g_auto (GStrv) lines = NULL;

  assert_null (error);
  csv = fab_table_to_csv (table);
  lines = g_strsplit (csv, "\r\n", -1);
  return g_strjoinv ("\n", lines);
}

static inline char *
ask_file (const char *path, const char *sql, gint64 run_id)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (FabStore) store = fab_store_open (path, FAB_STORE_READ, &error);

  assert_null (error);
  return ask_store (store, sql, run_id);
}

#define assert_answer(path, sql, expected)                  \
  do {                                                      \
    g_autofree char *answer_ = ask_file ((path), (sql), 0); \
    assert_string_equal (answer_, (expected));              \
  } while (0)

#define assert_says(error, part)                                                    \
  do {                                                                              \
    assert_non_null (error);                                                        \
    if (strstr ((error)->message, (part)) == NULL)                                  \
      fail_msg ("the message is \"%s\", without \"%s\"", (error)->message, (part)); \
  } while (0)

/* Children end with _exit, so they may leave memory behind; and must not assert, because cmocka
 * would go on with the next test in them. */

typedef int (*ChildFn) (const char *path, int pipe); /* the exit code */

static inline pid_t
start (ChildFn run, const char *path, int pipe)
{
  pid_t child = fork ();

  if (child == 0)
    _exit (run (path, pipe));
  return child;
}

static inline int
end_of (pid_t child)
{
  int status = 0;

  assert_int_equal (waitpid (child, &status, 0), child);
  return WIFEXITED (status) ? WEXITSTATUS (status) : -WTERMSIG (status);
}

/* Runs in a child; the test ends here when the machine does not let us try. */
static inline void
in_child (ChildFn run, const char *path)
{
  int code = end_of (start (run, path, -1));

  if (code == SKIPPED)
    skip ();
  assert_int_equal (code, 0);
}

/* assert_says for a child. */
static inline gboolean
says (const GError *error, const char *part)
{
  if (error != NULL && strstr (error->message, part) != NULL)
    return TRUE;
  g_printerr ("the message is \"%s\", without \"%s\"\n", error != NULL ? error->message : "none", part);
  return FALSE;
}
