/* SPDX-License-Identifier: Apache-2.0 */
/* error.c - the error quark, and fab_throw, which sets an error and returns FALSE on one line. */
#include "sim/base/error.h"

#include <string.h>

G_DEFINE_QUARK (fab - error - quark, fab_error)

gboolean
fab_throw (GError **error, FabErrorCode code, const char *format, ...)
{
  va_list args;
  g_autofree char *message = NULL, *valid = NULL;

  va_start (args, format);
  message = g_strdup_vprintf (format, args);
  va_end (args);
  valid = g_utf8_make_valid (message, -1); /* it may quote what a file or a person has written */
  g_set_error_literal (error, FAB_ERROR, (gint) code, valid);
  return FALSE;
}

static gboolean
is_seen (gunichar c)
{
  if (c < 0x80)
    return c >= ' ' && c != 0x7f;
  switch ((int) g_unichar_type (c)) {
  case G_UNICODE_CONTROL:
  case G_UNICODE_FORMAT:
  case G_UNICODE_SURROGATE:
  case G_UNICODE_PRIVATE_USE:
  case G_UNICODE_UNASSIGNED:
  case G_UNICODE_LINE_SEPARATOR:
  case G_UNICODE_PARAGRAPH_SEPARATOR: return FALSE;
  default: return !g_unichar_iszerowidth (c) || g_unichar_ismark (c);
  }
}

gunichar
fab_unprintable (const char *text, const char *kept)
{
  for (const char *p = text; *p; p = g_utf8_next_char (p)) {
    gunichar c = g_utf8_get_char (p);

    if (!is_seen (c) && !(c < 0x80 && strchr (kept, (char) c) != NULL))
      return c;
  }
  return 0;
}

/* Characters of `kept` stay as they are. */
static char *
make_printable (const char *text, const char *kept)
{
  g_autofree char *valid = g_utf8_make_valid (text, -1);
  GString *out = g_string_new (NULL);

  for (const char *p = valid; *p; p = g_utf8_next_char (p)) {
    gunichar c = g_utf8_get_char (p);

    if (is_seen (c) || (c < 0x80 && strchr (kept, (char) c) != NULL))
      g_string_append_unichar (out, c);
    else
      g_string_append_printf (out, "\\x%02x", c);
  }
  return g_string_free (out, FALSE);
}

char *
fab_printable (const char *text)
{
  return make_printable (text, "");
}

char *
fab_printable_lines (const char *text)
{
  return make_printable (text, "\n\t");
}
