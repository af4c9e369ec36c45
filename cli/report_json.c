/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/report_json.h"

#include <math.h>
#include <string.h>

#include "sim/base/json.h"

/* A text that was written ends in a quote, so the last character says where we are. */
static void
begin (GString *json, const char *key)
{
  if (json->len > 0 && strchr ("{[", json->str[json->len - 1]) == NULL)
    g_string_append_c (json, ',');
  if (key == NULL)
    return;
  fab_json_append_text (json, key);
  g_string_append_c (json, ':');
}

void
fab_report_open (GString *json, const char *key, char bracket)
{
  begin (json, key);
  g_string_append_c (json, bracket);
}

void
fab_report_close (GString *json, char bracket)
{
  g_string_append_c (json, bracket);
}

void
fab_report_text (GString *json, const char *key, const char *value)
{
  begin (json, key);
  if (value != NULL)
    fab_json_append_text (json, value);
  else
    g_string_append (json, "null");
}

void
fab_report_whole (GString *json, const char *key, gint64 value)
{
  begin (json, key);
  g_string_append_printf (json, "%" G_GINT64_FORMAT, value);
}

void
fab_report_real (GString *json, const char *key, double value)
{
  char text[G_ASCII_DTOSTR_BUF_SIZE];

  begin (json, key);
  g_string_append (json, isfinite (value) ? g_ascii_formatd (text, sizeof text, "%.10g", value) : "null");
}
