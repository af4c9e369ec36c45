/* SPDX-License-Identifier: Apache-2.0 */
/* json.h - each function adds one member to a JSON object in one call, with json-glib. */
#pragma once

#include <json-glib/json-glib.h>

void fab_json_add_real (JsonBuilder *json, const char *key, double value);
void fab_json_add_whole (JsonBuilder *json, const char *key, gint64 value);
/* A NULL `value` becomes null. */
void fab_json_add_text (JsonBuilder *json, const char *key, const char *value);

/* Appends `text` quoted and escaped. It serves writers that work without json-glib: streams, and numbers in the fewest
 * digits. Bytes that are not UTF-8 become U+FFFD. */
void fab_json_append_text (GString *out, const char *text);

/* json-glib writes 3e-11 as 3e-11.0, which is not JSON. Repairs such numbers in place and returns its argument. */
char *fab_json_mend (char *text);

/* Returns the whole document, indented and ended by a newline. (transfer full) */
char *fab_json_finish (JsonBuilder *json);
