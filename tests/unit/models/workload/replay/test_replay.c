/* SPDX-License-Identifier: Apache-2.0 */
/* test_replay.c - a recorded step as a job: what waits for what, who meets whom, what is refused.
 *
 * Traces are written by hand, in microseconds. Collectives have no size unless the test is about it, so that they take
 * as long as they took.
 */
#include "tests/support/test.h"

#include <glib/gstdio.h>
#include <string.h>

#include "models/models.h"
#include "models/workload/replay/replay.h"
#include "tests/support/play.h"

#define US G_GINT64_CONSTANT (1000000)

static FabCatalog *catalog;

#define KERNEL(stream, name, start, length)                                                     \
  "{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"" name "\",\"ts\":" #start ".0,\"dur\":" #length \
  ".0,\"args\":{"                                                                               \
  "\"stream\":" #stream "}}"
#define COPY(stream, start, length)                                                               \
  "{\"ph\":\"X\",\"cat\":\"gpu_memcpy\",\"name\":\"Memcpy\",\"ts\":" #start ".0,\"dur\":" #length \
  ".0,\"args\":{\"stream\":" #stream "}}"
#define GROUP(start, length, n, ranks)                                                                      \
  "{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"ncclDevKernel_AllReduce\",\"ts\":" #start                    \
  ".0,\"dur\":" #length ".0,\"args\":{\"stream\":20,\"Group size\":" #n ",\"Process Group Ranks\":\"" ranks \
  "\"}}"
#define STEP(number, start, length)                                                                \
  "{\"ph\":\"X\",\"cat\":\"user_annotation\",\"name\":\"ProfilerStep#" #number "\",\"ts\":" #start \
  ".0,\"dur\":" #length ".0}"

static char *
text_of (guint rank, guint n_world, const char *events)
{
  return g_strdup_printf ("{\"distributedInfo\":{\"rank\":%u,\"world_size\":%u},\"traceEvents\":[%s]}", rank,
                          n_world, events);
}

/* Ranks that are NULL have no trace. */
static FabTrace *
trace_of (guint n_world, const char *const *events)
{
  FabTrace *trace = fab_trace_new ();
  g_autoptr (GError) error = NULL;

  for (guint rank = 0; rank < n_world; rank++) {
    g_autofree char *text = events[rank] != NULL ? text_of (rank, n_world, events[rank]) : NULL;
    g_autoptr (FabFileBytes) bytes = NULL;

    if (text == NULL)
      continue;
    bytes = fab_file_bytes_new ("t", text, strlen (text));
    assert_true (fab_file_bytes_next (bytes, &error));
    assert_true (fab_trace_read_bytes (trace, bytes, &error));
  }
  assert_true (fab_trace_finish (trace, &error));
  return trace;
}

/* Plays two iterations on `n_ranks` GPUs of a node, and returns the time of the last one in us. */
static double
step_us (guint n_ranks, guint n_world, const char *const *events, const char *job)
{
  g_autofree char *folder = g_dir_make_tmp ("replay-XXXXXX", NULL), *yaml = NULL;
  g_autoptr (Play) play = NULL;
  FabTimePs ps = 0;

  for (guint rank = 0; rank < n_world; rank++) {
    g_autofree char *name = g_strdup_printf ("%s/%u.json", folder, rank), *text = NULL;

    if (events[rank] == NULL)
      continue;
    text = text_of (rank, n_world, events[rank]);
    assert_true (g_file_set_contents (name, text, -1, NULL));
  }
  yaml = g_strdup_printf (
      "name: t\niterations: 2\ncontention: false\ncluster: {node: dgx-a100, gpus_per_node: %u}\n"
      "job: {kind: trace, file: %s%s}\n",
      n_ranks, folder, job);
  play = play_new (catalog, yaml, NULL);
  while (fab_simulation_step (play->simulation))
    ps = fab_simulation_probe (play->simulation)->step.times.duration_ps;
  for (guint rank = 0; rank < n_world; rank++) {
    g_autofree char *name = g_strdup_printf ("%s/%u.json", folder, rank);

    g_remove (name);
  }
  g_rmdir (folder);
  return (double) ps / (double) US;
}

/* 10 us, 5 us for the host, 10 us. Kernels scale, the host does not, unless it is told to. */
static void
kernels_and_hosts_scale_each_by_itself (G_GNUC_UNUSED void **state)
{
  const char *events[] = { KERNEL (7, "a", 100, 10) "," KERNEL (7, "b", 115, 10) };

  assert_near (step_us (1, 1, events, ""), 25, 1e-9);
  assert_near (step_us (1, 1, events, ", compute_scale: 2"), 45, 1e-9);
  assert_near (step_us (1, 1, events, ", host_scale: 2"), 30, 1e-9);
}

/* The second kernel begins when a copy on another stream ends, and its own stream had nothing to do: it waits. */
static void
an_idle_stream_waits_for_what_ended (G_GNUC_UNUSED void **state)
{
  const char *events[] = { KERNEL (7, "a", 0, 10) "," COPY (9, 10, 20) "," KERNEL (7, "b", 30, 10) };

  assert_near (step_us (1, 1, events, ""), 40, 1e-9);
  assert_near (step_us (1, 1, events, ", compute_scale: 2"), 60, 1e-9);
}

/* The copy ended while the stream was busy, so that b waits for a alone: 2 x 10 us. */
static void
a_busy_stream_waits_for_itself (G_GNUC_UNUSED void **state)
{
  const char *events[] = { KERNEL (7, "a", 0, 10) "," COPY (9, 2, 6) "," KERNEL (7, "b", 10, 10) };

  assert_near (step_us (1, 1, events, ""), 20, 1e-9);
  assert_near (step_us (1, 1, events, ", compute_scale: 0.1"), 8, 1e-9);
}

/* Rank 0 arrives after 10 us, rank 1 after 30: ten more for both. */
static void
a_collective_waits_for_its_last_rank (G_GNUC_UNUSED void **state)
{
  const char *events[] = { KERNEL (7, "a", 0, 10) "," GROUP (10, 30, 2, "[0, 1]"),
                           KERNEL (7, "a", 0, 30) "," GROUP (30, 10, 2, "[0, 1]") };

  assert_near (step_us (2, 2, events, ""), 40, 1e-6);
  assert_near (step_us (2, 2, events, ", compute_scale: 0.5"), 25, 1e-6);
}

/* Times count from the first event of the file, which may be the last one. */
static void
events_come_in_any_order (G_GNUC_UNUSED void **state)
{
  const char *events[] = { KERNEL (7, "b", 115, 10) "," KERNEL (7, "a", 100, 10) };

  assert_near (step_us (1, 1, events, ""), 25, 1e-9);
}

/* The last step has no next one; the first ends 5 us before the second begins. */
static void
steps_end_where_the_next_one_begins (G_GNUC_UNUSED void **state)
{
  const char *events[] = { STEP (3, 0, 35) "," KERNEL (7, "a", 0,
                                                       30) "," STEP (4, 35, 40) "," KERNEL (7, "a", 35, 20) };

  assert_near (step_us (1, 1, events, ""), 35, 1e-9);
  assert_near (step_us (1, 1, events, ", step: 1"), 20, 1e-9);
}

/* Steps count among those that all ranks have: here 2 and 5, and of rank 0 they take 10 and 30 us. */
static void
steps_count_where_all_ranks_have_them (G_GNUC_UNUSED void **state)
{
  const char *events[] = {
    STEP (1, 0, 5) "," KERNEL (7, "a", 0, 5) "," STEP (2, 10, 10) "," KERNEL (7, "a", 10, 10) "," STEP (
        4, 30, 20) "," KERNEL (7, "a", 30, 20) "," STEP (5, 60, 30) "," KERNEL (7, "a", 60, 30),
    STEP (2, 10, 5) "," KERNEL (7, "a", 10, 5) "," STEP (3, 20, 40) "," KERNEL (7, "a", 20, 40) "," STEP (
        5, 60, 5) "," KERNEL (7, "a", 60, 5)
  };

  assert_near (step_us (2, 2, events, ""), 10, 1e-9);
  assert_near (step_us (2, 2, events, ", step: 1"), 30, 1e-9);
  g_autoptr (FabTrace) trace = trace_of (2, events);
  g_autoptr (GError) error = NULL;
  assert_null (replay_new (trace, 2, 2, FALSE, &error));
  assert_string_equal (error->message, "job: there is no step 2; the traced ranks have 2 in common, from 0");
}

/* --- ranks and groups --- */

static Replay *
replay_of (const FabTrace *trace, guint n_ranks)
{
  g_autoptr (GError) error = NULL;
  Replay *replay = replay_new (trace, 0, n_ranks, FALSE, &error);

  assert_non_null (replay);
  return replay;
}

static const ReplayMeeting *
meeting_at (const Replay *replay, guint i)
{
  return &g_array_index (replay->meetings, ReplayMeeting, i);
}

static void
assert_ranks (const ReplayMeeting *meeting, const char *expected)
{
  g_autoptr (GString) found = g_string_new (NULL);

  for (guint i = 0; i < meeting->ranks->len; i++)
    g_string_append_printf (found, "%s%u",
                            i == 0                      ? ""
                            : i % meeting->n_ranks == 0 ? " | "
                                                        : " ",
                            g_array_index (meeting->ranks, guint, i));
  assert_string_equal (found->str, expected);
}

static void
equal_ranks_are_one_class (G_GNUC_UNUSED void **state)
{
  const char *a = KERNEL (7, "a", 0, 10) "," GROUP (10, 5, 4, "[0, 1, 2, 3]"),
             *b = KERNEL (7, "a", 0, 11) "," GROUP (11, 4, 4, "[0, 1, 2, 3]");
  const char *events[] = { a, b, a, a };
  g_autoptr (FabTrace) trace = trace_of (4, events);
  g_autoptr (Replay) replay = replay_of (trace, 4);

  assert_int_equal (replay->classes->len, 2);
  assert_int_equal (g_array_index (replay->classes, ReplayClass, 0).n_ranks, 3);
  assert_int_equal (g_array_index (replay->classes, ReplayClass, 0).n_inferred, 0);
  assert_int_equal (replay->meetings->len, 1);
  assert_int_equal (meeting_at (replay, 0)->measured_ps, 4 * US);
}

/* Two ranks are one class where all their operations have the same times, names, kinds and streams, and the same
 * communication. */
static void
ranks_that_differ_in_anything_are_two_classes (G_GNUC_UNUSED void **state)
{
#define KERNEL_OF(args)                                                               \
  "{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"ncclDevKernel_AllReduce\",\"ts\":0.0," \
  "\"dur\":10.0,\"args\":{\"stream\":7," args "}}"
#define COPY_OF(name)                                     \
  "{\"ph\":\"X\",\"cat\":\"gpu_memcpy\",\"name\":\"" name \
  "\",\"ts\":0.0,\"dur\":10.0,\"args\":{\"stream\":7}}"
#define ALL "\"Group size\":2,\"Process Group Ranks\":\"[0, 1]\""
  static const struct {
    const char *one, *other;
    guint n_classes;
  } rows[] = {
    { KERNEL (7, "a", 0, 10), KERNEL (7, "a", 0, 10), 1 },
    { KERNEL (7, "a", 0, 10), KERNEL (8, "a", 0, 10), 1 }, /* numbers of streams are names alone */
    { KERNEL (7, "a", 0, 10), KERNEL (7, "a", 0, 11), 2 },
    { KERNEL (7, "a", 0, 10), KERNEL (7, "b", 0, 10), 2 },
    { KERNEL (7, "a", 0, 10), COPY_OF ("a"), 2 },
    { KERNEL (7, "a", 0, 10) "," KERNEL (7, "a", 10, 10), KERNEL (7, "a", 0, 10) "," KERNEL (8, "a", 10, 10),
      2 },
    { KERNEL (7, "a", 0, 10) "," KERNEL (7, "a", 10, 10), KERNEL (7, "a", 0, 10) "," KERNEL (7, "a", 15, 5),
      2 },
    { KERNEL (7, "a", 0, 10) "," KERNEL (7, "a", 10, 10), KERNEL (7, "a", 0, 10) "," KERNEL (7, "b", 10, 10),
      2 },
    { KERNEL (7, "a", 0, 10), KERNEL (7, "a", 0, 10) "," KERNEL (7, "a", 10, 10), 2 },
    { KERNEL (7, "a", 0, 10), KERNEL (7, "a", 5, 10), 2 }, /* of a lone step, ranks may begin later */
    { KERNEL_OF (ALL), KERNEL_OF (ALL), 1 },
    { KERNEL_OF (ALL ",\"In msg nelems\":8,\"dtype\":\"Float\""),
      KERNEL_OF (ALL ",\"In msg nelems\":8,\"dtype\":\"Float\""), 1 },
    { KERNEL_OF (ALL ",\"In msg nelems\":8,\"dtype\":\"Float\""),
      KERNEL_OF (ALL ",\"In msg nelems\":9,\"dtype\":\"Float\""), 2 },
    { KERNEL_OF (ALL ",\"Collective name\":\"allreduce\""),
      KERNEL_OF (ALL ",\"Collective name\":\"_allgather_base\""), 2 },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    const char *events[] = { rows[i].one, rows[i].other };
    g_autoptr (FabTrace) trace = trace_of (2, events);
    g_autoptr (Replay) replay = replay_of (trace, 2);

    if (replay->classes->len != rows[i].n_classes)
      fail_msg ("row %u: %u classes", i, replay->classes->len);
  }
}

/* The steps of a trace may be numbered from 0. */
static void
the_step_zero_has_a_next_one (G_GNUC_UNUSED void **state)
{
  const char *events[] = { STEP (0, 0, 35) "," KERNEL (7, "a", 0,
                                                       30) "," STEP (1, 35, 40) "," KERNEL (7, "a", 35, 20) };

  assert_near (step_us (1, 1, events, ""), 35, 1e-9);
  assert_near (step_us (1, 1, events, ", step: 1"), 20, 1e-9);
}

/* Rank 0 alone is known, of two groups of two that are two apart. All its like do the same. */
static void
missing_ranks_do_as_those_before_them (G_GNUC_UNUSED void **state)
{
  const char *events[] = { GROUP (0, 5, 2, "[0, 2]") "," GROUP (10, 5, 2, "[0, 1]"), NULL, NULL, NULL };
  g_autoptr (FabTrace) trace = trace_of (4, events);
  g_autoptr (Replay) same = replay_of (trace, 4), twice = replay_of (trace, 8);

  assert_int_equal (same->classes->len, 1);
  assert_int_equal (g_array_index (same->classes, ReplayClass, 0).n_inferred, 3);
  assert_ranks (meeting_at (same, 0), "0 2 | 1 3");
  assert_ranks (meeting_at (same, 1), "0 1 | 2 3");
  /* [0, 2] reaches over all ranks of the trace: 2 x 2. On twice as many it has twice as many. */
  assert_ranks (meeting_at (twice, 0), "0 2 4 6 | 1 3 5 7");
  assert_ranks (meeting_at (twice, 1), "0 1 | 2 3 | 4 5 | 6 7");
}

/* A group of one rank meets nobody: what it does is a task like any other. */
static void
a_lone_rank_meets_nobody (G_GNUC_UNUSED void **state)
{
  const char *const events[] = { GROUP (0, 10, 1, "[0]") "," GROUP (20, 10, 2, "[0, 1]"),
                                 GROUP (0, 10, 1, "[1]") "," GROUP (20, 10, 2, "[0, 1]") };
  g_autoptr (FabTrace) trace = trace_of (2, events);
  g_autoptr (Replay) replay = replay_of (trace, 2);

  assert_int_equal (replay->meetings->len, 1);
  assert_ranks (meeting_at (replay, 0), "0 1");
}

/* Ranks before the first one that was traced do as it does. */
static void
missing_ranks_before_all_others_do_as_the_first (G_GNUC_UNUSED void **state)
{
  const char *a = KERNEL (7, "a", 0, 10) "," GROUP (10, 5, 4, "[0, 1, 2, 3]"),
             *b = KERNEL (7, "a", 0, 11) "," GROUP (11, 4, 4, "[0, 1, 2, 3]");

  for (guint first = 1; first < 4; first++) {
    const char *events[] = { NULL, NULL, NULL, first == 3 ? a : b };

    events[first] = a;
    g_autoptr (FabTrace) trace = trace_of (4, events);
    g_autoptr (Replay) replay = replay_of (trace, 4);

    assert_int_equal (replay->classes->len, first == 3 ? 1 : 2);
    assert_int_equal (g_array_index (replay->classes, ReplayClass, 0).first_rank, 0);
    assert_int_equal (g_array_index (replay->classes, ReplayClass, 0).n_ranks, first == 3 ? 4 : 3);
    assert_int_equal (g_array_index (replay->classes, ReplayClass, 0).n_inferred, first == 3 ? 3 : 2);
  }
}

/* Stages 0 and 1, 1 and 2, 2 and 3: groups of the same shape that have ranks in common are different ones. */
static void
neighbours_in_a_pipeline_are_told_apart (G_GNUC_UNUSED void **state)
{
  const char *events[] = { GROUP (0, 5, 2, "[0, 1]"),
                           GROUP (0, 5, 2, "[0, 1]") "," GROUP (10, 6, 2, "[1, 2]"),
                           GROUP (10, 6, 2, "[1, 2]") "," GROUP (20, 7, 2, "[2, 3]"),
                           GROUP (20, 7, 2, "[2, 3]") };
  g_autoptr (FabTrace) trace = trace_of (4, events);
  g_autoptr (Replay) replay = replay_of (trace, 4);

  assert_int_equal (replay->meetings->len, 3);
  assert_ranks (meeting_at (replay, 0), "0 1");
  assert_ranks (meeting_at (replay, 1), "1 2");
  assert_ranks (meeting_at (replay, 2), "2 3");
  assert_int_equal (meeting_at (replay, 2)->measured_ps, 7 * US);
}

/* Ranks at unequal distances are a group of the machine of the trace alone. */
static void
odd_groups_stay_where_they_are (G_GNUC_UNUSED void **state)
{
  const char *odd = GROUP (0, 5, 3, "[0, 1, 3]"), *other = KERNEL (7, "a", 0, 5);
  const char *events[] = { odd, odd, other, odd };
  g_autoptr (FabTrace) trace = trace_of (4, events);
  g_autoptr (Replay) same = replay_of (trace, 4);
  g_autoptr (GError) error = NULL;

  assert_ranks (meeting_at (same, 0), "0 1 3");
  assert_null (replay_new (trace, 0, 8, FALSE, &error));
  assert_non_null (strstr (error->message, "unequal distances"));
}

/* A kernel without a size has that of the host's call within which it was launched: 8 x 3 + 2 floats. A kernel of sends
 * is what the call says. */
static void
sizes_come_from_the_calls (G_GNUC_UNUSED void **state)
{
  const char *events[] = {
    "{\"ph\":\"X\",\"cat\":\"user_annotation\",\"name\":\"nccl:all_to_all\",\"ts\":10.0,\"dur\":10.0,"
    "\"args\":{\"Input Dims\":[[8,3],[],[2]],\"Input type\":[\"float\",\"\"]}},"
    "{\"ph\":\"X\",\"cat\":\"cuda_runtime\",\"name\":\"cudaLaunchKernel\",\"ts\":15.0,\"dur\":1.0,"
    "\"args\":{\"correlation\":3}},"
    "{\"ph\":\"X\",\"cat\":\"cuda_runtime\",\"name\":\"cudaLaunchKernel\",\"ts\":25.0,\"dur\":1.0,"
    "\"args\":{\"correlation\":4}},"
    "{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"ncclKernel_SendRecv\",\"ts\":30.0,\"dur\":5.0,"
    "\"args\":{\"stream\":20,\"correlation\":3}},"
    "{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"ncclKernel_SendRecv\",\"ts\":40.0,\"dur\":5.0,"
    "\"args\":{\"stream\":20,\"correlation\":4}}",
    NULL
  };
  g_autoptr (FabTrace) trace = trace_of (2, events);
  g_autoptr (Replay) replay = replay_of (trace, 2);

  assert_int_equal (meeting_at (replay, 0)->op, FAB_OP_ALL_TO_ALL);
  assert_int_equal (meeting_at (replay, 0)->bytes, 4 * (8 * 3 + 2));
  assert_int_equal (meeting_at (replay, 1)->op, FAB_OP_SEND_RECV);
  assert_int_equal (meeting_at (replay, 1)->bytes, 0);
  assert_int_equal (replay->n_without_size, 1);
}

/* --- refusals --- */

static void
assert_refused (const FabTrace *trace, guint step, guint n_ranks, const char *why)
{
  g_autoptr (GError) error = NULL;

  assert_null (replay_new (trace, step, n_ranks, FALSE, &error));
  assert_string_equal (error->message, why);
}

static void
what_cannot_be_played_is_refused (G_GNUC_UNUSED void **state)
{
  const char *events[] = { STEP (3, 0, 35) "," GROUP (0, 5, 2, "[0, 1]"), NULL, NULL, NULL };
  const char *graph = "{\"nodes\":[{\"id\":1,\"name\":\"a\"}]}";
  g_autoptr (FabTrace) trace = trace_of (4, events), untimed = fab_trace_new ();
  g_autoptr (FabFileBytes) bytes = fab_file_bytes_new ("g.json", graph, strlen (graph));

  assert_refused (trace, 1, 4, "job: there is no step 1; the traced ranks have 1 in common, from 0");
  assert_refused (
      trace, 0, 3,
      "job: the trace has groups of 2 ranks that are 1 apart, and the 3 ranks of this machine cannot be "
      "divided into such groups");
  assert_true (fab_file_bytes_next (bytes, NULL) && fab_trace_read_bytes (untimed, bytes, NULL));
  assert_true (fab_trace_finish (untimed, NULL));
  assert_refused (untimed, 0, 1, "job: g.json: the step has no operation with a time");
}

/* 256 streams are played, and 257 are too many. */
static void
a_step_has_few_streams (G_GNUC_UNUSED void **state)
{
  for (guint n = 256; n <= 257; n++) {
    g_autoptr (GString) text = g_string_new (NULL);

    for (guint stream = 1; stream <= n; stream++)
      g_string_append_printf (text,
                              "%s{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"a\",\"ts\":0.0,\"dur\":5.0,"
                              "\"args\":{\"stream\":%u}}",
                              stream > 1 ? "," : "", stream);
    const char *events[] = { text->str };
    g_autoptr (FabTrace) trace = trace_of (1, events);
    if (n == 256) {
      g_autoptr (Replay) replay = replay_of (trace, 1);
      assert_int_equal (g_array_index (replay->classes, ReplayClass, 0).streams->len, 256);
    } else {
      assert_refused (trace, 0, 1,
                      "job: t: the step has more than 256 streams or 4000000 operations, which is too many");
    }
  }
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (kernels_and_hosts_scale_each_by_itself),
    cmocka_unit_test (an_idle_stream_waits_for_what_ended),
    cmocka_unit_test (a_busy_stream_waits_for_itself),
    cmocka_unit_test (a_collective_waits_for_its_last_rank),
    cmocka_unit_test (events_come_in_any_order),
    cmocka_unit_test (steps_end_where_the_next_one_begins),
    cmocka_unit_test (steps_count_where_all_ranks_have_them),
    cmocka_unit_test (equal_ranks_are_one_class),
    cmocka_unit_test (missing_ranks_do_as_those_before_them),
    cmocka_unit_test (a_lone_rank_meets_nobody),
    cmocka_unit_test (missing_ranks_before_all_others_do_as_the_first),
    cmocka_unit_test (neighbours_in_a_pipeline_are_told_apart),
    cmocka_unit_test (odd_groups_stay_where_they_are),
    cmocka_unit_test (sizes_come_from_the_calls),
    cmocka_unit_test (ranks_that_differ_in_anything_are_two_classes),
    cmocka_unit_test (the_step_zero_has_a_next_one),
    cmocka_unit_test (what_cannot_be_played_is_refused),
    cmocka_unit_test (a_step_has_few_streams),
  };

  return play_run_tests ("replay", tests, &catalog);
}
