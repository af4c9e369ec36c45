/* SPDX-License-Identifier: Apache-2.0 */
/* test_storage.c - how long batches take from storage and checkpoints to it. */
#include "tests/support/test.h"

#include "models/workload/training/storage.h"
#include "sim/machine/hop.h"
#include "tests/support/play.h"

enum { GB = 1000000000 };

static int
load_catalog (void **state)
{
  *state = play_catalog ();
  return 0;
}

static int
free_catalog (void **state)
{
  fab_catalog_free (*state);
  return 0;
}

/* Two GPUs, two drives and a NIC behind one PCIe switch; every wire carries 10 GB/s, no packets, memory never
 * binds. */
static const char *const box =
    "links:\n"
    "  - {name: wire, technology: PCIe, lanes: 1, signalling: 80Gb/s, latency: 1us}\n"
    "  - {name: ram, technology: Memory, lanes: 1, signalling: 8000Gb/s, latency: 0us}\n"
    "nodes:\n"
    "  - name: box\n"
    "    accelerator: a100-sxm4-80gb\n"
    "    nic: wire\n"
    "    parts: [{name: gpu, kind: accelerator, count: 2}, {name: plx, kind: switch}, {name: cpu, kind: host},"
    " {name: ram, kind: memory}, {name: nvme, kind: storage, count: 2}, {name: nic, kind: nic}]\n"
    "    wires: [{from: gpu, to: plx, link: wire}, {from: plx, to: cpu, link: wire},"
    " {from: cpu, to: ram, link: ram}, {from: nvme, to: plx, link: wire}, {from: nic, to: plx, link: wire}]\n";

static double
load_seconds (const FabCatalog *catalog, const char *cluster, const FabLoaderParams *loader)
{
  g_autoptr (Play) play = play_cluster (catalog, cluster, box);
  double seconds;

  assert_true (fab_loader_seconds (loader, fab_simulation_cluster (play->simulation), 10, &seconds, NULL));
  return seconds;
}

/* 10 samples of 1 GB. Two drives of 10 GB/s feed two GPUs of 10 GB/s: 1 s. */
static void
drives_feed_gpus_directly (void **state)
{
  assert_near (load_seconds (*state, "node: box, gds: true", &(FabLoaderParams){ .bytes_per_sample = GB }), 1,
               1e-9);
}

/* Through host memory both GPUs' bytes share the uplink: 5 GB/s each, 2 s, and what staging costs on top. */
static void
without_gpudirect_the_uplink_binds (void **state)
{
  double seconds = load_seconds (*state, "node: box", &(FabLoaderParams){ .bytes_per_sample = GB });

  assert_true (seconds >= 2 && seconds <= 2.4);
}

/* A drive of 4 GB/s: 8 GB/s for two GPUs, 2.5 s. A faster one than its wire changes nothing. */
static void
a_drives_rate_limits (void **state)
{
  FabLoaderParams loader = { .bytes_per_sample = GB, .rate_bytes_per_s = 4ull * GB };

  assert_near (load_seconds (*state, "node: box, gds: true", &loader), 2.5, 1e-9);
  loader.rate_bytes_per_s = 40ull * GB;
  assert_near (load_seconds (*state, "node: box, gds: true", &loader), 1, 1e-9);
}

/* One NIC of 10 GB/s for two GPUs: 5 GB/s each. Storage gives a node 4 GB/s: 2 each. All of it 6 GB/s: with three
 * nodes of two GPUs 1 each. */
static void
network_storage_has_a_rate_per_node_and_in_all (void **state)
{
  FabLoaderParams loader = { .bytes_per_sample = GB, .from = FAB_STORAGE_NETWORK };

  assert_near (load_seconds (*state, "node: box, gds: true", &loader), 2, 1e-9);
  loader.rate_bytes_per_s = 4ull * GB;
  assert_near (load_seconds (*state, "node: box, gds: true", &loader), 5, 1e-9);
  loader.total_bytes_per_s = 6ull * GB;
  assert_near (load_seconds (*state, "node: box, nodes: 3, gds: true", &loader), 10, 1e-9);
}

static void
a_time_is_taken_as_it_is (void **state)
{
  assert_near (load_seconds (*state, "node: box", &(FabLoaderParams){ .time_ps = FAB_PS_PER_S }), 1, 1e-12);
  assert_near (load_seconds (*state, "node: box", &(FabLoaderParams){ 0 }), 0, 0);
}

static void
a_node_without_drives_is_an_error (void **state)
{
  g_autoptr (Play) play = play_new (*state,
                                    "name: t\ncluster: {node: dgx-h100}\n"
                                    "job: {kind: collective, operations: [{op: all_reduce, size: 1GB}]}\n",
                                    NULL);
  const FabCluster *cluster = fab_simulation_cluster (play->simulation);
  g_autoptr (GError) error = NULL;
  double seconds;

  if (cluster->drives_per_node > 0)
    skip ();
  assert_false (
      fab_loader_seconds (&(FabLoaderParams){ .bytes_per_sample = GB }, cluster, 1, &seconds, &error));
  assert_non_null (strstr (error->message, "has none"));
}

/* --- checkpoints --- */

static FabCheckpointTime
checkpoint (const FabCatalog *catalog, const char *cluster, const FabCheckpointParams *params, double bytes)
{
  g_autoptr (Play) play = play_cluster (catalog, cluster, box);
  FabCheckpointTime time;

  assert_true (fab_checkpoint_time (params, fab_simulation_cluster (play->simulation), bytes, &time, NULL));
  return time;
}

/* 80 GB over four GPUs of two nodes are 20 GB each: 2 s at 10 GB/s. Rank 0 alone writes all 80 to two drives, but its
 * own wire carries 10 GB/s: 8 s. */
static void
shards_are_written_at_once (void **state)
{
  FabCheckpointParams params = { .every.n_steps = 10, .is_sharded = TRUE };
  FabCheckpointTime time = checkpoint (*state, "node: box, nodes: 2, gds: true", &params, 80e9);

  assert_near (time.blocking_s, 2, 1e-9);
  assert_near (time.background_s, 0, 0);
  params.is_sharded = FALSE;
  assert_near (checkpoint (*state, "node: box, nodes: 2, gds: true", &params, 80e9).blocking_s, 8, 1e-9);
}

/* 20 GB per GPU: both cross the uplink to host memory, 5 GB/s each, 4 s; then from memory to drives of 1 GB/s, two of
 * them for two GPUs, 20 s. */
static void
asynchronous_ones_block_until_host_memory (void **state)
{
  FabCheckpointParams params = {
    .every.n_steps = 10, .is_sharded = TRUE, .is_asynchronous = TRUE, .rate_bytes_per_s = GB
  };
  FabCheckpointTime time = checkpoint (*state, "node: box, gds: true", &params, 40e9);

  assert_near (time.blocking_s, 4, 1e-9);
  assert_near (time.background_s, 20, 1e-9);
}

/* Every 10 steps 4 s: 0.4 s a step. 20 s behind 10 steps of 3 s are hidden; behind 10 of 1 s ten are not: 1 s a step
 * more. No checkpoint costs nothing. */
static void
the_next_one_waits_for_the_last (G_GNUC_UNUSED void **state)
{
  const FabCheckpointParams params = { .every.n_steps = 10 }, none = { 0 };
  const FabCheckpointTime time = { 4, 20 };

  assert_near (fab_checkpoint_step_seconds (&params, &time, 3), 0.4, 1e-12);
  assert_near (fab_checkpoint_step_seconds (&params, &time, 1), 1.4, 1e-12);
  assert_near (fab_checkpoint_step_seconds (&none, &time, 1), 0, 0);
}

/* Every minute, of which 4 s stop training: 56 s hold 28 steps of 2 s, each of which pays 4 / 28 s. A checkpoint of 4 s
 * every 3 s: one step is between two. In steps of 100 ms the 20 s in the background hide behind 560 of them. */
static void
a_time_holds_as_many_steps_as_fit (G_GNUC_UNUSED void **state)
{
  const FabCheckpointParams minute = { .every.time_ps = 60 * FAB_PS_PER_S };
  const FabCheckpointParams often = { .every.time_ps = 3 * FAB_PS_PER_S };

  assert_near (fab_checkpoint_step_seconds (&minute, &(FabCheckpointTime){ 4, 0 }, 2), 4.0 / 28, 1e-12);
  assert_near (fab_checkpoint_step_seconds (&often, &(FabCheckpointTime){ 4, 0 }, 2), 4, 1e-12);
  assert_near (fab_checkpoint_step_seconds (&minute, &(FabCheckpointTime){ 4, 20 }, 0.1), 4.0 / 560, 1e-12);
}

/* One step or one picosecond is a period; without any no checkpoint is written, and none takes time. */
static void
a_period_writes_checkpoints (void **state)
{
  static const struct {
    gint64 n_steps, time_ps;
  } rows[] = { { 0, 0 }, { 1, 0 }, { 2, 0 }, { 0, 1 }, { 0, 2 }, { 1, 1 } };

  (void) state;
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    const FabCheckpointParams params = { .every = { .n_steps = rows[i].n_steps,
                                                    .time_ps = rows[i].time_ps } };
    double seconds = fab_checkpoint_step_seconds (&params, &(FabCheckpointTime){ 4, 0 }, 2);

    assert_int_equal (fab_checkpoint_is_written (&params), i > 0);
    /* A time that is over at once has a checkpoint in every step. */
    assert_near (seconds, i == 0 ? 0 : rows[i].n_steps == 2 ? 2 : 4, 1e-12);
  }
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (drives_feed_gpus_directly),
    cmocka_unit_test (without_gpudirect_the_uplink_binds),
    cmocka_unit_test (a_drives_rate_limits),
    cmocka_unit_test (network_storage_has_a_rate_per_node_and_in_all),
    cmocka_unit_test (a_time_is_taken_as_it_is),
    cmocka_unit_test (a_node_without_drives_is_an_error),
    cmocka_unit_test (shards_are_written_at_once),
    cmocka_unit_test (asynchronous_ones_block_until_host_memory),
    cmocka_unit_test (the_next_one_waits_for_the_last),
    cmocka_unit_test (a_time_holds_as_many_steps_as_fit),
    cmocka_unit_test (a_period_writes_checkpoints),
  };

  return cmocka_run_group_tests_name ("storage", tests, load_catalog, free_catalog);
}
