/* SPDX-License-Identifier: Apache-2.0 */
/* test_readings.c - what all readers of measurements share: labels of launchers, places of notes and mistakes, and
 * limits; how a text is split into lines and words. */
#include "tests/unit/formats/measurement/measured.h"

#include "formats/measurement/readings.h"
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

/* A mistake is shown in its line alone, and all of its word is underlined. */
static void
mistakes_are_shown_in_their_line (G_GNUC_UNUSED void **state)
{
  static const char *const ends[] = { "\n32 1\n", "\n" };

  for (guint i = 0; i < G_N_ELEMENTS (ends); i++) {
    g_autofree char *text = g_strconcat (HEAD "8 1.5\n16 \303\244x  ", ends[i], NULL);
    g_autoptr (GError) error = NULL;

    assert_null (measured_text (text, 0, &error));
    assert_string_equal (
        error->message,
        "t:4:4: '\303\244x' stands where a number belongs\n    4 | 16 \303\244x  \n      |    ^~");
  }
}

/* 2^50 B and 10^6 s, which is more than a week, are the largest. */
static void
sizes_and_times_have_limits (G_GNUC_UNUSED void **state)
{
  g_autoptr (FabMeasurements) self = read_good (HEAD "1125899906842624 999999999999\n");

  assert_near ((double) measured_point (measured_at (self, 0), (FabBytes) 1 << 50)->time_ps, 999999999999e6,
               1e-15);
  g_autoptr (FabMeasurements) longest = read_good (HEAD "8 1000000000000\n");
  assert_int_equal (measured_point (measured_at (longest, 0), 8)->time_ps,
                    G_GINT64_CONSTANT (1000000000000000000));
  assert_int_equal (longest->notes->len, 0);
  assert_refused (HEAD "1125899906842625 1.5\n", "stands where a size in bytes belongs");
  assert_refused (HEAD "8 1000000000001\n", "t:3:3: a message of 8 B takes longer than a week");
}

/* A series has 4096 sizes at most, each with one value; after 200 mistakes nothing more is read. */
static void
texts_have_limits (G_GNUC_UNUSED void **state)
{
  g_autoptr (GString) sizes = g_string_new (HEAD), mistakes = g_string_new (HEAD);
  g_autoptr (GError) error = NULL, last = NULL;

  for (guint i = 1; i <= 4096; i++)
    g_string_append_printf (sizes, "%u 1.00\n", i);
  g_string_append (sizes, "4096 1.00\n");
  g_autoptr (FabMeasurements) most = read_good (sizes->str);
  assert_int_equal (measured_at (most, 0)->points->len, 4096);
  g_string_append (sizes, "4097 1.00\n");
  assert_null (measured_text (sizes->str, 0, &error));
  assert_non_null (strstr (error->message, "t:4100:6: more than 4096 sizes of one series"));
  assert_refused (HEAD "8 1.00\n8 1.01\n",
                  "t:4:3: size 8 is given twice with different values; give one run in a file");
  for (guint i = 0; i < 199; i++)
    g_string_append_printf (mistakes, "%u x%u\n", i + 1, i);
  g_string_append (mistakes, "8 1.00\n9 1.50\n9 2.50\nCuda failure\n");
  assert_null (measured_text (mistakes->str, 0, &last));
  assert_null (strstr (last->message, "did not come to its end"));
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

/* --- lines and words --- */

/* "whole[word][word]" for each line; one without an end has "..." behind it. */
static void
texts_are_split_into_lines_and_words (G_GNUC_UNUSED void **state)
{
  static const char text[] =
      "\n   \t\na  b\tc \r\n 3:d\n:e\n4 : f\n5\n[1,0]<stdout>:g h\n 6:\n7: i\n8:  \n9:j ";
  GString *found = g_string_new (NULL);
  const char *at = text;
  FabLine line;

  while (fab_line_next (&at, &line)) {
    g_string_append_len (found, line.whole.at, (gssize) line.whole.length);
    for (guint i = 0; i < line.n; i++)
      g_string_append_printf (found, "[%.*s]", (int) line.words[i].length, line.words[i].at);
    g_string_append (found, line.has_end ? "\n" : "...");
  }
  assert_string_equal (
      found->str, "\n\na  b\tc[a][b][c]\nd[d]\n:e[:e]\n4 : f[4][:][f]\n5[5]\ng h[g][h]\n\ni[i]\n\nj[j]...");
  g_string_free (found, TRUE);
}

/* A line has no more words than there is room for; its text is whole. */
static void
a_line_has_a_limit_of_words (G_GNUC_UNUSED void **state)
{
  GString *text = g_string_new (NULL);
  const char *at;
  FabLine line;

  for (guint i = 0; i < FAB_LINE_MAX_WORDS + 1; i++)
    g_string_append (text, "x ");
  at = text->str;
  assert_true (fab_line_next (&at, &line));
  assert_int_equal (line.n, FAB_LINE_MAX_WORDS);
  assert_int_equal (line.whole.length, 2 * FAB_LINE_MAX_WORDS + 1);
  g_string_free (text, TRUE);
}

static void
words_have_digits (G_GNUC_UNUSED void **state)
{
  static const struct {
    const char *text;
    guint decimals, digits, count;
    gboolean is_whole;
  } rows[] = {
    { "", 0, 0, 0, FALSE },
    { "0", 0, 0, 0, TRUE },
    { "10", 0, 2, 10, TRUE },
    { "0.050", 3, 2, 0, FALSE },
    { "12.5", 1, 3, 12, FALSE },
    { "4096[B]", 0, 4, 4096, FALSE },
    { ".", 0, 0, 0, FALSE },
    { "7.", 0, 1, 7, FALSE },
    { "x9", 0, 1, 0, FALSE },
    { "4294967295", 0, 10, G_MAXUINT32, TRUE },
    { "4294967296", 0, 10, 0, TRUE },
    { "4294967301", 0, 10, 0, TRUE },
    { "99999999999999999999999", 0, 23, 0, TRUE },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    FabWord word = { rows[i].text, strlen (rows[i].text) };

    assert_int_equal (fab_word_decimals (&word), rows[i].decimals);
    assert_int_equal (fab_word_digits (&word), rows[i].digits);
    assert_int_equal (fab_word_count (&word), rows[i].count);
    assert_int_equal (fab_word_is_whole (&word), rows[i].is_whole);
  }
}

/* Of a text only the word is looked at. */
static void
words_end_where_they_end (G_GNUC_UNUSED void **state)
{
  FabWord word = { "ab12.5cd", 4 }, none = { "ab", 0 };

  assert_true (fab_word_is (&word, "ab12"));
  assert_false (fab_word_is (&word, "ab1"));
  assert_false (fab_word_is (&word, "ab12."));
  assert_false (fab_word_is (&word, "ab13"));
  assert_true (fab_word_has (&word, "b12"));
  assert_false (fab_word_has (&word, "2."));
  assert_false (fab_word_has (&none, "ab"));
  assert_int_equal (fab_word_decimals (&word), 0);
  assert_int_equal (fab_word_digits (&word), 2);
  FabWord digits = { "123.45", 2 }, point = { "1.23", 3 };
  assert_int_equal (fab_word_digits (&digits), 2);
  assert_int_equal (fab_word_count (&digits), 12);
  assert_int_equal (fab_word_decimals (&point), 1);
  assert_true (fab_word_is_whole (&digits));
}

static void
values_stand_behind_a_colon (G_GNUC_UNUSED void **state)
{
  static const struct {
    const char *line, *value; /* NULL: there is none */
  } rows[] = {
    { "Mtu : 4096[B]", "4096[B]" },
    { "Mtu:1024", "1024" },
    { " Mtu\t :\t 9 8", "9" },
    { "x Mtu : 7 Mtu : 8", "7" },
    { "Mtu 4096", NULL },
    { "Mtu", NULL },
    { "Mtu :", NULL },
    { "Mtu :   \nx", NULL },
    { "", NULL },
    { "mtu : 1", NULL },
    { "Mtu x : 1", NULL },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autofree char *text = g_strconcat (rows[i].line, "\n : 5", NULL), *found = NULL;
    const char *at = text;
    FabLine line;
    FabWord value;

    assert_true (fab_line_next (&at, &line));
    if (fab_line_value (&line, "Mtu", &value))
      found = fab_word_dup (&value);
    if (g_strcmp0 (found, rows[i].value) != 0)
      fail_msg ("%s: %s", rows[i].line, found);
  }
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (labels_of_launchers_are_no_part_of_a_line),
    cmocka_unit_test (notes_and_mistakes_have_their_place),
    cmocka_unit_test (mistakes_are_shown_in_their_line),
    cmocka_unit_test (sizes_and_times_have_limits),
    cmocka_unit_test (texts_have_limits),
    cmocka_unit_test (a_text_that_ends_inside_a_row_is_refused),
    cmocka_unit_test (runs_that_were_interrupted_are_refused),
    cmocka_unit_test (texts_are_split_into_lines_and_words),
    cmocka_unit_test (a_line_has_a_limit_of_words),
    cmocka_unit_test (words_have_digits),
    cmocka_unit_test (words_end_where_they_end),
    cmocka_unit_test (values_stand_behind_a_colon),
  };

  return cmocka_run_group_tests (tests, NULL, NULL);
}
