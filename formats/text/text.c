/* SPDX-License-Identifier: Apache-2.0 */
#include "formats/text/text.h"

#include <string.h>

#include "sim/base/error.h"

char
fab_file_text_first (const FabFileText *self)
{
  gsize at = 0;

  while (at < self->size && g_ascii_isspace (self->text[at]))
    at++;
  return at < self->size ? self->text[at] : '\0';
}

gboolean
fab_file_text_is_json (const FabFileText *self)
{
  char first = fab_file_text_first (self);

  return first == '{' || first == '[';
}

gboolean
fab_file_text_begins (const FabFileText *self, const char *start)
{
  gsize length = strlen (start);

  return self->size >= length && memcmp (self->text, start, length) == 0;
}

gboolean
fab_file_text_has (const FabFileText *self, const char *part)
{
  return g_strstr_len (self->text, (gssize) self->size, part) != NULL;
}

gboolean
fab_file_text_fail (const FabFileText *self, guint line, GError **error, const char *format, ...)
{
  va_list args;

  va_start (args, format);
  g_autofree char *message = g_strdup_vprintf (format, args);
  va_end (args);
  g_autofree char *valid = g_utf8_make_valid (message, -1);
  if (line == 0)
    return fab_throw (error, FAB_ERROR_INPUT, "%s: %s", self->name, valid);
  return fab_throw (error, FAB_ERROR_INPUT, "%s:%u: %s", self->name, line, valid);
}
