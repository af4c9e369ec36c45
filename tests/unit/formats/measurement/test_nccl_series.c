/* SPDX-License-Identifier: Apache-2.0 */
/* test_nccl_series.c - a table of nccl-tests as a series: which collective of how many ranks it is, where the text does
 * not say so, and which time a row has.
 *
 * A rate of 100 GB/s has a factor to two parts in ten thousand: 175 GB/s of bus bandwidth are 2 x 7 / 8, an all-reduce
 * of eight ranks, and 87.5 GB/s are 7 / 8, an all-gather of eight.
 */
#include "formats/text/notes.h"
#include "tests/unit/formats/measurement/measured.h"

#define HEAD \
  "#    size   count    type   redop    root     time   algbw   busbw #wrong     time   algbw   busbw #wrong\n"
#define ROW(size, time, algbw, busbw, wrong) \
  "  " size "  256  float  sum  -1  " time "  " algbw "  " busbw "  " wrong "  5.00  100.00  100.00  0\n"
#define REDUCED ROW ("1048576", "10.49", "100.00", "175.00", "0")
#define GATHERED ROW ("1048576", "10.49", "100.00", "87.50", "0")
#define RANKS(n) "# nThread 1 nGpus 1 minBytes 8 maxBytes 8 step: 2(factor)\n# Using devices\n" n
#define RANK0 "#  Rank  0 Group  0 Pid 1 on  a device  0 [0x01] X\n"
#define RANK1_B "#  Rank  1 Group  0 Pid 2 on  b device  0 [0x01] X\n"
#define RANK1 "#  Rank  1 Group  0 Pid 2 on  a device  1 [0x02] X\n"

static FabMeasurements *
read (const char *text, const char *op, guint n_ranks, GError **error)
{
  FabMeasurementRequest request = { .file = { "t", text, strlen (text) }, .op = op, .n_ranks = n_ranks };

  return fab_measurements_read (&request, error);
}

static void
what_a_table_is_of (G_GNUC_UNUSED void **state)
{
  static const struct {
    const char *text, *op;
    guint n_ranks;
    const char *op_wanted;
    guint ranks_wanted;
    const char *note;
  } cases[] = {
    { HEAD REDUCED, NULL, 0, "all_reduce", 8, "out of place, float, all_reduce and ranks by busbw / algbw" },
    { HEAD REDUCED, NULL, 8, "all_reduce", 8, "out of place, float, all_reduce by busbw / algbw" },
    { HEAD REDUCED, "all_reduce", 0, "all_reduce", 8, "out of place, float, ranks by busbw / algbw" },
    { HEAD GATHERED, "all_gather", 0, "all_gather", 8, "out of place, float, ranks by busbw / algbw" },
    { HEAD GATHERED, "all_gather", 8, "all_gather", 8, "out of place, float" },
    { "# Collective test starting: reduce_scatter_perf\n" HEAD GATHERED, NULL, 0, "reduce_scatter", 8,
      "out of place, float, ranks by busbw / algbw" },
    { "# Collective test starting: all_gather_perf\n" HEAD GATHERED, "reduce_scatter", 0, "reduce_scatter", 8,
      "out of place, float, ranks by busbw / algbw" },
    /* Of two ranks busbw is algbw; the text lists both. */
    { "# Collective test starting: all_reduce_perf\n" RANKS (RANK0 RANK1)
          HEAD ROW ("1048576", "10.49", "100.00", "100.00", "0"),
      NULL, 0, "all_reduce", 2, "out of place, float, 1 node, -g 1" },
    /* What the text says of itself is not doubted, and one rank is none. */
    { "# Collective test starting: all_reduce_perf\n" RANKS (RANK0 RANK1_B) HEAD GATHERED, NULL, 0,
      "all_reduce", 2, "out of place, float, 2 nodes, -g 1" },
    { "# Collective test starting: all_reduce_perf\n" RANK0 HEAD REDUCED, NULL, 0, "all_reduce", 8,
      "out of place, float, 1 node, ranks by busbw / algbw" },
    { "# Collective test starting: all_reduce_perf\n" HEAD REDUCED, NULL, 1, "all_reduce", 8,
      "out of place, float, ranks by busbw / algbw" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_autoptr (GError) error = NULL;
    g_autoptr (FabMeasurements) found = read (cases[i].text, cases[i].op, cases[i].n_ranks, &error);

    if (found == NULL)
      fail_msg ("case %u: %s", i, error->message);
    assert_int_equal (found->series->len, 1);
    const FabSeries *series = &measured_at (found, 0)->series;
    assert_int_equal (series->kind, FAB_MEASURE_COLLECTIVE);
    assert_string_equal (series->op, cases[i].op_wanted);
    assert_int_equal (series->n_ranks, cases[i].ranks_wanted);
    assert_string_equal (series->note, cases[i].note);
    assert_string_equal (series->backend, "nccl-tests");
    assert_string_equal (series->method, "nccl");
    assert_string_equal (series->from_memory, "gpu");
    assert_string_equal (series->to_memory, "gpu");
    assert_int_equal (measured_point (measured_at (found, 0), 1048576)->time_ps, 10490000);
  }
}

static void
what_cannot_be_told_is_refused (G_GNUC_UNUSED void **state)
{
  static const struct {
    const char *text, *op;
    guint n_ranks;
    const char *problem;
  } cases[] = {
    { HEAD GATHERED, NULL, 0, "which collective is this? Its name" },
    { HEAD REDUCED, "all_redcue", 0,
      "--op all_redcue: no such collective; nearest is all_reduce; there are " },
    { HEAD REDUCED, "x", 0, "--op x: no such collective; there are " },
    { HEAD REDUCED, "all_gather", 0,
      "no number of ranks makes busbw 1.75 times algbw with all_gather; --op names another collective" },
    { HEAD REDUCED, "all_reduce", 9,
      "busbw is 1.75 times algbw in this table, and of all_reduce with 9 ranks it is 1.778 times" },
    { "# Collective test starting: all_reduce_perf\n" RANKS (RANK0 RANK1) HEAD GATHERED, "all_gather", 0,
      "busbw is 0.875 times algbw in this table, and of all_gather with 2 ranks it is 0.5 times" },
    { HEAD REDUCED, NULL, 7, "and of all_reduce with 7 ranks it is 1.714 times" },
    /* Whatever the number of ranks, a broadcast has as much on the bus. */
    { HEAD ROW ("1048576", "10.49", "100.00", "100.00", "0"), "broadcast", 0,
      "how many ranks took part is not in the text, and busbw of 1 times algbw with broadcast does not tell it" },
    { "# Collective test starting: hypercube_perf\n" HEAD GATHERED, NULL, 8,
      "`hypercube_perf`: this collective is not known; --op names it" },
    { HEAD ROW ("1048576", "10.49", "100.00", "175.00", "3"), "all_reduce", 8,
      "size 1048576: 3 wrong elements; nothing is taken over" },
    { HEAD ROW ("1048576", "10.49", "100.00", "175.00", "1"), "all_reduce", 8,
      "size 1048576: 1 wrong elements; nothing is taken over" },
    /* Rates that are printed as zero leave every factor up to two. */
    { HEAD ROW ("8", "7.50", "0.00", "0.00", "0"), "all_gather", 0,
      "busbw of 1 times algbw with all_gather does not tell it" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_autoptr (GError) error = NULL;
    g_autoptr (FabMeasurements) found = read (cases[i].text, cases[i].op, cases[i].n_ranks, &error);

    if (found != NULL)
      fail_msg ("case %u is accepted", i);
    if (strstr (error->message, cases[i].problem) == NULL)
      fail_msg ("case %u: no '%s' in: %s", i, cases[i].problem, error->message);
  }
}

/* A row without a time has the one that its rate tells. Small rates say little of the factor. */
static void
rows_have_times (G_GNUC_UNUSED void **state)
{
  static const char text[] = HEAD ROW ("8", "7.50", "0.00", "0.00", "0")
      ROW ("1024", "9.36", "0.11", "0.19", "0") REDUCED ROW ("2097152", "0.00", "100.00", "175.00", "0");
  g_autoptr (GError) error = NULL;
  g_autoptr (FabMeasurements) found = read (text, NULL, 0, &error);

  if (found == NULL)
    fail_msg ("%s", error->message);
  const FabMeasuredSeries *series = measured_at (found, 0);
  assert_int_equal (series->series.n_ranks, 8);
  assert_int_equal (series->points->len, 4);
  assert_int_equal (measured_point (series, 8)->time_ps, 7500000);
  assert_int_equal (measured_point (series, 1024)->time_ps, 9360000);
  assert_near ((double) measured_point (series, 2097152)->time_ps, 2097152 / 100e9 * 1e12, 1e-6);
}

/* Of several tables in one text the first one is read, and the others are told. */
static void
further_tables_are_left_out (G_GNUC_UNUSED void **state)
{
  static const char *const texts[] = { HEAD REDUCED, HEAD REDUCED HEAD REDUCED HEAD REDUCED };

  for (guint i = 0; i < G_N_ELEMENTS (texts); i++) {
    g_autoptr (FabMeasurements) found = read (texts[i], NULL, 0, NULL);

    assert_int_equal (found->series->len, 1);
    assert_int_equal (found->notes->len, i);
    if (i > 0)
      assert_string_equal (((const FabFileNote *) g_ptr_array_index (found->notes, 0))->text,
                           "the other 2 tables of the text");
  }
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (what_a_table_is_of),
    cmocka_unit_test (what_cannot_be_told_is_refused),
    cmocka_unit_test (rows_have_times),
    cmocka_unit_test (further_tables_are_left_out),
  };

  return cmocka_run_group_tests (tests, NULL, NULL);
}
