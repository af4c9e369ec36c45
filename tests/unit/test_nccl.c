/* SPDX-License-Identifier: Apache-2.0 */
/* test_nccl.c - what models/library/nccl.c adds to the tuner's time: channels, chunks, the host.
 *
 * Eight GPUs at 200 GB/s on NVLink make 20 channels; LL starts after 10 + 6.6 + 14 x 0.6 = 25.0 us, LL128 after
 * 10 + 14 + 14 x 1.9 = 50.6 us, Simple after 10 + 8.4 + 14 x 3.4 = 66.0 us.
 */
#include "models/models.h"
#include "tests/support/params.h"
#include "tests/support/rig.h"
#include "tests/support/test.h"

#define G G_GUINT64_CONSTANT (1000000000)

typedef struct {
  Rig *rig;
  Params *params;
  FabLibrary *library;
  FabCollectivePlan plan;
} Plan;

static void
plan_make (Plan *self, const RigSpec *spec, const char *yaml, FabOp op, FabBytes bytes)
{
  self->rig = rig_new (spec);
  self->params = params_new (&fab_library_nccl.info, yaml);
  self->library = fab_library_nccl.create (fab_models.lists[FAB_MODEL_ALGORITHM], self->params->params);
  FabGroup group = rig_group (self->rig);
  assert_true (fab_library_plan (self->library, &group, op, bytes, &self->plan, NULL));
}

static void
plan_clear (Plan *self)
{
  fab_library_destroy (self->library);
  params_free (self->params);
  rig_free (self->rig);
}

static const RigSpec one_node = { .n_nodes = 1, .gpus_per_node = 8, .gpu_bytes_per_s = 200 * G };

static double
idle_us (const RigSpec *spec, const char *yaml, FabOp op, FabBytes bytes)
{
  Plan p;

  plan_make (&p, spec, yaml, op, bytes);
  double us = (double) fab_plan_idle_ps (&p.plan) / 1e6;
  plan_clear (&p);
  return us;
}

static guint
channels (const char *yaml, FabBytes bytes)
{
  Plan p;

  plan_make (&p, &one_node, yaml, FAB_OP_ALL_REDUCE, bytes);
  guint n = p.plan.n_channels;
  plan_clear (&p);
  return n;
}

/* A channel needs 512 threads x 8 bytes x 8 ranks = 32 KiB for LL, 640 x 8 for LL128, 512 x 64 for Simple. */
static void
small_sizes_use_few_channels (G_GNUC_UNUSED void **state)
{
  assert_int_equal (channels ("{protocol: ll}", 8), 1);
  assert_int_equal (channels ("{protocol: ll}", 65535), 1);
  assert_int_equal (channels ("{protocol: ll}", 65536), 2);
  assert_int_equal (channels ("{protocol: ll}", 1 << 30), 20);
  assert_int_equal (channels ("{protocol: ll128}", 5 * 5120), 5);
  assert_int_equal (channels ("{protocol: simple}", 5 * 32768), 5);
}

/* Eight NICs of 25 GB/s: 64 KiB are one channel of LL (512 x 8 x 16 ranks), which is one NIC, and two of Simple. */
static void
few_channels_use_few_nics (G_GNUC_UNUSED void **state)
{
  RigSpec two = { .n_nodes = 2,
                  .gpus_per_node = 8,
                  .nics_per_node = 8,
                  .gpu_bytes_per_s = 4000 * G,
                  .nic_bytes_per_s = 25 * G };
  double ll_startup_us = 6.6 + 28 * 0.6 + 2 * 2.7, simple_startup_us = 1.4 * (8.4 + 28 * 3.4 + 2 * 14);

  assert_near (idle_us (&two, "{protocol: ll, net_fraction: 1, launch: 0us}", FAB_OP_ALL_REDUCE, 65536)
                   - ll_startup_us,
               65536 * 2 * 1.875 / 25e3, 1e-5);
  assert_near (idle_us (&two, "{protocol: simple, net_fraction: 1, launch: 0us}", FAB_OP_ALL_REDUCE, 65536)
                   - simple_startup_us,
               65536 * 1.875 / 50e3, 1e-5);
}

/* LL128: a chunk is a multiple of 640 x 30 bytes, times 8 ranks and 20 channels: 3.072 MB. 4 MB take what 6.144 MB do;
 * 6.144 MB what they are. All-gather likewise, of half the bytes per link. */
static void
whole_chunks_round_up (G_GNUC_UNUSED void **state)
{
  const char *even = "{protocol: ll128}", *whole = "{protocol: ll128, whole_chunks: true}";
  double us = 50.6 + 6.144e6 * 1.75 * 128 / 120 / 200e3;

  assert_near (idle_us (&one_node, whole, FAB_OP_ALL_REDUCE, 4000000), us, 1e-6);
  assert_near (idle_us (&one_node, whole, FAB_OP_ALL_REDUCE, 6144000), us, 1e-6);
  assert_near (idle_us (&one_node, even, FAB_OP_ALL_REDUCE, 6144000), us, 1e-6);
  assert_true (idle_us (&one_node, whole, FAB_OP_ALL_REDUCE, 6144001) > us + 20);
  assert_near (idle_us (&one_node, whole, FAB_OP_ALL_GATHER, 4000000),
               10 + 14 + 7 * 1.9 + 6.144e6 * 0.875 * 128 / 120 / 200e3, 1e-6);
}

/* A chain is a pipeline of chunks: nothing waits for a full round. */
static void
chains_do_not_round (G_GNUC_UNUSED void **state)
{
  assert_true (idle_us (&one_node, "{whole_chunks: true}", FAB_OP_BROADCAST, 4000000)
               == idle_us (&one_node, "", FAB_OP_BROADCAST, 4000000));
}

/* 8 GPUs x (4.3 us + channels beyond the first x 0.22 us) when that is longer: 34.4 us at 1 channel, 41.44 at 5. */
static void
a_slow_host_is_waited_for (G_GNUC_UNUSED void **state)
{
  const char *yaml = "{gpus_per_process: 8, issue_per_channel: 220ns}";

  assert_near (idle_us (&one_node, yaml, FAB_OP_ALL_REDUCE, 8), 34.4, 1e-6);
  assert_near (idle_us (&one_node, yaml, FAB_OP_ALL_REDUCE, 5 * 32768), 41.44, 1e-6);
  assert_near (idle_us (&one_node, yaml, FAB_OP_ALL_REDUCE, 1 << 30),
               idle_us (&one_node, "", FAB_OP_ALL_REDUCE, 1 << 30), 1e-9);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (small_sizes_use_few_channels), cmocka_unit_test (few_channels_use_few_nics),
    cmocka_unit_test (whole_chunks_round_up),        cmocka_unit_test (chains_do_not_round),
    cmocka_unit_test (a_slow_host_is_waited_for),
  };

  return cmocka_run_group_tests (tests, NULL, NULL);
}
