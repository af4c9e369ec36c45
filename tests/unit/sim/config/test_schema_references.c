/* SPDX-License-Identifier: Apache-2.0 */
/* test_schema_references.c - names that a struct says and nothing has: in tables, lists and models, what is near them,
 * and where a default is of another build. Typed values beside the texts of the same meaning.
 */
#include "tests/support/test.h"

#include "sim/config/schema.h"

typedef struct {
  const char *link, *algorithm, *model, *file;
} Names;

#define NAME(key_, refers_)                                                                        \
  {                                                                                                \
    .key = #key_, .type = FAB_PARAM_TEXT, .offset = G_STRUCT_OFFSET (Names, key_), .fallback = "", \
    .refers = refers_                                                                              \
  }

static const FabParam names_params[] = {
  NAME (link, FAB_REFERS_LINK),
  NAME (algorithm, FAB_REFERS_ALGORITHM),
  NAME (model, FAB_REFERS_MODEL),
  NAME (file, FAB_REFERS_FILE),
  { .key = NULL },
};

typedef struct {
  FabPeriod period;
  FabPower power;
  double factor, fraction, flops;
  gint64 count;
  FabTimePs time_ps;
  gboolean flag;
  int choice, answer;
  const char *text;
  Names inner;
  FabParamList list;
  FabModelChoice chosen;
} Struct;

static const char *const colours[] = { "red", "green", NULL };
static const char *const answers[] = { "auto", "no", "yes", NULL };

#define ROW(key_, type_) .key = #key_, .type = FAB_PARAM_##type_, .offset = G_STRUCT_OFFSET (Struct, key_)

static const FabParam params[] = {
  { ROW (period, PERIOD), .fallback = "10", .min = 1, .max = 100 },
  { ROW (power, POWER), .fallback = "70%" },
  { ROW (factor, FACTOR), .fallback = "1", .max = 5 },
  { ROW (fraction, FRACTION), .fallback = "1" },
  { ROW (flops, FLOPS), .fallback = "1FLOP" },
  { ROW (count, COUNT), .fallback = "1" },
  { .key = "time", .type = FAB_PARAM_TIME, .offset = G_STRUCT_OFFSET (Struct, time_ps), .fallback = "1s" },
  { ROW (flag, BOOL), .fallback = "no" },
  { ROW (choice, CHOICE), .fallback = "red", .choices = colours },
  { ROW (answer, CHOICE), .fallback = "auto", .choices = answers },
  { ROW (text, TEXT), .fallback = "" },
  { ROW (inner, TABLE), .table = names_params, .table_size = sizeof (Names) },
  { ROW (list, LIST), .table = names_params, .table_size = sizeof (Names) },
  { ROW (chosen, MODEL), .fallback = "ring", .models = FAB_MODEL_ALGORITHM },
  { .key = NULL },
};

static const FabModelInfo ring = { .name = "ring", .params = names_params, .params_size = sizeof (Names) };
static const FabModelInfo tree = { .name = "tree" };
static const FabModelInfo *const algorithms[] = { &ring, &tree, NULL };
static const FabRegistry registry = { .lists = { [FAB_MODEL_ALGORITHM] = algorithms } };

typedef struct {
  FabDiagnostics *diagnostics;
  FabYamlDoc *doc;
  FabSchemaReader *reader;
  Struct content;
} Fixture;

static void
fixture_clear (Fixture *self)
{
  fab_schema_reader_free (self->reader);
  fab_yaml_doc_free (self->doc);
  fab_diagnostics_free (self->diagnostics);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Fixture, fixture_clear)

static void
fixture_init (Fixture *self, const FabRegistry *models, const char *yaml)
{
  self->diagnostics = fab_diagnostics_new ();
  self->doc = fab_yaml_doc_parse ("t", yaml, strlen (yaml), self->diagnostics);
  self->reader = fab_schema_reader_new (models, self->diagnostics);
}

static gboolean
fixture_read (Fixture *self)
{
  return fab_schema_read (self->reader, fab_yaml_doc_root (self->doc), params, &self->content);
}

/* --- references --- */

static const char **
names_of (gpointer user, FabRefers refers)
{
  guint *n_asked = user;
  const char **names = g_new0 (const char *, 3);

  n_asked[refers]++;
  names[0] = refers == FAB_REFERS_LINK ? "copper" : "gpt2";
  names[1] = "other";
  return names;
}

static char *
said_of (G_GNUC_UNUSED gpointer user, FabRefers refers, const char *word)
{
  return strcmp (word, "connectx-7") == 0 ? g_strdup_printf ("%d, x", refers) : NULL;
}

/* Each wrong name is told once, at its place, in the order of the file; known ones, none, and files are not. */
static void
unknown_names_are_told_where_they_stand (G_GNUC_UNUSED void **state)
{
  static const char yaml[] = "inner: {link: coper, algorithm: rin, model: gpt2, file: nowhere}\n"
                             "list:\n"
                             "- {link: zzzzzz}\n"
                             "- {link: copper, algorithm: tree}\n"
                             "- {algorithm: connectx-7}\n"
                             "chosen: {kind: ring, model: gpt}\n";
  static const char *const said[] = {
    "t:1:15: unknown link 'coper'; nearest is 'copper'",
    "t:1:33: unknown algorithm 'rin'; nearest is 'ring'",
    "t:3:10: unknown link 'zzzzzz'; 'fabricast describe links' lists them",
    "t:5:15: unknown algorithm 'connectx-7'; names for it are 9, x; 'fabricast describe algorithm' lists them",
    "t:6:29: unknown model 'gpt'; nearest is 'gpt2'",
  };
  g_auto (Fixture) fixture = { 0 };
  guint n_asked[FAB_REFERS_FILES + 1] = { 0 };

  fixture_init (&fixture, &registry, yaml);
  assert_true (fixture_read (&fixture));
  fab_schema_reader_set_said (fixture.reader, said_of);
  fab_schema_check_references (fixture.reader, params, &fixture.content, names_of, n_asked);
  g_autofree char *printed = fab_diagnostics_format (fixture.diagnostics);
  g_autoptr (GArray) told = fab_diagnostics_parse (printed);
  assert_int_equal (told->len, G_N_ELEMENTS (said));
  for (guint i = 0; i < told->len; i++) {
    const FabDiagnostic *one = &g_array_index (told, FabDiagnostic, i);
    g_autofree char *head = g_strdup_printf ("t:%u:%u: %s", one->line, one->column, one->message);

    assert_string_equal (head, said[i]);
  }
  for (guint i = 0; i < G_N_ELEMENTS (n_asked); i++) /* of algorithms the registry tells */
    assert_int_equal (n_asked[i], i == FAB_REFERS_LINK || i == FAB_REFERS_MODEL);
}

/* Where models may be files, why a file could not be read has been told already. */
static void
a_model_may_be_a_file (G_GNUC_UNUSED void **state)
{
  static const char yaml[] = "inner: {model: a.json, link: a.json}\n";

  for (guint may_be_file = 0; may_be_file <= 1; may_be_file++) {
    FabRegistry models = registry;
    g_auto (Fixture) fixture = { 0 };
    guint n_asked[FAB_REFERS_FILES + 1] = { 0 };

    models.model_file = may_be_file ? (gpointer) &models : NULL; /* which nobody looks into */
    fixture_init (&fixture, &models, yaml);
    assert_true (fixture_read (&fixture));
    fab_schema_check_references (fixture.reader, params, &fixture.content, names_of, n_asked);
    assert_int_equal (fab_diagnostics_count (fixture.diagnostics), 2 - may_be_file);
  }
}

/* A default that the registry lacks is told, and the model is none. */
static void
a_build_may_lack_a_default (G_GNUC_UNUSED void **state)
{
  static const FabModelInfo *const few[] = { &tree, NULL };
  static const FabRegistry models = { .lists = { [FAB_MODEL_ALGORITHM] = few } };
  g_auto (Fixture) fixture = { 0 };

  fixture_init (&fixture, &models, "count: 2\n");
  assert_false (fixture_read (&fixture));
  g_autofree char *printed = fab_diagnostics_format (fixture.diagnostics);
  assert_string_equal (printed, "this build has no algorithm 'ring', the default of 'chosen'");
  assert_null (fixture.content.chosen.info);
  assert_null (fixture.content.chosen.params);
}

/* --- typed values --- */

/* Each value is taken whole, or the field has its fallback and the message says why. */
static void
typed_values_are_taken_or_refused (G_GNUC_UNUSED void **state)
{
  const struct {
    const char *key;
    FabValue *value;
    const char *said; /* NULL: it is taken */
  } rows[] = {
    { "period", fab_value_count (7), NULL },
    { "period", fab_value_whole (FAB_UNIT_TIME, 5), NULL },
    { "period", fab_value_count (0), "'period' is 0: the lower limit is 1" },
    { "period", fab_value_count (101), "'period' is 101: the upper limit is 100" },
    { "period", fab_value_whole (FAB_UNIT_TIME, 0), "'period' is 0s: the lower limit is 1ps" },
    { "period", fab_value_whole (FAB_UNIT_BYTES, 5), "'period' must be a count, not a size" },
    { "power", fab_value_text ("300W"), NULL },
    { "power", fab_value_real (FAB_UNIT_FRACTION, 0.5), NULL },
    { "power", fab_value_real (FAB_UNIT_FRACTION, 0),
      "'power' is '0'; write whole watts such as 500W, or a share such as 70%" },
    { "power", fab_value_text ("0W"),
      "'power' is '0W'; write whole watts such as 500W, or a share such as 70%" },
    { "factor", fab_value_real (FAB_UNIT_FACTOR, 5), NULL },
    { "factor", fab_value_real (FAB_UNIT_FACTOR, 5.5), "'factor' is 5.5: the upper limit is 5" },
    { "factor", fab_value_real (FAB_UNIT_FRACTION, 0.5), "'factor' must be a number, not a fraction" },
    { "factor", fab_value_text ("5"), "'factor' must be a number, not a text" },
    { "factor", fab_value_flag (TRUE), "'factor' must be a number, not a yes or no" },
    { "factor", fab_value_real (FAB_UNIT_FACTOR, INFINITY), "'factor' is not a number" },
    { "fraction", fab_value_real (FAB_UNIT_FRACTION, 1), NULL },
    { "fraction", fab_value_real (FAB_UNIT_FRACTION, 1.25), "'fraction' is 1.25: the upper limit is 100%" },
    { "flops", fab_value_real (FAB_UNIT_FLOPS, 2), NULL },
    { "flops", fab_value_count (2), "'flops' must be a FLOPs, not a count" },
    { "flops", fab_value_real (FAB_UNIT_FLOPS, -1), "'flops' is -1FLOP: the lower limit is 0FLOP" },
    { "count", fab_value_count (3), NULL },
    { "count", fab_value_real (FAB_UNIT_FACTOR, 3), "'count' must be a count, not a number" },
    { "time", fab_value_whole (FAB_UNIT_TIME, 3), NULL },
    { "time", fab_value_count (3), "'time' must be a time, not a count" },
    { "flag", fab_value_flag (TRUE), NULL },
    { "flag", fab_value_text ("yes"), "'flag' must be a yes or no, not a text" },
    { "choice", fab_value_text ("green"), NULL },
    { "choice", fab_value_flag (TRUE), "'choice' must be a choice, not a yes or no" },
    { "choice", fab_value_text ("x"), "'choice' cannot be 'x'; choose one of red, green" },
    { "answer", fab_value_text ("yes"), NULL },
    { "answer", fab_value_count (1), "'answer' must be a choice, not a count" },
    { "text", fab_value_text ("it's"), NULL },
    { "text", fab_value_flag (FALSE), "'text' must be a text, not a yes or no" },
    { "chosen", fab_value_text ("tree"), NULL },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_auto (Fixture) fixture = { 0 };
    g_autoptr (FabValue) given = rows[i].value, got = NULL;
    g_autofree char *printed = NULL, *said = g_strdup_printf (": %s\n", rows[i].said);
    gboolean is_taken;

    fixture_init (&fixture, &registry, "count: 1\n");
    assert_true (fab_yaml_doc_put (fixture.doc, "o", rows[i].key, given, fixture.diagnostics));
    is_taken = fixture_read (&fixture);
    printed = fab_diagnostics_format (fixture.diagnostics);
    assert_true (fab_schema_get (params, &fixture.content, rows[i].key, &got, NULL));
    if (is_taken != (rows[i].said == NULL) || (!is_taken && strstr (printed, said) == NULL))
      fail_msg ("%s: %s, and not %s", rows[i].key, printed, rows[i].said);
    assert_int_equal (fab_value_equal (given, got), is_taken);
  }
}

/* Yes and no where they are choices. */
static void
flags_are_answers (G_GNUC_UNUSED void **state)
{
  for (gboolean flag = FALSE; flag <= TRUE; flag++) {
    g_auto (Fixture) fixture = { 0 };
    g_autoptr (FabValue) value = fab_value_flag (flag);

    fixture_init (&fixture, &registry, "count: 1\n");
    assert_true (fab_yaml_doc_put (fixture.doc, "o", "answer", value, fixture.diagnostics));
    assert_true (fixture_read (&fixture));
    assert_string_equal (answers[fixture.content.answer], flag ? "yes" : "no");
  }
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (unknown_names_are_told_where_they_stand),
    cmocka_unit_test (a_model_may_be_a_file),
    cmocka_unit_test (a_build_may_lack_a_default),
    cmocka_unit_test (typed_values_are_taken_or_refused),
    cmocka_unit_test (flags_are_answers),
  };

  return cmocka_run_group_tests_name ("schema_references", tests, NULL, NULL);
}
