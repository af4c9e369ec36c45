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

  assert_true (fab_yaml_doc_set (doc, "fidelity.launch=1us", diagnostics));
  assert_true (fab_yaml_doc_set (doc, "links.0.latency=400Gb/s", diagnostics));
  assert_true (fab_yaml_doc_set (doc, "cluster.fabric={kind: switch, n: [1, 2]}", diagnostics));
  assert_true (fab_yaml_doc_set (doc, "cluster.nodes=8", diagnostics));
  assert_true (fab_yaml_doc_set (doc, "empty.text=\"a=b\"", diagnostics));
  assert_true (fab_yaml_doc_set (doc, "gone=", diagnostics));
  fidelity = fab_yaml_get (root, "fidelity");
  assert_string_equal (fab_yaml_get (fidelity, "kind")->text, "fluid");
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

  assert_true (fab_yaml_doc_set (doc, "faults.+={what: link}", diagnostics));
  assert_true (fab_yaml_doc_set (doc, "faults.+.what=rail", diagnostics));
  assert_true (fab_yaml_doc_set (doc, "job.stragglers.+=7", diagnostics));
  assert_true (fab_yaml_doc_set (doc, "nothing.+=a", diagnostics));
  assert_true (fab_yaml_doc_set (doc, "nothing.+=b", diagnostics));
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
  g_autoptr (FabYamlDoc) doc = parse ("list: [1, 2]\n", diagnostics);
  g_autofree char *printed = NULL;

  assert_false (fab_yaml_doc_set (doc, assignment, diagnostics));
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
  assert_bad_set ("a=1\nb=2", "--set: a=1: an assignment must be one line\n"
                              "      | a=1\n"
                              "      | ^");
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (test_set),
    cmocka_unit_test (test_append),
    cmocka_unit_test (test_bad_set),
  };

  return cmocka_run_group_tests (tests, NULL, NULL);
}
