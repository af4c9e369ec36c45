/* SPDX-License-Identifier: Apache-2.0 */
/* test_nccl_tests.c - published outputs of nccl-tests (tests/fixtures/nccl-tests), and broken ones. */
#include "formats/measurement/nccl_tests.h"

#include <string.h>

#include "tests/support/test.h"

#define FIXTURES FAB_SOURCE_DIR "/tests/fixtures/nccl-tests/"

static FabNcclTests *
load (const char *file)
{
  g_autofree char *path = g_strconcat (FIXTURES, file, NULL), *text = NULL;
  g_autoptr (GError) error = NULL;
  gsize size;

  assert_true (g_file_get_contents (path, &text, &size, NULL));
  FabNcclTests *self = fab_nccl_tests_parse (file, text, size, &error);
  if (self == NULL)
    fail_msg ("%s", error->message);
  return self;
}

static const FabNcclTestsRow *
row_at (const FabNcclTests *self, guint index)
{
  return &g_array_index (self->rows, FabNcclTestsRow, index);
}

/* Rows of size 0 and the line of NCCL INFO are no rows; "N/A" is no error. */
static void
test_old_text (G_GNUC_UNUSED void **state)
{
  g_autoptr (FabNcclTests) self = load ("superbench-a100x8.txt");
  const FabNcclTestsRow *last = row_at (self, self->rows->len - 1);

  assert_null (self->program);
  assert_string_equal (self->type, "float");
  assert_int_equal (self->n_ranks, 8);
  assert_int_equal (self->n_nodes, 1);
  assert_int_equal (self->gpus_per_thread, 8);
  assert_int_equal (self->rows->len, 32);
  assert_int_equal (row_at (self, 0)->size_bytes, 4);
  assert_near (row_at (self, 0)->time_us, 34.73, 1e-9);
  assert_int_equal (last->size_bytes, 8589934592);
  assert_int_equal (last->count, 2147483648);
  assert_near (last->busbw_GBps, 235.26, 1e-9);
  assert_near (last->in_place_busbw_GBps, 235.03, 1e-9);
  assert_near (last->n_wrong, 0, 0);
}

static void
test_labels (G_GNUC_UNUSED void **state)
{
  g_autoptr (FabNcclTests) alps = load ("alps-gh200x4.txt"), eks = load ("eks-t4x2.txt");

  assert_string_equal (alps->program, "all_reduce_perf");
  assert_int_equal (alps->n_ranks, 4);
  assert_int_equal (alps->n_nodes, 1);
  assert_int_equal (alps->rows->len, 8);
  assert_near (row_at (alps, 7)->busbw_GBps, 339.04, 1e-9);
  assert_int_equal (eks->n_ranks, 2);
  assert_int_equal (eks->n_nodes, 2);
  assert_int_equal (eks->rows->len, 2);
  assert_near (row_at (eks, 1)->time_us, 344981, 1e-9);
}

static void
test_first_of_two (G_GNUC_UNUSED void **state)
{
  g_autoptr (FabNcclTests) self = load ("oci-a100x16.txt");

  assert_int_equal (self->n_tables, 2);
  assert_int_equal (self->n_ranks, 8);
  assert_int_equal (self->rows->len, 1);
  assert_near (row_at (self, 0)->algbw_GBps, 133.14, 1e-9);
}

static void
test_json (G_GNUC_UNUSED void **state)
{
  g_autoptr (FabNcclTests) self = load ("oci-a100x8.json");

  assert_string_equal (self->program, "all_reduce_perf");
  assert_string_equal (self->type, "float");
  assert_int_equal (self->n_ranks, 8);
  assert_int_equal (self->gpus_per_thread, 8);
  assert_int_equal (self->rows->len, 1);
  assert_near (row_at (self, 0)->time_us, 80646.8, 1e-9);
  assert_near (row_at (self, 0)->in_place_busbw_GBps, 233.34, 1e-9);
}

/* Columns between the halves and after them; wrong elements of the first half. */
static void
test_more_columns (G_GNUC_UNUSED void **state)
{
  g_autoptr (FabNcclTests) self = load ("per-iteration.txt");

  assert_near (row_at (self, 0)->busbw_GBps, 233.00, 1e-9);
  assert_near (row_at (self, 0)->in_place_busbw_GBps, 233.34, 1e-9);
  assert_near (row_at (self, 0)->n_wrong, 3, 0);
}

static void
test_blank_redop (G_GNUC_UNUSED void **state)
{
  g_autoptr (FabNcclTests) self = load ("no-redop.txt");

  assert_int_equal (self->rows->len, 2);
  assert_near (row_at (self, 0)->time_us, 35.03, 1e-9);
  assert_near (row_at (self, 1)->in_place_busbw_GBps, 0.01, 1e-9);
}

/* With -C the time is that of the host's calls: only the bandwidths count. */
static void
test_cpu_time (G_GNUC_UNUSED void **state)
{
  const char *text = "# size count type cputime algbw busbw #wrong\n 1024 256 float 3.10 0.11 0.16 0\n";
  g_autoptr (FabNcclTests) self = fab_nccl_tests_parse ("t", text, strlen (text), NULL);

  assert_non_null (self);
  assert_near (row_at (self, 0)->time_us, 0, 0);
  assert_near (row_at (self, 0)->busbw_GBps, 0.16, 1e-9);
  assert_true (row_at (self, 0)->in_place_busbw_GBps < 0);
}

static void
test_refused (G_GNUC_UNUSED void **state)
{
  const struct {
    const char *text, *message;
  } cases[] = {
    { "", "t: holds no table of nccl-tests, which has a line '# size count type ... busbw'" },
    { "# size count type time algbw busbw\n", "t: the table of nccl-tests has no rows; did the test fail?" },
    { "# size count type time algbw busbw\n8 2 float 1.0 2.0\n",
      "t:2: there are fewer words than columns in the row of size '8'" },
    { "# size count type time algbw busbw\n8 2 float x 2.0 1\n",
      "t:2: not a number that nccl-tests prints: 'x'" },
    { "# size count type time algbw busbw\n99999999999999999999 2 float 1 2 1\n",
      "t:2: not a size: '99999999999999999999'" },
    { "{\"results\":[{\"size\":8}]}", "t:1:13: results[0] has no size, alg_bw or bus_bw" },
    { "{\"results\":[7]}", "t:1:13: results[0] has no size, alg_bw or bus_bw" },
    { "{\"results\":[\n", "t:2:1: a value is missing here" },
    { "{}", "t:1:1: no `results` with sizes; nccl-tests -J writes such a file, `-J FILE`" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_autoptr (GError) error = NULL;

    assert_null (fab_nccl_tests_parse ("t", cases[i].text, strlen (cases[i].text), &error));
    if (!g_str_has_prefix (error->message, cases[i].message))
      fail_msg ("%s", error->message);
  }
}

static void
a_deep_file_is_refused (void **state)
{
  g_autoptr (GString) text = g_string_new (NULL);
  g_autoptr (GError) error = NULL;

  for (guint i = 0; i < 200000; i++)
    g_string_append (text, "{\"a\":");
  assert_null (fab_nccl_tests_parse ("deep", text->str, text->len, &error));
  assert_non_null (strstr (error->message, "nested more than"));
  (void) state;
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (a_deep_file_is_refused),
    cmocka_unit_test (test_old_text),
    cmocka_unit_test (test_labels),
    cmocka_unit_test (test_first_of_two),
    cmocka_unit_test (test_json),
    cmocka_unit_test (test_more_columns),
    cmocka_unit_test (test_blank_redop),
    cmocka_unit_test (test_cpu_time),
    cmocka_unit_test (test_refused),
  };
  return cmocka_run_group_tests (tests, NULL, NULL);
}
