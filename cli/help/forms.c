/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/help/forms.h"

#include <gio/gio.h>
#include <string.h>

#include "cli/help/commands.h"
#include "cli/help/topics.h"
#include "sim/base/error.h"
#include "sim/base/nearest.h"

static const char *const shells[] = { "bash", "zsh", "fish", NULL };

/* --- manual pages --- */

/* Appends text with what troff would take for its own escaped. */
static void
append_roff (GString *out, const char *text)
{
  for (const char *p = text; *p != '\0'; p++) {
    gboolean begins = p == text || p[-1] == '\n';

    if (begins && (*p == '.' || *p == '\''))
      g_string_append (out, "\\&");
    if (*p == '-')
      g_string_append (out, "\\-");
    else if (*p == '\\')
      g_string_append (out, "\\e");
    else
      g_string_append_c (out, *p);
  }
}

/* Paragraphs of prose; indented lines stay lines. */
static void
append_prose (GString *out, const char *text)
{
  g_auto (GStrv) lines = g_strsplit (text, "\n", -1);
  gboolean is_block = FALSE;

  for (guint i = 0; lines[i] != NULL; i++) {
    gboolean is_indented = *lines[i] == ' ';

    if (*lines[i] == '\0') {
      g_string_append (out, lines[i + 1] != NULL ? ".PP\n" : "");
      continue;
    }
    if (is_indented != is_block)
      g_string_append (out, is_indented ? ".nf\n" : ".fi\n");
    is_block = is_indented;
    append_roff (out, lines[i]);
    g_string_append_c (out, '\n');
  }
  g_string_append (out, is_block ? ".fi\n" : "");
}

static void
append_option (GString *out, const GOptionEntry *entry)
{
  g_autofree char *name = g_strconcat ("--", entry->long_name, NULL);

  g_string_append (out, ".TP\n.B ");
  if (entry->short_name != 0)
    g_string_append_printf (out, "\\-%c, ", entry->short_name);
  append_roff (out, name);
  if (entry->arg != G_OPTION_ARG_NONE && entry->arg_description != NULL) {
    g_string_append_c (out, '=');
    append_roff (out, entry->arg_description);
  }
  g_string_append_c (out, '\n');
  append_roff (out, entry->description != NULL ? entry->description : "");
  g_string_append_c (out, '\n');
}

static void
print_man (const char *command, const FabUsage *usage, const GOptionEntry *entries)
{
  const FabCommand *known = fab_command_find (command);
  g_autofree char *upper = g_ascii_strup (command, -1);
  g_autoptr (GString) out = g_string_new (".\\\" SPDX-License-Identifier: Apache-2.0\n");

  g_string_append_printf (out, ".TH FABRICAST-%s 1 \"\" \"fabricast %s\" \"User Commands\"\n", upper,
                          FAB_VERSION);
  g_string_append_printf (out, ".SH NAME\nfabricast-%s \\- ", command);
  append_roff (out, known != NULL ? known->summary : usage->arguments); /* a part of one: "validate links" */
  g_string_append_printf (out, "\n.SH SYNOPSIS\n.B fabricast %s\n", command);
  append_roff (out, "[OPTION...] ");
  append_roff (out, usage->arguments);
  g_string_append (out, "\n.SH DESCRIPTION\n");
  append_prose (out, usage->summary);
  g_string_append (out, ".SH OPTIONS\n");
  for (const GOptionEntry *entry = entries; entry != NULL && entry->long_name != NULL; entry++)
    append_option (out, entry);
  g_string_append (out, ".TP\n.B \\-h, \\-\\-help\nShow this help\n.SH EXAMPLES\n");
  append_prose (out, usage->examples);
  g_string_append (
      out, ".SH SEE ALSO\n.BR fabricast (1)\nfor all commands, exit codes and environment variables;\n"
           ".B fabricast help\nfor topics and the glossary.\n");
  g_print ("%s", out->str);
}

/* --- completions --- */

/* Options whose values are names that the program lists. */
static const struct {
  const char *option, *section;
} listed[] = { { "node", "nodes" },         { "accelerator", "accelerators" }, { "nic", "links" },
               { "fabric", "fabric" },      { "fidelity", "fidelity" },        { "library", "collectives" },
               { "algorithm", "algorithm" } };

/* Arguments that are names; those of other commands are files. */
static const struct {
  const char *command, *names;
} arguments[] = { { "describe", "$(fabricast describe --names 2>/dev/null)" },
                  { "query", "$(fabricast describe queries --names 2>/dev/null)" },
                  { "measure", "show $(fabricast describe measure --names 2>/dev/null)" } };

static const char scenario_names[] = "$(fabricast describe scenarios --names 2>/dev/null)";

/* The formats that an entry describes: "text (default), json or csv", among other words. (transfer full) */
static char *
formats_of (const char *description)
{
  static const char *const known[] = { "text", "json",   "csv",    "markdown", "matrix", "dot",
                                       "svg",  "chrome", "kineto", "chakra",   "goal",   NULL };
  g_auto (GStrv) words = g_strsplit_set (description, " ,;:()", -1);
  g_autoptr (GPtrArray) formats = g_ptr_array_new ();

  for (guint i = 0; words[i] != NULL; i++)
    if (g_strv_contains (known, words[i])
        && !g_ptr_array_find_with_equal_func (formats, words[i], g_str_equal, NULL))
      g_ptr_array_add (formats, words[i]);
  g_ptr_array_add (formats, NULL);
  return g_strjoinv (" ", (char **) formats->pdata);
}

static gboolean
takes_file (const GOptionEntry *entry)
{
  return entry->arg_description != NULL
      && (strstr (entry->arg_description, "FILE") != NULL || strstr (entry->arg_description, "PATH") != NULL);
}

/* What the shell offers as a value, as words or a command in $(): NULL for files or nothing. (transfer full) */
static char *
values_of (const GOptionEntry *entry)
{
  if (strcmp (entry->long_name, "format") == 0)
    return formats_of (entry->description);
  for (guint i = 0; i < G_N_ELEMENTS (listed); i++)
    if (strcmp (listed[i].option, entry->long_name) == 0)
      return g_strdup_printf ("$(fabricast describe %s --names 2>/dev/null)", listed[i].section);
  return NULL;
}

/* The names of an argument of a command, or NULL: files. (transfer full) */
static char *
names_of (const char *command)
{
  g_autoptr (GPtrArray) names = NULL;

  for (guint i = 0; i < G_N_ELEMENTS (arguments); i++)
    if (strcmp (arguments[i].command, command) == 0)
      return g_strdup (arguments[i].names);
  if (strcmp (command, fab_command_help.name) != 0)
    return NULL;
  names = fab_command_names ();
  g_ptr_array_remove_index (names, names->len - 1);
  g_autoptr (FabTopics) topics = fab_topics_new ();
  for (guint i = 0; i < fab_topics_count (topics); i++)
    g_ptr_array_add (names, (gpointer) fab_topics_at (topics, i)->name);
  g_ptr_array_add (names, NULL);
  return g_strjoinv (" ", (char **) names->pdata);
}

/* Says whether the arguments of a command are scenarios, which are files or names of shipped ones. */
static gboolean
takes_scenario (const FabUsage *usage)
{
  return strstr (usage->arguments, "SCENARIO") != NULL;
}

/* Text between single quotes of a shell, with `special` marked by a backslash. (transfer full) */
static char *
quoted (const char *text, const char *special, const char *quote)
{
  GString *out = g_string_new (NULL);

  for (const char *p = text; *p != '\0'; p++) {
    if (*p == '\'') {
      g_string_append (out, quote);
      continue;
    }
    if (strchr (special, *p) != NULL)
      g_string_append_c (out, '\\');
    g_string_append_c (out, *p);
  }
  return g_string_free (out, FALSE);
}

static gboolean
is_repeatable (const GOptionEntry *entry)
{
  return entry->arg == G_OPTION_ARG_STRING_ARRAY || entry->arg == G_OPTION_ARG_FILENAME_ARRAY;
}

static void
print_zsh_option (const GOptionEntry *entry)
{
  g_autofree char *text = quoted (entry->description, "[]", "'\\''");
  g_autofree char *values = values_of (entry);
  const char *value = entry->arg_description != NULL ? entry->arg_description : "value";
  g_autofree char *what = quoted (value, ":[]", "'\\''");

  for (guint is_short = 0; is_short <= (entry->short_name != 0 ? 1 : 0); is_short++) {
    g_autofree char *name = is_short ? g_strdup_printf ("-%c", entry->short_name)
                                     : g_strdup_printf ("--%s", entry->long_name);

    g_print (" \\\n        '%s%s%s[%s]", is_repeatable (entry) ? "*" : "", name,
             entry->arg == G_OPTION_ARG_NONE ? ""
             : is_short                      ? "+"
                                             : "=",
             text);
    if (entry->arg == G_OPTION_ARG_NONE)
      g_print ("'");
    else if (values == NULL)
      g_print (":%s:%s'", what, takes_file (entry) ? "_files" : " ");
    else if (*values == '$')
      g_print (":%s:{compadd -- %s}'", what, values);
    else
      g_print (":%s:(%s)'", what, values);
  }
}

static void
print_zsh (const char *command, const FabUsage *usage, const GOptionEntry *entries)
{
  g_autofree char *names = names_of (command);

  g_print ("    %s)\n      _arguments", command);
  for (const GOptionEntry *entry = entries; entry != NULL && entry->long_name != NULL; entry++)
    print_zsh_option (entry);
  g_print (" \\\n        '(-h --help)'{-h,--help}'[Show this help]'");
  if (names != NULL)
    g_print (" \\\n        '*:name:{compadd -- %s}' ;;\n", names);
  else if (takes_scenario (usage))
    g_print (" \\\n        '*:scenario:{compadd -- %s; _files}' ;;\n", scenario_names);
  else
    g_print (" \\\n        '*:file:_files' ;;\n");
}

static void
print_fish (const char *command, const FabUsage *usage, const GOptionEntry *entries)
{
  g_autofree char *names = names_of (command);
  g_autofree char *condition = g_strdup_printf ("complete -c fabricast -n '__fish_seen_subcommand_from %s'",
                                                command);
  g_auto (GStrv) list = g_strsplit (names != NULL ? names : "", "$(", -1); /* fish has () in place of $() */
  g_autofree char *joined = g_strjoinv ("(", list);

  for (const GOptionEntry *entry = entries; entry != NULL && entry->long_name != NULL; entry++) {
    g_autofree char *text = quoted (entry->description, "\\", "\\'");
    g_autofree char *values = values_of (entry);

    g_print ("%s -l %s", condition, entry->long_name);
    if (entry->short_name != 0)
      g_print (" -s %c", entry->short_name);
    if (values != NULL)
      g_print (" -x -a '%s'", values + (*values == '$' ? 1 : 0));
    else if (entry->arg != G_OPTION_ARG_NONE)
      g_print (takes_file (entry) ? " -r" : " -x");
    g_print (" -d '%s'\n", text);
  }
  g_print ("%s -l help -s h -d 'Show this help'\n", condition);
  if (names != NULL)
    g_print ("%s -f -a '%s'\n", condition, joined);
  else if (takes_scenario (usage)) /* files too */
    g_print ("%s -a '%s'\n", condition, scenario_names + 1);
}

gboolean
fab_form_print (const char *form, const char *command, const FabUsage *usage, const GOptionEntry *entries,
                GError **error)
{
  if (strcmp (form, "man") == 0)
    print_man (command, usage, entries);
  else if (strcmp (form, "zsh") == 0)
    print_zsh (command, usage, entries);
  else if (strcmp (form, "fish") == 0)
    print_fish (command, usage, entries);
  else
    return fab_throw (error, FAB_ERROR_INPUT, "--help-as %s: there are man, zsh and fish", form);
  return TRUE;
}

/* Every command prints its own part. */
static void
print_commands (const char *shell)
{
  g_autoptr (GPtrArray) names = fab_command_names ();
  g_autofree char *form = g_strconcat ("--help-as=", shell, NULL);

  for (guint i = 0; i + 1 < names->len; i++) {
    char *words[] = { names->pdata[i], form, NULL };

    fab_command_find (names->pdata[i])->run (2, words);
  }
}

static void
print_fish_file (void)
{
  g_autoptr (GPtrArray) names = fab_command_names ();

  g_print (
      "# fish completion of fabricast(1)\n# SPDX-License-Identifier: Apache-2.0\n\n"
      "complete -c fabricast -n __fish_use_subcommand -l version -d 'Print the version'\n"
      "complete -c fabricast -l color -x -a 'auto always never' -d 'When to colour'\n"
      "complete -c fabricast -l allow-large -d 'Simulate what is estimated to need more memory than is free'\n");
  for (guint i = 0; i + 1 < names->len; i++) {
    g_autofree char *text = quoted (fab_command_find (names->pdata[i])->summary, "\\", "\\'");

    g_print ("complete -c fabricast -f -n __fish_use_subcommand -a %s -d '%s'\n",
             (const char *) names->pdata[i], text);
  }
  print_commands ("fish");
}

static void
print_zsh_file (void)
{
  g_autoptr (GPtrArray) names = fab_command_names ();

  g_print (
      "#compdef fabricast\n# zsh completion of fabricast(1)\n# SPDX-License-Identifier: Apache-2.0\n\n"
      "_fabricast() {\n  local context state state_descr line\n  typeset -A opt_args\n  local -a commands\n"
      "  commands=(\n");
  for (guint i = 0; i + 1 < names->len; i++) {
    g_autofree char *text = quoted (fab_command_find (names->pdata[i])->summary, ":", "'\\''");

    g_print ("    '%s:%s'\n", (const char *) names->pdata[i], text);
  }
  g_print ("  )\n  _arguments -C '--color=[When to colour]:WHEN:(auto always never)' "
           "'--allow-large[Simulate what needs more memory than is free]' "
           "'--version[Print the version]' \\\n"
           "    '1: :->command' '*:: :->rest'\n"
           "  [[ $state = command ]] && _describe command commands\n  [[ $state = rest ]] || return\n"
           "  case $words[1] in\n");
  print_commands ("zsh");
  g_print ("  esac\n}\n\n_fabricast \"$@\"\n");
}

gboolean
fab_form_completion (const char *shell, GError **error)
{
  const char *nearest = fab_nearest (shell, shells);

  if (strcmp (shell, "zsh") == 0) {
    print_zsh_file ();
  } else if (strcmp (shell, "fish") == 0) {
    print_fish_file ();
  } else if (strcmp (shell, "bash") == 0) {
    g_autoptr (GBytes) file = g_resources_lookup_data ("/fabricast/help/fabricast.bash",
                                                       G_RESOURCE_LOOKUP_FLAGS_NONE, error);
    if (file == NULL)
      return FALSE;
    g_print ("%.*s", (int) g_bytes_get_size (file), (const char *) g_bytes_get_data (file, NULL));
  } else {
    return fab_throw (error, FAB_ERROR_INPUT, "completion %s: there are bash, zsh and fish%s%s", shell,
                      nearest != NULL ? "; nearest is " : "", nearest != NULL ? nearest : "");
  }
  return TRUE;
}
