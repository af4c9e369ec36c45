/* SPDX-License-Identifier: Apache-2.0 */
/* json.h - writes JSON, value by value, as text.
 *
 * Every value of an object has a key; values of an array, and the outermost value, have none: their key is NULL. The
 * bytes depend on neither the locale nor the machine. Texts that are not UTF-8 get U+FFFD for what is wrong.
 *
 * Threads: a writer belongs to one at a time.
 */
#pragma once

#include <glib.h>

/* PAGE: indented by two blanks, a value a line; reals with all digits, and with a point, so that they stay reals.
 * COMPACT: without blanks; reals with ten digits. */
typedef enum { FAB_JSON_PAGE, FAB_JSON_COMPACT } FabJsonStyle;

typedef struct _FabJson FabJson;

FabJson *fab_json_new (FabJsonStyle style);
void fab_json_free (FabJson *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (FabJson, fab_json_free)

void fab_json_begin_object (FabJson *self, const char *key);
void fab_json_begin_array (FabJson *self, const char *key);
void fab_json_end (FabJson *self); /* of the object or array that was begun last */

void fab_json_add_real (FabJson *self, const char *key, double value); /* null when it is not finite */
void fab_json_add_whole (FabJson *self, const char *key, gint64 value);
void fab_json_add_text (FabJson *self, const char *key, const char *value); /* null when it is NULL */
void fab_json_add_flag (FabJson *self, const char *key, gboolean value);
void fab_json_add_null (FabJson *self, const char *key);
void fab_json_add_json (FabJson *self, const char *key, const char *text); /* as it is: a value by itself */
void fab_json_add_texts (FabJson *self, const char *key,
                         const char *const *values); /* an array; NULL-ended */

/* What was written, after everything that was begun has ended. (transfer full) */
char *fab_json_text (const FabJson *self);
/* The same with a line end. (transfer full) */
char *fab_json_finish (const FabJson *self);

/* Appends `text` quoted and escaped, for what is written without a writer: streams, and tables. */
void fab_json_append_text (GString *out, const char *text);
