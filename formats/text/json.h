/* SPDX-License-Identifier: Apache-2.0 */
/* json.h - reads JSON token by token from the bytes of a file, so that memory does not grow with the file.
 *
 * Texts are kept up to FAB_FILE_TEXT_BYTES; the rest of a longer one is dropped. Nesting is at most 256 deep.
 */
#pragma once

#include "formats/text/bytes.h"

#define FAB_FILE_TEXT_BYTES 2048

typedef enum {
  FAB_FILE_JSON_ERROR,
  FAB_FILE_JSON_END, /* the whole document was read */
  FAB_FILE_JSON_OBJECT,
  FAB_FILE_JSON_OBJECT_END,
  FAB_FILE_JSON_ARRAY,
  FAB_FILE_JSON_ARRAY_END,
  FAB_FILE_JSON_KEY,
  FAB_FILE_JSON_TEXT,
  FAB_FILE_JSON_NUMBER, /* as it is written */
  FAB_FILE_JSON_WORD,   /* true, false, null, NaN, Infinity, -Infinity */
} FabFileJsonToken;

typedef struct {
  FabFileBytes *bytes;
  const char *at, *end; /* the present chunk */
  gsize chunk_size;
  GError *error;
  char text[FAB_FILE_TEXT_BYTES + 1]; /* of the last key, text, number or word */
  gsize text_size;
  gboolean keeps_text;
  guint depth;
  guint8 is_object[256];
  gboolean needs_value, may_end, is_done;
} FabFileJson;

void fab_file_json_init (FabFileJson *self, FabFileBytes *bytes);
void fab_file_json_clear (FabFileJson *self);

/* Returns the next token. After FAB_FILE_JSON_ERROR, which `error` explains with the byte, come only errors. */
FabFileJsonToken fab_file_json_next (FabFileJson *self);
/* After a document: whether another one follows, which can be read then. */
gboolean fab_file_json_more (FabFileJson *self);
/* Reads a text or a number into `to`, as it is written; a value of another kind is passed over. */
gboolean fab_file_json_copy (FabFileJson *self, char *to, gsize size);
/* Passes over the value that follows. FALSE: `error` is set. */
gboolean fab_file_json_skip (FabFileJson *self);
/* Passes over the rest of a value whose first token was `token`. */
gboolean fab_file_json_skip_from (FabFileJson *self, FabFileJsonToken token);
/* Sets `error` with the byte, unless it is set. Returns FALSE. */
gboolean fab_file_json_fail (FabFileJson *self, const char *format, ...) G_GNUC_PRINTF (2, 3);
