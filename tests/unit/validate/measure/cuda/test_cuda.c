/* SPDX-License-Identifier: Apache-2.0 */
/* test_cuda.c - the backend `cuda` on GPUs that are not there; what their times are, tests/fake_gpu/machine.h
 * says. */
#include "tests/support/test.h"

#include <gmodule.h>

#include "tests/fake_gpu/recorder.h"
#include "tests/support/params.h"
#include "validate/measure/cuda/gpus.h"

#define KIB 1024u
#define BIG (80 * KIB)

const FabMeasureBackend *fab_measure_backend (void);

static const FabBytes sizes_bytes[] = { 8, 4 * KIB, BIG };

/* In place of the image that nvcc makes: the fake driver does not look into it. */
const void *
fab_cuda_kernels (void)
{
  return g_getenv ("FAKE_NO_NVCC") ? NULL : "image";
}

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
  g_unsetenv ("FAKE_GPU_MEMORY");
  g_unsetenv ("FAKE_NO_NVCC");
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

static void
assert_time (const Recorder *recorder, const char *title, FabBytes size_bytes, double expected_ns)
{
  double ns = (double) recorder_time (recorder, title, size_bytes) / 1000;

  if (!is_near (ns, expected_ns, 1e-3))
    g_error ("%s: %.3f ns, not %.3f", title, ns, expected_ns);
}

/* Streams are held, so that the 2000 ns that it takes to queue a copy do not show. */
static void
a_host_link_is_timed_without_the_cost_of_queueing (G_GNUC_UNUSED void **state)
{
  g_autoptr (Recorder) r = NULL;

  machine_of ("1", "");
  r = measure ("");
  assert_time (r, "cuda bandwidth, host to gpu0, copy, host to gpu memory, window 64", 8, 1000.32);
  assert_time (r, "cuda bandwidth, host to gpu0, copy, host to gpu memory, window 64", BIG,
               1000 + BIG / 25.0);
  assert_time (r, "cuda bandwidth, gpu0 to host, copy, gpu to host memory, window 64", BIG,
               1000 + BIG / 20.0);
  assert_time (r, "cuda bidirectional, gpu0 to host, copy, gpu to host memory, window 64", BIG,
               1000 + BIG / 20.0);
  /* Both ways at once, and the next round when both have arrived: the slower way. */
  assert_time (r, "cuda exchange, host to gpu0, copy, host to gpu memory", BIG, 1000 + BIG / 20.0);
  assert_time (r, "cuda bandwidth, host to gpu0, kernel, host to gpu memory, window 64", BIG,
               3000 + BIG / 25.0);
  /* Two kernels would take turns; the first GPU that was measured showed half the rate for that reason. */
  assert_time (r, "cuda bidirectional, gpu0 to host, kernel, gpu to host memory, window 64", BIG,
               3000 + BIG / 20.0);
  assert_time (r, "cuda bidirectional, host to gpu0, kernel, host to gpu memory, window 64", BIG,
               3000 + BIG / 20.0);
  assert_true (recorder_time (r, "cuda latency, host to gpu0, copy, host to gpu memory", 8) > 0);
  assert_true (recorder_time (r, "cuda latency, gpu0 to host, copy, gpu to host memory", BIG) > 0);
}

/* Nothing can hold it: 5000 + 2000 to queue, and in each of the two batches of 100 copies 2000 for the last event. */
static void
pageable_memory_is_timed_as_a_program_sees_it (G_GNUC_UNUSED void **state)
{
  g_autoptr (Recorder) r = NULL, without = NULL;

  machine_of ("1", "");
  r = measure ("");
  without = measure ("pageable: false");
  assert_time (r, "cuda bandwidth, host to gpu0, copy, pageable to gpu memory, window 64", BIG,
               7040 + BIG / 5.0);
  assert_time (r, "cuda bandwidth, gpu0 to host, copy, gpu to pageable memory, window 64", 8, 7041.6);
  assert_true (recorder_has (r, "cuda latency, gpu0 to host, copy, gpu to pageable memory", 8));
  assert_false (
      recorder_has (without, "cuda bandwidth, gpu0 to host, copy, gpu to pageable memory, window 64", 8));
}

static void
one_gpu_measures_itself_and_says_what_it_cannot (G_GNUC_UNUSED void **state)
{
  g_autoptr (Recorder) r = NULL;

  machine_of ("1", "");
  r = measure ("");
  assert_time (r, "cuda bandwidth, gpu0 to gpu0, copy, gpu memory, window 64", BIG, 500 + BIG / 1000.0);
  assert_time (r, "cuda bandwidth, gpu0 to gpu0, kernel, gpu memory, window 64", BIG, 3000 + BIG / 1000.0);
  assert_time (r, "cuda latency, gpu0 to host, flag", 8, 700);
  assert_false (recorder_has (r, "cuda latency, gpu0 to host, flag", 4 * KIB));
  assert_true (recorder_noted (r, "one GPU takes part: links between GPUs"));
}

static void
every_pair_is_measured_with_p2p_and_without (G_GNUC_UNUSED void **state)
{
  g_autoptr (Recorder) r = NULL;

  machine_of ("4", "");
  r = measure ("");
  for (guint from = 0; from < 4; from++)
    for (guint to = 0; to < 4; to++) {
      g_autofree char *staged = g_strdup_printf (
          "cuda bandwidth, gpu%u to gpu%u, staged, gpu memory, window 64", from, to);
      g_autofree char *direct = g_strdup_printf (
          "cuda bandwidth, gpu%u to gpu%u, copy, gpu memory, window 64", from, to);

      if (from == to)
        continue;
      assert_time (r, staged, BIG, 10000 + BIG / 10.0);
      assert_time (r, direct, BIG, 800 + BIG / 100.0);
    }
  assert_time (r, "cuda bidirectional, gpu1 to gpu3, copy, gpu memory, window 64", 8, 800.08);
  assert_time (r, "cuda exchange, gpu1 to gpu3, staged, gpu memory", BIG, 10000 + BIG / 10.0);
  assert_time (r, "cuda bandwidth, gpu2 to gpu0, kernel, gpu memory, window 64", BIG, 3000 + BIG / 100.0);
  assert_time (r, "cuda bandwidth, gpu2 to gpu0, kernel-read, gpu memory, window 64", BIG,
               3000 + BIG / 100.0);
  assert_time (r, "cuda exchange, gpu2 to gpu0, kernel, gpu memory", 8, 3000.08);
  /* 511 words and the flag: 4096 bytes at 50 GB/s, whole ns. */
  assert_time (r, "cuda latency, gpu3 to gpu2, kernel, gpu memory", 4 * KIB, 700 + 81);
  assert_false (recorder_has (r, "cuda latency, gpu3 to gpu2, kernel, gpu memory", BIG));
  assert_int_equal (r->notes->len, 4); /* which processors are near each GPU is not known */
}

/* GPUs 2k and 2k + 1 share a link to the host: twice the time. Pairs share nothing. */
static void
several_at_once_show_what_they_share (G_GNUC_UNUSED void **state)
{
  g_autoptr (Recorder) r = NULL;

  machine_of ("4", "");
  r = measure ("");
  assert_time (r, "cuda bandwidth, host to gpus, copy, host to gpu memory, 4 pairs, window 64", BIG,
               2 * (1000 + BIG / 25.0));
  assert_time (r, "cuda bandwidth, gpus to host, copy, gpu to host memory, 4 pairs, window 64", BIG,
               2 * (1000 + BIG / 20.0));
  assert_time (r, "cuda bandwidth, gpu0 to gpu1, copy, gpu memory, 2 pairs, window 64", BIG,
               800 + BIG / 100.0);
}

static void
what_is_asked_for_is_measured_and_no_more (G_GNUC_UNUSED void **state)
{
  static const gboolean kinds[FAB_N_MEASURE_KINDS] = { [FAB_MEASURE_BANDWIDTH] = TRUE };
  g_autoptr (Recorder) r = recorder_new (sizes_bytes, 1);
  g_autofree char *problem = NULL;

  machine_of ("4", "");
  r->plan.kinds = kinds;
  r->plan.window = 10;
  problem = try_to_measure (r, "{gpus: 3, pairs: one, pageable: false, staged: false, kernels: false}");
  assert_null (problem);
  /* 3 GPUs to the host, back and inside; gpu0 to gpu1 and back; all host links at once, both ways. */
  assert_int_equal (g_hash_table_size (r->times_ps), 3 * 3 + 2 + 2);
  assert_time (r, "cuda bandwidth, gpu1 to gpu0, copy, gpu memory, window 10", 8, 800.08);
}

/* --- where less is possible --- */

static void
gpus_that_do_not_reach_each_other_are_measured_through_the_host (G_GNUC_UNUSED void **state)
{
  static const char *const failures[] = { "peer", "enable" };

  for (guint i = 0; i < G_N_ELEMENTS (failures); i++) {
    g_autoptr (Recorder) r = NULL;

    machine_of ("2", failures[i]);
    r = measure ("");
    assert_time (r, "cuda bandwidth, gpu0 to gpu1, staged, gpu memory, window 64", BIG, 10000 + BIG / 10.0);
    assert_false (recorder_has (r, "cuda bandwidth, gpu0 to gpu1, copy, gpu memory, window 64", BIG));
    assert_true (recorder_noted (r, "gpu0 and gpu1 cannot reach each other's memory (no P2P)"));
    assert_false (recorder_noted (r, "gpu1 and gpu0"));
  }
}

static void
without_kernels_copy_engines_are_measured (G_GNUC_UNUSED void **state)
{
  g_autoptr (Recorder) unbuilt = NULL, unfit = NULL;

  machine_of ("1", "");
  g_setenv ("FAKE_NO_NVCC", "1", TRUE);
  unbuilt = measure ("");
  assert_true (recorder_noted (unbuilt, "built without nvcc: copy engines only"));
  assert_time (unbuilt, "cuda bandwidth, host to gpu0, copy, host to gpu memory, window 64", 8, 1000.32);
  assert_false (
      recorder_has (unbuilt, "cuda bandwidth, host to gpu0, kernel, host to gpu memory, window 64", 8));
  assert_false (recorder_has (unbuilt, "cuda latency, gpu0 to host, flag", 8));

  machine_of ("1", "binary");
  unfit = measure ("");
  assert_true (recorder_noted (unfit, "do not run on every GPU here"));
  assert_false (recorder_has (unfit, "cuda latency, gpu0 to host, flag", 8));
}

/* Streams that cannot wait for a word are held by a kernel; without one either, queueing shows and it says so. */
static void
streams_are_held_by_a_kernel_where_words_cannot (G_GNUC_UNUSED void **state)
{
  g_autoptr (Recorder) held = NULL, free = NULL;

  machine_of ("1", "wait");
  held = measure ("");
  assert_time (held, "cuda bandwidth, host to gpu0, copy, host to gpu memory, window 64", 8, 1000.32);
  assert_false (recorder_noted (held, "streams cannot be held"));
  g_setenv ("FAKE_NO_NVCC", "1", TRUE);
  free = measure ("");
  assert_true (recorder_time (free, "cuda bandwidth, host to gpu0, copy, host to gpu memory, window 64", 8)
               >= 2000000);
  assert_true (recorder_noted (free, "streams cannot be held here"));
}

static void
the_machine_is_described (G_GNUC_UNUSED void **state)
{
  g_autoptr (Recorder) r = NULL, without = NULL;

  machine_of ("2", "");
  r = measure ("");
  assert_string_equal (g_hash_table_lookup (r->machine, "gpu1"),
                       "Fake GPU B, 16 SMs, sm_90, 80 GiB, PCI face:0b:00.0, "
                       "GPU-11111111-1111-1111-1111-111111111111");
  assert_string_equal (g_hash_table_lookup (r->machine, "driver"), "550.54.15, CUDA 12.4");
  assert_string_equal (g_hash_table_lookup (r->machine, "gpu0.pcie"), "gen 4 x8, at most gen 4 x16");
  assert_string_equal (g_hash_table_lookup (r->machine, "gpu0.nvlink"),
                       "3 of 4 links up, version 4: 2 to face:0b:00.0, 1 to face:55:00.0");
  assert_string_equal (g_hash_table_lookup (r->machine, "gpu0.ecc"), "on");
  assert_null (g_hash_table_lookup (r->machine, "gpu0.clocks")); /* this NVML does not say */

  machine_of ("1", "nvml");
  without = measure ("");
  assert_string_equal (g_hash_table_lookup (without->machine, "driver"), "CUDA 12.4");
  assert_true (recorder_noted (without, "NVML (libnvidia-ml.so.1) was not found"));
}

/* --- where nothing is --- */

static void
assert_problem (const char *yaml, FabErrorCode code, const char *part)
{
  g_autoptr (Recorder) r = recorder_new (sizes_bytes, G_N_ELEMENTS (sizes_bytes));
  g_autofree char *problem = try_to_measure (r, yaml);

  if (!problem || !strstr (problem, part) || problem[0] != '0' + (char) code)
    g_error ("'%s' is not what is said: %s", part, problem);
}

static void
assert_failure (const char *failure, const char *part)
{
  machine_of ("2", failure);
  assert_problem ("", FAB_ERROR_UNSUPPORTED, part);
}

static void
what_fails_is_said_and_leaves_nothing_behind (G_GNUC_UNUSED void **state)
{
  assert_failure ("init", "there is no NVIDIA GPU in this machine");
  assert_failure ("mismatch", "of different versions: reboot");
  assert_failure ("pin", "the host has no room for pinned buffers of 80KiB");
  assert_failure ("copy-in", "host to gpu0: copy: a fake error (CUDA_ERROR_FAKE, 719)");
  assert_failure ("answer", "gpu0 and the host: a flag was not answered in 10 s");
  machine_of ("0", "");
  assert_problem ("", FAB_ERROR_UNSUPPORTED, "the CUDA driver shows no GPU");
  machine_of ("2", "");
  assert_problem ("gpus: 3", FAB_ERROR_INPUT, "gpus is 3, but this machine shows 2");
  g_setenv ("FAKE_GPU_MEMORY", "150000", TRUE);
  assert_problem ("", FAB_ERROR_UNSUPPORTED, "gpu0 has no room for two buffers of 80KiB");
}

static void
a_window_that_no_stream_holds_is_refused (G_GNUC_UNUSED void **state)
{
  g_autoptr (Recorder) r = recorder_new (sizes_bytes, 1);
  g_autofree char *problem = NULL;

  machine_of ("1", "");
  r->plan.window = 257;
  problem = try_to_measure (r, "");
  assert_non_null (strstr (problem, "256 would do"));
}

static void
a_driver_that_is_missing_or_too_old_is_named (G_GNUC_UNUSED void **state)
{
  g_autofree char *driver = g_strdup (g_getenv ("FABRICAST_CUDA_DRIVER"));
  g_autoptr (GError) missing = NULL, old = NULL;

  g_setenv ("FABRICAST_CUDA_DRIVER", "/nowhere/libcuda.so.1", TRUE);
  assert_false (fab_measure_backend ()->probe (&missing));
  g_setenv ("FABRICAST_CUDA_DRIVER", g_getenv ("FAKE_OLD_GPU"), TRUE);
  assert_false (fab_measure_backend ()->probe (&old));
  g_setenv ("FABRICAST_CUDA_DRIVER", driver, TRUE);
  assert_true (g_error_matches (missing, FAB_ERROR, FAB_ERROR_UNSUPPORTED));
  assert_non_null (strstr (missing->message, "the CUDA driver (/nowhere/libcuda.so.1) was not found"));
  assert_true (g_error_matches (old, FAB_ERROR, FAB_ERROR_UNSUPPORTED));
  assert_non_null (strstr (old->message, "has no function cuDriverGetVersion: it is too old"));
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (a_host_link_is_timed_without_the_cost_of_queueing),
    cmocka_unit_test (pageable_memory_is_timed_as_a_program_sees_it),
    cmocka_unit_test (one_gpu_measures_itself_and_says_what_it_cannot),
    cmocka_unit_test (every_pair_is_measured_with_p2p_and_without),
    cmocka_unit_test (several_at_once_show_what_they_share),
    cmocka_unit_test (what_is_asked_for_is_measured_and_no_more),
    cmocka_unit_test (gpus_that_do_not_reach_each_other_are_measured_through_the_host),
    cmocka_unit_test (without_kernels_copy_engines_are_measured),
    cmocka_unit_test (streams_are_held_by_a_kernel_where_words_cannot),
    cmocka_unit_test (the_machine_is_described),
    cmocka_unit_test (what_fails_is_said_and_leaves_nothing_behind),
    cmocka_unit_test (a_window_that_no_stream_holds_is_refused),
    cmocka_unit_test (a_driver_that_is_missing_or_too_old_is_named),
  };

  return cmocka_run_group_tests (tests, NULL, NULL);
}
