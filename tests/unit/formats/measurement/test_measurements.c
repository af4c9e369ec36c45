/* SPDX-License-Identifier: Apache-2.0 */
/* Benchmarks' outputs as series: units, directions, round trips, worked out by hand; and what is refused. */
#include "formats/format.h"
#include "tests/support/test.h"

#include <math.h>
#include <string.h>

#include "tests/unit/formats/measurement/measured.h"

#define FIXTURES FAB_SOURCE_DIR "/tests/fixtures/"
#define DASHES "-------------------------------------------\n"
#define COLUMNS " #bytes     #iterations    BW peak[MB/sec]    BW average[MB/sec]   MsgRate[Mpps]\n"

static FabMeasurements *
read_sample (const char *name)
{
  g_autofree char *path = g_strconcat (FIXTURES, name, NULL), *text = NULL;
  g_autoptr (GError) error = NULL;
  FabMeasurements *measurements;

  assert_true (g_file_get_contents (path, &text, NULL, NULL));
  measurements = measured_text (text, 0, &error);
  if (measurements == NULL)
    fail_msg ("%s: %s", name, error->message);
  return measurements;
}

static void
assert_rate (const FabMeasuredSeries *series, FabBytes size_bytes, double bytes_per_s)
{
  assert_near (fab_point_rate (measured_point (series, size_bytes)) / bytes_per_s, 1, 1e-6);
}

static const FabMeasuredSeries *
find (const FabMeasurements *measurements, const char *from, const char *to, const char *method,
      FabMeasureKind kind)
{
  for (guint i = 0; i < measurements->series->len; i++) {
    const FabSeries *series = &measured_at (measurements, i)->series;

    if (g_strcmp0 (series->from, from) == 0 && g_strcmp0 (series->to, to) == 0 && series->kind == kind
        && g_strcmp0 (series->method, method) == 0)
      return measured_at (measurements, i);
  }
  fail_msg ("no series %s to %s, %s", from, to, method);
  return NULL;
}

static void
perftest_in_gigabits (void **state)
{
  g_autoptr (FabMeasurements) self = read_sample ("benchmarks/perftest-read-write-hdr.txt");
  const FabMeasuredSeries *latency = measured_at (self, 0), *read = measured_at (self, 1),
                          *write = measured_at (self, 2);

  (void) state;
  assert_string_equal (self->format, "perftest");
  assert_int_equal (self->series->len, 3);
  assert_int_equal (latency->series.kind, FAB_MEASURE_LATENCY);
  assert_string_equal (latency->series.method, "read");
  assert_int_equal (measured_point (latency, 2)->time_ps, 5490000); /* t_typical */
  assert_int_equal (measured_point (latency, 2)->max_ps, 11780000);
  assert_rate (read, 1048576, 193.95e9 / 8);
  assert_rate (read, 8, 2.836814e6 * 8); /* 0.18 Gb/s has two digits, the message rate seven */
  assert_string_equal (write->series.method, "write");
  assert_rate (write, 8388608, 196.55e9 / 8);
}

static void
perftest_both_directions (void **state)
{
  g_autoptr (FabMeasurements) gigabits = read_sample ("benchmarks/perftest-write-both-rocm.txt");
  g_autoptr (FabMeasurements) mebibytes = read_sample ("benchmarks/perftest-send-both-MB.txt");
  const FabSeries *series = &measured_at (gigabits, 0)->series;

  (void) state;
  assert_int_equal (series->kind, FAB_MEASURE_BIDIRECTIONAL);
  assert_string_equal (series->from_memory, "gpu");
  assert_int_equal (series->mtu_bytes, 4096);
  assert_int_equal (series->window, 128);
  assert_rate (measured_at (gigabits, 0), 8388608, 204.59e9 / 8 / 2);
  /* 11403.46 MB/sec are 11957.40e6 B/s; 2.919285 Mpps x 4096 B are 11957.39e6: both have seven digits. */
  assert_rate (measured_at (mebibytes, 0), 4096, 11403.46 * 1048576 / 2);
}

static void
perftest_json (void **state)
{
  g_autoptr (FabMeasurements) bandwidth = read_sample ("benchmarks/perftest-write.json");
  g_autoptr (FabMeasurements) latency = read_sample ("benchmarks/perftest-send-lat-old.json");

  (void) state;
  /* 0.187426 Mpps x 65536 B are 12.283 GB/s: the unit of 11714.1 is MiB/s, not Gb/s. */
  assert_rate (measured_at (bandwidth, 0), 65536, 11714.1 * 1048576);
  assert_string_equal (measured_at (bandwidth, 0)->series.from, "mlx5_2");
  assert_int_equal (measured_point (measured_at (latency, 0), 512)->time_ps, 2480000);
  assert_string_equal (measured_at (latency, 0)->series.method, "send");
}

static void
nvbandwidth (void **state)
{
  g_autoptr (FabMeasurements) host = read_sample ("benchmarks/nvbandwidth-rtx4090.txt");
  g_autoptr (FabMeasurements) peers = read_sample ("benchmarks/nvbandwidth-a6000.txt");
  g_autoptr (FabMeasurements) both = read_sample ("benchmarks/nvbandwidth-h100-both.txt");
  g_autoptr (FabMeasurements) json = read_sample ("benchmarks/nvbandwidth.json");
  FabBytes size_bytes = (FabBytes) 512 << 20;

  (void) state;
  assert_int_equal (host->series->len, 16);
  assert_string_equal (measured_at (host, 0)->series.system, "8x NVIDIA GeForce RTX 4090");
  assert_rate (find (host, "host", "gpu2", "copy", FAB_MEASURE_BANDWIDTH), size_bytes, 23.90e9);
  assert_rate (find (host, "gpu7", "host", "copy", FAB_MEASURE_BANDWIDTH), size_bytes, 26.83e9);
  assert_int_equal (peers->series->len, 30); /* N/A on the diagonal */
  assert_rate (find (peers, "gpu3", "gpu0", "copy-read", FAB_MEASURE_BANDWIDTH), size_bytes, 21.82e9);
  /* Total of both directions. */
  assert_rate (find (both, "gpu0", "gpu7", "copy", FAB_MEASURE_BIDIRECTIONAL), size_bytes, 785.90e9 / 2);
  assert_int_equal (json->series->len, 4);
  assert_rate (find (json, "gpu1", "host", "copy", FAB_MEASURE_BANDWIDTH), size_bytes, 26.47e9);
  /* Of Read1, Read2 and Total, appended to each other, the last. */
  assert_rate (find (json, "gpu0", "gpu1", "copy-read", FAB_MEASURE_BIDIRECTIONAL), size_bytes,
               1521.22e9 / 2);
  assert_string_equal (measured_at (json, 0)->series.system, "2x NVIDIA B200");
}

static void
p2p_matrices (void **state)
{
  g_autoptr (FabMeasurements) pairs = read_sample ("benchmarks/p2p-v100-pairs.txt");
  g_autoptr (FabMeasurements) staged = read_sample ("benchmarks/p2p-rtx4090.txt");
  const FabMeasuredSeries *latency = find (staged, "gpu0", "gpu1", "staged", FAB_MEASURE_LATENCY);

  (void) state;
  assert_rate (find (pairs, "gpu0", "gpu1", "copy", FAB_MEASURE_BANDWIDTH), 160000000, 275.07e9);
  assert_rate (find (pairs, "gpu0", "gpu1", "staged", FAB_MEASURE_BANDWIDTH), 160000000, 21.51e9);
  assert_rate (find (pairs, "gpu2", "gpu3", "copy", FAB_MEASURE_BIDIRECTIONAL), 160000000, 517.45e9 / 2);
  assert_rate (find (pairs, "gpu0", "gpu0", "copy", FAB_MEASURE_BANDWIDTH), 160000000, 1508.20e9 / 2);
  /* 2 x 4 (staged to each other, with itself) + 2 x 2 with P2P, one direction; 2 x 2 both: 0 and 2 have no P2P. */
  assert_int_equal (pairs->series->len, 16 + 4 + 4);
  assert_int_equal (measured_point (latency, 16)->time_ps, 12840000);
  assert_int_equal (staged->notes->len, 3);
}

static void
osu_point_to_point (void **state)
{
  g_autoptr (FabMeasurements) suite = read_sample ("benchmarks/osu-suite-5.8.txt");
  g_autoptr (FabMeasurements) gpu = read_sample ("benchmarks/osu-bw-alps-gpu.txt");

  (void) state;
  assert_int_equal (suite->series->len, 3);
  assert_int_equal (measured_point (measured_at (suite, 1), 1024)->time_ps, 510000);
  assert_rate (measured_at (suite, 2), 1048576, 31963.81e6 / 2); /* MB of 10^6, both directions */
  assert_int_equal (measured_at (suite, 2)->series.kind, FAB_MEASURE_BIDIRECTIONAL);
  assert_rate (measured_at (gpu, 0), 4194304, 23989.54e6);
  assert_string_equal (measured_at (gpu, 0)->series.from_memory, "gpu");
  assert_int_equal (measured_at (gpu, 0)->series.window, 64);
}

static void
osu_collectives (void **state)
{
  g_autoptr (FabMeasurements) suite = read_sample ("benchmarks/osu-suite-5.8.txt");
  g_autoptr (FabMeasurements) full = read_sample ("benchmarks/osu-allreduce-full.txt");
  g_autoptr (FabMeasurements) exchange = read_sample ("benchmarks/osu-alltoall-alps.txt");

  (void) state;
  assert_string_equal (measured_at (suite, 0)->series.op, "all_reduce");
  assert_int_equal (measured_at (suite, 0)->series.n_ranks, 2);
  assert_int_equal (measured_point (measured_at (full, 0), 1073741824)->time_ps,
                    G_GINT64_CONSTANT (7327250000));
  assert_int_equal (measured_point (measured_at (full, 0), 1073741824)->n_samples, 100);
  assert_int_equal (measured_at (full, 0)->series.n_ranks, 4);
  /* OSU prints what goes to one rank; the buffer is for 2 nodes x 4 ranks. */
  assert_int_equal (measured_point (measured_at (exchange, 0), 8 * 65536)->time_ps, 44880000);
  assert_int_equal (measured_at (exchange, 0)->series.n_ranks, 8);
}

static void
osu_multiple_pairs (void **state)
{
  const char
      *text = "# OSU MPI Multiple Bandwidth / Message Rate Test v5.6.2\n# [ pairs: 4 ] [ window size: 32 ]\n"
              "# Size                  MB/s        Messages/s\n1024     4000.00      3906250.00\n";
  g_autoptr (FabMeasurements) self = measured_text (text, 0, NULL);

  (void) state;
  assert_rate (measured_at (self, 0), 1024, 1e9);
  assert_int_equal (measured_at (self, 0)->series.n_pairs, 4);
}

static void
fi_pingpong (void **state)
{
  g_autoptr (FabMeasurements) cxi = read_sample ("benchmarks/fi-pingpong-cxi.txt");
  g_autoptr (FabMeasurements) efa = read_sample ("benchmarks/fi-pingpong-efa.txt");

  (void) state;
  assert_int_equal (measured_at (cxi, 0)->points->len, 6);
  assert_rate (measured_at (cxi, 0), 1048576, 21234.98e6); /* more digits than 49.38 us */
  assert_string_equal (measured_at (cxi, 0)->series.method, "tagged");
  assert_int_equal (measured_point (measured_at (efa, 0), 256)->time_ps, 17300000);
  assert_string_equal (measured_at (efa, 0)->series.method, "dgram");
}

static void
nccl_tests (void **state)
{
  g_autoptr (FabMeasurements) self = read_sample ("nccl-tests/oci-a100x8.json");
  const FabSeries *series = &measured_at (self, 0)->series;

  (void) state;
  assert_string_equal (series->op, "all_reduce");
  assert_int_equal (series->n_ranks, 8);
}

static void
csv (void **state)
{
  g_autoptr (FabMeasurements) self = read_sample ("benchmarks/series.csv");
  g_autoptr (FabMeasurements) quoted = measured_text (
      "kind,system,size_bytes,time_ps,low_ps,is_complete\n"
      "latency,\"two \"\"A\"\" nodes, HDR\",8,1500000,1400000,0\n",
      0, NULL);

  (void) state;
  assert_rate (find (self, "gpu0", "gpu2", "copy", FAB_MEASURE_BANDWIDTH), 160000000, 376.65e9);
  assert_string_equal (measured_at (self, 0)->series.source, "nccl issue 1264");
  assert_string_equal (measured_at (quoted, 0)->series.system, "two \"A\" nodes, HDR");
  assert_int_equal (measured_point (measured_at (quoted, 0), 8)->low_ps, 1400000);
  assert_false (measured_point (measured_at (quoted, 0), 8)->is_complete);
}

static void
requests_complete_what_is_not_printed (void **state)
{
  FabMeasurementRequest request = {
    .file.name = "t", .system = "my box", .source = "page 3", .size_bytes = 10000000
  };
  g_autofree char *text = NULL;
  g_autoptr (FabMeasurements) self = NULL;

  (void) state;
  assert_true (
      g_file_get_contents (FIXTURES "benchmarks/p2p-v100-pairs.txt", &text, &request.file.size, NULL));
  request.file.text = text;
  self = fab_measurements_read (&request, NULL);
  assert_non_null (self);
  assert_string_equal (measured_at (self, 0)->series.system, "my box");
  assert_string_equal (measured_at (self, 0)->series.source, "page 3");
  assert_rate (find (self, "gpu0", "gpu1", "copy", FAB_MEASURE_BANDWIDTH), 10000000, 275.07e9);
}

/* Each with the place and a part of the message. */
static void
bad_texts_are_refused (void **state)
{
  static const struct {
    const char *text, *message;
  } cases[] = {
    { "RDMA_Write BW Test\n" DASHES COLUMNS " 64 5000 0.00 93.7x 1.5\n" DASHES, "t:4:15: '93.7x'" },
    { "RDMA_Write BW Test\n" DASHES COLUMNS " 64 5000 0.00 93.74 0.1\n" DASHES, "do not agree" },
    { "RDMA_Write BW Test\n" DASHES COLUMNS " 64 5000 0.00\n" DASHES,
      "t:4:2: 3 words in a table of 5 columns" },
    { "RDMA_Write BW Test\n" DASHES COLUMNS " 64 5000 0.00 93.74 1.535\n", "no line of dashes" },
    { "RDMA_Write BW Test\n" DASHES COLUMNS DASHES, "without rows" },
    { "RDMA_Atomic BW Test\n" DASHES COLUMNS DASHES, "write, read and send" },
    { "{\"test_info\": {\"test\": \"RDMA_Write_BW_Test\"}, \"results\": {\"MsgSize\": 64", "cut off" },
    { "Running host_to_device_memcpy_ce.\nmemcpy CE CPU(row) -> GPU(column) bandwidth (GB/s)\n     0    1\n0 25.5\n",
      "t:4:1: a row with 2 cells" },
    { "Running host_to_device_memcpy_ce.\nmemcpy CE CPU(row) -> GPU(column) bandwidth (GB/s)\n   0   1\n0 25.5 26.5\n\n"
      "SUM host_to_device_memcpy_ce 61.0\n",
      "t:6:30: the cells above add up to 52.00" },
    { "{\"nvbandwidth\": {\"testcases\": [{\"name\": \"host_to_device_memcpy_ce\", \"status\": \"Passed\", "
      "\"bandwidth_description\": \"(row) -> (column)\", \"bandwidth_matrix\": [[\"25.5\", \"x\"]], \"sum\": 25.5}]}}",
      "'x' stands where a number belongs" },
    { "{\"nvbandwidth\": {\"testcases\": [{\"name\": \"host_to_device_memcpy_ce\", \"status\": \"Error\"}]}}",
      "did not pass" },
    { "Unidirectional P2P=Disabled Bandwidth Matrix (GB/s)\n   D\\D     0      1\n     0 909.49  21.73\n",
      "after 1 of 2 rows" },
    { "Unidirectional P2P=Disabled Bandwidth Matrix (GB/s)\n   D\\D     0      1\n     0 9.4 2.7\n     1 9.4\n",
      "t:4:6: row 1 of a matrix of 2 GPUs" },
    { "# OSU MPI Bandwidth Test v5\n# Size      Bandwidth (MB/s)\n1 0.5\n2 abc\n4 -1\n", "t:4:3: 'abc'" },
    { "# OSU MPI Bandwidth Test v5\n# Size      Latency (us)\n1 0.5\n", "t:2:1: no column in MB/s" },
    { "# OSU MPI Bandwidth Test v5\n# Size  Bandwidth (MB/s)  Validation\n1 0.5 Fail\n", "did not arrive" },
    { "# OSU MPI Allreduce Latency Test v5\n# Size  Avg Latency(us)\n4 1.5\n", "--ranks N" },
    { "# OSU MPI Bandwidth Test v5\n# Size      Bandwidth (MB/s)\n1 0.5\n1 0.7\n",
      "t:4:3: size 1 is given twice" },
    { "# OSU MPI Bandwidth Test v5\n# Size      Bandwidth (MB/s)\n1 0.50\n2 0.7",
      "the text ends inside this row" },
    { "# OSU MPI Barrier Latency Test v5.8\n# Avg Latency(us)\n 12.57\n", "no row of osu" },
    { "bytes #sent #ack total time MB/sec usec/xfer Mxfers/sec\n1k 10 =10 20k 0.00s 58.85 99.40 0.06\n",
      "t:2:27: size, MB/sec and usec/xfer" },
    { "bytes #sent #ack total time MB/sec usec/xfer Mxfers/sec\n1x 10 =10 20k 0.00s 58.85 17.40 0.06\n",
      "t:2:1: '1x' stands where a size belongs" },
    { "bytes iters total time MB/sec usec/xfer Mxfers/sec\n1k 10 20k 0.00s 58.85 17.40 0.06\n",
      "which test is this?" },
    { "# kind: latencyy\nsize_bytes,time_us\n8,1\n", "t:1:9: 'latencyy' is no kind" },
    { "# knd: latency\nsize_bytes,time_us\n8,1\n", "t:1:3: 'knd' is no part of a series" },
    { "# kind: latency\nsize_bytes,time_s\n8,1\n", "t:2:12: unknown column 'time_s'" },
    { "# kind: latency\nsize_bytes,time_us\n8,1,2\n", "the row has 3 fields, and the table has 2 columns" },
    { "# kind: latency\nsize_bytes,time_us\n8k,1\n", "t:3:1: '8k' stands where a size in bytes belongs" },
    { "size_bytes,time_us\n8,1\n", "# kind: latency" },
    { "# kind: collective\nsize_bytes,time_us\n8,1\n", "a collective needs" },
    { "# OSU MPI Bandwidth Test v5\nsrun: error: nid1: task 0: Killed\n", "did not come to its end" },
    { "hello\n", "this text has none of the formats of measurements" },
  };

  (void) state;
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_autoptr (GError) error = NULL;

    if (measured_text (cases[i].text, 0, &error) != NULL)
      fail_msg ("accepted:\n%s", cases[i].text);
    if (strstr (error->message, cases[i].message) == NULL)
      fail_msg ("case %u: no '%s' in: %s", i, cases[i].message, error->message);
  }
}

static void
all_mistakes_at_once (void **state)
{
  g_autoptr (GError) error = NULL;

  (void) state;
  assert_null (measured_text ("# OSU MPI Bandwidth Test v5\n# Size      Bandwidth (MB/s)\n1 x\n2 0.5\n4 y\n",
                              0, &error));
  assert_non_null (strstr (error->message, "t:3:3: 'x'"));
  assert_non_null (strstr (error->message, "t:5:3: 'y'"));
}

static void
halves_of_both_directions_are_left_out (void **state)
{
  g_autoptr (GError) error = NULL;
  const char *text = "Running device_to_device_bidirectional_memcpy_read_ce.\n"
                     "memcpy CE GPU(row) <-> GPU(column) Read1 bandwidth (GB/s)\n"
                     "           0         1\n 0       N/A    760.10\n 1    760.10       N/A\n\n"
                     "SUM device_to_device_bidirectional_memcpy_read_ce_read1 1520.20\n\n"
                     "memcpy CE GPU(row) <-> GPU(column) Total bandwidth (GB/s)\n"
                     "           0         1\n 0       N/A   1521.22\n 1   1521.22       N/A\n\n"
                     "SUM device_to_device_bidirectional_memcpy_read_ce_total 3042.44\n";
  g_autoptr (FabMeasurements) self = measured_text (text, 0, &error);

  (void) state;
  assert_int_equal (self->series->len, 2);
  assert_int_equal (self->notes->len, 1);
  assert_rate (measured_at (self, 0), (FabBytes) 512 << 20, 1521.22e9 / 2);
}

/* busbw / algbw of the largest row is 1.875 = 2 (n - 1) / n, so all_reduce of 16: no other n has that, to two
 * decimals. */
static void
rows_alone_say_what_they_are_of (G_GNUC_UNUSED void **state)
{
  g_autoptr (FabMeasurements) made = read_sample ("nccl-tests/rows-alone.txt");

  assert_string_equal (measured_at (made, 0)->series.op, "all_reduce");
  assert_int_equal (measured_at (made, 0)->series.n_ranks, 16);
  assert_int_equal (measured_at (made, 0)->points->len, 4);
  assert_int_equal (made->notes->len, 0);
}

/* 0.875 = (n - 1) / n of 8 ranks: an all-gather or a reduce-scatter, which only --op can say. */
static void
a_collective_is_named_where_rows_do_not_say_it (G_GNUC_UNUSED void **state)
{
  static const char row[] = " 1073741824 16777216 float none -1 2684 400.06 350.05 0 2684 400.06 350.05 0\n";
  const FabMeasurementRequest plain = { .file = { "t", row, strlen (row) } };
  const struct {
    const char *op;
    guint n_ranks;
    const char *mistake; /* NULL: none */
  } cases[] = {
    { NULL, 0, "t: which collective is this?" },
    { "all_gather", 0, NULL },
    { "all_gather", 8, NULL },
    { "all_gather", 16,
      "t: busbw is 0.875 times algbw in this table, and of all_gather with 16 ranks it is 0.9375 times" },
    { "all_reduce", 0, "t: no number of ranks" },
    { "allgather_", 0, "t: --op allgather_: no such collective; nearest is all_gather" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    FabMeasurementRequest request = plain;
    g_autoptr (GError) error = NULL;

    request.op = cases[i].op;
    request.n_ranks = cases[i].n_ranks;
    g_autoptr (FabMeasurements) made = fab_measurements_read (&request, &error);
    if (cases[i].mistake != NULL) {
      assert_null (made);
      if (strstr (error->message, cases[i].mistake) == NULL)
        fail_msg ("%s", error->message);
    } else
      assert_int_equal (measured_at (made, 0)->series.n_ranks, 8);
  }
}

/* All marks of a tool are there, or it is not that tool's. */
static void
tools_are_known_by_their_marks (G_GNUC_UNUSED void **state)
{
  static const struct {
    const char *text, *format; /* NULL: none */
  } cases[] = {
    { "#bytes\nBW average[", "perftest" },
    { "#bytes\nt_avg[usec]", "perftest" },
    { "#bytes\nt_typical[usec]", "perftest" },
    { "#bytes", NULL },
    { "BW average[", NULL },
    { "t_avg[usec] t_typical[usec]", NULL },
    { "{test_info results", "perftest-json" },
    { "{test_info", NULL },
    { "{results", NULL },
    { "test_info results", NULL },
    { "Unidirectional P2P= D\\D", "p2pBandwidthLatencyTest" },
    { "Unidirectional P2P=", NULL },
    { "D\\D", NULL },
    { "nvbandwidth Version", "nvbandwidth" },
    { "(row) (column)", "nvbandwidth" },
    { "(row)", NULL },
    { "(column)", NULL },
    { "{nvbandwidth Version", NULL },
    { "{\"nvbandwidth\"", "nvbandwidth-json" },
    { "\"nvbandwidth\"", NULL },
    { "algbw busbw", "nccl-tests" },
    { "algbw", NULL },
    { "busbw", NULL },
    { "{algbw busbw", NULL },
    { "{\"out_of_place\"", "nccl-tests" },
    { "\"out_of_place\"", NULL },
    { "8 2 float 1 2 3 0 1 2 3 0", "nccl-tests" },
    { "# OSU MPI x Test", "osu" },
    { "# OSU MPI x", NULL },
    { "x Test", NULL },
    { "MB/sec usec/xfer", "fabtests" },
    { "MB/sec", NULL },
    { "usec/xfer", NULL },
    { "# c\n\nsize_bytes,time_us\n", "csv" },
    { "size_bytes\n", NULL },
    { "a,b\nsize_bytes,time_us\n", NULL },
    { "# c\n\ntype,m,n,k,us\n", "kernels" },
    { "type,m,n,k,us,tflops\n", "kernels" },
    { "type,m,n,k,usx\n", NULL },
    { "type,m,n,k\n", NULL },
    { "# c\n", NULL },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    FabFileText file = { "x", cases[i].text, strlen (cases[i].text) };
    const FabFileFormat *format = fab_file_format_of (FAB_FILE_MEASUREMENT, &file);

    if (g_strcmp0 (format != NULL ? format->name : NULL, cases[i].format) != 0)
      fail_msg ("%s: %s", cases[i].text, format != NULL ? format->name : "none");
  }
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (rows_alone_say_what_they_are_of),
    cmocka_unit_test (a_collective_is_named_where_rows_do_not_say_it),
    cmocka_unit_test (perftest_in_gigabits),
    cmocka_unit_test (perftest_both_directions),
    cmocka_unit_test (perftest_json),
    cmocka_unit_test (nvbandwidth),
    cmocka_unit_test (p2p_matrices),
    cmocka_unit_test (osu_point_to_point),
    cmocka_unit_test (osu_collectives),
    cmocka_unit_test (osu_multiple_pairs),
    cmocka_unit_test (fi_pingpong),
    cmocka_unit_test (nccl_tests),
    cmocka_unit_test (csv),
    cmocka_unit_test (requests_complete_what_is_not_printed),
    cmocka_unit_test (bad_texts_are_refused),
    cmocka_unit_test (all_mistakes_at_once),
    cmocka_unit_test (halves_of_both_directions_are_left_out),
    cmocka_unit_test (tools_are_known_by_their_marks),
  };

  return cmocka_run_group_tests (tests, NULL, NULL);
}
