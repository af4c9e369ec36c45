/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/base/json.h"

void
fab_json_add_real (JsonBuilder *json, const char *key, double value)
{
  json_builder_set_member_name (json, key);
  json_builder_add_double_value (json, value);
}

void
fab_json_add_whole (JsonBuilder *json, const char *key, gint64 value)
{
  json_builder_set_member_name (json, key);
  json_builder_add_int_value (json, value);
}

void
fab_json_add_text (JsonBuilder *json, const char *key, const char *value)
{
  json_builder_set_member_name (json, key);
  if (value)
    json_builder_add_string_value (json, value);
  else
    json_builder_add_null_value (json);
}

/* Whether `text` is printable ASCII without quotes and backslashes, as nearly all names are. */
static gboolean
is_plain (const char *text)
{
  while (*text >= 0x20 && *text < 0x7f && *text != '"' && *text != '\\')
    text++;
  return *text == '\0';
}

void
fab_json_append_text (GString *out, const char *text)
{
  g_autofree char *valid = NULL;

  if (is_plain (text)) {
    g_string_append_c (out, '"');
    g_string_append (out, text);
    g_string_append_c (out, '"');
    return;
  }
  valid = g_utf8_make_valid (text, -1);
  g_string_append_c (out, '"');
  for (const char *p = valid; *p != '\0'; p++) {
    if (*p == '"' || *p == '\\')
      g_string_append_printf (out, "\\%c", *p);
    else if (*p == '\n')
      g_string_append (out, "\\n");
    else if ((guchar) *p < 0x20 || *p == 0x7f)
      g_string_append_printf (out, "\\u%04x", (guint) (guchar) *p);
    else
      g_string_append_c (out, *p);
  }
  g_string_append_c (out, '"');
}

/* Works in place. A quote inside a string stands behind a backslash. */
char *
fab_json_mend (char *text)
{
  gboolean is_text = FALSE, is_exponent = FALSE;
  char *to = text;

  for (const char *from = text; *from; from++) {
    if (*from == '"' && (from == text || from[-1] != '\\' || (from - 1 > text && from[-2] == '\\')))
      is_text = !is_text;
    if (is_text)
      is_exponent = FALSE;
    else if (*from == 'e' && from > text && g_ascii_isdigit (from[-1]))
      is_exponent = TRUE;
    else if (is_exponent && from[0] == '.' && from[1] == '0') {
      from++;
      continue;
    } else if (!g_ascii_isdigit (*from) && *from != '-' && *from != '+')
      is_exponent = FALSE;
    *to++ = *from;
  }
  *to = '\0';
  return text;
}

char *
fab_json_finish (JsonBuilder *json)
{
  g_autoptr (JsonNode) root = json_builder_get_root (json);
  g_autofree char *text = fab_json_mend (json_to_string (root, TRUE));

  return g_strconcat (text, "\n", NULL);
}
