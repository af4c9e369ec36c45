/* SPDX-License-Identifier: Apache-2.0 */
#include "formats/text/json.h"

#include <string.h>

#include "sim/base/error.h"

#define MAX_DEPTH G_N_ELEMENTS (((FabFileJson *) 0)->is_object)

void
fab_file_json_init (FabFileJson *self, FabFileBytes *bytes)
{
  memset (self, 0, sizeof *self);
  self->bytes = bytes;
  self->keeps_text = TRUE;
}

void
fab_file_json_clear (FabFileJson *self)
{
  g_clear_error (&self->error);
}

gboolean
fab_file_json_fail (FabFileJson *self, const char *format, ...)
{
  va_list list;
  g_autofree char *what = NULL;

  if (self->error != NULL)
    return FALSE;
  va_start (list, format);
  what = g_strdup_vprintf (format, list);
  va_end (list);
  return fab_throw (&self->error, FAB_ERROR_INPUT, "%s: byte %" G_GUINT64_FORMAT ": %s",
                    fab_file_bytes_name (self->bytes),
                    fab_file_bytes_at (self->bytes) + self->chunk_size - (guint64) (self->end - self->at),
                    what);
}

/* Makes at least one byte lie at `at`. FALSE at the end of the file. */
static gboolean
refill (FabFileJson *self)
{
  const char *data = NULL;

  if (self->at < self->end)
    return TRUE;
  if (self->error != NULL)
    return FALSE;
  fab_file_bytes_take (self->bytes, self->chunk_size);
  self->chunk_size = 0;
  self->at = self->end = NULL;
  if (!fab_file_bytes_peek (self->bytes, &data, &self->chunk_size, &self->error)) {
    self->chunk_size = 0;
    return FALSE;
  }
  self->at = data;
  self->end = data + self->chunk_size;
  return self->chunk_size > 0;
}

static gboolean
is_blank (char c)
{
  return c == ' ' || c == '\n' || c == '\t' || c == '\r';
}

static gboolean
skip_blanks (FabFileJson *self)
{
  while (refill (self)) {
    while (self->at < self->end && is_blank (*self->at))
      self->at++;
    if (self->at < self->end)
      return TRUE;
  }
  return FALSE;
}

static void
keep (FabFileJson *self, const char *data, gsize size)
{
  gsize room = FAB_FILE_TEXT_BYTES - self->text_size;

  if (!self->keeps_text)
    return;
  size = MIN (size, room);
  memcpy (self->text + self->text_size, data, size);
  self->text_size += size;
}

static gboolean
read_byte (FabFileJson *self, char *c)
{
  if (!refill (self))
    return fab_file_json_fail (self, "the file ends within a value; it is cut");
  *c = *self->at++;
  return TRUE;
}

static gboolean
read_unicode (FabFileJson *self)
{
  guint code = 0;
  char utf8[6], c = 0;

  for (guint i = 0; i < 4; i++) {
    if (!read_byte (self, &c))
      return FALSE;
    if (!g_ascii_isxdigit (c))
      return fab_file_json_fail (self, "\\u needs four hexadecimal digits");
    code = code * 16 + (guint) g_ascii_xdigit_value (c);
  }
  if (code == 0 || (code >= 0xd800 && code < 0xe000))
    code = 0xfffd; /* pairs of surrogates are not needed for names of kernels */
  keep (self, utf8, (gsize) g_unichar_to_utf8 (code, utf8));
  return TRUE;
}

static gboolean
read_escape (FabFileJson *self)
{
  const char *from = "\"\\/bfnrt", *to = "\"\\/\b\f\n\r\t", *found;
  char c = 0;

  if (!read_byte (self, &c))
    return FALSE;
  if (c == 'u')
    return read_unicode (self);
  found = c != '\0' ? strchr (from, c) : NULL;
  if (found == NULL)
    return fab_file_json_fail (self, "a text has an escape that JSON does not know");
  keep (self, to + (found - from), 1);
  return TRUE;
}

/* Reads a text after its first quote. */
static gboolean
read_text (FabFileJson *self)
{
  self->text_size = 0;
  while (TRUE) {
    const char *from;

    if (!refill (self))
      return fab_file_json_fail (self, "the file ends within a text; it is cut");
    from = self->at;
    while (self->at < self->end && *self->at != '"' && *self->at != '\\')
      self->at++;
    keep (self, from, (gsize) (self->at - from));
    if (self->at == self->end)
      continue;
    if (*self->at++ == '"')
      break;
    if (!read_escape (self))
      return FALSE;
  }
  self->text[self->text_size] = '\0';
  return TRUE;
}

static gboolean
is_bare (char c)
{
  return g_ascii_isalnum (c) || c == '-' || c == '+' || c == '.';
}

static FabFileJsonToken
read_bare (FabFileJson *self)
{
  static const char *const words[] = { "true", "false", "null", "NaN", "Infinity", "-Infinity" };
  gboolean kept = self->keeps_text;

  self->text_size = 0;
  self->keeps_text = TRUE;
  while (refill (self) && is_bare (*self->at))
    keep (self, self->at++, 1);
  self->keeps_text = kept;
  self->text[self->text_size] = '\0';
  if (self->error != NULL)
    return FAB_FILE_JSON_ERROR;
  for (guint i = 0; i < G_N_ELEMENTS (words); i++)
    if (strcmp (self->text, words[i]) == 0)
      return FAB_FILE_JSON_WORD;
  if (g_ascii_isdigit (self->text[0]) || (self->text[0] == '-' && g_ascii_isdigit (self->text[1])))
    return FAB_FILE_JSON_NUMBER;
  fab_file_json_fail (self, "no JSON value begins here");
  return FAB_FILE_JSON_ERROR;
}

static FabFileJsonToken
open_value (FabFileJson *self, gboolean is_object)
{
  if (self->depth == MAX_DEPTH) {
    fab_file_json_fail (self, "values are nested deeper than %u", (guint) MAX_DEPTH);
    return FAB_FILE_JSON_ERROR;
  }
  self->is_object[self->depth++] = is_object ? 1 : 0;
  self->may_end = TRUE;
  self->needs_value = !is_object;
  return is_object ? FAB_FILE_JSON_OBJECT : FAB_FILE_JSON_ARRAY;
}

static FabFileJsonToken
close_value (FabFileJson *self, gboolean is_object)
{
  if (self->depth == 0 || self->is_object[self->depth - 1] != is_object || !self->may_end) {
    fab_file_json_fail (self, "a closing bracket has no opening one");
    return FAB_FILE_JSON_ERROR;
  }
  self->depth--;
  self->at++;
  self->may_end = TRUE;
  self->needs_value = FALSE;
  return is_object ? FAB_FILE_JSON_OBJECT_END : FAB_FILE_JSON_ARRAY_END;
}

static FabFileJsonToken
read_value (FabFileJson *self)
{
  FabFileJsonToken token;
  char c = *self->at;

  if (c == '{' || c == '[') {
    self->at++;
    return open_value (self, c == '{');
  }
  self->needs_value = FALSE;
  if (c == '"') {
    self->at++;
    token = read_text (self) ? FAB_FILE_JSON_TEXT : FAB_FILE_JSON_ERROR;
  } else
    token = read_bare (self);
  self->may_end = TRUE;
  return token;
}

/* Reads a key and its colon. */
static FabFileJsonToken
read_key (FabFileJson *self)
{
  if (*self->at != '"') {
    fab_file_json_fail (self, "a key in quotes is missing");
    return FAB_FILE_JSON_ERROR;
  }
  self->at++;
  if (!read_text (self))
    return FAB_FILE_JSON_ERROR;
  if (!skip_blanks (self) || *self->at != ':') {
    fab_file_json_fail (self, "a colon is missing after a key");
    return FAB_FILE_JSON_ERROR;
  }
  self->at++;
  self->needs_value = TRUE;
  self->may_end = FALSE;
  return FAB_FILE_JSON_KEY;
}

/* Between values: whether one may close here, or after a comma the next one begins. */
static gboolean
pass_comma (FabFileJson *self, gboolean is_first)
{
  if (is_first)
    return TRUE;
  if (*self->at != ',')
    return fab_file_json_fail (self, "a comma or a closing bracket is missing");
  self->at++;
  self->may_end = FALSE;
  if (!skip_blanks (self))
    return fab_file_json_fail (self, "the file ends within a value; it is cut");
  return TRUE;
}

static FabFileJsonToken
read_in (FabFileJson *self, FabFileJsonToken before)
{
  gboolean is_object = self->is_object[self->depth - 1] != 0;
  gboolean is_first = before == FAB_FILE_JSON_OBJECT || before == FAB_FILE_JSON_ARRAY;

  if (self->may_end && (*self->at == '}' || *self->at == ']'))
    return close_value (self, *self->at == '}');
  if (!pass_comma (self, is_first))
    return FAB_FILE_JSON_ERROR;
  return is_object ? read_key (self) : read_value (self);
}

FabFileJsonToken
fab_file_json_next (FabFileJson *self)
{
  gboolean is_after_key = self->needs_value && self->depth > 0 && self->is_object[self->depth - 1];
  gboolean is_first = self->may_end && self->is_done;
  FabFileJsonToken token;

  if (self->error != NULL)
    return FAB_FILE_JSON_ERROR;
  if (!skip_blanks (self)) {
    if (self->error == NULL && self->depth == 0 && self->may_end)
      return FAB_FILE_JSON_END;
    fab_file_json_fail (self, "the file ends within a value; it is cut");
    return FAB_FILE_JSON_ERROR;
  }
  if (self->depth == 0 && self->may_end) {
    fab_file_json_fail (self, "the file goes on after the end of the document");
    return FAB_FILE_JSON_ERROR;
  }
  if (self->depth == 0 || is_after_key)
    token = read_value (self);
  else
    token = read_in (self, is_first ? FAB_FILE_JSON_OBJECT : FAB_FILE_JSON_END);
  self->is_done = token == FAB_FILE_JSON_OBJECT || token == FAB_FILE_JSON_ARRAY;
  return self->error != NULL ? FAB_FILE_JSON_ERROR : token;
}

gboolean
fab_file_json_more (FabFileJson *self)
{
  if (self->error != NULL || !skip_blanks (self))
    return FALSE;
  self->may_end = self->needs_value = self->is_done = FALSE;
  return TRUE;
}

gboolean
fab_file_json_skip_from (FabFileJson *self, FabFileJsonToken token)
{
  guint depth = self->depth;

  self->keeps_text = FALSE;
  if (token == FAB_FILE_JSON_OBJECT || token == FAB_FILE_JSON_ARRAY)
    while (token != FAB_FILE_JSON_ERROR && self->depth >= depth)
      token = fab_file_json_next (self);
  self->keeps_text = TRUE;
  return token != FAB_FILE_JSON_ERROR;
}

gboolean
fab_file_json_skip (FabFileJson *self)
{
  self->keeps_text = FALSE;
  return fab_file_json_skip_from (self, fab_file_json_next (self));
}

gboolean
fab_file_json_copy (FabFileJson *self, char *to, gsize size)
{
  FabFileJsonToken token = fab_file_json_next (self);

  if (token == FAB_FILE_JSON_TEXT || token == FAB_FILE_JSON_NUMBER)
    g_strlcpy (to, self->text, size);
  return fab_file_json_skip_from (self, token);
}
