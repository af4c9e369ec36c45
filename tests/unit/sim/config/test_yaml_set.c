/* SPDX-License-Identifier: Apache-2.0 */
/* test_yaml_set.c - --set: where a value lands, and how a bad assignment is shown. */
#include "sim/config/yaml_doc.h"

#include "tests/support/test.h"

static FabYamlDoc *
parse (const char *text, FabDiagnostics *diagnostics)
{
  return fab_yaml_doc_parse ("t.yaml", text, strlen (text), diagnostics);
}

static void
assert_mark (const FabYamlNode *node, guint line, guint column, guint length)
{
  assert_int_equal (node->mark.line, line);
  assert_int_equal (node->mark.column, column);
  assert_int_equal (node->mark.length, length);
}

static void
test_set (G_GNUC_UNUSED void **state)
{
  g_autoptr (FabDiagnostics) diagnostics = fab_diagnostics_new ();
  g_autoptr (FabYamlDoc) doc = parse ("fidelity: fluid\nlinks: [{latency: 1ns}]\nempty:\n", diagnostics);
  const FabYamlNode *root = fab_yaml_doc_root (doc), *fidelity, *nodes;

  assert_true (fab_yaml_doc_set (doc, "--set", "fidelity.launch=1us", diagnostics));
  assert_true (fab_yaml_doc_set (doc, "--set", "links.0.latency=400Gb/s", diagnostics));
  assert_true (fab_yaml_doc_set (doc, "--set", "cluster.fabric={kind: switch, n: [1, 2]}", diagnostics));
  assert_true (fab_yaml_doc_set (doc, "--set", "cluster.nodes=8", diagnostics));
  assert_true (fab_yaml_doc_set (doc, "--set", "empty.text=\"a=b\"", diagnostics));
  assert_true (fab_yaml_doc_set (doc, "--set", "gone=", diagnostics));
  fidelity = fab_yaml_get (root, "fidelity");
  assert_string_equal (fab_yaml_get (fidelity, "kind")->text, "fluid");
  assert_mark (fidelity, 0, 10, 6); /* the key for which it became a mapping */
  assert_string_equal (fab_yaml_get (fidelity, "launch")->text, "1us");
  assert_string_equal (fab_yaml_get (fab_yaml_get (root, "links")->values[0], "latency")->text, "400Gb/s");
  assert_int_equal (fab_yaml_get (fab_yaml_get (fab_yaml_get (root, "cluster"), "fabric"), "n")->n, 2);
  assert_string_equal (fab_yaml_get (fab_yaml_get (root, "empty"), "text")->text, "a=b");
  assert_null (fab_yaml_get (root, "gone")->text);
  nodes = fab_yaml_get (fab_yaml_get (root, "cluster"), "nodes");
  assert_string_equal (nodes->mark.file, "--set");
  assert_mark (nodes, 0, 15, 1);
  assert_int_equal (fab_diagnostics_count (diagnostics), 0);
}

/* Behind what is there; in a list that is not there yet, or is nothing. */
static void
test_append (G_GNUC_UNUSED void **state)
{
  g_autoptr (FabDiagnostics) diagnostics = fab_diagnostics_new ();
  g_autoptr (FabYamlDoc) doc = parse ("faults: [{what: nic}]\nnothing:\n", diagnostics);
  const FabYamlNode *root = fab_yaml_doc_root (doc);

  assert_true (fab_yaml_doc_set (doc, "--set", "faults.+={what: link}", diagnostics));
  assert_true (fab_yaml_doc_set (doc, "--set", "faults.+.what=rail", diagnostics));
  assert_true (fab_yaml_doc_set (doc, "--set", "job.stragglers.+=7", diagnostics));
  assert_true (fab_yaml_doc_set (doc, "--set", "nothing.+=a", diagnostics));
  assert_true (fab_yaml_doc_set (doc, "--set", "nothing.+=b", diagnostics));
  const FabYamlNode *faults = fab_yaml_get (root, "faults"), *nothing = fab_yaml_get (root, "nothing");
  assert_int_equal (faults->n, 3);
  assert_string_equal (fab_yaml_get (faults->values[1], "what")->text, "link");
  assert_string_equal (fab_yaml_get (faults->values[2], "what")->text, "rail");
  assert_string_equal (fab_yaml_get (fab_yaml_get (root, "job"), "stragglers")->values[0]->text, "7");
  assert_int_equal (nothing->n, 2);
  assert_string_equal (nothing->values[1]->text, "b");
  assert_int_equal (fab_diagnostics_count (diagnostics), 0);
}

static void
assert_bad_set (const char *assignment, const char *expected)
{
  g_autoptr (FabDiagnostics) diagnostics = fab_diagnostics_new ();
  g_autoptr (FabYamlDoc) doc = parse ("list: [1, 2]\nnone: []\n", diagnostics);
  g_autofree char *printed = NULL;

  assert_false (fab_yaml_doc_set (doc, "--set", assignment, diagnostics));
  printed = fab_diagnostics_format (diagnostics);
  assert_string_equal (printed, expected);
}

static void
test_bad_set (G_GNUC_UNUSED void **state)
{
  assert_bad_set ("nodes", "--set: nodes: an assignment has the form key=value, for example cluster.nodes=8\n"
                           "      | nodes\n"
                           "      | ^~~~~");
  assert_bad_set ("a..b=1", "--set: a..b=1: a key is missing here\n      | a..b=1\n      |   ^");
  assert_bad_set ("=1", "--set: =1: a key is missing here\n      | =1\n      | ^");
  assert_bad_set ("list.2=1", "--set: list.2=1: '2' is not an item of this list; its items are 0 to 1\n"
                              "      | list.2=1\n"
                              "      |      ^");
  assert_bad_set ("list.x=1", "--set: list.x=1: 'x' is not an item of this list; its items are 0 to 1\n"
                              "      | list.x=1\n"
                              "      |      ^");
  assert_bad_set ("a=[1", "--set: a=[1: the '[' that begins here is not closed: a ',' or ']' is missing\n"
                          "      | a=[1\n      |   ^");
  assert_bad_set ("list.0.+=1", "--set: list.0.+=1: '+' adds to a list, and this is not a list\n"
                                "      | list.0.+=1\n"
                                "      |        ^");
  assert_bad_set ("none.0=1", "--set: none.0=1: '0' does not exist: the list is empty\n"
                              "      | none.0=1\n"
                              "      |      ^");
  assert_bad_set ("a=1\nb=2", "--set: a=1: an assignment must be one line\n"
                              "      | a=1\n"
                              "      | ^");
}

/* The first of two keys has no line to point at. */
static void
test_set_twice (G_GNUC_UNUSED void **state)
{
  g_autoptr (FabDiagnostics) diagnostics = fab_diagnostics_new ();
  g_autoptr (FabYamlDoc) doc = parse ("a: 1\n", diagnostics);
  g_autofree char *printed = NULL;

  fab_yaml_doc_set (doc, "--set", "a={b: 1, b: 2}", diagnostics);
  printed = fab_diagnostics_format (diagnostics);
  assert_string_equal (printed, "--set: a={b: 1, b: 2}: key 'b' is written twice\n"
                                "      | a={b: 1, b: 2}\n"
                                "      |          ^");
}

/* --- what a document says --- */

static void
assert_text (const FabYamlDoc *doc, const char *expected)
{
  g_autofree char *text = fab_yaml_node_text (fab_yaml_doc_root (doc));

  assert_string_equal (text, expected);
}

/* Each assignment in turn, of which none fails. */
static void
set_all (FabYamlDoc *doc, const char *const *assignments)
{
  g_autoptr (FabDiagnostics) diagnostics = fab_diagnostics_new ();

  for (; *assignments != NULL; assignments++)
    if (!fab_yaml_doc_set (doc, "--set", *assignments, diagnostics))
      fail_msg ("%s: %s", *assignments, fab_diagnostics_format (diagnostics));
}

/* Items by number, in tens as well, and by name; the name of a model that is there keeps its keys, another one does
 * not; a value that was set before becomes the name of a model. */
static void
test_where_values_go (G_GNUC_UNUSED void **state)
{
  static const struct {
    const char *before, *sets[3], *after;
  } rows[] = {
    { "l: [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, x, b]\n",
      { "l.10=y", "l.09=z" },
      "l:\n  - 0\n  - 1\n  - 2\n  - 3\n  - 4\n  - 5\n  - 6\n  - 7\n  - 8\n  - z\n  - y\n  - b\n" },
    { "l: [{name: 1, v: a}, {name: w, v: b}, 7]\n",
      { "l.w.v=c", "l.1.v=d" },
      "l:\n  - name: 1\n    v: a\n  - name: w\n    v: d\n  - 7\n" },
    { "j: {kind: ddp, m: 1}\n", { "j=ddp" }, "j:\n  kind: ddp\n  m: 1\n" },
    { "j: {m: 1, kind: ddp}\n", { "j=fsdp" }, "j: fsdp\n" },
    { "j: {kind: ddp, m: 1}\n", { "j=" }, "j: ~\n" },
    { "j: {kind: ~, m: 1}\n", { "j=" }, "j: ~\n" },
    { "j: {kind: {m: 1}}\n", { "j={kind: ddp}" }, "j:\n  kind: ddp\n" },
    { "j: [ddp]\n", { "j=ddp" }, "j: ddp\n" },
    { "j: {kind: ddp, m: 1}\n", { "j=[ddp]" }, "j:\n  - ddp\n" },
    { "j: ddp\n", { "j=zero", "j.m=1" }, "j:\n  kind: zero\n  m: 1\n" },
    { "a: 1\n", { "b.c.d=1", "b.c.e={f: 2}" }, "a: 1\nb:\n  c:\n    d: 1\n    e:\n      f: 2\n" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autoptr (FabDiagnostics) diagnostics = fab_diagnostics_new ();
    g_autoptr (FabYamlDoc) doc = parse (rows[i].before, diagnostics);

    set_all (doc, rows[i].sets);
    assert_text (doc, rows[i].after);
  }
}

/* A copy and its document do not see each other's edits, whichever of the two is freed first. */
static void
test_copies (G_GNUC_UNUSED void **state)
{
  static const char *const first_sets[] = { "a.0.x=2", "b=ddp", NULL }, *const second_sets[] = { "b.y=3",
                                                                                                 NULL };
  g_autoptr (FabDiagnostics) diagnostics = fab_diagnostics_new ();
  FabYamlDoc *doc = parse ("a: [{x: 1, n: \"1\"}]\nb: {kind: ddp}\n", diagnostics);
  FabYamlDoc *first, *second;

  assert_false (fab_yaml_doc_is_copied (doc));
  first = fab_yaml_doc_copy (doc);
  assert_true (fab_yaml_doc_is_copied (doc));
  assert_false (fab_yaml_doc_is_copied (first));
  set_all (first, first_sets);
  second = fab_yaml_doc_copy (first);
  set_all (second, second_sets);
  assert_text (doc, "a:\n  - x: 1\n    n: \"1\"\nb:\n  kind: ddp\n");
  assert_text (first, "a:\n  - x: 2\n    n: \"1\"\nb:\n  kind: ddp\n");
  assert_text (second, "a:\n  - x: 2\n    n: \"1\"\nb:\n  kind: ddp\n  y: 3\n");
  fab_yaml_doc_free (first);
  assert_true (fab_yaml_doc_is_copied (doc));
  fab_yaml_doc_free (doc);
  assert_text (second, "a:\n  - x: 2\n    n: \"1\"\nb:\n  kind: ddp\n  y: 3\n");
  fab_yaml_doc_free (second);
}

/* --- typed values --- */

/* A value, and what a person would write in its place, to which the marks of its nodes point. */
static void
test_put (G_GNUC_UNUSED void **state)
{
  g_autoptr (FabDiagnostics) diagnostics = fab_diagnostics_new ();
  g_autoptr (FabYamlDoc) doc = parse ("a: {b: 1}\n", diagnostics);
  g_autoptr (FabValue) value = fab_value_mapping ();
  FabValue *list = fab_value_list ();
  const char *const texts[] = { "x",     "25MiB", "long", "[", "1",    "'it''s'",
                                "empty", "{",     "none", "[", "last", "p-q" };
  guint n = 0;

  fab_value_append (list, fab_value_count (1));
  fab_value_append (list, fab_value_text ("it's"));
  fab_value_put (value, "x", fab_value_whole (FAB_UNIT_BYTES, 25 << 20));
  fab_value_put (value, "long", list);
  fab_value_put (value, "empty", fab_value_mapping ());
  fab_value_put (value, "none", fab_value_list ());
  fab_value_put (value, "last", fab_value_written ("p-q"));
  assert_true (fab_yaml_doc_put (doc, "request", "a.b", value, diagnostics));

  const FabYamlNode *node = fab_yaml_get (fab_yaml_get (fab_yaml_doc_root (doc), "a"), "b");
  const FabYamlNode *items = fab_yaml_get (node, "long");
  const FabYamlNode *nodes[] = { node->keys[0],    node->values[0],  node->keys[1], items,
                                 items->values[0], items->values[1], node->keys[2], node->values[2],
                                 node->keys[3],    node->values[3],  node->keys[4], node->values[4] };

  assert_string_equal (node->mark.text, "a.b={x: 25MiB, long: [1, 'it''s'], empty: {}, none: [], last: p-q}");
  for (guint i = 0; i < G_N_ELEMENTS (nodes); i++) {
    g_autofree char *marked = g_strndup (nodes[i]->mark.text + nodes[i]->mark.column - 1,
                                         nodes[i]->mark.length);

    assert_string_equal (marked, texts[i]);
    assert_string_equal (nodes[i]->mark.file, "request");
    assert_int_equal (nodes[i]->mark.line, 0);
    n += nodes[i]->value != NULL;
  }
  assert_int_equal (n, 3); /* not what was written, which is read as text is */
  assert_true (items->values[1]->is_quoted);
  assert_false (items->values[0]->is_quoted);
  assert_false (node->values[4]->is_quoted);
  assert_int_equal (node->values[0]->value->whole, 25 << 20);
  assert_text (doc,
               "a:\n  b:\n    x: 25MiB\n    long:\n      - 1\n      - it's\n    empty: {}\n    none: []\n"
               "    last: p-q\n");
  assert_int_equal (fab_diagnostics_count (diagnostics), 0);
}

/* A value that was put in the place of a model becomes its name when a key is set below it. */
static void
test_put_becomes_a_model (G_GNUC_UNUSED void **state)
{
  static const char *const sets[] = { "f.launch=1us", NULL };
  g_autoptr (FabDiagnostics) diagnostics = fab_diagnostics_new ();
  g_autoptr (FabYamlDoc) doc = parse ("g: 1\n", diagnostics);
  g_autoptr (FabValue) value = fab_value_text ("fluid");

  assert_true (fab_yaml_doc_put (doc, "request", "f", value, diagnostics));
  set_all (doc, sets);
  assert_text (doc, "g: 1\nf:\n  kind: fluid\n  launch: 1us\n");
  assert_null (fab_yaml_get (fab_yaml_doc_root (doc), "f")->value);
}

/* Keys, and items by number and name, of a document and of its copy; what is not there may stay away. */
static void
test_take_away (G_GNUC_UNUSED void **state)
{
  static const char yaml[] = "a: {x: 1, y: 2, z: 3}\nl: [{name: v}, {name: w, k: 1}, 5]\nlast: 1\n";
  static const char *const rows[][2] = {
    { "a.x", "a:\n  y: 2\n  z: 3\nl:\n  - name: v\n  - name: w\n    k: 1\n  - 5\nlast: 1\n" },
    { "a.z", "a:\n  x: 1\n  y: 2\nl:\n  - name: v\n  - name: w\n    k: 1\n  - 5\nlast: 1\n" },
    { "l.0", "a:\n  x: 1\n  y: 2\n  z: 3\nl:\n  - name: w\n    k: 1\n  - 5\nlast: 1\n" },
    { "l.2", "a:\n  x: 1\n  y: 2\n  z: 3\nl:\n  - name: v\n  - name: w\n    k: 1\nlast: 1\n" },
    { "l.w.k", "a:\n  x: 1\n  y: 2\n  z: 3\nl:\n  - name: v\n  - name: w\n  - 5\nlast: 1\n" },
    { "l.w", "a:\n  x: 1\n  y: 2\n  z: 3\nl:\n  - name: v\n  - 5\nlast: 1\n" },
    { "l", "a:\n  x: 1\n  y: 2\n  z: 3\nlast: 1\n" },
    { "l.3", NULL },
    { "l.u", NULL },
    { "l.2.k", NULL },
    { "last.x", NULL },
    { "b.c", NULL },
  };
  g_autoptr (FabDiagnostics) diagnostics = fab_diagnostics_new ();
  g_autoptr (FabYamlDoc) whole = parse (yaml, diagnostics);
  g_autofree char *before = fab_yaml_node_text (fab_yaml_doc_root (whole));

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autoptr (FabYamlDoc) doc = parse (yaml, diagnostics), copy = fab_yaml_doc_copy (whole);
    const char *after = rows[i][1] != NULL ? rows[i][1] : before;

    assert_true (fab_yaml_doc_put (doc, "o", rows[i][0], NULL, diagnostics));
    assert_true (fab_yaml_doc_put (copy, "o", rows[i][0], NULL, diagnostics));
    assert_text (doc, after);
    assert_text (copy, after);
    assert_text (whole, before);
  }
  assert_int_equal (fab_diagnostics_count (diagnostics), 0);
}

/* Items have numbers in tens as well. */
static void
test_take_away_from_a_long_list (G_GNUC_UNUSED void **state)
{
  g_autoptr (FabDiagnostics) diagnostics = fab_diagnostics_new ();
  g_autoptr (FabYamlDoc) doc = parse ("l: [a, b, c, d, e, f, g, h, i, j, k, m]\n", diagnostics);

  assert_true (fab_yaml_doc_set (doc, "--set", "l.11=z", diagnostics));
  assert_string_equal (fab_yaml_doc_assigned (doc, "l.11"), "l.11=z");
  assert_null (fab_yaml_doc_assigned (doc, "l.10"));
  assert_true (fab_yaml_doc_put (doc, "o", "l.10", NULL, diagnostics));
  assert_text (doc, "l:\n  - a\n  - b\n  - c\n  - d\n  - e\n  - f\n  - g\n  - h\n  - i\n  - j\n  - z\n");
  assert_int_equal (fab_diagnostics_count (diagnostics), 0);
}

/* --- which assignment wrote what --- */

static void
test_assigned (G_GNUC_UNUSED void **state)
{
  static const char *const sets[] = { "a.x=5", "l.w.k={p: 1, q: []}", "e={}", NULL };
  static const char *const rows[][2] = {
    { "a.x", "a.x=5" },
    { "a", "a.x=5" },
    { "a.y", NULL },
    { "l", "l.w.k={p: 1, q: []}" },
    { "l.1", "l.w.k={p: 1, q: []}" },
    { "l.w.k.q", "l.w.k={p: 1, q: []}" },
    { "l.0", NULL },
    { "l.2", NULL },
    { "l.v", NULL },
    { "e", "e={}" },
    { "e.f", NULL },
    { "b", NULL },
    { "a.x.y", NULL },
  };
  g_autoptr (FabDiagnostics) diagnostics = fab_diagnostics_new ();
  g_autoptr (FabYamlDoc) doc = parse ("a: {y: 1, x: 2}\nl: [{name: v}, {name: w, k: 1}]\n", diagnostics);

  set_all (doc, sets);
  g_autoptr (FabYamlDoc) copy = fab_yaml_doc_copy (doc);
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    const char *found = fab_yaml_doc_assigned (doc, rows[i][0]),
               *of_copy = fab_yaml_doc_assigned (copy, rows[i][0]);

    if (g_strcmp0 (found, rows[i][1]) != 0 || g_strcmp0 (of_copy, rows[i][1]) != 0)
      fail_msg ("%s: %s, %s", rows[i][0], found, of_copy);
  }
}

/* What a person asked for is not undone by what comes with it, unless it says the same. */
static void
test_protected (G_GNUC_UNUSED void **state)
{
  static const struct {
    const char *asked, *other, *said; /* NULL: it is taken */
  } rows[] = {
    { "j.m=1", "j.m=2", "give only one of the two" },
    { "j.m=1", "j.m=1", NULL },
    { "j.m=1", "j.n=2", NULL },
    { "j.m=1", "j=zero", "give it first" },
    { "j.m=1", "j=ddp", NULL },
    { "j.m=1", "j={kind: ddp, m: 1}", "give it first" },
    { "j.m=1", "j={kind: ddp, q: 1, m: 1}", NULL },
    { "j={m: 1}", "j.m=2", "give only one of the two" },
    { "j.m={a: 1}", "j.m.a=2", "give only one of the two" },
    { "k=1", "j=zero", NULL },
    { "l.+=1", "l=[]", "give it first" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autoptr (FabDiagnostics) diagnostics = fab_diagnostics_new ();
    g_autoptr (FabYamlDoc) doc = parse ("j: {kind: ddp, q: 1}\n", diagnostics);
    g_autofree char *expected = g_strdup_printf ("--set: %s: this undoes '%s', which was given too; %s\n",
                                                 rows[i].other, rows[i].asked, rows[i].said);
    g_autofree char *printed = NULL;
    gboolean is_taken;

    fab_yaml_doc_protect_last (doc); /* the file, of which nothing is protected */
    assert_true (fab_yaml_doc_set (doc, "--set", "z=1", diagnostics));
    assert_true (fab_yaml_doc_set (doc, "--set", rows[i].asked, diagnostics));
    fab_yaml_doc_protect_last (doc);
    assert_true (fab_yaml_doc_set (doc, "--set", "z=2", diagnostics));
    is_taken = fab_yaml_doc_set (doc, "--set", rows[i].other, diagnostics);
    printed = fab_diagnostics_format (diagnostics);
    if (is_taken != (rows[i].said == NULL) || (!is_taken && !g_str_has_prefix (printed, expected)))
      fail_msg ("%s and %s: %s", rows[i].asked, rows[i].other, printed);
    fab_yaml_doc_unprotect (doc);
    assert_true (fab_yaml_doc_set (doc, "--set", rows[i].other, diagnostics));
  }
}

/* --- limits --- */

/* A path of 64 keys is taken, and one of 65 is not. */
static void
test_depth (G_GNUC_UNUSED void **state)
{
  for (guint n = 64; n <= 65; n++) {
    g_autoptr (FabDiagnostics) diagnostics = fab_diagnostics_new ();
    g_autoptr (FabYamlDoc) doc = parse ("b: 1\n", diagnostics);
    g_autoptr (GString) path = g_string_new ("a");

    for (guint i = 1; i < n; i++)
      g_string_append (path, ".a");
    g_string_append (path, "=1");
    assert_int_equal (fab_yaml_doc_set (doc, "--set", path->str, diagnostics), n == 64);
    assert_int_equal (fab_diagnostics_count (diagnostics), n - 64);
    g_autofree char *printed = fab_diagnostics_format (diagnostics);
    assert_int_equal (strstr (printed, "values are nested more than 64 levels deep\n") != NULL, n == 65);
    assert_int_equal (g_str_has_suffix (printed, " ^"), n == 65);
  }
}

#define MANY "one document holds more than 200000 values"
#define FULL "the document is full"

/* What is said when there is room for `n_left` nodes more, in the document itself and in a copy of it, which needs one
 * more for each mapping on the path. */
static void
test_full (G_GNUC_UNUSED void **state)
{
  static const struct {
    const char *assignment; /* NULL: the value 1 is put at a.q */
    guint n_left, n_left_of_copy;
    const char *said; /* NULL: it is taken */
  } rows[] = {
    { "b=1", 0, 1, MANY },   { "b=1", 1, 2, MANY },   { "b=1", 2, 3, MANY },   { "b=1", 3, 4, NULL },
    { "l.+=1", 0, 2, MANY }, { "l.+=1", 1, 3, MANY }, { "l.+=1", 2, 4, NULL }, { "s.x=1", 0, 2, FULL },
    { "s.x=1", 1, 3, FULL }, { "s.x=1", 2, 4, MANY }, { "s.x=1", 5, 7, NULL }, { "k=ddp", 0, 1, MANY },
    { "k=ddp", 1, 3, NULL }, { NULL, 0, 2, MANY },    { NULL, 2, 4, FULL },    { NULL, 3, 5, NULL },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    for (guint is_copy = 0; is_copy <= 1; is_copy++) {
      g_autoptr (FabDiagnostics) diagnostics = fab_diagnostics_new ();
      FabYamlDoc *base = parse ("a: {x: 1}\nl: [1]\ns: v\nk: {kind: ddp}\n", diagnostics);
      FabYamlDoc *doc = is_copy ? fab_yaml_doc_copy (base) : base;
      g_autoptr (FabValue) one = fab_value_count (1);
      g_autofree char *printed = NULL;
      gboolean is_taken;

      doc->n_inherited = FAB_YAML_MAX_NODES - doc->nodes->len
                       - (is_copy ? rows[i].n_left_of_copy : rows[i].n_left);
      is_taken = rows[i].assignment != NULL ? fab_yaml_doc_set (doc, "--set", rows[i].assignment, diagnostics)
                                            : fab_yaml_doc_put (doc, "o", "a.q", one, diagnostics);
      printed = fab_diagnostics_format (diagnostics);
      if (is_taken != (rows[i].said == NULL) || (!is_taken && strstr (printed, rows[i].said) == NULL))
        fail_msg ("%s in %s with %u: %s", rows[i].assignment, is_copy ? "a copy" : "a document",
                  rows[i].n_left, printed);
      fab_yaml_doc_free (base);
      if (is_copy)
        fab_yaml_doc_free (doc);
    }
}

/* A value of several nodes is put whole or not at all: the key and what stands for its value are 2, the mapping 1, its
 * keys 2, and the number, the list and its item 3. */
static void
test_full_within_a_value (G_GNUC_UNUSED void **state)
{
  for (guint n_left = 0; n_left <= 9; n_left++) {
    g_autoptr (FabDiagnostics) diagnostics = fab_diagnostics_new ();
    g_autoptr (FabYamlDoc) doc = parse ("a: 1\n", diagnostics);
    g_autoptr (FabValue) value = fab_value_mapping ();
    FabValue *list = fab_value_list ();

    fab_value_append (list, fab_value_count (2));
    fab_value_put (value, "x", fab_value_count (1));
    fab_value_put (value, "l", list);
    doc->n_inherited = FAB_YAML_MAX_NODES - doc->nodes->len - n_left;
    assert_int_equal (fab_yaml_doc_put (doc, "o", "m", value, diagnostics), n_left >= 8);
    assert_int_equal (fab_diagnostics_count (diagnostics), n_left < 8);
    g_autofree char *text = fab_yaml_node_text (fab_yaml_doc_root (doc));
    assert_string_equal (text, n_left >= 8   ? "a: 1\nm:\n  x: 1\n  l:\n    - 2\n"
                               : n_left >= 2 ? "a: 1\nm: ~\n"
                                             : "a: 1\n");
  }
}

/* A document that is full points at the key for which there is no room, or at the beginning of what cannot be taken. */
static void
test_where_it_is_full (G_GNUC_UNUSED void **state)
{
  static const struct {
    const char *assignment;
    const char *put; /* a key at which 1 is put in place of an assignment */
    guint n_left;    /* in a copy */
    const char *printed;
  } rows[] = {
    { "long=1", NULL, 0, "--set: long=1: " FULL "\n      | long=1\n      | ^~~~" },
    { "s.long=1", NULL, 2, "--set: s.long=1: " FULL "\n      | s.long=1\n      |   ^~~~" },
    { "k=ddp", NULL, 2, "--set: k=ddp: " FULL "\n      | k=ddp\n      | ^" },
    { NULL, "a.q", 4, "o: a.q=1: " FULL "\n      | a.q=1\n      |    ^" },
    { NULL, "long.x", 1, "o: long.x=1: " MANY "\n      | long.x=1\n      | ^~~~" },
    { "l.+=1", NULL, 2, "--set: l.+=1: " MANY "\n      | l.+=1\n      |   ^" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autoptr (FabDiagnostics) diagnostics = fab_diagnostics_new ();
    g_autoptr (FabYamlDoc) base = parse ("a: {x: 1}\nl: [1]\ns: v\nk: {kind: ddp}\n", diagnostics),
                           doc = fab_yaml_doc_copy (base);
    g_autoptr (FabValue) one = fab_value_count (1);

    doc->n_inherited = FAB_YAML_MAX_NODES - rows[i].n_left;
    assert_false (rows[i].put != NULL ? fab_yaml_doc_put (doc, "o", rows[i].put, one, diagnostics)
                                      : fab_yaml_doc_set (doc, "--set", rows[i].assignment, diagnostics));
    g_autofree char *printed = fab_diagnostics_format (diagnostics);
    assert_string_equal (printed, rows[i].printed);
  }
  for (guint n_left = 0; n_left <= 2; n_left++) { /* the root and the mapping are copied */
    g_autoptr (FabDiagnostics) diagnostics = fab_diagnostics_new ();
    g_autoptr (FabYamlDoc) base = parse ("a: {x: 1}\n", diagnostics), doc = fab_yaml_doc_copy (base);

    doc->n_inherited = FAB_YAML_MAX_NODES - n_left;
    assert_int_equal (fab_yaml_doc_put (doc, "o", "a.x", NULL, diagnostics), n_left == 2);
    g_autofree char *printed = fab_diagnostics_format (diagnostics);
    assert_string_equal (printed, n_left == 2 ? "" : "o: a.x=: " FULL "\n      | a.x=\n      | ^");
  }
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (test_set),
    cmocka_unit_test (test_append),
    cmocka_unit_test (test_bad_set),
    cmocka_unit_test (test_set_twice),
    cmocka_unit_test (test_where_values_go),
    cmocka_unit_test (test_copies),
    cmocka_unit_test (test_put),
    cmocka_unit_test (test_put_becomes_a_model),
    cmocka_unit_test (test_take_away),
    cmocka_unit_test (test_take_away_from_a_long_list),
    cmocka_unit_test (test_assigned),
    cmocka_unit_test (test_protected),
    cmocka_unit_test (test_depth),
    cmocka_unit_test (test_full),
    cmocka_unit_test (test_full_within_a_value),
    cmocka_unit_test (test_where_it_is_full),
  };

  return cmocka_run_group_tests (tests, NULL, NULL);
}
