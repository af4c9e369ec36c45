/* SPDX-License-Identifier: Apache-2.0 */
/* test_kineto.c - what PyTorch's profiler writes: kernels, steps, sizes of collectives and shapes of products. */
#include "tests/unit/formats/trace/told.h"

#include "formats/trace/reading.h"

#define EVENT(category, name, tid, ts, dur, args)                                                \
  "{\"ph\": \"X\", \"cat\": \"" category "\", \"name\": \"" name "\", \"pid\": 0, \"tid\": " tid \
  ", \"ts\": " ts ", \"dur\": " dur ", \"args\": {" args "}}"
#define KERNEL(name, stream, ts, dur, launch, args) \
  EVENT ("kernel", name, "0", ts, dur, "\"stream\": " stream ", \"correlation\": " launch args)
#define LAUNCH(ts, launch) \
  EVENT ("cuda_runtime", "cudaLaunchKernel", "9", ts, "1", "\"correlation\": " launch)

/* Two steps of the host. The kernel of launch 11 runs when the host is in the next step; that without a launch ran
 * after it on its stream; that of stream 7 before any launch was launched before the recording. */
static void
kernels_are_of_the_step_that_launched_them (G_GNUC_UNUSED void **state)
{
  g_autofree char *text = g_strconcat (
      "{\"schemaVersion\": 1, \"deviceProperties\": [{\"id\": 0, \"name\": \"NVIDIA H100\", "
      "\"totalGlobalMem\": 5}, {\"id\": 1}],\n",
      "\"distributedInfo\": {\"backend\": \"nccl\", \"rank\": 3, \"world_size\": 8},\n",
      "\"traceEvents\": [{\"ph\": \"M\", \"name\": \"process_name\", \"pid\": 0},\n",
      EVENT ("user_annotation", "ProfilerStep#4", "9", "1000", "100", "\"External id\": 5"), ",\n",
      EVENT ("gpu_user_annotation", "ProfilerStep#4", "7", "1", "900", ""), ",\n",
      EVENT ("user_annotation", "ProfilerStep#5", "9", "1100", "100.5", ""), ",\n",
      EVENT ("user_annotation", "ProfilerStep#x", "9", "1100", "100.5", ""), ",\n", LAUNCH ("1010", "10"),
      ",", LAUNCH ("1090.25", "11"), ",", LAUNCH ("1150", "12"), ",\n",
      KERNEL ("before", "7", "1005", "2.000001", "3", ""), ",",
      KERNEL ("gemm", "7", "1020.5", "10", "10", ""), ",\n", KERNEL ("late", "7", "1130", "5", "11", ""), ",",
      KERNEL ("after", "7", "1140", "5", "99", ""), ",\n",
      EVENT ("gpu_memcpy", "Memcpy HtoD", "8", "1160", "3", "\"stream\": 20, \"correlation\": 12"), ",\n",
      KERNEL ("Memset (Device)", "20", "1170", "3", "12", ""), "], \"baseTimeNanoseconds\": 5000}", NULL);

  assert_trace (
      text,
      "rank 3 of 8\n"
      "step 4: 0-100000000\nstep 5: 100000000-200500000\n"
      "5000000-7000001 before: compute, stream 7, step -1\n"
      "20500000-30500000 gemm: compute, stream 7, step 0\n"
      "130000000-135000000 late: compute, stream 7, step 0\n"
      "140000000-145000000 after: compute, stream 7, step 0\n"
      "160000000-163000000 Memcpy HtoD: copy, stream 20, step 1\n"
      "170000000-173000000 Memset (Device): copy, stream 20, step 1\n"
      "a 0 left out: a: 1 operation ran before the first one of its stream whose launch was recorded, so that "
      "the host "
      "launched it before the recording began, and no step here has it\n");
}

#define KINETO(events) "{\"traceEvents\": [" events "]}"
#define NCCL(name, args) KERNEL (name, "1", "5", "5", "1", args)

/* The args of saveNcclMeta. Sizes are by the convention of nccl-tests: of a gather what each rank gets. */
static void
args_of_kernels_are_collectives (G_GNUC_UNUSED void **state)
{
  static const struct {
    const char *name, *args, *told;
  } rows[] = {
    { "ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevComm*, unsigned long)",
      ", \"Collective name\": \"allreduce\", \"In msg nelems\": 100, \"Out msg nelems\": 100, \"Group size\": "
      "8, \"dtype\": \"Float\", "
      "\"Process Group Name\": \"3\", \"Process Group Description\": \"dp_group\", \"Process Group Ranks\": "
      "\"[0, 1, ...]\"",
      "ncclDevKernel_AllReduce_Sum_f32_RING_LL: comm, stream 1, step -1 | all_reduce 400 B 8 ranks, data, '3 "
      "[0, 1, ...]'" },
    { "ncclDevKernel_Generic",
      ", \"Collective name\": \"_allgather_base\", \"In msg nelems\": 10, \"Out msg nelems\": 40, \"dtype\": "
      "\"BFloat16\", "
      "\"Process Group Name\": \"tp_0\"",
      "ncclDevKernel_Generic: comm, stream 1, step -1 | all_gather 80 B 0 ranks, tensor, 'tp_0'" },
    { "ncclDevKernel_ReduceScatter",
      ", \"In msg nelems\": 40, \"Out msg nelems\": 10, \"dtype\": \"Half\", \"Process Group Description\": \"x\", "
      "\"Process Group Name\": \"pp_1\"",
      "ncclDevKernel_ReduceScatter: comm, stream 1, step -1 | reduce_scatter 80 B 0 ranks, pipeline, 'pp_1'" },
    { "rcclGenericKernel<1>(x)",
      ", \"Group size\": -5, \"In msg nelems\": -3, \"Out msg nelems\": 7, \"dtype\": \"Byte\", \"Process "
      "Group Ranks\": \"[0]\"",
      "rcclGenericKernel<1>: comm, stream 1, step -1 | send_recv 7 B 0 ranks, other, '[0]'" },
    { "NCCLKernel_Broadcast",
      ", \"Collective name\": \"strange\", \"In msg nelems\": \"6\", \"dtype\": \"Unknown\"",
      "NCCLKernel_Broadcast: comm, stream 1, step -1 | broadcast 0 B 0 ranks, other, ''" },
    { "my_nccl", "", "my_nccl: compute, stream 1, step -1" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autofree char *text = g_strdup_printf (KINETO (KERNEL ("%s", "1", "5", "5", "1", "%s")), rows[i].name,
                                             rows[i].args);
    g_autofree char *expected = g_strdup_printf ("rank 0 of 0\n0-5000000 %s\n", rows[i].told);

    assert_trace (text, expected);
  }
}

/* What one event says is forgotten in the next. */
static void
events_are_by_themselves (G_GNUC_UNUSED void **state)
{
  assert_trace (
      KINETO (KERNEL (
          "ncclA", "7", "5", "5", "1",
          ", \"Collective name\": \"allreduce\", \"In msg nelems\": 1, \"Out msg nelems\": 1, \"Group size\": "
          "8, \"dtype\": "
          "\"Float\", \"Process Group Name\": \"3\", \"Process Group Description\": \"dp_group\", \"Process "
          "Group Ranks\": "
          "\"[0]\"") ","
                     "{\"ph\": \"X\", \"cat\": \"kernel\", \"name\": \"ncclB\", \"ts\": 6, \"dur\": 5}, "
                     "{\"name\": \"x\"}"),
      "rank 0 of 0\n0-5000000 ncclA: comm, stream 7, step -1 | all_reduce 4 B 8 ranks, data, '3 [0]'\n"
      "1000000-6000000 ncclB: comm, stream 0, step -1 | send_recv 0 B 0 ranks, other, ''\n");
}

/* Categories as PyTorch, ROCm and old files write them; a name counts where a category does not say that it is a
 * copy. Streams that are missing are the thread. */
static void
categories_say_what_an_event_is (G_GNUC_UNUSED void **state)
{
  static const struct {
    const char *category, *told;
  } rows[] = { { "kernel", "x: compute, stream 4" },
               { "Kernel", "x: compute, stream 4" },
               { "gpu_memcpy", "x: copy, stream 4" },
               { "gpu_memset", "x: copy, stream 4" },
               { "Memcpy", "x: copy, stream 4" },
               { "Memset", "x: copy, stream 4" },
               { "GPU_MEMCPY", "x: copy, stream 4" },
               { "cpu_op", NULL },
               { "cuda_runtime", NULL } };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autofree char *text = g_strdup_printf (KINETO (EVENT ("%s", "x", "4", "5", "5", "")), rows[i].category);
    g_autofree char *expected = g_strdup_printf ("rank 0 of 0\n0-5000000 %s, step -1\n", rows[i].told);

    if (rows[i].told != NULL)
      assert_trace (text, expected);
    else
      assert_no_trace (text,
                       "a: has events, but none is a kernel of a GPU; record with ProfilerActivity.CUDA");
  }
  assert_trace (KINETO (EVENT ("kernel", "x", "-4", "5", "5", "\"stream\": -1")),
                "rank 0 of 0\n0-5000000 x: compute, stream 0, step -1\n");
  assert_trace (
      KINETO (EVENT ("kernel", "MemcpyAsync", "4", "5", "5", "") "," EVENT ("kernel", "Memset", "4", "6", "5",
                                                                            "")),
      "rank 0 of 0\n0-5000000 MemcpyAsync: copy, stream 4, step -1\n1000000-6000000 Memset: copy, stream 4, "
      "step -1\n");
}

/* Only calls of a runtime or of a driver launch. */
static void
runtimes_launch (G_GNUC_UNUSED void **state)
{
  static const struct {
    const char *category;
    gboolean is_launch;
  } rows[] = { { "cuda_runtime", TRUE }, { "cuda_driver", TRUE }, { "hip_runtime", TRUE },
               { "xpu_runtime", TRUE },  { "mtia_driver", TRUE }, { "Runtime", TRUE },
               { "HIP", TRUE },          { "cpu_op", FALSE },     { "runtime_x", FALSE },
               { "ac2g", FALSE } };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autofree char *text = g_strdup_printf (
        KINETO (EVENT ("user_annotation", "ProfilerStep#1", "9", "100", "10",
                       "") "," EVENT ("%s", "launch", "9", "105", "1",
                                      "\"correlation\": 0") "," KERNEL ("k", "1", "300", "5", "0", "")),
        rows[i].category);
    g_autofree char *expected = g_strdup_printf (
        "rank 0 of 0\nstep 1: 0-10000000\n200000000-205000000 k: compute, stream 1, step %d\n",
        rows[i].is_launch ? 0 : -1);

    assert_trace (text, expected);
  }
}

#define CALL(name, ts, dur, dims, type) \
  EVENT ("cpu_op", name, "9", ts, dur, "\"Input Dims\": " dims ", \"Input type\": " type)

/* A kernel without a size has that of the call around its launch; a gather of the library gives one rank's share, of
 * 4 ranks here. The operator of PyTorch says output and input, and so the number of ranks too. */
static void
calls_give_sizes (G_GNUC_UNUSED void **state)
{
  static const struct {
    const char *calls, *kernel, *told;
  } rows[] = {
    { CALL ("nccl:all_reduce", "90", "20", "[[2, 3], [4]]", "[\"float\", \"int\"]"), "ncclAllReduce",
      "all_reduce 40 B 0 ranks" },
    { CALL ("nccl:all_reduce", "90", "20", "[[1], [2], [3], [4], [5], [6, 1, 1, 1, 1]]", "[\"float\"]"),
      "ncclAllReduce", "all_reduce 84 B 0 ranks" },
    { CALL ("rccl:all_reduce", "90", "20", "[[2, 3], []]", "[\"\", \"c10::Half\"]"), "ncclAllReduce",
      "all_reduce 12 B 0 ranks" },
    { CALL ("nccl:all_gather", "90", "20", "[[6]]", "[\"float\"]"), "ncclAllGather",
      "all_gather 96 B 0 ranks" },
    { CALL ("nccl:gather", "90", "20", "[[6]]", "[\"float\"]"), "ncclGather", "gather 96 B 0 ranks" },
    { CALL ("nccl:all_to_all", "90", "20", "[[6]]", "[\"float\"]"), "ncclSendRecv",
      "all_to_all 24 B 0 ranks" },
    { CALL ("nccl:all_reduce", "90", "20", "[[6]]", "[\"float\"]"), "ncclAllGather",
      "all_gather 0 B 0 ranks" },
    { CALL ("nccl:all_reduce", "90", "9.9", "[[6]]", "[\"float\"]"), "ncclAllReduce",
      "all_reduce 0 B 0 ranks" },
    { CALL ("nccl:all_reduce", "90", "10", "[[6]]", "[\"float\"]"), "ncclAllReduce",
      "all_reduce 24 B 0 ranks" },
    { CALL ("nccl:all_reduce", "100", "10", "[[6]]", "[\"float\"]"), "ncclAllReduce",
      "all_reduce 24 B 0 ranks" },
    { CALL ("nccl:all_reduce", "101", "10", "[[6]]", "[\"float\"]"), "ncclAllReduce",
      "all_reduce 0 B 0 ranks" },
    { CALL ("nccl:all_reduce", "90", "10", "[[6]]", "[\"strange\"]"), "ncclAllReduce",
      "all_reduce 0 B 0 ranks" },
    { CALL ("nccl:strange", "90", "10", "[[6]]", "[\"float\"]"), "ncclAllReduce", "all_reduce 0 B 0 ranks" },
    { CALL ("nccl:all_reduce", "90", "10", "[[0]]", "[\"float\"]"), "ncclAllReduce",
      "all_reduce 0 B 0 ranks" },
    { CALL ("nccl:all_reduce", "90", "10", "5", "[\"float\"]"), "ncclAllReduce", "all_reduce 0 B 0 ranks" },
    { CALL ("nccl:all_reduce", "80", "40", "[[9]]", "[\"float\"]") "," CALL ("nccl:all_reduce", "90", "20",
                                                                             "[[6]]", "[\"float\"]"),
      "ncclAllReduce", "all_reduce 24 B 0 ranks" },
    { CALL ("c10d::_allgather_base_", "90", "20", "[[24], [6], []]",
            "[\"float\"]") "," CALL ("nccl:all_gather", "91", "18", "[[5]]", "[\"float\"]"),
      "ncclAllGather", "all_gather 96 B 4 ranks" },
    { CALL ("c10d::_reduce_scatter_base_", "90", "20", "[[6], [2, 9]]", "[\"float\"]"), "ncclReduceScatter",
      "reduce_scatter 72 B 3 ranks" },
    { CALL ("c10d::_reduce_scatter_base_", "90", "20", "[[6], [6]]", "[\"float\"]"), "ncclReduceScatter",
      "reduce_scatter 24 B 1 ranks" },
    { CALL ("c10d::_reduce_scatter_base_", "90", "20", "[[6], [20]]", "[\"float\"]"), "ncclReduceScatter",
      "reduce_scatter 80 B 0 ranks" },
    { CALL ("c10d::_reduce_scatter_base_", "90", "20", "[[6]]", "[\"float\"]"), "ncclReduceScatter",
      "reduce_scatter 24 B 0 ranks" },
    { CALL ("c10d::alltoall_base_", "90", "20", "[[12], [6]]", "[\"float\"]"), "ncclSendRecv",
      "all_to_all 48 B 0 ranks" },
    { CALL ("c10d::allreduce_", "90", "20", "[[12], [6]]", "[\"float\"]"), "ncclAllReduce",
      "all_reduce 0 B 0 ranks" },
    { EVENT ("gpu_user_annotation", "nccl:all_reduce", "9", "90", "20",
             "\"Input Dims\": [[6]], \"Input type\": [\"float\"]"),
      "ncclAllReduce", "all_reduce 0 B 0 ranks" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autofree char *text = g_strdup_printf (
        "{\"distributedInfo\": {\"rank\": 0, \"world_size\": 4}, \"traceEvents\": [%s, " LAUNCH (
            "100", "1") "," KERNEL ("%s", "1", "300", "5", "1", "") "]}",
        rows[i].calls, rows[i].kernel);
    const char *const texts[] = { text, NULL };
    g_autoptr (GError) error = NULL;
    g_autoptr (FabTrace) trace = read_traces (texts, &error);

    if (trace == NULL)
      fail_msg ("%s", error->message);
    g_autofree char *told = trace_told (trace);
    if (strstr (told, rows[i].told) == NULL)
      fail_msg ("%u: %s", i, told);
  }
}

/* An operator counts that is at most eight calls back. */
static void
near_calls_are_looked_at (G_GNUC_UNUSED void **state)
{
  for (guint n = 7; n <= 8; n++) {
    g_autoptr (GString) text = g_string_new (
        "{\"traceEvents\": [" CALL ("nccl:all_reduce", "10", "200", "[[6]]", "[\"float\"]"));

    for (guint i = 0; i < n; i++)
      g_string_append_printf (text, "," CALL ("nccl:all_reduce", "%u", "1", "[[5]]", "[\"float\"]"), 20 + i);
    g_string_append (text,
                     "," LAUNCH ("100", "1") "," KERNEL ("ncclAllReduce", "1", "300", "5", "1", "") "]}");
    const char *const texts[] = { text->str, NULL };
    g_autoptr (FabTrace) trace = read_traces (texts, NULL);
    g_autofree char *told = trace_told (trace);
    assert_non_null (strstr (told, n == 7 ? "all_reduce 24 B" : "all_reduce 0 B"));
  }
}

#define OPERATOR(name, dims)              \
  EVENT ("cpu_op", name, "9", "90", "20", \
         "\"External id\": 7, \"Input Dims\": " dims ", \"Input type\": [\"\", \"bf\", \"x\"]")

/* Shapes of aten::mm and others are m, n and k; of attention batch, heads, heads of keys, sequence and size. */
static void
operators_have_shapes (G_GNUC_UNUSED void **state)
{
  static const struct {
    const char *event, *told;
  } rows[] = {
    { OPERATOR ("aten::mm", "[[8, 16], [16, 32]]"), "work 7 product bf: 1 x 8 32 16\n" },
    { OPERATOR ("aten::addmm", "[[32], [8, 16], [16, 32], [], []]"), "work 7 product bf: 1 x 8 32 16\n" },
    { OPERATOR ("aten::bmm", "[[4, 8, 16], [4, 16, 32]]"), "work 7 product bf: 4 x 8 32 16\n" },
    { OPERATOR ("aten::bmm", "[[4, 8, 1], [4, 1, 32]]"), "work 7 product bf: 4 x 8 32 1\n" },
    { OPERATOR ("aten::bmm", "[[4, 8, 16], [5, 16, 32]]"), "" },
    { OPERATOR ("aten::mm", "[[8, 16], [17, 32]]"), "" },
    { OPERATOR ("aten::mm", "[[8, 16]]"), "" },
    { OPERATOR ("aten::mm", "[[8, 16, 0, 0, 16, 32]]"), "" },
    { OPERATOR ("aten::mm", "[[0, 16], [16, 32]]"), "" },
    { OPERATOR ("aten::mm", "[[8, 0], [0, 32]]"), "" },
    { OPERATOR ("aten::mm", "[[8, 16], [16, 0]]"), "" },
    { OPERATOR ("aten::mm", "[[16777216, 16], [16, 32]]"), "work 7 product bf: 1 x 16777216 32 16\n" },
    { OPERATOR ("aten::mm", "[[16777217, 16], [16, 32]]"), "" },
    { OPERATOR ("aten::bmm", "[[16777217, 8, 16], [16777217, 16, 32]]"), "" },
    { OPERATOR ("aten::_scaled_mm", "[[8, 16], [16, 32]]"), "work 7 product bf: 1 x 8 32 16\n" },
    { OPERATOR ("aten::mul", "[[8, 16], [16, 32]]"), "" },
    { OPERATOR ("aten::_cudnn_attention_forward", "[[2, 12, 512, 64], [2, 4, 512, 64]]"),
      "work 7 attention bf: 1 x 2 12 4 512 64\n" },
    { OPERATOR ("aten::_scaled_dot_product_cudnn_attention", "[[2, 12, 512, 64], [2, 4, 512, 64]]"),
      "work 7 attention bf: 1 x 2 12 4 512 64\n" },
    { OPERATOR ("aten::_cudnn_attention_backward", "[[1], [2, 12, 512, 64], [2, 4, 512, 64]]"),
      "work 7 attention back bf: 1 x 2 12 4 512 64\n" },
    { OPERATOR ("aten::_scaled_dot_product_cudnn_attention_backward",
                "[[1], [2, 12, 512, 64], [2, 4, 512, 64]]"),
      "work 7 attention back bf: 1 x 2 12 4 512 64\n" },
    { OPERATOR ("aten::_flash_attention_forward", "[[2, 512, 12, 64], [2, 512, 4, 64]]"),
      "work 7 attention bf: 1 x 2 12 4 512 64\n" },
    { OPERATOR ("aten::_flash_attention_backward", "[[1], [2, 512, 12, 64], [2, 512, 4, 64]]"),
      "work 7 attention back bf: 1 x 2 12 4 512 64\n" },
    { OPERATOR ("aten::_flash_attention_forward", "[[2, 512, 12, 64], [2, 511, 4, 64]]"), "" },
    { OPERATOR ("aten::_flash_attention_forward", "[[2, 512, 12, 64], [2, 512, 4, 63]]"), "" },
    { OPERATOR ("aten::_flash_attention_forward", "[[0, 512, 12, 64], [2, 512, 4, 64]]"), "" },
    { EVENT ("cpu_op", "aten::mm", "9", "90", "20",
             "\"Input Dims\": [[8, 16], [16, 32]], \"Input type\": [\"float\"]"),
      "" },
    { EVENT ("cpu_op", "aten::mm", "9", "90", "20",
             "\"External id\": 0, \"Input Dims\": [[8, 16], [16, 32]], \"Input type\": \"float\""),
      "work 0 product : 1 x 8 32 16\n" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autofree char *text = g_strdup_printf (KINETO ("%s," KERNEL ("k", "1", "100", "5", "1", "")),
                                             rows[i].event);
    g_autofree char *expected = g_strdup_printf ("rank 0 of 0\n0-5000000 k: compute, stream 1, step -1\n%s",
                                                 rows[i].told);

    assert_trace (text, expected);
  }
}

#define TIMED(ts, dur) \
  KINETO (EVENT ("kernel", "x", "4", "100", "1", "") "," EVENT ("kernel", "y", "4", ts, dur, ""))

/* Times are decimal microseconds, with ps behind the point; Python writes small ones as 1e-05. */
static void
times_are_microseconds (G_GNUC_UNUSED void **state)
{
  assert_trace (
      TIMED ("\"101.1234567\"", "0.5"),
      "rank 0 of 0\n0-1000000 x: compute, stream 4, step -1\n1123456-1623456 y: compute, stream 4, step -1\n");
  assert_trace (
      TIMED ("1.01e2", "1e-05"),
      "rank 0 of 0\n0-1000000 x: compute, stream 4, step -1\n1000000-1000010 y: compute, stream 4, step -1\n");
  assert_trace (
      TIMED ("99", "2.5E0"),
      "rank 0 of 0\n-1000000-1500000 y: compute, stream 4, step -1\n0-1000000 x: compute, stream 4, step -1\n");
  assert_trace (
      TIMED ("1000000000100", "1000000000000"),
      "rank 0 of 0\n0-1000000 x: compute, stream 4, step -1\n1000000000000000000-2000000000000000000 y: "
      "compute, stream 4, step -1\n");
}

static void
parts_of_times_are_read (G_GNUC_UNUSED void **state)
{
  static const struct {
    const char *text;
    gboolean is_time;
    gint64 whole_us;
    FabTimePs rest_ps;
  } rows[] = { { "0", TRUE, 0, 0 },
               { "12", TRUE, 12, 0 },
               { "12.", TRUE, 12, 0 },
               { "1.000001", TRUE, 1, 1 },
               { "1.9999999", TRUE, 1, 999999 },
               { "0.123456", TRUE, 0, 123456 },
               { "1.5e1", TRUE, 15, 0 },
               { "1.25e1", TRUE, 12, 500000 },
               { "1.0000001e1", TRUE, 10, 1 },
               { "1.5e1x", FALSE, 0, 0 },
               { "1e", FALSE, 0, 0 },
               { "1e-05", TRUE, 0, 10 },
               { "2.5E-1", TRUE, 0, 250000 },
               { "9e15", FALSE, 0, 0 },
               { "8.9e15", TRUE, G_GINT64_CONSTANT (8900000000000000), 0 },
               { "1e400", FALSE, 0, 0 },
               { "", FALSE, 0, 0 },
               { ".5", FALSE, 0, 0 },
               { "-1", FALSE, 0, 0 },
               { "1x", FALSE, 0, 0 },
               { "1.5x", FALSE, 0, 0 },
               { "99999999999999999999", FALSE, 0, 0 },
               { "922337203685477580", TRUE, G_GINT64_CONSTANT (922337203685477580), 0 },
               { "9223372036854775800", FALSE, 0, 0 } };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    gint64 whole_us = -1;
    FabTimePs rest_ps = -1;

    if (fab_trace_parse_us (rows[i].text, &whole_us, &rest_ps) != rows[i].is_time)
      fail_msg ("%s", rows[i].text);
    if (rows[i].is_time) {
      assert_int_equal (whole_us, rows[i].whole_us);
      assert_int_equal (rest_ps, rows[i].rest_ps);
    }
  }
}

static void
mistakes_are_told_with_the_byte (G_GNUC_UNUSED void **state)
{
  static const struct {
    const char *text, *message; /* behind the place */
  } rows[] = {
    { TIMED ("null", "1"), "an event has no ts in microseconds" },
    { TIMED ("100", "-1"), "an event has no dur in microseconds" },
    { TIMED ("1000000000101", "1"), "the times of two events are more than 11 days apart" },
    { TIMED ("100", "1000000000001"), "the times of two events are more than 11 days apart" },
    { "{\"traceEvents\": {}}", "`traceEvents` is not a list" },
    { "{\"traceEvents\": [5]}", "an event is not an object" },
    { "{\"distributedInfo\": {\"world_size\": 5, \"rank\": \"x\"}}",
      "distributedInfo has an impossible rank" },
    { "{\"distributedInfo\": {\"rank\": -1}}", "distributedInfo has an impossible rank" },
    { "{\"distributedInfo\": {\"world_size\": 1073741824}}", "distributedInfo has an impossible rank" },
    { "{\"traceEvents\": [{\"ph\": ", NULL },
    { "[1]", "a trace is a JSON object" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    const char *const texts[] = { rows[i].text, NULL };
    g_autoptr (GError) error = NULL;

    assert_null (read_traces (texts, &error));
    assert_true (g_str_has_prefix (error->message, "a: byte "));
    if (rows[i].message != NULL && strstr (error->message, rows[i].message) == NULL)
      fail_msg ("%s", error->message);
  }
  assert_no_trace ("{\"x\": 1}",
                   "a: is JSON, but has none of the lists of a trace: traceEvents, nodes or workload_graph");
  assert_trace ("{\"distributedInfo\": {\"x\": [1], \"rank\": 1073741823, \"world_size\": 5}, "
                "\"traceEvents\": [" EVENT ("kernel", "x", "4", "5", "1", "") "]}",
                "rank 1073741823 of 5\n0-1000000 x: compute, stream 4, step -1\n");
  assert_trace ("{\"distributedInfo\": [], \"deviceProperties\": 5, \"traceEvents\": [" EVENT (
                    "kernel", "x", "4", "5", "1", "") "]}",
                "rank 0 of 0\n0-1000000 x: compute, stream 4, step -1\n");
}

static void
devices_and_the_beginning_are_known (G_GNUC_UNUSED void **state)
{
  static const char *const texts[] = {
    "{\"deviceProperties\": [{\"id\": 0, \"name\": \"H100\"}, {\"name\": \"H200\"}], \"baseTimeNanoseconds\": 5999, "
    "\"traceEvents\": [" LAUNCH ("90", "9") "," LAUNCH ("98", "3") "," LAUNCH ("92", "4") "," EVENT (
        "kernel", "x", "4", "100", "1", "") "]}",
    NULL
  };
  g_autoptr (FabTrace) trace = read_traces (texts, NULL);
  const FabTracedRank *rank = g_ptr_array_index (trace->ranks, 0);

  assert_int_equal (rank->n_devices, 2);
  assert_string_equal (rank->device, "H100");
  assert_string_equal (rank->source, "a");
  assert_int_equal (rank->epoch_us, 95);      /* the first event, which is a launch, after 5 us */
  assert_int_equal (rank->issue_ps, 4000000); /* of 2 and 6 us between launches */
  assert_int_equal (trace->formats->len, 1);
  assert_string_equal (g_ptr_array_index (trace->formats, 0), "kineto");
}

/* --- steps that the optimizer ends --- */

#define MARK(ts, dur) EVENT ("user_annotation", "Optimizer.step#AdamW.step", "9", ts, dur, "")

/* n launches, a us apart, each of a kernel one us later. */
static void
add_launches (GString *text, guint *launch, guint from_us, guint n)
{
  for (guint i = 0; i < n; i++) {
    ++*launch;
    g_string_append_printf (text, LAUNCH ("%u", "%u") "," KERNEL ("k", "1", "%u", "1", "%u", "") ",",
                            from_us + i, *launch, from_us + i + 1, *launch);
  }
}

/* Where the profiler marks no steps the ends of the optimizer's do. Marks between which almost nothing was launched
 * are of one step; a first stretch with fewer launches than nine tenths of the next one began before the recording.
 * */
static void
the_optimizer_ends_steps (G_GNUC_UNUSED void **state)
{
  static const struct {
    guint n_first,
        n_between; /* launches before the first mark, and between two marks that may be of one step */
    guint n_steps;
    gint64 first_end_us;
    const char *note;
  } rows[] = {
    { 10, 0, 2, 101, "the optimizer's 2 steps end them\n" },
    { 9, 0, 2, 101, "the optimizer's 2 steps end them\n" },
    { 8, 0, 1, 203,
      "the optimizer's 2 steps end them; the first one began before the recording and is left out\n" },
    { 10, 1, 3, 101, "the optimizer's 3 steps end them\n" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autoptr (GString) text = g_string_new ("{\"traceEvents\": [");
    guint launch = 0;

    add_launches (text, &launch, 0, rows[i].n_first);
    g_string_append (text, MARK ("100", "1") ",");
    add_launches (text, &launch, 150, 10);
    g_string_append (text, MARK ("200", "1") ",");
    add_launches (text, &launch, 201, rows[i].n_between);
    g_string_append (text, MARK ("202", "1") "]}");
    const char *const texts[] = { text->str, NULL };
    g_autoptr (GError) error = NULL;
    g_autoptr (FabTrace) trace = read_traces (texts, &error);
    if (trace == NULL)
      fail_msg ("%s", error->message);
    const FabTracedRank *rank = g_ptr_array_index (trace->ranks, 0);
    g_autofree char *told = trace_told (trace);
    assert_int_equal (rank->steps->len, rows[i].n_steps);
    assert_int_equal (g_array_index (rank->steps, FabTraceStep, 0).number, 0);
    if (g_array_index (rank->steps, FabTraceStep, 0).end_ps != rows[i].first_end_us * 1000000)
      fail_msg ("%u: %s", i, told);
    assert_true (g_str_has_suffix (told, rows[i].note));
  }
}

/* Marks and launches stand in any order. What two marks end together counts whole: 28 launches are fewer than nine
 * tenths of 30 and 2. */
static void
merged_stretches_count_whole (G_GNUC_UNUSED void **state)
{
  g_autoptr (GString) text = g_string_new ("{\"traceEvents\": [" MARK ("300", "1") "," MARK ("200", "1") ",");
  guint launch = 0;

  add_launches (text, &launch, 210, 2);
  add_launches (text, &launch, 150, 30);
  add_launches (text, &launch, 0, 28);
  g_string_append (text, MARK ("100", "1") "]}");
  const char *const texts[] = { text->str, NULL };
  g_autoptr (FabTrace) trace = read_traces (texts, NULL);
  const FabTracedRank *rank = g_ptr_array_index (trace->ranks, 0);
  assert_int_equal (rank->steps->len, 1);
  assert_int_equal (g_array_index (rank->steps, FabTraceStep, 0).start_ps / 1000000, 101 - 300);
  assert_int_equal (g_array_index (rank->steps, FabTraceStep, 0).end_ps / 1000000, 1);
}

/* One mark makes no steps; nor do marks without launches of kernels. */
static void
one_mark_makes_no_step (G_GNUC_UNUSED void **state)
{
  assert_trace (KINETO (LAUNCH ("1", "1") "," KERNEL ("k", "1", "2", "1", "1", "") "," MARK ("100", "1")),
                "rank 0 of 0\n1000000-2000000 k: compute, stream 1, step -1\n");
  assert_trace (KINETO (KERNEL ("k", "1", "2", "1", "1", "") "," MARK ("10", "1") "," MARK ("100", "1")),
                "rank 0 of 0\n0-1000000 k: compute, stream 1, step -1\n");
}

/* Without launches a kernel is of the step in which it runs; its end is no longer in it. */
static void
without_launches_times_tell_the_step (G_GNUC_UNUSED void **state)
{
  assert_trace (
      KINETO (EVENT ("user_annotation", "ProfilerStep#8", "9", "20", "10", "") "," EVENT (
          "user_annotation", "ProfilerStep#7", "9", "10", "10",
          "") "," KERNEL ("a", "1", "9", "1", "1",
                          "") "," KERNEL ("b", "1", "10", "1", "2",
                                          "") "," KERNEL ("c", "1", "19.9", "1", "3",
                                                          "") "," KERNEL ("d", "1", "20", "1", "4",
                                                                          "") "," KERNEL ("e", "1", "30", "1",
                                                                                          "5", "")),
      "rank 0 of 0\nstep 7: -10000000-0\nstep 8: 0-10000000\n"
      "-11000000--10000000 a: compute, stream 1, step -1\n-10000000--9000000 b: compute, stream 1, step 0\n"
      "-100000-900000 c: compute, stream 1, step 0\n0-1000000 d: compute, stream 1, step 1\n10000000-11000000 "
      "e: compute, stream 1, step -1\n");
}

/* A stream of which no launch was recorded goes on from the last launch of any. An operation that names no launch
 * counts as launched when it began. With launches from before the recording and no steps, all the rest is one. */
static void
what_was_launched_before_is_left_out (G_GNUC_UNUSED void **state)
{
  assert_trace (
      KINETO (LAUNCH ("10", "1") "," KERNEL ("a", "1", "5", "1", "0", "") "," KERNEL (
          "b", "2", "6", "1", "78", "") "," KERNEL ("c", "1", "11", "1", "1",
                                                    "") "," KERNEL ("d", "2", "12", "1", "79",
                                                                    "") "," EVENT ("kernel", "e", "1", "1",
                                                                                   "1", "\"stream\": 1")),
      "rank 0 of 0\nstep 0: -9223372036854775808-9223372036854775807\n"
      "-9000000--8000000 e: compute, stream 1, step 0\n-5000000--4000000 a: compute, stream 1, step -1\n"
      "-4000000--3000000 b: compute, stream 2, step -1\n1000000-2000000 c: compute, stream 1, step "
      "0\n2000000-3000000 d: compute, stream 2, step 0\n"
      "a 0 left out: a: 2 operations ran before the first one of their stream whose launch was recorded, so "
      "that the host launched "
      "them before the recording began, and no step here has them\n");
}

/* --- several ranks --- */

#define RANK(rank, first, events)          \
  "{\"distributedInfo\": {\"rank\": " rank \
  "}, \"traceEvents\": [" EVENT ("kernel", "x", "4", first, "1", "") "," events "]}"
#define REDUCE(ts, dur, group) \
  EVENT ("kernel", "ncclAllReduce", "4", ts, dur, "\"Process Group Name\": \"" group "\"")

/* A collective ends on all ranks together: the median of the differences is that of their clocks. */
static void
clocks_are_aligned_by_collectives (G_GNUC_UNUSED void **state)
{
  static const char *const texts[] = {
    RANK ("1", "500",
          REDUCE ("510", "5", "g") "," REDUCE ("520", "5", "g") "," REDUCE ("530", "5", "g") "," REDUCE (
              "540", "4", "h")),
    RANK ("0", "100", REDUCE ("110", "7", "g") "," REDUCE ("120", "8", "g") "," REDUCE ("130", "9", "g")),
    NULL
  };
  static const char *const strangers[] = { RANK ("0", "100", REDUCE ("110", "7", "g")),
                                           RANK ("2", "350", REDUCE ("360", "7", "other")), NULL };
  static const char *const distant[] = { RANK ("0", "100", REDUCE ("110", "7", "g")),
                                         RANK ("2", "86400000100", REDUCE ("86400000110", "7", "other")),
                                         NULL };
  static const char *const twice[] = { RANK ("3", "100", REDUCE ("110", "7", "g")),
                                       RANK ("3", "100", REDUCE ("110", "7", "g")), NULL };
  g_autoptr (FabTrace) trace = read_traces (texts, NULL), apart = NULL, days = NULL;
  g_autoptr (GError) error = NULL;
  const FabTracedRank *first = g_ptr_array_index (trace->ranks, 0),
                      *second = g_ptr_array_index (trace->ranks, 1);

  assert_string_equal (first->source, "b");
  assert_int_equal (first->shift_ps, 0);
  assert_int_equal (
      second->shift_ps,
      3000000); /* its collectives end after 15, 25 and 35 us, those of rank 0 after 17, 28 and 39 */
  apart = read_traces (strangers, NULL);
  g_autofree char *told = trace_told (apart);
  assert_true (g_str_has_suffix (
      told,
      "b 0 inferred: rank 2 has no collective in common with rank 0, so their clocks count as equal\n"));
  assert_int_equal (((const FabTracedRank *) g_ptr_array_index (apart->ranks, 1))->shift_ps, 250000000);
  days = read_traces (distant, NULL);
  assert_int_equal (((const FabTracedRank *) g_ptr_array_index (days->ranks, 1))->shift_ps, 0);
  assert_null (read_traces (twice, &error));
  assert_string_equal (error->message, "a and b are both of rank 3; import the traces of one run");
}

/* Files that do not say their rank have the numbers behind those that do. */
static void
ranks_without_a_number_come_last (G_GNUC_UNUSED void **state)
{
  static const char *const texts[] = { KINETO (EVENT ("kernel", "x", "4", "1", "1", "")),
                                       RANK ("5", "100", REDUCE ("110", "7", "g")),
                                       KINETO (EVENT ("kernel", "x", "4", "1", "1", "")), NULL };
  g_autoptr (FabTrace) trace = read_traces (texts, NULL);

  for (guint i = 0; i < 3; i++) {
    const FabTracedRank *rank = g_ptr_array_index (trace->ranks, i);

    assert_int_equal (rank->rank, 5 + i);
    assert_string_equal (rank->source, i == 0 ? "b" : i == 1 ? "a" : "c");
  }
}

/* --- names --- */

static void
names_say_operations_types_and_dimensions (G_GNUC_UNUSED void **state)
{
  static const char *const ops[][2] = {
    { "allreduce", "all_reduce" },
    { "AllReduce", "all_reduce" },
    { "_allgather_base", "all_gather" },
    { "REDUCE_SCATTER", "reduce_scatter" },
    { "all-to-all", "all_to_all" },
    { "alltoallv", "all_to_all" },
    { "broadcast", "broadcast" },
    { "SendRecv", "send_recv" },
    { "scatter", "scatter" },
    { "gather", "gather" },
    { "reduce", "reduce" },
    { "send 3", "send_recv" },
    { "irecv", "send_recv" },
    { "barrier", NULL },
    { "", NULL },
    { "0123456789012345678901234567890123456789012345678901234reduce", "reduce" },
    { "01234567890123456789012345678901234567890123456789012345678reduce", NULL },
  };
  static const struct {
    const char *name;
    guint bytes;
  } types[] = { { "Float", 4 },   { "float", 4 },    { "Float8_e4m3fn", 1 }, { "Double", 8 },
                { "Half", 2 },    { "BFloat16", 2 }, { "c10::BFloat16", 2 }, { "Int", 4 },
                { "Long", 8 },    { "long int", 8 }, { "Short", 2 },         { "Char", 1 },
                { "Byte", 1 },    { "Bool", 1 },     { "signed char", 1 },   { "unsigned char", 1 },
                { "Complex", 0 }, { "", 0 } };
  static const char *const dimensions[][2] = {
    { "expert_parallel", "expert" },
    { "EP_GROUP", "expert" },
    { "tensor", "tensor" },
    { "tp_0", "tensor" },
    { "mp_1", "tensor" },
    { "context", "context" },
    { "cp_2", "context" },
    { "pipeline", "pipeline" },
    { "pp_1", "pipeline" },
    { "DATA", "data" },
    { "dp_group", "data" },
    { "fsdp", "data" },
    { "default_pg", "other" },
    { "", "other" },
  };
  static const struct {
    const char *op;
    FabBytes in, out, size;
  } sizes[] = { { "all_gather", 1, 8, 8 },     { "gather", 8, 1, 8 },        { "gather", 1, 8, 8 },
                { "all_to_all", 3, 4, 4 },     { "all_reduce", 5, 9, 5 },    { "all_reduce", 0, 9, 9 },
                { "reduce_scatter", 8, 1, 8 }, { "reduce_scatter", 1, 8, 1 } };

  for (guint i = 0; i < G_N_ELEMENTS (ops); i++)
    if (g_strcmp0 (fab_trace_op_name (ops[i][0]), ops[i][1]) != 0)
      fail_msg ("%s", ops[i][0]);
  for (guint i = 0; i < G_N_ELEMENTS (types); i++)
    assert_int_equal (fab_trace_type_bytes (types[i].name), types[i].bytes);
  for (guint i = 0; i < G_N_ELEMENTS (dimensions); i++)
    assert_string_equal (fab_trace_dimension (dimensions[i][0]), dimensions[i][1]);
  for (guint i = 0; i < G_N_ELEMENTS (sizes); i++)
    assert_int_equal (fab_trace_size (sizes[i].op, sizes[i].in, sizes[i].out), sizes[i].size);
  assert_int_equal (fab_trace_whole_bytes (1e19), 1000000000000000000);
  assert_int_equal (fab_trace_whole_bytes (-1), 0);
  assert_int_equal (fab_trace_whole_bytes (0.5), 0);
  assert_int_equal (fab_trace_whole_bytes (1.5), 1);
}

static void
names_of_kernels_are_cut (G_GNUC_UNUSED void **state)
{
  g_autoptr (FabTrace) trace = fab_trace_new ();
  g_autofree char *most = g_strnfill (160, 'k'), *more = g_strnfill (161, 'k');

  assert_string_equal (fab_trace_kernel_name (trace, "ncclKernel(int, float)"), "ncclKernel");
  assert_string_equal (fab_trace_kernel_name (trace, "void gemm<1>(int, float)"), "void gemm<1>(int, float)");
  assert_string_equal (fab_trace_kernel_name (trace, most), most);
  assert_string_equal (fab_trace_kernel_name (trace, more), most);
  assert_ptr_equal (fab_trace_intern (trace, "one"), fab_trace_intern (trace, "one"));
  assert_string_equal (fab_trace_intern (trace, "a\x7f"
                                                "b"),
                       "a\\x7fb");
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (kernels_are_of_the_step_that_launched_them),
    cmocka_unit_test (args_of_kernels_are_collectives),
    cmocka_unit_test (events_are_by_themselves),
    cmocka_unit_test (categories_say_what_an_event_is),
    cmocka_unit_test (runtimes_launch),
    cmocka_unit_test (calls_give_sizes),
    cmocka_unit_test (near_calls_are_looked_at),
    cmocka_unit_test (operators_have_shapes),
    cmocka_unit_test (times_are_microseconds),
    cmocka_unit_test (parts_of_times_are_read),
    cmocka_unit_test (mistakes_are_told_with_the_byte),
    cmocka_unit_test (devices_and_the_beginning_are_known),
    cmocka_unit_test (the_optimizer_ends_steps),
    cmocka_unit_test (merged_stretches_count_whole),
    cmocka_unit_test (one_mark_makes_no_step),
    cmocka_unit_test (without_launches_times_tell_the_step),
    cmocka_unit_test (what_was_launched_before_is_left_out),
    cmocka_unit_test (clocks_are_aligned_by_collectives),
    cmocka_unit_test (ranks_without_a_number_come_last),
    cmocka_unit_test (names_say_operations_types_and_dimensions),
    cmocka_unit_test (names_of_kernels_are_cut),
  };

  return cmocka_run_group_tests (tests, NULL, NULL);
}
