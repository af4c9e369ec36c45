/* SPDX-License-Identifier: Apache-2.0 */
/* test_verdict_page.c - a verdict on a page: which findings come first, what stands beside them, and how they fill
 * lines.
 */
#include "tests/support/test.h"

#include "cli/terminal/terminal.h"
#include "cli/verdict.h"

/* cli.c has it for the program. */
char *
fab_cli_printable (const char *text)
{
  return g_strdup (text);
}

enum { INDENT = 18 };

/* "  label           words", with as many words on a line as there is room for. A sign of per cent and a unit that
 * begins with GB stay on the line of the word before them. */
static void
append_filled (GString *out, const char *label, const char *text, guint columns)
{
  g_auto (GStrv) words = g_strsplit (text, " ", -1);
  guint at = INDENT;

  g_string_append_printf (out, "  %-16s", label);
  for (guint i = 0; words[i] != NULL; i++) {
    const char *next = words[i + 1];
    guint n = (guint) strlen (words[i]);
    gboolean is_glued = next != NULL && (*next == '%' || strncmp (next, "GB", 2) == 0);
    guint needed = n + (is_glued ? 1 + (guint) strlen (next) : 0);

    if (at == INDENT) {
      g_string_append (out, words[i]);
      at += n;
    } else if (at + 1 + needed <= columns) {
      g_string_append_printf (out, " %s", words[i]);
      at += 1 + n;
    } else {
      g_string_append_printf (out, "\n%*s%s", INDENT, "", words[i]);
      at = INDENT + n;
    }
  }
  g_string_append_c (out, '\n');
}

static const char text[] =
    "Each GPU needs 97.25 GB of its 80 GB of memory, 12 % of which are free when nothing runs there, or "
    "40 GB/s.";
static const char advice[] = "Try a smaller micro-batch, which takes 50 % less.";

static void
test_lines (G_GNUC_UNUSED void **state)
{
  for (guint columns = 40; columns <= 130; columns++) {
    g_autofree char *width = g_strdup_printf ("%u", columns);
    g_autoptr (FabVerdict) verdict = fab_verdict_new ();
    g_autoptr (GString) page = g_string_new ("a page:\n"), expected = g_string_new ("a page:\n");

    g_setenv ("FABRICAST_COLUMNS", width, TRUE);
    fab_verdict_add (verdict, FAB_FINDING_SPREAD, g_strdup (text), g_strdup (advice));
    fab_cli_append_findings (page, verdict);
    append_filled (expected, "warning", text, MIN (columns, FAB_TERMINAL_PROSE_COLUMNS));
    append_filled (expected, "", advice, MIN (columns, FAB_TERMINAL_PROSE_COLUMNS));
    assert_string_equal (page->str, expected->str);
  }
  g_unsetenv ("FABRICAST_COLUMNS");
}

/* What stops comes apart from all others, with its severity beside it; what the step waits for is the verdict. */
static void
test_labels (G_GNUC_UNUSED void **state)
{
  for (guint code = 0; code < FAB_N_FINDING_CODES; code++) {
    g_autoptr (FabVerdict) verdict = fab_verdict_new ();
    g_autoptr (GString) stops = g_string_new ("head\n"), others = g_string_new ("head\n");
    FabSeverity severity = fab_finding_kinds[code].severity;
    const char *label = code >= FAB_FINDING_WAITS_FOR_COMPUTE ? "verdict"
                      : severity == FAB_FINDING_STOPS         ? "stop"
                      : severity == FAB_FINDING_WARNS         ? "warning"
                                                              : "note";
    g_autofree char *line = g_strdup_printf ("  %-16sIt is so.\n", label);
    g_autofree char *first = g_strconcat ("head\n", line, "\n", NULL),
                    *last = g_strconcat ("head\n\n", line, NULL);

    fab_verdict_add (verdict, code, g_strdup ("It is so."), NULL);
    fab_cli_append_stops (stops, verdict);
    fab_cli_append_findings (others, verdict);
    assert_string_equal (stops->str, severity == FAB_FINDING_STOPS ? first : "head\n");
    assert_string_equal (others->str, severity == FAB_FINDING_STOPS ? "head\n" : last);
    for (gboolean is_allowed = FALSE; is_allowed <= TRUE; is_allowed++)
      assert_int_equal (fab_cli_verdict_exit (verdict, is_allowed),
                        severity == FAB_FINDING_STOPS && !is_allowed ? FAB_EXIT_UNMET : FAB_EXIT_DONE);
    g_autoptr (GString) codes = g_string_new (NULL);
    g_autofree char *named = g_strdup_printf ("    hello: %s\n", fab_finding_kinds[code].name);
    fab_cli_append_codes (codes, "hello", verdict);
    assert_string_equal (codes->str, named);
  }
}

/* A blank line, or the line that ends with a colon, stands before the findings; without any nothing is added. */
static void
test_what_stands_before (G_GNUC_UNUSED void **state)
{
  static const struct {
    const char *page, *between;
  } cases[] = { { "a row\n", "\n" }, { "a row\n\n", "" }, { "notes:\n", "" } };
  g_autoptr (FabVerdict) none = fab_verdict_new (), some = fab_verdict_new ();
  g_autoptr (GString) codes = g_string_new (NULL);

  fab_verdict_add (some, FAB_FINDING_CHOICE, g_strdup ("One."), NULL);
  fab_verdict_add (some, FAB_FINDING_WAITS_FOR_NETWORK, g_strdup ("Two."), NULL);
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_autoptr (GString) empty = g_string_new (cases[i].page), full = g_string_new (cases[i].page);
    g_autofree char *expected = g_strdup_printf (
        "%s%s  %-16sOne.\n  verdict         Two.\n", cases[i].page, cases[i].between,
        fab_finding_kinds[FAB_FINDING_CHOICE].severity == FAB_FINDING_WARNS ? "warning" : "note");

    fab_cli_append_findings (empty, none);
    fab_cli_append_findings (full, some);
    assert_string_equal (empty->str, cases[i].page);
    assert_string_equal (full->str, expected);
  }
  fab_cli_append_codes (codes, "one", none);
  fab_cli_append_codes (codes, "two", some);
  assert_string_equal (codes->str, "    one: -\n    two: choice, waits_for_network\n");
  assert_int_equal (fab_cli_verdict_exit (NULL, FALSE), FAB_EXIT_DONE);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (test_lines),
    cmocka_unit_test (test_labels),
    cmocka_unit_test (test_what_stands_before),
  };

  return cmocka_run_group_tests (tests, NULL, NULL);
}
