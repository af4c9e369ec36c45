/* SPDX-License-Identifier: Apache-2.0 */
/* test_nvbandwidth.c - testcases of nvbandwidth, as text and as JSON: who copies to whom, what a cell says, what is
 * left out, and what is refused.
 *
 * A series is written "kind from (memory) to (memory), method, pairs at once: rate in GB/s or time in ns; note".
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

    assert_int_equal (measured->points->len, 1);
    const FabMeasuredPoint *point = &g_array_index (measured->points, FabMeasuredPoint, 0);
    double time_s = fab_ps_to_seconds (point->time_ps);
    gboolean is_latency = series->kind == FAB_MEASURE_LATENCY;

    assert_string_equal (series->backend, "nvbandwidth");
    g_string_append_printf (text, "%s %s (%s) to %s (%s), %s, %u: %.4g %s of %" G_GUINT64_FORMAT "%s%s\n",
                            fab_measure_kind_names[series->kind], series->from, series->from_memory,
                            series->to, series->to_memory, series->method, series->n_pairs,
                            is_latency ? time_s * 1e9 : (double) point->size_bytes / time_s / 1e9,
                            is_latency ? "ns" : "GB/s", point->size_bytes, series->note != NULL ? "; " : "",
                            series->note != NULL ? series->note : "");
  }
  for (guint i = 0; i < measurements->notes->len; i++) {
    const FabFileNote *note = g_ptr_array_index (measurements->notes, i);

    g_string_append_printf (text, "note %u: %s\n", note->line, note->text);
  }
  return g_string_free (text, FALSE);
}

static void
assert_told (const char *text, FabBytes size_bytes, const char *wanted)
{
  FabMeasurementRequest request = { .file = { "t", text, strlen (text) }, .size_bytes = size_bytes };
  g_autoptr (GError) error = NULL;
  g_autoptr (FabMeasurements) measurements = fab_measurements_read (&request, &error);

  if (measurements == NULL)
    fail_msg ("%s\n%s", error->message, text);
  g_autofree char *found = told (measurements);
  if (strcmp (found, wanted) != 0)
    fail_msg ("found:\n%s\nwanted:\n%s", found, wanted);
}

static const struct {
  const char *name, *description, *cells[4], *wanted;
  gboolean has_two_rows;
} testcases[] = {
  { "host_to_device_memcpy_ce",
    "memcpy CE CPU(row) -> GPU(column) bandwidth (GB/s)",
    { "20.00", "10.00" },
    "bandwidth host (host) to gpu0 (gpu), copy, 1: 20 GB/s of 1000; host_to_device_memcpy_ce\n"
    "bandwidth host (host) to gpu1 (gpu), copy, 1: 10 GB/s of 1000; host_to_device_memcpy_ce\n",
    FALSE },
  { "device_to_host_memcpy_sm",
    "memcpy SM CPU(row) <- GPU(column) bandwidth (GB/s)",
    { "20.00", "N/A" },
    "bandwidth gpu0 (gpu) to host (host), kernel, 1: 20 GB/s of 1000; device_to_host_memcpy_sm\n",
    FALSE },
  { "host_to_device_bidirectional_memcpy_ce",
    "memcpy CE CPU(row) <-> GPU(column) bandwidth (GB/s)",
    { "20.00", "10.00" },
    "bidirectional host (host) to gpu0 (gpu), copy, 1: 20 GB/s of 1000; host_to_device_bidirectional_memcpy_ce; "
    "one direction, while the other is busy\n"
    "bidirectional host (host) to gpu1 (gpu), copy, 1: 10 GB/s of 1000; host_to_device_bidirectional_memcpy_ce; "
    "one direction, while the other is busy\n",
    FALSE },
  { "device_to_device_memcpy_read_ce",
    "memcpy CE GPU(row) -> GPU(column) bandwidth (GB/s)",
    { "N/A", "20.00", "10.00", "N/A" },
    "bandwidth gpu0 (gpu) to gpu1 (gpu), copy-read, 1: 20 GB/s of 1000; device_to_device_memcpy_read_ce\n"
    "bandwidth gpu1 (gpu) to gpu0 (gpu), copy-read, 1: 10 GB/s of 1000; device_to_device_memcpy_read_ce\n",
    TRUE },
  { "device_to_device_memcpy_write_ce",
    "memcpy CE GPU(row) <- GPU(column) bandwidth (GB/s)",
    { "N/A", "20.00", "10.00", "N/A" },
    "bandwidth gpu1 (gpu) to gpu0 (gpu), copy, 1: 20 GB/s of 1000; device_to_device_memcpy_write_ce\n"
    "bandwidth gpu0 (gpu) to gpu1 (gpu), copy, 1: 10 GB/s of 1000; device_to_device_memcpy_write_ce\n",
    TRUE },
  { "device_to_device_memcpy_read_sm",
    "memcpy SM GPU(row) -> GPU(column) bandwidth (GB/s)",
    { "N/A", "20.00", "N/A", "N/A" },
    "bandwidth gpu0 (gpu) to gpu1 (gpu), kernel-read, 1: 20 GB/s of 1000; device_to_device_memcpy_read_sm\n",
    TRUE },
  { "device_to_device_bidirectional_memcpy_write_sm",
    "memcpy SM GPU(row) <-> GPU(column) bandwidth (GB/s)",
    { "N/A", "20.00", "N/A", "N/A" },
    "bidirectional gpu0 (gpu) to gpu1 (gpu), kernel, 1: 10 GB/s of 1000; "
    "device_to_device_bidirectional_memcpy_write_sm; half of both directions together\n",
    TRUE },
  { "device_to_device_bidirectional_memcpy_write_ce",
    "memcpy CE GPU(row) <-> GPU(column) Total bandwidth (GB/s)",
    { "N/A", "20.00", "N/A", "N/A" },
    "bidirectional gpu0 (gpu) to gpu1 (gpu), copy, 1: 10 GB/s of 1000; "
    "device_to_device_bidirectional_memcpy_write_ce; half of both directions together\n",
    TRUE },
  { "device_to_device_bidirectional_memcpy_write_ce",
    "memcpy CE GPU(row) <-> GPU(column) bandwidth (GB/s)",
    { "N/A", "20.00", "N/A", "N/A" },
    "bidirectional gpu0 (gpu) to gpu1 (gpu), copy, 1: 20 GB/s of 1000; "
    "device_to_device_bidirectional_memcpy_write_ce; one direction, while the other is busy\n",
    TRUE },
  { "all_to_host_memcpy_ce",
    "memcpy CE CPU(row) <- GPU(column) bandwidth (GB/s)",
    { "20.00", "10.00" },
    "bandwidth gpu0 (gpu) to host (host), copy, 2: 20 GB/s of 1000; all_to_host_memcpy_ce; all GPUs at once\n"
    "bandwidth gpu1 (gpu) to host (host), copy, 2: 10 GB/s of 1000; all_to_host_memcpy_ce; all GPUs at once\n",
    FALSE },
  { "host_to_all_memcpy_ce",
    "memcpy CE CPU(row) -> GPU(column) bandwidth (GB/s)",
    { "20.00", "N/A" },
    "bandwidth host (host) to gpu0 (gpu), copy, 2: 20 GB/s of 1000; host_to_all_memcpy_ce; all GPUs at once\n",
    FALSE },
  { "all_to_one_write_ce",
    "memcpy CE All Gpus -> GPU(column) (row) total bandwidth (GB/s)",
    { "20.00", "N/A" },
    "bandwidth other GPUs (gpu) to gpu0 (gpu), copy, 1: 20 GB/s of 1000; all_to_one_write_ce; all GPUs at once\n",
    FALSE },
  { "multinode_one_to_all_read_sm",
    "memcpy SM GPU(column) -> All Gpus (row) total bandwidth (GB/s)",
    { "N/A", "20.00" },
    "bandwidth gpu1 (gpu) to other GPUs (gpu), kernel-read, 1: 20 GB/s of 1000; multinode_one_to_all_read_sm; "
    "all GPUs at once\n",
    FALSE },
  { "host_device_latency_sm",
    "memory latency SM CPU(row) <-> GPU(column) (ns)",
    { "800.00", "N/A" },
    "latency gpu0 (gpu) to host (host), load, 1: 400 ns of 8; host_device_latency_sm; half of a load and its "
    "answer\n",
    FALSE },
};

/* One testcase of two GPUs, as text and as JSON: they tell the same. Sizes are 1000 bytes, so that notes are short. */
static void
testcases_say_who_copies_to_whom (G_GNUC_UNUSED void **state)
{
  for (guint i = 0; i < G_N_ELEMENTS (testcases); i++) {
    const char *const *cells = testcases[i].cells;
    g_autofree char *more = testcases[i].has_two_rows ? g_strdup_printf (" 1 %s %s\n", cells[2], cells[3])
                                                      : g_strdup ("");
    g_autofree char *text = g_strdup_printf ("Running %s.\n%s\n   0  1\n 0 %s %s\n%s\n", testcases[i].name,
                                             testcases[i].description, cells[0], cells[1], more);
    g_autofree char *row = testcases[i].has_two_rows
                             ? g_strdup_printf (", [\"%s\", \"%s\"]", cells[2], cells[3])
                             : g_strdup ("");
    g_autofree char *json = g_strdup_printf (
        "{\"nvbandwidth\": {\"testcases\": [{\"name\": \"%s\", \"status\": \"Passed\", "
        "\"bandwidth_description\": \"%s\", \"bandwidth_matrix\": [[\"%s\", \"%s\"]%s]}]}}",
        testcases[i].name, testcases[i].description, cells[0], cells[1], row);

    assert_told (text, 1000, testcases[i].wanted);
    assert_told (json, 1000, testcases[i].wanted);
  }
}

/* What is no copy between host and GPUs, and what Total has in it, is left out; the next testcase is there. */
static void
what_is_no_copy_is_left_out (G_GNUC_UNUSED void **state)
{
  static const struct {
    const char *name, *description, *note;
  } cases[] = {
    { "device_local_copy", "local copy GPU(column) (row) bandwidth (GB/s)",
      "device_local_copy: not a copy between host and GPUs that is known" },
    { "device_to_device_memset_ce", "memset GPU(row) -> GPU(column) bandwidth (GB/s)",
      "device_to_device_memset_ce: not a copy between host and GPUs that is known" },
    { "device_to_device_bidirectional_memcpy_read_ce",
      "memcpy CE GPU(row) <-> GPU(column) Read1 bandwidth (GB/s)",
      "Read1, Read2, Write1, Write2: the two directions that Total adds" },
    { "device_to_device_bidirectional_memcpy_write_ce",
      "memcpy CE GPU(row) <-> GPU(column) Write2 bandwidth (GB/s)",
      "Read1, Read2, Write1, Write2: the two directions that Total adds" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_autofree char *text = g_strdup_printf (
        "Running %s.\n%s\n   0\n 0 20.00\n\nRunning device_to_host_memcpy_ce.\nCPU(row) <- GPU(column) (GB/s)\n"
        "   0\n 0 5.00\n\n",
        cases[i].name, cases[i].description);
    g_autofree char *wanted = g_strdup_printf (
        "bandwidth gpu0 (gpu) to host (host), copy, 1: 5 GB/s of 1000; device_to_host_memcpy_ce\nnote 5: %s\n",
        cases[i].note);

    assert_told (text, 1000, wanted);
  }
}

/* Several hosts are numbered. Without a size the default is told. */
static void
rows_of_hosts_and_the_default_size (G_GNUC_UNUSED void **state)
{
  assert_told (
      "Running multinode_host_to_device_memcpy_ce.\nmemcpy CE CPU(row) -> GPU(column) bandwidth (GB/s)\n"
      "   0\n 0 20.00\n 1 10.00\n\n",
      0,
      "bandwidth host0 (host) to gpu0 (gpu), copy, 1: 20 GB/s of 536870912; "
      "multinode_host_to_device_memcpy_ce; 512 MiB is the default of -b\n"
      "bandwidth host1 (host) to gpu0 (gpu), copy, 1: 10 GB/s of 536870912; "
      "multinode_host_to_device_memcpy_ce; 512 MiB is the default of -b\n");
}

#define JSON(cases) "{\"nvbandwidth\": {\"testcases\": [" cases "]}}"
#define H2D "\"name\": \"host_to_device_memcpy_ce\", "
#define ROW "\"bandwidth_description\": \"CPU(row) -> GPU(column)\", \"bandwidth_matrix\": [[\"20\", \"10\"]]"

/* Keys stand in any order, blanks and escapes where they like. Devices are counted, and the first name stands
 * for all. */
static void
json_of_any_order (G_GNUC_UNUSED void **state)
{
  static const char wanted[] =
      "bandwidth host (host) to gpu0 (gpu), copy, 1: 20 GB/s of 1000; host_to_device_memcpy_ce\n"
      "bandwidth host (host) to gpu1 (gpu), copy, 1: 10 GB/s of 1000; host_to_device_memcpy_ce\n";
  static const char *const texts[] = {
    JSON ("{" H2D "\"status\": \"Passed\", " ROW ", \"sum\": 30}"),
    JSON ("{" ROW ",\n\t\"sum\" : 30.0,\r\n" H2D "\"status\"\t:\"Passed\"}"),
    JSON ("{" H2D ROW "}"),
    "{\"nvbandwidth\": {\"Version\": \"a\\\"\", \"a\": \"\\\\\", \"testcases\": [{" H2D ROW "}]}}",
    "{\"nvbandwidth\": {\"Version\": \"a \\\" b\", \"testcases\": [{" H2D ROW "}], \"note\": \"x\"}}",
  };

  for (guint i = 0; i < G_N_ELEMENTS (texts); i++)
    assert_told (texts[i], 1000, wanted);
  static const char listed[] =
      "{\"nvbandwidth\": {\"GPU Device list\": [\"0: NVIDIA B200 (00000009:01:00): (node1)\", "
      "\"1: NVIDIA B200 (0000000a:01:00)\"], \"testcases\": [{" H2D ROW "}]}}";
  g_autoptr (FabMeasurements) measurements = measured_text (listed, 0, NULL);
  assert_int_equal (measurements->series->len, 2);
  assert_string_equal (measured_at (measurements, 0)->series.system, "2x NVIDIA B200");
}

/* Of several testcases each has its own matrix and status. What was waived is left out. Of matrices that stand one
 * below the other the last one counts. */
static void
json_of_several_testcases (G_GNUC_UNUSED void **state)
{
  static const char pairs[] =
      "\"name\": \"device_to_device_bidirectional_memcpy_read_ce\", \"bandwidth_description\": "
      "\"GPU(row) <-> GPU(column) Total\", \"bandwidth_matrix\": [[\"N/A\",\n \"1\"], [\"2\", "
      "\"N/A\"], [\"N/A\", \"4\"], [\"8\", \"N/A\"]], \"sum\": 12";
  g_autofree char *text = g_strdup_printf (
      JSON (
          "{" H2D
          "\"status\": \"Waived\"}, {%s}, {\"name\": \"device_to_host_memcpy_ce\", \"bandwidth_description\": "
          "\"CPU(row) <- GPU(column)\", \"bandwidth_matrix\": [[\"5\"]], \"sum\": 5}"),
      pairs);

  assert_told (text, 1000,
               "bidirectional gpu0 (gpu) to gpu1 (gpu), copy-read, 1: 2 GB/s of 1000; "
               "device_to_device_bidirectional_memcpy_read_ce; half of both directions together\n"
               "bidirectional gpu1 (gpu) to gpu0 (gpu), copy-read, 1: 4 GB/s of 1000; "
               "device_to_device_bidirectional_memcpy_read_ce; half of both directions together\n"
               "bandwidth gpu0 (gpu) to host (host), copy, 1: 5 GB/s of 1000; device_to_host_memcpy_ce\n"
               "note 1: testcases that nvbandwidth waived\n"
               "note 1: Read1, Read2, Write1, Write2: the two directions that Total adds\n");
  /* Rows of hosts are no matrices one below the other. */
  assert_told (
      JSON ("{\"name\": \"multinode_host_to_device_memcpy_ce\", \"bandwidth_matrix\": [[\"5\"], [\"6\"]]}"),
      1000,
      "bandwidth host0 (host) to gpu0 (gpu), copy, 1: 5 GB/s of 1000; multinode_host_to_device_memcpy_ce\n"
      "bandwidth host1 (host) to gpu0 (gpu), copy, 1: 6 GB/s of 1000; multinode_host_to_device_memcpy_ce\n");
}

#define HEAD "Running host_to_device_memcpy_ce.\nmemcpy CE CPU(row) -> GPU(column) bandwidth (GB/s)\n"

/* Sums may differ by what printing rounds. */
static void
sums_are_compared (G_GNUC_UNUSED void **state)
{
  static const struct {
    const char *text, *problem;
  } cases[] = {
    { HEAD "   0  1\n 0 20.00 10.00\n\nSUM host_to_device_memcpy_ce 30.03\n", NULL },
    { HEAD "   0  1\n 0 20.00 10.00\n\nSUM host_to_device_memcpy_ce 30.04\n",
      "the cells above add up to 30.00" },
    { HEAD "   0  1\n 0 20.00 10.00\n\nSUM host_to_device_memcpy_ce 29.96\n",
      "the cells above add up to 30.00" },
    { HEAD "   0  1\n 0 20.00 N/A\n\nSUM host_to_device_memcpy_ce 20.02\n", NULL },
    { JSON ("{" H2D ROW ", \"sum\": 30.009}"), NULL },
    { JSON ("{" H2D ROW ", \"sum\": 29.989}"), "the cells add up to 30.00" },
    { JSON ("{" H2D ROW ", \"sum\": 30.02}"), "the cells add up to 30.00" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_autoptr (GError) error = NULL;
    g_autoptr (FabMeasurements) measurements = measured_text (cases[i].text, 0, &error);

    assert_int_equal (measurements != NULL, cases[i].problem == NULL);
    if (cases[i].problem != NULL && strstr (error->message, cases[i].problem) == NULL)
      fail_msg ("case %u: %s", i, error->message);
  }
}

/* What was cut off, failed or is no matrix is refused where it stands. */
static void
what_is_not_whole_is_refused (G_GNUC_UNUSED void **state)
{
  static const struct {
    const char *text, *problem;
  } cases[] = {
    { HEAD "   0  x\n 0 20.00 10.00\n\n", "t:3:7: the number of a column belongs here" },
    { HEAD "   0  1\n 0 20.00\n\n", "t:4:2: a row with 2 cells belongs here" },
    { HEAD "   0  1\n 0 20.00 10.00 5.00\n\n", "t:4:2: a row with 2 cells belongs here" },
    { "Running device_to_device_memcpy_read_ce.\nmemcpy CE GPU(row) -> GPU(column) bandwidth (GB/s)\n"
      "   0  1\n 0 N/A 20.00\n 1 20.00 10.0",
      "t:5:10: the text ends inside this row: it was cut off" },
    { "nvbandwidth Version: 1\nRunning host_to_device_memcpy_ce.\nSUM host_to_device_memcpy_ce 30.00\n",
      "t:2:1: no matrix follows: the run was interrupted" },
    { JSON (
          "{\"name\": \"device_to_device_memcpy_read_ce\", \"bandwidth_matrix\": [[\"1\", \"2\"], [\"3\", \"4\"], "
          "[\"5\", \"6\"]]}"),
      "device_to_device_memcpy_read_ce: 3 rows for 2 GPUs: the matrix was cut off" },
    { HEAD "\n", "host_to_device_memcpy_ce: its matrix is not whole: it was cut off" },
    { HEAD "   0  1\n 0 20.00 x\n\n", "t:4:10: 'x' stands where a number belongs" },
    { HEAD "   0  1\n 0 20.00 10.00\n\nERROR: out of memory\n", "t:6:1: nvbandwidth failed here" },
    { HEAD "   0  1\n 0 20.00 10.00\n\n[CUDA_ERROR_UNKNOWN]\n", "t:6:1: nvbandwidth failed here" },
    { HEAD "   0  1\n 0 20.00 10.00\n\nRunning device_to_host_memcpy_ce.\nRunning a.\n",
      "t:6:1: no matrix follows: the run was interrupted" },
    { HEAD "   0  1\n 0 20.00 10.00\n\nRunning device_to_host_memcpy_ce.\n",
      "t:6:1: no matrix follows: the run was interrupted" },
    { HEAD "   0  1\n 0 20.00 10.00\n\nSUM host_to_device_memcpy_ce 30.00\n" HEAD "   0  1\n 0 20.00 10.00\n",
      "no SUM behind this matrix: the output was cut off" },
    { "Running device_to_device_memcpy_read_ce.\nmemcpy CE GPU(row) -> GPU(column) bandwidth (GB/s)\n"
      "   0  1\n 0 N/A 20.00\n\n",
      "device_to_device_memcpy_read_ce: 1 rows for 2 GPUs: the matrix was cut off" },
    { JSON ("{" H2D "\"status\": \"Passed\"}"), "host_to_device_memcpy_ce: its matrix is not whole" },
    { JSON ("{" H2D "\"bandwidth_matrix\": [[\"1\", \"2\"], [\"3\"]]}"),
      "host_to_device_memcpy_ce: its rows are not of one length" },
    { JSON ("{" H2D ROW "}, {\"error\": \"no device\"}"), "nvbandwidth failed here" },
    { "{\"nvbandwidth\": {\"testcases\": [{" H2D ROW "}]}",
      "a brace or bracket is missing: the file was cut off" },
    { "{\"nvbandwidth\": {\"testcases\": [{" H2D ROW "}}}",
      "a brace or bracket is missing: the file was cut off" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_autoptr (GError) error = NULL;
    g_autoptr (FabMeasurements) measurements = measured_text (cases[i].text, 0, &error);

    if (measurements != NULL)
      fail_msg ("case %u is accepted", i);
    if (strstr (error->message, cases[i].problem) == NULL)
      fail_msg ("case %u: %s", i, error->message);
  }
}

/* A text counts its devices, passes over what was waived, and begins anew with each description. */
static void
lines_around_matrices (G_GNUC_UNUSED void **state)
{
  static const char text[] = "nvbandwidth Version: v0.5\nDevice 0: NVIDIA A100 (00000000:01:00)\n"
                             "Device 1: NVIDIA A100 (00000000:02:00)\n\n"
                             "Running all_to_host_memcpy_ce.\nWaived: \n" HEAD "   0\n 0 20.00\n";
  g_autoptr (FabMeasurements) measurements = measured_text (text, 0, NULL);

  assert_int_equal (measurements->series->len, 1);
  assert_string_equal (measured_at (measurements, 0)->series.system, "2x NVIDIA A100");
  assert_int_equal (measurements->notes->len, 1);
  /* Of one testcase with several matrices those of halves are left out. */
  assert_told (
      "Running device_to_device_bidirectional_memcpy_read_ce.\n"
      "memcpy CE GPU(row) <-> GPU(column) Read1 bandwidth (GB/s)\n   0  1\n 0 N/A 1.00\n 1 2.00 N/A\n\n"
      "SUM device_to_device_bidirectional_memcpy_read_ce_read1 3.00\n\n"
      "memcpy CE GPU(row) <-> GPU(column) Total bandwidth (GB/s)\n   0  1\n 0 N/A 4.00\n 1 N/A N/A\n\n"
      "SUM device_to_device_bidirectional_memcpy_read_ce_total 4.00\n",
      1000,
      "bidirectional gpu0 (gpu) to gpu1 (gpu), copy-read, 1: 2 GB/s of 1000; "
      "device_to_device_bidirectional_memcpy_read_ce; half of both directions together\n"
      "note 6: Read1, Read2, Write1, Write2: the two directions that Total adds\n");
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (testcases_say_who_copies_to_whom),   cmocka_unit_test (what_is_no_copy_is_left_out),
    cmocka_unit_test (rows_of_hosts_and_the_default_size), cmocka_unit_test (json_of_any_order),
    cmocka_unit_test (json_of_several_testcases),          cmocka_unit_test (sums_are_compared),
    cmocka_unit_test (what_is_not_whole_is_refused),       cmocka_unit_test (lines_around_matrices),
  };

  return cmocka_run_group_tests (tests, NULL, NULL);
}
