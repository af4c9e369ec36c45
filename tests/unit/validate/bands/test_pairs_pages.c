/* SPDX-License-Identifier: Apache-2.0 */
/* test_pairs_pages.c - what is written of pairs is what was found, and all forms say the same. */
#include <math.h>
#include <string.h>

#include <json-glib/json-glib.h>

#include "tests/unit/validate/bands/pairs_world.h"

/* --- pages --- */

static guint
count_lines (const char *page)
{
  guint n = 0;

  for (const char *at = strchr (page, '\n'); at != NULL; at = strchr (at + 1, '\n'))
    n++;
  return n;
}

static void
assert_has (const char *page, const char *part)
{
  if (strstr (page, part) == NULL)
    fail_msg ("%s is not in\n%s", part, page);
}

/* A page in all forms. */
typedef struct {
  char *csv, *json, *text, *markdown, *yaml;
} Pages;

/* Lines of one kind of pairs of one relation, or (kind NULL) of all kinds. */
typedef struct {
  const char *subject;
  FabPairRelation relation;
  const FabPairList *list;
  int place; /* -1: of compute, which has neither places nor sizes */
  const char *kind;
} Line;

/* "91 %", or nothing. (transfer full) */
static char *
share_of (FabPairCoverage coverage)
{
  return coverage.n_pairs > 0 ? g_strdup_printf ("%.0f %%", 100 * coverage.held_fraction) : g_strdup ("");
}

/* Whether a line of the text has these cells, whatever the spaces around them. */
static gboolean
has_cells (const char *text, const char *expected)
{
  g_auto (GStrv) lines = g_strsplit (text, "\n", -1);

  for (guint i = 0; lines[i] != NULL; i++) {
    g_auto (GStrv) cells = g_strsplit (lines[i], "\v", -1);

    for (guint k = 0; cells[k] != NULL; k++)
      g_strstrip (cells[k]);
    g_autofree char *joined = g_strjoinv ("|", cells);
    if (strcmp (joined, expected) == 0)
      return TRUE;
  }
  return FALSE;
}

/* How many lines there are of it, 0 or 1: there is none of what has no pairs. */
static guint
check_line (const Pages *pages, Line line)
{
  static const char *const classes[] = { "small", "middle", "large" };
  const char *relation = fab_pair_relation_names[line.relation],
             *place = line.place >= 0 ? fab_plan_place_names[line.place] : "",
             *kind = line.kind != NULL ? line.kind : "all", *mark = line.kind == NULL ? "**" : "";
  FabPairCoverage all = fab_pair_coverage (line.list->trials, (FabPairFilter){ line.kind, line.place, -1 });
  g_autofree char *head = g_strdup_printf ("%s,%s,%s,\"%s\",", line.subject, relation, place, kind),
                  *whole = share_of (all);
  g_autoptr (GString) markdown = g_string_new (NULL), text = g_string_new (NULL);

  assert_int_equal (strstr (pages->csv, head) != NULL, all.n_pairs > 0);
  g_string_printf (markdown, "\n| %s%s, %s%s | %s | %s | %u (%u) |", mark, line.subject, relation, mark,
                   place, kind, all.n_pairs, all.n_families);
  g_string_printf (text, "%s|%s|%s|%s|%u|%u", line.subject, relation, place, kind, all.n_pairs,
                   all.n_families);
  for (int c = -1; c < FAB_N_PAIR_CLASSES; c++) {
    FabPairFilter filter = { line.kind, line.place, c };
    FabPairCoverage of_class = fab_pair_coverage (line.list->trials, filter);
    g_autofree char *start = g_strdup_printf ("%s%s,", head, c < 0 ? "all" : classes[c]);
    g_autofree char *row = g_strdup_printf ("%s%u,%u,%.6f,%.6f,%.6f,%.6f\n", start, of_class.n_pairs,
                                            of_class.n_families, of_class.held_fraction,
                                            exp (of_class.median_log), of_class.opposite_fraction,
                                            exp (of_class.median_opposite_log));

    if (c >= 0 && line.place < 0)
      of_class = (FabPairCoverage){ 0 };
    if (of_class.n_pairs > 0)
      assert_has (pages->csv, row);
    else
      assert_null (strstr (pages->csv, start));
    if (c >= 0) {
      g_autofree char *share = share_of (of_class);

      g_string_append_printf (markdown, " %s%s|", share, *share != '\0' ? " " : "");
      g_string_append_printf (text, "|%s", share);
    }
  }
  if (all.n_pairs == 0)
    return 0;
  g_string_append_printf (markdown, " %s | %.2f | %.0f %% | %.2f |\n", whole, exp (all.median_log),
                          100 * all.opposite_fraction, exp (all.median_opposite_log));
  g_string_append_printf (text, "|%s|%.2f|%.0f %%|%.2f", whole, exp (all.median_log),
                          100 * all.opposite_fraction, exp (all.median_opposite_log));
  assert_has (pages->markdown, markdown->str);
  if (!has_cells (pages->text, text->str))
    fail_msg ("%s is not in\n%s", text->str, pages->text);
  return 1;
}

/* All kinds together, and each by itself where there are several. */
static guint
check_list (const Pages *pages, Line line)
{
  static const char *const kinds[] = { "measured again",
                                       "number of nodes",
                                       "GPUs of a node",
                                       "operation",
                                       "size",
                                       "size, and with it the algorithm",
                                       "NIC",
                                       "links of a node",
                                       "settings of the library",
                                       "number of GPUs",
                                       "model",
                                       "accelerator",
                                       "batch or sequence",
                                       "parallelism",
                                       "kernels" };
  guint n_kinds = 0, n_lines = check_line (pages, line), n_found = 0;

  for (guint k = 0; k < G_N_ELEMENTS (kinds); k++) {
    gboolean is_there = FALSE;

    for (guint i = 0; i < line.list->pairs->len; i++)
      if (strcmp (g_array_index (line.list->pairs, FabPair, i).kind, kinds[k]) == 0) {
        is_there = TRUE;
        n_found++;
      }
    n_kinds += is_there;
  }
  assert_int_equal (n_found, line.list->pairs->len); /* the list above has all kinds */
  for (guint k = 0; k < G_N_ELEMENTS (kinds) && n_kinds > 1; k++) {
    line.kind = kinds[k];
    n_lines += check_line (pages, line);
  }
  return n_lines;
}

static guint
count_of (const char *text, const char *word)
{
  guint n = 0;

  for (const char *at = strstr (text, word); at != NULL; at = strstr (at + 1, word))
    n++;
  return n;
}

/* --- ends --- */

static const char *const limits[FAB_N_PAIR_CLASSES] = { "256KiB", "64MiB", "0B" };

/* An entry of the catalogue's file has a cell for each that has pairs, and no others. */
static void
check_entry (const Pages *pages, const char *name, const FabPairFit *fit, gboolean has_places)
{
  g_autofree char *head = g_strdup_printf ("\n  - name: %s\n    summary: ", name);
  g_autoptr (GString) expected = g_string_new ("\n    coverage: 90%\n    cells:\n");
  const char *at = strstr (pages->yaml, head);

  assert_non_null (at);
  assert_int_equal (count_of (pages->yaml, head), 1);
  for (guint place = 0; place < FAB_N_PAIR_PLACES; place++)
    for (guint c = 0; c < FAB_N_PAIR_CLASSES; c++) {
      const FabPairEnd *end = &fit->ends[place][c];

      if (end->n_pairs == 0)
        continue;
      g_string_append (expected, "      - {");
      if (has_places)
        g_string_append_printf (expected, "place: %s, up_to: %s, ", fab_plan_place_names[place], limits[c]);
      g_string_append_printf (expected, "low: %.3f, high: %.3f, pairs: %u, tables: %u, families: %u}\n",
                              exp (-end->log), exp (end->log), end->n_pairs, end->n_tables, end->n_families);
    }
  g_string_append (expected, "    source: ");
  assert_true (g_str_has_prefix (strchr (at + strlen (head), '\n'), expected->str));
}

static void
append_end (GString *row, const FabPairEnd *end)
{
  if (end->n_pairs > 0)
    g_string_append_printf (row, " %.2f (%u, %u, %u)", exp (end->log), end->n_pairs, end->n_tables,
                            end->n_families);
  g_string_append (row, " |");
}

/* The table of factors has a row of each relation and place of collectives, and of each relation of compute that there
 * is: a family that was not measured is one of links. */
static void
check_factors (const Pages *pages, const FabPairs *pairs)
{
  g_autoptr (GString) table = g_string_new (
      "\n\n### Factor around a predicted ratio, 90 % (pairs, tables, families)\n\n"
      "| relation | place | small | middle | large |\n|---|---|---|---|---|\n");

  for (FabPairRelation r = 0; r < FAB_N_PAIR_RELATIONS; r++)
    for (guint place = 0; place < FAB_N_PAIR_PLACES; place++) {
      g_string_append_printf (table, "| collectives, %s | %s |", fab_pair_relation_names[r],
                              fab_plan_place_names[place]);
      for (guint c = 0; c < FAB_N_PAIR_CLASSES; c++)
        append_end (table, &pairs->collectives[r].fit.ends[place][c]);
      g_string_append_c (table, '\n');
    }
  for (FabPairRelation r = FAB_PAIR_SAME; r <= FAB_PAIR_OTHER; r++) {
    g_string_append_printf (table, "| compute, %s | | | |", fab_pair_relation_names[r]);
    append_end (table, &pairs->compute[r].fit.ends[0][0]);
    g_string_append_c (table, '\n');
  }
  assert_true (g_str_has_suffix (pages->markdown, table->str));
}

/* --- forms --- */

/* The object of a line, which has its place and its kind; nothing stands for "" and "all". */
static JsonObject *
find_line (JsonArray *lines, char *const *cells)
{
  for (guint i = 0; i < json_array_get_length (lines); i++) {
    JsonObject *line = json_array_get_object_element (lines, i);
    const char *place = json_object_get_string_member_with_default (line, "place", NULL),
               *kind = json_object_get_string_member_with_default (line, "differ_in", NULL);
    g_autofree char *shown = g_strdup_printf ("\"%s\"", kind != NULL ? kind : "all");

    if (strcmp (json_object_get_string_member (line, "of"), cells[0]) == 0
        && strcmp (json_object_get_string_member (line, "relation"), cells[1]) == 0
        && strcmp (place != NULL ? place : "", cells[2]) == 0 && strcmp (shown, cells[3]) == 0)
      return line;
  }
  return NULL;
}

/* Whether a line of the page of text, with one space between cells, begins so and has these cells. */
static gboolean
has_row (const char *text, char *const *cells)
{
  g_auto (GStrv) lines = g_strsplit (text, "\n", -1);
  g_autofree char *kind = g_strndup (cells[3] + 1, strlen (cells[3]) - 2);
  double held = g_ascii_strtod (cells[7], NULL), within = g_ascii_strtod (cells[8], NULL),
         opposite = g_ascii_strtod (cells[9], NULL), opposite_within = g_ascii_strtod (cells[10], NULL);
  g_autofree char *end = g_strdup_printf ("%.0f %%\v%8.2f\v%8.0f %%\v%9.2f", 100 * held, within,
                                          100 * opposite, opposite_within);

  for (guint i = 0; lines[i] != NULL; i++) {
    g_auto (GStrv) row = g_strsplit (lines[i], "\v", -1);

    if (g_strv_length (row) == 13 && strcmp (g_strchomp (row[0]), cells[0]) == 0
        && strcmp (g_strchomp (row[1]), cells[1]) == 0 && strcmp (g_strchomp (row[2]), cells[2]) == 0
        && strcmp (g_strchomp (row[3]), kind) == 0 && strcmp (g_strstrip (row[4]), cells[5]) == 0
        && strcmp (g_strstrip (row[5]), cells[6]) == 0 && g_str_has_suffix (lines[i], end))
      return TRUE;
  }
  return FALSE;
}

/* Each row of the CSV file is a class of a line of the document, and each of all classes a line of the page. */
static guint
assert_forms_agree (const FabPairs *pairs)
{
  static const char *const names[] = {
    "pairs", "families", "held_fraction", "within_factor", "opposite_held_fraction", "opposite_within_factor"
  };
  g_autofree char *csv = fab_pairs_to_csv (pairs), *json = fab_pairs_to_json (pairs),
                  *text = fab_pairs_to_text (pairs);
  g_autoptr (JsonParser) parser = json_parser_new ();
  g_auto (GStrv) rows = g_strsplit (csv, "\n", -1);
  guint n = 0, n_classes = 0;

  assert_true (json_parser_load_from_data (parser, json, -1, NULL));
  JsonArray *lines = json_object_get_array_member (json_node_get_object (json_parser_get_root (parser)),
                                                   "pairs");
  for (; rows[n + 1] != NULL && *rows[n + 1] != '\0'; n++) {
    g_auto (GStrv) quoted = g_strsplit (rows[n + 1], "\"", -1); /* a kind may have a comma in it */
    g_auto (GStrv) inside = g_strsplit (quoted[1], ",", -1);
    g_autofree char *kind = g_strjoinv (";", inside);
    g_autofree char *joined = g_strconcat (quoted[0], "\"", kind, "\"", quoted[2], NULL);
    g_auto (GStrv) cells = g_strsplit (joined, ",", -1);
    g_auto (GStrv) parts = g_strsplit (cells[3], ";", -1);

    g_free (cells[3]);
    cells[3] = g_strjoinv (",", parts);
    JsonObject *line = find_line (lines, cells);
    assert_non_null (line);
    assert_true (json_object_has_member (line, cells[4]));
    JsonObject *found = json_object_get_object_member (line, cells[4]);
    for (guint k = 0; k < G_N_ELEMENTS (names); k++)
      assert_true (
          fabs (json_object_get_double_member (found, names[k]) - g_ascii_strtod (cells[5 + k], NULL))
          < 1e-6);
    if (strcmp (cells[4], "all") == 0 && !has_row (text, cells))
      fail_msg ("%s is not in\n%s", rows[n + 1], text);
  }
  for (guint i = 0; i < json_array_get_length (lines); i++)
    n_classes += json_object_get_size (json_array_get_object_element (lines, i)) - 4;
  assert_int_equal (n, n_classes);
  return n;
}

/* --- tests --- */

/* What all pages say of these pairs, line by line. How many lines of coverage they have. */
static guint
check_pages (const FabPairs *pairs)
{
  g_autofree char *csv = fab_pairs_to_csv (pairs), *json = fab_pairs_to_json (pairs),
                  *text = fab_pairs_to_text (pairs), *markdown = fab_pairs_to_markdown (pairs),
                  *yaml = fab_pairs_to_yaml (pairs);
  const Pages pages = { csv, json, text, markdown, yaml };
  guint n = 0;

  for (FabPairRelation r = FAB_PAIR_ALIKE; r < FAB_N_PAIR_RELATIONS; r++) {
    for (int place = 0; place < FAB_N_PAIR_PLACES; place++)
      n += check_list (&pages, (Line){ "collectives", r, &pairs->collectives[r], place, NULL });
    n += check_list (&pages, (Line){ "compute", r, &pairs->compute[r], -1, NULL });
  }
  /* a line of text, a row of Markdown and an object of JSON for each, beside what stands around them */
  assert_int_equal (count_of (csv, ",all,"), n);
  assert_int_equal (count_lines (text), n + 3 + 3);
  assert_int_equal (count_of (json, "\"relation\""), n);
  assert_int_equal (count_lines (markdown),
                    4 + n + 5 + FAB_N_PAIR_RELATIONS * FAB_N_PAIR_PLACES + FAB_PAIR_OTHER + 1);
  check_entry (&pages, "collectives-alike", &pairs->collectives[FAB_PAIR_ALIKE].fit, TRUE);
  check_entry (&pages, "collectives-other", &pairs->collectives[FAB_PAIR_OTHER].fit, TRUE);
  check_entry (&pages, "collectives-unmeasured", &pairs->collectives[FAB_PAIR_UNMEASURED].fit, TRUE);
  check_entry (&pages, "compute-alike", &pairs->compute[FAB_PAIR_ALIKE].fit, FALSE);
  check_entry (&pages, "compute-other", &pairs->compute[FAB_PAIR_OTHER].fit, FALSE);
  assert_int_equal (count_of (yaml, "  - name: "), 5);
  assert_int_equal (count_of (yaml, "\n\npairs:\n  - name: "), 1);
  assert_int_equal (count_of (yaml, "\n\n  - name: "), 4);
  check_factors (&pages, pairs);
  assert_true (assert_forms_agree (pairs) >= n);
  return n;
}

/* Two families of three tables each between nodes, and two of one family inside, by two publications; of sizes that are
 * of one class, or of two. */
static void
pages_say_what_the_trials_say (G_GNUC_UNUSED void **state)
{
  static const FabBytes sizes[] = { 16 * KIB, 64 * KIB, MIB, 16 * MIB, 64 * MIB };

  for (guint s = 0; s < G_N_ELEMENTS (sizes); s++) {
    g_autoptr (World) world = world_new ();

    for (guint i = 0; i < 6; i++)
      add_table (world, i % 2 == 0 ? "github:a/b file x" : "github:c/d file y", i < 3 ? "efa-100" : "ib-25",
                 1.1 + 0.15 * i)
          ->nodes = 2 << i % 3;
    for (guint i = 6; i < 8; i++) {
      add_table (world, "github:a/b file x", "nvlink-8", 1.3 - 0.1 * (i - 6))->nodes = 2 << i % 2;
      world->predictions[i][0].kind.place = world->predictions[i][1].kind.place = FAB_PLAN_INSIDE;
    }
    for (guint i = 0; i < 8; i++)
      for (guint k = 0; k < 2; k++)
        world->rows[i][k].size_bytes = sizes[s] << 2 * k;
    g_autoptr (FabPairs) pairs = pairs_of (world);

    assert_true (check_pages (pairs) > 5);
  }
}

/* Two nodes over other links, and two networks: a list whose first kind has one pair, each kind at one place alone. */
static void
kinds_of_one_pair (G_GNUC_UNUSED void **state)
{
  static const char *const links[] = { "nvlink-8", "pcie-5", "efa-100", "ib-25" };
  g_autoptr (World) world = world_new ();

  for (guint i = 0; i < G_N_ELEMENTS (links); i++) {
    add_table (world, "github:a/b file x", links[i], 1.1 + 0.1 * i)->nodes = i < 2 ? 1 : 2;
    for (guint k = 0; k < 2; k++)
      world->predictions[i][k].kind.place = i < 2 ? FAB_PLAN_INSIDE : FAB_PLAN_BETWEEN;
  }
  g_autoptr (FabPairs) pairs = pairs_of (world);
  /* alike: sizes at two places; other and not measured: all and the one kind, at two places */
  assert_int_equal (check_pages (pairs), 2 + 4 + 4);
}

/* The same of runs of two sources, which have neither places nor sizes. */
static void
pages_of_compute (G_GNUC_UNUSED void **state)
{
  FabTrainingRow measured[2][G_N_ELEMENTS (runs)];
  char *cells[2][G_N_ELEMENTS (runs)][4] = { { { NULL } } };
  const FabTrainingSourceSpec specs[] = { { .name = "one", .same = "model", .factors = "gpus nics" },
                                          { .name = "two", .same = "model", .factors = "gpus nics" } };
  FabTrainingTable table = { .columns = (char **) columns };
  FabTrainingSource sources[] = { { &specs[0], &table, NULL }, { &specs[1], &table, NULL } };
  g_autoptr (GPtrArray) results = g_ptr_array_new ();
  FabTrainingResult both[2];
  const FabTrainingReport training = { .results = results };
  g_autoptr (World) world = world_new ();

  for (guint s = 0; s < 2; s++) {
    both[s] = (FabTrainingResult){ .source = &sources[s],
                                   .rows = g_array_new (FALSE, FALSE, sizeof (FabTrainingComparison)) };
    for (guint i = 0; i < G_N_ELEMENTS (runs); i++) {
      Run run = runs[i];

      run.residual *= 1 + s;
      add_run (both[s].rows, &measured[s][i], cells[s][i], &run);
    }
    g_ptr_array_add (results, &both[s]);
  }
  g_autoptr (FabPairs) pairs = fab_pairs_new (&world->report, &world->report, &training, NULL);
  /* alike: all, GPUs, models; other: all, which are of one kind */
  assert_int_equal (check_pages (pairs), 4);
  for (guint s = 0; s < 2; s++)
    g_array_unref (both[s].rows);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (pages_say_what_the_trials_say),
    cmocka_unit_test (kinds_of_one_pair),
    cmocka_unit_test (pages_of_compute),
  };

  return cmocka_run_group_tests_name ("pairs_pages", tests, NULL, NULL);
}
