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

/* The program stands in a command, or in what the tests print; other words end in something else. */
static void
test_program (G_GNUC_UNUSED void **state)
{
  static const char *const cases[][2] = {
    { "mpirun -np 8 ./build/all_reduce_perf -b 8", "all_reduce_perf" },
    { "/opt/x/alltoall_perf_mpi -g 1", "alltoall_perf" },
    { "# Collective test starting: sendrecv_perf", "sendrecv_perf" },
    { "all_gather_perfect", NULL },
    { "_perf", NULL },
    { "a perf b", NULL },
    { "all_gather_perfect all_reduce_perf reduce_perf", "all_reduce_perf" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_autofree char *text = g_strconcat (cases[i][0],
                                         "\n# size count type time algbw busbw\n8 2 float 1 2 1\n",
                                         "reduce_scatter_perf\n", NULL);
    g_autoptr (FabNcclTests) self = fab_nccl_tests_parse ("t", text, strlen (text), NULL);

    assert_int_equal (g_strcmp0 (self->program, cases[i][1]), 0);
  }
  static const char *const args[][2] = { { "[\"/x/all_reduce_perf\"]", "all_reduce_perf" },
                                         { "[]", NULL },
                                         { "[[\"a_perf\"]]", NULL },
                                         { "\"a_perf\"", NULL } };
  for (guint i = 0; i < G_N_ELEMENTS (args); i++) {
    g_autofree char *text = g_strdup_printf (
        "{\"args\": %s, \"results\": [{\"size\": 8, \"in_place\": {\"alg_bw\": 1, \"bus_bw\": 1}}]}",
        args[i][0]);
    g_autoptr (FabNcclTests) self = fab_nccl_tests_parse ("t", text, strlen (text), NULL);

    assert_int_equal (g_strcmp0 (self->program, args[i][1]), 0);
  }
}

/* What stands above the table: ranks, each on the host behind "on", and GPUs of a thread. */
static void
test_head (G_GNUC_UNUSED void **state)
{
  static const struct {
    const char *head;
    guint n_ranks, n_nodes, gpus_per_thread;
  } cases[] = {
    { "# Rank 0 Group 0 Pid 1 on a device 0\n# Rank 1 Pid 2 on b device 0\n# Rank 2 Pid 3 on a device 1", 3,
      2, 0 },
    { "# Rank 0 Pid 1 on a on b", 1, 1, 0 },
    { "# Rank 0 Pid 1 device 0 on", 1, 0, 0 },
    { "# Rank 0 on", 1, 0, 0 },
    { "# Rank 0", 0, 0, 0 },
    { "# Rank x Pid 1 on a", 0, 0, 0 },
    { "Rank 0 Pid 1 on a", 0, 0, 0 },
    { "# nThread 1 nGpus 8 minBytes 8", 0, 0, 8 },
    { "# nThread 1 nGpus 1024", 0, 0, 1024 },
    { "# nThread 1 nGpus 1025 x", 0, 0, 0 },
    { "# nThread 1 nGpus 0 x", 0, 0, 0 },
    { "# nGpus 8 x", 0, 0, 0 },
    { "a nThread 1 nGpus 8 x", 0, 0, 0 },
    { "# a b c nGpus", 0, 0, 0 },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_autofree char *text = g_strconcat (cases[i].head,
                                         "\n# size count type time algbw busbw\n8 2 float 1 2 1\n",
                                         "# Rank 9 Pid 9 on z device 9\n", NULL);
    g_autoptr (FabNcclTests) self = fab_nccl_tests_parse ("t", text, strlen (text), NULL);

    if (self->n_ranks != cases[i].n_ranks || self->n_nodes != cases[i].n_nodes
        || self->gpus_per_thread != cases[i].gpus_per_thread)
      fail_msg ("%s: %u, %u, %u", cases[i].head, self->n_ranks, self->n_nodes, self->gpus_per_thread);
  }
}

/* Rows without a header: size, count, type, in most versions redop and root, then twice time, algbw, busbw and
 * #wrong. */
static void
test_bare_rows (G_GNUC_UNUSED void **state)
{
  static const struct {
    const char *row;
    double time_us, algbw, in_place, n_wrong;
    gboolean is_row;
  } cases[] = {
    { "8 2 float 1.5 2.5 3.5 1 4.5 5.5 6.5 2", 1.5, 2.5, 6.5, 3, TRUE },
    { "8 2 float sum 1.5 2.5 3.5 1 4.5 5.5 6.5 2", 1.5, 2.5, 6.5, 3, TRUE },
    { "8 2 float sum -1 1.5 2.5 3.5 N/A 4.5 5.5 6.5 2", 1.5, 2.5, 6.5, 2, TRUE },
    { "3: 8 2 float sum -1 1.5 2.5 3.5 -1 4.5 5.5 6.5 -1", 1.5, 2.5, 6.5, 0, TRUE },
    { "8 2 float sum -1 x 1.5 2.5 3.5 0 4.5 5.5 6.5 0", 0, 0, 0, 0, FALSE },
    { "8 2 float 1.5 2.5 3.5 1 4.5 5.5 6.5", 0, 0, 0, 0, FALSE },
    { "8 x float 1.5 2.5 3.5 1 4.5 5.5 6.5 2", 0, 0, 0, 0, FALSE },
    { "x 2 float 1.5 2.5 3.5 1 4.5 5.5 6.5 2", 0, 0, 0, 0, FALSE },
    { "8 2 strange 1.5 2.5 3.5 1 4.5 5.5 6.5 2", 0, 0, 0, 0, FALSE },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_autofree char *text = g_strconcat ("hello\n", cases[i].row, NULL);
    g_autoptr (FabNcclTests) self = fab_nccl_tests_parse ("t", text, strlen (text), NULL);

    assert_int_equal (fab_nccl_tests_has_row (text, strlen (text)), cases[i].is_row);
    assert_int_equal (self != NULL, cases[i].is_row);
    if (self == NULL)
      continue;
    assert_int_equal (self->n_tables, 1);
    assert_string_equal (self->type, "float");
    assert_near (row_at (self, 0)->time_us, cases[i].time_us, 1e-12);
    assert_near (row_at (self, 0)->algbw_GBps, cases[i].algbw, 1e-12);
    assert_near (row_at (self, 0)->in_place_busbw_GBps, cases[i].in_place, 1e-12);
    assert_near (row_at (self, 0)->n_wrong, cases[i].n_wrong, 0);
  }
}

/* The members of -J: one device of each process is listed, with as many threads and GPUs. */
static void
test_members_of_json (G_GNUC_UNUSED void **state)
{
#define JSON(config, result)                                          \
  "{\"args\": [\"/x/all_reduce_perf\", \"-b\"], \"config\": {" config \
  "}, \"results\": [{\"size\": 8, \"count\": 2, \"type\": \"half\"" result "}]}"
#define OUT ", \"out_of_place\": {\"time\": 1.5, \"alg_bw\": 2.5, \"bus_bw\": 3.5, \"nwrong\": 1}"
#define IN ", \"in_place\": {\"time\": 4.5, \"alg_bw\": 5.5, \"bus_bw\": 6.5, \"nwrong\": 2}"
#define DEVICES "\"devices\": [{\"hostname\": \"a\"}, {\"hostname\": \"b\"}, {\"hostname\": \"a\"}]"
  static const struct {
    const char *text;
    guint n_ranks, n_nodes, gpus_per_thread;
    double time_us, in_place, n_wrong;
  } cases[] = {
    { JSON (DEVICES, OUT IN), 3, 2, 0, 1.5, 6.5, 3 },
    { JSON (DEVICES ", \"nthreads\": 2, \"ngpus\": 4", OUT), 24, 2, 4, 1.5, -1, 1 },
    { JSON ("\"ngpus\": 2000, \"devices\": [{\"x\": 1}]", IN), 2000, 0, 1024, 4.5, 6.5, 2 },
    { JSON ("\"nthreads\": 2147483647, \"devices\": [1]", OUT IN), 2147483647, 0, 0, 1.5, 6.5, 3 },
    { JSON ("\"nthreads\": 2147483648, \"devices\": [1]", OUT IN), 0, 0, 0, 1.5, 6.5, 3 },
    { JSON ("\"nthreads\": \"4\", \"ngpus\": -1, \"devices\": [1]", OUT IN), 1, 0, 0, 1.5, 6.5, 3 },
    { JSON ("\"devices\": null", OUT IN), 0, 0, 0, 1.5, 6.5, 3 },
  };
  static const char *const refused[] = {
    JSON ("", ""),
    JSON ("", ", \"out_of_place\": {\"time\": 1.5, \"alg_bw\": 2.5}"),
    JSON ("", ", \"out_of_place\": {\"time\": 1.5, \"bus_bw\": 2.5}"),
    JSON ("", OUT ", \"count\": 1.1e18"),
    JSON ("", OUT ", \"size\": 1.1e18"),
    JSON ("", OUT ", \"size\": 0"),
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_autoptr (GError) error = NULL;
    g_autoptr (FabNcclTests) self = fab_nccl_tests_parse ("t", cases[i].text, strlen (cases[i].text), &error);

    if (self == NULL)
      fail_msg ("case %u: %s", i, error->message);
    assert_string_equal (self->program, "all_reduce_perf");
    assert_string_equal (self->type, "half");
    assert_int_equal (self->n_ranks, cases[i].n_ranks);
    assert_int_equal (self->n_nodes, cases[i].n_nodes);
    assert_int_equal (self->gpus_per_thread, cases[i].gpus_per_thread);
    assert_int_equal (row_at (self, 0)->size_bytes, 8);
    assert_int_equal (row_at (self, 0)->count, 2);
    assert_near (row_at (self, 0)->time_us, cases[i].time_us, 1e-12);
    assert_near (row_at (self, 0)->in_place_busbw_GBps, cases[i].in_place, 1e-12);
    assert_near (row_at (self, 0)->n_wrong, cases[i].n_wrong, 0);
  }
  for (guint i = 0; i < G_N_ELEMENTS (refused); i++)
    assert_null (fab_nccl_tests_parse ("t", refused[i], strlen (refused[i]), NULL));
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
    cmocka_unit_test (test_program),
    cmocka_unit_test (test_head),
    cmocka_unit_test (test_bare_rows),
    cmocka_unit_test (test_members_of_json),
    cmocka_unit_test (test_refused),
  };
  return cmocka_run_group_tests (tests, NULL, NULL);
}
