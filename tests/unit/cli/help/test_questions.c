/* SPDX-License-Identifier: Apache-2.0 */
/* test_questions.c - which answers a question finds, on a small list of answers that stands in place of the program's
 * own: by words without their endings, rare words first, words of the title before others. */
#include "tests/support/test.h"

#include <string.h>

#include "cli/help/data.h"
#include "cli/help/questions.h"

/* --- in place of the texts of the program --- */

static const char *list;

FabYamlDoc *
fab_help_data (const char *name)
{
  g_autoptr (FabDiagnostics) diagnostics = fab_diagnostics_new ();

  assert_string_equal (name, "questions.yaml");
  FabYamlDoc *doc = fab_yaml_doc_parse ("list", list, strlen (list), diagnostics);
  assert_non_null (doc);
  return doc;
}

const char *
fab_help_text (const FabYamlNode *node, const char *key)
{
  const FabYamlNode *value = fab_yaml_get (node, key);

  return value != NULL ? value->text : "";
}

#define ANSWER(title_, words_, command_, page_)                                                             \
  "  - {question: \"" title_ "\", words: \"" words_ "\", command: \"fabricast " command_ "\", page: " page_ \
  "}\n"

/* Of five answers: a word that one has counts log 6, one that two have log 3, and half as much again in a title. */
static const char five[] = "questions:\n" ANSWER ("Alpha of the cables", "gamma rate", "run hello", "a.md")
    ANSWER ("Beta", "alpha glass gas", "size hello --brief", "b.md")
        ANSWER ("Delta and epsilon", "zeta", "mix x", "c.md")
            ANSWER ("Eta fail", "theta gpu", "cost x", "d.md")
                ANSWER ("Iota", "theta need", "plan y", "e.md");

/* "ab": pages of the answers in their order; "": none. (transfer full) */
static char *
pages_of (const char *question)
{
  g_autofree char *text = fab_question_answers (question);
  GString *pages = g_string_new (NULL);

  for (const char *at = text; at != NULL && (at = strstr (at, "More: ")) != NULL; at++)
    g_string_append_c (pages, at[strlen ("More: ")]);
  assert_int_equal (text == NULL, pages->len == 0);
  return g_string_free (pages, FALSE);
}

typedef struct {
  const char *question, *pages;
} Row;

static void
assert_rows (const Row *rows, guint n)
{
  for (guint i = 0; i < n; i++) {
    g_autofree char *pages = pages_of (rows[i].question);

    if (strcmp (pages, rows[i].pages) != 0)
      fail_msg ("%s: answers '%s', and not '%s'", rows[i].question, pages, rows[i].pages);
  }
}

/* --- which answers --- */

/* An answer beside the best has 60 % of its score or more: one that has the word beside its title has two thirds of one
 * that has it in its title. */
static void
rare_words_and_titles_count_more (G_GNUC_UNUSED void **state)
{
  static const Row rows[] = {
    { "gamma", "a" },
    { "alpha", "ab" },
    { "beta alpha", "b" },          /* 1.5 log 6 + log 3 = 3.8, and 1.5 log 3 = 1.6 */
    { "gamma delta", "ca" },        /* 1.5 log 6, and log 6 */
    { "gamma delta epsilon", "c" }, /* 3 log 6, and log 6 */
    { "zeta gamma", "ac" },         /* equal: in the order of the list */
    { "theta iota", "e" },          /* log 3 + 1.5 log 6 = 3.8, and log 3 = 1.1 */
    { "theta alpha", "abd" },       /* 1.5 log 3, and log 3 of three, of which two are shown */
    { "zeta gamma eta", "dac" },
    { "zeta gamma gas need", "abc" }, /* three at most */
    { "the what is it", "" },         /* common words alone */
    { "omega", "" },
    { "", "" },
  };

  list = five;
  assert_rows (rows, G_N_ELEMENTS (rows));
}

/* Words lose the endings of plurals and verbs where four letters stay, or three before an s; what ends with ss is no
 * plural. Capitals and signs mean nothing. */
static void
words_are_found_without_their_endings (G_GNUC_UNUSED void **state)
{
  static const Row rows[] = {
    { "cable", "a" },   { "cables", "a" },  { "CABLE?", "a" },     { "(cable);", "a" },    { "cabled", "a" },
    { "cabling", "a" }, { "fails", "d" },   { "failed", "d" },     { "failing", "d" },     { "fail", "d" },
    { "gpus", "d" },    { "gpu", "d" },     { "gas", "b" },        { "ga", "" },           { "glass", "b" },
    { "glas", "" },     { "needs", "e" },   { "needing", "e" },    { "needed", "e" },      { "rate", "a" },
    { "rates", "a" },   { "rat", "" },      { "etas", "d" },       { "alpha-gamma", "a" }, { "run", "a" },
    { "size", "b" },    { "sizes", "b" },   { "mix", "c" },        { "hello", "" },        { "brief", "" },
    { "plans", "e" },   { "thetas", "de" }, { "theta,iota", "e" }, { "\"eta\"", "d" },
  };

  list = five;
  assert_rows (rows, G_N_ELEMENTS (rows));
}

static void
an_answer_has_its_command_and_its_page (G_GNUC_UNUSED void **state)
{
  list = five;
  g_autofree char *one = fab_question_answers ("gamma"), *two = fab_question_answers ("alpha");

  assert_string_equal (one, "Alpha of the cables\n\n  fabricast run hello\n\n  More: a.md\n");
  assert_string_equal (two, "Alpha of the cables\n\n  fabricast run hello\n\n  More: a.md\n"
                            "\nBeta\n\n  fabricast size hello --brief\n\n  More: b.md\n");
}

/* --- what is a question --- */

static void
questions_ask_or_have_three_words (G_GNUC_UNUSED void **state)
{
  static const char *const questions[] = { "rail?",         "how many",      "How Many", "which nic", "is it",
                                           "a rail fabric", "one two three", "could it", "mfu now?" },
                           *const names[] = { "rail", "how", "rail fabric", "", "mfu now", "is" };

  for (guint i = 0; i < G_N_ELEMENTS (questions); i++)
    if (!fab_is_question (questions[i]))
      fail_msg ("'%s' is no question", questions[i]);
  for (guint i = 0; i < G_N_ELEMENTS (names); i++)
    if (fab_is_question (names[i]))
      fail_msg ("'%s' is a question", names[i]);
}

static void
a_term_is_what_is_asked_for (G_GNUC_UNUSED void **state)
{
  static const struct {
    const char *question, *term; /* NULL: it asks for something else */
  } rows[] = {
    { "what is a rail?", "rail" },
    { "What is an All-Reduce", "all-reduce" },
    { "what are the rails?", "rails" },
    { "what does MFU mean", "mfu" },
    { "what does MFU mean?", "mfu" },
    { "what does MFU stand for?", "mfu" },
    { "what do rails do?", "rails" },
    { "what's a band", "band" },
    { "whats band", "band" },
    { "define hpZ", "hpz" },
    { "explain the step", "step" },
    { "meaning of  busbw ", "busbw" },
    { "what does it", "it" },
    { "what is a", "a" },
    { "how is a rail made", NULL },
    { "a what is", NULL },
    { "rail", NULL },
    { "", NULL },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autofree char *term = fab_question_term (rows[i].question);

    if (g_strcmp0 (term, rows[i].term) != 0)
      fail_msg ("'%s' asks for '%s', and not for '%s'", rows[i].question, term, rows[i].term);
  }
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (rare_words_and_titles_count_more),
    cmocka_unit_test (words_are_found_without_their_endings),
    cmocka_unit_test (an_answer_has_its_command_and_its_page),
    cmocka_unit_test (questions_ask_or_have_three_words),
    cmocka_unit_test (a_term_is_what_is_asked_for),
  };

  return cmocka_run_group_tests_name ("questions", tests, NULL, NULL);
}
