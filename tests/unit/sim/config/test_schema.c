/* SPDX-License-Identifier: Apache-2.0 */
/* test_schema.c - tables at work: every type read, every mistake named, written back, as JSON Schema. */
#include "sim/config/schema.h"
#include "sim/config/schema_reader.h"
#include "sim/config/schema_scalar.h"

#include <json-glib/json-glib.h>

#include "sim/scenario/scenario.h"
#include "tests/support/small_models.h"
#include "tests/support/test.h"

typedef struct {
  FabDiagnostics *diagnostics;
  FabSchemaReader *reader;
  FabYamlDoc *doc;
  SmallDdp ddp;
} Fixture;

static void
fixture_clear (Fixture *self)
{
  fab_schema_reader_free (self->reader);
  fab_yaml_doc_free (self->doc);
  fab_diagnostics_free (self->diagnostics);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Fixture, fixture_clear)

static gboolean
read_ddp (Fixture *self, const char *text)
{
  self->diagnostics = fab_diagnostics_new ();
  self->reader = fab_schema_reader_new (&small_registry, self->diagnostics);
  self->doc = fab_yaml_doc_parse ("t.yaml", text, strlen (text), self->diagnostics);
  return fab_schema_read (self->reader, self->doc != NULL ? fab_yaml_doc_root (self->doc) : NULL,
                          small_ddp_params, &self->ddp);
}

static void
assert_wrong (const char *text, const char *expected)
{
  g_auto (Fixture) fixture = { 0 };
  g_autofree char *printed = NULL;

  assert_false (read_ddp (&fixture, text));
  printed = fab_diagnostics_format (fixture.diagnostics);
  assert_string_equal (printed, expected);
}

static void
test_fallbacks (G_GNUC_UNUSED void **state)
{
  g_auto (Fixture) fixture = { 0 };
  const SmallMfu *mfu;

  assert_true (read_ddp (&fixture, "model: tiny\n"));
  mfu = fixture.ddp.compute.params;
  assert_string_equal (fixture.ddp.model, "tiny");
  assert_int_equal (fixture.ddp.bucket_bytes, 25 * 1048576);
  assert_true (fixture.ddp.has_overlap);
  assert_int_equal (fixture.ddp.mode, 0);
  assert_string_equal (fixture.ddp.compute.info->name, "mfu");
  assert_true (mfu->efficiency_fraction == 0.5);
  assert_int_equal (fixture.ddp.stages.n, 0);
  assert_null (fab_schema_mark (fixture.reader, &fixture.ddp.bucket_bytes));
  assert_int_equal (fab_schema_mark (fixture.reader, &fixture.ddp.model)->column, 8);
}

static void
test_values (G_GNUC_UNUSED void **state)
{
  g_auto (Fixture) fixture = { 0 };
  const SmallStage *stages;

  assert_true (read_ddp (&fixture,
                         "model: 7\nbucket: 1e3kB\noverlap: off\nmode: lazy\ncompute: mfu\nskew: -1\n"
                         "stages:\n  - {link: l, rate: 100Gb/s, work: 2PFLOP}\n  - {link: ''}\n"));
  stages = fixture.ddp.stages.data;
  assert_string_equal (fixture.ddp.model, "7");
  assert_int_equal (fixture.ddp.bucket_bytes, 1000000);
  assert_false (fixture.ddp.has_overlap);
  assert_int_equal (fixture.ddp.mode, 1);
  assert_true (fixture.ddp.skew_factor == -1.0);
  assert_int_equal (fixture.ddp.stages.n, 2);
  assert_int_equal (stages[0].rate_bytes_per_s, 12500000000);
  assert_true (stages[0].work_flops == 2e15);
  assert_null (stages[1].link);
}

/* Where yes and no are choices, what YAML reads as true and false is meant so; elsewhere it is a mistake. */
static void
test_choices_that_are_truths (G_GNUC_UNUSED void **state)
{
  static const char *const three[] = { "auto", "no", "yes", NULL }, *const two[] = { "pre", "post", NULL };
  const FabParam row = { .key = "k", .type = FAB_PARAM_CHOICE, .choices = three },
                 other = { .key = "k", .type = FAB_PARAM_CHOICE, .choices = two };
  static const struct {
    const char *text;
    int choice;
  } cases[] = { { "auto", 0 }, { "no", 1 },   { "false", 1 }, { "off", 1 },
                { "yes", 2 },  { "true", 2 }, { "on", 2 } };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    int choice = -1;

    assert_null (fab_schema_parse_choice (&row, cases[i].text, &choice));
    assert_int_equal (choice, cases[i].choice);
  }
  for (guint i = 1; i < G_N_ELEMENTS (cases); i++) {
    int choice = -1;
    g_autofree char *said = fab_schema_parse_choice (&other, cases[i].text, &choice);

    assert_non_null (said);
    assert_int_equal (choice, -1);
  }
  assert_true (fab_schema_takes_bool (&row));
  assert_false (fab_schema_takes_bool (&other));
}

/* A null value reads as an absent key. */
static void
test_null (G_GNUC_UNUSED void **state)
{
  g_auto (Fixture) fixture = { 0 };

  assert_true (read_ddp (&fixture, "model: x\nbucket: ~\nstages:\ncompute: null\n"));
  assert_int_equal (fixture.ddp.bucket_bytes, 25 * 1048576);
  assert_non_null (fixture.ddp.compute.params);
}

static void
test_unknown_and_missing_keys (G_GNUC_UNUSED void **state)
{
  assert_wrong (
      "buckett: 1MB\nzzz: 1\n",
      "t.yaml:1:1: unknown key 'buckett'; nearest is 'bucket'\n    1 | buckett: 1MB\n      | ^~~~~~~\n"
      "t.yaml:1:1: missing key 'model' (text): A model entry.\n    1 | buckett: 1MB\n      | ^~~~~~~\n"
      "t.yaml:2:1: unknown key 'zzz'; known here: model, bucket, overlap, mode, compute, skew, stages\n"
      "    2 | zzz: 1\n      | ^~~");
  assert_wrong ("model:\n",
                "t.yaml:1:7: missing key 'model' (text): A model entry.\n    1 | model:\n      |       ^");
  assert_wrong ("model: x\nbucket:\n",
                "t.yaml:2:8: 'bucket' has no value; give it one, or leave the key out for the default\n"
                "    2 | bucket:\n      |        ^");
  assert_wrong ("model: ''\n", "t.yaml:1:8: 'model' is empty\n    1 | model: ''\n      |        ^~");
}

static void
test_wrong_values (G_GNUC_UNUSED void **state)
{
  assert_wrong ("model: m\nbucket: 25\noverlap: maybe\nmode: lasy\nskew: 2\nstages: {}\n",
                "t.yaml:2:9: 'bucket': '25' has no unit; write for example 25MiB\n"
                "    2 | bucket: 25\n"
                "      |         ^~\n"
                "t.yaml:3:10: 'overlap' is 'maybe'; write true or false\n"
                "    3 | overlap: maybe\n"
                "      |          ^~~~~\n"
                "t.yaml:4:7: 'mode' cannot be 'lasy'; nearest is 'lazy'\n"
                "    4 | mode: lasy\n"
                "      |       ^~~~\n"
                "t.yaml:5:7: 'skew' is 2: the upper limit is 1\n"
                "    5 | skew: 2\n"
                "      |       ^\n"
                "t.yaml:6:9: 'stages' must be a list; begin each entry with '- '\n"
                "    6 | stages: {}\n"
                "      |         ^");
  assert_wrong (
      "model: [a]\nbucket: {}\nstages: [7, {rate: 0b/s, speed: 0FLOP/s}]\n",
      "t.yaml:1:8: 'model' must be a text, not a list\n    1 | model: [a]\n      |        ^\n"
      "t.yaml:2:9: 'bucket' must be a size, not a mapping\n    2 | bucket: {}\n      |         ^\n"
      "t.yaml:3:10: an entry of 'stages' must be a mapping\n"
      "    3 | stages: [7, {rate: 0b/s, speed: 0FLOP/s}]\n      |          ^\n"
      "t.yaml:3:20: 'rate' is 0b/s: must be more than 0\n"
      "    3 | stages: [7, {rate: 0b/s, speed: 0FLOP/s}]\n      |                    ^~~~\n"
      "t.yaml:3:33: 'speed' is 0FLOP/s: must be more than 0\n"
      "    3 | stages: [7, {rate: 0b/s, speed: 0FLOP/s}]\n      |                                 ^~~~~~~");
  assert_wrong ("model: m\nskew: -1.5\n", "t.yaml:2:7: 'skew' is -1.5: the lower limit is -1\n"
                                          "    2 | skew: -1.5\n"
                                          "      |       ^~~~");
}

static void
test_models (G_GNUC_UNUSED void **state)
{
  assert_wrong (
      "model: m\ncompute: mfuu\n",
      "t.yaml:2:10: unknown compute 'mfuu'; nearest is 'mfu'\n    2 | compute: mfuu\n      |          ^~~~");
  assert_wrong ("model: m\ncompute: {kind: roofline}\n",
                "t.yaml:2:17: unknown compute 'roofline'; known are mfu\n    2 | compute: {kind: roofline}\n"
                "      |                 ^~~~~~~~");
  assert_wrong (
      "model: m\ncompute: [mfu]\n",
      "t.yaml:2:10: 'compute' must be a name, or a mapping with 'kind'\n    2 | compute: [mfu]\n      |          ^");
  assert_wrong ("model: m\ncompute: {kind: mfu, eficiency: 1}\n",
                "t.yaml:2:22: unknown key 'eficiency'; nearest is 'efficiency'\n"
                "    2 | compute: {kind: mfu, eficiency: 1}\n      |                      ^~~~~~~~~");
  assert_wrong ("model: m\ncompute: {kind: }\n",
                "t.yaml:2:17: 'compute' needs 'kind', the name of a compute\n"
                "    2 | compute: {kind: }\n      |                 ^");
}

typedef struct {
  FabModelChoice shape;
} Shaped;

static const FabParam shaped_params[] = {
  { .key = "shape",
    .type = FAB_PARAM_MODEL,
    .offset = G_STRUCT_OFFSET (Shaped, shape),
    .models = FAB_MODEL_SHAPE,
    .help = "A shape." },
  { .key = NULL },
};

static char *
shape_messages (const char *text)
{
  g_autoptr (FabDiagnostics) diagnostics = fab_diagnostics_new ();
  g_autoptr (FabSchemaReader) reader = fab_schema_reader_new (&small_registry, diagnostics);
  g_autoptr (FabYamlDoc) doc = fab_yaml_doc_parse ("t.yaml", text, strlen (text), diagnostics);
  Shaped shaped;

  (void) fab_schema_read (reader, fab_yaml_doc_root (doc), shaped_params, &shaped);
  return fab_diagnostics_format (diagnostics);
}

/* The model's own check reports at the field, or at the model when the field came from a fallback. */
static void
test_check (G_GNUC_UNUSED void **state)
{
  g_autofree char *at_field = shape_messages ("shape: {kind: mlp, layers: 1, hidden: 100}\n");
  g_autofree char *at_model = shape_messages ("shape: {kind: mlp, layers: 1, heads: 3}\n");
  g_autofree char *good = shape_messages ("shape: {kind: mlp, layers: 1, hidden: 96, heads: 3}\n");
  g_autofree char *missing = shape_messages ("shape: mlp\n");
  g_autofree char *none = shape_messages ("\n");

  assert_string_equal (at_field, "t.yaml:1:39: hidden 100 is not a multiple of heads 16\n"
                                 "    1 | shape: {kind: mlp, layers: 1, hidden: 100}\n"
                                 "      |                                       ^~~");
  assert_true (g_str_has_prefix (at_model, "t.yaml:1:8: hidden 1024 is not a multiple of heads 3\n"));
  assert_string_equal (good, "");
  assert_string_equal (missing, "t.yaml:1:8: 'shape' lacks the key 'layers' (count): Layers.\n"
                                "    1 | shape: mlp\n      |        ^~~");
  assert_true (g_str_has_prefix (none, "t.yaml:1:1: missing key 'shape' (model): A shape."));
}

static const char **
names_of (gpointer user, FabRefers refers)
{
  const char **names = g_new0 (const char *, 3);

  *(guint *) user += 1;
  names[0] = refers == FAB_REFERS_LINK ? "wire" : "tiny";
  names[1] = "other";
  return names;
}

static void
test_references (G_GNUC_UNUSED void **state)
{
  g_auto (Fixture) fixture = { 0 };
  g_autofree char *printed = NULL;
  guint n_asked = 0;

  assert_true (read_ddp (&fixture, "model: tiny\nstages: [{link: wire}, {link: wir}, {}, {link: zzzzzz}]\n"));
  fab_schema_check_references (fixture.reader, small_ddp_params, &fixture.ddp, names_of, &n_asked);
  printed = fab_diagnostics_format (fixture.diagnostics);
  assert_string_equal (printed, "t.yaml:2:31: unknown link 'wir'; nearest is 'wire'\n"
                                "    2 | stages: [{link: wire}, {link: wir}, {}, {link: zzzzzz}]\n"
                                "      |                               ^~~\n"
                                "t.yaml:2:48: unknown link 'zzzzzz'; 'fabricast describe links' lists them\n"
                                "    2 | stages: [{link: wire}, {link: wir}, {}, {link: zzzzzz}]\n"
                                "      |                                                ^~~~~~");
  assert_int_equal (n_asked, 2); /* models and links, once each */
}

static void
test_write (G_GNUC_UNUSED void **state)
{
  g_auto (Fixture) fixture = { 0 }, again = { 0 };
  g_autofree char *text = NULL, *second = NULL;

  assert_true (read_ddp (&fixture, "model: 'yes'\nskew: 0.1\nstages: [{link: wire, rate: 100Gb/s}, {}]\n"));
  text = fab_schema_write (small_ddp_params, &fixture.ddp);
  assert_string_equal (text, "model: \"yes\"\nbucket: 25MiB\noverlap: true\nmode: eager\n"
                             "compute:\n  kind: mfu\n  efficiency: 0.5\nskew: 0.1\nstages:\n"
                             "  - link: wire\n    work: 1TFLOP\n    speed: 1TFLOP/s\n    rate: 100Gb/s\n"
                             "  - work: 1TFLOP\n    speed: 1TFLOP/s\n    rate: 1Gb/s\n");
  assert_true (read_ddp (&again, text));
  second = fab_schema_write (small_ddp_params, &again.ddp);
  assert_string_equal (second, text);
}

static JsonObject *
member (JsonObject *object, const char *name)
{
  assert_true (json_object_has_member (object, name));
  return json_object_get_object_member (object, name);
}

/* tests/unit/sim/config/check_schema.py, where Python has jsonschema, holds the text against the metaschema. */
static void
test_json (G_GNUC_UNUSED void **state)
{
  g_autofree char *text = fab_schema_json (fab_scenario_params, &small_registry, "https://example.org/s.json",
                                           "Scenario");
  g_autoptr (JsonParser) parser = json_parser_new ();
  JsonObject *root, *properties, *seed, *packet;

  assert_true (json_parser_load_from_data (parser, text, -1, NULL));
  root = json_node_get_object (json_parser_get_root (parser));
  properties = member (root, "properties");
  seed = member (properties, "seed");
  packet = member (member (root, "$defs"), "fidelity.packet");
  assert_string_equal (json_object_get_string_member (root, "$schema"),
                       "https://json-schema.org/draft/2020-12/schema");
  assert_string_equal (json_object_get_string_member (root, "title"), "Scenario");
  assert_false (json_object_get_boolean_member (root, "additionalProperties"));
  assert_int_equal (json_object_get_int_member (seed, "default"), 1);
  assert_string_equal (
      json_object_get_string_member (member (member (packet, "properties"), "mtu"), "default"), "4KiB");
  assert_true (json_object_has_member (member (root, "$defs"), "algorithm.hierarchical"));
}

/* Blocks live as long as their reader and begin as zeros; nothing needs no block, and nothing is freed. */
static void
test_blocks (G_GNUC_UNUSED void **state)
{
  g_autoptr (FabDiagnostics) diagnostics = fab_diagnostics_new ();
  g_autoptr (FabSchemaReader) reader = fab_schema_reader_new (&small_registry, diagnostics);
  const char *one = fab_schema_reader_alloc (reader, 1);

  assert_non_null (one);
  assert_int_equal (*one, 0);
  assert_null (fab_schema_reader_alloc (reader, 0));
  fab_schema_reader_free (NULL);
  fab_diagnostics_free (NULL);
  fab_yaml_doc_free (NULL);
  fab_value_unref (NULL);
}

int
main (int argc, char **argv)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (test_fallbacks),
    cmocka_unit_test (test_values),
    cmocka_unit_test (test_choices_that_are_truths),
    cmocka_unit_test (test_null),
    cmocka_unit_test (test_unknown_and_missing_keys),
    cmocka_unit_test (test_wrong_values),
    cmocka_unit_test (test_models),
    cmocka_unit_test (test_check),
    cmocka_unit_test (test_references),
    cmocka_unit_test (test_write),
    cmocka_unit_test (test_json),
    cmocka_unit_test (test_blocks),
  };

  if (argc > 1 && g_str_equal (argv[1], "--print-schema")) {
    g_autofree char *text = fab_schema_json (fab_scenario_params, &small_registry,
                                             "https://example.org/s.json", "S");

    g_print ("%s\n", text);
    return 0;
  }
  return cmocka_run_group_tests (tests, NULL, NULL);
}
