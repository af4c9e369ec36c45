/* SPDX-License-Identifier: Apache-2.0 */
/* toml.c - TOML (toml.io, 1.0) as configurations use it: tables, arrays of tables, dotted keys, strings of all four
 * kinds, numbers, truth values, times as they are written, arrays, inline tables.
 *
 * Debian has readers of TOML for C++ only. What this one leaves to others is checking: a key that is given twice
 * counts as it is given last, and \u in strings is kept as it is written.
 */
#include <string.h>

#include "formats/job/settings.h"

enum { MAX_DEPTH = 32 };

typedef struct {
  FabJobSettings *settings;
  const char *at;
  guint line;
  GString *table;     /* "training"; "": none yet */
  GHashTable *arrays; /* name of an array of tables: how many there are */
  GError **error;
} Reader;

static gboolean
fail (Reader *self, const char *what)
{
  return fab_file_text_fail (self->settings->file, self->line, self->error, "TOML: %s", what);
}

static void
skip_blanks (Reader *self)
{
  self->at += strspn (self->at, " \t");
}

/* Passes over blanks, line ends and comments. */
static void
skip_lines (Reader *self)
{
  for (;; self->at++) {
    skip_blanks (self);
    if (*self->at == '#')
      self->at += strcspn (self->at, "\n");
    if (*self->at == '\n')
      self->line++;
    else if (*self->at != '\r')
      return;
  }
}

/* Reads a string; its first quote is next. */
static gboolean
read_string (Reader *self, GString *out)
{
  char quote = *self->at;
  gboolean is_long = self->at[1] == quote && self->at[2] == quote;

  self->at += is_long ? 3 : 1;
  for (; *self->at != '\0'; self->at++) {
    if (*self->at == quote && (!is_long || (self->at[1] == quote && self->at[2] == quote))) {
      self->at += is_long ? 3 : 1;
      return TRUE;
    }
    if (*self->at == '\n') {
      if (!is_long)
        return fail (self, "a string ends at its line; one of several lines has three quotes");
      self->line++;
    }
    if (*self->at == '\\' && quote == '"' && (self->at[1] == '"' || self->at[1] == '\\'))
      self->at++;
    g_string_append_c (out, *self->at);
  }
  return fail (self, "a string does not end");
}

/* Reads "a.b", 'a'."b c" into `out`. */
static gboolean
read_key (Reader *self, GString *out)
{
  for (;;) {
    gsize n;

    skip_blanks (self);
    n = strspn (self->at, G_CSET_a_2_z G_CSET_A_2_Z G_CSET_DIGITS "_-");
    if (out->len > 0)
      g_string_append_c (out, '.');
    if (*self->at == '"' || *self->at == '\'') {
      if (!read_string (self, out))
        return FALSE;
    } else if (n == 0)
      return fail (self, "a key is missing; a line is KEY = VALUE, [TABLE] or a comment");
    g_string_append_len (out, self->at, (gssize) n);
    self->at += n;
    skip_blanks (self);
    if (*self->at != '.')
      return TRUE;
    self->at++;
  }
}

static gboolean read_value (Reader *self, const char *key, GString *list, guint depth);

static gboolean
read_pair (Reader *self, const char *prefix, guint depth)
{
  g_autoptr (GString) key = g_string_new (NULL), whole = g_string_new (prefix);

  if (!read_key (self, key))
    return FALSE;
  if (*self->at != '=')
    return fail (self, "`=` is missing behind a key");
  self->at++;
  g_string_append_printf (whole, "%s%s", whole->len ? "." : "", key->str);
  return read_value (self, whole->str, NULL, depth);
}

/* {a = 1, b = 2} */
static gboolean
read_inline (Reader *self, const char *key, guint depth)
{
  self->at++;
  skip_lines (self);
  while (*self->at != '}') {
    if (!read_pair (self, key, depth + 1))
      return FALSE;
    skip_lines (self);
    if (*self->at == ',')
      self->at++;
    else if (*self->at != '}')
      return fail (self, "`,` or `}` is missing in an inline table");
    skip_lines (self);
  }
  self->at++;
  return TRUE;
}

/* [1, 2]: one setting whose value is the list as it is written; into `outer` where it is one of another array. */
static gboolean
read_array (Reader *self, const char *key, GString *outer, guint depth)
{
  g_autoptr (GString) list = g_string_new ("[");
  guint line = self->line;

  self->at++;
  skip_lines (self);
  while (*self->at != ']') {
    if (list->len > 1)
      g_string_append (list, ", ");
    if (!read_value (self, key, list, depth + 1))
      return FALSE;
    skip_lines (self);
    if (*self->at == ',')
      self->at++;
    else if (*self->at != ']')
      return fail (self, "`,` or `]` is missing in an array");
    skip_lines (self);
  }
  self->at++;
  g_string_append_c (list, ']');
  if (outer != NULL)
    g_string_append (outer, list->str);
  else
    fab_job_settings_add (self->settings, key, list->str, line, FALSE);
  return TRUE;
}

/* Reads a value of `key`; into `list` where it is one of an array. */
static gboolean
read_value (Reader *self, const char *key, GString *list, guint depth)
{
  g_autoptr (GString) text = g_string_new (NULL);
  guint line = self->line;

  skip_blanks (self);
  if (depth > MAX_DEPTH)
    return fail (self, "values are nested deeper than 32");
  if (*self->at == '{')
    return read_inline (self, key, depth);
  if (*self->at == '[')
    return read_array (self, key, list, depth);
  if (*self->at == '"' || *self->at == '\'') {
    if (!read_string (self, text))
      return FALSE;
  } else {
    gsize n = strcspn (self->at, ",]}#\r\n");

    g_string_append_len (text, self->at, (gssize) n);
    self->at += n;
    g_strchomp (text->str);
    if (text->str[0] == '\0')
      return fail (self, "a value is missing");
  }
  if (list != NULL)
    g_string_append (list, text->str);
  else
    fab_job_settings_add (self->settings, key, text->str, line, FALSE);
  return TRUE;
}

/* [a.b] or [[a.b]], whose bracket is next. */
static gboolean
read_table (Reader *self)
{
  gboolean is_array = self->at[1] == '[';

  self->at += is_array ? 2 : 1;
  g_string_truncate (self->table, 0);
  if (!read_key (self, self->table))
    return FALSE;
  if (*self->at != ']' || (is_array && self->at[1] != ']'))
    return fail (self, is_array ? "`]]` is missing behind the name of a table"
                                : "`]` is missing behind the name of a table");
  self->at += is_array ? 2 : 1;
  if (is_array) {
    guint n = GPOINTER_TO_UINT (g_hash_table_lookup (self->arrays, self->table->str));

    g_hash_table_insert (self->arrays, g_strdup (self->table->str), GUINT_TO_POINTER (n + 1));
    g_string_append_printf (self->table, ".%u", n);
  }
  return TRUE;
}

gboolean
fab_job_settings_toml (FabJobSettings *settings, GError **error)
{
  g_autoptr (GString) table = g_string_new (NULL);
  g_autoptr (GHashTable) arrays = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  Reader self = { .settings = settings,
                  .at = settings->file->text,
                  .line = 1,
                  .table = table,
                  .arrays = arrays,
                  .error = error };

  for (skip_lines (&self); *self.at != '\0'; skip_lines (&self)) {
    guint line = self.line;

    if (*self.at == '[' ? !read_table (&self) : !read_pair (&self, table->str, 0))
      return FALSE;
    skip_lines (&self);
    if (self.line == line && *self.at != '\0')
      return fail (&self, "something follows the value at its line; after it comes a line end or a comment");
  }
  return TRUE;
}
