#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The faults of `./dev mutate` are where they should be, and nowhere else."""
import argparse
import unittest

import page
import points

SOURCE = """/* a < b is a remark */
#define MOST (1 + 2)
static const int table[] = { 3, 4 };

static int
least (int a, int b, const char *text)
{
  int sum = a + b;

  g_assert (a < b);
  if (a < b && text != NULL)
    note ("a < b");
  sum -= 7;
  g_free (text);
  return sum * a;
}
"""


def faults(kind):
    return {points.described(SOURCE, point) for point in points.points(SOURCE) if point.kind == kind}


class Points(unittest.TestCase):
    def test_operators(self):
        self.assertEqual({fault.split(" in ")[0] for fault in faults("relation")}, {"`<` is `<=`", "`<` is `>=`", "`!=` is `==`"})
        self.assertEqual({fault.split(" in ")[0] for fault in faults("arithmetic")}, {"`+` is `-`", "`-=` is `+=`", "`*` is `/`"})
        self.assertEqual({fault.split(" in ")[0] for fault in faults("logic")}, {"`&&` is `||`"})

    def test_statements(self):
        self.assertEqual(faults("statement"), {'`note ("a < b");` is dropped', "`sum -= 7;` is dropped"})
        self.assertEqual(faults("condition"), {"`if (a < b && text != NULL)` is negated"})
        self.assertEqual(faults("return"), {"`sum * a` is `0` in `return sum * a;`"})
        self.assertEqual(faults("constant"), {"`7` is `8` in `sum -= 7;`"})

    def test_outside_of_bodies_nothing_changes(self):
        first = SOURCE.index("{\n  int sum")
        self.assertTrue(all(point.start > first for point in points.points(SOURCE)))
        self.assertFalse([point for point in points.points(SOURCE) if SOURCE.splitlines()[point.line - 1].strip().startswith("g_")])

    def test_what_nobody_can_see_stays(self):
        """Lengths of whole texts, memory that is not used, and hashes; the same numbers elsewhere are changed."""
        body = """int
f (void)
{
  words = g_strsplit (text, separator, -1);
  sqlite3_prepare_v2 (db, text, -1, &statement, NULL);
  names = g_new0 (char *, n + 1);
  one = g_new0 (Thing, 1);
  twice = g_new (guint, (gsize) n * 2 * m);
  array = g_array_new (FALSE, FALSE, sizeof (int));
  last = at (array, n + 1, -1);
  flags (FALSE, FALSE);
}

static guint
text_hash (gconstpointer data)
{
  return hash * 31 + 7;
}

static guint
hash_length (guint n)
{
  return n + 5;
}
"""
        changed = [(point.line, body[point.start:point.end]) for point in points.points(body) if point.kind == "constant"]
        self.assertEqual(changed, [(10, "1"), (10, "1"), (11, "FALSE"), (11, "FALSE"), (23, "5")])
        self.assertNotIn(17, {point.line for point in points.points(body)})

    def test_a_result_that_is_0_already_stays(self):
        for result, n in (("FABRICAST_OK", 0), ("NULL", 0), ("0", 0), ("status", 1)):
            body = f"static int\nf (void)\n{{\n  return {result};\n}}\n"
            self.assertEqual(len([point for point in points.points(body) if point.kind == "return"]), n, result)

    def test_orders_are_signs(self):
        """Of a function that compares two elements only the sign counts, and 0; a number that is looked at is changed."""
        body = """static gint
by_size (gconstpointer a, gconstpointer b)
{
  if (size (a) != size (b))
    return size (a) < size (b) ? -1 : 1;
  return rank (a, 1) > rank (b, 1) ? 1 : 0;
}

static gint
sign (int n)
{
  return n < 0 ? -1 : 1;
}
"""
        changed = [(point.line, body[point.start:point.end]) for point in points.points(body) if point.kind == "constant"]
        self.assertEqual(changed, [(6, "1"), (6, "1"), (6, "0"), (12, "0"), (12, "1"), (12, "1")])

    def test_the_text_around_stays(self):
        for point in points.points(SOURCE):
            changed = points.changed(SOURCE, point)
            self.assertNotEqual(changed, SOURCE)
            self.assertEqual((changed[:point.start], changed[point.start + len(point.text):]), (SOURCE[:point.start], SOURCE[point.end:]))


    def test_a_page_can_be_read_again(self):
        """`--again PAGE` finds what no test noticed: with bars, and with the name of a test beside them that did."""
        options = argparse.Namespace(seed=1, count=3, cap=60.0, commit="none", beside=False)
        row = {"room": "sim", "path": "sim/a.c", "line": 7, "kind": "logic", "suite": None, "test": None}
        changes = ["`||` is `&&` in `if (a || b)`", "`|` is `&` in `c = a | b;`", "`note (a);` is dropped"]
        rows = [{**row, "change": change, "state": state} for change, state in zip(changes, ("survived", "unreached", "killed"))]
        rows[1].update(suite="cli", test="cli_run")
        rows[2].update(suite="commands", test="cli_run")
        text = page.page(rows, options)
        self.assertEqual(list(page.faults(text)), [("sim/a.c", 7, change) for change in changes[:2]])
        self.assertIn("| sim | 3 | 1 | 0 | 0 | 0 | 1 | 1 | 1 | 33 % | 50 % |", text)


if __name__ == "__main__":
    unittest.main()
