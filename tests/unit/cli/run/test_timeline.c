/* SPDX-License-Identifier: Apache-2.0 */
/* test_timeline.c - an iteration as text. Times are in columns: an iteration of 20 takes 20 columns. */
#include "tests/support/test.h"

#include "cli/run/timeline.h"

enum { COLUMN_PS = 1000000, START_PS = 7000000 };

static void
add_iteration (FabProbe *probe, guint rank_class)
{
  FabIterationRecord times = { .rank_class = rank_class,
                               .start_ps = START_PS,
                               .duration_ps = 20 * COLUMN_PS };

  g_array_append_val (probe->iterations, times);
}

static void
add_span (FabProbe *probe, guint rank_class, const char *stream, FabSpanKind kind, const char *name,
          double start, double end)
{
  FabSpanRecord span = { .rank_class = rank_class,
                         .kind = kind,
                         .stream = stream,
                         .name = name,
                         .start_ps = START_PS + (FabTimePs) (start * COLUMN_PS),
                         .end_ps = START_PS + (FabTimePs) (end * COLUMN_PS),
                         .collective = -1 };

  g_array_append_val (probe->spans, span);
}

/* The line of a row without its name; "" of a row without anything, NULL when there is none. */
static char *
row_of (const char *drawing, const char *name)
{
  g_auto (GStrv) lines = g_strsplit (drawing, "\n", -1);
  g_autofree char *head = g_strdup_printf ("  %-8s ", name), *alone = g_strdup_printf ("  %s", name);

  for (guint i = 0; lines[i]; i++) {
    if (strcmp (lines[i], alone) == 0)
      return g_strdup ("");
    if (g_str_has_prefix (lines[i], head))
      return g_strdup (lines[i] + strlen (head));
  }
  return NULL;
}

static void
assert_row (const char *drawing, const char *name, const char *expected)
{
  g_autofree char *row = row_of (drawing, name);

  if (expected == NULL)
    assert_null (row);
  else
    assert_string_equal (row, expected);
}

/* Computes 0-10, communicates 8-14 (4 exposed), loads 2-5, nothing from 14 on. */
static void
test_one_class (G_GNUC_UNUSED void **state)
{
  const FabRankClassRecord classes[] = { { .rank_class = 0, .first_rank = 0, .n_ranks = 8 } };
  FabProbe probe;
  g_autofree char *drawing = NULL;

  fab_probe_init (&probe);
  add_iteration (&probe, 0);
  add_span (&probe, 0, "compute", FAB_SPAN_COMPUTE, "forward a", 0, 10);
  add_span (&probe, 0, "loader", FAB_SPAN_LOAD, "load", 2, 5);
  add_span (&probe, 0, "comm", FAB_SPAN_WAIT, "all_reduce b", 7, 8);
  add_span (&probe, 0, "comm", FAB_SPAN_COMM, "all_reduce b", 8, 14);
  drawing = fab_timeline_draw (&probe, classes, 1, 20, 0);
  assert_row (drawing, "compute", "[ forward]");
  assert_row (drawing, "loader", "  [ ]");
  assert_row (drawing, "comm", "        [ all]");
  assert_row (drawing, "exposed", "          ====");
  assert_row (drawing, "idle", "              ......");
  assert_row (drawing, "rank 0", NULL);
  fab_probe_clear (&probe);
}

static void
test_busy_all_the_time_has_no_idle_row (G_GNUC_UNUSED void **state)
{
  const FabRankClassRecord classes[] = { { .rank_class = 0, .first_rank = 0, .n_ranks = 8 } };
  FabProbe probe;
  g_autofree char *drawing = NULL;

  fab_probe_init (&probe);
  add_iteration (&probe, 0);
  add_span (&probe, 0, "compute", FAB_SPAN_COMPUTE, "forward a", 0, 20);
  drawing = fab_timeline_draw (&probe, classes, 1, 20, 0);
  assert_row (drawing, "idle", NULL);
  fab_probe_clear (&probe);
}

/* Two stages. The second: idle 0-4, forward 4-8, backward 8-16 (with 0.4 of a forward in column 8), sends 14-18 of
 * which 16-18 exposed, idle until 20. */
static void
test_stages (G_GNUC_UNUSED void **state)
{
  const FabRankClassRecord classes[] = { { .rank_class = 0, .first_rank = 0, .n_ranks = 8 },
                                         { .rank_class = 1, .first_rank = 8, .n_ranks = 8 } };
  FabProbe probe;
  g_autofree char *drawing = NULL;

  fab_probe_init (&probe);
  add_iteration (&probe, 0);
  add_iteration (&probe, 1);
  add_span (&probe, 0, "compute", FAB_SPAN_COMPUTE, "forward a", 0, 4);
  add_span (&probe, 0, "compute", FAB_SPAN_COMPUTE, "backward a", 12, 18);
  add_span (&probe, 0, "compute", FAB_SPAN_COMPUTE, "fused step", 18, 20);
  add_span (&probe, 1, "compute", FAB_SPAN_COMPUTE, "forward b", 4, 8.4);
  add_span (&probe, 1, "compute", FAB_SPAN_COMPUTE, "backward b", 8.4, 16);
  add_span (&probe, 1, "comm", FAB_SPAN_COMM, "send b", 14, 18);
  drawing = fab_timeline_draw (&probe, classes, 2, 20, 0);
  assert_row (drawing, "rank 0", "FFFF........BBBBBBff");
  assert_row (drawing, "rank 8", "....FFFFBBBBBBBB==..");
  assert_row (drawing, "", "0              20 us"); /* the axis comes first */
  assert_non_null (strstr (drawing, "F forward, B backward, f fused, = exposed communication, . idle\n"));
  assert_row (drawing, "idle", "    ........");
  fab_probe_clear (&probe);
}

/* Of more than 16 classes the first eight and the last eight have rows. */
static void
test_many_stages_leave_out_the_middle (G_GNUC_UNUSED void **state)
{
  for (guint n = 2; n <= 40; n++) {
    FabRankClassRecord classes[40];
    FabProbe probe;
    g_autoptr (GString) rows = g_string_new (NULL);
    g_autofree char *drawing = NULL;

    fab_probe_init (&probe);
    for (guint i = 0; i < n; i++) {
      classes[i] = (FabRankClassRecord){ .rank_class = i, .first_rank = 8 * i, .n_ranks = 8 };
      add_iteration (&probe, i);
      add_span (&probe, i, "compute", FAB_SPAN_COMPUTE, "forward", 0, 20);
      if (n > 16 && i == 8)
        g_string_append_printf (rows, "  ...      (%u more)\n", n - 16);
      if (n <= 16 || i < 8 || i >= n - 8)
        g_string_append_printf (rows, "  rank %-3u FFFFFFFFFFFFFFFFFFFF\n", 8 * i);
    }
    drawing = fab_timeline_draw (&probe, classes, n, 20, 0);
    g_string_prepend (rows, "           0              20 us\n");
    g_string_append (rows, "           F forward, = exposed communication, . idle\n  streams of rank 0:\n"
                           "  compute  [ forward          ]\n  exposed\n");
    assert_string_equal (drawing, rows->str);
    fab_probe_clear (&probe);
  }
}

/* In the order in which they appear in the iteration, each once, and kinds of compute too. */
static void
test_streams_of_the_iteration (G_GNUC_UNUSED void **state)
{
  const FabRankClassRecord classes[] = { { .rank_class = 0, .first_rank = 0, .n_ranks = 8 },
                                         { .rank_class = 1, .first_rank = 8, .n_ranks = 8 } };
  FabProbe probe;
  g_autofree char *drawing = NULL;

  fab_probe_init (&probe);
  add_iteration (&probe, 0);
  add_iteration (&probe, 1);
  add_span (&probe, 0, "before", FAB_SPAN_COMPUTE, "early", -5, 0);
  add_span (&probe, 1, "other", FAB_SPAN_COMPUTE, "late", 0, 20);
  add_span (&probe, 0, "two", FAB_SPAN_COMPUTE, "nothing", 2, 2);
  add_span (&probe, 0, "one", FAB_SPAN_COMPUTE, "forward", 0, 5);
  add_span (&probe, 0, "two", FAB_SPAN_COMPUTE, "forward", 5, 10);
  add_span (&probe, 0, "one", FAB_SPAN_COMPUTE, "backward", 10, 20);
  add_span (&probe, 0, "after", FAB_SPAN_COMPUTE, "never", 20, 25);
  drawing = fab_timeline_draw (&probe, classes, 2, 20, 0);
  assert_string_equal (drawing, "           0              20 us\n"
                                "  rank 0   FFFFFFFFFFBBBBBBBBBB\n"
                                "  rank 8   LLLLLLLLLLLLLLLLLLLL\n"
                                "           F forward, B backward, L late, = exposed communication, . idle\n"
                                "  streams of rank 0:\n"
                                "  two           [ fo]\n"
                                "  one      [ fo]     [ backwar]\n"
                                "  exposed\n");
  fab_probe_clear (&probe);
}

/* --- blocks of a stream --- */

/* Of one class, whose stream "comm" has these spans; ends with a name that is NULL. */
typedef struct {
  const char *name;
  double start, end;
} Piece;

static void
assert_stream (FabSpanKind kind, const Piece *pieces, const char *expected)
{
  const FabRankClassRecord classes[] = { { .rank_class = 0, .first_rank = 0, .n_ranks = 8 } };
  FabProbe probe;
  g_autofree char *drawing = NULL;

  fab_probe_init (&probe);
  add_iteration (&probe, 0);
  for (; pieces->name != NULL; pieces++)
    add_span (&probe, 0, "comm", kind, pieces->name, pieces->start, pieces->end);
  drawing = fab_timeline_draw (&probe, classes, 1, 20, 0);
  assert_row (drawing, "comm", expected);
  fab_probe_clear (&probe);
}

/* Spans with the same first word become one block where at most a column lies between them; collectives are counted
 * where the number has room. */
static void
test_spans_that_are_joined (G_GNUC_UNUSED void **state)
{
  const Piece three[] = { { "send a", 0, 2 }, { "send b", 2.5, 4 }, { "send c", 5, 10 }, { NULL } };
  const Piece narrow[] = { { "send a", 0, 2 }, { "send b", 2.5, 4 }, { "send c", 5, 9 }, { NULL } };
  const Piece apart[] = { { "send a", 0, 7 }, { "send b", 8.0000015, 15 }, { NULL } };
  const Piece two[] = { { "send a", 0, 9 }, { "send b", 9, 10 }, { NULL } };
  const Piece others[] = { { "send a", 0, 7 }, { "sends b", 7, 14 }, { "sen c", 14, 20 }, { NULL } };

  assert_stream (FAB_SPAN_COMM, three, "[ send x3]");
  assert_stream (FAB_SPAN_COMPUTE, three, "[ send   ]");
  assert_stream (FAB_SPAN_COMM, two, "[ send x2]");
  assert_stream (FAB_SPAN_COMM, narrow, "[ send  ]");
  assert_stream (FAB_SPAN_COMM, apart, "[ send] [ send]");
  assert_stream (FAB_SPAN_COMM, others, "[ send][ send][ sen]");
}

static void
test_blocks_of_all_lengths (G_GNUC_UNUSED void **state)
{
  const Piece rising[] = { { "a", 0, 0.5 }, { "b", 1, 2 },   { "c", 3, 5 },
                           { "d", 6, 9 },   { "e", 10, 14 }, { NULL } };
  const Piece touching[] = { { "a", 0, 3.5 }, { "b", 3.5, 4.5 }, { "c", 4.5, 7 }, { NULL } };
  const Piece covered[] = { { "a", 0, 9 }, { "b", 2, 5 }, { "c", 6, 10 }, { "d", 6, 13 }, { NULL } };
  const Piece outside[] = { { "a", -5, -1 }, { "b", -5, 0 },  { "c", -1, 4 },
                            { "d", 16, 25 }, { "e", 20, 21 }, { NULL } };
  const Piece none[] = { { "a", -5, 0 }, { "b", 3, 3 }, { "c", 20, 25 }, { NULL } };

  assert_stream (FAB_SPAN_COMM, rising, " | [] [ ] [ e]");
  assert_stream (FAB_SPAN_COMM, touching, "[ ]|[ ]");
  assert_stream (FAB_SPAN_COMM, covered, "[ a     ]|[ ]");
  assert_stream (FAB_SPAN_COMM, outside, "[ c]            [ d]");
  assert_stream (FAB_SPAN_COMM, none, NULL);
  assert_stream (FAB_SPAN_WAIT, rising, NULL);
}

/* --- the width --- */

/* Every row begins after the longest name, for which 8 columns are left at least. */
static void
assert_width (const char *first_stream, const char *last_stream, guint n_classes, guint width,
              guint page_columns, guint names, guint expected)
{
  const FabRankClassRecord classes[] = { { .rank_class = 0, .first_rank = 0, .n_ranks = 8 },
                                         { .rank_class = 1, .first_rank = 1000000, .n_ranks = 8 } };
  FabProbe probe;
  g_autofree char *drawing = NULL;

  fab_probe_init (&probe);
  add_iteration (&probe, 0);
  add_iteration (&probe, 1);
  add_span (&probe, 0, first_stream, FAB_SPAN_COMPUTE, "forward a", 0, 20);
  add_span (&probe, 0, last_stream, FAB_SPAN_COMPUTE, "forward a", 0, 20);
  drawing = fab_timeline_draw (&probe, classes, n_classes, width, page_columns);
  g_auto (GStrv) lines = g_strsplit (drawing, "\n", -1);
  assert_int_equal (strcspn (lines[0], "0"), 2 + names + 1);
  assert_int_equal (strlen (lines[0]), 2 + names + 1 + expected);
  assert_non_null (strstr (drawing, last_stream));
  fab_probe_clear (&probe);
}

static void
test_widths (G_GNUC_UNUSED void **state)
{
  static const guint widths[] = { 0, 1, 19, 20, 21, 80 };

  for (guint i = 0; i < G_N_ELEMENTS (widths); i++) {
    guint width = MAX (widths[i], 20);

    assert_width ("compute", "comm", 1, widths[i], 0, 8, width);
    assert_width ("a-long-name", "comm", 1, widths[i], 0, 11, width);
    assert_width ("compute", "a-long-name", 1, widths[i], 0, 11, width);
    assert_width ("compute", "comm", 2, widths[i], 0, strlen ("rank 1000000"), width);
  }
  for (guint page_columns = 1; page_columns < 100; page_columns++) {
    assert_width ("compute", "comm", 1, 50, page_columns, 8, page_columns < 31 ? 20 : page_columns - 11);
    assert_width ("a-long-name", "comm", 1, 50, page_columns, 11, page_columns < 34 ? 20 : page_columns - 14);
  }
}

/* --- letters --- */

/* A kind of compute for each word, in a column each: 23 have letters of their own, and what comes after them is other
 * compute. The letter is the first of the word that is free, large and then small. */
static void
test_letters_of_kinds (G_GNUC_UNUSED void **state)
{
  static const char *const words[] = { "a", "a1", "a-", "ab", "ab1", "abc", "d", "e", "f",
                                       "g", "h",  "i",  "j",  "k",   "l",   "m", "n", "o",
                                       "p", "q",  "r",  "s",  "t",   "u1",  "v", "w", "t" };
  const FabRankClassRecord classes[] = { { .rank_class = 0, .n_ranks = 8 },
                                         { .rank_class = 1, .first_rank = 8, .n_ranks = 8 } };
  guint n = G_N_ELEMENTS (words);
  FabProbe probe;
  g_autofree char *drawing = NULL, *short_drawing = NULL;

  fab_probe_init (&probe);
  for (guint c = 0; c < 2; c++) {
    FabIterationRecord times = { .rank_class = c, .start_ps = START_PS, .duration_ps = n * COLUMN_PS };

    g_array_append_val (probe.iterations, times);
  }
  for (guint i = 0; i < n; i++)
    add_span (&probe, 0, "compute", FAB_SPAN_COMPUTE, words[i], i, i + 1);
  drawing = fab_timeline_draw (&probe, classes, 2, n, 0);
  assert_row (drawing, "rank 0", "Aa*BbCDEFGHIJKLMNOPQRST***T");
  assert_row (drawing, "rank 8", "...........................");
  assert_non_null (strstr (
      drawing,
      "\n           A a, a a1, B ab, b ab1, C abc, D d, E e, F f, G g, H h, I i, J j, K k, L l, M m, N n, O o, P p, "
      "Q q, R r, S s, T t, * * other compute, = exposed communication, . idle\n"));
  fab_probe_clear (&probe);
}

/* --- shares of columns --- */

enum { MOST_PS = 300, N_WORDS = 4 };

typedef struct {
  guint compute[N_WORDS], n_compute, n_comm; /* spans at this picosecond */
} Instant;

/* The rows of a class by counting picoseconds. `letters` becomes its row among the classes. */
static void
count (const Instant *at, guint duration, guint width, char *letters, char *exposed, char *idle)
{
  for (guint i = 0; i < width; i++) {
    guint of_kind[N_WORDS] = { 0 }, n_compute = 0, n_exposed = 0, n_idle = 0, most = 0;
    guint from = duration * i / width, to = duration * (i + 1) / width;

    for (guint t = from; t < to; t++) {
      n_compute += at[t].n_compute > 0;
      n_exposed += at[t].n_compute == 0 && at[t].n_comm > 0;
      n_idle += at[t].n_compute == 0 && at[t].n_comm == 0;
      for (guint k = 0; k < N_WORDS; k++)
        of_kind[k] += at[t].compute[k];
    }
    for (guint k = 1; k < N_WORDS; k++)
      if (of_kind[k] > of_kind[most])
        most = k;
    letters[i] = n_compute >= n_exposed && n_compute >= n_idle ? "FBfO"[most]
               : n_exposed >= n_idle                           ? '='
                                                               : '.';
    exposed[i] = 2 * n_exposed > to - from ? '=' : 10 * n_exposed > to - from ? '-' : ' ';
    idle[i] = 2 * n_idle > to - from ? '.' : ' ';
  }
  letters[width] = exposed[width] = idle[width] = '\0';
  g_strchomp (exposed);
  g_strchomp (idle);
}

/* Spans at random, some of which reach beyond the iteration, overlap, or are empty, in columns as short as a
 * picosecond. Some are of a class that is not drawn. */
static void
test_shares_of_columns (G_GNUC_UNUSED void **state)
{
  static const char *const words[N_WORDS] = { "forward", "backward", "fused", "optimizer" };
  static const FabSpanKind kinds[] = { FAB_SPAN_COMPUTE, FAB_SPAN_COMM, FAB_SPAN_WAIT, FAB_SPAN_LOAD };
  const FabRankClassRecord classes[] = { { .rank_class = 0, .n_ranks = 8 },
                                         { .rank_class = 1, .first_rank = 8, .n_ranks = 8 } };
  g_autoptr (GRand) rand = g_rand_new_with_seed (1);

  for (guint round = 0; round < 400; round++) {
    gint width = g_rand_int_range (rand, 20, 50), duration = width * g_rand_int_range (rand, 1, MOST_PS / 50);
    Instant at[2][MOST_PS] = { 0 };
    char letters[2][64], exposed[2][64], idle[2][64];
    FabProbe probe;

    fab_probe_init (&probe);
    for (guint c = 0; c < 2; c++) {
      FabIterationRecord times = { .rank_class = c, .start_ps = START_PS, .duration_ps = duration };

      g_array_append_val (probe.iterations, times);
    }
    for (gint i = 0; i < 30; i++) {
      guint word = i < N_WORDS ? (guint) i : (guint) g_rand_int_range (rand, 0, N_WORDS),
            class = i < N_WORDS ? 0 : (guint) g_rand_int_range (rand, 0, 3);
      FabSpanKind kind = i < N_WORDS ? FAB_SPAN_COMPUTE : kinds[g_rand_int_range (rand, 0, 4)];
      gint from = i < N_WORDS ? N_WORDS - 1 - i : g_rand_int_range (rand, -20, duration + 20),
           to = i < N_WORDS ? from + 1 : from + g_rand_int_range (rand, 0, 40);
      FabSpanRecord span = { .rank_class = class,
                             .kind = kind,
                             .stream = "all",
                             .name = words[word],
                             .start_ps = START_PS + from,
                             .end_ps = START_PS + to,
                             .collective = -1 };

      g_array_append_val (probe.spans, span);
      for (gint t = MAX (from, 0); class < 2 && t < MIN (to, duration); t++) {
        at[class][t].compute[word] += kind == FAB_SPAN_COMPUTE;
        at[class][t].n_compute += kind == FAB_SPAN_COMPUTE;
        at[class][t].n_comm += kind == FAB_SPAN_COMM;
      }
    }
    for (guint c = 0; c < 2; c++)
      count (at[c], (guint) duration, (guint) width, letters[c], exposed[c], idle[c]);
    g_autofree char *drawing = fab_timeline_draw (&probe, classes, 2, (guint) width, 0);
    assert_row (drawing, "rank 0", letters[0]);
    assert_row (drawing, "rank 8", letters[1]);
    assert_row (drawing, "exposed", exposed[0]);
    assert_row (drawing, "idle", *idle[0] != '\0' ? idle[0] : NULL);
    fab_probe_clear (&probe);
  }
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (test_one_class),
    cmocka_unit_test (test_busy_all_the_time_has_no_idle_row),
    cmocka_unit_test (test_stages),
    cmocka_unit_test (test_many_stages_leave_out_the_middle),
    cmocka_unit_test (test_streams_of_the_iteration),
    cmocka_unit_test (test_spans_that_are_joined),
    cmocka_unit_test (test_blocks_of_all_lengths),
    cmocka_unit_test (test_widths),
    cmocka_unit_test (test_letters_of_kinds),
    cmocka_unit_test (test_shares_of_columns),
  };

  return cmocka_run_group_tests (tests, NULL, NULL);
}
