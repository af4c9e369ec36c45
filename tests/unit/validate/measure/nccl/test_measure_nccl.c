/* SPDX-License-Identifier: Apache-2.0 */
/* test_measure_nccl.c - the backend `nccl` on GPUs that are not there; what their times are, tests/fake_gpu/machine.h
 * says: 20000 ns and size at 100 GB/s, whatever the collective. */
#include "tests/support/test.h"

#include <gmodule.h>

#include "tests/fake_gpu/machine.h"
#include "tests/fake_gpu/recorder.h"
#include "tests/support/params.h"

#define KIB 1024u

const FabMeasureBackend *fab_measure_backend (void);

static const FabBytes sizes_bytes[] = { 8, 64 * KIB };

/* Keeps the library, and so what it counts, between tests. */
static int
n_live (void)
{
  GModule *module = g_module_open (g_getenv ("FABRICAST_CUDA_DRIVER"), G_MODULE_BIND_LOCAL);
  int (*live) (void) = NULL;

  assert_non_null (module);
  assert_true (g_module_symbol (module, "fake_gpu_live", (gpointer *) &live));
  return live ();
}

static void
machine_of (const char *n_gpus, const char *failure)
{
  g_setenv ("FAKE_GPUS", n_gpus, TRUE);
  g_setenv ("FAKE_GPU_FAIL", failure, TRUE);
  g_unsetenv ("NCCL_ALGO");
  g_unsetenv ("NCCL_PROTO");
}

/* The sentence; NULL when it worked. Whatever was taken must have been given back. */
static char *
try_to_measure (Recorder *recorder, const char *yaml)
{
  const FabMeasureBackend *backend = fab_measure_backend ();
  g_autoptr (Params) params = params_new (&backend->info, yaml);
  g_autoptr (GError) error = NULL;
  gboolean is_ok;

  assert_int_equal (n_live (), 0);
  is_ok = backend->measure (&recorder->base, params->params, &error);
  assert_int_equal (is_ok, error == NULL);
  if (n_live () != 0)
    g_error ("%d things were left behind", n_live ());
  return error ? g_strdup_printf ("%d: %s", error->code, error->message) : NULL;
}

static Recorder *
measure (const char *yaml)
{
  Recorder *recorder = recorder_new (sizes_bytes, G_N_ELEMENTS (sizes_bytes));
  g_autofree char *problem = try_to_measure (recorder, yaml);

  if (problem)
    g_error ("%s", problem);
  return recorder;
}

/* In a sample of 100, rank 0 waits once for the others to be told to begin: 2000 ns each. */
static void
assert_time (const Recorder *recorder, const char *title, FabBytes size_bytes, guint n_ranks,
             double moved_bytes)
{
  double ns = (double) recorder_time (recorder, title, size_bytes) / 1000;
  double expected_ns = 20000 + moved_bytes / 100 + n_ranks * FAKE_QUEUE_NS / RECORDER_MESSAGES;

  if (!is_near (ns, expected_ns, 1e-3))
    g_error ("%s: %.3f ns, not %.3f", title, ns, expected_ns);
}

static void
collectives_are_timed_over_all_gpus (G_GNUC_UNUSED void **state)
{
  static const char *const ops[] = { "all_reduce", "all_gather", "reduce_scatter", "broadcast",
                                     "reduce",     "all_to_all", "send_recv" };
  g_autoptr (Recorder) r = NULL;

  machine_of ("4", "");
  r = measure ("ops: 'all_reduce, all_gather, reduce_scatter, broadcast, reduce, all_to_all, send_recv'");
  assert_int_equal (g_hash_table_size (r->times_ps), 7 * 2);
  for (guint i = 0; i < G_N_ELEMENTS (ops); i++) {
    g_autofree char *title = g_strdup_printf ("nccl %s, 4 ranks, gpu memory", ops[i]);

    assert_time (r, title, 64 * KIB, 4, 64 * KIB);
  }
  assert_time (r, "nccl all_reduce, 4 ranks, gpu memory", 8, 4, 8);
  /* 8 bytes over four ranks are less than a number each: one each. */
  assert_time (r, "nccl all_gather, 4 ranks, gpu memory", 8, 4, 16);
}

/* 64 KiB do not divide by 3 numbers of 4 bytes: 5462 for each rank. */
static void
what_does_not_divide_is_rounded_up (G_GNUC_UNUSED void **state)
{
  g_autoptr (Recorder) r = NULL;

  machine_of ("4", "");
  r = measure ("{gpus: 3, ops: 'all_to_all,reduce_scatter'}");
  assert_time (r, "nccl all_to_all, 3 ranks, gpu memory", 64 * KIB, 3, 3 * 5462 * 4);
  assert_time (r, "nccl reduce_scatter, 3 ranks, gpu memory", 64 * KIB, 3, 3 * 5462 * 4);
}

static void
the_library_and_what_it_was_told_are_described (G_GNUC_UNUSED void **state)
{
  g_autoptr (Recorder) r = NULL;

  machine_of ("2", "");
  g_setenv ("NCCL_ALGO", "Ring", TRUE);
  g_setenv ("NCCL_PROTO", "Simple", TRUE);
  r = measure ("ops: all_reduce");
  assert_time (r, "nccl all_reduce, 2 ranks, ring, simple, gpu memory", 8, 2, 8);
  assert_string_equal (g_hash_table_lookup (r->machine, "nccl"), "2.21.5");
  assert_string_equal (g_hash_table_lookup (r->machine, "nccl.environment"),
                       "NCCL_ALGO=Ring NCCL_PROTO=Simple");
  assert_non_null (g_hash_table_lookup (r->machine, "gpu1"));
}

static void
assert_problem (const char *yaml, FabErrorCode code, const char *part)
{
  g_autoptr (Recorder) r = recorder_new (sizes_bytes, G_N_ELEMENTS (sizes_bytes));
  g_autofree char *problem = try_to_measure (r, yaml);

  if (!problem || !strstr (problem, part) || problem[0] != '0' + (char) code)
    g_error ("'%s' is not what is said: %s", part, problem);
}

static void
what_fails_is_said_and_leaves_nothing_behind (G_GNUC_UNUSED void **state)
{
  machine_of ("1", "");
  assert_problem ("", FAB_ERROR_UNSUPPORTED, "one GPU takes part: collectives need two or more");
  machine_of ("2", "nccl-join");
  assert_problem ("", FAB_ERROR_UNSUPPORTED,
                  "join the GPUs: unhandled system error (NCCL, 2): no plug; NCCL_DEBUG");
  machine_of ("2", "nccl");
  assert_problem ("", FAB_ERROR_UNSUPPORTED, "all_reduce: a fake error (NCCL, 1)");
  machine_of ("2", "nccl-async");
  assert_problem ("", FAB_ERROR_UNSUPPORTED, "all_reduce: a fake error (NCCL, 6)");
  machine_of ("2", "init");
  assert_problem ("", FAB_ERROR_UNSUPPORTED, "there is no NVIDIA GPU");
  machine_of ("2", "");
  assert_problem ("ops: all_reduce,gather", FAB_ERROR_INPUT, "ops: 'gather' is none of all_reduce");
  assert_problem ("gpus: 3", FAB_ERROR_INPUT, "gpus is 3, but this machine shows 2");
}

static void
other_kinds_are_refused (G_GNUC_UNUSED void **state)
{
  static const gboolean kinds[FAB_N_MEASURE_KINDS] = { [FAB_MEASURE_LATENCY] = TRUE };
  g_autoptr (Recorder) r = recorder_new (sizes_bytes, 1);
  g_autofree char *problem = NULL;

  machine_of ("2", "");
  r->plan.kinds = kinds;
  problem = try_to_measure (r, "");
  assert_non_null (strstr (problem, "nccl measures kind collective only"));
}

static void
a_library_that_is_missing_or_too_old_is_named (G_GNUC_UNUSED void **state)
{
  g_autofree char *library = g_strdup (g_getenv ("FABRICAST_NCCL"));
  g_autoptr (GError) missing = NULL, old = NULL;

  machine_of ("2", "");
  g_setenv ("FABRICAST_NCCL", "/nowhere/libnccl.so.2", TRUE);
  assert_false (fab_measure_backend ()->probe (&missing));
  g_setenv ("FABRICAST_NCCL", g_getenv ("FAKE_OLD_GPU"), TRUE);
  assert_false (fab_measure_backend ()->probe (&old));
  g_setenv ("FABRICAST_NCCL", library, TRUE);
  assert_true (fab_measure_backend ()->probe (NULL));
  assert_true (g_error_matches (missing, FAB_ERROR, FAB_ERROR_UNSUPPORTED));
  assert_non_null (strstr (missing->message, "NCCL (/nowhere/libnccl.so.2) was not found"));
  assert_true (g_error_matches (old, FAB_ERROR, FAB_ERROR_UNSUPPORTED));
  assert_non_null (strstr (old->message, "has no function ncclGetVersion: it is too old"));
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (collectives_are_timed_over_all_gpus),
    cmocka_unit_test (what_does_not_divide_is_rounded_up),
    cmocka_unit_test (the_library_and_what_it_was_told_are_described),
    cmocka_unit_test (what_fails_is_said_and_leaves_nothing_behind),
    cmocka_unit_test (other_kinds_are_refused),
    cmocka_unit_test (a_library_that_is_missing_or_too_old_is_named),
  };

  return cmocka_run_group_tests (tests, NULL, NULL);
}
