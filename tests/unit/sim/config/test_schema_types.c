/* SPDX-License-Identifier: Apache-2.0 */
/* test_schema_types.c - a table with a row of every type: what each takes at its limits, what it says of the rest, and
 * how the struct is written, explained, got by key, compared, and described as JSON Schema.
 */
#include "tests/support/test.h"

#include <json-glib/json-glib.h>

#include "sim/config/schema.h"
#include "sim/config/schema_scalar.h"

typedef struct {
  FabTimePs time_ps;
  const char *name;
} Part;

static const FabParam part_params[] = {
  { .key = "name",
    .type = FAB_PARAM_TEXT,
    .offset = G_STRUCT_OFFSET (Part, name),
    .fallback = "",
    .help = "Its name.",
    .refers = FAB_REFERS_LINK },
  { .key = "delay", .type = FAB_PARAM_TIME, .offset = G_STRUCT_OFFSET (Part, time_ps), .help = "A delay." },
  { .key = NULL },
};

typedef struct {
  gint64 width;
  FabParamList parts;
} Wide;

static const FabParam wide_params[] = {
  { .key = "width",
    .type = FAB_PARAM_COUNT,
    .offset = G_STRUCT_OFFSET (Wide, width),
    .fallback = "2",
    .min = 1.0,
    .help = "Lanes." },
  { .key = "parts",
    .type = FAB_PARAM_LIST,
    .offset = G_STRUCT_OFFSET (Wide, parts),
    .table = part_params,
    .table_size = sizeof (Part),
    .help = "Its parts." },
  { .key = NULL },
};

static const FabModelInfo wide = {
  .name = "wide", .summary = "Many lanes.", .params = wide_params, .params_size = sizeof (Wide)
};
static const FabModelInfo bare = { .name = "bare" };
static const FabModelInfo exact = { .name = "exact", .params = part_params, .params_size = sizeof (Part) };
static const FabModelInfo *const routes[] = { &wide, &bare, &exact, NULL };
static const FabRegistry registry = { .lists = { [FAB_MODEL_ROUTE] = routes } };

typedef struct {
  FabTimePs time_ps, long_ps;
  FabBytes size_bytes;
  gint64 length_mm, count, least, huge;
  FabBytesPerS rate_bytes_per_s;
  double flops, flops_per_s, fraction, factor, limited;
  FabPeriod period;
  FabPower power;
  gboolean flag;
  const char *text, *file, *texts;
  int choice, answer;
  Part part;
  FabParamList parts;
  FabModelChoice model;
} All;

static const char *const colours[] = { "red", "green", NULL };
static const char *const answers[] = { "auto", "no", "yes", NULL };

#define ROW(key_, type_, field_) \
  .key = key_, .type = FAB_PARAM_##type_, .offset = G_STRUCT_OFFSET (All, field_)

static const FabParam all_params[] = {
  { ROW ("time", TIME, time_ps), .fallback = "0ns", .help = "A time; 0: none at all. More." },
  { ROW ("long", TIME, long_ps), .fallback = "1us", .min = 1e6, .max = 1e18, .help = "A long time." },
  { ROW ("size", BYTES, size_bytes), .fallback = "4KiB", .min = 64.0, .max = 65536.0, .help = "A size." },
  { ROW ("length", LENGTH, length_mm), .fallback = "2m", .help = "A length." },
  { ROW ("count", COUNT, count), .fallback = "0", .min = 0.0, .max = 8.0, .help = "0 is a number too." },
  { ROW ("least", COUNT, least), .fallback = "3", .min = 2.0, .help = "At least 2. 0: never." },
  { ROW ("rate", RATE, rate_bytes_per_s), .fallback = "1GB/s", .help = "A rate." },
  { ROW ("flops", FLOPS, flops), .fallback = "0FLOP", .help = "Work. 0: none" },
  { ROW ("speed", FLOPS_RATE, flops_per_s), .fallback = "1TFLOP/s", .help = "Speed." },
  { ROW ("fraction", FRACTION, fraction), .fallback = "25%", .help = "A share." },
  { ROW ("factor", FACTOR, factor), .fallback = "-1", .min = -1.0, .max = 1.0, .help = "A factor. 0: none." },
  { ROW ("limited", FRACTION, limited), .fallback = "0", .max = 0.5, .help = "A share; 0: none; more." },
  { ROW ("period", PERIOD, period), .fallback = "10", .min = 1.0, .max = 100.0, .help = "How often." },
  { ROW ("power", POWER, power), .fallback = "70%", .help = "A cap." },
  { ROW ("flag", BOOL, flag), .fallback = "false", .help = "Yes or no." },
  { ROW ("text", TEXT, text), .fallback = "", .help = "A text." },
  { ROW ("file", TEXT, file), .fallback = "", .help = "A file.", .refers = FAB_REFERS_FILE },
  { ROW ("texts", TEXT, texts), .fallback = "a", .help = "Texts.", .takes_list = TRUE },
  { ROW ("choice", CHOICE, choice), .fallback = "green", .help = "A colour.", .choices = colours },
  { ROW ("answer", CHOICE, answer), .fallback = "auto", .help = "An answer.", .choices = answers },
  { ROW ("part", TABLE, part), .table = part_params, .table_size = sizeof (Part), .help = "A part." },
  { ROW ("parts", LIST, parts), .table = part_params, .table_size = sizeof (Part), .help = "Parts." },
  { ROW ("model", MODEL, model), .fallback = "wide", .models = FAB_MODEL_ROUTE, .help = "A model." },
  { ROW ("huge", COUNT, huge), .fallback = "0", .min = -2e15, .max = 2e15, .help = "A number." },
  { .key = NULL },
};

typedef struct {
  FabDiagnostics *diagnostics;
  FabSchemaReader *reader;
  FabYamlDoc *doc;
  All all;
} Fixture;

static void
fixture_clear (Fixture *self)
{
  fab_schema_reader_free (self->reader);
  fab_yaml_doc_free (self->doc);
  fab_diagnostics_free (self->diagnostics);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Fixture, fixture_clear)

#define LEAST "part: {delay: 5ns}\n"

/* Reads the text, behind what is required, into a struct that held something else before. */
static gboolean
read_all (Fixture *self, const char *text)
{
  g_autofree char *whole = g_strconcat (LEAST, text, NULL);

  memset (&self->all, 0x55, sizeof self->all);
  self->diagnostics = fab_diagnostics_new ();
  self->reader = fab_schema_reader_new (&registry, self->diagnostics);
  self->doc = fab_yaml_doc_parse ("/f/t.yaml", whole, strlen (whole), self->diagnostics);
  return fab_schema_read (self->reader, fab_yaml_doc_root (self->doc), all_params, &self->all);
}

static const struct {
  const char *text, *wrong; /* NULL: it is taken */
} limits[] = {
  { "time: 1h", NULL },
  { "time: 3600000000000001ps", "'time' is 3600000000000001ps: the upper limit is 3600s" },
  { "long: 1us", NULL },
  { "long: 999999ps", "'long' is 999999ps: the lower limit is 1us" },
  { "long: 1000000s", NULL },
  { "long: 1000001s", "'long' is 1000001s: the upper limit is 1000000s" },
  { "size: 64B", NULL },
  { "size: 63B", "'size' is 63B: the lower limit is 64B" },
  { "size: 64KiB", NULL },
  { "size: 65537B", "'size' is 65537B: the upper limit is 64KiB" },
  { "length: 0m", NULL },
  { "count: 0", NULL },
  { "count: -1", "'count' is -1: the lower limit is 0" },
  { "count: 8", NULL },
  { "count: 9", "'count' is 9: the upper limit is 8" },
  { "least: 2", NULL },
  { "least: 1", "'least' is 1: the lower limit is 2" },
  { "least: 9e18", NULL },
  { "rate: 1B/s", NULL },
  { "rate: 0B/s", "'rate' is 0B/s: must be more than 0" },
  { "flops: 0FLOP", NULL },
  { "speed: 1FLOP/s", NULL },
  { "speed: 0FLOP/s", "'speed' is 0FLOP/s: must be more than 0" },
  { "fraction: 100%", NULL },
  { "factor: -1", NULL },
  { "factor: -1.001", "'factor' is -1.001: the lower limit is -1" },
  { "factor: 1", NULL },
  { "factor: 1.001", "'factor' is 1.001: the upper limit is 1" },
  { "limited: 50%", NULL },
  { "limited: 51%", "'limited' is 51%: the upper limit is 0.5" },
  { "period: 1", NULL },
  { "period: 0", "'period' is 0: the lower limit is 1" },
  { "period: 100", NULL },
  { "period: 101", "'period' is 101: the upper limit is 100" },
  { "period: 1ps", NULL },
  { "period: 0ps", "'period' is 0ps: the lower limit is 1ps" },
  { "period: 104d", NULL },
  { "period: 9223372036854775807ps", "'period' is 9223372036854775807ps: the upper limit is 9000000s" },
  { "period: ''", "'period': '' is not a time; write for example 600ns" },
  { "power: 1W", NULL },
  { "power: 0W", "'power' is '0W'; write whole watts such as 500W, or a share such as 70%" },
  { "power: 1000000 W", NULL },
  { "power: 1000001W", "'power' is '1000001W'; write whole watts such as 500W, or a share such as 70%" },
  { "power: 0%", "'power' is '0%'; write whole watts such as 500W, or a share such as 70%" },
  { "power: 100%", NULL },
  { "power: 101%", "'power' is '101%'; write whole watts such as 500W, or a share such as 70%" },
  { "flag: maybe", "'flag' is 'maybe'; write true or false" },
  { "choice: GREEN", NULL },
  { "choice: violet", "'choice' cannot be 'violet'; choose one of red, green" },
  { "text: \"a\\u202eb\"",
    "'text' holds the invisible character U+202E, which a terminal may interpret; remove it" },
  { "text: \"a\\tb\\nc\"", NULL },
  { "texts: [a, 7]", NULL },
  { "texts: [a, {}]", "'texts' must be a text, not a list" },
  { "texts: [a, ~]", "'texts' must be a text, not a list" },
  { "texts: []", "'texts' must be a text, not a list" },
  { "texts: {}", "'texts' must be a text, not a mapping" },
  { "text: [a]", "'text' must be a text, not a list" },
  { "parts: [{name: a, delay: 1ns}]", NULL },
  { "parts: [{name: a}]", "'parts' lacks the key 'delay' (time): A delay." },
  { "parts: [a]", "an entry of 'parts' must be a mapping" },
  { "parts: a", "'parts' must be a list; begin each entry with '- '" },
  { "model: {width: 1}", NULL },
  { "model: {kind: bare, width: 1}", "unknown key 'width'; 'bare' does not have it; these have it: 'wide'" },
  { "model: wide", NULL },
  { "model: exact", "'model' lacks the key 'delay' (time): A delay." },
  { "model: []", "'model' must be a name, or a mapping with 'kind'" },
  { "model: {kind: []}", "'model' needs 'kind', the name of a route" },
  { "model: zzzz", "unknown route 'zzzz'; known are wide, bare, exact" },
};

/* Values at the limits of their rows, and a step behind them. */
static void
limits_are_inclusive (G_GNUC_UNUSED void **state)
{
  for (guint i = 0; i < G_N_ELEMENTS (limits); i++) {
    g_auto (Fixture) fixture = { 0 };
    gboolean is_taken = read_all (&fixture, limits[i].text);
    g_autofree char *printed = fab_diagnostics_format (fixture.diagnostics);
    g_autofree char *wrong = g_strdup_printf (": %s\n", limits[i].wrong);

    if (is_taken != (limits[i].wrong == NULL) || (limits[i].wrong != NULL && strstr (printed, wrong) == NULL))
      fail_msg ("%s: %s", limits[i].text, printed);
    assert_int_equal (fab_diagnostics_count (fixture.diagnostics), limits[i].wrong != NULL);
  }
}

/* --- fallbacks --- */

static void
assert_fallbacks (const All *all)
{
  assert_int_equal (all->time_ps, 0);
  assert_int_equal (all->size_bytes, 4096);
  assert_int_equal (all->length_mm, 2000);
  assert_int_equal (all->rate_bytes_per_s, 1000000000);
  assert_true (all->fraction == 0.25);
  assert_true (all->factor == -1.0);
  assert_int_equal (all->period.n_steps, 10);
  assert_int_equal (all->period.time_ps, 0);
  assert_int_equal (all->power.watts, 0);
  assert_true (all->power.fraction == 0.7);
  assert_false (all->flag);
  assert_null (all->text);
  assert_string_equal (all->texts, "a");
  assert_int_equal (all->choice, 1);
  assert_int_equal (all->answer, 0);
  assert_int_equal (all->part.time_ps, 5000);
  assert_int_equal (all->parts.n, 0);
  assert_null (all->parts.data);
  assert_ptr_equal (all->model.info, &wide);
  assert_int_equal (((const Wide *) all->model.params)->width, 2);
}

/* What is absent, null, wrong or empty has its fallback; a number or a text without a value is a mistake. */
static void
fallbacks_replace_what_is_wrong (G_GNUC_UNUSED void **state)
{
  static const struct {
    const char *text;
    guint n_wrong;
  } rows[] = {
    { "", 0 },
    { "time: ~\nsize: null\nflag: Null\ntext: NULL\nparts:\nmodel:\nperiod: ~\n", 0 },
    { "time: ~ # nothing\n", 0 },
    { "time:\nsize:\nflag:\ntext:\nperiod:\npower:\nchoice:\n", 7 },
    { "size: # of a name\n", 1 },
    { "time: 5\nsize: 1B\nlength: 1\nrate: 0B/s\nfraction: 2\nfactor: x\nperiod: x\npower: x\nflag: "
      "x\ntext: []\n"
      "texts: {}\nchoice: x\nanswer: x\nparts: x\nmodel: x\n",
      15 },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_auto (Fixture) fixture = { 0 };

    assert_int_equal (read_all (&fixture, rows[i].text), rows[i].n_wrong == 0);
    assert_int_equal (fab_diagnostics_count (fixture.diagnostics), rows[i].n_wrong);
    assert_fallbacks (&fixture.all);
  }
}

/* The required key of a table that is not there is missing at the file, or at the mapping that lacks it. */
static void
missing_keys_are_named_where_they_are_missed (G_GNUC_UNUSED void **state)
{
  static const char *const rows[][2] = {
    { "count: 1\n", "t:1:1: 'part' lacks the key 'delay' (time): A delay.\n" },
    { "part:\n", "t:1:6: 'part' lacks the key 'delay' (time): A delay.\n" },
    { "part: {}\n", "t:1:7: 'part' lacks the key 'delay' (time): A delay.\n" },
    { "part: {delay: }\n", "t:1:15: 'part' lacks the key 'delay' (time): A delay.\n" },
    { "part: []\n", "t:1:7: 'part' must be a mapping with keys of its own, not a list\n" },
    { "part: 1\n", "t:1:7: 'part' must be a mapping with keys of its own, not a value\n" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autoptr (FabDiagnostics) diagnostics = fab_diagnostics_new ();
    g_autoptr (FabSchemaReader) reader = fab_schema_reader_new (&registry, diagnostics);
    g_autoptr (FabYamlDoc) doc = fab_yaml_doc_parse ("t", rows[i][0], strlen (rows[i][0]), diagnostics);
    g_autofree char *printed = NULL;
    All all = { 0 };

    assert_false (fab_schema_read (reader, fab_yaml_doc_root (doc), all_params, &all));
    printed = fab_diagnostics_format (diagnostics);
    if (!g_str_has_prefix (printed, rows[i][1]))
      fail_msg ("%s: %s", rows[i][0], printed);
    assert_int_equal (fab_diagnostics_count (diagnostics), 1);
  }
}

/* --- writing --- */

static const char given[] =
    "time: 1.5us\nlong: 2us\nsize: 128B\nlength: 30cm\ncount: 7\nleast: 2\nrate: 400Gb/s\nflops: 1PFLOP\n"
    "speed: 2TFLOP/s\nfraction: 0.5\nfactor: 0.25\nlimited: 10%\nperiod: 30min\npower: 500W\nflag: "
    "on\ntext: 'on'\n"
    "file: g/h\ntexts: [b, c]\nchoice: red\nanswer: off\n"
    "parts: [{delay: 1ns}, {name: x, delay: 2ns}]\nmodel: bare\nhuge: 1\n";

static const char written[] =
    "time: 1.5us\nlong: 2us\nsize: 128B\nlength: 30cm\ncount: 7\nleast: 2\nrate: 50GB/s\nflops: 1PFLOP\n"
    "speed: 2TFLOP/s\nfraction: 0.5\nfactor: 0.25\nlimited: 0.1\nperiod: 1800s\npower: 500W\nflag: true\n"
    "text: \"on\"\nfile: /f/g/h\ntexts: b,c\nchoice: red\nanswer: no\npart:\n  delay: 5ns\n"
    "parts:\n  - delay: 1ns\n  - name: x\n    delay: 2ns\nmodel: bare\nhuge: 1\n";

static void
a_struct_is_written_and_read_back (G_GNUC_UNUSED void **state)
{
  g_auto (Fixture) fixture = { 0 }, again = { 0 };

  assert_true (read_all (&fixture, given));
  g_autofree char *text = fab_schema_write (all_params, &fixture.all);
  assert_string_equal (text, written);
  assert_true (read_all (&again, strstr (text, "parts:")));
}

/* A comment says what a 0 stands for, up to the full stop or the semicolon, where the help of its row does. */
static void
zeros_are_explained (G_GNUC_UNUSED void **state)
{
  g_auto (Fixture) fixture = { 0 };
  const char *const lines[] = { "time: 0s # none at all\n", "count: 0\n", "flops: 0FLOP # none\n",
                                "limited: 0 # none\n",      "least: 3\n", "factor: -1\n" };

  assert_true (read_all (&fixture, ""));
  g_autofree char *text = fab_schema_explain (all_params, &fixture.all),
                  *plain = fab_schema_write (all_params, &fixture.all);
  for (guint i = 0; i < G_N_ELEMENTS (lines); i++)
    if (strstr (text, lines[i]) == NULL)
      fail_msg ("'%s' is not in %s", lines[i], text);
  assert_null (strchr (plain, '#'));
}

/* --- one key --- */

static void
assert_got (const All *all, const char *key, const char *expected)
{
  g_autoptr (FabValue) value = NULL;
  g_autoptr (GError) error = NULL;
  g_autofree char *text = NULL;

  if (fab_schema_get (all_params, all, key, &value, &error))
    text = value != NULL ? fab_value_write (value) : g_strdup ("nothing");
  if (g_strcmp0 (text != NULL ? text : error->message, expected) != 0)
    fail_msg ("%s: %s, and not %s", key, text != NULL ? text : error->message, expected);
}

#define ONE "- {delay: 1ns}\n"

static void
keys_are_got (G_GNUC_UNUSED void **state)
{
  static const char *const rows[][2] = {
    { "time", "1.5us" },
    { "length", "30cm" },
    { "rate", "400Gb/s" },
    { "flops", "1PFLOP" },
    { "period", "1800s" },
    { "power", "500W" },
    { "flag", "true" },
    { "text", "on" },
    { "choice", "red" },
    { "part", "{delay: 5ns}" },
    { "part.name", "nothing" },
    { "part.delay", "5ns" },
    { "parts", "[{delay: 1ns}, {name: x, delay: 2ns}]" },
    { "parts.0", "{delay: 1ns}" },
    { "parts.x.delay", "2ns" },
    { "parts.1.delay", "2ns" },
    { "parts.2", "'2' is not an item of 'parts', which has 2" },
    { "parts.y", "'y' is not an item of 'parts', which has 2" },
    { "parts.0.delai", "unknown key 'delai'; nearest is 'delay'; known here: name, delay" },
    { "model", "bare" },
    { "model.kind", "bare" },
    { "model.kind.x", "unknown key 'kind'; nearest is 'kind'; known here: kind" },
    { "model.width", "unknown key 'width'; known here: kind" },
    { "part.kind", "unknown key 'kind'; known here: name, delay" },
    { "time.x", "unknown key 'x': 'time' has no keys" },
    { "", "a key is missing" },
  };
  g_auto (Fixture) fixture = { 0 }, other = { 0 };

  assert_true (read_all (&fixture, given));
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    assert_got (&fixture.all, rows[i][0], rows[i][1]);
  assert_true (read_all (&other, "model: {parts: [{delay: 9ns}]}\npower: 40%\nparts:\n" ONE ONE ONE ONE ONE
                                     ONE ONE ONE ONE ONE "- {delay: 2ns}\n" ONE));
  assert_got (&other.all, "parts.10.delay", "2ns");
  assert_got (&other.all, "period", "10");
  assert_got (&other.all, "power", "0.4");
  assert_got (&other.all, "model", "{kind: wide, width: 2, parts: [{delay: 9ns}]}");
  assert_got (&other.all, "model.parts.0.delay", "9ns");
  assert_got (&other.all, "model.kin",
              "unknown key 'kin'; nearest is 'kind'; known here: width, parts, kind");
  other.all.model = (FabModelChoice){ NULL, NULL };
  assert_got (&other.all, "model", "nothing");
  assert_got (&other.all, "model.kind", "nothing");
}

/* What came from fallbacks was not written, nor an empty table, nor what is asked not to be told. */
static void
what_was_written_is_told (G_GNUC_UNUSED void **state)
{
  static const char *const but[] = { "size", "parts", NULL };
  g_auto (Fixture) fixture = { 0 }, least = { 0 };

  assert_true (read_all (&fixture, "size: 64B\ncount: 0\nparts: [{delay: 1ns}]\nmodel: {width: 2}\n"));
  g_autoptr (FabValue) all = fab_schema_written (fixture.reader, all_params, &fixture.all, NULL),
                       some = fab_schema_written (fixture.reader, all_params, &fixture.all, but);
  g_autofree char *text = fab_value_write (all), *rest = fab_value_write (some);
  assert_string_equal (text, "{size: 64B, count: 0, part: {delay: 5ns}, parts: [{delay: 1ns}], "
                             "model: {kind: wide, width: 2, parts: []}}");
  assert_string_equal (rest, "{count: 0, part: {delay: 5ns}, model: {kind: wide, width: 2, parts: []}}");
  assert_true (read_all (&least, "parts: []\ntext: ''\n"));
  g_autoptr (FabValue) few = fab_schema_written (least.reader, all_params, &least.all, NULL);
  g_autofree char *little = fab_value_write (few);
  assert_string_equal (little, "{part: {delay: 5ns}}");
}

/* --- equality --- */

/* Each row in its turn has another value: two structs are equal but for that. */
static void
every_row_counts (G_GNUC_UNUSED void **state)
{
  static const char *const others[] = {
    "time: 1ps",
    "long: 3us",
    "size: 65B",
    "length: 1mm",
    "count: 1",
    "least: 4",
    "rate: 1B/s",
    "flops: 1FLOP",
    "speed: 1FLOP/s",
    "fraction: 1",
    "factor: 0",
    "limited: 1%",
    "period: 11",
    "period: 10ps",
    "period: 20ps",
    "power: 71%",
    "power: 1W",
    "flag: true",
    "text: x",
    "file: x",
    "texts: x",
    "choice: red",
    "answer: no",
    "parts: [{delay: 1ns}]",
    "parts: [{delay: 2ns}]",
    "parts: [{delay: 1ns}, {delay: 2ns}]",
    "parts: [{delay: 1ns}, {delay: 1ns}]",
    "parts: [{delay: 1ns, name: x}]",
    "model: bare",
    "model: {width: 3}",
    "model: {kind: exact, delay: 1ns}",
    "model: {kind: exact, delay: 2ns}",
    "model: {parts: [{delay: 1ns}]}",
    "",
  };
  Fixture all[G_N_ELEMENTS (others)] = { 0 };

  for (guint i = 0; i < G_N_ELEMENTS (others); i++)
    assert_true (read_all (&all[i], others[i]));
  for (guint i = 0; i < G_N_ELEMENTS (others); i++)
    for (guint k = 0; k < G_N_ELEMENTS (others); k++)
      if (fab_schema_equal (all_params, &all[i].all, &all[k].all) != (i == k))
        fail_msg ("'%s' and '%s'", others[i], others[k]);
  for (guint i = 0; i < G_N_ELEMENTS (others); i++)
    fixture_clear (&all[i]);
}

/* --- a key of a tree --- */

/* Only what stands at the key is read: mistakes elsewhere are not told. */
static void
a_key_of_a_tree_is_checked_alone (G_GNUC_UNUSED void **state)
{
  static const char tree[] =
      "size: 1B\ntext: []\npart: {delay: 1, name: []}\ncount: 3\n"
      "parts: [{delay: 1ns, name: a}, {name: b, delay: 5}]\nmodel: {width: 0, parts: [{}]}\n"
      "time:\n";
  static const char *const rows[][2] = {
    { "count", "" },
    { "time", "" },
    { "flag", "" },
    { "size", "'size' is 1B: the lower limit is 64B" },
    { "text", "'text' must be a text, not a list" },
    { "part.delay", "'delay': '1' has no unit; write for example 600ns" },
    { "part.name", "'name' must be a text, not a list" },
    { "part.nam", "unknown key 'nam'; nearest is 'name'" },
    { "parts.0", "" },
    { "parts.a", "" },
    { "parts.1", "'delay': '5' has no unit; write for example 600ns" },
    { "parts.+", "'delay': '5' has no unit; write for example 600ns" },
    { "parts.b.delay", "'delay': '5' has no unit; write for example 600ns" },
    { "parts.b.name", "" },
    { "parts.2", "" },
    { "model.parts.+", "'parts' lacks the key 'delay' (time): A delay." },
    { "parts.2.delay", "" },
    { "parts.a.x", "unknown key 'x'; known here: name, delay" },
    { "model.kind", "" },
    { "model.width", "'width' is 0: the lower limit is 1" },
    { "model.parts.0", "'parts' lacks the key 'delay' (time): A delay." },
    { "model.depth", "unknown key 'depth'; known here: width, parts, kind" },
    { "count.x", "" },
    { "countt", "unknown key 'countt'; nearest is 'count'" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autoptr (FabDiagnostics) diagnostics = fab_diagnostics_new ();
    g_autoptr (FabSchemaReader) reader = fab_schema_reader_new (&registry, diagnostics);
    g_autoptr (FabYamlDoc) doc = fab_yaml_doc_parse ("t", tree, strlen (tree), diagnostics);
    gboolean is_good = fab_schema_check_key (reader, all_params, fab_yaml_doc_root (doc), rows[i][0]);
    g_autofree char *printed = fab_diagnostics_format (diagnostics);

    assert_int_equal (is_good, fab_diagnostics_count (diagnostics) == 0);
    if (is_good ? rows[i][1][0] != '\0' : strstr (printed, rows[i][1]) == NULL || rows[i][1][0] == '\0')
      fail_msg ("%s: %s, and not %s", rows[i][0], printed, rows[i][1]);
  }
}

/* --- JSON Schema --- */

/* The members of an object, without blanks, with N for any number and ' for ". (transfer full) */
static char *
compact (JsonObject *object, const char *name)
{
  JsonNode *node = json_object_get_member (object, name);
  g_autofree char *text = node != NULL ? json_to_string (node, FALSE) : g_strdup ("");
  g_autoptr (GString) out = g_string_new (text);

  g_string_replace (out, "([0-9]+(\\\\.[0-9]+)?|\\\\.[0-9]+)([eE][+-]?[0-9]+)? *", "N", 0);
  g_string_replace (out, "\"", "'", 0);
  return g_strdup (out->str);
}

static const char *const schemas[][3] = {
  { "properties", "time",
    "{'description':'A time; 0: none at all. More.','default':'0ns',"
    "'pattern':'^N(ps|ns|us|ms|s|min|h|d)$','type':'string'}" },
  { "properties", "long",
    "{'description':'A long time.','default':'1us','pattern':'^N(ps|ns|us|ms|s|min|h|d)$',"
    "'type':'string'}" },
  { "properties", "size",
    "{'description':'A size.','default':'4KiB',"
    "'pattern':'^N(B|kB|KB|MB|GB|TB|PB|KiB|MiB|GiB|TiB|PiB)$','type':'string'}" },
  { "properties", "length",
    "{'description':'A length.','default':'2m','pattern':'^N(m|mm|cm|km)$','type':'string'}" },
  { "properties", "count",
    "{'description':'0 is a number too.','default':0,'pattern':'^-?N()$','type':['integer',"
    "'string'],'minimum':0,'maximum':8}" },
  { "properties", "least",
    "{'description':'At least 2. 0: never.','default':3,'pattern':'^-?N()$','type':['integer',"
    "'string'],'minimum':2}" },
  { "properties", "rate",
    "{'description':'A rate.','default':'1GB/s',"
    "'pattern':'^N(B/s|kB/s|KB/s|MB/s|GB/s|TB/s|PB/s|b/s|kb/s|Mb/s|Gb/s|Tb/s|"
    "KiB/s|MiB/s|GiB/s|TiB/s|PiB/s)$','type':'string'}" },
  { "properties", "flops",
    "{'description':'Work. 0: none','default':'0FLOP','pattern':'^N(FLOP|GFLOP|TFLOP|PFLOP)$',"
    "'type':'string'}" },
  { "properties", "speed",
    "{'description':'Speed.','default':'1TFLOP/s',"
    "'pattern':'^N(FLOP/s|GFLOP/s|TFLOP/s|PFLOP/s)$','type':'string'}" },
  { "properties", "fraction",
    "{'description':'A share.','default':'25%','pattern':'^N(|%)$','type':['number','string'],"
    "'minimum':0,'maximum':1}" },
  { "properties", "factor",
    "{'description':'A factor. 0: none.','default':'-1','pattern':'^-?N(|%)$',"
    "'type':['number','string'],'minimum':-1,'maximum':1}" },
  { "properties", "limited",
    "{'description':'A share; 0: none; more.','default':'0','pattern':'^N(|%)$',"
    "'type':['number','string'],'minimum':0,'maximum':0.5}" },
  { "properties", "period",
    "{'description':'How often.','default':10,'anyOf':[{'pattern':'^-?N()$','type':['integer',"
    "'string'],'minimum':1,'maximum':100},{'pattern':'^N(ps|ns|us|ms|s|min|h|d)$','type':'string'}]}" },
  { "properties", "power",
    "{'description':'A cap.','default':'70%','anyOf':[{'pattern':'^N(|%)$','type':['number',"
    "'string'],'minimum':0,'maximum':1},{'type':'string','pattern':'^[1-9][0-9]* *W$'}]}" },
  { "properties", "flag",
    "{'description':'Yes or no.','default':false,'anyOf':[{'type':'boolean'},{'enum':['true',"
    "'false','yes','no','on','off']}]}" },
  { "properties", "text", "{'description':'A text.','type':['string','number']}" },
  { "properties", "file", "{'description':'A file.','type':['string','number']}" },
  { "properties", "texts",
    "{'description':'Texts.','default':'a','type':['string','array'],"
    "'items':{'type':['string','number']}}" },
  { "properties", "choice", "{'description':'A colour.','default':'green','enum':['red','green']}" },
  { "properties", "answer",
    "{'description':'An answer.','default':'auto','anyOf':[{'type':'boolean'},{'enum':['auto',"
    "'no','yes']}]}" },
  { "properties", "part",
    "{'description':'A part.','type':'object','additionalProperties':false,"
    "'properties':{'name':{'description':'Its name.','type':['string','number']},"
    "'delay':{'description':'A delay.','pattern':'^N(ps|ns|us|ms|s|min|h|d)$',"
    "'type':'string'}},'required':['delay']}" },
  { "properties", "parts",
    "{'description':'Parts.','type':'array','items':{'type':'object',"
    "'additionalProperties':false,'properties':{'name':{'description':'Its name.',"
    "'type':['string','number']},'delay':{'description':'A delay.',"
    "'pattern':'^N(ps|ns|us|ms|s|min|h|d)$','type':'string'}},'required':['delay']}}" },
  { "properties", "model",
    "{'description':'A model.','default':'wide','anyOf':[{'$ref':'#/$defs/route'},"
    "{'$ref':'#/$defs/route.wide'}]}" },
  { "properties", "huge",
    "{'description':'A number.','default':0,'pattern':'^-?N()$','type':['integer','string'],"
    "'minimum':-2000000000000000.0,'maximum':2000000000000000.0}" },
  { "$defs", "fabric", "{'oneOf':[{'enum':[]}]}" },
  { "$defs", "route",
    "{'oneOf':[{'enum':['wide','bare']},{'allOf':[{'$ref':'#/$defs/route.wide'}],"
    "'required':['kind']},{'allOf':[{'$ref':'#/$defs/route.bare'}],'required':['kind']},"
    "{'allOf':[{'$ref':'#/$defs/route.exact'}],'required':['kind']}]}" },
  { "$defs", "route.wide",
    "{'description':'Many lanes.','type':'object',"
    "'additionalProperties':false,"
    "'properties':{'kind':{'const':'wide'},"
    "'width':{'description':'Lanes.','default':2,'pattern':'^-?N()$',"
    "'type':['integer','string'],'minimum':1},"
    "'parts':{'description':'Its parts.','type':'array',"
    "'items':{'type':'object','additionalProperties':false,"
    "'properties':{'name':{'description':'Its name.','type':['string',"
    "'number']},'delay':{'description':'A delay.',"
    "'pattern':'^N(ps|ns|us|ms|s|min|h|d)$','type':'string'}},"
    "'required':['delay']}}},'required':[]}" },
  { "$defs", "route.bare",
    "{'description':'','type':'object','additionalProperties':false,"
    "'properties':{'kind':{'const':'bare'}},'required':[]}" },
  { "$defs", "route.exact",
    "{'description':'','type':'object','additionalProperties':false,"
    "'properties':{'kind':{'const':'exact'},'name':{'description':'Its name.',"
    "'type':['string','number']},'delay':{'description':'A delay.',"
    "'pattern':'^N(ps|ns|us|ms|s|min|h|d)$','type':'string'}},'required':['delay']}" },
};

static void
each_type_has_its_schema (G_GNUC_UNUSED void **state)
{
  g_autofree char *text = fab_schema_json (all_params, &registry, "https://example.org/all.json", "All");
  g_autoptr (JsonNode) root = json_from_string (text, NULL);
  JsonObject *object = json_node_get_object (root);
  g_autofree char *required = compact (object, "required");

  for (guint i = 0; i < G_N_ELEMENTS (schemas); i++) {
    g_autofree char *found = compact (json_object_get_object_member (object, schemas[i][0]), schemas[i][1]);

    assert_string_equal (found, schemas[i][2]);
  }
  assert_string_equal (required, "['part']");
  assert_string_equal (json_object_get_string_member (object, "$id"), "https://example.org/all.json");
  assert_string_equal (json_object_get_string_member (object, "title"), "All");
  assert_string_equal (json_object_get_string_member (object, "type"), "object");
  assert_int_equal (json_object_get_size (json_object_get_object_member (object, "properties")),
                    G_N_ELEMENTS (all_params) - 1);
  assert_int_equal (json_object_get_size (json_object_get_object_member (object, "$defs")),
                    FAB_N_MODEL_KINDS + 3);
}

/* What a file lacks, one that it includes may hold. */
static void
a_file_that_includes_others_needs_nothing (G_GNUC_UNUSED void **state)
{
  static const FabParam params[] = {
    { .key = "include", .type = FAB_PARAM_TEXT, .fallback = "", .refers = FAB_REFERS_FILES },
    { .key = "name", .type = FAB_PARAM_TEXT },
    { .key = NULL },
  };
  g_autofree char *text = fab_schema_json (params, &registry, "", "");
  g_autoptr (JsonNode) root = json_from_string (text, NULL);
  JsonObject *object = json_node_get_object (root);
  g_autofree char *needed = compact (object, "anyOf"), *properties = compact (object, "properties");

  assert_false (json_object_has_member (object, "required"));
  assert_string_equal (needed, "[{'required':['name']},{'required':['include']}]");
  assert_string_equal (properties, "{'include':{'type':['string','array'],'items':{'type':'string'}},"
                                   "'name':{'type':['string','number']}}");
}

/* Of a model that is unknown no key can be checked: that is told. */
static void
a_key_of_an_unknown_model_is_told (G_GNUC_UNUSED void **state)
{
  static const char tree[] = "model: zzzz\n";
  g_autoptr (FabDiagnostics) diagnostics = fab_diagnostics_new ();
  g_autoptr (FabSchemaReader) reader = fab_schema_reader_new (&registry, diagnostics);
  g_autoptr (FabYamlDoc) doc = fab_yaml_doc_parse ("t", tree, strlen (tree), diagnostics);

  assert_false (fab_schema_check_key (reader, all_params, fab_yaml_doc_root (doc), "model.width"));
  assert_false (fab_schema_check_key (reader, all_params, fab_yaml_doc_root (doc), "model.kind"));
  assert_int_equal (fab_diagnostics_count (diagnostics), 1); /* once */
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (limits_are_inclusive),
    cmocka_unit_test (fallbacks_replace_what_is_wrong),
    cmocka_unit_test (missing_keys_are_named_where_they_are_missed),
    cmocka_unit_test (a_struct_is_written_and_read_back),
    cmocka_unit_test (zeros_are_explained),
    cmocka_unit_test (keys_are_got),
    cmocka_unit_test (what_was_written_is_told),
    cmocka_unit_test (every_row_counts),
    cmocka_unit_test (each_type_has_its_schema),
    cmocka_unit_test (a_file_that_includes_others_needs_nothing),
    cmocka_unit_test (a_key_of_a_tree_is_checked_alone),
    cmocka_unit_test (a_key_of_an_unknown_model_is_told),
  };

  return cmocka_run_group_tests_name ("schema_types", tests, NULL, NULL);
}
