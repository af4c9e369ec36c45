/* SPDX-License-Identifier: Apache-2.0 */
/* test_training_sources.c - lists of published runs, their tables and their templates: what is taken, what is refused
 * and how that is said. */
#include <glib/gstdio.h>
#include <string.h>

#include "models/models.h"
#include "sim/base/error.h"
#include "tests/support/test.h"
#include "validate/training/sources.h"

/* --- tables --- */

#define COLUMNS "id,gpus,nodes,strategy,batch,step_s,anchor,doubtful\n"

static FabTrainingTable *
parse (const char *text)
{
  g_autoptr (GError) error = NULL;
  FabTrainingTable *table = fab_training_table_parse ("/a/b/runs.csv", text, &error);

  if (table == NULL)
    fail_msg ("%s: %s", text, error->message);
  return table;
}

static void
assert_refused (const char *text, const char *message)
{
  g_autoptr (GError) error = NULL;

  assert_null (fab_training_table_parse ("/a/b/runs.csv", text, &error));
  assert_true (g_error_matches (error, FAB_ERROR, FAB_ERROR_INPUT));
  assert_string_equal (error->message, message);
}

/* Where the only row is wrong, that is what is wrong with the table. */
static void
cells_that_are_no_numbers (G_GNUC_UNUSED void **state)
{
  static const struct {
    const char *text;
    gboolean is_count, is_real;
  } cases[] = {
    { "1", TRUE, TRUE },     { "2147483647", TRUE, TRUE }, { "2147483648", FALSE, TRUE },
    { "0", FALSE, FALSE },   { "", FALSE, FALSE },         { "-1", FALSE, FALSE },
    { "1.5", FALSE, TRUE },  { "2x", FALSE, FALSE },       { "x", FALSE, FALSE },
    { "9e14", FALSE, TRUE }, { "1e15", FALSE, FALSE },     { "1e-9", FALSE, TRUE },
    { "nan", FALSE, FALSE }, { "inf", FALSE, FALSE },      { "1 ", FALSE, FALSE },
  };
  static const char *const names[] = { "gpus", "nodes", "batch", "step_s" };

  for (guint i = 0; i < 4 * G_N_ELEMENTS (cases); i++) {
    const char *text = cases[i / 4].text, *cells[] = { "16", "2", "4", "0.5" };
    gboolean is_count = i % 4 < 2;

    cells[i % 4] = text;
    g_autofree char *csv = g_strdup_printf (COLUMNS "r,%s,%s,DDP,%s,%s,,\n", cells[0], cells[1], cells[2],
                                            cells[3]);
    g_autofree char *message = g_strdup_printf ("runs.csv:2: %s is '%s', not a number %s", names[i % 4], text,
                                                is_count ? "from 1 on" : "above 0");
    if (!(is_count ? cases[i / 4].is_count : cases[i / 4].is_real)) {
      assert_refused (csv, message);
      continue;
    }
    g_autoptr (FabTrainingTable) table = parse (csv);
    const FabTrainingRow *row = fab_training_table_row (table, 0);
    assert_int_equal (row->gpus, g_ascii_strtoull (cells[0], NULL, 10));
    assert_int_equal (row->nodes, g_ascii_strtoull (cells[1], NULL, 10));
    assert_near (row->batch, g_ascii_strtod (cells[2], NULL), 0);
    assert_near (row->step_s, g_ascii_strtod (cells[3], NULL), 0);
  }
}

static void
tables_that_are_none (G_GNUC_UNUSED void **state)
{
  static const char *const needed[] = { "id", "gpus", "nodes", "strategy", "batch", "step_s" };

  for (guint i = 0; i < G_N_ELEMENTS (needed); i++) {
    GString *columns = g_string_new ("more");
    g_autofree char *message = g_strdup_printf ("/a/b/runs.csv:3: there is no column '%s'", needed[i]);

    for (guint k = 0; k < G_N_ELEMENTS (needed); k++)
      if (k != i)
        g_string_append_printf (columns, ",%s", needed[k]);
    g_string_prepend (columns, "# a: b\n\n");
    assert_refused (columns->str, message);
    g_string_free (columns, TRUE);
  }
  assert_refused ("", "/a/b/runs.csv:1: the table has no rows");
  assert_refused ("# a: b\n" COLUMNS, "/a/b/runs.csv:3: the table has no rows");
  assert_refused ("# source made by hand\n",
                  "/a/b/runs.csv:1: a header line must have the form '# key: value'");
  assert_refused (COLUMNS "\n\nr,8,1,DDP,1,1,\n",
                  "runs.csv:4: the row has 7 cells, and the table has 8 columns");
  assert_refused (COLUMNS "r,8,1,DDP,1,1,,,\ns,8,1,,1,1,,\n",
                  "runs.csv:2: the row has 9 cells, and the table has 8 columns");
}

/* Header lines, empty lines and columns may stand anywhere before the first row; ends of lines may be those of other
 * systems. A row that is wrong is skipped, and told by its line. */
static void
tables_as_they_are_written (G_GNUC_UNUSED void **state)
{
  g_autoptr (FabTrainingTable) table = parse ("#source:  a paper: page 3 \r\n"
                                              "\r\n" COLUMNS "# later : yes\n"
                                              "a,8,1,DDP,16,0.5,yes,\r\n"
                                              "b,16,2,\"TP, PP\",32,1.25,no,\"by \"hand\", twice\"\n"
                                              ",8,1,DDP,16,0.5,,\n"
                                              "c,8,1,,16,0.5,,\n"
                                              "a,8,1,DDP,16,0.5,,\n"
                                              "d,8,1,DDP,16,0.5,YES,\n");
  static const char *const skipped[] = { "runs.csv:7: id is '', which is empty or is given twice",
                                         "runs.csv:8: strategy is empty",
                                         "runs.csv:9: id is 'a', which is empty or is given twice" };
  static const char *const columns[] = { "id",    "gpus",   "nodes",  "strategy",
                                         "batch", "step_s", "anchor", "doubtful" };

  static const char *const ids[] = { "a", "b", "d" };

  assert_int_equal (g_hash_table_size (table->header), 2);
  assert_string_equal (g_hash_table_lookup (table->header, "source"), "a paper: page 3");
  assert_string_equal (g_hash_table_lookup (table->header, "later"), "yes");
  assert_int_equal (table->rows->len, 3);
  assert_int_equal (table->skipped->len, G_N_ELEMENTS (skipped));
  for (guint i = 0; i < G_N_ELEMENTS (skipped); i++)
    assert_string_equal (g_ptr_array_index (table->skipped, i), skipped[i]);
  for (guint i = 0; i < G_N_ELEMENTS (columns); i++)
    assert_int_equal (fab_training_table_column (table, columns[i]), i);
  assert_int_equal (fab_training_table_column (table, "anchors"), -1);
  for (guint i = 0; i < 3; i++) {
    const FabTrainingRow *row = fab_training_table_row (table, i);

    assert_string_equal (row->id, ids[i]);
    assert_string_equal (row->strategy, i == 1 ? "TP, PP" : "DDP");
    assert_int_equal (row->is_anchor, i == 0);
    if (i == 1)
      assert_string_equal (row->doubtful, "by hand, twice");
    else
      assert_null (row->doubtful);
    assert_int_equal (row->gpus, i == 1 ? 16 : 8);
    assert_near (row->step_s, i == 1 ? 1.25 : 0.5, 0);
  }
}

static void
lines_are_cut_at_commas (G_GNUC_UNUSED void **state)
{
  static const struct {
    const char *line, *cells; /* with | between them */
  } cases[] = {
    { "", "" },           { "a", "a" },         { ",", "|" },           { "a,b", "a|b" },
    { "a,,b,", "a||b|" }, { "\"a,b\"", "a,b" }, { "\"a\"b,c", "ab|c" }, { "\"a,b", "a,b" },
    { "a\",\"b", "a,b" }, { "\"\"", "" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_auto (GStrv) cells = fab_training_split_cells (cases[i].line);
    g_autofree char *joined = g_strjoinv ("|", cells);

    assert_string_equal (joined, cases[i].cells);
  }
}

/* --- templates --- */

static void
places_are_filled (G_GNUC_UNUSED void **state)
{
  static const FabTemplateValue values[] = { { "a", "1" }, { "nodes", "${a}" }, { "e", "" } };
  static const struct {
    const char *text, *filled, *message;
  } cases[] = {
    { "", "", NULL },
    { "x", "x", NULL },
    { "${a}", "1", NULL },
    { "${a}x${a}", "1x1", NULL },
    { "[${nodes}]$", "[${a}]$", NULL }, /* what is filled in is no template */
    { "-${e}-}", "--}", NULL },
    { "${nods}", NULL, "there is no column for ${nods}; nearest is 'nodes'" },
    { "${zzzzzzzz}", NULL, "there is no column for ${zzzzzzzz}" },
    { "${}", NULL, "there is no column for ${}" },
    { "${a} ${a", NULL, "a ${ has no closing }" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_autoptr (GError) error = NULL;
    g_autofree char *filled = fab_template_fill (cases[i].text, values, G_N_ELEMENTS (values), &error);

    if (cases[i].filled != NULL) {
      assert_string_equal (filled, cases[i].filled);
      assert_null (error);
    } else {
      assert_null (filled);
      assert_true (g_error_matches (error, FAB_ERROR, FAB_ERROR_INPUT));
      if (!g_str_has_prefix (error->message, cases[i].message))
        fail_msg ("%s", error->message);
    }
  }
}

/* --- a folder --- */

typedef struct {
  char *folder;
  GPtrArray *paths;
} Folder;

static int
make_folder (void **state)
{
  Folder *self = g_new0 (Folder, 1);

  self->folder = g_dir_make_tmp ("fab-sources-XXXXXX", NULL);
  self->paths = g_ptr_array_new_with_free_func (g_free);
  *state = self;
  return 0;
}

static int
remove_folder (void **state)
{
  Folder *self = *state;

  for (guint i = 0; i < self->paths->len; i++)
    g_unlink (g_ptr_array_index (self->paths, i));
  g_ptr_array_unref (self->paths);
  g_rmdir (self->folder);
  g_free (self->folder);
  g_free (self);
  return 0;
}

static void
put (Folder *self, const char *name, const char *text)
{
  char *path = g_build_filename (self->folder, name, NULL);

  assert_true (g_file_set_contents (path, text, -1, NULL));
  g_ptr_array_add (self->paths, path);
}

static FabTrainingSources *
load (const Folder *self, GError **error)
{
  return fab_training_sources_load (self->folder, &fab_models, error);
}

#define ENTRY(name_, rest_)                \
  "  - {name: " name_ ", title: of " name_ \
  ", file: runs.csv, scenario: \"${strategy}.yaml\", network: told, " rest_ "}\n"
#define ROWS COLUMNS "a,8,1,DDP,16,0.5,,\nb,16,2,TP,16,0.5,,\n"

static void
sources_are_those_of_the_list (void **state)
{
  Folder *self = *state;
  g_autoptr (GError) error = NULL;

  put (self, "runs.csv", ROWS);
  put (self, "INDEX.yaml",
       "sources:\n" ENTRY ("one", "same: id  nodes, factors: batch")
           ENTRY ("two", "same: batch, role: judged, sample: 7, note: of two"));
  g_autoptr (FabTrainingSources) sources = load (self, &error);
  if (sources == NULL)
    fail_msg ("%s", error->message);
  assert_int_equal (fab_training_sources_n (sources), 2);
  for (guint i = 0; i < 2; i++) {
    const FabTrainingSource *source = fab_training_sources_get (sources, i);
    const char *name = i ? "two" : "one";

    assert_ptr_equal (fab_training_sources_find (sources, name, &error), source);
    assert_string_equal (source->spec->name, name);
    assert_string_equal (source->spec->factors != NULL ? source->spec->factors : "", i ? "" : "batch");
    assert_string_equal (source->spec->note != NULL ? source->spec->note : "", i ? "of two" : "");
    assert_int_equal (source->spec->role, i ? FAB_TRAINING_JUDGED : FAB_TRAINING_ALTERNATES);
    assert_int_equal (source->spec->n_sample, i ? 7 : 40);
    assert_string_equal (source->directory, self->folder);
    assert_int_equal (source->table->rows->len, 2);
  }
  assert_null (fab_training_sources_find (sources, "tw", &error));
  assert_non_null (strstr (error->message, "no measured source"));
  assert_non_null (strstr (error->message, "'two'"));
}

/* All mistakes of a list are told at once. */
static void
lists_that_are_wrong (void **state)
{
  static const struct {
    const char *entries, *words[3];
  } cases[] = {
    { ENTRY ("one", "same: gpus") ENTRY ("two", "same: gpus") ENTRY ("one", "same: gpus"),
      { "'one' is given twice" } },
    { ENTRY ("one", "same: gpus model, factors: nodes sequence"),
      { "the table has no column 'model'", "the table has no column 'sequence'" } },
    { ENTRY ("one", "same: gpus, sample: 0"), { "sample" } },
    { ENTRY ("one", "same: gpus, role: judge"), { "judge" } },
    { "  - {name: one, title: t, file: none.csv, scenario: s, same: gpus, network: told}\n",
      { "none.csv", "No such file" } },
    { "  - {name: one, title: t, file: bad.csv, scenario: s, same: gpus, network: told}\n",
      { "bad.csv:1: there is no column 'id'" } },
  };
  Folder *self = *state;

  put (self, "runs.csv", ROWS);
  put (self, "bad.csv", "a,b\n1,2\n");
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_autofree char *text = g_strconcat ("sources:\n", cases[i].entries, NULL);
    g_autoptr (GError) error = NULL;

    put (self, "INDEX.yaml", text);
    assert_null (load (self, &error));
    for (guint k = 0; k < 3 && cases[i].words[k] != NULL; k++)
      if (strstr (error->message, cases[i].words[k]) == NULL)
        fail_msg ("'%s' does not say '%s'", error->message, cases[i].words[k]);
    assert_null (strstr (error->message, "'gpus'"));
  }
}

/* The template of a row is chosen by its cells, and filled with them and with an efficiency of nine digits. */
static void
scenarios_are_filled (void **state)
{
  Folder *self = *state;
  gboolean has_mfu = 7;
  g_autoptr (GError) error = NULL;

  put (self, "runs.csv", ROWS);
  put (self, "INDEX.yaml", "sources:\n" ENTRY ("one", "same: gpus"));
  put (self, "DDP.yaml", "x: [${id}, ${gpus}, ${mfu}]\n");
  put (self, "TP.yaml", "y: ${nodes}${more}\n");
  g_autoptr (FabTrainingSources) sources = load (self, &error);
  const FabTrainingSource *source = fab_training_sources_get (sources, 0);
  g_autofree char *first = fab_training_source_scenario (source, 0, 1.0 / 3, &has_mfu, &error);
  assert_string_equal (first, "x: [a, 8, 0.333333333]\n");
  assert_true (has_mfu);
  g_autofree char *again = fab_training_source_scenario (source, 0, 0.5, NULL, &error);
  assert_string_equal (again, "x: [a, 8, 0.5]\n");
  assert_null (fab_training_source_scenario (source, 1, 0.5, &has_mfu, &error));
  assert_false (has_mfu);
  g_autofree char *message = g_strconcat (self->folder, "/TP.yaml: there is no column for ${more}", NULL);
  assert_true (g_str_has_prefix (error->message, message));
  g_clear_error (&error);
  put (self, "TP.yaml", "y: ${nodes}\n");
  g_autofree char *second = fab_training_source_scenario (source, 1, 0.5, &has_mfu, &error);
  assert_string_equal (second, "y: 2\n");
  assert_false (has_mfu);
  g_autofree char *path = g_build_filename (self->folder, "TP.yaml", NULL);
  g_unlink (path);
  assert_null (fab_training_source_scenario (source, 1, 0.5, &has_mfu, &error));
  assert_non_null (strstr (error->message, "TP.yaml"));
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (cells_that_are_no_numbers),
    cmocka_unit_test (tables_that_are_none),
    cmocka_unit_test (tables_as_they_are_written),
    cmocka_unit_test (lines_are_cut_at_commas),
    cmocka_unit_test (places_are_filled),
    cmocka_unit_test_setup_teardown (sources_are_those_of_the_list, make_folder, remove_folder),
    cmocka_unit_test_setup_teardown (lists_that_are_wrong, make_folder, remove_folder),
    cmocka_unit_test_setup_teardown (scenarios_are_filled, make_folder, remove_folder),
  };

  return cmocka_run_group_tests_name ("training_sources", tests, NULL, NULL);
}
