/* SPDX-License-Identifier: Apache-2.0 */
/* questions.c - a word of the question counts for an answer whose question, words or command have it. Rare words count
 * more: by the number of answers that have them. */
#include "cli/help/questions.h"

#include <math.h>
#include <string.h>

#include "cli/help/data.h"

enum { MOST_ANSWERS = 3, LEAST_STEM = 4 /* letters of a word that loses its plural */ };

static const double least_part = 0.6; /* of the best score, for another answer beside it */

/* Words that many questions have. */
static const char *const common[] = {
  "a",   "an",   "and",  "are",    "be",    "by",   "can",  "do",    "does", "for",   "get",  "has", "have",
  "how", "i",    "if",   "in",     "into",  "is",   "it",   "many",  "me",   "much",  "my",   "of",  "on",
  "one", "or",   "our",  "should", "so",    "than", "that", "the",   "then", "there", "this", "to",  "use",
  "we",  "what", "when", "where",  "which", "will", "with", "would", "you",  "your",  NULL
};
static const char *const asking[] = { "how",  "which",  "what",  "why",   "when", "where",
                                      "who",  "is",     "are",   "does",  "do",   "can",
                                      "will", "should", "would", "could", NULL };

/* The words of a text in lower case and in the singular, without common ones. (transfer full) */
static GHashTable *
words_of (const char *text)
{
  g_autofree char *low = g_ascii_strdown (text, -1);
  g_auto (GStrv) parts = g_strsplit_set (g_strdelimit (low, "?!.,;:'\"()<>=%/-_", ' '), " ", -1);
  GHashTable *words = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);

  for (guint i = 0; parts[i] != NULL; i++) {
    gsize n = strlen (parts[i]);

    if (n == 0 || g_strv_contains (common, parts[i]))
      continue;
    if (n >= LEAST_STEM && g_str_has_suffix (parts[i], "s") && !g_str_has_suffix (parts[i], "ss"))
      parts[i][n - 1] = '\0';
    g_hash_table_add (words, g_strdup (parts[i]));
  }
  return words;
}

typedef struct {
  const char *question, *command, *page;
  GHashTable *words;
  double score;
} Answer;

static void
answer_clear (gpointer answer)
{
  g_hash_table_unref (((Answer *) answer)->words);
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
    g_autofree char *all = g_strjoin (" ", answer.question, fab_help_text (item, "words"), answer.command,
                                      NULL);

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
      g_autoptr (GHashTable) title = words_of (answer->question);

      if (g_hash_table_contains (answer->words, word))
        answer->score += weight * (g_hash_table_contains (title, word) ? 1.5 : 1);
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
