/* SPDX-License-Identifier: Apache-2.0 */
/* test_catalog.c - catalogue files, what they are refused for, rates of a link, and overlays. */
#include "sim/scenario/catalog.h"

#include <glib/gstdio.h>

#include "sim/base/error.h"
#include "sim/scenario/catalog_params.h"
#include "tests/support/small_models.h"
#include "tests/support/test.h"

/* Loads a directory that holds these texts as 0.yaml, 1.yaml, ... The directory is gone afterwards. */
static FabCatalog *
load_texts (const char *const *texts, GError **error)
{
  g_autofree char *directory = g_dir_make_tmp ("fab-catalog-XXXXXX", NULL);
  g_autoptr (GPtrArray) paths = g_ptr_array_new_with_free_func (g_free);
  FabCatalog *catalog;

  for (guint i = 0; texts[i] != NULL; i++) {
    char *path = g_strdup_printf ("%s/%u.yaml", directory, i);

    g_ptr_array_add (paths, path);
    assert_true (g_file_set_contents (path, texts[i], -1, NULL));
  }
  catalog = fab_catalog_load (directory, &small_registry, error);
  for (guint i = 0; i < paths->len; i++)
    g_remove (g_ptr_array_index (paths, i));
  g_rmdir (directory);
  return catalog;
}

static void
assert_refused (const char *text, const char *part)
{
  const char *const texts[] = { text, NULL };
  g_autoptr (GError) error = NULL;
  g_autoptr (FabCatalog) catalog = load_texts (texts, &error);

  assert_null (catalog);
  assert_true (g_error_matches (error, FAB_ERROR, FAB_ERROR_INPUT));
  if (strstr (error->message, part) == NULL)
    fail_msg ("'%s' is not in:\n%s", part, error->message);
}

/* 4 lanes x 50 Gb/s = 25 GB/s; copy packets cost 272/256 / 0.98, kernel packets 160/128. */
static void
test_entries (G_GNUC_UNUSED void **state)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (FabCatalog) catalog = fab_catalog_load (SMALL_CATALOG, &small_registry, &error);
  const FabLinkSpec *link = fab_catalog_link (catalog, "wire");
  const FabNodeSpec *node = fab_catalog_node (catalog, "box");
  const FabAcceleratorSpec *chip = fab_catalog_accelerator (catalog, "chip");
  const FabModelSpec *model = fab_catalog_model (catalog, "tiny");

  assert_null (error);
  assert_int_equal (fab_link_spec_line_rate (link), 25000000000);
  assert_true (ABS (fab_link_spec_cost (link, FAB_DRIVE_COPY) - 272.0 / 256.0 / 0.98) < 1e-15);
  assert_true (fab_link_spec_cost (link, FAB_DRIVE_KERNEL) == 1.25);
  assert_true (fab_link_spec_cost (fab_catalog_link (catalog, "port"), FAB_DRIVE_COPY) == 1.0);
  assert_int_equal (link->latency_ps, 100000);
  assert_int_equal (node->parts.n, 3);
  assert_int_equal (((const FabWireSpec *) node->wires.data)[0].count, 12);
  assert_int_equal (((const FabWireSpec *) node->wires.data)[0].map, FAB_WIRE_BLOCK);
  assert_true (chip->peak_fp16_flops_per_s == 312e12);
  assert_int_equal (chip->memory_bytes_per_s, 2039000000000);
  assert_int_equal (((const SmallMlp *) model->shape.params)->layers, 12);
  assert_null (fab_catalog_link (catalog, "absent"));
  assert_null (fab_catalog_link (catalog, NULL));
  assert_int_equal (fab_catalog_mark (catalog, &link->name)->line, 3);
}

static void
test_no_directory (G_GNUC_UNUSED void **state)
{
  g_autoptr (GError) error = NULL;

  assert_null (fab_catalog_load ("/nowhere", &small_registry, &error));
  assert_true (g_error_matches (error, FAB_ERROR, FAB_ERROR_IO));
}

#define ORIGIN "source: s, date: d"

/* So many of the texts as are asked for, and no more: each of them has a link of its own, the last is wrong. */
static void
test_texts (G_GNUC_UNUSED void **state)
{
  static const char *const names[] = { "a", "b", "c" };
  FabCatalogText texts[] = { { "0", "links: [{name: a, signalling: 1Gb/s, " ORIGIN "}]\n", 0 },
                             { "1", "links: [{name: b, signalling: 1Gb/s, " ORIGIN "}]\n", 0 },
                             { "2", "links: [{name: c, signalling: 1Gb/s, " ORIGIN "}]\n", 0 },
                             { "3", "linkz: []\n", 0 } };

  for (guint i = 0; i < G_N_ELEMENTS (texts); i++)
    texts[i].size = strlen (texts[i].text);
  for (guint n = 0; n <= G_N_ELEMENTS (texts); n++) {
    g_autoptr (GError) error = NULL;
    g_autoptr (FabCatalog) catalog = fab_catalog_parse (texts, n, &small_registry, &error);

    if (n == G_N_ELEMENTS (texts)) {
      assert_null (catalog);
      assert_non_null (strstr (error->message, "3:1:1: unknown key 'linkz'"));
      continue;
    }
    assert_non_null (catalog);
    for (guint i = 0; i < G_N_ELEMENTS (names); i++)
      assert_int_equal (fab_catalog_link (catalog, names[i]) != NULL, i < n);
  }
}

static void
test_refusals (G_GNUC_UNUSED void **state)
{
  assert_refused ("links: [{name: a, signalling: 1Gb/s, date: d}]", "0.yaml:1:16: 'a' has no source");
  assert_refused ("links: [{name: a, signalling: 1Gb/s, source: s}]", "0.yaml:1:16: 'a' has no date");
  assert_refused ("links: [{name: a, signalling: 1Gb/s, copy: {payload: 1kB}, " ORIGIN "}]",
                  "these packets have no source");
  assert_refused ("links: [{name: a, signalling: 1Gb/s, copy: {overhead: 1B}, " ORIGIN "}]",
                  "a packet with `overhead` needs a `payload`");
  assert_refused ("links: [{name: a, signalling: 0Gb/s, " ORIGIN "}]",
                  "'signalling' is 0Gb/s: must be more than 0");
  assert_refused ("links: [{name: a, signalling: 1Gb/s, coding: 101%, " ORIGIN "}]", "'101%' is more than 1");
  assert_refused ("links: [{signalling: 1Gb/s, " ORIGIN "}]", "'links' lacks the key 'name'");
  assert_refused ("nodes: [{name: n, accelerator: a, " ORIGIN "}]", "unknown accelerator 'a'");
  assert_refused ("nodes: [{name: n, accelerator: a, " ORIGIN "}]",
                  "node 'n' has no part of kind accelerator");
  assert_refused ("nodes: [{name: n, accelerator: a, nic: l, parts: [{name: gpu, kind: accelerator}], " ORIGIN
                  "}]",
                  "node 'n' names a NIC link and has no part of kind nic");
  assert_refused (
      "nodes: [{name: n, accelerator: a, rails: 2, parts: [{name: gpu, kind: accelerator}], " ORIGIN "}]",
      "the 0 NICs of node 'n' cannot be divided into boards of 2");
  assert_refused (
      "nodes: [{name: n, accelerator: a, nic: l, rails: 2, parts: [{name: gpu, kind: accelerator}, "
      "{name: nic, kind: nic, count: 3}], " ORIGIN "}]",
      "the 3 NICs of node 'n' cannot be divided into boards of 2");
  assert_refused (
      "nodes: [{name: n, accelerator: a, parts: [{name: g, kind: switch}, {name: g, kind: host}]}]",
      "part 'g' is defined twice");
  assert_refused ("models: [{name: m, shape: {kind: mlp, layers: 1, hidden: 7}, " ORIGIN "}]",
                  "hidden 7 is not a multiple of heads 16");
}

#define WIRED(end_)                                                                       \
  "nodes: [{name: n, accelerator: a, parts: [{name: gpu, kind: accelerator, count: 8}], " \
  "wires: [{from: gpu7, to: " end_ ", link: nolink}]}]"

static void
test_wire_ends (G_GNUC_UNUSED void **state)
{
  assert_refused (WIRED ("gpu8"), "node 'n' has no part 'gpu8'; nearest is 'gpu'");
  assert_refused (WIRED ("gpuu"), "node 'n' has no part 'gpuu'; nearest is 'gpu'");
  assert_refused (WIRED ("switch"), "node 'n' has no part 'switch'");
  assert_refused (WIRED ("gpu0"), "unknown link 'nolink'");
}

/* Two files, three mistakes, all reported; equal names count across files. */
static void
test_all_files_at_once (G_GNUC_UNUSED void **state)
{
  const char *const texts[] = { "links: [{name: a, signalling: 1Gb/s, " ORIGIN "}]\nlinkz: []\n",
                                "links: [{name: a, signalling: 1Gb/s, " ORIGIN "}]\n", "links: [", NULL };
  g_autoptr (GError) error = NULL;

  assert_null (load_texts (texts, &error));
  assert_non_null (strstr (error->message, "0.yaml:2:1: unknown key 'linkz'; nearest is 'links'"));
  assert_non_null (strstr (error->message, "1.yaml:1:16: link 'a' is defined twice"));
  assert_non_null (strstr (error->message, "2.yaml:1:"));
}

#define MEASURED(rows_) "links: [{name: a, signalling: 8Gb/s, messages: [" rows_ "], " ORIGIN "}]"

static void
test_message_refusals (G_GNUC_UNUSED void **state)
{
  assert_refused (MEASURED ("{overhead: 1us}"), "lacks the key 'rate'");
  assert_refused (MEASURED ("{rate: 1GB/s}"), "lacks the key 'overhead'");
  assert_refused (MEASURED ("{way: two, overhead: 1us, rate: 1GB/s}"), "'way' cannot be 'two'");
  assert_refused (MEASURED ("{way: both, overhead: 1us, rate: 1GB/s}"), "no row has way: one");
  assert_refused (MEASURED ("{overhead: 1us, rate: 1GB/s}, {overhead: 2us, rate: 1GB/s}"),
                  "the row before it has no up_to");
  assert_refused (MEASURED (
                      "{up_to: 2kB, overhead: 1us, rate: 1GB/s}, {way: both, overhead: 1us, rate: 1GB/s}, "
                      "{up_to: 2kB, overhead: 2us, rate: 1GB/s}"),
                  "this row ends at or below the row before");
  assert_refused (MEASURED ("{overhead: 1us, rate: 1.03GB/s}"),
                  "long messages have 1.03 GB/s; packets leave only 1 GB/s of link 'a'");
  assert_refused ("links: [{name: a, signalling: 8Gb/s, measured: {from: 8B, to: 4B}, " ORIGIN "}]",
                  "`from` is larger than `to`");
  assert_refused ("links: [{name: a, signalling: 8Gb/s, uncertainty: {rate: 95%}, " ORIGIN "}]",
                  "'rate' is 95%: the upper limit is 0.9");
}

/* Short ones may beat the wire (1 GB/s): 1 us + 100 B / 10 GB/s = 1.01 us. The last row is taken beyond its end. Both
 * ways: 4 us + 2 MB / 0.5 GB/s = 4.004 ms, alone 3 us + 2 MB / 1 GB/s; as text and back it is the same. */
static void
test_messages (G_GNUC_UNUSED void **state)
{
  const char *const texts[] = {
    MEASURED ("{way: both, overhead: 4us, rate: 500MB/s}, {up_to: 1kB, overhead: 1us, rate: 10GB/s}, "
              "{up_to: 1MB, overhead: 3us, rate: 1GB/s}"),
    "links: [{name: b, signalling: 8Gb/s, messages: [{overhead: 1us, rate: 1GB/s}], "
    "measured: {from: 8B, to: 64MiB, held_out_error: 0.015, rows: 24, held_out: 6}, "
    "uncertainty: {rate: 1%, latency: 2%, endpoint: 3%, messages: 4%}, " ORIGIN "}]",
    NULL,
  };
  g_autoptr (GError) error = NULL;
  g_autoptr (FabCatalog) catalog = load_texts (texts, &error);
  const FabLinkSpec *a = fab_catalog_link (catalog, "a"), *b = fab_catalog_link (catalog, "b");
  FabMessages of_a = { .regimes = a->messages.data, .n = a->messages.n, .factor = 1 };
  FabMessages of_b = { .regimes = b->messages.data, .n = b->messages.n, .factor = 2, .rate_change = 1 };
  g_autofree char *text = fab_schema_write (fab_catalog_params[FAB_SECTION_LINKS].table, b);

  assert_null (error);
  assert_int_equal (fab_message_ps (&of_a, FAB_WAY_ONE, 100), 1010000);
  assert_int_equal (fab_message_ps (&of_a, FAB_WAY_ONE, 1000), 1100000);
  assert_int_equal (fab_message_ps (&of_a, FAB_WAY_ONE, 1001), 4001000);
  assert_int_equal (fab_message_ps (&of_a, FAB_WAY_ONE, 2e6), 2003000000);
  assert_int_equal (fab_message_ps (&of_a, FAB_WAY_BOTH, 2e6), 4004000000);
  assert_int_equal (fab_message_ps (&of_b, FAB_WAY_BOTH, 1e6), 2 * 501000000);
  assert_int_equal (fab_message_among_ps (&of_a, FAB_WAY_ONE, 100, 300), 1030000);
  assert_int_equal (b->measured.to_bytes, 64 << 20);
  assert_true (b->uncertainty.messages_fraction == 0.04);
  assert_non_null (strstr (text, "held_out_error: 0.015"));
  assert_non_null (strstr (text, "overhead: 1us"));
}

static void
test_overlay (G_GNUC_UNUSED void **state)
{
  g_autoptr (FabCatalog) shipped = fab_catalog_load (SMALL_CATALOG, &small_registry, NULL);
  FabLinkSpec links[] = { { .name = "wire", .lanes = 99 }, { .name = "mine" } };
  FabCatalogSections own = { .links = { .data = links, .n = 2 } };
  g_autoptr (FabCatalog) catalog = fab_catalog_overlay (shipped, &own);
  g_autofree const char **names = fab_catalog_names (catalog, FAB_SECTION_LINKS);
  g_autofree char *joined = g_strjoinv (" ", (char **) names);

  assert_int_equal (fab_catalog_link (catalog, "wire")->lanes, 99);
  assert_string_equal (fab_catalog_link (catalog, "port")->name, "port");
  assert_string_equal (fab_catalog_accelerator (catalog, "chip")->name, "chip");
  assert_string_equal (joined, "wire mine port");
  assert_non_null (fab_catalog_mark (catalog, &fab_catalog_link (catalog, "port")->name));
  assert_null (fab_catalog_mark (catalog, &links[1].name));
}

/* Files are read in the order of their names; hidden ones, and those of other kinds, are not read. */
static void
test_which_files (G_GNUC_UNUSED void **state)
{
  static const char *const files[][2] = {
    { "b.yaml", "links: [{name: second, signalling: 1Gb/s, " ORIGIN "}]\n" },
    { "a.yaml", "links: [{name: first, signalling: 1Gb/s, " ORIGIN "}]\n" },
    { "c.yaml", "links: [{name: third, signalling: 1Gb/s, " ORIGIN "}]\n" },
    { ".d.yaml", "linkz: []\n" },
    { "e.yml", "linkz: []\n" },
  };
  g_autofree char *directory = g_dir_make_tmp ("fab-catalog-XXXXXX", NULL),
                  *folder = g_build_filename (directory, "d.yaml", NULL);
  g_autoptr (GError) error = NULL, other = NULL;

  for (guint i = 0; i < G_N_ELEMENTS (files); i++) {
    g_autofree char *path = g_build_filename (directory, files[i][0], NULL);

    assert_true (g_file_set_contents (path, files[i][1], -1, NULL));
  }
  g_autoptr (FabCatalog) catalog = fab_catalog_load (directory, &small_registry, &error);
  assert_null (error);
  g_autofree const char **names = fab_catalog_names (catalog, FAB_SECTION_LINKS);
  g_autofree char *joined = g_strjoinv (" ", (char **) names), *written = fab_catalog_write (catalog);
  assert_string_equal (joined, "first second third");
  for (guint i = 0; names[i] != NULL; i++) {
    g_autofree char *line = g_strdup_printf ("  - name: %s\n", names[i]);

    assert_non_null (strstr (written, line));
  }
  assert_int_equal (g_mkdir (folder, 0700), 0); /* it cannot be read */
  assert_null (fab_catalog_load (directory, &small_registry, &other));
  assert_true (g_error_matches (other, FAB_ERROR, FAB_ERROR_IO));
  g_rmdir (folder);
  for (guint i = 0; i < G_N_ELEMENTS (files); i++) {
    g_autofree char *path = g_build_filename (directory, files[i][0], NULL);

    g_remove (path);
  }
  g_rmdir (directory);
  fab_catalog_free (NULL);
}

/* A link has the flow control of its technology unless it says its own, the cost of each way to move bytes, and a
 * switch that reduces where it says so or has packets for that. */
static void
test_link_classes (G_GNUC_UNUSED void **state)
{
  const char *const texts[] = {
    "technologies: [{name: T, joins: accelerators, flow_control: pfc, " ORIGIN "}]\n"
    "links:\n"
    "  - {name: plain, technology: T, signalling: 8Gb/s, " ORIGIN "}\n"
    "  - {name: own, technology: T, signalling: 8Gb/s, flow_control: drop, endpoint: 3us, " ORIGIN ",\n"
    "     copy: {achievable: 50%, source: s}, kernel: {achievable: 25%, source: s},\n"
    "     multimem: {payload: 100B, overhead: 25B, source: s}, collective_fraction: 80%, collective_source: s,\n"
    "     messages: [{overhead: 1us, rate: 0.1GB/s}], measured: {from: 8B, to: 9B}}\n"
    "  - {name: reducing, signalling: 8Gb/s, flow_control: credit, sharp: true, " ORIGIN "}\n",
    NULL,
  };
  g_autoptr (GError) error = NULL;
  g_autoptr (FabCatalog) catalog = load_texts (texts, &error);

  if (catalog == NULL)
    fail_msg ("%s", error->message);
  FabLinkClass plain = fab_catalog_link_class (catalog, fab_catalog_link (catalog, "plain")),
               own = fab_catalog_link_class (catalog, fab_catalog_link (catalog, "own")),
               reducing = fab_catalog_link_class (catalog, fab_catalog_link (catalog, "reducing"));
  assert_string_equal (plain.name, "plain");
  assert_ptr_equal (plain.technology, fab_catalog_technology (catalog, "T"));
  assert_ptr_equal (reducing.technology, &fab_technology_unnamed);
  assert_int_equal (plain.flow_control, FAB_FLOW_PFC);
  assert_int_equal (own.flow_control, FAB_FLOW_DROP);
  assert_int_equal (reducing.flow_control, FAB_FLOW_CREDIT);
  for (FabDrive drive = 0; drive < FAB_N_DRIVES; drive++)
    assert_near (plain.cost[drive], 1, 0);
  assert_near (own.cost[FAB_DRIVE_COPY], 2, 1e-15);
  assert_near (own.cost[FAB_DRIVE_KERNEL], 4, 1e-15);
  assert_near (own.cost[FAB_DRIVE_MULTIMEM], 1.25, 1e-15);
  assert_near (plain.collective_stretch, 0, 0);
  assert_near (own.collective_stretch, 1.25, 1e-15);
  assert_int_equal (own.endpoint_ps, 3000000);
  assert_int_equal (own.messages.n, 1);
  assert_near (own.messages.factor, 1, 0);
  assert_int_equal (own.messages.from_bytes, 8);
  assert_int_equal (own.messages.to_bytes, 9);
  assert_false (plain.has_reduction);
  assert_true (own.has_reduction);
  assert_true (reducing.has_reduction);
}

/* What a word might be the name for: entries whose summaries say it, of a catalogue and of what lies over it. */
static void
test_said (G_GNUC_UNUSED void **state)
{
  const char *const texts[] = { "links:\n"
                                "  - {name: a, summary: the quick cable, signalling: 8Gb/s, " ORIGIN "}\n"
                                "  - {name: b, summary: slow, signalling: 8Gb/s, " ORIGIN "}\n"
                                "  - {name: c, signalling: 8Gb/s, " ORIGIN "}\n",
                                NULL };
  g_autoptr (FabCatalog) shipped = load_texts (texts, NULL);
  FabLinkSpec links[] = { { .name = "mine", .summary = "a quick one" }, { .name = "c" } };
  FabCatalogSections sections = { .links = { .data = links, .n = 2 } };
  g_autoptr (FabCatalog) catalog = fab_catalog_overlay (shipped, &sections);
  g_autofree char *quick = fab_catalog_said (catalog, FAB_SECTION_LINKS, "quick"),
                  *alone = fab_catalog_said (shipped, FAB_SECTION_LINKS, "quick"),
                  *none = fab_catalog_said (catalog, FAB_SECTION_LINKS, "purple"),
                  *referred = fab_catalog_reference_said (catalog, FAB_REFERS_LINK, "quick"),
                  *algorithm = fab_catalog_reference_said (catalog, FAB_REFERS_ALGORITHM, "quick");

  assert_string_equal (quick, "a, mine"); /* the shortest name first */
  assert_string_equal (alone, "a");
  assert_null (none);
  assert_string_equal (referred, quick);
  assert_null (algorithm);
  assert_true (fab_catalog_is_own (catalog, FAB_SECTION_LINKS, "mine"));
  assert_true (fab_catalog_is_own (catalog, FAB_SECTION_LINKS, "c"));
  assert_false (fab_catalog_is_own (catalog, FAB_SECTION_LINKS, "a"));
  assert_false (fab_catalog_is_own (shipped, FAB_SECTION_LINKS, "a"));
}

/* Of equal names the first stands, and an entry without a name is nowhere. */
static void
test_equal_names (G_GNUC_UNUSED void **state)
{
  FabLinkSpec links[] = { { .lanes = 1 }, { .name = "a", .lanes = 2 }, { .name = "a", .lanes = 3 } };
  FabCatalogSections sections = { .links = { .data = links, .n = G_N_ELEMENTS (links) } };
  g_autoptr (FabCatalog) catalog = fab_catalog_overlay (NULL, &sections);
  g_autofree const char **names = fab_catalog_names (catalog, FAB_SECTION_LINKS);

  assert_int_equal (fab_catalog_link (catalog, "a")->lanes, 2);
  assert_string_equal (names[0], "a");
  assert_null (names[1]);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (test_entries),      cmocka_unit_test (test_no_directory),
    cmocka_unit_test (test_texts),        cmocka_unit_test (test_refusals),
    cmocka_unit_test (test_wire_ends),    cmocka_unit_test (test_all_files_at_once),
    cmocka_unit_test (test_overlay),      cmocka_unit_test (test_message_refusals),
    cmocka_unit_test (test_messages),     cmocka_unit_test (test_which_files),
    cmocka_unit_test (test_link_classes), cmocka_unit_test (test_said),
    cmocka_unit_test (test_equal_names),
  };

  return cmocka_run_group_tests (tests, NULL, NULL);
}
