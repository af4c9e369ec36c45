/* SPDX-License-Identifier: Apache-2.0 */
/* report_json.h - compact JSON, member by member, onto a text. A NULL key: an item of an array. */
#pragma once

#include <glib.h>

void fab_report_open (GString *json, const char *key, char bracket);      /* '{' or '[' */
void fab_report_close (GString *json, char bracket);                      /* '}' or ']' */
void fab_report_text (GString *json, const char *key, const char *value); /* NULL: null */
void fab_report_whole (GString *json, const char *key, gint64 value);
void fab_report_real (GString *json, const char *key, double value); /* ten digits; null when not finite */
