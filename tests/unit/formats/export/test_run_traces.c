/* SPDX-License-Identifier: Apache-2.0 */
/* test_run_traces.c - a small run as a trace for Chrome and as files of PyTorch's profiler, byte by byte, and which
 * ranks and iterations are written.
 *
 * Two iterations of 10 us. Class 0 has ranks 0 to 2 and computes for 4 us, then waits for a microsecond; class 1 has
 * rank 3, whose computing ends when the collective begins. Each iteration has a collective of 3 us; the second one has
 * one more, which goes on after its end. What is written is compared with tests/fixtures/export.
 */
#include "tests/support/test.h"

#include <glib/gstdio.h>

#include "formats/export/trace.h"
#include "sim/base/error.h"

#define US G_GINT64_CONSTANT (1000000) /* ps */

static char *folder, *db;

static char *
path_of (const char *name)
{
  return g_build_filename (folder, name, NULL);
}

static FabIterationRecord
times_of (guint iteration, guint rank_class)
{
  return (FabIterationRecord){ .iteration = iteration,
                               .rank_class = rank_class,
                               .start_ps = iteration * 10 * US,
                               .duration_ps = 10 * US,
                               .compute_ps = 4 * US,
                               .comm_ps = 3 * US,
                               .overlapped_ps = US,
                               .exposed_ps = 2 * US,
                               .idle_ps = 4 * US + rank_class };
}

static FabCollectiveRecord
collective_of (guint iteration, guint index, const char *op, gint64 start_us)
{
  FabTimePs start_ps = (iteration * 10 + start_us) * US;

  return (FabCollectiveRecord){ .iteration = iteration,
                                .index = index,
                                .name = index == 0 ? "bucket0" : "bucket1",
                                .op = op,
                                .dimension = "data",
                                .algorithm = index == 0 ? "ring" : NULL,
                                .protocol = index == 0 ? "simple" : NULL,
                                .n_channels = 2,
                                .n_ranks = 4,
                                .bytes = 8000 * (index + 1),
                                .ready_ps = start_ps - US,
                                .start_ps = start_ps,
                                .end_ps = start_ps + 3 * US,
                                .exposed_ps = 2 * US,
                                .algbw_bytes_per_s = 2.5e9,
                                .busbw_bytes_per_s = 3.75e9,
                                .binding_link = index == 0 ? 1 : FAB_RECORD_NO_LINK };
}

static FabSpanRecord
span_of (guint iteration, guint rank_class, FabSpanKind kind, const char *stream, const char *name,
         gint64 from_us, gint64 to_us)
{
  return (FabSpanRecord){ .iteration = iteration,
                          .rank_class = rank_class,
                          .kind = kind,
                          .stream = stream,
                          .name = name,
                          .start_ps = (iteration * 10 + from_us) * US,
                          .end_ps = (iteration * 10 + to_us) * US,
                          .collective = kind == FAB_SPAN_COMM || kind == FAB_SPAN_WAIT ? 0 : -1 };
}

static void
add_iteration (FabStore *store, guint iteration)
{
  const FabStepRecord step = { times_of (iteration, 0), 0.4, 0.5, 1e6 };
  const FabIterationRecord times[] = { times_of (iteration, 0), times_of (iteration, 1) };
  const FabCollectiveRecord collectives[] = { collective_of (iteration, 0,
                                                             iteration == 0 ? "all_reduce" : "all_gather", 5),
                                              collective_of (iteration, 1, "reduce_scatter", 8) };
  FabSpanRecord spans[] = {
    span_of (iteration, 0, FAB_SPAN_LOAD, "loader", "load batch", 0, 2),
    span_of (iteration, 0, FAB_SPAN_COMPUTE, "compute", "forward layer 0", 0, 4),
    span_of (iteration, 0, FAB_SPAN_WAIT, "comm", "bucket0", 4, 5),
    span_of (iteration, 1, FAB_SPAN_COMPUTE, "compute", "forward layer 0", 1, 5),
    span_of (iteration, 0, FAB_SPAN_COMM, "comm", "bucket0", 5, 8),
    span_of (iteration, 1, FAB_SPAN_COMM, "comm", "bucket0", 5, 8),
    span_of (iteration, 0, FAB_SPAN_COMM, "comm", "bucket1", 8, 11),
  };
  const FabLinkLoadRecord loads[] = { { iteration, 0, 1000, 0.25 }, { iteration, 1, 8000, 0.5 } };
  const FabLinkSampleRecord samples[] = {
    { iteration, 1, (iteration * 10 + 5) * US, (iteration * 10 + 7) * US, 2e9 },
    { iteration, 1, (iteration * 10 + 6) * US, (iteration * 10 + 8) * US, 1e9 }
  };
  guint n_spans = iteration == 0 ? 6 : 7;

  spans[6].collective = 1;
  assert_true (fab_store_add_steps (store, &step, 1, NULL));
  assert_true (fab_store_add_iterations (store, times, 2, NULL));
  assert_true (fab_store_add_collectives (store, collectives, iteration + 1, NULL));
  assert_true (fab_store_add_spans (store, spans, n_spans, NULL));
  assert_true (fab_store_add_link_loads (store, loads, 2, NULL));
  assert_true (fab_store_add_link_samples (store, samples, 2, NULL));
}

/* Run 1 has two iterations; run 2 has none. */
static int
set_up (G_GNUC_UNUSED void **state)
{
  const FabRunRecord run = {
    "small \"one\"", "name: small\n", "0.1", "fluid", 7, 4, 2, 312e12, 80000000000, 0
  };
  const FabRankClassRecord classes[] = { { 0, 0, 3, "most" }, { 1, 3, 1, "" } };
  const FabLinkRecord links[] = { { 0, "node0/gpu0", "leaf0", "ib", 1, 50000000000, 600000 },
                                  { 1, "leaf0", "node1/gpu0", "ib", 2, 50000000000, 600000 } };

  folder = g_dir_make_tmp ("traces-XXXXXX", NULL);
  db = path_of ("a.db");
  g_autoptr (FabStore) store = fab_store_open (db, FAB_STORE_WRITE, NULL);
  for (guint i = 0; i < 2; i++) {
    gint64 run_id;

    assert_true (fab_store_begin_run (store, &run, &run_id, NULL));
    assert_int_equal (run_id, i + 1);
    assert_true (fab_store_add_classes (store, classes, 2, NULL));
    assert_true (fab_store_add_links (store, links, 2, NULL));
    for (guint iteration = 0; i == 0 && iteration < 2; iteration++)
      add_iteration (store, iteration);
    assert_true (fab_store_commit_run (store, NULL));
  }
  return fab_store_close (&store, NULL) ? 0 : -1;
}

static int
tear_down (G_GNUC_UNUSED void **state)
{
  g_unlink (db);
  g_free (db);
  int status = g_rmdir (folder);
  g_free (folder);
  return status;
}

/* The file is as the fixture, and is removed. */
static void
assert_fixture (const char *path, const char *fixture)
{
  g_autofree char *at = g_build_filename (g_getenv ("FAB_SOURCE_DIR"), "tests", "fixtures", "export", fixture,
                                          NULL);
  g_autofree char *text = NULL, *wanted = NULL;

  assert_true (g_file_get_contents (path, &text, NULL, NULL));
  assert_true (g_file_get_contents (at, &wanted, NULL, NULL));
  assert_string_equal (text, wanted);
  g_unlink (path);
}

static void
open_source (FabTraceSource *source, gint64 first, gint64 last)
{
  g_autoptr (GError) error = NULL;

  if (!fab_trace_source_open (source, db, 1, first, last, &error))
    fail_msg ("%s", error->message);
}

/* All iterations, or one of them: then the spans of the other one that reach into it are there too. */
static void
a_run_is_written_for_chrome (G_GNUC_UNUSED void **state)
{
  static const struct {
    gint64 first, last;
    const char *fixture;
  } cases[] = { { -1, -1, "chrome.json" }, { 1, 1, "chrome-second.json" } };
  g_autofree char *path = path_of ("chrome.json");

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_auto (FabTraceSource) source = { 0 };

    open_source (&source, cases[i].first, cases[i].last);
    assert_true (fab_trace_write_chrome (&source, path, NULL));
    assert_fixture (path, cases[i].fixture);
  }
}

static const char *
upper (const char *algorithm)
{
  return algorithm != NULL && strcmp (algorithm, "ring") == 0 ? "RING" : "TREE";
}

/* The first rank of each class, as nobody names ranks; then rank 1 of class 0 with its waiting, of the first iteration
 * alone: what goes on after its end is cut there. */
static void
a_run_is_written_for_the_profiler (G_GNUC_UNUSED void **state)
{
  static const struct {
    FabKinetoOptions options;
    gint64 first;
    guint ranks[2], n_ranks;
    const char *fixture;
  } cases[] = {
    { { NULL, FALSE, upper }, -1, { 0, 3 }, 2, "kineto" },
    { { "1", TRUE, upper }, 0, { 1 }, 1, "kineto-waiting" },
    { { "2", FALSE, upper }, 1, { 2 }, 1, "kineto-second" },
  };
  g_autofree char *directory = path_of ("kineto");

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_auto (FabTraceSource) source = { 0 };

    open_source (&source, cases[i].first, cases[i].first);
    assert_true (fab_trace_write_kineto (&source, directory, &cases[i].options, NULL));
    for (guint k = 0; k < cases[i].n_ranks; k++) {
      g_autofree char *name = g_strdup_printf ("rank-%u.json", cases[i].ranks[k]);
      g_autofree char *path = g_build_filename (directory, name, NULL);
      g_autofree char *fixture = g_strdup_printf ("%s-%u.json", cases[i].fixture, cases[i].ranks[k]);

      assert_fixture (path, fixture);
    }
    assert_int_equal (g_rmdir (directory), 0); /* nothing else was written */
  }
}

/* A results file with one run of four ranks, all of one class, with one iteration and one collective. */
static void
write_small_run (const char *file, guint n_nodes, const FabCollectiveRecord *collective,
                 const FabSpanRecord *spans, guint n_spans)
{
  g_autoptr (FabStore) store = fab_store_open (file, FAB_STORE_WRITE, NULL);
  const FabRunRecord run = { "one", "name: one\n", "0.1", "fluid", 7, 4, n_nodes, 312e12, 80000000000, 0 };
  const FabRankClassRecord class = { 0, 0, 4, "all" };
  const FabLinkRecord links[] = { { 0, "a", "b", "ib", 1, 50000000000, 600000 },
                                  { 1, "b", "a", "ib", 1, 50000000000, 600000 } };
  const FabStepRecord step = { times_of (0, 0), 0.4, 0.5, 1e6 };
  const FabIterationRecord times = times_of (0, 0);

  assert_true (fab_store_begin_run (store, &run, NULL, NULL) && fab_store_add_classes (store, &class, 1, NULL)
               && fab_store_add_links (store, links, 2, NULL) && fab_store_add_steps (store, &step, 1, NULL)
               && fab_store_add_iterations (store, &times, 1, NULL)
               && fab_store_add_collectives (store, collective, 1, NULL)
               && fab_store_add_spans (store, spans, n_spans, NULL) && fab_store_commit_run (store, NULL));
  assert_true (fab_store_close (&store, NULL));
}

/* What is written of the last run of the file for the profiler, as `rank`. (transfer full) */
static char *
written_for_the_profiler (const char *file, guint rank)
{
  g_autofree char *directory = path_of ("one"), *name = g_strdup_printf ("rank-%u.json", rank);
  g_autofree char *path = g_build_filename (directory, name, NULL), *list = g_strdup_printf ("%u", rank);
  const FabKinetoOptions options = { list, FALSE, upper };
  g_auto (FabTraceSource) source = { 0 };
  char *text = NULL;

  assert_true (fab_trace_source_open (&source, file, 0, -1, -1, NULL));
  assert_true (fab_trace_write_kineto (&source, directory, &options, NULL));
  assert_true (g_file_get_contents (path, &text, NULL, NULL));
  g_unlink (path);
  g_rmdir (directory);
  return text;
}

/* Each operation has the name of PyTorch's collective, the kernel of NCCL, and elements in and out: of 8000 bytes among
 * four ranks one rank has 2000. */
static void
operations_have_the_names_of_the_profiler (G_GNUC_UNUSED void **state)
{
  static const struct {
    const char *op, *kernel, *collective;
    guint n_ranks, in, out;
  } cases[] = {
    { "all_reduce", "AllReduce_Sum_u8_RING_LL", "allreduce", 4, 8000, 8000 },
    { "all_gather", "AllGather_RING_LL", "_allgather_base", 4, 2000, 8000 },
    { "all_gather", "AllGather_RING_LL", "_allgather_base", 1, 8000, 8000 },
    { "all_gather", "AllGather_RING_LL", "_allgather_base", 0, 8000, 8000 },
    { "reduce_scatter", "ReduceScatter_Sum_u8_RING_LL", "_reduce_scatter_base", 4, 8000, 2000 },
    { "broadcast", "Broadcast_RING_LL", "broadcast", 4, 8000, 8000 },
    { "reduce", "Reduce_Sum_u8_RING_LL", "reduce", 4, 8000, 8000 },
    { "all_to_all", "SendRecv", "all_to_all", 4, 8000, 8000 },
    { "gather", "SendRecv", "gather", 4, 8000, 8000 },
    { "scatter", "SendRecv", "scatter", 4, 8000, 8000 },
    { "send_recv", "SendRecv", "send", 4, 8000, 8000 },
    { "strange", "SendRecv", "send", 4, 8000, 8000 },
  };
  g_autofree char *file = path_of ("ops.db");

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    FabCollectiveRecord collective = collective_of (0, 0, cases[i].op, 5);
    const FabSpanRecord span = span_of (0, 0, FAB_SPAN_COMM, "comm", "bucket0", 5, 8);

    collective.n_ranks = cases[i].n_ranks;
    write_small_run (file, 1, &collective, &span, 1);
    g_autofree char *text = written_for_the_profiler (file, 0);
    g_autofree char *kernel = g_strdup_printf (
        "\"name\":\"ncclDevKernel_%s(ncclDevKernelArgsStorage<4096ul>)\"", cases[i].kernel);
    g_autofree char *arguments = g_strdup_printf (
        "\"Collective name\":\"%s\",\"In msg nelems\":%u,\"Out msg nelems\":%u,\"Group size\":%u,"
        "\"dtype\":\"Byte\"",
        cases[i].collective, cases[i].in, cases[i].out, cases[i].n_ranks);
    if (strstr (text, kernel) == NULL || strstr (text, arguments) == NULL)
      fail_msg ("%s: %s and %s are not in\n%s", cases[i].op, kernel, arguments, text);
    g_unlink (file);
  }
}

/* Ranks of a node have a device each; where nobody says how many nodes there are, all ranks are on one. */
static void
devices_are_those_of_a_node (G_GNUC_UNUSED void **state)
{
  static const struct {
    guint n_nodes, rank, device;
  } cases[] = { { 0, 3, 3 }, { 1, 3, 3 }, { 2, 3, 1 }, { 2, 2, 0 }, { 4, 3, 0 }, { 8, 3, 0 } };
  const FabCollectiveRecord collective = collective_of (0, 0, "all_reduce", 5);
  const FabSpanRecord span = span_of (0, 0, FAB_SPAN_COMM, "comm", "bucket0", 5, 8);
  g_autofree char *file = path_of ("one.db");

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    write_small_run (file, cases[i].n_nodes, &collective, &span, 1);
    g_autofree char *text = written_for_the_profiler (file, cases[i].rank);
    g_autofree char *wanted = g_strdup_printf ("\"deviceProperties\": [{\"id\": %u,", cases[i].device);

    assert_non_null (strstr (text, wanted));
    g_unlink (file);
  }
}

/* Streams are numbered as they appear, and that which computes is 7. */
static void
streams_have_numbers (G_GNUC_UNUSED void **state)
{
  const FabCollectiveRecord collective = collective_of (0, 0, "all_reduce", 5);
  const FabSpanRecord spans[] = { span_of (0, 0, FAB_SPAN_COMM, "comm", "bucket0", 1, 2),
                                  span_of (0, 0, FAB_SPAN_COMPUTE, "compute", "a b c", 2, 3),
                                  span_of (0, 0, FAB_SPAN_COMM, "comm2", "bucket0", 3, 4),
                                  span_of (0, 0, FAB_SPAN_COMM, "comm", "bucket0", 5, 6) };
  static const char *const wanted[] = { "\"name\":\"stream 16 comm\"", "\"name\":\"stream 7 compute\"",
                                        "\"name\":\"stream 24 comm2\"", "\"name\":\"fabricast::a_b_c\"" };
  g_autofree char *file = path_of ("one.db");

  write_small_run (file, 1, &collective, spans, G_N_ELEMENTS (spans));
  g_autofree char *text = written_for_the_profiler (file, 0);
  for (guint i = 0; i < G_N_ELEMENTS (wanted); i++) {
    const char *at = strstr (text, wanted[i]);

    assert_non_null (at);
    assert_null (strstr (at + 1, wanted[i]));
  }
  g_unlink (file);
}

/* An arrow goes from the compute that ends when a collective is reached, if that lasts two nanoseconds at least, and
 * leaves it one nanosecond before its end. */
static void
arrows_leave_what_computed (G_GNUC_UNUSED void **state)
{
  static const struct {
    FabTimePs length_ps, gap_ps;
    gboolean has_arrow;
  } cases[] = { { US, 0, TRUE }, { 2000, 0, TRUE }, { 1999, 0, FALSE }, { US, 1, FALSE } };
  const FabCollectiveRecord collective = collective_of (0, 0, "all_reduce", 5);
  g_autofree char *file = path_of ("one.db"), *path = path_of ("one.json");

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_auto (FabTraceSource) source = { 0 };
    g_autofree char *text = NULL;
    FabSpanRecord spans[] = { span_of (0, 0, FAB_SPAN_COMPUTE, "compute", "a", 4, 5),
                              span_of (0, 0, FAB_SPAN_COMM, "comm", "bucket0", 5, 8) };

    spans[0].end_ps -= cases[i].gap_ps;
    spans[0].start_ps = spans[0].end_ps - cases[i].length_ps;
    write_small_run (file, 1, &collective, spans, 2);
    assert_true (fab_trace_source_open (&source, file, 0, -1, -1, NULL));
    assert_true (fab_trace_write_chrome (&source, path, NULL));
    assert_true (g_file_get_contents (path, &text, NULL, NULL));
    assert_int_equal (strstr (text, "\"ph\":\"s\"") != NULL, cases[i].has_arrow);
    assert_int_equal (strstr (text, "\"ph\":\"f\"") != NULL, cases[i].has_arrow);
    if (cases[i].has_arrow)
      assert_non_null (strstr (text, "\"ts\":4.999,\"id\":1"));
    g_unlink (path);
    g_unlink (file);
  }
}

/* Links have counters of their own, the first link's first. */
static void
each_link_has_a_counter (G_GNUC_UNUSED void **state)
{
  const FabRunRecord run = { "one", "name: one\n", "0.1", "fluid", 7, 4, 1, 312e12, 80000000000, 0 };
  const FabRankClassRecord class = { 0, 0, 4, "all" };
  const FabLinkRecord links[] = { { 0, "a", "b", "ib", 1, 50000000000, 600000 },
                                  { 1, "b", "a", "ib", 1, 50000000000, 600000 } };
  const FabStepRecord step = { times_of (0, 0), 0.4, 0.5, 1e6 };
  const FabIterationRecord times = times_of (0, 0);
  const FabLinkLoadRecord loads[] = { { 0, 0, 1000, 0.25 }, { 0, 1, 8000, 0.5 } };
  const FabLinkSampleRecord samples[] = { { 0, 0, US, 3 * US, 2e9 }, { 0, 1, 2 * US, 4 * US, 5e9 } };
  static const char *const wanted[] = {
    "load of a -> b (ib)\",\"pid\":2,\"tid\":0,\"ts\":1.000,\"args\":{\"GB/s\":2}",
    "load of a -> b (ib)\",\"pid\":2,\"tid\":0,\"ts\":3.000,\"args\":{\"GB/s\":0}",
    "load of b -> a (ib)\",\"pid\":2,\"tid\":0,\"ts\":2.000,\"args\":{\"GB/s\":5}",
    "load of b -> a (ib)\",\"pid\":2,\"tid\":0,\"ts\":4.000,\"args\":{\"GB/s\":0}"
  };
  g_autofree char *file = path_of ("one.db"), *path = path_of ("one.json"), *text = NULL;
  g_autoptr (FabStore) store = fab_store_open (file, FAB_STORE_WRITE, NULL);
  g_auto (FabTraceSource) source = { 0 };
  const char *at;

  assert_true (fab_store_begin_run (store, &run, NULL, NULL) && fab_store_add_classes (store, &class, 1, NULL)
               && fab_store_add_links (store, links, 2, NULL) && fab_store_add_steps (store, &step, 1, NULL)
               && fab_store_add_iterations (store, &times, 1, NULL)
               && fab_store_add_link_loads (store, loads, 2, NULL)
               && fab_store_add_link_samples (store, samples, 2, NULL) && fab_store_commit_run (store, NULL));
  assert_true (fab_store_close (&store, NULL));
  assert_true (fab_trace_source_open (&source, file, 0, -1, -1, NULL));
  assert_true (fab_trace_write_chrome (&source, path, NULL));
  assert_true (g_file_get_contents (path, &text, NULL, NULL));
  at = text;
  for (guint i = 0; i < G_N_ELEMENTS (wanted); i++) {
    at = strstr (at, wanted[i]);
    assert_non_null (at);
  }
  assert_null (strstr (at + 1, "load of"));
  g_unlink (path);
  g_unlink (file);
}

/* With its waiting a collective begins when its rank arrives; the next one on the stream, for which nobody waited,
 * begins where it begins. */
static void
waiting_belongs_to_one_collective (G_GNUC_UNUSED void **state)
{
  const FabCollectiveRecord collective = collective_of (0, 0, "all_reduce", 5);
  const FabSpanRecord spans[] = { span_of (0, 0, FAB_SPAN_WAIT, "comm", "bucket0", 1, 2),
                                  span_of (0, 0, FAB_SPAN_COMM, "comm", "bucket0", 2, 3),
                                  span_of (0, 0, FAB_SPAN_COMM, "comm", "bucket0", 5, 6) };
  const FabKinetoOptions options = { "0", TRUE, upper };
  g_autofree char *file = path_of ("one.db"), *directory = path_of ("one"),
                  *path = g_build_filename (directory, "rank-0.json", NULL), *text = NULL;
  g_auto (FabTraceSource) source = { 0 };
  guint n_kernels = 0;

  write_small_run (file, 1, &collective, spans, G_N_ELEMENTS (spans));
  assert_true (fab_trace_source_open (&source, file, 0, -1, -1, NULL));
  assert_true (fab_trace_write_kineto (&source, directory, &options, NULL));
  assert_true (g_file_get_contents (path, &text, NULL, NULL));
  for (const char *at = text; (at = strstr (at, "\"name\":\"ncclDevKernel")) != NULL; n_kernels++, at++) {
    const char *times = strstr (at, "\"ts\":");

    assert_true (g_str_has_prefix (times, n_kernels == 0 ? "\"ts\":1.000,\"dur\":2.000,"
                                                         : "\"ts\":5.000,\"dur\":1.000,"));
  }
  assert_int_equal (n_kernels, 2);
  g_unlink (path);
  g_rmdir (directory);
  g_unlink (file);
}

/* A rank that is not there, a folder that cannot be made, and a file that cannot be written. */
static void
what_cannot_be_written_is_told (G_GNUC_UNUSED void **state)
{
  FabKinetoOptions options = { "9", FALSE, upper };
  g_autofree char *directory = path_of ("one"), *below = g_build_filename (db, "x", NULL),
                  *path = g_build_filename (directory, "rank-0.json", NULL),
                  *missing = g_build_filename (directory, "missing", "x.json", NULL);
  g_autoptr (GError) no_rank = NULL, no_folder = NULL, no_file = NULL;
  g_auto (FabTraceSource) source = { 0 };

  open_source (&source, -1, -1);
  assert_false (fab_trace_write_kineto (&source, directory, &options, &no_rank));
  assert_string_equal (no_rank->message, "--ranks: no rank 9; they are 0 to 3");
  options.ranks = "0";
  assert_false (fab_trace_write_kineto (&source, below, &options, &no_folder));
  assert_true (g_str_has_prefix (no_folder->message, below));
  assert_int_equal (g_mkdir_with_parents (path, 0755), 0);
  assert_false (fab_trace_write_kineto (&source, directory, &options, &no_file));
  assert_true (g_str_has_prefix (no_file->message, path));
  assert_false (fab_trace_write_chrome (&source, missing, NULL));
  g_rmdir (path);
  g_rmdir (directory);
}

/* --- what is asked for --- */

static void
ranges_are_those_of_the_run (G_GNUC_UNUSED void **state)
{
  static const struct {
    gint64 run_id, first, last;
    const char *problem; /* NULL: there is none */
    gint64 start_us, end_us;
  } cases[] = {
    { 1, -1, -1, NULL, 0, 20 },
    { 1, 0, 0, NULL, 0, 10 },
    { 1, 1, 1, NULL, 10, 20 },
    { 1, 0, 1, NULL, 0, 20 },
    { 1, 0, 2, "no iteration 2 in run 1 of ", 0, 0 },
    { 1, 2, 3, "no iteration 2 in run 1 of ", 0, 0 },
    { 1, 1, 2, "no iteration 2 in run 1 of ", 0, 0 },
    { 2, -1, -1, "run 2 in ", 0, 0 },
    { 0, -1, -1, "run 2 in ", 0, 0 }, /* the last one */
    { 3, -1, -1, "run 3", 0, 0 },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_auto (FabTraceSource) source = { 0 };
    g_autoptr (GError) error = NULL;
    gboolean is_open = fab_trace_source_open (&source, db, cases[i].run_id, cases[i].first, cases[i].last,
                                              &error);

    assert_int_equal (is_open, cases[i].problem == NULL);
    if (!is_open) {
      assert_non_null (strstr (error->message, cases[i].problem));
      continue;
    }
    assert_int_equal (source.start_ps, cases[i].start_us * US);
    assert_int_equal (source.end_ps, cases[i].end_us * US);
    assert_int_equal (source.first, MAX (cases[i].first, 0));
    assert_int_equal (source.last, cases[i].last < 0 ? 1 : cases[i].last);
    assert_string_equal (source.name, "small \"one\"");
    assert_string_equal (source.version, "0.1");
    assert_int_equal (source.n_ranks, 4);
    assert_int_equal (source.n_nodes, 2);
  }
}

/* A list of ranks, each with its class; "FALSE" and why. */
static void
ranks_are_those_of_a_list (G_GNUC_UNUSED void **state)
{
  static const struct {
    const char *list;
    FabTraceRank ranks[3];
    guint n_ranks;
    const char *problem;
  } cases[] = {
    { NULL, { { 0, 0 }, { 3, 1 } }, 2, NULL },
    { "2", { { 2, 0 } }, 1, NULL },
    { "3,1,0", { { 3, 1 }, { 1, 0 }, { 0, 0 } }, 3, NULL },
    { "4", { { 0 } }, 0, "--ranks: no rank 4; they are 0 to 3" },
    { "0,x", { { 0 } }, 0, "--ranks '0,x': expected numbers with commas, as 0,8" },
    { "", { { 0 } }, 0, "--ranks: expected numbers with commas, as 0,8" },
  };
  g_auto (FabTraceSource) source = { 0 };

  open_source (&source, -1, -1);
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_autoptr (GError) error = NULL;
    g_autoptr (GArray) ranks = fab_trace_ranks (&source, cases[i].list, &error);

    if (cases[i].problem != NULL) {
      assert_null (ranks);
      assert_string_equal (error->message, cases[i].problem);
      continue;
    }
    assert_int_equal (ranks->len, cases[i].n_ranks);
    for (guint k = 0; k < ranks->len; k++) {
      const FabTraceRank *rank = &g_array_index (ranks, FabTraceRank, k);

      assert_int_equal (rank->rank, cases[i].ranks[k].rank);
      assert_int_equal (rank->rank_class, cases[i].ranks[k].rank_class);
    }
  }
}

/* Where classes have gaps between them, nobody knows of which class a rank is that is not the first of one. */
static void
ranks_of_classes_with_gaps (G_GNUC_UNUSED void **state)
{
  FabTraceClass classes[] = { { 0, 0, 2, NULL }, { 1, 1, 2, NULL } };
  FabTraceSource source = { .db = "a.db",
                            .n_ranks = 4,
                            .classes = g_array_new (FALSE, FALSE, sizeof (FabTraceClass)) };
  g_autoptr (GError) error = NULL;

  g_array_append_vals (source.classes, classes, 2);
  g_autoptr (GArray) first = fab_trace_ranks (&source, "1", NULL);
  assert_int_equal (g_array_index (first, FabTraceRank, 0).rank_class, 1);
  assert_null (fab_trace_ranks (&source, "2", &error));
  assert_string_equal (error->message,
                       "--ranks: a.db does not tell of which class rank 2 is; leave --ranks out for the "
                       "first rank of every class");
  /* Tiled, but fewer than there are. */
  g_array_index (source.classes, FabTraceClass, 1).first_rank = 2;
  g_array_index (source.classes, FabTraceClass, 1).n_ranks = 1;
  assert_null (fab_trace_ranks (&source, "1", NULL));
  g_array_unref (source.classes);
}

/* A reader of a folder takes every trace in it for a rank. */
static void
a_folder_holds_ranks_alone (G_GNUC_UNUSED void **state)
{
  static const struct {
    const char *name;
    gboolean is_alone;
  } cases[] = { { "rank-1.json", TRUE }, { "rank-3.json", FALSE }, { "a.gz", FALSE }, { "notes.txt", TRUE } };
  const FabTraceRank rank = { 1, 0 };
  g_autoptr (GArray) ranks = g_array_new (FALSE, FALSE, sizeof rank);
  g_autofree char *directory = path_of ("held"), *missing = path_of ("missing");

  g_array_append_val (ranks, rank);
  assert_int_equal (g_mkdir (directory, 0755), 0);
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_autofree char *file = g_build_filename (directory, cases[i].name, NULL);
    g_autoptr (GError) error = NULL;

    assert_true (g_file_set_contents (file, "", 0, NULL));
    assert_int_equal (fab_trace_ranks_alone (ranks, directory, &error), cases[i].is_alone);
    if (!cases[i].is_alone)
      assert_non_null (strstr (error->message, cases[i].name));
    g_unlink (file);
  }
  assert_false (fab_trace_ranks_alone (ranks, missing, NULL));
  g_rmdir (directory);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (a_run_is_written_for_chrome),
    cmocka_unit_test (a_run_is_written_for_the_profiler),
    cmocka_unit_test (operations_have_the_names_of_the_profiler),
    cmocka_unit_test (devices_are_those_of_a_node),
    cmocka_unit_test (streams_have_numbers),
    cmocka_unit_test (arrows_leave_what_computed),
    cmocka_unit_test (each_link_has_a_counter),
    cmocka_unit_test (waiting_belongs_to_one_collective),
    cmocka_unit_test (what_cannot_be_written_is_told),
    cmocka_unit_test (ranges_are_those_of_the_run),
    cmocka_unit_test (ranks_are_those_of_a_list),
    cmocka_unit_test (ranks_of_classes_with_gaps),
    cmocka_unit_test (a_folder_holds_ranks_alone),
  };

  return cmocka_run_group_tests (tests, set_up, tear_down);
}
