/* SPDX-License-Identifier: Apache-2.0 */
/* json.h - reads JSON token by token from the bytes of a trace, so that memory does not grow with the file.
 *
 * Texts are kept up to FAB_TRACE_TEXT_BYTES; the rest of a longer one is dropped. Nesting is at most 256 deep.
 */
#pragma once

#include "formats/text/bytes.h"

#define FAB_TRACE_TEXT_BYTES 2048

typedef enum {
  FAB_TRACE_JSON_ERROR,
  FAB_TRACE_JSON_END, /* the whole document was read */
  FAB_TRACE_JSON_OBJECT,
  FAB_TRACE_JSON_OBJECT_END,
  FAB_TRACE_JSON_ARRAY,
  FAB_TRACE_JSON_ARRAY_END,
  FAB_TRACE_JSON_KEY,
  FAB_TRACE_JSON_TEXT,
  FAB_TRACE_JSON_NUMBER, /* as it is written */
  FAB_TRACE_JSON_WORD,   /* true, false, null, NaN, Infinity, -Infinity */
} FabTraceJsonToken;

typedef struct {
  FabTraceBytes *bytes;
  const char *at, *end; /* the present chunk */
  gsize chunk_size;
  GError *error;
  char text[FAB_TRACE_TEXT_BYTES + 1]; /* of the last key, text, number or word */
  gsize text_size;
  gboolean keeps_text;
  guint depth;
  guint8 is_object[256];
  gboolean needs_value, may_end, is_done;
} FabTraceJson;

void fab_trace_json_init (FabTraceJson *self, FabTraceBytes *bytes);
void fab_trace_json_clear (FabTraceJson *self);

/* Returns the next token. After FAB_TRACE_JSON_ERROR, which `error` explains with the byte, come only errors. */
FabTraceJsonToken fab_trace_json_next (FabTraceJson *self);
/* After a document: whether another one follows, which can be read then. */
gboolean fab_trace_json_more (FabTraceJson *self);
/* Reads a text or a number into `to`, as it is written; a value of another kind is passed over. */
gboolean fab_trace_json_copy (FabTraceJson *self, char *to, gsize size);
/* Passes over the value that follows. FALSE: `error` is set. */
gboolean fab_trace_json_skip (FabTraceJson *self);
/* Passes over the rest of a value whose first token was `token`. */
gboolean fab_trace_json_skip_from (FabTraceJson *self, FabTraceJsonToken token);
/* Sets `error` with the byte, unless it is set. Returns FALSE. */
gboolean fab_trace_json_fail (FabTraceJson *self, const char *format, ...) G_GNUC_PRINTF (2, 3);
