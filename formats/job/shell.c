/* SPDX-License-Identifier: Apache-2.0 */
/* shell.c - the arguments in a shell script, or on a line of its own: --tensor-model-parallel-size 8.
 *
 * The script is not run. Its words are split as a shell splits them, with quotes, comments and lines that go on. A word
 * NAME=VALUE sets a variable, and $NAME, ${NAME}, ${NAME:-VALUE} and $((A * B)) stand for what is known of them. Words
 * that begin with "--" are arguments, wherever they stand, and so are those that set a key with a dot, as Hydra has
 * them: the branches of a script are not told apart, and of two equal arguments the last one counts.
 */
#include <string.h>

#include "formats/job/settings.h"

typedef struct {
  char *text;
  guint line;
  gboolean is_quoted;
} Word;

typedef struct {
  FabJobSettings *settings;
  GHashTable *variables; /* char: char */
} Script;

static void
word_clear (gpointer data)
{
  g_free (((Word *) data)->text);
}

static gboolean
is_name (char c)
{
  return g_ascii_isalnum (c) || c == '_';
}

/* Reads NAME, NAME:-VALUE or NAME-VALUE within braces. */
static void
expand_braces (const Script *self, const char *inner, GString *out)
{
  gsize n = 0;
  g_autofree char *name = NULL;
  const char *known, *rest;

  while (is_name (inner[n]))
    n++;
  name = g_strndup (inner, n);
  known = g_hash_table_lookup (self->variables, name);
  rest = inner + n;
  if (known != NULL && known[0] != '\0')
    g_string_append (out, known);
  else if (g_str_has_prefix (rest, ":-") || g_str_has_prefix (rest, ":="))
    g_string_append (out, rest + 2);
  else if (*rest == '-')
    g_string_append (out, rest + 1);
  else
    g_string_append_printf (out, "${%s}", inner);
}

/* A product or a quotient of whole numbers: "8 * 2", "GPUS_PER_NODE*NNODES". FALSE: it is something else. */
static gboolean
calculate (const Script *self, const char *text, gint64 *result)
{
  char op = '*';

  *result = 1;
  for (;;) {
    const char *start = text + strspn (text, " \t${(");
    gsize n = 0;
    gint64 value;

    while (is_name (start[n]))
      n++;
    g_autofree char *word = g_strndup (start, n);
    const char *known = g_ascii_isdigit (word[0]) ? word : g_hash_table_lookup (self->variables, word);
    if (n == 0 || known == NULL || (value = g_ascii_strtoll (known, NULL, 10)) <= 0 || value > G_MAXINT32)
      return FALSE;
    *result = op == '*' ? *result * value : *result / value;
    text = start + n + strspn (start + n, " \t})");
    if (*text == '\0')
      return *result > 0;
    if ((*text != '*' && *text != '/') || *result > G_MAXINT32)
      return FALSE;
    op = *text++;
  }
}

/* Puts what is known into a word; what is not known stays as it is written. */
static char *
expand (const Script *self, const char *word)
{
  GString *out = g_string_new (NULL);

  for (const char *c = word; *c != '\0';) {
    const char *end;

    if (c[0] == '$' && c[1] == '(' && c[2] == '(' && (end = strstr (c, "))")) != NULL) {
      g_autofree char *inner = g_strndup (c + 3, (gsize) (end - c - 3));
      gint64 value;

      if (calculate (self, inner, &value))
        g_string_append_printf (out, "%" G_GINT64_FORMAT, value);
      else
        g_string_append_len (out, c, end + 2 - c);
      c = end + 2;
    } else if (c[0] == '$' && c[1] == '{' && (end = strchr (c, '}')) != NULL) {
      g_autofree char *inner = g_strndup (c + 2, (gsize) (end - c - 2));

      expand_braces (self, inner, out);
      c = end + 1;
    } else if (c[0] == '$' && is_name (c[1])) {
      gsize n = 1;

      while (is_name (c[n]))
        n++;
      g_autofree char *name = g_strndup (c + 1, n - 1);
      const char *known = g_hash_table_lookup (self->variables, name);
      if (known)
        g_string_append (out, known);
      else
        g_string_append_len (out, c, (gssize) n);
      c += n;
    } else
      g_string_append_c (out, *c++);
  }
  return g_string_free (out, FALSE);
}

/* Returns the end of "$(command)" or "$((sum))" at c, behind its last parenthesis; NULL: it has none. */
static const char *
end_of_substitution (const char *c)
{
  guint depth = 0;

  for (c++; *c != '\0'; c++) {
    depth += *c == '(';
    if (*c == ')' && --depth == 0)
      return c + 1;
  }
  return NULL;
}

/* Reads the word at *c, within which quotes join. A parenthesis ends it: those of an array stand for themselves. */
static void
read_word (const char **c, guint *line, Word *word)
{
  GString *text = g_string_new (NULL);
  char quote = '\0';

  word->line = *line;
  for (; **c != '\0'; (*c)++) {
    if (quote == '\0' && (g_ascii_isspace (**c) || strchr (";|&()", **c)))
      break;
    if (**c == '\n')
      (*line)++;
    if (**c == '\\' && quote != '\'' && (*c)[1] != '\0') {
      (*c)++;
      if (**c == '\n') {
        if (quote == '\0') /* who reads the end of the line counts it */
          break;
        (*line)++;
        continue;
      }
      g_string_append_c (text, **c);
    } else if (quote == '\0' && (**c == '"' || **c == '\'')) {
      quote = **c;
      word->is_quoted = TRUE;
    } else if (**c == quote)
      quote = '\0';
    else if (quote == '\0' && g_str_has_prefix (*c, "$(") && end_of_substitution (*c) != NULL) {
      const char *end = end_of_substitution (*c);

      g_string_append_len (text, *c, end - *c);
      *c = end - 1;
    } else
      g_string_append_c (text, **c);
  }
  word->text = g_string_free (text, FALSE);
}

/* "--nodes=4", "--gres=gpu:a100:8 # all" of a comment that Slurm reads: the key is sbatch.nodes. Its other options say
 * nothing about the job. */
static void
add_batch_option (FabJobSettings *settings, const char *option, guint line)
{
  const char *name = option + strspn (option, " \t-");
  gsize n = strcspn (name, "= \t"), n_value;
  const char *value = name + n + strspn (name + n, "= \t");
  const char *colon;

  n_value = strcspn (value, " \t\r#");
  g_autofree char *text = g_strndup (value, n_value);
  g_autofree char *plain = g_strndup (name, n);
  const char *key = strcmp (plain, "N") == 0 || strcmp (plain, "nodes") == 0 ? "sbatch.nodes"
                  : strcmp (plain, "gres") == 0                              ? "sbatch.gres"
                  : strcmp (plain, "gpus-per-node") == 0                     ? "sbatch.gpus_per_node"
                                                                             : NULL;
  colon = strrchr (text, ':');
  if (key != NULL && n_value > 0)
    fab_job_settings_add (settings, key, colon ? colon + 1 : text, line, TRUE);
}

/* Splits a text into words. Options of Slurm among its comments go to `batch`; NULL: there are none. */
static GArray *
split (const char *text, guint line, FabJobSettings *batch)
{
  GArray *words = g_array_new (FALSE, FALSE, sizeof (Word));

  g_array_set_clear_func (words, word_clear);
  for (const char *c = text; *c != '\0';) {
    Word word = { 0 };

    if (*c == '\n')
      line++;
    if (*c == '\\' && c[1] == '\n') {
      line++;
      c += 2;
      continue;
    }
    if (g_ascii_isspace (*c) || strchr (";|&()", *c) != NULL) {
      c++;
      continue;
    }
    if (*c == '#') {
      const char *end = c + strcspn (c, "\n");

      if (batch != NULL && g_str_has_prefix (c, "#SBATCH ")) {
        g_autofree char *option = g_strndup (c + strlen ("#SBATCH "),
                                             (gsize) (end - c) - strlen ("#SBATCH "));

        add_batch_option (batch, option, line);
      }
      c = end;
      continue;
    }
    read_word (&c, &line, &word);
    g_array_append_val (words, word);
  }
  return words;
}

/* "NAME=VALUE", also behind `export`; FALSE: it is none. The words of an array NAME=(...) follow by themselves. */
static gboolean
assign (Script *self, const Word *word)
{
  gsize n = 0;

  while (is_name (word->text[n]))
    n++;
  if (n == 0 || word->text[n] != '=' || g_ascii_isdigit (word->text[0]))
    return FALSE;
  g_hash_table_insert (self->variables, g_strndup (word->text, n), expand (self, word->text + n + 1));
  return TRUE;
}

/* The key of "--micro-batch-size", without what stands behind "=". */
static char *
key_of (const char *argument)
{
  gsize n = strcspn (argument + 2, "=");
  char *key = g_strndup (argument + 2, n);

  return g_strdelimit (key, "-", '_');
}

static gboolean
is_argument (const char *text)
{
  return g_str_has_prefix (text, "--") && g_ascii_isalpha (text[2]);
}

/* "model.seq_length=4096", "++trainer.devices=8": a key that Hydra sets, with a dot in its name. NULL: it is none.
 * (transfer full): the key; its value stands behind "=". */
static char *
override_key (const char *text)
{
  const char *key = text + strspn (text, "+");
  gsize n = strspn (key, G_CSET_a_2_z G_CSET_A_2_Z G_CSET_DIGITS "_.");

  return key[n] == '=' && g_ascii_isalpha (key[0]) && memchr (key, '.', n) != NULL && key[n - 1] != '.'
           ? g_strndup (key, n)
           : NULL;
}

/* Whether the word behind an argument is its value: it stands on the same line, or is a number on the next one. */
static gboolean
is_value (const Word *argument, const Word *next)
{
  gboolean is_number = g_ascii_isdigit (next->text[0])
                    || (next->text[0] == '-' && g_ascii_isdigit (next->text[1]));

  if (is_argument (next->text) || (next->text[0] == '-' && !is_number))
    return FALSE;
  return next->line == argument->line || (is_number && next->line <= argument->line + 1);
}

/* A quoted text that holds arguments itself: ARGS="--bf16 --seq-length 4096". */
static gboolean
holds_arguments (const char *text)
{
  const char *at = strstr (text, "--");

  return strpbrk (text, " \t\n") != NULL && at != NULL && (at == text || g_ascii_isspace (at[-1]))
      && g_ascii_isalpha (at[2]);
}

enum { MAX_DEPTH = 8 };

/* Whether an argument takes all words up to the next one: such are lists of names. */
static gboolean
is_list (const char *key)
{
  return strcmp (key, "recompute_modules") == 0;
}

/* Appends words that stand at i and behind it, at one line, to the value of a list. Returns how many. */
static guint
append_words (const Script *self, const GArray *words, guint i, char **value)
{
  guint n = 0;

  for (; i + n < words->len; n++) {
    const Word *word = &g_array_index (words, Word, i + n);
    g_autofree char *text = NULL, *shorter = *value;

    if (word->text[0] == '-' || word->line != g_array_index (words, Word, i - 1).line) {
      shorter = NULL;
      break;
    }
    text = expand (self, word->text);
    *value = g_strdup_printf ("%s %s", shorter, text);
  }
  return n;
}

static void take_words (Script *self, const GArray *words, guint depth);

static void
take_text (Script *self, const char *text, guint line, guint depth)
{
  g_autoptr (GArray) words = split (text, line, depth == 0 ? self->settings : NULL);

  if (depth < MAX_DEPTH)
    take_words (self, words, depth + 1);
}

static void
take_words (Script *self, const GArray *words, guint depth)
{
  for (guint i = 0; i < words->len; i++) {
    const Word *word = &g_array_index (words, Word, i);
    g_autofree char *text = NULL, *key = NULL, *value = NULL;
    const char *equals;

    if (assign (self, word)) {
      const char *assigned = strchr (word->text, '=') + 1;
      if (holds_arguments (assigned))
        take_text (self, assigned, word->line, depth);
      continue;
    }
    text = expand (self, word->text);
    key = override_key (text);
    if (key != NULL)
      fab_job_settings_add (self->settings, key, strchr (text, '=') + 1, word->line, FALSE);
    if (!is_argument (text))
      continue;
    if (holds_arguments (text)) {
      take_text (self, text, word->line, depth);
      continue;
    }
    key = key_of (text);
    equals = strchr (text, '=');
    if (equals == NULL && i + 1 < words->len) {
      const Word *next = &g_array_index (words, Word, i + 1);

      if (is_value (word, next))
        value = expand (self, next->text);
      i += value != NULL;
      if (value != NULL && is_list (key))
        i += append_words (self, words, i + 1, &value);
    }
    fab_job_settings_add (self->settings, key, equals ? equals + 1 : value ? value : "", word->line, TRUE);
  }
}

/* Variables that say how many nodes and GPUs a launcher starts. */
static void
add_variable (Script *self, const char *name, const char *key)
{
  const char *value = g_hash_table_lookup (self->variables, name);

  if (value != NULL && strchr (value, '$') == NULL)
    fab_job_settings_add (self->settings, key, value, 1, TRUE);
}

gboolean
fab_job_settings_shell (FabJobSettings *settings, GError **error)
{
  g_autoptr (GHashTable) variables = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, g_free);
  Script self = { .settings = settings, .variables = variables };

  take_text (&self, settings->file->text, 1, 0);
  if (settings->all->len == 0)
    return fab_file_text_fail (settings->file, 0, error, "the script has no argument that begins with --");
  add_variable (&self, "GPUS_PER_NODE", "variable.gpus_per_node");
  add_variable (&self, "NNODES", "variable.nodes");
  add_variable (&self, "NUM_NODES", "variable.nodes");
  return TRUE;
}
