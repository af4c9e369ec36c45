/* SPDX-License-Identifier: Apache-2.0 */
/* test_nccl_p2p.c - the channels that NCCL gives a send, by hand from its rules, and what they make of its time. */
#include "models/library/nccl/p2p.h"

#include "models/models.h"
#include "tests/support/params.h"
#include "tests/support/rig.h"
#include "tests/support/technologies.h"
#include "tests/support/test.h"
#include "tests/unit/models/library/nccl/candidate.h"

#define KIB G_GUINT64_CONSTANT (1024)
#define MIB (KIB * 1024)
#define GIB (MIB * 1024)
#define G G_GUINT64_CONSTANT (1000000000)

/* Hopper: 24 channels on one node, 18 links. */
static NcclP2pComm
one_node (guint n_ranks)
{
  return (NcclP2pComm){ .version = 22902,
                        .n_ranks = n_ranks,
                        .n_locals = n_ranks,
                        .n_channels = 24,
                        .n_links = 18,
                        .n_nics = 1,
                        .nics_GBps = 50 };
}

/* Hopper between nodes, with one NIC of 400 Gbit/s for each GPU. */
static NcclP2pComm
nodes (guint version, guint n_nodes, guint n_locals, guint n_channels)
{
  return (NcclP2pComm){ .version = version,
                        .n_ranks = n_nodes * n_locals,
                        .n_locals = n_locals,
                        .n_channels = n_channels,
                        .n_links = n_locals > 1 ? 18 : 0,
                        .n_nics = 1,
                        .nics_GBps = 48 };
}

static guint
count (NcclP2pComm comm, FabBytes bytes)
{
  NcclP2pChannels channels = nccl_p2p_channels (&comm);

  return nccl_p2p_count (&channels, bytes);
}

static guint
most (NcclP2pComm comm)
{
  return nccl_p2p_channels (&comm).most;
}

/* Four GPUs share 32 channels, which are 8 for each send. From 8 x 32 chunks of 512 KiB on parts are halved. */
static void
channels_double_with_the_bytes (G_GNUC_UNUSED void **state)
{
  const guint mib[] = { 32, 64, 128, 256, 512, 1024, 16384 }, expected[] = { 8, 8, 8, 16, 32, 32, 32 };

  for (guint i = 0; i < G_N_ELEMENTS (mib); i++)
    assert_int_equal (count (one_node (4), mib[i] * MIB), expected[i]);
  assert_int_equal (count (one_node (4), 128 * MIB + 1), 16);
}

/* 512 MiB of all_to_all are 256, 128 and 64 MiB for a peer: the largest sends that do not double yet. */
static void
more_ranks_leave_fewer_channels (G_GNUC_UNUSED void **state)
{
  assert_int_equal (count (one_node (2), 256 * MIB), 16);
  assert_int_equal (count (one_node (4), 128 * MIB), 8);
  assert_int_equal (count (one_node (8), 64 * MIB), 4);
  assert_int_equal (count (one_node (2), 256 * MIB + 16), 32);
  assert_int_equal (count (one_node (64), MIB), 1);
}

/* Parts of less than an eighth of a chunk, 64 KiB, are not worth a channel. */
static void
small_sends_use_few_channels (G_GNUC_UNUSED void **state)
{
  assert_int_equal (count (one_node (2), 1), 1);
  assert_int_equal (count (one_node (2), 64 * KIB), 1);
  assert_int_equal (count (one_node (2), 64 * KIB + 1), 2);
  assert_int_equal (count (one_node (2), 512 * KIB), 8);
}

/* From 2.29 on: 48 GB/s / 14 are 4 channels; fewer where 10 or 5 batches of 8 peers need more than there are. */
static void
a_peer_over_the_network_has_the_channels_of_its_nic (G_GNUC_UNUSED void **state)
{
  assert_int_equal (most (nodes (22902, 10, 1, 4)), 2);
  assert_int_equal (most (nodes (22902, 10, 4, 16)), 2);
  assert_int_equal (most (nodes (22902, 10, 8, 16)), 1);
  assert_int_equal (most (nodes (22902, 2, 1, 4)), 4);
  assert_int_equal (most (nodes (22902, 2, 2, 8)), 4);
  assert_int_equal (most (nodes (22902, 2, 4, 16)), 4);
  assert_int_equal (most (nodes (22902, 2, 8, 16)), 4);
  /* 112 GB/s are eight channels, and 113 would be nine: channels are halved as often as it takes. */
  NcclP2pComm wide = nodes (22902, 10, 4, 64);
  wide.nics_GBps = 112.9;
  assert_int_equal (most (wide), 8);
  wide.nics_GBps = 113;
  assert_int_equal (most (wide), 8);
  wide.n_channels = 128;
  assert_int_equal (most (wide), 16);
  wide.n_channels = 32;
  assert_int_equal (most (wide), 4);
  wide.n_channels = 8;
  assert_int_equal (most (wide), 1);
}

/* Before, two channels, and one where 2 x ranks is more than 4 x channels. */
static void
older_releases_have_two_channels_or_one (G_GNUC_UNUSED void **state)
{
  assert_int_equal (most (nodes (22807, 10, 1, 4)), 1);
  assert_int_equal (most (nodes (22807, 10, 4, 16)), 1);
  assert_int_equal (most (nodes (22807, 10, 8, 16)), 1);
  assert_int_equal (most (nodes (22807, 2, 1, 4)), 2);
  assert_int_equal (most (nodes (22807, 2, 8, 16)), 2);
  assert_int_equal (most (nodes (21805, 10, 8, 16)), 2);
  assert_int_equal (most (nodes (22807, 2, 64, 32)), 1); /* two racks of 64 GPUs */
}

static void
a_bus_has_two_channels (G_GNUC_UNUSED void **state)
{
  NcclP2pComm comm = one_node (2);

  comm.n_links = 0;
  assert_int_equal (most (comm), 2);
  assert_int_equal (nccl_p2p_channels (&comm).chunk_bytes, 128 * KIB);
  comm.n_links = 1;
  assert_int_equal (nccl_p2p_channels (&comm).chunk_bytes, 512 * KIB);
}

/* All peers have as many channels as the one with the fewest: beside another GPU of its node, over a bus, a GPU has two
 * for those in other nodes too, where a single GPU of each node would have four. */
static void
a_bus_limits_peers_in_other_nodes (G_GNUC_UNUSED void **state)
{
  for (guint n_locals = 2; n_locals <= 4; n_locals++) {
    NcclP2pComm comm = nodes (22902, 2, n_locals, 16);

    assert_int_equal (most (comm), 4);
    comm.n_links = 0;
    assert_int_equal (most (comm), 2);
  }
  assert_int_equal (most (nodes (22902, 2, 1, 16)), 4);
}

/* 16 KiB for each channel of the send. */
static void
small_sends_inside_a_domain_use_ll (G_GNUC_UNUSED void **state)
{
  NcclP2pComm comm = one_node (8);
  NcclP2pChannels channels = nccl_p2p_channels (&comm);

  assert_true (nccl_p2p_is_ll (&channels, 16 * KIB));
  assert_false (nccl_p2p_is_ll (&channels, 16 * KIB + 1));
  assert_false (nccl_p2p_is_ll (&channels, 1 * MIB));
}

static void
chunks_shrink_for_the_network (G_GNUC_UNUSED void **state)
{
  NcclP2pComm comm = nodes (22902, 2, 8, 16), small_hosts = comm;
  NcclP2pChannels channels = nccl_p2p_channels (&comm);

  assert_int_equal (nccl_p2p_net_chunk (&channels, 64 * KIB), 32 * KIB);
  assert_int_equal (nccl_p2p_net_chunk (&channels, 512 * KIB), 64 * KIB);
  assert_int_equal (nccl_p2p_net_chunk (&channels, MIB), 128 * KIB);
  small_hosts.has_small_hosts = TRUE;
  assert_int_equal (nccl_p2p_channels (&small_hosts).chunk_bytes, 256 * KIB);
  small_hosts.version = 22807;
  assert_int_equal (nccl_p2p_channels (&small_hosts).chunk_bytes, 128 * KIB);
}

/* The rules of 2.29 hold from its first release on, and so does that of 2.20 for many ranks. */
static void
rules_of_sends_change_with_a_line_of_releases (G_GNUC_UNUSED void **state)
{
  NcclP2pComm before = nodes (22899, 2, 8, 16), from = nodes (22900, 2, 8, 16);

  before.has_small_hosts = from.has_small_hosts = TRUE;
  assert_int_equal (nccl_p2p_channels (&before).chunk_bytes, 128 * KIB);
  assert_int_equal (nccl_p2p_channels (&from).chunk_bytes, 256 * KIB);
  assert_int_equal (most (before), 2);
  assert_int_equal (most (from), 4);
  assert_int_equal (most (nodes (21999, 10, 8, 16)), 2);
  assert_int_equal (most (nodes (22000, 10, 8, 16)), 1);
  /* 2 x 32 ranks are 4 x 16 channels, and not more. */
  assert_int_equal (most (nodes (22000, 4, 8, 16)), 2);
}

/* What somebody has chosen counts over the network alone. Several NICs have a channel each at least. */
static void
chosen_chunks_and_channels_are_for_the_network (G_GNUC_UNUSED void **state)
{
  NcclP2pComm far = nodes (22902, 2, 8, 16), near = one_node (8), nics = nodes (22807, 2, 1, 32);

  far.net_chunk_bytes = near.net_chunk_bytes = 300;
  far.net_channels = near.net_channels = 3;
  assert_int_equal (nccl_p2p_channels (&far).chunk_bytes, 300);
  assert_int_equal (nccl_p2p_channels (&far).least_part, 150);
  assert_int_equal (nccl_p2p_channels (&far).most_part, 300);
  assert_int_equal (most (far), 4); /* a power of two */
  assert_int_equal (nccl_p2p_channels (&near).chunk_bytes, 512 * KIB);
  assert_int_equal (nccl_p2p_channels (&near).least_part, 64 * KIB);
  assert_int_equal (nccl_p2p_channels (&near).most_part, 16 * MIB);
  assert_int_equal (most (near), 32);
  nics.n_nics = 4;
  assert_int_equal (most (nics), 4);
  nics.version = 22902;
  nics.n_nics = 8;
  nics.n_channels = 32;
  assert_int_equal (most (nics), 8);
}

/* Peers of a batch of 8 that begin at the same channel: the greatest common divisor of 8 and the ranks of a domain. */
static void
peers_in_a_row_share_a_channel (G_GNUC_UNUSED void **state)
{
  static const guint sharing[][2] = { { 1, 1 }, { 2, 2 }, { 3, 1 },  { 4, 4 },
                                      { 6, 2 }, { 8, 8 }, { 12, 4 }, { 16, 8 } };

  for (guint i = 0; i < G_N_ELEMENTS (sharing); i++) {
    NcclP2pComm comm = nodes (22902, 2, sharing[i][0], 16), alone = one_node (sharing[i][0]);

    assert_int_equal (nccl_p2p_channels (&comm).n_sharing, sharing[i][1]);
    assert_int_equal (nccl_p2p_channels (&alone).n_sharing, 1);
  }
}

/* 20 warps: one send has 10 and its receive 9, each of four has 3 and 2, each of eight one and one. */
static void
sends_of_a_batch_share_the_warps (G_GNUC_UNUSED void **state)
{
  NcclP2pComm comm = one_node (8), far = nodes (22807, 2, 64, 32);
  NcclP2pChannels channels = nccl_p2p_channels (&comm), apart = nccl_p2p_channels (&far);

  assert_int_equal (nccl_p2p_send_warps (1), 10);
  assert_int_equal (nccl_p2p_send_warps (2), 5);
  assert_int_equal (nccl_p2p_send_warps (4), 3);
  assert_int_equal (nccl_p2p_send_warps (8), 1);
  assert_true (nccl_p2p_at_once (&channels, 8, 4) == 1);  /* 8 x 4 parts on 32 channels */
  assert_true (nccl_p2p_at_once (&channels, 8, 32) == 8); /* every send on all channels */
  assert_true (nccl_p2p_at_once (&channels, 64, 1)
               == 1); /* the first 8 are apart, the others come after them */
  assert_int_equal (apart.n_sharing, 8);
  assert_true (nccl_p2p_at_once (&apart, 128, 1) == 8);
}

/* --- times --- */

static FabCollectivePlan
plan_on (const Rig *rig, const char *yaml, FabOp op, FabBytes bytes, double *us)
{
  Params *params = params_new (&fab_library_nccl.info, yaml);
  FabLibrary *library = fab_library_nccl.create (fab_models.lists[FAB_MODEL_ALGORITHM], params->params);
  FabGroup group = rig_group (rig);
  FabCollectivePlan plan;

  assert_true (fab_library_plan (library, &group, op, bytes, &plan, NULL));
  *us = (double) fab_collective_plan_idle_ps (&plan) / 1e6;
  fab_library_destroy (library);
  params_free (params);
  return plan;
}

static FabCollectivePlan
plan_of (const RigSpec *spec, const char *yaml, FabOp op, FabBytes bytes, double *us)
{
  g_autoptr (Rig) rig = rig_new (spec);

  return plan_on (rig, yaml, op, bytes, us);
}

#define UNLIMITED (1000000 * G)

/* The rig's GPUs are A100, here on links that limit nothing: a channel moves 13.9 GB/s. From 128 to 256 MiB of
 * all_to_all over 2 GPUs each of 16 channels moves 4 MiB more. */
static void
channels_limit_a_pair (G_GNUC_UNUSED void **state)
{
  const RigSpec spec = { .n_nodes = 1, .gpus_per_node = 2, .gpu_bytes_per_s = UNLIMITED };
  double half_us, whole_us;

  FabCollectivePlan plan = plan_of (&spec, "{max_channels: 24}", FAB_OP_ALL_TO_ALL, 128 * MIB, &half_us);
  plan_of (&spec, "{max_channels: 24}", FAB_OP_ALL_TO_ALL, 256 * MIB, &whole_us);
  assert_int_equal (plan.n_channels, 16);
  assert_string_equal (plan.protocol, "simple");
  assert_near (whole_us - half_us, 4 * 1048.576 / 13.9, 1e-6);
}

/* NCCL counts 18 GB/s for an NVLink of the generation 6, 20 for those of 7 and 8, 20.6 for 9 and 40.1 for 10
 * (src/graph/topo.h). A peer has two channels for each whole link, as a power of two, and one link counts at least. */
static void
rates_count_as_links_of_their_generation (G_GNUC_UNUSED void **state)
{
  static const struct {
    const char *architecture;
    double link_GBps;
  } rows[] = {
    { "pascal", 18 }, { "volta", 20 }, { "ampere", 20 }, { "hopper", 20.6 }, { "blackwell", 40.1 }
  };
  static const struct {
    double n_links;
    guint n_channels;
  } links[] = { { 0.5, 2 }, { 1.99, 2 }, { 2.01, 4 }, { 2.99, 4 }, { 3.01, 8 }, { 4.01, 8 } };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    for (guint k = 0; k < G_N_ELEMENTS (links); k++) {
      const RigSpec spec = { .n_nodes = 1,
                             .gpus_per_node = 2,
                             .gpu_bytes_per_s = (FabBytesPerS) (rows[i].link_GBps * links[k].n_links * 1e9) };
      g_autoptr (Rig) rig = rig_new (&spec);
      double us;

      rig->cluster.architecture = rows[i].architecture;
      assert_int_equal (plan_on (rig, "{min_channels: 16}", FAB_OP_ALL_TO_ALL, 16 * G, &us).n_channels,
                        links[k].n_channels);
    }
}

/* Channels of 13.9 GB/s, and links of this rate: sends are slower than either of them, most of all where both are as
 * fast, and never slower on faster links. */
static void
links_and_channels_both_limit (G_GNUC_UNUSED void **state)
{
  double last_GBps = 0;

  for (guint links_GBps = 25; links_GBps <= 1600; links_GBps *= 2) {
    const RigSpec spec = { .n_nodes = 1, .gpus_per_node = 2, .gpu_bytes_per_s = links_GBps * G };
    double half_us, whole_us;

    plan_of (&spec, "{max_channels: 24}", FAB_OP_ALL_TO_ALL, 128 * MIB, &half_us);
    FabCollectivePlan plan = plan_of (&spec, "{max_channels: 24}", FAB_OP_ALL_TO_ALL, 256 * MIB, &whole_us);
    double GBps = 64 * MIB / (whole_us - half_us) / 1e3,
           least_GBps = MIN (plan.n_channels * 13.9, links_GBps);

    assert_true (GBps < least_GBps * 1.002 && GBps > 0.5 * least_GBps && GBps > last_GBps * 0.999);
    last_GBps = GBps;
  }
}

/* LL: 9.7 us x (1 + 0.1 log2 n), and 4 KiB at 4.9 GB/s. NCCL_ALGO and NCCL_PROTO do not reach sends. */
static void
small_sends_start_with_the_number_of_peers (G_GNUC_UNUSED void **state)
{
  const RigSpec spec = { .n_nodes = 1, .gpus_per_node = 8, .gpu_bytes_per_s = 2000 * G };
  double us, simple_us;

  FabCollectivePlan plan = plan_of (&spec, "{}", FAB_OP_ALL_TO_ALL, 32 * KIB, &us);
  plan_of (&spec, "{algorithm: ring, protocol: simple}", FAB_OP_ALL_TO_ALL, 32 * KIB, &simple_us);
  assert_string_equal (plan.protocol, "ll");
  assert_near (us, 9.7 * 1.3 + 4.096 / 4.9, 1e-6);
  assert_near (simple_us, us, 1e-9);
}

/* Simple, 64 KiB for each of 7 peers, one channel each: 7.8 + 7 x 0.77 us, and the bytes are sent and then copied,
 * each at 21.2 GB/s, for the links limit nothing. */
static void
channels_in_use_cost_their_start (G_GNUC_UNUSED void **state)
{
  const RigSpec spec = { .n_nodes = 1, .gpus_per_node = 8, .gpu_bytes_per_s = UNLIMITED };
  double us;

  FabCollectivePlan plan = plan_of (&spec, "{}", FAB_OP_ALL_TO_ALL, 512 * KIB, &us);
  assert_string_equal (plan.protocol, "simple");
  assert_near (us, 7.8 + 7 * 0.77 + 2 * 65.536 / 21.2, 1e-6);
}

/* --- between domains --- */

/* A100 with a processor whose proxy thread takes 1.22 us for a message, a third more with the flush that GPUs up to
 * Ampere need. */
#define AMPERE_POST_US (1.22 * 4 / 3)

static RigSpec
pods (guint n_nodes, guint gpus_per_node)
{
  return (RigSpec){ .n_nodes = n_nodes,
                    .gpus_per_node = gpus_per_node,
                    .nics_per_node = gpus_per_node,
                    .gpu_bytes_per_s = 200 * G,
                    .nic_bytes_per_s = 25 * G };
}

static double
startup_us (const RigSpec *spec, const char *yaml)
{
  double us;

  plan_of (spec, yaml, FAB_OP_ALL_TO_ALL, 16, &us);
  return us;
}

/* The kernel starts in 9.7 us x (1 + 0.1 log2 8), a network step takes 14 us, and the thread handles 7 further
 * messages. */
static void
a_thread_handles_the_messages_of_remote_peers (G_GNUC_UNUSED void **state)
{
  const RigSpec spec = pods (2, 8);

  assert_near (startup_us (&spec, "{}"), 9.7 * 1.3 + 14 + 7 * AMPERE_POST_US, 1e-4);
}

/* Nodes add messages, not network steps, as long as channels have room for their batches of 8 peers: 16 channels. */
static void
connections_do_not_wait_for_each_other (G_GNUC_UNUSED void **state)
{
  const RigSpec two = pods (2, 8), four = pods (4, 8), sixteen = pods (16, 8);
  double base_us = startup_us (&two, "{min_channels: 16, max_channels: 16}");

  assert_near (startup_us (&four, "{min_channels: 16, max_channels: 16}") - base_us, 16 * AMPERE_POST_US,
               1e-4);
  assert_near (startup_us (&sixteen, "{min_channels: 16, max_channels: 16}") - base_us, 112 * AMPERE_POST_US,
               1e-4);
}

/* One GPU in each of 64 nodes, on one channel: batches of 8 peers take a network step each, 8 of them. */
static void
a_channel_takes_its_batches_in_turn (G_GNUC_UNUSED void **state)
{
  const RigSpec spec = pods (64, 1);

  assert_near (startup_us (&spec, "{max_channels: 1}"), 8.4 + 14 + 62 * AMPERE_POST_US, 1e-4);
  /* Without flushes the thread is done before: messages of 62 peers take 75.6 us, and 7 steps 98. */
  assert_near (startup_us (&spec, "{max_channels: 1, flush: false}"), 8.4 + 14 + 7 * 14, 1e-4);
}

/* RCCL had one peer in a batch before 2.27.7, and 8 since: to 8 nodes of one GPU a single channel takes 7 network steps
 * more before, in which the thread hands on the 6 further messages. */
static void
rccl_has_batches_from_a_release_on (G_GNUC_UNUSED void **state)
{
  const RigSpec spec = pods (8, 1), two = pods (2, 1);
  g_autoptr (Rig) rig = rig_new (&spec), pair = rig_new (&two);
  double alone_us, pair_us, single_us, batch_us; /* a batch of both, one after the other, and of 8 */

  rig->cluster.architecture = pair->cluster.architecture = "cdna3";
  plan_on (pair, "{max_channels: 1, nccl_version: 2.27.7}", FAB_OP_ALL_TO_ALL, 16, &alone_us);
  plan_on (pair, "{max_channels: 1, nccl_version: 2.27.6}", FAB_OP_ALL_TO_ALL, 16, &pair_us);
  plan_on (rig, "{max_channels: 1, nccl_version: 2.27.6}", FAB_OP_ALL_TO_ALL, 16, &single_us);
  plan_on (rig, "{max_channels: 1, nccl_version: 2.27.7}", FAB_OP_ALL_TO_ALL, 16, &batch_us);
  assert_near (single_us - alone_us, 7 * (pair_us - alone_us), 1e-4);
  assert_near (batch_us - alone_us, 6 * AMPERE_POST_US, 1e-3);
}

/* Hopper does not flush, and did before 2.19.1. */
static void
hopper_needs_no_flush (G_GNUC_UNUSED void **state)
{
  const RigSpec spec = pods (2, 8);
  g_autoptr (Rig) rig = rig_new (&spec);
  double us, flushed_us;

  rig->cluster.architecture = "hopper";
  plan_on (rig, "{}", FAB_OP_ALL_TO_ALL, 16, &us);
  plan_on (rig, "{nccl_version: 2.18.5}", FAB_OP_ALL_TO_ALL, 16, &flushed_us);
  assert_near (flushed_us - us, 7 * 1.22 / 3, 1e-4);
}

/* A message costs the thread twice the time with a processor of AMD, as NCCL counts it. */
static void
the_processor_decides_the_time_of_a_message (G_GNUC_UNUSED void **state)
{
  const FabProcessor amd = { .name = "amd", .proxy_ps = 2000000 };
  const RigSpec spec = pods (2, 8);
  g_autoptr (Rig) rig = rig_new (&spec);
  double us;

  rig->cluster.processor = &amd;
  plan_on (rig, "{}", FAB_OP_ALL_TO_ALL, 16, &us);
  assert_near (us - startup_us (&spec, "{}"), 7 * AMPERE_POST_US, 1e-4);
}

/* A processor that matches messages takes 7 us for that of each of 8 peers; an adapter takes nothing. */
static void
a_processor_that_matches_takes_its_time_for_each_peer (G_GNUC_UNUSED void **state)
{
  RigSpec spec = pods (2, 8);
  double plain_us = startup_us (&spec, "{}");

  spec.nic_software_match_ps = 7000000;
  assert_near (startup_us (&spec, "{matching: software}") - plain_us, 8 * 7, 1e-9);
  assert_near (startup_us (&spec, "{matching: hardware}") - plain_us, 0, 0);
}

/* 16 KiB more for each of 15 remote peers, each on a channel of its own: the thread hands on a chunk of 32 KiB in 1.63
 * us, which are 20 GB/s. The connections together carry more, and the NIC carries 20000. */
static void
the_thread_limits_many_connections (G_GNUC_UNUSED void **state)
{
  const char *yaml = "{min_channels: 16, max_channels: 16}";
  RigSpec spec = pods (16, 1);
  double short_us, long_us;

  spec.gpu_bytes_per_s = spec.nic_bytes_per_s = 20000 * G;
  plan_of (&spec, yaml, FAB_OP_ALL_TO_ALL, 16 * 32 * KIB, &short_us);
  plan_of (&spec, yaml, FAB_OP_ALL_TO_ALL, 16 * 48 * KIB, &long_us);
  assert_near (long_us - short_us, 15 * 0.5 * AMPERE_POST_US, 1e-5);
}

/* 16 ranks: 192 B for each of 8 remote peers are copied into the commands to the adapter, 12 us each; 208 B are not. */
static void
short_messages_are_copied_out_of_the_gpu (G_GNUC_UNUSED void **state)
{
  RigSpec spec = pods (2, 8);
  double copied_us, us;

  spec.nic_inlined = (FabInlined){ 192, 12000000 };
  plan_of (&spec, "{}", FAB_OP_ALL_TO_ALL, 16 * 192, &copied_us);
  plan_of (&spec, "{}", FAB_OP_ALL_TO_ALL, 16 * 208, &us);
  assert_near (copied_us - us, 8 * 12, 1e-3);
}

/* One node sends to the next over 2 channels, which 25 GB/s / 14 are: 131.072 KB in 9.43 us of copying, 1.0 of flags
 * and 2 x 1.63 of posting. */
static void
channels_limit_a_connection (G_GNUC_UNUSED void **state)
{
  const RigSpec spec = { .n_nodes = 2,
                         .gpus_per_node = 1,
                         .nics_per_node = 1,
                         .gpu_bytes_per_s = 200 * G,
                         .nic_bytes_per_s = 25 * G };
  double half_us, whole_us;

  FabCollectivePlan plan = plan_of (&spec, "{net_fraction: 1}", FAB_OP_SEND_RECV, 512 * MIB, &half_us);
  plan_of (&spec, "{net_fraction: 1}", FAB_OP_SEND_RECV, 1024 * MIB, &whole_us);
  assert_int_equal (plan.n_channels, 2);
  assert_near ((whole_us - half_us) / 1e3,
               512 * 1.048576 / (2 * 131.072 / (131.072 / 13.9 + 1.0 + 2 * AMPERE_POST_US)), 1e-9);
}

/* GB/s of a connection with `n` channels: each chunk is copied at a share of a channel's rate, takes a flag, and is
 * posted in turn. */
#define CONNECTION(n, KB, share) ((n) * (KB) / ((KB) / (13.9 * (share)) + 1.0 + (n) *AMPERE_POST_US))

/* What limits the sends to other domains, from what a longer send takes longer. NICs carry more, unless a row says what
 * they do: 131.072 KB are a chunk, or a half or a quarter of it for short sends; the thread posts one in 1.63 us. */
static void
the_slowest_part_limits_sends_between_domains (G_GNUC_UNUSED void **state)
{
  const double most = 1e6, chunk = 131.072, thread = chunk / AMPERE_POST_US;
  const struct {
    guint n_nodes, gpus_per_node;
    FabOp op;
    guint n_channels; /* of NCCL; 0: by its rules */
    FabBytes from, to;
    double nic_GBps;
    guint n, n_remote; /* channels of a send, and sends */
    double GBps;       /* of all sends together */
  } rows[] = {
    /* One connection, and the length of its chunks. */
    { 2, 1, FAB_OP_SEND_RECV, 0, 16 * MIB, 32 * MIB, most, 2, 1, CONNECTION (2, chunk, 1) },
    { 2, 1, FAB_OP_SEND_RECV, 0, 1 * MIB, 2 * MIB, most, 2, 1, CONNECTION (2, chunk, 1) },
    { 2, 1, FAB_OP_SEND_RECV, 0, 256 * KIB, 768 * KIB, most, 2, 1, CONNECTION (2, chunk / 2, 1) },
    { 2, 1, FAB_OP_SEND_RECV, 0, 80 * KIB, 112 * KIB, most, 2, 1, CONNECTION (2, chunk / 4, 1) },
    { 2, 1, FAB_OP_SEND_RECV, 0, 32 * KIB, 64 * KIB, most, 1, 1, CONNECTION (1, chunk / 4, 1) },
    { 2, 8, FAB_OP_SEND_RECV, 16, 16 * MIB, 32 * MIB, most, 2, 1, CONNECTION (2, chunk, 1) },
    /* As many connections as the channels serve at a time. */
    { 16, 1, FAB_OP_ALL_TO_ALL, 4, 16 * MIB, 32 * MIB, most, 1, 15, 4 * CONNECTION (1, chunk, 1) },
    { 5, 1, FAB_OP_ALL_TO_ALL, 4, 16 * MIB, 32 * MIB, most, 2, 4, 2 * CONNECTION (2, chunk, 1) },
    { 2, 1, FAB_OP_ALL_TO_ALL, 4, 16 * MIB, 32 * MIB, most, 2, 1, 1 * CONNECTION (2, chunk, 1) },
    /* Four and eight connections that share channels would carry more than these. */
    { 2, 4, FAB_OP_ALL_TO_ALL, 8, 16 * MIB, 32 * MIB, most, 2, 4, 2 * 13.9 },
    { 2, 8, FAB_OP_ALL_TO_ALL, 16, 16 * MIB, 32 * MIB, most, 2, 8, 2 * 13.9 },
    /* The thread and the adapter wait for each other. */
    { 2, 8, FAB_OP_ALL_TO_ALL, 16, 16 * MIB, 32 * MIB, 10, 2, 8,
      10 / pow (1 + pow (10 / thread, 2.1), 1 / 2.1) },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    const RigSpec spec = { .n_nodes = rows[i].n_nodes,
                           .gpus_per_node = rows[i].gpus_per_node,
                           .nics_per_node = rows[i].gpus_per_node,
                           .gpu_bytes_per_s = UNLIMITED,
                           .nic_bytes_per_s = (FabBytesPerS) (rows[i].nic_GBps * 1e9) };
    g_autofree char *channels = g_strdup_printf (", min_channels: %u, max_channels: %u", rows[i].n_channels,
                                                 rows[i].n_channels);
    g_autofree char *yaml = g_strconcat ("{net_fraction: 1, nccl_version: 2.28.7",
                                         rows[i].n_channels > 0 ? channels : "", "}", NULL);
    guint n_sends = rows[i].op == FAB_OP_SEND_RECV ? 1 : rows[i].n_nodes * rows[i].gpus_per_node;
    double from_us, to_us, more_KB = (double) (rows[i].to - rows[i].from) * rows[i].n_remote / 1e3;

    plan_of (&spec, yaml, rows[i].op, rows[i].from * n_sends, &from_us);
    FabCollectivePlan plan = plan_of (&spec, yaml, rows[i].op, rows[i].to * n_sends, &to_us);
    if (!is_near (more_KB / (to_us - from_us), rows[i].GBps, 1e-3))
      fail_msg ("row %u: %g GB/s", i, more_KB / (to_us - from_us));
    if (rows[i].nic_GBps == most)
      assert_int_equal (plan.n_channels, rows[i].n);
  }
}

/* One node asks nothing of its NICs. Where accelerators of several nodes have no NICs, a send has the channels of the
 * rate that rings have between them. */
static void
domains_without_nics_count_as_one_nic (G_GNUC_UNUSED void **state)
{
  const RigSpec spec = {
    .n_nodes = 1, .gpus_per_node = 2, .nics_per_node = 4, .gpu_bytes_per_s = 40 * G, .nic_bytes_per_s = 25 * G
  };
  Candidate c;
  double us;

  assert_int_equal (plan_of (&spec, "{}", FAB_OP_ALL_TO_ALL, GIB, &us).n_channels, 4);
  candidate_make (&c,
                  &(CandidateSpec){ "ampere", "direct", 22902, 2, 1, NCCL_SIMPLE, FAB_OP_SEND_RECV, GIB });
  c.form.n_inter_steps = 1;
  c.self.busbw_GBps = 100;
  assert_int_equal (nccl_p2p_count_channels (&c.self), 8);
}

/* Two domains of 8 Blackwell GPUs on hosts with ARM processors, NCCL 2.28: 8 sends share 2 channels. A warp of each
 * copies 131.072 KB at 13.9 / 7 GB/s, flags and posts take 1.0 + 2 x 1.22 us, and the 7 others 94 us each. */
static void
sends_of_small_hosts_delay_each_other (G_GNUC_UNUSED void **state)
{
  const FabProcessor arm = { .name = "arm", .proxy_ps = 1000000 };
  const RigSpec spec = { .n_nodes = 2,
                         .gpus_per_node = 8,
                         .nics_per_node = 8,
                         .gpu_bytes_per_s = 131 * G,
                         .nic_bytes_per_s = 100 * G };
  g_autoptr (Rig) rig = rig_new (&spec);
  double half_us, whole_us, chunk_us = 7 * 131.072 / 13.9 + 1.0 + 2 * 1.22 + 7 * 94;

  rig->cluster.processor = &arm;
  rig->cluster.architecture = "blackwell";
  FabCollectivePlan plan = plan_on (rig, "{nccl_version: 2.28.7}", FAB_OP_ALL_TO_ALL, 512 * MIB, &half_us);
  plan_on (rig, "{nccl_version: 2.28.7}", FAB_OP_ALL_TO_ALL, 1024 * MIB, &whole_us);
  assert_int_equal (plan.n_channels, 2);
  assert_near (whole_us - half_us, 256 * 1048.576 / (8 * 2 * 131.072 / chunk_us), 1e-9);
}

/* Only the nearest NICs of a GPU count, and of those as many as its bus fills: the rig's switch is as near to all four
 * NICs of 25 GB/s, and 76 % of 40 GB/s need two. A channel for each NIC is the least that older releases have. */
static void
a_gpu_uses_the_nics_that_its_bus_fills (G_GNUC_UNUSED void **state)
{
  RigSpec spec = { .n_nodes = 40,
                   .gpus_per_node = 1,
                   .nics_per_node = 4,
                   .gpu_bytes_per_s = 30 * G,
                   .nic_bytes_per_s = 25 * G };
  double us;

  assert_int_equal (plan_of (&spec, "{nccl_version: 2.28.7}", FAB_OP_SEND_RECV, MIB, &us).n_channels, 1);
  spec.gpu_bytes_per_s = 40 * G;
  assert_int_equal (plan_of (&spec, "{nccl_version: 2.28.7}", FAB_OP_SEND_RECV, MIB, &us).n_channels, 2);
  /* One is enough up to 31.5 / 24 of its rate. */
  spec.gpu_bytes_per_s = 32812 * G / 1000;
  assert_int_equal (plan_of (&spec, "{nccl_version: 2.28.7}", FAB_OP_SEND_RECV, MIB, &us).n_channels, 1);
  spec.gpu_bytes_per_s = 32813 * G / 1000;
  assert_int_equal (plan_of (&spec, "{nccl_version: 2.28.7}", FAB_OP_SEND_RECV, MIB, &us).n_channels, 2);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (channels_double_with_the_bytes),
    cmocka_unit_test (more_ranks_leave_fewer_channels),
    cmocka_unit_test (small_sends_use_few_channels),
    cmocka_unit_test (a_peer_over_the_network_has_the_channels_of_its_nic),
    cmocka_unit_test (older_releases_have_two_channels_or_one),
    cmocka_unit_test (a_bus_has_two_channels),
    cmocka_unit_test (a_bus_limits_peers_in_other_nodes),
    cmocka_unit_test (small_sends_inside_a_domain_use_ll),
    cmocka_unit_test (chunks_shrink_for_the_network),
    cmocka_unit_test (rules_of_sends_change_with_a_line_of_releases),
    cmocka_unit_test (chosen_chunks_and_channels_are_for_the_network),
    cmocka_unit_test (peers_in_a_row_share_a_channel),
    cmocka_unit_test (sends_of_a_batch_share_the_warps),
    cmocka_unit_test (channels_limit_a_pair),
    cmocka_unit_test (rates_count_as_links_of_their_generation),
    cmocka_unit_test (links_and_channels_both_limit),
    cmocka_unit_test (small_sends_start_with_the_number_of_peers),
    cmocka_unit_test (channels_in_use_cost_their_start),
    cmocka_unit_test (a_thread_handles_the_messages_of_remote_peers),
    cmocka_unit_test (connections_do_not_wait_for_each_other),
    cmocka_unit_test (a_channel_takes_its_batches_in_turn),
    cmocka_unit_test (rccl_has_batches_from_a_release_on),
    cmocka_unit_test (hopper_needs_no_flush),
    cmocka_unit_test (the_processor_decides_the_time_of_a_message),
    cmocka_unit_test (a_processor_that_matches_takes_its_time_for_each_peer),
    cmocka_unit_test (the_thread_limits_many_connections),
    cmocka_unit_test (short_messages_are_copied_out_of_the_gpu),
    cmocka_unit_test (channels_limit_a_connection),
    cmocka_unit_test (the_slowest_part_limits_sends_between_domains),
    cmocka_unit_test (domains_without_nics_count_as_one_nic),
    cmocka_unit_test (sends_of_small_hosts_delay_each_other),
    cmocka_unit_test (a_gpu_uses_the_nics_that_its_bus_fills),
  };

  return cmocka_run_group_tests (tests, NULL, NULL);
}
