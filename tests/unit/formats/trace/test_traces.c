/* SPDX-License-Identifier: Apache-2.0 */
/* test_traces.c - logs, workloads and graphs of collectives: GOAL, SimAI, AICB, NCCL, and JSON of PyTorch. */
#include "tests/unit/formats/trace/told.h"

#include "formats/format.h"

/* --- GOAL (LogGOPSim): times in ns, sizes in bytes --- */

static void
goal_has_work_and_what_it_requires (G_GNUC_UNUSED void **state)
{
  assert_trace (
      "num_ranks 2 // two\n\nrank 1 {\nl1: calc 100 cpu 0\nl2: send 8b to 0 tag 5\nl3: recv 7b from 0\nl4: calc 1\n"
      "l3 requires l1\nl2 requires l1\nl3 irequires l2\nl3 requires l4\n}\n\trank 0 {\nrecv 8b from 1 tag "
      "5\nl1: send 9 to 1 label 3\n}\n",
      "rank 0 of 2\nnode 0 recv: comm 0 from 1 tag 5 | send_recv 8 B 2 ranks, other, ''\n"
      "node 1 send: comm 0 to 1 tag 0 | send_recv 9 B 2 ranks, other, ''\n"
      "rank 1 of 2\nnode 0 calc: compute 100000\nnode 1 send: comm 0 to 0 tag 5 after 0 | send_recv 8 B 2 "
      "ranks, other, ''\n"
      "node 2 recv: comm 0 from 0 tag 0 after 0,1,3 | send_recv 7 B 2 ranks, other, ''\nnode 3 calc: compute 1000\n");
}

static void
mistakes_of_goal_are_told (G_GNUC_UNUSED void **state)
{
  static const struct {
    const char *text, *message;
  } rows[] = {
    { "num_ranks 2\n", "a: byte 12: the file has no rank" },
    { "num_ranks 0\n", "a: byte 0: num_ranks is between 1 and 1048576" },
    { "num_ranks 1048577\n", "a: byte 0: num_ranks is between 1 and 1048576" },
    { "num_ranks\n", "a: byte 0: num_ranks is between 1 and 1048576" },
    { "num_ranks 2\ncalc 5\n", "a: byte 12: a rank { must come before its lines" },
    { "num_ranks 2\nrank 2 {\n", "a: byte 12: a rank is a number below num_ranks" },
    { "num_ranks 2\nrank -1 {\n", "a: byte 12: a rank is a number below num_ranks" },
    { "num_ranks 2\nrank\n", "a: byte 12: a rank is a number below num_ranks" },
    { "num_ranks 2\nrank 0 {\nwait 5\n", "a: byte 21: a line is a calc, a send, a recv or a requires" },
    { "num_ranks 2\nrank 0 {\ncalc\n", "a: byte 21: a line is a calc, a send, a recv or a requires" },
    { "num_ranks 2\nrank 0 {\nsend 5b to\n", "a: byte 21: a line is a calc, a send, a recv or a requires" },
    { "num_ranks 2\nrank 0 {\ncalc x\n", "a: byte 21: x is no number" },
    { "num_ranks 2\nrank 0 {\ncalc -5\n", "a: byte 21: -5 is no number" },
    { "num_ranks 2\nrank 0 {\ncalc b\n", "a: byte 21: b is no number" },
    { "num_ranks 2\nrank 0 {\nsend 5b to x\n", "a: byte 21: x is no number" },
    { "num_ranks 2\nrank 0 {\nsend 5b to 1 tag y\n", "a: byte 21: y is no number" },
    { "num_ranks 2\nrank 0 {\nsend 5b to 2\n", "a: byte 21: rank 2 is not below num_ranks" },
    { "num_ranks 2\nrank 0 {\nl1: calc 5\nl1 requires l2\n",
      "a: byte 32: requires names a label that no line above has" },
    { "num_ranks 2\nrank 0 {\nl1: calc 5\nl2 requires l1\n",
      "a: byte 32: requires names a label that no line above has" },
    { "num_ranks 2\nrank 0 {\nl1: calc 5\nl1 requires l1\n", "a: byte 32: l1 requires itself" },
    { "num_ranks 2\nrank 0 {\nl1: calc 5\n}\nrank 1 {\nl2: calc 1\nl2 requires l1\n}\n",
      "a: byte 54: requires names a label that no line above has" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    assert_no_trace (rows[i].text, rows[i].message);
}

/* --- SimAI: forward in the order of layers, then backward, inputs before weights; ns and bytes --- */

#define LAYER1 "emb -1 100 ALLGATHER 1000 200 NONE 0 300 REDUCESCATTER_DP_EP 2000 400\n"
#define LAYER2 "moe\t-1 110 ALLTOALL_EP 5 210 ALLREDUCE 0 310 ALLREDUCE 7 410\n"

static void
simai_goes_forward_and_back (G_GNUC_UNUSED void **state)
{
  assert_trace ("HYBRID_TRANSFORMER_FWD_IN_BCKWD all_gpus: 16 ga: 1\n2\n" LAYER1 "\n" LAYER2,
                "rank 0 of 16\n"
                "node 0 emb: compute 100000\n"
                "node 1 emb: comm 0 after 0 | all_gather 1000 B 0 ranks, tensor, ''\n"
                "node 2 moe: compute 110000 after 1\n"
                "node 3 moe: comm 0 after 2 | all_to_all 5 B 0 ranks, expert, ''\n"
                "node 4 moe: compute 210000 after 3\n"
                "node 5 moe: compute 310000 after 4\n"
                "node 6 moe: comm 0 after 5 | all_reduce 7 B 0 ranks, data, ''\n"
                "node 7 emb: compute 200000 after 6\n"
                "node 8 emb: compute 300000 after 7\n"
                "node 9 emb: comm 0 after 8 | reduce_scatter 2000 B 0 ranks, data, ''\n");
  assert_trace (
      "DATA\n1\nx -1 1 ALLREDUCE_DP_EP 1 1 ALLREDUCE_EP 1 1 ALLREDUCE_EP 1 1\n",
      "rank 0 of 0\nnode 0 x: compute 1000\nnode 1 x: comm 0 after 0 | all_reduce 1 B 0 ranks, data, ''\n"
      "node 2 x: compute 1000 after 1\nnode 3 x: comm 0 after 2 | all_reduce 1 B 0 ranks, expert, ''\n"
      "node 4 x: compute 1000 after 3\nnode 5 x: comm 0 after 4 | all_reduce 1 B 0 ranks, expert, ''\n");
}

/* The message about a text ends with these words. */
static void
assert_mistake (const char *text, const char *message)
{
  const char *const texts[] = { text, NULL };
  g_autoptr (GError) error = NULL;

  assert_null (read_traces (texts, &error));
  if (!g_str_has_suffix (error->message, message))
    fail_msg ("%s", error->message);
}

static void
mistakes_of_simai_are_told (G_GNUC_UNUSED void **state)
{
  static const struct {
    const char *text, *message;
  } rows[] = {
    { "MICRO\n", "a: byte 6: the number of layers is missing" },
    { "MODEL\n0\n", "a: byte 6: the number of layers is missing" },
    { "DATA\n2\n" LAYER1, "a: byte 77: the file announces 2 layers and has 1" },
    { "DATA\n1\na b c\n", "a: byte 7: a layer has 12 words, and this one 3" },
    { "DATA\n1\nx -1 -1 NONE 0 0 NONE 0 0 NONE 0 0\n", "-1 is no time in ns" },
    { "DATA\n1\nx -1 0 NONE 0 0 NONE 0 a NONE 0 0\n", "a is no time in ns" },
    { "DATA\n1\nx -1 0 NONE -1 0 NONE 0 0 NONE 0 0\n", "-1 is no number of bytes" },
    { "DATA\n1\nx -1 0 NONE 0 0 NONE y 0 NONE 0 0\n", "y is no number of bytes" },
    { "DATA\n1\nx -1 0 NONE 0 0 WAIT 0 0 NONE 0 0\n", "WAIT is no collective that SimAI has" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    assert_mistake (rows[i].text, rows[i].message);
}

/* --- AICB: ms --- */

static void
aicb_has_a_row_for_each_collective (G_GNUC_UNUSED void **state)
{
  static const char head[] = "comm_type,comm_group,x,comm_group_size,msg_size,_elapsed_time\n";
  static const struct {
    const char *row, *message;
  } mistakes[] = { { "wait,dp_group,0,8,1,1\n", "wait is no collective" },
                   { "allreduce,dp_group,0,8,1,x\n", "x is no time in ms" },
                   { "allreduce,dp_group,0,8,1,-1\n", "-1 is no time in ms" },
                   { "allreduce,dp_group,0,8,1,1e9\n", "1e9 is no time in ms" },
                   { "allreduce,dp_group,0,0,1,1\n", "0 is no size of a group" },
                   { "allreduce,dp_group,0,x,1,1\n", "x is no size of a group" },
                   { "allreduce,dp_group,0,8,-1,1\n", "-1 is no number of bytes" },
                   { "allreduce,dp_group,0,8,y,1\n", "y is no number of bytes" },
                   { "allreduce,dp_group,0,8,1\n", "a row has fewer cells than the head" } };

  assert_trace (
      "comm_type,comm_group,x,comm_group_size,msg_size,_elapsed_time\nCommType.all_reduce,dp_group,0,8,1024,0.5\n\n"
      "CommType.epoch_end,,,,,\nCommType.all_gather,tp_group,0,None,0,0\nbroadcast,x,0,1,9,2\n",
      "rank 0 of 0\nnode 0 CommType.all_reduce: comm 500000000 | all_reduce 1024 B 8 ranks, data, 'dp_group'\n"
      "node 1 CommType.all_gather: comm 0 after 0 | all_gather 0 B 0 ranks, tensor, 'tp_group'\n"
      "node 2 broadcast: comm 2000000000 after 1 | broadcast 9 B 1 ranks, other, 'x'\n");
  for (guint i = 0; i < G_N_ELEMENTS (mistakes); i++) {
    g_autofree char *text = g_strconcat (head, mistakes[i].row, NULL),
                    *message = g_strconcat ("a: byte 62: ", mistakes[i].message, NULL);

    assert_no_trace (text, message);
  }
  assert_no_trace (
      "comm_type,comm_group,comm_group_size,msg_size\n",
      "a: byte 0: needs the columns comm_type, comm_group, comm_group_size, msg_size and _elapsed_time");
  assert_no_trace ("train_iter:10\n",
                   "a: holds times of kernels that AICB puts into a workload; import the workload");
}

/* --- the log of NCCL --- */

#define INFO(rest) "h:12:34 [0] NCCL INFO " rest "\n"
#define OTHER(rest) "h:13:35 [1] NCCL INFO " rest "\n"

/* ncclDataType_t: int8, uint8, int32, uint32, int64, uint64, half, float, double, bfloat16, and two of 8 bits.
 * Counts of gathers and scatters are those of one rank. */
static void
logs_have_calls (G_GNUC_UNUSED void **state)
{
  static const guint bytes[] = { 1, 1, 4, 4, 8, 8, 2, 4, 8, 2, 1, 1, 1 };

  static const char *const lines[] = {
    INFO ("comm 0x1 rank 3 nranks 4 cudaDev 0 - Init COMPLETE"),
    INFO (
        "AllReduce: opCount 0 sendbuff 0x1 recvbuff 0x2 count 10 datatype 7 op 0 root 0 comm 0x1 [nranks=4] "
        "stream 0x3"),
    OTHER ("AllGather: opCount 0 count 10 datatype 9 op 0 root 0 comm 0x1 [nranks=4]"),
    OTHER ("AllGather: opCount 1 count 10 datatype 9 op 0 root 0 comm 0x1"),
    OTHER ("ReduceScatter: opCount 2 count 9223372036854775807 datatype 8 comm 0x1 [nranks=1024]"),
    "a line of nobody\n",
    INFO ("ReduceScatter: opCount 1 count 10 datatype 0 comm 0x1 [nranks=4]"),
    INFO ("Broadcast: opCount 2 count 3 datatype 8 comm 0x1"),
    INFO ("Wait: opCount 3 count 3 datatype 8"),
    INFO ("AllReduce: opCount 3 count 3"),
    OTHER ("x rank 1 nranks 4 Init COMPLETE"),
    OTHER ("x rank 2 nranks 2 Init COMPLETE"),
    NULL,
  };
  g_autofree char *whole = g_strjoinv ("", (char **) lines);

  assert_trace (
      whole,
      "rank 1 of 4\nnode 0 AllGather: comm 0 | all_gather 80 B 4 ranks, other, ''\n"
      "node 1 AllGather: comm 0 after 0 | all_gather 20 B 0 ranks, other, ''\n"
      "node 2 ReduceScatter: comm 0 after 1 | reduce_scatter 1000000000000000000 B 1024 ranks, other, ''\n"
      "rank 3 of 4\nnode 0 AllReduce: comm 0 | all_reduce 40 B 4 ranks, other, ''\n"
      "node 1 ReduceScatter: comm 0 after 0 | reduce_scatter 40 B 4 ranks, other, ''\n"
      "node 2 Broadcast: comm 0 after 1 | broadcast 24 B 0 ranks, other, ''\n");
  for (guint i = 0; i < G_N_ELEMENTS (bytes); i++) {
    g_autofree char *text = g_strdup_printf (INFO ("AllReduce: opCount 0 count 5 datatype %u"), i);
    g_autofree char *expected = g_strdup_printf (
        "rank 0 of 0\nnode 0 AllReduce: comm 0 | all_reduce %u B 0 ranks, other, ''\n", 5 * bytes[i]);

    assert_trace (text, expected);
  }
}

/* Channels with equal rings that follow each other are one sentence. */
static void
logs_have_rings (G_GNUC_UNUSED void **state)
{
  assert_trace (
      INFO ("Channel 00/04 :    0   1   2   3") INFO ("Channel 01/04 :    0   1   2   3")
          INFO ("Channel 02/04 : 0 2 1 3") INFO ("Channel 63/64 : 0 2 1 3") INFO ("Channel 64/64 : 0 2 1 3")
              INFO ("=== System : maxBw 1.0"),
      "rank 0 of 0\na 1 read: The ring of channels 0 to 1 goes through the ranks 0 1 2 3\n"
      "a 3 read: The ring of channel 2 goes through the ranks 0 2 1 3\n"
      "a 4 read: The ring of channel 63 goes through the ranks 0 2 1 3\n"
      "a 0 read: NCCL has 65 channels\n"
      "a 0 left out: The tree of the machine (=== System) is left out: `fabricast import` reads it\n");
}

/* Calls and rings stand in one log. */
static void
logs_have_calls_and_rings (G_GNUC_UNUSED void **state)
{
  assert_trace (
      INFO ("AllReduce: opCount 0 count 5 datatype 7") INFO ("Channel 00/01 : 0 1") INFO ("=== System : x"),
      "rank 0 of 0\nnode 0 AllReduce: comm 0 | all_reduce 20 B 0 ranks, other, ''\n"
      "a 2 read: The ring of channel 0 goes through the ranks 0 1\na 0 read: NCCL has 1 channels\n"
      "a 0 left out: The tree of the machine (=== System) is left out: `fabricast import` reads it\n");
}

/* A ring of many ranks is cut. */
static void
long_rings_are_cut (G_GNUC_UNUSED void **state)
{
  enum { MOST = 320 };

  for (guint n = MOST / 4 - 1; n <= MOST / 4 + 1; n++) {
    g_autoptr (GString) text = g_string_new ("h:12:34 [0] NCCL INFO Channel 00/01 :"),
                        ring = g_string_new (NULL);

    for (guint i = 0; i < n; i++) {
      g_string_append (text, " 100");
      if (4 * i < MOST)
        g_string_append (ring, " 100");
    }
    g_string_append_c (text, '\n');
    g_autofree char *wanted = g_strdup_printf (
        "rank 0 of 0\na 1 read: The ring of channel 0 goes through the ranks%s%s\n"
        "a 0 read: NCCL has 1 channels\n",
        ring->str, 4 * n > MOST ? " ..." : "");
    assert_trace (text->str, wanted);
  }
}

static void
logs_have_choices (G_GNUC_UNUSED void **state)
{
  static const char text[] = INFO ("comm 0x1 rank 0 nranks 4 - Init COMPLETE")
      INFO ("AllReduce: 4000 Bytes -> Algo RING proto LL128 channel{Lo..Hi}={0..15}")
          INFO ("AllReduce: 4000 Bytes -> Algo RING proto LL128 channel{Lo..Hi}={0..15}")
              INFO ("AllGather: 100 Bytes -> Algo 1 proto 2 time 12.5")
                  INFO ("ReduceScatter: 100 Bytes -> Algo 0 proto 0 time 12.5")
                      INFO ("8 Bytes -> Algo 6 proto 1 time 123.4")
                          INFO ("Wait: 4000 Bytes -> Algo RING proto LL")
                              INFO ("AllReduce: 4000 Bytes -> Algo RING")
                                  INFO ("Broadcast: 5 Bytes -> Algo 7 proto 3 channel{Lo..Hi}={3..2}")
                                      INFO ("Broadcast: 6 Bytes -> Algo 5 proto x channel{Lo..Hi}={3..3}");
  static const char *const texts[] = { text, NULL };
  static const FabTraceChoice expected[] = { { "all_reduce", 4000, "ring", "ll128", 16, 2 },
                                             { "all_gather", 400, "ring", "simple", 0, 1 },
                                             { "reduce_scatter", 400, "tree", "ll", 0, 1 },
                                             { "", 8, "pat", "ll128", 0, 1 },
                                             { "broadcast", 5, "7", "3", 0, 1 },
                                             { "broadcast", 6, "nvls_tree", "x", 1, 1 } };
  g_autoptr (FabTrace) trace = read_traces (texts, NULL);

  assert_int_equal (trace->choices->len, G_N_ELEMENTS (expected));
  for (guint i = 0; i < G_N_ELEMENTS (expected); i++) {
    const FabTraceChoice *choice = &g_array_index (trace->choices, FabTraceChoice, i);

    assert_string_equal (choice->op, expected[i].op);
    assert_int_equal (choice->bytes, expected[i].bytes);
    assert_string_equal (choice->algorithm, expected[i].algorithm);
    assert_string_equal (choice->protocol, expected[i].protocol);
    assert_int_equal (choice->n_channels, expected[i].n_channels);
    assert_int_equal (choice->n_times, expected[i].n_times);
  }
}

static void
logs_without_calls_are_refused (G_GNUC_UNUSED void **state)
{
  assert_no_trace (INFO ("NCCL version 2.19"),
                   "a: byte 40: the log holds no collectives, which NCCL prints with NCCL_DEBUG_SUBSYS=COLL");
  assert_no_trace (INFO ("=== System : maxBw"),
                   "a: byte 41: the log holds no collectives, which NCCL prints with NCCL_DEBUG_SUBSYS=COLL; "
                   "`fabricast import` reads the tree of the machine in it");
}

/* --- what plugins of NCCL's profiler write --- */

#define RECORD(host, pid, comm, rank, n, op, number, bytes, us)                    \
  "{\"header\": {\"id\": \"" comm "\", \"rank\": " rank ", \"n_ranks\": " n        \
  "}, \"metadata\": {\"inspector_output_format_version\": \"v4.0\", "              \
  "\"hostname\": \"" host "\", \"pid\": " pid "}, \"coll_perf\": {\"coll\": \"" op \
  "\", \"coll_sn\": " number ", "                                                  \
  "\"coll_msg_size_bytes\": " bytes ", \"coll_exec_time_us\": " us "}}\n"

/* A collective ends on all ranks at once, one second after the one before it. A process is one rank, whatever its
 * rank is in smaller communicators; another process of the host is another one. */
static void
the_inspector_has_lengths (G_GNUC_UNUSED void **state)
{
  static const char text[] = RECORD ("h", "7", "0xa", "1", "4", "AllReduce", "0", "100", "5")
      RECORD ("h", "7", "0xb", "0", "2", "AllGather", "4000001", "100", "7") RECORD (
          "h", "8", "0xa", "0", "4", "AllReduce", "0", "100",
          "6") "{\"header\": {\"id\": \"0xa\"}, \"p2p_perf\": {\"rank\": 5}, \"x\": 3}\n" RECORD ("g", "7",
                                                                                                  "0xa", "2",
                                                                                                  "4",
                                                                                                  "ReduceScatter",
                                                                                                  "1", "10",
                                                                                                  "0");

  assert_trace (
      text,
      "rank 0 of 4\n999994000000-1000000000000 AllReduce: comm, stream 0, step -1 | all_reduce 100 B 4 ranks, "
      "other, '0xa 0'\n"
      "rank 1 of 4\n999995000000-1000000000000 AllReduce: comm, stream 0, step -1 | all_reduce 100 B 4 ranks, "
      "other, '0xa 0'\n"
      "1999993000000-2000000000000 AllGather: comm, stream 0, step -1 | all_gather 200 B 2 ranks, other, '0xb "
      "4000001'\n"
      "rank 2 of 4\n2000000000000-2000000000000 ReduceScatter: comm, stream 0, step -1 | reduce_scatter 40 B "
      "4 ranks, other, '0xa 1'\n"
      "a 0 left out: a: 1 messages between two ranks were left out\n"
      "a 0 inferred: rank 2 has no collective in common with rank 0, so their clocks count as equal\n");
  const char *const texts[] = { text, NULL };
  g_autoptr (FabTrace) trace = read_traces (texts, NULL);
  assert_true (trace->has_only_lengths);
}

static void
mistakes_of_the_inspector_are_told (G_GNUC_UNUSED void **state)
{
  static const struct {
    const char *text, *message;
  } rows[] = {
    { RECORD ("h", "7", "0xa", "-1", "4", "AllReduce", "0", "100", "5"),
      "the rank of a collective is missing or impossible" },
    { RECORD ("h", "7", "0xa", "1073741824", "4", "AllReduce", "0", "100", "5"),
      "the rank of a collective is missing or impossible" },
    { RECORD ("h", "7", "0xa", "0", "1073741824", "AllReduce", "0", "100", "5"),
      "the rank of a collective is missing or impossible" },
    { RECORD ("h", "7", "0xa", "0", "4", "Wait", "0", "100", "5"),
      "the operation of a collective is not known, or its size is missing" },
    { RECORD ("h", "7", "0xa", "0", "4", "AllReduce", "0", "-1", "5"),
      "the operation of a collective is not known, or its size is missing" },
    { RECORD ("h", "7", "0xa", "0", "4", "AllReduce", "-1", "100", "5"),
      "the number of a collective is missing, or its length in us" },
    { RECORD ("h", "7", "0xa", "0", "4", "AllReduce", "0", "100", "-1"),
      "the number of a collective is missing, or its length in us" },
    { RECORD ("h", "7", "0xa", "0", "4", "AllReduce", "0", "100", "1000000000001"),
      "the number of a collective is missing, or its length in us" },
    { RECORD ("h", "7", "0xa", "0", "4", "AllReduce", "0", "100", "1") "[]",
      "a collective is not an object" },
    { "{\"inspector_output_format_version\": \"v4.0\", \"p2p_perf\": 1}",
      "a: has no collective that NCCL's profiler recorded" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    assert_mistake (rows[i].text, rows[i].message);
}

#define BEGIN(ts, name, pid, rank, count, type)                                                        \
  "{\"name\": \"" name "\", \"cat\": \"COLL\", \"ph\": \"b\", \"pid\": " pid ", \"ts\": " ts           \
  ", \"args\": {\"CommHash\": \"77\", \"Rank\": " rank ", \"Count\": " count ", \"Datatype\": \"" type \
  "\", \"Algorithm\": \"RING\"}}"
#define END(ts) "{\"name\": \"x\", \"cat\": \"COLL\", \"ph\": \"e\", \"ts\": " ts "}"
#define GPU(ts) "{\"name\": \"KernelCh\", \"cat\": \"GPU\", \"ph\": \"b\", \"ts\": " ts "}"

/* A collective lasts from its first to its last event of a kernel, or from begin to end. Ranks 0 to 2 of the
 * communicator are here, and so it has three. */
static void
the_example_profiler_has_times (G_GNUC_UNUSED void **state)
{
  g_autofree char *all = g_strjoin (",", "{\"cat\": \"GROUP\", \"args\": 5}", GPU ("1"),
                                    BEGIN ("10.5", "AllReduce", "5", "0", "100", "ncclFloat32"), END ("20"),
                                    BEGIN ("30", "AllGather", "5", "0", "10", "ncclBfloat16"), GPU ("32"),
                                    GPU ("31.25"), GPU ("39"), GPU ("33"), END ("45"), END ("46"),
                                    "{\"cat\": \"P2P\", \"ph\": \"b\"}", "{\"cat\": \"P2P\", \"ph\": \"e\"}",
                                    BEGIN ("10", "AllReduce", "6", "2", "100", "ncclFloat32"), END ("21"),
                                    BEGIN ("10", "AllReduce", "7", "1", "100", "ncclFloat32"), END ("22"),
                                    NULL);
  g_autofree char *text = g_strdup_printf ("[%s]", all);

  assert_trace (
      text,
      "rank 0 of 0\n10500000-20000000 AllReduce: comm, stream 0, step -1 | all_reduce 400 B 3 ranks, other, '77'\n"
      "31250000-39000000 AllGather: comm, stream 0, step -1 | all_gather 60 B 3 ranks, other, '77'\n"
      "rank 1 of 0\n10000000-22000000 AllReduce: comm, stream 0, step -1 | all_reduce 400 B 3 ranks, other, '77'\n"
      "rank 2 of 0\n10000000-21000000 AllReduce: comm, stream 0, step -1 | all_reduce 400 B 3 ranks, other, '77'\n"
      "a 0 left out: a: 1 messages between two ranks were left out\n");
  /* rank 1 is missing: how many there are is not known */
  assert_trace (
      "[" BEGIN ("10", "AllReduce", "6", "2", "100", "ncclFloat32") "," END (
          "21") "," BEGIN ("10", "AllReduce", "5", "0", "100", "ncclFloat32") "," END ("21") "]",
      "rank 0 of 0\n10000000-21000000 AllReduce: comm, stream 0, step -1 | all_reduce 400 B 0 ranks, other, '77'\n"
      "rank 2 of 0\n10000000-21000000 AllReduce: comm, stream 0, step -1 | all_reduce 400 B 0 ranks, other, '77'\n");
}

static void
mistakes_of_the_example_profiler_are_told (G_GNUC_UNUSED void **state)
{
  static const struct {
    const char *text, *message;
  } rows[] = {
    { "[" BEGIN ("x", "AllReduce", "5", "0", "1", "ncclFloat32") "]", "a bracket is missing" },
    { "[" BEGIN ("\"x\"", "AllReduce", "5", "0", "1", "ncclFloat32") "]",
      "an event has no ts in microseconds" },
    { "[" BEGIN ("1000000000001", "AllReduce", "5", "0", "1", "ncclFloat32") "]",
      "an event has no ts in microseconds" },
    { "[" BEGIN ("10", "AllReduce", "5", "0", "1", "ncclFloat32") "," END ("9") "]",
      "a collective ends before it begins" },
    { "[" BEGIN ("10", "AllReduce", "5", "0", "1", "strange") "," END ("11") "]",
      "the operation of a collective is not known, or its size is missing" },
    { "[" BEGIN ("10", "AllReduce", "5", "0", "-1", "ncclFloat32") "," END ("11") "]",
      "the operation of a collective is not known, or its size is missing" },
    { "[{\"cat\": \"PROXY\"}]", "a: has no collective that NCCL's profiler recorded" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    const char *const texts[] = { rows[i].text, NULL };
    g_autoptr (GError) error = NULL;

    assert_null (read_traces (texts, &error));
    if (i > 0 && !g_str_has_suffix (error->message, rows[i].message))
      fail_msg ("%s", error->message);
  }
}

/* --- graphs in JSON --- */

/* Types of Chakra: 2 and 3 memory, 4 compute, 5 send, 6 receive, 7 collective. */
static void
graphs_in_json_have_nodes (G_GNUC_UNUSED void **state)
{
  assert_trace (
      "{\"workload_graph\": [{\"Id\": 3, \"Name\": \"a\", \"NodeType\": 2, \"runtime\": 5, \"ctrlDeps\": [1, "
      "2]}, {\"id\": 4, \"name\": \"b\", "
      "\"NodeType\": 3, \"data_deps\": []}, {\"id\": 5, \"name\": \"c\", \"NodeType\": 4, \"runtime\": -5, "
      "\"ctrl_deps\": 7}, {\"id\": 6, \"name\": "
      "\"SEND\", \"NodeType\": 5, \"comm_size\": 9, \"parent\": 0}, {\"id\": 7, \"name\": \"x\", "
      "\"NodeType\": 6, \"comm_size\": -9}, {\"id\": 8, "
      "\"name\": \"AllReduce\", \"NodeType\": 7, \"comm_size\": 11, \"other\": [1]}, {\"id\": 0, \"name\": 5, "
      "\"NodeType\": 8, \"parent\": null, \"ctrl_deps\": {\"x\": 1}}]}",
      "rank 0 of 0\nnode 3 a: copy 5000000 after 1,2\nnode 4 b: copy 0\nnode 5 c: compute 0 after 7\n"
      "node 6 SEND: comm 0 after 0 | send_recv 9 B 0 ranks, other, ''\nnode 7 x: comm 0 | send_recv 0 B 0 "
      "ranks, other, ''\n"
      "node 8 AllReduce: comm 0 | all_reduce 11 B 0 ranks, other, ''\nnode 0 : compute 0\n");
}

static void
mistakes_of_graphs_are_told (G_GNUC_UNUSED void **state)
{
  static const struct {
    const char *text, *message;
  } rows[] = {
    { "{\"nodes\": 5}", "`nodes` is not a list" },
    { "{\"nodes\": [5]}", "a node is not an object" },
    { "{\"nodes\": [{}]}", "a node has no id" },
    { "{\"nodes\": [{\"id\": -1}]}", "a node has no id" },
    { "{\"nodes\": [{\"id\": 1, \"ctrl_deps\": [-1]}]}", "a dependency is not the id of a node" },
    { "{\"nodes\": [{\"id\": 1, \"ctrl_deps\": [\"x\"]}]}", "a dependency is not the id of a node" },
    { "{\"nodes\": [{\"id\": 1, \"attrs\": [5]}]}", "an attribute is not an object" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    assert_mistake (rows[i].text, rows[i].message);
}

#define PARAMS(id, inputs, outputs, attributes)                                                      \
  "{\"id\": " id ", \"name\": \"record_param_comms\", \"inputs\": " inputs ", \"outputs\": " outputs \
  ", \"attrs\": " attributes "}"
#define TENSOR(elements, bytes) "[9, 8, 0, " elements ", " bytes ", \"cuda:0\"]"

/* A tensor is [id, storage, offset, elements, bytes of an element, device]; attributes count before tensors. A
 * barrier reduces four bytes, and a wait moves nothing. */
static void
execution_traces_have_collectives (G_GNUC_UNUSED void **state)
{
  static const struct {
    const char *node, *told;
  } rows[] = {
    { PARAMS ("1", "[[" TENSOR ("10", "4") "], 5, \"dp\", 3, \"allreduce\", [], []]", "[]", "[]"),
      "rank 3 of 0\n|all_reduce 40 B 0 ranks, other, ''" },
    { PARAMS ("1",
              "{\"values\": [[" TENSOR ("10", "4") ", " TENSOR (
                  "2", "8") "], 5, 0, 0, \"_allgather_base\"], \"shapes\": []}",
              "{\"shapes\": [], \"values\": [" TENSOR ("100", "2") "]}", "[]"),
      "rank 0 of 0\n|all_gather 200 B 0 ranks, other, ''" },
    { PARAMS (
          "1", "[[" TENSOR ("10", "4") "], 1, \"reduce_scatter\"]", "[" TENSOR ("5", "4") "]",
          "[{\"name\": \"collective_name\", \"value\": \"reduce_scatter\"}, {\"name\": \"dtype\", \"type\": "
          "\"string\", \"value\": \"BFloat16\"}, {\"name\": "
          "\"in_msg_nelems\", \"value\": 7}, {\"name\": \"out_msg_nelems\", \"value\": 3}, {\"name\": "
          "\"pg_size\", \"value\": 8}, {\"name\": \"pg_name\", "
          "\"value\": \"4\"}, {\"name\": \"pg_desc\", \"value\": \"tp_group\"}]"),
      "rank 1 of 0\n|reduce_scatter 14 B 8 ranks, tensor, '4'" },
    { PARAMS ("1", "[[" TENSOR ("10", "4") "], 1, \"barrier\"]", "[]", "[]"),
      "rank 1 of 0\n|all_reduce 4 B 0 ranks, other, ''" },
    { PARAMS ("1", "[[" TENSOR ("10", "4") "], 1, \"wait\"]", "[]", "[]"), "rank 0 of 0\n|" },
    { PARAMS ("1",
              "[[" TENSOR ("-10", "4") "," TENSOR ("10", "-4") "," TENSOR (
                  "3", "2") "], 1.5, \"allreduce\", 9, \"broadcast\"]",
              "[]", "[{\"name\": \"in_msg_nelems\", \"value\": -7}, {\"name\": \"pg_size\", \"value\": -7}]"),
      "rank 0 of 0\n|all_reduce 6 B 0 ranks, other, ''" },
    { PARAMS ("1", "[[[1, 2, 3, 4, 5, 6, \"cuda\"], [1, 2, 3, 4, \"cuda\"]], 2, \"allreduce\"]", "[]", "[]"),
      "rank 2 of 0\n|all_reduce 0 B 0 ranks, other, ''" },
    { "{\"id\": 1, \"name\": \"other\", \"inputs\": [1, \"allreduce\"]}", "rank 0 of 0\n|" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autofree char *text = g_strdup_printf ("{\"schema\": \"1.1\", \"nodes\": [%s]}", rows[i].node);
    g_auto (GStrv) parts = g_strsplit (rows[i].told, "|", 2);
    gboolean is_comm = parts[1][0] != '\0';
    g_autofree char *expected = g_strdup_printf (
        "%snode 1 %s: %s 0%s%s\n", parts[0], i + 1 == G_N_ELEMENTS (rows) ? "other" : "record_param_comms",
        is_comm ? "comm" : "compute", is_comm ? " | " : "", parts[1]);

    assert_trace (text, expected);
  }
}

/* The first call that says its rank counts, also where that is 0. */
static void
execution_traces_say_their_rank_once (G_GNUC_UNUSED void **state)
{
  static const char *const texts[] = {
    "{\"nodes\": [" PARAMS ("1", "[[" TENSOR ("1", "4") "], 0, \"allreduce\"]", "[]", "[]") "," PARAMS (
        "2", "[[" TENSOR ("1", "4") "], 3, \"allreduce\"]", "[]", "[]") "]}",
    "{\"nodes\": [" PARAMS ("1", "[[" TENSOR ("1", "4") "], 3, \"allreduce\"]", "[]", "[]") "]}", NULL
  };
  g_autoptr (FabTrace) trace = read_traces (texts, NULL);

  assert_int_equal (((const FabTracedRank *) g_ptr_array_index (trace->ranks, 0))->nodes->len, 2);
  assert_int_equal (((const FabTracedRank *) g_ptr_array_index (trace->ranks, 1))->rank, 3);
}

/* --- a profile and the execution traces of its ranks --- */

#define STEP(n, ts)                                                                             \
  "{\"ph\": \"X\", \"cat\": \"user_annotation\", \"name\": \"ProfilerStep#" n "\", \"ts\": " ts \
  ", \"dur\": 100},"
#define RAN(name, ts, launch)                                                \
  "{\"ph\": \"X\", \"cat\": \"cuda_runtime\", \"name\": \"l\", \"ts\": " ts  \
  ", \"dur\": 1, \"args\": {\"correlation\": " launch "}},"                  \
  "{\"ph\": \"X\", \"cat\": \"kernel\", \"name\": \"" name "\", \"ts\": " ts \
  ", \"dur\": 5, \"args\": {\"stream\": 7, \"correlation\": " launch "}}"
#define CALLED(id, rank, name, elements) \
  PARAMS (id, "[[" TENSOR (elements, "4") "], " rank ", \"" name "\"]", "[]", "[]")

/* A step whose collectives are those of the execution trace, in this order, has their sizes; another one has none.
 * */
static void
execution_traces_give_sizes (G_GNUC_UNUSED void **state)
{
  static const char *const texts[] = {
    "{\"distributedInfo\": {\"rank\": 5}, \"traceEvents\": [" STEP ("0", "0") STEP ("1", "100")
        STEP ("2", "200") RAN ("ncclAllReduce", "10", "1") "," RAN ("ncclSendRecv", "20", "2") "," RAN (
            "ncclAllReduce", "110", "3") "," RAN ("ncclAllReduce", "210", "4") "," RAN ("ncclAllGather",
                                                                                        "220", "5") "]}",
    "{\"nodes\": [" CALLED ("9", "1", "all_to_all", "20") "," CALLED ("4", "1", "allreduce", "10") "]}", NULL
  };
  g_autoptr (GError) error = NULL;
  g_autoptr (FabTrace) trace = read_traces (texts, &error);
  g_autofree char *told = trace_told (trace);

  assert_string_equal (
      told, "rank 5 of 0\nstep 0: 0-100000000\nstep 1: 100000000-200000000\nstep 2: 200000000-300000000\n"
            "10000000-15000000 ncclAllReduce: comm, stream 7, step 0 | all_reduce 40 B 0 ranks, other, ''\n"
            "20000000-25000000 ncclSendRecv: comm, stream 7, step 0 | all_to_all 80 B 0 ranks, other, ''\n"
            "110000000-115000000 ncclAllReduce: comm, stream 7, step 1 | all_reduce 0 B 0 ranks, other, ''\n"
            "210000000-215000000 ncclAllReduce: comm, stream 7, step 2 | all_reduce 0 B 0 ranks, other, ''\n"
            "220000000-225000000 ncclAllGather: comm, stream 7, step 2 | all_gather 0 B 0 ranks, other, ''\n"
            "- 0 read: Execution traces gave sizes to 2 collectives of 1 ranks\n");
}

static void
execution_traces_are_of_their_rank (G_GNUC_UNUSED void **state)
{
#define PROFILE(rank) \
  "{\"distributedInfo\": {\"rank\": " rank "}, \"traceEvents\": [" RAN ("ncclAllReduce", "10", "1") "]}"
  static const char *const texts[] = { PROFILE ("0"),
                                       PROFILE ("1"),
                                       "{\"nodes\": [" CALLED ("1", "1", "allreduce", "10") "]}",
                                       "{\"nodes\": [" CALLED ("1", "0", "allreduce", "20") "]}",
                                       "{\"nodes\": [" CALLED ("1", "4", "allreduce", "20") "]}",
                                       NULL };
  static const char *const doubtful[] = { PROFILE ("0"), PROFILE ("1"),
                                          "{\"nodes\": [" CALLED ("1", "1", "allreduce", "10") "]}",
                                          "{\"nodes\": [" CALLED ("1", "1", "allreduce", "20") "]}", NULL };
  g_autoptr (FabTrace) trace = read_traces (texts, NULL), unsure = read_traces (doubtful, NULL);
  g_autofree char *told = trace_told (trace), *of_unsure = trace_told (unsure);

  assert_string_equal (
      told,
      "rank 0 of 0\n0-5000000 ncclAllReduce: comm, stream 7, step -1 | all_reduce 80 B 0 ranks, other, ''\n"
      "rank 1 of 0\n0-5000000 ncclAllReduce: comm, stream 7, step -1 | all_reduce 40 B 0 ranks, other, ''\n"
      "- 0 read: Execution traces gave sizes to 2 collectives of 2 ranks\n"
      "- 0 left out: 1 execution traces gave none: there is no profile of their rank, its collectives have "
      "sizes, or they are other ones "
      "than those of a step\n");
  assert_non_null (strstr (
      of_unsure, "gave sizes to 0 collectives of 0 ranks\n- 0 left out: 2 execution traces gave none"));
}

/* --- which trace it is --- */

static void
traces_are_known_by_their_marks (G_GNUC_UNUSED void **state)
{
  static const struct {
    const char *text, *format; /* NULL: none */
  } cases[] = {
    { "num_ranks 2", "GOAL" },
    { "h:1:2 [0] NCCL INFO x", "NCCL log" },
    { "NCCL INFO", NULL },
    { "comm_type,x", "AICB's table of a run" },
    { "x comm_type,", NULL },
    { "train_iter: 5", "AIOB" },
    { "{\"inspector_output_format_version\"", "NCCL inspector" },
    { "x inspector_output_format_version", NULL },
    { "[{\"cat\": \"GROUP\"", "NCCL profiler" },
    { "[{\"cat\": \"PROXY\"", "NCCL profiler" },
    { "[{\"cat\": \"COLL\"", "NCCL profiler" },
    { "[{\"cat\": \"X\"", "json" },
    { "HYBRID_TRANSFORMER", "SimAI workload" },
    { "DATA", "SimAI workload" },
    { "MODEL", "SimAI workload" },
    { "MICRO", "SimAI workload" },
    { "x HYBRID_ DATA MODEL MICRO", NULL },
    { "x \"GROUP\" \"PROXY\" \"COLL\"", NULL },
    { "{\"a\": 1}", "json" },
    { "SQLite format 3", "Nsight Systems" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    const FabFileFormat *format = fab_file_format_of_bytes (FAB_FILE_TRACE, "x", cases[i].text,
                                                            strlen (cases[i].text));

    if (g_strcmp0 (format != NULL ? format->name : NULL, cases[i].format) != 0)
      fail_msg ("%s: %s", cases[i].text, format != NULL ? format->name : "none");
  }
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (goal_has_work_and_what_it_requires),
    cmocka_unit_test (mistakes_of_goal_are_told),
    cmocka_unit_test (simai_goes_forward_and_back),
    cmocka_unit_test (mistakes_of_simai_are_told),
    cmocka_unit_test (aicb_has_a_row_for_each_collective),
    cmocka_unit_test (logs_have_calls),
    cmocka_unit_test (logs_have_rings),
    cmocka_unit_test (logs_have_calls_and_rings),
    cmocka_unit_test (long_rings_are_cut),
    cmocka_unit_test (logs_have_choices),
    cmocka_unit_test (logs_without_calls_are_refused),
    cmocka_unit_test (the_inspector_has_lengths),
    cmocka_unit_test (mistakes_of_the_inspector_are_told),
    cmocka_unit_test (the_example_profiler_has_times),
    cmocka_unit_test (mistakes_of_the_example_profiler_are_told),
    cmocka_unit_test (graphs_in_json_have_nodes),
    cmocka_unit_test (mistakes_of_graphs_are_told),
    cmocka_unit_test (execution_traces_have_collectives),
    cmocka_unit_test (execution_traces_say_their_rank_once),
    cmocka_unit_test (execution_traces_give_sizes),
    cmocka_unit_test (execution_traces_are_of_their_rank),
    cmocka_unit_test (traces_are_known_by_their_marks),
  };

  return cmocka_run_group_tests (tests, NULL, NULL);
}
