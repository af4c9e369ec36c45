/* SPDX-License-Identifier: Apache-2.0 */
/* study_pages.h - pages of studies that are read back: the decision, the marks of the plot, the table. */
#pragma once

#include "tests/support/test.h"

#include "cli/report/report.h"
#include "cli/report/study/study.h"
#include "tests/support/drawing.h"

/* In place of the resources of the program. */
char *
fab_report_resource (const char *name, G_GNUC_UNUSED GError **error)
{
  return g_strdup_printf ("/* %s */", name);
}

/* The elements of the page's main part; plain blanks in place of those that keep a number with its unit.
 * (transfer full) */
static inline GPtrArray *
study_page (const char *json)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *html = fab_study_report (json, "study.json", &error);

  assert_null (error);
  const char *from = strstr (html, "<main"), *to = strstr (html, "</main>");
  assert_true (from != NULL && to != NULL);
  g_autofree char *main_part = g_strndup (from, (gsize) (to - from) + strlen ("</main>"));
  g_auto (GStrv) parts = g_strsplit (main_part, "\u00a0", -1);
  g_autofree char *plain = g_strjoinv (" ", parts);
  return drawing_read (plain);
}

static inline void
assert_words (const DrawnElement *element, const char *words)
{
  assert_string_equal (element->words->str, words);
}

/* The words of all elements of a name, one to a line; `of_class`: those of a class. (transfer full) */
static inline char *
all_words (const GPtrArray *page, const char *name, const char *of_class)
{
  GString *words = g_string_new (NULL);

  for (guint i = 0; i < page->len; i++) {
    const DrawnElement *element = drawing_at (page, i);

    if (strcmp (element->name, name) == 0
        && (of_class == NULL || g_strcmp0 (drawn_word (element, "class"), of_class) == 0))
      g_string_append_printf (words, "%s%s", words->len > 0 ? "\n" : "", element->words->str);
  }
  return g_string_free (words, FALSE);
}

/* What the page says: the answer, then the sentences below it. */
static inline void
assert_decision (const GPtrArray *page, const char *answer, const char *more)
{
  g_autofree char *bold = all_words (page, "b", NULL);
  g_autoptr (GString) rest = g_string_new (NULL);

  for (guint i = 0; i < page->len; i++) {
    const DrawnElement *element = drawing_at (page, i);

    if (strcmp (element->name, "p") == 0 && drawn_word (element, "class") == NULL)
      g_string_append_printf (rest, "%s%s", rest->len > 0 ? "\n" : "", element->words->str);
  }
  assert_string_equal (bold, answer);
  assert_string_equal (rest->str, more);
}

/* What is decided, of what, and what the plot shows. */
static inline void
assert_heads (const GPtrArray *page, const char *title, const char *subject, const char *plot)
{
  g_autofree char *titles = all_words (page, "h1", NULL), *subjects = all_words (page, "p", "machine"),
                  *heads = all_words (page, "h2", NULL);
  g_auto (GStrv) plots = g_strsplit (heads, "\n",
                                     2); /* another head is of what to read before it is quoted */

  assert_string_equal (titles, title);
  assert_string_equal (subjects, subject);
  assert_string_equal (plots[0], plot);
}

/* The table with " | " between its cells; "*" before a row that the decision is about. */
static inline void
assert_table (const GPtrArray *page, const char *expected)
{
  g_autoptr (GString) table = g_string_new (NULL);

  for (guint i = 0; i < page->len; i++) {
    const DrawnElement *element = drawing_at (page, i);

    if (strcmp (element->name, "tr") == 0)
      g_string_append_printf (table, "%s%s", table->len > 0 ? "\n" : "",
                              g_strcmp0 (drawn_word (element, "class"), "chosen") == 0 ? "*" : "");
    else if (strcmp (element->name, "td") == 0)
      g_string_append_printf (table, " | %s", element->words->str);
    else if (strcmp (element->name, "th") == 0)
      g_string_append_printf (table, "%s%s",
                              table->len == 0 || strchr ("\n*", table->str[table->len - 1]) != NULL ? ""
                                                                                                    : " | ",
                              element->words->str);
  }
  assert_string_equal (table->str, expected);
}

/* Every cell of the table names its column. */
static inline void
assert_labels (const GPtrArray *page)
{
  g_autoptr (GPtrArray) columns = g_ptr_array_new ();
  guint column = 0;

  for (guint i = 0; i < page->len; i++) {
    const DrawnElement *element = drawing_at (page, i);

    if (g_strcmp0 (drawn_word (element, "scope"), "col") == 0)
      g_ptr_array_add (columns, element->words->str);
    if (g_strcmp0 (drawn_word (element, "scope"), "row") == 0)
      column = 1;
    if (strcmp (element->name, "td") == 0)
      assert_string_equal (drawn_word (element, "data-label"), g_ptr_array_index (columns, column++));
  }
}
