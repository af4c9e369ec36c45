/* SPDX-License-Identifier: Apache-2.0 */
/* test_perftest.c - tables of perftest, as text and as JSON: which test it is, what a row says in which unit, messages
 * in flight, and what is refused.
 *
 * A series is written "kind method from (memory), window, queue pairs, MTU: its points; note", and a point "size rate
 * in GB/s" or "size time in us (shortest to longest of samples)".
 */
#include "formats/text/notes.h"
#include "tests/unit/formats/measurement/measured.h"

static char *
told (const FabMeasurements *measurements)
{
  GString *text = g_string_new (NULL);

  for (guint i = 0; i < measurements->series->len; i++) {
    const FabMeasuredSeries *measured = measured_at (measurements, i);
    const FabSeries *series = &measured->series;

    assert_string_equal (series->backend, "perftest");
    assert_string_equal (series->from_memory, series->to_memory);
    g_string_append_printf (text, "%s %s %s (%s), %u, %u, %u:", fab_measure_kind_names[series->kind],
                            series->method, series->from != NULL ? series->from : "-", series->from_memory,
                            series->window, series->n_queue_pairs, series->mtu_bytes);
    for (guint p = 0; p < measured->points->len; p++) {
      const FabMeasuredPoint *point = &g_array_index (measured->points, FabMeasuredPoint, p);
      double time_us = (double) point->time_ps / 1e6;

      if (series->kind == FAB_MEASURE_LATENCY)
        g_string_append_printf (text, " %" G_GUINT64_FORMAT " %g (%g to %g of %u)", point->size_bytes,
                                time_us, (double) point->min_ps / 1e6, (double) point->max_ps / 1e6,
                                point->n_samples);
      else
        g_string_append_printf (text, " %" G_GUINT64_FORMAT " %.4g", point->size_bytes,
                                (double) point->size_bytes / time_us / 1e3);
    }
    g_string_append_printf (text, "; %s\n", series->note);
  }
  for (guint i = 0; i < measurements->notes->len; i++)
    g_string_append_printf (text, "note: %s\n",
                            ((const FabFileNote *) g_ptr_array_index (measurements->notes, i))->text);
  return g_string_free (text, FALSE);
}

static void
assert_told (const char *text, const char *wanted)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (FabMeasurements) measurements = measured_text (text, 0, &error);

  if (measurements == NULL)
    fail_msg ("%s\n%s", error->message, text);
  g_autofree char *found = told (measurements);
  if (strcmp (found, wanted) != 0)
    fail_msg ("found:\n%s\nwanted:\n%s", found, wanted);
}

static void
assert_refused (const char *text, const char *problem)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (FabMeasurements) measurements = measured_text (text, 0, &error);

  if (measurements != NULL)
    fail_msg ("accepted:\n%s", text);
  if (strstr (error->message, problem) == NULL)
    fail_msg ("no '%s' in: %s", problem, error->message);
}

#define DASHES "---------------------------------------------------------------------------------------\n"
#define MIB " #bytes     #iterations    BW peak[MiB/sec]    BW average[MiB/sec]   MsgRate[Mpps]\n"
#define MB " #bytes     #iterations    BW peak[MB/sec]    BW average[MB/sec]   MsgRate[Mpps]\n"
#define GB " #bytes     #iterations    BW peak[Gb/sec]    BW average[Gb/sec]   MsgRate[Mpps]\n"
#define LAT                                                                                               \
  " #bytes #iterations    t_min[usec]    t_max[usec]  t_typical[usec]    t_avg[usec]    t_stdev[usec]   " \
  "99% percentile[usec]   99.9% percentile[usec]\n"
#define ONE "BW average; small ones from MsgRate"
#define HALF "BW average, half of both directions together; small ones from MsgRate"

/* 1000 MiB/s are 1.049 GB/s, and 8 Gb/s are 1 GB/s. A row of few digits is told by its message rate. Of both directions
 * together each has half. */
static void
tests_of_bandwidth (G_GNUC_UNUSED void **state)
{
  static const struct {
    const char *head, *rows, *wanted;
  } cases[] = {
    { "RDMA_Write BW Test\n", MIB " 1048576 1000 1010.00 1000.00 0.001000\n",
      "bandwidth write - (host), 0, 0, 0: 1048576 1.049; " ONE "\n" },
    { "RDMA_Read BW Test\n", MB " 1048576 1000 1010.00 1000.00 0.001000\n",
      "bandwidth read - (host), 0, 0, 0: 1048576 1.049; " ONE "\n" },
    { "Send BW Test\n", GB " 1000 1000 9.00 8.00 1.000000\n 8 1000 0.02 0.02 0.312500\n",
      "bandwidth send - (host), 0, 0, 0: 8 0.0025 1000 1; " ONE "\n" },
    { "RDMA_Write Bidirectional BW Test\n", GB " 1000 1000 9.00 8.00 1.000000\n",
      "bidirectional write - (host), 0, 0, 0: 1000 0.5; " HALF "\n" },
    { "ib_write_bw -d mlx5_0 -b -a\n", GB " 1000 1000 9.00 8.00 1.000000\n",
      "bidirectional write - (host), 0, 0, 0: 1000 0.5; " HALF "\n" },
    { "ib_read_bw --bidirectional\n", GB " 1000 1000 9.00 8.00 1.000000\n",
      "bidirectional read - (host), 0, 0, 0: 1000 0.5; " HALF "\n" },
    { "ib_send_bw 10.0.0.1\n", GB " 1000 1000 9.00 8.00 1.000000\n",
      "bandwidth send - (host), 0, 0, 0: 1000 1; " ONE "\n" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_autofree char *text = g_strconcat (cases[i].head, DASHES, cases[i].rows, DASHES, NULL);

    assert_told (text, cases[i].wanted);
  }
}

/* The median where it is there, else the mean; the answer to a read is in its time. */
static void
tests_of_latency (G_GNUC_UNUSED void **state)
{
  static const char mean[] = " #bytes #iterations t_avg[usec] tps average\n";

  assert_told (
      "RDMA_Write Latency Test\n" LAT " 2 1000 1.50 9.00 2.00 2.25 0.10 3.00 4.00\n" DASHES,
      "latency write - (host), 0, 0, 0: 2 2 (1.5 to 9 of 1000); t_typical, the median; half a round trip\n");
  assert_told ("RDMA_Read Latency Test\n" LAT " 2 1000 1.50 9.00 2.00 2.25 0.10 3.00 4.00\n" DASHES,
               "latency read - (host), 0, 0, 0: 2 2 (1.5 to 9 of 1000); "
               "t_typical, the median; request and answer together\n");
  for (guint is_read = 0; is_read < 2; is_read++) {
    g_autofree char *text = g_strconcat (is_read ? "ib_read_lat\n" : "ib_send_lat\n", mean,
                                         " 2 1000 2.25 444\n", DASHES, NULL);

    assert_told (text,
                 is_read
                     ? "latency read - (host), 0, 0, 0: 2 2.25 (0 to 0 of 1000); t_avg; request and answer "
                       "together\n"
                     : "latency send - (host), 0, 0, 0: 2 2.25 (0 to 0 of 1000); t_avg; half a round trip\n");
  }
}

/* Empty lines are passed over, and columns stand where the header has them, whatever their order. */
static void
tables_of_any_order (G_GNUC_UNUSED void **state)
{
  assert_told ("RDMA_Write BW Test\n\n" GB "\n 1000 1000 9.00 8.00 1.000000\n\n" DASHES,
               "bandwidth write - (host), 0, 0, 0: 1000 1; " ONE "\n");
  assert_told ("Send BW Test\n #bytes BW average[Gb/sec] #iterations\n 1000 8.00 77 3.00\n" DASHES,
               "bandwidth send - (host), 0, 0, 0: 1000 1; " ONE "\n");
  assert_told (
      "Send Latency Test\n #bytes t_avg[usec] t_min[usec] t_max[usec] #iterations\n 2 3.00 1.00 4.00 5\n" DASHES,
      "latency send - (host), 0, 0, 0: 2 3 (1 to 4 of 5); t_avg; half a round trip\n");
}

/* Of a table that is not that of its test the rows are not read, too. */
static void
rows_of_a_wrong_table (G_GNUC_UNUSED void **state)
{
  static const char *const texts[] = {
    "RDMA_Write BW Test\n" LAT " 2 1.50 9.00\n" DASHES,
    "RDMA_Write Latency Test\n" GB " 2 1.50 9.00\n" DASHES,
    "RDMA_Write Latency Test\n#bytes t_min[usec] t_avg[msec]\n2 1.50 9.00 1 1\n" DASHES
  };

  for (guint i = 0; i < G_N_ELEMENTS (texts); i++) {
    g_autoptr (GError) error = NULL;
    g_autoptr (FabMeasurements) measurements = measured_text (texts[i], 0, &error);

    assert_null (measurements);
    if (i < 2)
      assert_non_null (strstr (error->message, "no column of the test above"));
    assert_null (strstr (error->message, "t:3:"));
  }
}

/* Messages in flight are those of each queue pair; of reads as many as are outstanding, where that is told. */
static void
facts_above_a_table (G_GNUC_UNUSED void **state)
{
  static const char facts[] = " Device         : mlx5_2\n Number of qps   : 4\t\tTransport type : IB\n"
                              " TX depth        : 128\n Outstand reads  : 16\n Mtu             : 4096[B]\n";
  static const struct {
    const char *title, *more, *wanted;
  } cases[] = {
    { "RDMA_Write BW Test\n", "", "bandwidth write mlx5_2 (host), 512, 4, 4096: 1000 1; " ONE "\n" },
    { "RDMA_Read BW Test\n", "", "bandwidth read mlx5_2 (host), 64, 4, 4096: 1000 1; " ONE "\n" },
    { "RDMA_Write BW Test\n", " Use ROCm memory : ON\n",
      "bandwidth write mlx5_2 (gpu), 512, 4, 4096: 1000 1; " ONE "\n" },
    { "RDMA_Write BW Test\n", " Use ROCm memory : OFF\n",
      "bandwidth write mlx5_2 (host), 512, 4, 4096: 1000 1; " ONE "\n" },
    { "initializing CUDA\nRDMA_Write BW Test\n", "",
      "bandwidth write mlx5_2 (gpu), 512, 4, 4096: 1000 1; " ONE "\n" },
    { "ib_write_bw --use_cuda=0\nRDMA_Write BW Test\n", "",
      "bandwidth write mlx5_2 (gpu), 512, 4, 4096: 1000 1; " ONE "\n" },
    { "ib_write_bw --use_rocm=0\n", "", "bandwidth write mlx5_2 (gpu), 512, 4, 4096: 1000 1; " ONE "\n" },
    /* More than any test has: 65535 of each. */
    { "RDMA_Write BW Test\n", " Number of qps : 70000\n TX depth : 70000\n Mtu : 4294967297\n",
      "bandwidth write mlx5_2 (host), 4294836225, 65535, 0: 1000 1; " ONE "\n" },
    { "RDMA_Read BW Test\n", " Outstand reads : 99999\n Mtu : 99999\n",
      "bandwidth read mlx5_2 (host), 262140, 4, 65535: 1000 1; " ONE "\n" },
    { "RDMA_Write BW Test\n", " Picking CUDA device 0\n",
      "bandwidth write mlx5_2 (gpu), 512, 4, 4096: 1000 1; " ONE "\n" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_autofree char *text = g_strconcat (cases[i].title, facts, cases[i].more,
                                         GB " 1000 1000 9.00 8.00 1.000000\n" DASHES, NULL);

    assert_told (text, cases[i].wanted);
  }
}

/* A table ends at the dashes, and with it the memory of a GPU; results of either side are in the first
 * table already. */
static void
several_tables_in_one_text (G_GNUC_UNUSED void **state)
{
  assert_told ("RDMA_Write BW Test\n Picking CUDA device 0\n" DASHES GB
               " 1000 1000 9.00 8.00 1.000000\n" DASHES "RDMA_Read BW Test\n" GB
               " 1000 1000 9.00 16.00 2.000000\n" DASHES,
               "bandwidth write - (gpu), 0, 0, 0: 1000 1; " ONE "\n"
               "bandwidth read - (host), 0, 0, 0: 1000 2; " ONE "\n");
  assert_told ("RDMA_Write Bidirectional BW Test\n" GB " 1000 1000 9.00 8.00 1.000000\n" DASHES
               "Local results:\n" GB " 1000 1000 9.00 4.00 0.500000\n" DASHES "Remote results:\n" GB
               " 1000 1000 9.00 4.00 0.500000\n" DASHES "RDMA_Write BW Test\n" GB
               " 500 1000 9.00 8.00 2.000000\n" DASHES,
               "bidirectional write - (host), 0, 0, 0: 1000 0.5; " HALF "\n"
               "bandwidth write - (host), 0, 0, 0: 500 1; " ONE "\n"
               "note: local and remote results of --report-both, which the first table adds\n");
}

static void
tables_that_are_not_whole (G_GNUC_UNUSED void **state)
{
  static const struct {
    const char *text, *problem;
  } cases[] = {
    { "RDMA_Atomic BW Test\n" GB " 1000 1000 9.00 8.00 1.000000\n" DASHES,
      "t:1:1: of perftest write, read and send are taken over, this is another" },
    { GB " 1000 1000 9.00 8.00 1.000000\n" DASHES, "t:1:2: which test is this?" },
    { "RDMA_Write BW Test\n" LAT DASHES, "t:2:2: no column of the test above: 'BW average[MB/sec]'" },
    { "RDMA_Write Latency Test\n" GB DASHES, "t:2:2: no column of the test above: 't_typical[usec]'" },
    { "RDMA_Write BW Test\n #bytes #iterations BW average[kB/sec]\n 1000 1000 5.00\n" DASHES,
      "t:2:24: this unit is none of perftest: MB/sec, MiB/sec or Gb/sec" },
    { "RDMA_Write BW Test\n" GB " 1000 1000 9.00 8.00\n" DASHES, "t:3:2: 4 words in a table of 5 columns" },
    { "RDMA_Write BW Test\n" GB " 1000 1000 9.00 8.00 1.000000\n", "no line of dashes ends this table" },
    { "RDMA_Write BW Test\n" GB " 1000 1000 9.00 8.00 1.000000\nRDMA_Read BW Test\n" GB
      " 1000 1000 9.00 8.00 1.000000\n" DASHES,
      "t:2:2: no line of dashes ends this table" },
    { "RDMA_Write BW Test\n" GB DASHES, "a table without rows: the side that waits prints none" },
    { "RDMA_Write BW Test\n" GB " 1000 1000 9.00 8.00 2.000000\n" DASHES,
      "t:3:17: bandwidth and message rate of this row do not agree" },
    { "RDMA_Write BW Test\n" GB " 1000 1000 9.00 8.00 0.940000\n" DASHES,
      "t:3:17: bandwidth and message rate of this row do not agree" },
    { "RDMA_Write Latency Test\n" LAT " 2 1000 2.50 9.00 2.00 2.25 0.10 3.00 4.00\n" DASHES,
      "t:3:19: this is not between the row's t_min and t_max" },
    { "RDMA_Write Latency Test\n" LAT " 2 1000 1.50 1.75 2.00 2.25 0.10 3.00 4.00\n" DASHES,
      "t:3:19: this is not between the row's t_min and t_max" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    assert_refused (cases[i].text, cases[i].problem);
  /* A few percent apart are no mistake: 0.96 million messages of 1000 bytes are 7.68 Gb/s. */
  assert_told ("RDMA_Write BW Test\n" GB " 1000 1000 9.00 8.00 0.960000\n" DASHES,
               "bandwidth write - (host), 0, 0, 0: 1000 0.96; " ONE "\n");
}

#define INFO(test)                                                                                 \
  "{\n\"test_info\": {\n\"test\": \"" test "\",\n\"Device\": \"mlx5_0\",\n\"Number_of_qps\": 2,\n" \
  "\"TX_depth\": 64,\n\"Outstand_reads\": 8,\n\"Mtu\": 2048"
#define RESULTS(row) "},\n\"results\": {\n" row "}\n}\n"

/* JSON does not name the unit: 1000 MiB/s of 1 MiB are 1000 messages a second, and 8 Gb/s of 1000 bytes a million. */
static void
json_has_one_row (G_GNUC_UNUSED void **state)
{
  static const char bandwidth[] = RESULTS ("\"MsgSize\": 1000,\n\"n_iterations\": 5,\n\"BW_average\": 8.00,\n"
                                           "\"MsgRate\": 1.000000\n");
  static const struct {
    const char *text, *wanted;
  } cases[] = {
    { INFO ("RDMA_Write BW Test") "%s", "bandwidth write mlx5_0 (host), 128, 2, 2048: 1000 1; " ONE "\n" },
    { INFO ("RDMA_Read_BW_Test") "%s", "bandwidth read mlx5_0 (host), 16, 2, 2048: 1000 1; " ONE "\n" },
    { INFO ("RDMA_Write Bidirectional BW Test") "%s",
      "bidirectional write mlx5_0 (host), 128, 2, 2048: 1000 0.5; " HALF "\n" },
    { INFO ("RDMA_Write BW Test") ",\n\"cuda_device\": 0%s",
      "bandwidth write mlx5_0 (gpu), 128, 2, 2048: 1000 1; " ONE "\n" },
    { INFO ("RDMA_Write BW Test") ",\n\"Use_ROCm_memory\": \"ON\"%s",
      "bandwidth write mlx5_0 (gpu), 128, 2, 2048: 1000 1; " ONE "\n" },
    { INFO ("RDMA_Write BW Test") ",\n\"Use_ROCm_memory\": \"OFF\"%s",
      "bandwidth write mlx5_0 (host), 128, 2, 2048: 1000 1; " ONE "\n" },
    { "{test_info: {test: RDMA_Write_BW_Test, note: \"a, {b: c\"%s",
      "bandwidth write - (host), 0, 0, 0: 1000 1; " ONE "\n" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    GString *text = g_string_new (cases[i].text);

    g_string_replace (text, "%s", bandwidth, 1);
    assert_told (text->str, cases[i].wanted);
    g_string_free (text, TRUE);
  }
  assert_told ("{\"test_info\": {\"test\": \"Send BW Test\", \"Device\": \"\"" RESULTS (
                   "\"MsgSize\": 1000, \"BW_average\": 8.00, \"MsgRate\": 1.0"),
               "bandwidth send  (host), 0, 0, 0: 1000 1; " ONE "\n");
  assert_told (INFO ("Send BW Test")
                   RESULTS ("\"MsgSize\": 1048576, \"BW_average\": 1000.00, \"MsgRate\": 0.001000\n"),
               "bandwidth send mlx5_0 (host), 128, 2, 2048: 1048576 1.049; " ONE "\n");
  assert_told (
      INFO ("Send_Latency_Test")
          RESULTS ("\"MsgSize\": 2, \"n_iterations\": 7, \"t_min\": 1.5, \"t_max\": 9, \"t_typical\": 2, "
                   "\"t_avg\": 2.5\n"),
      "latency send mlx5_0 (host), 0, 2, 2048: 2 2 (1.5 to 9 of 7); t_typical, the median; half a round trip\n");
  assert_told (INFO ("Send_Latency_Test") RESULTS ("\"MsgSize\": 2, \"n_iterations\": 7, \"t_avg\": 2.5\n"),
               "latency send mlx5_0 (host), 0, 2, 2048: 2 2.5 (0 to 0 of 7); t_avg; half a round trip\n");
}

static void
json_that_is_not_whole (G_GNUC_UNUSED void **state)
{
  static const struct {
    const char *text, *problem;
  } cases[] = {
    { INFO (
          "RDMA_Write BW Test") "},\n\"results\": {\n\"MsgSize\": 1000, \"BW_average\": 8.00, \"MsgRate\": 1.0}\n",
      "a brace is missing: the file was cut off" },
    { "{\"test_info\": {\"Device\": \"a\"" RESULTS (
          "\"MsgSize\": 1000, \"BW_average\": 8.00, \"MsgRate\": 1.0"),
      "no `test` in `test_info`: which test is this?" },
    { INFO ("RDMA_Write BW Test") RESULTS ("\"BW_average\": 8.00"), "no `MsgSize` with `BW_average`" },
    { INFO ("RDMA_Write BW Test") RESULTS ("\"MsgSize\": 1000"), "no `MsgSize` with `BW_average`" },
    { INFO ("RDMA_Atomic BW Test") RESULTS ("\"MsgSize\": 1000, \"BW_average\": 8.00, \"MsgRate\": 1.0"),
      "write, read and send are taken over, this is another" },
    { INFO ("RDMA_Write BW Test") RESULTS ("\"MsgSize\": 1000, \"t_avg\": 8.00"),
      "the results are not those of this test" },
    { INFO ("RDMA_Write Latency Test") RESULTS ("\"MsgSize\": 1000, \"BW_average\": 8.00, \"MsgRate\": 1.0"),
      "the results are not those of this test" },
    { INFO ("RDMA_Write BW Test") RESULTS ("\"MsgSize\": 1000, \"BW_average\": 8.00"),
      "no `MsgRate` beside it tells whether this is in MiB/s or in Gb/s" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    assert_refused (cases[i].text, cases[i].problem);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (tests_of_bandwidth),        cmocka_unit_test (tests_of_latency),
    cmocka_unit_test (tables_of_any_order),       cmocka_unit_test (rows_of_a_wrong_table),
    cmocka_unit_test (facts_above_a_table),       cmocka_unit_test (several_tables_in_one_text),
    cmocka_unit_test (tables_that_are_not_whole), cmocka_unit_test (json_has_one_row),
    cmocka_unit_test (json_that_is_not_whole),
  };

  return cmocka_run_group_tests (tests, NULL, NULL);
}
