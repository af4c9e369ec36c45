/* SPDX-License-Identifier: Apache-2.0 */
/* test_pairs.c - which tables make pairs, and how far these are off, of tables that are made by hand. */
#include "validate/bands/pairs.h"

#include <math.h>
#include <string.h>

#include <json-glib/json-glib.h>

#include "tests/support/test.h"

enum { MIB = 1024 * 1024, MOST_TABLES = 8 };

/* A report of a few tables, each with a size of 64 MiB and one of 256 MiB. */
typedef struct {
  FabReport report;
  FabMeasuredSpec specs[MOST_TABLES];
  FabMeasuredTable tables[MOST_TABLES];
  FabMeasuredRow rows[2];
  FabPrediction predictions[MOST_TABLES];
  FabComparison comparisons[MOST_TABLES];
  guint n;
} World;

static World *
world_new (void)
{
  World *self = g_new0 (World, 1);

  self->rows[0] = (FabMeasuredRow){ .size_bytes = 64 * MIB };
  self->rows[1] = (FabMeasuredRow){ .size_bytes = 256 * MIB };
  self->report.comparisons = g_ptr_array_new ();
  return self;
}

static void
world_free (World *self)
{
  for (guint i = 0; i < self->n; i++) {
    g_hash_table_unref (self->tables[i].csv->header);
    g_free (self->tables[i].csv);
    g_free (self->tables[i].publication);
    g_array_unref (self->comparisons[i].rows);
  }
  g_ptr_array_unref (self->report.comparisons);
  g_free (self);
}

G_DEFINE_AUTOPTR_CLEANUP_FUNC (World, world_free)

/* A table whose times are measured / predicted = `ratio`. */
static FabMeasuredSpec *
add_table (World *self, const char *source, const char *family, double ratio)
{
  guint i = self->n++;
  FabComparison *comparison = &self->comparisons[i];

  self->specs[i] = (FabMeasuredSpec){ .node = "box", .nodes = 2, .gpus_per_node = 8, .interconnect = family };
  self->tables[i].spec = &self->specs[i];
  self->tables[i].name = (char *) family;
  self->tables[i].publication = fab_measured_publication (source);
  self->tables[i].csv = g_new0 (FabMeasuredCsv, 1);
  self->tables[i].csv->header = g_hash_table_new (g_str_hash, g_str_equal);
  g_hash_table_insert (self->tables[i].csv->header, (gpointer) "source", (gpointer) source);
  self->predictions[i] = (FabPrediction){ .algorithm = "ring", .protocol = "simple" };
  self->predictions[i].kind.place = FAB_PLAN_BETWEEN;
  g_strlcpy (self->predictions[i].kind.family, family, FAB_FAMILY_BYTES);
  comparison->table = &self->tables[i];
  comparison->rows = g_array_new (FALSE, FALSE, sizeof (FabComparisonRow));
  for (guint k = 0; k < 2; k++) {
    FabComparisonRow row = { &self->rows[k], &self->predictions[i], 1 / ratio - 1 };

    g_array_append_val (comparison->rows, row);
  }
  g_ptr_array_add (self->report.comparisons, comparison);
  return &self->specs[i];
}

/* Predicted as they are, and without their families, all the same. */
static FabPairs *
pairs_of (const World *world)
{
  g_autoptr (GPtrArray) results = g_ptr_array_new ();
  const FabTrainingReport training = { .results = results };
  const FabCatalogSections own = { 0 };
  g_autoptr (FabCatalog) catalog = fab_catalog_overlay (NULL, &own);

  return fab_pairs_new (&world->report, &world->report, &training, catalog);
}

/* How many of these pairs differ in this, and the difference of the first of them. */
static guint
count_in (const GArray *list, const char *kind, double *difference)
{
  guint n = 0;

  for (guint i = 0; i < list->len; i++) {
    const FabPair *pair = &g_array_index (list, FabPair, i);

    if (strcmp (pair->kind, kind) == 0 && n++ == 0)
      *difference = pair->logs[0];
  }
  return n;
}

static guint
count (const FabPairs *pairs, FabPairRelation relation, const char *kind, double *difference)
{
  return count_in (pairs->collectives[relation].pairs, kind, difference);
}

/* Another number of nodes on one machine is alike: ln 1.5 - ln 1.2 is what the two are off from each other. Each table
 * has two sizes, of which one is four times the other. */
static void
one_thing_is_alike (G_GNUC_UNUSED void **state)
{
  g_autoptr (World) world = world_new ();
  double difference = -1;

  add_table (world, "github:a/b file x", "efa-100", 1.5);
  add_table (world, "github:a/b file y", "efa-100", 1.2)->nodes = 4;
  g_autoptr (FabPairs) pairs = pairs_of (world);

  assert_int_equal (count (pairs, FAB_PAIR_ALIKE, "number of nodes", &difference), 1);
  assert_near (difference, log (1.5 / 1.2), 1e-12);
  assert_int_equal (count (pairs, FAB_PAIR_ALIKE, "size", &difference), 2);
  assert_near (difference, 0, 1e-12);
  assert_int_equal (pairs->collectives[FAB_PAIR_OTHER].pairs->len, 0);
  assert_int_equal (pairs->collectives[FAB_PAIR_SAME].pairs->len, 0);
}

/* Two things at once, another machine with another number of nodes, and a doubtful table make no pair. */
static void
more_than_one_thing_is_no_pair (G_GNUC_UNUSED void **state)
{
  g_autoptr (World) world = world_new ();
  FabMeasuredSpec *both;

  add_table (world, "github:a/b file x", "efa-100", 1.5);
  both = add_table (world, "github:a/b file y", "efa-100", 1.2);
  both->nodes = 4;
  both->gpus_per_node = 4;
  add_table (world, "github:c/d file x", "efa-100", 1.2)->nodes = 8;
  add_table (world, "github:a/b file z", "efa-100", 1.2)->is_doubtful = TRUE;
  g_autoptr (FabPairs) pairs = pairs_of (world);

  assert_int_equal (pairs->collectives[FAB_PAIR_ALIKE].pairs->len, 3); /* sizes of the three */
  assert_int_equal (pairs->collectives[FAB_PAIR_SAME].pairs->len, 0);
}

/* The same collective of two publications is the same; over other links it is another, and of a family that was not
 * measured as well. 40 and 32 ranks are about as many, 80 and 32 are not. */
static void
families_and_publications (G_GNUC_UNUSED void **state)
{
  g_autoptr (World) world = world_new ();
  double difference = -1;

  add_table (world, "github:a/b file x", "efa-100", 1.5)->nodes = 4;
  add_table (world, "github:c/d file x", "efa-100", 1.0)->nodes = 4;
  add_table (world, "github:c/d file y", "infiniband-400", 1.2)->nodes = 5;
  add_table (world, "github:c/d file z", "slingshot-200", 1.2)->nodes = 10;
  g_autoptr (FabPairs) pairs = pairs_of (world);

  assert_int_equal (count (pairs, FAB_PAIR_SAME, "measured again", &difference), 1);
  assert_near (difference, log (1.5), 1e-12);
  assert_int_equal (count (pairs, FAB_PAIR_OTHER, "NIC", &difference), 2);
  assert_near (difference, log (1.5 / 1.2), 1e-12);
  assert_int_equal (count (pairs, FAB_PAIR_UNMEASURED, "NIC", &difference), 2);
}

/* --- compute --- */

/* A run of a source whose table has the columns below; its residual, and the generation that it is on. */
typedef struct {
  const char *model, *gpus, *nics;
  double residual;
  const char *generation;
} Run;

static const char *const columns[] = { "model", "gpus", "nics", NULL };

static void
add_run (GArray *rows, FabTrainingRow *measured, char **cells, const Run *run)
{
  FabTrainingComparison row = { .measured = measured, .traits = { .expert = 1 } };

  cells[0] = (char *) run->model;
  cells[1] = (char *) run->gpus;
  cells[2] = (char *) run->nics;
  *measured = (FabTrainingRow){ .cells = cells, .id = "row" };
  row.blind = (FabTrainingBlind){ .is_predicted = TRUE, .residual = run->residual };
  row.blind.step.step_s = 1;
  row.blind.step.cell = (FabTrainingCell){ .generation = run->generation,
                                           .precision = "bf16",
                                           .stack = "eager",
                                           .time_factor = 1,
                                           .low_factor = 0.5,
                                           .high_factor = 2 };
  g_array_append_val (rows, row);
}

/* The first two runs differ in GPUs, the first and the third in the model, the first and the fourth in NICs, of which
 * compute knows nothing; the fifth is the first measured again. All others differ in two things. The last is on another
 * accelerator, whatever else differs; the two have one factor. */
static const Run runs[] = {
  { "7B", "8", "4", 0.1, "ampere" }, { "7B", "16", "4", 0.3, "ampere" }, { "13B", "8", "4", -0.1, "ampere" },
  { "7B", "8", "1", 0.9, "ampere" }, { "7B", "8", "4", 0.15, "ampere" }, { "13B", "32", "8", 0.2, "hopper" },
};

static void
runs_make_pairs (G_GNUC_UNUSED void **state)
{
  FabTrainingRow measured[G_N_ELEMENTS (runs)];
  char *cells[G_N_ELEMENTS (runs)][4] = { { NULL } };
  const FabTrainingSourceSpec spec = { .name = "somebody", .same = "model", .factors = "gpus nics" };
  FabTrainingTable table = { .columns = (char **) columns };
  FabTrainingSource source = { &spec, &table, NULL };
  g_autoptr (GArray) rows = g_array_new (FALSE, FALSE, sizeof (FabTrainingComparison));
  FabTrainingResult result = { .source = &source, .rows = rows };
  g_autoptr (GPtrArray) results = g_ptr_array_new ();
  const FabTrainingReport training = { .results = results };
  g_autoptr (World) world = world_new ();
  double difference = -1;

  for (guint i = 0; i < G_N_ELEMENTS (runs); i++)
    add_run (rows, &measured[i], cells[i], &runs[i]);
  g_ptr_array_add (results, &result);
  g_autoptr (FabPairs) pairs = fab_pairs_new (&world->report, &world->report, &training, NULL);
  const GArray *alike = pairs->compute[FAB_PAIR_ALIKE].pairs, *other = pairs->compute[FAB_PAIR_OTHER].pairs;

  assert_int_equal (count_in (alike, "number of GPUs", &difference), 2);
  assert_near (difference, 0.2, 1e-12);
  assert_int_equal (count_in (alike, "model", &difference), 2);
  assert_near (difference, 0.2, 1e-12);
  assert_int_equal (alike->len, 4);
  assert_int_equal (count_in (pairs->compute[FAB_PAIR_SAME].pairs, "measured again", &difference), 1);
  assert_near (difference, 0.05, 1e-12);
  assert_int_equal (count_in (other, "accelerator", &difference), 1);
  assert_near (difference, 0.3, 1e-12);
}

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

/* One kind of pairs on all pages: as many, and held as often, as the trials say. */
static void
check_line (const FabPairs *pairs, const FabPairList *list, FabPairRelation relation, FabPlanPlace place,
            const char *kind, char *const pages[3])
{
  static const char *const classes[] = { "all", "small", "middle", "large" };
  const char *shown = kind != NULL ? kind : "all", *mark = kind == NULL ? "**" : "";
  const char *name = fab_pair_relation_names[relation];
  gboolean is_any = FALSE;

  for (int c = -1; c < FAB_N_PAIR_CLASSES; c++) {
    FabPairCoverage coverage = fab_pair_coverage (list->trials, (FabPairFilter){ kind, (int) place, c });
    g_autofree char *head = g_strdup_printf ("collectives,%s,%s,\"%s\",%s,", name,
                                             fab_plan_place_names[place], shown, classes[c + 1]);
    g_autofree char *row = g_strdup_printf ("%s%u,%u,%.6f,%.6f,%.6f,%.6f\n", head, coverage.n_pairs,
                                            coverage.n_families, coverage.held_fraction,
                                            exp (coverage.median_log), coverage.opposite_fraction,
                                            exp (coverage.median_opposite_log));

    if (coverage.n_pairs == 0) {
      assert_null (strstr (pages[0], head));
      continue;
    }
    is_any = TRUE;
    assert_has (pages[0], row);
    g_autofree char *markdown = g_strdup_printf ("| %scollectives, %s%s | %s | %s | %u (%u) |", mark, name,
                                                 mark, fab_plan_place_names[place], shown, coverage.n_pairs,
                                                 coverage.n_families);
    g_autofree char *end = g_strdup_printf (" %.0f %% | %.2f | %.0f %% | %.2f |\n",
                                            100 * coverage.held_fraction, exp (coverage.median_log),
                                            100 * coverage.opposite_fraction,
                                            exp (coverage.median_opposite_log));
    if (c < 0) {
      assert_has (pages[1], markdown);
      assert_has (strstr (pages[1], markdown), end);
    }
  }
  assert_true (is_any);
  assert_int_equal (pairs->collectives[relation].trials->len, list->trials->len);
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

static void
forms_of_compute_agree (G_GNUC_UNUSED void **state)
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
  g_autofree char *csv = fab_pairs_to_csv (pairs);
  assert_true (assert_forms_agree (pairs) >= 3);
  assert_non_null (strstr (csv, "compute,alike,,\"all\",all,"));
  assert_null (strstr (csv, ",large,")); /* runs have no sizes */
  for (guint s = 0; s < 2; s++)
    g_array_unref (both[s].rows);
}

/* Two families of three tables each between nodes, and two of one family inside, by two publications. Every page has
 * the same lines. */
static void
pages_say_what_the_trials_say (G_GNUC_UNUSED void **state)
{
  g_autoptr (World) world = world_new ();

  for (guint i = 0; i < 6; i++)
    add_table (world, i % 2 == 0 ? "github:a/b file x" : "github:c/d file y", i < 3 ? "efa-100" : "ib-25",
               1.1 + 0.15 * i)
        ->nodes = 2 << i % 3;
  for (guint i = 6; i < 8; i++) {
    add_table (world, "github:a/b file x", "nvlink-8", 1.3 - 0.1 * (i - 6))->nodes = 2 << i % 2;
    world->predictions[i].kind.place = FAB_PLAN_INSIDE;
  }
  g_autoptr (FabPairs) pairs = pairs_of (world);
  g_autofree char *csv = fab_pairs_to_csv (pairs), *markdown = fab_pairs_to_markdown (pairs),
                  *json = fab_pairs_to_json (pairs), *text = fab_pairs_to_text (pairs),
                  *yaml = fab_pairs_to_yaml (pairs);
  char *const pages[] = { csv, markdown, text };
  assert_true (assert_forms_agree (pairs) > 10);
  guint n_all = 0;

  for (FabPairRelation r = FAB_PAIR_ALIKE; r < FAB_N_PAIR_RELATIONS; r++) {
    const FabPairList *list = &pairs->collectives[r];

    if (list->trials->len == 0)
      continue;
    n_all++;
    check_line (pairs, list, r, FAB_PLAN_BETWEEN, NULL, pages);
  }
  assert_true (n_all >= 2);
  for (guint place = 0; place < FAB_N_PAIR_PLACES; place++) {
    check_line (pairs, &pairs->collectives[FAB_PAIR_ALIKE], FAB_PAIR_ALIKE, place, NULL, pages);
    check_line (pairs, &pairs->collectives[FAB_PAIR_ALIKE], FAB_PAIR_ALIKE, place, "size", pages);
    check_line (pairs, &pairs->collectives[FAB_PAIR_ALIKE], FAB_PAIR_ALIKE, place, "number of nodes", pages);
  }
  /* a line of text, a row of Markdown and an object of JSON for each row of all classes of the CSV file */
  guint n_lines = 0;
  for (const char *at = strstr (csv, ",all,"); at != NULL; at = strstr (at + 1, ",all,"))
    n_lines++;
  assert_int_equal (count_lines (text), n_lines + 3 + 3);
  guint n_objects = 0;
  for (const char *at = strstr (json, "\"relation\""); at != NULL; at = strstr (at + 1, "\"relation\""))
    n_objects++;
  assert_int_equal (n_objects, n_lines);
  for (FabPairRelation r = FAB_PAIR_ALIKE; r <= FAB_PAIR_OTHER; r++)
    for (guint c = 0; c < FAB_N_PAIR_CLASSES; c++) {
      static const char *const limits[] = { "256KiB", "64MiB", "0B" };
      const FabPairEnd *end = &pairs->collectives[r].fit.ends[FAB_PLAN_BETWEEN][c];
      g_autofree char *cell = g_strdup_printf (
          "{place: between, up_to: %s, low: %.3f, high: %.3f, pairs: %u, tables: %u, families: %u}\n",
          limits[c], exp (-end->log), exp (end->log), end->n_pairs, end->n_tables, end->n_families);
      g_autofree char *factor = g_strdup_printf (" %.2f (%u, %u, %u) |", exp (end->log), end->n_pairs,
                                                 end->n_tables, end->n_families);

      if (end->n_pairs > 0) {
        assert_has (yaml, cell);
        assert_has (markdown, factor);
      }
    }
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (one_thing_is_alike),
    cmocka_unit_test (more_than_one_thing_is_no_pair),
    cmocka_unit_test (families_and_publications),
    cmocka_unit_test (runs_make_pairs),
    cmocka_unit_test (pages_say_what_the_trials_say),
    cmocka_unit_test (forms_of_compute_agree),
  };

  return cmocka_run_group_tests_name ("pairs", tests, NULL, NULL);
}
