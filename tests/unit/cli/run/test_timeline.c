/* SPDX-License-Identifier: Apache-2.0 */
/* test_timeline.c - an iteration as text. Times are in columns: an iteration of 20 takes 20 columns. */
#include <glib.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <cmocka.h>

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

/* The line of a row without its name; NULL when there is none. */
static char *
row_of (const char *drawing, const char *name)
{
  g_auto (GStrv) lines = g_strsplit (drawing, "\n", -1);
  g_autofree char *head = g_strdup_printf ("  %-8s ", name);

  for (guint i = 0; lines[i]; i++)
    if (g_str_has_prefix (lines[i], head))
      return g_strdup (lines[i] + strlen (head));
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

static void
test_many_stages_leave_out_the_middle (G_GNUC_UNUSED void **state)
{
  FabRankClassRecord classes[40];
  FabProbe probe;
  g_autofree char *drawing = NULL;
  guint n_rows = 0;

  fab_probe_init (&probe);
  for (guint i = 0; i < G_N_ELEMENTS (classes); i++) {
    classes[i] = (FabRankClassRecord){ .rank_class = i, .first_rank = 8 * i, .n_ranks = 8 };
    add_iteration (&probe, i);
    add_span (&probe, i, "compute", FAB_SPAN_COMPUTE, "forward", 0, 20);
  }
  drawing = fab_timeline_draw (&probe, classes, G_N_ELEMENTS (classes), 20, 0);
  for (const char *p = drawing; (p = strstr (p, "FFFFFFFFFFFFFFFFFFFF\n")) != NULL; p++)
    n_rows++;
  assert_int_equal (n_rows, 16);
  assert_row (drawing, "...", "(24 more)");
  assert_row (drawing, "rank 56", "FFFFFFFFFFFFFFFFFFFF"); /* the eighth, the last before the gap */
  assert_row (drawing, "rank 64", NULL);
  assert_row (drawing, "rank 256", "FFFFFFFFFFFFFFFFFFFF"); /* 32: the first of the last eight */
  fab_probe_clear (&probe);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (test_one_class),
    cmocka_unit_test (test_busy_all_the_time_has_no_idle_row),
    cmocka_unit_test (test_stages),
    cmocka_unit_test (test_many_stages_leave_out_the_middle),
  };

  return cmocka_run_group_tests (tests, NULL, NULL);
}
