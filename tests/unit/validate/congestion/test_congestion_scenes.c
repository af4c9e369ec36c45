/* SPDX-License-Identifier: Apache-2.0 */
/* test_congestion_scenes.c - scenes of congestion with lists of flows that are made by hand: which flows a row is of,
 * its quantiles and its limits, and what pages say of rows. */
#include "validate/congestion/report.h"

#include <glib/gstdio.h>
#include <string.h>

#include "models/models.h"
#include "tests/support/play.h"
#include "tests/support/test.h"

#define MACHINES FAB_SOURCE_DIR "/validate/congestion/machines"
#define HEAD "from,to,bytes,at_ns,alone_ns,hpcc_ns,dcqcn_1_ns,dcqcn_2_ns,dcqcn_3_ns,dcqcn_4_ns,timely_ns\n"

/* A folder with the machines and a list of flows of one scene, and its rows. */
typedef struct {
  char *folder, *accept;
  FabCongestionScenes *scenes;
} World;

static FabCatalog *catalog;

static void
write_file (const char *folder, const char *name, const char *text)
{
  g_autofree char *path = g_build_filename (folder, name, NULL);

  assert_true (g_file_set_contents (path, text, -1, NULL));
}

static World *
world_new (const char *flows, const char *limits)
{
  World *self = g_new0 (World, 1);
  g_autofree char *text = NULL;
  g_autoptr (GError) error = NULL;

  self->folder = g_dir_make_tmp ("fab-scenes-XXXXXX", NULL);
  g_autofree char *scenes = g_build_filename (self->folder, "scenes", NULL);
  g_autofree char *machines = g_build_filename (self->folder, "machines", NULL);
  assert_true (g_mkdir (scenes, 0700) == 0 && g_mkdir (machines, 0700) == 0);
  assert_true (g_file_get_contents (MACHINES "/one-switch-100g.yaml", &text, NULL, NULL));
  write_file (machines, "one.yaml", text);
  write_file (scenes, "own.csv", flows);
  g_free (text);
  text = g_strdup_printf ("median: 10%%\np99: 20%%\nscenes:\n"
                          "  - {scene: other, machine: one, title: nothing}\n"
                          "  - {scene: own, machine: one, title: \"by hand\", limits: [%s]}\n",
                          limits);
  write_file (self->folder, "accept.yaml", text);
  self->accept = g_build_filename (self->folder, "accept.yaml", NULL);
  self->scenes = fab_congestion_scenes_load (self->accept, &fab_models, &error);
  if (self->scenes == NULL)
    fail_msg ("%s", error->message);
  return self;
}

static void
world_free (World *self)
{
  static const char *const parts[] = { "scenes/own.csv", "machines/one.yaml", "accept.yaml",
                                       "scenes",         "machines",          "" };

  for (guint i = 0; i < G_N_ELEMENTS (parts); i++) {
    g_autofree char *path = g_build_filename (self->folder, parts[i], NULL);

    assert_int_equal (g_remove (path), 0);
  }
  fab_congestion_scenes_free (self->scenes);
  g_free (self->folder);
  g_free (self->accept);
  g_free (self);
}

G_DEFINE_AUTOPTR_CLEANUP_FUNC (World, world_free)

static GArray *
compare (const World *self, GError **error)
{
  const FabCongestionSuite suite = { self->scenes, self->folder, catalog, &fab_models, 1 };
  g_autoptr (GPtrArray) chosen = g_ptr_array_new ();

  g_ptr_array_add (chosen, (gpointer) fab_congestion_scenes_get (self->scenes, 1));
  return fab_congestion_compare (&suite, chosen, error);
}

/* NULL: there is none. */
static const FabCongestionRow *
find_row (const GArray *rows, const char *control, const char *sizes)
{
  for (guint i = 0; i < rows->len; i++) {
    const FabCongestionRow *row = &g_array_index (rows, FabCongestionRow, i);

    if (strcmp (row->control, control) == 0 && strcmp (row->sizes, sizes) == 0)
      return row;
  }
  return NULL;
}

/* --- quantiles --- */

/* Flow k of n, each with the network to itself, takes k times as long there as alone, under DCQCN 1000 k, 2000 k,
 * 3000 k and 4000 k in the four seeds, under TIMELY 7 k. Alone it takes k us. (transfer full) */
static char *
lone_flows (guint n, guint bytes)
{
  g_autoptr (GString) text = g_string_new (HEAD);

  for (guint i = 0; i < n; i++) {
    guint k = 1 + i * 37 % n; /* in an order that is not sorted: 37 is no factor of n */
    guint64 alone_ns = 1000 * (guint64) k;

    g_string_append_printf (text, "%u,%u,%u,%u", i % 8, 8 + i % 7, bytes, i * 20000);
    for (guint c = 0; c < 7; c++) {
      static const guint64 slower[] = { 0, 1, 1000, 2000, 3000, 4000, 7 };

      g_string_append_printf (text, ",%" G_GUINT64_FORMAT, c == 0 ? alone_ns : alone_ns * k * slower[c]);
    }
    g_string_append_c (text, '\n');
  }
  return g_string_free (g_steal_pointer (&text), FALSE);
}

/* Slow-downs there are 1 to n, so that the nearest ranks are the numbers themselves. All flows take the same time here,
 * which is divided by k us: the smallest slow-down is that of k = n, and that of rank r is of k = n + 1 - r. */
static void
quantiles_are_nearest_ranks (G_GNUC_UNUSED void **state)
{
  static const struct {
    guint n, median, p99;
  } cases[] = { { 1, 1, 1 }, { 2, 1, 2 }, { 3, 2, 3 }, { 99, 50, 99 }, { 100, 50, 99 }, { 101, 51, 100 } };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    guint n = cases[i].n;
    g_autofree char *flows = lone_flows (n, 1000);
    g_autoptr (World) world = world_new (flows, "");
    g_autoptr (GError) error = NULL;
    g_autoptr (GArray) rows = compare (world, &error);

    assert_non_null (rows);
    assert_int_equal (rows->len, 3); /* of all sizes: a class that has all flows says nothing more */
    const FabCongestionRow *hpcc = find_row (rows, "hpcc", "all"), *timely = find_row (rows, "timely", "all"),
                           *dcqcn = find_row (rows, "dcqcn", "all");
    assert_int_equal (hpcc->n_flows, n);
    assert_int_equal (dcqcn->n_flows, n);
    assert_near (hpcc->median.theirs, cases[i].median, 1e-12);
    assert_near (hpcc->p99.theirs, cases[i].p99, 1e-12);
    assert_near (timely->median.theirs, 7 * cases[i].median, 1e-12);
    assert_near (timely->p99.theirs, 7 * cases[i].p99, 1e-12);
    assert_near (hpcc->median.ours / hpcc->p99.ours, (n + 1.0 - cases[i].p99) / (n + 1.0 - cases[i].median),
                 1e-3);
    assert_near (timely->median.ours / timely->p99.ours,
                 (n + 1.0 - cases[i].p99) / (n + 1.0 - cases[i].median), 1e-3);
    /* k us is what a flow of 1 kB takes at 100 Gb/s over a switch for some k between 2 and 8: two links of 1 us */
    assert_true (hpcc->median.ours * (n + 1.0 - cases[i].median) > 2);
    assert_true (hpcc->median.ours * (n + 1.0 - cases[i].median) < 8);
    if (n == 100) { /* the four seeds together: 400 values of 1000, 2000, 3000 and 4000 times k */
      assert_near (dcqcn->p99.theirs, 4000 * 96, 1e-12);    /* 97 to 100 times 4000 are above it */
      assert_near (dcqcn->median.theirs, 1000 * 96, 1e-12); /* 96 + 48 + 32 + 24 are at or below it */
    }
  }
}

/* --- controls --- */

enum { N_CROWDED = 7 };

/* Six senders of 150 kB to one receiver, and a seventh of 20 kB that comes later. */
static guint
crowded_bytes (guint flow)
{
  return flow < 6 ? 150000 : 20000;
}

static guint
crowded_at_ns (guint flow)
{
  return flow < 6 ? 0 : 20000;
}

static gint
by_size (gconstpointer a, gconstpointer b)
{
  const double *x = a, *y = b;

  return (*x > *y) - (*x < *y);
}

/* The times of the flows on the machine with these keys of the network, appended in microseconds. */
static void
play_crowded (const char *fidelity, guint seed, GArray *times_us)
{
  g_autofree char *text = NULL;
  g_autoptr (GString) yaml = g_string_new (NULL);

  assert_true (g_file_get_contents (MACHINES "/one-switch-100g.yaml", &text, NULL, NULL));
  g_string_append_len (yaml, text, strstr (text, "\nfidelity:") - text);
  g_string_append_printf (
      yaml,
      "\nfidelity: {kind: packet, mtu: 1000B, switching: store_and_forward, memory: 32MiB, "
      "alpha: 0.125, buffer: 1000B, %s}\nseed: %u\n"
      "job: {kind: traffic, pattern: pairs, size: 1kB, pairs: [",
      fidelity, seed);
  for (guint i = 0; i < N_CROWDED; i++)
    g_string_append_printf (yaml, "%s{from: %u, to: 9, size: %uB, at: %uns}", i > 0 ? ", " : "", i,
                            crowded_bytes (i), crowded_at_ns (i));
  g_string_append (yaml, "]}\n");
  g_autoptr (Play) play = play_new (catalog, yaml->str, NULL);
  assert_true (fab_simulation_step (play->simulation));
  const GArray *records = fab_simulation_probe (play->simulation)->collectives;
  assert_int_equal (records->len, N_CROWDED);
  for (guint i = 0; i < records->len; i++) {
    const FabCollectiveRecord *record = &g_array_index (records, FabCollectiveRecord, i);
    double time_us = (double) (record->end_ps - record->start_ps) / 1e6;

    g_array_append_val (times_us, time_us);
  }
  g_array_sort (times_us, by_size);
}

/* Every control is played with the settings of the authors' simulator: acknowledgements of 60 or 88 bytes, HPCC without
 * stages, TIMELY with their rules and 8 bytes in every packet, DCQCN with four seeds. */
static void
controls_have_their_settings (G_GNUC_UNUSED void **state)
{
  static const struct {
    const char *name, *fidelity;
    guint n_seeds;
  } controls[] = {
    { "hpcc", "ack: 88B, congestion: {kind: hpcc, stages: 0}", 1 },
    { "timely", "ack: 60B, congestion: {kind: timely, rules: hpcc, report_bytes: 8B}", 1 },
    { "dcqcn", "ack: 60B, congestion: dcqcn", 4 },
  };
  g_autoptr (GString) flows = g_string_new (HEAD);
  g_autoptr (GError) error = NULL;

  for (guint i = 0; i < N_CROWDED; i++)
    g_string_append_printf (flows, "%u,9,%u,%u,1000,1,1,1,1,1,1\n", i, crowded_bytes (i), crowded_at_ns (i));
  g_autoptr (World) world = world_new (flows->str, "");
  g_autoptr (GArray) rows = compare (world, &error);
  assert_non_null (rows);
  for (guint k = 0; k < G_N_ELEMENTS (controls); k++) {
    g_autoptr (GArray) times_us = g_array_new (FALSE, FALSE, sizeof (double));
    const FabCongestionRow *row = find_row (rows, controls[k].name, "all");

    for (guint seed = 1; seed <= controls[k].n_seeds; seed++)
      play_crowded (controls[k].fidelity, seed, times_us);
    /* ranks 4 of 7 and 14 of 28; the last one */
    assert_near (row->median.ours, g_array_index (times_us, double, (times_us->len + 1) / 2 - 1), 1e-9);
    assert_near (row->p99.ours, g_array_index (times_us, double, times_us->len - 1), 1e-9);
  }
}

/* --- classes and limits --- */

/* So many flows of this size, each with the network to itself; slow-downs there are 1. */
static void
add_flows (GString *text, guint n, guint bytes)
{
  static guint at_ns = 0;

  for (guint i = 0; i < n; i++, at_ns += 200000)
    g_string_append_printf (text, "0,1,%u,%u,100,100,100,100,100,100,100\n", bytes, at_ns);
}

/* A class has the flows above its lower end and up to its upper one. One of fewer than 20 flows has no row. */
static void
classes_of_sizes (G_GNUC_UNUSED void **state)
{
  static const struct {
    const char *name;
    guint bytes[2], n; /* flows of both sizes, half of them each */
  } classes[] = { { "to 10 kB", { 1, 10000 }, 20 },
                  { "to 100 kB", { 10001, 100000 }, 100 },
                  { "to 1 MB", { 100001, 1000000 }, 98 },
                  { "longer", { 1000001, 1000001 }, 18 } };
  g_autoptr (GString) flows = g_string_new (HEAD);
  g_autoptr (GError) error = NULL;
  guint n_all = 0;

  for (guint c = 0; c < G_N_ELEMENTS (classes); c++) {
    add_flows (flows, classes[c].n / 2, classes[c].bytes[0]);
    add_flows (flows, classes[c].n / 2, classes[c].bytes[1]);
    n_all += classes[c].n;
  }
  g_autoptr (World) world = world_new (flows->str,
                                       "{control: hpcc, sizes: to 10 kB, median: 30%, why: first}, "
                                       "{control: dcqcn, sizes: all, p99: 70%, why: second}, "
                                       "{control: dcqcn, sizes: to 100 kB, median: 1%, p99: 3%, why: third}");
  g_autoptr (GArray) rows = compare (world, &error);

  assert_non_null (rows);
  assert_int_equal (rows->len, 3 * 4);
  for (guint i = 0; i < rows->len; i++) {
    const FabCongestionRow *row = &g_array_index (rows, FabCongestionRow, i);
    gboolean is_all = strcmp (row->sizes, "all") == 0, is_dcqcn = strcmp (row->control, "dcqcn") == 0,
             is_first = strcmp (row->control, "hpcc") == 0 && strcmp (row->sizes, "to 10 kB") == 0,
             is_third = is_dcqcn && strcmp (row->sizes, "to 100 kB") == 0;

    assert_string_equal (row->scene->name, "own");
    for (guint c = 0; c < G_N_ELEMENTS (classes); c++)
      if (strcmp (row->sizes, classes[c].name) == 0)
        assert_int_equal (row->n_flows, classes[c].n);
    if (is_all)
      assert_int_equal (row->n_flows, n_all);
    assert_near (row->median.theirs, 1, 1e-12);
    /* Medians are judged from 20 flows on, 99th percentiles from 100 on. */
    assert_near (row->median.limit_fraction, is_first ? 0.3 : is_third ? 0.01 : 0.1, 1e-12);
    assert_near (row->p99.limit_fraction,
                 is_third              ? 0.03
                 : is_dcqcn && is_all  ? 0.7
                 : row->n_flows >= 100 ? 0.2
                                       : 0,
                 1e-12);
    assert_true (g_strcmp0 (row->why, is_first             ? "first"
                                      : is_dcqcn && is_all ? "second"
                                      : is_third           ? "third"
                                                           : NULL)
                 == 0);
  }
  assert_null (find_row (rows, "hpcc", "longer")); /* 18 flows */
}

/* Of few flows both quantiles are judged, where they are all flows of the scene. */
static void
all_flows_are_judged (G_GNUC_UNUSED void **state)
{
  g_autoptr (GString) flows = g_string_new (HEAD);
  g_autoptr (GError) error = NULL;

  add_flows (flows, 1, 1000);
  add_flows (flows, 1, 50000);
  g_autoptr (World) world = world_new (flows->str, "");
  g_autoptr (GArray) rows = compare (world, &error);

  assert_non_null (rows);
  assert_int_equal (rows->len, 3);
  for (guint i = 0; i < rows->len; i++) {
    assert_near (g_array_index (rows, FabCongestionRow, i).median.limit_fraction, 0.1, 1e-12);
    assert_near (g_array_index (rows, FabCongestionRow, i).p99.limit_fraction, 0.2, 1e-12);
  }
}

/* --- what cannot be read --- */

static void
lists_that_are_wrong (G_GNUC_UNUSED void **state)
{
  static const struct {
    const char *text, *place;
  } cases[] = {
    { "", "own.csv:1:1: the first line is not " },
    { "from,to\n0,1\n", "own.csv:1:1: the first line is not " },
    { HEAD "0,1,1000,0,100,100,100,100,100,100,100\n0,1,1000,0,100,100,100,100,100,100\n",
      "own.csv:3:1: a flow is " },
    { HEAD "0,1,1000,0,100,100,100,100,100,100,100,100\n", "own.csv:2:1: a flow is " },
    { HEAD "0,1,0,0,100,100,100,100,100,100,100\n", "own.csv:2:1: a flow is " },
    { HEAD "0,1,1000,0,0,100,100,100,100,100,100\n", "own.csv:2:1: a flow is " },
    { HEAD "0,1,1000,-1,100,100,100,100,100,100,100\n", "own.csv:2:1: a flow is " },
    { HEAD "0,1,1000,0,100,100,100,100,100,100,1.5\n", "own.csv:2:1: a flow is " },
    { HEAD "0,99,1000,0,100,100,100,100,100,100,100\n", "99" }, /* no such host */
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_autoptr (World) world = world_new (cases[i].text, "");
    g_autoptr (GError) error = NULL;

    assert_null (compare (world, &error));
    if (strstr (error->message, cases[i].place) == NULL)
      fail_msg ("case %u: %s", i, error->message);
  }
}

static void
scenes_have_names (G_GNUC_UNUSED void **state)
{
  g_autoptr (World) world = world_new (HEAD, "");
  g_autoptr (GError) error = NULL;

  assert_int_equal (fab_congestion_scenes_n (world->scenes), 2);
  assert_string_equal (fab_congestion_scenes_get (world->scenes, 0)->name, "other");
  assert_ptr_equal (fab_congestion_scenes_find (world->scenes, "other", NULL),
                    fab_congestion_scenes_get (world->scenes, 0));
  assert_ptr_equal (fab_congestion_scenes_find (world->scenes, "own", NULL),
                    fab_congestion_scenes_get (world->scenes, 1));
  assert_null (fab_congestion_scenes_find (world->scenes, "owm", &error));
  assert_non_null (strstr (error->message, "'own'"));
}

/* --- pages --- */

static const FabCongestionScene first = { .name = "first", .title = "One" },
                                second = { .name = "second", .title = "Two" };

/* Differences of +25 %, -25 %, none at all, and of +50 % that is not judged. */
static const FabCongestionRow some[] = {
  { &first, "dcqcn", "all", 7, { 4, 5, 0.25 }, { 10, 7.5, 0.25 }, NULL },
  { &first, "hpcc", "all", 7, { 2, 2, 0.1 }, { 10, 15, 0 }, "it is so" },
  { &second, "hpcc", "all", 9, { 4, 5, 0.24 }, { 10, 7.5, 0.24 }, NULL },
};

static GArray *
some_rows (void)
{
  GArray *rows = g_array_new (FALSE, FALSE, sizeof (FabCongestionRow));

  g_array_append_vals (rows, some, G_N_ELEMENTS (some));
  return rows;
}

/* A difference at its limit is accepted, and so is any without a limit. */
static void
differences_and_limits (G_GNUC_UNUSED void **state)
{
  g_autoptr (GArray) rows = some_rows ();
  g_auto (GStrv) lines = fab_congestion_exceeded (rows);

  assert_near (fab_congestion_pair_difference (&some[0].median), 0.25, 1e-12);
  assert_near (fab_congestion_pair_difference (&some[0].p99), -0.25, 0);
  assert_near (fab_congestion_pair_difference (&some[1].median), 0, 0);
  assert_true (fab_congestion_pair_is_met (&some[0].median));
  assert_true (fab_congestion_pair_is_met (&(FabCongestionPair){ 10, 8, 0.2 }));
  assert_true (fab_congestion_pair_is_met (&some[1].p99));
  assert_false (fab_congestion_pair_is_met (&some[2].median));
  assert_false (fab_congestion_pair_is_met (&some[2].p99));
  assert_int_equal (g_strv_length (lines), 2);
  assert_string_equal (
      lines[0],
      "second, hpcc, all: the median is +25.0 % from the authors' simulator, and 24 % are accepted");
  assert_string_equal (
      lines[1], "second, hpcc, all: the p99 is -25.0 % from the authors' simulator, and 24 % are accepted");
  for (g_array_remove_range (rows, 0, 2); rows->len > 0; g_array_remove_index (rows, 0)) {
    g_auto (GStrv) alone = fab_congestion_exceeded (rows);

    assert_string_equal (alone[0], lines[0]);
    g_array_set_size (rows, 1);
  }
}

static void
assert_has (const char *page, const char *part)
{
  if (strstr (page, part) == NULL)
    fail_msg ("%s is not in\n%s", part, page);
}

/* Every row is on every page, with both quantiles. What is not judged is in brackets. */
static void
pages_have_every_row (G_GNUC_UNUSED void **state)
{
  g_autoptr (GArray) rows = some_rows ();
  g_autofree char *text = fab_congestion_to_text (rows), *markdown = fab_congestion_to_markdown (rows),
                  *csv = fab_congestion_to_csv (rows), *json = fab_congestion_to_json (rows);
  static const char sum[] = "\n3 of 5 quantiles are within their limits. 1 rows have a limit of their own.\n";

  assert_true (g_str_has_suffix (text, sum));
  assert_has (text, "\n\nSlow-downs: completion time over that on an idle network.\n");
  assert_has (text, " scene           \v control\v sizes    \v flows\v");
  assert_has (text, "  first           \v dcqcn  \v all      \v     7\v      4.00 / 5.00 (+25.0 %)\v     "
                    "10.00 / 7.50 (-25.0 %)\n  first           \v hpcc   \v");
  assert_has (text, "\v       2.00 / 2.00 (+0.0 %)\v  [10.00 / 15.00 (+50.0 %)]\n  second ");
  assert_has (markdown, "\n\n## Scenes\n\n3 of 5 quantiles ");
  assert_has (markdown, sum + 1);
  assert_has (markdown, "\n### first\n\nOne.\n\n| control | sizes | flows | median of slow-downs | p99 | |\n"
                        "|---|---|---:|---:|---:|---|\n"
                        "| dcqcn | all | 7 | 4.00 / 5.00 (+25.0 %) | 10.00 / 7.50 (-25.0 %) |  |\n"
                        "| hpcc | all | 7 | 2.00 / 2.00 (+0.0 %) | [10.00 / 15.00 (+50.0 %)] | it is so |\n"
                        "\n### second\n\nTwo.\n\n");
  assert_true (g_str_has_suffix (markdown,
                                 "| hpcc | all | 9 | 4.00 / 5.00 (+25.0 %) | 10.00 / 7.50 (-25.0 %) |  |\n"));
  assert_string_equal (csv, "scene,control,sizes,flows,quantile,theirs,ours,difference,limit,why\n"
                            "first,dcqcn,all,7,median,4,5,0.25,0.25,\n"
                            "first,dcqcn,all,7,p99,10,7.5,-0.25,0.25,\n"
                            "first,hpcc,all,7,median,2,2,0,0.1,it is so\n"
                            "first,hpcc,all,7,p99,10,15,0.5,0,it is so\n"
                            "second,hpcc,all,9,median,4,5,0.25,0.24,\n"
                            "second,hpcc,all,9,p99,10,7.5,-0.25,0.24,\n");
  assert_has (json, "\"it is so\"");
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (controls_have_their_settings),
    cmocka_unit_test (quantiles_are_nearest_ranks),
    cmocka_unit_test (classes_of_sizes),
    cmocka_unit_test (all_flows_are_judged),
    cmocka_unit_test (lists_that_are_wrong),
    cmocka_unit_test (scenes_have_names),
    cmocka_unit_test (differences_and_limits),
    cmocka_unit_test (pages_have_every_row),
  };

  return play_run_tests ("congestion_scenes", tests, &catalog);
}
