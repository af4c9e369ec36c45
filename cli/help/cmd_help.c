/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_help.c - `fabricast help`: topics, commands, and terms of the glossary. */
#include <string.h>

#include "cli/cli.h"
#include "cli/help/commands.h"
#include "cli/help/forms.h"
#include "cli/help/glossary.h"
#include "cli/help/help.h"
#include "cli/help/questions.h"
#include "cli/help/topics.h"
#include "sim/base/error.h"
#include "sim/base/nearest.h"

enum { MOST_WORDS = 30 }; /* of a question */

static const FabUsage usage = {
  .arguments = "[TOPIC [NAME]]",
  .summary =
      "Explains a topic, a command or a term of the field, or answers a question with commands that work as they\n"
      "stand. Without a TOPIC, lists the topics.",
  .examples = "  fabricast help\n"
              "  fabricast help run\n"
              "  fabricast help scenario\n"
              "  fabricast help glossary reduce-scatter\n"
              "  fabricast help how many nics\n",
  .max_rest = MOST_WORDS,
};

static void
list_topics (void)
{
  g_autoptr (FabTopics) topics = fab_topics_new ();

  g_print ("Topics:\n");
  for (guint i = 0; i < fab_topics_count (topics); i++)
    g_print ("  %-12s %s\n", fab_topics_at (topics, i)->name, fab_topics_at (topics, i)->summary);
  g_print (
      "\n`fabricast help TOPIC` explains one. `fabricast help COMMAND` explains a command, and `fabricast --help`\n"
      "lists the commands. `fabricast help how many nics` answers a question with commands.\n");
}

static void
print_topic (const FabTopic *topic)
{
  g_autofree char *rows = fab_topic_rows (topic);

  g_print ("%s: %s\n\n", topic->name, topic->summary);
  fab_help_print (topic->text);
  if (rows != NULL)
    g_print ("\n%s", rows);
}

static gboolean
unknown_topic (const FabTopics *topics, const FabGlossary *glossary, const char *name, GError **error)
{
  g_autoptr (GPtrArray) names = fab_command_names ();
  const char *nearest;

  g_ptr_array_remove_index (names, names->len - 1);
  for (guint i = 0; i < fab_topics_count (topics); i++)
    g_ptr_array_add (names, (gpointer) fab_topics_at (topics, i)->name);
  g_ptr_array_add (names, NULL);
  nearest = fab_nearest (name, (const char *const *) names->pdata);
  if (nearest == NULL)
    nearest = fab_glossary_nearest (glossary, name);
  return fab_throw (error, FAB_ERROR_INPUT,
                    "there is no command, topic or term '%s'%s%s; `fabricast help` lists the topics", name,
                    nearest != NULL ? "; nearest is " : "", nearest != NULL ? nearest : "");
}

/* Finds a term of a question, which may be in the plural. */
static const FabGlossaryTerm *
find_term (const FabGlossary *glossary, const char *name)
{
  const FabGlossaryTerm *term = fab_glossary_find (glossary, name);
  gsize n = strlen (name);

  if (term != NULL || n < 2 || name[n - 1] != 's')
    return term;
  g_autofree char *singular = g_strndup (name, n - 1);
  return fab_glossary_find (glossary, singular);
}

/* Terms may be of several words: "critical path". */
static gboolean
explain (char **words, GError **error)
{
  g_autoptr (FabTopics) topics = fab_topics_new ();
  g_autoptr (FabGlossary) glossary = fab_glossary_new ();
  const FabTopic *topic = fab_topics_find (topics, words[0]);
  g_autofree char *term = g_strjoinv (" ", words);

  if (topic != NULL && words[1] == NULL) {
    print_topic (topic);
    return TRUE;
  }
  if (strcmp (words[0], "completion") == 0)
    return fab_form_completion (words[1], error);
  if (strcmp (words[0], "glossary") == 0)
    return fab_help_term (term + strlen ("glossary "), error);
  if (fab_glossary_find (glossary, term) != NULL)
    return fab_help_term (term, error);
  g_autofree char *asked = fab_question_term (term);
  if (asked != NULL && find_term (glossary, asked) != NULL)
    return fab_help_term (find_term (glossary, asked)->name, error);
  g_autofree char *answers = fab_is_question (term) ? fab_question_answers (term) : NULL;
  if (answers == NULL)
    return unknown_topic (topics, glossary, term, error);
  g_print ("%s", answers);
  return TRUE;
}

static FabExit
run (int argc, char **argv)
{
  g_autoptr (GError) error = NULL;

  if (!fab_cli_parse (&usage, NULL, &argc, &argv, &error))
    return fab_cli_fail ("help", error);
  const FabCommand *command = argc == 2 ? fab_command_find (argv[1]) : NULL;
  if (command != NULL) {
    char *arguments[] = { argv[1], (char *) "--help", NULL };

    return command->run (2, arguments);
  }
  if (argc == 1 || (argc == 2 && strcmp (argv[1], "topics") == 0))
    list_topics ();
  else if (argc == 2 && strcmp (argv[1], "commands") == 0)
    fab_command_print_all ();
  else
    explain (argv + 1, &error);
  return fab_cli_fail ("help", error);
}

const FabCommand fab_command_help = {
  .name = "help",
  .summary = "Explain a topic, a command or a term, such as all-reduce",
  .run = run,
};
