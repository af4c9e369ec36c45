/* SPDX-License-Identifier: Apache-2.0 */
/* test_cuda_copies.c - what lanes copy from where to where, and near which processors that is done. */
#include "tests/support/test.h"

#include <glib/gstdio.h>

#include "validate/measure/cuda/lanes.h"
#include "validate/measure/cuda/near.h"

#define KIB 1024u

/* In place of the image that nvcc makes: the fake driver does not look into it. */
const void *
fab_cuda_kernels (void)
{
  return "image";
}

/* 100 bytes from where 0x5a is to where 0 was, and not one more. In the fake, memory of GPUs is the host's. */
static void
assert_copies (FabGpus *gpus, FabCopyHow how, const FabGpu *from, const FabGpu *to, guint8 *host)
{
  g_autoptr (FabCopyStreams) lanes = fab_copy_streams_new (gpus, 1, 1, 0);
  const FabCuda *cuda = gpus->cuda;
  guint8 found[101] = { 0 };
  FabTimePs elapsed_ps = 0;

  memset (host, from ? 0 : 0x5a, sizeof found);
  if (from)
    assert_int_equal (cuda->fill (from->out, 0x5a, sizeof found), CU_OK);
  if (to)
    assert_int_equal (cuda->fill (to->in, 0, sizeof found), CU_OK);
  assert_true (fab_copy_streams_set (lanes, 0, how, from, to, host, NULL));
  assert_true (fab_copy_streams_stream (lanes, 100, 3, &elapsed_ps, NULL));
  memcpy (found, to ? (const guint8 *) (gsize) to->in : host, sizeof found);
  for (guint i = 0; i < 100; i++)
    assert_int_equal (found[i], 0x5a);
  assert_int_equal (found[100], 0);
}

static void
every_way_of_copying_moves_the_bytes (G_GNUC_UNUSED void **state)
{
  g_autoptr (FabGpus) gpus = NULL;
  const FabGpu *a, *b;
  void *host = NULL;

  g_setenv ("FAKE_GPUS", "2", TRUE);
  gpus = fab_gpus_open (0, 4 * KIB, NULL);
  assert_non_null (gpus);
  assert_true (fab_copy_kernels_load (gpus, NULL));
  a = &gpus->gpus[0], b = &gpus->gpus[1];
  assert_int_equal (gpus->cuda->host_alloc (&host, 4 * KIB, CU_HOST_PORTABLE | CU_HOST_MAPPED), CU_OK);
  assert_copies (gpus, FAB_COPY_PEER, a, b, host);
  for (guint i = 0; i < 2; i++) {
    assert_true (fab_gpu_use (gpus, &gpus->gpus[i], NULL));
    assert_int_equal (gpus->cuda->enable_peer (gpus->gpus[1 - i].context, 0), CU_OK);
  }
  assert_copies (gpus, FAB_COPY_PEER, b, a, host);
  assert_copies (gpus, FAB_COPY_STORE, a, b, host);
  assert_copies (gpus, FAB_COPY_LOAD, a, b, host);
  assert_copies (gpus, FAB_COPY_ON_GPU, a, a, host);
  assert_copies (gpus, FAB_COPY_STORE, a, a, host);
  assert_copies (gpus, FAB_COPY_TO_GPU, NULL, b, host);
  assert_copies (gpus, FAB_COPY_LOAD, NULL, b, host);
  assert_copies (gpus, FAB_COPY_TO_HOST, a, NULL, host);
  assert_copies (gpus, FAB_COPY_STORE, a, NULL, host);
  gpus->cuda->host_free (host);
}

static void
one_kernel_copies_both_ways (G_GNUC_UNUSED void **state)
{
  g_autoptr (FabGpus) gpus = fab_gpus_open (1, 4 * KIB, NULL);
  g_autoptr (FabCopyStreams) lanes = NULL;
  const FabGpu *gpu = &gpus->gpus[0];
  const FabCuda *cuda = gpus->cuda;
  FabTimePs elapsed_ps = 0;
  void *out = NULL, *in = NULL;

  assert_true (fab_copy_kernels_load (gpus, NULL));
  lanes = fab_copy_streams_new (gpus, 1, 1, 0);
  assert_int_equal (cuda->host_alloc (&out, 4 * KIB, CU_HOST_PORTABLE | CU_HOST_MAPPED), CU_OK);
  assert_int_equal (cuda->host_alloc (&in, 4 * KIB, CU_HOST_PORTABLE | CU_HOST_MAPPED), CU_OK);
  memset (out, 0x5a, 100);
  assert_int_equal (cuda->fill (gpu->out, 0x33, 100), CU_OK);
  assert_true (fab_copy_streams_set_both (lanes, 0, gpu, out, in, NULL));
  assert_true (fab_copy_streams_stream (lanes, 100, 3, &elapsed_ps, NULL));
  for (guint i = 0; i < 101; i++) {
    assert_int_equal (((const guint8 *) (gsize) gpu->in)[i], i < 100 ? 0x5a : 0);
    assert_int_equal (((const guint8 *) in)[i], i < 100 ? 0x33 : 0);
  }
  cuda->host_free (out);
  cuda->host_free (in);
}

static void
lists_of_processors_are_read (G_GNUC_UNUSED void **state)
{
  g_autofree gboolean *some = fab_near_parse ("0-2,5,7-99", 9);

  assert_non_null (some);
  for (guint i = 0; i < 9; i++)
    assert_int_equal (some[i], i <= 2 || i == 5 || i >= 7);
  assert_null (fab_near_parse ("3-1", 9));
  assert_null (fab_near_parse ("0,x", 9));
}

static void
the_thread_runs_near_a_gpu (G_GNUC_UNUSED void **state)
{
  g_autofree char *dir = g_dir_make_tmp ("fab-near-XXXXXX", NULL);
  g_autofree char *device = g_build_filename (dir, "0000:0a:00.0", NULL);
  g_autofree char *path = g_build_filename (device, "local_cpulist", NULL);
  FabNear *near;

  assert_int_equal (g_mkdir (device, 0700), 0);
  assert_true (g_file_set_contents (path, "0-1023\n", -1, NULL));
  near = fab_near_enter (dir, "0000:0a:00.0");
  assert_non_null (near);
  assert_string_equal (fab_near_cpus (near), "0-1023");
  fab_near_leave (near);
  assert_null (fab_near_enter (dir, "0000:0b:00.0"));
  assert_true (g_file_set_contents (path, "none", -1, NULL));
  assert_null (fab_near_enter (dir, "0000:0a:00.0"));
  g_unlink (path);
  g_rmdir (device);
  g_rmdir (dir);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (every_way_of_copying_moves_the_bytes),
    cmocka_unit_test (one_kernel_copies_both_ways),
    cmocka_unit_test (lists_of_processors_are_read),
    cmocka_unit_test (the_thread_runs_near_a_gpu),
  };

  return cmocka_run_group_tests (tests, NULL, NULL);
}
