/* SPDX-License-Identifier: Apache-2.0 */
/* test_measured.c - measured tables: what is read, what is refused and where, and mutated ones. */
#include "validate/compare/measured.h"

#include <glib/gstdio.h>

#include "models/models.h"
#include "sim/base/error.h"
#include "tests/support/random.h"
#include "tests/support/test.h"

#define CATALOG FAB_SOURCE_DIR "/models/catalog"
#define MEASURED FAB_SOURCE_DIR "/validate/measured"

static FabMeasuredCsv *
parse (const char *text, GError **error)
{
  return fab_measured_csv_parse ("t.csv", text, strlen (text), 1.75, error);
}

static void
assert_refused (const char *text, const char *message)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (FabMeasuredCsv) csv = parse (text, &error);

  assert_null (csv);
  assert_true (g_error_matches (error, FAB_ERROR, FAB_ERROR_INPUT));
  assert_string_equal (error->message, message);
}

/* 1 MiB in 74.78 us: 14.02 GB/s, x 1.75 = 24.54; the last digit of the time is worth 0.005 / 74.78. */
/* A repository and its owner are one publication, whichever file it is; else the words are. */
static void
test_publications (G_GNUC_UNUSED void **state)
{
  static const char *const cases[][2] = { { NULL, "" },
                                          { "", "" },
                                          { "owner/repository, file a.txt", "owner/repository," },
                                          { "owner/repository", "owner/repository" },
                                          { "A paper of 2024, tables 1/2", "A paper of 2024, tables 1/2" } };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_autofree char *publication = fab_measured_publication (cases[i][0]);

    assert_string_equal (publication, cases[i][1]);
  }
}

static void
test_csv (G_GNUC_UNUSED void **state)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (FabMeasuredCsv) csv = parse ("# system: A100: 40 GB\r\n"
                                          "#source:x\n"
                                          "size_bytes,time_us,algbw_GBps,busbw_GBps\n"
                                          "\n"
                                          "1048576, 74.78,14.02,24.54\n"
                                          "2097152,93,22.43,39.26\n",
                                          &error);

  assert_null (error);
  assert_string_equal (g_hash_table_lookup (csv->header, "system"), "A100: 40 GB");
  assert_string_equal (g_hash_table_lookup (csv->header, "source"), "x");
  assert_int_equal (csv->rows->len, 2);
  assert_int_equal (csv->first_line, 5);
  const FabMeasuredRow *row = &g_array_index (csv->rows, FabMeasuredRow, 0);
  assert_int_equal (row->size_bytes, 1048576);
  assert_true (row->time_us == 74.78 && row->busbw_GBps == 24.54);
  assert_near (row->rounding_fraction, 0.005 / 74.78, 1e-12);
  assert_near (row[1].rounding_fraction, 0.5 / 93, 1e-12);
}

/* time = size x 1.75 / busbw: 1048576 x 1.75 / 36.22e9 s = 50.66 us; 0.04 GB/s may be 0.035 to 0.045: 12.5 %. */
static void
test_csv_of_busbw_only (G_GNUC_UNUSED void **state)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (FabMeasuredCsv) csv = parse (
      "size_bytes,label,busbw_GBps\n512,.5K,0.00\n1024,1K,0.04\n1048576,1M,36.22\n", &error);
  const FabMeasuredRow *rows = (const FabMeasuredRow *) (gpointer) csv->rows->data;

  assert_null (error);
  assert_true (rows[0].time_us == 0 && rows[0].rounding_fraction == 1);
  assert_near (rows[1].rounding_fraction, 0.125, 1e-9);
  assert_near (rows[2].time_us, 1048576 * 1.75 / 36.22e9 * 1e6, 1e-12);
}

static void
test_csv_of_times_only (G_GNUC_UNUSED void **state)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (FabMeasuredCsv) csv = parse ("size_bytes,time_us\n1000000,100.0\n", &error);

  assert_null (error);
  assert_near (g_array_index (csv->rows, FabMeasuredRow, 0).busbw_GBps, 17.5, 1e-12);
}

/* Columns stand in any order, also those that are read first. */
static void
test_csv_columns_in_any_order (G_GNUC_UNUSED void **state)
{
  static const char *const texts[] = { "time_us,size_bytes,busbw_GBps\n74.78,1048576,24.54\n",
                                       "busbw_GBps,time_us,size_bytes\n24.54,74.78,1048576\n",
                                       "busbw_GBps,size_bytes,time_us\n24.54,1048576,74.78\n" };

  for (guint i = 0; i < G_N_ELEMENTS (texts); i++) {
    g_autoptr (GError) error = NULL;
    g_autoptr (FabMeasuredCsv) csv = parse (texts[i], &error);

    assert_null (error);
    const FabMeasuredRow *row = &g_array_index (csv->rows, FabMeasuredRow, 0);
    assert_int_equal (row->size_bytes, 1048576);
    assert_true (row->time_us == 74.78 && row->busbw_GBps == 24.54);
  }
  assert_refused ("time_us,size_bytes\nx,8\n", "t.csv:2: time_us: 'x' is not a number like 34.73");
  assert_refused ("busbw_GBps,size_bytes\nx,8\n", "t.csv:2: busbw_GBps: 'x' is not a number like 34.73");
}

/* A time that its last digit could make 0 is none; a rate may be 0, and is then less than its last digit. Numbers have
 * at most fifteen digits before and behind the point. */
static void
test_csv_edges (G_GNUC_UNUSED void **state)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (FabMeasuredCsv) csv = parse ("size_bytes,time_us\n8,123456789012345.123456789012345\n9,0.6\n",
                                          &error);

  assert_null (error);
  assert_near (g_array_index (csv->rows, FabMeasuredRow, 0).time_us, 123456789012345.1, 1e-12);
  assert_near (g_array_index (csv->rows, FabMeasuredRow, 1).rounding_fraction, 0.05 / 0.6, 1e-12);
  assert_refused ("size_bytes,time_us\n8,0.5\n9,0\n", "t.csv:3: time_us: 0 is not a duration");
  assert_refused ("size_bytes,time_us\n8,1234567890123456\n",
                  "t.csv:2: time_us: '1234567890123456' is not a number like 34.73");
  assert_refused ("size_bytes,time_us\n8,1.1234567890123456\n",
                  "t.csv:2: time_us: '1.1234567890123456' is not a number like 34.73");
  assert_refused ("size_bytes,time_us\n1000000000000001,1.0\n",
                  "t.csv:2: size_bytes: '1000000000000001' is not a whole number of bytes from 1");
}

/* 1048576 B x 1.75 / 74.78 us is 24.54 GB/s, and with the last digits of both 24.532 to 24.545. */
static void
test_csv_agreement_is_that_of_the_digits (G_GNUC_UNUSED void **state)
{
  for (guint hundredths = 2440; hundredths <= 2470; hundredths++) {
    g_autofree char *text = g_strdup_printf ("size_bytes,time_us,busbw_GBps\n1048576,74.78,24.%02u\n",
                                             hundredths - 2400);
    g_autoptr (GError) error = NULL;
    g_autoptr (FabMeasuredCsv) csv = parse (text, &error);

    assert_int_equal (csv != NULL, 2453 <= hundredths && hundredths <= 2454);
  }
}

static void
test_csv_refused (G_GNUC_UNUSED void **state)
{
  assert_refused ("", "t.csv:1: the table has no rows");
  assert_refused ("size_bytes,time_us\n", "t.csv:3: the table has no rows");
  assert_refused ("# just words\n", "t.csv:1: a header line must have the form `# key: value`");
  assert_refused ("# a: 1\n# a: 2\n", "t.csv:2: 'a' is given twice in the header");
  assert_refused ("size,time_us\n1,1\n", "t.csv:1: the column 'size_bytes' is missing");
  assert_refused ("size_bytes,algbw_GBps\n1,1\n", "t.csv:1: a column 'time_us' or 'busbw_GBps' is missing");
  assert_refused ("size_bytes,size_bytes\n", "t.csv:1: column 'size_bytes' is given twice");
  assert_refused ("size_bytes,,time_us\n", "t.csv:1: column 2 has no name");
  assert_refused ("size_bytes,time_us\n1,2,3\n",
                  "t.csv:2: the row has 3 fields, and the table has 2 columns");
  assert_refused ("size_bytes,time_us\n1\n", "t.csv:2: the row has 1 fields, and the table has 2 columns");
  assert_refused ("size_bytes,time_us\n8,1.0\n8,1.0\n", "t.csv:3: size_bytes: 8 does not ascend");
  assert_refused ("size_bytes,time_us\n0,1.0\n",
                  "t.csv:2: size_bytes: '0' is not a whole number of bytes from 1");
  assert_refused ("size_bytes,time_us\n1e3,1.0\n",
                  "t.csv:2: size_bytes: '1e3' is not a whole number of bytes from 1");
  assert_refused ("size_bytes,time_us\n8,nan\n", "t.csv:2: time_us: 'nan' is not a number like 34.73");
  assert_refused ("size_bytes,time_us\n8,-1.0\n", "t.csv:2: time_us: '-1.0' is not a number like 34.73");
  assert_refused ("size_bytes,time_us\n8,1.0.0\n", "t.csv:2: time_us: '1.0.0' is not a number like 34.73");
  assert_refused ("size_bytes,time_us\n8,0.00\n", "t.csv:2: time_us: 0 is not a duration");
  assert_refused ("time_us,size_bytes\n0,8\n", "t.csv:2: time_us: 0 is not a duration");
  assert_refused ("size_bytes,time_us\n8,1.0\n# late: yes\n",
                  "t.csv:3: header lines stand before the columns");
  assert_refused ("size_bytes,time_us\n8,\"1\"\n", "t.csv:2: quotes are not supported here");
  assert_refused ("size_bytes,time_us\n8,\xff\n", "t.csv:1: not UTF-8 text");
}

/* 1 MiB in 74.78 us over 8 ranks is a busbw of 24.54; 14.02 would be that of another operation. */
static void
test_csv_disagreement (G_GNUC_UNUSED void **state)
{
  assert_refused (
      "size_bytes,time_us,busbw_GBps\n1048576,74.78,14.02\n",
      "t.csv:2: busbw_GBps 14.02 does not follow from time_us 74.78: 24.54 expected (right operation and "
      "ranks?)");
}

/* Whatever is read: sizes ascend, times are finite, and only a busbw printed as 0 has none. */
static void
check_rows (const FabMeasuredCsv *csv)
{
  for (guint i = 0; i < csv->rows->len; i++) {
    const FabMeasuredRow *row = &g_array_index (csv->rows, FabMeasuredRow, i);

    assert_true (i == 0 || row->size_bytes > row[-1].size_bytes);
    assert_true (isfinite (row->time_us) && isfinite (row->busbw_GBps));
    assert_true (row->rounding_fraction > 0 && row->rounding_fraction <= 1);
    assert_true (row->time_us > 0 || row->rounding_fraction == 1);
  }
}

/* One to five bytes replaced, removed or doubled; a comma, a digit or a line end more often than others. */
static void
mutate (GString *text, Random *random)
{
  static const char likely[] = ",,\n#.:0123456789\"\r-e";

  for (guint n = random_between (random, 1, 5); n > 0 && text->len > 0; n--) {
    gssize at = (gssize) random_below (random, (guint) text->len);
    char byte = random_chance (random, 80) ? likely[random_below (random, sizeof likely - 1)]
                                           : (char) random_below (random, 256);

    switch (random_below (random, 4)) {
    case 0: g_string_erase (text, at, 1); break;
    case 1: g_string_insert_c (text, at, byte); break;
    case 2: g_string_truncate (text, (gsize) at); break;
    default: text->str[at] = byte; break;
    }
  }
}

static void
test_mutated (G_GNUC_UNUSED void **state)
{
  g_autofree char *original = NULL;
  gsize size;

  assert_true (g_file_get_contents (MEASURED "/a100x8_nvswitch_allreduce_8.csv", &original, &size, NULL));
  for (guint seed = 1; seed <= 3000; seed++) {
    Random random = { seed };
    g_autoptr (GString) text = g_string_new_len (original, (gssize) size);
    g_autoptr (GError) error = NULL;

    mutate (text, &random);
    g_autoptr (FabMeasuredCsv) csv = fab_measured_csv_parse ("t.csv", text->str, text->len, 1.75, &error);
    assert_true ((csv == NULL) == (error != NULL));
    if (csv)
      check_rows (csv);
    else if (!g_str_has_prefix (error->message, "t.csv:") || !g_ascii_isdigit (error->message[6]))
      fail_msg ("seed %u: no line in '%s'", seed, error->message);
  }
}

static FabCatalog *
load_catalog (void)
{
  g_autoptr (GError) error = NULL;
  FabCatalog *catalog = fab_catalog_load (CATALOG, &fab_models, &error);

  if (catalog == NULL)
    fail_msg ("%s", error->message);
  return catalog;
}

static void
test_shipped (G_GNUC_UNUSED void **state)
{
  g_autoptr (FabCatalog) catalog = load_catalog ();
  g_autoptr (GError) error = NULL;
  g_autoptr (FabMeasured) measured = fab_measured_load (MEASURED, catalog, &fab_models, &error);
  guint n_of_role[FAB_N_ROLES] = { 0 };

  assert_null (error);
  for (guint i = 0; i < fab_measured_n_tables (measured); i++) {
    const FabMeasuredTable *table = fab_measured_table (measured, i);

    check_rows (table->csv);
    assert_non_null (g_hash_table_lookup (table->csv->header, "source"));
    n_of_role[table->spec->role]++;
  }
  assert_true (n_of_role[FAB_ROLE_CALIBRATION] > 0 && n_of_role[FAB_ROLE_JUDGED] > 0);
}

static void
test_find (G_GNUC_UNUSED void **state)
{
  g_autoptr (FabCatalog) catalog = load_catalog ();
  g_autoptr (FabMeasured) measured = fab_measured_load (MEASURED, catalog, &fab_models, NULL);
  const FabMeasuredTable *table = fab_measured_find (measured, "dgxa100_allreduce_32", NULL);
  g_autoptr (GError) error = NULL;

  assert_string_equal (table->name, "dgxa100_allreduce_32");
  assert_ptr_equal (fab_measured_find (measured, "dgxa100_allreduce_32.csv", NULL), table);
  assert_null (fab_measured_find (measured, "dgxa100_allreduce_23", &error));
  assert_string_equal (error->message,
                       "no measured table 'dgxa100_allreduce_23'; nearest is 'dgxa100_allreduce_32'");
}

/* NULL, or what is wrong with a directory of this index and one table with this header. (transfer full) */
static char *
problem_of (const char *index, const char *header)
{
  g_autoptr (FabCatalog) catalog = load_catalog ();
  g_autofree char *directory = g_dir_make_tmp ("fab-measured-XXXXXX", NULL);
  g_autofree char *index_path = g_build_filename (directory, "INDEX.yaml", NULL);
  g_autofree char *table_path = g_build_filename (directory, "t.csv", NULL);
  g_autoptr (GError) error = NULL;

  assert_true (g_file_set_contents (index_path, index, -1, NULL));
  g_autofree char *table = g_strdup_printf ("%ssize_bytes,time_us\n8,1.0\n", header);

  assert_true (g_file_set_contents (table_path, table, -1, NULL));
  g_autoptr (FabMeasured) measured = fab_measured_load (directory, catalog, &fab_models, &error);
  assert_true ((measured == NULL) == (error != NULL));
  g_remove (index_path);
  g_remove (table_path);
  g_rmdir (directory);
  return error ? g_strdup (error->message) : NULL;
}

/* The table is of two nodes with eight GPUs each. */
static void
assert_index_refused (const char *index, const char *part)
{
  g_autofree char *problem = problem_of (index, "# nodes: 2\n# gpus_per_node: 8\n");

  if (problem == NULL || strstr (problem, part) == NULL)
    fail_msg ("'%s' is not in:\n%s", part, problem ? problem : "nothing is wrong");
}

#define ENTRY(file_, node_, nodes_)                       \
  "  - {file: " file_ ", node: " node_ ", nodes: " nodes_ \
  ", gpus_per_node: 8, op: all_reduce, interconnect: x, role: judged}\n"

static void
test_index_refused (G_GNUC_UNUSED void **state)
{
  assert_index_refused ("tables:\n" ENTRY ("t.csv", "dgx-a10", "2"),
                        "INDEX.yaml:2:25: unknown node 'dgx-a10'");
  assert_index_refused ("tables:\n" ENTRY ("u.csv", "dgx-a100", "2"), "u.csv");
  assert_index_refused ("tables:\n" ENTRY ("t.csv", "dgx-a100", "4"),
                        "INDEX.yaml:2:42: nodes is 4 here and '2' in the table's own header");
  assert_index_refused ("tables:\n" ENTRY ("t.csv", "dgx-a100", "2") ENTRY ("t.csv", "dgx-a100", "2"),
                        "is given twice");
  assert_index_refused ("tables:\n  - {file: t.csv}\n", "INDEX.yaml:2");
}

/* A group of GPUs: the header has the GPUs of the whole node, and how many ranks there were. */
static void
test_ranks (G_GNUC_UNUSED void **state)
{
  static const char index[] = "tables:\n" ENTRY ("t.csv", "dgx-a100", "2");
  static const struct {
    const char *header, *problem; /* NULL: nothing is wrong */
  } cases[] = {
    { "# nodes: 2\n# gpus_per_node: 8\n# ranks: 16\n", NULL },
    { "# nodes: 2\n# gpus_per_node: 16\n# ranks: 16\n", NULL },
    { "# nodes: 2\n# ranks: 16\n", NULL },
    { "# nodes: 2\n# gpus_per_node: 8\n# ranks: 8\n", "there are 16 ranks here and '8'" },
    { "# nodes: 2\n# gpus_per_node: 8\n# ranks: many\n", "there are 16 ranks here and 'many'" },
    { "# nodes: 2\n# gpus_per_node: 16\n", "gpus_per_node is 8 here and '16'" },
    { "# nodes: 2\n# gpus_per_node: 4\n# ranks: 16\n", "gpus_per_node is 8 here and '4'" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_autofree char *problem = problem_of (index, cases[i].header);

    if ((problem == NULL) != (cases[i].problem == NULL)
        || (problem != NULL && strstr (problem, cases[i].problem) == NULL))
      fail_msg ("case %u: '%s' is not in:\n%s", i, cases[i].problem ? cases[i].problem : "nothing",
                problem ? problem : "nothing is wrong");
  }
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (test_publications),
    cmocka_unit_test (test_csv),
    cmocka_unit_test (test_csv_of_busbw_only),
    cmocka_unit_test (test_csv_of_times_only),
    cmocka_unit_test (test_csv_columns_in_any_order),
    cmocka_unit_test (test_csv_edges),
    cmocka_unit_test (test_csv_agreement_is_that_of_the_digits),
    cmocka_unit_test (test_csv_refused),
    cmocka_unit_test (test_csv_disagreement),
    cmocka_unit_test (test_mutated),
    cmocka_unit_test (test_shipped),
    cmocka_unit_test (test_find),
    cmocka_unit_test (test_index_refused),
    cmocka_unit_test (test_ranks),
  };

  return cmocka_run_group_tests (tests, NULL, NULL);
}
