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

char *
fab_json_finish (JsonBuilder *json)
{
  g_autoptr (JsonNode) root = json_builder_get_root (json);
  g_autofree char *text = json_to_string (root, TRUE);

  return g_strconcat (text, "\n", NULL);
}
