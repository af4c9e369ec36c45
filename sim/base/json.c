/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/base/json.h"

#include <math.h>
#include <string.h>

struct _FabJson {
  FabJsonStyle style;
  GString *text;
  GString *closers; /* of what is open, the innermost last */
  gboolean is_innermost_empty;
};

FabJson *
fab_json_new (FabJsonStyle style)
{
  FabJson *self = g_new0 (FabJson, 1);

  self->style = style;
  self->text = g_string_new (NULL);
  self->closers = g_string_new (NULL);
  return self;
}

void
fab_json_free (FabJson *self)
{
  if (self == NULL)
    return;
  g_string_free (self->text, TRUE);
  g_string_free (self->closers, TRUE);
  g_free (self);
}

/* --- texts --- */

/* Printable ASCII without quotes and backslashes, as nearly all names are. */
static gboolean
is_plain (const char *text)
{
  while (*text >= 0x20 && *text < 0x7f && *text != '"' && *text != '\\')
    text++;
  return *text == '\0';
}

static void
append_escaped (GString *out, char c)
{
  static const char named[] = "\"\\\b\f\n\r\t", names[] = "\"\\bfnrt";
  const char *which = strchr (named, c);

  if (which)
    g_string_append_printf (out, "\\%c", names[which - named]);
  else if ((guchar) c < 0x20 || c == 0x7f)
    g_string_append_printf (out, "\\u%04x", (guint) (guchar) c);
  else
    g_string_append_c (out, c);
}

void
fab_json_append_text (GString *out, const char *text)
{
  g_autofree char *valid = NULL;

  g_string_append_c (out, '"');
  if (is_plain (text))
    g_string_append (out, text);
  else {
    valid = g_utf8_make_valid (text, -1);
    for (const char *p = valid; *p != '\0'; p++)
      append_escaped (out, *p);
  }
  g_string_append_c (out, '"');
}

/* --- structure --- */

static void
indent (FabJson *self)
{
  if (self->style == FAB_JSON_PAGE)
    for (gsize i = 0; i < self->closers->len; i++)
      g_string_append (self->text, "  ");
}

static void
begin_line (FabJson *self)
{
  if (self->style == FAB_JSON_PAGE)
    g_string_append_c (self->text, '\n');
  indent (self);
}

static void
begin_value (FabJson *self, const char *key)
{
  gboolean is_inside = self->closers->len > 0;

  g_assert (is_inside || self->text->len == 0);
  g_assert ((key != NULL) == (is_inside && self->closers->str[self->closers->len - 1] == '}'));
  if (is_inside) {
    if (!self->is_innermost_empty)
      g_string_append_c (self->text, ',');
    begin_line (self);
  }
  self->is_innermost_empty = FALSE;
  if (key == NULL)
    return;
  fab_json_append_text (self->text, key);
  g_string_append (self->text, self->style == FAB_JSON_COMPACT ? ":" : " : ");
}

static void
begin (FabJson *self, const char *key, char opener, char closer)
{
  begin_value (self, key);
  g_string_append_c (self->text, opener);
  g_string_append_c (self->closers, closer);
  self->is_innermost_empty = TRUE;
}

void
fab_json_begin_object (FabJson *self, const char *key)
{
  begin (self, key, '{', '}');
}

void
fab_json_begin_array (FabJson *self, const char *key)
{
  begin (self, key, '[', ']');
}

void
fab_json_end (FabJson *self)
{
  gsize last = self->closers->len - 1;
  char closer;

  g_assert (self->closers->len > 0);
  closer = self->closers->str[last];
  g_string_truncate (self->closers, last);
  if (!self->is_innermost_empty)
    begin_line (self);
  else if (closer == '}')
    indent (self); /* as pages always had it, from json-glib 1.6 */
  g_string_append_c (self->text, closer);
  self->is_innermost_empty = FALSE;
}

/* --- values --- */

void
fab_json_add_real (FabJson *self, const char *key, double value)
{
  char digits[G_ASCII_DTOSTR_BUF_SIZE];

  begin_value (self, key);
  if (!isfinite (value)) {
    g_string_append (self->text, "null");
    return;
  }
  if (self->style == FAB_JSON_COMPACT)
    g_ascii_formatd (digits, sizeof digits, "%.10g", value);
  else
    g_ascii_dtostr (digits, sizeof digits, value);
  g_string_append (self->text, digits);
  if (self->style == FAB_JSON_PAGE && strpbrk (digits, ".e") == NULL)
    g_string_append (self->text, ".0");
}

void
fab_json_add_whole (FabJson *self, const char *key, gint64 value)
{
  begin_value (self, key);
  g_string_append_printf (self->text, "%" G_GINT64_FORMAT, value);
}

void
fab_json_add_text (FabJson *self, const char *key, const char *value)
{
  begin_value (self, key);
  if (value)
    fab_json_append_text (self->text, value);
  else
    g_string_append (self->text, "null");
}

void
fab_json_add_flag (FabJson *self, const char *key, gboolean value)
{
  begin_value (self, key);
  g_string_append (self->text, value ? "true" : "false");
}

void
fab_json_add_null (FabJson *self, const char *key)
{
  fab_json_add_text (self, key, NULL);
}

void
fab_json_add_json (FabJson *self, const char *key, const char *text)
{
  begin_value (self, key);
  g_string_append (self->text, text);
}

void
fab_json_add_texts (FabJson *self, const char *key, const char *const *values)
{
  fab_json_begin_array (self, key);
  for (guint i = 0; values[i]; i++)
    fab_json_add_text (self, NULL, values[i]);
  fab_json_end (self);
}

char *
fab_json_text (const FabJson *self)
{
  g_assert (self->closers->len == 0);
  return g_strndup (self->text->str, self->text->len);
}

char *
fab_json_finish (const FabJson *self)
{
  g_autofree char *text = fab_json_text (self);

  return g_strconcat (text, "\n", NULL);
}
