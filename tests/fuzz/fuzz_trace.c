/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz_trace.c - broken traces of every format: nothing crashes, and what is refused has a message.
 *
 * As a test it mutates the samples below with the seeds 1 to N_ROUNDS; FAB_TEST_SEED=17 runs that one alone. Compiled
 * with -Dfuzz=true it is a libFuzzer target with the same check.
 */
#include <string.h>

#include "tests/support/random.h"
#include "validate/traces/account.h"
#include "validate/traces/kernels.h"

enum { N_ROUNDS = 20000 };

int LLVMFuzzerTestOneInput (const guint8 *data, gsize size);

static void
check_times (const FabTrace *trace)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (FabTraceAccount) account = fab_trace_account_new (trace, FALSE, &error);

  if (account == NULL && (error == NULL || error->message[0] == '\0'))
    g_error ("no account and no message");
  for (guint i = 0; account != NULL && i < account->times->len; i++) {
    const FabIterationRecord *t = &g_array_index (account->times, FabTraceTimes, i).times;

    if (t->exposed_ps != t->comm_ps - t->overlapped_ps
        || t->idle_ps != t->duration_ps - (t->compute_ps + t->comm_ps - t->overlapped_ps) || t->idle_ps < 0)
      g_error ("times that do not add up");
  }
}

/* Kernels have a class each, and shapes only where they are whole. */
static void
check_kernels (const FabTrace *trace)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (FabTraceKernels) kernels = fab_trace_kernels_new (trace, 0, &error);
  guint n = 0;

  if (kernels == NULL && (error == NULL || error->message[0] == '\0'))
    g_error ("no kernels and no message");
  for (guint i = 0; kernels != NULL && i < FAB_N_TRACE_CLASSES; i++)
    n += kernels->n_of[i];
  if (kernels != NULL && n != kernels->n_kernels)
    g_error ("%u of %u kernels have a class", n, kernels->n_kernels);
  for (guint i = 0; kernels != NULL && i < kernels->series->len; i++) {
    const FabMeasuredSeries *measured = g_ptr_array_index (kernels->series, i);
    double sides[3];

    if (measured->series.kind == FAB_MEASURE_PRODUCT
        && !fab_series_read_shape (measured->series.shape, 3, sides))
      g_error ("a product of the shape %s", measured->series.shape);
  }
}

int
LLVMFuzzerTestOneInput (const guint8 *data, gsize size)
{
  g_autoptr (FabTrace) trace = fab_trace_new ();
  g_autoptr (FabFileBytes) bytes = fab_file_bytes_new ("fuzz", data, size);
  g_autoptr (GError) error = NULL;
  gboolean is_good = TRUE;

  while (is_good && fab_file_bytes_next (bytes, &error))
    is_good = fab_trace_read_bytes (trace, bytes, &error);
  is_good = is_good && error == NULL && trace->ranks->len > 0 && fab_trace_finish (trace, &error);
  if (is_good)
    check_kernels (trace);
  if (error != NULL && (error->message[0] == '\0' || !g_utf8_validate (error->message, -1, NULL)))
    g_error ("refused without a message");
  if (is_good)
    check_times (trace);
  return 0;
}

#ifndef FAB_LIBFUZZER

static const struct {
  const char *data;
  gsize size;
} samples[] = {
#define SAMPLE(text)      \
  {                       \
    text, sizeof text - 1 \
  }
  SAMPLE (
      "{\"distributedInfo\": {\"rank\": 1, \"world_size\": 2}, \"deviceProperties\": [{\"id\": 0, \"name\": \"x\"}],"
      "\"traceEvents\": [{\"ph\": \"X\", \"cat\": \"user_annotation\", \"name\": \"ProfilerStep#3\", \"ts\": 1.5, "
      "\"dur\": 90}, {\"ph\": \"X\", \"cat\": \"kernel\", \"name\": \"ncclKernel_AllReduce\", \"ts\": 2, \"dur\": "
      "30.25, \"args\": {\"stream\": 7, \"correlation\": 5, \"Collective name\": \"allreduce\", \"In msg nelems\": 10, "
      "\"dtype\": \"Float\", \"Group size\": 2}}, {\"ph\": \"X\", \"cat\": \"kernel\", \"name\": \"gemm\", \"ts\": 20, "
      "\"dur\": 30, \"args\": {\"stream\": 9}}, {\"ph\": \"X\", \"cat\": \"cuda_runtime\", \"name\": \"launch\", "
      "\"ts\": 2, \"dur\": 1, \"args\": {\"correlation\": 5}}], \"more\": [1, {\"a\": null}, \"\\u0041\"]}"),
  SAMPLE (
      "{\"traceEvents\": [{\"ph\": \"X\", \"cat\": \"cpu_op\", \"name\": \"aten::mm\", \"ts\": 1, \"dur\": 1, \"args\": "
      "{\"External id\": 4, \"Input Dims\": [[64, 32], [32, 16]], \"Input type\": [\"c10::BFloat16\"]}}, {\"ph\": \"X\", "
      "\"cat\": \"kernel\", \"name\": \"nvjet\", \"ts\": 2, \"dur\": 3, \"args\": {\"External id\": 4, \"stream\": 7}}, "
      "{\"ph\": \"X\", \"cat\": \"cpu_op\", \"name\": \"aten::_flash_attention_backward\", \"ts\": 6, \"dur\": 1, "
      "\"args\": {\"External id\": 5, \"Input Dims\": [[1, 8, 2, 4], [1, 8, 2, 4], [1, 8, 2, 4]], \"Input type\": "
      "[\"c10::Half\"]}}, {\"ph\": \"X\", \"cat\": \"kernel\", \"name\": \"flash_bwd\", \"ts\": 7, \"dur\": 2, \"args\": "
      "{\"External id\": 5, \"stream\": 7}}]}"),
  SAMPLE (
      "{\"workload_graph\": [{\"Id\": 1, \"Name\": \"a\", \"NodeType\": 4, \"ctrlDeps\": [3], \"runtime\": 5},"
      "{\"Id\": 2, \"Name\": \"allreduce\", \"NodeType\": 7, \"data_deps\": [1], \"runtime\": 5}]}"),
  SAMPLE (
      "{\"schema\": \"1.1\", \"nodes\": [{\"id\": 5, \"name\": \"record_param_comms\", \"ctrl_deps\": 1, \"inputs\": "
      "{\"values\": [[[7, 8, 0, 250, 4, \"cuda:0\"]], 3, [\"0\", \"x\"], 0, \"allreduce\"], \"types\": []}, \"attrs\": "
      "[{\"name\": \"dtype\", \"value\": \"Float\"}, {\"name\": \"in_msg_nelems\", \"value\": 250}]}, {\"id\": 7, "
      "\"name\": \"record_param_comms\", \"inputs\": [[7, 8, 0, 16, 4, \"cuda:0\"], 5, 945, 1, \"all_to_allv\", [8]], "
      "\"outputs\": [[7, 8, 0, 24, 4, \"cuda:0\"]]}]}"),
  SAMPLE ("\x07\x0a\x05"
          "0.0.4\x1c\x08\x01\x12\x02"
          "ab\x18\x07R\x0d\x0a\x09"
          "comm_typeH\x07"
          "8\x05"),
  SAMPLE (
      "{\"header\": {\"id\": \"0x7f\", \"rank\": 2, \"n_ranks\": 8}, \"metadata\": {\"inspector_output_format_version\": "
      "\"v4.0\", \"hostname\": \"h\", \"pid\": 16}, \"coll_perf\": {\"coll\": \"AllReduce\", \"coll_sn\": 14, "
      "\"coll_msg_size_bytes\": 17179869184, \"coll_exec_time_us\": 61974}}\n"),
  SAMPLE (
      "[\n{\"name\": \"AllGather\", \"cat\": \"COLL\", \"ph\": \"b\", \"pid\": 7, \"ts\": 5.0, \"args\": {\"CommHash\": 99, "
      "\"Rank\": 1, \"Count\": 1000, \"Datatype\": \"ncclFloat32\"}},\n{\"name\": \"KernelCh\", \"cat\": \"GPU\", \"ph\": "
      "\"b\", \"ts\": 20}, {\"name\": \"AllGather\", \"cat\": \"COLL\", \"ph\": \"e\", \"ts\": 830.5}, {}]\n"),
  SAMPLE ("HYBRID_TRANSFORMER all_gpus: 8\n1\nlayer -1 5000 ALLREDUCE 1000000 1 NONE 0 1 NONE 0 1\n"),
  SAMPLE (
      "comm_type,comm_group,comm_group_size,msg_size,_elapsed_time\nCommType.all_reduce,dp_group,4,2000000,1.5\n"),
  SAMPLE (
      "num_ranks 2\nrank 0 {\na: calc 100\nb: send 8b to 1 tag 0\nc: calc 5\nb requires a\nc requires a\nb requires c\n}\n"
      "rank 1 {\nrecv 8b from 0 tag 0\n}\n"),
  SAMPLE (
      "h:1:2 [0] NCCL INFO Channel 00/02 : 0 1\nh:1:2 [0] NCCL INFO comm 0x1 rank 0 nranks 8 - Init COMPLETE\n"
      "h:1:2 [0] NCCL INFO AllReduce: opCount 0 count 1000 datatype 7 comm 0x1 [nranks=8]\n"
      "h:1:2 [0] NCCL INFO AllReduce: 4000000 Bytes -> Algo RING proto LL128 channel{Lo..Hi}={0..15}\n"
      "h:1:2 [0] NCCL INFO 4000000 Bytes -> Algo 1 proto 2 time 123.4\n"),
};

static const char *const words[] = { "0",        "-1",   "1e400", "99999999999999999999",
                                     "\"",       "{",    "}",     "[",
                                     "]",        ",",    "\\u",   "\xff",
                                     "\x80",     "\n",   " ",     "\x1f\x8b",
                                     "rank 0 {", "None", ":",     "null" };

static void
mutate_once (Random *random, GString *text)
{
  gsize at = random_below (random, (guint) text->len + 1), span = random_between (random, 1, 40);

  switch (random_below (random, 5)) {
  case 0: g_string_erase (text, (gssize) at, (gssize) MIN (span, text->len - at)); break;
  case 1: g_string_truncate (text, MAX (at, text->len / 2)); break;
  case 2:
    if (at < text->len)
      text->str[at] = (char) (text->str[at] ^ (1 << random_below (random, 8)));
    break;
  default: g_string_insert (text, (gssize) at, words[random_below (random, G_N_ELEMENTS (words))]); break;
  }
}

static void
run_seed (guint seed)
{
  Random random = { .state = seed };
  guint sample = seed % G_N_ELEMENTS (samples);
  g_autoptr (GString) text = g_string_new_len (samples[sample].data, (gssize) samples[sample].size);

  for (guint n = random_below (&random, 5); n > 0; n--)
    mutate_once (&random, text);
  LLVMFuzzerTestOneInput ((const guint8 *) text->str, text->len);
}

int
main (void)
{
  const char *only = g_getenv ("FAB_TEST_SEED");

  if (only != NULL)
    run_seed ((guint) g_ascii_strtoull (only, NULL, 10));
  for (guint seed = 1; only == NULL && seed <= N_ROUNDS; seed++)
    run_seed (seed);
  return 0;
}
#endif
