/* SPDX-License-Identifier: Apache-2.0 */
/* bytes.h - the bytes of a file, in chunks: plain or gzip, alone or as members of a tar archive.
 *
 * Memory does not grow with the file. A gzip stream that expands more than FAB_FILE_MAX_EXPANSION times is refused
 * (traces expand 10 to 30 times), and so is one that ends early.
 */
#pragma once

#include <glib.h>

#define FAB_FILE_MAX_EXPANSION 200

typedef struct _FabFileBytes FabFileBytes;

FabFileBytes *fab_file_bytes_open (const char *path, GError **error);
/* Reads `size` bytes that stay the caller's; `name` stands for the path in messages. */
FabFileBytes *fab_file_bytes_new (const char *name, const void *data, gsize size);
void fab_file_bytes_free (FabFileBytes *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (FabFileBytes, fab_file_bytes_free)

/* Goes to the next file of an archive, or to the only one, behind the mark of UTF-8 if it has one. FALSE without
 * *error: there is none. */
gboolean fab_file_bytes_next (FabFileBytes *self, GError **error);
/* The path, with the name of the file in the archive after a colon. */
const char *fab_file_bytes_name (const FabFileBytes *self);

/* The path of a file that is neither packed nor an archive; NULL otherwise, and for bytes in memory. */
const char *fab_file_bytes_path (const FabFileBytes *self);

/* Returns the bytes that follow, at least 4096 unless the file has fewer left, and sets *size; 0 is the end. They are
 * valid until the next call. FALSE and *error when the file cannot be read. */
gboolean fab_file_bytes_peek (FabFileBytes *self, const char **data, gsize *size, GError **error);
/* Goes on by `size` bytes, at most as many as fab_file_bytes_peek returned. */
void fab_file_bytes_take (FabFileBytes *self, gsize size);
/* Number of unpacked bytes of this file before the next one. */
guint64 fab_file_bytes_at (const FabFileBytes *self);

/* Reads a line without its end into `line`; longer ones than 64 KiB are an error. FALSE without *error: the end. */
gboolean fab_file_bytes_line (FabFileBytes *self, GString *line, GError **error);
