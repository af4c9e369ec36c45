/* SPDX-License-Identifier: Apache-2.0 */
/* output.h - a file that is written. A plain file is replaced whole or not at all; "-" is standard output. */
#pragma once

#include <stdio.h>

#include <glib.h>

typedef struct {
  FILE *stream;
  int code;          /* errno of the first write that failed; 0: none has */
  char *path, *part; /* `part` is renamed to `path` at the end; NULL: written directly */
} FabOutput;

/* Says whether the file is a SQLite database, which `fabricast measure` and runs write, or its log or journal. */
gboolean fab_is_database (const char *path);

/* Says whether a file could be written there: it is neither a database nor a directory, and its directory is there
 * and may be written to. Who computes for long asks this first. */
gboolean fab_output_check (const char *path, GError **error);

/* A database, which may hold hours of measurements, is refused. */
gboolean fab_output_open (FabOutput *self, const char *path, GError **error);
void fab_output_write (FabOutput *self, const char *text);
void fab_output_write_bytes (FabOutput *self, gconstpointer data, gsize size);

/* Ends the file. FALSE when not all of it could be written: `path` then stays as it was. */
gboolean fab_output_close (FabOutput *self, GError **error);

/* Gives up: `path` stays as it was. Does nothing after fab_output_close. */
void fab_output_abandon (FabOutput *self);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (FabOutput, fab_output_abandon)
