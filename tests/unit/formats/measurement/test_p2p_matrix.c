/* SPDX-License-Identifier: Apache-2.0 */
/* test_p2p_matrix.c - matrices of p2pBandwidthLatencyTest: directions, diagonals, pairs without access, and cuts. */
#include "tests/unit/formats/measurement/measured.h"

#define END "\nNOTE: The CUDA Samples are not meant for performance measurements.\n"
#define ACCESS \
  "P2P Connectivity Matrix\n     D\\D     0     1\n     0       1     %u\n     1       %u     1\n"
#define OFF                                               \
  "Unidirectional P2P=Disabled Bandwidth Matrix (GB/s)\n" \
  "   D\\D     0      1\n     0 800.00 10.00\n     1 20.00 400.00\n"
#define ON                                                 \
  "Unidirectional P2P=Enabled Bandwidth %sMatrix (GB/s)\n" \
  "   D\\D     0      1\n     0 900.00 40.00\n     1 50.00 900.00\n"
#define BOTH                                            \
  "Bidirectional P2P=Enabled Bandwidth Matrix (GB/s)\n" \
  "   D\\D     0      1\n     0 900.00 80.00\n     1 80.00 900.00\n"
#define LATENCY                                                                                           \
  "P2P=Disabled Latency Matrix (us)\n   GPU     0      1\n     0   2.00  12.00\n     1  13.00   2.50\n\n" \
  "   CPU     0      1\n     0   3.00   9.00\n     1   9.00   3.00\n"

static FabMeasurements *
read_good (const char *text)
{
  g_autoptr (GError) error = NULL;
  FabMeasurements *self = measured_text (text, 0, &error);

  if (self == NULL)
    fail_msg ("%s\n%s", error->message, text);
  return self;
}

typedef struct {
  const char *from, *to, *method;
  FabMeasureKind kind;
  double us; /* of 160 MB, or of a small write */
} Cell;

static void
assert_cells (const FabMeasurements *self, const Cell *cells, guint n)
{
  assert_int_equal (self->series->len, n);
  for (guint i = 0; i < n; i++) {
    const FabMeasuredSeries *measured = measured_at (self, i);
    gboolean is_latency = cells[i].kind == FAB_MEASURE_LATENCY;

    assert_string_equal (measured->series.backend, "p2pBandwidthLatencyTest");
    assert_string_equal (measured->series.from, cells[i].from);
    assert_string_equal (measured->series.to, cells[i].to);
    assert_string_equal (measured->series.method, cells[i].method);
    assert_string_equal (measured->series.from_memory, "gpu");
    assert_string_equal (measured->series.to_memory, "gpu");
    assert_int_equal (measured->series.kind, cells[i].kind);
    assert_near ((double) measured_point (measured, is_latency ? 16 : 160000000)->time_ps / 1e6, cells[i].us,
                 1e-9);
  }
}

/* 160 MB at 10 GB/s take 16 ms. Within a GPU a copy reads and writes, so that 800 GB/s printed are 400. */
static void
each_cell_is_one_direction (G_GNUC_UNUSED void **state)
{
  static const Cell off[] = {
    { "gpu0", "gpu0", "copy", FAB_MEASURE_BANDWIDTH, 400 },
    { "gpu0", "gpu1", "staged", FAB_MEASURE_BANDWIDTH, 16000 },
    { "gpu1", "gpu0", "staged", FAB_MEASURE_BANDWIDTH, 8000 },
    { "gpu1", "gpu1", "copy", FAB_MEASURE_BANDWIDTH, 800 },
  };
  g_autoptr (FabMeasurements) self = read_good (
      "Device: 0, NVIDIA A, pciBusID: 1\nDevice: 1, NVIDIA A, pciBusID: 2\n"
      "Device: broken\n" OFF END);

  assert_cells (self, off, G_N_ELEMENTS (off));
  assert_int_equal (self->notes->len, 0);
  assert_string_equal (measured_at (self, 0)->series.system, "2x NVIDIA A");
  assert_string_equal (
      measured_at (self, 0)->series.note,
      "a copy inside the GPU; half of the rate, which counts read and write; 160000000 B is the "
      "default of --numElems");
  assert_string_equal (measured_at (self, 1)->series.note,
                       "one direction; 160000000 B is the default of --numElems");
}

/* Reads go from the column to the row. What is printed of both directions is twice one. The diagonal is a copy again.
 */
static void
reads_and_both_directions (G_GNUC_UNUSED void **state)
{
  static const Cell on[] = {
    { "gpu0", "gpu1", "copy", FAB_MEASURE_BANDWIDTH, 4000 },
    { "gpu1", "gpu0", "copy", FAB_MEASURE_BANDWIDTH, 3200 },
    { "gpu0", "gpu1", "copy", FAB_MEASURE_BIDIRECTIONAL, 4000 },
    { "gpu1", "gpu0", "copy", FAB_MEASURE_BIDIRECTIONAL, 4000 },
  };
  static const Cell reads[] = {
    { "gpu1", "gpu0", "copy-read", FAB_MEASURE_BANDWIDTH, 4000 },
    { "gpu0", "gpu1", "copy-read", FAB_MEASURE_BANDWIDTH, 3200 },
  };
  g_autofree char *writing = g_strdup_printf (ACCESS ON BOTH END, 1, 1, ""),
                  *reading = g_strdup_printf (ACCESS ON END, 1, 1, "(P2P Reads) ");
  g_autoptr (FabMeasurements) written = read_good (writing);
  g_autoptr (FabMeasurements) read = read_good (reading);

  assert_cells (written, on, G_N_ELEMENTS (on));
  assert_string_equal (measured_at (written, 2)->series.note,
                       "half of both directions together; 160000000 B is the default of --numElems");
  assert_cells (read, reads, G_N_ELEMENTS (reads));
  assert_true (read->notes->len > 0);
}

/* GPU 0 cannot reach GPU 1, and the other way it can. */
static void
pairs_without_access_are_left_out (G_GNUC_UNUSED void **state)
{
  static const Cell on[] = { { "gpu1", "gpu0", "copy", FAB_MEASURE_BANDWIDTH, 3200 } };
  g_autofree char *text = g_strdup_printf (ACCESS ON END, 0, 1, "");
  g_autoptr (FabMeasurements) self = read_good (text);

  assert_cells (self, on, G_N_ELEMENTS (on));
}

/* The table of CPUs below that of GPUs tells no transfer. */
static void
latencies_are_those_of_gpus (G_GNUC_UNUSED void **state)
{
  static const Cell cells[] = {
    { "gpu0", "gpu0", "copy", FAB_MEASURE_LATENCY, 2 },
    { "gpu0", "gpu1", "staged", FAB_MEASURE_LATENCY, 12 },
    { "gpu1", "gpu0", "staged", FAB_MEASURE_LATENCY, 13 },
    { "gpu1", "gpu1", "copy", FAB_MEASURE_LATENCY, 2.5 },
  };
  g_autoptr (FabMeasurements) self = read_good (OFF LATENCY END);
  g_autoptr (FabMeasurements) alone = read_good (
      "Unidirectional P2P=Disabled Bandwidth Matrix (GB/s)\n   D\\D     0\n     0 800.00\n" LATENCY END);

  assert_int_equal (self->series->len, 8);
  for (guint i = 0; i < 4; i++)
    assert_near ((double) measured_point (measured_at (self, 4 + i), 16)->time_ps / 1e6, cells[i].us, 1e-9);
  assert_string_equal (measured_at (self, 4)->series.note,
                       "GPU latency: one copy after the other on a stream");
  assert_int_equal (alone->series->len, 5);
}

static void
cuts_are_noticed (G_GNUC_UNUSED void **state)
{
  static const struct {
    const char *text, *message;
  } cases[] = {
    { "Unidirectional P2P=Disabled Bandwidth Matrix (GB/s)\n   D\\D     0      2\n     0 1.00 2.00\n",
      "GPU 1 belongs here" },
    { "Unidirectional P2P=Disabled Bandwidth Matrix (GB/s)\n   D\\D     0      1\n     0 1.00 2.00\n",
      "this matrix ends after 1 of 2 rows: it was cut off" },
    { OFF "Unidirectional P2P=Enabled Bandwidth Matrix (GB/s)\n", "no matrix follows: it was cut off" },
    { "Unidirectional P2P=Disabled Bandwidth Matrix (GB/s)\n   D\\D     0      1\n     1 1.00 2.00\n     0 1.00 2.00\n",
      "row 0 of a matrix of 2 GPUs belongs here" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_autoptr (GError) error = NULL;

    if (measured_text (cases[i].text, 0, &error) != NULL)
      fail_msg ("accepted:\n%s", cases[i].text);
    if (strstr (error->message, cases[i].message) == NULL)
      fail_msg ("case %u: no '%s' in: %s", i, cases[i].message, error->message);
  }
  g_autoptr (FabMeasurements) open = read_good (OFF);
  assert_int_equal (open->notes->len, 1); /* the closing NOTE is missing */
}

/* Of what kind a matrix is its title says: without one it is passed over. */
static void
matrices_without_a_title_are_passed_over (G_GNUC_UNUSED void **state)
{
  g_autoptr (FabMeasurements) self = read_good (
      OFF "   D\\D     0      1\n     0 900.00 1.00\n     1 1.00 900.00\n" END);

  assert_int_equal (self->series->len, 4);
  assert_near ((double) measured_point (measured_at (self, 1), 160000000)->time_ps / 1e6, 16000, 1e-9);
}

/* Lines that say something of P2P, bandwidth or latency alone are no titles. */
static void
sentences_are_no_titles (G_GNUC_UNUSED void **state)
{
  g_autoptr (FabMeasurements) self = read_good (
      "Unidirectional P2P=Disabled Bandwidth Matrix (GB/s)\n   D\\D     0      1\n     0 800.00 10.00\n"
      "     1 10.00 800.00\nP2P=Enabled is better\nP2P=Disabled is worse\nBandwidth and Latency differ\n");

  assert_int_equal (self->series->len, 4);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (each_cell_is_one_direction),
    cmocka_unit_test (reads_and_both_directions),
    cmocka_unit_test (pairs_without_access_are_left_out),
    cmocka_unit_test (latencies_are_those_of_gpus),
    cmocka_unit_test (matrices_without_a_title_are_passed_over),
    cmocka_unit_test (cuts_are_noticed),
    cmocka_unit_test (sentences_are_no_titles),
  };

  return cmocka_run_group_tests (tests, NULL, NULL);
}
