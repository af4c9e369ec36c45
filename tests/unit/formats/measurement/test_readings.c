/* SPDX-License-Identifier: Apache-2.0 */
/* test_readings.c - what all readers of measurements share: labels of launchers, places of notes and mistakes, and
 * limits. */
#include "tests/unit/formats/measurement/measured.h"

#include "formats/text/notes.h"

#define HEAD "# OSU MPI Latency Test v7\n# Size Latency (us)\n"

static FabMeasurements *
read_good (const char *text)
{
  g_autoptr (GError) error = NULL;
  FabMeasurements *self = measured_text (text, 0, &error);

  if (self == NULL)
    fail_msg ("%s\n%s", error->message, text);
  return self;
}

static void
assert_refused (const char *text, const char *message)
{
  g_autoptr (GError) error = NULL;

  if (measured_text (text, 0, &error) != NULL)
    fail_msg ("accepted:\n%s", text);
  if (strstr (error->message, message) == NULL)
    fail_msg ("no '%s' in: %s", message, error->message);
}

/* mpirun and srun put the rank before each line that it printed; blanks and the end of a line of Windows are none of
 * it. */
static void
labels_of_launchers_are_no_part_of_a_line (G_GNUC_UNUSED void **state)
{
  static const char *const rows[] = {
    "8 1.50\n",    "  8\t1.50  \n", "8 1.50\r\n", "[1,0]<stdout>:8 1.50\n", "[1,12]<stdout>: 8 1.50\n",
    "0: 8 1.50\n", " 12: 8 1.50\n", "0:8 1.50\n",
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autofree char *text = g_strconcat (HEAD, rows[i], NULL);
    g_autoptr (FabMeasurements) self = read_good (text);

    assert_int_equal (measured_point (measured_at (self, 0), 8)->time_ps, 1500000);
    assert_int_equal (measured_at (self, 0)->series.n_ranks, 2);
    assert_int_equal (measured_at (self, 0)->series.n_pairs, 1);
    assert_string_equal (measured_at (self, 0)->series.source, "t");
  }
}

/* A note has the first line that it is about; mistakes have line and column, counted in characters. */
static void
notes_and_mistakes_have_their_place (G_GNUC_UNUSED void **state)
{
  g_autoptr (FabMeasurements) self = read_good (
      "\n" HEAD "0 1.00\n8 1.50\n16 0.00\n# OSU MPI Barrier Latency Test v7\n");

  assert_int_equal (self->notes->len, 3);
  assert_int_equal (fab_file_note (self->notes, 0)->line, 4);
  assert_string_equal (fab_file_note (self->notes, 0)->text, "messages of 0 B");
  assert_int_equal (fab_file_note (self->notes, 1)->line, 7);
  assert_int_equal (fab_file_note (self->notes, 2)->line, 0);
  assert_string_equal (fab_file_note (self->notes, 2)->text,
                       "1 rows whose printed value is 0: too few digits");
  assert_refused (HEAD "8 1.5\n16 \303\244x\n", "t:4:4: '\303\244x' stands where a number belongs");
  assert_refused (HEAD "8 -1\n", "t:3:3: '-1' stands where a number belongs");
  assert_refused (HEAD "8 inf\n", "t:3:3: 'inf' stands where a number belongs");
  assert_refused (HEAD "8 1.5us\n", "t:3:3: '1.5us' stands where a number belongs");
}

/* 2^50 B and 10^6 s, which is more than a week, are the largest. */
static void
sizes_and_times_have_limits (G_GNUC_UNUSED void **state)
{
  g_autoptr (FabMeasurements) self = read_good (HEAD "1125899906842624 999999999999\n");

  assert_near ((double) measured_point (measured_at (self, 0), (FabBytes) 1 << 50)->time_ps, 999999999999e6,
               1e-15);
  assert_refused (HEAD "1125899906842625 1.5\n", "stands where a size in bytes belongs");
  assert_refused (HEAD "8 1000000000001\n", "t:3:3: a message of 8 B takes longer than a week");
}

/* What the last row has fewer of than the one before was cut off. */
static void
a_text_that_ends_inside_a_row_is_refused (G_GNUC_UNUSED void **state)
{
  g_autoptr (FabMeasurements) whole = read_good (HEAD "8 1.50\n16 1.75");

  assert_int_equal (measured_at (whole, 0)->points->len, 2);
  assert_refused (HEAD "8 1.50\n16 1.7", "t:4:4: the text ends inside this row: it was cut off");
  g_autoptr (FabMeasurements) alone = read_good (HEAD "8 1.5");
  assert_int_equal (measured_at (alone, 0)->points->len, 1);
}

static void
runs_that_were_interrupted_are_refused (G_GNUC_UNUSED void **state)
{
  static const char *const lines[] = {
    "slurmstepd: *** STEP 1.0 CANCELLED AT 2026-01-01 ***",
    "mpirun noticed that process rank 1 exited",
    "MPI_ABORT was invoked on rank 0",
    "srun: error: node1",
    "Segmentation fault (core dumped)",
    "test: Cuda failure",
    "^C",
  };

  for (guint i = 0; i < G_N_ELEMENTS (lines); i++) {
    g_autofree char *text = g_strconcat (HEAD "8 1.50\n", lines[i], "\n", NULL);

    assert_refused (text, "t:4:1: the run did not come to its end; nothing of it is taken over");
  }
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (labels_of_launchers_are_no_part_of_a_line),
    cmocka_unit_test (notes_and_mistakes_have_their_place),
    cmocka_unit_test (sizes_and_times_have_limits),
    cmocka_unit_test (a_text_that_ends_inside_a_row_is_refused),
    cmocka_unit_test (runs_that_were_interrupted_are_refused),
  };

  return cmocka_run_group_tests (tests, NULL, NULL);
}
