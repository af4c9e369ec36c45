/* SPDX-License-Identifier: Apache-2.0 */
/* questions.c - a word of the question counts for an answer whose question, other words or command have it. Rare words
 * count more: by the number of answers that have them. */
#include "cli/help/questions.h"

#include <math.h>
#include <string.h>

#include "cli/help/data.h"

enum { MOST_ANSWERS = 3, LEAST_STEM = 4 /* letters that a word keeps when it loses an ending */ };

static const double least_part = 0.6; /* of the best score, for another answer beside it */
static const double of_title = 1.5;   /* what a word counts that stands in the question of an answer */

/* Words that many questions have. */
static const char *const common[] = { "a",     "an",    "and",  "are",    "be",    "by",   "can",  "do",
                                      "for",   "get",   "has",  "have",   "how",   "i",    "if",   "in",
                                      "into",  "is",    "it",   "make",   "me",    "my",   "of",   "on",
                                      "one",   "or",    "our",  "should", "so",    "than", "that", "the",
                                      "then",  "there", "this", "to",     "use",   "we",   "what", "when",
                                      "where", "which", "will", "with",   "would", "you",  "your", NULL };
static const char *const asking[] = { "how",  "which",  "what",  "why",   "when", "where",
                                      "who",  "is",     "are",   "does",  "do",   "can",
                                      "will", "should", "would", "could", NULL };

/* Cuts the endings of plurals and verbs: "links", "failed" and "failing" are asked for as "link" and "fail". */
static void
cut_endings (char *word)
{
  static const char *const endings[] = { "s", "ing", "ed", "e" };

  for (guint i = 0; i < G_N_ELEMENTS (endings); i++) {
    gsize n = strlen (word), n_ending = strlen (endings[i]);

    if (n >= n_ending + (i == 0 ? LEAST_STEM - 1 : LEAST_STEM) && g_str_has_suffix (word, endings[i])
        && !g_str_has_suffix (word, "ss"))
      word[n - n_ending] = '\0';
  }
}

/* The words of a text in lower case, without endings and without common ones. (transfer full) */
static GHashTable *
words_of (const char *text)
{
  g_autofree char *low = g_ascii_strdown (text, -1);
  g_auto (GStrv) parts = g_strsplit_set (g_strdelimit (low, "?!.,;:'\"()<>=%/-_", ' '), " ", -1);
  GHashTable *words = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);

  for (guint i = 0; parts[i] != NULL; i++) {
    if (parts[i][0] == '\0' || g_strv_contains (common, parts[i]))
      continue;
    cut_endings (parts[i]);
    g_hash_table_add (words, g_strdup (parts[i]));
  }
  return words;
}

typedef struct {
  const char *question, *command, *page;
  GHashTable *title, *words; /* of the question, and of all */
  double score;
} Answer;

static void
answer_clear (gpointer data)
{
  Answer *answer = data;

  g_hash_table_unref (answer->title);
  g_hash_table_unref (answer->words);
}

/* The name of the command, which is what its line says about it: options and scenarios are those of an example.
 * (transfer full) */
static char *
command_name (const char *line)
{
  g_auto (GStrv) words = g_strsplit (line, " ", 3);

  return g_strdup (words[1]);
}

static GArray *
read_answers (FabYamlDoc *doc)
{
  const FabYamlNode *list = fab_yaml_get (fab_yaml_doc_root (doc), "questions");
  GArray *answers = g_array_new (FALSE, FALSE, sizeof (Answer));

  g_array_set_clear_func (answers, answer_clear);
  for (guint i = 0; i < list->n; i++) {
    const FabYamlNode *item = list->values[i];
    Answer answer = { .question = fab_help_text (item, "question"),
                      .command = fab_help_text (item, "command"),
                      .page = fab_help_text (item, "page") };
    g_autofree char *name = command_name (answer.command);
    g_autofree char *all = g_strjoin (" ", answer.question, fab_help_text (item, "words"), name,
                                      (char *) NULL);

    answer.title = words_of (answer.question);
    answer.words = words_of (all);
    g_array_append_val (answers, answer);
  }
  return answers;
}

static guint
count_with (const GArray *answers, const char *word)
{
  guint n = 0;

  for (guint i = 0; i < answers->len; i++)
    n += g_hash_table_contains (g_array_index (answers, Answer, i).words, word);
  return n;
}

static void
score (GArray *answers, GHashTable *asked)
{
  GHashTableIter iter;
  gpointer word;

  g_hash_table_iter_init (&iter, asked);
  while (g_hash_table_iter_next (&iter, &word, NULL)) {
    guint n = count_with (answers, word);
    double weight = n > 0 ? log ((1.0 + answers->len) / n) : 0;

    for (guint i = 0; i < answers->len; i++) {
      Answer *answer = &g_array_index (answers, Answer, i);

      if (g_hash_table_contains (answer->words, word))
        answer->score += weight * (g_hash_table_contains (answer->title, word) ? of_title : 1);
    }
  }
}

static const Answer *
best_of (const GArray *answers)
{
  const Answer *best = &g_array_index (answers, Answer, 0);

  for (guint i = 1; i < answers->len; i++)
    if (g_array_index (answers, Answer, i).score > best->score)
      best = &g_array_index (answers, Answer, i);
  return best;
}

gboolean
fab_is_question (const char *text)
{
  g_auto (GStrv) words = g_strsplit (text, " ", -1);
  g_autofree char *first = g_ascii_strdown (words[0] != NULL ? words[0] : "", -1);

  return g_str_has_suffix (text, "?") || g_strv_length (words) >= 3
      || (words[0] != NULL && words[1] != NULL && g_strv_contains (asking, first));
}

char *
fab_question_answers (const char *text)
{
  FabYamlDoc *doc = fab_help_data ("questions.yaml");
  g_autoptr (GArray) answers = read_answers (doc);
  g_autoptr (GHashTable) asked = words_of (text);
  GString *out = g_string_new (NULL);
  double most = 0;

  score (answers, asked);
  for (guint n = 0; n < MOST_ANSWERS; n++) {
    Answer *best = (Answer *) best_of (answers);

    most = MAX (most, best->score);
    if (best->score <= 0 || best->score < least_part * most)
      break;
    g_string_append_printf (out, "%s%s\n\n  %s\n\n  More: %s\n", n > 0 ? "\n" : "", best->question,
                            best->command, best->page);
    best->score = 0;
  }
  fab_yaml_doc_free (doc);
  return g_string_free (out, out->len == 0);
}

char *
fab_question_term (const char *text)
{
  static const char *const begins[] = { "what is ", "what are ", "what's ",  "what does ", "what do ",
                                        "whats ",   "define ",   "explain ", "meaning of " };
  static const char *const ends[] = { "?", " stand for", " means", " mean", " do" };
  static const char *const articles[] = { "a ", "an ", "the " };
  g_autofree char *low = g_ascii_strdown (text, -1);
  const char *term = NULL;

  for (guint i = 0; i < G_N_ELEMENTS (begins); i++)
    if (g_str_has_prefix (low, begins[i]))
      term = low + strlen (begins[i]);
  if (term == NULL)
    return NULL;
  for (guint i = 0; i < G_N_ELEMENTS (articles); i++)
    if (g_str_has_prefix (term, articles[i]))
      term += strlen (articles[i]);
  char *found = g_strdup (term);
  for (guint i = 0; i < G_N_ELEMENTS (ends); i++) {
    g_strstrip (found);
    if (g_str_has_suffix (found, ends[i]))
      found[strlen (found) - strlen (ends[i])] = '\0';
  }
  return found;
}
