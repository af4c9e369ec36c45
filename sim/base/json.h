/* SPDX-License-Identifier: Apache-2.0 */
/* json.h - a member of a JSON object in one call; json-glib does the rest. */
#pragma once

#include <json-glib/json-glib.h>

void fab_json_add_real (JsonBuilder *json, const char *key, double value);
void fab_json_add_whole (JsonBuilder *json, const char *key, gint64 value);
/* NULL becomes null. */
void fab_json_add_text (JsonBuilder *json, const char *key, const char *value);

/* Appends `text` quoted and escaped, for what is written without json-glib: streams, and numbers in the fewest
 * digits. Bytes that are no UTF-8 become U+FFFD. */
void fab_json_append_text (GString *out, const char *text);

/* json-glib writes 3e-11 as 3e-11.0, which no other reader takes: mends what it has made. Returns its argument. */
char *fab_json_mend (char *text);

/* The whole document, indented, with a line end. (transfer full) */
char *fab_json_finish (JsonBuilder *json);
