/* SPDX-License-Identifier: Apache-2.0 */
/* test_svg.c - elements, numbers and texts of a drawing. */
#include "tests/support/test.h"

#include "cli/svg.h"

static void
a_drawing_has_its_size_and_its_background (G_GNUC_UNUSED void **state)
{
  g_autoptr (GString) svg = g_string_new (NULL);

  fab_svg_begin (svg, 100, 50, 12, NULL, "white");
  fab_svg_finish (svg);
  assert_string_equal (
      svg->str,
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"100\" height=\"50\" viewBox=\"0 0 100 50\" "
      "font-family=\"sans-serif\" font-size=\"12\">\n"
      "<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n</svg>\n");
}

/* A name may be anything that a person wrote. */
static void
texts_are_no_markup (G_GNUC_UNUSED void **state)
{
  g_autoptr (GString) svg = g_string_new (NULL);

  fab_svg_open (svg, "text");
  fab_svg_whole (svg, "x", 3);
  fab_svg_real (svg, "y", 1.3125);
  fab_svg_word (svg, "fill", "a\"b");
  fab_svg_end_text (svg, "<b> & 'c'");
  assert_string_equal (svg->str,
                       "<text x=\"3\" y=\"1.3\" fill=\"a&quot;b\">&lt;b&gt; &amp; &apos;c&apos;</text>\n");
}

static void
a_line_bends_where_it_is_told_to (G_GNUC_UNUSED void **state)
{
  g_autoptr (GString) svg = g_string_new (NULL);
  const FabSvgPoint from = { 0, 0 }, bend = { 5, 9 }, to = { 10, 0 };

  fab_svg_curve (svg, from, NULL, to, "#333", 1.5);
  fab_svg_curve (svg, from, &bend, to, "#333", 2.5);
  assert_string_equal (
      svg->str,
      "<path d=\"M0.0 0.0 L10.0 0.0\" fill=\"none\" stroke=\"#333\" stroke-width=\"1.5\"/>\n"
      "<path d=\"M0.0 0.0 Q5.0 9.0 10.0 0.0\" fill=\"none\" stroke=\"#333\" stroke-width=\"2.5\"/>\n");
}

static void
a_line_has_both_ends_and_a_title_its_words (G_GNUC_UNUSED void **state)
{
  g_autoptr (GString) svg = g_string_new (NULL), whole = g_string_new (NULL);

  fab_svg_line (svg, 1, 2, 3, 4, "#123456");
  assert_string_equal (svg->str, "<line x1=\"1.0\" y1=\"2.0\" x2=\"3.0\" y2=\"4.0\" stroke=\"#123456\"/>\n");
  fab_svg_begin (whole, 10, 20, 12, "a < b", "white");
  assert_non_null (strstr (whole->str, ">a &lt; b</title>\n<"));
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (a_drawing_has_its_size_and_its_background),
    cmocka_unit_test (texts_are_no_markup),
    cmocka_unit_test (a_line_bends_where_it_is_told_to),
    cmocka_unit_test (a_line_has_both_ends_and_a_title_its_words),
  };

  return cmocka_run_group_tests (tests, NULL, NULL);
}
